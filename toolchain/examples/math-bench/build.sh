#!/bin/sh
# Compiles src/lib.rs to math-bench.ptx. RUSTC and CARGO name the compiler: one with the source of core.
set -e
cd "$(dirname "$0")"
export RUSTC="${RUSTC:-rustc}" RUSTC_BOOTSTRAP=1
export RUSTFLAGS="-Ctarget-cpu=sm_90 -Ctarget-feature=+ptx80 -Zmir-enable-passes=-JumpThreading -Zunstable-options -Cpanic=immediate-abort -Cpasses=infer-address-spaces -Cllvm-args=-opt-disable=slsr"
"${CARGO:-cargo}" rustc --target nvptx64-nvidia-cuda -Zbuild-std=core --release -- --emit=asm="${1:-math-bench.ptx}"
