//! Typed arrays in device memory.

use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DriverError, result, sys};

use crate::engine::error::SMALLER;
use crate::engine::{BackendError, Plain};
use crate::memory::bytes;

/// An array of `len` elements in device memory.
pub struct Buffer<T> {
    pub(super) slice: CudaSlice<u8>,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Plain> Buffer<T> {
    /// Allocates `len` elements of 0; `what` names them if they do not fit.
    ///
    /// # Errors
    /// If device memory is short, or the driver fails.
    pub fn zeroed(stream: &Arc<CudaStream>, what: &str, len: usize) -> Result<Self, BackendError> {
        // Empty arrays keep an address: kernels' read-only parameters may not be null.
        let size = len.max(1) * size_of::<T>();
        let slice = stream.alloc_zeros::<u8>(size).map_err(|e| allocation_error(stream, what, size, e))?;
        Ok(Buffer { slice, len, elements: PhantomData })
    }

    /// Allocates a copy of `data`.
    ///
    /// # Errors
    /// If device memory is short, or the driver fails.
    pub fn from_slice(stream: &Arc<CudaStream>, what: &str, data: &[T]) -> Result<Self, BackendError> {
        let mut buffer = Buffer::zeroed(stream, what, data.len())?;
        buffer.write(stream, data)?;
        Ok(buffer)
    }

    /// Queues setting all elements to 0.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn clear(&mut self, stream: &Arc<CudaStream>) -> Result<(), BackendError> {
        let cleared = stream.memset_zeros(&mut self.slice);
        cleared
            .map_err(|source| BackendError::Driver { doing: "clearing device memory", source: source.into() })
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Overwrites the first elements with `data`; waits until `data` may be reused.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Panics
    /// If `data` is longer than the buffer.
    pub fn write(&mut self, stream: &Arc<CudaStream>, data: &[T]) -> Result<(), BackendError> {
        assert!(data.len() <= self.len, "{} elements into {}", data.len(), self.len);
        // SAFETY: plain data is bytes.
        let raw = unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), size_of_val(data)) };
        let done = stream.memcpy_htod(raw, &mut self.slice).and_then(|()| stream.synchronize());
        done.map_err(|source| BackendError::Driver { doing: "copying to the GPU", source: source.into() })
    }

    /// Copies the first `data.len()` elements back, after everything queued before.
    ///
    /// # Errors
    /// If the driver fails, or a kernel queued before.
    ///
    /// # Panics
    /// If `data` is longer than the buffer.
    pub fn read(&self, stream: &Arc<CudaStream>, data: &mut [T]) -> Result<(), BackendError> {
        self.read_from(stream, 0, data)
    }

    /// Copies `data.len()` elements back, starting at `first`, after everything queued before.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub fn read_from(
        &self,
        stream: &Arc<CudaStream>,
        first: usize,
        data: &mut [T],
    ) -> Result<(), BackendError> {
        let end = first + data.len();
        assert!(end <= self.len, "elements to {end} of {}", self.len);
        // SAFETY: plain data is bytes, and every pattern of them is a value.
        let raw =
            unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr().cast::<u8>(), size_of_val(data)) };
        let part = self.slice.slice(first * size_of::<T>()..end * size_of::<T>());
        let done = stream.memcpy_dtoh(&part, raw).and_then(|()| stream.synchronize());
        done.map_err(|source| BackendError::Driver { doing: "running kernels", source: source.into() })
    }

    /// Queues a copy of as many elements as this buffer has, starting at element `first` of `from`.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub fn copy_part(
        &mut self,
        stream: &Arc<CudaStream>,
        from: &Buffer<T>,
        first: usize,
    ) -> Result<(), BackendError> {
        let end = first + self.len;
        assert!(end <= from.len, "elements to {end} of {}", from.len);
        let part = from.slice.slice(first * size_of::<T>()..end * size_of::<T>());
        stream.memcpy_dtod(&part, &mut self.slice).map_err(copying)
    }

    /// Queues a copy of `count` elements, starting at `first`, from the same place of a buffer of another device, or of this one.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub fn copy_from(
        &mut self,
        stream: &Arc<CudaStream>,
        from: &Buffer<T>,
        first: usize,
        count: usize,
    ) -> Result<(), BackendError> {
        let (begin, end) = (first * size_of::<T>(), (first + count) * size_of::<T>());
        assert!(end <= self.slice.len() && end <= from.slice.len(), "bytes to {end}");
        if count == 0 {
            return Ok(());
        }
        let (from_context, to_context) = (from.slice.stream().context(), stream.context());
        to_context.bind_to_thread().map_err(copying)?;
        let (to, _) = self.slice.device_ptr_mut(stream);
        let (source, _) = from.slice.device_ptr(from.slice.stream());
        let (to, source) = (to + begin as u64, source + begin as u64);
        // SAFETY: both buffers are alive and large enough; the caller orders the copy against other work queued for them.
        let copied = unsafe {
            if from_context == to_context {
                result::memcpy_dtod_async(to, source, end - begin, stream.cu_stream())
            } else {
                let contexts = (to_context.cu_ctx(), from_context.cu_ctx());
                result::memcpy_peer_async(contexts.0, to, contexts.1, source, end - begin, stream.cu_stream())
            }
        };
        copied.map_err(copying)
    }

    /// Copies all elements back.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub fn to_vec(&self, stream: &Arc<CudaStream>) -> Result<Vec<T>, BackendError>
    where
        T: Default,
    {
        let mut data = vec![T::default(); self.len];
        self.read(stream, &mut data)?;
        Ok(data)
    }
}

fn copying(source: DriverError) -> BackendError {
    BackendError::Driver { doing: "copying between GPUs", source: source.into() }
}

fn allocation_error(stream: &Arc<CudaStream>, what: &str, size: usize, source: DriverError) -> BackendError {
    if source.0 != sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
        return BackendError::Driver { doing: "allocating device memory", source: source.into() };
    }
    let free = stream.context().mem_get_info().map_or(0, |(free, _)| free);
    BackendError::OutOfMemory {
        place: "device",
        what: what.to_string(),
        needed: bytes(size as u64),
        free: format!("{} are free", bytes(free as u64)),
        remedy: SMALLER,
    }
}
