//! The functions of `warpsmith::math` are within an ulp: those of `f32` against the standard library's of `f64`, those of `f64` against
//! values from `math-reference.py` and against arithmetic with pairs of numbers. With `--nocapture` the largest errors are printed.

use std::collections::BTreeMap;

use warpsmith::math::{double, single};

/// The distance of `got` from `high + low`, in units of the last place of a result of that size.
fn ulps(got: f64, high: f64, low: f64, digits: i32, lowest: i32) -> f64 {
    let exponent = ((high.to_bits() >> 52) as i32 & 0x7ff) - 1022;
    let place = exponent.max(lowest) - digits;
    // In steps, so that the divisor is no subnormal number.
    let difference = ((got - high) - low).abs();
    difference * 2f64.powi(-place / 2) * 2f64.powi(-place - (-place / 2))
}

/// Like `ulps` for `f32`; infinite for a wrong infinity, NaN or sign of 0. Infinity stands for 2^128.
fn ulps32(got: f32, want: f64) -> f64 {
    let near = want as f32;
    if near.is_nan() || got.is_nan() {
        return if near.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if want.is_infinite() || (got.is_infinite() && near.is_infinite()) || (got == 0.0 && want == 0.0) {
        return if got.to_bits() == near.to_bits() { 0.0 } else { f64::INFINITY };
    }
    let got = if got.is_infinite() { f64::copysign(2f64.powi(128), got.into()) } else { got.into() };
    let want = want.clamp(-2f64.powi(129), 2f64.powi(129));
    if want == 0.0 { got.abs() * 2f64.powi(149) } else { ulps(got, want, 0.0, 24, -125) }
}

type Unary = (&'static str, fn(f32) -> f32, fn(f64) -> f64);

const UNARY: [Unary; 22] = [
    ("sin", single::sin, f64::sin),
    ("cos", single::cos, f64::cos),
    ("first of sincos", |x| single::sincos(x).0, f64::sin),
    ("second of sincos", |x| single::sincos(x).1, f64::cos),
    ("tan", single::tan, f64::tan),
    ("exp", single::exp, f64::exp),
    ("exp2", single::exp2, f64::exp2),
    ("ln", single::ln, f64::ln),
    ("log2", single::log2, f64::log2),
    ("log10", single::log10, f64::log10),
    ("tanh", single::tanh, f64::tanh),
    ("sinh", single::sinh, f64::sinh),
    ("cosh", single::cosh, f64::cosh),
    ("erf", single::erf, erf),
    ("cbrt", single::cbrt, f64::cbrt),
    ("rsqrt", single::rsqrt, |x| 1.0 / x.sqrt()),
    ("asin", single::asin, f64::asin),
    ("acos", single::acos, f64::acos),
    ("atan", single::atan, f64::atan),
    ("round", single::round, f64::round),
    ("floor", single::floor, f64::floor),
    ("round_ties_even", single::round_ties_even, f64::round_ties_even),
];

/// The error function to 2^-40, by its series and a continued fraction.
fn erf(x: f64) -> f64 {
    let a = x.abs();
    let square = a * a;
    let size = if a < 3.0 {
        // 2 x / sqrt(pi) e^(-x^2) (1 + 2 x^2/3 + (2 x^2)^2/15 + ...): no term is negative.
        let (mut sum, mut term) = (1.0, 1.0);
        for k in 1..80 {
            term *= 2.0 * square / f64::from(2 * k + 1);
            sum += term;
        }
        core::f64::consts::FRAC_2_SQRT_PI * a * (-square).exp() * sum
    } else if a < 6.0 {
        let fraction = (1..60).rev().fold(a, |f, k| a + f64::from(k) / 2.0 / f);
        1.0 - (-square).exp() / fraction * core::f64::consts::FRAC_2_SQRT_PI / 2.0
    } else if a.is_nan() {
        a
    } else {
        1.0
    };
    f64::copysign(size, x)
}

fn check_unary(step: u64) {
    for (name, ours, exact) in UNARY {
        let mut worst = 0f64;
        let mut check = |x: f32| {
            let error = ulps32(ours(x), exact(x.into()));
            assert!(error <= 1.0, "{name}({x:e}) = {:e}: {error} ulp", ours(x));
            worst = worst.max(error);
        };
        let specials = [
            0.0,
            1.0,
            0.5,
            1e-45,
            f32::MIN_POSITIVE,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
            88.722_83,
            88.722_84,
            103.972_08,
            128.0,
            149.5,
            150.0,
        ];
        specials.into_iter().flat_map(|x| [x, -x]).for_each(&mut check);
        let all = (0..1u64 << 32).step_by(step as usize);
        all.for_each(|bits| check(f32::from_bits(bits as u32)));
        // Where most functions have their largest errors.
        let moderate = 0.25f32.to_bits()..100f32.to_bits();
        let more = moderate.step_by(step.div_ceil(20) as usize);
        more.for_each(|bits| [bits, bits | 1 << 31].map(f32::from_bits).into_iter().for_each(&mut check));
        println!("{name}, f32: {worst:.3} ulp");
    }
}

#[test]
fn functions_of_one_f32_are_within_an_ulp() {
    check_unary(9973);
}

#[test]
#[ignore = "all 2^32 arguments take an hour; in a release build"]
fn functions_of_one_f32_are_within_an_ulp_everywhere() {
    check_unary(1);
}

/// A sequence that looks random.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Of any size from 2^low to 2^high, and either sign.
    fn sized(&mut self, low: f64, high: f64) -> f64 {
        let size = self.between(low, high).exp2();
        if self.bits() & 1 == 0 { size } else { -size }
    }
}

type Binary = (&'static str, fn(f32, f32) -> f32, fn(f64, f64) -> f64);

#[test]
fn functions_of_two_f32_are_within_an_ulp() {
    let functions: [Binary; 4] = [
        ("pow", single::pow, f64::powf),
        ("hypot", single::hypot, f64::hypot),
        ("atan2", single::atan2, f64::atan2),
        ("fmod", single::fmod, |x, y| x % y),
    ];
    let specials = [
        0.0,
        1.0,
        0.5,
        2.0,
        3.0,
        1e-45,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
        16_777_215.0,
        16_777_216.0,
        0.999_999_94,
        1.000_000_1,
    ];
    for (name, ours, exact) in functions {
        let mut worst = 0f64;
        let mut check = |x: f32, y: f32| {
            let error = ulps32(ours(x, y), exact(x.into(), y.into()));
            let limit = if name == "fmod" { 0.0 } else { 1.0 };
            assert!(error <= limit, "{name}({x:e}, {y:e}) = {:e}: {error} ulp", ours(x, y));
            worst = worst.max(error);
        };
        for x in specials.into_iter().flat_map(|x| [x, -x]) {
            for y in specials.into_iter().flat_map(|y| [y, -y]) {
                check(x, y);
            }
        }
        let mut random = Random(1);
        for _ in 0..300_000 {
            let any = f32::from_bits(random.bits() as u32);
            check(any, f32::from_bits(random.bits() as u32));
            check(any, any * random.sized(-30.0, 30.0) as f32);
            check(random.sized(-4.0, 4.0) as f32, random.between(-60.0, 60.0) as f32);
            check(1.0 + random.sized(-24.0, -1.0) as f32, random.sized(0.0, 30.0) as f32);
        }
        println!("{name}, f32: {worst:.3} ulp");
    }
}

fn bits(text: Option<&str>) -> f64 {
    f64::from_bits(
        u64::from_str_radix(text.expect("a number in each column"), 16).expect("hexadecimal digits"),
    )
}

#[test]
fn functions_of_f64_agree_with_the_reference() {
    let mut worst = BTreeMap::new();
    for line in include_str!("math-reference.txt").lines() {
        let mut words = line.split(' ');
        let (name, x) = (words.next().expect("a name"), bits(words.next()));
        let two = matches!(name, "pow" | "hypot" | "atan2");
        let y = if two { bits(words.next()) } else { 0.0 };
        let got = match name {
            "sin" => double::sin(x),
            "cos" => double::cos(x),
            "tan" => double::tan(x),
            "exp" => double::exp(x),
            "exp2" => double::exp2(x),
            "ln" => double::ln(x),
            "log2" => double::log2(x),
            "log10" => double::log10(x),
            "tanh" => double::tanh(x),
            "sinh" => double::sinh(x),
            "cosh" => double::cosh(x),
            "erf" => double::erf(x),
            "cbrt" => double::cbrt(x),
            "rsqrt" => double::rsqrt(x),
            "asin" => double::asin(x),
            "acos" => double::acos(x),
            "atan" => double::atan(x),
            "pow" => double::pow(x, y),
            "hypot" => double::hypot(x, y),
            "atan2" => double::atan2(x, y),
            _ => panic!("{name} is not known"),
        };
        let error = ulps(got, bits(words.next()), bits(words.next()), 53, -1021);
        assert!(error <= 1.0, "{name}({x:e}, {y:e}) = {got:e}: {error} ulp");
        let largest = worst.entry(name).or_insert(0f64);
        *largest = largest.max(error);
        if name == "sin" || name == "cos" {
            let (sine, cosine) = double::sincos(x);
            let both = if name == "sin" { sine } else { cosine };
            assert!((both - got).abs() <= got.abs() * f64::EPSILON, "sincos({x:e}): {both:e}, alone {got:e}");
        }
    }
    worst.iter().for_each(|(name, error)| println!("{name}, f64: {error:.3} ulp"));
}

/// A number as the sum of two, to about 100 bits.
#[derive(Clone, Copy)]
struct Pair(f64, f64);

impl Pair {
    fn new(a: f64, b: f64) -> Self {
        let sum = a + b;
        let back = sum - a;
        Self(sum, (a - (sum - back)) + (b - back))
    }

    fn add(self, other: Self) -> Self {
        let Self(sum, lost) = Self::new(self.0, other.0);
        Self::new(sum, lost + (self.1 + other.1))
    }

    fn mul(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let lost = self.0.mul_add(other.0, -product);
        Self::new(product, lost + (self.0 * other.1 + self.1 * other.0))
    }

    fn times(self, factor: f64) -> Self {
        self.mul(Self(factor, 0.0))
    }

    fn div(self, other: Self) -> Self {
        let first = self.0 / other.0;
        let rest = self.add(other.times(-first));
        let second = rest.0 / other.0;
        let rest = rest.add(other.times(-second));
        Self::new(first, second).add(Self(rest.0 / other.0, 0.0))
    }

    /// e^self by the series, of an argument halved ten times.
    fn exp(self) -> Self {
        let n = (self.0 / core::f64::consts::LN_2).round();
        let r = self.add(LN_2.times(-n)).times(1.0 / 1024.0);
        let (mut sum, mut term) = (Self(0.0, 0.0), Self(1.0, 0.0));
        for k in 1..12 {
            term = term.mul(r).div(Self(f64::from(k), 0.0));
            sum = sum.add(term);
        }
        // e^2r - 1 = (e^r - 1)^2 + 2 (e^r - 1)
        for _ in 0..10 {
            sum = sum.mul(sum).add(sum.times(2.0));
        }
        sum.add(Self(1.0, 0.0)).times(n.exp2())
    }

    /// The natural logarithm, by a step of Newton's.
    fn ln(self) -> Self {
        let y = Self(self.0.ln(), 0.0);
        let rest = self.mul(y.times(-1.0).exp()).add(Self(-1.0, 0.0));
        // ln(1 + rest)
        y.add(rest).add(rest.mul(rest).times(-0.5)).add(rest.mul(rest).mul(rest).times(1.0 / 3.0))
    }

    /// Sine and cosine, for |self| < 1000, by the series.
    fn sincos(self) -> (Self, Self) {
        let n = (self.0 / core::f64::consts::FRAC_PI_2).round();
        let r = self.add(HALF_PI.times(-n));
        let series = |first: Self, from: i32| {
            let (mut sum, mut term) = (first, first);
            for k in 0..14 {
                let divisor = f64::from((from + 2 * k) * (from + 2 * k + 1));
                term = term.mul(r).mul(r).div(Self(-divisor, 0.0));
                sum = sum.add(term);
            }
            sum
        };
        let (sine, cosine) = (series(r, 2), series(Self(1.0, 0.0), 1));
        match (n as i64).rem_euclid(4) {
            0 => (sine, cosine),
            1 => (cosine, sine.times(-1.0)),
            2 => (sine.times(-1.0), cosine.times(-1.0)),
            _ => (cosine.times(-1.0), sine),
        }
    }
}

const LN_2: Pair = Pair(core::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
const LN_10: Pair = Pair(core::f64::consts::LN_10, -2.170_756_223_382_249_4e-16);
const HALF_PI: Pair = Pair(core::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);

#[test]
fn functions_of_f64_agree_with_pairs_of_numbers() {
    let mut worst = BTreeMap::new();
    let mut check = |name: &'static str, x: f64, got: f64, want: Pair| {
        let error = ulps(got, want.0, want.1, 53, -1021);
        assert!(error <= 1.0, "{name}({x:e}) = {got:e}: {error} ulp");
        let largest = worst.entry(name).or_insert(0f64);
        *largest = largest.max(error);
    };
    let mut random = Random(2);
    for _ in 0..100_000 {
        let x = random.between(-700.0, 700.0);
        check("exp", x, double::exp(x), Pair(x, 0.0).exp());
        check("exp2", x, double::exp2(x), LN_2.times(x).exp());
        let x = random.sized(-20.0, 4.0);
        let (up, down) = (Pair(x, 0.0).exp(), Pair(-x, 0.0).exp());
        check("cosh", x, double::cosh(x), up.add(down).times(0.5));
        if x.abs() > 0.01 {
            let difference = up.add(down.times(-1.0));
            check("sinh", x, double::sinh(x), difference.times(0.5));
            check("tanh", x, double::tanh(x), difference.div(up.add(down)));
        }
        for x in [random.sized(-1000.0, 1000.0).abs(), 1.0 + random.sized(-20.0, -1.0)] {
            let log = Pair(x, 0.0).ln();
            check("ln", x, double::ln(x), log);
            check("log2", x, double::log2(x), log.div(LN_2));
            check("log10", x, double::log10(x), log.div(LN_10));
            let y = random.between(-700.0, 700.0) / log.0;
            check("pow", x, double::pow(x, y), log.times(y).exp());
        }
        let x = random.between(-1000.0, 1000.0);
        let (sine, cosine) = Pair(x, 0.0).sincos();
        check("sin", x, double::sin(x), sine);
        check("cos", x, double::cos(x), cosine);
        check("tan", x, double::tan(x), sine.div(cosine));
    }
    worst.iter().for_each(|(name, error)| println!("{name}, f64: {error:.3} ulp"));
}

#[test]
fn remainders_of_f64_are_exact() {
    let mut random = Random(3);
    let check = |x: f64, y: f64| {
        let (got, want) = (double::fmod(x, y), x % y);
        assert!(
            got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()),
            "fmod({x:e}, {y:e}) = {got:e}, not {want:e}"
        );
    };
    for _ in 0..100_000 {
        let x = f64::from_bits(random.bits());
        check(x, f64::from_bits(random.bits()));
        check(x, x * random.sized(-80.0, 3.0));
        let y = random.sized(-10.0, 10.0);
        check(y * (random.bits() >> 40) as f64, y);
    }
}

/// C99, annex F.
#[test]
fn special_values_are_those_of_the_standard() {
    let infinity = f64::INFINITY;
    let same = |got: f64, want: f64, what: &str| {
        assert!(
            got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()),
            "{what}: {got:e}, not {want:e}"
        );
    };
    type Named = (&'static str, fn(f64) -> f64);
    let odd: [Named; 10] = [
        ("sin", double::sin),
        ("tan", double::tan),
        ("asin", double::asin),
        ("atan", double::atan),
        ("sinh", double::sinh),
        ("tanh", double::tanh),
        ("cbrt", double::cbrt),
        ("erf", double::erf),
        ("sqrt", double::sqrt),
        ("round", double::round),
    ];
    for (name, function) in odd {
        same(function(0.0), 0.0, name);
        same(function(-0.0), -0.0, name);
        same(function(f64::NAN), f64::NAN, name);
    }
    same(double::sin(infinity), f64::NAN, "sin");
    same(double::cos(-infinity), f64::NAN, "cos");
    same(double::tan(infinity), f64::NAN, "tan");
    same(double::exp(-infinity), 0.0, "exp");
    same(double::exp(infinity), infinity, "exp");
    same(double::exp(f64::NAN), f64::NAN, "exp");
    same(double::exp(710.0), infinity, "exp");
    same(double::exp(-746.0), 0.0, "exp");
    same(double::exp2(-1074.0), 5e-324, "exp2");
    same(double::exp2(1024.0), infinity, "exp2");
    for logarithm in [double::ln, double::log2, double::log10] {
        same(logarithm(1.0), 0.0, "logarithm");
        same(logarithm(0.0), -infinity, "logarithm");
        same(logarithm(-0.0), -infinity, "logarithm");
        same(logarithm(-1.0), f64::NAN, "logarithm");
        same(logarithm(infinity), infinity, "logarithm");
        same(logarithm(f64::NAN), f64::NAN, "logarithm");
    }
    same(double::log2(5e-324), -1074.0, "log2");
    same(double::log10(1e22), 22.0, "log10");
    same(double::tanh(-infinity), -1.0, "tanh");
    same(double::erf(-infinity), -1.0, "erf");
    same(double::sinh(-infinity), -infinity, "sinh");
    same(double::cosh(-infinity), infinity, "cosh");
    same(double::acos(1.0), 0.0, "acos");
    same(double::acos(1.1), f64::NAN, "acos");
    same(double::asin(-1.1), f64::NAN, "asin");
    same(double::rsqrt(0.0), infinity, "rsqrt");
    same(double::rsqrt(-0.0), -infinity, "rsqrt");
    same(double::rsqrt(infinity), 0.0, "rsqrt");
    same(double::rsqrt(-1.0), f64::NAN, "rsqrt");
    let specials = [
        0.0,
        1.0,
        0.5,
        2.0,
        3.0,
        5e-324,
        f64::MAX,
        infinity,
        f64::NAN,
        9_007_199_254_740_991.0,
        9_007_199_254_740_992.0,
    ];
    for x in specials.into_iter().flat_map(|x| [x, -x]) {
        for y in specials.into_iter().flat_map(|y| [y, -y]) {
            let exact = |got: f64, want: f64, what: &str| {
                // Special results are exact; others within an ulp.
                if want == 0.0 || !want.is_finite() || want.abs() == 1.0 {
                    same(got, want, &format!("{what}({x:e}, {y:e})"));
                } else {
                    assert!(
                        (got / want - 1.0).abs() < 3e-16 || got.to_bits().abs_diff(want.to_bits()) <= 1,
                        "{what}({x:e}, {y:e}) = {got:e}"
                    );
                }
            };
            exact(double::pow(x, y), x.powf(y), "pow");
            exact(double::atan2(x, y), x.atan2(y), "atan2");
            exact(double::hypot(x, y), x.hypot(y), "hypot");
            exact(double::fmod(x, y), x % y, "fmod");
        }
    }
    assert_eq!(
        [0.5, 1.5, 2.5, -0.5, 0.499_999_999_999_999_94].map(double::round),
        [1.0, 2.0, 3.0, -1.0, 0.0]
    );
    assert_eq!([0.5, 1.5, 2.5, -0.5].map(double::round_ties_even), [0.0, 2.0, 2.0, -0.0]);
}
