//! Spare memory for the end of a run. When an allocation fails, it is released, and the run is asked to end with the best result so
//! far; if even that is not enough, the process ends with a message instead of an abort.
//!
//! Checks come first ([`check`](super::check)): they reject data that would not fit. The spare is for what they did not foresee.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Spare bytes in addition to those per node, for reports, messages and file buffers.
const BESIDE: usize = 4 << 20;
/// Spare bytes per node, for the best tour in the numbering of the solver and of the file, and its check.
const NODE: usize = 32;

static SPARE: AtomicPtr<u8> = AtomicPtr::new(null_mut());
/// Set once the spare has been used.
static IS_SPENT: AtomicBool = AtomicBool::new(false);
/// The flag that asks the run to end; it is never dropped.
static INTERRUPT: AtomicPtr<AtomicBool> = AtomicPtr::new(null_mut());

thread_local! {
    /// Whether this thread can handle a failure of its current allocation. Without a destructor it can be read at any time, and
    /// reading it allocates nothing.
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator with a spare.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: all memory comes from the system allocator, with the given layout. A call that failed is repeated after other memory was
// returned to the same allocator. Nothing here allocates, takes a lock or unwinds.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        in_large_pages(at_last(layout.size(), || unsafe { System.alloc(layout) }), layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        in_large_pages(at_last(layout.size(), || unsafe { System.alloc_zeroed(layout) }), layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises; a block that could not be resized is still valid.
        in_large_pages(at_last(size, || unsafe { System.realloc(old, layout, size) }), size)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(old, layout) }
    }
}

/// Asks the system to use large pages for a large block, and returns the block. Its first use then takes a fraction of the page
/// faults.
#[cfg(target_os = "linux")]
fn in_large_pages(block: *mut u8, size: usize) -> *mut u8 {
    /// Minimum number of bytes of a block that is worth large pages.
    const LARGE: usize = 8 << 20;
    const PAGE: usize = 2 << 20;
    if size >= LARGE && !block.is_null() {
        let skipped = block.align_offset(PAGE);
        let len = (size - skipped) / PAGE * PAGE;
        // SAFETY: the pages are inside the block, and their content stays the same. If the system refuses, nothing changes.
        unsafe { nix::libc::madvise(block.add(skipped).cast(), len, nix::libc::MADV_HUGEPAGE) };
    }
    block
}

#[cfg(not(target_os = "linux"))]
fn in_large_pages(block: *mut u8, _: usize) -> *mut u8 {
    block
}

fn at_last(size: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    let found = ask();
    if found.is_null() { in_need(size, ask) } else { found }
}

#[cold]
fn in_need(size: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    if MAY_FAIL.try_with(Cell::get).unwrap_or(true) {
        return null_mut();
    }
    spend();
    // Another thread may have released the spare just before.
    let found = ask();
    if found.is_null() {
        end(size);
    }
    found
}

/// Releases the spare, and asks the run to end.
fn spend() {
    let spare = SPARE.swap(null_mut(), Ordering::AcqRel);
    if spare.is_null() {
        return;
    }
    give_back(spare);
    IS_SPENT.store(true, Ordering::Relaxed);
    // SAFETY: it is null or points to a flag that is never dropped.
    if let Some(flag) = unsafe { INTERRUPT.load(Ordering::Acquire).as_ref() } {
        flag.store(true, Ordering::Relaxed);
    }
}

/// Releases a block that nothing else refers to.
fn give_back(block: *mut u8) {
    // SAFETY: `keep` wrote the size of the block into it, and allocated it with this layout.
    unsafe { System.dealloc(block, layout(block.cast::<usize>().read())) };
}

/// Returns the layout of a block for a spare.
fn layout(size: usize) -> Layout {
    // SAFETY: the alignment is a power of two, and `keep` asks for far less than the largest size.
    unsafe { Layout::from_size_align_unchecked(size, align_of::<usize>()) }
}

/// Ends the process, with the status of a backend failure.
#[cfg(unix)]
fn end(size: usize) {
    let (mut text, mut len) = ([0_u8; 256], 0);
    let mut add = |part: &[u8]| {
        let part = &part[..part.len().min(256 - len)];
        text[len..len + part.len()].copy_from_slice(part);
        len += part.len();
    };
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = size;
    while at == digits.len() || rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    add(b"antwarp: main memory ran out: ");
    add(&digits[at..]);
    add(b" more bytes could not be allocated; allow more memory (`ulimit -v`), or use a smaller instance\n");
    // SAFETY: it writes bytes of this frame to the standard error, and the process ends without running anything else.
    unsafe {
        let _ = nix::libc::write(2, text.as_ptr().cast(), len);
        nix::libc::_exit(i32::from(crate::memory::SHORT));
    }
}

/// On other systems the allocation failure is handled as it would be without a spare.
#[cfg(not(unix))]
fn end(_: usize) {}

/// Keeps a spare for a run with this many nodes, in place of the previous one. If there is no room for it, nothing changes.
pub fn keep(nodes: usize) {
    let size = BESIDE.saturating_add(nodes.saturating_mul(NODE)).min(1 << 30);
    // SAFETY: the size is not 0.
    let block = unsafe { System.alloc(layout(size)) };
    if block.is_null() {
        return;
    }
    // SAFETY: the block has room for a number, is aligned for it, and nothing else refers to it yet.
    unsafe { block.cast::<usize>().write(size) };
    let old = SPARE.swap(block, Ordering::AcqRel);
    if !old.is_null() {
        give_back(old);
    }
}

/// Sets the flag that is used to ask the run to end.
pub fn interrupt_by(flag: &Arc<AtomicBool>) {
    let flag = Arc::into_raw(flag.clone()).cast_mut();
    let old = INTERRUPT.swap(flag, Ordering::AcqRel);
    debug_assert!(old.is_null(), "a command sets this only once");
}

/// Returns whether the spare has been used.
pub fn is_spent() -> bool {
    IS_SPENT.load(Ordering::Relaxed)
}

/// Runs an allocation that is allowed to fail: it does not use the spare.
pub fn or_fail<R>(allocate: impl FnOnce() -> R) -> R {
    let before = MAY_FAIL.replace(true);
    let made = allocate();
    MAY_FAIL.set(before);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_that_may_fail_does() {
        let asked = Cell::new(0);
        let nothing = || {
            asked.set(asked.get() + 1);
            null_mut()
        };
        assert!(or_fail(|| at_last(1, nothing)).is_null());
        assert_eq!(asked.get(), 1);
        assert!(!MAY_FAIL.get());
    }

    #[test]
    fn the_spare_is_given_back_and_asks_the_run_to_end() {
        let flag = Arc::new(AtomicBool::new(false));
        interrupt_by(&flag);
        keep(1000);
        let mut place = 0_u8;
        let place = &raw mut place;
        let asked = Cell::new(0);
        let found = at_last(1, || {
            asked.set(asked.get() + 1);
            if SPARE.load(Ordering::Acquire).is_null() { place } else { null_mut() }
        });
        assert_eq!((found, asked.get()), (place, 2));
        assert!(is_spent() && flag.load(Ordering::Relaxed));
    }
}
