//! CUDA kernels in Rust.
//!
//! The same source is compiled twice. For the device (`nvptx64-nvidia-cuda`) this crate is the instructions of the GPU: indices,
//! barriers, warps, shared memory, atomics. For the host it has the same names, simulated on the CPU, and what a program needs to
//! run kernels: [`Device`], [`Stream`], [`Buffer`] and typed launches.
//!
//! ```
//! use warpsmith::prelude::*;
//!
//! warpsmith::module!(cpu); // `warpsmith::module!()` in a crate whose build script compiles the kernels
//!
//! #[kernel]
//! pub fn saxpy(a: f32, x: &[f32], y: &mut Slots<f32>) {
//!     let i = thread::index(); // a witness: no other thread of the launch has this index
//!     if let Some(y) = y.get_mut(i) {
//!         *y += a * x[i.get()];
//!     }
//! }
//!
//! fn main() -> warpsmith::Result {
//!     let device = warpsmith::Device::best()?;
//!     # let device = warpsmith::Device::cpu();
//!     let kernels = Kernels::load(&device)?;
//!     let stream = device.stream()?;
//!     let (x, mut y) = (stream.upload(&[1.0, 2.0])?, stream.upload(&[0.5, 0.5])?);
//!     kernels.saxpy(&stream, Grid::covering(2), (2.0, &x, &mut y))?;
//!     assert_eq!(stream.download(&y)?, [2.5, 4.5]);
//!     Ok(())
//! }
//! ```
//!
//! # What is safe
//!
//! - A thread writes global memory through [`Slots`], at an [`Index`] that no other thread has. The types [`PerWarp`](slots::PerWarp),
//!   [`PerBlock`](slots::PerBlock) and [`PerPosition`](slots::PerPosition) do the same for one element of each warp, of each block, and for
//!   the element at a row and column. To whom elements belong is part of the parameter's type, so all threads of a launch have the same
//!   division.
//! - Threads of a block exchange values through [`Shared::exchange`](shared::Shared::exchange): each writes its own place, all
//!   wait, then all read. Blocks of a cluster do it through [`cluster::exchange`].
//! - Members of a [`team`] combine and exchange values by its methods.
//! - Threads share counters through [`Atomic`]: those of a launch in a buffer, those of a block in `shared!([AtomicU32; 64])`, those of a
//!   cluster through [`cluster::atomics`].
//! - The host borrows each buffer for its launch: one that is written is passed nowhere else. A launch compares the types of its arguments
//!   with those that the kernel was compiled for.
//!
//! What is `unsafe`, and what whoever writes it must know:
//!
//! | `unsafe` | promise |
//! | --- | --- |
//! | [`Slots::read`], [`Slots::write`] | within bounds; no other thread has the element, but before or after a barrier |
//! | `Shared::read` and `write`, and what [`Shared::as_ptr`](shared::Shared::as_ptr) and [`cluster::pointer`] return | the same; the block of the cluster has started, and does not end meanwhile |
//! | [`Index::assume`](thread::Index::assume), [`Atomic::from_ptr`] | no other thread has the index; every access is atomic |
//! | [`team::Warp::assume`], [`team::Block::assume`] | the thread has this number in a block of whole warps; the memory has no other use |
//! | [`memory::copy_async`] | nobody touches the place before [`memory::copy_wait`] and a barrier |
//! | a kernel that is an `unsafe fn` | what its documentation asks for, when it is launched |
//! | `unsafe impl DeviceCopy` | every pattern of bytes is a value |
//!
//! Three things no type checks:
//!
//! - **All threads of a block must reach the same barrier, all warps of a [`block::Barrier`], all threads of a cluster, all members of a
//!   team, and all lanes of a mask the same warp operation.** Otherwise a launch on a GPU may hang or give wrong results; on the simulated
//!   device it returns an error that names the place.
//! - A reference to shared memory must not be used after its block has ended: one that was leaked and kept in a `static`. On the simulated
//!   device its memory stays valid, and is used again for other atomics. On a GPU the address belongs to another block by then.
//! - Of a type with `unsafe impl DeviceCopy` a launch compares only size and alignment; `#[derive(DeviceCopy)]` compares names and types of
//!   its fields.
//!
//! # Statics
//!
//! **A `static` belongs to one kernel on a GPU, and to the whole program on the CPU.** Each kernel is loaded as a module of its own,
//! with its own copy of every static that it uses, which lasts from launch to launch. So nothing passes from one kernel to another
//! through a static on a GPU, while it does on the simulated device. Use a buffer for that.
//!
//! # Panics on the simulated device
//!
//! A panic of a kernel is the error of its launch. With `panic = "abort"` in the profile it ends the process. Destructors that run
//! because of it wait for no other thread: barriers and warp operations in them do nothing.

#![no_std]
#![cfg_attr(
    target_os = "cuda",
    feature(abi_unadjusted, allow_internal_unstable, asm_experimental_arch, link_llvm_intrinsics),
    allow(internal_features, improper_ctypes, improper_ctypes_definitions)
)]

#[cfg(all(feature = "host", not(target_os = "cuda")))]
#[macro_use]
extern crate std;

/// The name by which this crate's own macros find it.
extern crate self as warpsmith;

mod macros;

#[cfg(target_os = "cuda")]
#[path = "device/mod.rs"]
mod back;
#[cfg(all(feature = "host", not(target_os = "cuda")))]
#[path = "simulate/mod.rs"]
mod back;
#[cfg(all(not(feature = "host"), not(target_os = "cuda")))]
#[path = "serial.rs"]
mod back;

pub mod atomic;
pub mod block;
pub mod cluster;
pub mod fence;
pub mod grid;
pub mod half;
pub mod math;
pub mod memory;
pub mod param;
pub mod prelude;
pub mod print;
pub mod shared;
pub mod slots;
pub mod team;
pub mod thread;
pub mod tile;
pub mod warp;

mod misc;
mod plain;
#[cfg(any(target_os = "cuda", feature = "host"))]
mod record;
#[doc(hidden)]
pub mod shape;

pub use atomic::Atomic;
pub use block::sync_threads;
pub use misc::{architecture, clock, nanoseconds, trap};
pub use param::Param;
pub use plain::DeviceCopy;
pub use slots::Slots;
pub use thread::Index;
#[cfg(feature = "macros")]
pub use warpsmith_macros::{DeviceCopy, kernel, print, shared, test};

#[cfg(all(feature = "host", not(target_os = "cuda")))]
mod declared;
#[cfg(all(feature = "host", not(target_os = "cuda")))]
#[doc(hidden)]
pub use declared::Declared;
#[cfg(all(feature = "host", not(target_os = "cuda")))]
mod host;
#[cfg(all(feature = "host", not(target_os = "cuda")))]
pub use host::*;
