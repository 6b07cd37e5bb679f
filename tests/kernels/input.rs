//! Random inputs.

use antwarp::engine::{LocalSearch, Places, Problem};
use antwarp::instance::Instance;
use antwarp_core::distance::{Distances, Exceptions};
use antwarp_core::geometry::Point;
use antwarp_core::kernels::BY_MATRIX;
use antwarp_core::metric::Metric;
use antwarp_core::node::NodeId;

/// SplitMix64: apart from the generator under test.
pub struct Random(u64);

impl Random {
    /// The numbers of `seed`.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A uniform integer below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u32
    }

    /// A uniform number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A positive number of any of the magnitudes from 1e-6 to 1e6.
    pub fn weight(&mut self) -> f32 {
        10f64.powf(12.0 * self.unit() - 6.0) as f32
    }

    /// The numbers below `n` in random order.
    pub fn permutation(&mut self, n: u32) -> Vec<u32> {
        let mut v: Vec<u32> = (0..n).collect();
        for i in (1..n).rev() {
            v.swap(i as usize, self.below(i + 1) as usize);
        }
        v
    }

    /// `count` permutations, one after the other.
    pub fn tours(&mut self, n: u32, count: u32) -> Vec<u32> {
        (0..count).flat_map(|_| self.permutation(n)).collect()
    }

    /// For each of n nodes k other nodes, each once, in random order.
    pub fn lists(&mut self, n: u32, k: u32) -> Vec<u32> {
        assert!(k < n);
        let mut lists = Vec::with_capacity(n as usize * k as usize);
        for node in 0..n {
            let start = lists.len();
            while lists.len() < start + k as usize {
                let v = self.below(n);
                if v != node && !lists[start..].contains(&v) {
                    lists.push(v);
                }
            }
        }
        lists
    }
}

/// Where the nodes are.
pub struct Geometry {
    /// Number of nodes.
    pub n: u32,
    points: Vec<[f64; 3]>,
    matrix: Vec<i32>,
    metric: Option<Metric>,
}

/// Every kind of distance a kernel can compute; `None`: by matrix.
pub fn metrics() -> Vec<Option<Metric>> {
    let computed = Metric::ALL.into_iter().filter(|m| m.is_algebraic()).map(Some);
    std::iter::once(None).chain(computed).collect()
}

impl Geometry {
    /// n random points, some of them at one place, or a random matrix without symmetry.
    pub fn new(random: &mut Random, n: u32, metric: Option<Metric>) -> Self {
        let (mut points, mut matrix) = (Vec::new(), Vec::new());
        match metric {
            None => matrix = (0..n * n).map(|_| random.below(1 << 31) as i32 >> random.below(31)).collect(),
            Some(_) => {
                // Halves and quarters: what rounds up, what down, and what is a root of a whole number.
                let mut coordinate = || (random.unit() * 40_000.0 - 20_000.0).round() / 4.0;
                points = (0..n).map(|_| [coordinate(), coordinate(), coordinate()]).collect();
                for i in (7..points.len()).step_by(16) {
                    points[i] = points[i - 5];
                }
            }
        }
        Geometry { n, points, matrix, metric }
    }

    /// The coordinates; none where there is a matrix.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// The matrix, if there is one.
    pub fn matrix(&self) -> &[i32] {
        &self.matrix
    }

    /// Distances for code on the CPU; valid while `self` is.
    pub fn distances(&self) -> Distances {
        let (matrix, points) = (self.matrix.as_ptr(), self.points.as_ptr());
        Distances { matrix, points, metric: self.metric, n: self.n, exceptions: Exceptions::NONE }
    }

    /// The metric's number for kernels.
    pub fn device_metric(&self) -> u32 {
        self.metric.map_or(BY_MATRIX, |m| m as u32)
    }

    /// For messages.
    pub fn name(&self) -> &'static str {
        self.metric.map_or("matrix", Metric::keyword)
    }
}

/// Every local search.
pub const OPERATORS: [LocalSearch; 4] =
    [LocalSearch::TwoOpt, LocalSearch::OrOpt, LocalSearch::Or2opt, LocalSearch::ThreeOpt];
/// How kernels of local search are told where nodes are, as in their names.
pub const GEOMETRIES: [&str; 3] = ["grid", "planar", "numbered"];

