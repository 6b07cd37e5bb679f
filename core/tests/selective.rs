//! Pheromone memories that ants change as they go, against simple models of them.

mod common;

use antwarp_core::pheromone::Memory;
use antwarp_core::relaxed::{load_pair, store_pair};
use antwarp_core::rng::Stream;
use antwarp_core::tabu::{Bitmask, NONE, Tabu};
use antwarp_core::team::{Serial, Slots, Team};
use common::memory::Array;
use common::teams::{ORDERS, Order, Shareable, run};
use common::trails::{Kind, OfCandidates, OfMatrix, OfRings, Shape, edges};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

const INITIAL: f32 = 0.125;

#[derive(Clone, Copy, Debug)]
enum Change {
    /// Between visits.
    Update {
        v: u32,
        atomically: bool,
    },
    /// A visit, with a trail back and one forth.
    Visit {
        back: u32,
        forth: u32,
    },
    Clear,
}

/// What happens to a node's trails.
#[derive(Clone, Copy, Debug)]
struct Operation {
    node: u32,
    change: Change,
    /// What the trails concerned are drawn towards.
    towards: f32,
}

impl Operation {
    fn revise(self, trail: f32) -> f32 {
        0.75 * trail + 0.25 * self.towards
    }
}

/// Operations on the first few of n nodes with k candidates each.
#[derive(Clone, Debug)]
struct Case {
    n: u32,
    k: u32,
    lists: Vec<u32>,
    operations: Vec<Operation>,
}

impl Case {
    fn shape(&self) -> Shape<u32> {
        Shape { n: self.n, k: self.k, lists: self.lists.as_ptr(), initial: INITIAL }
    }

    /// The nodes that operations concern: few, so that they meet again and again.
    fn busy(&self) -> u32 {
        self.n.min(3)
    }

    fn list(&self, node: u32) -> &[u32] {
        &self.lists[(node * self.k) as usize..][..self.k as usize]
    }

    fn new(n: u32, seed: u64, length: u32) -> Self {
        let k = n / 2;
        let mut lists = Vec::new();
        for node in 0..n {
            let draws = Stream::new(seed, 0, node).step(0);
            let mut others: Vec<u32> = (0..n).filter(|&v| v != node).collect();
            others.sort_by_key(|&v| draws.bits(v));
            lists.extend(&others[..k as usize]);
        }
        let operation = |step| {
            let draws = Stream::new(seed, 1, 0).step(step);
            let node = draws.below(0, n.min(3));
            let other = |item| (node + 1 + draws.below(item, n - 1)) % n;
            let (back, forth) = (other(1), other(2));
            let change = match draws.below(3, 16) {
                0..6 => Change::Update { v: back, atomically: draws.below(4, 2) == 0 },
                6..10 => Change::Visit { back, forth: if forth == back { NONE } else { forth } },
                10..12 => Change::Visit { back, forth: NONE },
                12..15 => Change::Visit { back: NONE, forth },
                _ => Change::Clear,
            };
            Operation { node, change, towards: draws.unit(5) }
        };
        Case { n, k, lists, operations: (0..length).map(operation).collect() }
    }
}

/// A trail, with the operation after which it was seen, the edge, and how.
type Sight = (u32, How, u32, u32, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// Among the candidates of a visit that changes trails.
    Met,
    /// Asked for between operations.
    Asked,
    /// Offered to an ant without open candidate.
    Offered,
}

/// Whether the ant for which trails are offered has been at a node.
fn is_visited(v: u32) -> bool {
    v.is_multiple_of(3)
}

