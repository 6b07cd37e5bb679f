//! Runs a launch on threads of the operating system, one at a time.
//!
//! A worker runs a thread of the block to its end, then the next one. Where a thread has to wait, its worker sleeps and another
//! worker goes on. So a kernel without barriers runs on one worker, without a switch, and the order is always the engine's:
//! in turn, or shuffled by a seed. Workers are kept from block to block.

use core::fmt;
use core::panic::Location;
use std::any::Any;
use std::boxed::Box;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::format;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::string::{String, ToString};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread::JoinHandle;
use std::vec;
use std::vec::Vec;

use super::CURRENT;
use super::memory::Memory;

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

/// File, line and column.
type SourcePlace = (String, u32, u32);

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
    /// Waiting, or to go on, on this worker.
    Started(u32),
    Ended,
}

struct Thread {
    phase: Phase,
    result: [u64; 32],
}

struct Worker {
    wake: Arc<Condvar>,
    /// The thread to run or to go on with.
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
    joins: Vec<JoinHandle<()>>,
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
    /// Whether a thread runs its destructors after a failure: one at a time, as the threads themselves.
    is_unwinding: bool,
    is_over: bool,
}

pub struct Engine {
    pub(super) blocks: Dim,
    threads: Dim,
    pub(super) cluster: Dim,
    dynamic_bytes: usize,
    is_cooperative: bool,
    order: Order,
    /// The job's body: it outlives the engine, as `run` waits for all workers.
    body: *const dyn Fn(),
    state: Mutex<State>,
}

// SAFETY: the state is behind a mutex; the body is called by one worker at a time, each after the one before has unlocked it.
unsafe impl Send for Engine {}
// SAFETY: as above.
unsafe impl Sync for Engine {}

/// How much waiting without progress is taken for a loop that never ends; some seconds. The unit is an atomic access.
const LONG: u64 = 300_000_000;
/// What a switch of threads costs in these units.
const SWITCH: u64 = 150;
/// What a call of `thread::pause` costs in these units.
pub const PAUSE: u64 = 8;
/// The most static shared memory that a block may have, as on all devices.
const STATIC_BYTES: usize = 48 << 10;
/// Stack of a worker.
const STACK: usize = 1 << 20;

/// The number of the next call of a kernel.
static CALLS: AtomicU64 = AtomicU64::new(super::ANYONE + 1);

/// What unwinds a thread whose launch has failed elsewhere.
struct Abandoned;

thread_local! {
    /// Whether this thread runs a kernel, so that a panic is the launch's error and not printed.
    static IS_IN_KERNEL: Cell<bool> = const { Cell::new(false) };
    /// The text and the place of the last one.
    static PANIC: RefCell<Option<(String, SourcePlace)>> = const { RefCell::new(None) };
}

/// Makes panics of kernels known to their launch, with their place, which no payload has.
fn catch_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IS_IN_KERNEL.get() {
                return before(info);
            }
            let place = info.location().map_or((String::new(), 0, 0), |place| {
                (place.file().to_string(), place.line(), place.column())
            });
            PANIC.set(Some((text(info.payload()), place)));
        }));
    });
}

fn text(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return text.to_string();
    }
    payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic without text".to_string())
}

