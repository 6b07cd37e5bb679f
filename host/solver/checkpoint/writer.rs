//! Writes the checkpoints of a run, or of several that work at the same time, on a thread of its own.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::file::{self, Part, Subject};
use crate::engine::{BackendError, Cost, Observe, Progress, Snapshot, State};
use crate::solver::resumed;

/// Fetching the state of all runs takes at most one part in this many of the time.
const SHARE: u32 = 10;

/// Where and how often a run writes checkpoints.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The file, which is replaced every time.
    pub path: PathBuf,
    /// The time between two of them. Longer if fetching the run's state takes more than a tenth of it.
    pub every: Duration,
}

/// Writes checkpoints. When one is due, each run is asked for its state at the end of its batch; the file is written once all of
/// them have answered or ended, so all states are of about the same time.
pub struct Checkpoints {
    shared: Arc<Shared>,
    /// The recorder where there is only one run.
    own: Recorder,
    sender: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

/// What the runs and the thread share.
struct Shared {
    every: Duration,
    rounds: Mutex<Rounds>,
    warn: Box<dyn Fn(&str) + Send + Sync>,
    /// Time before the runs' own clocks started, such as that for reading.
    before: Duration,
}

/// Which checkpoint is next.
struct Rounds {
    /// How many have been requested.
    number: u64,
    /// Whether the last one is being gathered or written.
    is_busy: bool,
    /// When it was requested, and how long it took the slowest run to fetch its state.
    last: Instant,
    took: Duration,
}

/// A message to the thread that writes.
enum Message {
    /// Several runs continue from this file.
    Resumed(PathBuf),
    /// There will be this many runs instead of one.
    Runs(usize),
    /// The state of a run, and whether it is its last one.
    Part(usize, Box<Part>, bool),
    /// A run is over, or its state cannot be fetched this time.
    Nothing(usize, bool),
    /// Everything that has been sent should be written.
    Close,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Rounds> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many checkpoints have been requested, after requesting another one if it is due.
    fn number(&self) -> u64 {
        let mut rounds = self.lock();
        if !rounds.is_busy && rounds.last.elapsed() >= self.every.max(SHARE * rounds.took) {
            rounds.number += 1;
            (rounds.is_busy, rounds.last, rounds.took) = (true, Instant::now(), Duration::ZERO);
        }
        rounds.number
    }
}

impl Checkpoints {
    /// Starts to write checkpoints of a run that began this long `before`; `warn` is called if one cannot be written,
    /// and again only after one could be written. `None` if no thread can be started.
    pub fn begin(
        schedule: Schedule,
        (subject, limits): (Subject, Value),
        before: Duration,
        warn: impl Fn(&str) + Send + Sync + 'static,
    ) -> Option<Checkpoints> {
        let Schedule { path, every } = schedule;
        let (sender, receiver) = channel();
        let rounds = Rounds { number: 0, is_busy: false, last: Instant::now(), took: Duration::ZERO };
        let shared = Arc::new(Shared { every, rounds: Mutex::new(rounds), warn: Box::new(warn), before });
        let scribe = Scribe {
            path,
            subject,
            limits,
            shared: shared.clone(),
            runs: vec![Desk::default()],
            resumed: None,
            has_warned: false,
        };
        let thread = std::thread::Builder::new().spawn(move || scribe.work(&receiver)).ok()?;
        let own = Recorder::new(0, &shared, &sender);
        Some(Checkpoints { shared, own, sender, thread: Some(thread) })
    }

    /// Says from which file the run continues, before it starts. Several runs are written as they are in that file until they have
    /// answered.
    pub fn continue_from(&self, file: &Path) {
        // The thread ends only after this.
        _ = self.sender.send(Message::Resumed(file.to_owned()));
    }

    /// Returns the recorder of a single run.
    pub fn own(&mut self) -> &mut Recorder {
        &mut self.own
    }

