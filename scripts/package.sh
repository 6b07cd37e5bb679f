#!/usr/bin/env bash
# Builds the packages of a release, into target/dist (crates into target/package); docs/packages.md says what they hold. All of them,
# or some:
#   scripts/package.sh crates [OPTION OF cargo package]...   crates with compiled kernels: `cargo install` then needs nothing but cargo
#   scripts/package.sh linux                                 an archive and a .deb for this processor, glibc 2.17 or later
#   scripts/package.sh python                                the wheel (manylinux2014, this processor) and the source package
#   scripts/package.sh checksums                             SHA256SUMS of what is in target/dist
#   scripts/package.sh kernels                               compiled kernels, in the folder packaged-kernels
# Without that folder, the others compile kernels and remove them again. `linux` and `python` need python3, and install zig,
# cargo-zigbuild and maturin from PyPI into target/tools.
set -euo pipefail
cd "$(dirname "$0")/.."

# The oldest glibc that Rust's standard library supports: CentOS 7, Debian 8, Ubuntu 14.04.
glibc=2.17
tools=(ziglang==0.17.1 cargo-zigbuild==0.24.1 maturin==1.16.0)
# The library of HiGHS that the archive and the .deb bring: built for glibc 2.17, too.
highs=highsbox==1.15.1

target=${CARGO_TARGET_DIR:-$PWD/target}
dist=$target/dist
processor=$(uname -m)
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# For `antwarp --version`.
ANTWARP_COMMIT=$(git rev-parse --short=12 HEAD 2>/dev/null || true)
if [[ -n $ANTWARP_COMMIT && -n $(git status --porcelain --untracked-files=no) ]]; then ANTWARP_COMMIT+=' with changes'; fi
# Times in archives are those of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export ANTWARP_COMMIT SOURCE_DATE_EPOCH CARGO_INCREMENTAL=0 CARGO_PROFILE_RELEASE_STRIP=symbols

# Panics name files. In what others run, these paths begin at antwarp's folder and at cargo's, not at those of this machine.
cargo_home=${CARGO_HOME:-$HOME/.cargo}
CARGO_ENCODED_RUSTFLAGS=$(printf '%s\x1f' "--remap-path-prefix=$target=target" "--remap-path-prefix=$cargo_home=cargo")
CARGO_ENCODED_RUSTFLAGS+=--remap-path-prefix=$PWD=antwarp
export CARGO_ENCODED_RUSTFLAGS

kernels=$PWD/packaged-kernels
members=(core host/instance host/engine host/exact host/backend/cpu python)
work=$(mktemp -d)
clean() {
    rm -rf "$work" "${members[@]/%//LICENSE-MIT}" "${members[@]/%//LICENSE-APACHE}" python/LICENSE-THIRD-PARTY
    if [[ -n ${compiled:-} ]]; then rm -rf "$kernels"; fi
}
trap clean EXIT

kernels() {
    if [[ -d $kernels ]]; then return; fi
    compiled=1
    ANTWARP_KERNELS=require ANTWARP_PACK_KERNELS=$kernels cargo check --release --locked --lib
}

# Each package carries the licences; those of the toolchain have their own.
licences() {
    for member in "${members[@]}"; do cp LICENSE-MIT LICENSE-APACHE "$member/"; done
}

crates() {
    kernels
    licences
    # --allow-dirty: git ignores the folder with the kernels and the copied licences.
    cargo package --workspace --no-verify --allow-dirty --locked "$@"
}

tools() {
    if [[ ! -x $target/tools/bin/maturin ]]; then
        python3 -m venv "$target/tools"
        "$target/tools/bin/pip" install --quiet "${tools[@]}"
    fi
    export PATH=$target/tools/bin:$PATH
}

# Everything for a folder like /usr or ~/.local, as the archive has it.
linux() {
    local triple=$processor-unknown-linux-gnu folder=$work/antwarp-$version-linux-$processor
    kernels
    tools
    ANTWARP_KERNELS=require cargo zigbuild --release --locked --features serve --bin antwarp --target "$triple.$glibc"
    install -D "$target/$triple/release/antwarp" "$folder/bin/antwarp"
    share "$folder/bin/antwarp" "$folder/share"
    highs "$folder"
    no_paths "$folder/bin/antwarp"
    oldest_glibc "$folder/bin/antwarp"
    oldest_glibc "$folder/lib/antwarp/libhighs.so"
    mkdir -p "$dist"
    archive "$folder" "$dist/$(basename "$folder").tar.xz"
    debian "$folder"
}

