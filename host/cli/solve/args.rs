//! The arguments of `antwarp solve`, as they were given, and which algorithms they are for.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::super::options::{Candidates, Iterations, MachineArgs, duration, finite, iterations_or_none};
use super::super::output::Output;
use super::super::reading::ReadingArgs;
use super::super::{Error, Result};
use crate::cluster::Topology;
use crate::engine::start::Start;
use crate::engine::{LocalSearch, Stop};
use crate::instance::{Ends, Instance, ReadOptions};
use crate::solver::acs::{self, Greedy, Pheromone, Remember, Update};
use crate::solver::genetic::{self, Crossover, Initial, Pairing};
use crate::solver::ils::{self, Acceptance, Improvement, Moves, NeighborKind};
use crate::solver::mmas::{self, Selection, TabuKind};

/// How long a run lasts if nothing says when to stop.
const DEFAULT_TIME: Duration = Duration::from_secs(10);

/// Arguments of `antwarp solve`, as they were given.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A TSPLIB or CSV file, or the name of a generated instance such as E10k.0
    #[arg(value_name = "FILE|NAME")]
    pub(super) instance: PathBuf,
    /// The algorithm; if not given, lk, mmas where edges have a direction, or ils where an option asks for it
    #[arg(long, value_enum)]
    pub(super) algorithm: Option<Name>,
    /// Seed of all random numbers: the same seed gives the same tour after as many iterations, but for acs with relaxed updates
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Look for a lower bound beside the run, which tells how far from the optimum the tour is at most; without it, where no optimum is
    /// known and it costs next to nothing
    #[arg(long)]
    pub(super) bound: bool,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
    /// Of several ranks (docs/cluster.md): whom each sends its tours to
    #[arg(long, value_enum, default_value_t = Topology::default(), help_heading = "Machine")]
    pub(super) topology: Topology,
    #[command(flatten)]
    pub(super) ends: EndsArgs,
    #[command(flatten)]
    pub(super) stop: StopArgs,
    #[command(flatten)]
    pub(super) search: SearchArgs,
    #[command(flatten)]
    pub(super) colony: ColonyArgs,
    #[command(flatten)]
    pub(super) genetic: GeneticArgs,
    #[command(flatten)]
    pub(super) outputs: Outputs,
    #[command(flatten)]
    pub(super) reading: ReadingArgs,
}

/// The algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Name {
    /// Chained Lin-Kernighan
    Lk,
    /// Iterated local search
    Ils,
    /// MAX-MIN Ant System
    Mmas,
    /// Ant Colony System
    Acs,
    /// Genetic algorithm
    Ga,
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Name::Lk => "lk",
            Name::Ils => "ils",
            Name::Mmas => "mmas",
            Name::Acs => "acs",
            Name::Ga => "ga",
        })
    }
}

const ILS: &[Name] = &[Name::Ils];
pub(super) const TOURS: &[Name] = &[Name::Lk, Name::Ils];
const STEPS: &[Name] = &[Name::Ils, Name::Mmas, Name::Acs, Name::Ga];
const MMAS: &[Name] = &[Name::Mmas];
const ACS: &[Name] = &[Name::Acs];
const GA: &[Name] = &[Name::Ga];
const ANTS: &[Name] = &[Name::Mmas, Name::Acs];

/// The options that not every algorithm uses, by their ids, and those that do.
pub(super) const OPTIONS: [(&str, &[Name]); 43] = [
    ("improvement", ILS),
    ("moves", ILS),
    ("start_tour", TOURS),
    ("initial_tour", TOURS),
    ("neighbor_lists", TOURS),
    ("segment", ILS),
    ("walk", TOURS),
    ("accept", ILS),
    ("temperature", TOURS),
    ("chains", TOURS),
    ("trials", TOURS),
    ("local_search", STEPS),
    ("breadth", STEPS),
    ("ants", ANTS),
    ("candidates", ANTS),
    ("alpha", ANTS),
    ("beta", ANTS),
    ("rho", ANTS),
    ("selection", MMAS),
    ("tabu", MMAS),
    ("p_best", MMAS),
    ("deposit", MMAS),
    ("reset_after", MMAS),
    ("warps", MMAS),
    ("pheromone", ACS),
    ("slots", ACS),
    ("remember", ACS),
    ("greedy", ACS),
    ("update", ACS),
    ("update_period", ACS),
    ("q0", ACS),
    ("descent_only", TOURS),
    ("crossover", GA),
    ("population", GA),
    ("groups", GA),
    ("transfer_every", GA),
    ("children", GA),
    ("mutation", GA),
    ("pairing", GA),
    ("improve_best", GA),
    ("initial", GA),
    ("resume", GA),
    ("save_population", GA),
];

