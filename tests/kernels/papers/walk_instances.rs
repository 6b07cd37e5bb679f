//! Small instances of the problems of neighbourhood search.

use antwarp::engine::Tables;
use antwarp::instance::{Instance, Qap};
use antwarp::solver::search::problems::{MaxCut, Partition, Perceptron, qap_tables};
use antwarp::solver::search::{TourTables, WeierstrassSpec};
use antwarp_core::sine::Real;

use crate::gpu::small;
use crate::input::{Random, instances};

/// An instance's name and tables.
pub type Named = (String, Tables);

/// Fewer of them where sizes have to be small.
fn fewer(mut all: Vec<Named>) -> Vec<Named> {
    if small() {
        all.truncate(2);
    }
    all
}

/// A matrix of numbers up to `most` either way, its diagonal too.
fn matrix(random: &mut Random, n: u32, most: i32, symmetric: bool) -> Vec<i32> {
    let mut matrix: Vec<i32> = (0..n * n).map(|_| random.below(2 * most as u32 + 1) as i32 - most).collect();
    let n = n as usize;
    for (i, j) in (0..if symmetric { n } else { 0 }).flat_map(|i| (0..i).map(move |j| (i, j))) {
        matrix[i * n + j] = matrix[j * n + i];
    }
    matrix
}

/// A quadratic assignment problem of random matrices.
pub fn random_qap(n: u32, most: i32, symmetric: bool) -> Qap {
    let mut random = Random::new(u64::from(n));
    let [a, b] = [(); 2].map(|()| matrix(&mut random, n, most, symmetric));
    let kind = if symmetric { "symmetric" } else { "asymmetric" };
    Qap::from_matrices(format!("{kind} qap of {n}"), n, a, b).expect("an instance")
}

/// With and without symmetry; with large numbers; with a single neighbour.
pub fn qaps() -> Vec<Named> {
    let mut all = vec![random_qap(21, 99, false), random_qap(18, 99, true)];
    all.extend([Qap::uniform(33, 1).expect("an instance"), random_qap(8, 1 << 13, false)]);
    all.extend([random_qap(8, 1 << 13, true), random_qap(2, 9, false)]);
    assert!(!all[0].is_symmetric() && all[1].is_symmetric());
    fewer(all.into_iter().map(|qap| (qap.name.clone(), qap_tables(&qap).expect("tables"))).collect())
}

/// Fewer and more rows than columns, one and two words of a row; with a single neighbour, but for one sign.
pub fn perceptrons(distance: u32) -> Vec<Named> {
    let sizes = match distance {
        1 => [(41, 35), (20, 70), (101, 17), (3, 1)],
        2 => [(41, 35), (20, 33), (101, 17), (3, 2)],
        _ => [(41, 21), (10, 33), (101, 13), (3, 3)],
    };
    let perceptrons = sizes.map(|(m, n)| Perceptron::generate(m, n, 1).expect("an instance"));
    fewer(perceptrons.iter().map(|p| (p.name.clone(), p.tables().expect("small enough"))).collect())
}

/// A tour problem whose edges have a direction.
fn directed(n: u32) -> Instance {
    let mut random = Random::new(u64::from(n));
    let entries = (0..n * n).map(|i| if i % (n + 1) == 0 { 0 } else { 1 + random.below(1000) as i32 });
    Instance::from_matrix(format!("{n} nodes with directed edges"), entries.collect()).expect("an instance")
}

/// Cities whose places are told in this way, with the kinds of distances that there are.
pub fn tours(geometry: &str, n: u32) -> Vec<Named> {
    let mut all = instances(geometry, n);
    if geometry == "numbered" {
        all.insert(0, directed(n));
    }
    all.push(instances(geometry, 4).remove(0));
    all.push(instances(geometry, 5).remove(0));
    fewer(all.iter().map(|instance| (instance.name().to_string(), tour(geometry, instance))).collect())
}

/// The tables of cities whose places are told in this way.
fn tour(geometry: &str, instance: &Instance) -> Tables {
    match (geometry, TourTables::new(instance).expect("tables")) {
        ("grid", TourTables::Grid(tables)) => tables,
        ("numbered", TourTables::Numbered(tables)) => tables,
        _ => panic!("{} is not of {geometry}", instance.name()),
    }
}

/// Several dimensions; one, with a single neighbour.
pub fn functions<R: Real>() -> Vec<Named> {
    let function = |dimensions: u32, terms: u32, shells: u32| {
        let spec =
            WeierstrassSpec { dimensions, terms, b: 2.3, h: 0.4, shells, radius: 0.6, tabu_radius: 0.05 };
        (format!("{dimensions} dimensions, {shells} shells"), spec.tables::<R>())
    };
    fewer(vec![function(3, 12, 70), function(1, 20, 300), function(2, 5, 1)])
}

/// A few sets, as many as there can be, and a single neighbour.
pub fn partitions() -> Vec<Named> {
    let sizes = [(40, 5), (9, 256), (1, 2)];
    let partitions = sizes.map(|(count, sets)| Partition::uniform(count, sets, 1).expect("an instance"));
    fewer(partitions.iter().map(|p| (p.name.clone(), p.tables())).collect())
}

/// A node's edges in more turns than one of a warp, some nodes without any, and a single neighbour.
pub fn graphs() -> Vec<Named> {
    let dense = MaxCut::random(90, 50, 1).expect("a graph");
    let sparse = MaxCut::random(200, 3, 1).expect("a graph");
    let signs = (0..).zip(&sparse.edges).map(|(i, &(a, b, _))| (a, b, i % 7 - 3));
    let weighted = MaxCut { name: "weighted".to_owned(), edges: signs.collect(), ..sparse };
    let alone = MaxCut { name: "alone".to_owned(), nodes: 1, edges: Vec::new() };
    fewer([dense, weighted, alone].iter().map(|g| (g.name.clone(), g.tables())).collect())
}
