//! Raw rows: what was measured in each run, by the names of its columns. They go to a file as they come, and can be read
//! again.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value};

use super::super::output::Output;
use super::super::{Error, Result};
use crate::instance::InstanceError;

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
    writer: Option<csv::Writer<Box<dyn Write + Send>>>,
}

impl<'a> Log<'a> {
    /// None yet.
    pub fn new(csv: Option<&'a Output>) -> Log<'a> {
        Log { rows: Vec::new(), csv, writer: None }
    }

    /// Adds a row. It is in the file at once, whatever happens to the next.
    pub fn add(&mut self, row: Row) -> Result<()> {
        if let Some(csv) = self.csv {
            self.append(csv, &row).map_err(|cause| match csv {
                Output::Stdout => Error::Stdout(cause),
                Output::File(path) => Error::Output { path: path.clone(), cause: cause.to_string() },
            })?;
        }
        self.rows.push(row);
        Ok(())
    }

    fn append(&mut self, csv: &Output, row: &Row) -> io::Result<()> {
        if self.writer.is_none() {
            let out: Box<dyn Write + Send> = match csv {
                Output::Stdout => Box::new(io::stdout()),
                Output::File(path) => Box::new(File::create(path)?),
            };
            let writer = self.writer.insert(csv::Writer::from_writer(out));
            writer.write_record(row.0.iter().map(|(name, _)| name))?;
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer.write_record(row.0.iter().map(|(_, value)| text(value)))?;
        writer.flush()
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

/// Reads what [`Log`] has written.
pub fn read(path: &Path) -> Result<Vec<Row>> {
    let help = "give files that antwarp bench --csv has written";
    let unusable = |problem: String| InstanceError::content(path.display().to_string(), problem, help);
    let file = File::open(path).map_err(|cause| InstanceError::read(path, cause).where_missing(help))?;
    let mut reader = csv::Reader::from_reader(file);
    let head = reader.headers().map_err(|error| unusable(error.to_string()))?.clone();
    let needed = ["suite", "instance", "n", "settings", "seed", "repetition", "result"];
    if let Some(lacks) = needed.iter().find(|name| !head.iter().any(|own| own == **name)) {
        return Err(unusable(format!("no rows of a bench: there is no column `{lacks}`")).into());
    }
    let row = |record: std::result::Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|error| unusable(error.to_string()))?;
        let values = record.iter().map(Value::from);
        Ok(Row(head.iter().map(str::to_owned).zip(values).collect()))
    };
    reader.records().map(row).collect()
}
