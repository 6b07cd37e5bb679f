//! Pheromone memories that ants change as they go, against simple models of them.

use crate::common::memory::Array;
use crate::common::teams::{ORDERS, Order, Shareable, run};
use crate::common::trails::{Arrays, Kind, OfCandidates, OfMatrix, OfRings, Shape, difference, edges, trail};
use antwarp_core::papers::ants::acs::{self, Rule};
use antwarp_core::papers::ants::pheromone::matrix::FAR;
use antwarp_core::papers::ants::pheromone::{MatrixTrails, Memory, Selective};
use antwarp_core::papers::ants::tabu::{Bitmask, NONE, Tabu};
use antwarp_core::relaxed::{load_pair, store_pair};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Team};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

const INITIAL: f32 = 0.125;

#[derive(Clone, Copy, Debug)]
enum Change {
    /// Between visits; both sides where edges have no direction.
    Update { v: u32 },
    /// The same by [`Atomic::update_edge`](antwarp_core::papers::ants::pheromone::Atomic::update_edge), where the trails may be `seen`.
    Edge { v: u32, back: bool, seen: f32 },
    /// Visits of an ant to these nodes until [`NONE`] comes; those trails on its way are updated whose bit is set. It
    /// `stops` at the last node, or goes on by a trail that is not updated.
    Walk { nodes: [u32; 4], due: u32, stops: bool },
    /// A best tour goes to a node that is no candidate.
    Remember { v: u32 },
    /// The node's row; all rows where edges have no direction.
    Clear,
}

/// What nobody should believe of a trail.
const HINTS: [f32; 8] = [INITIAL, 0.0, -0.0, 1.0, f32::MIN_POSITIVE, f32::INFINITY, f32::NAN, -7.5];

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

/// Operations on the first few of n nodes with k candidates each. Where edges have no direction they treat both sides of an
/// edge alike, as ants do.
struct Case {
    n: u32,
    k: u32,
    directed: bool,
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

    /// The visits of a walk: each with the node, the one to which the trail back is updated, and the one to which the trail
    /// forth is.
    fn visits(&self, nodes: &[u32], due: u32) -> Vec<(u32, u32, u32)> {
        let length = nodes.iter().take_while(|&&node| node != NONE).count();
        let end = |i: usize, edge: usize| if due >> edge & 1 == 1 { nodes[i] } else { NONE };
        let visit = |i: usize| {
            let back = if i > 0 && !self.directed { end(i - 1, i - 1) } else { NONE };
            (nodes[i], back, if i + 1 < length { end(i + 1, i) } else { NONE })
        };
        (0..length).map(visit).collect()
    }

    fn new(n: u32, seed: u64, length: u32, directed: bool) -> Self {
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
            let list: &[u32] = &lists[(node * k) as usize..][..k as usize];
            let change = match draws.below(3, 24) {
                0..3 => Change::Update { v: back },
                3..6 => {
                    let seen = HINTS[draws.below(6, HINTS.len() as u32) as usize];
                    Change::Edge { v: back, back: !directed || draws.below(4, 2) == 0, seen }
                }
                6..15 => {
                    // Some begin here, and no node comes twice.
                    let mut nodes = [NONE; 4];
                    let way =
                        [if draws.below(7, 3) > 0 { back } else { node }, node, forth, draws.below(8, n)];
                    let mut length = 0;
                    for v in way {
                        if !nodes.contains(&v) {
                            nodes[length] = v;
                            length += 1;
                        }
                    }
                    Change::Walk { nodes, due: draws.below(9, 8), stops: draws.below(10, 2) == 0 }
                }
                15 => Change::Clear,
                _ if list.contains(&forth) => Change::Update { v: forth },
                _ => Change::Remember { v: forth },
            };
            Operation { node, change, towards: draws.unit(5) }
        };
        let operations = (0..length).map(operation).collect();
        Case { n, k, directed, lists, operations }
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
    /// Not a trail: every node was offered.
    Everything,
    /// Not a trail: maybe not every node was offered.
    NotEverything,
}

/// Whether the ant for which trails from `node` are offered has been at `v`. A table with candidates' trails is asked
/// where the ant has been at all of these; rings do not know them.
fn is_visited<K: Kind>(case: &Case, node: u32, v: u32) -> bool {
    v.is_multiple_of(3) || K::Memory::<u32>::LISTED && case.list(node).contains(&v)
}

