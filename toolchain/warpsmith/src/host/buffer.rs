//! Arrays in the memory of a device.

use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Bound, Deref, DerefMut, RangeBounds};
use std::format;
use std::string::String;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

use cudarc::driver::result;

use super::device::Kind;
use super::queue::{Queue, bind_to_give_back, relaxed};
use super::{Device, Error, Result, gpu};
use crate::DeviceCopy;

/// Memory of a device.
pub(crate) struct Memory {
    device: Device,
    address: u64,
    bytes: usize,
    align: usize,
    origin: Origin,
    uses: Mutex<Uses>,
}

/// Where memory comes from, and therefore goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Rust's allocator: the memory of the simulated device.
    Allocator,
    /// A GPU's.
    Device,
    /// A GPU's, in the order of a stream.
    Stream,
    /// The driver's memory of the host, for a GPU.
    Pinned,
}

/// The streams on a GPU that use some memory, so that what one writes and another reads or writes is kept in order. Nothing
/// is recorded while only one stream uses it.
#[derive(Default)]
pub(crate) struct Uses {
    writer: Option<Arc<Queue>>,
    /// Streams that have read since, and therefore wait for the writer.
    readers: Vec<Arc<Queue>>,
}

/// What a launch or a copy uses, and whether it writes there.
pub(crate) type Used = (Arc<Memory>, bool);

/// The driver aligns memory to this. On the CPU it is the least.
const ALIGN: usize = 256;

/// And memory of the host to this.
const PAGE: usize = 4096;

/// Allocates memory of zeros on the CPU. `bytes` is what was asked for, `room` what is taken.
fn allocate_zeroed(bytes: usize, room: usize, align: usize) -> Result<u64> {
    let out = || Error::OutOfMemory { bytes: bytes as u64, free: None };
    let layout = Layout::from_size_align(room, align).map_err(|_| out())?;
    // SAFETY: the layout has a size.
    let start = unsafe { std::alloc::alloc_zeroed(layout) };
    if start.is_null() { Err(out()) } else { Ok(start.expose_provenance() as u64) }
}

impl Memory {
    /// Allocates memory for elements with this alignment; the content is anything.
    pub fn allocate(
        device: &Device,
        queue: Option<&Arc<Queue>>,
        bytes: usize,
        align: usize,
    ) -> Result<Arc<Self>> {
        if align > ALIGN && !device.is_cpu() {
            return Err(Error::Misuse(
                "memory of a GPU is aligned to 256 bytes, and the type of the elements asks for more",
            ));
        }
        let align = align.max(ALIGN);
        // Empty buffers have an address, too: what a kernel only reads must not be null.
        let room = bytes.max(1);
        let (address, origin) = match (device.kind(), queue) {
            (Kind::Gpu(gpu), Some(queue)) => {
                let fail =
                    |error: cudarc::driver::DriverError| match gpu::failed("allocating device memory")(error)
                    {
                        Error::OutOfMemory { .. } => {
                            let free = gpu.context.mem_get_info().ok().map(|(free, _)| free as u64);
                            Error::OutOfMemory { bytes: bytes as u64, free }
                        }
                        other => other,
                    };
                gpu.context.bind_to_thread().map_err(fail)?;
                let origin = if gpu.context.has_async_alloc() { Origin::Stream } else { Origin::Device };
                // SAFETY: the context is bound, and the stream is one of it.
                let address = relaxed(|| unsafe {
                    match origin {
                        Origin::Stream => result::malloc_async(queue.stream().cu_stream(), room),
                        _ => result::malloc_sync(room),
                    }
                });
                (address.map_err(fail)?, origin)
            }
            _ => (allocate_zeroed(bytes, room, align)?, Origin::Allocator),
        };
        let writer = queue.cloned();
        let uses = Mutex::new(Uses { writer, readers: Vec::new() });
        Ok(Arc::new(Memory { device: device.clone(), address, bytes: room, align, origin, uses }))
    }

