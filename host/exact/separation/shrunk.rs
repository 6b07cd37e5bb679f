//! Graphs in which groups of nodes have become one node each.

use crate::Support;

use super::partition::Partition;

/// A support graph in which groups of nodes of the original graph have become one node each.
#[derive(Clone, Debug)]
pub(super) struct Shrunk {
    /// The graph. The value of an edge is the sum of those between the two groups.
    pub graph: Support,
    /// The original nodes of each node.
    members: Vec<Vec<u32>>,
}

impl Shrunk {
    /// Shrinks every group to one node, in the order of [`Partition::groups`].
    pub fn new(support: &Support, partition: &mut Partition) -> Shrunk {
        let members = partition.groups();
        Shrunk { graph: shrink(support, &members), members }
    }

    /// Returns the graph itself, with groups of one node.
    pub fn identity(support: &Support) -> Shrunk {
        let members = (0..support.len() as u32).map(|node| vec![node]).collect();
        Shrunk { graph: support.clone(), members }
    }

    /// Shrinks groups of this graph's nodes further.
    pub fn shrink(&self, partition: &mut Partition) -> Shrunk {
        let groups = partition.groups();
        let members = groups.iter().map(|group| self.expand(group)).collect();
        Shrunk { graph: shrink(&self.graph, &groups), members }
    }

    /// Returns the original nodes of these nodes, sorted.
    pub fn expand(&self, nodes: &[u32]) -> Vec<u32> {
        let mut all: Vec<u32> =
            nodes.iter().flat_map(|&node| self.members[node as usize].iter().copied()).collect();
        all.sort_unstable();
        all
    }
}

fn shrink(support: &Support, groups: &[Vec<u32>]) -> Support {
    let mut group_of = vec![0; support.len()];
    for (group, nodes) in (0..).zip(groups) {
        nodes.iter().for_each(|&node| group_of[node as usize] = group);
    }
    let ends = |(a, b, x): (u32, u32, f64)| {
        let (a, b): (u32, u32) = (group_of[a as usize], group_of[b as usize]);
        (a.min(b), a.max(b), x)
    };
    let mut edges: Vec<(u32, u32, f64)> = support.edges().map(ends).filter(|edge| edge.0 != edge.1).collect();
    // A stable sort: the order in which values are added is always the same.
    edges.sort_by_key(|&(a, b, _)| (a, b));
    edges.dedup_by(|next, edge| {
        let is_same = (next.0, next.1) == (edge.0, edge.1);
        if is_same {
            edge.2 += next.2;
        }
        is_same
    });
    Support::new(groups.len(), edges.iter().copied())
}
