//! The best sequential exchange around a node, with as many edges as its [reach](crate::operator::Reach) allows: a Lin-Kernighan
//! move, or one of 2-opt, Or-opt or 3-opt.
//!
//! Without an edge (t0, t1), a tour is a path from t1 to t0. A step joins its start, t1, to a near node t2, and removes an edge
//! (t2, t3). If t3 comes before t2 on the path, the remainder is a path from t3 to t0: the part before t2 is reversed, and (t3, t0)
//! could close the tour. If t3 comes after t2, the part up to t2 has become a cycle; then the next step leads from t3 into the
//! cycle and opens it at the node that it reaches, which gives a path again. Every path is defined by its reversals, so nothing is
//! written before the best of all ends has been found, and looking up a place costs one comparison per reversal.
//!
//! The search goes level by level: all first steps, then all second steps after them, and so on. The sum of removed minus added
//! lengths stays positive along the way (Lin and Kernighan 1973), and above the best gain of earlier levels. It is a beam search: a
//! level goes on from the few paths with the largest sums ([`Reach::beam_width`]). The sum already includes the next removed edge, as in
//! Lin and Kernighan's refinement, which prefers the neighbour with the largest difference of the two edges.
//!
//! Breadth, and searching several edges deep before making a step, follow Helsgaun (*An effective implementation of the
//! Lin-Kernighan traveling salesman heuristic*, European Journal of Operational Research 126, 2000).

use super::Tour;
use super::cuts::{Cuts, ENDS, Spot, Turn, Way};
use super::lanes::{self, Lanes, and, bits, both, each, holds, same, truth};
use crate::geometry::Geometry;
use crate::operator::{MOST_KEPT, MOST_STEPS, Reach};
use crate::team::{Serial, Slots, Team};

/// Most edges of a move: the first one, and one for every step.
pub const DEPTH: u32 = MOST_STEPS + 1;
/// Most neighbours that a step evaluates, nearest first; further ones in the lists are not used.
pub const BREADTH: u32 = 8;
/// Most paths of all levels: the two without an edge of t0, and those that all levels but the last keep.
const WAYS: u32 = 2 + MOST_KEPT;
/// Most reversals of a move: three for two steps.
const TURNS: u32 = 3 * MOST_STEPS / 2;
/// Neighbours that a CPU thread evaluates together.
const SIDE_BY_SIDE: usize = 4;
/// A floor that no sum exceeds, because sums are [`clamped`]: no step can follow.
const LAST: u32 = u32::MAX;
/// Bits of a path's number in [`Search::path`].
const BITS: u32 = 4;
const NUMBER: u32 = (1 << BITS) - 1;

const _: () = assert!(ENDS >= 2 * DEPTH && WAYS <= NUMBER && BITS * (MOST_STEPS - 1) <= u32::BITS);

/// Words of memory, of 4 bytes, that a [`Search`] takes, even.
pub const WORDS: u32 = 8 * WAYS + ENDS + 2 * TURNS;

/// How a step changes the places along a path. The part before the first bound and the part between the bounds are swapped or, with
/// [`TURNED`], each reversed in place. With equal bounds, only one part is reversed; with bounds of 0, nothing changes.
#[derive(Clone, Copy)]
struct Step {
    /// The first bound, times 4, plus [`TURNED`] or [`CYCLE`].
    first: u32,
    /// The second bound; the last place of a cycle.
    second: u32,
}

/// Both parts are reversed.
const TURNED: u32 = 1;
/// Nothing changes yet: the part up to a place became a cycle, and the next step enters it.
const CYCLE: u32 = 2;

impl Step {
    /// The step of the paths that a search starts with.
    const NOTHING: Step = Step { first: TURNED, second: 0 };

    /// Returns the last place of the cycle, if the next step has to enter one.
    #[inline(always)]
    fn cycle(self) -> Option<u32> {
        (self.first & CYCLE != 0).then_some(self.second)
    }

    /// Returns the bounds.
    #[inline(always)]
    fn bounds(self) -> (u32, u32) {
        (self.first >> 2, if self.first & CYCLE != 0 { 0 } else { self.second })
    }

