//! GPUs through the driver.

use std::format;
use std::string::{String, ToString};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::vec::Vec;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{CudaContext, CudaStream, DriverError, result};

use super::grid::{Extent, Limits};
use super::{Error, Properties, Result, failure};

pub(crate) use cudarc::driver::sys::CUlimit as Limit;

/// An opened GPU.
pub(crate) struct Gpu {
    pub context: Arc<CudaContext>,
    /// It takes memory back whose own stream captures a graph.
    spare: OnceLock<Arc<CudaStream>>,
    pub properties: Properties,
    pub limits: Limits,
    /// As the driver gives it: 1000 major + 10 minor.
    pub driver: i32,
    /// Whether the program chose the stack of each thread, or it has been made larger.
    has_stack: Mutex<bool>,
}

/// Stack of each thread, in bytes, where the driver cannot tell what a kernel needs: `core::fmt` with a float needs 4 KiB, and
/// `format!` 8 KiB.
const UNKNOWN_STACK: usize = 8 << 10;

/// Whether a kernel was loaded of which the driver cannot tell the stack.
static HAS_UNKNOWN_STACK: AtomicBool = AtomicBool::new(false);

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
            return failure::find().unwrap_or_else(|| Error::DeviceFault { message: fault(&error) });
        }
        if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Error::OutOfMemory { bytes: 0, free: None };
        }
        Error::Driver { doing, message: describe(&error) }
    }
}

/// Describes a failure of a kernel, with a cause that the driver does not know.
fn fault(error: &DriverError) -> String {
    let text = describe(error);
    if HAS_UNKNOWN_STACK.load(Ordering::Relaxed) {
        return format!(
            "{text}; a kernel that recurses, or calls through `dyn` or `core::fmt`, may have had too little stack: \
             Device::set_stack_bytes"
        );
    }
    text
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
        Err(error) => Err(not_started(error, describe)),
    }
}

/// Tells a machine without a GPU from one whose GPUs cannot be used.
fn not_started(error: DriverError, describe: impl Fn(&DriverError) -> String) -> Error {
    match error.0 {
        // The library to link with, which has the driver's name.
        sys::CUresult::CUDA_ERROR_STUB_LIBRARY => Error::NoDriver,
        sys::CUresult::CUDA_ERROR_NO_DEVICE => Error::NoDevice(format!(" ({})", describe(&error))),
        _ => Error::DriverNotStarted { message: describe(&error) },
    }
}

/// What the driver tells about a GPU that was not opened.
struct Known {
    properties: Properties,
    limits: Limits,
    driver: i32,
}

fn known(ordinal: usize) -> core::result::Result<Known, DriverError> {
    let gpu = result::device::get(ordinal as i32)?;
    let mut driver = 0;
    // SAFETY: writes one integer.
    unsafe { sys::cuDriverGetVersion(&mut driver) }.result()?;
    // SAFETY: the driver gave the device.
    let number =
        |attribute| unsafe { result::device::get_attribute(gpu, attribute) }.map(|value| value as u32);
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
        has_clusters: number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)? >= 9,
    };
    let properties = Properties {
        name: result::device::get_name(gpu)?.to_string(),
        ordinal: Some(ordinal),
        capability: (
            number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        // SAFETY: the driver gave the device.
        memory: unsafe { result::device::total_mem(gpu) }? as u64,
        multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        driver: (driver as u32 / 1000, driver as u32 % 1000 / 10),
        block_threads: limits.threads,
        block_shared_bytes: limits.shared_bytes,
    };
    Ok(Known { properties, limits, driver })
}

/// Returns what is known about each GPU, without opening any.
pub(crate) fn list() -> Result<Vec<Properties>> {
    let of = |ordinal| known(ordinal).map(|known| known.properties).map_err(failed("asking for a device"));
    (0..count()?).map(of).collect()
}

/// Opens the GPU with the most multiprocessors, of several the first; if that cannot be used, the next.
pub(crate) fn best() -> Result<Gpu> {
    first_usable(list()?.iter().map(|properties| properties.multiprocessors), Gpu::open)
}

