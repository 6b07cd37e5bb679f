//! Imports run one way: between the folders of `host`, and between the files of every folder of the project. Files are written in
//! one place. The judge of the tests knows nothing of the library. Paths in the documentation exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of `host` that are no crates of their own, each with imports from those before it only. Cargo keeps the order of the
/// crates below them.
const LAYERS: [&str; 5] = ["backend", "solver", "cluster", "report", "cli"];
/// Roots of crates whose files are looked at.
const CRATES: [&str; 16] = [
    "core/src",
    "gpu-kernels/src",
    "host",
    "host/backend/cpu",
    "host/engine",
    "host/exact",
    "host/instance",
    "toolchain/compat/cuda-builder/src",
    "toolchain/compat/cuda-std/src",
    "toolchain/compat/cust/src",
    "toolchain/compat/macros/src",
    "toolchain/driver-double/src",
    "toolchain/warpsmith-build/src",
    "toolchain/warpsmith-macros/src",
    "toolchain/warpsmith-test/src",
    "toolchain/warpsmith/src",
];

/// The Rust files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    files_outside(folder, |_| false)
}

/// The Rust files of the crate whose root is this folder.
fn files_of_crate(root: &Path) -> Vec<PathBuf> {
    files_outside(root, |folder| folder.join("Cargo.toml").exists())
}

fn files_outside(folder: &Path, is_left_out: fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !is_left_out(&path) {
                found.extend(files_outside(&path, is_left_out));
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The module of a file below a crate's root: `["backend", "cpu"]` for `backend/cpu/mod.rs`.
fn module(root: &Path, file: &Path) -> Vec<String> {
    let path = file.strip_prefix(root).unwrap().with_extension("");
    let names = path.iter().map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| !matches!(name.as_str(), "mod" | "lib" | "main")).collect()
}

/// The text without comments.
fn code(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// Every path that a text names from `crate`, `self` or `super` on, groups in braces unfolded.
fn paths(text: &str) -> Vec<Vec<String>> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let begins = matches!(tokens[at].as_str(), "crate" | "super" | "self");
        let follows = at > 0 && tokens[at - 1] == "::";
        if begins && !follows && tokens.get(at + 1).is_some_and(|next| next == "::") {
            unfold(&tokens, at, &[], &mut found);
        }
    }
    found
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c.is_alphanumeric() || c == '_' {
            let mut name = c.to_string();
            while let Some(&c) = rest.peek().filter(|c| c.is_alphanumeric() || **c == '_') {
                name.push(c);
                rest.next();
            }
            tokens.push(name);
        } else if c == ':' && rest.peek() == Some(&':') {
            rest.next();
            tokens.push("::".to_string());
        } else if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Reads a path, or a group of paths, from `at` on; where it ends.
fn unfold(tokens: &[String], mut at: usize, prefix: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token != "}") {
                    let is_path = is_name(&tokens[at]) || tokens[at] == "{";
                    at = if is_path { unfold(tokens, at, &path, found) } else { at + 1 };
                }
                return at + 1;
            }
            Some(name) if is_name(name) => path.push(name.to_string()),
            _ => break,
        }
        at += 1;
        if tokens.get(at).is_none_or(|token| token != "::") {
            break;
        }
        at += 1;
    }
    found.push(path);
    // `name as other` in a group.
    if !prefix.is_empty() && tokens.get(at).is_some_and(|token| token == "as") {
        at += 2;
    }
    at
}

/// A path from the crate's root, of one that a module names.
fn absolute(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut from = module.to_vec();
    let mut rest = path;
    if rest.first().is_some_and(|name| name == "crate") {
        from.clear();
        rest = &rest[1..];
    }
    while let Some(name) = rest.first().filter(|name| matches!(name.as_str(), "self" | "super")) {
        if name == "super" {
            from.pop()?;
        }
        rest = &rest[1..];
    }
    from.extend(rest.iter().cloned());
    Some(from)
}

/// The part of a text before its tests.
fn own(text: &str) -> &str {
    text.split_once("#[cfg(test)]").map_or(text, |(own, _)| own)
}

/// Which file names which other, by their modules.
fn imports(root: &Path) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let files: BTreeMap<Vec<String>, PathBuf> =
        files_of_crate(root).into_iter().map(|file| (module(root, &file), file)).collect();
    let of =
        |path: &[String]| (0..=path.len()).rev().map(|n| path[..n].to_vec()).find(|m| files.contains_key(m));
    let named = |(module, file): (&Vec<String>, &PathBuf)| {
        let text = code(&fs::read_to_string(file).unwrap());
        // Tests may take what they need from anywhere.
        let paths = if module.iter().any(|name| name == "tests") { Vec::new() } else { paths(own(&text)) };
        let named = paths.into_iter().filter_map(|path| absolute(module, &path));
        let named = named.filter_map(|path| of(&path)).filter(|other| other != module);
        (module.clone(), named.collect())
    };
    files.iter().map(named).collect()
}

