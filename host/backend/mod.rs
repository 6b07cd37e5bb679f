//! CPU threads and CUDA devices. Each does the work of every algorithm, behind the traits of [`engine`](crate::engine).

#[cfg(feature = "cuda")]
pub mod cuda;

pub use antwarp_cpu as cpu;

use antwarp_core::lin_kernighan::trial::UNLIMITED;
use antwarp_core::papers::problem::Element;
use antwarp_cpu::OnThreads;
use serde::{Deserialize, Serialize};

pub use crate::engine::Machine;
use crate::engine::acs::Remember;
use crate::engine::{
    AcsSpec, BackendError, Colony, ColonySpec, Descent, DescentSpec, Enough, FirstIndividuals, GeneticSpec,
    LinKernighan, LocalSearch, Neighbors, Population, Problem, Tables, Trials, Walks, WalksSpec,
    lin_kernighan,
};
#[cfg(feature = "cuda")]
use crate::engine::{Outline, Places, genetic::Crossover};
use crate::instance::Instance;

/// The backend that a user asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// A CUDA device if one works, else the CPU.
    #[default]
    Auto,
    /// CPU threads.
    Cpu,
    /// A CUDA device, or an error.
    Cuda,
}

/// Which of the CUDA devices shown by the driver a run uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gpus {
    /// All.
    #[default]
    All,
    /// This many, the first ones.
    Count(u32),
    /// Those with these numbers, from 0.
    These(Vec<u32>),
    /// One: that of the process with this number, from 0, where several processes take turns at all devices.
    Turn(u32),
}

const AT_LEAST_ONE: &str = "the number of GPUs must be at least 1";

impl Gpus {
    /// Returns what is wrong: no device is asked for, or one twice.
    pub(crate) fn fault(&self) -> Option<String> {
        match self {
            Gpus::Count(0) => Some(AT_LEAST_ONE.to_string()),
            Gpus::These(numbers) if numbers.is_empty() => Some(AT_LEAST_ONE.to_string()),
            Gpus::These(numbers) => {
                let twice = (0..numbers.len()).find(|&i| numbers[..i].contains(&numbers[i]))?;
                Some(format!("GPU {} is named twice", numbers[twice]))
            }
            Gpus::All | Gpus::Count(_) | Gpus::Turn(_) => None,
        }
    }

    /// Returns the only device for the process with this number, from 0, where several processes of a machine take turns at these
    /// devices.
    pub fn turn(&self, number: u32) -> Gpus {
        let one = |count: usize| number as usize % count.max(1);
        match self {
            Gpus::All | Gpus::Turn(_) => Gpus::Turn(number),
            Gpus::Count(count) => Gpus::These(vec![one(*count as usize) as u32]),
            Gpus::These(numbers) => {
                Gpus::These(numbers.get(one(numbers.len())).copied().into_iter().collect())
            }
        }
    }

    /// Returns whether the user gave a count or numbers: then a device that cannot be used is an error.
    pub(crate) fn are_named(&self) -> bool {
        matches!(self, Gpus::Count(_) | Gpus::These(_))
    }
}

impl std::str::FromStr for Gpus {
    type Err = String;

    /// Parses `all`; a count of devices; or device numbers with commas (`0,2`, or `2,` for number 2 alone).
    fn from_str(text: &str) -> Result<Gpus, String> {
        let wrong = || {
            format!("`{text}` names no GPUs: give `all`, a count (2) or device numbers (0,2; `2,` for one)")
        };
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        match text.split_once(',') {
            _ if text == "all" => Ok(Gpus::All),
            None => match number(text)? {
                0 => Err(format!("{AT_LEAST_ONE}; use --backend cpu for none")),
                count => Ok(Gpus::Count(count)),
            },
            Some(_) => {
                let numbers = text.trim_end_matches(',').split(',').map(number);
                let these = Gpus::These(numbers.collect::<Result<_, _>>()?);
                these.fault().map_or(Ok(these), Err)
            }
        }
    }
}

