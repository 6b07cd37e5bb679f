//! Permutations that differ in two places.

use super::{Clock, Neighborhood, Standing, Walk, crossover, differing};
use crate::combinations::{next_pair, pair, pair_index, pairs};
use crate::papers::genetic::shuffle::Shuffle;
use crate::papers::search::Crew;
use crate::rng::Stream;
use crate::team::{Seat, Slots, Team, seat};

/// All permutations of 0 .. n that differ from one in two places, i < j, numbered in lexicographic order (Luong et al. 2013,
/// propositions 1 and 2).
#[derive(Clone, Copy, Debug)]
pub struct Exchanges {
    /// Number of places.
    pub n: u32,
    /// Whether the tabu list remembers which element was where: n^2 iterations, and a move is tabu if it moves both elements back
    /// (Taillard 1991, section 3.1). Else it remembers which elements were moved: n iterations, and a move is tabu if it moves one
    /// of them.
    pub by_place: bool,
}

impl Exchanges {
    /// Returns where the tabu list remembers the element at place `i` being at place `j`.
    ///
    /// # Safety
    /// `i` is a place of the solution.
    #[inline(always)]
    unsafe fn trace(&self, solution: Slots<u32>, i: u32, j: u32) -> u32 {
        // SAFETY: the caller's promise.
        let element = unsafe { solution.get(i) };
        if self.by_place { element * self.n + j } else { element }
    }
}

impl Exchanges {
    /// Calls `work` for each exchange of this member's share: all members of all teams together handle all exchanges, each once.
    ///
    /// Not in the order of their numbers, in which every step of a member would have to search for its row. A place j is exchanged
    /// with those that follow it in a circle, up to half of it, so every pair occurs once, from one of its ends. A member keeps its
    /// j, and the data about it, for all its exchanges, and neighbouring members have neighbouring places at both ends. `work` gets
    /// the other place first and j second, whichever is smaller.
    #[inline(always)]
    pub fn sweep<C: Crew>(&self, crew: &C, mut work: impl FnMut(u32, u32)) {
        let (n, size) = (self.n, crew.team().size());
        let (members, member) = (crew.parts() * size, crew.part() * size + crew.team().rank());
        // Several members may share a place, and take turns with those that follow it.
        let Seat { place: mut j, turn, turns } = seat(n, members, member);
        if turn >= turns {
            return;
        }
        loop {
            // With an even number of places, the one across the circle is handled only from the first half.
            let most = (n - (j >= n / 2) as u32) / 2;
            let (mut behind, mut i) = (1 + turn, j + 1 + turn);
            while behind <= most {
                i -= if i < n { 0 } else { n };
                work(i, j);
                behind += turns;
                i += turns;
            }
            if n - j <= members {
                return;
            }
            j += members;
        }
    }
}

impl Neighborhood for Exchanges {
    type Element = u32;
    type Move = (u32, u32);

    #[inline(always)]
    fn elements(&self) -> u32 {
        self.n
    }
    #[inline(always)]
    fn len(&self) -> u64 {
        pairs(self.n)
    }
    #[inline(always)]
    fn at(&self, index: u64) -> (u32, u32) {
        pair(self.n, index)
    }
    #[inline(always)]
    fn index(&self, (i, j): (u32, u32)) -> u64 {
        pair_index(self.n, i.min(j), i.max(j))
    }
    #[inline(always)]
    fn skip(&self, step: (u32, u32), _: u64, by: u32) -> (u32, u32) {
        next_pair(self.n, step, by)
    }
    #[inline(always)]
    unsafe fn toward(&self, walk: &Walk<u32>, neighbor: *const u32, _: u64) -> (u32, u32) {
        // SAFETY: the caller's promise.
        let [i, j] = unsafe { differing(walk.solution, neighbor, self.n) };
        (i, j)
    }
    #[inline(always)]
    fn random(&self, stream: Stream, i: u32) -> u32 {
        Shuffle::new(stream, self.n).at(i)
    }

    fn is_solution(&self, solution: &[u32], seen: &mut [u8]) -> bool {
        super::is_permutation(solution, seen)
    }

    #[inline(always)]
    unsafe fn apply<T: Team>(&self, team: T, walk: &Walk<u32>, (i, j): (u32, u32)) {
        // SAFETY: the caller's promise.
        team.single(|| unsafe {
            let (a, b) = (walk.solution.get(i), walk.solution.get(j));
            walk.solution.set(i, b);
            walk.solution.set(j, a);
        });
        team.barrier();
    }

    #[inline(always)]
    unsafe fn cross<T: Team>(&self, team: T, walk: &Walk<u32>, parents: (*const u32, *const u32), seed: u64) {
        // The tabu list has a place for each element at least.
        // SAFETY: the caller's promise.
        unsafe { crossover(team, self.n, parents, (walk.solution, walk.traces), seed) }
    }

    #[inline(always)]
    fn traces(&self) -> u32 {
        if self.by_place { self.n * self.n } else { self.n }
    }

    #[inline(always)]
    unsafe fn standing(&self, walk: &Walk<u32>, clock: Clock, (i, j): (u32, u32)) -> Standing {
        // SAFETY: the caller's promise.
        unsafe {
            let to_j = walk.traces.get(self.trace(walk.solution, i, j));
            let to_i = walk.traces.get(self.trace(walk.solution, j, i));
            if self.by_place { clock.both(to_j, to_i) } else { clock.any(to_j.min(to_i), to_j.max(to_i)) }
        }
    }

    #[inline(always)]
    unsafe fn leave<T: Team>(
        &self,
        team: T,
        walk: &Walk<u32>,
        (i, j): (u32, u32),
        until: impl Fn(u32) -> u32,
    ) {
        // The rest: the element at i in place i, and that at j in place j.
        // SAFETY: the caller's promise.
        team.single(|| unsafe {
            walk.traces.set(self.trace(walk.solution, i, i), until(0));
            walk.traces.set(self.trace(walk.solution, j, j), until(1));
        });
    }
}
