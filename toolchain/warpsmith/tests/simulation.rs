//! What only a simulated kernel can do: keep things in the memory of the host's threads, have destructors run after a panic.

use std::cell::{Cell, RefCell};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use warpsmith::prelude::*;
use warpsmith::team::{Block, Team};
use warpsmith::{Error, Result};

warpsmith::module!(cpu);

thread_local! {
    static INDEX: Cell<Option<Index>> = const { Cell::new(None) };
    static TILE: RefCell<Option<Shared<[u32; 64]>>> = const { RefCell::new(None) };
}

fn message(result: Result) -> String {
    match result {
        Err(Error::Kernel { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

/// Uses an index that was put aside, if there is one.
#[kernel]
fn uses_an_old_index(y: &mut Slots<u32>) {
    let at = INDEX.take().unwrap_or(thread::index());
    INDEX.set(Some(at));
    y.set(at, 1);
}

#[test]
fn an_index_of_another_thread_or_launch() -> Result {
    for device in [Device::cpu(), Device::cpu_shuffled(1)] {
        let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
        let mut y = stream.zeroed(2)?;
        INDEX.set(Some(thread::index()));
        let outside = message(kernels.uses_an_old_index(&stream, (1, 1), (&mut y,)));
        assert!(outside.contains("an index is of another thread or launch"), "{outside}");
        INDEX.set(None);
        kernels.uses_an_old_index(&stream, (1, 1), (&mut y,))?;
        let before = message(kernels.uses_an_old_index(&stream, (1, 1), (&mut y,)));
        assert!(before.contains("an index is of another thread or launch"), "{before}");
        INDEX.set(None);
        let other = message(kernels.uses_an_old_index(&stream, (1, 2), (&mut y,)));
        assert!(other.contains("an index is of another thread or launch"), "{other}");
    }
    Ok(())
}

static ATOMIC: Mutex<Option<&AtomicU32>> = Mutex::new(None);

/// Leaks a reference to an atomic in shared memory, and uses it in a later launch.
#[kernel]
fn leaks_an_atomic(y: &mut Slots<u32>) {
    let old = ATOMIC.lock().unwrap().take();
    if let Some(old) = old {
        old.store(3, Ordering::Relaxed);
    }
    let atomics: &'static Shared<[AtomicU32; 16]> = Box::leak(Box::new(shared!([AtomicU32; 16])));
    // Memory that was used before is as new.
    y.set(thread::index(), atomics[1].load(Ordering::Relaxed));
    *ATOMIC.lock().unwrap() = atomics.get(1);
}

#[test]
fn atomics_of_a_block_that_has_ended() -> Result {
    let device = Device::cpu();
    let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
    let mut y = stream.zeroed(1)?;
    kernels.leaks_an_atomic(&stream, (1, 1), (&mut y,))?;
    let atomic = ATOMIC.lock().unwrap().unwrap();
    atomic.store(5, Ordering::Relaxed);
    assert_eq!(atomic.load(Ordering::Relaxed), 5);
    kernels.leaks_an_atomic(&stream, (1, 1), (&mut y,))?;
    assert_eq!((stream.download(&y)?, atomic.load(Ordering::Relaxed)), (vec![u32::MAX], u32::MAX));
    Ok(())
}

/// Uses a handle on shared memory that was put aside, if there is one.
#[kernel]
fn uses_an_old_tile(y: &mut Slots<u32>) {
    let mut tile = TILE.take().unwrap_or(shared!([u32; 64]));
    y.set(thread::index(), tile.exchange(1).get(0));
    TILE.set(Some(tile));
}

#[test]
fn shared_memory_of_another_launch() -> Result {
    let device = Device::cpu();
    let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
    let mut y = stream.zeroed(1)?;
    kernels.uses_an_old_tile(&stream, (1, 1), (&mut y,))?;
    let message = message(kernels.uses_an_old_tile(&stream, (1, 1), (&mut y,)));
    assert!(message.contains("shared memory is of another thread or launch"), "{message}");
    Ok(())
}

thread_local! {
    static TEAM: Cell<Option<Block>> = const { Cell::new(None) };
}

/// Uses a team that was put aside, if there is one.
#[kernel]
fn uses_an_old_team(y: &mut Slots<u32>) {
    let team = TEAM.take().unwrap_or(Block::current());
    TEAM.set(Some(team));
    y.set(thread::index(), team.sum(1u32));
}

#[test]
fn a_team_of_another_launch() -> Result {
    let device = Device::cpu();
    let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
    let mut y = stream.zeroed(32)?;
    let message = message(kernels.uses_an_old_team(&stream, (1, 32), (&mut y,)));
    assert!(message.contains("a team is of another thread or launch"), "{message}");
    Ok(())
}

/// Has no team in a block with a part of a warp, and waits for members that do not come in another one.
#[kernel]
fn fails_as_a_team(y: &mut Slots<u32>) {
    let team = Block::current();
    if team.rank() != 40 {
        y.set(thread::index(), team.sum(1u32));
    }
}

#[test]
fn a_team_without_all_its_members() -> Result {
    for device in [Device::cpu(), Device::cpu_shuffled(1)] {
        let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
        let mut y = stream.zeroed(64)?;
        let part = message(kernels.fails_as_a_team(&stream, (1, 48), (&mut y,)));
        assert!(part.contains("a team in a block of 48 threads: they are no whole warps"), "{part}");
        let line = line!() - 11;
        let missing = kernels.fails_as_a_team(&stream, (1, 64), (&mut y,)).unwrap_err().to_string();
        assert!(missing.contains(&format!("simulation.rs:{line}:")), "{missing}");
    }
    Ok(())
}

/// What kernels have for locks: its destructor stores, and here waits for the others as well.
struct Guard<'a>(&'a [AtomicU32]);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        for _ in 0..300 {
            self.0[0].store(0, Ordering::Release);
        }
        thread::pause(1);
        let mut tile = shared!([u32; 64]);
        tile.exchange(1).get(0);
        warp::shuffle(warp::ALL, 1, 5);
        sync_threads();
    }
}

#[kernel]
fn fails_while_others_hold_guards(lock: &[AtomicU32]) {
    let own = thread::in_block();
    let _guard = (own != 2).then(|| Guard(lock));
    if own == 1 {
        panic!("the reason");
    }
    sync_threads();
}

#[test]
fn destructors_of_a_failed_launch() -> Result {
    for device in [Device::cpu(), Device::cpu_shuffled(1), Device::cpu_shuffled(2)] {
        let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
        let mut lock = stream.zeroed(1)?;
        let message = message(kernels.fails_while_others_hold_guards(&stream, (1, 64), (&mut lock,)));
        assert!(message.contains("the reason"), "{message}");
    }
    Ok(())
}

/// Counts how many are there at once, in a way that only one thread at a time may.
struct Counted;

static INSIDE: AtomicBool = AtomicBool::new(false);
static TOGETHER: AtomicBool = AtomicBool::new(false);

impl Drop for Counted {
    fn drop(&mut self) {
        if INSIDE.swap(true, Relaxed) {
            TOGETHER.store(true, Relaxed);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        INSIDE.store(false, Relaxed);
    }
}

#[kernel]
fn fails_with_destructors() {
    let _counted = Counted;
    if thread::in_block() + 1 == block::threads() {
        return;
    }
    sync_threads();
}

#[test]
fn destructors_run_one_at_a_time() -> Result {
    let device = Device::cpu();
    let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
    let message = message(kernels.fails_with_destructors(&stream, (1, 32), ()));
    assert!(message.contains("not all threads reach the barrier"), "{message}");
    assert!(!TOGETHER.load(Relaxed));
    Ok(())
}

/// The first thread waits for a value that the second one sets too late.
#[kernel]
fn waits_before_a_barrier(flag: &[AtomicU32]) {
    if thread::in_block() == 0 {
        while flag[0].load(Ordering::Acquire) == 0 {}
    }
    sync_threads();
    flag[0].store(1, Ordering::Release);
}

#[test]
fn a_loop_that_looks_for_ever_ends_soon() -> Result {
    let device = Device::cpu();
    let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
    let (start, mut flag) = (Instant::now(), stream.zeroed(1)?);
    let message = message(kernels.waits_before_a_barrier(&stream, (1, 2), (&mut flag,)));
    assert!(message.contains("no thread of the block changes"), "{message}");
    assert!(start.elapsed().as_secs() < 40, "{:?}", start.elapsed());
    Ok(())
}

#[kernel]
fn recurses(depth: u32, y: &mut Slots<u32>) {
    fn down(depth: u32) -> u32 {
        let place = std::hint::black_box([depth; 64]);
        if depth == 0 { 0 } else { down(depth - 1) + place[(depth % 64) as usize] }
    }
    y.set(thread::index(), down(depth));
}

/// A thread's stack holds half a mebibyte; an overflow ends the process with a message.
#[test]
fn an_overflow_of_the_stack_is_named() -> Result {
    const OVERFLOWS: &str = "WARPSMITH_TEST_OVERFLOWS";
    let device = Device::cpu();
    let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
    let mut y = stream.zeroed(64)?;
    kernels.recurses(&stream, (1, 64), (1000, &mut y))?;
    assert!(stream.download(&y)?.iter().all(|&sum| sum == 500_500));
    if std::env::var_os(OVERFLOWS).is_some() {
        kernels.recurses(&stream, (1, 64), (1_000_000, &mut y))?;
        return Ok(());
    }
    let own = ["--exact", "an_overflow_of_the_stack_is_named", "--nocapture"];
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(own)
        .env(OVERFLOWS, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("overflowed"), "{said}");
    Ok(())
}

#[kernel]
fn launches_another(y: &mut Slots<u32>) {
    let at = thread::index();
    sync_threads();
    let device = Device::cpu_shuffled(at.get() as u64);
    let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
    let mut inner = stream.zeroed(8).unwrap();
    kernels.counts_after_a_barrier(&stream, (1, 8), (&mut inner,)).unwrap();
    sync_threads();
    y.set(at, stream.download(&inner).unwrap().iter().sum());
}

#[kernel]
fn counts_after_a_barrier(y: &mut Slots<u32>) {
    sync_threads();
    y.set(thread::index(), thread::in_block() + 10 * block::threads());
}

/// On the host a kernel is a function like any other, which may launch kernels.
#[test]
fn a_launch_in_a_kernel() -> Result {
    let device = Device::cpu();
    let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
    let mut y = stream.zeroed(4)?;
    kernels.launches_another(&stream, (1, 4), (&mut y,))?;
    assert_eq!(stream.download(&y)?, [28 + 640; 4]);
    Ok(())
}

static ORDER: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn note(step: u32) {
    ORDER.lock().unwrap().push(block::x() << 20 | thread::in_block() << 8 | step);
}

#[kernel]
fn notes_the_order(y: &[AtomicU32]) {
    note(0);
    sync_threads();
    note(1);
    let other = warp::shuffle_xor(warp::ALL, thread::in_block(), 1);
    note(other & 0xf);
    for _ in 0..50 {
        y[0].fetch_add(1, Ordering::Relaxed);
    }
    note(2);
    if thread::in_block() < 32 {
        warp::sync(warp::ALL);
        note(3);
    }
    thread::pause(1);
    sync_threads();
    note(4);
}

/// A seed that has shown a fault shows it in later versions as well: these are hashes of the orders when the test was written.
#[test]
fn a_seed_is_the_same_order_for_ever() -> Result {
    let expected = [0x9ea9_5ef5_0e81_9642, 0xb2e7_ea02_92a8_7d62];
    for (device, expected) in [Device::cpu(), Device::cpu_shuffled(1)].iter().zip(expected) {
        let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
        let mut y = stream.zeroed(1)?;
        kernels.notes_the_order(&stream, (3, 100), (&mut y,))?;
        kernels.notes_the_order(&stream, Grid::new(3, 70).cooperative(), (&mut y,))?;
        stream.synchronize()?;
        let order = std::mem::take(&mut *ORDER.lock().unwrap());
        // FNV-1a, by words.
        let hash = order.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &word| {
            (hash ^ word as u64).wrapping_mul(0x100_0000_01b3)
        });
        assert_eq!(hash, expected, "{}", device.properties().name);
    }
    Ok(())
}

/// Waits for the block (0), the cluster (1) or the grid (2), the first thread at another place than the others.
#[kernel]
fn waits_at_two_places(scope: u32) {
    match (scope, thread::in_block() == 0) {
        (0, true) => sync_threads(),
        (0, false) => sync_threads(),
        (1, true) => cluster::sync(),
        (1, false) => cluster::sync(),
        (_, true) => grid::sync(),
        (_, false) => grid::sync(),
    }
}

#[test]
fn the_message_about_two_places_names_the_threads_that_wait() -> Result {
    for device in [Device::cpu(), Device::cpu_shuffled(1)] {
        let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
        for (scope, name) in (0..).zip(["block", "cluster", "grid"]) {
            let said = message(kernels.waits_at_two_places(&stream, Grid::new(1, 8).cooperative(), (scope,)));
            assert!(said.contains(&format!("threads of a {name} wait at different places")), "{said}");
        }
    }
    Ok(())
}

#[kernel]
fn shuffles_by(by: u32, y: &mut Slots<[u32; 4]>) {
    let lane = warp::lane();
    let values = [
        warp::shuffle_up(warp::ALL, lane, by),
        warp::shuffle_down(warp::ALL, lane, by),
        warp::shuffle_xor(warp::ALL, lane, by),
        warp::shuffle_up_within::<8, u32>(warp::ALL, lane, by),
    ];
    y.set(thread::index(), values);
}

/// As PTX has it (`bval = b[4:0]` of `shfl.sync`): a distance of 32 is none.
#[test]
fn of_a_distance_the_low_five_bits_count() -> Result {
    let device = Device::cpu();
    let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
    for by in [0, 1, 5, 31, 32, 33, 37, 63, u32::MAX - 30, u32::MAX] {
        let mut y = stream.zeroed(32)?;
        kernels.shuffles_by(&stream, (1, 32), (by, &mut y))?;
        let low = by & 31;
        for (lane, values) in (0..).zip(stream.download(&y)?) {
            let up = if low <= lane { lane - low } else { lane };
            let down = if lane + low < 32 { lane + low } else { lane };
            let within = if low <= lane % 8 { lane - low } else { lane };
            assert_eq!(values, [up, down, lane ^ low, within], "lane {lane} by {by}");
        }
    }
    Ok(())
}