/// Leaves the settings of algorithms out of the short help.
pub fn shorten_help(command: clap::Command) -> clap::Command {
    let is_setting = |id: &clap::Id| OPTIONS.iter().any(|(setting, _)| id == setting);
    command
        .mut_args(|option| {
            // Files, and what every run may have, are no settings.
            let shown = ["algorithm", "initial_tour", "resume", "save_population", "descent_only"];
            let hidden = is_setting(option.get_id()) && !shown.contains(&option.get_id().as_str());
            let hidden = hidden || ["local_search", "neighbors"].contains(&option.get_id().as_str());
            let hidden = hidden || matches!(option.get_help_heading(), Some("Reading" | "Tour"));
            option.hide_short_help(hidden)
        })
        .after_help("Each algorithm has settings of its own: --help lists them.")
        .after_long_help("")
}

/// Refuses options of other algorithms: they would do nothing. `given` are the ids of those on the command line.
pub(super) fn refuse_foreign(given: &[String], name: Name) -> Result<()> {
    let is_foreign =
        |(id, users): &&(&str, &[Name])| !users.contains(&name) && given.iter().any(|option| option == id);
    let Some((id, users)) = OPTIONS.iter().find(is_foreign) else { return Ok(()) };
    let users = users.iter().map(Name::to_string).collect::<Vec<_>>().join(" and ");
    let option = id.replace('_', "-");
    Err(Error::Usage(format!("--{option} is for --algorithm {users}; this run uses {name}")))
}

/// Refuses options that a way to improve does not use.
pub(super) fn refuse_by_improvement(given: &[String], improvement: Improvement) -> Result<()> {
    let (foreign, other): (&[&str], _) = match improvement {
        Improvement::First => (&["moves", "segment", "breadth"], "best"),
        Improvement::Best => (&["chains", "trials", "walk"], "first"),
    };
    match foreign.iter().find(|id| given.iter().any(|option| option == **id)) {
        Some(id) => Err(Error::Usage(format!("--{id} is for --improvement {other}"))),
        None => Ok(()),
    }
}

/// Refuses options of kicks where there are none, and a temperature where nothing is annealed.
pub(super) fn refuse_by_kicks(args: &Args, given: &[String]) -> Result<()> {
    let is_given = |id: &&&str| given.iter().any(|option| option == **id);
    let kicks = ["accept", "temperature", "walk", "trials", "segment"];
    if let Some(id) = kicks.iter().find(is_given).filter(|_| args.stop.descent_only) {
        return Err(Error::Usage(format!("--{id} is about kicks, and --descent-only makes none")));
    }
    if args.search.accept != Acceptance::Annealing && is_given(&&"temperature") {
        return Err(Error::Usage("--temperature is for --accept annealing".to_owned()));
    }
    Ok(())
}

/// Refuses options that a crossover does not use.
pub(super) fn refuse_by_crossover(given: &[String], crossover: Crossover) -> Result<()> {
    let is_eax = crossover == Crossover::Eax;
    let (foreign, why): (&[&str], _) = if is_eax {
        (&["mutation", "pairing", "improve_best"], "does nothing with")
    } else {
        (&["children"], "is for")
    };
    match foreign.iter().find(|id| given.iter().any(|option| option == **id)) {
        Some(id) => Err(Error::Usage(format!("--{} {why} --crossover eax", id.replace('_', "-")))),
        None => Ok(()),
    }
}

