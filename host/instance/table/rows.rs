//! The rows of delimited text.

use std::ops::{ControlFlow, Range};

use crate::error::{Result, Text};
use crate::parallel;

/// The separator between two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// One character.
    Sign(u8),
    /// A run of blanks.
    Blanks,
}

/// The cells of a row, and the row's offset in the text.
pub(super) struct Row<'a> {
    pub(super) start: usize,
    pub(super) cells: &'a [&'a str],
}

/// Calls `each` with every row from offset `start` on. Comments and empty lines are skipped.
pub(super) fn for_each(
    text: Text<'_>,
    start: usize,
    separator: Separator,
    mut each: impl FnMut(Row<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    match separator {
        Separator::Sign(sign) => separated(text, start, sign, &mut each),
        Separator::Blanks => spaced(text, start, &mut each),
    }
}

/// Returns whether a text has any character that comments start with.
pub(super) fn may_have_comments(bytes: &[u8]) -> bool {
    [b'#', b'%', b'/'].into_iter().any(|sign| parallel::contains(bytes, sign))
}

/// Counts the comment lines after the first row, at offset `start`.
pub(super) fn comments(text: Text<'_>, start: usize) -> usize {
    if !may_have_comments(text.bytes) {
        return 0;
    }
    // `start` is the start of a line, and the text is UTF-8.
    let lines = std::str::from_utf8(&text.bytes[start..]).unwrap_or_default().split(['\n', '\r']);
    lines.filter(|line| is_comment(line.trim_start())).count()
}

fn is_comment(cell: &str) -> bool {
    cell.starts_with('#') || cell.starts_with('%') || cell.starts_with("//")
}

/// Returns whether a line is one that programs draw around a table, such as `---+---`, or write below it, such as `(3 rows)`.
pub(super) fn is_decoration(line: &str) -> bool {
    let line = line.trim();
    let is_rule = || {
        line.bytes().all(|b| matches!(b, b'-' | b'=' | b'+' | b'|' | b':' | b' ' | b'\t'))
            && (line.contains("---") || line.contains("==="))
    };
    let bare = line.trim_start_matches('(');
    let is_count = || {
        let rest = bare.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < bare.len()
            && matches!(rest.split_whitespace().next(), Some("rows" | "row" | "rows)" | "row)"))
    };
    // `3×3 Matrix{Int64}:`
    let is_type =
        || line.ends_with("}:") && line.contains('\u{d7}') && line.starts_with(|c: char| c.is_ascii_digit());
    match line.as_bytes().first() {
        Some(b'-' | b'=' | b'+' | b'|' | b':') => is_rule(),
        Some(b'(' | b'0'..=b'9') => is_count() || is_type(),
        _ => false,
    }
}

fn separated(
    text: Text<'_>,
    start: usize,
    sign: u8,
    each: &mut dyn FnMut(Row<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(sign)
        .comment(Some(b'#'))
        .from_reader(&text.bytes[start..]);
    let mut record = csv::ByteRecord::new();
    let mut width = 0;
    loop {
        let from = reader.position().byte() as usize + start;
        let is_any = reader.read_byte_record(&mut record).map_err(|error| {
            text.content(
                format!("the rows cannot be separated: {error}"),
                "use the same separator in all lines",
            )
        })?;
        if !is_any {
            return Ok(());
        }
        let to = (reader.position().byte() as usize + start).min(text.bytes.len());
        let raw = &text.bytes[from..to];
        let from = from + skipped(raw);
        let raw = &text.bytes[from..to];
        check_quotes(text, from, raw, sign, width)?;
        // The text is UTF-8, and is split at ASCII characters only.
        let cells: Vec<&str> =
            record.iter().map(|cell| std::str::from_utf8(cell).unwrap_or_default().trim()).collect();
        let is_markdown_rule =
            sign == b'|' && cells.iter().all(|cell| cell.bytes().all(|b| matches!(b, b'-' | b':')));
        let is_drawn = std::str::from_utf8(raw).is_ok_and(is_decoration);
        let is_quoted = raw.trim_ascii_start().starts_with(b"\"");
        if cells.iter().all(|cell| cell.is_empty())
            || is_comment(cells[0]) && !is_quoted
            || is_markdown_rule
            || is_drawn
        {
            continue;
        }
        width = width.max(cells.len());
        // A row of a Markdown table starts with its separator.
        let is_framed = sign == b'|' && cells[0].is_empty() && raw.trim_ascii_start().starts_with(b"|");
        let cells = if is_framed { &cells[1..] } else { &cells[..] };
        if each(Row { start: from, cells })?.is_break() {
            return Ok(());
        }
    }
}

/// Counts the bytes of empty lines and comments before a record.
fn skipped(raw: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += raw[at..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        if raw.get(at) != Some(&b'#') {
            return at;
        }
        at += raw[at..].iter().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count();
    }
}

/// Rejects a quoted text that spans lines which look like separate rows. `width` is that of the rows before.
fn check_quotes(text: Text<'_>, from: usize, raw: &[u8], sign: u8, width: usize) -> Result<()> {
    if !raw.contains(&b'"') {
        return Ok(());
    }
    let line = raw.trim_ascii_end();
    let first = line.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    let open = open_quote(&line[..first.unwrap_or(line.len())], sign);
    let (Some(open), help) = (open, "close it; a quote inside a quoted text must be doubled") else {
        return Ok(());
    };
    let is_closed = open_quote(line, sign).is_none();
    let is_row = first.is_some_and(|end| width > 1 && fields(&line[..end], sign) >= width);
    if is_closed && !is_row {
        return Ok(());
    }
    Err(text.error(from + open, line.len() - open, "this quote is not closed on its line", help))
}

/// Returns the offset of a quote that is still open at the end of `line`. A closing quote must be followed by a separator.
fn open_quote(line: &[u8], sign: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        if line.get(at) == Some(&b'"') {
            let open = at;
            at += 1;
            loop {
                let Some(end) = line[at..].iter().position(|&byte| byte == b'"') else { return Some(open) };
                at += end + 1;
                match line.get(at) {
                    Some(b'"') => at += 1,
                    None => return None,
                    Some(byte) if *byte == sign || matches!(byte, b'\n' | b'\r') => break,
                    Some(b' ') if line[at..].trim_ascii_start().first().is_none_or(|b| *b == sign) => break,
                    Some(_) => return Some(open),
                }
            }
        }
        at += line[at..].iter().position(|&byte| byte == sign || matches!(byte, b'\n' | b'\r'))? + 1;
    }
}

fn fields(line: &[u8], sign: u8) -> usize {
    1 + line.iter().filter(|&&byte| byte == sign).count()
}

fn spaced(
    text: Text<'_>,
    start: usize,
    each: &mut dyn FnMut(Row<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    // The text is UTF-8, and `start` is the start of a line.
    let all = std::str::from_utf8(&text.bytes[start..]).unwrap_or_default();
    let mut cells = Vec::new();
    let mut at = start;
    for line in all.split(['\n', '\r']) {
        cells.clear();
        if !is_comment(line.trim_start()) && !is_decoration(line) {
            words(line, &mut cells).map_err(|open| {
                let help = "close it; a quote inside a quoted text must be doubled";
                text.error(at + open, line.len() - open, "this quote is not closed on its line", help)
            })?;
        }
        if !cells.is_empty() && each(Row { start: at, cells: &cells })?.is_break() {
            return Ok(());
        }
        at += line.len() + 1;
    }
    Ok(())
}

/// Splits a line at blanks outside of quotes. Fails with the offset of a quote that is not closed.
pub(super) fn words<'a>(line: &'a str, cells: &mut Vec<&'a str>) -> std::result::Result<(), usize> {
    if !line.contains('"') {
        cells.extend(line.split_whitespace());
        return Ok(());
    }
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let at = line.len() - rest.len();
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').ok_or(at)?;
            cells.push(quoted[..end].trim());
            rest = quoted[end + 1..].trim_start();
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            cells.push(&rest[..end]);
            rest = rest[end..].trim_start();
        }
    }
    Ok(())
}