    /// Allocates memory of the host, of zeros, which a GPU copies from and to by itself.
    pub fn pinned(device: &Device, bytes: usize, align: usize) -> Result<Arc<Self>> {
        let (room, align) = (bytes.max(1), align.max(ALIGN));
        let (address, origin) = match device.kind() {
            // The driver aligns it to a page.
            Kind::Gpu(_) if align > PAGE => {
                return Err(Error::Misuse(
                    "pinned memory is aligned to 4096 bytes, and the type of the elements asks for more",
                ));
            }
            Kind::Gpu(gpu) => {
                let fail = |error| match gpu::failed("allocating pinned memory")(error) {
                    Error::OutOfMemory { .. } => Error::OutOfMemory { bytes: bytes as u64, free: None },
                    other => other,
                };
                gpu.context.bind_to_thread().map_err(fail)?;
                // SAFETY: the context is bound; the memory is as large as is asked for.
                let start = relaxed(|| unsafe {
                    result::malloc_host(room, 0).inspect(|start| start.cast::<u8>().write_bytes(0, room))
                });
                (start.map_err(fail)?.expose_provenance() as u64, Origin::Pinned)
            }
            Kind::Cpu(_) => (allocate_zeroed(bytes, room, align)?, Origin::Allocator),
        };
        let uses = Mutex::default();
        Ok(Arc::new(Memory { device: device.clone(), address, bytes: room, align, origin, uses }))
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the address as a pointer; it can be followed where the memory is.
    pub fn pointer(&self) -> *mut u8 {
        core::ptr::with_exposed_provenance_mut(self.address as usize)
    }

    pub fn lock(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Uses {
    /// Lets a stream wait for whatever it must not overtake, before it reads or writes. Another context may be the thread's after
    /// that.
    pub fn order(&mut self, queue: &Arc<Queue>, writes: bool) -> Result {
        let is_same = |other: &Arc<Queue>| other.is_same(queue);
        let wait = |other: &Queue| other.point().and_then(|point| queue.stream().wait(&point));
        let fail = gpu::failed("ordering streams");
        let has_waited = self.readers.iter().any(is_same);
        if let Some(writer) = &self.writer
            && !is_same(writer)
            && !has_waited
        {
            wait(writer).map_err(&fail)?;
        }
        if !writes {
            if !has_waited && !self.writer.as_ref().is_some_and(is_same) {
                self.readers.push(queue.clone());
            }
            return Ok(());
        }
        for reader in self.readers.drain(..).filter(|reader| !is_same(reader)) {
            wait(&reader).map_err(&fail)?;
        }
        self.writer = Some(queue.clone());
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let Kind::Gpu(gpu) = self.device.kind() else {
            let layout =
                Layout::from_size_align(self.bytes, self.align).expect("it was allocated with this layout");
            // SAFETY: allocated with this layout, and nobody has it any more.
            unsafe { std::alloc::dealloc(self.pointer(), layout) };
            return;
        };
        // Nobody can be told of errors here; on a device that has failed all calls do.
        let uses = self.uses.get_mut().unwrap_or_else(PoisonError::into_inner);
        let last = uses.writer.take().or_else(|| uses.readers.pop());
        match (last, self.origin) {
            (Some(last), Origin::Stream) => {
                let points: Vec<_> = uses.readers.drain(..).map(|reader| reader.point()).collect();
                let _ = last.with(
                    || gpu.spare(),
                    |stream| {
                        for point in points.iter().flatten() {
                            let _ = stream.wait(point);
                        }
                        // Of several devices, the one that was waited for may be the thread's now.
                        let _ = bind_to_give_back(&gpu.context);
                        // SAFETY: allocated by the same kind of call; the stream has waited for all that use it.
                        unsafe { result::free_async(self.address, stream.cu_stream()) }
                    },
                );
            }
            // SAFETY: allocated by the same kind of call; its owner has waited for the copies.
            (_, Origin::Pinned) => relaxed(|| unsafe {
                if bind_to_give_back(&gpu.context).is_ok() {
                    let _ = result::free_host(self.pointer().cast());
                }
            }),
            // SAFETY: allocated by the same kind of call; the driver waits for all work of the device.
            _ => relaxed(|| unsafe {
                let _ = bind_to_give_back(&gpu.context);
                let _ = result::free_sync(self.address);
            }),
        }
    }
}

/// Elements in the memory of a device: a [`Buffer`], or a part of one.
///
/// It has no size known at compile time, as `[T]` has not, so that it exists behind a reference only.
pub struct DeviceSlice<T, Tail: ?Sized = [()]> {
    memory: Arc<Memory>,
    start: usize,
    len: usize,
    elements: PhantomData<T>,
    #[allow(dead_code, reason = "it makes the type one without a size")]
    tail: Tail,
}

type Handle<T> = DeviceSlice<T, [(); 0]>;

/// An array in the memory of a device, made by [`Stream::upload`](super::Stream::upload), `zeroed` or `filled`. When it is dropped, its
/// memory is given back once the work that uses it is done.
pub struct Buffer<T>(Handle<T>);

/// A part of a buffer, to read.
pub struct Slice<'a, T>(Handle<T>, PhantomData<&'a Buffer<T>>);

/// A part of a buffer, to read and write.
pub struct SliceMut<'a, T>(Handle<T>, PhantomData<&'a mut Buffer<T>>);

impl<T: DeviceCopy> Buffer<T> {
    pub(crate) fn of_memory(memory: Arc<Memory>, len: usize) -> Self {
        Buffer(DeviceSlice { memory, start: 0, len, elements: PhantomData, tail: [] })
    }
}

impl<T> Deref for Buffer<T> {
    type Target = DeviceSlice<T>;
    fn deref(&self) -> &DeviceSlice<T> {
        &self.0
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        &mut self.0
    }
}

impl<T> Deref for Slice<'_, T> {
    type Target = DeviceSlice<T>;
    fn deref(&self) -> &DeviceSlice<T> {
        &self.0
    }
}

