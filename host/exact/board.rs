//! The state of a running proof, which others read, and the number of threads that it may use, which they set.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};

#[cfg(doc)]
use crate::Family;

/// Where a proof stands. Others read it at any time.
#[derive(Debug)]
pub struct Board {
    bound: AtomicI64,
    open: AtomicU64,
    nodes: AtomicU64,
    /// Of each family.
    cuts: [AtomicU64; 3],
    is_branching: AtomicBool,
    is_searching: AtomicBool,
    threads: AtomicUsize,
}

impl Board {
    /// Begins with nothing known, for a proof that may use this many threads, at least one.
    pub fn new(threads: usize) -> Board {
        Board {
            bound: AtomicI64::new(i64::MIN),
            open: AtomicU64::new(0),
            nodes: AtomicU64::new(0),
            cuts: Default::default(),
            is_branching: AtomicBool::new(false),
            is_searching: AtomicBool::new(false),
            threads: AtomicUsize::new(threads.max(1)),
        }
    }

    /// Returns the best bound so far: no tour has a lower internal cost. `i64::MIN` before there is one.
    pub fn bound(&self) -> i64 {
        self.bound.load(Ordering::Relaxed)
    }

    /// Returns the number of nodes of the tree that are open.
    pub fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// Returns the number of nodes of the tree so far.
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Returns the number of cuts of each family so far, in the order of [`Family`].
    pub fn cuts(&self) -> [u64; 3] {
        self.cuts.each_ref().map(|cuts| cuts.load(Ordering::Relaxed))
    }

    /// Returns whether the tree has begun, so that more threads help. It never begins without linear programs.
    pub fn is_branching(&self) -> bool {
        self.is_branching.load(Ordering::Relaxed)
    }

    /// Says whether somebody searches for better tours: while somebody does, a proof waits for a tour that is good enough for a tree.
    pub fn search(&self, is_searching: bool) {
        self.is_searching.store(is_searching, Ordering::Relaxed);
    }

    /// Returns whether somebody searches for better tours.
    pub fn is_searching(&self) -> bool {
        self.is_searching.load(Ordering::Relaxed)
    }

    /// Returns the number of threads that the proof may use now.
    pub fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    /// Lets the proof use this many threads from now on, at least one.
    pub fn allow(&self, threads: usize) {
        self.threads.store(threads.max(1), Ordering::Relaxed);
    }

    /// Shows a bound, unless there is a better one.
    pub(crate) fn raise(&self, bound: i64) {
        self.bound.fetch_max(bound, Ordering::Relaxed);
    }

    /// Counts further cuts of each family, in the order of [`Family`].
    pub(crate) fn count_cuts(&self, more: [u64; 3]) {
        for (cuts, more) in self.cuts.iter().zip(more) {
            cuts.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Counts a node of the tree.
    pub(crate) fn count_node(&self) {
        self.nodes.fetch_add(1, Ordering::Relaxed);
    }

    /// Shows how many nodes are open.
    pub(crate) fn show_open(&self, open: usize) {
        self.open.store(open as u64, Ordering::Relaxed);
    }

    /// Shows that the root is done.
    pub(crate) fn begin_to_branch(&self) {
        self.is_branching.store(true, Ordering::Relaxed);
    }
}
