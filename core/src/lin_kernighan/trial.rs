//! A trial: a kick at a place of its own, moves until none is left around the touched nodes, and the decision whether to keep the
//! result.

use super::Tour;
use super::cuts::{self, Cuts, MAX_SEGMENTS};
use super::moves::{self, DEPTH, Search};
use crate::geometry::Geometry;
use crate::operator::Reach;
use crate::rng::{self, Draws, Stream};
use crate::team::{Slots, Team};

/// Most nodes that wait to be searched around.
const WAITING: u32 = 128;
/// Longest segment of a kick whose walks ended at the same edge; also at most a quarter of the nodes.
const SEGMENT: u32 = 30;
/// Nodes among which a kick chooses its first one.
const SAMPLES: u32 = 10;
/// Nodes of its share that a trial without a kick searches around.
pub const LOOKED_AT: u32 = 24;
/// Numbers of a trial's random draws: the node of its share, three segments, the exponential variable, then the steps of walks and
/// the other nodes to choose among.
const THRESHOLD: u32 = 4;
const FIRST_STEP: u32 = 5;
/// A limit of [`TrialRound::looks`] that no trial reaches.
pub const UNLIMITED: u32 = u32::MAX;
/// No node.
const NOBODY: u32 = u32::MAX;

/// Words of memory, of 4 bytes, of a trial's team.
pub const WORDS: u32 = moves::WORDS + cuts::WORDS + WAITING;

// Steps, reversals and links are read as words of 8 bytes.
const _: () = assert!(moves::WORDS.is_multiple_of(2) && cuts::WORDS.is_multiple_of(2));

/// The parameters common to all trials of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct TrialRound {
    /// Seed of the run.
    pub seed: u64,
    /// The round's number, on which its random numbers depend.
    pub number: u32,
    /// Trials of each tour, which divide the nodes into as many shares.
    pub trials: u32,
    /// Steps of the walks that lead from a kick's first edge to each of the others; 0: no kicks, each trial searches around nodes
    /// of its own.
    pub walk: u32,
    /// See [`tolerance`]; in the unit of distances.
    pub temperature: f32,
    /// Most nodes that a trial with a kick searches around; [`UNLIMITED`]: until none waits. A kick that is not repaired by then is
    /// hardly ever kept, and the round need not wait for its longest trial.
    pub looks: u32,
    /// Unused; keeps the size a multiple of 8.
    pub padding: u32,
}

const _: () = assert!(size_of::<TrialRound>() == 32);

/// Results of the trials of a tour: each array has an entry for every trial; that of `cuts` has [`MAX_SEGMENTS`] triples.
#[derive(Clone, Copy)]
pub struct TrialChanges {
    /// By how much the tour gets shorter; negative if it gets longer. Meaningless where nothing changes.
    pub gain: Slots<i64>,
    /// Number of removed edges; 0: nothing changes.
    pub count: Slots<u32>,
    /// A removed edge: the position of its first end, and the new neighbours of its two ends, that of the first end first. Those of
    /// trial t start at t times [`MAX_SEGMENTS`], in ascending order of positions.
    pub cuts: Slots<[u32; 3]>,
}

