use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(x: &[f32], n: u32) {
    let _ = (x, n);
}
pub fn launch(kernels: &Kernels, stream: &Stream, x: &Buffer<f32>) {
    let _ = kernels.k(stream, (1, 1), (x,)); //~ mismatched types
}
