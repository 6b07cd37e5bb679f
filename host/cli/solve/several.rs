//! `antwarp solve` of several instances, or of one several times.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;

use super::super::options::has_gpu;
use super::super::output::{self, Output};
use super::super::{Error, Outcome, Result};
use super::deliver::{DRAWINGS, write_csv, write_tour};
use super::settings::Wanted;
use super::{Args, Asked, Prove, facts, refuse_forbidden};
use crate::backend::{Backend, Choice};
use crate::engine::Progress;
use crate::exact::{Board, Settings};
use crate::instance::{Instance, Unit, counted, patience};
use crate::memory;
use crate::report::statistics::{deviation, mean};
use crate::report::summary::stopped;
use crate::report::{Report, page};
use crate::solver::proof::{self as proving, When};
use crate::solver::{Algorithm, Solution, check_resolution, placement};

/// Options that are for a single run of a single instance.
const ALONE: [&str; 10] = [
    "bound",
    "certificate",
    "checkpoint",
    "every",
    "live",
    "load_population",
    "print_tour",
    "resume",
    "save_population",
    "topology",
];

impl Args {
    /// Returns whether there are several instances, or `--runs` is given, even if it is 1.
    pub(super) fn are_several(&self) -> bool {
        self.instances.len() > 1 || self.runs.is_some()
    }

    /// Returns the only instance, or the first one.
    pub(super) fn instance(&self) -> &Path {
        &self.instances[0]
    }

    fn check_several(&self, options: &[String], names: &[OsString]) -> Result<()> {
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
        let drawings = DRAWINGS.iter().map(|drawing| (drawing.option, (drawing.output)(&self.outputs)));
        let outputs =
            [("--tour", &self.outputs.tour), ("--csv", &self.outputs.csv), ("--html", &self.outputs.html)];
        let outputs: Vec<_> = outputs.into_iter().chain(drawings).collect();
        for (name, output) in outputs.iter().filter_map(|(name, output)| Some((name, output.as_ref()?))) {
            if !matches!(output, Output::File(path) if path.is_dir()) {
                let why = "with several instances, give an existing folder, in which each gets a file";
                return Err(Error::Usage(format!("{name}: {why}")));
            }
        }
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(*name))
            && outputs.iter().any(|(_, output)| output.is_some())
        {
            let name = twice.to_string_lossy();
            return Err(Error::Usage(format!(
                "two instances would have the file {name}: rename one of them"
            )));
        }
        let inputs: Vec<_> = self.instances.iter().map(|path| (output::INSTANCE, &**path)).collect();
        for name in names {
            let own: Vec<Output> =
                outputs.iter().filter_map(|(option, output)| in_folder(output, name, option)).collect();
            output::check(own.iter().chain(&self.outputs.json), &inputs)?;
        }
        Ok(())
    }

    /// Checks the settings of all runs, so that what is wrong with them is reported once.
    fn check_runs(&self, options: &[String]) -> Result<()> {
        let wanted = Wanted::new(self, options)?;
        let declaration = wanted.declaration_for(Algorithm::default().declaration());
        wanted.refuse_foreign(&declaration)?;
        let first = wanted.algorithm(&declaration)?.seed();
        let more = u64::from(self.runs.unwrap_or(1) - 1);
        if first.checked_add(more).is_none() {
            let why = format!("the runs have consecutive seeds: use `seed` {} or less", u64::MAX - more);
            return Err(Error::Usage(why));
        }
        Ok(())
    }
}

/// Returns the name of an instance's outputs, without an extension.
fn name(path: &Path) -> OsString {
    // The name of a generated instance has a dot that is no extension.
    let name = if path.exists() { path.file_stem() } else { path.file_name() };
    name.unwrap_or(path.as_os_str()).to_owned()
}

/// Returns the file of an instance in a folder, whose extension is that of an option's name.
fn in_folder(folder: &Option<Output>, name: &OsStr, option: &str) -> Option<Output> {
    let Some(Output::File(folder)) = folder else { return None };
    let mut name = name.to_owned();
    name.push(".");
    name.push(&option[2..]);
    Some(Output::File(folder.join(name)))
}

/// An instance, once a run has read it.
struct Entry<'a> {
    path: &'a Path,
    /// The name of its outputs.
    name: OsString,
    /// Locked while it is being read.
    reading: Mutex<Reading>,
    /// Its finished runs.
    runs: Mutex<Runs>,
}

impl Entry<'_> {
    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the instance, if it was read.
    fn read(&self) -> Option<Arc<Read>> {
        match &*self.reading() {
            Reading::Done(read) => Some(read.clone()),
            Reading::Ahead | Reading::Over => None,
        }
    }
}

/// How far an instance is.
#[derive(Clone, Default)]
enum Reading {
    #[default]
    Ahead,
    Done(Arc<Read>),
    /// It cannot be read, or all of its runs have ended, so that it takes no memory any more.
    Over,
}

