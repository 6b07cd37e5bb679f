//! Counter-based random numbers: a draw is a function only of (seed, epoch, stream, step, item), so a result does not depend on
//! which thread computed it, nor on how many there are.
//!
//! A 64-bit finaliser (Stafford's variant 13, as in SplitMix64) turns seed, epoch and stream into a key, once per tour; two rounds
//! of multiply-and-fold (as in wyhash) turn key and step into another, once per step; two more turn that and the item into 32 bits.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[inline(always)]
const fn fold(a: u32, b: u32) -> u32 {
    let p = a as u64 * b as u64;
    (p >> 32) as u32 ^ p as u32
}

/// The random numbers of one ant (chain, individual) in one iteration.
///
/// ```
/// use antwarp_core::rng::Stream;
///
/// // With seed 1, in iteration 7, ant 3 draws its first node among 100: the same one whenever it is asked for.
/// let first = Stream::new(1, 7, 3).step(0).below(0, 100);
/// assert!(first < 100);
/// assert_eq!(first, Stream::new(1, 7, 3).step(0).below(0, 100));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    low: u32,
    high: u32,
}

impl Stream {
    /// Returns the stream of `index` in `epoch` (for example, an ant in an iteration) under `seed`.
    #[inline(always)]
    pub const fn new(seed: u64, epoch: u32, index: u32) -> Self {
        let counters = (epoch as u64) << 32 | index as u64;
        let key = mix(mix(seed.wrapping_add(GOLDEN)) ^ mix(counters.wrapping_add(1).wrapping_mul(GOLDEN)));
        Stream { low: key as u32, high: (key >> 32) as u32 }
    }

    /// Returns the draws of one step, for example of the choice of an ant's next node.
    #[inline(always)]
    pub const fn step(self, step: u32) -> Draws {
        let low = fold(step ^ self.low, 0xc2b2_ae3d);
        Draws { low, high: fold(low ^ self.high, 0x27d4_eb2f) }
    }
}

/// The draws of one step: one per item.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    low: u32,
    high: u32,
}

impl Draws {
    /// Returns 32 uniform bits for `item`.
    #[inline(always)]
    pub const fn bits(self, item: u32) -> u32 {
        let x = fold(item ^ self.low, 0x9e37_79b1);
        fold(x ^ self.high, 0x85eb_ca77)
    }

    /// Returns a uniform number in (0, 1) for `item`.
    #[inline(always)]
    pub fn unit(self, item: u32) -> f32 {
        unit(self.bits(item))
    }

    /// Returns a uniform integer below `n` for `item`, and 0 if `n` is 0; the bias is below n / 2^32.
    #[inline(always)]
    pub const fn below(self, item: u32, n: u32) -> u32 {
        ((self.bits(item) as u64 * n as u64) >> 32) as u32
    }
}

/// Returns a uniform number in (0, 1) from 32 uniform bits: an odd multiple of 2^-24, never 0 and never 1.
#[inline(always)]
pub fn unit(bits: u32) -> f32 {
    ((bits >> 9) as i32 as f32 + 0.5) * (1.0 / 8_388_608.0)
}

/// Returns an exponential variate -log2(u) > 0 from 32 uniform bits, in arithmetic that gives every machine the same bits: the
/// number of leading zeros is the integer part (each halves u), the rest a polynomial with a relative error of 1e-6. It replaces
/// the paper's `log2f`, whose device version no CPU reproduces.
///
/// With z leading zeros, u is 2^-z (1 - x / 2), where x in (0, 1) comes from the bits after the first one: 2^-32 (half a step above
/// 0) is the smallest x, so even the lightest of many candidates can win its race.
#[inline(always)]
pub fn exponential(bits: u32) -> f32 {
    let zeros = (bits | 1).leading_zeros();
    let rest = !(bits << zeros << 1);
    let x = ((rest >> 1) as i32 as f32 + 0.5) * (1.0 / 2_147_483_648.0);
    // Estrin's scheme: half as deep as Horner's, and latency is what counts.
    let x2 = x * x;
    let (a, b) = (0.721_348_2 + 0.180_270_79 * x, 0.061_118_055 + 0.016_909_849 * x);
    let (c, d) = (0.023_566_982 - 0.014_379_635 * x, 0.011_164_762f32);
    let p = (a + b * x2) + (c + d * x2) * (x2 * x2);
    zeros as i32 as f32 + x * p
}

/// Returns 1 / x for x from 2^-126 to 2^125, with a relative error of at most 7e-6, without the branch of an exact division.
#[inline(always)]
pub fn reciprocal(x: f32) -> f32 {
    // A first guess from the exponent, off by at most 5 %, then two steps of Newton's method.
    let r = f32::from_bits(0x7ef3_11c7 - x.to_bits());
    let r = r * (2.0 - x * r);
    r * (2.0 - x * r)
}

/// A generator with `rand_core`'s traits over one stream, for code that passes generators around.
#[cfg(feature = "rand")]
#[derive(Clone, Debug)]
pub struct StreamRng {
    stream: Stream,
    step: u32,
}

#[cfg(feature = "rand")]
impl StreamRng {
    /// Makes the generator that draws item 0 of each step of `stream`.
    pub const fn new(stream: Stream) -> Self {
        StreamRng { stream, step: 0 }
    }
}

#[cfg(feature = "rand")]
impl rand_core::TryRng for StreamRng {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        let bits = self.stream.step(self.step).bits(0);
        self.step = self.step.wrapping_add(1);
        Ok(bits)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        rand_core::utils::next_u64_via_u32(self)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        rand_core::utils::fill_bytes_via_next_word(bytes, || self.try_next_u32())
    }
}
