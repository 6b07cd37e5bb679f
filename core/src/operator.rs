//! Which moves a local search makes.
//!
//! A move takes edges out of a tour and puts as many in, step by step: each step puts one in, takes the next one out, and can
//! end with the edge that closes the tour.

/// An operator of moves of two and three edges.
pub trait Operator: Copy + Send + Sync + 'static {
    /// Most steps of a move: it takes out one edge more.
    const STEPS: u32;
    /// Whether moves of two edges count.
    const PAIRS: bool = true;
    /// Of moves of three edges, only those count that move a segment of at most so many nodes.
    const SEGMENT: u32 = u32::MAX;
    /// Whether only those count that turn no part of the tour: edges may have a direction then.
    const DIRECTED: bool = false;
}

/// 2-opt: two edges out, two in (Croes 1958).
#[derive(Clone, Copy, Debug)]
pub struct TwoOpt;

/// Or-opt: a segment of up to three nodes goes elsewhere, either way around (Or 1976).
#[derive(Clone, Copy, Debug)]
pub struct OrOpt;

/// 2-opt and Or-opt together (2h-opt and more).
#[derive(Clone, Copy, Debug)]
pub struct Or2opt;

/// 2-opt, and every pure 3-opt reconnection (Lin 1965).
#[derive(Clone, Copy, Debug)]
pub struct ThreeOpt;

/// Or-3opt: a segment of any length goes elsewhere, the same way around, so that all edges that stay keep their direction
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

/// How far a search goes that looks at moves [step by step](crate::lin_kernighan::moves).
///
/// # Safety
/// Steps and what they keep are within the bounds that the functions tell: a search has memory for so many beginnings.
pub unsafe trait Reach: Copy + Send + Sync {
    /// Most steps of a move, at most [`MOST_STEPS`].
    fn steps(self) -> u32;
    /// Beginnings of moves that a step keeps, which all but the last one do: at most [`MOST_KEPT`] by all steps together.
    fn kept(self, step: u32) -> u32;
    /// As [`Operator::PAIRS`].
    fn pairs(self) -> bool;
    /// As [`Operator::SEGMENT`].
    fn segment(self) -> u32;
}

/// Most steps of any search.
pub const MOST_STEPS: u32 = 6;
/// Most beginnings that are kept.
pub const MOST_KEPT: u32 = 12;

/// Up to seven edges, deep rather than broad (Lin and Kernighan 1973).
#[derive(Clone, Copy, Debug)]
pub struct LinKernighan;

// SAFETY: the array has a number for each step but the last, 12 together.
unsafe impl Reach for LinKernighan {
    #[inline(always)]
    fn steps(self) -> u32 {
        MOST_STEPS
    }

    #[inline(always)]
    fn kept(self, step: u32) -> u32 {
        const KEPT: [u32; MOST_STEPS as usize - 1] = [4, 3, 2, 2, 1];
        KEPT[step as usize]
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

/// As far as an [`Operator`] goes: code that is compiled once for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Shallow {
    steps: u32,
    pairs: u32,
    segment: u32,
}

impl Shallow {
    /// An operator's.
    pub const fn of<O: Operator>() -> Shallow {
        const { assert!(O::STEPS == 1 || O::STEPS == 2, "only the first of two steps may keep beginnings") };
        Shallow { steps: O::STEPS, pairs: O::PAIRS as u32, segment: O::SEGMENT }
    }
}

// SAFETY: there are two steps at most, so one keeps beginnings.
unsafe impl Reach for Shallow {
    #[inline(always)]
    fn steps(self) -> u32 {
        self.steps
    }

    /// Nearly all: two directions, eight neighbours, two edges of each.
    #[inline(always)]
    fn kept(self, _: u32) -> u32 {
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
