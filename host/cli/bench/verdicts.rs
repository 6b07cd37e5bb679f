//! The published figures of a table beside ours. A comment above a published table says which of our rows its figures are compared
//! with, in the options of [`Comparison`].

use std::collections::HashSet;
use std::ffi::OsString;

use super::super::{Result, parse_line};
use super::pivot::{Cell, Label, Where};
use super::rows::Row;
use super::table::render;
use crate::instance::counted;
use crate::report::statistics::{deviation, mean};

/// A figure is level with the published one if they differ by less than this share of it.
const LEVEL: f64 = 0.05;
/// Whether a mean is ahead or behind is undecided if it differs by less than this many of its standard errors.
const STANDARD_ERRORS: f64 = 2.0;

/// What the figures of a published table are compared with.
#[derive(Debug, clap::Args)]
struct Comparison {
    /// Only our rows with these values
    #[arg(long = "where", value_name = "COLUMN=LIST")]
    filters: Vec<Where>,
    /// The columns or settings of our rows that the first columns of the published table have
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    rows: Vec<String>,
    /// The column or setting whose values are the headings of the other columns
    #[arg(long, value_name = "COLUMN")]
    columns: Option<String>,
    /// Compare only the columns with this heading
    #[arg(long, value_name = "TEXT")]
    heading: Vec<String>,
    /// Compare only the lines with this first cell
    #[arg(long, value_name = "TEXT")]
    line: Vec<String>,
    /// What is compared, as in bench table
    #[arg(long)]
    cell: Cell,
    /// The text that the published table has for a value
    #[arg(long, value_name = "VALUE=TEXT")]
    label: Vec<Label>,
    /// The first column of the published table has only the part of our value that stands for {} here
    #[arg(long, value_name = "PATTERN")]
    named: Option<String>,
    /// What our figure is multiplied by, to have the unit of the published one
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// The figure is the mean over the values of this column of what is in a cell
    #[arg(long, value_name = "COLUMN")]
    each: Option<String>,
    /// The figure is a speed-up: that of our rows with this value that have --same in common, divided by that in the cell. More is better
    #[arg(long, value_name = "COLUMN=VALUE")]
    over: Option<Where>,
    /// With --over, what both have in common
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "instance")]
    same: Vec<String>,
    /// The quick commands measure it as the paper does
    #[arg(long)]
    quick: bool,
}

/// A published table, and what it is compared with.
#[derive(Debug, Default)]
pub struct Published {
    comparisons: Vec<Comparison>,
    heads: Vec<String>,
    lines: Vec<Vec<String>>,
}

/// What is known about the rows that a table is compared with.
pub struct Measured<'a> {
    /// The rows.
    pub rows: &'a [&'a Row],
    /// The names of instances that are not at hand.
    pub missing: &'a HashSet<String>,
    /// Whether the rows are those of the quick commands.
    pub quick: bool,
}

/// How many figures of ours are so in comparison with the published ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ours are better: less, or of speed-ups more.
    pub ahead: usize,
    /// They differ by at most a share ([`LEVEL`]) of the published figure, or of how far a published length is from the best known one.
    pub level: usize,
    /// They differ, but by no more than our runs scatter, or than the published figure is rounded.
    pub undecided: usize,
    /// Ours are worse.
    pub behind: usize,
    /// Their instance is not at hand.
    pub not_runnable: usize,
    /// There is no row for it, or one of a shorter run.
    pub not_run: usize,
}

impl Counts {
    /// Adds those of another table.
    pub fn add(&mut self, other: Counts) {
        self.ahead += other.ahead;
        self.level += other.level;
        self.undecided += other.undecided;
        self.behind += other.behind;
        self.not_runnable += other.not_runnable;
        self.not_run += other.not_run;
    }

    /// Returns the numbers in the order of [`Counts::HEADS`].
    pub fn numbers(self) -> [usize; 6] {
        [self.ahead, self.level, self.undecided, self.behind, self.not_runnable, self.not_run]
    }

    /// What the numbers are called.
    pub const HEADS: [&str; 6] = ["ahead", "level", "undecided", "behind", "not runnable", "not run"];
}

