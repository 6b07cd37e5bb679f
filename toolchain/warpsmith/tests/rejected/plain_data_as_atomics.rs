use warpsmith::prelude::*;
warpsmith::module!(cpu);
fn tile() -> Shared<[u32; 64]> {
    shared!([u32; 64])
}
#[kernel]
pub fn k(y: &mut Slots<u32>) {
    let mut one = tile();
    let all = one.exchange(7);
    tile()[0].store(1, Ordering::Relaxed); //~ cannot index into a value of type
    y.set(thread::index(), all.get(0));
}
