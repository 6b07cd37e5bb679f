#!/usr/bin/env bash
# Compares the tables of the documentation that are made from recorded runs with the records in benches/runs. With --write it
# writes them anew. A table has its command in a line above it:
#
#   <!-- table: antwarp bench table benches/runs/.../runs.csv.gz --rows ... --columns ... --cell ... --markdown -->
#
# Rows below those that the command prints were added by hand, and are left alone.
#
# usage: scripts/tables.sh PROGRAM [--write]
set -euo pipefail

if [[ $# -lt 1 || $# -gt 2 || ${2:---write} != --write ]]; then
    echo 'usage: scripts/tables.sh PROGRAM [--write], such as scripts/tables.sh target/debug/antwarp' >&2
    exit 2
fi
program=$(realpath -- "$1") write=${2:-}
cd "$(dirname "$0")/.."

antwarp() {
    "$program" "$@"
}

# The first table that a command prints, without the blanks that align its columns.
table() {
    if [[ $1 != 'antwarp bench table '* && $1 != 'antwarp bench paper --records '* ]]; then
        echo "not a command of antwarp bench table, or of bench paper --records: $1" >&2
        return 1
    fi
    eval "$1" | awk '/^\|/ && !over { gsub(/ +/, " "); print; found = 1; next } found { over = 1 }'
}

count=0 wrong=0
while IFS= read -r file; do
    mapfile -t lines <"$file"
    new=() i=0
    while ((i < ${#lines[@]})); do
        line=${lines[i]}
        new+=("$line")
        i=$((i + 1))
        [[ $line == '<!-- table: '*' -->' ]] || continue
        command=${line#'<!-- table: '} at=$i
        made=$(table "${command%' -->'}") || { echo "$file:$at: the command failed" >&2; exit 1; }
        [[ $made ]] || { echo "$file:$at: the command prints no table" >&2; exit 1; }
        count=$((count + 1))
        while [[ $i -lt ${#lines[@]} && ! ${lines[i]} ]]; do
            new+=('')
            i=$((i + 1))
        done
        while IFS= read -r row; do
            old=
            if [[ ${lines[i]-} == '|'* ]]; then
                old=${lines[i]}
                i=$((i + 1))
            fi
            new+=("$row")
            if [[ $old != "$row" ]]; then
                wrong=$((wrong + 1))
                [[ $write ]] || printf '%s:%d:\n  documentation: %s\n  records:       %s\n' "$file" "$at" "$old" "$row" >&2
            fi
        done <<<"$made"
    done
    [[ ! $write ]] || printf '%s\n' "${new[@]}" >"$file"
done < <(grep -rl --include='*.md' '^<!-- table: ' README.md docs benches)

if ((count == 0)); then
    echo 'no table has a command above it' >&2
    exit 1
fi
if [[ $write ]]; then
    echo "$count tables written, $wrong rows of them changed"
elif ((wrong > 0)); then
    echo "$wrong rows differ: run scripts/tables.sh PROGRAM --write, then check what changed" >&2
    exit 1
else
    echo "$count tables agree with the records"
fi
