//! Iterated local search (Fosin et al. 2013): settings, and the loop around a backend's chains.
//!
//! A chain is a tour that is kicked by double bridges and repaired by local search. Its nodes are worked on in tiles
//! that are improved at the same time, cut anew in every round; what is at a tile's border in one round is inside in
//! another. The temperature of the annealing rule falls with the time or the iterations that are left.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use antwarp_core::local_search::chain::{self, Accept};
use antwarp_core::local_search::chains::ChainsState;
use antwarp_core::local_search::tile::part;
use antwarp_core::rng::Stream;
use serde::{Deserialize, Serialize};

use super::local_search::{LocalSearch, MOST_NEIGHBORS};
use super::problem::Problem;
use super::start::{self, Start};
use super::stop::{Stop, StopReason};
use super::{Progress, Solution, SolveError, cells, descent, exhaustive, verified, whole};
use crate::backend::{Backend, Chains};
use crate::instance::{Instance, NeighborLists, nearest, quadrant};

/// When a tour after a kick takes the place of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Acceptance {
    /// If it is shorter
    Better,
    /// If it is not longer
    BetterOrEqual,
    /// Always; the best tour of a round is what the next one begins with
    Always,
    /// If it is not much longer: less and less so as the run goes on
    #[default]
    Annealing,
}

impl From<Acceptance> for Accept {
    fn from(acceptance: Acceptance) -> Accept {
        match acceptance {
            Acceptance::Better => Accept::Better,
            Acceptance::BetterOrEqual => Accept::BetterOrEqual,
            Acceptance::Always => Accept::Always,
            Acceptance::Annealing => Accept::Annealing,
        }
    }
}

/// Which improving move is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Improvement {
    /// The best around the first node that has one; in tiles
    #[default]
    First,
    /// The best of the whole tour
    Best,
}

/// How many moves of the whole tour are made at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Moves {
    /// All that are better than what they would meet
    #[default]
    Many,
    /// The best one
    One,
}

/// Which neighbours a node's list holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbors {
    /// The nearest
    Nearest,
    /// The nearest in each quadrant around it
    #[default]
    Quadrant,
}

/// What a user can set. `None` means: choose for me.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// The operator.
    pub local_search: LocalSearch,
    /// Neighbours of a node.
    pub neighbors: u32,
    /// Which neighbours.
    pub neighbor_lists: Neighbors,
    /// Neighbours that the second step of a move looks at.
    pub breadth: u32,
    /// The start tour; a file's tour goes before it.
    pub start: Start,
    /// Longest segment of a double bridge; 0: four edges anywhere.
    pub segment: u32,
    /// When a tour is accepted.
    pub accept: Acceptance,
    /// Temperature at the start of annealing, in mean edges of the start tour.
    pub temperature: f32,
    /// Tours that are worked on at the same time.
    pub chains: Option<u32>,
    /// Nodes of a tile.
    pub tile: Option<u32>,
    /// Nodes that a descent looks at together: on a GPU, warps of a tile.
    pub width: Option<u32>,
    /// Which improving move is made. With the best of all there is one chain, without tiles.
    pub improvement: Improvement,
    /// How many moves are made at a time, if the best of all is looked for.
    pub moves: Moves,
    /// No kicks: the first local optimum ends the run.
    pub descent_only: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 1,
            local_search: LocalSearch::default(),
            neighbors: 12,
            neighbor_lists: Neighbors::default(),
            breadth: 5,
            start: Start::default(),
            segment: 50,
            accept: Acceptance::default(),
            temperature: 0.7,
            chains: None,
            tile: None,
            width: None,
            improvement: Improvement::default(),
            moves: Moves::default(),
            descent_only: false,
        }
    }
}

/// Fewest and most nodes of a tile that a user may ask for; ids of a tile have 16 bits.
const TILE: std::ops::RangeInclusive<u32> = 16..=32_768;
/// Nodes that a descent may look at together.
const WIDTH: std::ops::RangeInclusive<u32> = 1..=4;
/// Most chains.
const MOST_CHAINS: u32 = 1 << 16;

