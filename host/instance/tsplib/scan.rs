//! A TSPLIB file as keywords, sections and numbers, before anything is known about their meaning.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use crate::instance::error::{InstanceError, Result, Text, lossy};

/// More than this unpacks from no honest file.
const UNPACKED_LIMIT: u64 = 1 << 33;

/// The bytes of a file, unpacked if it is gzip.
pub(crate) fn load(path: &Path) -> Result<Vec<u8>> {
    let failed = |cause| InstanceError::read(path, cause);
    let mut bytes = std::fs::read(path).map_err(failed)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        drop(bytes);
        let file = BufReader::new(File::open(path).map_err(failed)?);
        let mut unpacked = flate2::bufread::MultiGzDecoder::new(file).take(UNPACKED_LIMIT);
        bytes = Vec::new();
        unpacked.read_to_end(&mut bytes).map_err(failed)?;
        if unpacked.limit() == 0 {
            let problem = "the file unpacks to more than 8 GiB";
            return Err(InstanceError::content(path.to_string_lossy(), problem, "unpack it and look inside"));
        }
    }
    Ok(bytes)
}

/// A part of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Part {
    /// The part without blanks around it.
    fn trimmed(self, bytes: &[u8]) -> Part {
        let slice = &bytes[self.start..self.end];
        let leading = slice.len() - slice.trim_ascii_start().len();
        let length = slice.trim_ascii().len();
        Part { start: self.start + leading, end: self.start + leading + length }
    }
}

/// A keyword and what belongs to it: the rest of its line, or for a section all lines up to the next keyword.
#[derive(Debug)]
pub(crate) struct Entry {
    /// In capitals.
    pub(crate) keyword: String,
    pub(crate) keyword_part: Part,
    pub(crate) value: Part,
}

/// All entries of a file, in its order. Numbers never begin with a letter, keywords always do.
pub(crate) fn entries(text: Text<'_>) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut in_section = false;
    for line in lines(text.bytes, whole(text.bytes)) {
        let starts_with_letter =
            text.bytes[line.start..line.end].first().is_some_and(u8::is_ascii_alphabetic);
        if !starts_with_letter {
            match entries.last_mut() {
                Some(section) if in_section => section.value.end = line.end,
                _ if line.start == line.end => {}
                // A comment may go on over several lines.
                Some(entry) if entry.keyword == "COMMENT" => {}
                _ => return Err(no_keyword(text, line)),
            }
            continue;
        }
        let entry = match entry(text, line) {
            Err(_) if !in_section && entries.last().is_some_and(|entry| entry.keyword == "COMMENT") => {
                continue;
            }
            entry => entry?,
        };
        if entry.keyword == "EOF" {
            break;
        }
        in_section = entry.keyword.ends_with("_SECTION");
        entries.push(entry);
    }
    Ok(entries)
}

fn entry(text: Text<'_>, line: Part) -> Result<Entry> {
    let slice = &text.bytes[line.start..line.end];
    let length = slice.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_').unwrap_or(slice.len());
    let keyword = lossy(&slice[..length]).to_ascii_uppercase();
    let after = slice[length..].trim_ascii_start();
    let is_lone = keyword == "EOF" || keyword.ends_with("_SECTION");
    let value = match after.first() {
        Some(b':') => &after[1..],
        _ if is_lone => after,
        _ => return Err(no_keyword(text, line)),
    };
    let value = Part { start: line.end - value.len(), end: line.end };
    let value = if is_lone { value } else { value.trimmed(text.bytes) };
    Ok(Entry { keyword, keyword_part: Part { start: line.start, end: line.start + length }, value })
}

fn no_keyword(text: Text<'_>, line: Part) -> InstanceError {
    text.error(
        line.start,
        line.end - line.start,
        "this line is neither `KEYWORD : value` nor part of a section",
        "a TSPLIB file begins with lines such as `NAME : berlin52`; coordinates alone go into a .csv or .txt file",
    )
}

/// All of a text. A byte-order mark is no letter, so with it the first keyword would be missed.
pub(crate) fn whole(bytes: &[u8]) -> Part {
    Part { start: if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }, end: bytes.len() }
}

/// The lines of a part without the blanks around them; a lone carriage return ends a line too.
pub(crate) fn lines(bytes: &[u8], part: Part) -> impl Iterator<Item = Part> + '_ {
    let Part { mut start, end } = part;
    std::iter::from_fn(move || {
        if start >= end {
            return None;
        }
        let rest = &bytes[start..end];
        let length = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
        let line = Part { start, end: start + length }.trimmed(bytes);
        start += length + 1;
        Some(line)
    })
}

/// Words between blanks, one after the other.
pub(crate) struct Words<'a> {
    text: Text<'a>,
    at: usize,
    end: usize,
}

impl<'a> Words<'a> {
    pub(crate) fn new(text: Text<'a>, part: Part) -> Words<'a> {
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
    /// The text of a part.
    pub(crate) fn show(&self, part: Part) -> String {
        lossy(&self.bytes[part.start..part.end])
    }

    /// The part is wrong.
    pub(crate) fn error_at(
        &self,
        part: Part,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> InstanceError {
        self.error(part.start, part.end - part.start, problem, help)
    }

    /// The word as a whole number. Some writers add a decimal point or an exponent to every number.
    pub(crate) fn whole_number(&self, word: Part) -> Option<i64> {
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

    /// The word as a finite number.
    pub(crate) fn number(&self, word: Part) -> Option<f64> {
        let text = std::str::from_utf8(&self.bytes[word.start..word.end]).ok()?;
        text.parse().ok().filter(|value: &f64| value.is_finite())
    }
}
