//! A table of a single figure: one line per value of one column or setting, and one column per value of another. The tables in the
//! documentation have this form.

use std::str::FromStr;

use super::super::{Error, Result};
use super::rows::Row;
use super::table::{distinct, render};
use crate::instance::printable;
use crate::report::statistics::median;

/// Keeps rows that have one of these values in a column or setting.
#[derive(Clone, Debug)]
pub struct Where {
    column: String,
    values: Vec<String>,
}

impl Where {
    /// Returns whether the row has one of the values.
    pub fn keeps(&self, row: &Row) -> bool {
        let own = row.setting(&self.column);
        self.values.contains(&own)
    }
}

impl FromStr for Where {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Where, String> {
        let (column, values) =
            text.split_once('=').filter(|(column, _)| !column.is_empty()).ok_or_else(|| {
                "give a column or setting and the values to keep, such as instance=E1k.0,pr2392".to_owned()
            })?;
        Ok(Where { column: column.to_owned(), values: values.split(',').map(str::to_owned).collect() })
    }
}

/// A text that a table shows in place of a value.
#[derive(Clone, Debug)]
pub struct Label {
    value: String,
    text: String,
}

impl Label {
    /// Returns the text for this value, if it is the label's.
    pub fn of(&self, value: &str) -> Option<&str> {
        (self.value == value).then_some(&self.text)
    }
}

impl FromStr for Label {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Label, String> {
        let (value, text) = text
            .split_once('=')
            .ok_or_else(|| "give a value and the text to show instead, such as cuda=H200".to_owned())?;
        Ok(Label { value: value.to_owned(), text: text.to_owned() })
    }
}

/// How a cell summarizes its rows.
#[derive(Clone, Copy, Debug)]
enum Figure {
    /// The value of each row, in the order of the rows.
    Each,
    Mean,
    Median,
    Least,
    Count,
}

/// What the cells show: a figure of a column of numbers.
#[derive(Clone, Debug)]
pub struct Cell {
    column: String,
    figure: Figure,
    /// Number of decimals.
    digits: usize,
}

impl FromStr for Cell {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Cell, String> {
        let wrong = || {
            "give COLUMN, COLUMN:FIGURE or COLUMN:FIGURE:DIGITS, where FIGURE is each, mean, median, least or count".to_owned()
        };
        let mut parts = text.split(':');
        let column = parts.next().filter(|column| !column.is_empty()).ok_or_else(wrong)?.to_owned();
        let figure = match parts.next() {
            None | Some("each") => Figure::Each,
            Some("mean") => Figure::Mean,
            Some("median") => Figure::Median,
            Some("least") => Figure::Least,
            Some("count") => Figure::Count,
            Some(_) => return Err(wrong()),
        };
        let digits = parts.next().map_or(Ok(3), str::parse).ok().filter(|&digits| digits <= 17);
        match (digits, parts.next()) {
            (Some(digits), None) => Ok(Cell { column, figure, digits }),
            _ => Err(wrong()),
        }
    }
}

impl Cell {
    /// Returns whether it shows a figure of this column.
    pub fn is_of(&self, column: &str) -> bool {
        self.column == column
    }

    /// Returns whether it shows a mean.
    pub fn is_mean(&self) -> bool {
        matches!(self.figure, Figure::Mean)
    }

    /// Returns the numbers that the column has in these rows.
    pub fn numbers(&self, rows: &[&Row]) -> Vec<f64> {
        rows.iter().filter_map(|row| row.number(&self.column)).collect()
    }

    /// Returns the figure of these rows; `None` if none of them has a number, or if the cell shows each and there are several.
    pub fn figure(&self, rows: &[&Row]) -> Option<f64> {
        let values = self.numbers(rows);
        let count = values.len();
        match self.figure {
            _ if values.is_empty() => None,
            Figure::Each => values.first().copied().filter(|_| count == 1),
            Figure::Mean => Some(values.iter().sum::<f64>() / count as f64),
            Figure::Median => median(values),
            Figure::Least => values.into_iter().reduce(f64::min),
            Figure::Count => Some(count as f64),
        }
    }

    /// Returns the text of a cell; empty if none of its rows has a number.
    fn show(&self, rows: &[&Row]) -> String {
        // An exact zero is an optimum, and must not look like a rounded value.
        let number =
            |value: f64| if value == 0.0 { "0".to_owned() } else { format!("{value:.*}", self.digits) };
        match self.figure {
            Figure::Each => self.numbers(rows).into_iter().map(number).collect::<Vec<_>>().join(" / "),
            Figure::Count => self.figure(rows).map_or_else(String::new, |count| count.to_string()),
            _ => self.figure(rows).map_or_else(String::new, number),
        }
    }
}

/// The arguments for such a table.
pub struct Pivot<'a> {
    /// The column or setting whose values are the lines.
    pub rows: &'a str,
    /// The column or setting whose values are the columns.
    pub columns: &'a str,
    /// What the cells show.
    pub cell: &'a Cell,
    /// The filters that the rows have passed. One on the column of the lines or columns gives their order.
    pub filters: &'a [Where],
    /// Texts in place of values of the lines and columns.
    pub labels: &'a [Label],
}

impl Pivot<'_> {
    /// Returns the table of the rows that passed the filters.
    ///
    /// # Errors
    /// If none of them has a number in the column of the cells.
    pub fn table(&self, rows: &[Row], markdown: bool) -> Result<String> {
        if rows.iter().all(|row| row.number(&self.cell.column).is_none()) {
            let column = printable(&self.cell.column);
            return Err(Error::Unusable(format!("no row has a number in the column `{column}`")));
        }
        let places: Vec<(String, String, &Row)> =
            rows.iter().map(|row| (row.setting(self.rows), row.setting(self.columns), row)).collect();
        let lines = self.order(self.rows, distinct(places.iter().map(|place| place.0.clone())));
        let columns = self.order(self.columns, distinct(places.iter().map(|place| place.1.clone())));
        let cell = |line: &String, column: &String| {
            let own = places.iter().filter(|place| place.0 == *line && place.1 == *column);
            self.cell.show(&own.map(|place| place.2).collect::<Vec<_>>())
        };
        let line = |line: &String| {
            std::iter::once(self.label(line)).chain(columns.iter().map(|column| cell(line, column))).collect()
        };
        let table: Vec<Vec<String>> = lines.iter().map(line).collect();
        let head: Vec<String> = columns.iter().map(|column| self.label(column)).collect();
        let head: Vec<&str> = std::iter::once("").chain(head.iter().map(String::as_str)).collect();
        let text = render(&self.cell.column, (&head, 1), &table, markdown);
        // As in other tables, text from files must not control the terminal.
        Ok(text.split('\n').map(printable).collect::<Vec<_>>().join("\n"))
    }

    /// Returns values in the order of a filter on their column, if there is one.
    fn order(&self, column: &str, found: Vec<String>) -> Vec<String> {
        match self.filters.iter().find(|filter| filter.column == column) {
            Some(filter) => filter.values.iter().filter(|value| found.contains(value)).cloned().collect(),
            None => found,
        }
    }

    fn label(&self, value: &str) -> String {
        let own = self.labels.iter().find(|label| label.value == value);
        own.map_or(value, |label| &label.text).to_owned()
    }
}
