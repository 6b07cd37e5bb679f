//! Walks of neighbourhood search on CPU threads: many walks, each on one thread, or few walks, each with several threads that
//! divide its neighbourhoods.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use antwarp_core::papers::neighborhood::Neighborhood;
// All types that `with_problems!` and `with_nested_problems!` name.
#[cfg(not(test))]
use antwarp_core::geometry::{Grid, Numbered};
use antwarp_core::papers::problem::*;
use antwarp_core::papers::search::{self, Bank, Contender, Crew, Layout, WalkRules, WalkState};
use antwarp_core::team::Serial;

use crate::processor::for_this_processor;
use crate::watched::Watched;
use crate::{Cpu, Together, allocate, check_memory, parallel};
use antwarp_engine::tuning::{self, Key, Tuner, now};
use antwarp_engine::{
    AskedShape, BackendError, Enough, Neighbors, Outline, Plain, SavedWalks, Searchable, State, Tables,
    Walks, WalksSpec, save_walks,
};
use antwarp_instance::{Watch, counted};

/// Most threads that wait for each other.
const MOST_THREADS: u64 = 1024;
/// Spins of a waiting thread before it lets others run.
const SPINS: u32 = 512;

/// A 16-byte unit of memory.
type Unit = u128;

/// Where the threads of a walk meet.
struct Meeting {
    arrivals: AtomicU64,
    /// Two rows of candidates, with one candidate per thread.
    slots: [Vec<[AtomicU64; 3]>; 2],
}

impl Meeting {
    fn new(parts: u32) -> Meeting {
        let row = || (0..parts).map(|_| [const { AtomicU64::new(0) }; 3]).collect();
        Meeting { arrivals: AtomicU64::new(0), slots: [row(), row()] }
    }
}

/// One of the threads of a walk.
struct Member<'a> {
    /// `None` for a single thread: both share one code, because there is much of it for every problem.
    meeting: Option<&'a Meeting>,
    part: u32,
    parts: u32,
    complete: u64,
    row: usize,
}

impl Member<'_> {
    /// The only thread of a walk.
    const ALONE: Self = Member { meeting: None, part: 0, parts: 1, complete: 0, row: 0 };
}

impl Crew for Member<'_> {
    type Team = Serial;

    fn team(&self) -> Serial {
        Serial
    }
    fn part(&self) -> u32 {
        self.part
    }
    fn parts(&self) -> u32 {
        self.parts
    }
    fn barrier(&mut self) {
        let Some(meeting) = self.meeting else { return };
        self.complete += u64::from(self.parts);
        meeting.arrivals.fetch_add(1, Ordering::AcqRel);
        let mut spins = 0;
        while meeting.arrivals.load(Ordering::Acquire) < self.complete {
            spins += 1;
            if spins % SPINS == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }
    fn best(&mut self, own: Contender) -> Contender {
        let Some(meeting) = self.meeting else { return own };
        // A late thread may still read the other row.
        let row = &meeting.slots[self.row];
        self.row ^= 1;
        let slot = &row[self.part as usize];
        for (word, value) in slot.iter().zip([own.key, own.tag, own.cost]) {
            word.store(value, Ordering::Relaxed);
        }
        self.barrier();
        row.iter().fold(Contender::NONE, |best, [key, tag, cost]| {
            best.or(Contender {
                key: key.load(Ordering::Relaxed),
                tag: tag.load(Ordering::Relaxed),
                cost: cost.load(Ordering::Relaxed),
            })
        })
    }
}

for_this_processor!(walk, walk_new, search::walk, [P: Problem], (
    crew: &mut Member<'_>, problem: &P, rules: &WalkRules, layout: &Layout, bank: &Bank<Element<P>>, index: u32,
    memory: (*mut u8, *mut u8)
));

