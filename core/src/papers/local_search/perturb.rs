//! Perturbation: the double bridge (Martin, Otto, Felten 1991), which no sequential move of up to three edges undoes; and how much
//! longer it makes a tour.

use crate::distance::Distance;
use crate::rng::Draws;

/// Exchanges of a double bridge.
pub const STEPS: u32 = 4;

/// Where a tour A B C D is cut: B starts after the node at position `first`, and B, C, D have these lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The position of A's last node.
    pub first: u32,
    /// Lengths of B, C, D, at least 1 each, less than n together.
    pub lengths: [u32; 3],
}

impl Cut {
    /// Draws a cut of a tour of n nodes, at least 4, with segments of up to `longest` nodes; 0: four edges anywhere. It uses items
    /// 0 to 3 of `draws`.
    #[inline(always)]
    pub fn of(draws: Draws, n: u32, longest: u32) -> Cut {
        if longest == 0 { Cut::anywhere(draws, n) } else { Cut::local(draws, n, longest) }
    }

    /// Draws three consecutive segments of up to `longest` nodes each, and up to (n - 1) / 3, anywhere.
    ///
    /// `n` is at least 4, `longest` at least 1.
    #[inline(always)]
    pub fn local(draws: Draws, n: u32, longest: u32) -> Cut {
        let most = (n - 1) / 3;
        let most = if longest < most { longest } else { most };
        let length = |item| 1 + draws.below(item, most);
        Cut { first: draws.below(0, n), lengths: [length(1), length(2), length(3)] }
    }

    /// Draws four different edges of the whole tour, each set of four equally likely.
    ///
    /// `n` is at least 4.
    #[inline(always)]
    pub fn anywhere(draws: Draws, n: u32) -> Cut {
        // A first edge, then three different ones of the n - 1 others, in order: Floyd's sampling.
        let m = n - 1;
        let mut a = draws.below(1, m - 2);
        let mut b = draws.below(2, m - 1);
        if b == a {
            b = m - 2;
        }
        let mut c = draws.below(3, m);
        if c == a || c == b {
            c = m - 1;
        }
        let swap = |x: &mut u32, y: &mut u32| {
            if *x > *y {
                core::mem::swap(x, y)
            }
        };
        swap(&mut a, &mut b);
        swap(&mut b, &mut c);
        swap(&mut a, &mut b);
        Cut { first: draws.below(0, n), lengths: [a + 1, b - a, c - b] }
    }

    /// Returns the positions of the nodes at the cuts, along the tour: A's last; first and last of B, C, D; the one after D.
    #[inline(always)]
    pub fn ends(self, n: u32) -> [u32; 8] {
        let [b, c, d] = self.lengths;
        let at = |offset: u32| {
            let position = self.first + offset;
            if position >= n { position - n } else { position }
        };
        [at(0), at(1), at(b), at(b + 1), at(b + c), at(b + c + 1), at(b + c + d), at(b + c + d + 1)]
    }
}

/// Returns exchange number `step`, below [`STEPS`], of a double bridge, given the nodes at [`Cut::ends`]: the arguments of
/// [`exchange`](super::array::ArrayTour::exchange).
#[inline(always)]
pub const fn step([a, b1, b2, c1, c2, d1, d2, e]: [u32; 8], step: u32) -> [u32; 4] {
    match step {
        0 => [a, b1, d2, e],
        1 => [a, d2, d1, c2],
        2 => [d2, c2, c1, b2],
        _ => [c2, b2, b1, e],
    }
}

/// Returns how much longer a double bridge makes a tour, given the nodes at [`Cut::ends`].
///
/// # Safety
/// All are nodes.
#[inline(always)]
pub unsafe fn longer<D: Distance>(distance: D, [a, b1, b2, c1, c2, d1, d2, e]: [u32; 8]) -> i64 {
    // SAFETY: the caller's promise.
    let length = |i, j| unsafe { distance.between(i, j) as i64 };
    let added = length(a, d1) + length(d2, c1) + length(c2, b1) + length(b2, e);
    let removed = length(a, b1) + length(b2, c1) + length(c2, d1) + length(d2, e);
    added - removed
}
