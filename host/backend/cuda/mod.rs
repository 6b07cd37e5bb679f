//! The CUDA backend: the driver, loaded at run time; kernels, compiled by the driver from the embedded PTX; typed
//! launchers; the colony's buffers.

mod buffer;
mod cards;
mod colony;
mod descent;
mod device;
mod genetic;
mod launch;
mod lin_kernighan;
mod module;
mod tables;
mod walks;

pub use buffer::Buffer;
pub use cards::Cards;
pub use colony::{CudaAcs, CudaColony, TEAM_BYTES};
pub use descent::CudaDescent;
pub use device::{Device, DeviceFacts, devices};
pub use genetic::CudaPopulation;
pub use launch::{
    BreedIndividuals, ConstructAcs, ConstructCandidates, ConstructFull, DepositAcs, EvaluateNeighbors,
    FinishIndividuals, Judge, Launch, LocalSearch, MakeIndividuals, MakeMoves, PackChanges, PlaceNodes,
    PlanMerge, PrepareAcs, PrepareTrails, ProposeMoves, RunTrials, SelectMove, SettleTours, TakeChanges,
    TourCosts, TransferIndividuals, TurnStretch, UnpackChanges, UpdateTrails, Walks, buffers,
};
pub use lin_kernighan::{CudaLinKernighan, default_trials, looks, trials, useful};
pub use module::{KernelFacts, Ptx, kernels, load_function, load_text, texts};
pub use walks::{CREW_BYTES, CudaNeighbors, CudaWalks, walk_kernel};

/// Returns the names of all kernels that may be loaded.
pub fn kernel_names() -> Vec<String> {
    let mut names = colony::kernel_names();
    names.extend(descent::kernel_names());
    names.extend(genetic::kernel_names());
    names.extend(lin_kernighan::kernel_names());
    names.extend(walks::kernel_names());
    names
}