/// Carries the operations out and looks at every trail in between; what this member saw.
///
/// # Safety
/// The memory is one of the case, the scratch as large as it wants, and `tabu` has bytes for n nodes.
unsafe fn carry_out<T: Team, K: Kind>(
    team: T,
    case: &Case,
    memory: K::Memory<u32>,
    (scratch, tabu): (Slots<u32>, *mut u8),
) -> Vec<Sight> {
    let mut sights = Vec::new();
    // SAFETY: the caller's promise, and visits as the trait asks for them.
    unsafe {
        let mut tabu = Bitmask::new(tabu, case.n);
        tabu.reset(team);
        team.barrier();
        (0..case.n).filter(|&v| is_visited(v)).for_each(|v| tabu.mark(team, v));
        (0..case.n).for_each(|node| memory.clear(team, node, INITIAL));
        team.barrier();
        for (time, operation) in (0..).zip(&case.operations) {
            let (node, revise) = (operation.node, |trail| operation.revise(trail));
            match operation.change {
                Change::Clear => memory.clear(team, node, INITIAL),
                Change::Update { v, atomically: false } => memory.update(team, node, v, revise),
                Change::Update { v, atomically: true } => {
                    K::update_atomically(team, memory, (node, v), revise)
                }
                Change::Visit { back, forth } => {
                    let list = case.list(node);
                    let row = memory.enter(team, (node, back), scratch, revise);
                    let mut chosen = None;
                    team.for_each(case.k, |i| {
                        let v = list[i as usize];
                        let (found, place) = memory.trail(row, i, v);
                        if v == back {
                            if K::Memory::<u32>::LISTED {
                                memory.put(row, place, v, revise(found));
                            }
                            return;
                        }
                        sights.push((time, How::Met, node, v, found.to_bits()));
                        chosen = if v == forth { Some((found, place)) } else { chosen };
                    });
                    memory.put_back(team, row, back, revise);
                    team.barrier();
                    if let Some((found, place)) = chosen {
                        memory.put(row, place, forth, revise(found));
                    }
                    // A node beyond the candidates, as an ant without open candidate takes it.
                    if forth != NONE && !list.contains(&forth) {
                        memory.update(team, node, forth, revise);
                    }
                }
            }
            team.barrier();
            for node in 0..case.busy() {
                let row = memory.enter(team, (node, NONE), scratch, revise);
                let mut ask = |i, v| {
                    sights.push((time, How::Asked, node, v, memory.trail(row, i, v).0.to_bits()));
                };
                if K::Memory::<u32>::LISTED {
                    team.for_each(case.k, |i| ask(i, case.list(node)[i as usize]));
                } else {
                    team.for_each(case.n, |v| {
                        if v != node {
                            ask(u32::MAX, v)
                        }
                    });
                }
                memory.put_back(team, row, NONE, revise);
                memory.beyond(team, row, &tabu, |v, trail| {
                    sights.push((time, How::Offered, node, v, trail.to_bits()));
                });
                team.barrier();
            }
        }
    }
    sights
}

/// What has to be seen.
fn expected<K: Kind>(case: &Case, kind: K) -> Vec<Sight> {
    let mut model = kind.model(case.shape());
    let all = edges::<K, u32>(case.shape());
    let mut sights = Vec::new();
    for (time, operation) in (0..).zip(&case.operations) {
        let (node, revise) = (operation.node, |trail| operation.revise(trail));
        match operation.change {
            Change::Clear => model.clear(node),
            Change::Update { v, .. } => model.update(node, v, &revise),
            Change::Visit { back, forth } => {
                if back != NONE {
                    model.update(node, back, &revise);
                }
                for &v in case.list(node).iter().filter(|&&v| v != back) {
                    sights.push((time, How::Met, node, v, model.trail(node, v).to_bits()));
                }
                if forth != NONE {
                    model.update(node, forth, &revise);
                }
            }
        }
        for &(node, v) in all.iter().filter(|edge| edge.0 < case.busy()) {
            sights.push((time, How::Asked, node, v, model.trail(node, v).to_bits()));
        }
        for node in 0..case.busy() {
            for v in model.offers(node).into_iter().filter(|&v| !is_visited(v)) {
                sights.push((time, How::Offered, node, v, model.trail(node, v).to_bits()));
            }
        }
    }
    sights.sort_unstable();
    sights
}

/// What a team saw, together, and the memory's bits at the end.
fn seen<K: Kind>(case: &Case, kind: K, team: Option<(u32, Order)>) -> (Vec<Sight>, Vec<u64>) {
    let mut arrays = kind.arrays(case.shape());
    let memory = kind.memory(case.shape(), &mut arrays);
    let mut scratch = Array::<u32>::rubbish(memory.scratch() as usize);
    let mut tabu = Array::<u8>::rubbish(Bitmask::bytes(case.n));
    let shared = Shareable::new((memory, (scratch.slots(), tabu.start())));
    let mut sights = match team {
        // SAFETY: everything was allocated for this case.
        None => unsafe { carry_out::<_, K>(Serial, case, memory, shared.get().1) },
        Some((size, order)) => run(size, order, |team| {
            let (memory, tools) = shared.get();
            // SAFETY: as above.
            unsafe { carry_out::<_, K>(team, case, memory, tools) }
        })
        .concat(),
    };
    sights.sort_unstable();
    (sights, arrays.state())
}

