use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(x: &mut [f32]) { //~ `&mut [f32]` is not plain data that can be copied to a device
    x[0] = 1.0;
}
