//! Cuts that belong to no family: the best inequalities of small shrunk graphs.

use std::collections::HashSet;
use std::sync::Arc;

use antwarp_instance::Watch;

use crate::atoms::{short_tour, shortest_tour_of_places};
use crate::{Cut, Support};

use super::draws::Draws;
use super::partition::Partition;
use super::shrunk::Shrunk;
use super::workers::Workers;

/// By how much a cut must be violated.
const EPSILON: f64 = 1e-3;
/// The unit of lengths in the dynamic program.
const ONE: f64 = (1_u64 << 30) as f64;
/// By which part of its right side a cut must be violated.
const LEAST: f64 = 1e-3;
/// The solution does not use edges of smaller values.
const UNUSED_BELOW: f64 = 1e-7;
/// By how much an edge that the solution does not use appears longer.
const UNUSED: i64 = 1 << 26;
/// The most tours of a linear program.
const MOST_TOURS: usize = 80;
/// Borders above this value are not used, so that there are fewer columns: nearly as many cuts are found.
const WIDEST: f64 = 4.7;
/// The most nodes of a part: with each, the number of its sets doubles.
const MOST_NODES: usize = 16;
/// The largest right side.
const LARGEST: usize = 48;
/// The most sets of a cut, counted as often as they count.
const MOST_SETS: usize = 40;

/// Finds violated hypergraph inequalities: looks at small parts of the graph with the rest shrunk to one node, and decides by a small
/// linear program whether the values of its edges are a mean of tours. Of the sets `tight`, whose borders have the value 2, some are
/// shrunk. `atoms` is the number of nodes of a part with the rest, at most 16; a cut has at most 12 atoms, so some of larger parts are
/// lost. `trials` is the number of choices of sets and parts. Each cut is found once.
///
/// Source: local cuts (D. Applegate, R. Bixby, V. Chvátal, W. Cook, *TSP cuts which do not conform to the template paradigm*, 2001).
pub fn local(
    support: &Support,
    tight: &[Arc<[u32]>],
    (atoms, trials): (usize, usize),
    draws: &mut Draws,
    workers: Workers<'_>,
) -> Vec<Cut> {
    let paths = paths(support);
    let seeds: Vec<u64> = (0..trials).map(|_| draws.bits()).collect();
    let shrunk = workers.each(trials, &|trial| {
        let mut draws = Draws::new(seeds[trial]);
        let mut partition = Partition::new(support.len());
        let share = [0.0, 0.1, 0.3, 0.6, 0.9][trial % 5];
        for set in tight {
            if draws.chance(share) {
                partition.join_all(set);
            }
        }
        for path in &paths {
            // All ways to cut a path of edges of value 1 into two are equal. A tooth may be cut by the handle there.
            let cut = if draws.chance(0.2) { 0 } else { 1 + draws.below(path.len() - 1) };
            [&path[..cut], &path[cut..]]
                .iter()
                .filter(|part| !part.is_empty())
                .for_each(|part| partition.join_all(part));
        }
        let shrunk = Shrunk::new(support, &mut partition);
        let parts = parts(&shrunk.graph, atoms.min(MOST_NODES), &mut draws);
        (shrunk, parts)
    });
    let parts: Vec<(&Shrunk, &[u32])> =
        shrunk.iter().flat_map(|(shrunk, parts)| parts.iter().map(move |part| (shrunk, &part[..]))).collect();
    let found = workers.each(parts.len(), &|number| {
        let (shrunk, part) = parts[number];
        of_part(shrunk, part, (support.len(), workers.watch))
    });
    let mut known = HashSet::new();
    found.into_iter().flatten().filter(|cut| known.insert(cut.clone())).collect()
}

/// Returns parts of a graph, each of fewer than `atoms` nodes, that together have all nodes at fractional edges.
fn parts(graph: &Support, atoms: usize, draws: &mut Draws) -> Vec<Vec<u32>> {
    let mut parts = Vec::new();
    if graph.len() < 6 {
        return parts;
    }
    // At least one node is left for the rest.
    let most = atoms.min(graph.len()) - 1;
    let mut is_covered = vec![false; graph.len()];
    let mut seeds: Vec<u32> = (0..graph.len() as u32).collect();
    draws.shuffle(&mut seeds);
    for seed in seeds {
        let is_fractional = graph.neighbors(seed).iter().any(|edge| edge.1 < 1.0 - 1e-6);
        if is_fractional && !is_covered[seed as usize] {
            let part = grow(graph, seed, most, draws);
            part.iter().take(part.len() / 2).for_each(|&node| is_covered[node as usize] = true);
            parts.push(part);
        }
    }
    parts
}

