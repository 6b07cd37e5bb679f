//! How many tours of the population have an edge.

use antwarp_core::eax::Frequencies;
use antwarp_core::team::Slots;

use super::super::allocate;
use crate::engine::BackendError;

/// Entries a node at first: tours that are local optima have few different edges.
const STRIDE: u32 = 16;

/// The table of frequencies, which grows as needed.
pub struct Census {
    keys: Vec<u64>,
    counts: Vec<u32>,
    n: u32,
    stride: u32,
    used: usize,
}

impl Census {
    /// An empty table.
    pub fn new(n: u32) -> Result<Census, BackendError> {
        let mut census = Census { keys: Vec::new(), counts: Vec::new(), n, stride: STRIDE, used: 0 };
        census.clear()?;
        Ok(census)
    }

    /// Bytes of a table at first; it may get some times as large.
    pub fn bytes(n: u32) -> usize {
        (size_of::<u64>() + size_of::<u32>()) * Frequencies::entries(n, STRIDE)
    }

    /// Forgets all edges.
    pub fn clear(&mut self) -> Result<(), BackendError> {
        let entries = Frequencies::entries(self.n, self.stride);
        self.keys = allocate("the edges' frequencies", entries)?;
        self.counts = allocate("the edges' frequencies", entries)?;
        self.used = 0;
        // SAFETY: this is the only user.
        unsafe { self.view().clear() };
        Ok(())
    }

    /// The table as it is.
    pub fn view(&mut self) -> Frequencies {
        let (keys, counts) = (self.keys.as_mut_ptr(), self.counts.as_mut_ptr());
        // SAFETY: as many entries as asked for.
        unsafe { Frequencies::new(self.n, self.stride, Slots::new(keys), Slots::new(counts)) }
    }

    /// Adds to the number of tours with an edge. Both are nodes.
    pub fn add(&mut self, u: u32, v: u32, by: i32) {
        // SAFETY: nodes; at most half of the entries are in use after `make_room`.
        self.used += usize::from(unsafe { self.view().add(u, v, by) });
    }

    /// Sees to it that another `edges` fit, and that half of the table stays free.
    pub fn make_room(&mut self, edges: usize) -> Result<(), BackendError> {
        if 2 * (self.used + edges) <= self.keys.len() {
            return Ok(());
        }
        let old: Vec<(u64, u32)> = std::mem::take(&mut self.keys)
            .into_iter()
            .zip(std::mem::take(&mut self.counts))
            .filter(|&(key, count)| key != u64::MAX && count > 0)
            .collect();
        while 2 * (old.len() + edges) > Frequencies::entries(self.n, self.stride) {
            self.stride *= 2;
        }
        self.clear()?;
        for (key, count) in old {
            self.add((key >> 32) as u32, key as u32, count as i32);
        }
        Ok(())
    }
}
