//! Builds tiny kernel crates with the available compiler. Without one, each test says so and ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use antwarp_kernel_builder::toolchain::{Search, Toolchain};
use antwarp_kernel_builder::{BuildError, KernelBuilder, Kernels, Target, compile, ptx};

/// The shape that rustc's jump threading breaks, with launch bounds.
const CANARY: &str = r#"
#![no_std]
#![feature(abi_ptx, stdarch_nvptx, asm_experimental_arch)]
use core::arch::nvptx::{_syncthreads, _thread_idx_x};

core::arch::global_asm!("//@launch_bounds canary 128 2");

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn canary(out: *mut u32) {
    // SAFETY: a special register.
    let thread = unsafe { _thread_idx_x() as u32 };
    let mut flag = false;
    if thread < 16 {
        // SAFETY: `out` has an entry for every thread, and 128 more.
        unsafe { *out.add(thread as usize + 128) = 1 };
        flag = true;
    }
    // SAFETY: all threads of the block call this.
    unsafe { _syncthreads() };
    // SAFETY: as above.
    unsafe { *out.add(thread as usize) = if flag { 2 * thread + 1 } else { 3 * thread + 2 } };
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
"#;

/// The addresses that LLVM's straight-line strength reduction confuses: one element before `from`, or none, and vice versa.
const NEIGHBOURS: &str = r#"
#![no_std]
#![feature(abi_ptx)]

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn neighbours(from: *const u32, a: u32, b: u32, out: *mut u32) {
    let back = a < b;
    // SAFETY: `from` has an element before it, `out` has two places.
    unsafe {
        *out = *from.wrapping_sub(back as usize);
        *out.add(1) = *from.wrapping_sub(!back as usize);
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
"#;

fn toolchain() -> Option<Toolchain> {
    Search::from_env().find().inspect_err(|missing| println!("skipped: {missing:?}")).ok()
}

/// Returns a test's folder; all tests share one cargo cache, so that `core` is compiled once per set of flags.
fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Writes a file unless it already has this text: cargo compares modification times.
fn put(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::write(path, text).unwrap();
}

fn build(name: &str, source: &str, flags: &[&str], toolchain: &Toolchain) -> Result<Kernels, BuildError> {
    let dir = scratch(name);
    write_crate(&dir, name, source);
    builder(&dir, flags).expect_one_barrier("canary").build_with(toolchain)
}

/// Builds a crate that has no canary, and returns its PTX.
fn build_plain(dir: &Path, flags: &[&str], toolchain: &Toolchain) -> String {
    let kernels = builder(dir, flags).build_with(toolchain).unwrap();
    fs::read_to_string(&kernels.files[0].path).unwrap()
}

fn builder(dir: &Path, flags: &[&str]) -> KernelBuilder {
    KernelBuilder::new(dir)
        .target(Target::new("sm_70", "ptx70"))
        .flags(flags)
        .out_dir(dir)
        .cache_dir(scratch("device"))
}

fn write_crate(dir: &Path, name: &str, source: &str) {
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
         [lib]\npath = \"{{crate}}/src/lib.rs\"\n\
         [profile.release]\nopt-level = 3\nlto = \"fat\"\ncodegen-units = 1\npanic = \"abort\"\n\
         [profile.release.package.\"*\"]\nopt-level = 0\n"
    );
    fs::create_dir_all(dir.join("src")).unwrap();
    put(&dir.join("Cargo.toml.in"), &manifest);
    let lock = format!("version = 4\n\n[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n");
    put(&dir.join("Cargo.lock"), &lock);
    put(&dir.join("src/lib.rs"), source);
}

/// Returns all of [`compile::FLAGS`] except the one that contains this word.
fn flags_without(word: &str) -> Vec<&'static str> {
    let rest: Vec<&str> = compile::FLAGS.iter().copied().filter(|flag| !flag.contains(word)).collect();
    assert_eq!(rest.len() + 1, compile::FLAGS.len());
    rest
}

/// Returns every available compiler: each has its own LLVM.
fn toolchains() -> Vec<Toolchain> {
    let first = toolchain();
    let system = PathBuf::from(format!("/usr/bin/rustc{}", std::env::consts::EXE_SUFFIX));
    let search = Search { named_rustc: Some(system), named_cargo: None, ..Search::from_env() };
    let second =
        search.find().ok().filter(|second| first.as_ref().is_none_or(|first| first.rustc != second.rustc));
    first.into_iter().chain(second).collect()
}

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
    assert!(fs::read_to_string(&file.report).unwrap().contains("kernel canary: 1 barriers"));
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
fn with_jump_threading_the_canary_is_refused() {
    let Some(toolchain) = toolchain() else { return };
    match build("threaded", CANARY, &flags_without("JumpThreading"), &toolchain) {
        Err(BuildError::Check { faults, .. }) => {
            assert_eq!(faults, ["canary holds 2 barriers, not 1: barriers are copied or lost"]);
        }
        other => panic!("this rustc keeps barriers in place by itself, the flag can go: {other:?}"),
    }
}

/// Both addresses depend on `back`, so neither of them is the other plus a constant.
#[test]
fn strength_reduction_would_read_from_a_wrong_address() {
    let dir = scratch("neighbours");
    write_crate(&dir, "neighbours", NEIGHBOURS);
    for toolchain in toolchains() {
        let loads = |flags: &[&str]| -> Vec<String> {
            let ptx = build_plain(&dir, flags, &toolchain);
            ptx.lines().filter(|line| line.contains("ld.global.b32")).map(str::to_string).collect()
        };
        let right = loads(compile::FLAGS);
        assert!(right.len() == 2 && right.iter().all(|load| !load.contains('+')), "{toolchain:?}: {right:?}");
        let wrong = loads(&flags_without("slsr"));
        assert!(
            wrong.len() == 2 && wrong[1].contains("+-4]"),
            "the pass of {} is right by itself, the flag can go: {wrong:?}",
            toolchain.version
        );
    }
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
printf '.version 7.0\n.target %s\n.address_size 64\n' "$cpu" >"$ptx"
"#;

#[cfg(unix)]
fn fake_cargo(root: &Path) -> Toolchain {
    use std::os::unix::fs::PermissionsExt;
    let cargo = root.join("cargo");
    fs::write(&cargo, FAKE_CARGO).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    Toolchain { cargo, rustc: "rustc".into(), version: "rustc 1.95.0".into() }
}

#[cfg(unix)]
#[test]
fn dependencies_are_compiled_once_for_all_architectures() {
    let root = scratch("shared");
    let _ = fs::remove_dir_all(&root);
    let (dir, out) = (scratch("shared/kernels"), scratch("shared/out"));
    write_crate(&dir, "kernels", NEIGHBOURS);
    let builder = KernelBuilder::new(&dir)
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
fn a_build_writes_nowhere_but_in_its_out_dir() {
    let root = scratch("inside");
    let _ = fs::remove_dir_all(&root);
    let (dir, out) = (scratch("inside/package/kernels"), scratch("inside/target/debug/build/package-1/out"));
    write_crate(&dir, "kernels", NEIGHBOURS);
    let toolchain = fake_cargo(&root);
    let before = files_below(&root);
    let builder = KernelBuilder::new(&dir).target(Target::new("sm_70", "ptx70")).out_dir(&out);
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
