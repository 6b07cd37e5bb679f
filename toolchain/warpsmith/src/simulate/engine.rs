//! Runs a launch on fibers of one thread of the operating system.
//!
//! A worker is a fiber that runs a thread of the block to its end, then the next one. Where a thread has to wait, its worker suspends and
//! another worker goes on. So a kernel without barriers runs on one worker, without a switch, and the order is always the engine's:
//! in turn, or shuffled by a seed. Workers are kept from block to block.

use core::fmt;
use core::panic::Location;
use std::boxed::Box;
use std::cell::{RefCell, RefMut};
use std::collections::{HashMap, VecDeque};
use std::format;
use std::panic::resume_unwind;
use std::ptr;
use std::string::{String, ToString};
use std::sync::atomic::{AtomicU64, Ordering};
use std::vec::Vec;

use super::fiber::{Fiber, Turn};
use super::memory::Memory;
use super::panics::{self, Panic, SourcePlace};
use super::{CURRENT, Current};

/// An extent or a position in three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl Dim {
    pub fn count(self) -> u64 {
        self.x as u64 * self.y as u64 * self.z as u64
    }

    /// Returns the position with this number, x running fastest.
    pub fn at(self, number: u64) -> Dim {
        let (x, y) = (self.x as u64, self.y as u64);
        Dim { x: (number % x) as u32, y: (number / x % y) as u32, z: (number / x / y) as u32 }
    }
}

/// The order in which threads and blocks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In turn.
    Ascending,
    /// Shuffled, by a seed.
    Shuffled(u64),
}

/// What to run.
pub struct Job<'a> {
    pub blocks: Dim,
    pub threads: Dim,
    /// The blocks of a cluster; they divide those of the launch.
    pub cluster: Dim,
    pub dynamic_bytes: usize,
    /// Whether all blocks run together.
    pub is_cooperative: bool,
    pub order: Order,
    pub body: &'a dyn Fn(),
}

/// Why a launch failed.
#[derive(Clone, Debug)]
pub struct Failure {
    pub message: String,
    pub place: Option<SourcePlace>,
    /// Block and thread.
    pub position: Option<(Dim, Dim)>,
}

/// What threads meet for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Barrier,
    /// A barrier of the block with a number of its own, for as many warps.
    Warps {
        id: u32,
        warps: u32,
    },
    Cluster,
    Grid,
    /// An operation of these lanes.
    Warp(u32),
}

impl Kind {
    /// Names the threads among which it is.
    fn scope(self) -> &'static str {
        match self {
            Kind::Barrier | Kind::Warps { .. } => "block",
            Kind::Cluster => "cluster",
            Kind::Grid => "grid",
            Kind::Warp(_) => "warp",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Barrier => f.write_str("the barrier"),
            Kind::Warps { id, warps } => write!(f, "barrier {id} for {warps} warps"),
            Kind::Cluster => f.write_str("the barrier of the cluster"),
            Kind::Grid => f.write_str("the barrier of the grid"),
            Kind::Warp(_) => f.write_str("the operation of the warp"),
        }
    }
}

type Place = &'static Location<'static>;

/// Threads that wait for each other.
struct Meeting {
    kind: Kind,
    /// The block at hand, or the cluster, and the warp in it; 0 where the kind is about more than those.
    block: u32,
    warp: u32,
    place: Place,
    arrived: Vec<u32>,
    values: [u64; 32],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Unstarted,
    /// Waiting, or about to go on, on this worker.
    Started(u32),
    Ended,
}

struct Thread {
    phase: Phase,
    result: [u64; 32],
}

struct Worker {
    /// Where its fiber suspends; null until it has run.
    turn: *const Turn,
    /// The thread to start.
    task: Option<u32>,
}

/// A block at hand.
pub(super) struct Block {
    position: Dim,
    /// By place in the source, size, and whether it is kept.
    pub shared: HashMap<(usize, usize, bool), Memory>,
    shared_bytes: usize,
    pub dynamic: Memory,
}

