//! The stack that a command runs on.

use super::{Error, Result};

/// Less than this many bytes do not suffice for every command.
#[cfg(unix)]
const LEAST: u64 = 2 << 20;
/// Bytes that systems give a process if nobody says otherwise.
#[cfg(unix)]
const USUAL: usize = 8 << 20;

/// Runs this on the main thread, or where that one's stack is limited (`ulimit -s`), on a thread whose stack is not.
pub fn with_room<R: Send>(run: impl FnOnce() -> R + Send) -> Result<R> {
    #[cfg(unix)]
    if is_short() {
        return std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(USUAL).spawn_scoped(scope, run);
            let ended = thread.map_err(Error::NoThread)?.join();
            ended.map_err(|_| Error::Bug("a command ended by a panic".to_owned()))
        });
    }
    Ok(run())
}

#[cfg(unix)]
fn is_short() -> bool {
    use nix::sys::resource::{Resource, getrlimit};
    getrlimit(Resource::RLIMIT_STACK).is_ok_and(|(soft, _)| soft < LEAST)
}