#[test]
fn a_layer_imports_from_those_below_it() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("host");
    let height =
        |module: &[String]| LAYERS.iter().position(|layer| module.first().is_some_and(|m| m == layer));
    let mut seen = BTreeSet::new();
    for (module, named) in imports(&host) {
        for other in named {
            if let (Some(here), Some(there)) = (height(&module), height(&other)) {
                seen.insert((here, there));
                assert!(here >= there, "host/{} imports from {}", module.join("/"), other.join("/"));
            }
        }
    }
    // That imports are found at all.
    let of = |layer: &str| height(&[layer.to_owned()]).unwrap();
    for (above, below) in [("solver", "backend"), ("cluster", "solver"), ("cli", "solver")] {
        assert!(seen.contains(&(of(above), of(below))), "{above} and {below}: {seen:?}");
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    for root in CRATES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
        let mut left = imports(&root);
        // A folder's own file and those in it are one thing, seen from outside and from inside.
        for (module, named) in &mut left {
            named.retain(|other| !module.starts_with(other) && !other.starts_with(module));
        }
        // What names nothing, or nobody names, is in no circle.
        let mut before = 0;
        while before != left.len() {
            before = left.len();
            let named: BTreeSet<_> = left.values().flatten().cloned().collect();
            left.retain(|module, others| !others.is_empty() && named.contains(module));
            let kept: BTreeSet<_> = left.keys().cloned().collect();
            left.values_mut().for_each(|others| others.retain(|other| kept.contains(other)));
        }
        let line = |(module, others): (&Vec<String>, &BTreeSet<Vec<String>>)| {
            let others: Vec<String> = others.iter().map(|other| other.join("/")).collect();
            format!("{} names {}", module.join("/"), others.join(", "))
        };
        let circle: Vec<String> = left.iter().map(line).collect();
        assert!(circle.is_empty(), "a circle in {}:\n{}", root.display(), circle.join("\n"));
    }
}

#[test]
fn the_default_engine_uses_nothing_of_the_papers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files_read = 0;
    // Crossing works on the genetic algorithm's population, so the host's part of the engine names it.
    for folder in ["core/src", "gpu-kernels/src"] {
        for (module, named) in imports(&root.join(folder)) {
            if module.first().is_some_and(|part| part == "lin_kernighan") {
                files_read += 1;
                let of_papers = named.iter().find(|other| other.first().is_some_and(|part| part == "papers"));
                assert!(of_papers.is_none(), "{folder}/{} imports from {of_papers:?}", module.join("/"));
            }
        }
    }
    assert!(files_read >= 6, "{files_read} files of the default engine");
}

#[test]
fn one_file_alone_opens_files_to_write() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("host");
    let writes = ["File::create", "OpenOptions", "fs::write", "fs::copy", "fs::rename"];
    let mut found = files(&host);
    found.retain(|file| {
        writes.iter().any(|name| own(&code(&fs::read_to_string(file).unwrap())).contains(name))
    });
    assert_eq!(
        found,
        [host.join("instance/atomic_file.rs")],
        "write by `atomic_file`: it replaces files whole"
    );
}

#[test]
fn the_judge_shares_no_code_with_what_it_judges() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/referee");
    let names = |file: &PathBuf| code(&fs::read_to_string(file).unwrap()).contains("antwarp");
    let judge = files(&folder.join("judge"));
    assert!(judge.len() >= 4 && names(&folder.join("reading.rs")));
    let partial: Vec<_> = judge.into_iter().chain([folder.join("draws.rs")]).filter(names).collect();
    assert!(partial.is_empty(), "these name antwarp: {partial:?}");
}

/// All files and folders below a folder, by their paths from there; not what is built or hidden, except `.ci`.
fn entries(root: &Path, folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if name == "target" || name.starts_with('.') && name != ".ci" {
            continue;
        }
        if path.is_dir() {
            found.extend(entries(root, &path));
        }
        found.push(name);
    }
    found
}

/// Returns the code between backticks in prose, not in blocks.
fn spans(text: &str) -> Vec<&str> {
    let mut prose = text.split("```").step_by(2).flat_map(|part| part.split("\n\n")).collect::<Vec<_>>();
    prose.retain(|part| part.contains('`'));
    prose.into_iter().flat_map(|part| part.split('`').skip(1).step_by(2)).collect()
}

/// Returns whether the last components of a path are these, where `*` is any one.
fn ends_with(path: &str, end: &str) -> bool {
    let (path, end): (Vec<_>, Vec<_>) = (path.split('/').collect(), end.split('/').collect());
    let same = |(one, other): (&&str, &&str)| one == other || *other == "*";
    path.len() >= end.len() && path.iter().rev().zip(end.iter().rev()).all(same)
}

/// A path may leave out its first folders, as `cuda/grid.rs` does.
#[test]
fn paths_in_the_documentation_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = entries(root, root);
    for page in ["docs/architecture.md", "docs/new-problem.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let is_path = |span: &&str| {
            let of_path = |c: char| c.is_ascii_alphanumeric() || "_-./*".contains(c);
            // Not a folder beside the checkout, nor a name that stands for any, such as READER.
            let is_elsewhere = span.starts_with("..") || span.contains("**");
            let stands_for_any =
                |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_uppercase());
            let is_name = !span.trim_end_matches('/').contains('/') && !span.ends_with(".rs");
            span.chars().all(of_path) && !is_elsewhere && !is_name && !span.split('/').any(stands_for_any)
        };
        let paths: Vec<&str> = spans(&text).into_iter().filter(is_path).collect();
        assert!(paths.len() >= 3, "{page}: {paths:?}");
        for path in paths {
            let exists = all.iter().any(|entry| ends_with(entry, path.trim_end_matches('/')));
            assert!(exists, "{page}: there is no `{path}`");
        }
    }
}

#[test]
fn paths_are_read() {
    let text =
        "use crate::a::{self, b::{C, D as E}, f};\nlet x = super::g::h(1); // crate::i\n other::super_::x";
    let found: Vec<String> = paths(&code(text)).iter().map(|path| path.join("::")).collect();
    let expected = ["crate::a::self", "crate::a::b::C", "crate::a::b::D", "crate::a::f", "super::g::h"];
    assert_eq!(found, expected);
    let names = |path: &str| path.split("::").map(str::to_string).collect::<Vec<_>>();
    assert_eq!(absolute(&names("a::b"), &names("super::c")), Some(names("a::c")));
    assert_eq!(absolute(&names("a::b"), &names("crate::c")), Some(names("c")));
}
