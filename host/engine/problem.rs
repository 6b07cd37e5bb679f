//! An instance as backends see it: nodes renumbered along a short tour, candidate lists, distances.
//!
//! Ants visit nearby nodes one after the other. Numbered along the nearest-neighbour tour, nearby nodes have nearby numbers: a
//! bitmask's groups fill up early, and the weights read by a step share cache lines. Local search numbers nodes along its own start
//! tour.

use std::ops::Range;
use std::sync::Arc;

use antwarp_core::distance::{Distance, Distances, Exceptions};
use antwarp_core::geometry::{GRID_EXTENT, Grid, Planar, Point};
use antwarp_core::kernels::BY_MATRIX;
use antwarp_core::lin_kernighan::FIXED;
use antwarp_core::metric::Metric;
use antwarp_core::rng::Stream;

use crate::BackendError;
use crate::local_search::LocalSearch;
use crate::memory::check_memory;
use crate::potentials::{self, MOST_REDUCED};
use crate::start::{self, Start};
use antwarp_instance::parallel;
use antwarp_instance::{Cell, Enough, Instance, NeighborLists, Watch, nearest_until};

/// Neighbours that the nearest-neighbour tour tries before it searches for the nearest unvisited node.
const NEAR: usize = 16;
/// Number of neighbours of a node in its candidate list and its reserve together: enough for nine in ten of the ants that find no
/// open candidate.
const LISTED: usize = 256;
/// Maximum number of ids in all lists together; beyond about 131,000 nodes there are fewer reserves, since finding them takes
/// longer than they save in a short run.
const MOST_IDS: usize = 1 << 25;

/// Further bytes per node: places, numbers, the tree in which neighbours are searched.
const BYTES_PER_NODE: usize = 200;

/// An instance as engines see it: nodes renumbered along a short tour, candidate lists, distances.
///
/// Nodes are numbered from 0 along that start tour, except where the numbering of the instance is mentioned. Lengths and distances
/// are internal costs.
#[derive(Clone)]
pub struct Problem {
    order: Vec<u32>,
    points: Vec<[f64; 3]>,
    matrix: Arc<Vec<i32>>,
    metric: Option<Metric>,
    directed: bool,
    k: u32,
    lists: Vec<u32>,
    search_k: u32,
    neighbors: Vec<u32>,
    search_matrix: Vec<i32>,
    reserve: u32,
    reserves: Vec<u32>,
    unit_cost: i64,
    places: Places,
    partners: Vec<u32>,
    exceptions: Forbidden,
}

/// Forbidden pairs of places, as [`Exceptions`].
#[derive(Clone, Default)]
struct Forbidden {
    starts: Vec<u32>,
    others: Vec<u32>,
    cost: i32,
}

impl Forbidden {
    /// Returns the pairs of an instance, given the numbers of its nodes.
    fn new(instance: &Instance, numbers: &[u32]) -> Forbidden {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for &(a, b) in instance.forbidden_pairs() {
            let (a, b) = (numbers[a as usize], numbers[b as usize]);
            pairs.extend([(a, b), (b, a)]);
        }
        if pairs.is_empty() {
            return Forbidden::default();
        }
        pairs.sort_unstable();
        let start = |node: usize| pairs.partition_point(|pair| (pair.0 as usize) < node) as u32;
        Forbidden {
            starts: (0..=numbers.len()).map(start).collect(),
            others: pairs.iter().map(|pair| pair.1).collect(),
            cost: instance.forbidden().unwrap_or(i32::MAX),
        }
    }

    fn exceptions(&self) -> Exceptions {
        if self.starts.is_empty() {
            return Exceptions::NONE;
        }
        Exceptions { starts: self.starts.as_ptr(), others: self.others.as_ptr(), distance: self.cost }
    }
}

