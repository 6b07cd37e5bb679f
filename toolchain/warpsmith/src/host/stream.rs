//! Queues of work.

use core::ffi::c_void;
use core::fmt;
use std::boxed::Box;
use std::format;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::vec::Vec;

use cudarc::driver::{CudaGraph, DriverError, result, sys};

use super::buffer::{Memory, Used};
use super::device::Kind;
use super::module::Loaded;
use super::queue::{Queue, relaxed};
use super::{Buffer, Device, DeviceSlice, Error, Event, Pinned, Result, gpu};
use crate::DeviceCopy;

/// A queue of work, which the device does in order. Cheap to clone: the clones are the same queue.
///
/// On a GPU a launch returns at once; an error of its kernel may come from a later call, such as the next that waits. Buffers are in
/// order across streams, too: what one stream writes, another reads after that. On the CPU every call returns when its work is done.
///
/// The last clone waits, when it is dropped, for kernels that were not waited for.
#[derive(Clone)]
pub struct Stream(Arc<Inner>);

struct Inner {
    device: Device,
    /// `None` on the CPU.
    queue: Option<Arc<Queue>>,
    /// What is captured now. Read while anything is queued, so that no capture begins or ends meanwhile.
    capture: RwLock<Option<Mutex<Capture>>>,
    /// Kernels that may not have run yet, and must stay loaded until then.
    kernels: Mutex<Vec<Arc<Loaded>>>,
}

/// While it is held, no graph is captured.
pub(crate) struct Turn<'a>(
    #[allow(dead_code, reason = "a lock")] RwLockReadGuard<'a, Option<Mutex<Capture>>>,
);

/// Work on the CPU.
pub(crate) struct Work(Box<dyn Fn() -> Result>);

// SAFETY: what `assume_send` was promised.
unsafe impl Send for Work {}

impl Work {
    /// # Safety
    /// What it captures may be sent to another thread.
    pub unsafe fn assume_send(work: Box<dyn Fn() -> Result>) -> Self {
        Work(work)
    }
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Self> {
        let queue = match device.kind() {
            Kind::Cpu(_) => None,
            Kind::Gpu(gpu) => {
                let stream = relaxed(|| gpu.context.new_stream());
                Some(Queue::new(stream.map_err(gpu::failed("making a stream"))?))
            }
        };
        let (capture, kernels) = (RwLock::new(None), Mutex::default());
        Ok(Stream(Arc::new(Inner { device: device.clone(), queue, capture, kernels })))
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    pub(crate) fn cuda(&self) -> Option<&Arc<Queue>> {
        self.0.queue.as_ref()
    }

    /// Copies values into a new buffer, and waits until they are there.
    ///
    /// # Errors
    /// If device memory does not suffice, a graph is captured, or the driver fails.
    pub fn upload<T: DeviceCopy>(&self, values: &[T]) -> Result<Buffer<T>> {
        let mut buffer = self.allocate(values.len())?;
        self.write(&mut buffer, values)?;
        Ok(buffer)
    }

    /// Makes a buffer of zeros.
    ///
    /// # Errors
    /// If device memory does not suffice, a graph is captured, or the driver fails.
    pub fn zeroed<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>> {
        let mut buffer = self.allocate(len)?;
        self.fill_bytes(&mut buffer, 0)?;
        Ok(buffer)
    }

    /// Makes a buffer of which each element is `value`.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    pub fn filled<T: DeviceCopy>(&self, len: usize, value: T) -> Result<Buffer<T>> {
        let mut values = Vec::new();
        let out = |_| Error::OutOfMemory { bytes: bytes_of::<T>(len), free: None };
        values.try_reserve_exact(len).map_err(out)?;
        values.resize(len, value);
        self.upload(&values)
    }

    fn allocate<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>> {
        let _turn = self.outside_capture(
            "memory cannot be allocated while a graph is captured: make the buffers before",
        )?;
        let out = || Error::OutOfMemory { bytes: bytes_of::<T>(len), free: None };
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(out)?;
        Ok(Buffer::of_memory(Memory::allocate(self.device(), self.cuda(), bytes, align_of::<T>())?, len))
    }

