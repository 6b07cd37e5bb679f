//! Signals. Of Ctrl-C, SIGTERM and SIGHUP the first asks to stop, the second stops. A limit of processor time (`ulimit -t`) asks
//! to stop, too, shortly before it would end the process.
//!
//! Programs such as `timeout` signal a process and its group, so that one interrupt arrives twice: what comes right
//! after the first belongs to it.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[cfg(unix)]
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage};
#[cfg(unix)]
use nix::sys::signal::{SigHandler, Signal, signal};
#[cfg(unix)]
use nix::sys::time::TimeVal;

use super::error::INTERRUPTED;
use super::{Error, Result};
use crate::cluster::launched;
use crate::instance::{atomic_file, patience};
use crate::memory::spare;

/// Interrupts this soon after the first are its echoes.
const ECHO: Duration = Duration::from_millis(500);

/// From now on the first interrupt sets the flag that is returned; the second ends the process at once. What the process was
/// started to ignore, by `nohup` for example, it goes on to ignore.
pub fn watch() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    patience::heed(&flag);
    spare::interrupt_by(&flag);
    spare::keep(0);
    let seen = flag.clone();
    let mut first: Option<Instant> = None;
    let handler = move || {
        seen.store(true, Ordering::Relaxed);
        match first {
            Some(at) if at.elapsed() < ECHO => return,
            Some(_) => end(),
            None => first = Some(Instant::now()),
        }
        // Of several ranks that are signalled together one tells.
        if launched().is_some_and(|place| place.rank > 0) {
            return;
        }
        let _ = writeln!(std::io::stderr(), "\nstopping with the best so far; once more to stop at once");
    };
    handle(handler)?;
    #[cfg(unix)]
    heed_processor_time(flag.clone());
    Ok(flag)
}

/// From now on the first interrupt ends the process: for what has no result until it is done.
pub fn end_at_once() -> Result<()> {
    handle(|| end())
}

/// Ends the process, and leaves no file half written.
fn end() -> ! {
    atomic_file::abandon();
    std::process::exit(i32::from(INTERRUPTED))
}

/// Calls this at each interrupt, in a thread of its own.
fn handle(handler: impl FnMut() + Send + 'static) -> Result<()> {
    let failed = |error: &dyn std::fmt::Display| Error::Bug(format!("cannot watch for Ctrl-C: {error}"));
    #[cfg(unix)]
    let ignored = ignored().map_err(|error| failed(&error))?;
    ctrlc::set_handler(handler).map_err(|error| match error {
        ctrlc::Error::System(cause) => Error::NoThread(cause),
        other => failed(&other),
    })?;
    #[cfg(unix)]
    ignored.into_iter().try_for_each(|which| ignore(which).map(drop)).map_err(|error| failed(&error))?;
    Ok(())
}

/// Seconds of processor time that a thread may take to come to an end.
#[cfg(unix)]
const A_THREAD: f64 = 0.1;

/// Seconds of processor time that it takes to write what was found.
#[cfg(unix)]
const WRITING: f64 = 0.4;

/// How far behind a limit of processor time its timer is set, so that it never runs out.
#[cfg(unix)]
const BEHIND: u64 = 3600;

/// Seconds of processor time as limits count them, since the timer was set: by ticks of the clock. What `getrusage` tells is weighed by
/// the time that threads did run, and where a process shares its processors it is up to a tenth less or more.
#[cfg(unix)]
struct ProcessorTime {
    set: f64,
}

#[cfg(unix)]
impl ProcessorTime {
    /// Sets the timer for limits of so many seconds; none if the system refuses.
    fn new(limit: u64) -> Option<ProcessorTime> {
        let none = nix::libc::timeval { tv_sec: 0, tv_usec: 0 };
        let set = limit.saturating_add(BEHIND).min(i32::MAX as u64);
        let value = nix::libc::timeval { tv_sec: set as nix::libc::time_t, tv_usec: 0 };
        let timer = nix::libc::itimerval { it_interval: none, it_value: value };
        // SAFETY: the timer is read only, and nobody else has one of this kind.
        let refused =
            unsafe { nix::libc::setitimer(nix::libc::ITIMER_PROF, &timer, std::ptr::null_mut()) } != 0;
        (!refused).then_some(ProcessorTime { set: set as f64 })
    }

