//! How a delimited text is laid out: what separates its columns, how its numbers are spelled, where its rows begin.

use std::ops::ControlFlow;

use crate::instance::error::{Result, Text};

use super::number::{Doubt, Evidence, Spelling};
use super::rows::{self, Separator};

/// Lines that are looked at.
const SAMPLE: usize = 1000;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Dialect {
    pub(super) separator: Separator,
    pub(super) spelling: Spelling,
    /// Where the rows begin.
    pub(super) start: usize,
    /// The numbers of a line in front of the rows: how many nodes, or nodes and edges, there are.
    pub(super) counts: Vec<usize>,
    /// The last comment in front of the rows, without its sign: numpy writes the names of columns there.
    pub(super) comment: Option<String>,
}

impl Dialect {
    /// Looks at the first lines of a text.
    pub(super) fn of(text: Text<'_>) -> Result<Dialect> {
        let mut lines = Vec::new();
        let (mut declared, mut comment, mut start) = (None, None, None);
        for (at, line) in physical(text) {
            let bare = line.trim();
            if bare.is_empty() {
                continue;
            }
            if let Some(said) = comment_of(bare) {
                comment = if lines.is_empty() { Some(said.to_owned()) } else { comment };
                continue;
            }
            if lines.is_empty() && declared.is_none() {
                declared = declaration(bare);
                if declared.is_some() {
                    continue;
                }
            }
            start = start.or(Some(at));
            lines.push((at, line));
            if lines.len() > SAMPLE {
                break;
            }
        }
        let mut start = start.unwrap_or(text.bytes.len());
        let counts = counts(&lines);
        if !counts.is_empty() {
            lines.remove(0);
            start = lines[0].0;
        }
        let lines: Vec<&str> = lines.into_iter().map(|(_, line)| line).collect();
        let separator = declared.map_or_else(|| separator(&lines), Separator::Sign);
        let mut dialect = Dialect { separator, spelling: Spelling::Point, start, counts, comment };
        dialect.spelling = dialect.find_spelling(text)?;
        Ok(dialect)
    }

