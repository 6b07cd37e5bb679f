//! Rows in brackets, as in arrays of Python, numpy and JSON: `[[0, 1], [2, 3]]`, `[(0, 1), (2, 3)]`, `[[0. 1.]\n [2. 3.]]`.

use std::ops::ControlFlow;

use super::literal;
use crate::error::{InstanceError, Result, Text};

/// A cell: its offset and length in the text, and whether it was quoted.
pub(super) type Found = (usize, usize, bool);

const HELP: &str = "write an array for each row: [[1, 2], [3, 4]]";

/// Calls `each` with the cells of every innermost pair of brackets.
pub(super) fn for_each(
    text: Text<'_>,
    mut each: impl FnMut(&[Found]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let bytes = text.bytes;
    let mut at = begin(bytes);
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut cells: Vec<Found> = Vec::new();
    // The name before an inner array, as in `{"A": (1, 2)}`.
    let mut key: Option<Found> = None;
    let mut rows = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            _ if byte.is_ascii_whitespace() || matches!(byte, b',' | b';') => at += 1,
            b':' if cells.len() == 1 => {
                key = cells.pop();
                at += 1;
            }
            _ if is_open(byte) => {
                if let Some(&(start, length, _)) = cells.first() {
                    return Err(text.error(start, length, "this is next to an inner array", HELP));
                }
                if let Some(outer) = open.last_mut() {
                    outer.1 = true;
                }
                open.push((at, false));
                if open.len() > 3 {
                    return Err(text.error(at, 1, "arrays are nested deeper than the rows of a table", HELP));
                }
                at += 1;
            }
            _ if is_close(byte) => {
                let Some((start, has_inner)) = open.pop() else {
                    // The bracket of `array(`, and numpy's type.
                    return after(text, at);
                };
                if closing(bytes[start]) != byte {
                    return Err(text.error(at, 1, "this closes a bracket of another kind", HELP));
                }
                if !has_inner && !cells.is_empty() {
                    rows += 1;
                    cells.splice(..0, key.take());
                    if each(&cells)?.is_break() {
                        return Ok(());
                    }
                    cells.clear();
                }
                at += 1;
            }
            // Text after the last bracket: `, dtype=float64)`.
            _ if open.is_empty() => return after(text, at),
            _ => {
                let cell = cell(text, at)?;
                at = cell.0 + cell.1 + usize::from(cell.2);
                if &bytes[cell.0..cell.0 + cell.1] == b"..." {
                    let problem = "only a part of the array was printed";
                    let help = "write all of it: use numpy.savetxt, or numpy.set_printoptions(threshold=sys.maxsize)";
                    return Err(text.error(cell.0, 3, problem, help));
                }
                match cell {
                    // A number used as a name.
                    (start, length, false) if length > 1 && bytes[at - 1] == b':' && cells.is_empty() => {
                        key = Some((start, length - 1, false));
                    }
                    cell => cells.push(cell),
                }
            }
        }
    }
    match open.last() {
        Some(&(start, _)) => Err(text.error(start, 1, "this bracket is not closed", HELP)),
        None if rows == 0 => Err(text.content("the array is empty", HELP)),
        None => Ok(()),
    }
}

/// Returns the offset of the first bracket of an array, after an assignment such as `int d[3][3] =`.
fn begin(bytes: &[u8]) -> usize {
    let open = |from: usize| bytes[from..].iter().position(|byte| is_open(*byte)).map(|at| from + at);
    let first = open(0).unwrap_or(bytes.len());
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let assigned = bytes[..line].iter().position(|byte| *byte == b'=');
    // A `[` before the equals sign belongs to the name.
    match assigned.filter(|&sign| sign > first && bytes[first] == b'[') {
        Some(sign) => open(sign).unwrap_or(first),
        None => first,
    }
}

fn is_open(byte: u8) -> bool {
    matches!(byte, b'[' | b'(' | b'{')
}

fn is_close(byte: u8) -> bool {
    matches!(byte, b']' | b')' | b'}')
}

fn closing(open: u8) -> u8 {
    match open {
        b'[' => b']',
        b'(' => b')',
        _ => b'}',
    }
}

