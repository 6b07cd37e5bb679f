//! All ranks, as the run of one of them sees them. It never waits for MPI but where ranks begin and end together.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use super::courier::{self, Place, Request};
use super::{Ended, Gathered, Voyage, launched};
use crate::engine::Voyager;

/// How long rank 0 waits for the others to go: its files are written then.
const GOING: Duration = Duration::from_secs(10);

/// All ranks, as one of them sees them.
pub struct World {
    place: Place,
    requests: Sender<Request>,
}

impl World {
    /// Starts the courier, which starts MPI.
    ///
    /// # Errors
    /// If that fails, or the ranks do not see each other.
    pub(super) fn join() -> Result<World, String> {
        let (requests, asked) = mpsc::channel();
        let (ready, placed) = mpsc::channel();
        let courier = std::thread::Builder::new().name("courier".to_owned());
        let started = courier.spawn(move || courier::run(&asked, &ready));
        started.map_err(|error| format!("no thread can be had for MPI: {error}"))?;
        let place = placed.recv().map_err(|_| "MPI could not be started".to_owned())?;
        let size = launched().map_or(1, |launched| launched.size);
        if place.size == size {
            return Ok(World { place, requests });
        }
        let world = World { place, requests };
        world.leave();
        let how = "build antwarp with the MPI library whose mpirun starts it";
        Err(format!("{size} ranks were started, but MPI tells of {}: {how}", world.place.size))
    }

    /// This process's number.
    pub fn rank(&self) -> u32 {
        self.place.rank
    }

    /// How many processes there are.
    pub fn size(&self) -> u32 {
        self.place.size
    }

    /// Its number among those of its machine.
    pub fn local(&self) -> u32 {
        self.place.local
    }

    /// The processors that are its own: those that it may run on, divided among the ranks that may run on the same.
    pub fn threads(&self) -> u32 {
        self.place.threads
    }

    fn ask<T>(&self, request: impl FnOnce(Sender<T>) -> Request) -> Option<mpsc::Receiver<T>> {
        let (reply, answer) = mpsc::channel();
        self.requests.send(request(reply)).ok().map(|()| answer)
    }

    /// Sends what rank 0 has to say to all, who get it; none if it has nothing, and all are to leave.
    pub fn share(&self, bytes: Option<Vec<u8>>) -> Option<Vec<u8>> {
        self.ask(|reply| Request::Share(bytes, reply))?.recv().ok()?
    }

    /// Begins to carry tours.
    pub fn begin(&self, voyage: Voyage) {
        let _ = self.requests.send(Request::Begin(Box::new(voyage)));
    }

    /// The run of this rank is over, with its best tour. Rank 0 waits for the others, `patience` at most, and gets what they have. The
    /// others wait until they are not needed any more.
    pub fn end(&self, best: Option<Voyager>, ended: Ended, patience: Option<Duration>) -> Option<Gathered> {
        let best = best.map(Arc::new);
        self.ask(|reply| Request::End { best, ended, patience, reply })?.recv().ok()?
    }

    /// Leaves the other ranks. If rank 0 does so before the end, all end.
    pub fn leave(&self) {
        let Some(gone) = self.ask(Request::Leave) else { return };
        if self.rank() == 0 {
            let _ = gone.recv_timeout(GOING);
        } else {
            // Whoever goes first would take the others along.
            let _ = gone.recv();
        }
    }
}
