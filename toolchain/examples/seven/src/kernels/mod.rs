//! The kernels, one example a file. The build script compiles them for GPUs.

use warpsmith::math::Float as _;
use warpsmith::memory::{Four, fours, load_four};
use warpsmith::prelude::*;

warpsmith::module!();

pub mod histogram;
pub mod nbody;
pub mod product;
pub mod reduction;
pub mod saxpy;
pub mod scan;
pub mod transpose;

/// Threads of a block, where a kernel says nothing else.
pub const BLOCK: u32 = 256;
