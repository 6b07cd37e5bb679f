//! The thread that owns MPI: it carries tours between the posts of all ranks, and reports their lengths to rank 0.
//!
//! Every rank sends its better tours to its [neighbours](super::Topology), one at a time to each: a waiting tour is replaced by a
//! better one. Rank 0 gets only the length. It requests the tour itself if it is the best of all, every few seconds and at the end.
//! So few bytes travel far, and rank 0 always has a tour that is nearly the best. The messages of runs in lockstep are sent to all
//! at once, and in order.
//!
//! When a checkpoint is due, rank 0 tells the others, and their runs' answers go to its recorders.

use std::os::raw::c_int;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};
use std::thread::sleep;
use std::time::{Duration, Instant};

use mpi::collective::{CommunicatorCollectives, Root};
use mpi::datatype::Equivalence;
use mpi::ffi;
use mpi::point_to_point::{Destination, MatchedReceiveVec, Source};
use mpi::raw::AsRaw;
use mpi::topology::{Communicator, SimpleCommunicator};

use super::message::{News, Traffic, from_answer, from_voyager, to_answer, to_voyager};
use super::{Answer, Ended, Facts, Gathered, Ledger, Voyage};
use crate::engine::{Lockstep, Voyager};
use crate::solver::checkpoint::Recorder;

/// How often it checks for messages; the second applies while it is sending.
const LOOK: Duration = Duration::from_millis(1);
const BUSY: Duration = Duration::from_micros(100);
/// How long it stays awake while its run waits for others: with several ranks per machine, that takes a processor from them.
const AWAKE: Duration = Duration::from_millis(20);
/// How often rank 0 requests a better tour during the run.
const ASK_EVERY: Duration = Duration::from_secs(3);
/// How long after an interrupt rank 0 waits for the others, and then as long again for a tour that it requested: launchers often kill a
/// second later. At least the shorter time after its own run has ended.
const INTERRUPTED: Duration = Duration::from_millis(250);
const INTERRUPTED_LATE: Duration = Duration::from_millis(50);
/// How long rank 0 waits at the end for a tour it requested, and any rank for its last messages to be sent.
const LAST: Duration = Duration::from_secs(2);
/// Maximum number of bytes per broadcast: MPI counts with 31 bits.
const PART: usize = 1 << 30;

/// A request by the run of this rank.
pub(super) enum Request {
    /// Broadcasts the message that rank 0 gives, and replies with it.
    Share(Option<Vec<u8>>, Sender<Option<Vec<u8>>>),
    /// On rank 0: sends another rank its message.
    Deal(u32, Vec<u8>, Sender<()>),
    /// On the others: receives that message.
    Take(Sender<Vec<u8>>),
    /// Starts to carry tours.
    Begin(Box<Voyage>),
    /// The run is over. The reply comes once rank 0 has said good-bye; only rank 0 gets results.
    End {
        best: Option<Arc<Voyager>>,
        ended: Ended,
        /// How long rank 0 waits for the others from now on; `None`: until they end.
        patience: Option<Duration>,
        reply: Sender<Option<Gathered>>,
    },
    /// Ends the courier. The reply comes once MPI has ended.
    Leave(Sender<()>),
}

/// The place of a rank; see the methods of [`World`](super::World) with these names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub rank: u32,
    pub size: u32,
    /// Its number among the ranks of its machine.
    pub local: u32,
    /// Number of processors reserved for it.
    pub threads: u32,
}

/// The kind of a message, used as its tag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    /// A tour for the run.
    Tour,
    /// To rank 0: the status of a rank.
    News,
    /// From rank 0: a request for the best tour.
    Ask,
    /// That tour.
    Answer,
    /// From rank 0: end the run.
    Stop,
    /// From rank 0: no rank is needed any longer.
    Bye,
    /// The message of a run in lockstep to all others.
    Step,
    /// From rank 0: a checkpoint is due.
    Due,
    /// To rank 0: a part of a rank's answer to that.
    Saved,
    /// From rank 0: what a rank continues with.
    Deal,
}

