//! Small problems, and what their solutions cost by plain sums.

use crate::common::memory::Number;
use crate::papers::search::world::{CostOf, Dice, Naive, bytes, changes, exchanges, flips, moved, rotations};
use antwarp_core::geometry::{Grid, Numbered};
use antwarp_core::metric::Metric;
use antwarp_core::papers::neighborhood::Neighborhood;
use antwarp_core::papers::problem::tour::MATRIX;
use antwarp_core::papers::problem::weierstrass::Named;
use antwarp_core::papers::problem::{
    MaxCut, NestedPerceptron, NestedTour, Partition, Perceptron, Problem, Qap, RotatedTour, Shape,
    SwappedTour, Weierstrass,
};
use antwarp_core::papers::search::Cost;
use antwarp_core::rng::Stream;
use antwarp_core::sine::Real;
use std::fmt::Debug;
use std::marker::PhantomData;

/// A quadratic assignment problem.
pub struct Assignment<const STORED: bool> {
    n: u32,
    symmetric: bool,
    hollow: bool,
    a: Vec<i32>,
    b: Vec<i32>,
}

impl<const STORED: bool> Assignment<STORED> {
    /// Matrices of numbers from -`most` to `most`, of every other seed on the diagonal too. Where sums of products are stored,
    /// numbers are so small that these fit 32 bits.
    pub fn new(n: u32, symmetric: bool, most: i32, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let hollow = seed % 2 == 1;
        let most = if STORED { most.min((i32::MAX as u32 / n).isqrt() as i32) } else { most };
        let mut matrix = || {
            let mut matrix: Vec<_> = (0..n * n).map(|_| dice.either_way(most)).collect();
            for (i, j) in (0..n * n).map(|ij| (ij / n, ij % n)).filter(|(i, j)| symmetric && i < j) {
                matrix[(j * n + i) as usize] = matrix[(i * n + j) as usize];
            }
            for i in (0..n).filter(|_| hollow) {
                matrix[(i * n + i) as usize] = 0;
            }
            matrix
        };
        Assignment { n, symmetric, hollow, a: matrix(), b: matrix() }
    }
}

impl<const STORED: bool> Naive for Assignment<STORED> {
    type P = Qap<STORED>;

    fn shape(&self) -> Shape {
        Shape { sizes: [self.n, self.symmetric.into(), self.hollow.into(), 0], ..Shape::default() }
    }
    fn tables(&self) -> Vec<u8> {
        bytes(&[&self.a[..], &self.b].concat())
    }
    fn random(&self, dice: &mut Dice) -> Vec<u32> {
        dice.shuffled(self.n)
    }
    fn cost(&self, p: &[u32]) -> i64 {
        let n = self.n as usize;
        let pairs = (0..n * n).map(|ij| (ij / n, ij % n));
        pairs
            .map(|(i, j)| i64::from(self.a[i * n + j]) * i64::from(self.b[p[i] as usize * n + p[j] as usize]))
            .sum()
    }
    fn neighbors(&self, solution: &[u32], _: Stream) -> Vec<Vec<u32>> {
        exchanges(solution)
    }
}

/// A permuted perceptron problem.
pub struct Signs<const D: usize> {
    n: u32,
    /// Rows of signs, and how often each product should come up.
    rows: Vec<Vec<i32>>,
    target: Vec<u32>,
}

impl<const D: usize> Signs<D> {
    /// An instance with a solution: whose products with random signs are not negative.
    pub fn new(m: u32, n: u32, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut signs = || -> Vec<_> { (0..n).map(|_| 2 * dice.below(2) as i32 - 1).collect() };
        let hidden = signs();
        let mut rows: Vec<_> = (0..m).map(|_| signs()).collect();
        let mut target = vec![0; n as usize + 1];
        for row in &mut rows {
            let sign = product(row, &hidden).signum();
            row.iter_mut().for_each(|x| *x *= if sign == 0 { 1 } else { sign });
            target[product(row, &hidden) as usize] += 1;
        }
        Signs { n, rows, target }
    }

