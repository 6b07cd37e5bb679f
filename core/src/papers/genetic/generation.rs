//! A generation without synchronisation (Kang et al. 2016, sections 3.2 to 3.4).
//!
//! Rivals, mates and the places of children are fixed by places in a group. In a group of s places, rivals are place j and
//! place j + s/2 for j < s/2; the winner goes to the former. Winners 2t and 2t + 1 mate; their child goes to place s/2 + t, and a second
//! child, of crossovers that make two, to 3s/4 + t. In a ring of partners (the paper's algorithm 1) winner j mates with winner j + 1, the
//! last one with the first; their one child goes to place s/2 + j.
//!
//! A place holds the number of an individual (a row of the pool) and its length, so that no tour is moved after it is made. The
//! table of places is double: a generation reads one and writes the other, and every child's team can find out by itself who won
//! the competitions that concern it.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::geometry::{Geometry, Places};
use crate::node::NodeId;
use crate::rng::{Draws, Stream};
use crate::team::{Slots, Team};
use crate::tour;

use super::crossover::{self, Crossover};
use super::improve::{first_of_least, improve, reverse};
use super::jumps::Jumps;
use super::shuffle::Shuffle;

/// Values of [`GenerationRules::method`].
pub mod method {
    /// One child per pair by SCX.
    pub const SCX: u32 = 0;
    /// One child per pair by BCSCX.
    pub const BCSCX: u32 = 1;
    /// Two children per pair by ARX.
    pub const ARX: u32 = 2;
    /// One child per pair by BCSCX and one by ARX.
    pub const HYBRID: u32 = 3;
}

/// The index of a stream of random numbers that no child has.
const NOBODY: u32 = u32::MAX;

/// In [`Population::born`], the row of an individual that was not made.
pub const NOWHERE: u32 = u32::MAX;

/// The constants of a generation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct GenerationRules {
    /// Seed of the run.
    pub seed: u64,
    /// Stop once an individual is not longer than this.
    pub target: i64,
    /// Number of nodes.
    pub n: u32,
    /// Places of a group, a multiple of 4.
    pub group: u32,
    /// Number of groups.
    pub groups: u32,
    /// See [`method`].
    pub method: u32,
    /// A child mutates with this probability, in units of 2^-32.
    pub mutation: u32,
    /// Not 0: a group's places are drawn again for each generation, and a child starts with a random node; else places are those of
    /// the memory, and children start with node 0.
    pub shuffled: u32,
    /// Number of the generation, from 1.
    pub generation: u32,
    /// Generations since the host last read the results, this one included, from 1; below 2^16.
    pub since: u32,
    /// Not 0: edges have a direction.
    pub directed: u32,
    /// Not 0: children are improved afterwards, so their lengths are not recorded yet.
    pub unfinished: u32,
    /// Places of a window in which each group's best individual is improved ([`improve`]), the root of n; 0: it is not improved.
    pub window: u32,
    /// Not 0: every winner of a group mates with the next one, in a ring, and each of these pairs has one child; else every winner
    /// mates once.
    pub ring: u32,
}

impl GenerationRules {
    /// Returns the pairs per group.
    #[inline(always)]
    pub const fn pairs(&self) -> u32 {
        if self.ring != 0 { self.group / 2 } else { self.group / 4 }
    }

    /// Returns the children per pair.
    #[inline(always)]
    pub const fn litter(&self) -> u32 {
        if self.ring == 0 && self.method >= method::ARX { 2 } else { 1 }
    }

    /// Returns the children per generation.
    #[inline(always)]
    pub const fn children(&self) -> u32 {
        self.groups * self.pairs() * self.litter()
    }
}

/// The tables of a population. Rows are n ids each.
pub struct Population<I> {
    /// Rows of individuals, as many as places: the nodes of a tour in its order, one row after another.
    pub individuals: Slots<I>,
    /// Places before, group by group: the row of each.
    pub rows: *const u32,
    /// Places before: the length of each.
    pub costs: *const i64,
    /// Places after: the row of each.
    pub next_rows: Slots<u32>,
    /// Places after: the length of each.
    pub next_costs: Slots<i64>,
    /// The smallest length and when it was found: one word; see [`record`].
    pub best: *mut u64,
    /// The row of each new individual, or [`NOWHERE`], and in the upper half its place: for improving them. By the child's number;
    /// for the first individuals, by row.
    pub born: Slots<u64>,
}

