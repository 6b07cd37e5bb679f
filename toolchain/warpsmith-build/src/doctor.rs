//! Says what this machine has for kernels and what it lacks, with the remedy for each.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment::Variables;
use crate::toolchain::{self, Missing, Search};
use crate::{Target, usage};

/// That there is no driver, and what to do: the words of `warpsmith::Error::NoDriver`.
const NO_DRIVER: &str = "no NVIDIA driver was found (libcuda.so.1, or nvcuda.dll on Windows)";
const DRIVER_REMEDY: &str = "install one from https://www.nvidia.com/drivers; a CUDA toolkit is not needed";

/// Driver branches from which on a version of CUDA is supported.
const BRANCHES: &[(u32, (u32, u32))] = &[(580, (13, 0)), (525, (12, 0)), (450, (11, 0))];

/// Returns a report on this machine: the compiler for kernels and the source of `core`, what would be built, the driver, its GPUs and the
/// PTX that each would load, ptxas, and the variables that are set. Nothing is built; the driver's `nvidia-smi` names the GPUs.
pub fn doctor() -> String {
    let variables = Variables::default();
    report(&variables, &Search::from_env(&variables), &driver_folders(), Path::new("/"), &nvidia_smi)
}

/// Returns what `nvidia-smi` prints: a line with name and compute capability for each GPU.
fn nvidia_smi() -> Result<String, String> {
    let words = ["--query-gpu=name,compute_cap", "--format=csv,noheader"];
    let output = Command::new("nvidia-smi").args(words).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_string();
    if output.status.success() { Ok(text) } else { Err(text) }
}

fn report(
    variables: &Variables,
    search: &Search<'_>,
    folders: &[PathBuf],
    root: &Path,
    gpus: &dyn Fn() -> Result<String, String>,
) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    match search.find() {
        Ok(found) => {
            lines.push(("compiler", format!("{}, {}", found.version, found.rustc.display())));
            lines.push(("cargo", found.cargo.display().to_string()));
            let source = search.library(&found.rustc).map(|path| path.display().to_string());
            lines.push(("core", source.unwrap_or_else(|reason| reason)));
            lines.push(("kernels", Target::defaults().iter().map(describe).collect::<Vec<_>>().join("; ")));
        }
        Err(Missing::Named(reason) | Missing::Everywhere(reason)) => {
            lines.push(("compiler", format!("none for kernels: {reason}")));
            lines.push(("", format!("remedy: {}", toolchain::remedy(variables))));
            lines.push(("kernels", "none: a build is for the CPU alone".into()));
        }
    }
    match driver(folders, root) {
        Some((library, version)) => {
            // An unknown driver may load anything, one that is too old nothing.
            let cuda =
                version.as_deref().map_or(u32::MAX, |version| cuda_of(version).map_or(0, |(major, _)| major));
            let version =
                version.map_or_else(|| "of an unknown version".into(), |version| describe_driver(&version));
            lines.push(("driver", format!("{version}, {}", library.display())));
            match gpus() {
                Ok(gpus) => lines.extend(gpus.lines().map(|gpu| ("GPU", describe_gpu(gpu, cuda)))),
                Err(error) => lines.push(("GPU", format!("unknown, nvidia-smi says: {error}"))),
            }
        }
        None => {
            lines.push(("driver", format!("{NO_DRIVER}: kernels run on the CPU")));
            lines.push(("", format!("remedy: {DRIVER_REMEDY}")));
        }
    }
    lines.push(("ptxas", match usage::find_ptxas(variables) {
        Some(ptxas) => format!("{}: reports have registers and spills", ptxas.display()),
        None => format!(
            "none: reports count PTX only. It is not needed; {} can name one, of a CUDA toolkit or of PyPI's nvidia-cuda-nvcc-cu12",
            variables.name(Variables::PTXAS)
        ),
    }));
    let set = Variables::ALL.iter().filter_map(|variable| {
        Some(format!("{}={}", variables.name(variable), variables.value(variable)?.display()))
    });
    let set: Vec<String> = set.collect();
    lines.push(("settings", if set.is_empty() { "none".into() } else { set.join(", ") }));
    let mut text = String::new();
    for (name, value) in lines {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<10}{value}");
    }
    text
}

