//! Kernels as they are in real programs. `toolchain/gpu-tests` compiles the same file for GPUs.

#![allow(unexpected_cfgs, reason = "`compiled_kernels` is set by the build script of gpu-tests")]

use warpsmith::prelude::*;
use warpsmith::team::{self, Team};

#[cfg(not(compiled_kernels))]
warpsmith::module!(cpu);
#[cfg(compiled_kernels)]
warpsmith::module!();

/// Floats of 16 bits: what host and device have to compute alike.
pub fn halves(a: u32, b: u32) -> [u32; 18] {
    use warpsmith::half::{Bf16, Bf16x2, F16, F16x2};

    let (x, y) = (F16x2::from_bits(a), F16x2::from_bits(b));
    let (v, w) = (Bf16x2::from_bits(a), Bf16x2::from_bits(b));
    let (p, q) = (f32::from_bits(a), f32::from_bits(b));
    let single = |low: F16, high: Bf16| u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16;
    [
        (x + y).to_bits(),
        (x - y).to_bits(),
        (x * y).to_bits(),
        x.fma(y, -x).to_bits(),
        (v + w).to_bits(),
        (v - w).to_bits(),
        (v * w).to_bits(),
        v.fma(w, -v).to_bits(),
        single(x.low() + y.high(), v.low() + w.high()),
        single(x.low() - y.high(), v.low() - w.high()),
        single(x.low() * y.high(), v.low() * w.high()),
        single(x.low() / y.high(), v.low() / w.high()),
        single(x.low().fma(y.low(), y.high()), v.low().fma(w.low(), w.high())),
        single(F16::from_f32(p), Bf16::from_f32(p)),
        single(F16::from_f64(f64::from(p) + f64::from(q)), Bf16::from_f64(f64::from(p) + f64::from(q))),
        F16x2::from_f32s(p, q).to_bits() ^ Bf16x2::from_f32s(p, q).to_bits().rotate_left(8),
        x.low().to_f32().to_bits(),
        single(x.low().sqrt(), v.low().sqrt()),
    ]
}

#[kernel]
pub fn half_arithmetic(a: &[u32], b: &[u32], results: &mut Slots<[u32; 18]>) {
    let i = thread::index();
    if let Some(result) = results.get_mut(i) {
        *result = halves(a[i.get()], b[i.get()]);
    }
}

/// Threads of a block in these kernels.
pub const BLOCK: usize = 256;

#[kernel]
pub fn saxpy(a: f32, x: &[f32], y: &mut Slots<f32>) {
    let i = thread::index();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i.get()];
    }
}

/// One sum a block, by shuffles and then through shared memory.
#[kernel]
pub fn reduce(x: &[f32], sums: &[AtomicF32]) {
    let mut own = 0.0;
    for i in thread::strided(x.len()) {
        own += x[i.get()];
    }
    let of_warp = warp::sum(warp::ALL, own);
    let mut warps = shared!([f32; 32]);
    let count = block::threads() / warp::LANES;
    if warp::lane() == 0 {
        // SAFETY: each warp its own place, and all threads wait before any is read.
        unsafe { warps.write(warp::index() as usize, of_warp) };
    }
    sync_threads();
    if thread::in_block() < warp::LANES {
        // SAFETY: written before the barrier, by as many warps as there are.
        let part = if warp::lane() < count { unsafe { warps.read(warp::lane() as usize) } } else { 0.0 };
        let sum = warp::sum(warp::ALL, part);
        if thread::in_block() == 0 {
            sums[0].fetch_add(sum, Ordering::Relaxed);
        }
    }
}

/// Sums up to and including each element, within each block, after Hillis and Steele.
#[kernel]
pub fn scan(x: &[u32], y: &mut Slots<u32>) {
    let mut tile = shared!([u32; 256]);
    let (i, own) = (thread::index(), thread::in_block());
    let mut sum = x.get(i.get()).copied().unwrap_or(0);
    let mut by = 1;
    while by < block::threads() {
        let all = tile.exchange(sum);
        if own >= by {
            sum += all.get(own - by);
        }
        by *= 2;
    }
    y.set(i, sum);
}

