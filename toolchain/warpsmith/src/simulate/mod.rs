//! The device, simulated: what each thread of a launch finds.
//!
//! Outside of a launch, device code is the only thread of the only block.

use core::panic::Location;
use std::cell::Cell;
use std::ptr;
use std::time::Instant;

mod cluster;
mod engine;
// Stacks are switched by assembly, which Miri does not run.
#[cfg_attr(
    not(all(any(target_arch = "x86_64", all(target_arch = "aarch64", not(windows))), not(miri))),
    path = "fiber_on_threads.rs"
)]
mod fiber;
mod memory;
#[cfg(all(any(target_arch = "x86_64", all(target_arch = "aarch64", not(windows))), not(miri)))]
mod overflow;
mod panics;
#[cfg(test)]
mod tests;

pub use engine::{Dim, Failure, Job, Order, run};
use engine::{Engine, Kind, PAUSE};

use crate::warp::LANES;

pub const HAS_REDUX: bool = false;

/// What a simulated thread knows of itself.
#[derive(Clone)]
struct Current {
    engine: Cell<*const Engine<'static>>,
    /// The number among the threads that the engine has at hand.
    slot: Cell<u32>,
    thread: Cell<Dim>,
    block: Cell<Dim>,
    threads: Cell<Dim>,
    blocks: Cell<Dim>,
    /// Number of atomic accesses, or the state of the generator that decides after which of them others run.
    ticks: Cell<u32>,
    /// Atomic accesses since others ran last, or since one changed a value.
    idle: Cell<u32>,
    /// The number of the call of the kernel, among all of the process.
    owner: Cell<Owner>,
    /// Whether the kernel was called while a panic was under way.
    was_panicking: Cell<bool>,
}

impl Current {
    fn set(&self, other: &Current) {
        let Current { engine, slot, thread, block, threads, blocks, ticks, idle, owner, was_panicking } =
            other;
        self.engine.set(engine.get());
        self.slot.set(slot.get());
        self.thread.set(thread.get());
        self.block.set(block.get());
        self.threads.set(threads.get());
        self.blocks.set(blocks.get());
        self.ticks.set(ticks.get());
        self.idle.set(idle.get());
        self.owner.set(owner.get());
        self.was_panicking.set(was_panicking.get());
    }
}

/// The owner of an index or of shared memory: the call of the kernel, so that nothing passes from one simulated thread to another that
/// runs on the same worker.
pub type Owner = u64;

/// What belongs to no thread.
pub const ANYONE: Owner = 0;

/// What was made outside of a launch.
const NOBODY: Owner = u64::MAX;

const ONE: Dim = Dim { x: 1, y: 1, z: 1 };
const ORIGIN: Dim = Dim { x: 0, y: 0, z: 0 };

thread_local! {
    static CURRENT: Current = const {
        Current {
            engine: Cell::new(ptr::null()),
            slot: Cell::new(0),
            thread: Cell::new(ORIGIN),
            block: Cell::new(ORIGIN),
            threads: Cell::new(ONE),
            blocks: Cell::new(ONE),
            ticks: Cell::new(0),
            idle: Cell::new(0),
            owner: Cell::new(NOBODY),
            was_panicking: Cell::new(false),
        }
    };
}

macro_rules! positions {
    ($($name:ident, $of:ident, $axis:ident;)*) => { $(
        #[inline]
        pub fn $name() -> u32 {
            CURRENT.with(|current| current.$of.get().$axis)
        }
    )* };
}

positions! {
    tid_x, thread, x; tid_y, thread, y; tid_z, thread, z;
    ctaid_x, block, x; ctaid_y, block, y; ctaid_z, block, z;
    ntid_x, threads, x; ntid_y, threads, y; ntid_z, threads, z;
    nctaid_x, blocks, x; nctaid_y, blocks, y; nctaid_z, blocks, z;
}

#[inline]
pub fn owner() -> Owner {
    CURRENT.with(|current| current.owner.get())
}

#[inline]
#[track_caller]
pub fn check_owner(of: Owner, what: &str) {
    assert!(of == ANYONE || of == owner(), "{what} is of another thread or launch: it was put aside");
}

/// Returns whether the kernel unwinds: its launch has failed, and destructors run.
fn is_unwinding() -> bool {
    std::thread::panicking() && !CURRENT.with(|current| current.was_panicking.get())
}

