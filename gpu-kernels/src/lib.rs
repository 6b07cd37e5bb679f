//! The entry points of antwarp's CUDA kernels. The algorithms are in `antwarp-core`; an entry makes its team,
//! borrows its arguments and calls one function there.
#![no_std]
#![feature(abi_ptx, asm_experimental_arch)]

// First, because macros are only visible to the modules that follow.
#[macro_use]
mod entry;

mod canary;
mod cuda;
mod judge;
mod lin_kernighan;
mod papers;
mod small_tours;
mod tour_costs;
