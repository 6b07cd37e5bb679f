//! Walks of neighbourhood search on a backend, and their parameters.

use std::time::Duration;

use antwarp_core::papers::neighborhood::Neighborhood;
use antwarp_core::papers::problem::{Problem, Shape};
use antwarp_core::papers::search::{Layout, Strategy, WalkRules, WalkState};
use serde::{Deserialize, Serialize};

use crate::{BackendError, Enough, Plain, Reported, State};

/// The requirements on a problem's elements and costs to be searched on all backends.
pub trait Searchable:
    Problem<Moves: Neighborhood<Element: Plain + Default + Send + Sync>, Cost: Reported> + 'static
{
}
impl<P> Searchable for P where
    P: Problem<Moves: Neighborhood<Element: Plain + Default + Send + Sync>, Cost: Reported> + 'static
{
}

/// Numbers of teams and threads requested by the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedShape {
    /// Blocks, or CPU threads, per walk; 1 if not given.
    pub parts: Option<u32>,
    /// Threads per block; as many as possible if not given.
    pub threads: Option<u32>,
}

/// Everything a backend needs to know about walks.
#[derive(Clone, Debug)]
pub struct WalksSpec {
    /// Which neighbour they move to.
    pub strategy: Strategy,
    /// Whether descents move to the first better one.
    pub first: bool,
    /// Number of walks.
    pub walks: u32,
    /// Numbers of threads, if requested.
    pub shape: Option<AskedShape>,
    /// Whether to measure again how many threads are best.
    pub retune: bool,
    /// Whether to try all numbers of threads.
    pub retune_all: bool,
}

impl WalksSpec {
    /// Returns whether walks have tabu lists.
    pub fn uses_traces(&self) -> bool {
        self.strategy == Strategy::Tabu
    }
}

/// Appends walks to a state, as [`SavedWalks::take`] takes them: their states; the elements of best solutions, solutions, and
/// accepted local optima if there are any; the tabu lists.
///
/// # Errors
/// If memory is short.
pub fn save_walks<T: Plain>(
    state: &mut State,
    states: &[WalkState],
    elements: [&[T]; 3],
    traces: &[u32],
) -> Result<(), BackendError> {
    state.put(states)?;
    elements.into_iter().try_for_each(|elements| state.put(elements))?;
    state.put(traces)
}

/// The walks in a checkpoint. Every array is in the order of the walks.
pub struct SavedWalks<E> {
    /// One state per walk.
    pub states: Vec<WalkState>,
    /// The best solutions of all walks, concatenated.
    pub bests: Vec<E>,
    /// The solutions where the walks are, concatenated.
    pub solutions: Vec<E>,
    /// The accepted local optima of all walks, concatenated; empty unless the strategy accepts local optima.
    pub accepted: Vec<E>,
    /// The tabu lists of all walks, concatenated; empty if walks have none.
    pub traces: Vec<u32>,
}

impl<E: Plain + Default> SavedWalks<E> {
    /// Takes them from a state: walks of the spec, with solutions of these moves.
    ///
    /// # Errors
    /// If it is not one of such walks, or memory is short.
    pub fn take(
        state: &mut State,
        spec: &WalksSpec,
        moves: &impl Neighborhood<Element = E>,
    ) -> Result<SavedWalks<E>, BackendError> {
        let n = moves.elements() as usize;
        let list = if spec.uses_traces() { moves.traces() as usize } else { 0 };
        let are_solutions =
            |elements: &[E]| elements.chunks(n).all(|solution| moves.is_solution(solution, &mut vec![0; n]));
        let walks = spec.walks as usize;
        let mut states = vec![WalkState::default(); walks];
        state.copy_to(&mut states)?;
        let (bests, solutions) = (state.take_all(walks * n)?, state.take_all(walks * n)?);
        let accepted: Vec<E> = state.take_all(if spec.strategy.accepts_optima() { walks * n } else { 0 })?;
        let traces = state.take_all(walks * list)?;
        let are_begun = states.iter().all(|state| state.fresh == 0);
        if are_begun && [&bests, &solutions, &accepted].into_iter().all(|all| are_solutions(all)) {
            Ok(SavedWalks { states, bests, solutions, accepted, traces })
        } else {
            Err(BackendError::State)
        }
    }
}

/// An instance in the form taken by [`Problem::new`].
pub struct Tables {
    /// Its numbers.
    pub shape: Shape,
    /// Its tables, aligned to 16 bytes.
    words: Vec<u128>,
    len: usize,
}

