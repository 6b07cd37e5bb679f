//! Random small problems of neighbourhood search, with the cost of their solutions by definition and the least one of all.

use antwarp::backend::Backend;
use antwarp::instance::Qap;
use antwarp::prelude::*;
use antwarp::solver::search::problems::{Partition, Perceptron, max_cut, partition};
use antwarp::solver::search::{
    Assignment, Changes, Chooser, Cost, Found, Improvement, Precision, SearchSettings, Strategy, Task,
    TourMove, WeierstrassSpec,
};

use crate::draws::Draws;
use crate::soak::{Machine, Tally, instance};

/// The cost of a solution, or why it is none.
type CostOf = Box<dyn Fn(&[f64]) -> Result<f64, String>>;

/// A problem, and what is right.
struct Judged {
    task: Task,
    cost: CostOf,
    /// That of the best solution, or what no solution is below.
    least: f64,
    /// By how much a cost may be off, because sums of real numbers are.
    tolerance: f64,
    /// Whether a search takes it.
    is_fit: bool,
}

/// The least cost of all lists of `n` numbers below `k`.
fn least_of_lists(n: usize, k: usize, cost: &CostOf) -> f64 {
    let list = |number: usize| (0..n).map(|at| (number / k.pow(at as u32) % k) as f64).collect::<Vec<_>>();
    (0..k.pow(n as u32)).map(|number| cost(&list(number)).unwrap()).fold(f64::INFINITY, f64::min)
}

/// The least cost of all permutations.
fn least_of_permutations(order: &mut Vec<f64>, at: usize, cost: &CostOf) -> f64 {
    if at == order.len() {
        return cost(order).unwrap();
    }
    let mut least = f64::INFINITY;
    for next in at..order.len() {
        order.swap(at, next);
        least = least.min(least_of_permutations(order, at + 1, cost));
        order.swap(at, next);
    }
    least
}

fn is_permutation(order: &[f64]) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.iter().enumerate().all(|(i, &x)| x == i as f64)
}

fn qap(draws: &mut Draws) -> Judged {
    let n = 2 + draws.below(6);
    let low = draws.one_of(&[0, -5]);
    let most = draws.one_of(&[1, 9, 30_000]);
    let is_symmetric = draws.chance(0.5);
    let mut matrix = || {
        let mut matrix: Vec<i32> = (0..n * n).map(|_| draws.between(low, most) as i32).collect();
        if is_symmetric {
            (0..n).for_each(|i| (0..i).for_each(|j| matrix[i * n + j] = matrix[j * n + i]));
        }
        matrix
    };
    let (a, b) = (matrix(), matrix());
    let changes = draws.one_of(&[Changes::Auto, Changes::Linear]);
    let task = Task::Qap(Qap::from_matrices("random", n as u32, a.clone(), b.clone()).unwrap(), changes);
    let cost: CostOf = Box::new(move |order| {
        if order.len() != n || !is_permutation(order) {
            return Err("no permutation".to_owned());
        }
        let at = |i: usize, j: usize| {
            f64::from(a[i * n + j]) * f64::from(b[order[i] as usize * n + order[j] as usize])
        };
        Ok((0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| at(i, j)).sum())
    });
    let least = least_of_permutations(&mut (0..n).map(|i| i as f64).collect(), 0, &cost);
    Judged { task, cost, least, tolerance: 0.0, is_fit: true }
}

