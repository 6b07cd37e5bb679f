//! Teams: code that is written once for a thread, a warp, a block or a cluster.
//!
//! A function over a [`Team`] distributes its work over the members by [`Team::strided`], and joins their results by
//! [`Team::sum`] and its like. A kernel chooses the team: a warp for each short row, a block for each long one. On the CPU, a test or a program
//! calls the same function with [`Thread`], a team of one, without a launch.
//!
//! ```
//! use warpsmith::prelude::*;
//! use warpsmith::team::{Block, Team, Thread, Warp};
//!
//! # warpsmith::module!(cpu);
//! /// The length of a vector. All members have the same `x`, and get the same result.
//! fn length<T: Team>(team: T, x: &[f32]) -> f32 {
//!     let mut own = 0.0;
//!     for i in team.strided(x.len()) {
//!         own += x[i] * x[i];
//!     }
//!     warpsmith::math::Float::sqrt(team.sum(own))
//! }
//!
//! /// The lengths of the rows of a matrix, each by a warp.
//! #[kernel]
//! pub fn of_short_rows(x: &[f32], width: u32, lengths: &mut Slots<f32, PerWarp>) {
//!     let (warps, width) = (block::threads() / warp::LANES, width as usize);
//!     let row = (block::x() * warps + warp::index()) as usize;
//!     let length = length(Warp::current(), &x[row * width..][..width]);
//!     if let Some(leader) = warp::leader() {
//!         lengths.set(leader, length);
//!     }
//! }
//!
//! /// The lengths of the rows of a matrix, each by a block.
//! #[kernel]
//! pub fn of_long_rows(x: &[f32], width: u32, lengths: &mut Slots<f32, PerBlock>) {
//!     let width = width as usize;
//!     let length = length(Block::current(), &x[block::x() as usize * width..][..width]);
//!     if let Some(leader) = block::leader() {
//!         lengths.set(leader, length);
//!     }
//! }
//! # fn main() -> warpsmith::Result {
//! # let device = Device::cpu();
//! # let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
//! let xs = [1.0; 6400];
//! let (x, mut lengths) = (stream.upload(&xs)?, stream.zeroed(64)?);
//! kernels.of_short_rows(&stream, Grid::new(16, 4 * 32), (&x, 100, &mut lengths))?;
//! assert_eq!(stream.download(&lengths)?, [10.0; 64]);
//! kernels.of_long_rows(&stream, Grid::new(1, 256), (&x, 6400, &mut lengths))?;
//! assert_eq!(stream.download(&lengths)?[0], 80.0);
//! assert_eq!(length(Thread, &xs), 80.0);
//! # Ok(())
//! # }
//! ```
//!
//! Sums of floating-point numbers are added in an order that depends on the number of members, so their rounding does, too. Everything else
//! has the same result for every team.
//!
//! # What is safe
//!
//! All of it, but the constructors `assume`, with which a kernel claims to know its position better. As for all barriers, no type checks that
//! **all members reach the same call**. Otherwise a launch on a GPU may hang or give wrong results; on the simulated device it returns an
//! error that names the place.
//!
//! Members exchange values by [`Team::shuffle`]. Other memory that they share follows its own rules: `shared!([AtomicU32; 64])` is for all
//! threads of a block at any time, and reading and writing [`Shared`](crate::shared::Shared) memory is unsafe, with [`Team::sync`] between.

use crate::warp::{Lane, Reduce};

mod block;
mod cluster;
mod warp;

pub use block::Block;
pub use cluster::Cluster;
pub use warp::Warp;

/// A team: threads that run the same code and wait for each other.
///
/// All members must reach the same calls of its methods, with the same `n`, and get the same results unless a method says otherwise. Every method
/// that combines or exchanges values waits for all members first: what they wrote before the call is visible to all after it.
pub trait Team: Copy {
    /// Whether the team is one thread: it can branch without holding up others.
    const ALONE: bool = false;

