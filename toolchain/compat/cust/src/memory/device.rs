//! Buffers of a device, and parts of them.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{
    Deref, DerefMut, Index, IndexMut, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive,
};
use std::ptr;

use super::bytemuck::{Pod, PodCastError, Zeroable};
use super::{
    AsyncCopyDestination, CopyDestination, DeviceCopy, DeviceMemory, DevicePointer, GpuBuffer, cuda_free,
    cuda_free_async, cuda_malloc, cuda_malloc_async, finish, read, write,
};
use crate::error::{CudaResult, DropResult, call};
use crate::stream::Stream;
use crate::sys;

/// Elements in the memory of a device: what a `[T]` is to a `Vec<T>`. The host cannot read them where they are.
#[repr(transparent)]
pub struct DeviceSlice<T: DeviceCopy> {
    of: PhantomData<T>,
    /// The address and the number of elements, of a type without bytes: a reference to it refers to nothing on the host.
    elements: [()],
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl<T: DeviceCopy + Send> Send for DeviceSlice<T> {}
// SAFETY: as above.
unsafe impl<T: DeviceCopy + Sync> Sync for DeviceSlice<T> {}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    fn bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }

    /// Returns the address of the first element.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        DevicePointer::from_raw(self.elements.as_ptr().addr() as u64)
    }

    /// Copies all elements to the host.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn as_host_vec(&self) -> CudaResult<Vec<T>> {
        let mut values = Vec::<T>::with_capacity(self.len());
        if self.bytes() > 0 {
            let to = values.as_mut_ptr().cast();
            // SAFETY: room for as many elements.
            call(|| unsafe { sys::cuMemcpyDtoH_v2(to, self.as_device_ptr().as_raw(), self.bytes()) })?;
        }
        // SAFETY: they were copied from values of the type.
        unsafe { values.set_len(self.len()) };
        Ok(values)
    }

    /// Returns the two parts before and from `mid` on.
    ///
    /// # Panics
    /// If `mid` is past the end.
    pub fn split_at(&self, mid: usize) -> (&Self, &Self) {
        (&self[..mid], &self[mid..])
    }

    /// Returns the two parts before and from `mid` on.
    ///
    /// # Panics
    /// If `mid` is past the end.
    pub fn split_at_mut(&mut self, mid: usize) -> (&mut Self, &mut Self) {
        let (start, len) = (self.as_device_ptr(), self.len());
        assert!(mid <= len, "element {mid} of {len}");
        // SAFETY: two parts without a common element.
        unsafe { (Self::from_raw_parts_mut(start, mid), Self::from_raw_parts_mut(start.add(mid), len - mid)) }
    }

    /// Makes a slice of an address and a length.
    ///
    /// # Safety
    /// So many elements are there for the lifetime, and nobody writes them.
    pub unsafe fn from_raw_parts<'a>(ptr: DevicePointer<T>, len: usize) -> &'a Self {
        // SAFETY: a reference to nothing, which is not null.
        unsafe { &*(ptr::slice_from_raw_parts(address(ptr), len) as *const Self) }
    }

    /// Makes a slice of an address and a length.
    ///
    /// # Safety
    /// So many elements are there for the lifetime, and nobody else uses them.
    pub unsafe fn from_raw_parts_mut<'a>(ptr: DevicePointer<T>, len: usize) -> &'a mut Self {
        // SAFETY: as above.
        unsafe { &mut *(ptr::slice_from_raw_parts_mut(address(ptr), len) as *mut Self) }
    }
}

/// Returns an address that is not null: the one of no elements may be.
fn address<T: DeviceCopy>(ptr: DevicePointer<T>) -> *mut () {
    ptr::without_provenance_mut((ptr.as_raw() as usize).max(align_of::<T>()))
}

/// What a slice can be indexed by: a number, for one element, or a range.
pub trait DeviceSliceIndex<T: DeviceCopy> {
    /// Returns the range, which must be within `len`.
    #[doc(hidden)]
    fn range(self, len: usize) -> Range<usize>;
}

