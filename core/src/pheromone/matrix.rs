//! A trail for every pair of nodes: n rows of [`row_stride`] entries.

use super::Form;
use crate::construct::row_stride;
use crate::team::Team;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// Number of nodes.
    pub n: u32,
}

impl Form for Matrix {
    const LISTED: bool = false;

    #[inline(always)]
    fn stride(self) -> u32 {
        row_stride(self.n)
    }

    #[inline(always)]
    unsafe fn target(self, node: u32, k: u32) -> Option<u32> {
        if k < self.n && k != node { Some(k) } else { None }
    }

    #[inline(always)]
    fn entry(self, _i: u32, v: u32) -> u32 {
        v
    }

    #[inline(always)]
    unsafe fn find<T: Team>(self, team: T, _node: u32, v: u32, mut work: impl FnMut(u32)) {
        team.single(|| work(v));
    }
}
