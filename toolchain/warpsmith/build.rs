//! Tells a user's build script where this crate's source is, as `DEP_WARPSMITH_ROOT`: kernels are compiled from it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=root={}", std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
}
