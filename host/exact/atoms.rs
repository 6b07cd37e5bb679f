//! Shortest closed walks through a few groups of nodes.

use std::collections::HashMap;
use std::sync::Arc;

/// The most groups: the time of [`shortest_tour`] doubles with each.
pub(crate) const MOST_ATOMS: usize = 12;

/// Divides nodes into *atoms*: two nodes are in the same if every set has both or neither. Returns for every two atoms how many of the
/// sets have one of them, row by row; `None` if there are more than 12 atoms.
pub(crate) fn distances_of_atoms(sets: &[Arc<[u32]>], n: usize) -> Option<(usize, Vec<i64>)> {
    let mut sets_of: HashMap<u32, Vec<u32>> = HashMap::new();
    for (number, set) in (0..).zip(sets) {
        set.iter().for_each(|&node| sets_of.entry(node).or_default().push(number));
    }
    let is_any_outside = sets_of.len() < n;
    let mut atoms: Vec<Vec<u32>> = sets_of.into_values().collect();
    atoms.sort_unstable();
    atoms.dedup();
    if is_any_outside {
        atoms.push(Vec::new());
    }
    let k = atoms.len();
    if k > MOST_ATOMS {
        return None;
    }
    let apart = |a: &[u32], b: &[u32]| {
        let only = |a: &[u32], b: &[u32]| a.iter().filter(|set| b.binary_search(set).is_err()).count();
        (only(a, b) + only(b, a)) as i64
    };
    let distances = atoms.iter().flat_map(|a| atoms.iter().map(move |b| apart(a, b))).collect();
    Some((k, distances))
}

/// Returns the length of a shortest closed tour through `k` nodes, at least two, and the tour. `distances` has them row by row.
///
/// Source: the dynamic program of M. Held, R. Karp, *A dynamic programming approach to sequencing problems*, Journal of SIAM 10 (1962).
pub(crate) fn shortest_tour(k: usize, distances: &[i64]) -> (i64, Vec<usize>) {
    // The tour starts at the last node. `best[set * others + end]` is the length of the shortest path from there through a set of the
    // other nodes that ends in one of them.
    let others = k - 1;
    let distance = |a: usize, b: usize| distances[a * k + b];
    let mut best = vec![i64::MAX; others << others];
    for node in 0..others {
        best[(1 << node) * others + node] = distance(others, node);
    }
    for set in 1_usize..1 << others {
        if set.is_power_of_two() {
            continue;
        }
        let mut ends = set;
        while ends != 0 {
            let end = ends.trailing_zeros() as usize;
            ends &= ends - 1;
            let before = set & !(1 << end);
            let mut least = i64::MAX;
            let mut rest = before;
            while rest != 0 {
                let node = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                least = least.min(best[before * others + node] + distance(node, end));
            }
            best[set * others + end] = least;
        }
    }
    let mut tour = vec![others];
    let mut set = (1 << others) - 1;
    let mut length = 0;
    while set != 0 {
        let next = tour[tour.len() - 1];
        let ends = (0..others).filter(|end| (set >> end) & 1 == 1);
        let through = |end: usize| best[set * others + end] + distance(end, next);
        let Some(end) = ends.min_by_key(|&end| through(end)) else { break };
        if tour.len() == 1 {
            length = through(end);
        }
        tour.push(end);
        set &= !(1 << end);
    }
    (length, tour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_are_visited_there_and_back() {
        for k in 2..=MOST_ATOMS {
            let places: Vec<i64> = (0..k as i64).map(|i| (i * 7) % 13).collect();
            let distances: Vec<i64> =
                places.iter().flat_map(|a| places.iter().map(move |b| (a - b).abs())).collect();
            let (length, mut tour) = shortest_tour(k, &distances);
            assert_eq!(length, 2 * (places.iter().max().unwrap() - places.iter().min().unwrap()));
            let steps: i64 = (0..k).map(|at| distances[tour[at] * k + tour[(at + 1) % k]]).sum();
            assert_eq!(steps, length);
            tour.sort_unstable();
            assert_eq!(tour, (0..k).collect::<Vec<_>>());
        }
    }

    #[test]
    fn three_sets_have_eight_atoms_at_most() {
        let sets: Vec<Arc<[u32]>> = vec![[0, 1, 2, 3].into(), [2, 3, 4, 5].into(), [1, 3, 5, 6].into()];
        let (k, distances) = distances_of_atoms(&sets, 8).unwrap();
        assert_eq!(k, 8);
        assert_eq!(distances.iter().max(), Some(&3));
        let (k, _) = distances_of_atoms(&sets, 7).unwrap();
        assert_eq!(k, 7, "no node is outside of all sets");
        let (k, distances) = distances_of_atoms(&[[3, 4].into(), [3, 4].into()], 9).unwrap();
        assert_eq!((k, distances), (2, vec![0, 2, 2, 0]), "a set counts as often as it is given");
    }
}
