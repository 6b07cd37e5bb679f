//! Seven kernels as they are in real programs, each with a test, and a twin in CUDA C++ (`cuda/`) to compare with.

pub mod kernels;

/// Returns `n` numbers below 2^24 that look random, the same in every run.
pub fn numbers(n: usize) -> Vec<u32> {
    let mut state = 1u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    (0..n).map(next).collect()
}

/// Returns `n` numbers from -1 to 1 that look random, the same in every run.
pub fn fractions(n: usize) -> Vec<f32> {
    numbers(n).into_iter().map(|number| number as f32 / (1 << 23) as f32 - 1.0).collect()
}
