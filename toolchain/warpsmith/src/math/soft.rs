//! What [`primitive`](super::primitive) takes from the standard library, for hosts without it: correct, and slow.

/// Splits a positive finite number into an integer and a power of two.
fn parts(bits: u64) -> (u64, i32) {
    let exponent = (bits >> 52) as i32 & 0x7ff;
    let fraction = bits & 0x000f_ffff_ffff_ffff;
    if exponent == 0 { (fraction, -1074) } else { (fraction | 0x0010_0000_0000_0000, exponent - 1075) }
}

/// The f64 nearest to value * 2^exponent, ties to even. The last bit of value may stand for more that follows.
fn assemble(negative: bool, value: u128, exponent: i32) -> f64 {
    let sign = u64::from(negative) << 63;
    if value == 0 {
        return f64::from_bits(sign);
    }
    // As many bits as the result holds: 53, or fewer for a subnormal one.
    let length = 128 - value.leading_zeros() as i32;
    let drop = (length - 53).max(-1074 - exponent);
    let kept = if drop <= 0 {
        (value << -drop) as u64
    } else if drop > 127 {
        0
    } else {
        let (kept, rest, half) = (value >> drop, value & ((1 << drop) - 1), 1 << (drop - 1));
        (kept + u128::from(rest > half || (rest == half && kept & 1 == 1))) as u64
    };
    // kept * 2^(exponent + drop); a carry to 2^53 moves into the exponent by itself.
    let biased = exponent + drop + 1075;
    if kept < 1 << 52 {
        return f64::from_bits(sign | kept);
    }
    if biased > 2046 || (biased == 2046 && kept == 1 << 53) {
        return f64::from_bits(sign | 0x7ff0_0000_0000_0000);
    }
    f64::from_bits(sign | (((biased - 1) as u64) << 52).wrapping_add(kept))
}

/// a * b + c, rounded once.
pub fn fma64(a: f64, b: f64, c: f64) -> f64 {
    if !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return if a.is_finite() && b.is_finite() { c } else { a * b + c };
    }
    if a == 0.0 || b == 0.0 || c == 0.0 {
        // Only one rounding: a product of 0 is exact, a sum with 0 as well. But +0 must not replace a product that underflows.
        return if c == 0.0 && a != 0.0 && b != 0.0 { a * b } else { a * b + c };
    }
    let (ma, ea) = parts(a.to_bits() & !SIGN);
    let (mb, eb) = parts(b.to_bits() & !SIGN);
    let (mc, ec) = parts(c.to_bits() & !SIGN);
    let negative = a.is_sign_negative() != b.is_sign_negative();
    let (p, ep) = (u128::from(ma) * u128::from(mb), ea + eb);
    // Both as 126 bits at most, with a common exponent; what falls out below is kept as one bit.
    let (high_p, high_c) = (128 - p.leading_zeros() as i32 + ep, 64 - mc.leading_zeros() as i32 + ec);
    let exponent = high_p.max(high_c) - 126;
    let align = |m: u128, e: i32| {
        let shift = exponent - e;
        if shift <= 0 {
            m << -shift
        } else if shift > 127 {
            1
        } else {
            m >> shift | u128::from(m & ((1 << shift) - 1) != 0)
        }
    };
    let (p, q) = (align(p, ep), align(u128::from(mc), ec));
    if negative == c.is_sign_negative() {
        assemble(negative, p + q, exponent)
    } else if p >= q {
        // An exact 0 is positive.
        assemble(negative && p != q, p - q, exponent)
    } else {
        assemble(!negative, q - p, exponent)
    }
}

const SIGN: u64 = 1 << 63;

/// a * b + c, rounded once.
pub fn fma32(a: f32, b: f32, c: f32) -> f32 {
    // The product is exact.
    super::sum_to_odd(f64::from(a) * f64::from(b), f64::from(c)) as f32
}

/// The square root, correctly rounded.
pub fn sqrt64(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x < 0.0 {
        return f64::NAN;
    }
    let (mut m, mut e) = parts(x.to_bits());
    let shift = m.leading_zeros() as i32 - 11;
    m <<= shift;
    e -= shift;
    // An even exponent, and 54 bits or more of the root.
    let extra = if e & 1 == 0 { 62 } else { 63 };
    let square = u128::from(m) << extra;
    let mut root = 0u128;
    let mut bit = 1u128 << 58;
    while bit > 0 {
        if (root | bit) * (root | bit) <= square {
            root |= bit;
        }
        bit >>= 1;
    }
    assemble(false, root << 1 | u128::from(root * root != square), (e - extra) / 2 - 1)
}

