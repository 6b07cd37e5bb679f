//! Start tours: the initial tours of a search.

pub mod ants;
mod blocks;
mod forms;
mod greedy;
mod nearest_neighbor;
mod paths;
mod quick_boruvka;
mod space_filling;

use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use antwarp_instance::generate::draw;
use antwarp_instance::{Enough, Instance, NeighborLists, Watch};

pub use space_filling::hilbert_tours;

/// How a start tour is constructed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Always go to the nearest unvisited node
    NearestNeighbor,
    /// Take the shortest edges first
    #[default]
    Greedy,
    /// Join each node, in the order of coordinates, to the nearest one, twice
    QuickBoruvka,
    /// Follow a Hilbert curve
    SpaceFilling,
    /// Visit nodes in random order
    Random,
}

impl Start {
    /// All ways to construct a start tour.
    pub const ALL: [Start; 5] =
        [Start::NearestNeighbor, Start::Greedy, Start::QuickBoruvka, Start::SpaceFilling, Start::Random];
}

/// Constructs a start tour: all nodes of the instance, each once.
///
/// Edges are first searched among the neighbours in `lists`; with longer lists the same tour is found sooner, or a slightly better
/// one. The `seed` is used for [`Start::Random`], and for the first node of a nearest-neighbour tour: any node (Fosin et al. 2013,
/// section 4), or node 0 with seed 0. The tour does not depend on threads.
///
/// The nearest-neighbour tour replaces the greedy one if edges are directed, and the space-filling curve if there are no
/// coordinates and no places to which the costs [fit](antwarp_instance::embedded). The greedy one replaces quick Borůvka if there are
/// no coordinates.
///
/// # Panics
/// If `lists` do not belong to this instance.
pub fn tour(instance: &Instance, start: Start, lists: &NeighborLists, seed: u64) -> Vec<u32> {
    watched(instance, start, lists, seed, &Watch::new(&|| false))
}

/// Does the same as [`tour`]; `None` if `enough` asked to stop before the tour was complete.
///
/// # Panics
/// As [`tour`].
pub fn tour_until(
    instance: &Instance,
    start: Start,
    lists: &NeighborLists,
    seed: u64,
    enough: Enough,
) -> Option<Vec<u32>> {
    let watch = Watch::new(enough);
    watch.kept(watched(instance, start, lists, seed, &watch))
}

fn watched(instance: &Instance, start: Start, lists: &NeighborLists, seed: u64, watch: &Watch) -> Vec<u32> {
    if instance.partners().is_none() && instance.gap().is_none() {
        return of_plain(instance, start, lists, seed, watch);
    }
    forms::tour(instance, start, lists, |plain, start, lists| of_plain(plain, start, lists, seed, watch))
}

fn of_plain(instance: &Instance, start: Start, lists: &NeighborLists, seed: u64, watch: &Watch) -> Vec<u32> {
    let greedy = || greedy::greedy(instance, lists, watch);
    let nearest_neighbor =
        || nearest_neighbor::nearest_neighbor(instance, lists, first(instance, seed), watch);
    match start {
        Start::QuickBoruvka if instance.is_symmetric() => {
            quick_boruvka::quick_boruvka(instance, watch).unwrap_or_else(greedy)
        }
        Start::Greedy if instance.is_symmetric() => greedy(),
        Start::SpaceFilling => space_filling::hilbert(instance).unwrap_or_else(nearest_neighbor),
        Start::NearestNeighbor | Start::Greedy | Start::QuickBoruvka => nearest_neighbor(),
        Start::Random => random(instance.len(), seed),
    }
}

/// Returns the nodes along a space-filling curve, the gap last; `None` if there are no coordinates and no places to which the costs
/// [fit](antwarp_instance::embedded).
pub fn along_a_curve(instance: &Instance) -> Option<Vec<u32>> {
    let mut order = space_filling::hilbert(instance)?;
    if let Some(gap) = instance.gap() {
        order.retain(|&node| node != gap);
        order.push(gap);
    }
    Some(order)
}

