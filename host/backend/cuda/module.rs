//! The kernels embedded in this binary.

use warpsmith::Properties;
use warpsmith::image::Images;

use super::error::failed;
use crate::engine::BackendError;

pub use warpsmith::image::Image;

/// What the build script compiled.
pub(super) static EMBEDDED: Images = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// The kernels embedded in this binary.
#[derive(Clone, Debug)]
pub struct KernelFacts {
    /// Compute capabilities (times ten) with embedded PTX, ascending.
    pub architectures: Vec<u32>,
    /// The compiler that made them.
    pub compiler: &'static str,
    /// Number of kernels in the first of these texts.
    pub count: usize,
}

/// Returns the kernels embedded in this binary.
///
/// # Errors
/// If it was built without kernels.
pub fn kernels() -> Result<KernelFacts, BackendError> {
    match EMBEDDED.missing {
        Some(why) => Err(BackendError::NoKernels(why.to_string())),
        None => Ok(KernelFacts {
            architectures: EMBEDDED.texts.iter().map(|p| p.capability).collect(),
            compiler: EMBEDDED.compiler.unwrap_or("unknown"),
            count: EMBEDDED.texts.first().map_or(0, |p| p.names().count()),
        }),
    }
}

/// Returns the embedded PTX texts, one for each architecture; empty in a build without kernels.
pub fn texts() -> &'static [Image] {
    EMBEDDED.texts
}

/// Returns the newest PTX that a device and its driver can run. `architecture` (the compute capability times ten), or else the
/// environment variable `ANTWARP_PTX`, as in `sm_70`, asks for a different one.
///
/// # Errors
/// If the device and its driver can run none of the embedded texts, or not the requested one; if that is missing, or misspelled.
pub(super) fn choose(
    images: &'static Images,
    properties: &Properties,
    architecture: Option<u32>,
) -> Result<&'static Image, BackendError> {
    let asked = match (architecture, std::env::var("ANTWARP_PTX")) {
        (None, Ok(name)) => Some(named(&name)?),
        (asked, _) => asked,
    };
    images.newest(properties, asked).map_err(|error| match (error, asked) {
        (warpsmith::Error::NoKernels(why), Some(_)) if images.missing.is_none() => {
            BackendError::NoSuchKernels(why)
        }
        (error, _) => failed("choosing kernels")(error),
    })
}

/// Returns the compute capability, times ten, of an architecture's name.
fn named(name: &str) -> Result<u32, BackendError> {
    let number = name.strip_prefix("sm_").and_then(|number| number.parse().ok());
    number.ok_or_else(|| {
        let problem = format!("ANTWARP_PTX={name} is not the name of an architecture; write it as sm_70");
        BackendError::NoSuchKernels(problem)
    })
}