impl Settings {
    /// Checks every setting's range.
    ///
    /// # Errors
    /// What is out of its range.
    pub fn check(&self) -> Result<(), SolveError> {
        let fail = |what: String| Err(SolveError::Settings(what));
        if self.local_search == LocalSearch::None {
            return fail(
                "ils needs a local search: --local-search two-opt, or-opt, or-2opt or three-opt".into(),
            );
        }
        if self.neighbors == 0 || self.neighbors > MOST_NEIGHBORS {
            return fail(format!("--neighbors must be 1 to {MOST_NEIGHBORS}"));
        }
        if self.breadth == 0 || self.breadth > MOST_NEIGHBORS {
            return fail(format!("--breadth must be 1 to {MOST_NEIGHBORS}"));
        }
        if !(self.temperature >= 0.0 && self.temperature <= 1000.0) {
            return fail("--temperature must be 0 to 1000 mean edges".into());
        }
        if self.chains.is_some_and(|c| c == 0 || c > MOST_CHAINS) {
            return fail(format!("--chains must be 1 to {MOST_CHAINS}"));
        }
        if self.width.is_some_and(|w| !WIDTH.contains(&w)) {
            return fail(format!("--width must be {} to {}", WIDTH.start(), WIDTH.end()));
        }
        if self.tile.is_some_and(|t| !TILE.contains(&t)) {
            return fail(format!("--tile must be {} to {} nodes", TILE.start(), TILE.end()));
        }
        Ok(())
    }
}

/// Everything a backend needs to know about the chains of a run.
#[derive(Clone, Debug)]
pub struct ChainsSpec {
    /// Seed of the run.
    pub seed: u64,
    /// The operator.
    pub local_search: LocalSearch,
    /// Number of chains.
    pub chains: u32,
    /// Tiles of a chain.
    pub tiles: u32,
    /// Nodes that a descent looks at together.
    pub width: u32,
    /// Neighbours that the second step of a move looks at.
    pub breadth: u32,
    /// Longest segment of a double bridge; 0: four edges anywhere.
    pub segment: u32,
    /// When a tour is accepted.
    pub accept: Accept,
    /// Stop once a tour is not longer than this.
    pub target: i64,
    /// Length of the tour that every chain begins with: that of the problem's numbering.
    pub start_cost: i64,
    /// Partitions into cells, [`cells::partition`]; none where nodes have no places in a plane.
    pub cells: Vec<Vec<u32>>,
}

/// One pass over all tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Its number, from 0.
    pub number: u32,
    /// Kicks of every tile.
    pub kicks: u32,
    /// Mean of what a tour may get longer.
    pub temperature: f32,
    /// The tiles: cells of this partition, or windows from this position on.
    pub tiles: Tiling,
    /// A descent from every node comes first.
    pub descend_first: bool,
    /// Chains whose numbers differ by this bit meet in a tournament afterwards; 0: none do.
    pub rival_bit: u32,
}

/// How a tour is cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// Nodes in a row, from this position on.
    Windows(u32),
    /// Nodes near each other, by the partition of this number.
    Cells(usize),
}

/// Partitions that rounds go through by turns.
const PARTITIONS: usize = 8;
/// Rounds at the start whose tiles begin with a descent from every node.
const DESCENTS: u32 = 2 * PARTITIONS as u32 + 2;
/// Rounds between two tournaments.
const TOURNAMENT: u32 = 8;

