//! Runs of several processes, the ranks of MPI, each with its own backend. They are islands, or run in lockstep.
//!
//! Rank 0 reads and checks; the others get everything they need in one broadcast ([`Orders`]). Then every rank solves. In each rank
//! a separate thread, the courier, owns MPI: it carries tours from post to post, reports their lengths to rank 0, and checks for
//! the end. So messages move whatever the run is doing, and only runs in lockstep wait for them. Rank 0 gathers the best tour, and
//! is the only rank that reports and writes. `docs/cluster.md` is for users.

#[cfg(not(feature = "mpi"))]
mod alone;
#[cfg(feature = "mpi")]
mod courier;
mod launched;
#[cfg(any(feature = "mpi", test))]
mod message;
mod orders;
mod topology;
#[cfg(feature = "mpi")]
mod world;

#[cfg(not(feature = "mpi"))]
pub use alone::World;
pub use launched::{Launched, launched};
pub use orders::{Limits, Orders};
pub use topology::Topology;
#[cfg(feature = "mpi")]
pub use world::World;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use serde::Serialize;

use crate::engine::{Post, Voyager};
use crate::instance::{Instance, counted};
use crate::solver::checkpoint::{Part, Recorder};

/// What a courier is given when a run starts.
pub struct Voyage {
    /// The instance of the tours: an invalid tour is not forwarded.
    pub instance: Arc<Instance>,
    /// Where the run leaves tours and finds them.
    pub post: Arc<Post>,
    /// Which ranks tours are sent to.
    pub topology: Topology,
    /// Whether tours are exchanged, and a target ends all ranks: not in a run that must be reproducible.
    pub exchanges: bool,
    /// An internal cost: if tours are exchanged, all ranks end once one of them has a tour this short.
    pub target: Option<i64>,
    /// The user's interrupt of this rank. That of rank 0 ends all ranks.
    pub interrupt: Arc<AtomicBool>,
    /// The courier sets it to end the run of this rank.
    pub hurry: Arc<AtomicBool>,
    /// On rank 0: receives each new best tour that reaches rank 0, from any rank. Of two equal ones, that of the lower rank is better.
    pub better: Option<Sender<Arc<Voyager>>>,
    /// The checkpoints of the run, if there are any.
    pub ledger: Option<Ledger>,
}

/// What a courier does for checkpoints: rank 0 writes them, and the others send it the states of their runs.
pub enum Ledger {
    /// On rank 0: the recorders of the other ranks, from rank 1 on.
    Kept(Vec<Recorder>),
    /// On the others.
    Sent {
        /// How many checkpoints rank 0 has requested so far.
        requested: Arc<AtomicU64>,
        /// What the run answers.
        answers: Receiver<Answer>,
    },
}

/// A run's answer to the request for a checkpoint.
pub struct Answer {
    /// Its state, if it has one that can be saved.
    pub part: Option<Part>,
    /// Whether it is the last one, of a run that is over.
    pub is_last: bool,
}

/// How a rank's run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Internal cost of its best tour; `None` if it has no tour.
    pub cost: Option<i64>,
    /// Number of tours it built.
    pub tours: u64,
}

/// The results of all ranks that rank 0 has at the end.
pub struct Gathered {
    /// The best tour of any rank that reported in time, and the rank that found it; `None` if there is no tour.
    pub best: Option<Arc<Voyager>>,
    /// Tours built by all ranks.
    pub tours: u64,
    /// The facts for the report.
    pub facts: Facts,
}

/// The facts about several ranks in a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// Number of processes.
    pub ranks: u32,
    /// Whether they shared their tours in lockstep.
    pub lockstep: bool,
    /// Which ranks tours were sent to, if not.
    pub topology: Topology,
    /// The rank that found the tour.
    pub best_rank: u32,
    /// Tours that all ranks sent to their neighbours during the run; those that rank 0 requested are not counted.
    pub tours_sent: u64,
    /// Those of them that arrived.
    pub tours_received: u64,
    /// Bytes of all messages of all ranks during the run, without the [`Orders`] and the checkpoints that were dealt before it.
    pub bytes_sent: u64,
    /// The same per second since rank 0 started to carry tours.
    pub bytes_per_second: f64,
    /// Ranks that have no tour, or did not report in time at the end.
    pub lost: u32,
}

impl std::fmt::Display for Facts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Facts { ranks, tours_sent, best_rank, .. } = self;
        let kib = self.bytes_per_second / 1024.0;
        match self.topology.name() {
            _ if self.lockstep => write!(f, "{ranks} ranks in lockstep")?,
            topology => {
                write!(f, "{ranks} ranks ({topology}), {} sent", counted(*tours_sent as usize, "tour"))?
            }
        }
        write!(f, ", {kib:.1} KiB per second, best by rank {best_rank}")?;
        if self.lost > 0 { write!(f, "; {} without a result", self.lost) } else { Ok(()) }
    }
}

/// How long rank 0 waits for others after the time limit, by which they should have ended; without a limit, it waits until they end.
pub const LATE: Duration = Duration::from_secs(10);

/// Joins the other ranks, which all have to do so; `None` for a single process. To be called once.
///
/// # Errors
/// If there are others, but this program cannot communicate with them.
pub fn join() -> Result<Option<World>, String> {
    match launched() {
        Some(_) => World::join().map(Some),
        None => Ok(None),
    }
}
