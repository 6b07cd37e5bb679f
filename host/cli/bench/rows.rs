//! Raw rows: the measurements of each run, by column name. They are written to a file as they arrive, and can be read back.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value};

use super::super::Result;
use super::super::output::Output;
use crate::instance::{Cost, InstanceError, Room, Text, printable, source};

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

    /// Returns a value as written in the file.
    pub fn text(&self, name: &str) -> String {
        text(self.value(name))
    }

    /// Returns a value that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.value(name) {
            Value::String(text) => text.parse().ok(),
            other => other.as_f64(),
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
    pub fn setting(&self, name: &str) -> String {
        match self.parts("settings").get(name) {
            Some(value) => text(value),
            None => self.text(name),
        }
    }

    /// Returns a structured value; in a row that was read from a file, it is parsed from its text.
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
    /// Creates an empty log.
    pub fn new(csv: Option<&'a Output>) -> Log<'a> {
        Log { rows: Vec::new(), csv, file: None }
    }

    /// Adds a row. It is written to the file at once, whatever happens to the next one.
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

    /// Writes all rows as JSON.
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

/// Reads a file written by [`Log`], optionally gzip-compressed.
pub fn read(path: &Path) -> Result<Vec<Row>> {
    let help = "give files written by antwarp bench --csv";
    let unusable = |problem: String| InstanceError::content(path.display().to_string(), problem, help);
    let room = |_: Text<'_>| Room::numbers(MOST_NUMBERS, "a file of rows");
    let bytes = source::load(path, room).map_err(|error| error.where_missing(help))?;
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let head = reader.headers().map_err(|error| unusable(error.to_string()))?.clone();
    let needed = ["suite", "instance", "n", "settings", "seed", "repetition", "result"];
    if let Some(lacks) = needed.iter().find(|name| !head.iter().any(|own| own == **name)) {
        // Folders with tables of runs also contain curves, counts and printed output, which have other columns or none.
        let first = printable(&head.iter().collect::<Vec<_>>().join(","));
        let first: String = first.chars().take(MOST_SHOWN).collect();
        let problem = format!("not a table of runs: its first line, `{first}`, has no column `{lacks}`");
        return Err(unusable(problem).into());
    }
    let row = |record: std::result::Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|error| unusable(error.to_string()))?;
        let values = record.iter().map(Value::from);
        Ok(Row(head.iter().map(str::to_owned).zip(values).collect()))
    };
    reader.records().map(row).collect()
}
