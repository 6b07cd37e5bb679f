use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k() {
    let mut tile = shared!([Index; 32]); //~ `warpsmith::Index` is not plain data that can be copied to a device
    let _ = tile.exchange(thread::index());
}
