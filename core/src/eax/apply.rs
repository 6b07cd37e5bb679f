//! Phase 3: a child takes A's place.

use crate::team::Slots;

use super::bench::Bench;
use super::gene::Gene;

/// Gives nodes new neighbours: `changes` of them, each with its two neighbours behind it ([`Bench::change`]). The
/// longest segment that stays as it is keeps its place, the others are written behind it.
///
/// # Safety
/// `order` and `position` have n elements, at least 5, and are each other's inverse; `changes` has three numbers each,
/// and they make another tour of this one; all belongs to this member, as does the bench.
pub unsafe fn apply(
    n: u32,
    order: Slots<u32>,
    position: Slots<u32>,
    changes: *const u32,
    count: u32,
    bench: Bench,
) {
    // SAFETY: nodes and positions are below n; the arrays are written after the last look at the old tour.
    unsafe {
        let a = Gene::new(n, order.at(0), position.at(0));
        bench.begin();
        let mut cuts = 0;
        let mut i = 0;
        while i < count as usize {
            let (v, first, second) = (*changes.add(3 * i), *changes.add(3 * i + 1), *changes.add(3 * i + 2));
            bench.set(v, [first, second]);
            let p = a.position(v);
            let next = a.at(a.after(p));
            if next != first && next != second {
                bench.cuts.set(cuts, (p as u64) << 32);
                cuts += 1;
            }
            i += 1;
        }
        if cuts == 0 {
            return;
        }
        bench.sort_cuts(cuts);
        let (written, behind) = rearrange(a, cuts, bench);
        let mut i = 0;
        while i < written {
            let p = if behind + i < n { behind + i } else { behind + i - n };
            let v = bench.list.get(i);
            order.set(p, v);
            position.set(v, p);
            i += 1;
        }
    }
}

/// Lists the nodes of the new tour behind the longest segment. Returns how many they are, and the position behind it.
///
/// # Safety
/// As [`apply()`], with the cuts sorted.
#[inline(always)]
unsafe fn rearrange(a: Gene, cuts: u32, bench: Bench) -> (u32, u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let (mut longest, mut r) = (0, 1);
        while r < cuts {
            if bench.segment_size(cuts, r) > bench.segment_size(cuts, longest) {
                longest = r;
            }
            r += 1;
        }
        // Along the tour: the node at a segment's end, and the one before it.
        let mut v = a.at(bench.cut(longest));
        let mut before =
            if bench.segment_size(cuts, longest) > 1 { a.links(v)[0] } else { bench.links(a, v)[0] };
        let mut written = 0;
        loop {
            let [first, second] = bench.links(a, v);
            let next = if first == before { second } else { first };
            (before, v) = (v, next);
            let p = a.position(v);
            let r = bench.segment(cuts, p);
            if r == longest {
                return (written, a.after(bench.cut(longest)));
            }
            let size = bench.segment_size(cuts, r);
            let forward = p != bench.cut(r);
            let mut p = p;
            let mut i = 0;
            while i < size {
                bench.list.set(written, a.at(p));
                written += 1;
                i += 1;
                if i < size {
                    p = if forward { a.after(p) } else { a.before(p) };
                }
            }
            if size > 1 {
                v = a.at(p);
                before = if forward { a.beside(p)[0] } else { a.beside(p)[1] };
            }
        }
    }
}
