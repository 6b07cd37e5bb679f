//! What every entry needs: the signatures it must have, and its views of the arguments.

use antwarp_core::colony::ColonyState;
use antwarp_core::distance::Distances;
use antwarp_core::geometry::{Grid, Numbered, Planar};
use antwarp_core::kernels::{
    AcsArgs, BY_MATRIX, ConstructArgs, CostArgs, GeneticArgs, JudgeArgs, PassArgs, SearchArgs, TrailArgs,
    TrialArgs, WalkArgs,
};
use antwarp_core::lin_kernighan::merge::Merged;
use antwarp_core::local_search::best::DescentState;
use antwarp_core::metric::Metric;
use antwarp_core::search::WalkState;

use crate::cuda::parameter::{In, InOut};

macro_rules! signatures {
    ($($(#[$doc:meta])* $family:ident($args:ident) { $($parameter:ident: $kind:ident<$element:ty>),* $(,)? })*) => {
        $($(#[$doc])* pub type $family = unsafe extern "ptx-kernel" fn($args, $($kind<$element>),*);)*
    };
}
antwarp_core::with_kernel_families!(signatures);

/// Asserts at compile time that an entry has its family's signature, and gives its launch bounds to the build:
/// most threads of a block, and blocks that should fit on a multiprocessor.
macro_rules! declare {
    ($name:ident: $family:ident, $threads:literal, $blocks:literal) => {
        crate::entry::declare!($name: $family, $threads, $blocks, stringify!($name));
    };
    // With the entry's name in the PTX, where that is another.
    ($entry:ident: $family:ident, $threads:literal, $blocks:literal, $name:expr) => {
        const _: crate::entry::$family = $entry;
        core::arch::global_asm!(concat!("//@launch_bounds ", $name, " ", $threads, " ", $blocks));
    };
}
pub(crate) use declare;

/// The instance's distances. `metric` is a [`Metric`] that needs no more than roots, or [`BY_MATRIX`].
#[inline(always)]
pub fn distances(points: In<[f64; 3]>, matrix: In<i32>, metric: u32, n: u32) -> Distances {
    let metric = match metric {
        BY_MATRIX => None,
        m if m == Metric::Euc2d as u32 => Some(Metric::Euc2d),
        m if m == Metric::Ceil2d as u32 => Some(Metric::Ceil2d),
        m if m == Metric::Att as u32 => Some(Metric::Att),
        m if m == Metric::Man2d as u32 => Some(Metric::Man2d),
        m if m == Metric::Max2d as u32 => Some(Metric::Max2d),
        m if m == Metric::Euc3d as u32 => Some(Metric::Euc3d),
        m if m == Metric::Man3d as u32 => Some(Metric::Man3d),
        m if m == Metric::Max3d as u32 => Some(Metric::Max3d),
        m if m == Metric::Xray1 as u32 => Some(Metric::Xray1),
        m if m == Metric::Xray2 as u32 => Some(Metric::Xray2),
        _ => Some(Metric::Floor2d),
    };
    Distances { matrix: matrix.as_ptr(), points: points.as_ptr(), metric, n }
}

/// The geometry of integer coordinates; the arguments are those of [`distances`].
#[inline(always)]
pub fn grid(_: In<[f64; 3]>, _: In<i32>, metric: u32, _: u32) -> Grid {
    Grid { up: metric == Metric::Ceil2d as u32 }
}

/// The geometry of a plane.
#[inline(always)]
pub fn planar(_: In<[f64; 3]>, _: In<i32>, metric: u32, _: u32) -> Planar {
    let metric = match metric {
        m if m == Metric::Ceil2d as u32 => Metric::Ceil2d,
        m if m == Metric::Att as u32 => Metric::Att,
        _ => Metric::Euc2d,
    };
    Planar { metric }
}

// Distances by number come from a function of its own, with a branch for every metric: inlined at every place that asks
// for a distance it would make these kernels several times as long.
core::arch::global_asm!(
    "//@allow *numbered* call",
    "//@allow *numbered* local",
    "//@allow *numbered* generic"
);

/// The geometry of any instance.
#[inline(always)]
pub fn numbered(points: In<[f64; 3]>, matrix: In<i32>, metric: u32, n: u32) -> Numbered {
    Numbered { distances: distances(points, matrix, metric, n) }
}
