//! `antwarp bound`: a lower bound on the length of every tour.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use serde_json::json;

use super::options::duration;
use super::output::{self, Output};
use super::reading::ReadingArgs;
use super::shape::ShapeArgs;
use super::{Error, Outcome, Result, signals};
use crate::bound::{self, Bound};
use crate::engine::Stop;
use crate::instance::{Instance, InstanceError, patience};
use crate::memory;
use crate::report::{InstanceFacts, gap_percent, shape_text};

/// How long edges may be priced after an interrupt: without pricing, the last steps would be wasted.
const PATIENCE: Duration = Duration::from_secs(1);

/// Arguments of `antwarp bound`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The bound of Held and Karp: no tour is shorter. For random places it is 0.7 to 0.8 % below the optimum."
)]
pub struct Args {
    /// An instance file, or the name of a generated instance such as E10k.0
    #[arg(value_name = "FILE|NAME")]
    instance: PathBuf,
    /// Number of spanning trees to compute; if not given, 4000 for up to 5000 nodes, fewer for more, and 120 from 166,000 nodes on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    trees: Option<u32>,
    /// Stop after this time, such as 10s, from the start of the command; the ascent ends somewhat earlier, to leave time for
    /// pricing edges
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// CPU threads; all cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Write the result as JSON; - is the standard output
    #[arg(long, value_name = "FILE|-")]
    json: Option<Output>,
    #[command(flatten)]
    shape: ShapeArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// Computes a bound and prints it.
pub fn run(args: Args) -> Result<Outcome> {
    let begin = Instant::now();
    let interrupt = signals::watch()?;
    patience::until(args.time.and_then(|time| begin.checked_add(time)));
    args.shape.refuse_start_alone()?;
    let inputs: Vec<_> =
        [(output::INSTANCE, &*args.instance)].into_iter().chain(args.shape.files()).collect();
    output::check(args.json.as_slice(), &inputs)?;
    super::options::start_threads(args.threads, None)?;
    let (instance, _) = args.shape.apply(args.reading.open(&args.instance)?)?;
    check(&instance)?;
    let no_room = |shortage| Error::RunFailed(format!("not enough main memory for the bound: {shortage}"));
    memory::check(bound::memory(&instance) as u64).map_err(no_room)?;
    let time = args.time.map(|time| time.saturating_sub(begin.elapsed()));
    let stop = Stop { time, interrupt, ..Stop::never() };
    let interrupted = OnceLock::new();
    let enough = || {
        let is_late = || interrupted.get_or_init(Instant::now).elapsed() >= PATIENCE;
        args.time.is_some_and(|time| begin.elapsed() >= time) || (stop.interrupt.load(Relaxed) && is_late())
    };
    let Some(bound) = bound::held_karp(&instance, args.trees, &stop, &enough) else {
        return without_bound(&stop);
    };
    if let Some(output) = &args.json {
        let facts = InstanceFacts::new(&instance, &args.instance);
        let length = instance.lower_bound(bound.length);
        let found = json!({ "length": length, "trees": bound.trees, "priced_in": bound.priced_in, "seconds": bound.seconds });
        let value = json!({ "antwarp": env!("CARGO_PKG_VERSION"), "instance": facts, "bound": found });
        output.write(|out| writeln!(out, "{value}"))?;
    }
    if !args.json.as_ref().is_some_and(Output::is_stdout) {
        output::deliver(|out| out.write_all(text(&instance, bound).as_bytes()))?;
    }
    Ok(if stop.interrupt.load(Relaxed) { Outcome::Interrupted } else { Outcome::Done })
}

/// Rejects instances without a bound.
pub(super) fn check(instance: &Instance) -> Result<()> {
    if bound::is_possible(instance) {
        return Ok(());
    }
    let problem = format!("has {} nodes; bounds on open paths are computed for up to 3,000", instance.len());
    Err(InstanceError::content(instance.name(), problem, "ask for a bound on closed tours, or for none")
        .into())
}

/// Ends a run that was over before anything was priced.
fn without_bound(stop: &Stop) -> Result<Outcome> {
    if !stop.interrupt.load(Relaxed) {
        return Err(Error::Usage("the time was up before a bound was found: give more `time`".into()));
    }
    output::tell("antwarp: interrupted before a bound was found");
    Ok(Outcome::Interrupted)
}

fn text(instance: &Instance, bound: Bound) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &format!("{name:<12} {value}\n");
    line("instance", format!("{}, {} nodes", instance.name(), instance.len()));
    if let Some(shape) = shape_text(instance) {
        line("shape", shape);
    }
    let length = instance.unit().show(instance.lower_bound(bound.length));
    line("bound", format!("{length}: no tour is shorter"));
    if instance.is_impossible(bound.length) {
        line("forbidden", "every tour has a forbidden pair".to_owned());
    }
    if let Some(known) = instance.best_known() {
        let kind = if known.proven { "the optimum" } else { "the best tour known" };
        let above = gap_percent(known.cost, bound.length);
        let above = above.map_or_else(String::new, |above| format!(", {above:.3} % above the bound"));
        line("best known", format!("{}, {kind}{above}", known.cost));
    }
    line("time", format!("{:.2} s, {} trees", bound.seconds, bound.trees));
    text
}
