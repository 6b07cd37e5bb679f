//! Potentials that make the bound high, found along subgradients.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::graph::Graph;
use super::tree::{GRAIN, OneTree, Spanner};

/// Fraction of the last direction in the next one, so that alternating surpluses and deficits of a node cancel out.
const INERTIA: f64 = 0.7;
/// Steps as fractions of the first bound, see [`Ascent::step`]. The first one grows with the number of trees available to recover
/// from it: if nodes are clustered, whole clusters have far to go. For random places it makes no difference.
const FIRST: [f64; 2] = [0.3, 10.0];
const FIRST_A_TREE: f64 = 0.003;
const LAST: f64 = 3e-5;
/// Potentials are astray if their bound is worse than another by more than one part in this many: they exploited missing edges.
const ASTRAY: i128 = 20;
/// Smallest scale of a node, as a fraction of the mean.
const FINEST: f64 = 0.02;
/// Largest potential: far larger than any distance, but far from overflow.
const LARGEST: f64 = (1_u64 << 45) as f64;

/// The ascent along subgradients; see the [module](self).
pub(super) struct Ascent {
    pub potentials: Vec<i64>,
    pub spanner: Spanner,
    /// The number of trees computed so far, and the maximum.
    pub trees: u32,
    most: u32,
    /// How much of the ascent is done, from 0 to 1.
    pub progress: f64,
    /// The direction in which potentials move: the surplus of edges of each node.
    direction: Vec<f64>,
    /// How far the potential of a node moves compared to others: in proportion to the distance of its neighbours.
    scale: Vec<f64>,
    first: i128,
    best: i128,
    best_potentials: Vec<i64>,
    /// The best bound directly after missing edges were added, and its potentials.
    mended: i128,
    mended_potentials: Vec<i64>,
}

impl Ascent {
    /// Creates an ascent from potentials of 0, with this many trees.
    pub fn new(graph: &Graph, trees: u32) -> Ascent {
        let n = graph.len() as usize;
        let near = |node: u32| {
            let near = &graph.of_node(node)[..graph.of_node(node).len().min(3)];
            near.iter().map(|arc| f64::from(arc.length)).sum::<f64>() / near.len().max(1) as f64
        };
        let mut scale: Vec<f64> = (0..graph.len()).into_par_iter().map(near).collect();
        let mean = (scale.iter().sum::<f64>() / n as f64).max(f64::MIN_POSITIVE);
        scale.par_iter_mut().for_each(|scale| *scale = (*scale / mean).max(FINEST));
        Ascent {
            potentials: vec![0; n],
            spanner: Spanner::new(n),
            trees: 0,
            most: trees.max(1),
            progress: 0.0,
            direction: vec![0.0; n],
            scale,
            first: 0,
            best: i128::MIN,
            best_potentials: vec![0; n],
            mended: i128::MIN,
            mended_potentials: vec![0; n],
        }
    }

    /// Computes the next tree, and takes a step from there. `time`, from 0 to 1, is the fraction of the time used, if there is a
    /// limit.
    pub fn advance(&mut self, graph: &Graph, time: f64) {
        self.spanner.span(graph, &self.potentials);
        let OneTree { value, .. } = self.spanner.one_tree(graph, &self.potentials);
        if self.trees == 0 {
            self.first = value;
        }
        self.trees += 1;
        if value > self.best {
            self.best = value;
            self.best_potentials.copy_from_slice(&self.potentials);
        }
        self.progress = (f64::from(self.trees) / f64::from(self.most)).max(time).min(1.0);
        self.step();
    }

    /// Raises the potentials of nodes with more than two edges and lowers those of leaves. If every node moved by its surplus, the
    /// sum of squares would be the gain of a step of 1 in the linear model; so steps are fractions of the bound divided by this
    /// sum.
    fn step(&mut self) {
        let inertia = if self.trees == 1 { 0.0 } else { INERTIA };
        let surplus = |degree: &AtomicU32| f64::from(degree.load(Relaxed)) - 2.0;
        let turn = |((direction, degree), scale): ((&mut f64, &AtomicU32), &f64)| {
            let surplus = surplus(degree);
            *direction = inertia * *direction + (1.0 - inertia) * surplus;
            // Use whole numbers, whose sum does not depend on the order.
            (1024.0 * scale * (surplus * surplus).max(*direction * *direction)) as u64
        };
        let nodes = self.direction.par_iter_mut().zip(&self.spanner.degrees).zip(&self.scale);
        let squares = nodes.with_min_len(GRAIN).map(turn).sum::<u64>() as f64 / 1024.0;
        let first = (FIRST_A_TREE * f64::from(self.most)).clamp(FIRST[0], FIRST[1]);
        let step = first * (LAST / first).powf(self.progress) * self.first.max(1) as f64 / squares.max(1.0);
        let nodes = self.potentials.par_iter_mut().zip(&self.direction).zip(&self.scale);
        nodes.with_min_len(GRAIN).for_each(|((potential, direction), scale)| {
            let next = *potential as f64 + step * scale * direction;
            *potential = next.round().clamp(-LARGEST, LARGEST) as i64;
        });
    }

    /// Continues in a graph with more edges: from the current potentials or, if those were far astray, from those at the previous
    /// mend.
    pub fn mended(&mut self, graph: &Graph) {
        self.spanner.span(graph, &self.best_potentials);
        let OneTree { value, .. } = self.spanner.one_tree(graph, &self.best_potentials);
        self.best = value;
        if value >= self.mended {
            self.mended = value;
            self.mended_potentials.copy_from_slice(&self.best_potentials);
        } else if value < self.mended - self.mended.abs() / ASTRAY {
            self.best = self.mended;
            self.best_potentials.copy_from_slice(&self.mended_potentials);
            self.potentials.copy_from_slice(&self.mended_potentials);
            self.direction.fill(0.0);
        }
    }

    /// Returns the best bound directly after missing edges were added.
    pub fn mended_value(&self) -> i128 {
        self.mended
    }

    /// Returns the potentials of that bound, and the spanner.
    pub fn mended_of(&mut self) -> (&[i64], &mut Spanner) {
        (&self.mended_potentials, &mut self.spanner)
    }

    /// Sets the best potentials.
    #[cfg(test)]
    pub fn set_best(&mut self, potentials: Vec<i64>) {
        self.best_potentials = potentials;
    }

    /// Returns the potentials of the best bound, and the spanner.
    pub fn best_of(&mut self) -> (&[i64], &mut Spanner) {
        (&self.best_potentials, &mut self.spanner)
    }
}
