//! A walk, and the strategies that it can follow.

use super::{Candidate, Cost, Crew};
use crate::neighborhood::{Clock, Neighborhood, Standing, Walk};
use crate::problem::{Element, Problem, WalkOf};
use crate::rng::{Draws, Stream, exponential};
use crate::team::{Slots, Team};

/// Which neighbour a walk goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Strategy {
    /// The best that is not tabu (F. Glover 1989). Tenures are random and moves that were not made for very long are made
    /// (É. Taillard, "Robust taboo search for the quadratic assignment problem", Parallel Computing 17, 1991).
    Tabu = 0,
    /// The best, if it is better; else a new random solution.
    Climb = 1,
    /// A random one, by Metropolis' rule (S. Kirkpatrick, C.D. Gelatt and M.P. Vecchi 1983), while temperature falls.
    Anneal = 2,
    /// The best, if it is better; else random moves from the last accepted local optimum (H.R. Lourenço, O.C. Martin and T. Stützle,
    /// "Iterated local search", 2003). An optimum is accepted if it is not worse.
    Iterate = 3,
}

/// What a batch of iterations is to do.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Rules {
    /// Seed of the run.
    pub seed: u64,
    /// A walk stops at a cost whose [`Cost::key`] is not larger.
    pub target: u64,
    /// The batch ends before this iteration.
    pub end: u64,
    /// Annealing: iterations from the first temperature to the last, from where it begins again.
    pub cooling: u64,
    /// A [`Strategy`].
    pub strategy: u32,
    /// Tabu: fewest iterations that something is tabu.
    pub tenure: u32,
    /// Tabu: tenures are drawn from so many.
    pub tenures: u32,
    /// Tabu: what has not been for so many iterations is overdue.
    pub aspiration: u32,
    /// Climbing, iterated search: most descents of a walk; 0: any number.
    pub descents: u32,
    /// Iterated search: random moves after a descent. Tabu: most random moves from a best solution where walks compare; if 0,
    /// walks go on from where they are unless a rival has a better one.
    pub kicks: u32,
    /// Annealing: the first temperature.
    pub hot: f32,
    /// Annealing: temperature falls [`LEVELS`] times by this factor.
    pub ratio: f32,
    /// Number of walks.
    pub walks: u32,
    /// Not 0: walks whose numbers differ by this bit compare their best solutions first, and go on from the better one. Tabu
    /// search with kicks always goes on from the best solution that it has then: iterated tabu search.
    pub rival_bit: u32,
}

/// Temperatures of annealing.
pub const LEVELS: u32 = 1024;

/// [`WalkState::done`]: the target was reached.
pub const REACHED: u32 = 1;
/// [`WalkState::done`]: all descents were made.
pub const DESCENDED: u32 = 2;

/// What there is to say of a walk between batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct WalkState {
    /// Iterations done. One looks at all neighbours; of annealing, at one.
    pub iterations: u64,
    /// Neighbours looked at.
    pub evaluations: u64,
    /// [`Cost::bits`] of the solution.
    pub cost: u64,
    /// [`Cost::bits`] of the best solution.
    pub best: u64,
    /// Iterations done when that was found.
    pub best_iteration: u64,
    /// Iterated search: [`Cost::bits`] of the accepted local optimum.
    pub accepted: u64,
    /// Local optima found.
    pub descents: u32,
    /// Not 0: the walk is over, [`REACHED`] or [`DESCENDED`].
    pub done: u32,
    /// Not 0: the walk begins with a random solution.
    pub fresh: u32,
    /// Batches that began with another cost than the one before ended with, computed from scratch: a bug.
    pub flaws: u32,
}

/// Where a replica's parts lie in a team's memory, in bytes, all at multiples of 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Layout {
    /// The accepted local optimum, behind the solution.
    pub accepted: u32,
    /// The tabu list.
    pub traces: u32,
    /// The problem's notes.
    pub notes: u32,
    /// The end of it all.
    pub bytes: u32,
}

