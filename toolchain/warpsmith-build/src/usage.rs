//! What kernels use of a GPU, kernel by kernel: as NVIDIA's assembler says, where there is one, and else as the PTX shows.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment::Variables;
use crate::ptx::Report;
use crate::{Target, divergence};

/// A text up to this number of bytes is assembled for its report wherever ptxas is found; for a larger one, which takes minutes, the
/// user has to name ptxas.
const SHORT: usize = 1 << 20;

/// What one kernel uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The kernel's name.
    pub kernel: String,
    /// Number of PTX instructions.
    pub instructions: usize,
    /// Number of barriers of a block among them.
    pub barriers: usize,
    /// What the machine code uses, if ptxas says it.
    pub assembled: Option<Assembled>,
}

/// What ptxas says of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembled {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of a thread's stack, without those of functions that are called by pointers.
    pub stack: u32,
    /// Bytes of registers that did not fit and are kept in memory.
    pub spilled: u32,
    /// Bytes of shared memory, without what a launch adds.
    pub shared: u32,
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}: {} instructions, {} barriers", self.kernel, self.instructions, self.barriers)?;
        match &self.assembled {
            Some(Assembled { registers, stack, spilled, shared }) => write!(
                f,
                ", {registers} registers, {stack} bytes of stack, {spilled} spilled, {shared} of shared memory"
            ),
            None => Ok(()),
        }
    }
}

/// Returns what each kernel of a text in a file uses, and why ptxas failed, if it did. What only ptxas knows is also missing where there
/// is none, and for a text of more than a mebibyte unless the environment names one.
pub fn usage(
    variables: &Variables,
    file: &Path,
    text: &str,
    target: &Target,
    report: &Report,
) -> (Vec<Usage>, Option<String>) {
    let named = variables.value(Variables::PTXAS).is_some();
    let ptxas = find_ptxas(variables).filter(|_| named || text.len() <= SHORT);
    let (assembled, why) = match ptxas.map(|ptxas| assemble(&ptxas, file, text, target)) {
        Some(Ok(assembled)) => (assembled, None),
        Some(Err(why)) => (BTreeMap::new(), Some(why)),
        None => (BTreeMap::new(), None),
    };
    let kernels = divergence::functions(text).into_iter().filter(|function| function.is_kernel);
    let usages = kernels.map(|function| Usage {
        instructions: divergence::instructions(&function.body),
        barriers: report.barriers.get(&function.name).copied().unwrap_or(0),
        assembled: assembled.get(&function.name).cloned(),
        kernel: function.name,
    });
    (usages.collect(), why)
}

/// Finds NVIDIA's assembler: the one that the environment names, whether or not it exists, or one on the path or of a CUDA toolkit.
pub fn find_ptxas(variables: &Variables) -> Option<PathBuf> {
    if let Some(named) = variables.value(Variables::PTXAS) {
        return Some(named.into());
    }
    let program = format!("ptxas{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    let toolkits = ["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT"].iter().filter_map(env::var_os);
    let toolkits = toolkits.map(PathBuf::from).chain([PathBuf::from("/usr/local/cuda")]);
    let folders = env::split_paths(&path).chain(toolkits.map(|folder| folder.join("bin")));
    folders.map(|folder| folder.join(&program)).find(|file| file.is_file())
}

fn assemble(
    ptxas: &Path,
    file: &Path,
    text: &str,
    target: &Target,
) -> Result<BTreeMap<String, Assembled>, String> {
    let object = file.with_extension("cubin");
    let output = Command::new(ptxas)
        .args(["-v", &format!("-arch={}", target.arch())])
        // The driver's own functions are linked when the kernels are loaded.
        .args(text.contains(".extern .func").then_some("-c"))
        .arg(file)
        .arg("-o")
        .arg(&object)
        .output()
        .map_err(|error| format!("{} does not run ({error})", ptxas.display()))?;
    let _ = std::fs::remove_file(&object);
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let first = said.lines().find(|line| line.contains("fatal") || line.contains("error"));
        return Err(format!("{} refuses: {}", ptxas.display(), first.unwrap_or("without a reason").trim()));
    }
    Ok(read(&said))
}

