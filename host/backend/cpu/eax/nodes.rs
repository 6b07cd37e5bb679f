//! The nodes of tours.

use std::borrow::Cow;
use std::mem;

use antwarp_core::distance::{Distances, Exceptions};
use antwarp_core::geometry::{self, Geometry, Numbered, Planar};
use antwarp_core::lin_kernighan as core_tour;
use antwarp_core::metric::{self, Metric};
use antwarp_core::operator::{LinKernighan, Operator};
use antwarp_core::papers::local_search::{ants, lin_kernighan};
use antwarp_core::team::Slots;

use super::super::variants::{with_operator, with_places};
use super::tour::Tour;
use antwarp_engine::{Enough, LocalSearch, Problem, Worker};
use antwarp_instance::Instance;

/// Nodes up to which distances by cosines are computed once and kept.
const FEW: u32 = 5000;

/// The nodes of a problem, in its numbering: their distances, which are internal costs, and their near neighbours.
pub struct Nodes<'p> {
    pub problem: &'p Problem,
    /// `None`: distances are in the matrix.
    metric: Option<Metric>,
    matrix: Cow<'p, [i32]>,
    points: &'p [[f64; 3]],
    near: &'p [u32],
    partners: &'p [u32],
    /// The distance to each of `near`.
    lengths: Vec<i32>,
    /// Where partners among points are listed as [`Exceptions`]: where each node's part of them starts, and the partners.
    pulls: [Vec<u32>; 2],
    has_exceptions: bool,
    n: usize,
    k: usize,
}

/// The distance between partners as local search sees it: so short that no move pays for removing their edge.
const PULL: i32 = i32::MIN / 2;

/// Returns partners as exceptions, if distances come from points.
fn pulls(problem: &Problem) -> [Vec<u32>; 2] {
    if problem.partners().is_empty() || problem.metric().is_none() {
        return [Vec::new(), Vec::new()];
    }
    let partners = problem.partners().iter().copied();
    let mut starts = vec![0; 1 + problem.n() as usize];
    for (node, partner) in partners.clone().enumerate() {
        starts[node + 1] = starts[node] + u32::from(partner != Instance::NO_PARTNER);
    }
    [starts, partners.filter(|&partner| partner != Instance::NO_PARTNER).collect()]
}

