//! How often a trail that is updated is found in its selective memory (Skinderowicz 2016, figure 6): a memory that counts, for
//! `antwarp bench acs --hits`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use antwarp_core::papers::ants::pheromone::selective::RingRow;
use antwarp_core::papers::ants::pheromone::{Memory, Selective};
use antwarp_core::papers::ants::tabu::{NONE, Tabu};
use antwarp_core::team::Team;

/// Updates of trails, and those among them that found the trail in its ring.
#[derive(Default)]
pub struct Hits {
    updates: AtomicU64,
    found: AtomicU64,
}

impl Hits {
    /// Returns the share of updates that found their trail; `None` before the first one.
    pub fn ratio(&self) -> Option<f64> {
        let updates = self.updates.load(Relaxed);
        (updates > 0).then(|| self.found.load(Relaxed) as f64 / updates as f64)
    }
}

/// Rings that count updates, for teams of one.
#[derive(Clone, Copy)]
pub struct Counted {
    rings: Selective,
    hits: *const Hits,
}

impl Counted {
    /// Makes rings whose updates are counted in `hits`.
    ///
    /// # Safety
    /// `hits` is there, and stays where it is, for as long as the rings are used.
    pub unsafe fn new(rings: Selective, hits: &Hits) -> Self {
        Counted { rings, hits }
    }

    /// Counts an update of the trail from `node` to `v` that is about to be made.
    ///
    /// # Safety
    /// Both are nodes of the memory.
    unsafe fn count(self, node: u32, v: u32) {
        // SAFETY: the caller's promise, and that of `Counted::new`.
        unsafe {
            (*self.hits).updates.fetch_add(1, Relaxed);
            (*self.hits).found.fetch_add(self.rings.has(node, v).into(), Relaxed);
        }
    }
}

impl Memory for Counted {
    /// The node, and its ring's row.
    type Row = (u32, RingRow);
    const LISTED: bool = Selective::LISTED;
    const BEYOND: bool = Selective::BEYOND;

    unsafe fn enter<T: Team>(self, team: T, node: u32, back: u32) -> Self::Row {
        // SAFETY: the caller's promise, here and below.
        unsafe {
            if back != NONE {
                self.count(node, back);
            }
            (node, self.rings.enter(team, node, back))
        }
    }

    unsafe fn trail(self, row: Self::Row, i: u32, v: u32) -> (f32, u32) {
        // SAFETY: as above.
        unsafe { self.rings.trail(row.1, i, v) }
    }

    unsafe fn put_back<T: Team>(self, team: T, row: Self::Row, back: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: as above.
        unsafe { self.rings.put_back(team, row.1, back, revise) }
    }

    unsafe fn put(self, row: Self::Row, entry: u32, v: u32, trail: f32) {
        // SAFETY: as above.
        unsafe {
            self.count(row.0, v);
            self.rings.put(row.1, entry, v, trail)
        }
    }

    unsafe fn put_beyond<T: Team>(self, team: T, node: u32, v: u32, both: bool, revise: impl Fn(f32) -> f32) {
        // SAFETY: as above.
        unsafe {
            self.count(node, v);
            self.rings.put_beyond(team, node, v, both, revise)
        }
    }

    unsafe fn beyond<T: Team, B: Tabu>(
        self,
        team: T,
        row: Self::Row,
        tabu: &B,
        offer: impl FnMut(u32, f32),
    ) -> bool {
        // SAFETY: as above.
        unsafe { self.rings.beyond(team, row.1, tabu, offer) }
    }

    fn is_far(self, row: Self::Row) -> bool {
        self.rings.is_far(row.1)
    }

    unsafe fn update<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: as above.
        unsafe {
            self.count(node, v);
            self.rings.update(team, node, v, revise)
        }
    }

    unsafe fn deposit<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: as above.
        unsafe {
            self.count(node, v);
            self.rings.deposit(team, node, v, revise)
        }
    }

    unsafe fn remember<T: Team>(self, team: T, node: u32, v: u32) {
        // SAFETY: as above.
        unsafe { self.rings.remember(team, node, v) }
    }

    unsafe fn clear<T: Team>(self, team: T, node: u32, initial: f32) {
        // SAFETY: as above.
        unsafe { self.rings.clear(team, node, initial) }
    }
}
