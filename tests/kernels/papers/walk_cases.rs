//! What walks and looks at neighbours are asked to do, and what they do on the CPU.

use antwarp::backend::cpu::OnThreads;
use antwarp::engine::{Plain, Tables};
use antwarp::solver::search::full_cost;
use antwarp_core::papers::neighborhood::{Neighborhood, Walk};
use antwarp_core::papers::problem::Element;
use antwarp_core::papers::search::{
    Alone, Bank, Cost, DESCENDED, LEVELS, Layout, REACHED, Strategy, WalkRules, WalkState, evaluate,
    iteration_stream, random_solution, walk,
};
use antwarp_core::team::{Serial, Slots};

use crate::gpu::{Poison, small};

const STRATEGIES: [Strategy; 5] =
    [Strategy::Tabu, Strategy::Climb, Strategy::Anneal, Strategy::Iterate, Strategy::Vary];
/// Seed of all walks.
const SEED: u64 = 0x1234_5678_9abc_def0;
/// What [`Snapshot::arrays`] are.
const ARRAYS: [&str; 4] = ["best solution", "solution", "accepted solution", "tabu list"];
/// Memory of walks is in units of 16 bytes.
type Unit = u128;

impl Poison for WalkState {
    const POISON: WalkState = WalkState {
        iterations: u64::POISON,
        evaluations: u64::POISON,
        cost: u64::POISON,
        best: u64::POISON,
        best_iteration: u64::POISON,
        accepted: u64::POISON,
        descents: u32::POISON,
        done: u32::POISON,
        fresh: u32::POISON,
        flaws: u32::POISON,
        level: u32::POISON,
        shake: u32::POISON,
    };
}

/// So many bytes, in whole units.
pub fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(size_of::<Unit>())
}

/// Poisoned memory for a walk.
fn units(bytes: usize) -> Vec<Unit> {
    vec![Unit::from_ne_bytes([0xaa; 16]); (padded(bytes) / size_of::<Unit>()).max(1)]
}

/// Poisoned elements.
fn poisoned<E: Plain>(len: usize) -> Vec<E> {
    const { assert!(size_of::<E>() <= 8) };
    // SAFETY: plain data may have any bits, and there are enough of them.
    vec![unsafe { [0xaau8; 8].as_ptr().cast::<E>().read_unaligned() }; len]
}

/// The bytes of elements.
fn bytes_of<E: Plain>(elements: &[E]) -> &[u8] {
    // SAFETY: plain data is bytes.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// The bits of elements of this size.
fn bits(bytes: &[u8], size: usize) -> Vec<u64> {
    let element = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
    bytes.chunks_exact(size).map(element).collect()
}

/// What is known of all walks between batches: states, and for each walk the bits of elements of [`ARRAYS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub states: Vec<WalkState>,
    pub arrays: [Vec<u64>; 4],
}

/// A state's fields with their names.
fn fields(s: &WalkState) -> [(&'static str, u64); 12] {
    [
        ("iterations", s.iterations),
        ("evaluations", s.evaluations),
        ("cost", s.cost),
        ("best", s.best),
        ("best_iteration", s.best_iteration),
        ("accepted", s.accepted),
        ("descents", s.descents.into()),
        ("done", s.done.into()),
        ("fresh", s.fresh.into()),
        ("flaws", s.flaws.into()),
        ("level", s.level.into()),
        ("shake", s.shake.into()),
    ]
}

impl Snapshot {
    /// Where this one, from the GPU, differs from one of the CPU.
    pub fn differences(&self, cpu: &Snapshot) -> Vec<String> {
        let mut all = Vec::new();
        for (walk, (gpu, cpu)) in self.states.iter().zip(&cpu.states).enumerate() {
            for ((name, gpu), (_, cpu)) in fields(gpu).into_iter().zip(fields(cpu)).filter(|(g, c)| g != c) {
                all.push(format!("walk {walk}: {name} is {gpu} on the GPU, {cpu} on the CPU"));
            }
        }
        for (name, (gpu, cpu)) in ARRAYS.into_iter().zip(self.arrays.iter().zip(&cpu.arrays)) {
            let each = (cpu.len() / self.states.len()).max(1);
            for (walk, (gpu, cpu)) in gpu.chunks(each).zip(cpu.chunks(each)).enumerate() {
                let differing: Vec<usize> = (0..cpu.len()).filter(|&i| gpu[i] != cpu[i]).collect();
                let Some(&i) = differing.first() else { continue };
                let (count, g, c) = (differing.len(), gpu[i], cpu[i]);
                all.push(format!(
                    "walk {walk}: {count} of {each} elements of the {name} differ; the first is {i}: {g:#x} on \
                     the GPU, {c:#x} on the CPU"
                ));
            }
        }
        all
    }
}

/// Iterations of all walks up to one, after they have compared with their rivals.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    pub end: u64,
    pub rival_bit: u32,
}

