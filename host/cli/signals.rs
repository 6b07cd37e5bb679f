//! Signals. Of Ctrl-C, SIGTERM and SIGHUP the first asks to stop, the second stops.
//!
//! Programs such as `timeout` signal a process and its group, so that one interrupt arrives twice: what comes right
//! after the first belongs to it.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[cfg(unix)]
use nix::sys::signal::{SigHandler, Signal, signal};

use super::error::INTERRUPTED;
use super::{Error, Result};

/// Interrupts this soon after the first are its echoes.
const ECHO: Duration = Duration::from_millis(500);

/// From now on the first interrupt sets the flag that is returned; the second ends the process at once. What the process was
/// started to ignore, by `nohup` for example, it goes on to ignore.
pub fn watch() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = flag.clone();
    let mut first: Option<Instant> = None;
    let handler = move || {
        seen.store(true, Ordering::Relaxed);
        match first {
            Some(at) if at.elapsed() < ECHO => return,
            Some(_) => std::process::exit(i32::from(INTERRUPTED)),
            None => first = Some(Instant::now()),
        }
        let _ = writeln!(std::io::stderr(), "\nstopping with the best so far; once more to stop at once");
    };
    let failed = |error: &dyn std::fmt::Display| Error::Bug(format!("cannot watch for Ctrl-C: {error}"));
    #[cfg(unix)]
    let ignored = ignored().map_err(|error| failed(&error))?;
    ctrlc::set_handler(handler).map_err(|error| failed(&error))?;
    #[cfg(unix)]
    ignored.into_iter().try_for_each(|which| ignore(which).map(drop)).map_err(|error| failed(&error))?;
    Ok(flag)
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

/// Makes a limit of the size of files (`ulimit -f`) an error of who writes too much, as a full disk is: else it ends the process.
pub fn survive_limits() {
    // It does not fail for signals that can be ignored.
    #[cfg(unix)]
    let _ = ignore(Signal::SIGXFSZ);
}
