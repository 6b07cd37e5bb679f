use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct Pair {
    pub a: &'static f32, //~ `&'static f32` is not plain data that can be copied to a device
}
