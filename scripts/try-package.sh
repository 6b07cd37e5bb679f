#!/usr/bin/env bash
# Uses what scripts/package.sh has built as a user would. Fails if something does not work.
#   scripts/try-package.sh program FILE     a program: its version, a run, a proof
#   scripts/try-package.sh archive FILE     unpacks an archive and tries its program
#   scripts/try-package.sh debian FILE      installs a .deb, tries the program, its manual page and completions, removes it; as root
#   scripts/try-package.sh wheel FILE       installs a wheel into a new environment and runs the tests of the Python package
#   scripts/try-package.sh source FILE      installs a source package of Python, with cargo's folder empty and no compiler for kernels, and solves
#   scripts/try-package.sh crates FOLDER    `cargo install` from a folder of crates, with cargo's folder empty
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

# Runs a command, prints what it says, and fails unless that has a line with the text.
says() {
    local text=$1
    shift
    "$@" >"$work/said" 2>&1 || fail "$* failed: $(<"$work/said")"
    cat "$work/said"
    grep -q -- "$text" "$work/said" || fail "$* does not say: $text"
}

version() {
    says "^antwarp [0-9]" "$1" --version
    grep -q '^kernels *sm_70, sm_90$' "$work/said" || fail "$1 has no kernels"
}

program() {
    version "$1"
    grep -q '^HiGHS *[1-9]' "$work/said" || fail "$1 has no HiGHS"
    "$1" solve E1k.0 --time 2s --backend cpu --tour "$work/tour"
    says valid "$1" check E1k.0 "$work/tour"
    # Beyond what can be proven without HiGHS.
    "$1" generate uniform --nodes 200 --seed 1 -o "$work/200.tsp"
    says optimal "$1" solve "$work/200.tsp" --prove --time 2m --backend cpu --tour "$work/tour"
}

archive() {
    mkdir "$work/archive"
    tar -xJf "$1" -C "$work/archive" --strip-components=1
    (cd "$work/archive" && find . -type f | sort)
    program "$work/archive/bin/antwarp"
}

debian() {
    dpkg --install "$1"
    program antwarp
    local share=/usr/share page
    # From the package: images of containers leave manual pages out.
    page=$(dpkg-deb --fsys-tarfile "$1" | tar -xO ./usr/share/man/man1/antwarp.1.gz | gzip -dc)
    [[ $page == *candidates* ]] || fail 'the manual page has no settings'
    says 'complete .* antwarp' bash -c "source $share/bash-completion/completions/antwarp && complete -p antwarp"
    if command -v zsh >/dev/null; then zsh -n $share/zsh/vendor-completions/_antwarp; fi
    if command -v fish >/dev/null; then fish --no-execute $share/fish/vendor_completions.d/antwarp.fish; fi
    dpkg --listfiles antwarp >"$work/files"
    dpkg --purge antwarp
    # Folders of other packages stay.
    while read -r file; do [[ -d $file || ! -e $file ]] || fail "$file is left"; done <"$work/files"
}

# A new environment of Python; sets `environment` to where its programs are.
environment() {
    "$(command -v python3 || command -v python)" -m venv "$work/environment"
    environment=$work/environment/bin
    if [[ -d $work/environment/Scripts ]]; then environment=$work/environment/Scripts; fi
}

wheel() {
    environment
    "$environment/python" -m pip install --quiet "$1[test]"
    "$environment/python" -m antwarp --version | tee "$work/said"
    grep -q '^kernels *sm_70, sm_90$' "$work/said" || [[ $OSTYPE == darwin* ]] || fail 'the wheel has no kernels'
    "$environment/python" -m pytest --quiet "$(dirname "$0")/../python/tests"
}

source_package() {
    environment
    CARGO_HOME=$work/cargo ANTWARP_KERNEL_RUSTC=/nowhere "$environment/python" -m pip install --quiet --no-cache-dir "$1"
    says '^kernels *sm_70, sm_90$' "$environment/python" -m antwarp --version
    "$environment/python" -c 'import antwarp; print(antwarp.solve([[0, 0], [3, 4], [3, 0], [0, 4]], time=1))'
}

# The crates are not in the registry: cargo is told where they are.
crates() {
    local crate name patches=()
    for crate in "$1"/*.crate; do tar -xzf "$crate" -C "$work"; done
    for crate in "$work"/*/Cargo.toml; do
        name=$(sed -n '0,/^name/s/^name = "\(.*\)"/\1/p' "$crate")
        if [[ $name != antwarp ]]; then patches+=(--config "patch.crates-io.$name.path='$(dirname "$crate")'"); fi
    done
    # Outside the repository, whose toolchain has the source of `core`; without a compiler for kernels.
    (cd "$work" && CARGO_HOME=$work/cargo CARGO_TARGET_DIR=$work/target ANTWARP_KERNEL_RUSTC=/nowhere \
        cargo install --quiet "${patches[@]}" --root "$work/installed" --path "$work"/antwarp-[0-9]*)
    version "$work/installed/bin/antwarp"
    "$work/installed/bin/antwarp" solve E1k.0 --time 2s
}

case ${1:-} in
    program | archive | debian | wheel | crates) "$1" "$2" ;;
    source) source_package "$2" ;;
    *)
        sed -n '2,/^set/{/^#/s/^# *//p}' "$0" >&2
        exit 2
        ;;
esac
