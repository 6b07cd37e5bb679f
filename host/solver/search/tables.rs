//! Instances as the problems in core read them: a shape and tables.

use antwarp_core::geometry::{Grid, Numbered, Planar};
use antwarp_core::metric::Metric;
use antwarp_core::problem::Shape;
use antwarp_core::problem::perceptron::NEGATIVE;
use antwarp_core::problem::tour::MATRIX;
use antwarp_core::sine::Real;

use crate::engine::{Places, Problem as Nodes, Tables};
use crate::instance::{Instance, NeighborLists, Partition, Perceptron, Qap};
use crate::solver::SolveError;

/// Largest entry of a QAP's matrices, so that differences of differences fit 32 bits.
const LARGEST_ENTRY: i32 = 1 << 28;
/// Most elements of a permutation, so that places of elements fit 32 bits.
const MOST_ELEMENTS: u32 = 1 << 15;

impl Tables {
    /// For [`antwarp_core::problem::Qap`].
    ///
    /// # Errors
    /// If the instance is too large, or its numbers are.
    pub fn qap(qap: &Qap) -> Result<Tables, SolveError> {
        if qap.n > MOST_ELEMENTS {
            return Err(SolveError::Settings(format!(
                "{}: at most {MOST_ELEMENTS} places can be searched",
                qap.name
            )));
        }
        if qap.a.iter().chain(&qap.b).any(|x| x.unsigned_abs() > LARGEST_ENTRY as u32) {
            let why = format!("{}: numbers above {LARGEST_ENTRY} are too large to search with", qap.name);
            return Err(SolveError::Settings(why));
        }
        let sizes = [qap.n, qap.is_symmetric().into(), is_hollow(qap).into(), 0];
        let shape = Shape { sizes, ..Shape::default() };
        // b follows a without a gap.
        let both: Vec<i32> = qap.a.iter().chain(&qap.b).copied().collect();
        Ok(Tables::new(shape, &[&of_words(&both)]))
    }

    /// For [`antwarp_core::problem::Perceptron`].
    ///
    /// # Errors
    /// If costs could leave 32 bits.
    pub fn perceptron(perceptron: &Perceptron) -> Result<Tables, SolveError> {
        let most = u64::from(perceptron.m) * u64::from(perceptron.n) * 2 * NEGATIVE as u64;
        if most > u64::from(u32::MAX) {
            let why = format!("{}: too large to be searched: m x n can be up to 71,582,788", perceptron.name);
            return Err(SolveError::Settings(why));
        }
        let shape = Shape { sizes: [perceptron.m, perceptron.n, 0, 0], ..Shape::default() };
        Ok(Tables::new(shape, &[&of_words(&perceptron.target), &of_words(&perceptron.rows)]))
    }

    /// For [`antwarp_core::problem::Partition`].
    pub fn partition(partition: &Partition) -> Tables {
        let sizes = [partition.numbers.len() as u32, partition.sets, 0, 0];
        let numbers: Vec<u8> = partition.numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
        Tables::new(Shape { sizes, ..Shape::default() }, &[&numbers])
    }

    /// For [`antwarp_core::problem::Weierstrass`] of `dimensions`, with b and h, so many terms, and a neighbourhood of so many
    /// shells up to a radius.
    pub fn weierstrass<R: Real>(w: &WeierstrassSpec) -> Tables {
        let term = |i: u32| {
            let power = |x: f64| R::from_f64(x);
            [power(w.b.powi(i as i32)), power(w.b.powf(-f64::from(i) * w.h))]
        };
        let bytes = |x: R| x.to_bits64().to_ne_bytes().into_iter().take(size_of::<R>());
        let table: Vec<u8> = (1..=w.terms).flat_map(term).flat_map(bytes).collect();
        let shape = Shape {
            sizes: [w.dimensions, w.terms, w.shells, 0],
            numbers: [w.radius, w.tabu_radius, 0.0, 0.0],
        };
        Tables::new(shape, &[&table])
    }
}

/// Whether both matrices have diagonals of zeros.
fn is_hollow(qap: &Qap) -> bool {
    let n = qap.n as usize;
    (0..n).all(|i| qap.a[i * n + i] == 0 && qap.b[i * n + i] == 0)
}