/// Refuses options that are for a selective memory, where there is another one.
pub(super) fn refuse_by_pheromone(given: &[String], pheromone: Pheromone) -> Result<()> {
    let foreign =
        ["slots", "remember", "greedy"].into_iter().find(|id| given.iter().any(|option| option == id));
    match foreign.filter(|_| pheromone != Pheromone::Selective) {
        Some(id) => Err(Error::Usage(format!("--{id} is for --pheromone selective"))),
        None => Ok(()),
    }
}

/// Where tours begin and end.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Tour")]
pub(super) struct EndsArgs {
    /// An open path instead of a closed tour, of up to 16 nodes
    #[arg(long)]
    pub(super) open: bool,
    /// The node where the tour starts, by its number or name in the file
    #[arg(long, value_name = "NODE")]
    pub(super) start: Option<String>,
    /// The node where the open path ends
    #[arg(long, value_name = "NODE", requires = "open")]
    pub(super) end: Option<String>,
}

/// When to stop.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Stop (the first of these; 10 s if none; a proven optimum always)")]
pub(super) struct StopArgs {
    /// After this time, such as 10s or 2m, from the begin of the command
    #[arg(long, value_parser = duration)]
    pub(super) time: Option<Duration>,
    /// After this many iterations, such as 1000, or 10n for ten times as many as nodes; of lk and ils, kicks of each tour; of
    /// ga, generations of this run, and with 0 the first genes are all
    #[arg(long, value_name = "N|Xn", value_parser = iterations_or_none)]
    pub(super) iterations: Option<Iterations>,
    /// At a tour this short
    #[arg(long, value_name = "COST", allow_negative_numbers = true, value_parser = finite)]
    pub(super) target: Option<f64>,
    /// lk and ils: at the first local optimum, without kicks
    #[arg(long, conflicts_with_all = ["iterations", "stagnation"])]
    pub(super) descent_only: bool,
    /// After this many iterations without a better tour
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) stagnation: Option<u64>,
}

/// Settings of local search.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Local search")]
pub(super) struct SearchArgs {
    /// The operator that improves tours: those of the chains, those of the ants, or children, with --crossover eax the
    /// first genes alone; ils takes three-opt if not given
    #[arg(long, value_enum)]
    pub(super) local_search: Option<LocalSearch>,
    /// ils: which improving move is made: the best around a node, at many places at the same time, or the best of the whole tour
    #[arg(long, value_enum, default_value_t = Improvement::default())]
    pub(super) improvement: Improvement,
    /// ils, with --improvement best: how many moves are made at a time
    #[arg(long, value_enum, default_value_t = Moves::default())]
    pub(super) moves: Moves,
    /// lk and ils: the start tour; greedy if not given, but for lk on lattices quick-boruvka
    #[arg(long, value_enum)]
    pub(super) start_tour: Option<Start>,
    /// lk and ils: begin with the tour of this file instead
    #[arg(long, value_name = "FILE", conflicts_with = "start_tour")]
    pub(super) initial_tour: Option<PathBuf>,
    /// Neighbours in a node's list; if not given 12 for ils, 20 for ants where edges have a direction, 32 for their 2-opt, and 8 for all others
    #[arg(long, value_name = "N")]
    pub(super) neighbors: Option<u32>,
    /// lk and ils: which neighbours a list holds
    #[arg(long, value_enum, default_value_t = NeighborKind::default())]
    pub(super) neighbor_lists: NeighborKind,
    /// Neighbours that the second step of a move looks at; if not given 10 for ants where edges have a direction, else 5; ils: with
    /// --improvement best
    #[arg(long, value_name = "N")]
    pub(super) breadth: Option<u32>,
    /// lk and ils: steps of the random walks that lead from a kick's first edge to the others; if not given 20, then 40 from a kick a node on,
    /// 80 from 16 on, and 80 on lattices
    #[arg(long, value_name = "N")]
    pub(super) walk: Option<u32>,
    /// ils, with --improvement best: longest segment of a kick's double bridge; 0: four edges anywhere
    #[arg(long, value_name = "N", default_value_t = ils::IlsSettings::default().segment)]
    pub(super) segment: u32,
    /// ils: when a tour takes the place of the one before
    #[arg(long, value_enum, default_value_t = Acceptance::default())]
    pub(super) accept: Acceptance,
    /// lk and ils: temperature at the start of annealing, in mean edges of the start tour
    #[arg(long, value_name = "F", default_value_t = ils::IlsSettings::default().temperature)]
    pub(super) temperature: f32,
    /// lk and ils: tours that are worked on at the same time; chosen by the number of nodes if not given
    #[arg(long, value_name = "N")]
    pub(super) chains: Option<u32>,
    /// lk and ils: kicks of each tour in a round, at whose end they are put together; chosen by the number of nodes if not given
    #[arg(long, value_name = "N")]
    pub(super) trials: Option<u32>,
}

