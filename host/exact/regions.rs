//! Cutting planes for large instances: region by region, on many threads.
//!
//! The simplex method takes hours for the linear program of a hundred thousand nodes, on one thread. So the nodes are divided into regions,
//! and each gets a linear program of its own: the instance of its nodes and of a margin around them. The cuts that are found there hold
//! for the whole instance. The dual values are put together, in the margins as weighted means, and a [first-order
//! method](crate::first_order) mends what does not fit together. [Pricing](mod@crate::pricing) then computes what the result proves: a
//! bound follows from any dual values.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use antwarp_instance::{Enough, Instance, KdTree, Watch};

use crate::duals::{to_cost, to_units};
use crate::first_order::Program;
use crate::master::Master;
use crate::pricing::{Edge, price};
use crate::root::{Effort, Root, ascend};
use crate::separation::Workers;
use crate::simplex::Solver;
use crate::{Board, Cut, Duals, Incumbent, Reduced};

/// The most nodes of a region, without its margin.
pub const MOST: usize = 1600;
/// The edges, to near neighbours or of a tour, that lead out of a region to the end of its margin.
const MARGIN: usize = 4;
/// The same where nodes are in clusters, whose dual values are large, and less certain.
const MARGIN_OF_CLUSTERS: usize = 8;
/// A region with its margin has at most this many times the nodes of a region.
const LARGEST: usize = 5;
/// Nodes are in clusters if the hundredth part of a tour's edges, the longest ones, has more than this part of its length. Where they are
/// spread evenly, it has a thirtieth.
const CLUSTERED: f64 = 0.1;
/// The part of the time for the linear programs of the regions.
const SHARE: f64 = 0.75;
/// The most columns that a pricing adds, for each node.
const COLUMNS_PER_NODE: usize = 4;
/// Times that missing columns are looked for while the first-order method runs.
const PRICINGS: u32 = 3;
/// Seconds in which the bound of a region is computed after its time.
const CLOSING: f64 = 1.0;
/// See [`Effort::progress`]. The tour of a region is a bad one, since its parts are joined along the border: so the gap is some ten
/// percent, and this is a small part of it.
const PROGRESS: f64 = 0.000_012_5;

/// Returns whether an instance can be divided: its nodes are places, and it has all edges.
pub fn is_divisible(instance: &Instance) -> bool {
    let has_all_edges = instance.forbidden_pairs().is_empty() && instance.partners().is_none();
    instance.points().is_some() && instance.gap().is_none() && has_all_edges
}

