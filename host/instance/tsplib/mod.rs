//! TSPLIB files: every kind of distance of the symmetric and the asymmetric problem.
//!
//! `scan` splits a file into keywords and sections, `read` makes an instance of them, `matrix` knows the
//! nine layouts of explicit weights, `write` is the way back.

mod matrix;
mod read;
pub(crate) mod scan;
mod write;

pub use read::parse;
pub(super) use read::{parse_with, room};
pub(crate) use write::one_line;
pub use write::{save, write};
