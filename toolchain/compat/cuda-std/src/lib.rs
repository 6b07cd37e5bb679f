//! A drop-in for Rust-CUDA's `cuda_std`: its names, for kernels that rustc itself compiles.
//!
//! In the kernels' `Cargo.toml`:
//!
//! ```toml
//! [dependencies]
//! cuda_std = { package = "warpsmith-cuda-std", version = "0.1" }
//! ```
//!
//! A kernel stays as it was:
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! #[kernel]
//! pub unsafe fn add(a: &[f32], b: &[f32], c: *mut f32) {
//!     let i = thread::index_1d() as usize;
//!     if i < a.len() {
//!         *c.add(i) = a[i] + b[i];
//!     }
//! }
//! ```
//!
//! A host may depend on the crate of kernels, too, for the types they share. What only a GPU can do is then there with its
//! signature: a thread on the host is the only one of its block, its warp and its launch.

#![no_std]
#![cfg_attr(
    target_os = "cuda",
    feature(abi_unadjusted, allow_internal_unstable, asm_experimental_arch, link_llvm_intrinsics),
    allow(internal_features, improper_ctypes, improper_ctypes_definitions)
)]

// A crate of kernels without std is a library of the host, too: it needs an allocator and a panic handler there.
#[cfg(not(target_os = "cuda"))]
extern crate std;

#[doc(hidden)]
pub extern crate alloc as __alloc;

mod param;

pub mod atomic;
pub mod cfg;
pub mod float;
pub mod io;
pub mod mem;
pub mod misc;
pub mod ptr;
pub mod shared;
pub mod thread;
pub mod warp;

pub use float::{FloatExt, GpuFloat};
pub use glam;
pub use half;
pub use half::{bf16, f16};
#[cfg(feature = "vek")]
pub use vek;
pub use warpsmith_compat_macros::{address_space, externally_visible, gpu_only, kernel};

/// What most kernels use.
pub mod prelude {
    pub use crate::__alloc::borrow::ToOwned;
    pub use crate::__alloc::boxed::Box;
    pub use crate::__alloc::format;
    pub use crate::__alloc::rc::Rc;
    pub use crate::__alloc::string::{String, ToString};
    pub use crate::__alloc::vec::Vec;
    pub use crate::{f16, kernel, thread};
    // `std` has its own on a host, and `core` has `assert_eq!` everywhere: with a second one by a glob, neither could be used.
    #[cfg(target_os = "cuda")]
    pub use crate::{print, println};
}

/// What macros of this crate expand to.
#[doc(hidden)]
pub mod __private {
    pub use crate::param::*;
}
