//! Runs of several processes, the ranks of MPI: each has a backend of its own. They are islands, or go in lockstep.
//!
//! Rank 0 reads and checks; what the others need is one message to all ([`Orders`]). Then every rank solves. In each one a thread of its
//! own, the courier, owns MPI: it carries tours from post to post, tells rank 0 how good they are, and looks for the end. So
//! messages go on whatever the run is at, and only runs in lockstep wait for them. Rank 0 gathers the best tour, and alone it tells and
//! writes. `docs/cluster.md` is for users.

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
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::Duration;

use serde::Serialize;

use crate::engine::{Post, Voyager};
use crate::instance::Instance;

/// What a courier is told when a run begins.
pub struct Voyage {
    /// What tours are of: no tour goes on that is none.
    pub instance: Arc<Instance>,
    /// Where the run leaves tours and finds them.
    pub post: Arc<Post>,
    /// Whom tours are sent to.
    pub topology: Topology,
    /// Whether tours are exchanged at all: not in a run that has to be the same every time.
    pub exchanges: bool,
    /// All end with a tour this short.
    pub target: Option<i64>,
    /// The user's interrupt of this rank. That of rank 0 ends all.
    pub interrupt: Arc<AtomicBool>,
    /// Ends the run of this rank.
    pub hurry: Arc<AtomicBool>,
    /// Of rank 0: where every better tour of any rank goes.
    pub better: Option<Sender<Arc<Voyager>>>,
}

/// How a rank's run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Length of its best tour; none if it has none.
    pub cost: Option<i64>,
    /// Tours that it built.
    pub tours: u64,
}

/// What rank 0 has of all ranks at the end.
pub struct Gathered {
    /// The best tour of any rank that was told in time.
    pub best: Option<Arc<Voyager>>,
    /// Tours built by all ranks.
    pub tours: u64,
    /// For reports.
    pub facts: Facts,
}

/// What a report tells of several ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// Processes.
    pub ranks: u32,
    /// They shared their tours in lockstep.
    pub lockstep: bool,
    /// Whom tours were sent to, if not.
    pub topology: Topology,
    /// The rank that found the tour.
    pub best_rank: u32,
    /// Tours sent from rank to rank while they ran.
    pub tours_sent: u64,
    /// Tours that arrived.
    pub tours_received: u64,
    /// Bytes of all messages of all ranks, but for the instance.
    pub bytes_sent: u64,
    /// The same a second.
    pub bytes_per_second: f64,
    /// Ranks that failed, or were not heard of in time at the end.
    pub lost: u32,
}

impl std::fmt::Display for Facts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Facts { ranks, tours_sent, best_rank, .. } = self;
        let kib = self.bytes_per_second / 1024.0;
        match self.topology.name() {
            _ if self.lockstep => write!(f, "{ranks} ranks in lockstep")?,
            topology => write!(f, "{ranks} ranks ({topology}), {tours_sent} tours sent")?,
        }
        write!(f, ", {kib:.1} KiB a second, the best by rank {best_rank}")?;
        if self.lost > 0 { write!(f, "; {} without a result", self.lost) } else { Ok(()) }
    }
}

/// How long rank 0 waits for others once its own run is over: those of a run by the clock end at the same time.
pub const LATE: Duration = Duration::from_secs(10);

/// Joins the other ranks; none for a process alone.
///
/// # Errors
/// If there are others, and this program cannot speak to them.
pub fn join() -> Result<Option<World>, String> {
    match launched() {
        Some(_) => World::join().map(Some),
        None => Ok(None),
    }
}
