//! Groups of eight weights: the unit in which the selections read rows of weights.
//!
//! Sums are taken in one fixed order, so a CPU thread, a warp and a block get the same bits.

/// Weights in a group.
pub const SIZE: usize = 8;

/// [`SIZE`] weights in a row of them.
pub type Group = [f32; SIZE];

/// Returns `n` rounded up to a whole number of groups.
#[inline(always)]
pub const fn round_up(n: u32) -> u32 {
    n.next_multiple_of(SIZE as u32)
}

#[repr(C, align(16))]
struct Quad(f32, f32, f32, f32);

/// Loads the group that starts at `start`.
///
/// # Safety
/// `start` is aligned to 16 bytes and valid for reads of [`SIZE`] floats.
#[inline(always)]
pub unsafe fn load(start: *const f32) -> Group {
    // SAFETY: the caller's promise.
    let (a, b) = unsafe { (&*start.cast::<Quad>(), &*start.add(4).cast::<Quad>()) };
    [a.0, a.1, a.2, a.3, b.0, b.1, b.2, b.3]
}

/// Returns the sum, as a tree: three additions deep.
#[inline(always)]
pub fn sum(w: Group) -> f32 {
    ((w[0] + w[1]) + (w[2] + w[3])) + ((w[4] + w[5]) + (w[6] + w[7]))
}

/// Selects by roulette in one group of weights that are not negative, down the tree of [`sum`]: returns the number of the weight,
/// from 0, that `r`, from 0 up to the sum, falls on, and what is left of `r` inside it.
///
/// A weight of 0 is never chosen while another is larger, however `r` is rounded.
#[inline(always)]
pub fn pick(w: Group, r: f32) -> (u32, f32) {
    let pairs = [w[0] + w[1], w[2] + w[3], w[4] + w[5], w[6] + w[7]];
    let (high, r) = go_right(pairs[0] + pairs[1], pairs[2] + pairs[3], r);
    let choose = |a: f32, b: f32| if high { b } else { a };
    let four = [choose(w[0], w[4]), choose(w[1], w[5]), choose(w[2], w[6]), choose(w[3], w[7])];
    let (middle, r) = go_right(choose(pairs[0], pairs[2]), choose(pairs[1], pairs[3]), r);
    let two = if middle { [four[2], four[3]] } else { [four[0], four[1]] };
    let (low, r) = go_right(two[0], two[1], r);
    (4 * high as u32 + 2 * middle as u32 + low as u32, r)
}

/// Returns whether `r` falls on the right one of two sums, and what is left of it there.
#[inline(always)]
fn go_right(left: f32, right: f32, r: f32) -> (bool, f32) {
    let right = r >= left && right > 0.0;
    (right, if right { r - left } else { r })
}
