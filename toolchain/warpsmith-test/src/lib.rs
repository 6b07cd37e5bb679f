//! The `main` of a test program for [`warpsmith`]'s kernels. In it, a [`#[warpsmith::test]`](macro@warpsmith::test) for GPUs counts as
//! ignored, with the reason, where there is no GPU. Without it the test prints the reason and passes: libtest wants to know what is
//! ignored before a test runs.
//!
//! ```toml
//! # Cargo.toml
//! [dev-dependencies]
//! warpsmith-test = "0.1"
//!
//! [[test]]
//! name = "kernels"
//! harness = false
//! ```
//!
//! ```
//! // tests/kernels.rs
//! warpsmith_test::main!();
//!
//! #[warpsmith::test]
//! fn buffers_come_back(device: &warpsmith::Device) -> warpsmith::Result {
//!     let stream = device.stream()?;
//!     let x = stream.upload(&[1, 2, 3])?;
//!     assert_eq!(stream.download(&x)?, [1, 2, 3]);
//!     Ok(())
//! }
//! ```
//!
//! The program takes libtest's options, and `cargo nextest` lists and runs it: its report has the ignored tests as skipped.
//!
//! All tests of such a program are `#[warpsmith::test]`s. One that needs no device has no parameter. In the root of the program
//! `#[test]` is the same. In its modules write `#[warpsmith::test]`: rustc removes its own `#[test]`s from a program without libtest.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Trial};
use warpsmith::testing::{self, Ignored};

#[doc(hidden)]
pub use warpsmith;

/// Declares the `main` of a test program.
#[macro_export]
macro_rules! main {
    () => {
        #[allow(unused_imports)]
        use $crate::warpsmith::test;

        fn main() -> ::std::process::ExitCode {
            $crate::run()
        }
    };
}

/// Runs the tests that the command line asks for, with libtest's options: the `main` of [`main!`].
pub fn run() -> ExitCode {
    let arguments = Arguments::from_args();
    // Who lists tests, as nextest does, learns from the list which of them are ignored, and asks for those alone.
    let is_without_gpu = (arguments.list || arguments.ignored) && testing::lacks_gpu();
    let trials = testing::registered().into_iter().map(|test| {
        let name = test.path.split_once("::").map_or(test.path, |(_program, name)| name);
        let run = || {
            Ok(match (test.run)() {
                Ok(()) => Completion::Completed,
                Err(Ignored(why)) => Completion::ignored_with(why),
            })
        };
        let is_ignored = test.is_ignored || test.is_for_gpu && is_without_gpu;
        Trial::ignorable_test(name, run).with_ignored_flag(is_ignored)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
