//! Ant Colony System (Dorigo and Gambardella 1997; on GPUs Skinderowicz 2016): ants that mostly take the best edge they
//! see and wear down the trail of every edge they take.
//!
//! There are three ways to build the tours of an iteration, which are the same for a single ant:
//! - *step by step, in turn* ([`choose_step`] and [`update_step`] of one ant after the other): the sequential algorithm
//!   of figure 2;
//! - *step by step, all together* (all [`choose_step`]s, then all [`update_step`]s with atomic updates): every choice of
//!   a step sees the trails as they were before it. An edge worn down twice has the same trail whichever ant came first,
//!   so the result does not depend on the order of the ants;
//! - *whole tours at once* ([`build`]): updates are relaxed, and ants that meet may lose one.

use crate::distance::Distance;
use crate::node::NodeId;
use crate::papers::ants::construct::{self, Lists};
use crate::papers::ants::pheromone::{Atomic, Memory, heuristic};
use crate::papers::ants::tabu::{Bitmask, NONE, Tabu, aligned};
use crate::rng::{Draws, Stream, exponential, reciprocal};
use crate::team::{Slots, Team};

/// The constants of Ant Colony System (Skinderowicz 2016, equations 1 to 4), as host and device share them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Rule {
    /// How long an ant takes the best edges until it explores, in steps: 1 / -log2(q0), to be multiplied by an exponential variate
    /// of base 2; see [`Rule::patience`].
    pub patience: f32,
    /// Every `period`-th edge of an ant is updated locally; 0: none.
    pub period: u32,
    /// tau_0: trails at the start, and the value that local updates move trails towards; in the units of
    /// [`pheromone`](crate::papers::ants::pheromone).
    pub initial: f32,
    /// rho: the share of a trail that a local update replaces.
    pub local: f32,
    /// alpha: the share of a trail that the global update replaces.
    pub global: f32,
    /// Exponent of the heuristic value.
    pub beta: f32,
    /// The heuristic value of an edge is this over its length.
    pub scale: f32,
    /// Not 0: edges have a direction, and updates concern one of them only.
    pub directed: u32,
    /// Not 0: a greedy step evaluates all edges that a node remembers, not only those to candidates.
    pub remembered: u32,
    /// Not 0: a selective memory stores every edge that an ant takes, not only those of best tours.
    pub passing: u32,
}

impl Rule {
    /// Returns [`Rule::patience`] for a probability q0, from 0 to 1, of taking the best edge: steps that explore with probability
    /// 1 - q0, each independently, have gaps of at least g with probability q0^g between them. 0 for q0 = 0, infinite for q0 = 1.
    pub fn patience(q0: f64) -> f32 {
        // The logarithm of 1 is a 0 of either sign.
        (1.0 / libm::fabs(libm::log2(q0))) as f32
    }

    /// Returns the number of steps from one that explores, whose draws are `draws`, to the next, or from step 0.
    #[inline(always)]
    fn pause(&self, draws: Draws) -> u32 {
        // The cast saturates.
        1u32.saturating_add((exponential(draws.bits(EXPLORE)) * self.patience) as u32)
    }

    /// Returns whether the edge with this number, from 1, of an ant's tour is updated locally.
    #[inline(always)]
    pub fn is_due(&self, edge: u32) -> bool {
        self.period == 1 || (edge > 0 && edge.is_multiple_of(self.period))
    }

    /// Returns the trail after a local update (equation 3).
    #[inline(always)]
    pub fn local_update(&self, trail: f32) -> f32 {
        (1.0 - self.local) * trail + self.local * self.initial
    }

    /// Returns the trail of an edge of the best tour after a global update (equation 4).
    #[inline(always)]
    pub fn global_update(&self, trail: f32, deposit: f32) -> f32 {
        (1.0 - self.global) * trail + self.global * deposit
    }

