//! The teams that work on one walk together: the thread blocks of a GPU that share a walk, or CPU threads.
//!
//! Every team keeps the whole solution, and what the problem notes about it, for itself: a *replica*. All teams make the
//! same moves at the same time, so replicas stay equal without being copied. What is divided among teams is the
//! neighbourhood; all they tell each other is the best neighbour that each has seen. An iteration has one exchange.

use crate::team::{Serial, Team};

/// A neighbour that may be moved to. The one with the smallest key wins; among equal keys, the one with the smallest tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// What is compared first.
    pub key: u64,
    /// What is compared next; differs from candidate to candidate.
    pub tag: u64,
    /// The bits of the cost there; goes along.
    pub cost: u64,
}

impl Contender {
    /// Loses against every other.
    pub const NONE: Contender = Contender { key: u64::MAX, tag: u64::MAX, cost: 0 };

    /// Whether this one wins.
    #[inline(always)]
    pub fn beats(&self, other: &Contender) -> bool {
        self.key < other.key || (self.key == other.key && self.tag < other.tag)
    }

    /// The winner of two.
    #[inline(always)]
    pub fn or(self, other: Contender) -> Contender {
        if other.beats(&self) { other } else { self }
    }
}

/// A walk's teams, seen by a member of one of them. What all members call must be called by all of them, in the same order.
pub trait Crew {
    /// One of the teams.
    type Team: Team;

    /// This member's team.
    fn team(&self) -> Self::Team;
    /// The team's number, below [`Crew::parts`].
    fn part(&self) -> u32;
    /// Number of teams.
    fn parts(&self) -> u32;
    /// Waits for every member of every team; what they wrote before is visible to all of them afterwards.
    fn barrier(&mut self);
    /// The winner among the candidates of all members. A barrier for the own team.
    fn best(&mut self, own: Contender) -> Contender;

    /// Whether long work may be left undone, because nothing will come of the batch: where core's caller has no more time.
    #[inline(always)]
    fn is_over(&self) -> bool {
        false
    }

    /// The part of `0..len` that is this team's: contiguous, and as large as the others' but for 1.
    #[inline(always)]
    fn share(&self, len: u64) -> (u64, u64) {
        let (part, parts) = (self.part() as u64, self.parts() as u64);
        if parts == 1 {
            return (0, len);
        }
        let (each, rest) = (len / parts, len % parts);
        let start = each * part + part.min(rest);
        (start, start + each + (part < rest) as u64)
    }
}

/// One CPU thread alone.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Crew for Alone {
    type Team = Serial;

    #[inline(always)]
    fn team(&self) -> Serial {
        Serial
    }
    #[inline(always)]
    fn part(&self) -> u32 {
        0
    }
    #[inline(always)]
    fn parts(&self) -> u32 {
        1
    }
    #[inline(always)]
    fn barrier(&mut self) {}
    #[inline(always)]
    fn best(&mut self, own: Contender) -> Contender {
        own
    }
}