    /// Copies values into a buffer of the same length, and waits until they are there.
    ///
    /// # Errors
    /// If the lengths differ, the buffer is of another device, a graph is captured, or the driver fails.
    pub fn write<T: DeviceCopy>(&self, to: &mut DeviceSlice<T>, values: &[T]) -> Result {
        let turn = self
            .outside_capture("the host's data cannot be copied while a graph is captured: copy it before")?;
        same_length(values.len(), to.len())?;
        to.check(self.device())?;
        let (address, bytes) = (to.address(), to.bytes());
        let uses = [(to.memory().clone(), true)];
        match self.cuda() {
            // SAFETY: the whole of `values` to as many elements of the device, before `values` is free again.
            Some(queue) => self.queue(&turn, &uses, "copying to the device", || unsafe {
                if bytes > 0 {
                    let (raw, stream) = (values.as_ptr().cast::<c_void>(), queue.stream().cu_stream());
                    relaxed(|| sys::cuMemcpyHtoDAsync_v2(address, raw, bytes, stream)).result()?;
                }
                self.finish(queue)
            }),
            None => {
                let _held = uses[0].0.lock();
                // SAFETY: as many elements there, which nobody else uses now.
                unsafe { to.pointer().copy_from_nonoverlapping(values.as_ptr(), values.len()) };
                Ok(())
            }
        }
    }

    /// Copies a buffer to the host, after everything that was queued before.
    ///
    /// # Errors
    /// If the buffer is of another device, main memory does not suffice, a graph is captured, the driver fails, or a kernel before did.
    pub fn download<T: DeviceCopy>(&self, from: &DeviceSlice<T>) -> Result<Vec<T>> {
        let mut values = Vec::new();
        let out = |_| Error::OutOfMemory { bytes: from.bytes() as u64, free: None };
        values.try_reserve_exact(from.len()).map_err(out)?;
        self.read_raw(from, values.as_mut_ptr())?;
        // SAFETY: all of them were written, and any bytes are a value.
        unsafe { values.set_len(from.len()) };
        Ok(values)
    }

    /// Copies a buffer to the host, into as many values, after everything that was queued before.
    ///
    /// # Errors
    /// If the lengths differ; else as [`Stream::download`].
    pub fn read<T: DeviceCopy>(&self, from: &DeviceSlice<T>, values: &mut [T]) -> Result {
        same_length(from.len(), values.len())?;
        self.read_raw(from, values.as_mut_ptr())
    }

    /// Copies to `to`, where there is room.
    fn read_raw<T: DeviceCopy>(&self, from: &DeviceSlice<T>, to: *mut T) -> Result {
        let turn = self
            .outside_capture("data cannot be copied to the host while a graph is captured: copy it after")?;
        from.check(self.device())?;
        let (address, bytes) = (from.address(), from.bytes());
        let uses = [(from.memory().clone(), false)];
        match self.cuda() {
            // SAFETY: as many bytes as the elements have, to room for them; they are there when the stream has been waited for.
            Some(queue) => self.queue(&turn, &uses, "waiting for kernels", || unsafe {
                if bytes > 0 {
                    let (raw, stream) = (to.cast::<c_void>(), queue.stream().cu_stream());
                    relaxed(|| sys::cuMemcpyDtoHAsync_v2(raw, address, bytes, stream)).result()?;
                }
                self.finish(queue)
            }),
            None => {
                let _held = uses[0].0.lock();
                // SAFETY: as many elements, which nobody writes now.
                unsafe { to.copy_from_nonoverlapping(from.pointer(), from.len()) };
                Ok(())
            }
        }
    }

    /// Copies pinned memory into a buffer of the same length, in order with what else is queued. On a GPU it returns before the copy
    /// is done.
    ///
    /// # Errors
    /// If the lengths differ, one of the two is of another device, a graph is captured, or the driver fails.
    pub fn write_pinned<T: DeviceCopy>(&self, to: &mut DeviceSlice<T>, from: &Pinned<T>) -> Result {
        same_length(from.len(), to.len())?;
        to.check(self.device())?;
        from.check(self.device())?;
        let uses = [(from.memory().clone(), false), (to.memory().clone(), true)];
        let (address, start, bytes) = (to.address(), from.pointer(), from.bytes());
        // SAFETY: the whole of `from` to as many elements of the device. Both wait for the copy before they go, and `from` before it
        // is written by the host.
        self.copy_pinned(from, false, &uses, to.pointer(), |stream| unsafe {
            sys::cuMemcpyHtoDAsync_v2(address, start.cast(), bytes, stream).result()
        })
    }