    /// Returns whether both sides of an edge are updated, not only one, as where edges have a direction.
    #[inline(always)]
    fn is_symmetric(&self) -> bool {
        self.directed == 0
    }
}

/// The data that an ant reads, and the trails that it changes.
#[derive(Clone, Copy)]
pub struct World<I, M, D> {
    /// Number of nodes.
    pub n: u32,
    /// The constants.
    pub rule: Rule,
    /// Candidates, fewer than 2^32 in all, with heuristic values for weights.
    pub lists: Lists<I>,
    /// The trails.
    pub memory: M,
    /// The distances between nodes.
    pub distance: D,
}

/// The item whose draw decides when an ant next explores, distinct from those of candidates.
const EXPLORE: u32 = u32::MAX - 2;

/// Bytes for the node an ant is at, the one it goes to, the trail there, and the next step that explores.
const STATE: usize = 16;

/// Returns the bytes of team memory for an ant among n nodes, a multiple of 16.
#[inline(always)]
pub const fn memory_bytes(n: u32) -> usize {
    STATE + aligned(n.div_ceil(32) as usize * 4)
}

/// An ant whose own words are its state.
type Ant = construct::Ant<Bitmask, u32>;

/// Returns the ant whose state and tabu are in `memory`.
///
/// # Safety
/// `memory` has [`memory_bytes`] for n nodes at a 16-byte boundary and belongs to the team.
#[inline(always)]
unsafe fn ant(memory: *mut u8, n: u32) -> Ant {
    // SAFETY: the parts follow each other.
    unsafe { Ant { tabu: Bitmask::new(memory.add(STATE), n), scratch: Slots::new(memory.cast(), STATE / 4) } }
}

/// Applies the pseudo-random proportional rule (equations 1 and 2) at `node`, with its local updates: of the trail `back` to where
/// the ant came from, unless that is [`NONE`], and, if `forth`, of the trail to the node it goes to.
///
/// The best edge is the one with the largest product of trail and heuristic value among the open candidates, and with
/// [`Rule::remembered`] also among the other edges that the node remembers; with draws to explore, it is the largest key of
/// weighted reservoir sampling, which chooses in proportion to that product. Without an open candidate it is the largest product
/// among all unvisited nodes. Returns the node it goes to; one member also returns the trail there, unless the edge is not one to a
/// candidate.
///
/// # Safety
/// The world's arrays have the stated sizes; `node` is a node.
#[inline(always)]
unsafe fn choose<T: Team, I: NodeId, M: Memory, D: Distance>(
    team: T,
    world: &World<I, M, D>,
    ant: &Ant,
    (node, back, forth): (u32, u32, bool),
    explore: Option<Draws>,
) -> (u32, Option<f32>) {
    let (rule, memory, lists) = (world.rule, world.memory, world.lists);
    let revise = |trail: f32| rule.local_update(trail);
    // SAFETY: candidates of the node, and the row of its visit.
    unsafe {
        let start = node * lists.k;
        let candidate = |i: u32| {
            let at = (start + i) as usize;
            ((*lists.nodes.add(at)).get(), *lists.weights.add(at))
        };
        let lure = |i: u32, v: u32, trail: f32, close: f32| {
            let weight = if ant.tabu.is_visited(v) { 0.0 } else { trail * close };
            match explore {
                Some(draws) => weight * reciprocal(exponential(draws.bits(i))),
                None => weight,
            }
        };
        // Everything that a member's first candidate needs is being loaded before anything waits for it.
        let mut at = team.rank();
        let (mut chosen, close) = if at < lists.k { candidate(at) } else { (NONE, 0.0) };
        let row = memory.enter(team, node, back);
        let (mut trail, mut entry) = if at < lists.k { memory.trail(row, at, chosen) } else { (0.0, 0) };
        let mut key = 0;
        if at < lists.k {
            if M::LISTED && chosen == back {
                memory.put(row, entry, chosen, revise(trail));
            }
            key = lure(at, chosen, trail, close).to_bits();
        }
        let mut i = at + team.size();
        while i < lists.k {
            let (v, close) = candidate(i);
            let is_back = M::LISTED && v == back;
            if is_back || !(T::ALONE && ant.tabu.is_visited(v)) {
                let (found, place) = memory.trail(row, i, v);
                if is_back {
                    memory.put(row, place, v, revise(found));
                }
                let lure = lure(i, v, found, close).to_bits();
                if lure > key {
                    (key, at, chosen, trail, entry) = (lure, i, v, found, place);
                }
            }
            i += team.size();
        }
        memory.put_back(team, row, back, revise);
        let (best, next) = team.arg_max(key, at, chosen);
        let looks = explore.is_none() && rule.remembered != 0 && memory.is_far(row);
        let other = if best == 0 || looks { elsewhere(team, world, ant, row, node, best) } else { NONE };
        if other == NONE {
            if forth && chosen == next {
                memory.put(row, entry, next, revise(trail));
                if rule.is_symmetric() {
                    memory.mirror(node, next, revise(trail));
                }
            }
            return (next, if chosen == next { Some(trail) } else { None });
        }
        if forth {
            memory.put_beyond(team, node, other, rule.is_symmetric(), revise);
        }
        (other, if team.rank() == 0 { Some(rule.initial) } else { None })
    }
}