/// Returns the major version of CUDA that the PTX of a target needs: PTX 7.0 came with CUDA 11.0, and 8.0 with 12.0.
fn needed_cuda(target: &Target) -> Option<u32> {
    let ptx = target.ptx().trim_start_matches("ptx");
    let (major, _) = ptx.split_at(ptx.len().saturating_sub(1));
    major.parse::<u32>().ok().filter(|&major| major >= 7).map(|major| major + 4)
}

fn name(target: &Target) -> String {
    let ptx = target.ptx().trim_start_matches("ptx");
    let (major, minor) = ptx.split_at(ptx.len().saturating_sub(1));
    format!("{} in PTX {major}.{minor}", target.arch())
}

fn describe(target: &Target) -> String {
    let cuda = needed_cuda(target)
        .map_or_else(String::new, |cuda| format!(", for drivers of CUDA {cuda} and later"));
    let capability = target.compute_capability();
    format!(
        "{}, for devices of compute capability {}.{} and up{cuda}",
        name(target),
        capability / 10,
        capability % 10
    )
}

/// Says which PTX a GPU loads, given its line from nvidia-smi and the driver's version of CUDA: the newest that both can run.
fn describe_gpu(line: &str, cuda: u32) -> String {
    let Some((name_of_gpu, capability)) = line.rsplit_once(", ") else { return line.to_string() };
    let Some(number) = capability.replace('.', "").parse::<u32>().ok() else { return line.to_string() };
    let gpu = format!("{name_of_gpu}, compute capability {capability}");
    let targets = Target::defaults();
    let fits = |target: &&Target| {
        target.compute_capability() <= number && needed_cuda(target).is_none_or(|needed| needed <= cuda)
    };
    match targets.iter().filter(fits).max_by_key(|target| target.compute_capability()) {
        Some(target) => format!("{gpu}: loads {}", name(target)),
        None => format!("{gpu}: loads none of these kernels; `Builder` can compile for other targets"),
    }
}

/// Returns the version of CUDA from which on the driver is known to support it.
fn cuda_of(driver: &str) -> Option<(u32, u32)> {
    let branch: u32 = driver.split('.').next().and_then(|branch| branch.parse().ok()).unwrap_or(0);
    BRANCHES.iter().find(|(from, _)| branch >= *from).map(|&(_, cuda)| cuda)
}

fn describe_driver(version: &str) -> String {
    match cuda_of(version) {
        Some((major, minor)) => format!("{version} (CUDA {major}.{minor})"),
        None => format!("{version}, which is too old: kernels need one of CUDA 11.0, version 450"),
    }
}

/// Returns the driver's library, and the driver's version if a file says it.
fn driver(folders: &[PathBuf], root: &Path) -> Option<(PathBuf, Option<String>)> {
    let names = ["libcuda.so.1", "libcuda.so", "nvcuda.dll"];
    let library =
        folders.iter().flat_map(|dir| names.map(|name| dir.join(name))).find(|file| file.exists())?;
    // libcuda.so.1 is a link to libcuda.so.580.65.06.
    let target = fs::canonicalize(&library).ok();
    let name = target.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    let of_name = name.and_then(|name| name.strip_prefix("libcuda.so.")).filter(|v| v.contains('.'));
    let version = of_name.map(str::to_string).or_else(|| {
        let text = fs::read_to_string(root.join("proc/driver/nvidia/version")).ok()?;
        let number = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
        text.split_whitespace().find(number).map(str::to_string)
    });
    Some((library, version))
}

