//! Errors of backends, with their remedies.

use thiserror::Error;

/// The remedy for lack of memory that always helps.
pub const SMALLER: &str = "a smaller instance";

/// Why a backend failed. The messages include the remedy; the CLI prints them unchanged.
#[derive(Debug, Error)]
pub enum BackendError {
    /// The binary was built without kernels.
    #[error("this antwarp was built without GPU kernels: {0}")]
    NoKernels(String),
    /// The binary has kernels, but the ones that were asked for cannot be used.
    #[error("there are no GPU kernels as requested: {0}")]
    NoSuchKernels(String),
    /// libcuda cannot be loaded.
    #[error(
        "no NVIDIA driver found (libcuda cannot be loaded): install the NVIDIA driver, or use `backend` cpu"
    )]
    NoDriver,
    /// The driver works but sees no device.
    #[error(
        "the NVIDIA driver sees no device{0}: check nvidia-smi and CUDA_VISIBLE_DEVICES, or use `backend` cpu"
    )]
    NoDevice(String),
    /// There is no device with this number, counted from 0, among this many.
    #[error(
        "no GPU {0}: there are {1}, numbered from 0; check nvidia-smi and CUDA_VISIBLE_DEVICES, or give other `gpus`"
    )]
    NoSuchDevice(usize, usize),
    /// No device is asked for, or one twice: what is wrong.
    #[error("{0}: give other `gpus`, or use `backend` cpu")]
    Gpus(String),
    /// The device is older than the oldest kernels.
    #[error(
        "{device} has compute capability {capability}, but the kernels need 7.0 (Volta) or newer: use `backend` cpu"
    )]
    OldDevice {
        /// The GPU's name.
        device: String,
        /// major.minor
        capability: String,
    },
    /// The driver is too old for the kernels' PTX.
    #[error(
        "the NVIDIA driver (CUDA {driver}) is too old for these kernels, which need CUDA {needed} or newer: \
         update the driver, or use `backend` cpu"
    )]
    OldDriver {
        /// CUDA version of the driver.
        driver: String,
        /// CUDA version of the PTX.
        needed: String,
    },
    /// The driver's compiler refused the PTX.
    #[error(
        "the NVIDIA driver refused kernel `{kernel}`: {log}\nThis is a bug in antwarp or in the driver: \
         please report it with the output of `antwarp devices`; `backend` cpu works meanwhile"
    )]
    PtxRefused {
        /// The kernel that was to be loaded.
        kernel: String,
        /// The message of the driver's compiler.
        log: String,
    },
    /// Something does not fit in a GPU's memory or in main memory.
    #[error(
        "not enough {place} memory for {what}: {needed} are needed, but {free}. Use {remedy}, or the other backend"
    )]
    OutOfMemory {
        /// `device` or `main`.
        place: &'static str,
        /// The data to be allocated.
        what: String,
        /// Bytes, formatted.
        needed: String,
        /// How much is free, as in `1.00 GiB are free`.
        free: String,
        /// What needs less memory; a solver that knows its settings says more than [`SMALLER`].
        remedy: &'static str,
    },
    /// A kernel could not be launched.
    #[error("cannot launch kernel `{kernel}`: {source}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// The error of the driver.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Any other driver call failed, or a kernel failed while it ran.
    #[error(
        "the GPU failed while {doing}: {source}. Check dmesg and nvidia-smi; `backend` cpu works meanwhile"
    )]
    Driver {
        /// The operation that failed.
        doing: &'static str,
        /// The error of the driver.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A launch was still running when the time was up, and the device's data are not available until it ends.
    #[error("the GPU is still busy with a launch that outlasted the run")]
    Busy,
    /// The requested number of warps, the first number, is not possible; the second is the most.
    #[error("{0} warps per ant are not possible: choose 1 to {1}")]
    Warps(u32, u32),
    /// The requested number of CPU threads, the first number, is not possible; the second is the most.
    #[error(
        "{0} threads that wait for each other are not possible: `walks` times `blocks` must be at most {1}"
    )]
    Threads(u64, u64),
    /// The initial tours are invalid, or their number is wrong.
    #[error("the first population is not {tours} tours of {nodes} nodes")]
    Population {
        /// Number of tours required.
        tours: u32,
        /// Nodes of the instance.
        nodes: u32,
    },
    /// A [`State`](crate::State) is not one of this engine, instance and settings.
    #[error("the checkpoint does not fit this run")]
    State,
    /// A walk needs too much memory.
    #[error("a walk through solutions of this size needs more than 4 GB of memory: choose a smaller problem")]
    Replica,
    /// A kernel cannot be launched in any shape.
    #[error(
        "a walk needs {needed} of memory, so kernel `{kernel}` cannot be launched in any shape: use `backend` cpu"
    )]
    Shape {
        /// The kernel.
        kernel: String,
        /// Bytes, formatted.
        needed: String,
    },
    /// A GPU does not support sequential updates.
    #[error("`update` sequential runs on the CPU only: give `backend` cpu, or another `update`")]
    Sequential,
    /// A GPU does not support edge assembly crossover.
    #[error("`crossover` eax runs on CPU threads: give `backend` cpu, or another `crossover`")]
    Eax,
    /// A GPU does not support Lin-Kernighan moves on the tours of ants.
    #[error("`local_search` lk runs on CPU threads: give `backend` cpu, or `local_search` three-opt")]
    LinKernighanOfAnts,
}

impl BackendError {
    /// Names what needs less memory, if the error is that there was not enough.
    #[must_use]
    pub fn with_remedy(mut self, better: &'static str) -> BackendError {
        if let BackendError::OutOfMemory { remedy, .. } = &mut self {
            *remedy = better;
        }
        self
    }
}
