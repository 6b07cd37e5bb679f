//! The segments of A between the edges that an E-set removes, and the sub-tours they form.

use super::bench::Bench;
use super::cycles::Cycles;
use super::gene::Gene;

/// Cuts A at the edges of an E-set: notes the position of every cut, and gives the nodes their new neighbours. Returns
/// the number of cuts.
///
/// # Safety
/// As [`evaluate`](super::evaluate), after [`Bench::begin`].
#[inline(always)]
pub unsafe fn cut(a: Gene, cycles: Cycles, set: *const u32, size: u32, bench: Bench) -> u32 {
    let mut cuts = 0;
    let mut i = 0;
    // SAFETY: nodes of cycles are below n; cycles share no edge, so that there are at most n cuts.
    unsafe {
        while i < size {
            let (first, length) = cycles.range(*set.add(i as usize));
            let mut before = cycles.node(first + length - 1);
            let mut j = 0;
            while j < length {
                let (u, v) = (cycles.node(first + j), cycles.node(first + j + 1));
                let after = cycles.node(first + if j + 2 == length { 0 } else { j + 2 });
                let p = a.position(u);
                let forward = a.at(a.after(p)) == v;
                let p = if forward { p } else { a.position(v) };
                bench.cuts.set(cuts, (p as u64) << 32 | (cuts << 1 | forward as u32) as u64);
                cuts += 1;
                bench.relink(a, u, v, before);
                bench.relink(a, v, u, after);
                before = v;
                j += 2;
            }
            i += 1;
        }
        bench.sort_cuts(cuts);
    }
    cuts
}

/// Joins the segments' ends by the B-edges of the E-set. End 2r is the first node of segment r, 2r + 1 its last.
///
/// # Safety
/// As [`cut`], after it; `cuts` is what it returned.
#[inline(always)]
pub unsafe fn join(cycles: Cycles, set: *const u32, size: u32, cuts: u32, bench: Bench) {
    // SAFETY: two ends a cut.
    unsafe {
        let mut r = 0;
        while r < cuts {
            let which = bench.cuts.get(r) as u32;
            let (cut, forward) = (which >> 1, which & 1);
            let (last, first) = (2 * r + 1, if r + 1 == cuts { 0 } else { 2 * r + 2 });
            bench.ends.set(2 * cut, if forward != 0 { last } else { first });
            bench.ends.set(2 * cut + 1, if forward != 0 { first } else { last });
            r += 1;
        }
        let (mut i, mut from) = (0, 0);
        while i < size {
            let length = cycles.range(*set.add(i as usize)).1;
            let mut j = 1;
            while j < length {
                let next = if j + 1 == length { 0 } else { j + 1 };
                let (one, other) = (bench.ends.get(from + j), bench.ends.get(from + next));
                bench.mates.set(one, other);
                bench.mates.set(other, one);
                j += 2;
            }
            from += length;
            i += 1;
        }
    }
}

/// Numbers the sub-tours: each segment gets the number of its own, and each sub-tour its size and a segment. Returns
/// how many there are.
///
/// # Safety
/// As [`join`], after it.
#[inline(always)]
pub unsafe fn number(cuts: u32, bench: Bench) -> u32 {
    let mut tours = 0;
    // SAFETY: segments below `cuts`; a sub-tour has three nodes or more.
    unsafe {
        let mut r = 0;
        while r < cuts {
            bench.labels.set(r, u32::MAX);
            r += 1;
        }
        let mut r = 0;
        while r < cuts {
            if bench.labels.get(r) == u32::MAX {
                let mut nodes = 0;
                let mut end = 2 * r;
                loop {
                    let segment = end / 2;
                    bench.labels.set(segment, tours);
                    nodes += bench.segment_size(cuts, segment);
                    end = bench.mates.get(end ^ 1);
                    if end == 2 * r {
                        break;
                    }
                }
                bench.sizes.set(tours, nodes);
                bench.inside.set(tours, r);
                tours += 1;
            }
            r += 1;
        }
    }
    tours
}
