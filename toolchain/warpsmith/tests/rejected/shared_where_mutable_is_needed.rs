use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(x: &mut Slots<f32>) {
    let _ = x;
}
pub fn launch(kernels: &Kernels, stream: &Stream, x: &Buffer<f32>) {
    let _ = kernels.k(stream, (1, 1), (x,)); //~ types differ in mutability
}
