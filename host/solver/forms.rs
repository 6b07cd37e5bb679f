//! Runs on [closed forms](Form) of instances, for algorithms that know only closed tours, or only edges without a direction.

use std::time::{Duration, Instant};

use super::island::Contact;
use super::papers::ils::Improvement;
use super::{Algorithm, Solution, SolveError, exact, genetic};
use crate::backend::Backend;
use crate::engine::memory::check_memory;
use crate::engine::{Better, State, Stop, StopReason, reduced_lengths};
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
        return refuse("its edges have a direction; use `algorithm` lk, mmas, acs or ga");
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

/// Returns the form with few nodes of each place, if an algorithm solves an instance, from these initial tours or this state if there
/// are any, in that form.
pub(super) fn thinned(
    algorithm: &Algorithm,
    instance: &Instance,
    (initial, resumed): (Option<&[u32]>, Option<&State>),
) -> Option<Form> {
    let is_closed = instance.partners().is_some() || instance.gap().is_some();
    let is_plain = instance.ends().is_none() && instance.fixed_edges().is_empty();
    let Algorithm::LinKernighan(_) = algorithm else { return None };
    if !is_closed && !is_plain {
        return None;
    }
    let form = Form::thinned(instance).filter(Form::loses_little)?;
    // A resumed run may have started without this form, for example from a tour that the form does not have. Its state starts with a
    // tour; if edges have directions, each node counts twice.
    let nodes = form.instance().len() * if instance.is_symmetric() { 1 } else { 2 };
    if resumed.is_some_and(|state| !state.starts_with::<u32>(nodes)) {
        return None;
    }
    let has_form = |tours: &[u32]| tours.chunks(instance.len()).all(|tour| form.inward(tour).is_some());
    initial.is_none_or(has_form).then_some(form)
}

/// Returns the form in which an algorithm solves an instance; `None`: as it is. Reduced lengths are left out if `late` says that there
/// is no time for them.
///
/// # Errors
/// If the instance [contradicts itself](Instance::check_shape), or there is not enough memory.
pub(super) fn of(
    algorithm: &Algorithm,
    instance: &Instance,
    late: Enough,
) -> Result<Option<Form>, SolveError> {
    if instance.partners().is_some() || instance.gap().is_some() {
        return Ok(None);
    }
    if instance.ends().is_some() || !instance.fixed_edges().is_empty() {
        instance.check_shape()?;
        return Ok(Form::closed(instance));
    }
    if instance.is_symmetric() || !is_doubled(algorithm) {
        return Ok(None);
    }
    check_memory("the matrix without directions", 16 * instance.len() * instance.len())?;
    let reduced = if is_nearly_symmetric(instance) { None } else { reduced_lengths(instance, late) };
    Ok(Some(Form::doubled(instance, reduced.as_deref())))
}

/// Returns whether the two directions of a pair hardly differ: by less than a fortieth of the length on average.
///
/// Then the given lengths lead to better tours: by reduced ones, the cheapest assignment, which goes back and forth between neighbours,
/// has length 0. Otherwise reduced lengths do, and in instances such as rbg358 far better ones.
fn is_nearly_symmetric(instance: &Instance) -> bool {
    const PART: i64 = 40;
    let n = instance.len() as u32;
    let pairs = (0..n).flat_map(|a| (0..a).map(move |b| (a, b)));
    let allowed = pairs.filter(|&(a, b)| !instance.is_forbidden(a, b) && !instance.is_forbidden(b, a));
    let (mut difference, mut length) = (0, 0);
    for (a, b) in allowed {
        let (there, back) = (i64::from(instance.distance(a, b)), i64::from(instance.distance(b, a)));
        difference += (there - back).abs();
        length += (there + back) / 2;
    }
    PART * difference < length
}

