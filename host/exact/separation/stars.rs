//! Stars: combs with two or three handles, one within the other.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::support::Borders;
use crate::{Cut, Family, Support};

use super::workers::Workers;

/// By how much a cut must be violated.
const EPSILON: f64 = 1e-3;
/// A comb is a start if it is violated by at least this: a slack one can have violated stars.
const NEAR: f64 = -0.5;
/// A star is extended by a third handle if it is violated by at least this.
const NEAR_STAR: f64 = -0.2;
/// The most handles: of more, there are more atoms than a cut may have.
const HANDLES: i32 = 3;
/// The most stars: the right side of each takes about a millisecond.
const MOST: usize = 40;
/// Moves of a local search end after this many.
const MOVES: usize = 200;
/// The combs that a piece of work extends.
const PIECE: usize = 16;
/// The number of a tooth for nodes that are in none, and the last tooth, which all handles divide alike.
const NONE: usize = 3;
const LAST: usize = 2;
/// The level of nodes outside of all handles.
const OUTSIDE: i32 = i32::MAX;
const UNMARKED: i32 = -1;

/// Finds violated stars with three teeth, from those of these cuts that are combs of three teeth, violated or nearly so: a second
/// handle, and a third one, has one more piece of two teeth each. The first two teeth count once, and the last tooth as often as there
/// are handles. Returns at most 40, those first that are violated by the largest part of their right sides.
///
/// Where a strip of nodes is crossed by two or four edges everywhere, in the mean by three, combs hold, but not all handles of the strip can
/// be crossed four times with teeth that run along it.
///
/// Source: G. Cornuéjols, J. Fonlupt, D. Naddef, *The traveling salesman problem on a graph and some related integer polyhedra*,
/// Mathematical Programming 33 (1985): path inequalities; B. Fleischmann, *A new class of cutting planes for the symmetric travelling
/// salesman problem*, Mathematical Programming 40 (1988): stars.
pub fn stars(support: &Support, combs: &[&Cut], workers: Workers<'_>) -> Vec<Cut> {
    let is_comb = |cut: &&&Cut| cut.family() == Family::Comb && cut.sets().len() == 4;
    let starts: Vec<&Cut> = combs.iter().filter(is_comb).copied().collect();
    let found = workers.each(starts.len().div_ceil(PIECE), &|piece| {
        let (mut search, mut borders) = (Search::new(support), Borders::new(support));
        let starts = &starts[piece * PIECE..starts.len().min((piece + 1) * PIECE)];
        let mut found = Vec::new();
        for cut in starts.iter().filter(|cut| borders.violation(cut) > NEAR) {
            if workers.watch.is_over() {
                break;
            }
            for last in 0..3 {
                for is_outward in [true, false] {
                    for splits in [false, true] {
                        if search.begin(cut, last, is_outward, splits) {
                            search.extend(&mut found);
                        }
                    }
                }
            }
        }
        found
    });
    let mut known = HashSet::new();
    let mut found: Vec<(f64, Sets)> =
        found.into_iter().flatten().filter(|star| known.insert(star.1.clone())).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.truncate(MOST);
    // The right side is computed, whatever the sets are.
    let cuts =
        workers.each(found.len(), &|number| Cut::hypergraph(found[number].1.clone(), support.len()).ok());
    cuts.into_iter().flatten().filter(|cut| support.violation(cut) > EPSILON).collect()
}

/// The sets of a star, as often as they count.
type Sets = Vec<Arc<[u32]>>;

/// A star. The level of a node is the number of handles that it is not in; each handle has the next lower one's nodes and more.
struct Search<'a> {
    support: &'a Support,
    /// [`OUTSIDE`] for nodes that are in no handle, [`UNMARKED`] for most nodes.
    level: Vec<i32>,
    /// What [`UNMARKED`] stands for: 0 or [`OUTSIDE`].
    others: i32,
    /// The nodes with another level, some of them several times.
    marked: Vec<u32>,
    tooth: Vec<usize>,
    is_queued: Vec<bool>,
    /// The nodes of teeth and all that have been moved.
    touched: Vec<u32>,
    handles: i32,
    /// How many nodes of each tooth have each level.
    sizes: [[usize; HANDLES as usize + 1]; 3],
}

