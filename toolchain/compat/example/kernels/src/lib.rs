//! Kernels in the manner of 2022: the attribute below is one that rustc no longer has.

#![cfg_attr(
    target_os = "cuda",
    no_std,
    feature(register_attr),
    register_attr(nvvm_internal)
)]
#![allow(improper_ctypes_definitions, clippy::missing_safety_doc)]

use core::mem::MaybeUninit;

use cuda_std::atomic::AtomicF32;
use cuda_std::prelude::*;
use cuda_std::warp::{self, WarpReductionOp};
use cuda_std::{address_space, shared_array};
#[allow(unused_imports)] // on the host, std has the functions
use cuda_std::GpuFloat;
use cust_core::DeviceCopy;

extern crate alloc;

/// Threads of a block.
pub const THREADS: usize = 256;

/// A slice under another name is two parameters as well.
pub type Values<'a> = &'a [f32];

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct Line {
    pub slope: f64,
    pub offset: f64,
    pub doubled: bool,
}

#[kernel]
pub unsafe fn add(a: &[f32], b: Values, c: *mut f32) {
    let i = thread::index_1d() as usize;
    if i < a.len() {
        let c = &mut *c.add(i);
        *c = a[i] + b[i];
    }
}

/// The sum of each block, by a tree in shared memory.
#[kernel]
pub unsafe fn block_sums(x: &[f32], sums: *mut f32) {
    // A length that only this function knows.
    const PLACES: usize = THREADS;
    let shared = shared_array![f32; PLACES];
    let (i, own) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    *shared.add(own) = if i < x.len() { x[i] } else { 0.0 };
    thread::sync_threads();
    let mut half = PLACES / 2;
    while half > 0 {
        if own < half {
            *shared.add(own) += *shared.add(own + half);
        }
        thread::sync_threads();
        half /= 2;
    }
    if own == 0 {
        *sums.add(thread::block_idx_x() as usize) = *shared;
    }
}

/// Three sums of each warp: by shuffles, by a reduction, and of the lanes with an odd value.
#[kernel]
pub unsafe fn warp_sums(x: &[u32], sums: *mut [u32; 3]) {
    let i = thread::index_1d() as usize;
    let value = x[i];
    let mut sum = value;
    for by in [16, 8, 4, 2, 1] {
        sum += warp::warp_shuffle_down(u32::MAX, sum, by, 32).0;
    }
    let all = warp::warp_reduce(u32::MAX, value, WarpReductionOp::Add);
    let odd = warp::warp_vote_ballot(u32::MAX, value % 2 == 1);
    if warp::lane_id() == 0 {
        *sums.add(i / 32) = [sum, all, odd.count_ones()];
    }
}

/// The last lane of each half a warp, seen from below: the second result is whether there is such a lane.
#[kernel]
pub unsafe fn neighbours(x: &[f64], above: *mut f64, exists: *mut u32) {
    let i = thread::index_1d() as usize;
    let (value, within) = warp::warp_shuffle_down(u32::MAX, x[i], 1, 16);
    *above.add(i) = value;
    *exists.add(i) = within as u32;
}

/// The values of a block backwards, through a static in shared memory.
#[kernel]
pub unsafe fn reversed(x: &[u64], out: *mut u64) {
    #[address_space(shared)]
    static mut PLACES: [MaybeUninit<u64>; THREADS] = [const { MaybeUninit::uninit() }; THREADS];

    let (i, own) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    PLACES[own].write(x[i]);
    thread::sync_threads();
    *out.add(i) = PLACES[THREADS - 1 - own].assume_init();
}

/// Functions of floats, in both widths.
#[kernel]
pub unsafe fn waves(x: &[f32], out: *mut f32, wide: *mut f64) {
    let i = thread::index_1d() as usize;
    if i < x.len() {
        *out.add(i) = x[i].sin() * x[i].sin() + x[i].cos().powi(2) + x[i].abs().sqrt().floor();
        let x = x[i] as f64;
        *wide.add(i) = (1.0 + x * x).ln().exp().powf(0.5).mul_add(2.0, x.tanh());
    }
}

/// A struct by value, and a sum of all by an atomic.
#[kernel]
pub unsafe fn line(line: Line, n: usize, sum: &AtomicF32) {
    let i = thread::index() as usize;
    if i < n {
        let y = line.slope * i as f64 + line.offset;
        sum.fetch_add(if line.doubled { 2.0 * y as f32 } else { y as f32 }, core::sync::atomic::Ordering::Relaxed);
    }
}

/// The length of a text that the device formats, on its heap.
#[kernel]
pub unsafe fn formatted(text: &str, n: u32, len: *mut u32) {
    if thread::first() {
        let text = format!("{text} {n}");
        println!("a kernel says: {text}");
        cuda_std::assert_eq!(text.is_empty(), false);
        *len = text.len() as u32;
    }
}
