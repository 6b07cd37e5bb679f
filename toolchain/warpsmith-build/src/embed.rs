//! Writes the module that a host includes to embed the kernels' PTX in its binary.
//!
//! The text is compressed kernel by kernel, so that a host decompresses only those that it needs: by `warpsmith::image`, or, without
//! that crate, by the module's own header, `embedded.rs`.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use yazi::{CompressionLevel, Format};

use crate::builder::out_dir_from_env;
use crate::{Outcome, ptx};

impl Outcome {
    /// Writes `OUT_DIR/kernels.rs`, an expression of type `warpsmith::image::Images`, for `warpsmith::module!()`. Returns its path.
    ///
    /// # Errors
    /// If a PTX file cannot be read, a file cannot be written, or the build script has written a module to `OUT_DIR` before.
    pub fn write_module(&self) -> io::Result<PathBuf> {
        only_once()?;
        self.write_module_in(&out_dir_from_env())
    }

    /// Writes that file and the files that it includes to an existing folder. Returns its path.
    ///
    /// # Errors
    /// If a PTX file cannot be read, or a file cannot be written.
    pub fn write_module_in(&self, dir: &Path) -> io::Result<PathBuf> {
        let (texts, missing, compiler) = self.facts(dir, Packed::image)?;
        write(
            dir,
            &format!(
                "::warpsmith::image::Images {{\n    texts: &[\n{texts}    ],\n    missing: {missing:?},\n    \
                 compiler: {compiler:?},\n}}\n"
            ),
        )
    }

    /// Writes `OUT_DIR/kernels.rs` for a host that does not use warpsmith: a module with types of its own, to be included by
    /// `include!(concat!(env!("OUT_DIR"), "/kernels.rs"))`. The host needs `flate2` among its dependencies. Returns the path of the file.
    ///
    /// # Errors
    /// If a PTX file cannot be read, a file cannot be written, or the build script has written a module to `OUT_DIR` before.
    pub fn write_standalone_module(&self) -> io::Result<PathBuf> {
        only_once()?;
        self.write_standalone_module_in(&out_dir_from_env())
    }

    /// Writes that file and the files that it includes to an existing folder. Returns its path.
    ///
    /// # Errors
    /// If a PTX file cannot be read, or a file cannot be written.
    pub fn write_standalone_module_in(&self, dir: &Path) -> io::Result<PathBuf> {
        let (texts, missing, compiler) = self.facts(dir, Packed::source)?;
        write(
            dir,
            &format!(
                "{}\n\
                 /// PTX texts in build.rs's order. Empty without kernels.\n\
                 pub static PTX: &[Ptx] = &[\n{texts}];\n\
                 /// Why there are no kernels, and what to do about it.\n\
                 pub const NO_KERNELS: Option<&str> = {missing:?};\n\
                 /// The compiler of the kernels.\n\
                 #[allow(dead_code)]\n\
                 pub const KERNEL_RUSTC: Option<&str> = {compiler:?};\n",
                include_str!("embedded.rs")
            ),
        )
    }

    /// Packs the texts into `dir` and returns them in the form of `source`, the reason if there are no kernels, and the compiler.
    fn facts(
        &self,
        dir: &Path,
        source: fn(&Packed, u32, &Path) -> String,
    ) -> io::Result<(String, Option<String>, Option<&str>)> {
        let kernels = match self {
            Outcome::Kernels(kernels) => kernels,
            Outcome::NoToolchain { reason, remedy } | Outcome::Skipped { reason, remedy } => {
                return Ok((String::new(), Some(format!("{reason}. Remedy: {remedy}")), None));
            }
        };
        let mut texts = String::new();
        for file in &kernels.files {
            let packed = pack(&fs::read_to_string(&file.path)?)?;
            let path = dir.join(format!("kernels-{}.deflate", file.target.arch()));
            fs::write(&path, &packed.bytes)?;
            texts.push_str(&source(&packed, file.target.compute_capability(), &path));
        }
        Ok((texts, None, Some(&kernels.rustc)))
    }
}

