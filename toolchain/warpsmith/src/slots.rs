//! Memory in which each thread has its own elements.

use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::{DeviceCopy, Index};

/// An array in global memory of which each thread reaches the elements that are its own: those at an [`Index`] that it holds.
///
/// The parameter of a kernel is `&mut Slots<T>`, for which the host passes `&mut Buffer<T>`.
#[derive(Debug)]
pub struct Slots<T> {
    start: NonNull<T>,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: DeviceCopy> Slots<T> {
    /// # Safety
    /// `start` is valid for reads and writes of `len` elements during the launch, and every thread of it that uses this memory
    /// does so through `Slots`.
    #[inline(always)]
    pub(crate) unsafe fn new(start: NonNull<T>, len: usize) -> Self {
        Slots { start, len, elements: PhantomData }
    }

    /// Returns the number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the element at this thread's index, to read; `None` past the end.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub fn get(&self, index: Index) -> Option<&T> {
        let at = index.checked();
        // SAFETY: within the array; no other thread has the index, and this one borrows all of its slots.
        (at < self.len).then(|| unsafe { self.start.add(at).as_ref() })
    }

    /// Returns the element at this thread's index; `None` past the end.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub fn get_mut(&mut self, index: Index) -> Option<&mut T> {
        let at = index.checked();
        // SAFETY: as in `get`.
        (at < self.len).then(|| unsafe { self.start.add(at).as_mut() })
    }

    /// Sets the element at this thread's index; does nothing past the end.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub fn set(&mut self, index: Index, value: T) {
        if let Some(place) = self.get_mut(index) {
            *place = value;
        }
    }

    /// Returns the address of the first element.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.start.as_ptr()
    }

    /// Reads any element, without a check.
    ///
    /// # Safety
    /// `at` is less than the length, and no other thread writes the element, but before a barrier that both reach.
    #[inline(always)]
    pub unsafe fn read(&self, at: usize) -> T {
        debug_assert!(at < self.len, "element {at} of {}", self.len);
        // SAFETY: the caller's promise.
        unsafe { self.start.add(at).read() }
    }

    /// Writes any element, without a check.
    ///
    /// # Safety
    /// `at` is less than the length, and no other thread reads or writes the element, but before or after a barrier that both
    /// reach.
    #[inline(always)]
    pub unsafe fn write(&mut self, at: usize, value: T) {
        debug_assert!(at < self.len, "element {at} of {}", self.len);
        // SAFETY: the caller's promise.
        unsafe { self.start.add(at).write(value) }
    }
}
