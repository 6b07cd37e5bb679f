//! Computes a * x + y on a GPU, or on the CPU if there is no GPU.

pub mod kernels;

use kernels::Kernels;
use warpsmith::{Device, Grid, Result};

/// Returns `a` times `x` plus `y`, which have the same length.
pub fn saxpy(device: &Device, a: f32, x: &[f32], y: &[f32]) -> Result<Vec<f32>> {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut y) = (stream.upload(x)?, stream.upload(y)?);
    kernels.saxpy(&stream, Grid::covering(y.len()), (a, &x, &mut y))?;
    stream.download(&y)
}
