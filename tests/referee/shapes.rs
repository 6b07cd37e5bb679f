//! Random instances of a few nodes whose tours have any shape: directed or not, open or closed, with fixed and forbidden edges, on
//! places, degrees and matrices.

use antwarp::instance::Ends;
use antwarp::prelude::*;

use crate::draws::Draws;
use crate::judge::metric;
use crate::judge::shape::{Score, Shaped, great_circle};

tests! {
    shapes_are_solved_as_the_judge_solves_them,
}

/// Most nodes.
const MOST: usize = 12;
/// Cases of each combination.
const CASES: usize = 6;
/// Whence the costs are.
const KINDS: [&str; 6] = ["rounded", "places", "degrees", "symmetric", "directed", "decimals"];

/// An instance without a shape, and its costs.
fn plain(draws: &mut Draws, kind: &str, n: usize) -> (Instance, Shaped) {
    let pairs = |cost: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        (0..n).map(|i| (0..n).map(|j| if i == j { 0.0 } else { cost(i, j) }).collect()).collect()
    };
    let places: Vec<[f64; 3]> = (0..n)
        .map(|_| [1e3 * draws.unit(), 1e3 * draws.unit(), 0.0].map(|c: f64| (8.0 * c).round() / 8.0))
        .collect();
    let (instance, costs) = match kind {
        "rounded" => {
            let costs = pairs(&|i, j| metric::weight("EUC_2D", places[i], places[j]) as f64);
            (Instance::from_points("rounded", Metric::Euc2d, places), costs)
        }
        "places" => {
            let length =
                |i: usize, j: usize| (places[i][0] - places[j][0]).hypot(places[i][1] - places[j][1]);
            let costs = pairs(&length);
            (Instance::from_places("places", 2, places), costs)
        }
        "degrees" => {
            let on_earth: Vec<[f64; 2]> =
                places.iter().map(|p| [p[0] * 0.18 - 90.0, p[1] * 0.36 - 180.0]).collect();
            let costs = pairs(&|i, j| great_circle(on_earth[i], on_earth[j]));
            (Instance::from_degrees("degrees", on_earth), costs)
        }
        _ => {
            let (unit, low) = if kind == "decimals" { (0.125, -20) } else { (1.0, 0) };
            let drawn: Vec<f64> = (0..n * n).map(|_| unit * draws.between(low, 200) as f64).collect();
            let costs = pairs(&|i, j| match kind {
                "symmetric" => drawn[i.min(j) * n + i.max(j)],
                _ => drawn[i * n + j],
            });
            (Instance::from_costs(kind, costs.concat()), costs)
        }
    };
    let instance = instance.unwrap();
    let is_directed = !instance.is_symmetric();
    (instance, Shaped { costs, is_directed, ends: None, fixed: Vec::new(), forbidden: Vec::new() })
}

/// Some edges: mostly those of a way through the nodes, else any.
fn edges(draws: &mut Draws, n: usize, most: usize) -> Vec<(usize, usize)> {
    let count = 1 + draws.below(most);
    let mut way: Vec<usize> = (0..n).collect();
    draws.shuffle(&mut way);
    let mut edges: Vec<(usize, usize)> = match draws.chance(0.6) {
        true => way.windows(2).take(count).map(|step| (step[0], step[1])).collect(),
        false => (0..count).map(|_| (draws.below(n), draws.below(n))).filter(|(a, b)| a != b).collect(),
    };
    draws.shuffle(&mut edges);
    edges
}

/// The instance with the judge's shape.
fn shaped(instance: Instance, judge: &Shaped) -> Result<Instance, String> {
    let node = |node: usize| node as u32;
    let pairs = |edges: &[(usize, usize)]| edges.iter().map(|&(a, b)| (node(a), node(b))).collect();
    let ends = judge.ends.map(|[start, end]| Ends { start: start.map(node), end: end.map(node) });
    let instance = instance.with_fixed_edges(pairs(&judge.fixed)).with_ends(ends);
    instance.with_forbidden_pairs(pairs(&judge.forbidden)).map_err(|error| error.to_string())
}

/// What antwarp says of a tour, as the judge's score, whose fixed edges are only none or some.
fn told(instance: &Instance, tour: &[u32]) -> Score {
    let lacks = instance.unused_fixed_edge(tour).is_some();
    (lacks.into(), instance.forbidden_steps(tour).len(), instance.tour_cost(tour).as_f64())
}

