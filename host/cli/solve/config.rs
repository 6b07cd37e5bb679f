//! `--config FILE`: an algorithm and its settings as JSON.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::options::{MOST_NUMBERS, not_json};
use super::super::{Error, Result};
use super::args::algorithm_named;
use crate::instance::{InstanceError, Room, Text, source};
use crate::solver::settings::Declaration;

/// The content of a file.
#[derive(Clone, Debug)]
pub(super) struct Config {
    /// The file.
    pub path: PathBuf,
    /// The algorithm, if the file names one.
    pub algorithm: Option<Declaration>,
    /// The settings by field name, unchecked.
    pub settings: Map<String, Value>,
}

impl Config {
    /// Reads a file: an object of settings, which may also name the `algorithm`, or the JSON written by a run.
    ///
    /// # Errors
    /// If it cannot be read, is not such an object, or names an unknown algorithm.
    pub(super) fn read(path: &Path) -> Result<Config> {
        let help = "give an object of settings such as {\"neighbors\": 8}, or a file written by antwarp solve --json";
        let unusable =
            |problem: String| Error::Input(InstanceError::content(path.display().to_string(), problem, help));
        let room = |_: Text<'_>| Room::numbers(MOST_NUMBERS, "settings");
        let bytes = source::load(path, room).map_err(|error| Error::Input(error.where_missing(help)))?;
        let mut all: Map<String, Value> = serde_json::from_slice(&bytes)
            .map_err(|error| unusable(not_json("an object of settings", &bytes, &error)))?;
        let name = all.remove("algorithm");
        let algorithm = name.map(|name| {
            let known = name.as_str().and_then(algorithm_named);
            known.ok_or_else(|| unusable(format!("unknown algorithm {name}")))
        });
        let algorithm = algorithm.transpose()?;
        // The rest of a run's report is not about its settings.
        let settings = match all.remove("settings") {
            Some(Value::Object(settings)) if all.is_empty() || all.contains_key("antwarp") => settings,
            None => all,
            Some(_) => {
                return Err(unusable(
                    "\"settings\" is not an object, or there are settings outside it".to_owned(),
                ));
            }
        };
        Ok(Config { path: path.to_owned(), algorithm, settings })
    }
}
