//! Where a run computes: the same decision for the program, the library and every rank.

use super::{Algorithm, SolveError};
use crate::backend::Choice;
use crate::instance::Instance;
use crate::memory;

/// Most places in degrees, or with forbidden pairs, that [`Choice::Auto`] sends to a GPU: it looks up their distances in an n x n
/// matrix, a gibibyte.
const MOST_ON_GPUS: usize = 1 << 14;

/// Most nodes of an instance that CPU threads usually solve sooner than a GPU, which takes longer to start (docs/performance.md).
const FEW: usize = 3000;

/// Where a run computes, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Which backend to open.
    pub choice: Choice,
    /// The setting or the kind of instance because of which CPU threads are used although they were not asked for, if there is one.
    /// If it [suits a GPU](Placement::suits_gpu), the instances for which threads are quicker.
    pub why_cpu: Option<&'static str>,
    /// Whether a GPU could run it as well: threads are only faster.
    pub suits_gpu: bool,
}

/// Decides where an algorithm solves an instance: where the user asks for. By default, algorithms that run nowhere else and
/// instances that are too large for GPUs use CPU threads, and so does Lin-Kernighan on small ones.
///
/// # Errors
/// If a GPU is asked for, and main memory has no room for the distances that it needs.
pub fn placement(algorithm: &Algorithm, instance: &Instance, asked: Choice) -> Result<Placement, SolveError> {
    let only = only_on_threads(algorithm, instance);
    let why_cpu = only.or_else(|| sooner_on_threads(algorithm, instance));
    if asked == Choice::Cuda && too_large_for_gpus(instance).is_some() {
        let bytes = 4 * (instance.len() as u64).pow(2);
        memory::check(bytes).map_err(|shortage| {
            SolveError::Settings(format!(
                "no room for the matrix of distances that a GPU needs: {shortage}; use `backend` cpu"
            ))
        })?;
    }
    Ok(match (asked, why_cpu) {
        (Choice::Auto, Some(_)) => Placement { choice: Choice::Cpu, why_cpu, suits_gpu: only.is_none() },
        _ => Placement::as_asked(asked),
    })
}

impl Placement {
    /// Returns the placement that the user asked for.
    pub fn as_asked(asked: Choice) -> Placement {
        Placement { choice: asked, why_cpu: None, suits_gpu: asked != Choice::Cpu }
    }
}

/// As [`placement`], for several runs that share one backend.
///
/// # Errors
/// As [`placement`]; also if some of the runs use a GPU and others cannot.
pub fn placement_of_all(runs: &[(Algorithm, &Instance)], asked: Choice) -> Result<Placement, SolveError> {
    let place = |(algorithm, instance): &(Algorithm, &Instance)| {
        let placement = placement(algorithm, instance, asked)?;
        let only = match asked {
            Choice::Auto => only_on_threads(algorithm, instance),
            // If a GPU is asked for, all of them fail, or none.
            Choice::Cuda => algorithm.on_threads(),
            Choice::Cpu => None,
        };
        Ok((placement, only))
    };
    let places = runs.iter().map(place).collect::<Result<Vec<_>, SolveError>>()?;
    let on_threads = places.iter().find(|(_, why)| why.is_some());
    match on_threads.or(places.first()) {
        Some((_, Some(why))) if places.iter().any(|(_, why)| why.is_none()) => {
            let what = "runs on CPU threads: measure it separately, or give `backend` cpu";
            Err(SolveError::Settings(format!("{why} {what}")))
        }
        Some((placement, _)) if places.iter().all(|(other, _)| other.choice == placement.choice) => {
            Ok(*placement)
        }
        _ => Ok(Placement::as_asked(asked)),
    }
}

/// Names what has to run on CPU threads, if anything.
fn only_on_threads(algorithm: &Algorithm, instance: &Instance) -> Option<&'static str> {
    algorithm.on_threads().or_else(|| too_large_for_gpus(instance))
}

/// Names an instance that CPU threads solve sooner, if the settings ask for nothing that pays off on a GPU.
fn sooner_on_threads(algorithm: &Algorithm, instance: &Instance) -> Option<&'static str> {
    let Algorithm::LinKernighan(settings) = algorithm else { return None };
    let is_free = settings.chains.is_none() && settings.trials.is_none();
    (is_free && instance.len() <= FEW).then_some("up to 3,000 nodes")
}

