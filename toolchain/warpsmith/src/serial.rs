//! A host without `std`: device code runs as the only thread of the only block.

pub const HAS_REDUX: bool = false;

macro_rules! constants {
    ($($value:literal: $($name:ident)*;)*) => { $($(
        #[inline(always)]
        pub fn $name() -> u32 {
            $value
        }
    )*)* };
}

constants! {
    0: tid_x tid_y tid_z ctaid_x ctaid_y ctaid_z lane architecture cluster_rank;
    1: cluster_blocks ntid_x ntid_y ntid_z nctaid_x nctaid_y nctaid_z active_mask;
}

macro_rules! nothing {
    ($($name:ident)*) => { $(
        #[inline(always)]
        pub fn $name() {}
    )* };
}

nothing! {
    sync_threads sync_grid sync_cluster copy_group
    fence_block fence_device fence_system fence_block_acq_rel fence_device_acq_rel fence_system_acq_rel
}

pub fn sync_threads_count(predicate: bool) -> u32 {
    predicate as u32
}

pub fn sync_threads_and(predicate: bool) -> bool {
    predicate
}

pub fn sync_threads_or(predicate: bool) -> bool {
    predicate
}

pub fn sync_warp(_mask: u32) {}

pub fn sync_warps(_id: u32, _warps: u32) {}

pub fn of_cluster(p: *mut u8, _rank: u32) -> *mut u8 {
    p
}

pub fn ballot(_mask: u32, predicate: bool) -> u32 {
    predicate as u32
}

pub fn all(_mask: u32, predicate: bool) -> bool {
    predicate
}

pub fn any(_mask: u32, predicate: bool) -> bool {
    predicate
}

pub fn match_any_u32(_mask: u32, _value: u32) -> u32 {
    1
}

pub fn match_any_u64(_mask: u32, _value: u64) -> u32 {
    1
}

pub fn match_all_u32(_mask: u32, _value: u32) -> bool {
    true
}

pub fn match_all_u64(_mask: u32, _value: u64) -> bool {
    true
}

type Place = &'static core::panic::Location<'static>;

macro_rules! own_value {
    ($($shuffle:ident)*; $($redux:ident)*) => {
        $(pub fn $shuffle(_mask: u32, value: u32, _by: u32, _bounds: u32, _place: Place) -> u32 {
            value
        })*
        $(pub fn $redux(_mask: u32, value: u32) -> u32 {
            value
        })*
    };
}

own_value! {
    shuffle shuffle_up shuffle_down shuffle_xor;
    redux_add redux_umin redux_umax redux_min redux_max
}

pub fn clock() -> u64 {
    0
}

pub fn nanoseconds() -> u64 {
    0
}

pub fn pause(_nanoseconds: u32) {}

#[track_caller]
pub fn trap() -> ! {
    panic!("the kernel trapped")
}

pub unsafe fn shared_pointer(p: *mut u8) -> *mut u8 {
    p
}

pub fn dynamic_shared() -> *mut u8 {
    core::ptr::without_provenance_mut(16)
}

pub fn dynamic_shared_bytes() -> usize {
    0
}

/// Shared memory needs a place to live, which a host without `std` does not have.
pub fn shared_of_site(_site: *const u8, _bytes: usize, _align: usize, _is_kept: bool) -> *mut u8 {
    panic!("shared memory on a host needs the feature `host` of warpsmith")
}

pub unsafe fn copy_async<const BYTES: usize>(to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promise.
    unsafe { core::ptr::copy_nonoverlapping(from, to, BYTES) }
}

pub fn copy_wait<const LEFT: u32>() {}

pub unsafe fn add_f32(p: *mut f32, value: f32) -> f32 {
    // SAFETY: the caller's promise.
    unsafe { crate::plain::add_f32(p, value) }
}

pub unsafe fn add_f64(p: *mut f64, value: f64) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { crate::plain::add_f64(p, value) }
}

/// The owner of an index or of shared memory: there is only one here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner;

/// What belongs to no thread.
pub const ANYONE: Owner = Owner;

#[inline(always)]
pub fn owner() -> Owner {
    Owner
}

#[inline(always)]
pub fn check_owner(_of: Owner, _what: &str) {}

#[inline(always)]
pub fn after_atomic(_has_changed: impl FnOnce() -> bool) {}
