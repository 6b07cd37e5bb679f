//! Builds tiny kernel crates with the available compiler. Without one, each test says so and ends.

use std::fs;
#[cfg(unix)]
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;
use std::time::SystemTime;

use common::{CANARY, NEIGHBOURS, build, build_plain, scratch, toolchain, write_crate};
use warpsmith_build::{BuildError, compile, ptx};
#[cfg(unix)]
use warpsmith_build::{Builder, Target, toolchain::Toolchain};

mod common;

#[test]
fn a_kernel_becomes_ptx_with_launch_bounds_and_one_barrier() {
    let Some(toolchain) = toolchain() else { return };
    let kernels = build("good", CANARY, compile::FLAGS, &toolchain).unwrap();
    assert_eq!(kernels.rustc, toolchain.version);
    let [file] = kernels.files.as_slice() else { panic!("{kernels:?}") };
    let text = fs::read_to_string(&file.path).unwrap();
    let parts = ptx::split(&text);
    assert_eq!(parts.kernels.iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>(), ["canary"]);
    let mut joined = parts.common;
    joined.insert_str(parts.kernels[0].at, &parts.kernels[0].text);
    assert_eq!(joined, text);
    assert!(text.contains(".target sm_70\n") && text.contains(".version 7.0\n"), "{text}");
    assert!(text.contains(".maxntid 128, 1, 1\n.minnctapersm 2\n{"), "{text}");
    assert!(fs::read_to_string(&file.report).unwrap().contains(" instructions, 1 barriers"));
}

/// Returns when each file of this crate's PTX was written.
fn compiled(name: &str) -> Vec<SystemTime> {
    let files = fs::read_dir(scratch("device").join("sm_70")).unwrap().map(|file| file.unwrap());
    let of_crate = files.filter(|file| file.file_name().to_string_lossy().starts_with(&format!("{name}-")));
    of_crate.map(|file| file.metadata().unwrap().modified().unwrap()).collect()
}

#[test]
fn an_unchanged_crate_is_not_compiled_again() {
    let Some(toolchain) = toolchain() else { return };
    let ptx = || {
        let kernels = build("unchanged", CANARY, compile::FLAGS, &toolchain).unwrap();
        (fs::read_to_string(&kernels.files[0].path).unwrap(), compiled("unchanged"))
    };
    let (text, times) = ptx();
    assert!(!times.is_empty());
    assert_eq!(ptx(), (text, times));
}

#[test]
fn crates_of_one_name_keep_their_own_ptx() {
    let Some(toolchain) = toolchain() else { return };
    let dirs = ["one/kernels", "two/kernels"].map(scratch);
    for (dir, to) in dirs.iter().zip(["neighbours", "strangers"]) {
        write_crate(dir, "kernels", &NEIGHBOURS.replace("neighbours", to));
    }
    let build = |at: usize| build_plain(&dirs[at], compile::FLAGS, &toolchain);
    let first = build(0);
    assert!(build(1).contains(".entry strangers("));
    assert_eq!(build(0), first, "the second build gave the first crate's kernels away");
}