impl<I> Clone for Population<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Population<I> {}

impl<I: NodeId> Population<I> {
    /// Returns the individual of `n` nodes in row `row`, from 0.
    ///
    /// # Safety
    /// There is such a row.
    #[inline(always)]
    pub unsafe fn individual(self, row: u32, n: u32) -> Slots<I> {
        // SAFETY: the caller's promise.
        unsafe { self.individuals.part(row as usize * n as usize, n as usize) }
    }
}

/// Bits of [`record`] that count generations.
const SINCE_BITS: u32 = 16;

/// Packs a length and the generation that found it, in an order where less is better: the length in the upper 48 bits (longer ones
/// are not distinguished), generations since the host last read the results in the lower 16.
#[inline(always)]
pub const fn record(cost: i64, since: u32) -> u64 {
    let most = (1u64 << (u64::BITS - SINCE_BITS)) - 1;
    let cost = if cost as u64 > most { most } else { cost as u64 };
    cost << SINCE_BITS | since as u64
}

/// Returns the length and the generation of a [`record`].
#[inline(always)]
pub const fn recorded(record: u64) -> (i64, u32) {
    ((record >> SINCE_BITS) as i64, record as u32 & ((1 << SINCE_BITS) - 1))
}

/// Records that there is an individual of this length.
///
/// # Safety
/// `best` is aligned, valid, and written by this function only.
#[inline(always)]
pub unsafe fn improve_record(best: *mut u64, cost: i64, since: u32) {
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(best) }.fetch_min(record(cost, since), Ordering::Relaxed);
}

/// Returns whether an earlier generation reached the target: then this one does nothing. The answer is the same for all children of
/// a generation, however much of it is already done.
///
/// # Safety
/// As [`improve_record`].
#[inline(always)]
pub unsafe fn is_over(rules: &GenerationRules, best: *mut u64) -> bool {
    // SAFETY: the caller's promise.
    let (cost, since) = recorded(unsafe { AtomicU64::from_ptr(best) }.load(Ordering::Relaxed));
    cost <= rules.target && since < rules.since
}

/// Records that child `index` was not made, because this generation [`is_over`]: the individual in its row, whose length is already
/// reported, must not be improved.
///
/// # Safety
/// As [`breed`].
#[inline(always)]
pub unsafe fn pass_over<T: Team, I>(team: T, population: Population<I>, index: u32) {
    // SAFETY: the caller's promise.
    team.single(|| unsafe { population.born.set(index, NOWHERE as u64) });
}

/// A place's individual.
#[derive(Clone, Copy)]
struct Individual {
    row: u32,
    cost: i64,
}

/// The places of a group, as seen by this generation.
#[derive(Clone, Copy)]
struct Group {
    first: u32,
    size: u32,
    shuffle: Option<Shuffle>,
}

impl Group {
    #[inline(always)]
    fn new(rules: &GenerationRules, group: u32) -> Group {
        let stream = Stream::new(rules.seed, rules.generation, NOBODY - group);
        let shuffle = if rules.shuffled != 0 { Some(Shuffle::new(stream, rules.group)) } else { None };
        Group { first: group * rules.group, size: rules.group, shuffle }
    }

    /// Returns the place in the table of a place of the group.
    #[inline(always)]
    fn place(self, j: u32) -> u32 {
        self.first + self.shuffle.map_or(j, |shuffle| shuffle.at(j))
    }

    /// Returns winner and loser at place `j` below half the group: the former of two equals wins.
    #[inline(always)]
    unsafe fn compete<I>(self, population: Population<I>, j: u32) -> (Individual, Individual) {
        let individual = |place: u32| {
            // SAFETY: the places of a group are in the table.
            unsafe {
                Individual {
                    row: *population.rows.add(place as usize),
                    cost: *population.costs.add(place as usize),
                }
            }
        };
        let (a, b) = (individual(self.place(j)), individual(self.place(j + self.size / 2)));
        if a.cost <= b.cost { (a, b) } else { (b, a) }
    }

