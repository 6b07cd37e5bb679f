//! A tour as an array: the node at every position, and the position of every node.

use crate::node::NodeId;
use crate::team::{Slots, Team};

/// A stretch of consecutive positions, which may wrap around the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Stretch {
    /// The first position.
    pub first: u32,
    /// Number of positions.
    pub length: u32,
}

impl Stretch {
    /// Returns the stretch to reverse, by the nodes' positions, to replace the edges (a, b) and (c, d) of a tour of `n` nodes by
    /// (a, c) and (b, d): the shorter one between the edges.
    #[inline(always)]
    pub const fn between(n: u32, [a, b, c, d]: [u32; 4]) -> Stretch {
        let forward = b == if a + 1 == n { 0 } else { a + 1 };
        // With two nodes left, both are right; the edges then coincide.
        let (first, last) = if forward { (b, c) } else { (a, d) };
        let length = if last >= first { last - first + 1 } else { last + n + 1 - first };
        if 2 * length <= n {
            Stretch { first, length }
        } else {
            Stretch { first: if last + 1 == n { 0 } else { last + 1 }, length: n - length }
        }
    }

    /// Returns position number `i` of the stretch, in a tour of `n` nodes.
    #[inline(always)]
    pub const fn at(self, n: u32, i: u32) -> u32 {
        let position = self.first + i;
        if position >= n { position - n } else { position }
    }

    /// Returns where the node at a position is after the stretch is reversed.
    #[inline(always)]
    pub const fn reversed(self, n: u32, position: u32) -> u32 {
        let offset = if position >= self.first { position - self.first } else { position + n - self.first };
        if offset >= self.length {
            return position;
        }
        self.at(n, self.length - 1 - offset)
    }
}

/// See the [module](self). Between exchanges the two arrays are each other's inverse.
///
/// ```
/// use antwarp_core::papers::local_search::ArrayTour;
/// use antwarp_core::team::{Serial, Slots};
///
/// let (mut order, mut position) = ([0u32, 1, 2, 3, 4], [0u32; 5]);
/// // SAFETY: the nodes are a permutation, both edges have the same direction, and nobody else uses the arrays.
/// unsafe {
///     let tour = ArrayTour::new(5, Slots::of(&mut order), Slots::of(&mut position));
///     tour.place_all(Serial);
///     // The edges (0, 1) and (2, 3) are replaced by (0, 2) and (1, 3).
///     tour.exchange(Serial, [0, 1, 2, 3]);
///     assert_eq!((tour.next(0), tour.next(1)), (2, 3));
/// }
/// ```
pub struct ArrayTour<I> {
    n: u32,
    order: Slots<I>,
    position: Slots<I>,
}

impl<I> Clone for ArrayTour<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for ArrayTour<I> {}

impl<I: NodeId> ArrayTour<I> {
    /// Makes a view of both arrays, of `n` elements each.
    ///
    /// # Safety
    /// They are valid for as long as the view is used; `order` holds a permutation of 0 .. n and `position` its
    /// inverse, unless [`ArrayTour::place_all`] comes first.
    #[inline(always)]
    pub unsafe fn new(n: u32, order: Slots<I>, position: Slots<I>) -> Self {
        ArrayTour { n, order, position }
    }

    /// Makes `position` the inverse of `order`, and waits for it. Every member calls this.
    ///
    /// # Safety
    /// `order` holds a permutation that every member may read.
    #[inline(always)]
    pub unsafe fn place_all<T: Team>(self, team: T) {
        // SAFETY: positions below n; every node is written by one member.
        team.for_each(self.n, |p| unsafe { self.position.set(self.order.get(p).get(), I::new(p)) });
        team.barrier();
    }

    /// Returns the number of nodes.
    #[inline(always)]
    pub fn n(self) -> u32 {
        self.n
    }

