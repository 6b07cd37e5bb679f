//! Keeps the best tour so far in a file while a run goes on, so that a crash or a power cut does not lose it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use super::super::output::Output;
use super::super::progress::ProgressLine;
use super::Plan;
use super::args::Outputs;
use crate::engine::{Stop, Voyager};
use crate::instance::{Instance, atomic_file, tour_file};

/// Minimum interval between writes.
const WRITE_EVERY: Duration = Duration::from_secs(5);
/// Writing takes at most one part in this many of the time.
const SHARE: u32 = 10;
/// How often the end is checked for meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A run with a longer time limit keeps its tour even if no file is requested for it; one without a time limit once it is older.
const LONG: Duration = Duration::from_secs(60);

/// Where the best tour so far is kept.
enum Place {
    /// In the requested tour file.
    Tour(Output),
    /// In a file of its own, from this time of the run on.
    Own {
        /// The first of the names it may have, without their numbers and ending.
        stem: PathBuf,
        /// When it is first written.
        from: Duration,
    },
}

/// What was kept.
#[derive(Default)]
pub(super) struct Kept {
    /// The file of its own, if it was written.
    pub path: Option<PathBuf>,
    /// The best of the received tours.
    pub best: Option<Arc<Voyager>>,
}

/// Writes the best tour now and then, on a thread of its own; see the [module](self).
pub(super) struct Keeper<'s> {
    thread: Mutex<Option<ScopedJoinHandle<'s, Kept>>>,
    over: Arc<AtomicBool>,
    kept: OnceLock<Kept>,
}

impl<'s> Keeper<'s> {
    /// Starts to write the tours that are received, if they are shorter than the `known` one; `None` if there is nowhere to write
    /// them, or no thread can be started.
    pub(super) fn begin<'e>(
        scope: &'s Scope<'s, 'e>,
        plan: &'s Plan,
        (better, known): (Receiver<Arc<Voyager>>, Option<Arc<Voyager>>),
        line: &'s ProgressLine,
    ) -> Option<Keeper<'s>> {
        let place = Place::of(&plan.outputs, &plan.instance, &plan.asked.stop)?;
        let over = Arc::new(AtomicBool::new(false));
        let is_over = over.clone();
        let keep = move || keep((&better, known), &is_over, &plan.instance, place, &|text| line.tell(text));
        let thread = std::thread::Builder::new().spawn_scoped(scope, keep).ok()?;
        Some(Keeper { thread: Mutex::new(Some(thread)), over, kept: OnceLock::new() })
    }

    /// Stops: outputs written from now on are not replaced by an older tour. Returns what was kept.
    pub(super) fn end(&self) -> &Kept {
        self.over.store(true, Ordering::Relaxed);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.kept.get_or_init(|| thread.and_then(|thread| thread.join().ok()).unwrap_or_default())
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
        let name: String = instance.name().chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
        let name = match name.trim_start_matches(['.', '-']) {
            "" => "tour",
            name => name,
        };
        Some(Place::Own { stem: folder.unwrap_or_default().join(format!("{name:.60}-best")), from })
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// Creates the first file with this stem and a number that does not exist yet: nothing that is there is replaced, not even by
/// runs that start at the same time.
fn claim(stem: &Path) -> io::Result<PathBuf> {
    let name = stem.file_name().unwrap_or_default().to_string_lossy();
    let number = |n: u32| if n == 1 { String::new() } else { format!("-{n}") };
    for n in 1.. {
        let path = stem.with_file_name(format!("{name}{}.tour", number(n)));
        match atomic_file::claim(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Writes the tours received until the end.
fn keep(
    (better, best): (&Receiver<Arc<Voyager>>, Option<Arc<Voyager>>),
    over: &AtomicBool,
    instance: &Instance,
    place: Place,
    tell: &dyn Fn(&str),
) -> Kept {
    let mut next = Instant::now() + if let Place::Own { from, .. } = &place { *from } else { Duration::ZERO };
    let (mut kept, mut waiting, mut is_told): (_, Option<Arc<Voyager>>, _) =
        (Kept { path: None, best }, None, false);
    // A GPU that fails may have returned anything.
    let is_right = |voyager: &Arc<Voyager>| instance.check_tour(&voyager.tour) == Ok(voyager.cost);
    let is_less =
        |voyager: &Arc<Voyager>, kept: &Kept| kept.best.as_ref().is_none_or(|best| voyager.cost < best.cost);
    while !over.load(Ordering::Relaxed) {
        match better.recv_timeout(LOOK_EVERY) {
            Ok(voyager) if is_less(&voyager, &kept) && is_right(&voyager) => waiting = Some(voyager),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let Some(voyager) = waiting.take_if(|_| Instant::now() >= next) else { continue };
        let before = Instant::now();
        let write = |output: &Output| {
            let (tour, cost) = (&voyager.tour, instance.tour_cost(&voyager.tour));
            output.write(|mut out| tour_file::write(instance, tour, cost, &mut out))
        };
        let written = match &place {
            Place::Tour(output) => write(output),
            Place::Own { stem, .. } => {
                let path = kept.path.clone().map_or_else(|| claim(stem), Ok);
                let path = path.map_err(|cause| Output::from(stem.clone()).error(cause));
                path.and_then(|path| {
                    let is_new = kept.path.replace(path.clone()).is_none();
                    let written = write(&Output::from(path.clone()));
                    if is_new && written.is_ok() {
                        tell(&format!("the best tour so far is kept in {}", path.display()));
                    }
                    written
                })
            }
        };
        kept.best = Some(voyager.clone());
        next = Instant::now() + WRITE_EVERY.max(SHARE * before.elapsed());
        // It may succeed later; if it fails at the end, that is an error.
        if let Err(error) = written
            && !std::mem::replace(&mut is_told, true)
        {
            tell(&format!("warning: the best tour so far is not kept: {error}"));
        }
    }
    let last = better.try_iter().filter(|last| is_less(last, &kept) && is_right(last)).last().or(waiting);
    if last.is_some() {
        kept.best = last;
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use antwarp_core::metric::Metric;

    use super::*;

    /// Returns the cost of what is kept of these tours, which are received before anything is written.
    fn kept(costs_and_tours: &[(i64, &[u32])]) -> Option<i64> {
        let square = vec![[0.0, 0.0, 0.0], [0.0, 3.0, 0.0], [4.0, 3.0, 0.0], [4.0, 0.0, 0.0]];
        let instance = Instance::from_points("square", Metric::Euc2d, square).unwrap();
        let (sender, better) = channel();
        for &(cost, tour) in costs_and_tours {
            sender.send(Arc::new(Voyager { from: 0, cost, tour: tour.to_vec() })).unwrap();
        }
        drop(sender);
        let place = Place::Own { stem: PathBuf::new(), from: LONG };
        let kept = keep((&better, None), &AtomicBool::new(false), &instance, place, &|_| ());
        kept.best.map(|best| best.cost)
    }

    #[test]
    fn an_invalid_tour_replaces_no_valid_one_that_waits() {
        let (shortest, longer) = ((14, &[0, 1, 2, 3][..]), (16, &[0, 2, 3, 1][..]));
        assert_eq!(kept(&[longer, shortest]), Some(14));
        for wrong in [(13, &[0, 1, 2, 3][..]), (10, &[0, 1, 1, 3])] {
            assert_eq!(kept(&[longer, wrong]), Some(16));
            assert_eq!(kept(&[shortest, wrong, wrong]), Some(14));
            assert_eq!(kept(&[wrong]), None);
        }
    }
}
