//! Loads of several elements at once, and asynchronous copies to shared memory.

use crate::{DeviceCopy, back};

/// Four elements side by side, aligned as one: read and written by one instruction where they have 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(16))]
pub struct Four<T>(pub [T; 4]);

// SAFETY: four elements of plain data. With other sizes than 4 bytes there may be padding, which holds no value.
unsafe impl<T: DeviceCopy> DeviceCopy for Four<T> {}

/// Two elements side by side, aligned as one: read and written by one instruction where they have 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(8))]
pub struct Two<T>(pub [T; 2]);

// SAFETY: two elements of plain data. With other sizes than 4 bytes there may be padding, which holds no value.
unsafe impl<T: DeviceCopy> DeviceCopy for Two<T> {}

/// Returns four elements of `values`, from element 4 `at` on, by one load of 16 bytes; `None` past the end.
///
/// If the slice does not start at a multiple of 16 bytes (part of a buffer may not), it is four loads.
#[inline(always)]
pub fn load_four<T: Word>(values: &[T], at: usize) -> Option<[T; 4]> {
    if at >= values.len() / 4 {
        return None;
    }
    // SAFETY: the four elements are within the slice; aligned where it matters.
    unsafe {
        let p = values.as_ptr().add(4 * at);
        if !values.as_ptr().cast::<u128>().is_aligned() {
            return Some([p.read(), p.add(1).read(), p.add(2).read(), p.add(3).read()]);
        }
        let bits = p.cast::<u128>().read();
        Some([0, 32, 64, 96].map(|shift| T::from_word((bits >> shift) as u32)))
    }
}

/// A number of 32 bits.
pub trait Word: DeviceCopy {
    #[doc(hidden)]
    fn from_word(word: u32) -> Self;
}

impl Word for u32 {
    #[inline(always)]
    fn from_word(word: u32) -> Self {
        word
    }
}

impl Word for i32 {
    #[inline(always)]
    fn from_word(word: u32) -> Self {
        word as i32
    }
}

impl Word for f32 {
    #[inline(always)]
    fn from_word(word: u32) -> Self {
        f32::from_bits(word)
    }
}

/// Starts a copy of `BYTES` (4, 8 or 16) from global to shared memory: asynchronous from `sm_80` on, at once elsewhere.
///
/// # Safety
/// `to` is in shared and `from` in global memory, both valid for `BYTES` and aligned to as many. Nobody touches `to` before this
/// thread has waited with [`copy_wait`], and other threads not before a barrier after that.
#[inline(always)]
pub unsafe fn copy_async<const BYTES: usize, T>(to: *mut T, from: *const T) {
    const { assert!(BYTES == 4 || BYTES == 8 || BYTES == 16, "4, 8 or 16 bytes") };
    // SAFETY: the caller's promise.
    unsafe { back::copy_async::<BYTES>(to.cast(), from.cast()) }
}

/// Ends a group of asynchronous copies of this thread.
#[inline(always)]
pub fn copy_group() {
    back::copy_group();
}

/// Waits until at most the newest `LEFT` groups of this thread's copies are under way.
#[inline(always)]
pub fn copy_wait<const LEFT: u32>() {
    back::copy_wait::<LEFT>();
}
