//! Signals. The first Ctrl-C, SIGTERM or SIGHUP requests a stop, the second ends the process at once. A processor time limit
//! (`ulimit -t`) also requests a stop, shortly before it would end the process.
//!
//! Programs such as `timeout` signal a process and its group, so one interrupt arrives twice: a signal right after the first counts
//! as part of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

#[cfg(unix)]
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage};
#[cfg(unix)]
use nix::sys::signal::{SigHandler, Signal, signal};
#[cfg(unix)]
use nix::sys::time::TimeVal;

use super::error::INTERRUPTED;
use super::{Error, Result, live, output};
use crate::cluster::launched;
use crate::instance::{atomic_file, patience};
use crate::memory::{self, spare};

/// What a command does after the first interrupt if its result is a tour.
pub const WITH_TOUR: &str = "stopping with the best tour so far";
/// Interrupts this soon after the first are echoes of it.
const ECHO: Duration = Duration::from_millis(500);

/// Whether the interrupt came from the user, who can wait a moment for a better tour: a limit of processor time or memory cannot.
static IS_PATIENT: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Returns a flag, the same for all callers. It is set before that of [`watch`] if a signal sets that, and stays false if a limit of
/// processor time or memory does.
pub fn is_patient() -> Arc<AtomicBool> {
    IS_PATIENT.clone()
}

