//! From embedded PTX to loaded kernels.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, DriverError, sys};
use cudarc::nvrtc;

use warpsmith::image::Images;

use crate::engine::BackendError;

pub use warpsmith::image::Image;

/// What the build script compiled.
static EMBEDDED: Images = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// The kernels embedded in this binary.
#[derive(Clone, Debug)]
pub struct KernelFacts {
    /// Compute capabilities (times ten) with embedded PTX, ascending.
    pub architectures: Vec<u32>,
    /// The compiler that made them.
    pub compiler: &'static str,
    /// Number of kernels for each.
    pub count: usize,
}

/// Returns the oldest driver, as 1000 major + 10 minor, that reads the PTX of an architecture.
fn oldest_driver(architecture: u32) -> (i32, &'static str) {
    if architecture >= 90 { (12_000, "12.0") } else { (11_000, "11.0") }
}

/// Returns the kernels embedded in this binary.
///
/// # Errors
/// If it was built without kernels.
pub fn kernels() -> Result<KernelFacts, BackendError> {
    match EMBEDDED.missing {
        Some(why) => Err(BackendError::NoKernels(why)),
        None => Ok(KernelFacts {
            architectures: EMBEDDED.texts.iter().map(|p| p.capability).collect(),
            compiler: EMBEDDED.compiler.unwrap_or("unknown"),
            count: EMBEDDED.texts.first().map_or(0, |p| p.names().count()),
        }),
    }
}

/// Returns the embedded PTX texts; empty in a build without kernels.
pub fn texts() -> &'static [Image] {
    EMBEDDED.texts
}

/// Returns the newest embedded PTX supported by a device of this capability (times ten) and a driver of this version (1000 major +
/// 10 minor). `architecture`, or else `ANTWARP_PTX=sm_70`, asks for a different one.
pub fn choose(
    architecture: Option<u32>,
    capability: u32,
    driver: i32,
    device: &str,
) -> Result<&'static Image, BackendError> {
    kernels()?;
    let asked = architecture.map(|a| format!("sm_{a}")).or_else(|| std::env::var("ANTWARP_PTX").ok());
    let fits = |a: u32| a <= capability && asked.as_ref().is_none_or(|name| *name == format!("sm_{a}"));
    let oldest = EMBEDDED.texts.iter().map(|p| p.capability).min().unwrap_or(0);
    if capability < oldest {
        let capability = format!("{}.{}", capability / 10, capability % 10);
        return Err(BackendError::OldDevice { device: device.to_string(), capability });
    }
    let found = EMBEDDED
        .texts
        .iter()
        .filter(|p| fits(p.capability) && oldest_driver(p.capability).0 <= driver)
        .max_by_key(|p| p.capability);
    found.ok_or_else(|| BackendError::OldDriver {
        driver: format!("{}.{}", driver / 1000, driver % 1000 / 10),
        needed: oldest_driver(asked.map_or(oldest, |_| capability)).1,
    })
}

/// Compiles one kernel of an embedded PTX text and loads it.
///
/// # Errors
/// If the text has no such kernel, or the driver rejects it: with the driver's message.
pub fn load_function(
    context: &Arc<CudaContext>,
    ptx: &Image,
    name: &str,
) -> Result<CudaFunction, BackendError> {
    let missing = |error: warpsmith::Error| BackendError::PtxRefused {
        kernel: name.to_string(),
        log: error.to_string(),
    };
    load_text(context, ptx.only(name).map_err(missing)?, name)
}

/// Compiles a PTX text and loads one of its kernels.
///
/// # Errors
/// If the driver rejects it: with the driver's message.
pub fn load_text(context: &Arc<CudaContext>, text: String, name: &str) -> Result<CudaFunction, BackendError> {
    let refused = |log: String| BackendError::PtxRefused { kernel: name.to_string(), log };
    context
        .bind_to_thread()
        .map_err(|source| BackendError::Driver { doing: "loading kernels", source: source.into() })?;
    let binary = link(text).map_err(|(e, log)| refused(format!("{e}\n{log}")))?;
    let module = context.load_module(nvrtc::Ptx::from_binary(binary)).map_err(|e| refused(e.to_string()))?;
    module.load_function(name).map_err(|e| refused(e.to_string()))
}

/// Compiles PTX with the driver's linker, which, unlike its loader, returns its messages through cudarc.
fn link(text: String) -> Result<Vec<u8>, (DriverError, String)> {
    let mut log = vec![0u8; 8192];
    let mut options =
        [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // A size is passed in place of a pointer.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    let mut text = text.into_bytes();
    text.push(0);
    let mut state = null_mut();
    // SAFETY: options, log and text outlive the linker; the binary belongs to it and is copied before it is destroyed.
    let linked = unsafe {
        sys::cuLinkCreate_v2(2, options.as_mut_ptr(), values.as_mut_ptr(), &mut state).result().and_then(
            |()| {
                let binary = link_with(state, &mut text);
                let closed = sys::cuLinkDestroy(state).result();
                binary.and_then(|b| closed.map(|()| b))
            },
        )
    };
    linked.map_err(|e| {
        let end = log.iter().position(|&b| b == 0).unwrap_or(log.len());
        (e, String::from_utf8_lossy(&log[..end]).into_owned())
    })
}

/// # Safety
/// `state` is an open linker; `text` ends with a NUL.
unsafe fn link_with(state: sys::CUlinkState, text: &mut [u8]) -> Result<Vec<u8>, DriverError> {
    let (mut binary, mut size) = (null_mut(), 0usize);
    let kind = sys::CUjitInputType::CU_JIT_INPUT_PTX;
    // SAFETY: the caller's promise; `binary` and `size` describe memory of the linker.
    unsafe {
        let data = text.as_mut_ptr().cast();
        sys::cuLinkAddData_v2(state, kind, data, text.len(), c"antwarp".as_ptr(), 0, null_mut(), null_mut())
            .result()?;
        sys::cuLinkComplete(state, &mut binary, &mut size).result()?;
        Ok(std::slice::from_raw_parts(binary.cast::<u8>(), size).to_vec())
    }
}
