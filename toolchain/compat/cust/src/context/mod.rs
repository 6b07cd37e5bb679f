//! Contexts: what a process has on a device.

use std::mem;
use std::ptr;

use bitflags::bitflags;

use crate::CudaApiVersion;
use crate::device::Device;
use crate::error::{CudaResult, DropResult, call};
use crate::private::Sealed;
use crate::sys;

pub mod legacy;

/// A context, of whatever kind.
pub trait ContextHandle: Sealed {
    /// Returns the driver's handle.
    fn get_inner(&self) -> sys::CUcontext;
}

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident as $raw:ident { $($(#[$variant_doc:meta])* $variant:ident = $value:literal,)* })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $value,)*
        }

        impl $name {
            #[allow(dead_code)]
            pub(crate) fn raw(self) -> sys::$raw {
                // SAFETY: every variant is a value of the driver's type.
                unsafe { mem::transmute::<u32, sys::$raw>(self as u32) }
            }

            #[allow(dead_code)]
            fn from_raw(raw: sys::$raw) -> Option<Self> {
                [$(Self::$variant),*].into_iter().find(|choice| *choice as u32 == raw as u32)
            }
        }
    )* };
}

choices! {
    /// What the memory of a multiprocessor is preferably used for.
    CacheConfig as CUfunc_cache {
        /// The driver decides.
        PreferNone = 0,
        /// Shared memory.
        PreferShared = 1,
        /// The cache.
        PreferL1 = 2,
        /// Both alike.
        PreferEqual = 3,
    }

    /// What a context has a limit for.
    ResourceLimit as CUlimit {
        /// Bytes of each thread's stack.
        StackSize = 0,
        /// Bytes of text that kernels print before the host reads it.
        PrintfFifoSize = 1,
        /// Bytes of the device's heap.
        MallocHeapSize = 2,
        /// How deep launches from kernels may be waited for.
        DeviceRuntimeSynchronizeDepth = 3,
        /// How many launches from kernels may wait.
        DeviceRuntimePendingLaunchCount = 4,
        /// Bytes that the cache reads at once.
        MaxL2FetchGranularity = 5,
    }

    /// How wide the banks of shared memory are.
    SharedMemoryConfig as CUsharedconfig {
        /// The driver decides.
        DefaultBankSize = 0,
        /// Four bytes.
        FourByteBankSize = 1,
        /// Eight bytes.
        EightByteBankSize = 2,
    }
}

bitflags! {
    /// Flags of a context.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct ContextFlags: u32 {
        /// The driver decides how threads wait.
        const SCHED_AUTO = 0;
        /// Threads that wait keep their processor.
        const SCHED_SPIN = 1;
        /// Threads that wait let others go first.
        const SCHED_YIELD = 2;
        /// Threads that wait sleep.
        const SCHED_BLOCKING_SYNC = 4;
        /// Devices may use memory of the host.
        const MAP_HOST = 8;
        /// Memory for stacks is kept when a kernel needs less.
        const LMEM_RESIZE_TO_MAX = 16;
    }
}

/// A share of the context that all of a process have on a device.
#[derive(Debug)]
pub struct Context {
    inner: sys::CUcontext,
    device: sys::CUdevice,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Sealed for Context {}
impl ContextHandle for Context {
    fn get_inner(&self) -> sys::CUcontext {
        self.inner
    }
}

impl Clone for Context {
    fn clone(&self) -> Self {
        let mut inner = ptr::null_mut();
        // SAFETY: a place for the result.
        let retained = call(|| unsafe { sys::cuDevicePrimaryCtxRetain(&mut inner, self.device) });
        retained.expect("a context that is there can be shared");
        Self { inner, device: self.device }
    }
}

impl Context {
    /// Makes the device's context the thread's current one.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(device: Device) -> CudaResult<Self> {
        let mut inner = ptr::null_mut();
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuDevicePrimaryCtxRetain(&mut inner, device.device) })?;
        let context = Self { inner, device: device.device };
        CurrentContext::set_current(&context)?;
        Ok(context)
    }

    /// Destroys everything that the process has on a device.
    ///
    /// # Safety
    /// Nothing on the device is used afterwards.
    ///
    /// # Errors
    /// If the driver fails.
    pub unsafe fn reset(device: &Device) -> CudaResult<()> {
        // SAFETY: the caller's promise.
        call(|| unsafe { sys::cuDevicePrimaryCtxReset_v2(device.device) })
    }

    /// Sets flags.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_flags(&self, flags: ContextFlags) -> CudaResult<()> {
        // SAFETY: a device.
        call(|| unsafe { sys::cuDevicePrimaryCtxSetFlags_v2(self.device, flags.bits()) })
    }

    /// Returns the driver's handle.
    pub fn as_raw(&self) -> sys::CUcontext {
        self.inner
    }

    /// Returns the version of CUDA that the context is for.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn get_api_version(&self) -> CudaResult<CudaApiVersion> {
        api_version(self.inner)
    }

    /// Gives the share back.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::should_implement_trait)]
    pub fn drop(mut ctx: Self) -> DropResult<Self> {
        let inner = mem::replace(&mut ctx.inner, ptr::null_mut());
        // SAFETY: a share of ours.
        match call(|| unsafe { sys::cuDevicePrimaryCtxRelease_v2(ctx.device) }) {
            Ok(()) => Ok(()),
            Err(error) => Err((error, Self { inner, device: ctx.device })),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.inner.is_null() {
            // SAFETY: a share of ours. Nobody could do anything about an error.
            let _ = call(|| unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) });
        }
    }
}