/// Side of the tiles of `transpose`; a row has one element more, so that a column lies in different banks.
pub const SIDE: u32 = 32;

/// Reads tiles by rows and writes them by rows.
#[kernel]
pub fn transpose(x: &[f32], width: u32, height: u32, y: &mut Slots<f32>) {
    let tile = shared!([[f32; 33]; 32]).as_ptr();
    let (tx, ty) = (thread::x() as usize, thread::y() as usize);
    let (column, row) = (block::x() * SIDE + thread::x(), block::y() * SIDE + thread::y());
    if column < width && row < height {
        // SAFETY: each thread its own element, within the tile.
        unsafe { (*tile)[ty][tx] = x[(row * width + column) as usize] };
    }
    sync_threads();
    let (to_column, to_row) = (block::y() * SIDE + thread::x(), block::x() * SIDE + thread::y());
    if to_column < height && to_row < width {
        // SAFETY: written before the barrier; each element of `y` is one thread's.
        unsafe { y.write((to_row * height + to_column) as usize, (*tile)[tx][ty]) };
    }
}

/// Counts bytes, in shared memory first.
#[kernel]
pub fn histogram(bytes: &[u8], counts: &[AtomicU32]) {
    let mut own = shared!([AtomicU32; 256]);
    own.fill(0);
    for i in thread::strided(bytes.len()) {
        own[bytes[i.get()] as usize].fetch_add(1, Ordering::Relaxed);
    }
    sync_threads();
    let mut bin = thread::in_block() as usize;
    while bin < 256 {
        counts[bin].fetch_add(own[bin].load(Ordering::Relaxed), Ordering::Relaxed);
        bin += block::threads() as usize;
    }
}

/// As `reverse` in a block, but nobody waits for the others.
#[kernel]
pub fn reverse_without_a_barrier(x: &[u32], y: &mut Slots<u32>) {
    let mut tile = shared!([u32; 256]);
    let (i, own) = (thread::index(), thread::in_block());
    // SAFETY: it is not: a barrier is missing after it.
    unsafe { tile.write(own as usize, x[i.get()]) };
    // SAFETY: as above.
    y.set(i, unsafe { tile.read((block::threads() - 1 - own) as usize) });
}

/// Waits at a barrier that the last thread does not reach.
#[kernel]
pub fn leaves_one_behind(y: &mut Slots<u32>) {
    if thread::in_block() + 1 == block::threads() {
        return;
    }
    sync_threads();
    y.set(thread::index(), 1);
}

/// Waits at two places.
#[kernel]
#[allow(clippy::if_same_then_else, reason = "that is the fault")]
pub fn waits_at_two_places(y: &mut Slots<u32>) {
    if thread::in_block() < 3 {
        sync_threads();
    } else {
        sync_threads();
    }
    y.set(thread::index(), 1);
}

/// Reads past the end in one thread, while the others wait.
#[kernel]
pub fn panics(x: &[u32], y: &mut Slots<u32>) {
    let i = thread::index();
    let value = x[i.get()];
    sync_threads();
    y.set(i, value);
}

/// Takes values from a lane that is not in the mask.
#[kernel]
pub fn shuffles_from_outside(y: &mut Slots<u32>) {
    let i = thread::index();
    if warp::lane() < 16 {
        y.set(i, warp::shuffle(0xffff, warp::lane(), 20));
    }
}

/// A lock, which a thread holds while it adds to something that is no atomic.
#[kernel]
pub fn locked_sum(lock: &[AtomicU32], sum: &[AtomicU32]) {
    while lock[0].compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        thread::pause(100);
    }
    let old = sum[0].load(Ordering::Relaxed);
    sum[0].store(old + 1, Ordering::Relaxed);
    lock[0].store(0, Ordering::Release);
}

