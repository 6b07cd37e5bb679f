//! Builds tiny kernel crates with the compiler that is there. Without one, each test says so and ends.

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
        // SAFETY: `out` has a place for every thread, and 128 more.
        unsafe { *out.add(thread as usize + 128) = 1 };
        flag = true;
    }
    // SAFETY: all threads of the block come here.
    unsafe { _syncthreads() };
    // SAFETY: as above.
    unsafe { *out.add(thread as usize) = if flag { 2 * thread + 1 } else { 3 * thread + 2 } };
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
"#;

fn toolchain() -> Option<Toolchain> {
    Search::from_env().find().inspect_err(|missing| println!("skipped: {missing:?}")).ok()
}

/// All tests share one cargo cache, so that `core` is compiled once a set of flags.
fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Writes a file that is not there like this: cargo goes by the time of the last change.
fn put(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::write(path, text).unwrap();
}

fn build(name: &str, source: &str, flags: &[&str], toolchain: &Toolchain) -> Result<Kernels, BuildError> {
    let dir = scratch(name);
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
         [lib]\npath = \"{{crate}}/src/lib.rs\"\n\
         [profile.release]\nopt-level = 3\nlto = \"fat\"\ncodegen-units = 1\npanic = \"abort\"\n"
    );
    fs::create_dir_all(dir.join("src")).unwrap();
    put(&dir.join("Cargo.toml.in"), &manifest);
    let lock = format!("version = 4\n\n[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n");
    put(&dir.join("Cargo.lock"), &lock);
    put(&dir.join("src/lib.rs"), source);
    KernelBuilder::new(&dir)
        .target(Target::new("sm_70", "ptx70"))
        .expect_one_barrier("canary")
        .flags(flags)
        .out_dir(&dir)
        .cache_dir(scratch("device"))
        .build_with(toolchain)
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

/// When each file of this crate's PTX was written.
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
    let without: Vec<&str> =
        compile::FLAGS.iter().copied().filter(|f| !f.contains("JumpThreading")).collect();
    assert_eq!(without.len() + 1, compile::FLAGS.len());
    match build("threaded", CANARY, &without, &toolchain) {
        Err(BuildError::Check { faults, .. }) => {
            assert_eq!(faults, ["canary holds 2 barriers, not 1: barriers are copied or lost"]);
        }
        other => panic!("this rustc keeps barriers in place by itself, the flag can go: {other:?}"),
    }
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