/// Keeps a module in `OUT_DIR` from being overwritten by a second one.
fn only_once() -> io::Result<()> {
    static WRITTEN: AtomicBool = AtomicBool::new(false);
    if WRITTEN.swap(true, Ordering::Relaxed) {
        return Err(io::Error::other(
            "this build script has written OUT_DIR/kernels.rs already, for other kernels: make all kernels modules of one file, or \
             write each module to a folder of its own (`Outcome::write_module_in`)",
        ));
    }
    Ok(())
}

fn write(dir: &Path, text: &str) -> io::Result<PathBuf> {
    let path = dir.join("kernels.rs");
    fs::write(&path, text)?;
    Ok(path)
}

/// A text's parts as concatenated deflate streams.
struct Packed {
    bytes: Vec<u8>,
    common: Range<usize>,
    /// Name, offset in the common part, stream.
    kernels: Vec<(String, usize, Range<usize>)>,
}

fn pack(text: &str) -> io::Result<Packed> {
    let parts = ptx::split(text);
    let mut bytes = Vec::new();
    let mut add = |text: &str| -> io::Result<Range<usize>> {
        let start = bytes.len();
        let packed = yazi::compress(text.as_bytes(), Format::Raw, CompressionLevel::BestSize);
        bytes.extend(packed.map_err(|error| io::Error::other(format!("cannot compress PTX: {error:?}")))?);
        Ok(start..bytes.len())
    };
    let common = add(&parts.common)?;
    let kernels = parts.kernels.into_iter().map(|kernel| Ok((kernel.name, kernel.at, add(&kernel.text)?)));
    let kernels = kernels.collect::<io::Result<_>>()?;
    Ok(Packed { bytes, common, kernels })
}

impl Packed {
    /// Returns the source of a `warpsmith::image::Image` for the bytes in this file.
    fn image(&self, capability: u32, path: &Path) -> String {
        let (path, common) = (path.display().to_string(), &self.common);
        let mut source = format!(
            "        ::warpsmith::image::Image {{\n            capability: {capability},\n            \
             packed: include_bytes!({path:?}),\n            common: {common:?},\n            parts: &[\n"
        );
        for (name, at, packed) in &self.kernels {
            let part = format!("{{ name: {name:?}, at: {at}, packed: {packed:?} }}");
            // Writing to a String cannot fail.
            let _ = writeln!(source, "                ::warpsmith::image::Part {part},");
        }
        source + "            ],\n        },\n"
    }

