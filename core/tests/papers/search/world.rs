//! Problems in guarded memory, walks through them by any teams, and neighbourhoods by plain loops.

use crate::common::memory::{Array, Number};
use crate::common::teams::{Member, Order, PartMember, Shareable, run, run_in_teams};
use antwarp_core::papers::neighborhood::{Neighborhood, Walk};
use antwarp_core::papers::problem::{Element, Problem, Shape, WalkOf};
use antwarp_core::papers::search::{
    Alone, Bank, Contender, Cost, Crew, Layout, Strategy, WalkRules, WalkState, evaluate, walk,
};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots, Team};
use std::fmt::Debug;

impl Number for WalkState {}

/// Random numbers one after another.
pub struct Dice {
    stream: Stream,
    step: u32,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice { stream: Stream::new(seed, 0, 0), step: 0 }
    }

    pub fn below(&mut self, n: u32) -> u32 {
        self.step += 1;
        self.stream.step(self.step).below(7, n)
    }

    /// From -`most` to `most`.
    pub fn either_way(&mut self, most: i32) -> i32 {
        self.below(2 * most as u32 + 1) as i32 - most
    }

    /// From -1 to 1.
    pub fn real(&mut self) -> f64 {
        f64::from(self.below(u32::MAX)) / f64::from(u32::MAX) * 2.0 - 1.0
    }

    /// A permutation of 0 .. n.
    pub fn shuffled(&mut self, n: u32) -> Vec<u32> {
        let mut items: Vec<u32> = (0..n).collect();
        for i in (1..n).rev() {
            items.swap(i as usize, self.below(i + 1) as usize);
        }
        items
    }
}

pub fn is_permutation(items: &[u32]) -> bool {
    let mut sorted = items.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..items.len() as u32)
}