/// A lock that is never free.
#[kernel]
pub fn waits_for_ever(lock: &[AtomicU32]) {
    while lock[0].load(Ordering::Acquire) == 0 {
        thread::pause(100);
    }
}

/// What a warp can do, one number for each operation and lane.
#[kernel]
pub fn warp_operations(y: &mut Slots<u64>) {
    let lane = warp::lane();
    let all = [
        warp::shuffle(warp::ALL, lane as u64 | 1 << 40, 7),
        warp::shuffle_up(warp::ALL, lane, 3) as u64,
        warp::shuffle_down(warp::ALL, lane as i16, 3) as u64,
        warp::shuffle_xor(warp::ALL, lane as f64, 5) as u64,
        warp::shuffle_up_within::<8, u32>(warp::ALL, lane, 3) as u64,
        warp::shuffle_within::<4, u32>(warp::ALL, lane, 6) as u64,
        warp::ballot(warp::ALL, lane.is_multiple_of(3)) as u64,
        warp::any(warp::ALL, lane == 9) as u64,
        warp::all(warp::ALL, lane < 31) as u64,
        warp::match_any(warp::ALL, (lane / 5) as u64) as u64,
        warp::match_all(warp::ALL, 3i32) as u64,
        warp::sum(warp::ALL, lane) as u64,
        warp::min(warp::ALL, lane as i32 - 10) as u64,
        warp::max(warp::ALL, lane as f32) as u64,
    ];
    for (k, value) in all.into_iter().enumerate() {
        // SAFETY: the host gives room for all; each element is one thread's.
        unsafe { y.write(k * 32 + lane as usize, value) };
    }
}

/// Sums by lanes of a part of a warp.
#[kernel]
pub fn partial_warp(y: &mut Slots<u32>) {
    if warp::lane() % 2 == 1 {
        let odd = 0xaaaa_aaaa;
        y.set(thread::index(), warp::reduce(odd, warp::lane(), |a, b| a + b));
    }
}

/// Scales, for each of two types.
#[kernel(f32, f64)]
pub fn scale<T: DeviceCopy + core::ops::Mul<Output = T>>(by: T, y: &mut Slots<T>) {
    let i = thread::index();
    if let Some(y) = y.get_mut(i) {
        *y = *y * by;
    }
}

/// Adds `N` to elements of a type.
#[kernel((u32, 3), (u64, 16))]
pub fn add<T: DeviceCopy + core::ops::Add<Output = T> + From<u8>, const N: u8>(y: &mut Slots<T>) {
    let i = thread::index();
    if let Some(y) = y.get_mut(i) {
        *y = *y + T::from(N);
    }
}

/// A struct that host and device share.
#[derive(Clone, Copy, Debug, DeviceCopy, PartialEq)]
#[repr(C)]
pub struct Body {
    /// Position.
    pub at: [f32; 3],
    /// Mass.
    pub mass: f32,
}

/// Names of types that a kernel's signature hides behind.
pub type Bodies<'a> = &'a [Body];

/// The mass of all bodies, by a slice whose type has another name.
#[kernel]
pub fn total_mass(bodies: Bodies<'_>, first: Body, is_doubled: bool, y: &mut Slots<f32>) {
    let i = thread::index();
    let mut mass = first.mass;
    for body in bodies {
        mass += body.mass;
    }
    y.set(i, if is_doubled { 2.0 * mass } else { mass });
}

/// Dynamic shared memory.
#[kernel]
pub fn rotate(x: &[u32], y: &mut Slots<u32>) {
    let mut tile = Shared::<[u32]>::dynamic();
    let i = thread::index();
    let all = tile.exchange(x[i.get()]);
    y.set(i, all.get((thread::in_block() + 1) % block::threads()));
}

