use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[derive(Clone, Copy, DeviceCopy)]
pub struct Pair { //~ host and device must agree about the layout: add `#[repr(C)]`
    pub a: f32,
}
