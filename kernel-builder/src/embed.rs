//! Writes the module that a host includes to embed the kernels' PTX in its binary.
//!
//! The text is compressed kernel by kernel; the module's header, `embedded.rs`, decompresses those that are needed.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::{Compression, write::DeflateEncoder};

use crate::builder::out_dir_from_env;
use crate::{Kernels, Outcome, ptx};

impl Outcome {
    /// Writes `OUT_DIR/kernels.rs`, to be included by `include!(concat!(env!("OUT_DIR"), "/kernels.rs"))`. The host needs `flate2`
    /// among its dependencies.
    ///
    /// # Errors
    /// If a PTX file cannot be read, or a file cannot be written.
    pub fn write_module(&self) -> io::Result<PathBuf> {
        self.write_module_in(&out_dir_from_env())
    }

    /// Writes `kernels.rs` and the files that it includes to a chosen folder.
    ///
    /// # Errors
    /// If a PTX file cannot be read, or a file cannot be written.
    pub fn write_module_in(&self, dir: &Path) -> io::Result<PathBuf> {
        let path = dir.join("kernels.rs");
        fs::write(&path, self.module(dir)?)?;
        Ok(path)
    }

    /// Returns the module's source, with the same items whether there are kernels or not; packs the texts into `dir`.
    fn module(&self, dir: &Path) -> io::Result<String> {
        let none = Kernels { rustc: String::new(), fingerprint: 0, files: Vec::new() };
        let (kernels, no_kernels) = match self {
            Outcome::Kernels(kernels) => (kernels, None),
            Outcome::NoToolchain { reason, remedy } => (&none, Some(format!("{reason}. Remedy: {remedy}"))),
            Outcome::Skipped => {
                (&none, Some("built with ANTWARP_KERNELS=skip. Remedy: build without it".into()))
            }
        };
        let rustc = no_kernels.is_none().then_some(&kernels.rustc);
        let mut texts = String::new();
        for file in &kernels.files {
            let packed = pack(&fs::read_to_string(&file.path)?)?;
            let path = dir.join(format!("kernels-{}.deflate", file.target.arch()));
            fs::write(&path, &packed.bytes)?;
            texts.push_str(&packed.source(file.target.compute_capability(), &path));
        }
        Ok(format!(
            "{}\n\
             /// PTX texts in build.rs's order. Empty without kernels.\n\
             pub static PTX: &[Ptx] = &[\n{texts}];\n\
             /// Why there are no kernels, and what to do about it.\n\
             pub const NO_KERNELS: Option<&str> = {no_kernels:?};\n\
             /// The compiler of the kernels.\n\
             #[allow(dead_code)]\n\
             pub const KERNEL_RUSTC: Option<&str> = {rustc:?};\n",
            include_str!("embedded.rs")
        ))
    }
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
    let mut add = |text: &str| {
        let start = bytes.len();
        let mut stream = DeflateEncoder::new(&mut bytes, Compression::default());
        stream.write_all(text.as_bytes())?;
        stream.finish()?;
        io::Result::Ok(start..bytes.len())
    };
    let common = add(&parts.common)?;
    let kernels = parts.kernels.into_iter().map(|kernel| Ok((kernel.name, kernel.at, add(&kernel.text)?)));
    let kernels = kernels.collect::<io::Result<_>>()?;
    Ok(Packed { bytes, common, kernels })
}

impl Packed {
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
    use crate::{PtxFile, Target};

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

    /// Returns the module that is written to a folder.
    fn written(folder: &TempDir, outcome: &Outcome) -> String {
        fs::read_to_string(outcome.write_module_in(folder.path()).unwrap()).unwrap()
    }

    #[test]
    fn packed_kernels_are_included_by_path() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("k.ptx");
        fs::write(&path, TEXT).unwrap();
        let file = PtxFile { target: Target::new("sm_70", "ptx70"), path, report: "/out/k.txt".into() };
        let module = written(
            &folder,
            &Outcome::Kernels(Kernels { rustc: "rustc 1".into(), fingerprint: 1, files: vec![file] }),
        );
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
    fn without_kernels_the_module_says_why() {
        let folder = TempDir::new().unwrap();
        let outcome = Outcome::NoToolchain { reason: "no \"core\"".into(), remedy: "add it".into() };
        let module = written(&folder, &outcome);
        assert!(module.contains("PTX: &[Ptx] = &[\n];"), "{module}");
        assert!(module.contains(r#"Some("no \"core\". Remedy: add it")"#), "{module}");
        assert!(module.contains("KERNEL_RUSTC: Option<&str> = None;"), "{module}");
        assert!(written(&folder, &Outcome::Skipped).contains("ANTWARP_KERNELS=skip"));
    }
}
