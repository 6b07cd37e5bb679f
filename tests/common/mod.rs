//! What several suites need.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs the program, asks it to stop after some time, and expects the status of that: what it said, and how long it took to end.
/// It is asked by SIGTERM, as what runs in the background of a shell ignores SIGINT.
pub fn interrupted(args: &[&str], after: Duration) -> (Output, Duration) {
    let run = Command::new(env!("CARGO_BIN_EXE_antwarp"))
        .args(args)
        .env("ANTWARP_TUNING", "none")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A busy machine may take long until the program is there.
    let begin = Instant::now();
    while !is_watching(run.id()) && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(after);
    let begin = Instant::now();
    assert!(Command::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap().success());
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    (output, begin.elapsed())
}

/// Whether a process catches SIGTERM; always yes where the system does not tell.
pub fn is_watching(process: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else { return true };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).is_some_and(|set| set & 1 << 14 != 0)
}