impl<'p> Nodes<'p> {
    /// Makes the nodes of `problem`.
    pub fn new(problem: &'p Problem) -> Nodes<'p> {
        let is_slow = problem.metric().is_some() && problem.has_device_matrix();
        let (metric, matrix) = if is_slow && problem.n() <= FEW {
            (None, problem.computed_matrix().into())
        } else {
            (problem.metric(), problem.matrix().into())
        };
        Nodes {
            problem,
            metric,
            matrix,
            points: problem.points(),
            near: problem.neighbors(),
            partners: problem.partners(),
            lengths: problem.neighbor_lengths(),
            pulls: pulls(problem),
            has_exceptions: problem.has_exceptions(),
            n: problem.n() as usize,
            k: problem.search_k() as usize,
        }
    }

    /// Returns the distance between two nodes.
    #[inline(always)]
    pub fn distance(&self, u: u32, v: u32) -> i64 {
        let (u, v) = (u as usize, v as usize);
        match self.metric {
            None => self.matrix[u * self.n + v].into(),
            Some(metric) if Planar::of(metric).is_some() && !self.has_exceptions => {
                metric::distance(metric, self.points[u], self.points[v]).into()
            }
            Some(_) => other_distance(self.problem, u as u32, v as u32),
        }
    }

    /// Returns whether every tour must have the edge between two nodes.
    #[inline(always)]
    pub fn is_fixed(&self, u: u32, v: u32) -> bool {
        self.partners.get(u as usize) == Some(&v)
    }

    /// Returns whether these are all nodes, each once.
    pub fn is_tour(&self, order: &[u32]) -> bool {
        let mut seen = vec![false; self.n];
        let mut is_new = |v: &u32| seen.get_mut(*v as usize).is_some_and(|seen| !mem::replace(seen, true));
        order.len() == self.n && order.iter().all(&mut is_new)
    }

    /// Returns the length of a tour, in internal cost.
    pub fn length(&self, tour: &Tour) -> i64 {
        (0..tour.n()).map(|p| self.distance(tour.at(p), tour.at(tour.after(p)))).sum()
    }

    /// Returns the problem's neighbours of node `v` for local search, the nearest first.
    #[inline]
    pub fn near(&self, v: u32) -> &[u32] {
        &self.near[v as usize * self.k..][..self.k]
    }

    /// Returns the distances to [`Nodes::near`].
    #[inline]
    pub fn lengths(&self, v: u32) -> &[i32] {
        &self.lengths[v as usize * self.k..][..self.k]
    }

    /// Improves a tour, which has all fixed edges, by local search (2-opt if none is set), until interrupted by `enough`. The
    /// second step of a move evaluates `breadth` neighbours. If edges are fixed and distances come from a matrix, Lin-Kernighan
    /// moves are made instead.
    ///
    /// # Panics
    /// If it is not a tour of the nodes, or there are fewer than five, or fewer than eight with Lin-Kernighan moves.
    pub fn improve(&self, (local_search, breadth): (LocalSearch, u32), order: &mut [u32], enough: Enough) {
        let (matrix, metric) = (self.matrix.as_ptr(), self.metric);
        let distances = Distances { matrix, metric, ..self.problem.distances() };
        let [starts, partners] = &self.pulls;
        if !starts.is_empty() {
            let (starts, others) = (starts.as_ptr(), partners.as_ptr());
            let exceptions = Exceptions { starts, others, distance: PULL };
            let geometry = Numbered { distances: Distances { exceptions, ..self.problem.distances() } };
            let numbers: Vec<u32> = (0..self.problem.n()).collect();
            with_operator!(local_search, O => {
                self.improve_by::<O, _>(geometry, &numbers, breadth, (&mut *order, enough))
            });
            // Lengths of more than half of what fits 32 bits can outweigh the pull.
            return self.problem.join_partners(order);
        }
        if !self.problem.partners().is_empty() {
            return with_places!(self.problem, distances, |geometry, places| {
                self.improve_deeply(geometry, places, (order, enough))
            });
        }
        with_places!(self.problem, distances, |geometry, places| {
            with_operator!(local_search, O => self.improve_by::<O, _>(geometry, places, breadth, (order, enough)))
        });
    }

    /// Improves a tour with fixed edges by Lin-Kernighan moves, which keep them. For the matrix of a doubled instance they are also the
    /// simplest moves that there are; of many nodes they would take long, since they rebuild the tour now and then.
    fn improve_deeply<G: Geometry>(
        &self,
        geometry: G,
        places: &[G::Place],
        (order, enough): (&mut [u32], Enough),
    ) {
        let n = self.problem.n();
        assert!(n >= 8 && self.is_tour(order), "no tour to improve");
        let nobody = std::ptr::null();
        // Links of every node to itself: a local optimum has no such edge.
        let own: Vec<u32> = (0..n).collect();
        let tables = lin_kernighan::AntTables {
            tour: core_tour::Tour {
                n,
                k: self.problem.search_k(),
                order: nobody,
                position: nobody,
                ahead: std::ptr::null(),
                lists: self.near.as_ptr(),
                near: self.lengths.as_ptr(),
                places: geometry::Places { geometry, start: places.as_ptr() },
            },
            successor: own.as_ptr(),
            predecessor: own.as_ptr(),
            partners: self.problem.partners().as_ptr(),
        };
        let mut memory = vec![0u128; (4 * lin_kernighan::words(n)).div_ceil(16)];
        // SAFETY: a tour of n nodes with all fixed edges; all arrays have n elements, lists n x k; memory is as large as asked for,
        // and this thread's; the problem's places and distances outlive the call.
        unsafe {
            let (memory, order) = (memory.as_mut_ptr().cast(), Slots::of(order));
            lin_kernighan::improve::<_, _, u32, G>(&Worker::new(enough), LinKernighan, tables, memory, order);
        }
    }

    fn improve_by<O: Operator, G: Geometry>(
        &self,
        geometry: G,
        places: &[G::Place],
        breadth: u32,
        (order, enough): (&mut [u32], Enough),
    ) {
        let (n, k) = (self.problem.n(), self.problem.search_k());
        assert!(n >= 5 && self.is_tour(order), "no tour to improve");
        // Links of every node to itself: a local optimum has no such edge.
        let own: Vec<u32> = (0..n).collect();
        let tables = ants::TourTables {
            n,
            lists: self.near.as_ptr(),
            k,
            breadth: breadth.min(k),
            places: geometry::Places { geometry, start: places.as_ptr() },
            successor: own.as_ptr(),
            predecessor: own.as_ptr(),
        };
        let mut memory = vec![0u128; ants::memory_bytes::<u32>(n).div_ceil(16)];
        // SAFETY: a tour of n nodes; all arrays have n elements, lists n x k; memory is as large as asked for, and this
        // thread's; the problem's places and distances outlive the call.
        unsafe {
            let (memory, order) = (memory.as_mut_ptr().cast(), Slots::of(order));
            ants::improve::<_, O, u32, G>(&Worker::new(enough), tables, memory, order);
        }
    }
}

/// Not inlined: it is long, with a branch for every metric and a search of exceptions.
#[inline(never)]
fn other_distance(problem: &Problem, u: u32, v: u32) -> i64 {
    problem.distance(u, v).into()
}
