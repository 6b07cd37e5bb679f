//! Teams of several threads. Code at team level must not notice whether its team has one member or many, nor in
//! which order the members come to a barrier.

use antwarp_core::team::Team;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::mem::transmute;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

/// In which order members do what lies between two barriers.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// One after another, from the first: what a member writes too early, all later ones see.
    Ascending,
    /// One after another, from the last: what the first member writes too late, all others miss.
    Descending,
    /// One after another, in a new order after every barrier.
    Mixed,
    /// All at once, as on a GPU.
    Together,
}

pub const ORDERS: [Order; 4] = [Order::Ascending, Order::Descending, Order::Mixed, Order::Together];

/// A barrier of threads. Those that wait yield: with many more threads than cores this takes less time than to sleep and be woken.
#[derive(Default)]
struct Gate {
    waiting: AtomicU32,
    passed: AtomicU32,
}

impl Gate {
    fn wait(&self, size: u32) {
        let passed = self.passed.load(SeqCst);
        if self.waiting.fetch_add(1, SeqCst) + 1 == size {
            self.waiting.store(0, SeqCst);
            self.passed.fetch_add(1, SeqCst);
        } else {
            while self.passed.load(SeqCst) == passed {
                std::thread::yield_now();
            }
        }
    }
}

/// What the members of a team share.
struct Shared {
    size: u32,
    order: Order,
    gate: Gate,
    boards: [Vec<AtomicU64>; 2],
}

impl Shared {
    fn new(size: u32, order: Order) -> Self {
        Shared {
            size,
            order,
            gate: Gate::default(),
            boards: std::array::from_fn(|_| (0..size).map(|_| AtomicU64::new(0)).collect()),
        }
    }

    /// The member whose turn is at this place of the order between two barriers.
    fn member(&self, phase: u64, place: u32) -> u32 {
        let (n, at) = (self.size as u64, place as u64);
        (match self.order {
            Order::Ascending | Order::Together => at,
            Order::Descending => n - 1 - at,
            // A rotation or a reflection, by the phase.
            Order::Mixed => {
                let shift = (phase.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % n;
                if phase.is_multiple_of(2) { (at + shift) % n } else { (n - 1 - at + shift) % n }
            }
        }) as u32
    }
}

/// A member of a team of threads.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    rank: u32,
    shared: &'a Shared,
    /// The number of barriers so far.
    phase: &'a AtomicU64,
    /// Hands over to the next member, if members take turns.
    turns: Option<&'a Yielder<(), ()>>,
}

impl Member<'_> {
    /// Hands everybody's values to `reduce`, with the one barrier that the trait promises.
    fn exchange<R>(self, value: u64, reduce: impl FnOnce(&mut dyn Iterator<Item = u64>) -> R) -> R {
        // Two boards by turns: this one is next written to when a barrier has seen all its readers pass.
        let board = &self.shared.boards[(self.phase.load(SeqCst) % 2) as usize];
        board[self.rank as usize].store(value, SeqCst);
        self.barrier();
        reduce(&mut board.iter().map(|v| v.load(SeqCst)))
    }
}

impl Team for Member<'_> {
    type Part = Self;

    fn part(self) -> Self {
        self
    }
    fn part_rank(self) -> u32 {
        0
    }
    fn parts(self) -> u32 {
        1
    }
    fn rank(self) -> u32 {
        self.rank
    }
    fn size(self) -> u32 {
        self.shared.size
    }
    fn barrier(self) {
        self.phase.fetch_add(1, SeqCst);
        match self.turns {
            Some(turns) => turns.suspend(()),
            None => self.shared.gate.wait(self.shared.size),
        }
    }
    fn arg_max(self, key: u32, tag: u32, value: u32) -> (u32, u32) {
        // The largest key and, by its complement, the smallest tag; then the value of whoever has both.
        let own = (key as u64) << 32 | !tag as u64;
        let best = self.exchange(own, |all| all.max().unwrap());
        let value =
            self.exchange(if own == best { value.into() } else { u64::MAX }, |all| all.min().unwrap());
        ((best >> 32) as u32, value as u32)
    }
    fn sum(self, value: u64) -> u64 {
        self.exchange(value, |all| all.fold(0, u64::wrapping_add))
    }
    fn min(self, value: u64) -> u64 {
        self.exchange(value, |all| all.min().unwrap())
    }
    fn sum_before(self, value: u32) -> (u32, u32) {
        let sums = |values: &mut dyn Iterator<Item = u64>| {
            let all: Vec<u64> = values.collect();
            let before: u64 = all[..self.rank as usize].iter().sum();
            (before as u32, all.iter().sum::<u64>() as u32)
        };
        self.exchange(value.into(), sums)
    }
}

/// The others would wait forever for a member that panics.
struct Deserter;

impl Drop for Deserter {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort()
        }
    }
}

/// Runs `work` on every member of a team of `size` threads; their results, by rank.
pub fn run<R: Send>(size: u32, order: Order, work: impl Fn(Member) -> R + Sync) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = (0..size).map(|_| Mutex::new(None)).collect();
    run_each(&Shared::new(size, order), &|member| {
        let result = work(member);
        *results[member.rank as usize].lock().unwrap() = Some(result);
    });
    results.into_iter().map(|result| result.into_inner().unwrap().unwrap()).collect()
}

