//! Main memory that may not suffice.

use super::BackendError;
use super::error::bytes;

/// The error where so many bytes could not be had.
pub(crate) fn short_of_memory(what: &str, needed: usize) -> BackendError {
    BackendError::OutOfMemory {
        place: "main",
        what: what.to_string(),
        needed: bytes(needed as u64),
        free: available_memory().map_or_else(|| "fewer".to_string(), bytes),
    }
}

/// Memory that can be had without swapping, where the system tells.
fn available_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib << 10)
}

/// Allocates `len` elements, or says that they do not fit.
pub(crate) fn allocate<T: Clone + Default>(what: &str, len: usize) -> Result<Vec<T>, BackendError> {
    let mut v = Vec::new();
    v.try_reserve_exact(len).map_err(|_| short_of_memory(what, len * size_of::<T>()))?;
    v.resize(len, T::default());
    Ok(v)
}

/// Refuses what would not fit as a whole: a system that overcommits would grant each array and then kill the process.
pub(crate) fn check_memory(what: &str, needed: usize) -> Result<(), BackendError> {
    match available_memory() {
        Some(free) if needed as u64 > free => Err(short_of_memory(what, needed)),
        _ => Ok(()),
    }
}
