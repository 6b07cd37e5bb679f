//! Opening an instance by path or by name.

use std::path::Path;

use super::error::{InstanceError, Result};
use super::model::Instance;
use super::{coordinates, dimacs, tsplib};

impl Instance {
    /// Reads an instance file, or makes the generated instance of this name.
    ///
    /// A `.csv`, `.tsv`, `.txt` or `.xy` file holds coordinates or a matrix (see [`coordinates`]), any
    /// other is TSPLIB; both may be compressed by gzip, with `.gz` after the name. Names such as
    /// `E10k.0` need no file (see [`dimacs`]).
    pub fn open(path_or_name: impl AsRef<Path>) -> Result<Instance> {
        let path = path_or_name.as_ref();
        if !path.exists()
            && let Some(instance) = path.to_str().and_then(dimacs::by_name)
        {
            return Ok(instance);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("csv" | "tsv" | "txt" | "xy") => coordinates::read(path),
            Some("tour") => {
                let help = "give the instance that it is a tour of, a .tsp or .atsp file";
                Err(InstanceError::content(path.to_string_lossy(), "this is a tour, not an instance", help))
            }
            _ => tsplib::read(path),
        }
    }
}
