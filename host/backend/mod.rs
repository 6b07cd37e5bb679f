//! Where a colony runs: on CPU threads or on a CUDA device, behind one trait.
//!
//! A [`Colony`] owns everything that lives where the computation is: tours, trails, the best tour. The solver
//! asks it for batches of iterations and reads back a few numbers after each.

pub mod cpu;
pub mod cuda;
mod error;
pub mod tuning;

pub use error::BackendError;

use std::time::Duration;

use antwarp_core::colony::ColonyState;
use antwarp_core::lin_kernighan::trial;
use antwarp_core::local_search::best::DescentState;
use antwarp_core::local_search::chains::ChainsState;
use antwarp_core::problem::Element;
use antwarp_core::search::{Rules, WalkState};
use serde::{Deserialize, Serialize};

use crate::solver::acs::AcsSpec;
use crate::solver::descent::DescentSpec;
use crate::solver::genetic::{Crossover, FirstGenes, GeneticSpec};
use crate::solver::ils::{ChainsSpec, Round};
use crate::solver::mmas::ColonySpec;
use crate::solver::problem::Problem as Nodes;
use crate::solver::search::{Searchable, Tables, WalksSpec};

/// Which backend a user asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// A CUDA device if there is one that works, else the CPU.
    #[default]
    Auto,
    /// CPU threads.
    Cpu,
    /// A CUDA device, or an error.
    Cuda,
}

/// The machine a run used, for reports.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// `cpu` or `cuda`.
    pub backend: &'static str,
    /// The processor or GPU by name.
    pub device: String,
    /// CPU threads, or multiprocessors of the GPU.
    pub units: usize,
    /// What else tells this machine apart: compute capability, driver version, kernel architecture.
    pub details: String,
}

/// Time spent in the parts of the iterations since it was last asked for.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Phases {
    /// Iterations measured.
    pub iterations: u32,
    /// Building tours and, without local search, computing their lengths.
    pub construction: Duration,
    /// Local search on them.
    pub local_search: Duration,
    /// Everything else: the best tour, trails, weights.
    pub rest: Duration,
}

/// Asked while a colony works: true to stop soon.
pub type Enough<'a> = &'a (dyn Fn() -> bool + Sync);

/// What goes on by iterations, where it lives: a colony of ants, or a [`Population`].
pub trait Colony {
    /// Runs `iterations` more iterations, fewer if the target is reached; the state afterwards.
    ///
    /// Where an iteration can take long, `enough` is asked now and then whether to end it with the tours that
    /// are complete.
    fn run(&mut self, iterations: u32, enough: Enough) -> Result<ColonyState, BackendError>;

    /// The best tour so far, in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be brought back from the device. Before the first iteration it is undefined.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError>;

    /// The time spent in each part since the last call; iterations are timed from the first call on.
    fn phases(&mut self) -> Result<Phases, BackendError>;

    /// How the colony was laid out: variant, threads an ant, memory.
    fn describe(&self) -> String;
}

/// A population of genes, which are tours. Its iterations are generations; [`ColonyState::iteration_cost`] is the mean
/// length of its genes.
pub trait Population: Colony {
    /// Number of places for genes.
    fn places(&self) -> u32;

    /// The gene at a place, in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be brought back from the device.
    ///
    /// # Panics
    /// If there is no such place.
    fn gene(&mut self, place: u32) -> Result<Vec<u32>, BackendError>;

    /// The length of the gene at each place; `i64::MAX` where there is none, because the first generation was cut short.
    ///
    /// # Errors
    /// If they cannot be brought back from the device.
    fn costs(&mut self) -> Result<Vec<i64>, BackendError>;

    /// Whether nothing can come of its genes any more: with the next generation it begins anew.
    fn is_exhausted(&self) -> bool {
        false
    }
}

/// Chains of iterated local search where they live.
pub trait Chains {
    /// Runs these rounds, fewer if the target is reached; the state afterwards.
    ///
    /// Where a round can take long, `enough` is asked now and then whether to end it early.
    fn run(&mut self, rounds: &[Round], enough: Enough) -> Result<ChainsState, BackendError>;

