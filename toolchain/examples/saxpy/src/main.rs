//! Computes a * x + y on a GPU, or on the CPU if there is no GPU.

mod kernels;

use kernels::Kernels;
use warpsmith::{Device, Grid, Result};

fn saxpy(device: &Device, a: f32, x: &[f32], y: &[f32]) -> Result<Vec<f32>> {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut y) = (stream.upload(x)?, stream.upload(y)?);
    kernels.saxpy(&stream, Grid::covering(y.len()), (a, &x, &mut y))?;
    stream.download(&y)
}

fn main() -> Result {
    let device = Device::best()?;
    let x: Vec<f32> = (0..1_000_000).map(|i| i as f32).collect();
    let y = saxpy(&device, 2.0, &x, &vec![1.0; x.len()])?;
    println!("{}: 2 * {} + 1 = {}", device.properties().name, x[1000], y[1000]);
    Ok(())
}

#[warpsmith::test]
fn saxpy_is_what_the_cpu_computes(device: &Device) -> Result {
    for n in [0, 1, 255, 256, 1000] {
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let expected: Vec<f32> = x.iter().map(|x| 0.5 * x + 3.0).collect();
        assert_eq!(saxpy(device, 0.5, &x, &vec![3.0; x.len()])?, expected);
    }
    Ok(())
}
