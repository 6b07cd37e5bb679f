//! Devices: GPUs, and the CPU in the place of one.

use core::fmt;
use std::string::{String, ToString};
use std::sync::Arc;
use std::vec::Vec;

use super::grid::{Extent, Limits};
use super::{Buffer, Error, Result, Stream, gpu};
use crate::DeviceCopy;
use crate::back::Order;

/// A device to run kernels on: a GPU, or the CPU. Cheap to clone.
///
/// Its text is its name. If [`Device::best`] chose the CPU, the text also says why there is no GPU.
#[derive(Clone)]
pub struct Device {
    kind: Arc<Kind>,
    /// Why `best` found no GPU.
    lacks_gpu: Option<Error>,
}

pub(crate) enum Kind {
    Cpu(Order),
    Gpu(gpu::Gpu),
}

/// What a device is and has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// Its name.
    pub name: String,
    /// The GPU's number; `None` for the CPU.
    pub ordinal: Option<usize>,
    /// Compute capability: major, minor. 0.0 for the CPU.
    pub capability: (u32, u32),
    /// Bytes of device memory; 0 for the CPU.
    pub memory: u64,
    /// Multiprocessors; cores of the CPU.
    pub multiprocessors: u32,
    /// The CUDA version that the driver supports: major, minor. 0.0 for the CPU.
    pub driver: (u32, u32),
    /// The most threads of a block.
    pub block_threads: u32,
    /// The most dynamic shared memory of a block, in bytes.
    pub block_shared_bytes: u32,
}

impl Device {
    fn new(kind: Kind) -> Self {
        Device { kind: Arc::new(kind), lacks_gpu: None }
    }

    /// Returns the GPU with the most multiprocessors of those that can be used; without a driver or a GPU, the CPU.
    ///
    /// # Errors
    /// If there are GPUs, but none can be used, or the driver does not start.
    pub fn best() -> Result<Self> {
        match gpu::best() {
            Ok(gpu) => Ok(Device::new(Kind::Gpu(gpu))),
            Err(error) if error.means_no_gpu() => Ok(Device { lacks_gpu: Some(error), ..Device::cpu() }),
            Err(error) => Err(error),
        }
    }

    /// Returns the CPU: kernels run on simulated threads, one at a time and in turn.
    pub fn cpu() -> Self {
        Device::new(Kind::Cpu(Order::Ascending))
    }

    /// Returns the CPU with blocks and threads that take turns in an order made of `seed`: a missing barrier, or a race, gives
    /// different results for different seeds.
    pub fn cpu_shuffled(seed: u64) -> Self {
        Device::new(Kind::Cpu(Order::Shuffled(seed)))
    }

    /// Opens a GPU, by its number from 0.
    ///
    /// # Errors
    /// If there is no driver, or it does not start, or there is no such GPU, or it cannot be opened.
    pub fn gpu(ordinal: usize) -> Result<Self> {
        Ok(Device::new(Kind::Gpu(gpu::Gpu::open(ordinal)?)))
    }

    /// Returns the number of GPUs, at least one, without opening any.
    ///
    /// # Errors
    /// If there is no driver, or it does not start, or there is no GPU.
    pub fn count() -> Result<usize> {
        gpu::count()
    }

    /// Returns what is known about each GPU, in the order of their numbers, without opening any.
    ///
    /// # Errors
    /// If there is no driver, or it does not start, or there is no GPU.
    pub fn list() -> Result<Vec<Properties>> {
        gpu::list()
    }

    /// Returns what is known about the device.
    pub fn properties(&self) -> Properties {
        match &*self.kind {
            Kind::Gpu(gpu) => gpu.properties.clone(),
            Kind::Cpu(order) => Properties {
                name: match order {
                    Order::Ascending => "CPU".to_string(),
                    Order::Shuffled(seed) => std::format!("CPU, shuffled by {seed}"),
                },
                ordinal: None,
                capability: (0, 0),
                memory: 0,
                multiprocessors: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
                driver: (0, 0),
                block_threads: CPU_LIMITS.threads,
                block_shared_bytes: CPU_LIMITS.shared_bytes,
            },
        }
    }

    /// Returns whether the device is the CPU.
    pub fn is_cpu(&self) -> bool {
        matches!(&*self.kind, Kind::Cpu(_))
    }

