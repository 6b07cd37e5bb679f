//! What a search needs to know about a problem, and antwarp's problems.
//!
//! A new problem implements [`Problem`], and all of [`search`](crate::papers::search) works on it, on both backends; [`partition`] is the
//! shortest example.

pub mod max_cut;
pub mod nested;
pub mod partition;
pub mod perceptron;
pub mod qap;
pub mod tour;
pub mod weierstrass;

pub use max_cut::MaxCut;
pub use nested::{Nested, NestedPerceptron, NestedTour};
pub use partition::Partition;
pub use perceptron::Perceptron;
pub use qap::Qap;
pub use tour::{RotatedTour, SwappedTour};
pub use weierstrass::Weierstrass;

use crate::papers::neighborhood::{Neighborhood, Walk};
use crate::papers::search::{Alone, Cost, Crew};
use crate::team::Team;

/// Calls macro `$then` with every problem that has kernels, one line each: [`Problem::NAME`], its type, and the most threads of a
/// block: fewer leave more registers for each.
#[macro_export]
macro_rules! with_problems {
    ($then:ident) => {
        $then! {
            qap: Qap<false>, 1024;
            qap_stored: Qap<true>, 512;
            perceptron_1: Perceptron<1>, 512;
            perceptron_2: Perceptron<2>, 512;
            perceptron_3: Perceptron<3>, 512;
            tour_swap_grid: SwappedTour<Grid>, 512;
            tour_swap_numbered: SwappedTour<Numbered>, 512;
            tour_rotate_grid: RotatedTour<Grid>, 512;
            tour_rotate_numbered: RotatedTour<Numbered>, 512;
            weierstrass_f32: Weierstrass<f32>, 512;
            weierstrass_f64: Weierstrass<f64>, 512;
            partition: Partition, 1024;
            max_cut: MaxCut, 1024;
        }
    };
}

/// The same for problems whose walks read and write little else than their replica: these have another kernel, only for replicas in
/// shared memory. With the kernel for either memory, QAP with stored changes takes 1.25 times as long, exchanges of cities 1.10,
/// partition 1.07 (maximum cut was not measured); other problems take at most 1.02 times as long (H100).
#[macro_export]
macro_rules! with_problems_in_shared {
    ($then:ident) => {
        $then! {
            qap_stored: Qap<true>, 512;
            tour_swap_grid: SwappedTour<Grid>, 512;
            tour_swap_numbered: SwappedTour<Numbered>, 512;
            partition: Partition, 1024;
            max_cut: MaxCut, 1024;
        }
    };
}

/// The same for problems with several neighbourhoods, which only walks use.
#[macro_export]
macro_rules! with_nested_problems {
    ($then:ident) => {
        $then! {
            perceptron_nested: NestedPerceptron, 512;
            tour_nested_grid: NestedTour<Grid>, 512;
            tour_nested_numbered: NestedTour<Numbered>, 512;
        }
    };
}

/// The numbers that describe an instance; each problem's documentation says which. Its tables are separate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Shape {
    /// Sizes and flags.
    pub sizes: [u32; 4],
    /// Real parameters.
    pub numbers: [f32; 4],
}

/// The moves of a problem.
pub type Move<P> = <<P as Problem>::Moves as Neighborhood>::Move;
/// The element type of its solutions, which are vectors.
pub type Element<P> = <<P as Problem>::Moves as Neighborhood>::Element;
/// A walk through its solutions.
pub type WalkOf<P> = Walk<Element<P>>;

/// A problem to minimise, with an encoding and a neighbourhood.
///
/// The problem defines its team's notes about the solution ([`Walk::notes`], separate for each replica) and the notes shared by the
/// walk's teams ([`Walk::common`]): it asks for bytes, fills them in [`Problem::begin`] and updates them in [`Problem::make`].
pub trait Problem: Copy {
    /// Encoding and neighbourhood.
    type Moves: Neighborhood;
    /// The cost that solutions are compared by.
    type Cost: Cost;

    /// The problem's name in the names of kernels.
    const NAME: &'static str;
    /// Whether crossing two solutions is useful: [`Neighborhood::cross`].
    const CROSSES: bool = false;

