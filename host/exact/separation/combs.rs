//! Combs, from blossoms of shrunk graphs.

use std::collections::HashSet;
use std::sync::Arc;

use crate::{Cut, Support};

use super::blossoms::odd_components;
use super::draws::Draws;
use super::partition::Partition;
use super::shrunk::Shrunk;
use super::tighten::Tightener;

/// By how much a comb must be violated.
const EPSILON: f64 = 1e-3;

/// Finds violated combs: shrinks a random choice of sets whose border has the value 2, looks for blossoms in the shrunk graph, and
/// improves each by moving nodes. `sets` are sets that may be tight, such as those of the cuts in the linear program.
///
/// Source: M. Padberg, G. Rinaldi, *Facet identification for the symmetric traveling salesman polytope*, Mathematical Programming 47
/// (1990), and chapter 7 of the book by Applegate and others.
pub fn combs(support: &Support, sets: &[Arc<[u32]>], trials: usize, draws: &mut Draws) -> Vec<Cut> {
    let n = support.len();
    let tight: Vec<&Arc<[u32]>> =
        sets.iter().filter(|set| set.len() > 1 && support.border(set) < 2.0 + 1e-6).collect();
    let ones: Vec<(u32, u32)> =
        support.edges().filter(|edge| edge.2 > 1.0 - 1e-7).map(|(a, b, _)| (a, b)).collect();
    let mut candidates = Vec::new();
    odd_components(&Shrunk::identity(support), &mut |cut| candidates.push(cut));
    for trial in 0..trials {
        let mut partition = Partition::new(n);
        let share = 0.15 + 0.2 * (trial % 5) as f64;
        for set in &tight {
            if draws.chance(share) {
                set.iter().for_each(|&node| {
                    partition.join(set[0], node);
                });
            }
        }
        if trial % 3 != 0 {
            for &(a, b) in &ones {
                if draws.chance(0.6) {
                    partition.join(a, b);
                }
            }
        }
        let shrunk = Shrunk::new(support, &mut partition);
        odd_components(&shrunk, &mut |cut| candidates.push(cut));
    }
    let mut known = HashSet::new();
    candidates.retain(|cut| known.insert(cut.clone()));
    let mut tightener = Tightener::new(support);
    let mut found = Vec::new();
    for cut in candidates {
        match tightener.improve(&cut, draws) {
            Some((violation, cut)) if violation > EPSILON => found.push(cut),
            Some(_) => {}
            None => found.push(cut),
        }
    }
    known.clear();
    found.retain(|cut| known.insert(cut.clone()));
    found
}

/// Changes combs that a solution satisfies as equations, or nearly so, into violated ones by moving nodes.
pub fn tighten<'a>(support: &Support, cuts: impl Iterator<Item = &'a Cut>, draws: &mut Draws) -> Vec<Cut> {
    let mut tightener = Tightener::new(support);
    cuts.filter_map(|cut| tightener.improve(cut, draws))
        .filter_map(|(violation, cut)| (violation > EPSILON).then_some(cut))
        .collect()
}
