//! Improves combs node by node.

use std::collections::VecDeque;

use crate::{Cut, Family, Support};

use super::draws::Draws;

/// Values that differ by less are equal.
const TINY: f64 = 1e-9;
/// The number of a tooth for nodes that are in none.
const NONE: u32 = u32::MAX;

/// Moves nodes into and out of the handle and the teeth of combs, while a comb's left side becomes smaller.
pub(super) struct Tightener<'a> {
    support: &'a Support,
    is_in_handle: Vec<bool>,
    tooth: Vec<u32>,
    is_queued: Vec<bool>,
    /// Whether a node has made a move that changed nothing.
    has_drifted: Vec<bool>,
}

impl<'a> Tightener<'a> {
    /// Makes the memory for cuts of a graph.
    pub fn new(support: &'a Support) -> Tightener<'a> {
        let n = support.len();
        Tightener {
            support,
            is_in_handle: vec![false; n],
            tooth: vec![NONE; n],
            is_queued: vec![false; n],
            has_drifted: vec![false; n],
        }
    }

    /// Returns the comb that a local search from this one reaches, and by how much it is violated, negative if it is not; `None` for
    /// other cuts. Now and then a node makes a move that changes nothing, once each.
    pub fn improve(&mut self, cut: &Cut, draws: &mut Draws) -> Option<(f64, Cut)> {
        if cut.family() != Family::Comb {
            return None;
        }
        let (handle, teeth) = cut.sets().split_first()?;
        let mut violation = self.support.violation(cut);
        handle.iter().for_each(|&node| self.is_in_handle[node as usize] = true);
        // How many nodes of each tooth are outside and inside of the handle.
        let mut sizes = vec![[0_u32; 2]; teeth.len()];
        for (number, tooth) in (0..).zip(teeth) {
            for &node in tooth.iter() {
                self.tooth[node as usize] = number;
                sizes[number as usize][usize::from(self.is_in_handle[node as usize])] += 1;
            }
        }
        let mut queue: VecDeque<u32> = VecDeque::new();
        let mut touched: Vec<u32> = cut.sets().iter().flat_map(|set| set.iter().copied()).collect();
        for node in touched.clone() {
            self.enqueue_around(node, &mut queue, &mut touched);
        }
        while let Some(node) = queue.pop_front() {
            self.is_queued[node as usize] = false;
            let Some((change, is_inside, tooth)) = self.best_move(node, &sizes) else { continue };
            if change > -TINY {
                if self.has_drifted[node as usize] || draws.chance(0.5) {
                    continue;
                }
                self.has_drifted[node as usize] = true;
            }
            let at = node as usize;
            if self.tooth[at] != NONE {
                sizes[self.tooth[at] as usize][usize::from(self.is_in_handle[at])] -= 1;
            }
            (self.is_in_handle[at], self.tooth[at]) = (is_inside, tooth);
            if tooth != NONE {
                sizes[tooth as usize][usize::from(is_inside)] += 1;
            }
            violation -= change;
            self.enqueue_around(node, &mut queue, &mut touched);
        }
        let (mut handle, mut teeth) = (Vec::new(), vec![Vec::new(); sizes.len()]);
        touched.sort_unstable();
        touched.dedup();
        for node in touched {
            let at = node as usize;
            if std::mem::replace(&mut self.is_in_handle[at], false) {
                handle.push(node);
            }
            let tooth = std::mem::replace(&mut self.tooth[at], NONE);
            if tooth != NONE {
                teeth[tooth as usize].push(node);
            }
            self.has_drifted[at] = false;
        }
        violation += self.drop_bad_pairs(&mut teeth);
        Some((violation, Cut::comb(handle, teeth)))
    }

    /// Removes the two worst teeth while their borders have a value above 6. Returns by how much that improves the cut.
    fn drop_bad_pairs(&self, teeth: &mut Vec<Vec<u32>>) -> f64 {
        let mut gain = 0.0;
        let mut borders: Vec<f64> = teeth.iter().map(|tooth| self.support.border(tooth)).collect();
        while teeth.len() >= 5 {
            let mut order: Vec<usize> = (0..teeth.len()).collect();
            order.sort_by(|&a, &b| borders[b].total_cmp(&borders[a]));
            let (first, second) = (order[0], order[1]);
            let excess = borders[first] + borders[second] - 6.0;
            if excess <= TINY {
                break;
            }
            gain += excess;
            for at in [first.max(second), first.min(second)] {
                teeth.remove(at);
                borders.remove(at);
            }
        }
        gain
    }

    fn enqueue_around(&mut self, node: u32, queue: &mut VecDeque<u32>, touched: &mut Vec<u32>) {
        let support = self.support;
        for node in support.neighbors(node).iter().map(|edge| edge.0).chain([node]) {
            if !std::mem::replace(&mut self.is_queued[node as usize], true) {
                queue.push_back(node);
                touched.push(node);
            }
        }
    }

    /// Returns the move of a node after which the left side is least, if it does not grow: by how much it changes, whether the node is
    /// then in the handle, and its tooth.
    fn best_move(&self, node: u32, sizes: &[[u32; 2]]) -> Option<(f64, bool, u32)> {
        let at = node as usize;
        let (was_inside, old) = (self.is_in_handle[at], self.tooth[at]);
        let neighbors = self.support.neighbors(node);
        let degree = self.support.degree(node);
        let value_in = |is_in: &dyn Fn(usize) -> bool| -> f64 {
            neighbors.iter().filter(|edge| is_in(edge.0 as usize)).map(|edge| edge.1).sum()
        };
        // By how much the border of a set changes when the node enters; the opposite when it leaves.
        let handle = degree - 2.0 * value_in(&|other| self.is_in_handle[other]);
        let toggle = if was_inside { -handle } else { handle };
        let entry = |tooth: u32| {
            if tooth == NONE { 0.0 } else { degree - 2.0 * value_in(&|other| self.tooth[other] == tooth) }
        };
        let may_leave = old == NONE || sizes[old as usize][usize::from(was_inside)] > 1;
        // All moves but one that only changes sides take the node away from the nodes of its tooth on its side.
        if !may_leave {
            return None;
        }
        let leave = -entry(old);
        let mut best: Option<(f64, bool, u32)> = None;
        let mut consider = |change: f64, is_inside: bool, tooth: u32| {
            if change <= TINY && best.is_none_or(|(least, _, _)| change < least - TINY) {
                best = Some((change, is_inside, tooth));
            }
        };
        consider(toggle, !was_inside, old);
        if old != NONE {
            consider(leave, was_inside, NONE);
            consider(leave + toggle, !was_inside, NONE);
        }
        for tooth in neighbors.iter().map(|edge| self.tooth[edge.0 as usize]) {
            if tooth != NONE && tooth != old {
                let change = leave + entry(tooth);
                consider(change, was_inside, tooth);
                consider(change + toggle, !was_inside, tooth);
            }
        }
        best
    }
}
