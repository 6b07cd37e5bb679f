//! `block_judge_{u16,u32}`: the end of an iteration: its best tour, the best of all, the links and limits for the
//! update.
//!
//! One block of 1 to 32 whole warps. Shared memory: [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES).
//! Deterministic: the first of equally short tours is the best. Source: Skinderowicz 2020, figure 9.

use antwarp_core::colony::{self, ColonyState};
use antwarp_core::kernels::JudgeArgs;
use antwarp_core::team::Slots;

use crate::cuda::Block;
use crate::cuda::parameter::{In, InOut};
use crate::entry::declare;

macro_rules! entries {
    ($($name:ident: $id:ty;)*) => { $(
        /// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            args: JudgeArgs, costs: In<i64>, tours: In<u8>, state: InOut<ColonyState>, best_tour: InOut<u8>,
            restart_tour: InOut<u8>, successor: InOut<u32>, predecessor: InOut<u32>,
        ) {
            let n = args.n as usize;
            // SAFETY: the caller's promise; the grid is one block.
            unsafe {
                colony::judge(
                    Block,
                    args.rules,
                    (args.n, args.ants, args.depositor),
                    costs.as_ptr(),
                    tours.as_ptr().cast::<$id>(),
                    state.as_ptr(),
                    (
                        Slots::new(best_tour.as_ptr().cast::<$id>(), n),
                        Slots::new(restart_tour.as_ptr().cast::<$id>(), n),
                    ),
                    (Slots::new(successor.as_ptr(), n), Slots::new(predecessor.as_ptr(), n)),
                )
            }
        }
        declare!($name: Judge, 1024, 1);
    )* };
}

entries! {
    block_judge_u16: u16;
    block_judge_u32: u32;
}