/// The places of the nodes, as local search reads them ([`antwarp_core::geometry`]).
#[derive(Clone)]
pub enum Places {
    /// Integer coordinates: for [`Grid`].
    Grid {
        /// One place per node.
        places: Vec<u64>,
        /// Whether distances are rounded up.
        up: bool,
    },
    /// Other coordinates in the plane: for [`Planar`].
    Planar {
        /// One place per node.
        places: Vec<Point>,
        /// The metric.
        metric: Metric,
    },
    /// For [`Numbered`](antwarp_core::geometry::Numbered): the nodes' own numbers.
    Numbered(Vec<u32>),
}

impl Places {
    /// Makes the places of an instance, given its points in the order of the nodes' numbers.
    fn new(instance: &Instance, points: &[[f64; 3]]) -> Places {
        let Some(Planar { metric }) = planar(instance) else {
            return Places::Numbered((0..instance.len() as u32).collect());
        };
        if let Some([x, y]) = grid_corner(metric, points) {
            let place = |p: &[f64; 3]| {
                if is_gap(p) { Grid::GAP } else { Grid::place((p[0] - x) as u32, (p[1] - y) as u32) }
            };
            return Places::Grid {
                places: parallel::collect(points.len(), &|i| place(&points[i])),
                up: metric == Metric::Ceil2d,
            };
        }
        Places::Planar {
            places: parallel::collect(points.len(), &|i| Point(points[i][0], points[i][1])),
            metric,
        }
    }

    /// Returns the [name](Places::kernel_name) of the places that an instance will have.
    pub fn kernel_name_for(instance: &Instance) -> &'static str {
        match (planar(instance), instance.points()) {
            (Some(Planar { metric }), Some(points)) if grid_corner(metric, points).is_some() => "grid",
            (Some(_), Some(_)) => "planar",
            _ => "numbered",
        }
    }

    /// Returns the name used in kernel names.
    pub fn kernel_name(&self) -> &'static str {
        match self {
            Places::Grid { .. } => "grid",
            Places::Planar { .. } => "planar",
            Places::Numbered(_) => "numbered",
        }
    }

    /// Returns the number of bytes per place.
    pub fn bytes(&self) -> u32 {
        match self {
            Places::Grid { .. } => 8,
            Places::Planar { .. } => 16,
            Places::Numbered(_) => 4,
        }
    }
}

/// Returns whether a point is the [gap](Instance::gap) of an open path.
fn is_gap(point: &[f64; 3]) -> bool {
    point[0].is_nan()
}

/// Returns the metric of an instance whose distances all follow from places in the plane.
fn planar(instance: &Instance) -> Option<Planar> {
    instance.metric().and_then(Planar::of).filter(|_| instance.forbidden_pairs().is_empty())
}

/// Returns the corner of the points with the least coordinates, if [`Grid`] is exact for them.
fn grid_corner(metric: Metric, points: &[[f64; 3]]) -> Option<[f64; 2]> {
    let [x, y, _] = Cell::around(points).low;
    let fits = |p: &[f64; 3]| {
        let whole = p[0].fract() == 0.0 && p[1].fract() == 0.0;
        is_gap(p) || whole && p[0] - x <= GRID_EXTENT && p[1] - y <= GRID_EXTENT
    };
    let are_all = metric != Metric::Att && parallel::all(points.len(), &|i| fits(&points[i]));
    are_all.then_some([x, y])
}

/// Moves every node's partner next to it, in a tour of nodes whose partners are these, unless the tour has all fixed edges already. Of
/// a pair, the smaller number comes first.
pub fn join_partners(partners: &[u32], tour: &mut [u32]) {
    let n = tour.len();
    let partner =
        |node: u32| Some(partners[node as usize]).filter(|&partner| partner != Instance::NO_PARTNER);
    let is_beside =
        |at: usize, partner: u32| tour[(at + 1) % n] == partner || tour[(at + n - 1) % n] == partner;
    if (0..n).all(|at| partner(tour[at]).is_none_or(|partner| is_beside(at, partner))) {
        return;
    }
    let mut seen = vec![false; n];
    let mut joined = Vec::with_capacity(n);
    for &node in tour.iter() {
        let other = partner(node);
        let pair = [Some(other.map_or(node, |other| node.min(other))), other.map(|other| node.max(other))];
        if !seen[node as usize] {
            for node in pair.into_iter().flatten() {
                seen[node as usize] = true;
                joined.push(node);
            }
        }
    }
    tour.copy_from_slice(&joined);
}

