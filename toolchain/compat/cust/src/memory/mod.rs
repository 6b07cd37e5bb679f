//! Memory of devices, and what is copied there and back.
//!
//! Copies that do not name a stream are done when the function returns.

use std::ffi::c_void;

pub use bytemuck_crate as bytemuck;
pub use cust_core::_hidden::DeviceCopy;

pub use crate::DeviceCopy;
use crate::error::{CudaResult, call};
use crate::stream::Stream;
use crate::sys;

mod device;
mod device_box;
mod locked;
mod malloc;
mod pointer;
mod unified;

pub use device::{DeviceBuffer, DeviceSlice, DeviceSliceIndex};
pub use device_box::{DeviceBox, DeviceVariable};
pub use locked::{LockedBox, LockedBuffer};
pub use malloc::{
    cuda_free, cuda_free_async, cuda_free_locked, cuda_free_unified, cuda_malloc, cuda_malloc_async,
    cuda_malloc_locked, cuda_malloc_pitched, cuda_malloc_unified,
};
pub use pointer::{DevicePointer, UnifiedPointer};
pub use unified::{UnifiedBox, UnifiedBuffer};

/// Memory of a device that can be copied to and from `O`.
pub trait CopyDestination<O: ?Sized>: crate::private::Sealed {
    /// Copies to the device.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Panics
    /// If the lengths differ.
    fn copy_from(&mut self, source: &O) -> CudaResult<()>;

    /// Copies from the device.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Panics
    /// If the lengths differ.
    fn copy_to(&self, dest: &mut O) -> CudaResult<()>;
}

/// Memory of a device that can be copied to and from `O` in the order of a stream.
pub trait AsyncCopyDestination<O: ?Sized>: crate::private::Sealed {
    /// Queues a copy to the device.
    ///
    /// # Safety
    /// Nobody writes the source or uses the memory until the copy is done.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Panics
    /// If the lengths differ.
    unsafe fn async_copy_from(&mut self, source: &O, stream: &Stream) -> CudaResult<()>;

    /// Queues a copy from the device.
    ///
    /// # Safety
    /// Nobody uses the destination or writes the memory until the copy is done.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Panics
    /// If the lengths differ.
    unsafe fn async_copy_to(&self, dest: &mut O, stream: &Stream) -> CudaResult<()>;
}

/// Memory of a device, of whatever kind.
pub trait DeviceMemory {
    /// Returns the address.
    fn as_raw_ptr(&self) -> sys::CUdeviceptr;
    /// Returns the bytes.
    fn size_in_bytes(&self) -> usize;
}

/// A buffer that kernels can use.
pub trait GpuBuffer<T: DeviceCopy>: crate::private::Sealed {
    /// Returns the address.
    fn as_device_ptr(&self) -> DevicePointer<T>;
    /// Returns the number of elements.
    fn len(&self) -> usize;
    /// Returns whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A value that kernels can use.
pub trait GpuBox<T: DeviceCopy>: crate::private::Sealed {
    /// Returns the address.
    fn as_device_ptr(&self) -> DevicePointer<T>;
}

/// Waits for the default stream: some functions of the driver return before a copy is done, and streams with
/// [`StreamFlags::NON_BLOCKING`](crate::stream::StreamFlags::NON_BLOCKING) do not wait for it.
pub(crate) fn finish() -> CudaResult<()> {
    // SAFETY: the default stream.
    call(|| unsafe { sys::cuStreamSynchronize(std::ptr::null_mut()) })
}

/// Copies to the device.
///
/// # Safety
/// `to` has as many elements.
pub(crate) unsafe fn write<T: DeviceCopy>(to: DevicePointer<T>, from: &[T]) -> CudaResult<()> {
    if size_of_val(from) == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    call(|| unsafe { sys::cuMemcpyHtoD_v2(to.as_raw(), from.as_ptr().cast(), size_of_val(from)) })?;
    finish()
}

/// Copies from the device.
///
/// # Safety
/// `from` has as many elements.
pub(crate) unsafe fn read<T: DeviceCopy>(from: DevicePointer<T>, to: &mut [T]) -> CudaResult<()> {
    if size_of_val(to) == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    call(|| unsafe { sys::cuMemcpyDtoH_v2(to.as_mut_ptr().cast(), from.as_raw(), size_of_val(to)) })
}

/// Copies `size` bytes to the device.
///
/// # Safety
/// There are as many at both ends.
///
/// # Errors
/// If the driver fails.
pub unsafe fn memcpy_htod(d_ptr: sys::CUdeviceptr, src_ptr: *const c_void, size: usize) -> CudaResult<()> {
    // SAFETY: the caller's promise.
    call(|| unsafe { sys::cuMemcpyHtoD_v2(d_ptr, src_ptr, size) })?;
    finish()
}

/// Copies `size` bytes from the device.
///
/// # Safety
/// There are as many at both ends.
///
/// # Errors
/// If the driver fails.
pub unsafe fn memcpy_dtoh(d_ptr: *mut c_void, src_ptr: sys::CUdeviceptr, size: usize) -> CudaResult<()> {
    // SAFETY: the caller's promise.
    call(|| unsafe { sys::cuMemcpyDtoH_v2(d_ptr, src_ptr, size) })
}

/// Returns the bytes of the device's memory that are free, and all of them.
///
/// # Errors
/// If there is no current context.
pub fn mem_get_info() -> CudaResult<(usize, usize)> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: places for the results.
    call(|| unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) })?;
    Ok((free, total))
}