/// Solves an instance in this form. The run started at `begin`; `keep` is called with its population, outside the form.
///
/// # Errors
/// As [`Algorithm::solve`].
pub(super) fn solve(
    algorithm: &Algorithm,
    (instance, form): (&Instance, &Form),
    initial: Option<Vec<u32>>,
    (backend, stop): (&Backend, &Stop),
    contact: Contact<'_>,
    (begin, keep): (Instant, Option<genetic::Keep<'_>>),
) -> Result<Solution, SolveError> {
    let before = begin.elapsed();
    let inward = |(number, tour): (usize, &[u32])| {
        let lacks = || {
            let which = match algorithm.takes_initial_tour() {
                true => "`initial_tour`: it".to_string(),
                false => format!("`load_population`: tour {}", number + 1),
            };
            SolveError::Settings(format!("{which} lacks a fixed edge, or has other ends than the instance"))
        };
        form.inward(tour).ok_or_else(lacks)
    };
    let initial = initial
        .map(|tours| tours.chunks(instance.len()).enumerate().map(inward).collect::<Result<Vec<_>, _>>())
        .transpose()?
        .map(|tours| tours.concat());
    let offset = form.offset();
    let target = stop.target.map(|target| target.saturating_sub(offset));
    let stop = Stop { target, ..stop.spent(before) };
    let Contact { observe, post, outside, resumed } = contact;
    let contact = Contact { observe: &mut *observe, post, outside: outside.of_form(form), resumed };
    let form = (instance, form, before);
    let solved = match keep {
        None => algorithm.solve_in_contact(form.1.instance(), initial, (backend, &stop), contact, None)?,
        Some(keep) => {
            let mut keep = |solved: &Solution, individuals: &mut genetic::Individuals<'_>| {
                // If it is wrong, the run ends with that error.
                if let Ok(solution) = translated(solved.clone(), form, backend) {
                    keep(&solution, &mut individuals.outside(instance, form.1));
                }
            };
            let keep: genetic::Keep<'_> = &mut keep;
            algorithm.solve_in_contact(form.1.instance(), initial, (backend, &stop), contact, Some(keep))?
        }
    };
    translated(solved, form, backend)
}

/// Returns the solution of an instance, given that of its form, which was made in this time.
///
/// # Errors
/// If the tour lacks a fixed edge, or has another length than reported.
fn translated(
    solved: Solution,
    (instance, form, before): (&Instance, &Form, Duration),
    backend: &Backend,
) -> Result<Solution, SolveError> {
    let offset = form.offset();
    let tour = form.outward(&solved.tour).filter(|tour| instance.unused_fixed_edge(tour).is_none());
    let wrong = |what: String| SolveError::Wrong { backend: backend.machine().backend, what };
    let tour = tour.ok_or_else(|| wrong("a tour without a fixed edge".to_string()))?;
    let cost = instance.check_tour(&tour).map_err(|error| wrong(error.to_string()))?;
    if cost != solved.cost + offset {
        return Err(wrong(format!("a tour of length {cost} reported as {}", solved.cost + offset)));
    }
    let before = before.as_secs_f64();
    let outside =
        |better: Better| Better { cost: better.cost + offset, seconds: better.seconds + before, ..better };
    let trace = solved.trace.into_iter().map(outside).collect();
    let (seconds, setup_seconds) = (solved.seconds + before, solved.setup_seconds + before);
    // A few nodes in closed form were solved exactly, by internal costs.
    let stopped_by = match solved.stopped_by {
        StopReason::Optimal if !instance.is_exact() => StopReason::LocalOptimum,
        reason => reason,
    };
    Ok(Solution { tour, cost, seconds, setup_seconds, trace, stopped_by, ..solved })
}

#[cfg(test)]
mod tests {
    use antwarp_core::rng::Stream;

    use super::super::ils::IlsSettings;
    use super::super::lin_kernighan::LinKernighanSettings;
    use super::*;
    use crate::backend::Choice;
    use crate::engine::{LocalSearch, Progress};
    use crate::instance::{Ends, Metric};

