use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(x: &[bool]) { //~ `&[bool]` cannot be a parameter of a kernel
    let _ = x;
}
