//! The number of a population's tours that have each edge, and how much of its diversity a child costs (section 3.3 of the paper):
//! the entropy of its edges.
//!
//! With f of N tours having an edge, the entropy is the sum of -f/N log2(f/N) over all edges. As all tours have n edges, it falls
//! by the growth of the sum of f log2 f, over N. Here that growth is in units of 2^-20.

use super::super::allocate;
use super::tour::{Change, NONE, Tour};
use antwarp_engine::BackendError;

/// Initial entries per node: tours that are local optima have few different edges.
const STRIDE: usize = 16;

/// A hash table with linear probing, which grows as needed. Edges whose nodes have near numbers are near each other, as the nodes
/// themselves are if they are numbered along a short tour.
pub struct Census {
    entries: Vec<Entry>,
    n: usize,
    /// Entries per node, a power of two.
    stride: usize,
    used: usize,
    /// For every f below the number of tours: by how much f log2 f grows with one more tour.
    steps: Vec<u32>,
}

/// An edge; with [`NONE`] in `low`, no edge.
#[derive(Clone, Copy, Default)]
struct Entry {
    low: u32,
    high: u32,
    count: u32,
}

impl Census {
    /// Makes a census without edges, for `tours` tours of `n` nodes.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(n: u32, tours: u32) -> Result<Census, BackendError> {
        let steps = (0..tours).map(step).collect();
        let mut census = Census { entries: Vec::new(), n: n as usize, stride: STRIDE, used: 0, steps };
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
        self.entries.fill(Entry { low: NONE, high: NONE, count: 0 });
        self.used = 0;
        Ok(())
    }

    /// Adds `by` to the counts of a tour's edges.
    ///
    /// # Errors
    /// If memory is short.
    pub fn add_tour(&mut self, tour: &Tour, by: i32) -> Result<(), BackendError> {
        self.make_room(tour.n() as usize)?;
        for p in 0..tour.n() {
            self.add(tour.at(p), tour.at(tour.after(p)), by);
        }
        Ok(())
    }

    /// Replaces a tour by itself with changes.
    ///
    /// # Errors
    /// If memory is short.
    pub fn change(&mut self, tour: &Tour, changes: &[Change]) -> Result<(), BackendError> {
        self.make_room(changes.len())?;
        tour.compare(changes, |u, v, by| self.add(u, v, by));
        Ok(())
    }

    /// Returns the cost of replacing a tour of the population by itself with changes; approximate if the tour was changed since it
    /// was counted.
    pub fn loss(&self, tour: &Tour, changes: &[Change]) -> i64 {
        let mut loss = 0;
        // The tour has the edges that are removed, and where another tour would get an edge there is one without it.
        tour.compare(changes, |u, v, by| {
            let (count, last) = (self.count(u, v) as usize, self.steps.len() - 1);
            loss += if by < 0 {
                -i64::from(self.steps[count.saturating_sub(1)])
            } else {
                i64::from(self.steps[count.min(last)])
            };
        });
        loss
    }

    /// Returns how many tours have an edge.
    pub fn count(&self, u: u32, v: u32) -> u32 {
        self.entries[self.find(u, v)].count
    }

    fn add(&mut self, u: u32, v: u32, by: i32) {
        let at = self.find(u, v);
        let entry = &mut self.entries[at];
        self.used += usize::from(entry.low == NONE);
        (entry.low, entry.high) = (u.min(v), u.max(v));
        entry.count = entry.count.wrapping_add_signed(by);
    }

    /// Returns where an edge is or would be.
    #[inline]
    fn find(&self, u: u32, v: u32) -> usize {
        let (low, high) = (u.min(v), u.max(v));
        let hash = (high.wrapping_mul(0x9e37_79b1) >> 16) as usize;
        let mut at = low as usize * self.stride + (hash & (self.stride - 1));
        loop {
            let entry = &self.entries[at];
            if entry.low == NONE || (entry.low, entry.high) == (low, high) {
                return at;
            }
            at = if at + 1 == self.entries.len() { 0 } else { at + 1 };
        }
    }

    /// Makes room for another `edges`, so that half of the table stays free.
    fn make_room(&mut self, edges: usize) -> Result<(), BackendError> {
        if 2 * (self.used + edges) <= self.entries.len() {
            return Ok(());
        }
        let mut old = std::mem::take(&mut self.entries);
        old.retain(|entry| entry.count > 0);
        while 2 * (old.len() + edges) > self.n * self.stride {
            self.stride *= 2;
        }
        self.clear()?;
        old.iter().for_each(|entry| self.add(entry.low, entry.high, entry.count as i32));
        Ok(())
    }
}

/// Returns by how much f log2 f grows from f to f + 1 tours.
fn step(f: u32) -> u32 {
    let sum = |f: u32| if f == 0 { 0.0 } else { f64::from(f) * libm::log2(f.into()) };
    ((sum(f + 1) - sum(f)) * f64::from(1 << 20) + 0.5) as u32
}

/// Rates a child for comparisons: positive if it is shorter than A; the gain over the loss of entropy if there is a loss, otherwise
/// as if the loss were the smallest possible.
pub fn score(gain: i64, loss: i64) -> f64 {
    gain as f64 / loss.max(1) as f64
}
