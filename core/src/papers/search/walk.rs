//! A walk, and the strategies that it can follow.

use super::{Cost, Crew};
use crate::papers::neighborhood::{Neighborhood, Walk};
use crate::papers::problem::{Element, Problem, WalkOf};
use crate::rng::Stream;
use crate::team::{Slots, Team};

/// Which neighbour a walk goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Strategy {
    /// The best that is not tabu (F. Glover 1989). Tenures are random, and moves that have not been made for very long are made (É.
    /// Taillard, "Robust taboo search for the quadratic assignment problem", Parallel Computing 17, 1991).
    Tabu = 0,
    /// The best, if it is better; else a new random solution.
    Climb = 1,
    /// A random one, by Metropolis' rule (S. Kirkpatrick, C.D. Gelatt and M.P. Vecchi 1983), while the temperature falls.
    Anneal = 2,
    /// The best, if it is better; else random moves from the last accepted local optimum (H.R. Lourenço, O.C. Martin and T. Stützle,
    /// "Iterated local search", 2003). An optimum is accepted if it is not worse.
    Iterate = 3,
    /// As `Iterate`, with more random moves after every optimum that was not better, and one after a better one: variable
    /// neighbourhood search (N. Mladenović and P. Hansen, "Variable neighborhood search", Computers & Operations Research 24, 1997).
    Vary = 4,
}

impl Strategy {
    /// Returns whether it goes on from a local optimum that it accepted.
    pub const fn accepts_optima(self) -> bool {
        matches!(self, Strategy::Iterate | Strategy::Vary)
    }
}

/// The work of a batch of iterations.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct WalkRules {
    /// Seed of the run.
    pub seed: u64,
    /// A walk stops at a cost whose [`Cost::key`] is not larger.
    pub target: u64,
    /// The batch ends before this iteration. In tabu search, this, the words of the tabu list and the longest tenure must add up to
    /// less than 2^32.
    pub end: u64,
    /// Annealing: iterations from the first temperature to the last, after which the cycle repeats; 0 counts as 1.
    pub cooling: u64,
    /// A [`Strategy`].
    pub strategy: u32,
    /// Tabu: the shortest tenure, in iterations; that of the move itself counts, so 0 and 1 make nothing tabu.
    pub tenure: u32,
    /// Tabu: the number of different tenures, `tenure` and those after it, which are equally likely; at least 1.
    pub tenures: u32,
    /// Tabu: see [`Clock::aspiration`](crate::papers::neighborhood::Clock::aspiration).
    pub aspiration: u32,
    /// Climbing, iterated and variable search: most descents of a walk; 0: unlimited.
    pub descents: u32,
    /// Iterated search: random moves after a descent. Variable: most of them. Tabu: most random moves from a best solution where
    /// walks compare; if 0, walks go on from where they are unless a rival has a better one.
    pub kicks: u32,
    /// Annealing: the first temperature, in the unit of costs.
    pub hot: f32,
    /// Annealing: temperature falls [`LEVELS`] times by this factor.
    pub ratio: f32,
    /// Number of walks.
    pub walks: u32,
    /// A power of 2: walks whose numbers differ in this bit compare their best solutions at the start of the batch, and go on from
    /// the better one. Tabu search with kicks then always goes on from its best solution: iterated tabu search. A bit that leads to
    /// no other walk makes it do so alone. 0: all walks go on from where they are.
    pub rival_bit: u32,
    /// Climbing, iterated and variable search: number of neighbourhoods that a descent goes through, the first ones of
    /// [`Neighborhood::levels`].
    pub levels: u32,
    /// Climbing, iterated and variable search: not 0 to go to the first improving neighbour instead of the best.
    pub first: u32,
    /// Not 0, at a restart of tabu search (with `rival_bit`) on a problem with [`Problem::CROSSES`]: the *mate* of a walk is the
    /// walk this many numbers after it, in a circle. The walk goes on from a child of its own best solution and its mate's.
    pub mate: u32,
    /// Best solutions that differ in at most this many places are alike. If a walk and its mate are alike, the walk restarts if its
    /// own is worse; else it goes on as without a mate.
    pub alike: u32,
}

