//! The Lin-Kernighan move: the best sequential exchange around a node, up to [`DEPTH`] edges deep.
//!
//! Without an edge (t0, t1), a tour is a way from t1 to t0. A step joins its begin, t1, to a near node t2, and takes out an
//! edge (t2, t3). If t3 is the one before t2 on the way, what is left is a way from t3 to t0: a reversal of the part before
//! t2, which (t3, t0) could close. If it is the one behind, the part up to t2 has become a cycle; then the next step leads
//! from t3 into the cycle and opens it beside the node it comes to, and again there is a way. Every way is known by its turns,
//! so nothing is written before the best end of all has been found, and a position costs a comparison a turn.
//!
//! The search goes level by level: all first steps, then all second steps behind them, and so on, with fewer neighbours on
//! each level ([`BREADTH`]). Sums of lengths out and in stay positive on the way (Lin and Kernighan 1973), and above the best
//! gain so far of the levels before. What a level keeps is limited to [`KEPT`] ways.
//!
//! That it is broad to six edges, not narrow and deep, is Helsgaun's way (*An effective implementation of the
//! Lin-Kernighan traveling salesman heuristic*, European Journal of Operational Research 126, 2000).

use super::Tour;
use super::cuts::{Cuts, ENDS, Spot, Turn, Way};
use crate::geometry::Geometry;
use crate::team::{Slots, Team};

/// Most edges of a move: the first one, and one for every step.
pub const DEPTH: u32 = STEPS + 1;
/// Most steps of a move.
const STEPS: u32 = 5;
/// Neighbours that each step looks at.
pub const BREADTH: [u32; STEPS as usize] = [6, 4, 2, 2, 1];
/// Ways that a level keeps.
pub const KEPT: u32 = 10;
/// Ways of all levels: the two without an edge of t0, and what all levels but the last keep.
const WAYS: u32 = 2 + (STEPS - 1) * KEPT;
/// Most turns of a move: three for two steps, and one for the fifth.
const TURNS: u32 = 7;
/// Bits of a way's number in a path.
const NUMBER: u32 = u8::MAX as u32;

const _: () = assert!(ENDS >= 2 * DEPTH && WAYS <= NUMBER);

/// Words of memory that a [`Search`] takes, even.
pub const WORDS: u32 = 8 * WAYS + ENDS + 2 * TURNS;

/// What a step did to the places along a way. Those before the first bound and those between both change places, or, if
/// they are turned, each part is turned where it is. With equal bounds, a part is turned and nothing else; with bounds of
/// 0, nothing changes.
#[derive(Clone, Copy)]
struct Step {
    /// The first bound, times 4, with [`TURNED`] or [`CYCLE`].
    first: u32,
    /// The second bound; the last place of a cycle.
    second: u32,
}

/// Both parts are turned.
const TURNED: u32 = 1;
/// Nothing changes yet: the part up to a place became a cycle, and the next step enters it.
const CYCLE: u32 = 2;

impl Step {
    /// What the first way of all begins with.
    const NOTHING: Step = Step { first: TURNED, second: 0 };

    /// The last place of the cycle, if the next step has to enter one.
    #[inline(always)]
    fn cycle(self) -> Option<u32> {
        (self.first & CYCLE != 0).then_some(self.second)
    }

    /// The bounds.
    #[inline(always)]
    fn bounds(self) -> (u32, u32) {
        (self.first >> 2, if self.first & CYCLE != 0 { 0 } else { self.second })
    }

    /// Its turns, one after the other; an empty one ends before it begins.
    #[inline(always)]
    fn turns(self) -> [Turn; 3] {
        const EMPTY: Turn = Turn(1, 0);
        let (first, second) = self.bounds();
        let turn = |from: u32, to: u32| if from < to { Turn(from, to - 1) } else { EMPTY };
        let whole = if self.first & TURNED == 0 { turn(0, second) } else { EMPTY };
        if second == 0 { [EMPTY; 3] } else { [turn(0, first), turn(first, second), whole] }
    }

