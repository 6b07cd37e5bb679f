//! `warp_prepare_acs_{matrix,candidate,selective}_{u16,u32}`: heuristic values and trails before the first iteration;
//! `warp_deposit_acs_*`: the global update of Ant Colony System.
//!
//! A warp per row; warps take further rows in grid strides. Blocks of whole warps. No shared memory. Deterministic. Source:
//! Skinderowicz 2016, equations 1 and 4.

use antwarp_core::kernels::AcsArgs;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::acs;
use antwarp_core::papers::ants::pheromone::{CandidateTrails, MatrixTrails, Selective};
use antwarp_core::team::Slots;

use crate::cuda::Warp;
use crate::entry::{DepositAcs, PrepareAcs, distances};
use crate::papers::construct_acs::View;
use crate::papers::trails::warp_rows;

#[inline(always)]
unsafe fn prepare<M: View, I: NodeId>(args: AcsArgs, p: PrepareAcs, memory: M) {
    // SAFETY: each row belongs to one warp.
    warp_rows(args.n, |node| unsafe {
        let distance = distances(p.points, p.matrix, args.metric, args.n);
        let lists = p.lists.as_ptr().cast::<I>();
        let heuristics = Slots::new(p.heuristic.as_ptr(), args.n as usize * args.k as usize);
        acs::prepare_row(Warp, args.rule, (lists, args.k), memory, distance, heuristics, node)
    });
}

#[inline(always)]
unsafe fn deposit<M: View, I: NodeId>(args: AcsArgs, p: DepositAcs, memory: M) {
    // SAFETY: each row belongs to one warp; links and state are read only.
    warp_rows(args.n, |node| unsafe {
        let links = (*p.successor.as_ptr().add(node as usize), *p.predecessor.as_ptr().add(node as usize));
        let (lists, deposit) = (p.lists.as_ptr().cast::<I>(), (*p.state.as_ptr()).limits.deposit);
        acs::deposit_row(Warp, args.rule, (lists, args.k), memory, node, links, deposit)
    });
}

macro_rules! entries {
    ($($prepare:ident, $deposit:ident: $view:ty, $id:ty;)*) => { $(
        entry!($prepare, PrepareAcs, 256, 1, |args, p| {
            // SAFETY: the caller's promise.
            unsafe {
                let memory = <$view>::new(args, true, p.lists, p.trails, p.tails);
                prepare::<_, $id>(args, p, memory)
            }
        });
        entry!($deposit, DepositAcs, 256, 1, |args, p| {
            // SAFETY: the caller's promise.
            unsafe {
                let memory = <$view>::new(args, true, p.lists, p.trails, p.tails);
                deposit::<_, $id>(args, p, memory)
            }
        });
    )* };
}

entries! {
    warp_prepare_acs_matrix_u16, warp_deposit_acs_matrix_u16: MatrixTrails<u16>, u16;
    warp_prepare_acs_matrix_u32, warp_deposit_acs_matrix_u32: MatrixTrails<u32>, u32;
    warp_prepare_acs_candidate_u16, warp_deposit_acs_candidate_u16: CandidateTrails<u16>, u16;
    warp_prepare_acs_candidate_u32, warp_deposit_acs_candidate_u32: CandidateTrails<u32>, u32;
    warp_prepare_acs_selective_u16, warp_deposit_acs_selective_u16: Selective, u16;
    warp_prepare_acs_selective_u32, warp_deposit_acs_selective_u32: Selective, u32;
}
