//! Memory that host and device both use.
//!
//! The host must not use it while a kernel does: that is part of what makes launches unsafe.

use std::borrow::{Borrow, BorrowMut};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::slice;

use super::bytemuck::Zeroable;
use super::{
    DeviceCopy, DevicePointer, GpuBox, GpuBuffer, UnifiedPointer, cuda_free_unified, cuda_malloc_unified,
};
use crate::error::{CudaResult, DropResult};

/// Elements in memory that host and device both use, and that the buffer owns.
pub struct UnifiedBuffer<T: DeviceCopy> {
    start: UnifiedPointer<T>,
    len: usize,
}

// SAFETY: it owns its elements, as a vector does.
unsafe impl<T: DeviceCopy + Send> Send for UnifiedBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: DeviceCopy + Sync> Sync for UnifiedBuffer<T> {}

impl<T: DeviceCopy> crate::private::Sealed for UnifiedBuffer<T> {}

impl<T: DeviceCopy> UnifiedBuffer<T> {
    /// Allocates a buffer with the same value everywhere.
    ///
    /// # Errors
    /// If there is no memory left.
    pub fn new(value: &T, size: usize) -> CudaResult<Self> {
        // SAFETY: initialised below.
        let buffer = unsafe { Self::uninitialized(size) }?;
        let start = buffer.start.as_raw().cast_mut();
        // SAFETY: so many elements.
        (0..size).for_each(|i| unsafe { start.add(i).write(*value) });
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
        unsafe { slice.as_ptr().copy_to_nonoverlapping(buffer.start.as_raw().cast_mut(), slice.len()) };
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
        // SAFETY: the caller's promise; nowhere is enough for no bytes.
        let start = unsafe {
            if has_bytes {
                cuda_malloc_unified(size)?
            } else {
                UnifiedPointer::wrap(std::ptr::dangling_mut())
            }
        };
        Ok(Self { start, len: size })
    }

    /// Makes a buffer of an address and a length.
    ///
    /// # Safety
    /// The driver allocated the memory, and nobody else frees it.
    pub unsafe fn from_raw_parts(ptr: UnifiedPointer<T>, size: usize) -> Self {
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

    /// Returns the address.
    pub fn as_unified_ptr(&self) -> UnifiedPointer<T> {
        self.start
    }

    fn has_bytes(&self) -> bool {
        self.len > 0 && size_of::<T>() > 0
    }

    /// Frees a buffer.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::should_implement_trait)]
    pub fn drop(uni_buf: Self) -> DropResult<Self> {
        let buffer = ManuallyDrop::new(uni_buf);
        if !buffer.has_bytes() {
            return Ok(());
        }
        // SAFETY: a buffer that nobody else has.
        unsafe { cuda_free_unified(buffer.start) }.map_err(|error| (error, ManuallyDrop::into_inner(buffer)))
    }
}

impl<T: DeviceCopy + Zeroable> UnifiedBuffer<T> {
    /// Allocates a buffer of zeros.
    ///
    /// # Errors
    /// If there is no memory left.
    pub fn zeroed(size: usize) -> CudaResult<Self> {
        Self::new(&T::zeroed(), size)
    }
}

impl<T: DeviceCopy> Deref for UnifiedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: its own elements.
        unsafe { slice::from_raw_parts(self.start.as_raw(), self.len) }
    }
}

impl<T: DeviceCopy> DerefMut for UnifiedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: its own elements.
        unsafe { slice::from_raw_parts_mut(self.start.as_raw_mut(), self.len) }
    }
}

impl<T: DeviceCopy> AsRef<[T]> for UnifiedBuffer<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: DeviceCopy> AsMut<[T]> for UnifiedBuffer<T> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: DeviceCopy + fmt::Debug> fmt::Debug for UnifiedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: DeviceCopy> Drop for UnifiedBuffer<T> {
    fn drop(&mut self) {
        if self.has_bytes() {
            // SAFETY: a buffer that nobody else has. Nobody could do anything about an error.
            let _ = unsafe { cuda_free_unified(self.start) };
        }
    }
}

