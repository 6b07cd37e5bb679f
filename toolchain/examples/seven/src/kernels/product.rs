//! The product of two square matrices, by tiles in shared memory.
//!
//! - `a`, `b`, `c`: `f32`, `n` rows of `n` elements; `n` is a multiple of 32, and other sizes give nothing
//! - grid: a block of 32 by 32 threads for each tile of `c` ([`grid`]); each thread has one element
//! - shared memory: 8 KiB, a tile of `a` and one of `b`
//! - deterministic: the products of an element are added in order, fused
//! - bound by shared memory: two reads for each fused multiplication. The tiles of a row or column are checked once
//!   ([`Matrix`]), elements not at all: their indices are below the size of a tile by their type ([`Below`]).

use super::*;
use warpsmith::shared::exchange_both;

/// Elements on a side of a tile.
pub const SIDE: u32 = 32;

#[kernel]
pub fn product(a: &[f32], b: &[f32], n: u32, c: &mut Slots<f32, PerPosition>) {
    if !n.is_multiple_of(SIDE) {
        return;
    }
    let (Some(a), Some(b)) = (Matrix::of(a, n, n), Matrix::of(b, n, n)) else { return };
    let (mut left, mut right) = (shared!([f32; 1024]), shared!([f32; 1024]));
    let (x, y) = (Below::wrap(thread::x()), Below::wrap(thread::y()));
    let mut sum = 0.0;
    let across = a.tiles_right::<SIDE, SIDE>(block::y() * SIDE);
    for (of_a, of_b) in across.zip(b.tiles_down::<SIDE, SIDE>(block::x() * SIDE)) {
        let (all_a, all_b) = exchange_both(&mut left, of_a.get(y, x), &mut right, of_b.get(y, x));
        let (Some(all_a), Some(all_b)) = (all_a.tile::<SIDE, SIDE>(), all_b.tile::<SIDE, SIDE>()) else {
            return;
        };
        sum = Below::all().fold(sum, |sum, j| all_a.get(y, j).fma(all_b.get(j, x), sum));
    }
    if let Some(at) = thread::position() {
        c.set(at, sum);
    }
}

/// Returns the grid for matrices of `n` by `n` elements.
#[cfg(not(target_os = "cuda"))]
pub fn grid(n: u32) -> Grid {
    Grid::covering_2d(n, n, (SIDE, SIDE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fractions;
    use warpsmith::Result;

    #[warpsmith::test]
    fn is_the_cpus(device: &Device) -> Result {
        let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
        for n in [32, 64] {
            let (left, right) = (fractions(n * n), fractions(2 * n * n).split_off(n * n));
            let (a, b, mut c) = (stream.upload(&left)?, stream.upload(&right)?, stream.zeroed(n * n)?);
            kernels.product(&stream, grid(n as u32), (&a, &b, n as u32, (&mut c, n as u32)))?;
            let sum = |row: usize, column: usize| {
                (0..n).fold(0.0, |sum, k| left[row * n + k].mul_add(right[k * n + column], sum))
            };
            let expected: Vec<f32> = (0..n * n).map(|i| sum(i / n, i % n)).collect();
            assert_eq!(stream.download(&c)?, expected);
        }
        Ok(())
    }

    #[warpsmith::test]
    fn a_size_without_whole_tiles_gives_nothing(device: &Device) -> Result {
        let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
        let (a, b) = (stream.filled(1600, 1.0f32)?, stream.filled(1600, 1.0f32)?);
        let mut c = stream.zeroed(1600)?;
        kernels.product(&stream, grid(40), (&a, &b, 40, (&mut c, 40)))?;
        assert_eq!(stream.download(&c)?, [0.0; 1600]);
        Ok(())
    }
}
