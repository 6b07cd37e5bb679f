//! Tiles: parts of a tour, small enough for a team's fast memory, that are improved at the same time.
//!
//! A tile is some of the tour's nodes, numbered 0 .. m there in the order of the tour, with their places and the
//! part of their neighbour lists that is inside. What lies between its pieces is [links](super::links). Nodes in a
//! row make a tile of one piece (a window), nodes that lie near each other one of many (a cell), all nodes one
//! without links. The tiles of a tour share no node, so a piece may become longer at the cost of another one of its
//! tile: the tour is put together again by [`start_pieces`] and [`place_entry`].

use crate::geometry::{Geometry, Places};
use crate::node::NodeId;
use crate::rng::Stream;
use crate::team::{Slots, Team};

use super::array::ArrayTour;
use super::chain::{FEWEST, Gains, Rules, chain};
use super::descend::{Dirty, Journal, Round, proposal_words};
use super::links::Pieces;
use super::moves::{Operator, View, scratch_words};

/// Exchanges of a kick and the descent after it that can be taken back.
pub const JOURNAL: u32 = 64;

/// Members of a part of a team that works on a tile, at most: a warp.
const MEMBERS: u32 = 32;

/// Where the arrays of a tile's team memory begin, in bytes, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Layout {
    bits: u32,
    links: u32,
    order: u32,
    position: u32,
    heads: u32,
    best: u32,
    journal: u32,
    scratch: u32,
    proposals: u32,
    lists: u32,
    /// Bytes of all, a multiple of 16.
    pub bytes: u32,
    /// Nodes of a tile, at most.
    pub m: u32,
    /// Nodes that a round of a descent looks at together; parts of a team, at most.
    pub width: u32,
}

const fn up(bytes: u32) -> u32 {
    (bytes + 15) & !15
}

impl Layout {
    /// The layout for up to `m` nodes with `k` neighbours each, ids of `I`'s width and places of `place` bytes;
    /// `keep_best`: with room for a second tour; `width` nodes looked at together.
    pub const fn new<I: NodeId>(m: u32, k: u32, place: u32, keep_best: bool, width: u32) -> Layout {
        let words = 4 * Dirty::words(m);
        let scratch = up(m * place);
        let proposals = scratch + 8 * scratch_words(MEMBERS) * width;
        let bits = proposals + 4 * proposal_words(width);
        let links = bits + words;
        // Positions are sorted where order and position come to lie; what is behind them has room for the padding.
        let order = links + up(words);
        let position = order + m * I::BYTES;
        let heads = position + m * I::BYTES;
        let best = heads + m * I::BYTES;
        let journal = best + if keep_best { m * I::BYTES } else { 0 };
        let lists = journal + 4 * JOURNAL * I::BYTES;
        let end = lists + m * k * I::BYTES;
        let sorted = order + 4 * m.next_power_of_two();
        let bytes = up(if end > sorted { end } else { sorted });
        Layout {
            bits,
            links,
            order,
            position,
            heads,
            best,
            journal,
            scratch,
            proposals,
            lists,
            bytes,
            m,
            width,
        }
    }
}

/// The tour that tiles are cut from, in memory that all teams see and nobody writes meanwhile.
pub struct Source<G: Geometry> {
    /// Number of nodes.
    pub n: u32,
    /// Neighbours of a node.
    pub k: u32,
    /// n x k, nearest first.
    pub lists: *const u32,
    /// The node at every position.
    pub order: *const u32,
    /// The position of every node.
    pub position: *const u32,
    /// Places of all nodes.
    pub places: Places<G>,
}

impl<G: Geometry> Clone for Source<G> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Geometry> Copy for Source<G> {}

/// Which nodes a tile has.
#[derive(Clone, Copy, Debug)]
pub enum Nodes {
    /// Those in a row from this position on, which may go around the end.
    From(u32),
    /// Those of a list.
    Of(*const u32),
}

/// A part of all: where tile number `tile` of `tiles` begins among n nodes, and how many it has.
#[inline(always)]
pub const fn part(n: u32, tiles: u32, tile: u32) -> (u32, u32) {
    let from = (n as u64 * tile as u64 / tiles as u64) as u32;
    let to = (n as u64 * (tile as u64 + 1) / tiles as u64) as u32;
    (from, to - from)
}

/// What tiles write: an entry a node, in the order of the tiles and, inside, of the old tour.
#[derive(Clone, Copy)]
pub struct Entries {
    /// The node's old position.
    pub old: Slots<u32>,
    /// The old position of the first node of the piece it is in now.
    pub piece: Slots<u32>,
    /// How many nodes of that piece come before it.
    pub offset: Slots<u32>,
    /// By old position, not by entry: how many nodes the piece that begins there has now; 0: none does.
    pub length: Slots<u32>,
}