/// Bytes of an ant's tabu.
fn tabu_bytes(case: &Case) -> usize {
    Bitmask::bytes(case.n)
}

/// A visit as ants make it, with trails updated to the nodes `back` and `next`, unless they are [`NONE`]. `met` is told the
/// other trails to candidates, each on one member.
///
/// # Safety
/// The memory is one of the case, and the nodes too.
unsafe fn visit<T: Team, M: Memory>(
    team: T,
    case: &Case,
    memory: M,
    (node, back, next): (u32, u32, u32),
    revise: impl Fn(f32) -> f32 + Copy,
    mut met: impl FnMut(u32, f32),
) {
    let list = case.list(node);
    // SAFETY: the caller's promise, and the order that the trait asks for.
    unsafe {
        let row = memory.enter(team, node, back);
        let mut chosen = None;
        team.for_each(case.k, |i| {
            let v = list[i as usize];
            let (found, place) = memory.trail(row, i, v);
            if v == back {
                if M::LISTED {
                    memory.put(row, place, v, revise(found));
                }
                return;
            }
            met(v, found);
            chosen = if v == next { Some((found, place)) } else { chosen };
        });
        memory.put_back(team, row, back, revise);
        team.barrier();
        if let Some((found, place)) = chosen {
            memory.put(row, place, next, revise(found));
            if !case.directed {
                memory.mirror(node, next, revise(found));
            }
        }
        // As an ant without open candidate goes on.
        if next != NONE && !list.contains(&next) {
            memory.put_beyond(team, node, next, !case.directed, revise);
        }
        team.barrier();
    }
}

/// Carries the operations out and looks at every trail in between; what this member saw.
///
/// # Safety
/// The memory is one of the case, and `tabus` has [`tabu_bytes`] for each busy node.
unsafe fn carry_out<T: Team, K: Kind>(
    team: T,
    case: &Case,
    memory: K::Memory<u32>,
    tabus: *mut u8,
) -> Vec<Sight> {
    let mut sights = Vec::new();
    let all = edges::<K, u32>(case.shape());
    // SAFETY: the caller's promise, and visits as the trait asks for them.
    unsafe {
        let tabu = |node| {
            let mut tabu = Bitmask::new(tabus.add(node as usize * tabu_bytes(case)), case.n);
            tabu.reset(team);
            team.barrier();
            let visited = |&v: &u32| is_visited::<K>(case, node, v);
            (0..case.n).filter(visited).for_each(|v| tabu.mark(team, v));
            tabu
        };
        let tabus: Vec<Bitmask> = (0..case.busy()).map(tabu).collect();
        (0..case.n).for_each(|node| memory.clear(team, node, INITIAL));
        team.barrier();
        for (time, operation) in (0..).zip(&case.operations) {
            let (node, revise) = (operation.node, |trail| operation.revise(trail));
            match operation.change {
                Change::Clear if case.directed => memory.clear(team, node, INITIAL),
                Change::Clear => (0..case.n).for_each(|node| memory.clear(team, node, INITIAL)),
                Change::Update { v } => {
                    memory.update(team, node, v, revise);
                    team.barrier();
                    if !case.directed {
                        memory.update(team, v, node, revise);
                    }
                }
                Change::Edge { v, back, seen } => K::update_edge(team, memory, (node, v), back, seen, revise),
                Change::Remember { v } => memory.remember(team, node, v),
                Change::Walk { nodes, due, stops } => {
                    let visits = case.visits(&nodes, due);
                    for (i, &(node, back, next)) in visits.iter().enumerate() {
                        if stops && i + 1 == visits.len() {
                            if back != NONE {
                                memory.update_back(team, node, back, revise);
                            }
                        } else {
                            visit(team, case, memory, (node, back, next), revise, |v, trail| {
                                sights.push((time, How::Met, node, v, trail.to_bits()));
                            });
                        }
                    }
                }
            }
            team.barrier();
            for node in 0..case.busy() {
                let row = memory.enter(team, node, NONE);
                let from: Vec<_> = all.iter().filter(|edge| edge.0 == node).collect();
                team.for_each(from.len() as u32, |i| {
                    let &edge = from[i as usize];
                    let i = case.list(node).iter().position(|&v| v == edge.1).map(|i| i as u32);
                    let trail = K::trail(memory, row, i, edge);
                    sights.push((time, How::Asked, node, edge.1, trail.to_bits()));
                });
                memory.put_back(team, row, NONE, revise);
                let all = memory.beyond(team, row, &tabus[node as usize], |v, trail| {
                    sights.push((time, How::Offered, node, v, trail.to_bits()));
                });
                let members = team.sum(all.into());
                assert_eq!(members, u64::from(all) * u64::from(team.size()), "members do not agree");
                let how = if all { How::Everything } else { How::NotEverything };
                team.single(|| sights.push((time, how, node, 0, 0)));
                team.barrier();
            }
        }
    }
    sights
}

