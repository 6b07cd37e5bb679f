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

pub mod acs;
pub mod colony;
pub mod combinations;
pub mod construct;
pub mod distance;
pub mod genetic;
pub mod geometry;
pub mod group;
pub mod kernels;
pub mod lin_kernighan;
pub mod local_search;
pub mod math;
pub mod metric;
pub mod neighborhood;
pub mod node;
pub mod operator;
pub mod pheromone;
pub mod power;
pub mod problem;
pub mod relaxed;
pub mod rng;
pub mod search;
pub mod select;
pub mod sine;
pub mod tabu;
pub mod team;
pub mod tour;
