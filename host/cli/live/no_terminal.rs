//! Where terminals are not those of Unix, there is no view.

use std::convert::Infallible;
use std::io::PipeReader;
use std::time::Duration;

use super::view::Size;

/// What the thread of the view waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The run is over.
    Over,
}

/// There is none.
pub(super) struct Terminal {
    none: Infallible,
    pub(super) has_colors: bool,
    pub(super) is_unicode: bool,
}

impl Terminal {
    pub(super) fn open() -> Option<Terminal> {
        None
    }

    pub(super) fn is_shown(&self) -> bool {
        match self.none {}
    }

    pub(super) fn size(&self) -> Size {
        match self.none {}
    }

    pub(super) fn draw(&self, _: String) {
        match self.none {}
    }

    pub(super) fn finish(&self) {
        match self.none {}
    }

    pub(super) fn wait(&self, _: &PipeReader, _: Duration) -> Event {
        match self.none {}
    }
}

/// There is nothing to leave.
pub fn leave() {}
