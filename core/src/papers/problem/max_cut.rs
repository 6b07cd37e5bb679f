//! Maximum cut: divides the nodes of a weighted graph into two sides, so that edges between the sides weigh as much as possible.

use super::{Problem, Shape};
use crate::papers::neighborhood::{Flips, Neighborhood, Walk};
use crate::papers::search::Crew;
use crate::team::{Slots, Team};

/// An edge as seen from one of its nodes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct Edge {
    /// The node at its other end.
    pub to: u32,
    /// Its weight.
    pub weight: i32,
}

/// An instance: the cost is the weight of the cut, negated. A node's bit is its side.
///
/// Shape: `sizes` = nodes. Tables: for each node the number of its first edge, and the number of all, u32; 16-byte aligned, the
/// edges of each node, [`Edge`], at most one to any other node and none to itself. The absolute weights of a node's edges add up to
/// less than 2^30. Notes: by how much the cost grows if a node changes sides, i32.
#[derive(Clone, Copy, Debug)]
pub struct MaxCut {
    starts: *const u32,
    edges: *const Edge,
    moves: Flips<1>,
}

impl MaxCut {
    /// Returns by how much the cost grows for each node that changes sides, from a walk's notes.
    fn rises(&self, walk: &Walk<u8>) -> Slots<i32> {
        // SAFETY: the notes are as long as `notes` asks for, and aligned.
        unsafe { Slots::new(walk.notes.cast(), self.moves.n as usize) }
    }

    /// Returns the edges of a node, from one number to another.
    ///
    /// # Safety
    /// There is such a node.
    #[inline(always)]
    unsafe fn edges_of(&self, node: u32) -> (u32, u32) {
        // SAFETY: the caller's promise.
        unsafe { (*self.starts.add(node as usize), *self.starts.add(node as usize + 1)) }
    }
}

impl Problem for MaxCut {
    type Moves = Flips<1>;
    type Cost = i64;
    const NAME: &'static str = "max_cut";

    #[inline(always)]
    unsafe fn new(shape: &Shape, tables: *const u8) -> Self {
        let (n, starts) = (shape.sizes[0], tables.cast::<u32>());
        // SAFETY: the edges follow the starts.
        let edges = unsafe { starts.add((n + 1).next_multiple_of(4) as usize).cast() };
        MaxCut { starts, edges, moves: Flips { n } }
    }

    #[inline(always)]
    fn moves(&self) -> Flips<1> {
        self.moves
    }

    #[inline(always)]
    fn notes(&self) -> usize {
        4 * self.moves.n as usize
    }

    #[inline(always)]
    unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &Walk<u8>) -> i64 {
        let (team, mut cut) = (crew.team(), 0);
        // SAFETY: the caller's promise; a node belongs to one member.
        team.for_each(self.moves.n, |node| unsafe {
            let (side, (first, end)) = (walk.solution.get(node), self.edges_of(node));
            let mut rise = 0;
            for i in first..end {
                let edge = *self.edges.add(i as usize);
                if walk.solution.get(edge.to) == side {
                    rise -= edge.weight;
                } else {
                    rise += edge.weight;
                    cut += edge.weight as i64;
                }
            }
            self.rises(walk).set(node, rise);
        });
        // Both of its nodes count an edge.
        -(team.sum(cut as u64) as i64 / 2)
    }

    #[inline(always)]
    unsafe fn neighbor_cost(&self, walk: &Walk<u8>, cost: i64, step: [u32; 1]) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { cost + self.rises(walk).get(step[0]) as i64 }
    }

    #[inline(always)]
    unsafe fn make<C: Crew>(&self, crew: &mut C, walk: &Walk<u8>, step: [u32; 1]) {
        let (team, rises) = (crew.team(), self.rises(walk));
        // SAFETY: the caller's promise; the other end of each edge is another node, and one member's.
        unsafe {
            let (side, (first, end)) = (walk.solution.get(step[0]), self.edges_of(step[0]));
            team.for_each(end - first, |i| {
                let edge = *self.edges.add((first + i) as usize);
                let is_cut = walk.solution.get(edge.to) != side;
                rises.set(edge.to, rises.get(edge.to) + if is_cut { -2 } else { 2 } * edge.weight);
            });
            team.single(|| rises.set(step[0], -rises.get(step[0])));
            // All have read the node's side.
            team.barrier();
            self.moves.apply(team, walk, step)
        }
    }
}
