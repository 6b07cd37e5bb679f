//! The `main` of a test program that counts tests without a GPU as ignored. libtest must know that before a test runs.

#![doc(hidden)]

use std::format;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::string::String;
use std::vec::Vec;

pub use inventory;
use libtest_mimic::{Arguments, Completion, Failed, Trial};

use super::testing::{self, Ignored, Ran};

/// A test that `#[warpsmith::test]` has made.
pub struct Registered {
    /// Its path, from the name of the test program on.
    pub path: &'static str,
    /// Whether it needs a GPU.
    pub is_for_gpu: bool,
    /// Whether it runs only when asked for.
    pub is_ignored: bool,
    /// What it must panic with, if it must.
    pub panics: Option<&'static str>,
    /// The test.
    pub run: fn() -> Ran,
}

inventory::collect!(Registered);

/// Runs the tests that the command line asks for. Its options are libtest's.
pub fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut tests: Vec<&Registered> = inventory::iter::<Registered>.into_iter().collect();
    tests.sort_by_key(|test| test.path);
    // Who lists tests, as nextest does, learns from the list which of them are ignored, and asks for those alone.
    let is_without_gpu = (arguments.list || arguments.ignored) && testing::gpus().is_err();
    let trials = tests.into_iter().map(|test| {
        let name = test.path.split_once("::").map_or(test.path, |(_program, name)| name);
        Trial::ignorable_test(name, || run(test))
            .with_ignored_flag(test.is_ignored || test.is_for_gpu && is_without_gpu)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn run(test: &Registered) -> Result<Completion, Failed> {
    let Some(expected) = test.panics else { return Ok(completion((test.run)())) };
    let payload = match catch_unwind(AssertUnwindSafe(test.run)) {
        Ok(Ok(())) => return Err("it did not panic as expected".into()),
        Ok(ignored) => return Ok(completion(ignored)),
        Err(payload) => payload,
    };
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or_default();
    match text.contains(expected) {
        true => Ok(Completion::Completed),
        false => Err(format!("it panicked with \"{text}\", which does not contain \"{expected}\"").into()),
    }
}

fn completion(ran: Ran) -> Completion {
    match ran {
        Ok(()) => Completion::Completed,
        Err(Ignored(why)) => Completion::ignored_with(why),
    }
}