/// The operations on one member, then on a team.
fn check<K: Kind>(case: &Case, kind: K, team: Option<(u32, Order)>) -> Result<(), TestCaseError> {
    let expected = expected(case, kind);
    let (sights, state) = seen(case, kind, None);
    prop_assert_eq!(&sights, &expected);
    if team.is_some() {
        let together = seen(case, kind, team);
        prop_assert_eq!(&together.0, &expected, "{:?}", team);
        prop_assert_eq!(&together.1, &state, "{:?}", team);
    }
    Ok(())
}

/// Teams up to more members than a ring has slots.
fn teams() -> impl Strategy<Value = Option<(u32, Order)>> {
    (1u32..10, 0..ORDERS.len()).prop_map(|(size, order)| Some((size, ORDERS[order])))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_ring_forgets_the_edge_added_longest_ago(n in 2u32..48, slots in 1u32..=32, seed: u64) {
        check(&Case::new(n, seed, 100), OfRings(slots), None)?;
    }

    #[test]
    fn tables_remember_every_edge_they_have(n in 2u32..48, seed: u64) {
        let case = Case::new(n, seed, 100);
        check(&case, OfMatrix, None)?;
        check(&case, OfCandidates, None)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn members_share_a_ring(n in 2u32..48, slots in 1u32..=32, seed: u64, team in teams()) {
        check(&Case::new(n, seed, 12), OfRings(slots), team)?;
    }

    #[test]
    fn members_share_a_row_of_a_table(n in 2u32..48, seed: u64, team in teams()) {
        let case = Case::new(n, seed, 10);
        check(&case, OfMatrix, team)?;
        check(&case, OfCandidates, team)?;
    }
}

#[test]
fn a_warp_shares_rings_of_all_sizes() {
    for (i, slots) in [1, 2, 3, 4, 5, 7, 8, 31, 32].into_iter().enumerate() {
        let case = Case::new(40, slots.into(), 6);
        check(&case, OfRings(slots), Some((32, ORDERS[i % 4]))).unwrap();
    }
    let case = Case::new(40, 0, 6);
    check(&case, OfMatrix, Some((32, Order::Descending))).unwrap();
    check(&case, OfCandidates, Some((32, Order::Mixed))).unwrap();
}

/// Every thread adds 1 to the same few trails, often.
fn nothing_is_lost<K: Kind>(kind: K) {
    const TIMES: u32 = 30_000;
    let case = Case::new(6, 1, 0);
    let mut arrays = kind.arrays(case.shape());
    let memory = kind.memory(case.shape(), &mut arrays);
    let list = case.list(0);
    // SAFETY: nodes of the memory.
    unsafe { memory.clear(Serial, 0, 0.0) }
    let shared = Shareable::new(memory);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for time in 0..TIMES {
                    let edge = (0, list[time as usize % list.len()]);
                    // SAFETY: nodes of the memory.
                    unsafe { K::update_atomically(Serial, shared.get(), edge, |trail| trail + 1.0) }
                }
            });
        }
    });
    let total: f32 = list.iter().map(|&v| common::trails::trail(memory, case.shape(), (0, v))).sum();
    assert_eq!(total, 3.0 * TIMES as f32, "{kind:?}");
}

#[test]
fn no_atomic_update_is_lost() {
    nothing_is_lost(OfMatrix);
    nothing_is_lost(OfCandidates);
}

#[test]
fn an_edge_and_its_trail_change_together() {
    let mut word = Array::<u64>::of(&[u64::from(u32::MAX) << 32]);
    let shared = Shareable::new(word.start());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..2_000_000u32 {
                let v = i.wrapping_mul(0x9e37_79b1);
                // SAFETY: an aligned word that everyone changes by this module.
                unsafe { store_pair(shared.get(), (v, !v)) }
            }
            done.store(true, SeqCst);
        });
        while !done.load(SeqCst) {
            // SAFETY: as above.
            let (v, trail) = unsafe { load_pair(shared.get()) };
            assert_eq!(trail, !v);
        }
    });
}
