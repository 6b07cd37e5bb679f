//! The CUDA backend: the driver, loaded at run time; kernels, compiled by the driver from the embedded PTX; typed
//! launchers; the colony's buffers.

mod buffer;
mod cards;
mod device;
mod error;
mod launch;
mod lin_kernighan;
mod module;
mod papers;
mod small_tours;
mod tables;

pub use buffer::Buffer;
pub use cards::Cards;
pub use device::{Device, DeviceFacts, devices};
pub use launch::{
    BreedIndividuals, ConstructAcs, ConstructCandidates, ConstructFull, DepositAcs, EvaluateNeighbors,
    FinishIndividuals, Judge, Launch, LocalSearch, MakeIndividuals, MakeMoves, PackChanges, PlaceNodes,
    PlanMerge, PrepareAcs, PrepareTrails, ProposeMoves, RunTrials, SelectMove, SettleTours, SolveSmall,
    TakeChanges, TourCosts, TransferIndividuals, TurnStretch, UnpackChanges, UpdateTrails, Walks, buffers,
};
pub use lin_kernighan::{CudaLinKernighan, default_trials, looks, prepare, trials, useful};
pub use module::{Image, KernelFacts, kernels, texts};
pub use papers::colony::{CudaAcs, CudaColony, TEAM_BYTES};
pub use papers::descent::CudaDescent;
pub use papers::genetic::CudaPopulation;
pub use papers::walks::{CREW_BYTES, CudaNeighbors, CudaWalks, walk_kernel};
pub use small_tours::{solve_small, suits_small};

/// What there is where a driver runs: on Linux, on Linux within Windows, on Windows.
const DRIVER: [&str; 3] =
    ["/dev/nvidiactl", "/usr/lib/wsl/lib/libcuda.so.1", r"C:\Windows\System32\nvcuda.dll"];

/// Returns whether there seems to be a device. Asking the driver for it would take as long as a short run.
pub fn has_devices() -> bool {
    DRIVER.iter().any(|path| std::path::Path::new(path).exists())
}

/// Returns the names of all kernels that a run may load.
pub fn kernel_names() -> Vec<String> {
    let mut names = papers::colony::kernel_names();
    names.extend(papers::descent::kernel_names());
    names.extend(papers::genetic::kernel_names());
    names.extend(lin_kernighan::kernel_names());
    names.extend(papers::walks::kernel_names());
    names.extend(small_tours::kernel_names());
    names
}
