//! Keeps the best tour so far in a file while a run goes on, so that a crash or a power cut does not lose it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use super::super::output::Output;
use super::super::progress::ProgressLine;
use super::Plan;
use super::args::Outputs;
use crate::engine::{Stop, Voyager};
use crate::instance::{Instance, tour_file};

/// Minimum interval between writes.
const WRITE_EVERY: Duration = Duration::from_secs(5);
/// Writing takes at most one part in this many of the time.
const SHARE: u32 = 10;
/// How often the end is checked for meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A run with a longer time limit keeps its tour even if no file is requested for it; one without a time limit once it is older.
const LONG: Duration = Duration::from_secs(60);

/// Where the best tour so far is kept.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In the requested tour file.
    Tour(Output),
    /// In a file of its own, from this time of the run on.
    Own {
        /// The file.
        path: PathBuf,
        /// When it is first written.
        from: Duration,
    },
}

/// Writes the best tour now and then, on a thread of its own; see the [module](self).
pub(super) struct Keeper<'s> {
    thread: Mutex<Option<ScopedJoinHandle<'s, bool>>>,
    over: Arc<AtomicBool>,
    place: Place,
}

impl<'s> Keeper<'s> {
    /// Starts to write the tours that are received; `None` if there is nowhere to, or no thread can be started.
    pub(super) fn begin<'e>(
        scope: &'s Scope<'s, 'e>,
        plan: &'s Plan,
        better: Receiver<Arc<Voyager>>,
        line: &'s ProgressLine,
    ) -> Option<Keeper<'s>> {
        let place = Place::of(&plan.outputs, &plan.instance, &plan.asked.stop)?;
        let over = Arc::new(AtomicBool::new(false));
        let (is_over, at) = (over.clone(), place.clone());
        let keep = move || keep(&better, &is_over, &plan.instance, &at, line);
        let thread = std::thread::Builder::new().spawn_scoped(scope, keep).ok()?;
        Some(Keeper { thread: Mutex::new(Some(thread)), over, place })
    }

    /// Stops: outputs written from now on are not replaced by an older tour. Returns the file of its own, if it was written.
    pub(super) fn end(&self) -> Option<&Path> {
        self.over.store(true, Ordering::Relaxed);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let is_written = thread.is_some_and(|thread| thread.join().unwrap_or(false));
        match &self.place {
            Place::Own { path, .. } if is_written => Some(path),
            Place::Own { .. } | Place::Tour(_) => None,
        }
    }
}

/// Ends the keeper however the run ends.
impl Drop for Keeper<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

impl Place {
    fn of(outputs: &Outputs, instance: &Instance, stop: &Stop) -> Option<Place> {
        // A pipe is written once, at the end.
        if let Some(output) = outputs.tour.as_ref().filter(|output| output.file().is_some()) {
            return Some(Place::Tour(output.clone()));
        }
        let from = match stop.time {
            None => LONG,
            Some(time) if time > LONG => Duration::ZERO,
            Some(_) => return None,
        };
        let folder = outputs.all().find_map(|output| Some(output.file()?.parent()?.to_owned()));
        let folder = folder.unwrap_or_default();
        let name: String = instance.name().chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
        let name = match name.trim_start_matches(['.', '-']) {
            "" => "tour",
            name => name,
        };
        let number = |n: u32| if n == 1 { String::new() } else { format!("-{n}") };
        // Whatever is there is not replaced.
        let mut paths = (1..).map(|n| folder.join(format!("{name:.60}-best{}.tour", number(n))));
        Some(Place::Own { path: paths.find(|path| path.symlink_metadata().is_err())?, from })
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// Writes the tours received until the end. Returns whether one was written.
fn keep(
    better: &Receiver<Arc<Voyager>>,
    over: &AtomicBool,
    instance: &Instance,
    place: &Place,
    line: &ProgressLine,
) -> bool {
    let begin = Instant::now();
    let (output, from) = match place {
        Place::Tour(output) => (output.clone(), Duration::ZERO),
        Place::Own { path, from } => (Output::from(path.clone()), *from),
    };
    let mut next = begin + from;
    let (mut waiting, mut is_written, mut is_told): (Option<Arc<Voyager>>, _, _) = (None, false, false);
    while !over.load(Ordering::Relaxed) {
        match better.recv_timeout(LOOK_EVERY) {
            Ok(voyager) => waiting = Some(voyager),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let Some(voyager) = waiting.take_if(|_| Instant::now() >= next) else { continue };
        let before = Instant::now();
        // A GPU that fails may have returned anything.
        if instance.check_tour(&voyager.tour) != Ok(voyager.cost) {
            continue;
        }
        let (tour, cost) = (&voyager.tour, instance.tour_cost(&voyager.tour));
        let written = output.write(|mut out| tour_file::write(instance, tour, cost, &mut out));
        next = Instant::now() + WRITE_EVERY.max(SHARE * before.elapsed());
        match (written, place) {
            (Ok(()), Place::Own { path, .. }) if !is_written => {
                line.tell(&format!("the best tour so far is kept in {}", path.display()));
                is_written = true;
            }
            (Ok(()), _) => is_written = true,
            // It may succeed later; if it fails at the end, that is an error.
            (Err(error), _) if !is_told => {
                line.tell(&format!("warning: the best tour so far is not kept: {error}"));
                is_told = true;
            }
            (Err(_), _) => {}
        }
    }
    is_written
}
