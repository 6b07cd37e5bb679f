//! Multiway number partitioning: divides numbers into k sets whose sums should be equal.

use super::{Problem, Shape};
use crate::papers::neighborhood::{Change, Changes, Neighborhood, Walk};
use crate::papers::search::Crew;
use crate::team::{Slots, Team};

/// An instance: the cost is the sum of the squares of the sets' sums, which is least where they are equal.
///
/// Shape: `sizes` = numbers, sets (2 to 256). Tables: the numbers, i64, whose absolute values add up to at most 2^30. Notes:
/// the sets' sums, i64. Element i of a solution is the set of number i, from 0.
#[derive(Clone, Copy, Debug)]
pub struct Partition {
    numbers: *const i64,
    moves: Changes,
}

impl Partition {
    /// Returns the sums in a walk's notes.
    fn sums(&self, walk: &Walk<u8>) -> Slots<i64> {
        // SAFETY: the notes are as long as `notes` asks for, and aligned.
        unsafe { Slots::new(walk.notes.cast(), self.moves.k as usize) }
    }
}

impl Problem for Partition {
    type Moves = Changes;
    type Cost = i64;
    const NAME: &'static str = "partition";

    #[inline(always)]
    unsafe fn new(shape: &Shape, tables: *const u8) -> Self {
        Partition { numbers: tables.cast(), moves: Changes { n: shape.sizes[0], k: shape.sizes[1] } }
    }

    #[inline(always)]
    fn moves(&self) -> Changes {
        self.moves
    }

    #[inline(always)]
    fn notes(&self) -> usize {
        8 * self.moves.k as usize
    }

    #[inline(always)]
    unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &Walk<u8>) -> i64 {
        let (team, mut cost) = (crew.team(), 0);
        // SAFETY: the caller's promise; a set belongs to one member.
        team.for_each(self.moves.k, |set| unsafe {
            let mut sum = 0;
            for i in 0..self.moves.n {
                let is_in = walk.solution.get(i) as u32 == set;
                sum += if is_in { *self.numbers.add(i as usize) } else { 0 };
            }
            self.sums(walk).set(set, sum);
            cost += sum * sum;
        });
        team.sum(cost as u64) as i64
    }

    #[inline(always)]
    unsafe fn neighbor_cost(&self, walk: &Walk<u8>, cost: i64, step: Change) -> i64 {
        // SAFETY: the caller's promise.
        unsafe {
            let x = *self.numbers.add(step.place as usize);
            let from = self.sums(walk).get(walk.solution.get(step.place) as u32);
            let to = self.sums(walk).get(step.value(walk.solution));
            cost + 2 * x * (to - from + x)
        }
    }

    #[inline(always)]
    unsafe fn make<C: Crew>(&self, crew: &mut C, walk: &Walk<u8>, step: Change) {
        // SAFETY: the caller's promise.
        crew.team().single(|| unsafe {
            let (x, sums) = (*self.numbers.add(step.place as usize), self.sums(walk));
            let (from, to) = (walk.solution.get(step.place) as u32, step.value(walk.solution));
            sums.set(from, sums.get(from) - x);
            sums.set(to, sums.get(to) + x);
        });
        // SAFETY: as above.
        unsafe { self.moves.apply(crew.team(), walk, step) }
    }
}
