//! All ranks, as seen by the run of one of them. It waits for MPI only where ranks start and end together.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use super::courier::{self, Place, Request};
use super::{Ended, Gathered, Voyage, launched};
use crate::engine::Voyager;

/// How long rank 0 waits for the others to leave; its files have been written by then.
const GOING: Duration = Duration::from_secs(10);

/// All ranks, as seen by one of them.
pub struct World {
    place: Place,
    requests: Sender<Request>,
}

impl World {
    /// Starts the courier, which starts MPI, together with all other ranks.
    ///
    /// # Errors
    /// If that fails, or the ranks do not see each other.
    pub(super) fn join() -> Result<World, String> {
        let (requests, asked) = mpsc::channel();
        let (ready, placed) = mpsc::channel();
        let courier = std::thread::Builder::new().name("courier".to_owned());
        let started = courier.spawn(move || courier::run(&asked, &ready));
        started.map_err(|error| format!("cannot start a thread for MPI: {error}"))?;
        let place = placed.recv().map_err(|_| "MPI could not be initialized".to_owned())?;
        let size = launched().map_or(1, |launched| launched.size);
        if place.size == size {
            return Ok(World { place, requests });
        }
        let world = World { place, requests };
        world.leave();
        let how = "build antwarp with the MPI library whose mpirun you use";
        Err(format!("{size} ranks were started, but MPI reports {}: {how}", world.place.size))
    }

    /// Returns the number of this process, from 0.
    pub fn rank(&self) -> u32 {
        self.place.rank
    }

    /// Returns the number of processes.
    pub fn size(&self) -> u32 {
        self.place.size
    }

    /// Returns its number, from 0, among the processes of its machine.
    pub fn local(&self) -> u32 {
        self.place.local
    }

    /// Returns the number of processors reserved for it, at least 1: those it may run on, divided among the ranks that may run on the
    /// same ones.
    pub fn threads(&self) -> u32 {
        self.place.threads
    }

    fn ask<T>(&self, request: impl FnOnce(Sender<T>) -> Request) -> Option<mpsc::Receiver<T>> {
        let (reply, answer) = mpsc::channel();
        self.requests.send(request(reply)).ok().map(|()| answer)
    }

    /// Broadcasts the message of rank 0 to all ranks, and returns it; `None` if it has none, or if MPI fails: then all should leave.
    /// Every rank calls it once and waits for the others; those other than rank 0 give `None`.
    pub fn share(&self, bytes: Option<Vec<u8>>) -> Option<Vec<u8>> {
        self.ask(|reply| Request::Share(bytes, reply))?.recv().ok()?
    }

    /// On rank 0: sends another rank the message that it [takes](World::dealt), and waits until the bytes are no longer needed.
    pub fn deal(&self, to: u32, bytes: Vec<u8>) {
        let sent = self.ask(|reply| Request::Deal(to, bytes, reply));
        sent.into_iter().for_each(|sent| _ = sent.recv());
    }

    /// On the others: waits for the message of rank 0 to this rank, and returns it; empty if MPI fails.
    pub fn dealt(&self) -> Vec<u8> {
        self.ask(Request::Take).and_then(|dealt| dealt.recv().ok()).unwrap_or_default()
    }

    /// Starts to carry tours. Every rank calls it once, after [`World::share`].
    pub fn begin(&self, voyage: Voyage) {
        let _ = self.requests.send(Request::Begin(Box::new(voyage)));
    }

    /// Ends the run that [`World::begin`] started, with its best tour. Rank 0 waits for the others and gets their results; after
    /// `patience`, if it is given, it waits only for a tour that it has requested. The others wait until rank 0 needs them no longer,
    /// and get `None`.
    pub fn end(&self, best: Option<Voyager>, ended: Ended, patience: Option<Duration>) -> Option<Gathered> {
        let best = best.map(Arc::new);
        self.ask(|reply| Request::End { best, ended, patience, reply })?.recv().ok()?
    }

    /// Leaves the other ranks, for good: no other method may be called afterwards. If rank 0 leaves before the end, all ranks end.
    pub fn leave(&self) {
        let Some(gone) = self.ask(Request::Leave) else { return };
        if self.rank() == 0 {
            let _ = gone.recv_timeout(GOING);
        } else {
            // The first rank to leave would end the others, too.
            let _ = gone.recv();
        }
    }
}
