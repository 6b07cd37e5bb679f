//! Sub-tours become one tour (section 3.1, step 5): the smallest one is joined to another by the best exchange of two
//! edges, until there is only one.

use crate::distance::Distance;
use crate::geometry::Geometry;

use super::bench::Bench;
use super::gene::Gene;
use super::near::Near;

/// An exchange: the edges (x, y) and (w, z) go, (x, w) and (y, z) come.
#[derive(Clone, Copy)]
struct Exchange {
    gain: i64,
    x: u32,
    y: u32,
    w: u32,
    z: u32,
}

/// Merges `tours` sub-tours of `cuts` segments; by how much the edges get shorter. Mergers gain often enough for children
/// that were no shorter before to be worth it.
///
/// # Safety
/// As [`evaluate`](super::evaluate), after [`super::subtours::number`].
#[inline(never)]
pub unsafe fn merge<G: Geometry>(near: Near<G>, a: Gene, cuts: u32, tours: u32, bench: Bench) -> i64 {
    let mut gain = 0;
    // SAFETY: sub-tours are below `tours`; the heap holds one entry each, and another for each merger.
    unsafe {
        let (mut entries, mut t) = (0, 0);
        while t < tours {
            bench.parents.set(t, t);
            push(bench, &mut entries, entry(bench, t));
            t += 1;
        }
        let mut left = tours;
        while left > 1 {
            let smallest = pop(bench, &mut entries);
            let t = smallest as u32;
            if bench.parents.get(t) != t || entry(bench, t) != smallest {
                // It has grown since, or is part of another.
                continue;
            }
            let (nodes, mark) = walk(a, a.at(bench.cut(bench.inside.get(t))), bench);
            let best = match best(near, a, nodes, mark, bench) {
                Some(best) => best,
                None => beside_cuts(near, a, cuts, mark, bench),
            };
            gain += best.gain;
            bench.relink(a, best.x, best.y, best.w);
            bench.relink(a, best.y, best.x, best.z);
            bench.relink(a, best.w, best.z, best.x);
            bench.relink(a, best.z, best.w, best.y);
            let other = root(bench, bench.labels.get(bench.segment(cuts, a.position(best.w))));
            bench.parents.set(t, other);
            bench.sizes.set(other, bench.sizes.get(other) + nodes);
            push(bench, &mut entries, entry(bench, other));
            left -= 1;
        }
    }
    gain
}

/// A sub-tour by its size.
///
/// # Safety
/// There is such a sub-tour.
#[inline(always)]
unsafe fn entry(bench: Bench, t: u32) -> u64 {
    // SAFETY: the caller's promise.
    (unsafe { bench.sizes.get(t) } as u64) << 32 | t as u64
}

/// The sub-tour that a sub-tour is part of.
///
/// # Safety
/// There is such a sub-tour.
#[inline(always)]
unsafe fn root(bench: Bench, mut t: u32) -> u32 {
    // SAFETY: parents are sub-tours.
    unsafe {
        while bench.parents.get(t) != t {
            let above = bench.parents.get(bench.parents.get(t));
            bench.parents.set(t, above);
            t = above;
        }
    }
    t
}

/// Puts an entry into the heap, the smallest on top.
///
/// # Safety
/// There is room.
unsafe fn push(bench: Bench, entries: &mut u32, entry: u64) {
    let mut at = *entries;
    *entries += 1;
    // SAFETY: below the number of entries.
    unsafe {
        while at > 0 {
            let above = (at - 1) / 2;
            if bench.heap.get(above) <= entry {
                break;
            }
            bench.heap.set(at, bench.heap.get(above));
            at = above;
        }
        bench.heap.set(at, entry);
    }
}

/// Takes the smallest entry from the heap.
///
/// # Safety
/// There is one.
unsafe fn pop(bench: Bench, entries: &mut u32) -> u64 {
    *entries -= 1;
    let count = *entries;
    // SAFETY: below the number of entries.
    unsafe {
        let (top, last) = (bench.heap.get(0), bench.heap.get(count));
        let mut at = 0;
        loop {
            let mut below = 2 * at + 1;
            if below >= count {
                break;
            }
            if below + 1 < count && bench.heap.get(below + 1) < bench.heap.get(below) {
                below += 1;
            }
            if last <= bench.heap.get(below) {
                break;
            }
            bench.heap.set(at, bench.heap.get(below));
            at = below;
        }
        bench.heap.set(at, last);
        top
    }
}

