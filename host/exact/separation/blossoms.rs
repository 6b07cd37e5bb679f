//! Blossoms: a handle, and an odd number of edges that leave it and share no nodes.

use antwarp_instance::Watch;

use crate::{Cut, Support};

use super::flow::Network;
use super::partition::Partition;
use super::shrunk::Shrunk;

/// By how much a cut must be violated.
const EPSILON: f64 = 1e-3;
/// The most nodes of a component of fractional edges that is searched exactly.
const LARGEST: usize = 500;

/// Finds violated blossoms, and subtours where there is one tooth, each once, by heuristics. If these find none, searches components
/// of fractional edges of up to 500 nodes exactly, on this thread. Once the watch is over, some are left out.
pub fn blossoms(support: &Support, watch: &Watch<'_>) -> Vec<Cut> {
    let mut found = Vec::new();
    let whole = Shrunk::identity(support);
    odd_components(&whole, &mut |cut| found.push(cut));
    if found.is_empty() {
        exact(support, watch, &mut |cut| found.push(cut));
    }
    found.sort_by(|a, b| a.sets().cmp(b.sets()));
    found.dedup();
    found
}

/// Finds violated blossoms of a shrunk graph: handles are the components of fractional edges with values between a threshold and 1 less
/// the threshold, for several thresholds (M. Padberg, S. Hong, *On the symmetric traveling salesman problem: a computational study*,
/// Mathematical Programming Study 12, 1980; the thresholds: M. Grötschel, O. Holland, Mathematical Programming 51, 1991).
pub(super) fn odd_components(shrunk: &Shrunk, found: &mut dyn FnMut(Cut)) {
    let graph = &shrunk.graph;
    for threshold in [1e-5, 0.1, 0.2, 0.3, 0.4] {
        let mut partition = Partition::new(graph.len());
        for (a, b, x) in graph.edges() {
            if x > threshold && x < 1.0 - threshold {
                partition.join(a, b);
            }
        }
        for handle in partition.groups() {
            if handle.len() > 1 && handle.len() + 3 <= graph.len() {
                of_handle(shrunk, &handle, found);
            }
        }
    }
}

/// Finds violated blossoms exactly, if all edges at every node have the value 2.
///
/// For a handle `H` and its teeth `F`, the inequality reads `x(border of H without F) + sum over F of (1 - x) >= 1`. So with the parity
/// aside, each edge of the border costs `min(x, 1 - x)`. A violated inequality exists only if one has a handle among the fundamental
/// cuts of a cut tree for these capacities (A. Letchford, G. Reinelt, D. Theis, *Odd minimum cut sets and b-matchings revisited*,
/// SIAM Journal on Discrete Mathematics 22, 2008). Edges of value 1 have capacity 0, so each component of fractional edges has a tree
/// of its own.
fn exact(support: &Support, watch: &Watch<'_>, found: &mut dyn FnMut(Cut)) {
    let whole = Shrunk::identity(support);
    let is_fractional = |x: f64| x < 1.0 - 1e-9;
    let mut partition = Partition::new(support.len());
    let fractional: Vec<_> = support.edges().filter(|edge| is_fractional(edge.2)).collect();
    fractional.iter().for_each(|&(a, b, _)| {
        partition.join(a, b);
    });
    let mut number = vec![0; support.len()];
    for component in partition.groups() {
        if watch.is_over() {
            return;
        }
        if component.len() < 2 || component.len() > LARGEST {
            continue;
        }
        of_handle(&whole, &component, found);
        (0..).zip(&component).for_each(|(at, &node)| number[node as usize] = at);
        let edges: Vec<(u32, u32, f64)> = component
            .iter()
            .flat_map(|&a| support.neighbors(a).iter().map(move |&(b, x)| (a, b, x)))
            .filter(|&(a, b, x)| a < b && is_fractional(x))
            .map(|(a, b, x)| (number[a as usize], number[b as usize], x.min(1.0 - x)))
            .collect();
        for side in fundamental_cuts(component.len(), &edges) {
            let handle: Vec<u32> =
                component.iter().zip(side).filter_map(|(&node, is_in)| is_in.then_some(node)).collect();
            of_handle(&whole, &handle, found);
        }
    }
}

