//! Splits a TSPLIB file into keywords, sections and numbers, without knowing their meaning.

use crate::error::{InstanceError, Result, Text, lossy};
use crate::parallel;

/// Keywords that a file may have only once: with two, one of them would be ignored.
const ONCE: [&str; 12] = [
    "NAME",
    "TYPE",
    "DIMENSION",
    "EDGE_WEIGHT_TYPE",
    "EDGE_WEIGHT_FORMAT",
    "NODE_COORD_TYPE",
    "DISPLAY_DATA_TYPE",
    "NODE_COORD_SECTION",
    "EDGE_WEIGHT_SECTION",
    "DISPLAY_DATA_SECTION",
    "FIXED_EDGES_SECTION",
    "TOUR_SECTION",
];

/// A part of a file: positions of bytes, from 0.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The position of its first byte.
    pub start: usize,
    /// The position after its last byte.
    pub end: usize,
}

impl Part {
    /// Returns the part without the blanks around it.
    pub fn trimmed(self, bytes: &[u8]) -> Part {
        let slice = &bytes[self.start..self.end];
        let leading = slice.len() - slice.trim_ascii_start().len();
        let length = slice.trim_ascii().len();
        Part { start: self.start + leading, end: self.start + leading + length }
    }
}

/// A keyword and its value: the rest of its line, or for a section all lines up to the next keyword.
#[derive(Debug)]
pub struct Entry {
    /// The keyword, in capitals.
    pub keyword: String,
    /// Where the keyword is.
    pub keyword_part: Part,
    /// Where the value is.
    pub value: Part,
}

/// Returns all entries of a file, in file order. Numbers never start with a letter, keywords always do.
///
/// # Errors
/// If a line belongs to no keyword, a keyword that may appear once appears twice, or something follows EOF; the place and the
/// remedy are in the error.
pub fn entries(text: Text<'_>) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut in_section = false;
    let mut lines = Lines::new(text.bytes, whole(text.bytes));
    while let Some(line) = lines.next() {
        let is_comment = entries.last().is_some_and(|entry| entry.keyword == "COMMENT");
        let starts_with_letter =
            text.bytes[line.start..line.end].first().is_some_and(u8::is_ascii_alphabetic);
        if !starts_with_letter {
            match entries.last_mut() {
                Some(section) if in_section => {
                    section.value.end = lines.skip_section().unwrap_or(line.end);
                }
                _ if line.start == line.end => {}
                // A comment may continue over several lines.
                _ if is_comment => {}
                _ => return Err(no_keyword(text, line)),
            }
            continue;
        }
        let Some(entry) = entry(text, line) else {
            if is_comment {
                continue;
            }
            return Err(no_keyword(text, line));
        };
        if entry.keyword == "EOF" {
            break;
        }
        if ONCE.contains(&entry.keyword.as_str()) && entries.iter().any(|e| e.keyword == entry.keyword) {
            let problem = format!("{} appears in the file a second time", entry.keyword);
            return Err(text.error_at(entry.keyword_part, problem, "keep one of them: they may differ"));
        }
        in_section = entry.keyword.ends_with("_SECTION");
        entries.push(entry);
    }
    match lines.find(|line| line.start < line.end) {
        Some(line) => Err(text.error_at(
            line,
            "the file continues after EOF",
            "put each instance or tour in its own file",
        )),
        None => Ok(entries),
    }
}

/// Returns the entry that starts with this line, if any.
fn entry(text: Text<'_>, line: Part) -> Option<Entry> {
    let slice = &text.bytes[line.start..line.end];
    let length = slice.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_').unwrap_or(slice.len());
    let keyword = lossy(&slice[..length]).to_ascii_uppercase();
    let after = slice[length..].trim_ascii_start();
    let is_lone = keyword == "EOF" || keyword.ends_with("_SECTION");
    let value = match after.first() {
        Some(b':') => &after[1..],
        _ if is_lone => after,
        _ => return None,
    };
    let value = Part { start: line.end - value.len(), end: line.end };
    let value = if is_lone { value } else { value.trimmed(text.bytes) };
    Some(Entry { keyword, keyword_part: Part { start: line.start, end: line.start + length }, value })
}

/// Returns the value of a keyword in the start of a file, which may be cut off anywhere.
pub fn value_in_begin(text: Text<'_>, keyword: &str) -> Option<Part> {
    lines(text.bytes, whole(text.bytes)).find_map(|line| {
        let slice = &text.bytes[line.start..line.end];
        let colon = slice.iter().position(|&b| b == b':')?;
        let is_it = slice[..colon].trim_ascii().eq_ignore_ascii_case(keyword.as_bytes());
        is_it.then(|| Part { start: line.start + colon + 1, end: line.end }.trimmed(text.bytes))
    })
}

fn no_keyword(text: Text<'_>, line: Part) -> InstanceError {
    text.error(
        line.start,
        line.end - line.start,
        "this line is neither `KEYWORD : value` nor part of a section",
        "a TSPLIB file starts with lines such as `NAME : berlin52`; put coordinates alone in a .csv or .txt file",
    )
}

/// Returns the part that is the whole text without a byte-order mark, which would hide the first keyword.
pub fn whole(bytes: &[u8]) -> Part {
    Part { start: if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }, end: bytes.len() }
}

