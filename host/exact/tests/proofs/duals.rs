//! The bound of dual values, by its definition and against optimal tours.

use std::collections::BTreeSet;
use std::sync::Arc;

use antwarp_exact::duals::{Branch, Duals, Reduced, Side, UNIT_BITS, to_cost};
use antwarp_exact::pricing::{Edge, price};
use antwarp_exact::{Cut, Master};
use antwarp_instance::form::Form;
use antwarp_instance::{Ends, Instance, Metric, Watch};

use crate::{Draws, instance, optimum};

tests!(
    the_bound_is_that_of_its_definition,
    no_bound_is_above_the_optimum,
    places_are_priced_like_pairs,
    absurd_dual_values_give_no_bound,
    units_are_rounded_up,
);

fn cuts(draws: &mut Draws, n: u32) -> Vec<Arc<Cut>> {
    let mut cuts: Vec<Arc<Cut>> = (0..4).map(|_| Arc::new(Cut::subtour(draws.set(n)))).collect();
    if n >= 6 {
        let handle = vec![0, 1, 2];
        cuts.push(Arc::new(Cut::comb(handle, vec![vec![0, 3], vec![1, 4], vec![2, 5]])));
    }
    cuts
}

fn duals(draws: &mut Draws, n: usize, cuts: &[Arc<Cut>], largest: i64) -> Duals {
    let mut y = |low: i64| (draws.below((largest - low) as u64) as i64 + low) << (UNIT_BITS - 4);
    let nodes = (0..n).map(|_| y(-largest / 4)).collect();
    Duals { nodes, cuts: (0..cuts.len()).map(|cut| (cut, y(0))).collect(), branches: Vec::new() }
}

/// The bound, straight from the definition.
fn defined(instance: &Instance, duals: &Duals, cuts: &[Arc<Cut>]) -> i128 {
    let n = instance.len() as u32;
    let mut bound: i128 = duals.nodes.iter().map(|&y| 2 * i128::from(y)).sum();
    bound += duals.cuts.iter().map(|&(cut, y)| i128::from(y * cuts[cut].right_side())).sum::<i128>();
    for a in 0..n {
        for b in a + 1..n {
            if !instance.has_edge(a, b) {
                continue;
            }
            let mut reduced = i128::from(instance.distance(a, b)) << UNIT_BITS;
            reduced -= i128::from(duals.nodes[a as usize]) + i128::from(duals.nodes[b as usize]);
            for &(cut, y) in &duals.cuts {
                reduced -= i128::from(y) * i128::from(cuts[cut].coefficient(a, b));
            }
            let is_fixed = instance.partners().is_some_and(|partners| partners[a as usize] == b);
            bound += if is_fixed { reduced } else { reduced.min(0) };
        }
    }
    bound
}

fn the_bound_is_that_of_its_definition() {
    let mut draws = Draws(1);
    for case in 0..200 {
        let instance = instance(&mut draws, 4 + case % 9);
        let cuts = cuts(&mut draws, instance.len() as u32);
        let duals = duals(&mut draws, instance.len(), &cuts, 400);
        let reduced = Reduced::new(&duals, &cuts, &[]).unwrap();
        let priced = price(&instance, &reduced, (0, 0), &Watch::new(&|| false)).unwrap();
        assert_eq!(priced.bound, defined(&instance, &duals, &cuts), "case {case}");
    }
}

fn no_bound_is_above_the_optimum() {
    let mut draws = Draws(2);
    for case in 0..150 {
        let instance = instance(&mut draws, 4 + case % 6);
        let cuts = cuts(&mut draws, instance.len() as u32);
        let best = optimum(&instance);
        for largest in [1, 20, 200, 2000] {
            let duals = duals(&mut draws, instance.len(), &cuts, largest);
            let bound = to_cost(defined(&instance, &duals, &cuts));
            assert!(bound <= best, "case {case}: {bound} > {best}");
        }
    }
}

/// More places than pricing searches pair by pair.
const PLACES: usize = 400;

/// Places of a metric: far apart, or near each other around the date line and a pole.
fn places(draws: &mut Draws, metric: Metric) -> Instance {
    let mut number = |limit: u64| draws.below(limit * 100) as f64 / 100.0;
    let is_on_globe = matches!(metric, Metric::Geo | Metric::Geom);
    let places = (0..PLACES).map(|at| match at % 3 {
        0 if is_on_globe => [number(180) - 90.0, number(360) - 180.0, 0.0],
        1 if is_on_globe => [number(2) - 1.0, if number(2) < 1.0 { 179.5 } else { -179.5 }, 0.0],
        _ if is_on_globe => [89.0 + number(1), number(360) - 180.0, 0.0],
        _ => [number(85), number(170), number(13)],
    });
    Instance::from_points("places", metric, places.collect()).unwrap()
}

/// Great circles in metres.
fn sphere(draws: &mut Draws) -> Instance {
    let mut number = |limit: u64| draws.below(limit * 100) as f64 / 100.0;
    let near = |at: usize| if at.is_multiple_of(2) { 0.01 } else { 1.0 };
    let places = (0..PLACES).map(|at| [near(at) * (number(180) - 90.0), near(at) * (number(360) - 180.0)]);
    Instance::from_degrees("sphere", places.collect()).unwrap()
}

