//! Tables of measurements: lines on the standard output as they come, and all rows as CSV.

use std::fmt::Display;

use serde::Serialize;

use super::output::{self, Output};
use super::{Error, Result};
use crate::backend::Backend;
use crate::engine::Problem;
use crate::instance::Instance;

/// A number with so many digits behind the point, or a dash where there is none.
pub fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// See the [module](self).
pub struct Table<'a, R> {
    /// Its rows so far.
    pub rows: Vec<R>,
    csv: Option<&'a Output>,
}

impl<'a, R: Display + Serialize> Table<'a, R> {
    /// An empty table. Where CSV goes to the standard output, lines go to the standard error.
    pub fn new(csv: Option<&'a Output>) -> Table<'a, R> {
        Table { rows: Vec::new(), csv }
    }

    /// Refuses a CSV file that could not be written, or that is one of the instances.
    pub fn check(csv: Option<&Output>, instances: &[String]) -> Result<()> {
        let Some(csv) = csv else { return Ok(()) };
        instances.iter().try_for_each(|source| output::check_apart(&[csv], source.as_ref()))?;
        csv.check()
    }

    /// The first line: what measures, and how.
    pub fn begin(&self, backend: &Backend, how: &str) -> Result<()> {
        let machine = backend.machine();
        self.say(&format!(
            "antwarp {}, {}: {}, {}, {} units; {how}",
            env!("CARGO_PKG_VERSION"),
            machine.backend,
            machine.device,
            machine.details,
            machine.units,
        ))
    }

    /// A line that is no row.
    pub fn say(&self, line: &str) -> Result<()> {
        if self.csv.is_some_and(Output::is_stdout) {
            output::tell(line);
            return Ok(());
        }
        output::print(|out| writeln!(out, "{line}"))
    }

    /// A row. It is in the file at once, should the rest be interrupted.
    pub fn add(&mut self, row: R) -> Result<()> {
        self.say(&row.to_string())?;
        self.rows.push(row);
        if self.csv.is_some_and(Output::is_stdout) { Ok(()) } else { self.write() }
    }

    /// The end of the table.
    pub fn finish(&self) -> Result<()> {
        if self.csv.is_some_and(Output::is_stdout) { self.write() } else { Ok(()) }
    }

    fn write(&self) -> Result<()> {
        let Some(csv) = self.csv else { return Ok(()) };
        csv.write(|out| {
            let mut table = csv::Writer::from_writer(out);
            for row in &self.rows {
                table.serialize(row).map_err(std::io::Error::other)?;
            }
            table.flush()
        })
    }
}

/// What can be measured of an instance, or why it cannot.
pub fn refuse(instance: &str, why: &str) -> Error {
    Error::Unusable(format!("{instance} cannot be measured: {why}"))
}

/// The mean; 0 of nothing.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

/// The middle one; 0 of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The length of a tour in the problem's numbering, from the instance. A backend whose tour is none, or not as long as
/// it says, has a bug.
pub fn checked(instance: &Instance, problem: &Problem, tour: &[u32], said: i64) -> Result<i64> {
    let bug = |what: String| Error::Bug(format!("a wrong tour of {}: {what}", instance.name()));
    if tour.iter().any(|&node| node >= problem.n()) {
        return Err(bug("it has a node that does not exist".to_owned()));
    }
    let cost = instance.check_tour(&problem.original(tour)).map_err(|error| bug(error.to_string()))?;
    if cost != said {
        return Err(bug(format!("its length is {cost}, not {said}")));
    }
    Ok(cost)
}