macro_rules! indices {
    ($($t:ty, $self:ident, $len:ident => $range:expr;)*) => { $(
        impl<T: DeviceCopy> DeviceSliceIndex<T> for $t {
            fn range($self, $len: usize) -> Range<usize> {
                let range: Range<usize> = $range;
                assert!(range.start <= range.end && range.end <= $len, "elements {range:?} of {}", $len);
                range
            }
        }
    )* };
}

indices! {
    usize, self, len => self..self.saturating_add(1);
    Range<usize>, self, len => self;
    RangeTo<usize>, self, len => 0..self.end;
    RangeFrom<usize>, self, len => self.start..len.max(self.start);
    RangeFull, self, len => 0..len;
    RangeInclusive<usize>, self, len => *self.start()..self.end().saturating_add(1);
    RangeToInclusive<usize>, self, len => 0..self.end.saturating_add(1);
}

impl<T: DeviceCopy, I: DeviceSliceIndex<T>> Index<I> for DeviceSlice<T> {
    type Output = Self;

    fn index(&self, index: I) -> &Self {
        let range = index.range(self.len());
        // SAFETY: a part of the elements.
        unsafe { Self::from_raw_parts(self.as_device_ptr().add(range.start), range.len()) }
    }
}

impl<T: DeviceCopy, I: DeviceSliceIndex<T>> IndexMut<I> for DeviceSlice<T> {
    fn index_mut(&mut self, index: I) -> &mut Self {
        let range = index.range(self.len());
        // SAFETY: as above.
        unsafe { Self::from_raw_parts_mut(self.as_device_ptr().add(range.start), range.len()) }
    }
}

impl<T: DeviceCopy> fmt::Debug for DeviceSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceSlice").field("ptr", &self.as_device_ptr()).field("len", &self.len()).finish()
    }
}

macro_rules! sets {
    ($($name:ident $name_async:ident $t:ty, $set:ident $set_async:ident;)*) => { $(
        /// Fills the memory with a number.
        ///
        /// # Errors
        /// If the driver fails.
        ///
        /// # Panics
        /// If the bytes are no multiple of the number's, or not aligned for it.
        pub fn $name(&mut self, value: $t) -> CudaResult<()> {
            let (address, count) = self.words::<$t>();
            if count == 0 {
                return Ok(());
            }
            // SAFETY: so many numbers.
            call(|| unsafe { sys::$set(address, value, count) })?;
            finish()
        }

        /// Queues filling the memory with a number.
        ///
        /// # Safety
        /// Nobody uses the memory until that is done.
        ///
        /// # Errors
        /// If the driver fails.
        ///
        /// # Panics
        /// If the bytes are no multiple of the number's, or not aligned for it.
        pub unsafe fn $name_async(&mut self, value: $t, stream: &Stream) -> CudaResult<()> {
            let (address, count) = self.words::<$t>();
            if count == 0 {
                return Ok(());
            }
            // SAFETY: so many numbers.
            call(|| unsafe { sys::$set_async(address, value, count, stream.as_inner()) })
        }
    )* };
}

impl<T: DeviceCopy + Pod> DeviceSlice<T> {
    sets! {
        set_8 set_8_async u8, cuMemsetD8_v2 cuMemsetD8Async;
        set_16 set_16_async u16, cuMemsetD16_v2 cuMemsetD16Async;
        set_32 set_32_async u32, cuMemsetD32_v2 cuMemsetD32Async;
    }

    /// Returns the address, and how many words fit there.
    fn words<W>(&self) -> (sys::CUdeviceptr, usize) {
        let (address, word) = (self.as_device_ptr().as_raw(), size_of::<W>());
        assert!(self.bytes().is_multiple_of(word), "{} bytes are no multiple of {word}", self.bytes());
        assert!(address.is_multiple_of(word as u64), "the address is not aligned to {word} bytes");
        (address, self.bytes() / word)
    }
}

impl<T: DeviceCopy + Zeroable> DeviceSlice<T> {
    /// Fills the memory with zeros.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_zero(&mut self) -> CudaResult<()> {
        if self.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: so many bytes.
        call(|| unsafe { sys::cuMemsetD8_v2(self.as_device_ptr().as_raw(), 0, self.bytes()) })?;
        finish()
    }

    /// Queues filling the memory with zeros.
    ///
    /// # Safety
    /// Nobody uses the memory until that is done.
    ///
    /// # Errors
    /// If the driver fails.
    pub unsafe fn set_zero_async(&mut self, stream: &Stream) -> CudaResult<()> {
        if self.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: so many bytes.
        call(|| unsafe {
            sys::cuMemsetD8Async(self.as_device_ptr().as_raw(), 0, self.bytes(), stream.as_inner())
        })
    }
}

