//! The contract between host and device: each kernel family's scalars and pointer parameters, defined once.
//!
//! The host generates a typed launcher for each family, and the device crate its entries, so the two cannot disagree. Both know the
//! pointers by the names given here, and the order of a kernel's parameters is defined nowhere else. Scalars are passed in one
//! `repr(C)` struct; pointers are separate parameters, which lets the compiler read them with fast global loads.

use crate::lin_kernighan::small::Plan;
use crate::lin_kernighan::trial::TrialRound;
use crate::operator::Shallow;
use crate::papers::ants::acs::Rule;
use crate::papers::ants::colony::{ColonyRules, Depositor};
use crate::papers::genetic;
use crate::papers::local_search::best::Kicks;
use crate::papers::problem::Shape;
use crate::papers::search;

/// Value of `metric` when distances come from the matrix.
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
    /// Reserve nodes per node, after its candidates.
    pub reserve: u32,
}

/// Scalars of the kernels of Ant Colony System.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AcsArgs {
    /// Seed of the run.
    pub seed: u64,
    /// Bytes of team memory of one ant.
    pub memory: u64,
    /// The algorithm's constants.
    pub rule: Rule,
    /// Number of nodes.
    pub n: u32,
    /// Number of ants: tours to build.
    pub ants: u32,
    /// Iteration, from 0.
    pub iteration: u32,
    /// Candidates of a node.
    pub k: u32,
    /// A [`crate::metric::Metric`], or [`BY_MATRIX`].
    pub metric: u32,
    /// Reserve nodes per node, after its candidates.
    pub reserve: u32,
    /// Edges that a selective memory stores per node.
    pub slots: u32,
    /// Step by step: the first phase of this launch. Step s has phase 2s - 2, in which ants choose, and 2s - 1, in which trails are
    /// updated.
    pub first: u32,
    /// Step by step: the phase after the last one.
    pub end: u32,
    /// Not 0: ants see each other's updates at once.
    pub fresh: u32,
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
    /// Unused; keeps the size a multiple of 8.
    pub padding: u32,
}

/// Scalars of the kernels that judge an iteration.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct JudgeArgs {
    /// The algorithm's constants.
    pub rules: ColonyRules,
    /// Number of nodes.
    pub n: u32,
    /// Number of ants.
    pub ants: u32,
    /// The tour that deposits.
    pub depositor: Depositor,
    /// Unused; keeps the size a multiple of 8.
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
    /// rho: the share of a trail that remains.
    pub persistence: f32,
    /// Trail of every edge at the start.
    pub trail: f32,
    /// Not 0: edges have a direction, and a tour deposits only on its own.
    pub directed: u32,
    /// Unused; keeps the size a multiple of 8.
    pub padding: u32,
}

/// Scalars of the kernels of chained Lin-Kernighan.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TrialArgs {
    /// The round.
    pub round: TrialRound,
    /// Number of nodes.
    pub n: u32,
    /// Neighbours in a node's list.
    pub k: u32,
    /// Number of tours.
    pub chains: u32,
    /// A [`crate::metric::Metric`], or [`BY_MATRIX`].
    pub metric: u32,
    /// For shallow trials: the operator's reach.
    pub reach: Shallow,
    /// The number of the first tour, where other devices have the tours before it.
    pub first_chain: u32,
    /// The first trial of each tour that is made here, where other devices make the others.
    pub first: u32,
    /// The trial after the last of them.
    pub end: u32,
}

/// Scalars of the kernel that solves many small instances.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SmallArgs {
    /// How tours are searched.
    pub plan: Plan,
    /// The first instance of this launch.
    pub first: u32,
    /// The instance after the last one.
    pub end: u32,
    /// Words, of 4 bytes, of shared memory of a warp: for every instance at least its [`words`](crate::lin_kernighan::small::words)
    /// and two for each place.
    pub words: u32,
    /// Unused; keeps the size a multiple of 8.
    pub padding: u32,
}

/// Scalars of the kernels that improve ants' tours.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SearchArgs {
    /// Bytes of team memory of one tour.
    pub memory: u64,
    /// Number of nodes.
    pub n: u32,
    /// Number of tours.
    pub tours: u32,
    /// Neighbours of a node.
    pub k: u32,
    /// Neighbours evaluated in the second step of a move.
    pub breadth: u32,
    /// A [`crate::metric::Metric`], or [`BY_MATRIX`].
    pub metric: u32,
    /// Not 0: tour i is in row `rows[i]`, lower half, and its gain goes to `gains[i]`; it is skipped if the row is
    /// [`genetic::NOWHERE`]. Else tour i is in row i.
    pub listed: u32,
}