/// What is seen of a memory.
struct Seen {
    sights: Vec<Sight>,
    /// Every edge and the bits of its trail at the end.
    trails: Vec<((u32, u32), u32)>,
    /// Every bit at the end.
    state: Vec<u64>,
}

/// What has to be seen; nothing of bits.
fn expected<K: Kind>(case: &Case, kind: K) -> Seen {
    let mut model = kind.model(case.shape());
    let all = edges::<K, u32>(case.shape());
    let mut sights = Vec::new();
    for (time, operation) in (0..).zip(&case.operations) {
        let (node, revise) = (operation.node, |trail| operation.revise(trail));
        match operation.change {
            Change::Clear if case.directed => model.clear(node),
            Change::Clear => (0..case.n).for_each(|node| model.clear(node)),
            Change::Update { v } => {
                model.update(node, v, &revise);
                if !case.directed {
                    model.update(v, node, &revise);
                }
            }
            Change::Edge { v, back, .. } => {
                model.update(node, v, &revise);
                if back {
                    model.update(v, node, &revise);
                }
            }
            Change::Remember { v } => model.remember(node, v),
            Change::Walk { nodes, due, stops } => {
                let visits = case.visits(&nodes, due);
                for (i, &(node, back, next)) in visits.iter().enumerate() {
                    if back != NONE {
                        model.update(node, back, &revise);
                    }
                    if !(stops && i + 1 == visits.len()) {
                        for &v in case.list(node).iter().filter(|&&v| v != back) {
                            sights.push((time, How::Met, node, v, model.trail(node, v).to_bits()));
                        }
                    }
                    if next != NONE {
                        model.update(node, next, &revise);
                    }
                }
            }
        }
        for &(node, v) in all.iter().filter(|edge| edge.0 < case.busy()) {
            sights.push((time, How::Asked, node, v, model.trail(node, v).to_bits()));
        }
        for node in 0..case.busy() {
            let (offers, all) = model.offers(node);
            sights.push((time, if all { How::Everything } else { How::NotEverything }, node, 0, 0));
            for v in offers.into_iter().filter(|&v| !is_visited::<K>(case, node, v)) {
                sights.push((time, How::Offered, node, v, model.trail(node, v).to_bits()));
            }
        }
    }
    sights.sort_unstable();
    let trails = all.into_iter().map(|edge| (edge, model.trail(edge.0, edge.1).to_bits())).collect();
    Seen { sights, trails, state: vec![] }
}

/// What a team saw, together.
fn seen<K: Kind>(case: &Case, kind: K, team: Option<(u32, Order)>) -> Seen {
    let shape = case.shape();
    let mut arrays = kind.arrays(shape);
    let memory = kind.memory(shape, &mut arrays);
    let mut tabus = Array::<u8>::rubbish(tabu_bytes(case) * case.busy() as usize);
    let shared = Shareable::new((memory, tabus.start()));
    let mut sights = match team {
        // SAFETY: everything was allocated for this case.
        None => unsafe { carry_out::<_, K>(Serial, case, memory, shared.get().1) },
        Some((size, order)) => run(size, order, |team| {
            let (memory, tabus) = shared.get();
            // SAFETY: as above.
            unsafe { carry_out::<_, K>(team, case, memory, tabus) }
        })
        .concat(),
    };
    sights.sort_unstable();
    let bits = |edge| (edge, trail::<K, u32>(memory, shape, edge).to_bits());
    let trails = edges::<K, u32>(shape).into_iter().map(bits).collect();
    Seen { sights, trails, state: arrays.state(shape) }
}

