//! Local search by best improvement (Fosin et al. 2013, section 4), and iterated local search on top.
//!
//! It works in passes over the whole tour. In each the moves around all nodes are [evaluated](evaluate) and the best of all is
//! [selected](select); it is made by [reversals](PassBoard::turn) whose stretches the selection has computed, so that many threads
//! can swap at once. Beyond the source, several moves can be made in one pass: every node claims the positions between the
//! outermost edges that its best move removes, and a node that holds all its claims [makes](make) its move. Such moves share no
//! position, so their gains add exactly. If no claim is made, the best of all moves is made.
//!
//! A pass that finds no move ends a descent: its tour is accepted or undone, and a kick is planned like a move. The parts of a pass
//! follow each other; nothing has to be known outside until a whole batch of passes is done.

use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::distance::Distance;
use crate::operator::Operator;
use crate::rng::Stream;
use crate::team::{Slots, Team};

use super::array::{ArrayTour, Stretch};
use super::moves::{EdgeMove, Kind, View};
use super::perturb::{self, Cut};
use crate::lin_kernighan::trial::tolerance;

/// Most positions that a move may claim: more would make others wait, and keep its team busy.
pub const MOST_CLAIMED: u32 = 1000;

/// The fewest nodes of a tour.
pub const FEWEST: u32 = 8;

/// Returns where part `index` of `parts` starts among n nodes, and its size.
#[inline(always)]
const fn part(n: u32, parts: u32, index: u32) -> (u32, u32) {
    let from = (n as u64 * index as u64 / parts as u64) as u32;
    let to = (n as u64 * (index as u64 + 1) / parts as u64) as u32;
    (from, to - from)
}

/// How tours are kicked.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Kicks {
    /// Most kicks: a run has at most one descent more.
    pub most: u32,
    /// Nodes of the longest segment of a double bridge; 0: four edges anywhere.
    pub segment: u32,
    /// The initial temperature, in the unit of distances; see [`tolerance`]. It falls linearly to 0 with the remaining kicks.
    pub temperature: f32,
    /// Unused; keeps the size a multiple of 8.
    pub padding: u32,
}

const _: () = assert!(size_of::<Kicks>() == 16);

/// The results of a run so far, and the remaining work of its pass. It is stored with the tour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct DescentState {
    /// Length of the tour.
    pub cost: i64,
    /// Length of the tour accepted last.
    pub accepted_cost: i64,
    /// Length of the best accepted tour, or of the start tour.
    pub best_cost: i64,
    /// Passes done.
    pub passes: u64,
    /// Descents done; the first one starts with the start tour, all others with a kick.
    pub descents: u32,
    /// Descents done when the best tour was found; 0: it is the start tour.
    pub best_descent: u32,
    /// 1 once all kicks are done or the target is reached: later passes do nothing.
    pub done: u32,
    /// Not 0: a claim was made in this pass.
    claimed: u32,
    /// [`ACCEPT`] and other flags.
    copies: u32,
    /// Reversals of this pass.
    steps: u32,
    turns: [Stretch; perturb::STEPS as usize],
}

const _: () = assert!(size_of::<DescentState>() == 88);

/// The tour becomes the accepted one.
const ACCEPT: u32 = 1;
/// The tour becomes the best one.
const KEEP: u32 = 2;
/// The accepted tour is restored.
const TAKE_BACK: u32 = 4;

impl DescentState {
    /// Makes the state before the first pass, with a tour of this length.
    pub fn new(cost: i64) -> Self {
        DescentState { cost, accepted_cost: cost, best_cost: cost, ..DescentState::default() }
    }

    /// Returns the state between two passes: without what the last one did.
    pub fn settled(self) -> Self {
        let turns = [Stretch::default(); perturb::STEPS as usize];
        DescentState { claimed: 0, copies: 0, steps: 0, turns, ..self }
    }

    /// Returns the length of the shortest tour: the best one, or the current tour during a descent.
    pub fn least(&self) -> i64 {
        self.best_cost.min(self.cost)
    }
}

/// The best move around a node.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Proposal {
    /// How much shorter the tour gets; 0: there is no move, and the other fields are meaningless.
    gain: i64,
    kind: Kind,
    t: [u32; 6],
    /// The stretch that it claims; with length 0, nothing.
    claim: Stretch,
    padding: u32,
}

const _: () = assert!(size_of::<Proposal>() == 48);