/// Returns the lines of a part without the blanks around them; a lone carriage return also ends a line.
pub fn lines(bytes: &[u8], part: Part) -> impl Iterator<Item = Part> + '_ {
    Lines::new(bytes, part)
}

/// See [`lines`].
struct Lines<'a> {
    bytes: &'a [u8],
    start: usize,
    end: usize,
}

/// Bytes of a section that a thread looks through at a time.
const PIECE: usize = 1 << 20;
/// Pieces that all threads look through before they go on.
const GROUP: usize = 1 << 10;

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8], part: Part) -> Lines<'a> {
        Lines { bytes, start: part.start, end: part.end }
    }

    /// Skips the lines up to the next one that starts with a letter. Returns where the last one skipped ends; `None` if none was
    /// skipped.
    fn skip_section(&mut self) -> Option<usize> {
        let (bytes, start, end) = (self.bytes, self.start, self.end);
        let is_end = |at: usize| is_end_of_line(bytes[at]);
        let is_keyword = |line: usize| {
            let bare =
                bytes[line..end].iter().find(|byte| is_end_of_line(**byte) || !byte.is_ascii_whitespace());
            bare.is_some_and(u8::is_ascii_alphabetic)
        };
        if start >= end || is_keyword(start) {
            return None;
        }
        // Letters within lines are rare: those of exponents, and of comments that are errors.
        let keyword_in = |piece: usize| -> Option<usize> {
            let (from, to) = (start + piece * PIECE, (start + (piece + 1) * PIECE).min(end));
            let letters = (from..to).filter(|&at| bytes[at].is_ascii_alphabetic());
            letters.into_iter().find_map(|at| {
                let indent = bytes[start..at].iter().rev().take_while(|byte| is_blank(**byte)).count();
                let line = at - indent;
                (line > start && is_end(line - 1)).then_some(line)
            })
        };
        let pieces = (end - start).div_ceil(PIECE);
        let (mut first, mut next) = (0, end);
        while first < pieces && next == end {
            let count = (pieces - first).min(GROUP);
            let found = match count {
                1 => vec![keyword_in(first)],
                _ => parallel::collect(count, &|piece| keyword_in(first + piece)),
            };
            next = found.into_iter().flatten().next().unwrap_or(end);
            first += count;
        }
        self.start = next;
        // The last line without the end of line behind it.
        let last = if next < end || is_end(next - 1) { next - 1 } else { next };
        let before = (start..last).rev().find(|&at| is_end(at)).map_or(start, |at| at + 1);
        Some(Part { start: before, end: last }.trimmed(bytes).end)
    }
}

fn is_end_of_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns whether a byte is a blank within a line.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() && !is_end_of_line(byte)
}

impl Iterator for Lines<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let Lines { bytes, start, end } = *self;
        if start >= end {
            return None;
        }
        let rest = &bytes[start..end];
        let length = rest.iter().position(|&b| is_end_of_line(b)).unwrap_or(rest.len());
        let line = Part { start, end: start + length }.trimmed(bytes);
        self.start += length + 1;
        Some(line)
    }
}

/// Splits a part into pieces of whole lines, of about `size` bytes each.
pub(super) fn pieces(bytes: &[u8], part: Part, size: usize) -> Vec<Part> {
    let mut pieces = Vec::new();
    let mut start = part.start;
    while start < part.end {
        let from = (start + size).min(part.end);
        let rest = bytes[from..part.end].iter().position(|&byte| is_end_of_line(byte));
        let end = rest.map_or(part.end, |length| from + length + 1);
        pieces.push(Part { start, end });
        start = end;
    }
    pieces
}

/// An iterator over the words between blanks.
pub struct Words<'a> {
    text: Text<'a>,
    at: usize,
    end: usize,
}

impl<'a> Words<'a> {
    /// Returns the words in a part of a file.
    pub fn new(text: Text<'a>, part: Part) -> Words<'a> {
        Words { text, at: part.start, end: part.end }
    }
}

impl Iterator for Words<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let rest = &self.text.bytes[self.at..self.end];
        let start = self.at + rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let rest = &self.text.bytes[start..self.end];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at = start + length;
        Some(Part { start, end: self.at })
    }
}

impl Text<'_> {
    /// Returns the text of a part.
    pub fn show(&self, part: Part) -> String {
        lossy(&self.bytes[part.start..part.end])
    }

    /// Creates the error that the part is wrong.
    pub fn error_at(&self, part: Part, problem: impl Into<String>, help: impl Into<String>) -> InstanceError {
        self.error(part.start, part.end - part.start, problem, help)
    }

    /// Parses a word as a whole number. Some writers add a decimal point or an exponent to every number.
    pub fn whole_number(&self, word: Part) -> Option<i64> {
        let bytes = &self.bytes[word.start..word.end];
        let (negative, digits) = match bytes {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] => (false, digits),
            digits => (false, digits),
        };
        if !digits.is_empty() && digits.len() <= 18 && digits.iter().all(u8::is_ascii_digit) {
            let value = digits.iter().fold(0, |value, digit| 10 * value + i64::from(digit - b'0'));
            return Some(if negative { -value } else { value });
        }
        let value = self.number(word)?;
        (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i64)
    }

    /// Parses a word as a finite number.
    pub fn number(&self, word: Part) -> Option<f64> {
        let text = std::str::from_utf8(&self.bytes[word.start..word.end]).ok()?;
        text.parse().ok().filter(|value: &f64| value.is_finite())
    }
}
