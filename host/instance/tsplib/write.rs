//! Writes an instance as a TSPLIB file that reads back as the same instance.

use std::io::{self, Write};
use std::path::Path;

use antwarp_core::metric::Metric;

use crate::atomic_file;
use crate::error::Result;
use crate::model::{Distances, Instance, Kind};

/// Writes an instance to a file, as [`write()`] does; the file is at any time either the old one or the complete new one.
///
/// # Errors
/// If the file cannot be written, or TSPLIB cannot represent the instance.
pub fn save(instance: &Instance, path: &Path) -> Result<()> {
    atomic_file::write(path, |mut out| write(instance, &mut out))
}

/// Writes an instance as a TSPLIB file; unrounded lengths as LKH's `EXACT_2D` and `EXACT_3D`, a matrix with all its decimals, and
/// forbidden pairs as `inf`.
///
/// # Errors
/// If it cannot be written; [`io::ErrorKind::Unsupported`] if TSPLIB cannot represent it, as with great circles.
pub fn write(instance: &Instance, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "NAME : {}", one_line(instance.name()))?;
    for comment in instance.comments() {
        writeln!(out, "COMMENT : {}", one_line(comment))?;
    }
    writeln!(out, "TYPE : {}", if instance.kind() == Kind::Atsp { "ATSP" } else { "TSP" })?;
    writeln!(out, "DIMENSION : {}", instance.len())?;
    match instance.distances() {
        Distances::Points { metric, points } => {
            let keyword = match metric {
                _ if instance.is_exact() => metric.keyword(),
                Metric::Euc2d => "EXACT_2D",
                Metric::Euc3d => "EXACT_3D",
                _ => {
                    let why = format!("TSPLIB has no unrounded {}", metric.keyword());
                    return Err(io::Error::new(io::ErrorKind::Unsupported, why));
                }
            };
            writeln!(out, "EDGE_WEIGHT_TYPE : {keyword}")?;
            write_places(
                instance,
                "NODE_COORD_SECTION",
                points.iter().map(|p| instance.as_given(*p)),
                metric.dimensions(),
                out,
            )?;
        }
        Distances::Matrix(matrix) => write_matrix(instance, matrix, out)?,
    }
    if !instance.fixed_edges().is_empty() {
        writeln!(out, "FIXED_EDGES_SECTION")?;
        for &(a, b) in instance.fixed_edges() {
            writeln!(out, "{} {}", instance.id(a), instance.id(b))?;
        }
        writeln!(out, "-1")?;
    }
    writeln!(out, "EOF")
}

/// Removes line breaks: a value ends with its line, and a line break would start another keyword.
pub fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn write_places<const D: usize>(
    instance: &Instance,
    section: &str,
    places: impl Iterator<Item = [f64; D]>,
    dimensions: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{section}")?;
    for (node, place) in (0..).zip(places) {
        write!(out, "{}", instance.id(node))?;
        for coordinate in &place[..dimensions] {
            write!(out, " {coordinate}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_matrix(instance: &Instance, matrix: &[i32], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "EDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX")?;
    let display = instance.display_points();
    // Only coordinates give numbers to nodes; in a matrix instance they are places to draw the nodes at.
    let (section, kind) = if instance.ids().is_some() {
        ("NODE_COORD_SECTION", "COORD_DISPLAY")
    } else {
        ("DISPLAY_DATA_SECTION", "TWOD_DISPLAY")
    };
    if display.is_some() {
        writeln!(out, "DISPLAY_DATA_TYPE : {kind}")?;
    }
    writeln!(out, "EDGE_WEIGHT_SECTION")?;
    for (from, row) in (0..).zip(matrix.chunks(instance.len())) {
        for (to, weight) in (0..).zip(row) {
            match instance.is_as_given() && instance.forbidden().is_none() || from == to {
                true => write!(out, "{weight} ")?,
                false => write!(out, "{} ", instance.edge_cost(from, to))?,
            }
        }
        writeln!(out)?;
    }
    match display {
        Some(places) => write_places(instance, section, places.into_iter(), 2, out),
        None => Ok(()),
    }
}
