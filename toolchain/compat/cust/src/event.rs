//! Events: points in the work of a stream.

use std::ptr;
use std::time::Duration;

use bitflags::bitflags;

use crate::error::{CudaError, CudaResult, DropResult, call};
use crate::stream::{Stream, StreamWaitEventFlags};
use crate::sys;

bitflags! {
    /// Flags of an event.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct EventFlags: u32 {
        /// No flag.
        const DEFAULT = 0;
        /// A thread that waits sleeps.
        const BLOCKING_SYNC = 1;
        /// It does not record the time.
        const DISABLE_TIMING = 2;
        /// Other processes may use it; with `DISABLE_TIMING`.
        const INTERPROCESS = 4;
    }
}

/// Whether the work before an event is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventStatus {
    /// It is.
    Ready,
    /// It is not.
    NotReady,
}

/// A point in the work of a stream.
#[derive(Debug)]
pub struct Event(sys::CUevent);

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Makes an event.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn new(flags: EventFlags) -> CudaResult<Self> {
        let mut event = ptr::null_mut();
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuEventCreate(&mut event, flags.bits()) })?;
        Ok(Self(event))
    }

    /// Puts the event behind all work of a stream so far.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn record(&self, stream: &Stream) -> CudaResult<()> {
        // SAFETY: an event and a stream.
        call(|| unsafe { sys::cuEventRecord(self.0, stream.as_inner()) })
    }

    /// Returns whether the work before the event is done.
    ///
    /// # Errors
    /// Those of that work.
    pub fn query(&self) -> CudaResult<EventStatus> {
        // SAFETY: an event.
        match call(|| unsafe { sys::cuEventQuery(self.0) }) {
            Ok(()) => Ok(EventStatus::Ready),
            Err(CudaError::NotReady) => Ok(EventStatus::NotReady),
            Err(error) => Err(error),
        }
    }

    /// Waits until the work before the event is done.
    ///
    /// # Errors
    /// Those of that work.
    pub fn synchronize(&self) -> CudaResult<()> {
        // SAFETY: an event.
        call(|| unsafe { sys::cuEventSynchronize(self.0) })
    }

    /// Returns the milliseconds since another event.
    ///
    /// # Errors
    /// If one is not recorded, has not come yet or does not record the time.
    pub fn elapsed_time_f32(&self, start: &Self) -> CudaResult<f32> {
        let mut milliseconds = 0.0;
        // SAFETY: two events, and a place for the result.
        call(|| unsafe { sys::cuEventElapsedTime(&mut milliseconds, start.0, self.0) })?;
        Ok(milliseconds)
    }

    /// Returns the time since another event; zero if that is later.
    ///
    /// # Errors
    /// If one is not recorded, has not come yet or does not record the time.
    pub fn elapsed(&self, start: &Self) -> CudaResult<Duration> {
        Ok(Duration::from_secs_f64(self.elapsed_time_f32(start)?.max(0.0) as f64 / 1000.0))
    }

    /// Returns the driver's handle.
    pub(crate) fn as_inner(&self) -> sys::CUevent {
        self.0
    }

    /// Destroys the event.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::should_implement_trait)]
    pub fn drop(mut event: Self) -> DropResult<Self> {
        let inner = std::mem::replace(&mut event.0, ptr::null_mut());
        // SAFETY: an event that nobody else has.
        match call(|| unsafe { sys::cuEventDestroy_v2(inner) }) {
            Ok(()) => Ok(()),
            Err(error) => Err((error, Self(inner))),
        }
    }
}

impl Stream {
    /// Makes further work wait for an event.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn wait_event(&self, event: &Event, flags: StreamWaitEventFlags) -> CudaResult<()> {
        // SAFETY: a stream and an event.
        call(|| unsafe { sys::cuStreamWaitEvent(self.as_inner(), event.as_inner(), flags.bits()) })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: an event that nobody else has. Nobody could do anything about an error.
            let _ = call(|| unsafe { sys::cuEventDestroy_v2(self.0) });
        }
    }
}