share() {
    local program=$1 share=$2
    mkdir -p "$share"/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d,doc/antwarp}
    "$program" man >"$share/man/man1/antwarp.1"
    "$program" completions bash >"$share/bash-completion/completions/antwarp"
    "$program" completions zsh >"$share/zsh/site-functions/_antwarp"
    "$program" completions fish >"$share/fish/vendor_completions.d/antwarp.fish"
    cp README.md CHANGELOG.md CITATION.cff LICENSE-MIT LICENSE-APACHE "$share/doc/antwarp/"
    scripts/licences.py --features serve >"$share/doc/antwarp/LICENSE-THIRD-PARTY"
}

# The program looks for HiGHS there.
highs() {
    local unpacked=$work/highsbox
    mkdir "$unpacked"
    "$target/tools/bin/pip" download --quiet --no-deps --only-binary :all: --dest "$unpacked" "$highs"
    (cd "$unpacked" && python3 -m zipfile -e highsbox-*.whl .)
    unpacked=$(echo "$unpacked"/*/purelib/highsbox/highs_dist)
    install -D --mode 644 --strip "$unpacked/lib/libhighs.so" "$1/lib/antwarp/libhighs.so"
    install -D --mode 644 "$unpacked/share/doc/HIGHS/LICENSE.txt" "$1/share/doc/antwarp/LICENSE-HiGHS"
}

# Fails if a program or library needs a later glibc than promised.
oldest_glibc() {
    local newest
    newest=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
    if [[ $(printf '%s\n' "GLIBC_$glibc" "$newest" | sort -V | tail -1) != "GLIBC_$glibc" ]]; then
        echo "$1 needs $newest, later than $glibc" >&2
        exit 1
    fi
    echo "$(basename "$1"): $newest is the latest glibc that it needs"
}

# Fails if a file names a folder of this machine.
no_paths() {
    local rest='/[^[:space:][:cntrl:]]*' status=0
    LC_ALL=C grep --text --only-matching -e "$PWD$rest" -e "$target$rest" -e "$cargo_home$rest" "$1" >"$work/paths" || status=$?
    case $status in
        0)
            echo "$1 names folders of this machine: $(head -3 "$work/paths" | tr '\n' ' ')" >&2
            exit 1
            ;;
        1) ;;
        *) exit 1 ;;
    esac
}

archive() {
    tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --directory "$(dirname "$1")" \
        "$(basename "$1")" | xz -9 --threads=1 >"$2"
}

debian() {
    local root=$work/debian architecture
    architecture=$(case $processor in x86_64) echo amd64 ;; aarch64) echo arm64 ;; *) echo "$processor" ;; esac)
    mkdir -p "$root/DEBIAN"
    cp -r "$1" "$root/usr"
    mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
    (
        cd "$root/usr/share"
        cat doc/antwarp/LICENSE-{MIT,APACHE,HiGHS,THIRD-PARTY} >doc/antwarp/copyright
        rm doc/antwarp/LICENSE-*
        gzip -9n man/man1/antwarp.1
    )
    cat >"$root/DEBIAN/control" <<CONTROL
Package: antwarp
Version: $version
Architecture: $architecture
Maintainer: The antwarp developers
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: libc6 (>= $glibc), libgcc-s1 | libgcc1, libstdc++6 (>= 4.8), zlib1g
Suggests: libcuda1
Section: science
Priority: optional
Description: solver for the travelling salesman problem
 Finds short tours through many places on CPU cores or NVIDIA GPUs: chained
 Lin-Kernighan, ant colonies, a genetic algorithm. Bounds tours from below, and
 proves that a tour is the shortest one. GPUs need nothing but the driver.
CONTROL
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    find "$root" -exec chmod u+rw,go-w,a+rX {} +
    find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --build "$root" "$dist/antwarp_${version}_$architecture.deb"
}

python() {
    kernels
    tools
    licences
    scripts/licences.py >python/LICENSE-THIRD-PARTY
    mkdir -p "$dist"
    ANTWARP_KERNELS=require maturin build --release --locked --zig --compatibility manylinux2014 \
        --target "$processor-unknown-linux-gnu" --manifest-path python/Cargo.toml --out "$dist"
    python3 -m zipfile -e "$(echo "$dist/antwarp-$version"-*.whl)" "$work/wheel"
    no_paths "$(echo "$work"/wheel/antwarp/_native*.so)"
    maturin sdist --manifest-path python/Cargo.toml --out "$dist"
}

checksums() {
    (cd "$dist" && rm -f SHA256SUMS && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
    cat "$dist/SHA256SUMS"
}

case ${1:-all} in
    crates) crates "${@:2}" ;;
    linux | python | checksums) "$1" ;;
    kernels)
        kernels
        compiled=
        ;;
    all)
        rm -rf "$dist"
        crates
        linux
        python
        checksums
        ;;
    *)
        sed -n '2,/^set/{/^#/s/^# *//p}' "$0" >&2
        exit 2
        ;;
esac
