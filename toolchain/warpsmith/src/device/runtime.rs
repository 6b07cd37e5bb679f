//! What `core` and compiled code expect to find: the end of a panic, `memcmp`, and a heap.

/// Leaves the message and its place for the host. Only kernels for debugging come here: in others a panic becomes a trap at once.
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let place = info.location();
    let (file, line, column) = place.map_or(("", 0, 0), |at| (at.file(), at.line(), at.column()));
    crate::record::write(file.as_bytes(), line, column, |writer| {
        let _ = core::fmt::Write::write_fmt(writer, format_args!("{}", info.message()));
    });
    super::trap()
}

// It compares memory of any space.
core::arch::global_asm!("//@allow memcmp generic");

/// Comparing slices and strings calls this function, and no library for the device has it.
///
/// # Safety
/// Both are readable for `n` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    let mut i = 0;
    while i < n {
        // SAFETY: the caller's promise. Volatile, as LLVM makes a call to `memcmp` of an ordinary loop like this.
        let (x, y) = unsafe { (a.add(i).read_volatile(), b.add(i).read_volatile()) };
        if x != y {
            return x as i32 - y as i32;
        }
        i += 1;
    }
    0
}

#[cfg(feature = "alloc")]
mod heap {
    use core::alloc::{GlobalAlloc, Layout};

    unsafe extern "C" {
        fn malloc(bytes: usize) -> *mut u8;
        fn free(p: *mut u8);
    }

    /// What the device's `malloc` aligns to.
    const ALIGNED: usize = 16;

    struct DeviceHeap;

    // SAFETY: `malloc` gives memory that no one else has. Where more alignment is asked for, there is room for it and, before the
    // block, for the address to free.
    unsafe impl GlobalAlloc for DeviceHeap {
        #[inline]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: any size may be asked for; null is passed on. `start + ALIGNED` rounded up leaves at least ALIGNED bytes
            // before it, and ends within what was asked for.
            unsafe {
                if layout.align() <= ALIGNED {
                    return malloc(layout.size());
                }
                let Some(bytes) = layout.size().checked_add(layout.align() + ALIGNED) else {
                    return core::ptr::null_mut();
                };
                let start = malloc(bytes);
                if start.is_null() {
                    return start;
                }
                let room = start.add(ALIGNED);
                let p = room.add(room.align_offset(layout.align()));
                p.cast::<*mut u8>().sub(1).write(start);
                p
            }
        }

        #[inline]
        unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
            // SAFETY: the caller's `p` and `layout` are those of `alloc`.
            unsafe {
                free(if layout.align() <= ALIGNED { p } else { p.cast::<*mut u8>().sub(1).read() });
            }
        }
    }

    #[global_allocator]
    static HEAP: DeviceHeap = DeviceHeap;
}
