//! Islands: runs that work on the same instance at the same time and exchange tours.
//!
//! A run knows only its [`Post`]. A courier carries tours between posts: threads of one process (the solver's `archipelago`), or
//! messages between processes (`cluster`). Runs never wait for each other: a run with a better tour leaves it at the post, and
//! picks up arrivals whenever it has time. Runs that share work are not islands: they run [in lockstep](Lockstep).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Lockstep;

/// Maximum number of tours waiting for a run: it accepts them faster than others find better ones, or it is about to end.
const MOST_WAITING: usize = 8;

/// A tour in transit, in the instance's numbering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voyager {
    /// The number of the island that found it.
    pub from: u32,
    /// Its internal cost, as stated by that island.
    pub cost: i64,
    /// Its nodes, in the order in which it visits them.
    pub tour: Vec<u32>,
}

/// Where an island's run and its courier exchange tours.
#[derive(Debug, Default)]
pub struct Post {
    island: u32,
    sent: Mutex<Option<Arc<Voyager>>>,
    arrived: Mutex<VecDeque<Arc<Voyager>>>,
    lockstep: Option<Lockstep>,
    /// All islands share their tours in lockstep: none of them is worth sending.
    in_lockstep: AtomicBool,
    /// Whether another island has the same tours, and reports them.
    is_silent: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Post {
    /// Creates the post of the island with this number.
    pub fn new(island: u32) -> Post {
        Post { island, ..Post::default() }
    }

    /// Creates the post of an island, out of `islands`, that may also run [in lockstep](Lockstep) with the others.
    pub fn in_step(island: u32, islands: u32) -> Post {
        Post { lockstep: Some(Lockstep::new(island, islands)), ..Post::new(island) }
    }

    /// Returns the number of the island.
    pub fn number(&self) -> u32 {
        self.island
    }

    /// Returns the lockstep of the islands, if they can run in lockstep.
    pub fn lockstep(&self) -> Option<&Lockstep> {
        self.lockstep.as_ref()
    }

    /// All islands share their tours in lockstep: none of them is worth sending.
    pub fn set_in_lockstep(&self) {
        self.in_lockstep.store(true, Ordering::Relaxed);
    }

    /// Returns whether all islands share their tours, or did so.
    pub fn in_lockstep(&self) -> bool {
        self.in_lockstep.load(Ordering::Relaxed)
    }

    /// Sets whether another island has the same tours from now on, and reports them.
    pub fn set_silent(&self, is_silent: bool) {
        self.is_silent.store(is_silent, Ordering::Relaxed);
    }

    /// Returns whether this island need not report its tours.
    pub fn is_silent(&self) -> bool {
        self.is_silent.load(Ordering::Relaxed)
    }

    /// Leaves a better tour of the run with its internal cost, in the instance's numbering; it replaces one that was not collected
    /// yet.
    pub fn send(&self, cost: i64, tour: Vec<u32>) {
        *lock(&self.sent) = Some(Arc::new(Voyager { from: self.island, cost, tour }));
    }

    /// Takes the tour to send to the others; `None` if there is no new one.
    pub fn collect(&self) -> Option<Arc<Voyager>> {
        lock(&self.sent).take()
    }

    /// Delivers a tour that has arrived. Only the last one of each island waits for the run, and if there are many, the oldest is
    /// dropped.
    pub fn deliver(&self, voyager: Arc<Voyager>) {
        let mut arrived = lock(&self.arrived);
        arrived.retain(|other| other.from != voyager.from);
        if arrived.len() == MOST_WAITING {
            arrived.pop_front();
        }
        arrived.push_back(voyager);
    }

    /// Takes the tours that have arrived since the last call, oldest first.
    pub fn arrivals(&self) -> Vec<Arc<Voyager>> {
        lock(&self.arrived).drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_keeps_the_last_tour_of_each_island() {
        let post = Post::new(3);
        assert!(post.collect().is_none() && post.arrivals().is_empty());
        post.send(9, vec![0, 1]);
        post.send(8, vec![1, 0]);
        assert_eq!(post.collect().as_deref(), Some(&Voyager { from: 3, cost: 8, tour: vec![1, 0] }));
        assert!(post.collect().is_none());
        let from = |from, cost| post.deliver(Arc::new(Voyager { from, cost, tour: Vec::new() }));
        (0..20).for_each(|island| from(island, 7));
        from(15, 6);
        let arrived: Vec<(u32, i64)> = post.arrivals().iter().map(|v| (v.from, v.cost)).collect();
        assert_eq!(arrived, [(12, 7), (13, 7), (14, 7), (16, 7), (17, 7), (18, 7), (19, 7), (15, 6)]);
        assert!(post.arrivals().is_empty());
    }
}
