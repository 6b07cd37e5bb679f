use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel(f32, f64)]
pub fn k<T: DeviceCopy>(x: &[T]) {
    let _ = x;
}
pub fn launch(kernels: &Kernels, stream: &Stream, x: &Buffer<u32>) {
    let _ = kernels.k::<u32>(stream, (1, 1), (x,)); //~ the kernel has no instance for these types
}
