//! Recombines several tours into one: chains of Lin-Kernighan, on CPU threads or on a GPU, and the tours of ants with such moves.

use antwarp_core::geometry::{self, Numbered};
use antwarp_core::lin_kernighan::Tour;
use antwarp_core::lin_kernighan::cuts::MAX_SEGMENTS;
use antwarp_core::lin_kernighan::merge;
use antwarp_core::team::Serial;
use rayon::prelude::*;

use super::super::{Together, allocate, check_memory};
use super::chain::Chain;
use antwarp_engine::lin_kernighan::Spec;
use antwarp_engine::{BackendError, Enough, Problem};

/// Approximate memory per node: arrays, and the parts of four nodes.
const BYTES: usize = 500;
/// Fewest nodes that a thread examines.
const MIN_LEN: usize = 1 << 12;

/// Recombines several tours into one, taking the better parts of each. All are closed tours in the problem's numbering, which
/// contain its fixed edges.
///
/// Where two tours differ, their edges form parts that share no node. Parts in which the other tour is shorter are changes of the
/// first, and are merged like those of trials ([`merge::plan`]). This is partition crossover (Whitley, Hains and Howe, *Tunneling
/// between optima: partition crossover for the traveling salesman problem*, 2009), except that several parts are tried together,
/// and parts of more than [`MAX_SEGMENTS`] edges are left out.
pub struct Recombiner<'p> {
    problem: &'p Problem,
    numbers: Vec<u32>,
    chain: Chain,
    /// The neighbours of each node in the other tour.
    beside: Vec<[u32; 2]>,
    /// A forest: all nodes of a part have the same root.
    parents: Vec<u32>,
    /// The number of a root's part.
    parts: Vec<u32>,
}

