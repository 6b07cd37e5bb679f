//! The moves that a local search makes.
//!
//! A move removes edges from a tour and adds as many, step by step: each step adds one, removes the next one, and may end with the
//! edge that closes the tour.

/// An operator of local search, with moves of two or three edges.
pub trait Operator: Copy + Send + Sync + 'static {
    /// Most steps of a move, 1 or 2: it removes one edge more.
    const STEPS: u32;
    /// Whether moves of two edges are allowed.
    const PAIRS: bool = true;
    /// Moves of three edges are allowed only if they move a segment of at most this many nodes.
    const SEGMENT: u32 = u32::MAX;
    /// Whether only moves that reverse no part of the tour are allowed, so that edges may have a direction.
    const DIRECTED: bool = false;
}

/// 2-opt: replaces two edges by two others (Croes 1958).
#[derive(Clone, Copy, Debug)]
pub struct TwoOpt;

/// Or-opt: moves a segment of up to three nodes elsewhere, in either direction (Or 1976).
#[derive(Clone, Copy, Debug)]
pub struct OrOpt;

/// 2-opt and Or-opt together (2h-opt and more).
#[derive(Clone, Copy, Debug)]
pub struct Or2opt;

/// 2-opt, and every pure 3-opt reconnection (Lin 1965).
#[derive(Clone, Copy, Debug)]
pub struct ThreeOpt;

/// Or-3opt: moves a segment of any length elsewhere, in the same direction, so that all remaining edges keep their direction
/// (Kanellakis and Papadimitriou 1980).
#[derive(Clone, Copy, Debug)]
pub struct Or3opt;

impl Operator for TwoOpt {
    const STEPS: u32 = 1;
    const SEGMENT: u32 = 0;
}

impl Operator for OrOpt {
    const STEPS: u32 = 2;
    const PAIRS: bool = false;
    const SEGMENT: u32 = 3;
}

impl Operator for Or2opt {
    const STEPS: u32 = 2;
    const SEGMENT: u32 = 3;
}

impl Operator for ThreeOpt {
    const STEPS: u32 = 2;
}

impl Operator for Or3opt {
    const STEPS: u32 = 2;
    const PAIRS: bool = false;
    const DIRECTED: bool = true;
}

/// How far a search of moves goes, [step by step](crate::lin_kernighan::moves).
///
/// # Safety
/// The numbers of steps and of kept partial moves stay within the stated bounds: a search has memory for only that many.
pub unsafe trait Reach: Copy + Send + Sync {
    /// Returns the most steps of a move, at most [`MOST_STEPS`].
    fn steps(self) -> u32;
    /// Returns the most partial moves that a step, from 0, keeps, for all steps but the last: at most [`MOST_KEPT`] for all steps
    /// together.
    fn beam_width(self, step: u32) -> u32;
    /// As [`Operator::PAIRS`].
    fn pairs(self) -> bool;
    /// As [`Operator::SEGMENT`].
    fn segment(self) -> u32;
}

/// Most steps of any search.
pub const MOST_STEPS: u32 = 6;
/// Most partial moves that all steps of any search keep together.
pub const MOST_KEPT: u32 = 12;

/// Up to seven edges, deep rather than broad (Lin and Kernighan 1973).
#[derive(Clone, Copy, Debug)]
pub struct LinKernighan;

// SAFETY: the array has a number for each step but the last, with a sum of 12.
unsafe impl Reach for LinKernighan {
    #[inline(always)]
    fn steps(self) -> u32 {
        MOST_STEPS
    }

    #[inline(always)]
    fn beam_width(self, step: u32) -> u32 {
        const WIDTHS: [u32; MOST_STEPS as usize - 1] = [4, 3, 2, 2, 1];
        WIDTHS[step as usize]
    }

    #[inline(always)]
    fn pairs(self) -> bool {
        true
    }

    #[inline(always)]
    fn segment(self) -> u32 {
        u32::MAX
    }
}

/// The reach of an [`Operator`], as one type: code is compiled once for all operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Shallow {
    steps: u32,
    pairs: u32,
    segment: u32,
}

impl Shallow {
    /// Returns the reach of an operator, without [`Operator::DIRECTED`]: moves with a reach may reverse parts of a tour.
    pub const fn of<O: Operator>() -> Shallow {
        const { assert!(O::STEPS == 1 || O::STEPS == 2, "only the first of two steps may keep beginnings") };
        Shallow { steps: O::STEPS, pairs: O::PAIRS as u32, segment: O::SEGMENT }
    }
}

// SAFETY: there are at most two steps, so only one keeps partial moves.
unsafe impl Reach for Shallow {
    #[inline(always)]
    fn steps(self) -> u32 {
        self.steps
    }

    /// Nearly all: two directions, eight neighbours, two edges for each.
    #[inline(always)]
    fn beam_width(self, _: u32) -> u32 {
        MOST_KEPT
    }

    #[inline(always)]
    fn pairs(self) -> bool {
        self.pairs != 0
    }

    #[inline(always)]
    fn segment(self) -> u32 {
        self.segment
    }
}