/// Runs a [`chain`] in a tile of `m` nodes and writes its pieces as entries from `first` on.
///
/// # Safety
/// The source is as it says; the entries have n elements each, of which those from `first` on and the lengths at its
/// nodes' positions are this team's; `memory` has the bytes of `layout`, made for at least m nodes and the source's k,
/// at a 16-byte boundary; `m >= 1`; a team has at most `layout.width` parts of at most 32 members; `breadth <= k`, both at least 1; m fits `I`.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn improve<T: Team, O: Operator, I: NodeId, G: Geometry>(
    team: T,
    source: Source<G>,
    (nodes, first, m): (Nodes, u32, u32),
    breadth: u32,
    layout: Layout,
    memory: *mut u8,
    rules: Rules,
    stream: Stream,
    entries: Entries,
) -> Gains {
    // SAFETY: the layout's arrays are inside the memory and aligned; local nodes are below m. Barriers stand between
    // the sorted positions and the arrays that take their room, between writing the tile and searching it, and
    // between that and writing back.
    unsafe {
        let (n, k) = (source.n, source.k);
        let ids = |offset: u32| Slots::<I>::new(memory.add(offset as usize).cast());
        let words = |offset: u32| Slots::<u32>::new(memory.add(offset as usize).cast());
        let places = Slots::<G::Place>::new(memory.cast());
        let (lists, local, heads, links) =
            (ids(layout.lists), ids(layout.order), ids(layout.heads), words(layout.links));
        let sorted = words(layout.order);

        // The positions of the tile's nodes, in order.
        let position_of = |i: u32| match nodes {
            Nodes::From(position) => {
                let left = n - position;
                if i < left { position + i } else { i - left }
            }
            Nodes::Of(list) => *source.position.add(*list.add(i as usize) as usize),
        };
        team.for_each(m, |i| sorted.set(i, position_of(i)));
        sort(team, sorted, m);

        team.for_each(m, |i| {
            let position = sorted.get(i);
            let node = *source.order.add(position as usize);
            entries.old.set(first + i, position);
            entries.length.set(position, 0);
            places.set(i, *source.places.start.add(node as usize));
        });
        team.for_each(Dirty::words(m), |w| {
            let mut bits = 0;
            let mut i = 32 * w;
            while i < m && i < 32 * w + 32 {
                let here = sorted.get(i);
                let behind = sorted.get(if i + 1 == m { 0 } else { i + 1 });
                let next = if here + 1 == n { 0 } else { here + 1 };
                bits |= ((behind != next) as u32) << (i % 32);
                i += 1;
            }
            links.set(w, bits);
        });
        // Lists may lie over the padding of the sorted positions, which nobody needs any more.
        team.for_each(m, |i| {
            let node = *source.order.add(sorted.get(i) as usize);
            let (mut kept, mut j) = (0, 0);
            while j < k {
                let neighbor = *source.lists.add(node as usize * k as usize + j as usize);
                let position = *source.position.add(neighbor as usize);
                let (mut low, mut high) = (0, m);
                while low < high {
                    let middle = (low + high) / 2;
                    if sorted.get(middle) < position { low = middle + 1 } else { high = middle }
                }
                if low < m && sorted.get(low) == position {
                    lists.set(i * k + kept, I::new(low));
                    kept += 1;
                }
                j += 1;
            }
            while kept < k {
                lists.set(i * k + kept, I::new(m));
                kept += 1;
            }
        });
        team.barrier();
        team.for_each(m, |i| local.set(i, I::new(i)));
        let mut count = 0;
        let mut w = 0;
        while w < Dirty::words(m) {
            let mut bits = links.get(w);
            while bits != 0 {
                let head = 32 * w + bits.trailing_zeros();
                team.single(|| heads.set(count, I::new(head)));
                count += 1;
                bits &= bits - 1;
            }
            w += 1;
        }
        let tour = ArrayTour::new(m, local, ids(layout.position));
        team.barrier();
        tour.place_all(team);

        let mut gains = Gains { last: 0, best: 0 };
        let mut found = local;
        if m >= FEWEST {
            let scratch = layout.scratch + 8 * scratch_words(MEMBERS) * team.part_rank();
            let round = Round { width: layout.width, spread: false, proposals: words(layout.proposals) };
            let view = View {
                tour,
                lists: lists.at(0),
                k,
                breadth,
                distance: Places { geometry: source.places.geometry, start: places.at(0) },
                links: Pieces { n: m, bits: links, heads, count },
                scratch: Slots::new(memory.add(scratch as usize).cast()),
            };
            let dirty = Dirty::new(words(layout.bits), m);
            let mut journal = Journal::new(ids(layout.journal), JOURNAL);
            gains = chain::<T, O, _, _, _>(
                team,
                view,
                dirty,
                round,
                &mut journal,
                ids(layout.best),
                rules,
                stream,
            );
            if rules.keep_best != 0 {
                found = ids(layout.best);
                ArrayTour::new(m, found, ids(layout.position)).place_all(team);
            }
        }
        write_back(
            team,
            ArrayTour::new(m, found, ids(layout.position)),
            links,
            (heads, count),
            first,
            entries,
        );
        gains
    }
}

