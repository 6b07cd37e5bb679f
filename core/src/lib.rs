//! Data types shared by host and device, and every algorithm of antwarp, written once and generic
//! over a [`team`](crate::team) of threads: a CUDA block, a CUDA warp, or one CPU thread.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(core_float_math))]
#![warn(missing_docs)]

#[cfg(test)]
extern crate std;

pub mod math;
pub mod metric;
