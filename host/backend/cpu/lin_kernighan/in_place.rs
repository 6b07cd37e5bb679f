//! A tour that a single thread kicks and repairs in its array.
//!
//! A [trial](antwarp_core::lin_kernighan::trial) leaves the tour as it is, so that many teams can work on it at the same time. A thread
//! that has a tour to itself needs no copies, cuts and merges: it reverses segments of the array, and reverses them again if the
//! result is rejected. Its moves have at most three edges, and the first one that makes the tour shorter is made. For pr2392 a thread
//! makes about 40,000 kicks a second in place, and about 8,000 by trials. A single tour ends longer than with trials, but tours that are
//! to be crossed need to be many and different rather than good.
//!
//! Kicks are double bridges of three consecutive segments. Sources: Lin (*Computer solutions of the traveling salesman problem*, 1965)
//! for the moves, Bentley (*Fast algorithms for geometric traveling salesman problems*, 1992) for neighbour lists and the queue of
//! nodes, Martin, Otto and Felten (1991) for kicks and acceptance.

use std::collections::VecDeque;

use antwarp_core::geometry::{Geometry, Places};
use antwarp_core::lin_kernighan::trial::{TrialRound, tolerance};
use antwarp_core::rng::{Draws, Stream};
use antwarp_engine::{Enough, Problem};

/// Fewest nodes: the segments of a kick have to be shorter than half of the tour.
pub(super) const FEWEST_NODES: u32 = 64;
/// Longest segment of a kick.
const SEGMENT: u32 = 30;
/// Most neighbours that the second and the third edge of a move may lead to.
const BREADTH: [usize; 2] = [8, 5];
/// Nodes searched around between two looks at the clock.
const LOOKS: u32 = 256;
/// Numbers of a kick's random draws: its place, the lengths of its segments, and the exponential variable.
const PLACE: u32 = 0;
const LENGTHS: [u32; 3] = [1, 2, 3];
const THRESHOLD: u32 = 4;

/// A move that removes the edges (t1, t2), (t3, t4) and perhaps (t5, t6), and adds (t2, t3), perhaps (t4, t5), and the edge from the last
/// node to t1. The tour is read in the direction in which t2 follows t1.
#[derive(Clone, Copy)]
enum Move {
    /// t4 comes before t3: the path from t2 to t4 is reversed.
    Two { t4: u32 },
    /// The same, and then the path from t4 to t6.
    Turned { t4: u32, t6: u32 },
    /// t3 comes before t4, and t5 before t6 between t2 and t3: both parts are swapped.
    Swapped { t3: u32, t4: u32, t5: u32, t6: u32 },
    /// t6 comes before t5: both parts are reversed in their places.
    BothTurned { t3: u32, t5: u32, t6: u32 },
}

/// A move that makes the tour shorter.
struct Found {
    gain: i64,
    change: Move,
    /// The nodes beside the edges that it removes.
    ends: [u32; 6],
}

/// A tour, and what its thread needs to change it.
pub(super) struct InPlace<'a, G: Geometry> {
    pub problem: &'a Problem,
    /// The distance to each neighbour.
    pub near: &'a [i32],
    pub places: Places<G>,
    pub order: &'a mut [u32],
    /// The position of each node in it.
    pub position: &'a mut [u32],
    /// Its length.
    pub cost: i64,
    /// Nodes to search around, and which ones these are.
    queue: VecDeque<u32>,
    waits: Vec<bool>,
    /// The first and last positions of the segments reversed since the last kick.
    reversed: Vec<[u32; 2]>,
}

impl<'a, G: Geometry> InPlace<'a, G> {
    /// Makes it from a tour of at least [`FEWEST_NODES`] nodes and their positions, which it changes in place, and the tour's
    /// length.
    pub(super) fn new(
        (problem, near): (&'a Problem, &'a [i32]),
        places: Places<G>,
        (order, position): (&'a mut [u32], &'a mut [u32]),
        cost: i64,
    ) -> Self {
        let waits = vec![false; order.len()];
        let (queue, reversed) = (VecDeque::new(), Vec::new());
        InPlace { problem, near, places, order, position, cost, queue, waits, reversed }
    }