struct Read {
    instance: Instance,
    /// The node where a closed tour starts.
    start: Option<u32>,
}

#[derive(Default)]
struct Runs {
    /// Costs of the valid tours.
    costs: Vec<f64>,
    best: Option<Best>,
    /// The unit of costs.
    unit: Unit,
    /// Their reports, if there is a page of them.
    reports: Vec<Report>,
    /// Whether the best tour was not written yet.
    is_newer: bool,
    /// Runs that ended, also those that failed.
    ended: u32,
}

impl Runs {
    /// Keeps the report of a run for the page, which shows the best tour, and the curves of all runs.
    fn keep(&mut self, report: Report) {
        self.reports.push(report);
        let best = self.best.as_ref().map(|best| best.seed);
        let others = self.reports.iter_mut().filter(|report| Some(report.seed) != best);
        others.for_each(Report::forget_route);
    }
}

/// The best tour of an instance's runs.
struct Best {
    forbidden: usize,
    cost: f64,
    seed: u64,
    tour: Vec<u32>,
}

impl Best {
    /// Fewer forbidden pairs are better, then a smaller cost, then a smaller seed: so the best one does not depend on which run ends
    /// first.
    fn is_better_than(&self, other: &Best) -> bool {
        let costs = self.cost.total_cmp(&other.cost);
        self.forbidden.cmp(&other.forbidden).then(costs).then(self.seed.cmp(&other.seed)).is_lt()
    }
}

/// What the runs of an instance have found. Runs without a valid tour are counted, and in no other number.
#[derive(Serialize)]
struct Statistics<'a> {
    instance: &'a str,
    /// Runs with a valid tour.
    runs: usize,
    /// Runs that failed, or whose tour has forbidden pairs.
    without_tour: usize,
    mean: Option<f64>,
    best: Option<f64>,
    best_seed: Option<u64>,
    worst: Option<f64>,
    /// Of a sample; null for a single run.
    standard_deviation: Option<f64>,
}

/// A line of JSON that no run's report can be taken for.
#[derive(Serialize)]
struct Line<'a> {
    statistics: Statistics<'a>,
}

