//! Thread control (Luong et al. 2013, section 4.1 and algorithm 3): during the first iterations of a search, its walks run in one
//! shape after another, and go on in the fastest. A shape that cannot be launched is left out. What was found is kept in a file
//! for each device and shape of problem.
//!
//! Results do not depend on the shape, so trials are part of the search and cost only what the slower shapes take longer.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use antwarp_core::papers::problem;
use antwarp_core::papers::search::{REACHED, WalkState};
use serde::{Deserialize, Serialize};

use crate::engine::{Tables, WalksSpec};
use crate::instance::atomic_file;

/// How long a trial should last: much longer than it takes to begin one. Half as long is enough to judge by.
const TRIAL: Duration = Duration::from_millis(3);
/// Iterations of the first trial, of which nothing is known.
const FIRST: u64 = 8;
/// So many trials in a row may be too short to judge by, as their batch ended or as too few iterations were asked for; if there are no
/// longer ones, the next has to do.
const MOST_SHORT: u32 = 8;
/// More teams for a walk are not tried once they take longer by this factor; nor are fewer threads of a team.
const HOPELESS: f64 = 1.25;

/// How many threads walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Teams of a walk: blocks of a GPU, or CPU threads.
    pub parts: u32,
    /// Threads of a team.
    pub threads: u32,
}

/// What a shape was found for.
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
    /// A search on a device.
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

/// What was found once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    key: Key,
    shape: Shape,
    /// Seconds an iteration took.
    seconds: f64,
}

/// The file of what was found: `ANTWARP_TUNING` names it (`none`: no file), else it is in the user's cache folder.
fn file() -> Option<PathBuf> {
    match std::env::var_os("ANTWARP_TUNING") {
        Some(name) if name == "none" => None,
        Some(name) => Some(name.into()),
        None => dirs::cache_dir().map(|folder| folder.join("antwarp").join("tuning.json")),
    }
}

/// How files of what was found begin, but for spaces.
const BEGIN: &str = r#"[{"key":{"device":"#;

/// Whether a text is, or was before it was damaged, one of what was found.
fn is_ours(text: &[u8]) -> bool {
    let mut bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace()).peekable();
    bytes.peek().is_none() || BEGIN.bytes().eq(bytes.take(BEGIN.len()).copied())
}

/// The first mebibyte of a file: what was found never takes more. Devices and pipes, which may never end, are no files.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = Vec::new();
    File::open(path)?.take(1 << 20).read_to_end(&mut text)?;
    Ok(text)
}

/// What was found, by the text of its file; nothing if that is damaged, or `None` if it may be somebody else's.
pub fn parse(text: &[u8]) -> Option<Vec<Entry>> {
    is_ours(text).then(|| serde_json::from_slice(text).unwrap_or_default())
}

/// What was found; nothing if the file is missing or damaged, or `None` if it may be somebody else's.
fn entries(path: &Path) -> Option<Vec<Entry>> {
    match read(path) {
        Ok(text) => parse(&text),
        Err(error) => (error.kind() == io::ErrorKind::NotFound).then(Vec::new),
    }
}

/// Refuses a file that is not one of what was found: it would be replaced.
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
    Err(format!(
        "{path} is no file of shapes that were tried out: name another one in ANTWARP_TUNING, or none"
    ))
}

/// How far walks are: the iterations of the one that is least far, of those that go on. None if no walk goes on, or if one has
/// reached the target.
pub fn now(states: &[WalkState]) -> Option<u64> {
    let reached = states.iter().any(|state| state.done == REACHED);
    let going = states.iter().filter(|state| state.done == 0 && !reached);
    going.map(|state| state.iterations).min()
}

/// A piece of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// How to run it.
    pub shape: Shape,
    /// The iteration behind its last.
    pub end: u64,
    /// Its place among the shapes, if it is a trial.
    which: Option<usize>,
}

/// Finds the fastest of some shapes.
#[derive(Debug)]
pub struct Tuner {
    key: Key,
    file: Option<PathBuf>,
    shapes: Vec<Shape>,
    /// The shape that is tried next; none: the search for the fastest is over.
    next: Option<usize>,
    /// The fastest so far, and seconds an iteration.
    best: (Shape, f64),
    /// The fastest with the last number of parts.
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
    /// A tuner that tries these shapes in their order, fewest parts first, unless the best one is asked for or known.
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

    /// The fastest shape so far.
    pub fn best(&self) -> Shape {
        self.best.0
    }

    /// Shapes tried.
    pub fn trials(&self) -> u32 {
        self.trials
    }

    /// What to run next of a batch that has come to iteration `now` and ends at `end`.
    pub fn next(&self, now: u64, end: u64) -> Trial {
        match self.next {
            Some(which) => {
                Trial { shape: self.shapes[which], end: end.min(now + self.iterations), which: Some(which) }
            }
            None => Trial { shape: self.best(), end, which: None },
        }
    }

    /// Takes down how long a trial took.
    pub fn took(&mut self, trial: Trial, time: Duration, iterations: u64) {
        let (Some(which), true) = (trial.which, iterations > 0) else { return };
        let each = time.as_secs_f64() / iterations as f64;
        // As many iterations as fill a trial by what is known now.
        let fill = (TRIAL.as_secs_f64() / each.max(1e-9)) as u64;
        if !self.warm {
            // The first trial of all pays for what happens once, and is too short or too long.
            self.warm = true;
            self.iterations = fill.clamp(1, 1 << 20);
            return;
        }
        self.iterations = fill.clamp(1, 1 << 20);
        // What it takes to begin a trial is most of a short one: by such trials the shape that is tried later seems faster.
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

    /// Takes down that a trial could not be launched; whether there is another shape to go on with.
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

    /// Writes down what was found. Without a place for it, it is found again next time.
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

    /// A tuner without a file that knows nothing yet.
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

    /// Runs batches until the tuner has decided, on a machine where a shape takes so long an iteration, and a trial longer to begin.
    fn decide(batches: impl Iterator<Item = u64>, microseconds: &[(u32, f64)], tries_all: bool) -> u32 {
        decide_with(100.0, batches, microseconds, tries_all)
    }

    /// The same where a trial takes `begins` microseconds to begin.
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

    /// Where a trial takes as long to begin as a hundred iterations, later trials are longer ones.
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
        // Batches that are always short decide, too.
        assert_eq!(decide(std::iter::repeat(3), &[(1, 900.0), (2, 500.0), (4, 600.0)], false), 2);
        // Behind a hopeless number of parts there may be a better one, which all trials find.
        let valley = [(1, 20.0), (2, 40.0), (4, 10.0)];
        for (tries_all, best) in [(false, 1), (true, 4)] {
            assert_eq!(decide(std::iter::repeat(1000), &valley, tries_all), best);
        }
    }
}
