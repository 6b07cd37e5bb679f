use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(x: u32) {
    let _ = x;
}
pub fn launch(kernels: &Kernels, stream: &Stream) {
    let _ = kernels.k(stream, (1, 1), (1.5,)); //~ expected `u32`, found floating-point number
}
