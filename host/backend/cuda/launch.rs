//! Typed launchers, one per kernel family, generated from the contract in `antwarp_core::kernels`. Kernels are launched nowhere
//! else.

use std::ffi::c_void;

use antwarp_core::kernels::{
    AcsArgs, ConstructArgs, CostArgs, GeneticArgs, JudgeArgs, PassArgs, SearchArgs, SmallArgs, TrailArgs,
    TrialArgs, WalkArgs,
};
use antwarp_core::lin_kernighan::merge::Merged;
use antwarp_core::papers::ants::colony::ColonyState;
use antwarp_core::papers::local_search::best::DescentState;
use antwarp_core::papers::search::WalkState;
use warpsmith::{Function, Grid, Stream};

use super::Buffer;
use super::error::not_launched;
use crate::engine::BackendError;

/// The shape of a launch, in one dimension.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Number of blocks.
    pub grid: u32,
    /// Threads per block, a multiple of 32.
    pub block: u32,
    /// Bytes of dynamic shared memory per block.
    pub shared: u32,
}

impl From<Launch> for Grid {
    fn from(l: Launch) -> Self {
        Grid::new(l.grid, l.block).shared_bytes(l.shared)
    }
}

macro_rules! parameter {
    ($lifetime:lifetime In<$t:ty>) => { &$lifetime Buffer<$t> };
    ($lifetime:lifetime InOut<$t:ty>) => { &$lifetime mut Buffer<$t> };
}

macro_rules! launchers {
    ($($(#[$doc:meta])* $family:ident($args:ident) { $($p:ident: $kind:ident<$element:ty>),* $(,)? })*) => {
        /// The buffers of a launch, under the contract's names, so that two of the same type cannot be swapped by accident. Each
        /// struct has the name of its launcher.
        pub mod buffers {
            use super::{Buffer, ColonyState, DescentState, Merged, WalkState};

            $(
                $(#[$doc])*
                // The kernel's documentation describes them.
                #[allow(missing_docs)]
                pub struct $family<'a> { $(pub $p: parameter!('a $kind<$element>)),* }
            )*
        }

        $(
            $(#[$doc])*
            pub struct $family {
                /// The kernel's name.
                pub name: String,
                /// The loaded kernel.
                pub function: Function,
            }

            impl $family {
                /// Queues a launch. If the kernel fails when it runs, later waits and copies report that.
                ///
                /// # Errors
                /// If the driver rejects the launch.
                ///
                /// # Safety
                /// The buffers have the sizes given by `args` and required by the kernel's documentation, and so has the shared
                /// memory.
                pub unsafe fn launch(
                    &self, stream: &Stream, launch: Launch, args: $args, buffers: buffers::$family<'_>,
                ) -> Result<(), BackendError> {
                    // SAFETY: the caller's promise.
                    unsafe { self.launch_as(false, stream, launch, args, buffers) }
                }

                /// As `launch`; with `together`, cooperative, with all blocks running at the same time.
                ///
                /// # Errors
                /// If the driver rejects the launch, for example because the blocks do not all fit on the device at once.
                ///
                /// # Safety
                /// As `launch`.
                pub unsafe fn launch_as(
                    &self, together: bool, stream: &Stream, launch: Launch, args: $args,
                    buffers: buffers::$family<'_>,
                ) -> Result<(), BackendError> {
                    let grid = Grid::from(launch);
                    let grid = if together { grid.cooperative() } else { grid };
                    let mut scalars = args;
                    $(let mut $p = buffers.$p.address();)*
                    let mut parameters = [(&raw mut scalars).cast::<c_void>(), $((&raw mut $p).cast()),*];
                    // SAFETY: parameters are those of the contract, in its order; sizes are the caller's promise. Every buffer is used
                    // on one stream only, except for tours of Lin-Kernighan that GPUs share: their streams wait for each other's events.
                    let launched = unsafe { self.function.launch(stream, grid, &mut parameters) };
                    launched.map_err(|error| not_launched(&self.name, error))
                }
            }
        )*
    };
}
antwarp_core::with_kernel_families!(launchers);
