//! Floats of 16 bits, for all of them: conversions against the definition of the formats, arithmetic against that of `f64`.

use warpsmith::half::{Bf16, Bf16x2, F16, F16x2};

/// The value of a number by its definition, from its bits; `fraction` of them stand behind the point.
fn value(bits: u16, fraction: i32) -> f64 {
    let bias = (1 << (14 - fraction)) - 1;
    let (exponent, rest) = (i32::from(bits & 0x7fff) >> fraction, f64::from(bits & ((1 << fraction) - 1)));
    let scale = 2f64.powi(-fraction);
    let size = match exponent {
        0 => rest * scale * 2f64.powi(1 - bias),
        e if e < 2 * bias + 1 => (1.0 + rest * scale) * 2f64.powi(e - bias),
        _ if rest == 0.0 => f64::INFINITY,
        _ => f64::NAN,
    };
    if bits & 0x8000 == 0 { size } else { -size }
}

/// What both types have, so that one test is for both.
trait Small: Copy {
    const FRACTION: i32;
    fn from_bits(bits: u16) -> Self;
    fn to_bits(self) -> u16;
    fn from_f32(x: f32) -> Self;
    fn from_f64(x: f64) -> Self;
    fn to_f32(self) -> f32;
    fn operations(self, b: Self, c: Self) -> [Self; 5];
    /// Sum, difference, product and fused product of two pairs of these.
    fn pairs(a: [Self; 2], b: [Self; 2], c: [Self; 2]) -> [[Self; 2]; 4];
}

macro_rules! small {
    ($t:ident $pair:ident $fraction:literal) => {
        impl Small for $t {
            const FRACTION: i32 = $fraction;
            fn from_bits(bits: u16) -> Self {
                $t::from_bits(bits)
            }
            fn to_bits(self) -> u16 {
                $t::to_bits(self)
            }
            fn from_f32(x: f32) -> Self {
                $t::from_f32(x)
            }
            fn from_f64(x: f64) -> Self {
                $t::from_f64(x)
            }
            fn to_f32(self) -> f32 {
                $t::to_f32(self)
            }
            fn operations(self, b: Self, c: Self) -> [Self; 5] {
                [self + b, self - b, self * b, self.fma(b, c), self / b]
            }
            fn pairs(a: [Self; 2], b: [Self; 2], c: [Self; 2]) -> [[Self; 2]; 4] {
                let [a, b, c] = [a, b, c].map(|[low, high]| $pair::new(low, high));
                [a + b, a - b, a * b, a.fma(b, c)].map(|pair| [pair.low(), pair.high()])
            }
        }
    };
}

small!(F16 F16x2 10);
small!(Bf16 Bf16x2 7);

fn every_number_is_converted_exactly<T: Small>() {
    for bits in 0..=u16::MAX {
        let (number, value) = (T::from_bits(bits), value(bits, T::FRACTION));
        if value.is_nan() {
            assert!(number.to_f32().is_nan(), "{bits:#x}");
        } else {
            assert_eq!(f64::from(number.to_f32()).to_bits(), value.to_bits(), "{bits:#x}");
        }
        let back = if value.is_nan() { 0x7fff } else { bits };
        assert_eq!(T::from_f32(number.to_f32()).to_bits(), back, "{bits:#x}");
        assert_eq!(T::from_f64(value).to_bits(), back, "{bits:#x}");
    }
}

/// Between each number and the next larger one lies the middle, and everything else is nearer to one of them. Past the largest number the
/// middle is that to the power of two that follows.
fn conversions_round_to_nearest<T: Small>() {
    let infinity = T::from_f32(f32::INFINITY).to_bits();
    for bits in 0..infinity {
        let low = value(bits, T::FRACTION);
        let high = value(bits + 1, T::FRACTION);
        let step = if high.is_finite() { high - low } else { low - value(bits - 1, T::FRACTION) };
        let middle = low + step / 2.0;
        let even = bits + (bits & 1);
        for (x, want) in [
            (middle, even),
            (middle.next_down(), bits),
            (middle.next_up(), bits + 1),
            (low.next_up(), bits),
            (low + 0.75 * step, bits + 1),
        ] {
            assert_eq!(T::from_f64(x).to_bits(), want, "{x:e}");
            assert_eq!(T::from_f64(-x).to_bits(), want | 0x8000, "{x:e}");
        }
        let middle = middle as f32;
        for (x, want) in [(middle, even), (middle.next_down(), bits), (middle.next_up(), bits + 1)] {
            assert_eq!(T::from_f32(x).to_bits(), want, "{x:e}");
            assert_eq!(T::from_f32(-x).to_bits(), want | 0x8000, "{x:e}");
        }
    }
    for x in [f64::MAX, f64::INFINITY] {
        assert_eq!(T::from_f64(x).to_bits(), infinity);
    }
    for x in [0.0, f64::MIN_POSITIVE, f64::from_bits(1)] {
        assert_eq!([T::from_f64(x).to_bits(), T::from_f64(-x).to_bits()], [0, 0x8000]);
    }
    assert_eq!(T::from_f32(f32::MAX).to_bits(), infinity);
}

/// A sequence that looks random.
fn random(state: &mut u32) -> u16 {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*state >> 16) as u16
}