    /// Makes `child` from the best of the winners by [`improve`]; returns its length, or `None` if there is no gain.
    ///
    /// # Safety
    /// As [`breed`]; `child` belongs to this team.
    #[inline(always)]
    unsafe fn improve_best<T: Team, I: NodeId, G: Geometry>(
        self,
        team: T,
        (rules, draws): (&GenerationRules, Draws),
        population: Population<I>,
        places: Places<G>,
        child: Slots<I>,
    ) -> Option<i64> {
        let n = rules.n;
        // SAFETY: the caller's promise. Nobody writes to a winner's row.
        unsafe {
            // A loser as short as the best may be replaced meanwhile.
            let winner = |j| self.compete(population, j).0;
            let (_, j) = first_of_least(team, self.size / 2, |j| winner(j).cost as u64);
            let best = winner(j);
            let individual = population.individual(best.row, n);
            team.for_each(n, |i| child.set(i, individual.get(i)));
            team.barrier();
            let gain = improve(team, (n, rules.window), draws, places, child);
            (gain > 0).then_some(best.cost - gain)
        }
    }
}

/// Makes child `index` of a generation, below [`GenerationRules::children`], and fills the places that its pair is responsible for.
/// Every member calls this, and waits. The children of a generation can be made in any order, also at the same time.
///
/// # Safety
/// The tables have as many elements as places, rows are a permutation of those of the pool, individuals are permutations of n >= 4
/// nodes that `places` covers; `memory` has [`super::memory_bytes`] and belongs to this team; each index belongs to one team.
#[inline(always)]
pub unsafe fn breed<T: Team, I: NodeId, G: Geometry>(
    team: T,
    rules: &GenerationRules,
    population: Population<I>,
    places: Places<G>,
    memory: *mut u8,
    index: u32,
) {
    let n = rules.n;
    let (pairs, half) = (rules.pairs(), rules.group / 2);
    let of_group = pairs * rules.litter();
    let group = Group::new(rules, index / of_group);
    let (pair, second) = (index % of_group % pairs, index % of_group >= pairs);
    let is_ring = rules.ring != 0;
    let parents = if is_ring { (pair, (pair + 1) % half) } else { (2 * pair, 2 * pair + 1) };
    // SAFETY: the caller's promise: places are below the table's length, rows are individuals. A row that is written is a loser's,
    // which nobody reads, and every loser is at one place.
    unsafe {
        let (a, loser_a) = group.compete(population, parents.0);
        let (b, loser_b) = group.compete(population, parents.1);
        let set = |place: u32, individual: Individual| {
            population.next_rows.set(place, individual.row);
            population.next_costs.set(place, individual.cost);
        };
        if !second {
            team.single(|| {
                let keep = |j: u32, winner, loser| {
                    set(group.place(j), winner);
                    if j >= of_group {
                        set(group.place(j + half), loser);
                    }
                };
                keep(parents.0, a, loser_a);
                if !is_ring {
                    keep(parents.1, b, loser_b);
                }
            });
        }
        let home = pair + if second { pairs } else { 0 };
        let (_, replaced) = group.compete(population, home);
        let stream = Stream::new(rules.seed, rules.generation, index);
        let individual = population.individual(replaced.row, n);
        let place = group.place(home + half);
        // The first child of a group is its best individual, improved, if that is possible.
        let improved = if rules.window != 0 && index.is_multiple_of(of_group) {
            group.improve_best(team, (rules, stream.step(1)), population, places, individual)
        } else {
            None
        };
        let cost = match improved {
            Some(cost) => cost,
            None => {
                let row =
                    |individual: Individual| population.individual(individual.row, n).at(0).cast_const();
                let jumps = Jumps::<I>::new(memory, n);
                jumps.fill(team, n, [row(a), row(b)]);
                // Both children of a pair switch at the same places.
                let sibling = if second { index - pairs } else { index };
                let points = Stream::new(rules.seed, rules.generation, sibling).step(0);
                // In a ring, ARX makes every other child of the hybrid.
                let second = if is_ring { rules.method == method::HYBRID && pair % 2 == 1 } else { second };
                conceive(team, rules, (stream.step(0), points, second), jumps, places, individual)
            }
        };
        team.single(|| {
            set(place, Individual { row: replaced.row, cost });
            population.born.set(index, replaced.row as u64 | (place as u64) << 32);
            if rules.unfinished == 0 {
                improve_record(population.best, cost, rules.since);
            }
        });
        // The next child may use the memory.
        team.barrier();
    }
}

