#!/usr/bin/env bash
# Packages antwarp with its kernels compiled, so that `cargo install antwarp` gives a program for GPUs and needs nothing but cargo.
# The packages are in target/package. Usage: scripts/package.sh [OPTION OF cargo package]...
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/packaged-kernels
members=(core host/instance host/engine host/backend/cpu)
clean() {
    rm -rf "$folder" "${members[@]/%//LICENSE-MIT}" "${members[@]/%//LICENSE-APACHE}"
}
trap clean EXIT
clean
# Each package carries the licences; those of the toolchain have their own.
for member in "${members[@]}"; do cp LICENSE-MIT LICENSE-APACHE "$member/"; done
ANTWARP_KERNELS=require ANTWARP_PACK_KERNELS=$folder cargo build --release --locked --lib
# --allow-dirty: git ignores the folder with the kernels and the copied licences.
cargo package --workspace --no-verify --allow-dirty --locked "$@"