    /// Copies a buffer into pinned memory of the same length, in order with what else is queued. On a GPU it returns before the copy
    /// is done; [`Pinned::as_slice`] waits for it.
    ///
    /// # Errors
    /// As [`Stream::write_pinned`].
    pub fn read_pinned<T: DeviceCopy>(&self, from: &DeviceSlice<T>, to: &mut Pinned<T>) -> Result {
        same_length(from.len(), to.len())?;
        from.check(self.device())?;
        to.check(self.device())?;
        let uses = [(from.memory().clone(), false), (to.memory().clone(), true)];
        let (address, start, bytes) = (from.address(), to.pointer(), to.bytes());
        // SAFETY: as many elements of the device to the whole of `to`. Both wait for the copy before they go, and `to` before the
        // host reads or writes it.
        self.copy_pinned(to, true, &uses, from.pointer(), |stream| unsafe {
            sys::cuMemcpyDtoHAsync_v2(start.cast(), address, bytes, stream).result()
        })
    }

    /// Copies between pinned memory and as many elements at `on_device`, by `copy` on a GPU.
    fn copy_pinned<T: DeviceCopy>(
        &self,
        pinned: &Pinned<T>,
        is_to_pinned: bool,
        uses: &[Used],
        on_device: *mut T,
        copy: impl FnOnce(sys::CUstream) -> core::result::Result<(), DriverError>,
    ) -> Result {
        let turn = self.outside_capture(
            "copies from and to pinned memory cannot be captured into a graph: queue them before or after",
        )?;
        match self.cuda() {
            Some(_) if pinned.bytes() == 0 => Ok(()),
            Some(queue) => self.queue(&turn, uses, "copying pinned memory", || {
                copy(queue.stream().cu_stream())?;
                pinned.note(queue, is_to_pinned)
            }),
            None => {
                let uses = in_order(uses);
                let _held: Vec<_> = uses.iter().map(|(memory, _)| memory.lock()).collect();
                let (from, to) = match is_to_pinned {
                    true => (on_device, pinned.pointer()),
                    false => (pinned.pointer(), on_device),
                };
                // SAFETY: as many elements of two allocations, which nobody else uses now.
                unsafe { to.copy_from_nonoverlapping(from, pinned.len()) };
                Ok(())
            }
        }
    }

    /// Sets every byte of a buffer, in order with what else is queued. On a GPU it returns before that is done.
    ///
    /// # Errors
    /// If the buffer is of another device, or the driver fails.
    pub fn fill_bytes<T: DeviceCopy>(&self, to: &mut DeviceSlice<T>, byte: u8) -> Result {
        to.check(self.device())?;
        let (address, bytes, pointer) = (to.address(), to.bytes(), to.pointer().cast::<u8>());
        let uses = [(to.memory().clone(), true)];
        match self.cuda() {
            Some(_) if bytes == 0 => Ok(()),
            // SAFETY: the bytes of the buffer, which is kept alive until its stream is done.
            Some(queue) => self.enqueue(&uses, None, "filling device memory", || unsafe {
                result::memset_d8_async(address, byte, bytes, queue.stream().cu_stream())
            }),
            None => self.work(
                &uses,
                // SAFETY: an address; the bytes of the buffer, which `uses` keeps alive and locked.
                unsafe {
                    Work::assume_send(Box::new(move || {
                        pointer.write_bytes(byte, bytes);
                        Ok(())
                    }))
                },
            ),
        }
    }

    /// Copies elements of one buffer to another of the same length, on the same GPU or another, in order with what else is queued. On a
    /// GPU it returns before the copy is done.
    ///
    /// # Errors
    /// If the lengths differ, `to` is of another device than the stream, only one of the two is on the CPU, or the driver fails.
    pub fn copy<T: DeviceCopy>(&self, from: &DeviceSlice<T>, to: &mut DeviceSlice<T>) -> Result {
        let uses = [(from.memory().clone(), false), (to.memory().clone(), true)];
        self.copy_after(&uses, from, to)
    }