impl<'a> Search<'a> {
    fn new(support: &'a Support) -> Search<'a> {
        let n = support.len();
        Search {
            support,
            level: vec![UNMARKED; n],
            others: OUTSIDE,
            marked: Vec::new(),
            tooth: vec![NONE; n],
            is_queued: vec![false; n],
            touched: Vec::new(),
            handles: 1,
            sizes: Default::default(),
        }
    }

    fn level(&self, node: u32) -> i32 {
        let level = self.level[node as usize];
        if level == UNMARKED { self.others } else { level }.min(self.handles)
    }

    fn set_level(&mut self, node: u32, level: i32) {
        self.level[node as usize] = level;
        self.marked.push(node);
    }

    /// Returns how often a tooth counts.
    fn weight(&self, tooth: usize) -> i32 {
        match tooth {
            NONE => 0,
            LAST => self.handles,
            _ => 1,
        }
    }

    /// Makes a star with two handles from a comb. The handle is enlarged by the outer pieces of two teeth, or by the nearest nodes of these; the
    /// other way round the handle's complement is the handle. Returns whether there are nodes for that.
    fn begin(&mut self, comb: &Cut, last: usize, is_outward: bool, splits: bool) -> bool {
        let (handle, teeth) = (&comb.sets()[0], &comb.sets()[1..]);
        self.marked.drain(..).for_each(|node| self.level[node as usize] = UNMARKED);
        self.touched.drain(..).for_each(|node| self.tooth[node as usize] = NONE);
        self.handles = 1;
        let inside = if is_outward { 0 } else { OUTSIDE };
        self.others = if is_outward { OUTSIDE } else { 0 };
        handle.iter().for_each(|&node| self.set_level(node, inside));
        for (number, tooth) in [(last + 1) % 3, (last + 2) % 3, last].into_iter().enumerate() {
            teeth[tooth].iter().for_each(|&node| self.tooth[node as usize] = number);
            self.touched.extend(teeth[tooth].iter());
        }
        if splits {
            // The nodes of the outer pieces that are nearest to the inner ones get the level between.
            let mut moved = Vec::new();
            for tooth in 0..LAST {
                let is_outer = |&&node: &&u32| self.tooth[node as usize] == tooth && self.level(node) == 1;
                let outer: Vec<u32> = self.touched.iter().filter(is_outer).copied().collect();
                let inward = |node: u32| {
                    self.value_to(node, |other| self.tooth[other as usize] == tooth && self.level(other) == 0)
                };
                let nearest = outer.iter().copied().max_by(|&a, &b| inward(a).total_cmp(&inward(b)));
                if outer.len() < 2 {
                    return false;
                }
                moved.extend(nearest);
            }
            self.handles = 2;
            moved.into_iter().for_each(|node| self.set_level(node, 1));
            return true;
        }
        self.enlarge()
    }

    /// Adds a handle, of the last one and the outer pieces of two teeth, and a node to each of these teeth. Returns whether there was one.
    fn enlarge(&mut self) -> bool {
        let level = self.handles;
        let mut added = [0; 2];
        for tooth in 0..LAST {
            let mut best = (0.0, None);
            for &node in self.touched.iter().filter(|&&node| self.tooth[node as usize] == tooth) {
                for &(other, _) in self.support.neighbors(node) {
                    let is_free = self.tooth[other as usize] == NONE && self.level(other) == level;
                    if is_free && !(tooth == 1 && other == added[0]) {
                        let value = self.value_to(other, |it| self.tooth[it as usize] == tooth);
                        if value > best.0 {
                            best = (value, Some(other));
                        }
                    }
                }
            }
            let Some(node) = best.1 else { return false };
            added[tooth] = node;
        }
        for node in self.touched.clone() {
            if self.tooth[node as usize] < LAST && self.level(node) == level {
                self.set_level(node, level);
            }
        }
        self.handles += 1;
        for (tooth, node) in added.into_iter().enumerate() {
            self.tooth[node as usize] = tooth;
            self.touched.push(node);
        }
        true
    }

    /// Returns the value of the edges from a node to others.
    fn value_to(&self, node: u32, is_wanted: impl Fn(u32) -> bool) -> f64 {
        self.support.neighbors(node).iter().filter(|edge| is_wanted(edge.0)).map(|edge| edge.1).sum()
    }

    /// Improves the star, adds its sets to those found if it is violated, and goes on with one more handle.
    fn extend(&mut self, found: &mut Vec<(f64, Sets)>) {
        loop {
            self.improve();
            let mut sets = self.sets();
            if sets.iter().any(|set| set.is_empty()) {
                return;
            }
            let left: f64 = sets.iter().map(|set| self.support.border(set)).sum();
            // The right side of stars: (teeth + 1) times handles, and 2 for each time that a tooth counts.
            let right_side = 4 * self.handles + 2 * (2 + self.handles);
            let violation = f64::from(right_side) - left;
            if violation > EPSILON {
                sets.sort_unstable();
                found.push((violation / f64::from(right_side), sets));
            }
            if violation < NEAR_STAR || self.handles == HANDLES || !self.enlarge() {
                return;
            }
        }
    }

    /// Returns the sets, as often as they count: of each handle, or of its complement, that with no unmarked nodes.
    fn sets(&mut self) -> Sets {
        sort(&mut self.marked);
        let of = |handle: i32| -> Arc<[u32]> {
            let is_wanted = |node: &u32| (self.level(*node) <= handle) == (self.others == OUTSIDE);
            self.marked.iter().copied().filter(is_wanted).collect()
        };
        let mut sets: Sets = (0..self.handles).map(of).collect();
        for tooth in 0..=LAST {
            let nodes = self.touched.iter().copied();
            let set: Arc<[u32]> = nodes.filter(|&node| self.tooth[node as usize] == tooth).collect();
            sets.extend((0..self.weight(tooth)).map(|_| set.clone()));
        }
        sets
    }

    /// Moves nodes to other levels and teeth, while the left side becomes less.
    fn improve(&mut self) {
        sort(&mut self.touched);
        self.sizes = Default::default();
        for &node in &self.touched {
            if self.tooth[node as usize] != NONE {
                self.sizes[self.tooth[node as usize]][self.level(node) as usize] += 1;
            }
        }
        let mut queue = VecDeque::new();
        for node in self.touched.clone() {
            self.enqueue_around(node, &mut queue);
        }
        let mut moves = 0;
        while let Some(node) = queue.pop_front() {
            self.is_queued[node as usize] = false;
            if moves >= MOVES {
                continue;
            }
            let Some((level, tooth)) = self.best_move(node) else { continue };
            moves += 1;
            let (old, at) = (self.tooth[node as usize], self.level(node) as usize);
            if old != NONE {
                self.sizes[old][at] -= 1;
            }
            if tooth != NONE {
                self.sizes[tooth][level as usize] += 1;
            }
            self.set_level(node, if level == self.handles { OUTSIDE } else { level });
            self.tooth[node as usize] = tooth;
            self.touched.push(node);
            self.enqueue_around(node, &mut queue);
        }
        sort(&mut self.touched);
    }

    fn enqueue_around(&mut self, node: u32, queue: &mut VecDeque<u32>) {
        let support = self.support;
        for node in support.neighbors(node).iter().map(|edge| edge.0).chain([node]) {
            if !std::mem::replace(&mut self.is_queued[node as usize], true) {
                queue.push_back(node);
            }
        }
    }

    /// Returns the level and the tooth of a node that make the left side least, if they are others than it has.
    fn best_move(&self, node: u32) -> Option<(i32, usize)> {
        let (level, tooth) = (self.level(node), self.tooth[node as usize]);
        let is_needed = match tooth {
            NONE => false,
            LAST => self.sizes[LAST][level as usize] < 2,
            _ => self.sizes[tooth][level as usize] < 2,
        };
        if is_needed {
            return None;
        }
        let neighbors = self.support.neighbors(node);
        let cost = |(level, tooth): (i32, usize)| -> f64 {
            let of = |&(other, x): &(u32, f64)| {
                let (there, its) = (self.level(other), self.tooth[other as usize]);
                let teeth = if tooth == its { 0 } else { self.weight(tooth) + self.weight(its) };
                x * f64::from((level - there).abs() + teeth)
            };
            neighbors.iter().map(of).sum()
        };
        let is_allowed = |(level, tooth): (i32, usize)| tooth < LAST || level == 0 || level == self.handles;
        let mut best = (cost((level, tooth)) - 1e-9, None);
        for &(other, _) in neighbors {
            let (there, its) = (self.level(other), self.tooth[other as usize]);
            for place in [(there, its), (level, its), (there, tooth), (there, NONE), (level, NONE)] {
                if is_allowed(place) {
                    let cost = cost(place);
                    if cost < best.0 {
                        best = (cost, Some(place));
                    }
                }
            }
        }
        best.1
    }
}

fn sort(nodes: &mut Vec<u32>) {
    nodes.sort_unstable();
    nodes.dedup();
}
