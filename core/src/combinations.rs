//! Pairs and triples of positions and their numbers, in lexicographic order: a thread finds, without a table, what the neighbour
//! with a given number exchanges.
//!
//! T. V. Luong, N. Melab, E.-G. Talbi: GPU Computing for Parallel Local Search Metaheuristic Algorithms, IEEE Transactions on
//! Computers 62(1), 2013, propositions 1 and 2. There the answer is a floating-point root; here the root is a first guess that one
//! integer comparison corrects, so the maps are exact at every size.
//!
//! Counted from the end, the number of a combination is its rank in the combinatorial number system: (i, j) is followed by C(n - 1
//! - i, 2) + (n - 1 - j) pairs, and likewise for triples.

use crate::math;

/// Returns the number of pairs of `n` positions; 0 for fewer than 2.
#[inline(always)]
pub const fn pairs(n: u32) -> u64 {
    // The product of two such numbers fits; without positions the difference does not, but then it does not matter.
    (n as u64).wrapping_mul((n as u64).wrapping_sub(1)) / 2
}

/// Returns the number of triples of `n` positions, modulo 2^64: the number itself up to n = 4 801 280.
#[inline(always)]
pub const fn triples(n: u32) -> u64 {
    // Three times the number is a product that may not fit. It is a multiple of 3, and 3 is invertible modulo 2^64, so the
    // product's low half is enough.
    const INVERSE_OF_3: u64 = 0xaaaa_aaaa_aaaa_aaab;
    pairs(n).wrapping_mul((n as u64).wrapping_sub(2)).wrapping_mul(INVERSE_OF_3)
}

/// Returns the largest r with r (r + 1) / 2 <= `index`, and the rest of `index`: less than or equal to r. For `index` < 2^63.
#[inline(always)]
fn triangle(index: u64) -> (u32, u32) {
    let twice = index.wrapping_mul(2);
    if twice >> 31 == 0 {
        let twice = twice as u32;
        // r is the integer part of sqrt(twice + 1/4) - 1/2. The root is below 2^15.51, its relative error below 2^-21 with all
        // roundings, so it is less than 0.03 off: 0.05 less never gives more than r, nor less than r - 1.
        let root = math::approximate_root(twice as f32 + 0.25) - 0.55;
        // SAFETY: above -1 and below 2^16.
        let r: u32 = unsafe { root.to_int_unchecked() };
        let r = r.wrapping_add((r.wrapping_add(1).wrapping_mul(r.wrapping_add(2)) <= twice) as u32);
        (r, (twice >> 1).wrapping_sub(r.wrapping_mul(r.wrapping_add(1)) >> 1))
    } else {
        // As above. The root is below 2^32 + 1, its relative error below 2^-51.
        let root = math::sqrt(twice as f64 + 0.25) - 0.55;
        // SAFETY: positive, and below 2^33.
        let r: u64 = unsafe { root.to_int_unchecked() };
        let r = r.wrapping_add((r.wrapping_add(1).wrapping_mul(r.wrapping_add(2)) <= twice) as u64);
        (r as u32, index.wrapping_sub(r.wrapping_mul(r.wrapping_add(1)) >> 1) as u32)
    }
}

/// Returns the pair (i, j), i < j, with number `index` among the pairs of `n` positions; for `index` < [`pairs`]`(n)`, else any
/// numbers.
///
/// ```
/// use antwarp_core::combinations::{pair, pair_index};
///
/// // (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)
/// assert_eq!(pair(4, 3), (1, 2));
/// assert_eq!(pair_index(4, 1, 2), 3);
/// ```
#[inline(always)]
pub fn pair(n: u32, index: u64) -> (u32, u32) {
    let behind = pairs(n).wrapping_sub(1).wrapping_sub(index);
    let (row, column) = triangle(behind);
    (n.wrapping_sub(2).wrapping_sub(row), n.wrapping_sub(1).wrapping_sub(column))
}

/// Returns the number of the pair (i, j), i < j < n.
#[inline(always)]
pub const fn pair_index(n: u32, i: u32, j: u32) -> u64 {
    let (n, i, j) = (n as u64, i as u64, j as u64);
    // Row i has i fewer pairs than the first row's n - 1, and starts with j = i + 1.
    let rows = i.wrapping_mul(n.wrapping_sub(1)).wrapping_sub(i.wrapping_mul(i.wrapping_add(1)) / 2);
    rows.wrapping_add(j).wrapping_sub(1)
}

