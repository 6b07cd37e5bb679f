use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel(f32)]
pub fn scale<T: DeviceCopy>(x: &[T], y: &mut Slots<T>) {
    y.set(thread::index(), x[0]);
}
impl warpsmith::Named for __scale_instance<u8> { //~ requires an `unsafe impl` declaration
    const NAME: &'static str = "scale_f32";
}
