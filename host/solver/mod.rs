//! Settings and plans: each algorithm's settings become an engine, which [`drive`](crate::engine::drive) runs.

pub mod archipelago;
pub mod bounds;
mod builder;
pub mod checkpoint;
pub mod cutting_planes;
pub mod exact;
mod forms;
mod haste;
mod island;
pub mod lin_kernighan;
pub mod many;
mod papers;
mod placement;
pub mod proof;
mod resolution;
pub mod resumed;
pub mod settings;
mod side_by_side;
mod target;

pub use builder::Solver;
pub use papers::{acs, genetic, ils, mmas, search};
pub use placement::{Placement, placement, placement_of_all};
pub use resolution::check_resolution;
pub use target::proven_optimum;

use std::time::{Duration, Instant};

use antwarp_core::rng::Stream;
use serde::Serialize;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::backend::Backend;
use crate::engine::{
    BackendError, Better, Deadline, LocalSearch, Lockstep, Observe, Post, Problem, Run, State, Stop,
    StopReason,
};
use crate::instance::{Instance, InstanceError};
use island::{Contact, Outside};
use papers::colony::check_local_search;
use settings::{Declaration, Settings};

/// The fewest nodes that an algorithm works on; fewer are solved exactly.
pub const FEWEST: usize = exact::FEW + 1;

/// How long the program, and the Python package, let a run or a search last that has no limit. The help says so, too.
pub const DEFAULT_TIME: Duration = Duration::from_secs(10);

/// The stream of random numbers for islands' seeds.
const ISLANDS: u32 = u32::MAX - 1;

/// An algorithm with its settings.
///
/// ```
/// use antwarp::prelude::*;
/// use antwarp::solver::ils::IlsSettings;
///
/// let places: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i * 37 % 101), f64::from(i * 61 % 97)]).collect();
/// let instance = Instance::euclidean(&places)?;
/// let settings = IlsSettings { neighbors: 8, ..IlsSettings::default() };
/// let stop = Stop { iterations: Some(100), ..Stop::never() };
/// let solution = Solver::default().algorithm(Algorithm::Ils(settings)).solve(&instance, stop)?;
/// assert_eq!(solution.tour.len(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Algorithm {
    /// Chained Lin-Kernighan, with crossing of several tours where it pays off.
    LinKernighan(lin_kernighan::LinKernighanSettings),
    /// Iterated local search.
    Ils(ils::IlsSettings),
    /// MAX-MIN Ant System.
    Mmas(mmas::MmasSettings),
    /// Ant Colony System.
    Acs(acs::AcsSettings),
    /// A genetic algorithm.
    Genetic(genetic::GeneticSettings),
}

/// Accesses what the settings of all algorithms have in common.
macro_rules! of_any {
    ($algorithm:expr, $settings:ident => $what:expr) => {
        match $algorithm {
            Algorithm::LinKernighan($settings) => $what,
            Algorithm::Ils($settings) => $what,
            Algorithm::Mmas($settings) => $what,
            Algorithm::Acs($settings) => $what,
            Algorithm::Genetic($settings) => $what,
        }
    };
}

impl Default for Algorithm {
    /// Returns chained Lin-Kernighan with default settings.
    fn default() -> Algorithm {
        Algorithm::LinKernighan(Default::default())
    }
}

impl Algorithm {
    /// The declarations of all algorithms, in the order of the variants.
    pub const ALL: [Declaration; 5] = [
        lin_kernighan::LinKernighanSettings::DECLARATION,
        ils::IlsSettings::DECLARATION,
        mmas::MmasSettings::DECLARATION,
        acs::AcsSettings::DECLARATION,
        genetic::GeneticSettings::DECLARATION,
    ];

    /// Returns its declaration: its name, and its settings with their defaults and ranges.
    pub fn declaration(&self) -> Declaration {
        fn of<S: Settings>(_: &S) -> Declaration {
            S::DECLARATION
        }
        of_any!(self, settings => of(settings))
    }

    /// Makes the algorithm of a declaration from the given settings; the others have their defaults.
    ///
    /// # Errors
    /// The name that is no algorithm or no setting, or whose value is of another kind.
    pub fn read(declaration: &Declaration, given: &Map<String, Value>) -> Result<Algorithm, String> {
        let defaults = [
            Algorithm::LinKernighan(Default::default()),
            Algorithm::Ils(Default::default()),
            Algorithm::Mmas(Default::default()),
            Algorithm::Acs(Default::default()),
            Algorithm::Genetic(Default::default()),
        ];
        let named = defaults.into_iter().find(|algorithm| algorithm.name() == declaration.name);
        let mut algorithm = named.ok_or_else(|| format!("there is no algorithm {}", declaration.name))?;
        of_any!(&mut algorithm, settings => *settings = settings::read(given)?);
        Ok(algorithm)
    }

