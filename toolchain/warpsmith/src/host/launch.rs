//! Launches: what the methods of `Kernels` expand to.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::boxed::Box;
use std::string::ToString;
use std::sync::{Arc, PoisonError};
use std::vec::Vec;

use cudarc::driver::{DriverError, result, sys};

use super::buffer::Used;
use super::device::{CPU_COOPERATIVE, CPU_LIMITS, Kind};
use super::gpu::Gpu;
use super::grid::Limits;
use super::module::Loaded;
use super::signature::{self, Parameter};
use super::stream::Work;
use super::{DeviceSlice, Error, Grid, Module, Result, Stream};
use crate::back::{self, Failure, Job};
use crate::shape::Shape;

/// A launch that is being prepared.
pub struct Launch<'a> {
    kernel: &'static str,
    stream: &'a Stream,
    grid: Grid,
    /// `None` on the CPU.
    loaded: Option<Arc<Loaded>>,
    uses: Vec<Used>,
    parameters: Vec<*mut c_void>,
    /// The parameters' sizes and alignments.
    passed: Vec<Parameter>,
    /// The parameters' types.
    types: Option<&'static Shape>,
}

impl<'a> Launch<'a> {
    /// Checks device and grid, and loads the kernel if it is not loaded yet.
    ///
    /// # Errors
    /// If module and stream are of different devices, the device cannot run a launch of this shape, or the kernel cannot be loaded.
    pub fn new(module: &Module, stream: &'a Stream, kernel: &'static str, grid: Grid) -> Result<Self> {
        if !module.device().is_same(stream.device()) {
            let (of, with) = (module.device().label(), stream.device().label());
            return Err(Error::OtherDevice { what: "kernels", of, with });
        }
        let impossible = |problem| Error::Grid { kernel: kernel.to_string(), problem };
        let (loaded, limits) = match module.device().kind() {
            Kind::Cpu(_) => (None, CPU_LIMITS),
            Kind::Gpu(gpu) => {
                let in_capture = stream.forbid_in_capture(
                    "a kernel cannot be loaded while a graph is captured: load it before, by `kernels.module().prepare(name)` or a \
                     first launch",
                );
                if in_capture.is_err() && !module.is_loaded(kernel) {
                    in_capture?;
                }
                let loaded = module.loaded(kernel)?;
                let limits = limits(gpu, &loaded);
                (Some(loaded), limits)
            }
        };
        if let Some(problem) = grid.problem(&limits) {
            return Err(impossible(problem));
        }
        let total = grid.blocks.count() * grid.threads.count();
        if loaded.is_none() && grid.is_cooperative && total > CPU_COOPERATIVE {
            return Err(impossible(std::format!(
                "a cooperative launch of {total} threads, and the CPU can have {CPU_COOPERATIVE} at once: use fewer blocks"
            )));
        }
        Ok(Launch {
            kernel,
            stream,
            grid,
            loaded,
            uses: Vec::new(),
            parameters: Vec::new(),
            passed: Vec::new(),
            types: None,
        })
    }

    /// Notes the types of the parameters, which the kernel on the device must have as well.
    pub fn types(&mut self, types: &'static Shape) {
        self.types = Some(types);
    }

    /// Notes that the kernel reads this.
    pub(crate) fn reads<T>(&mut self, slice: &DeviceSlice<T>) -> Result<*mut T> {
        slice.check(self.stream.device())?;
        self.uses.push((slice.memory().clone(), false));
        Ok(slice.pointer())
    }

    /// Notes that the kernel writes this.
    pub(crate) fn writes<T>(&mut self, slice: &mut DeviceSlice<T>) -> Result<*mut T> {
        slice.check(self.stream.device())?;
        self.uses.push((slice.memory().clone(), true));
        Ok(slice.pointer())
    }

    /// Adds a parameter in PTX, unless it takes no place. The value must stay where it is until the launch.
    pub fn parameter<T>(&mut self, value: &T) {
        if size_of::<T>() > 0 {
            self.parameters.push((&raw const *value).cast_mut().cast());
            self.passed.push(Parameter::of::<T>());
        }
    }

    /// Launches.
    ///
    /// # Safety
    /// `body` is the kernel with these parameters, as the kernel on the device has them; the memory in them is what was noted.
    pub unsafe fn run(self, body: impl Fn() + 'static) -> Result {
        match self.loaded.clone() {
            // SAFETY: the caller's promise.
            Some(loaded) => unsafe { self.run_on_gpu(&loaded) },
            None => self.run_on_cpu(Box::new(body)),
        }
    }

    fn run_on_cpu(self, body: super::Body) -> Result {
        let Kind::Cpu(order) = *self.stream.device().kind() else {
            return Err(Error::NoSuchKernel(self.kernel.to_string()));
        };
        let (kernel, grid) = (self.kernel, self.grid);
        let work = move || {
            let job = Job {
                blocks: grid.blocks.dim(),
                threads: grid.threads.dim(),
                cluster: grid.cluster.dim(),
                dynamic_bytes: grid.shared_bytes as usize,
                is_cooperative: grid.is_cooperative,
                order,
                body: &*body,
            };
            back::run(&job).map_err(|failure| error_of(kernel, failure))
        };
        // SAFETY: the body is a kernel and its parameters in PTX: numbers and addresses.
        self.stream.work(&self.uses, unsafe { Work::assume_send(Box::new(work)) })
    }