/// A thread's part of a batch of one of the walks, as [`search::walk`] does it, of a watched problem.
type WalkBody<E> = unsafe fn(
    &mut Member<'_>,
    (&Tables, &Watch<'_>),
    (&WalkRules, &Layout),
    (&Bank<E>, u32),
    (*mut u8, *mut u8),
);

/// Runs the walk of a problem.
///
/// # Safety
/// As [`search::walk`].
unsafe fn walk_of<P: Problem>(
    crew: &mut Member<'_>,
    (tables, watch): (&Tables, &Watch<'_>),
    (rules, layout): (&WalkRules, &Layout),
    (bank, index): (&Bank<Element<P>>, u32),
    memory: (*mut u8, *mut u8),
) {
    let problem = Watched::new(tables.problem::<P>(), watch);
    // SAFETY: the caller's promise.
    unsafe { walk(crew, &problem, rules, layout, bank, index, memory) }
}

/// Computes all costs of a solution's neighbours, as [`search::evaluate`] does, of a watched problem.
type EvaluateBody<E> = unsafe fn(
    (&Tables, &Watch<'_>),
    (&WalkRules, &Layout),
    (*const E, *const E),
    (*mut u8, *mut u8),
    *mut u64,
);

/// Computes the costs of a problem's neighbours.
///
/// # Safety
/// As [`search::evaluate`].
unsafe fn evaluate_of<P: Problem>(
    (tables, watch): (&Tables, &Watch<'_>),
    (rules, layout): (&WalkRules, &Layout),
    solutions: (*const Element<P>, *const Element<P>),
    memory: (*mut u8, *mut u8),
    costs: *mut u64,
) {
    let problem = Watched::new(tables.problem::<P>(), watch);
    // SAFETY: the caller's promise.
    unsafe { search::evaluate(&mut { Member::ALONE }, &problem, rules, layout, solutions, memory, costs) }
}

/// A problem's searches, compiled for CPU threads; `E` is the type of its solutions' elements.
pub struct Bodies<E> {
    walk: WalkBody<E>,
    evaluate: EvaluateBody<E>,
}

/// A problem whose searches this crate has compiled: all that [`with_problems`](antwarp_core::with_problems) and
/// [`with_nested_problems`](antwarp_core::with_nested_problems) name.
///
/// Were they generic here, each crate that runs a search would compile them again.
pub trait OnThreads: Searchable {
    /// Returns its searches.
    fn bodies() -> Bodies<Element<Self>>;
}

macro_rules! on_threads {
    ($($name:ident: $problem:ty, $threads:literal;)*) => {
        $(
            impl OnThreads for $problem {
                // Inlined into another crate, it would take its searches along.
                #[inline(never)]
                fn bodies() -> Bodies<Element<Self>> {
                    Bodies { walk: walk_of::<Self>, evaluate: evaluate_of::<Self> }
                }
            }
        )*
    };
}

#[cfg(not(test))]
antwarp_core::with_problems!(on_threads);
#[cfg(not(test))]
antwarp_core::with_nested_problems!(on_threads);
// Unit tests need none. To compile them all once more takes a minute.
#[cfg(test)]
on_threads! {
    partition: Partition, 1024;
}

/// Walks in main memory.
pub struct CpuWalks<'p, E> {
    tables: &'p Tables,
    spec: WalksSpec,
    body: WalkBody<E>,
    layout: Layout,
    /// Bytes that a walk's threads share.
    common: usize,
    states: [Vec<WalkState>; 2],
    bests: [Vec<E>; 2],
    solutions: Vec<E>,
    accepted: Vec<E>,
    traces: Vec<u32>,
    tuner: Tuner,
}

impl<'p, E: Copy + Default + Send + Sync> CpuWalks<'p, E> {
    /// Allocates the walks, which start at random. The tables must be of problem `P`.
    ///
    /// # Errors
    /// If a replica would take 4 GiB or more, more than 1024 threads are asked to wait for each other, or memory is short.
    pub fn new<P: OnThreads<Moves: Neighborhood<Element = E>>>(
        cpu: &Cpu,
        tables: &'p Tables,
        spec: &WalksSpec,
    ) -> Result<Self, BackendError> {
        Self::laid_out(cpu, tables, spec, &Outline::of::<P>(tables, spec)?, P::bodies().walk)
    }

    fn laid_out(
        cpu: &Cpu,
        tables: &'p Tables,
        spec: &WalksSpec,
        &Outline { name, layout, neighbors, elements: n, traces: list, common }: &Outline,
        body: WalkBody<E>,
    ) -> Result<Self, BackendError> {
        let walks = spec.walks as usize;
        let threads = rayon::current_num_threads() as u32;
        let replica = layout.bytes as usize + common;
        let elements = walks * n * size_of::<E>();
        // Threads of a walk wait for each other, so those of all walks have to run at the same time.
        let asked = spec.shape.and_then(|shape| shape.parts).filter(|&parts| parts > 1);
        let waiting = asked.map_or(0, |parts| u64::from(parts) * u64::from(spec.walks));
        if waiting > MOST_THREADS {
            return Err(BackendError::Threads(waiting, MOST_THREADS));
        }
        let replicas = waiting.max(u64::from(threads)) as usize;
        check_memory("the walks", 4 * elements + 4 * walks * list + replicas * replica)?;
        let most = (threads / spec.walks).max(1);
        let key = Key::new(&cpu.machine().device, threads, name, tables, spec, neighbors);
        let is_tried = |parts: &u32| spec.retune_all || parts.is_power_of_two() || *parts == most;
        let shapes = (1..=most).filter(is_tried).map(|parts| tuning::Shape { parts, threads: 1 });
        Ok(CpuWalks {
            tables,
            spec: spec.clone(),
            body,
            layout,
            common,
            states: [fresh(spec.walks), fresh(spec.walks)],
            bests: [allocate("the walks", walks * n)?, allocate("the walks", walks * n)?],
            solutions: allocate("the walks", walks * n)?,
            accepted: allocate("the walks", walks * n)?,
            traces: allocate("the tabu lists", walks * list)?,
            tuner: Tuner::new(key, shapes.collect(), &spec_within(spec, most)),
        })
    }

    /// Runs one batch in one shape; returns whether it was complete. A walk whose batch was cut short keeps its old state and best
    /// solution.
    ///
    /// # Errors
    /// If there is no memory for a replica.
    fn batch(
        &mut self,
        rules: &WalkRules,
        shape: tuning::Shape,
        enough: Enough,
    ) -> Result<bool, BackendError> {
        let are_cut = self.go(rules, shape, enough)?;
        let n = self.bests[0].len() / self.spec.walks as usize;
        let ([old_states, states], [old_bests, bests]) = (&mut self.states, &mut self.bests);
        for (walk, _) in are_cut.iter().enumerate().filter(|(_, is_cut)| **is_cut) {
            states[walk] = old_states[walk];
            if states[walk].fresh == 0 {
                bests[walk * n..][..n].copy_from_slice(&old_bests[walk * n..][..n]);
            }
        }
        Ok(!are_cut.contains(&true))
    }

    /// Takes the walks through a batch; returns which ones were cut short.
    fn go(
        &mut self,
        rules: &WalkRules,
        shape: tuning::Shape,
        enough: Enough,
    ) -> Result<Vec<bool>, BackendError> {
        let [old_states, states] = &mut self.states;
        let [old_bests, bests] = &mut self.bests;
        let bank = Together(Bank {
            old_states: old_states.as_ptr(),
            old_bests: old_bests.as_ptr(),
            states: states.as_mut_ptr(),
            bests: bests.as_mut_ptr(),
            solutions: self.solutions.as_mut_ptr(),
            accepted: self.accepted.as_mut_ptr(),
            traces: self.traces.as_mut_ptr(),
        });
        let (layout, tables, body) = (self.layout, self.tables, self.body);
        let units = |bytes: usize| allocate::<Unit>("a walk", bytes.div_ceil(size_of::<Unit>()).max(1));
        let replica = layout.bytes as usize;
        let (bank, layout) = (&bank, &layout);
        if shape.parts == 1 {
            let memory = || units(replica).and_then(|r| Ok((r, units(self.common)?)));
            let go = |memory: &mut Result<(Vec<Unit>, Vec<Unit>), BackendError>, index| {
                if enough() {
                    return Ok(true);
                }
                let watch = Watch::new(enough);
                let (replica, common) = memory.as_mut().map_err(|_| BackendError::Replica)?;
                let memory = (replica.as_mut_ptr().cast(), common.as_mut_ptr().cast());
                // SAFETY: the arrays are those of all walks; each walk belongs to one thread, and its memory too.
                unsafe {
                    body(
                        &mut { Member::ALONE },
                        (tables, &watch),
                        (rules, layout),
                        (&bank.get(), index),
                        memory,
                    )
                };
                Ok(watch.is_cut())
            };
            parallel::collect(self.spec.walks, &memory, &go)
        } else {
            let parts = shape.parts;
            let memory = |bytes: usize, count: u32| -> Result<Vec<Vec<Unit>>, BackendError> {
                (0..count).map(|_| units(bytes)).collect()
            };
            let mut commons = memory(self.common, self.spec.walks)?;
            // All threads must have their memory before any of them waits for another.
            let mut replicas = memory(replica, self.spec.walks * parts)?;
            let meetings: Vec<Meeting> = commons.iter().map(|_| Meeting::new(parts)).collect();
            let watches: Vec<Watch> = commons.iter().map(|_| Watch::new(enough)).collect();
            let commons: Vec<_> = commons.iter_mut().map(|common| Together(common.as_mut_ptr())).collect();
            let replicas: Vec<_> =
                replicas.iter_mut().map(|replica| Together(replica.as_mut_ptr())).collect();
            // The pool's threads all exist already, and there are enough of them: `new` made shapes for that.
            parallel::on_each_thread(&|thread| {
                let Some(replica) = replicas.get(thread) else { return };
                let (index, part) = (thread as u32 / parts, thread as u32 % parts);
                let meeting = Some(&meetings[index as usize]);
                let mut member = Member { meeting, part, parts, complete: 0, row: 0 };
                let memory = (replica.get().cast(), commons[index as usize].get().cast());
                let watch = &watches[index as usize];
                // SAFETY: as above; the threads of a walk meet in `member`.
                unsafe { body(&mut member, (tables, watch), (rules, layout), (&bank.get(), index), memory) };
            });
            Ok(watches.iter().map(Watch::is_cut).collect())
        }
    }
}

/// Returns the spec with at most this many threads per walk: the available ones.
fn spec_within(spec: &WalksSpec, most: u32) -> WalksSpec {
    let asked =
        spec.shape.map(|shape| AskedShape { parts: shape.parts.map(|parts| parts.min(most)), ..shape });
    WalksSpec { shape: asked, ..spec.clone() }
}

/// Returns the states of this many walks that have not started: each starts with a random solution.
pub fn fresh(walks: u32) -> Vec<WalkState> {
    vec![WalkState { fresh: 1, ..WalkState::default() }; walks as usize]
}

impl<E: Plain + Default + Send + Sync> Walks<E> for CpuWalks<'_, E> {
    fn run(&mut self, rules: &WalkRules, enough: Enough) -> Result<&[WalkState], BackendError> {
        let mut rules = *rules;
        let end = rules.end;
        while let Some(now) = now(&self.states[0]).filter(|&now| now < end) {
            let trial = self.tuner.next(now, end);
            rules.end = trial.end;
            let begin = Instant::now();
            let is_complete = self.batch(&rules, trial.shape, enough)?;
            self.states.reverse();
            self.bests.reverse();
            if !is_complete {
                break;
            }
            self.tuner.took(trial, begin.elapsed(), trial.end - now);
            // Rivals compare only once.
            rules.rival_bit = 0;
        }
        Ok(&self.states[0])
    }

    fn save(&mut self, state: &mut State) -> Result<(), BackendError> {
        let accepted: &[E] = if self.spec.strategy.accepts_optima() { &self.accepted } else { &[] };
        save_walks(state, &self.states[0], [&self.bests[0], &self.solutions, accepted], &self.traces)
    }

    fn restore(&mut self, saved: SavedWalks<E>) -> Result<(), BackendError> {
        self.states[0] = saved.states;
        (self.bests[0], self.solutions, self.traces) = (saved.bests, saved.solutions, saved.traces);
        if !saved.accepted.is_empty() {
            self.accepted = saved.accepted;
        }
        Ok(())
    }

    fn best(&mut self, walk: u32) -> Result<Vec<E>, BackendError> {
        let n = self.bests[0].len() / self.spec.walks as usize;
        Ok(self.bests[0][walk as usize * n..][..n].to_vec())
    }

    fn describe(&self) -> String {
        format!(
            "{}, {} per walk ({} trials), {} B per replica",
            counted(self.spec.walks as usize, "walk"),
            match self.tuner.best().parts {
                1 => "a thread".to_string(),
                parts => format!("{parts} threads"),
            },
            self.tuner.trials(),
            self.layout.bytes,
        )
    }
}

/// Evaluates neighbours on one thread.
pub struct CpuNeighbors<'p, E> {
    tables: &'p Tables,
    body: EvaluateBody<E>,
    layout: Layout,
    replica: Vec<Unit>,
    common: Vec<Unit>,
    costs: Vec<u64>,
    time: Duration,
}

impl<'p, E> CpuNeighbors<'p, E> {
    /// Allocates the memory. The tables must be of problem `P`.
    ///
    /// # Errors
    /// If a replica would take 4 GiB or more, or memory is short.
    pub fn new<P: OnThreads<Moves: Neighborhood<Element = E>>>(
        tables: &'p Tables,
        spec: &WalksSpec,
    ) -> Result<Self, BackendError> {
        let Outline { layout, neighbors, common, .. } = Outline::of::<P>(tables, spec)?;
        let units = |bytes: usize| allocate("the neighbours", bytes.div_ceil(size_of::<Unit>()).max(1));
        Ok(CpuNeighbors {
            tables,
            body: P::bodies().evaluate,
            layout,
            replica: units(layout.bytes as usize)?,
            common: units(common)?,
            costs: allocate("the neighbours' costs", neighbors as usize + 1)?,
            time: Duration::ZERO,
        })
    }
}

impl<E> Neighbors<E> for CpuNeighbors<'_, E> {
    fn costs(
        &mut self,
        solution: &[E],
        given: &[E],
        rules: &WalkRules,
        enough: Enough,
    ) -> Result<Option<&[u64]>, BackendError> {
        let begin = Instant::now();
        let watch = Watch::new(enough);
        let memory = (self.replica.as_mut_ptr().cast(), self.common.as_mut_ptr().cast());
        let costs = self.costs.as_mut_ptr();
        let given = if given.is_empty() { std::ptr::null() } else { given.as_ptr() };
        let solutions = (solution.as_ptr(), given);
        // SAFETY: `new` made the arrays for this problem; whoever gives neighbours gives all of them.
        unsafe { (self.body)((self.tables, &watch), (rules, &self.layout), solutions, memory, costs) };
        self.time += begin.elapsed();
        Ok(watch.kept(&self.costs[..]))
    }

    fn phases(&self) -> (Duration, Duration) {
        (Duration::ZERO, self.time)
    }

    fn describe(&self) -> String {
        "one thread evaluates, the host chooses".to_string()
    }
}
