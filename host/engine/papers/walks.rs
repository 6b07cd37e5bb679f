//! Walks of neighbourhood search where they live, and what they need to know.

use std::time::Duration;

use antwarp_core::papers::neighborhood::Neighborhood;
use antwarp_core::papers::problem::{Problem, Shape};
use antwarp_core::papers::search::{Layout, Strategy, WalkRules, WalkState};
use serde::{Deserialize, Serialize};

use crate::engine::{BackendError, Enough, Plain, Reported};

/// What a problem's elements and costs must be to be searched on all backends.
pub trait Searchable:
    Problem<Moves: Neighborhood<Element: Plain + Default + Send + Sync>, Cost: Reported> + 'static
{
}
impl<P> Searchable for P where
    P: Problem<Moves: Neighborhood<Element: Plain + Default + Send + Sync>, Cost: Reported> + 'static
{
}

/// Teams and threads that a user asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedShape {
    /// Blocks, or CPU threads, of a walk; 1 if not given.
    pub parts: Option<u32>,
    /// Threads of a block; as many as possible if not given.
    pub threads: Option<u32>,
}

/// Everything a backend needs to know about walks.
#[derive(Clone, Debug)]
pub struct WalksSpec {
    /// Which neighbour they go to.
    pub strategy: Strategy,
    /// Whether descents go to the first better one.
    pub first: bool,
    /// How many.
    pub walks: u32,
    /// How many threads, if that is asked for.
    pub shape: Option<AskedShape>,
    /// Try out again how many threads are best.
    pub retune: bool,
    /// Try out all of them.
    pub retune_all: bool,
}

impl WalksSpec {
    /// Whether walks have tabu lists.
    pub fn uses_traces(&self) -> bool {
        self.strategy == Strategy::Tabu
    }
}

/// An instance as [`Problem::new`] takes it.
pub struct Tables {
    /// Its numbers.
    pub shape: Shape,
    /// Its tables, at a 16-byte boundary.
    words: Vec<u128>,
    len: usize,
}

impl Tables {
    /// The tables in their order, each from a 16-byte boundary.
    pub fn new(shape: Shape, tables: &[&[u8]]) -> Tables {
        let len = tables.iter().map(|table| table.len().next_multiple_of(16)).sum::<usize>();
        let mut words = vec![0u128; len / 16];
        // SAFETY: words are bytes, and so many.
        let mut bytes = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), len) };
        for table in tables {
            let (place, rest) = bytes.split_at_mut(table.len().next_multiple_of(16));
            place[..table.len()].copy_from_slice(table);
            bytes = rest;
        }
        Tables { shape, words, len }
    }

    /// The tables.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: words are bytes, and so many.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.len) }
    }

    /// The problem, for code on the CPU. It must be the one that the tables were made for.
    pub fn problem<P: Problem>(&self) -> P {
        // SAFETY: the functions below make what the problems ask for; they live as long as the tables.
        unsafe { P::new(&self.shape, self.words.as_ptr().cast()) }
    }
}

/// What of a problem tells how much memory its walks take. With this, what launches walks is compiled once for each kind of element
/// and not for each problem.
#[derive(Clone, Copy, Debug)]
pub struct Outline {
    /// [`Problem::NAME`].
    pub name: &'static str,
    /// Where a replica's parts lie.
    pub layout: Layout,
    /// Number of a solution's neighbours.
    pub neighbors: u64,
    /// Elements of a solution.
    pub elements: usize,
    /// Length of a walk's tabu list; 0 where walks have none.
    pub traces: usize,
    /// Bytes that the teams of a walk share.
    pub common: usize,
}

impl Outline {
    /// The outline of a problem for walks of this kind.
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

/// Walks of neighbourhood search where they live.
pub trait Walks<E> {
    /// Runs a batch of iterations of every walk; their states afterwards.
    ///
    /// Where a batch can take long, `enough` is asked now and then whether to cut it short. A walk whose batch was cut short has
    /// the state and the best solution that it had before, and cannot go on.
    ///
    /// # Errors
    /// If the backend fails. The walks are lost then.
    fn run(&mut self, rules: &WalkRules, enough: Enough) -> Result<&[WalkState], BackendError>;

    /// The best solution of a walk so far.
    ///
    /// # Errors
    /// If it cannot be brought back from the device.
    ///
    /// # Panics
    /// If there is no such walk.
    fn best(&mut self, walk: u32) -> Result<Vec<E>, BackendError>;

    /// How the walks were laid out.
    fn describe(&self) -> String;
}

/// Looks at the neighbours of solutions that come from the host, and tells it their costs.
pub trait Neighbors<E> {
    /// The bits of the cost of each neighbour of a solution, and behind them those of its own. Of `rules`, the seed and the
    /// end count: random neighbours are those of that iteration. `given` has all neighbours in their order, element by element, if
    /// the host has made them; else it is empty. None if it was `enough` before all were looked at.
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

    /// Time spent in copies to and from the device, and in kernels.
    fn phases(&self) -> (Duration, Duration);

    /// How the work was laid out.
    fn describe(&self) -> String;
}