impl Tables {
    /// Packs the tables in order, each aligned to 16 bytes.
    pub fn new(shape: Shape, tables: &[&[u8]]) -> Tables {
        let len = tables.iter().map(|table| table.len().next_multiple_of(16)).sum::<usize>();
        let mut words = vec![0u128; len / 16];
        // SAFETY: the words consist of exactly this many bytes.
        let mut bytes = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), len) };
        for table in tables {
            let (place, rest) = bytes.split_at_mut(table.len().next_multiple_of(16));
            place[..table.len()].copy_from_slice(table);
            bytes = rest;
        }
        Tables { shape, words, len }
    }

    /// Returns the bytes of the tables.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the words consist of exactly this many bytes.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.len) }
    }

    /// Returns the problem, for code on the CPU. It must be the one for which the tables were made.
    pub fn problem<P: Problem>(&self) -> P {
        // SAFETY: the tables have the form that the problems require, and outlive the problem.
        unsafe { P::new(&self.shape, self.words.as_ptr().cast()) }
    }
}

/// The properties of a problem that determine the memory of its walks. With this, the code that launches walks is compiled once per
/// element type and not per problem.
#[derive(Clone, Copy, Debug)]
pub struct Outline {
    /// The name of the problem: [`Problem::NAME`].
    pub name: &'static str,
    /// Where the parts of a replica are.
    pub layout: Layout,
    /// Number of neighbours of a solution.
    pub neighbors: u64,
    /// Number of elements of a solution.
    pub elements: usize,
    /// Length of a walk's tabu list; 0 if walks have none.
    pub traces: usize,
    /// Number of bytes that the teams of a walk share.
    pub common: usize,
}

impl Outline {
    /// Returns the outline of a problem for walks of this kind.
    ///
    /// # Errors
    /// If a replica would take 4 GiB or more.
    pub fn of<P: Problem>(tables: &Tables, spec: &WalksSpec) -> Result<Outline, BackendError> {
        let problem: P = tables.problem();
        let moves = problem.moves();
        Ok(Outline {
            name: P::NAME,
            layout: Layout::new(&problem, spec.strategy).ok_or(BackendError::Replica)?,
            neighbors: moves.len(),
            elements: moves.elements() as usize,
            traces: if spec.uses_traces() { moves.traces() as usize } else { 0 },
            common: problem.common(),
        })
    }
}

/// Walks of neighbourhood search on a backend.
pub trait Walks<E> {
    /// Runs a batch of iterations of every walk; returns their states afterwards.
    ///
    /// If a batch can take long, `enough` is regularly asked whether to stop it early. A walk whose batch was stopped early has the
    /// same state and best solution as before the batch, and cannot continue.
    ///
    /// # Errors
    /// If the backend fails. The walks are then lost.
    fn run(&mut self, rules: &WalkRules, enough: Enough) -> Result<&[WalkState], BackendError>;

    /// Appends the walks to a state, after a whole batch: their states, best solutions, solutions, accepted local optima and tabu
    /// lists.
    ///
    /// # Errors
    /// If memory is short, or they cannot be copied from the device.
    fn save(&mut self, state: &mut State) -> Result<(), BackendError>;

    /// Continues with walks of the same spec and problem, before the first batch.
    ///
    /// # Errors
    /// If they cannot be copied to the device.
    fn restore(&mut self, saved: SavedWalks<E>) -> Result<(), BackendError>;

    /// Returns the best solution of a walk so far.
    ///
    /// # Errors
    /// If it cannot be copied from the device.
    ///
    /// # Panics
    /// If there is no such walk.
    fn best(&mut self, walk: u32) -> Result<Vec<E>, BackendError>;

    /// Describes how the walks were laid out.
    fn describe(&self) -> String;
}

/// Evaluates the neighbours of solutions that come from the host, and returns their costs.
pub trait Neighbors<E> {
    /// Returns the bits of the cost of each neighbour of a solution, followed by those of its own cost. Only the seed and the end
    /// of `rules` are used: random neighbours are those of that iteration. `given` has all neighbours in order, element by element,
    /// if the host has generated them; otherwise it is empty. `None` if `enough` asked to stop before all were evaluated.
    ///
    /// # Errors
    /// If the backend fails.
    fn costs(
        &mut self,
        solution: &[E],
        given: &[E],
        rules: &WalkRules,
        enough: Enough,
    ) -> Result<Option<&[u64]>, BackendError>;

    /// Returns the time spent in copies to and from the device, and in kernels.
    fn phases(&self) -> (Duration, Duration);

    /// Describes how the work was laid out.
    fn describe(&self) -> String;
}
