//! The number of a population's tours that have each edge, and how much of its diversity a child costs (section 3.3 of the paper):
//! the entropy of its edges.
//!
//! With f of N tours having an edge, the entropy is the sum of -f/N log2(f/N) over all edges. As all tours have n edges, it falls
//! by the growth of the sum of f log2 f, over N. Here that growth is in units of 2^-20.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::super::allocate;
use super::tour::{Change, Tour};
use antwarp_engine::BackendError;

/// Initial entries per node: tours that are local optima have few different edges.
const STRIDE: usize = 16;

/// A hash table with linear probing, which grows as needed. Edges whose nodes have near numbers are near each other, as the nodes
/// themselves are if they are numbered along a short tour.
///
/// Threads may count changes while others read: an entry that has an edge keeps it, so the order in which others see what was written
/// does not matter.
pub struct Census {
    entries: Vec<Entry>,
    n: usize,
    /// Entries per node, a power of two.
    stride: usize,
    /// Entries that have an edge, or are reserved for one.
    used: AtomicUsize,
    /// For every f below the number of tours: by how much f log2 f grows with one more tour.
    steps: Vec<u32>,
}

/// An edge, as [`key`] of its nodes; 0: none.
#[derive(Default)]
struct Entry {
    key: AtomicU64,
    count: AtomicU32,
}

impl Clone for Entry {
    fn clone(&self) -> Entry {
        Entry { key: self.key.load(Relaxed).into(), count: self.count.load(Relaxed).into() }
    }
}

/// Returns an edge as a number, which is not 0.
#[inline]
fn key(u: u32, v: u32) -> u64 {
    u64::from(u.min(v)) << 32 | u64::from(u.max(v))
}

impl Census {
    /// Makes a census without edges, for `tours` tours of `n` nodes.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(n: u32, tours: u32) -> Result<Census, BackendError> {
        let steps = (0..tours).map(step).collect();
        let mut census = Census { entries: Vec::new(), n: n as usize, stride: STRIDE, used: 0.into(), steps };
        census.clear()?;
        Ok(census)
    }

    /// Returns the initial bytes of a table; it may grow to several times that size.
    pub fn bytes(n: u32) -> usize {
        size_of::<Entry>() * STRIDE * n as usize
    }

    /// Removes all edges.
    ///
    /// # Errors
    /// If memory is short.
    pub fn clear(&mut self) -> Result<(), BackendError> {
        self.entries = allocate("the edges' frequencies", self.n * self.stride)?;
        self.used = 0.into();
        Ok(())
    }

    /// Adds `by`, 1 or -1, to the counts of a tour's edges.
    ///
    /// # Errors
    /// If memory is short.
    pub fn add_tour(&mut self, tour: &Tour, by: i32) -> Result<(), BackendError> {
        self.make_room(tour.n() as usize)?;
        let new = (0..tour.n()).filter(|&p| self.add(tour.at(p), tour.at(tour.after(p)), by)).count();
        *self.used.get_mut() += new;
        Ok(())
    }

    /// Counts a tour with these changes in place of the tour.
    ///
    /// # Errors
    /// If memory is short.
    pub fn change(&mut self, tour: &Tour, changes: &[Change]) -> Result<(), BackendError> {
        self.make_room(changes.len())?;
        self.change_beside(tour, changes);
        Ok(())
    }

    /// As [`Census::change`], while other threads read and change counts; false, without an effect, if there is too little room.
    pub fn change_beside(&self, tour: &Tour, changes: &[Change]) -> bool {
        // At least a quarter of the table stays free.
        let most = self.entries.len() / 4 * 3;
        let is_room = self.used.fetch_add(changes.len(), Relaxed) + changes.len() <= most;
        let mut new = 0;
        if is_room {
            tour.compare(changes, |u, v, by| new += usize::from(self.add(u, v, by)));
        }
        self.used.fetch_sub(changes.len(), Relaxed);
        self.used.fetch_add(new, Relaxed);
        is_room
    }

    /// Returns how much the sum of f log2 f grows, in units of 2^-20, if a tour of the population is replaced by itself with
    /// changes: the loss of entropy, times the number of tours. Approximate if the tour was changed since it was counted.
    pub fn loss(&self, tour: &Tour, changes: &[Change]) -> i64 {
        let mut loss = 0;
        // The tour has the edges that are removed, and where another tour would get an edge there is one without it.
        tour.compare(changes, |u, v, by| {
            let (count, last) = (self.count(u, v) as usize, self.steps.len() - 1);
            loss += if by < 0 {
                -i64::from(self.steps[count.saturating_sub(1).min(last)])
            } else {
                i64::from(self.steps[count.min(last)])
            };
        });
        loss
    }

    /// Returns how many tours have an edge.
    pub fn count(&self, u: u32, v: u32) -> u32 {
        let key = key(u, v);
        let mut at = self.place(key);
        loop {
            match self.entries[at].key.load(Relaxed) {
                there if there == key => return self.entries[at].count.load(Relaxed),
                0 => return 0,
                _ => at = self.next(at),
            }
        }
    }

    /// Adds to the count of an edge; returns whether this thread has entered it. There must be a free entry.
    fn add(&self, u: u32, v: u32, by: i32) -> bool {
        let key = key(u, v);
        let (mut at, mut is_new) = (self.place(key), false);
        loop {
            let entry = &self.entries[at].key;
            let there = match entry.load(Relaxed) {
                0 => {
                    let before = entry.compare_exchange(0, key, Relaxed, Relaxed);
                    is_new = before.is_ok();
                    before.map_or_else(|other| other, |_| key)
                }
                there => there,
            };
            if there == key {
                break;
            }
            at = self.next(at);
        }
        self.entries[at].count.fetch_add(by as u32, Relaxed);
        is_new
    }

    /// Returns where the search for an edge begins.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let hash = ((key as u32).wrapping_mul(0x9e37_79b1) >> 16) as usize;
        (key >> 32) as usize * self.stride + (hash & (self.stride - 1))
    }

    /// Returns the place after this one.
    #[inline]
    fn next(&self, at: usize) -> usize {
        if at + 1 == self.entries.len() { 0 } else { at + 1 }
    }

    /// Makes room for another `edges`, so that half of the table stays free.
    ///
    /// # Errors
    /// If memory is short.
    pub fn make_room(&mut self, edges: usize) -> Result<(), BackendError> {
        if 2 * (*self.used.get_mut() + edges) <= self.entries.len() {
            return Ok(());
        }
        let mut old = std::mem::take(&mut self.entries);
        old.retain_mut(|entry| *entry.count.get_mut() > 0);
        while 2 * (old.len() + edges) > self.n * self.stride {
            self.stride *= 2;
        }
        self.clear()?;
        let mut used = 0;
        for mut entry in old {
            let (key, count) = (*entry.key.get_mut(), *entry.count.get_mut());
            used += usize::from(self.add((key >> 32) as u32, key as u32, count as i32));
        }
        self.used = used.into();
        Ok(())
    }
}

/// Returns by how much f log2 f grows from f to f + 1 tours, in units of 2^-20.
fn step(f: u32) -> u32 {
    let sum = |f: u32| if f == 0 { 0.0 } else { f64::from(f) * libm::log2(f.into()) };
    ((sum(f + 1) - sum(f)) * f64::from(1 << 20) + 0.5) as u32
}

/// Rates a child for comparisons, positive if it is shorter than A: the gain over the [loss](Census::loss) of entropy if there is
/// a loss, otherwise as if the loss were the smallest possible (section 3.3 of the paper).
pub fn score(gain: i64, loss: i64) -> f64 {
    gain as f64 / loss.max(1) as f64
}
