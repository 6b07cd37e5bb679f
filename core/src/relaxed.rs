//! Loads and stores of memory that many teams change at the same time: relaxed atomics, so that a race gives a value from before or
//! after and is never undefined.
//!
//! On a GPU a load that is not `fresh` may take the value from the multiprocessor's own cache: other blocks' stores are seen after
//! a grid barrier or in the next launch, or earlier by chance.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Loads from a global address, at the scope of the device if `fresh`, else of the block. `fresh` should be a constant: two
/// alternative loads into one register would wait for each other.
#[cfg(target_arch = "nvptx64")]
macro_rules! scoped_load {
    ($fresh:ident, $place:ident, $type:literal, $values:literal, $at:literal, $($value:ident: $class:ident),*) => {
        if $fresh {
            scoped_load!(".gpu", $place, $type, $values, $at, $($value: $class),*)
        } else {
            scoped_load!(".cta", $place, $type, $values, $at, $($value: $class),*)
        }
    };
    ($scope:literal, $place:ident, $type:literal, $values:literal, $at:literal, $($value:ident: $class:ident),*) => {
        core::arch::asm!(
            concat!("{{ .reg .b64 %at; cvta.to.global.u64 %at, ", $at, ";"),
            concat!("ld.relaxed", $scope, ".global", $type, " ", $values, ", [%at]; }}"),
            $(out($class) $value,)*
            in(reg64) $place,
            options(nostack, readonly, preserves_flags)
        )
    };
}

/// Returns the value at `place`.
///
/// # Safety
/// `place` is aligned and valid for reads, and everyone who writes there meanwhile uses this module. On a GPU it is in global
/// memory.
#[inline(always)]
pub unsafe fn load(place: *mut u32, fresh: bool) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let value: u32;
        // SAFETY: the caller's promise. The PTX memory model gives a load that races with stores of the same size one of
        // the values stored; the scope of the block leaves the choice to its cache.
        unsafe { scoped_load!(fresh, place, ".b32", "{0}", "{1}", value: reg32) };
        value
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = fresh;
        // SAFETY: the caller's promise.
        unsafe { AtomicU32::from_ptr(place) }.load(Relaxed)
    }
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

/// Returns the number at `place`.
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub unsafe fn load_f32(place: *mut f32, fresh: bool) -> f32 {
    // SAFETY: the caller's promise; both have the same size and alignment.
    f32::from_bits(unsafe { load(place.cast(), fresh) })
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

/// Replaces the number at `place` by the result of `revise` for it; no other update comes in between. `seen` is a guess of the
/// number: if it is right, one access is saved. `revise` may be called several times.
///
/// # Safety
/// As [`store`].
#[inline(always)]
pub unsafe fn update_f32(place: *mut f32, seen: f32, revise: impl Fn(f32) -> f32) {
    // SAFETY: the caller's promise; both have the same size and alignment.
    let number = unsafe { AtomicU32::from_ptr(place.cast()) };
    let mut seen = seen.to_bits();
    loop {
        let next = revise(f32::from_bits(seen)).to_bits();
        match number.compare_exchange_weak(seen, next, Relaxed, Relaxed) {
            Ok(_) => return,
            Err(newer) => seen = newer,
        }
    }
}

/// Returns the two words at `place`, the lower half first, which change together.
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub unsafe fn load_pair(place: *mut u64, fresh: bool) -> (u32, u32) {
    #[cfg(target_arch = "nvptx64")]
    {
        let both: u64;
        // SAFETY: as in `load`.
        unsafe { scoped_load!(fresh, place, ".b64", "{0}", "{1}", both: reg64) };
        (both as u32, (both >> 32) as u32)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = fresh;
        // SAFETY: the caller's promise.
        let both = unsafe { AtomicU64::from_ptr(place) }.load(Relaxed);
        (both as u32, (both >> 32) as u32)
    }
}

/// Returns the two words at `place`, which change together, and the next two, which change together separately.
///
/// # Safety
/// As [`load`], for 16 bytes at a 16-byte boundary.
#[inline(always)]
pub unsafe fn load_two_pairs(place: *mut u64, fresh: bool) -> [(u32, u32); 2] {
    #[cfg(target_arch = "nvptx64")]
    {
        let (a, b): (u64, u64);
        // SAFETY: as in `load`; the halves of a vector are separate accesses.
        unsafe { scoped_load!(fresh, place, ".v2.b64", "{{{0}, {1}}}", "{2}", a: reg64, b: reg64) };
        [(a as u32, (a >> 32) as u32), (b as u32, (b >> 32) as u32)]
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's promise.
    unsafe {
        [load_pair(place, fresh), load_pair(place.add(1), fresh)]
    }
}

/// Replaces the two words at `place` together; the first is the lower half.
///
/// # Safety
/// As [`store`].
#[inline(always)]
pub unsafe fn store_pair(place: *mut u64, (first, second): (u32, u32)) {
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(place) }.store(first as u64 | (second as u64) << 32, Relaxed)
}
