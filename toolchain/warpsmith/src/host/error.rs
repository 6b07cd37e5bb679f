//! What can go wrong, and what to do then.

use core::fmt;
use std::string::{String, ToString};

/// A result of this crate.
pub type Result<T = ()> = core::result::Result<T, Error>;

/// What went wrong. The text names the remedy, where there is one.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The driver's library is not there.
    NoDriver,
    /// There is a driver, but no device. The text is the driver's.
    NoDevice(String),
    /// There is a driver, but it does not work.
    DriverNotStarted {
        /// The driver's error.
        message: String,
    },
    /// The device's number, and how many there are.
    NoSuchDevice(usize, usize),
    /// The build has no kernels, and why.
    NoKernels(String),
    /// The device is too old for the kernels of the build.
    OldDevice {
        /// Its name.
        device: String,
        /// Its compute capability, times ten.
        capability: u32,
        /// The lowest that the build has kernels for, times ten.
        needed: u32,
    },
    /// The driver is too old for the kernels of the build.
    OldDriver {
        /// The CUDA version that the driver supports: major and minor number.
        driver: (u32, u32),
        /// The one that is needed.
        needed: (u32, u32),
    },
    /// The build's kernels do not contain this one.
    NoSuchKernel(String),
    /// The kernel on the device takes other parameters than the host passes.
    OtherSource {
        /// The kernel.
        kernel: String,
        /// How they differ.
        difference: String,
    },
    /// The part of the driver that compiles kernels is not there.
    NoCompiler,
    /// The driver rejects a kernel, with this message.
    Rejected {
        /// The kernel.
        kernel: String,
        /// The driver's messages.
        log: String,
    },
    /// The shape of a launch is not possible, with what to change.
    Grid {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        problem: String,
    },
    /// A range that is not within a buffer, or two sizes that differ.
    Size(String),
    /// A buffer, stream or event of one device was used with another.
    OtherDevice {
        /// What.
        what: &'static str,
        /// Where it belongs.
        of: String,
        /// Where it was used.
        with: String,
    },
    /// Memory of a device or of the host does not suffice.
    OutOfMemory {
        /// Bytes that were asked for; 0 if not known, and the largest number if there are more.
        bytes: u64,
        /// Bytes that are free, if known.
        free: Option<u64>,
    },
    /// A kernel failed and said why: a failed `device_assert!`; on the CPU, and in kernels for debugging
    /// (`WARPSMITH_KERNEL_DEBUG=1`), any panic; on the CPU, also a barrier that not all threads reach. A GPU takes no more work of
    /// this process then.
    Kernel {
        /// The kernel.
        kernel: String,
        /// What happened.
        message: String,
        /// File, line and column, if known.
        place: Option<(String, u32, u32)>,
        /// Block and thread, as x, y and z, if known.
        position: Option<([u32; 3], [u32; 3])>,
    },
    /// A kernel failed on a GPU, and only the driver says why; the device takes no more work of this process.
    DeviceFault {
        /// The driver's error.
        message: String,
    },
    /// The driver failed.
    Driver {
        /// At what.
        doing: &'static str,
        /// The driver's error.
        message: String,
    },
    /// What cannot be done now, and why.
    Misuse(&'static str),
}

/// How the texts end that say why no GPU can be used.
const INSTEAD: &str = "; or use Device::cpu()";

impl Error {
    /// Returns whether the machine has no GPU, rather than one that cannot be used.
    pub(crate) fn means_no_gpu(&self) -> bool {
        matches!(self, Error::NoDriver | Error::NoDevice(_))
    }

