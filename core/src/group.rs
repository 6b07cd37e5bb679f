//! Groups of eight weights: the unit in which the selections read rows of weights.
//!
//! Sums are taken in one fixed order, so a CPU thread, a warp and a block get the same bits.

/// Weights in a group.
pub const SIZE: usize = 8;

/// [`SIZE`] weights in a row of them.
pub type Group = [f32; SIZE];

/// `n` rounded up to a whole number of groups.
#[inline(always)]
pub const fn round_up(n: u32) -> u32 {
    n.next_multiple_of(SIZE as u32)
}

#[repr(C, align(16))]
struct Quad(f32, f32, f32, f32);

/// The group that starts at `start`.
///
/// # Safety
/// `start` is aligned to 16 bytes and valid for reads of [`SIZE`] floats.
#[inline(always)]
pub unsafe fn load(start: *const f32) -> Group {
    // SAFETY: the caller's promise.
    let (a, b) = unsafe { (&*start.cast::<Quad>(), &*start.add(4).cast::<Quad>()) };
    [a.0, a.1, a.2, a.3, b.0, b.1, b.2, b.3]
}

/// The sum, as a tree: three additions deep.
#[inline(always)]
pub fn sum(w: Group) -> f32 {
    ((w[0] + w[1]) + (w[2] + w[3])) + ((w[4] + w[5]) + (w[6] + w[7]))
}

/// Roulette in one group: the first member whose prefix sum exceeds `r`, and what is left of `r` inside it.
///
/// A member of weight 0 is never chosen. Where rounding has carried `r` past the last prefix sum, the last
/// member that weighs anything is chosen.
#[inline(always)]
pub fn pick(w: Group, r: f32) -> (u32, f32) {
    let mut before = 0.0f32;
    let (mut chosen, mut left, mut found) = (0, 0.0f32, false);
    let mut k = 0;
    while k < SIZE {
        let prefix = before + w[k];
        if !found && w[k] > 0.0 {
            (chosen, left) = (k as u32, r - before);
            found = prefix > r;
        }
        before = prefix;
        k += 1;
    }
    (chosen, left)
}
