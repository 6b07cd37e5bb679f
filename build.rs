//! Compiles `gpu-kernels` to PTX and writes `kernels.rs`, which the host includes. Without a toolchain for
//! kernels: a build for the CPU alone that says so. `docs/toolchain.md` has the details. Also names the target and the profile.

use std::path::Path;
use std::process::ExitCode;

use warpsmith_build::{Builder, Outcome, Target};

fn main() -> ExitCode {
    // For `antwarp --version`.
    for name in ["TARGET", "PROFILE"] {
        let value = std::env::var(name).expect("cargo sets it");
        println!("cargo::rustc-env=ANTWARP_{name}={value}");
    }
    if std::env::var_os("CARGO_FEATURE_CUDA").is_none() {
        return ExitCode::SUCCESS;
    }
    // core/build.rs says it. Cargo may have taken the crate from anywhere, and host and kernels must be of one source.
    let core = std::env::var_os("DEP_ANTWARP_CORE_ROOT").expect("core/build.rs tells where it is");
    let warpsmith =
        std::env::var_os("DEP_WARPSMITH_ROOT").expect("warpsmith's build script tells where it is");
    let outcome = Builder::new("gpu-kernels")
        .prefix("ANTWARP")
        .target(Target::new("sm_70", "ptx70"))
        .target(Target::new("sm_90", "ptx80"))
        .dependency("antwarp-core", core)
        .dependency("warpsmith", warpsmith)
        .expect_one_barrier("block_canary")
        .packaged("packaged-kernels")
        .build();
    if let (Ok(Outcome::Kernels(kernels)), Some(folder)) =
        (&outcome, std::env::var_os("ANTWARP_PACK_KERNELS"))
    {
        let folder = Path::new(&folder);
        // It may have been removed since.
        println!("cargo::rerun-if-changed={}", folder.display());
        if let Err(error) = kernels.pack(folder) {
            eprintln!("cannot write kernels to {}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    }
    println!("cargo::rerun-if-env-changed=ANTWARP_PACK_KERNELS");
    let written = outcome.map_err(|error| error.to_string()).and_then(|outcome| {
        outcome.write_module().map_err(|error| format!("cannot write the kernels' module: {error}"))
    });
    match written {
        Ok(_) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
