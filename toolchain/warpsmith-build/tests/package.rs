//! Builds a package as a stranger would: kernels in a source file, a build script of one line, and a library in the place of
//! warpsmith. Without a compiler for kernels, the tests say so and end. All packages are built in one folder, so that the builder is
//! compiled once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use warpsmith_build::environment::Variables;
use warpsmith_build::toolchain::Search;

/// What kernels in a file need of a library: a panic handler, the unstable ABI of kernels, the types of the images.
const LIBRARY: &str = r#"
#![no_std]
#![cfg_attr(target_os = "cuda", feature(allow_internal_unstable), allow(internal_features))]

#[cfg(target_os = "cuda")]
#[macro_export]
#[allow_internal_unstable(abi_ptx)]
macro_rules! kernel {
    ($name:ident, $y:ident, $body:expr) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name($y: *mut u32) {
            unsafe { *$y = $body };
        }
    };
}

#[cfg(not(target_os = "cuda"))]
#[macro_export]
macro_rules! kernel {
    ($name:ident, $y:ident, $body:expr) => {
        pub fn $name($y: *mut u32) {
            unsafe { *$y = $body };
        }
        pub static IMAGES: warpsmith::image::Images = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
    };
}

#[cfg(target_os = "cuda")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

pub mod image {
    pub struct Images {
        pub texts: &'static [Image],
        pub missing: Option<&'static str>,
        pub compiler: Option<&'static str>,
    }
    pub struct Image {
        pub capability: u32,
        pub packed: &'static [u8],
        pub common: core::ops::Range<usize>,
        pub parts: &'static [Part],
    }
    pub struct Part {
        pub name: &'static str,
        pub at: usize,
        pub packed: core::ops::Range<usize>,
    }
}
"#;

/// A module of its own, and one that is shared with the host.
const KERNELS: &str = "mod parts;\n#[path = \"shared.rs\"]\npub mod shared;\n\n\
    warpsmith::kernel!(twice, y, crate::kernels::parts::double(*y) + shared::SEVEN);\n";

const MAIN: &str = r#"mod kernels;

fn main() {
    let mut y = 4;
    kernels::twice(&raw mut y);
    let images = &kernels::IMAGES;
    println!("{y} {:?} {:?}", images.missing, images.compiler);
    for image in images.texts {
        let parts = image.parts.iter().map(|part| (part.name, part.at, part.packed.clone()));
        let parts: Vec<_> = parts.filter(|(_, at, range)| *at <= 100_000 && range.end <= image.packed.len()).collect();
        println!("{} {:?} {}", image.capability, parts[0].0, image.common.start);
    }
}
"#;

/// A build script that declares two `cfg`s, and one architecture: the kernels are compiled many times.
const WITH_CFGS: &str = r#"fn main() {
    let builder = warpsmith_build::Builder::new("src/kernels.rs").cfg("wide", true).cfg("narrow", false);
    let builder = builder.target(warpsmith_build::Target::new("sm_90", "ptx80"));
    let built = builder.build().map_err(|error| error.to_string());
    if let Err(message) = built.and_then(|outcome| outcome.write_module().map_err(|error| error.to_string())) {
        eprintln!("{message}");
        std::process::exit(1);
    }
}
"#;

/// What of the package host and GPU see alike.
const CFGS: &str = r#"
#[cfg(not(all(feature = "double-it", feature = "default", wide)))]
compile_error!("the package's features and cfgs are not seen");
#[cfg(any(feature = "unused", narrow))]
compile_error!("features and cfgs are seen that are not set");
"#;

/// A package of this name, in a folder of the same name.
struct Package {
    name: &'static str,
    root: PathBuf,
}

impl Package {
    fn new(name: &'static str) -> Package {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&root);
        let package = Package { name, root };
        package.clean();
        package.write(
            "library/Cargo.toml",
            "[package]\nname = \"warpsmith\"\nversion = \"0.1.0\"\nedition = \"2024\"\nlinks = \"warpsmith\"\n[features]\nmacros = []\nalloc = []\n[workspace]\n",
        );
        package.write("library/src/lib.rs", LIBRARY);
        let root =
            "fn main() {\n    println!(\"cargo::metadata=root={}\", env!(\"CARGO_MANIFEST_DIR\"));\n}\n";
        package.write("library/build.rs", root);
        let builder = env!("CARGO_MANIFEST_DIR");
        package.write(
            "package/Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
                 [features]\ndefault = [\"double-it\"]\ndouble-it = []\nunused = []\n\
                 [dependencies]\nwarpsmith = {{ path = \"../library\" }}\n\
                 [build-dependencies]\nwarpsmith-build = {{ path = {builder:?} }}\n"
            ),
        );
        // The versions that this test was built with: nothing is downloaded.
        let lock =
            Path::new(builder).ancestors().map(|dir| dir.join("Cargo.lock")).find(|file| file.exists());
        fs::copy(lock.expect("cargo has written one"), package.root.join("package/Cargo.lock")).unwrap();
        package
            .write("package/build.rs", "fn main() {\n    warpsmith_build::kernels(\"src/kernels.rs\");\n}\n");
        package.write("package/src/main.rs", MAIN);
        package.write("package/src/kernels.rs", KERNELS);
        package.write("package/src/kernels/parts.rs", "pub fn double(x: u32) -> u32 {\n    2 * x\n}\n");
        package.write("package/src/shared.rs", "pub const SEVEN: u32 = 7;\n");
        package
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Replaces a part of a file.
    fn edit(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.root.join(name)).unwrap();
        assert!(text.contains(from), "{text}");
        self.write(name, &text.replace(from, to));
    }