/// Calls `f` with the engine and the thread's slot; returns `None` outside of a launch, and in destructors of a failed one: there
/// nobody waits for others, and another panic would abort the process.
fn with_engine<R>(f: impl FnOnce(&Engine<'_>, u32) -> R) -> Option<R> {
    if is_unwinding() { None } else { with_any_engine(f) }
}

/// As [`with_engine`], also while the kernel unwinds.
fn with_any_engine<R>(f: impl FnOnce(&Engine<'_>, u32) -> R) -> Option<R> {
    let (engine, slot) = CURRENT.with(|current| (current.engine.get(), current.slot.get()));
    // SAFETY: the engine sets it for as long as it runs a thread, and clears it.
    (!engine.is_null()).then(|| f(unsafe { &*engine }, slot))
}

pub fn lane() -> u32 {
    crate::thread::in_block() % 32
}

pub fn architecture() -> u32 {
    0
}

#[track_caller]
pub fn sync_threads() {
    sync_threads_count(false);
}

#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    let place = Location::caller();
    let count =
        with_engine(|engine, slot| engine.meet(slot, Kind::Barrier, place, predicate as u64)[0] as u32);
    count.unwrap_or(predicate as u32)
}

#[track_caller]
pub fn sync_threads_and(predicate: bool) -> bool {
    sync_threads_count(!predicate) == 0
}

#[track_caller]
pub fn sync_threads_or(predicate: bool) -> bool {
    sync_threads_count(predicate) != 0
}

#[track_caller]
pub fn sync_grid() {
    let place = Location::caller();
    with_engine(|engine, slot| engine.meet(slot, Kind::Grid, place, 0));
}

#[track_caller]
pub fn sync_warps(id: u32, warps: u32) {
    let place = Location::caller();
    with_engine(|engine, slot| engine.meet(slot, Kind::Warps { id, warps }, place, 0));
}

pub fn cluster_rank() -> u32 {
    with_any_engine(|engine, slot| engine.cluster_rank(slot)).unwrap_or(0)
}

pub fn cluster_blocks() -> u32 {
    with_any_engine(|engine, _| engine.cluster_size()).unwrap_or(1)
}

#[track_caller]
pub fn sync_cluster() {
    let place = Location::caller();
    with_engine(|engine, slot| engine.meet(slot, Kind::Cluster, place, 0));
}

pub fn of_cluster(p: *mut u8, rank: u32) -> *mut u8 {
    with_any_engine(|engine, slot| engine.of_cluster(slot, p, rank)).unwrap_or(p)
}

/// Returns the values of all lanes of the mask, with 0 for others.
fn exchange(mask: u32, value: u64, place: &'static Location<'static>) -> [u64; 32] {
    let alone = || core::array::from_fn(|i| if i == 0 { value } else { 0 });
    with_engine(|engine, slot| engine.meet(slot, Kind::Warp(mask), place, value)).unwrap_or_else(alone)
}

#[track_caller]
pub fn sync_warp(mask: u32) {
    exchange(mask, 0, Location::caller());
}

/// The lanes that run together: this one alone, which is always right.
pub fn active_mask() -> u32 {
    1 << lane()
}

#[track_caller]
pub fn ballot(mask: u32, predicate: bool) -> u32 {
    let all = exchange(mask, predicate as u64, Location::caller());
    (0..32).filter(|&i| mask >> i & 1 != 0 && all[i as usize] != 0).map(|i| 1 << i).sum()
}

#[track_caller]
pub fn all(mask: u32, predicate: bool) -> bool {
    ballot(mask, !predicate) == 0
}

#[track_caller]
pub fn any(mask: u32, predicate: bool) -> bool {
    ballot(mask, predicate) != 0
}

#[track_caller]
pub fn match_any_u64(mask: u32, value: u64) -> u32 {
    let all = exchange(mask, value, Location::caller());
    let takes_part = mask & with_engine(|engine, slot| engine.lanes(slot)).unwrap_or(1);
    (0..32).filter(|&i| takes_part >> i & 1 != 0 && all[i as usize] == value).map(|i| 1 << i).sum()
}

#[track_caller]
pub fn match_any_u32(mask: u32, value: u32) -> u32 {
    match_any_u64(mask, value as u64)
}

#[track_caller]
pub fn match_all_u64(mask: u32, value: u64) -> bool {
    let takes_part = mask & with_engine(|engine, slot| engine.lanes(slot)).unwrap_or(1);
    match_any_u64(mask, value) == takes_part
}

#[track_caller]
pub fn match_all_u32(mask: u32, value: u32) -> bool {
    match_all_u64(mask, value as u64)
}

/// Exchanges values and returns that of lane `from`; its own for a lane outside of its piece of the warp.
fn take(mask: u32, value: u32, from: Option<u32>, place: &'static Location<'static>) -> u32 {
    let all = exchange(mask, value as u64, place);
    let Some(from) = from else { return value };
    let lanes = with_engine(|engine, slot| engine.lanes(slot)).unwrap_or(1);
    if mask & lanes & 1 << from == 0 {
        with_engine(|engine, slot| engine.reads_outside(slot, from, mask, place));
        return value;
    }
    all[from as usize] as u32
}

type Place = &'static Location<'static>;

/// Returns the first and the last lane of this lane's piece of the warp.
fn piece(bounds: u32) -> (u32, u32) {
    let size = 32 - (bounds >> 8);
    let first = lane() / size * size;
    (first, first + size - 1)
}

pub fn shuffle(mask: u32, value: u32, from: u32, bounds: u32, place: Place) -> u32 {
    let (first, last) = piece(bounds);
    take(mask, value, Some(first + from % (last - first + 1)), place)
}

// Of a distance, a GPU takes the five low bits.

pub fn shuffle_up(mask: u32, value: u32, by: u32, bounds: u32, place: Place) -> u32 {
    let from = lane().checked_sub(by % LANES).filter(|&from| from >= piece(bounds).0);
    take(mask, value, from, place)
}

pub fn shuffle_down(mask: u32, value: u32, by: u32, bounds: u32, place: Place) -> u32 {
    let from = Some(lane() + by % LANES).filter(|&from| from <= piece(bounds).1);
    take(mask, value, from, place)
}

pub fn shuffle_xor(mask: u32, value: u32, by: u32, bounds: u32, place: Place) -> u32 {
    let from = Some(lane() ^ (by % LANES)).filter(|&from| from <= piece(bounds).1);
    take(mask, value, from, place)
}

macro_rules! redux {
    ($($name:ident)*) => { $(
        /// Never called: `HAS_REDUX` is false.
        pub fn $name(_mask: u32, value: u32) -> u32 {
            value
        }
    )* };
}

redux! { redux_add redux_umin redux_umax redux_min redux_max }

macro_rules! fences {
    ($($name:ident)*) => { $(
        pub fn $name() {
            core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
        }
    )* };
}

fences! {
    fence_block fence_device fence_system fence_block_acq_rel fence_device_acq_rel fence_system_acq_rel
}

/// How many atomic accesses a thread makes before others run: it may be waiting for them.
const TURN: u32 = 256;

/// Lets other threads run now and then. `has_changed` says whether the access has changed the value: a thread that only looks, while
/// no other can run, does so for ever.
pub fn after_atomic(has_changed: impl FnOnce() -> bool) {
    let Some(is_shuffled) = with_engine(|engine, _| engine.is_shuffled()) else { return };
    let is_over = CURRENT.with(|current| {
        current.idle.set(if has_changed() { 0 } else { current.idle.get().saturating_add(1) });
        let ticks = current.ticks.get();
        if is_shuffled {
            // A generator by Marsaglia, xorshift32.
            let mut state = ticks | 1;
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            current.ticks.set(state);
            state >> 28 == 0
        } else {
            current.ticks.set(ticks.wrapping_add(1));
            ticks % TURN == TURN - 1
        }
    });
    if is_over {
        let idle = CURRENT.with(|current| current.idle.take());
        with_engine(|engine, slot| engine.pause(slot, idle as u64));
    }
}

pub fn pause(_nanoseconds: u32) {
    with_engine(|engine, slot| engine.pause(slot, PAUSE));
}

pub fn clock() -> u64 {
    nanoseconds()
}

pub fn nanoseconds() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

#[track_caller]
pub fn trap() -> ! {
    panic!("the kernel trapped")
}

pub unsafe fn shared_pointer(p: *mut u8) -> *mut u8 {
    p
}

#[track_caller]
pub fn shared_of_site(site: *const u8, bytes: usize, align: usize, is_kept: bool) -> *mut u8 {
    let place = Location::caller();
    with_any_engine(|engine, slot| engine.shared(slot, site, (bytes, align, is_kept), place, is_unwinding()))
        .expect("shared memory outside of a launch: call the kernel through `Kernels`")
}

pub fn dynamic_shared() -> *mut u8 {
    with_any_engine(|engine, slot| engine.dynamic_shared(slot).0).unwrap_or(ptr::without_provenance_mut(16))
}

pub fn dynamic_shared_bytes() -> usize {
    with_any_engine(|engine, slot| engine.dynamic_shared(slot).1).unwrap_or(0)
}

pub unsafe fn copy_async<const BYTES: usize>(to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promise.
    unsafe { ptr::copy_nonoverlapping(from, to, BYTES) }
}

pub fn copy_wait<const LEFT: u32>() {}

pub fn copy_group() {}

pub unsafe fn add_f32(p: *mut f32, value: f32) -> f32 {
    // SAFETY: the caller's promise.
    unsafe { crate::plain::add_f32(p, value) }
}

pub unsafe fn add_f64(p: *mut f64, value: f64) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { crate::plain::add_f64(p, value) }
}
