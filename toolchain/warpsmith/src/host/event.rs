//! Moments in streams.

use core::fmt;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaEvent, sys};

use super::{Error, Result, Stream, gpu};

/// A moment in a stream: when everything that was queued before is done.
pub struct Event(Kind);

enum Kind {
    Cpu(Instant),
    Gpu(CudaEvent),
}

impl Event {
    pub(crate) fn record(stream: &Stream) -> Result<Self> {
        let Some(cuda) = stream.cuda() else { return Ok(Event(Kind::Cpu(Instant::now()))) };
        // The driver's usual events do not take the time.
        let event = cuda.stream().record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT));
        Ok(Event(Kind::Gpu(event.map_err(gpu::failed("recording an event"))?)))
    }

    /// As `record`, but the event does not take the time.
    pub(crate) fn mark(stream: &Stream) -> Result<Self> {
        let Some(cuda) = stream.cuda() else { return Ok(Event(Kind::Cpu(Instant::now()))) };
        let event = cuda.stream().record_event(None);
        Ok(Event(Kind::Gpu(event.map_err(gpu::failed("recording an event"))?)))
    }

    pub(crate) fn record_again(&mut self, stream: &Stream) -> Result {
        match (&mut self.0, stream.cuda()) {
            (Kind::Cpu(moment), None) => *moment = Instant::now(),
            (Kind::Gpu(event), Some(cuda)) => {
                event.record(cuda.stream()).map_err(gpu::failed("recording an event"))?;
            }
            _ => {
                return Err(Error::Misuse("an event of the CPU was used with a GPU, or the other way round"));
            }
        }
        Ok(())
    }

    pub(crate) fn wait_on(&self, stream: &Stream) -> Result {
        match (&self.0, stream.cuda()) {
            (Kind::Cpu(_), None) => Ok(()),
            (Kind::Gpu(event), Some(cuda)) => {
                cuda.stream().wait(event).map_err(gpu::failed("waiting for an event"))
            }
            _ => Err(Error::Misuse("an event of the CPU was used with a GPU, or the other way round")),
        }
    }

    /// Waits until the moment has come.
    ///
    /// # Errors
    /// If what was queued before failed.
    pub fn synchronize(&self) -> Result {
        match &self.0 {
            Kind::Cpu(_) => Ok(()),
            Kind::Gpu(event) => event.synchronize().map_err(gpu::failed("waiting for kernels")),
        }
    }

    /// Returns whether the moment has come, without waiting for it.
    ///
    /// # Errors
    /// If what was queued before failed.
    pub fn has_come(&self) -> Result<bool> {
        match &self.0 {
            Kind::Cpu(_) => Ok(true),
            Kind::Gpu(event) => event.try_is_complete().map_err(gpu::failed("waiting for kernels")),
        }
    }

    /// Waits until both moments have come, and returns the time from `earlier` to this one, to about half a microsecond; zero if
    /// `earlier` is later.
    ///
    /// # Errors
    /// If what was queued before failed, the events are of different devices, or one of them is of [`Stream::mark`].
    pub fn since(&self, earlier: &Event) -> Result<Duration> {
        match (&self.0, &earlier.0) {
            (Kind::Cpu(end), Kind::Cpu(start)) => Ok(end.duration_since(*start)),
            (Kind::Gpu(end), Kind::Gpu(start)) => {
                self.synchronize()?;
                let elapsed =
                    start.elapsed_ms(end).map_err(gpu::failed("asking for the time between events"))?;
                Ok(Duration::from_secs_f64((elapsed as f64 / 1000.0).max(0.0)))
            }
            _ => Err(Error::Misuse("an event of the CPU was compared with one of a GPU")),
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Kind::Cpu(_) => "Event(CPU)",
            Kind::Gpu(_) => "Event(GPU)",
        })
    }
}
