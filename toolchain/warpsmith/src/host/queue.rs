//! Streams of the driver, and the graphs that they capture.

use core::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaContext, CudaEvent, CudaGraph, CudaStream, DriverError, sys};

/// A stream of the driver that knows whether it captures a graph.
///
/// What one stream does for another, such as to wait for it, must not become a part of the graph.
pub(crate) struct Queue {
    stream: Arc<CudaStream>,
    /// While a graph is captured: the moment when everything before it is done. Held for single calls of the driver only; no other
    /// lock is taken then.
    before: Mutex<Option<Arc<CudaEvent>>>,
}

impl Queue {
    pub fn new(stream: Arc<CudaStream>) -> Arc<Self> {
        Arc::new(Queue { stream, before: Mutex::new(None) })
    }

    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    pub fn is_same(&self, other: &Queue) -> bool {
        self.stream.cu_stream() == other.stream.cu_stream()
    }

    fn before(&self) -> MutexGuard<'_, Option<Arc<CudaEvent>>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the moment when everything is done that was queued until now. What is being captured is not queued.
    pub fn point(&self) -> Result<Arc<CudaEvent>, DriverError> {
        let before = self.before();
        match &*before {
            Some(event) => Ok(event.clone()),
            None => self.stream.record_event(None).map(Arc::new),
        }
    }

    /// Waits until everything is done that was queued until now, whether or not a graph is captured.
    pub fn wait(&self) -> Result<(), DriverError> {
        let point = self.point()?;
        relaxed(|| point.synchronize())
    }

    /// Calls with the stream, if it captures nothing, else with another that waits for everything before.
    pub fn with<'a, R>(
        &self,
        other: impl FnOnce() -> Result<&'a Arc<CudaStream>, DriverError>,
        call: impl FnOnce(&Arc<CudaStream>) -> R,
    ) -> Result<R, DriverError> {
        let before = self.before();
        match &*before {
            None => Ok(call(&self.stream)),
            // Some calls that other streams may make would end the capture if its own thread made them.
            Some(event) => relaxed(|| {
                let other = other()?;
                other.wait(event).map(|()| call(other))
            }),
        }
    }

    /// Begins to capture a graph.
    pub fn begin(&self) -> Result<(), DriverError> {
        let mut before = self.before();
        let event = self.stream.record_event(None)?;
        self.stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        CAPTURES.set(CAPTURES.get() + 1);
        *before = Some(Arc::new(event));
        Ok(())
    }

    /// Ends it.
    pub fn end(&self) -> Result<Option<CudaGraph>, DriverError> {
        let mut before = self.before();
        let ended = self.stream.end_capture(sys::CUgraphInstantiate_flags(0));
        *before = None;
        CAPTURES.set(CAPTURES.get().saturating_sub(1));
        ended
    }
}

std::thread_local! {
    /// Graphs that this thread captures now.
    static CAPTURES: Cell<usize> = const { Cell::new(0) };
}

/// Makes a call that has nothing to do with what this thread may be capturing, and that the driver would forbid meanwhile.
pub(crate) fn relaxed<R>(call: impl FnOnce() -> R) -> R {
    // Outside of a capture the driver forbids nothing.
    if CAPTURES.get() == 0 {
        return call();
    }
    struct Back(sys::CUstreamCaptureMode);
    impl Drop for Back {
        fn drop(&mut self) {
            // SAFETY: exchanges a value of this thread.
            let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut self.0) };
        }
    }
    let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: as above.
    let exchanged = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) };
    let _back = exchanged.result().is_ok().then_some(Back(mode));
    call()
}

/// Makes a context the thread's, to give something back. cudarc first reports what an earlier `Drop` could not.
pub(crate) fn bind_to_give_back(context: &Arc<CudaContext>) -> Result<(), DriverError> {
    context.bind_to_thread().or_else(|_| context.bind_to_thread())
}