impl TrialChanges {
    /// Copies the result of a trial made elsewhere. Every member calls this; it does not wait.
    ///
    /// # Safety
    /// Both have an entry for the trial; nobody else writes to it.
    #[inline(always)]
    pub unsafe fn take<T: Team>(self, team: T, from: TrialChanges, trial: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let count = from.count.get(trial);
            team.single(|| {
                self.count.set(trial, count);
                self.gain.set(trial, from.gain.get(trial));
            });
            team.for_each(count, |i| {
                self.cuts.set(trial * MAX_SEGMENTS + i, from.cuts.get(trial * MAX_SEGMENTS + i))
            });
        }
    }

    /// Writes the result of a trial as [`packed`] words, starting at `at`: its number, the lower and the upper half of its gain,
    /// the number of removed edges, and three words for each. Every member calls this; it does not wait.
    ///
    /// # Safety
    /// There is an entry for the trial, and there are enough words, which belong to this team.
    #[inline(always)]
    pub unsafe fn pack<T: Team>(self, team: T, trial: u32, words: Slots<u32>, at: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let (count, gain) = (self.count.get(trial), self.gain.get(trial));
            team.single(|| {
                words.set(at, trial);
                words.set(at + 1, gain as u32);
                words.set(at + 2, (gain >> 32) as u32);
                words.set(at + 3, count);
            });
            team.for_each(count, |i| {
                let [position, one, other] = self.cuts.get(trial * MAX_SEGMENTS + i);
                let at = at + HEAD + 3 * i;
                words.set(at, position);
                words.set(at + 1, one);
                words.set(at + 2, other);
            });
        }
    }

    /// Stores the result of a trial that is packed at `at`. Every member calls this; it does not wait.
    ///
    /// # Safety
    /// [`TrialChanges::pack`] has written it, for a trial that has an entry here; nobody else writes to that entry.
    #[inline(always)]
    pub unsafe fn unpack<T: Team>(self, team: T, words: Slots<u32>, at: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let (trial, count) = (words.get(at), words.get(at + 3));
            team.single(|| {
                let (low, high) = (words.get(at + 1), words.get(at + 2));
                self.gain.set(trial, (high as i64) << 32 | low as i64);
                self.count.set(trial, count);
            });
            team.for_each(count, |i| {
                let at = at + HEAD + 3 * i;
                self.cuts
                    .set(trial * MAX_SEGMENTS + i, [words.get(at), words.get(at + 1), words.get(at + 2)]);
            });
        }
    }
}

/// Words of a packed change before its edges.
pub const HEAD: u32 = 4;

/// Returns the words of a packed change with this many removed edges.
#[inline(always)]
pub const fn packed(count: u32) -> u32 {
    HEAD + 3 * count
}

/// Nodes that wait to be searched around: a ring without duplicates.
struct Queue {
    nodes: Slots<u32>,
    first: u32,
    count: u32,
}

impl Queue {
    /// Returns the node at the front.
    #[inline(always)]
    unsafe fn front(&self) -> Option<u32> {
        // SAFETY: the place is inside the ring.
        (self.count > 0).then(|| unsafe { self.nodes.get(self.first % WAITING) })
    }

    /// Removes the front.
    #[inline(always)]
    unsafe fn pop<T: Team>(&mut self, team: T) {
        // SAFETY: the place is inside the ring.
        unsafe {
            team.barrier();
            team.single(|| self.nodes.set(self.first % WAITING, NOBODY));
            self.first += 1;
            self.count -= 1;
            team.barrier();
        }
    }

    /// Adds nodes.
    #[inline(always)]
    unsafe fn push_all<T: Team>(&mut self, team: T, nodes: Slots<u32>, count: u32) {
        let mut i = 0;
        while i < count {
            // SAFETY: the caller's promise.
            unsafe { self.push(team, nodes.get(i)) };
            i += 1;
        }
    }

    /// Adds a node, unless it waits already or the ring is full.
    #[inline(always)]
    unsafe fn push<T: Team>(&mut self, team: T, node: u32) {
        // SAFETY: the places are inside the ring.
        unsafe {
            let mut waits = 0;
            team.for_each(WAITING, |i| waits += (self.nodes.get(i) == node) as u32);
            if team.rank_among(waits > 0).1 > 0 || self.count == WAITING || waits > 0 {
                return;
            }
            team.single(|| self.nodes.set((self.first + self.count) % WAITING, node));
            self.count += 1;
            team.barrier();
        }
    }
}