/// Settings of the ant colony.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Ant colony")]
pub(super) struct ColonyArgs {
    /// Ants: tours an iteration; chosen by the number of nodes if not given
    #[arg(long, value_name = "N")]
    pub(super) ants: Option<u32>,
    /// Candidates of a node: its nearest N, or, for mmas, all
    #[arg(long, value_name = "N|all", default_value_t = Candidates::Nearest(32))]
    pub(super) candidates: Candidates,
    /// mmas: node selection: weighted reservoir sampling, or roulette wheel
    #[arg(long, value_enum, default_value_t = Selection::default())]
    pub(super) selection: Selection,
    /// mmas: how an ant remembers where it was
    #[arg(long, value_enum, default_value_t = TabuKind::default())]
    pub(super) tabu: TabuKind,
    /// mmas: exponent of the pheromone trail, 1 if not given; acs: share of a trail of the best tour that an iteration
    /// replaces, 0.2
    #[arg(long, value_name = "F")]
    pub(super) alpha: Option<f32>,
    /// Exponent of the heuristic value, 1 / distance; 2 for mmas and 3 for acs if not given
    #[arg(long, value_name = "F")]
    pub(super) beta: Option<f32>,
    /// mmas: share of a trail that stays when it evaporates, 0.3 with --local-search lk and 0.9 without if not given; acs:
    /// share of a trail that an ant replaces as it passes, 0.01
    #[arg(long, value_name = "F")]
    pub(super) rho: Option<f64>,
    /// mmas: probability of building the best tour once the colony has converged
    #[arg(long, value_name = "F", default_value_t = mmas::MmasSettings::default().p_best)]
    pub(super) p_best: f64,
    /// mmas: which tour deposits; with --local-search lk the best since the last reset, with other local search mixed, the
    /// iteration's best without, if not given
    #[arg(long, value_name = "RULE")]
    pub(super) deposit: Option<mmas::Deposit>,
    /// mmas: reset the trails after N iterations without a better tour since the last reset; 0: never. 5 with
    /// --local-search lk, 500 with other local search, never without, if not given
    #[arg(long, value_name = "N")]
    pub(super) reset_after: Option<u32>,
    /// mmas: warps an ant on a GPU without candidate lists; measured if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) warps: Option<u32>,
    /// acs: which edges have a pheromone trail: all, those to candidates, or the few that each node's ring took in last
    #[arg(long, value_enum, default_value_t = Pheromone::default())]
    pub(super) pheromone: Pheromone,
    /// acs: edges that a node of a selective pheromone memory remembers
    #[arg(long, value_name = "N", default_value_t = acs::AcsSettings::default().slots)]
    pub(super) slots: u32,
    /// acs: which edges a selective pheromone memory takes in: those of best tours, or all that ants take; best on CPU
    /// threads and taken on a GPU if not given
    #[arg(long, value_enum)]
    pub(super) remember: Option<Remember>,
    /// acs: what a greedy step with a selective pheromone memory chooses among: open candidates, or also the other edges
    /// that the node remembers
    #[arg(long, value_enum, default_value_t = Greedy::default())]
    pub(super) greedy: Greedy,
    /// acs: how ants go, and how their updates of trails meet: whole tours and relaxed, step by step together and
    /// atomic, or step by step one after the other on one CPU thread
    #[arg(long, value_enum, default_value_t = Update::default())]
    pub(super) update: Update,
    /// acs: every N-th edge that an ant takes is updated; 0: none; 1 if not given, and 4 from 5,000 nodes on without local
    /// search where a selective memory takes in all edges
    #[arg(long, value_name = "N")]
    pub(super) update_period: Option<u32>,
    /// acs: probability of taking the best edge; (n - 20) / n if not given
    #[arg(long, value_name = "F")]
    pub(super) q0: Option<f64>,
}

