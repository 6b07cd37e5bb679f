//! What the server counts, in Prometheus' text format.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper ends of the histogram's buckets, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0];

/// Counts since the start.
#[derive(Default)]
pub struct Metrics {
    /// Requests that are read, wait or run: those that the queue has admitted.
    pub admitted: AtomicUsize,
    /// Searches that run.
    pub running: AtomicUsize,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    /// Answers, by path and status.
    answers: BTreeMap<(&'static str, u16), u64>,
    /// Requests whose clients left before the answer.
    abandoned: u64,
    /// Searches in each bucket.
    buckets: [u64; BUCKETS.len()],
    searches: u64,
    seconds: f64,
}

impl Metrics {
    /// Counts an answer with this HTTP status. `path` is one of the server's own paths, so that clients cannot add any.
    pub fn answered(&self, path: &'static str, status: u16) {
        self.change(|counts| *counts.answers.entry((path, status)).or_default() += 1);
    }

    /// Counts a request whose client left.
    pub fn abandoned(&self) {
        self.change(|counts| counts.abandoned += 1);
    }

    /// Counts a search that took this long.
    pub fn searched(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        self.change(|counts| {
            counts.searches += 1;
            counts.seconds += seconds;
            if let Some(at) = BUCKETS.iter().position(|&end| seconds <= end) {
                counts.buckets[at] += 1;
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns all counts in Prometheus' text format.
    pub fn text(&self) -> String {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let running = self.running.load(Ordering::Relaxed);
        let waiting = self.admitted.load(Ordering::Relaxed).saturating_sub(running);
        let mut text = String::new();
        let mut head = |name: &str, kind: &str, help: &str, lines: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{}", lines.trim_end());
        };
        let answers: String = counts
            .answers
            .iter()
            .map(|((path, status), count)| {
                format!("antwarp_requests_total{{path=\"{path}\",status=\"{status}\"}} {count}\n")
            })
            .collect();
        head("antwarp_requests_total", "counter", "Requests that were answered.", &answers);
        let line = format!("antwarp_abandoned_total {}", counts.abandoned);
        head("antwarp_abandoned_total", "counter", "Requests whose clients left before the answer.", &line);
        let line = format!("antwarp_searches_running {running}");
        head("antwarp_searches_running", "gauge", "Searches that run now.", &line);
        let line = format!("antwarp_requests_waiting {waiting}");
        head("antwarp_requests_waiting", "gauge", "Requests that are being read or wait for threads.", &line);
        let (mut below, mut lines) = (0, String::new());
        for (end, count) in BUCKETS.iter().zip(counts.buckets) {
            below += count;
            let _ = writeln!(lines, "antwarp_search_seconds_bucket{{le=\"{end}\"}} {below}");
        }
        let (searches, seconds) = (counts.searches, counts.seconds);
        let _ = writeln!(lines, "antwarp_search_seconds_bucket{{le=\"+Inf\"}} {searches}");
        let _ =
            writeln!(lines, "antwarp_search_seconds_sum {seconds}\nantwarp_search_seconds_count {searches}");
        head("antwarp_search_seconds", "histogram", "Seconds of searches, reading included.", &lines);
        text
    }
}
