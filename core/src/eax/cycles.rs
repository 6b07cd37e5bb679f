//! Phase 1: the edges in which two parents differ, as AB-cycles (section 3.1 of the paper).

use crate::rng::Stream;
use crate::team::Slots;

use super::gene::Gene;

/// In the place of a node or position: none.
const NONE: u32 = u32::MAX;

/// The AB-cycles of two parents, one behind the other. A cycle's first edge is one of A, the next one of B, and so on;
/// the last one, from its last node to its first, is one of B.
#[derive(Clone, Copy)]
pub struct Cycles {
    nodes: Slots<u32>,
    starts: Slots<u32>,
    count: u32,
}

impl Cycles {
    /// Bytes of memory that [`decompose`] needs for parents of `n` nodes.
    pub const fn memory_bytes(n: u32) -> usize {
        (4 * Layout::new(n).words + 15) & !15
    }

    /// Number of cycles.
    #[inline(always)]
    pub fn count(self) -> u32 {
        self.count
    }

    /// Where cycle `i` begins in the row of nodes, and how many nodes it has: an even number, at least 4.
    ///
    /// # Safety
    /// `i` is below [`Cycles::count`], and the memory is still the cycles'.
    #[inline(always)]
    pub unsafe fn range(self, i: u32) -> (u32, u32) {
        // SAFETY: there is a start more than there are cycles.
        unsafe {
            let first = self.starts.get(i);
            (first, self.starts.get(i + 1) - first)
        }
    }

    /// Node `at` of the row.
    ///
    /// # Safety
    /// It is inside a cycle's range, and the memory is still the cycles'.
    #[inline(always)]
    pub unsafe fn node(self, at: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.nodes.get(at) }
    }
}

/// Where the arrays are, in words of 32 bits.
struct Layout {
    nodes: usize,
    starts: usize,
    path: usize,
    left: usize,
    seen: usize,
    live: usize,
    words: usize,
}

impl Layout {
    const fn new(n: u32) -> Layout {
        let n = n as usize;
        // Up to n edges of each parent; a cycle has four edges or more.
        let starts = 2 * n;
        let path = starts + n / 2 + 1;
        let left = path + 2 * n + 1;
        let seen = left + 4 * n;
        let live = seen + 2 * n;
        Layout { nodes: 0, starts, path, left, seen, live, words: live + n }
    }
}

/// Random bits, one after the other.
struct Bits {
    stream: Stream,
    step: u32,
    word: u32,
    left: u32,
}

impl Bits {
    #[inline(always)]
    fn below(&mut self, n: u32) -> u32 {
        self.step += 1;
        self.stream.step(self.step).below(0, n)
    }

    #[inline(always)]
    fn bit(&mut self) -> u32 {
        if self.left == 0 {
            self.step += 1;
            (self.word, self.left) = (self.stream.step(self.step).bits(0), 32);
        }
        let bit = self.word & 1;
        (self.word, self.left) = (self.word >> 1, self.left - 1);
        bit
    }
}

