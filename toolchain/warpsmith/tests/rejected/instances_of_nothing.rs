use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel(f32)] //~ this kernel has no type parameters: write `#[kernel]`
pub fn k(x: &[f32]) {
    let _ = x;
}