/// Solves an instance, from `initial` on if it is given: a tour in the instance's numbering. `observe` is called
/// after each batch of rounds.
///
/// # Errors
/// If a setting is out of range, the instance is of a kind that local search cannot improve, the initial tour is none,
/// or the backend fails at the start. A failure after that ends the run early and is told in the solution.
pub fn solve(
    instance: &Instance,
    settings: &Settings,
    initial: Option<&[u32]>,
    backend: &Backend,
    stop: &Stop,
    observe: &mut dyn FnMut(&Progress),
) -> Result<Solution, SolveError> {
    let begin = Instant::now();
    settings.check()?;
    super::check_kind(instance, "iterated local search")?;
    if instance.len() < chain::FEWEST as usize {
        return exhaustive(instance, begin);
    }
    let k = (settings.neighbors as usize).min(instance.len() - 1);
    let near = match settings.neighbor_lists {
        Neighbors::Nearest => nearest(instance, k),
        Neighbors::Quadrant => quadrant(instance, k),
    };
    let start = match initial {
        Some(tour) => tour.to_vec(),
        None => start::tour(instance, settings.start, &near, settings.seed),
    };
    let start_cost =
        instance.check_tour(&start).map_err(|e| SolveError::Settings(format!("--initial-tour: {e}")))?;
    let problem = Problem::for_search(instance, &near, start);
    let name = backend.machine().backend;
    if settings.improvement == Improvement::Best {
        let run = descent::Run { begin, settings, stop, observe };
        return run.solve(&problem, backend, start_cost)?.finish(begin, instance, &problem, name);
    }
    let (problem, start_cost) =
        descended(instance, &near, problem, start_cost, settings, backend, initial.is_some());
    let spec = spec(&problem, settings, backend, stop, start_cost);
    let mut chains = backend.chains(&problem, &spec)?;
    let mut run = Run {
        begin,
        setup: begin.elapsed(),
        mean_edge: start_cost as f32 / problem.n() as f32,
        temperature: settings.temperature,
        annealing: settings.accept == Acceptance::Annealing,
        descent_only: settings.descent_only,
        seed: settings.seed,
        n: problem.n(),
        chains: spec.chains,
        tiles: spec.tiles,
        partitions: spec.cells.len(),
        state: ChainsState::new(start_cost),
        round: 0,
        kicks: 0,
        best_kicks: 0,
        kept: None,
        failure: None,
    };
    let stopped_by = match run.go(chains.as_mut(), stop, observe) {
        Ok(reason) => reason,
        Err(failure) => {
            run.failure = Some(failure.to_string());
            StopReason::Failure
        }
    };
    run.end(chains.as_mut(), stopped_by)?.finish(begin, instance, &problem, name)
}

/// Nodes up to which a random start tour is improved as a whole.
const RANDOM_START: u32 = 20_000;

/// The problem along its tour after a descent of the whole, where chains would begin with tiles.
fn descended(
    instance: &Instance,
    near: &NeighborLists,
    problem: Problem,
    cost: i64,
    settings: &Settings,
    backend: &Backend,
    given: bool,
) -> (Problem, i64) {
    let (tiles, _) = layout(&problem, settings, backend);
    // From a random tour long ways are reversed at every step.
    let too_long = settings.start == Start::Random && !given && problem.n() > RANDOM_START;
    if tiles == 1 || too_long {
        return (problem, cost);
    }
    let (tour, gained) =
        whole::descend(&problem, settings.local_search, settings.breadth.min(problem.search_k()));
    (Problem::for_search(instance, near, problem.original(&tour)), cost - gained)
}

/// Tiles of a chain, and chains.
fn layout(problem: &Problem, settings: &Settings, backend: &Backend) -> (u32, u32) {
    match settings.tile {
        Some(nodes) => (problem.n().div_ceil(nodes), 1),
        None => backend.default_chains(problem),
    }
}

/// The layout of the chains for a problem.
fn spec(
    problem: &Problem,
    settings: &Settings,
    backend: &Backend,
    stop: &Stop,
    start_cost: i64,
) -> ChainsSpec {
    let (tiles, chains) = layout(problem, settings, backend);
    let planar = problem.metric().is_some_and(|m| m.is_planar());
    let partitions = if tiles > 1 && planar { PARTITIONS } else { 0 };
    // Any angles do that leave no two partitions, nor their quarter turns, close to each other.
    let cells =
        (0..partitions).map(|i| cells::partition(problem.points(), tiles, i as f64 * 0.618)).collect();
    ChainsSpec {
        seed: settings.seed,
        local_search: settings.local_search,
        // Without kicks all chains would do the same.
        chains: if settings.descent_only { 1 } else { settings.chains.unwrap_or(chains) },
        tiles,
        width: settings.width.unwrap_or_else(|| backend.default_width()),
        breadth: settings.breadth.min(problem.search_k()),
        segment: settings.segment,
        accept: settings.accept.into(),
        target: stop.target.unwrap_or(i64::MIN),
        start_cost,
        cells,
    }
}