/// Takes the place of cargo: it writes what cargo and rustc would, where they would, and a file with the name of its folder.
#[cfg(unix)]
const FAKE_CARGO: &str = r#"#!/bin/sh
mkdir -p "$CARGO_TARGET_DIR" && : >"$CARGO_TARGET_DIR/written" || exit 1
: >"$CARGO_TARGET_DIR/in-${CARGO_TARGET_DIR##*/}"
for word; do
    case $word in -Ctarget-cpu=*) cpu=${word#-Ctarget-cpu=} ;; --emit=asm=*) ptx=${word#--emit=asm=} ;; esac
done
ptx=${ptx%,llvm-ir=*}
printf '.version 7.0\n.target %s\n.address_size 64\n.visible .entry k()\n{\n}\n' "$cpu" >"$ptx"
: >"${ptx%.ptx}.ll"
"#;

#[cfg(unix)]
fn fake_cargo(root: &Path) -> Toolchain {
    let [script, cargo] = ["cargo.sh", "cargo"].map(|name| root.join(name));
    fs::write(&script, FAKE_CARGO).unwrap();
    // Another process writes what is run: children that other tests start would hold it open for writing ("Text file busy").
    let status = Command::new("install").args(["-m", "755"]).args([&script, &cargo]).status();
    assert!(status.unwrap().success());
    Toolchain { cargo, rustc: "rustc".into(), version: "rustc 1.95.0".into() }
}

#[cfg(unix)]
#[test]
fn dependencies_are_compiled_once_for_all_architectures() {
    let root = scratch("shared");
    let _ = fs::remove_dir_all(&root);
    let (dir, out) = (scratch("shared/kernels"), scratch("shared/out"));
    write_crate(&dir, "kernels", NEIGHBOURS);
    let builder = Builder::new(&dir)
        .target(Target::new("sm_70", "ptx70"))
        .target(Target::new("sm_90", "ptx80"))
        .out_dir(&out);
    let kernels = builder.build_with(&fake_cargo(&root)).unwrap();
    for file in &kernels.files {
        let arch = file.target.arch();
        assert!(fs::read_to_string(&file.path).unwrap().contains(&format!(".target {arch}\n")));
        // What was compiled first is in the folder of each architecture, and nothing of the other one's.
        let device = out.join("device").join(arch);
        let has = |name: &str| device.join(format!("in-{name}")).exists();
        let other = if arch == "sm_70" { "sm_90" } else { "sm_70" };
        assert!(has("dependencies") && has(arch) && !has(other), "{arch}");
    }
    assert!(!out.join("device/dependencies").exists());
}

#[cfg(unix)]
#[test]
fn packaged_kernels_are_of_one_lock_file_and_of_the_dependencies_sources() {
    let root = scratch("fingerprint");
    let _ = fs::remove_dir_all(&root);
    let (dir, out) = (scratch("fingerprint/kernels"), scratch("fingerprint/out"));
    let (toolchain, core) = (fake_cargo(&root), scratch("fingerprint/core"));
    write_crate(&dir, "kernels", NEIGHBOURS);
    fs::write(core.join("Cargo.toml"), "[lib]\npath = \"lib.rs\"\n").unwrap();
    fs::write(core.join("lib.rs"), "").unwrap();
    let fingerprint = || {
        let builder = Builder::new(&dir).target(Target::new("sm_70", "ptx70")).dependency("core", &core);
        builder.out_dir(&out).build_with(&toolchain).unwrap().fingerprint
    };
    let mut seen = vec![fingerprint()];
    assert_eq!(fingerprint(), seen[0]);
    for (file, text) in [(dir.join("Cargo.lock"), "version = 4\n"), (core.join("lib.rs"), "// other\n")] {
        fs::write(&file, text).unwrap();
        let now = fingerprint();
        assert!(!seen.contains(&now), "{}", file.display());
        seen.push(now);
    }
}

#[cfg(unix)]
#[test]
fn a_comma_in_the_path_is_named() {
    let root = scratch("comma");
    let (dir, out) = (scratch("comma/kernels"), scratch("comma/a,b"));
    write_crate(&dir, "kernels", NEIGHBOURS);
    let builder = Builder::new(&dir).target(Target::new("sm_70", "ptx70")).out_dir(&out);
    let error = builder.build_with(&fake_cargo(&root)).unwrap_err().to_string();
    assert!(error.contains("a,b") && error.contains("CARGO_TARGET_DIR"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_build_writes_nowhere_but_in_its_out_dir() {
    let root = scratch("inside");
    let _ = fs::remove_dir_all(&root);
    let (dir, out) = (scratch("inside/package/kernels"), scratch("inside/target/debug/build/package-1/out"));
    write_crate(&dir, "kernels", NEIGHBOURS);
    let toolchain = fake_cargo(&root);
    let before = files_below(&root);
    let builder = Builder::new(&dir).target(Target::new("sm_70", "ptx70")).out_dir(&out);
    builder.build_with(&toolchain).unwrap();
    let written: Vec<PathBuf> =
        files_below(&root).into_iter().filter(|file| !before.contains(file)).collect();
    assert!(written.iter().any(|file| file.ends_with("device/sm_70/written")), "{written:?}");
    assert!(written.iter().all(|file| file.starts_with(&out)), "{written:?}");
}

#[cfg(unix)]
fn files_below(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn a_broken_kernel_shows_the_compilers_words() {
    let Some(toolchain) = toolchain() else { return };
    let broken = CANARY.replace("*out.add", "*not_there.add");
    let error = build("broken", &broken, compile::FLAGS, &toolchain).unwrap_err();
    assert!(matches!(error, BuildError::Compile { .. }));
    let text = error.to_string();
    assert!(text.contains("cannot find value `not_there`") && text.contains("sm_70"), "{text}");
}
