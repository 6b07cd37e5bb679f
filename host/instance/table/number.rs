//! The spelling of numbers and of missing numbers.

use crate::error::printable;

/// How the numbers of a file are spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Spelling {
    /// `1234.5`
    #[default]
    Point,
    /// `1,234.5`
    Thousands,
    /// `1234,5`, or `1.234,5`
    Comma,
}

impl Spelling {
    /// Parses a finite number.
    pub(super) fn number(self, cell: &str) -> Option<f64> {
        let first = *cell.as_bytes().first()?;
        // `inf` and `nan` also parse, but are not numbers in a file.
        let is_number = first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.');
        let plain = || cell.parse().ok().filter(|value: &f64| value.is_finite());
        match (self, is_number) {
            (Spelling::Comma, _) if cell.contains(['.', ',']) => self.grouped(cell),
            (_, true) => plain().or_else(|| self.grouped(cell)),
            (_, false) => self.grouped(cell),
        }
    }

    /// Parses a number with groups of three digits, a decimal comma or a typographic minus.
    fn grouped(self, cell: &str) -> Option<f64> {
        let odd = |c: char| {
            matches!(c, ',' | '.' | ' ' | '\'' | '\u{2019}' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\u{2212}')
        };
        if cell.len() > 64 || !cell.contains(odd) {
            return None;
        }
        let (point, group) = if self == Spelling::Comma { (',', '.') } else { ('.', ',') };
        let cell = cell.replace('\u{2212}', "-");
        let (whole, rest) = match cell.split_once(point) {
            Some((whole, rest)) => (whole, format!(".{rest}")),
            None => (cell.as_str(), String::new()),
        };
        let is_group = |c: char| match c {
            '.' | ',' => self != Spelling::Point && c == group,
            c => odd(c),
        };
        let mut parts = whole.split(is_group);
        let first = parts.next()?;
        let digits = first.trim_start_matches(['+', '-']);
        let groups: Vec<&str> = parts.collect();
        let are_groups =
            groups.iter().all(|part| part.len() == 3 && part.bytes().all(|b| b.is_ascii_digit()));
        let is_grouped = are_groups && (1..=3).contains(&digits.len());
        if !groups.is_empty() && !is_grouped {
            return None;
        }
        let plain = format!("{first}{}{rest}", groups.concat());
        let is_number =
            plain.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'));
        plain.parse().ok().filter(|value: &f64| is_number && value.is_finite())
    }
}

/// Returns whether a cell stands for a missing number: `inf`, `null`, `NaN`, `-`, `N/A` or empty.
pub(super) fn is_none(cell: &str) -> bool {
    const WORDS: [&str; 22] = [
        "",
        "-",
        "--",
        "\u{2013}",
        "\u{2014}",
        "inf",
        "+inf",
        "infinity",
        "+infinity",
        "\u{221e}",
        "null",
        "nan",
        "na",
        "n/a",
        "#n/a",
        "none",
        "nil",
        "np.inf",
        "np.nan",
        "math.inf",
        "1.#inf",
        "<na>",
    ];
    cell.len() <= 9 && WORDS.iter().any(|word| word.eq_ignore_ascii_case(cell))
}

/// Returns the remedy for a text that is a number with something else: a unit, a time, a name, a degree sign.
pub(super) fn remedy(cell: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | '\u{2212}');
    let is_number = |text: &str| {
        !text.is_empty() && text.chars().all(is_part) && text.contains(|c: char| c.is_ascii_digit())
    };
    let cell = cell.trim();
    let has_sign = cell.contains(['\u{b0}', '\u{2032}']);
    let is_hemisphere = cell.ends_with(['N', 'S', 'E', 'W']) && cell.starts_with(is_part);
    if cell.matches('\u{b0}').count() == 2 && cell.contains([',', ';']) {
        return Some(
            "write latitude and longitude as decimal numbers in two columns: 48.137,11.575".to_owned(),
        );
    }
    if has_sign || is_hemisphere && cell.matches(char::is_alphabetic).count() == 1 {
        return Some("write decimal degrees, with a minus for south and west: 48.137".to_owned());
    }
    if cell.contains(':') && cell.split(':').all(is_number) {
        return Some("write times as numbers in a single unit, such as 90 minutes for 1:30".to_owned());
    }
    if let Some((name, number)) = cell.split_once(':').filter(|(_, number)| is_number(number.trim())) {
        let name = printable(name);
        return Some(format!(
            "separate the name from the numbers in the same way as the numbers: `{name},{}`",
            number.trim()
        ));
    }
    let real = cell.trim_matches(['(', ')']).strip_suffix(['i', 'j']).filter(|real| is_number(real));
    if real.is_some_and(|real| real.chars().skip(1).any(|c| matches!(c, '+' | '-'))) {
        return Some("write the parts of complex numbers as x and y in two columns".to_owned());
    }
    if let Some(negative) =
        cell.strip_prefix('(').and_then(|cell| cell.strip_suffix(')')).filter(|cell| is_number(cell))
    {
        return Some(format!("write negative numbers with a minus: -{negative}"));
    }
    let bare = cell.trim_matches(|c: char| !is_part(c));
    // `A1` is a name.
    let is_name = cell.split(bare).next().is_some_and(|front| front.contains(char::is_alphabetic));
    (is_number(bare) && bare.len() < cell.len() && !is_name)
        .then(|| format!("write all numbers in the same unit, and leave the unit out: {bare}"))
}