/// Returns the paths of edges of value 1, each from end to end.
fn paths(support: &Support) -> Vec<Vec<u32>> {
    let next = |node: u32, before: u32| {
        let mut edges = support.neighbors(node).iter().filter(|edge| edge.1 > 1.0 - 1e-7);
        edges.find(|edge| edge.0 != before).map(|edge| edge.0)
    };
    let mut paths = Vec::new();
    for start in 0..support.len() as u32 {
        let ones = support.neighbors(start).iter().filter(|edge| edge.1 > 1.0 - 1e-7).count();
        if ones != 1 {
            continue;
        }
        let (mut path, mut before) = (vec![start], start);
        while let Some(node) = next(path[path.len() - 1], before) {
            before = path[path.len() - 1];
            path.push(node);
        }
        // Each path is found from both ends.
        if start < path[path.len() - 1] {
            paths.push(path);
        }
    }
    paths
}

/// Returns nodes around a seed that are well connected to it, at most `most`.
fn grow(graph: &Support, seed: u32, most: usize, draws: &mut Draws) -> Vec<u32> {
    let mut part = vec![seed];
    // The neighbours of the part, and the value of the edges to it.
    let mut border: Vec<(u32, f64)> = graph.neighbors(seed).to_vec();
    while part.len() < most && !border.is_empty() {
        let noisy = |x: f64, draws: &mut Draws| x * (0.3 + draws.below(1000) as f64 / 1000.0);
        let mut best = (0.0, 0);
        for (at, &(_, x)) in border.iter().enumerate() {
            let value = noisy(x, draws);
            if value > best.0 {
                best = (value, at);
            }
        }
        let (node, _) = border.swap_remove(best.1);
        part.push(node);
        for &(other, x) in graph.neighbors(node) {
            if !part.contains(&other) {
                match border.iter_mut().find(|edge| edge.0 == other) {
                    Some(edge) => edge.1 += x,
                    None => border.push((other, x)),
                }
            }
        }
    }
    part
}

