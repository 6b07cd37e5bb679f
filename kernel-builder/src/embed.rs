//! Writes the module that a host includes to have the kernels' PTX inside its binary.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::builder::out_dir_from_env;
use crate::{Kernels, Outcome};

impl Outcome {
    /// Writes `OUT_DIR/kernels.rs`; `include!(concat!(env!("OUT_DIR"), "/kernels.rs"))` takes it in.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_module(&self) -> io::Result<PathBuf> {
        self.write_module_in(&out_dir_from_env())
    }

    /// Writes `kernels.rs` in a folder of choice.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_module_in(&self, dir: &Path) -> io::Result<PathBuf> {
        let path = dir.join("kernels.rs");
        fs::write(&path, self.module())?;
        Ok(path)
    }

    /// The module's source: the same constants whether there are kernels or not.
    pub fn module(&self) -> String {
        let none = Kernels { rustc: String::new(), files: Vec::new() };
        let (kernels, no_kernels) = match self {
            Outcome::Kernels(kernels) => (kernels, None),
            Outcome::NoToolchain { reason, remedy } => (&none, Some(format!("{reason}. Remedy: {remedy}"))),
            Outcome::Skipped => {
                (&none, Some("built with ANTWARP_KERNELS=skip. Remedy: build without it".into()))
            }
        };
        let rustc = no_kernels.is_none().then_some(&kernels.rustc);
        let (mut ptx, mut names) = (String::new(), String::new());
        for file in &kernels.files {
            let capability = file.target.compute_capability();
            let path = file.path.display().to_string();
            // Writing to a String cannot fail.
            let _ = writeln!(ptx, "    ({capability}, include_str!({path:?})),");
            let _ = writeln!(names, "    ({capability}, &{:?}),", file.entries);
        }
        format!(
            "/// PTX texts by ten times the compute capability they need, in build.rs's order. Empty without kernels.\n\
             pub const PTX: &[(u32, &str)] = &[\n{ptx}];\n\
             /// The kernels in each text.\n\
             #[allow(dead_code)]\n\
             pub const KERNEL_NAMES: &[(u32, &[&str])] = &[\n{names}];\n\
             /// Why there are no kernels, and what to do about it.\n\
             pub const NO_KERNELS: Option<&str> = {no_kernels:?};\n\
             /// The compiler of the kernels.\n\
             #[allow(dead_code)]\n\
             pub const KERNEL_RUSTC: Option<&str> = {rustc:?};\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PtxFile, Target};

    #[test]
    fn kernels_are_included_by_path() {
        let file = PtxFile {
            target: Target::new("sm_70", "ptx70"),
            path: "/out/k.ptx".into(),
            report: "/out/k.txt".into(),
            entries: vec!["a".into(), "b".into()],
        };
        let module = Outcome::Kernels(Kernels { rustc: "rustc 1".into(), files: vec![file] }).module();
        assert!(module.contains("(70, include_str!(\"/out/k.ptx\")),"), "{module}");
        assert!(module.contains("(70, &[\"a\", \"b\"]),"), "{module}");
        assert!(module.contains("NO_KERNELS: Option<&str> = None;"), "{module}");
        assert!(module.contains("KERNEL_RUSTC: Option<&str> = Some(\"rustc 1\");"), "{module}");
    }

    #[test]
    fn without_kernels_the_module_says_why() {
        let outcome = Outcome::NoToolchain { reason: "no \"core\"".into(), remedy: "add it".into() };
        let module = outcome.module();
        assert!(module.contains("PTX: &[(u32, &str)] = &[\n];"), "{module}");
        assert!(module.contains(r#"Some("no \"core\". Remedy: add it")"#), "{module}");
        assert!(module.contains("KERNEL_RUSTC: Option<&str> = None;"), "{module}");
        assert!(Outcome::Skipped.module().contains("ANTWARP_KERNELS=skip"));
    }
}
