//! Thread control (Luong et al. 2013, section 4.1 and algorithm 3): during the first iterations of a search, its walks run in one
//! shape after another, and go on in the fastest one. Shapes that cannot be launched are left out. The results are kept in a file,
//! for each device and shape of problem.
//!
//! Results of a search do not depend on the shape, so trials are part of it and cost only the extra time of the slower shapes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use antwarp_core::papers::problem;
use antwarp_core::papers::search::{REACHED, WalkState};
use serde::{Deserialize, Serialize};

use crate::{Tables, WalksSpec};
use antwarp_instance::atomic_file;

/// How long a trial should last: much longer than it takes to start one. Half of that is enough to judge by.
const TRIAL: Duration = Duration::from_millis(3);
/// Iterations of the first trial, when no speed is known.
const FIRST: u64 = 8;
/// This many trials in a row may be too short to judge by, because their batch ended or too few iterations were asked for; if no
/// longer ones come, the next one has to do.
const MOST_SHORT: u32 = 8;
/// More teams per walk are not tried once they are slower by this factor; nor are fewer threads per team.
const HOPELESS: f64 = 1.25;

/// The threads of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Teams of a walk: blocks on a GPU, or threads on a CPU.
    pub parts: u32,
    /// Threads of each team.
    pub threads: u32,
}

/// The search that a shape was found for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    device: String,
    units: u32,
    problem: String,
    strategy: u32,
    walks: u32,
    sizes: [u32; 4],
    neighbors: u64,
    version: String,
}

impl Key {
    /// Makes the key of a search on a device.
    pub fn new(
        device: &str,
        units: u32,
        problem: &str,
        tables: &Tables,
        spec: &WalksSpec,
        neighbors: u64,
    ) -> Key {
        let problem::Shape { sizes, .. } = tables.shape;
        Key {
            device: device.to_string(),
            units,
            problem: problem.to_string(),
            strategy: spec.strategy as u32 | u32::from(spec.first) << 8,
            walks: spec.walks,
            sizes,
            neighbors,
            version: env!("CARGO_PKG_VERSION").to_string(),
        }
    }
}

/// A stored result: the fastest shape of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    key: Key,
    shape: Shape,
    /// Seconds per iteration.
    seconds: f64,
}

/// Returns the file of results: named by `ANTWARP_TUNING` (`none`: no file), else in the user's cache folder.
fn file() -> Option<PathBuf> {
    match std::env::var_os("ANTWARP_TUNING") {
        Some(name) if name == "none" => None,
        Some(name) => Some(name.into()),
        None => dirs::cache_dir().map(|folder| folder.join("antwarp").join("tuning.json")),
    }
}

/// The start of every file of results, without spaces.
const BEGIN: &str = r#"[{"key":{"device":"#;

/// Returns whether a text is a file of results, or was one before it was damaged.
fn is_ours(text: &[u8]) -> bool {
    let mut bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace()).peekable();
    bytes.peek().is_none() || BEGIN.bytes().eq(bytes.take(BEGIN.len()).copied())
}

/// Reads the first mebibyte of a file: results never take more. Devices and pipes, which may never end, are not files.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = Vec::new();
    File::open(path)?.take(1 << 20).read_to_end(&mut text)?;
    Ok(text)
}

/// Parses the text of a file of results: empty if it is damaged, `None` if it may belong to someone else.
pub fn parse(text: &[u8]) -> Option<Vec<Entry>> {
    is_ours(text).then(|| serde_json::from_slice(text).unwrap_or_default())
}

/// Reads a file of results: empty if it is missing or damaged, `None` if it may belong to someone else.
fn entries(path: &Path) -> Option<Vec<Entry>> {
    match read(path) {
        Ok(text) => parse(&text),
        Err(error) => (error.kind() == io::ErrorKind::NotFound).then(Vec::new),
    }
}

