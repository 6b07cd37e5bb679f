//! Raw rows: what was measured in each run, by the names of its columns. They go to a file as they come, and can be read
//! again.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value};

use super::super::Result;
use super::super::output::Output;
use crate::instance::{Cost, InstanceError, Room, Text, printable, source};

/// What was measured in a run. Values are empty (null) where there are none.
pub struct Row(Vec<(String, Value)>);

impl Row {
    /// A row of these columns, in this order.
    pub fn new(values: impl IntoIterator<Item = (&'static str, Value)>) -> Row {
        Row(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn value(&self, name: &str) -> &Value {
        self.0.iter().find(|(own, _)| own == name).map_or(&Value::Null, |(_, value)| value)
    }

    /// A value as it stands in the file.
    pub fn text(&self, name: &str) -> String {
        text(self.value(name))
    }

    /// A value that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.value(name) {
            Value::String(text) => text.parse().ok(),
            other => other.as_f64(),
        }
        .filter(|number: &f64| number.is_finite())
    }

    /// A value that is a cost: whole numbers exactly.
    pub fn cost(&self, name: &str) -> Option<Cost> {
        match self.value(name) {
            Value::String(text) => text.parse().ok(),
            other => other.as_i64().map(Cost::Whole).or_else(|| other.as_f64().map(Cost::Real)),
        }
        .filter(|cost: &Cost| cost.as_f64().is_finite())
    }

    /// The value of a setting, or of a column if there is no setting of this name; empty if there is neither.
    pub fn setting(&self, name: &str) -> String {
        match self.parts("settings").get(name) {
            Some(value) => text(value),
            None => self.text(name),
        }
    }

    /// A value that has parts: of a row that was read, they are told by its text.
    pub fn parts(&self, name: &str) -> Value {
        match self.value(name) {
            Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            other => other.clone(),
        }
    }
}

/// A value as it stands in a file of text.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Rows as they come.
pub struct Log<'a> {
    /// Those so far.
    pub rows: Vec<Row>,
    csv: Option<&'a Output>,
    /// Where the next ones go, behind those that are written.
    file: Option<Box<dyn Write + Send>>,
}

impl<'a> Log<'a> {
    /// None yet.
    pub fn new(csv: Option<&'a Output>) -> Log<'a> {
        Log { rows: Vec::new(), csv, file: None }
    }

    /// Adds a row. It is in the file at once, whatever happens to the next.
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
            // In one piece: whatever ends the bench does not cut a row off.
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

/// A line of a CSV file.
fn line(values: &[String]) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(values)?;
    writer.into_inner().map_err(|error| error.into_error())
}

/// Numbers of a file of rows that there is room for.
const MOST_NUMBERS: u64 = 1 << 23;

/// Most characters of a first line that a message shows.
const MOST_SHOWN: usize = 60;

/// Reads what [`Log`] has written, gzip or not.
pub fn read(path: &Path) -> Result<Vec<Row>> {
    let help = "give files that antwarp bench --csv has written";
    let unusable = |problem: String| InstanceError::content(path.display().to_string(), problem, help);
    let room = |_: Text<'_>| Room::numbers(MOST_NUMBERS, "a file of rows");
    let bytes = source::load(path, room).map_err(|error| error.where_missing(help))?;
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let head = reader.headers().map_err(|error| unusable(error.to_string()))?.clone();
    let needed = ["suite", "instance", "n", "settings", "seed", "repetition", "result"];
    if let Some(lacks) = needed.iter().find(|name| !head.iter().any(|own| own == **name)) {
        // Curves, counts and printed output stand beside tables of runs, and have other columns or none.
        let first = printable(&head.iter().collect::<Vec<_>>().join(","));
        let first: String = first.chars().take(MOST_SHOWN).collect();
        let problem =
            format!("not a table of runs: there is no column `{lacks}` in its first line, `{first}`");
        return Err(unusable(problem).into());
    }
    let row = |record: std::result::Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|error| unusable(error.to_string()))?;
        let values = record.iter().map(Value::from);
        Ok(Row(head.iter().map(str::to_owned).zip(values).collect()))
    };
    reader.records().map(row).collect()
}
