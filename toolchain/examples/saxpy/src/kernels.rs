//! What runs on the GPU. The same file is a module of the program, so that it also runs on the CPU.

use warpsmith::prelude::*;

warpsmith::module!();

/// Adds `a` times `x` to `y`. One thread per element.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], y: &mut Slots<f32>) {
    let i = thread::index();
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        *y += a * x;
    }
}
