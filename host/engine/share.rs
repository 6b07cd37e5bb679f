//! The share of the processors that this process gets.

use std::fs::{read_dir, read_to_string};

/// Minimum running time for a reliable share, in nanoseconds: with less, a single wait would count too much.
const LEAST: u64 = 10_000_000;

/// How long the threads of this process have run, and have waited for a processor while they could have run, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turns {
    ran: u64,
    waited: u64,
}

impl Turns {
    /// Returns those of all current threads so far. Zero where the system does not tell (all but Linux).
    pub fn so_far() -> Turns {
        let tasks = read_dir("/proc/self/task").into_iter().flatten().flatten();
        let turns =
            tasks.filter_map(|task| Turns::parse(&read_to_string(task.path().join("schedstat")).ok()?));
        turns.fold(Turns::default(), |all, one| Turns {
            ran: all.ran + one.ran,
            waited: all.waited + one.waited,
        })
    }

    /// Parses a line of `schedstat`.
    fn parse(line: &str) -> Option<Turns> {
        let mut numbers = line.split_whitespace().map(str::parse);
        Some(Turns { ran: numbers.next()?.ok()?, waited: numbers.next()?.ok()? })
    }

    /// Returns the share of the time since `before` in which a thread that could run did run: 1 if no thread had to wait, a half beside
    /// one other process on each processor. `None` if they ran too little to tell.
    pub fn share_since(self, before: Turns) -> Option<f64> {
        let (ran, waited) = (self.ran.saturating_sub(before.ran), self.waited.saturating_sub(before.waited));
        (ran >= LEAST).then(|| ran as f64 / (ran + waited) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_the_time_run_of_the_time_ready() {
        let turns = |line| Turns::parse(line).unwrap();
        let before = turns("1000 2000 3\n");
        assert_eq!(turns("30001000 10002000 9").share_since(before), Some(0.75));
        assert_eq!(turns("30001000 2000 9").share_since(before), Some(1.0));
        assert_eq!(turns("5001000 90002000 9").share_since(before), None);
        assert!(Turns::parse("").is_none() && Turns::parse("1 x").is_none());
    }
}
