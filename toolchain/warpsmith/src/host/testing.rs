//! What `#[warpsmith::test]` expands to.

#![doc(hidden)]

use std::env;
use std::eprintln;
use std::format;
use std::string::{String, ToString};

use super::{Device, Error, gpu};

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

/// Runs a test that needs no device.
pub fn host<R: Outcome>(_name: &str, test: impl Fn() -> R) {
    if let Some(Failure::NoKernels(why) | Failure::Other(why)) = test().failure() {
        panic!("{why}");
    }
}

/// Runs a test on the CPU, in order.
pub fn cpu<R: Outcome>(_name: &str, test: impl Fn(&Device) -> R) {
    check(&Device::cpu(), &test);
}

/// Runs a test on the CPU, with threads and blocks in other orders. `WARPSMITH_SEED` names a single one.
pub fn cpu_shuffled<R: Outcome>(_name: &str, test: impl Fn(&Device) -> R) {
    let seeds = match env::var("WARPSMITH_SEED").map(|seed| seed.parse()) {
        Ok(Ok(seed)) => seed..seed + 1,
        Ok(Err(error)) => panic!("WARPSMITH_SEED is not a number: {error}"),
        Err(_) => SEEDS,
    };
    for seed in seeds {
        let device = Device::cpu_shuffled(seed);
        // A failed assertion in the test does not say which order it was.
        let ran = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| check(&device, &test)));
        if let Err(payload) = ran {
            eprintln!("failed with threads in the order of seed {seed}; WARPSMITH_SEED={seed} runs it alone");
            std::panic::resume_unwind(payload);
        }
    }
}

/// Runs a test on every GPU. Without one it says that the test is ignored, and why; with `WARPSMITH_REQUIRE_GPU=1` it fails.
pub fn gpu<R: Outcome>(name: &str, test: impl Fn(&Device) -> R) {
    if let Err(Ignored(why)) = on_gpus(test) {
        // Past the harness, which keeps what a passed test prints to itself.
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            format!("{name} ignored on GPUs: {why}\n").as_bytes(),
        );
    }
}

/// Runs a test on every GPU, if there is one.
pub fn on_gpus<R: Outcome>(test: impl Fn(&Device) -> R) -> Ran {
    for ordinal in 0..gpus()? {
        let device = Device::gpu(ordinal).unwrap_or_else(|error| panic!("{error}"));
        match test(&device).failure() {
            None => {}
            Some(Failure::NoKernels(why)) => return ignored(why),
            Some(Failure::Other(why)) => panic!("on GPU {ordinal}, {}: {why}", device.properties().name),
        }
    }
    Ok(())
}

/// Returns the number of GPUs, at least one.
pub(super) fn gpus() -> core::result::Result<usize, Ignored> {
    gpu::count().or_else(|why| ignored(why.to_string()))
}

fn ignored<T>(why: String) -> core::result::Result<T, Ignored> {
    let is_required = env::var_os("WARPSMITH_REQUIRE_GPU").is_some_and(|value| value == "1");
    assert!(!is_required, "WARPSMITH_REQUIRE_GPU=1, and {why}");
    Err(Ignored(why))
}
