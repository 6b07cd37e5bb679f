//! Options for reading an instance file whose content can be interpreted in several ways.

use std::path::Path;

use super::{Result, output};
use crate::instance::tour_file::TourFile;
use crate::instance::{DecimalSign, Instance, ReadOptions, Shape};

/// Options shared by all commands that read an instance.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadingArgs {
    /// What a table contains: one place per row, a matrix of costs, or one edge per row; detected if not given
    #[arg(long = "as", value_enum, value_name = "WHAT")]
    shape: Option<Shape>,
    /// Which columns to use, by number from 1 or by name: x=2,y=3,name=1, or lat=1,lon=2 for degrees, or from=1,to=2,cost=3
    #[arg(long, value_name = "ROLE=COLUMN,...", value_delimiter = ',', value_parser = role_and_column)]
    columns: Vec<(String, String)>,
    /// The decimal separator in delimited text; detected if not given
    #[arg(long, value_enum, value_name = "SIGN")]
    decimal: Option<DecimalSign>,
    /// The first line is data, not the names of the columns
    #[arg(long)]
    no_header: bool,
    /// Coordinates are degrees of latitude and longitude; unnamed columns need their order: --columns lat=1,lon=2
    #[arg(long)]
    degrees: bool,
    /// Each cost applies to one direction only, even if every edge is listed once
    #[arg(long)]
    directed: bool,
    /// In a matrix or a list of edges, costs of at least this value mean that there is no connection
    #[arg(long, value_name = "VALUE", value_parser = finite)]
    forbidden_from: Option<f64>,
    /// Don't round the distances of a TSPLIB file to whole numbers, as TSPLIB does
    #[arg(long)]
    unrounded: bool,
}

impl ReadingArgs {
    /// Opens an instance, given by its file or by the name of a generated one. Prints a line that says what was read and how it was
    /// interpreted, and warnings about it.
    ///
    /// # Errors
    /// [`Error::Input`](super::Error::Input), if it cannot be read.
    pub fn open(&self, path: &Path) -> Result<Instance> {
        self.open_quietly(path, false)
    }

    /// Does the same; if `quiet`, prints nothing.
    ///
    /// # Errors
    /// As [`ReadingArgs::open`].
    pub fn open_quietly(&self, path: &Path, quiet: bool) -> Result<Instance> {
        let instance = Instance::open_with(path, &self.options())?;
        if !quiet {
            announce(&instance);
        }
        Ok(instance)
    }

    /// Returns the options in the form the readers take.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            shape: self.shape,
            columns: self.columns.clone(),
            decimal: self.decimal,
            no_header: self.no_header,
            degrees: self.degrees,
            directed: self.directed,
            forbidden_from: self.forbidden_from,
            unrounded: self.unrounded,
        }
    }
}

fn role_and_column(text: &str) -> std::result::Result<(String, String), String> {
    let parts = text.split_once('=').map(|(role, column)| (role.trim(), column.trim()));
    match parts {
        Some((role, column)) if !role.is_empty() && !column.is_empty() => {
            Ok((role.to_owned(), column.to_owned()))
        }
        _ => Err("give roles and columns such as x=2,y=3,name=1".to_owned()),
    }
}

fn finite(text: &str) -> std::result::Result<f64, String> {
    text.parse()
        .ok()
        .filter(|value: &f64| !value.is_nan())
        .ok_or_else(|| "give a number such as 999999".to_owned())
}

/// Prints a line that says what was read and how it was interpreted, and any warnings about it.
pub fn announce(instance: &Instance) {
    if let Some(reading) = instance.reading() {
        output::tell(&format!("antwarp: read {reading}"));
    }
    instance.warnings().iter().for_each(|warning| output::tell(&format!("antwarp: warning: {warning}")));
}

/// Prints how a tour was read, and any warnings about it.
pub fn announce_tour(tour: &TourFile) {
    output::tell(&format!("antwarp: read {}", tour.line));
    tour.warnings.iter().for_each(|warning| output::tell(&format!("antwarp: warning: {warning}")));
}