    /// Where the nodes at some places go. Without branches: which part a place is in cannot be foreseen.
    #[inline(always)]
    fn of(self, places: [u32; 3]) -> [u32; 3] {
        let (first, second) = self.bounds();
        let turned = (self.first & TURNED).wrapping_neg();
        let low = (first & turned) | (second.wrapping_sub(first) & !turned);
        let high = first.wrapping_add(second) & turned | first.wrapping_neg() & !turned;
        places.map(|p| {
            let to = (p ^ turned).wrapping_add(if p < first { low } else { high });
            if p < second { to } else { p }
        })
    }
}

/// The memory of a search: its ways, and the move that it found.
#[derive(Clone, Copy)]
pub struct Search {
    /// Length taken out less length put in.
    kept: Slots<i64>,
    /// The node that a way begins with, times 2; 1 more if the way goes against the tour.
    begin: Slots<u32>,
    /// Its place before any step.
    place: Slots<u32>,
    /// The node that the last step came to.
    near: Slots<u32>,
    /// The last [`Step`].
    first: Slots<u32>,
    second: Slots<u32>,
    /// The ways it comes from, a byte each, the last one lowest.
    path: Slots<u32>,
    nodes: Slots<u32>,
    turns: Slots<Turn>,
}

/// A move that was found. Its nodes and turns are in the search's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// By how much it makes the tour shorter.
    pub gain: i64,
    /// Edges that go out.
    pub edges: u32,
    /// Its turns.
    pub turns: u32,
    /// The way that the turns are about.
    pub way: Way,
}

/// A way that a step goes on from.
#[derive(Clone, Copy)]
struct Origin {
    index: u32,
    begin: u32,
    place: u32,
    kept: i64,
    step: Step,
    path: u32,
    way: Way,
}

/// A node that a step came to.
#[derive(Clone, Copy)]
struct Reached {
    node: u32,
    spot: Spot,
    /// Its place before any step, and now.
    place: u32,
    now: u32,
    kept: i64,
    /// Where the places before and behind it, before any step, are now.
    lower: u32,
    upper: u32,
}

/// A whole step: the node that the way begins with now, its place before any step, and what was done.
#[derive(Clone, Copy)]
struct Taken {
    begin: u32,
    place: u32,
    kept: i64,
    step: Step,
}

impl Search {
    /// A search in [`WORDS`] words of memory at a multiple of 8 bytes.
    ///
    /// # Safety
    /// The memory is this team's alone for as long as it is used.
    #[inline(always)]
    pub unsafe fn new(memory: *mut u32) -> Search {
        // SAFETY: the caller's promise.
        unsafe {
            let part = |i: u32| Slots::new(memory.add((i * WAYS) as usize));
            let behind = memory.add((8 * WAYS) as usize);
            Search {
                kept: Slots::new(memory.cast()),
                begin: part(2),
                place: part(3),
                near: part(4),
                first: part(5),
                second: part(6),
                path: part(7),
                turns: Slots::new(behind.cast()),
                nodes: Slots::new(behind.add(2 * TURNS as usize)),
            }
        }
    }

    /// The nodes of the move found last, in the order in which edges go out and come in.
    #[inline(always)]
    pub fn nodes(self) -> Slots<u32> {
        self.nodes
    }

    /// Its turns.
    #[inline(always)]
    pub fn turns(self) -> Slots<Turn> {
        self.turns
    }

    /// The way with this number.
    #[inline(always)]
    unsafe fn origin(self, index: u32, ways: [Way; 2]) -> Origin {
        // SAFETY: the caller's promise.
        unsafe {
            let begin = self.begin.get(index);
            Origin {
                index,
                begin: begin >> 1,
                place: self.place.get(index),
                kept: self.kept.get(index),
                step: self.step(index),
                path: self.path.get(index),
                way: if begin & 1 == 0 { ways[0] } else { ways[1] },
            }
        }
    }

