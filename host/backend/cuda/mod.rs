//! The CUDA backend: the driver, loaded at run time; kernels, compiled by the driver from the embedded PTX; typed
//! launchers; the colony's buffers.

mod buffer;
mod colony;
mod device;
mod launch;
mod module;
pub mod ptx;

pub use buffer::{Buffer, Plain};
pub use colony::{CudaColony, TEAM_BYTES, kernel_names};
pub use device::{Device, DeviceFacts, devices};
pub use launch::{ConstructCandidates, ConstructFull, Judge, Launch, PrepareTrails, TourCosts, UpdateTrails};
pub use module::{KernelFacts, kernels, load_function, texts};