/// Returns the offset and length of cell `column` in the row at offset `start`: of its text, or where that is missing. If the row has no
/// such cell, it is the whole row.
pub(super) fn place(text: Text<'_>, start: usize, separator: Separator, column: usize) -> (usize, usize) {
    let rest = &text.bytes[start..];
    let line = &rest[..rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len())];
    let whole = (start, line.trim_ascii_end().len());
    let found = match separator {
        Separator::Sign(sign) => {
            let is_framed = sign == b'|' && line.trim_ascii_start().starts_with(b"|");
            cells(rest, sign).nth(column + usize::from(is_framed))
        }
        Separator::Blanks => {
            let text = std::str::from_utf8(line).unwrap_or_default();
            let mut cells = Vec::new();
            let _ = words(text, &mut cells);
            cells.get(column).map(|cell| {
                let begin = cell.as_ptr() as usize - text.as_ptr() as usize;
                begin..begin + cell.len()
            })
        }
    };
    let Some(found) = found else { return whole };
    let cell = &rest[found.clone()];
    match cell.trim_ascii().len() {
        0 => (start + found.start, cell.len()),
        length => (start + found.start + cell.len() - cell.trim_ascii_start().len(), length),
    }
}

/// Returns the ranges of the cells in the first row of a text. A quoted cell may extend over several lines.
fn cells(text: &[u8], sign: u8) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let mut end = start;
        if text.get(start) == Some(&b'"') {
            end += 1;
            // A doubled quote is a part of the text.
            while let Some(quote) = text[end..].iter().position(|&byte| byte == b'"') {
                end += quote + 1;
                if text.get(end) != Some(&b'"') {
                    break;
                }
                end += 1;
            }
        }
        let is_end = |byte: &u8| *byte == sign || matches!(byte, b'\n' | b'\r');
        end = text[end..].iter().position(is_end).map_or(text.len(), |length| end + length);
        next = (text.get(end) == Some(&sign)).then_some(end + 1);
        Some(start..end)
    })
}