/// Returns the unvisited node with the largest product of trail and heuristic value, where no candidate is open and `best` is 0. A
/// memory of candidates only has no other trails: there the ant follows the best tour if it can, else it goes to the nearest node.
///
/// If `best` holds the bits of the largest product among the candidates, returns the remembered node with a larger one, or
/// [`NONE`].
///
/// # Safety
/// As [`choose`].
#[inline(always)]
unsafe fn elsewhere<T: Team, I: NodeId, M: Memory, D: Distance>(
    team: T,
    world: &World<I, M, D>,
    ant: &Ant,
    row: M::Row,
    node: u32,
    best: u32,
) -> u32 {
    let (rule, lists) = (world.rule, world.lists);
    // SAFETY: the caller's promise.
    unsafe {
        if !M::BEYOND {
            let next = construct::elsewhere(team, &ant.tabu, lists, world.distance, node);
            // Every member has read the tabu: from here on it may change.
            team.barrier();
            return next;
        }
        let (mut key, mut chosen) = (best, NONE);
        let mut offer = |v: u32, trail: f32| {
            let lure = trail * heuristic(world.distance.between(node, v), (rule.scale, rule.beta));
            // A product of 0 is better than none, but not better than an open candidate.
            let ties = lure.to_bits() == key && (best == 0 || key > best);
            if lure.to_bits() > key || (ties && v < chosen) {
                (key, chosen) = (lure.to_bits(), v);
            }
        };
        if !world.memory.beyond(team, row, &ant.tabu, &mut offer) && best == 0 {
            let v = construct::nearest(team, &ant.tabu, lists, world.distance, node);
            team.single(|| offer(v, rule.initial));
        }
        // There has been an arg-max before.
        team.barrier();
        team.arg_max(key, chosen, chosen).1
    }
}

