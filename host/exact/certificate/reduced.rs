//! Reduced costs of edges, and the bounds that follow from them.

use std::collections::HashMap;

use antwarp_instance::{Instance, parallel};

use super::parts::Answer;
use crate::Cut;
use crate::duals::{Duals, UNIT_BITS};

/// The dual values of a node and its sets, in units, may add up to this: then no reduced cost exceeds 66 bits, and the sum of all 127
/// bits.
const MOST: i128 = 1 << 61;

/// An edge, its ends in any order, and its internal cost.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub a: u32,
    pub b: u32,
    pub cost: i32,
}

/// Which edges better tours can have.
#[derive(Clone, Debug)]
pub struct Edges {
    /// Those that are not known to be in all better tours: listed, or all of the instance.
    pub free: Option<Vec<Edge>>,
    /// Those that are in all better tours.
    pub fixed: Vec<Edge>,
}

impl Edges {
    /// Returns all edges of a closed instance; those of partners are fixed.
    pub fn of(instance: &Instance) -> Edges {
        let fixed = (0..).zip(instance.partners().unwrap_or_default());
        let fixed = fixed.filter(|&(node, &partner)| partner != Instance::NO_PARTNER && node < partner);
        Edges {
            free: None,
            fixed: fixed.map(|(a, &b)| Edge { a, b, cost: instance.distance(a, b) }).collect(),
        }
    }
}

/// What the tours of a node of the tree have in common.
pub struct Branches<'a> {
    /// Edges that they use, or do not use.
    edges: HashMap<(u32, u32), bool>,
    /// Sets whose border they cross twice, or at least four times.
    sets: Vec<(&'a [u32], bool)>,
}

impl<'a> Branches<'a> {
    /// Collects the answers from the root of the tree to a node, in this order, which numbers the sets.
    pub fn of(path: &'a [Answer]) -> Branches<'a> {
        let mut branches = Branches { edges: HashMap::new(), sets: Vec::new() };
        for answer in path {
            match answer {
                &Answer::Edge { a, b, used } => {
                    branches.edges.insert((a.min(b), a.max(b)), used);
                }
                Answer::Set { set, two } => branches.sets.push((set, *two)),
            }
        }
        branches
    }

    fn has(&self, a: u32, b: u32) -> bool {
        !self.edges.is_empty() && self.edges.contains_key(&(a.min(b), a.max(b)))
    }
}

/// Why dual values prove nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DualError {
    /// A node has none, or there are more.
    #[error("{found} nodes have dual values, not {n}")]
    Nodes {
        /// How many have one.
        found: usize,
        /// The number of nodes.
        n: usize,
    },
    /// The tree does not branch on such a set.
    #[error("there is no set {0} between the root of the tree and here")]
    NoSet(usize),
    /// There is no such cut.
    #[error("there is no cut {0}")]
    NoCut(usize),
    /// The dual value of a cut is negative.
    #[error("the dual value of cut {cut} is {dual}, which is negative")]
    NegativeCut {
        /// Its number.
        cut: usize,
        /// Its dual value.
        dual: i64,
    },
    /// The dual value of a set has the wrong sign.
    #[error("the dual value of set {number} between the root and here is {dual}, which has the wrong sign")]
    SetSign {
        /// Its number between the root and this record, from 0.
        number: usize,
        /// Its dual value.
        dual: i64,
    },
    /// The sum could be more than fits.
    #[error("the dual values are too large")]
    TooLarge,
}

/// Reduced costs by dual values: of an edge, its cost minus the dual values of its ends and of all sets whose border it crosses.
///
/// With `weight(v)` = the dual values of node v and of all sets with v, that is `cost - weight(a) - weight(b)` plus twice the dual
/// values of the sets with both ends.
pub struct Reduced<'a> {
    instance: &'a Instance,
    weights: Vec<i128>,
    /// Sets that have a node, ascending: those of node v are at `begins[v]..begins[v + 1]`, with their dual values.
    begins: Vec<usize>,
    sets: Vec<(u32, i64)>,
    /// Minus twice the sum of all negative dual values of sets: the sets with both ends lower no reduced cost by more.
    slack: i128,
    /// Twice the dual values of all nodes, plus those of cuts and sets times their right sides.
    base: i128,
}