    /// Returns a recorder for each of several runs, instead of that of a single one.
    pub fn for_each_run(&mut self, runs: u32) -> Vec<Recorder> {
        // The thread ends only after this.
        _ = self.sender.send(Message::Runs(runs as usize));
        self.own.is_over = true;
        (0..runs as usize).map(|run| Recorder::new(run, &self.shared, &self.sender)).collect()
    }

    /// See [`Observe::for_each_run`].
    pub fn observers<C, B>(&mut self, runs: u32) -> Vec<Box<dyn Observe<C, B> + Send>>
    where
        Recorder: Observe<C, B>,
    {
        let recorders = self.for_each_run(runs).into_iter();
        recorders.map(|recorder| Box::new(recorder) as Box<dyn Observe<C, B> + Send>).collect()
    }
}

/// Waits until the last one is written.
impl Drop for Checkpoints {
    fn drop(&mut self) {
        _ = self.sender.send(Message::Close);
        // It does not panic.
        self.thread.take().into_iter().for_each(|thread| _ = thread.join());
    }
}

/// Takes the checkpoints of one run.
pub struct Recorder {
    run: usize,
    shared: Arc<Shared>,
    sender: Sender<Message>,
    /// The number of the last checkpoint that has its state.
    answered: u64,
    requested: Instant,
    is_last: bool,
    /// Whether it has sent its last state.
    is_over: bool,
    /// Whether the last attempt to take a state failed, which has been said.
    has_warned: bool,
}

impl Recorder {
    fn new(run: usize, shared: &Arc<Shared>, sender: &Sender<Message>) -> Recorder {
        Recorder {
            run,
            shared: shared.clone(),
            sender: sender.clone(),
            answered: 0,
            requested: Instant::now(),
            is_last: false,
            is_over: false,
            has_warned: false,
        }
    }

    /// Returns how many checkpoints have been requested so far.
    pub fn requested(&self) -> u64 {
        self.shared.number()
    }

    /// See [`Observe::wants_checkpoint`].
    pub fn is_due(&mut self, is_end: bool) -> bool {
        let number = self.shared.number();
        let is_due = !self.is_over && (is_end || number > self.answered);
        if is_due {
            (self.answered, self.requested, self.is_last) = (number, Instant::now(), is_end);
        }
        is_due
    }

    /// Takes the state of the run, or the error that kept the run from saving it.
    pub fn take(&mut self, part: Result<Part, BackendError>) {
        {
            let mut rounds = self.shared.lock();
            rounds.took = rounds.took.max(self.requested.elapsed());
        }
        match part {
            Ok(part) => {
                self.has_warned = false;
                self.send(Part { elapsed: part.elapsed + self.shared.before, ..part }, self.is_last);
            }
            Err(error) => {
                if !std::mem::replace(&mut self.has_warned, true) {
                    (self.shared.warn)(&error.to_string());
                }
                _ = self.sender.send(Message::Nothing(self.run, self.is_last));
            }
        }
    }

    /// Takes the answer of a run in another process: its state, or `None` if it cannot be saved this time. An answer after the last
    /// one is ignored.
    pub fn answer(&mut self, part: Option<Part>, is_last: bool) {
        match part {
            _ if self.is_over => {}
            Some(part) => self.send(part, is_last),
            None => {
                self.is_last = is_last;
                self.skip();
            }
        }
    }

    fn send(&mut self, part: Part, is_last: bool) {
        self.is_over |= is_last;
        // Nobody receives it after the end.
        _ = self.sender.send(Message::Part(self.run, Box::new(part), is_last));
    }

    /// Takes note that the run cannot be saved this time.
    pub fn skip(&mut self) {
        self.is_over |= self.is_last;
        _ = self.sender.send(Message::Nothing(self.run, self.is_last));
    }
}

impl Part {
    /// Makes it from a snapshot of a run of tours: the best one comes before the engine's arrays.
    ///
    /// # Errors
    /// If memory is short.
    pub fn of_tours(snapshot: Snapshot) -> Result<Part, BackendError> {
        let Snapshot { elapsed, iterations, best: (cost, tour), state: engine } = snapshot;
        let mut state = State::default().common(engine.is_common);
        state.put(&tour)?;
        state.append(engine);
        Ok(Part { elapsed, iterations, cost: Cost::Whole(cost), state })
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if !self.is_over {
            _ = self.sender.send(Message::Nothing(self.run, true));
        }
    }
}

impl Observe for Recorder {
    fn progress(&mut self, _: &Progress) {}

    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        self.is_due(is_end)
    }