/// Whether sums of n products of a row of one matrix with one of the other fit 32 bits, and of columns too: then what exchanges
/// change can be stored.
pub fn can_be_stored(qap: &Qap) -> bool {
    let n = qap.n as usize;
    let largest = |matrix: &[i32]| matrix.iter().map(|x| i64::from(x.unsigned_abs())).max().unwrap_or(0);
    let row = |i: usize| -> i64 { qap.a[i * n..][..n].iter().map(|x| i64::from(x.unsigned_abs())).sum() };
    let column = |j: usize| -> i64 { (0..n).map(|i| i64::from(qap.a[i * n + j].unsigned_abs())).sum() };
    let most = (0..n).map(|i| row(i).max(column(i))).max().unwrap_or(0);
    most.saturating_mul(largest(&qap.b)) <= i64::from(i32::MAX)
}

/// A Weierstrass function and a neighbourhood.
#[derive(Clone, Debug)]
pub struct WeierstrassSpec {
    /// Dimensions.
    pub dimensions: u32,
    /// Terms of the sum.
    pub terms: u32,
    /// b > 1.
    pub b: f64,
    /// 0 < h < 1.
    pub h: f64,
    /// Neighbours.
    pub shells: u32,
    /// Radius of the neighbourhood.
    pub radius: f32,
    /// Radius around points in the tabu list.
    pub tabu_radius: f32,
}

/// A travelling salesman problem, by the geometry that its places have.
pub enum TourTables {
    /// For [`Grid`].
    Grid(Tables),
    /// For [`Planar`].
    Planar(Tables),
    /// For [`Numbered`].
    Numbered(Tables),
}

const _: () = {
    // What the tables below hold is what these geometries read.
    assert!(size_of::<<Grid as antwarp_core::geometry::Geometry>::Place>() == 8);
    assert!(size_of::<<Planar as antwarp_core::geometry::Geometry>::Place>() == 16);
    assert!(size_of::<<Numbered as antwarp_core::geometry::Geometry>::Place>() == 4);
};

impl TourTables {
    /// The tables of an instance; nodes keep their numbers.
    ///
    /// # Errors
    /// If it has fixed edges, too few nodes or too many.
    pub fn new(instance: &Instance) -> Result<TourTables, SolveError> {
        let refuse = |why: String| {
            Err(SolveError::Unsupported {
                algorithm: "neighbourhood search",
                instance: instance.name().to_string(),
                why,
            })
        };
        let n = instance.len();
        if !instance.fixed_edges().is_empty() {
            return refuse("it has fixed edges".into());
        }
        if n < 4 {
            return refuse("it has fewer than 4 nodes".into());
        }
        if n > MOST_ELEMENTS as usize {
            return refuse(format!("it has more than {MOST_ELEMENTS} nodes; `antwarp solve` solves it"));
        }
        let nodes =
            Nodes::for_search(instance, &NeighborLists { k: 0, ids: Vec::new() }, (0..n as u32).collect());
        let shape = |metric: u32| Shape { sizes: [n as u32, metric, 0, 0], ..Shape::default() };
        Ok(match nodes.places() {
            Places::Grid { places, up } => {
                let metric = if *up { Metric::Ceil2d } else { Metric::Euc2d };
                let bytes: Vec<u8> = places.iter().flat_map(|p| p.to_ne_bytes()).collect();
                TourTables::Grid(Tables::new(shape(metric as u32), &[&bytes]))
            }
            Places::Planar { places, metric } => {
                let point =
                    |p: &antwarp_core::geometry::Point| [p.0.to_ne_bytes(), p.1.to_ne_bytes()].concat();
                let bytes: Vec<u8> = places.iter().flat_map(point).collect();
                TourTables::Planar(Tables::new(shape(*metric as u32), &[&bytes]))
            }
            Places::Numbered(numbers) => {
                let matrix =
                    if nodes.metric().is_some() { nodes.computed_matrix() } else { nodes.matrix().to_vec() };
                TourTables::Numbered(Tables::new(shape(MATRIX), &[&of_words(numbers), &of_words(&matrix)]))
            }
        })
    }
}

/// The bytes of 32-bit words.
fn of_words<T: Copy + Into<i64>>(words: &[T]) -> Vec<u8> {
    words.iter().flat_map(|&word| (word.into() as u32).to_ne_bytes()).collect()
}
