//! The private memory in which a member puts a child together.

use crate::team::Slots;

use super::gene::Gene;

/// What a member needs to evaluate a child or to apply one. Between children only the stamps are kept.
#[derive(Clone, Copy)]
pub struct Bench {
    n: u32,
    /// The number of the child in work; nodes with this stamp have links of their own, others those of A.
    stamp: Slots<u32>,
    stamps: Slots<u32>,
    links: Slots<u32>,
    touched: Slots<u32>,
    /// Number of nodes in `touched`.
    touches: Slots<u32>,
    /// The last number given to a child or a walk.
    numbers: Slots<u32>,
    /// The number of a walk around a sub-tour; nodes that it met.
    pub(super) marks: Slots<u32>,
    pub(super) list: Slots<u32>,
    /// Where A is cut: position in the upper half, which cut it is in the lower.
    pub(super) cuts: Slots<u64>,
    /// Of each cut the segment ends at its two nodes.
    pub(super) ends: Slots<u32>,
    pub(super) mates: Slots<u32>,
    pub(super) labels: Slots<u32>,
    pub(super) sizes: Slots<u32>,
    pub(super) parents: Slots<u32>,
    pub(super) inside: Slots<u32>,
    pub(super) heap: Slots<u64>,
}

impl Bench {
    /// Bytes of memory for tours of `n` nodes.
    pub const fn memory_bytes(n: u32) -> usize {
        let (n, tours) = (n as usize, most_subtours(n) as usize);
        (8 * (n + 2 * tours) + 4 * (4 + 11 * n + 3 * tours) + 15) & !15
    }

    /// A view of `memory`.
    ///
    /// # Safety
    /// `memory` belongs to this member, has [`Bench::memory_bytes`] at a boundary of 8 bytes, and was all zero before
    /// its first use.
    #[inline(always)]
    pub unsafe fn new(n: u32, memory: *mut u8) -> Bench {
        let (size, tours) = (n as usize, most_subtours(n) as usize);
        // SAFETY: the arrays are inside the memory.
        unsafe {
            let wide = |at: usize| Slots::<u64>::new(memory.cast::<u64>().add(at));
            let rest = memory.cast::<u64>().add(size + 2 * tours).cast::<u32>();
            let words = |at: usize| Slots::<u32>::new(rest.add(at));
            let behind = 4 + 11 * size;
            Bench {
                n,
                cuts: wide(0),
                heap: wide(size),
                stamp: words(0),
                touches: words(1),
                numbers: words(2),
                stamps: words(4),
                links: words(4 + size),
                touched: words(4 + 3 * size),
                marks: words(4 + 4 * size),
                list: words(4 + 5 * size),
                ends: words(4 + 6 * size),
                mates: words(4 + 8 * size),
                labels: words(4 + 10 * size),
                sizes: words(behind),
                parents: words(behind + tours),
                inside: words(behind + 2 * tours),
            }
        }
    }

    /// Begins another child: all nodes have A's links.
    ///
    /// # Safety
    /// The memory is this member's.
    #[inline(always)]
    pub(super) unsafe fn begin(self) {
        // SAFETY: the caller's promise.
        unsafe {
            // A child takes a number of its own, and one for each merging of sub-tours.
            if self.numbers.get(0) > u32::MAX - self.n {
                self.restart();
            }
            self.touches.set(0, 0);
            self.stamp.set(0, self.fresh());
        }
    }

