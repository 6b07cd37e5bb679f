//! A tour of the population as it is read.

/// A tour of n nodes that nobody changes meanwhile: the node at every position, and the position of every node.
#[derive(Clone, Copy)]
pub struct Gene {
    n: u32,
    order: *const u32,
    position: *const u32,
}

impl Gene {
    /// A view of the two arrays.
    ///
    /// # Safety
    /// Both have `n` elements, at least 5, and are each other's inverse; nobody writes them while the view is used.
    #[inline(always)]
    pub unsafe fn new(n: u32, order: *const u32, position: *const u32) -> Gene {
        Gene { n, order, position }
    }

    /// Number of nodes.
    #[inline(always)]
    pub fn n(self) -> u32 {
        self.n
    }

    /// The node at position `p`.
    ///
    /// # Safety
    /// `p` is below n.
    #[inline(always)]
    pub unsafe fn at(self, p: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { *self.order.add(p as usize) }
    }

    /// Where node `v` is.
    ///
    /// # Safety
    /// `v` is below n.
    #[inline(always)]
    pub unsafe fn position(self, v: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { *self.position.add(v as usize) }
    }

    /// The nodes before and after position `p`.
    ///
    /// # Safety
    /// `p` is below n.
    #[inline(always)]
    pub unsafe fn beside(self, p: u32) -> [u32; 2] {
        // SAFETY: below n.
        unsafe { [self.at(self.before(p)), self.at(self.after(p))] }
    }

    /// The neighbours of node `v`: before and after it.
    ///
    /// # Safety
    /// `v` is below n.
    #[inline(always)]
    pub unsafe fn links(self, v: u32) -> [u32; 2] {
        // SAFETY: a position is below n.
        unsafe { self.beside(self.position(v)) }
    }

    /// The position before `p`.
    #[inline(always)]
    pub fn before(self, p: u32) -> u32 {
        if p == 0 { self.n - 1 } else { p - 1 }
    }

    /// The position after `p`.
    #[inline(always)]
    pub fn after(self, p: u32) -> u32 {
        if p + 1 == self.n { 0 } else { p + 1 }
    }
}