/// Places at which two solutions differ.
pub fn distance<E: PartialEq>(a: &[E], b: &[E]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

/// All vectors of bits at this distance, in the order of the places that differ.
pub fn flips(bits: &[u8], distance: usize) -> Vec<Vec<u8>> {
    fn flip(bits: &[u8], from: usize, distance: usize, all: &mut Vec<Vec<u8>>) {
        if distance == 0 {
            return all.push(bits.to_vec());
        }
        for i in from..bits.len() {
            let mut other = bits.to_vec();
            other[i] ^= 1;
            flip(&other, i + 1, distance - 1, all);
        }
    }
    let mut all = vec![];
    flip(bits, 0, distance, &mut all);
    all
}

/// All vectors that differ in one of k values, by place and value.
pub fn changes(values: &[u8], k: u32) -> Vec<Vec<u8>> {
    let mut all = vec![];
    for place in 0..values.len() {
        for value in (0..k).map(|v| v as u8).filter(|&v| v != values[place]) {
            let mut other = values.to_vec();
            other[place] = value;
            all.push(other);
        }
    }
    all
}

/// All permutations with two elements exchanged, by their places.
pub fn exchanges(items: &[u32]) -> Vec<Vec<u32>> {
    let mut all = vec![];
    for i in 0..items.len() {
        for j in i + 1..items.len() {
            let mut other = items.to_vec();
            other.swap(i, j);
            all.push(other);
        }
    }
    all
}

/// All permutations with three elements rotated, by their places, first up and then down.
pub fn rotations(items: &[u32]) -> Vec<Vec<u32>> {
    let (n, mut all) = (items.len(), vec![]);
    for i in 0..n {
        for j in i + 1..n {
            for k in j + 1..n {
                for [a, b, c] in [[k, i, j], [j, k, i]] {
                    let mut other = items.to_vec();
                    (other[i], other[j], other[k]) = (items[a], items[b], items[c]);
                    all.push(other);
                }
            }
        }
    }
    all
}

/// A solution after a move.
pub fn moved<N: Neighborhood<Element: Number>>(
    moves: &N,
    stream: Stream,
    solution: &[N::Element],
    step: N::Move,
) -> Vec<N::Element> {
    let mut solution = Array::of(solution);
    let (mut traces, mut nothing) = (Array::<u32>::rubbish(0), Array::<u8>::rubbish(0));
    let walk = Walk {
        solution: solution.slots(),
        traces: traces.slots(),
        notes: nothing.start(),
        common: nothing.start(),
        stream,
    };
    // SAFETY: a solution of this neighbourhood, and nobody else is there.
    unsafe { moves.apply(Serial, &walk, step) };
    solution.to_vec()
}

pub type CostOf<N> = <<N as Naive>::P as Problem>::Cost;
pub type ElementOf<N> = Element<<N as Naive>::P>;

/// A problem as its documentation tells it, with no thought of speed.
pub trait Naive {
    type P: Problem<Moves: Neighborhood<Element: Number + PartialEq + Debug>, Cost: Debug>;

    fn shape(&self) -> Shape;
    fn tables(&self) -> Vec<u8>;
    fn random(&self, dice: &mut Dice) -> Vec<ElementOf<Self>>;
    fn cost(&self, solution: &[ElementOf<Self>]) -> CostOf<Self>;
    fn neighbors(&self, solution: &[ElementOf<Self>], stream: Stream) -> Vec<Vec<ElementOf<Self>>>;

    /// Whether a cost is that of a full evaluation.
    fn agrees(&self, cost: CostOf<Self>, full: CostOf<Self>) -> bool {
        cost.bits() == full.bits()
    }
}

/// The bytes of numbers, with zeros up to a multiple of 16.
pub fn bytes<T: Number>(values: &[T]) -> Vec<u8> {
    // SAFETY: numbers without gaps.
    let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    bytes
}

/// A problem, and its instance in memory.
pub struct World<N: Naive> {
    pub naive: N,
    pub problem: N::P,
    /// What the problem points to.
    _tables: Array<u8>,
}

impl<N: Naive> World<N> {
    pub fn new(naive: N) -> Self {
        let mut tables = Array::of(&naive.tables());
        // SAFETY: the tables are what the problem asks for, aligned, and kept as long as it is.
        let problem = unsafe { N::P::new(&naive.shape(), tables.start()) };
        World { naive, problem, _tables: tables }
    }

    pub fn len(&self) -> u64 {
        self.problem.moves().len()
    }

    pub fn elements(&self) -> usize {
        self.problem.moves().elements() as usize
    }

    /// The costs of all neighbours, and of the solution behind them, by the library.
    pub fn evaluate(&self, rules: &WalkRules, solution: &[ElementOf<N>], by: By) -> Vec<u64> {
        self.evaluate_with(rules, solution, std::ptr::null(), by)
    }

    /// The same, but that the library is given the neighbours.
    pub fn evaluate_given(&self, rules: &WalkRules, solution: &[ElementOf<N>], by: By) -> Vec<u64> {
        let neighbors = self.naive.neighbors(solution, Stream::new(rules.seed, rules.end as u32, 0));
        let mut given = Array::of(&neighbors.concat());
        self.evaluate_with(rules, solution, given.start(), by)
    }

    fn evaluate_with(
        &self,
        rules: &WalkRules,
        solution: &[ElementOf<N>],
        given: *const ElementOf<N>,
        by: By,
    ) -> Vec<u64> {
        let mut costs = Array::<u64>::rubbish(self.len() as usize + 1);
        let layout = Layout::new(&self.problem, Strategy::Climb).unwrap();
        let mut memory = Memory::new(&self.problem, &layout, by);
        by.run(&Evaluation {
            problem: self.problem,
            rules: *rules,
            layout,
            solutions: (solution.as_ptr(), given),
            memory: memory.starts(),
            costs: costs.start(),
        });
        costs.to_vec()
    }
}

/// Memory of a walk's teams.
struct Memory {
    replicas: Vec<Array<u8>>,
    common: Array<u8>,
}

/// Where it is.
struct Starts {
    replicas: Vec<*mut u8>,
    common: *mut u8,
}

impl Memory {
    fn new<P: Problem>(problem: &P, layout: &Layout, by: By) -> Self {
        Memory {
            replicas: (0..by.teams()).map(|_| Array::rubbish(layout.bytes as usize)).collect(),
            common: Array::rubbish(problem.common()),
        }
    }

    fn starts(&mut self) -> Starts {
        Starts {
            replicas: self.replicas.iter_mut().map(|replica| replica.start()).collect(),
            common: self.common.start(),
        }
    }
}

impl Starts {
    fn of<C: Crew>(&self, crew: &C) -> (*mut u8, *mut u8) {
        (self.replicas[crew.part() as usize], self.common)
    }
}

/// One thread's view of a solution and what its problem notes about it.
pub struct Place<'a, N: Naive> {
    world: &'a World<N>,
    memory: Memory,
    layout: Layout,
    /// The random numbers of the iteration.
    pub stream: Stream,
}

