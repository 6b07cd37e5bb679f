//! Tiles: parts of a long tour, small enough for a team's fast memory, that are improved at the same time.
//!
//! A tile is some of the tour's nodes, numbered 0 .. m there in the order of the tour, with their places and the
//! part of their neighbour lists that is inside. What is between its pieces are [links](super::links). A window is a
//! tile of one piece: nodes in a row. A whole tour that is small enough is a tile without links.

use crate::geometry::{Geometry, Places};
use crate::node::NodeId;
use crate::team::{Slots, Team};

use super::array::ArrayTour;
use super::chain::{FEWEST, Gains, Rules, chain};
use super::descend::{Dirty, Journal};
use super::links::Pieces;
use super::moves::{Operator, View};
use crate::rng::Stream;

/// Exchanges of a kick and the descent after it that can be taken back.
pub const JOURNAL: u32 = 64;

/// Where the arrays of a tile's team memory begin, in bytes, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    places: u32,
    bits: u32,
    links: u32,
    order: u32,
    position: u32,
    best: u32,
    heads: u32,
    journal: u32,
    lists: u32,
    /// Bytes of all, a multiple of 16.
    pub bytes: u32,
}

impl Layout {
    /// The layout for up to `m` nodes with `k` neighbours each, `pieces` links at most, ids of `I`'s width and places
    /// of `place` bytes; `keep_best`: with room for a second tour.
    #[inline(always)]
    pub const fn new<I: NodeId>(m: u32, k: u32, pieces: u32, place: u32, keep_best: bool) -> Layout {
        const fn up(bytes: u32) -> u32 {
            (bytes + 15) & !15
        }
        let words = 4 * Dirty::words(m);
        let places = 0;
        let bits = places + up(m * place);
        let links = bits + words;
        let order = links + up(words);
        let position = order + m * I::BYTES;
        let best = position + m * I::BYTES;
        let heads = best + if keep_best { m * I::BYTES } else { 0 };
        let journal = heads + pieces * I::BYTES;
        let lists = journal + 4 * JOURNAL * I::BYTES;
        let bytes = up(lists + m * k * I::BYTES);
        Layout { places, bits, links, order, position, best, heads, journal, lists, bytes }
    }
}

/// The tour that tiles are cut from, as it lies in memory that all teams see. Tiles read one tour and write another:
/// the nodes of a tile are its own, but a neighbour's position may be another tile's.
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

/// Nodes in a row: `length` of them from position `first` on, which may go around the end. All n: the whole tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Position of the first node.
    pub first: u32,
    /// Number of nodes.
    pub length: u32,
}

impl Window {
    /// Window number `tile` of `tiles` that cover a tour of n nodes, cut evenly from position `offset` on.
    #[inline(always)]
    pub fn cut(n: u32, tiles: u32, offset: u32, tile: u32) -> Window {
        let border = |i: u32| (n as u64 * i as u64 / tiles as u64) as u32;
        let (from, to) = (border(tile), border(tile + 1));
        let first = from as u64 + offset as u64;
        Window { first: (if first >= n as u64 { first - n as u64 } else { first }) as u32, length: to - from }
    }

    /// The longest of so many windows.
    pub const fn longest(n: u32, tiles: u32) -> u32 {
        n.div_ceil(tiles)
    }

    #[inline(always)]
    fn position(self, n: u32, i: u32) -> u32 {
        // n can be close to 2^32.
        let left = n - self.first;
        if i < left { self.first + i } else { i - left }
    }
}

/// Runs a [`chain`] in a window of the tour and writes its nodes in their new order, with their positions, to
/// `order` and `position`. Windows that are no more than a few nodes long are copied.
///
/// # Safety
/// The source is read by all and written by nobody; `order` and `position` have n elements, of which the window's are
/// this team's; `memory` has the bytes of `layout`, which was made for windows this long, at a 16-byte boundary;
/// `breadth <= k`, both at least 1.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn improve_window<T: Team, O: Operator, I: NodeId, G: Geometry>(
    team: T,
    source: Source<G>,
    window: Window,
    breadth: u32,
    layout: Layout,
    memory: *mut u8,
    rules: Rules,
    stream: Stream,
    order: Slots<u32>,
    position: Slots<u32>,
) -> Gains {
    // SAFETY: the layout's arrays are inside the memory and aligned; nodes of the window are below m, and others are
    // sorted out; a barrier stands between writing the tile and searching it, and between that and writing back.
    unsafe {
        let (n, m) = (source.n, window.length);
        let node_at = |i: u32| *source.order.add(window.position(n, i) as usize);
        let write = |i: u32, node: u32| {
            let p = window.position(n, i);
            order.set(p, node);
            position.set(node, p);
        };
        if m < FEWEST {
            team.for_each(m, |i| write(i, node_at(i)));
            return Gains { last: 0, best: 0 };
        }
        let array = |offset: u32| Slots::<I>::new(memory.add(offset as usize).cast());
        let words = |offset: u32| Slots::<u32>::new(memory.add(offset as usize).cast());
        let places = Slots::<G::Place>::new(memory.add(layout.places as usize).cast());
        let (lists, local, heads) = (array(layout.lists), array(layout.order), array(layout.heads));
        let links = words(layout.links);
        team.for_each(m, |i| {
            let node = node_at(i);
            places.set(i, *source.places.start.add(node as usize));
            local.set(i, I::new(i));
            let (mut kept, mut j) = (0, 0);
            while j < source.k {
                let neighbor = *source.lists.add(node as usize * source.k as usize + j as usize);
                let at = *source.position.add(neighbor as usize);
                let at = if at >= window.first { at - window.first } else { at + (n - window.first) };
                if at < m {
                    lists.set(i * source.k + kept, I::new(at));
                    kept += 1;
                }
                j += 1;
            }
            while kept < source.k {
                lists.set(i * source.k + kept, I::new(m));
                kept += 1;
            }
        });
        let is_part = m < n;
        team.for_each(Dirty::words(m), |w| {
            links.set(w, if is_part && w == (m - 1) / 32 { 1 << ((m - 1) % 32) } else { 0 });
        });
        team.single(|| heads.set(0, I::new(m - 1)));
        let tour = ArrayTour::new(m, local, array(layout.position));
        tour.place_all(team);
        let view = View {
            tour,
            lists: lists.at(0),
            k: source.k,
            breadth,
            distance: Places { geometry: source.places.geometry, start: places.at(0) },
            links: Pieces { n: m, bits: links, heads, count: is_part as u32 },
        };
        let dirty = Dirty::new(words(layout.bits), m);
        let mut journal = Journal::new(array(layout.journal), JOURNAL);
        let best = array(layout.best);
        let gains = chain::<T, O, _, _, _>(team, view, dirty, &mut journal, best, rules, stream);
        let found = if rules.keep_best != 0 { best } else { local };
        // A part runs from node 0 to node m - 1, in one direction or the other.
        let at_start = {
            let mut at = 0;
            team.for_each(m, |i| {
                if found.get(i).get() == 0 {
                    at = i;
                }
            });
            team.sum(at as u64) as u32
        };
        let behind = found.get(if at_start + 1 == m { 0 } else { at_start + 1 }).get();
        let forward = !is_part || behind != m - 1 || m == 2;
        team.for_each(m, |i| {
            let at = if forward {
                let left = m - at_start;
                if i < left { at_start + i } else { i - left }
            } else if i <= at_start {
                at_start - i
            } else {
                at_start + m - i
            };
            write(i, node_at(found.get(at).get()));
        });
        gains
    }
}