/// Each block adds what the others wrote.
#[kernel]
pub fn grid_sum(x: &[u32], parts: &[AtomicU32], y: &mut Slots<u32>) {
    for i in thread::strided(x.len()) {
        parts[block::index() as usize].fetch_add(x[i.get()], Ordering::Relaxed);
    }
    grid::sync();
    let sum = parts.iter().map(|part| part.load(Ordering::Relaxed)).sum();
    y.set(thread::index(), sum);
}

/// Counts threads at barriers.
#[kernel]
pub fn votes(y: &mut Slots<u32>) {
    let own = thread::in_block();
    let count = sync_threads_count(own.is_multiple_of(3));
    let and = sync_threads_and(own < 100);
    let or = sync_threads_or(own == 7);
    y.set(thread::index(), count | (and as u32) << 16 | (or as u32) << 17);
}

/// Groups of two warps reverse their own part of an array, each as often as its number says, with barriers of their own.
#[kernel]
pub fn reverse_in_groups(x: &[u32], y: &mut Slots<u32>) {
    let tile = shared!([u32; 256]).as_ptr().cast::<u32>();
    let (i, own) = (thread::index(), thread::in_block());
    let barrier = block::Barrier::of_group(2);
    let (first, size) = (own / 64 * 64, 64.min(block::threads() - own / 64 * 64));
    let mut value = x[i.get()];
    for _ in 0..=own / 64 {
        // SAFETY: each thread its own place, and the group waits before and after others read.
        value = unsafe {
            tile.add(own as usize).write(value);
            barrier.sync();
            let other = tile.add((first + size - 1 - (own - first)) as usize).read();
            barrier.sync();
            other
        };
    }
    y.set(i, value);
}

/// The first warp makes values for the second one: both wait at barriers that the rest of the block knows nothing of.
#[kernel]
pub fn hand_over(y: &mut Slots<u32>) {
    let tile = shared!([u32; 32]).as_ptr().cast::<u32>();
    let (full, empty) = (block::Barrier::new(1, 2), block::Barrier::new(2, 2));
    let mut sum = 0;
    // SAFETY: the first warp writes while the second waits for `full`, and the second reads while the first waits for `empty`.
    unsafe {
        if warp::index() == 0 {
            for round in 0..4 {
                tile.add(warp::lane() as usize).write(100 * round + warp::lane());
                full.sync();
                empty.sync();
            }
        } else if warp::index() == 1 {
            for _ in 0..4 {
                full.sync();
                sum += tile.add(31 - warp::lane() as usize).read();
                empty.sync();
            }
        }
    }
    y.set(thread::index(), sum);
}

/// Waits for a warp that does not come.
#[kernel]
pub fn waits_for_two_warps(y: &mut Slots<u32>) {
    if warp::index() == 0 {
        block::Barrier::new(3, 2).sync();
    }
    y.set(thread::index(), 1);
}

/// Waits at a barrier for which the warps name different numbers.
#[kernel]
pub fn disagrees_about_warps(y: &mut Slots<u32>) {
    block::Barrier::new(3, 2 + warp::index()).sync();
    y.set(thread::index(), 1);
}

/// Adds what the next blocks of the cluster have, and where the block is.
#[kernel]
pub fn neighbours_in_cluster(x: &[u32], y: &mut Slots<[u32; 4]>) {
    let mut tile = shared!([u32; 64]);
    let i = thread::index();
    let (rank, blocks, own) = (cluster::rank(), cluster::blocks(), thread::in_block());
    let last = block::threads() - 1 - own;
    let [next, previous, none] = cluster::exchange(
        &mut tile,
        x[i.get()],
        [((rank + 1) % blocks, own), ((rank + blocks - 1) % blocks, last), (blocks, own)],
    );
    let found = |value: Option<u32>| value.unwrap_or(u32::MAX);
    y.set(i, [rank << 16 | blocks, found(next), found(previous), found(none)]);
}