    fn checkpoint(&mut self, snapshot: Result<Snapshot, BackendError>) {
        self.take(snapshot.and_then(Part::of_tours));
    }

    fn no_checkpoint(&mut self) {
        self.skip();
    }

    fn keeps_checkpoints(&self) -> bool {
        true
    }
}

/// Searches: the engine's arrays have the best solutions.
impl Observe<Cost, ()> for Recorder {
    fn progress(&mut self, _: &Progress<Cost>) {}

    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        self.is_due(is_end)
    }

    fn checkpoint(&mut self, snapshot: Result<Snapshot<Cost, ()>, BackendError>) {
        self.take(snapshot.map(|Snapshot { elapsed, iterations, best: (cost, ()), state }| Part {
            elapsed,
            iterations,
            cost,
            state,
        }));
    }

    fn no_checkpoint(&mut self) {
        self.skip();
    }

    fn keeps_checkpoints(&self) -> bool {
        true
    }
}

/// What the thread knows of a run.
#[derive(Default)]
struct Desk {
    part: Option<Part>,
    /// Whether it has answered since the last file.
    has_answered: bool,
    is_over: bool,
}

/// The thread that writes.
struct Scribe {
    path: PathBuf,
    subject: Subject,
    limits: Value,
    shared: Arc<Shared>,
    runs: Vec<Desk>,
    /// The file from which the runs continue.
    resumed: Option<PathBuf>,
    /// Whether the last file could not be written, which has been said.
    has_warned: bool,
}

impl Scribe {
    fn work(mut self, messages: &Receiver<Message>) {
        while let Ok(message) = messages.recv() {
            match message {
                Message::Resumed(file) => {
                    self.resumed = Some(file);
                    continue;
                }
                Message::Runs(runs) => self.runs = self.desks(runs),
                Message::Part(run, part, is_last) => {
                    let Some(desk) = self.runs.get_mut(run) else { continue };
                    *desk = Desk { part: Some(*part), has_answered: true, is_over: is_last };
                }
                Message::Nothing(run, is_last) => {
                    let Some(desk) = self.runs.get_mut(run) else { continue };
                    desk.has_answered = true;
                    desk.is_over |= is_last;
                }
                Message::Close => break,
            }
            if self.runs.iter().all(|desk| desk.has_answered || desk.is_over) {
                self.write();
            }
        }
        self.write();
    }

    /// Makes room for several runs, with the states with which they continue: a run that fails before it has answered for the first
    /// time leaves its own.
    fn desks(&self, runs: usize) -> Vec<Desk> {
        // The file of a single run is not replaced before that run has answered.
        let mut saved = if runs > 1 { self.saved() } else { Vec::new() };
        let costs: Vec<Option<Cost>> = saved.iter().map(|part| part.as_ref().map(|part| part.cost)).collect();
        let take = |number: u32| saved.get_mut(number as usize).and_then(Option::take);
        let numbers = resumed::numbers(&costs, runs).into_iter();
        numbers.map(take).map(|part| Desk { part, ..Desk::default() }).collect()
    }

    /// Reads the states with which the runs continue. One that they have in common is not needed: it is that of the first run that
    /// answers.
    fn saved(&self) -> Vec<Option<Part>> {
        let Some(Ok(file::Content { subject, runs, .. })) = self.resumed.as_deref().map(file::read) else {
            return Vec::new();
        };
        let is_same = (&subject.kind, subject.size, subject.fingerprint)
            == (&self.subject.kind, self.subject.size, self.subject.fingerprint);
        let is_common = runs.iter().flatten().any(|part| part.state.is_common);
        if is_same && !is_common { runs } else { Vec::new() }
    }