/// Lists and marks the nodes of the sub-tour of `start`; their number, and the mark.
///
/// # Safety
/// As [`merge`].
#[inline(always)]
unsafe fn walk(a: Gene, start: u32, bench: Bench) -> (u32, u32) {
    // SAFETY: the caller's promise; at most n nodes.
    unsafe {
        let mark = bench.fresh();
        let (mut before, mut v) = (bench.links(a, start)[0], start);
        let mut p = a.position(v);
        // Where nodes have A's neighbours the walk goes along its array, forward or back.
        let mut forward = a.beside(p)[0] == before;
        let mut nodes = 0;
        loop {
            bench.marks.set(v, mark);
            bench.list.set(nodes, v);
            nodes += 1;
            let next;
            if bench.is_touched(v) {
                let [first, second] = bench.links(a, v);
                next = if first == before { second } else { first };
                p = a.position(next);
                forward = a.beside(p)[0] == v;
            } else {
                p = if forward { a.after(p) } else { a.before(p) };
                next = a.at(p);
            }
            (before, v) = (v, next);
            if v == start {
                return (nodes, mark);
            }
        }
    }
}

/// The best exchange of an edge of a sub-tour and one at a near node outside it, if there is such a node.
///
/// # Safety
/// As [`merge`]; the first `nodes` of the list are the sub-tour, and marked.
#[inline(always)]
unsafe fn best<G: Geometry>(near: Near<G>, a: Gene, nodes: u32, mark: u32, bench: Bench) -> Option<Exchange> {
    let mut best: Option<Exchange> = None;
    // SAFETY: the caller's promise; lists of nodes.
    unsafe {
        let mut i = 0;
        while i < nodes {
            let x = bench.list.get(i);
            let mut open = None;
            let row = near.lists.add(x as usize * near.k as usize);
            let mut j = 0;
            while j < near.breadth {
                let w = *row.add(j as usize);
                if bench.marks.get(w) != mark {
                    let edges = open.unwrap_or_else(|| edges(near, a, x, bench));
                    open = Some(edges);
                    best = better(near, a, (x, edges), w, best, bench);
                }
                j += 1;
            }
            i += 1;
        }
    }
    best
}

/// The child's neighbours of a node, and how far they are.
///
/// # Safety
/// As [`merge`].
#[inline(always)]
unsafe fn edges<G: Geometry>(near: Near<G>, a: Gene, v: u32, bench: Bench) -> [(u32, i64); 2] {
    // SAFETY: the caller's promise.
    unsafe { bench.links(a, v).map(|u| (u, near.places.between(v, u) as i64)) }
}

/// The better of an exchange and those that join x, of which the edges are given, to w.
///
/// # Safety
/// As [`merge`]; the nodes are of different sub-tours.
#[inline(always)]
unsafe fn better<G: Geometry>(
    near: Near<G>,
    a: Gene,
    (x, open): (u32, [(u32, i64); 2]),
    w: u32,
    mut best: Option<Exchange>,
    bench: Bench,
) -> Option<Exchange> {
    // SAFETY: the caller's promise.
    unsafe {
        let joined = near.places.between(x, w) as i64;
        let others = edges(near, a, w, bench);
        for (y, first) in open {
            for (z, second) in others {
                let gain = first + second - joined - near.places.between(y, z) as i64;
                if best.is_none_or(|b| gain > b.gain) {
                    best = Some(Exchange { gain, x, y, w, z });
                }
            }
        }
    }
    best
}

/// The best exchange that joins two nodes which were neighbours in A.
///
/// # Safety
/// As [`best`].
#[cold]
unsafe fn beside_cuts<G: Geometry>(near: Near<G>, a: Gene, cuts: u32, mark: u32, bench: Bench) -> Exchange {
    let mut found: Option<Exchange> = None;
    // SAFETY: A is one tour, so there is an edge of it between nodes of this sub-tour and of another. Nodes of different
    // sub-tours are joined no more, so it is cut.
    unsafe {
        let mut r = 0;
        while r < cuts {
            let p = bench.cut(r);
            let (u, v) = (a.at(p), a.at(a.after(p)));
            match (bench.marks.get(u) == mark, bench.marks.get(v) == mark) {
                (true, false) => found = better(near, a, (u, edges(near, a, u, bench)), v, found, bench),
                (false, true) => found = better(near, a, (v, edges(near, a, v, bench)), u, found, bench),
                _ => {}
            }
            r += 1;
        }
        found.unwrap_unchecked()
    }
}
