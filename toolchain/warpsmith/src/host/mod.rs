//! What a program needs to run kernels.

use std::boxed::Box;

mod buffer;
mod cache;
mod device;
mod error;
mod event;
mod failure;
mod gpu;
mod graph;
mod grid;
pub mod image;
mod launch;
mod module;
mod pinned;
mod queue;
mod signature;
mod stack;
mod stream;
pub mod testing;

pub use buffer::{Buffer, DeviceSlice, Slice, SliceMut};
pub use device::{Device, Properties};
pub use error::{Error, Result};
pub use event::Event;
pub use graph::Graph;
pub use grid::{Extent, Grid};
#[doc(hidden)]
pub use launch::Launch;
#[doc(hidden)]
pub use module::Named;
pub use module::{KernelFacts, Module};
pub use pinned::Pinned;
pub use stream::Stream;

/// What a launch calls for each thread on the CPU.
pub(crate) type Body = Box<dyn Fn()>;
