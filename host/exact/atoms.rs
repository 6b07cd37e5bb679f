//! Shortest closed walks through a few groups of nodes.

use std::collections::HashMap;
use std::sync::Arc;

/// The most groups: the time of [`shortest_tour`] doubles with each.
pub(crate) const MOST_ATOMS: usize = 12;

/// Divides `n` nodes into *atoms*: two nodes are in the same if every set has both or neither. Returns the number k of atoms, and for
/// every two of them how many of the sets have just one, k x k; `None` if there are more than 12 atoms. A set counts as often as it is
/// given.
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

/// Returns the length of a shortest closed tour through `k` nodes, and the tour, which starts at the last node. There are at least two
/// nodes and at most [`MOST_ATOMS`]. `distances` is k x k, row by row, and symmetric.
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

/// Returns a shortest closed tour as [`shortest_tour`] does, where nodes at the same place count as one: two nodes are at the same place if
/// their distance is 0. `None` if there are more than 12 places. `distances` must fulfil the triangle inequality.
pub(crate) fn shortest_tour_of_places(k: usize, distances: &[i64]) -> Option<(i64, Vec<usize>)> {
    let mut places: Vec<Vec<usize>> = Vec::new();
    for node in 0..k {
        match places.iter_mut().find(|place| distances[place[0] * k + node] == 0) {
            Some(place) => place.push(node),
            None => places.push(vec![node]),
        }
    }
    match places.len() {
        0 | 1 => Some((0, (0..k).collect())),
        count if count > MOST_ATOMS => None,
        count => {
            let between = |a: &Vec<usize>, b: &Vec<usize>| distances[a[0] * k + b[0]];
            let apart: Vec<i64> =
                places.iter().flat_map(|a| places.iter().map(move |b| between(a, b))).collect();
            let (length, tour) = shortest_tour(count, &apart);
            Some((length, tour.into_iter().flat_map(|place| places[place].iter().copied()).collect()))
        }
    }
}

/// Looks for a closed tour through `k` nodes shorter than `limit` by local search from a few tours of nearest neighbours. Returns the
/// first one, or else the shortest that was found. `distances` is k x k, row by row, and symmetric.
pub(crate) fn short_tour(k: usize, distances: &[i64], limit: i64) -> Vec<usize> {
    let mut best = (i64::MAX, Vec::new());
    for start in [k - 1, 0, k / 2] {
        let mut tour = tour_of_nearest(k, distances, start);
        while reverse_parts(k, distances, &mut tour) || move_parts(k, distances, &mut tour) {}
        let length = tour.iter().zip(tour.iter().cycle().skip(1)).map(|(a, b)| distances[a * k + b]).sum();
        if length < best.0 {
            best = (length, tour);
        }
        if length < limit {
            break;
        }
    }
    best.1
}

/// Returns the tour that goes to a nearest node each time.
fn tour_of_nearest(k: usize, distances: &[i64], start: usize) -> Vec<usize> {
    let mut tour: Vec<usize> = (0..k).collect();
    tour.swap(0, start);
    for at in 1..k {
        let last = tour[at - 1];
        if let Some(nearest) = (at..k).min_by_key(|&other| distances[last * k + tour[other]]) {
            tour.swap(at, nearest);
        }
    }
    tour
}

/// Reverses parts of a tour where that makes it shorter. Returns whether it did.
fn reverse_parts(k: usize, distances: &[i64], tour: &mut [usize]) -> bool {
    let distance = |a: usize, b: usize| distances[a * k + b];
    let mut is_shorter = false;
    for first in 1..k {
        for last in first..k {
            let (before, after) = (tour[first - 1], tour[(last + 1) % k]);
            let saved = distance(before, tour[first]) + distance(tour[last], after);
            if distance(before, tour[last]) + distance(tour[first], after) < saved {
                tour[first..=last].reverse();
                is_shorter = true;
            }
        }
    }
    is_shorter
}

/// Moves parts of up to three nodes to other places of a tour where that makes it shorter. Returns whether it did.
fn move_parts(k: usize, distances: &[i64], tour: &mut [usize]) -> bool {
    let distance = |a: usize, b: usize| distances[a * k + b];
    let mut is_shorter = false;
    for size in 1..=3.min(k.saturating_sub(3)) {
        for _ in 0..k {
            // The part is at the beginning.
            tour.rotate_left(1);
            let (first, last) = (tour[0], tour[size - 1]);
            let (before, after) = (tour[k - 1], tour[size]);
            let saved = distance(before, first) + distance(last, after) - distance(before, after);
            for at in size..k - 1 {
                let (left, right) = (tour[at], tour[at + 1]);
                let straight = distance(left, first) + distance(last, right) - distance(left, right);
                let reversed = distance(left, last) + distance(first, right) - distance(left, right);
                if straight.min(reversed) < saved {
                    if reversed < straight {
                        tour[..size].reverse();
                    }
                    tour[..=at].rotate_left(size);
                    is_shorter = true;
                    break;
                }
            }
        }
    }
    is_shorter
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
    fn nodes_at_the_same_place_are_visited_together() {
        // 16 nodes at 4 places on a line.
        let places: Vec<i64> = (0..16).map(|node| (node * 5) % 4).collect();
        let distances: Vec<i64> =
            places.iter().flat_map(|a| places.iter().map(move |b| (a - b).abs())).collect();
        let (length, tour) = shortest_tour_of_places(16, &distances).unwrap();
        assert_eq!((length, length_of(&tour, &distances)), (6, 6));
        let far: Vec<i64> =
            (0..13_i64).flat_map(|a| (0..13).map(move |b| i64::from(a != b) * (10 + a + b))).collect();
        assert_eq!(shortest_tour_of_places(13, &far), None, "13 places");
        assert_eq!(shortest_tour_of_places(3, &[0; 9]), Some((0, vec![0, 1, 2])));
    }

    #[test]
    fn local_search_finds_tours_and_often_a_shortest_one() {
        let mut bits = 1_u64;
        let mut draw = || {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (bits >> 40) as i64 % 1000
        };
        let mut shortest = 0;
        for trial in 0..200 {
            let k = 4 + trial % 7;
            let places: Vec<(i64, i64)> = (0..k).map(|_| (draw(), draw())).collect();
            let apart = |a: &(i64, i64), b: &(i64, i64)| (a.0 - b.0).abs() + (a.1 - b.1).abs();
            let distances: Vec<i64> =
                places.iter().flat_map(|a| places.iter().map(move |b| apart(a, b))).collect();
            let best = shortest_tour(k, &distances).0;
            let tour = short_tour(k, &distances, 0);
            let mut nodes = tour.clone();
            nodes.sort_unstable();
            assert_eq!(nodes, (0..k).collect::<Vec<_>>());
            assert!(length_of(&tour, &distances) >= best);
            shortest += usize::from(length_of(&tour, &distances) == best);
            // Any tour is short enough here.
            assert_eq!(short_tour(k, &distances, i64::MAX).len(), k);
        }
        assert!(shortest > 150, "{shortest} of 200 are shortest tours");
    }

    fn length_of(tour: &[usize], distances: &[i64]) -> i64 {
        let k = tour.len();
        (0..k).map(|at| distances[tour[at] * k + tour[(at + 1) % k]]).sum()
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
