//! Chained Lin-Kernighan: settings, and the loop around a backend's rounds ([`antwarp_core::lin_kernighan`]).
//!
//! The start tour is improved in rounds without kicks; then every trial starts with a kick. A temperature, which falls with the
//! remaining time or trials, limits how much longer a trial may make the tour (Martin, Otto and Felten 1991).

mod cross;
mod epochs;
mod means;
mod pace;
mod partners;
mod rounds;
mod settings;
mod starts;

use std::time::Duration;

use super::haste::{Haste, MANY};
use super::island::{self, Contact};
use super::{Solution, SolveError};
use crate::backend::{Backend, cpu};
use crate::engine::lin_kernighan::MOST_TRIALS;
use crate::engine::start;
use crate::engine::{BackendError, Deadline, Problem, Stop, Turns};
use crate::instance::{Instance, nearest_until, quadrant_until};
use cross::Starts;
use epochs::Epochs;
use means::Means;
use partners::{Force, Partners};
use rounds::{Rounds, Saved};
use settings::Plan;

pub use settings::{Acceptance, LinKernighanSettings, NeighborKind};
pub(super) use settings::{MOST_CHAINS, MOST_STEPS};

/// Nodes from which tours that are to be crossed are kicked in place. Random starts of fewer differ more.
const FEWEST_IN_PLACE: u32 = 1500;
/// The same on up to so many threads, where making random starts takes too long for short runs. What was measured has 318 nodes or more.
const FEWEST_IN_PLACE_ON_FEW: u32 = 200;
const FEW_THREADS: u32 = 2;
/// Nodes up to which they are: the more nodes, the longer the segments that moves reverse.
const MOST_IN_PLACE: u32 = 7_500;

/// Nodes from which tours by [costs of chance](start::is_by_chance) are neither kicked in place nor crossed. They have few edges in
/// common: of 1,000 nodes and more, a single tour is shorter for as long as was measured.
const FEWEST_BY_CHANCE: u32 = 700;

/// As [`Algorithm::solve`](super::Algorithm::solve), after all checks.
pub(super) fn solve(
    instance: &Instance,
    settings: &LinKernighanSettings,
    initial: Option<&[u32]>,
    backend: &Backend,
    stop: &Stop,
    contact: Contact<'_>,
) -> Result<Solution, SolveError> {
    let deadline = Deadline::now(stop);
    backend.prepare_lin_kernighan(instance, settings.local_search);
    // Then nodes that are close in the plane are close in memory, and preparation takes half as long.
    let order = if instance.len() < MANY { None } else { start::along_a_curve(instance) };
    let Some((renumbered, order)) = order.and_then(|order| Some((instance.renumbered(&order)?, order)))
    else {
        return solve_as_numbered(instance, settings, initial, backend, deadline, contact);
    };
    let initial = initial.map(|tour| {
        let mut numbers = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&node, number)| numbers[node as usize] = number);
        tour.iter().map(|&node| numbers[node as usize]).collect::<Vec<u32>>()
    });
    let Contact { observe, post, outside, resumed } = contact;
    let contact = Contact { observe: &mut *observe, post, outside: outside.renumbered(&order), resumed };
    let mut solution =
        solve_as_numbered(&renumbered, settings, initial.as_deref(), backend, deadline, contact)?;
    solution.tour.iter_mut().for_each(|node| *node = order[*node as usize]);
    solution.seconds = deadline.elapsed().as_secs_f64();
    Ok(solution)
}

/// Lower bound on the share of the processors that a plan assumes: the share is measured while threads wake up, and soon rises.
const LEAST_SHARE: f64 = 0.5;

/// Returns the trials in a round of a tour that runs share: as many as a single run with all their threads would make.
fn trials_of_all(n: u32, forces: &[Force]) -> u32 {
    let most = forces.iter().map(|force| force.trials).max().unwrap_or(1);
    let threads = forces.iter().filter(|force| !force.means.on_gpus).map(|force| force.means.threads).sum();
    let together = if threads > 0 { cpu::trials(n, threads) } else { 1 };
    most.max(together).min(MOST_TRIALS)
}

/// Returns the number of nodes, with partners counted as one: the more there are, the longer it takes to cross tours.
fn free_nodes(instance: &Instance) -> u32 {
    (instance.len() - instance.fixed_edges().len().min(instance.len() / 2)) as u32
}

