//! The files of checkpoints, of all kinds of runs.
//!
//! A file has a line with the format, a line of JSON, the arrays of each run, and a checksum of all that. It is written as a whole
//! or not at all.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::{Cost, State};
use crate::instance::{InstanceError, atomic_file};
use crate::memory;

/// The first line of a file.
pub(super) const FORMAT: &str = "antwarp checkpoint 2\n";
/// What the first line starts with in every version.
const NAME: &str = "antwarp checkpoint ";
/// What to do with a file of another version.
const OTHER_VERSION: &str = "continue with that version, or start again from nothing";
/// Bytes of the checksum at the end: CRC-32.
const CHECKSUM: usize = size_of::<u32>();
/// What to give instead of a file that is not a checkpoint.
const OTHER: &str = "give a file that was written by --checkpoint; --load-population takes a population";

/// What a run is, except for its limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The name of the algorithm, or of the problem of a search.
    pub(super) kind: String,
    /// The instance's name.
    pub(super) instance: String,
    /// Its nodes, or the elements of a solution.
    pub(super) size: usize,
    /// A hash of its data.
    #[serde(with = "hex")]
    pub(super) fingerprint: u64,
    pub(super) settings: Value,
}

/// A run between two batches, or at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// How long it has taken so far.
    pub elapsed: Duration,
    /// Iterations done.
    pub iterations: u64,
    /// The best internal cost so far.
    pub cost: Cost,
    /// The arrays of its state; of a run of tours, the best tour comes before those of the engine.
    pub state: State,
}

/// The second line of a file.
#[derive(Serialize, Deserialize)]
struct Header {
    /// The version of antwarp.
    antwarp: String,
    #[serde(flatten)]
    subject: Subject,
    limits: Value,
    /// `None` for a run of which nothing is known yet.
    runs: Vec<Option<PartHeader>>,
}

/// A [`Part`] without its arrays.
#[derive(Serialize, Deserialize)]
struct PartHeader {
    elapsed: Duration,
    iterations: u64,
    cost: Cost,
    is_common: bool,
    /// The bytes of each array.
    arrays: Vec<usize>,
}

/// Numbers as hexadecimal digits: as a number, a JSON reader may round them.
mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{number:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        u64::from_str_radix(&String::deserialize(from)?, 16).map_err(D::Error::custom)
    }
}

impl PartHeader {
    fn of(part: &Part) -> PartHeader {
        let &Part { elapsed, iterations, cost, ref state } = part;
        let arrays = state.arrays().iter().map(Vec::len).collect();
        PartHeader { elapsed, iterations, cost, is_common: state.is_common, arrays }
    }

    /// Takes the part's arrays from the start of some bytes; `None` if there are too few.
    fn part(self, bytes: &mut &[u8]) -> Option<Part> {
        let mut arrays = Vec::new();
        for size in self.arrays {
            let (array, rest) = bytes.split_at_checked(size)?;
            arrays.push(array.to_vec());
            *bytes = rest;
        }
        let state = State::of(arrays).common(self.is_common);
        Some(Part { elapsed: self.elapsed, iterations: self.iterations, cost: self.cost, state })
    }
}

impl Part {
    /// Encodes it as one message between processes.
    ///
    /// # Errors
    /// If memory is short, or it cannot be written.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let header = serde_json::to_vec(&PartHeader::of(self))?;
        let size = self.state.arrays().iter().map(Vec::len).sum::<usize>() + header.len() + size_of::<u64>();
        let mut bytes = Vec::new();
        memory::reserve(&mut bytes, size).map_err(|shortage| io::Error::other(shortage.to_string()))?;
        bytes.extend((header.len() as u64).to_le_bytes());
        bytes.extend(header);
        self.state.arrays().iter().for_each(|array| bytes.extend(array));
        Ok(bytes)
    }

    /// Decodes a message; `None` if it is invalid.
    pub fn of(bytes: &[u8]) -> Option<Part> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (header, mut rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let part = serde_json::from_slice::<PartHeader>(header).ok()?.part(&mut rest)?;
        rest.is_empty().then_some(part)
    }
}

/// A file that was read.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub subject: Subject,
    pub limits: Value,
    pub runs: Vec<Option<Part>>,
}