    /// Returns the number of nodes in the segment that it moves or reverses, together with the first step of a move of `n` nodes.
    #[inline(always)]
    fn segment(self, n: u32, first: Step) -> u32 {
        let (bound, before) = (self.first >> 2, first.first >> 2);
        // Reversing twice changes nothing.
        let between = bound.abs_diff(before);
        // For a cycle: reversing both its parts is equivalent to reversing the rest.
        let (end, rest) = (first.second, n - 1 - first.second);
        let least = if bound < rest { bound } else { rest };
        let other = (end + 1).wrapping_sub(bound);
        let least = if least < other { least } else { other };
        let of_cycle = if self.first & TURNED != 0 { rest } else { least };
        if first.first & CYCLE == 0 { between } else { of_cycle }
    }

    /// Returns its reversals, in order; an empty one ends before it starts.
    #[inline(always)]
    fn turns(self) -> [Turn; 3] {
        const EMPTY: Turn = Turn(1, 0);
        let (first, second) = self.bounds();
        let turn = |from: u32, to: u32| if from < to { Turn(from, to - 1) } else { EMPTY };
        let whole = if self.first & TURNED == 0 { turn(0, second) } else { EMPTY };
        if second == 0 { [EMPTY; 3] } else { [turn(0, first), turn(first, second), whole] }
    }

    /// Returns where the nodes at some places go.
    #[inline(always)]
    fn of<const W: usize>(self, places: Lanes<W>) -> Lanes<W> {
        let (first, second) = self.bounds();
        let turned = (self.first & TURNED).wrapping_neg();
        let low = (first & turned | second.wrapping_sub(first) & !turned) as i32;
        let high = (first.wrapping_add(second) & turned | first.wrapping_neg() & !turned) as i32;
        let (first, second, turned) = (first as i32, second as i32, turned as i32);
        each(places, |p| {
            let to = (p ^ turned).wrapping_add(high ^ (low ^ high) & truth(p < first));
            p ^ (p ^ to) & truth(p < second)
        })
    }
}

/// The memory of a search: its paths, and the move that it found.
#[derive(Clone, Copy)]
pub struct Search {
    /// Removed length minus added length.
    partial_gain: Slots<i64>,
    /// The node that a path starts with, times 2; plus 1 if the path runs against the tour.
    begin: Slots<u32>,
    /// The place of that node before any step.
    place: Slots<u32>,
    /// The node that the last step reached.
    near: Slots<u32>,
    /// The last [`Step`].
    first: Slots<u32>,
    second: Slots<u32>,
    /// The paths that it continues, [`BITS`] each, the last one lowest.
    path: Slots<u32>,
    nodes: Slots<u32>,
    turns: Slots<Turn>,
}

/// A move that was found. Its nodes and reversals are in the search's memory until the next search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundMove {
    /// By how much it makes the tour shorter; positive.
    pub gain: i64,
    /// Number of removed edges, and of added ones: half of the number of [nodes](Search::nodes()).
    pub edges: u32,
    /// Number of [reversals](Search::turns()).
    pub turns: u32,
    /// The path that the reversals refer to.
    pub way: Way,
}

/// Converts a sum or a gain to a key: all values that exceed 32 bits are equal.
#[inline(always)]
fn clamped(length: i64) -> u32 {
    if length < u32::MAX as i64 { length as u32 } else { u32::MAX }
}

/// A path that a step continues.
#[derive(Clone, Copy)]
struct Origin {
    index: u32,
    begin: u32,
    place: u32,
    partial_gain: i64,
    step: Step,
    path: u32,
    way: Way,
}

/// Neighbours that a step reaches.
struct Reached<const W: usize> {
    node: Lanes<W>,
    /// The distance to each.
    near: Lanes<W>,
    /// Its spot.
    segment: Lanes<W>,
    old: Lanes<W>,
    /// Its place before any step, and now.
    place: Lanes<W>,
    now: Lanes<W>,
    /// A bit for each: whether the edges to the places before and after it can be removed.
    open: [u32; 2],
    /// And which of them leads to the lower place in the order before any step.
    lower: [u32; 2],
}

/// A complete step: the node that the path now starts with, its place before any step, and the change made.
#[derive(Clone, Copy)]
struct Taken {
    begin: u32,
    place: u32,
    partial_gain: i64,
    step: Step,
}

