use warpsmith::prelude::*;
warpsmith::module!(cpu);
pub fn k(mut x: Buffer<f32>, mut y: Buffer<f32>) {
    std::mem::swap(&mut *x, &mut *y); //~ the size for values of type
}