impl Proposal {
    #[inline(always)]
    fn to_move(self) -> EdgeMove {
        EdgeMove { kind: self.kind, t: self.t }
    }
}

/// The data that the parts of a pass exchange. They are called in the order [`evaluate`], [`select`], [`make`] (with many moves),
/// [`settle`], [`PassBoard::turn`] for each step; each is done everywhere before the next one starts.
#[derive(Clone, Copy)]
pub struct PassBoard {
    /// One per node.
    pub proposals: *mut Proposal,
    /// The best claim of each position: n; 0 for no claim. Moves made one at a time do not use it.
    pub claims: *mut u64,
    /// The state.
    pub state: *mut DescentState,
}

/// Returns a move's rank: by gain (equal from 2^32 on), among equal ones the smaller node first. 0: no move.
#[inline(always)]
fn rank(gain: i64, node: u32) -> u64 {
    (if gain > u32::MAX as i64 { u32::MAX } else { gain as u32 } as u64) << 32 | !node as u64
}

/// Returns the stretch from the first to the last node of the edges that a move removes, the shortest one.
///
/// # Safety
/// The move can be made, and no exchange is in progress.
#[inline(always)]
unsafe fn extent(tour: ArrayTour<u32>, m: EdgeMove) -> Stretch {
    let n = tour.n();
    // SAFETY: nodes of the tour.
    let edge = |a, b| unsafe {
        let (a, b) = (tour.position(a), tour.position(b));
        if b == if a + 1 == n { 0 } else { a + 1 } { a } else { b }
    };
    let [t1, t2, t3, t4, t5, t6] = m.t;
    let (x, y) = (edge(t1, t2), edge(t3, t4));
    let z = if m.kind == Kind::Pair { x } else { edge(t5, t6) };
    let way = |from: u32, to: u32| if to >= from { to - from } else { to + n - from };
    let from = |first: u32, a: u32, b: u32| {
        let (a, b) = (way(first, a), way(first, b));
        Stretch { first, length: 2 + if a > b { a } else { b } }
    };
    // Field by field: a choice between two structs would be made in memory.
    let shorter = |a: Stretch, b: Stretch| {
        let second = b.length < a.length;
        let (first, length) =
            (if second { b.first } else { a.first }, if second { b.length } else { a.length });
        Stretch { first, length }
    };
    shorter(shorter(from(x, y, z), from(y, x, z)), from(z, x, y))
}

/// Finds the best move around `node`, stores it and, with `many`, claims its positions. Returns its rank.
///
/// # Safety
/// As [`evaluate`]; the proposal belongs to this team.
#[inline(always)]
unsafe fn propose<T: Team, O: Operator, D: Distance>(
    team: T,
    view: View<u32, D>,
    board: PassBoard,
    node: u32,
    many: bool,
) -> u64 {
    // SAFETY: the caller's promise; claims are made by atomic operations. A claim is at most half the tour, so the shorter stretch
    // between two of its edges, which an exchange reverses, is inside.
    unsafe {
        let proposal = board.proposals.add(node as usize);
        let found = view.best::<T, O>(team, node);
        team.barrier();
        if found.gain == 0 {
            team.single(|| (*proposal).gain = 0);
            return 0;
        }
        let m = view.decode::<O>(node, found.code);
        let gain = view.gain(m);
        let rank = rank(gain, node);
        let mut claim = Stretch { first: 0, length: 0 };
        if many {
            let extent = extent(view.tour, m);
            if extent.length <= MOST_CLAIMED && 2 * extent.length <= view.tour.n() {
                claim = extent;
                team.for_each(claim.length, |i| {
                    let claim = board.claims.add(claim.at(view.tour.n(), i) as usize);
                    AtomicU64::from_ptr(claim).fetch_max(rank, Relaxed);
                });
                team.single(|| AtomicU32::from_ptr(&raw mut (*board.state).claimed).store(1, Relaxed));
            }
        }
        team.single(|| *proposal = Proposal { gain, kind: m.kind, t: m.t, claim, padding: 0 });
        rank
    }
}