impl Search {
    /// Makes a search in [`WORDS`] words of memory at a multiple of 8 bytes.
    ///
    /// # Safety
    /// The memory belongs to this team for as long as it is used.
    #[inline(always)]
    pub unsafe fn new(memory: *mut u32) -> Search {
        // SAFETY: the caller's promise.
        unsafe {
            let part = |i: u32| Slots::new(memory.add((i * WAYS) as usize), WAYS as usize);
            let behind = memory.add((8 * WAYS) as usize);
            Search {
                partial_gain: Slots::new(memory.cast(), WAYS as usize),
                begin: part(2),
                place: part(3),
                near: part(4),
                first: part(5),
                second: part(6),
                path: part(7),
                turns: Slots::new(behind.cast(), TURNS as usize),
                nodes: Slots::new(behind.add(2 * TURNS as usize), ENDS as usize),
            }
        }
    }

    /// Returns the nodes t0, t1, ... of the move found last, in the order in which edges are removed and added, as [`Cuts::make`]
    /// takes them.
    #[inline(always)]
    pub fn nodes(self) -> Slots<u32> {
        self.nodes
    }

    /// Returns the reversals of the move found last, in order, along [`FoundMove::way`].
    #[inline(always)]
    pub fn turns(self) -> Slots<Turn> {
        self.turns
    }

    /// Returns the path with this number.
    #[inline(always)]
    unsafe fn origin(self, index: u32, ways: [Way; 2]) -> Origin {
        // SAFETY: the caller's promise.
        unsafe {
            let begin = self.begin.get(index);
            Origin {
                index,
                begin: begin >> 1,
                place: self.place.get(index),
                partial_gain: self.partial_gain.get(index),
                step: self.step(index),
                path: self.path.get(index),
                way: if begin & 1 == 0 { ways[0] } else { ways[1] },
            }
        }
    }

    /// Writes a path.
    #[inline(always)]
    unsafe fn keep(self, index: u32, from: &Origin, near: u32, taken: &Taken) {
        // SAFETY: the caller's promise.
        unsafe {
            self.partial_gain.set(index, taken.partial_gain);
            self.begin.set(index, taken.begin << 1 | from.way.back as u32);
            self.place.set(index, taken.place);
            self.near.set(index, near);
            self.first.set(index, taken.step.first);
            self.second.set(index, taken.step.second);
            self.path.set(index, from.path << BITS | from.index);
        }
    }

    /// Returns the rank of a path with this sum among those from `first` to `end`, the largest sum first: after equal ones.
    #[inline(always)]
    unsafe fn rank(self, first: u32, end: u32, sum: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            let mut at = end;
            while at > first && clamped(self.partial_gain.get(at - 1)) < sum {
                at -= 1;
            }
            at
        }
    }

    /// Moves the paths from `at` on up by one; one at `limit` is dropped.
    #[inline(always)]
    unsafe fn make_room(self, at: u32, end: u32, limit: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut to = if end < limit { end } else { limit - 1 };
            while to > at {
                self.partial_gain.set(to, self.partial_gain.get(to - 1));
                self.begin.set(to, self.begin.get(to - 1));
                self.place.set(to, self.place.get(to - 1));
                self.near.set(to, self.near.get(to - 1));
                self.first.set(to, self.first.get(to - 1));
                self.second.set(to, self.second.get(to - 1));
                self.path.set(to, self.path.get(to - 1));
                to -= 1;
            }
        }
    }

    /// Returns the last step of a path.
    #[inline(always)]
    unsafe fn step(self, index: u32) -> Step {
        // SAFETY: the caller's promise.
        unsafe { Step { first: self.first.get(index), second: self.second.get(index) } }
    }

    /// Returns where places are on a path after this many steps.
    #[inline(always)]
    unsafe fn now<const W: usize, const N: usize>(
        self,
        from: &Origin,
        steps: u32,
        mut places: [Lanes<W>; N],
    ) -> [Lanes<W>; N] {
        // SAFETY: all paths that this one continues are in memory.
        unsafe {
            if steps == 0 {
                return places;
            }
            let mut left = steps - 1;
            while left > 0 {
                left -= 1;
                let step = self.step(from.path >> (BITS * left) & NUMBER);
                places = lanes::map(places, |places| step.of(places));
            }
            lanes::map(places, |places| from.step.of(places))
        }
    }
}