/// The operations on one member, then on a team.
fn check<K: Kind>(case: &Case, kind: K, team: Option<(u32, Order)>) -> Result<(), TestCaseError> {
    let expected = expected(case, kind);
    let alone = seen(case, kind, None);
    for (team, seen) in [(None, None), (team, team.map(|_| seen(case, kind, team)))] {
        let seen = seen.as_ref().unwrap_or(&alone);
        let difference = difference(&seen.sights, &expected.sights)
            .or_else(|| difference(&seen.trails, &expected.trails))
            .or_else(|| difference(&seen.state, &alone.state));
        if let Some(difference) = difference {
            let what = format!("{kind:?}, {team:?}, directed {}: {difference}", case.directed);
            return Err(TestCaseError::fail(what));
        }
    }
    // Rings forget one side of an edge and not the other.
    if !case.directed && K::Memory::<u32>::LISTED {
        let trails: HashMap<_, _> = alone.trails.iter().copied().collect();
        for (&(i, j), there) in &trails {
            let back = trails.get(&(j, i));
            prop_assert!(back.is_none_or(|back| back == there), "{kind:?}: {i} to {j} is not {j} to {i}");
        }
    }
    Ok(())
}

/// Fewer under Miri, which takes a thousand times as long.
const NODES: u32 = if cfg!(miri) { 14 } else { 48 };
const OPERATIONS: u32 = if cfg!(miri) { 20 } else { 100 };
const WARP: u32 = if cfg!(miri) { 4 } else { 32 };

/// Teams up to more members than a ring has slots.
fn teams() -> impl Strategy<Value = Option<(u32, Order)>> {
    (1u32..10, 0..ORDERS.len()).prop_map(|(size, order)| Some((size, ORDERS[order])))
}

proptest! {
    #![proptest_config(crate::common::cases(128))]

    #[test]
    fn a_ring_forgets_the_edge_added_longest_ago(
        n in 2..NODES, slots in 1u32..=32, seed: u64, directed: bool,
    ) {
        check(&Case::new(n, seed, OPERATIONS, directed), OfRings(slots), None)?;
    }

    #[test]
    fn tables_remember_every_edge_they_have(n in 2..NODES, seed: u64, directed: bool) {
        let case = Case::new(n, seed, OPERATIONS, directed);
        check(&case, OfMatrix, None)?;
        check(&case, OfCandidates, None)?;
    }
}

proptest! {
    #![proptest_config(crate::common::cases(48))]

    #[test]
    fn members_share_a_ring(
        n in 2..NODES, slots in 1u32..=32, seed: u64, directed: bool, team in teams(),
    ) {
        check(&Case::new(n, seed, 12, directed), OfRings(slots), team)?;
    }

    #[test]
    fn members_share_a_row_of_a_table(n in 2..NODES, seed: u64, directed: bool, team in teams()) {
        let case = Case::new(n, seed, 10, directed);
        check(&case, OfMatrix, team)?;
        check(&case, OfCandidates, team)?;
    }
}

#[test]
fn a_warp_shares_rings_of_all_sizes() {
    for (i, slots) in [1, 2, 3, 4, 5, 7, 8, 31, 32].into_iter().enumerate() {
        let case = Case::new(NODES - 8, slots.into(), 6, i % 2 == 1);
        check(&case, OfRings(slots), Some((WARP, ORDERS[i % 4]))).unwrap();
    }
    for directed in [false, true] {
        let case = Case::new(NODES - 8, 0, 6, directed);
        check(&case, OfMatrix, Some((WARP, Order::Descending))).unwrap();
        check(&case, OfCandidates, Some((WARP, Order::Mixed))).unwrap();
    }
}

/// Every thread adds 1 to both sides of the same few edges, often, and has seen anything before.
fn nothing_is_lost<K: Kind>(kind: K) {
    const TIMES: u32 = if cfg!(miri) { 60 } else { 30_000 };
    let case = Case::new(6, 1, 0, true);
    let mut arrays = kind.arrays(case.shape());
    let memory = kind.memory(case.shape(), &mut arrays);
    // SAFETY: nodes of the memory.
    (0..case.n).for_each(|node| unsafe { memory.clear(Serial, node, 0.0) });
    let some: Vec<(u32, u32)> = (1..case.n).map(|v| (0, v)).chain([(1, 0), (1, 2)]).collect();
    // The edge of a time, and whether both sides of it are updated.
    let edge = |time: u32| (some[time as usize % some.len()], !time.is_multiple_of(3));
    let shared = Shareable::new(memory);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for time in 0..TIMES {
                    let (seen, (edge, back)) = ((time / 4) as f32, edge(time));
                    // SAFETY: nodes of the memory.
                    unsafe { K::update_edge(Serial, shared.get(), edge, back, seen, |trail| trail + 1.0) }
                }
            });
        }
    });
    let mut expected = HashMap::new();
    for ((from, to), back) in (0..TIMES).map(edge) {
        *expected.entry((from, to)).or_insert(0) += 3;
        *expected.entry((to, from)).or_insert(0) += if back { 3 } else { 0 };
    }
    let mut listed = 0;
    for edge in edges::<K, u32>(case.shape()) {
        let trail = trail::<K, u32>(memory, case.shape(), edge);
        assert_eq!(trail, *expected.get(&edge).unwrap_or(&0) as f32, "{kind:?}, {edge:?}");
        listed += u32::from(trail > 0.0);
    }
    assert!(listed > 5, "{listed}");
}

