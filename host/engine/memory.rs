//! Main memory that may not suffice for what a backend needs.

use super::BackendError;
use crate::memory::{Shortage, check, or_fail};

/// The error where so many bytes could not be had.
pub(crate) fn short_of_memory(what: &str, needed: usize) -> BackendError {
    no_room(what, Shortage::of(needed as u64))
}

fn no_room(what: &str, shortage: Shortage) -> BackendError {
    BackendError::OutOfMemory {
        place: "main",
        what: what.to_string(),
        needed: shortage.needed(),
        free: shortage.free(),
    }
}

/// Allocates `len` elements, or says that they do not fit.
pub(crate) fn allocate<T: Clone + Default>(what: &str, len: usize) -> Result<Vec<T>, BackendError> {
    // Whether there is room is asked first; `vec!` then has zeros that no thread need write.
    let mut room = Vec::<T>::new();
    or_fail(|| room.try_reserve_exact(len)).map_err(|_| short_of_memory(what, len * size_of::<T>()))?;
    // Else the compiler may leave out what nobody uses.
    drop(std::hint::black_box(room));
    Ok(vec![T::default(); len])
}

/// Refuses what would not fit as a whole.
pub(crate) fn check_memory(what: &str, needed: usize) -> Result<(), BackendError> {
    check(needed as u64).map_err(|shortage| no_room(what, shortage))
}