/// The data that a search reads: the tour that a trial started with, and the trial's version of it.
#[derive(Clone, Copy)]
struct View<'a, R, G: Geometry> {
    reach: R,
    tour: Tour<G>,
    cuts: &'a Cuts,
    search: Search,
    /// The node that all paths end with.
    node: u32,
    /// The paths forwards and backwards from there.
    ways: [Way; 2],
}

impl<R: Reach, G: Geometry> View<'_, R, G> {
    /// Returns numbers and distances of a node's neighbours, starting at `first`. The entries after the last one are too far for
    /// any move, as is a neighbour at the largest possible distance.
    #[inline(always)]
    unsafe fn neighbors<const W: usize>(self, node: u32, first: u32) -> (Lanes<W>, Lanes<W>) {
        // SAFETY: the caller's promise: first < k.
        unsafe {
            let (k, entry) = (self.tour.k as usize, first as usize);
            let (lists, near) =
                (self.tour.lists.add(node as usize * k), self.tour.near.add(node as usize * k));
            if entry + W <= k {
                let row = *lists.add(entry).cast::<[u32; W]>();
                return (lanes::map(row, |node| node as i32), *near.add(entry).cast::<[i32; W]>());
            }
            let mut row = ([0; W], [i32::MAX; W]);
            for (lane, entry) in (entry..k).enumerate() {
                (row.0[lane], row.1[lane]) = (*lists.add(entry) as i32, *near.add(entry));
            }
            row
        }
    }

    /// Returns where neighbours are after this many steps, and which steps are possible there; `None` if even the nearest of them
    /// is too far for any sum above `least`.
    #[inline(always)]
    unsafe fn reached<T: Team, const W: usize>(
        self,
        (from, first): (&Origin, u32),
        steps: u32,
        least: i64,
    ) -> Option<Reached<W>> {
        // SAFETY: the caller's promise.
        unsafe {
            let (node, near) = self.neighbors::<W>(from.begin, first);
            let most = from.partial_gain - least - 1;
            if near[0] as i64 > most {
                return None;
            }
            let most = most.min(i32::MAX as i64 - 1) as i32;
            let is_near = holds(near, |near| near <= most);
            // All paths end with this node, so no other node has the last place, and every place has a next one.
            let own = self.node as i32;
            let is_other = holds(node, |node| node != own);
            let old = each(node, |node| self.tour.position(node as u32) as i32);
            let (segment, position) = self.cuts.locate::<T, W>(self.tour.n, old);
            let place = from.way.places(position);
            // An edge of the tour cannot be added.
            let at = from.place as i32;
            let is_apart = holds(place, |place| (place != at - 1) & (place != at + 1));
            let [lower, now, upper] = self.search.now(
                from,
                steps,
                [each(place, |place| place - 1), place, each(place, |place| place + 1)],
            );
            // There is nothing before place 0, though a step may map it somewhere.
            let lower = both(lower, place, |lower, place| lower | truth(place == 0));
            let (before, behind) = (each(now, |now| now - 1), each(now, |now| now + 1));
            // For a path: places from 2 on. For a cycle: places on it, with the edge also on it.
            let all = and(is_near, and(is_other, is_apart));
            let (low, high) = match from.step.cycle() {
                None => {
                    let all = and(all, holds(now, |now| now >= 2));
                    (all, all)
                }
                Some(end) => {
                    let end = end as i32;
                    let low = both(all, now, |all, now| all & truth((now > 0) & (now <= end)));
                    (low, both(all, now, |all, now| all & truth(now < end)))
                }
            };
            // The edge there must belong to the tour, and not be an added one.
            let (lower_before, lower_behind) = (same(lower, before), same(lower, behind));
            let is_before = both(lower_before, same(upper, before), |lower, upper| lower | upper);
            let is_behind = both(lower_behind, same(upper, behind), |lower, upper| lower | upper);
            Some(Reached {
                open: [bits(and(low, is_before)), bits(and(high, is_behind))],
                lower: [bits(lower_before), bits(lower_behind)],
                node,
                near,
                segment,
                old,
                place,
                now,
            })
        }
    }

    /// Returns the first or the second step at a neighbour. On a path, the part before is reversed or becomes a cycle. A cycle is
    /// opened after or before the neighbour.
    #[inline(always)]
    unsafe fn taken<const W: usize>(
        self,
        from: &Origin,
        reached: &Reached<W>,
        (lane, second): (u32, bool),
    ) -> Option<Taken> {
        // SAFETY: the caller's promise.
        unsafe {
            let cycle = from.step.cycle();
            let is_behind = second == cycle.is_none();
            let open = if is_behind { reached.open[1] } else { reached.open[0] };
            if open >> lane & 1 == 0 {
                return None;
            }
            let lane_of = |lanes: &Lanes<W>| lanes[lane as usize % W];
            let now = lane_of(&reached.now) as u32;
            let step = match cycle {
                None if !second => Step { first: now << 2 | TURNED, second: now },
                None => Step { first: CYCLE, second: now },
                Some(end) if !second => Step { first: (now + 1) << 2, second: end + 1 },
                Some(end) => Step { first: now << 2 | TURNED, second: end + 1 },
            };
            let lower = if is_behind { reached.lower[1] } else { reached.lower[0] } >> lane & 1;
            let spot = Spot { segment: lane_of(&reached.segment) as u32, old: lane_of(&reached.old) as u32 };
            let (begin, length) = self.cuts.beside(self.tour, spot, (lower == 1) == from.way.back);
            let place = (lane_of(&reached.place) as u32 + 1).wrapping_sub(2 * lower);
            Some(Taken {
                begin,
                place,
                partial_gain: from.partial_gain - lane_of(&reached.near) as i64 + length,
                step,
            })
        }
    }

    /// Returns whether closing the tour after a step of level `level` is a move within reach.
    #[inline(always)]
    fn is_move(self, from: &Origin, level: u32, taken: &Taken) -> bool {
        let most = self.reach.segment();
        if level == 0 {
            return self.reach.pairs();
        }
        level > 1 || most == u32::MAX || taken.step.segment(self.tour.n, from.step) <= most
    }

    /// Evaluates one of the two steps to a neighbour: updates the best move if closing the tour after the step is better; returns
    /// the step if others can follow and its sum is above `floor`.
    #[inline(always)]
    unsafe fn look<const W: usize>(
        self,
        from: &Origin,
        reached: &Reached<W>,
        (level, tag, (lane, second)): (u32, u32, (u32, bool)),
        (least, floor): (i64, u32),
        best: &mut (i64, u32),
    ) -> Option<Taken> {
        // SAFETY: the caller's promise.
        unsafe {
            let to_cycle = second && from.step.cycle().is_none();
            if to_cycle && floor == LAST {
                return None;
            }
            let taken = self.taken(from, reached, (lane, second))?;
            if !to_cycle
                && self.is_move(from, level, &taken)
                && self.tour.is_below(taken.begin, self.node, taken.partial_gain - best.0)
            {
                let gain = self.gain(&taken).min(u32::MAX as i64);
                if gain > best.0 {
                    *best = (gain, tag << 1 | second as u32);
                }
            }
            (clamped(taken.partial_gain) > floor && self.leads_on(&taken, least)).then_some(taken)
        }
    }

    /// Returns the gain of closing the tour after a step.
    #[inline(always)]
    unsafe fn gain(self, taken: &Taken) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { taken.partial_gain - self.tour.between(taken.begin, self.node) as i64 }
    }

    /// Returns whether any edge can be added after a step.
    #[inline(always)]
    unsafe fn leads_on(self, taken: &Taken, least: i64) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            taken.partial_gain - *self.tour.near.add(taken.begin as usize * self.tour.k as usize) as i64
                > least
        }
    }

    /// Writes the move whose last step has this tag, as numbered by [`best`].
    #[inline(always)]
    unsafe fn write<T: Team>(self, team: T, (tag, steps): (u32, u32)) -> FoundMove {
        // SAFETY: the caller's promise.
        unsafe {
            let search = self.search;
            let from = search.origin(tag >> 8, self.ways);
            let nothing = FoundMove { gain: 0, edges: 0, turns: 0, way: from.way };
            // The same step as when it was found.
            let Some(reached) = self.reached::<T, 1>((&from, tag >> 1 & 0x7f), steps, 0) else {
                return nothing;
            };
            let Some(last) = self.taken(&from, &reached, (0, tag & 1 == 1)) else { return nothing };
            team.barrier();
            let mut turns = 0;
            let mut edges = 0;
            while edges <= steps + 1 {
                // The first path, those after it, the one that the last step continues, and that step.
                let (near, begin, step) = if edges <= steps {
                    let back = steps - edges;
                    let index =
                        if back == 0 { from.index } else { from.path >> (BITS * (back - 1)) & NUMBER };
                    let near = if edges == 0 { self.node } else { search.near.get(index) };
                    (near, search.begin.get(index) >> 1, search.step(index))
                } else {
                    (reached.node[0] as u32, last.begin, last.step)
                };
                team.single(|| {
                    search.nodes.set(2 * edges, near);
                    search.nodes.set(2 * edges + 1, begin);
                });
                let mut add = |turn: Turn| {
                    if turn.0 <= turn.1 {
                        team.single(|| search.turns.set(turns, turn));
                        turns += 1;
                    }
                };
                // One by one: an array in a loop would be on the stack.
                let [first, second, third] = step.turns();
                add(first);
                add(second);
                add(third);
                edges += 1;
            }
            team.barrier();
            FoundMove { gain: self.gain(&last), edges, turns, way: from.way }
        }
    }
}

