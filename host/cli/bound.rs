//! `antwarp bound`: a lower bound on the length of every tour.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use serde_json::json;

use super::options::{duration, whole};
use super::output::{self, Output};
use super::reading::{ReadingArgs, announce_tour};
use super::shape::ShapeArgs;
use super::{Error, Outcome, Result, signals};
use crate::bound;
use crate::engine::{Deadline, Stop};
use crate::instance::{Instance, counted, patience, tour_file};
use crate::memory;
use crate::report::{InstanceFacts, gap_percent, shape_text};
use crate::solver::bounds::{self, Best};
use crate::solver::cutting_planes;

/// Arguments of `antwarp bound`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "No tour is shorter than the bound. Spanning trees give the bound of Held and Karp, 0.7 to 0.8 % below the optimum for random places. With --time, cutting planes raise it; they need the HiGHS library."
)]
pub struct Args {
    /// An instance file, or the name of a generated instance such as E10k.0
    #[arg(value_name = "FILE|NAME")]
    instance: PathBuf,
    /// Number of spanning trees to compute; if not given, 4000 for up to 5000 nodes, fewer for more, and 120 from 166,000 nodes on
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1 << 20))]
    trees: Option<u32>,
    /// Find the best bound within this time, such as 10s, from the start of the command: by spanning trees, then by cutting planes
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// A tour for cutting planes to start from; if not given, one is searched for in a tenth of the time
    #[arg(long, value_name = "FILE", requires = "time")]
    initial_tour: Option<PathBuf>,
    /// CPU threads; all cores if not given
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1024))]
    threads: Option<u32>,
    /// Write the result as JSON; - is the standard output
    #[arg(long, value_name = "FILE|-")]
    json: Option<Output>,
    #[command(flatten)]
    shape: ShapeArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// The least time that is suggested.
const SUGGESTED: Duration = Duration::from_secs(10);

/// Computes a bound and prints it.
pub fn run(args: Args) -> Result<Outcome> {
    let begin = Instant::now();
    let interrupt = signals::watch("stopping with the best bound so far")?;
    patience::until(args.time.and_then(|time| begin.checked_add(time)));
    args.shape.refuse_start_alone()?;
    let tour = args.initial_tour.as_deref().map(|path| ("the initial tour", path));
    let inputs: Vec<_> =
        [(output::INSTANCE, &*args.instance)].into_iter().chain(tour).chain(args.shape.files()).collect();
    output::check(args.json.as_slice(), &inputs)?;
    super::options::start_threads(args.threads, None)?;
    let (instance, _) = args.shape.apply(args.reading.open(&args.instance)?)?;
    bounds::check(&instance)?;
    let no_room = |shortage| Error::RunFailed(format!("not enough main memory for the bound: {shortage}"));
    memory::check(bound::memory(&instance) as u64).map_err(no_room)?;
    let stop = Stop { time: args.time, interrupt, ..Stop::never() };
    let since = Instant::now();
    let Some(best) = best(&args, &instance, Deadline::since(begin, &stop))? else {
        return without_bound(&stop);
    };
    let seconds = since.elapsed().as_secs_f64();
    if let Some(output) = &args.json {
        let facts = InstanceFacts::new(&instance, &args.instance);
        let found = json!({
            "length": instance.lower_bound(best.length()),
            "method": best.method(),
            "trees": best.trees.trees,
            "priced_in": best.trees.priced_in,
            "cuts": best.cuts.as_ref().map(|found| found.cuts),
            "seconds": seconds,
        });
        let value = json!({ "antwarp": env!("CARGO_PKG_VERSION"), "instance": facts, "bound": found });
        output.write(|out| writeln!(out, "{value}"))?;
    }
    if !args.json.as_ref().is_some_and(Output::is_stdout) {
        let text = text(&instance, &best, (seconds, args.time));
        output::deliver(|out| out.write_all(text.as_bytes()))?;
    }
    Ok(if stop.interrupt.load(Relaxed) { Outcome::Interrupted } else { Outcome::Done })
}

/// Finds the best bound; `None` if the time was up before there was one.
fn best(args: &Args, instance: &Instance, deadline: Deadline<'_>) -> Result<Option<Best>> {
    let tour = args.initial_tour.as_ref().map(|path| tour_file::read_with(path, instance)).transpose()?;
    tour.iter().for_each(announce_tour);
    let initial = tour.as_ref().map(|tour| &tour.nodes[..]);
    let mut tell = |what: String| output::tell(&format!("antwarp: {what}"));
    Ok(bounds::best(instance, (args.trees, initial), deadline, &mut tell)?)
}

/// Ends a run that was over before anything was priced.
fn without_bound(stop: &Stop) -> Result<Outcome> {
    if !stop.interrupt.load(Relaxed) {
        return Err(Error::Usage("the time was up before a bound was found: give more `time`".into()));
    }
    output::tell("antwarp: interrupted before a bound was found");
    Ok(Outcome::Interrupted)
}

/// Returns the report, with one fact per line.
fn text(instance: &Instance, best: &Best, (seconds, time): (f64, Option<Duration>)) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &format!("{name:<12} {value}\n");
    line("instance", format!("{}, {}", instance.name(), counted(instance.len(), "node")));
    if let Some(shape) = shape_text(instance) {
        line("shape", shape);
    }
    let length = instance.unit().show(instance.lower_bound(best.length()));
    line("bound", format!("{length}: no tour is shorter"));
    if instance.is_impossible(best.length()) {
        line("forbidden", "every tour has a forbidden pair".to_owned());
    }
    if let Some(known) = instance.best_known() {
        let kind = if known.proven { "the optimum" } else { "the best tour known" };
        let above = gap_percent(known.cost, best.length());
        let above = above.map_or_else(String::new, |above| format!(", {above:.3} % above the bound"));
        let text = if known.cost < best.length() {
            crate::report::summary::published_below_bound(known.cost)
        } else {
            format!("{}, {kind}{above}", known.cost)
        };
        line("best known", text);
    }
    let count = match &best.cuts {
        Some(found) => counted(found.cuts as usize, "cut"),
        None => counted(best.trees.trees as usize, "tree"),
    };
    line("method", format!("{}, {count}{}", best.method(), hint(instance, best, time)));
    line("time", format!("{seconds:.2} s"));
    text
}

/// Returns in which time cutting planes find a better bound, if that is longer than the one that was given.
fn hint(instance: &Instance, best: &Best, time: Option<Duration>) -> String {
    let is_optimal = instance.best_known().is_some_and(|known| known.cost == best.length());
    match cutting_planes::least_time(instance) {
        Some(least) if !is_optimal && time.is_none_or(|time| time < least) => {
            let seconds = least.max(SUGGESTED).as_secs_f64().ceil();
            format!("; `--time {seconds}s` may find a better bound by cutting planes")
        }
        _ => String::new(),
    }
}
