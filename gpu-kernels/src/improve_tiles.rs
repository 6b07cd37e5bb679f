//! `block_improve_tiles_{two_opt,or_opt,or_2opt,three_opt}_{grid,planar,numbered}`: kicks and descents in every tile
//! of every chain.
//!
//! A block a tile, of `args.layout.width` warps, at most 4; block i works on tile i % tiles of chain i / tiles. Shared memory: [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES)
//! and `args.layout.bytes`.
//! Ids inside a tile have 16 bits. Deterministic. Source: Fosin et al. 2013, algorithm 1, in tiles.

use antwarp_core::geometry::{Geometry, Places};
use antwarp_core::kernels::TilesArgs;
use antwarp_core::local_search::chains::ChainsState;
use antwarp_core::local_search::tile::{self, Entries, Nodes, Source, part};
use antwarp_core::local_search::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Slots, Team};

use crate::cuda::block::{self, Block};
use crate::cuda::parameter::{In, InOut};
use crate::cuda::{shared, thread};
use crate::entry::{declare, grid, numbered, planar};

/// What the tiles read and write.
#[derive(Clone, Copy)]
struct Tables {
    state: In<ChainsState>,
    cells: In<u32>,
    lists: In<u32>,
    order: In<u32>,
    position: In<u32>,
    places: In<u8>,
    old: InOut<u32>,
    piece: InOut<u32>,
    offset: InOut<u32>,
    length: InOut<u32>,
    gains: InOut<i64>,
}

#[inline(always)]
unsafe fn improve<O: Operator, G: Geometry>(args: TilesArgs, tables: Tables, geometry: G) {
    // SAFETY: the launcher gives arrays of the sizes that args tell, and shared memory of the layout's size.
    unsafe {
        if (*tables.state.as_ptr()).done != 0 {
            return;
        }
        let index = thread::block_idx();
        let (chain, tile) = (index / args.tiles, index % args.tiles);
        let from = chain as usize * args.n as usize;
        let source = Source {
            n: args.n,
            k: args.k,
            lists: tables.lists.as_ptr(),
            order: tables.order.as_ptr().add(from),
            position: tables.position.as_ptr().add(from),
            places: Places { geometry, start: tables.places.as_ptr().cast() },
        };
        let entries = Entries {
            old: Slots::new(tables.old.as_ptr().add(from)),
            piece: Slots::new(tables.piece.as_ptr().add(from)),
            offset: Slots::new(tables.offset.as_ptr().add(from)),
            length: Slots::new(tables.length.as_ptr().add(from)),
        };
        let (first, m) = part(args.n, args.tiles, tile);
        let nodes = if args.cells != 0 {
            Nodes::Of(tables.cells.as_ptr().add(first as usize))
        } else {
            let left = args.n - args.first;
            Nodes::From(if first < left { args.first + first } else { first - left })
        };
        let stream = Stream::new(args.seed, args.round, index);
        let gains = tile::improve::<_, O, u16, G>(
            Block,
            source,
            (nodes, first, m),
            args.breadth,
            args.layout,
            shared::dynamic().add(block::SHARED_BYTES as usize),
            args.rules,
            stream,
            entries,
        );
        let gain = if args.rules.keep_best != 0 { gains.best } else { gains.last };
        Block.single(|| *tables.gains.as_ptr().add(index as usize) = gain);
    }
}

macro_rules! entries {
    ($($name:ident: $operator:ty, $geometry:ident;)*) => { $(
        /// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            args: TilesArgs, state: In<ChainsState>, cells: In<u32>, lists: In<u32>, order: In<u32>,
            position: In<u32>, places: In<u8>, points: In<[f64; 3]>, matrix: In<i32>, old: InOut<u32>,
            piece: InOut<u32>, offset: InOut<u32>, length: InOut<u32>, gains: InOut<i64>,
        ) {
            let tables =
                Tables { state, cells, lists, order, position, places, old, piece, offset, length, gains };
            // SAFETY: the caller's promise.
            unsafe { improve::<$operator, _>(args, tables, $geometry(points, matrix, args.metric, args.n)) }
        }
        declare!($name: ImproveTiles, 128, 4);
    )* };
}

entries! {
    block_improve_tiles_two_opt_grid: TwoOpt, grid;
    block_improve_tiles_two_opt_planar: TwoOpt, planar;
    block_improve_tiles_two_opt_numbered: TwoOpt, numbered;
    block_improve_tiles_or_opt_grid: OrOpt, grid;
    block_improve_tiles_or_opt_planar: OrOpt, planar;
    block_improve_tiles_or_opt_numbered: OrOpt, numbered;
    block_improve_tiles_or_2opt_grid: Or2opt, grid;
    block_improve_tiles_or_2opt_planar: Or2opt, planar;
    block_improve_tiles_or_2opt_numbered: Or2opt, numbered;
    block_improve_tiles_three_opt_grid: ThreeOpt, grid;
    block_improve_tiles_three_opt_planar: ThreeOpt, planar;
    block_improve_tiles_three_opt_numbered: ThreeOpt, numbered;
}