fn perceptron(draws: &mut Draws) -> Judged {
    let (m, n) = (1 + draws.below(12), 1 + draws.below(9));
    let distance = 1 + draws.below(3) as u32;
    let perceptron = Perceptron::generate(m as u32, n as u32, draws.any()).unwrap();
    let sign = |row: usize, column: usize| 2 * (perceptron.rows[row] >> column & 1) as i64 - 1;
    let rows: Vec<Vec<i64>> = (0..m).map(|row| (0..n).map(|column| sign(row, column)).collect()).collect();
    let target = perceptron.target.clone();
    let cost: CostOf = Box::new(move |signs| {
        if signs.len() != n || signs.iter().any(|&sign| sign != 1.0 && sign != -1.0) {
            return Err("no signs".to_owned());
        }
        let product = |row: &Vec<i64>| row.iter().zip(signs).map(|(a, &v)| a * v as i64).sum::<i64>();
        let products: Vec<i64> = rows.iter().map(product).collect();
        let negative: i64 = products.iter().map(|y| y.abs() - y).sum();
        let has = |v: usize| products.iter().filter(|&&y| y == v as i64).count() as i64;
        let off: i64 = (0..=n).map(|v| (has(v) - i64::from(target[v])).abs()).sum();
        Ok((30 * negative + off) as f64)
    });
    // It is made around a solution that costs nothing.
    Judged {
        task: Task::Perceptron(perceptron, distance),
        cost,
        least: 0.0,
        tolerance: 0.0,
        is_fit: n >= distance as usize,
    }
}

fn numbers(draws: &mut Draws) -> Judged {
    let (n, sets) = (1 + draws.below(8), 2 + draws.below(2));
    let most = draws.one_of(&[1, 20, 1_000_000, 100_000_000]);
    let numbers: Vec<i64> = (0..n).map(|_| draws.between(1, most)).collect();
    let text = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let partition: Partition = partition::parse("random", "random", text.as_bytes(), sets as u32).unwrap();
    let cost: CostOf = Box::new(move |assignment| {
        if assignment.len() != n || assignment.iter().any(|&set| set < 0.0 || set >= sets as f64) {
            return Err("no assignment".to_owned());
        }
        let sum = |set: usize| {
            let of = assignment.iter().zip(&numbers).filter(|&(&own, _)| own == set as f64);
            of.map(|(_, number)| number).sum::<i64>()
        };
        Ok((0..sets).map(|set| sum(set).pow(2)).sum::<i64>() as f64)
    });
    let least = least_of_lists(n, sets, &cost);
    Judged { task: Task::Partition(partition), cost, least, tolerance: 0.0, is_fit: true }
}

fn cut(draws: &mut Draws) -> Judged {
    let n = 1 + draws.below(9);
    let most = draws.one_of(&[1, 10, 100_000_000]);
    let mut edges = Vec::new();
    for _ in 0..if n < 2 { 0 } else { draws.below(20) } {
        let mut ends = [1, 2];
        while ends[0] == ends[1] || ends == [1, 2] && n > 2 && draws.chance(0.9) {
            ends = [1 + draws.below(n), 1 + draws.below(n)];
        }
        edges.push((ends, draws.between(-most, most)));
    }
    // Edges at a node weigh less than 2^30 in all.
    edges.truncate(if most > 10 { 9 } else { 20 });
    let line = |&([a, b], weight): &([usize; 2], i64)| format!("{a} {b} {weight}\n");
    let text = format!("{n} {}\n{}", edges.len(), edges.iter().map(line).collect::<String>());
    let graph = max_cut::parse("random", "random", text.as_bytes()).unwrap();
    let cost: CostOf = Box::new(move |sides| {
        if sides.len() != n || sides.iter().any(|&side| side != 0.0 && side != 1.0) {
            return Err("no sides".to_owned());
        }
        let crossing = edges.iter().filter(|([a, b], _)| sides[a - 1] != sides[b - 1]);
        Ok(-(crossing.map(|(_, weight)| weight).sum::<i64>() as f64))
    });
    let least = least_of_lists(n, 2, &cost);
    Judged { task: Task::MaxCut(graph), cost, least, tolerance: 0.0, is_fit: true }
}