    /// Instances of n nodes with random edges fixed and forbidden, of closed tours and open paths, with and without directions.
    fn shaped(n: u32, seed: u64) -> Instance {
        let draws = Stream::new(seed, 0, n).step(0);
        let below = |item: u32, limit: u32| draws.below(item, limit);
        let is_directed = below(0, 2) == 1;
        let instance = if is_directed {
            let cost = |at: u32| if at.is_multiple_of(n + 1) { 0 } else { below(100 + at, 1000) as i32 };
            Instance::from_matrix("m", (0..n * n).map(cost).collect()).unwrap().into_atsp()
        } else if below(1, 2) == 1 {
            let place = |i: u32| [below(100 + 2 * i, 1000).into(), below(101 + 2 * i, 1000).into(), 0.0];
            Instance::from_points("p", Metric::Euc2d, (0..n).map(place).collect()).unwrap()
        } else {
            let cost = |at: u32| {
                let (i, j) = (at / n, at % n);
                if i == j { 0 } else { below(100 + i.min(j) * n + i.max(j), 1000) as i32 }
            };
            Instance::from_matrix("s", (0..n * n).map(cost).collect()).unwrap()
        };
        // Parts of one tour can be fixed together.
        let mut order: Vec<u32> = (0..n).collect();
        order.sort_by_key(|&node| draws.bits(10_000 + node));
        let is_fixed = |at: &u32| below(20_000 + at, 4) == 0;
        let step = |at: u32| (order[at as usize], order[at as usize + 1]);
        let fixed: Vec<(u32, u32)> = (0..n - 1).filter(is_fixed).map(step).collect();
        let forbidden: Vec<(u32, u32)> = (0..n)
            .map(|item| (below(30_000 + 2 * item, n), below(30_001 + 2 * item, n)))
            .filter(|&(a, b)| a != b && !fixed.contains(&(a, b)) && !fixed.contains(&(b, a)))
            .take(below(2, 5) as usize)
            .collect();
        let ends = Ends {
            start: (below(3, 2) == 1).then_some(order[0]),
            end: (below(4, 2) == 1).then_some(order[n as usize - 1]),
        };
        let instance = instance.with_fixed_edges(fixed).with_ends((below(5, 3) > 0).then_some(ends));
        if forbidden.is_empty() { instance } else { instance.with_forbidden_pairs(forbidden).unwrap() }
    }

    fn solved(algorithm: &Algorithm, instance: &Instance, iterations: u64) -> Solution {
        let (backend, _) = Backend::open(Choice::Cpu).unwrap();
        let stop = Stop { iterations: Some(iterations), ..Stop::never() };
        let observe = &mut |_: &Progress| ();
        let contact = Contact { observe, post: None, outside: Default::default(), resumed: None };
        match of(algorithm, instance, &|| false).unwrap() {
            Some(form) => {
                let run = (Instant::now(), None);
                solve(algorithm, (instance, &form), None, (&backend, &stop), contact, run).unwrap()
            }
            None => algorithm.solve_in_contact(instance, None, (&backend, &stop), contact, None).unwrap(),
        }
    }

    fn all() -> [Algorithm; 3] {
        let ils = IlsSettings { local_search: LocalSearch::ThreeOpt, ..Default::default() };
        [
            Algorithm::default(),
            Algorithm::Ils(ils),
            Algorithm::Genetic(genetic::GeneticSettings::of(genetic::Crossover::Eax)),
        ]
    }

    /// Forbidden edges then cost as much as edges that do not exist.
    #[test]
    fn few_roads_of_large_costs_lead_to_a_tour() {
        for seed in 0..3 {
            let n = 40;
            let draws = Stream::new(seed, 0, 0).step(0);
            let mut costs = vec![f64::INFINITY; n * n];
            for i in 0..n {
                // A ring, and two other roads of each node.
                costs[i * n + (i + 1) % n] = 99.123_456 + f64::from(draws.unit(i as u32));
                for item in 0..2 {
                    let to = draws.below(100 + 2 * i as u32 + item, n as u32) as usize;
                    costs[i * n + to] = 9.0 + f64::from(draws.unit(1000 + 2 * i as u32 + item));
                }
            }
            let instance = Instance::from_costs("roads", costs).unwrap().into_atsp();
            let found = solved(&Algorithm::default(), &instance, 150);
            assert!(instance.forbidden_steps(&found.tour).len() <= 1, "{seed}: {:?}", found.tour);
        }
        let most = |at: usize| if at % 19 < 9 { i32::MAX } else { at as i32 };
        let instance = Instance::from_matrix("m", (0..20 * 20).map(most).collect()).unwrap();
        assert!(!instance.is_symmetric());
        assert_eq!(solved(&Algorithm::default(), &instance, 50).tour.len(), 20);
    }