/// Scalars of the kernels of a population.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct GeneticArgs {
    /// The constants of the generation.
    pub rules: genetic::GenerationRules,
    /// Bytes of team memory of one child.
    pub memory: u64,
    /// A [`crate::metric::Metric`], or [`BY_MATRIX`].
    pub metric: u32,
    /// Individuals or children to make, improve or measure.
    pub count: u32,
    /// Not 0: the first individuals already exist, and only need to be measured.
    pub given: u32,
    /// Unused; keeps the size a multiple of 8.
    pub padding: u32,
}

/// Scalars of the kernels of best improvement.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PassArgs {
    /// Seed of the run.
    pub seed: u64,
    /// Stop once a tour is not longer than this.
    pub target: i64,
    /// How the tour is kicked.
    pub kicks: Kicks,
    /// Number of nodes.
    pub n: u32,
    /// Neighbours of a node.
    pub k: u32,
    /// Neighbours evaluated in the second step of a move.
    pub breadth: u32,
    /// A [`crate::metric::Metric`], or [`BY_MATRIX`].
    pub metric: u32,
    /// Blocks that evaluate moves, each a part of the nodes.
    pub blocks: u32,
    /// Not 0: many moves per pass.
    pub many: u32,
    /// Number of the reversal, from 0; see [`PassBoard::turn`](crate::papers::local_search::best::PassBoard::turn).
    pub step: u32,
    /// Unused; keeps the size a multiple of 8.
    pub padding: u32,
}

/// Scalars of the kernels of neighbourhood search.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct WalkArgs {
    /// The instance's numbers.
    pub shape: Shape,
    /// The work of the batch.
    pub rules: search::WalkRules,
    /// The layout of a replica.
    pub layout: search::Layout,
    /// Bytes that a walk's blocks share: [`Problem::common`](crate::papers::problem::Problem::common), up to a multiple of 16.
    pub common: u64,
    /// Blocks per walk; the grid has this many for each walk.
    pub parts: u32,
    /// Evaluation: not 0 if neighbours are given.
    pub given: u32,
    /// Walks: not 0 if replicas are in shared memory.
    pub in_shared: u32,
    /// Unused; keeps the size a multiple of 8.
    pub padding: u32,
}

const _: () = {
    assert!(size_of::<WalkArgs>() == 160);
    assert!(size_of::<search::WalkState>() == 72);
    assert!(core::mem::offset_of!(WalkArgs, rules) == 32);
    assert!(core::mem::offset_of!(WalkArgs, layout) == 120);
    assert!(size_of::<TrialArgs>() == 72);
    assert!(core::mem::offset_of!(TrialArgs, n) == 32);
    assert!(core::mem::offset_of!(TrialArgs, reach) == 48);
    assert!(core::mem::offset_of!(TrialArgs, first_chain) == 60);
    assert!(size_of::<crate::lin_kernighan::merge::Merged>() == 24);
    assert!(core::mem::offset_of!(crate::lin_kernighan::merge::Merged, cuts) == 8);
    assert!(size_of::<PassArgs>() == 64);
    assert!(core::mem::offset_of!(PassArgs, n) == 32);
    assert!(size_of::<SearchArgs>() == 32);
    assert!(size_of::<GeneticArgs>() == 88);
    assert!(core::mem::offset_of!(GeneticArgs, memory) == 64);
    assert!(size_of::<ConstructArgs>() == 40);
    assert!(size_of::<AcsArgs>() == 96);
    assert!(core::mem::offset_of!(AcsArgs, n) == 56);
    assert!(size_of::<CostArgs>() == 16);
    assert!(size_of::<JudgeArgs>() == 56);
    assert!(size_of::<TrailArgs>() == 40);
    assert!(size_of::<crate::papers::ants::colony::ColonyState>() == 56);
    assert!(core::mem::offset_of!(ConstructArgs, n) == 16);
    assert!(core::mem::offset_of!(JudgeArgs, n) == 40);
    assert!(core::mem::offset_of!(crate::papers::ants::colony::ColonyState, limits) == 24);
};