/// Rejects a file that is not a file of results: it would be overwritten.
///
/// # Errors
///
/// The message names the file and the remedy.
pub fn check() -> Result<(), String> {
    let is_foreign = |path: &PathBuf| match read(path) {
        Ok(text) => !is_ours(&text),
        Err(error) => error.kind() == io::ErrorKind::InvalidInput,
    };
    let Some(path) = file().filter(is_foreign) else { return Ok(()) };
    let path = path.display();
    Err(format!("{path} is not a file of thread control: name another one in ANTWARP_TUNING, or none"))
}

/// Returns the number of iterations of the walk that is least far, of those that go on. `None` if no walk goes on, or one has
/// reached the target.
pub fn now(states: &[WalkState]) -> Option<u64> {
    let reached = states.iter().any(|state| state.done == REACHED);
    let going = states.iter().filter(|state| state.done == 0 && !reached);
    going.map(|state| state.iterations).min()
}

/// A piece of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// How many threads run it.
    pub shape: Shape,
    /// The iteration after its last.
    pub end: u64,
    /// Its index among the shapes, if it is a trial.
    which: Option<usize>,
}

/// Finds the fastest of several shapes.
#[derive(Debug)]
pub struct Tuner {
    key: Key,
    file: Option<PathBuf>,
    shapes: Vec<Shape>,
    /// The shape to try next; `None`: the search for the fastest is over.
    next: Option<usize>,
    /// The fastest shape so far, and its seconds per iteration.
    best: (Shape, f64),
    /// The fastest time with the current number of parts.
    best_of_parts: f64,
    trials: u32,
    /// Iterations of the next trial.
    iterations: u64,
    /// Trials in a row that were too short.
    short: u32,
    /// Whether a trial of this shape has warmed everything up.
    warm: bool,
    /// Whether no shape is left out as hopeless.
    tries_all: bool,
}

impl Tuner {
    /// Makes a tuner that tries these shapes in order, fewest parts first, unless the best one is asked for or known.
    pub fn new(key: Key, shapes: Vec<Shape>, spec: &WalksSpec) -> Tuner {
        let file = file();
        let first = shapes.first().copied().unwrap_or(Shape { parts: 1, threads: 1 });
        let asked = spec.shape.map(|asked| {
            let of = |all: &dyn Fn(&Shape) -> u32, value: Option<u32>, least: u32| {
                value.unwrap_or_else(|| shapes.iter().map(all).max().unwrap_or(least))
            };
            Shape { parts: asked.parts.unwrap_or(1), threads: of(&|s| s.threads, asked.threads, 1) }
        });
        let known = || {
            let known = entries(file.as_deref()?)?.into_iter().find(|entry| entry.key == key)?;
            shapes.contains(&known.shape).then_some(known.shape)
        };
        let known = asked.or_else(|| if spec.retune || spec.retune_all { None } else { known() });
        let is_open = known.is_none() && shapes.len() > 1;
        Tuner {
            key,
            file,
            shapes,
            next: is_open.then_some(0),
            best: (known.unwrap_or(first), f64::INFINITY),
            best_of_parts: f64::INFINITY,
            trials: 0,
            iterations: FIRST,
            short: 0,
            warm: false,
            tries_all: spec.retune_all,
        }
    }

    /// Returns the fastest shape so far.
    pub fn best(&self) -> Shape {
        self.best.0
    }

    /// Returns the number of shapes tried.
    pub fn trials(&self) -> u32 {
        self.trials
    }

    /// Returns what to run next in a batch that has reached iteration `now` and ends at `end`.
    pub fn next(&self, now: u64, end: u64) -> Trial {
        match self.next {
            Some(which) => {
                Trial { shape: self.shapes[which], end: end.min(now + self.iterations), which: Some(which) }
            }
            None => Trial { shape: self.best(), end, which: None },
        }
    }

