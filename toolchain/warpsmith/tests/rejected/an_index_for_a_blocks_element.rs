use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(y: &mut Slots<u32, PerBlock>) {
    y.set(thread::index(), 1); //~ expected `Leader`, found `Index`
}