impl WalkRules {
    /// As [`Strategy::accepts_optima`].
    #[inline(always)]
    pub(super) fn accepts_optima(&self) -> bool {
        self.strategy == Strategy::Iterate as u32 || self.strategy == Strategy::Vary as u32
    }
}

/// Number of temperatures of annealing.
pub const LEVELS: u32 = 1024;

/// [`WalkState::done`]: the target was reached.
pub const REACHED: u32 = 1;
/// [`WalkState::done`]: all descents were made.
pub const DESCENDED: u32 = 2;

/// The state of a walk between batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct WalkState {
    /// Iterations done. Each evaluates all neighbours of a level; with [`WalkRules::first`], up to the first improving one; with
    /// annealing, one.
    pub iterations: u64,
    /// Neighbours evaluated.
    pub evaluations: u64,
    /// [`Cost::bits`] of the solution.
    pub cost: u64,
    /// [`Cost::bits`] of the best solution.
    pub best: u64,
    /// Iterations done when that was found.
    pub best_iteration: u64,
    /// Iterated, variable search: [`Cost::bits`] of the accepted local optimum.
    pub accepted: u64,
    /// Climbing, iterated, variable search: local optima found.
    pub descents: u32,
    /// Not 0: the walk is over, [`REACHED`] or [`DESCENDED`].
    pub done: u32,
    /// Not 0: the walk starts with a random solution.
    pub fresh: u32,
    /// Batches whose initial cost, computed from scratch, differs from the final cost of the batch before: a bug.
    pub flaws: u32,
    /// The neighbourhood that a descent has reached, from 0.
    pub level: u32,
    /// Variable search: the number of random moves made last.
    pub shake: u32,
}

/// The offsets of a replica's parts in a team's memory, in bytes, all multiples of 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Layout {
    /// The accepted local optimum, after the solution, which starts at 0.
    pub accepted: u32,
    /// The tabu list.
    pub traces: u32,
    /// The problem's notes.
    pub notes: u32,
    /// The total size.
    pub bytes: u32,
}

impl Layout {
    /// Returns the layout for a problem; `None` if it takes 4 GiB or more.
    pub fn new<P: Problem>(problem: &P, strategy: Strategy) -> Option<Layout> {
        let up = |bytes: usize| bytes.next_multiple_of(16);
        let moves = problem.moves();
        let solution = up(moves.elements() as usize * size_of::<Element<P>>());
        let traces = solution + if strategy.accepts_optima() { solution } else { 0 };
        let list = if strategy == Strategy::Tabu { up(4 * moves.traces() as usize) } else { 0 };
        let notes = traces + list;
        let bytes = u32::try_from(notes + up(problem.notes())).ok()?;
        Some(Layout { accepted: solution as u32, traces: traces as u32, notes: notes as u32, bytes })
    }
}

/// The data of all walks between batches. Solutions have [`Neighborhood::elements`] elements, tabu lists [`Neighborhood::traces`],
/// one walk after another.
#[derive(Clone, Copy)]
pub struct Bank<E> {
    /// One state per walk; not written during a batch.
    pub old_states: *const WalkState,
    /// One best solution per walk; not written during a batch.
    pub old_bests: *const E,
    /// The states afterwards.
    pub states: *mut WalkState,
    /// The best solutions afterwards.
    pub bests: *mut E,
    /// One solution per walk.
    pub solutions: *mut E,
    /// Iterated, variable search: one accepted local optimum per walk.
    pub accepted: *mut E,
    /// Tabu: one tabu list per walk.
    pub traces: *mut u32,
}

/// Returns the random numbers of an iteration of walk `index`: step 0 orders equal costs, or draws where a search for the first
/// improving neighbour starts, 1 draws tenures, 2 annealing's proposals, 3 kicks of iterated search, 4 the number of kicks of tabu
/// search, 5 these kicks, 6 a child.
#[inline(always)]
pub fn iteration_stream(seed: u64, iteration: u64, index: u32) -> Stream {
    Stream::new(seed ^ (iteration >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15), iteration as u32, index)
}

