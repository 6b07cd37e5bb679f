use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(x: u32) {
    warpsmith::print!("{} {}\n", x); //~ more `{}` than arguments
}