/// Runs a job to its end.
pub fn run(job: &Job<'_>) -> Result<(), Failure> {
    catch_places();
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
    let body: *const (dyn Fn() + '_) = job.body;
    // SAFETY: only the lifetime changes. `work` returns and all workers are joined before this function returns.
    let body: *const dyn Fn() = unsafe { core::mem::transmute(body) };
    let engine = Arc::new(Engine {
        blocks: job.blocks,
        threads: job.threads,
        cluster: job.cluster,
        dynamic_bytes: job.dynamic_bytes,
        is_cooperative: job.is_cooperative,
        order: job.order,
        body,
        state: Mutex::new(State {
            threads: Vec::new(),
            blocks: Vec::new(),
            ready: VecDeque::new(),
            workers: vec![Worker { wake: Arc::default(), task: None }],
            idle: Vec::new(),
            joins: Vec::new(),
            meetings: Vec::new(),
            live: 0,
            started_clusters: 0,
            shuffled_clusters,
            random,
            waiting: 0,
            failure: None,
            is_unwinding: false,
            is_over: false,
        }),
    });
    let mut state = engine.lock();
    if engine.start_blocks(&mut state) {
        let first = engine.pick(&mut state);
        state.workers[0].task = first;
        drop(state);
        engine.work(0);
    } else {
        drop(state);
    }
    loop {
        let joins = core::mem::take(&mut engine.lock().joins);
        if joins.is_empty() {
            break;
        }
        for join in joins {
            // A worker catches what its threads panic with.
            let _ = join.join();
        }
    }
    let failure = engine.lock().failure.take();
    failure.map_or(Ok(()), Err)
}

/// A generator by Steele, Lea and Flood: SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl Engine {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

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

    /// Runs threads until the launch is over.
    fn work(self: &Arc<Self>, worker: u32) {
        let mut state = self.lock();
        loop {
            let Some((guard, mut slot)) = self.wait_for_task(state, worker) else { return };
            state = guard;
            loop {
                let block = state.blocks[(slot / self.block_size()) as usize].position;
                state.threads[slot as usize].phase = Phase::Started(worker);
                drop(state);
                let ended = self.run_thread(slot, block);
                state = self.lock();
                state.threads[slot as usize].phase = Phase::Ended;
                state.live -= 1;
                state.waiting = 0;
                state.is_unwinding = false;
                if let Err(failure) = ended {
                    self.fail(&mut state, failure);
                    return;
                }
                if state.failure.is_some() {
                    self.end(&mut state);
                    return;
                }
                if state.live == 0 && !self.start_blocks(&mut state) {
                    self.end(&mut state);
                    return;
                }
                let Some(next) = self.pick(&mut state) else {
                    let failure = self.explain(&state);
                    self.fail(&mut state, failure);
                    return;
                };
                if state.threads[next as usize].phase == Phase::Unstarted {
                    slot = next;
                    continue;
                }
                state.idle.push(worker);
                self.hand_over(&mut state, next);
                break;
            }
        }
    }

    /// Sleeps until the worker has something to do; returns `None` once the launch is over.
    fn wait_for_task<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        worker: u32,
    ) -> Option<(MutexGuard<'a, State>, u32)> {
        let wake = state.workers[worker as usize].wake.clone();
        loop {
            if state.is_over || state.failure.is_some() {
                return None;
            }
            if let Some(slot) = state.workers[worker as usize].task.take() {
                return Some((state, slot));
            }
            state = wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn end(&self, state: &mut State) {
        state.is_over = true;
        state.workers.iter().for_each(|worker| worker.wake.notify_all());
    }

    fn fail(&self, state: &mut State, failure: Failure) {
        state.failure.get_or_insert(failure);
        self.end(state);
    }

    /// Lets the worker of a thread go on with it, or any worker start it.
    fn hand_over(self: &Arc<Self>, state: &mut State, slot: u32) {
        if let Phase::Started(worker) = state.threads[slot as usize].phase {
            state.workers[worker as usize].task = Some(slot);
            state.workers[worker as usize].wake.notify_all();
            return;
        }
        if let Some(worker) = state.idle.pop() {
            state.workers[worker as usize].task = Some(slot);
            state.workers[worker as usize].wake.notify_all();
            return;
        }
        let worker = state.workers.len() as u32;
        state.workers.push(Worker { wake: Arc::default(), task: Some(slot) });
        let engine = self.clone();
        let spawned = std::thread::Builder::new()
            .name(format!("simulated thread {slot}"))
            .stack_size(STACK)
            .spawn(move || engine.work(worker));
        match spawned {
            Ok(join) => state.joins.push(join),
            Err(error) => {
                let message = format!(
                    "the system gave no thread for thread {slot} of a block ({error}): use smaller blocks on the CPU, or \
                     raise the limit of threads (ulimit -u)"
                );
                self.fail(state, Failure { message, place: None, position: None });
            }
        }
    }

    /// Calls the kernel as one thread.
    fn run_thread(self: &Arc<Self>, slot: u32, block: Dim) -> Result<(), Failure> {
        let thread = self.threads.at((slot % self.block_size()) as u64);
        // What an outer launch left, if a kernel launches another.
        let before = CURRENT.with(|current| {
            (
                current.engine.replace(Arc::as_ptr(self)),
                current.slot.replace(slot),
                current.thread.replace(thread),
                current.block.replace(block),
                current.threads.replace(self.threads),
                current.blocks.replace(self.blocks),
                current.ticks.replace(match self.order {
                    Order::Ascending => 0,
                    Order::Shuffled(seed) => next(&mut (seed ^ (slot as u64) << 32 | block.x as u64)) as u32,
                }),
                current.idle.take(),
                current.owner.replace(CALLS.fetch_add(1, Ordering::Relaxed)),
                current.was_panicking.replace(std::thread::panicking()),
            )
        });
        let was_in_kernel = IS_IN_KERNEL.replace(true);
        // SAFETY: `run` has borrowed the body until all workers are joined.
        let ended = catch_unwind(AssertUnwindSafe(|| unsafe { (*self.body)() }));
        IS_IN_KERNEL.set(was_in_kernel);
        CURRENT.with(|current| {
            current.engine.set(before.0);
            current.slot.set(before.1);
            current.thread.set(before.2);
            current.block.set(before.3);
            current.threads.set(before.4);
            current.blocks.set(before.5);
            current.ticks.set(before.6);
            current.idle.set(before.7);
            current.owner.set(before.8);
            current.was_panicking.set(before.9);
        });
        ended.or_else(|payload| {
            if payload.is::<Abandoned>() {
                return Ok(());
            }
            let (message, place) = match PANIC.take() {
                Some((message, place)) => (message, Some(place)),
                None => (text(&*payload), None),
            };
            Err(Failure {
                message: format!("the kernel panicked: {message}"),
                place,
                position: Some((block, thread)),
            })
        })
    }

    /// Waits until a thread may go on, after another was picked.
    fn yield_to(self: &Arc<Self>, mut state: MutexGuard<'_, State>, slot: u32, next: u32) {
        self.hand_over(&mut state, next);
        let Phase::Started(worker) = state.threads[slot as usize].phase else { return };
        let wake = state.workers[worker as usize].wake.clone();
        loop {
            if state.failure.is_some() && !state.is_unwinding {
                state.is_unwinding = true;
                drop(state);
                resume_unwind(Box::new(Abandoned));
            }
            if state.workers[worker as usize].task == Some(slot) {
                state.workers[worker as usize].task = None;
                return;
            }
            state = wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// As the shared pointer that a simulated thread has no other hold of.
    fn shared_self(&self) -> Arc<Self> {
        // SAFETY: an engine lives in an `Arc` only, and is alive while its threads run.
        unsafe {
            Arc::increment_strong_count(self);
            Arc::from_raw(self)
        }
    }

    /// Fails the launch and leaves the kernel.
    fn leave(&self, mut state: MutexGuard<'_, State>, failure: Failure) -> ! {
        self.fail(&mut state, failure);
        state.is_unwinding = true;
        drop(state);
        resume_unwind(Box::new(Abandoned));
    }

    /// Returns the lanes that the warp of a thread has.
    pub fn lanes(&self, slot: u32) -> u32 {
        let own = slot % self.block_size();
        let there = self.block_size() - own / 32 * 32;
        if there >= 32 { u32::MAX } else { (1 << there) - 1 }
    }

    /// Waits for the others, and returns their values: for a barrier their sum, for a warp one for each lane.
    pub fn meet(&self, slot: u32, kind: Kind, place: Place, value: u64) -> Box<[u64; 32]> {
        let mut state = self.lock();
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
                if matches!(kind, Kind::Warp(_)) { "warp" } else { "block" },
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
                state.threads[other as usize].result = meeting.values;
                state.ready.push_back(other);
            }
            state.waiting = 0;
        }
        let Some(next) = self.pick(&mut state) else {
            let failure = self.explain(&state);
            self.leave(state, failure);
        };
        if next != slot {
            self.shared_self().yield_to(state, slot, next);
            state = self.lock();
        }
        Box::new(state.threads[slot as usize].result)
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
        let mut state = self.lock();
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
            self.shared_self().yield_to(state, slot, next);
        }
    }

    /// Reports a shuffle that reads a lane which does not take part.
    pub fn reads_outside(&self, slot: u32, from: u32, mask: u32, place: Place) {
        let state = self.lock();
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
        let mut state = self.lock();
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
        let state = self.lock();
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
                if meeting.arrived.len() == 1 { "waits" } else { "wait" }
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
            why.push(format!("{} wait for something else{there}", self.names(&waiting)));
        }
        let message = format!(
            "not all threads reach {what}: {} waits there, {}",
            self.names(&meeting.arrived),
            why.join(", ")
        );
        self.failure_of(state, meeting.arrived[0], message, meeting.place)
    }
}