    #[test]
    fn a_run_that_is_over_before_it_starts_has_a_tour_of_the_right_shape() {
        let fixed: Vec<(u32, u32)> = (0..30).map(|i| (3 * i, 3 * i + 2)).collect();
        let place = |i: u32| [f64::from(i * 37 % 100), f64::from(i * 11 % 97), 0.0];
        let instance = Instance::from_points("p", Metric::Euc2d, (0..100).map(place).collect()).unwrap();
        let instance = instance.with_fixed_edges(fixed);
        let (backend, _) = Backend::open(Choice::Cpu).unwrap();
        let stop = Stop::after(std::time::Duration::ZERO);
        for algorithm in all() {
            let found = algorithm.solve(&instance, None, (&backend, &stop), &mut |_: &Progress| (), None);
            assert_eq!(instance.unused_fixed_edge(&found.unwrap().tour), None, "{}", algorithm.name());
        }
    }

    #[test]
    fn a_whole_tour_may_be_fixed() {
        let all: Vec<(u32, u32)> = (0..20).map(|i| (i, (i + 1) % 20)).collect();
        let cost = |at: usize| (at * 7919 % 1009) as i32;
        let directed = Instance::from_matrix("m", (0..20 * 20).map(cost).collect()).unwrap();
        let place = |i: u32| [f64::from(i * 37 % 100), f64::from(i * 11 % 97), 0.0];
        let places = Instance::from_points("p", Metric::Euc2d, (0..20).map(place).collect()).unwrap();
        for instance in [directed, places] {
            for fixed in [&all[..], &all[..19]] {
                let instance = instance.clone().with_fixed_edges(fixed.to_vec());
                let found = solved(&Algorithm::default(), &instance, 10);
                assert_eq!(instance.unused_fixed_edge(&found.tour), None);
            }
        }
    }

    /// Several orders for the same address, once with an end and a fixed edge: neighbour lists of eight would hold only nodes of the
    /// same place.
    #[test]
    fn many_nodes_at_the_same_place_cost_nothing() {
        let places: Vec<[f64; 3]> =
            (0..11).map(|i| [f64::from(i * 37 % 101) * 10.0, f64::from(i * 53 % 89) * 10.0, 0.0]).collect();
        let points = |places: Vec<[f64; 3]>| Instance::from_points("p", Metric::Ceil2d, places).unwrap();
        let few = points(places.clone());
        let many = points((0..200).map(|i| places[i * 7 % 11]).collect());
        let n = many.len() as u32;
        let costs = (0..n * n).map(|at| many.distance(at / n, at % n)).collect();
        let matrix = Instance::from_matrix("m", costs).unwrap();
        let optimum = |few: &Instance| few.check_tour(&exact::shortest(few).unwrap()).unwrap();
        let solved = |instance: &Instance, iterations| {
            let (backend, _) = Backend::open(Choice::Cpu).unwrap();
            let stop = Stop { iterations: Some(iterations), ..Stop::never() };
            let observe = &mut |_: &Progress| ();
            Algorithm::default().solve(instance, None, (&backend, &stop), observe, None).unwrap()
        };
        for instance in [&many, &matrix, &matrix.clone().into_atsp()] {
            let found = solved(instance, 20);
            assert_eq!(instance.check_tour(&found.tour), Ok(optimum(&few)));
        }
        let ends = Some(Ends { start: Some(0), end: None });
        let found = solved(&many.clone().with_ends(ends), 500);
        assert_eq!((found.tour[0], found.cost), (0, optimum(&few.with_ends(ends))));
    }