/// Returns element `i` of the random solution with which walk `index` starts its descent of that number, from 0; in tabu search,
/// `descent` is the iteration of a restart.
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

/// A walk during a batch, as seen by each member of its teams.
pub(super) struct Journey<'a, P: Problem> {
    pub problem: &'a P,
    pub rules: &'a WalkRules,
    pub bank: &'a Bank<Element<P>>,
    /// Its number.
    pub index: u32,
    /// Its first element in arrays of solutions.
    pub first: usize,
    /// Length of its tabu list.
    pub traces: u32,
    pub walk: WalkOf<P>,
    /// Iterated, variable search: the local optimum that was accepted last.
    pub accepted: Slots<Element<P>>,
    pub state: WalkState,
    /// Cost of the solution, and of the best one.
    pub cost: P::Cost,
    pub best: P::Cost,
}

impl<'a, P: Problem> Journey<'a, P> {
    /// Makes a walk at the start of a batch.
    ///
    /// # Safety
    /// As [`walk`].
    #[inline(always)]
    unsafe fn new(
        problem: &'a P,
        rules: &'a WalkRules,
        layout: &Layout,
        bank: &'a Bank<Element<P>>,
        index: u32,
        (replica, common): (*mut u8, *mut u8),
    ) -> Self {
        let moves = problem.moves();
        // SAFETY: the caller's promise.
        unsafe {
            let state = *bank.old_states.add(index as usize);
            let n = moves.elements() as usize;
            let traces = if rules.strategy == Strategy::Tabu as u32 { moves.traces() } else { 0 };
            let optima = if rules.accepts_optima() { n } else { 0 };
            Journey {
                problem,
                rules,
                bank,
                index,
                first: index as usize * n,
                traces,
                walk: Walk {
                    solution: Slots::new(replica.cast(), n),
                    traces: Slots::new(replica.add(layout.traces as usize).cast(), traces as usize),
                    notes: replica.add(layout.notes as usize),
                    common,
                    stream: iteration_stream(rules.seed, 0, index),
                },
                accepted: Slots::new(replica.add(layout.accepted as usize).cast(), optima),
                state,
                cost: P::Cost::from_bits(state.cost),
                best: P::Cost::from_bits(state.best),
            }
        }
    }
}

/// The decision of an iteration.
pub(super) enum Next {
    /// Go to the neighbour with this number, whose cost has these bits.
    Go(u64, u64),
    /// Stay.
    Stay,
    /// No neighbour here is better.
    Optimum,
    /// Restart from the current solution, whose notes are not made yet.
    Anew,
}

