//! Vectors of numbers: data about several nodes that a team's member handles together. A CPU thread handles four, which fit its
//! vector registers; a GPU thread handles one.
//!
//! Operations on them have no branches, because their outcome cannot be predicted. A truth value is a number with all bits set or
//! none.

/// One number per lane, less than 2^30 in size, except truth values and lengths, which are only compared.
pub type Lanes<const W: usize> = [i32; W];

/// Converts to a truth value.
#[inline(always)]
pub fn truth(is: bool) -> i32 {
    -(is as i32)
}

/// Maps each item. The `map` of arrays is not inlined in every build, and functions that are not inlined into code for newer
/// processors are not compiled for them: trials took twice as long then.
#[inline(always)]
pub fn map<T: Copy, U: Copy, const N: usize>(items: [T; N], of: impl Fn(T) -> U) -> [U; N] {
    let mut all = [of(items[0]); N];
    let mut i = 1;
    while i < N {
        all[i] = of(items[i]);
        i += 1;
    }
    all
}

/// Applies a function to each number.
#[inline(always)]
pub fn each<const W: usize>(a: Lanes<W>, of: impl Fn(i32) -> i32) -> Lanes<W> {
    both(a, a, |a, _| of(a))
}

/// Applies a function to each pair.
#[inline(always)]
pub fn both<const W: usize>(a: Lanes<W>, b: Lanes<W>, of: impl Fn(i32, i32) -> i32) -> Lanes<W> {
    let mut all = [0; W];
    let mut lane = 0;
    while lane < W {
        all[lane] = of(a[lane], b[lane]);
        lane += 1;
    }
    all
}

/// Returns where both are true.
#[inline(always)]
pub fn and<const W: usize>(a: Lanes<W>, b: Lanes<W>) -> Lanes<W> {
    both(a, b, |a, b| a & b)
}

/// Returns where a condition holds.
#[inline(always)]
pub fn holds<const W: usize>(a: Lanes<W>, of: impl Fn(i32) -> bool) -> Lanes<W> {
    each(a, |a| truth(of(a)))
}

/// Returns where both are the same.
#[inline(always)]
pub fn same<const W: usize>(a: Lanes<W>, b: Lanes<W>) -> Lanes<W> {
    both(a, b, |a, b| truth(a == b))
}

/// Returns one bit for each truth value, the first one lowest.
#[inline(always)]
pub fn bits<const W: usize>(truths: Lanes<W>) -> u32 {
    let mut all = 0;
    let mut lane = 0;
    while lane < W {
        all |= truths[lane] & 1 << lane;
        lane += 1;
    }
    all as u32
}
