//! Tiny crates of kernels, and the compilers for them.

// Each test program uses its own part of this.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use warpsmith_build::environment::Variables;
use warpsmith_build::toolchain::{Search, Toolchain};
use warpsmith_build::{BuildError, Builder, Kernels, Target, compile};

/// The shape that rustc's jump threading breaks, with launch bounds.
pub const CANARY: &str = r#"
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
pub fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
"#;

/// The addresses that LLVM's straight-line strength reduction confuses: one element before `from`, or none, and vice versa.
pub const NEIGHBOURS: &str = r#"
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
pub fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
"#;

pub fn toolchain() -> Option<Toolchain> {
    Search::from_env(&Variables::default())
        .find()
        .inspect_err(|missing| println!("skipped: {missing:?}"))
        .ok()
}

/// Returns a test's folder; all tests share one cargo cache, so that `core` is compiled once per set of flags.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Writes a file unless it already has this text: cargo compares modification times.
pub fn put(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::write(path, text).unwrap();
}

pub fn build(name: &str, source: &str, flags: &[&str], toolchain: &Toolchain) -> Result<Kernels, BuildError> {
    let dir = scratch(name);
    write_crate(&dir, name, source);
    let builder = builder(&dir, flags);
    let builder = if source.contains("fn canary") { builder.expect_one_barrier("canary") } else { builder };
    builder.build_with(toolchain)
}

/// Builds a crate that has no canary, and returns its PTX.
pub fn build_plain(dir: &Path, flags: &[&str], toolchain: &Toolchain) -> String {
    let kernels = builder(dir, flags).build_with(toolchain).unwrap();
    fs::read_to_string(&kernels.files[0].path).unwrap()
}

pub fn builder(dir: &Path, flags: &[&str]) -> Builder {
    Builder::new(dir)
        .target(Target::new("sm_70", "ptx70"))
        .flags(flags)
        .out_dir(dir)
        .cache_dir(scratch("device"))
}

pub fn write_crate(dir: &Path, name: &str, source: &str) {
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
pub fn flags_without(word: &str) -> Vec<&'static str> {
    let rest: Vec<&str> = compile::FLAGS.iter().copied().filter(|flag| !flag.contains(word)).collect();
    assert_eq!(rest.len() + 1, compile::FLAGS.len());
    rest
}

/// Returns every available compiler: each has its own LLVM.
pub fn toolchains() -> Vec<Toolchain> {
    let first = toolchain();
    let system = PathBuf::from(format!("/usr/bin/rustc{}", std::env::consts::EXE_SUFFIX));
    let search =
        Search { named_rustc: Some(system), named_cargo: None, ..Search::from_env(&Variables::default()) };
    let second =
        search.find().ok().filter(|second| first.as_ref().is_none_or(|first| first.rustc != second.rustc));
    first.into_iter().chain(second).collect()
}

/// What every crate of the tests starts and ends with.
pub fn kernels(body: &str) -> String {
    let head = "#![no_std]\n#![feature(abi_ptx, stdarch_nvptx, asm_experimental_arch, link_llvm_intrinsics, abi_unadjusted)]\n\
                #![allow(internal_features, unused_features)]\n";
    let end = "#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {\n    loop {}\n}\n";
    let body = body.replace("KERNEL", "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn");
    format!("{head}{body}{end}")
}