impl Layout {
    /// The layout for a problem; none if it takes 4 GiB or more.
    pub fn new<P: Problem>(problem: &P, strategy: Strategy) -> Option<Layout> {
        let up = |bytes: usize| bytes.next_multiple_of(16);
        let moves = problem.moves();
        let solution = up(moves.elements() as usize * size_of::<Element<P>>());
        let traces = solution + if strategy == Strategy::Iterate { solution } else { 0 };
        let list = if strategy == Strategy::Tabu { up(4 * moves.traces() as usize) } else { 0 };
        let notes = traces + list;
        let bytes = u32::try_from(notes + up(problem.notes())).ok()?;
        Some(Layout { accepted: solution as u32, traces: traces as u32, notes: notes as u32, bytes })
    }
}

/// Where all walks are between batches.
#[derive(Clone, Copy)]
pub struct Bank<E> {
    /// A state a walk; nobody writes there during a batch.
    pub old_states: *const WalkState,
    /// A best solution a walk; nobody writes there during a batch.
    pub old_bests: *const E,
    /// The states afterwards.
    pub states: *mut WalkState,
    /// The best solutions afterwards.
    pub bests: *mut E,
    /// A solution a walk.
    pub solutions: *mut E,
    /// Iterated search: an accepted local optimum a walk.
    pub accepted: *mut E,
    /// Tabu: a tabu list a walk.
    pub traces: *mut u32,
}

/// The random numbers of an iteration of a walk: step 0 orders equal costs, 1 draws tenures, 2 what annealing proposes, 3 kicks of
/// iterated search, 4 how many kicks of tabu search, 5 these.
#[inline(always)]
pub fn iteration_stream(seed: u64, iteration: u64, index: u32) -> Stream {
    Stream::new(seed ^ (iteration >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15), iteration as u32, index)
}

/// Element `i` of the random solution with which a walk begins its descent of that number.
#[inline(always)]
pub fn random_solution<N: Neighborhood>(
    moves: &N,
    seed: u64,
    descent: u32,
    index: u32,
    i: u32,
) -> N::Element {
    moves.random(Stream::new(!seed, descent, index), i)
}

/// A uniform neighbour, from items `item` and the next of a step.
#[inline(always)]
fn random_neighbor(draws: Draws, item: u32, len: u64) -> u64 {
    let bits = (draws.bits(item) as u64) << 32 | draws.bits(item + 1) as u64;
    ((bits as u128 * len as u128) >> 64) as u64
}

impl Rules {
    /// The temperature of a step.
    #[inline(always)]
    fn temperature(&self, step: u64) -> f32 {
        let cooling = self.cooling.max(1);
        let level = (step % cooling).wrapping_mul(LEVELS as u64) / cooling;
        let (mut t, mut factor, mut bits) = (self.hot, self.ratio, level as u32);
        while bits > 0 {
            t *= if bits & 1 == 1 { factor } else { 1.0 };
            factor *= factor;
            bits >>= 1;
        }
        t
    }
}

/// Makes so many random moves, drawn in a step of the walk's stream, and waits for the team.
///
/// # Safety
/// The walk is of this neighbourhood, which has neighbours; nobody looks at its solution meanwhile.
#[inline(always)]
unsafe fn kick<T: Team, N: Neighborhood>(team: T, moves: &N, walk: &Walk<N::Element>, kicks: u32, step: u32) {
    let draws = walk.stream.step(step);
    let mut kick = 0;
    while kick < kicks {
        let neighbor = random_neighbor(draws, 2 * kick, moves.len());
        // SAFETY: the caller's promise.
        unsafe { moves.apply(team, walk, moves.at(neighbor)) };
        kick += 1;
    }
}

