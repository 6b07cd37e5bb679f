//! Groups of nodes that are alike: exchanging two of them in a tour does not change its cost. Several orders for the same address
//! are the usual reason.

use rayon::prelude::*;

use super::model::{Distances, Instance};
use crate::parallel;

/// Returns the groups of `least` nodes or more that are alike; the nodes of a group ascend.
///
/// The nodes of a group are at the same distance from each other, and at the same distances from and to every other node. Nodes at
/// the ends of fixed edges and of paths, and nodes of forbidden pairs, belong to no group.
pub(super) fn groups(instance: &Instance, least: usize) -> Vec<Vec<u32>> {
    let bound = bound_nodes(instance);
    if bound.len() + least > instance.len() {
        return Vec::new();
    }
    let mut groups = match instance.distances() {
        Distances::Points { metric, points } => at_the_same_place(points, metric.dimensions(), least),
        Distances::Matrix(matrix) => with_the_same_costs(matrix, instance.len(), least),
    };
    groups.iter_mut().for_each(|group| group.retain(|node| bound.binary_search(node).is_err()));
    groups.retain(|group| group.len() >= least);
    groups
}

/// Returns the nodes, ascending, that differ from others by more than their distances.
fn bound_nodes(instance: &Instance) -> Vec<u32> {
    let ends = instance.ends().into_iter().flat_map(|ends| [ends.start, ends.end]).flatten();
    let pairs = instance.fixed_edges().iter().chain(instance.forbidden_pairs()).flat_map(|&(a, b)| [a, b]);
    let mut bound: Vec<u32> = ends.chain(pairs).chain(instance.gap()).collect();
    bound.sort_unstable();
    bound.dedup();
    bound
}

/// Returns groups of `least` nodes or more whose points are equal along the first `axes`.
fn at_the_same_place(points: &[[f64; 3]], axes: usize, least: usize) -> Vec<Vec<u32>> {
    // Adding 0 makes one number of both zeros.
    let key = |node: u32| -> [u64; 3] {
        let point = points[node as usize];
        std::array::from_fn(|axis| if axis < axes { (point[axis] + 0.0).to_bits() } else { 0 })
    };
    let hash = |node: u32| key(node).into_iter().fold(0, mixed);
    // Few nodes share a slot with `least` others by chance; only these are sorted.
    let bits = (4 * points.len()).ilog2().max(1);
    let slot = |node: u32| (hash(node) >> (64 - bits)) as usize;
    let mut counts = vec![0_u8; 1 << bits];
    for node in 0..points.len() as u32 {
        let count = &mut counts[slot(node)];
        *count = count.saturating_add(1);
    }
    let crowd = least.min(usize::from(u8::MAX)) as u8;
    let crowded = parallel::filter(points.len(), &|node| counts[slot(node as u32)] >= crowd);
    grouped(&parallel::collect_short(crowded.len(), &|at| (hash(crowded[at]), crowded[at])), least, &key)
}

/// Adds a number to a hash.
fn mixed(hash: u64, number: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Groups nodes, each with the hash of its key, by their keys.
fn grouped<K: Ord>(hashed: &[(u64, u32)], least: usize, key: &dyn Fn(u32) -> K) -> Vec<Vec<u32>> {
    let mut sorted = hashed.to_vec();
    sorted.par_sort_unstable();
    let mut groups = Vec::new();
    for same_hash in sorted.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() >= least) {
        let mut nodes: Vec<u32> = same_hash.iter().map(|&(_, node)| node).collect();
        // Nodes of one key ascend already; several keys with the same hash are rare.
        nodes.sort_by_key(|&node| key(node));
        let same_key = nodes.chunk_by(|&a, &b| key(a) == key(b));
        groups.extend(same_key.filter(|group| group.len() >= least).map(<[u32]>::to_vec));
    }
    groups
}

/// Returns groups of `least` nodes or more that are at distance 0 from each other, and whose rows and columns of the matrix are equal.
fn with_the_same_costs(matrix: &[i32], n: usize, least: usize) -> Vec<Vec<u32>> {
    let row = |node: u32| &matrix[node as usize * n..][..n];
    // A node's cost to itself is of no importance.
    let cost = |from: u32, to: u32| if from == to { 0 } else { row(from)[to as usize] };
    // Most matrices end here: no node has that many others at distance 0.
    let has_several = |node: usize| {
        let zeros = row(node as u32).iter().filter(|&&cost| cost == 0).count();
        zeros - usize::from(row(node as u32)[node] == 0) + 1 >= least
    };
    let several = parallel::filter(n, &has_several);
    if several.len() < least {
        return Vec::new();
    }
    // Hashes of rows and of columns are sums, so that columns are read row by row, too.
    let term = |at: usize, cost: i32| mixed(at as u64, u64::from(cost as u32));
    let of_row = |at: usize| {
        let from = several[at];
        (0..n).fold(0_u64, |sum, to| sum.wrapping_add(term(to, cost(from, to as u32))))
    };
    let rows = parallel::collect(several.len(), &of_row);
    let mut columns = vec![0_u64; several.len()];
    parallel::each_part(&mut columns, COLUMNS, &|part, columns| {
        for from in 0..n as u32 {
            for (sum, &to) in columns.iter_mut().zip(&several[part * COLUMNS..]) {
                *sum = sum.wrapping_add(term(from as usize, cost(from, to)));
            }
        }
    });
    let hashed: Vec<(u64, u32)> = several
        .iter()
        .zip(rows)
        .zip(columns)
        .map(|((&node, row), column)| (mixed(row, column), node))
        .collect();
    let groups = grouped(&hashed, least, &|_| ());
    // The hashes may be equal by chance: then all nodes stay as they are.
    let is_alike = |from: usize| {
        let from = from as u32;
        let same = |first: u32, other: u32| {
            from == first
                || from == other
                || cost(from, first) == cost(from, other) && cost(first, from) == cost(other, from)
        };
        groups.iter().all(|group| {
            let first = group[0];
            let is_apart = |&other: &u32| cost(first, other) == 0 && cost(other, first) == 0;
            group[1..].iter().all(|other| same(first, *other))
                && (from != first || group[1..].iter().all(is_apart))
        })
    };
    if parallel::all(n, &is_alike) { groups } else { Vec::new() }
}

/// Columns whose hashes a thread computes at a time.
const COLUMNS: usize = 1 << 10;
