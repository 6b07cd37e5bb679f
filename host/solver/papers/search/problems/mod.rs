//! The problems by their instances: which problem in core, with which numbers, searches which instance.
//!
//! A file for each problem holds its instances, with their readers and generators, and lays them out as [`Tables`] for the
//! problem in core. Quadratic assignment problems and tours are in [`instance`](crate::instance).

pub mod max_cut;
pub mod partition;
pub mod perceptron;
mod qap;
mod tour;
mod weierstrass;

pub use max_cut::MaxCut;
pub use partition::Partition;
pub use perceptron::Perceptron;
pub use qap::{can_be_stored, qap_tables};
pub use tour::TourTables;
pub use weierstrass::WeierstrassSpec;

use std::time::Duration;

use antwarp_core::geometry::{Grid, Numbered};
use antwarp_core::papers::problem::{self, NestedPerceptron, NestedTour, RotatedTour, SwappedTour};
use serde::{Deserialize, Serialize};

use std::time::Instant;

use super::choose::choose_in_contact;
use super::{Chooser, Contact, Found, SearchSettings, Strategy, search_in_contact};
use crate::backend::Backend;
use crate::backend::cpu::OnThreads;
use crate::engine::memory::check_memory;
use crate::engine::{Cost, Progress, Stop, Tables};
use crate::instance::{BestKnown, Instance, Qap};
use crate::solver::SolveError;

/// Most elements of a permutation, so that places of elements fit 32 bits.
const MOST_ELEMENTS: u32 = 1 << 15;

/// Most places for which a CPU stores the changes of exchanges by default. With more, computing them at the start of each batch
/// takes longer than a tenth of a second, and as long as they save.
const MOST_NOTED: u32 = 450;

/// How the changes of a QAP's exchanges are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Changes {
    /// Stored; linear for annealing, and for more than 450 places on a CPU
    #[default]
    Auto,
    /// From sums that every move brings up to date, in constant time (after Taillard)
    Stored,
    /// Computed in linear time for every neighbour (the paper's way)
    Linear,
}

/// The kind of real numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Precision {
    /// Single precision
    #[default]
    F32,
    /// Double precision
    F64,
}

/// What a move does to a tour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum TourMove {
    /// Two cities exchange their places
    #[default]
    Swap,
    /// Three cities change places in a circle
    Rotate,
}

/// An instance to be searched.
///
/// ```
/// use antwarp::backend::{Backend, Choice};
/// use antwarp::engine::{Cost, Stop};
/// use antwarp::solver::search::SearchSettings;
/// use antwarp::solver::search::problems::{Partition, Task};
///
/// let numbers = Partition { name: "five".into(), numbers: vec![4, 5, 6, 7, 8], sets: 2 };
/// let (backend, _) = Backend::open(Choice::Cpu)?;
/// let stop = Stop { iterations: Some(100), ..Stop::never() };
/// let done = Task::Partition(numbers).run(&backend, &SearchSettings::default(), &stop, &mut |_| ())?;
/// // Both sets have the sum 15.
/// assert_eq!(done.found.cost, Cost::Whole(2 * 15 * 15));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum Task {
    /// Quadratic assignment.
    Qap(Qap, Changes),
    /// Permuted perceptron, with this Hamming distance: 1, 2 or 3.
    Perceptron(Perceptron, u32),
    /// Weierstrass function.
    Weierstrass(WeierstrassSpec, Precision),
    /// Tours.
    Tour(Box<Instance>, TourMove),
    /// Number partitioning.
    Partition(Partition),
    /// Maximum cut.
    MaxCut(MaxCut),
}

/// A solution of any problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Assignment {
    /// Places, signs (1 and -1), cities, sets or sides.
    Integers(Vec<i64>),
    /// Coordinates, one per dimension.
    Reals(Vec<f64>),
}

/// The result of a search, and where its time went.
pub struct Done {
    /// What was found.
    pub found: Found<Assignment>,
    /// If the host chose the moves: the time of copies, of evaluating neighbours, of choosing.
    pub phases: Option<[Duration; 3]>,
}

/// What a search needs besides the problem.
struct Order<'a, 'o> {
    begin: Instant,
    backend: &'a Backend,
    settings: &'a SearchSettings,
    stop: &'a Stop,
    contact: Contact<'o>,
}