impl<T: DeviceCopy> GpuBuffer<T> for UnifiedBuffer<T> {
    fn as_device_ptr(&self) -> DevicePointer<T> {
        DevicePointer::from_raw(self.start.as_raw().expose_provenance() as u64)
    }

    fn len(&self) -> usize {
        self.len
    }
}

/// A value in memory that host and device both use, and that the box owns.
pub struct UnifiedBox<T: DeviceCopy> {
    one: UnifiedBuffer<T>,
}

impl<T: DeviceCopy> crate::private::Sealed for UnifiedBox<T> {}

impl<T: DeviceCopy> UnifiedBox<T> {
    /// Puts a value there.
    ///
    /// # Errors
    /// If there is no memory left.
    pub fn new(val: T) -> CudaResult<Self> {
        Ok(Self { one: UnifiedBuffer::new(&val, 1)? })
    }

    /// Allocates a box.
    ///
    /// # Safety
    /// The value is not initialised.
    ///
    /// # Errors
    /// If there is no memory left.
    pub unsafe fn uninitialized() -> CudaResult<Self> {
        // SAFETY: the caller's promise.
        Ok(Self { one: unsafe { UnifiedBuffer::uninitialized(1) }? })
    }

    /// Makes a box of an address.
    ///
    /// # Safety
    /// The driver allocated the memory, and nobody else frees it.
    pub unsafe fn from_raw(ptr: *mut T) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::from_unified(UnifiedPointer::wrap(ptr)) }
    }

    /// Makes a box of an address.
    ///
    /// # Safety
    /// The driver allocated the memory, and nobody else frees it.
    pub unsafe fn from_unified(ptr: UnifiedPointer<T>) -> Self {
        // SAFETY: the caller's promise.
        Self { one: unsafe { UnifiedBuffer::from_raw_parts(ptr, 1) } }
    }

    /// Returns the address; nobody frees the memory then.
    pub fn into_unified(b: Self) -> UnifiedPointer<T> {
        ManuallyDrop::new(b).as_unified_ptr()
    }

    /// Returns the address.
    pub fn as_unified_ptr(&self) -> UnifiedPointer<T> {
        self.one.start
    }

    /// Returns the value for as long as one likes; nobody frees the memory then.
    pub fn leak<'a>(b: Self) -> &'a mut T
    where
        T: 'a,
    {
        // SAFETY: a value that nobody else has.
        unsafe { &mut *Self::into_unified(b).as_raw_mut() }
    }

    /// Frees a box.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::should_implement_trait)]
    pub fn drop(uni_box: Self) -> DropResult<Self> {
        UnifiedBuffer::drop(uni_box.one).map_err(|(error, one)| (error, Self { one }))
    }
}

impl<T: DeviceCopy> Deref for UnifiedBox<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: its own value.
        unsafe { &*self.one.start.as_raw() }
    }
}

impl<T: DeviceCopy> DerefMut for UnifiedBox<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: its own value.
        unsafe { &mut *self.one.start.as_raw_mut() }
    }
}

impl<T: DeviceCopy> Borrow<T> for UnifiedBox<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: DeviceCopy> BorrowMut<T> for UnifiedBox<T> {
    fn borrow_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: DeviceCopy> AsRef<T> for UnifiedBox<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: DeviceCopy> AsMut<T> for UnifiedBox<T> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: DeviceCopy + fmt::Debug> fmt::Debug for UnifiedBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: DeviceCopy + fmt::Display> fmt::Display for UnifiedBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl<T: DeviceCopy> fmt::Pointer for UnifiedBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.as_unified_ptr(), f)
    }
}

impl<T: DeviceCopy + PartialEq> PartialEq for UnifiedBox<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: DeviceCopy> GpuBox<T> for UnifiedBox<T> {
    fn as_device_ptr(&self) -> DevicePointer<T> {
        self.one.as_device_ptr()
    }
}
