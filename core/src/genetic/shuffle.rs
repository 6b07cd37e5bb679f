//! Random permutations of which every element is computed on its own, so that threads share no state.

use crate::rng::Stream;

/// Rounds of the network: the first elements of all permutations of a few nodes are told from uniform ones by no test
/// here from four rounds on.
const ROUNDS: u32 = 6;

/// A random permutation of 0 .. n: a Feistel network on the smallest square power of two that is not less, walked
/// again where it leaves the range.
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    stream: Stream,
    n: u32,
    /// Half the bits of the network.
    half: u32,
}

impl Shuffle {
    /// The permutation of 0 .. n that `stream` draws.
    #[inline(always)]
    pub const fn new(stream: Stream, n: u32) -> Self {
        let bits = u32::BITS - n.saturating_sub(1).leading_zeros();
        let half = if bits < 2 { 1 } else { bits.div_ceil(2) };
        Shuffle { stream, n, half }
    }

    /// Element `i`, below n; `i` must be below n.
    #[inline(always)]
    pub const fn at(self, i: u32) -> u32 {
        let mask = (1 << self.half) - 1;
        let mut x = i;
        // The walk is along a cycle of a permutation that i is on, so it comes back below n.
        loop {
            let (mut left, mut right) = (x >> self.half, x & mask);
            let mut round = 0;
            while round < ROUNDS {
                let mixed = left ^ (self.stream.step(round).bits(right) & mask);
                left = right;
                right = mixed;
                round += 1;
            }
            x = left << self.half | right;
            if x < self.n {
                return x;
            }
        }
    }
}