const TAGS: [Tag; 10] = [
    Tag::Tour,
    Tag::News,
    Tag::Ask,
    Tag::Answer,
    Tag::Stop,
    Tag::Bye,
    Tag::Step,
    Tag::Due,
    Tag::Saved,
    Tag::Deal,
];

/// Starts MPI, tells the place of this rank, and serves requests until the process leaves. If MPI does not start, `ready` is dropped
/// unused.
pub(super) fn run(requests: &Receiver<Request>, ready: &Sender<Place>) {
    // This is MPI's main thread: no other thread calls MPI.
    let Some((universe, _)) = mpi::initialize_with_threading(mpi::Threading::Funneled) else { return };
    let world = universe.world();
    let place = place(&world);
    let mut courier = Courier::new(&world, place);
    if ready.send(place).is_err() {
        return;
    }
    let gone = courier.serve(requests);
    drop(courier);
    drop(world);
    // MPI ends here, for all ranks together.
    drop(universe);
    if let Some(gone) = gone {
        let _ = gone.send(());
    }
}

fn place(world: &SimpleCommunicator) -> Place {
    let neighbors = world.split_shared(world.rank());
    let own = processors();
    let mut all = vec![0u64; own.len() * neighbors.size() as usize];
    neighbors.all_gather_into(&own[..], &mut all[..]);
    let alike = all.chunks_exact(own.len()).filter(|other| **other == own).count();
    let named: u32 = own.iter().map(|word| word.count_ones()).sum();
    let free = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let free = if named == 0 { free } else { free.min(named) };
    Place {
        rank: world.rank() as u32,
        size: world.size() as u32,
        local: neighbors.rank() as u32,
        threads: (free / alike.max(1) as u32).max(1),
    }
}

/// Returns the processors that this process may run on, one bit each; no bits if the system does not report them.
fn processors() -> [u64; 16] {
    let mut words = [0u64; 16];
    #[cfg(target_os = "linux")]
    {
        // SAFETY: it writes at most this many bytes to the array, which has the size and alignment of the type.
        unsafe { nix::libc::sched_getaffinity(0, size_of_val(&words), words.as_mut_ptr().cast()) };
    }
    words
}

/// A message being sent. Its bytes do not move until it is done.
struct Outgoing {
    request: ffi::MPI_Request,
    bytes: Arc<Vec<u8>>,
}

impl Outgoing {
    fn send(world: &SimpleCommunicator, bytes: Arc<Vec<u8>>, to: u32, tag: Tag) -> Outgoing {
        // SAFETY: a null handle, which the call below fills in.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the message owns the bytes until `is_done`, they are not modified, and the communicator is that of all ranks.
        unsafe {
            ffi::MPI_Isend(
                bytes.as_ptr().cast(),
                bytes.len() as c_int,
                u8::equivalent_datatype().as_raw(),
                to as c_int,
                tag as c_int,
                world.as_raw(),
                &mut request,
            );
        }
        Outgoing { request, bytes }
    }

    fn is_done(&mut self) -> bool {
        let mut done = 0;
        // SAFETY: a request of `send`, or the null request that it becomes; the status is ignored.
        unsafe { ffi::MPI_Test(&mut self.request, &mut done, ffi::RSMPI_STATUS_IGNORE) };
        done != 0
    }

    /// Leaks a message that no one will receive: MPI may still read its bytes.
    fn abandon(self) {
        std::mem::forget(self.bytes);
    }
}

/// The connection to a neighbour, for one tour at a time.
struct Lane {
    to: u32,
    waiting: Option<Arc<Vec<u8>>>,
    sending: Option<Outgoing>,
}

/// The state at the end of the run.
struct Ending {
    ended: Ended,
    /// How long rank 0 waits for others.
    until: Option<Instant>,
    is_interrupted: bool,
    /// Whether rank 0 has been informed.
    is_told: bool,
    reply: Option<Sender<Option<Gathered>>>,
}