    /// Makes the instance of a shape, with tables at a 16-byte boundary.
    ///
    /// # Safety
    /// `tables` holds what the problem's documentation requires, for as long as the instance is used.
    unsafe fn new(shape: &Shape, tables: *const u8) -> Self;

    /// Returns the neighbourhood.
    fn moves(&self) -> Self::Moves;

    /// Returns the bytes of a team's notes, which start at a 16-byte boundary.
    fn notes(&self) -> usize {
        0
    }

    /// Returns the bytes of the notes that a walk's teams share, which start at a 16-byte boundary.
    fn common(&self) -> usize {
        0
    }

    /// Makes all notes about the walk's solution, and computes its cost from nothing else. All teams get the same result. Notes may
    /// be left incomplete once [`Crew::is_over`] says that the batch will be discarded.
    ///
    /// # Safety
    /// The walk is of this problem: solution and notes have the sizes given here; all members of all teams call this.
    unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &WalkOf<Self>) -> Self::Cost;

    /// Returns the cost of the walk's solution, computed by one thread without reading notes; it may make them.
    ///
    /// # Safety
    /// As [`Problem::begin`].
    unsafe fn cost(&self, walk: &WalkOf<Self>) -> Self::Cost {
        // SAFETY: the caller's promise.
        unsafe { self.begin(&mut Alone, walk) }
    }

    /// Returns the cost of a neighbour, given that of the walk's solution, from what the move changes. Each member may ask for
    /// another neighbour.
    ///
    /// # Safety
    /// As [`Problem::begin`], which was called before; `step` is a move of the walk's solution.
    unsafe fn neighbor_cost(&self, walk: &WalkOf<Self>, cost: Self::Cost, step: Move<Self>) -> Self::Cost;

    /// Returns about how many short steps the cost of a neighbour takes: the caller uses it to decide how often to check the clock.
    #[inline(always)]
    fn effort(&self) -> u64 {
        1
    }

    /// Returns whether evaluations may stop because their results will be discarded: where core's caller has no more time.
    #[inline(always)]
    fn is_over(&self) -> bool {
        false
    }

    /// Makes a move, updates the notes, and waits at least for its own team.
    ///
    /// # Safety
    /// As [`Problem::neighbor_cost`]; all members of all teams call this, after they have finished earlier reads.
    #[inline(always)]
    unsafe fn make<C: Crew>(&self, crew: &mut C, walk: &WalkOf<Self>, step: Move<Self>) {
        // SAFETY: the caller's promise.
        unsafe { self.moves().apply(crew.team(), walk, step) }
    }

    /// Calls `visit` with the number, the move and the cost of each of this member's neighbours; all members of all teams together
    /// visit all neighbours of a [level](Neighborhood::level). The number is [`Neighborhood::index`] of the move.
    ///
    /// # Safety
    /// As [`Problem::neighbor_cost`].
    #[inline(always)]
    unsafe fn scan<C: Crew>(
        &self,
        crew: &C,
        walk: &WalkOf<Self>,
        level: u32,
        cost: Self::Cost,
        visit: impl FnMut(u64, Move<Self>, Self::Cost),
    ) {
        let _ = level;
        // SAFETY: the caller's promise.
        unsafe { scan_one_by_one(self, crew, walk, cost, visit) }
    }
}

/// Implements [`Problem::scan`] for problems with one level whose neighbours share no work.
///
/// # Safety
/// As there.
#[inline(always)]
pub unsafe fn scan_one_by_one<P: Problem, C: Crew>(
    problem: &P,
    crew: &C,
    walk: &WalkOf<P>,
    cost: P::Cost,
    mut visit: impl FnMut(u64, Move<P>, P::Cost),
) {
    let (moves, team) = (problem.moves(), crew.team());
    let (start, end) = crew.share(moves.len());
    let mut index = start + team.rank() as u64;
    if index >= end {
        return;
    }
    let mut step = moves.at(index);
    loop {
        // SAFETY: the caller's promise.
        visit(index, step, unsafe { problem.neighbor_cost(walk, cost, step) });
        if end - index <= team.size() as u64 {
            break;
        }
        step = moves.skip(step, index, team.size());
        index += team.size() as u64;
    }
}