    /// As [`Stream::copy`], but not in order with other streams.
    ///
    /// A stream that waits for another waits for all that was queued there until now. Where streams work in step and wait for each
    /// other's [events](Stream::wait), that is more than they need.
    ///
    /// # Errors
    /// As [`Stream::copy`].
    ///
    /// # Safety
    /// What other streams do with the two, and their end, is in order with this copy by events.
    pub unsafe fn copy_unordered<T: DeviceCopy>(
        &self,
        from: &DeviceSlice<T>,
        to: &mut DeviceSlice<T>,
    ) -> Result {
        if self.cuda().is_none() {
            return self.copy(from, to);
        }
        self.copy_after(&[], from, to)
    }

    /// Copies after whatever else uses these.
    fn copy_after<T: DeviceCopy>(
        &self,
        uses: &[Used],
        from: &DeviceSlice<T>,
        to: &mut DeviceSlice<T>,
    ) -> Result {
        same_length(from.len(), to.len())?;
        to.check(self.device())?;
        let (source, target, bytes) = (from.address(), to.address(), from.bytes());
        let (from_pointer, to_pointer) = (from.pointer().cast::<u8>(), to.pointer().cast::<u8>());
        match (self.cuda(), from.device().kind(), to.device().kind()) {
            (Some(_), Kind::Gpu(_), Kind::Gpu(_)) if bytes == 0 => Ok(()),
            (Some(queue), Kind::Gpu(a), Kind::Gpu(b)) => {
                let stream = queue.stream();
                // SAFETY: as many bytes of both, which are kept alive until their streams are done.
                self.enqueue(uses, None, "copying on the device", || unsafe {
                    if from.device().is_same(to.device()) {
                        return result::memcpy_dtod_async(target, source, bytes, stream.cu_stream());
                    }
                    let (to, from) = (b.context.cu_ctx(), a.context.cu_ctx());
                    result::memcpy_peer_async(to, target, from, source, bytes, stream.cu_stream())
                })
            }
            (None, Kind::Cpu(_), Kind::Cpu(_)) => self.work(
                uses,
                // SAFETY: addresses; as many bytes of both, which `uses` keeps alive and locked, perhaps parts of one buffer.
                unsafe {
                    Work::assume_send(Box::new(move || {
                        to_pointer.copy_from(from_pointer, bytes);
                        Ok(())
                    }))
                },
            ),
            _ => from.check(self.device()),
        }
    }

    /// Waits for everything that was queued.
    ///
    /// # Errors
    /// If some of it failed, or a graph is captured.
    pub fn synchronize(&self) -> Result {
        let _turn = self.outside_capture("a stream cannot be waited for while a graph is captured")?;
        let Some(queue) = self.cuda() else { return Ok(()) };
        self.finish(queue).map_err(gpu::failed("waiting for kernels"))
    }

    /// Records a moment: when everything that was queued before is done.
    ///
    /// # Errors
    /// If the driver fails, or a graph is captured.
    pub fn record(&self) -> Result<Event> {
        let _turn = self.outside_capture("events cannot be recorded while a graph is captured")?;
        Event::record(self)
    }

    /// As [`Stream::record`], but the event does not take the time: for work that waits for it, or to ask whether it has come.
    ///
    /// # Errors
    /// As [`Stream::record`].
    pub fn mark(&self) -> Result<Event> {
        let _turn = self.outside_capture("events cannot be recorded while a graph is captured")?;
        Event::mark(self)
    }

    /// Moves an event of the same device to this moment. What waits for it already waits for the moment before.
    ///
    /// # Errors
    /// As [`Stream::record`], or if the event is of another device.
    pub fn mark_again(&self, event: &mut Event) -> Result {
        let _turn = self.outside_capture("events cannot be recorded while a graph is captured")?;
        event.record_again(self)
    }

    /// Lets what is queued from now on wait for an event.
    ///
    /// # Errors
    /// If the driver fails, a graph is captured, or the event is of the CPU and the stream of a GPU, or the other way round.
    pub fn wait(&self, event: &Event) -> Result {
        let _turn = self.outside_capture("events cannot be waited for while a graph is captured")?;
        event.wait_on(self)
    }

    /// Fails while a graph is captured.
    pub(crate) fn forbid_in_capture(&self, why: &'static str) -> Result {
        self.outside_capture(why).map(drop)
    }