/// Returns the pair whose number is `by` more than that of `pair`. After the last pair comes (n - 1, n), and after that nothing
/// else.
///
/// Takes one step per row that it passes, at most `by`: cheaper than [`pair`] if strides are short compared to rows.
#[inline(always)]
pub const fn next_pair(n: u32, pair: (u32, u32), by: u32) -> (u32, u32) {
    let ((mut i, mut j), mut by) = (pair, by);
    while j < n {
        // The pairs from this one to the end of its row.
        let rest = n.wrapping_sub(j);
        if by < rest {
            return (i, j.wrapping_add(by));
        }
        // `by` decreases, so this ends.
        by = by.wrapping_sub(rest);
        i = i.wrapping_add(1);
        j = i.wrapping_add(1);
    }
    (n.saturating_sub(1), n)
}

/// Returns the largest a with C(a, 3) <= `index`, and the rest of `index`. For `index` < [`triples`]`(4_801_280)`.
#[inline(always)]
fn tetrahedron(index: u64) -> (u32, u64) {
    // a is 1 more than the integer part of the m with m^3 - m = 6 index, and the cube root of 6 index + 1 is at most m and less
    // than 0.1 smaller. It is computed with an error below 0.2, so after subtracting 1/4 the result is never more than a, nor less
    // than a - 1.
    let a = cube_root_less_a_quarter(index).wrapping_add(1);
    let a = a.wrapping_add((triples(a.wrapping_add(1)) <= index) as u32);
    (a, index.wrapping_sub(triples(a)))
}

/// Returns the integer part of the cube root of 6 `index` + 1, less than 0.2 off, minus 1/4.
#[inline(always)]
fn cube_root_less_a_quarter(index: u64) -> u32 {
    // The inverse root z = x^(-1/3) has a Newton step without division, z (4 - x z^3) / 3, that turns a relative error e into 2
    // e^2. The first guess, a third of the exponent, is at most 3.5 % off; after two steps it is 1.2e-5 off, after the third as
    // good as single precision allows, and the root is 5e-7 off.
    let x = index as f32 * 6.0 + 1.0;
    let mut z = f32::from_bits(0x54a2_1d2a_u32.wrapping_sub(x.to_bits() / 3));
    z *= (4.0 - x * z * z * z) * (1.0 / 3.0);
    z *= (4.0 - x * z * z * z) * (1.0 / 3.0);
    z *= (4.0 - x * z * z * z) * (1.0 / 3.0);
    if index >> 48 == 0 {
        // SAFETY: positive, and below 2^17.
        return unsafe { (x * z * z - 0.25).to_int_unchecked() };
    }
    let (x, z) = (index as f64 * 6.0 + 1.0, z as f64);
    let z = z * (4.0 - x * z * z * z) * (1.0 / 3.0);
    // SAFETY: positive, and below 2^23.
    unsafe { (x * z * z - 0.25).to_int_unchecked() }
}

/// Returns the triple (i, j, k), i < j < k, with number `index` among the triples of `n` positions; for `index` < [`triples`]`(n)`
/// and n up to 4 801 280, else any numbers.
#[inline(always)]
pub fn triple(n: u32, index: u64) -> (u32, u32, u32) {
    let behind = triples(n).wrapping_sub(1).wrapping_sub(index);
    let (a, rest) = tetrahedron(behind);
    let (row, column) = triangle(rest);
    let last = n.wrapping_sub(1);
    (last.wrapping_sub(a), last.wrapping_sub(row).wrapping_sub(1), last.wrapping_sub(column))
}

/// Returns the number of the triple (i, j, k), i < j < k < n, n up to 4 801 280.
#[inline(always)]
pub const fn triple_index(n: u32, i: u32, j: u32, k: u32) -> u64 {
    // All triples except those whose first position is i or later; then the pairs of the positions after i.
    let later = n.wrapping_sub(i);
    let within = pair_index(
        later.wrapping_sub(1),
        j.wrapping_sub(i).wrapping_sub(1),
        k.wrapping_sub(i).wrapping_sub(1),
    );
    triples(n).wrapping_sub(triples(later)).wrapping_add(within)
}
