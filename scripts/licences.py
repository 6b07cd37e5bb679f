#!/usr/bin/env python3
"""Prints the licences of all that is linked into a program of the crate antwarp, each text once, for packages.

Usage: scripts/licences.py [OPTION OF cargo metadata]...
"""

import json
import pathlib
import subprocess
import sys


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


root = pathlib.Path(__file__).resolve().parent.parent
host = output("rustc", "--print", "host-tuple").strip()
command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host, *sys.argv[1:]]
metadata = json.loads(output(*command, "--manifest-path", str(root / "Cargo.toml")))
packages = {package["id"]: package for package in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}

# What is linked: not what builds or tests need, nor macros.
linked = set()
stack = [metadata["resolve"]["root"]]
while stack:
    package = stack.pop()
    if package in linked or any("proc-macro" in target["kind"] for target in packages[package]["targets"]):
        continue
    linked.add(package)
    for dependency in nodes[package]["deps"]:
        if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
            stack.append(dependency["pkg"])

texts: dict[str, list[str]] = {}
for package in sorted((packages[package] for package in linked if packages[package]["source"]), key=lambda p: p["name"]):
    folder = pathlib.Path(package["manifest_path"]).parent
    files = [
        file
        for pattern in ("LICEN[CS]E*", "COPYING*", "COPYRIGHT*", "NOTICE*", "*/LICEN[CS]E*")
        for file in sorted(folder.glob(pattern))
        if file.is_file()
    ]
    title = f"{package['name']} {package['version']} ({package['license']})"
    if not files:
        texts.setdefault("The package has no text of its licence.", []).append(title)
    for file in files:
        text = "\n".join(line.rstrip() for line in file.read_text(errors="replace").strip().splitlines())
        titles = texts.setdefault(text, [])
        if title not in titles:
            titles.append(title)

print("antwarp contains parts of these works. Rust's standard library and, where they are linked, LLVM's libc++ and libunwind are")
print("among them: MIT OR Apache-2.0, and Apache-2.0 WITH LLVM-exception.")
for text, titles in texts.items():
    print("\n" + "=" * 80)
    print("\n".join(titles))
    print("=" * 80 + "\n")
    print(text)
