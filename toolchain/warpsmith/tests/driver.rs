//! What a program sees of a driver that fails: an error that names the remedy.
//!
//! Each test runs in a process of its own, with a double of the driver (`toolchain/driver-double`) in the place of libcuda. The kernels
//! of the double do nothing.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use warpsmith::image::{Image, Images, Part};
use warpsmith::prelude::*;
use warpsmith::{Buffer, Device, Error, Pinned, Result, Stream};

/// Adds one to each element.
#[kernel]
pub fn add_one(x: &[u32], y: &mut Slots<u32>) {
    let i = thread::index();
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        *y = x + 1;
    }
}

// SAFETY: the text below declares the kernel with its parameters.
warpsmith::module!(@ unsafe images());

/// What stands before the kernel in its text, and what the kernel does.
const HEAD: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";
const RECORD: &str = ".visible .global .align 8 .b8 warpsmith_record[8];\n";
const WRITES_RECORD: &str = "\tld.global.b64 %rd1, [warpsmith_record];\n";
const CALLS_POINTER: &str = "\tcall (retval0), \n\t%rd3, \n\t(\n\tparam0\n\t)\n\t, prototype_0;\n";
const OTHER_TYPES: &str = "\t// parameters: &[f32], &mut Slots<f32>\n";

fn images() -> &'static Images {
    let is_set = |name| std::env::var_os(name).is_some();
    let (common, body) = match () {
        () if is_set("KERNEL_WRITES_RECORD") => (format!("{HEAD}{RECORD}"), WRITES_RECORD),
        () if is_set("KERNEL_CALLS_POINTER") => (HEAD.to_string(), CALLS_POINTER),
        () if is_set("KERNEL_HAS_OTHER_TYPES") => (HEAD.to_string(), OTHER_TYPES),
        () => (HEAD.to_string(), ""),
    };
    let parameters: Vec<String> = (0..4).map(|i| format!("\t.param .u64 add_one_param_{i}")).collect();
    let kernel = format!(".visible .entry add_one(\n{}\n)\n{{\n{body}\tret;\n}}\n", parameters.join(",\n"));
    let pack = |text: &str| {
        let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let (at, first, kernel) = (common.len(), pack(&common), pack(&kernel));
    let packed = [first.clone(), kernel].concat();
    let parts = vec![Part { name: "add_one", at, packed: first.len()..packed.len() }];
    let capability = if is_set("KERNEL_HAS_CLUSTERS") { 90 } else { 70 };
    let image = Image { capability, common: 0..first.len(), packed: packed.leak(), parts: parts.leak() };
    Box::leak(Box::new(Images { texts: vec![image].leak(), missing: None, compiler: None }))
}

/// Set in the process that has the double.
const INSIDE: &str = "WARPSMITH_ON_DOUBLE";

/// Runs this program's test of this name with the double, and returns its output if it failed.
fn run(name: &str, settings: &[(&str, &str)]) -> std::result::Result<(), String> {
    let program = std::env::current_exe().unwrap();
    let double = program.with_file_name("libdriver_double.so");
    assert!(double.exists(), "cargo builds {} beside the tests", double.display());
    let folder = program.with_file_name("driver-double");
    fs::create_dir_all(&folder).unwrap();
    // Another test may have made it.
    let _ = std::os::unix::fs::symlink(&double, folder.join("libcuda.so"));
    let mut command = Command::new(&program);
    command.args(["--exact", name, "--nocapture"]).env("LD_LIBRARY_PATH", &folder);
    command.envs([(INSIDE, "1"), ("DRIVER_ALONE", "1"), ("WARPSMITH_CACHE", "off")]);
    command.env_remove("WARPSMITH_ARCH").envs(settings.iter().copied());
    let output = command.output().unwrap();
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    Err(format!("{:?} with {settings:?}:\n{}", output.status, String::from_utf8_lossy(&text)))
}

