//! Streams: queues of work for a device.

use std::ffi::c_void;
use std::panic;
use std::ptr;

use bitflags::bitflags;

use crate::error::{CudaResult, DropResult, call};
use crate::sys;

bitflags! {
    /// Flags of a stream.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct StreamFlags: u32 {
        /// Waits for what the default stream does.
        const DEFAULT = 0;
        /// Does not wait for the default stream.
        const NON_BLOCKING = 1;
    }

    /// Flags of [`Stream::wait_event`]. The driver has not defined any.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct StreamWaitEventFlags: u32 {
        /// No flag.
        const DEFAULT = 0;
    }
}

/// A queue of work for a device.
#[derive(Debug)]
pub struct Stream {
    inner: sys::CUstream,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// Makes a stream; a lower priority goes first.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn new(flags: StreamFlags, priority: Option<i32>) -> CudaResult<Self> {
        let mut inner = ptr::null_mut();
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuStreamCreateWithPriority(&mut inner, flags.bits(), priority.unwrap_or(0)) })?;
        Ok(Self { inner })
    }

    /// Returns the flags.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn get_flags(&self) -> CudaResult<StreamFlags> {
        let mut bits = 0;
        // SAFETY: a stream, and a place for the result.
        call(|| unsafe { sys::cuStreamGetFlags(self.inner, &mut bits) })?;
        Ok(StreamFlags::from_bits_truncate(bits))
    }

    /// Returns the priority.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn get_priority(&self) -> CudaResult<i32> {
        let mut priority = 0;
        // SAFETY: a stream, and a place for the result.
        call(|| unsafe { sys::cuStreamGetPriority(self.inner, &mut priority) })?;
        Ok(priority)
    }

    /// Calls a function on the host when all work so far is done, with the error of that work if it has one. The function must not
    /// use the device. Unlike that of `cust` it cannot borrow: it is called at some time after this has returned.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn add_callback<T>(&self, callback: Box<T>) -> CudaResult<()>
    where
        T: FnOnce(CudaResult<()>) + Send + 'static,
    {
        unsafe extern "C" fn run<T: FnOnce(CudaResult<()>)>(
            _: sys::CUstream,
            status: sys::CUresult,
            callback: *mut c_void,
        ) {
            // SAFETY: the box that `add_callback` gave away, once.
            let callback = unsafe { Box::from_raw(callback.cast::<T>()) };
            // A panic must not go through the driver.
            let _ = panic::catch_unwind(panic::AssertUnwindSafe(|| callback(call(|| status))));
        }
        let callback = Box::into_raw(callback);
        // SAFETY: `run` takes what is passed, and frees it.
        let added =
            call(|| unsafe { sys::cuStreamAddCallback(self.inner, Some(run::<T>), callback.cast(), 0) });
        if added.is_err() {
            // SAFETY: the driver did not take it.
            drop(unsafe { Box::from_raw(callback) });
        }
        added
    }

    /// Waits until all work so far is done.
    ///
    /// # Errors
    /// Those of that work, too.
    pub fn synchronize(&self) -> CudaResult<()> {
        // SAFETY: a stream.
        call(|| unsafe { sys::cuStreamSynchronize(self.inner) })
    }

    /// Returns the driver's handle.
    pub fn as_inner(&self) -> sys::CUstream {
        self.inner
    }

    /// Destroys the stream; the driver does so when its work is done.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::should_implement_trait)]
    pub fn drop(mut stream: Self) -> DropResult<Self> {
        let inner = std::mem::replace(&mut stream.inner, ptr::null_mut());
        // SAFETY: a stream that nobody else has.
        match call(|| unsafe { sys::cuStreamDestroy_v2(inner) }) {
            Ok(()) => Ok(()),
            Err(error) => Err((error, Self { inner })),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.inner.is_null() {
            // SAFETY: a stream that nobody else has. Nobody could do anything about an error.
            let _ = call(|| unsafe { sys::cuStreamDestroy_v2(self.inner) });
        }
    }
}