impl<'p> Recombiner<'p> {
    /// Makes a recombiner whose current tour is along the problem's numbering.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(problem: &'p Problem) -> Result<Self, BackendError> {
        let n = problem.n() as usize;
        let spec = Spec {
            local_search: None,
            chains: 1,
            trials: 0,
            starts: Vec::new(),
            start_cost: 0,
            in_place: false,
        };
        let what = "what tours have in common";
        let mut numbers: Vec<u32> = allocate(what, n)?;
        (0..).zip(&mut numbers).for_each(|(node, number)| *number = node);
        Ok(Recombiner {
            problem,
            numbers,
            chain: Chain::new(&problem.step_lengths(), problem.unit_cost(), &spec)?,
            beside: allocate(what, n)?,
            parents: allocate(what, n)?,
            parts: allocate(what, n)?,
        })
    }

    /// Recombines `tours`, each with its length, and `others` into one, which starts as the shortest of `tours`; also returns its
    /// length. Once `enough` asks to stop, the remaining ones of `others` are left out.
    ///
    /// # Errors
    /// If memory is short.
    ///
    /// # Panics
    /// If `tours` is empty.
    pub fn of(
        problem: &'p Problem,
        mut tours: Vec<(i64, &[u32])>,
        (others, enough): (&[Vec<u32>], Enough),
    ) -> Result<(Self, i64), BackendError> {
        check_memory("what tours have in common", BYTES * problem.n() as usize)?;
        tours.sort_by_key(|&(cost, _)| cost);
        let mut recombiner = Recombiner::new(problem)?;
        recombiner.begin(tours[0].1);
        let mut gain: i64 = tours[1..].iter().map(|(_, tour)| recombiner.join(tour)).sum();
        gain += others.iter().take_while(|_| !enough()).map(|tour| recombiner.join(tour)).sum::<i64>();
        Ok((recombiner, tours[0].0 - gain))
    }

    fn tour(&self) -> Tour<Numbered> {
        Tour {
            n: self.problem.n(),
            k: self.problem.search_k(),
            order: self.chain.order.as_ptr(),
            position: self.chain.position.as_ptr(),
            ahead: self.chain.ahead.as_ptr(),
            lists: self.problem.neighbors().as_ptr(),
            near: std::ptr::null(),
            places: geometry::Places {
                geometry: Numbered { distances: self.problem.distances() },
                start: self.numbers.as_ptr(),
            },
        }
    }

    /// Replaces the current tour.
    ///
    /// # Panics
    /// If it has another number of nodes, or a node that does not exist.
    pub fn begin(&mut self, order: &[u32]) {
        self.chain.order.copy_from_slice(order);
        for (position, &node) in (0..).zip(order) {
            self.chain.position[node as usize] = position;
        }
        let problem = self.problem;
        let steps = order.par_iter().zip(order[1..].par_iter().chain(&order[..1]));
        self.chain.ahead.par_iter_mut().zip(steps).with_min_len(MIN_LEN).for_each(|(ahead, (&a, &b))| {
            *ahead = problem.step_length(a, b);
        });
    }

    /// Returns the current tour, and the distance from each of its nodes to the next, the last one's to the first, as in a
    /// [`Tour`].
    pub fn tour_and_steps(&self) -> (&[u32], &[i32]) {
        (&self.chain.order, &self.chain.ahead)
    }

    /// Returns the position of each node in the current tour.
    pub fn positions(&self) -> &[u32] {
        &self.chain.position
    }

    fn root(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let above = self.parents[self.parents[node as usize] as usize];
            self.parents[node as usize] = above;
            node = above;
        }
        node
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a as usize] = b;
    }

    /// Returns a node's neighbours in the tour, the one before it first.
    fn own(&self, node: u32) -> [u32; 2] {
        let (n, p) = (self.numbers.len(), self.chain.position[node as usize] as usize);
        [
            self.chain.order[if p == 0 { n - 1 } else { p - 1 }],
            self.chain.order[if p + 1 == n { 0 } else { p + 1 }],
        ]
    }

    /// Returns the neighbour of `node` in the other tour that replaces `gone` in this one.
    fn instead(&self, node: u32, gone: u32) -> u32 {
        let (own, [a, b]) = (self.own(node), self.beside[node as usize]);
        match (own.contains(&a), own.contains(&b)) {
            (true, _) => b,
            (false, true) => a,
            // Both edges are removed: either new one may replace either.
            (false, false) => {
                if gone == own[0] {
                    a
                } else {
                    b
                }
            }
        }
    }

    /// Takes over the better parts of another tour; returns by how much the current tour gets shorter, which is never negative.
    pub fn join(&mut self, other: &[u32]) -> i64 {
        let n = other.len();
        for p in 0..n {
            let (before, behind) =
                (other[if p == 0 { n - 1 } else { p - 1 }], other[if p + 1 == n { 0 } else { p + 1 }]);
            self.beside[other[p] as usize] = [before, behind];
        }
        // Tours that have been joined before differ at few nodes.
        let differs = |&node: &u32| {
            let (own, beside) = (self.own(node), self.beside[node as usize]);
            own != beside && own != [beside[1], beside[0]]
        };
        let nodes = (0..n as u32).into_par_iter().with_min_len(MIN_LEN);
        let differing: Vec<u32> = nodes.filter(differs).collect();
        for &node in &differing {
            (self.parents[node as usize], self.parts[node as usize]) = (node, u32::MAX);
        }
        for &node in &differing {
            let (own, beside) = (self.own(node), self.beside[node as usize]);
            own.iter().filter(|v| !beside.contains(v)).for_each(|&v| self.unite(node, v));
            beside.iter().filter(|v| !own.contains(v)).for_each(|&v| self.unite(node, v));
        }
        // For each part: removed edges, and the gain.
        let mut counts: Vec<(u32, i64)> = Vec::new();
        let tour = self.tour();
        for &node in &differing {
            let (own, beside) = (self.own(node), self.beside[node as usize]);
            // SAFETY: nodes of the tour.
            let far = |v: u32| i64::from(unsafe { tour.between(node, v) });
            let gone = (!beside.contains(&own[1])).then(|| far(own[1]));
            let come: i64 = beside.iter().filter(|v| node < **v && !own.contains(v)).map(|&v| far(v)).sum();
            let root = self.root(node) as usize;
            if self.parts[root] == u32::MAX {
                self.parts[root] = counts.len() as u32;
                counts.push((0, 0));
            }
            let part = &mut counts[self.parts[root] as usize];
            part.0 += u32::from(gone.is_some());
            part.1 += gone.unwrap_or(0) - come;
        }
        let mut kept = 0;
        let numbers: Vec<u32> = counts
            .iter()
            .map(|&(count, gain)| {
                let is_kept = gain > 0 && count <= MAX_SEGMENTS && kept < u32::MAX / MAX_SEGMENTS;
                kept += u32::from(is_kept);
                if is_kept { kept - 1 } else { u32::MAX }
            })
            .collect();
        if kept == 0 {
            return 0;
        }
        let chain = &mut self.chain;
        chain.gain = counts
            .iter()
            .zip(&numbers)
            .filter(|(_, number)| **number != u32::MAX)
            .map(|(c, _)| c.1)
            .collect();
        chain.count = vec![0; kept as usize];
        chain.cuts = vec![[0; 3]; (kept * MAX_SEGMENTS) as usize];
        let mut positions: Vec<u32> = differing.iter().map(|&node| chain.position[node as usize]).collect();
        positions.par_sort_unstable();
        for position in positions {
            // SAFETY: positions of the tour.
            let (node, next) = unsafe { (tour.at(position), tour.at(tour.next_position(position))) };
            if self.beside[node as usize].contains(&next) {
                continue;
            }
            let root = self.root(node) as usize;
            let number = numbers[self.parts[root] as usize];
            if number != u32::MAX {
                let cut = [position, self.instead(node, next), self.instead(next, node)];
                let at = number * MAX_SEGMENTS + self.chain.count[number as usize];
                self.chain.cuts[at as usize] = cut;
                self.chain.count[number as usize] += 1;
            }
        }
        let (changes, board, next) = (self.chain.changes(), self.chain.board(), self.chain.next());
        // SAFETY: this is the only thread, and the changes are of this tour.
        let merged = unsafe { merge::plan(Serial, tour, board, changes, kept) };
        if merged.cuts > 0 {
            let together = Together((tour, changes, board, next));
            (0..tour.n).into_par_iter().with_min_len(MIN_LEN).for_each(|position| {
                let (tour, changes, board, next) = together.get();
                // SAFETY: a position belongs to one thread; where nodes go is a permutation.
                unsafe { merge::place(tour, board, changes, merged.cuts, position, next) };
            });
            std::mem::swap(&mut self.chain.order, &mut self.chain.next_order);
            std::mem::swap(&mut self.chain.ahead, &mut self.chain.next_ahead);
        }
        merged.gain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use antwarp_instance::{Instance, Metric, generate, quadrant};

    fn problem(instance: &Instance, start: Vec<u32>) -> Problem {
        Problem::for_search(instance, &quadrant(instance, 8), start)
    }

    fn is_tour(order: &[u32]) -> bool {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        sorted.iter().copied().eq(0..order.len() as u32)
    }

    /// Twenty nodes on a ring, numbered along it. Each of two tours has a different pair of neighbours swapped.
    #[test]
    fn what_either_tour_does_better_is_kept() {
        let places = (0..20).map(|i| {
            let angle = f64::from(i) * std::f64::consts::TAU / 20.0;
            [(1e4 * angle.cos()).round(), (1e4 * angle.sin()).round(), 0.0]
        });
        let instance = Instance::from_points("ring", Metric::Euc2d, places.collect()).unwrap();
        let ring: Vec<u32> = (0..20).collect();
        let problem = problem(&instance, ring.clone());
        let swapped = |a: usize| {
            let mut tour = ring.clone();
            tour.swap(a, a + 1);
            tour
        };
        let (one, other) = (swapped(3), swapped(12));
        let length = |tour: &[u32]| instance.check_tour(tour).unwrap();
        let mut recombiner = Recombiner::new(&problem).unwrap();
        recombiner.begin(&one);
        let gain = recombiner.join(&other);
        let (order, steps) = recombiner.tour_and_steps();
        assert_eq!(length(order), length(&ring), "both swaps are undone");
        assert_eq!(length(&one) - length(order), gain);
        assert_eq!(steps.iter().map(|&s| i64::from(s)).sum::<i64>(), length(order));
        assert_eq!(recombiner.join(&other), 0, "there is nothing left to take over");
    }

    /// Two tours along different curves have many parts, small and large, some of which are incompatible.
    #[test]
    fn any_two_tours_make_one_that_is_not_longer() {
        use antwarp_engine::start::{self, Start};
        let mut gains = 0;
        for seed in 1..30 {
            let instance = generate::uniform(60 + 17 * seed as usize, seed).unwrap();
            let near = quadrant(&instance, 8);
            let [one, other] =
                [Start::Greedy, Start::SpaceFilling].map(|start| start::tour(&instance, start, &near, seed));
            // Numbered along the first tour.
            let problem = problem(&instance, one.clone());
            let mut number = vec![0; one.len()];
            (0..).zip(&one).for_each(|(i, &v)| number[v as usize] = i);
            let own: Vec<u32> = (0..one.len() as u32).collect();
            let other: Vec<u32> = other.iter().map(|&v| number[v as usize]).collect();
            let length = |tour: &[u32]| instance.check_tour(&problem.original(tour)).unwrap();
            let mut recombiner = Recombiner::new(&problem).unwrap();
            recombiner.begin(&own);
            let gain = recombiner.join(&other);
            let (order, _) = recombiner.tour_and_steps();
            assert!(is_tour(order) && gain >= 0);
            assert_eq!(length(&own) - length(order), gain);
            let at = |v: u32| order[recombiner.positions()[v as usize] as usize];
            assert!(own.iter().all(|&v| at(v) == v));
            gains += gain;
        }
        assert!(gains > 0);
    }
}
