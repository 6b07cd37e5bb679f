//! Typed arrays in device memory.

use std::marker::PhantomData;

use warpsmith::{Error, Stream};

use super::error::failed;
use crate::engine::error::SMALLER;
use crate::engine::{BackendError, Plain};
use crate::memory::bytes;

/// An array of `len` elements in device memory. One of no elements still has an address.
pub struct Buffer<T> {
    /// Room for at least one element.
    bytes: warpsmith::Buffer<u8>,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Plain> Buffer<T> {
    /// Allocates `len` elements whose bytes are all 0; `what` names them in the error if they do not fit.
    ///
    /// # Errors
    /// If device memory is short, or the driver fails.
    pub fn zeroed(stream: &Stream, what: &str, len: usize) -> Result<Self, BackendError> {
        let size = len.max(1) * size_of::<T>();
        let bytes = stream.zeroed(size).map_err(|error| not_made(what, size, error))?;
        Ok(Buffer { bytes, len, elements: PhantomData })
    }

    /// Allocates a copy of `data`, and waits until it is there.
    ///
    /// # Errors
    /// If device memory is short, or the driver fails.
    pub fn from_slice(stream: &Stream, what: &str, data: &[T]) -> Result<Self, BackendError> {
        if data.is_empty() {
            return Buffer::zeroed(stream, what, 0);
        }
        let raw = raw(data);
        let bytes = stream.upload(raw).map_err(|error| not_made(what, raw.len(), error))?;
        Ok(Buffer { bytes, len: data.len(), elements: PhantomData })
    }

    /// Queues setting all bytes to 0.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn clear(&mut self, stream: &Stream) -> Result<(), BackendError> {
        stream.fill_bytes(&mut self.bytes, 0).map_err(failed("clearing device memory"))
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the address of the first element on the device.
    pub(super) fn address(&self) -> u64 {
        self.bytes.address()
    }

    /// Overwrites the first elements with `data`, after everything queued before; waits until they are there.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Panics
    /// If `data` is longer than the buffer.
    pub fn write(&mut self, stream: &Stream, data: &[T]) -> Result<(), BackendError> {
        assert!(data.len() <= self.len, "{} elements into {}", data.len(), self.len);
        let part = self.bytes.slice_mut(..size_of_val(data));
        let done = part.and_then(|mut part| stream.write(&mut part, raw(data)));
        done.map_err(failed("copying to the GPU"))
    }

    /// Copies the first `data.len()` elements to the host, after everything queued before, and waits for them.
    ///
    /// # Errors
    /// If the driver fails, or a kernel queued before failed.
    ///
    /// # Panics
    /// If `data` is longer than the buffer.
    pub fn read(&self, stream: &Stream, data: &mut [T]) -> Result<(), BackendError> {
        self.read_from(stream, 0, data)
    }

    /// Copies `data.len()` elements to the host, starting at element `first`, after everything queued before, and waits for them.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub fn read_from(&self, stream: &Stream, first: usize, data: &mut [T]) -> Result<(), BackendError> {
        let end = first + data.len();
        assert!(end <= self.len, "elements to {end} of {}", self.len);
        // SAFETY: plain data is bytes, and every pattern of them is a value.
        let raw =
            unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr().cast::<u8>(), size_of_val(data)) };
        let part = self.bytes.slice(first * size_of::<T>()..end * size_of::<T>());
        part.and_then(|part| stream.read(&part, raw)).map_err(failed("running kernels"))
    }

    /// Queues a copy of as many elements as this buffer has, from `from`, starting at its element `first`.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub fn copy_part(&mut self, stream: &Stream, from: &Buffer<T>, first: usize) -> Result<(), BackendError> {
        let end = first + self.len;
        assert!(end <= from.len, "elements to {end} of {}", from.len);
        let part = from.bytes.slice(first * size_of::<T>()..end * size_of::<T>());
        let own = self.bytes.slice_mut(..self.len * size_of::<T>());
        let done = part.and_then(|part| own.and_then(|mut own| stream.copy(&part, &mut own)));
        done.map_err(failed("copying on the GPU"))
    }

    /// Queues a copy of `count` elements, starting at element `first` of both buffers, from one of this device or of another.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Panics
    /// If the range is out of bounds.
    ///
    /// # Safety
    /// Events order this copy and all that other streams do with the two buffers, and neither is freed before it is done.
    pub unsafe fn copy_from(
        &mut self,
        stream: &Stream,
        from: &Buffer<T>,
        first: usize,
        count: usize,
    ) -> Result<(), BackendError> {
        let end = first + count;
        assert!(end <= self.len && end <= from.len, "elements to {end}");
        let range = first * size_of::<T>()..end * size_of::<T>();
        let (part, own) = (from.bytes.slice(range.clone()), self.bytes.slice_mut(range));
        // SAFETY: the caller's promise.
        let copy = |part: &_, own: &mut _| unsafe { stream.copy_unordered(part, own) };
        let done = part.and_then(|part| own.and_then(|mut own| copy(&part, &mut own)));
        done.map_err(failed("copying between GPUs"))
    }

    /// Copies all elements to the host, as [`Buffer::read`].
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>, BackendError>
    where
        T: Default,
    {
        let mut data = vec![T::default(); self.len];
        self.read(stream, &mut data)?;
        Ok(data)
    }
}

fn raw<T: Plain>(data: &[T]) -> &[u8] {
    // SAFETY: plain data is bytes.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), size_of_val(data)) }
}

fn not_made(what: &str, size: usize, error: Error) -> BackendError {
    let Error::OutOfMemory { free, .. } = error else {
        return failed("allocating device memory")(error);
    };
    BackendError::OutOfMemory {
        place: "device",
        what: what.to_string(),
        needed: bytes(size as u64),
        free: format!("{} are free", bytes(free.unwrap_or(0))),
        remedy: SMALLER,
    }
}
