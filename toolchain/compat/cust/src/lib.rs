//! A drop-in for `cust`: contexts, memory, modules and launches of the CUDA driver, under the same names.
//!
//! ```toml
//! [dependencies]
//! cust = { package = "warpsmith-cust", version = "0.1" }
//! ```
//!
//! A program builds without a CUDA toolkit. The driver is looked for when the program runs: without one every call returns
//! [`CudaError::DriverNotFound`](error::CudaError::DriverNotFound).
//!
//! ```no_run
//! use cust::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let ptx = "";
//! let _context = cust::quick_init()?;
//! let module = Module::from_ptx(ptx, &[])?;
//! let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
//! let (a, b) = (vec![1.0f32; 1000], vec![2.0f32; 1000]);
//! let (a, b) = (a.as_slice().as_dbuf()?, b.as_slice().as_dbuf()?);
//! let c = DeviceBuffer::<f32>::zeroed(1000)?;
//! // SAFETY: the kernel has these parameters, and writes as many values as `c` has.
//! unsafe {
//!     // A slice is two arguments: pointer and length.
//!     launch!(module.add<<<4, 256, 0, stream>>>(
//!         a.as_device_ptr(), a.len(), b.as_device_ptr(), b.len(), c.as_device_ptr()
//!     ))?;
//! }
//! stream.synchronize()?;
//! println!("{}", c.as_host_vec()?[0]);
//! # Ok(())
//! # }
//! ```

use bitflags::bitflags;
/// The driver's functions and types as they are.
pub use cudarc::driver::sys;
pub use warpsmith_compat_macros::DeviceCopy;

pub mod context;
pub mod device;
pub mod error;
pub mod event;
pub mod function;
pub mod link;
pub mod memory;
pub mod module;
pub mod prelude;
pub mod stream;
pub mod util;

use context::Context;
use device::Device;
use error::{CudaResult, call};

bitflags! {
    /// Flags of [`init`]. The driver has not defined any.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct CudaFlags: u32 {
        /// No flag.
        const _ZERO = 0;
    }
}

/// Initialises the driver; more than once does no harm.
///
/// # Errors
/// If there is no driver or no device.
pub fn init(flags: CudaFlags) -> CudaResult<()> {
    // SAFETY: any flags may be passed.
    call(|| unsafe { sys::cuInit(flags.bits()) })
}

/// Initialises the driver, and makes the context of the first device the thread's current one. Keep it for as long as the device is
/// used.
///
/// # Errors
/// If there is no driver or no device.
#[must_use = "the device is of use as long as the context is kept"]
pub fn quick_init() -> CudaResult<Context> {
    init(CudaFlags::empty())?;
    let context = Context::new(Device::get_device(0)?)?;
    context.set_flags(context::ContextFlags::SCHED_AUTO)?;
    Ok(context)
}

/// The version of CUDA that a driver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CudaApiVersion {
    version: i32,
}

impl CudaApiVersion {
    /// Returns that of the driver.
    ///
    /// # Errors
    /// If there is no driver.
    pub fn get() -> CudaResult<Self> {
        let mut version = 0;
        // SAFETY: a place for the result.
        call(|| unsafe { sys::cuDriverGetVersion(&mut version) })?;
        Ok(Self { version })
    }

    /// Returns 12 for 12.8.
    pub fn major(self) -> i32 {
        self.version / 1000
    }

    /// Returns 8 for 12.8.
    pub fn minor(self) -> i32 {
        self.version % 1000 / 10
    }
}

mod private {
    pub trait Sealed {}
}
