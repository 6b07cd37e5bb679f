//! Errors of the driver, as errors of a backend.

use warpsmith::Error;

use crate::engine::BackendError;

/// Returns a function that turns a driver's error into a [`BackendError`]; `doing` names the operation, as in `clearing device
/// memory`.
pub(super) fn failed(doing: &'static str) -> impl Fn(Error) -> BackendError {
    move |error| match error {
        Error::NoDriver => BackendError::NoDriver,
        Error::NoDevice(why) => BackendError::NoDevice(why),
        Error::DriverNotStarted { message } => BackendError::NoDevice(format!(" ({message})")),
        Error::NoSuchDevice(ordinal, count) => BackendError::NoSuchDevice(ordinal, count),
        Error::NoKernels(why) => BackendError::NoKernels(why),
        Error::OldDevice { device, capability, .. } => {
            let capability = format!("{}.{}", capability / 10, capability % 10);
            BackendError::OldDevice { device, capability }
        }
        Error::OldDriver { driver, needed } => {
            let [driver, needed] = [driver, needed].map(|(major, minor)| format!("{major}.{minor}"));
            BackendError::OldDriver { driver, needed }
        }
        other => BackendError::Driver { doing, source: words(other).into() },
    }
}

/// Returns the error that a kernel cannot be loaded.
pub(super) fn not_loaded(kernel: &str, error: Error) -> BackendError {
    let kernel = kernel.to_string();
    match error {
        Error::Rejected { log, .. } => BackendError::PtxRefused { kernel, log },
        Error::NoSuchKernel(_) => BackendError::PtxRefused { kernel, log: error.to_string() },
        other => failed("loading kernels")(other),
    }
}

/// Returns the error that a kernel cannot be launched.
pub(super) fn not_launched(kernel: &str, error: Error) -> BackendError {
    BackendError::Launch { kernel: kernel.to_string(), source: words(error).into() }
}

/// Returns what happened, without the remedies that are for other programs.
fn words(error: Error) -> String {
    match error {
        Error::Driver { message, .. } | Error::DeviceFault { message } => message,
        Error::OutOfMemory { .. } => "not enough memory".to_string(),
        Error::Grid { problem, .. } => problem,
        other => other.to_string(),
    }
}