    /// Returns the source of an `embedded::Ptx` for the bytes in this file.
    fn source(&self, capability: u32, path: &Path) -> String {
        let (path, common) = (path.display().to_string(), &self.common);
        let mut source = format!(
            "    Ptx {{ capability: {capability}, packed: include_bytes!({path:?}), common: {common:?}, kernels: &[\n"
        );
        for (name, at, packed) in &self.kernels {
            // Writing to a String cannot fail.
            let _ = writeln!(source, "        Part {{ name: {name:?}, at: {at}, packed: {packed:?} }},");
        }
        source + "    ] },\n"
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::embedded::{Part, Ptx};
    use crate::{Kernels, PtxFile, Target};

    const TEXT: &str = ".version 7.0\n.extern .shared .b8 s[];\n.visible .entry a(\n\t.param .u64 p\n)\n{\n\tret;\n}\n\
                        .global .b8 table[4];\n.visible .entry ab()\n{\n\t{\n\tret;\n\t}\n}\n";

    /// Returns what the constants of a module are in a host.
    fn embedded(text: &str) -> Ptx {
        let packed = pack(text).unwrap();
        let kernels = packed.kernels.into_iter();
        let kernels = kernels.map(|(name, at, packed)| Part { name: name.leak(), at, packed });
        Ptx {
            capability: 70,
            packed: packed.bytes.leak(),
            common: packed.common,
            kernels: kernels.collect::<Vec<_>>().leak(),
        }
    }

    #[test]
    fn one_kernel_keeps_what_is_common() {
        let ptx = embedded(TEXT);
        assert_eq!((ptx.capability, ptx.names().collect::<Vec<_>>()), (70, vec!["a", "ab"]));
        let (head, a) = (
            ".version 7.0\n.extern .shared .b8 s[];\n",
            ".visible .entry a(\n\t.param .u64 p\n)\n{\n\tret;\n}\n",
        );
        let (table, ab) = (".global .b8 table[4];\n", ".visible .entry ab()\n{\n\t{\n\tret;\n\t}\n}\n");
        assert_eq!(ptx.only("a"), Some([head, a, table].concat()));
        assert_eq!(ptx.only("ab"), Some([head, table, ab].concat()));
        assert_eq!(ptx.only("b"), None);
        assert_eq!(ptx.text(), TEXT);
    }

    fn outcome(folder: &TempDir) -> Outcome {
        let path = folder.path().join("k.ptx");
        fs::write(&path, TEXT).unwrap();
        let file = PtxFile { target: Target::new("sm_70", "ptx70"), path, report: "/out/k.txt".into() };
        Outcome::Kernels(Kernels { rustc: "rustc 1".into(), fingerprint: 1, files: vec![file] })
    }

    #[test]
    fn packed_kernels_are_included_by_path() {
        let folder = TempDir::new().unwrap();
        let module = outcome(&folder).write_standalone_module_in(folder.path()).unwrap();
        let module = fs::read_to_string(module).unwrap();
        let bytes = folder.path().join("kernels-sm_70.deflate");
        assert_eq!(fs::read(&bytes).unwrap(), pack(TEXT).unwrap().bytes);
        assert!(
            module.contains(&format!("capability: 70, packed: include_bytes!({bytes:?}), common: 0..")),
            "{module}"
        );
        assert!(module.contains("Part { name: \"ab\", at: 60, packed: "), "{module}");
        assert!(module.contains("NO_KERNELS: Option<&str> = None;"), "{module}");
        assert!(module.contains("KERNEL_RUSTC: Option<&str> = Some(\"rustc 1\");"), "{module}");
    }

    #[test]
    fn the_librarys_module_is_one_expression_of_its_data() {
        let folder = TempDir::new().unwrap();
        let module = outcome(&folder).write_module_in(folder.path()).unwrap();
        let module = fs::read_to_string(module).unwrap();
        let packed = pack(TEXT).unwrap();
        let [(_, _, a), (_, _, ab)] = packed.kernels.as_slice() else { panic!() };
        let bytes = folder.path().join("kernels-sm_70.deflate");
        let expected = format!(
            "::warpsmith::image::Images {{
    texts: &[
        ::warpsmith::image::Image {{
            capability: 70,
            packed: include_bytes!({bytes:?}),
            common: 0..{},
            parts: &[
                ::warpsmith::image::Part {{ name: \"a\", at: 38, packed: {a:?} }},
                ::warpsmith::image::Part {{ name: \"ab\", at: 60, packed: {ab:?} }},
            ],
        }},
    ],
    missing: None,
    compiler: Some(\"rustc 1\"),
}}
",
            packed.common.end
        );
        assert_eq!(module, expected);
    }

    #[test]
    fn without_kernels_the_module_says_why() {
        let folder = TempDir::new().unwrap();
        let read = |path: io::Result<PathBuf>| fs::read_to_string(path.unwrap()).unwrap();
        let outcome = Outcome::NoToolchain { reason: "no \"core\"".into(), remedy: "add it".into() };
        let module = read(outcome.write_standalone_module_in(folder.path()));
        assert!(module.contains("PTX: &[Ptx] = &[\n];"), "{module}");
        assert!(module.contains(r#"Some("no \"core\". Remedy: add it")"#), "{module}");
        assert!(module.contains("KERNEL_RUSTC: Option<&str> = None;"), "{module}");
        let skipped = Outcome::Skipped { reason: "X_KERNELS=skip".into(), remedy: "unset it".into() };
        let module = read(skipped.write_module_in(folder.path()));
        assert!(module.contains("texts: &[\n    ],"), "{module}");
        assert!(module.contains(r#"missing: Some("X_KERNELS=skip. Remedy: unset it")"#), "{module}");
    }
}
