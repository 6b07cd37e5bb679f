//! `block_prepare_matrix`, `block_update_matrix`, `warp_prepare_candidates_{u16,u32}`,
//! `warp_update_candidates_{u16,u32}`: filling and updating a pheromone memory.
//!
//! A row a team: blocks for the rows of a matrix, warps for candidate lists; teams take further rows in grid
//! strides. Blocks of whole warps. No shared memory. Deterministic. Source: Skinderowicz 2020, section 4.4.

use antwarp_core::colony::ColonyState;
use antwarp_core::kernels::TrailArgs;
use antwarp_core::pheromone::{self, Candidate, Form, Matrix, Tables};
use antwarp_core::team::{Slots, Team};

use crate::cuda::parameter::{In, InOut};
use crate::cuda::{Block, Warp, thread, warp};
use crate::entry::{declare, distances};

/// Calls `work` with each node whose row is this block's.
#[inline(always)]
fn block_rows(n: u32, mut work: impl FnMut(u32)) {
    let mut node = thread::block_idx();
    while node < n {
        work(node);
        node += thread::grid_dim();
    }
}

/// Calls `work` with each node whose row is this warp's.
#[inline(always)]
pub(crate) fn warp_rows(n: u32, mut work: impl FnMut(u32)) {
    let warps = thread::block_dim() / warp::SIZE;
    let mut node = thread::block_idx() * warps + thread::thread_idx() / warp::SIZE;
    while node < n {
        work(node);
        node += thread::grid_dim() * warps;
    }
}

#[inline(always)]
unsafe fn tables<F: Form>(
    n: u32,
    form: F,
    (trails, heuristic, weights): (InOut<f32>, InOut<f32>, InOut<f32>),
) -> Tables {
    let entries = n as usize * form.stride() as usize;
    // SAFETY: the launcher's arrays cover every row.
    unsafe {
        Tables {
            trails: Slots::new(trails.as_ptr(), entries),
            heuristic: Slots::new(heuristic.as_ptr(), entries),
            weights: Slots::new(weights.as_ptr(), entries),
        }
    }
}

#[inline(always)]
unsafe fn prepare<T: Team, F: Form>(
    team: T,
    form: F,
    args: TrailArgs,
    tables: Tables,
    (points, matrix): (In<[f64; 3]>, In<i32>),
    node: u32,
) {
    let distance = distances(points, matrix, args.metric, args.n);
    let (heuristic, trail) = ((args.scale, args.beta), (args.trail, args.alpha));
    // SAFETY: the row is this team's.
    unsafe { pheromone::prepare_row(team, form, tables, node, distance, heuristic, trail) }
}

#[inline(always)]
unsafe fn update<T: Team, F: Form>(
    team: T,
    form: F,
    args: TrailArgs,
    tables: Tables,
    (state, successor, predecessor): (In<ColonyState>, In<u32>, In<u32>),
    node: u32,
) {
    // SAFETY: the row is this team's; links and state are read only.
    unsafe {
        let forth = *successor.as_ptr().add(node as usize);
        let back = if args.directed != 0 { u32::MAX } else { *predecessor.as_ptr().add(node as usize) };
        let limits = (*state.as_ptr()).limits;
        pheromone::update_row(team, form, tables, node, (forth, back), limits, (args.persistence, args.alpha))
    }
}

macro_rules! prepare_entries {
    ($($name:ident: $team:expr, $rows:ident, |$args:ident, $lists:ident| $form:expr;)*) => { $(
        /// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            $args: TrailArgs, $lists: In<u8>, points: In<[f64; 3]>, matrix: In<i32>,
            trails: InOut<f32>, heuristic: InOut<f32>, weights: InOut<f32>,
        ) {
            let form = $form;
            // SAFETY: the caller's promise.
            $rows($args.n, |node| unsafe {
                let tables = tables($args.n, form, (trails, heuristic, weights));
                prepare($team, form, $args, tables, (points, matrix), node)
            });
        }
        declare!($name: PrepareTrails, 256, 1);
    )* };
}

macro_rules! update_entries {
    ($($name:ident: $team:expr, $rows:ident, |$args:ident, $lists:ident| $form:expr;)*) => { $(
        /// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            $args: TrailArgs, state: In<ColonyState>, $lists: In<u8>, successor: In<u32>, predecessor: In<u32>,
            trails: InOut<f32>, heuristic: InOut<f32>, weights: InOut<f32>,
        ) {
            let form = $form;
            // SAFETY: the caller's promise.
            $rows($args.n, |node| unsafe {
                let links = (state, successor, predecessor);
                let tables = tables($args.n, form, (trails, heuristic, weights));
                update($team, form, $args, tables, links, node)
            });
        }
        declare!($name: UpdateTrails, 256, 1);
    )* };
}

prepare_entries! {
    block_prepare_matrix: Block, block_rows, |args, _lists| Matrix { n: args.n };
    warp_prepare_candidates_u16: Warp, warp_rows,
        |args, lists| Candidate { lists: lists.as_ptr().cast::<u16>(), k: args.k };
    warp_prepare_candidates_u32: Warp, warp_rows,
        |args, lists| Candidate { lists: lists.as_ptr().cast::<u32>(), k: args.k };
}

update_entries! {
    block_update_matrix: Block, block_rows, |args, _lists| Matrix { n: args.n };
    warp_update_candidates_u16: Warp, warp_rows,
        |args, lists| Candidate { lists: lists.as_ptr().cast::<u16>(), k: args.k };
    warp_update_candidates_u32: Warp, warp_rows,
        |args, lists| Candidate { lists: lists.as_ptr().cast::<u32>(), k: args.k };
}