    /// Records how long a trial took.
    pub fn took(&mut self, trial: Trial, time: Duration, iterations: u64) {
        let (Some(which), true) = (trial.which, iterations > 0) else { return };
        let each = time.as_secs_f64() / iterations as f64;
        // As many iterations as fill a trial at the speed known now.
        let fill = (TRIAL.as_secs_f64() / each.max(1e-9)) as u64;
        if !self.warm {
            // The very first trial includes one-time costs, and is too short or too long.
            self.warm = true;
            self.iterations = fill.clamp(1, 1 << 20);
            return;
        }
        self.iterations = fill.clamp(1, 1 << 20);
        // Most of a short trial is its start-up time, and such trials make later shapes look faster.
        if time < TRIAL / 2 && self.short < MOST_SHORT {
            self.short += 1;
            return;
        }
        self.short = 0;
        self.trials += 1;
        if each < self.best.1 {
            self.best = (trial.shape, each);
        }
        self.best_of_parts = self.best_of_parts.min(each);
        let fewer_are_slower = !self.tries_all && each > HOPELESS * self.best_of_parts;
        self.go_on(which, fewer_are_slower);
    }

    /// Records that a trial could not be launched; returns whether there is another shape to go on with.
    pub fn failed(&mut self, trial: Trial) -> bool {
        let Some(which) = trial.which else { return false };
        self.go_on(which, false);
        self.next.is_some() || self.best.1.is_finite()
    }

    /// Goes on with the next shape, or with the next number of parts.
    fn go_on(&mut self, which: usize, leaves_parts: bool) {
        let parts = self.shapes[which].parts;
        let rest = &self.shapes[which + 1..];
        let next = if leaves_parts { rest.iter().position(|shape| shape.parts != parts) } else { Some(0) };
        let next = next.map(|ahead| which + 1 + ahead).filter(|&next| next < self.shapes.len());
        let is_last_of_parts = next.is_none_or(|next| self.shapes[next].parts != parts);
        let hopeless = !self.tries_all && is_last_of_parts && self.best_of_parts > HOPELESS * self.best.1;
        if is_last_of_parts {
            self.best_of_parts = f64::INFINITY;
        }
        self.next = next.filter(|_| !hopeless);
        if self.next.is_none() {
            self.keep();
        }
    }

