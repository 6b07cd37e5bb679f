//! `antwarp solve` of several instances, or of one several times.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use serde::Serialize;

use super::super::output::{self, Output};
use super::super::{Error, Outcome, Result};
use super::deliver::{json_line, write_csv, write_svg, write_tour};
use super::{Args, Asked, Prove, facts, refuse_forbidden};
use crate::backend::{Backend, Choice};
use crate::engine::{Progress, StopReason};
use crate::exact::{Board, Settings};
use crate::instance::Instance;
use crate::memory;
use crate::report::statistics::{deviation, mean};
use crate::report::summary::stopped;
use crate::report::{Bounded, Report};
use crate::solver::proof::{self as proving, When};
use crate::solver::{Solution, check_resolution, placement};

/// Options that are for a single run of a single instance.
const ALONE: [&str; 9] = [
    "bound",
    "certificate",
    "checkpoint",
    "every",
    "load_population",
    "print_tour",
    "resume",
    "save_population",
    "topology",
];

impl Args {
    /// Returns whether there are several instances or runs.
    pub(super) fn are_several(&self) -> bool {
        self.instances.len() > 1 || self.runs.is_some()
    }

    /// Returns the only instance, or the first one.
    pub(super) fn instance(&self) -> &Path {
        &self.instances[0]
    }

    fn check_several(&self, options: &[String]) -> Result<()> {
        if let Some(other) = ALONE.into_iter().find(|id| options.iter().any(|option| option == id)) {
            return Err(Error::Usage(format!("`{other}` is for one run of one instance: solve it alone")));
        }
        let are_instances = self.instances.len() > 1;
        if are_instances && self.begin.initial_tour.is_some() {
            return Err(Error::Usage("`initial_tour` is for a single instance: solve it alone".into()));
        }
        if self.jobs.is_some_and(|jobs| jobs > 1) && self.machine.backend == Choice::Cuda {
            let why = "GPUs solve one instance after the other: leave out --jobs, or use --backend cpu";
            return Err(Error::Usage(why.into()));
        }
        if !are_instances {
            return self.check_outputs();
        }
        let outputs =
            [("--tour", &self.outputs.tour), ("--csv", &self.outputs.csv), ("--svg", &self.outputs.svg)];
        for (name, output) in outputs.into_iter().filter_map(|(name, output)| Some((name, output.as_ref()?)))
        {
            if !matches!(output, Output::File(path) if path.is_dir()) {
                let why = "with several instances, give an existing folder, in which each gets a file";
                return Err(Error::Usage(format!("{name}: {why}")));
            }
        }
        let mut names = HashSet::new();
        let mut stems = self.instances.iter().map(|path| stem(path));
        if let Some(twice) = stems.find(|name| !names.insert(name.clone()))
            && outputs.iter().any(|(_, output)| output.is_some())
        {
            let name = twice.to_string_lossy().into_owned();
            return Err(Error::Usage(format!(
                "two instances would have the file {name}: rename one of them"
            )));
        }
        let inputs: Vec<_> = self.instances.iter().map(|path| (output::INSTANCE, &**path)).collect();
        for path in &self.instances {
            let own: Vec<Output> =
                outputs.iter().filter_map(|(name, output)| in_folder(output, path, name)).collect();
            output::check(own.iter().chain(&self.outputs.json), &inputs)?;
        }
        Ok(())
    }
}

/// Returns the name of an instance's outputs, without an extension.
fn stem(path: &Path) -> OsString {
    path.file_stem().unwrap_or(path.as_os_str()).to_owned()
}

/// Returns the file for an instance in a folder, whose extension is that of an option's name.
fn in_folder(folder: &Option<Output>, instance: &Path, option: &str) -> Option<Output> {
    let Some(Output::File(folder)) = folder else { return None };
    // The name of a generated instance has a dot that is no extension.
    let name = if instance.is_file() { stem(instance) } else { instance.as_os_str().to_owned() };
    let mut name = name;
    name.push(".");
    name.push(&option[2..]);
    Some(Output::File(folder.join(name)))
}

/// An instance, once a run has read it.
struct Entry<'a> {
    path: &'a Path,
    /// `None`: it cannot be.
    read: OnceLock<Option<Read>>,
    /// Its finished runs.
    runs: Mutex<Runs>,
}

struct Read {
    instance: Instance,
    /// The node where a closed tour starts.
    start: Option<u32>,
}

