//! `block_prepare_matrix`, `block_update_matrix`, `warp_prepare_candidates_{u16,u32}`,
//! `warp_update_candidates_{u16,u32}`: filling and updating a pheromone memory.
//!
//! A team per row: blocks for the rows of a matrix, warps for candidate lists; teams take further rows in grid strides. Blocks of
//! whole warps. No shared memory. Deterministic. Source: Skinderowicz 2020, section 4.4.

use antwarp_core::kernels::TrailArgs;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::pheromone::{self, Candidate, Form, Matrix, Tables};
use antwarp_core::team::{Slots, Team};

use crate::cuda::parameter::{In, InOut};
use crate::cuda::{Block, Warp, thread, warp};
use crate::entry::{PrepareTrails, UpdateTrails, distances};

/// Calls `work` with each node whose row belongs to this block.
#[inline(always)]
fn block_rows(n: u32, mut work: impl FnMut(u32)) {
    let mut node = thread::block_idx();
    while node < n {
        work(node);
        node += thread::grid_dim();
    }
}

/// Calls `work` with each node whose row belongs to this warp.
#[inline(always)]
pub(crate) fn warp_rows(n: u32, mut work: impl FnMut(u32)) {
    let warps = thread::block_dim() / warp::SIZE;
    let mut node = thread::block_idx() * warps + thread::thread_idx() / warp::SIZE;
    while node < n {
        work(node);
        node += thread::grid_dim() * warps;
    }
}

/// Returns the form of a matrix.
#[inline(always)]
fn matrix(args: TrailArgs, _: In<u8>) -> Matrix {
    Matrix { n: args.n }
}

/// Returns the form of candidate lists.
#[inline(always)]
fn candidates<I: NodeId>(args: TrailArgs, lists: In<u8>) -> Candidate<I> {
    Candidate { lists: lists.as_ptr().cast(), k: args.k }
}

/// Returns one of the tables.
///
/// # Safety
/// The array covers every row.
#[inline(always)]
unsafe fn table<F: Form>(n: u32, form: F, array: InOut<f32>) -> Slots<f32> {
    // SAFETY: the caller's promise.
    unsafe { Slots::new(array.as_ptr(), n as usize * form.stride() as usize) }
}

#[inline(always)]
unsafe fn prepare<T: Team, F: Form>(team: T, form: F, args: TrailArgs, p: PrepareTrails, node: u32) {
    // SAFETY: the launcher's arrays cover every row; the row belongs to this team.
    unsafe {
        let tables = Tables {
            trails: table(args.n, form, p.trails),
            heuristic: table(args.n, form, p.heuristic),
            weights: table(args.n, form, p.weights),
        };
        let distance = distances(p.points, p.matrix, args.metric, args.n);
        let (heuristic, trail) = ((args.scale, args.beta), (args.trail, args.alpha));
        pheromone::prepare_row(team, form, tables, node, distance, heuristic, trail)
    }
}

#[inline(always)]
unsafe fn update<T: Team, F: Form>(team: T, form: F, args: TrailArgs, p: UpdateTrails, node: u32) {
    // SAFETY: the launcher's arrays cover every row; the row belongs to this team; links and state are read only.
    unsafe {
        let tables = Tables {
            trails: table(args.n, form, p.trails),
            heuristic: table(args.n, form, p.heuristic),
            weights: table(args.n, form, p.weights),
        };
        let forth = *p.successor.as_ptr().add(node as usize);
        let back = if args.directed != 0 { u32::MAX } else { *p.predecessor.as_ptr().add(node as usize) };
        let limits = (*p.state.as_ptr()).limits;
        pheromone::update_row(team, form, tables, node, (forth, back), limits, (args.persistence, args.alpha))
    }
}

macro_rules! entries {
    ($($prepare:ident, $update:ident: $team:expr, $rows:ident, $form:expr;)*) => {
        $(entry!($prepare, PrepareTrails, 256, 1, |args, p| {
            let form = $form(args, p.lists);
            // SAFETY: the caller's promise.
            $rows(args.n, |node| unsafe { prepare($team, form, args, p, node) })
        });)*
        $(entry!($update, UpdateTrails, 256, 1, |args, p| {
            let form = $form(args, p.lists);
            // SAFETY: the caller's promise.
            $rows(args.n, |node| unsafe { update($team, form, args, p, node) })
        });)*
    };
}

entries! {
    block_prepare_matrix, block_update_matrix: Block, block_rows, matrix;
    warp_prepare_candidates_u16, warp_update_candidates_u16: Warp, warp_rows, candidates::<u16>;
    warp_prepare_candidates_u32, warp_update_candidates_u32: Warp, warp_rows, candidates::<u32>;
}