#[test]
fn no_atomic_update_is_lost() {
    nothing_is_lost(OfMatrix);
    nothing_is_lost(OfCandidates);
}

/// Every edge is updated once, or every edge and its other side, with trails that have all been different before.
fn any_hint_will_do<K: Kind>(kind: K) {
    let case = Case::new(if cfg!(miri) { 4 } else { 9 }, 3, 0, true);
    let shape = case.shape();
    let strange = |edge: (u32, u32)| (1.0 + (edge.0 * 31 + edge.1 * 17) as f32) / 512.0;
    let all = edges::<K, u32>(shape);
    // Every pair, whether or not there is a trail from one to the other.
    let pairs = (0..case.n).flat_map(|i| (0..case.n).filter(move |&j| j != i).map(move |j| (i, j)));
    for ((from, to), back) in pairs.flat_map(|edge| [(edge, false), (edge, true)]) {
        let [seen, other] = [(from, to), (to, from)].map(strange);
        let mut first = None;
        for (at, seen) in [seen, other].into_iter().chain(HINTS).enumerate() {
            let teams = [None, Some((1 + at as u32, ORDERS[at % 4]))];
            for team in if (from + to) % 4 == 0 { &teams[..] } else { &teams[..1] } {
                let mut arrays = kind.arrays(shape);
                let memory = kind.memory(shape, &mut arrays);
                // SAFETY: nodes of the memory.
                unsafe {
                    (0..case.n).for_each(|node| memory.clear(Serial, node, INITIAL));
                    all.iter().for_each(|&(i, j)| memory.update(Serial, i, j, |_| strange((i, j))));
                }
                let revise = |trail: f32| 0.75 * trail + 0.25;
                let shared = Shareable::new(memory);
                match team {
                    // SAFETY: nodes of the memory.
                    None => unsafe { K::update_edge(Serial, memory, (from, to), back, seen, revise) },
                    Some((size, order)) => drop(run(*size, *order, |team| {
                        // SAFETY: as above.
                        unsafe { K::update_edge(team, shared.get(), (from, to), back, seen, revise) }
                    })),
                }
                for &edge in &all {
                    let concerned = edge == (from, to) || back && edge == (to, from);
                    let expected = if concerned { revise(strange(edge)) } else { strange(edge) };
                    let trail = trail::<K, u32>(memory, shape, edge);
                    assert_eq!(
                        trail, expected,
                        "{kind:?}, {edge:?} after {from} to {to}, back {back}, {seen} seen, {team:?}"
                    );
                }
                let state = arrays.state(shape);
                assert_eq!(first.get_or_insert_with(|| state.clone()), &state, "{seen} seen, {team:?}");
            }
        }
    }
}

#[test]
fn what_was_seen_before_an_atomic_update_does_not_matter() {
    any_hint_will_do(OfMatrix);
    any_hint_will_do(OfCandidates);
}

// Far nodes.

/// What was offered, with its trail, and whether that was everything.
type Offers = (Vec<(u32, f32)>, bool);

