//! The greedy tour (Bentley 1992), which takes the shortest edges first.

use std::ops::Range;

use rayon::prelude::*;

use super::blocks::{self, Candidates, Edge, Lengths};
use super::paths::Paths;
use antwarp_instance::{Instance, NeighborLists, Watch, nearest_among, parallel};

/// Number of neighbours of an end among the other ends.
const AROUND: usize = 6;
/// A round that joins fewer than one in this many paths is slow.
const SLOW: usize = 8;

/// Number of parts in which the listed edges are processed.
const SHARES: usize = 4;
/// Number of nodes whose edges are sampled for the distribution of lengths.
const SAMPLE: usize = 1000;

/// Minimum number of nodes, or of ends of paths, for which several threads take edges.
const MANY: usize = 1 << 17;
/// Number of nodes, or of ends, in a block.
const BLOCK: usize = 1 << 14;
/// Several threads take edges only if at most one listed edge in this many is between blocks.
const FEW: usize = 5;

/// Returns the tour that takes the shortest edges that keep a set of paths, with ties broken by node numbers.
///
/// With lists of all other nodes, this is the greedy tour. With shorter ones, their edges are taken first; the remaining paths are
/// joined by edges from lists among their ends, in rounds, until there is one path. In a round, an edge may be taken before a
/// shorter one that is in no list. The edges of partners come before all others. Returns no tour once the watch is over.
pub(super) fn greedy(instance: &Instance, lists: &NeighborLists, watch: &Watch) -> Vec<u32> {
    let n = instance.len();
    let mut paths = Paths::new(n);
    for (node, &partner) in (0..).zip(instance.partners().unwrap_or_default()) {
        if node < partner && partner != Instance::NO_PARTNER {
            paths.link(node, partner);
        }
    }
    let shares = shares_of_lengths(instance, lists);
    let in_blocks = n >= MANY && are_near_in_number(lists, n);
    if in_blocks {
        let edges_of = |node, lengths, found: &mut dyn FnMut(Edge)| {
            listed_edges_of(instance, lists, node, lengths).for_each(found);
        };
        let are_inside = |node: u32, range: &Range<u32>| lists.of(node).iter().all(|b| range.contains(b));
        let candidates = Candidates { shares: &shares, edges_of: &edges_of, are_inside: &are_inside };
        blocks::join(&mut paths, &ends_of_blocks(n), &candidates, watch);
    } else {
        let mut longer_than = -1;
        for up_to in shares {
            if watch.is_over() {
                return Vec::new();
            }
            let edges = listed_edges(instance, lists, (longer_than, up_to), &paths);
            blocks::join_in_order(&mut paths, edges);
            longer_than = up_to;
        }
    }
    let mut is_slow = false;
    while paths.count() > 1 {
        if watch.is_over() {
            return Vec::new();
        }
        let before = paths.count();
        let ends = parallel::filter(n, &|v| paths.is_end(v as u32));
        let edges = edges_of_ends(instance, ends.clone(), is_slow, watch);
        if in_blocks && ends.len() >= MANY {
            join_ends(&mut paths, &ends, edges, watch);
        } else {
            blocks::join_in_order(&mut paths, edges);
        }
        if paths.count() == before && is_slow {
            join_in_order(instance, &mut paths, &ends);
        }
        is_slow = (before - paths.count()) * SLOW < before;
    }
    paths.into_tour()
}

/// Returns lengths that split the edges of the lists into [`SHARES`] of about equal size, and finally the maximum length: once the
/// short edges are taken, most of the others cannot be taken, and need not be sorted.
fn shares_of_lengths(instance: &Instance, lists: &NeighborLists) -> Vec<i32> {
    let some = (0..instance.len() as u32).step_by(instance.len().div_ceil(SAMPLE));
    let mut lengths: Vec<i32> =
        some.flat_map(|a| lists.of(a).iter().map(move |&b| instance.distance(a, b))).collect();
    lengths.sort_unstable();
    let mut ends: Vec<i32> =
        (1..SHARES).filter_map(|share| lengths.get(lengths.len() * share / SHARES).copied()).collect();
    ends.push(i32::MAX);
    ends
}