/// Names what makes an instance too large for GPUs, if it is.
fn too_large_for_gpus(instance: &Instance) -> Option<&'static str> {
    let is_on_globe = instance.metric().is_some_and(|metric| !metric.is_algebraic());
    match () {
        () if instance.len() <= MOST_ON_GPUS => None,
        () if is_on_globe => Some("an instance of more than 16,384 places on the globe"),
        () if !instance.forbidden_pairs().is_empty() => {
            Some("an instance of more than 16,384 places with forbidden pairs")
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::LocalSearch;
    use crate::instance::Metric;
    use crate::instance::generate;
    use crate::solver::genetic::Crossover;
    use crate::solver::{acs, genetic, ils, lin_kernighan, mmas};

    #[test]
    fn what_no_gpu_can_do_is_on_cpu_threads_unless_a_gpu_is_asked_for() {
        let degrees = |n: usize| (0..n).map(|i| [i as f64 % 80.0, i as f64 / 200.0, 0.0]).collect();
        let globe = |n| Instance::from_points("globe", Metric::Geo, degrees(n)).unwrap();
        let (small, large) = (globe(FEW + 1), globe(MOST_ON_GPUS + 1));
        let lk = Some(LocalSearch::Lk);
        let [plain, eax, ants, others] = [
            Algorithm::default(),
            Algorithm::Genetic(genetic::GeneticSettings::of(Crossover::Eax)),
            Algorithm::Mmas(mmas::MmasSettings { local_search: lk, ..Default::default() }),
            Algorithm::Acs(acs::AcsSettings { local_search: lk, ..Default::default() }),
        ];
        let at = |algorithm, instance, asked| placement(algorithm, instance, asked).unwrap();
        for (algorithm, instance) in [(&eax, &small), (&ants, &small), (&others, &small), (&plain, &large)] {
            let Placement { choice, why_cpu, suits_gpu } = at(algorithm, instance, Choice::Auto);
            assert!(choice == Choice::Cpu && why_cpu.is_some() && !suits_gpu, "{algorithm:?}");
            // An explicit choice is respected: what is not possible there is an error of the backend.
            for asked in [Choice::Cpu, Choice::Cuda] {
                assert_eq!(at(algorithm, instance, asked), Placement::as_asked(asked));
            }
        }
        assert_eq!(at(&plain, &small, Choice::Auto), Placement::as_asked(Choice::Auto));

        let of_all = |runs: &[&Algorithm], asked| {
            let runs: Vec<_> = runs.iter().map(|&algorithm| (algorithm.clone(), &small)).collect();
            placement_of_all(&runs, asked)
        };
        for asked in [Choice::Auto, Choice::Cpu, Choice::Cuda] {
            let elsewhere = Placement::as_asked(asked);
            assert_eq!(of_all(&[], asked).unwrap(), elsewhere);
            assert_eq!(of_all(&[&plain, &plain], asked).unwrap(), elsewhere);
            assert_eq!(of_all(&[&eax, &ants], asked).unwrap(), at(&eax, &small, asked));
            assert_eq!(of_all(&[&plain, &eax], asked).is_ok(), asked == Choice::Cpu);
        }
    }

    #[test]
    fn small_instances_are_solved_sooner_on_cpu_threads() {
        let [few, many] = [FEW, FEW + 1].map(|n| generate::uniform(n, 1).unwrap());
        let plain = Algorithm::default();
        let chains = lin_kernighan::LinKernighanSettings { chains: Some(8), ..Default::default() };
        let others = [Algorithm::LinKernighan(chains), Algorithm::Ils(ils::IlsSettings::default())];
        let choice = |algorithm, instance, asked| placement(algorithm, instance, asked).unwrap().choice;
        assert_eq!(choice(&plain, &few, Choice::Auto), Choice::Cpu);
        assert!(placement(&plain, &few, Choice::Auto).unwrap().suits_gpu);
        assert_eq!(choice(&plain, &few, Choice::Cuda), Choice::Cuda);
        assert_eq!(choice(&plain, &many, Choice::Auto), Choice::Auto);
        assert!(others.iter().all(|other| choice(other, &few, Choice::Auto) == Choice::Auto));
        // Runs that share a backend are compared: then small ones go where the others go.
        let of_all = |instances: &[&Instance]| {
            let runs: Vec<_> = instances.iter().map(|&instance| (plain.clone(), instance)).collect();
            placement_of_all(&runs, Choice::Auto).unwrap().choice
        };
        assert_eq!(of_all(&[&few, &few]), Choice::Cpu);
        assert_eq!(of_all(&[&few, &many]), Choice::Auto);
        assert_eq!(of_all(&[&many, &few]), Choice::Auto);
    }
}
