use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(x: &[f32]) -> f32 { //~ a kernel returns nothing: write results to a `&mut Slots<T>`
    x[0]
}
