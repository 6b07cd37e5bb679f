//! `y[i] += a * x[i]`, rounded once.
//!
//! - `x`, `y`: as many elements of `f32` as the shorter of the two has
//! - grid: one thread per element, in blocks of any size
//! - shared memory: none
//! - deterministic
//! - bound by memory: 12 bytes an element. The two checks of bounds cost nothing beside it.

use super::*;

#[kernel]
pub fn saxpy(a: f32, x: &[f32], y: &mut Slots<f32>) {
    let i = thread::index();
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        *y = a.fma(*x, *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fractions;
    use warpsmith::Result;

    #[warpsmith::test]
    fn is_the_cpus(device: &Device) -> Result {
        let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
        for n in [0, 1, 255, 1000] {
            let (xs, ys) = (fractions(n), vec![0.5; n]);
            let (x, mut y) = (stream.upload(&xs)?, stream.upload(&ys)?);
            kernels.saxpy(&stream, Grid::covering(n), (2.5, &x, &mut y))?;
            let expected: Vec<f32> = xs.iter().zip(&ys).map(|(x, y)| 2.5f32.mul_add(*x, *y)).collect();
            assert_eq!(stream.download(&y)?, expected);
        }
        Ok(())
    }
}
