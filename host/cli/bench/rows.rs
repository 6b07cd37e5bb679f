//! Raw rows: the measurements of each run, by column name. They are written to a file as they arrive, and can be read back.

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::Path;

use serde_json::{Map, Value};

use super::super::Result;
use super::super::output::Output;
use crate::engine::pass_ms;
use crate::instance::{Cost, InstanceError, Room, Text, printable, source};

/// Ranges of the number of nodes by which Fosin et al. 2013 (tables 1 and 3) group their instances.
pub const SIZES: [(&str, RangeInclusive<u64>); 3] =
    [("70-400", 70..=400), ("400-2000", 401..=2000), ("2000-18512", 2001..=18_512)];

/// Returns the name of the range that this number of nodes is in.
fn size(n: u64) -> Option<&'static str> {
    SIZES.iter().find(|(_, sizes)| sizes.contains(&n)).map(|(name, _)| *name)
}

/// The measurements of a run. Missing values are empty (null).
pub struct Row(Vec<(String, Value)>);

impl Row {
    /// Creates a row of these columns, in this order.
    pub fn new(values: impl IntoIterator<Item = (&'static str, Value)>) -> Row {
        Row(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn value(&self, name: &str) -> &Value {
        self.0.iter().find(|(own, _)| own == name).map_or(&Value::Null, |(_, value)| value)
    }

    /// Returns a value as written in the file; empty if it is missing.
    pub fn text(&self, name: &str) -> String {
        text(self.value(name))
    }

    /// Returns a value that is a finite number, or one that follows from others: `n_tours_ms`, the milliseconds for as many tours as
    /// nodes, and `pass_ms`, those of a pass of best improvement.
    pub fn number(&self, name: &str) -> Option<f64> {
        match (name, self.value(name)) {
            ("n_tours_ms", _) => Some(
                self.number("total_ms")? * self.number("n")?
                    / self.number("ants").filter(|&ants| ants > 0.0)?,
            ),
            ("pass_ms", _) => pass_ms(&self.text("layout")),
            (_, Value::String(text)) => text.parse().ok(),
            (_, other) => other.as_f64(),
        }
        .filter(|number: &f64| number.is_finite())
    }

    /// Returns a value that is a cost; whole numbers are exact.
    pub fn cost(&self, name: &str) -> Option<Cost> {
        match self.value(name) {
            Value::String(text) => text.parse().ok(),
            other => other.as_i64().map(Cost::Whole).or_else(|| other.as_f64().map(Cost::Real)),
        }
        .filter(|cost: &Cost| cost.as_f64().is_finite())
    }

    /// Returns the value of a setting, or of a column if there is no setting of this name; empty if there is neither.
    /// `solver.NAME` is one of all settings of the solver, and `size` the name of the range of [`SIZES`] that the nodes are in.
    pub fn setting(&self, name: &str) -> String {
        let settings = self.value("settings");
        let own = match name.strip_prefix("solver.") {
            Some(name) => match settings.get("solver") {
                Some(solver) => solver.get(name),
                // Runs that were not made by a bench have only the settings that were noted.
                None => settings.get(name.replace('_', "-")),
            },
            None => settings.get(name),
        };
        match own {
            None if name == "size" => {
                self.number("n").and_then(|n| size(n as u64)).unwrap_or_default().to_owned()
            }
            own => own.map_or_else(|| self.text(name), text),
        }
    }

    /// Returns the row of a run beside others on the same device: its times are not those of its own.
    pub fn without_times(&self) -> Row {
        let is_time =
            |name: &str| name.contains("seconds") || name.contains("_per_second") || name.ends_with("_ms");
        Row(self.0.iter().filter(|(name, _)| !is_time(name)).cloned().collect())
    }

    /// Returns a structured value; in a row that was read from a file, it is parsed from its text. Null if it is missing or not JSON.
    pub fn parts(&self, name: &str) -> Value {
        match self.value(name) {
            Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            other => other.clone(),
        }
    }
}

/// Formats a value as written in a text file.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Rows, written as they arrive.
pub struct Log<'a> {
    /// The rows so far.
    pub rows: Vec<Row>,
    csv: Option<&'a Output>,
    /// Where the next rows are appended, once the file exists.
    file: Option<Box<dyn Write + Send>>,
}

impl<'a> Log<'a> {
    /// Creates an empty log, which is written to `csv`, if given.
    pub fn new(csv: Option<&'a Output>) -> Log<'a> {
        Log { rows: Vec::new(), csv, file: None }
    }

    /// Adds a row. It is written to the file at once, whatever happens to the next one.
    ///
    /// # Errors
    /// If it cannot be written; it is added nevertheless.
    pub fn add(&mut self, row: Row) -> Result<()> {
        let written = self.csv.map_or(Ok(()), |csv| self.write(csv, &row));
        self.rows.push(row);
        written
    }

    fn write(&mut self, csv: &Output, row: &Row) -> Result<()> {
        let failed = |cause| csv.error(cause);
        let (head, values): (Vec<_>, Vec<_>) =
            row.0.iter().map(|(name, value)| (name.clone(), text(value))).unzip();
        let values = line(&values).map_err(failed)?;
        if let Some(file) = &mut self.file {
            // In a single write, so that no row is truncated however the bench ends.
            return file.write_all(&values).and_then(|()| file.flush()).map_err(failed);
        }
        let head = line(&head).map_err(failed)?;
        self.file = Some(csv.begin(|out| out.write_all(&head).and_then(|()| out.write_all(&values)))?);
        Ok(())
    }

    /// Writes all rows as a JSON list of objects.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn write_json(&self, output: &Output) -> Result<()> {
        let object = |row: &Row| row.0.iter().cloned().collect::<Map<String, Value>>();
        let rows: Vec<_> = self.rows.iter().map(object).collect();
        output.write(|out| {
            serde_json::to_writer_pretty(&mut *out, &rows)?;
            writeln!(out)
        })
    }
}

/// Formats a line of a CSV file.
fn line(values: &[String]) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(values)?;
    writer.into_inner().map_err(|error| error.into_error())
}

/// Maximum number of numbers in a file of rows.
const MOST_NUMBERS: u64 = 1 << 23;

/// Maximum number of characters of a first line shown in a message.
const MOST_SHOWN: usize = 60;

/// The columns without which there are no tables of runs.
const NEEDED: [&str; 7] = ["suite", "instance", "n", "settings", "seed", "repetition", "result"];

/// Returns whether the rows are of runs, and not of another table; true if there are none.
pub fn are_runs(rows: &[Row]) -> bool {
    let has = |row: &Row| NEEDED.iter().all(|name| row.0.iter().any(|(own, _)| own == name));
    rows.first().is_none_or(has)
}

/// Returns the names of the columns of the first row, and the values of each row, as text.
pub fn plain(rows: &[Row]) -> (Vec<&str>, Vec<Vec<String>>) {
    let heads =
        rows.first().map_or_else(Vec::new, |row| row.0.iter().map(|(name, _)| name.as_str()).collect());
    (heads, rows.iter().map(|row| row.0.iter().map(|(_, value)| text(value)).collect()).collect())
}

/// Reads a CSV file written by [`Log`], or another table with columns that have names, optionally gzip-compressed.
///
/// # Errors
/// If the file cannot be read, or is no such table.
pub fn read(path: &Path) -> Result<Vec<Row>> {
    let help = "give files written by antwarp bench --csv";
    let unusable = |problem: String| InstanceError::content(path.display().to_string(), problem, help);
    let room = |_: Text<'_>| Room::numbers(MOST_NUMBERS, "a file of rows");
    let bytes = source::load(path, room).map_err(|error| error.where_missing(help))?;
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let head = reader.headers().map_err(|error| unusable(error.to_string()))?.clone();
    let lacks = NEEDED.iter().find(|name| !head.iter().any(|own| own == **name));
    // Folders with tables of runs also contain curves and counts, which have other columns, and printed output, which has none.
    if let Some(lacks) = lacks.filter(|_| head.len() < 2 || head.iter().any(|name| name.starts_with('#'))) {
        let first = printable(&head.iter().collect::<Vec<_>>().join(","));
        let first: String = first.chars().take(MOST_SHOWN).collect();
        let problem = format!("not a table of runs: its first line, `{first}`, has no column `{lacks}`");
        return Err(unusable(problem).into());
    }
    let row = |record: std::result::Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|error| unusable(error.to_string()))?;
        let value = |(name, text): (&str, &str)| {
            // Settings are looked at often.
            let parsed = if name == "settings" { serde_json::from_str(text).ok() } else { None };
            (name.to_owned(), parsed.unwrap_or_else(|| Value::from(text)))
        };
        Ok(Row(head.iter().zip(record.iter()).map(value).collect()))
    };
    reader.records().map(row).collect()
}