    /// Copies another tour's data at position `i` and of node `i`: done for every i below n, this copies the tour.
    ///
    /// # Safety
    /// `i < n`, of both tours; nobody else reads or writes there.
    #[inline(always)]
    pub unsafe fn take(self, other: ArrayTour<I>, i: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            self.order.set(i, other.order.get(i));
            self.position.set(i, other.position.get(i));
        }
    }

    /// Returns the node at a position.
    ///
    /// # Safety
    /// `position < n`, and no exchange is in progress.
    #[inline(always)]
    pub unsafe fn at(self, position: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.order.get(position).get() }
    }

    /// Returns the position of a node.
    ///
    /// # Safety
    /// `node < n`, and no exchange is in progress.
    #[inline(always)]
    pub unsafe fn position(self, node: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.position.get(node).get() }
    }

    /// Returns the node after another.
    ///
    /// # Safety
    /// As [`ArrayTour::position`].
    #[inline(always)]
    pub unsafe fn next(self, node: u32) -> u32 {
        // SAFETY: positions wrap around below n.
        unsafe { self.after(self.position(node)) }
    }

    /// Returns the node before another.
    ///
    /// # Safety
    /// As [`ArrayTour::position`].
    #[inline(always)]
    pub unsafe fn previous(self, node: u32) -> u32 {
        // SAFETY: positions wrap around below n.
        unsafe { self.before(self.position(node)) }
    }

    /// Returns the node after a position.
    ///
    /// # Safety
    /// As [`ArrayTour::at`].
    #[inline(always)]
    pub unsafe fn after(self, position: u32) -> u32 {
        // SAFETY: below n.
        unsafe { self.at(if position + 1 == self.n { 0 } else { position + 1 }) }
    }

    /// Returns the node before a position.
    ///
    /// # Safety
    /// As [`ArrayTour::at`].
    #[inline(always)]
    pub unsafe fn before(self, position: u32) -> u32 {
        // SAFETY: below n.
        unsafe { self.at(if position == 0 { self.n - 1 } else { position - 1 }) }
    }

    /// Returns whether the edges (a, b) and (c, d) are in the tour and have the same direction, as an exchange requires.
    ///
    /// # Safety
    /// All four are nodes, and no exchange is in progress.
    #[inline(always)]
    pub unsafe fn can_exchange(self, [a, b, c, d]: [u32; 4]) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let (a, c) = (self.position(a), self.position(c));
            (self.after(a) == b && self.after(c) == d) || (self.before(a) == b && self.before(c) == d)
        }
    }

    /// Replaces the edges (a, b) and (c, d) by (a, c) and (b, d), by reversing the shorter stretch between them. Every member calls
    /// this with the same nodes; the tour is complete again when any of them returns.
    ///
    /// # Safety
    /// [`ArrayTour::can_exchange`] holds.
    #[inline(always)]
    pub unsafe fn exchange<T: Team>(self, team: T, [a, b, c, d]: [u32; 4]) {
        // SAFETY: positions of nodes; each pair of elements is swapped by one member, and barriers separate the positions read here
        // from those written.
        unsafe {
            let at = [self.position(a), self.position(b), self.position(c), self.position(d)];
            let stretch = Stretch::between(self.n, at);
            team.barrier();
            team.for_each(stretch.length / 2, |i| self.swap(stretch, i));
            team.barrier();
        }
    }

    /// Swaps two segments of the tour, of `a` nodes from position `first` on and of the `b` nodes after them: no part of the tour
    /// is reversed. Of the three segments of a cycle, it does not matter which two are swapped: the longest stays where it is.
    /// Every member calls this with the same numbers; the tour is complete again when any of them returns.
    ///
    /// # Safety
    /// `first < n`, and `a + b < n`; nobody reads or writes the tour meanwhile.
    #[inline(always)]
    pub unsafe fn interchange<T: Team>(self, team: T, first: u32, (a, b): (u32, u32)) {
        let (n, c) = (self.n, self.n - a - b);
        let (first, a, b) = if a >= b && a >= c {
            (first + a, b, c)
        } else if b >= c {
            (first + a + b, c, a)
        } else {
            (first, a, b)
        };
        let at = |position: u32| if position >= n { position - n } else { position };
        let first = at(first);
        let (low, high) = (Stretch { first, length: a }, Stretch { first: at(first + a), length: b });
        let whole = Stretch { first, length: a + b };
        // SAFETY: stretches of this tour; each pair of elements is swapped by one member, and barriers separate swaps that meet.
        unsafe {
            team.barrier();
            team.for_each(a / 2 + b / 2, |i| {
                if i < a / 2 { self.swap(low, i) } else { self.swap(high, i - a / 2) }
            });
            team.barrier();
            team.for_each((a + b) / 2, |i| self.swap(whole, i));
            team.barrier();
        }
    }

    /// Swaps the nodes at both ends of a stretch, `i` nodes inside. All swaps, for i below half of its length, together reverse it.
    ///
    /// # Safety
    /// The stretch is of this tour, `i` is below half its length, and nobody else reads or writes there.
    #[inline(always)]
    pub unsafe fn swap(self, stretch: Stretch, i: u32) {
        // SAFETY: positions wrapped around below n.
        unsafe {
            let (x, y) = (stretch.at(self.n, i), stretch.at(self.n, stretch.length - 1 - i));
            let (u, v) = (self.order.get(x), self.order.get(y));
            self.order.set(x, v);
            self.order.set(y, u);
            self.position.set(v.get(), I::new(x));
            self.position.set(u.get(), I::new(y));
        }
    }
}