/// Returns what `open` makes of the place of the largest number, or of the next ones if it fails; then the first error.
fn first_usable<T>(sizes: impl Iterator<Item = u32>, open: impl Fn(usize) -> Result<T>) -> Result<T> {
    let mut places: Vec<_> = sizes.enumerate().collect();
    places.sort_by_key(|&(_, size)| core::cmp::Reverse(size));
    let mut first = None;
    for (place, _) in places {
        match open(place) {
            Ok(opened) => return Ok(opened),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or(Error::NoDevice(String::new())))
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
        let Known { properties, limits, driver } = known(ordinal).map_err(&fail)?;
        let (spare, has_stack) = (OnceLock::new(), Mutex::new(false));
        Ok(Gpu { context, spare, properties, limits, driver, has_stack })
    }

    /// Sets the stack of each thread, as the program asks.
    pub fn set_stack(&self, bytes: usize) -> core::result::Result<(), DriverError> {
        let mut has_stack = self.has_stack.lock().unwrap_or_else(PoisonError::into_inner);
        self.context.set_limit(Limit::CU_LIMIT_STACK_SIZE, bytes)?;
        *has_stack = true;
        Ok(())
    }

    /// Makes room for a kernel of which the driver cannot tell the stack, unless the program chose one.
    pub fn make_stack(&self) {
        HAS_UNKNOWN_STACK.store(true, Ordering::Relaxed);
        let mut has_stack = self.has_stack.lock().unwrap_or_else(PoisonError::into_inner);
        if !core::mem::replace(&mut has_stack, true) {
            let limit = Limit::CU_LIMIT_STACK_SIZE;
            let is_less = self.context.get_limit(limit).is_ok_and(|bytes| bytes < UNKNOWN_STACK);
            // Where memory does not suffice the kernel may still do with less.
            let _ = is_less.then(|| self.context.set_limit(limit, UNKNOWN_STACK));
        }
    }

    /// Lets kernels here use the memory of another GPU, if the two are connected.
    pub fn reaches(&self, other: &Gpu) -> core::result::Result<bool, DriverError> {
        let (own, other) = (&self.context, &other.context);
        own.bind_to_thread()?;
        let mut can = 0;
        // SAFETY: the devices exist; `can` and `pool` are written to, and the descriptor lives for the call that reads it.
        unsafe {
            sys::cuDeviceCanAccessPeer(&mut can, own.cu_device(), other.cu_device()).result()?;
            if can == 0 {
                return Ok(false);
            }
            let enabled = sys::cuCtxEnablePeerAccess(other.cu_ctx(), 0);
            if enabled != sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED {
                enabled.result()?;
            }
            if other.has_async_alloc() {
                // Buffers come from a pool, which has access rules of its own.
                let mut pool = core::ptr::null_mut();
                sys::cuDeviceGetDefaultMemPool(&mut pool, other.cu_device()).result()?;
                let access = sys::CUmemAccessDesc {
                    location: sys::CUmemLocation {
                        type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                        id: own.cu_device(),
                    },
                    flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                };
                sys::cuMemPoolSetAccess(pool, &access, 1).result()?;
            }
        }
        Ok(true)
    }

    /// Returns the stream that takes memory back, which is made when it is first needed.
    pub fn spare(&self) -> core::result::Result<&Arc<CudaStream>, DriverError> {
        if let Some(spare) = self.spare.get() {
            return Ok(spare);
        }
        let spare = self.context.new_stream()?;
        Ok(self.spare.get_or_init(|| spare))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_that_cannot_be_used_is_not_the_same_as_none() {
        let error = |code| not_started(DriverError(code), |_| "a text".to_string());
        assert_eq!(error(sys::CUresult::CUDA_ERROR_STUB_LIBRARY), Error::NoDriver);
        assert!(matches!(error(sys::CUresult::CUDA_ERROR_NO_DEVICE), Error::NoDevice(_)));
        let broken = error(sys::CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
        assert!(!broken.means_no_gpu(), "{broken}");
        assert!(
            broken.to_string().contains("a text") && broken.to_string().contains("Device::cpu()"),
            "{broken}"
        );
        assert!(Error::NoDriver.means_no_gpu() && Error::NoDevice(String::new()).means_no_gpu());
    }

    #[test]
    fn the_largest_gpu_that_can_be_used() {
        let best = |sizes: &[u32], broken: &[usize]| {
            first_usable(sizes.iter().copied(), |place| match broken.contains(&place) {
                true => Err(Error::NoSuchDevice(place, 0)),
                false => Ok(place),
            })
        };
        assert_eq!(best(&[40, 132, 132, 80], &[]), Ok(1));
        assert_eq!(best(&[40, 132, 132, 80], &[1]), Ok(2));
        assert_eq!(best(&[40, 132, 132, 80], &[1, 2]), Ok(3));
        assert_eq!(best(&[40, 132], &[0, 1]), Err(Error::NoSuchDevice(1, 0)));
        assert!(best(&[], &[]).is_err());
    }

    #[test]
    fn a_missing_compiler_is_not_the_kernels_fault() {
        let error = DriverError(sys::CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
        let error = not_loaded("k", error, "");
        assert_eq!(error, Error::NoCompiler);
        assert!(error.to_string().contains("NVIDIA_DRIVER_CAPABILITIES"), "{error}");
    }
}
