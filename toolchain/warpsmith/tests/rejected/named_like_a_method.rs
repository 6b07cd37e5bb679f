use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn load() {} //~ `Kernels` has a method `load` of its own: give the kernel another name