impl Order<'_, '_> {
    fn carry_out<P: OnThreads>(
        self,
        tables: &Tables,
        view: impl FnOnce(Vec<problem::Element<P>>) -> Assignment,
    ) -> Result<Done, SolveError> {
        let Order { begin, backend, settings, stop, contact } = self;
        let prepared = begin.elapsed();
        let stop = &stop.spent(prepared);
        Ok(match settings.selection {
            Chooser::Device => {
                let found = search_in_contact::<P>(backend, tables, settings, stop, contact)?;
                Done { found: found.begun_before(prepared).map(view), phases: None }
            }
            Chooser::Host | Chooser::HostGenerates => {
                let chosen = choose_in_contact::<P>(backend, tables, settings, stop, contact)?;
                let phases = Some([chosen.copies, chosen.kernels, chosen.host]);
                Done { found: chosen.found.begun_before(prepared).map(view), phases }
            }
        })
    }
}

fn integers<T: Into<i64>>(solution: Vec<T>) -> Assignment {
    Assignment::Integers(solution.into_iter().map(Into::into).collect())
}

impl Task {
    /// Returns the instance's name.
    pub fn name(&self) -> String {
        match self {
            Task::Qap(qap, _) => qap.name.clone(),
            Task::Perceptron(perceptron, _) => perceptron.name.clone(),
            Task::Weierstrass(w, _) => format!("weierstrass-{}", w.dimensions),
            Task::Tour(instance, _) => instance.name().to_string(),
            Task::Partition(partition) => partition.name.clone(),
            Task::MaxCut(graph) => graph.name.clone(),
        }
    }

    /// Converts an internal cost to the user's cost: that of a tour is in the unit of its instance. `None` for a tour that
    /// may have a forbidden pair.
    pub fn user_cost(&self, inside: Cost) -> Option<Cost> {
        match (self, inside) {
            (Task::Tour(instance, _), Cost::Whole(cost)) => {
                (!instance.may_be_forbidden(cost)).then(|| instance.cost(cost))
            }
            _ => Some(inside),
        }
    }

    /// Returns the highest internal cost of solutions that cost at most `target` in the user's unit.
    pub fn inside(&self, target: Cost) -> Cost {
        match self {
            Task::Tour(instance, _) if !instance.is_as_given() => {
                Cost::Whole(instance.inside(target.as_f64()))
            }
            _ => target,
        }
    }