    /// Products that no signs give so often.
    pub fn demanding(mut self) -> Self {
        for v in (self.n % 2..=self.n).step_by(2) {
            self.target[v as usize] = (v + 1) * 3 % 7;
        }
        self
    }
}

fn product(a: &[i32], b: &[i32]) -> i32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl<const D: usize> Naive for Signs<D> {
    type P = Perceptron<D>;

    fn shape(&self) -> Shape {
        Shape { sizes: [self.rows.len() as u32, self.n, 0, 0], ..Shape::default() }
    }
    fn tables(&self) -> Vec<u8> {
        let word = |signs: &[i32]| (0..).zip(signs).map(|(bit, &x)| u32::from(x > 0) << bit).sum();
        let words: Vec<u32> = self.rows.iter().flat_map(|row| row.chunks(32).map(word)).collect();
        [bytes(&self.target), bytes(&words)].concat()
    }
    fn random(&self, dice: &mut Dice) -> Vec<u8> {
        (0..self.n).map(|_| dice.below(2) as u8).collect()
    }
    fn cost(&self, bits: &[u8]) -> i64 {
        let v: Vec<_> = bits.iter().map(|&bit| 2 * i32::from(bit) - 1).collect();
        let products: Vec<_> = self.rows.iter().map(|row| product(row, &v)).collect();
        let negative: i32 = products.iter().map(|y| y.abs() - y).sum();
        let missed = (0..).zip(&self.target).map(|(v, &target)| {
            let count = products.iter().filter(|&&y| y == v).count() as i64;
            (count - i64::from(target)).abs()
        });
        30 * i64::from(negative) + missed.sum::<i64>()
    }
    fn neighbors(&self, bits: &[u8], _: Stream) -> Vec<Vec<u8>> {
        flips(bits, D)
    }
}

/// A tour through cities, of which the problem `P` makes another.
pub struct Tours<P> {
    n: u32,
    number: u32,
    matrix: Vec<i32>,
    tables: Vec<u8>,
    of: PhantomData<fn() -> P>,
}

/// The square of a distance.
fn square(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
}

/// TSPLIB's distances.
fn rounded(metric: Metric, square: f64) -> i32 {
    let root = square.sqrt();
    match metric {
        Metric::Euc2d => (root + 0.5).floor() as i32,
        Metric::Ceil2d => root.ceil() as i32,
        Metric::Att => (square / 10.0).sqrt().ceil().max(0.0) as i32,
        _ => panic!("not in the plane"),
    }
}

impl<P> Tours<P> {
    fn of(n: u32, number: u32, tables: Vec<u8>, distance: impl FnMut((usize, usize)) -> i32) -> Self {
        let pairs = (0..n as usize).flat_map(|i| (0..n as usize).map(move |j| (i, j)));
        Tours { n, number, matrix: pairs.map(distance).collect(), tables, of: PhantomData }
    }

    /// Cities of a small grid, where some lie at one place.
    pub fn on_grid(n: u32, up: bool, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let points: Vec<_> = (0..n).map(|_| [dice.below(20), dice.below(20)]).collect();
        let places: Vec<_> = points.iter().map(|&[x, y]| Grid::place(x, y)).collect();
        let metric = if up { Metric::Ceil2d } else { Metric::Euc2d };
        let at = |i: usize| points[i].map(f64::from);
        Self::of(n, metric as u32, bytes(&places), |(i, j)| rounded(metric, square(at(i), at(j))))
    }

    /// A distance for each direction of each edge, some below 0; cities in an order of their own.
    pub fn numbered(n: u32, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let numbers = dice.shuffled(n);
        let matrix: Vec<_> = (0..n * n).map(|_| dice.either_way(60) + 40).collect();
        let tables = [bytes(&numbers), bytes(&matrix)].concat();
        Self::of(n, MATRIX, tables, |(i, j)| matrix[(numbers[i] * n + numbers[j]) as usize])
    }

