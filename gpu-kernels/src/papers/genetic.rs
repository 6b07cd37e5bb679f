//! The generations of a population. Source: Kang et al. 2016, sections 2 and 3.
//!
//! `warp_breed_individuals_{grid,planar,numbered}_{shared_u16,global_u32}`: the children of a generation, a block of one warp per
//! child; blocks take further children in grid strides. The jump indices of a child are `args.memory` bytes of shared memory, or,
//! with `global_u32`, of `memory`, as many for each block.
//!
//! `block_make_individuals_{grid,planar,numbered}_{u16,u32}`: the first individuals, a block per individual, in grid strides;
//! shared memory: [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES).
//!
//! `grid_finish_individuals`: lengths after local search, a thread per individual, in grid strides.
//!
//! `block_transfer_individuals_{u16,u32}`: copies best individuals to other groups, a block per group, as many blocks as groups;
//! shared memory as above.
//!
//! All are deterministic, whatever the grid and the block. Once an earlier generation has reached the target, children are not
//! made, and nothing else happens.

use antwarp_core::geometry::{Geometry, Places};
use antwarp_core::kernels::GeneticArgs;
use antwarp_core::node::NodeId;
use antwarp_core::papers::genetic::generation::is_over;
use antwarp_core::papers::genetic::{self, Population};
use antwarp_core::team::Slots;

use crate::cuda::block::Block;
use crate::cuda::parameter::InOut;
use crate::cuda::{Warp, shared, thread};
use crate::entry::{grid, numbered, planar};

/// The tables in the parameters; those that a kernel does not have are null.
struct Tables {
    rows: *const u32,
    costs: *const i64,
    individuals: *mut u8,
    next_rows: *mut u32,
    next_costs: *mut i64,
    best: *mut u64,
    born: *mut u64,
}

impl Tables {
    /// # Safety
    /// The arrays have the sizes stated in `args`, or are not used.
    #[inline(always)]
    unsafe fn view<I: NodeId>(self, args: &GeneticArgs) -> Population<I> {
        let places = args.rules.groups as usize * args.rules.group as usize;
        // SAFETY: the caller's promise.
        unsafe {
            Population {
                individuals: Slots::new(self.individuals.cast(), places * args.rules.n as usize),
                rows: self.rows,
                costs: self.costs,
                next_rows: Slots::new(self.next_rows, places),
                next_costs: Slots::new(self.next_costs, places),
                best: self.best,
                born: Slots::new(self.born, places),
            }
        }
    }
}

/// Makes every child of this block. `memory` belongs to the block.
///
/// # Safety
/// The arrays have the sizes stated in `args`.
#[inline(always)]
unsafe fn breed<I: NodeId, G: Geometry>(
    args: GeneticArgs,
    population: Population<I>,
    places: Places<G>,
    memory: *mut u8,
) {
    // SAFETY: the caller's promise; a child belongs to one block.
    unsafe {
        let over = is_over(&args.rules, population.best);
        let mut index = thread::block_idx();
        while index < args.count {
            if over {
                genetic::pass_over(Warp, population, index);
            } else {
                genetic::breed(Warp, &args.rules, population, places, memory, index);
            }
            index += thread::grid_dim();
        }
    }
}

/// Returns the memory for jump indices of the block's child in shared memory.
#[inline(always)]
fn in_shared(_: GeneticArgs, _: InOut<u8>) -> *mut u8 {
    shared::dynamic()
}

/// Returns the memory for jump indices of the block's child in global memory.
#[inline(always)]
fn in_global(args: GeneticArgs, memory: InOut<u8>) -> *mut u8 {
    // SAFETY: the launcher gives args.memory bytes to each block of the grid.
    unsafe { memory.as_ptr().add(thread::block_idx() as usize * args.memory as usize) }
}

macro_rules! breed_entries {
    ($($name:ident: $geometry:ident, $id:ty, $memory:ident;)*) => { $(
        entry!($name, BreedIndividuals, 32, 16, |args, p| {
            let geometry = $geometry(p.points, p.matrix, args.metric, args.rules.n);
            let tables = Tables {
                rows: p.rows.as_ptr(), costs: p.costs.as_ptr(), individuals: p.individuals.as_ptr(),
                next_rows: p.next_rows.as_ptr(), next_costs: p.next_costs.as_ptr(), best: p.best.as_ptr(),
                born: p.born.as_ptr(),
            };
            // SAFETY: the caller's promise.
            unsafe {
                let places = Places { geometry, start: p.places.as_ptr().cast_const().cast() };
                breed::<$id, _>(args, tables.view(&args), places, $memory(args, p.memory))
            }
        });
    )* };
}

