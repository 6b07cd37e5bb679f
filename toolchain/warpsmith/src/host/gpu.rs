//! GPUs through the driver.

use std::format;
use std::string::{String, ToString};
use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{CudaContext, CudaStream, DriverError};

use super::grid::{Extent, Limits};
use super::{Error, Properties, Result};

pub(crate) use cudarc::driver::sys::CUlimit as Limit;

/// An opened GPU.
pub(crate) struct Gpu {
    pub context: Arc<CudaContext>,
    /// It takes memory back whose own stream captures a graph.
    pub spare: Arc<CudaStream>,
    pub properties: Properties,
    pub limits: Limits,
    /// As the driver gives it: 1000 major + 10 minor.
    pub driver: i32,
}

/// Errors after which a device takes no more work of a process: a kernel did something impossible, or failed an assertion.
const FAULTS: [sys::CUresult; 10] = [
    sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    sys::CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
    sys::CUresult::CUDA_ERROR_ASSERT,
    sys::CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
    sys::CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    sys::CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    sys::CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    sys::CUresult::CUDA_ERROR_INVALID_PC,
    sys::CUresult::CUDA_ERROR_LAUNCH_FAILED,
    sys::CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
];

/// Errors by which the driver says that it cannot use a kernel.
const REJECTIONS: [sys::CUresult; 6] = [
    sys::CUresult::CUDA_ERROR_INVALID_IMAGE,
    sys::CUresult::CUDA_ERROR_INVALID_PTX,
    sys::CUresult::CUDA_ERROR_INVALID_SOURCE,
    sys::CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
    sys::CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
    sys::CUresult::CUDA_ERROR_NOT_FOUND,
];

/// Turns an error of the driver, as it compiled and loaded a kernel, into one that says whether that is the kernel's fault.
pub(crate) fn not_loaded(kernel: &str, error: DriverError, log: &str) -> Error {
    if error.0 == sys::CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND {
        return Error::NoCompiler;
    }
    let log = log.trim();
    if log.is_empty() && !REJECTIONS.contains(&error.0) {
        return failed("loading a kernel")(error);
    }
    let log = format!("{}\n{log}", describe(&error)).trim().to_string();
    Error::Rejected { kernel: kernel.to_string(), log }
}

/// Turns an error of the driver into one that says at what it happened.
pub(crate) fn failed(doing: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| {
        if FAULTS.contains(&error.0) {
            return Error::DeviceFault { message: describe(&error) };
        }
        if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Error::OutOfMemory { bytes: 0, free: None };
        }
        Error::Driver { doing, message: describe(&error) }
    }
}

pub(crate) fn describe(error: &DriverError) -> String {
    let name =
        error.error_name().map_or_else(|_| format!("{:?}", error.0), |n| n.to_string_lossy().into_owned());
    match error.error_string() {
        Ok(text) => format!("{name}: {}", text.to_string_lossy()),
        Err(_) => name,
    }
}

/// Loads the driver and returns the number of GPUs, at least one.
pub(crate) fn count() -> Result<usize> {
    // SAFETY: it only tries to load the library.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoDriver);
    }
    match CudaContext::device_count() {
        Ok(count) if count > 0 => Ok(count as usize),
        Ok(_) => Err(Error::NoDevice(String::new())),
        Err(error) => Err(Error::NoDevice(format!(" ({})", describe(&error)))),
    }
}

impl Gpu {
    pub fn open(ordinal: usize) -> Result<Self> {
        let count = count()?;
        if ordinal >= count {
            return Err(Error::NoSuchDevice(ordinal, count));
        }
        let fail = failed("opening the device");
        let context = CudaContext::new(ordinal).map_err(&fail)?;
        // SAFETY: buffers order their own uses on several streams (`Memory::order`).
        unsafe { context.disable_event_tracking() };
        let mut driver = 0;
        // SAFETY: writes one integer.
        unsafe { sys::cuDriverGetVersion(&mut driver) }.result().map_err(&fail)?;
        let number = |attribute| context.attribute(attribute).map(|value| value as u32).map_err(&fail);
        let (major, minor) = context.compute_capability().map_err(&fail)?;
        let limits = Limits {
            threads: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            block: Extent {
                x: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                y: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                z: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            },
            grid: Extent {
                x: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                y: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                z: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            },
            shared_bytes: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        };
        let properties = Properties {
            name: context.name().map_err(&fail)?.to_string(),
            ordinal: Some(ordinal),
            capability: (major as u32, minor as u32),
            memory: context.total_mem().map_err(&fail)? as u64,
            multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            driver: (driver as u32 / 1000, driver as u32 % 1000 / 10),
            block_threads: limits.threads,
            block_shared_bytes: limits.shared_bytes,
        };
        let spare = context.new_stream().map_err(&fail)?;
        Ok(Gpu { context, spare, properties, limits, driver })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_not_the_kernels_fault() {
        let error = DriverError(sys::CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
        let error = not_loaded("k", error, "");
        assert_eq!(error, Error::NoCompiler);
        assert!(error.to_string().contains("NVIDIA_DRIVER_CAPABILITIES"), "{error}");
    }
}
