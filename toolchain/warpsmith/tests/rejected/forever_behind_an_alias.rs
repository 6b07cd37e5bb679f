use warpsmith::prelude::*;
warpsmith::module!(cpu);
type Names = &'static [f32];
#[kernel] //~ argument requires that borrow lasts for `'static`
pub fn k(x: Names) {
    let _ = x;
}