    /// Returns the algorithm with this name and these settings, in the form in which they are written; `None` if there is no such
    /// algorithm, or the settings do not belong to it.
    pub fn of(name: &str, settings: &Value) -> Option<Algorithm> {
        let declaration = Algorithm::ALL.into_iter().find(|declaration| declaration.name == name)?;
        Algorithm::read(&declaration, settings.as_object()?).ok()
    }

    /// Returns its name, as on the command line.
    pub fn name(&self) -> &'static str {
        self.declaration().name
    }

    /// Returns the seed of all its random numbers.
    pub fn seed(&self) -> u64 {
        of_any!(self, settings => settings.seed)
    }

    /// Returns the same algorithm with another seed.
    pub fn seeded(mut self, seed: u64) -> Algorithm {
        of_any!(&mut self, settings => settings.seed = seed);
        self
    }

    /// Returns the same algorithm with the seed of one of several islands, which are counted from 0. The first one keeps the seed:
    /// it does what a single run does.
    pub fn of_island(self, island: u32) -> Algorithm {
        let draws = Stream::new(self.seed(), island, ISLANDS).step(0);
        let seed = u64::from(draws.bits(0)) << 32 | u64::from(draws.bits(1));
        if island == 0 { self } else { self.seeded(seed) }
    }

    /// Rejects settings that are out of range, or do not go together.
    ///
    /// # Errors
    /// The setting, and the possible values: [`SolveError::Settings`].
    pub fn check(&self) -> Result<(), SolveError> {
        of_any!(self, settings => settings.check())
    }

    /// Rejects settings that are out of range, and instances that cannot be solved with them.
    ///
    /// # Errors
    /// The problem, and the remedy.
    pub fn check_for(&self, instance: &Instance) -> Result<(), SolveError> {
        self.check()?;
        forms::check(self, instance)?;
        match self {
            Algorithm::LinKernighan(_) | Algorithm::Ils(_) => Ok(()),
            Algorithm::Mmas(_) => self.check_local_search(instance),
            Algorithm::Acs(settings) => {
                self.check_local_search(instance)?;
                settings.check_for(instance)
            }
            Algorithm::Genetic(settings) => genetic::check_for(instance, settings),
        }
    }

    /// Rejects a local search that does not suit an instance's edges.
    ///
    /// # Errors
    /// The local search to use instead.
    pub fn check_local_search(&self, instance: &Instance) -> Result<(), SolveError> {
        let (local_search, advice) = match self {
            Algorithm::LinKernighan(_) | Algorithm::Ils(_) => return Ok(()),
            Algorithm::Mmas(settings) => (settings.local_search, "or-3opt or none"),
            Algorithm::Acs(settings) => (settings.local_search, "or-3opt or none"),
            Algorithm::Genetic(settings) => (Some(settings.local_search), "none"),
        };
        local_search.map_or(Ok(()), |local_search| check_local_search(instance, local_search, advice))
    }

    /// Returns the fewest nodes that its engine builds tours of, then whether edges must be equally long in both directions.
    pub fn needs(&self) -> (usize, bool) {
        match self {
            Algorithm::LinKernighan(_) => (0, false),
            Algorithm::Ils(_) => (0, true),
            Algorithm::Mmas(_) | Algorithm::Acs(_) => (4, false),
            Algorithm::Genetic(settings) => (settings.fewest_nodes(), false),
        }
    }

    /// Returns whether a run starts from an initial tour if it is given one.
    pub fn takes_initial_tour(&self) -> bool {
        match self {
            Algorithm::LinKernighan(_) | Algorithm::Ils(_) => true,
            // A genetic algorithm takes a population.
            Algorithm::Mmas(_) | Algorithm::Acs(_) | Algorithm::Genetic(_) => false,
        }
    }

    /// Returns whether a run can start from a population, and has one at its end.
    pub fn has_population(&self) -> bool {
        match self {
            Algorithm::Genetic(_) => true,
            Algorithm::LinKernighan(_) | Algorithm::Ils(_) | Algorithm::Mmas(_) | Algorithm::Acs(_) => false,
        }
    }

    /// Returns what [`Progress::tours`](crate::engine::Progress::tours) counts: kicks or tours.
    pub fn makes(&self) -> &'static str {
        match self {
            Algorithm::LinKernighan(_) | Algorithm::Ils(_) => "kicks",
            Algorithm::Mmas(_) | Algorithm::Acs(_) | Algorithm::Genetic(_) => "tours",
        }
    }

    /// Returns whether a run ends at its first local optimum.
    pub fn is_descent_only(&self) -> bool {
        match self {
            Algorithm::LinKernighan(settings) => settings.descent_only,
            Algorithm::Ils(settings) => settings.descent_only,
            Algorithm::Mmas(_) | Algorithm::Acs(_) | Algorithm::Genetic(_) => false,
        }
    }

    /// Returns the setting because of which it runs on CPU threads only, as in `` `crossover` eax ``; `None` if it runs on GPUs
    /// too.
    pub fn on_threads(&self) -> Option<&'static str> {
        let local_search = match self {
            Algorithm::LinKernighan(_) | Algorithm::Ils(_) => None,
            Algorithm::Mmas(settings) => settings.local_search,
            Algorithm::Acs(settings) => settings.local_search,
            Algorithm::Genetic(settings) => {
                return (settings.crossover == genetic::Crossover::Eax).then_some("`crossover` eax");
            }
        };
        (local_search == Some(LocalSearch::Lk)).then_some("`local_search` lk")
    }

    /// Returns whether one run makes use of several GPUs. With other algorithms each GPU has a run, and they exchange tours.
    fn shares_gpus(&self) -> bool {
        match self {
            Algorithm::LinKernighan(_) => true,
            Algorithm::Ils(settings) => settings.improvement == ils::Improvement::First,
            Algorithm::Mmas(_) | Algorithm::Acs(_) | Algorithm::Genetic(_) => false,
        }
    }

    /// Solves an instance; fewer than [`FEWEST`] nodes are solved exactly. `initial` holds the initial tours, concatenated, in the
    /// instance's numbering: one for local search, a population for a genetic algorithm whose settings ask for it, none for ants.
    /// `keep` is called with the population of a genetic algorithm, if there is one.
    ///
    /// # Errors
    /// As [`Algorithm::check_for`]; if the initial tour is invalid, or the backend fails before there is a tour. A later failure
    /// ends the run early and is reported in the solution.
    pub fn solve(
        &self,
        instance: &Instance,
        initial: Option<Vec<u32>>,
        (backend, stop): (&Backend, &Stop),
        observe: &mut dyn Observe,
        keep: Option<genetic::Keep<'_>>,
    ) -> Result<Solution, SolveError> {
        let each = backend.each_gpu();
        if !each.is_empty() && keep.is_none() && !self.shares_gpus() {
            let each: Vec<&Backend> = each.iter().collect();
            return archipelago::solve(self, instance, initial, &each, stop, observe);
        }
        let contact = Contact { observe, post: None, outside: Outside::default(), resumed: None };
        self.solve_in_contact(instance, initial, (backend, stop), contact, keep)
    }

    /// As [`Algorithm::solve`], as one of several runs that exchange tours through `post`, or share them [in
    /// lockstep](crate::engine::Lockstep). A run limited by a number of iterations takes in no tours, so that it is reproducible.
    /// It continues with a state of a [checkpoint](resumed::Runs::islands), if there is one.
    ///
    /// # Errors
    /// As [`Algorithm::solve`].
    pub fn solve_as_island(
        &self,
        instance: &Instance,
        (initial, resumed): (Option<Vec<u32>>, Option<State>),
        (backend, stop): (&Backend, &Stop),
        (observe, post): (&mut dyn Observe, &Post),
        keep: Option<genetic::Keep<'_>>,
    ) -> Result<Solution, SolveError> {
        let contact = Contact { observe, post: Some(post), outside: Outside::default(), resumed };
        let solved = self.solve_in_contact(instance, initial, (backend, stop), contact, keep);
        // Whether or not it ran in lockstep, no other run may wait for it.
        post.lockstep().into_iter().for_each(Lockstep::leave);
        solved
    }

    fn solve_in_contact(
        &self,
        instance: &Instance,
        initial: Option<Vec<u32>>,
        (backend, stop): (&Backend, &Stop),
        contact: Contact<'_>,
        keep: Option<genetic::Keep<'_>>,
    ) -> Result<Solution, SolveError> {
        let begin = Instant::now();
        self.check_for(instance)?;
        if let Some(tour) = initial.as_ref().filter(|_| self.takes_initial_tour()) {
            instance.check_tour(tour).map_err(|e| SolveError::Settings(format!("`initial_tour`: {e}")))?;
        }
        if let Some(solution) = solve_exactly(instance, begin)? {
            return Ok(solution);
        }
        let mut initial = initial;
        if let Some(form) = forms::thinned(self, instance, (initial.as_deref(), contact.resumed.as_ref())) {
            let Some(few) = solve_exactly(form.instance(), begin)? else {
                return forms::solve(
                    self,
                    (instance, &form),
                    initial,
                    (backend, stop),
                    contact,
                    (begin, keep),
                );
            };
            // Another tour of the instance may still be shorter, so the run goes on from this one.
            if initial.is_none() && contact.resumed.is_none() {
                initial = form.outward(&few.tour);
            }
        }
        if let Some(form) = forms::of(self, instance, &|| stop.is_over(begin))? {
            return forms::solve(self, (instance, &form), initial, (backend, stop), contact, (begin, keep));
        }
        let solved = match self {
            Algorithm::LinKernighan(settings) => {
                lin_kernighan::solve(instance, settings, initial.as_deref(), backend, stop, contact)
            }
            Algorithm::Ils(settings) => {
                ils::solve(instance, settings, initial.as_deref(), backend, stop, contact)
            }
            Algorithm::Mmas(settings) => mmas::solve(instance, settings, backend, stop, contact),
            Algorithm::Acs(settings) => acs::solve(instance, settings, backend, stop, contact),
            Algorithm::Genetic(settings) => {
                genetic::solve(instance, settings, initial, backend, stop, contact, keep)
            }
        };
        solved.map_err(|error| error.with_remedy(self.memory_remedy()))
    }

    /// Returns the settings to reduce if memory is short.
    fn memory_remedy(&self) -> &'static str {
        match self {
            Algorithm::Ils(settings) if settings.improvement == ils::Improvement::Best => {
                "shorter neighbour lists (`neighbors`)"
            }
            Algorithm::LinKernighan(_) | Algorithm::Ils(_) => {
                "fewer tours or kicks at a time (`chains`, `trials`), shorter neighbour lists (`neighbors`)"
            }
            Algorithm::Mmas(_) | Algorithm::Acs(_) => {
                "fewer ants (`ants`), shorter candidate lists (`candidates` 16)"
            }
            Algorithm::Genetic(_) => {
                "fewer individuals (`population`), shorter neighbour lists (`neighbors`)"
            }
        }
    }
}

