//! What the fuzzer checks, for the files of its corpus: what it found once does not come back.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../fuzz/src/lib.rs"]
mod readers;

tests! {
    readers_take_or_refuse_every_file,
    every_reader_has_a_target_and_a_corpus,
}

fn in_folder(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(folder);
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn readers_take_or_refuse_every_file() {
    for (name, read) in readers::READERS {
        let files = in_folder(&format!("corpus/{name}"));
        assert!(!files.is_empty(), "{name}");
        for file in files {
            // The last one that is told is the one that failed.
            println!("{}", file.display());
            read(&fs::read(file).unwrap());
        }
    }
}

fn every_reader_has_a_target_and_a_corpus() {
    let stem = |path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let names: BTreeSet<_> = readers::READERS.iter().map(|(name, _)| name.to_string()).collect();
    for folder in ["fuzz_targets", "corpus"] {
        assert_eq!(in_folder(folder).into_iter().map(stem).collect::<BTreeSet<_>>(), names, "{folder}");
    }
}