/// Returns the ends of blocks of [`BLOCK`] nodes.
fn ends_of_blocks(n: usize) -> Vec<u32> {
    (1..=n.div_ceil(BLOCK)).map(|block| (block * BLOCK).min(n) as u32).collect()
}

/// Returns whether few of the listed edges are between blocks.
fn are_near_in_number(lists: &NeighborLists, n: usize) -> bool {
    let block = |node: u32| node as usize / BLOCK;
    let some = (0..n as u32).step_by(n.div_ceil(SAMPLE));
    let (mut all, mut between) = (0, 0);
    for (a, &b) in some.flat_map(|a| lists.of(a).iter().map(move |b| (a, b))) {
        all += 1;
        between += usize::from(block(a) != block(b));
    }
    FEW * between <= all
}

/// Returns the edges of the lists whose length is in a range, and that may be taken; each once.
fn listed_edges(instance: &Instance, lists: &NeighborLists, lengths: Lengths, paths: &Paths) -> Vec<Edge> {
    let ends = (0..instance.len() as u32).into_par_iter().filter(|&a| paths.is_end(a));
    let edges = |a| listed_edges_of(instance, lists, a, lengths).filter(|&(_, a, b)| paths.is_open(a, b));
    ends.flat_map_iter(edges).collect()
}

/// Returns the edges in the list of a node whose length is in a range, except those that the other node's list passes on.
fn listed_edges_of<'a>(
    instance: &'a Instance,
    lists: &'a NeighborLists,
    a: u32,
    (longer_than, up_to): Lengths,
) -> impl Iterator<Item = Edge> + 'a {
    let is_first = move |b: u32| a < b || !lists.of(b).contains(&a);
    // Lists are sorted by length.
    let edges = lists.of(a).iter().map(move |&b| (b, instance.distance(a, b)));
    let some = edges.take_while(move |edge| edge.1 <= up_to).filter(move |edge| edge.1 > longer_than);
    some.filter(move |&(b, _)| is_first(b) && instance.has_edge(a, b))
        .map(move |(b, length)| (length, a.min(b), a.max(b)))
}

/// Takes these edges between `ends` of paths, as far as they join different paths, shortest first.
fn join_ends(paths: &mut Paths, ends: &[u32], mut edges: Vec<Edge>, watch: &Watch) {
    edges.par_sort_unstable_by_key(|&(length, a, b)| (a, length, b));
    let n = ends.len();
    let blocks: Vec<u32> =
        (1..n.div_ceil(BLOCK)).map(|block| ends[block * BLOCK]).chain([paths.len() as u32]).collect();
    let edges_of = |node, (longer_than, up_to): Lengths, found: &mut dyn FnMut(Edge)| {
        let start = edges.partition_point(|edge| (edge.1, edge.0) <= (node, longer_than));
        edges[start..].iter().copied().take_while(|edge| edge.1 == node && edge.0 <= up_to).for_each(found);
    };
    let candidates = Candidates { shares: &[i32::MAX], edges_of: &edges_of, are_inside: &|_, _| false };
    blocks::join(paths, &blocks, &candidates, watch);
}

/// Returns edges between ends of paths. An edge in two lists appears twice, which does no harm.
///
/// Many nodes at the same place all have the same lists, so that a round joins only a few of them. After a slow round, edges
/// between ends that are adjacent in the neighbourhood's order are added: then at least a third of the ends find a partner, because
/// no three in a row can be left over.
fn edges_of_ends(instance: &Instance, ends: Vec<u32>, with_beside: bool, watch: &Watch) -> Vec<Edge> {
    let near = nearest_among(instance, ends, AROUND, watch);
    let k = near.k.max(1);
    let mut edges: Vec<Edge> =
        parallel::collect(near.ids.len(), &|at| edge(instance, near.nodes[at / k], near.ids[at]));
    if with_beside {
        edges.extend(near.nodes.windows(2).map(|pair| edge(instance, pair[0], pair[1])));
    }
    edges.retain(|&(_, a, b)| instance.has_edge(a, b));
    edges
}

