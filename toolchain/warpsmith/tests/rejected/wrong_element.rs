use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(x: &[f32]) {
    let _ = x;
}
pub fn launch(kernels: &Kernels, stream: &Stream, x: &Buffer<f64>) {
    let _ = kernels.k(stream, (1, 1), (x,)); //~ expected `&DeviceSlice<f32>`, found `&Buffer<f64>`
}
