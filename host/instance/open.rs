//! Opening an instance by path or by name.

use std::path::Path;

use super::content::Reading;
use super::encoding;
use super::error::{InstanceError, Result, Text};
use super::format::{self, Format};
use super::model::Instance;
use super::read_options::ReadOptions;
use super::source::{self, Room};
use super::{dimacs, json, npy, table, tsplib};

/// Maximum number of bytes of a table or of JSON.
const MOST: u64 = 1 << 31;

impl Instance {
    /// Reads an instance file, or generates the instance of this name, without options.
    ///
    /// # Errors
    /// As [`Instance::open_with`].
    pub fn open(path_or_name: impl AsRef<Path>) -> Result<Instance> {
        Instance::open_with(path_or_name, &ReadOptions::default())
    }

    /// Reads an instance file, or makes the generated instance of this name.
    ///
    /// The format is determined by the content of the file, not its name: TSPLIB, delimited text or arrays of coordinates, costs or
    /// edges with or without names, JSON, or an array of numpy. The file may be compressed by gzip, and be in UTF-8, UTF-16 or latin-1. `-` is the
    /// standard input. Names such as `E10k.0` need no file (see [`dimacs`]).
    ///
    /// # Errors
    /// If the file cannot be read, or its content has no interpretation or more than one; the remedy is in the error.
    pub fn open_with(path_or_name: impl AsRef<Path>, options: &ReadOptions) -> Result<Instance> {
        let path = path_or_name.as_ref();
        if let Some(name) = path.to_str().filter(|name| dimacs::is_name(name)) {
            refuse_two_meanings(path, name)?;
            if let Some(instance) = dimacs::by_name(name) {
                return Ok(instance);
            }
        }
        let bytes = source::load_checked(path, room)?;
        Instance::parse(&source::shown(path), &source::stem(path), &bytes, options)
    }

    /// Parses an instance from the bytes of a file; `file` is named in errors, `name` is used if the file does not name the
    /// instance.
    ///
    /// # Errors
    /// If they have no interpretation, or more than one.
    pub fn parse(file: &str, name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Instance> {
        let text = Text { file, bytes };
        if npy::is_array(bytes) {
            return npy::read(text, options)?.into_instance(file, name);
        }
        format::refuse_foreign(text)?;
        let decoded = encoding::decode(text)?;
        let text = Text { file, bytes: &decoded.bytes };
        let notes = decoded.encoding.iter().map(|encoding| (*encoding).to_owned()).collect();
        match format::of(text)? {
            Format::Tsplib => tsplib::parse_with(file, name, &decoded.bytes, options),
            format => read_text(text, format, options, notes)?.into_instance(file, name),
        }
    }
}

/// Reads a text that is not TSPLIB.
fn read_text(text: Text<'_>, format: Format, options: &ReadOptions, notes: Vec<String>) -> Result<Reading> {
    match format {
        Format::Json => json::read(text, options, notes),
        Format::Arrays => table::arrays(text, options, notes),
        Format::Delimited | Format::Tsplib => table::delimited(text, options, notes),
    }
}

/// Rejects a name that is both a file and a generated instance: neither is preferred over the other.
fn refuse_two_meanings(path: &Path, name: &str) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let other = dimacs::long_name(name).filter(|other| other != name && !Path::new(other).exists());
    let other = other.map_or_else(
        || "for the generated instance, run in another folder".to_owned(),
        |other| format!("`{other}` is the generated instance"),
    );
    Err(InstanceError::content(
        name,
        "this is both a file and the name of a generated instance",
        format!("`./{name}` is the file; {other}"),
    ))
}

/// Returns how long a file with this start can be.
fn room(begin: Text<'_>) -> Result<Room> {
    if npy::is_array(begin.bytes) {
        return npy::room(begin);
    }
    format::refuse_foreign(begin)?;
    let width = encoding::width(begin.bytes);
    let decoded = encoding::decode_begin(begin.bytes);
    let text = Text { file: begin.file, bytes: &decoded };
    if width == 1 && decoded.contains(&0) {
        encoding::decode(begin)?;
    }
    Ok(match format::of(text)? {
        Format::Tsplib => tsplib::room(text).times(width),
        Format::Json | Format::Arrays => Room::bytes(MOST, "JSON or an array"),
        Format::Delimited => Room::bytes(MOST, "a table"),
    })
}
