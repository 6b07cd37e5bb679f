use saxpy::saxpy;
use warpsmith::{Device, Result};

fn main() -> Result {
    let device = Device::best()?;
    let x: Vec<f32> = (0..1_000_000).map(|i| i as f32).collect();
    let y = saxpy(&device, 2.0, &x, &vec![1.0; x.len()])?;
    println!("2 * {} + 1 = {}, on {device}", x[1000], y[1000]);
    Ok(())
}