/// Joins all paths in the order of their ends. Rounds may find no edge where all edges that there are cost the same, such as forbidden
/// ones.
fn join_in_order(instance: &Instance, paths: &mut Paths, ends: &[u32]) {
    let Some(&first) = ends.first() else { return };
    let mut last = paths.other_end(first);
    for &end in ends {
        if instance.has_edge(last, end) && paths.is_open(last, end) {
            let far = paths.other_end(end);
            paths.link(last, end);
            last = far;
        }
    }
}

fn edge(instance: &Instance, a: u32, b: u32) -> Edge {
    (instance.distance(a, b), a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use antwarp_instance::{Metric, generate, nearest};

    /// The definition, without any optimization: the edges that are taken.
    fn by_definition(instance: &Instance) -> Vec<(u32, u32)> {
        let n = instance.len() as u32;
        let mut edges: Vec<Edge> =
            (0..n).flat_map(|b| (0..b).map(move |a| (a, b))).map(|(a, b)| edge(instance, a, b)).collect();
        edges.sort_unstable();
        let mut component: Vec<u32> = (0..n).collect();
        let mut degree = vec![0; n as usize];
        let mut taken = Vec::new();
        for (_, a, b) in edges {
            let (a_part, b_part) = (component[a as usize], component[b as usize]);
            if degree[a as usize] < 2 && degree[b as usize] < 2 && a_part != b_part {
                component.iter_mut().filter(|part| **part == a_part).for_each(|part| *part = b_part);
                degree[a as usize] += 1;
                degree[b as usize] += 1;
                taken.push((a, b));
            }
        }
        taken.sort_unstable();
        taken
    }

    fn edges_of_path(tour: &[u32]) -> Vec<(u32, u32)> {
        let mut edges: Vec<_> =
            tour.windows(2).map(|step| (step[0].min(step[1]), step[0].max(step[1]))).collect();
        edges.sort_unstable();
        edges
    }

    proptest! {
        #[test]
        fn with_all_neighbors_it_is_the_greedy_tour(
            places in prop::collection::vec((0..12_u32, 0..12_u32), 1..40),
        ) {
            let points = places.iter().map(|&(x, y)| [f64::from(x), f64::from(y), 0.0]).collect();
            let instance = Instance::from_points("random", Metric::Euc2d, points).unwrap();
            let tour = greedy(&instance, &nearest(&instance, usize::MAX), &Watch::new(&|| false));
            prop_assert_eq!(edges_of_path(&tour), by_definition(&instance));
        }
    }

    #[test]
    fn short_lists_lengthen_the_tour_little() {
        let instance = generate::uniform(2000, 5).unwrap();
        let length = |k| {
            instance.check_tour(&greedy(&instance, &nearest(&instance, k), &Watch::new(&|| false))).unwrap()
                as f64
        };
        for k in [0, 2, 5, 8] {
            let ratio = length(k) / length(usize::MAX);
            assert!((0.96..1.04).contains(&ratio), "{k}: {ratio}");
        }
    }

    /// Lists of nodes at the same place are all alike: with these alone, joining a few per round, this would take hours.
    #[test]
    fn heaps_of_nodes_are_joined_quickly() {
        let n = 100_000;
        let points = (0..n).map(|i| [f64::from(i % 10), 0.0, 0.0]).collect();
        let instance = Instance::from_points("heaps", Metric::Euc2d, points).unwrap();
        let tour = greedy(&instance, &nearest(&instance, 8), &Watch::new(&|| false));
        assert!(instance.check_tour(&tour).unwrap() < 1000);
        let one = Instance::from_points("heap", Metric::Geo, vec![[3.0, 4.0, 0.0]; n as usize]).unwrap();
        assert_eq!(
            one.check_tour(&greedy(&one, &nearest(&one, 8), &Watch::new(&|| false))),
            Ok(i64::from(n))
        );
    }
}
