//! Loads and stores of memory that many teams change at the same time: relaxed atomic ones, so that a race is a value
//! from before or after and never undefined.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The value at `place`.
///
/// # Safety
/// `place` is aligned and valid for reads, and everyone who writes there meanwhile does so by this module.
#[inline(always)]
pub unsafe fn load(place: *mut u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU32::from_ptr(place) }.load(Relaxed)
}

/// Replaces the value at `place`.
///
/// # Safety
/// As [`load`], and valid for writes.
#[inline(always)]
pub unsafe fn store(place: *mut u32, value: u32) {
    // SAFETY: the caller's promise.
    unsafe { AtomicU32::from_ptr(place) }.store(value, Relaxed)
}

/// The number at `place`.
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub unsafe fn load_f32(place: *mut f32) -> f32 {
    // SAFETY: the caller's promise; both have the same size and alignment.
    f32::from_bits(unsafe { load(place.cast()) })
}

/// Replaces the number at `place`.
///
/// # Safety
/// As [`store`].
#[inline(always)]
pub unsafe fn store_f32(place: *mut f32, value: f32) {
    // SAFETY: the caller's promise; both have the same size and alignment.
    unsafe { store(place.cast(), value.to_bits()) }
}

/// Replaces the number at `place` by what `revise` makes of it; no other update comes between.
///
/// # Safety
/// As [`store`].
#[inline(always)]
pub unsafe fn update_f32(place: *mut f32, revise: impl Fn(f32) -> f32) {
    // SAFETY: the caller's promise; both have the same size and alignment.
    let number = unsafe { AtomicU32::from_ptr(place.cast()) };
    let mut seen = number.load(Relaxed);
    loop {
        let next = revise(f32::from_bits(seen)).to_bits();
        match number.compare_exchange_weak(seen, next, Relaxed, Relaxed) {
            Ok(_) => return,
            Err(newer) => seen = newer,
        }
    }
}

/// The two words at `place`, which change together.
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub unsafe fn load_pair(place: *mut u64) -> (u32, u32) {
    // SAFETY: the caller's promise.
    let both = unsafe { AtomicU64::from_ptr(place) }.load(Relaxed);
    (both as u32, (both >> 32) as u32)
}

/// Replaces the two words at `place` together.
///
/// # Safety
/// As [`store`].
#[inline(always)]
pub unsafe fn store_pair(place: *mut u64, (first, second): (u32, u32)) {
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(place) }.store(first as u64 | (second as u64) << 32, Relaxed)
}

/// The number at `place`.
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub unsafe fn load_u64(place: *mut u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(place) }.load(Relaxed)
}

/// Adds to the number at `place`, which is told as it was before.
///
/// # Safety
/// As [`store`].
#[inline(always)]
pub unsafe fn fetch_add_u64(place: *mut u64, more: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(place) }.fetch_add(more, Relaxed)
}
