//! The functions of floats that `core` lacks: [`GpuFloat`] has what `std` has on a host, [`FloatExt`] more.
//!
//! They are those of [`warpsmith::math`]; the few that it lacks come from the crate `libm`.

use warpsmith::math::{double, single};

/// Functions of floats that `std` has on a host, under the same names. Angles are in radians, and NaN is what a function returns
/// outside its domain.
pub trait GpuFloat: Copy + PartialOrd + private::Sealed {
    /// Returns the arc cosine.
    fn acos(self) -> Self;
    /// Returns the inverse hyperbolic cosine.
    fn acosh(self) -> Self;
    /// Returns the arc sine.
    fn asin(self) -> Self;
    /// Returns the inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// Returns the arc tangent.
    fn atan(self) -> Self;
    /// Returns the inverse hyperbolic tangent.
    fn atanh(self) -> Self;
    /// Returns the cube root.
    fn cbrt(self) -> Self;
    /// Returns the cosine.
    fn cos(self) -> Self;
    /// Returns the hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Returns e to this power.
    fn exp(self) -> Self;
    /// Returns 2 to this power.
    fn exp2(self) -> Self;
    /// Returns the logarithm to base 10.
    fn log10(self) -> Self;
    /// Returns the logarithm to base 2.
    fn log2(self) -> Self;
    /// Returns the sine.
    fn sin(self) -> Self;
    /// Returns the hyperbolic sine.
    fn sinh(self) -> Self;
    /// Returns the tangent.
    fn tan(self) -> Self;
    /// Returns the hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Returns the greatest whole number that is not greater.
    fn floor(self) -> Self;
    /// Returns the least whole number that is not less.
    fn ceil(self) -> Self;
    /// Returns the nearest whole number; halves away from 0.
    fn round(self) -> Self;
    /// Returns the whole part.
    fn trunc(self) -> Self;
    /// Returns what is behind the point.
    fn fract(self) -> Self;
    /// Returns the value without its sign.
    fn abs(self) -> Self;
    /// Returns 1 with the sign of the value; NaN for NaN.
    fn signum(self) -> Self;
    /// Returns the value with the sign of another.
    fn copysign(self, sign: Self) -> Self;
    /// Returns `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Returns the whole quotient that leaves a remainder of at least 0.
    fn div_euclid(self, rhs: Self) -> Self;
    /// Returns that remainder.
    fn rem_euclid(self, rhs: Self) -> Self;
    /// Returns the value to a whole power, by multiplications.
    fn powi(self, n: i32) -> Self;
    /// Returns the value to a power.
    fn powf(self, n: Self) -> Self;
    /// Returns the square root.
    fn sqrt(self) -> Self;
    /// Returns the natural logarithm.
    fn ln(self) -> Self;
    /// Returns the logarithm to a base.
    fn log(self, base: Self) -> Self;
    /// Returns the length of a vector with these two parts.
    fn hypot(self, other: Self) -> Self;
    /// Returns the angle of the vector `(other, self)`, from -π to π.
    fn atan2(self, other: Self) -> Self;
    /// Returns sine and cosine.
    fn sin_cos(self) -> (Self, Self);
    /// Returns e to this power, less 1.
    fn exp_m1(self) -> Self;
    /// Returns the natural logarithm of the value and 1.
    fn ln_1p(self) -> Self;
}

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! gpu_float {
    ($t:ident, $math:ident; $($name:ident = $of:ident ($($argument:ident),*);)* @libm $($other:ident = $libm:ident;)*) => {
        impl GpuFloat for $t {
            $(
                #[inline(always)]
                fn $name(self $(, $argument: Self)*) -> Self {
                    $math::$of(self $(, $argument)*)
                }
            )*
            $(
                #[inline]
                fn $other(self) -> Self {
                    libm::$libm(self)
                }
            )*

            #[inline(always)]
            fn fract(self) -> Self {
                self - $math::trunc(self)
            }

            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }

            #[inline(always)]
            fn signum(self) -> Self {
                <$t>::signum(self)
            }

            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                <$t>::copysign(self, sign)
            }

            // The operator `%` is wrong on GPUs where the quotient is large.
            #[inline]
            fn div_euclid(self, rhs: Self) -> Self {
                let quotient = $math::trunc(self / rhs);
                if $math::fmod(self, rhs) < 0.0 {
                    return if rhs > 0.0 { quotient - 1.0 } else { quotient + 1.0 };
                }
                quotient
            }

            #[inline]
            fn rem_euclid(self, rhs: Self) -> Self {
                let rest = $math::fmod(self, rhs);
                if rest < 0.0 { rest + <$t>::abs(rhs) } else { rest }
            }

            #[inline]
            fn powi(self, n: i32) -> Self {
                let (mut rest, mut square, mut power) = (n.unsigned_abs(), self, 1.0);
                while rest > 0 {
                    if rest & 1 == 1 {
                        power *= square;
                    }
                    square *= square;
                    rest >>= 1;
                }
                if n < 0 { 1.0 / power } else { power }
            }

            #[inline]
            fn log(self, base: Self) -> Self {
                $math::ln(self) / $math::ln(base)
            }

            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                $math::sincos(self)
            }
        }
    };
}

