//! Decodes bytes in any known encoding to UTF-8 text.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::error::{Result, Text};
use super::parallel;

/// A text in UTF-8, without a byte-order mark.
pub struct Decoded<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// The original encoding, if it was not UTF-8.
    pub encoding: Option<&'static str>,
}

/// Returns the encoding indicated by the first bytes of a text, and the length of its byte-order mark; `None` for UTF-8 and
/// single-byte encodings.
fn shown(bytes: &[u8]) -> Option<(&'static Encoding, usize)> {
    match bytes {
        [0xff, 0xfe, ..] => Some((UTF_16LE, 2)),
        [0xfe, 0xff, ..] => Some((UTF_16BE, 2)),
        _ => without_mark(bytes).map(|encoding| (encoding, 0)),
    }
}

/// Detects UTF-16 without a byte-order mark: in plain text, every other byte is zero.
fn without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let begin = &bytes[..bytes.len().min(1000) & !1];
    let zeros = |offset: usize| begin.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let is_most = |count: usize| begin.len() >= 4 && 10 * count >= 9 * (begin.len() / 2);
    match (zeros(0), zeros(1)) {
        (0, odd) if is_most(odd) => Some(UTF_16LE),
        (even, 0) if is_most(even) => Some(UTF_16BE),
        _ => None,
    }
}

/// Returns the number of bytes per letter of plain text.
pub fn width(begin: &[u8]) -> u64 {
    if shown(begin).is_some() { 2 } else { 1 }
}

/// Decodes a whole file.
///
/// # Errors
/// If the bytes are not text in any known encoding.
pub fn decode<'a>(text: Text<'a>) -> Result<Decoded<'a>> {
    let bytes = text.bytes;
    if let Some((encoding, mark)) = shown(bytes) {
        let (decoded, has_errors) = encoding.decode_without_bom_handling(&bytes[mark..]);
        if has_errors {
            let problem = format!("the text is not valid {}", encoding.name());
            return Err(text.content(problem, "save it as UTF-8"));
        }
        return Ok(Decoded {
            bytes: Cow::Owned(decoded.into_owned().into_bytes()),
            encoding: Some(encoding.name()),
        });
    }
    if parallel::contains(bytes, 0)
        && let Some(at) = bytes.iter().position(|byte| *byte == 0)
    {
        return Err(text.content(
            format!("byte {} is zero, so this is not text", at + 1),
            "give a text file: CSV, TSPLIB or JSON",
        ));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if parallel::is_ascii(bytes) || std::str::from_utf8(bytes).is_ok() {
        return Ok(Decoded { bytes: Cow::Borrowed(bytes), encoding: None });
    }
    let decoded = WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned();
    Ok(Decoded { bytes: Cow::Owned(decoded.into_bytes()), encoding: Some("latin-1 (windows-1252)") })
}

/// Decodes the first bytes of a file, which may end within a character.
pub fn decode_begin(bytes: &[u8]) -> Cow<'_, [u8]> {
    match shown(bytes) {
        Some((encoding, mark)) => {
            Cow::Owned(encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned().into_bytes())
        }
        None => Cow::Borrowed(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> (String, Option<&'static str>) {
        let decoded = decode(Text { file: "f", bytes }).unwrap();
        (String::from_utf8(decoded.bytes.into_owned()).unwrap(), decoded.encoding)
    }

    #[test]
    fn encodings_are_told_from_the_bytes() {
        let utf16 = |mark: bool, order: fn(u16) -> [u8; 2]| {
            let mark = if mark { "\u{feff}" } else { "" };
            format!("{mark}näme,x\n1,2\n3,4\n").encode_utf16().flat_map(order).collect::<Vec<u8>>()
        };
        let text = "näme,x\n1,2\n3,4\n".to_owned();
        for mark in [true, false] {
            assert_eq!(decoded(&utf16(mark, u16::to_le_bytes)), (text.clone(), Some("UTF-16LE")));
            assert_eq!(decoded(&utf16(mark, u16::to_be_bytes)), (text.clone(), Some("UTF-16BE")));
        }
        assert_eq!(decoded("\u{feff}näme".as_bytes()), ("näme".to_owned(), None));
        assert_eq!(decoded(b"M\xfcnchen"), ("München".to_owned(), Some("latin-1 (windows-1252)")));
        assert!(decode(Text { file: "f", bytes: b"a\0b" }).is_err());
    }
}