    /// Kicks of all chains that were left out of the last of these rounds, because `enough` said so.
    fn kicks_left_out(&self) -> u64 {
        0
    }

    /// The best tour so far, in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be brought back from the device.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError>;

    /// How the chains were laid out.
    fn describe(&self) -> String;
}

/// How many tours chained Lin-Kernighan works on, and how many trials each of them has in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trials {
    /// Tours.
    pub chains: u32,
    /// Trials of a tour in a round.
    pub trials: u32,
}

/// How far chained Lin-Kernighan has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Length of the shortest of the tours as they are.
    pub cost: i64,
    /// Length of the best tour so far.
    pub best_cost: i64,
    /// Trials of each tour in the last batch.
    pub trials: u64,
    /// Changes of all tours in the last round, made or not.
    pub offered: u64,
}

/// Chained Lin-Kernighan where it lives.
pub trait LinKernighan {
    /// Runs these rounds.
    ///
    /// Where a round can take long, `enough` is asked now and then whether to end it early.
    fn run(&mut self, rounds: &[trial::Round], enough: Enough) -> Result<Reached, BackendError>;

    /// Makes one tour of all, by what each of them does better ([`cpu::Recombiner`]), with which all go on.
    ///
    /// # Errors
    /// If tours cannot be copied from or to the device, or memory is short.
    fn recombine(&mut self) -> Result<Reached, BackendError>;

    /// The best tour so far, in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be brought back from the device.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError>;

    /// All tours as they are, one after the other.
    ///
    /// # Errors
    /// If they cannot be brought back from the device.
    fn tours(&mut self) -> Result<Vec<u32>, BackendError>;

    /// How it was laid out.
    fn describe(&self) -> String;
}

/// Time spent in passes of best improvement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass {
    /// Passes measured.
    pub passes: u64,
    /// The time it took to look at all moves and to find the best, all passes together.
    pub time: Duration,
}

/// For layouts.
fn each_pass(evaluation: Pass) -> String {
    if evaluation.passes == 0 {
        return "no pass".to_string();
    }
    let each = evaluation.time.as_secs_f64() * 1e3 / evaluation.passes as f64;
    format!("{each:.4} ms to look at all moves (mean of {} passes)", evaluation.passes)
}

/// Local search by best improvement, with kicks, where it lives.
pub trait Descent {
    /// Runs this many passes, fewer if all kicks are done or the target is reached; the state afterwards.
    ///
    /// Where a pass can take long, `enough` is asked now and then whether to stop before the next one.
    fn run(&mut self, passes: u32, temperature: f32, enough: Enough) -> Result<DescentState, BackendError>;

    /// The shortest tour there is, of [`DescentState::least`], in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be brought back from the device.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError>;

    /// The time spent looking for moves so far, in some of the passes.
    fn evaluation(&self) -> Pass;

    /// How the work is spread, and how long a pass takes.
    fn describe(&self) -> String;
}

/// Walks of neighbourhood search where they live.
pub trait Walks<E> {
    /// Runs a batch of iterations of every walk; their states afterwards.
    ///
    /// # Errors
    /// If the backend fails. The walks are lost then.
    fn run(&mut self, rules: &Rules) -> Result<&[WalkState], BackendError>;

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
    /// end count: random neighbours are those of that iteration.
    ///
    /// # Errors
    /// If the backend fails.
    fn costs(&mut self, solution: &[E], rules: &Rules) -> Result<&[u64], BackendError>;

    /// Time spent in copies to and from the device, and in kernels.
    fn phases(&self) -> (Duration, Duration);

    /// How the work was laid out.
    fn describe(&self) -> String;
}

/// An opened backend.
pub enum Backend {
    /// CPU threads.
    Cpu(cpu::Cpu),
    /// A CUDA device.
    Cuda(Box<cuda::Device>),
}

