//! Two kernels for each function: `t_NAME` evaluates it `count` times an element (a multiple of 4), so that memory does not hide the cost; `e_NAME` once,
//! for checks. `reference.cu` has the same kernels in CUDA C++, `driver.cpp` runs both.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]
#![allow(missing_docs)]

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x};

use warpsmith::math::{double, fast, single};

fn index() -> usize {
    // SAFETY: reads of special registers.
    unsafe { (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as usize }
}

macro_rules! kernels {
    ($t:ty: $( $time:ident $check:ident |$x:ident, $y:ident| $body:expr; )*) => { $(
        /// # Safety
        /// The pointers are to one element for each thread.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $time(xs: &[$t; 0], ys: &[$t; 0], out: *mut $t, step: $t, count: u32) {
            let i = index();
            // SAFETY: as above.
            let (mut $x, $y) = unsafe { (*xs.as_ptr().add(i), *ys.as_ptr().add(i)) };
            let (mut sum, mut k) = (0.0, 0);
            // Four a round, in `reference.cu` as well: otherwise one compiler unrolls the loop and the other does not.
            while k < count {
                sum += $body;
                $x += step;
                sum += $body;
                $x += step;
                sum += $body;
                $x += step;
                sum += $body;
                $x += step;
                k += 4;
            }
            // SAFETY: as above.
            unsafe { *out.add(i) = sum };
        }

        /// # Safety
        /// The pointers are to one element for each thread.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $check(xs: &[$t; 0], ys: &[$t; 0], out: *mut $t) {
            let i = index();
            // SAFETY: as above.
            let ($x, $y) = unsafe { (*xs.as_ptr().add(i), *ys.as_ptr().add(i)) };
            let _ = $y;
            // SAFETY: as above.
            unsafe { *out.add(i) = $body };
        }
    )* };
}

macro_rules! both {
    ($( $name:ident $t32:ident $e32:ident $t64:ident $e64:ident; )*) => {
        kernels! { f32: $( $t32 $e32 |x, _y| single::$name(x); )* }
        kernels! { f64: $( $t64 $e64 |x, _y| double::$name(x); )* }
    };
}

macro_rules! both2 {
    ($( $name:ident $t32:ident $e32:ident $t64:ident $e64:ident; )*) => {
        kernels! { f32: $( $t32 $e32 |x, y| single::$name(x, y); )* }
        kernels! { f64: $( $t64 $e64 |x, y| double::$name(x, y); )* }
    };
}

both! {
    sin t_sin_f32 e_sin_f32 t_sin_f64 e_sin_f64;
    cos t_cos_f32 e_cos_f32 t_cos_f64 e_cos_f64;
    tan t_tan_f32 e_tan_f32 t_tan_f64 e_tan_f64;
    exp t_exp_f32 e_exp_f32 t_exp_f64 e_exp_f64;
    exp2 t_exp2_f32 e_exp2_f32 t_exp2_f64 e_exp2_f64;
    ln t_ln_f32 e_ln_f32 t_ln_f64 e_ln_f64;
    log2 t_log2_f32 e_log2_f32 t_log2_f64 e_log2_f64;
    log10 t_log10_f32 e_log10_f32 t_log10_f64 e_log10_f64;
    tanh t_tanh_f32 e_tanh_f32 t_tanh_f64 e_tanh_f64;
    sinh t_sinh_f32 e_sinh_f32 t_sinh_f64 e_sinh_f64;
    cosh t_cosh_f32 e_cosh_f32 t_cosh_f64 e_cosh_f64;
    sqrt t_sqrt_f32 e_sqrt_f32 t_sqrt_f64 e_sqrt_f64;
    rsqrt t_rsqrt_f32 e_rsqrt_f32 t_rsqrt_f64 e_rsqrt_f64;
    erf t_erf_f32 e_erf_f32 t_erf_f64 e_erf_f64;
    cbrt t_cbrt_f32 e_cbrt_f32 t_cbrt_f64 e_cbrt_f64;
    asin t_asin_f32 e_asin_f32 t_asin_f64 e_asin_f64;
    acos t_acos_f32 e_acos_f32 t_acos_f64 e_acos_f64;
    atan t_atan_f32 e_atan_f32 t_atan_f64 e_atan_f64;
    floor t_floor_f32 e_floor_f32 t_floor_f64 e_floor_f64;
    ceil t_ceil_f32 e_ceil_f32 t_ceil_f64 e_ceil_f64;
    trunc t_trunc_f32 e_trunc_f32 t_trunc_f64 e_trunc_f64;
    round t_round_f32 e_round_f32 t_round_f64 e_round_f64;
}

both2! {
    pow t_pow_f32 e_pow_f32 t_pow_f64 e_pow_f64;
    hypot t_hypot_f32 e_hypot_f32 t_hypot_f64 e_hypot_f64;
    fmod t_fmod_f32 e_fmod_f32 t_fmod_f64 e_fmod_f64;
    atan2 t_atan2_f32 e_atan2_f32 t_atan2_f64 e_atan2_f64;
}

kernels! { f32:
    t_sincos_f32 e_sincos_f32 |x, _y| { let (s, c) = single::sincos(x); s + c };
    t_fma_f32 e_fma_f32 |x, y| single::fma(x, y, x);
    t_fast_exp_f32 e_fast_exp_f32 |x, _y| fast::exp(x);
    t_fast_expf_f32 e_fast_expf_f32 |x, _y| fast::expf(x);
    t_fast_ln_f32 e_fast_ln_f32 |x, _y| fast::ln(x);
    t_fast_sin_f32 e_fast_sin_f32 |x, _y| fast::sin(x);
    t_fast_pow_f32 e_fast_pow_f32 |x, y| fast::pow(x, y);
    t_fast_tanh_f32 e_fast_tanh_f32 |x, _y| fast::tanh(x);
    t_fast_div_f32 e_fast_div_f32 |x, y| fast::div(x, y);
}

kernels! { f64:
    t_sincos_f64 e_sincos_f64 |x, _y| { let (s, c) = double::sincos(x); s + c };
    t_fma_f64 e_fma_f64 |x, y| double::fma(x, y, x);
}
