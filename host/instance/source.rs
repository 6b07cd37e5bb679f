//! Files as text: unpacked if they are gzip, and read no further than a legitimate file could extend.
//!
//! A small archive may unpack to any size, and a device never ends. So the reader of a file says how long it can be, and a longer
//! one is rejected before it fills the memory.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::error::{InstanceError, Result, Text};
use crate::memory;

/// Bytes that any file may have, for keywords and comments, or for a small file as a whole.
const BESIDE: u64 = 1 << 20;
/// Maximum average number of bytes of a number and the blanks around it.
const NUMBER: u64 = 32;
/// Maximum number of bytes of a file held in memory.
const MOST: u64 = 1 << 33;
/// Maximum number of bytes without a digit.
const IDLE: usize = 1 << 22;
/// The first bytes of an array of numpy, whose bytes are no text.
pub(crate) const NUMPY: &[u8] = b"\x93NUMPY";

/// A limit on the length of a file, or of a part of it.
#[derive(Debug)]
pub struct Room {
    bytes: u64,
    /// What can take up to this many bytes.
    of: String,
    /// Minimum number of bytes of memory it needs, including its text.
    memory: u64,
}

impl Room {
    /// Returns room for this many numbers of `of`, and for the text around them.
    pub fn numbers(count: u64, of: impl Into<String>) -> Room {
        Room {
            bytes: count.saturating_mul(NUMBER).saturating_add(BESIDE).min(MOST),
            of: of.into(),
            memory: 0,
        }
    }

    /// Returns room for this many bytes of `of`.
    pub fn bytes(bytes: u64, of: impl Into<String>) -> Room {
        Room { bytes, of: of.into(), memory: 0 }
    }

    /// Returns the room if every letter takes this many bytes.
    pub fn times(self, width: u64) -> Room {
        Room { bytes: self.bytes.saturating_mul(width).min(MOST), ..self }
    }

    /// Returns the room for something that needs at least this many bytes of memory.
    pub fn in_memory(self, bytes: u64) -> Room {
        Room { memory: bytes, ..self }
    }

    fn exceeded(&self, file: &str) -> InstanceError {
        let problem = format!("the file has more than {} bytes, the maximum for {}", self.bytes, self.of);
        InstanceError::content(file, problem, "check that it is the right file and contains nothing else")
    }
}

/// The path that stands for the standard input.
pub const STDIN: &str = "-";

/// Returns the name of a file for messages.
pub fn shown(path: &Path) -> String {
    if path == Path::new(STDIN) {
        "the standard input".to_owned()
    } else {
        path.to_string_lossy().into_owned()
    }
}

