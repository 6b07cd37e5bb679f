//! Files as text: unpacked if they are gzip, and read no further than an honest one goes.
//!
//! A small archive may unpack to any size, and a device never ends. So who reads a file says how long it can be, and a longer one is
//! refused before it fills the memory.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::error::{InstanceError, Result, Text};
use crate::memory;

/// Bytes that any file may have: for keywords and comments, and for all of a small file.
const BESIDE: u64 = 1 << 20;
/// Most bytes of a number and of the blanks around it, on the average.
const NUMBER: u64 = 32;
/// Most bytes of any file that is held in memory.
const MOST: u64 = 1 << 33;
/// Most bytes without a digit.
const IDLE: usize = 1 << 22;

/// How long a file, or a part of it, can be.
#[derive(Debug)]
pub(crate) struct Room {
    bytes: u64,
    /// What can take so many bytes.
    of: String,
    /// Bytes of memory that it takes at least, with its text.
    memory: u64,
}

impl Room {
    /// Room for so many numbers of `of`, and for what stands beside them.
    pub(crate) fn numbers(count: u64, of: impl Into<String>) -> Room {
        Room {
            bytes: count.saturating_mul(NUMBER).saturating_add(BESIDE).min(MOST),
            of: of.into(),
            memory: 0,
        }
    }

    /// Room for so many bytes of `of`.
    pub(crate) fn bytes(bytes: u64, of: impl Into<String>) -> Room {
        Room { bytes, of: of.into(), memory: 0 }
    }

    /// The same where every letter takes so many bytes.
    pub(crate) fn times(self, width: u64) -> Room {
        Room { bytes: self.bytes.saturating_mul(width).min(MOST), ..self }
    }

    /// The same for what takes so many bytes of memory at least.
    pub(crate) fn in_memory(self, bytes: u64) -> Room {
        Room { memory: bytes, ..self }
    }

    fn exceeded(&self, file: &str) -> InstanceError {
        let problem = format!("there are more than {} bytes, the most that {} can take", self.bytes, self.of);
        InstanceError::content(
            file,
            problem,
            "check that it is the right file, and that nothing else is in it",
        )
    }
}

/// The path that stands for the standard input.
pub(crate) const STDIN: &str = "-";

/// How a file is called in messages.
pub(crate) fn shown(path: &Path) -> String {
    if path == Path::new(STDIN) {
        "the standard input".to_owned()
    } else {
        path.to_string_lossy().into_owned()
    }
}

/// The name of what is in a file: that of the file up to its first point.
pub(crate) fn stem(path: &Path) -> String {
    if path == Path::new(STDIN) { "stdin".to_owned() } else { super::numbers::stem(path) }
}

/// The text of a file, or of the standard input.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let failed = |cause| InstanceError::read(path, cause);
    let file: Box<dyn Read> = if path == Path::new(STDIN) {
        Box::new(io::stdin())
    } else {
        Box::new(open_file(path).map_err(failed)?)
    };
    let mut file = BufReader::new(file);
    let is_packed = file.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]);
    let text: Box<dyn Read> =
        if is_packed { Box::new(flate2::bufread::MultiGzDecoder::new(file)) } else { Box::new(file) };
    Ok(Box::new(BufReader::with_capacity(1 << 16, Busy { text, idle: 0, unbroken: 0 })))
}

#[cfg(feature = "cli")]
fn open_file(path: &Path) -> io::Result<Box<dyn Read>> {
    super::patience::open(path)
}

#[cfg(not(feature = "cli"))]
fn open_file(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(Box::new(std::fs::File::open(path)?))
}

