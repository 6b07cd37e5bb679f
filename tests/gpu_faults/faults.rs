//! Whichever call of the GPU's driver fails, a run ends with a message and the status of a failed backend, keeps the best tour
//! and gives back all that it had of the device.
//!
//! The program runs with a double of the driver (`toolchain/driver-double`) that lets one call after the other fail. With a real GPU the calls
//! that do not fail are the real ones, and only some of the many are made to fail: each of those runs takes a second.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use antwarp::backend::cuda::{Buffer, Device, kernels};
use antwarp::engine::BackendError;
use antwarp::instance::{Instance, tour_file};

use crate::harness;

tests! {
    whichever_call_fails_the_run_ends_well,
    a_launch_that_outlasts_the_run_is_left_behind,
    a_full_gpu_and_a_hidden_one_are_told,
}

/// `CUresult` with which kernels never end.
const HANGS: u32 = 600;

/// `CUresult` of too little memory, and of an access outside of memory, after which a device is lost.
const CODES: [u32; 2] = [2, 700];

/// The runs that fail: what stands behind `solve e60.tsp`.
const SOLVE: &[&str] = &[
    "--algorithm lk",
    "--algorithm ils",
    "--algorithm ils --improvement best",
    "--algorithm mmas --local-search or-2opt",
    "--algorithm mmas --candidates all --local-search none",
    "--algorithm acs --pheromone matrix --update atomic",
    "--algorithm acs --pheromone selective",
    "--algorithm ga",
    "--algorithm ga --local-search two-opt --save-population FOLDER/individuals",
];

/// And what stands behind `search`.
const SEARCH: &[&str] = &[
    "tsp FOLDER/e60.tsp",
    "qap --uniform 20 --strategy tabu",
    "qap --uniform 20 --strategy tabu --selection host --walks 1",
    "ppp --m 21 --n 25 --strategy annealing",
    "max-cut --nodes 30 --strategy hill-climbing",
];

/// Only one test at a time has a real GPU: one of them fills its memory.
static GPU: Mutex<()> = Mutex::new(());

fn gpu() -> MutexGuard<'static, ()> {
    GPU.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder with an instance and the double in the place of the driver.
struct World {
    folder: tempfile::TempDir,
    instance: Instance,
    /// Whether there is a real GPU behind the double.
    real: bool,
}

/// What a run did.
struct Run {
    status: Option<i32>,
    stderr: String,
    calls: Vec<String>,
    tour: Option<PathBuf>,
}

impl World {
    fn new() -> Option<World> {
        if let Err(why) = kernels() {
            harness::ignore(why);
            return None;
        }
        let double = std::env::current_exe().unwrap().with_file_name("libdriver_double.so");
        assert!(double.exists(), "cargo builds {} beside the tests", double.display());
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(double, folder.path().join("libcuda.so")).unwrap();
        let mut text =
            "NAME: e60\nTYPE: TSP\nDIMENSION: 60\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n".to_string();
        for i in 0..60 {
            writeln!(text, "{} {} {}", i + 1, i * 7919 % 1000, i * i * 104_729 % 997).unwrap();
        }
        let path = folder.path().join("e60.tsp");
        std::fs::write(&path, text).unwrap();
        let real = Device::open(0).is_ok();
        Some(World { instance: Instance::open(&path).unwrap(), folder, real })
    }