/// n random points, some of them at one place, that are multiples of `unit`.
fn scattered(n: u32, metric: Metric, [width, height]: [f64; 2], unit: f64) -> Instance {
    let mut random = Random::new(u64::from(n));
    let mut coordinate = |extent: f64| ((random.unit() - 0.5) * extent / unit).round() * unit;
    let mut points: Vec<_> = (0..n).map(|_| [coordinate(width), coordinate(height), 0.0]).collect();
    for i in (7..points.len()).step_by(16) {
        points[i] = points[i - 5];
    }
    let name = format!("{n} nodes {}", metric.keyword());
    Instance::from_points(name, metric, points).expect("an instance")
}

/// A random symmetric matrix.
fn symmetric(n: u32) -> Instance {
    let mut random = Random::new(u64::from(n));
    let mut matrix = vec![0; (n * n) as usize];
    for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let distance = random.below(1 << 20) as i32 >> random.below(20);
        matrix[(i * n + j) as usize] = distance;
        matrix[(j * n + i) as usize] = distance;
    }
    Instance::from_matrix(format!("{n} nodes by matrix"), matrix).expect("an instance")
}

/// A random matrix whose edges are of another length in each direction.
pub fn directed(n: u32) -> Instance {
    let mut random = Random::new(u64::from(n) + 7);
    let entries = (0..n * n)
        .map(|i| if i % (n + 1) == 0 { 0 } else { random.below(1 << 20) as i32 >> random.below(20) });
    Instance::from_matrix(format!("{n} nodes, directed"), entries.collect()).expect("an instance")
}

/// Symmetric instances whose nodes are told in this way.
pub fn instances(geometry: &str, n: u32) -> Vec<Instance> {
    let plane = |metric, unit| scattered(n, metric, [1e4, 1e4], unit);
    match geometry {
        "grid" => vec![plane(Metric::Euc2d, 1.0), plane(Metric::Ceil2d, 1.0)],
        "planar" => vec![plane(Metric::Euc2d, 0.125), plane(Metric::Att, 1.0)],
        _ => {
            vec![plane(Metric::Man2d, 0.25), symmetric(n), scattered(n, Metric::Geo, [170.0, 350.0], 0.5)]
        }
    }
}

/// Evaluates an expression with the geometry of a problem and its places.
macro_rules! with_geometry {
    ($problem:expr, |$geometry:ident, $places:ident| $do:expr) => {
        match $problem.places() {
            antwarp::engine::Places::Grid { places: $places, up } => {
                let $geometry = antwarp_core::geometry::Grid { up: *up };
                $do
            }
            antwarp::engine::Places::Planar { places: $places, metric } => {
                let $geometry = antwarp_core::geometry::Planar { metric: *metric };
                $do
            }
            antwarp::engine::Places::Numbered($places) => {
                let $geometry = antwarp_core::geometry::Numbered { distances: $problem.search_distances() };
                $do
            }
        }
    };
}
pub(crate) use with_geometry;

/// The matrix that kernels read: none where they compute distances.
pub fn kernel_matrix(problem: &Problem) -> Vec<i32> {
    if problem.device_metric() == BY_MATRIX { problem.computed_matrix() } else { Vec::new() }
}

/// Places as the bytes that kernels read.
pub fn place_bytes(places: &Places) -> Vec<u8> {
    match places {
        Places::Grid { places, .. } => places.iter().flat_map(|p| p.to_ne_bytes()).collect(),
        Places::Planar { places, .. } => {
            places.iter().flat_map(|&Point(x, y)| [x, y]).flat_map(f64::to_ne_bytes).collect()
        }
        Places::Numbered(places) => places.iter().flat_map(|p| p.to_ne_bytes()).collect(),
    }
}

/// Node ids of their type.
pub fn typed<I: NodeId>(ids: &[u32]) -> Vec<I> {
    ids.iter().map(|&v| I::new(v)).collect()
}

/// The numbers of node ids.
pub fn numbers<I: NodeId>(ids: &[I]) -> Vec<u32> {
    ids.iter().map(|v| v.get()).collect()
}

/// Floats at a 16-byte boundary, as core asks for on the CPU.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Quad(pub [f32; 4]);

/// A copy of `floats` at a 16-byte boundary.
pub fn aligned(floats: &[f32]) -> Vec<Quad> {
    let quad = |c: &[f32]| Quad(std::array::from_fn(|i| c.get(i).copied().unwrap_or(0.0)));
    floats.chunks(4).map(quad).collect()
}

/// Whether `tour` visits each of n nodes once.
pub fn is_tour(tour: &[u32], n: u32) -> bool {
    let mut seen = vec![false; n as usize];
    let fresh = |&v: &u32| seen.get_mut(v as usize).is_some_and(|s| !std::mem::replace(s, true));
    tour.len() == n as usize && tour.iter().all(fresh)
}