/// Tests whose body runs with the double, and with these settings of it.
macro_rules! on_double {
    ($($(#[$attribute:meta])* fn $name:ident($($setting:ident = $value:expr),*) $body:block)*) => { $(
        $(#[$attribute])*
        #[test]
        fn $name() {
            if std::env::var_os(INSIDE).is_some() {
                return $body;
            }
            run(stringify!($name), &[$((stringify!($setting), $value)),*]).unwrap_or_else(|why| panic!("{why}"));
        }
    )* };
}

struct Program {
    device: Device,
    stream: Stream,
    kernels: Kernels,
    x: Buffer<u32>,
    y: Buffer<u32>,
}

fn program() -> Result<Program> {
    let device = Device::gpu(0)?;
    let (stream, kernels) = (device.stream()?, Kernels::load(&device)?);
    let (x, y) = (stream.upload(&[1, 2, 3])?, stream.zeroed(3)?);
    Ok(Program { device, stream, kernels, x, y })
}

impl Program {
    fn launch(&mut self, grid: impl Into<Grid>) -> Result {
        self.kernels.add_one(&self.stream, grid.into(), (&self.x, &mut self.y))
    }
}

/// Checks the kind of an error, and that its text has these words.
#[track_caller]
fn expect<T>(result: Result<T>, is_kind: impl Fn(&Error) -> bool, words: &[&str]) {
    let error = result.err().expect("an error");
    let text = error.to_string();
    assert!(is_kind(&error), "{text}");
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}

/// Checks that the best device is the CPU, that its text says why and what to do, and that the CPU by choice says nothing.
#[track_caller]
fn expect_cpu_because(why: &str) {
    let (best, error) = (Device::best().unwrap(), Device::gpu(0).unwrap_err().to_string());
    assert!(best.is_cpu() && error.starts_with(why), "{error}");
    assert_eq!(format!("{best}; or use Device::cpu()"), format!("CPU, because {error}"));
    assert_eq!(Device::cpu().to_string(), "CPU");
}

/// On a machine with a driver there is nothing to compare.
#[test]
fn the_doctor_says_the_same_about_a_missing_driver() {
    if Device::count() != Err(Error::NoDriver) {
        return;
    }
    let (doctor, error) = (warpsmith_build::doctor(), Error::NoDriver.to_string());
    let (problem, remedy) = error.split_once(": ").unwrap();
    let remedy = remedy.trim_end_matches("; or use Device::cpu()");
    assert!(doctor.contains(problem) && doctor.contains(remedy), "{doctor}\n{error}");
}

on_double! {
    fn all_is_well() {
        let mut program = program().unwrap();
        program.launch((1, 3)).unwrap();
        program.stream.synchronize().unwrap();
        assert_eq!(program.stream.download(&program.x).unwrap(), [1, 2, 3]);
    }

    fn a_library_that_is_no_driver(DRIVER_FAILS = "cuInit:34") {
        expect(Device::gpu(0), |e| matches!(e, Error::NoDriver), &["nvidia.com/drivers", "Device::cpu()"]);
        expect_cpu_because("no NVIDIA driver was found");
    }

    fn no_gpu(DRIVER_FAILS = "cuInit:100") {
        expect(Device::gpu(0), |e| matches!(e, Error::NoDevice(_)), &["nvidia-smi", "CUDA_VISIBLE_DEVICES"]);
        expect_cpu_because("the NVIDIA driver finds no GPU");
    }

    fn a_driver_that_does_not_fit_its_module(DRIVER_FAILS = "cuInit:803") {
        let is_kind = |e: &Error| matches!(e, Error::DriverNotStarted { .. });
        expect(Device::gpu(0), is_kind, &["SYSTEM_DRIVER_MISMATCH", "restart the machine"]);
        expect(Device::best(), is_kind, &[]);
    }

    fn a_device_that_does_not_exist(DRIVER_DEVICES = "2") {
        expect(Device::gpu(2), |e| *e == Error::NoSuchDevice(2, 2), &["numbered from 0"]);
    }

    fn a_driver_too_old_for_the_ptx(DRIVER_VERSION = "10020") {
        let device = Device::gpu(0).unwrap();
        expect(
            Kernels::load(&device),
            |e| matches!(e, Error::OldDriver { driver: (10, 2), needed: (11, 0) }),
            &["update the driver"],
        );
    }

    fn a_driver_that_rejects_the_ptx(DRIVER_FAILS = "cuLinkComplete:222") {
        let rejected = program().unwrap().launch((1, 3));
        expect(rejected, |e| matches!(e, Error::Rejected { .. }), &["`add_one`", "newer driver"]);
    }

    fn a_driver_without_its_compiler(DRIVER_FAILS = "cuLinkCreate_v2:221") {
        let launched = program().unwrap().launch((1, 3));
        expect(launched, |e| *e == Error::NoCompiler, &["NVIDIA_DRIVER_CAPABILITIES"]);
    }

    fn too_little_device_memory(DRIVER_FAILS = "cuMemAllocAsync:2") {
        let stream = Device::gpu(0).unwrap().stream().unwrap();
        let is_kind = |e: &Error| matches!(e, Error::OutOfMemory { bytes: 4096, free: Some(_) });
        expect(stream.zeroed::<u32>(1024), is_kind, &["4096 bytes", "use smaller buffers"]);
        // The program can go on with less.
        assert_eq!(stream.download(&stream.upload(&[7]).unwrap()).unwrap(), [7]);
    }

    fn too_little_pinned_memory(DRIVER_FAILS = "cuMemHostAlloc:2") {
        let device = Device::gpu(0).unwrap();
        let is_kind = |e: &Error| matches!(e, Error::OutOfMemory { bytes: 4096, free: None });
        expect(Pinned::<u32>::zeroed(&device, 1024), is_kind, &["4096 bytes"]);
    }

    fn a_launch_that_the_driver_refuses(DRIVER_FAILS = "cuLaunchKernel:701") {
        let launched = program().unwrap().launch((1, 3));
        expect(launched, |e| matches!(e, Error::Driver { .. }), &["launching a kernel", "OUT_OF_RESOURCES"]);
    }

    fn a_launch_of_clusters_that_the_driver_refuses(
        DRIVER_FAILS = "cuLaunchKernelEx:701", KERNEL_HAS_CLUSTERS = "1"
    ) {
        let mut program = program().unwrap();
        let launched = program.launch(Grid::new(2, 32).cluster(2));
        expect(launched, |e| matches!(e, Error::Driver { .. }), &["launching a kernel", "OUT_OF_RESOURCES"]);
    }

    fn a_device_that_is_lost(DRIVER_FAILS = "cuStreamSynchronize:719") {
        // `upload` waits, too.
        let is_kind = |e: &Error| matches!(e, Error::DeviceFault { .. });
        expect(program().map(drop), is_kind, &["LAUNCH_FAILED", "WARPSMITH_KERNEL_DEBUG=1", "compute-sanitizer"]);
    }

    fn a_device_that_is_lost_stays_lost(DRIVER_FAILS = "cuLaunchKernel:700") {
        let mut program = program().unwrap();
        let is_kind = |e: &Error| matches!(e, Error::DeviceFault { .. });
        expect(program.launch((1, 3)), is_kind, &[]);
        expect(program.launch((1, 3)), is_kind, &[]);
        expect(program.stream.synchronize(), is_kind, &[]);
        expect(program.stream.download(&program.y), is_kind, &[]);
        expect(program.stream.zeroed::<u32>(3), is_kind, &[]);
        expect(program.device.synchronize(), is_kind, &[]);
    }

    fn a_kernel_compiled_from_another_source(KERNEL_HAS_OTHER_TYPES = "1") {
        let launched = program().unwrap().launch((1, 3));
        expect(launched, |e| matches!(e, Error::OtherSource { .. }), &["`add_one`", "&[f32]", "&[u32]"]);
    }

    fn grids_that_no_device_can_run() {
        let mut program = program().unwrap();
        let is_kind = |e: &Error| matches!(e, Error::Grid { .. });
        expect(program.launch((0, 32)), is_kind, &["`add_one`", "no blocks"]);
        expect(program.launch((1, 0)), is_kind, &["no threads"]);
        expect(program.launch((1, 2048)), is_kind, &["2048 threads", "1024", "smaller blocks"]);
        expect(program.launch(Grid::new(1, 32).shared_bytes(228 << 10)), is_kind, &["shared memory", "232448"]);
        program.launch(Grid::new(1, 32).shared_bytes(227 << 10)).unwrap();
    }

    fn what_belongs_to_another_device(DRIVER_DEVICES = "2") {
        let mut program = program().unwrap();
        let other = Device::gpu(1).unwrap();
        let (stream, device) = (other.stream().unwrap(), program.device.clone());
        let mut buffer = stream.upload(&[1, 2, 3]).unwrap();
        let of_other = |what| move |e: &Error| matches!(e, Error::OtherDevice { what: w, .. } if *w == what);
        let launched = program.kernels.add_one(&program.stream, (1, 3), (&buffer, &mut program.y));
        expect(launched, of_other("a buffer"), &["GPU 1", "GPU 0", "copy the data"]);
        let launched = program.kernels.add_one(&stream, (1, 3), (&program.x, &mut buffer));
        expect(launched, of_other("kernels"), &["load them for that device"]);
        expect(program.stream.download(&buffer), of_other("a buffer"), &[]);
        let mut pinned = Pinned::zeroed(&device, 3).unwrap();
        expect(stream.write_pinned(&mut buffer, &pinned), of_other("pinned memory"), &["allocate it for that device"]);
        expect(stream.read_pinned(&buffer, &mut pinned), of_other("pinned memory"), &[]);
        // Kernels cannot use the other device's memory, but the driver copies from one to the other.
        assert!(!device.reaches(&other).unwrap());
        stream.copy(&program.x, &mut buffer).unwrap();
        assert_eq!(stream.download(&buffer).unwrap(), [1, 2, 3]);
        let cpu = Device::cpu().stream().unwrap();
        expect(cpu.download(&buffer), of_other("a buffer"), &["the CPU"]);
    }

    fn pinned_memory_is_copied_from_and_to() {
        let program = program().unwrap();
        let (device, stream) = (&program.device, &program.stream);
        let mut pinned = Pinned::from_slice(device, &[7u32, 8, 9]).unwrap();
        let mut buffer = stream.zeroed(3).unwrap();
        stream.write_pinned(&mut buffer, &pinned).unwrap();
        stream.write_pinned(&mut buffer, &pinned).unwrap();
        pinned.as_mut_slice().unwrap().fill(0);
        stream.read_pinned(&buffer, &mut pinned).unwrap();
        assert_eq!(pinned.as_slice().unwrap(), [7, 8, 9]);
        // Another stream waits for the first.
        let other = device.stream().unwrap();
        other.read_pinned(&program.x, &mut pinned).unwrap();
        assert_eq!(pinned.as_slice().unwrap(), [1, 2, 3]);
    }

    fn the_stack_of_kernels_that_call_through_pointers(KERNEL_CALLS_POINTER = "1") {
        let mut program = program().unwrap();
        program.launch((1, 3)).unwrap();
        assert_eq!(stack(), 8192);
    }

    fn a_stack_that_the_program_chose(KERNEL_CALLS_POINTER = "1") {
        let mut program = program().unwrap();
        program.device.set_stack_bytes(2048).unwrap();
        program.launch((1, 3)).unwrap();
        assert_eq!(stack(), 2048);
    }

    fn the_stack_of_other_kernels() {
        let mut program = program().unwrap();
        program.launch((1, 3)).unwrap();
        assert_eq!(stack(), 1024);
    }
}

/// Asks the double for the stack of a thread.
fn stack() -> usize {
    let mut bytes = 0;
    // SAFETY: writes one number.
    let got = unsafe {
        cudarc::driver::sys::cuCtxGetLimit(&mut bytes, cudarc::driver::sys::CUlimit::CU_LIMIT_STACK_SIZE)
    };
    assert_eq!(got, cudarc::driver::sys::CUresult::CUDA_SUCCESS);
    bytes
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("driver-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A record as a kernel writes it: state, line, column, block, thread, lengths, file, message.
fn record(file: &str, line: u32, message: &str) -> Vec<u8> {
    let (file_bytes, message_bytes) = (file.len() as u32, message.len() as u32);
    let numbers = [1, line, 7, 2, 0, 0, 5, 0, 0, file_bytes, message_bytes];
    let mut record: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    record.extend(file.bytes());
    record.resize(44 + 256, 0);
    record.extend(message.bytes());
    record.resize(44 + 256 + 512, 0);
    record
}

#[test]
fn a_kernel_that_says_why_it_fails() {
    if std::env::var_os(INSIDE).is_some() {
        let mut program = program().unwrap();
        program.launch((4, 64)).unwrap();
        let failed = |result: Result| {
            expect(
                result,
                |e| matches!(e, Error::Kernel { place: Some((_, 41, 7)), .. }),
                &["kernel `add_one` failed: index out of bounds", "at src/kernels.rs:41:7", "[5, 0, 0]"],
            );
        };
        failed(program.device.synchronize());
        failed(program.stream.download(&program.y).map(drop));
        failed(program.launch((4, 64)));
        return;
    }
    let folder = folder("record");
    let file = folder.join("record");
    fs::write(&file, record("src/kernels.rs", 41, "index out of bounds")).unwrap();
    let ran = run(
        "a_kernel_that_says_why_it_fails",
        &[
            ("DRIVER_FAILS", "cuCtxSynchronize:719"),
            ("DRIVER_RECORD", file.to_str().unwrap()),
            ("KERNEL_WRITES_RECORD", "1"),
        ],
    );
    fs::remove_dir_all(&folder).unwrap();
    ran.unwrap_or_else(|why| panic!("{why}"));
}

/// What a program does with a GPU.
fn everything() -> Result {
    let mut program = program()?;
    program.launch((1, 3))?;
    let other = program.device.stream()?;
    let mut pinned = Pinned::from_slice(&program.device, &[1u32, 2, 3])?;
    other.write_pinned(&mut program.x, &pinned)?;
    program.stream.read_pinned(&program.x, &mut pinned)?;
    pinned.as_slice()?;
    other.copy(&program.x, &mut program.y)?;
    other.record()?.synchronize()?;
    program.launch(Grid::new(1, 32).shared_bytes(100 << 10))?;
    program.stream.download(&program.y)?;
    program.device.synchronize()
}

/// Lets each call of the driver fail in turn, by too little memory or a lost device.
#[test]
fn whichever_call_fails_the_program_gets_an_error() {
    if std::env::var_os(INSIDE).is_some() {
        if let Err(error) = everything() {
            assert!(!error.to_string().is_empty());
        }
        return;
    }
    let folder = folder("calls");
    let calls = |number: usize, fails: Option<(usize, u32)>| {
        let log = folder.join(number.to_string());
        let fails = fails.map(|(call, code)| format!("{call}:{code}"));
        let mut settings = vec![("DRIVER_CALLS", log.to_str().unwrap()), ("KERNEL_WRITES_RECORD", "1")];
        settings.extend(fails.iter().map(|fails| ("DRIVER_FAILS", fails.as_str())));
        let name = "whichever_call_fails_the_program_gets_an_error";
        run(name, &settings).unwrap_or_else(|why| panic!("{why}"));
        let calls: Vec<String> = fs::read_to_string(&log).unwrap().lines().map(String::from).collect();
        // A lost device takes nothing back.
        if !settings.iter().any(|(_, fails)| fails.ends_with(":700")) {
            assert_eq!(kept(&calls), Vec::<&str>::new(), "{fails:?}");
        }
        calls
    };
    let all = calls(0, None);
    assert!(all.len() > 60, "{all:?}");
    assert!(all.iter().all(|call| call.split(' ').nth(1) == Some("0")), "{all:?}");
    // Of those that only make the context current the first and the last are enough.
    let mut seen = BTreeMap::new();
    for (at, call) in all.iter().enumerate() {
        let name = call.split(' ').next().unwrap();
        let is_rare = !name.starts_with("cuCtxSetCurrent") && !name.starts_with("cuCtxGetCurrent");
        if is_rare || !seen.contains_key(name) {
            let is_lost = name.starts_with("cuCtx") || at % 3 == 0;
            calls(at + 1, Some((at + 1, if is_lost { 700 } else { 2 })));
        }
        seen.insert(name, at);
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Returns what was made and not given back.
fn kept(calls: &[String]) -> Vec<&str> {
    let mut open: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for call in calls {
        match call.split(' ').nth(2) {
            Some(handle) if handle.starts_with('+') => open.entry(&handle[1..]).or_default().push(call),
            Some(handle) if handle.starts_with('-') => drop(open.get_mut(&handle[1..]).and_then(Vec::pop)),
            _ => {}
        }
    }
    open.into_values().flatten().collect()
}
