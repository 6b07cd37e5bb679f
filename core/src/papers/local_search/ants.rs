//! Local search on the tours that ants build (Skinderowicz 2020, section 5.7).

use crate::geometry::{Geometry, Places};
use crate::node::NodeId;
use crate::operator::Operator;
use crate::team::{Slots, Team};

use super::array::ArrayTour;
use super::descend::{DescentRound, Dirty, descend, proposal_words};
use super::moves::{View, scratch_words};

/// Most nodes that a descent processes together, and most parts of a team; the nodes come from as many stretches of the nodes'
/// numbers.
pub const WIDTH: u32 = 8;
/// Most members of a part: a warp.
const MEMBERS: u32 = 32;

const SCRATCH: u32 = 8 * scratch_words(MEMBERS) * WIDTH;
const PROPOSALS: u32 = 4 * proposal_words(WIDTH);

/// Returns the bytes of team memory for a tour of n ids of `I`'s width, a multiple of 16.
pub const fn memory_bytes<I: NodeId>(n: u32) -> usize {
    let arrays = SCRATCH as usize + PROPOSALS as usize + 4 * Dirty::words(n) as usize;
    (arrays + 2 * n as usize * I::BYTES as usize + 15) & !15
}

/// The data that a descent reads about the instance.
pub struct TourTables<I, G: Geometry> {
    /// Number of nodes.
    pub n: u32,
    /// n x k, as [`View::lists`].
    pub lists: *const I,
    /// Neighbours of a node.
    pub k: u32,
    /// Neighbours evaluated in the second step of a move, as [`View::breadth`].
    pub breadth: u32,
    /// Places of all nodes.
    pub places: Places<G>,
    /// Links of a tour that is a local optimum: nodes whose neighbours are the same there are not searched around until something
    /// next to them changes. Links from a node to itself mean no link.
    pub successor: *const u32,
    /// As [`TourTables::successor`], in the other direction.
    pub predecessor: *const u32,
}

impl<I, G: Geometry> Clone for TourTables<I, G> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, G: Geometry> Copy for TourTables<I, G> {}

/// Improves a tour, of nodes in its order, until no node that differs from the reference, or that was touched since, has an
/// improving move, or the team [is over](Team::is_over). Returns by how much it got shorter; the same on every member, all of which
/// call this. The tour is valid also if the team is over.
///
/// # Safety
/// `tour` holds a permutation of n nodes and belongs to this team, as does `memory`, [`memory_bytes`] at a 16-byte boundary; n is
/// at least 5; the tables have the stated sizes; a team has at most [`WIDTH`] parts of at most 32 members.
#[inline(always)]
pub unsafe fn improve<T: Team, O: Operator, I: NodeId, G: Geometry>(
    team: T,
    tables: TourTables<I, G>,
    memory: *mut u8,
    tour: Slots<I>,
) -> i64 {
    let n = tables.n;
    // SAFETY: the arrays are inside the memory and aligned; nodes are below n. Barriers separate loading, marking, searching and
    // storing.
    unsafe {
        let words =
            |offset: u32, len: u32| Slots::<u32>::new(memory.add(offset as usize).cast(), len as usize);
        let bits = SCRATCH + PROPOSALS;
        let ids = memory.add((bits + 4 * Dirty::words(n)) as usize).cast::<I>();
        let (order, position) = (Slots::new(ids, n as usize), Slots::new(ids.add(n as usize), n as usize));
        let dirty = Dirty::new(words(bits, Dirty::words(n)), n);
        team.for_each(n, |p| order.set(p, tour.get(p)));
        dirty.fill(team, false);
        let array = ArrayTour::new(n, order, position);
        array.place_all(team);
        team.for_each(n, |p| {
            let node = array.at(p);
            let (before, after) = (array.before(p), array.after(p));
            let next = *tables.successor.add(node as usize);
            let previous = *tables.predecessor.add(node as usize);
            let same = (before == previous && after == next)
                || (!O::DIRECTED && before == next && after == previous);
            if !same {
                dirty.insert::<T>(node);
            }
        });
        team.barrier();
        let scratch = memory.add((8 * scratch_words(MEMBERS) * team.part_rank()) as usize).cast();
        let view = View {
            tour: array,
            lists: tables.lists,
            k: tables.k,
            breadth: tables.breadth,
            distance: tables.places,
            scratch: Slots::new(scratch, scratch_words(MEMBERS) as usize),
        };
        let proposals = words(SCRATCH, proposal_words(WIDTH));
        let round = DescentRound { width: WIDTH, spread: true, proposals };
        let gained = descend::<T, O, I, _>(team, view, dirty, round, &mut 0);
        team.for_each(n, |p| tour.set(p, order.get(p)));
        team.barrier();
        gained
    }
}