/// Returns the best start for Lin-Kernighan moves: [`Start::QuickBoruvka`] on a lattice, else [`Start::Greedy`].
pub fn for_lin_kernighan(instance: &Instance, lists: &NeighborLists) -> Start {
    if is_lattice(instance, lists) { Start::QuickBoruvka } else { Start::Greedy }
}

/// Returns whether at least half of the nodes have two equally near nearest neighbours.
pub fn is_lattice(instance: &Instance, lists: &NeighborLists) -> bool {
    let is_tied = |&v: &u32| match lists.of(v) {
        [first, second, ..] => instance.distance(v, *first) == instance.distance(v, *second),
        _ => false,
    };
    let tied = (0..instance.len() as u32).into_par_iter().filter(is_tied).count();
    2 * tied >= instance.len()
}

/// Returns whether the two nodes nearest to one are hardly ever near each other, as where costs are drawn at random. Distances of
/// places have this, too, where there are a hundred dimensions or more.
pub fn is_by_chance(lists: &NeighborLists) -> bool {
    let n = lists.ids.len() / lists.k.max(1);
    let are_near = |v: &u32| match lists.of(*v) {
        [first, second, ..] => lists.of(*first).contains(second) || lists.of(*second).contains(first),
        _ => true,
    };
    8 * (0..n as u32).into_par_iter().filter(are_near).count() < n
}

/// Returns the first node of a nearest-neighbour tour.
fn first(instance: &Instance, seed: u64) -> u32 {
    let any = || draw(&mut Pcg64::seed_from_u64(seed), instance.len() as u64) as u32;
    if seed == 0 { 0 } else { any() }
}