fn weierstrass(draws: &mut Draws) -> Judged {
    let spec = WeierstrassSpec {
        dimensions: 1 + draws.below(4) as u32,
        terms: 1 + draws.below(20) as u32,
        b: draws.one_of(&[2.0, 3.0, 1.5]),
        h: draws.one_of(&[0.25, 0.9]),
        shells: 1 + draws.below(200) as u32,
        radius: draws.one_of(&[0.1, 1.0]),
        tabu_radius: draws.one_of(&[0.0, 0.01]),
    };
    let precision = draws.one_of(&[Precision::F32, Precision::F64]);
    let amplitude = {
        let (b, h) = (spec.b, spec.h);
        move |i: u32| b.powf(-f64::from(i) * h)
    };
    let least = -f64::from(spec.dimensions) * (1..=spec.terms).map(amplitude).sum::<f64>();
    let (b, n, terms) = (spec.b, spec.dimensions as usize, spec.terms);
    let cost: CostOf = Box::new(move |x| {
        if x.len() != n || x.iter().any(|x| x.abs() > 1.0) {
            return Err("no point of the cube".to_owned());
        }
        // Arguments of the sine are rounded, as all real numbers are.
        let argument = |i: u32, x: f64| match precision {
            Precision::F32 => f64::from(b.powi(i as i32) as f32 * x as f32),
            Precision::F64 => b.powi(i as i32) * x,
        };
        let at = |x: f64| (1..=terms).map(|i| amplitude(i) * argument(i, x).sin()).sum::<f64>();
        Ok(x.iter().map(|&x| at(x)).sum())
    });
    let tolerance = if precision == Precision::F32 { 1e-4 } else { 1e-9 };
    Judged { task: Task::Weierstrass(spec, precision), cost, least, tolerance, is_fit: true }
}

fn tour(machine: &Machine, draws: &mut Draws, told: &mut String) -> Result<Judged, String> {
    let n = 1 + draws.below(10);
    let (instance, file) = instance(machine, draws, n, told)?;
    let step = draws.one_of(&[TourMove::Swap, TourMove::Rotate]);
    let ids: Vec<i64> = (0..instance.len() as u32).map(|node| instance.id(node).into()).collect();
    let is_fit = instance.len() >= 4 && file.judge.fixed.is_empty();
    let least = file.judge.optimum() as f64;
    let cost: CostOf = Box::new(move |tour| {
        let ids: Vec<i64> = tour.iter().map(|&node| ids[node as usize]).collect();
        file.judge.length(&ids).map(|length| length as f64)
    });
    Ok(Judged { task: Task::Tour(Box::new(instance), step), cost, least, tolerance: 0.0, is_fit })
}

/// Random settings, and when to stop.
fn order(draws: &mut Draws, judged: &Judged) -> (SearchSettings, Stop) {
    // The host chooses for the first two only, and the last needs several neighbourhoods.
    let all = [
        Strategy::Tabu,
        Strategy::HillClimbing,
        Strategy::Annealing,
        Strategy::Ils,
        Strategy::Vns,
        Strategy::Vnd,
    ];
    let last = if judged.task.neighborhoods() > 1 { 6 } else { 5 };
    let selection = draws.one_of(&[Chooser::Device, Chooser::Device, Chooser::Host]);
    let is_host = selection == Chooser::Host;
    let strategy = draws.one_of(&all[..if is_host { 2 } else { last }]);
    let finds_first = strategy.descends() && !is_host && draws.chance(0.5);
    let target = draws.maybe(|draws| judged.least + draws.one_of(&[0.0, 1.0, -1.0]));
    let settings = SearchSettings {
        strategy,
        seed: draws.any(),
        walks: if is_host { 1 } else { 1 + draws.below(5) as u32 },
        cooperate: if is_host { None } else { draws.maybe(|draws| 1 + draws.below(30) as u64) },
        restart: if is_host { None } else { draws.maybe(|draws| 1 + draws.below(60) as u64) },
        recombine: false,
        tenure: draws.maybe(|draws| draws.one_of(&[(0, 0), (1, 3), (5, 50)])),
        aspiration: draws.maybe(|draws| draws.one_of(&[0, 10, 100_000])),
        descents: draws.maybe(|draws| 1 + draws.below(20) as u32),
        neighborhoods: None,
        improvement: if finds_first { Improvement::First } else { Improvement::Best },
        kicks: draws.maybe(|draws| u32::from(strategy == Strategy::Vns) + draws.below(6) as u32),
        temperatures: draws.maybe(|draws| draws.one_of(&[(1.0, 1.0), (1e6, 1e-3), (1e-6, 1e-6)])),
        cooling: draws.maybe(|draws| 1 + draws.below(1000) as u64),
        selection,
        target: target.map(Cost::Real),
        // With none, shapes are tried out, and what is found is written to a file.
        blocks: Some(1 + draws.below(3) as u32),
        block_threads: Some(32 * (1 + draws.below(4) as u32)),
        retune: false,
        retune_all: false,
    };
    let iterations = Some(1 + draws.below(400) as u64);
    let time = if draws.chance(0.1) { Some(Duration::from_millis(draws.below(10) as u64)) } else { None };
    (settings, Stop { iterations, time, ..Stop::never() })
}

