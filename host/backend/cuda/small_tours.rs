//! Many small instances of the plane on GPUs, a warp for each.

use std::ops::Range;

use antwarp_core::kernels::SmallArgs;
use antwarp_core::lin_kernighan::small::{Plan, neighbors, words};

use super::device::{Device, GRACE};
use super::{Buffer, Cards, Launch, SolveSmall, buffers};
use crate::engine::{BackendError, Enough};

/// The kernel.
const NAME: &str = "block_solve_small";
/// Most warps of a block.
const MOST_WARPS: u32 = 4;
/// Most blocks of a multiprocessor.
const MOST_BLOCKS: u32 = 32;
/// Kicks of a launch, all instances together: between launches the host may stop.
const KICKS: u64 = 1 << 26;

pub(super) fn kernel_names() -> Vec<String> {
    vec![NAME.to_string()]
}

/// Solves instances whose places, in the plane and in single precision, are concatenated; instance i has those from `starts[i]` to
/// `starts[i + 1]`. The largest ones should come first. The GPUs take parts of the list. Returns the tours, concatenated, and the
/// number of instances solved, in the order of the list, until `enough` asked to stop.
///
/// # Errors
/// If the device fails, or its memory is short.
///
/// # Panics
/// If `starts` is empty.
pub fn solve_small(
    cards: &Cards,
    (starts, places): (&[u32], &[[f32; 2]]),
    plan: Plan,
    enough: Enough,
) -> Result<(Vec<u16>, usize), BackendError> {
    let (device, count) = (cards.first(), starts.len() - 1);
    let function = device.function(NAME)?;
    let kernel = SolveSmall { name: NAME.to_string(), function };
    let stream = device.stream();
    let (what, nodes) = ("the instances", places.len());
    let starts_there = Buffer::from_slice(stream, what, starts)?;
    let places_there = Buffer::from_slice(stream, what, places)?;
    let mut tours = Buffer::zeroed(stream, "the tours", nodes)?;
    let mut costs = Buffer::zeroed(stream, "the tours", count)?;
    let mut started = Buffer::zeroed(stream, what, 1)?;
    let size = |i: usize| starts[i + 1] - starts[i];
    let mut done = 0;
    while done < count && !enough() {
        let part = part(done, count, &size, plan);
        let most = part.clone().map(size).max().unwrap_or(0);
        let args = SmallArgs {
            plan,
            first: part.start as u32,
            end: part.end as u32,
            words: words(most, neighbors(most)) + 2 * most,
            padding: 0,
        };
        started.clear(stream)?;
        let buffers = buffers::SolveSmall {
            starts: &starts_there,
            places: &places_there,
            started: &mut started,
            tours: &mut tours,
            costs: &mut costs,
        };
        // SAFETY: the arrays have the sizes given by `starts`; a warp's memory is that of the largest instance of the part.
        unsafe { kernel.launch(stream, launch(device, part.len() as u32, args.words), args, buffers)? };
        device.wait(enough, GRACE)?;
        done = part.end;
    }
    Ok((tours.to_vec(stream)?, done))
}

/// Returns the instances of the next launch.
fn part(first: usize, count: usize, size: &dyn Fn(usize) -> u32, plan: Plan) -> Range<usize> {
    let (mut end, mut kicks) = (first, 0);
    while end < count && kicks < KICKS {
        kicks += u64::from(plan.kicks.max(1)) * u64::from(size(end));
        end += 1;
    }
    first..end
}

/// Returns a launch for this many instances, whose warps have so many words of shared memory.
fn launch(device: &Device, count: u32, words: u32) -> Launch {
    let bytes = 4 * words;
    let warps = (device.shared_limit() / bytes).clamp(1, MOST_WARPS);
    let most = MOST_BLOCKS * device.multiprocessors();
    Launch { grid: count.div_ceil(warps).clamp(1, most), block: 32 * warps, shared: bytes * warps }
}
