//! Lin-Kernighan moves on the tours that ants build.
//!
//! As in [a trial](crate::lin_kernighan::trial), moves cut the tour into segments, and the tour itself is not written meanwhile. But an ant's tour
//! needs more moves than the segments can hold: whenever they are used up, the tour is rebuilt.

use crate::geometry::Geometry;
use crate::node::NodeId;
use crate::operator::Reach;
use crate::papers::local_search::Dirty;
use crate::team::{Slots, Team};

use crate::lin_kernighan::cuts::{self, Cuts, MAX_SEGMENTS};
use crate::lin_kernighan::moves::{self, DEPTH, Search};
use crate::lin_kernighan::{FIXED, Tour};

// Steps, reversals, links and cuts are read as words of 8 bytes.
const SCRATCH: u32 = moves::WORDS + cuts::WORDS;
const _: () = assert!(SCRATCH.is_multiple_of(2));

/// Words of memory, of 4 bytes, for a tour of n nodes: those of a search, the nodes in order and by place, distances, the next
/// order, and the nodes to search around.
pub const fn words(n: u32) -> usize {
    SCRATCH as usize + 4 * n as usize + Dirty::words(n) as usize
}

/// The data read about the instance, and about the tour that deposited last.
pub struct AntTables<G: Geometry> {
    /// As in a [`Tour`]; its order, positions and distances are not used.
    pub tour: Tour<G>,
    /// Links of a tour that is a local optimum: nodes whose neighbours are the same there are not searched around until something
    /// next to them changes. Links from a node to itself mean no link.
    pub successor: *const u32,
    /// As [`AntTables::successor`], in the other direction.
    pub predecessor: *const u32,
    /// For each node, the node at the other end of its [fixed](FIXED) edge, or `u32::MAX` if it has none. The tour must have all
    /// fixed edges. Null if no edges are fixed.
    pub partners: *const u32,
}

impl<G: Geometry> Clone for AntTables<G> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Geometry> Copy for AntTables<G> {}

/// Improves a tour, of nodes in its order, until no node that differs from the reference, or that was touched since, has an
/// improving move, or the team [is over](Team::is_over). Returns by how much it got shorter; the same on every member, all of which
/// call this. The tour is valid also if the team is over.
///
/// # Safety
/// `tour` holds a permutation of n nodes and belongs to this team, as does `memory`, [`words`] at a multiple of 8 bytes; the tables
/// are for that many nodes; a team has one member or at least [`cuts::ENDS`].
#[inline(always)]
pub unsafe fn improve<T: Team, R: Reach, I: NodeId, G: Geometry>(
    team: T,
    reach: R,
    tables: AntTables<G>,
    memory: *mut u32,
    tour: Slots<I>,
) -> i64 {
    let n = tables.tour.n;
    // SAFETY: the arrays are inside the memory, nodes are below n; barriers separate reading and writing.
    unsafe {
        let array = |i: usize| memory.add(SCRATCH as usize + i * n as usize);
        let slots = |i: usize| Slots::<u32>::new(array(i), n as usize);
        let (order, position, next) = (slots(0), slots(1), slots(3));
        let ahead = Slots::<i32>::new(array(2).cast(), n as usize);
        let dirty = Dirty::new(Slots::new(array(4), Dirty::words(n) as usize), n);
        let view = Tour { order: array(0), position: array(1), ahead: array(2).cast(), ..tables.tour };
        let behind = |p: u32| if p + 1 == n { 0 } else { p + 1 };
        let before = |p: u32| if p == 0 { n - 1 } else { p - 1 };
        let settle = || {
            team.barrier();
            team.for_each(n, |p| {
                let node = order.get(p);
                position.set(node, p);
                let next = order.get(behind(p));
                let is_fixed = !tables.partners.is_null() && *tables.partners.add(node as usize) == next;
                ahead.set(p, if is_fixed { FIXED } else { view.between(node, next) });
            });
            team.barrier();
        };
        team.barrier();
        team.for_each(n, |p| order.set(p, tour.get(p).get()));
        settle();
        dirty.fill(team, false);
        team.for_each(n, |p| {
            let node = order.get(p);
            let (one, other) = (order.get(before(p)), order.get(behind(p)));
            let next = *tables.successor.add(node as usize);
            let previous = *tables.predecessor.add(node as usize);
            if !((one == previous && other == next) || (one == next && other == previous)) {
                dirty.insert::<T>(node);
            }
        });
        team.barrier();
        let search = Search::new(memory);
        let mut cuts = Cuts::new(memory.add(moves::WORDS as usize));
        cuts.reset(team, view);
        let (mut gained, mut last) = (0, 0);
        loop {
            let node = if team.is_over() { None } else { dirty.following(team, last) };
            if cuts.count() > 1 && (node.is_none() || cuts.count() + DEPTH > MAX_SEGMENTS) {
                team.for_each(n, |p| {
                    let (_, [to]) = cuts.locate::<T, 1>(n, [p as i32]);
                    next.set(to as u32, order.get(p));
                });
                team.barrier();
                team.for_each(n, |p| order.set(p, next.get(p)));
                settle();
                cuts.reset(team, view);
            }
            let Some(node) = node else { break };
            last = node;
            let Some(found) = moves::best(team, reach, view, &cuts, search, node) else {
                team.barrier();
                team.single(|| dirty.remove(node));
                team.barrier();
                continue;
            };
            gained += found.gain;
            cuts.make(team, view, (search.nodes(), found.edges), found.way, (search.turns(), found.turns));
            let touched = search.nodes();
            team.for_each(2 * found.edges, |i| dirty.insert::<T>(touched.get(i)));
            team.barrier();
        }
        team.for_each(n, |p| tour.set(p, I::new(order.get(p))));
        team.barrier();
        gained
    }
}
