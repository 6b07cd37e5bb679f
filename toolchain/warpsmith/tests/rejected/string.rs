use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(x: String) { //~ `String` is not plain data
    drop(x);
}
