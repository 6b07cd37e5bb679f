//! Shared memory of simulated blocks.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::boxed::Box;
use std::sync::{Mutex, PoisonError};
use std::vec;
use std::vec::Vec;

/// Bytes with any alignment that is asked for. At first they are all ones: not a number, for floats.
pub(super) struct Memory {
    words: *mut [u128],
    offset: usize,
    pub align: usize,
    /// Whether it is never freed.
    is_kept: bool,
}

/// An array that is not in use.
struct Kept(*mut [u128]);

// SAFETY: an address; who takes it has the array for itself, but for references to atomics.
unsafe impl Send for Kept {}

/// Arrays to use again. Safe code may still have references to their atomics: in a leaked `Shared`, which outlives its block.
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

impl Memory {
    /// Makes memory. If it `is_kept`, it stays valid for ever, and is used again for others that are.
    pub fn new(bytes: usize, align: usize, is_kept: bool) -> Self {
        let len = (bytes + align).div_ceil(16).max(1);
        let words = is_kept.then(|| take(len)).flatten();
        let words = words.unwrap_or_else(|| Box::into_raw(vec![u128::MAX; len].into_boxed_slice()));
        let offset = words.cast::<u8>().align_offset(align);
        Memory { words, offset, align, is_kept }
    }

    pub fn start(&self) -> *mut u8 {
        self.words.cast::<u8>().wrapping_add(self.offset)
    }

    /// Returns how far an address is from the start, if it is within the memory.
    pub fn offset_of(&self, p: *mut u8) -> Option<usize> {
        let (start, end) = (self.start().addr(), self.words.addr() + 16 * self.words.len());
        (start..end).contains(&p.addr()).then(|| p.addr() - start)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.is_kept {
            KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(Kept(self.words));
        } else {
            // SAFETY: it comes from a box, and the block that used it has ended.
            drop(unsafe { Box::from_raw(self.words) });
        }
    }
}

/// Takes an array of this length that is not in use, and makes it all ones.
fn take(len: usize) -> Option<*mut [u128]> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let at = kept.iter().position(|Kept(words)| words.len() == len)?;
    let Kept(words) = kept.swap_remove(at);
    for i in 0..2 * len {
        // SAFETY: within the array, and aligned. Whoever still has a reference uses it atomically, too.
        unsafe { AtomicU64::from_ptr(words.cast::<u64>().add(i)) }.store(u64::MAX, Relaxed);
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_referred_to_is_used_again_and_not_freed() {
        // A length that no other test uses.
        let bytes = 4096 * 16 + 48;
        let memory = Memory::new(bytes, 64, true);
        assert!(memory.start().cast::<[u64; 8]>().is_aligned() && memory.start().addr().is_multiple_of(64));
        // SAFETY: within the memory, which stays valid.
        let leaked = unsafe { AtomicU64::from_ptr(memory.start().cast()) };
        leaked.store(7, Relaxed);
        drop(memory);
        assert_eq!(leaked.load(Relaxed), 7);
        let again = Memory::new(bytes, 64, true);
        assert_eq!((again.start(), leaked.load(Relaxed)), (leaked.as_ptr().cast(), u64::MAX));
        let other = Memory::new(bytes, 64, true);
        assert_ne!(other.start(), again.start());
        assert_eq!(other.offset_of(other.start().wrapping_add(bytes - 1)), Some(bytes - 1));
        assert_eq!(other.offset_of(again.start()), None);
    }
}