/// As [`run`], without results: not generic, because hundreds of copies would take long to compile.
fn run_each(shared: &Shared, work: &(dyn Fn(Member) + Sync)) {
    if !matches!(shared.order, Order::Together) {
        return run_by_turns(shared, work);
    }
    std::thread::scope(|scope| {
        for rank in 0..shared.size {
            scope.spawn(move || {
                let phase = AtomicU64::new(0);
                let _guard = Deserter;
                work(Member { rank, shared, phase: &phase, turns: None })
            });
        }
    });
}

/// Runs the members on one thread, each on a stack of its own: to hand over takes nanoseconds.
fn run_by_turns(shared: &Shared, work: &dyn Fn(Member)) {
    type Body<'a> = Box<dyn FnOnce(&Yielder<(), ()>) + 'a>;
    let size = shared.size as usize;
    let members = (0..shared.size).map(|rank| {
        let body: Body<'_> = Box::new(move |turns| {
            let phase = AtomicU64::new(0);
            work(Member { rank, shared, phase: &phase, turns: Some(turns) });
        });
        // SAFETY: a coroutine never outlives this function, and what its body borrows does.
        let body: Body<'static> = unsafe { transmute(body) };
        Coroutine::new(move |turns: &Yielder<(), ()>, ()| body(turns))
    });
    let mut members: Vec<_> = members.collect();
    for phase in 0.. {
        let mut ended = 0;
        for place in 0..shared.size {
            let member = &mut members[shared.member(phase, place) as usize];
            ended += usize::from(matches!(member.resume(()), CoroutineResult::Return(())));
        }
        match ended {
            0 => {}
            _ if ended == size => break,
            _ => panic!("{ended} of {size} members ended, the others wait at a barrier"),
        }
    }
}

/// A member of a team whose parts are teams of their own, as a block's warps are. All run at once.
#[derive(Clone, Copy)]
pub struct PartMember<'a> {
    whole: Member<'a>,
    part: Member<'a>,
    part_rank: u32,
    parts: u32,
}

impl<'a> Team for PartMember<'a> {
    type Part = Member<'a>;

    fn part(self) -> Member<'a> {
        self.part
    }
    fn part_rank(self) -> u32 {
        self.part_rank
    }
    fn parts(self) -> u32 {
        self.parts
    }
    fn rank(self) -> u32 {
        self.whole.rank()
    }
    fn size(self) -> u32 {
        self.whole.size()
    }
    fn barrier(self) {
        self.whole.barrier()
    }
    fn arg_max(self, key: u32, tag: u32, value: u32) -> (u32, u32) {
        self.whole.arg_max(key, tag, value)
    }
    fn sum(self, value: u64) -> u64 {
        self.whole.sum(value)
    }
    fn min(self, value: u64) -> u64 {
        self.whole.min(value)
    }
    fn sum_before(self, value: u32) -> (u32, u32) {
        self.whole.sum_before(value)
    }
}

/// As [`run`], on a team of `parts` parts with `size` threads each, all at once.
pub fn run_in_parts<R: Send>(parts: u32, size: u32, work: impl Fn(PartMember) -> R + Sync) -> Vec<R> {
    run_in_teams((1, parts, size), |_, _, member| work(member))
}

/// As [`run_in_parts`], by several teams at once: `work` gets the member among those of all teams, the team's number, and
/// the member of the team.
pub fn run_in_teams<R: Send>(
    (teams, parts, size): (u32, u32, u32),
    work: impl Fn(Member, u32, PartMember) -> R + Sync,
) -> Vec<R> {
    let shared =
        |count: u32, size| -> Vec<_> { (0..count).map(|_| Shared::new(size, Order::Together)).collect() };
    let (wholes, groups) = (shared(teams, parts * size), shared(teams * parts, size));
    run(teams * parts * size, Order::Together, |all| {
        let phases = [const { AtomicU64::new(0) }; 2];
        let (group, team) = (all.rank() / size, all.rank() / (parts * size));
        let part = Member {
            rank: all.rank() % size,
            shared: &groups[group as usize],
            phase: &phases[0],
            turns: None,
        };
        let rank = all.rank() % (parts * size);
        let whole = Member { rank, shared: &wholes[team as usize], phase: &phases[1], turns: None };
        work(all, team, PartMember { whole, part, part_rank: group % parts, parts })
    })
}

/// Passes a pointer into the closures of [`run`].
#[derive(Clone, Copy)]
pub struct Shareable<T>(T);

impl<T: Copy> Shareable<T> {
    pub fn new(value: T) -> Self {
        Shareable(value)
    }
    pub fn get(&self) -> T {
        self.0
    }
}

// SAFETY: the memory behind outlives `run`, and what members do to it is what the tests are about.
unsafe impl<T> Sync for Shareable<T> {}

/// A member of an imaginary team: work can be split, but nobody can be waited for.
#[derive(Clone, Copy)]
pub struct Alone {
    pub rank: u32,
    pub size: u32,
}

impl Team for Alone {
    type Part = Self;

    fn part(self) -> Self {
        self
    }
    fn part_rank(self) -> u32 {
        0
    }
    fn parts(self) -> u32 {
        1
    }
    fn rank(self) -> u32 {
        self.rank
    }
    fn size(self) -> u32 {
        self.size
    }
    fn barrier(self) {
        panic!("nobody to wait for")
    }
    fn arg_max(self, _: u32, _: u32, _: u32) -> (u32, u32) {
        panic!("nobody to ask")
    }
    fn sum(self, _: u64) -> u64 {
        panic!("nobody to ask")
    }
    fn min(self, _: u64) -> u64 {
        panic!("nobody to ask")
    }
    fn sum_before(self, _: u32) -> (u32, u32) {
        panic!("nobody to ask")
    }
}