/// Each number with some others. A sum, difference or product of two is exact in `f64`, unless one of the summands does not count; a
/// quotient is rounded twice in effect only where it lies next to a middle, which the quotient of two short numbers never does.
fn arithmetic_is_rounded_once<T: Small>() {
    let mut state = 1;
    for bits in 0..=u16::MAX {
        let same_size = (bits & !0x1ff) | (random(&mut state) & 0x81ff);
        for other in [random(&mut state), same_size, random(&mut state) & 0x83ff, bits ^ 0x8001] {
            let third = random(&mut state);
            let [x, y, z] = [bits, other, third].map(|bits| value(bits, T::FRACTION));
            let [a, b, c] = [bits, other, third].map(T::from_bits);
            let [sum, difference, product, fused, quotient] = a.operations(b, c);
            for (name, got, want) in
                [("+", sum, x + y), ("-", difference, x - y), ("*", product, x * y), ("/", quotient, x / y)]
            {
                assert_eq!(got.to_bits(), T::from_f64(want).to_bits(), "{bits:#x} {name} {other:#x}");
            }
            assert_eq!(
                fused.to_bits(),
                fused_by_integers::<T>(x, y, z),
                "{bits:#x} * {other:#x} + {third:#x}"
            );
            // A third number that nearly cancels the product, or lies far below its middle between two numbers.
            for third in [-product.to_f32(), -product.to_f32() * 0.0039, f32::from_bits(1 << 16)] {
                let c = T::from_f32(third);
                let got = a.operations(b, c)[3].to_bits();
                assert_eq!(
                    got,
                    fused_by_integers::<T>(x, y, value(c.to_bits(), T::FRACTION)),
                    "{bits:#x} * {other:#x} + {third:e}"
                );
            }
            let pairs = T::pairs([a, c], [b, a], [c, b]);
            let (first, second) = (a.operations(b, c), c.operations(a, b));
            for (at, pair) in pairs.into_iter().enumerate() {
                assert_eq!(pair.map(T::to_bits), [first[at].to_bits(), second[at].to_bits()]);
            }
        }
    }
}

/// x * y + z rounded once: exactly in integers where the summands' sizes are not too far apart, else by what is next to the larger one.
fn fused_by_integers<T: Small>(x: f64, y: f64, z: f64) -> u16 {
    let product = x * y;
    let plain = product + z;
    if product == 0.0 || z == 0.0 || !plain.is_finite() {
        return T::from_f64(plain).to_bits();
    }
    let exponent = |x: f64| (x.to_bits() >> 52) as i32 & 0x7ff;
    let (large, small) = if product.abs() >= z.abs() { (product, z) } else { (z, product) };
    let apart = exponent(large) - exponent(small);
    if apart < 30 {
        // All bits of both are among 53.
        assert_eq!((plain - large, plain - small), (small, large));
        return T::from_f64(plain).to_bits();
    }
    // The smaller one only says on which side of the larger one the sum lies.
    let away = (large > 0.0) == (small > 0.0);
    let size = large.abs();
    let beside = f64::copysign(if away { size.next_up() } else { size.next_down() }, large);
    T::from_f64(beside).to_bits()
}

#[test]
fn f16_conversions() {
    every_number_is_converted_exactly::<F16>();
    conversions_round_to_nearest::<F16>();
}

#[test]
fn bf16_conversions() {
    every_number_is_converted_exactly::<Bf16>();
    conversions_round_to_nearest::<Bf16>();
}

#[test]
fn f16_arithmetic() {
    arithmetic_is_rounded_once::<F16>();
}

#[test]
fn bf16_arithmetic() {
    arithmetic_is_rounded_once::<Bf16>();
}

#[test]
fn roots_comparisons_and_signs() {
    for bits in 0..=u16::MAX {
        let x = F16::from_bits(bits);
        let exact = f64::from(x.to_f32()).sqrt();
        assert_eq!(x.sqrt().to_bits(), F16::from_f64(exact).to_bits(), "{bits:#x}");
        let y = Bf16::from_bits(bits);
        assert_eq!(y.sqrt().to_bits(), Bf16::from_f64(f64::from(y.to_f32()).sqrt()).to_bits(), "{bits:#x}");
        assert_eq!((-x).to_bits(), bits ^ 0x8000);
        assert_eq!(x.abs().to_bits(), bits & 0x7fff);
        assert_eq!(x.is_nan(), x.to_f32().is_nan());
        assert_eq!(y.is_nan(), y.to_f32().is_nan());
        assert_eq!(x == x, !x.is_nan());
    }
    assert!(F16::ZERO == -F16::ZERO && F16::ONE < F16::MAX && F16::MAX < F16::INFINITY);
    assert!(F16::ONE + F16::EPSILON > F16::ONE && F16::MIN_POSITIVE.to_f32() == 2f32.powi(-14));
    assert!(Bf16::ONE + Bf16::EPSILON > Bf16::ONE && Bf16::MIN_POSITIVE.to_f32() == f32::MIN_POSITIVE);
    assert_eq!((F16::MAX.to_f32(), F16::NAN.partial_cmp(&F16::ONE)), (65504.0, None));
    let pair = -Bf16x2::from_f32s(1.0, -2.0);
    assert_eq!((pair.to_f32s(), Bf16x2::from_bits(pair.to_bits())), ((-1.0, 2.0), pair));
}

#[test]
fn eight_numbers_are_loaded_at_once() {
    let values: Vec<F16x2> = (0..10u8).map(|i| F16x2::from_f32s(f32::from(i), -f32::from(i))).collect();
    let (groups, rest) = warpsmith::memory::fours(&values);
    let pairs = (0..groups.len()).filter_map(|at| groups.get(at)).flatten().chain(rest.iter().copied());
    assert_eq!(pairs.collect::<Vec<_>>(), values);
}
