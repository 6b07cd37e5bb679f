//! Published instances, which are not part of the project.

use std::path::{Path, PathBuf};

use crate::harness;

/// Returns the folder of published instances, which has these folders in it. Without it the test that asks counts as ignored.
pub fn folder(needed: &[&str]) -> Option<PathBuf> {
    let folder = std::env::var_os("ANTWARP_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    let missing = needed.iter().find(|needed| !folder.join(needed).is_dir());
    if let Some(missing) = missing {
        harness::ignore(format!(
            "there is no {missing}/ in {}; ANTWARP_DATA names the folder of published instances",
            folder.display()
        ));
        return None;
    }
    Some(folder)
}
