//! Errors of the driver.

use std::error::Error;
use std::ffi::CStr;
use std::fmt;
use std::ptr;
use std::sync::OnceLock;

use crate::sys;

macro_rules! errors {
    ($($name:ident = $code:literal,)*) => {
        /// An error of the driver, by its name there.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        #[repr(u32)]
        #[non_exhaustive]
        pub enum CudaError {
            $($name = $code,)*
            UnknownError = 999,
            /// None or more memory was asked for than there are addresses for.
            InvalidMemoryAllocation = 100_100,
            OptixError = 100_101,
            /// There is no driver on this machine.
            DriverNotFound = 100_200,
        }

        impl CudaError {
            fn from_code(code: u32) -> Self {
                match code {
                    $($code => Self::$name,)*
                    _ => Self::UnknownError,
                }
            }
        }
    };
}

errors! {
    InvalidValue = 1,
    OutOfMemory = 2,
    NotInitialized = 3,
    Deinitialized = 4,
    ProfilerDisabled = 5,
    ProfilerNotInitialized = 6,
    ProfilerAlreadyStarted = 7,
    ProfilerAlreadyStopped = 8,
    NoDevice = 100,
    InvalidDevice = 101,
    InvalidImage = 200,
    InvalidContext = 201,
    ContextAlreadyCurrent = 202,
    MapFailed = 205,
    UnmapFailed = 206,
    ArrayIsMapped = 207,
    AlreadyMapped = 208,
    NoBinaryForGpu = 209,
    AlreadyAcquired = 210,
    NotMapped = 211,
    NotMappedAsArray = 212,
    NotMappedAsPointer = 213,
    EccUncorrectable = 214,
    UnsupportedLimit = 215,
    ContextAlreadyInUse = 216,
    PeerAccessUnsupported = 217,
    InvalidPtx = 218,
    InvalidGraphicsContext = 219,
    NvlinkUncorrectable = 220,
    UnsupportedPtxVersion = 222,
    InvalidSource = 300,
    FileNotFound = 301,
    SharedObjectSymbolNotFound = 302,
    SharedObjectInitFailed = 303,
    OperatingSystemError = 304,
    InvalidHandle = 400,
    NotFound = 500,
    NotReady = 600,
    IllegalAddress = 700,
    LaunchOutOfResources = 701,
    LaunchTimeout = 702,
    LaunchIncompatibleTexturing = 703,
    PeerAccessAlreadyEnabled = 704,
    PeerAccessNotEnabled = 705,
    PrimaryContextActive = 708,
    ContextIsDestroyed = 709,
    AssertError = 710,
    TooManyPeers = 711,
    HostMemoryAlreadyRegistered = 712,
    HostMemoryNotRegistered = 713,
    HardwareStackError = 714,
    IllegalInstruction = 715,
    MisalignedAddress = 716,
    InvalidAddressSpace = 717,
    InvalidProgramCounter = 718,
    LaunchFailed = 719,
    NotPermitted = 800,
    NotSupported = 801,
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DriverNotFound => {
                return f
                    .write_str("no NVIDIA driver on this machine: install one (libcuda.so.1, nvcuda.dll)");
            }
            Self::InvalidMemoryAllocation => return f.write_str("more memory than there are addresses for"),
            Self::OptixError => return f.write_str("error of OptiX"),
            _ => {}
        }
        match self.driver_text() {
            Some(text) => write!(f, "{text} ({self:?})"),
            None => write!(f, "{self:?} (error {} of the driver)", *self as u32),
        }
    }
}

impl CudaError {
    /// Returns the driver's own words.
    fn driver_text(self) -> Option<String> {
        if !has_driver() {
            return None;
        }
        let mut text = ptr::null();
        // SAFETY: every value up to `UnknownError` is one of the driver's type, and there is a place for the result.
        unsafe { sys::cuGetErrorString(std::mem::transmute::<u32, sys::CUresult>(self as u32), &mut text) };
        // SAFETY: a text for the life of the program.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }
}

impl Error for CudaError {}

/// The result of a function of the driver.
pub type CudaResult<T> = Result<T, CudaError>;

/// The result of a `drop` that tells of errors: then what was to be dropped comes back.
pub type DropResult<T> = Result<(), (CudaError, T)>;

/// Returns whether there is a driver.
pub(crate) fn has_driver() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    // SAFETY: it looks for the library, and loads it.
    *FOUND.get_or_init(|| unsafe { sys::is_culib_present() })
}

/// Calls a function of the driver, if there is one.
pub(crate) fn call(function: impl FnOnce() -> sys::CUresult) -> CudaResult<()> {
    if !has_driver() {
        return Err(CudaError::DriverNotFound);
    }
    match function() as u32 {
        0 => Ok(()),
        code => Err(CudaError::from_code(code)),
    }
}