/// Replaces lists whose nodes are all equally near by the equally near nodes that follow along the tour. Otherwise thousands of
/// nodes at the same place would all have the same list, and an ant that has visited those would have to evaluate all nodes in each
/// step.
fn spread(instance: &Instance, near: &mut NeighborLists, order: &[u32]) {
    let (n, k) = (order.len(), near.k);
    let numbers = parallel::inverse(order);
    parallel::each_part(&mut near.ids, k.max(1), &|node, list| {
        let node = node as u32;
        let distance = |to: &u32| instance.distance(node, *to);
        let (nearest, farthest) = (distance(&list[0]), distance(&list[k - 1]));
        if nearest < farthest {
            return;
        }
        let behind = (1..=k).map(|step| order[(numbers[node as usize] as usize + step) % n]);
        let mut others: Vec<u32> = behind.filter(|to| distance(to) == nearest).collect();
        if others.len() < k {
            let more: Vec<u32> = list.iter().copied().filter(|to| !others.contains(to)).collect();
            others.extend(&more[..k - others.len()]);
        }
        list.copy_from_slice(&others);
    });
}

/// Returns a part of each list, of nodes that are renumbered in this order, and whose numbers are these.
fn rows(near: &NeighborLists, (order, numbers): (&[u32], &[u32]), part: Range<usize>) -> Vec<u32> {
    let mut rows = vec![0; order.len() * part.len()];
    parallel::each_part(&mut rows, part.len().max(1), &|index, row| {
        let list = &near.ids[order[index] as usize * near.k..][part.clone()];
        row.iter_mut().zip(list).for_each(|(to, &node)| *to = numbers[node as usize]);
    });
    rows
}

/// Returns a matrix whose nodes are renumbered in this order.
fn renumbered(matrix: &[i32], order: &[u32]) -> Vec<i32> {
    let n = order.len();
    let mut renumbered = vec![0; matrix.len()];
    parallel::each_part(&mut renumbered, n.max(1), &|index, row| {
        let from = &matrix[order[index] as usize * n..][..n];
        row.iter_mut().zip(order).for_each(|(to, &node)| *to = from[node as usize]);
    });
    renumbered
}