pub(super) struct State {
    threads: Vec<Thread>,
    pub blocks: Vec<Block>,
    /// The threads that can run.
    ready: VecDeque<u32>,
    workers: Vec<Worker>,
    idle: Vec<u32>,
    /// The worker whose turn is next; none once the launch is over.
    turn: Option<u32>,
    meetings: Vec<Meeting>,
    /// Threads at hand that have not ended.
    live: u32,
    /// Clusters that have been started.
    started_clusters: u64,
    shuffled_clusters: Vec<u64>,
    random: u64,
    /// What threads have spent on letting others run, since one of them got further.
    waiting: u64,
    failure: Option<Failure>,
}

pub struct Engine<'a> {
    pub(super) blocks: Dim,
    threads: Dim,
    pub(super) cluster: Dim,
    dynamic_bytes: usize,
    is_cooperative: bool,
    order: Order,
    body: &'a dyn Fn(),
    /// Never borrowed while a kernel's code runs, or while a fiber is suspended.
    pub(super) state: RefCell<State>,
}

/// How much waiting without progress is taken for a loop that never ends; a second or more. The unit is an atomic access.
const LONG: u64 = 100_000_000;
/// What a switch of threads costs in these units.
const SWITCH: u64 = 16;
/// What a call of `thread::pause` costs in these units.
pub const PAUSE: u64 = 8;
/// The most static shared memory that a block may have, as on all devices.
const STATIC_BYTES: usize = 48 << 10;

/// The number of the next call of a kernel.
static CALLS: AtomicU64 = AtomicU64::new(super::ANYONE + 1);

/// What unwinds a thread whose launch has failed elsewhere.
struct Abandoned;

/// What a host thread was in before a launch, which it is in again after it.
struct Outside(Current);

impl Drop for Outside {
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(&self.0));
    }
}

/// Runs a job to its end.
pub fn run(job: &Job<'_>) -> Result<(), Failure> {
    panics::catch_places();
    let mut random = match job.order {
        Order::Ascending => 0,
        Order::Shuffled(seed) => seed,
    };
    let mut shuffled_clusters = Vec::new();
    if job.order != Order::Ascending && !job.is_cooperative {
        shuffled_clusters = (0..job.blocks.count() / job.cluster.count()).collect();
        for i in (1..shuffled_clusters.len()).rev() {
            shuffled_clusters.swap(i, next(&mut random) as usize % (i + 1));
        }
    }
    let engine = Engine {
        blocks: job.blocks,
        threads: job.threads,
        cluster: job.cluster,
        dynamic_bytes: job.dynamic_bytes,
        is_cooperative: job.is_cooperative,
        order: job.order,
        body: job.body,
        state: RefCell::new(State {
            threads: Vec::new(),
            blocks: Vec::new(),
            ready: VecDeque::new(),
            workers: Vec::new(),
            idle: Vec::new(),
            turn: None,
            meetings: Vec::new(),
            live: 0,
            started_clusters: 0,
            shuffled_clusters,
            random,
            waiting: 0,
            failure: None,
        }),
    };
    // A kernel may launch another.
    let _outside = Outside(CURRENT.with(Current::clone));
    engine.give_turns();
    engine.state.into_inner().failure.map_or(Ok(()), Err)
}