impl<'a> Reduced<'a> {
    /// Prepares reduced costs. The sets of `cuts` and `branches` must have only nodes of the instance.
    ///
    /// # Errors
    /// If the dual values have the wrong number, sign or size.
    pub fn new(
        instance: &'a Instance,
        cuts: &[(Cut, i64)],
        branches: &Branches<'_>,
        by: &Duals,
    ) -> Result<Reduced<'a>, DualError> {
        let (n, nodes) = (instance.len(), &by.nodes);
        if nodes.len() != n {
            return Err(DualError::Nodes { found: nodes.len(), n });
        }
        let mut base = 2 * nodes.iter().map(|&dual| i128::from(dual)).sum::<i128>();
        let mut negative = 0;
        let mut weighted: Vec<(&[u32], i64)> = Vec::new();
        for &(number, dual) in &by.cuts {
            let (cut, _) = cuts.get(number).ok_or(DualError::NoCut(number))?;
            if dual < 0 {
                return Err(DualError::NegativeCut { cut: number, dual });
            }
            base += i128::from(dual) * i128::from(cut.right_side());
            weighted.extend(cut.sets().iter().map(|set| (&set[..], dual)));
        }
        for &(number, dual) in &by.branches {
            let &(set, two) = branches.sets.get(number).ok_or(DualError::NoSet(number))?;
            if if two { dual > 0 } else { dual < 0 } {
                return Err(DualError::SetSign { number, dual });
            }
            base += i128::from(dual) * if two { 2 } else { 4 };
            negative += i128::from(dual).min(0);
            weighted.push((set, dual));
        }
        weighted.retain(|&(_, dual)| dual != 0);
        let mut weights: Vec<i128> = nodes.iter().map(|&dual| dual.into()).collect();
        let mut sizes: Vec<i128> = weights.iter().map(|dual| dual.abs()).collect();
        let mut begins = vec![0; n + 1];
        for &(set, dual) in &weighted {
            for &node in set {
                weights[node as usize] += i128::from(dual);
                sizes[node as usize] += i128::from(dual).abs();
                begins[node as usize + 1] += 1;
            }
        }
        if sizes.into_iter().any(|size| size > MOST) {
            return Err(DualError::TooLarge);
        }
        (0..n).for_each(|node| begins[node + 1] += begins[node]);
        let mut ends = begins.clone();
        let mut sets = vec![(0, 0); begins[n]];
        for (number, &(set, dual)) in (0..).zip(&weighted) {
            for &node in set {
                sets[ends[node as usize]] = (number, dual);
                ends[node as usize] += 1;
            }
        }
        Ok(Reduced { instance, weights, begins, sets, slack: -2 * negative, base })
    }

    /// Returns the reduced cost of an edge, without the sets that have both ends.
    fn outside(&self, Edge { a, b, cost }: Edge) -> i128 {
        (i128::from(cost) << UNIT_BITS) - self.weights[a as usize] - self.weights[b as usize]
    }

    /// Returns twice the dual values of the sets that have both nodes.
    fn both(&self, a: u32, b: u32) -> i128 {
        let of = |node: u32| &self.sets[self.begins[node as usize]..self.begins[node as usize + 1]];
        let (mut a, mut b) = (of(a), of(b));
        let mut sum = 0;
        while let (Some((&(first, dual), after_a)), Some((&(second, _), after_b))) =
            (a.split_first(), b.split_first())
        {
            if first == second {
                sum += i128::from(dual);
            }
            (a, b) = (if first <= second { after_a } else { a }, if second <= first { after_b } else { b });
        }
        2 * sum
    }

    /// Returns the reduced cost of an edge if it is below a limit.
    fn below(&self, edge: Edge, limit: i128) -> Option<i128> {
        let outside = self.outside(edge);
        if outside >= limit + self.slack {
            return None;
        }
        Some(outside + self.both(edge.a, edge.b)).filter(|&reduced| reduced < limit)
    }

    fn reduced(&self, edge: Edge) -> i128 {
        self.outside(edge) + self.both(edge.a, edge.b)
    }

    /// Calls `body` with each edge from a node to a later one that is not fixed by partners.
    fn each_of(&self, a: u32, mut body: impl FnMut(Edge)) {
        let partner = self.instance.partners().map_or(Instance::NO_PARTNER, |partners| partners[a as usize]);
        for b in a + 1..self.instance.len() as u32 {
            if b != partner && self.instance.has_edge(a, b) {
                body(Edge { a, b, cost: self.instance.distance(a, b) });
            }
        }
    }

    /// Returns the bound that holds for all tours of these edges which agree with `branches`, in units.
    pub fn bound(&self, edges: &Edges, branches: &Branches<'_>) -> i128 {
        let gain = |edge: Edge| match self.below(edge, 0) {
            Some(reduced) if !branches.has(edge.a, edge.b) => reduced,
            _ => 0,
        };
        let free: i128 = match &edges.free {
            Some(free) => free.iter().map(|&edge| gain(edge)).sum(),
            None => {
                let of = |a: usize| {
                    let mut sum = 0;
                    self.each_of(a as u32, |edge| sum += gain(edge));
                    sum
                };
                parallel::collect_short(self.instance.len(), &of).into_iter().sum()
            }
        };
        let fixed = edges.fixed.iter().filter(|edge| !branches.has(edge.a, edge.b));
        let fixed: i128 = fixed.map(|&edge| self.reduced(edge)).sum();
        let used = branches.edges.iter().filter(|&(_, &used)| used);
        let used = used.map(|(&(a, b), _)| Edge { a, b, cost: self.instance.distance(a, b) });
        self.base + free + fixed + used.map(|edge| self.reduced(edge)).sum::<i128>()
    }

    /// Returns those of these edges that tours can have whose bound is not above `limit`, in units: an edge with reduced cost r > 0
    /// raises the bound of all tours that use it by r, and one with r < 0 that of all tours that do not by -r.
    pub fn left(&self, edges: &Edges, branches: &Branches<'_>, limit: i128) -> Edges {
        let gap = limit - self.bound(edges, branches);
        // Reduced costs up to this stay, down to minus this stay free.
        let gap = gap.max(-1);
        let keep = |edge: Edge, free: &mut Vec<Edge>, fixed: &mut Vec<Edge>| {
            if branches.has(edge.a, edge.b) {
                free.push(edge);
            } else if let Some(reduced) = self.below(edge, gap + 1) {
                if reduced < -gap { fixed.push(edge) } else { free.push(edge) }
            }
        };
        let mut left = Edges { free: None, fixed: edges.fixed.clone() };
        let mut listed = Vec::new();
        match &edges.free {
            Some(free) => free.iter().for_each(|&edge| keep(edge, &mut listed, &mut left.fixed)),
            None => {
                let of = |a: usize| {
                    let (mut free, mut fixed) = (Vec::new(), Vec::new());
                    self.each_of(a as u32, |edge| keep(edge, &mut free, &mut fixed));
                    (free, fixed)
                };
                for (free, fixed) in parallel::collect_short(self.instance.len(), &of) {
                    listed.extend(free);
                    left.fixed.extend(fixed);
                }
            }
        }
        left.free = Some(listed);
        left
    }
}
