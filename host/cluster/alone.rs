//! In the place of MPI where it was not built in: nobody has such a world.

use std::time::Duration;

use super::{Ended, Gathered, Voyage};
use crate::engine::Voyager;

/// All ranks, as one of them sees them.
pub enum World {}

impl World {
    pub(super) fn join() -> Result<World, String> {
        let how = "start it once, without mpirun, or build it with `--features mpi`";
        Err(format!("this antwarp is built without MPI, and was started as several ranks: {how}"))
    }

    /// This process's number.
    pub fn rank(&self) -> u32 {
        match *self {}
    }

    /// How many processes there are.
    pub fn size(&self) -> u32 {
        match *self {}
    }

    /// Its number among those of its machine.
    pub fn local(&self) -> u32 {
        match *self {}
    }

    /// The processors that are its own.
    pub fn threads(&self) -> u32 {
        match *self {}
    }

    /// Sends what rank 0 has to say to all.
    pub fn share(&self, _: Option<Vec<u8>>) -> Option<Vec<u8>> {
        match *self {}
    }

    /// Begins to carry tours.
    pub fn begin(&self, _: Voyage) {
        match *self {}
    }

    /// The run of this rank is over.
    pub fn end(&self, _: Option<Voyager>, _: Ended, _: Option<Duration>) -> Option<Gathered> {
        match *self {}
    }

    /// Leaves the other ranks.
    pub fn leave(&self) {
        match *self {}
    }
}