/// All steps from the paths from `low` to `high`.
#[derive(Clone, Copy)]
struct Level {
    number: u32,
    low: u32,
    high: u32,
    /// The resulting paths are kept after `high`, up to here.
    limit: u32,
    /// Neighbours that a step evaluates.
    breadth: u32,
    is_last: bool,
    /// The best gain of earlier levels.
    least: i64,
}

impl<R: Reach, G: Geometry> View<'_, R, G> {
    /// Evaluates a level as a team of one. Returns the end of the paths that it keeps, and the best move so far: its gain and its
    /// tag.
    #[inline(always)]
    unsafe fn go_alone(self, level: Level, mut best: (i64, u32)) -> (u32, (i64, u32)) {
        let Level { high, limit, least, .. } = level;
        let search = self.search;
        let mut end = high;
        // A sum must be above this to be kept.
        let mut floor = if level.is_last { LAST } else { 0 };
        let mut index = level.low;
        while index < high {
            // SAFETY: the caller's promise.
            unsafe {
                let from = search.origin(index, self.ways);
                let mut first = 0;
                while first < level.breadth
                    && let Some(reached) =
                        self.reached::<Serial, SIDE_BY_SIDE>((&from, first), level.number, least)
                {
                    let mut open = reached.open[0] | reached.open[1];
                    while open != 0 {
                        let lane = open.trailing_zeros();
                        open &= open - 1;
                        let tag = index << 7 | (first + lane);
                        for second in [false, true] {
                            let step = (level.number, tag, (lane, second));
                            let look = self.look(&from, &reached, step, (least, floor), &mut best);
                            if let Some(taken) = look {
                                let at = search.rank(high, end, clamped(taken.partial_gain));
                                search.make_room(at, end, limit);
                                let near = reached.node[lane as usize % SIDE_BY_SIDE] as u32;
                                search.keep(at, &from, near, &taken);
                                end += (end < limit) as u32;
                                if end == limit {
                                    floor = clamped(search.partial_gain.get(limit - 1));
                                }
                            }
                        }
                    }
                    first += SIDE_BY_SIDE as u32;
                }
            }
            index += 1;
        }
        (end, best)
    }

    /// Evaluates a level as a team of many, one neighbour per member; otherwise as [`View::go_alone`].
    #[inline(always)]
    unsafe fn go<T: Team>(self, team: T, level: Level, mut best: (i64, u32)) -> (u32, (i64, u32)) {
        let Level { low, high, limit, breadth, least, .. } = level;
        let search = self.search;
        let mut end = high;
        let floor = if level.is_last { LAST } else { 0 };
        // Replaces division by a constant: exact for fewer than 2^8 items.
        let each = (1 << 16) / breadth + 1;
        let items = (high - low) * breadth;
        let mut first = 0;
        while first < items {
            let item = first + team.rank();
            let index = (item * each) >> 16;
            // SAFETY: the caller's promise; barriers and reductions separate reading and writing.
            unsafe {
                // Two variables, not an array, which would be on the stack.
                let (mut near, mut one, mut other) = (0, None, None);
                let from = search.origin(if item < items { low + index } else { low }, self.ways);
                if item < items {
                    let i = item - index * breadth;
                    if let Some(reached) = self.reached::<T, 1>((&from, i), level.number, least) {
                        let tag = from.index << 7 | i;
                        let mut look = |second| {
                            let step = (level.number, tag, (0, second));
                            self.look(&from, &reached, step, (least, floor), &mut best)
                        };
                        (near, one, other) = (reached.node[0] as u32, look(false), look(true));
                    }
                }
                // Takes the largest sum of all members again and again, until none is left to keep.
                loop {
                    if level.is_last {
                        break;
                    }
                    let sum = |taken: &Option<Taken>| taken.as_ref().map_or(0, |t| clamped(t.partial_gain));
                    let (first, second) = (sum(&one), sum(&other));
                    let own = item << 1 | (second > first) as u32;
                    let (sum, which) = team.arg_max(if second > first { second } else { first }, own, own);
                    team.barrier();
                    let at = search.rank(high, end, sum);
                    if sum == 0 || at >= limit {
                        break;
                    }
                    team.barrier();
                    team.single(|| search.make_room(at, end, limit));
                    team.barrier();
                    if own == which {
                        let taken = if second > first { other.take() } else { one.take() };
                        if let Some(taken) = &taken {
                            search.keep(at, &from, near, taken);
                        }
                    }
                    end += (end < limit) as u32;
                }
            }
            first += team.size();
        }
        let (key, tag) = team.arg_max(best.0 as u32, best.1, best.1);
        team.barrier();
        (end, (key as i64, tag))
    }
}