    /// Writes the states of all runs, if one of them is new.
    fn write(&mut self) {
        let is_new = self.runs.iter().any(|desk| desk.has_answered && desk.part.is_some());
        if is_new {
            let mut parts: Vec<Option<Part>> = self.runs.iter_mut().map(|desk| desk.part.take()).collect();
            // A later one may succeed.
            let written = file::write(&self.path, (&self.subject, &self.limits), &parts);
            let has_warned = std::mem::replace(&mut self.has_warned, written.is_err());
            if let Err(error) = written
                && !has_warned
            {
                (self.shared.warn)(&error.to_string());
            }
            // Other runs may answer again when this one has ended, or cannot be saved. A single one has nobody to wait for.
            if self.runs.len() > 1 {
                self.runs.iter_mut().zip(&mut parts).for_each(|(desk, part)| desk.part = part.take());
            }
        }
        self.runs.iter_mut().for_each(|desk| desk.has_answered = false);
        self.shared.lock().is_busy = false;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn part(number: i64) -> Part {
        let mut state = State::default();
        state.put(&[number]).unwrap();
        Part { elapsed: Duration::from_secs(1), iterations: 1, cost: Cost::Whole(number), state }
    }

    fn subject() -> Subject {
        let (kind, instance) = ("lk".to_owned(), "an instance".to_owned());
        Subject { kind, instance, size: 3, fingerprint: 7, settings: Value::Null }
    }

    #[test]
    fn a_run_that_fails_before_its_first_answer_keeps_its_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let begin = |subject| {
            let schedule = Schedule { path: path.clone(), every: Duration::ZERO };
            let warn = |why: &str| panic!("{why}");
            let checkpoints = Checkpoints::begin(schedule, (subject, Value::Null), Duration::ZERO, warn);
            let mut checkpoints = checkpoints.unwrap();
            checkpoints.continue_from(&path);
            let mut recorders = checkpoints.for_each_run(2);
            recorders[1].answer(Some(part(1)), true);
        };
        // With two runs in place of three, the best ones of those continue.
        let saved = [Some(part(5)), Some(part(9)), Some(part(4))];
        file::write(&path, (&subject(), &Value::Null), &saved).unwrap();
        begin(subject());
        assert_eq!(file::read(&path).unwrap().runs, [Some(part(5)), Some(part(1))]);
        // What is in the file of another run stays out.
        begin(Subject { size: 4, ..subject() });
        assert_eq!(file::read(&path).unwrap().runs, [None, Some(part(1))]);
    }

    #[test]
    fn a_failure_is_told_once_until_there_was_none() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        let told = Arc::<AtomicU32>::default();
        let (count, now) = (told.clone(), Instant::now());
        let shared = Arc::new(Shared {
            every: Duration::ZERO,
            rounds: Mutex::new(Rounds { number: 0, is_busy: false, last: now, took: Duration::ZERO }),
            warn: Box::new(move |_| _ = count.fetch_add(1, Ordering::Relaxed)),
            before: Duration::ZERO,
        });
        let mut scribe = Scribe {
            path: inner.join("run"),
            subject: subject(),
            limits: Value::Null,
            shared: shared.clone(),
            runs: vec![Desk::default()],
            resumed: None,
            has_warned: false,
        };
        let (sender, _receiver) = channel();
        let mut recorder = Recorder::new(0, &shared, &sender);
        let mut write = || {
            scribe.runs[0] = Desk { part: Some(part(1)), has_answered: true, is_over: false };
            scribe.write();
            told.swap(0, Ordering::Relaxed)
        };
        assert_eq!([write(), write()], [1, 0]);
        std::fs::create_dir(&inner).unwrap();
        assert_eq!(write(), 0);
        std::fs::remove_dir_all(&inner).unwrap();
        assert_eq!([write(), write()], [1, 0]);
        let mut take = |part: Option<Part>| {
            recorder.take(part.ok_or(BackendError::State));
            told.swap(0, Ordering::Relaxed)
        };
        assert_eq!([None, None, Some(part(1)), None, None].map(&mut take), [1, 0, 0, 1, 0]);
    }
}
