//! The shape of a launch.

use std::format;
use std::string::{String, ToString};

use crate::back::Dim;

/// Numbers along x, y and z: made from one number, two or three; those that are missing are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl From<u32> for Extent {
    fn from(x: u32) -> Self {
        Extent { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Extent {
    fn from((x, y): (u32, u32)) -> Self {
        Extent { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Extent {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Extent { x, y, z }
    }
}

impl Extent {
    /// Returns how many there are, or the largest number if there are more.
    pub fn count(self) -> u64 {
        (self.x as u64 * self.y as u64).saturating_mul(self.z as u64)
    }

    pub(crate) fn dim(self) -> Dim {
        Dim { x: self.x, y: self.y, z: self.z }
    }

    pub(crate) fn tuple(self) -> (u32, u32, u32) {
        (self.x, self.y, self.z)
    }
}

/// The shape of a launch: blocks, threads of a block, and dynamic shared memory. One that the device cannot run is an error of the
/// launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    pub(crate) blocks: Extent,
    pub(crate) threads: Extent,
    pub(crate) shared_bytes: u32,
    pub(crate) is_cooperative: bool,
    /// The blocks of a cluster.
    pub(crate) cluster: Extent,
    /// The elements to cover, where there are more than a grid can.
    too_many: Option<u64>,
}

/// What a device allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub threads: u32,
    pub block: Extent,
    pub grid: Extent,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Whether device and kernel have clusters.
    pub has_clusters: bool,
}

/// The most threads of a launch: an index and a stride added to it must not wrap.
const MOST_THREADS: u64 = i64::MAX as u64;

/// The most blocks of a cluster, on all devices that have clusters.
const MOST_OF_CLUSTER: u64 = 8;

impl Grid {
    /// Threads of a block, where nothing else was asked for.
    const USUAL: u32 = 256;

    /// Returns a grid of `blocks` blocks with `threads` threads each: numbers, or tuples for two and three dimensions.
    pub fn new(blocks: impl Into<Extent>, threads: impl Into<Extent>) -> Self {
        let (blocks, threads) = (blocks.into(), threads.into());
        let cluster = Extent::from(1);
        Grid { blocks, threads, shared_bytes: 0, is_cooperative: false, cluster, too_many: None }
    }

    /// Returns a grid with at least `n` threads, in blocks of 256. For no elements it has one block.
    pub fn covering(n: usize) -> Self {
        Grid::covering_by(n, Self::USUAL)
    }

    /// Returns a grid with at least `n` threads, in blocks of `threads`. For no elements it has one block.
    pub fn covering_by(n: usize, threads: u32) -> Self {
        let blocks = n.div_ceil(threads.max(1) as usize).max(1);
        let mut grid = Grid::new(blocks as u32, threads);
        grid.too_many = u32::try_from(blocks).is_err().then_some(n as u64);
        grid
    }

    /// Returns a grid of two dimensions with at least `width` by `height` threads, in blocks of `threads`.
    pub fn covering_2d(width: u32, height: u32, threads: (u32, u32)) -> Self {
        let blocks = |n: u32, by: u32| n.div_ceil(by.max(1)).max(1);
        Grid::new((blocks(width, threads.0), blocks(height, threads.1)), threads)
    }

    /// Gives each block this much dynamic shared memory, for `Shared::dynamic`.
    #[must_use]
    pub fn shared_bytes(self, bytes: u32) -> Self {
        Grid { shared_bytes: bytes, ..self }
    }

    /// Makes the launch cooperative: all blocks run at the same time, so that `grid::sync` works. There may be no more than
    /// fit on the device at once.
    #[must_use]
    pub fn cooperative(self) -> Self {
        Grid { is_cooperative: true, ..self }
    }

    /// Cuts the grid into clusters of this many blocks, at most 8, which must divide the grid: the blocks of a cluster run at the same time
    /// and reach each other's shared memory ([`cluster`](crate::cluster)). On GPUs from compute capability 9.0 on, and on the CPU.
    #[must_use]
    pub fn cluster(self, blocks: impl Into<Extent>) -> Self {
        Grid { cluster: blocks.into(), ..self }
    }

    /// Returns the blocks.
    pub fn blocks(&self) -> Extent {
        self.blocks
    }

    /// Returns the threads of a block.
    pub fn threads(&self) -> Extent {
        self.threads
    }

    /// Says what is wrong, if the device cannot run it.
    pub(crate) fn problem(&self, limits: &Limits) -> Option<String> {
        let (blocks, threads) = (self.blocks, self.threads);
        if let Some(n) = self.too_many {
            return Some(format!(
                "{n} elements need more blocks than a grid has: launch several times, or let each thread do more \
                 (thread::strided)"
            ));
        }
        if blocks.count() == 0 {
            return Some("the grid has no blocks: give it at least one along each dimension".to_string());
        }
        if threads.count() == 0 {
            return Some(
                "the blocks have no threads: give them at least one along each dimension".to_string(),
            );
        }
        if threads.count() > limits.threads as u64 {
            return Some(format!(
                "a block of {} threads, and this kernel can have {} on the device: use smaller blocks",
                threads.count(),
                limits.threads
            ));
        }
        let over = |a: Extent, limit: Extent| a.x > limit.x || a.y > limit.y || a.z > limit.z;
        if over(threads, limits.block) {
            return Some(format!(
                "a block of {:?} threads, and the device can have {:?} along x, y and z",
                threads.tuple(),
                limits.block.tuple()
            ));
        }
        if over(blocks, limits.grid) {
            return Some(format!(
                "a grid of {:?} blocks, and the device can have {:?} along x, y and z: let each thread do more, or put the larger \
                 number first",
                blocks.tuple(),
                limits.grid.tuple()
            ));
        }
        let total = blocks.count().checked_mul(threads.count());
        if total.is_none_or(|total| total > MOST_THREADS) {
            return Some(format!(
                "{} blocks of {} threads are more threads than can be numbered: launch several times, or let each thread do more \
                 (thread::strided)",
                blocks.count(),
                threads.count()
            ));
        }
        if let Some(problem) = self.problem_of_clusters(limits) {
            return Some(problem);
        }
        if self.shared_bytes > limits.shared_bytes {
            return Some(format!(
                "{} bytes of dynamic shared memory a block, and this kernel can have {} on the device",
                self.shared_bytes, limits.shared_bytes
            ));
        }
        None
    }

    fn problem_of_clusters(&self, limits: &Limits) -> Option<String> {
        let (blocks, cluster) = (self.blocks, self.cluster);
        if cluster == Extent::from(1) {
            return None;
        }
        if !limits.has_clusters {
            return Some(
                "clusters of blocks need a GPU of compute capability 9.0 and kernels for sm_90: use Device::cpu(), or a grid without \
                 clusters"
                    .to_string(),
            );
        }
        if self.is_cooperative {
            return Some("a cooperative launch has no clusters: leave out one of the two".to_string());
        }
        if cluster.count() == 0 || cluster.count() > MOST_OF_CLUSTER {
            return Some(format!(
                "a cluster of {} blocks, and it can have 1 to {MOST_OF_CLUSTER}",
                cluster.count()
            ));
        }
        let divides = |all: u32, by: u32| all.is_multiple_of(by);
        if divides(blocks.x, cluster.x) && divides(blocks.y, cluster.y) && divides(blocks.z, cluster.z) {
            return None;
        }
        Some(format!(
            "clusters of {:?} blocks do not divide a grid of {:?}: add blocks that have nothing to do",
            cluster.tuple(),
            blocks.tuple()
        ))
    }
}

impl From<(u32, u32)> for Grid {
    /// Blocks, and threads of a block.
    fn from((blocks, threads): (u32, u32)) -> Self {
        Grid::new(blocks, threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = crate::host::device::CPU_LIMITS;

    #[test]
    fn clusters_divide_the_grid() {
        let problem = |grid: Grid, limits: &Limits| grid.problem(limits).unwrap_or_default();
        assert_eq!(problem(Grid::new((4, 6), 32).cluster((2, 3)), &LIMITS), "");
        assert_eq!(problem(Grid::new(5, 32).cluster(1), &Limits { has_clusters: false, ..LIMITS }), "");
        let old = problem(Grid::new(4, 32).cluster(2), &Limits { has_clusters: false, ..LIMITS });
        assert!(old.contains("9.0") && old.contains("sm_90"), "{old}");
        assert!(problem(Grid::new((4, 6), 32).cluster((2, 4)), &LIMITS).contains("do not divide"));
        assert!(problem(Grid::new(16, 32).cluster(16), &LIMITS).contains("a cluster of 16 blocks"));
        assert!(problem(Grid::new(16, 32).cluster(0), &LIMITS).contains("a cluster of 0 blocks"));
        assert!(problem(Grid::new(16, 32).cluster(2).cooperative(), &LIMITS).contains("cooperative"));
    }

    #[test]
    fn sizes_that_overflow_are_problems() {
        let most = u32::MAX;
        assert_eq!(Extent::from((most, most, most)).count(), u64::MAX);
        assert_eq!(Extent::from((1 << 31, 1 << 31, 4)).count(), u64::MAX);
        assert_eq!(Extent::from((most, most)).count(), most as u64 * most as u64);
        for grid in [
            Grid::new((most, most, most), 1),
            Grid::new((1 << 31, 1 << 31, 4), 1),
            Grid::new(1, (most, most, most)),
        ] {
            assert!(grid.problem(&LIMITS).is_some(), "{grid:?}");
        }
        let (x, y, z) = (LIMITS.grid.x, LIMITS.grid.y, LIMITS.grid.z);
        assert_eq!(Grid::new((x, y, z), 1).problem(&LIMITS), None);
        let problem = Grid::new((x, y, z), 1024).problem(&LIMITS).unwrap();
        assert!(problem.contains("more threads than can be numbered"), "{problem}");
    }
}