    /// Fails while a graph is captured; else none is until the result is dropped.
    pub(crate) fn outside_capture(&self, why: &'static str) -> Result<Turn<'_>> {
        let capture = self.0.capture.read().unwrap_or_else(PoisonError::into_inner);
        if capture.is_some() { Err(Error::Misuse(why)) } else { Ok(Turn(capture)) }
    }

    /// Gives work to a GPU's stream, in order with other streams that use the same memory; in a capture, notes memory and kernel.
    pub(crate) fn enqueue(
        &self,
        uses: &[Used],
        kernel: Option<&Arc<Loaded>>,
        doing: &'static str,
        enqueue: impl FnOnce() -> core::result::Result<(), DriverError>,
    ) -> Result {
        let Some(queue) = self.cuda() else { return Ok(()) };
        let capture = self.0.capture.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(capture) = &*capture {
            let mut capture = capture.lock().unwrap_or_else(PoisonError::into_inner);
            capture.uses.extend_from_slice(uses);
            capture.kernels.extend(kernel.cloned());
            let bound = queue.stream().context().bind_to_thread();
            return bound.and_then(|()| enqueue()).map_err(gpu::failed(doing));
        }
        let turn = Turn(capture);
        let queued = self.queue(&turn, uses, doing, enqueue);
        if let Some(kernel) = kernel {
            self.keep(kernel);
        }
        queued
    }

    /// Gives work to a GPU's stream, in order with other streams that use the same memory.
    pub(crate) fn queue(
        &self,
        _: &Turn<'_>,
        uses: &[Used],
        doing: &'static str,
        enqueue: impl FnOnce() -> core::result::Result<(), DriverError>,
    ) -> Result {
        let Some(queue) = self.cuda() else { return Ok(()) };
        let uses = in_order(uses);
        // Held until the work is queued, so that no other thread orders its own before it is.
        let mut held: Vec<_> = uses.iter().map(|(memory, writes)| (memory.lock(), *writes)).collect();
        for (memory, writes) in &mut held {
            memory.order(queue, *writes)?;
        }
        // After that, as what was waited for may be of another device.
        let bound = queue.stream().context().bind_to_thread();
        bound.and_then(|()| enqueue()).map_err(gpu::failed(doing))
    }

    fn kernels(&self) -> MutexGuard<'_, Vec<Arc<Loaded>>> {
        self.0.kernels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a kernel, which was queued, loaded until the stream has been waited for.
    pub(crate) fn keep(&self, kernel: &Arc<Loaded>) {
        let mut kernels = self.kernels();
        if !kernels.iter().any(|kept| Arc::ptr_eq(kept, kernel)) {
            kernels.push(kernel.clone());
        }
    }

    /// Waits for the stream. Its kernels have run then.
    fn finish(&self, queue: &Queue) -> core::result::Result<(), DriverError> {
        // Another thread may launch meanwhile.
        let mut before = core::mem::take(&mut *self.kernels());
        let waited = relaxed(|| queue.stream().synchronize());
        if waited.is_ok() {
            before.clear();
        }
        // The list keeps its memory, so that the next launch need not allocate it again.
        let mut kernels = self.kernels();
        before.append(&mut kernels);
        *kernels = before;
        waited
    }

    /// Does work on the CPU; in a capture, keeps it.
    pub(crate) fn work(&self, uses: &[Used], work: Work) -> Result {
        if let Some(capture) = &*self.0.capture.read().unwrap_or_else(PoisonError::into_inner) {
            let mut capture = capture.lock().unwrap_or_else(PoisonError::into_inner);
            capture.uses.extend_from_slice(uses);
            capture.work.push((uses.to_vec(), work));
            return Ok(());
        }
        do_work(uses, &work)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let kernels = self.kernels.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = &self.queue
            && !kernels.is_empty()
        {
            // An error here shows at the next call.
            let _ = queue.wait();
        }
    }
}

/// What a stream captures.
#[derive(Default)]
pub(crate) struct Capture {
    pub uses: Vec<Used>,
    /// On a GPU.
    pub kernels: Vec<Arc<Loaded>>,
    /// On the CPU.
    pub work: Vec<(Vec<Used>, Work)>,
}

/// A stream that captures. If what it captures fails or panics, the capture ends without a graph.
pub(crate) struct Capturing<'a>(Option<&'a Stream>);