impl<'a, N: Naive> Place<'a, N> {
    pub fn new(world: &'a World<N>, solution: &[ElementOf<N>]) -> Self {
        let layout = Layout::new(&world.problem, Strategy::Climb).unwrap();
        let memory = Memory::new(&world.problem, &layout, By::Alone);
        let mut place = Place { world, memory, layout, stream: Stream::new(1, 2, 3) };
        for (i, &element) in (0..).zip(solution) {
            // SAFETY: the replica begins with room for the solution.
            unsafe { place.walk().solution.set(i, element) };
        }
        place
    }

    fn walk(&mut self) -> WalkOf<N::P> {
        let (replica, n) = (self.memory.replicas[0].start(), self.world.elements());
        // SAFETY: the layout's places are inside the replica.
        unsafe {
            Walk {
                solution: Slots::new(replica.cast(), n),
                traces: Slots::none(),
                notes: replica.add(self.layout.notes as usize),
                common: self.memory.common.start(),
                stream: self.stream,
            }
        }
    }

    pub fn solution(&mut self) -> Vec<ElementOf<N>> {
        let solution = self.walk().solution;
        // SAFETY: the solution has so many elements.
        (0..self.world.elements() as u32).map(|i| unsafe { solution.get(i) }).collect()
    }

    pub fn begin(&mut self) -> CostOf<N> {
        self.begin_by(&mut Alone)
    }

    /// The same by a crew of one thread.
    pub fn begin_by<C: Crew>(&mut self, crew: &mut C) -> CostOf<N> {
        let walk = self.walk();
        // SAFETY: the memory is what the problem asks for.
        unsafe { self.world.problem.begin(crew, &walk) }
    }

    /// The cost of a neighbour; behind [`Place::begin`].
    pub fn neighbor_cost(&mut self, cost: CostOf<N>, index: u64) -> CostOf<N> {
        let (walk, step) = (self.walk(), self.world.problem.moves().at(index));
        // SAFETY: the notes are made, and this is a neighbour.
        unsafe { self.world.problem.neighbor_cost(&walk, cost, step) }
    }

    /// Goes to a neighbour; behind [`Place::begin`].
    pub fn make(&mut self, index: u64) {
        let (walk, step) = (self.walk(), self.world.problem.moves().at(index));
        // SAFETY: as above.
        unsafe { self.world.problem.make(&mut Alone, &walk, step) }
    }

    /// What scans of all levels visit: numbers and costs.
    pub fn scan(&mut self, cost: CostOf<N>) -> Vec<(u64, CostOf<N>)> {
        let (walk, mut all, moves) = (self.walk(), vec![], self.world.problem.moves());
        for level in 0..moves.levels() {
            let (start, end) = moves.level(level);
            // SAFETY: as above.
            unsafe {
                self.world.problem.scan(&Alone, &walk, level, cost, |index, step, there| {
                    assert_eq!(moves.index(step), index);
                    assert!((start..end).contains(&index), "{index} is not of level {level}");
                    all.push((index, there));
                });
            }
        }
        all
    }
}