    /// Adds a way.
    #[inline(always)]
    unsafe fn keep(self, index: u32, from: &Origin, near: u32, taken: &Taken) {
        // SAFETY: the caller's promise.
        unsafe {
            self.kept.set(index, taken.kept);
            self.begin.set(index, taken.begin << 1 | from.way.back as u32);
            self.place.set(index, taken.place);
            self.near.set(index, near);
            self.first.set(index, taken.step.first);
            self.second.set(index, taken.step.second);
            self.path.set(index, from.path << 8 | from.index);
        }
    }

    /// The last step of a way.
    #[inline(always)]
    unsafe fn step(self, index: u32) -> Step {
        // SAFETY: the caller's promise.
        unsafe { Step { first: self.first.get(index), second: self.second.get(index) } }
    }

    /// Where three places are on a way that so many steps led to.
    #[inline(always)]
    unsafe fn now(self, from: &Origin, steps: u32, mut places: [u32; 3]) -> [u32; 3] {
        // SAFETY: all ways that this one comes from are in memory.
        unsafe {
            if steps == 0 {
                return places;
            }
            let mut left = steps - 1;
            while left > 0 {
                left -= 1;
                places = self.step(from.path >> (8 * left) & NUMBER).of(places);
            }
            from.step.of(places)
        }
    }
}

/// What a search reads: the tour that a trial began with, and what it made of it.
#[derive(Clone, Copy)]
struct View<'a, G: Geometry> {
    tour: Tour<G>,
    cuts: &'a Cuts,
    search: Search,
    /// The node that all ways end with.
    node: u32,
    /// The ways onwards and backwards from there.
    ways: [Way; 2],
}