    /// The limit of a run: the kernels of the double never come to an end of their iterations. Those of a real GPU that others
    /// use as well do in time, but for those that hang.
    fn time(&self, hangs: bool) -> &'static str {
        match (self.real, hangs) {
            (true, false) => "30s",
            (true, true) => "3s",
            (false, _) => "300ms",
        }
    }

    /// One run, whose K-th call gives this code if `fails` says so. `number` names its files.
    fn run(&self, line: &str, number: usize, fails: Option<(usize, u32)>) -> Run {
        let place = self.folder.path().join(number.to_string());
        std::fs::create_dir(&place).unwrap();
        let (log, tour) = (place.join("calls"), place.join("tour"));
        let is_solve = line.starts_with("solve");
        let line = line.replace("FOLDER/e60.tsp", self.folder.path().join("e60.tsp").to_str().unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_antwarp"));
        command.args(line.replace("FOLDER", place.to_str().unwrap()).split(' '));
        let time = self.time(fails.is_some_and(|(_, code)| code == HANGS));
        command.args(["--backend", "cuda", "--iterations", "2", "--time", time, "--quiet"]);
        if is_solve {
            command.arg("--tour").arg(&tour);
        }
        command.env("LD_LIBRARY_PATH", self.folder.path()).env("DRIVER_CALLS", &log);
        // Every run loads its kernels by the same calls, and none keeps what the double "compiled".
        command.env("WARPSMITH_CACHE", "off");
        command.env("ANTWARP_TUNING", "none").stdout(Stdio::null()).stderr(Stdio::piped());
        if let Some((call, code)) = fails {
            command.env("DRIVER_FAILS", format!("{call}:{code}"));
        }
        let mut child = command.spawn().unwrap();
        let begin = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status.code(),
                None if begin.elapsed() > Duration::from_secs(60) => {
                    child.kill().unwrap();
                    panic!("`{line}` hangs when {fails:?} fails");
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let calls = std::fs::read_to_string(&log).unwrap_or_default().lines().map(String::from).collect();
        let run = Run { status, stderr, calls, tour: tour.exists().then_some(tour) };
        self.check(&line, fails, &run);
        std::fs::remove_dir_all(&place).unwrap();
        run
    }

    /// What holds for every run, failed or not.
    fn check(&self, line: &str, fails: Option<(usize, u32)>, run: &Run) {
        let told = format!("`{line}` with {fails:?} failing: {:?}, {}", run.status, run.stderr);
        assert!(matches!(run.status, Some(0 | 4)), "{told}");
        assert!(!run.stderr.contains("panicked") && !run.stderr.contains("\nnote: run with"), "{told}");
        assert_eq!(run.status == Some(4), run.stderr.starts_with("antwarp: "), "{told}");
        if let Some(tour) = &run.tour {
            let tour =
                tour_file::read(tour, &self.instance).unwrap_or_else(|error| panic!("{told}: {error}"));
            self.instance.check_tour(&tour).unwrap_or_else(|error| panic!("{told}: {error}"));
        }
        let is_solve = line.starts_with("solve");
        let has_tour = run.status == Some(0) || run.stderr.contains("best tour until then");
        assert_eq!(run.tour.is_some(), is_solve && has_tour, "{told}");
        // A kernel's result was read: then the run had begun, and there is a tour.
        let launched =
            run.calls.iter().position(|call| call.starts_with("cuLaunch") && call.ends_with(" 0 "));
        let is_read = |call: &String| call.starts_with("cuMemcpyDtoH") && call.ends_with(" 0 ");
        if is_solve && launched.is_some_and(|first| run.calls[first..].iter().any(is_read)) {
            assert!(run.tour.is_some(), "{told}");
        }
        // What cannot be given back without waiting for a kernel is left to the end of the process.
        if fails.is_some_and(|(_, code)| code == HANGS) {
            return;
        }
        assert_eq!(kept(&run.calls), Vec::<&str>::new(), "{told}");
    }
}

/// What was made and not given back.
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

/// The calls, from 1, that are made to fail: all but those that only make the context current, of which the first and last of
/// each name are enough; with a real GPU, whose runs take a second each, the last of each name.
fn chosen(calls: &[String], real: bool) -> BTreeSet<usize> {
    let name = |call: &String| call.split(' ').next().unwrap().to_string();
    let mut of_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, call) in calls.iter().enumerate().take(600) {
        of_name.entry(name(call)).or_default().push(i + 1);
    }
    let mut chosen = BTreeSet::new();
    for (name, places) in of_name {
        chosen.insert(places[places.len() - 1]);
        if !real {
            let step = if name.starts_with("cuCtx") { 16 } else { 1 };
            chosen.extend(places.iter().step_by(step));
        }
    }
    chosen
}

/// All command lines.
fn lines() -> Vec<String> {
    let lines = SOLVE.iter().map(|line| format!("solve FOLDER/e60.tsp {line}"));
    lines.chain(SEARCH.iter().map(|line| format!("search {line}"))).collect()
}