/// Counts bytes in the memory of all blocks of a cluster, a part of the bins in each.
#[kernel]
pub fn histogram_by_clusters(bytes: &[u8], counts: &[AtomicU32]) {
    let mut own = shared!([AtomicU32; 64]);
    own.fill(0);
    let blocks = cluster::blocks();
    cluster::atomics(&own, |all| {
        for i in thread::strided(bytes.len()) {
            let bin = bytes[i.get()] as u32;
            if let Some(bin) = all.get(bin % blocks, (bin / blocks) as usize) {
                bin.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let mut at = thread::in_block();
    while let (Some(own), Some(count)) =
        (own.get(at as usize), counts.get((at * blocks + cluster::rank()) as usize))
    {
        count.fetch_add(own.load(Ordering::Relaxed), Ordering::Relaxed);
        at += block::threads();
    }
}

/// Writes to the memory of another block of the cluster, by its address.
#[kernel]
pub fn write_in_cluster(y: &mut Slots<u32>) {
    let tile = shared!([u32; 32]);
    let other = cluster::pointer(&tile, cluster::blocks() - 1 - cluster::rank());
    cluster::sync();
    if let Some(other) = other {
        // SAFETY: all blocks have started and wait below; each thread writes its own element of one other block.
        unsafe { (*other)[thread::in_block() as usize] = 100 * cluster::rank() + thread::in_block() };
    }
    cluster::sync();
    // SAFETY: written before the barrier.
    y.set(thread::index(), unsafe { (*tile.as_ptr())[thread::in_block() as usize] });
}

/// Waits for a cluster of which one block has ended.
#[kernel]
pub fn leaves_a_block_behind(y: &mut Slots<u32>) {
    if cluster::rank() == 1 {
        return;
    }
    cluster::sync();
    y.set(thread::index(), 1);
}

/// Where a thread is, as an element of a matrix; elements without a thread stay.
#[kernel]
pub fn places(y: &mut Slots<[u32; 2], PerPosition>) {
    if let Some(at) = thread::position()
        && let Some(y) = y.get_mut(at)
    {
        *y = [at.row() as u32, at.column() as u32];
    }
}

/// One element a block: the sum of its threads' values.
#[kernel]
pub fn sums_of_blocks(x: &[u32], y: &mut Slots<u32, PerBlock>) {
    let sum = warp::sum(warp::ALL, x.get(thread::index().get()).copied().unwrap_or(0));
    let mut of_warps = shared!([u32; 256]);
    let of_warps = of_warps.exchange(sum);
    if let Some(leader) = block::leader() {
        let sums = (0..block::threads() / warp::LANES).map(|warp| of_warps.get(warp * warp::LANES));
        y.set(leader, sums.sum());
    }
}

/// A team of the threads of a launch.
pub trait Here: Team {
    fn here() -> Self;
}

impl Here for team::Thread {
    fn here() -> Self {
        team::Thread
    }
}

impl Here for team::Warp {
    fn here() -> Self {
        team::Warp::current()
    }
}

impl Here for team::Block {
    fn here() -> Self {
        team::Block::current()
    }
}

impl Here for team::Cluster {
    fn here() -> Self {
        team::Cluster::current()
    }
}

/// Everything that a team can do with a value of each member, for each member.
#[kernel(team::Thread, team::Warp, team::Block, team::Cluster)]
pub fn team_operations<T: Here>(x: &[u32], y: &mut Slots<[u64; 23]>) {
    let (team, i) = (T::here(), thread::index());
    let own = x[i.get()];
    let (rank, size) = (team.rank(), team.size());
    let is_odd = own % 2 == 1;
    let wide = u64::from(own) << 20 ^ u64::from(own.rotate_left(9));
    let (sum_before, sum) = team.sum_before(own);
    let (count_before, count) = team.count_before(is_odd);
    let small = (own % 1000) as f32;
    let mut of_strided = 0;
    for k in team.strided(1000) {
        of_strided += k as u64;
    }
    let results = [
        u64::from(rank) << 32 | u64::from(size),
        u64::from(team.part().rank()) << 32 | u64::from(team.part().size()),
        u64::from(team.part_rank()) << 32 | u64::from(team.parts()),
        team.shuffle(wide, size - 1 - rank),
        u64::from(team.shuffle(own, if rank.is_multiple_of(2) { size } else { 0 })),
        u64::from(team.reduce(own, |a, b| a ^ b)),
        u64::from(team.sum(own)),
        team.sum(wide),
        u64::from(team.min(own)) << 32 | u64::from(team.max(own)),
        team.min(wide),
        team.max(wide),
        team.min(own as i32) as u64,
        team.max(i64::from(own as i32) << 8) as u64,
        team.min(-i64::from(own)) as u64,
        u64::from(team.sum(small).to_bits()),
        u64::from(team.min(small).to_bits()),
        u64::from(team.max(-small).to_bits()),
        team.max(f64::from(small)).to_bits(),
        u64::from(sum_before) << 32 | u64::from(sum),
        u64::from(count_before) << 32 | u64::from(count),
        u64::from(team.count(is_odd)),
        u64::from(team.all(is_odd)) << 2
            | u64::from(team.any(is_odd)) << 1
            | u64::from(team.all(own < 1 << 24)),
        team.sum(of_strided),
    ];
    y.set(i, results);
}

/// Waits before it reads what others wrote to memory that they share.
#[kernel(team::Warp, team::Block)]
pub fn team_in_memory<T: Here>(y: &mut Slots<u32>) {
    let team = T::here();
    let places = shared!([AtomicU32; 256]);
    let own = thread::in_block();
    let next = if team.rank() + 1 < team.size() { own + 1 } else { own + 1 - team.size() };
    let mut value = own;
    for _ in 0..3 {
        places[own as usize].store(value, Ordering::Relaxed);
        team.sync();
        value = places[next as usize].load(Ordering::Relaxed);
        team.sync();
    }
    y.set(thread::index(), value);
}

/// The sum of a row, by all members of a team.
pub fn sum_of_row<T: Team>(team: T, row: &[f32]) -> f32 {
    let mut own = 0.0;
    for i in team.strided(row.len()) {
        own += row[i];
    }
    team.sum(own)
}

/// A warp for each row.
#[kernel]
pub fn rows_by_warps(x: &[f32], width: u32, sums: &mut Slots<f32, PerWarp>) {
    let row = (block::x() * (block::threads() / warp::LANES) + warp::index()) as usize;
    let sum = sum_of_row(team::Warp::current(), &x[row * width as usize..][..width as usize]);
    if let Some(leader) = warp::leader() {
        sums.set(leader, sum);
    }
}

/// A block for each row.
#[kernel]
pub fn rows_by_blocks(x: &[f32], width: u32, sums: &mut Slots<f32, PerBlock>) {
    let row = block::x() as usize;
    let sum = sum_of_row(team::Block::current(), &x[row * width as usize..][..width as usize]);
    if let Some(leader) = block::leader() {
        sums.set(leader, sum);
    }
}

/// The number of each warp in the launch, for blocks of any size.
#[kernel]
pub fn numbers_of_warps(y: &mut Slots<u32, PerWarp>) {
    if let Some(leader) = warp::leader() {
        y.set(leader, 100 * block::index() as u32 + warp::index());
    }
}

/// Where a thread is, in three dimensions.
#[kernel]
pub fn positions(y: &mut Slots<[u32; 3]>) {
    y.set(thread::index(), [thread::global_x(), thread::global_y(), thread::global_z()]);
}

/// A product of matrices, with windows that are checked once.
#[kernel]
pub fn product(a: &[f32], b: &[f32], n: u32, y: &mut Slots<f32, PerPosition>) {
    let mut left = shared!([f32; 256]);
    let mut right = shared!([f32; 256]);
    let (x, row) = (Below::<16>::wrap(thread::x()), Below::<16>::wrap(thread::y()));
    let mut sum = 0.0;
    let mut k = 0;
    while k < n {
        let of_a = Tile::<f32, 16, 16>::of(a, n, block::y() * 16, k).map_or(0.0, |t| t.get(row, x));
        let of_b = Tile::<f32, 16, 16>::of(b, n, k, block::x() * 16).map_or(0.0, |t| t.get(row, x));
        let (left, right) = (left.exchange(of_a), right.exchange(of_b));
        for j in 0..16 {
            sum += left.get(row.get() * 16 + j) * right.get(j * 16 + x.get());
        }
        k += 16;
    }
    if let Some(at) = thread::position() {
        y.set(at, sum);
    }
}

/// Does nothing, with nothing.
#[kernel]
pub fn nothing() {}

/// Prints.
#[kernel]
pub fn prints(x: f32) {
    if thread::in_block() == 3 {
        let i = thread::in_block();
        warpsmith::print!("thread {i} of {} has {:.3}, {:x}, 100 %\n", block::threads(), x, 255u8);
    }
}

/// Vectors, and a copy to shared memory.
#[kernel]
pub fn copies(x: &[f32], y: &mut Slots<f32>) {
    let tile = shared!([f32; 128]).as_ptr().cast::<f32>();
    let own = thread::in_block() as usize;
    let quad = warpsmith::memory::load_four(x, own).map_or(0.0, |[a, b, c, d]| a + b + c + d);
    if own < 32 {
        // SAFETY: 16 bytes for each of 32 threads, from as many elements, which the host gives.
        unsafe { warpsmith::memory::copy_async::<16, f32>(tile.add(4 * own), x.as_ptr().add(4 * own)) };
    }
    warpsmith::memory::copy_group();
    warpsmith::memory::copy_wait::<0>();
    sync_threads();
    // SAFETY: written before the barrier.
    let copied = unsafe { tile.add(own).read() };
    y.set(thread::index(), quad + copied);
}

/// Fails where a value is too large.
#[kernel]
pub fn asserts(x: &[u32]) {
    warpsmith::device_assert!(x[thread::index().get()] < 100, "a value is too large");
}

/// Adds one to every element that an index list names.
///
/// # Safety
/// No index is named twice, and all are below the length of `y`.
#[kernel]
pub unsafe fn scatter(at: &[u32], y: &mut Slots<u32>) {
    for i in thread::strided(at.len()) {
        let place = at[i.get()] as usize;
        // SAFETY: the caller's promise.
        unsafe { y.write(place, y.read(place) + 1) };
    }
}

/// Lifetimes with names, of which one is behind an alias.
#[kernel]
pub fn first_of_two<'a, 'b: 'a>(x: &'a [f32], bodies: Bodies<'b>, y: &mut Slots<f32>) {
    let masses: &'a [Body] = bodies;
    y.set(thread::index(), x[0] + masses[0].mass);
}

/// What a kernel does, as a type that no parameter has.
pub trait Operation {
    /// What it is done with.
    type Number: DeviceCopy;
    /// Does it.
    fn apply(x: Self::Number) -> Self::Number;
}

/// Adds one.
pub struct Increment;

impl Operation for Increment {
    type Number = u32;
    fn apply(x: u32) -> u32 {
        x + 1
    }
}

/// An instance by a type that is not copied to the device, with a lifetime.
#[kernel(Increment)]
pub fn applied<'a, O: Operation + 'a>(
    x: &'a [<O as Operation>::Number],
    y: &mut Slots<<O as Operation>::Number>,
) {
    let i = thread::index();
    y.set(i, O::apply(x[i.get()]));
}

/// Kernels whose names the macro uses, too.
pub mod names {
    use super::*;

    macro_rules! kernels {
        ($($name:ident)*) => { $(
            /// Sets an element.
            #[kernel]
            pub fn $name(y: &mut Slots<u32>) {
                y.set(thread::index(), 1);
            }
        )* };
    }

    kernels! { kernel launch grid stream arguments first0 second0 held0 value0 }
}
