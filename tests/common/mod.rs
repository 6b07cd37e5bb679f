//! What several suites need.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs the program, asks it to stop after some time, and expects the status of that: what it said, and how long it took to end.
/// It is asked by SIGTERM, as what runs in the background of a shell ignores SIGINT.
pub fn interrupted(args: &[&str], after: Duration) -> (Output, Duration) {
    interrupted_when(args, |_| std::thread::sleep(after))
}

/// The same after the run has used so much processor time, however busy the machine is.
pub fn interrupted_at_work(args: &[&str], work: Duration) -> (Output, Duration) {
    interrupted_when(args, |run| {
        if processor_time(run.id()).is_none() {
            return std::thread::sleep(work);
        }
        while run.try_wait().unwrap().is_none() && processor_time(run.id()) < Some(work) {
            std::thread::sleep(Duration::from_millis(5));
        }
    })
}

/// The processor time that a process has used, where the system tells.
fn processor_time(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name in brackets, the 12th and 13th field are hundredths of seconds in user and system mode.
    let fields = stat.rsplit_once(')')?.1.split_whitespace();
    let hundredths = fields.skip(11).take(2).map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some(Duration::from_millis(10 * hundredths))
}

/// Runs the program and asks it to stop when `wait` returns.
fn interrupted_when(args: &[&str], wait: impl FnOnce(&mut Child)) -> (Output, Duration) {
    let mut run = Command::new(env!("CARGO_BIN_EXE_antwarp"))
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
    wait(&mut run);
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