impl<'a> Statistics<'a> {
    fn of(instance: &'a str, runs: &Runs) -> Statistics<'a> {
        let costs = &runs.costs;
        let best = runs.best.as_ref().filter(|best| best.forbidden == 0);
        Statistics {
            instance,
            runs: costs.len(),
            without_tour: runs.ended as usize - costs.len(),
            mean: mean(costs),
            best: best.map(|best| best.cost),
            best_seed: best.map(|best| best.seed),
            worst: costs.iter().copied().max_by(f64::total_cmp),
            standard_deviation: deviation(costs),
        }
    }

    /// Says it in a line, with costs in the same unit as those of single runs.
    fn line(&self, unit: Unit) -> String {
        let Statistics { instance, runs, without_tour, .. } = self;
        let (Some(mean), Some(best), Some(seed), Some(worst)) =
            (self.mean, self.best, self.best_seed, self.worst)
        else {
            return format!("{instance}: no tour in {}", counted(*without_tour, "run"));
        };
        let shown = |cost: f64, own: String| if unit == Unit::Own { own } else { unit.show(cost.into()) };
        let (best, worst) = (shown(best, best.to_string()), shown(worst, worst.to_string()));
        let mean = shown(mean, format!("{mean:.2}"));
        let deviation =
            self.standard_deviation.map_or_else(|| "-".to_owned(), |one| shown(one, format!("{one:.2}")));
        let without = match without_tour {
            0 => String::new(),
            more => format!("; {more} more without a tour"),
        };
        format!(
            "{instance}: {}, mean {mean}, best {best} (seed {seed}), worst {worst}, standard deviation {deviation}{without}",
            counted(*runs, "run")
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

/// Solves each instance as often as `--runs` says. `options` are the ids of the options on the command line.
pub(super) fn run(args: &Args, options: &[String], interrupt: &Arc<AtomicBool>) -> Result<Outcome> {
    let names: Vec<_> = args.instances.iter().map(|path| name(path)).collect();
    args.check_several(options, &names)?;
    args.check_proof(options)?;
    args.check_runs(options)?;
    args.machine.start_threads()?;
    let entry = |(path, name)| Entry { path, name, reading: Mutex::default(), runs: Mutex::default() };
    let json = args.outputs.json.as_ref().map(|output| output.begin(|_| Ok(()))).transpose()?;
    let several = Several {
        args,
        options,
        interrupt,
        entries: args.instances.iter().map(|path| path.as_path()).zip(names).map(entry).collect(),
        next: AtomicUsize::new(0),
        ended: Mutex::new(Ended { json, failed: None, is_unproven: false, is_over: false }),
    };
    let outcome = several.all();
    output::settle();
    outcome
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
            let is_told = self.args.machine.backend == Choice::Auto && !self.args.outputs.quiet;
            if is_told && has_gpu() {
                let why =
                    "uses CPU threads only, though there is a GPU: without it, runs that suit the GPU use it";
                output::tell(&format!("antwarp: --jobs {why}"));
            }
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
        drop(ended);
        if self.interrupt.load(Ordering::Relaxed) {
            // The instances of which some runs were not started.
            for entry in &self.entries {
                let runs = entry.runs();
                if (1..self.runs()).contains(&(runs.ended as usize))
                    && let Err(error) = self.conclude(entry, &runs)
                {
                    self.note(entry, error)?;
                }
            }
            let mut names: Vec<_> =
                left.clone().map(|at| self.entries[at / self.runs()].path.display().to_string()).collect();
            names.dedup();
            if !names.is_empty() {
                output::tell(&format!(
                    "antwarp: {} not started: {}",
                    counted(left.len(), "run"),
                    names.join(", ")
                ));
            }
            return Ok(Outcome::Interrupted);
        }
        let ended = self.ended();
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
                Ok(Some((report, read))) => self.tell(entry, report, &read),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            let mut runs = entry.runs();
            runs.ended += 1;
            let is_last = runs.ended as usize == self.runs();
            let is_newer = std::mem::take(&mut runs.is_newer);
            let delivered = match (is_last, is_newer) {
                (true, _) => {
                    let concluded = self.conclude(entry, &runs);
                    *entry.reading() = Reading::Over;
                    concluded
                }
                (false, true) => self.write_tours(entry, &runs, true),
                (false, false) => Ok(()),
            };
            drop(runs);
            for error in [ended, delivered].into_iter().filter_map(Result::err) {
                self.note(entry, error)?;
            }
        }
    }

    /// Reports an error of an instance. Returns it if it means that results cannot be written.
    fn note(&self, entry: &Entry<'_>, error: Error) -> Result<()> {
        let is_output = matches!(error, Error::Output { .. } | Error::Stdout(_) | Error::Rescued { .. });
        let mut all = self.ended();
        all.is_over |= is_output;
        if is_output {
            return Err(error);
        }
        let status = named(entry.path, error);
        all.failed.get_or_insert(status);
        Ok(())
    }

    /// Makes a run of an instance. Returns nothing if the instance could not be read, which the first run of it reports.
    fn solve(
        &self,
        entry: &Entry<'_>,
        number: u64,
        (choice, backend): (Choice, &mut Option<(Choice, Backend)>),
    ) -> Result<Option<(Report, Arc<Read>)>> {
        let mut why = None;
        // A time limit is that of each run, with its reading.
        patience::until(self.args.stop.time.and_then(|time| Instant::now().checked_add(time)));
        let mut reading = entry.reading();
        if matches!(*reading, Reading::Ahead) {
            let read = self.read(entry.path).map_err(|error| why = Some(error));
            *reading = read.map_or(Reading::Over, |read| Reading::Done(Arc::new(read)));
        }
        drop(reading);
        if let Some(why) = why {
            return Err(why);
        }
        let Some(read) = entry.read() else { return Ok(None) };
        let (args, instance, begin) = (self.args, &read.instance, Instant::now());
        let Asked { algorithm, initial, stop } =
            Asked::check(args, self.options, instance, self.interrupt.clone())?;
        let seed = algorithm.seed().saturating_add(number);
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
        report.set_target(args.stop.target);
        report.set_best_bound(instance, &solution, (None, proof.as_ref()));
        report.set_start(instance, read.start);
        report.seconds = begin.elapsed().as_secs_f64();
        if args.outputs.json.is_some() || args.outputs.html.is_some() {
            report.add_route(instance, &solution.tour);
        }
        if let Some(failure) = solution.failure.take() {
            output::tell(&format!("antwarp: {}: {failure}", entry.path.display()));
            self.ended().failed.get_or_insert(super::super::error::BACKEND);
        }
        if args.prove == Prove::Always && !solution.stopped_by.is_proof() {
            self.ended().is_unproven = true;
        }
        let best =
            Best { forbidden: report.forbidden.len(), cost: report.cost.as_f64(), seed, tour: solution.tour };
        let mut runs = entry.runs();
        runs.unit = instance.unit();
        if best.forbidden == 0 {
            runs.costs.push(best.cost);
        }
        if runs.best.as_ref().is_none_or(|other| best.is_better_than(other)) {
            runs.best = Some(best);
            runs.is_newer = true;
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
        self.write_json(&mut ended, &report)?;
        if !self.args.outputs.quiet {
            let cost = read.instance.unit().show(report.cost);
            let gap = report.gap_percent.map_or_else(String::new, |gap| format!(", gap {gap:.3} %"));
            let seed =
                if self.args.runs.is_some() { format!(", seed {}", report.seed) } else { String::new() };
            let (path, seconds) = (entry.path.display(), report.seconds);
            let line = format!(
                "{path}: {}{seed}, cost {cost}{gap}, {seconds:.2} s, {}",
                counted(report.instance.nodes, "node"),
                stopped(report.stopped_by)
            );
            self.say(&line)?;
        }
        drop(ended);
        let refused = refuse_forbidden(&report, false);
        if self.args.outputs.html.is_some() {
            entry.runs().keep(report);
        }
        refused
    }

    /// Writes a line of JSON, if it was requested.
    fn write_json(&self, ended: &mut Ended, value: &impl Serialize) -> Result<()> {
        let (Some(json), Some(output)) = (&mut ended.json, &self.args.outputs.json) else { return Ok(()) };
        let mut line = serde_json::to_string(value).map_err(|error| output.error(error.into()))?;
        if output.is_stdout() {
            return output::say(&line);
        }
        line.push('\n');
        json.write_all(line.as_bytes()).and_then(|()| json.flush()).map_err(|cause| output.error(cause))
    }

    /// Prints a line: to the standard error if results go to the standard output.
    fn say(&self, line: &str) -> Result<()> {
        if self.args.outputs.all().any(Output::is_stdout) {
            output::tell(line);
            return Ok(());
        }
        output::say(line)
    }

    /// Returns where an instance's result goes, if that is a file, or if it is not.
    fn output(
        &self,
        (entry, are_files): (&Entry<'_>, bool),
        output: &Option<Output>,
        option: &str,
    ) -> Option<Output> {
        let output = match self.entries.len() {
            1 => output.clone(),
            _ => in_folder(output, &entry.name, option),
        };
        output.filter(|output| output.file().is_some() == are_files)
    }

    /// Writes the best tour to all its outputs that are files, or to all others, which can be written only once.
    fn write_tours(&self, entry: &Entry<'_>, runs: &Runs, are_files: bool) -> Result<()> {
        let (Some(Best { tour, .. }), Some(read)) = (&runs.best, entry.read()) else {
            return Ok(());
        };
        let (instance, outputs) = (&read.instance, &self.args.outputs);
        let output = |output, option| self.output((entry, are_files), output, option);
        if let Some(output) = output(&outputs.tour, "--tour") {
            write_tour(&output, instance, tour)?;
        }
        if let Some(output) = output(&outputs.csv, "--csv") {
            write_csv(&output, instance, tour)?;
        }
        Ok(())
    }

    /// Reports the statistics of an instance's runs, once, and writes the best tour. What may have to wait for someone who reads it
    /// comes last.
    fn conclude(&self, entry: &Entry<'_>, runs: &Runs) -> Result<()> {
        // The error of an instance that could not be read is all there is to say.
        let Some(read) = entry.read() else { return Ok(()) };
        let write = |are_files: bool| {
            let tours = self.write_tours(entry, runs, are_files);
            let pictures = self.write_pictures((entry, &read), runs, are_files);
            tours.and(pictures)
        };
        let report = || {
            if self.args.runs.is_none() {
                return Ok(());
            }
            let name = entry.path.display().to_string();
            let line = Line { statistics: Statistics::of(&name, runs) };
            self.write_json(&mut self.ended(), &line)?;
            if self.args.outputs.quiet { Ok(()) } else { self.say(&line.statistics.line(runs.unit)) }
        };
        // Whatever one of them cannot be written for, the others are.
        let (files, said, others) = (write(true), report(), write(false));
        files.and(said).and(others)
    }

    /// Writes the page and the drawings of the best tour, as [`Self::write_tours`] does.
    fn write_pictures(&self, (entry, read): (&Entry<'_>, &Read), runs: &Runs, are_files: bool) -> Result<()> {
        let Some(Best { tour, seed, .. }) = &runs.best else { return Ok(()) };
        let outputs = &self.args.outputs;
        let output = |output, option| self.output((entry, are_files), output, option);
        if let Some(output) = output(&outputs.html, "--html") {
            // The page takes the places from the first run.
            let is_best = |report: &&Report| report.seed == *seed;
            let (best, others): (Vec<_>, Vec<_>) = runs.reports.iter().partition(is_best);
            output.write(|out| page::write(out, best.into_iter().chain(others)))?;
        }
        for drawing in &DRAWINGS {
            match (output((drawing.output)(outputs), drawing.option), drawing.missing(&read.instance)) {
                (Some(_), Some(missing)) => {
                    let (path, option) = (entry.path.display(), drawing.option);
                    output::tell(&format!("antwarp: {path} {missing}, so it gets no file of {option}"));
                }
                (Some(output), None) => drawing.write(&output, &read.instance, tour, read.start)?,
                (None, _) => {}
            }
        }
        Ok(())
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
