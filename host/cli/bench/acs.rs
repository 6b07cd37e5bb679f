//! `antwarp bench acs`: the variants of Ant Colony System.

use serde_json::json;

use super::super::options::{Iterations, whole};
use super::super::{Error, Outcome, Result};
use super::colony::{self, measure_ants};
use super::table::{Column, FEWEST_SIGNED, How::Mean, Suite};
use super::{Bench, Cell, Common, FOREIGN_ENDS, wrong_algorithm};
use crate::backend::Backend;
use crate::engine::Stop;
use crate::solver::Algorithm;
use crate::solver::acs::{AcsSettings, Pheromone};

/// Arguments of `antwarp bench acs`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Total number of tours per run, instead of a number of iterations: with more ants there are fewer iterations
    #[arg(long, value_name = "N|Xn", conflicts_with_all = ["iterations", "time"])]
    tours: Option<Iterations>,
    /// Number of runs at the same time, each with its own colony. No times are measured then
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = whole::<u32>(1..=256),
        conflicts_with = "time"
    )]
    parallel: u32,
    /// Atomic variants on a GPU: one launch per choice and per update instead of one per iteration
    #[arg(long)]
    each_phase: bool,
    /// Count how often an updated trail is found in selective memory: the hit ratio. CPU only; makes times longer
    #[arg(long)]
    hits: bool,
    /// Published mean gaps in percent, one per line of the table, - for none: Wilcoxon tests compare our gaps with them. Needs six
    /// seeds
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true, value_parser = published)]
    against: Vec<Option<f64>>,
    #[command(flatten)]
    common: Common,
}

/// Parses a published gap; a dash means none.
fn published(text: &str) -> std::result::Result<Option<f64>, String> {
    match text.parse::<f64>() {
        Ok(gap) if gap.is_finite() => Ok(Some(gap)),
        _ if text == "-" => Ok(None),
        _ => Err("give a gap in percent such as 3.23, or `-`".to_owned()),
    }
}

/// The tables of the suite.
pub const SUITE: Suite = Suite { name: "acs", columns: &COLUMNS, sizes: &[], curve: &[] };

const COLUMNS: [Column; 5] = {
    let [build, rest, total, tours] = *colony::COLUMNS;
    [build, rest, total, tours, ("hit ratio", "hit_ratio", Mean, 4)]
};

/// The parameters that the paper varies.
const DEFAULTS: [&str; 3] = [
    "pheromone+update=matrix+atomic,matrix+relaxed,candidate+relaxed,selective+relaxed",
    "ants=n",
    "iterations=1000",
];

/// Measures and prints.
pub fn run(args: &Args) -> Result<Outcome> {
    let mut bench = Bench::of_tours(&args.common, &FOREIGN_ENDS)?;
    bench.given.extend(args.tours.map(|_| "iterations".to_owned()));
    let mut cells = bench.cells(&["--algorithm=acs"], &DEFAULTS)?;
    for cell in &mut cells {
        args.add_to(cell, &bench)?;
    }
    args.compare(&mut cells)?;
    let backend = bench.open(&cells)?;
    for cell in cells.iter().filter(|_| args.hits) {
        if !has_rings(&bench, cell)? {
            let what = "--hits works with selective memory only: give -- --pheromone selective";
            return Err(Error::Usage(what.to_owned()));
        }
    }
    if args.hits && !matches!(backend, Backend::Cpu(_)) {
        return Err(Error::Usage("--hits works on CPU threads only: give --backend cpu".to_owned()));
    }
    let run = |cell: &Cell, seed, backend: &Backend| {
        let asked = bench.asked(cell, seed)?;
        let Algorithm::Acs(settings) = &asked.algorithm else { return Err(wrong_algorithm()) };
        let problem = &bench.problem(cell, Some(settings.candidates), settings.listed(), true)?;
        let mut spec = settings.spec(problem, backend, &Stop::never());
        spec.each_phase = args.each_phase;
        spec.counts_hits = args.hits;
        let mut colony = backend.acs(problem, &spec)?;
        let (instance, ants) = (&bench.instances[cell.at], spec.ants);
        let mut measured = measure_ants(
            &asked,
            (instance, problem),
            (colony.as_mut(), ants),
            (backend, args.parallel == 1),
        )?;
        if let Some(measured) = &mut measured {
            measured.values.push(("pheromone_bytes", json!(spec.memory_bytes(problem))));
            measured.values.extend(colony.hit_ratio().map(|ratio| ("hit_ratio", json!(ratio))));
        }
        Ok(measured)
    };
    bench.measure(&SUITE, (backend, args.parallel), &cells, run)
}

/// Returns whether a cell uses selective memory.
fn has_rings(bench: &Bench<'_>, cell: &Cell) -> Result<bool> {
    let algorithm = bench.asked(cell, 1)?.algorithm;
    Ok(matches!(algorithm, Algorithm::Acs(AcsSettings { pheromone: Pheromone::Selective, .. })))
}

impl Args {
    /// Adds to a cell what is not an option of solve.
    fn add_to(&self, cell: &mut Cell, bench: &Bench<'_>) -> Result<()> {
        if self.each_phase {
            cell.settings.insert("each-phase".to_owned(), json!(true));
        }
        if self.parallel > 1 {
            cell.settings.insert("parallel".to_owned(), json!(self.parallel));
        }
        let Some(tours) = self.tours else { return Ok(()) };
        let Algorithm::Acs(AcsSettings { ants: Some(ants), .. }) = bench.asked(cell, 1)?.algorithm else {
            return Err(Error::Usage("--tours needs a number of ants".to_owned()));
        };
        let iterations = (tours.count(cell.n) as f64 / f64::from(ants)).round().max(1.0);
        cell.line.push(format!("--iterations={iterations}").into());
        cell.settings.insert("tours".to_owned(), json!(tours.to_string()));
        Ok(())
    }

    /// Assigns the published gaps to cells. Rejects those that cannot be compared.
    fn compare(&self, cells: &mut [Cell]) -> Result<()> {
        let (given, lines, seeds) = (self.against.len(), cells.len(), self.common.seeds as usize);
        let refuse = |what: String| Err(Error::Usage(format!("--against {what}")));
        if given == 0 {
            return Ok(());
        }
        if given != lines {
            return refuse(format!("needs a gap for each of the {lines} lines, or `-`; {given} are given"));
        }
        if seeds < FEWEST_SIGNED {
            return refuse(format!(
                "compares at least {FEWEST_SIGNED} runs: give --seeds {FEWEST_SIGNED} or more"
            ));
        }
        for (cell, published) in cells.iter_mut().zip(&self.against) {
            if published.is_some() && cell.known.is_none() {
                let name = &cell.instance;
                return refuse(format!(
                    "has a gap for {name}, whose best known length is missing: give `-` for it"
                ));
            }
            cell.published = *published;
        }
        Ok(())
    }
}