/// The square root, correctly rounded.
pub fn sqrt32(x: f32) -> f32 {
    // A root of 53 bits that is not exact is never in the middle between two of 24.
    sqrt64(f64::from(x)) as f32
}

/// The integer part.
pub fn trunc64(x: f64) -> f64 {
    let exponent = (x.to_bits() >> 52) as i32 & 0x7ff;
    if exponent >= 1075 {
        x
    } else if exponent < 1023 {
        f64::copysign(0.0, x)
    } else {
        f64::from_bits(x.to_bits() & !((1 << (1075 - exponent)) - 1))
    }
}

/// The largest integer that is not larger.
pub fn floor64(x: f64) -> f64 {
    let whole = trunc64(x);
    if whole > x { f64::copysign(whole - 1.0, x) } else { whole }
}

/// The smallest integer that is not smaller.
pub fn ceil64(x: f64) -> f64 {
    -floor64(-x)
}

/// The nearest integer, halves to the even one.
pub fn rint64(x: f64) -> f64 {
    const BIG: f64 = 4_503_599_627_370_496.0;
    if x.abs() < BIG { f64::copysign((x.abs() + BIG) - BIG, x) } else { x }
}

/// The integer part.
pub fn trunc32(x: f32) -> f32 {
    trunc64(f64::from(x)) as f32
}

/// The largest integer that is not larger.
pub fn floor32(x: f32) -> f32 {
    floor64(f64::from(x)) as f32
}

/// The smallest integer that is not smaller.
pub fn ceil32(x: f32) -> f32 {
    ceil64(f64::from(x)) as f32
}

/// The nearest integer, halves to the even one.
pub fn rint32(x: f32) -> f32 {
    rint64(f64::from(x)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that are often close to each other and to the limits of the range, with all kinds of rounding.
    fn samples(count: u64) -> impl Iterator<Item = (f64, f64, f64)> {
        let mut state = 1u64;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ (state >> 29)
        };
        (0..count).map(move |i| {
            let mut draw = || {
                let exponent = match i % 4 {
                    0 => next() % 2048,
                    1 => 1000 + next() % 60,
                    2 => next() % 90,
                    _ => 480 + next() % 120,
                };
                // Few bits set give ties.
                let mask = next() & next() & next() & 0x000f_ffff_ffff_ffff;
                f64::from_bits(
                    (next() & SIGN) | (exponent << 52) | if i % 3 == 0 { next() >> 12 } else { mask },
                )
            };
            (draw(), draw(), draw())
        })
    }

    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
    }

    #[test]
    fn fused_multiplication_is_rounded_once() {
        for (a, b, c) in samples(1_000_000) {
            assert!(same(fma64(a, b, c), a.mul_add(b, c)), "{a:e} {b:e} {c:e}");
            // A sum that almost cancels.
            let c = -(a * b);
            assert!(same(fma64(a, b, c), a.mul_add(b, c)), "{a:e} {b:e} {c:e}");
            let (a, b, c) = (a as f32, b as f32, c as f32);
            assert!(same(fma32(a, b, c).into(), a.mul_add(b, c).into()), "{a:e} {b:e} {c:e}");
            let c = -(a * b);
            assert!(same(fma32(a, b, c).into(), a.mul_add(b, c).into()), "{a:e} {b:e} {c:e}");
        }
    }

    #[test]
    fn roots_and_roundings_are_those_of_the_standard_library() {
        for (x, y, z) in samples(300_000) {
            for x in [x, y, z, z % 4e15, x % 8.0, (x % 8.0).trunc() + 0.5, f64::INFINITY, f64::NAN, 0.0, -0.0]
            {
                assert!(same(sqrt64(x), x.sqrt()), "{x:e}");
                assert!(same(trunc64(x), x.trunc()), "{x:e}");
                assert!(same(floor64(x), x.floor()), "{x:e}");
                assert!(same(ceil64(x), x.ceil()), "{x:e}");
                assert!(same(rint64(x), x.round_ties_even()), "{x:e}");
                let x = x as f32;
                assert!(same(sqrt32(x).into(), x.sqrt().into()), "{x:e}");
                assert!(same(trunc32(x).into(), x.trunc().into()), "{x:e}");
                assert!(same(floor32(x).into(), x.floor().into()), "{x:e}");
                assert!(same(ceil32(x).into(), x.ceil().into()), "{x:e}");
                assert!(same(rint32(x).into(), x.round_ties_even().into()), "{x:e}");
            }
        }
    }
}