    /// # Safety
    /// As [`Launch::run`].
    unsafe fn run_on_gpu(mut self, loaded: &Arc<Loaded>) -> Result {
        let types = loaded.types.as_deref().zip(self.types);
        let difference = types
            .and_then(|(declared, passed)| signature::other_types(declared, passed.text()))
            .or_else(|| signature::difference(&loaded.parameters, &self.passed));
        if let Some(difference) = difference {
            return Err(Error::OtherSource { kernel: self.kernel.to_string(), difference });
        }
        // SAFETY: the caller's promise.
        unsafe { launch_loaded(self.stream, loaded, self.grid, &self.uses, &mut self.parameters) }
    }
}

/// Returns what a device allows for a kernel.
pub(crate) fn limits(gpu: &Gpu, loaded: &Loaded) -> Limits {
    Limits {
        threads: loaded.facts.block_threads.min(gpu.limits.threads),
        shared_bytes: gpu.limits.shared_bytes.saturating_sub(loaded.facts.shared_bytes),
        // In texts for older architectures a cluster is one block.
        has_clusters: gpu.limits.has_clusters && loaded.capability >= 90,
        ..gpu.limits
    }
}

/// Queues a kernel on a GPU's stream, after whatever else uses the same memory.
///
/// # Safety
/// The parameters are the kernel's, and `uses` is the memory in them, or other streams' use of it is in order. The grid was checked.
pub(crate) unsafe fn launch_loaded(
    stream: &Stream,
    loaded: &Arc<Loaded>,
    grid: Grid,
    uses: &[Used],
    parameters: &mut [*mut c_void],
) -> Result {
    let (Some(queue), Kind::Gpu(gpu)) = (stream.cuda(), stream.device().kind()) else {
        return Err(Error::NoSuchKernel(loaded.name.clone()));
    };
    loaded.make_room(gpu, grid.shared_bytes)?;
    let launch = || {
        let (blocks, threads) = (grid.blocks.tuple(), grid.threads.tuple());
        let (handle, shared) = (loaded.function.cu_function(), grid.shared_bytes);
        let stream = queue.stream().cu_stream();
        // SAFETY: the caller's promise.
        unsafe {
            if grid.is_cooperative {
                result::launch_cooperative_kernel(handle, blocks, threads, shared, stream, parameters)
            } else if grid.cluster.count() > 1 {
                launch_clusters(handle, &grid, stream, parameters)
            } else {
                result::launch_kernel(handle, blocks, threads, shared, stream, parameters)
            }
        }
    };
    let doing = "launching a kernel";
    if !grid.is_cooperative {
        return stream.enqueue(uses, Some(loaded), doing, launch);
    }
    let turn = stream.outside_capture("a cooperative launch cannot be captured into a graph")?;
    // Held until the launch is queued: one at a time.
    let mut cooperative = loaded.cooperative.lock().unwrap_or_else(PoisonError::into_inner);
    cooperative.order(queue, true)?;
    let queued = stream.queue(&turn, uses, doing, launch);
    stream.keep(loaded);
    queued.map_err(|error| match error {
        Error::Driver { message, .. } if message.contains("COOPERATIVE_LAUNCH_TOO_LARGE") => {
            let problem =
                "more blocks than run at the same time, which a cooperative launch needs: use fewer"
                    .to_string();
            Error::Grid { kernel: loaded.name.clone(), problem }
        }
        other => other,
    })
}

/// Launches a grid of clusters.
///
/// # Safety
/// The parameters are those of the function; the stream is of its device, which has clusters.
unsafe fn launch_clusters(
    function: sys::CUfunction,
    grid: &Grid,
    stream: sys::CUstream,
    parameters: &mut [*mut c_void],
) -> core::result::Result<(), DriverError> {
    let ((grid_x, grid_y, grid_z), (block_x, block_y, block_z)) = (grid.blocks.tuple(), grid.threads.tuple());
    // SAFETY: numbers, of which 0 is one.
    let mut attribute: sys::CUlaunchAttribute = unsafe { core::mem::zeroed() };
    attribute.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = grid.cluster.x;
    attribute.value.clusterDim.y = grid.cluster.y;
    attribute.value.clusterDim.z = grid.cluster.z;
    let config = sys::CUlaunchConfig {
        gridDimX: grid_x,
        gridDimY: grid_y,
        gridDimZ: grid_z,
        blockDimX: block_x,
        blockDimY: block_y,
        blockDimZ: block_z,
        sharedMemBytes: grid.shared_bytes,
        hStream: stream,
        attrs: &mut attribute,
        numAttrs: 1,
    };
    // SAFETY: the caller's promise; the attribute lives until the call returns.
    unsafe { sys::cuLaunchKernelEx(&config, function, parameters.as_mut_ptr(), null_mut()) }.result()
}

fn error_of(kernel: &str, failure: Failure) -> Error {
    Error::Kernel {
        kernel: kernel.to_string(),
        message: failure.message,
        place: failure.place,
        position: failure
            .position
            .map(|(block, thread)| ([block.x, block.y, block.z], [thread.x, thread.y, thread.z])),
    }
}