/// Rejects another array, or numbers, after the array.
fn after(text: Text<'_>, at: usize) -> Result<()> {
    let rest = &text.bytes[at..];
    let is_known =
        rest.iter().all(|byte| is_close(*byte) || byte.is_ascii_whitespace() || matches!(byte, b';' | b','));
    if is_known || rest.trim_ascii_start().starts_with(b"dtype") || rest.trim_ascii_start().starts_with(b")")
    {
        return Ok(());
    }
    Err(text.error(at, rest.len(), "the file continues after its array", "put each array in its own file"))
}

/// Returns the cell that starts at `at`, without its quotes.
fn cell(text: Text<'_>, at: usize) -> Result<Found> {
    let bytes = text.bytes;
    if matches!(bytes[at], b'"' | b'\'') {
        let mut end = at + 1;
        while end < bytes.len() && bytes[end] != bytes[at] {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        if end >= bytes.len() {
            return Err(unclosed(text, at));
        }
        return Ok((at + 1, end - at - 1, true));
    }
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';') || is_close(*byte);
    let mut length = 0;
    while let Some(byte) = bytes.get(at + length).filter(|byte| !is_end(byte)) {
        // `float('inf')`, `np.float64(1.5)`
        if *byte == b'(' {
            let close = bytes[at + length..]
                .iter()
                .position(|byte| *byte == b')')
                .ok_or_else(|| unclosed(text, at + length))?;
            length += close + 1;
        } else if is_open(*byte) {
            return Err(text.error(at, length, "this is next to an inner array", HELP));
        } else {
            length += 1;
        }
    }
    Ok((at, length, false))
}

/// Resolves the escapes of JSON and Python in a quoted text. Returns `None` if it has none.
pub(super) fn unescaped(quoted: &str) -> Option<String> {
    let mut chars = quoted.contains('\\').then(|| quoted.chars())?;
    let mut text = String::with_capacity(quoted.len());
    // JSON writes a character beyond 16 bits as a pair of numbers.
    let mut pair: Vec<u16> = Vec::new();
    while let Some(c) = chars.next() {
        let digits = match (c, chars.as_str().chars().next()) {
            ('\\', Some('x')) => 2,
            ('\\', Some('u')) => 4,
            ('\\', Some('U')) => 8,
            _ => 0,
        };
        let code = chars.as_str().get(1..=digits).and_then(|code| u32::from_str_radix(code, 16).ok());
        if let Some(code) = code.filter(|_| digits > 0) {
            chars = chars.as_str()[1 + digits..].chars();
            if let Ok(half) = u16::try_from(code)
                && (0xd800..0xe000).contains(&half)
            {
                pair.push(half);
                if pair.len() == 2 {
                    text.extend(
                        char::decode_utf16(pair.drain(..)).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)),
                    );
                }
                continue;
            }
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            continue;
        }
        text.push(match c {
            '\\' => match chars.next() {
                Some('n' | 'r' | 't' | 'b' | 'f') => ' ',
                Some(other) => other,
                None => '\\',
            },
            c => c,
        });
    }
    Some(text)
}

fn unclosed(text: Text<'_>, at: usize) -> InstanceError {
    text.error(at, text.bytes.len() - at, "this quote or bracket is not closed", "close it")
}

/// Strips Python calls around a number, such as `float(...)`.
pub(super) fn bare(cell: &str) -> &str {
    let inner =
        ["float(", "np.float64(", "np.int64(", "int("].into_iter().find_map(|call| cell.strip_prefix(call));
    inner.and_then(|inner| inner.strip_suffix(')')).map_or(cell, |inner| inner.trim_matches(['"', '\'']))
}

/// Returns whether a text is an array, with or without an assignment in front of it: `d = np.array([[0, 1], ...`.
pub fn is_array(begin: &str) -> bool {
    // R prints row and column numbers in brackets.
    if literal::is_matrix(begin) || begin.trim_start().starts_with("[,1]") {
        return false;
    }
    let first =
        begin.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or("");
    if first.starts_with(['[', '(']) {
        return true;
    }
    let compact: String = begin.chars().take(200).filter(|c| !c.is_whitespace()).collect();
    let is_named = compact.split_once(['[', '(', '{']).is_some_and(|(name, _)| {
        name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '=' | ':' | '+'))
    });
    let opens = ["[[", "([", "[(", "{{", "((", "\":(", "\":[", "':(", "':["];
    is_named && opens.iter().any(|open| compact.contains(open))
}