    fn find_spelling(&self, text: Text<'_>) -> Result<Spelling> {
        let mut evidence = Evidence::default();
        let mut seen = 0;
        rows::for_each(text, self.start, self.separator, |row| {
            row.cells.iter().filter(|cell| cell.contains([',', '.'])).for_each(|cell| evidence.see(cell));
            seen += 1;
            Ok(if seen < SAMPLE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        let is_european = matches!(self.separator, Separator::Sign(b';'));
        evidence.spelling(is_european).map_err(|doubt| {
            let problem = match doubt {
                Doubt::Both(one, other) => {
                    format!("`{one}` and `{other}` do not have the same decimal sign")
                }
                Doubt::Either(one) => {
                    let (whole, rest) = one.split_once(',').unwrap_or((&one, ""));
                    format!("`{one}` may be {whole}.{rest} or {whole}{rest}")
                }
            };
            text.content(problem, "write decimals with a point and nothing between thousands: 1234.5")
        })
    }
}

/// The lines of a text, with the blanks around them, and where they begin.
fn physical<'a>(text: Text<'a>) -> impl Iterator<Item = (usize, &'a str)> {
    let all = std::str::from_utf8(text.bytes).unwrap_or_default();
    let mut at = 0;
    all.split(['\n', '\r']).map(move |line| {
        let start = at;
        at += line.len() + 1;
        (start, line)
    })
}

/// What a comment says.
fn comment_of(line: &str) -> Option<&str> {
    ["#", "%", "//"].into_iter().find_map(|sign| line.strip_prefix(sign))
}

/// The separator that a line such as `sep=;` declares, as spreadsheets write it.
fn declaration(line: &str) -> Option<u8> {
    let line = line.trim_matches('"');
    let sign = line.get(..4).filter(|key| key.eq_ignore_ascii_case("sep=")).map(|_| &line[4..])?;
    match sign.as_bytes() {
        [sign] => Some(*sign),
        [] | b"\\t" => Some(b'\t'),
        _ => None,
    }
}

/// The numbers of the first line, if it says how many lines follow.
fn counts(lines: &[(usize, &str)]) -> Vec<usize> {
    let [(_, first), (_, second), ..] = lines else { return Vec::new() };
    let parts = |line: &str| {
        let line = line.trim().trim_end_matches([',', ';', '\t', ' ']).to_owned();
        line.split([',', ';', '\t', ' '])
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let numbers: Option<Vec<usize>> = parts(first).iter().map(|part| part.parse().ok()).collect();
    match (numbers, parts(second).len()) {
        // A zero is the first row of a triangle.
        (Some(numbers), others) if numbers.len() == 1 && numbers[0] > 0 && others > 1 => numbers,
        (Some(numbers), 3) if numbers.len() == 2 && numbers[1] + 1 == lines.len() => numbers,
        _ => Vec::new(),
    }
}

/// Cells of a line, without empty ones at its end; a sign in quotes separates nothing.
fn cells(line: &str, sign: u8) -> usize {
    let line = line.trim_end_matches([sign as char, ' ']);
    let mut is_quoted = false;
    let signs = line.bytes().filter(|&byte| {
        is_quoted ^= byte == b'"';
        byte == sign && !is_quoted
    });
    1 + signs.count()
}

fn spaced(line: &str) -> usize {
    let mut cells = Vec::new();
    let _ = rows::words(line, &mut cells);
    cells.len()
}

/// Whether tabs separate cells, some of them empty: all lines have as many tabs, and no column is empty in all of them.
fn is_tabbed(lines: &[&str]) -> bool {
    let rows: Vec<Vec<&str>> = lines.iter().map(|line| line.split('\t').collect()).collect();
    let width = rows.first().map_or(0, Vec::len);
    let has_column = |column: usize| rows.iter().any(|row| !row[column].trim().is_empty());
    let has_words = rows.iter().flatten().any(|cell| cell.trim().contains(' '));
    width > 1 && !has_words && rows.iter().all(|row| row.len() == width) && (0..width).all(has_column)
}

fn separator(lines: &[&str]) -> Separator {
    const SIGNS: [u8; 4] = [b'\t', b';', b'|', b','];
    if is_tabbed(lines) {
        return Separator::Sign(b'\t');
    }
    if lines.is_empty() || has_decimal_commas_between_blanks(lines) {
        return Separator::Blanks;
    }
    let has = |sign: u8| lines.iter().filter(|line| line.as_bytes().contains(&sign)).count();
    let is_uniform = |sign: u8| {
        lines.iter().all(|line| cells(line, sign) == cells(lines[0], sign) && cells(line, sign) > 1)
    };
    if let Some(sign) = SIGNS.into_iter().find(|&sign| is_uniform(sign)) {
        return Separator::Sign(sign);
    }
    if has(b',') < lines.len()
        && spaced(lines[0]) > 1
        && lines.iter().all(|line| spaced(line) == spaced(lines[0]))
    {
        return Separator::Blanks;
    }
    let all = SIGNS.into_iter().find(|&sign| has(sign) == lines.len());
    match all.or_else(|| SIGNS.into_iter().find(|&sign| 2 * has(sign) > lines.len())) {
        Some(sign) => Separator::Sign(sign),
        None => Separator::Blanks,
    }
}

/// Whether columns are separated by blanks, and commas are decimal ones: `0,5 3,5`.
fn has_decimal_commas_between_blanks(lines: &[&str]) -> bool {
    let is_plain = |word: &str| !word.starts_with(',') && !word.ends_with(',') && !word.contains(";");
    let is_decimal = |word: &str| {
        word.contains(',') && Spelling::Comma.number(word).is_some() && word.matches(',').count() == 1
    };
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let width = lines.first().map_or(0, |line| words(line).len());
    let mut any = false;
    width > 1
        && lines.iter().all(|line| {
            let words = words(line);
            any |= words.iter().any(|word| is_decimal(word));
            words.len() == width
                && words.iter().all(|word| is_plain(word) && (!word.contains(',') || is_decimal(word)))
        })
        && any
}
