use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(x: &'static [f32]) { //~ a kernel's arguments live no longer than its launch
    let _ = x;
}
