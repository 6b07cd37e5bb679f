//! Paths that are joined until they form a tour.

use std::ops::Range;

use antwarp_instance::parallel;

/// No node.
const NONE: u32 = u32::MAX;
/// Minimum number of nodes of a path along which several threads walk.
const MANY: usize = 1 << 18;
/// One node in this many is a stop of such a walk.
const STOPS: u32 = 1 << 12;

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

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    /// Returns the number of paths.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the nodes along the only path, starting at its end with the smaller number.
    pub(super) fn into_tour(self) -> Vec<u32> {
        let start = parallel::first(self.links.len(), &|v| self.is_end(v as u32)).unwrap_or(0) as u32;
        if self.links.len() >= MANY {
            return self.along(start);
        }
        let mut tour = Vec::with_capacity(self.links.len());
        self.walk(NONE, start, |node| {
            tour.push(node);
            true
        });
        tour
    }

    /// Calls `visit` with each node from this one on, away from the one `before` it, until it returns false or the path ends. Returns
    /// the last two nodes visited.
    fn walk(&self, before: u32, node: u32, mut visit: impl FnMut(u32) -> bool) -> (u32, u32) {
        let (mut before, mut node) = (before, node);
        loop {
            let [a, b] = self.links[node as usize];
            let next = if a == before { b } else { a };
            if !visit(node) || next == NONE {
                return (before, node);
            }
            (before, node) = (node, next);
        }
    }

    /// Does the same as [`Paths::into_tour`] with several threads: each walks from one of many stops to the next ones.
    fn along(&self, start: u32) -> Vec<u32> {
        let is_stop = |node: u32| node.is_multiple_of(STOPS) || node == start;
        let mut stops: Vec<u32> = (0..self.links.len() as u32).step_by(STOPS as usize).collect();
        stops.push(start);
        // For both neighbours of a stop: the number of nodes up to the next stop or the end, and the last two of these.
        let hops: Vec<[(usize, (u32, u32)); 2]> = parallel::collect(stops.len(), &|index| {
            self.links[stops[index] as usize].map(|first| {
                let mut count = 0;
                if first == NONE {
                    return (0, (NONE, stops[index]));
                }
                let last = self.walk(stops[index], first, |node| {
                    count += 1;
                    !is_stop(node)
                });
                (count, last)
            })
        });
        let index = |node: u32| if node == start { stops.len() - 1 } else { (node / STOPS) as usize };
        let (mut before, mut node, mut end) = (NONE, start, 1);
        let (mut firsts, mut ends) = (vec![(NONE, start)], vec![1]);
        while is_stop(node) {
            let links = self.links[node as usize];
            let side = usize::from(links[0] == before);
            let (count, last) = hops[index(node)][side];
            if count == 0 {
                break;
            }
            end += count;
            firsts.push((node, links[side]));
            ends.push(end);
            (before, node) = last;
        }
        let mut tour = vec![0; end];
        parallel::each_of(&mut parallel::split(&mut tour, ends), 1, &|index, part| {
            let ((before, first), mut at) = (firsts[index], 0);
            self.walk(before, first, |node| {
                part[at] = node;
                at += 1;
                at < part.len()
            });
        });
        tour
    }

    /// Splits the paths into those of blocks of nodes that end before these nodes, ascending.
    pub(super) fn blocks(&mut self, ends: &[u32]) -> Vec<Block<'_>> {
        let all = || ends.iter().map(|&end| end as usize);
        let links = parallel::split(&mut self.links, all());
        let other_ends = parallel::split(&mut self.other_ends, all());
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let nodes = starts.zip(ends).map(|(start, &end)| start..end);
        let parts = nodes.zip(links).zip(other_ends);
        parts.map(|((nodes, links), other_ends)| Block { nodes, links, other_ends, joined: 0 }).collect()
    }

    /// Counts the paths that were joined in blocks.
    pub(super) fn count_joined(&mut self, joined: usize) {
        self.count -= joined;
    }
}

/// The nodes of a block with what paths know of them.
pub(super) struct Block<'p> {
    nodes: Range<u32>,
    links: &'p mut [[u32; 2]],
    other_ends: &'p mut [u32],
    joined: usize,
}

impl Block<'_> {
    /// Returns the nodes of the block.
    pub(super) fn nodes(&self) -> Range<u32> {
        self.nodes.clone()
    }

    /// Returns the number of edges that were added.
    pub(super) fn joined(&self) -> usize {
        self.joined
    }

    /// Returns whether a node belongs to the block.
    pub(super) fn has(&self, v: u32) -> bool {
        self.nodes.contains(&v)
    }

    /// Returns the index of a node in the block.
    pub(super) fn index(&self, v: u32) -> usize {
        (v - self.nodes.start) as usize
    }

    /// As [`Paths::is_end`], for a node of the block.
    pub(super) fn is_end(&self, v: u32) -> bool {
        self.links[self.index(v)][1] == NONE
    }

    /// As [`Paths::other_end`], for a node of the block; the other end may not be in the block.
    pub(super) fn other_end(&self, end: u32) -> u32 {
        self.other_ends[self.index(end)]
    }

    /// As [`Paths::is_open`], for nodes of the block.
    pub(super) fn is_open(&self, a: u32, b: u32) -> bool {
        self.is_end(a) && self.is_end(b) && self.other_end(a) != b
    }

    /// As [`Paths::link`], for paths that end in the block.
    pub(super) fn link(&mut self, a: u32, b: u32) {
        for (from, to) in [(a, b), (b, a)] {
            let at = self.index(from);
            let links = &mut self.links[at];
            links[usize::from(links[0] != NONE)] = to;
        }
        let (first, last) = (self.other_end(a), self.other_end(b));
        let (at_first, at_last) = (self.index(first), self.index(last));
        self.other_ends[at_first] = last;
        self.other_ends[at_last] = first;
        self.joined += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Paths {
        /// Returns the neighbours of each node, the smaller one first.
        pub(in crate::start) fn edges(&self) -> Vec<[u32; 2]> {
            self.links.iter().map(|&[a, b]| [a.min(b), a.max(b)]).collect()
        }
    }

    #[test]
    fn several_threads_walk_along_a_path_like_one() {
        let n = MANY as u32 + 77;
        for step in [1, 7919, 65_537] {
            let order: Vec<u32> = (0..n).map(|i| (u64::from(i) * step % u64::from(n)) as u32).collect();
            let mut paths = Paths::new(n as usize);
            order.windows(2).for_each(|pair| paths.link(pair[0], pair[1]));
            let is_reversed = order[0] > order[n as usize - 1];
            let mut tour = paths.into_tour();
            if is_reversed {
                tour.reverse();
            }
            assert!(tour == order, "{step}");
        }
    }
}