    /// Makes moves around all nodes until none makes the tour shorter, or `enough` asks to stop.
    pub(super) fn descend(&mut self, enough: Enough) {
        for i in 0..self.order.len() {
            self.push(self.order[i]);
        }
        self.repair(None, enough);
        self.reversed.clear();
    }

    /// Kicks the tour and repairs it, as trial `number` of a round. If it is then longer than the round's temperature allows,
    /// the kick is undone.
    pub(super) fn kick(&mut self, round: TrialRound, (stream, number): (Stream, u32), enough: Enough) {
        let draws = stream.step(number);
        let before = self.cost;
        self.reversed.clear();
        self.bridge(draws);
        self.repair(Some(before), enough);
        if self.cost > before + tolerance(round.temperature, draws.bits(THRESHOLD)) {
            while let Some(segment) = self.reversed.pop() {
                self.reverse(segment);
            }
            self.cost = before;
        }
    }

    /// Swaps the first and the last of three consecutive segments.
    fn bridge(&mut self, draws: Draws) {
        let n = self.order.len() as u32;
        let around = |p: u32| if p >= n { p - n } else { p };
        let longest = SEGMENT.min(n / 8 - 1);
        // Each cut may move on by one node.
        let least = 1 + u32::from(!self.problem.partners().is_empty());
        let mut cuts = [draws.below(PLACE, n); 4];
        for (i, item) in LENGTHS.into_iter().enumerate() {
            cuts[i + 1] = around(cuts[i] + least + draws.below(item, longest));
        }
        for cut in &mut cuts {
            let [node, next] = [*cut, around(*cut + 1)].map(|p| self.order[p as usize]);
            *cut = if self.problem.is_fixed(node, next) { around(*cut + 1) } else { *cut };
        }
        let [a, b, c, d] = cuts.map(|cut| [cut, around(cut + 1)].map(|p| self.order[p as usize]));
        let removed: i64 = [a, b, c, d].iter().map(|&[node, next]| self.far(node, next)).sum();
        let added = [(a[0], c[1]), (d[0], b[1]), (c[0], a[1]), (b[0], d[1])];
        self.cost += added.iter().map(|&(one, other)| self.far(one, other)).sum::<i64>() - removed;
        let length = |i: usize| around(cuts[i + 1] + n - cuts[i]);
        let first = around(cuts[0] + 1);
        let second = around(first + length(2));
        let third = around(second + length(1));
        let before = |p: u32| if p == 0 { n - 1 } else { p - 1 };
        for segment in [[first, cuts[3]], [first, before(second)], [second, before(third)], [third, cuts[3]]]
        {
            self.turn(segment);
        }
        [a, b, c, d].iter().flatten().for_each(|&node| self.push(node));
    }

    /// Makes moves around the waiting nodes, until none waits or the tour is as long as before its kick: then it is that tour, or
    /// rarely another one.
    fn repair(&mut self, before: Option<i64>, enough: Enough) {
        let mut looks = 0;
        while let Some(node) = self.queue.pop_front() {
            self.waits[node as usize] = false;
            while let Some(found) = self.find::<true>(node).or_else(|| self.find::<false>(node)) {
                self.make(found);
            }
            looks += 1;
            if Some(self.cost) == before || (looks % LOOKS == 0 && enough()) {
                break;
            }
        }
        while let Some(node) = self.queue.pop_front() {
            self.waits[node as usize] = false;
        }
    }

    fn push(&mut self, node: u32) {
        if !std::mem::replace(&mut self.waits[node as usize], true) {
            self.queue.push_back(node);
        }
    }