/// Has the first node remember some others, and tells what is offered then to an ant that has been at all candidates
/// and at `visited`, and what the row looks like.
fn remembered(
    case: &Case,
    far: &[u32],
    visited: &[u32],
    team: Option<(u32, Order)>,
) -> (Offers, (Vec<u32>, u32)) {
    /// # Safety
    /// As [`carry_out`].
    unsafe fn look<T: Team>(
        team: T,
        case: &Case,
        memory: MatrixTrails<u32>,
        tabu: *mut u8,
        (far, visited): (&[u32], &[u32]),
    ) -> Offers {
        let mut offers = Vec::new();
        // SAFETY: the caller's promise; barriers as `deposit_row` has them.
        unsafe {
            let mut tabu = Bitmask::new(tabu, case.n);
            tabu.reset(team);
            (0..case.n).for_each(|node| memory.clear(team, node, INITIAL));
            team.barrier();
            case.list(0).iter().chain(visited).chain(&[0]).for_each(|&v| tabu.mark(team, v));
            for &v in far {
                memory.update(team, 0, v, |trail| trail + v as f32);
                memory.remember(team, 0, v);
                team.barrier();
            }
            let row = memory.enter(team, 0, NONE);
            let all = memory.beyond(team, row, &tabu, |v, trail| offers.push((v, trail)));
            team.barrier();
            (offers, all)
        }
    }
    let mut arrays = OfMatrix.arrays(case.shape());
    let memory = OfMatrix.memory(case.shape(), &mut arrays);
    let mut tabu = Array::<u8>::rubbish(tabu_bytes(case));
    let shared = Shareable::new((memory, tabu.start()));
    let results = match team {
        // SAFETY: everything was allocated for this case.
        None => vec![unsafe { look(Serial, case, memory, shared.get().1, (far, visited)) }],
        Some((size, order)) => run(size, order, |team| {
            let (memory, tabu) = shared.get();
            // SAFETY: as above.
            unsafe { look(team, case, memory, tabu, (far, visited)) }
        }),
    };
    assert!(results.iter().all(|result| result.1 == results[0].1));
    let all = results[0].1;
    let mut offers: Vec<_> = results.into_iter().flat_map(|result| result.0).collect();
    offers.sort_by_key(|offer| offer.0);
    (1..case.n).for_each(|node| assert_eq!(arrays.far(node), (vec![], 0)));
    ((offers, all), arrays.far(0))
}

#[test]
fn a_row_remembers_each_far_node_once_until_there_are_too_many() {
    let case = Case::new(if cfg!(miri) { 28 } else { 70 }, 5, 0, true);
    let others: Vec<u32> = (1..case.n).filter(|v| !case.list(0).contains(v)).collect();
    let most = FAR as usize - 1;
    for count in (0..FAR + 5).step_by(if cfg!(miri) { 6 } else { 1 }).map(|count| count as usize) {
        // Each node comes again, some at once and some later, and also when there is no more room.
        let distinct = &others[..count];
        let mut far: Vec<u32> = distinct.iter().flat_map(|&v| [v, v, distinct[0]]).collect();
        far.extend(distinct.iter().rev());
        let times = |v| far.iter().filter(|&&u| u == v).count() as f32;
        for visited in [vec![], vec![others[0]], others.iter().copied().step_by(2).collect(), others.clone()]
        {
            for team in [None].into_iter().chain(ORDERS.map(|order| Some((5, order)))) {
                let ((offers, all), row) = remembered(&case, &far, &visited, team);
                assert_eq!(row, (distinct[..count.min(most)].to_vec(), (count as u32).min(FAR)), "{team:?}");
                assert_eq!(all, count > most);
                let known = if all { &others[..] } else { distinct };
                let open = known.iter().copied().filter(|v| !visited.contains(v));
                let expected: Vec<_> = open.map(|v| (v, INITIAL + times(v) * v as f32)).collect();
                assert_eq!(offers, expected, "{count} far nodes, {team:?}");
            }
        }
    }
}

#[test]
fn a_cleared_row_remembers_no_far_nodes() {
    let case = Case::new(40, 6, 0, true);
    let mut arrays = OfMatrix.arrays(case.shape());
    let memory = OfMatrix.memory(case.shape(), &mut arrays);
    let others: Vec<u32> = (1..case.n).filter(|v| !case.list(0).contains(v)).collect();
    for count in [0, 1, FAR as usize - 1, FAR as usize, 12] {
        // SAFETY: nodes of the memory.
        unsafe {
            memory.clear(Serial, 0, INITIAL);
            others[..count].iter().for_each(|&v| memory.remember(Serial, 0, v));
            memory.clear(Serial, 0, INITIAL);
        }
        assert_eq!(arrays.far(0), (vec![], 0), "{count}");
    }
}

// Rings.

/// A ring of node 0, and what happens to it.
struct OneRing {
    memory: Selective,
    arrays: Arrays,
}

