//! Barriers for some warps of a block.

use crate::{back, block, warp};

/// A barrier for some of the block's warps, while the others do something else. (PTX calls it a named barrier.)
///
/// ```
/// use warpsmith::prelude::*;
///
/// # warpsmith::module!(cpu);
/// /// Pairs of warps go through as many rounds as their number says.
/// #[kernel]
/// pub fn rounds(y: &mut Slots<u32>) {
///     let pair = block::Barrier::of_group(2);
///     let mut rounds = 0;
///     while rounds <= warp::index() / 2 {
///         pair.sync();
///         rounds += 1;
///     }
///     y.set(thread::index(), rounds);
/// }
/// # fn main() -> warpsmith::Result {
/// # let device = Device::cpu();
/// # let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
/// # let mut y = stream.zeroed(160)?;
/// # kernels.rounds(&stream, Grid::new(1, 160), (&mut y,))?;
/// # assert_eq!((stream.download(&y)?[0], stream.download(&y)?[159]), (1, 3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    id: u32,
    warps: u32,
}

impl Barrier {
    /// Returns the barrier with this number, from 1 to 15, at which `warps` warps meet.
    ///
    /// Barriers that are used at the same time need different numbers. Number 0 is that of [`sync_threads`](crate::sync_threads).
    ///
    /// # Panics
    /// If there is no barrier with this number, or `warps` is not from 1 to 32.
    #[inline(always)]
    #[track_caller]
    pub fn new(id: u32, warps: u32) -> Self {
        assert!((1..=15).contains(&id), "barrier {id}: a block has barriers 1 to 15");
        assert!((1..=32).contains(&warps), "a barrier for {warps} warps: a block has 1 to 32");
        Barrier { id, warps }
    }

    /// Cuts the block into groups of `warps` warps, of which the last may have fewer, and returns the barrier of this thread's group: number
    /// 1 for the first, and so on.
    ///
    /// # Panics
    /// If `warps` is 0, or this thread is in a group after the fifteenth.
    #[inline(always)]
    #[track_caller]
    pub fn of_group(warps: u32) -> Self {
        assert!(1 <= warps, "groups of no warps");
        let group = warp::index() / warps;
        let rest = block::threads().div_ceil(warp::LANES) - group * warps;
        Barrier::new(group + 1, if warps < rest { warps } else { rest })
    }

    /// Waits until as many warps have come here, or to another `sync` of the same barrier; what their threads wrote before is visible to all
    /// of them after.
    ///
    /// All threads of a warp must reach the same call, and all warps must name the same number of warps.
    #[inline(always)]
    #[track_caller]
    pub fn sync(self) {
        back::sync_warps(self.id, self.warps);
    }
}