/// How long a batch of rounds should take: short enough to react, long enough to keep a GPU busy.
const BATCH: Duration = Duration::from_millis(100);
/// How often an improved tour is brought back, so that little is lost if the device fails.
pub(super) const KEEP_EVERY: Duration = Duration::from_secs(5);

struct Run {
    begin: Instant,
    setup: Duration,
    mean_edge: f32,
    temperature: f32,
    annealing: bool,
    descent_only: bool,
    seed: u64,
    n: u32,
    chains: u32,
    tiles: u32,
    partitions: usize,
    state: ChainsState,
    round: u32,
    /// Kicks of each chain so far.
    kicks: u64,
    /// And at the end of the round that found the best tour.
    best_kicks: u64,
    /// The best tour brought back so far: what is left if the backend fails.
    kept: Option<(i64, Vec<u32>)>,
    failure: Option<String>,
}

/// How much of a run is done, from 0 to 1, where something tells.
pub(super) fn progress(stop: &Stop, begin: Instant, setup: Duration, kicks: u64) -> f32 {
    let time = stop.time.map(|t| {
        let searching = t.saturating_sub(setup).as_secs_f64().max(1e-9);
        (begin.elapsed().saturating_sub(setup).as_secs_f64() / searching) as f32
    });
    let kicks = stop.iterations.map(|i| kicks as f32 / i as f32);
    // Without an end there is nothing to cool down towards.
    time.into_iter()
        .chain(kicks)
        .fold(None, |most: Option<f32>, p| Some(most.map_or(p, |m| m.max(p))))
        .unwrap_or(1.0)
}

impl Run {
    /// Rounds that cut the tour in every way there is.
    fn cycle(&self) -> u32 {
        if self.tiles == 1 { 1 } else { 2 * PARTITIONS as u32 }
    }

    /// The next round: windows and cells by turns, with as many kicks as nodes unless fewer are left.
    fn next_round(&mut self, progress: f32, left: u64) -> Round {
        let number = self.round;
        let windows = self.partitions == 0 || number.is_multiple_of(2);
        let offset = Stream::new(self.seed, number, u32::MAX).step(0).below(0, self.n);
        let most = if self.descent_only { 0 } else { u64::from(part(self.n, self.tiles, 0).1.max(1)) };
        let kicks = left.div_ceil(u64::from(self.tiles)).min(most) as u32;
        let bits = 32 - (self.chains - 1).leading_zeros();
        let tournament = self.chains > 1 && number % TOURNAMENT == TOURNAMENT - 1;
        self.round += 1;
        self.kicks += u64::from(kicks) * u64::from(self.tiles);
        Round {
            number,
            kicks,
            temperature: if self.annealing {
                self.temperature * self.mean_edge * (1.0 - progress).max(0.0)
            } else {
                0.0
            },
            tiles: if windows {
                Tiling::Windows(if self.tiles == 1 { 0 } else { offset })
            } else {
                Tiling::Cells((number / 2) as usize % self.partitions)
            },
            descend_first: self.descent_only || number < if self.tiles == 1 { 1 } else { DESCENTS },
            rival_bit: if tournament { 1 << (number / TOURNAMENT % bits) } else { 0 },
        }
    }

