//! Iterated local search (Fosin et al. 2013, algorithm 1): perturb, descend, accept or take back.

use crate::distance::Distance;
use crate::node::NodeId;
use crate::rng::{self, Stream};
use crate::team::{Slots, Team};

use super::descend::{Dirty, Journal, Round, descend};
use super::links::Links;
use super::moves::{Operator, View};
use super::perturb::{self, Cut, double_bridge};

/// When the tour after a kick and a descent takes the place of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Accept {
    /// If it is shorter.
    Better = 0,
    /// If it is not longer.
    BetterOrEqual = 1,
    /// Always (Fosin et al. 2013).
    Always = 2,
    /// If it is not longer than by the temperature times an exponential variate of mean 1: simulated annealing's rule.
    Annealing = 3,
}

/// How a chain goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Rules {
    /// Kicks.
    pub kicks: u32,
    /// Number of the first of them, in the stream of random numbers.
    pub first_kick: u32,
    /// Longest segment of a double bridge; 0: four edges anywhere.
    pub segment: u32,
    /// An [`Accept`].
    pub accept: u32,
    /// Mean of what a tour may get longer, with [`Accept::Annealing`].
    pub temperature: f32,
    /// Not 0: a descent from every node comes first.
    pub descend_first: u32,
    /// Not 0: the best tour on the way is kept, else the last one.
    pub keep_best: u32,
    /// Nothing; keeps the size a multiple of 8.
    pub padding: u32,
}

const _: () = assert!(size_of::<Rules>() == 32);

impl Rules {
    /// The most that a tour may get longer by a kick.
    #[inline(always)]
    pub(super) fn threshold(&self, bits: u32) -> i64 {
        if self.accept == Accept::Better as u32 {
            -1
        } else if self.accept == Accept::Always as u32 {
            i64::MAX
        } else if self.accept == Accept::Annealing as u32 {
            // The variate comes in binary logarithms.
            (self.temperature * core::f32::consts::LN_2 * rng::exponential(bits)) as i64
        } else {
            0
        }
    }
}

/// By how much a chain made its tour shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gains {
    /// The tour it ended with.
    pub last: i64,
    /// The best one on the way; at least 0.
    pub best: i64,
}

/// The fewest nodes that a chain works on.
pub const FEWEST: u32 = 8;

/// Kicks and descents from the view's tour on, which is left as the last accepted one. With
/// [`Rules::keep_best`] the best one is in `best`.
///
/// # Safety
/// The view, the bits, the round's memory, the journal and `best`, n elements, belong to this team alone; n is at least [`FEWEST`]; the
/// journal has room for more than [`perturb::STEPS`] exchanges.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn chain<T: Team, O: Operator, I: NodeId, D: Distance, L: Links>(
    team: T,
    view: View<I, D, L>,
    dirty: Dirty,
    round: Round,
    journal: &mut Journal<I>,
    best: Slots<I>,
    rules: Rules,
    stream: Stream,
) -> Gains {
    let n = view.tour.n();
    let mut last = n - 1;
    // SAFETY: the caller's promises.
    unsafe {
        let keep = || {
            if rules.keep_best != 0 {
                team.for_each(n, |p| best.set(p, I::new(view.tour.at(p))));
                team.barrier();
            }
        };
        dirty.fill(team, rules.descend_first != 0);
        let gained = descend::<T, O, I, D, L>(team, view, dirty, round, &mut last, None);
        let mut gains = Gains { last: gained, best: gained };
        keep();
        let mut kick = 0;
        while kick < rules.kicks {
            let draws = stream.step(rules.first_kick + kick);
            kick += 1;
            journal.clear();
            // Where links are in the way, shorter segments may fit between two of them.
            let mut segment = rules.segment;
            let longer = loop {
                let cut = Cut::of(draws, n, segment);
                let longer = double_bridge(team, view, dirty, cut, journal);
                segment /= 2;
                if longer.is_some() || segment == 0 {
                    break longer;
                }
            };
            let Some(longer) = longer else { continue };
            // The descent begins where the kick was.
            let longer =
                longer - descend::<T, O, I, D, L>(team, view, dirty, round, &mut last, Some(&mut *journal));
            if longer <= rules.threshold(draws.bits(4)) {
                gains.last -= longer;
                if gains.last > gains.best {
                    gains.best = gains.last;
                    keep();
                }
            } else {
                journal.undo(team, view);
            }
        }
        gains
    }
}

const _: () = assert!(perturb::STEPS == 4);