/// Raises the bound of an instance that [is divisible](is_divisible), in regions of `most` nodes, until `end` or until `enough` says
/// so. `closing` ends the last pricing. `incumbent` must have a tour; without one the bound is 0. The root has no linear program,
/// solution or optimum.
pub fn ascend_by_regions(
    instance: &Instance,
    solver: &dyn Solver,
    most: usize,
    (incumbent, board): (&Incumbent, &Board),
    (end, [enough, closing]): (Instant, [Enough<'_>; 2]),
) -> Root {
    let n = instance.len();
    // No cost is negative: dual values of 0 prove a bound of 0.
    let mut root = Root { duals: Duals { nodes: vec![0; n], ..Duals::default() }, ..Root::default() };
    let Some((_, tour)) = incumbent.best() else { return root };
    let edges = Master::first_edges(instance, std::slice::from_ref(&tour));
    let regions = divide(instance, &edges, most, margin(instance, &tour));
    let watch = Watch::new(enough);
    let mut parts = bound_all(instance, solver, &regions, (&tour, board), (end, &watch));
    for part in &parts {
        root.work.add(&part.root.work);
        root.trouble = root.trouble.or_else(|| part.root.trouble.clone());
    }
    // Without a bound there are no dual values.
    parts.retain(|part| part.root.units > 0);
    if parts.is_empty() {
        return root;
    }
    let mut program = joined(instance, &regions, &parts, edges);
    drop(parts);
    let last = Watch::new(closing);
    let mut is_solved = false;
    for round in 1.. {
        let (duals, cuts) = program.duals();
        let Some(reduced) = Reduced::new(&duals, &cuts, &[]) else { break };
        let since = Instant::now();
        let Some(mut priced) = price(instance, &reduced, (0, 0), &last) else { break };
        let took = since.elapsed();
        root.work.pricing += took.as_secs_f64();
        let gained = priced.bound - root.units;
        if gained > 0 {
            (root.units, root.bound) = (priced.bound, to_cost(priced.bound));
            (root.duals, root.cuts) = (duals, cuts);
            board.raise(root.bound);
        }
        priced.edges.retain(|&(_, reduced)| reduced < 0);
        priced.edges.sort_by_key(|&(edge, reduced)| (reduced, edge));
        let lowest = priced.edges.iter().map(|(edge, _)| *edge);
        let added = program.add_edges(lowest.take(COLUMNS_PER_NODE * n));
        let is_settled = is_solved && (added == 0 || (0..to_units(1)).contains(&gained));
        // The next pricing must be over in time.
        let end = end.checked_sub(took).unwrap_or(end);
        let left = end.saturating_duration_since(Instant::now());
        if root.bound >= incumbent.cost() || is_settled || watch.is_over() || left.is_zero() {
            break;
        }
        let until = if round < PRICINGS { Instant::now() + left / PRICINGS } else { end };
        is_solved = program.ascend(&|| watch.is_over() || Instant::now() >= until);
    }
    root
}

/// A region with its margin.
struct Region {
    /// Its nodes, then those of the margin.
    nodes: Vec<u32>,
    /// How much its linear program counts at each node: 1 in the region, less and less in the margin.
    weights: Vec<f64>,
}

/// Returns the width of the margins.
fn margin(instance: &Instance, tour: &[u32]) -> usize {
    let steps = tour.iter().zip(tour.iter().cycle().skip(1));
    let mut lengths: Vec<i32> = steps.map(|(&a, &b)| instance.distance(a, b)).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    let sum = |lengths: &[i32]| lengths.iter().map(|&length| f64::from(length)).sum::<f64>();
    let is_clustered = sum(&lengths[..lengths.len() / 100]) > CLUSTERED * sum(&lengths);
    if is_clustered { MARGIN_OF_CLUSTERS } else { MARGIN }
}

/// Returns the number of regions of at most `most` nodes: a power of two.
pub fn count(nodes: usize, most: usize) -> usize {
    nodes.div_ceil(most).next_power_of_two()
}

/// Divides the nodes into regions of the same size, at most `most` nodes each, and a power of two of them.
fn divide(instance: &Instance, edges: &[Edge], most: usize, margin: usize) -> Vec<Region> {
    let n = instance.len();
    let tree = KdTree::new(instance.points().unwrap_or_default());
    let count = count(n, most);
    let mut beside = vec![Vec::new(); n];
    for edge in edges {
        beside[edge.a as usize].push(edge.b);
        beside[edge.b as usize].push(edge.a);
    }
    let region = |number: usize| {
        let mut nodes = tree.items()[number * n / count..(number + 1) * n / count].to_vec();
        let mut known: HashSet<u32> = nodes.iter().copied().collect();
        let mut ends = vec![nodes.len()];
        let mut begin = 0;
        while ends.len() <= margin && nodes.len() < LARGEST * most {
            let end = nodes.len();
            for at in begin..end {
                let near = &beside[nodes[at] as usize];
                nodes.extend(near.iter().filter(|&&node| known.insert(node)));
            }
            nodes.truncate((LARGEST * most).max(end));
            begin = end;
            ends.push(nodes.len());
        }
        let steps = (ends.len() - 1).max(1) as f64;
        let mut weights = Vec::with_capacity(nodes.len());
        for (step, &end) in ends.iter().enumerate() {
            weights.resize(end, (1.0 - step as f64 / steps).powi(3));
        }
        Region { nodes, weights }
    };
    (0..count).map(region).collect()
}

/// What the linear program of a region achieved.
struct Part {
    region: usize,
    root: Root,
}

/// Solves the linear programs of all regions. Those that there was no time for are left out.
fn bound_all(
    instance: &Instance,
    solver: &dyn Solver,
    regions: &[Region],
    (tour, board): (&[u32], &Board),
    (end, watch): (Instant, &Watch<'_>),
) -> Vec<Part> {
    let mut positions = vec![0; instance.len()];
    (0..).zip(tour).for_each(|(position, &node)| positions[node as usize] = position);
    let begin = Instant::now();
    let end = begin + end.saturating_duration_since(begin).mul_f64(SHARE);
    let workers = Workers { threads: board.threads(), watch };
    let left = AtomicUsize::new(regions.len());
    let work = |number: usize| {
        // All regions that are left get the same time.
        let rounds = left.fetch_sub(1, Ordering::Relaxed).div_ceil(workers.threads);
        let now = Instant::now();
        let until = now + end.saturating_duration_since(now) / rounds.max(1) as u32;
        let root = bound_one(instance, solver, &regions[number].nodes, &positions, (until, watch))?;
        board.count_cuts(root.work.cuts);
        Some(Part { region: number, root })
    };
    workers.each(regions.len(), &work).into_iter().flatten().collect()
}

/// Solves the linear program of some nodes. Returns `None` if the instance cannot be divided.
fn bound_one(
    instance: &Instance,
    solver: &dyn Solver,
    nodes: &[u32],
    positions: &[u32],
    (until, watch): (Instant, &Watch<'_>),
) -> Option<Root> {
    let part = instance.renumbered(nodes)?;
    let mut tour: Vec<u32> = (0..nodes.len() as u32).collect();
    tour.sort_unstable_by_key(|&node| positions[nodes[node as usize] as usize]);
    let incumbent = Incumbent::new();
    incumbent.offer(part.check_tour(&tour).ok()?, &tour);
    let enough = || watch.is_over() || Instant::now() >= until;
    let closing = || Instant::now() >= until + Duration::from_secs_f64(CLOSING);
    let effort = Effort { progress: PROGRESS, is_for_tree: false, enough: &enough, closing: &closing };
    Some(ascend(&part, solver, &[], (&incumbent, &Board::new(1)), &effort))
}

/// Puts the linear programs of the regions together. These edges are columns, and those of the regions' solutions.
fn joined(instance: &Instance, regions: &[Region], parts: &[Part], mut edges: Vec<Edge>) -> Program {
    let n = instance.len();
    let mut sums = vec![0.0; n];
    for part in parts {
        let region = &regions[part.region];
        region.nodes.iter().zip(&region.weights).for_each(|(&node, weight)| sums[node as usize] += weight);
    }
    let mut nodes = vec![0.0; n];
    let mut cuts: HashMap<Cut, f64> = HashMap::new();
    let mut values: HashMap<(u32, u32), f64> = HashMap::new();
    for Part { region, root } in parts {
        let region = &regions[*region];
        let share = |node: u32| region.weights[node as usize] / sums[region.nodes[node as usize] as usize];
        for (node, &dual) in (0..).zip(&root.duals.nodes) {
            nodes[region.nodes[node as usize] as usize] += dual as f64 * share(node);
        }
        for &(edge, value) in &root.values {
            let (a, b) = (region.nodes[edge.a as usize], region.nodes[edge.b as usize]);
            edges.push(Edge { a: a.min(b), b: a.max(b), cost: edge.cost });
            *values.entry((a.min(b), a.max(b))).or_default() += value * (share(edge.a) + share(edge.b)) / 2.0;
        }
        // Cuts of the outermost nodes are kept, with a dual value of 0.
        for &(cut, dual) in &root.duals.cuts {
            let Some(moved) = root.cuts[cut].moved(&region.nodes, n) else { continue };
            let shares = root.cuts[cut].sets().iter().flat_map(|set| set.iter()).map(|&node| share(node));
            let (sum, count) = shares.fold((0.0, 0.0), |(sum, count), share| (sum + share, count + 1.0));
            *cuts.entry(moved).or_default() += dual as f64 * sum / count;
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let x = edges.iter().map(|edge| values.get(&(edge.a, edge.b)).copied().unwrap_or(0.0)).collect();
    let mut cuts: Vec<(Cut, f64)> = cuts.into_iter().collect();
    cuts.sort_by(|(a, _), (b, _)| (a.sets(), a.family()).cmp(&(b.sets(), b.family())));
    Program::new((edges, x), nodes, cuts)
}