    fn go(
        &mut self,
        chains: &mut dyn Chains,
        stop: &Stop,
        observe: &mut dyn FnMut(&Progress),
    ) -> Result<StopReason, SolveError> {
        let mut batch = 1u64;
        let mut kept_at = Instant::now();
        loop {
            let elapsed = self.begin.elapsed();
            if let Some(reason) = stop.reason(elapsed, self.kicks, self.best_kicks, self.state.best_cost) {
                return Ok(reason);
            }
            if self.descent_only && self.state.rounds - self.state.best_round >= self.cycle() {
                return Ok(StopReason::LocalOptimum);
            }
            let mut kicks = self.kicks;
            let mut rounds = Vec::new();
            while (rounds.len() as u64) < batch {
                let left = stop.iterations.map_or(u64::MAX, |i| i.saturating_sub(self.kicks));
                if left == 0 {
                    break;
                }
                rounds.push(self.next_round(progress(stop, self.begin, self.setup, self.kicks), left));
            }
            let before = Instant::now();
            let begin = self.begin;
            let late = || stop.time.is_some_and(|t| begin.elapsed() >= t);
            let state = chains.run(&rounds, &|| late() || stop.interrupt.load(Ordering::Relaxed))?;
            let left = stop.time.map(|t| t.saturating_sub(self.begin.elapsed()));
            batch = next_batch(rounds.len() as u64, before.elapsed(), left);
            // The backend may have ended before the last of these rounds, or within it.
            for round in rounds.iter().filter(|round| round.number < state.rounds) {
                kicks += u64::from(round.kicks) * u64::from(self.tiles);
                if round.number + 1 == state.best_round {
                    self.best_kicks = kicks;
                }
            }
            self.kicks = kicks.saturating_sub(chains.kicks_left_out() / u64::from(self.chains));
            self.best_kicks = self.best_kicks.min(self.kicks);
            self.round = state.rounds;
            self.state = state;
            if kept_at.elapsed() >= KEEP_EVERY && self.kept.as_ref().is_none_or(|k| k.0 > state.best_cost) {
                self.kept = Some((state.best_cost, chains.best_tour()?));
                kept_at = Instant::now();
            }
            observe(&Progress {
                iterations: self.kicks,
                best_cost: state.best_cost,
                iteration_cost: state.round_cost,
                seconds: self.begin.elapsed().as_secs_f64(),
                tours: self.kicks * u64::from(self.chains),
            });
        }
    }

    fn end(mut self, chains: &mut dyn Chains, stopped_by: StopReason) -> Result<End, SolveError> {
        Ok(End {
            setup: self.setup,
            iterations: self.kicks,
            best_iteration: self.best_kicks,
            tours: self.kicks * u64::from(self.chains),
            stopped_by,
            layout: chains.describe(),
            found: match &self.failure {
                None => Some((self.state.best_cost, chains.best_tour()?)),
                Some(_) => self.kept.take(),
            },
            failure: self.failure,
        })
    }
}

/// What a run ends with.
pub(super) struct End {
    pub setup: Duration,
    pub iterations: u64,
    pub best_iteration: u64,
    pub tours: u64,
    pub stopped_by: StopReason,
    pub layout: String,
    /// The best tour in the problem's numbering, and its length as the backend says.
    pub found: Option<(i64, Vec<u32>)>,
    pub failure: Option<String>,
}

impl End {
    /// The solution: what was found if it is right, else the start tour.
    pub(super) fn finish(
        self,
        begin: Instant,
        instance: &Instance,
        problem: &Problem,
        backend: &'static str,
    ) -> Result<Solution, SolveError> {
        let mut solution = Solution {
            tour: problem.start_tour().to_vec(),
            cost: problem.unit_cost(),
            iterations: self.iterations,
            best_iteration: 0,
            seconds: 0.0,
            setup_seconds: self.setup.as_secs_f64(),
            tours: self.tours,
            stopped_by: self.stopped_by,
            layout: self.layout,
            failure: self.failure,
        };
        if let Some((cost, tour)) = self.found {
            let tour = super::checked_original(problem, &tour).ok_or(SolveError::Wrong {
                backend,
                what: "a tour with a node that does not exist".to_string(),
            })?;
            verified(instance, backend, &tour, cost)?;
            if cost <= solution.cost {
                solution = Solution { tour, cost, best_iteration: self.best_iteration, ..solution };
            }
        }
        solution.seconds = begin.elapsed().as_secs_f64();
        Ok(solution)
    }
}

/// The size of the next batch, given how long this one took and how much time is left.
pub(super) fn next_batch(batch: u64, took: Duration, left: Option<Duration>) -> u64 {
    let goal = left.map_or(BATCH, |l| l.min(BATCH)).as_secs_f64();
    let each = took.as_secs_f64() / batch.max(1) as f64;
    ((goal / each.max(1e-7)) as u64).clamp(1, batch.max(1) * 4)
}
