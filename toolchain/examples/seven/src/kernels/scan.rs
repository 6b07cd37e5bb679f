//! Sums up to and including each element, in one pass over memory: a decoupled look-back, after Merrill and Garland (2016).
//!
//! - `x`, `y`: `u32`, as many elements each; sums wrap
//! - `next`: one element, 0; `states`: one element per block, 0. A launch needs them to be 0 again.
//! - grid: a block of [`BLOCK`] threads for each tile of 4096 elements ([`grid`]); each thread has four times four elements. With
//!   blocks of another size nothing is written.
//! - shared memory: 3 KiB
//! - deterministic: integers
//! - bound by memory: 8 bytes an element
//!
//! Blocks take their tiles from a counter, so a block waits only for blocks that have started: this ends on any GPU.

use super::*;

/// Elements of a tile.
pub const TILE: usize = 4096;
/// Groups of four elements of a thread.
const GROUPS: u32 = 4;

/// Returns the numbers of the groups. The loop over them is unrolled, so that their sums stay in registers.
#[inline(always)]
fn groups() -> impl Iterator<Item = usize> {
    Below::<GROUPS>::all().map(Below::index)
}

/// The state of a tile: nothing yet, the sum of its own elements, the sum of all elements up to its end.
const OWN: u64 = 1 << 32;
const ALL: u64 = 2 << 32;

/// Returns the sum over the lanes up to and including this one.
#[inline(always)]
fn scan_warp(mut sum: u32) -> u32 {
    for by in [1, 2, 4, 8, 16] {
        let below = warp::shuffle_up(warp::ALL, sum, by);
        if warp::lane() >= by {
            sum = sum.wrapping_add(below);
        }
    }
    sum
}

/// Returns the sum of all tiles before this one. The lanes of a warp look at 32 tiles at once.
#[inline(always)]
fn look_back(states: &[AtomicU64], tile: u32) -> u32 {
    let (mut before, mut end) = (0u32, tile);
    loop {
        let state = match states.get(end.wrapping_sub(warp::lane() + 1) as usize) {
            None => ALL,
            Some(state) => loop {
                let state = state.load(Ordering::Relaxed);
                if state != 0 {
                    break state;
                }
            },
        };
        // Lanes of nearer tiles have lower numbers. From the first that knows all on, farther ones do not count.
        let know_all = warp::ballot(warp::ALL, state & ALL != 0);
        let counts = know_all.trailing_zeros() >= warp::lane();
        before = before.wrapping_add(warp::sum(warp::ALL, if counts { state as u32 } else { 0 }));
        if know_all != 0 {
            return before;
        }
        end -= warp::LANES;
    }
}

#[kernel]
pub fn scan(x: &[u32], y: &mut Slots<u32>, next: &[AtomicU32], states: &[AtomicU64]) {
    if block::threads() != BLOCK {
        return;
    }
    let mut of_block = shared!([u32; 256]);
    let (own, lane) = (thread::in_block(), warp::lane());
    let ticket = if own == 0 { next[0].fetch_add(1, Ordering::Relaxed) } else { 0 };
    let tile = of_block.exchange(ticket).get(0);

    // A warp has 512 elements in a row; in each group, a thread has four side by side.
    let first = tile as usize * (TILE / 4) + (warp::index() * GROUPS * warp::LANES + lane) as usize;
    let mut sums = [[0u32; 4]; GROUPS as usize];
    groups().for_each(|group| {
        let at = first + group * 32;
        let few = || [0, 1, 2, 3].map(|i| x.get(4 * at + i).copied().unwrap_or(0));
        sums[group] = load_four(x, at).unwrap_or_else(few);
    });
    let mut of_warp = 0u32;
    groups().for_each(|group| {
        let [a, mut b, mut c, mut d] = sums[group];
        b = b.wrapping_add(a);
        c = c.wrapping_add(b);
        d = d.wrapping_add(c);
        let up_to = scan_warp(d);
        let before = of_warp.wrapping_add(up_to.wrapping_sub(d));
        sums[group] = [a, b, c, d].map(|sum| sum.wrapping_add(before));
        of_warp = of_warp.wrapping_add(warp::shuffle(warp::ALL, up_to, 31));
    });

    let of_warps = of_block.exchange(of_warp);
    let (mut before, mut of_tile) = (0u32, 0u32);
    for other in 0..BLOCK / warp::LANES {
        let sum = of_warps.get(other * warp::LANES);
        if other < warp::index() {
            before = before.wrapping_add(sum);
        }
        of_tile = of_tile.wrapping_add(sum);
    }

    let mut before_tile = 0;
    if warp::index() == 0 {
        let state = &states[tile as usize];
        if tile > 0 {
            if lane == 0 {
                state.store(OWN | of_tile as u64, Ordering::Relaxed);
            }
            before_tile = look_back(states, tile);
        }
        if lane == 0 {
            state.store(ALL | before_tile.wrapping_add(of_tile) as u64, Ordering::Relaxed);
        }
    }
    before = before.wrapping_add(of_block.exchange(before_tile).get(0));

    let (len, start) = (y.len(), y.as_mut_ptr());
    groups().for_each(|group| {
        let (at, sums) = (4 * (first + group * 32), sums[group].map(|sum| sum.wrapping_add(before)));
        if at + 4 <= len && start.cast::<Four<u32>>().is_aligned() {
            // SAFETY: within the array, aligned, and these elements are one thread's: every tile is one block's.
            unsafe { start.add(at).cast::<Four<u32>>().write(Four(sums)) };
            return;
        }
        for (i, sum) in sums.into_iter().enumerate() {
            if at + i < len {
                // SAFETY: as above.
                unsafe { y.write(at + i, sum) };
            }
        }
    });
}

/// Returns the grid for `n` elements.
#[cfg(not(target_os = "cuda"))]
pub fn grid(n: usize) -> Grid {
    Grid::new(n.div_ceil(TILE).max(1) as u32, BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers;
    use warpsmith::Result;

    #[warpsmith::test]
    fn is_the_cpus(device: &Device) -> Result {
        let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
        for n in [0, 1, 4096, 9002] {
            let xs = numbers(n);
            let blocks = grid(n).blocks().count() as usize;
            let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(n)?);
            let (mut next, mut states) = (stream.zeroed(1)?, stream.zeroed(blocks)?);
            kernels.scan(&stream, grid(n), (&x, &mut y, &mut next, &mut states))?;
            let mut sum = 0u32;
            let expected: Vec<u32> = xs.iter().map(|x| (sum = sum.wrapping_add(*x), sum).1).collect();
            assert!(stream.download(&y)? == expected, "{n} elements");
        }
        Ok(())
    }
}
