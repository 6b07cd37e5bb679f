//! Dual values as whole numbers, and the bound that follows from them.
//!
//! Every tour satisfies the rows of the linear program: two edges at each node, and the cuts. Multiply each row by a number `y`, not
//! negative for a cut, and add them up: a tour costs at least
//!
//! `sum of y times right side + sum of min(0, r(e)) over all edges e`, with `r(e) = cost(e) - sum of y times the row's coefficient of e`,
//!
//! since its `x(e)` are between 0 and 1. This holds for any `y`, so it does not matter where they come from. The optimal dual values
//! of the linear program give its optimum.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Cut;

/// Dual values are multiples of this power of 1/2 of the internal cost.
pub const UNIT_BITS: u32 = 20;

/// Dual values in units of `2^-UNIT_BITS` of the internal cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Duals {
    /// Of each node: of the row that says that a tour has two edges there.
    pub nodes: Vec<i64>,
    /// Of cuts, by their index: not negative.
    pub cuts: Vec<(usize, i64)>,
    /// Of the sets of a node of the tree, by their index; see [`Side`] for their signs.
    pub branches: Vec<(usize, i64)>,
}

/// On which side of a branch on a set of nodes a tour is: it crosses the border of the set twice, or at least four times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// `x(border) <= 2`; its dual value is not positive.
    Two,
    /// `x(border) >= 4`; its dual value is not negative.
    FourOrMore,
}

/// One side of a branch on a set of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Branch {
    /// The set of nodes, ascending.
    pub set: Arc<[u32]>,
    /// The side of the branch.
    pub side: Side,
}

impl Branch {
    /// Returns the right side of the inequality.
    pub fn right_side(&self) -> i64 {
        match self.side {
            Side::Two => 2,
            Side::FourOrMore => 4,
        }
    }

    /// Returns whether a dual value has the right sign.
    fn allows(&self, dual: i64) -> bool {
        match self.side {
            Side::Two => dual <= 0,
            Side::FourOrMore => dual >= 0,
        }
    }
}

/// Converts a bound in units to one of internal costs, which are whole numbers: rounds up. Values out of range become the nearest ones
/// in it.
pub fn to_cost(units: i128) -> i64 {
    let cost = -((-units) >> UNIT_BITS);
    cost.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// Converts an internal cost to units.
pub fn to_units(cost: i64) -> i128 {
    i128::from(cost) << UNIT_BITS
}

/// Sums of dual values above this are absurd, and might overflow.
const MOST: i128 = 1 << 58;

/// The reduced costs of all edges for some dual values. All numbers are in units.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The sum of dual values times right sides.
    constant: i128,
    /// For each node, the sum of its dual value and those of the sets that it is in.
    potentials: Vec<i64>,
    /// For each node and one more, where its sets start.
    starts: Vec<u32>,
    /// The sets of each node, in order, each with twice its dual value.
    sets: Vec<(u32, i64)>,
    /// Whether no set has a negative dual value.
    is_plain: bool,
}

