//! Runs on [closed forms](Form) of instances, for algorithms that know only closed tours, or only edges without a direction.

use super::island::Contact;
use super::papers::ils::Improvement;
use super::{Algorithm, Solution, SolveError, exact, genetic};
use crate::backend::Backend;
use crate::engine::memory::check_memory;
use crate::engine::{Better, Stop, StopReason, reduced_lengths};
use crate::instance::form::Form;
use crate::instance::{Enough, Instance};

/// Returns whether an algorithm keeps fixed edges, and accepts a gap.
fn keeps_partners(algorithm: &Algorithm) -> bool {
    match algorithm {
        Algorithm::LinKernighan(_) => true,
        Algorithm::Ils(settings) => settings.improvement == Improvement::First,
        Algorithm::Genetic(settings) => settings.crossover == genetic::Crossover::Eax,
        Algorithm::Mmas(_) | Algorithm::Acs(_) => false,
    }
}

/// Returns whether an algorithm needs edges without a direction, and finds good tours of a [doubled](Form::doubled) instance.
fn is_doubled(algorithm: &Algorithm) -> bool {
    match algorithm {
        Algorithm::LinKernighan(_) => true,
        Algorithm::Genetic(settings) => settings.crossover == genetic::Crossover::Eax,
        Algorithm::Ils(_) | Algorithm::Mmas(_) | Algorithm::Acs(_) => false,
    }
}

/// Rejects an instance that an algorithm cannot solve, not even in another form.
///
/// # Errors
/// The algorithms to use instead.
pub(super) fn check(algorithm: &Algorithm, instance: &Instance) -> Result<(), SolveError> {
    let refuse = |why: &str| {
        let name = match algorithm {
            Algorithm::LinKernighan(_) => "chained Lin-Kernighan",
            Algorithm::Ils(_) => "iterated local search",
            Algorithm::Mmas(_) => "MMAS",
            Algorithm::Acs(_) => "ACS",
            Algorithm::Genetic(_) => "GA",
        };
        let instance = instance.name().to_string();
        Err(SolveError::Unsupported { algorithm: name, instance, why: why.to_string() })
    };
    if let Algorithm::Ils(_) = algorithm
        && !instance.is_symmetric()
    {
        return refuse("its edges have a direction; use `algorithm` lk, mmas or acs");
    }
    // Where edges have a direction, a chain of fixed edges is simply a node.
    if !instance.is_symmetric() || keeps_partners(algorithm) || instance.len() <= exact::FEW_OF_OTHERS {
        return Ok(());
    }
    let advice = match algorithm {
        Algorithm::Ils(_) => "use `improvement` first, or `algorithm` lk",
        Algorithm::Genetic(_) => "use `crossover` eax, or `algorithm` lk",
        _ => "use `algorithm` lk, ils or ga with `crossover` eax",
    };
    if instance.ends().is_some() {
        return refuse(&format!("its tours are open paths; {advice}"));
    }
    if !instance.fixed_edges().is_empty() {
        return refuse(&format!("it has fixed edges; {advice}"));
    }
    Ok(())
}

/// Returns the form in which an algorithm solves an instance; `None`: as it is. Reduced lengths are left out if `late` says that there
/// is no time for them.
///
/// # Errors
/// If there is not enough memory.
pub(super) fn of(
    algorithm: &Algorithm,
    instance: &Instance,
    late: Enough,
) -> Result<Option<Form>, SolveError> {
    if instance.partners().is_some() || instance.gap().is_some() {
        return Ok(None);
    }
    if let Some(form) = Form::closed(instance) {
        return Ok(Some(form));
    }
    if instance.is_symmetric() || !is_doubled(algorithm) {
        return Ok(None);
    }
    check_memory("the matrix without directions", 16 * instance.len() * instance.len())?;
    // Engines find the edges of short tours sooner by reduced lengths, and those of rbg358 only by them.
    let reduced = reduced_lengths(instance, late);
    Ok(Some(Form::doubled(instance, reduced.as_deref())))
}

/// Solves an instance in this form.
///
/// # Errors
/// As [`Algorithm::solve`].
pub(super) fn solve(
    algorithm: &Algorithm,
    (instance, form): (&Instance, &Form),
    initial: Option<Vec<u32>>,
    (backend, stop): (&Backend, &Stop),
    contact: Contact<'_>,
    is_kept: bool,
) -> Result<Solution, SolveError> {
    if is_kept {
        let why =
            "populations of open paths, and of tours with fixed or directed edges, cannot be saved or loaded";
        return Err(SolveError::Settings(why.to_string()));
    }
    let inward = |tour: &[u32]| {
        let lacks =
            || "`initial_tour`: it lacks a fixed edge, or has other ends than the instance".to_string();
        form.inward(tour).ok_or_else(|| SolveError::Settings(lacks()))
    };
    let initial = initial
        .map(|tours| tours.chunks(instance.len()).map(inward).collect::<Result<Vec<_>, _>>())
        .transpose()?
        .map(|tours| tours.concat());
    let offset = form.offset();
    let stop = Stop { target: stop.target.map(|target| target.saturating_sub(offset)), ..stop.clone() };
    let Contact { observe, post, outside, resumed } = contact;
    let contact = Contact { observe: &mut *observe, post, outside: outside.of_form(form), resumed };
    let solved = algorithm.solve_in_contact(form.instance(), initial, (backend, &stop), contact, None)?;
    let tour = form.outward(&solved.tour).filter(|tour| instance.unused_fixed_edge(tour).is_none());
    let wrong = |what: String| SolveError::Wrong { backend: backend.machine().backend, what };
    let tour = tour.ok_or_else(|| wrong("a tour without a fixed edge".to_string()))?;
    let cost = instance.check_tour(&tour).map_err(|error| wrong(error.to_string()))?;
    if cost != solved.cost + offset {
        return Err(wrong(format!("a tour of length {cost} reported as {}", solved.cost + offset)));
    }
    let trace = solved.trace.into_iter().map(|better| Better { cost: better.cost + offset, ..better });
    // A few nodes in closed form were solved exactly, by internal costs.
    let stopped_by = match solved.stopped_by {
        StopReason::Optimal if !instance.is_exact() => StopReason::LocalOptimum,
        reason => reason,
    };
    Ok(Solution { tour, cost, trace: trace.collect(), stopped_by, ..solved })
}
