//! Ctrl-C and SIGTERM: the first asks to stop, the second stops.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::INTERRUPTED;
use super::{Error, Result};

/// From now on the first interrupt sets the flag that is returned; the second ends the process at once.
pub fn watch() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = flag.clone();
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        let _ =
            writeln!(std::io::stderr(), "\nstopping with the best tour so far; once more to stop at once");
    })
    .map_err(|error| Error::Bug(format!("cannot watch for Ctrl-C: {error}")))?;
    Ok(flag)
}
