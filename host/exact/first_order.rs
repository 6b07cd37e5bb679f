//! A first-order method for the linear program of large instances. A step costs little; where the dual values are nearly right, some
//! hundreds of steps raise their bound almost to the optimum.
//!
//! Source: the primal-dual hybrid gradient method (A. Chambolle, T. Pock, *A first-order primal-dual algorithm for convex problems with
//! applications to imaging*, Journal of Mathematical Imaging and Vision 40, 2011), with the step lengths of T. Pock, A. Chambolle,
//! *Diagonal preconditioning for first order primal-dual algorithms in convex optimization* (ICCV 2011), and restarts from the mean of
//! the steps (D. Applegate and others, *Practical large-scale linear programming using primal-dual hybrid gradient*, 2021).

use std::collections::HashSet;
use std::sync::Arc;

use antwarp_instance::{Enough, parallel};

use crate::duals::UNIT_BITS;
use crate::pricing::Edge;
use crate::{Cut, Duals};

/// Steps between two computations of the bound.
const STEPS: usize = 40;
/// The computations of the bound before the first restart. As soon as one achieves nothing, the next one comes after twice as many.
const FIRST_LENGTH: usize = 2;
/// The program is solved once this many computations of the bound together raised it by less than this part.
const SETTLED: (usize, f64) = (32, 1e-7);
/// How much longer the steps of dual values are than those of edges. Measured: .1 to .5 are nearly as good, 1 and 3 are worse.
const WEIGHT: f64 = 0.2;
/// Step lengths are this part of the largest ones for which the method converges.
const SAFE: f64 = 0.95;
/// Items that a thread takes at a time.
const GRAIN: usize = 1 << 10;
/// The internal cost 1 in units of dual values.
const ONE: f64 = (1_u64 << UNIT_BITS) as f64;

/// The linear program of an instance without partners: a column for each of some edges, a row for each node and each cut.
pub struct Program {
    nodes: usize,
    edges: Vec<Edge>,
    cuts: Vec<Arc<Cut>>,
    /// Dual values are multiples of this internal cost here.
    scale: f64,
    costs: Vec<f64>,
    right_sides: Vec<f64>,
    rows: Matrix,
    columns: Matrix,
    /// The value of each edge.
    x: Vec<f64>,
    /// The dual value of each row: the best ones.
    y: Vec<f64>,
}

impl Program {
    /// Makes the program of an instance with these edges, each once and with a value to begin with. `nodes` has the dual value of each
    /// node, `cuts` that of each cut; they are in units, those of cuts not negative.
    pub fn new((edges, x): (Vec<Edge>, Vec<f64>), nodes: Vec<f64>, cuts: Vec<(Cut, f64)>) -> Program {
        let mean = edges.iter().map(|edge| f64::from(edge.cost)).sum::<f64>() / edges.len().max(1) as f64;
        let scale = mean.max(1.0);
        let n = nodes.len();
        let duals = nodes.into_iter().chain(cuts.iter().map(|cut| cut.1));
        let right_sides = cuts.iter().map(|(cut, _)| cut.right_side() as f64);
        let mut program = Program {
            nodes: n,
            edges,
            scale,
            costs: Vec::new(),
            right_sides: std::iter::repeat_n(2.0, n).chain(right_sides).collect(),
            rows: Matrix::default(),
            columns: Matrix::default(),
            x,
            y: duals.map(|dual| dual / (scale * ONE)).collect(),
            cuts: cuts.into_iter().map(|(cut, _)| Arc::new(cut)).collect(),
        };
        program.prepare();
        program
    }

    /// Adds those of these edges that are not columns yet, with the value 0. Returns how many. They must be different.
    pub fn add_edges(&mut self, edges: impl Iterator<Item = Edge>) -> usize {
        let known: HashSet<Edge> = self.edges.iter().copied().collect();
        self.edges.extend(edges.filter(|edge| !known.contains(edge)));
        let added = self.edges.len() - known.len();
        if added > 0 {
            self.x.resize(self.edges.len(), 0.0);
            self.prepare();
        }
        added
    }