/// Returns a random order; all are equally likely (Fisher and Yates).
fn random(n: usize, seed: u64) -> Vec<u32> {
    let mut draws = Pcg64::seed_from_u64(seed);
    let mut tour: Vec<u32> = (0..n as u32).collect();
    for last in (1..n).rev() {
        tour.swap(last, draw(&mut draws, last as u64 + 1) as usize);
    }
    tour
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use antwarp_instance::{Metric, dimacs, generate, nearest, quadrant};

    /// Few distinct coordinates give ties, duplicates and lines, many give none.
    fn points() -> impl Strategy<Value = Vec<[f64; 3]>> {
        let coordinate = || prop_oneof![(0..4).prop_map(f64::from), -90.0..90.0];
        prop::collection::vec(prop::array::uniform3(coordinate()), 1..50)
    }

    proptest! {
        #[test]
        fn every_start_visits_every_node_once(points in points(), k in 0_usize..10, seed: u64) {
            for metric in Metric::ALL {
                let instance = Instance::from_points("random", metric, points.clone()).unwrap();
                for lists in [nearest(&instance, k), quadrant(&instance, k)] {
                    for start in &Start::ALL {
                        let tour = tour(&instance, *start, &lists, seed);
                        prop_assert!(instance.check_tour(&tour).is_ok(), "{metric:?} {start:?} {tour:?}");
                    }
                }
            }
        }

        #[test]
        fn so_it_does_by_a_matrix(n in 1_usize..12, k in 0_usize..12, weights in prop::collection::vec(0..9, 121)) {
            let symmetric = (0..n * n).map(|at| weights[(at / n).min(at % n) * 11 + (at / n).max(at % n)]);
            for weights in [weights[..n * n].to_vec(), symmetric.collect()] {
                let instance = Instance::from_matrix("random", weights).unwrap();
                for start in &Start::ALL {
                    let tour = tour(&instance, *start, &nearest(&instance, k), 1);
                    prop_assert!(instance.check_tour(&tour).is_ok(), "{start:?} {tour:?}");
                }
            }
        }
    }

    #[test]
    fn what_a_start_cannot_do_the_nearest_neighbor_does() {
        let directed = Instance::from_matrix("m", (0..49).map(|i| i * i % 13).collect()).unwrap();
        let lists = nearest(&directed, 3);
        let expected = tour(&directed, Start::NearestNeighbor, &lists, 0);
        assert!(!directed.is_symmetric());
        assert_eq!(tour(&directed, Start::Greedy, &lists, 0), expected);
        assert_eq!(tour(&directed, Start::SpaceFilling, &lists, 0), expected);
    }

    #[test]
    fn lengths_are_what_is_known_of_the_heuristics() {
        let mut excess = [0.0; 3];
        let instances = ["E3k.0", "E3k.1", "E3k.2"].map(|name| dimacs::by_name(name).unwrap());
        for instance in &instances {
            let lists = nearest(instance, 8);
            for (excess, start) in
                excess.iter_mut().zip([Start::Greedy, Start::SpaceFilling, Start::NearestNeighbor])
            {
                let length = instance.check_tour(&tour(instance, start, &lists, 0)).unwrap();
                // The best tour of E3k.0; those of its siblings are as long within a percent.
                *excess += (length as f64 / 40_634_081.0 - 1.0) / instances.len() as f64;
            }
        }
        let [greedy, curve, nearest_neighbor] = excess;
        assert!((0.10..0.21).contains(&greedy), "{greedy}");
        assert!((0.30..0.42).contains(&curve), "{curve}");
        assert!((0.21..0.30).contains(&nearest_neighbor), "{nearest_neighbor}");
    }

    #[test]
    fn it_may_be_enough_before_there_is_a_tour() {
        let instance = generate::uniform(3000, 1).unwrap();
        let lists = quadrant(&instance, 8);
        for start in [Start::NearestNeighbor, Start::Greedy, Start::QuickBoruvka] {
            assert_eq!(tour_until(&instance, start, &lists, 1, &|| true), None, "{start:?}");
            let whole = tour_until(&instance, start, &lists, 1, &|| false);
            assert_eq!(whole, Some(tour(&instance, start, &lists, 1)));
        }
    }

    #[test]
    fn starts_do_not_depend_on_threads() {
        let instance = generate::clustered(20_000, 50, 1).unwrap();
        let lists = quadrant(&instance, 8);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Start::ALL.map(|start| tour(&instance, start, &lists, 1)))
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn lattices_begin_with_quick_boruvka() {
        let lattice = (0..400).map(|i| [f64::from(i % 20), f64::from(i / 20), 0.0]).collect();
        let lattice = Instance::from_points("lattice", Metric::Euc2d, lattice).unwrap();
        let uniform = dimacs::by_name("E1k.0").unwrap();
        assert_eq!(for_lin_kernighan(&lattice, &quadrant(&lattice, 8)), Start::QuickBoruvka);
        assert_eq!(for_lin_kernighan(&uniform, &quadrant(&uniform, 8)), Start::Greedy);
    }

    #[test]
    fn costs_of_chance_are_told_from_those_of_places() {
        let n: u32 = 400;
        let draws = |at: u32| antwarp_core::rng::Stream::new(1, (at / n).min(at % n), (at / n).max(at % n));
        let costs = (0..n * n).map(|at| draws(at).step(0).below(0, 1000) as i32).collect();
        let chance = Instance::from_matrix("chance", costs).unwrap();
        assert!(is_by_chance(&nearest(&chance, 8)));
        let places = [generate::uniform(n as usize, 1), generate::clustered(n as usize, 9, 1)];
        for instance in places.map(Result::unwrap) {
            assert!(!is_by_chance(&nearest(&instance, 8)) && !is_by_chance(&quadrant(&instance, 8)));
        }
        let space = (0..n).map(|i| [7919, 104_729, 1_299_709].map(|z| f64::from(i) * f64::from(z) % 1000.0));
        let space = Instance::from_points("space", Metric::Euc3d, space.collect()).unwrap();
        assert!(!is_by_chance(&nearest(&space, 8)));
    }

    #[test]
    fn a_seed_fixes_the_random_order() {
        assert_eq!(random(1000, 1), random(1000, 1));
        assert_ne!(random(1000, 1), random(1000, 2));
        // Every order of three nodes occurs, and none much more often than the others.
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            *counts.entry(random(3, seed)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