fn api_version(context: sys::CUcontext) -> CudaResult<CudaApiVersion> {
    let mut version = 0;
    // SAFETY: a context, and a place for the result.
    call(|| unsafe { sys::cuCtxGetApiVersion(context, &mut version) })?;
    Ok(CudaApiVersion { version: version as i32 })
}

/// The least and the greatest priority of streams: a lower number goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamPriorityRange {
    /// The least.
    pub least: i32,
    /// The greatest.
    pub greatest: i32,
}

/// The thread's current context.
#[derive(Clone, Copy, Debug)]
pub struct CurrentContext;

impl CurrentContext {
    /// Returns what the memory of multiprocessors is preferably used for.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn get_cache_config() -> CudaResult<CacheConfig> {
        let mut raw = CacheConfig::PreferNone.raw();
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuCtxGetCacheConfig(&mut raw) })?;
        Ok(CacheConfig::from_raw(raw).unwrap_or(CacheConfig::PreferNone))
    }

    /// Returns the device.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn get_device() -> CudaResult<Device> {
        let mut device = 0;
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuCtxGetDevice(&mut device) })?;
        Ok(Device { device })
    }

    /// Returns the flags.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn get_flags() -> CudaResult<ContextFlags> {
        let mut bits = 0;
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuCtxGetFlags(&mut bits) })?;
        Ok(ContextFlags::from_bits_truncate(bits))
    }

    /// Returns a limit.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn get_resource_limit(resource: ResourceLimit) -> CudaResult<usize> {
        let mut limit = 0;
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuCtxGetLimit(&mut limit, resource.raw()) })?;
        Ok(limit)
    }

    /// Returns how wide the banks of shared memory are.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn get_shared_memory_config() -> CudaResult<SharedMemoryConfig> {
        let mut raw = SharedMemoryConfig::DefaultBankSize.raw();
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuCtxGetSharedMemConfig(&mut raw) })?;
        Ok(SharedMemoryConfig::from_raw(raw).unwrap_or(SharedMemoryConfig::DefaultBankSize))
    }

    /// Returns the priorities of streams.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn get_stream_priority_range() -> CudaResult<StreamPriorityRange> {
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: places for the results.
        call(|| unsafe { sys::cuCtxGetStreamPriorityRange(&mut least, &mut greatest) })?;
        Ok(StreamPriorityRange { least, greatest })
    }

    /// Sets what the memory of multiprocessors is preferably used for.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn set_cache_config(cfg: CacheConfig) -> CudaResult<()> {
        // SAFETY: a value of the driver's type.
        call(|| unsafe { sys::cuCtxSetCacheConfig(cfg.raw()) })
    }

    /// Sets a limit.
    ///
    /// # Errors
    /// If it is not possible.
    pub fn set_resource_limit(resource: ResourceLimit, limit: usize) -> CudaResult<()> {
        // SAFETY: a value of the driver's type.
        call(|| unsafe { sys::cuCtxSetLimit(resource.raw(), limit) })
    }

    /// Sets how wide the banks of shared memory are.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn set_shared_memory_config(cfg: SharedMemoryConfig) -> CudaResult<()> {
        // SAFETY: a value of the driver's type.
        call(|| unsafe { sys::cuCtxSetSharedMemConfig(cfg.raw()) })
    }

    /// Makes a context the thread's current one.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_current<C: ContextHandle>(c: &C) -> CudaResult<()> {
        // SAFETY: a context.
        call(|| unsafe { sys::cuCtxSetCurrent(c.get_inner()) })
    }

    /// Waits for all work of the context.
    ///
    /// # Errors
    /// Those of that work, too.
    pub fn synchronize() -> CudaResult<()> {
        // SAFETY: waits.
        call(|| unsafe { sys::cuCtxSynchronize() })
    }
}
