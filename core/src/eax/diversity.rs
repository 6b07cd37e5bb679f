//! How much of the population's diversity a child costs (section 3.3 of the paper): the entropy of its edges.

use crate::team::Slots;

use super::bench::Bench;
use super::gene::Gene;

/// No edge.
const EMPTY: u64 = u64::MAX;

/// How many tours of the population have an edge: a hash table with linear probing. Edges of near numbers are near each
/// other, as are the nodes if they are numbered along a short tour.
#[derive(Clone, Copy)]
pub struct Frequencies {
    keys: Slots<u64>,
    counts: Slots<u32>,
    n: u32,
    stride: u32,
}

impl Frequencies {
    /// Entries of a table for `n` nodes with `stride` of them a node.
    pub const fn entries(n: u32, stride: u32) -> usize {
        n as usize * stride as usize
    }

    /// A view of a table.
    ///
    /// # Safety
    /// Both arrays have [`Frequencies::entries`] elements, fewer than 2^32; `stride` is a power of two.
    #[inline(always)]
    pub unsafe fn new(n: u32, stride: u32, keys: Slots<u64>, counts: Slots<u32>) -> Frequencies {
        Frequencies { keys, counts, n, stride }
    }

    /// Forgets all edges.
    ///
    /// # Safety
    /// Nobody else uses the table meanwhile.
    pub unsafe fn clear(self) {
        let mut i = 0;
        while i < self.n * self.stride {
            // SAFETY: inside the table.
            unsafe { self.keys.set(i, EMPTY) };
            i += 1;
        }
    }

    /// Where an edge is or would be; whether it is there.
    ///
    /// # Safety
    /// The nodes are below n, and an entry is free.
    #[inline(always)]
    unsafe fn find(self, u: u32, v: u32) -> (u32, u64, bool) {
        let (low, high) = if u < v { (u, v) } else { (v, u) };
        let key = (low as u64) << 32 | high as u64;
        let mut at = low * self.stride + (high.wrapping_mul(0x9e37_79b1) >> 16 & (self.stride - 1));
        loop {
            // SAFETY: inside the table.
            let there = unsafe { self.keys.get(at) };
            if there == key || there == EMPTY {
                return (at, key, there == key);
            }
            at = if at + 1 == self.n * self.stride { 0 } else { at + 1 };
        }
    }

    /// How many tours have an edge.
    ///
    /// # Safety
    /// The nodes are below n, and an entry is free; nobody writes meanwhile.
    #[inline(always)]
    pub unsafe fn count(self, u: u32, v: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            let (at, _, is_there) = self.find(u, v);
            if is_there { self.counts.get(at) } else { 0 }
        }
    }

    /// Adds to the number of tours that have an edge; whether it takes an entry that was free.
    ///
    /// # Safety
    /// The nodes are below n, and two entries are free; nobody else uses the table meanwhile; the number does not get
    /// negative.
    #[inline(always)]
    pub unsafe fn add(self, u: u32, v: u32, by: i32) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let (at, key, is_there) = self.find(u, v);
            if !is_there {
                self.keys.set(at, key);
                self.counts.set(at, 0);
            }
            self.counts.set(at, self.counts.get(at).wrapping_add_signed(by));
            !is_there
        }
    }
}

/// What a loss of entropy is counted in: with f tours of N having an edge, the entropy is the sum of
/// -f/N log2(f/N) over all edges, and as all tours have n of them, it falls by the growth of the sum of f log2 f, over
/// N. Here that growth is in units of 2^-20.
#[derive(Clone, Copy)]
pub struct Entropy {
    /// Of every f below the number of tours: by how much f log2 f grows with another tour.
    steps: *const u32,
}

impl Entropy {
    /// The step from f to f + 1 tours.
    pub fn step(f: u32) -> u32 {
        let sum = |f: u32| if f == 0 { 0.0 } else { f as f64 * libm::log2(f as f64) };
        ((sum(f + 1) - sum(f)) * (1 << 20) as f64 + 0.5) as u32
    }

    /// A view of the steps.
    ///
    /// # Safety
    /// There is a step for every f below the number of tours, for as long as the view is used.
    #[inline(always)]
    pub unsafe fn new(steps: *const u32) -> Entropy {
        Entropy { steps }
    }

    /// What it costs to put the child in the bench in A's place.
    ///
    /// # Safety
    /// The frequencies are those of a population of as many tours as there are steps, one of them A, and nobody writes
    /// them meanwhile; the child is one of A.
    #[inline(always)]
    pub unsafe fn loss(self, frequencies: Frequencies, a: Gene, bench: Bench) -> i64 {
        let mut loss = 0;
        let mut i = 0;
        // SAFETY: A has the edges that go, and a population in which another tour would get an edge has a tour without.
        unsafe {
            let step = |f: u32| *self.steps.add(f as usize) as i64;
            while i < bench.changes() {
                let [v, first, second] = bench.change(i);
                let [before, after] = a.links(v);
                for old in [before, after] {
                    if v < old && old != first && old != second {
                        loss -= step(frequencies.count(v, old) - 1);
                    }
                }
                for new in [first, second] {
                    if v < new && new != before && new != after {
                        loss += step(frequencies.count(v, new));
                    }
                }
                i += 1;
            }
        }
        loss
    }
}

/// How good a child is, for comparisons: 0 if it is no shorter than A; by the loss of entropy if it has one, else as if
/// that were the least there can be.
#[inline(always)]
pub fn score(gain: i64, loss: i64) -> u64 {
    if gain <= 0 {
        return 0;
    }
    // Positive doubles are in the order of their bits.
    (gain as f64 / if loss < 1 { 1 } else { loss } as f64).to_bits()
}
