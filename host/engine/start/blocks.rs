//! The shortest edges first, taken by several threads, which choose the same ones as a single thread.
//!
//! Nodes are split into blocks of consecutive numbers. A thread takes the edges inside its block, shortest first. An edge that leaves
//! the block may be taken or not, which this thread cannot know. So the path that it would extend is *unsure* from then on: edges to
//! its ends stay undecided, and each makes the path at its other end unsure, too. No undecided edge is shorter than an edge that is
//! taken and touches the same paths. Hence it is taken in any case. A single thread decides the rest. If nodes with near numbers are
//! near each other, little is left.

use std::ops::Range;

use super::paths::{Block, Paths};
use antwarp_instance::{Watch, parallel};
use rayon::prelude::*;

/// Length, and the two nodes, the smaller first. No two edges are equal, so their order is unique.
pub(super) type Edge = (i32, u32, u32);

/// The edges among which to choose.
pub(super) struct Candidates<'c> {
    /// Lengths up to which edges are taken together, ascending; the last one is that of the longest edge or more.
    pub shares: &'c [i32],
    /// Calls back with the edges of a node that are longer than one length and not longer than another. An edge may be passed for
    /// either of its nodes, or for both.
    pub edges_of: &'c EdgesOf<'c>,
    /// Returns whether all edges that are passed for a node are certainly inside a range of nodes.
    pub are_inside: &'c (dyn Fn(u32, &Range<u32>) -> bool + Sync),
}

/// See [`Candidates::edges_of`].
pub(super) type EdgesOf<'c> = dyn Fn(u32, Lengths, &mut dyn FnMut(Edge)) + Sync + 'c;

/// Lengths above the first one, up to the second.
pub(super) type Lengths = (i32, i32);