    /// A part of the team that is a team itself: a block of a cluster, a warp of a block. A warp or a thread has one part, itself.
    type Part: Team;

    /// Returns this member's number, below [`Team::size`].
    fn rank(self) -> u32;

    /// Returns the number of members.
    fn size(self) -> u32;

    /// Returns the part that this member is in.
    fn part(self) -> Self::Part;

    /// Returns that part's number, below [`Team::parts`].
    fn part_rank(self) -> u32;

    /// Returns the number of parts. All have the same size.
    fn parts(self) -> u32;

    /// Waits for all members; what they wrote before is visible to all of them after.
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sync(self);

    /// Returns the value of member `from`, or this member's own if there is no such member. Each member may name another one.
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn shuffle<T: Lane>(self, value: T, from: u32) -> T;

    /// Combines the values of all members.
    ///
    /// `combine` must be associative and commutative. In which order it is applied depends on the number of members alone.
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn reduce<T: Lane>(self, value: T, combine: impl Fn(T, T) -> T) -> T;

    /// Returns the sum over the members before this one, and over all; integers wrap.
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sum_before<T: Reduce>(self, value: T) -> (T, T);

    /// Returns the sum over all members; integers wrap.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sum<T: Reduce>(self, value: T) -> T {
        self.reduce(value, T::add)
    }

    /// Returns the smallest value of all members; NaN only if all are.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn min<T: Reduce>(self, value: T) -> T {
        self.reduce(value, T::smaller)
    }

    /// Returns the largest value of all members; NaN only if all are.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn max<T: Reduce>(self, value: T) -> T {
        self.reduce(value, T::larger)
    }

    /// Returns for how many members `predicate` is true.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn count(self, predicate: bool) -> u32 {
        self.sum(predicate as u32)
    }

    /// Returns for how many members before this one `predicate` is true, and for how many in all.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn count_before(self, predicate: bool) -> (u32, u32) {
        self.sum_before(predicate as u32)
    }

    /// Returns whether `predicate` is true for all members.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn all(self, predicate: bool) -> bool {
        self.count(!predicate) == 0
    }

    /// Returns whether `predicate` is true for any member.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn any(self, predicate: bool) -> bool {
        self.count(predicate) != 0
    }

    /// Returns the numbers below `n` that are this member's share: its rank, then further ones, each the size of the team apart. Together the
    /// members have all of them, each once.
    #[inline(always)]
    fn strided(self, n: usize) -> Strided {
        Strided { next: self.rank() as usize, step: self.size() as usize, n }
    }
}

/// The numbers of [`Team::strided`].
#[derive(Clone, Debug)]
pub struct Strided {
    next: usize,
    step: usize,
    n: usize,
}

impl Iterator for Strided {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.next >= self.n {
            return None;
        }
        let at = self.next;
        // No memory has so many elements that this overflows.
        self.next = at.wrapping_add(self.step);
        Some(at)
    }
}

/// A thread alone, on a GPU or a CPU: a team of one, which needs no launch.
#[derive(Clone, Copy, Debug)]
pub struct Thread;

impl Team for Thread {
    const ALONE: bool = true;
    type Part = Thread;

    #[inline(always)]
    fn rank(self) -> u32 {
        0
    }
    #[inline(always)]
    fn size(self) -> u32 {
        1
    }
    #[inline(always)]
    fn part(self) -> Thread {
        self
    }
    #[inline(always)]
    fn part_rank(self) -> u32 {
        0
    }
    #[inline(always)]
    fn parts(self) -> u32 {
        1
    }
    #[inline(always)]
    fn sync(self) {}
    #[inline(always)]
    fn shuffle<T: Lane>(self, value: T, _from: u32) -> T {
        value
    }
    #[inline(always)]
    fn reduce<T: Lane>(self, value: T, _combine: impl Fn(T, T) -> T) -> T {
        value
    }
    #[inline(always)]
    fn sum_before<T: Reduce>(self, value: T) -> (T, T) {
        (T::ZERO, value)
    }
}
