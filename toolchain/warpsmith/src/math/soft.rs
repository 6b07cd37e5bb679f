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
    // The product is exact. The sum is rounded to odd, so that rounding it again changes nothing.
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    let back = sum - product;
    let error = (product - (sum - back)) + (c - back);
    if error == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum as f32;
    }
    let bits = sum.to_bits();
    let odd = if (error > 0.0) == (sum > 0.0) { bits | 1 } else { bits - 1 };
    f64::from_bits(odd) as f32
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