/// The first part of a pass: finds the best moves around the nodes of part `block`, from 0, of `blocks`. With `many`, these moves
/// claim positions. Returns the rank of the best of them, 0 if there is none; the same on every member, all of which call this.
///
/// # Safety
/// The view's tour is complete, and nobody writes to it; it has at least [`FEWEST`] nodes. The board's arrays have as many elements
/// as the tour; all claims were 0 before the pass. The proposals of this part belong to the team.
#[inline(always)]
pub unsafe fn evaluate<T: Team, O: Operator, D: Distance>(
    team: T,
    view: View<u32, D>,
    board: PassBoard,
    (block, blocks): (u32, u32),
    many: bool,
) -> u64 {
    let (first, count) = part(view.tour.n(), blocks, block);
    let mut best = 0;
    let mut i = team.part_rank();
    while i < count {
        // SAFETY: the caller's promise; a node belongs to one part.
        let rank = unsafe { propose::<T::Part, O, D>(team.part(), view, board, first + i, many) };
        best = if rank > best { rank } else { best };
        i += team.parts();
    }
    !team.min(!best)
}

/// The second part of a pass: decides what the others do. `ranks` is what [`evaluate`] returned for each of `blocks`. If no move is
/// left, the descent is over: its tour is accepted or not, and a kick is planned, unless it was the descent after the last one of
/// [`Kicks::most`], or the best tour is not longer than `target`. Every member of one team calls this; it does not wait.
///
/// The draws of a kick are the step of `stream`, the same in all passes, with the kick's number, from 0.
///
/// # Safety
/// `evaluate` is done everywhere; nobody else uses board and tours. `accepted` is the tour accepted last, once there is one.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn select<T: Team, D: Distance>(
    team: T,
    view: View<u32, D>,
    accepted: ArrayTour<u32>,
    board: PassBoard,
    ranks: *const u64,
    blocks: u32,
    kicks: Kicks,
    stream: Stream,
    target: i64,
) {
    // SAFETY: the caller's promise; members read the state before the reduction, and one of them uses it afterwards.
    unsafe {
        if (*board.state).done != 0 {
            return;
        }
        let mut best = 0;
        team.for_each(blocks, |i| {
            let rank = *ranks.add(i as usize);
            best = if rank > best { rank } else { best };
        });
        let best = !team.min(!best);
        team.single(|| {
            let state = board.state;
            (*state).passes += 1;
            (*state).copies = 0;
            (*state).steps = 0;
            if best == 0 {
                end_descent(view, accepted, state, kicks, stream, target);
            } else if (*state).claimed == 0 {
                let proposal = *board.proposals.add(!(best as u32) as usize);
                (*state).cost -= proposal.gain;
                plan_move(view.tour, proposal.to_move(), state);
            }
            (*state).claimed = 0;
        });
    }
}

/// Stores the reversals that make a move.
///
/// # Safety
/// The move can be made in the tour; the state belongs to this thread.
#[inline(always)]
unsafe fn plan_move(tour: ArrayTour<u32>, m: EdgeMove, state: *mut DescentState) {
    // SAFETY: the caller's promise; a move has fewer steps than a double bridge. Exchanges are given here by positions, as they are
    // after the earlier reversals.
    unsafe {
        let n = tour.n();
        let [t1, t2, t3, t4, t5, t6] = m.t;
        let at = |node| tour.position(node);
        let mut m = EdgeMove { kind: m.kind, t: [at(t1), at(t2), at(t3), at(t4), at(t5), at(t6)] };
        let turns = (&raw mut (*state).turns).cast::<Stretch>();
        while (*state).steps < m.steps() {
            let turn = Stretch::between(n, m.step((*state).steps));
            *turns.add((*state).steps as usize) = turn;
            (*state).steps += 1;
            let [t1, t2, t3, t4, t5, t6] = m.t;
            let to = |position| turn.reversed(n, position);
            m.t = [to(t1), to(t2), to(t3), to(t4), to(t5), to(t6)];
        }
    }
}

