//! Start tours of several tours that are to be crossed, where CPU threads kick each in its array: greedy ones, each with its own random
//! lengths. They take a tenth of the time of random tours improved by Or-2opt, are shorter, and differ as much as crossing needs.

use antwarp_core::rng::Stream;

use crate::engine::{Enough, Problem};
use crate::instance::{Instance, parallel};

/// Neighbours of a node whose edges are taken.
const NEIGHBORS: usize = 6;
/// Lengths are multiplied by random numbers from 1 to 1 plus this.
const LONGER: f64 = 1.0;
/// No node.
const NOBODY: u32 = u32::MAX;

/// Returns this many tours of a problem, concatenated: fewer if `enough` asks to stop.
pub fn greedy(problem: &Problem, (seed, count): (u64, u32), enough: Enough) -> Vec<u32> {
    let near = problem.neighbor_lengths();
    let tours = parallel::collect(count as usize, &|number| {
        (!enough()).then(|| one(problem, &near, Stream::new(seed, 0, number as u32)))
    });
    tours.into_iter().flatten().flatten().collect()
}

/// Returns the tour for this stream of random numbers: the shortest edges first, by lengths that differ from tour to tour. What is
/// left are paths, which are joined in the problem's numbering: it follows a short tour.
fn one(problem: &Problem, near: &[i32], stream: Stream) -> Vec<u32> {
    let (n, k) = (problem.n(), problem.search_k() as usize);
    let mut edges: Vec<(u64, u32, u32)> = Vec::with_capacity(n as usize * k.min(NEIGHBORS));
    for node in 0..n {
        let draws = stream.step(node);
        let row = node as usize * k..node as usize * k + k.min(NEIGHBORS);
        for (item, at) in (0..).zip(row) {
            let longer = 1.0 + LONGER * f64::from(draws.bits(item)) / f64::from(u32::MAX);
            edges.push(((f64::from(near[at]) * longer * 16.0) as u64, node, problem.neighbors()[at]));
        }
    }
    edges.sort_unstable();
    let partners = (0..).zip(problem.partners().iter().copied());
    let fixed = partners.filter(|&(_, partner)| partner != Instance::NO_PARTNER);
    let mut beside = vec![[NOBODY; 2]; n as usize];
    // The other end of the path that ends with a node.
    let mut end: Vec<u32> = (0..n).collect();
    for (a, b) in fixed.chain(edges.iter().map(|&(_, a, b)| (a, b))) {
        let is_inside = |node: u32| beside[node as usize][1] != NOBODY;
        if is_inside(a) || is_inside(b) || end[a as usize] == b {
            continue;
        }
        for (node, other) in [(a, b), (b, a)] {
            let places = &mut beside[node as usize];
            places[usize::from(places[0] != NOBODY)] = other;
        }
        let [first, last] = [a, b].map(|node| end[node as usize]);
        (end[first as usize], end[last as usize]) = (last, first);
    }
    joined(&beside)
}

/// Joins paths, given the nodes beside each node, to a tour.
fn joined(beside: &[[u32; 2]]) -> Vec<u32> {
    let mut is_in = vec![false; beside.len()];
    let mut tour = Vec::with_capacity(beside.len());
    for first in 0..beside.len() as u32 {
        if is_in[first as usize] || beside[first as usize][1] != NOBODY {
            continue;
        }
        let (mut from, mut node) = (NOBODY, first);
        while node != NOBODY {
            is_in[node as usize] = true;
            tour.push(node);
            let [one, other] = beside[node as usize];
            (from, node) = (node, if one == from { other } else { one });
        }
    }
    tour
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{generate, quadrant};

    #[test]
    fn greedy_tours_differ_and_are_short() {
        let instance = generate::uniform(500, 1).unwrap();
        let near = quadrant(&instance, 8);
        let problem = Problem::for_search(&instance, &near, (0..500).collect());
        let tours = greedy(&problem, (7, 3), &|| false);
        let lengths: Vec<i64> = tours.chunks(500).map(|tour| problem.length(tour).expect("a tour")).collect();
        assert_eq!(lengths.len(), 3);
        // A random tour is twenty times as long.
        assert!(lengths.iter().all(|&length| length < problem.unit_cost() / 5));
        assert!(tours[..500] != tours[500..1000] && tours[500..1000] != tours[1000..]);
        assert!(greedy(&problem, (7, 3), &|| true).is_empty());
    }
}
