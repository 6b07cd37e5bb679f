//! Files that are nothing but whole numbers between blanks.

use std::path::Path;

use super::error::{Result, Text};
use super::source::{self, Room};
use super::tsplib::scan::{self, Part, Words};

/// Numbers at the begin of a file that tell its size, at most.
const FIRST: usize = 2;

/// The bytes of a file, unpacked if it is gzip. `missing` is the remedy where there is no such file; `room` tells of its first numbers
/// how long the whole can be.
pub(crate) fn load(path: &Path, missing: &str, room: impl FnOnce(&[u64]) -> Room) -> Result<Vec<u8>> {
    let room = |begin: Text<'_>| {
        let numbers = words(begin).map_while(|word| u64::try_from(whole_number(begin, word)?).ok());
        room(&numbers.take(FIRST).collect::<Vec<_>>())
    };
    source::load(path, room).map_err(|error| error.where_missing(missing))
}

/// The words of a text.
pub(crate) fn words(text: Text<'_>) -> Words<'_> {
    Words::new(text, scan::whole(text.bytes))
}

/// The word as a whole number. Unlike [`Text::whole_number`] it takes those of 19 digits, as costs may have.
pub(crate) fn whole_number(text: Text<'_>, word: Part) -> Option<i64> {
    let digits = std::str::from_utf8(&text.bytes[word.start..word.end]).ok()?;
    digits.parse().ok().or_else(|| text.whole_number(word))
}
