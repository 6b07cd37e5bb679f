//! Single values of a device.

use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::{Deref, DerefMut};

use super::bytemuck::Zeroable;
use super::{
    AsyncCopyDestination, CopyDestination, DeviceBuffer, DeviceCopy, DeviceMemory, DevicePointer, GpuBox,
    read, write,
};
use crate::error::{CudaResult, DropResult};
use crate::stream::Stream;
use crate::sys;

/// A value in memory of the device that the box owns.
#[derive(Debug)]
pub struct DeviceBox<T: DeviceCopy> {
    one: DeviceBuffer<T>,
}

impl<T: DeviceCopy> crate::private::Sealed for DeviceBox<T> {}

impl<T: DeviceCopy> DeviceBox<T> {
    /// Copies a value to the device.
    ///
    /// # Errors
    /// If there is no memory left.
    pub fn new(val: &T) -> CudaResult<Self> {
        Ok(Self { one: DeviceBuffer::from_slice(std::slice::from_ref(val))? })
    }

    /// Copies a value to the device in the order of a stream.
    ///
    /// # Safety
    /// Nobody writes the value until the copy is done, and the box is only there for later work of the stream.
    ///
    /// # Errors
    /// If there is no memory left.
    pub unsafe fn new_async(val: &T, stream: &Stream) -> CudaResult<Self> {
        // SAFETY: the caller's promise.
        Ok(Self { one: unsafe { DeviceBuffer::from_slice_async(std::slice::from_ref(val), stream) }? })
    }

    /// Frees the box in the order of a stream.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn drop_async(self, stream: &Stream) -> CudaResult<()> {
        self.one.drop_async(stream)
    }

    /// Copies the value to the host.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn as_host_value(&self) -> CudaResult<T> {
        let mut value = MaybeUninit::<T>::uninit();
        if size_of::<T>() > 0 {
            // SAFETY: room for the value.
            unsafe {
                super::memcpy_dtoh(value.as_mut_ptr().cast(), self.as_device_ptr().as_raw(), size_of::<T>())
            }?;
        }
        // SAFETY: it was copied from one.
        Ok(unsafe { value.assume_init() })
    }

    /// Allocates a box.
    ///
    /// # Safety
    /// The value is not initialised.
    ///
    /// # Errors
    /// If there is no memory left.
    pub unsafe fn uninitialized() -> CudaResult<Self> {
        // SAFETY: the caller's promise.
        Ok(Self { one: unsafe { DeviceBuffer::uninitialized(1) }? })
    }

    /// Allocates a box in the order of a stream.
    ///
    /// # Safety
    /// The value is not initialised, and only there for later work of the stream.
    ///
    /// # Errors
    /// If there is no memory left.
    pub unsafe fn uninitialized_async(stream: &Stream) -> CudaResult<Self> {
        // SAFETY: the caller's promise.
        Ok(Self { one: unsafe { DeviceBuffer::uninitialized_async(1, stream) }? })
    }

    /// Makes a box of an address.
    ///
    /// # Safety
    /// The driver allocated the memory, and nobody else frees it.
    pub unsafe fn from_raw(ptr: sys::CUdeviceptr) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::from_device(DevicePointer::from_raw(ptr)) }
    }

    /// Makes a box of an address.
    ///
    /// # Safety
    /// The driver allocated the memory, and nobody else frees it.
    pub unsafe fn from_device(ptr: DevicePointer<T>) -> Self {
        // SAFETY: the caller's promise.
        Self { one: unsafe { DeviceBuffer::from_raw_parts(ptr, 1) } }
    }

    /// Returns the address; nobody frees the memory then.
    pub fn into_device(b: Self) -> DevicePointer<T> {
        ManuallyDrop::new(b).as_device_ptr()
    }

    /// Returns the address.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        self.one.as_slice().as_device_ptr()
    }

    /// Frees the box.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::should_implement_trait)]
    pub fn drop(dev_box: Self) -> DropResult<Self> {
        DeviceBuffer::drop(dev_box.one).map_err(|(error, one)| (error, Self { one }))
    }
}

impl<T: DeviceCopy + Zeroable> DeviceBox<T> {
    /// Allocates a box of zeros.
    ///
    /// # Errors
    /// If there is no memory left.
    pub fn zeroed() -> CudaResult<Self> {
        Ok(Self { one: DeviceBuffer::zeroed(1)? })
    }