impl<T: DeviceCopy> crate::private::Sealed for DeviceSlice<T> {}

fn same_length(a: usize, b: usize) {
    assert!(a == b, "{a} elements on the device and {b} on the other side");
}

impl<T: DeviceCopy, I: AsRef<[T]> + AsMut<[T]> + ?Sized> CopyDestination<I> for DeviceSlice<T> {
    fn copy_from(&mut self, val: &I) -> CudaResult<()> {
        same_length(self.len(), val.as_ref().len());
        // SAFETY: as many elements.
        unsafe { write(self.as_device_ptr(), val.as_ref()) }
    }

    fn copy_to(&self, val: &mut I) -> CudaResult<()> {
        same_length(self.len(), val.as_mut().len());
        // SAFETY: as many elements.
        unsafe { read(self.as_device_ptr(), val.as_mut()) }
    }
}

/// Copies within devices.
fn copy<T: DeviceCopy>(
    to: &DeviceSlice<T>,
    from: &DeviceSlice<T>,
    stream: Option<&Stream>,
) -> CudaResult<()> {
    same_length(to.len(), from.len());
    if to.bytes() == 0 {
        return Ok(());
    }
    let (into, of) = (to.as_device_ptr().as_raw(), from.as_device_ptr().as_raw());
    match stream {
        Some(stream) => {
            // SAFETY: as many elements; the caller of this function says that nobody else uses them.
            call(|| unsafe { sys::cuMemcpyDtoDAsync_v2(into, of, to.bytes(), stream.as_inner()) })
        }
        None => {
            // SAFETY: as above.
            call(|| unsafe { sys::cuMemcpyDtoD_v2(into, of, to.bytes()) })?;
            finish()
        }
    }
}

impl<T: DeviceCopy> CopyDestination<DeviceSlice<T>> for DeviceSlice<T> {
    fn copy_from(&mut self, val: &DeviceSlice<T>) -> CudaResult<()> {
        copy(self, val, None)
    }

    fn copy_to(&self, val: &mut DeviceSlice<T>) -> CudaResult<()> {
        copy(val, self, None)
    }
}

impl<T: DeviceCopy> CopyDestination<DeviceBuffer<T>> for DeviceSlice<T> {
    fn copy_from(&mut self, val: &DeviceBuffer<T>) -> CudaResult<()> {
        copy(self, val, None)
    }

    fn copy_to(&self, val: &mut DeviceBuffer<T>) -> CudaResult<()> {
        copy(val, self, None)
    }
}

impl<T: DeviceCopy, I: AsRef<[T]> + AsMut<[T]> + ?Sized> AsyncCopyDestination<I> for DeviceSlice<T> {
    unsafe fn async_copy_from(&mut self, val: &I, stream: &Stream) -> CudaResult<()> {
        let val = val.as_ref();
        same_length(self.len(), val.len());
        if self.bytes() == 0 {
            return Ok(());
        }
        let to = self.as_device_ptr().as_raw();
        // SAFETY: as many elements.
        call(|| unsafe {
            sys::cuMemcpyHtoDAsync_v2(to, val.as_ptr().cast(), self.bytes(), stream.as_inner())
        })
    }

    unsafe fn async_copy_to(&self, val: &mut I, stream: &Stream) -> CudaResult<()> {
        let val = val.as_mut();
        same_length(self.len(), val.len());
        if self.bytes() == 0 {
            return Ok(());
        }
        let from = self.as_device_ptr().as_raw();
        // SAFETY: as many elements.
        call(|| unsafe {
            sys::cuMemcpyDtoHAsync_v2(val.as_mut_ptr().cast(), from, self.bytes(), stream.as_inner())
        })
    }
}

impl<T: DeviceCopy> AsyncCopyDestination<DeviceSlice<T>> for DeviceSlice<T> {
    unsafe fn async_copy_from(&mut self, val: &DeviceSlice<T>, stream: &Stream) -> CudaResult<()> {
        copy(self, val, Some(stream))
    }