    /// Runs cargo in the package, with a setting for the kernels, and returns what the program and cargo say.
    fn cargo(&self, words: &[&str], kernels: &str) -> (String, String, bool) {
        self.cargo_with(words, kernels, "12")
    }

    fn cargo_with(&self, words: &[&str], kernels: &str, tile: &str) -> (String, String, bool) {
        let mut command = Command::new(env!("CARGO"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG")) {
            command.env_remove(name);
        }
        let output = command
            .args(words)
            .args(["--offline", "-v"])
            .current_dir(self.root.join("package"))
            .env("CARGO_TARGET_DIR", self.target())
            .env("WARPSMITH_KERNELS", kernels)
            .env("TILE", tile)
            .env("WARPSMITH_KERNEL_CACHE", self.root.join("kept"))
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.success())
    }

    fn run(&self, kernels: &str) -> String {
        self.run_with(kernels, "12")
    }

    /// Runs the program with a value of the variable `TILE`.
    fn run_with(&self, kernels: &str, tile: &str) -> String {
        let (out, messages, well) = self.cargo_with(&["run"], kernels, tile);
        assert!(well, "{messages}");
        out
    }

    /// Returns the folder that all packages are built in.
    fn target(&self) -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages")
    }

    /// Returns what cargo has in a folder of its own for the package itself.
    fn entries(&self, folder: &str) -> Vec<PathBuf> {
        let start = format!("{}-", self.name);
        let entries = fs::read_dir(self.target().join("debug").join(folder)).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(&start)).collect()
    }

    /// Removes all that was built for the package itself.
    fn clean(&self) {
        for path in ["build", ".fingerprint"].iter().flat_map(|folder| self.entries(folder)) {
            fs::remove_dir_all(path).unwrap();
        }
    }

    /// Returns the folder of the build script that has a file or folder of this name.
    fn out_dir(&self, name: &str) -> Option<PathBuf> {
        let mut folders = self.entries("build").into_iter().map(|folder| folder.join("out"));
        folders.find(|folder| folder.join(name).exists())
    }

    /// Returns the folder of what was compiled for the GPU since the package was cleaned.
    fn device(&self) -> Option<PathBuf> {
        self.out_dir("device").map(|folder| folder.join("device"))
    }

    /// Returns a file that the build script wrote, and when.
    fn built(&self, name: &str) -> (String, SystemTime) {
        let file = self.out_dir(name).unwrap().join(name);
        (fs::read_to_string(&file).unwrap(), file.metadata().unwrap().modified().unwrap())
    }
}

