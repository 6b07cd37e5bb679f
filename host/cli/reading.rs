//! How to read an instance file whose content leaves a choice.

use std::path::Path;

use super::{Result, output};
use crate::instance::tour_file::TourFile;
use crate::instance::{DecimalSign, Instance, ReadOptions, Shape};

/// Options of all commands that read an instance.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadingArgs {
    /// What a table holds: a place in each row, a matrix of costs, or an edge in each row; found out if not given
    #[arg(long = "as", value_enum, value_name = "WHAT")]
    shape: Option<Shape>,
    /// Which columns are meant, by number from 1 or by name: x=2,y=3,name=1, or lat=1,lon=2 for degrees, or from=1,to=2,cost=3
    #[arg(long, value_name = "ROLE=COLUMN,...", value_delimiter = ',', value_parser = role_and_column)]
    columns: Vec<(String, String)>,
    /// The sign in front of decimals in delimited text; found out if not given
    #[arg(long, value_enum, value_name = "SIGN")]
    decimal: Option<DecimalSign>,
    /// The first line is data, not the names of the columns
    #[arg(long)]
    no_header: bool,
    /// The coordinates are degrees of latitude and longitude; columns without names need their order: --columns lat=1,lon=2
    #[arg(long)]
    degrees: bool,
    /// Each cost holds for one direction only, even where every edge is listed once
    #[arg(long)]
    directed: bool,
    /// Costs of a matrix or of edges from this value on mean that there is no way
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = finite)]
    forbidden_from: Option<f64>,
    /// Take the coordinates of a TSPLIB file without TSPLIB's rounding of distances to whole numbers
    #[arg(long)]
    unrounded: bool,
}

impl ReadingArgs {
    /// Opens an instance, and says in a line what was read and how it was taken.
    pub fn open(&self, path: &Path) -> Result<Instance> {
        self.open_quietly(path, false)
    }

    /// The same, and `quiet` without that line and without warnings.
    pub fn open_quietly(&self, path: &Path, quiet: bool) -> Result<Instance> {
        let instance = Instance::open_with(path, &self.options())?;
        if !quiet {
            announce(&instance);
        }
        Ok(instance)
    }

    /// The options as the readers take them.
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
        _ => Err("write roles and columns: x=2,y=3,name=1".to_owned()),
    }
}

fn finite(text: &str) -> std::result::Result<f64, String> {
    text.parse()
        .ok()
        .filter(|value: &f64| !value.is_nan())
        .ok_or_else(|| "give a number such as 999999".to_owned())
}

/// Says in a line what was read and how it was taken, and what the user has to know about it.
pub fn announce(instance: &Instance) {
    if let Some(reading) = instance.reading() {
        output::tell(&format!("antwarp: read {reading}"));
    }
    instance.warnings().iter().for_each(|warning| output::tell(&format!("antwarp: warning: {warning}")));
}

/// Says how a tour was read, and what the user has to know about it.
pub fn announce_tour(tour: &TourFile) {
    output::tell(&format!("antwarp: read {}", tour.line));
    tour.warnings.iter().for_each(|warning| output::tell(&format!("antwarp: warning: {warning}")));
}
