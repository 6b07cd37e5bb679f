use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k(y: &mut Slots<u32, PerWarp>) {
    if let Some(leader) = block::leader() {
        y.set(leader, 1); //~ expected `warpsmith::warp::Leader`, found `warpsmith::block::Leader`
    }
}