/// Makes a child of the parents in `jumps` by `draws`, and mutates it if they say so; returns its length. `pair` gives the points
/// where ARX switches: between a pair's children, every place is recommended by both parents.
///
/// # Safety
/// As [`breed`]; `individual` belongs to this team.
#[inline(always)]
unsafe fn conceive<T: Team, I: NodeId, G: Geometry>(
    team: T,
    rules: &GenerationRules,
    (draws, pair, second): (Draws, Draws, bool),
    jumps: Jumps<I>,
    places: Places<G>,
    individual: Slots<I>,
) -> i64 {
    let n = rules.n;
    let start = if rules.shuffled != 0 { draws.below(0, n) } else { 0 };
    let (one, two) = (pair.below(1, n), pair.below(5, n));
    let arx = Crossover::Arx { from: one.min(two), to: one.max(two), second };
    // SAFETY: the caller's promise.
    unsafe {
        // The thread that makes the child needs no barriers meanwhile; the work that follows is done by only a few members.
        let mut cost = 0;
        team.single(|| {
            cost = match rules.method {
                method::SCX => crossover::child(n, start, Crossover::Scx, jumps, places, individual),
                method::ARX => crossover::child(n, start, arx, jumps, places, individual),
                method::HYBRID if second => crossover::child(n, start, arx, jumps, places, individual),
                _ => crossover::child(n, start, Crossover::Bcscx, jumps, places, individual),
            };
        });
        if draws.bits(2) < rules.mutation {
            team.barrier();
            let (i, j) = (draws.below(3, n - 1), draws.below(4, n - 2));
            let j = if j >= i { j + 1 } else { j };
            let change = exchange(team, n, (i.min(j) + 1, i.max(j) + 1), places, individual);
            cost += change;
            team.barrier();
            if rules.directed != 0 {
                cost = tour::cost(team, n, places, individual.at(0).cast_const());
            }
        }
        cost
    }
}

/// Makes the 2-opt exchange that reverses places `from` to `to`, 0 < from < to < n; returns the change of length where edges have
/// no direction. The exchange from place 1 to the last one leaves the edges as they are. A barrier must follow before the
/// individual is read.
///
/// # Safety
/// `individual` is a tour of n nodes that this team alone works on.
#[inline(always)]
unsafe fn exchange<T: Team, I: NodeId, G: Geometry>(
    team: T,
    n: u32,
    (from, to): (u32, u32),
    places: Places<G>,
    individual: Slots<I>,
) -> i64 {
    // SAFETY: places below n; members swap their own places after all have read the ends.
    unsafe {
        let at = |i: u32| *places.start.add(individual.get(i).get() as usize);
        let (before, first, last, after) =
            (at(from - 1), at(from), at(to), at(if to + 1 == n { 0 } else { to + 1 }));
        let between = |a, b| places.geometry.between(a, b) as i64;
        let change =
            between(before, last) + between(first, after) - between(before, first) - between(last, after);
        team.barrier();
        reverse(team, (from, to), individual);
        change
    }
}

/// Fills row `row` with a random tour, which depends on the seed and the row, at the place of the same number. Every member calls
/// this; it does not wait at the end.
///
/// # Safety
/// The tables have that row and place; it belongs to this team.
#[inline(always)]
pub unsafe fn random_individual<T: Team, I: NodeId, G: Geometry>(
    team: T,
    rules: &GenerationRules,
    population: Population<I>,
    places: Places<G>,
    row: u32,
) {
    let n = rules.n;
    let shuffle = Shuffle::new(Stream::new(rules.seed, 0, row), n);
    // SAFETY: the caller's promise.
    unsafe {
        let individual = population.individual(row, n);
        team.for_each(n, |i| individual.set(i, I::new(shuffle.at(i))));
        team.barrier();
    }
    // SAFETY: as above.
    unsafe { settle(team, rules, population, places, row) }
}