/// What a course is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Everything in one batch.
    Whole,
    /// The same in several batches.
    Batches,
    /// Walks compare between batches, once with no iteration in a batch.
    Rivals,
    /// Walks restart from children of theirs and their mates' best solutions; some begin anew.
    Mates,
    /// One walk, which ends before its last batch does.
    Ended,
    /// Numbers of iterations that outgrow 32 bits.
    Late,
}

/// Walks through solutions.
pub struct Course {
    pub name: String,
    pub kind: Kind,
    /// Those of all batches, but for their ends.
    rules: WalkRules,
    pub layout: Layout,
    pub start: Snapshot,
    pub batches: Vec<Batch>,
    /// What there is after each batch.
    pub cpu: Vec<Snapshot>,
}

impl Course {
    /// Number of walks.
    pub fn walks(&self) -> u32 {
        self.rules.walks
    }

    /// The rules of a batch.
    pub fn rules_of(&self, batch: &Batch) -> WalkRules {
        WalkRules { end: batch.end, rival_bit: batch.rival_bit, ..self.rules }
    }

    /// Whether a walk has gone on from a rival's solution: its best one before was worse.
    pub fn adopts(&self) -> bool {
        let pairs = self.batches.iter().skip(1).zip(&self.cpu);
        pairs.filter(|(batch, _)| batch.rival_bit != 0).any(|(batch, before)| {
            let best = |walk: u32| before.states.get(walk as usize).map(|state| state.best);
            (0..self.walks()).any(|w| best(w ^ batch.rival_bit).is_some_and(|other| Some(other) != best(w)))
        })
    }
}

/// All walks on the CPU.
struct Host<E> {
    states: [Vec<WalkState>; 2],
    bests: [Vec<E>; 2],
    solutions: Vec<E>,
    accepted: Vec<E>,
    traces: Vec<u32>,
}

impl<E: Plain> Host<E> {
    fn new(walks: u32, first: u64, elements: u32, traces: u32) -> Host<E> {
        let state = WalkState { iterations: first, fresh: 1, ..WalkState::default() };
        let of_walks = || poisoned((walks * elements) as usize);
        Host {
            states: [vec![state; walks as usize], vec![WalkState::POISON; walks as usize]],
            bests: [of_walks(), of_walks()],
            solutions: of_walks(),
            accepted: of_walks(),
            traces: vec![u32::POISON; (walks * traces) as usize],
        }
    }

    /// One batch.
    fn run<P: OnThreads>(&mut self, problem: &P, rules: &WalkRules, layout: &Layout)
    where
        P::Moves: Neighborhood<Element = E>,
    {
        let bank = Bank {
            old_states: self.states[0].as_ptr(),
            old_bests: self.bests[0].as_ptr(),
            states: self.states[1].as_mut_ptr(),
            bests: self.bests[1].as_mut_ptr(),
            solutions: self.solutions.as_mut_ptr(),
            accepted: self.accepted.as_mut_ptr(),
            traces: self.traces.as_mut_ptr(),
        };
        for index in 0..rules.walks {
            let (mut replica, mut common) = (units(layout.bytes as usize), units(problem.common()));
            let memory = (replica.as_mut_ptr().cast(), common.as_mut_ptr().cast());
            // SAFETY: `new` made the arrays for these walks; they go one after the other.
            unsafe { walk(&mut Alone, problem, rules, layout, &bank, index, memory) };
        }
        self.states.reverse();
        self.bests.reverse();
    }

    fn snapshot(&self) -> Snapshot {
        let bits = |elements: &[E]| bits(bytes_of(elements), size_of::<E>());
        Snapshot {
            states: self.states[0].clone(),
            arrays: [
                bits(&self.bests[0]),
                bits(&self.solutions),
                bits(&self.accepted),
                self.traces.iter().map(|&trace| trace.into()).collect(),
            ],
        }
    }
}

/// A look at all neighbours of a solution.
pub struct Look {
    pub name: String,
    pub rules: WalkRules,
    pub layout: Layout,
    /// The bytes of its elements.
    pub solution: Vec<u8>,
    /// Those of all neighbours.
    pub neighbors: Vec<u8>,
    /// The bits of all neighbours' costs, and behind them those of its own.
    pub costs: Vec<u64>,
}

