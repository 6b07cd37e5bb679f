//! Numbers side by side: what is known of several nodes that a team's member looks at together. A CPU thread looks at four, which
//! its vector registers hold; a GPU's thread looks at one.
//!
//! What is done with them has no branches, for which way each would take cannot be foreseen. A truth is a number with all
//! bits set or none.

/// A number of each; less than 2^30 in size, but for truths and lengths, which are only compared.
pub type Lanes<const W: usize> = [i32; W];

/// A truth.
#[inline(always)]
pub fn truth(is: bool) -> i32 {
    -(is as i32)
}

/// What becomes of each item. That of arrays themselves is not inlined in every build, and what is not inlined into code for newer
/// processors is no such code: trials took twice as long then.
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

/// The same of each.
#[inline(always)]
pub fn each<const W: usize>(a: Lanes<W>, of: impl Fn(i32) -> i32) -> Lanes<W> {
    both(a, a, |a, _| of(a))
}

/// The same of each pair.
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

/// Where both are true.
#[inline(always)]
pub fn and<const W: usize>(a: Lanes<W>, b: Lanes<W>) -> Lanes<W> {
    both(a, b, |a, b| a & b)
}

/// Where a condition holds.
#[inline(always)]
pub fn holds<const W: usize>(a: Lanes<W>, of: impl Fn(i32) -> bool) -> Lanes<W> {
    each(a, |a| truth(of(a)))
}

/// Where both are the same.
#[inline(always)]
pub fn same<const W: usize>(a: Lanes<W>, b: Lanes<W>) -> Lanes<W> {
    both(a, b, |a, b| truth(a == b))
}

/// A bit for each truth, the first one lowest.
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
