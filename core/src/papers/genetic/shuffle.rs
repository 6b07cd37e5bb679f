//! Random permutations in which every element is computed independently, so that threads share no state.

use crate::rng::Stream;

/// Rounds of the network: no test here distinguishes pairs of elements from uniform ones.
const ROUNDS: u32 = 6;

/// Rounds of a network with at most [`TINY`] bits per half: with 16 elements, pairs are off by a twelfth after 6 rounds, and every
/// two more divide that by 4.
const ROUNDS_OF_TINY: u32 = 12;

/// Bits of half a tiny network.
const TINY: u32 = 2;

/// A random permutation of 0 .. n: a Feistel network on the smallest square power of two that is not less, applied again while the
/// result is out of range (J. Black and P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
///
/// ```
/// use antwarp_core::papers::genetic::Shuffle;
/// use antwarp_core::rng::Stream;
///
/// let shuffle = Shuffle::new(Stream::new(1, 0, 0), 10);
/// let mut all: Vec<u32> = (0..10).map(|i| shuffle.at(i)).collect();
/// all.sort();
/// assert!(all.into_iter().eq(0..10));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    stream: Stream,
    n: u32,
    /// Half the bits of the network.
    half: u32,
}

impl Shuffle {
    /// Makes the permutation of 0 .. n drawn from `stream`.
    #[inline(always)]
    pub const fn new(stream: Stream, n: u32) -> Self {
        let bits = u32::BITS - n.saturating_sub(1).leading_zeros();
        let half = if bits < 2 { 1 } else { bits.div_ceil(2) };
        Shuffle { stream, n, half }
    }

    /// Returns element `i`, for `i` below n; for others this may not end.
    #[inline(always)]
    pub const fn at(self, i: u32) -> u32 {
        let mask = (1 << self.half) - 1;
        let rounds = if self.half <= TINY { ROUNDS_OF_TINY } else { ROUNDS };
        let mut x = i;
        // The walk is along a cycle of a permutation that contains i, so it comes back below n.
        loop {
            let (mut left, mut right) = (x >> self.half, x & mask);
            let mut round = 0;
            while round < rounds {
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