    /// Returns the node after another, or before it.
    #[inline(always)]
    fn beside<const ONWARDS: bool>(&self, node: u32) -> u32 {
        let (p, last) = (self.position[node as usize] as usize, self.order.len() - 1);
        if ONWARDS {
            self.order[if p == last { 0 } else { p + 1 }]
        } else {
            self.order[if p == 0 { last } else { p - 1 }]
        }
    }

    #[inline(always)]
    fn far(&self, a: u32, b: u32) -> i64 {
        debug_assert!(a.max(b) < self.problem.n());
        // SAFETY: lists and tours hold nodes of the problem.
        i64::from(unsafe {
            self.places
                .geometry
                .between(*self.places.start.add(a as usize), *self.places.start.add(b as usize))
        })
    }

    /// Returns the length that removing an edge saves; `None` if it has to stay.
    #[inline(always)]
    fn free(&self, a: u32, b: u32) -> Option<i64> {
        (!self.problem.is_fixed(a, b)).then(|| self.far(a, b))
    }

    /// Returns the nearest neighbours of a node, each with its distance.
    #[inline(always)]
    fn neighbors(&self, node: u32, most: usize) -> impl Iterator<Item = (u32, i64)> + use<'a, G> {
        let k = self.problem.search_k() as usize;
        let row = node as usize * k..node as usize * k + most.min(k);
        let (problem, near) = (self.problem, self.near);
        problem.neighbors()[row.clone()].iter().zip(&near[row]).map(|(&node, &far)| (node, i64::from(far)))
    }

    /// Returns whether `node` is on the path from `first` to `last`.
    #[inline(always)]
    fn is_on<const ONWARDS: bool>(&self, [first, last]: [u32; 2], node: u32) -> bool {
        let [first, last] = if ONWARDS { [first, last] } else { [last, first] };
        let [first, last, node] = [first, last, node].map(|node| self.position[node as usize]);
        if first <= last { first <= node && node <= last } else { first <= node || node <= last }
    }

    /// Returns the first move found that removes the edge after a node, or before it, and makes the tour shorter.
    fn find<const ONWARDS: bool>(&self, t1: u32) -> Option<Found> {
        let t2 = self.beside::<ONWARDS>(t1);
        let removed = self.free(t1, t2)?;
        for (t3, near) in self.neighbors(t2, BREADTH[0]) {
            let sum = removed - near;
            if sum <= 0 {
                break;
            }
            if t3 == t1 {
                continue;
            }
            let found = self.find_turned::<ONWARDS>([t1, t2, t3], sum);
            let found = found.or_else(|| self.find_swapped::<ONWARDS>([t1, t2, t3], sum));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Searches for moves that remove the edge before t3, given the sum so far.
    #[inline(always)]
    fn find_turned<const ONWARDS: bool>(&self, [t1, t2, t3]: [u32; 3], sum: i64) -> Option<Found> {
        let t4 = if ONWARDS { self.beside::<false>(t3) } else { self.beside::<true>(t3) };
        if t4 == t2 {
            return None;
        }
        let sum = sum + self.free(t3, t4)?;
        let gain = sum - self.far(t4, t1);
        if gain > 0 {
            return Some(Found { gain, change: Move::Two { t4 }, ends: [t1, t2, t3, t4, t3, t4] });
        }
        for (t5, near) in self.neighbors(t4, BREADTH[1]) {
            let sum = sum - near;
            if sum <= 0 {
                break;
            }
            if t5 == t3 || t5 == t1 {
                continue;
            }
            // The path from t2 to t4 is reversed by then.
            let is_reversed = self.is_on::<ONWARDS>([t2, t4], t5);
            let t6 = if is_reversed == ONWARDS { self.beside::<true>(t5) } else { self.beside::<false>(t5) };
            if t6 == t4 {
                continue;
            }
            let Some(length) = self.free(t5, t6) else { continue };
            let gain = sum + length - self.far(t6, t1);
            if gain > 0 {
                return Some(Found { gain, change: Move::Turned { t4, t6 }, ends: [t1, t2, t3, t4, t5, t6] });
            }
        }
        None
    }

    /// Searches for moves that remove the edge after t3. The path from t2 to t3 becomes a cycle, which the next edges open.
    #[inline(always)]
    fn find_swapped<const ONWARDS: bool>(&self, [t1, t2, t3]: [u32; 3], sum: i64) -> Option<Found> {
        if t3 == self.beside::<ONWARDS>(t2) {
            return None;
        }
        let t4 = self.beside::<ONWARDS>(t3);
        let sum = sum + self.free(t3, t4)?;
        for (t5, near) in self.neighbors(t4, BREADTH[1]) {
            let sum = sum - near;
            if sum <= 0 {
                break;
            }
            if t5 == t3 || !self.is_on::<ONWARDS>([t2, t3], t5) {
                continue;
            }
            let closed = |t6: u32| Some(sum + self.free(t5, t6)? - self.far(t6, t1)).filter(|&gain| gain > 0);
            let t6 = self.beside::<ONWARDS>(t5);
            if let Some(gain) = closed(t6) {
                let change = Move::Swapped { t3, t4, t5, t6 };
                return Some(Found { gain, change, ends: [t1, t2, t3, t4, t5, t6] });
            }
            if t5 == t2 {
                continue;
            }
            let t6 = if ONWARDS { self.beside::<false>(t5) } else { self.beside::<true>(t5) };
            if let Some(gain) = closed(t6) {
                let change = Move::BothTurned { t3, t5, t6 };
                return Some(Found { gain, change, ends: [t1, t2, t3, t4, t5, t6] });
            }
        }
        None
    }

    fn make(&mut self, Found { gain, change, ends }: Found) {
        let [t1, t2, ..] = ends;
        match change {
            Move::Two { t4 } => self.flip(t1, t2, t4),
            Move::Turned { t4, t6 } => {
                self.flip(t1, t2, t4);
                self.flip(t1, t4, t6);
            }
            Move::BothTurned { t3, t5, t6 } => {
                self.flip(t1, t2, t6);
                self.flip(t2, t5, t3);
            }
            Move::Swapped { t3, t4, t5, t6 } => self.swap([t1, t2, t5, t6, t3, t4]),
        }
        self.cost -= gain;
        ends.into_iter().for_each(|node| self.push(node));
    }

    /// Swaps the path from b to c and that from d to e, which lie between a and f. This is the same as swapping one of them and the rest
    /// of the tour, so the longest of the three stays where it is.
    fn swap(&mut self, [a, b, c, d, e, f]: [u32; 6]) {
        let n = self.order.len() as u32;
        let is_onwards = self.beside::<true>(a) == b;
        let length = |first: u32, last: u32| {
            let [first, last] = [first, last].map(|node| self.position[node as usize]);
            let steps = if is_onwards { last + n - first } else { first + n - last };
            1 + if steps >= n { steps - n } else { steps }
        };
        let (one, other) = (length(b, c), length(d, e));
        let rest = n - one - other;
        let [a, b, c, d, e] = if rest >= one.max(other) {
            [a, b, c, d, e]
        } else if one >= other {
            [c, d, e, f, a]
        } else {
            [e, f, a, b, c]
        };
        self.flip(a, b, e);
        self.flip(a, e, d);
        self.flip(e, c, b);
    }

    /// Reverses the path from b to c, where b is next to a, and c farther away from it.
    fn flip(&mut self, a: u32, b: u32, c: u32) {
        let [first, last] = if self.beside::<true>(a) == b { [b, c] } else { [c, b] };
        self.turn([first, last].map(|node| self.position[node as usize]));
    }

    /// Reverses a segment, and remembers it.
    fn turn(&mut self, segment: [u32; 2]) {
        self.reversed.push(segment);
        self.reverse(segment);
    }

    /// Reverses the nodes from one position to another, or those outside if these are fewer. Doing so twice changes nothing.
    fn reverse(&mut self, [first, last]: [u32; 2]) {
        let n = self.order.len() as u32;
        let length = 1 + if first <= last { last - first } else { last + n - first };
        let after = |p: u32| if p + 1 == n { 0 } else { p + 1 };
        let before = |p: u32| if p == 0 { n - 1 } else { p - 1 };
        let (mut i, mut j, length) =
            if 2 * length > n { (after(last), before(first), n - length) } else { (first, last, length) };
        for _ in 0..length / 2 {
            self.order.swap(i as usize, j as usize);
            self.position[self.order[i as usize] as usize] = i;
            self.position[self.order[j as usize] as usize] = j;
            (i, j) = (after(i), before(j));
        }
    }
}

#[cfg(test)]
mod tests {
    use antwarp_engine::lin_kernighan::Spec;
    use antwarp_engine::start::{self, Start};
    use antwarp_instance::form::Form;
    use antwarp_instance::{Instance, generate, quadrant};

    use super::*;
    use crate::lin_kernighan;

    fn round(number: u32, walk: u32, temperature: f32) -> TrialRound {
        TrialRound { seed: 5, number, trials: 40, walk, temperature, looks: u32::MAX, padding: 0 }
    }

    /// Descends and kicks three tours, and checks what is reported: returns the lengths of the shortest before, between and after.
    fn work(instance: &Instance, temperature: f32) -> [i64; 3] {
        let near = quadrant(instance, 8);
        let problem = Problem::for_search(instance, &near, start::tour(instance, Start::Greedy, &near, 1));
        let n = problem.n();
        let one: Vec<u32> = (0..n).collect();
        let spec = Spec::new(None, n, (3, 40), one.repeat(3), problem.unit_cost());
        let mut tours = lin_kernighan(&problem, &Spec { in_place: true, ..spec }).unwrap();
        let never: Enough = &|| false;
        let descended = tours.run(&[round(0, 0, 0.0)], never).unwrap();
        let rounds: Vec<_> = (1..10).map(|number| round(number, 20, temperature)).collect();
        let reached = tours.run(&rounds, never).unwrap();
        assert_eq!(reached.trials, 9 * 40);
        let all = tours.tours().unwrap();
        let lengths: Vec<i64> = all.chunks(n as usize).map(|t| problem.length(t).expect("a tour")).collect();
        assert_eq!(lengths.iter().copied().min(), Some(reached.cost));
        assert_eq!(problem.length(&tours.best_tour().unwrap()), Some(reached.best_cost));
        // Small tours all become the best one.
        let [one, other] = [0, 1].map(|i| &all[i * n as usize..(i + 1) * n as usize]);
        assert!(n < 1000 || one != other, "tours have kicks of their own");
        for tour in all.chunks(n as usize) {
            let next = tour.iter().cycle().skip(1);
            let kept =
                tour.iter().zip(next).filter(|&(&a, &b)| problem.is_fixed(a, b) || problem.is_fixed(b, a));
            let pairs = (0..).zip(problem.partners()).filter(|&(node, &partner)| node < partner);
            let pairs = pairs.filter(|&(_, &partner)| partner != Instance::NO_PARTNER);
            assert_eq!(kept.count(), pairs.count(), "fixed edges stay");
        }
        [problem.unit_cost(), descended.cost, reached.best_cost]
    }

    #[test]
    fn tours_get_shorter_and_their_lengths_are_right() {
        for (n, temperature) in [(64, 0.0), (300, 0.0), (1000, 1e4), (2000, -1.0)] {
            let [start, descended, kicked] = work(&generate::uniform(n, 3).unwrap(), temperature);
            assert!(descended < start && kicked < descended, "{n}: {start} {descended} {kicked}");
        }
    }

    #[test]
    fn fixed_edges_stay() {
        let fixed = (0..40).map(|i| (7 * i, 7 * i + 1)).collect();
        let instance = generate::uniform(400, 4).unwrap().with_fixed_edges(fixed);
        let form = Form::closed(&instance).unwrap();
        let [_, descended, kicked] = work(form.instance(), 1e4);
        assert!(kicked < descended);
    }
}
