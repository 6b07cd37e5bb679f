#!/usr/bin/env bash
# Packages antwarp with its kernels compiled, so that `cargo install antwarp` gives a program for GPUs and needs nothing but cargo.
# The packages are in target/package. Usage: scripts/package.sh [OPTION OF cargo package]...
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/packaged-kernels
trap 'rm -rf "$folder"' EXIT
rm -rf "$folder"
ANTWARP_KERNELS=require ANTWARP_PACK_KERNELS=$folder cargo build --release --locked --lib
# --allow-dirty: git ignores the folder with the kernels.
cargo package --workspace --no-verify --allow-dirty --locked "$@"