/// Searches a random problem in a random way.
pub fn case(
    machine: &Machine,
    draws: &mut Draws,
    tally: &mut Tally,
    told: &mut String,
) -> Result<(), String> {
    let judged = match draws.below(6) {
        0 => qap(draws),
        1 => perceptron(draws),
        2 => numbers(draws),
        3 => cut(draws),
        4 => weierstrass(draws),
        _ => tour(machine, draws, told)?,
    };
    let (settings, stop) = order(draws, &judged);
    let Judged { task, cost, least, tolerance, is_fit } = &judged;
    *told += &format!("\n{}, {} elements\n{settings:?}\n{stop:?}", task.problem(), task.elements());
    let run = |backend: &Backend| task.run(backend, &settings, &stop, &mut |_| ());
    let run = match &machine.device {
        Some(device) => run(device),
        None => machine.pool(draws).install(|| run(&Backend::open(Choice::Cpu)?.0)),
    };
    let done = match (run, is_fit) {
        (Ok(done), true) => done,
        (Err(SolveError::Settings(_) | SolveError::Unsupported { .. }), false) => return Ok(()),
        (Err(error), _) => return Err(error.to_string()),
        (Ok(done), false) => return Err(format!("what has no neighbours was searched: {:?}", done.found)),
    };
    let found: Found<Assignment> = done.found;
    let solution: Vec<f64> = match &found.solution {
        Assignment::Integers(solution) => solution.iter().map(|&x| x as f64).collect(),
        Assignment::Reals(solution) => solution.clone(),
    };
    let wrong = |what: String| Err(format!("{what}: {found:?}"));
    let real = cost(&solution)?;
    if (real - found.cost.as_f64()).abs() > *tolerance {
        return wrong(format!("the solution costs {real}"));
    }
    if found.cost.as_f64() < least - tolerance {
        return wrong(format!("no solution is below {least}"));
    }
    if found.costs.iter().any(|&cost| cost.as_f64() < found.cost.as_f64() - tolerance) {
        return wrong("a walk found a better solution".to_owned());
    }
    let target = settings.target.or(task.best_known().map(|known| known.cost.into()));
    if found.stopped_by == StopReason::Target
        && target.is_none_or(|target| found.cost.as_f64() > target.as_f64() + tolerance)
    {
        return wrong("the target was not reached".to_owned());
    }
    let label = format!(
        "{} {:?}{}",
        task.problem(),
        settings.strategy,
        if settings.selection == Chooser::Host { " host" } else { "" }
    );
    // Of real numbers only a bound is known.
    let is_known = !matches!(task, Task::Weierstrass(..));
    tally.count(label.to_lowercase(), is_known.then_some(found.cost.as_f64() <= *least));
    Ok(())
}