/// Reads what `ptxas -v` says.
fn read(said: &str) -> BTreeMap<String, Assembled> {
    let mut all: BTreeMap<String, Assembled> = BTreeMap::new();
    let mut kernel = None;
    for line in said.lines() {
        let number_before = |unit: &str| {
            let before = line.split_once(unit)?.0;
            before.rsplit([' ', ',']).find(|word| !word.is_empty())?.parse::<u32>().ok()
        };
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().map(str::to_string);
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            // Of a function that was not inlined, too: those are not asked for.
            kernel = kernel.filter(|kernel| kernel == name.trim());
        } else if let Some(kernel) = &kernel {
            let entry = all.entry(kernel.clone()).or_default();
            if line.contains("bytes stack frame") {
                entry.stack = number_before(" bytes stack frame").unwrap_or(0);
                entry.spilled = number_before(" bytes spill stores").unwrap_or(0);
            } else if line.contains("Used ") {
                entry.registers = number_before(" registers").unwrap_or(0);
                entry.shared = number_before(" bytes smem").unwrap_or(0);
            }
        }
    }
    all
}

/// Returns a line about kernels that keep registers in memory; `None` if no kernel does.
pub fn spills(all: &[Usage]) -> Option<String> {
    let spilled = |usage: &&Usage| usage.assembled.as_ref().is_some_and(|assembled| assembled.spilled > 0);
    let mut kernels = all.iter().filter(spilled);
    let first = kernels.next()?;
    let bytes = first.assembled.as_ref().map_or(0, |assembled| assembled.spilled);
    Some(format!("{} spill registers (first: {}, {bytes} bytes)", 1 + kernels.count(), first.kernel))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'a' for 'sm_70'
ptxas info    : Function properties for a
    8 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 8 bytes cumulative stack size, 512 bytes smem, 364 bytes cmem[0]
ptxas info    : Compile time = 1.0 ms
ptxas info    : Compiling entry function 'b' for 'sm_70'
ptxas info    : Function properties for b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 364 bytes cmem[0]
ptxas info    : Function properties for memcmp
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
";

    #[test]
    fn what_ptxas_says_is_read() {
        let read = read(SAID);
        assert_eq!(read["a"], Assembled { registers: 255, stack: 8, spilled: 24, shared: 512 });
        assert_eq!(read["b"], Assembled { registers: 8, ..Assembled::default() });
        let usage = |name: &str| Usage {
            kernel: name.into(),
            instructions: 3,
            barriers: 1,
            assembled: read.get(name).cloned(),
        };
        assert_eq!(
            usage("a").to_string(),
            "kernel a: 3 instructions, 1 barriers, 255 registers, 8 bytes of stack, 24 spilled, 512 of shared memory"
        );
        assert_eq!(usage("c").to_string(), "kernel c: 3 instructions, 1 barriers");
        let all = [usage("b"), usage("a")];
        assert_eq!(spills(&all).unwrap(), "1 spill registers (first: a, 24 bytes)");
        assert_eq!(spills(&all[..1]), None);
    }

    #[test]
    fn kernels_are_counted_without_ptxas() {
        let text = ".visible .entry k(\n)\n{\n\t.reg .b32 %r<2>;\n\tmov.u32 %r1, %tid.x;\n$L__BB0_1:\n\tbra.uni $L__BB0_1;\n}\n";
        let variables = Variables::new("TEST_OF_USAGE");
        let target = Target::new("sm_1", "ptx70");
        let (all, _) = usage(&variables, Path::new("/no/such.ptx"), text, &target, &Report::default());
        assert_eq!((all.len(), all[0].instructions), (1, 2));
    }
}