#[test]
fn kernels_and_host_are_one_package() {
    let found = Search::from_env(&Variables::default()).find();
    let Ok(toolchain) = found.inspect_err(|missing| println!("skipped: {missing:?}")) else { return };
    let package = Package::new("one-package");
    let out = package.run("require");
    assert_eq!(out, format!("15 None Some({:?})\n70 \"twice\" 0\n90 \"twice\" 0\n", toolchain.version));

    // Features and cfgs are the same for host and GPU.
    package.write("package/build.rs", WITH_CFGS);
    package.write("package/src/kernels.rs", &format!("{KERNELS}{CFGS}"));
    let out = package.run("require");
    assert_eq!(out, format!("15 None Some({:?})\n90 \"twice\" 0\n", toolchain.version));
    let (ptx, written) = package.built("kernels-sm_90.ptx");
    assert!(ptx.contains(".visible .entry twice(") && ptx.contains("7;"), "{ptx}");

    // The host alone has changed: nothing is compiled for the GPU, nor looked at.
    package.write("package/src/main.rs", &MAIN.replace("y = 4", "y = 5"));
    assert!(package.run("require").starts_with("17 None"));
    assert_eq!(package.built("kernels-sm_90.ptx"), (ptx.clone(), written));

    // A module of the kernels, in a folder of theirs and beside them.
    for (name, text, value) in [
        ("package/src/kernels/parts.rs", "pub fn double(x: u32) -> u32 {\n    x * 5\n}\n", "32 "),
        ("package/src/shared.rs", "pub const SEVEN: u32 = 1234;\n", "1259 "),
    ] {
        let (before, _) = package.built("kernels-sm_90.ptx");
        package.write(name, text);
        assert!(package.run("require").starts_with(value), "{name}");
        assert_ne!(package.built("kernels-sm_90.ptx").0, before, "{name} was not compiled again");
    }

    // What was compiled once from the same files is taken again, and nothing else. `core` need not be compiled again for that.
    let (before, _) = package.built("kernels-sm_90.ptx");
    let aside = package.root.join("device");
    fs::rename(package.device().unwrap(), &aside).unwrap();
    package.clean();
    assert!(package.run("require").starts_with("1259 "));
    assert!(package.built("kernels-sm_90.ptx").0 == before && package.device().is_none());
    let out_dir = package.out_dir("kernels.rs").unwrap();
    fs::rename(aside, out_dir.join("device")).unwrap();
    package.write("package/src/shared.rs", "pub const SEVEN: u32 = 1235;\n");
    assert!(package.run("require").starts_with("1260 "));
    assert_ne!(package.built("kernels-sm_90.ptx").0, before);

    // A value of the environment that the kernels are compiled with, in whichever form they ask for it.
    package.edit("package/src/shared.rs", "1235;", "1235 + env! [\"TILE\"].len() as u32;");
    assert!(package.run_with("require", "12").starts_with("1262 "));
    let (before, _) = package.built("kernels-sm_90.ptx");
    for (tile, value) in [("123", "1263 "), ("12", "1262 ")] {
        assert!(package.run_with("require", tile).starts_with(value));
        assert_eq!(package.built("kernels-sm_90.ptx").0 == before, tile == "12", "TILE={tile}");
    }

    // What the host alone may know is not guessed.
    package.edit("package/src/shared.rs", "pub const", "#[cfg(loom)]\npub struct Loom;\npub const");
    let (_, messages, well) = package.cargo(&["build"], "require");
    assert!(!well && messages.contains("`loom`") && messages.contains("`Builder::cfg`"), "{messages}");

    // What is wrong in the kernels is said in the compiler's words.
    package.write(
        "package/src/shared.rs",
        "pub const SEVEN: u32 = 7;\n#[cfg(target_os = \"cuda\")]\nuse no::such;\n",
    );
    let (_, messages, well) = package.cargo(&["build"], "require");
    assert!(!well && messages.contains("src/shared.rs") && messages.contains("no::such"), "{messages}");
    assert!(!messages.contains("panicked"), "{messages}");
}

/// `cargo check` and `cargo build` differ in what a build script shares with the program: it must share nothing.
#[test]
fn a_check_has_the_kernels_of_the_build() {
    let package = Package::new("checked");
    package.edit("package/Cargo.toml", "[build-dependencies]", "flate2 = \"1.1\"\n[build-dependencies]");
    for word in ["build", "check"] {
        let (_, messages, well) = package.cargo(&[word], "skip");
        assert!(well, "{messages}");
    }
    let built =
        package.entries("build").iter().filter(|folder| folder.join("out/kernels.rs").exists()).count();
    assert_eq!(built, 1, "the kernels are built once more for a check");
}

#[test]
fn without_kernels_the_program_knows_why() {
    let package = Package::new("no-kernels");
    let out = package.run("skip");
    assert_eq!(out, "15 Some(\"built with WARPSMITH_KERNELS=skip. Remedy: build without it\") None\n");
    // A second source in the same build script.
    let one = fs::read_to_string(package.root.join("package/build.rs")).unwrap();
    for (second, said) in [
        ("shared", "src/shared.rs, and the second would overwrite"),
        ("kernels", "OUT_DIR/kernels.rs already"),
    ] {
        let two = format!(
            "{}    warpsmith_build::kernels(\"src/{second}.rs\");\n}}\n",
            one.trim_end().trim_end_matches('}')
        );
        package.write("package/build.rs", &two);
        let (_, messages, well) = package.cargo(&["build"], "skip");
        assert!(!well && messages.contains(said), "{messages}");
    }
    package.write("package/build.rs", &one);
    // Libraries that do not go together.
    package.edit("library/Cargo.toml", "0.1.0", "0.1.77");
    let (_, messages, well) = package.cargo(&["build"], "skip");
    assert!(!well && messages.contains("warpsmith has version 0.1.77"), "{messages}");
    package.edit("library/Cargo.toml", "0.1.77", "0.1.0");
    let (_, messages, well) = package.cargo(&["build"], "never");
    assert!(!well && messages.contains("WARPSMITH_KERNELS is `never`, but must be"), "{messages}");
    assert!(!messages.contains("panicked"), "{messages}");
}