/// All edges that are not between partners with a reduced cost up to a limit, by a loop over all pairs.
fn listed(instance: &Instance, reduced: &Reduced, limit: i64) -> Vec<(Edge, i64)> {
    let n = instance.len() as u32;
    let is_partner = |a: u32, b: u32| instance.partners().is_some_and(|partners| partners[a as usize] == b);
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    pairs
        .filter(|&(a, b)| instance.has_edge(a, b) && !is_partner(a, b))
        .map(|(a, b)| (Edge::of(instance, a, b), reduced.of(a, b, instance.distance(a, b))))
        .filter(|&(_, reduced)| reduced <= limit)
        .collect()
}

fn places_are_priced_like_pairs() {
    let mut draws = Draws(3);
    let mut instances: Vec<Instance> = Metric::ALL.map(|metric| places(&mut draws, metric)).into();
    instances.push(sphere(&mut draws));
    for instance in instances {
        let mut pair = || (draws.below(PLACES as u64) as u32, draws.below(PLACES as u64) as u32);
        let mut pairs: Vec<(u32, u32)> = (0..3000).map(|_| pair()).filter(|(a, b)| a != b).collect();
        pairs.retain(|&(a, b)| a.min(b) > 9);
        let fixed = (0..3)
            .map(|path| vec![(path * 3, path * 3 + 1), (path * 3 + 1, path * 3 + 2)])
            .collect::<Vec<_>>();
        let ends = Some(Ends { start: Some(20), end: None });
        let closed = |instance: &Instance| Form::closed(instance).unwrap().into_instance();
        let shapes = [
            closed(&instance.clone().with_fixed_edges(fixed.concat())),
            closed(&instance.clone().with_ends(ends)),
            instance.clone().with_forbidden_pairs(pairs).unwrap(),
            instance,
        ];
        for (shape, instance) in shapes.iter().enumerate() {
            let n = instance.len();
            let what = format!("{:?}, shape {shape}", instance.metric());
            assert!(instance.metric().is_some() && n > 300, "{what} is not searched in a tree");
            let cuts: Vec<Arc<Cut>> = (0..20)
                .map(|_| {
                    let set: BTreeSet<u32> = (0..40).map(|_| draws.below(n as u64) as u32).collect();
                    Arc::new(Cut::subtour(set.into_iter().collect()))
                })
                .collect();
            // Some edges, not all, have a negative reduced cost.
            let lengths = (1..n as u32).filter(|&b| instance.has_edge(0, b)).map(|b| instance.distance(0, b));
            let mut lengths: Vec<i64> = lengths.map(i64::from).collect();
            lengths.sort_unstable();
            let tenth = lengths[lengths.len() / 10];
            let duals = duals(&mut draws, n, &cuts, 2 + 16 * tenth);
            let reduced = Reduced::new(&duals, &cuts, &[]).unwrap();
            let limit = tenth << (UNIT_BITS - 3);
            let priced = price(instance, &reduced, (limit, usize::MAX), &Watch::new(&|| false)).unwrap();
            assert_eq!(priced.bound, defined(instance, &duals, &cuts), "{what}");
            let listed = listed(instance, &reduced, limit);
            assert!(listed.len() > 50 && listed.len() < n * n / 2 - 10 * n, "{what}: {} edges", listed.len());
            assert_eq!(priced.edges, listed, "{what}");
        }
    }
}

fn absurd_dual_values_give_no_bound() {
    let cuts = [Arc::new(Cut::subtour(vec![0, 1]))];
    let set: Arc<[u32]> = vec![1, 2].into();
    let branches = [Branch { set, side: Side::Two }];
    let of = |nodes: i64, cut: (usize, i64), branch: (usize, i64)| {
        let duals = Duals { nodes: vec![nodes; 5], cuts: vec![cut], branches: vec![branch] };
        Reduced::new(&duals, &cuts, &branches).is_some()
    };
    assert!(of(5, (0, 1), (0, -1)));
    assert!(!of(i64::MAX, (0, 1), (0, -1)));
    assert!(!of(i64::MIN, (0, 1), (0, -1)));
    assert!(!of(5, (0, -1), (0, -1)), "a cut's dual value is negative");
    assert!(!of(5, (0, 1), (0, 1)), "a border of at most two has a positive one");
    assert!(!of(5, (1, 1), (0, -1)), "the cut does not exist");
    assert!(!of(5, (0, i64::MAX), (0, -1)));
}

fn units_are_rounded_up() {
    assert_eq!([0, 1, 1 << UNIT_BITS, (1 << UNIT_BITS) + 1, -1].map(to_cost), [0, 1, 1, 2, 0]);
    let instance = Instance::from_matrix("m", vec![0, 7, 7, 0]).unwrap();
    assert_eq!(Edge::of(&instance, 1, 0), Edge { a: 0, b: 1, cost: 7 });
    assert_eq!(Master::first_edges(&instance, &[]).len(), 1);
}
