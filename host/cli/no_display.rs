//! Where terminals are not those of Unix, they are written to like files.

use indicatif::ProgressDrawTarget;

/// There is no terminal of this kind.
pub fn is_there() -> bool {
    false
}

/// There is no terminal of this kind.
pub fn tell(_: &str) -> bool {
    false
}

/// There is no terminal of this kind.
pub fn is_stdout() -> bool {
    false
}

/// Returns where a progress line is drawn.
pub fn target() -> ProgressDrawTarget {
    ProgressDrawTarget::stderr()
}

/// There is nothing to wait for.
pub fn settle(_: bool) {}
