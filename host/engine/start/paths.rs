//! Paths that are joined until they form a tour.

/// No node.
const NONE: u32 = u32::MAX;

/// Paths that cover all nodes; initially every node is a path.
pub(super) struct Paths {
    /// The neighbours of each node along its path.
    links: Vec<[u32; 2]>,
    /// The other end of the path, for each end; outdated inside a path.
    other_ends: Vec<u32>,
    count: usize,
}

impl Paths {
    /// Creates paths of one node each.
    pub(super) fn new(n: usize) -> Paths {
        Paths { links: vec![[NONE; 2]; n], other_ends: (0..n as u32).collect(), count: n }
    }

    /// Returns whether a node can have another edge.
    pub(super) fn is_end(&self, v: u32) -> bool {
        self.links[v as usize][1] == NONE
    }

    /// Returns whether two nodes are ends of different paths.
    pub(super) fn is_open(&self, a: u32, b: u32) -> bool {
        self.is_end(a) && self.is_end(b) && self.other_end(a) != b
    }

    /// Joins the ends of two paths. Each end knows the other end of its path, which is enough to detect cycles.
    pub(super) fn link(&mut self, a: u32, b: u32) {
        for (from, to) in [(a, b), (b, a)] {
            let links = &mut self.links[from as usize];
            links[usize::from(links[0] != NONE)] = to;
        }
        let (first, last) = (self.other_ends[a as usize], self.other_ends[b as usize]);
        self.other_ends[first as usize] = last;
        self.other_ends[last as usize] = first;
        self.count -= 1;
    }

    /// Returns the other end of the path that ends here; for a single-node path, the node itself.
    pub(super) fn other_end(&self, end: u32) -> u32 {
        self.other_ends[end as usize]
    }

    /// Returns the number of paths.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the nodes along the only path, starting at its end with the smaller number.
    pub(super) fn into_tour(self) -> Vec<u32> {
        let mut tour = Vec::with_capacity(self.links.len());
        let (mut before, mut node) = (NONE, (0..).find(|&v| self.is_end(v)).unwrap_or(0));
        while node != NONE {
            tour.push(node);
            let [a, b] = self.links[node as usize];
            (before, node) = (node, if a == before { b } else { a });
        }
        tour
    }
}