/// Returns the most violated inequality whose atoms are these nodes and the rest, if one is violated.
fn of_part(shrunk: &Shrunk, part: &[u32], (n, watch): (usize, &Watch<'_>)) -> Option<Cut> {
    let graph = &shrunk.graph;
    let k = part.len() + 1;
    if k < 5 || part.len() >= graph.len() {
        return None;
    }
    // The values of the edges between the atoms. The last one is the rest.
    let mut x = vec![0.0; k * k];
    for (a, &node) in part.iter().enumerate() {
        for &(other, value) in graph.neighbors(node) {
            let b = part.iter().position(|&inside| inside == other).unwrap_or(k - 1);
            x[a * k + b] += value;
            if b == k - 1 {
                x[b * k + a] += value;
            }
        }
    }
    let borders = borders(k, &x);
    let beside: Vec<u32> = x
        .chunks(k)
        .map(|row| (0..).zip(row).filter(|(_, x)| **x > UNUSED_BELOW).map(|(b, _)| 1_u32 << b).sum())
        .collect();
    let is_narrow = |mask: u32| borders[mask as usize] < WIDEST && is_connected(mask, &beside);
    let masks: Vec<u32> = (1..borders.len() as u32).filter(|&mask| is_narrow(mask)).collect();
    let mut program = Program::new(masks.iter().map(|&mask| borders[mask as usize]).collect());
    let mut distances = vec![0; k * k];
    let length_of = |tour: &[usize], distances: &[i64]| -> i64 {
        tour.iter().zip(tour.iter().cycle().skip(1)).map(|(&a, &b)| distances[a * k + b]).sum()
    };
    let short = (ONE * (1.0 - 1e-5)) as i64;
    let mut is_proven = false;
    for _ in 0..MOST_TOURS {
        if watch.is_over() {
            return None;
        }
        // Tours that use edges of the solution come first: only these have a mean that is the solution.
        let longer: Vec<i64> =
            distances.iter().zip(&x).map(|(d, &x)| if x > UNUSED_BELOW { *d } else { d + UNUSED }).collect();
        let mut tour = short_tour(k, &longer, short);
        if length_of(&tour, &distances) >= short {
            tour = short_tour(k, &distances, short);
        }
        // Only this proves that no tour is shorter.
        if length_of(&tour, &distances) >= short {
            let (length, shortest) = shortest_tour_of_places(k, &distances)?;
            if length >= short {
                is_proven = true;
                break;
            }
            tour = shortest;
        }
        program.add_row(&crossings(&tour, &masks));
        if !program.solve() || program.value > 1.0 - LEAST {
            return None;
        }
        distances.fill(0);
        for (column, weight) in program.solution() {
            let (mask, weight) = (masks[column], (weight * ONE) as i64);
            for a in 0..k {
                for b in 0..k {
                    if ((mask >> a) ^ (mask >> b)) & 1 == 1 {
                        distances[a * k + b] += weight;
                    }
                }
            }
        }
    }
    if !is_proven {
        return None;
    }
    let weights: Vec<(u32, f64)> =
        program.solution().map(|(column, weight)| (masks[column], weight)).collect();
    whole_cut(shrunk, part, &weights, &borders, n)
}

/// Returns the value of the border of every set of the atoms before the last, by the bits of its number.
fn borders(k: usize, x: &[f64]) -> Vec<f64> {
    let mut borders = vec![0.0; 1 << (k - 1)];
    // The values of the edges from an atom to every set of the atoms before it.
    let mut links = Vec::with_capacity(1 << (k - 2));
    for atom in 0..k - 1 {
        let row = &x[atom * k..(atom + 1) * k];
        links.clear();
        links.push(0.0);
        for x in &row[..atom] {
            links.extend_from_within(..);
            let half = links.len() / 2;
            links[half..].iter_mut().for_each(|link| *link += x);
        }
        let (all, (before, with)) = (row.iter().sum::<f64>(), borders.split_at_mut(1 << atom));
        for ((with, before), link) in with.iter_mut().zip(before).zip(&links) {
            *with = *before + all - 2.0 * link;
        }
    }
    borders
}

/// Returns whether the atoms of a set are connected by edges of the solution; `beside` has the neighbours of each.
fn is_connected(mask: u32, beside: &[u32]) -> bool {
    let mut reached = mask & mask.wrapping_neg();
    let mut open = reached;
    while open != 0 {
        let fresh = beside[open.trailing_zeros() as usize] & mask & !reached;
        reached |= fresh;
        open = open & (open - 1) | fresh;
    }
    reached == mask
}

/// Returns how often a tour of atoms crosses the border of each set.
fn crossings(tour: &[usize], masks: &[u32]) -> Vec<f64> {
    let crosses = |mask: u32| {
        let steps = tour.iter().zip(tour.iter().cycle().skip(1));
        steps.filter(|&(&a, &b)| ((mask >> a) ^ (mask >> b)) & 1 == 1).count() as f64
    };
    masks.iter().map(|&mask| crosses(mask)).collect()
}

/// Makes a cut of weights for which all tours have a left side of at least 1: multiplies them by a right side that makes them whole.
fn whole_cut(
    shrunk: &Shrunk,
    part: &[u32],
    weights: &[(u32, f64)],
    borders: &[f64],
    n: usize,
) -> Option<Cut> {
    let multiplied =
        |factor: usize| weights.iter().map(move |&(mask, weight)| (mask, weight * factor as f64));
    let factor = (1..=LARGEST)
        .find(|&factor| multiplied(factor).all(|(_, weight)| (weight - weight.round()).abs() < 1e-3))?;
    let counts: Vec<(u32, usize)> = multiplied(factor).map(|(mask, w)| (mask, w.round() as usize)).collect();
    let left: f64 = counts.iter().map(|&(mask, count)| borders[mask as usize] * count as f64).sum();
    if counts.iter().map(|count| count.1).sum::<usize>() > MOST_SETS || left > factor as f64 - EPSILON {
        return None;
    }
    let mut sets = Vec::new();
    for (mask, count) in counts {
        let inside: Vec<u32> =
            (0..).zip(part).filter(|(a, _)| (mask >> a) & 1 == 1).map(|(_, &node)| node).collect();
        let mut set = shrunk.expand(&inside);
        if 2 * set.len() > n {
            set = (0..n as u32).filter(|node| set.binary_search(node).is_err()).collect();
        }
        let set: Arc<[u32]> = set.into();
        sets.extend(std::iter::repeat_n(set, count));
    }
    let cut = Cut::hypergraph(sets, n).ok()?;
    (left < cut.right_side() as f64 - EPSILON).then_some(cut)
}

/// The linear program "least cost such that every row is at least 1", over variables that are not negative, to which rows are added.
///
/// It is a dictionary: basic variables and the cost as functions of the others, solved by the dual simplex method (V. Chvátal, *Linear
/// Programming*, 1983).
struct Program {
    /// The cost.
    value: f64,
    /// What a unit of each nonbasic variable adds to the cost; never negative.
    costs: Vec<f64>,
    rows: Vec<Row>,
    /// The variables that are not basic: columns, then a slack for each row.
    nonbasic: Vec<usize>,
    columns: usize,
    slacks: usize,
}

/// A basic variable: `constant + sum of coefficients * nonbasic variables`.
struct Row {
    variable: usize,
    constant: f64,
    coefficients: Vec<f64>,
}

impl Program {
    fn new(costs: Vec<f64>) -> Program {
        let columns = costs.len();
        Program { value: 0.0, costs, rows: Vec::new(), nonbasic: (0..columns).collect(), columns, slacks: 0 }
    }

    /// Adds the row `coefficients * columns >= 1`.
    fn add_row(&mut self, coefficients: &[f64]) {
        let mut row = Row {
            variable: self.columns + self.slacks,
            constant: -1.0,
            coefficients: self
                .nonbasic
                .iter()
                .map(|&at| coefficients.get(at).copied().unwrap_or(0.0))
                .collect(),
        };
        self.slacks += 1;
        for basic in &self.rows {
            if let Some(&times) = coefficients.get(basic.variable) {
                row.constant += times * basic.constant;
                add(&mut row.coefficients, times, &basic.coefficients);
            }
        }
        self.rows.push(row);
    }

    /// Makes all variables nonnegative at the least cost. Returns whether that worked.
    fn solve(&mut self) -> bool {
        for _ in 0..200 {
            let least = self.rows.iter().enumerate().min_by(|a, b| a.1.constant.total_cmp(&b.1.constant));
            let Some((leaving, row)) = least else { return true };
            if row.constant > -1e-7 {
                return true;
            }
            let mut best: Option<(f64, f64, usize)> = None;
            for (at, (&coefficient, &cost)) in row.coefficients.iter().zip(&self.costs).enumerate() {
                if coefficient > 1e-7 {
                    let ratio = cost / coefficient;
                    let is_better = |(least, size, _): (f64, f64, usize)| {
                        ratio < least - 1e-9 || ratio < least + 1e-9 && coefficient > size
                    };
                    if best.is_none_or(is_better) {
                        best = Some((ratio, coefficient, at));
                    }
                }
            }
            let Some((_, _, entering)) = best else { return false };
            self.pivot(leaving, entering);
        }
        false
    }

    fn pivot(&mut self, leaving: usize, entering: usize) {
        let mut row = self.rows.swap_remove(leaving);
        let pivot = row.coefficients[entering];
        // The entering variable as a function of the leaving one and the others.
        row.coefficients[entering] = -1.0;
        row.coefficients.iter_mut().for_each(|coefficient| *coefficient /= -pivot);
        row.constant /= -pivot;
        std::mem::swap(&mut row.variable, &mut self.nonbasic[entering]);
        for other in &mut self.rows {
            let times = std::mem::take(&mut other.coefficients[entering]);
            if times != 0.0 {
                other.constant += times * row.constant;
                add(&mut other.coefficients, times, &row.coefficients);
            }
        }
        let times = std::mem::take(&mut self.costs[entering]);
        self.value += times * row.constant;
        add(&mut self.costs, times, &row.coefficients);
        // A slack that became basic is a row that does not matter now.
        self.rows.push(row);
    }

    /// Returns the columns that are not 0, and their values.
    fn solution(&self) -> impl Iterator<Item = (usize, f64)> {
        let basic = self.rows.iter().filter(|row| row.variable < self.columns && row.constant > 1e-7);
        basic.map(|row| (row.variable, row.constant))
    }
}

/// Adds a multiple of a vector to another.
fn add(to: &mut [f64], times: f64, vector: &[f64]) {
    to.iter_mut().zip(vector).for_each(|(to, value)| *to += times * value);
}
