use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k<T: DeviceCopy>(x: &[T]) { //~ a generic kernel is compiled for the types that its attribute names
    let _ = x;
}
