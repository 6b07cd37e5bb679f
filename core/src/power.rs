//! x^e, in arithmetic that gives every machine the same bits.

/// Returns `x` to the power `e`, for x >= 0: by multiplications for common exponents, else by libm's software `powf`.
#[inline(always)]
pub fn power(x: f32, e: f32) -> f32 {
    if e == 1.0 {
        x
    } else if e == 2.0 {
        x * x
    } else if e == 3.0 {
        x * x * x
    } else {
        libm::powf(x, e)
    }
}
