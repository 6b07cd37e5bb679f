//! A trail for every pair of nodes: n rows of [`row_stride`] entries.

use super::Form;
use crate::construct::row_stride;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// Number of nodes.
    pub n: u32,
}

impl Form for Matrix {
    #[inline(always)]
    fn stride(self) -> u32 {
        row_stride(self.n)
    }

    #[inline(always)]
    unsafe fn target(self, node: u32, k: u32) -> Option<u32> {
        if k < self.n && k != node { Some(k) } else { None }
    }
}
