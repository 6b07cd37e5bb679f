//! The harness of test programs: names, filters and output as libtest's, and one thing more: a test that finds out
//! that it cannot do its work, as without a GPU, counts as ignored.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use libtest_mimic::{Arguments, Completion, Trial};

/// A test's full name and the test.
pub type Test = (&'static str, fn());

/// Registers the tests of a module as its `TESTS`. A function left out is dead code, which this program does not allow. A test of one
/// system has its `cfg` here, too.
macro_rules! tests {
    ($($(#[$system:meta])? $name:ident),* $(,)?) => {
        /// The tests of this module.
        pub const TESTS: &[$crate::harness::Test] =
            &[$($(#[$system])? (concat!(module_path!(), "::", stringify!($name)), $name)),*];

        const _: () = assert!(
            !$crate::harness::contains(
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", file!())),
                "#[test]",
            ),
            "libtest's attribute would remove the function: name it in `tests!` instead",
        );
    };
}

/// Whether `part` is somewhere in `text`.
pub const fn contains(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let mut start = 0;
    while start + part.len() <= text.len() {
        let mut same = 0;
        while same < part.len() && text[start + same] == part[same] {
            same += 1;
        }
        if same == part.len() {
            return true;
        }
        start += 1;
    }
    false
}

thread_local! {
    /// Whether the test on this thread is to count as ignored.
    static IGNORED: Cell<bool> = const { Cell::new(false) };
}

/// Why tests are ignored, and how many.
static REASONS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// Lets the test that calls this count as ignored, unless it fails.
pub fn ignore(why: impl Display) {
    if !IGNORED.replace(true) {
        *REASONS.lock().unwrap_or_else(PoisonError::into_inner).entry(why.to_string()).or_default() += 1;
    }
}

/// Runs the tests that the command line asks for, `per_core` at a time for each core unless the command line says how many. Two save
/// time where tests mostly wait, for a program with a time limit for example.
pub fn run(modules: &[&[Test]], per_core: usize) -> ExitCode {
    let mut arguments = Arguments::from_args();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    arguments.test_threads.get_or_insert(per_core * cores);
    let trials = modules.concat().into_iter().map(|(path, test)| {
        let name = path.split_once("::").map_or(path, |(_program, name)| name);
        Trial::ignorable_test(name, move || {
            IGNORED.set(false);
            test();
            Ok(if IGNORED.get() { Completion::ignored() } else { Completion::Completed })
        })
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    for (why, count) in REASONS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("{count} ignored: {why}\n");
    }
    conclusion.exit_code()
}
