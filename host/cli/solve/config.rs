//! `--config FILE`: an algorithm and its settings as JSON.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::{Error, Result};
use super::args::algorithm_named;
use crate::instance::{InstanceError, Room, Text, source};
use crate::solver::settings::Declaration;

/// Numbers of a file that there is room for: of a run, most of them its tour.
const MOST_NUMBERS: u64 = 1 << 24;

/// What a file asks for.
#[derive(Clone, Debug)]
pub(super) struct Config {
    /// The file.
    pub path: PathBuf,
    /// The algorithm, if the file names one.
    pub algorithm: Option<Declaration>,
    /// The settings by the names of their fields.
    pub settings: Map<String, Value>,
}

impl Config {
    /// Reads a file: an object of settings, which may name the `algorithm` too, or the JSON that a run wrote.
    ///
    /// # Errors
    /// If it cannot be read, is no such object, or names an algorithm that there is not.
    pub(super) fn read(path: &Path) -> Result<Config> {
        let help = "give an object of settings, or what antwarp solve --json has written";
        let unusable =
            |problem: String| Error::Input(InstanceError::content(path.display().to_string(), problem, help));
        let room = |_: Text<'_>| Room::numbers(MOST_NUMBERS, "settings");
        let bytes = source::load(path, room).map_err(|error| Error::Input(error.where_missing(help)))?;
        let mut all: Map<String, Value> =
            serde_json::from_slice(&bytes).map_err(|error| unusable(format!("no settings: {error}")))?;
        let name = all.remove("algorithm");
        let algorithm = name.map(|name| {
            let known = name.as_str().and_then(algorithm_named);
            known.ok_or_else(|| unusable(format!("there is no algorithm {name}")))
        });
        let algorithm = algorithm.transpose()?;
        // The rest of a run's report is not about how it was made.
        let settings = match all.remove("settings") {
            Some(Value::Object(settings)) if all.is_empty() || all.contains_key("antwarp") => settings,
            None => all,
            Some(_) => return Err(unusable("\"settings\" stand beside others, or are no object".to_owned())),
        };
        Ok(Config { path: path.to_owned(), algorithm, settings })
    }
}