fn are_same(told: Score, right: Score) -> bool {
    told.0 == right.0.min(1) && told.1 == right.1 && (told.2 - right.2).abs() <= 1e-8 * right.2.abs().max(1.0)
}

fn shapes_are_solved_as_the_judge_solves_them() {
    let (mut solved, mut refused) = (0, 0);
    let mut seed = 0;
    // Open or not, with a start, with an end.
    let shapes = [None, Some([false, false]), Some([true, false]), Some([false, true]), Some([true, true])];
    for kind in KINDS {
        for ends in shapes {
            for (has_fixed, has_forbidden) in [(false, false), (true, false), (false, true), (true, true)] {
                for _ in 0..CASES {
                    seed += 1;
                    let draws = &mut Draws::new(seed);
                    let n = 2 + draws.below(MOST - 1);
                    let (instance, mut judge) = plain(draws, kind, n);
                    judge.ends = ends.map(|ends| ends.map(|is_given| is_given.then(|| draws.below(n))));
                    if has_fixed {
                        judge.fixed = edges(draws, n, 3);
                    }
                    if has_forbidden {
                        judge.forbidden = edges(draws, n, 2 * n);
                    }
                    let case = format!("seed {seed}, {kind}: {judge:?}");
                    if case_is_solved(draws, instance, &judge)
                        .unwrap_or_else(|wrong| panic!("{wrong}\n{case}"))
                    {
                        solved += 1;
                    } else {
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(solved > 3 * refused && refused > 50, "{solved} solved, {refused} refused");
}

/// Whether a case is solved; otherwise it contradicts itself.
fn case_is_solved(draws: &mut Draws, instance: Instance, judge: &Shaped) -> Result<bool, String> {
    let n = instance.len();
    // Costs cannot be scaled if all of them are forbidden.
    let Ok(instance) = shaped(instance, judge) else {
        let all = (0..n).all(|i| (0..n).all(|j| i == j || judge.is_forbidden(i, j)));
        return if all { Ok(false) } else { Err("the shape is refused".to_owned()) };
    };
    for _ in 0..5 {
        let mut tour: Vec<u32> = (0..n as u32).collect();
        draws.shuffle(&mut tour);
        let nodes: Vec<usize> = tour.iter().map(|&node| node as usize).collect();
        // Where a tour starts and ends does not matter here.
        let loose = Shaped { ends: judge.ends.map(|_| [None; 2]), ..judge.clone() };
        let (told, right) = (told(&instance, &tour), loose.score(&nodes).unwrap());
        if !are_same(told, right) {
            return Err(format!("{tour:?} is {told:?}, not {right:?}"));
        }
    }
    let solver = Solver::default().backend(Choice::Cpu);
    let solution = solver.solve(&instance, Stop { iterations: Some(1), ..Stop::never() });
    let optimum = judge.optimum().filter(|optimum| optimum.0 == 0);
    let solution = match (solution, optimum) {
        (Ok(solution), _) => solution,
        (Err(SolveError::Shape(_)), None) => return Ok(false),
        // A node that has no allowed edge, or a fixed edge that is forbidden.
        (Err(SolveError::Shape(_)), Some((_, 1.., _))) => return Ok(false),
        (Err(error), Some(optimum)) => return Err(format!("{error}, but there is a tour of {optimum:?}")),
        (Err(error), None) => return Err(error.to_string()),
    };
    let nodes: Vec<usize> = solution.tour.iter().map(|&node| node as usize).collect();
    let Some(score) = judge.score(&nodes) else { return Err(format!("{nodes:?} has other ends")) };
    let Some(optimum) = optimum else { return Err(format!("{nodes:?} should not exist")) };
    let told = told(&instance, &solution.tour);
    if !are_same(told, score) || !are_same(told, optimum) {
        return Err(format!(
            "{nodes:?} is reported as {told:?} but is {score:?}; the optimum is {optimum:?}"
        ));
    }
    if instance.check_tour(&solution.tour) != Ok(solution.cost) {
        return Err(format!("{} is not its cost inside", solution.cost));
    }
    Ok(true)
}