    /// Computes costs and coefficients.
    fn prepare(&mut self) {
        self.costs = self.edges.iter().map(|edge| f64::from(edge.cost) / self.scale).collect();
        let mut beside: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.nodes];
        for (number, edge) in (0..).zip(&self.edges) {
            beside[edge.a as usize].push((edge.b, number));
            beside[edge.b as usize].push((edge.a, number));
        }
        let row = |is_inside: &mut Vec<bool>, row: usize| {
            let Some(cut) = row.checked_sub(self.nodes) else {
                return Some(beside[row].iter().map(|&(_, edge)| (edge, 1.0)).collect());
            };
            let mut crossing: Vec<u32> = Vec::new();
            for set in self.cuts[cut].sets() {
                set.iter().for_each(|&node| is_inside[node as usize] = true);
                for &node in set.iter() {
                    let leaving = beside[node as usize].iter().filter(|(to, _)| !is_inside[*to as usize]);
                    crossing.extend(leaving.map(|(_, edge)| edge));
                }
                set.iter().for_each(|&node| is_inside[node as usize] = false);
            }
            crossing.sort_unstable();
            Some(crossing.chunk_by(u32::eq).map(|same| (same[0], same.len() as f32)).collect())
        };
        let rows = parallel::collect_some(self.right_sides.len(), &|| vec![false; self.nodes], &row);
        self.rows = Matrix::new(&rows);
        self.columns = self.rows.transposed(self.edges.len());
    }

    /// Returns the reduced costs of all columns.
    fn reduced(&self, y: &[f64]) -> Vec<f64> {
        parallel::collect(self.edges.len(), &|edge| self.costs[edge] - self.columns.times(edge, y))
    }

    /// Returns the bound that dual values prove if no column is missing.
    fn bound(&self, y: &[f64]) -> f64 {
        let right: f64 = self.right_sides.iter().zip(y).map(|(right, y)| right * y).sum();
        right + self.reduced(y).iter().map(|reduced| reduced.min(0.0)).sum::<f64>()
    }

    /// Raises the bound until `enough` says so, which is asked before each step, or until more steps achieve nothing; returns true in
    /// the latter case. All threads of the pool work.
    pub fn ascend(&mut self, enough: Enough<'_>) -> bool {
        let step_x: Vec<f64> =
            (0..self.edges.len()).map(|edge| SAFE / (WEIGHT * self.columns.sum(edge))).collect();
        let step_y: Vec<f64> =
            (0..self.right_sides.len()).map(|row| SAFE * WEIGHT / self.rows.sum(row)).collect();
        let (mut x, mut y) = (self.x.clone(), self.y.clone());
        let mut best = self.bound(&y);
        let mut at_restart = best;
        let mut mean = Mean::new(&x, &y);
        let (mut looks, mut length) = (0, FIRST_LENGTH);
        let mut history = vec![best];
        loop {
            for _ in 0..STEPS {
                if enough() {
                    self.x = x;
                    return false;
                }
                self.step((&mut x, &step_x), (&mut y, &step_y));
                mean.add(&x, &y);
            }
            let (mean_x, mean_y) = mean.get();
            let bounds = [self.bound(&y), self.bound(&mean_y)];
            if bounds[0].max(bounds[1]) > best {
                best = bounds[0].max(bounds[1]);
                self.y.clone_from(if bounds[0] > bounds[1] { &y } else { &mean_y });
            }
            history.push(best);
            let before = history.len().checked_sub(SETTLED.0 + 1).map(|at| history[at]);
            if before.is_some_and(|before| best - before <= SETTLED.1 * best) {
                self.x = x;
                return true;
            }
            looks += 1;
            if looks == length {
                if bounds[1] > bounds[0] {
                    (x, y) = (mean_x, mean_y);
                }
                if best <= at_restart {
                    length *= 2;
                }
                (looks, at_restart) = (0, best);
                mean = Mean::new(&x, &y);
            }
        }
    }

    /// Moves the values of edges along their reduced costs, then the dual values by what the rows lack.
    fn step(&self, (x, step_x): (&mut [f64], &[f64]), (y, step_y): (&mut [f64], &[f64])) {
        // Twice the new values minus the old ones.
        let ahead = {
            let (x, y) = (&*x, &*y);
            parallel::collect(x.len(), &|edge| {
                let reduced = self.costs[edge] - self.columns.times(edge, y);
                2.0 * (x[edge] - step_x[edge] * reduced).clamp(0.0, 1.0) - x[edge]
            })
        };
        parallel::each_of(x, GRAIN, &|edge, x| *x = (ahead[edge] + *x) / 2.0);
        parallel::each_of(y, GRAIN, &|row, y| {
            *y += step_y[row] * (self.right_sides[row] - self.rows.times(row, &ahead));
            if row >= self.nodes {
                *y = y.max(0.0);
            }
        });
    }

    /// Returns the best dual values, rounded to units, and the cuts that they belong to.
    pub fn duals(&self) -> (Duals, Vec<Arc<Cut>>) {
        // Conversions from floating point saturate: absurd values are found by `Reduced::new`.
        let whole = |dual: &f64| (dual * self.scale * ONE).round() as i64;
        let (nodes, cuts) = self.y.split_at(self.nodes);
        let cuts = cuts.iter().map(whole).enumerate().filter(|&(_, dual)| dual > 0).collect();
        let duals = Duals { nodes: nodes.iter().map(whole).collect(), cuts, ..Duals::default() };
        (duals, self.cuts.clone())
    }
}

