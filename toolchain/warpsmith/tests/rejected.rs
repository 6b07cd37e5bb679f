//! What the compiler must reject, and where: each file of `tests/rejected` has a line with `//~ TEXT`, and an error with this text
//! must point to that line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder of compiled crates, and this crate in it.
fn compiled() -> (PathBuf, PathBuf) {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap().to_path_buf();
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libwarpsmith-") && name.ends_with(".rlib")
    };
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_ours);
    let mut files: Vec<PathBuf> = files.collect();
    files.sort_by_key(|path| std::cmp::Reverse(path.metadata().unwrap().modified().unwrap()));
    // There is one for each set of features that was ever built: the newest one with macros is the one of this build.
    let probe = std::env::temp_dir().join(format!("warpsmith-probe-{}.rs", std::process::id()));
    fs::write(&probe, "pub use warpsmith::prelude::kernel;\n").unwrap();
    let newest = files.into_iter().find(|library| compile(&probe, &folder, library).is_none());
    fs::remove_file(probe).unwrap();
    (folder, newest.expect("cargo has compiled the library for this test"))
}

/// Compiles a file; returns the compiler's messages, or `None` if it takes the file.
fn compile(file: &Path, folder: &Path, library: &Path) -> Option<String> {
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args([
            "--edition=2024",
            "--crate-type=lib",
            "--crate-name=rejected",
            "--emit=metadata",
            "--color=never",
        ])
        .arg("-o")
        .arg(std::env::temp_dir().join(format!("warpsmith-rejected-{}.rmeta", std::process::id())))
        .arg("-L")
        .arg(format!("dependency={}", folder.display()))
        .arg("--extern")
        .arg(format!("warpsmith={}", library.display()))
        .arg(file)
        .output()
        .unwrap();
    (!output.status.success()).then(|| String::from_utf8(output.stderr).unwrap())
}

/// Checks that an error with the text points to the line.
fn check(file: &Path, messages: &str) -> Result<(), String> {
    let source = fs::read_to_string(file).unwrap();
    let (line, wanted) = source
        .lines()
        .enumerate()
        .find_map(|(i, line)| line.split_once("//~ ").map(|(_, text)| (i + 1, text.trim())))
        .unwrap();
    let place = format!("{}:{line}:", file.display());
    // The line itself is quoted beneath the error, without the remark it is to be found by.
    let messages = messages.replace(&format!("//~ {wanted}"), "");
    let is_it = |error: &&str| error.contains(wanted) && error.contains(&place);
    match messages.split("\n\n").find(is_it) {
        Some(_) => Ok(()),
        None => Err(format!("no error with `{wanted}` at {place}\n{messages}")),
    }
}

#[test]
fn errors_point_to_their_line() {
    let (folder, library) = compiled();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rejected");
    let mut files: Vec<PathBuf> = fs::read_dir(sources).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 20, "{} files", files.len());
    let result = |file: &PathBuf| match compile(file, &folder, &library) {
        None => Err(format!("{} compiles", file.display())),
        Some(messages) => check(file, &messages),
    };
    let wrong: Vec<String> = files.iter().filter_map(|file| result(file).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