/// The reason why a run could not give a tour.
#[derive(Debug, Error)]
pub enum SolveError {
    /// A setting or an initial tour is invalid, or does not go with the other settings, the instance or the machine; the text says
    /// what is wrong.
    #[error("{0}")]
    Settings(String),
    /// The algorithm cannot solve this kind of instance, or no tour has all of its fixed edges.
    #[error("{algorithm} cannot solve {instance}: {why}")]
    Unsupported {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The instance's name.
        instance: String,
        /// Why not.
        why: String,
    },
    /// No tour fits the instance: its ends, fixed edges and forbidden pairs contradict each other.
    #[error("{0}: {help}", help = .0.remedy())]
    Shape(#[from] InstanceError),
    /// The system cannot start a thread.
    #[error("cannot start a thread: {0}; raise the limits (`ulimit -u`, `ulimit -v`), or end other programs")]
    NoThread(String),
    /// The backend failed before there was a tour.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The backend failed after a tour was found. Only [`Solver::solve`] returns this: elsewhere the error is in
    /// [`Solution::failure`].
    #[error("{failure}\nThe best tour so far is kept.")]
    CutShort {
        /// What went wrong.
        failure: String,
        /// The best tour so far.
        best: Box<Solution>,
    },
    /// A backend returned an invalid tour, or one whose length differs from the reported one: a bug, or faulty hardware.
    #[error(
        "the {backend} backend returned a wrong result ({what}): a bug in antwarp, please report it, or a faulty machine"
    )]
    Wrong {
        /// `cpu` or `cuda`.
        backend: &'static str,
        /// What is wrong.
        what: String,
    },
}

