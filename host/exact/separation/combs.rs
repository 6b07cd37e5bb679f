//! Combs, from blossoms of shrunk graphs.

use std::collections::HashSet;
use std::sync::Arc;

use crate::{Cut, Support};

use super::blossoms::odd_components;
use super::draws::Draws;
use super::partition::Partition;
use super::shrunk::Shrunk;
use super::tighten::Tightener;
use super::workers::Workers;

/// By how much a comb must be violated.
const EPSILON: f64 = 1e-3;

/// The combs that a piece of work improves.
const PIECE: usize = 16;

/// Finds violated combs, each once: `trials` times, shrinks a random choice of the sets `tight`, whose borders have the value 2, and
/// looks for blossoms in the shrunk graph; then improves each by moving nodes. Subtours found on the way are among the results. Unless
/// the watch ends it, the result depends on the draws, but not on the number of threads.
///
/// Source: M. Padberg, G. Rinaldi, *Facet identification for the symmetric traveling salesman polytope*, Mathematical Programming 47
/// (1990), and chapter 7 of the book by Applegate and others.
pub fn combs(
    support: &Support,
    tight: &[Arc<[u32]>],
    trials: usize,
    draws: &mut Draws,
    workers: Workers<'_>,
) -> Vec<Cut> {
    let ones: Vec<(u32, u32)> =
        support.edges().filter(|edge| edge.2 > 1.0 - 1e-7).map(|(a, b, _)| (a, b)).collect();
    let seeds: Vec<u64> = (0..trials).map(|_| draws.bits()).collect();
    let mut candidates = Vec::new();
    odd_components(&Shrunk::identity(support), &mut |cut| candidates.push(cut));
    let shrunk = workers.each(trials, &|trial| {
        let mut draws = Draws::new(seeds[trial]);
        let mut partition = Partition::new(support.len());
        let share = 0.15 + 0.2 * (trial % 5) as f64;
        for set in tight {
            if draws.chance(share) {
                partition.join_all(set);
            }
        }
        if trial % 3 != 0 {
            for &(a, b) in &ones {
                if draws.chance(0.6) {
                    partition.join(a, b);
                }
            }
        }
        let mut candidates = Vec::new();
        odd_components(&Shrunk::new(support, &mut partition), &mut |cut| candidates.push(cut));
        candidates
    });
    candidates.extend(shrunk.into_iter().flatten());
    let mut known = HashSet::new();
    candidates.retain(|cut| known.insert(cut.clone()));
    let candidates: Vec<&Cut> = candidates.iter().collect();
    let improved = improve(support, &candidates, draws, workers);
    known.clear();
    let found = improved.into_iter().filter_map(|(cut, improved)| match improved {
        Some((violation, cut)) => (violation > EPSILON).then_some(cut),
        None => Some(cut.clone()),
    });
    found.filter(|cut| known.insert(cut.clone())).collect()
}

/// Changes combs, such as those that a solution satisfies as equations, or nearly so, into violated ones by moving nodes. Other cuts
/// are left out; a result may occur several times.
pub fn tighten(support: &Support, cuts: &[&Cut], draws: &mut Draws, workers: Workers<'_>) -> Vec<Cut> {
    let improved = improve(support, cuts, draws, workers).into_iter().filter_map(|(_, improved)| improved);
    improved.filter(|(violation, _)| *violation > EPSILON).map(|(_, cut)| cut).collect()
}

/// Returns each of these cuts with the best comb near it and by how much that one is violated, if the cut is a comb.
fn improve<'c>(
    support: &Support,
    cuts: &[&'c Cut],
    draws: &mut Draws,
    workers: Workers<'_>,
) -> Vec<(&'c Cut, Option<(f64, Cut)>)> {
    let pieces: Vec<(&[&Cut], u64)> = cuts.chunks(PIECE).map(|piece| (piece, draws.bits())).collect();
    let improved = workers.each(pieces.len(), &|number| {
        let (piece, seed) = pieces[number];
        let (mut tightener, mut draws) = (Tightener::new(support), Draws::new(seed));
        piece.iter().map(|&cut| (cut, tightener.improve(cut, &mut draws))).collect::<Vec<_>>()
    });
    improved.into_iter().flatten().collect()
}