    fn seconds(&self) -> f64 {
        let none = nix::libc::timeval { tv_sec: 0, tv_usec: 0 };
        let mut left = nix::libc::itimerval { it_interval: none, it_value: none };
        // SAFETY: it writes one timer's value.
        if unsafe { nix::libc::getitimer(nix::libc::ITIMER_PROF, &mut left) } != 0 {
            return 0.0;
        }
        self.set - left.it_value.tv_sec as f64 - left.it_value.tv_usec as f64 / 1e6
    }
}

/// Sets the flag when a limit of processor time is nearly reached. The signal of the lower limit cannot tell: where both limits are
/// the same, as by `ulimit -t`, the process is killed without one.
#[cfg(unix)]
fn heed_processor_time(flag: Arc<AtomicBool>) {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_CPU) else { return };
    let limit = soft.min(hard);
    if limit == nix::libc::RLIM_INFINITY {
        return;
    }
    // Not before half of it is spent, however many threads there are.
    let threads = std::thread::available_parallelism().map_or(1.0, |count| count.get() as f64);
    let at = (limit as f64 - WRITING - A_THREAD * threads).max(limit as f64 / 2.0);
    let Some(time) = ProcessorTime::new(limit) else { return };
    let before = getrusage(UsageWho::RUSAGE_SELF).map(|used| [used.user_time(), used.system_time()]);
    let seconds = |time: &TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let before: f64 = before.map_or(0.0, |times| times.iter().map(seconds).sum());
    let used = move || before + time.seconds();
    let heed = move || {
        while used() < at {
            // No sooner can all threads together have spent what is left.
            std::thread::sleep(Duration::from_secs_f64(((at - used()) / threads).clamp(0.005, 3600.0)));
        }
        flag.store(true, Ordering::Relaxed);
        let _ = writeln!(
            std::io::stderr(),
            "\nthe limit of processor time is near: stopping with the best so far"
        );
    };
    // Where it cannot be heeded, the signal ends the process as before.
    if std::thread::Builder::new().spawn(heed).is_ok() {
        let _ = ignore(Signal::SIGXCPU);
    }
}

/// The interrupts that this process ignores.
#[cfg(unix)]
fn ignored() -> nix::Result<Vec<Signal>> {
    let mut found = Vec::new();
    for which in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // Only who sets what a signal does is told what it did.
        let before = ignore(which)?;
        if matches!(before, SigHandler::SigIgn) {
            found.push(which);
        } else {
            // SAFETY: nothing else sets what signals do meanwhile, so this is what was set before.
            unsafe { signal(which, before) }?;
        }
    }
    Ok(found)
}

/// Ignores a signal from now on; what was done before.
#[cfg(unix)]
fn ignore(which: Signal) -> nix::Result<SigHandler> {
    // SAFETY: no code runs when a signal comes that is ignored.
    unsafe { signal(which, SigHandler::SigIgn) }
}

/// Makes the best of what the process is limited to.
///
/// A limit of the size of files (`ulimit -f`) becomes an error of who writes too much, as a full disk is: else it ends the process.
pub fn survive_limits() {
    // It does not fail for signals that can be ignored.
    #[cfg(unix)]
    let _ = ignore(Signal::SIGXFSZ);
    share_addresses();
}

/// Where addresses are limited (`ulimit -v`), all threads allocate from one place: by default the C library sets 64 MiB of addresses
/// aside for each of them, which are used up before the memory is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn share_addresses() {
    let is_limited = getrlimit(Resource::RLIMIT_AS).is_ok_and(|(soft, _)| soft != nix::libc::RLIM_INFINITY);
    if is_limited {
        // SAFETY: it sets a number, before there is another thread.
        unsafe { nix::libc::mallopt(nix::libc::M_ARENA_MAX, 1) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn share_addresses() {}
