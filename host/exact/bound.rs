//! A lower bound without a tree: cutting planes at the root alone.

use std::time::Instant;

use antwarp_instance::{Enough, Instance};

use crate::prove::contradiction;
use crate::regions::{self, ascend_by_regions, is_divisible};
use crate::root::{Effort, MOST_WITH_LOCAL, ascend};
use crate::simplex::Solver;
use crate::{Board, Incumbent, Outcome};

/// Instances of fewer nodes have no cuts.
const FEWEST: usize = 5;
/// Rounds of cuts end once the last ones closed less than this part of the gap: less than in a proof, which has a tree after them.
const PROGRESS: f64 = 0.000_25;

/// Returns whether [`bound`] divides an instance of closed tours without directions into [regions].
pub fn has_regions(instance: &Instance) -> bool {
    instance.len() > MOST_WITH_LOCAL && is_divisible(instance)
}

/// Raises a lower bound of an instance of closed tours without directions by cutting planes until `enough` says so, or the cuts
/// achieve nothing more. A last pricing then proves what the last rounds achieved; `closing` ends it. `incumbent` must have a tour.
/// [`Outcome::bound`] is 0 before anything is proven, and for fewer than 5 nodes. Instances that [have regions](has_regions) are
/// divided if there is an `end`, which the time of the regions is planned for.
pub fn bound(
    solver: &dyn Solver,
    instance: &Instance,
    incumbent: &Incumbent,
    board: &Board,
    (end, [enough, closing]): (Option<Instant>, [Enough<'_>; 2]),
) -> Outcome {
    let begin = Instant::now();
    if instance.len() < FEWEST {
        return Outcome::default();
    }
    let root = match end.filter(|_| has_regions(instance)) {
        Some(end) => {
            let until = (end, [enough, closing]);
            ascend_by_regions(instance, solver, regions::MOST, (incumbent, board), until)
        }
        None => {
            let effort = Effort { progress: PROGRESS, is_for_tree: false, enough, closing };
            ascend(instance, solver, &[], (incumbent, board), &effort)
        }
    };
    let contradiction = contradiction(root.bound, incumbent.cost());
    let bound = if contradiction.is_some() { 0 } else { root.bound };
    Outcome {
        bound,
        root_bound: bound,
        cuts: board.cuts(),
        lp_seconds: root.work.lp,
        seconds: begin.elapsed().as_secs_f64(),
        trouble: contradiction.or(root.trouble.map(|trouble| trouble.to_string())),
        ..Outcome::default()
    }
}