/// Runs trial `trial` of a round, from 0, on a tour and stores its change. Every member calls this with the same values; the whole
/// change is visible after the next barrier. `stream` is that of the run's seed, the round's number and the tour's number.
///
/// The change is empty if the outcome is the tour as it was, or is not kept: without a kick, it must be shorter; after a kick, it
/// may be longer by what [`tolerance`] allows.
///
/// # Safety
/// The tour is as [`Tour`] says; `memory` has [`WORDS`] words at a multiple of 8 bytes that belong to this team, which has one
/// member or at least [`cuts::ENDS`]; `trial` is below [`TrialRound::trials`], and its entry in `changes` belongs to nobody else.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn run<T: Team, R: Reach, G: Geometry>(
    team: T,
    reach: R,
    tour: Tour<G>,
    memory: *mut u32,
    round: TrialRound,
    stream: Stream,
    trial: u32,
    changes: TrialChanges,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let search = Search::new(memory);
        let mut cuts = Cuts::new(memory.add(moves::WORDS as usize));
        let nodes = Slots::new(memory.add((moves::WORDS + cuts::WORDS) as usize), WAITING as usize);
        team.barrier();
        team.for_each(WAITING, |i| nodes.set(i, NOBODY));
        team.barrier();
        let mut queue = Queue { nodes, first: 0, count: 0 };
        let draws = stream.step(trial);
        // By how much the tour is longer than before the trial.
        let mut delta = 0;
        if round.walk > 0 {
            let at = kick_positions(team, tour, round, (stream, draws), trial);
            delta = Kick::new(tour, at).write(team, tour, search.nodes());
            cuts.bridge(team, tour, at);
            team.barrier();
            queue.push_all(team, search.nodes(), 8);
        } else {
            cuts.reset(team, tour);
            let (first, count) = share(tour.n, round, stream, trial);
            let mut i = 0;
            while i < count && i < LOOKED_AT {
                let node = first + i;
                queue.push(team, if node >= tour.n { node - tour.n } else { node });
                i += 1;
            }
        }
        let mut left = if round.walk > 0 { round.looks } else { UNLIMITED };
        while let Some(node) = queue.front() {
            if cuts.count() + DEPTH > MAX_SEGMENTS || left == 0 {
                break;
            }
            left -= 1;
            let Some(found) = moves::best(team, reach, tour, &cuts, search, node) else {
                queue.pop(team);
                continue;
            };
            delta -= found.gain;
            cuts.make(team, tour, (search.nodes(), found.edges), found.way, (search.turns(), found.turns));
            // The kick has been undone, and all waiting nodes were searched around before this trial. (Rarely it is another tour of
            // the same length; then that is the result.)
            if delta == 0 && round.walk > 0 {
                break;
            }
            queue.push_all(team, search.nodes(), 2 * found.edges);
        }
        let limit = tolerance(round.temperature, draws.bits(THRESHOLD));
        let mut count = 0;
        if delta <= limit && (round.walk > 0 || delta < 0) {
            let mut first = 0;
            while first < cuts.count() {
                let segment = first + team.rank();
                let gone = if segment < cuts.count() { cuts.gone(tour, segment) } else { None };
                let (before, all) = team.rank_among(gone.is_some());
                if let Some(cut) = gone {
                    changes.cuts.set(trial * MAX_SEGMENTS + count + before, cut);
                }
                count += all;
                first += team.size();
            }
        }
        team.single(|| {
            changes.gain.set(trial, -delta);
            changes.count.set(trial, count);
        });
    }
}

/// Returns the first node of a trial's share, and the number of nodes in it. Shares are shifted in every round; without kicks, the
/// nodes searched around move on.
#[inline(always)]
fn share(n: u32, round: TrialRound, stream: Stream, trial: u32) -> (u32, u32) {
    let begin = |trial: u32| (n as u64 * trial as u64 / round.trials as u64) as u32;
    let offset = match round.walk {
        0 => (round.number as u64 * LOOKED_AT as u64 % n as u64) as u32,
        _ => stream.step(u32::MAX).below(0, n),
    };
    let first = offset + begin(trial);
    (if first >= n { first - n } else { first }, begin(trial + 1) - begin(trial))
}