/// An opened backend: where runs compute. Of several GPUs, [`Backend::lin_kernighan`] uses those that are useful; all other work
/// runs on the first one.
pub enum Backend {
    /// CPU threads.
    Cpu(cpu::Cpu),
    /// CUDA devices.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Cards),
}

impl Backend {
    /// As [`Backend::open_on`], with all GPUs.
    ///
    /// # Errors
    /// As [`Backend::open_on`].
    pub fn open(choice: Choice) -> Result<(Backend, Option<String>), BackendError> {
        Backend::open_on(choice, &Gpus::All)
    }

    /// Opens the backend that the user asked for. With [`Choice::Auto`], the second value says why it is not a GPU; else it is
    /// `None`. With [`Choice::Cpu`], `gpus` is ignored.
    ///
    /// # Errors
    /// With [`Choice::Cuda`], or with [`Choice::Auto`] if GPUs were given by count or number: the reason why they cannot be used.
    pub fn open_on(choice: Choice, gpus: &Gpus) -> Result<(Backend, Option<String>), BackendError> {
        let cpu = || Backend::Cpu(cpu::Cpu::new());
        match choice {
            Choice::Cpu => Ok((cpu(), None)),
            Choice::Cuda => Ok((Backend::open_cuda(gpus)?, None)),
            Choice::Auto => match Backend::open_cuda(gpus) {
                Ok(cards) => Ok((cards, None)),
                Err(why) if gpus.are_named() => Err(why),
                Err(why) => Ok((cpu(), Some(why.to_string()))),
            },
        }
    }

    #[cfg(feature = "cuda")]
    fn open_cuda(gpus: &Gpus) -> Result<Backend, BackendError> {
        Ok(Backend::Cuda(cuda::Cards::open(gpus)?))
    }

    #[cfg(not(feature = "cuda"))]
    fn open_cuda(_: &Gpus) -> Result<Backend, BackendError> {
        Err(BackendError::NoKernels("its feature `cuda` is off".to_string()))
    }

    /// Returns whether it consists of CPU threads.
    pub fn is_cpu(&self) -> bool {
        matches!(self, Backend::Cpu(_))
    }

    /// Returns a description of the processor or the GPUs.
    pub fn machine(&self) -> Machine {
        match self {
            Backend::Cpu(cpu) => cpu.machine(),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => cards.machine(),
        }
    }

    /// Returns the number of its GPUs; 0 for CPU threads.
    pub fn gpus(&self) -> usize {
        match self {
            Backend::Cpu(_) => 0,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => cards.count(),
        }
    }

    /// Returns a backend for each GPU, for work that runs on one; empty if there are not several.
    pub fn each_gpu(&self) -> Vec<Backend> {
        match self {
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) if cards.count() > 1 => cards.each().map(Backend::Cuda).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the default number of ants of a colony for `n` nodes: enough to keep every unit busy, and few enough that a short
    /// run has many iterations.
    pub fn default_ants(&self, n: u32) -> u32 {
        let most = match self {
            Backend::Cpu(_) => 64,
            // A GPU does not stop within an iteration: beyond 131,072 nodes fewer ants keep iterations short, down to one for every
            // multiprocessor of a large device.
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) => ((1 << 27) / n.max(1)).clamp(128, 1024),
        };
        n.min(most)
    }