/// A generator by Steele, Lea and Flood: SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl Engine<'_> {
    pub fn is_shuffled(&self) -> bool {
        self.order != Order::Ascending
    }

    /// Returns the block's threads, as the number of a slot is made of them.
    pub(super) fn block_size(&self) -> u32 {
        self.threads.count() as u32
    }

    /// Prepares the blocks of the next cluster, or all of a cooperative launch. Returns false if none is left.
    fn start_blocks(&self, state: &mut State) -> bool {
        let total = self.clusters();
        if state.started_clusters == total {
            return false;
        }
        let at_once = if self.is_cooperative { total } else { 1 };
        state.blocks.clear();
        for i in state.started_clusters..state.started_clusters + at_once {
            let number = state.shuffled_clusters.get(i as usize).copied().unwrap_or(i);
            state.blocks.extend(self.blocks_of(number).map(|position| Block {
                position,
                shared: HashMap::new(),
                shared_bytes: 0,
                dynamic: Memory::new(self.dynamic_bytes, 16, false),
            }));
        }
        state.started_clusters += at_once;
        let threads = at_once as u32 * self.cluster_size() * self.block_size();
        state.threads.clear();
        state.threads.resize_with(threads as usize, || Thread { phase: Phase::Unstarted, result: [0; 32] });
        state.live = threads;
        state.ready.clear();
        state.ready.extend(0..threads);
        true
    }

    /// Takes the thread that runs next.
    fn pick(&self, state: &mut State) -> Option<u32> {
        if self.is_shuffled() && state.ready.len() > 1 {
            let i = next(&mut state.random) as usize % state.ready.len();
            return state.ready.swap_remove_back(i);
        }
        state.ready.pop_front()
    }

    /// Gives fibers their turns until the launch is over and all of them have ended.
    fn give_turns(&self) {
        let mut fibers: Vec<Fiber<'_>> = Vec::new();
        let mut state = self.state.borrow_mut();
        if self.start_blocks(&mut state)
            && let Some(first) = self.pick(&mut state)
        {
            self.hand_over(&mut state, first);
        }
        drop(state);
        loop {
            let mut state = self.state.borrow_mut();
            let Some(worker) = state.turn.take() else { break };
            if worker as usize == fibers.len() {
                match Fiber::new(move |turn| self.work(worker, turn)) {
                    Ok(fiber) => fibers.push(fiber),
                    Err(error) => {
                        let message = format!(
                            "the system gave no stack for one more of the block's threads ({error}): use smaller blocks on the CPU"
                        );
                        self.fail(&mut state, Failure { message, place: None, position: None });
                        break;
                    }
                }
            }
            drop(state);
            fibers[worker as usize].resume();
        }
        // One after the other: what still waits unwinds after a failure, and what is idle ends.
        fibers.iter_mut().for_each(Fiber::finish);
    }

    /// Runs threads of the block, each to its end, until the launch is over.
    fn work(&self, worker: u32, turn: &Turn) {
        self.state.borrow_mut().workers[worker as usize].turn = turn;
        loop {
            // Without a task the launch is over.
            let Some(mut slot) = self.state.borrow_mut().workers[worker as usize].task.take() else { return };
            loop {
                let ended = self.run_thread(worker, slot);
                let Some(next) = self.after(worker, slot, ended) else { break };
                slot = next;
            }
            turn.suspend();
        }
    }

    /// Notes that a thread has ended, and returns the next if it can be started on the same worker. Otherwise another worker has the
    /// next turn, or the launch is over.
    fn after(&self, worker: u32, slot: u32, ended: Result<(), Failure>) -> Option<u32> {
        let mut state = self.state.borrow_mut();
        state.threads[slot as usize].phase = Phase::Ended;
        state.live -= 1;
        state.waiting = 0;
        if let Err(failure) = ended {
            self.fail(&mut state, failure);
        }
        if state.failure.is_some() || state.live == 0 && !self.start_blocks(&mut state) {
            return None;
        }
        let Some(next) = self.pick(&mut state) else {
            let failure = self.explain(&state);
            self.fail(&mut state, failure);
            return None;
        };
        if state.threads[next as usize].phase == Phase::Unstarted {
            return Some(next);
        }
        state.idle.push(worker);
        self.hand_over(&mut state, next);
        None
    }

    /// Ends the launch: nobody gets another turn, except to unwind.
    fn fail(&self, state: &mut State, failure: Failure) {
        state.failure.get_or_insert(failure);
        state.turn = None;
    }

    /// Gives the next turn to the worker of a thread, or to any worker if the thread has not started.
    fn hand_over(&self, state: &mut State, slot: u32) {
        let worker = match state.threads[slot as usize].phase {
            Phase::Started(worker) => worker,
            _ => {
                let worker = state.idle.pop().unwrap_or(state.workers.len() as u32);
                if worker as usize == state.workers.len() {
                    state.workers.push(Worker { turn: ptr::null(), task: None });
                }
                state.workers[worker as usize].task = Some(slot);
                worker
            }
        };
        state.turn = Some(worker);
    }

    /// Calls the kernel as one thread.
    fn run_thread(&self, worker: u32, slot: u32) -> Result<(), Failure> {
        let mut state = self.state.borrow_mut();
        state.threads[slot as usize].phase = Phase::Started(worker);
        let (block, thread) = self.position(&state, slot);
        drop(state);
        CURRENT.with(|current| {
            // The pointer is used while the engine runs a thread, and so while it is borrowed here.
            current.engine.set(ptr::from_ref(self).cast());
            current.slot.set(slot);
            current.thread.set(thread);
            current.block.set(block);
            current.threads.set(self.threads);
            current.blocks.set(self.blocks);
            current.ticks.set(match self.order {
                Order::Ascending => 0,
                Order::Shuffled(seed) => next(&mut (seed ^ (slot as u64) << 32 | block.x as u64)) as u32,
            });
            current.idle.set(0);
            current.owner.set(CALLS.fetch_add(1, Ordering::Relaxed));
            current.was_panicking.set(std::thread::panicking());
        });
        match panics::catch(self.body) {
            Ok(()) => Ok(()),
            Err(payload) if payload.is::<Abandoned>() => Ok(()),
            Err(payload) => {
                let Panic { text, place } = panics::describe(&*payload);
                let message = format!("the kernel panicked: {text}");
                Err(Failure { message, place, position: Some((block, thread)) })
            }
        }
    }

    /// Waits until a thread may go on, after another was picked.
    fn yield_to(&self, mut state: RefMut<'_, State>, slot: u32, next: u32) {
        self.hand_over(&mut state, next);
        let Phase::Started(worker) = state.threads[slot as usize].phase else { return };
        let turn = state.workers[worker as usize].turn;
        drop(state);
        let own = CURRENT.with(Current::clone);
        // SAFETY: `work` has stored it and is still on this fiber's stack.
        unsafe { &*turn }.suspend();
        CURRENT.with(|current| current.set(&own));
        if self.state.borrow().failure.is_some() {
            resume_unwind(Box::new(Abandoned));
        }
    }

    /// Fails the launch and leaves the kernel.
    fn leave(&self, mut state: RefMut<'_, State>, failure: Failure) -> ! {
        self.fail(&mut state, failure);
        drop(state);
        resume_unwind(Box::new(Abandoned));
    }

    /// Returns the lanes that the warp of a thread has.
    pub fn lanes(&self, slot: u32) -> u32 {
        let own = slot % self.block_size();
        let there = self.block_size() - own / 32 * 32;
        if there >= 32 { u32::MAX } else { (1 << there) - 1 }
    }

    /// Waits for the others, and returns their values: for a barrier their sum in the first place, for a warp one for each lane.
    pub fn meet(&self, slot: u32, kind: Kind, place: Place, value: u64) -> [u64; 32] {
        let mut state = self.state.borrow_mut();
        let (block, own) = (slot / self.block_size(), slot % self.block_size());
        let lane = own % 32;
        let (block, warp, expected) = match kind {
            Kind::Barrier => (block, 0, self.block_size()),
            Kind::Warps { warps, .. } => (block, 0, warps * 32),
            Kind::Cluster => {
                let size = self.cluster_size();
                (block / size, 0, size * self.block_size())
            }
            Kind::Grid => (0, 0, state.threads.len() as u32),
            Kind::Warp(mask) => (block, own / 32, (mask & self.lanes(slot)).count_ones()),
        };
        if kind == Kind::Grid && !self.is_cooperative {
            let message =
                "grid::sync() in a launch that is not cooperative: use Grid::cooperative()".to_string();
            let failure = self.failure_of(&state, slot, message, place);
            self.leave(state, failure);
        }
        if matches!(kind, Kind::Warp(mask) if mask >> lane & 1 == 0) {
            let message =
                format!("lane {lane} takes part in an operation of a warp whose mask does not name it");
            let failure = self.failure_of(&state, slot, message, place);
            self.leave(state, failure);
        }
        let is_same = |of: Kind| match (of, kind) {
            (Kind::Warps { id, .. }, Kind::Warps { id: own, .. }) => id == own,
            _ => of == kind,
        };
        let is_ours = |m: &Meeting| is_same(m.kind) && m.block == block && m.warp == warp;
        let at = state.meetings.iter().position(is_ours).unwrap_or_else(|| {
            let arrived = Vec::with_capacity(expected as usize);
            state.meetings.push(Meeting { kind, block, warp, place, arrived, values: [0; 32] });
            state.meetings.len() - 1
        });
        let meeting = &mut state.meetings[at];
        if meeting.kind != kind {
            let message = format!(
                "{} waits at {kind}, which is {} at {}",
                self.name(slot),
                meeting.kind,
                meeting.place
            );
            let failure = self.failure_of(&state, slot, message, place);
            self.leave(state, failure);
        }
        // Warps may meet at different places: one makes what another waits for.
        if meeting.place != place && !matches!(kind, Kind::Warps { .. }) {
            let message = format!(
                "threads of a {} wait at different places: {} here, {} at {}",
                kind.scope(),
                self.name(slot),
                self.names(&meeting.arrived),
                meeting.place,
            );
            let failure = self.failure_of(&state, slot, message, place);
            self.leave(state, failure);
        }
        meeting.arrived.push(slot);
        match kind {
            Kind::Warp(_) => meeting.values[lane as usize] = value,
            _ => meeting.values[0] += value,
        }
        let is_complete = match kind {
            Kind::Warps { warps, .. } => {
                meeting.arrived.len() as u32 >= warps && self.whole_warps(&meeting.arrived).0 == warps
            }
            _ => meeting.arrived.len() as u32 == expected,
        };
        if is_complete {
            let mut meeting = state.meetings.swap_remove(at);
            if let Kind::Warps { .. } = kind {
                let (_, others) = self.whole_warps(&meeting.arrived);
                if !others.is_empty() {
                    meeting.arrived.retain(|slot| !others.contains(slot));
                    let values = [0; 32];
                    state.meetings.push(Meeting { kind, block, warp, place, arrived: others, values });
                }
            }
            for &other in &meeting.arrived {
                let result = &mut state.threads[other as usize].result;
                match kind {
                    Kind::Warp(_) => *result = meeting.values,
                    _ => result[0] = meeting.values[0],
                }
                state.ready.push_back(other);
            }
            state.waiting = 0;
        }
        let Some(next) = self.pick(&mut state) else {
            let failure = self.explain(&state);
            self.leave(state, failure);
        };
        if next != slot {
            self.yield_to(state, slot, next);
            state = self.state.borrow_mut();
        }
        state.threads[slot as usize].result
    }

    /// Returns the number of warps of which all threads are among these, and the threads of other warps.
    fn whole_warps(&self, slots: &[u32]) -> (u32, Vec<u32>) {
        let warp_of = |slot: u32| slot % self.block_size() / 32;
        let mut counts = [0; 32];
        slots.iter().for_each(|&slot| counts[warp_of(slot) as usize] += 1);
        let is_whole = |slot: &u32| counts[warp_of(*slot) as usize] == self.lanes(*slot).count_ones();
        let others: Vec<u32> = slots.iter().copied().filter(|slot| !is_whole(slot)).collect();
        let mut whole: Vec<u32> =
            slots.iter().filter(|slot| is_whole(slot)).map(|&slot| warp_of(slot)).collect();
        whole.sort_unstable();
        whole.dedup();
        (whole.len() as u32, others)
    }

    /// Lets others run. `idle` is what the thread has spent on waiting since it did so last.
    pub fn pause(&self, slot: u32, idle: u64) {
        let mut state = self.state.borrow_mut();
        state.ready.push_back(slot);
        let next = self.pick(&mut state).unwrap_or(slot);
        state.waiting += if next == slot { idle.max(1) } else { SWITCH };
        if state.waiting > LONG {
            let (block, thread) = self.position(&state, slot);
            let message = "threads wait in loops for what no thread of the block changes: a lock that is never released, or \
                           a value from a block that has not started"
                .to_string();
            self.leave(state, Failure { message, place: None, position: Some((block, thread)) });
        }
        if next != slot {
            self.yield_to(state, slot, next);
        }
    }

    /// Reports a shuffle that reads a lane which does not take part.
    pub fn reads_outside(&self, slot: u32, from: u32, mask: u32, place: Place) {
        let state = self.state.borrow_mut();
        let lane = slot % self.block_size() % 32;
        let message = format!(
            "lane {lane} takes the value of lane {from}, which is not among the lanes {mask:#010x} of the shuffle"
        );
        let failure = self.failure_of(&state, slot, message, place);
        self.leave(state, failure);
    }

    /// Returns the memory of a place in the source.
    pub fn shared(
        &self,
        slot: u32,
        site: *const u8,
        (bytes, align, is_kept): (usize, usize, bool),
        place: Place,
        is_unwinding: bool,
    ) -> *mut u8 {
        let mut state = self.state.borrow_mut();
        let block = &mut state.blocks[(slot / self.block_size()) as usize];
        let key = (site.addr(), bytes, is_kept);
        if let Some(memory) = block.shared.get(&key) {
            return memory.start();
        }
        block.shared_bytes += bytes;
        if block.shared_bytes > STATIC_BYTES && !is_unwinding {
            let message = format!(
                "the arrays of `shared!` take {} bytes, and a block has {STATIC_BYTES} for them: use dynamic shared memory \
                 (Shared::dynamic and Grid::shared_bytes) for more",
                block.shared_bytes
            );
            let failure = self.failure_of(&state, slot, message, place);
            self.leave(state, failure);
        }
        let memory = block.shared.entry(key).or_insert_with(|| Memory::new(bytes, align.max(16), is_kept));
        memory.start()
    }

    /// Returns the dynamic shared memory and its size.
    pub fn dynamic_shared(&self, slot: u32) -> (*mut u8, usize) {
        let state = self.state.borrow();
        (state.blocks[(slot / self.block_size()) as usize].dynamic.start(), self.dynamic_bytes)
    }

    fn position(&self, state: &State, slot: u32) -> (Dim, Dim) {
        let block = state.blocks[(slot / self.block_size()) as usize].position;
        (block, self.threads.at((slot % self.block_size()) as u64))
    }

    fn failure_of(&self, state: &State, slot: u32, message: String, place: Place) -> Failure {
        let place = Some((place.file().to_string(), place.line(), place.column()));
        Failure { message, place, position: Some(self.position(state, slot)) }
    }

    fn name(&self, slot: u32) -> String {
        format!("thread {}", slot % self.block_size())
    }

    /// Names some of the threads.
    fn names(&self, slots: &[u32]) -> String {
        let mut slots: Vec<u32> = slots.iter().map(|slot| slot % self.block_size()).collect();
        slots.sort_unstable();
        match slots[..] {
            [] => "no thread".to_string(),
            [one] => format!("thread {one}"),
            [first, .., last] if (last - first) as usize == slots.len() - 1 => {
                format!("threads {first} to {last}")
            }
            [first, second, ..] => format!("{} threads ({first}, {second}, ..)", slots.len()),
        }
    }

    /// Says what the threads wait for, when none can run.
    fn explain(&self, state: &State) -> Failure {
        let Some(meeting) = state.meetings.first() else {
            let message = "no thread of the block can run".to_string();
            return Failure { message, place: None, position: None };
        };
        if let Kind::Warps { .. } = meeting.kind {
            let message = format!(
                "not as many warps reach {} as it is for: only {} {} there",
                meeting.kind,
                self.names(&meeting.arrived),
                wait(&meeting.arrived)
            );
            return self.failure_of(state, meeting.arrived[0], message, meeting.place);
        }
        let in_block = |slot: &u32| match meeting.kind {
            Kind::Grid => true,
            Kind::Cluster => slot / self.block_size() / self.cluster_size() == meeting.block,
            _ => slot / self.block_size() == meeting.block,
        };
        let missing: Vec<u32> = (0..state.threads.len() as u32)
            .filter(in_block)
            .filter(|slot| !meeting.arrived.contains(slot))
            .filter(|slot| match meeting.kind {
                Kind::Warp(mask) => {
                    let own = slot % self.block_size();
                    own / 32 == meeting.warp && mask >> (own % 32) & 1 != 0
                }
                _ => true,
            })
            .collect();
        let (ended, waiting): (Vec<u32>, Vec<u32>) =
            missing.iter().partition(|&&slot| state.threads[slot as usize].phase == Phase::Ended);
        let what = meeting.kind;
        let mut why = Vec::new();
        if !ended.is_empty() {
            why.push(format!("{} ended without reaching it", self.names(&ended)));
        }
        if !waiting.is_empty() {
            let there = state.meetings.iter().find(|m| m.arrived.contains(&waiting[0]));
            let there = there.map_or(String::new(), |m| format!(" at {}", m.place));
            why.push(format!("{} {} for something else{there}", self.names(&waiting), wait(&waiting)));
        }
        let message = format!(
            "not all threads reach {what}: {} {} there, {}",
            self.names(&meeting.arrived),
            wait(&meeting.arrived),
            why.join(", ")
        );
        self.failure_of(state, meeting.arrived[0], message, meeting.place)
    }
}

/// Returns the verb for these threads.
fn wait(threads: &[u32]) -> &'static str {
    if threads.len() == 1 { "waits" } else { "wait" }
}