/// Who goes a walk.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// The library's own crew of one thread.
    Alone,
    /// One team.
    Team(u32, Order),
    /// Teams of one thread.
    Singles(u32, Order),
    /// Teams with parts of several threads: how many teams, parts of a team, threads of a part.
    Teams(u32, u32, u32),
}

/// What a crew does.
trait Work {
    fn on<C: Crew>(&self, crew: &mut C);
}

impl By {
    pub fn teams(self) -> u32 {
        match self {
            By::Alone | By::Team(..) => 1,
            By::Singles(teams, _) | By::Teams(teams, ..) => teams,
        }
    }

    fn run<W: Work>(self, work: &W) {
        let shared = Shareable::new(&raw const *work);
        // SAFETY: the work outlives the threads; what it points to is shared by the rules of `Slots`.
        let work = || unsafe { &*shared.get() };
        match self {
            By::Alone => work().on(&mut Alone),
            By::Team(size, order) => {
                run(size, order, |all| work().on(&mut Threads { all, team: all, part: 0, parts: 1 }));
            }
            By::Singles(parts, order) => {
                run(parts, order, |all| {
                    work().on(&mut Threads { all, team: Serial, part: all.rank(), parts })
                });
            }
            By::Teams(teams, parts, size) => {
                run_in_teams((teams, parts, size), |all, part, team: PartMember| {
                    work().on(&mut Threads { all, team, part, parts: teams })
                });
            }
        }
    }
}

/// A thread of a crew of threads.
struct Threads<'a, T> {
    all: Member<'a>,
    team: T,
    part: u32,
    parts: u32,
}

impl<T: Team> Crew for Threads<'_, T> {
    type Team = T;

    fn team(&self) -> T {
        self.team
    }
    fn part(&self) -> u32 {
        self.part
    }
    fn parts(&self) -> u32 {
        self.parts
    }
    fn barrier(&mut self) {
        self.all.barrier()
    }
    fn best(&mut self, own: Contender) -> Contender {
        let key = self.all.min(own.key);
        let tag = self.all.min(if own.key == key { own.tag } else { u64::MAX });
        let wins = own.key == key && own.tag == tag;
        let (winners, cost) = (self.all.sum(wins.into()), self.all.sum(if wins { own.cost } else { 0 }));
        if tag == u64::MAX {
            return Contender::NONE;
        }
        assert_eq!(winners, 1, "two candidates with one tag");
        Contender { key, tag, cost }
    }
}

struct Evaluation<P: Problem> {
    problem: P,
    rules: WalkRules,
    layout: Layout,
    solutions: (*const Element<P>, *const Element<P>),
    memory: Starts,
    costs: *mut u64,
}

impl<P: Problem> Work for Evaluation<P> {
    fn on<C: Crew>(&self, crew: &mut C) {
        let memory = self.memory.of(crew);
        // SAFETY: all members come here, and the memory is what is asked for.
        unsafe {
            let Evaluation { problem, rules, layout, solutions, costs, .. } = self;
            evaluate(crew, problem, rules, layout, *solutions, memory, *costs)
        }
    }
}

struct Batch<P: Problem> {
    problem: P,
    rules: WalkRules,
    layout: Layout,
    bank: Bank<Element<P>>,
    index: u32,
    memory: Starts,
}

impl<P: Problem> Work for Batch<P> {
    fn on<C: Crew>(&self, crew: &mut C) {
        let memory = self.memory.of(crew);
        // SAFETY: all members come here, and the memory is what is asked for.
        unsafe { walk(crew, &self.problem, &self.rules, &self.layout, &self.bank, self.index, memory) }
    }
}

/// Rules that stop nothing and adopt nothing.
pub fn rules(strategy: Strategy) -> WalkRules {
    WalkRules {
        seed: 11,
        target: 0,
        end: 0,
        cooling: 100,
        strategy: strategy as u32,
        tenure: 3,
        tenures: 4,
        aspiration: 1000,
        descents: 0,
        kicks: 2,
        hot: 30.0,
        ratio: 0.99,
        walks: 1,
        rival_bit: 0,
        levels: 1,
        first: 0,
        mate: 0,
        alike: 0,
    }
}