    #[test]
    fn an_initial_tour_that_visits_a_place_often_is_taken_as_it_is() {
        let place = |i: u32| [f64::from(i % 4) * 1e3, f64::from(i % 4 / 2) * 1e3, 0.0];
        let instance = Instance::from_points("p", Metric::Euc2d, (0..40).map(place).collect()).unwrap();
        let often: Vec<u32> = (0..40).collect();
        let sorted: Vec<u32> = (0..4).flat_map(|place| (0..10).map(move |i| 4 * i + place)).collect();
        let form = |tour, state| thinned(&Algorithm::default(), &instance, (tour, state));
        assert!(form(Some(&often[..]), None).is_none());
        assert!(form(Some(&sorted[..]), None).is_some());
        // A checkpoint of such a run.
        let [mut long, mut short] = [State::default(), State::default()];
        long.put(&often).unwrap();
        short.put(&[0_u32; 8]).unwrap();
        assert!(form(None, Some(&long)).is_none());
        assert!(form(None, Some(&short)).is_some());
        // With directions.
        let n = instance.len() as u32;
        let costs = (0..n * n).map(|at| instance.distance(at / n, at % n)).collect();
        let directed = Instance::from_matrix("m", costs).unwrap().into_atsp();
        let form = |state| thinned(&Algorithm::default(), &directed, (None, Some(state)));
        let mut doubled = State::default();
        doubled.put(&[0_u32; 16]).unwrap();
        assert!(form(&doubled).is_some() && form(&short).is_none() && form(&long).is_none());
    }

    /// Trips to stops that are far from each other, but near a depot to which each trip returns: tours visit it again and again.
    #[test]
    fn a_place_to_which_tours_return_keeps_its_nodes() {
        let (depots, n) = (20, 60);
        let cost = |at: u32| match (at / n, at % n) {
            (a, b) if a == b || a < depots && b < depots => 0,
            (a, b) if a < depots || b < depots => 1,
            (a, b) => 90 + ((a.min(b) * 31 + a.max(b) * 17) % 10) as i32,
        };
        let instance = Instance::from_matrix("hub", (0..n * n).map(cost).collect()).unwrap();
        assert!(Form::thinned(&instance).is_some());
        assert!(thinned(&Algorithm::default(), &instance, (None, None)).is_none());
        let few = Instance::from_points(
            "few",
            Metric::Euc2d,
            (0..40).map(|i| [f64::from(i % 4), 0.0, 0.0]).collect(),
        );
        assert!(
            thinned(&Algorithm::default(), &few.unwrap(), (None, None)).is_none(),
            "rounding decides there"
        );
    }

    /// Of fewer nodes, forms would be solved exactly themselves.
    #[test]
    fn few_nodes_get_the_optimum_in_any_shape() {
        let mut counts = [[0; 2]; 3];
        for seed in 0..24 {
            let instance = shaped(13 + (seed % 4) as u32, seed);
            let optimum = exact::shortest(&instance).map(|tour| instance.check_tour(&tour).unwrap());
            for (algorithm, counts) in all().iter().zip(&mut counts) {
                if check(algorithm, &instance).is_err() {
                    continue;
                }
                let found = solved(algorithm, &instance, if algorithm.has_population() { 20 } else { 100 });
                assert!(Some(found.cost) >= optimum, "{seed}");
                counts[usize::from(Some(found.cost) == optimum)] += 1;
            }
        }
        // An open path with three free nodes may be a local optimum.
        for [others, optima] in counts {
            assert!(optima >= 8 && others <= 1, "{counts:?}");
        }
    }

    #[test]
    fn more_nodes_keep_their_shape_on_any_number_of_threads() {
        for seed in 0..8 {
            let instance = shaped(30 + 17 * seed as u32, seed);
            let algorithm = Algorithm::LinKernighan(LinKernighanSettings { seed, ..Default::default() });
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| solved(&algorithm, &instance, 60))
            };
            let found = on(1);
            assert_eq!(instance.unused_fixed_edge(&found.tour), None, "{seed}");
            assert!(instance.forbidden_steps(&found.tour).is_empty(), "{seed}");
            let Ends { start, end } = instance.ends().unwrap_or_default();
            assert!(start.is_none_or(|start| found.tour[0] == start), "{seed}");
            assert!(end.is_none_or(|end| found.tour.last() == Some(&end)), "{seed}");
            assert_eq!(on(3).tour, found.tour, "{seed}");
        }
    }
}
