//! What `#[warpsmith::test]` expands to.

#![doc(hidden)]

use std::env;
use std::eprintln;
use std::format;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::string::{String, ToString};
use std::vec::Vec;

#[doc(hidden)]
pub use inventory;

use super::{Device, Error, gpu};

/// A test that `#[warpsmith::test]` has made.
pub struct Registered {
    /// Its path, from the name of the test program on.
    pub path: &'static str,
    /// Whether it needs a GPU.
    pub is_for_gpu: bool,
    /// Whether it runs only when asked for.
    pub is_ignored: bool,
    /// The test.
    pub run: fn() -> Ran,
}

inventory::collect!(Registered);

/// Returns all tests of the program, by their paths.
pub fn registered() -> Vec<&'static Registered> {
    let mut tests: Vec<_> = inventory::iter::<Registered>.into_iter().collect();
    tests.sort_by_key(|test| test.path);
    tests
}

/// What a test returns.
pub trait Outcome {
    /// Returns the error, if there is one.
    fn failure(self) -> Option<Failure>;
}

/// Why a test failed.
pub enum Failure {
    /// The program has no kernels for a GPU.
    NoKernels(String),
    /// Anything else.
    Other(String),
}

impl Outcome for () {
    fn failure(self) -> Option<Failure> {
        None
    }
}

impl<E: core::fmt::Display + 'static> Outcome for core::result::Result<(), E> {
    fn failure(self) -> Option<Failure> {
        let error = self.err()?;
        let any: &dyn core::any::Any = &error;
        Some(match any.downcast_ref::<Error>() {
            Some(Error::NoKernels(_)) => Failure::NoKernels(error.to_string()),
            _ => Failure::Other(error.to_string()),
        })
    }
}

/// Why a test did not run.
pub struct Ignored(pub String);

/// What became of a test that has not panicked.
pub type Ran = core::result::Result<(), Ignored>;

/// The seeds of the shuffled runs.
const SEEDS: core::ops::Range<u64> = 1..5;

fn check<R: Outcome>(device: &Device, test: &impl Fn(&Device) -> R) {
    match test(device).failure() {
        None => {}
        Some(Failure::NoKernels(why) | Failure::Other(why)) => {
            panic!("on {}: {why}", device.properties().name)
        }
    }
}

/// Runs a test. If it must panic, `panics` says with what text in the message.
fn run(panics: Option<&str>, test: impl FnOnce() -> Ran) -> Ran {
    let Some(expected) = panics else { return test() };
    let payload = match catch_unwind(AssertUnwindSafe(test)) {
        Ok(Ok(())) => panic!("the test did not panic as expected"),
        Ok(ignored) => return ignored,
        Err(payload) => payload,
    };
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or_default();
    assert!(
        text.contains(expected),
        "the test panicked with \"{text}\", which does not contain \"{expected}\""
    );
    Ok(())
}

/// Runs a test that needs no device.
pub fn host<R: Outcome>(test: impl Fn() -> R, panics: Option<&str>) -> Ran {
    run(panics, || {
        if let Some(Failure::NoKernels(why) | Failure::Other(why)) = test().failure() {
            panic!("{why}");
        }
        Ok(())
    })
}

/// Runs a test on the CPU, in order.
pub fn cpu<R: Outcome>(test: impl Fn(&Device) -> R, panics: Option<&str>) -> Ran {
    run(panics, || {
        check(&Device::cpu(), &test);
        Ok(())
    })
}

/// Runs a test on the CPU, with threads and blocks in other orders. `WARPSMITH_SEED` names a single one.
pub fn cpu_shuffled<R: Outcome>(test: impl Fn(&Device) -> R, panics: Option<&str>) -> Ran {
    let seeds = match env::var("WARPSMITH_SEED").map(|seed| seed.parse()) {
        Ok(Ok(seed)) => seed..seed + 1,
        Ok(Err(error)) => panic!("WARPSMITH_SEED is not a number: {error}"),
        Err(_) => SEEDS,
    };
    for seed in seeds {
        let device = Device::cpu_shuffled(seed);
        let test = || {
            check(&device, &test);
            Ok(())
        };
        // A failed assertion in the test does not say which order it was.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| run(panics, test))) {
            eprintln!("failed with threads in the order of seed {seed}; WARPSMITH_SEED={seed} runs it alone");
            resume_unwind(payload);
        }
    }
    Ok(())
}

/// Runs a test on every GPU. Without one it is ignored; with `WARPSMITH_REQUIRE_GPU=1` it fails.
pub fn gpu<R: Outcome>(test: impl Fn(&Device) -> R, panics: Option<&str>) -> Ran {
    for ordinal in 0..gpus()? {
        let device = Device::gpu(ordinal).unwrap_or_else(|error| panic!("{error}"));
        run(panics, || match test(&device).failure() {
            None => Ok(()),
            Some(Failure::NoKernels(why)) => ignored(why),
            Some(Failure::Other(why)) => panic!("on GPU {ordinal}, {}: {why}", device.properties().name),
        })?;
    }
    Ok(())
}

/// Says why a test was ignored, where the harness cannot: under libtest it passes.
pub fn report(name: &str, ran: Ran) {
    if let Err(Ignored(why)) = ran {
        // Past the harness, which keeps what a passed test prints to itself.
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            format!("{name} ignored on GPUs: {why}\n").as_bytes(),
        );
    }
}

/// Returns the number of GPUs, at least one.
fn gpus() -> core::result::Result<usize, Ignored> {
    gpu::count().or_else(|why| ignored(why.to_string()))
}

/// Returns whether there is no GPU, and none is required.
pub fn lacks_gpu() -> bool {
    !is_required() && gpu::count().is_err()
}

fn is_required() -> bool {
    env::var_os("WARPSMITH_REQUIRE_GPU").is_some_and(|value| value == "1")
}

fn ignored<T>(why: String) -> core::result::Result<T, Ignored> {
    assert!(!is_required(), "WARPSMITH_REQUIRE_GPU=1, and {why}");
    Err(Ignored(why))
}
