use warpsmith::prelude::*;
warpsmith::module!(cpu);
pub trait Real: DeviceCopy {
    type Bits: DeviceCopy;
}
impl Real for f32 {
    type Bits = u32;
}
#[kernel(f32)]
pub fn k<T: Real>(x: &[T::Bits]) { //~ name the trait, as in `<T as Trait>::Item`
    let _ = x;
}
