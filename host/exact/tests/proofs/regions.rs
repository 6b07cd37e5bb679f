//! Bounds of instances that are divided into regions.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use antwarp_exact::regions::{ascend_by_regions, is_divisible};
use antwarp_exact::root::{Effort, Root, ascend};
use antwarp_exact::simplex::Solver;
use antwarp_exact::{Board, Incumbent, Reduced, pricing};
use antwarp_instance::{Enough, Instance, Metric, Watch};

use crate::liar::{Liar, Lie};
use crate::{Draws, highs, optimum};

tests!(
    regions_are_nearly_as_good_as_the_whole,
    wrong_dual_values_of_regions_prove_less,
    regions_without_a_solution_prove_nothing,
    equal_places_are_bounded,
);

/// More than any of these bounds takes.
const LONG: Duration = Duration::from_secs(600);

/// Returns random places, and a tour of them in strips.
fn places(draws: &mut Draws, n: u32, side: u64) -> (Instance, Vec<u32>) {
    let points: Vec<_> = (0..n).map(|_| [draws.below(side) as f64, draws.below(side) as f64, 0.0]).collect();
    let width = side as f64 / (f64::from(n) / 3.0).sqrt();
    let strip = |node: u32| (points[node as usize][0] / width) as u64;
    let mut tour: Vec<u32> = (0..n).collect();
    tour.sort_by(|&a, &b| {
        let along = points[a as usize][1].total_cmp(&points[b as usize][1]);
        strip(a).cmp(&strip(b)).then(if strip(a).is_multiple_of(2) { along } else { along.reverse() })
    });
    (Instance::from_points("places", Metric::Euc2d, points).unwrap(), tour)
}

/// Bounds an instance in regions of `most` nodes. Ends once it was asked `asked` times whether there is enough.
fn by_regions(solver: &dyn Solver, (instance, tour): (&Instance, &[u32]), most: usize, asked: u64) -> Root {
    assert!(is_divisible(instance));
    let incumbent = Incumbent::new();
    incumbent.offer(instance.check_tour(tour).unwrap(), tour);
    let left = AtomicU64::new(asked);
    let enough = || left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err();
    let until: (Instant, [Enough<'_>; 2]) = (Instant::now() + LONG, [&enough, &|| false]);
    ascend_by_regions(instance, solver, most, (&incumbent, &Board::new(2)), until)
}

fn regions_are_nearly_as_good_as_the_whole() {
    let Some(highs) = highs() else { return };
    let (instance, tour) = places(&mut Draws(5), 300, 10_000);
    let root = by_regions(&highs, (&instance, &tour), 80, u64::MAX);
    assert_eq!(root.trouble, None);
    for cut in &root.cuts {
        cut.check_shape(instance.len()).unwrap();
        assert!(cut.holds_for(&tour));
    }
    let reduced = Reduced::new(&root.duals, &root.cuts, &[]).unwrap();
    let watch = Watch::new(&|| false);
    let priced = pricing::price(&instance, &reduced, (0, 0), &watch).unwrap();
    assert_eq!(priced.bound, root.units);

    let incumbent = Incumbent::new();
    incumbent.offer(instance.check_tour(&tour).unwrap(), &tour);
    let effort = Effort { progress: 0.0025, is_for_tree: false, enough: &|| false, closing: &|| false };
    let whole = ascend(&instance, &highs, &[], (&incumbent, &Board::new(2)), &effort);
    let (part, whole) = (root.bound as f64, whole.bound as f64);
    assert!((0.995 * whole..1.005 * whole).contains(&part), "{part} by regions, {whole} as a whole");
}

fn wrong_dual_values_of_regions_prove_less() {
    let Some(highs) = highs() else { return };
    let mut draws = Draws(23);
    let mut tight = 0;
    let mut liar = Liar { highs, lie: Lie::None };
    for case in 0..30 {
        let (instance, tour) = places(&mut draws, 6 + case % 4, 30);
        let best = optimum(&instance);
        for lie in [Lie::None, Lie::Duals] {
            liar.lie = lie;
            // A library that always finds something else keeps the rounds going.
            let root = by_regions(&liar, (&instance, &tour), 3, 5000);
            assert!(root.bound <= best, "case {case}: {} above {best}", root.bound);
            tight += usize::from(lie == Lie::None && root.bound == best);
        }
    }
    assert!(tight > 20, "{tight} of 30");
}

fn regions_without_a_solution_prove_nothing() {
    let Some(highs) = highs() else { return };
    let (instance, tour) = places(&mut Draws(7), 40, 100);
    let broken = Liar { highs, lie: Lie::NotANumber };
    let root = by_regions(&broken, (&instance, &tour), 10, u64::MAX);
    assert_eq!(root.bound, 0);
    assert!(root.trouble.is_some());
    // There is enough before anything was done.
    let honest = Liar { lie: Lie::None, ..broken };
    let root = by_regions(&honest, (&instance, &tour), 10, 0);
    assert_eq!((root.bound, root.trouble), (0, None));
}

fn equal_places_are_bounded() {
    let Some(highs) = highs() else { return };
    let places = (0..300).map(|i| [f64::from(i % 2) * 100.0, 0.0, 0.0]).collect();
    let instance = Instance::from_points("two", Metric::Euc2d, places).unwrap();
    let tour: Vec<u32> = (0..300).step_by(2).chain((1..300).step_by(2)).collect();
    let root = by_regions(&highs, (&instance, &tour), 50, 50_000);
    assert!(root.bound <= 200, "{}", root.bound);
}
