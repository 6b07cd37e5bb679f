//! Disjoint groups of nodes.

/// A division of nodes `0..n` into groups, which can be joined.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    parent: Vec<u32>,
}

impl Partition {
    /// Starts with every node in a group of its own.
    pub fn new(n: usize) -> Partition {
        Partition { parent: (0..n as u32).collect() }
    }

    /// Returns the node that represents the group of this node: the lowest.
    pub fn find(&mut self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            let above = self.parent[self.parent[node as usize] as usize];
            self.parent[node as usize] = above;
            node = above;
        }
        node
    }

    /// Joins the groups of two nodes. Returns whether they were different.
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        // The lower node represents the group, so the result does not depend on the order of calls.
        self.parent[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// Joins the groups of these nodes.
    pub fn join_all(&mut self, nodes: &[u32]) {
        nodes.iter().for_each(|&node| {
            self.join(nodes[0], node);
        });
    }

    /// Returns the groups in the order of their lowest nodes, each sorted.
    pub fn groups(&mut self) -> Vec<Vec<u32>> {
        let n = self.parent.len();
        let mut number = vec![0; n];
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for node in 0..n as u32 {
            let first = self.find(node);
            if first == node {
                number[node as usize] = groups.len();
                groups.push(Vec::new());
            }
            groups[number[first as usize]].push(node);
        }
        groups
    }
}