    /// Returns the default number of ants of Ant Colony System for `n` nodes: few, so that their local updates leave something of
    /// the trails (Skinderowicz 2016, table 7).
    pub fn default_acs_ants(&self, n: u32) -> u32 {
        let most = match self {
            Backend::Cpu(_) => 64,
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) => 256,
        };
        n.min(most)
    }

    /// Returns which edges rings of Ant Colony System store by default. Threads see each other's updates at once: every ant's new
    /// edges would push out those of the best tour. Multiprocessors see them late; for large instances fewer edges are updated
    /// (`AcsSettings::period`).
    pub fn default_remember(&self) -> Remember {
        match self {
            Backend::Cpu(_) => Remember::Best,
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) => Remember::Taken,
        }
    }

    /// Returns the default number of tours of `n` nodes, and of trials of each in a round. On CPU threads they depend on the
    /// number of threads only if the run need not be `reproducible`; on GPUs, for small instances, on the multiprocessors of the
    /// first one.
    pub fn default_trials(&self, n: u32, reproducible: bool) -> Trials {
        match self {
            Backend::Cpu(_) => cpu::default_trials(n, reproducible),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => cuda::default_trials(cards, n),
        }
    }

    /// Returns the trials in a round of each of `chains` tours of `n` nodes, at least 1. CPU threads ignore `chains`.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables))]
    pub fn trials(&self, n: u32, chains: u32) -> u32 {
        match self {
            Backend::Cpu(_) => cpu::trials_of_several(n),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => cuda::trials(cards, n, chains),
        }
    }

    /// Returns the most nodes that a trial of one of `chains` tours searches around; [`UNLIMITED`] on CPU threads, and for a
    /// single tour. A CPU thread goes on with another trial; on a GPU all trials of a round wait for the longest one.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables))]
    pub fn looks(&self, chains: u32) -> u32 {
        match self {
            Backend::Cpu(_) => UNLIMITED,
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) => cuda::looks(chains),
        }
    }

    /// Makes tours for `problem`, which start as the tours of the spec, or along the problem's numbering if it has none.
    ///
    /// # Errors
    /// If they do not fit in the backend's memory, or their kernels cannot be loaded.
    pub fn lin_kernighan<'p>(
        &'p self,
        problem: &'p Problem,
        spec: &lin_kernighan::Spec,
    ) -> Result<Box<dyn LinKernighan + 'p>, BackendError> {
        Ok(match self {
            Backend::Cpu(_) => cpu::lin_kernighan(problem, spec)?,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => {
                let devices = &cards.all()[..cuda::useful(cards, spec)];
                Box::new(cuda::CudaLinKernighan::new(devices, problem, spec)?)
            }
        })
    }

    /// Starts to load the kernels that [`Backend::lin_kernighan`] needs for an instance, on other threads: a driver that has to
    /// compile them takes seconds. Does nothing on CPU threads.
    pub fn prepare_lin_kernighan(&self, instance: &Instance, local_search: Option<LocalSearch>) {
        match self {
            Backend::Cpu(_) => _ = (instance, local_search),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => cuda::prepare(cards, Places::kernel_name_for(instance), local_search),
        }
    }

    /// Waits until the kernels of [`Backend::prepare_lin_kernighan`] are loaded, or until `enough`.
    pub fn wait_until_prepared(&self, enough: Enough) {
        match self {
            Backend::Cpu(_) => _ = enough,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => cards.all().iter().for_each(|device| device.wait_until_prepared(enough)),
        }
    }

    /// Makes a descent for `problem`, which starts from the tour along its numbering.
    ///
    /// # Errors
    /// If it does not fit in the backend's memory, or its kernels cannot be loaded.
    pub fn descent<'p>(
        &'p self,
        problem: &'p Problem,
        spec: &DescentSpec,
    ) -> Result<Box<dyn Descent + 'p>, BackendError> {
        Ok(match self {
            Backend::Cpu(_) => cpu::descent(problem, spec)?,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => Box::new(cuda::CudaDescent::new(cards.first(), problem, spec)?),
        })
    }

    /// Makes a colony of MAX-MIN Ant System for `problem`.
    ///
    /// # Errors
    /// If it does not fit in the backend's memory, or its kernels cannot be loaded. On a GPU also if its local search is by
    /// Lin-Kernighan moves, or its number of warps is not possible.
    pub fn colony<'p>(
        &'p self,
        problem: &'p Problem,
        spec: &ColonySpec,
    ) -> Result<Box<dyn Colony + 'p>, BackendError> {
        Ok(match self {
            Backend::Cpu(_) => cpu::colony(problem, spec)?,
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) if spec.local_search == LocalSearch::Lk => {
                return Err(BackendError::LinKernighanOfAnts);
            }
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => Box::new(cuda::CudaColony::new(cards.first(), problem, spec)?),
        })
    }

    /// Makes a colony of Ant Colony System for `problem`.
    ///
    /// # Errors
    /// If it does not fit in the backend's memory, or its kernels cannot be loaded. On a GPU also if its local search is by
    /// Lin-Kernighan moves, or its updates are sequential.
    pub fn acs<'p>(
        &'p self,
        problem: &'p Problem,
        spec: &AcsSpec,
    ) -> Result<Box<dyn Colony + 'p>, BackendError> {
        match self {
            Backend::Cpu(_) => cpu::acs(problem, spec),
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) if spec.local_search == LocalSearch::Lk => Err(BackendError::LinKernighanOfAnts),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => Ok(Box::new(cuda::CudaAcs::new(cards.first(), problem, spec)?)),
        }
    }

    /// Makes walks through the solutions of a problem, the one that `tables` were made for.
    ///
    /// # Errors
    /// If they do not fit in the backend's memory, a replica would take 4 GiB or more, or their kernels cannot be loaded or
    /// launched in any shape; on CPU threads also if too many of them would wait for each other.
    pub fn walks<'p, P: OnThreads>(
        &'p self,
        tables: &'p Tables,
        spec: &WalksSpec,
    ) -> Result<Box<dyn Walks<Element<P>> + 'p>, BackendError> {
        Ok(match self {
            Backend::Cpu(cpu) => Box::new(cpu::CpuWalks::new::<P>(cpu, tables, spec)?),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => {
                let outline = Outline::of::<P>(tables, spec)?;
                Box::new(cuda::CudaWalks::new(cards.first(), tables, spec, &outline)?)
            }
        })
    }

    /// Makes an evaluation of neighbours for a search that chooses on the host.
    ///
    /// # Errors
    /// As [`Backend::walks`]; on a GPU also if a replica does not fit in a block's shared memory.
    pub fn neighbors<'p, P: OnThreads>(
        &'p self,
        tables: &'p Tables,
        spec: &WalksSpec,
    ) -> Result<Box<dyn Neighbors<Element<P>> + 'p>, BackendError> {
        Ok(match self {
            Backend::Cpu(_) => Box::new(cpu::CpuNeighbors::new::<P>(tables, spec)?),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => {
                let outline = Outline::of::<P>(tables, spec)?;
                Box::new(cuda::CudaNeighbors::new(cards.first(), tables, spec, &outline)?)
            }
        })
    }

    /// Makes a population for `problem`. Given first individuals are as many tours as the spec has individuals.
    ///
    /// # Errors
    /// If it does not fit in the backend's memory, or its kernels cannot be loaded; with edge assembly crossover, if it is to run
    /// on a GPU, or the given individuals are not such tours.
    pub fn population<'p>(
        &'p self,
        problem: &'p Problem,
        spec: &GeneticSpec,
        first: FirstIndividuals,
    ) -> Result<Box<dyn Population + 'p>, BackendError> {
        match self {
            Backend::Cpu(_) => cpu::population(problem, spec, first),
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) if spec.crossover == Crossover::Eax => Err(BackendError::Eax),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cards) => {
                Ok(Box::new(cuda::CudaPopulation::new(cards.first(), problem, spec, first)?))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_all_or_so_many_or_these() {
        let read = |text: &str| text.parse::<Gpus>();
        assert_eq!(read("all"), Ok(Gpus::All));
        assert_eq!(read("2"), Ok(Gpus::Count(2)));
        assert_eq!(read("2,"), Ok(Gpus::These(vec![2])));
        assert_eq!(read("0, 3,1"), Ok(Gpus::These(vec![0, 3, 1])));
        for wrong in ["", "0", "-1", "two", ",", "1,,2", "1,1", "4294967296"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn processes_take_turns() {
        let turns = |gpus: Gpus| [0, 1, 2, 3].map(|number| gpus.turn(number));
        assert_eq!(turns(Gpus::All), [0, 1, 2, 3].map(Gpus::Turn));
        assert_eq!(turns(Gpus::Count(2)), [0, 1, 0, 1].map(|number| Gpus::These(vec![number])));
        assert_eq!(turns(Gpus::These(vec![4, 6, 7])), [4, 6, 7, 4].map(|number| Gpus::These(vec![number])));
    }
}