impl Reduced {
    /// Prepares the reduced costs of an instance of as many nodes as have dual values; the duals have the indices of `cuts` and
    /// `branches`. `None` if dual values are absurdly large, have a wrong sign or belong to nothing: no bound follows from them.
    pub fn new(duals: &Duals, cuts: &[Arc<Cut>], branches: &[Branch]) -> Option<Reduced> {
        let n = duals.nodes.len();
        let mut constant: i128 = duals.nodes.iter().map(|&y| 2 * i128::from(y)).sum();
        // Many combs have teeth in common: each set is here once.
        let mut numbers: HashMap<&[u32], u32> = HashMap::new();
        let mut sums: Vec<(&[u32], i128)> = Vec::new();
        let mut rows: Vec<(&Arc<[u32]>, i64)> = Vec::new();
        for &(cut, y) in duals.cuts.iter().filter(|&&(_, y)| y != 0) {
            let cut = cuts.get(cut).filter(|_| y > 0)?;
            constant += i128::from(y) * i128::from(cut.right_side());
            rows.extend(cut.sets().iter().map(|set| (set, y)));
        }
        for &(branch, y) in duals.branches.iter().filter(|&&(_, y)| y != 0) {
            let branch = branches.get(branch).filter(|branch| branch.allows(y))?;
            constant += i128::from(y) * i128::from(branch.right_side());
            rows.push((&branch.set, y));
        }
        for (set, y) in rows {
            let number = *numbers.entry(set).or_insert_with(|| {
                sums.push((set, 0));
                sums.len() as u32 - 1
            });
            sums[number as usize].1 += i128::from(y);
        }
        let mut totals: Vec<i128> = duals.nodes.iter().map(|&y| i128::from(y)).collect();
        let mut sizes: Vec<i128> = totals.iter().map(|y| y.abs()).collect();
        let mut starts = vec![0_u32; n + 1];
        for &(set, y) in &sums {
            for &node in set {
                *totals.get_mut(node as usize)? += y;
                sizes[node as usize] += y.abs();
                starts[node as usize + 1] += 1;
            }
        }
        if sizes.iter().any(|&size| size > MOST) {
            return None;
        }
        for node in 0..n {
            starts[node + 1] += starts[node];
        }
        let mut ends = starts.clone();
        let mut sets = vec![(0, 0); starts[n] as usize];
        for (number, &(set, y)) in (0..).zip(&sums) {
            for &node in set {
                let end = &mut ends[node as usize];
                // It fits: it is at most twice a node's size.
                sets[*end as usize] = (number, (2 * y) as i64);
                *end += 1;
            }
        }
        let potentials = totals.into_iter().map(|total| total as i64).collect();
        let is_plain = sums.iter().all(|sum| sum.1 >= 0);
        Some(Reduced { constant, potentials, starts, sets, is_plain })
    }

    /// Returns the sum of dual values times right sides: the bound, if no reduced cost is negative and no edge is fixed.
    pub fn constant(&self) -> i128 {
        self.constant
    }

    /// Returns the potential of a node: the reduced cost of an edge is at least its cost minus the potentials of its ends, if all dual
    /// values [are plain](Reduced::is_plain).
    #[inline]
    pub fn potential(&self, node: u32) -> i64 {
        self.potentials[node as usize]
    }

    /// Returns the potentials of all nodes.
    pub fn potentials(&self) -> &[i64] {
        &self.potentials
    }

    /// Returns whether no set has a negative dual value.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    fn sets(&self, node: u32) -> &[(u32, i64)] {
        &self.sets[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    /// Returns twice the dual values of the sets that both nodes are in.
    #[inline]
    fn common(&self, a: u32, b: u32) -> i64 {
        let (mut of_a, mut of_b) = (self.sets(a).iter(), self.sets(b).iter());
        let (mut one, mut other) = (of_a.next(), of_b.next());
        let mut sum = 0;
        while let (Some(x), Some(y)) = (one, other) {
            if x.0 == y.0 {
                sum += x.1;
            }
            let (is_first, is_second) = (x.0 <= y.0, y.0 <= x.0);
            if is_first {
                one = of_a.next();
            }
            if is_second {
                other = of_b.next();
            }
        }
        sum
    }

    /// Returns a number that is not above the reduced cost of an edge of this cost, quickly, if the dual values
    /// [are plain](Reduced::is_plain).
    #[inline]
    pub fn at_least(&self, a: u32, b: u32, cost: i32) -> i64 {
        (i64::from(cost) << UNIT_BITS) - self.potentials[a as usize] - self.potentials[b as usize]
    }

    /// Returns the reduced cost of an edge of this cost.
    #[inline]
    pub fn of(&self, a: u32, b: u32, cost: i32) -> i64 {
        self.at_least(a, b, cost) + self.common(a, b)
    }
}