/// Returns an error about a file.
pub(super) fn wrong(path: &Path, problem: impl Into<String>, help: &str) -> InstanceError {
    InstanceError::content(path.display().to_string(), problem.into(), help)
}

/// Returns the error for a damaged file.
pub(super) fn damaged(path: &Path) -> InstanceError {
    wrong(path, "is damaged or incomplete", "give an older copy, or start again from nothing")
}

/// Reads a file.
///
/// # Errors
/// If it cannot be read, is not a checkpoint, is damaged, or was written by another version.
pub(super) fn read(path: &Path) -> Result<Content, InstanceError> {
    let unreadable = |cause| InstanceError::read(path, cause).where_missing(OTHER);
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    memory::check(2 * size).map_err(|_| {
        wrong(path, "is larger than the memory that is free", "run it where there is more memory")
    })?;
    let bytes = std::fs::read(path).map_err(unreadable)?;
    if !bytes.starts_with(FORMAT.as_bytes()) {
        let is_cut_short = bytes.len() <= FORMAT.len();
        if bytes.starts_with(NAME.as_bytes()) && !is_cut_short {
            return Err(wrong(path, "was written by another version of antwarp", OTHER_VERSION));
        }
        return Err(wrong(path, "is not a checkpoint", OTHER));
    }
    let damaged = || damaged(path);
    let (content, sum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(damaged)?;
    if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
        return Err(damaged());
    }
    let rest = content.get(FORMAT.len()..).ok_or_else(damaged)?;
    let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(damaged)?;
    let header: Header = serde_json::from_slice(&rest[..end]).map_err(|_| damaged())?;
    if header.antwarp != env!("CARGO_PKG_VERSION") {
        let (theirs, ours) = (&header.antwarp, env!("CARGO_PKG_VERSION"));
        let problem = format!("was written by antwarp {theirs}; this is {ours}");
        return Err(wrong(path, problem, OTHER_VERSION));
    }
    let mut rest = &rest[end + 1..];
    let mut runs = Vec::new();
    for run in header.runs {
        runs.push(run.map(|run| run.part(&mut rest).ok_or_else(damaged)).transpose()?);
    }
    if !rest.is_empty() || runs.iter().all(Option::is_none) {
        return Err(damaged());
    }
    Ok(Content { subject: header.subject, limits: header.limits, runs })
}

/// Writes a file.
///
/// # Errors
/// If it cannot be written: then the old one stays.
pub(super) fn write(
    path: &Path,
    (subject, limits): (&Subject, &Value),
    runs: &[Option<Part>],
) -> Result<(), InstanceError> {
    let header = Header {
        antwarp: env!("CARGO_PKG_VERSION").to_owned(),
        subject: subject.clone(),
        limits: limits.clone(),
        runs: runs.iter().map(|run| run.as_ref().map(PartHeader::of)).collect(),
    };
    atomic_file::write(path, |out| {
        let mut out = Summed { out, sum: crc32fast::Hasher::new() };
        out.write_all(FORMAT.as_bytes())?;
        serde_json::to_writer(&mut out, &header)?;
        out.write_all(b"\n")?;
        let arrays = runs.iter().flatten().flat_map(|run| run.state.arrays());
        for array in arrays {
            out.write_all(array)?;
        }
        let sum = out.sum.clone().finalize();
        out.out.write_all(&sum.to_le_bytes())
    })
}

/// Computes the checksum of what is written.
struct Summed<'w> {
    out: &'w mut dyn Write,
    sum: crc32fast::Hasher,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_as_they_were() {
        let mut state = State::default().common(true);
        state.put(&[1_u32, 2, 3]).unwrap();
        state.put::<u8>(&[]).unwrap();
        let elapsed = Duration::from_nanos(1_234_567_891);
        let part = Part { elapsed, iterations: u64::MAX, cost: Cost::Whole(-7), state };
        let bytes = part.to_bytes().unwrap();
        assert_eq!(Part::of(&bytes), Some(part));
        assert!((0..bytes.len()).all(|length| Part::of(&bytes[..length]).is_none()));
        assert_eq!(Part::of(&[&bytes[..], &[0]].concat()), None);
    }
}
