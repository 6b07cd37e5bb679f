//! The basis of every entry: its family's parameters, and its views of them.

use antwarp_core::distance::{Distances, Exceptions};
use antwarp_core::geometry::{Grid, Numbered, Planar};
use antwarp_core::kernels::BY_MATRIX;
use antwarp_core::metric::Metric;

use self::types::{ColonyState, DescentState, In, InOut, Merged, WalkState};

/// All types that the contract names. `entry!` imports them where it is used.
pub mod types {
    pub use antwarp_core::kernels::{
        AcsArgs, ConstructArgs, CostArgs, GeneticArgs, JudgeArgs, PassArgs, SearchArgs, SmallArgs, TrailArgs,
        TrialArgs, WalkArgs,
    };
    pub use antwarp_core::lin_kernighan::merge::Merged;
    pub use antwarp_core::papers::ants::colony::ColonyState;
    pub use antwarp_core::papers::local_search::best::DescentState;
    pub use antwarp_core::papers::search::WalkState;

    pub use crate::cuda::parameter::{In, InOut};
}

/// Generates two things for each family in the contract: a struct with its pointer parameters as fields, and a macro of the same
/// name, which `entry!` calls to define an entry. The entry's PTX parameters are those of the contract, in its order, each a
/// separate parameter. The entry puts them into the struct, so its body accesses them only by name.
///
/// `$d` stands for a dollar sign, which the inner macros need for their own parameters.
macro_rules! families {
    (($d:tt) $($(#[$doc:meta])* $family:ident($args:ident) { $($p:ident: $kind:ident<$element:ty>),* $(,)? })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $family { $(pub $p: $kind<$element>),* }

        macro_rules! $family {
            ($d entry:ident, $d name:expr, |$d args:ident, $d buffers:ident| $d body:expr) => {
                const _: () = {
                    use crate::entry::types::*;

                    /// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
                    #[unsafe(export_name = $d name)]
                    pub unsafe extern "ptx-kernel" fn $d entry($d args: $args, $($p: $kind<$element>),*) {
                        let $d buffers = crate::entry::$family { $($p),* };
                        $d body
                    }
                };
            };
        }
    )* };
}
macro_rules! families_with_dollar {
    ($($families:tt)*) => { families! { ($) $($families)* } };
}
antwarp_core::with_kernel_families!(families_with_dollar);

/// Defines an entry of a family: `entry!(name, Family, threads, blocks, |args, p| body)`. The body has the scalars in `args` and
/// the buffers in `p` (`p.tours`). It is part of the entry, not a closure: a `return` ends the kernel.
///
/// The launch bounds go to the build: most threads per block, and blocks that should fit on a multiprocessor.
macro_rules! entry {
    ($entry:ident, $family:ident, $threads:literal, $blocks:literal, |$args:ident, $p:ident| $body:expr) => {
        entry!($entry, $family, $threads, $blocks, stringify!($entry), |$args, $p| $body);
    };
    // With the entry's name in the PTX, if that differs.
    (
        $entry:ident, $family:ident, $threads:literal, $blocks:literal, $name:expr,
        |$args:ident, $p:ident| $body:expr
    ) => {
        $family!($entry, $name, |$args, $p| $body);
        core::arch::global_asm!(concat!("//@launch_bounds ", $name, " ", $threads, " ", $blocks));
    };
}

/// Defines the metrics by number, the last of which also stands for all other numbers, and [`NUMBERED`], the list of them.
macro_rules! metric_of {
    ($($metric:ident)*; $last:ident) => {
        /// The metrics that a kernel finds by number.
        const NUMBERED: &[Metric] = &[$(Metric::$metric,)* Metric::$last];

        /// Returns the metric with this number; `None` for [`BY_MATRIX`].
        #[inline(always)]
        fn metric_of(number: u32) -> Option<Metric> {
            match number {
                BY_MATRIX => None,
                $(m if m == Metric::$metric as u32 => Some(Metric::$metric),)*
                _ => Some(Metric::$last),
            }
        }
    };
}
metric_of! { Euc2d Ceil2d Att Man2d Max2d Euc3d Man3d Max3d Xray1 Xray2; Floor2d }

// A metric that is computed on GPUs, but missing in the list, would be taken for the last one.
const _: () = {
    let mut i = 0;
    while i < Metric::ALL.len() {
        let (metric, mut is_numbered, mut at) = (Metric::ALL[i], false, 0);
        while at < NUMBERED.len() {
            is_numbered |= NUMBERED[at] as u32 == metric as u32;
            at += 1;
        }
        assert!(is_numbered == metric.is_algebraic(), "`metric_of!` has to list the algebraic metrics");
        i += 1;
    }
};

/// Returns the instance's distances. `metric` is a [`Metric`] that needs nothing beyond roots, or [`BY_MATRIX`].
#[inline(always)]
pub fn distances(points: In<[f64; 3]>, matrix: In<i32>, metric: u32, n: u32) -> Distances {
    let metric = metric_of(metric);
    Distances { matrix: matrix.as_ptr(), points: points.as_ptr(), metric, n, exceptions: Exceptions::NONE }
}

/// Returns the geometry of integer coordinates; the arguments are those of [`distances`].
#[inline(always)]
pub fn grid(_: In<[f64; 3]>, _: In<i32>, metric: u32, _: u32) -> Grid {
    Grid { up: metric == Metric::Ceil2d as u32 }
}

/// Returns the geometry of a plane.
#[inline(always)]
pub fn planar(_: In<[f64; 3]>, _: In<i32>, metric: u32, _: u32) -> Planar {
    let metric = match metric {
        m if m == Metric::Ceil2d as u32 => Metric::Ceil2d,
        m if m == Metric::Att as u32 => Metric::Att,
        _ => Metric::Euc2d,
    };
    Planar { metric }
}

// Distances by number come from a separate function, with a branch for every metric: inlined wherever a distance is needed, it
// would make these kernels several times as long.
core::arch::global_asm!(
    "//@allow *numbered* call",
    "//@allow *numbered* local",
    "//@allow *numbered* generic"
);

/// Returns the geometry of any instance.
#[inline(always)]
pub fn numbered(points: In<[f64; 3]>, matrix: In<i32>, metric: u32, n: u32) -> Numbered {
    Numbered { distances: distances(points, matrix, metric, n) }
}