    /// Returns the problem's name, as on the command line.
    pub fn problem(&self) -> &'static str {
        match self {
            Task::Qap(..) => "qap",
            Task::Perceptron(..) => "ppp",
            Task::Weierstrass(..) => "weierstrass",
            Task::Tour(..) => "tsp",
            Task::Partition(_) => "partition",
            Task::MaxCut(_) => "max-cut",
        }
    }

    /// Returns the number of elements of a solution.
    pub fn elements(&self) -> u32 {
        match self {
            Task::Qap(qap, _) => qap.n,
            Task::Perceptron(perceptron, _) => perceptron.n,
            Task::Weierstrass(w, _) => w.dimensions,
            Task::Tour(instance, _) => instance.len() as u32,
            Task::Partition(partition) => partition.numbers.len() as u32,
            Task::MaxCut(graph) => graph.nodes,
        }
    }

    /// Returns what else its problem's moves and costs depend on, besides the data: a few words, or none.
    pub(crate) fn neighborhood(&self) -> String {
        match self {
            Task::Perceptron(_, distance) => format!("distance {distance}"),
            Task::Tour(_, step) => format!("move {step:?}").to_lowercase(),
            Task::Weierstrass(_, precision) => format!("precision {precision:?}").to_lowercase(),
            Task::Qap(..) | Task::Partition(_) | Task::MaxCut(_) => String::new(),
        }
    }

    /// Returns a hash of the instance's data.
    ///
    /// # Errors
    /// If memory is short.
    pub fn fingerprint(&self) -> Result<u64, SolveError> {
        let of = |tables: &Tables| {
            let mut sum = crc32fast::Hasher::new();
            sum.update(format!("{:?}", tables.shape).as_bytes());
            sum.update(tables.bytes());
            (tables.bytes().len() as u64) << 32 | u64::from(sum.finalize())
        };
        Ok(match self {
            Task::Qap(qap, _) => qap.fingerprint(),
            Task::Tour(instance, _) => instance.fingerprint(),
            Task::Perceptron(perceptron, _) => of(&perceptron.tables()?),
            // Terms have the same places in both precisions.
            Task::Weierstrass(w, _) => of(&w.tables::<f64>()),
            Task::Partition(partition) => of(&partition.tables()),
            Task::MaxCut(graph) => {
                let needed = max_cut::bytes_of_tables(graph.nodes, graph.edges.len() as u64);
                check_memory("the graph", needed as usize)?;
                of(&graph.tables())
            }
        })
    }

    /// Returns the number of neighbours of a solution.
    pub fn neighbors(&self) -> u64 {
        use antwarp_core::combinations::{pairs, triples};
        let n = self.elements();
        match self {
            Task::Qap(..) | Task::Perceptron(_, 2) | Task::Tour(_, TourMove::Swap) => pairs(n),
            Task::Perceptron(_, 1) | Task::MaxCut(_) => u64::from(n),
            Task::Perceptron(..) => triples(n),
            Task::Weierstrass(w, _) => u64::from(w.shells),
            Task::Tour(_, TourMove::Rotate) => 2 * triples(n),
            Task::Partition(partition) => u64::from(n) * u64::from(partition.sets - 1),
        }
    }

    /// Returns how many neighbourhoods variable descents use; the last one is that of [`Task::neighbors`].
    pub fn neighborhoods(&self) -> u32 {
        match self {
            Task::Perceptron(_, distance) => *distance,
            Task::Tour(_, TourMove::Rotate) => 2,
            _ => 1,
        }
    }

    /// Returns the cost that no solution beats, or the best published one.
    pub fn best_known(&self) -> Option<BestKnown> {
        match self {
            Task::Qap(qap, _) => qap.best_known(),
            Task::Perceptron(..) => Some(BestKnown { cost: 0, proven: true }),
            Task::Tour(instance, _) => instance.best_known(),
            Task::Weierstrass(..) | Task::Partition(_) | Task::MaxCut(_) => None,
        }
    }

    /// Searches for a solution of least cost. The cost of the result is computed again from the instance, by other code
    /// (except for Weierstrass functions).
    ///
    /// # Errors
    /// As [`search`](super::search); also if the instance is too large to be searched.
    pub fn run(
        &self,
        backend: &Backend,
        settings: &SearchSettings,
        stop: &Stop,
        mut observe: &mut dyn FnMut(&Progress<Cost>),
    ) -> Result<Done, SolveError> {
        self.run_in_contact(backend, settings, stop, Contact::new(&mut observe))
    }

    /// As [`Task::run`], with checkpoints. A search that continues has the settings of its checkpoint.
    ///
    /// # Errors
    /// As [`Task::run`]; also if the checkpoint is not one of such a search.
    pub fn run_in_contact(
        &self,
        backend: &Backend,
        settings: &SearchSettings,
        stop: &Stop,
        contact: Contact<'_>,
    ) -> Result<Done, SolveError> {
        let levels = if settings.strategy.varies() { self.neighborhoods() } else { 1 };
        if settings.strategy == Strategy::Vnd && levels == 1 {
            let what = "`strategy` vnd goes through several neighbourhoods: those of ppp at `distance` 2 or 3, of tsp \
                        with `move` rotate";
            return Err(SolveError::Settings(what.into()));
        }
        if settings.selection == Chooser::HostGenerates && matches!(self, Task::Weierstrass(..)) {
            let what = "a random point does not determine its neighbours: the host cannot generate them for weierstrass";
            return Err(SolveError::Settings(what.into()));
        }
        let usual = match self {
            Task::Perceptron(..) => Some((perceptron::TEMPERATURE, perceptron::TEMPERATURE)),
            _ => None,
        };
        let temperatures = settings.temperatures.or(usual);
        let settings = &SearchSettings { neighborhoods: Some(levels), temperatures, ..settings.clone() };
        let order = Order { begin: Instant::now(), backend, settings, stop, contact };
        let done = match self {
            Task::Qap(qap, changes) => {
                let tables = qap_tables(qap)?;
                let stored = match changes {
                    // Annealing makes few of the moves that it looks at, one by one; the host needs no notes.
                    Changes::Auto => {
                        let looks_at_all = settings.strategy != Strategy::Annealing;
                        let is_slow = backend.is_cpu() && qap.n > MOST_NOTED;
                        looks_at_all
                            && settings.selection == Chooser::Device
                            && !is_slow
                            && can_be_stored(qap)
                    }
                    Changes::Stored if !can_be_stored(qap) => {
                        let why =
                            "numbers are too large to store what exchanges change: give `changes` linear";
                        return Err(SolveError::Settings(format!("{}: {why}", qap.name)));
                    }
                    Changes::Stored => true,
                    Changes::Linear => false,
                };
                if stored {
                    order.carry_out::<problem::Qap<true>>(&tables, integers)
                } else {
                    order.carry_out::<problem::Qap<false>>(&tables, integers)
                }
            }
            Task::Perceptron(perceptron, distance) => {
                let tables = perceptron.tables()?;
                let signs = |v: Vec<u8>| integers(v.into_iter().map(|bit| 2 * i64::from(bit) - 1).collect());
                match distance {
                    _ if levels > 1 => order.carry_out::<NestedPerceptron>(&tables, signs),
                    1 => order.carry_out::<problem::Perceptron<1>>(&tables, signs),
                    2 => order.carry_out::<problem::Perceptron<2>>(&tables, signs),
                    _ => order.carry_out::<problem::Perceptron<3>>(&tables, signs),
                }
            }
            Task::Weierstrass(w, Precision::F32) => {
                let reals = |x: Vec<f32>| Assignment::Reals(x.into_iter().map(f64::from).collect());
                order.carry_out::<problem::Weierstrass<f32>>(&w.tables::<f32>(), reals)
            }
            Task::Weierstrass(w, Precision::F64) => {
                order.carry_out::<problem::Weierstrass<f64>>(&w.tables::<f64>(), Assignment::Reals)
            }
            Task::Tour(instance, _) if levels > 1 => match TourTables::new(instance)? {
                TourTables::Grid(t) => order.carry_out::<NestedTour<Grid>>(&t, integers),
                TourTables::Numbered(t) => order.carry_out::<NestedTour<Numbered>>(&t, integers),
            },
            Task::Tour(instance, step) => match (TourTables::new(instance)?, step) {
                (TourTables::Grid(t), TourMove::Swap) => order.carry_out::<SwappedTour<Grid>>(&t, integers),
                (TourTables::Numbered(t), TourMove::Swap) => {
                    order.carry_out::<SwappedTour<Numbered>>(&t, integers)
                }
                (TourTables::Grid(t), TourMove::Rotate) => order.carry_out::<RotatedTour<Grid>>(&t, integers),
                (TourTables::Numbered(t), TourMove::Rotate) => {
                    order.carry_out::<RotatedTour<Numbered>>(&t, integers)
                }
            },
            Task::Partition(partition) => {
                order.carry_out::<problem::Partition>(&partition.tables(), integers)
            }
            Task::MaxCut(graph) => {
                let needed = max_cut::bytes_of_tables(graph.nodes, graph.edges.len() as u64);
                check_memory("the graph", needed as usize)?;
                order.carry_out::<problem::MaxCut>(&graph.tables(), integers)
            }
        }?;
        self.verify(&done.found, backend)?;
        Ok(done)
    }

    /// Checks the cost against the instance, by code that the search does not use.
    fn verify(&self, found: &Found<Assignment>, backend: &Backend) -> Result<(), SolveError> {
        let wrong = |what: String| SolveError::Wrong { backend: backend.machine().backend, what };
        let Assignment::Integers(solution) = &found.solution else { return Ok(()) };
        let places: Vec<u32> = solution.iter().map(|&x| x as u32).collect();
        let cost = match self {
            Task::Qap(qap, _) => qap.cost(&places).ok_or_else(|| wrong("no permutation".into()))?,
            Task::Perceptron(perceptron, _) => {
                let v: Vec<u8> = solution.iter().map(|&sign| u8::from(sign > 0)).collect();
                perceptron.cost(&v)
            }
            Task::Tour(instance, _) => {
                instance.check_tour(&places).map_err(|error| wrong(error.to_string()))?
            }
            Task::Partition(partition) => {
                let sets: Vec<u8> = solution.iter().map(|&set| set as u8).collect();
                partition.cost(&sets)
            }
            Task::MaxCut(graph) => {
                let sides: Vec<u8> = solution.iter().map(|&side| side as u8).collect();
                -graph.cut(&sides)
            }
            Task::Weierstrass(..) => return Ok(()),
        };
        if found.cost == Cost::Whole(cost) {
            Ok(())
        } else {
            Err(wrong(format!("a solution of cost {cost} reported as {}", found.cost)))
        }
    }
}

/// Returns the bytes of 32-bit words.
fn of_words<T: Copy + Into<i64>>(words: &[T]) -> Vec<u8> {
    words.iter().flat_map(|&word| (word.into() as u32).to_ne_bytes()).collect()
}
