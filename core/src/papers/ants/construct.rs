//! Building tours: an ant moves from its node to an unvisited one until every node is in its tour
//! (Skinderowicz 2020, figure 1, lines 6 to 12).

use crate::distance::Distance;
use crate::group::round_up;
use crate::node::NodeId;
use crate::papers::ants::select::Select;
use crate::papers::ants::tabu::{NONE, Tabu, aligned};
use crate::rng::Stream;
use crate::team::{Slots, Team};

/// Returns the floats per row of the n x n weights: padded so that groups are whole and that node n, the sentinel, has a weight of
/// 0.
#[inline(always)]
pub const fn row_stride(n: u32) -> u32 {
    round_up(n + 1)
}

/// Returns the number of leaves that a selection sees when it chooses among all n nodes.
#[inline(always)]
pub const fn full_leaves(n: u32) -> u32 {
    n.div_ceil(crate::group::SIZE as u32)
}

/// Returns the bytes of team memory for one ant, a multiple of 16: its tabu and the selection's scratch for `leaves` leaves.
#[inline(always)]
pub fn memory_bytes<B: Tabu, S: Select>(n: u32, leaves: u32) -> usize {
    B::bytes(n) + aligned(4 * S::scratch(leaves) as usize)
}

/// One ant's data in team memory: the tabu, and words of its own.
pub(crate) struct Ant<B, W> {
    pub(crate) tabu: B,
    pub(crate) scratch: Slots<W>,
}

impl<B: Tabu> Ant<B, f32> {
    /// # Safety
    /// As [`full`] and [`candidates`] require of `memory`, for this many leaves.
    #[inline(always)]
    unsafe fn new<S: Select>(memory: *mut u8, n: u32, leaves: u32) -> Self {
        // SAFETY: the scratch follows the tabu inside the caller's memory.
        unsafe {
            // The loop that counts them would stay in kernels, although nobody uses the length there.
            let floats = if cfg!(feature = "checked") { S::scratch(leaves) as usize } else { 0 };
            Ant { tabu: B::new(memory, n), scratch: Slots::new(memory.add(B::bytes(n)).cast(), floats) }
        }
    }
}

impl<B: Tabu, W> Ant<B, W> {
    /// Empties the tabu, draws the first node and visits it.
    #[inline(always)]
    pub(crate) fn start<T: Team, I: NodeId>(
        &mut self,
        team: T,
        n: u32,
        stream: Stream,
        tour: Slots<I>,
    ) -> u32 {
        self.tabu.reset(team);
        team.barrier();
        let first = stream.step(0).below(0, n);
        self.visit(team, 0, first, tour);
        first
    }

    /// Puts `node` into the tour at `step`.
    #[inline(always)]
    pub(crate) fn visit<T: Team, I: NodeId>(&mut self, team: T, step: u32, node: u32, tour: Slots<I>) {
        self.tabu.mark(team, node);
        // SAFETY: step < n; one member writes.
        team.single(|| unsafe { tour.set(step, I::new(node)) });
        team.barrier();
    }
}

/// Builds a tour, of nodes in its order, by choosing among all unvisited nodes; only part of one if the team [is
/// over](Team::is_over), and then the rest of `tour` is not written. Every member calls this, and waits. `stream` is the ant's of
/// this iteration: step 0 draws the first node, step s the one at place s.
///
/// # Safety
/// `weights` is an n x [`row_stride`] matrix at a 16-byte boundary, positive except for the diagonal and the
/// padding, which are 0; `memory` has [`memory_bytes`] for [`full_leaves`] at a 16-byte boundary; `tour` has
/// n ids; nobody else touches the last two.
#[inline(always)]
pub unsafe fn full<T: Team, B: Tabu, S: Select, I: NodeId>(
    team: T,
    n: u32,
    weights: *const f32,
    memory: *mut u8,
    tour: Slots<I>,
    stream: Stream,
) {
    // SAFETY: the caller's promises, and node ids stay below n.
    unsafe {
        let mut ant = Ant::<B, f32>::new::<S>(memory, n, full_leaves(n));
        let mut node = ant.start(team, n, stream, tour);
        let mut step = 1;
        while step < n && !team.is_over() {
            let row = weights.add(node as usize * row_stride(n) as usize);
            node = S::unvisited(team, &ant.tabu, row, stream.step(step), ant.scratch);
            ant.visit(team, step, node, tour);
            step += 1;
        }
    }
}

/// The data that an ant with candidate lists reads: n x k candidates with their positive weights; each node's next `reserve`
/// neighbours, nearest first; and its two neighbours in the tour that deposited last, or the node itself before the first deposit.
#[derive(Clone, Copy, Debug)]
pub struct Lists<I> {
    /// Candidates of a node, at least 1.
    pub k: u32,
    /// The candidates, row by row.
    pub nodes: *const I,
    /// Their weights.
    pub weights: *const f32,
    /// Reserve nodes per node; may be 0.
    pub reserve: u32,
    /// The reserve nodes, row by row.
    pub reserves: *const I,
    /// Successors in the tour.
    pub successor: *const u32,
    /// Predecessors in the tour; the successors again where edges have a direction.
    pub predecessor: *const u32,
}

