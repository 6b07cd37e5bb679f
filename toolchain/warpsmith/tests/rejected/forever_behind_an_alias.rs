use warpsmith::prelude::*;
warpsmith::module!(cpu);
type Names = &'static [f32];
#[kernel]
pub fn k(x: Names) { //~ temporary value dropped while borrowed
    let _ = x;
}
