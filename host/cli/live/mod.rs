//! `--live`: a view of a run that fills the terminal.
//!
//! The run stores what it reports. A thread of its own makes lines of that (`view.rs`, `chart.rs`), draws them five times a second and
//! waits for keys meanwhile. `terminal.rs` takes the terminal and gives it back.

mod chart;
mod line;
#[cfg_attr(not(unix), path = "no_terminal.rs")]
mod terminal;
mod view;

use std::io::{PipeWriter, pipe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::output;
use crate::engine::{Machine, Progress, Stop};
use crate::instance::{BestKnown, Instance};
use crate::memory;
use terminal::{Event, Terminal};
use view::{Reported, Size};

pub use terminal::leave;

/// How often the view is drawn.
const EVERY: Duration = Duration::from_millis(200);

/// What the view is about.
pub struct Subject {
    /// The instance.
    pub instance: Arc<Instance>,
    /// The limits of the run.
    pub stop: Stop,
    /// Where the search computes.
    pub machine: Machine,
    /// What the run counts: tours or kicks.
    pub made: &'static str,
    /// The published length, if the instance has one.
    pub known: Option<BestKnown>,
}

/// What goes on beside the search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    /// Number of CPU threads of the search.
    pub searching: usize,
    /// Number of threads that compute a lower bound now; `None` if none do.
    pub bounding: Option<usize>,
    /// The best lower bound so far, as an internal cost.
    pub bound: Option<i64>,
}

/// A view; see the [module](self).
pub struct Live {
    shared: Arc<Shared>,
    /// Wakes the thread and ends it when it is dropped.
    wake: Mutex<Option<PipeWriter>>,
}

/// What the run and the thread that draws share.
struct Shared {
    subject: Subject,
    reported: Mutex<Reported>,
    /// The last report's time: seconds since the start, and when that was.
    clock: Mutex<(f64, Instant)>,
}

impl Live {
    /// Shows the view; `None` if the standard error is no terminal that can be drawn on, or no thread can be started.
    pub fn begin(subject: Subject) -> Option<Live> {
        memory::check_threads(1).ok()?;
        let (woken, wake) = pipe().ok()?;
        let terminal = Terminal::open()?;
        let clock = Mutex::new((subject.stop.before.as_secs_f64(), Instant::now()));
        let shared = Arc::new(Shared { subject, reported: Mutex::default(), clock });
        let own = shared.clone();
        let draw = move || {
            loop {
                if terminal.is_shown() {
                    terminal.draw(own.frame(&terminal));
                }
                if terminal.wait(&woken, EVERY) == Event::Over {
                    return terminal.finish();
                }
            }
        };
        if std::thread::Builder::new().name("view".into()).spawn(draw).is_err() {
            leave();
            return None;
        }
        Some(Live { shared, wake: Mutex::new(Some(wake)) })
    }

    /// Shows the progress of the run, this many seconds after the start.
    pub fn show(&self, seconds: f64, progress: &Progress, beside: Beside) {
        *taken(&self.shared.clock) = (seconds, Instant::now());
        taken(&self.shared.reported).add(seconds, progress, beside);
    }

    /// Shows the last progress of each of several runs that work at the same time; `None` for one that has not reported.
    pub fn show_each(&self, runs: &[Option<Progress>]) {
        taken(&self.shared.reported).set_each(runs);
    }

    /// Ends the view, if it has not ended yet, as [`leave`] does.
    pub fn finish(&self) {
        if taken(&self.wake).take().is_some() {
            leave();
        }
    }
}

/// Ends the view however the run ends.
impl Drop for Live {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Shared {
    fn frame(&self, terminal: &Terminal) -> String {
        let Size { width, height } = terminal.size();
        let (seconds, since) = *taken(&self.clock);
        let (seconds, message) = (seconds + since.elapsed().as_secs_f64(), output::last_held());
        let (size, is_unicode) = (Size { width, height }, terminal.is_unicode);
        let lines = {
            let reported = taken(&self.reported);
            view::lines(&self.subject, &reported, (seconds, message.as_deref()), (size, is_unicode))
        };
        let mut frame = String::new();
        for (number, line) in lines.iter().enumerate() {
            // Each at its own place: a line break in the last line would scroll.
            frame.push_str(&format!("\x1b[{};1H\x1b[2K", number + 1));
            line.draw(&mut frame, width, terminal.has_colors);
        }
        if lines.len() < height {
            frame.push_str(&format!("\x1b[{};1H\x1b[J", lines.len() + 1));
        }
        frame
    }
}

fn taken<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
