//! Phase 1: the edges in which two parents differ, divided into AB-cycles (section 3.1 of the paper).

use antwarp_core::rng::Stream;

use super::super::allocate;
use super::tour::{NONE, Tour};
use antwarp_engine::BackendError;

/// The AB-cycles of two parents, concatenated. A cycle's first edge belongs to A, the next one to B, and so on; the last one, from
/// its last node to its first, belongs to B.
pub struct Cycles {
    nodes: Vec<u32>,
    /// The start of each cycle, and the end of the last one.
    starts: Vec<usize>,
    /// The path of the walk.
    path: Vec<u32>,
    /// For each node, its crossing, if it is in `live`.
    at: Vec<Crossing>,
    /// Nodes with edges that are in no cycle yet, and some that have none left.
    live: Vec<u32>,
}

/// A node of the walk: each field has entries for edges of A and of B.
#[derive(Clone, Copy, Default)]
struct Crossing {
    /// The nodes that edges in no cycle yet lead to, or [`NONE`].
    left: [[u32; 2]; 2],
    /// The position on the path where the node comes before an edge of this kind, or [`NONE`]; after [`Cycles::note_cycles`] the
    /// cycles that the node is in.
    seen: [u32; 2],
}

impl Cycles {
    /// Allocates memory for dividing the edges of two tours of `n` nodes.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(n: u32) -> Result<Cycles, BackendError> {
        Ok(Cycles {
            nodes: Vec::new(),
            starts: vec![0],
            path: Vec::new(),
            at: allocate("the crossover", n as usize)?,
            live: Vec::new(),
        })
    }

    /// Returns the number of cycles.
    pub fn count(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// Returns the nodes of cycle `i`, from 0: an even number, at least 4. The first two are an edge of A.
    #[inline]
    pub fn get(&self, i: u32) -> &[u32] {
        let i = i as usize;
        &self.nodes[self.starts[i]..self.starts[i + 1]]
    }

    /// Returns whether a tour has all A-edges of a cycle, and none of its B-edges.
    pub fn fits(&self, i: u32, tour: &Tour) -> bool {
        let cycle = self.get(i);
        let mut before = cycle[cycle.len() - 1];
        cycle.chunks_exact(2).all(|edge| {
            let (u, v) = (edge[0], edge[1]);
            let links = tour.links(u);
            links.contains(&v) && !links.contains(&std::mem::replace(&mut before, v))
        })
    }

    /// Records which cycles each node is in, until edges are divided again.
    pub fn note_cycles(&mut self) {
        self.nodes.iter().for_each(|&v| self.at[v as usize].seen = [NONE; 2]);
        for i in 0..self.count() {
            for j in self.starts[i as usize]..self.starts[i as usize + 1] {
                let [first, second] = &mut self.at[self.nodes[j] as usize].seen;
                *(if *first == NONE { first } else { second }) = i;
            }
        }
    }

    /// Adds to a set of one cycle all smaller ones that share a node with it, and sorts it. Cycles must have been
    /// [noted](Cycles::note_cycles).
    pub fn add_smaller(&self, set: &mut Vec<u32>) {
        let center = self.get(set[0]);
        let cycles = center.iter().flat_map(|&v| self.at[v as usize].seen);
        set.extend(cycles.filter(|&i| i != NONE && self.get(i).len() < center.len()));
        set.sort_unstable();
        set.dedup();
    }

    /// Randomly divides the edges that are in only one parent into AB-cycles. The parents are tours of the same nodes.
    ///
    /// A walk uses edges of A and of B alternately, each once. When it reaches a node that it has already left by an edge of the
    /// kind that comes next, the path in between is a cycle, and the walk goes on without it. A node has as many edges of A left as
    /// of B, except at the walk's ends, so there is always an edge of the kind that comes next.
    pub fn decompose(&mut self, a: &Tour, b: &Tour, stream: Stream) {
        self.prepare(a, b);
        let mut bits = Bits { stream, step: 0, word: 0, left: 0 };
        while !self.live.is_empty() {
            let i = bits.below(self.live.len() as u32) as usize;
            let v = self.live[i];
            if self.at[v as usize].left[0] == [NONE; 2] {
                self.live.swap_remove(i);
                continue;
            }
            self.walk(v, &mut bits);
        }
    }

    /// Lists the nodes with edges that are in only one parent, and those edges.
    fn prepare(&mut self, a: &Tour, b: &Tour) {
        self.nodes.clear();
        self.starts.truncate(1);
        self.live.clear();
        for (p, &v) in (0..).zip(a.order()) {
            let (of_a, of_b) = (a.beside(p), b.links(v));
            if of_a != of_b && of_a != [of_b[1], of_b[0]] {
                let left = [without(of_a, of_b), without(of_b, of_a)];
                self.at[v as usize] = Crossing { left, seen: [NONE; 2] };
                self.live.push(v);
            }
        }
    }

    /// Walks from a node until it returns there with nothing left on the path.
    fn walk(&mut self, start: u32, bits: &mut Bits) {
        let mut v = start;
        self.path.clear();
        self.path.push(v);
        self.at[v as usize].seen[0] = 0;
        loop {
            v = self.step(v, (self.path.len() - 1) % 2, bits);
            let length = self.path.len();
            self.path.push(v);
            let seen = &mut self.at[v as usize].seen[length % 2];
            if *seen == NONE {
                *seen = length as u32;
                continue;
            }
            // The path's node at `before` is this one again: start after it if its next edge is one of B.
            let before = *seen as usize;
            let odd = before % 2;
            self.nodes.extend_from_slice(&self.path[before + odd..length + odd]);
            self.starts.push(self.nodes.len());
            for p in before + 1..length {
                self.at[self.path[p] as usize].seen[p % 2] = NONE;
            }
            self.path.truncate(before + 1);
            if before == 0 {
                self.at[v as usize].seen[0] = NONE;
                return;
            }
        }
    }

    /// Removes an edge of a kind from `v`, at random where there are two; returns the node that it leads to.
    #[inline]
    fn step(&mut self, v: u32, kind: usize, bits: &mut Bits) -> u32 {
        let edges = &mut self.at[v as usize].left[kind];
        let take = match edges {
            [NONE, _] => 1,
            [_, NONE] => 0,
            _ => bits.bit() as usize,
        };
        let to = std::mem::replace(&mut edges[take], NONE);
        let [first, second] = &mut self.at[to as usize].left[kind];
        *(if *first == v { first } else { second }) = NONE;
        to
    }
}

/// Returns the two neighbours that are not among `others`, with [`NONE`] in place of those that are.
#[inline]
fn without([first, second]: [u32; 2], others: [u32; 2]) -> [u32; 2] {
    let keep = |v: u32| if others.contains(&v) { NONE } else { v };
    [keep(first), keep(second)]
}

/// Random bits, one after the other.
struct Bits {
    stream: Stream,
    step: u32,
    word: u32,
    left: u32,
}

impl Bits {
    #[inline]
    fn below(&mut self, n: u32) -> u32 {
        self.step += 1;
        self.stream.step(self.step).below(0, n)
    }

    #[inline]
    fn bit(&mut self) -> u32 {
        if self.left == 0 {
            self.step += 1;
            (self.word, self.left) = (self.stream.step(self.step).bits(0), 32);
        }
        let bit = self.word & 1;
        (self.word, self.left) = (self.word >> 1, self.left - 1);
        bit
    }
}