    /// Saves the result. If that is not possible, it is found again next time.
    fn keep(&self) {
        let (shape, seconds) = self.best;
        let Some(path) = self.file.as_deref().filter(|_| seconds.is_finite()) else { return };
        let Some(mut all) = entries(path) else { return };
        all.retain(|entry| entry.key != self.key);
        all.push(Entry { key: self.key.clone(), shape, seconds });
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let text = serde_json::to_vec_pretty(&all).unwrap_or_default();
        if folder.is_ok() && !text.is_empty() {
            let _ = atomic_file::write(path, |out| out.write_all(&text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key {
            device: "test".into(),
            units: 1,
            problem: "test".into(),
            strategy: 0,
            walks: 1,
            sizes: [0; 4],
            neighbors: 1,
            version: String::new(),
        }
    }

    /// Makes a tuner without a file and without results.
    fn tuner(shapes: Vec<Shape>) -> Tuner {
        Tuner {
            key: key(),
            file: None,
            shapes,
            next: Some(0),
            best: (Shape { parts: 0, threads: 32 }, f64::INFINITY),
            best_of_parts: f64::INFINITY,
            trials: 0,
            iterations: FIRST,
            short: 0,
            warm: false,
            tries_all: false,
        }
    }

    /// Runs batches until the tuner has decided, with the given microseconds per iteration of each shape, and 100 to start a trial.
    fn decide(batches: impl Iterator<Item = u64>, microseconds: &[(u32, f64)], tries_all: bool) -> u32 {
        decide_with(100.0, batches, microseconds, tries_all)
    }

    /// The same where it takes `begins` microseconds to start a trial.
    fn decide_with(
        begins: f64,
        batches: impl Iterator<Item = u64>,
        microseconds: &[(u32, f64)],
        tries_all: bool,
    ) -> u32 {
        let shapes = microseconds.iter().map(|&(parts, _)| Shape { parts, threads: 32 }).collect();
        let mut tuner = Tuner { tries_all, ..tuner(shapes) };
        let mut now = 0;
        for batch in batches {
            let end = now + batch;
            while now < end && tuner.next.is_some() {
                let trial = tuner.next(now, end);
                let each = microseconds.iter().find(|(parts, _)| *parts == trial.shape.parts).unwrap().1;
                let iterations = trial.end - now;
                tuner.took(
                    trial,
                    Duration::from_secs_f64((begins + each * iterations as f64) * 1e-6),
                    iterations,
                );
                now = trial.end;
            }
            if tuner.next.is_none() {
                return tuner.best().parts;
            }
        }
        panic!("no shape was chosen");
    }

    #[test]
    fn files_of_others_are_told_from_damaged_ones() {
        let shape = Shape { parts: 1, threads: 32 };
        let whole = serde_json::to_vec_pretty(&[Entry { key: key(), shape, seconds: 1.0 }]).unwrap();
        assert!(is_ours(&whole) && is_ours(&whole[..whole.len() / 2]) && is_ours(b"") && is_ours(b"\n"));
        for other in ["thesis", "[]", "{}", "[{\"key\": 1}]", "\0", "NAME : a280\n"] {
            assert!(!is_ours(other.as_bytes()), "{other}");
        }
    }

    /// Where starting a trial takes as long as a hundred iterations, later trials are longer.
    #[test]
    fn what_it_takes_to_begin_does_not_speak_for_later_shapes() {
        let microseconds = [(1, 8.4), (2, 14.5), (4, 25.5), (8, 45.0)];
        for begins in [0.0, 100.0, 400.0, 800.0] {
            assert_eq!(decide_with(begins, std::iter::repeat(2000), &microseconds, false), 1, "{begins} us");
        }
    }

    #[test]
    fn fewer_threads_are_not_tried_once_they_are_slower() {
        let microseconds = |Shape { parts, threads }| match (parts, threads) {
            (1, 1024) => 20.0,
            (1, 512) => 18.0,
            (1, 256) => 30.0,
            (2, 1024) => 12.0,
            (2, 512) => 40.0,
            _ => panic!("{parts} x {threads} need not be tried"),
        };
        let shapes = [1, 2]
            .into_iter()
            .flat_map(|parts| [1024, 512, 256, 128].map(|threads| Shape { parts, threads }));
        let mut tuner = tuner(shapes.collect());
        let mut now = 0;
        while tuner.next.is_some() {
            let trial = tuner.next(now, u64::MAX);
            let each = microseconds(trial.shape);
            tuner.took(
                trial,
                Duration::from_secs_f64(each * (trial.end - now) as f64 * 1e-6),
                trial.end - now,
            );
            now = trial.end;
        }
        assert_eq!(tuner.best(), Shape { parts: 2, threads: 1024 });
        assert_eq!(tuner.trials(), 5);
    }

    #[test]
    fn the_fastest_shape_is_found_whatever_the_batches() {
        let microseconds = [(1, 20.0), (2, 24.0), (4, 22.0)];
        for growth in [2u64, 4, 8] {
            let growing = (0..).map(|i| growth.saturating_pow(i).min(5000));
            assert_eq!(decide(growing, &microseconds, false), 1, "batches grow by {growth}");
        }
        assert_eq!(decide(std::iter::repeat(1000), &[(1, 9.0), (2, 5.0), (4, 6.0)], false), 2);
        // Batches that are always short lead to a decision, too.
        assert_eq!(decide(std::iter::repeat(3), &[(1, 900.0), (2, 500.0), (4, 600.0)], false), 2);
        // After a hopeless number of parts there may be a better one, which only trying all finds.
        let valley = [(1, 20.0), (2, 40.0), (4, 10.0)];
        for (tries_all, best) in [(false, 1), (true, 4)] {
            assert_eq!(decide(std::iter::repeat(1000), &valley, tries_all), best);
        }
    }
}