/// Returns the best move found around a node, if any makes the tour shorter; among equally good ones, the one with fewer edges.
/// If that is the same too, the path that the last step continues decides (forwards first, later the larger sum first), then
/// that step's neighbour (the nearer one first). The move is the same for every team. Every member calls this with the same values.
///
/// # Safety
/// `cuts` are of `tour`, `node` is a node of it, and the search's memory belongs to this team.
#[inline(always)]
pub unsafe fn best<T: Team, R: Reach, G: Geometry>(
    team: T,
    reach: R,
    tour: Tour<G>,
    cuts: &Cuts,
    search: Search,
    node: u32,
) -> Option<FoundMove> {
    // SAFETY: the caller's promise.
    unsafe {
        let (n, old) = (tour.n, tour.position(node));
        let ([segment], [position]) = cuts.locate::<T, 1>(n, [old as i32]);
        let (spot, position) = (Spot { segment: segment as u32, old }, position as u32);
        let ways = [
            Way { n, origin: if position + 1 == n { 0 } else { position + 1 }, back: false },
            Way { n, origin: if position == 0 { n - 1 } else { position - 1 }, back: true },
        ];
        let view = View { reach, tour, cuts, search, node, ways };
        team.barrier();
        team.for_each(2, |i| {
            let (begin, removed) = cuts.beside(tour, spot, i == 0);
            search.partial_gain.set(i, removed);
            search.begin.set(i, begin << 1 | i);
            search.place.set(i, 0);
            search.first.set(i, Step::NOTHING.first);
            search.second.set(i, Step::NOTHING.second);
            search.path.set(i, 0);
        });
        team.barrier();
        let (mut low, mut high) = (0, 2);
        let mut best = (0i64, u32::MAX);
        // The steps of the best move, before its last one.
        let mut steps = 0;
        let mut number = 0;
        while number < reach.steps() && low < high {
            let is_last = number + 1 == reach.steps();
            let level = Level {
                number,
                low,
                high,
                limit: high + if is_last { 0 } else { reach.beam_width(number) },
                breadth: if tour.k < BREADTH { tour.k } else { BREADTH },
                is_last,
                least: best.0,
            };
            let (end, better) =
                if T::ALONE { view.go_alone(level, best) } else { view.go(team, level, best) };
            if better.0 > best.0 {
                steps = number;
            }
            best = better;
            (low, high) = (high, end);
            number += 1;
        }
        if best.0 == 0 {
            return None;
        }
        let found = view.write(team, (best.1, steps));
        (found.edges > 0).then_some(found)
    }
}
