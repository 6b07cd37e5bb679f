//! A test program with this `main!`: what it lists, runs and counts, seen by a test that starts the program once more.

use std::process::Command;

use warpsmith::Result;
use warpsmith::prelude::*;

warpsmith_test::main!();
warpsmith::module!(cpu);

#[kernel]
fn double(y: &mut Slots<u32>) {
    let i = thread::index();
    y.set(i, 2 * i.get() as u32);
}

fn doubled(device: &Device) -> Result<Vec<u32>> {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let mut y = stream.zeroed(3)?;
    kernels.double(&stream, (1, 3), (&mut y,))?;
    stream.download(&y)
}

#[warpsmith::test]
fn kernels_run(device: &Device) -> Result {
    assert_eq!(doubled(device)?, [0, 2, 4]);
    Ok(())
}

#[warpsmith::test]
#[should_panic(expected = "left == right")]
fn wrong_results_panic(device: &Device) -> Result {
    assert_eq!(doubled(device)?, [1, 1, 1]);
    Ok(())
}

#[warpsmith::test]
#[ignore]
fn slow(device: &Device) -> Result {
    doubled(device).map(|_| ())
}

/// Runs this program without a GPU.
fn program(words: &[&str]) -> (String, bool) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(words).env("CUDA_VISIBLE_DEVICES", "").env_remove("WARPSMITH_REQUIRE_GPU");
    let output = command.output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

mod program {
    use super::program;

    #[warpsmith::test]
    fn what_needs_a_gpu_is_ignored_with_the_reason() {
        let (said, is_well) = program(&["kernels_run"]);
        assert!(is_well && said.contains("test result: ok. 2 passed; 0 failed; 1 ignored"), "{said}");
        let line = said.lines().find(|line| line.contains("kernels_run::gpu")).unwrap();
        assert!(line.contains("ignored ("), "{line}");
    }

    #[warpsmith::test]
    fn lists_say_what_is_ignored() {
        let list = |words: &[&str]| {
            let (said, _) = program(&[&["--list", "--format", "terse"], words].concat());
            said.lines().map(|line| line.trim_end_matches(": test").to_string()).collect::<Vec<_>>()
        };
        let all = list(&[]);
        for name in ["kernels_run::cpu", "kernels_run::cpu_shuffled", "kernels_run::gpu", "slow::gpu"] {
            assert!(all.iter().any(|other| other == name), "{all:?}");
        }
        let ignored = list(&["--ignored"]);
        let expected =
            ["kernels_run::gpu", "slow::cpu", "slow::cpu_shuffled", "slow::gpu", "wrong_results_panic::gpu"];
        assert_eq!(ignored, expected);
    }

    #[warpsmith::test]
    fn a_required_gpu_is_missed() {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "kernels_run::gpu"]).env("CUDA_VISIBLE_DEVICES", "");
        let output = command.env("WARPSMITH_REQUIRE_GPU", "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && said.contains("WARPSMITH_REQUIRE_GPU=1, and"), "{said}");
    }
}