impl<'a> Capturing<'a> {
    pub(crate) fn begin(stream: &'a Stream) -> Result<Self> {
        let mut capture = stream.0.capture.write().unwrap_or_else(PoisonError::into_inner);
        if capture.is_some() {
            return Err(Error::Misuse("a graph is being captured on this stream already"));
        }
        if let (Some(queue), Kind::Gpu(gpu)) = (stream.cuda(), stream.device().kind()) {
            if gpu.driver < 11040 {
                return Err(Error::Misuse(
                    "graphs need an NVIDIA driver for CUDA 11.4 or newer: update the driver",
                ));
            }
            queue.begin().map_err(gpu::failed("capturing a graph"))?;
        }
        *capture = Some(Mutex::default());
        Ok(Capturing(Some(stream)))
    }

    pub(crate) fn end(mut self) -> Result<(Capture, Option<CudaGraph>)> {
        match self.0.take() {
            Some(stream) => Self::end_on(stream),
            None => Ok((Capture::default(), None)),
        }
    }

    fn end_on(stream: &Stream) -> Result<(Capture, Option<CudaGraph>)> {
        let mut capture = stream.0.capture.write().unwrap_or_else(PoisonError::into_inner);
        let ended = stream.cuda().map(|queue| queue.end());
        let captured =
            capture.take().unwrap_or_default().into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(ended) = ended else { return Ok((captured, None)) };
        let graph = ended.map_err(gpu::failed("capturing a graph"))?;
        Ok((captured, Some(graph.ok_or(Error::Misuse("the captured graph is empty"))?)))
    }
}

impl Drop for Capturing<'_> {
    fn drop(&mut self) {
        // The error that is the reason for this is the one to tell.
        let _ = self.0.take().map(Self::end_on);
    }
}

/// Does work on the CPU, while nobody else uses its memory: a graph on another thread may.
pub(crate) fn do_work(uses: &[Used], work: &Work) -> Result {
    let uses = in_order(uses);
    let _held: Vec<_> = uses.iter().map(|(memory, _)| memory.lock()).collect();
    work.0()
}

/// Returns each memory once, in an order that is the same for all threads.
pub(crate) fn in_order(uses: &[Used]) -> Vec<Used> {
    let mut uses = uses.to_vec();
    // Those that write come first.
    uses.sort_by_key(|(memory, writes)| (Arc::as_ptr(memory).addr(), !writes));
    uses.dedup_by(|(later, _), (first, _)| Arc::ptr_eq(later, first));
    uses
}

/// Returns the bytes of `len` elements, or the largest number if there are more.
fn bytes_of<T>(len: usize) -> u64 {
    (len as u64).saturating_mul(size_of::<T>() as u64)
}

fn same_length(from: usize, to: usize) -> Result {
    if from == to {
        return Ok(());
    }
    Err(Error::Size(format!(
        "{from} elements cannot be copied to {to}: take parts of the same length (slice)"
    )))
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stream").field(self.device()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_memory_can_hold_is_an_error() {
        let stream = Device::cpu().stream().unwrap();
        let bytes = |made: Result<Buffer<u64>>| match made {
            Err(Error::OutOfMemory { bytes, .. }) => bytes,
            other => panic!("{other:?}"),
        };
        assert_eq!(bytes(stream.filled(usize::MAX, 1)), u64::MAX);
        assert_eq!(bytes(stream.zeroed(usize::MAX)), u64::MAX);
        assert_eq!(bytes(stream.filled(1 << 58, 1)), 1 << 61);
        assert_eq!(bytes(stream.zeroed(1 << 60)), 1 << 63);
    }

    #[test]
    fn elements_are_aligned_as_their_type_asks() {
        #[derive(Clone, Copy)]
        #[repr(C, align(4096))]
        struct Page([u32; 1024]);
        // SAFETY: integers.
        unsafe impl DeviceCopy for Page {}
        let stream = Device::cpu().stream().unwrap();
        let buffers: Vec<_> = (0..8).map(|i| stream.filled(3, Page([i; 1024])).unwrap()).collect();
        for (i, buffer) in buffers.iter().enumerate() {
            assert_eq!(buffer.address() % 4096, 0);
            assert_eq!(stream.download(buffer).unwrap()[2].0, [i as u32; 1024]);
        }
    }
}
