use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn k() {
    let own = shared!([AtomicU32; 32]);
    let kept = cluster::atomics(&own, |all| all.get(0, 0)); //~ lifetime may not live long enough
    let _ = kept;
}