/// Returns the name of what is in a file: the file name up to its first dot, such as tai12a for tai12a.dat.gz.
pub fn stem(path: &Path) -> String {
    if path == Path::new(STDIN) {
        return "stdin".to_owned();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    super::error::printable(name.split('.').next().unwrap_or_default())
}

/// Opens a file, or the standard input, as text.
///
/// # Errors
/// If it cannot be opened or its first bytes cannot be read.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>> {
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
    let mut text = BufReader::with_capacity(1 << 16, text);
    if text.fill_buf().map_err(failed)?.starts_with(NUMPY) {
        return Ok(Box::new(text));
    }
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

/// Returns the bytes of a file. `room` determines from its first mebibyte how long the whole can be.
///
/// # Errors
/// If the file cannot be read, does not fit in memory, or is longer than its room.
pub fn load(path: &Path, room: impl FnOnce(Text<'_>) -> Room) -> Result<Vec<u8>> {
    load_by(path, |begin| Ok(room(begin)), false)
}

/// Does the same with all threads, where the first mebibyte may show that the file must not be read.
///
/// # Errors
/// As [`load`], and those of `room`.
pub fn load_checked(path: &Path, room: impl FnOnce(Text<'_>) -> Result<Room>) -> Result<Vec<u8>> {
    load_by(path, room, true)
}

fn load_by(path: &Path, room: impl FnOnce(Text<'_>) -> Result<Room>, in_pieces: bool) -> Result<Vec<u8>> {
    let failed = |cause| InstanceError::read(path, cause);
    let (mut text, mut bytes) = (open(path)?, Vec::new());
    text.by_ref().take(BESIDE).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 == BESIDE {
        let file = shown(path);
        let room = room(Text { file: &file, bytes: &bytes })?;
        let no_room = |shortage| Text { file: &file, bytes: b"" }.no_room(&room.of, shortage);
        // This much has been read already.
        if room.bytes < BESIDE {
            return Err(room.exceeded(&file));
        }
        memory::check(room.memory).map_err(no_room)?;
        if in_pieces && let Some(whole) = load_in_pieces(path, &bytes, room.bytes) {
            return Ok(whole);
        }
        // One extra byte shows whether there is more; the end of an archive shows whether it is complete.
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

/// Reads a plain file of at most this many bytes, which starts with those, with all threads. Returns `None` if it is another kind of
/// file, or if anything is odd: then one thread reads it from its start to its end, and finds out what is wrong.
#[cfg(unix)]
fn load_in_pieces(path: &Path, begin: &[u8], most: u64) -> Option<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::{AtomicBool, Ordering};
    /// Bytes that a thread reads at a time. A stretch that [`Busy`] rejects has at least one such piece.
    const PIECE: usize = IDLE / 2;
    let facts = std::fs::metadata(path).ok().filter(|facts| path != Path::new(STDIN) && facts.is_file())?;
    let length = usize::try_from(facts.len()).ok().filter(|_| facts.len() <= most)?;
    memory::check(facts.len()).ok()?;
    let file = std::fs::File::open(path).ok()?;
    let mut bytes = vec![0; length];
    let is_odd = AtomicBool::new(false);
    crate::parallel::each_part(&mut bytes, PIECE, &|piece, bytes| {
        let is_read = file.read_exact_at(bytes, (piece * PIECE) as u64).is_ok();
        let is_busy =
            bytes.len() < PIECE || bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(separates);
        is_odd.fetch_or(!(is_read && is_busy), Ordering::Relaxed);
    });
    // An archive does not start with its text.
    (!is_odd.into_inner() && bytes.starts_with(begin)).then_some(bytes)
}

#[cfg(not(unix))]
fn load_in_pieces(_: &Path, _: &[u8], _: u64) -> Option<Vec<u8>> {
    None
}

/// Returns whether a character may separate two numbers.
fn separates(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b'|' | b']')
}

/// A reader that rejects long stretches without a number, as in devices, sparse files and archive bombs. A file may claim any size,
/// so limiting its room is not enough.
struct Busy<R> {
    text: R,
    /// Bytes since the last digit, not counting the read that contained it.
    idle: usize,
    /// The same for the last character that may separate two numbers.
    unbroken: usize,
}

impl<R: Read> Read for Busy<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(buffer)?;
        self.idle = if buffer[..count].iter().any(u8::is_ascii_digit) { 0 } else { self.idle + count };
        if self.idle > IDLE {
            let problem = "it contains four mebibytes without a number";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        self.unbroken = if buffer[..count].iter().any(separates) { 0 } else { self.unbroken + count };
        if self.unbroken > IDLE {
            let problem = "it contains four mebibytes without the end of a number";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(count)
    }
}

/// The lines of a text, of which one at a time is held in memory. They end like those of
/// [`scan::lines`](super::tsplib::scan::lines).
pub struct Lines<'a, R> {
    file: &'a str,
    reader: R,
    room: Room,
    /// Bytes of room that are left.
    left: u64,
    number: usize,
    line: Vec<u8>,
    /// Whether the previous line ended with a carriage return, which may be half of a CR LF.
    is_returned: bool,
}

/// A line of a text, and its number.
pub struct Line<'a> {
    /// The line, without its end.
    pub text: Text<'a>,
    /// Its number, from 1.
    pub number: usize,
}

impl<'a, R: BufRead> Lines<'a, R> {
    /// Creates the lines of a reader; `file` is named in errors. This `room` is the limit until it is renewed.
    pub fn new(file: &'a str, reader: R, room: Room) -> Lines<'a, R> {
        let left = room.bytes;
        Lines { file, reader, room, left, number: 0, line: Vec::new(), is_returned: false }
    }

    /// Restores the initial room: the lines so far were useful.
    pub fn renew(&mut self) {
        self.left = self.room.bytes;
    }

    /// Returns the next line, without its end and without a byte-order mark.
    ///
    /// # Errors
    /// If the reader fails, or the room is exceeded.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>> {
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
        while let Some(line) = lines.next_line().unwrap() {
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
    fn long_files_are_read_in_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        let load = || load_checked(&path, |_| Ok(Room::bytes(1 << 23, "a test")));
        let text: Vec<u8> = (0..700_000).flat_map(|i| format!("{i}\n").into_bytes()).collect();
        std::fs::write(&path, &text).unwrap();
        assert_eq!(load_in_pieces(&path, &text[..BESIDE as usize], 1 << 23), Some(text.clone()));
        assert_eq!(load().unwrap(), text);
        assert_eq!(load_in_pieces(&path, &text[..BESIDE as usize], 1 << 22), None);
        // Other text, as that of an archive is.
        assert_eq!(load_in_pieces(&path, b"1", 1 << 23), None);
        let idle = [&text[..2 << 20], &vec![b'x'; 5 << 20]].concat();
        std::fs::write(&path, idle).unwrap();
        let error = load().unwrap_err().to_string();
        assert!(error.contains("four mebibytes without a number"), "{error}");
    }

    #[test]
    fn there_is_an_end_to_room() {
        let mut lines = Lines::new("f", BufReader::new(io::repeat(b'\n')), Room::numbers(0, "a test"));
        for _ in 0..2 {
            for _ in 0..BESIDE {
                assert!(lines.next_line().unwrap().is_some_and(|line| line.text.bytes.is_empty()));
            }
            lines.renew();
        }
        let mut lines = Lines::new("f", BufReader::new(io::repeat(b'7')), Room::numbers(0, "a test"));
        let error = lines.next_line().err().unwrap().to_string();
        assert_eq!(error, "f: the file has more than 1048576 bytes, the maximum for a test");
    }
}