    /// Allocates a box of zeros in the order of a stream.
    ///
    /// # Safety
    /// The box is only there for later work of the stream.
    ///
    /// # Errors
    /// If there is no memory left.
    pub unsafe fn zeroed_async(stream: &Stream) -> CudaResult<Self> {
        // SAFETY: the caller's promise.
        Ok(Self { one: unsafe { DeviceBuffer::zeroed_async(1, stream) }? })
    }
}

impl<T: DeviceCopy> fmt::Pointer for DeviceBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.as_device_ptr(), f)
    }
}

impl<T: DeviceCopy> CopyDestination<T> for DeviceBox<T> {
    fn copy_from(&mut self, val: &T) -> CudaResult<()> {
        // SAFETY: one element.
        unsafe { write(self.as_device_ptr(), std::slice::from_ref(val)) }
    }

    fn copy_to(&self, val: &mut T) -> CudaResult<()> {
        // SAFETY: one element.
        unsafe { read(self.as_device_ptr(), std::slice::from_mut(val)) }
    }
}

impl<T: DeviceCopy> CopyDestination<DeviceBox<T>> for DeviceBox<T> {
    fn copy_from(&mut self, val: &DeviceBox<T>) -> CudaResult<()> {
        self.one.copy_from(&val.one)
    }

    fn copy_to(&self, val: &mut DeviceBox<T>) -> CudaResult<()> {
        self.one.copy_to(&mut val.one)
    }
}

impl<T: DeviceCopy> AsyncCopyDestination<T> for DeviceBox<T> {
    unsafe fn async_copy_from(&mut self, val: &T, stream: &Stream) -> CudaResult<()> {
        let one = std::ptr::from_ref(val).cast::<[T; 1]>();
        // SAFETY: an array of one element; the caller's promise.
        unsafe { self.one.async_copy_from(&*one, stream) }
    }

    unsafe fn async_copy_to(&self, val: &mut T, stream: &Stream) -> CudaResult<()> {
        let one = std::ptr::from_mut(val).cast::<[T; 1]>();
        // SAFETY: as above.
        unsafe { self.one.async_copy_to(&mut *one, stream) }
    }
}

impl<T: DeviceCopy> AsyncCopyDestination<DeviceBox<T>> for DeviceBox<T> {
    unsafe fn async_copy_from(&mut self, val: &DeviceBox<T>, stream: &Stream) -> CudaResult<()> {
        // SAFETY: the caller's promise.
        unsafe { self.one.async_copy_from(&val.one, stream) }
    }

    unsafe fn async_copy_to(&self, val: &mut DeviceBox<T>, stream: &Stream) -> CudaResult<()> {
        // SAFETY: the caller's promise.
        unsafe { self.one.async_copy_to(&mut val.one, stream) }
    }
}

impl<T: DeviceCopy> GpuBox<T> for DeviceBox<T> {
    fn as_device_ptr(&self) -> DevicePointer<T> {
        DeviceBox::as_device_ptr(self)
    }
}

impl<T: DeviceCopy> DeviceMemory for DeviceBox<T> {
    fn as_raw_ptr(&self) -> sys::CUdeviceptr {
        self.as_device_ptr().as_raw()
    }

    fn size_in_bytes(&self) -> usize {
        size_of::<T>()
    }
}

/// A value on the host with a copy on the device.
#[derive(Debug)]
pub struct DeviceVariable<T: DeviceCopy> {
    on_device: DeviceBox<T>,
    on_host: T,
}

impl<T: DeviceCopy> DeviceVariable<T> {
    /// Copies a value to the device.
    ///
    /// # Errors
    /// If there is no memory left.
    pub fn new(var: T) -> CudaResult<Self> {
        Ok(Self { on_device: DeviceBox::new(&var)?, on_host: var })
    }

    /// Copies the host's value to the device.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn copy_htod(&mut self) -> CudaResult<()> {
        self.on_device.copy_from(&self.on_host)
    }

    /// Copies the device's value to the host.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn copy_dtoh(&mut self) -> CudaResult<()> {
        self.on_device.copy_to(&mut self.on_host)
    }

    /// Returns the address on the device.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        self.on_device.as_device_ptr()
    }
}

impl<T: DeviceCopy> Deref for DeviceVariable<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.on_host
    }
}

impl<T: DeviceCopy> DerefMut for DeviceVariable<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.on_host
    }
}

impl<T: DeviceCopy> DeviceMemory for DeviceVariable<T> {
    fn as_raw_ptr(&self) -> sys::CUdeviceptr {
        self.as_device_ptr().as_raw()
    }

    fn size_in_bytes(&self) -> usize {
        size_of::<T>()
    }
}
