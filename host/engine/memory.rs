//! Checks that main memory suffices for what a backend needs.

use super::BackendError;
use antwarp_instance::memory::{Shortage, check, or_fail};

/// Creates the error that `needed` bytes of main memory for `what` are not available.
pub fn short_of_memory(what: &str, needed: usize) -> BackendError {
    no_room(what, Shortage::of(needed as u64))
}

fn no_room(what: &str, shortage: Shortage) -> BackendError {
    BackendError::OutOfMemory {
        place: "main",
        what: what.to_string(),
        needed: shortage.needed(),
        free: shortage.free(),
        remedy: super::error::SMALLER,
    }
}

/// Allocates `len` elements, all with the default value.
///
/// # Errors
/// If they do not fit in main memory; `what` names them in the error.
pub fn allocate<T: Clone + Default>(what: &str, len: usize) -> Result<Vec<T>, BackendError> {
    // Check for room first; `vec!` then provides zeros that no thread needs to write.
    let mut room = Vec::<T>::new();
    or_fail(|| room.try_reserve_exact(len)).map_err(|_| short_of_memory(what, len * size_of::<T>()))?;
    // Otherwise the compiler may remove the unused allocation.
    drop(std::hint::black_box(room));
    Ok(vec![T::default(); len])
}

/// Checks that `needed` bytes fit in main memory as a whole.
///
/// # Errors
/// If they do not; `what` names them in the error.
pub fn check_memory(what: &str, needed: usize) -> Result<(), BackendError> {
    check(needed as u64).map_err(|shortage| no_room(what, shortage))
}
