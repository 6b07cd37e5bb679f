//! The teams that work on one walk together: the thread blocks of a GPU that share a walk, or CPU threads.
//!
//! Every team keeps the whole solution, and the problem's notes about it, for itself: a *replica*. All teams make the same moves at
//! the same time, so replicas stay equal without being copied. Only the neighbourhood is divided among the teams, and they only
//! exchange the best neighbour that each has found, once per iteration.

use crate::team::{Serial, Team};

/// A neighbour that may be moved to. The one with the smallest key wins; among equal keys, the one with the smallest tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// Compared first; `u64::MAX` only in [`Contender::NONE`].
    pub key: u64,
    /// Compared next; differs from candidate to candidate.
    pub tag: u64,
    /// Its cost as [`Cost::bits`](super::Cost::bits); not compared.
    pub cost: u64,
}

impl Contender {
    /// The one that loses against every other.
    pub const NONE: Contender = Contender { key: u64::MAX, tag: u64::MAX, cost: 0 };

    /// Returns whether this one wins; false if key and tag are equal.
    #[inline(always)]
    pub fn beats(&self, other: &Contender) -> bool {
        self.key < other.key || (self.key == other.key && self.tag < other.tag)
    }

    /// Returns the winner of two.
    #[inline(always)]
    pub fn or(self, other: Contender) -> Contender {
        if other.beats(&self) { other } else { self }
    }
}

/// A walk's teams, as seen by a member of one of them. All members must make the same calls in the same order.
pub trait Crew {
    /// One of the teams.
    type Team: Team;

    /// Returns this member's team.
    fn team(&self) -> Self::Team;
    /// Returns the team's number, below [`Crew::parts`].
    fn part(&self) -> u32;
    /// Returns the number of teams.
    fn parts(&self) -> u32;
    /// Waits for every member of every team; what they wrote before is visible to all of them afterwards.
    fn barrier(&mut self);
    /// Returns the winner among the candidates of all members of all teams, the same for all; [`Contender::NONE`] if there is none.
    /// A barrier for its own team.
    fn best(&mut self, own: Contender) -> Contender;

    /// Returns whether long work may be skipped because the batch will be discarded: where core's caller has no more time.
    #[inline(always)]
    fn is_over(&self) -> bool {
        false
    }

    /// Returns this team's part of `0..len`, its start and its end: contiguous, with sizes that differ by at most 1.
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

/// A single CPU thread.
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
