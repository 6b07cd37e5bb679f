//! The open nodes of the tree of branch and cut, shared by the threads that solve them.

use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use antwarp_instance::Watch;

use crate::Board;

/// How often a thread without work looks whether there is some.
const PATIENCE: Duration = Duration::from_millis(5);

/// A node that is still open.
pub(crate) struct Open<N> {
    /// A bound on its tours that is proven, an internal cost.
    pub bound: i64,
    /// The optimum of the linear program, an internal cost, or what strong branching expects it to be; only the order of nodes depends
    /// on it.
    pub estimate: f64,
    /// What it is.
    pub node: N,
}

impl<N> PartialEq for Open<N> {
    fn eq(&self, other: &Open<N>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<N> Eq for Open<N> {}

impl<N> PartialOrd for Open<N> {
    fn partial_cmp(&self, other: &Open<N>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The node with the lowest estimate is the greatest: it comes first.
impl<N> Ord for Open<N> {
    fn cmp(&self, other: &Open<N>) -> std::cmp::Ordering {
        other.estimate.total_cmp(&self.estimate)
    }
}

/// The open nodes, shared by the threads that solve them.
pub(crate) struct Queue<N> {
    state: Mutex<State<N>>,
    wake: Condvar,
}

struct State<N> {
    open: BinaryHeap<Open<N>>,
    /// The bounds of the nodes that each thread has taken.
    taken: Vec<Option<i64>>,
    /// The lowest bound of nodes that could be neither closed nor divided.
    lost: Option<i64>,
    is_over: bool,
}

impl<N> Queue<N> {
    /// Begins with one node, for threads with numbers below `threads`.
    pub fn new(root: Open<N>, threads: usize) -> Queue<N> {
        let state =
            State { open: BinaryHeap::from([root]), taken: vec![None; threads], lost: None, is_over: false };
        Queue { state: Mutex::new(state), wake: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State<N>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next node for a thread, given by number, waiting for one; `None` if there is nothing more to do, or the watch is
    /// over. A thread whose number the board does not allow yet waits as well. Each node taken must be [given back](Queue::give) or
    /// [lost](Queue::lose).
    pub fn take(&self, thread: usize, board: &Board, watch: &Watch<'_>) -> Option<Open<N>> {
        let mut state = self.state();
        loop {
            if state.is_over || watch.is_over() {
                return None;
            }
            if thread < board.threads()
                && let Some(open) = state.open.pop()
            {
                state.taken[thread] = Some(open.bound);
                board.show_open(state.count());
                return Some(open);
            }
            if state.count() == 0 {
                state.is_over = true;
                self.wake.notify_all();
                return None;
            }
            (state, _) = self.wake.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives back what became of the node that a thread took: its children, the node itself, or nothing if it is closed.
    pub fn give(&self, thread: usize, nodes: Vec<Open<N>>, board: &Board) {
        let mut state = self.state();
        state.taken[thread] = None;
        state.open.extend(nodes);
        board.show_open(state.count());
        if let Some(bound) = state.bound() {
            board.raise(bound);
        }
        self.wake.notify_all();
    }

    /// Gives up the node that a thread took, which can be neither closed nor divided: the bound does not rise above its own.
    pub fn lose(&self, thread: usize, bound: i64) {
        let mut state = self.state();
        state.taken[thread] = None;
        state.lost = Some(state.lost.map_or(bound, |lost| lost.min(bound)));
        self.wake.notify_all();
    }

    /// Returns the number of threads that work on a node.
    pub fn busy(&self) -> usize {
        self.state().taken.iter().flatten().count()
    }

    /// Ends the work of all threads.
    pub fn close(&self) {
        self.state().is_over = true;
        self.wake.notify_all();
    }

    /// Returns the lowest bound of all nodes that are not closed; `None` if all are.
    pub fn bound(&self) -> Option<i64> {
        self.state().bound()
    }
}

impl<N> State<N> {
    /// Returns the number of nodes that are not closed.
    fn count(&self) -> usize {
        self.open.len() + self.taken.iter().flatten().count()
    }

    fn bound(&self) -> Option<i64> {
        let open = self.open.iter().map(|open| open.bound);
        open.chain(self.taken.iter().flatten().copied()).chain(self.lost).min()
    }
}