/// Divides the edges that are in one parent only into AB-cycles at random.
///
/// A walk takes edges of A and of B by turns, each once. When it comes to a node where it has been and that it left by
/// an edge of the kind that is next, what lies between is a cycle, and the walk goes on without it.
///
/// # Safety
/// The parents are tours of the same n nodes; `memory` belongs to this member, has [`Cycles::memory_bytes`] at a
/// boundary of 4 bytes, and is the cycles' for as long as they are used.
pub unsafe fn decompose(a: Gene, b: Gene, stream: Stream, memory: *mut u8) -> Cycles {
    let layout = Layout::new(a.n());
    // SAFETY: the layout is inside the memory; nodes are below n. A node has as many edges of A left as of B, but for
    // the walk's ends, so that there is an edge of the kind that is next wherever it is. An edge is walked once: the
    // path has 2n edges at most, as all cycles together have.
    unsafe {
        let words = |offset: usize| Slots::<u32>::new(memory.cast::<u32>().add(offset));
        let (nodes, starts, path) = (words(layout.nodes), words(layout.starts), words(layout.path));
        // A node's edges that no cycle has yet: two of A, two of B. And where on the path a node is, before an edge of A
        // and before one of B.
        let (left, seen) = (words(layout.left), words(layout.seen));
        let live = words(layout.live);

        let mut lives = prepare(a, b, left, seen, live);
        let mut bits = Bits { stream, step: 0, word: 0, left: 0 };
        let (mut count, mut end) = (0, 0);
        starts.set(0, 0);
        while lives > 0 {
            let i = bits.below(lives);
            let mut v = live.get(i);
            if left.get(4 * v) == NONE && left.get(4 * v + 1) == NONE {
                lives -= 1;
                live.set(i, live.get(lives));
                continue;
            }
            let mut length = 0;
            path.set(0, v);
            seen.set(2 * v, 0);
            loop {
                v = step(left, v, length & 1, &mut bits);
                length += 1;
                path.set(length, v);
                let slot = 2 * v + (length & 1);
                let before = seen.get(slot);
                if before == NONE {
                    seen.set(slot, length);
                    continue;
                }
                // The path's node at `before` is this one again: begin behind it if its next edge is one of B.
                let mut p = before + (before & 1);
                while p < length + (before & 1) {
                    nodes.set(end, path.get(p));
                    end += 1;
                    p += 1;
                }
                count += 1;
                starts.set(count, end);
                let mut p = before + 1;
                while p < length {
                    seen.set(2 * path.get(p) + (p & 1), NONE);
                    p += 1;
                }
                length = before;
                if length == 0 {
                    seen.set(2 * v, NONE);
                    break;
                }
            }
        }
        Cycles { nodes, starts, count }
    }
}

/// Lists the nodes with edges that are in one parent only, and those edges. Returns their number.
///
/// # Safety
/// As [`decompose`]; the arrays are its own.
#[inline(always)]
unsafe fn prepare(a: Gene, b: Gene, left: Slots<u32>, seen: Slots<u32>, live: Slots<u32>) -> u32 {
    let mut lives = 0;
    let mut p = 0;
    // SAFETY: the caller's promise; positions and nodes below n.
    unsafe {
        while p < a.n() {
            let v = a.at(p);
            let ([a0, a1], [b0, b1]) = (a.beside(p), b.links(v));
            let (first, second) = (a0 == b0 || a0 == b1, a1 == b0 || a1 == b1);
            if !(first && second) {
                left.set(4 * v, if first { NONE } else { a0 });
                left.set(4 * v + 1, if second { NONE } else { a1 });
                left.set(4 * v + 2, if b0 == a0 || b0 == a1 { NONE } else { b0 });
                left.set(4 * v + 3, if b1 == a0 || b1 == a1 { NONE } else { b1 });
                seen.set(2 * v, NONE);
                seen.set(2 * v + 1, NONE);
                live.set(lives, v);
                lives += 1;
            }
            p += 1;
        }
    }
    lives
}

/// Takes an edge of a kind from `v`, at random where there are two; the node it leads to.
///
/// # Safety
/// There is one.
#[inline(always)]
unsafe fn step(left: Slots<u32>, v: u32, kind: u32, bits: &mut Bits) -> u32 {
    let from = 4 * v + 2 * kind;
    // SAFETY: the caller's promise; an edge is with both of its nodes.
    unsafe {
        let (first, second) = (left.get(from), left.get(from + 1));
        let take = if first == NONE {
            1
        } else if second == NONE {
            0
        } else {
            bits.bit()
        };
        let to = if take == 0 { first } else { second };
        left.set(from + take, NONE);
        let back = 4 * to + 2 * kind;
        left.set(if left.get(back) == v { back } else { back + 1 }, NONE);
        to
    }
}
