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
            "/// PTX texts by ten times the compute capability they need, lowest first. Empty without kernels.\n\
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