/// What an iteration decides.
enum Next {
    /// To go to the neighbour of this number.
    Go(u64),
    /// To stay.
    Stay,
    /// To begin again from the solution that is there now, its notes not made yet.
    Anew,
}

/// A neighbour as a candidate of tabu search, given the best cost so far.
#[inline(always)]
pub fn candidate(key: u64, standing: Standing, best_key: u64) -> u64 {
    let class = if standing == Standing::Overdue || key < best_key {
        0
    } else {
        1 + (standing == Standing::Tabu) as u64
    };
    class << 62 | key
}

/// Candidates from here on are tabu.
pub const FORBIDDEN: u64 = 2 << 62;

/// Takes walk `index` through a batch of iterations.
///
/// # Safety
/// All members of all the walk's teams come here, with a crew of their own and the same arguments but for `replica`, which is the
/// team's and has the layout's bytes; `common` is the walk's and has [`Problem::common`] bytes; both are 16-byte aligned. The bank
/// has that walk, its old and new states and best solutions do not overlap, and no one else uses that walk's part of it
/// meanwhile.
#[inline(always)]
pub unsafe fn walk<P: Problem, C: Crew>(
    crew: &mut C,
    problem: &P,
    rules: &Rules,
    layout: &Layout,
    bank: &Bank<Element<P>>,
    index: u32,
    (replica, common): (*mut u8, *mut u8),
) {
    let (team, moves) = (crew.team(), problem.moves());
    let n = moves.elements();
    let (tabu, iterate, anneal) = (
        rules.strategy == Strategy::Tabu as u32,
        rules.strategy == Strategy::Iterate as u32,
        rules.strategy == Strategy::Anneal as u32,
    );
    let first = index as usize * n as usize;
    // SAFETY: the caller's promise: an element is one member's between barriers, and what is the walk's is written by its first
    // team alone, after all teams have read it.
    unsafe {
        let mut state = *bank.old_states.add(index as usize);
        let own_best = bank.old_bests.add(first);
        let new_best = Slots::new(bank.bests.add(first));
        let leads = crew.part() == 0;
        if state.done != 0 {
            if leads {
                team.for_each(n, |i| new_best.set(i, *own_best.add(i as usize)));
                team.single(|| *bank.states.add(index as usize) = state);
            }
            return;
        }
        let mut walk: WalkOf<P> = Walk {
            solution: Slots::new(replica.cast()),
            traces: Slots::new(replica.add(layout.traces as usize).cast()),
            notes: replica.add(layout.notes as usize),
            common,
            stream: iteration_stream(rules.seed, 0, index),
        };
        let accepted: Slots<Element<P>> = Slots::new(replica.add(layout.accepted as usize).cast());
        let traces = if tabu { moves.traces() } else { 0 };
        let home_solution = bank.solutions.add(first);
        let home_accepted = bank.accepted.add(first);
        let home_traces = bank.traces.add(index as usize * traces as usize);

        // Where to begin: where the last batch ended, or at a random solution, or at a best one.
        let rival = index ^ rules.rival_bit;
        let mut source = home_solution.cast_const();
        let mut carried = state.fresh == 0;
        let mut adopted = false;
        let mut kicks = 0;
        if rules.rival_bit != 0 && carried {
            let is_iterated = tabu && rules.kicks > 0;
            if is_iterated {
                source = own_best;
                (carried, state.cost) = (false, state.best);
                let draws = iteration_stream(rules.seed, state.iterations, index).step(4);
                kicks = 1 + draws.below(0, rules.kicks);
            }
            if rival < rules.walks {
                let other = *bank.old_states.add(rival as usize);
                if P::Cost::from_bits(other.best) < P::Cost::from_bits(state.best) {
                    source = bank.old_bests.add(rival as usize * n as usize);
                    (state.best, state.cost, state.accepted) = (other.best, other.best, other.best);
                    state.best_iteration = other.best_iteration;
                    (carried, adopted) = (false, true);
                }
            }
        }
        team.for_each(n, |i| {
            let element = if state.fresh != 0 {
                random_solution(&moves, rules.seed, state.descents, index, i)
            } else {
                *source.add(i as usize)
            };
            walk.solution.set(i, element);
            if iterate {
                accepted.set(
                    i,
                    if adopted || state.fresh != 0 { element } else { *home_accepted.add(i as usize) },
                );
            }
            if leads && state.fresh == 0 {
                new_best.set(i, if adopted { element } else { *own_best.add(i as usize) });
            }
        });
        // Nothing is tabu, and what is told apart by its age is of different ages: those of a walk that begins, or goes on
        // from another solution while its clock goes on too.
        team.for_each(traces, |i| {
            let begun = if state.fresh != 0 { i } else { state.iterations as u32 + i };
            walk.traces.set(i, if carried { *home_traces.add(i as usize) } else { begun });
        });
        team.barrier();
        walk.stream = iteration_stream(rules.seed, state.iterations, index);
        kick(team, &moves, &walk, kicks, 5);

        let mut anew = true;
        let mut cost = P::Cost::from_bits(state.cost);
        let mut best = P::Cost::from_bits(state.best);
        let len = moves.len();
        loop {
            if anew {
                let computed = problem.begin(crew, &walk);
                if state.fresh != 0 {
                    (best, state.accepted) = (computed, computed.bits());
                } else if carried && !computed.agrees(cost) {
                    state.flaws += 1;
                }
                cost = computed;
            }
            if cost < best || state.fresh != 0 {
                (best, state.best_iteration, state.fresh) = (cost, state.iterations, 0);
                if leads {
                    team.for_each(n, |i| new_best.set(i, walk.solution.get(i)));
                }
            }
            (anew, carried) = (false, false);
            if best.key() <= rules.target {
                state.done = REACHED;
            }
            if state.iterations >= rules.end || state.done != 0 {
                break;
            }
            walk.stream = iteration_stream(rules.seed, state.iterations, index);
            let mut next_cost = 0;
            let next = if anneal {
                let width = crew.parts() as u64 * team.size() as u64;
                let width = width.min(rules.end - state.iterations);
                let ahead = crew.part() as u64 * team.size() as u64 + team.rank() as u64;
                let mut own = Candidate::NONE;
                if ahead < width {
                    let step = state.iterations + ahead;
                    let proposed = Walk { stream: iteration_stream(rules.seed, step, index), ..walk };
                    let draws = proposed.stream.step(2);
                    let neighbor = random_neighbor(draws, 0, len);
                    let there = problem.neighbor_cost(&proposed, cost, moves.at(neighbor));
                    let rise = there.above(cost);
                    let most = rules.temperature(step) * core::f32::consts::LN_2 * exponential(draws.bits(2));
                    if rise <= 0.0 || rise <= most {
                        own = Candidate { key: ahead, tag: neighbor, cost: there.bits() };
                    }
                }
                let chosen = crew.best(own);
                let is_made = chosen.key != u64::MAX;
                let steps = if is_made { chosen.key + 1 } else { width };
                state.evaluations += steps;
                state.iterations += steps;
                if is_made {
                    walk.stream = iteration_stream(rules.seed, state.iterations - 1, index);
                    next_cost = chosen.cost;
                    Next::Go(chosen.tag)
                } else {
                    Next::Stay
                }
            } else {
                let clock = Clock {
                    now: (state.iterations as u32).saturating_add(traces).saturating_add(1),
                    aspiration: rules.aspiration,
                };
                let draws = walk.stream.step(0);
                let salt = (draws.bits(0) as u64) << 32 | draws.bits(1) as u64;
                let best_key = best.key();
                let mut own = Candidate::NONE;
                problem.scan(crew, &walk, cost, |neighbor, step, there| {
                    let mut key = there.key();
                    if tabu {
                        key = candidate(key, moves.standing(&walk, clock, step), best_key);
                    }
                    own = own.or(Candidate { key, tag: neighbor ^ salt, cost: there.bits() });
                });
                let chosen = crew.best(own);
                state.evaluations += len;
                state.iterations += 1;
                next_cost = chosen.cost;
                let neighbor = chosen.tag ^ salt;
                if tabu {
                    if chosen.key < FORBIDDEN {
                        let tenures = walk.stream.step(1);
                        moves.leave(team, &walk, moves.at(neighbor), |item| {
                            clock.now + rules.tenure + tenures.below(item, rules.tenures)
                        });
                        Next::Go(neighbor)
                    } else {
                        Next::Stay
                    }
                } else if chosen.key < cost.key() {
                    Next::Go(neighbor)
                } else {
                    state.descents += 1;
                    let over = rules.descents != 0 && state.descents >= rules.descents;
                    if over {
                        state.done = DESCENDED;
                        Next::Stay
                    } else {
                        if iterate {
                            let keep = cost <= P::Cost::from_bits(state.accepted);
                            team.for_each(n, |i| {
                                let (to, from) =
                                    if keep { (accepted, walk.solution) } else { (walk.solution, accepted) };
                                to.set(i, from.get(i));
                            });
                            team.barrier();
                            if keep {
                                state.accepted = cost.bits();
                            }
                            kick(team, &moves, &walk, rules.kicks, 3);
                        } else {
                            team.for_each(n, |i| {
                                let element = random_solution(&moves, rules.seed, state.descents, index, i);
                                walk.solution.set(i, element);
                            });
                            team.barrier();
                        }
                        Next::Anew
                    }
                }
            };
            match next {
                Next::Go(neighbor) => {
                    problem.make(crew, &walk, moves.at(neighbor));
                    cost = P::Cost::from_bits(next_cost);
                }
                Next::Stay => {}
                Next::Anew => anew = true,
            }
            if state.done != 0 {
                break;
            }
        }
        if leads {
            (state.cost, state.best) = (cost.bits(), best.bits());
            team.for_each(n, |i| {
                *home_solution.add(i as usize) = walk.solution.get(i);
                if iterate {
                    *home_accepted.add(i as usize) = accepted.get(i);
                }
            });
            team.for_each(traces, |i| *home_traces.add(i as usize) = walk.traces.get(i));
            team.single(|| *bank.states.add(index as usize) = state);
        }
    }
}

