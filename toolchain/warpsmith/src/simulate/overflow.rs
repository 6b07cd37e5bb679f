//! What happens when a simulated thread overflows its stack: the process ends with a message, as for any thread.
//!
//! Rust's own handler knows only the stacks of threads, so on Unix it would end the process without a word. On Windows it finds the
//! fiber's stack by itself.

#[cfg(unix)]
mod unix {
    use core::cell::Cell;
    use core::ffi::{c_int, c_void};
    use core::mem::MaybeUninit;
    use core::ptr;
    use std::sync::OnceLock;

    thread_local! {
        /// Addresses below the stack of the fiber that runs.
        static GUARD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    }

    const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

    /// The handlers from before.
    static BEFORE: OnceLock<[libc::sigaction; 2]> = OnceLock::new();

    pub fn watch(guard: (usize, usize)) -> (usize, usize) {
        GUARD.replace(guard)
    }

    pub fn guard_above(limit: usize) -> (usize, usize) {
        BEFORE.get_or_init(|| SIGNALS.map(handle));
        // SAFETY: it has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        (limit, limit + page as usize)
    }

    /// Makes `on_fault` the handler of a signal, and returns the one from before.
    fn handle(signal: c_int) -> libc::sigaction {
        let mut before = MaybeUninit::zeroed();
        // SAFETY: all zeros is a value of this struct; the handler has the signature that SA_SIGINFO asks for.
        unsafe {
            let mut action: libc::sigaction = core::mem::zeroed();
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_fault;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &action, before.as_mut_ptr());
            before.assume_init()
        }
    }

    extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
        // SAFETY: the system passes what SA_SIGINFO says.
        let address = unsafe { (*info).si_addr() } as usize;
        let (start, end) = GUARD.get();
        if (start..end).contains(&address) {
            let text = b"\na kernel on the CPU has overflowed the stack of its simulated thread, 1 MiB\n";
            // SAFETY: both may be called in a handler of signals.
            unsafe {
                libc::write(2, text.as_ptr().cast(), text.len());
                libc::abort();
            }
        }
        // Not a simulated thread's: the same fault comes again, to whom it came before.
        for (before, _) in
            BEFORE.get().into_iter().flatten().zip(SIGNALS).filter(|&(_, other)| other == signal)
        {
            // SAFETY: the handler that this one replaced.
            unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
        }
    }
}

#[cfg(not(unix))]
mod unix {
    pub fn watch(guard: (usize, usize)) -> (usize, usize) {
        guard
    }

    pub fn guard_above(limit: usize) -> (usize, usize) {
        (limit, limit)
    }
}

/// Says which addresses are below the stack that runs from now on; returns those of the one before.
pub use unix::watch;

/// Returns the addresses of the guard page at the low end of a stack. From the first call on, faults there end the process with a
/// message.
pub use unix::guard_above;