/// Takes walk `index`, from 0, through a batch of iterations, until [`WalkRules::end`] or until it is done. Of a walk that was done
/// before, state and best solution are only copied.
///
/// # Safety
/// All members of all the walk's teams call this, each with its own crew and the same arguments except `replica`, which is the
/// team's and has the layout's bytes; `common` is the walk's and has [`Problem::common`] bytes; both are 16-byte aligned. The bank
/// has that walk, its old and new states and best solutions do not overlap, and no one else uses that walk's part of it meanwhile.
#[inline(always)]
pub unsafe fn walk<P: Problem, C: Crew>(
    crew: &mut C,
    problem: &P,
    rules: &WalkRules,
    layout: &Layout,
    bank: &Bank<Element<P>>,
    index: u32,
    (replica, common): (*mut u8, *mut u8),
) {
    let (team, moves) = (crew.team(), problem.moves());
    let n = moves.elements();
    let is = |strategy: Strategy| rules.strategy == strategy as u32;
    let first = index as usize * n as usize;
    // SAFETY: the caller's promise; between barriers an element belongs to one member, and the walk's data are written only by its
    // first team, after all teams have read them.
    unsafe {
        let state = *bank.old_states.add(index as usize);
        let new_best = Slots::new(bank.bests.add(first), n as usize);
        let leads = crew.part() == 0;
        if state.done != 0 {
            if leads {
                team.for_each(n, |i| new_best.set(i, *bank.old_bests.add(first + i as usize)));
                team.single(|| *bank.states.add(index as usize) = state);
            }
            return;
        }
        let mut journey = Journey::new(problem, rules, layout, bank, index, (replica, common));
        let j = &mut journey;
        let mut carried = j.start(team, leads);
        let mut anew = true;
        loop {
            if anew {
                let computed = problem.begin(crew, &j.walk);
                if j.state.fresh != 0 {
                    (j.best, j.state.accepted) = (computed, computed.bits());
                } else if carried && !computed.agrees(j.cost) {
                    j.state.flaws += 1;
                }
                j.cost = computed;
            }
            if j.cost < j.best || j.state.fresh != 0 {
                (j.best, j.state.best_iteration, j.state.fresh) = (j.cost, j.state.iterations, 0);
                if leads {
                    team.for_each(n, |i| new_best.set(i, j.walk.solution.get(i)));
                }
            }
            (anew, carried) = (false, false);
            if j.best.key() <= rules.target {
                j.state.done = REACHED;
            }
            if j.state.iterations >= rules.end || j.state.done != 0 {
                break;
            }
            j.walk.stream = iteration_stream(rules.seed, j.state.iterations, index);
            let mut next = if is(Strategy::Anneal) {
                j.propose(crew)
            } else if rules.first != 0 && !is(Strategy::Tabu) {
                j.go_to_the_first(crew)
            } else if is(Strategy::Tabu) {
                // Compiled separately, so that no condition is checked for each neighbour.
                j.go_to_the_best(crew, true)
            } else {
                j.go_to_the_best(crew, false)
            };
            if matches!(next, Next::Optimum) {
                next = j.go_on(team);
            }
            match next {
                Next::Go(neighbor, cost) => {
                    problem.make(crew, &j.walk, moves.at(neighbor));
                    (j.cost, j.state.level) = (P::Cost::from_bits(cost), 0);
                }
                Next::Stay | Next::Optimum => {}
                Next::Anew => anew = true,
            }
            if j.state.done != 0 {
                break;
            }
        }
        if leads {
            j.keep(team);
        }
    }
}

/// Writes the costs of all neighbours of a solution, followed by its own, as [`Cost::bits`]: the paper's approach, in which the
/// search chooses elsewhere (Luong et al. 2013, algorithm 2). Neighbours may also have been made elsewhere (section 3.1, the first
/// approach): `given` is null, or holds them in order, element by element. Of `rules` only seed and end are used.
///
/// # Safety
/// As [`walk`]; `solution` holds a solution, `costs` has one place more than there are neighbours.
#[inline(always)]
pub unsafe fn evaluate<P: Problem, C: Crew>(
    crew: &mut C,
    problem: &P,
    rules: &WalkRules,
    layout: &Layout,
    (solution, given): (*const Element<P>, *const Element<P>),
    (replica, common): (*mut u8, *mut u8),
    costs: *mut u64,
) {
    let (team, moves) = (crew.team(), problem.moves());
    // SAFETY: the caller's promise; a neighbour belongs to one member.
    unsafe {
        let walk: WalkOf<P> = Walk {
            solution: Slots::new(replica.cast(), moves.elements() as usize),
            traces: Slots::none(),
            notes: replica.add(layout.notes as usize),
            common,
            stream: iteration_stream(rules.seed, rules.end, 0),
        };
        team.for_each(moves.elements(), |i| walk.solution.set(i, *solution.add(i as usize)));
        team.barrier();
        let cost = problem.begin(crew, &walk);
        crew.barrier();
        if !given.is_null() {
            let (start, end) = crew.share(moves.len());
            let mut index = start + team.rank() as u64;
            while index < end && !problem.is_over() {
                let step = moves.toward(&walk, given.add(index as usize * moves.elements() as usize), index);
                *costs.add(index as usize) = problem.neighbor_cost(&walk, cost, step).bits();
                index += team.size() as u64;
            }
        }
        let mut level = 0;
        while given.is_null() && level < moves.levels() {
            problem.scan(crew, &walk, level, cost, |neighbor, _, there| {
                *costs.add(neighbor as usize) = there.bits();
            });
            level += 1;
        }
        if crew.part() == 0 {
            team.single(|| *costs.add(moves.len() as usize) = cost.bits());
        }
    }
}
