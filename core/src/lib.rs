//! Data types shared by host and device, and the algorithms of antwarp that run on both, written once and generic
//! over a [`team`] of threads: a CUDA block, a CUDA warp, or one CPU thread.
#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(core_float_math, link_llvm_intrinsics, abi_unadjusted, asm_experimental_arch)
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]
#![warn(missing_docs)]

#[cfg(test)]
extern crate std;

pub mod combinations;
pub mod distance;
pub mod geometry;
pub mod group;
pub mod kernels;
pub mod lin_kernighan;
pub mod math;
pub mod metric;
pub mod node;
pub mod operator;
pub mod papers;
pub mod power;
pub mod relaxed;
pub mod rng;
pub mod sine;
pub mod team;
pub mod tour;
