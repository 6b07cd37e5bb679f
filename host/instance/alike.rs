//! Groups of nodes that are alike: exchanging two of them in a tour does not change its cost. Several orders for the same address
//! are the usual reason.

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
    let key = |point: &[f64; 3]| -> [u64; 3] {
        std::array::from_fn(|axis| if axis < axes { (point[axis] + 0.0).to_bits() } else { 0 })
    };
    let slot = |point: &[f64; 3], bits: u32| {
        let [x, y, z] = key(point);
        let mixed = (x ^ y.rotate_left(21) ^ z.rotate_left(42)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> (64 - bits)
    };
    // Few nodes share a slot with `least` others by chance; only these are sorted.
    let bits = (4 * points.len()).ilog2().max(1);
    let mut counts = vec![0_u8; 1 << bits];
    for point in points {
        let count = &mut counts[slot(point, bits) as usize];
        *count = count.saturating_add(1);
    }
    let is_crowded = |index: usize| {
        usize::from(counts[slot(&points[index], bits) as usize]) >= least.min(usize::from(u8::MAX))
    };
    let mut crowded = parallel::filter(points.len(), &is_crowded);
    crowded.sort_unstable_by_key(|&node| (key(&points[node as usize]), node));
    let is_same = |a: &u32, b: &u32| key(&points[*a as usize]) == key(&points[*b as usize]);
    crowded.chunk_by(is_same).filter(|group| group.len() >= least).map(<[u32]>::to_vec).collect()
}

/// Returns groups of `least` nodes or more that are at distance 0 from each other, and whose rows and columns of the matrix are equal.
fn with_the_same_costs(matrix: &[i32], n: usize, least: usize) -> Vec<Vec<u32>> {
    let row = |node: u32| &matrix[node as usize * n..][..n];
    // Most matrices end here: no node has that many others at distance 0.
    let has_several = |node: usize| {
        let count = row(node as u32).iter().filter(|&&cost| cost == 0).count();
        count - usize::from(row(node as u32)[node] == 0) + 1 >= least
    };
    let several = parallel::filter(n, &has_several);
    let mut grouped = vec![false; n];
    let mut groups = Vec::new();
    for &first in &several {
        if grouped[first as usize] {
            continue;
        }
        let is_alike = |other: u32| {
            let [low, high] = [first.min(other) as usize, first.max(other) as usize];
            let (a, b) = (row(first), row(other));
            // The two rows, and the two columns, but for the costs between the two nodes.
            let others = [0..low, low + 1..high, high + 1..n];
            a[other as usize] == 0
                && b[first as usize] == 0
                && others.iter().all(|part| a[part.clone()] == b[part.clone()])
                && others
                    .iter()
                    .cloned()
                    .flatten()
                    .all(|from| matrix[from * n + first as usize] == matrix[from * n + other as usize])
        };
        let behind = several.iter().copied().filter(|&other| other > first && !grouped[other as usize]);
        let group: Vec<u32> = std::iter::once(first).chain(behind.filter(|&other| is_alike(other))).collect();
        group.iter().for_each(|&node| grouped[node as usize] = true);
        groups.push(group);
    }
    groups
}
