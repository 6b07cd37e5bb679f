//! The dual values of a linear program that prove the bound of a 1-tree.
//!
//! Kruskal's algorithm merges sets of nodes in the order of weights. For a set S that comes into being at weight w and is merged at
//! weight W, every tour satisfies `x(edges inside S) <= |S| - 1`, and the dual value of this is W - w: then no edge inside S is lighter
//! than the last merge that it closes a cycle with (Edmonds 1971 proves by these values that a tree is minimum). With two edges at
//! each node it is half the inequality `x(border of S) >= 2`:
//!
//! - the cut has the dual value (W - w) / 2, and each node of S loses the same;
//! - the set of all nodes but the special one, made at weight w, adds w / 2 to each of its nodes, and takes w / 2 from the special one;
//! - the special node has the weight of its second edge in addition.
//!
//! The values prove the bound of the 1-tree exactly. Forced edges are merged first; their weight counts, whatever it is. Three things
//! are not known to the linear program, so high and low potentials tell it: at a node with two forced edges all others are heavy; at a
//! node that has less than two edges left these are light; and excluded edges are merged last, at a weight that no bound has.

use std::collections::HashMap;

use super::one_tree::Graph;
use super::state::{Set, State, nodes_of};
use crate::{Cut, Duals};

/// The cuts of a certificate, each once.
#[derive(Debug, Default)]
pub struct Cuts {
    numbers: HashMap<Set, usize>,
    list: Vec<Set>,
}

impl Cuts {
    fn number(&mut self, set: Set) -> usize {
        *self.numbers.entry(set).or_insert_with(|| {
            self.list.push(set);
            self.list.len() - 1
        })
    }

    /// Returns the cuts and their right sides.
    pub fn into_list(self) -> Vec<(Cut, i64)> {
        let cut = |set| (Cut::subtour(nodes_of(set).map(|node| node as u32).collect()), 2);
        self.list.into_iter().map(cut).collect()
    }
}

/// An edge between two nodes, neither of them special, by which sets are merged.
struct Merge {
    is_free: bool,
    weight: i64,
    a: usize,
    b: usize,
}

/// Returns dual values that prove a state's bound by its potentials, or a higher one if it has no tour. `much` is above all bounds that
/// matter.
pub fn of(graph: &Graph, state: &State, much: i64, cuts: &mut Cuts) -> Duals {
    let (n, special) = (graph.n, graph.special());
    // Potentials are at most half of `much`, so weights differ by at most three times as much: an edge that is excluded stays heavier
    // than all others even if both its ends are light.
    let (light, heavy, last) = (2 * much, 8 * much, 8 * much);
    let mut potentials = state.potentials.clone();
    let is_full = |node: usize| state.forced[node].count_ones() >= 2;
    let full = (0..n).filter(|&node| is_full(node)).fold(0, |set: Set, node| set | 1 << node);
    for (node, potential) in potentials.iter_mut().enumerate() {
        if is_full(node) {
            *potential -= heavy;
        } else if (state.usable[node] & !full | state.forced[node]).count_ones() < 2 {
            *potential += light;
        }
    }
    let is_free = |a: usize, b: usize| state.forced[a] >> b & 1 == 0;
    let weight = |a: usize, b: usize| {
        let is_excluded = is_free(a, b) && state.usable[a] >> b & 1 == 0;
        graph.weight(a, b, &potentials) + if is_excluded { last } else { 0 }
    };
    let mut nodes = potentials.clone();
    let mut found = Vec::new();
    let pairs = (0..special).flat_map(|a| (0..a).map(move |b| (a, b)));
    let merge = |(a, b)| Merge { is_free: is_free(a, b), weight: weight(a, b), a, b };
    let mut merges: Vec<Merge> = pairs.map(merge).collect();
    merges.sort_by_key(|merge| (merge.is_free, merge.weight));
    // Forced edges count as light as the lightest free one, so that no free edge is lighter than a merge.
    let lowest = merges.iter().find(|merge| merge.is_free).map_or(0, |merge| merge.weight);
    // The set of each node, and the weight at which it came into being.
    let mut sets: Vec<(Set, i64)> = (0..special).map(|node| (1 << node, 0)).collect();
    for merge in merges {
        let (one, other) = (sets[merge.a], sets[merge.b]);
        if one.0 == other.0 {
            continue;
        }
        let at = if merge.is_free { merge.weight } else { lowest };
        for (set, made) in [one, other] {
            let dual = (at - made) / 2;
            // A single node has no edge inside.
            if set.count_ones() > 1 && dual > 0 {
                found.push((cuts.number(set), dual));
                nodes_of(set).for_each(|node| nodes[node] -= dual);
            }
        }
        let both = one.0 | other.0;
        nodes_of(both).for_each(|node| sets[node] = (both, at));
    }
    let half = sets[0].1 / 2;
    nodes[..special].iter_mut().for_each(|dual| *dual += half);
    nodes[special] -= half;
    let mut free: Vec<i64> =
        (0..special).filter(|&node| is_free(special, node)).map(|node| weight(special, node)).collect();
    free.sort_unstable();
    // With two forced edges, any weight that makes no other edge negative.
    let second = 2_usize.saturating_sub(state.forced[special].count_ones() as usize).saturating_sub(1);
    nodes[special] += free.get(second).copied().unwrap_or(0);
    Duals { nodes, cuts: found, branches: Vec::new() }
}