impl Look {
    /// Looks at a random solution in this iteration.
    fn new<P: OnThreads>(problem: &P, number: u32, iteration: u64) -> Look {
        let moves = problem.moves();
        let rules = WalkRules { end: iteration, ..rules(Strategy::Climb, 1) };
        let layout = Layout::new(problem, Strategy::Climb).expect("a layout");
        let solution: Vec<Element<P>> =
            (0..moves.elements()).map(|i| random_solution(&moves, SEED, number, number, i)).collect();
        let mut costs = vec![u64::POISON; moves.len() as usize + 1];
        let (mut replica, mut common) = (units(layout.bytes as usize), units(problem.common()));
        let memory = (replica.as_mut_ptr().cast(), common.as_mut_ptr().cast());
        // SAFETY: the arrays have the problem's sizes.
        unsafe {
            {
                let solutions = (solution.as_ptr(), std::ptr::null());
                evaluate(&mut Alone, problem, &rules, &layout, solutions, memory, costs.as_mut_ptr());
            }
        };
        let own = P::Cost::from_bits(costs[moves.len() as usize]);
        assert!(full_cost(problem, &solution).agrees(own));
        let neighbor = |index: u64| {
            let mut neighbor = solution.clone();
            let nothing = std::ptr::null_mut();
            // SAFETY: the view is of a solution, which is this function's alone.
            unsafe {
                let (solution, stream) = (Slots::of(&mut neighbor), iteration_stream(SEED, iteration, 0));
                let walk = Walk { solution, traces: Slots::none(), notes: nothing, common: nothing, stream };
                moves.apply(Serial, &walk, moves.at(index));
            }
            neighbor
        };
        let neighbors: Vec<Element<P>> = (0..moves.len()).flat_map(neighbor).collect();
        let neighbors = bytes_of(&neighbors).to_vec();
        let name = format!("random solution {number} in iteration {iteration}");
        Look { name, rules, layout, solution: bytes_of(&solution).to_vec(), neighbors, costs }
    }

    /// By how much neighbours are worse or better in the mean.
    fn mean_change<P: OnThreads>(&self) -> f32 {
        let (own, neighbors) = self.costs.split_last().expect("the solution's own cost");
        let own = P::Cost::from_bits(*own);
        let sum: f32 = neighbors.iter().map(|&bits| P::Cost::from_bits(bits).above(own).abs()).sum();
        (sum / neighbors.len() as f32).max(1e-3)
    }
}

/// Rules of a strategy that leave the problem, the end and the target open.
fn rules(strategy: Strategy, walks: u32) -> WalkRules {
    WalkRules {
        seed: SEED,
        target: 0,
        end: 0,
        cooling: 1,
        strategy: strategy as u32,
        tenure: 3,
        tenures: 5,
        aspiration: 0,
        descents: 0,
        kicks: 3,
        hot: 1.0,
        ratio: 0.001f32.powf(1.0 / LEVELS as f32),
        walks,
        rival_bit: 0,
        levels: 1,
        first: 0,
        mate: 0,
        alike: 0,
    }
}

/// An instance, and all that is done on it.
pub struct Case {
    pub name: String,
    pub tables: Tables,
    pub courses: Vec<Course>,
    pub looks: Vec<Look>,
    /// Bytes that a walk's blocks share.
    pub common: usize,
    elements: usize,
    element_bytes: usize,
}

impl Case {
    /// Does it on the CPU.
    pub fn new<P: OnThreads>(name: String, tables: Tables) -> Case {
        let problem: P = tables.problem();
        let looks: Vec<Look> =
            [0, 9, 1 << 33].into_iter().zip(0..).map(|(i, number)| Look::new(&problem, number, i)).collect();
        let hot = looks[0].mean_change::<P>();
        let descends = |strategy| matches!(strategy, Strategy::Climb | Strategy::Iterate | Strategy::Vary);
        let firsts = STRATEGIES.into_iter().filter(|&strategy| descends(strategy)).map(|s| (s, 1));
        let all = STRATEGIES.into_iter().map(|strategy| (strategy, 0)).chain(firsts);
        let courses = all.flat_map(|how| courses(&problem, &name, how, hot)).collect();
        let (common, elements) = (problem.common(), problem.moves().elements() as usize);
        Case { name, courses, looks, common, elements, element_bytes: size_of::<Element<P>>(), tables }
    }

    /// Bytes of a solution.
    pub fn solution_bytes(&self) -> usize {
        self.elements * self.element_bytes
    }

    /// The bits of the elements in these bytes.
    pub fn elements(&self, bytes: &[u8]) -> Vec<u64> {
        bits(bytes, self.element_bytes)
    }
}

