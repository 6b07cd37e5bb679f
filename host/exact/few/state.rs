//! A node of the tree of branch and bound.

/// A set of nodes, a bit for each.
pub type Set = u128;

/// Returns the nodes of a set, ascending.
pub fn nodes_of(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let node = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            node
        })
    })
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub struct State {
    /// For each node, those that an edge may join it with; symmetric.
    pub usable: Vec<Set>,
    /// For each node, those that a forced edge joins it with; symmetric.
    pub forced: Vec<Set>,
    /// The potentials of the best bound, in units.
    pub potentials: Vec<i64>,
    /// That bound, in units.
    pub bound: i64,
    /// Its number in the tree of the certificate.
    pub place: usize,
}

impl State {
    /// Excludes the edge between two nodes.
    pub fn exclude(&mut self, a: usize, b: usize) {
        self.usable[a] &= !(1 << b);
        self.usable[b] &= !(1 << a);
    }

    /// Forces the edge between two nodes.
    pub fn force(&mut self, a: usize, b: usize) {
        self.forced[a] |= 1 << b;
        self.forced[b] |= 1 << a;
    }
}