fn solve_as_numbered(
    instance: &Instance,
    settings: &LinKernighanSettings,
    initial: Option<&[u32]>,
    backend: &Backend,
    deadline: Deadline<'_>,
    mut contact: Contact<'_>,
) -> Result<Solution, SolveError> {
    let stop = deadline.stop;
    let (n, before) = (instance.len() as u32, Turns::so_far());
    // A run limited by time differs every time anyway.
    let layout = backend.default_trials(n, stop.iterations.is_some());
    let resumed = match contact.resumed.take() {
        Some(mut state) => Some((state.take_tour(n)?, Saved::take(&mut state, n)?, state.is_common)),
        None => None,
    };
    let k = (settings.neighbors as usize).min(instance.len() - 1);
    // Large instances are numbered along a curve.
    let is_curve = instance.len() >= MANY && instance.points().is_some();
    let curve = is_curve.then(|| (0..instance.len() as u32).collect());
    let haste = Haste { instance, deadline, curve };
    let late = || haste.is_over();
    let near = match settings.neighbor_lists {
        NeighborKind::Nearest => nearest_until(instance, k, &late),
        NeighborKind::Quadrant => quadrant_until(instance, k, &late),
    };
    let Some(near) = near else {
        return haste.end(initial.map(<[u32]>::to_vec));
    };
    backend.wait_until_prepared(&late);
    let is_lattice = start::is_lattice(instance, &near);
    let is_by_chance = n >= FEWEST_BY_CHANCE && instance.partners().is_none() && start::is_by_chance(&near);
    // Small instances cross their first tours soon, and measure their speed then.
    let is_counted = stop.iterations.is_some();
    let share = if cross::is_restarted(n) || is_counted { None } else { Turns::so_far().share_since(before) };
    let means = Means::of(backend, share.map_or(1.0, |share| share.max(LEAST_SHARE)));
    let crosses_by_trials = |time: Duration| cross::several(free_nodes(instance), means, time).is_some();
    let fewest_in_place = if means.threads <= FEW_THREADS { FEWEST_IN_PLACE_ON_FEW } else { FEWEST_IN_PLACE };
    // On lattices, long walks and deeper moves find what short kicks do not.
    let in_place = backend.is_cpu()
        && contact.post.is_none()
        && settings.local_search.is_none()
        && !is_lattice
        && !is_by_chance
        // Large instances do not restart. With time enough, trials make better tours for the one crossing.
        && (cross::is_restarted(n) || !stop.time.is_some_and(crosses_by_trials))
        && (fewest_in_place..=MOST_IN_PLACE).contains(&n);
    let own = Force {
        seed: settings.seed,
        time: stop.time.map(|time| time.as_secs_f64()),
        means: if in_place { means.in_place() } else { means },
        chains: settings.chains.unwrap_or(layout.chains),
        trials: settings.trials.unwrap_or(layout.trials),
        start: resumed.as_ref().map_or(0, |(_, saved, _)| saved.start()),
    };
    let ready = deadline.elapsed();
    let met = Partners::meet(contact.post, own, &late).and_then(Partners::alike);
    let forces = met.as_ref().map_or(vec![own], Partners::forces);
    // All runs that share tours decide alike: by what they have together, and otherwise as the first of them would.
    let seconds = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let time = forces[0].time.map(seconds);
    let means = forces.iter().skip(1).fold(forces[0].means, |all, force| all.with(force.means));
    let is_alone = contact.post.is_none();
    if let Some((start, mut saved, is_common)) = resumed {
        let problem = Problem::for_search(instance, &near, start);
        let is_free = saved.is_free() && !is_by_chance && cross::is_free(settings, false, stop);
        let several = |end: Duration| cross::several(free_nodes(instance), means, end).filter(|_| is_free);
        let epochs = match stop.time {
            Some(time) if is_free && is_alone => {
                Epochs::of((Duration::ZERO, time), cross::is_restarted(n), several)
            }
            time => Epochs::one(time, false),
        };
        let are_crossed = saved.are_crossed() || epochs.are_crossed();
        let by_nearest = are_crossed.then(|| cross::by_nearest(instance, &problem)).flatten();
        let partners = if are_crossed {
            met
        } else {
            met.and_then(Partners::of_one_tour).filter(|_| saved.is_of_one_tour())
        };
        if is_common && contact.post.is_some_and(|post| post.number() > 0) {
            saved.forget_kicks();
        }
        let plan = Plan {
            instance,
            problem: &problem,
            backend,
            settings,
            means,
            trials: partners.as_ref().map_or(own.trials, |partners| partners.forces()[0].trials),
            is_alone,
            effective_start: Duration::ZERO,
            is_lattice,
            is_free,
            is_crossed: are_crossed,
            by_nearest: by_nearest.as_ref(),
        };
        let seed = partners.as_ref().map_or(settings.seed, |partners| partners.seed);
        let mut rounds = Rounds::resume(plan, saved, &epochs, (deadline, seed))?;
        if let Some(partners) = partners {
            rounds.share(partners);
        }
        return island::run(&mut rounds, (instance, &problem), backend, deadline, contact);
    }
    let is_free = !is_by_chance && cross::is_free(settings, initial.is_some(), stop);
    let effective_start = match time {
        // Runs that share tours follow one plan, but their preparation takes different times.
        Some(time) if is_alone => cross::effective_start(ready, time),
        _ => Duration::ZERO,
    };
    let several = |end: Duration| {
        let time = end.saturating_sub(effective_start);
        cross::several(free_nodes(instance), means, time).filter(|_| is_free)
    };
    // Runs that share tours cross them once: at the end of each epoch they would wait for one another.
    let epochs = match time {
        Some(time) if is_free && is_alone => Epochs::of((ready, time), cross::is_restarted(n), several),
        time => Epochs::one(time, time.and_then(several).is_some()),
    };
    let are_crossed = epochs.are_crossed();
    let crossed = epochs.end().and_then(several);
    let mut partners = match crossed {
        Some(_) => met,
        // Several tours that are not crossed are not shared.
        None => met.and_then(Partners::of_one_tour).filter(|partners| partners.forces()[0].chains == 1),
    };
    let trials = match &partners {
        None => own.trials,
        Some(partners) if settings.trials.is_some() || stop.iterations.is_some() => {
            partners.forces()[0].trials
        }
        Some(partners) => trials_of_all(n, &partners.forces()),
    };
    let seed = partners.as_ref().map_or(settings.seed, |partners| partners.seed);
    let start = match initial {
        Some(tour) => Some(tour.to_vec()),
        None => {
            let start = settings.start.unwrap_or_else(|| start::for_lin_kernighan(instance, &near));
            start::tour_until(instance, start, &near, seed, &late)
        }
    };
    let start = match start {
        Some(start) if !late() => start,
        start => return haste.end(start),
    };
    let problem = Problem::for_search(instance, &near, start);
    let start_cost = problem.unit_cost();
    let crossed = match crossed {
        Some(count) => {
            let own = partners.as_ref().map_or(count, |partners| partners.tours(count, true));
            // A slow machine would take all of its time: it kicks and crosses those that it has by then.
            let end = epochs.end().filter(|_| is_alone);
            let until = end.map(|end| cross::kicked(end, effective_start, in_place));
            let made = cross::make(instance, &problem, (settings.seed, own), in_place, until, deadline)?;
            partners = partners.filter(|_| made.is_some());
            made
        }
        None => None,
    };
    if late() && crossed.is_none() {
        return haste.end(Some(problem.start_tour().to_vec()));
    }
    let by_nearest = are_crossed.then(|| cross::by_nearest(instance, &problem)).flatten();
    let begin_with = |crossed: Option<Starts>, is_shared: bool, epochs: Epochs| {
        let plan = Plan {
            instance,
            problem: &problem,
            backend,
            settings,
            means,
            trials,
            is_alone,
            effective_start,
            is_lattice,
            is_free,
            is_crossed: crossed.is_some() || !epochs.is_last() && epochs.are_crossed(),
            by_nearest: by_nearest.as_ref(),
        };
        let (chains, trials, starts, cost) = match crossed {
            Some(starts) => (starts.count, backend.trials(n, starts.count), starts.tours, starts.cost),
            None => {
                let (chains, trials) = if is_shared { (1, trials) } else { (own.chains, own.trials) };
                (chains, trials, Vec::new(), start_cost)
            }
        };
        let spec = plan.spec((chains, trials), starts, cost);
        Rounds::new(plan, &spec, trials, epochs)
    };
    let are_several = crossed.is_some();
    let mut rounds = match begin_with(crossed, partners.is_some(), epochs) {
        // A single tour needs less memory.
        Err(BackendError::OutOfMemory { .. }) if are_several => {
            partners = None;
            begin_with(None, false, Epochs::one(time, false))?
        }
        rounds => rounds?,
    };
    if let Some(partners) = partners {
        rounds.share(partners);
    }
    island::run(&mut rounds, (instance, &problem), backend, deadline, contact)
}
