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

/// Writes for each element the sum of the others in its row, and for each row the sum of both rows of its cluster. Each row is a block.
#[kernel]
fn less_its_row(x: &[u32], y: &mut Slots<u32, PerPosition>, sums: &mut Slots<u32, PerBlock>) {
    let mut tile = shared!([u32; 32]);
    let total = shared!([AtomicU32; 1]);
    let Some(at) = thread::position() else { return };
    let value = x.get(thread::index().get()).copied().unwrap_or(0);
    let sum = warp::sum(warp::ALL, value);
    block::Barrier::new(1, 1).sync();
    let [other] = cluster::exchange(&mut tile, sum, [(1 - cluster::rank(), 0)]);
    y.set(at, sum - value);
    cluster::atomics(&total, |all| all.get(0, 0).map(|one| one.load(Ordering::Relaxed)));
    if let Some(leader) = block::leader() {
        sums.set(leader, sum + other.unwrap_or(0));
    }
}

#[warpsmith::test]
fn blocks_and_clusters(device: &Device) -> warpsmith::Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut y, mut sums) = (stream.upload(&[1u32; 64])?, stream.zeroed(64)?, stream.zeroed(2)?);
    let grid = Grid::new((1, 2), 32).cluster((1, 2));
    kernels.less_its_row(&stream, grid, (&x, (&mut y, 32), &mut sums))?;
    assert_eq!((stream.download(&y)?, stream.download(&sums)?), (vec![31; 64], vec![64; 2]));
    Ok(())
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