/// Settings of the genetic algorithm.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Genetic algorithm")]
pub(super) struct GeneticArgs {
    /// ga: how children are made of their parents
    #[arg(long, value_enum, default_value_t = Crossover::default())]
    pub(super) crossover: Crossover,
    /// ga: genes, a multiple of 4 times --groups, for eax of --groups; 2048 and for eax 300 if not given, or those of
    /// --resume, of whose number it is a multiple
    #[arg(long, value_name = "N")]
    pub(super) population: Option<u32>,
    /// ga: groups that evolve on their own; 8, and 1 for eax, if not given
    #[arg(long, value_name = "N")]
    pub(super) groups: Option<u32>,
    /// ga: generations between transfers of each group's best gene to another group; 0: never; 20, and 0 for eax, if not
    /// given
    #[arg(long, value_name = "N")]
    pub(super) transfer_every: Option<u32>,
    /// ga, with --crossover eax: of so many children of a pair at a time the best one is made
    #[arg(long, value_name = "N", default_value_t = genetic::GeneticSettings::default().children)]
    pub(super) children: u32,
    /// ga, not with --crossover eax: share of the children that mutate
    #[arg(long, value_name = "F", default_value_t = genetic::GeneticSettings::default().mutation)]
    pub(super) mutation: f64,
    /// ga, not with --crossover eax: rivals and partners: the same places always, or drawn anew for every generation
    #[arg(long, value_enum, default_value_t = Pairing::default())]
    pub(super) pairing: Pairing,
    /// ga, not with --crossover eax: whether each group's best gene is improved a little in each generation, where distances
    /// are symmetric
    #[arg(long, value_name = "BOOL", action = clap::ArgAction::Set, default_value_t = genetic::GeneticSettings::default().improve_best)]
    pub(super) improve_best: bool,
    /// ga: what the first genes are; random, and local-optima for eax, if not given
    #[arg(long, value_enum)]
    pub(super) initial: Option<Initial>,
    /// ga: go on with the population of this file, and with its seed and its settings where they are not given. A larger
    /// --population repeats its genes
    #[arg(long, value_name = "FILE", conflicts_with = "initial")]
    pub(super) resume: Option<PathBuf>,
}

/// Where the results go; `-` is the standard output.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Outputs {
    /// Show the whole tour; without it, of more than 40 places the first and the last twenty
    #[arg(long)]
    pub(super) print_tour: bool,
    /// Write the places in the order of the tour, a line each, as CSV: their names, coordinates and costs on the way
    #[arg(long, value_name = "FILE|-")]
    pub(super) csv: Option<Output>,
    /// Write the tour as a TSPLIB tour file
    #[arg(long, value_name = "FILE|-")]
    pub(super) tour: Option<Output>,
    /// Write the tour, all settings and all facts of the run as JSON
    #[arg(long, value_name = "FILE|-")]
    pub(super) json: Option<Output>,
    /// Write a picture of the tour
    #[arg(long, value_name = "FILE|-")]
    pub(super) svg: Option<Output>,
    /// ga: write all genes as a TSPLIB tour file of many tours, which --resume reads. The generation under way is finished
    /// before, whatever stops the run
    #[arg(long, value_name = "FILE|-")]
    pub(super) save_population: Option<Output>,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(super) quiet: bool,
}