    /// Makes a stream: a queue of work that the device does in order.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn stream(&self) -> Result<Stream> {
        Stream::new(self)
    }

    /// Copies values into a new buffer, by a stream of its own, which the driver keeps as long as the buffer: for many buffers,
    /// make one stream and use [`Stream::upload`].
    ///
    /// # Errors
    /// As [`Stream::upload`].
    pub fn upload<T: DeviceCopy>(&self, values: &[T]) -> Result<Buffer<T>> {
        self.stream()?.upload(values)
    }

    /// Waits for all work on the device.
    ///
    /// # Errors
    /// If some of it failed, or a graph is captured on one of its streams.
    pub fn synchronize(&self) -> Result {
        match &*self.kind {
            Kind::Cpu(_) => Ok(()),
            Kind::Gpu(gpu) => gpu.context.synchronize().map_err(gpu::failed("waiting for the device")),
        }
    }

    /// Returns the bytes of device memory that are free now; `None` on the CPU.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn free_bytes(&self) -> Result<Option<u64>> {
        match &*self.kind {
            Kind::Cpu(_) => Ok(None),
            Kind::Gpu(gpu) => {
                let (free, _) =
                    gpu.context.mem_get_info().map_err(gpu::failed("asking for free device memory"))?;
                Ok(Some(free as u64))
            }
        }
    }

    /// Lets kernels here read and write the memory of another device by its addresses, and returns whether they can: not every two
    /// GPUs are connected for it. [`Stream::copy`] needs no such connection.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn reaches(&self, other: &Device) -> Result<bool> {
        match (&*self.kind, &*other.kind) {
            _ if self.is_same(other) => Ok(true),
            (Kind::Gpu(own), Kind::Gpu(other)) => {
                own.reaches(other).map_err(gpu::failed("connecting two devices"))
            }
            _ => Ok(false),
        }
    }

    /// Sets the stack of each thread, in bytes. It is seldom needed: the driver gives each kernel what it and the functions that it
    /// calls by name need. It cannot tell for recursion and for what is called through a pointer (`core::fmt`, `dyn`). When such a
    /// kernel is loaded, each thread gets 8 KiB, unless this was called before. That is enough for `format!`; deep recursion needs
    /// more. On the CPU it does nothing.
    ///
    /// # Errors
    /// If the driver fails: the memory for all threads that the device can have at once may not suffice.
    pub fn set_stack_bytes(&self, bytes: usize) -> Result {
        match &*self.kind {
            Kind::Cpu(_) => Ok(()),
            Kind::Gpu(gpu) => gpu.set_stack(bytes).map_err(gpu::failed("setting the stack")),
        }
    }

    /// Sets the size of the heap from which kernels allocate, in bytes; the driver's is 8 MiB. Before the first launch. On the CPU
    /// it does nothing.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_heap_bytes(&self, bytes: usize) -> Result {
        self.set_limit(gpu::Limit::CU_LIMIT_MALLOC_HEAP_SIZE, bytes)
    }

    /// Sets the size of the buffer for what kernels print, in bytes; the driver's is 1 MiB. Once it is full, the oldest text is
    /// overwritten. On the CPU it does nothing.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_print_bytes(&self, bytes: usize) -> Result {
        self.set_limit(gpu::Limit::CU_LIMIT_PRINTF_FIFO_SIZE, bytes)
    }

    fn set_limit(&self, limit: gpu::Limit, bytes: usize) -> Result {
        match &*self.kind {
            Kind::Cpu(_) => Ok(()),
            Kind::Gpu(gpu) => {
                gpu.context.set_limit(limit, bytes).map_err(gpu::failed("setting a limit of the device"))
            }
        }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Returns whether memory of one is memory of the other.
    pub(crate) fn is_same(&self, other: &Device) -> bool {
        match (&*self.kind, &*other.kind) {
            (Kind::Cpu(_), Kind::Cpu(_)) => true,
            (Kind::Gpu(a), Kind::Gpu(b)) => a.context.ordinal() == b.context.ordinal(),
            _ => false,
        }
    }

    /// Returns a name for messages.
    pub(crate) fn label(&self) -> String {
        match &*self.kind {
            Kind::Cpu(_) => "the CPU".to_string(),
            Kind::Gpu(gpu) => std::format!("GPU {}", gpu.context.ordinal()),
        }
    }
}

/// What the simulated device allows: what a large GPU does.
pub(crate) const CPU_LIMITS: Limits = Limits {
    threads: 1024,
    block: Extent { x: 1024, y: 1024, z: 64 },
    grid: Extent { x: i32::MAX as u32, y: 65535, z: 65535 },
    shared_bytes: 227 << 10,
    has_clusters: true,
};

/// The most threads that a cooperative launch may have on the CPU, where each may need a thread of the system.
pub(crate) const CPU_COOPERATIVE: u64 = 8192;

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.properties().name)?;
        match &self.lacks_gpu {
            Some(why) => write!(f, ", because {}", why.text_on_cpu()),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.properties().name).finish()
    }
}
