//! The settings that a command line asks for.

use std::path::Path;

use super::super::options::Iterations;
use super::super::{Error, Result};
use super::args::{Args, Name};
use crate::instance::InstanceError;
use crate::instance::population_file::Saved;
use crate::solver::genetic::{Crossover, Initial};
use crate::solver::{Algorithm, acs, genetic, ils, lin_kernighan, mmas};

/// The algorithm of this name with its settings, which are checked.
pub(super) fn algorithm(args: &Args, name: Name) -> Result<Algorithm> {
    if args.stop.iterations == Some(Iterations::Count(0)) && name != Name::Ga {
        let what = "--iterations must be at least 1, or a multiple of the nodes such as 0.1n or 10n";
        return Err(Error::Usage(format!("{what}; 0 is for --algorithm ga")));
    }
    let algorithm = match name {
        Name::Lk => Algorithm::LinKernighan(lin_kernighan(args)),
        Name::Ils => Algorithm::Ils(ils(args)),
        Name::Mmas => Algorithm::Mmas(mmas(args)),
        Name::Acs => Algorithm::Acs(acs(args)?),
        Name::Ga => {
            Algorithm::Genetic(genetic(args, &[], genetic::GeneticSettings::of(args.genetic.crossover)))
        }
    };
    // With a population of a file, what is not given is not known yet.
    if name != Name::Ga || args.genetic.resume.is_none() {
        algorithm.check()?;
    }
    Ok(algorithm)
}

fn lin_kernighan(args: &Args) -> lin_kernighan::LinKernighanSettings {
    let (search, default) = (&args.search, lin_kernighan::LinKernighanSettings::default());
    lin_kernighan::LinKernighanSettings {
        seed: args.seed,
        neighbors: search.neighbors.unwrap_or(default.neighbors),
        neighbor_lists: search.neighbor_lists,
        start: search.start_tour,
        walk: search.walk,
        temperature: search.temperature,
        chains: search.chains,
        trials: search.trials,
        descent_only: args.stop.descent_only,
        ..default
    }
}

fn ils(args: &Args) -> ils::IlsSettings {
    let search = &args.search;
    ils::IlsSettings {
        seed: args.seed,
        local_search: search.local_search.unwrap_or_default(),
        neighbors: search.neighbors.unwrap_or(ils::IlsSettings::default().neighbors),
        neighbor_lists: search.neighbor_lists,
        breadth: search.breadth.unwrap_or(ils::IlsSettings::default().breadth),
        start: search.start_tour.unwrap_or_default(),
        segment: search.segment,
        accept: search.accept,
        temperature: search.temperature,
        improvement: search.improvement,
        moves: search.moves,
        chains: search.chains,
        trials: search.trials,
        walk: search.walk,
        descent_only: args.stop.descent_only,
    }
}

fn mmas(args: &Args) -> mmas::MmasSettings {
    let (colony, search, default) = (&args.colony, &args.search, mmas::MmasSettings::default());
    mmas::MmasSettings {
        seed: args.seed,
        ants: colony.ants,
        candidates: colony.candidates.count(),
        alpha: colony.alpha.unwrap_or(default.alpha),
        beta: colony.beta.unwrap_or(default.beta),
        rho: colony.rho,
        p_best: colony.p_best,
        selection: colony.selection,
        tabu: colony.tabu,
        warps: colony.warps,
        deposit: colony.deposit,
        reset_after: colony.reset_after,
        local_search: search.local_search,
        neighbors: search.neighbors,
        breadth: search.breadth,
    }
}

fn acs(args: &Args) -> Result<acs::AcsSettings> {
    let (colony, search, default) = (&args.colony, &args.search, acs::AcsSettings::default());
    let Some(candidates) = colony.candidates.count() else {
        return Err(Error::Usage("acs needs candidate lists: give --candidates a number".to_owned()));
    };
    Ok(acs::AcsSettings {
        seed: args.seed,
        ants: colony.ants,
        candidates,
        beta: colony.beta.unwrap_or(default.beta),
        alpha: colony.alpha.unwrap_or(default.alpha),
        rho: colony.rho.map_or(default.rho, |rho| rho as f32),
        q0: colony.q0,
        period: colony.update_period,
        pheromone: colony.pheromone,
        slots: colony.slots,
        remember: colony.remember,
        greedy: colony.greedy,
        update: colony.update,
        local_search: search.local_search,
        neighbors: search.neighbors,
        breadth: search.breadth,
    })
}

/// The settings of the genetic algorithm: those on the command line, whose ids are `given`, or all if there is no file
/// to take others from; else those of `base`.
fn genetic(args: &Args, given: &[String], base: genetic::GeneticSettings) -> genetic::GeneticSettings {
    let own = &args.genetic;
    let is_given = |id: &str| own.resume.is_none() || given.iter().any(|option| option == id);
    fn either<T>(is_given: bool, given: T, base: T) -> T {
        if is_given { given } else { base }
    }
    genetic::GeneticSettings {
        seed: either(is_given("seed"), args.seed, base.seed),
        crossover: either(is_given("crossover"), own.crossover, base.crossover),
        population: own.population.or(base.population),
        groups: own.groups.unwrap_or(base.groups),
        transfer_every: own.transfer_every.unwrap_or(base.transfer_every),
        children: either(is_given("children"), own.children, base.children),
        mutation: either(is_given("mutation"), own.mutation, base.mutation),
        pairing: either(is_given("pairing"), own.pairing, base.pairing),
        improve_best: either(is_given("improve_best"), own.improve_best, base.improve_best),
        initial: if own.resume.is_some() { Initial::File } else { own.initial.unwrap_or(base.initial) },
        first_generation: base.first_generation,
        local_search: args.search.local_search.unwrap_or(base.local_search),
        neighbors: args.search.neighbors.unwrap_or(base.neighbors),
        breadth: args.search.breadth.unwrap_or(base.breadth),
    }
}

/// The settings for a population of a file: those given count, the others are the file's.
pub(super) fn resumed(
    args: &Args,
    given: &[String],
    path: &Path,
    saved: &Saved,
) -> Result<genetic::GeneticSettings> {
    let crossover = if given.iter().any(|option| option == "crossover") {
        args.genetic.crossover
    } else {
        Crossover::default()
    };
    let mut base = genetic::GeneticSettings::of(crossover);
    if let Some(header) = &saved.header {
        base = serde_json::from_value(header.settings.clone()).map_err(|error| {
            let problem = format!("the settings of the population cannot be used: {error}");
            let help = "it was written by another version of antwarp, or edited: take out its comment";
            InstanceError::content(path.to_string_lossy(), problem, help)
        })?;
        base.first_generation = header.generation;
    }
    base.population = Some(saved.count);
    let settings = genetic(args, given, base);
    let (genes, count) = (settings.genes(), saved.count);
    if !genes.is_multiple_of(count) {
        let path = path.display();
        let what = format!("--population must be a multiple of the {count} genes of {path}, not {genes}");
        return Err(Error::Usage(what));
    }
    // The file is to blame for what nobody asked for.
    let is_paired = settings.crossover != Crossover::Eax;
    if is_paired
        && args.genetic.population.is_none()
        && !genes.is_multiple_of(settings.groups.max(1).saturating_mul(4))
    {
        let problem =
            format!("{genes} genes are no {} groups of equal size, a multiple of 4", settings.groups);
        let help = "give other --groups, or a --population that is a multiple of 4 times the groups and of the genes";
        return Err(InstanceError::content(path.to_string_lossy(), problem, help).into());
    }
    settings.check()?;
    Ok(settings)
}
