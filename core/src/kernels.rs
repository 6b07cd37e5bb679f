//! The contract between host and device: each kernel family's scalars and pointer parameters, once.
//!
//! The host makes a typed launcher of each family, the device crate checks its entries against it, so the two
//! cannot disagree. Scalars travel in one `repr(C)` struct; pointers are separate parameters, which is what
//! lets the compiler read them with the fast global loads.

use crate::mmas::Rules;

/// `metric` when distances come from the matrix.
pub const BY_MATRIX: u32 = u32::MAX;

/// Scalars of the construction kernels.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ConstructArgs {
    /// Seed of the run.
    pub seed: u64,
    /// Bytes of team memory of one ant.
    pub memory: u64,
    /// Number of nodes.
    pub n: u32,
    /// Number of ants: tours to build.
    pub ants: u32,
    /// Iteration, from 0.
    pub iteration: u32,
    /// Candidates of a node; 0 where all nodes are candidates.
    pub k: u32,
    /// A [`crate::metric::Metric`], or [`BY_MATRIX`].
    pub metric: u32,
    /// Nodes in reserve for a node, behind its candidates.
    pub reserve: u32,
}

/// Scalars of the cost kernels.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CostArgs {
    /// Number of nodes.
    pub n: u32,
    /// Number of tours.
    pub tours: u32,
    /// A [`crate::metric::Metric`], or [`BY_MATRIX`].
    pub metric: u32,
    /// Nothing; keeps the size a multiple of 8.
    pub padding: u32,
}

/// Scalars of the kernels that judge an iteration.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct JudgeArgs {
    /// The algorithm's constants.
    pub rules: Rules,
    /// Number of nodes.
    pub n: u32,
    /// Number of ants.
    pub ants: u32,
    /// Not 0: the best tour of all deposits, else the iteration's best.
    pub deposit_best: u32,
    /// Nothing; keeps the size a multiple of 8.
    pub padding: u32,
}

/// Scalars of the kernels that fill and update a pheromone memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TrailArgs {
    /// Number of nodes.
    pub n: u32,
    /// Candidates of a node; 0 for a matrix.
    pub k: u32,
    /// A [`crate::metric::Metric`], or [`BY_MATRIX`].
    pub metric: u32,
    /// Exponent of the trail.
    pub alpha: f32,
    /// Exponent of the heuristic value.
    pub beta: f32,
    /// The heuristic value of an edge is this over its length.
    pub scale: f32,
    /// rho: the share of a trail that stays.
    pub persistence: f32,
    /// Trail of every edge at the start.
    pub trail: f32,
    /// Not 0: edges have a direction, and a tour deposits on its own only.
    pub directed: u32,
    /// Nothing; keeps the size a multiple of 8.
    pub padding: u32,
}

const _: () = {
    assert!(size_of::<ConstructArgs>() == 40);
    assert!(size_of::<CostArgs>() == 16);
    assert!(size_of::<JudgeArgs>() == 48);
    assert!(size_of::<TrailArgs>() == 40);
    assert!(size_of::<crate::mmas::ColonyState>() == 40);
    assert!(core::mem::offset_of!(ConstructArgs, n) == 16);
    assert!(core::mem::offset_of!(JudgeArgs, n) == 32);
    assert!(core::mem::offset_of!(crate::mmas::ColonyState, limits) == 24);
};

/// Calls macro `$then` with every kernel family: its name, its scalars, and its pointer parameters in order.
/// `In<T>`: nobody writes there during the launch; `InOut<T>`: the kernel writes.
/// Node ids are bytes here: the instance's name says how wide they are.
#[macro_export]
macro_rules! with_kernel_families {
    ($then:ident) => {
        $then! {
            /// One tour an ant, choosing among all unvisited nodes: [`construct::full`]($crate::construct::full).
            ConstructFull(ConstructArgs) {
                state: In<ColonyState>, weights: In<f32>, memory: InOut<u8>, tours: InOut<u8>
            }
            /// One tour an ant, choosing in candidate lists: [`construct::candidates`]($crate::construct::candidates).
            ConstructCandidates(ConstructArgs) {
                state: In<ColonyState>, lists: In<u8>, weights: In<f32>, reserves: In<u8>, successor: In<u32>,
                predecessor: In<u32>, points: In<[f64; 3]>, matrix: In<i32>, memory: InOut<u8>, tours: InOut<u8>
            }
            /// The length of every tour: [`tour::cost`]($crate::tour::cost).
            TourCosts(CostArgs) {
                state: In<ColonyState>, tours: In<u8>, points: In<[f64; 3]>, matrix: In<i32>, costs: InOut<i64>
            }
            /// The end of an iteration: [`mmas::judge`]($crate::mmas::judge).
            Judge(JudgeArgs) {
                costs: In<i64>, tours: In<u8>, state: InOut<ColonyState>, best_tour: InOut<u8>,
                successor: InOut<u32>, predecessor: InOut<u32>
            }
            /// Fills a pheromone memory: [`pheromone::prepare_row`]($crate::pheromone::prepare_row).
            PrepareTrails(TrailArgs) {
                lists: In<u8>, points: In<[f64; 3]>, matrix: In<i32>,
                trails: InOut<f32>, heuristic: InOut<f32>, weights: InOut<f32>
            }
            /// Updates a pheromone memory: [`pheromone::update_row`]($crate::pheromone::update_row).
            UpdateTrails(TrailArgs) {
                state: In<ColonyState>, lists: In<u8>, successor: In<u32>, predecessor: In<u32>,
                trails: InOut<f32>, heuristic: InOut<f32>, weights: InOut<f32>
            }
        }
    };
}