impl Backend {
    /// Opens what the user asked for. With [`Choice::Auto`], the second value says why it is not a GPU.
    ///
    /// # Errors
    /// With [`Choice::Cuda`], why no CUDA device can be used.
    pub fn open(choice: Choice) -> Result<(Backend, Option<String>), BackendError> {
        let cpu = || Backend::Cpu(cpu::Cpu::new());
        match choice {
            Choice::Cpu => Ok((cpu(), None)),
            Choice::Cuda => Ok((Backend::Cuda(Box::new(cuda::Device::open(0)?)), None)),
            Choice::Auto => match cuda::Device::open(0) {
                Ok(device) => Ok((Backend::Cuda(Box::new(device)), None)),
                Err(why) => Ok((cpu(), Some(why.to_string()))),
            },
        }
    }

    /// The machine behind.
    pub fn machine(&self) -> Machine {
        match self {
            Backend::Cpu(cpu) => cpu.machine(),
            Backend::Cuda(device) => device.machine(),
        }
    }

    /// Ants that a colony of `n` nodes has unless the user says otherwise: enough to keep every unit busy, and
    /// few enough that a short run has many iterations.
    pub fn default_ants(&self, n: u32) -> u32 {
        let most = match self {
            Backend::Cpu(_) => 64,
            // A GPU does not stop within an iteration: beyond 131,072 nodes it gets shorter by fewer ants, down to
            // one for every multiprocessor of a large device.
            Backend::Cuda(_) => ((1 << 27) / n.max(1)).clamp(128, 1024),
        };
        n.min(most)
    }

    /// Ants that a colony of Ant Colony System of `n` nodes has unless the user says otherwise: few, so that their
    /// local updates leave something of the trails (Skinderowicz 2016, table 7).
    pub fn default_acs_ants(&self, n: u32) -> u32 {
        let most = match self {
            Backend::Cpu(_) => 64,
            Backend::Cuda(_) => 256,
        };
        n.min(most)
    }

    /// Tiles of a chain and number of chains for a problem unless the user says otherwise. They depend on the kind of
    /// backend, not on its number of threads.
    pub fn default_chains(&self, problem: &Nodes) -> (u32, u32) {
        match self {
            Backend::Cpu(_) => cpu::default_chains(problem.n()),
            Backend::Cuda(device) => cuda::default_chains(device, problem),
        }
    }

    /// Nodes that a descent in a tile looks at together unless the user says otherwise.
    pub fn default_width(&self) -> u32 {
        match self {
            Backend::Cpu(_) => 1,
            Backend::Cuda(_) => cuda::WIDTH,
        }
    }