    fn length(&self, tour: &[u32]) -> i64 {
        let next = tour.iter().cycle().skip(1);
        tour.iter().zip(next).map(|(&a, &b)| i64::from(self.matrix[(a * self.n + b) as usize])).sum()
    }

    fn shape(&self) -> Shape {
        Shape { sizes: [self.n, self.number, 0, 0], ..Shape::default() }
    }
}

/// A permuted perceptron problem whose signs are flipped one by one, in pairs and by threes.
pub struct NestedSigns(pub Signs<3>);

impl Naive for NestedSigns {
    type P = NestedPerceptron;

    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn tables(&self) -> Vec<u8> {
        self.0.tables()
    }
    fn random(&self, dice: &mut Dice) -> Vec<u8> {
        self.0.random(dice)
    }
    fn cost(&self, bits: &[u8]) -> i64 {
        self.0.cost(bits)
    }
    fn neighbors(&self, bits: &[u8], _: Stream) -> Vec<Vec<u8>> {
        (1..=3).flat_map(|distance| flips(bits, distance)).collect()
    }
}

/// First two cities exchanged, then three rotated.
fn exchanges_and_rotations(tour: &[u32]) -> Vec<Vec<u32>> {
    [exchanges(tour), rotations(tour)].concat()
}

macro_rules! tours {
    ($($problem:ident<$geometry:ident> $neighbors:ident),*) => {$(
        impl Naive for Tours<$problem<$geometry>> {
            type P = $problem<$geometry>;

            fn shape(&self) -> Shape {
                self.shape()
            }
            fn tables(&self) -> Vec<u8> {
                self.tables.clone()
            }
            fn random(&self, dice: &mut Dice) -> Vec<u32> {
                dice.shuffled(self.n)
            }
            fn cost(&self, tour: &[u32]) -> i64 {
                self.length(tour)
            }
            fn neighbors(&self, tour: &[u32], _: Stream) -> Vec<Vec<u32>> {
                $neighbors(tour)
            }
        }
    )*};
}

tours!(
    SwappedTour<Grid> exchanges, SwappedTour<Numbered> exchanges, RotatedTour<Grid> rotations,
    RotatedTour<Numbered> rotations, NestedTour<Grid> exchanges_and_rotations,
    NestedTour<Numbered> exchanges_and_rotations
);

/// Numbers for k sets.
pub struct Numbers {
    numbers: Vec<i64>,
    k: u32,
}

impl Numbers {
    pub fn new(n: u32, k: u32, most: i32, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        Numbers { numbers: (0..n).map(|_| dice.either_way(most).into()).collect(), k }
    }

    pub fn of(numbers: &[i64], k: u32) -> Self {
        Numbers { numbers: numbers.to_vec(), k }
    }
}

impl Naive for Numbers {
    type P = Partition;

    fn shape(&self) -> Shape {
        Shape { sizes: [self.numbers.len() as u32, self.k, 0, 0], ..Shape::default() }
    }
    fn tables(&self) -> Vec<u8> {
        bytes(&self.numbers)
    }
    fn random(&self, dice: &mut Dice) -> Vec<u8> {
        self.numbers.iter().map(|_| dice.below(self.k) as u8).collect()
    }
    fn cost(&self, sets: &[u8]) -> i64 {
        let mut sums = vec![0; self.k as usize];
        for (&set, x) in sets.iter().zip(&self.numbers) {
            sums[set as usize] += x;
        }
        sums.iter().map(|sum| sum * sum).sum()
    }
    fn neighbors(&self, sets: &[u8], _: Stream) -> Vec<Vec<u8>> {
        changes(sets, self.k)
    }
}

/// A graph whose nodes go to two sides.
pub struct Graph {
    n: u32,
    edges: Vec<(u32, u32, i32)>,
}

impl Graph {
    /// Half of all edges, with weights from -`most` to `most`.
    pub fn new(n: u32, most: i32, seed: u64) -> Self {
        let (mut dice, mut edges) = (Dice::new(seed), vec![]);
        for (a, b) in (0..n).flat_map(|a| (0..a).map(move |b| (a, b))) {
            if dice.below(2) == 0 {
                edges.push((a, b, dice.either_way(most)));
            }
        }
        Graph { n, edges }
    }
}