/// Splits a line into words as a shell does, as far as double quotes are concerned.
fn words(line: &str) -> Vec<OsString> {
    let mut words: Vec<String> = Vec::new();
    let (mut quoted, mut in_word) = (false, false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => in_word = false,
            c => {
                if !in_word {
                    words.push(String::new());
                    in_word = true;
                }
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    words.into_iter().map(OsString::from).collect()
}

/// Returns the cells of a line of a Markdown table.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    line.split('|').map(|cell| cell.trim().replace("**", "")).collect()
}

/// Returns the number that a published cell begins with, whatever else is in it; `None` if it begins with none.
fn number(cell: &str) -> Option<f64> {
    let text = cell.trim_start_matches(['≈', '~', ' ']).replace(',', "");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Returns the number after `±` in a published cell: how far the figure may be from what the paper measured; 0 if it has none.
fn uncertainty(cell: &str) -> f64 {
    cell.split_once('±').and_then(|(_, rest)| number(rest)).unwrap_or(0.0)
}

impl Published {
    /// Adds a comparison, given by its options.
    ///
    /// # Errors
    /// If they are wrong; the message has been printed.
    pub fn compare(&mut self, options: &str) -> Result<()> {
        self.comparisons.push(parse_line("the comparison", &words(options))?.0);
        Ok(())
    }

    /// Returns whether the published table has a line.
    pub fn is_filled(&self) -> bool {
        !self.heads.is_empty()
    }

    /// Adds a line of the published table, in Markdown. The first one is its head; the line below that is ignored.
    pub fn line(&mut self, line: &str) {
        let cells = cells(line);
        if self.heads.is_empty() {
            self.heads = cells;
        } else if cells.iter().any(|cell| cell.contains(|c| c != '-' && c != ':')) {
            self.lines.push(cells);
        }
    }

    /// Returns a table of what is published, what is ours and a verdict on each, and the number of the verdicts.
    pub fn verdicts(&self, measured: &Measured<'_>, markdown: bool) -> (String, Counts) {
        let mut counts = Counts::default();
        let mut lines = Vec::new();
        for comparison in &self.comparisons {
            let labels = comparison.rows.len();
            let mut keys = vec![String::new(); labels];
            for line in &self.lines {
                // An empty label is that of the line above.
                for (key, cell) in keys.iter_mut().zip(line).filter(|(_, cell)| !cell.is_empty()) {
                    key.clone_from(cell);
                }
                if !comparison.line.is_empty() && !comparison.line.contains(&keys[0]) {
                    continue;
                }
                for (head, cell) in self.heads.iter().zip(line).skip(labels) {
                    if comparison.heading.is_empty() || comparison.heading.contains(head) {
                        let Some(paper) = number(cell) else { continue };
                        let paper = (paper, uncertainty(cell));
                        let (ours, verdict) = comparison.judge(&keys, head, paper, measured);
                        *match verdict {
                            "ahead" => &mut counts.ahead,
                            "level" => &mut counts.level,
                            "undecided" => &mut counts.undecided,
                            "behind" => &mut counts.behind,
                            "not runnable" => &mut counts.not_runnable,
                            _ => &mut counts.not_run,
                        } += 1;
                        // The quick commands leave most of a table out.
                        if measured.quick && verdict == "not run" {
                            continue;
                        }
                        let paper = cell.split(" (").next().unwrap_or(cell).to_owned();
                        lines.push(vec![keys.join(", "), head.clone(), paper, ours, verdict.to_owned()]);
                    }
                }
            }
        }
        let heads = [&self.heads[..self.heads.len().min(1)].join(""), "", "paper", "ours", "verdict"];
        (render("the paper and ours", (&heads, 2), &lines, markdown), counts)
    }
}

impl Comparison {
    /// Returns our figure as text, and the verdict on it and the published figure, which may differ from the measured one by so much.
    fn judge(
        &self,
        keys: &[String],
        head: &str,
        (paper, uncertainty): (f64, f64),
        measured: &Measured<'_>,
    ) -> (String, &'static str) {
        let all = self.rows.iter().map(String::as_str).zip(keys.iter().map(String::as_str));
        let all = all.chain(self.columns.as_deref().map(|column| (column, head)));
        let wanted: Vec<(usize, &str, &str)> =
            all.enumerate().map(|(i, (name, text))| (i, name, text)).collect();
        let is_it =
            |row: &Row, key: &(usize, &str, &str)| self.is_shown_as(key.0, &row.setting(key.1), key.2);
        let kept = |row: &&&Row| {
            self.filters.iter().all(|filter| filter.keeps(row)) && wanted.iter().all(|key| is_it(row, key))
        };
        let own: Vec<&Row> = measured.rows.iter().filter(kept).copied().collect();
        let Some((mut ours, mut error)) = self.figure(&own) else {
            let is_missing = wanted.iter().any(|(_, _, text)| measured.missing.contains(*text));
            return (String::new(), if is_missing { "not runnable" } else { "not run" });
        };
        let mut sign = 1.0;
        if let Some(over) = &self.over {
            // What --same names is the same.
            let is_same =
                |row: &Row, name: &str| own.iter().any(|one| one.setting(name) == row.setting(name));
            let is_base = |row: &&&Row| over.keeps(row) && self.same.iter().all(|name| is_same(row, name));
            let base = measured.rows.iter().filter(is_base);
            let Some((base, _)) = self.figure(&base.copied().collect::<Vec<_>>()) else {
                return (String::new(), "not run");
            };
            (ours, error, sign) = (base / ours, 0.0, -1.0);
        }
        ours *= self.scale;
        error *= self.scale;
        // Rows without the figure, such as those of runs that shared a device, have no part in it.
        let runs = self.cell.numbers(&own).len();
        let shown = format!("{} ({})", figures(ours), counted(runs, "run"));
        if measured.quick && !self.quick {
            return (shown, "shorter runs");
        }
        // Lengths are compared by what is above the best known one. Where it is not known, only equal ones are level.
        let is_length = self.cell.is_of("result");
        let known = own.iter().find_map(|row| row.number("best_known")).filter(|_| is_length);
        let share = if is_length && known.is_none() { 0.0 } else { LEVEL };
        let difference = (ours - paper) * sign;
        let verdict = match difference.abs() {
            // Scatter does not make figures level that are far from each other.
            by if by <= share * (paper - known.unwrap_or(0.0)).abs() => "level",
            by if by <= STANDARD_ERRORS * error + uncertainty => "undecided",
            _ if difference < 0.0 => "ahead",
            _ => "behind",
        };
        (shown, verdict)
    }

    /// Whether the published table has this text for a value of ours, which is that of key `i`.
    fn is_shown_as(&self, i: usize, value: &str, text: &str) -> bool {
        let labels = self.label.iter().filter_map(|label| label.of(value));
        let mut names = labels.peekable();
        if names.peek().is_some() {
            return names.any(|name| name == text);
        }
        match &self.named {
            Some(pattern) if i == 0 => pattern.replace("{}", text) == value,
            _ => value == text,
        }
    }

    /// Returns the figure of these rows, and the standard error of a mean.
    fn figure(&self, rows: &[&Row]) -> Option<(f64, f64)> {
        let error = |values: &[f64]| deviation(values).unwrap_or(0.0) / (values.len().max(1) as f64).sqrt();
        match &self.each {
            None => {
                let figure = self.cell.figure(rows)?;
                Some((figure, if self.cell.is_mean() { error(&self.cell.numbers(rows)) } else { 0.0 }))
            }
            Some(column) => {
                let values = super::table::distinct(rows.iter().map(|row| row.setting(column)));
                let of = |value: &String| {
                    let own = rows.iter().filter(|row| row.setting(column) == *value);
                    self.cell.figure(&own.copied().collect::<Vec<_>>())
                };
                let figures: Vec<f64> = values.iter().filter_map(of).collect();
                mean(&figures).map(|figure| (figure, 0.0))
            }
        }
    }
}

/// Formats a number with four significant figures, but with its whole part in full and at least one decimal; below 1, with four decimals.
/// Whole numbers have none.
fn figures(number: f64) -> String {
    let whole = if number.abs() < 1.0 { 0 } else { number.abs().log10() as usize + 1 };
    match number {
        _ if number.fract() == 0.0 => format!("{number:.0}"),
        _ if whole == 0 => format!("{number:.4}"),
        _ => format!("{number:.*}", 4usize.saturating_sub(whole).max(1)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(instance: &'static str, way: &'static str, ms: f64, gap: f64) -> Row {
        Row::new([
            ("instance", json!(instance)),
            ("settings", json!({ "way": way })),
            ("ms", json!(ms)),
            ("gap_percent", json!(gap)),
            ("result", json!(1000 + ms as i64)),
            ("best_known", json!(1000)),
        ])
    }

    /// The verdicts on a published table by these options.
    fn verdicts(options: &[&str], table: &str, rows: &[Row], quick: bool) -> (Vec<String>, Counts) {
        let mut published = Published::default();
        options.iter().for_each(|options| published.compare(options).unwrap());
        table.lines().for_each(|line| published.line(line));
        let missing = HashSet::from(["c".to_owned()]);
        let rows: Vec<&Row> = rows.iter().collect();
        let (text, counts) = published.verdicts(&Measured { rows: &rows, missing: &missing, quick }, true);
        (text.lines().skip(4).map(str::to_owned).collect(), counts)
    }

    #[test]
    fn a_figure_is_ahead_level_behind_or_not_there() {
        let without_ms = Row::new([("instance", json!("a")), ("settings", json!({ "way": "x" }))]);
        let rows = [row("a", "x", 10.0, 0.0), without_ms, row("b", "x", 10.0, 0.0), row("d", "x", 10.0, 0.0)];
        let table = "| | ms |\n|---|---|\n| a | 20.5 (3.1) |\n| b | ≈ 9.9 |\n| c | 1 |\n| d | **9** |\n| e | 1 |\n| f | no memory |";
        let options = "--rows instance --heading ms --cell ms:mean --where way=x";
        let (lines, counts) = verdicts(&[options], table, &rows, false);
        assert_eq!(counts.numbers(), [1, 1, 0, 1, 1, 1]);
        assert!(lines[0].contains("20.5 ") && lines[0].contains("10 (1 run)"), "{lines:?}");
        // What is measured in fewer or shorter runs is shown, but not judged unless the table allows it.
        let (lines, counts) = verdicts(&[options], table, &rows, true);
        assert_eq!((counts.ahead, counts.not_run), (0, 4));
        assert!(lines[0].contains("shorter runs"), "{lines:?}");
        assert_eq!(verdicts(&[&format!("{options} --quick")], table, &rows, true).1.ahead, 1);
    }

    #[test]
    fn headings_are_values_and_labels_stand_for_them() {
        let rows = [row("i-a", "x", 10.0, 0.0), row("i-a", "y", 1.0, 0.0), row("i-b", "y", 3.0, 0.0)];
        let table = "| | p q | y |\n|---|---|---|\n| a | 20 | 1 |\n| b | 1 | 4 |";
        let options = "--rows instance --named i-{} --columns way --label \"x=p q\" --cell ms:mean";
        let (_, counts) = verdicts(&[options], table, &rows, false);
        assert_eq!(counts, Counts { ahead: 2, level: 1, not_run: 1, ..Counts::default() });
    }

    #[test]
    fn speed_ups_lengths_and_noise_are_taken_for_what_they_are() {
        let rows = [row("a", "x", 10.0, 1.0), row("a", "y", 40.0, 1.0), row("a", "y", 40.0, 3.0)];
        let judge = |options: &str, paper: &str| {
            let table = format!("| | h |\n|---|---|\n| a | {paper} |");
            let counts = verdicts(&[&format!("--rows instance {options}")], &table, &rows, false).1;
            Counts::HEADS[counts.numbers().iter().position(|&count| count == 1).unwrap()]
        };
        // x is four times as fast as y.
        let speed_up = "--where way=x --over way=y --cell ms:mean";
        assert_eq!([judge(speed_up, "3"), judge(speed_up, "5")], ["ahead", "behind"]);
        // 1040 is 40 above the best known length: far from 1020, and level with 1041.
        let length = "--where way=y --cell result:least";
        assert_eq!(
            [judge(length, "1020"), judge(length, "1041"), judge(length, "1080")],
            ["behind", "level", "ahead"]
        );
        // Without the best known length, 1 more is longer.
        let without_known = [Row::new([("instance", json!("a")), ("result", json!(1001))])];
        let table = |paper: i64| format!("| | h |\n|---|---|\n| a | {paper} |");
        let length = ["--rows instance --cell result:least"];
        assert_eq!(verdicts(&length, &table(1000), &without_known, false).1.behind, 1);
        assert_eq!(verdicts(&length, &table(1001), &without_known, false).1.level, 1);
        // The mean of 1 and 3 has a standard error of 1. A mean far away is not level because of it.
        let gap = "--where way=y --cell gap_percent:mean";
        assert_eq!(
            [judge(gap, "2.05"), judge(gap, "3.5"), judge(gap, "4.5")],
            ["level", "undecided", "ahead"]
        );
        assert_eq!([judge(gap, "1.5"), judge(gap, "0")], ["undecided"; 2]);
        // The published figure may be rounded, too.
        let ms = "--where way=x --cell ms:mean";
        assert_eq!(
            [judge(ms, "≈ 9 ± 1"), judge(ms, "≈ 9 ± 0.5"), judge(ms, "9 (± 1)")],
            ["undecided", "behind", "undecided"]
        );
        assert_eq!(judge("--where way=y --cell gap_percent:mean --scale 0.01 --each seed", "0.01"), "behind");
    }

    #[test]
    fn numbers_are_read_as_they_are_published() {
        assert_eq!(number("≈ 2,400"), Some(2400.0));
        assert_eq!(number("0.2, by the speed-up 0.66"), Some(0.2));
        assert_eq!(["", "no memory"].map(number), [None, None]);
        assert_eq!(
            [1234.56, 9.876, 0.01234, 0.0].map(figures),
            ["1234.6", "9.876", "0.0123", "0"].map(str::to_owned)
        );
    }
}