impl OneRing {
    fn new(slots: u32) -> Self {
        let (kind, shape) = (OfRings(slots), Shape::<u32> { n: 40, k: 0, lists: &0, initial: 0.1 });
        let mut arrays = kind.arrays(shape);
        let memory = kind.memory(shape, &mut arrays);
        // SAFETY: nodes of the memory.
        (0..shape.n).for_each(|node| unsafe { memory.clear(Serial, node, 0.1) });
        OneRing { memory, arrays }
    }

    /// What an ant reads.
    fn trail(&self, v: u32) -> f32 {
        // SAFETY: nodes of the memory.
        unsafe { self.memory.trail(self.memory.enter(Serial, 0, NONE), 0, v).0 }
    }

    /// The highest trail to `v` that is offered to an ant without open candidate.
    fn offer(&self, v: u32) -> f32 {
        let mut words = Array::<u8>::rubbish(Bitmask::bytes(40));
        let mut highest = 0f32;
        // SAFETY: a tabu and nodes of the memory.
        unsafe {
            let mut tabu = Bitmask::new(words.start(), 40);
            tabu.reset(Serial);
            let row = self.memory.enter(Serial, 0, NONE);
            self.memory.beyond(Serial, row, &tabu, |u, trail| {
                highest = if u == v { highest.max(trail) } else { highest };
            });
        }
        highest
    }

    fn slots_of(&self, v: u32) -> Vec<usize> {
        let ring = self.arrays.ring(0);
        (0..ring.len()).filter(|&slot| ring[slot] as u32 == v).collect()
    }
}

/// Two ants that meet may put one edge into two slots: what the later ones read is what changes then.
fn changes_are_seen(ring: &OneRing, v: u32, what: &str) {
    assert_eq!(ring.slots_of(v).len(), 2, "{what}");
    let (memory, keep) = (ring.memory, |trail| trail);
    // SAFETY: nodes of the memory.
    unsafe {
        memory.update(Serial, 0, v, |_| 0.9);
        assert_eq!((ring.trail(v), ring.offer(v)), (0.9, 0.9), "updated, {what}");
        memory.update(Serial, 0, v, |trail| trail + 0.25);
        assert_eq!((ring.trail(v), ring.offer(v)), (1.15, 1.15), "updated again, {what}");
        // An ant wears it down on its way forth, then one on its way back.
        let row = memory.enter(Serial, 0, NONE);
        let (found, entry) = memory.trail(row, 0, v);
        memory.put_back(Serial, row, NONE, keep);
        memory.put(row, entry, v, found - 0.5);
        assert_eq!(ring.trail(v), found - 0.5, "forth, {what}");
        let row = memory.enter(Serial, 0, v);
        memory.put_back(Serial, row, v, |trail| trail + 2.0);
        assert_eq!((ring.trail(v), ring.offer(v)), (found + 1.5, found + 1.5), "back, {what}");
        // The end of an iteration.
        let rule = Rule { global: 0.5, directed: 1, ..RULE };
        let before = ring.trail(v);
        acs::deposit_row(Serial, rule, (&0u32, 0), memory, 0, (v, v), 4.0);
        assert_eq!((ring.trail(v), ring.offer(v)), (0.5 * before + 2.0, 0.5 * before + 2.0), "{what}");
    }
    assert_eq!(ring.slots_of(v).len(), 2, "{what}");
}

const RULE: Rule = Rule {
    patience: f32::INFINITY,
    period: 1,
    initial: 0.1,
    local: 0.5,
    global: 0.5,
    beta: 2.0,
    scale: 10.0,
    directed: 0,
    remembered: 0,
    passing: 1,
};

#[test]
fn a_change_after_two_ants_met_is_seen_by_the_next() {
    for slots in [2, 3, 4, 8, 9, 12, 17, 32] {
        // However many edges there were before, also so that the ring has begun anew.
        for before in 0..slots + 2 {
            let ring = OneRing::new(slots);
            let (memory, keep) = (ring.memory, |trail| trail);
            // SAFETY: nodes of the memory.
            unsafe {
                (0..before).for_each(|i| memory.update(Serial, 0, 6 + i, keep));
                let first = memory.enter(Serial, 0, 5);
                let second = memory.enter(Serial, 0, NONE);
                let (x, y) = (memory.trail(first, 0, 3), memory.trail(second, 0, 3));
                memory.put_back(Serial, first, 5, keep);
                memory.put_back(Serial, second, NONE, keep);
                memory.put(first, x.1, 3, x.0);
                memory.put(second, y.1, 3, y.0);
            }
            changes_are_seen(&ring, 3, &format!("{slots} slots, {before} edges before"));
        }
    }
}

