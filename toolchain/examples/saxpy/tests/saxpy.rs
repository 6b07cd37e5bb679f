use saxpy::saxpy;
use warpsmith::{Device, Result};

warpsmith_test::main!();

#[warpsmith::test]
fn saxpy_is_what_the_cpu_computes(device: &Device) -> Result {
    for n in [0, 1, 255, 256, 1000] {
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let expected: Vec<f32> = x.iter().map(|x| 0.5 * x + 3.0).collect();
        assert_eq!(saxpy(device, 0.5, &x, &vec![3.0; x.len()])?, expected);
    }
    Ok(())
}
