//! The functions whose algorithm is the same for `f32` and `f64`, written once. [`single`](super::single) and
//! [`double`](super::double) each expand them with constants and operations of their type under the names used here:
//!
//! | name | what it is |
//! | --- | --- |
//! | `mul_add`, `square_root`, `truncate`, `nearest`, `floor_of`, `ceil_of`, `power`, `two_sum`, `polynomial` | those of [`primitive`](super::primitive) |
//! | `reciprocal` | 1 / x for x and 1 / x away from the limits of the range, to an ulp |
//! | `reduce` | the reduction of an angle |
//! | `split`, `turn`, `root` | functions of the module |
//! | `SIN`, `COS`, `TAN`, `ATAN`, `ASIN`, `PIO2`, `PI` | those of [`coefficients`](super::coefficients) |
//! | `INFINITY`, `NAN`, `BELOW_HALF`, `ABOVE`, `STEP`, `LOWEST`, `FAR`, `MODERATE` | constants of the module |

macro_rules! functions {
    ($t:ty) => {
        /// a * b + c, rounded once.
        #[inline(always)]
        pub fn fma(a: $t, b: $t, c: $t) -> $t {
            mul_add(a, b, c)
        }

        /// The square root, correctly rounded.
        #[inline(always)]
        pub fn sqrt(x: $t) -> $t {
            square_root(x)
        }

        /// The largest integer that is not larger.
        #[inline(always)]
        pub fn floor(x: $t) -> $t {
            floor_of(x)
        }

        /// The smallest integer that is not smaller.
        #[inline(always)]
        pub fn ceil(x: $t) -> $t {
            ceil_of(x)
        }

        /// The integer part.
        #[inline(always)]
        pub fn trunc(x: $t) -> $t {
            truncate(x)
        }

        /// The nearest integer, halves away from 0.
        #[inline(always)]
        pub fn round(x: $t) -> $t {
            // A half itself would round the largest number below it up.
            truncate(x + <$t>::copysign(BELOW_HALF, x))
        }

        /// The nearest integer, halves to the even one.
        #[inline(always)]
        pub fn round_ties_even(x: $t) -> $t {
            nearest(x)
        }

        /// The remainder of x / y with the sign of x, exact.
        #[inline(always)]
        pub fn fmod(x: $t, y: $t) -> $t {
            let (a, b) = (x.abs(), y.abs());
            // NaN: x infinite, y 0, or one of them NaN.
            if !(a < INFINITY) || !(b > 0.0) {
                return NAN;
            }
            if a < b {
                return x;
            }
            let result = if a < b * power(STEP + 1) && b > 1.0 / FAR && b < FAR {
                remainder(a, b, reciprocal(b) * ABOVE)
            } else {
                fmod_long(a, b)
            };
            <$t>::copysign(result, x)
        }

        /// a mod b for a < 2^(STEP + 1) b, given 1 / b from above: the quotient is at most 1 too large.
        #[inline(always)]
        fn remainder(a: $t, b: $t, reciprocal: $t) -> $t {
            let quotient = truncate(a * reciprocal);
            let r = mul_add(-quotient, b, a);
            if r < 0.0 { r + b } else { r }
        }

        /// `STEP` bits of the quotient at a time, on the mantissas.
        #[inline(always)]
        fn fmod_long(a: $t, b: $t) -> $t {
            let ((mut r, e), (m, f)) = (split(a), split(b));
            let reciprocal = reciprocal(m) * ABOVE;
            let mut bits = e - f;
            r = if r < m { r } else { r - m };
            while bits > 0 {
                let step = if bits < STEP { bits } else { STEP };
                r = remainder(r * power(step), m, reciprocal);
                bits -= step;
            }
            // r has no bits below the last one of b, so that both products are exact.
            if f < LOWEST { r * power(LOWEST) * power(f - LOWEST) } else { r * power(f) }
        }

        /// Sine and cosine of a reduced angle, without the turn by its quadrant. Both are computed where one is wanted: to choose between
        /// coefficients takes as long or longer.
        #[inline(always)]
        fn waves(r: $t, over: $t) -> ($t, $t) {
            // z = (r - over)^2 / 2
            let z = mul_add(0.5 * r, r, -(r * over));
            // The tail is subtracted, so that a zero keeps its sign.
            (r - mul_add(r * z, polynomial!(z, SIN), over), mul_add(z, polynomial!(z, COS), 1.0))
        }

        /// The sine of an angle in radians.
        #[inline(always)]
        pub fn sin(x: $t) -> $t {
            sincos(x).0
        }

        /// The cosine of an angle in radians.
        #[inline(always)]
        pub fn cos(x: $t) -> $t {
            sincos(x).1
        }

        /// Sine and cosine of an angle in radians.
        #[inline(always)]
        pub fn sincos(x: $t) -> ($t, $t) {
            let Reduced { quadrant, r, over } = reduce(x);
            let (sine, cosine) = waves(r, over);
            let (a, b) = if quadrant & 1 != 0 { (cosine, sine) } else { (sine, cosine) };
            (turn(a, quadrant), turn(b, quadrant.wrapping_add(1)))
        }

        /// The tangent of an angle in radians.
        #[inline(always)]
        pub fn tan(x: $t) -> $t {
            let Reduced { quadrant, r, over } = reduce(x);
            let s = r * r;
            // The first coefficient by itself, so that no sum is rounded that counts; and what rounding took from s, which counts
            // where s is large. There the derivative by s is about 0.55 r.
            let cube = r * s;
            let lost = mul_add(mul_add(r, r, -s), 0.55 * r, -over);
            let v = mul_add(cube, TAN[0], mul_add(cube, s * polynomial!(s, TAN from 1), lost));
            // tan(r - over) = tan r - over (1 + tan^2 r)
            let (t, rest) = two_sum(r, v);
            let rest = mul_add(-over, t * t, rest);
            if quadrant & 1 == 0 {
                <$t>::copysign(t + rest, r)
            } else {
                // -1 / (t + rest). No number is a multiple of pi/2 but 0, and that has quadrant 0.
                let y = reciprocal(t);
                let e = mul_add(-rest, y, mul_add(-t, y, 1.0));
                -mul_add(y, e, y)
            }
        }

        /// A power where x is not a positive number, or the result not in the middle of the range.
        #[inline(always)]
        fn pow_special(x: $t, y: $t, result: $t) -> $t {
            let a = x.abs();
            // Large numbers are even.
            let integer = truncate(y) == y;
            let odd = integer && truncate(y * 0.5) != y * 0.5;
            if x == 1.0 || y == 0.0 {
                return 1.0;
            }
            if x.is_nan() || y.is_nan() {
                return NAN;
            }
            let size = if y.abs() == INFINITY {
                if a == 1.0 {
                    return 1.0;
                }
                return if (a > 1.0) == (y > 0.0) { INFINITY } else { 0.0 };
            } else if a == 0.0 {
                if y > 0.0 { 0.0 } else { INFINITY }
            } else if a == INFINITY {
                if y > 0.0 { INFINITY } else { 0.0 }
            } else if x < 0.0 && !integer {
                return NAN;
            } else if a == 1.0 {
                1.0
            } else {
                result
            };
            if odd { <$t>::copysign(size, x) } else { size }
        }

        /// An angle plus or minus (`sign`) atan(x + lost), 0 <= x <= 1. The angle is 0 or larger than 1, in two parts.
        #[inline(always)]
        fn atan_from(angle: $t, angle_low: $t, sign: $t, x: $t, lost: $t) -> $t {
            let s = x * x;
            // The derivative, 1 / (1 + s), to a few bits.
            let lost = lost * mul_add(-0.5, s, 1.0);
            // The first coefficient by itself, so that no sum is rounded that counts.
            let cube = x * s;
            // What rounding took from the cube, times the mean slope.
            let lost = mul_add(mul_add(x, s, -cube), -0.25, lost);
            let tail = mul_add(cube, ATAN[0], mul_add(cube, s * polynomial!(s, ATAN from 1), lost));
            let sum = mul_add(sign, x, angle);
            sum + (mul_add(sign, x, angle - sum) + mul_add(sign, tail, angle_low))
        }

        /// The arc tangent.
        #[inline(always)]
        pub fn atan(x: $t) -> $t {
            let a = x.abs();
            let outside = a > 1.0;
            // Beyond the limit pi/2 is right. (`min` makes NaN a number, which is not used then.)
            let limited = a.min(FAR);
            let y = reciprocal(limited);
            let lost = mul_add(-limited, y, 1.0) * y;
            let (angle, low, sign, t, lost) =
                if outside { (PIO2[0], PIO2[1], -1.0, y, lost) } else { (0.0, 0.0, 1.0, a, 0.0) };
            <$t>::copysign(atan_from(angle, low, sign, t, lost), x)
        }

        /// The quotient less / large <= 1 in two parts.
        #[inline(always)]
        fn ratio(less: $t, large: $t) -> ($t, $t) {
            // 0/0 counts as 0, infinity/infinity as 1.
            if large == less {
                return (if large == 0.0 { 0.0 } else { 1.0 }, 0.0);
            }
            if less == 0.0 || large == INFINITY {
                return (0.0, 0.0);
            }
            // Away from the limits of the range as they are, else by mantissas.
            let moderate = large < MODERATE && less > 1.0 / MODERATE;
            let (n, d, k) = if moderate {
                (less, large, 0)
            } else {
                let ((n, e), (d, f)) = (split(less), split(large));
                (n, d, e - f)
            };
            let y = reciprocal(d);
            let q = n * y;
            let (q, lost) = two_sum(q, mul_add(-d, q, n) * y);
            if moderate {
                return (q, lost);
            }
            let k = if k < 2 * LOWEST { 2 * LOWEST } else { k };
            let (one, two) = (power(k >> 1), power(k - (k >> 1)));
            (q * one * two, lost * one * two)
        }

        /// The angle of the point (x, y), from -pi to pi.
        #[inline(always)]
        pub fn atan2(y: $t, x: $t) -> $t {
            if x.is_nan() || y.is_nan() {
                return NAN;
            }
            let (ax, ay) = (x.abs(), y.abs());
            let turned = ay > ax;
            let (large, less) = if turned { (ay, ax) } else { (ax, ay) };
            let (ratio, lost) = ratio(less, large);
            // The angle from the nearer axis to that of the quadrant.
            let left = x.is_sign_negative();
            let (base, base_low) = if turned {
                (PIO2[0], PIO2[1])
            } else if left {
                (PI[0], PI[1])
            } else {
                (0.0, 0.0)
            };
            let sign = if turned != left { -1.0 } else { 1.0 };
            <$t>::copysign(atan_from(base, base_low, sign, ratio, lost), y)
        }

        /// The arc sine of t, without its main term t.
        #[inline(always)]
        fn asin_tail(t: $t, s: $t) -> $t {
            t * s * polynomial!(s, ASIN)
        }

        /// The arc sine.
        #[inline(always)]
        pub fn asin(x: $t) -> $t {
            let a = x.abs();
            let near = a <= 0.5;
            // asin a = pi/2 - 2 asin sqrt((1 - a) / 2), which is NaN for a > 1.
            let s = if near { a * a } else { mul_add(-0.5, a, 0.5) };
            let (y, low) = root(s, -0.0);
            let t = if near { a } else { y };
            let tail = asin_tail(t, s);
            let (sum, more) = two_sum(PIO2[0], -2.0 * t);
            let far = sum + (more + mul_add(-2.0, tail + low, PIO2[1]));
            <$t>::copysign(if near { t + tail } else { far }, x)
        }

        /// The arc cosine.
        #[inline(always)]
        pub fn acos(x: $t) -> $t {
            let a = x.abs();
            let near = a <= 0.5;
            let s = if near { a * a } else { mul_add(-0.5, a, 0.5) };
            let (y, low) = root(s, -0.0);
            let t = if near { x } else { y };
            let tail = asin_tail(t, s);
            // pi/2 - asin x; or 2 asin sqrt((1 - a) / 2), for negative numbers that from pi.
            let (base, base_low, factor) = if near {
                (PIO2[0], PIO2[1], -1.0)
            } else if x > 0.0 {
                (0.0, 0.0, 2.0)
            } else {
                (PI[0], PI[1], -2.0)
            };
            let low = if near { 0.0 } else { low };
            let (sum, more) = two_sum(base, factor * t);
            sum + (more + mul_add(factor, tail + low, base_low))
        }
    };
}

pub(super) use functions;
