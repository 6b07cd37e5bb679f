//! Short ways to put values on a device.

use crate::error::CudaResult;
use crate::memory::{DeviceBox, DeviceBuffer, DeviceCopy, UnifiedBuffer};

/// Puts a value on a device.
pub trait DeviceCopyExt: DeviceCopy {
    /// Copies the value into new memory of the device.
    ///
    /// # Errors
    /// If there is no memory left.
    fn as_dbox(&self) -> CudaResult<DeviceBox<Self>> {
        DeviceBox::new(self)
    }
}

impl<T: DeviceCopy> DeviceCopyExt for T {}

/// Puts values on a device.
pub trait SliceExt<T: DeviceCopy> {
    /// Copies the values into new memory of the device.
    ///
    /// # Errors
    /// If there is no memory left.
    fn as_dbuf(&self) -> CudaResult<DeviceBuffer<T>>;

    /// Copies the values into new memory that host and device both use.
    ///
    /// # Errors
    /// If there is no memory left.
    fn as_unified_buf(&self) -> CudaResult<UnifiedBuffer<T>>;
}

impl<T: DeviceCopy> SliceExt<T> for &[T] {
    fn as_dbuf(&self) -> CudaResult<DeviceBuffer<T>> {
        DeviceBuffer::from_slice(self)
    }

    fn as_unified_buf(&self) -> CudaResult<UnifiedBuffer<T>> {
        UnifiedBuffer::from_slice(self)
    }
}

impl<T: DeviceCopy, const N: usize> SliceExt<T> for [T; N] {
    fn as_dbuf(&self) -> CudaResult<DeviceBuffer<T>> {
        DeviceBuffer::from_slice(self)
    }

    fn as_unified_buf(&self) -> CudaResult<UnifiedBuffer<T>> {
        UnifiedBuffer::from_slice(self)
    }
}