struct Courier<'w> {
    world: &'w SimpleCommunicator,
    place: Place,
    begun: Instant,
    /// Whether rank 0 has broadcast its orders: then it will also say good-bye.
    is_shared: bool,
    voyage: Option<Box<Voyage>>,
    lanes: Vec<Lane>,
    letters: Vec<Outgoing>,
    traffic: Traffic,
    /// The best tour of this rank; on rank 0, the best of all that it knows.
    best: Option<Arc<Voyager>>,
    /// The last status of each rank, on rank 0.
    told: Vec<News>,
    /// The rank that rank 0 has asked for a tour, and when it last asked.
    asked: Option<u32>,
    asked_at: Instant,
    /// Whether all ranks have been asked to stop, and have been sent good-bye.
    is_stopped: bool,
    is_bye: bool,
    /// When the interrupt was seen.
    interrupted: Option<Instant>,
    ending: Option<Ending>,
    /// When its run started to wait for others in lockstep.
    waits_since: Option<Instant>,
    /// On rank 0: how many checkpoints the others have been asked for, and what has arrived of each rank's answer.
    due: u64,
    saved: Vec<Vec<u8>>,
}

impl<'w> Courier<'w> {
    fn new(world: &'w SimpleCommunicator, place: Place) -> Courier<'w> {
        Courier {
            world,
            place,
            begun: Instant::now(),
            is_shared: false,
            voyage: None,
            lanes: Vec::new(),
            letters: Vec::new(),
            traffic: Traffic::default(),
            best: None,
            told: vec![News::default(); place.size as usize],
            asked: None,
            asked_at: Instant::now(),
            is_stopped: false,
            is_bye: false,
            interrupted: None,
            ending: None,
            waits_since: None,
            due: 0,
            saved: vec![Vec::new(); place.size as usize],
        }
    }

    fn is_first(&self) -> bool {
        self.place.rank == 0
    }

    /// Serves requests until the rank leaves; returns the sender to notify that it has left.
    fn serve(&mut self, requests: &Receiver<Request>) -> Option<Sender<()>> {
        loop {
            let is_idle = self.voyage.is_none() || self.is_bye;
            let request = if is_idle { Some(requests.recv().ok()?) } else { requests.try_recv().ok() };
            match request {
                Some(Request::Share(bytes, reply)) => {
                    let _ = reply.send(self.share(bytes));
                }
                Some(Request::Deal(to, bytes, reply)) => {
                    self.deal(to, &bytes);
                    let _ = reply.send(());
                }
                Some(Request::Take(reply)) => {
                    let _ = reply.send(self.dealt());
                }
                Some(Request::Begin(voyage)) => self.begin(voyage),
                Some(Request::End { best, ended, patience, reply }) => {
                    self.end(best, ended, patience.map(|patience| Instant::now() + patience));
                    self.ending.iter_mut().for_each(|ending| ending.reply = Some(reply.clone()));
                }
                Some(Request::Leave(gone)) => {
                    self.leave();
                    return Some(gone);
                }
                None => {}
            }
            if self.voyage.is_some() && !self.is_bye {
                self.look();
                self.pause();
            }
            if self.is_bye
                && let Some(reply) = self.ending.as_mut().and_then(|ending| ending.reply.take())
            {
                let _ = reply.send(self.gathered());
            }
        }
    }

    /// Waits before the next check. While its run waits for others, it does nothing else, so the courier stays awake for a while.
    fn pause(&mut self) {
        let is_sending = self.lanes.iter().any(|lane| lane.sending.is_some());
        let most = if is_sending { BUSY } else { LOOK };
        match self.voyage.as_ref().and_then(|voyage| voyage.post.lockstep()) {
            Some(lockstep) if lockstep.waits() => {
                if self.waits_since.get_or_insert_with(Instant::now).elapsed() < AWAKE {
                    std::thread::yield_now();
                } else {
                    sleep(BUSY);
                }
            }
            Some(lockstep) => {
                lockstep.await_load(most);
                self.waits_since = None;
            }
            None => sleep(most),
        }
    }

    fn lockstep(&self) -> Option<&Lockstep> {
        self.voyage.as_ref().and_then(|voyage| voyage.post.lockstep())
    }

    /// Broadcasts rank 0's bytes to all.
    fn share(&mut self, bytes: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let root = self.world.process_at_rank(0);
        let mut length = bytes.as_ref().map_or(u64::MAX, |bytes| bytes.len() as u64);
        root.broadcast_into(&mut length);
        if length == u64::MAX {
            return None;
        }
        self.is_shared = true;
        let mut bytes = bytes.unwrap_or_default();
        bytes.resize(length as usize, 0);
        bytes.chunks_mut(PART).for_each(|part| root.broadcast_into(part));
        Some(bytes)
    }

    /// Sends a rank its message: the length, then the bytes.
    fn deal(&self, to: u32, bytes: &[u8]) {
        let rank = self.world.process_at_rank(to as i32);
        rank.send_with_tag(&(bytes.len() as u64).to_le_bytes()[..], Tag::Deal as i32);
        bytes.chunks(PART).for_each(|part| rank.send_with_tag(part, Tag::Deal as i32));
    }

    /// Receives the message of this rank.
    fn dealt(&self) -> Vec<u8> {
        let root = self.world.process_at_rank(0);
        let mut length = [0; size_of::<u64>()];
        root.receive_into_with_tag(&mut length[..], Tag::Deal as i32);
        let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
        bytes.chunks_mut(PART).for_each(|part| _ = root.receive_into_with_tag(part, Tag::Deal as i32));
        bytes
    }

    fn begin(&mut self, voyage: Box<Voyage>) {
        self.begun = Instant::now();
        let neighbors = voyage.topology.neighbors(self.place.rank, self.place.size);
        let lane = |to| Lane { to, waiting: None, sending: None };
        self.lanes = neighbors.into_iter().map(lane).collect();
        self.voyage = Some(voyage);
    }

    fn post(&mut self, bytes: Vec<u8>, to: u32, tag: Tag) {
        self.post_shared(Arc::new(bytes), to, tag);
    }

    fn post_shared(&mut self, bytes: Arc<Vec<u8>>, to: u32, tag: Tag) {
        self.traffic.bytes_sent += bytes.len() as u64;
        self.letters.push(Outgoing::send(self.world, bytes, to, tag));
    }

    /// Sends the same empty message to all others.
    fn post_all(&mut self, tag: Tag) {
        (1..self.place.size).for_each(|to| self.post(Vec::new(), to, tag));
    }

    /// Does all pending work.
    fn look(&mut self) {
        self.receive();
        self.send_steps();
        self.letters.retain_mut(|letter| !letter.is_done());
        self.collect();
        self.send_tours();
        self.keep_ledger();
        self.heed();
        if self.is_first() {
            self.gather();
        } else {
            self.tell_end();
        }
    }

    fn receive(&mut self) {
        while let Some(found) = self.world.any_process().immediate_matched_probe() {
            let (bytes, status) = found.matched_receive_vec::<u8>();
            let from = status.source_rank() as u32;
            let Some(tag) = TAGS.into_iter().find(|&tag| tag as i32 == status.tag()) else { continue };
            match tag {
                Tag::Tour => self.deliver(&bytes),
                Tag::News if self.is_first() => {
                    if let Some(news) = News::of(&bytes) {
                        self.told[from as usize] = news;
                        if news.is_over {
                            // It may have failed before its run could answer.
                            self.record(from, Answer { part: None, is_last: true });
                        }
                    }
                }
                Tag::Answer if self.is_first() => self.take(&bytes, from),
                Tag::Ask => {
                    if let Some(best) = &self.best {
                        let bytes = from_voyager(best);
                        self.post(bytes, 0, Tag::Answer);
                    }
                }
                Tag::Stop => self.hurry(),
                Tag::Bye => {
                    self.is_bye = true;
                    self.hurry();
                }
                Tag::Step => {
                    if let Some(lockstep) = self.lockstep() {
                        lockstep.deliver(from, bytes);
                    }
                }
                Tag::Due => {
                    if let Some(Ledger::Sent { requested, .. }) = self.ledger() {
                        requested.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Tag::Saved if self.is_first() => self.save(from, &bytes),
                // A rank that leaves before it starts has no use for what it was dealt.
                Tag::News | Tag::Answer | Tag::Saved | Tag::Deal => {}
            }
        }
    }

    fn ledger(&mut self) -> Option<&mut Ledger> {
        self.voyage.as_mut()?.ledger.as_mut()
    }

    /// Asks the others for a checkpoint that is due, or sends rank 0 the answers of this rank's run.
    fn keep_ledger(&mut self) {
        match self.ledger() {
            Some(Ledger::Kept(recorders)) => {
                let requested = recorders.first().map_or(0, Recorder::requested);
                if requested > std::mem::replace(&mut self.due, requested) {
                    self.post_all(Tag::Due);
                }
            }
            Some(Ledger::Sent { answers, .. }) => {
                let answers: Vec<Vec<u8>> = answers.try_iter().map(|answer| from_answer(&answer)).collect();
                for part in answers.iter().flat_map(|bytes| bytes.chunks(PART)) {
                    self.post(part.to_vec(), 0, Tag::Saved);
                }
            }
            None => {}
        }
    }

    /// Takes a part of a rank's answer, and gives it to the rank's recorder once it is complete.
    fn save(&mut self, from: u32, bytes: &[u8]) {
        let saved = &mut self.saved[from as usize];
        saved.extend(bytes);
        let Some(answer) = to_answer(saved) else { return };
        saved.clear();
        saved.shrink_to_fit();
        self.record(from, answer);
    }

    /// Gives a rank's answer to its recorder.
    fn record(&mut self, from: u32, Answer { part, is_last }: Answer) {
        if let Some(Ledger::Kept(recorders)) = self.ledger()
            && let Some(recorder) = (from as usize).checked_sub(1).and_then(|at| recorders.get_mut(at))
        {
            recorder.answer(part, is_last);
        }
    }

    /// Delivers a neighbour's tour, which the run will check.
    fn deliver(&mut self, bytes: &[u8]) {
        if let (Some(voyage), Some(voyager)) = (&self.voyage, to_voyager(bytes)) {
            voyage.post.deliver(Arc::new(voyager));
            self.traffic.tours_received += 1;
        }
    }

    /// Returns whether a tour is valid and has the stated length: neither messages nor machines are trusted.
    fn is_right(&self, voyager: &Voyager) -> bool {
        let checked = self.voyage.as_ref().and_then(|voyage| voyage.instance.check_tour(&voyager.tour).ok());
        checked == Some(voyager.cost)
    }

    /// Processes a tour that rank 0 requested. A rank that sends an invalid tour is not asked again.
    fn take(&mut self, bytes: &[u8], from: u32) {
        self.asked = None;
        match to_voyager(bytes).filter(|voyager| self.is_right(voyager)) {
            Some(voyager) => self.keep(Arc::new(Voyager { from, ..voyager })),
            None => self.told[from as usize].best.cost = None,
        }
    }

    /// Keeps a tour if it is the best one; ties go to the lowest rank.
    fn keep(&mut self, voyager: Arc<Voyager>) {
        if self.best.as_ref().is_some_and(|best| (best.cost, best.from) <= (voyager.cost, voyager.from)) {
            return;
        }
        if let Some(better) = self.voyage.as_ref().and_then(|voyage| voyage.better.as_ref()) {
            let _ = better.send(voyager.clone());
        }
        self.best = Some(voyager);
    }

    fn tell(&mut self, is_over: bool) {
        let tours = self.ending.as_ref().map_or(0, |ending| ending.ended.tours);
        let best = Ended { cost: self.best.as_ref().map(|best| best.cost), tours };
        let news = News { best, is_over, traffic: self.traffic };
        if self.is_first() {
            self.told[0] = news;
        } else {
            self.post(news.to_bytes(), 0, Tag::News);
        }
    }

    /// Collects the tour that the run has left at the post.
    fn collect(&mut self) {
        let Some(voyage) = &self.voyage else { return };
        // While runs in lockstep wait for messages, there is no time to check tours; they are checked again at the end.
        let is_right = |voyager: &Arc<Voyager>| voyage.post.in_lockstep() || self.is_right(voyager);
        let Some(voyager) = voyage.post.collect().filter(is_right) else { return };
        if voyage.exchanges && self.ending.is_none() && !voyage.post.in_lockstep() {
            let bytes = Arc::new(from_voyager(&voyager));
            self.lanes.iter_mut().for_each(|lane| lane.waiting = Some(bytes.clone()));
        }
        self.keep(voyager);
        self.tell(false);
    }

    /// Sends the messages of the run in lockstep.
    fn send_steps(&mut self) {
        while let Some(told) = self.lockstep().and_then(Lockstep::collect) {
            self.send_step(&told);
        }
    }

    fn send_step(&mut self, told: &Arc<Vec<u8>>) {
        let Place { rank, size, .. } = self.place;
        let listens = |to: &u32| self.lockstep().is_none_or(|lockstep| lockstep.listens(*to));
        let others: Vec<u32> = (0..size).filter(|&to| to != rank).filter(listens).collect();
        others.into_iter().for_each(|to| self.post_shared(told.clone(), to, Tag::Step));
    }

    fn send_tours(&mut self) {
        for lane in &mut self.lanes {
            if lane.sending.as_mut().is_some_and(Outgoing::is_done) {
                lane.sending = None;
            }
            if lane.sending.is_none()
                && let Some(bytes) = lane.waiting.take()
            {
                self.traffic.tours_sent += 1;
                self.traffic.bytes_sent += bytes.len() as u64;
                lane.sending = Some(Outgoing::send(self.world, bytes, lane.to, Tag::Tour));
            }
        }
    }

    fn hurry(&self) {
        self.voyage.iter().for_each(|voyage| voyage.hurry.store(true, Ordering::Relaxed));
    }

    fn is_interrupted(&self) -> bool {
        self.voyage.as_ref().is_some_and(|voyage| voyage.interrupt.load(Ordering::Relaxed))
    }

    /// Returns the shortest tour length reported to rank 0, and the rank that reported it.
    fn shortest(&self) -> Option<(i64, u32)> {
        let told = self.told.iter().zip(0..).filter_map(|(news, rank)| Some((news.best.cost?, rank)));
        told.min()
    }

    /// Ends all ranks if rank 0 was interrupted or a rank has reached the target.
    fn heed(&mut self) {
        let target = self.voyage.as_ref().and_then(|voyage| voyage.target.filter(|_| voyage.exchanges));
        let reached = target.is_some_and(|target| self.shortest().is_some_and(|(cost, _)| cost <= target));
        if self.is_interrupted() {
            self.interrupted.get_or_insert_with(Instant::now);
            self.hurry();
        }
        if self.is_first() && !self.is_stopped && (self.is_interrupted() || reached) {
            self.is_stopped = true;
            self.hurry();
            self.post_all(Tag::Stop);
        }
    }

    fn end(&mut self, best: Option<Arc<Voyager>>, ended: Ended, until: Option<Instant>) {
        match self.lockstep() {
            Some(lockstep) => lockstep.leave(),
            // There was no run: make sure that no one waits for it.
            None => self.send_step(&Arc::default()),
        }
        self.ending = Some(Ending { ended, until, is_interrupted: false, is_told: false, reply: None });
        self.lanes.iter_mut().for_each(|lane| lane.waiting = None);
        best.into_iter().for_each(|best| self.keep(best));
    }

    /// Informs rank 0 that the run is over, once no tour of this rank is still being sent, so that its receivers are still there.
    fn tell_end(&mut self) {
        let is_quiet = self.lanes.iter().all(|lane| lane.sending.is_none());
        let is_told = self.ending.as_ref().is_none_or(|ending| ending.is_told);
        if is_quiet && !is_told {
            self.tell(true);
            self.ending.iter_mut().for_each(|ending| ending.is_told = true);
        }
    }

    /// On rank 0: requests the best tour, and says good-bye once it has it.
    fn gather(&mut self) {
        self.tell_end();
        let (now, interrupted) = (Instant::now(), self.interrupted);
        let best = self.best.as_ref().map_or((i64::MAX, 0), |best| (best.cost, best.from));
        // At the end it also matters which rank has it, so that a run by iterations is reproducible.
        let is_better = |(cost, rank)| cost < best.0 || self.ending.is_some() && (cost, rank) < best;
        let better = self.shortest().filter(|&told| told.1 > 0 && is_better(told));
        let is_hasty = self.ending.is_some() || self.is_stopped;
        if let Some((_, rank)) = better
            && self.asked.is_none()
            && (is_hasty || self.asked_at + ASK_EVERY <= now)
        {
            (self.asked, self.asked_at) = (Some(rank), now);
            self.post(Vec::new(), rank, Tag::Ask);
        }
        let Some(ending) = &mut self.ending else { return };
        if let Some(at) = interrupted.filter(|_| !ending.is_interrupted) {
            ending.is_interrupted = true;
            let soon = (at + INTERRUPTED).max(now + INTERRUPTED_LATE);
            ending.until = Some(ending.until.map_or(soon, |until| until.min(soon)));
        }
        let last = if interrupted.is_some() { INTERRUPTED } else { LAST };
        let is_late = ending.until.is_some_and(|until| until <= now);
        let is_too_late = ending.until.is_some_and(|until| until + last <= now);
        let are_over = self.told.iter().all(|news| news.is_over);
        if ((are_over || is_late) && better.is_none()) || is_too_late {
            self.say_bye();
        }
    }

    fn say_bye(&mut self) {
        self.post_all(Tag::Bye);
        self.is_bye = true;
        // The receiver is no longer interested: stop sending improvements.
        self.voyage.iter_mut().for_each(|voyage| voyage.better = None);
    }

    /// Returns what rank 0 has gathered from all ranks.
    fn gathered(&self) -> Option<Gathered> {
        let voyage = self.voyage.as_ref().filter(|_| self.is_first())?;
        let sum = |count: &dyn Fn(&News) -> u64| self.told.iter().map(count).sum::<u64>();
        let bytes_sent = sum(&|news| news.traffic.bytes_sent);
        let facts = Facts {
            ranks: self.place.size,
            lockstep: voyage.post.in_lockstep(),
            topology: voyage.topology,
            best_rank: self.best.as_ref().map_or(0, |best| best.from),
            tours_sent: sum(&|news| news.traffic.tours_sent),
            tours_received: sum(&|news| news.traffic.tours_received),
            bytes_sent,
            bytes_per_second: bytes_sent as f64 / self.begun.elapsed().as_secs_f64().max(1e-9),
            lost: self.told.iter().filter(|news| !news.is_over || news.best.cost.is_none()).count() as u32,
        };
        Some(Gathered { best: self.best.clone(), tours: sum(&|news| news.best.tours), facts })
    }

    /// Leaves: rank 0 ends all ranks that have not ended; the others wait for its good-bye.
    fn leave(&mut self) {
        if self.is_shared && !self.is_bye {
            if self.is_first() {
                self.post_all(Tag::Stop);
                self.say_bye();
            } else {
                self.end(None, Ended::default(), None);
                while !self.is_bye {
                    self.look();
                    sleep(LOOK);
                }
            }
        }
        let begun = Instant::now();
        let mut letters = std::mem::take(&mut self.letters);
        letters.extend(self.lanes.drain(..).filter_map(|lane| lane.sending));
        while !letters.is_empty() && begun.elapsed() < LAST {
            letters.retain_mut(|letter| !letter.is_done());
            sleep(BUSY);
        }
        letters.into_iter().for_each(Outgoing::abandon);
    }
}
