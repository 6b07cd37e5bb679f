//! Evaluations of neighbours, and notes about a solution, that can be cut short. Core knows no clock; here a problem's neighbours
//! are evaluated share by share, and the clock is checked in between.

use antwarp_core::papers::neighborhood::Neighborhood;
use antwarp_core::papers::problem::{Move, Problem, Shape, WalkOf};
use antwarp_core::papers::search::{Contender, Cost, Crew};
use antwarp_core::team::Team;

use antwarp_instance::Watch;

/// Neighbours per share, if they are cheap: many more than a look at the clock costs.
const SHARE: u64 = 1 << 12;
/// Steps per share, if [more expensive](Problem::effort): far less than a millisecond, unless a single step takes longer.
const STEPS: u64 = 1 << 16;

/// A watched problem. Once it is cut, an evaluation skips all remaining neighbours.
#[derive(Clone, Copy)]
pub struct Watched<'a, P> {
    problem: P,
    /// `None` for a problem that is not watched.
    watch: Option<&'a Watch<'a>>,
}

impl<'a, P> Watched<'a, P> {
    /// Watches a problem. Once the watch is cut, the results of evaluations must not be used.
    pub fn new(problem: P, watch: &'a Watch<'a>) -> Watched<'a, P> {
        Watched { problem, watch: Some(watch) }
    }
}

/// A crew in which each part does many shares of its work, one after the other.
#[derive(Clone, Copy)]
struct Shift<T> {
    team: T,
    part: u32,
    parts: u32,
}

impl<T: Team> Crew for Shift<T> {
    type Team = T;

    #[inline(always)]
    fn team(&self) -> T {
        self.team
    }
    #[inline(always)]
    fn part(&self) -> u32 {
        self.part
    }
    #[inline(always)]
    fn parts(&self) -> u32 {
        self.parts
    }
    // A shift only serves evaluations of neighbours, which wait for nobody.
    #[inline(always)]
    fn barrier(&mut self) {}
    #[inline(always)]
    fn best(&mut self, own: Contender) -> Contender {
        own
    }
}

/// A crew that makes notes as long as there is time.
struct Hasty<'a, C> {
    crew: &'a mut C,
    /// `None` if not watched.
    watch: Option<&'a Watch<'a>>,
}

impl<C: Crew> Crew for Hasty<'_, C> {
    type Team = C::Team;

    #[inline(always)]
    fn team(&self) -> C::Team {
        self.crew.team()
    }
    #[inline(always)]
    fn part(&self) -> u32 {
        self.crew.part()
    }
    #[inline(always)]
    fn parts(&self) -> u32 {
        self.crew.parts()
    }
    #[inline(always)]
    fn barrier(&mut self) {
        self.crew.barrier();
    }
    #[inline(always)]
    fn best(&mut self, own: Contender) -> Contender {
        self.crew.best(own)
    }
    #[inline(always)]
    fn is_over(&self) -> bool {
        self.watch.is_some_and(Watch::is_over)
    }
}

impl<P: Problem> Problem for Watched<'_, P> {
    type Moves = P::Moves;
    type Cost = P::Cost;
    const NAME: &'static str = P::NAME;
    const CROSSES: bool = P::CROSSES;

    #[inline(always)]
    unsafe fn new(shape: &Shape, tables: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Watched { problem: unsafe { P::new(shape, tables) }, watch: None }
    }

    #[inline(always)]
    fn moves(&self) -> P::Moves {
        self.problem.moves()
    }

    #[inline(always)]
    fn notes(&self) -> usize {
        self.problem.notes()
    }

    #[inline(always)]
    fn common(&self) -> usize {
        self.problem.common()
    }

    #[inline(always)]
    unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &WalkOf<Self>) -> P::Cost {
        // After a cut, climbs have no effect. Notes stay valid for their solution. All parts have to see the cut alike.
        if let Some(watch) = self.watch {
            let none = Contender::NONE;
            let own =
                if watch.is_cut() { Contender { key: 0, tag: crew.part().into(), ..none } } else { none };
            let is_cut = if crew.parts() == 1 { watch.is_cut() } else { crew.best(own).key == 0 };
            if is_cut {
                return P::Cost::from_bits(0);
            }
        }
        // SAFETY: the caller's promise. Where notes are left incomplete the watch is cut, and the results are discarded.
        unsafe { self.problem.begin(&mut Hasty { crew, watch: self.watch }, walk) }
    }

    #[inline(always)]
    unsafe fn cost(&self, walk: &WalkOf<Self>) -> P::Cost {
        // SAFETY: the caller's promise.
        unsafe { self.problem.cost(walk) }
    }

    #[inline(always)]
    unsafe fn neighbor_cost(&self, walk: &WalkOf<Self>, cost: P::Cost, step: Move<Self>) -> P::Cost {
        // SAFETY: the caller's promise.
        unsafe { self.problem.neighbor_cost(walk, cost, step) }
    }

    #[inline(always)]
    fn effort(&self) -> u64 {
        self.problem.effort()
    }

    #[inline(always)]
    fn is_over(&self) -> bool {
        self.watch.is_some_and(Watch::is_over)
    }

    #[inline(always)]
    unsafe fn make<C: Crew>(&self, crew: &mut C, walk: &WalkOf<Self>, step: Move<Self>) {
        // SAFETY: the caller's promise.
        unsafe { self.problem.make(crew, walk, step) }
    }

    #[inline(always)]
    unsafe fn scan<C: Crew>(
        &self,
        crew: &C,
        walk: &WalkOf<Self>,
        level: u32,
        cost: P::Cost,
        mut visit: impl FnMut(u64, Move<Self>, P::Cost),
    ) {
        let parts = crew.parts();
        let most = u64::from(u32::MAX / parts);
        let (start, end) = self.moves().level(level);
        let share = (STEPS / self.problem.effort().max(1)).clamp(1, SHARE);
        let shares = ((end - start) / (share * u64::from(parts))).clamp(1, most) as u32;
        for share in 0..shares {
            if self.watch.is_some_and(Watch::is_over) {
                return;
            }
            let shift =
                Shift { team: crew.team(), part: crew.part() * shares + share, parts: parts * shares };
            // SAFETY: the caller's promise; the shares of all parts together are all neighbours.
            unsafe { self.problem.scan(&shift, walk, level, cost, &mut visit) };
        }
    }
}
