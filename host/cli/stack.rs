//! The stack that a command runs on.

#[cfg(unix)]
use super::Error;
use super::Result;

/// Stack size in bytes below which some commands may fail.
#[cfg(unix)]
const LEAST: u64 = 2 << 20;
/// The usual default stack size of a process, in bytes.
#[cfg(unix)]
const USUAL: usize = 8 << 20;

/// Runs a function on this thread, or, if the limit of stacks is low (`ulimit -s`), on a new thread with a larger one, and waits for it.
///
/// # Errors
/// If such a thread cannot be started, or the function panics on it.
pub fn with_room<R: Send>(run: impl FnOnce() -> R + Send) -> Result<R> {
    #[cfg(unix)]
    if is_short() {
        return std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(USUAL).spawn_scoped(scope, run);
            let ended = thread.map_err(Error::NoThread)?.join();
            ended.map_err(|_| Error::Bug("the command panicked".to_owned()))
        });
    }
    Ok(run())
}

#[cfg(unix)]
fn is_short() -> bool {
    use nix::sys::resource::{Resource, getrlimit};
    getrlimit(Resource::RLIMIT_STACK).is_ok_and(|(soft, _)| soft < LEAST)
}