breed_entries! {
    warp_breed_individuals_grid_shared_u16: grid, u16, in_shared;
    warp_breed_individuals_grid_global_u32: grid, u32, in_global;
    warp_breed_individuals_planar_shared_u16: planar, u16, in_shared;
    warp_breed_individuals_planar_global_u32: planar, u32, in_global;
    warp_breed_individuals_numbered_shared_u16: numbered, u16, in_shared;
    warp_breed_individuals_numbered_global_u32: numbered, u32, in_global;
}

/// Makes every first individual of this block.
///
/// # Safety
/// The arrays have the sizes stated in `args`.
#[inline(always)]
unsafe fn make<I: NodeId, G: Geometry>(args: GeneticArgs, population: Population<I>, places: Places<G>) {
    // SAFETY: the caller's promise; an individual belongs to one block.
    unsafe {
        let mut row = thread::block_idx();
        while row < args.count {
            if args.given != 0 {
                genetic::settle(Block, &args.rules, population, places, row);
            } else {
                genetic::random_individual(Block, &args.rules, population, places, row);
            }
            row += thread::grid_dim();
        }
    }
}

macro_rules! make_entries {
    ($($name:ident: $geometry:ident, $id:ty;)*) => { $(
        entry!($name, MakeIndividuals, 256, 2, |args, p| {
            let geometry = $geometry(p.points, p.matrix, args.metric, args.rules.n);
            let tables = Tables {
                rows: core::ptr::null(), costs: core::ptr::null(), individuals: p.individuals.as_ptr(),
                next_rows: p.next_rows.as_ptr(), next_costs: p.next_costs.as_ptr(), best: p.best.as_ptr(),
                born: p.born.as_ptr(),
            };
            // SAFETY: the caller's promise.
            unsafe {
                make::<$id, _>(args, tables.view(&args), Places { geometry, start: p.places.as_ptr().cast() })
            }
        });
    )* };
}

make_entries! {
    block_make_individuals_grid_u16: grid, u16;
    block_make_individuals_grid_u32: grid, u32;
    block_make_individuals_planar_u16: planar, u16;
    block_make_individuals_planar_u32: planar, u32;
    block_make_individuals_numbered_u16: numbered, u16;
    block_make_individuals_numbered_u32: numbered, u32;
}

entry!(grid_finish_individuals, FinishIndividuals, 256, 2, |args, p| {
    let tables = Tables {
        rows: core::ptr::null(),
        costs: core::ptr::null(),
        individuals: core::ptr::null_mut(),
        next_rows: core::ptr::null_mut(),
        next_costs: p.next_costs.as_ptr(),
        best: p.best.as_ptr(),
        born: p.born.as_ptr(),
    };
    // SAFETY: the caller's promise; every individual belongs to one thread.
    unsafe {
        let population = tables.view::<u32>(&args);
        if is_over(&args.rules, population.best) {
            return;
        }
        thread::for_each(args.count, |i| {
            genetic::finish(&args.rules, population, i, *p.gains.as_ptr().add(i as usize))
        });
    }
});

macro_rules! transfer_entries {
    ($($name:ident: $id:ty;)*) => { $(
        entry!($name, TransferIndividuals, 1024, 1, |args, p| {
            let tables = Tables {
                rows: p.rows.as_ptr(), costs: p.costs.as_ptr(), individuals: p.individuals.as_ptr(),
                next_rows: p.next_rows.as_ptr(), next_costs: p.next_costs.as_ptr(), best: p.best.as_ptr(),
                born: core::ptr::null_mut(),
            };
            // SAFETY: the caller's promise; a group belongs to one block.
            unsafe {
                let population = tables.view::<$id>(&args);
                if !is_over(&args.rules, population.best) {
                    genetic::transfer(Block, &args.rules, population, thread::block_idx());
                }
            }
        });
    )* };
}

transfer_entries! {
    block_transfer_individuals_u16: u16;
    block_transfer_individuals_u32: u32;
}