/// Returns the folders in which the system looks for the driver's library.
fn driver_folders() -> Vec<PathBuf> {
    let set = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> =
        env::split_paths(&set).filter(|dir| !dir.as_os_str().is_empty()).collect();
    let usual = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/lib64",
        "/usr/local/nvidia/lib64",
        "/usr/lib/wsl/lib",
        "/run/opengl-driver/lib",
    ];
    folders.extend(usual.map(PathBuf::from));
    let windows = env::var_os("SystemRoot").map(|windows| Path::new(&windows).join("System32"));
    folders.into_iter().chain(windows).collect()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use tempfile::TempDir;

    fn nothing(_: &Path, _: &[&str]) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    #[test]
    fn what_is_missing_comes_with_its_remedy() {
        let folder = TempDir::new().unwrap();
        let variables = Variables::new("TEST_OF_DOCTOR");
        let search = Search {
            named_cargo: None,
            named_rustc: None,
            host_rustc: "rustc".into(),
            system_bin: folder.path().into(),
            ask: &nothing,
        };
        let text = report(&variables, &search, &[folder.path().into()], folder.path(), &|| unreachable!());
        assert!(text.contains("compiler  none for kernels: rustc does not run"), "{text}");
        assert!(text.contains(&format!("remedy: {}", toolchain::remedy(&variables))), "{text}");
        assert!(text.contains(&format!("driver    {NO_DRIVER}")) && text.contains(DRIVER_REMEDY), "{text}");
        assert!(text.contains("settings  none"), "{text}");
    }

    #[cfg(unix)]
    #[test]
    fn the_driver_is_known_by_its_files() {
        let folder = TempDir::new().unwrap();
        let lib = folder.path().join("lib");
        fs::create_dir_all(&lib).unwrap();
        assert_eq!(driver(std::slice::from_ref(&lib), folder.path()), None);
        fs::write(lib.join("libcuda.so.580.65.06"), "").unwrap();
        std::os::unix::fs::symlink("libcuda.so.580.65.06", lib.join("libcuda.so.1")).unwrap();
        let found = driver(std::slice::from_ref(&lib), folder.path()).unwrap();
        assert_eq!(found, (lib.join("libcuda.so.1"), Some("580.65.06".into())));
        // Where the library is no link, the kernel's module says it.
        let other = folder.path().join("other");
        fs::create_dir_all(folder.path().join("proc/driver/nvidia")).unwrap();
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("libcuda.so.1"), "").unwrap();
        let text = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  525.60.13  Wed Nov 30\n";
        fs::write(folder.path().join("proc/driver/nvidia/version"), text).unwrap();
        assert_eq!(driver(&[other], folder.path()).unwrap().1, Some("525.60.13".into()));
    }

    #[cfg(unix)]
    #[test]
    fn each_gpu_comes_with_the_ptx_that_it_loads() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("libcuda.so.525.60.13"), "").unwrap();
        std::os::unix::fs::symlink("libcuda.so.525.60.13", folder.path().join("libcuda.so.1")).unwrap();
        let variables = Variables::new("TEST_OF_DOCTOR");
        let search = Search {
            named_cargo: None,
            named_rustc: None,
            host_rustc: "rustc".into(),
            system_bin: folder.path().into(),
            ask: &nothing,
        };
        let says = |gpus: Result<&str, &str>| {
            let gpus = || gpus.map(str::to_string).map_err(str::to_string);
            report(&variables, &search, &[folder.path().into()], folder.path(), &gpus)
        };
        let text = says(Ok("NVIDIA H200, 9.0\nNVIDIA A100-SXM4-80GB, 8.0"));
        assert!(
            text.contains("GPU       NVIDIA H200, compute capability 9.0: loads sm_90 in PTX 8.0\n"),
            "{text}"
        );
        assert!(text.contains("A100-SXM4-80GB, compute capability 8.0: loads sm_70 in PTX 7.0\n"), "{text}");
        let text = says(Err("NVIDIA-SMI has failed"));
        assert!(text.contains("GPU       unknown, nvidia-smi says: NVIDIA-SMI has failed\n"), "{text}");
    }

    #[test]
    fn a_gpu_loads_the_newest_ptx_that_it_and_its_driver_can_run() {
        assert!(describe_gpu("NVIDIA H200, 9.0", 11).ends_with("loads sm_70 in PTX 7.0"));
        assert!(describe_gpu("Some GPU, 12.0", 13).ends_with("loads sm_90 in PTX 8.0"));
        assert!(describe_gpu("NVIDIA H200, 9.0", 0).contains("loads none"));
        assert!(describe_gpu("GeForce GTX 1080, 6.1", 13).contains("loads none"));
        assert_eq!(describe_gpu("No devices were found", 13), "No devices were found");
    }

    #[test]
    fn drivers_and_targets_are_described() {
        assert_eq!(describe_driver("580.65.06"), "580.65.06 (CUDA 13.0)");
        assert_eq!(describe_driver("535.1"), "535.1 (CUDA 12.0)");
        assert!(describe_driver("390.1").contains("too old"));
        assert_eq!(
            describe(&Target::new("sm_90", "ptx80")),
            "sm_90 in PTX 8.0, for devices of compute capability 9.0 and up, for drivers of CUDA 12 and later"
        );
    }
}
