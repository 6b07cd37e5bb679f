//! The main memory that a proof or a bound needs at least.

use crate::regions;

/// Bytes for each node of an instance: the root's linear program, the edges that are priced, and cuts. Measured.
const SHARED: usize = 64 << 10;
/// Bytes for each node in the linear program of each thread.
const PROGRAM: usize = 48 << 10;

/// Returns the bytes that a proof of an instance of closed tours with this many nodes needs on this many threads, besides the instance
/// itself. A tree of many nodes needs more.
pub fn memory(nodes: usize, threads: usize) -> u64 {
    (nodes * (SHARED + threads * PROGRAM)) as u64
}

/// Bytes for each node of an instance that is divided into regions: its columns and rows. Measured.
const OF_REGIONS: usize = 8 << 10;
/// The nodes of a region with its margin, at most.
const REGION: usize = 8000;

/// Returns the bytes that the bound of an instance of this many nodes in [regions] needs on this many threads, besides the instance
/// itself, if columns are not unusually many.
pub fn memory_of_regions(nodes: usize, threads: usize) -> u64 {
    let programs = threads.min(regions::count(nodes, regions::MOST));
    (nodes * OF_REGIONS + programs * REGION * PROGRAM) as u64
}
