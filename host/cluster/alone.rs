//! Stands in for MPI if it was not built in: a [`World`] cannot be created.

use std::time::Duration;

use super::{Ended, Gathered, Voyage};
use crate::engine::Voyager;

/// All ranks, as seen by one of them. `world.rs` says what the methods do where there is MPI.
pub enum World {}

impl World {
    pub(super) fn join() -> Result<World, String> {
        let how = "start it once, without mpirun, or build it with `--features mpi`";
        Err(format!("this antwarp is built without MPI, but was started as several ranks: {how}"))
    }

    /// Returns the number of this process.
    pub fn rank(&self) -> u32 {
        match *self {}
    }

    /// Returns the number of processes.
    pub fn size(&self) -> u32 {
        match *self {}
    }

    /// Returns its number among the processes of its machine.
    pub fn local(&self) -> u32 {
        match *self {}
    }

    /// Returns the number of processors reserved for it.
    pub fn threads(&self) -> u32 {
        match *self {}
    }

    /// Broadcasts the message of rank 0 to all.
    pub fn share(&self, _: Option<Vec<u8>>) -> Option<Vec<u8>> {
        match *self {}
    }

    /// Sends another rank a message.
    pub fn deal(&self, _: u32, _: Vec<u8>) {
        match *self {}
    }

    /// Returns the message of rank 0 to this rank.
    pub fn dealt(&self) -> Vec<u8> {
        match *self {}
    }

    /// Starts to carry tours.
    pub fn begin(&self, _: Voyage) {
        match *self {}
    }

    /// Ends the run of this rank.
    pub fn end(&self, _: Option<Voyager>, _: Ended, _: Option<Duration>) -> Option<Gathered> {
        match *self {}
    }

    /// Leaves the other ranks.
    pub fn leave(&self) {
        match *self {}
    }
}