/// Writes the costs of all neighbours of a solution, and its own behind them, as [`Cost::bits`]: the paper's way, in which the search
/// chooses elsewhere (Luong et al. 2013, algorithm 2).
///
/// # Safety
/// As [`walk`]; `solution` has a solution, `costs` one place more than there are neighbours.
#[inline(always)]
pub unsafe fn evaluate<P: Problem, C: Crew>(
    crew: &mut C,
    problem: &P,
    rules: &Rules,
    layout: &Layout,
    solution: *const Element<P>,
    (replica, common): (*mut u8, *mut u8),
    costs: *mut u64,
) {
    let (team, moves) = (crew.team(), problem.moves());
    // SAFETY: the caller's promise; a neighbour is one member's.
    unsafe {
        let walk: WalkOf<P> = Walk {
            solution: Slots::new(replica.cast()),
            traces: Slots::new(replica.add(layout.traces as usize).cast()),
            notes: replica.add(layout.notes as usize),
            common,
            stream: iteration_stream(rules.seed, rules.end, 0),
        };
        team.for_each(moves.elements(), |i| walk.solution.set(i, *solution.add(i as usize)));
        team.barrier();
        let cost = problem.begin(crew, &walk);
        crew.barrier();
        problem.scan(crew, &walk, cost, |neighbor, _, there| *costs.add(neighbor as usize) = there.bits());
        if crew.part() == 0 {
            team.single(|| *costs.add(moves.len() as usize) = cost.bits());
        }
    }
}
