//! `antwarp generate`: random instances.

use super::options::whole;
use super::output::{self, Output};
use super::{Error, Outcome, Result, signals};
use crate::instance::{Instance, InstanceError, dimacs, generate, roads, tsplib};

/// Arguments of `antwarp generate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// uniform, clustered, roads (directed), e (as in the DIMACS challenge), or a name of that kind such as E10k.0
    #[arg(value_name = "KIND|NAME")]
    what: String,
    /// Number of nodes
    #[arg(long, short, value_name = "N", value_parser = whole::<usize>(0..=u64::MAX))]
    nodes: Option<usize>,
    /// Random seed; if not given, 1, or for e the number of nodes
    #[arg(long, short, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    seed: Option<u64>,
    /// Number of clusters; if not given, one per hundred nodes
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0..=u64::MAX))]
    clusters: Option<usize>,
    /// Percentage of side streets of roads that are one-way; if not given, 40
    #[arg(long, value_name = "PERCENT", value_parser = whole::<u32>(0..=100))]
    one_way: Option<u32>,
    /// Where to write the instance; - is the standard output
    #[arg(long, short, value_name = "FILE|-", default_value = "-")]
    output: Output,
}

/// Generates a random instance.
pub fn run(args: Args) -> Result<Outcome> {
    if args.clusters.is_some() && args.what != "clustered" {
        return Err(Error::Usage(format!("--clusters is for clustered instances, not for {}", args.what)));
    }
    if args.one_way.is_some() && args.what != "roads" {
        return Err(Error::Usage(format!("--one-way is for roads, not for {}", args.what)));
    }
    signals::end_at_once()?;
    output::check([&args.output], &[])?;
    super::options::start_threads(None, None)?;
    let instance = make(&args)?;
    args.output.write(|mut out| tsplib::write(&instance, &mut out))?;
    Ok(Outcome::Done)
}

fn make(args: &Args) -> Result<Instance> {
    let nodes = || args.nodes.ok_or_else(|| Error::Usage(format!("{} needs --nodes N", args.what)));
    let seed = args.seed.unwrap_or(1);
    let refused = |error: InstanceError| Error::Usage(format!("--nodes: {error}"));
    let clustered = |error: InstanceError| Error::Usage(format!("--nodes, --clusters: {error}"));
    match args.what.as_str() {
        "uniform" => generate::uniform(nodes()?, seed).map_err(refused),
        "clustered" => {
            let clusters = args.clusters.unwrap_or((nodes()? / 100).max(1));
            generate::clustered(nodes()?, clusters, seed).map_err(clustered)
        }
        "roads" => {
            let one_way = args.one_way.unwrap_or(roads::ONE_WAY);
            roads::roads(nodes()?, one_way, seed).map_err(refused)
        }
        "e" => {
            let nodes = nodes()?;
            let seed = args.seed.unwrap_or(nodes as u64);
            let sizes = "1000, 3162, 10000, 31623, 100000, 316228, 1000000, 3162278 or 10000000 nodes and a seed below 1000000000";
            dimacs::by_name(&format!("portgen-{nodes}-{seed}"))
                .ok_or_else(|| Error::Usage(format!("DIMACS instances have {sizes}")))
        }
        name => named(name, args),
    }
}

fn named(name: &str, args: &Args) -> Result<Instance> {
    if args.nodes.is_some() || args.seed.is_some() {
        return Err(Error::Usage(format!(
            "the name {name} already gives the number of nodes and the seed: leave out --nodes and --seed"
        )));
    }
    dimacs::by_name(name).ok_or_else(|| {
        Error::Usage(format!(
            "cannot generate {name}: give uniform, clustered, roads, e, or a name such as E10k.0"
        ))
    })
}
