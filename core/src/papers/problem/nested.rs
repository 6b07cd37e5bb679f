//! A problem with several neighbourhoods.

use super::{Move, Perceptron, Problem, RotatedTour, Shape, SwappedTour, WalkOf};
use crate::geometry::{Grid, Numbered};
use crate::papers::neighborhood::{self, Neighborhood, Step};
use crate::papers::search::Crew;

/// A problem with its neighbourhood, followed by the same problem with others: for variable neighbourhood search.
#[derive(Clone, Copy, Debug)]
pub struct Nested<A, B> {
    first: A,
    behind: B,
}

/// The permuted perceptron problem at distance 1, then 2, then 3.
pub type NestedPerceptron = Nested<Perceptron<1, true>, Nested<Perceptron<2, true>, Perceptron<3, true>>>;

/// Tours in which two cities swap places, then three rotate.
pub type NestedTour<G> = Nested<SwappedTour<G>, RotatedTour<G>>;

/// The same problem as `A`, with another neighbourhood.
///
/// # Safety
/// It has the shape, tables, solutions, costs and notes of `A`: notes made by either are valid for the other.
pub unsafe trait Behind<A: Problem>:
    Problem<Cost = A::Cost, Moves: Neighborhood<Element = <A::Moves as Neighborhood>::Element>>
{
    /// The name of both combined, in the names of kernels.
    const TOGETHER: &'static str;
}

// SAFETY: a problem's notes do not depend on the neighbourhood, except those of perceptrons, which here serve all distances.
unsafe impl Behind<Perceptron<2, true>> for Perceptron<3, true> {
    const TOGETHER: &'static str = "perceptron_2_and_3";
}
// SAFETY: as above.
unsafe impl Behind<Perceptron<1, true>> for Nested<Perceptron<2, true>, Perceptron<3, true>> {
    const TOGETHER: &'static str = "perceptron_nested";
}
// SAFETY: as above.
unsafe impl Behind<SwappedTour<Grid>> for RotatedTour<Grid> {
    const TOGETHER: &'static str = "tour_nested_grid";
}
// SAFETY: as above.
unsafe impl Behind<SwappedTour<Numbered>> for RotatedTour<Numbered> {
    const TOGETHER: &'static str = "tour_nested_numbered";
}

impl<A: Problem, B: Behind<A>> Problem for Nested<A, B> {
    type Moves = neighborhood::Nested<A::Moves, B::Moves>;
    type Cost = A::Cost;
    const NAME: &'static str = B::TOGETHER;

    #[inline(always)]
    unsafe fn new(shape: &Shape, tables: *const u8) -> Self {
        // SAFETY: the caller's promise, and that of `Behind`.
        unsafe { Nested { first: A::new(shape, tables), behind: B::new(shape, tables) } }
    }

    #[inline(always)]
    fn moves(&self) -> Self::Moves {
        neighborhood::Nested { first: self.first.moves(), behind: self.behind.moves() }
    }

    #[inline(always)]
    fn notes(&self) -> usize {
        self.first.notes()
    }

    #[inline(always)]
    fn common(&self) -> usize {
        self.first.common()
    }

    #[inline(always)]
    fn effort(&self) -> u64 {
        self.first.effort().max(self.behind.effort())
    }

    #[inline(always)]
    unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &WalkOf<Self>) -> A::Cost {
        // SAFETY: the caller's promise.
        unsafe { self.first.begin(crew, walk) }
    }

    #[inline(always)]
    unsafe fn neighbor_cost(&self, walk: &WalkOf<Self>, cost: A::Cost, step: Move<Self>) -> A::Cost {
        // SAFETY: the caller's promise, and that of `Behind`.
        unsafe {
            match step {
                Step::First(step) => self.first.neighbor_cost(walk, cost, step),
                Step::Behind(step) => self.behind.neighbor_cost(walk, cost, step),
            }
        }
    }

    #[inline(always)]
    unsafe fn make<C: Crew>(&self, crew: &mut C, walk: &WalkOf<Self>, step: Move<Self>) {
        // SAFETY: as above.
        unsafe {
            match step {
                Step::First(step) => self.first.make(crew, walk, step),
                Step::Behind(step) => self.behind.make(crew, walk, step),
            }
        }
    }

    #[inline(always)]
    unsafe fn scan<C: Crew>(
        &self,
        crew: &C,
        walk: &WalkOf<Self>,
        level: u32,
        cost: A::Cost,
        mut visit: impl FnMut(u64, Move<Self>, A::Cost),
    ) {
        let own = self.first.moves();
        // SAFETY: as above.
        unsafe {
            if level < own.levels() {
                self.first.scan(crew, walk, level, cost, |index, step, there| {
                    visit(index, Step::First(step), there)
                });
            } else {
                self.behind.scan(crew, walk, level - own.levels(), cost, |index, step, there| {
                    visit(own.len() + index, Step::Behind(step), there)
                });
            }
        }
    }
}