    unsafe fn async_copy_to(&self, val: &mut DeviceSlice<T>, stream: &Stream) -> CudaResult<()> {
        copy(val, self, Some(stream))
    }
}

impl<T: DeviceCopy> AsyncCopyDestination<DeviceBuffer<T>> for DeviceSlice<T> {
    unsafe fn async_copy_from(&mut self, val: &DeviceBuffer<T>, stream: &Stream) -> CudaResult<()> {
        copy(self, val, Some(stream))
    }

    unsafe fn async_copy_to(&self, val: &mut DeviceBuffer<T>, stream: &Stream) -> CudaResult<()> {
        copy(val, self, Some(stream))
    }
}

/// Elements in memory of the device that the buffer owns.
#[derive(Debug)]
pub struct DeviceBuffer<T: DeviceCopy> {
    start: DevicePointer<T>,
    len: usize,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl<T: DeviceCopy + Send> Send for DeviceBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: DeviceCopy + Sync> Sync for DeviceBuffer<T> {}

impl<T: DeviceCopy> crate::private::Sealed for DeviceBuffer<T> {}

/// Returns the address of a buffer without bytes: a kernel's slice is never at 0.
fn nowhere<T: DeviceCopy>() -> DevicePointer<T> {
    DevicePointer::from_raw(align_of::<T>() as u64)
}

impl<T: DeviceCopy> DeviceBuffer<T> {
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
        let start = if has_bytes { unsafe { cuda_malloc(size) }? } else { nowhere() };
        Ok(Self { start, len: size })
    }

    /// Allocates a buffer in the order of a stream.
    ///
    /// # Safety
    /// The elements are not initialised, and only there for later work of the stream.
    ///
    /// # Errors
    /// If there is no memory left.
    pub unsafe fn uninitialized_async(size: usize, stream: &Stream) -> CudaResult<Self> {
        let has_bytes = size > 0 && size_of::<T>() > 0;
        // SAFETY: the caller's promise.
        let start = if has_bytes { unsafe { cuda_malloc_async(stream, size) }? } else { nowhere() };
        Ok(Self { start, len: size })
    }

    /// Frees a buffer in the order of a stream.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn drop_async(self, stream: &Stream) -> CudaResult<()> {
        let buffer = ManuallyDrop::new(self);
        if buffer.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: a buffer that nobody else has.
        unsafe { cuda_free_async(stream, buffer.start) }
    }

    /// Makes a buffer of an address and a length.
    ///
    /// # Safety
    /// The driver allocated the memory, and nobody else frees it.
    pub unsafe fn from_raw_parts(ptr: DevicePointer<T>, capacity: usize) -> Self {
        Self { start: ptr, len: capacity }
    }

    /// Frees a buffer.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::should_implement_trait)]
    pub fn drop(dev_buf: Self) -> DropResult<Self> {
        let buffer = ManuallyDrop::new(dev_buf);
        if buffer.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: a buffer that nobody else has.
        unsafe { cuda_free(buffer.start) }.map_err(|error| (error, ManuallyDrop::into_inner(buffer)))
    }

    /// Copies values into a new buffer.
    ///
    /// # Errors
    /// If there is no memory left.
    pub fn from_slice(slice: &[T]) -> CudaResult<Self> {
        // SAFETY: initialised below.
        let buffer = unsafe { Self::uninitialized(slice.len()) }?;
        // SAFETY: as many elements.
        unsafe { write(buffer.start, slice) }?;
        Ok(buffer)
    }

    /// Copies values into a new buffer in the order of a stream.
    ///
    /// # Safety
    /// Nobody writes the values until the copy is done, and the buffer is only there for later work of the stream.
    ///
    /// # Errors
    /// If there is no memory left.
    pub unsafe fn from_slice_async(slice: &[T], stream: &Stream) -> CudaResult<Self> {
        // SAFETY: the caller's promise, and initialised below.
        let buffer = unsafe { Self::uninitialized_async(slice.len(), stream) }?;
        if buffer.bytes() > 0 {
            let (to, from) = (buffer.start.as_raw(), slice.as_ptr().cast());
            // SAFETY: as many elements.
            call(|| unsafe { sys::cuMemcpyHtoDAsync_v2(to, from, buffer.bytes(), stream.as_inner()) })?;
        }
        Ok(buffer)
    }

    /// Returns all elements.
    pub fn as_slice(&self) -> &DeviceSlice<T> {
        self
    }
}

