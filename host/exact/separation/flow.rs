//! Minimum cuts between two nodes of a small graph.

/// Values that differ by less are equal.
const TINY: f64 = 1e-10;

/// An undirected graph with capacities.
pub(super) struct Network {
    /// For each node, the arcs that leave it.
    arcs_of: Vec<Vec<u32>>,
    /// Where each arc leads. Arc `2 i + 1` is the reverse of arc `2 i`.
    heads: Vec<u32>,
    capacities: Vec<f64>,
    /// What the flow leaves of the capacities.
    left: Vec<f64>,
}

impl Network {
    /// Makes a graph of `n` nodes with these edges `(a, b, capacity)`.
    pub fn new(n: usize, edges: &[(u32, u32, f64)]) -> Network {
        let mut network =
            Network { arcs_of: vec![Vec::new(); n], heads: vec![], capacities: vec![], left: vec![] };
        edges.iter().for_each(|&(a, b, capacity)| network.add_edge(a, b, capacity));
        network
    }

    /// Adds an edge, beside others between the same nodes.
    pub fn add_edge(&mut self, a: u32, b: u32, capacity: f64) {
        for (from, to) in [(a, b), (b, a)] {
            self.arcs_of[from as usize].push(self.heads.len() as u32);
            self.heads.push(to);
            self.capacities.push(capacity);
        }
    }

    /// Returns for each node whether it is on the side of `source` of a minimum cut between two different nodes; `None` if the cut has
    /// at least the value `limit`.
    ///
    /// Source: E. Dinic's algorithm of 1970, as in textbooks.
    pub fn min_cut(&mut self, source: u32, target: u32, limit: f64) -> Option<Vec<bool>> {
        self.left.clone_from(&self.capacities);
        let mut value = 0.0;
        loop {
            if value >= limit {
                return None;
            }
            let levels = self.levels(source, target);
            if levels[target as usize] == u32::MAX {
                return Some(levels.iter().map(|&level| level != u32::MAX).collect());
            }
            let mut next = vec![0; self.arcs_of.len()];
            loop {
                let pushed = self.push(source, target, f64::INFINITY, &levels, &mut next);
                if pushed <= TINY {
                    break;
                }
                value += pushed;
            }
        }
    }

    /// Returns the distance of each node from the source along arcs with capacity left; `u32::MAX` where there is no path, and for nodes
    /// that are found after the target.
    fn levels(&self, source: u32, target: u32) -> Vec<u32> {
        let mut levels = vec![u32::MAX; self.arcs_of.len()];
        levels[source as usize] = 0;
        let mut queue = vec![source];
        let mut at = 0;
        while at < queue.len() {
            let node = queue[at];
            at += 1;
            for &arc in &self.arcs_of[node as usize] {
                let head = self.heads[arc as usize];
                if self.left[arc as usize] > TINY && levels[head as usize] == u32::MAX {
                    levels[head as usize] = levels[node as usize] + 1;
                    if head == target {
                        return levels;
                    }
                    queue.push(head);
                }
            }
        }
        levels
    }

    /// Sends flow of at most `limit` along one path to the target. Returns how much.
    fn push(&mut self, node: u32, target: u32, limit: f64, levels: &[u32], next: &mut [usize]) -> f64 {
        if node == target {
            return limit;
        }
        while let Some(&arc) = self.arcs_of[node as usize].get(next[node as usize]) {
            let (head, left) = (self.heads[arc as usize], self.left[arc as usize]);
            if left > TINY && levels[head as usize] == levels[node as usize] + 1 {
                let pushed = self.push(head, target, limit.min(left), levels, next);
                if pushed > TINY {
                    self.left[arc as usize] -= pushed;
                    self.left[arc as usize ^ 1] += pushed;
                    return pushed;
                }
            }
            next[node as usize] += 1;
        }
        0.0
    }
}