impl<G: Geometry> View<'_, G> {
    /// What a step leaves of `kept`: the neighbour with this number comes in.
    #[inline(always)]
    unsafe fn joined(self, from: &Origin, i: u32) -> (u32, i64) {
        // SAFETY: the caller's promise: i < k.
        unsafe {
            let entry = from.begin as usize * self.tour.k as usize + i as usize;
            (*self.tour.lists.add(entry), from.kept - *self.tour.near.add(entry) as i64)
        }
    }

    /// Where a neighbour is, after so many steps, unless there is nothing to be done there.
    #[inline(always)]
    unsafe fn reached<T: Team>(self, from: &Origin, steps: u32, (node, kept): (u32, i64)) -> Option<Reached> {
        // SAFETY: the caller's promise.
        unsafe {
            // All ways end with this node: so no place is the last one, and the one behind it exists.
            if node == self.node {
                return None;
            }
            let spot = self.cuts.spot::<T>(self.tour.position(node));
            let place = from.way.of(self.cuts.position(self.tour.n, spot));
            // An edge of the tour cannot come in.
            if place.abs_diff(from.place) == 1 {
                return None;
            }
            // Before place 0 is a place that no step moves.
            let [lower, now, upper] = self.search.now(from, steps, [place.wrapping_sub(1), place, place + 1]);
            let in_vain = from.step.cycle().map_or(now < 2, |end| now > end);
            (!in_vain).then_some(Reached { node, spot, place, now, kept, lower, upper })
        }
    }

    /// The first or the second step that leads on from there.
    #[inline(always)]
    unsafe fn taken(self, from: &Origin, reached: &Reached, second: bool) -> Option<Taken> {
        // SAFETY: the caller's promise.
        unsafe {
            let now = reached.now;
            // Of a way: the part before is turned, or it becomes a cycle. Of a cycle: it is left behind or before.
            let (wanted, step) = match from.step.cycle() {
                None if !second => (now - 1, Step { first: now << 2 | TURNED, second: now }),
                None => (now + 1, Step { first: CYCLE, second: now }),
                Some(end) if !second => {
                    if now == end {
                        return None;
                    }
                    (now + 1, Step { first: (now + 1) << 2, second: end + 1 })
                }
                Some(end) => {
                    if now == 0 {
                        return None;
                    }
                    (now - 1, Step { first: now << 2 | TURNED, second: end + 1 })
                }
            };
            // The edge there must be one of the tour, and not one that came in.
            let lower = reached.lower == wanted;
            if !lower && reached.upper != wanted {
                return None;
            }
            let (begin, length) = self.cuts.beside(self.tour, reached.spot, lower == from.way.back);
            let place = if lower { reached.place.wrapping_sub(1) } else { reached.place + 1 };
            Some(Taken { begin, place, kept: reached.kept + length, step })
        }
    }

    /// One of the two steps to a neighbour: the best move so far becomes what closing the tour behind it gives, if that is
    /// better; what comes out is the step, if more can follow.
    #[inline(always)]
    unsafe fn look(
        self,
        from: &Origin,
        reached: &Reached,
        (tag, second): (u32, bool),
        (least, is_last): (i64, bool),
        best: &mut (i64, u32),
    ) -> Option<Taken> {
        // SAFETY: the caller's promise.
        unsafe {
            let to_cycle = second && from.step.cycle().is_none();
            if to_cycle && is_last {
                return None;
            }
            let taken = self.taken(from, reached, second)?;
            if !to_cycle {
                // More than 32 bits hold is as good as any other gain that large.
                let gain = self.gain(&taken).min(u32::MAX as i64);
                if gain > best.0 {
                    *best = (gain, tag << 1 | second as u32);
                }
            }
            (!is_last && self.leads_on(&taken, least)).then_some(taken)
        }
    }

    /// The gain of closing the tour after a step.
    #[inline(always)]
    unsafe fn gain(self, taken: &Taken) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { taken.kept - self.tour.between(taken.begin, self.node) as i64 }
    }

    /// Whether anything can come in behind a step.
    #[inline(always)]
    unsafe fn leads_on(self, taken: &Taken, least: i64) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            taken.kept - *self.tour.near.add(taken.begin as usize * self.tour.k as usize) as i64 > least
        }
    }

    /// Writes the move down whose last step was numbered so by [`best`].
    #[inline(always)]
    unsafe fn write<T: Team>(self, team: T, (tag, steps): (u32, u32)) -> Found {
        // SAFETY: the caller's promise.
        unsafe {
            let search = self.search;
            let from = search.origin(tag >> 8, self.ways);
            let joined = self.joined(&from, tag >> 1 & 0x7f);
            let last = match self.reached::<T>(&from, steps, joined) {
                Some(reached) => self.taken(&from, &reached, tag & 1 == 1),
                None => None,
            };
            // The same step as when it was found.
            let Some(last) = last else { return Found { gain: 0, edges: 0, turns: 0, way: from.way } };
            team.barrier();
            let mut turns = 0;
            let mut edges = 0;
            while edges <= steps + 1 {
                // The first way of all, those behind it, the one that the last step begins at, and that step.
                let (near, begin, step) = if edges <= steps {
                    let back = steps - edges;
                    let index = if back == 0 { from.index } else { from.path >> (8 * (back - 1)) & NUMBER };
                    let near = if edges == 0 { self.node } else { search.near.get(index) };
                    (near, search.begin.get(index) >> 1, search.step(index))
                } else {
                    (joined.0, last.begin, last.step)
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
                // One by one: an array gone through would lie on the stack.
                let [first, second, third] = step.turns();
                add(first);
                add(second);
                add(third);
                edges += 1;
            }
            team.barrier();
            Found { gain: self.gain(&last), edges, turns, way: from.way }
        }
    }
}