    /// Returns the text for a program that uses the CPU already.
    pub(crate) fn text_on_cpu(&self) -> String {
        self.to_string().trim_end_matches(INSTEAD).to_string()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoDriver => write!(
                f,
                "no NVIDIA driver was found (libcuda.so.1, or nvcuda.dll on Windows): install one from \
                 https://www.nvidia.com/drivers; a CUDA toolkit is not needed{INSTEAD}"
            ),
            Error::NoDevice(why) => write!(
                f,
                "the NVIDIA driver finds no GPU{why}: check with `nvidia-smi`, and that CUDA_VISIBLE_DEVICES does not hide \
                 it{INSTEAD}"
            ),
            Error::DriverNotStarted { message } => write!(
                f,
                "the NVIDIA driver does not start ({message}): check with `nvidia-smi`; after an update of the driver, restart the \
                 machine{INSTEAD}"
            ),
            Error::NoSuchDevice(ordinal, count) => {
                write!(f, "there is no GPU {ordinal}: this machine has {count}, numbered from 0")
            }
            Error::NoKernels(why) => write!(f, "this program was built without GPU kernels: {why}"),
            Error::OldDevice { device, capability, needed } => write!(
                f,
                "{device} has compute capability {}.{}, and the kernels of this build need {}.{}: build them for sm_{capability} \
                 too, or use another device",
                capability / 10,
                capability % 10,
                needed / 10,
                needed % 10
            ),
            Error::OldDriver { driver, needed } => write!(
                f,
                "the NVIDIA driver supports CUDA {}.{}, and the kernels of this build need {}.{}: update the driver",
                driver.0, driver.1, needed.0, needed.1
            ),
            Error::NoSuchKernel(kernel) => write!(
                f,
                "the build's kernels do not contain `{kernel}`: is its file compiled by the build script?"
            ),
            Error::OtherSource { kernel, difference } => write!(
                f,
                "cannot launch `{kernel}`: {difference}. The host and the device were compiled from different sources: a feature or \
                 another `cfg` that only one of them has, or two kernels of one name in a package"
            ),
            Error::Rejected { kernel, log } => write!(
                f,
                "the driver rejects the kernel `{kernel}`; a newer driver may accept it:\n{log}"
            ),
            Error::NoCompiler => f.write_str(
                "the NVIDIA driver's compiler was not found (libnvidia-ptxjitcompiler.so.1, or nvptxJITCompiler64.dll on Windows): \
                 install the whole driver; in a container, set NVIDIA_DRIVER_CAPABILITIES=compute,utility",
            ),
            Error::Grid { kernel, problem } => write!(f, "cannot launch `{kernel}`: {problem}"),
            Error::Size(problem) => f.write_str(problem),
            Error::OtherDevice { what, of, with } => {
                write!(f, "{what} of {of} cannot be used with {with}: ")?;
                f.write_str(match *what {
                    "kernels" => "load them for that device, too, or use a stream of their own device",
                    "pinned memory" => "allocate it for that device",
                    _ => "copy the data to that device first",
                })
            }
            Error::OutOfMemory { bytes, free } => {
                match *bytes {
                    0 => f.write_str("the driver has not enough memory")?,
                    u64::MAX => f.write_str("no memory has as many bytes as were asked for")?,
                    bytes => write!(f, "not enough memory for {bytes} bytes")?,
                }
                if let Some(free) = free {
                    write!(f, " ({free} are free on the device)")?;
                }
                f.write_str(": use smaller buffers, or drop some first")
            }
            Error::Kernel { kernel, message, place, position } => {
                write!(f, "kernel `{kernel}` failed: {message}")?;
                if let Some((file, line, column)) = place {
                    write!(f, ", at {file}:{line}:{column}")?;
                }
                if let Some((block, thread)) = position {
                    write!(f, " (block {block:?}, thread {thread:?})")?;
                }
                Ok(())
            }
            Error::DeviceFault { message } => write!(
                f,
                "a kernel failed on the GPU ({message}), which takes no more work of this process. For a panic's message, file and \
                 line, build with WARPSMITH_KERNEL_DEBUG=1; for other faults, run it on Device::cpu() or under compute-sanitizer"
            ),
            Error::Driver { doing, message } => write!(f, "{doing}: the NVIDIA driver reports {message}"),
            Error::Misuse(problem) => f.write_str(problem),
        }
    }
}

/// The text, as that is what `fn main() -> Result` and `unwrap` show to a user.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_what_is_known_and_the_remedy() {
        let out = |bytes| Error::OutOfMemory { bytes, free: None }.to_string();
        assert!(!out(0).contains("0 bytes") && out(0).contains("drop some first"), "{}", out(0));
        assert!(!out(u64::MAX).contains("1844") && out(64).contains("for 64 bytes"));
        let other = |what| {
            Error::OtherDevice { what, of: "GPU 0".to_string(), with: "the CPU".to_string() }.to_string()
        };
        assert_eq!(
            other("a buffer"),
            "a buffer of GPU 0 cannot be used with the CPU: copy the data to that device first"
        );
        assert!(other("kernels").contains("load them for that device"), "{}", other("kernels"));
        assert!(!other("kernels").contains("copy the data"));
    }
}