impl Args {
    /// How the instance is to be read.
    pub(in super::super) fn reading_options(&self) -> ReadOptions {
        self.reading.options()
    }
}

impl EndsArgs {
    /// Gives an instance these ends. Also returns the node where a tour starts.
    pub(super) fn apply(&self, instance: Instance) -> Result<(Instance, Option<u32>)> {
        let node = |name: &Option<String>| name.as_ref().map(|name| instance.node_named(name)).transpose();
        let (start, end) = (node(&self.start)?, node(&self.end)?);
        if start.is_some() && start == end && instance.len() > 1 {
            return Err(Error::Usage("an open path cannot start and end at the same node".to_owned()));
        }
        let ends = self.open.then_some(Ends { start, end });
        Ok((instance.with_ends(ends), start))
    }
}

impl StopArgs {
    /// A proven optimum is a target too: whichever of the two is reached first. Not so if one of the tours to begin
    /// with is shorter: then it is the optimum of another instance.
    pub(super) fn check(&self, instance: &Instance, initial: &[u32], interrupt: Arc<AtomicBool>) -> Stop {
        let given = self.time.is_some()
            || self.iterations.is_some()
            || self.target.is_some()
            || self.descent_only
            || self.stagnation.is_some();
        let optimum = instance.best_known().filter(|known| known.proven).map(|known| known.cost);
        let optimum = optimum.filter(|&optimum| !is_beaten(optimum, instance, initial));
        Stop {
            time: if given { self.time } else { Some(DEFAULT_TIME) },
            iterations: self.iterations.map(|i| i.count(instance.len())),
            target: self.target.map(|target| instance.inside(target)).max(optimum),
            stagnation: self.stagnation,
            interrupt,
        }
    }
}

/// Whether one of these tours, which stand one after the other, is shorter than `length`.
fn is_beaten(length: i64, instance: &Instance, tours: &[u32]) -> bool {
    tours.chunks(instance.len()).any(|tour| instance.check_tour(tour).is_ok_and(|cost| cost < length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::Metric;
    use clap::Args as _;

    #[test]
    fn any_initial_tour_can_beat_a_length() {
        let corners = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [3.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
        let square = Instance::from_points("square", Metric::Euc2d, corners.to_vec()).unwrap();
        // Lengths 16 and 14.
        let tours = [2, 0, 1, 3, 0, 1, 2, 3];
        assert!(is_beaten(15, &square, &tours) && is_beaten(17, &square, &tours[..4]));
        assert!(!is_beaten(14, &square, &tours) && !is_beaten(16, &square, &tours[..4]));
        assert!(!is_beaten(100, &square, &[]));
    }

    /// The help of an option of one algorithm begins with its name: the table and the help say the same.
    #[test]
    fn every_option_of_one_algorithm_is_in_the_table() {
        let command = Args::augment_args(clap::Command::new("solve"));
        for (id, users) in OPTIONS {
            let option = command.get_arguments().find(|argument| argument.get_id() == id);
            let option = option.unwrap_or_else(|| panic!("there is no option {id}"));
            assert_eq!(option.get_long(), Some(id.replace('_', "-").as_str()));
            assert!(!users.is_empty());
        }
        for option in command.get_arguments() {
            let help = option.get_help().map_or_else(String::new, ToString::to_string);
            let heading = option.get_help_heading().unwrap_or_default();
            let entry = OPTIONS.iter().find(|(id, _)| option.get_id() == id);
            for (prefix, users) in
                [("ils", ILS), ("lk and ils", TOURS), ("mmas", MMAS), ("acs", ACS), ("ga", GA)]
            {
                let alone =
                    help.starts_with(&format!("{prefix}: ")) || help.starts_with(&format!("{prefix}, "));
                // Those that mean another thing to each name both.
                if alone && !help.contains("; acs: ") {
                    assert_eq!(entry.map(|entry| entry.1), Some(users), "{}", option.get_id());
                }
            }
            assert!(heading != "Ant colony" || entry.is_some(), "{}", option.get_id());
        }
    }
}