/// The best move around a node, if there is one; among equally good ones that with fewer edges, then the one that
/// begins with nearer neighbours. It is the same for every team.
///
/// # Safety
/// `cuts` are of `tour`, `node` is a node of it, and the search's memory is this team's.
#[inline(always)]
pub unsafe fn best<T: Team, G: Geometry>(
    team: T,
    tour: Tour<G>,
    cuts: &Cuts,
    search: Search,
    node: u32,
) -> Option<Found> {
    // SAFETY: the caller's promise.
    unsafe {
        let spot = cuts.spot::<T>(tour.position(node));
        let position = cuts.position(tour.n, spot);
        let n = tour.n;
        let ways = [
            Way { n, origin: if position + 1 == n { 0 } else { position + 1 }, back: false },
            Way { n, origin: if position == 0 { n - 1 } else { position - 1 }, back: true },
        ];
        let view = View { tour, cuts, search, node, ways };
        team.barrier();
        team.for_each(2, |i| {
            let (begin, kept) = cuts.beside(tour, spot, i == 0);
            search.kept.set(i, kept);
            search.begin.set(i, begin << 1 | i);
            search.place.set(i, 0);
            search.first.set(i, Step::NOTHING.first);
            search.second.set(i, Step::NOTHING.second);
            search.path.set(i, 0);
        });
        team.barrier();
        let (mut low, mut high) = (0, 2);
        let mut best = (0i64, u32::MAX);
        // Of the best move, before its last one.
        let mut steps = 0;
        let mut level = 0;
        while level < STEPS && low < high {
            let most = BREADTH[level as usize].min(tour.k);
            let is_last = level + 1 == STEPS;
            let (least, limit) = (best.0, high + KEPT);
            let mut end = high;
            let before = best.0;
            if T::ALONE {
                let mut index = low;
                while index < high {
                    let from = search.origin(index, ways);
                    let mut i = 0;
                    while i < most {
                        let joined = view.joined(&from, i);
                        if joined.1 <= least {
                            break;
                        }
                        if let Some(reached) = view.reached::<T>(&from, level, joined) {
                            for second in [false, true] {
                                let tag = index << 7 | i;
                                let look =
                                    view.look(&from, &reached, (tag, second), (least, is_last), &mut best);
                                if let Some(taken) = look {
                                    if end < limit {
                                        search.keep(end, &from, reached.node, &taken);
                                    }
                                    end += 1;
                                }
                            }
                        }
                        i += 1;
                    }
                    index += 1;
                }
            } else {
                // Divided by a constant: exact for fewer than 2^8 items.
                let each = (1 << 16) / most + 1;
                let items = (high - low) * most;
                let mut first = 0;
                while first < items {
                    let item = first + team.rank();
                    let index = (item * each) >> 16;
                    let (mut near, mut kept) = (0, [None; 2]);
                    let from = search.origin(if item < items { low + index } else { low }, ways);
                    if item < items {
                        let i = item - index * most;
                        let joined = view.joined(&from, i);
                        if joined.1 > least
                            && let Some(reached) = view.reached::<T>(&from, level, joined)
                        {
                            let tag = from.index << 7 | i;
                            let mut look = |second| {
                                view.look(&from, &reached, (tag, second), (least, is_last), &mut best)
                            };
                            (near, kept) = (reached.node, [look(false), look(true)]);
                        }
                    }
                    if !is_last {
                        let ranks = kept.map(|taken| team.rank_among(taken.is_some()));
                        let mut at = end + ranks[0].0 + ranks[1].0;
                        // One by one: an array gone through would lie on the stack.
                        if let Some(taken) = &kept[0] {
                            if at < limit {
                                search.keep(at, &from, near, taken);
                            }
                            at += 1;
                        }
                        if let Some(taken) = &kept[1]
                            && at < limit
                        {
                            search.keep(at, &from, near, taken);
                        }
                        end += ranks[0].1 + ranks[1].1;
                    }
                    first += team.size();
                }
                let (key, tag) = team.arg_max(best.0 as u32, best.1, best.1);
                best = (key as i64, tag);
                team.barrier();
            }
            if best.0 > before {
                steps = level;
            }
            (low, high) = (high, end.min(limit));
            level += 1;
        }
        if best.0 == 0 {
            return None;
        }
        let found = view.write(team, (best.1, steps));
        (found.edges > 0).then_some(found)
    }
}