impl Naive for Graph {
    type P = MaxCut;

    fn shape(&self) -> Shape {
        Shape { sizes: [self.n, 0, 0, 0], ..Shape::default() }
    }
    fn tables(&self) -> Vec<u8> {
        let (mut starts, mut ends) = (vec![0], vec![]);
        for node in 0..self.n {
            for &(a, b, weight) in self.edges.iter().filter(|(a, b, _)| [a, b].contains(&&node)) {
                ends.push([if a == node { b } else { a }, weight as u32]);
            }
            starts.push(ends.len() as u32);
        }
        [bytes(&starts), bytes(ends.as_flattened())].concat()
    }
    fn random(&self, dice: &mut Dice) -> Vec<u8> {
        (0..self.n).map(|_| dice.below(2) as u8).collect()
    }
    fn cost(&self, sides: &[u8]) -> i64 {
        let is_cut = |&&(a, b, _): &&(u32, u32, i32)| sides[a as usize] != sides[b as usize];
        -self.edges.iter().filter(is_cut).map(|&(_, _, weight)| i64::from(weight)).sum::<i64>()
    }
    fn neighbors(&self, sides: &[u8], _: Stream) -> Vec<Vec<u8>> {
        flips(sides, 1)
    }
}

/// A Weierstrass function of n numbers with b = 3 and h = 1/4.
pub struct Rough<R> {
    pub n: u32,
    pub terms: u32,
    pub m: u32,
    pub radius: f32,
    pub tabu_radius: f32,
    pub reals: PhantomData<R>,
}

impl<R: Real> Rough<R> {
    pub fn new(n: u32, terms: u32, m: u32) -> Self {
        Rough { n, terms, m, radius: 0.5, tabu_radius: 0.05, reals: PhantomData }
    }

    fn term(&self, i: u32) -> [R; 2] {
        [3f64.powi(i as i32), 3f64.powf(-f64::from(i) / 4.0)].map(R::from_f64)
    }
}

impl<R: Real + Cost + Named + Number + Debug> Naive for Rough<R> {
    type P = Weierstrass<R>;

    fn shape(&self) -> Shape {
        Shape { sizes: [self.n, self.terms, self.m, 0], numbers: [self.radius, self.tabu_radius, 0.0, 0.0] }
    }
    fn tables(&self) -> Vec<u8> {
        let terms: Vec<_> = (1..=self.terms).flat_map(|i| self.term(i)).collect();
        bytes(&terms)
    }
    fn random(&self, dice: &mut Dice) -> Vec<R> {
        (0..self.n).map(|_| Real::from_f64(dice.real())).collect()
    }
    fn cost(&self, point: &[R]) -> R {
        let terms = point.iter().flat_map(|&x| {
            (1..=self.terms).map(move |i| {
                let [frequency, amplitude] = self.term(i);
                Real::to_f64(amplitude) * Real::to_f64(frequency * x).sin()
            })
        });
        Real::from_f64(terms.sum())
    }
    /// These are random: the library's own moves are what is plain.
    fn neighbors(&self, point: &[R], stream: Stream) -> Vec<Vec<R>> {
        // SAFETY: the moves use no table.
        let moves = unsafe { Weierstrass::<R>::new(&self.shape(), std::ptr::null()) }.moves();
        (0..moves.len()).map(|i| moved(&moves, stream, point, moves.at(i))).collect()
    }
    fn agrees(&self, cost: R, full: R) -> bool {
        let error = if size_of::<R>() == 4 { 4e-7 } else { 8e-16 };
        let terms = f64::from(self.n * self.terms);
        (Real::to_f64(cost) - Real::to_f64(full)).abs() <= error * terms * terms.sqrt()
    }
}

/// Whether two costs have the same bits.
pub fn same<N: Naive>(a: CostOf<N>, b: CostOf<N>) -> bool {
    a.bits() == b.bits()
}
