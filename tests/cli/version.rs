//! `antwarp --version`.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

use crate::world::{antwarp, copy_program};

tests! {
    the_short_form_is_one_line,
    the_long_form_names_build_features_kernels_and_highs,
    a_package_has_its_highs_beside_the_program,
}

const NUMBER: &str = env!("CARGO_PKG_VERSION");

fn printed(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().stderr("").get_output().stdout.clone()).unwrap()
}

/// What follows the name on a line.
fn line<'a>(text: &'a str, name: &str) -> &'a str {
    let found = text.lines().find_map(|line| line.strip_prefix(name));
    found.unwrap_or_else(|| panic!("no line {name} in\n{text}")).trim()
}

fn the_short_form_is_one_line() {
    antwarp(&["-V"]).assert().success().stdout(format!("antwarp {NUMBER}\n"));
    antwarp(&["solve", "--version"]).assert().code(2).stdout("").stderr(contains("--version"));
}

fn the_long_form_names_build_features_kernels_and_highs() {
    let text = printed(antwarp(&["--version"]).env("ANTWARP_HIGHS", "/nowhere/libhighs.so"));
    assert_eq!(text.lines().next(), Some(format!("antwarp {NUMBER}").as_str()));
    let build = line(&text, "build");
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    assert!(build.contains(std::env::consts::ARCH) && build.ends_with(profile), "{text}");
    let features = line(&text, "features");
    assert!(features.split(", ").any(|name| name == "cli"), "{text}");
    assert_eq!(features.split(", ").any(|name| name == "cuda"), cfg!(feature = "cuda"), "{text}");
    assert_eq!(line(&text, "kernels"), kernels(), "{text}");
    let highs = line(&text, "HiGHS");
    assert!(highs.starts_with("none: ") && highs.contains("/nowhere/libhighs.so"), "{text}");
}

#[cfg(feature = "cuda")]
fn kernels() -> String {
    let Ok(facts) = antwarp::backend::cuda::kernels() else { return "none".to_owned() };
    facts.architectures.iter().map(|a| format!("sm_{a}")).collect::<Vec<_>>().join(", ")
}

#[cfg(not(feature = "cuda"))]
fn kernels() -> String {
    "none".to_owned()
}

/// `bin/antwarp` loads `lib/antwarp/libhighs.so`, also when it is started by a link elsewhere; the variable goes first.
fn a_package_has_its_highs_beside_the_program() {
    if cfg!(feature = "highs") || !cfg!(target_os = "linux") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [bin, lib] = ["bin", "lib/antwarp"].map(|name| folder.path().join(name));
    for name in [&bin, &lib] {
        fs::create_dir_all(name).unwrap();
    }
    let program = bin.join("antwarp");
    copy_program(&program);
    // Not a library at all: the loader says so, and its name shows that it was tried.
    let library = lib.join("libhighs.so");
    fs::write(&library, "not a library").unwrap();
    let version = |program: &Path, variable: &str| {
        printed(Command::new(program).arg("--version").env("ANTWARP_HIGHS", variable))
    };
    let tried = contains(fs::canonicalize(&library).unwrap().to_str().unwrap());
    let text = version(&program, "");
    // A library of the machine that is found after it is not a failure.
    assert!(tried.eval(&text) || !line(&text, "HiGHS").starts_with("none"), "{text}");
    assert!(!tried.eval(&version(&program, "/nowhere/libhighs.so")));
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&program, &link).unwrap();
        assert_eq!(version(&link, ""), text);
    }
    // A real one, where there is one.
    let Some(real) = std::env::var_os("ANTWARP_HIGHS").filter(|file| !file.is_empty()) else { return };
    fs::copy(real, &library).unwrap();
    let highs = version(&program, "");
    assert!(line(&highs, "HiGHS").starts_with("1.") && tried.eval(&highs), "{highs}");
}
