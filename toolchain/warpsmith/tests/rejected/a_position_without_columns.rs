use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(y: &mut Slots<u32, PerPosition>) {
    if let Some(at) = thread::position() {
        y.set(at, 1);
    }
}
pub fn launch(kernels: &Kernels, stream: &Stream, y: &mut Buffer<u32>) {
    let _ = kernels.k(stream, (1, 1), (y,)); //~ expected `(&mut DeviceSlice<u32>, u32)`, found `&mut Buffer<u32>`
}
