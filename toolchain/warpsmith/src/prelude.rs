//! What a kernel uses: `use warpsmith::prelude::*;`.

pub use core::sync::atomic::Ordering;

pub use crate::atomic::{AtomicF32, AtomicF64, AtomicI32, AtomicI64, AtomicU32, AtomicU64};
pub use crate::block::{sync_threads, sync_threads_and, sync_threads_count, sync_threads_or};
pub use crate::shared::Shared;
pub use crate::slots::{PerBlock, PerPosition, PerWarp};
pub use crate::thread::Index;
pub use crate::tile::{Below, Matrix, Tile};
pub use crate::{Atomic, DeviceCopy, Slots, block, cluster, fence, grid, shared, thread, warp};

#[cfg(feature = "macros")]
pub use crate::kernel;

#[cfg(all(feature = "host", not(target_os = "cuda")))]
pub use crate::{Buffer, Device, Grid, Stream};
