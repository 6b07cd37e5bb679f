//! Loads of several elements at once, and asynchronous copies to shared memory.

use core::marker::PhantomData;

use crate::shape::Shape;
use crate::{DeviceCopy, back};

/// Four elements side by side, aligned as one: read and written by one instruction where they have 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(16))]
pub struct Four<T>(pub [T; 4]);

// SAFETY: four elements of plain data. With other sizes than 4 bytes there may be padding, which holds no value.
unsafe impl<T: DeviceCopy> DeviceCopy for Four<T> {
    const SHAPE: Shape = Shape::of(&[b"Four<", T::SHAPE.bytes(), b">"]);
}

/// Two elements side by side, aligned as one: read and written by one instruction where they have 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(8))]
pub struct Two<T>(pub [T; 2]);

// SAFETY: two elements of plain data. With other sizes than 4 bytes there may be padding, which holds no value.
unsafe impl<T: DeviceCopy> DeviceCopy for Two<T> {
    const SHAPE: Shape = Shape::of(&[b"Two<", T::SHAPE.bytes(), b">"]);
}

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

/// Returns the elements as groups of four, each read by one load of 16 bytes, and those that are left over.
///
/// If the slice does not start at a multiple of 16 bytes (a part of a buffer may not), all of them are left over.
#[inline(always)]
pub fn fours<T: Word>(values: &[T]) -> (Fours<'_, T>, &[T]) {
    let start = values.as_ptr().cast::<Four<T>>();
    let count = if start.is_aligned() { values.len() / 4 } else { 0 };
    let groups = Fours { start, count, values: PhantomData };
    // SAFETY: within the slice.
    (groups, unsafe { values.get_unchecked(4 * count..) })
}

/// The groups of [`fours`].
///
/// It is no slice: that of no groups would need another address, and the compiler would no longer know that the memory is global.
#[derive(Clone, Copy, Debug)]
pub struct Fours<'a, T> {
    start: *const Four<T>,
    count: usize,
    values: PhantomData<&'a [T]>,
}

impl<T: Word> Fours<'_, T> {
    /// Returns the number of groups.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no groups.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns a group; `None` past the end.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Option<[T; 4]> {
        // SAFETY: within the slice that they were made of, and aligned, as there are groups.
        (at < self.count).then(|| unsafe { self.start.add(at).read().0 })
    }
}

mod sealed {
    /// Loads rely on it: the types have the size of a word.
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for i32 {}
    impl Sealed for f32 {}
    impl Sealed for crate::half::F16x2 {}
    impl Sealed for crate::half::Bf16x2 {}
}

/// A number of 32 bits, `u32`, `i32` or `f32`, or a pair of floats of 16 bits.
pub trait Word: DeviceCopy + sealed::Sealed {
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

impl Word for crate::half::F16x2 {
    #[inline(always)]
    fn from_word(word: u32) -> Self {
        Self::from_bits(word)
    }
}

impl Word for crate::half::Bf16x2 {
    #[inline(always)]
    fn from_word(word: u32) -> Self {
        Self::from_bits(word)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_four_and_the_rest_are_all() {
        let aligned = [Four([0u32, 1, 2, 3]), Four([4, 5, 6, 7]), Four([8, 9, 10, 11])];
        // SAFETY: twelve words, one after the other.
        let words = unsafe { core::slice::from_raw_parts(aligned.as_ptr().cast::<u32>(), 12) };
        for (part, count) in
            [(words, 3), (&words[..7], 1), (&words[4..], 2), (&words[1..], 0), (&words[..0], 0)]
        {
            let (groups, rest) = fours(part);
            assert_eq!((groups.len(), groups.is_empty(), groups.get(count)), (count, count == 0, None));
            for at in 0..count {
                assert_eq!(groups.get(at).unwrap(), part[4 * at..4 * at + 4]);
            }
            assert_eq!(rest, &part[4 * count..]);
        }
    }
}
