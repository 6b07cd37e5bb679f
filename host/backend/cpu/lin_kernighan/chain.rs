//! A tour that many trials work on at the same time.

use antwarp_core::lin_kernighan::cuts::MAX_SEGMENTS;
use antwarp_core::lin_kernighan::merge::{MergeBoard, Next};
use antwarp_core::lin_kernighan::trial::TrialChanges;
use antwarp_core::team::Slots;

use super::super::allocate;
use antwarp_engine::lin_kernighan::Spec;
use antwarp_engine::{BackendError, Problem};

/// A tour and the arrays for merging changes into it: a [`Tour`](antwarp_core::lin_kernighan::Tour)'s, those of [`Next`], then of
/// [`MergeBoard`] in its order but without successors, then of [`TrialChanges`]. Its views must not be used after it has moved,
/// or after arrays have been swapped.
pub(super) struct Chain {
    pub(super) order: Vec<u32>,
    pub(super) ahead: Vec<i32>,
    pub(super) position: Vec<u32>,
    pub(super) next_order: Vec<u32>,
    pub(super) next_ahead: Vec<i32>,
    claims: Vec<u64>,
    bits: Vec<u32>,
    before: Vec<u32>,
    which: Vec<u32>,
    at: Vec<u32>,
    begin: Vec<u32>,
    far: Vec<u32>,
    pub(super) gain: Vec<i64>,
    pub(super) count: Vec<u32>,
    pub(super) cuts: Vec<[u32; 3]>,
    pub(super) cost: i64,
}

impl Chain {
    /// Makes a tour along the problem's numbering, given its [steps](Problem::step_lengths) and its length, with room for the
    /// trials of the spec.
    ///
    /// # Errors
    /// If memory is short.
    pub(super) fn new(ahead: &[i32], cost: i64, spec: &Spec) -> Result<Chain, BackendError> {
        let (what, n) = ("the tour", ahead.len());
        let own = || -> Result<Vec<u32>, BackendError> {
            let mut array: Vec<u32> = allocate(what, n)?;
            (0..).zip(&mut array).for_each(|(i, v)| *v = i);
            Ok(array)
        };
        let numbers = || allocate::<u32>(what, n);
        let trials = spec.trials as usize;
        Ok(Chain {
            order: own()?,
            ahead: ahead.to_vec(),
            position: own()?,
            next_order: numbers()?,
            next_ahead: allocate(what, n)?,
            claims: allocate(what, n)?,
            bits: allocate(what, n / 32 + 1)?,
            before: allocate(what, n / 32 + 1)?,
            which: numbers()?,
            at: numbers()?,
            begin: numbers()?,
            far: numbers()?,
            gain: allocate(what, trials)?,
            count: allocate(what, trials)?,
            cuts: allocate(what, trials * MAX_SEGMENTS as usize)?,
            cost,
        })
    }

    /// Replaces the tour, its steps and its length.
    pub(super) fn begin(&mut self, tour: &[u32], problem: &Problem) {
        self.order.copy_from_slice(tour);
        for (p, &node) in (0..).zip(tour) {
            self.position[node as usize] = p;
        }
        let next = tour.iter().cycle().skip(1);
        let steps = self.ahead.iter_mut().zip(tour.iter().zip(next));
        steps.for_each(|(ahead, (&a, &b))| *ahead = problem.step_length(a, b));
        self.cost = problem.length(tour).unwrap_or(i64::MAX);
    }

    /// Returns where trials write what they found.
    pub(super) fn changes(&mut self) -> TrialChanges {
        // SAFETY: the arrays live as long as the chain, which is not moved while they are used.
        unsafe {
            TrialChanges {
                gain: Slots::of(&mut self.gain),
                count: Slots::of(&mut self.count),
                cuts: Slots::of(&mut self.cuts),
            }
        }
    }

    /// Returns the memory for merging.
    pub(super) fn board(&mut self) -> MergeBoard {
        // SAFETY: as above; a single thread does not use `successor`.
        unsafe {
            MergeBoard {
                claims: Slots::of(&mut self.claims),
                bits: Slots::of(&mut self.bits),
                cuts_before_word: Slots::of(&mut self.before),
                cut_of_position: Slots::of(&mut self.which),
                cut_positions: Slots::of(&mut self.at),
                segment_start: Slots::of(&mut self.begin),
                successor: Slots::none(),
                distance_or_cycle: Slots::of(&mut self.far),
            }
        }
    }

    /// Returns where a merge writes the new tour. Its order and steps are then to be swapped with the old ones.
    pub(super) fn next(&mut self) -> Next {
        // SAFETY: as above.
        unsafe {
            Next {
                order: Slots::of(&mut self.next_order),
                ahead: Slots::of(&mut self.next_ahead),
                position: Slots::of(&mut self.position),
            }
        }
    }
}
