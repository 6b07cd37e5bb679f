//! Ctrl-C and SIGTERM: the first asks to stop, the second stops.
//!
//! Programs such as `timeout` signal a process and its group, so that one interrupt arrives twice: what comes right
//! after the first belongs to it.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::error::INTERRUPTED;
use super::{Error, Result};

/// Interrupts this soon after the first are its echoes.
const ECHO: Duration = Duration::from_millis(500);

/// From now on the first interrupt sets the flag that is returned; the second ends the process at once.
pub fn watch() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = flag.clone();
    let mut first: Option<Instant> = None;
    ctrlc::set_handler(move || {
        seen.store(true, Ordering::Relaxed);
        match first {
            Some(at) if at.elapsed() < ECHO => return,
            Some(_) => std::process::exit(i32::from(INTERRUPTED)),
            None => first = Some(Instant::now()),
        }
        let _ = writeln!(std::io::stderr(), "\nstopping with the best so far; once more to stop at once");
    })
    .map_err(|error| Error::Bug(format!("cannot watch for Ctrl-C: {error}")))?;
    Ok(flag)
}