/// Returns whether a cell is a date such as 01.03.2024.
fn is_date(cell: &str) -> bool {
    let lengths: Vec<usize> = cell.split('.').map(str::len).collect();
    matches!(lengths[..], [1 | 2, 1 | 2, 2 | 4])
}

/// Evidence for a file's spelling from its cells with commas and points.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// `1.5`: a number whose point cannot separate thousands.
    point: Option<String>,
    /// `1.234`: a number whose point may separate thousands.
    open_point: Option<String>,
    /// `1,234.5` or `1,234,567`
    thousands: Option<String>,
    /// `1.234,5`, `1.234.567`, or `0,25`
    comma: Option<String>,
    /// `1,234`, which may be either.
    open: Option<String>,
}

impl Evidence {
    /// Adds a cell to the evidence.
    pub(super) fn see(&mut self, cell: &str) {
        let is_number =
            |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'-' | b'+' | b'e' | b'E' | b' ' | b'\'');
        let has_digit = cell.bytes().any(|b| b.is_ascii_digit());
        if !has_digit || !cell.bytes().all(is_number) || cell.len() > 40 || is_date(cell) {
            return;
        }
        let count = |sign: char| cell.matches(sign).count();
        let kind = match (count('.'), count(',')) {
            (0, 0) => return,
            (1, 0) if is_group(cell) => &mut self.open_point,
            (1, 0) => &mut self.point,
            (_, 0) => &mut self.comma,
            (0, 1) if is_decimal_comma(cell) => &mut self.comma,
            (0, 1) => &mut self.open,
            (0, _) => &mut self.thousands,
            _ if cell.rfind(',') > cell.rfind('.') => &mut self.comma,
            _ => &mut self.thousands,
        };
        kind.get_or_insert_with(|| cell.to_owned());
    }

    /// Returns whether any number contains a comma.
    pub(super) fn has_commas(&self) -> bool {
        self.thousands.is_some() || self.comma.is_some() || self.open.is_some()
    }

    /// Decides the spelling. `is_european` says that semicolons separate the columns, as in locales where the comma is the decimal
    /// separator. Fails if two cells contradict each other or a cell has two meanings.
    pub(super) fn spelling(self, is_european: bool) -> Result<Spelling, Doubt> {
        match (self.comma, self.thousands) {
            (Some(one), Some(other)) => Err(Doubt::Both(one, other)),
            // `1.5` next to `1,5`: one of them is not what it seems.
            (Some(one), None) => match self.point.or(self.open_point.filter(|_| !one.contains('.'))) {
                Some(point) => Err(Doubt::Both(one, point)),
                None => Ok(Spelling::Comma),
            },
            (None, Some(_)) => Ok(Spelling::Thousands),
            (None, None) => match (self.open, self.point, self.open_point) {
                (Some(one), Some(point), _) | (Some(one), None, Some(point)) => Err(Doubt::Both(one, point)),
                (Some(_), None, None) if is_european => Ok(Spelling::Comma),
                (Some(one), None, None) => Err(Doubt::Either(one)),
                (None, None, Some(one)) if is_european => Err(Doubt::Either(one)),
                (None, ..) => Ok(Spelling::Point),
            },
        }
    }
}

