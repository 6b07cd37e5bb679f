//! Contexts that are made one by one, beside the one that a device has anyway.

use std::mem;
use std::ptr;

pub use super::{
    CacheConfig, ContextFlags, ContextHandle, ResourceLimit, SharedMemoryConfig, StreamPriorityRange,
};
use crate::CudaApiVersion;
use crate::device::Device;
use crate::error::{CudaResult, DropResult, call};
use crate::private::Sealed;
use crate::sys;

/// A context of its own.
#[derive(Debug)]
pub struct Context {
    inner: sys::CUcontext,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for Context {}

/// A context that another value destroys.
#[derive(Clone, Debug)]
pub struct UnownedContext {
    inner: sys::CUcontext,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for UnownedContext {}
// SAFETY: as above.
unsafe impl Sync for UnownedContext {}

impl Sealed for Context {}
impl ContextHandle for Context {
    fn get_inner(&self) -> sys::CUcontext {
        self.inner
    }
}

impl Sealed for UnownedContext {}
impl ContextHandle for UnownedContext {
    fn get_inner(&self) -> sys::CUcontext {
        self.inner
    }
}

impl UnownedContext {
    /// Returns the version of CUDA that the context is for.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn get_api_version(&self) -> CudaResult<CudaApiVersion> {
        super::api_version(self.inner)
    }
}

impl Context {
    /// Makes a context, and the thread's current one of it.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn create_and_push(flags: ContextFlags, device: Device) -> CudaResult<Self> {
        let mut inner = ptr::null_mut();
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuCtxCreate_v2(&mut inner, flags.bits(), device.device) })?;
        Ok(Self { inner })
    }

    /// Returns the version of CUDA that the context is for.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn get_api_version(&self) -> CudaResult<CudaApiVersion> {
        super::api_version(self.inner)
    }

    /// Returns the context for other threads.
    pub fn get_unowned(&self) -> UnownedContext {
        UnownedContext { inner: self.inner }
    }

    /// Destroys the context.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::should_implement_trait)]
    pub fn drop(mut ctx: Self) -> DropResult<Self> {
        let inner = mem::replace(&mut ctx.inner, ptr::null_mut());
        // SAFETY: a context that nobody else destroys.
        match call(|| unsafe { sys::cuCtxDestroy_v2(inner) }) {
            Ok(()) => Ok(()),
            Err(error) => Err((error, Self { inner })),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.inner.is_null() {
            // SAFETY: a context that nobody else destroys. Nobody could do anything about an error.
            let _ = call(|| unsafe { sys::cuCtxDestroy_v2(self.inner) });
        }
    }
}

/// The thread's stack of contexts; the top is the current one.
#[derive(Clone, Copy, Debug)]
pub struct ContextStack;

impl ContextStack {
    /// Takes the top off.
    ///
    /// # Errors
    /// If the stack is empty.
    pub fn pop() -> CudaResult<UnownedContext> {
        let mut inner = ptr::null_mut();
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuCtxPopCurrent_v2(&mut inner) })?;
        Ok(UnownedContext { inner })
    }

    /// Puts a context on top.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn push<C: ContextHandle>(ctx: &C) -> CudaResult<()> {
        // SAFETY: a context.
        call(|| unsafe { sys::cuCtxPushCurrent_v2(ctx.get_inner()) })
    }
}

/// The thread's current context.
#[derive(Clone, Copy, Debug)]
pub struct CurrentContext;

impl CurrentContext {
    /// Returns it; a null handle if the thread has none.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn get_current() -> CudaResult<UnownedContext> {
        let mut inner = ptr::null_mut();
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuCtxGetCurrent(&mut inner) })?;
        Ok(UnownedContext { inner })
    }

    /// Makes a context the current one.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_current<C: ContextHandle>(c: &C) -> CudaResult<()> {
        super::CurrentContext::set_current(c)
    }

    /// Returns the device.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn get_device() -> CudaResult<Device> {
        super::CurrentContext::get_device()
    }

    /// Returns a limit.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn get_resource_limit(resource: ResourceLimit) -> CudaResult<usize> {
        super::CurrentContext::get_resource_limit(resource)
    }

    /// Sets a limit.
    ///
    /// # Errors
    /// If it is not possible.
    pub fn set_resource_limit(resource: ResourceLimit, limit: usize) -> CudaResult<()> {
        super::CurrentContext::set_resource_limit(resource, limit)
    }

    /// Returns the priorities of streams.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn get_stream_priority_range() -> CudaResult<StreamPriorityRange> {
        super::CurrentContext::get_stream_priority_range()
    }

    /// Waits for all work of the context.
    ///
    /// # Errors
    /// Those of that work, too.
    pub fn synchronize() -> CudaResult<()> {
        super::CurrentContext::synchronize()
    }
}