/// Accepts the tour or undoes it, and plans a kick.
///
/// # Safety
/// As [`select`]; the state belongs to this thread.
#[inline(always)]
unsafe fn end_descent<D: Distance>(
    view: View<u32, D>,
    accepted: ArrayTour<u32>,
    state: *mut DescentState,
    kicks: Kicks,
    stream: Stream,
    target: i64,
) {
    // SAFETY: the caller's promise; a cut is inside the tour, and its kick has as many steps as there are reversals.
    unsafe {
        let longer = (*state).cost - (*state).accepted_cost;
        let is_accepted = (*state).descents == 0 || {
            // A kick's number is the number of earlier descents, not counting the first.
            let kick = (*state).descents - 1;
            let left = 1.0 - kick as f32 / kicks.most as f32;
            longer <= tolerance(kicks.temperature * left, stream.step(kick).bits(4))
        };
        (*state).descents += 1;
        if is_accepted {
            (*state).copies = ACCEPT;
            (*state).accepted_cost = (*state).cost;
            if (*state).cost < (*state).best_cost {
                (*state).copies |= KEEP;
                (*state).best_cost = (*state).cost;
                (*state).best_descent = (*state).descents;
            }
        } else {
            (*state).copies = TAKE_BACK;
            (*state).cost = (*state).accepted_cost;
        }
        if (*state).descents > kicks.most || (*state).best_cost <= target {
            (*state).done = 1;
            return;
        }
        let n = view.tour.n();
        let cut = Cut::of(stream.step((*state).descents - 1), n, kicks.segment);
        let [p, q, r, s, t, u, v, w] = cut.ends(n);
        let node = |position| if is_accepted { view.tour.at(position) } else { accepted.at(position) };
        let ends = [node(p), node(q), node(r), node(s), node(t), node(u), node(v), node(w)];
        (*state).cost += perturb::longer(view.distance, ends);
        let turns = (&raw mut (*state).turns).cast::<Stretch>();
        let mut at = [p, q, r, s, t, u, v, w];
        while (*state).steps < perturb::STEPS {
            let turn = Stretch::between(n, perturb::step(at, (*state).steps));
            *turns.add((*state).steps as usize) = turn;
            (*state).steps += 1;
            let [p, q, r, s, t, u, v, w] = at;
            let to = |position| turn.reversed(n, position);
            at = [to(p), to(q), to(r), to(s), to(t), to(u), to(v), to(w)];
        }
    }
}

/// The third part of a pass with many moves: makes the best move around `node` if it holds all positions it claimed. Every member
/// calls this; it is done for all nodes, in any order, by any number of teams.
///
/// # Safety
/// [`select`] is done; others use only the parts of tour and board that this function gives to their own nodes.
#[inline(always)]
pub unsafe fn make<T: Team>(team: T, tour: ArrayTour<u32>, board: PassBoard, node: u32) {
    // SAFETY: nobody writes proposals and claims. Only the holder of a stretch reads or writes the tour there, and all nodes of its
    // move are inside.
    unsafe {
        let proposal = board.proposals.add(node as usize);
        if (*proposal).gain == 0 || (*proposal).claim.length == 0 {
            return;
        }
        let proposal = *proposal;
        let (claim, rank) = (proposal.claim, rank(proposal.gain, node));
        let mut lost = 0;
        team.for_each(claim.length, |i| {
            lost |= (*board.claims.add(claim.at(tour.n(), i) as usize) != rank) as u64;
        });
        if team.sum(lost) != 0 {
            return;
        }
        let m = proposal.to_move();
        let mut step = 0;
        while step < m.steps() {
            tour.exchange(team, m.step(step));
            step += 1;
        }
        team.single(|| {
            AtomicI64::from_ptr(&raw mut (*board.state).cost).fetch_sub(proposal.gain, Relaxed);
        });
    }
}

/// The fourth part of a pass, at position and node `i`: makes the copies of the tour that [`select`] wants, and clears claims. It
/// is done for every i below n, by any threads.
///
/// # Safety
/// [`select`] and [`make`] are done; nobody else handles `i`, which is below n, and nobody writes the state.
#[inline(always)]
pub unsafe fn settle(
    tour: ArrayTour<u32>,
    accepted: ArrayTour<u32>,
    best: Slots<u32>,
    board: PassBoard,
    many: bool,
    i: u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let copies = (*board.state).copies;
        if copies & ACCEPT != 0 {
            accepted.take(tour, i);
        }
        if copies & KEEP != 0 {
            best.set(i, tour.at(i));
        }
        if copies & TAKE_BACK != 0 {
            tour.take(accepted, i);
        }
        if many {
            *board.claims.add(i as usize) = 0;
        }
    }
}

impl PassBoard {
    /// The last parts of a pass, of which there are [`perturb::STEPS`]: returns the stretch that part `step` reverses, by
    /// [swaps](ArrayTour::swap) that can be made in any order. Its length may be 0.
    ///
    /// # Safety
    /// [`select`] is done, and nobody writes the state.
    #[inline(always)]
    pub unsafe fn turn(self, step: u32) -> Stretch {
        // SAFETY: the caller's promise; there are at most as many steps as reversals.
        unsafe {
            if step < (*self.state).steps {
                *(&raw const (*self.state).turns).cast::<Stretch>().add(step as usize)
            } else {
                Stretch { first: 0, length: 0 }
            }
        }
    }
}