/// Why the spelling of a file's numbers is unknown.
#[derive(Debug, PartialEq)]
pub(super) enum Doubt {
    /// One cell has a decimal comma, the other a decimal point or commas as thousands separators.
    Both(String, String),
    /// This cell may have a thousands separator, or three decimals.
    Either(String),
}

/// Returns whether a cell's comma can only be a decimal separator.
fn is_decimal_comma(cell: &str) -> bool {
    let (whole, decimals) = cell.split_once(',').unwrap_or((cell, ""));
    let whole = whole.trim_start_matches(['-', '+']);
    decimals.len() != 3 || whole.is_empty() || whole.len() > 3 || whole.starts_with('0')
}

/// Returns whether a cell's point may separate thousands.
fn is_group(cell: &str) -> bool {
    !is_decimal_comma(&cell.replace('.', ","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_in_three_ways() {
        let all = [Spelling::Point, Spelling::Thousands, Spelling::Comma];
        let read = |cell: &str| all.map(|spelling| spelling.number(cell));
        let same = |value: f64| [Some(value); 3];
        assert_eq!(read("12"), same(12.0));
        assert_eq!(read("-1e3"), same(-1000.0));
        assert_eq!(read("\u{2212}7"), same(-7.0));
        assert_eq!(read("1 234 567"), same(1_234_567.0));
        assert_eq!(read("1'234.5"), [Some(1234.5), Some(1234.5), None]);
        assert_eq!(read("1.5"), [Some(1.5), Some(1.5), None]);
        assert_eq!(read("1,5"), [None, None, Some(1.5)]);
        assert_eq!(read("1.234"), [Some(1.234), Some(1.234), Some(1234.0)]);
        assert_eq!(read("1.234,5"), [None, None, Some(1234.5)]);
        assert_eq!(read("1,234.5"), [None, Some(1234.5), None]);
        for none in ["", "-", "inf", "NaN", "1,2,3", "12 34", "1.2.3", "x", "0x10", "1e999", "+", "."] {
            assert_eq!(read(none)[0], None, "{none:?}");
        }
        assert!(["inf", "NULL", "NaN", "-", "N/A", ""].into_iter().all(is_none));
        assert!(!["0", "x", "-1", "Nancy"].into_iter().any(is_none));
    }

    #[test]
    fn a_spelling_is_told_from_all_cells() {
        let spelling = |cells: &[&str], is_european| {
            let mut evidence = Evidence::default();
            cells.iter().for_each(|cell| evidence.see(cell));
            evidence.spelling(is_european)
        };
        assert_eq!(spelling(&["1", "x", "2.5"], true), Ok(Spelling::Point));
        assert_eq!(spelling(&["48,137", "0,5"], false), Ok(Spelling::Comma));
        assert_eq!(spelling(&["48,137"], true), Ok(Spelling::Comma));
        assert_eq!(spelling(&["48.137"], false), Ok(Spelling::Point));
        assert_eq!(spelling(&["48.137", "48.1371"], true), Ok(Spelling::Point));
        assert_eq!(spelling(&["48.137"], true), Err(Doubt::Either("48.137".to_owned())));
        assert_eq!(spelling(&["1.234,5", "1.234"], false), Ok(Spelling::Comma));
        assert_eq!(spelling(&["1,234.5", "1,234"], false), Ok(Spelling::Thousands));
        let doubt = |cells: &[&str]| spelling(cells, false).unwrap_err();
        assert_eq!(doubt(&["48,137"]), Doubt::Either("48,137".to_owned()));
        assert_eq!(doubt(&["48,13", "1.5"]), Doubt::Both("48,13".to_owned(), "1.5".to_owned()));
        assert_eq!(doubt(&["1.234,5", "1,234.5"]), Doubt::Both("1.234,5".to_owned(), "1,234.5".to_owned()));
    }
}