/// Returns one side of each fundamental cut of a cut tree that has a value below 1: for every two nodes that such a cut separates, one of
/// them is a minimum cut between them. Other nodes are joined, so that their flows need not be maximal.
///
/// Source: D. Gusfield, *Very simple methods for all pairs network flow analysis*, SIAM Journal on Computing 19 (1990).
fn fundamental_cuts(n: usize, edges: &[(u32, u32, f64)]) -> Vec<Vec<bool>> {
    let mut network = Network::new(n, edges);
    let mut parent = vec![0; n];
    let mut is_joined = vec![false; n];
    for node in 1..n {
        let other = parent[node];
        let Some(side) = network.min_cut(node as u32, other as u32, 1.0) else {
            network.add_edge(node as u32, other as u32, 1.0);
            is_joined[node] = true;
            continue;
        };
        for third in 0..n {
            if third != node && side[third] && parent[third] == other {
                parent[third] = node;
            }
        }
        if side[parent[other]] {
            parent[node] = parent[other];
            parent[other] = node;
        }
    }
    // The nodes below each node of the tree, by walks to the root.
    let mut sides = vec![vec![false; n]; n];
    for (node, &first) in parent.iter().enumerate() {
        sides[node][node] = true;
        let mut above = first;
        // The root is its own parent.
        while !sides[above][node] {
            sides[above][node] = true;
            above = parent[above];
        }
    }
    // All nodes are below the root.
    let cuts =
        sides.into_iter().zip(is_joined).filter(|(side, is_joined)| !is_joined && side.contains(&false));
    cuts.map(|(side, _)| side).collect()
}

/// Finds a violated blossom with this handle, or with one that differs by nodes where teeth meet.
fn of_handle(shrunk: &Shrunk, handle: &[u32], found: &mut dyn FnMut(Cut)) {
    let graph = &shrunk.graph;
    let mut is_inside = vec![false; graph.len()];
    handle.iter().for_each(|&node| is_inside[node as usize] = true);
    let mut handle = handle.to_vec();
    for _ in 0..50 {
        let Some(teeth) = best_teeth(graph, &handle, &is_inside) else { return };
        // A node with two teeth changes sides, which makes the violation no smaller where all edges at the node have the value 2.
        let mut ends: Vec<u32> = teeth.iter().flat_map(|&(a, b)| [a, b]).collect();
        ends.sort_unstable();
        if let Some(meeting) = ends.windows(2).find(|two| two[0] == two[1]) {
            let node = meeting[0];
            if std::mem::replace(&mut is_inside[node as usize], false) {
                handle.retain(|&other| other != node);
            } else {
                is_inside[node as usize] = true;
                handle.push(node);
            }
            continue;
        }
        if handle.is_empty() || handle.len() >= graph.len() {
            return;
        }
        // The value of the cut in the shrunk graph.
        let inside = handle.iter().map(|&node| {
            let edges = graph.neighbors(node).iter().filter(|edge| !is_inside[edge.0 as usize]);
            edges.map(|edge| edge.1).sum::<f64>()
        });
        let tooth = |&(a, b): &(u32, u32)| graph.degree(a) + graph.degree(b) - 2.0 * graph.value(a, b);
        let border = inside.sum::<f64>();
        if let [(a, b)] = teeth[..] {
            // A single tooth leaves less than a subtour elimination inequality: x(border of H) >= 2 x(tooth).
            if border < 2.0 * graph.value(a, b).min(1.0) - EPSILON {
                found(Cut::subtour(shrunk.expand(&handle)));
            }
            return;
        }
        let left = border + teeth.iter().map(tooth).sum::<f64>();
        let cut =
            Cut::comb(shrunk.expand(&handle), teeth.iter().map(|&(a, b)| shrunk.expand(&[a, b])).collect());
        if left < cut.right_side() as f64 - EPSILON {
            found(cut);
        }
        return;
    }
}

/// Returns the best odd set of edges that leave the handle: those above a half, and one more or one less if their number is even.
fn best_teeth(graph: &Support, handle: &[u32], is_inside: &[bool]) -> Option<Vec<(u32, u32)>> {
    let mut teeth = Vec::new();
    let mut change: Option<(f64, (u32, u32))> = None;
    for &node in handle {
        for &(other, x) in graph.neighbors(node) {
            if !is_inside[other as usize] {
                if x > 0.5 {
                    teeth.push((node, other));
                }
                let cost = (2.0 * x - 1.0).abs();
                if change.is_none_or(|(least, _)| cost < least) {
                    change = Some((cost, (node, other)));
                }
            }
        }
    }
    if teeth.len() % 2 == 0 {
        let (_, edge) = change?;
        match teeth.iter().position(|&tooth| tooth == edge) {
            Some(at) => {
                teeth.swap_remove(at);
            }
            None => teeth.push(edge),
        }
    }
    Some(teeth)
}