    /// The next number of the row from which children and walks draw.
    ///
    /// # Safety
    /// As [`Bench::begin`].
    #[inline(always)]
    pub(super) unsafe fn fresh(self) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            self.numbers.set(0, self.numbers.get(0) + 1);
            self.numbers.get(0)
        }
    }

    /// The row of numbers begins anew.
    ///
    /// # Safety
    /// As [`Bench::begin`].
    #[cold]
    unsafe fn restart(self) {
        // SAFETY: n elements each.
        unsafe {
            self.numbers.set(0, 0);
            let mut v = 0;
            while v < self.n {
                self.marks.set(v, 0);
                self.stamps.set(v, 0);
                v += 1;
            }
        }
    }

    /// Whether the neighbours of `v` were set in this child.
    ///
    /// # Safety
    /// `v` is below n.
    #[inline(always)]
    pub(super) unsafe fn is_touched(self, v: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.stamps.get(v) == self.stamp.get(0) }
    }

    /// The child's neighbours of `v`.
    ///
    /// # Safety
    /// `v` is below n; `a` is the parent that the child began with.
    #[inline(always)]
    pub(super) unsafe fn links(self, a: Gene, v: u32) -> [u32; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            if self.is_touched(v) { [self.links.get(2 * v), self.links.get(2 * v + 1)] } else { a.links(v) }
        }
    }

    /// Gives `v` another neighbour in place of one.
    ///
    /// # Safety
    /// As [`Bench::links`]; `old` is a neighbour of `v` in the child.
    #[inline(always)]
    pub(super) unsafe fn relink(self, a: Gene, v: u32, old: u32, new: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let [first, second] = self.links(a, v);
            if first == old { self.set(v, [new, second]) } else { self.set(v, [first, new]) }
        }
    }

    /// Sets the child's neighbours of `v`.
    ///
    /// # Safety
    /// `v` is below n.
    #[inline(always)]
    pub(super) unsafe fn set(self, v: u32, [first, second]: [u32; 2]) {
        // SAFETY: a node is listed once, so n places suffice.
        unsafe {
            if !self.is_touched(v) {
                self.stamps.set(v, self.stamp.get(0));
                let touches = self.touches.get(0);
                self.touched.set(touches, v);
                self.touches.set(0, touches + 1);
            }
            self.links.set(2 * v, first);
            self.links.set(2 * v + 1, second);
        }
    }

    /// Number of nodes whose neighbours were changed.
    ///
    /// # Safety
    /// The memory is this member's.
    #[inline(always)]
    pub unsafe fn changes(self) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.touches.get(0) }
    }

    /// A node whose neighbours were changed, and its neighbours now; they may be the old ones again.
    ///
    /// # Safety
    /// `i` is below [`Bench::changes`].
    #[inline(always)]
    pub unsafe fn change(self, i: u32) -> [u32; 3] {
        // SAFETY: the caller's promise; a touched node has links of its own.
        unsafe {
            let v = self.touched.get(i);
            [v, self.links.get(2 * v), self.links.get(2 * v + 1)]
        }
    }

    /// Sorts the first `count` cuts.
    ///
    /// # Safety
    /// There are so many.
    #[inline(always)]
    pub(super) unsafe fn sort_cuts(self, count: u32) {
        // SAFETY: this member's elements, all written.
        let cuts = unsafe { core::slice::from_raw_parts_mut(self.cuts.at(0), count as usize) };
        cuts.sort_unstable();
    }

    /// The position in A behind which cut number `r` is.
    ///
    /// # Safety
    /// `r` is below the number of cuts.
    #[inline(always)]
    pub(super) unsafe fn cut(self, r: u32) -> u32 {
        // SAFETY: the caller's promise.
        (unsafe { self.cuts.get(r) } >> 32) as u32
    }

    /// Which of `count` segments has a position: segment r ends with cut r, and the first one goes around the end.
    ///
    /// # Safety
    /// There are so many cuts, and they are sorted.
    #[inline(always)]
    pub(super) unsafe fn segment(self, count: u32, position: u32) -> u32 {
        let (mut low, mut high) = (0, count);
        // SAFETY: below `count`.
        unsafe {
            while low < high {
                let middle = (low + high) / 2;
                if self.cut(middle) < position {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
        }
        if low == count { 0 } else { low }
    }

    /// Nodes of segment `r` of `count`.
    ///
    /// # Safety
    /// As [`Bench::segment`]; `r` is below `count`.
    #[inline(always)]
    pub(super) unsafe fn segment_size(self, count: u32, r: u32) -> u32 {
        // SAFETY: below `count`.
        unsafe {
            if r == 0 { self.cut(0) + self.n - self.cut(count - 1) } else { self.cut(r) - self.cut(r - 1) }
        }
    }
}

/// Sub-tours have three nodes or more.
const fn most_subtours(n: u32) -> u32 {
    n / 3 + 1
}