/// The mean of the steps since a restart.
struct Mean {
    x: Vec<f64>,
    y: Vec<f64>,
    count: f64,
}

impl Mean {
    fn new(x: &[f64], y: &[f64]) -> Mean {
        Mean { x: vec![0.0; x.len()], y: vec![0.0; y.len()], count: 0.0 }
    }

    fn add(&mut self, x: &[f64], y: &[f64]) {
        parallel::each_of(&mut self.x, GRAIN, &|i, sum| *sum += x[i]);
        parallel::each_of(&mut self.y, GRAIN, &|i, sum| *sum += y[i]);
        self.count += 1.0;
    }

    fn get(&self) -> (Vec<f64>, Vec<f64>) {
        let of = |sums: &[f64]| sums.iter().map(|sum| sum / self.count).collect();
        (of(&self.x), of(&self.y))
    }
}

/// A sparse matrix: for each line, its entries other than 0.
#[derive(Default)]
struct Matrix {
    /// For each line and one more, where its entries start.
    starts: Vec<usize>,
    /// Where in the line an entry is, and its value.
    entries: Vec<(u32, f32)>,
}

impl Matrix {
    fn new(lines: &[Vec<(u32, f32)>]) -> Matrix {
        let ends = lines.iter().scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        });
        Matrix { starts: std::iter::once(0).chain(ends).collect(), entries: parallel::concat(lines) }
    }

    fn line(&self, number: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[number]..self.starts[number + 1]]
    }

    /// Returns the sum of a line, at least 1: no step is longer.
    fn sum(&self, line: usize) -> f64 {
        self.line(line).iter().map(|entry| f64::from(entry.1)).sum::<f64>().max(1.0)
    }

    /// Returns the product of a line and a vector.
    #[inline]
    fn times(&self, line: usize, vector: &[f64]) -> f64 {
        self.line(line).iter().map(|&(at, value)| f64::from(value) * vector[at as usize]).sum()
    }

    fn transposed(&self, lines: usize) -> Matrix {
        let mut starts = vec![0; lines + 1];
        self.entries.iter().for_each(|entry| starts[entry.0 as usize + 1] += 1);
        (0..lines).for_each(|line| starts[line + 1] += starts[line]);
        let mut ends = starts.clone();
        let mut entries = vec![(0, 0.0); self.entries.len()];
        for line in 0..self.starts.len() - 1 {
            for &(to, value) in self.line(line) {
                entries[ends[to as usize]] = (line as u32, value);
                ends[to as usize] += 1;
            }
        }
        Matrix { starts, entries }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use antwarp_core::metric::Metric;
    use antwarp_instance::Instance;

    use super::*;

    /// All edges of some places, without values.
    fn edges(instance: &Instance) -> (Vec<Edge>, Vec<f64>) {
        let n = instance.len() as u32;
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        let edges: Vec<Edge> = pairs.map(|(a, b)| Edge::of(instance, a, b)).collect();
        let count = edges.len();
        (edges, vec![0.0; count])
    }

    fn bound_after(program: &mut Program, steps: usize) -> f64 {
        let asked = AtomicUsize::new(0);
        program.ascend(&|| asked.fetch_add(1, Ordering::Relaxed) >= steps);
        program.bound(&program.y) * program.scale
    }

    #[test]
    fn the_bound_reaches_the_optimum_of_the_linear_program() {
        // Two squares of side 100, 1000 apart. Two edges at each node: 800; with the cut around a square, a tour: 2600.
        let corners = [[0.0, 0.0], [100.0, 0.0], [100.0, 100.0], [0.0, 100.0]];
        let squares = [0.0, 1100.0].map(|x| corners.map(|corner| [corner[0] + x, corner[1], 0.0]));
        let instance = Instance::from_points("squares", Metric::Euc2d, squares.concat()).unwrap();
        let mut program = Program::new(edges(&instance), vec![0.0; 8], Vec::new());
        assert!((799.9..=800.001).contains(&bound_after(&mut program, 4000)));
        let cuts = vec![(Cut::subtour(vec![0, 1, 2, 3]), 0.0)];
        let mut program = Program::new(edges(&instance), vec![0.0; 8], cuts);
        assert!((2599.0..=2600.001).contains(&bound_after(&mut program, 40_000)));
    }

    #[test]
    fn steps_never_lower_the_best_bound() {
        let points = (0..30_u32).map(|i| [f64::from(i * 37 % 101), f64::from(i * 53 % 97), 0.0]).collect();
        let instance = Instance::from_points("thirty", Metric::Euc2d, points).unwrap();
        let mut program = Program::new(edges(&instance), vec![0.0; 30], Vec::new());
        let mut before = f64::NEG_INFINITY;
        for _ in 0..20 {
            let now = bound_after(&mut program, 100);
            assert!(now >= before);
            before = now;
        }
    }
}