/// Takes the edges that join the ends of different paths, shortest first. `ends` are the nodes before which blocks end, the last one
/// the number of nodes. Returns early once the watch is over.
pub(super) fn join(paths: &mut Paths, ends: &[u32], candidates: &Candidates<'_>, watch: &Watch) {
    let leaving: Vec<Vec<(u32, Edge)>> = parallel::collect(ends.len(), &|block| {
        let nodes = if block == 0 { 0 } else { ends[block - 1] }..ends[block];
        leaving(paths, nodes, ends, candidates)
    });
    let mut blocks: Vec<(Block<'_>, Vec<Edge>)> =
        paths.blocks(ends).into_iter().map(|block| (block, Vec::new())).collect();
    parallel::each_of(&mut blocks, 1, &|number, (block, undecided)| {
        let number = number as u32;
        let entering = leaving.iter().flat_map(|edges| {
            let start = edges.partition_point(|edge| edge.0 < number);
            edges[start..].iter().take_while(|edge| edge.0 == number)
        });
        let crossing = entering.chain(&leaving[number as usize]).map(|edge| edge.1).collect();
        *undecided = join_inside(block, crossing, candidates, watch);
    });
    let joined = blocks.iter().map(|(block, _)| block.joined()).sum();
    let undecided: Vec<Vec<Edge>> = blocks.into_iter().map(|(_, undecided)| undecided).collect();
    paths.count_joined(joined);
    if watch.is_over() {
        return;
    }
    let open = |edges: &mut dyn Iterator<Item = Edge>| -> Vec<Edge> {
        edges.filter(|&(_, a, b)| paths.is_open(a, b)).collect()
    };
    let rest: Vec<Vec<Edge>> = parallel::collect(ends.len(), &|block| {
        open(&mut undecided[block].iter().copied().chain(leaving[block].iter().map(|edge| edge.1)))
    });
    join_in_order(paths, parallel::concat(&rest));
}

/// Does the same with a single thread, after sorting the edges.
pub(super) fn join_in_order(paths: &mut Paths, mut edges: Vec<Edge>) {
    edges.par_sort_unstable();
    for (_, a, b) in edges {
        if paths.is_open(a, b) {
            paths.link(a, b);
        }
    }
}

/// Returns the edges from a block to others, with the numbers of these, by which they are sorted.
fn leaving(paths: &Paths, nodes: Range<u32>, ends: &[u32], candidates: &Candidates<'_>) -> Vec<(u32, Edge)> {
    let mut edges = Vec::new();
    // Lengths are computed for the few nodes at the border only.
    for node in nodes.clone().filter(|&node| paths.is_end(node) && !(candidates.are_inside)(node, &nodes)) {
        (candidates.edges_of)(node, (-1, i32::MAX), &mut |edge| {
            let (_, a, b) = edge;
            let other = if a == node { b } else { a };
            if !nodes.contains(&other) && paths.is_open(a, b) {
                edges.push((ends.partition_point(|&end| end <= other) as u32, edge));
            }
        });
    }
    edges.sort_unstable();
    edges
}

/// Takes the edges inside a block, given those that cross its border. Returns the undecided ones.
fn join_inside(
    block: &mut Block<'_>,
    mut crossing: Vec<Edge>,
    candidates: &Candidates<'_>,
    watch: &Watch,
) -> Vec<Edge> {
    crossing.sort_unstable();
    let (mut edges, mut undecided): (Vec<Edge>, Vec<Edge>) = (Vec::new(), Vec::new());
    let mut is_unsure = vec![false; block.nodes().len()];
    let (mut longer_than, mut crossed) = (-1, 0);
    for &up_to in candidates.shares {
        if watch.is_over() {
            break;
        }
        edges.clear();
        for node in block.nodes().filter(|&node| block.is_end(node)) {
            (candidates.edges_of)(node, (longer_than, up_to), &mut |edge| {
                let (_, a, b) = edge;
                if block.has(a) && block.has(b) && block.is_open(a, b) {
                    edges.push(edge);
                }
            });
        }
        let start = crossed;
        crossed = crossing.partition_point(|edge| edge.0 <= up_to);
        edges.extend(&crossing[start..crossed]);
        edges.sort_unstable();
        for &edge in &edges {
            if choose(block, &mut is_unsure, edge) {
                undecided.push(edge);
            }
        }
        longer_than = up_to;
    }
    undecided.retain(|&(_, a, b)| block.is_open(a, b));
    undecided
}

/// Takes an edge if that is sure. Returns whether it is inside the block and undecided.
fn choose(block: &mut Block<'_>, is_unsure: &mut [bool], (_, a, b): Edge) -> bool {
    let is_inside = block.has(a) && block.has(b);
    if is_inside && !block.is_open(a, b) {
        return false;
    }
    let is_sure =
        |end: u32| block.has(end) && block.has(block.other_end(end)) && !is_unsure[block.index(end)];
    if is_inside && is_sure(a) && is_sure(b) {
        block.link(a, b);
        return false;
    }
    for end in [a, b] {
        if block.has(end) && block.is_end(end) {
            for end in [end, block.other_end(end)] {
                if block.has(end) {
                    let at = block.index(end);
                    is_unsure[at] = true;
                }
            }
        }
    }
    is_inside
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Edges between nodes with any numbers, many equally long, from paths that may cross the borders of blocks.
        #[test]
        fn blocks_choose_the_edges_that_a_single_thread_chooses(
            n in 2_u32..120,
            edges in prop::collection::vec((0..30, any::<prop::sample::Index>(), 0_u32..12), 0..600),
            before in 0_usize..40,
            ends in prop::collection::btree_set(1_u32..120, 0..8),
            middle in 0..30,
            are_on_both_sides: bool,
        ) {
            let edge = |(length, a, step): (i32, prop::sample::Index, u32)| {
                let a = a.index(n as usize) as u32;
                let b = (a + step) % n;
                (length, a.min(b), a.max(b))
            };
            let edges: Vec<Edge> = edges.into_iter().map(edge).filter(|edge| edge.1 != edge.2).collect();
            let (first, rest) = edges.split_at(before.min(edges.len()));
            let begin = || {
                let mut paths = Paths::new(n as usize);
                join_in_order(&mut paths, first.to_vec());
                paths
            };
            let (mut one, mut several) = (begin(), begin());
            join_in_order(&mut one, rest.to_vec());
            let edges_of = |node: u32, (longer_than, up_to): Lengths, found: &mut dyn FnMut(Edge)| {
                let is_here = |edge: &Edge| edge.1 == node || are_on_both_sides && edge.2 == node;
                let is_such = |edge: &Edge| is_here(edge) && edge.0 > longer_than && edge.0 <= up_to;
                rest.iter().copied().filter(is_such).for_each(found);
            };
            let ends: Vec<u32> = ends.into_iter().filter(|&end| end < n).chain([n]).collect();
            let are_inside = |node: u32, range: &Range<u32>| {
                let is_here = |edge: &&Edge| edge.1 == node || are_on_both_sides && edge.2 == node;
                rest.iter().filter(is_here).all(|edge| range.contains(&edge.1) && range.contains(&edge.2))
            };
            let candidates =
                Candidates { shares: &[middle, i32::MAX], edges_of: &edges_of, are_inside: &are_inside };
            join(&mut several, &ends, &candidates, &Watch::new(&|| false));
            prop_assert_eq!(several.edges(), one.edges());
            prop_assert_eq!(several.count(), one.count());
        }
    }
}
