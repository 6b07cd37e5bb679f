//! The costs of directed edges, in both orders.

use std::borrow::Cow;

use antwarp_instance::{Instance, parallel};

/// The costs of all edges.
pub(super) struct Costs<'a> {
    n: usize,
    rows: Cow<'a, [i32]>,
    columns: Vec<i32>,
}

impl<'a> Costs<'a> {
    /// Copies the costs of an instance.
    pub fn new(instance: &'a Instance) -> Costs<'a> {
        let n = instance.len();
        let filled = |cost: &(dyn Fn(u32, u32) -> i32 + Sync)| {
            let mut costs = vec![0; n * n];
            parallel::each_part(&mut costs, n, &|i, row| {
                for (j, place) in (0..).zip(row) {
                    *place = cost(i as u32, j);
                }
            });
            costs
        };
        let rows = instance
            .matrix()
            .map_or_else(|| Cow::Owned(filled(&|i, j| instance.distance(i, j))), Cow::Borrowed);
        Costs { n, rows, columns: filled(&|i, j| instance.distance(j, i)) }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Returns all costs, from a node to all others row by row.
    pub fn rows(&self) -> &[i32] {
        &self.rows
    }

    /// Returns the costs of the edges that leave a node, by the nodes where they end.
    pub fn leaving(&self, node: usize) -> &[i32] {
        &self.rows[node * self.n..][..self.n]
    }

    /// Returns the costs of the edges that enter a node, by the nodes where they start.
    pub fn entering(&self, node: usize) -> &[i32] {
        &self.columns[node * self.n..][..self.n]
    }

    /// Returns the cost of an edge.
    pub fn of(&self, from: u32, to: u32) -> i32 {
        self.rows[from as usize * self.n + to as usize]
    }
}
