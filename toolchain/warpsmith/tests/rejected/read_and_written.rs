use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(x: &[f32], y: &mut Slots<f32>) {
    let _ = (x, y);
}
pub fn launch(kernels: &Kernels, stream: &Stream, mut x: Buffer<f32>) {
    let _ = kernels.k(stream, (1, 1), (&x, &mut x)); //~ cannot borrow `x` as mutable because it is also borrowed as immutable
}