impl SolveError {
    /// As [`BackendError::with_remedy`].
    #[must_use]
    pub(crate) fn with_remedy(self, remedy: &'static str) -> SolveError {
        match self {
            SolveError::Backend(error) => SolveError::Backend(error.with_remedy(remedy)),
            other => other,
        }
    }
}

/// The result of a run: a tour that was checked, and a cost recomputed from the instance.
#[derive(Clone, Debug, Serialize)]
pub struct Solution {
    /// The nodes, numbered from 0, in order.
    pub tour: Vec<u32>,
    /// Its internal cost; in the user's unit: [`Instance::tour_cost`].
    pub cost: i64,
    /// Iterations done; for `lk` and `ils`, kicks of each chain.
    pub iterations: u64,
    /// The iteration (from 1) that found the tour; 0 if it was found before the first one.
    pub best_iteration: u64,
    /// Seconds of the whole run, with its preparation and [`Stop::before`].
    pub seconds: f64,
    /// Seconds of preparation: neighbour lists, the start tour, the backend's buffers and kernels.
    pub setup_seconds: f64,
    /// Tours built; for `lk` and `ils`, kicks of all chains.
    pub tours: u64,
    /// Why the run ended.
    pub stopped_by: StopReason,
    /// How the backend was set up, in words for a report.
    pub layout: String,
    /// Every improved internal cost: when it was found, and by what.
    pub trace: Vec<Better>,
    /// The error, if one cut the run short and this is the best tour so far.
    pub failure: Option<String>,
}

