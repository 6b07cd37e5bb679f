//! Files that contain only whole numbers separated by blanks.

use std::path::Path;

use super::error::{Result, Text};
use super::source::{self, Room};
use super::tsplib::scan::{self, Part, Words};

/// Maximum number of numbers at the start of a file that determine its size.
const FIRST: usize = 2;

/// Returns the bytes of a file, unpacked if it is gzip. `missing` is the remedy if there is no such file; `room` determines from
/// its first numbers how long the whole can be.
///
/// # Errors
/// As [`source::load`].
pub fn load(path: &Path, missing: &str, room: impl FnOnce(&[u64]) -> Room) -> Result<Vec<u8>> {
    let room = |begin: Text<'_>| {
        let numbers = words(begin).map_while(|word| u64::try_from(whole_number(begin, word)?).ok());
        room(&numbers.take(FIRST).collect::<Vec<_>>())
    };
    source::load(path, room).map_err(|error| error.where_missing(missing))
}

/// Returns the words of a text.
pub fn words(text: Text<'_>) -> Words<'_> {
    Words::new(text, scan::whole(text.bytes))
}

/// Parses a word as a whole number. Unlike [`Text::whole_number`], accepts 19 digits, as costs may have.
pub fn whole_number(text: Text<'_>, word: Part) -> Option<i64> {
    let digits = std::str::from_utf8(&text.bytes[word.start..word.end]).ok()?;
    digits.parse().ok().or_else(|| text.whole_number(word))
}