    /// New chains for `problem`, which all begin with the tour along its numbering.
    ///
    /// # Errors
    /// If they do not fit the backend's memory, or their kernels cannot be loaded.
    pub fn chains<'p>(
        &'p self,
        problem: &'p Nodes,
        spec: &ChainsSpec,
    ) -> Result<Box<dyn Chains + 'p>, BackendError> {
        Ok(match self {
            Backend::Cpu(_) => cpu::chains(problem, spec)?,
            Backend::Cuda(device) => Box::new(cuda::CudaChains::new(device, problem, spec)?),
        })
    }

    /// Tours, and trials of each in a round, unless the user says otherwise. They depend on the kind of backend; on its
    /// number of threads only if the run needs not be `reproducible`.
    pub fn default_trials(&self, n: u32, reproducible: bool) -> Trials {
        match self {
            Backend::Cpu(_) => cpu::default_trials(n, reproducible),
            Backend::Cuda(device) => cuda::default_trials(device, n),
        }
    }

    /// Trials in a round of each of several tours.
    pub fn trials(&self, n: u32, chains: u32) -> u32 {
        match self {
            Backend::Cpu(_) => cpu::trials(n, 1),
            Backend::Cuda(device) => cuda::trials(device, n, chains),
        }
    }

    /// New tours for `problem`, which all begin with the one along its numbering.
    ///
    /// # Errors
    /// If they do not fit the backend's memory, or their kernels cannot be loaded.
    pub fn lin_kernighan<'p>(
        &'p self,
        problem: &'p Nodes,
        spec: &crate::solver::lin_kernighan::Spec,
    ) -> Result<Box<dyn LinKernighan + 'p>, BackendError> {
        Ok(match self {
            Backend::Cpu(_) => cpu::lin_kernighan(problem, spec)?,
            Backend::Cuda(device) => Box::new(cuda::CudaLinKernighan::new(device, problem, spec)?),
        })
    }

    /// A new descent for `problem`, which begins with the tour along its numbering.
    ///
    /// # Errors
    /// If it does not fit the backend's memory, or its kernels cannot be loaded.
    pub fn descent<'p>(
        &'p self,
        problem: &'p Nodes,
        spec: &DescentSpec,
    ) -> Result<Box<dyn Descent + 'p>, BackendError> {
        Ok(match self {
            Backend::Cpu(_) => cpu::descent(problem, spec)?,
            Backend::Cuda(device) => Box::new(cuda::CudaDescent::new(device, problem, spec)?),
        })
    }

    /// A new colony for `problem`.
    ///
    /// # Errors
    /// If it does not fit the backend's memory, or its kernels cannot be loaded.
    pub fn colony<'p>(
        &'p self,
        problem: &'p Nodes,
        spec: &ColonySpec,
    ) -> Result<Box<dyn Colony + 'p>, BackendError> {
        Ok(match self {
            Backend::Cpu(_) => cpu::colony(problem, spec)?,
            Backend::Cuda(device) => Box::new(cuda::CudaColony::new(device, problem, spec)?),
        })
    }

    /// A new colony of Ant Colony System for `problem`.
    ///
    /// # Errors
    /// If it does not fit the backend's memory, or its kernels cannot be loaded.
    pub fn acs<'p>(
        &'p self,
        problem: &'p Nodes,
        spec: &AcsSpec,
    ) -> Result<Box<dyn Colony + 'p>, BackendError> {
        match self {
            Backend::Cpu(_) => cpu::acs(problem, spec),
            Backend::Cuda(device) => Ok(Box::new(cuda::CudaAcs::new(device, problem, spec)?)),
        }
    }

    /// New walks through the solutions of a problem.
    ///
    /// # Errors
    /// If they do not fit the backend's memory, or their kernels cannot be loaded.
    pub fn walks<'p, P: Searchable>(
        &'p self,
        tables: &'p Tables,
        spec: &WalksSpec,
    ) -> Result<Box<dyn Walks<Element<P>> + 'p>, BackendError> {
        Ok(match self {
            Backend::Cpu(cpu) => Box::new(cpu::CpuWalks::<P>::new(cpu, tables, spec)?),
            Backend::Cuda(device) => Box::new(cuda::CudaWalks::<P>::new(device, tables, spec)?),
        })
    }

    /// A look at neighbours for a search that chooses on the host.
    ///
    /// # Errors
    /// As [`Backend::walks`].
    pub fn neighbors<'p, P: Searchable>(
        &'p self,
        tables: &'p Tables,
        spec: &WalksSpec,
    ) -> Result<Box<dyn Neighbors<Element<P>> + 'p>, BackendError> {
        Ok(match self {
            Backend::Cpu(_) => Box::new(cpu::CpuNeighbors::<P>::new(tables, spec)?),
            Backend::Cuda(device) => Box::new(cuda::CudaNeighbors::<P>::new(device, tables, spec)?),
        })
    }

    /// A new population for `problem`.
    ///
    /// # Errors
    /// If it does not fit the backend's memory, or its kernels cannot be loaded.
    pub fn population<'p>(
        &'p self,
        problem: &'p Nodes,
        spec: &GeneticSpec,
        first: FirstGenes,
    ) -> Result<Box<dyn Population + 'p>, BackendError> {
        match self {
            Backend::Cpu(_) => cpu::population(problem, spec, first),
            Backend::Cuda(_) if spec.crossover == Crossover::Eax => Err(BackendError::Eax),
            Backend::Cuda(device) => Ok(Box::new(cuda::CudaPopulation::new(device, problem, spec, first)?)),
        }
    }
}
