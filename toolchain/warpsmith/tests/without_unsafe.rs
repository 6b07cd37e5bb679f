//! A crate can forbid `unsafe` and have kernels.
#![forbid(unsafe_code)]

use warpsmith::prelude::*;

warpsmith::module!(cpu);

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Scale(f32);

#[kernel]
fn scale(by: Scale, x: &[f32], y: &mut Slots<f32>, count: &[AtomicU32]) {
    let mut tile = shared!([f32; 32]);
    let i = thread::index();
    let all = tile.exchange(x[i.get()]);
    y.set(i, by.0 * all.get(thread::in_block()));
    count[0].fetch_add(1, Ordering::Relaxed);
    warpsmith::print!("{}\n", by.0);
}

#[kernel(u32)]
fn set<T: DeviceCopy>(value: T, y: &mut Slots<T>) {
    y.set(thread::index(), value);
}

#[warpsmith::test]
fn kernels_run(device: &Device) -> warpsmith::Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut y, mut count) = (stream.upload(&[1.0, 2.0])?, stream.zeroed(2)?, stream.zeroed(1)?);
    kernels.scale(&stream, (1, 2), (Scale(3.0), &x, &mut y, &mut count))?;
    kernels.set::<u32>(&stream, (1, 1), (5, &mut count))?;
    assert_eq!((stream.download(&y)?, stream.download(&count)?), (vec![3.0, 6.0], vec![5]));
    Ok(())
}