fn whichever_call_fails_the_run_ends_well() {
    let gpu = gpu();
    let Some(world) = World::new() else { return };
    let _gpu = world.real.then_some(gpu);
    let lines = lines();
    let mut tasks = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let run = world.run(line, number, None);
        // The double's kernels do nothing, and the program has to notice where that makes a wrong tour.
        assert!(!world.real || run.status == Some(0), "`{line}`: {}", run.stderr);
        assert!(run.calls.len() > 40, "`{line}` hardly uses the GPU: {:?}", run.calls);
        // Calls come in fours (make room, clear it, copy, wait), so every one of them meets both codes.
        let calls = chosen(&run.calls, world.real).into_iter().enumerate();
        tasks.extend(calls.map(|(i, call)| (line, call, CODES[usize::from(i % 3 > 0)])));
    }
    let next = AtomicUsize::new(0);
    let failed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            scope.spawn(|| {
                while let Some((i, &(line, call, code))) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, tasks.get(i)?)))
                {
                    let run = world.run(line, lines.len() + i, Some((call, code)));
                    failed.fetch_add(usize::from(run.status == Some(4)), Ordering::Relaxed);
                }
            });
        }
    });
    let failed = failed.into_inner();
    println!("{failed} of {} runs failed, as they should; the others did not need the call", tasks.len());
    assert!(10 * failed > 8 * tasks.len(), "only {failed} of {} runs failed", tasks.len());
}

fn a_launch_that_outlasts_the_run_is_left_behind() {
    let gpu = gpu();
    let Some(world) = World::new() else { return };
    let _gpu = world.real.then_some(gpu);
    // A run that saves its population waits for the generation under way.
    for (i, line) in lines().iter().filter(|line| !line.contains("--save-population")).enumerate() {
        let run = world.run(line, 3 * i, None);
        let launches = (1..).zip(&run.calls).filter(|(_, call)| call.starts_with("cuLaunch"));
        // The first of all prepare, and are waited for.
        let launches: Vec<usize> = launches.map(|(place, _)| place).take(30).collect();
        for (j, call) in [launches[launches.len() / 2], launches[launches.len() - 1]].into_iter().enumerate()
        {
            let run = world.run(line, 3 * i + 1 + j, Some((call, HANGS)));
            // The double's kernels do nothing, and what came of those before may be told to be wrong.
            assert!(run.status == Some(0) || !world.real, "`{line}`, launch {call}: {}", run.stderr);
        }
    }
}

fn a_full_gpu_and_a_hidden_one_are_told() {
    let _gpu = gpu();
    if Device::open(0).is_err() {
        harness::ignore("there is no GPU");
        return;
    }
    let antwarp = |visible: Option<&str>, backend: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_antwarp"));
        command.args(["solve", "E10k.0", "--iterations", "1", "--time", "1s", "--backend", backend]);
        command.env("ANTWARP_TUNING", "none");
        if let Some(devices) = visible {
            command.env("CUDA_VISIBLE_DEVICES", devices);
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, told) = antwarp(Some(""), "cuda");
    assert!(status == Some(4) && told.contains("CUDA_VISIBLE_DEVICES"), "{status:?}: {told}");
    let (status, told) = antwarp(Some(""), "auto");
    assert!(status == Some(0) && told.contains("CUDA_VISIBLE_DEVICES"), "{status:?}: {told}");

    let device = Device::open(0).unwrap();
    let mut full = Vec::new();
    let mut bytes = 1usize << 40;
    while bytes >= 1 << 20 {
        match Buffer::<u8>::zeroed(device.stream(), "all there is", bytes) {
            Ok(buffer) => full.push(buffer),
            Err(BackendError::OutOfMemory { .. }) => bytes /= 2,
            Err(other) => panic!("{other}"),
        }
    }
    let (status, told) = antwarp(None, "cuda");
    assert!(status == Some(4) && told.starts_with("antwarp: "), "{status:?}: {told}");
    drop(full);
    device.stream().synchronize().unwrap();
    drop(device);
    let (status, told) = antwarp(None, "cuda");
    assert_eq!(status, Some(0), "{told}");
}