impl Solution {
    /// Completes the result of a run: names the published optimum as what stopped it, if that is what it reached, and lets a closed
    /// tour start at this node.
    pub fn conclude(&mut self, instance: &Instance, start: Option<u32>) {
        let published = instance.best_known().filter(|known| known.proven);
        if self.stopped_by == StopReason::Target && published.is_some_and(|known| known.cost == self.cost) {
            self.stopped_by = StopReason::PublishedOptimum;
        }
        if let Some(start) = start.filter(|_| instance.ends().is_none()) {
            let at = self.tour.iter().position(|&node| node == start).unwrap_or(0);
            self.tour.rotate_left(at);
        }
    }

    /// Returns the result of a run: the tour found if it is valid and better, else the start tour. An invalid result is reported as
    /// a failure.
    fn of(
        run: Run<i64, Vec<u32>>,
        deadline: Deadline<'_>,
        instance: &Instance,
        problem: &Problem,
        backend: &Backend,
    ) -> Result<Solution, SolveError> {
        let backend = backend.machine().backend;
        let mut solution = Solution {
            tour: problem.start_tour().to_vec(),
            cost: problem.unit_cost(),
            iterations: run.status.iterations,
            best_iteration: 0,
            seconds: 0.0,
            setup_seconds: run.setup.as_secs_f64(),
            tours: run.status.tours,
            stopped_by: run.stopped_by,
            layout: run.layout,
            trace: run.trace,
            failure: run.failure.map(|failure| failure.to_string()),
        };
        if let Some((cost, tour)) = run.best {
            match right(instance, problem, backend, &tour, cost) {
                Ok(tour) if cost <= solution.cost => {
                    solution = Solution { tour, cost, best_iteration: run.status.best_iteration, ..solution };
                }
                // Every tour of the trace is longer than the start tour.
                Ok(_) => {
                    let seconds = solution.setup_seconds;
                    solution.trace = vec![Better { seconds, cost: solution.cost, part: "start" }];
                }
                Err(wrong) => {
                    // A trace of lengths that cannot be trusted is useless.
                    solution.trace.clear();
                    solution.stopped_by = StopReason::Failure;
                    solution.failure.get_or_insert(wrong.to_string());
                }
            }
        }
        solution.seconds = deadline.elapsed().as_secs_f64();
        Ok(solution)
    }
}

/// Returns whether an instance has so few nodes that it is solved exactly.
fn is_exact(instance: &Instance) -> bool {
    let is_shaped = instance.ends().is_some() || !instance.fixed_edges().is_empty();
    instance.len() <= if is_shaped { exact::FEW_OF_OTHERS } else { exact::FEW }
}

/// Returns the optimum of a few nodes; `None` if there are too many, so that an algorithm has to search for a tour.
///
/// # Errors
/// If no tour has all fixed edges, or the instance [contradicts itself](Instance::check_shape).
fn solve_exactly(instance: &Instance, begin: Instant) -> Result<Option<Solution>, SolveError> {
    if !is_exact(instance) {
        return Ok(None);
    }
    instance.check_shape()?;
    match exact::shortest(instance) {
        Some(tour) => Ok(Some(exact::solution(instance, tour, begin))),
        None => Err(SolveError::Unsupported {
            algorithm: "antwarp",
            instance: instance.name().to_string(),
            why: "no tour has all of its fixed edges".to_string(),
        }),
    }
}