/// Builds a whole tour, of nodes in its order, updating trails on the way; only part of one if the team [is over](Team::is_over).
/// Every member calls this, and waits. `stream` is the ant's of this iteration.
///
/// A trail back is updated when the ant is at the other end and has that row at hand. The ant never returns, and its own choice
/// there is not affected, so this is as good as an immediate update.
///
/// # Safety
/// The world's arrays have the stated sizes; `memory` has [`memory_bytes`] at a 16-byte boundary; `tour` has n ids;
/// nobody else touches the last two.
#[inline(always)]
pub unsafe fn build<T: Team, I: NodeId, M: Memory, D: Distance>(
    team: T,
    world: World<I, M, D>,
    memory: *mut u8,
    tour: Slots<I>,
    stream: Stream,
) {
    let (n, rule) = (world.n, world.rule);
    // SAFETY: the caller's promises, and node ids stay below n.
    unsafe {
        let mut ant = ant(memory, world.n);
        let first = ant.start(team, n, stream, tour);
        let (mut node, mut back) = (first, NONE);
        let mut exploring = rule.pause(stream.step(0));
        // Number of edges until the next one whose trail is updated; with a period of 0 it never comes.
        let mut left = rule.period;
        let mut step = 1;
        while step < n && !team.is_over() {
            left = left.wrapping_sub(1);
            let forth = left == 0;
            let mut explore = None;
            if step == exploring {
                let draws = stream.step(step);
                exploring = step.saturating_add(rule.pause(draws));
                explore = Some(draws);
            }
            let (next, _) = choose(team, &world, &ant, (node, back, forth), explore);
            ant.visit(team, step, next, tour);
            back = if forth && rule.is_symmetric() { node } else { NONE };
            left = if forth { rule.period } else { left };
            node = next;
            step += 1;
        }
        let revise = |trail: f32| rule.local_update(trail);
        if back != NONE {
            world.memory.update_back(team, node, back, revise);
            team.barrier();
        }
        if rule.is_due(n) {
            world.memory.update(team, node, first, revise);
            team.barrier();
            if rule.is_symmetric() {
                world.memory.update(team, first, node, revise);
            }
        }
        team.barrier();
    }
}

/// Makes one choice of an ant that goes step by step: `step` is 1 to n - 1; the first one also starts the tour. No trail changes.
/// Every member calls this, and waits. `stream` is the same for all steps.
///
/// # Safety
/// As [`build`]; `memory` and `tour` are as the earlier steps left them.
#[inline(always)]
pub unsafe fn choose_step<T: Team, I: NodeId, M: Memory, D: Distance>(
    team: T,
    world: World<I, M, D>,
    memory: *mut u8,
    tour: Slots<I>,
    stream: Stream,
    step: u32,
) {
    // SAFETY: the caller's promises; a barrier separates reading and writing the state.
    unsafe {
        let mut ant = ant(memory, world.n);
        let state = ant.scratch;
        let begins = step == 1;
        let node = if begins { ant.start(team, world.n, stream, tour) } else { state.get(1) };
        let mut exploring = if begins { world.rule.pause(stream.step(0)) } else { state.get(3) };
        let mut explore = None;
        if step == exploring {
            let draws = stream.step(step);
            exploring = step.saturating_add(world.rule.pause(draws));
            explore = Some(draws);
        }
        let (next, trail) = choose(team, &world, &ant, (node, NONE, false), explore);
        team.single(|| {
            state.set(0, node);
            state.set(1, next);
            state.set(3, exploring);
        });
        // The trail that the updates may find there.
        if let Some(trail) = trail {
            state.set(2, trail.to_bits());
        }
        ant.visit(team, step, next, tour);
    }
}

/// Finds the edges whose local updates go with the choice of `step`: the chosen one and, with the last, the one that closes the
/// tour. `update` is called for each, with the trail that may be there.
///
/// # Safety
/// As [`choose_step`], which comes before; `update` may be called with nodes of the world.
#[inline(always)]
unsafe fn updates<T: Team, I: NodeId, M: Memory, D>(
    team: T,
    world: &World<I, M, D>,
    memory: *mut u8,
    tour: Slots<I>,
    step: u32,
    update: impl Fn(u32, u32, f32),
) {
    // SAFETY: the caller's promises.
    unsafe {
        let state = ant(memory, world.n).scratch;
        let (node, next, seen) = (state.get(0), state.get(1), f32::from_bits(state.get(2)));
        if world.rule.is_due(step) {
            update(node, next, seen);
            team.barrier();
        }
        if step + 1 == world.n && world.rule.is_due(world.n) {
            update(next, tour.get(0).get(), world.rule.initial);
            team.barrier();
        }
    }
}

