//! What the tests of both construction families share.

use antwarp::backend::cuda::Device;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::colony::{ColonyState, Limits};
use antwarp_core::team::Slots;

use crate::gpu::{Poison, assert_same};
use crate::input::{Quad, is_tour, numbers};

/// Ants of every colony here: more than its grids have teams.
pub const ANTS: u32 = 13;

/// Where an ant's memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In shared memory.
    Shared,
    /// In global memory.
    Global,
}

/// The state of a colony whose work goes on (0) or is done (1).
pub fn state(done: u32) -> ColonyState {
    let limits = Limits { lowest: 0.5, highest: 2.0, deposit: 1.0 };
    ColonyState { done, ..ColonyState::new(limits) }
}

/// The tours that `build` writes, an ant after the other, in the same poisoned memory.
///
/// `build` gets the ant, `memory` bytes and room for n ids.
pub fn serial_tours<I: NodeId>(
    n: u32,
    ants: u32,
    memory: usize,
    build: impl Fn(u32, *mut u8, Slots<I>),
) -> Vec<u32> {
    let mut memory = vec![Quad([f32::POISON; 4]); memory.div_ceil(size_of::<Quad>())];
    let mut tours = Vec::new();
    for ant in 0..ants {
        let mut tour = vec![I::new(0); n as usize];
        // SAFETY: n ids, used while `tour` lives.
        build(ant, memory.as_mut_ptr().cast(), unsafe { Slots::of(&mut tour) });
        let tour = numbers(&tour);
        assert!(is_tour(&tour, n), "ant {ant}: no tour of {n} nodes: {tour:?}");
        tours.extend(tour);
    }
    tours
}

/// Compares tours one by one.
pub fn assert_same_tours(what: &str, n: u32, gpu: &[u32], cpu: &[u32]) {
    assert_eq!(gpu.len(), cpu.len(), "{what}");
    for (ant, (gpu, cpu)) in gpu.chunks(n as usize).zip(cpu.chunks(n as usize)).enumerate() {
        assert_same(&format!("{what}, ant {ant}"), gpu, cpu);
    }
}

/// Whether the device has this much shared memory; if not, says so.
pub fn has_shared(device: &Device, what: &str, bytes: u32) -> bool {
    let fits = bytes <= device.shared_limit();
    if !fits {
        println!("skipped: {what}: {bytes} bytes of shared memory are more than the device has");
    }
    fits
}