#[derive(Default)]
struct Runs {
    costs: Vec<f64>,
    seeds: Vec<u64>,
    best: Option<(i64, Vec<u32>)>,
    /// Runs that ended, also those that failed.
    ended: u32,
}

/// What the runs of an instance have found.
#[derive(Serialize)]
struct Statistics<'a> {
    instance: &'a str,
    runs: usize,
    mean: f64,
    best: f64,
    best_seed: u64,
    worst: f64,
    /// Of a sample; null for a single run.
    standard_deviation: Option<f64>,
}

impl<'a> Statistics<'a> {
    fn of(instance: &'a str, runs: &Runs) -> Option<Statistics<'a>> {
        let costs = &runs.costs;
        let best = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]))?;
        Some(Statistics {
            instance,
            runs: costs.len(),
            mean: mean(costs)?,
            best: costs[best],
            best_seed: runs.seeds[best],
            worst: costs.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            standard_deviation: deviation(costs),
        })
    }

    fn line(&self) -> String {
        let Statistics { instance, runs, mean, best, best_seed, worst, standard_deviation } = self;
        let deviation = standard_deviation.map_or_else(|| "-".to_owned(), |one| format!("{one:.2}"));
        format!(
            "{instance}: {runs} runs, mean {mean:.2}, best {best} (seed {best_seed}), worst {worst}, standard deviation {deviation}"
        )
    }
}

/// All runs, and what they share.
struct Several<'a> {
    args: &'a Args,
    options: &'a [String],
    interrupt: &'a Arc<AtomicBool>,
    entries: Vec<Entry<'a>>,
    next: AtomicUsize,
    ended: Mutex<Ended>,
}

/// Where results go, and how runs ended.
struct Ended {
    json: Option<Box<dyn Write + Send>>,
    /// The status of the first run that failed.
    failed: Option<u8>,
    is_unproven: bool,
    /// Whether the results have nowhere to go any more.
    is_over: bool,
}

/// Solves them.
pub(super) fn run(args: &Args, options: &[String], interrupt: &Arc<AtomicBool>) -> Result<Outcome> {
    args.check_several(options)?;
    args.check_proof(options)?;
    args.machine.start_threads()?;
    let entry = |path| Entry { path, read: OnceLock::new(), runs: Mutex::default() };
    let json = args.outputs.json.as_ref().map(|output| output.begin(|_| Ok(()))).transpose()?;
    let several = Several {
        args,
        options,
        interrupt,
        entries: args.instances.iter().map(|path| entry(path.as_path())).collect(),
        next: AtomicUsize::new(0),
        ended: Mutex::new(Ended { json, failed: None, is_unproven: false, is_over: false }),
    };
    several.all()
}