impl Problem {
    /// Prepares an instance with `k` candidates per node, or all nodes as candidates if that is `None` or 0, and `neighbors` of
    /// each for local search, or as many as ants use by default. Numbers above n - 1 count as n - 1.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(
        instance: &Instance,
        k: Option<u32>,
        neighbors: impl Into<Option<u32>>,
    ) -> Result<Problem, BackendError> {
        Ok(Problem::until(instance, k, neighbors, &|| false)?.expect("it is never enough"))
    }

    /// Does the same as [`Problem::new`]; `None` if `enough` asked to stop before it was complete.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn until(
        instance: &Instance,
        k: Option<u32>,
        neighbors: impl Into<Option<u32>>,
        enough: Enough,
    ) -> Result<Option<Problem>, BackendError> {
        let n = instance.len();
        let most = n.saturating_sub(1);
        let wanted = k.map_or(0, |k| (k as usize).min(most));
        let listed = if wanted == 0 { 0 } else { wanted.max(LISTED.min(MOST_IDS / n).min(most)) };
        let is_directed = !instance.is_symmetric();
        let neighbors = neighbors.into().unwrap_or(LocalSearch::default_lists(is_directed).0);
        let neighbors = (neighbors as usize).min(most);
        let found = listed.max(NEAR.min(most)).max(neighbors);
        let matrix = instance.matrix().map_or(0, <[i32]>::len);
        // The lists as found, by number, and renumbered.
        check_memory("the candidate lists", 12 * n * found + BYTES_PER_NODE * n + 4 * matrix)?;
        let Some(mut near) = nearest_until(instance, found, enough) else { return Ok(None) };
        let Some(order) = start::tour_until(instance, Start::NearestNeighbor, &near, 0, enough) else {
            return Ok(None);
        };
        // Lists of closed forms may be shorter, and leave some nodes out on purpose.
        let [wanted, listed, neighbors] = [wanted, listed, neighbors].map(|count| count.min(near.k));
        if instance.partners().is_none() && instance.gap().is_none() {
            spread(instance, &mut near, &order);
        }
        Ok(Some(Problem::along(instance, &near, (wanted, listed, neighbors), order)))
    }

    /// Prepares an instance whose nodes have these neighbours, renumbered along a start tour. Both are given in the instance's
    /// numbering; the lists of candidates are empty.
    pub fn for_search(instance: &Instance, near: &NeighborLists, start: Vec<u32>) -> Problem {
        Problem::along(instance, near, (0, 0, near.k), start)
    }

    /// Returns the same problem with these neighbours for local search, given in the instance's numbering.
    pub fn with_neighbors(&self, near: &NeighborLists) -> Problem {
        let neighbors = rows(near, (&self.order, &parallel::inverse(&self.order)), 0..near.k);
        Problem { search_k: near.k as u32, neighbors, ..self.clone() }
    }

    /// For directed edges: makes local search use reduced lengths, and sorts all lists by them.
    ///
    /// Many edges of a node may have the same reduced length. Which of them are listed is drawn at random, by the pair's numbers:
    /// otherwise lists of different nodes would hold the same few. Nothing changes if edges are undirected, with more than 2,000
    /// nodes, if there is not enough memory, or if `enough` asked to stop before the lengths were complete.
    pub fn reduced(mut self, enough: Enough) -> Problem {
        let n = self.order.len();
        if !self.directed || n > MOST_REDUCED || check_memory("the reduced lengths", 4 * 4 * n * n).is_err() {
            return self;
        }
        let Some(reduced) = potentials::reduced(&self.matrix, n, &Watch::new(enough)) else { return self };
        let [wanted, reserve, searched] = [self.k, self.reserve, self.search_k].map(|count| count as usize);
        let list = |node: usize| {
            let row = &reduced[node * n..][..n];
            let draws = Stream::new(0, 0, node as u32).step(0);
            let key = |&to: &u32| (row[to as usize], draws.bits(to), to);
            let mut others: Vec<u32> = (0..n as u32).filter(|&to| to as usize != node).collect();
            let most = (wanted + reserve).max(searched);
            if most < others.len() {
                others.select_nth_unstable_by_key(most, key);
                others.truncate(most);
            }
            others.sort_unstable_by_key(key);
            others.shrink_to_fit();
            others
        };
        let lists: Vec<Vec<u32>> = parallel::collect(n, &list);
        let part = |from: usize, to: usize| lists.iter().flat_map(|list| &list[from..to]).copied().collect();
        self.lists = part(0, wanted);
        self.reserves = part(wanted, wanted + reserve);
        self.neighbors = part(0, searched);
        self.search_matrix = reduced;
        self
    }

    /// Returns whether local search uses [reduced](Problem::reduced) lengths.
    pub fn is_reduced(&self) -> bool {
        !self.search_matrix.is_empty()
    }

    fn along(
        instance: &Instance,
        near: &NeighborLists,
        (wanted, listed, searched): (usize, usize, usize),
        order: Vec<u32>,
    ) -> Problem {
        let n = instance.len();
        let place = parallel::inverse(&order);
        let rows = |from: usize, to: usize| rows(near, (&order, &place), from..to);
        let (lists, reserves) = (rows(0, wanted), rows(wanted, listed));
        let neighbors = rows(0, searched);
        let unit_cost = instance.check_tour(&order).unwrap_or(1);
        let points: Vec<[f64; 3]> =
            instance.points().map_or_else(Vec::new, |p| parallel::collect(n, &|i| p[order[i] as usize]));
        let matrix = instance.matrix().map_or_else(Vec::new, |matrix| renumbered(matrix, &order));
        Problem {
            places: Places::new(instance, &points),
            exceptions: Forbidden::new(instance, &place),
            points,
            matrix: matrix.into(),
            metric: instance.metric(),
            directed: !instance.is_symmetric(),
            k: wanted as u32,
            lists,
            search_k: searched as u32,
            neighbors,
            search_matrix: Vec::new(),
            reserve: (listed - wanted) as u32,
            reserves,
            unit_cost,
            partners: instance.partners().map_or_else(Vec::new, |partners| {
                let number = |&node: &u32| match partners[node as usize] {
                    Instance::NO_PARTNER => Instance::NO_PARTNER,
                    partner => place[partner as usize],
                };
                order.iter().map(number).collect()
            }),
            order,
        }
    }

    /// Returns the node at the other end of each node's fixed edge, or [`Instance::NO_PARTNER`]; empty if no edge is fixed.
    pub fn partners(&self) -> &[u32] {
        &self.partners
    }

    /// Returns whether every tour must have the edge between two nodes.
    #[inline]
    pub fn is_fixed(&self, a: u32, b: u32) -> bool {
        self.partners.get(a as usize) == Some(&b)
    }

    /// Moves every node's partner next to it, unless the tour has all fixed edges already. Then each pair is visited in the direction
    /// of the start tour.
    pub fn join_partners(&self, tour: &mut [u32]) {
        if !self.partners.is_empty() {
            join_partners(&self.partners, tour);
        }
    }

    /// Returns the number of nodes.
    pub fn n(&self) -> u32 {
        self.order.len() as u32
    }

    /// Returns the number of candidates per node; 0 if all nodes are candidates.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Returns the candidate lists, n x k, nearest first; empty if all nodes are candidates.
    pub fn lists(&self) -> &[u32] {
        &self.lists
    }

    /// Returns the number of neighbours per node for local search.
    pub fn search_k(&self) -> u32 {
        self.search_k
    }

    /// Returns the neighbours for local search, n x [`Problem::search_k`], nearest first.
    pub fn neighbors(&self) -> &[u32] {
        &self.neighbors
    }

    /// Returns the number of reserve neighbours per node, which come after its candidates.
    pub fn reserve(&self) -> u32 {
        self.reserve
    }

    /// Returns the neighbours after the candidates, n x [`Problem::reserve`], nearest first.
    pub fn reserves(&self) -> &[u32] {
        &self.reserves
    }

    /// Returns the length of the start tour.
    pub fn unit_cost(&self) -> i64 {
        self.unit_cost
    }

    /// Returns the mean edge length of the start tour, the unit of heuristic values.
    pub fn scale(&self) -> f32 {
        (self.unit_cost.max(1) as f64 / self.n() as f64) as f32
    }

    /// Returns whether edges are directed.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// Returns the places of the nodes, for local search.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Returns the coordinates of the nodes, scaled as in [`Instance::points`]; empty if distances come from a matrix.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// Returns the distance matrix, n x n, row by row; empty if distances come from coordinates.
    pub fn matrix(&self) -> &[i32] {
        &self.matrix
    }

    /// Returns the distance function; `None` if distances come from a matrix.
    pub fn metric(&self) -> Option<Metric> {
        self.metric
    }

    /// Returns the metric's number for kernels; [`BY_MATRIX`] if a kernel cannot compute it.
    pub fn device_metric(&self) -> u32 {
        self.metric.filter(|_| !self.has_device_matrix()).map_or(BY_MATRIX, |m| m as u32)
    }

    /// Returns whether a kernel looks distances up: in the instance's matrix, or in one computed from a metric that kernels do not
    /// support.
    pub fn has_device_matrix(&self) -> bool {
        self.metric.is_none_or(|m| !m.is_algebraic()) || self.has_exceptions()
    }

    /// Returns whether some distances do not follow from the places: those of forbidden pairs.
    pub fn has_exceptions(&self) -> bool {
        !self.exceptions.starts.is_empty()
    }

    /// Computes all distances, n x n, row by row.
    pub fn computed_matrix(&self) -> Vec<i32> {
        let n = self.n() as usize;
        let mut matrix = vec![0; n * n];
        parallel::each_part(&mut matrix, n.max(1), &|i, row| {
            let distances = self.distances();
            for (j, length) in (0..).zip(row) {
                // SAFETY: both are nodes of the problem.
                *length = unsafe { distances.between(i as u32, j) };
            }
        });
        matrix
    }

    /// Returns the distance of each of [`Problem::neighbors`], in the same order.
    pub fn neighbor_lengths(&self) -> Vec<i32> {
        let k = (self.search_k as usize).max(1);
        let mut lengths = vec![0; self.neighbors.len()];
        parallel::each_part(&mut lengths, k, &|node, lengths| {
            let distances = self.distances();
            for (length, &v) in lengths.iter_mut().zip(&self.neighbors[node * k..]) {
                // SAFETY: both are nodes of the problem.
                *length = unsafe { distances.between(node as u32, v) };
            }
        });
        lengths
    }

    /// Returns the distance from each node to the next one along the start tour, from the last node to the first, or [`FIXED`].
    pub fn step_lengths(&self) -> Vec<i32> {
        let n = self.n();
        let length = |node: usize| {
            let node = node as u32;
            self.step_length(node, if node + 1 == n { 0 } else { node + 1 })
        };
        parallel::collect(n as usize, &length)
    }

    /// Returns the distance from a node to the next one in a tour; [`FIXED`] if their edge must stay.
    ///
    /// # Panics
    /// If a node does not exist.
    #[inline]
    pub fn step_length(&self, node: u32, next: u32) -> i32 {
        if self.is_fixed(node, next) { FIXED } else { self.distance(node, next) }
    }

    /// Returns the distance between two nodes.
    ///
    /// # Panics
    /// If a node does not exist.
    #[inline]
    pub fn distance(&self, a: u32, b: u32) -> i32 {
        assert!(a.max(b) < self.n(), "nodes of the problem");
        // SAFETY: both are nodes of the problem.
        unsafe { self.distances().between(a, b) }
    }

    /// Returns the distances, for code on the CPU.
    pub fn distances(&self) -> Distances {
        Distances {
            matrix: self.matrix.as_ptr(),
            points: self.points.as_ptr(),
            metric: self.metric,
            n: self.n(),
            exceptions: self.exceptions.exceptions(),
        }
    }

    /// Returns the matrix that local search uses: that of [reduced](Problem::reduced) lengths if there is one, else
    /// [`Problem::matrix`]; n x n, row by row, or empty.
    pub fn search_matrix(&self) -> &[i32] {
        if self.is_reduced() { &self.search_matrix } else { &self.matrix }
    }

    /// Returns [`Problem::distances`] as local search sees them: they change the lengths of all tours by the same amount.
    pub fn search_distances(&self) -> Distances {
        Distances { matrix: self.search_matrix().as_ptr(), ..self.distances() }
    }

    /// Returns the length of a closed tour in the problem's numbering; `None` if it does not visit every node once.
    pub fn length(&self, tour: &[u32]) -> Option<i64> {
        let n = self.order.len();
        if tour.len() != n || !parallel::is_permutation(tour) {
            return None;
        }
        let step = |p: usize| {
            // SAFETY: both are nodes of the problem.
            i64::from(unsafe { self.distances().between(tour[p], tour[if p + 1 == n { 0 } else { p + 1 }]) })
        };
        Some(parallel::sum(n, 1 << 12, &step))
    }

    /// Converts a tour, or a part of one, to the instance's numbering.
    ///
    /// # Panics
    /// If a node does not exist.
    pub fn original(&self, tour: &[u32]) -> Vec<u32> {
        tour.iter().map(|&v| self.order[v as usize]).collect()
    }

    /// Returns the start tour in the instance's numbering.
    pub fn start_tour(&self) -> &[u32] {
        &self.order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use antwarp_instance::{generate, nearest};

    #[test]
    fn the_kind_of_places_is_known_before_there_are_any() {
        let mut seen = std::collections::BTreeSet::new();
        for metric in Metric::ALL {
            for scale in [1.0, 0.5, 1e6] {
                let points = (0..20).map(|i| [f64::from(i * 7 % 20), f64::from(i), 0.0].map(|c| c * scale));
                let Ok(instance) = Instance::from_points("some", metric, points.collect()) else { continue };
                let problem = Problem::for_search(&instance, &nearest(&instance, 5), (0..20).rev().collect());
                let name = problem.places().kernel_name();
                assert_eq!(Places::kernel_name_for(&instance), name, "{metric:?}, {scale}");
                seen.insert(name);
            }
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["grid", "numbered", "planar"]);
    }

    #[test]
    fn what_is_no_tour_has_no_length() {
        let instance = generate::uniform(30, 3).unwrap();
        let near = nearest(&instance, 5);
        let start: Vec<u32> = (0..30).rev().collect();
        let problem = Problem::for_search(&instance, &near, start);
        let mut tour: Vec<u32> = (0..30).map(|i| i * 7 % 30).collect();
        assert_eq!(problem.length(&tour), instance.check_tour(&problem.original(&tour)).ok());
        assert_eq!(problem.length(&tour[1..]), None);
        tour[4] = 30;
        assert_eq!(problem.length(&tour), None);
        tour[4] = tour[5];
        assert_eq!(problem.length(&tour), None);
    }

    #[test]
    fn nodes_at_one_place_have_lists_of_their_own() {
        let n = 5000;
        let points = (0..n).map(|i| [f64::from(i % 2) * 1000.0, 0.0, 0.0]).collect();
        let instance = Instance::from_points("heaps", Metric::Euc2d, points).unwrap();
        let problem = Problem::new(&instance, Some(32), 8).unwrap();
        let mut listed = vec![0; n as usize];
        for (node, list) in (0..).zip(problem.lists().chunks_exact(32)) {
            // SAFETY: all are nodes of the problem.
            assert!(list.iter().all(|&v| v != node && unsafe { problem.distances().between(node, v) } == 0));
            let different: std::collections::BTreeSet<_> = list.iter().collect();
            assert_eq!(different.len(), 32);
            list.iter().for_each(|&v| listed[v as usize] += 1);
        }
        assert!(listed.iter().all(|&count| count < 400), "{:?}", listed.iter().max());
    }

    #[test]
    fn other_lists_are_the_nearest() {
        let instance = generate::uniform(500, 1).unwrap();
        let (problem, lists) = (Problem::new(&instance, Some(8), 8).unwrap(), nearest(&instance, 8));
        for (list, &node) in problem.lists().chunks_exact(8).zip(problem.start_tour()) {
            assert_eq!(problem.original(list), lists.of(node));
        }
    }

    #[test]
    fn other_neighbours_replace_those_of_a_problem() {
        let instance = generate::uniform(60, 8).unwrap();
        let start: Vec<u32> = (0..60).map(|i| i * 7 % 60).collect();
        let (few, many) = (nearest(&instance, 5), nearest(&instance, 9));
        let made = Problem::for_search(&instance, &many, start.clone());
        let changed = Problem::for_search(&instance, &few, start).with_neighbors(&many);
        assert_eq!((changed.search_k, &changed.neighbors), (made.search_k, &made.neighbors));
    }
}