/// From now on the first interrupt sets the returned flag and says what the command does then, as in "stopping with the best tour so
/// far"; the second ends the process at once. Signals that the process was started to ignore, for example by `nohup`, stay ignored. The
/// flag is also set shortly before a limit of processor time, and when memory runs out.
///
/// # Errors
/// If no thread can be started for the handler, or if there is one already: a process calls this or [`end_at_once`], once.
pub fn watch(stopping: &'static str) -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    patience::heed(&flag);
    spare::interrupt_by(&flag);
    spare::keep(0);
    let seen = flag.clone();
    let mut first: Option<Instant> = None;
    let handler = move || {
        // Whoever asked for an end before had no time.
        if first.is_none() {
            IS_PATIENT.store(!seen.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        seen.store(true, Ordering::Relaxed);
        match first {
            Some(at) if at.elapsed() < ECHO => return,
            Some(_) => end(),
            None => first = Some(Instant::now()),
        }
        // If several ranks are signalled together, only one prints this.
        if launched().is_some_and(|place| place.rank > 0) {
            return;
        }
        // If this waited, the second signal would wait, too.
        output::tell_now(&format!("\n{stopping}; interrupt again to stop at once"));
    };
    handle(handler)?;
    #[cfg(unix)]
    heed_processor_time(flag.clone(), stopping);
    Ok(flag)
}

/// From now on the first interrupt ends the process: for commands that have no result until they finish.
///
/// # Errors
/// As [`watch`].
pub fn end_at_once() -> Result<()> {
    handle(|| end())
}

/// Ends the process without leaving any half-written file.
fn end() -> ! {
    live::leave();
    atomic_file::abandon();
    std::process::exit(i32::from(INTERRUPTED))
}

/// Calls the handler at each interrupt, in a separate thread.
fn handle(handler: impl FnMut() + Send + 'static) -> Result<()> {
    let failed = |error: &dyn std::fmt::Display| Error::Bug(format!("cannot watch for Ctrl-C: {error}"));
    #[cfg(unix)]
    let ignored = ignored().map_err(|error| failed(&error))?;
    // A thread that has room for its stack but not for the little more that it needs would end the process.
    memory::check_threads(1)
        .map_err(|shortage| Error::NoThread(std::io::Error::other(shortage.to_string())))?;
    ctrlc::set_handler(handler).map_err(|error| match error {
        ctrlc::Error::System(cause) => Error::NoThread(cause),
        other => failed(&other),
    })?;
    #[cfg(unix)]
    ignored.into_iter().try_for_each(|which| ignore(which).map(drop)).map_err(|error| failed(&error))?;
    Ok(())
}

/// Seconds of processor time that a thread may need to stop.
#[cfg(unix)]
const A_THREAD: f64 = 0.1;

/// Seconds of processor time reserved for writing the results.
#[cfg(unix)]
const WRITING: f64 = 0.4;

/// How far beyond the processor time limit the timer is set, in seconds, so that it never expires.
#[cfg(unix)]
const BEHIND: u64 = 3600;

/// Seconds of processor time since the timer was set, counted as limits count them: by clock ticks. The values of `getrusage` are
/// weighted by the time that threads actually ran; if a process shares its processors, they differ by up to a tenth.
#[cfg(unix)]
struct ProcessorTime {
    set: f64,
}

#[cfg(unix)]
impl ProcessorTime {
    /// Sets the timer for a limit of this many seconds; `None` if the system refuses.
    fn new(limit: u64) -> Option<ProcessorTime> {
        let none = nix::libc::timeval { tv_sec: 0, tv_usec: 0 };
        let set = limit.saturating_add(BEHIND).min(i32::MAX as u64);
        let value = nix::libc::timeval { tv_sec: set as nix::libc::time_t, tv_usec: 0 };
        let timer = nix::libc::itimerval { it_interval: none, it_value: value };
        // SAFETY: the timer is only read, and nothing else uses a timer of this kind.
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

/// Sets the flag when the processor time limit is nearly reached. The signal of the soft limit is not enough: if both limits are
/// equal, as with `ulimit -t`, the process is killed without one.
#[cfg(unix)]
fn heed_processor_time(flag: Arc<AtomicBool>, stopping: &'static str) {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_CPU) else { return };
    let limit = soft.min(hard);
    if limit == nix::libc::RLIM_INFINITY {
        return;
    }
    // Not before half of it is used, however many threads there are.
    let threads = std::thread::available_parallelism().map_or(1.0, |count| count.get() as f64);
    let at = (limit as f64 - WRITING - A_THREAD * threads).max(limit as f64 / 2.0);
    let Some(time) = ProcessorTime::new(limit) else { return };
    let before = getrusage(UsageWho::RUSAGE_SELF).map(|used| [used.user_time(), used.system_time()]);
    let seconds = |time: &TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let before: f64 = before.map_or(0.0, |times| times.iter().map(seconds).sum());
    let used = move || before + time.seconds();
    let heed = move || {
        while used() < at {
            // All threads together cannot use up the rest any sooner than this.
            std::thread::sleep(Duration::from_secs_f64(((at - used()) / threads).clamp(0.005, 3600.0)));
        }
        IS_PATIENT.store(false, Ordering::Relaxed);
        flag.store(true, Ordering::Relaxed);
        output::tell(&format!("\nthe processor time limit is near: {stopping}"));
    };
    // If no thread can be started, the signal ends the process as before.
    if memory::check_threads(1).is_ok() && std::thread::Builder::new().spawn(heed).is_ok() {
        let _ = ignore(Signal::SIGXCPU);
    }
}

/// Returns the interrupt signals that this process ignores.
#[cfg(unix)]
fn ignored() -> nix::Result<Vec<Signal>> {
    let mut found = Vec::new();
    for which in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // The only way to read a signal's action is to set a new one.
        let before = ignore(which)?;
        if matches!(before, SigHandler::SigIgn) {
            found.push(which);
        } else {
            // SAFETY: nothing else changes signal actions meanwhile, so this restores what was set before.
            unsafe { signal(which, before) }?;
        }
    }
    Ok(found)
}

/// Ignores a signal from now on; returns its previous action.
#[cfg(unix)]
fn ignore(which: Signal) -> nix::Result<SigHandler> {
    // SAFETY: no code runs when an ignored signal arrives.
    unsafe { signal(which, SigHandler::SigIgn) }
}

/// Prepares the process for resource limits.
///
/// Exceeding the file size limit (`ulimit -f`) becomes a write error, like a full disk; otherwise it would end the process.
pub fn survive_limits() {
    // This cannot fail for a signal that may be ignored.
    #[cfg(unix)]
    let _ = ignore(Signal::SIGXFSZ);
    share_addresses();
}

/// If the address space is limited (`ulimit -v`), makes all threads allocate from one arena: by default the C library reserves 64
/// MiB of addresses for each thread, which run out before the memory does.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn share_addresses() {
    let is_limited = getrlimit(Resource::RLIMIT_AS).is_ok_and(|(soft, _)| soft != nix::libc::RLIM_INFINITY);
    if is_limited {
        // SAFETY: it sets a number, before any other thread exists.
        unsafe { nix::libc::mallopt(nix::libc::M_ARENA_MAX, 1) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn share_addresses() {}
