//! Shortens the best individual of a group a little in each generation, as in the public program of the authors of Kang et al.
//! (2016); the paper does not mention it.
//!
//! A *window* is a random stretch of a tour. There are two, of as many places as the root of n, so that evaluating all pairs of
//! their places means n moves.

use crate::geometry::{Geometry, Places};
use crate::node::NodeId;
use crate::rng::Draws;
use crate::team::{Slots, Team};

/// Shortens a tour by three moves, each the best one if it is a gain: of a node of the first window to after a node of the second;
/// of two edges, one from each window; and of two edges, one from the first window and one that is 2 to `width` + 1 places away.
/// Returns the gain, 0 if there is none; the same on every member, all of which call this. It uses items 0 and 1 of `draws`.
///
/// # Safety
/// `individual` is a tour of n >= 4 nodes that `places` covers, and this team alone works on it; edges have no direction; `width`
/// is that of a window, whose square is at most n.
#[inline(always)]
pub unsafe fn improve<T: Team, I: NodeId, G: Geometry>(
    team: T,
    (n, width): (u32, u32),
    draws: Draws,
    places: Places<G>,
    individual: Slots<I>,
) -> i64 {
    let tour = Tour { n, places, individual };
    let wrap = |place: u32| if place < n { place } else { place - n };
    let (one, two) = (draws.below(0, n), draws.below(1, n));
    let across = |pair: u32| (wrap(one + pair / width), wrap(two + pair % width));
    let around = |pair: u32| {
        let (place, away) = (wrap(one + pair / 2 / width), 2 + pair / 2 % width);
        (place, wrap(if pair.is_multiple_of(2) { place + away } else { place + n - away }))
    };
    let pairs = width * width;
    // SAFETY: the caller's promise; places are below n, and reductions are barriers.
    unsafe {
        let mut gain = 0;
        if let Some((least, pair)) = best(team, pairs, |pair| tour.gain_of_shift(across(pair))) {
            tour.shift(team, across(pair));
            gain += least;
        }
        if let Some((least, pair)) = best(team, pairs, |pair| tour.gain_of_exchange(across(pair))) {
            tour.exchange(team, across(pair));
            gain += least;
        }
        if let Some((least, pair)) = best(team, 2 * pairs, |pair| tour.gain_of_exchange(around(pair))) {
            tour.exchange(team, around(pair));
            gain += least;
        }
        gain
    }
}

/// Returns the largest of `count` gains and its number, among equal ones the smallest; `None` if there is no gain at all.
#[inline(always)]
fn best<T: Team>(team: T, count: u32, gain: impl Fn(u32) -> i64) -> Option<(i64, u32)> {
    let most = i64::MAX as u64;
    let best = first_of_least(team, count, |pair| most - gain(pair).max(0) as u64);
    let gain = (most - best.0) as i64;
    (gain > 0).then_some((gain, best.1))
}

/// Returns the smallest of `count` keys and its number, among equal ones the smallest; the same on every member.
#[inline(always)]
pub(super) fn first_of_least<T: Team>(team: T, count: u32, key: impl Fn(u32) -> u64) -> (u64, u32) {
    let mut own = (u64::MAX, u64::MAX);
    team.for_each(count, |i| {
        let key = key(i);
        if key < own.0 {
            own = (key, i as u64);
        }
    });
    let least = team.min(own.0);
    (least, team.min(if own.0 == least { own.1 } else { u64::MAX }) as u32)
}

/// Reverses places `from` to `to`, both included. A barrier must follow before they are read.
///
/// # Safety
/// There are such places, from <= to, and this team alone works on them.
#[inline(always)]
pub(super) unsafe fn reverse<T: Team, I: NodeId>(team: T, (from, to): (u32, u32), individual: Slots<I>) {
    // SAFETY: the caller's promise; each pair of places belongs to one member.
    team.for_each((to - from).div_ceil(2), |i| unsafe {
        let (a, b) = (individual.get(from + i), individual.get(to - i));
        individual.set(from + i, b);
        individual.set(to - i, a);
    });
}

/// A tour whose edges have no direction.
struct Tour<I, G: Geometry> {
    n: u32,
    places: Places<G>,
    individual: Slots<I>,
}

impl<I: NodeId, G: Geometry> Tour<I, G> {
    /// Returns the length of the edge between the nodes at two places, each of them at most n.
    #[inline(always)]
    unsafe fn edge(&self, a: u32, b: u32) -> i64 {
        let wrap = |place: u32| if place < self.n { place } else { 0 };
        // SAFETY: places of the tour.
        unsafe {
            let at = |place: u32| *self.places.start.add(self.individual.get(wrap(place)).get() as usize);
            self.places.geometry.between(at(a), at(b)) as i64
        }
    }

    /// Returns the gain of moving the node at place x to after the one at y.
    #[inline(always)]
    unsafe fn gain_of_shift(&self, (x, y): (u32, u32)) -> i64 {
        let before = if x == 0 { self.n - 1 } else { x - 1 };
        if y == x || y == before {
            return 0;
        }
        // SAFETY: places of the tour.
        unsafe {
            let without = self.edge(before, x) + self.edge(x, x + 1) - self.edge(before, x + 1);
            without + self.edge(y, y + 1) - self.edge(y, x) - self.edge(x, y + 1)
        }
    }

    /// Makes that move: the stretch between is reversed twice, with the node and without it.
    #[inline(always)]
    unsafe fn shift<T: Team>(&self, team: T, (x, y): (u32, u32)) {
        let (with, without) = if x < y { ((x, y), (x, y - 1)) } else { ((y + 1, x), (y + 2, x)) };
        // SAFETY: places of the tour; y is neither x nor the place before it.
        unsafe {
            reverse(team, with, self.individual);
            team.barrier();
            reverse(team, without, self.individual);
        }
        team.barrier();
    }

    /// Returns the gain of exchanging the edges after places x and y.
    #[inline(always)]
    unsafe fn gain_of_exchange(&self, (x, y): (u32, u32)) -> i64 {
        if x == y {
            return 0;
        }
        // SAFETY: places of the tour.
        unsafe { self.edge(x, x + 1) + self.edge(y, y + 1) - self.edge(x, y) - self.edge(x + 1, y + 1) }
    }

    /// Makes that exchange, of two different places.
    #[inline(always)]
    unsafe fn exchange<T: Team>(&self, team: T, (x, y): (u32, u32)) {
        // SAFETY: places of the tour, not equal.
        unsafe { reverse(team, (x.min(y) + 1, x.max(y)), self.individual) };
        team.barrier();
    }
}
