//! Kernels by name, for programs that have a layer of launches of their own.

use core::ffi::c_void;
use core::fmt;
use std::format;
use std::string::ToString;
use std::sync::Arc;

use super::device::Kind;
use super::launch::{launch_loaded, limits};
use super::module::Loaded;
use super::{Device, Error, Grid, KernelFacts, Module, Result, Stream, gpu};

/// A kernel that is loaded on a GPU, without the types of its parameters. Cheap to clone.
///
/// The methods that `module!` generates check a launch at compile time. This is for what they cannot express, such as a kernel
/// whose name is put together at run time.
#[derive(Clone)]
pub struct Function {
    device: Device,
    loaded: Arc<Loaded>,
}

impl Module {
    /// Compiles and loads a kernel, unless it is loaded already. Several threads can load several kernels at the same time.
    ///
    /// # Errors
    /// If there is no such kernel, the driver rejects it, or the device is the CPU, which knows kernels by their types only.
    pub fn function(&self, kernel: &str) -> Result<Function> {
        if self.device().is_cpu() {
            return Err(Error::Misuse(
                "the CPU cannot launch a kernel by its name: use the method that `module!` generates",
            ));
        }
        Ok(Function { device: self.device().clone(), loaded: self.loaded(kernel)? })
    }
}

impl Function {
    /// Returns the kernel's name.
    pub fn name(&self) -> &str {
        &self.loaded.name
    }

    /// Returns what the kernel needs.
    pub fn facts(&self) -> KernelFacts {
        self.loaded.facts
    }

    /// Returns the number of blocks of `threads` threads, with `shared_bytes` bytes of dynamic shared memory each, that run on a
    /// multiprocessor at the same time; 0 if a block has too many threads or too much memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn blocks_per_multiprocessor(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        let Kind::Gpu(gpu) = self.device.kind() else {
            return Err(Error::NoSuchKernel(self.loaded.name.clone()));
        };
        let limits = limits(gpu, &self.loaded);
        if threads > limits.threads || shared_bytes > limits.shared_bytes {
            return Ok(0);
        }
        self.loaded.make_room(gpu, shared_bytes)?;
        let function = &self.loaded.function;
        let blocks = gpu.context.bind_to_thread().and_then(|()| {
            function.occupancy_max_active_blocks_per_multiprocessor(threads, shared_bytes as usize, None)
        });
        blocks.map_err(gpu::failed("asking for room on a multiprocessor"))
    }

    /// Queues a launch. `parameters` are pointers to the kernel's parameters in PTX, in their order: to a number or a struct, or to
    /// an [address](super::DeviceSlice::address) of device memory. They are read before this returns.
    ///
    /// # Errors
    /// If the grid is not possible, the number of parameters is not the kernel's, the stream is of another device, or the driver
    /// rejects the launch.
    ///
    /// # Safety
    /// - Each pointer is to a value of the type that the kernel has in that place.
    /// - The memory at the addresses is large enough for what the kernel does, and is kept until the launch is done. A buffer that
    ///   only this stream has used may be dropped before that: its memory is given back in the stream's order.
    /// - This stream is the only one that uses that memory, or what other streams do with it is in order by
    ///   [events](Stream::wait).
    pub unsafe fn launch(&self, stream: &Stream, grid: Grid, parameters: &mut [*mut c_void]) -> Result {
        let loaded = &self.loaded;
        let Kind::Gpu(gpu) = self.device.kind() else {
            return Err(Error::NoSuchKernel(loaded.name.clone()));
        };
        if !self.device.is_same(stream.device()) {
            let (of, with) = (self.device.label(), stream.device().label());
            return Err(Error::OtherDevice { what: "kernels", of, with });
        }
        if let Some(problem) = grid.problem(&limits(gpu, loaded)) {
            return Err(Error::Grid { kernel: loaded.name.clone(), problem });
        }
        let (takes, passed) = (loaded.parameters.len(), parameters.len());
        if takes != passed {
            let difference = format!("it takes {takes} parameters in PTX, and the launch passes {passed}");
            return Err(Error::OtherSource { kernel: self.name().to_string(), difference });
        }
        // SAFETY: the caller's promise; the grid is possible.
        unsafe { launch_loaded(stream, loaded, grid, &[], parameters) }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Function").field(&self.name()).field(&self.device).finish()
    }
}
