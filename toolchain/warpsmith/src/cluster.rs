//! Clusters: blocks that run at the same time, wait for each other and reach each other's shared memory. From `sm_90` on.
//!
//! The host cuts a launch into clusters with `Grid::cluster`. Without it, and in kernels for older architectures, a cluster is one block.
//!
//! ```
//! use warpsmith::prelude::*;
//!
//! # warpsmith::module!(cpu);
//! /// Adds to each element the one that the next block of the cluster has in the same place.
//! #[kernel]
//! pub fn add_next(x: &[u32], y: &mut Slots<u32>) {
//!     let mut tile = shared!([u32; 256]);
//!     let i = thread::index();
//!     let next = (cluster::rank() + 1) % cluster::blocks();
//!     let [other] = cluster::exchange(&mut tile, x[i.get()], [(next, thread::in_block())]);
//!     y.set(i, x[i.get()] + other.unwrap_or(0));
//! }
//! # fn main() -> warpsmith::Result {
//! # let device = Device::cpu();
//! # let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
//! # let (x, mut y) = (stream.upload(&[1, 2, 3, 4])?, stream.zeroed(4)?);
//! kernels.add_next(&stream, Grid::new(2, 2).cluster(2), (&x, &mut y))?;
//! # assert_eq!(stream.download(&y)?, [4, 6, 4, 6]);
//! # Ok(())
//! # }
//! ```

use core::marker::PhantomData;

use crate::atomic::Scope;
use crate::shared::{Content, Shared};
use crate::{Atomic, DeviceCopy, back, block, thread};

/// Returns the block's number in its cluster, from 0, x running fastest.
#[inline(always)]
pub fn rank() -> u32 {
    back::cluster_rank()
}

/// Returns the number of blocks of the cluster.
#[inline(always)]
pub fn blocks() -> u32 {
    back::cluster_blocks()
}

/// Waits for all threads of all blocks of the cluster; what they wrote before is visible to all of them after.
///
/// All threads of the cluster must reach the same call.
#[inline(always)]
#[track_caller]
pub fn sync() {
    back::sync_cluster();
}

/// Writes `value` to the thread's own place in its block's memory, and returns what threads of the cluster wrote: for each pair in `from`
/// the value of the thread with the second number in the block with the first. It is `None` if that thread does not exist or had no place.
///
/// It waits for the cluster before it writes, before it reads, and before it returns. All threads of the cluster must reach the same
/// call, with the same memory.
#[inline(always)]
#[track_caller]
pub fn exchange<T: DeviceCopy, const N: usize, const K: usize>(
    shared: &mut Shared<[T; N]>,
    value: T,
    from: [(u32, u32); K],
) -> [Option<T>; K] {
    shared.check_owner();
    let (own, start) = (thread::in_block() as usize, shared.as_ptr().cast::<T>());
    sync();
    if own < N {
        // SAFETY: within the array. Only this thread writes there; others read between the two barriers below.
        unsafe { start.add(own).write(value) };
    }
    sync();
    let (blocks, threads) = (blocks(), block::threads());
    let values = from.map(|(rank, thread)| {
        let is_there = rank < blocks && thread < threads && (thread as usize) < N;
        // SAFETY: within the array of a block of the cluster, written before the barrier. No block ends or writes before the next one.
        is_there
            .then(|| unsafe { back::of_cluster(start.cast(), rank).cast::<T>().add(thread as usize).read() })
    });
    sync();
    values
}

/// Calls `use_them` with the atomics of all blocks of the cluster.
///
/// It waits for the cluster before and after, so that every block has started and none has ended meanwhile. All threads of the cluster
/// must reach the same call, with the same memory.
///
/// ```
/// use warpsmith::prelude::*;
///
/// # warpsmith::module!(cpu);
/// /// Counts in the memory of the cluster's first block, and adds that up.
/// #[kernel]
/// pub fn count(x: &[u8], counts: &[AtomicU32]) {
///     let mut bins = shared!([AtomicU32; 16]);
///     bins.fill(0);
///     cluster::atomics(&bins, |all| {
///         for i in thread::strided(x.len()) {
///             if let Some(bin) = all.get(0, x[i.get()] as usize) {
///                 bin.fetch_add(1, Ordering::Relaxed);
///             }
///         }
///     });
///     let bin = thread::in_block() as usize;
///     if let (0, Some(own), Some(all)) = (cluster::rank(), bins.get(bin), counts.get(bin)) {
///         all.fetch_add(own.load(Ordering::Relaxed), Ordering::Relaxed);
///     }
/// }
/// # fn main() -> warpsmith::Result {
/// # let device = Device::cpu();
/// # let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
/// # let (x, mut counts) = (stream.upload(&[1, 2, 3, 3])?, stream.zeroed(16)?);
/// kernels.count(&stream, Grid::new(4, 16).cluster(2), (&x, &mut counts))?;
/// # assert_eq!(stream.download(&counts)?[..4], [0, 1, 1, 2]);
/// # Ok(())
/// # }
/// ```
#[inline(always)]
#[track_caller]
pub fn atomics<T: DeviceCopy, S: Scope, const N: usize, R>(
    shared: &Shared<[Atomic<T, S>; N]>,
    use_them: impl FnOnce(&Atomics<'_, T, S, N>) -> R,
) -> R {
    shared.check_owner();
    sync();
    let all = Atomics { start: shared.as_ptr(), blocks: blocks(), cluster: PhantomData };
    let result = use_them(&all);
    sync();
    result
}

/// The atomics of all blocks of a cluster, in a call of [`atomics`].
#[derive(Debug)]
pub struct Atomics<'a, T, S: Scope, const N: usize> {
    start: *mut [Atomic<T, S>; N],
    blocks: u32,
    cluster: PhantomData<&'a Atomic<T, S>>,
}

impl<'a, T: DeviceCopy, S: Scope, const N: usize> Atomics<'a, T, S, N> {
    /// Returns an atomic of the block with this number in the cluster; `None` if there is no such block, or past the end.
    #[inline(always)]
    pub fn get(&self, rank: u32, at: usize) -> Option<&'a Atomic<T, S>> {
        // SAFETY: within the array of a block that runs until the barrier after this call of `atomics`; used only atomically.
        (rank < self.blocks && at < N).then(|| unsafe {
            Atomic::from_ptr(back::of_cluster(self.start.cast(), rank).cast::<T>().add(at))
        })
    }
}

/// Returns the address of the same memory in another block of the cluster; `None` if there is no such block.
///
/// Reading and writing there is unsafe: barriers of the cluster must keep apart what threads write and others read, the block must have
/// started, and must not end before that.
#[inline(always)]
pub fn pointer<T: Content>(shared: &Shared<T>, rank: u32) -> Option<*mut T> {
    (rank < blocks()).then(|| back::of_cluster(shared.as_ptr().cast(), rank).cast())
}
