//! The layout of delimited text: the separator of its columns, the spelling of its numbers, the start of its rows.

use std::ops::ControlFlow;

use crate::error::{Result, Text, printable};

use super::header;
use super::number::{Doubt, Evidence, Spelling};
use super::rows::{self, Separator};
use crate::read_options::DecimalSign;

/// Number of lines that are inspected.
const SAMPLE: usize = 1000;

/// The layout of a text; see the [module](self).
#[derive(Debug)]
pub(super) struct Dialect {
    pub(super) separator: Separator,
    pub(super) spelling: Spelling,
    /// Offset of the first row.
    pub(super) start: usize,
    /// The numbers in a line before the rows: the number of nodes, or of nodes and edges, that follow.
    pub(super) counts: Vec<usize>,
    /// The last comment before the rows, without its marker. numpy writes the column names there.
    pub(super) comment: Option<String>,
}

impl Dialect {
    /// Detects the dialect from the first lines of a text.
    ///
    /// # Errors
    /// If `1.234` can mean both 1234 and 1.234, and `decimal` does not say which.
    pub(super) fn of(text: Text<'_>, decimal: Option<DecimalSign>) -> Result<Dialect> {
        let mut lines = Vec::new();
        let (mut declared, mut comment, mut start) = (None, None, None);
        for (at, line) in physical(text) {
            let bare = line.trim();
            if bare.is_empty() || rows::is_decoration(bare) {
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
        let counts = counts(text, &lines);
        if !counts.is_empty() {
            lines.remove(0);
            start = lines[0].0;
        }
        let lines: Vec<&str> = lines.into_iter().map(|(_, line)| line).collect();
        refuse_two_commas(text, &lines)?;
        let separator = declared.map_or_else(|| separator(&lines), Separator::Sign);
        let mut dialect = Dialect { separator, spelling: Spelling::Point, start, counts, comment };
        dialect.spelling = dialect.find_spelling(text, decimal)?;
        Ok(dialect)
    }

    fn find_spelling(&self, text: Text<'_>, decimal: Option<DecimalSign>) -> Result<Spelling> {
        let mut evidence = Evidence::default();
        let mut seen = 0;
        let mut has_degrees = false;
        rows::for_each(text, self.start, self.separator, |row| {
            has_degrees |= seen == 0 && header::are_degrees(text, row.cells);
            row.cells.iter().filter(|cell| cell.contains([',', '.'])).for_each(|cell| evidence.see(cell));
            seen += 1;
            Ok(if seen < SAMPLE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        match decimal {
            Some(DecimalSign::Comma) => return Ok(Spelling::Comma),
            Some(DecimalSign::Point) if evidence.has_commas() => return Ok(Spelling::Thousands),
            Some(DecimalSign::Point) => return Ok(Spelling::Point),
            None => {}
        }
        let is_european = matches!(self.separator, Separator::Sign(b';'));
        let help = "choose the decimal separator with `--decimal point` or `--decimal comma`; the other one then separates thousands";
        match evidence.spelling(is_european) {
            Ok(spelling) => Ok(spelling),
            // Latitudes and longitudes have no thousands.
            Err(Doubt::Either(one)) if has_degrees => {
                Ok(if one.contains(',') { Spelling::Comma } else { Spelling::Point })
            }
            Err(Doubt::Either(one)) => {
                let (whole, rest) = one.split_once([',', '.']).unwrap_or((&one, ""));
                Err(text.content(format!("`{one}` may be {whole}.{rest} or {whole}{rest}"), help))
            }
            Err(Doubt::Both(one, other)) => {
                let problem = format!("`{one}` and `{other}` do not have the same decimal separator");
                Err(text.content(problem, "write all numbers with the same decimal separator"))
            }
        }
    }
}

/// Rejects lines such as `48,137, 11,575`, in which commas are decimal separators and also separate columns.
fn refuse_two_commas(text: Text<'_>, lines: &[&str]) -> Result<()> {
    let is_decimal = |cell: &str| cell.matches(',').count() == 1 && Spelling::Comma.number(cell).is_some();
    let parts = |line: &str| line.split(", ").map(str::trim).map(str::to_owned).collect::<Vec<_>>();
    let is_such = |line: &&str| {
        let parts = parts(line);
        let decimals = parts.iter().filter(|part| is_decimal(part)).count();
        // A name or a number may come first.
        decimals > 1
            && decimals + 1 >= parts.len()
            && parts[parts.len() - decimals..].iter().all(|part| is_decimal(part))
    };
    let rows = lines.get(1..).filter(|rows| !rows.is_empty());
    match rows.filter(|rows| rows.iter().all(is_such)) {
        None => Ok(()),
        Some(rows) => {
            let problem = format!(
                "in `{}` a comma may be a decimal separator, or may separate columns",
                printable(rows[0].trim())
            );
            Err(text.content(
                problem,
                "separate the columns by semicolons or tabs, or write decimals with a point",
            ))
        }
    }
}

/// Iterates over the lines of a text, untrimmed, each with its offset.
fn physical<'a>(text: Text<'a>) -> impl Iterator<Item = (usize, &'a str)> {
    let all = std::str::from_utf8(text.bytes).unwrap_or_default();
    let mut at = 0;
    all.split(['\n', '\r']).map(move |line| {
        let start = at;
        at += line.len() + 1;
        (start, line)
    })
}

/// Returns whether a trimmed line holds data.
fn is_row(line: &str) -> bool {
    !line.is_empty() && comment_of(line).is_none() && !rows::is_decoration(line)
}

/// Returns the text of a comment line.
fn comment_of(line: &str) -> Option<&str> {
    ["#", "%", "//"].into_iter().find_map(|sign| line.strip_prefix(sign))
}

/// Returns the separator declared by a line such as `sep=;`, which spreadsheets write.
fn declaration(line: &str) -> Option<u8> {
    let line = line.trim_matches('"');
    let sign = line.get(..4).filter(|key| key.eq_ignore_ascii_case("sep=")).map(|_| &line[4..])?;
    match sign.as_bytes() {
        [sign] => Some(*sign),
        [] | b"\\t" => Some(b'\t'),
        _ => None,
    }
}

/// Returns the numbers in the first line if they give the number of lines that follow: the number of places, the size of a matrix,
/// or the numbers of nodes and edges.
fn counts(text: Text<'_>, lines: &[(usize, &str)]) -> Vec<usize> {
    let [(_, first), (_, second), ..] = lines else { return Vec::new() };
    let parts = |line: &str| {
        let line = line.trim().trim_end_matches([',', ';', '\t', ' ']).to_owned();
        line.split([',', ';', '\t', ' '])
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let follow = || {
        physical(text).skip_while(|(at, _)| *at < lines[1].0).filter(|(_, line)| is_row(line.trim())).count()
    };
    let lengths: Vec<usize> = lines.iter().take(3).map(|(_, line)| parts(line).len()).collect();
    if lengths == [1, 2, 3] {
        // The first rows of a triangle.
        return Vec::new();
    }
    let numbers: Option<Vec<usize>> = parts(first).iter().map(|part| part.parse().ok()).collect();
    match (numbers, parts(second).len()) {
        (Some(numbers), others) if numbers.len() == 1 && numbers[0] > 0 && others > 1 => numbers,
        (Some(numbers), 3) if numbers.len() == 2 && numbers[1] == follow() => numbers,
        (Some(numbers), others) if others > 2 && numbers == [others, others] && others == follow() => numbers,
        _ => Vec::new(),
    }
}

/// Counts the cells of a line without trailing empty ones. A separator inside quotes does not count.
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

/// Returns whether tabs separate cells that may be empty: all lines have equally many tabs, and every column has a value somewhere.
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
    // R prints a matrix with row and column numbers: `[1,]`, `[,1]`.
    let is_printed_by_r = lines.first().is_some_and(|line| line.trim_start().starts_with("[,1]"));
    if lines.is_empty() || is_printed_by_r || has_decimal_commas_between_blanks(lines) {
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

/// Returns whether blanks separate the columns and commas are decimal separators: `0,5 3,5`.
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
