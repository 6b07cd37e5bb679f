//! `--load-population FILE`: continues the genetic algorithm with a saved population.

use std::path::Path;

use super::super::{Error, Result};
use super::settings::Wanted;
use crate::instance::InstanceError;
use crate::instance::population_file::Saved;
use crate::solver::Algorithm;
use crate::solver::genetic::{Crossover, GeneticSettings, Initial};
use crate::solver::settings::{Settings, overlay};

/// Returns the algorithm for a population from the file at `path`: settings on the command line take precedence over those of the file.
///
/// # Errors
/// If settings are wrong, or do not fit the number of individuals in the file.
pub(super) fn loaded(wanted: &Wanted<'_>, path: &Path, saved: &Saved) -> Result<Algorithm> {
    let (_, mut given) = wanted.unchecked(&GeneticSettings::DECLARATION)?;
    // The file determines these.
    for name in ["initial", "first_generation"] {
        given.remove(name);
    }
    let mut base = match &saved.header {
        None => {
            let crossover = given.get("crossover").cloned();
            let crossover = crossover.and_then(|value| serde_json::from_value::<Crossover>(value).ok());
            GeneticSettings::of(crossover.unwrap_or_default())
        }
        Some(header) => {
            let base = serde_json::from_value(header.settings.clone()).map_err(|error| {
                let problem = format!("the settings of the population cannot be used: {error}");
                let help = "it was written by another version of antwarp, or edited: remove its comment";
                InstanceError::content(path.to_string_lossy(), problem, help)
            })?;
            GeneticSettings { first_generation: header.generation, ..base }
        }
    };
    base.population = Some(saved.count);
    base.initial = Initial::File;
    let settings = overlay(&base, &given).map_err(Error::Usage)?;
    let (individuals, count) = (settings.individuals(), saved.count);
    if !individuals.is_multiple_of(count) {
        let path = path.display();
        let what = format!(
            "--population must be a multiple of the {count} individuals of {path}, not {individuals}"
        );
        return Err(Error::Usage(what));
    }
    // If no population size was given, the problem is in the file.
    let is_paired = settings.crossover != Crossover::Eax;
    if is_paired
        && !given.contains_key("population")
        && !individuals.is_multiple_of(settings.groups.max(1).saturating_mul(4))
    {
        let problem = format!(
            "{individuals} individuals cannot be split into {} groups of equal size, a multiple of 4",
            settings.groups
        );
        let help = "use other --groups, or a --population that is a multiple of both 4 times the groups and the number of individuals";
        return Err(InstanceError::content(path.to_string_lossy(), problem, help).into());
    }
    let algorithm = Algorithm::Genetic(settings);
    wanted.check(&algorithm)?;
    Ok(algorithm)
}
