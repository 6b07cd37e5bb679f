//! Allocations by hand.

use std::ptr;

use super::{DeviceCopy, DevicePointer, UnifiedPointer};
use crate::error::{CudaError, CudaResult, call};
use crate::stream::Stream;
use crate::sys;

/// Returns the bytes of `count` elements, which must be some.
fn bytes<T>(count: usize) -> CudaResult<usize> {
    let bytes = count.checked_mul(size_of::<T>()).ok_or(CudaError::InvalidMemoryAllocation)?;
    if bytes == 0 { Err(CudaError::InvalidMemoryAllocation) } else { Ok(bytes) }
}

/// Allocates memory of the device for `count` elements.
///
/// # Safety
/// The memory is not initialised.
///
/// # Errors
/// If there is no memory left, or none was asked for.
pub unsafe fn cuda_malloc<T: DeviceCopy>(count: usize) -> CudaResult<DevicePointer<T>> {
    let (mut address, bytes) = (0, bytes::<T>(count)?);
    // SAFETY: a place for the result.
    call(|| unsafe { sys::cuMemAlloc_v2(&mut address, bytes) })?;
    Ok(DevicePointer::from_raw(address))
}

/// As [`cuda_malloc`], in the order of a stream.
///
/// # Safety
/// The memory is not initialised, and only there for later work of the stream.
///
/// # Errors
/// If there is no memory left, or none was asked for.
pub unsafe fn cuda_malloc_async<T: DeviceCopy>(
    stream: &Stream,
    count: usize,
) -> CudaResult<DevicePointer<T>> {
    let (mut address, bytes) = (0, bytes::<T>(count)?);
    // SAFETY: a stream, and a place for the result.
    call(|| unsafe { sys::cuMemAllocAsync(&mut address, bytes, stream.as_inner()) })?;
    Ok(DevicePointer::from_raw(address))
}

/// Frees memory in the order of a stream.
///
/// # Safety
/// The memory is allocated in such an order, and not used after this point of the stream.
///
/// # Errors
/// If the driver fails.
pub unsafe fn cuda_free_async<T: DeviceCopy>(stream: &Stream, p: DevicePointer<T>) -> CudaResult<()> {
    // SAFETY: the caller's promise.
    call(|| unsafe { sys::cuMemFreeAsync(p.as_raw(), stream.as_inner()) })
}

/// Allocates memory for `count` elements that host and device both use.
///
/// # Safety
/// The memory is not initialised.
///
/// # Errors
/// If there is no memory left, or none was asked for.
pub unsafe fn cuda_malloc_unified<T: DeviceCopy>(count: usize) -> CudaResult<UnifiedPointer<T>> {
    let (mut address, bytes) = (0, bytes::<T>(count)?);
    // SAFETY: a place for the result.
    call(|| unsafe {
        sys::cuMemAllocManaged(&mut address, bytes, sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL as u32)
    })?;
    // SAFETY: such memory, which the host addresses as the device does.
    Ok(unsafe { UnifiedPointer::wrap(ptr::with_exposed_provenance_mut(address as usize)) })
}

/// Allocates memory of the device for `height` rows of `width` elements, each row aligned. Also returns the bytes from row to row.
///
/// # Safety
/// The memory is not initialised.
///
/// # Errors
/// If there is no memory left, or none was asked for.
pub unsafe fn cuda_malloc_pitched<T: DeviceCopy>(
    width: usize,
    height: usize,
) -> CudaResult<(DevicePointer<T>, usize)> {
    let (mut address, mut pitch, bytes) = (0, 0, bytes::<T>(width)?);
    let element = match size_of::<T>() {
        ..=4 => 4,
        5..=8 => 8,
        _ => 16,
    };
    // SAFETY: places for the results.
    call(|| unsafe { sys::cuMemAllocPitch_v2(&mut address, &mut pitch, bytes, height, element) })?;
    Ok((DevicePointer::from_raw(address), pitch))
}

/// Frees memory of the device.
///
/// # Safety
/// It is what [`cuda_malloc`] returned, and nobody uses it.
///
/// # Errors
/// If the address is 0.
pub unsafe fn cuda_free<T: DeviceCopy>(ptr: DevicePointer<T>) -> CudaResult<()> {
    if ptr.is_null() {
        return Err(CudaError::InvalidMemoryAllocation);
    }
    // SAFETY: the caller's promise.
    call(|| unsafe { sys::cuMemFree_v2(ptr.as_raw()) })
}

/// Frees memory that host and device both use.
///
/// # Safety
/// It is what [`cuda_malloc_unified`] returned, and nobody uses it.
///
/// # Errors
/// If the address is 0.
pub unsafe fn cuda_free_unified<T: DeviceCopy>(p: UnifiedPointer<T>) -> CudaResult<()> {
    // SAFETY: the caller's promise.
    unsafe { cuda_free(DevicePointer::<T>::from_raw(p.as_raw().expose_provenance() as u64)) }
}

/// Allocates memory of the host for `count` elements, which devices copy from without help.
///
/// # Safety
/// The memory is not initialised.
///
/// # Errors
/// If there is no memory left, or none was asked for.
pub unsafe fn cuda_malloc_locked<T>(count: usize) -> CudaResult<*mut T> {
    let (mut p, bytes) = (ptr::null_mut(), bytes::<T>(count)?);
    // SAFETY: a place for the result.
    call(|| unsafe { sys::cuMemAllocHost_v2(&mut p, bytes) })?;
    Ok(p.cast())
}

/// Frees memory of the host that devices copy from without help.
///
/// # Safety
/// It is what [`cuda_malloc_locked`] returned, and nobody uses it.
///
/// # Errors
/// If the address is 0.
pub unsafe fn cuda_free_locked<T>(ptr: *mut T) -> CudaResult<()> {
    if ptr.is_null() {
        return Err(CudaError::InvalidMemoryAllocation);
    }
    // SAFETY: the caller's promise.
    call(|| unsafe { sys::cuMemFreeHost(ptr.cast()) })
}