/// Writes the pieces of a tile's tour as entries, whose `old` is there.
///
/// # Safety
/// As [`improve`].
#[inline(always)]
unsafe fn write_back<T: Team, I: NodeId>(
    team: T,
    tour: ArrayTour<I>,
    links: Slots<u32>,
    (heads, count): (Slots<I>, u32),
    first: u32,
    entries: Entries,
) {
    // SAFETY: the caller's promise. Each node is in one piece, which one member writes; so is each old position.
    unsafe {
        let m = tour.n();
        let behind = |node: u32| if node + 1 == m { 0 } else { node + 1 };
        if count <= 1 {
            let start = if count == 0 { 0 } else { behind(heads.get(0).get()) };
            let piece = entries.old.get(first + start);
            let origin = tour.position(start);
            let forward = count == 0 || tour.before(origin) == heads.get(0).get();
            team.for_each(m, |i| {
                let position = tour.position(i);
                let (to, from) = if forward { (position, origin) } else { (origin, position) };
                entries.piece.set(first + i, piece);
                entries.offset.set(first + i, if to >= from { to - from } else { to + m - from });
            });
            team.single(|| entries.length.set(piece, m));
            return;
        }
        team.for_each(count, |link| {
            let head = heads.get(link).get();
            let start = behind(head);
            let piece = entries.old.get(first + start);
            let mut position = tour.position(start);
            let forward = tour.before(position) == head;
            let mut length = 0;
            loop {
                let node = tour.at(position);
                entries.piece.set(first + node, piece);
                entries.offset.set(first + node, length);
                length += 1;
                // A piece ends where the next link begins.
                if links.get(node / 32) >> (node % 32) & 1 != 0 {
                    break;
                }
                position = match (forward, position) {
                    (true, p) if p + 1 == m => 0,
                    (true, p) => p + 1,
                    (false, 0) => m - 1,
                    (false, p) => p - 1,
                };
            }
            entries.length.set(piece, length);
        });
    }
}

/// Sorts `m` numbers below 2^32 - 1 and waits. The array has room for a power of two of them.
///
/// # Safety
/// The array belongs to this team.
#[inline(always)]
unsafe fn sort<T: Team>(team: T, values: Slots<u32>, m: u32) {
    // SAFETY: the caller's promise; between two barriers a pair is one member's.
    unsafe {
        if T::ALONE {
            core::slice::from_raw_parts_mut(values.at(0), m as usize).sort_unstable();
            return;
        }
        // Batcher's bitonic network (1968).
        let size = m.next_power_of_two();
        team.for_each(size - m, |i| values.set(m + i, u32::MAX));
        team.barrier();
        let mut run = 2;
        while run <= size {
            let mut stride = run / 2;
            while stride > 0 {
                team.for_each(size / 2, |i| {
                    let low = 2 * (i & !(stride - 1)) + (i & (stride - 1));
                    let (a, b) = (values.get(low), values.get(low + stride));
                    if (a > b) == (low & run == 0) {
                        values.set(low, b);
                        values.set(low + stride, a);
                    }
                });
                team.barrier();
                stride /= 2;
            }
            run *= 2;
        }
    }
}

/// Turns the lengths of pieces, by the old positions where they begin, into their new positions: the sums of all
/// before. Waits at its end.
///
/// # Safety
/// `lengths` has n elements and belongs to this team; `sums` has as many elements as the team has members.
#[inline(always)]
pub unsafe fn start_pieces<T: Team>(team: T, n: u32, lengths: Slots<u32>, sums: Slots<u32>) {
    // SAFETY: each member has a stretch of its own, and a barrier stands before others' sums are read.
    unsafe {
        let (from, count) = part(n, team.size(), team.rank());
        let mut sum = 0;
        let mut i = from;
        while i < from + count {
            sum += lengths.get(i);
            i += 1;
        }
        sums.set(team.rank(), sum);
        team.barrier();
        let mut before = 0;
        let mut member = 0;
        while member < team.rank() {
            before += sums.get(member);
            member += 1;
        }
        let mut i = from;
        while i < from + count {
            let length = lengths.get(i);
            lengths.set(i, before);
            before += length;
            i += 1;
        }
        team.barrier();
    }
}

/// Puts the node of an entry to its new place.
///
/// # Safety
/// `entry < n`; `entries.length` holds what [`start_pieces`] made of it; `old_order` is the tour the tiles were cut
/// from; nobody else writes at this node's place in `order` and `position`.
#[inline(always)]
pub unsafe fn place_entry(
    entry: u32,
    entries: Entries,
    old_order: *const u32,
    order: Slots<u32>,
    position: Slots<u32>,
) {
    // SAFETY: the caller's promise; the pieces' new places cover 0 .. n.
    unsafe {
        let node = *old_order.add(entries.old.get(entry) as usize);
        let place = entries.length.get(entries.piece.get(entry)) + entries.offset.get(entry);
        order.set(place, node);
        position.set(node, place);
    }
}