impl<T: DeviceCopy + Zeroable> DeviceBuffer<T> {
    /// Allocates a buffer of zeros.
    ///
    /// # Errors
    /// If there is no memory left.
    pub fn zeroed(size: usize) -> CudaResult<Self> {
        // SAFETY: initialised below.
        let mut buffer = unsafe { Self::uninitialized(size) }?;
        buffer.set_zero()?;
        Ok(buffer)
    }

    /// Allocates a buffer of zeros in the order of a stream.
    ///
    /// # Safety
    /// The buffer is only there for later work of the stream.
    ///
    /// # Errors
    /// If there is no memory left.
    pub unsafe fn zeroed_async(size: usize, stream: &Stream) -> CudaResult<Self> {
        // SAFETY: the caller's promise, and initialised below.
        let mut buffer = unsafe { Self::uninitialized_async(size, stream) }?;
        // SAFETY: as above.
        unsafe { buffer.set_zero_async(stream) }?;
        Ok(buffer)
    }
}

impl<A: DeviceCopy + Pod> DeviceBuffer<A> {
    /// Takes the bytes as elements of another type.
    ///
    /// # Panics
    /// If they are no whole number of them, or not aligned for that type.
    pub fn cast<B: Pod + DeviceCopy>(self) -> DeviceBuffer<B> {
        self.try_cast().unwrap_or_else(|error| panic!("the buffer cannot be cast: {error:?}"))
    }

    /// Takes the bytes as elements of another type.
    ///
    /// # Errors
    /// If they are no whole number of them, or not aligned for that type; the buffer is then freed.
    pub fn try_cast<B: Pod + DeviceCopy>(self) -> Result<DeviceBuffer<B>, PodCastError> {
        let (bytes, size) = (self.bytes(), size_of::<B>());
        if !self.start.as_raw().is_multiple_of(align_of::<B>() as u64) {
            return Err(PodCastError::TargetAlignmentGreaterAndInputNotAligned);
        }
        if size == 0 && bytes > 0 || size > 0 && !bytes.is_multiple_of(size) {
            return Err(PodCastError::OutputSliceWouldHaveSlop);
        }
        let len = bytes.checked_div(size).unwrap_or(self.len);
        let buffer = ManuallyDrop::new(self);
        Ok(DeviceBuffer { start: buffer.start.cast(), len })
    }
}

impl<T: DeviceCopy> Deref for DeviceBuffer<T> {
    type Target = DeviceSlice<T>;

    fn deref(&self) -> &DeviceSlice<T> {
        // SAFETY: its own elements.
        unsafe { DeviceSlice::from_raw_parts(self.start, self.len) }
    }
}

impl<T: DeviceCopy> DerefMut for DeviceBuffer<T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        // SAFETY: its own elements.
        unsafe { DeviceSlice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl<T: DeviceCopy> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if self.bytes() > 0 {
            // SAFETY: a buffer that nobody else has. Nobody could do anything about an error.
            let _ = unsafe { cuda_free(self.start) };
        }
    }
}

impl<T: DeviceCopy> GpuBuffer<T> for DeviceBuffer<T> {
    fn as_device_ptr(&self) -> DevicePointer<T> {
        self.start
    }

    fn len(&self) -> usize {
        self.len
    }
}

impl<T: DeviceCopy> DeviceMemory for DeviceBuffer<T> {
    fn as_raw_ptr(&self) -> sys::CUdeviceptr {
        self.start.as_raw()
    }

    fn size_in_bytes(&self) -> usize {
        self.bytes()
    }
}

impl<T: DeviceCopy> DeviceMemory for DeviceSlice<T> {
    fn as_raw_ptr(&self) -> sys::CUdeviceptr {
        self.as_device_ptr().as_raw()
    }

    fn size_in_bytes(&self) -> usize {
        self.bytes()
    }
}