#[test]
fn of_two_slots_with_one_edge_all_look_at_the_same() {
    for &slots in if cfg!(miri) { &[2, 5][..] } else { &[2, 5, 8, 12, 32] } {
        for (a, b) in (0..slots).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let ring = OneRing::new(slots);
            // SAFETY: slots of the first ring.
            unsafe {
                (0..slots).for_each(|i| ring.memory.update(Serial, 0, 6 + i, |_| 0.3));
                store_pair(ring.memory.edges.at(a), (3, 0.1f32.to_bits()));
                store_pair(ring.memory.edges.at(b), (3, 0.2f32.to_bits()));
            }
            changes_are_seen(&ring, 3, &format!("slots {a} and {b} of {slots}"));
        }
    }
}

#[test]
fn a_ring_of_best_tours_takes_in_no_edge_that_ants_take() {
    for slots in [1, 3, 8, 12] {
        let mut ring = OneRing::new(slots);
        ring.memory.passing = false;
        let (memory, wear) = (ring.memory, |trail: f32| 0.5 * trail + 0.25);
        // SAFETY: nodes of the memory.
        unsafe {
            (1..=slots).for_each(|v| memory.deposit(Serial, 0, v, |_| 0.75));
            let full = ring.arrays.ring(0).to_vec();
            memory.update(Serial, 0, 30, wear);
            memory.put_beyond(Serial, 0, 31, true, wear);
            let row = memory.enter(Serial, 0, 32);
            let (found, entry) = memory.trail(row, 0, 33);
            assert_eq!((memory.trail(row, 0, 1).0, found), (0.75, 0.1));
            memory.put_back(Serial, row, 32, wear);
            memory.put(row, entry, 33, wear(found));
            assert_eq!(ring.arrays.ring(0), full, "{slots} slots");
            assert!(!memory.has(0, 33) && memory.has(0, 1));
            // What it has is worn down, and makes way for an edge of a best tour.
            memory.update(Serial, 0, 1, wear);
            assert_eq!(ring.trail(1), 0.625);
            memory.deposit(Serial, 0, 34, |_| 0.5);
            assert_eq!((ring.trail(1), ring.trail(34)), (0.1, 0.5));
        }
    }
}

#[test]
fn a_node_keeps_in_mind_that_best_tours_went_far() {
    for (slots, passing) in [(1, true), (8, true), (8, false)] {
        let mut ring = OneRing::new(slots);
        ring.memory.passing = passing;
        let (memory, keep) = (ring.memory, |trail| trail);
        // SAFETY: nodes of the memory.
        unsafe {
            let is_far = || memory.is_far(memory.enter(Serial, 0, NONE));
            memory.deposit(Serial, 0, 3, keep);
            assert!(!is_far());
            memory.remember(Serial, 0, 3);
            // Whatever comes into the ring, however it comes.
            for v in 4..20 {
                memory.update(Serial, 0, v, keep);
                memory.deposit(Serial, 0, v + 1, keep);
                let row = memory.enter(Serial, 0, v + 2);
                let (found, entry) = memory.trail(row, 0, v + 3);
                memory.put_back(Serial, row, v + 2, keep);
                memory.put(row, entry, v + 3, found);
                assert!(is_far() && (memory.has(0, v + 3) || !passing), "{v}, {slots} slots");
            }
            memory.clear(Serial, 0, 0.1);
            assert!(!is_far());
        }
    }
}

#[test]
fn an_edge_and_its_trail_change_together() {
    let mut word = Array::<u64>::of(&[u64::from(u32::MAX) << 32]);
    let shared = Shareable::new(word.start());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..if cfg!(miri) { 100 } else { 2_000_000u32 } {
                let v = i.wrapping_mul(0x9e37_79b1);
                // SAFETY: an aligned word that everyone changes by this module.
                unsafe { store_pair(shared.get(), (v, !v)) }
            }
            done.store(true, SeqCst);
        });
        while !done.load(SeqCst) {
            // SAFETY: as above.
            let (v, trail) = unsafe { load_pair(shared.get(), true) };
            assert_eq!(trail, !v);
        }
    });
}
