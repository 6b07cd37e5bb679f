#!/usr/bin/env bash
# Writes a manifest of the kernels' crate for tools that want one: clippy, rust-analyzer, `cargo update`. The build writes its own
# into OUT_DIR. Usage: scripts/kernel-manifest.sh [FOLDER], by default target/gpu-kernels.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-${CARGO_TARGET_DIR:-$root/target}/gpu-kernels}

manifest=$(<"$root/gpu-kernels/Cargo.toml.in")
manifest=${manifest//'{crate}'/"$root/gpu-kernels"}
manifest=${manifest//'{antwarp-core}'/"$root/core"}
manifest=${manifest//'{warpsmith}'/"$root/toolchain/warpsmith"}
mkdir -p "$folder"
printf '%s\n' "$manifest" >"$folder/Cargo.toml"
cp "$root/gpu-kernels/Cargo.lock" "$folder/"
