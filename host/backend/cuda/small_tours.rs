//! Many small instances of the plane on GPUs, a warp for each.

use std::ops::Range;

use antwarp_core::kernels::SmallArgs;
use antwarp_core::lin_kernighan::small::{FEWEST_NODES, MOST_NODES, Plan, neighbors, words};

use super::device::{Device, LONG_GRACE};
use super::{Buffer, Cards, Launch, SolveSmall, buffers};
use crate::engine::{BackendError, Enough};

/// The kernel.
const NAME: &str = "block_solve_small";
/// Most warps of a block.
const MOST_WARPS: u32 = 4;
/// Most blocks of a multiprocessor.
const MOST_BLOCKS: u32 = 32;
/// Work of a launch, all instances together: between launches the host may stop. An H200 does a billion a second.
const MOST_WORK: u64 = 1 << 31;
/// Most work of an instance: a warp does a few millions a second.
const MOST_WORK_OF_ONE: u64 = 1 << 24;

/// Returns the names of all kernels that solve small instances.
pub(super) fn kernel_names() -> Vec<String> {
    vec![NAME.to_string()]
}

/// Returns how much work a search is: a kick takes the longer, the more nodes there are.
fn work(nodes: u32, plan: Plan) -> u64 {
    u64::from(plan.kicks.max(1)) * u64::from(nodes) * u64::from(nodes)
}

/// Returns the words of shared memory of a warp, for instances of this many nodes: their places, too.
fn shared_words(nodes: u32) -> u32 {
    words(nodes, neighbors(nodes)) + 2 * nodes
}

/// Returns whether an instance with this many nodes can be solved by the first GPU, and takes it at most a few seconds: it cannot
/// be interrupted meanwhile.
pub fn suits_small(cards: &Cards, nodes: u32, plan: Plan) -> bool {
    // The largest instances need more than the 64 KiB that a block of some GPUs can have.
    fits(nodes, cards.first().shared_limit()) && work(nodes, plan) <= MOST_WORK_OF_ONE
}

/// Returns whether a block, with this many bytes of shared memory at most, can solve an instance with this many nodes.
fn fits(nodes: u32, bytes: u32) -> bool {
    (FEWEST_NODES..=MOST_NODES).contains(&nodes) && 4 * shared_words(nodes) <= bytes
}

/// Solves instances on the first GPU, one after the other until `enough` asks to stop.
///
/// `places` has the coordinates x, y of all instances, concatenated, each instance scaled to
/// [`EXTENT`](antwarp_core::lin_kernighan::small::EXTENT). `starts` has the index of the first place of each instance, and at
/// last the number of places. The largest instances should come first: a launch ends with its longest searches.
///
/// Returns the tours and the number of instances solved, which are the first ones of the list. The tours are concatenated like
/// the places, of node numbers from 0 in each instance; all 0 for instances that were not solved.
///
/// # Errors
/// If the device fails, or its memory is short.
///
/// # Panics
/// If `starts` does not start with 0, ascend and end with the number of places, or if an instance has too few or too many nodes
/// for the first GPU.
pub fn solve_small(
    cards: &Cards,
    (starts, places): (&[u32], &[[f32; 2]]),
    plan: Plan,
    enough: Enough,
) -> Result<(Vec<u16>, usize), BackendError> {
    let device = cards.first();
    let is_right = |pair: &[u32]| pair[0] < pair[1] && fits(pair[1] - pair[0], device.shared_limit());
    assert!(starts.first() == Some(&0) && starts.last().is_some_and(|&last| last as usize == places.len()));
    assert!(starts.windows(2).all(is_right), "an instance that does not suit the GPU");
    let count = starts.len() - 1;
    let function = device.function(NAME)?;
    let kernel = SolveSmall { name: NAME.to_string(), function };
    let stream = device.stream();
    let (what, nodes) = ("the instances", places.len());
    let starts_there = Buffer::from_slice(stream, what, starts)?;
    let places_there = Buffer::from_slice(stream, what, places)?;
    let mut tours = Buffer::zeroed(stream, "the tours", nodes)?;
    let mut costs = Buffer::zeroed(stream, "the tours", count)?;
    let mut found = vec![0; nodes];
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
            words: shared_words(most),
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
        // SAFETY: the arrays have the sizes given by `starts`, as was checked above; a warp's memory is that of the largest instance of the part.
        unsafe { kernel.launch(stream, launch(device, part.len() as u32, args.words), args, buffers)? };
        match device.wait(enough, LONG_GRACE) {
            Err(BackendError::Busy) => {
                // To free the memory would mean to wait for the launch. Those solved before are kept.
                std::mem::forget((starts_there, places_there, started, tours, costs));
                return Ok((found, done));
            }
            waited => waited?,
        }
        let range = starts[part.start] as usize..starts[part.end] as usize;
        tours.read_from(stream, range.start, &mut found[range])?;
        done = part.end;
    }
    Ok((found, done))
}

/// Returns the instances of the next launch, from `first` on: as many as have the work of a launch, at least one.
fn part(first: usize, count: usize, size: &dyn Fn(usize) -> u32, plan: Plan) -> Range<usize> {
    let (mut end, mut all) = (first, 0);
    while end < count && all < MOST_WORK {
        all += work(size(end), plan);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_instances_do_not_fit_every_gpu() {
        // Turing has 64 KiB for a block, Hopper 227.
        let (turing, hopper) = (64 << 10, 227 << 10);
        assert_eq!(4 * shared_words(MOST_NODES), 65_696);
        assert!(!fits(MOST_NODES, turing) && fits(MOST_NODES - 8, turing) && fits(MOST_NODES, hopper));
        assert!(!fits(FEWEST_NODES - 1, hopper) && !fits(MOST_NODES + 1, hopper));
    }
}