gpu_float! {
    f32, single;
    floor = floor(); ceil = ceil(); round = round(); trunc = trunc(); sqrt = sqrt(); mul_add = fma(a, b);
    powf = pow(n); exp = exp(); exp2 = exp2(); ln = ln(); log2 = log2(); log10 = log10(); cbrt = cbrt();
    hypot = hypot(other); sin = sin(); cos = cos(); tan = tan(); asin = asin(); acos = acos();
    atan = atan(); atan2 = atan2(other); sinh = sinh(); cosh = cosh(); tanh = tanh();
    @libm asinh = asinhf; acosh = acoshf; atanh = atanhf; exp_m1 = expm1f; ln_1p = log1pf;
}

gpu_float! {
    f64, double;
    floor = floor(); ceil = ceil(); round = round(); trunc = trunc(); sqrt = sqrt(); mul_add = fma(a, b);
    powf = pow(n); exp = exp(); exp2 = exp2(); ln = ln(); log2 = log2(); log10 = log10(); cbrt = cbrt();
    hypot = hypot(other); sin = sin(); cos = cos(); tan = tan(); asin = asin(); acos = acos();
    atan = atan(); atan2 = atan2(other); sinh = sinh(); cosh = cosh(); tanh = tanh();
    @libm asinh = asinh; acosh = acosh; atanh = atanh; exp_m1 = expm1; ln_1p = log1p;
}

/// Functions of floats that `std` does not have either.
pub trait FloatExt: Sized + private::Sealed {
    /// Returns the cosine of π times the value.
    fn cospi(self) -> Self;
    /// Returns the sine of π times the value.
    fn sinpi(self) -> Self;
    /// Returns [`sinpi`](Self::sinpi) and [`cospi`](Self::cospi).
    fn sincospi(self) -> (Self, Self);
    /// Returns the error function.
    fn error_function(self) -> Self;
    /// Returns 1 less the error function.
    fn complementary_error_function(self) -> Self;
    /// Returns the distribution function of the standard normal distribution.
    fn norm_cdf(self) -> Self;
    /// Returns a fraction of magnitude at least 0.5 and less than 1, and the exponent `e` with which 2^`e` times it is the value; the
    /// value itself and 0 for 0, infinity and NaN.
    fn frexp(self) -> (Self, i32);
    /// Returns the logarithm of the magnitude to base 2, rounded down; `i32::MIN` for 0 and NaN, `i32::MAX` for infinity.
    fn unbiased_exp(self) -> i32;
    /// Returns the value times 2^`exp`.
    fn ldexp(self, exp: i32) -> Self;
    /// Returns the value times 2^`exp`.
    fn scale_by_n(self, exp: i32) -> Self;
    /// Returns the Bessel function of the first kind, order 0.
    fn j0(self) -> Self;
    /// Returns the Bessel function of the first kind, order 1.
    fn j1(self) -> Self;
    /// Returns the Bessel function of the first kind and this order.
    fn jn(self, order: i32) -> Self;
    /// Returns the Bessel function of the second kind, order 0.
    fn y0(self) -> Self;
    /// Returns the Bessel function of the second kind, order 1.
    fn y1(self) -> Self;
    /// Returns the Bessel function of the second kind and this order.
    fn yn(self, order: i32) -> Self;
    /// Returns the gamma function.
    fn gamma(self) -> Self;
    /// Returns the natural logarithm of the magnitude of the gamma function.
    fn log_gamma(self) -> Self;
    /// Returns the natural logarithm of the value and 1.
    fn log1p(self) -> Self;
    /// Returns 1 over the cube root.
    fn rcbrt(self) -> Self;
    /// Returns the value, but at least 0 and at most 1; 0 for NaN.
    fn saturate(self) -> Self;
}