/// All courses of a strategy on the CPU, to the best neighbours or to the first better ones.
fn courses<P: OnThreads>(
    problem: &P,
    instance: &str,
    (strategy, first_better): (Strategy, u32),
    hot: f32,
) -> Vec<Course> {
    let anneals = strategy == Strategy::Anneal;
    let t: u64 = match (anneals, small()) {
        (true, false) => 600,
        (true, true) => 80,
        (false, false) => 36,
        (false, true) => 12,
    };
    let rules = |walks: u32| WalkRules {
        cooling: t / 2 + 1,
        // What was not for long is overdue before the last batch.
        aspiration: problem.moves().traces() + t as u32 / 3,
        hot,
        levels: problem.moves().levels(),
        first: first_better,
        ..rules(strategy, walks)
    };
    let plain = |ends: &[u64]| ends.iter().map(|&end| Batch { end, rival_bit: 0 }).collect::<Vec<_>>();
    let course = |kind: Kind, first: u64, rules: WalkRules, batches: Vec<Batch>| {
        run(problem, instance, (kind, strategy), (first, rules), batches)
    };
    let whole = course(Kind::Whole, 0, rules(3), plain(&[t]));
    let batches = course(Kind::Batches, 0, rules(3), plain(&[t / 4, t / 2, t / 2 + 1, t]));
    assert_eq!(whole.cpu.last(), batches.cpu.last(), "{instance}: {strategy:?} in several batches");
    let bits = [(t / 4, 0), (t / 2, 1), (t / 2, 4), (t / 2 + t / 4, 2), (t, 1)];
    let rivals = bits.map(|(end, rival_bit)| Batch { end, rival_bit }).to_vec();
    let rivals = course(Kind::Rivals, 0, rules(5), rivals);
    let mates = (P::CROSSES && strategy == Strategy::Tabu).then(|| {
        let rules = WalkRules { mate: 3, alike: problem.moves().elements() / 2, ..rules(5) };
        let bits = [(t / 4, 0), (t / 2, 1 << 31), (t, 1 << 31)];
        let batches = bits.map(|(end, rival_bit)| Batch { end, rival_bit }).to_vec();
        course(Kind::Mates, 0, rules, batches)
    });
    // One walk is the first of several, and so comes to the same costs.
    let climbs = matches!(strategy, Strategy::Climb | Strategy::Iterate | Strategy::Vary);
    let ended = if climbs {
        course(Kind::Ended, 0, WalkRules { descents: 2, ..rules(1) }, plain(&[t / 2, 60 * t, 60 * t + 1]))
    } else {
        let target = P::Cost::from_bits(batches.cpu[1].states[0].best).key();
        course(Kind::Ended, 0, WalkRules { target, ..rules(1) }, plain(&[t, 2 * t]))
    };
    let done = ended.cpu[ended.cpu.len() - 2].states[0].done;
    assert_eq!(done, if climbs { DESCENDED } else { REACHED }, "{instance}: {strategy:?} does not end");
    let mut all = vec![whole, batches, rivals, ended];
    all.extend(mates);
    // Tabu lists have 32 bits for an iteration.
    if strategy != Strategy::Tabu {
        let first = (1 << 32) - t / 2;
        all.push(course(Kind::Late, first, rules(2), plain(&[first + t])));
    }
    all
}

/// Runs a course on the CPU, from iteration `first` on.
fn run<P: OnThreads>(
    problem: &P,
    instance: &str,
    (kind, strategy): (Kind, Strategy),
    (first, rules): (u64, WalkRules),
    batches: Vec<Batch>,
) -> Course {
    let moves = problem.moves();
    let traces = if strategy == Strategy::Tabu { moves.traces() } else { 0 };
    let mut host = Host::<Element<P>>::new(rules.walks, first, moves.elements(), traces);
    let mut course = Course {
        name: format!("{strategy:?}, first {}, {kind:?}, {} walks", rules.first, rules.walks),
        kind,
        rules,
        layout: Layout::new(problem, strategy).expect("a layout"),
        start: host.snapshot(),
        batches,
        cpu: Vec::new(),
    };
    for batch in &course.batches {
        host.run(problem, &course.rules_of(batch), &course.layout);
        course.cpu.push(host.snapshot());
    }
    for (state, best) in host.states[0].iter().zip(host.bests[0].chunks(moves.elements() as usize)) {
        let is_right = full_cost(problem, best).agrees(P::Cost::from_bits(state.best)) && state.flaws == 0;
        assert!(is_right, "{instance}: {}: {state:?}", course.name);
    }
    course
}