impl Several<'_> {
    fn ended(&self) -> MutexGuard<'_, Ended> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of runs of an instance.
    fn runs(&self) -> usize {
        self.args.runs.unwrap_or(1) as usize
    }

    fn all(&self) -> Result<Outcome> {
        let count = self.entries.len() * self.runs();
        let jobs = (self.args.jobs.unwrap_or(1) as usize).min(count);
        if jobs == 1 {
            self.work(Choice::Auto)?;
        } else {
            let all = rayon::current_num_threads();
            let share = |job: usize| (all * (job + 1) / jobs - all * job / jobs).max(1);
            let refused = |why: &dyn std::fmt::Display| {
                Error::Usage(format!("cannot start {jobs} runs at a time: {why}; use smaller --jobs"))
            };
            let threads: usize = (0..jobs).map(share).sum();
            memory::check_threads(threads as u32).map_err(|shortage| refused(&shortage))?;
            let pool = |job: usize| rayon::ThreadPoolBuilder::new().num_threads(share(job)).build();
            let pools = (0..jobs).map(pool).collect::<std::result::Result<Vec<_>, _>>();
            let pools = pools.map_err(|why| refused(&why))?;
            let worked = std::thread::scope(|scope| {
                let start =
                    |pool| scope.spawn(move || rayon::ThreadPool::install(pool, || self.work(Choice::Cpu)));
                let workers: Vec<_> = pools.iter().map(start).collect();
                let join = |worker: std::thread::ScopedJoinHandle<'_, Result<()>>| {
                    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                };
                // All of them have ended before the first error is reported.
                workers.into_iter().map(join).collect::<Vec<_>>()
            });
            worked.into_iter().collect::<Result<()>>()?;
        }
        let left = self.next.load(Ordering::Relaxed).min(count)..count;
        let ended = self.ended();
        if ended.is_over {
            return Ok(Outcome::Done);
        }
        if self.interrupt.load(Ordering::Relaxed) {
            let mut names: Vec<_> =
                left.clone().map(|at| self.entries[at / self.runs()].path.display().to_string()).collect();
            names.dedup();
            if !names.is_empty() {
                output::tell(&format!("antwarp: {} runs were not started: {}", left.len(), names.join(", ")));
            }
            return Ok(Outcome::Interrupted);
        }
        match (ended.failed, ended.is_unproven) {
            (Some(status), _) => Err(Error::Printed(status)),
            (None, true) => Ok(Outcome::Unproven),
            (None, false) => Ok(Outcome::Done),
        }
    }

    /// Takes one run after the other. An instance that cannot be solved does not keep others from being solved; results that cannot
    /// be written do.
    fn work(&self, choice: Choice) -> Result<()> {
        let mut backend = None;
        loop {
            if self.interrupt.load(Ordering::Relaxed) || self.ended().is_over {
                return Ok(());
            }
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(entry) = self.entries.get(at / self.runs()) else { return Ok(()) };
            let solved = self.solve(entry, (at % self.runs()) as u64, (choice, &mut backend));
            let ended = match solved {
                Ok(Some((report, read))) => self.tell(entry, report, read),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            let delivered = self.conclude(entry);
            for error in [ended, delivered].into_iter().filter_map(Result::err) {
                let is_output =
                    matches!(error, Error::Output { .. } | Error::Stdout(_) | Error::Rescued { .. });
                let mut all = self.ended();
                all.is_over |= is_output;
                if is_output {
                    return Err(error);
                }
                let status = named(entry.path, error);
                all.failed.get_or_insert(status);
            }
        }
    }

    /// Makes a run of an instance. Returns nothing if the instance could not be read, which the first run of it reports.
    fn solve<'e>(
        &self,
        entry: &'e Entry<'_>,
        number: u64,
        (choice, backend): (Choice, &mut Option<(Choice, Backend)>),
    ) -> Result<Option<(Report, &'e Read)>> {
        let mut why = None;
        let read = entry.read.get_or_init(|| self.read(entry.path).map_err(|error| why = Some(error)).ok());
        if let Some(why) = why {
            return Err(why);
        }
        let Some(read) = read else { return Ok(None) };
        let (args, instance, begin) = (self.args, &read.instance, Instant::now());
        let Asked { algorithm, initial, stop } =
            Asked::check(args, self.options, instance, self.interrupt.clone())?;
        let seed = algorithm.seed() + number;
        let algorithm = algorithm.seeded(seed);
        algorithm.check_for(instance)?;
        let asked = if choice == Choice::Cpu { choice } else { args.machine.backend };
        let placement = placement(&algorithm, instance, asked)?;
        let backend = match backend {
            Some((known, backend)) if *known == placement.choice => &*backend,
            other => {
                let machine = super::MachineArgs { backend: asked, ..args.machine.clone() };
                let opened = machine.open_at(placement, args.outputs.quiet || choice == Choice::Cpu)?;
                &other.insert((placement.choice, opened)).1
            }
        };
        let unasked = || When::unasked(&algorithm, instance, (backend, &stop));
        let mut missing = None;
        let when = match args.prove {
            Prove::Always => {
                missing = proving::check(instance)?.err();
                missing.is_none().then_some(When::AtOnce)
            }
            Prove::Auto => unasked(),
            Prove::Never => None,
        };
        if let Some(missing) = missing {
            return Err(Error::Unusable(format!("no proof is possible: {missing}")));
        }
        let observe = &mut |_: &Progress| ();
        let (mut solution, proof): (Solution, _) = match when {
            None => (algorithm.solve(instance, initial, (backend, &stop), observe, None)?, None),
            Some(when) => {
                let threads = rayon::current_num_threads();
                let settings =
                    Settings { board: Arc::new(Board::new(threads)), threads, keeps_certificate: false };
                proving::solve(&algorithm, (instance, initial), (backend, &stop), observe, (when, &settings))?
            }
        };
        solution.conclude(instance, read.start);
        let mut report =
            Report::new(instance, entry.path, facts(&algorithm)?, &stop, backend.machine(), &solution);
        let proven = proof.and_then(|proof| Bounded::proven(&proof, instance, report.cost));
        let is_exact = proven.is_none() && solution.stopped_by == StopReason::Optimal;
        let exact = || Bounded::exact(instance, report.cost, solution.seconds);
        let bound = if is_exact { Some(exact()) } else { proven };
        report.set_bound(bound.filter(|_| report.forbidden.is_empty()));
        report.seconds = begin.elapsed().as_secs_f64();
        if let Some(failure) = solution.failure.take() {
            output::tell(&format!("antwarp: {}: {failure}", entry.path.display()));
            self.ended().failed.get_or_insert(super::super::error::BACKEND);
        }
        if args.prove == Prove::Always && !solution.stopped_by.is_proof() {
            self.ended().is_unproven = true;
        }
        let mut runs = entry.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.costs.push(report.cost.as_f64());
        runs.seeds.push(seed);
        if runs.best.as_ref().is_none_or(|best| solution.cost < best.0) {
            runs.best = Some((solution.cost, solution.tour));
        }
        drop(runs);
        Ok(Some((report, read)))
    }

    fn read(&self, path: &Path) -> Result<Read> {
        let instance = self.args.reading.open_quietly(path, true)?;
        let (instance, start) = self.args.shape.apply(instance)?;
        check_resolution(&instance)?;
        Ok(Read { instance, start })
    }

    /// Reports a run.
    fn tell(&self, entry: &Entry<'_>, report: Report, read: &Read) -> Result<()> {
        let mut ended = self.ended();
        if let (Some(json), Some(output)) = (&mut ended.json, &self.args.outputs.json) {
            json_line(json, &report).and_then(|()| json.flush()).map_err(|cause| output.error(cause))?;
        }
        if !self.args.outputs.quiet {
            let cost = read.instance.unit().show(report.cost);
            let gap = report.gap_percent.map_or_else(String::new, |gap| format!(", gap {gap:.3} %"));
            let seed =
                if self.args.runs.is_some() { format!(", seed {}", report.seed) } else { String::new() };
            let (path, seconds) = (entry.path.display(), report.seconds);
            let line = format!(
                "{path}: {} nodes{seed}, cost {cost}{gap}, {seconds:.2} s, {}",
                report.instance.nodes,
                stopped(report.stopped_by)
            );
            self.say(&line)?;
        }
        drop(ended);
        refuse_forbidden(&report, false)
    }

    /// Prints a line: to the standard error if results go to the standard output.
    fn say(&self, line: &str) -> Result<()> {
        if self.args.outputs.all().any(Output::is_stdout) {
            output::tell(line);
            return Ok(());
        }
        output::print(|out| writeln!(out, "{line}"))
    }

    /// After the last run of an instance, reports their statistics and writes the best tour.
    fn conclude(&self, entry: &Entry<'_>) -> Result<()> {
        let mut runs = entry.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.ended += 1;
        let is_last = runs.ended as usize == self.runs() || self.interrupt.load(Ordering::Relaxed);
        let (Some((_, tour)), Some(read), true) =
            (&runs.best, entry.read.get().and_then(Option::as_ref), is_last)
        else {
            return Ok(());
        };
        let (instance, outputs) = (&read.instance, &self.args.outputs);
        let file = |output: &Option<Output>, option: &str| match self.entries.len() {
            1 => output.clone(),
            _ => in_folder(output, entry.path, option),
        };
        if let Some(output) = file(&outputs.tour, "--tour") {
            write_tour(&output, instance, tour)?;
        }
        if let Some(output) = file(&outputs.csv, "--csv") {
            write_csv(&output, instance, tour)?;
        }
        if let Some(output) = file(&outputs.svg, "--svg")
            && !write_svg(&output, instance, tour)?
        {
            output::tell(&format!(
                "antwarp: {} has no coordinates, so it has no picture",
                entry.path.display()
            ));
        }
        let name = entry.path.display().to_string();
        match Statistics::of(&name, &runs).filter(|_| self.args.runs.is_some()) {
            None => Ok(()),
            Some(statistics) => {
                let mut ended = self.ended();
                if let (Some(json), Some(output)) = (&mut ended.json, &outputs.json) {
                    json_line(json, &statistics)
                        .and_then(|()| json.flush())
                        .map_err(|cause| output.error(cause))?;
                }
                if outputs.quiet { Ok(()) } else { self.say(&statistics.line()) }
            }
        }
    }
}

/// Prints the error of an instance, with its name; returns its status.
fn named(path: &Path, error: Error) -> u8 {
    match error {
        // It names the file.
        Error::Input(_) => {}
        _ => output::tell(&format!("antwarp: {}:", path.display())),
    }
    error.print()
}