/// Returns a backend's tour in the instance's numbering, if it is valid and has the reported length.
fn right(
    instance: &Instance,
    problem: &Problem,
    backend: &'static str,
    tour: &[u32],
    cost: i64,
) -> Result<Vec<u32>, SolveError> {
    let wrong = |what: String| SolveError::Wrong { backend, what };
    if tour.iter().any(|&node| node >= problem.n()) {
        return Err(wrong("a tour with a node that does not exist".to_string()));
    }
    let tour = problem.original(tour);
    let real = instance.check_tour(&tour).map_err(|error| wrong(error.to_string()))?;
    if real == cost { Ok(tour) } else { Err(wrong(format!("a tour of length {real} reported as {cost}"))) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::backend::Choice;
    use crate::engine::Progress;
    use crate::solver::papers::genetic::Crossover;

    /// Returns the length of the shortest tour (Held and Karp 1962).
    fn shortest(instance: &Instance) -> i64 {
        let n = instance.len() as u32;
        let length = |a: u32, b: u32| i64::from(instance.distance(a, b));
        let mut ways = std::collections::HashMap::from([((1_u32, 0_u32), 0_i64)]);
        for set in (1..1_u32 << n).step_by(2) {
            for last in (0..n).filter(|&last| set >> last & 1 == 1) {
                let Some(&way) = ways.get(&(set, last)) else { continue };
                for next in (0..n).filter(|&next| set >> next & 1 == 0) {
                    let longer = ways.entry((set | 1 << next, next)).or_insert(i64::MAX);
                    *longer = (*longer).min(way + length(last, next));
                }
            }
        }
        let ends = (0..n).filter_map(|last| Some(ways.get(&((1 << n) - 1, last))? + length(last, 0)));
        ends.min().unwrap()
    }

    fn all() -> Vec<Algorithm> {
        let genetic = |crossover| {
            Algorithm::Genetic(genetic::GeneticSettings { crossover, groups: 1, ..Default::default() })
        };
        let mut all = vec![
            Algorithm::LinKernighan(Default::default()),
            Algorithm::Ils(Default::default()),
            Algorithm::Ils(ils::IlsSettings { improvement: ils::Improvement::Best, ..Default::default() }),
            Algorithm::Mmas(Default::default()),
            Algorithm::Acs(Default::default()),
        ];
        all.extend([Crossover::Scx, Crossover::Hybrid, Crossover::Eax].map(genetic));
        all
    }

    #[test]
    fn remedies_for_short_memory_name_settings_of_the_algorithm() {
        for algorithm in all() {
            let declaration = algorithm.declaration();
            let remedy = algorithm.memory_remedy();
            // The parts at odd positions are between backticks: a setting, and perhaps its value.
            let named: Vec<_> = remedy.split('`').skip(1).step_by(2).collect();
            let is_setting = |name: &&str| declaration.setting(name.split(' ').next().unwrap()).is_some();
            assert!(!named.is_empty() && named.iter().all(is_setting), "{}: {remedy}", algorithm.name());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Weights that span the whole range, and weights of 0, lead ants astray.
        #[test]
        fn a_few_nodes_are_always_solved(
            n in 1_usize..8,
            weights in prop::collection::vec(prop_oneof![Just(0), Just(1), 1..100, 0..=i32::MAX, Just(i32::MAX)], 49),
        ) {
            let (backend, _) = Backend::open(Choice::Cpu).unwrap();
            let weight = |i: usize, j: usize| if i == j { 0 } else { weights[i * n + j] };
            let directed = (0..n * n).map(|at| weight(at / n, at % n)).collect();
            let symmetric =
                (0..n * n).map(|at| weight((at / n).min(at % n), (at / n).max(at % n))).collect();
            for weights in [directed, symmetric] {
                let instance = Instance::from_matrix("few", weights).unwrap();
                let expected = shortest(&instance);
                let stop = Stop { iterations: Some(1), ..Stop::never() };
                for algorithm in all() {
                    let solved = algorithm.solve(&instance, None, (&backend, &stop), &mut |_: &Progress| {}, None);
                    match solved {
                        Ok(solution) => {
                            prop_assert_eq!(solution.cost, expected, "{}", algorithm.name());
                            prop_assert_eq!(instance.check_tour(&solution.tour), Ok(expected));
                        }
                        Err(SolveError::Unsupported { .. }) => prop_assert!(!instance.is_symmetric()),
                        Err(error) => prop_assert!(false, "{}: {error}", algorithm.name()),
                    }
                }
            }
        }
    }
}
