//! Devices.

use std::ffi::{CStr, c_char};
use std::ops::Range;

use crate::error::{CudaResult, call};
use crate::sys;

/// A device of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    pub(crate) device: sys::CUdevice,
}

impl Device {
    /// Returns how many there are.
    ///
    /// # Errors
    /// If the driver is not [initialised](crate::init).
    pub fn num_devices() -> CudaResult<u32> {
        let mut count = 0;
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuDeviceGetCount(&mut count) })?;
        Ok(count.unsigned_abs())
    }

    /// Returns the device of this number, from 0.
    ///
    /// # Errors
    /// If there is no such device, or the driver is not [initialised](crate::init).
    pub fn get_device(ordinal: u32) -> CudaResult<Self> {
        let mut device = 0;
        // SAFETY: a place for the result. A number that is too large becomes negative, which the driver rejects.
        call(|| unsafe { sys::cuDeviceGet(&mut device, ordinal as i32) })?;
        Ok(Self { device })
    }

    /// Returns all devices.
    ///
    /// # Errors
    /// If the driver is not [initialised](crate::init).
    pub fn devices() -> CudaResult<Devices> {
        Ok(Devices { range: 0..Self::num_devices()? })
    }

    /// Returns the bytes of its memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn total_memory(self) -> CudaResult<usize> {
        let mut bytes = 0;
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuDeviceTotalMem_v2(&mut bytes, self.device) })?;
        Ok(bytes)
    }

    /// Returns its name.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn name(self) -> CudaResult<String> {
        let mut text = [0 as c_char; 256];
        // SAFETY: a place for as many bytes.
        call(|| unsafe { sys::cuDeviceGetName(text.as_mut_ptr(), text.len() as i32, self.device) })?;
        // SAFETY: the driver ends it with a NUL.
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// Returns what tells it from all other devices.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn uuid(self) -> CudaResult<[u8; 16]> {
        let mut uuid = [0u8; 16];
        // SAFETY: a place for 16 bytes.
        call(|| unsafe { sys::cuDeviceGetUuid_v2(uuid.as_mut_ptr().cast(), self.device) })?;
        Ok(uuid)
    }

    /// Returns a property.
    ///
    /// # Errors
    /// If the driver does not know it.
    pub fn get_attribute(self, attr: DeviceAttribute) -> CudaResult<i32> {
        let mut value = 0;
        // SAFETY: a place for the result; every variant is a value of the driver's type.
        call(|| unsafe {
            let attr = std::mem::transmute::<u32, sys::CUdevice_attribute>(attr as u32);
            sys::cuDeviceGetAttribute(&mut value, attr, self.device)
        })?;
        Ok(value)
    }

    /// Returns the driver's handle.
    pub fn as_raw(&self) -> sys::CUdevice {
        self.device
    }
}

/// All devices.
#[derive(Clone, Debug)]
pub struct Devices {
    range: Range<u32>,
}

impl Iterator for Devices {
    type Item = CudaResult<Device>;

    fn next(&mut self) -> Option<Self::Item> {
        self.range.next().map(Device::get_device)
    }
}

/// A property of a device, by its name and number in the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
#[repr(u32)]
#[non_exhaustive]
pub enum DeviceAttribute {
    MaxThreadsPerBlock = 1,
    MaxBlockDimX = 2,
    MaxBlockDimY = 3,
    MaxBlockDimZ = 4,
    MaxGridDimX = 5,
    MaxGridDimY = 6,
    MaxGridDimZ = 7,
    MaxSharedMemoryPerBlock = 8,
    TotalConstantMemory = 9,
    WarpSize = 10,
    MaxPitch = 11,
    MaxRegistersPerBlock = 12,
    ClockRate = 13,
    TextureAlignment = 14,
    MultiprocessorCount = 16,
    KernelExecTimeout = 17,
    Integrated = 18,
    CanMapHostMemory = 19,
    ComputeMode = 20,
    MaximumTexture1DWidth = 21,
    MaximumTexture2DWidth = 22,
    MaximumTexture2DHeight = 23,
    MaximumTexture3DWidth = 24,
    MaximumTexture3DHeight = 25,
    MaximumTexture3DDepth = 26,
    MaximumTexture2DLayeredWidth = 27,
    MaximumTexture2DLayeredHeight = 28,
    MaximumTexture2DLayeredLayers = 29,
    SurfaceAlignment = 30,
    ConcurrentKernels = 31,
    EccEnabled = 32,
    PciBusId = 33,
    PciDeviceId = 34,
    TccDriver = 35,
    MemoryClockRate = 36,
    GlobalMemoryBusWidth = 37,
    L2CacheSize = 38,
    MaxThreadsPerMultiprocessor = 39,
    AsyncEngineCount = 40,
    UnifiedAddressing = 41,
    MaximumTexture1DLayeredWidth = 42,
    MaximumTexture1DLayeredLayers = 43,
    MaximumTexture2DGatherWidth = 45,
    MaximumTexture2DGatherHeight = 46,
    MaximumTexture3DWidthAlternate = 47,
    MaximumTexture3DHeightAlternate = 48,
    MaximumTexture3DDepthAlternate = 49,
    PciDomainId = 50,
    TexturePitchAlignment = 51,
    MaximumTextureCubemapWidth = 52,
    MaximumTextureCubemapLayeredWidth = 53,
    MaximumTextureCubemapLayeredLayers = 54,
    MaximumSurface1DWidth = 55,
    MaximumSurface2DWidth = 56,
    MaximumSurface2DHeight = 57,
    MaximumSurface3DWidth = 58,
    MaximumSurface3DHeight = 59,
    MaximumSurface3DDepth = 60,
    MaximumSurface1DLayeredWidth = 61,
    MaximumSurface1DLayeredLayers = 62,
    MaximumSurface2DLayeredWidth = 63,
    MaximumSurface2DLayeredHeight = 64,
    MaximumSurface2DLayeredLayers = 65,
    MaximumSurfacecubemapWidth = 66,
    MaximumSurfacecubemapLayeredWidth = 67,
    MaximumSurfacecubemapLayeredLayers = 68,
    MaximumTexture1DLinearWidth = 69,
    MaximumTexture2DLinearWidth = 70,
    MaximumTexture2DLinearHeight = 71,
    MaximumTexture2DLinearPitch = 72,
    MaximumTexture2DMipmappedWidth = 73,
    MaximumTexture2DMipmappedHeight = 74,
    ComputeCapabilityMajor = 75,
    ComputeCapabilityMinor = 76,
    MaximumTexture1DMipmappedWidth = 77,
    StreamPrioritiesSupported = 78,
    GlobalL1CacheSupported = 79,
    LocalL1CacheSupported = 80,
    MaxSharedMemoryPerMultiprocessor = 81,
    MaxRegistersPerMultiprocessor = 82,
    ManagedMemory = 83,
    MultiGpuBoard = 84,
    MultiGpuBoardGroupId = 85,
    HostNativeAtomicSupported = 86,
    SingleToDoublePrecisionPerfRatio = 87,
    PageableMemoryAccess = 88,
    ConcurrentManagedAccess = 89,
    ComputePreemptionSupported = 90,
    CanUseHostPointerForRegisteredMem = 91,
}