/// Builds a tour by choosing among the unvisited nodes of the current node's candidate list. If none is left, the ant follows the
/// tour that deposited last if it can, because that is where a full memory's trails would lead it; otherwise it goes to the nearest
/// unvisited node, which nine times in ten is among the reserves. Otherwise as [`full`].
///
/// # Safety
/// `lists` are those of n nodes; `memory` has [`memory_bytes`] for k leaves at a 16-byte boundary; `tour` has n ids;
/// nobody else touches the last two. `distance` covers n nodes.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn candidates<T: Team, B: Tabu, S: Select, I: NodeId, D: Distance>(
    team: T,
    n: u32,
    lists: Lists<I>,
    distance: D,
    memory: *mut u8,
    tour: Slots<I>,
    stream: Stream,
) {
    // SAFETY: the caller's promises, and node ids stay below n.
    unsafe {
        let mut ant = Ant::<B, f32>::new::<S>(memory, n, lists.k);
        let mut node = ant.start(team, n, stream, tour);
        let mut step = 1;
        while step < n && !team.is_over() {
            let row = node as usize * lists.k as usize;
            let (list, weight) = (lists.nodes.add(row), lists.weights.add(row));
            let open = |i: u32| {
                let (v, w) = ((*list.add(i as usize)).get(), *weight.add(i as usize));
                (v, if ant.tabu.is_visited(v) { 0.0 } else { w })
            };
            node = match S::candidate(team, lists.k, open, stream.step(step), ant.scratch) {
                Some(v) => v,
                None => {
                    let next = elsewhere(team, &ant.tabu, lists, distance, node);
                    // Every member has read the tabu: from here on it may change.
                    team.barrier();
                    next
                }
            };
            ant.visit(team, step, node, tour);
            step += 1;
        }
    }
}

/// Returns where an ant without an open candidate goes: on along the tour that deposited last, in either direction, else to the
/// nearest unvisited node; the same on every member, all of which call this. A barrier must follow before the tabu changes.
///
/// # Safety
/// As [`candidates`]; the tabu is that of the lists' nodes.
#[inline(always)]
pub unsafe fn elsewhere<T: Team, B: Tabu, I: NodeId, D: Distance>(
    team: T,
    tabu: &B,
    lists: Lists<I>,
    distance: D,
    node: u32,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let forth = *lists.successor.add(node as usize);
        let back = *lists.predecessor.add(node as usize);
        if !tabu.is_visited(forth) {
            forth
        } else if !tabu.is_visited(back) {
            back
        } else {
            nearest(team, tabu, lists, distance, node)
        }
    }
}

/// Returns the nearest unvisited node, if no candidate is unvisited; nine times in ten it is among the reserves. The same on every
/// member, all of which call this.
///
/// # Safety
/// As [`elsewhere`].
#[inline(always)]
pub unsafe fn nearest<T: Team, B: Tabu, I: NodeId, D: Distance>(
    team: T,
    tabu: &B,
    lists: Lists<I>,
    distance: D,
    node: u32,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        match first_in_reserve(team, tabu, lists, node) {
            Some(v) => v,
            None => nearest_unvisited(team, tabu, distance, node),
        }
    }
}

/// Returns the first unvisited node of `node`'s reserve.
///
/// # Safety
/// As [`candidates`].
#[inline(always)]
unsafe fn first_in_reserve<T: Team, B: Tabu, I: NodeId>(
    team: T,
    tabu: &B,
    lists: Lists<I>,
    node: u32,
) -> Option<u32> {
    // SAFETY: inside the node's row.
    let reserve = |i: u32| unsafe {
        let row = lists.reserves.add(node as usize * lists.reserve as usize);
        if i < lists.reserve { (*row.add(i as usize)).get() } else { NONE }
    };
    let (mut start, size) = (team.rank(), team.size());
    while start - team.rank() < lists.reserve {
        // Four nodes are loaded together.
        let nodes =
            [reserve(start), reserve(start + size), reserve(start + 2 * size), reserve(start + 3 * size)];
        let mut place = u64::MAX;
        let mut offer = |i: u32, v: u32| {
            if v != NONE && !tabu.is_visited(v) {
                place = (i as u64) << 32 | v as u64;
            }
        };
        offer(start + 3 * size, nodes[3]);
        offer(start + 2 * size, nodes[2]);
        offer(start + size, nodes[1]);
        offer(start, nodes[0]);
        let place = team.min(place);
        if place != u64::MAX {
            return Some(place as u32);
        }
        start += 4 * size;
    }
    None
}

/// Returns the unvisited node nearest to `node`; among equally near ones that with the smallest number.
///
/// # Safety
/// `distance` covers every node of the tabu, and one of them is unvisited.
#[inline(always)]
unsafe fn nearest_unvisited<T: Team, B: Tabu, D: Distance>(team: T, tabu: &B, distance: D, node: u32) -> u32 {
    let mut best = u64::MAX;
    let mut offer = |remoteness: u32, v: u32| {
        let key = (remoteness as u64) << 32 | v as u64;
        best = if v != NONE && key < best { key } else { best };
    };
    // SAFETY: nodes of the tabu, with `node` in place of no node.
    unsafe {
        match distance.plane() {
            Some(plane) => {
                let here = plane.place(node);
                tabu.for_each_unvisited(team, |v| {
                    let place = |v: u32| plane.place(if v == NONE { node } else { v });
                    let places = [place(v[0]), place(v[1]), place(v[2]), place(v[3])];
                    offer(plane.remoteness(here, places[0]), v[0]);
                    offer(plane.remoteness(here, places[1]), v[1]);
                    offer(plane.remoteness(here, places[2]), v[2]);
                    offer(plane.remoteness(here, places[3]), v[3]);
                });
            }
            None => team.for_each(tabu.length(), |slot| {
                if let Some(v) = tabu.candidate(slot) {
                    offer(distance.between(node, v) as u32, v)
                }
            }),
        }
    }
    team.min(best) as u32
}