/// Measures the individual in row `row` and puts it at the place of the same number. Every member calls this; it does not wait at
/// the end.
///
/// # Safety
/// The tables have that row and place; the row holds a tour; it belongs to this team.
#[inline(always)]
pub unsafe fn settle<T: Team, I: NodeId, G: Geometry>(
    team: T,
    rules: &GenerationRules,
    population: Population<I>,
    places: Places<G>,
    row: u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let individual = population.individual(row, rules.n).at(0).cast_const();
        let cost = tour::cost(team, rules.n, places, individual);
        team.single(|| {
            population.next_rows.set(row, row);
            population.next_costs.set(row, cost);
            population.born.set(row, row as u64 | (row as u64) << 32);
            if rules.unfinished == 0 {
                improve_record(population.best, cost, rules.since);
            }
        });
    }
}

/// Records that new individual `index`, which was left unfinished, got shorter by `gain`.
///
/// # Safety
/// As [`breed`]; only one thread handles this individual.
#[inline(always)]
pub unsafe fn finish<I>(rules: &GenerationRules, population: Population<I>, index: u32, gain: i64) {
    // SAFETY: the caller's promise.
    unsafe {
        let place = (population.born.get(index) >> 32) as u32;
        let cost = population.next_costs.get(place) - gain;
        population.next_costs.set(place, cost);
        improve_record(population.best, cost, rules.since);
    }
}

/// Returns the best individual of a group: its place, its row and its length; among equal ones that at the smallest place.
#[inline(always)]
unsafe fn best_of<T: Team, I>(
    team: T,
    rules: &GenerationRules,
    population: Population<I>,
    group: u32,
) -> (u32, Individual) {
    let first = group * rules.group;
    // SAFETY: the places of a group are in the table.
    let cost = |j: u32| unsafe { *population.costs.add((first + j) as usize) as u64 };
    let (least, j) = first_of_least(team, rules.group, cost);
    let place = first + j;
    // SAFETY: as above.
    (place, Individual { row: unsafe { *population.rows.add(place as usize) }, cost: least as i64 })
}

/// Copies the best individual of group `group` to another group, in a random cycle of all groups (section 3.4), and the group's
/// other places into the next table. The copy takes the last place, or the one before if the best is there. Every member calls
/// this; it does not wait at the end.
///
/// # Safety
/// As [`breed`]; there are at least 2 groups; each group belongs to one team.
#[inline(always)]
pub unsafe fn transfer<T: Team, I: NodeId>(
    team: T,
    rules: &GenerationRules,
    population: Population<I>,
    group: u32,
) {
    let n = rules.n;
    let draws = Stream::new(rules.seed, rules.generation, NOBODY).step(1);
    let shift = 1 + draws.below(0, rules.groups - 1);
    let host = (group + shift) % rules.groups;
    // Returns where a group's guest goes, given the group's best place.
    let guest = |group: u32, best: u32| {
        let last = (group + 1) * rules.group - 1;
        if best == last { last - 1 } else { last }
    };
    // SAFETY: the caller's promise. A guest's row is nobody's best, and each group writes only its own places.
    unsafe {
        let (own, individual) = best_of(team, rules, population, group);
        team.barrier();
        let (theirs, _) = best_of(team, rules, population, host);
        let (own_guest, place) = (guest(group, own), guest(host, theirs));
        team.for_each(rules.group, |j| {
            let place = group * rules.group + j;
            population.next_rows.set(place, *population.rows.add(place as usize));
            if place != own_guest {
                population.next_costs.set(place, *population.costs.add(place as usize));
            }
        });
        let row = *population.rows.add(place as usize);
        let (from, to) = (population.individual(individual.row, n), population.individual(row, n));
        team.for_each(n, |i| to.set(i, from.get(i)));
        team.single(|| population.next_costs.set(place, individual.cost));
    }
}