/// Makes the local updates that go with the choice of `step`; with the last one also that of the edge that closes the tour. Not for
/// ants that run at the same time, whose updates might be lost.
///
/// # Safety
/// As [`choose_step`], which comes before.
#[inline(always)]
pub unsafe fn update_step<T: Team, I: NodeId, M: Memory, D: Distance>(
    team: T,
    world: World<I, M, D>,
    memory: *mut u8,
    tour: Slots<I>,
    step: u32,
) {
    // SAFETY: the caller's promises.
    unsafe {
        let revise = |trail: f32| world.rule.local_update(trail);
        updates(team, &world, memory, tour, step, |from, to, _| {
            world.memory.update(team, from, to, revise);
            team.barrier();
            if world.rule.is_symmetric() {
                world.memory.update(team, to, from, revise);
            }
        });
    }
}

/// As [`update_step`], for many ants at the same time.
///
/// # Safety
/// As [`choose_step`]; no ant chooses meanwhile.
#[inline(always)]
pub unsafe fn update_step_atomically<T: Team, I: NodeId, M: Atomic, D: Distance>(
    team: T,
    world: World<I, M, D>,
    memory: *mut u8,
    tour: Slots<I>,
    step: u32,
) {
    // SAFETY: the caller's promises.
    unsafe {
        let revise = |trail: f32| world.rule.local_update(trail);
        updates(team, &world, memory, tour, step, |from, to, seen| {
            world.memory.update_edge(team, (from, to), world.rule.is_symmetric(), seen, revise)
        });
    }
}

/// Fills the row of a node before the first iteration: heuristic values of the candidates, and initial trails. Every member calls
/// this; it does not wait at the end.
///
/// # Safety
/// `lists` has n x k candidates, `heuristics` as many places; the rows belong to the team; `distance` covers all nodes.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn prepare_row<T: Team, I: NodeId, M: Memory, D: Distance>(
    team: T,
    rule: Rule,
    (lists, k): (*const I, u32),
    memory: M,
    distance: D,
    heuristics: Slots<f32>,
    node: u32,
) {
    // SAFETY: the caller's promises; there may be more than 2^32 candidates.
    unsafe {
        let start = node as usize * k as usize;
        let row = heuristics.part(start, k as usize);
        team.for_each(k, |i| {
            let v = (*lists.add(start + i as usize)).get();
            row.set(i, heuristic(distance.between(node, v), (rule.scale, rule.beta)));
        });
        memory.clear(team, node, rule.initial);
    }
}

/// Makes the global update of the trails from `node`: to its neighbours in the best tour (equation 4), or only to `successor` where
/// edges have a direction. `deposit` is the [best tour's](crate::papers::ants::colony::Limits::deposit).
///
/// # Safety
/// `lists` has n x k candidates; the row belongs to the team; the links are nodes.
#[inline(always)]
pub unsafe fn deposit_row<T: Team, I: NodeId, M: Memory>(
    team: T,
    rule: Rule,
    (lists, k): (*const I, u32),
    memory: M,
    node: u32,
    (successor, predecessor): (u32, u32),
    deposit: f32,
) {
    // SAFETY: the caller's promise; there may be more than 2^32 candidates.
    unsafe {
        let revise = |trail: f32| rule.global_update(trail, deposit);
        let update = |v: u32| {
            memory.deposit(team, node, v, revise);
            if M::BEYOND {
                let list = lists.add(node as usize * k as usize);
                let mut there = 1;
                team.for_each(k, |i| there = if (*list.add(i as usize)).get() == v { 0 } else { there });
                if team.min(there) == 1 {
                    memory.remember(team, node, v);
                }
            }
            team.barrier();
        };
        update(successor);
        if rule.is_symmetric() {
            update(predecessor);
        }
    }
}