macro_rules! float_ext {
    (
        $t:ident, $math:ident; $($name:ident = $libm:ident),*;
        $erfc:ident $frexp:ident $ilogb:ident $scalbn:ident $jn:ident $yn:ident
    ) => {
        impl FloatExt for $t {
            $(
                #[inline]
                fn $name(self) -> Self {
                    libm::$libm(self)
                }
            )*
            #[inline]
            fn cospi(self) -> Self {
                // Exact, so that whole numbers and halves give what they must.
                let x = <$t>::abs($math::fmod(self, 2.0));
                let x = if x > 1.0 { 2.0 - x } else { x };
                match x {
                    0.5 => 0.0,
                    _ if x > 0.5 => -$math::cos((1.0 - x) * core::$t::consts::PI),
                    _ => $math::cos(x * core::$t::consts::PI),
                }
            }
            #[inline]
            fn sinpi(self) -> Self {
                let x = $math::fmod(self, 2.0);
                let (x, sign) = if x < 0.0 { (-x, -1.0) } else { (x, 1.0) };
                let (x, sign) = if x >= 1.0 { (x - 1.0, -sign) } else { (x, sign) };
                let x = if x > 0.5 { 1.0 - x } else { x };
                sign * $math::sin(x * core::$t::consts::PI)
            }
            #[inline]
            fn sincospi(self) -> (Self, Self) {
                (self.sinpi(), self.cospi())
            }
            #[inline]
            fn norm_cdf(self) -> Self {
                0.5 * libm::$erfc(-self * core::$t::consts::FRAC_1_SQRT_2)
            }
            #[inline]
            fn frexp(self) -> (Self, i32) {
                libm::$frexp(self)
            }
            #[inline]
            fn unbiased_exp(self) -> i32 {
                libm::$ilogb(self)
            }
            #[inline]
            fn ldexp(self, exp: i32) -> Self {
                libm::$scalbn(self, exp)
            }
            #[inline]
            fn scale_by_n(self, exp: i32) -> Self {
                libm::$scalbn(self, exp)
            }
            #[inline]
            fn jn(self, order: i32) -> Self {
                libm::$jn(order, self)
            }
            #[inline]
            fn yn(self, order: i32) -> Self {
                libm::$yn(order, self)
            }
            #[inline]
            fn rcbrt(self) -> Self {
                1.0 / $math::cbrt(self)
            }
            #[inline(always)]
            fn saturate(self) -> Self {
                self.max(0.0).min(1.0)
            }
        }
    };
}

float_ext! {
    f32, single; j0 = j0f, j1 = j1f, y0 = y0f, y1 = y1f, error_function = erff, complementary_error_function = erfcf, gamma = tgammaf,
    log_gamma = lgammaf, log1p = log1pf;
    erfcf frexpf ilogbf scalbnf jnf ynf
}

float_ext! {
    f64, double; j0 = j0, j1 = j1, y0 = y0, y1 = y1, error_function = erf, complementary_error_function = erfc, gamma = tgamma,
    log_gamma = lgamma, log1p = log1p;
    erfc frexp ilogb scalbn jn yn
}