pub fn strategy_of(rules: &WalkRules) -> Strategy {
    let all = [Strategy::Tabu, Strategy::Climb, Strategy::Anneal, Strategy::Iterate, Strategy::Vary];
    all.into_iter().find(|&strategy| strategy as u32 == rules.strategy).unwrap()
}

/// Walks between batches.
pub struct Walks<'a, N: Naive> {
    pub world: &'a World<N>,
    pub rules: WalkRules,
    states: [Array<WalkState>; 2],
    bests: [Array<ElementOf<N>>; 2],
    solutions: Array<ElementOf<N>>,
    accepted: Array<ElementOf<N>>,
    traces: Array<u32>,
}

/// All that is known of a walk.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot<E> {
    pub state: WalkState,
    pub solution: Vec<E>,
    pub best: Vec<E>,
    /// Empty but in iterated and variable search.
    pub accepted: Vec<E>,
    /// Empty but in tabu search.
    pub traces: Vec<u32>,
}

impl<'a, N: Naive> Walks<'a, N> {
    pub fn new(world: &'a World<N>, rules: &WalkRules) -> Self {
        let (walks, n) = (rules.walks as usize, world.elements());
        let fresh = vec![WalkState { fresh: 1, ..WalkState::default() }; walks];
        let strategy = strategy_of(rules);
        let of = |is_used, length| if is_used { length } else { 0 };
        Walks {
            world,
            rules: *rules,
            states: [Array::of(&fresh), Array::rubbish(walks)],
            bests: [0; 2].map(|_| Array::rubbish(walks * n)),
            solutions: Array::rubbish(walks * n),
            accepted: Array::rubbish(of(strategy.accepts_optima(), walks * n)),
            traces: Array::rubbish(of(
                strategy == Strategy::Tabu,
                walks * world.problem.moves().traces() as usize,
            )),
        }
    }

    /// Goes on to an iteration.
    pub fn go(&mut self, end: u64, by: By) {
        self.rules.end = end;
        let layout = Layout::new(&self.world.problem, strategy_of(&self.rules)).unwrap();
        for index in (0..self.rules.walks).rev() {
            let mut memory = Memory::new(&self.world.problem, &layout, by);
            by.run(&Batch {
                problem: self.world.problem,
                rules: self.rules,
                layout,
                bank: Bank {
                    old_states: self.states[0].start(),
                    old_bests: self.bests[0].start(),
                    states: self.states[1].start(),
                    bests: self.bests[1].start(),
                    solutions: self.solutions.start(),
                    accepted: self.accepted.start(),
                    traces: self.traces.start(),
                },
                index,
                memory: memory.starts(),
            });
        }
        self.states.swap(0, 1);
        self.bests.swap(0, 1);
        for index in 0..self.rules.walks {
            assert_eq!(self.of(index).state.flaws, 0, "carried costs are not those of solutions");
        }
    }

    pub fn of(&self, index: u32) -> Snapshot<ElementOf<N>> {
        let part = |all: &[ElementOf<N>]| {
            let n = all.len() / self.rules.walks as usize;
            all[index as usize * n..][..n].to_vec()
        };
        let traces = self.traces.len() / self.rules.walks as usize;
        Snapshot {
            state: self.states[0][index as usize],
            solution: part(&self.solutions),
            best: part(&self.bests[0]),
            accepted: part(&self.accepted),
            traces: self.traces[index as usize * traces..][..traces].to_vec(),
        }
    }

    pub fn all(&self) -> Vec<Snapshot<ElementOf<N>>> {
        (0..self.rules.walks).map(|index| self.of(index)).collect()
    }
}

pub fn cost_of<N: Naive>(bits: u64) -> CostOf<N> {
    Cost::from_bits(bits)
}