/// The bytes of a file. `room` tells of its first mebibyte how long the whole can be.
pub(crate) fn load(path: &Path, room: impl FnOnce(Text<'_>) -> Room) -> Result<Vec<u8>> {
    load_checked(path, |begin| Ok(room(begin)))
}

/// The same where the first mebibyte may show that the file is not to be read.
pub(crate) fn load_checked(path: &Path, room: impl FnOnce(Text<'_>) -> Result<Room>) -> Result<Vec<u8>> {
    let failed = |cause| InstanceError::read(path, cause);
    let (mut text, mut bytes) = (open(path)?, Vec::new());
    text.by_ref().take(BESIDE).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 == BESIDE {
        let file = shown(path);
        let room = room(Text { file: &file, bytes: &bytes })?;
        let no_room = |shortage| Text { file: &file, bytes: b"" }.no_room(&room.of, shortage);
        memory::check(room.memory).map_err(no_room)?;
        // The byte too many tells that there are more; the end of an archive tells whether it is whole.
        let mut text = text.take(room.bytes - BESIDE + 1);
        loop {
            memory::reserve(&mut bytes, BESIDE as usize).map_err(no_room)?;
            let free = bytes.capacity() - bytes.len();
            if text.by_ref().take(free as u64).read_to_end(&mut bytes).map_err(failed)? < free {
                break;
            }
        }
        if bytes.len() as u64 > room.bytes {
            return Err(room.exceeded(&file));
        }
    }
    Ok(bytes)
}

/// Refuses what goes on without a number, as devices, holes in files and archives made to fill a memory do. A file may claim any
/// size, so room is not enough.
struct Busy<R> {
    text: R,
    /// Bytes since the last digit, but for those of its own read.
    idle: usize,
    /// The same since the last sign that may separate two numbers.
    unbroken: usize,
}

impl<R: Read> Read for Busy<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(buffer)?;
        self.idle = if buffer[..count].iter().any(u8::is_ascii_digit) { 0 } else { self.idle + count };
        if self.idle > IDLE {
            let problem = "there are four mebibytes without a number in it";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let separates = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b'|' | b']');
        self.unbroken = if buffer[..count].iter().any(separates) { 0 } else { self.unbroken + count };
        if self.unbroken > IDLE {
            let problem = "there are four mebibytes without an end of a number in it";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(count)
    }
}

/// The lines of a text one after the other, of which one is held in memory. They end as those of
/// [`scan::lines`](super::tsplib::scan::lines) do.
pub(crate) struct Lines<'a, R> {
    file: &'a str,
    reader: R,
    room: Room,
    /// Bytes that there still is room for.
    left: u64,
    number: usize,
    line: Vec<u8>,
    /// The line before ended with a carriage return, which may have been half of its end.
    is_returned: bool,
}

/// A line, and its number from 1.
pub(crate) struct Line<'a> {
    pub(crate) text: Text<'a>,
    pub(crate) number: usize,
}

impl<'a, R: BufRead> Lines<'a, R> {
    /// The lines of a reader; `file` stands in errors. There is no more `room` than this until it is renewed.
    pub(crate) fn new(file: &'a str, reader: R, room: Room) -> Lines<'a, R> {
        let left = room.bytes;
        Lines { file, reader, room, left, number: 0, line: Vec::new(), is_returned: false }
    }

    /// As much room as at the begin: what stood in the lines so far was of use.
    pub(crate) fn renew(&mut self) {
        self.left = self.room.bytes;
    }

    /// The next line, without its end and without a byte-order mark.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>> {
        self.line.clear();
        let mut is_any = false;
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(InstanceError::read(Path::new(self.file), cause)),
            };
            if buffer.is_empty() {
                break;
            }
            let skipped = usize::from(std::mem::take(&mut self.is_returned) && buffer[0] == b'\n');
            let rest = &buffer[skipped..];
            let end = rest.iter().position(|&b| b == b'\n' || b == b'\r');
            self.line.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
            self.is_returned = end.is_some_and(|end| rest[end] == b'\r');
            is_any |= !rest.is_empty();
            let used = skipped + end.map_or(rest.len(), |end| end + 1);
            self.reader.consume(used);
            self.left = self.left.checked_sub(used as u64).ok_or_else(|| self.room.exceeded(self.file))?;
            if end.is_some() {
                break;
            }
        }
        if !is_any {
            return Ok(None);
        }
        self.number += 1;
        let mark: &[u8] = if self.number == 1 { b"\xef\xbb\xbf" } else { b"" };
        let bytes = self.line.strip_prefix(mark).unwrap_or(&self.line);
        Ok(Some(Line { text: Text { file: self.file, bytes }, number: self.number }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, capacity: usize) -> Vec<(usize, String)> {
        let reader = BufReader::with_capacity(capacity, text.as_bytes());
        let mut lines = Lines::new("f", reader, Room::numbers(0, "a test"));
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push((line.number, String::from_utf8(line.text.bytes.to_vec()).unwrap()));
        }
        found
    }

    #[test]
    fn lines_end_in_three_ways() {
        let expected: Vec<_> = (1..).zip(["ab", "", "c", "d"].map(str::to_owned)).collect();
        for text in ["ab\n\nc\nd", "ab\r\n\r\nc\r\nd\r\n", "ab\r\rc\rd\r", "\u{feff}ab\n\rc\r\nd"] {
            for capacity in [1, 2, 3, 100] {
                assert_eq!(all(text, capacity), expected, "{text:?}");
            }
        }
        assert_eq!(all("", 8), []);
    }

    #[test]
    fn there_is_an_end_to_room() {
        let mut lines = Lines::new("f", BufReader::new(io::repeat(b'\n')), Room::numbers(0, "a test"));
        for _ in 0..2 {
            for _ in 0..BESIDE {
                assert!(lines.next().unwrap().is_some_and(|line| line.text.bytes.is_empty()));
            }
            lines.renew();
        }
        let mut lines = Lines::new("f", BufReader::new(io::repeat(b'7')), Room::numbers(0, "a test"));
        let error = lines.next().err().unwrap().to_string();
        assert_eq!(error, "f: there are more than 1048576 bytes, the most that a test can take");
    }
}
