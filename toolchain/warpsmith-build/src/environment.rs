//! Keeps the outer cargo's settings away from the inner build.
//!
//! A build script inherits everything cargo passes to it and everything that controls the host's build. The kernels have another
//! target and another compiler, so none of this may reach them; only the user's settings for the network and cargo's cache apply to
//! the inner build as well.

use std::env;
use std::ffi::OsString;
use std::process::Command;

/// The builder's own environment variables: their names start with a prefix that the program chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables {
    prefix: String,
}

impl Variables {
    /// `KERNELS`: whether kernels are built.
    pub const KERNELS: &str = "KERNELS";
    /// `KERNEL_CARGO`: the cargo that drives the kernels' compiler.
    pub const CARGO: &str = "KERNEL_CARGO";
    /// `KERNEL_RUSTC`: the kernels' compiler.
    pub const RUSTC: &str = "KERNEL_RUSTC";
    /// `KERNEL_DEBUG`: kernels for debugging, see [`Debug`](crate::compile::Debug).
    pub const DEBUG: &str = "KERNEL_DEBUG";
    /// `KERNEL_CACHE`: a folder that keeps compiled kernels.
    pub const CACHE: &str = "KERNEL_CACHE";
    /// `KERNEL_PTXAS`: NVIDIA's assembler, for reports.
    pub const PTXAS: &str = "KERNEL_PTXAS";

    /// All of them.
    pub const ALL: [&str; 6] =
        [Self::KERNELS, Self::CARGO, Self::RUSTC, Self::DEBUG, Self::CACHE, Self::PTXAS];

    /// Makes the names with a prefix, for example `WARPSMITH`.
    pub fn new(prefix: &str) -> Variables {
        Variables { prefix: prefix.into() }
    }

    /// Returns the whole name of a variable.
    pub fn name(&self, variable: &str) -> String {
        format!("{}_{variable}", self.prefix)
    }

    /// Returns the value of a variable; `None` if it is not set or empty.
    pub fn value(&self, variable: &str) -> Option<OsString> {
        env::var_os(self.name(variable)).filter(|value| !value.is_empty())
    }

    /// Tells cargo to run the build script again when one of the variables changes.
    pub fn watch(&self) {
        Self::ALL.iter().for_each(|variable| println!("cargo::rerun-if-env-changed={}", self.name(variable)));
    }
}

impl Default for Variables {
    fn default() -> Variables {
        Variables::new("WARPSMITH")
    }
}

/// Variables with these prefixes belong to the outer build.
const OUTER_PREFIXES: &[&str] = &["CARGO", "__CARGO", "RUSTC", "RUSTDOC", "RUSTFLAGS", "CLIPPY", "DEP_"];

/// Variables with exactly these names belong to the outer build. `LD_LIBRARY_PATH` and the like are set by cargo and rustup and
/// would give one compiler the libraries of another.
const OUTER_NAMES: &[&str] = &[
    "RUSTUP_TOOLCHAIN",
    "TARGET",
    "HOST",
    "PROFILE",
    "OUT_DIR",
    "OPT_LEVEL",
    "DEBUG",
    "NUM_JOBS",
    "MAKEFLAGS",
    "MFLAGS",
    "LD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
];

/// Exceptions: where cargo keeps its downloads, how it reaches the network, how many jobs it may run.
const KEPT_PREFIXES: &[&str] = &[
    "CARGO_HOME",
    "CARGO_BUILD_JOBS",
    "CARGO_NET_",
    "CARGO_HTTP_",
    "CARGO_REGISTRY_",
    "CARGO_REGISTRIES_",
    "CARGO_SOURCE_",
];

/// Returns whether the inner build must not see this variable.
pub fn belongs_to_outer_build(name: &str) -> bool {
    let outer = OUTER_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || OUTER_NAMES.contains(&name);
    outer && !KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Removes the outer build's variables from the environment of `command`.
pub fn scrub(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(belongs_to_outer_build) {
            command.env_remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_build_stays_outside() {
        for name in [
            "CARGO",
            "CARGO_TARGET_DIR",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
            "CARGO_MAKEFLAGS",
            "RUSTC",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
            "CLIPPY_ARGS",
            "DEP_Z_ROOT",
            "OUT_DIR",
            "LD_LIBRARY_PATH",
        ] {
            assert!(belongs_to_outer_build(name), "{name} reaches the inner build");
        }
    }

    #[test]
    fn what_the_user_says_about_the_system_stays() {
        for name in [
            "PATH",
            "HOME",
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "CARGO_HTTP_PROXY",
            "CARGO_BUILD_JOBS",
            "RUSTUP_HOME",
            "RUST_BACKTRACE",
            "http_proxy",
            "HOSTNAME",
        ] {
            assert!(!belongs_to_outer_build(name), "{name} does not reach the inner build");
        }
    }

    #[test]
    fn scrub_removes_what_cargo_set_for_this_test() {
        let mut command = Command::new("rustc");
        scrub(&mut command);
        let removed = |name: &str| command.get_envs().any(|(n, value)| n == name && value.is_none());
        assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
        assert!(removed("CARGO_MANIFEST_DIR"));
        assert!(!removed("PATH"));
    }
}
