use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel(f32)] //~ this kernel has 2 type parameters: write `(.., ..)` for each instance
pub fn k<T: DeviceCopy, const N: usize>(x: &[T]) {
    let _ = x;
}