impl<T> Deref for SliceMut<'_, T> {
    type Target = DeviceSlice<T>;
    fn deref(&self) -> &DeviceSlice<T> {
        &self.0
    }
}

impl<T> DerefMut for SliceMut<'_, T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        &mut self.0
    }
}

impl<T> DeviceSlice<T> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.memory.device
    }

    /// Returns the address of the first element on the device, for code outside of this crate.
    ///
    /// Nothing there orders its work against that of streams.
    pub fn address(&self) -> u64 {
        self.memory.address + (self.start * size_of::<T>()) as u64
    }

    /// Returns a part, to read.
    ///
    /// # Errors
    /// If the range is not within the elements.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_, T>> {
        Ok(Slice(self.part(range)?, PhantomData))
    }

    /// Returns a part, to read and write.
    ///
    /// # Errors
    /// If the range is not within the elements.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<SliceMut<'_, T>> {
        Ok(SliceMut(self.part(range)?, PhantomData))
    }

    /// Returns the elements before `middle`, and the others.
    ///
    /// # Errors
    /// If `middle` is past the end.
    pub fn split_at_mut(&mut self, middle: usize) -> Result<(SliceMut<'_, T>, SliceMut<'_, T>)> {
        Ok((SliceMut(self.part(..middle)?, PhantomData), SliceMut(self.part(middle..)?, PhantomData)))
    }

    fn part(&self, range: impl RangeBounds<usize>) -> Result<Handle<T>> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&start) => start.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&end) => end.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len,
        };
        if start > end || end > self.len {
            return Err(Error::Size(format!(
                "the range {start}..{end} is not within a buffer of {} elements",
                self.len
            )));
        }
        let memory = self.memory.clone();
        Ok(DeviceSlice {
            memory,
            start: self.start + start,
            len: end - start,
            elements: PhantomData,
            tail: [],
        })
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Returns the address as a pointer; it can be followed on the device.
    pub(crate) fn pointer(&self) -> *mut T {
        core::ptr::with_exposed_provenance_mut(self.address() as usize)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// Fails if the memory is not that of a device.
    pub(crate) fn check(&self, device: &Device) -> Result {
        if self.device().is_same(device) {
            return Ok(());
        }
        Err(Error::OtherDevice { what: "a buffer", of: self.device().label(), with: device.label() })
    }
}

fn show<T>(f: &mut fmt::Formatter<'_>, name: &str, slice: &DeviceSlice<T>) -> fmt::Result {
    let of: String = slice.device().label();
    f.debug_struct(name).field("len", &slice.len).field("device", &of).finish()
}

impl<T> fmt::Debug for DeviceSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "DeviceSlice", self)
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "Buffer", self)
    }
}

impl<T> fmt::Debug for Slice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "Slice", self)
    }
}

impl<T> fmt::Debug for SliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "SliceMut", self)
    }
}