/// Returns the positions after which a kick cuts the tour, in ascending order: that of a node of this trial's share, and those
/// where three random walks from there along neighbour lists end (Applegate, Cook and Rohe 2003, section 3.2). The first node is
/// the one of [`SAMPLES`] nodes whose edge is longest compared to its nearest neighbour. If two of the positions are equal, the
/// cuts are instead separated by segments of up to [`SEGMENT`] nodes. A cut that would remove a [fixed](super::FIXED) edge is made
/// one position later; then there must be more than 12 nodes, or else cuts could coincide.
#[inline(always)]
unsafe fn kick_positions<T: Team, G: Geometry>(
    team: T,
    tour: Tour<G>,
    round: TrialRound,
    (stream, draws): (Stream, Draws),
    trial: u32,
) -> [u32; 4] {
    // SAFETY: nodes are below n.
    unsafe {
        let n = tour.n;
        let (first, count) = share(n, round, stream, trial);
        let pick = |i: u32| {
            let node =
                first + draws.below(if i == 0 { 0 } else { FIRST_STEP + 3 * round.walk + i }, count.max(1));
            if node >= n { node - n } else { node }
        };
        // How much longer, and the sample's number.
        let mut longest = (0, u32::MAX);
        team.for_each(SAMPLES, |i| {
            let node = pick(i);
            let longer = tour.next_distance(tour.position(node))
                - *tour.near.add(node as usize * tour.k as usize) as i64;
            let longer = if longer > 0 { longer as u32 } else { 0 };
            if longer > longest.0 || longest.1 == u32::MAX {
                longest = (longer, i);
            }
        });
        let (_, sample) = team.arg_max(longest.0, longest.1, longest.1);
        team.barrier();
        let node = pick(sample);
        let a = tour.position(node);
        // Each step waits for memory, so the walks advance together.
        let onwards = |from: u32, step: u32| {
            let which = draws.below(FIRST_STEP + step, tour.k);
            *tour.lists.add(from as usize * tour.k as usize + which as usize)
        };
        let (mut b, mut c, mut d) = (node, node, node);
        let mut step = 0;
        while step < round.walk {
            b = onwards(b, step);
            c = onwards(c, round.walk + step);
            d = onwards(d, 2 * round.walk + step);
            step += 1;
        }
        let free = |p: u32| tour.free_position(p);
        let a = free(a);
        let sorted = in_order([a, free(tour.position(b)), free(tour.position(c)), free(tour.position(d))]);
        if sorted[0] < sorted[1] && sorted[1] < sorted[2] && sorted[2] < sorted[3] {
            return sorted;
        }
        let segment = if SEGMENT < n / 4 { SEGMENT } else { n / 4 };
        let onwards_from = |p: u32, i: u32| {
            let p = p + 1 + draws.below(i, segment);
            free(if p >= n { p - n } else { p })
        };
        let b = onwards_from(a, 1);
        let c = onwards_from(b, 2);
        in_order([a, b, c, onwards_from(c, 3)])
    }
}

/// Sorts four numbers in ascending order.
#[inline(always)]
fn in_order([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let (a, b, c, d) = (a.min(b), a.max(b), c.min(d), c.max(d));
    let (x, y) = (a.max(c), b.min(d));
    [a.min(c), x.min(y), x.max(y), b.max(d)]
}

/// The ends of the edges that [`Cuts::bridge`] removes.
struct Kick {
    a: [u32; 2],
    b: [u32; 2],
    c: [u32; 2],
    d: [u32; 2],
    /// Their total length.
    length: i64,
}

impl Kick {
    #[inline(always)]
    unsafe fn new<G: Geometry>(tour: Tour<G>, [a, b, c, d]: [u32; 4]) -> Kick {
        // SAFETY: the caller's promise.
        unsafe {
            let ends = |p: u32| [tour.at(p), tour.at(tour.next_position(p))];
            let length =
                tour.next_distance(a) + tour.next_distance(b) + tour.next_distance(c) + tour.next_distance(d);
            Kick { a: ends(a), b: ends(b), c: ends(c), d: ends(d), length }
        }
    }

    /// Writes the ends; returns by how much the kick makes the tour longer.
    #[inline(always)]
    unsafe fn write<T: Team, G: Geometry>(self, team: T, tour: Tour<G>, nodes: Slots<u32>) -> i64 {
        let Kick { a, b, c, d, length } = self;
        // SAFETY: the caller's promise.
        unsafe {
            team.single(|| {
                nodes.set(0, a[0]);
                nodes.set(1, a[1]);
                nodes.set(2, b[0]);
                nodes.set(3, b[1]);
                nodes.set(4, c[0]);
                nodes.set(5, c[1]);
                nodes.set(6, d[0]);
                nodes.set(7, d[1]);
            });
            let far = |a: u32, b: u32| tour.between(a, b) as i64;
            far(a[0], c[1]) + far(d[0], b[1]) + far(c[0], a[1]) + far(b[0], d[1]) - length
        }
    }
}

/// Returns by how much a tour may get longer by a kick and its repair, given 32 random bits: the temperature times an exponential
/// variate of mean 1, which is simulated annealing's rule (Martin, Otto and Felten 1991). Both are in the unit of distances. An
/// infinite temperature allows anything; 0, tours that are not longer; a negative one, only shorter tours (-1).
#[inline(always)]
pub fn tolerance(temperature: f32, bits: u32) -> i64 {
    if temperature < 0.0 {
        return -1;
    }
    // The variate is in binary logarithms.
    (temperature * core::f32::consts::LN_2 * rng::exponential(bits)) as i64
}