/// Calls macro `$then` with every kernel family: its name, its scalars, and its pointer parameters in order. `In<T>`: not written
/// during the launch; `InOut<T>`: written by the kernel. Node ids are bytes here: the kernel's name gives their width.
///
/// What buffers hold, unless the family says otherwise. Rows follow each other; what a variant does not use may be empty.
///
/// - `points` n points (x, y, z), or `matrix` n x n distances if `metric` is `BY_MATRIX`; `places` n places of the kernel's
///   geometry.
/// - `memory`, where it is not shared memory: `args.memory` bytes for each team of the grid, or for each ant that goes step by
///   step.
/// - Ants: `lists` n x `k` and `reserves` n x `reserve` ids, nearest first; links, `best_tour` and `restart_tour` n; `tours` n ids,
///   `costs` and `gains` one number for each tour.
/// - Trails of MAX-MIN Ant System: as `pheromone::Tables`; in candidate lists n x `k`.
/// - Trails of Ant Colony System: `heuristic` n x `k`; `trails` and `tails` the trails and nothing of `CandidateTrails`, the edges
///   and tails of `Selective`, or of `MatrixTrails` the candidates' trails, then the matrix, and `far`. `arrivals` is 1 number.
/// - Populations: as `genetic::Population`; `gains` one for each child.
/// - Passes of best improvement: `lists` n x `k`; `ranks` one for each of `blocks`; `proposals` n `Proposal`s; `claims` and tours
///   n numbers.
/// - Walks: as `search::Bank`; `memory` the layout's bytes for each block, `common` the scalar's for each walk; `slots` 1 + 6
///   `parts` numbers for each walk, of which the first is a multiple of `parts`.
/// - Trials: `lists` and `near` n x `k`, the same for all tours; `started` 1; `partials` one for each block; the others
///   for each of `chains` tours in turn: `gain` and `count` `trials` numbers, `cuts` `MAX_SEGMENTS` times as many triples,
///   `merged`, `costs` and `arrivals` 1, and the arrays of `Tour` and `MergeBoard`.
#[macro_export]
macro_rules! with_kernel_families {
    ($then:ident) => {
        $then! {
            /// One tour per ant, choosing among all unvisited nodes: [`construct::full`]($crate::papers::ants::construct::full).
            ConstructFull(ConstructArgs) {
                state: In<ColonyState>, weights: In<f32>, memory: InOut<u8>, tours: InOut<u8>
            }
            /// One tour per ant, choosing in candidate lists: [`construct::candidates`]($crate::papers::ants::construct::candidates).
            ConstructCandidates(ConstructArgs) {
                state: In<ColonyState>, lists: In<u8>, weights: In<f32>, reserves: In<u8>, successor: In<u32>,
                predecessor: In<u32>, points: In<[f64; 3]>, matrix: In<i32>, memory: InOut<u8>, tours: InOut<u8>
            }
            /// One tour per ant of Ant Colony System, whole ([`acs::build`]($crate::papers::ants::acs::build)) or step by step
            /// ([`acs::choose_step`]($crate::papers::ants::acs::choose_step)).
            ConstructAcs(AcsArgs) {
                state: In<ColonyState>, lists: In<u8>, heuristic: In<f32>, reserves: In<u8>, successor: In<u32>,
                predecessor: In<u32>, points: In<[f64; 3]>, matrix: In<i32>, trails: InOut<u8>, tails: InOut<u32>,
                memory: InOut<u8>, arrivals: InOut<u64>, tours: InOut<u8>
            }
            /// Heuristic values and initial trails: [`acs::prepare_row`]($crate::papers::ants::acs::prepare_row).
            PrepareAcs(AcsArgs) {
                lists: In<u8>, points: In<[f64; 3]>, matrix: In<i32>, heuristic: InOut<f32>, trails: InOut<u8>,
                tails: InOut<u32>
            }
            /// The global update: [`acs::deposit_row`]($crate::papers::ants::acs::deposit_row).
            DepositAcs(AcsArgs) {
                state: In<ColonyState>, lists: In<u8>, successor: In<u32>, predecessor: In<u32>, trails: InOut<u8>,
                tails: InOut<u32>
            }
            /// The length of every tour: [`tour::cost`]($crate::tour::cost).
            TourCosts(CostArgs) {
                state: In<ColonyState>, tours: In<u8>, points: In<[f64; 3]>, matrix: In<i32>, costs: InOut<i64>
            }
            /// Local search on every tour: [`ants::improve`]($crate::papers::local_search::ants::improve).
            LocalSearch(SearchArgs) {
                state: In<ColonyState>, lists: In<u8>, places: In<u8>, points: In<[f64; 3]>, matrix: In<i32>,
                successor: In<u32>, predecessor: In<u32>, rows: In<u64>, memory: InOut<u8>, tours: InOut<u8>,
                gains: InOut<i64>
            }
            /// First individuals: [`genetic::random_individual`]($crate::papers::genetic::random_individual).
            MakeIndividuals(GeneticArgs) {
                places: In<u8>, points: In<[f64; 3]>, matrix: In<i32>, individuals: InOut<u8>, next_rows: InOut<u32>,
                next_costs: InOut<i64>, best: InOut<u64>, born: InOut<u64>
            }
            /// The children of a generation: [`genetic::breed`]($crate::papers::genetic::breed). `places` is not written; but ordinary
            /// loads from it stay after the stores of jump indices, together with the loads of jump indices, whereas read-only
            /// loads would be waited for before those are started.
            BreedIndividuals(GeneticArgs) {
                places: InOut<u8>, points: In<[f64; 3]>, matrix: In<i32>, rows: In<u32>, costs: In<i64>,
                memory: InOut<u8>, individuals: InOut<u8>, next_rows: InOut<u32>, next_costs: InOut<i64>,
                best: InOut<u64>, born: InOut<u64>
            }
            /// After local search: [`genetic::finish`]($crate::papers::genetic::finish).
            FinishIndividuals(GeneticArgs) {
                gains: In<i64>, next_costs: InOut<i64>, best: InOut<u64>, born: InOut<u64>
            }
            /// Copies best individuals to other groups: [`genetic::transfer`]($crate::papers::genetic::transfer).
            TransferIndividuals(GeneticArgs) {
                rows: In<u32>, costs: In<i64>, individuals: InOut<u8>, next_rows: InOut<u32>, next_costs: InOut<i64>,
                best: InOut<u64>
            }
            /// The end of an iteration: [`colony::judge`]($crate::papers::ants::colony::judge).
            Judge(JudgeArgs) {
                costs: In<i64>, tours: In<u8>, state: InOut<ColonyState>, best_tour: InOut<u8>,
                restart_tour: InOut<u8>, successor: InOut<u32>, predecessor: InOut<u32>
            }
            /// Fills a pheromone memory: [`pheromone::prepare_row`]($crate::papers::ants::pheromone::prepare_row).
            PrepareTrails(TrailArgs) {
                lists: In<u8>, points: In<[f64; 3]>, matrix: In<i32>,
                trails: InOut<f32>, heuristic: InOut<f32>, weights: InOut<f32>
            }
            /// Updates a pheromone memory: [`pheromone::update_row`]($crate::papers::ants::pheromone::update_row).
            UpdateTrails(TrailArgs) {
                state: In<ColonyState>, lists: In<u8>, successor: In<u32>, predecessor: In<u32>,
                trails: InOut<f32>, heuristic: InOut<f32>, weights: InOut<f32>
            }
            /// The best move around every node: [`best::evaluate`]($crate::papers::local_search::best::evaluate).
            ProposeMoves(PassArgs) {
                lists: In<u32>, order: In<u32>, position: In<u32>, places: In<u8>, points: In<[f64; 3]>,
                matrix: In<i32>, state: InOut<DescentState>, proposals: InOut<u8>, claims: InOut<u64>,
                ranks: InOut<u64>
            }
            /// The decisions of a pass: [`best::select`]($crate::papers::local_search::best::select).
            SelectMove(PassArgs) {
                order: In<u32>, position: In<u32>, accepted_order: In<u32>, places: In<u8>, points: In<[f64; 3]>,
                matrix: In<i32>, proposals: In<u8>, ranks: In<u64>, state: InOut<DescentState>
            }
            /// Makes moves that hold what they claimed: [`best::make`]($crate::papers::local_search::best::make).
            MakeMoves(PassArgs) {
                proposals: In<u8>, claims: In<u64>, state: InOut<DescentState>, order: InOut<u32>,
                position: InOut<u32>
            }
            /// Copies of the tour: [`best::settle`]($crate::papers::local_search::best::settle).
            SettleTours(PassArgs) {
                state: In<DescentState>, order: InOut<u32>, position: InOut<u32>, accepted_order: InOut<u32>,
                accepted_position: InOut<u32>, best_tour: InOut<u32>, claims: InOut<u64>
            }
            /// A batch of iterations of neighbourhood search: [`search::walk`]($crate::papers::search::walk).
            Walks(WalkArgs) {
                tables: In<u8>, old_states: In<WalkState>, old_bests: In<u8>, states: InOut<WalkState>, bests: InOut<u8>,
                solutions: InOut<u8>, accepted: InOut<u8>, traces: InOut<u32>, memory: InOut<u8>, common: InOut<u8>,
                slots: InOut<u64>
            }
            /// The costs of a solution's neighbours: [`search::evaluate`]($crate::papers::search::evaluate).
            EvaluateNeighbors(WalkArgs) {
                tables: In<u8>, solution: In<u8>, given: In<u8>, common: InOut<u8>, slots: InOut<u64>, costs: InOut<u64>
            }
            /// Trials of every tour: [`trial::run`]($crate::lin_kernighan::trial::run). `started` counts the trials that have
            /// started; it must be 0 at first, as `PlanMerge` leaves it.
            RunTrials(TrialArgs) {
                order: In<u32>, position: In<u32>, ahead: In<i32>, lists: In<u32>, near: In<i32>, places: In<u8>,
                points: In<[f64; 3]>, matrix: In<i32>, started: InOut<u32>, gain: InOut<i64>, count: InOut<u32>,
                cuts: InOut<[u32; 3]>
            }
            /// Takes the results of trials on another device:
            /// [`TrialChanges::take`]($crate::lin_kernighan::trial::TrialChanges::take).
            TakeChanges(TrialArgs) {
                from_gain: In<i64>, from_count: In<u32>, from_cuts: In<[u32; 3]>, gain: InOut<i64>, count: InOut<u32>,
                cuts: InOut<[u32; 3]>
            }
            /// Packs them as words, where they are needed elsewhere:
            /// [`TrialChanges::pack`]($crate::lin_kernighan::trial::TrialChanges::pack). `used` counts words.
            PackChanges(TrialArgs) {
                gain: In<i64>, count: In<u32>, cuts: In<[u32; 3]>, words: InOut<u32>, used: InOut<u32>
            }
            /// Unpacks changes that start at the words `starts[first..end]`:
            /// [`TrialChanges::unpack`]($crate::lin_kernighan::trial::TrialChanges::unpack).
            UnpackChanges(TrialArgs) {
                words: In<u32>, starts: In<u32>, gain: InOut<i64>, count: InOut<u32>, cuts: InOut<[u32; 3]>
            }
            /// Merges the trials' results: [`merge::plan`]($crate::lin_kernighan::merge::plan), with the tours' memory
            /// concatenated. Sets `started` to 0, which the next `RunTrials` relies on.
            PlanMerge(TrialArgs) {
                order: In<u32>, position: In<u32>, gain: In<i64>, count: InOut<u32>, cuts: In<[u32; 3]>,
                claims: InOut<u64>, bits: InOut<u32>, cuts_before_word: InOut<u32>, cut_of_position: InOut<u32>, cut_positions: InOut<u32>,
                segment_start: InOut<u32>, successor: InOut<u32>, distance_or_cycle: InOut<u32>, merged: InOut<Merged>, costs: InOut<i64>,
                started: InOut<u32>, arrivals: InOut<u64>, partials: InOut<u64>
            }
            /// Small instances: [`Small::search`]($crate::lin_kernighan::small::Small::search). Instance i has the places and the tour
            /// from `starts[i]` to `starts[i + 1]`. `started` counts the instances that have started; it must be 0 at first.
            SolveSmall(SmallArgs) {
                starts: In<u32>, places: In<[f32; 2]>, started: InOut<u32>, tours: InOut<u16>, costs: InOut<i64>
            }
            /// The next tours: [`merge::place`]($crate::lin_kernighan::merge::place).
            PlaceNodes(TrialArgs) {
                order: In<u32>, ahead: In<i32>, places: In<u8>, points: In<[f64; 3]>, matrix: In<i32>,
                cuts: In<[u32; 3]>, bits: In<u32>, cuts_before_word: In<u32>, cut_of_position: In<u32>, cut_positions: In<u32>, segment_start: In<u32>,
                merged: In<Merged>, next_order: InOut<u32>, next_ahead: InOut<i32>, position: InOut<u32>
            }
            /// One reversal: [`PassBoard::turn`]($crate::papers::local_search::best::PassBoard::turn).
            TurnStretch(PassArgs) { state: In<DescentState>, order: InOut<u32>, position: InOut<u32> }
        }
    };
}
