#!/bin/sh
# Tries to build the published crates of Rust-CUDA with today's compiler and says for each whether it builds:
# cuda_std for the GPU (on a host it is mere stubs), cuda_builder and cust for the host.
#
# usage: scripts/retry-rust-cuda.sh [RESULTS_FOLDER]     (needs network; the folder keeps the full logs)
#
# exit 0: cuda_std and cuda_builder still do not build, as docs/toolchain.md says
# exit 1: the script itself could not run, so nothing is known
# exit 3: one of the two builds again: time to read docs/toolchain.md anew
# cust is reported but does not count: it builds where there is a CUDA toolkit, and that it needs one, and a
# driver to start, is why it is not used.
set -u

crates='cuda_std@0.2.2 cuda_builder@0.3.0 cust@0.3.2'
# Asked here, where the repository's rust-toolchain.toml chooses, and kept for the other folder.
cd "$(dirname "$0")/.." || exit 1
sysroot=$(rustc --print sysroot) || exit 1
[ -f "$sysroot/lib/rustlib/src/rust/library/core/Cargo.toml" ] ||
    { echo "$(rustc -V) has no source of core: cuda_std cannot be tried" >&2; exit 1; }
work=${1:-$(mktemp -d)}
mkdir -p "$work" && cd "$work" && work=$(pwd) || exit 1
unset CARGO_TARGET_DIR CARGO_BUILD_TARGET RUSTFLAGS
export RUSTC="$sysroot/bin/rustc"
echo "$("$RUSTC" -V), logs in $work"

# build CRATE: in its own folder; the two settings of cuda_std are what its compiler driver would give it.
build() {
    if [ "$1" = cuda_std ]; then
        CUDA_ARCH=700 RUSTC_BOOTSTRAP=1 cargo build --target nvptx64-nvidia-cuda -Zbuild-std=core,alloc
    else
        cargo build
    fi
}

news=0
for crate in $crates; do
    name=${crate%@*} version=${crate#*@}
    log=$work/$name.log
    rm -rf "$work/try-$name"
    mkdir -p "$work/try-$name/src" && cd "$work/try-$name" || exit 1
    echo '#![no_std]' >src/lib.rs
    printf '[package]\nname = "try"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n[dependencies]\n%s = "=%s"\n' \
        "$name" "$version" >Cargo.toml
    # A failed download says nothing about the crate.
    cargo fetch >"$log" 2>&1 || { cat "$log"; exit 1; }
    if build "$name" >>"$log" 2>&1; then
        [ "$name" = cust ] || news=1
        echo "$name $version: builds"
    else
        echo "$name $version: does not build"
        grep -E '^ *error|panicked at|^ *(Could|Failed)' "$log" | sed 's/^ */    /; s|/[^ ]*/registry/src/[^/]*/||' | head -n 5
    fi
    newest=$(cd / && cargo info "$name" 2>/dev/null | sed -n 's/^version: \([^ ]*\).*/\1/p')
    [ "${newest:-$version}" = "$version" ] || echo "    the newest published version is $newest"
done

[ "$news" -eq 0 ] || exit 3
