//! A tour as an array: the node at every position, and the position of every node.

use crate::node::NodeId;
use crate::team::{Slots, Team};

/// See the [module](self). Between exchanges the two arrays are each other's inverse.
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
    /// A view of both arrays, of `n` elements each.
    ///
    /// # Safety
    /// They are valid for as long as the view is used; `order` holds a permutation of 0 .. n and `position` its
    /// inverse, unless [`ArrayTour::place_all`] comes first.
    #[inline(always)]
    pub unsafe fn new(n: u32, order: Slots<I>, position: Slots<I>) -> Self {
        ArrayTour { n, order, position }
    }

    /// Makes `position` the inverse of `order`, and waits for it.
    ///
    /// # Safety
    /// `order` holds a permutation that every member may read.
    #[inline(always)]
    pub unsafe fn place_all<T: Team>(self, team: T) {
        // SAFETY: positions below n; every node is written by one member.
        team.for_each(self.n, |p| unsafe { self.position.set(self.order.get(p).get(), I::new(p)) });
        team.barrier();
    }

    /// Number of nodes.
    #[inline(always)]
    pub fn n(self) -> u32 {
        self.n
    }

    /// The node at a position.
    ///
    /// # Safety
    /// `position < n`, and no exchange is under way.
    #[inline(always)]
    pub unsafe fn at(self, position: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.order.get(position).get() }
    }

    /// The position of a node.
    ///
    /// # Safety
    /// `node < n`, and no exchange is under way.
    #[inline(always)]
    pub unsafe fn position(self, node: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.position.get(node).get() }
    }

    /// The node after another.
    ///
    /// # Safety
    /// As [`ArrayTour::position`].
    #[inline(always)]
    pub unsafe fn next(self, node: u32) -> u32 {
        // SAFETY: positions wrap around below n.
        unsafe { self.after(self.position(node)) }
    }

    /// The node before another.
    ///
    /// # Safety
    /// As [`ArrayTour::position`].
    #[inline(always)]
    pub unsafe fn previous(self, node: u32) -> u32 {
        // SAFETY: positions wrap around below n.
        unsafe { self.before(self.position(node)) }
    }

    /// The node behind a position.
    ///
    /// # Safety
    /// As [`ArrayTour::at`].
    #[inline(always)]
    pub unsafe fn after(self, position: u32) -> u32 {
        // SAFETY: below n.
        unsafe { self.at(if position + 1 == self.n { 0 } else { position + 1 }) }
    }

    /// The node in front of a position.
    ///
    /// # Safety
    /// As [`ArrayTour::at`].
    #[inline(always)]
    pub unsafe fn before(self, position: u32) -> u32 {
        // SAFETY: below n.
        unsafe { self.at(if position == 0 { self.n - 1 } else { position - 1 }) }
    }

    /// Whether the edges (a, b) and (c, d) are in the tour and run the same way, as an exchange asks for.
    ///
    /// # Safety
    /// All four are nodes, and no exchange is under way.
    #[inline(always)]
    pub unsafe fn can_exchange(self, [a, b, c, d]: [u32; 4]) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let (a, c) = (self.position(a), self.position(c));
            (self.after(a) == b && self.after(c) == d) || (self.before(a) == b && self.before(c) == d)
        }
    }

    /// Replaces the edges (a, b) and (c, d) by (a, c) and (b, d), by reversing the shorter way between them. Every
    /// member comes here with the same nodes; the tour is whole again when any of them returns.
    ///
    /// # Safety
    /// [`ArrayTour::can_exchange`] holds.
    #[inline(always)]
    pub unsafe fn exchange<T: Team>(self, team: T, [a, b, c, d]: [u32; 4]) {
        // SAFETY: positions of nodes, wrapped around below n; each pair of elements is swapped by one member, and
        // barriers stand between the positions read here and those written.
        unsafe {
            let n = self.n;
            let (at_a, at_b, at_c, at_d) =
                (self.position(a), self.position(b), self.position(c), self.position(d));
            let forward = at_b == if at_a + 1 == n { 0 } else { at_a + 1 };
            // With two nodes left both ways are right; the edges then coincide.
            let (first, last) = if forward { (at_b, at_c) } else { (at_a, at_d) };
            let length = if last >= first { last - first + 1 } else { last + n + 1 - first };
            let (first, last, length) = if 2 * length <= n {
                (first, last, length)
            } else {
                let (first, last) =
                    (if last + 1 == n { 0 } else { last + 1 }, if first == 0 { n - 1 } else { first - 1 });
                (first, last, n - length)
            };
            team.barrier();
            team.for_each(length / 2, |i| {
                let (x, y) = (first + i, last + n - i);
                let (x, y) = (if x >= n { x - n } else { x }, if y >= n { y - n } else { y });
                let (u, v) = (self.order.get(x), self.order.get(y));
                self.order.set(x, v);
                self.order.set(y, u);
                self.position.set(v.get(), I::new(x));
                self.position.set(u.get(), I::new(y));
            });
            team.barrier();
        }
    }
}
