//! Memory of the host that devices copy from and to without help: what asynchronous copies need.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::slice;

use super::{DeviceCopy, cuda_free_locked, cuda_malloc_locked};
use crate::error::{CudaResult, DropResult};

/// Elements in such memory, which the buffer owns.
pub struct LockedBuffer<T: DeviceCopy> {
    start: *mut T,
    len: usize,
}

// SAFETY: it owns its elements, as a vector does.
unsafe impl<T: DeviceCopy + Send> Send for LockedBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: DeviceCopy + Sync> Sync for LockedBuffer<T> {}

impl<T: DeviceCopy> LockedBuffer<T> {
    /// Allocates a buffer with the same value everywhere.
    ///
    /// # Errors
    /// If there is no memory left.
    pub fn new(value: &T, size: usize) -> CudaResult<Self> {
        // SAFETY: initialised below.
        let buffer = unsafe { Self::uninitialized(size) }?;
        // SAFETY: so many elements.
        (0..size).for_each(|i| unsafe { buffer.start.add(i).write(*value) });
        Ok(buffer)
    }

    /// Copies values into a new buffer.
    ///
    /// # Errors
    /// If there is no memory left.
    pub fn from_slice(slice: &[T]) -> CudaResult<Self> {
        // SAFETY: initialised below.
        let buffer = unsafe { Self::uninitialized(slice.len()) }?;
        // SAFETY: as many elements.
        unsafe { slice.as_ptr().copy_to_nonoverlapping(buffer.start, slice.len()) };
        Ok(buffer)
    }

    /// Allocates a buffer.
    ///
    /// # Safety
    /// The elements are not initialised.
    ///
    /// # Errors
    /// If there is no memory left.
    pub unsafe fn uninitialized(size: usize) -> CudaResult<Self> {
        let has_bytes = size > 0 && size_of::<T>() > 0;
        // SAFETY: the caller's promise.
        let start = if has_bytes { unsafe { cuda_malloc_locked(size) }? } else { std::ptr::dangling_mut() };
        Ok(Self { start, len: size })
    }

    /// Makes a buffer of an address and a length.
    ///
    /// # Safety
    /// The driver allocated the memory, and nobody else frees it.
    pub unsafe fn from_raw_parts(ptr: *mut T, size: usize) -> Self {
        Self { start: ptr, len: size }
    }

    /// Returns all elements.
    pub fn as_slice(&self) -> &[T] {
        self
    }

    /// Returns all elements.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self
    }

    fn has_bytes(&self) -> bool {
        self.len > 0 && size_of::<T>() > 0
    }

    /// Frees a buffer.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::should_implement_trait)]
    pub fn drop(buf: Self) -> DropResult<Self> {
        let buffer = ManuallyDrop::new(buf);
        if !buffer.has_bytes() {
            return Ok(());
        }
        // SAFETY: a buffer that nobody else has.
        unsafe { cuda_free_locked(buffer.start) }.map_err(|error| (error, ManuallyDrop::into_inner(buffer)))
    }
}

impl<T: DeviceCopy> Deref for LockedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: its own elements.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }
}

impl<T: DeviceCopy> DerefMut for LockedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: its own elements.
        unsafe { slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl<T: DeviceCopy> AsRef<[T]> for LockedBuffer<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: DeviceCopy> AsMut<[T]> for LockedBuffer<T> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: DeviceCopy + fmt::Debug> fmt::Debug for LockedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: DeviceCopy> Drop for LockedBuffer<T> {
    fn drop(&mut self) {
        if self.has_bytes() {
            // SAFETY: a buffer that nobody else has. Nobody could do anything about an error.
            let _ = unsafe { cuda_free_locked(self.start) };
        }
    }
}

/// A value in such memory, which the box owns.
pub struct LockedBox<T: DeviceCopy> {
    one: LockedBuffer<T>,
}

impl<T: DeviceCopy> LockedBox<T> {
    /// Puts a value there.
    ///
    /// # Errors
    /// If there is no memory left.
    pub fn new(val: &T) -> CudaResult<Self> {
        Ok(Self { one: LockedBuffer::new(val, 1)? })
    }

    /// Frees a box.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::should_implement_trait)]
    pub fn drop(locked_box: Self) -> DropResult<Self> {
        LockedBuffer::drop(locked_box.one).map_err(|(error, one)| (error, Self { one }))
    }
}

impl<T: DeviceCopy> Deref for LockedBox<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: its own value.
        unsafe { &*self.one.start }
    }
}

impl<T: DeviceCopy> DerefMut for LockedBox<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: its own value.
        unsafe { &mut *self.one.start }
    }
}

impl<T: DeviceCopy + fmt::Debug> fmt::Debug for LockedBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
