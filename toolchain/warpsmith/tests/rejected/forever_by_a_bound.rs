use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k<'a>(x: &'a [u32]) where 'a: 'static { //~ temporary value dropped while borrowed
    let _ = x;
}
