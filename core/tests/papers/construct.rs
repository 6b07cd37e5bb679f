//! Tours are permutations; they depend on seed and ant, not on the tabu's layout, the width of ids or the team.

use crate::common::memory::{Array, Number};
use crate::common::teams::{ORDERS, Order, Shareable, run};
use antwarp_core::distance::{Distances, Exceptions};
use antwarp_core::metric::Metric;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::colony::{ColonyRules, ColonyState, Depositor, Limits, judge};
use antwarp_core::papers::ants::construct::{Lists, candidates, full, full_leaves, memory_bytes, row_stride};
use antwarp_core::papers::ants::pheromone::{self, Form};
use antwarp_core::papers::ants::select::{Reservoir, Roulette, Select};
use antwarp_core::papers::ants::tabu::{Bitmask, Compact, ListCompression, Tabu};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots, Team};
use antwarp_core::tour;
use proptest::prelude::*;

/// Nodes in reserve for a node: more than some teams, fewer than others.
const RESERVE: u32 = 5;

/// Nodes in a plane, some at one place, with their weights and candidate lists.
struct World {
    n: u32,
    k: u32,
    points: Vec<[f64; 3]>,
    rows: Array<f32>,
    lists: Vec<u32>,
    list_weights: Vec<f32>,
    /// [`RESERVE`] more neighbours a node.
    reserves: Vec<u32>,
    /// Successors and predecessors in the tour that ants follow: by number, to begin with.
    links: (Vec<u32>, Vec<u32>),
}

impl World {
    fn new(n: u32, k: u32, seed: u64) -> Self {
        let draws = Stream::new(seed, 0, 0).step(0);
        let points: Vec<[f64; 3]> =
            (0..n).map(|i| [draws.below(2 * i, 40) as f64, draws.below(2 * i + 1, 40) as f64, 0.0]).collect();
        let away = |i: u32, j: u32| {
            let (a, b) = (points[i as usize], points[j as usize]);
            (a[0] - b[0]).hypot(a[1] - b[1])
        };
        let weight = |i: u32, j: u32| (1.0 / (0.1 + away(i, j)).powi(3)) as f32;
        let stride = row_stride(n);
        let mut rows = vec![0.0; (n * stride) as usize];
        let (mut lists, mut list_weights, mut reserves) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                rows[(i * stride + j) as usize] = weight(i, j);
            }
            let mut others: Vec<u32> = (0..n).filter(|&j| j != i).collect();
            others.sort_by(|&a, &b| away(i, a).total_cmp(&away(i, b)).then(a.cmp(&b)));
            // Some are listed and in reserve, or twice in reserve: it makes no difference.
            reserves.extend((0..RESERVE).map(|r| *others.get((k + r) as usize % n as usize).unwrap_or(&i)));
            others.truncate(k as usize);
            list_weights.extend(others.iter().map(|&j| weight(i, j)));
            lists.extend(others);
        }
        let links = ((0..n).map(|i| (i + 1) % n).collect(), (0..n).map(|i| (i + n - 1) % n).collect());
        World { n, k, points, rows: Array::of(&rows), lists, list_weights, reserves, links }
    }

    fn distance(&self) -> Distances {
        Distances {
            matrix: std::ptr::null(),
            points: self.points.as_ptr(),
            metric: Some(Metric::Euc2d),
            n: self.n,
            exceptions: Exceptions::NONE,
        }
    }

    /// The tour of a stream on every member of `team`.
    ///
    /// # Safety
    /// `memory` and `tour` have the sizes that [`full`] asks for.
    unsafe fn full_on<T: Team, B: Tabu, S: Select, I: NodeId>(
        &self,
        team: T,
        stream: Stream,
        memory: *mut u8,
        tour: Slots<I>,
    ) {
        // SAFETY: the rows are as `full` wants them, the rest is the caller's promise.
        unsafe { full::<T, B, S, I>(team, self.n, self.rows.as_ptr(), memory, tour, stream) }
    }

    /// The same for [`candidates`].
    ///
    /// # Safety
    /// `memory` and `tour` have the sizes that [`candidates`] asks for; `lists` are the world's.
    unsafe fn candidates_on<T: Team, B: Tabu, S: Select, I: NodeId>(
        &self,
        team: T,
        stream: Stream,
        lists: *const I,
        memory: *mut u8,
        tour: Slots<I>,
    ) {
        let reserves: Vec<I> = self.reserves.iter().map(|&v| I::new(v)).collect();
        let lists = Lists {
            k: self.k,
            nodes: lists,
            weights: self.list_weights.as_ptr(),
            reserve: RESERVE,
            reserves: reserves.as_ptr(),
            successor: self.links.0.as_ptr(),
            predecessor: self.links.1.as_ptr(),
        };
        // SAFETY: lists and weights are n x k, links are nodes, the rest is the caller's promise.
        unsafe { candidates::<T, B, S, I, _>(team, self.n, lists, self.distance(), memory, tour, stream) }
    }

    fn lists<I: NodeId>(&self) -> Vec<I> {
        self.lists.iter().map(|&v| I::new(v)).collect()
    }
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Full,
    Candidates,
}

/// Which threads build a tour.
#[derive(Clone, Copy, Debug)]
enum Builders {
    One,
    Many(u32, Order),
}

fn build<B: Tabu, S: Select, I: NodeId + Number>(
    world: &World,
    way: Way,
    stream: Stream,
    builders: Builders,
) -> Vec<u32> {
    let leaves = match way {
        Way::Full => full_leaves(world.n),
        Way::Candidates => world.k,
    };
    let mut memory = Array::<u8>::rubbish(memory_bytes::<B, S>(world.n, leaves));
    let mut tour = Array::<I>::rubbish(world.n as usize);
    let lists = world.lists::<I>();
    let shared = Shareable::new((memory.start(), tour.slots(), lists.as_ptr(), world));
    fn work<T: Team, B: Tabu, S: Select, I: NodeId>(
        team: T,
        way: Way,
        stream: Stream,
        (memory, tour, lists, world): (*mut u8, Slots<I>, *const I, &World),
    ) {
        // SAFETY: memory and tour were allocated with the right sizes.
        unsafe {
            match way {
                Way::Full => world.full_on::<T, B, S, I>(team, stream, memory, tour),
                Way::Candidates => world.candidates_on::<T, B, S, I>(team, stream, lists, memory, tour),
            }
        }
    }
    match builders {
        Builders::One => work::<_, B, S, I>(Serial, way, stream, shared.get()),
        Builders::Many(size, order) => {
            run(size, order, |team| work::<_, B, S, I>(team, way, stream, shared.get()));
        }
    }
    tour.iter().map(|v| v.get()).collect()
}

/// The tours of the six variants: the first three by reservoir, the others by roulette.
fn build_all<I: NodeId + Number>(world: &World, way: Way, stream: Stream, builders: Builders) -> [Vec<u32>; 6]
where
    ListCompression<I>: Tabu,
    Compact<I>: Tabu,
{
    [
        build::<ListCompression<I>, Reservoir, I>(world, way, stream, builders),
        build::<Compact<I>, Reservoir, I>(world, way, stream, builders),
        build::<Bitmask, Reservoir, I>(world, way, stream, builders),
        build::<ListCompression<I>, Roulette, I>(world, way, stream, builders),
        build::<Compact<I>, Roulette, I>(world, way, stream, builders),
        build::<Bitmask, Roulette, I>(world, way, stream, builders),
    ]
}

fn is_permutation(tour: &[u32]) -> bool {
    let mut sorted = tour.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..tour.len() as u32)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tours_are_permutations((n, k) in (2u32..200).prop_flat_map(|n| (Just(n), 1..n)), seed: u64) {
        let world = World::new(n, k, seed);
        let stream = Stream::new(seed, 1, 2);
        for way in [Way::Full, Way::Candidates] {
            let narrow = build_all::<u16>(&world, way, stream, Builders::One);
            let wide = build_all::<u32>(&world, way, stream, Builders::One);
            prop_assert!(narrow.iter().all(|tour| is_permutation(tour)), "{:?}: {:?}", way, narrow);
            prop_assert_eq!(&narrow, &wide);
            if let Way::Candidates = way {
                prop_assert!(narrow[..3].iter().all(|tour| tour == &narrow[0]));
                prop_assert!(narrow[3..].iter().all(|tour| tour == &narrow[3]));
            }
        }
    }
}

#[test]
fn one_node_is_a_tour() {
    let world = World::new(1, 0, 0);
    for tour in build_all::<u16>(&world, Way::Full, Stream::new(0, 0, 0), Builders::One) {
        assert_eq!(tour, [0]);
    }
}

#[test]
fn the_stream_decides() {
    let world = World::new(50, 10, 3);
    for way in [Way::Full, Way::Candidates] {
        let tours = |stream| build_all::<u16>(&world, way, stream, Builders::One);
        let tour = tours(Stream::new(1, 2, 3));
        let others = [Stream::new(0, 2, 3), Stream::new(1, 3, 3), Stream::new(1, 2, 4)].map(tours);
        for variant in 0..6 {
            assert_eq!(tour[variant], tours(Stream::new(1, 2, 3))[variant]);
            assert!(others.iter().all(|other| other[variant] != tour[variant]), "{way:?} {variant}");
        }
    }
}

#[test]
fn without_open_candidates_an_ant_follows_the_tour_then_the_nearest_node_is_next() {
    // A star: everybody's only candidate is node 0, so after it all goes by distance, ties by number.
    let n = 9u32;
    let x = [0.0, 4.0, -4.0, 9.0, 9.0, 30.0, 31.0, -20.0, 60.0];
    let mut world = World::new(n, 1, 0);
    world.points = x.iter().map(|&x| [x, 0.0, 0.0]).collect();
    world.lists = [1, 0, 0, 0, 0, 0, 0, 0, 0].to_vec();
    world.list_weights = vec![1.0; n as usize];
    // The tour knows where 3 and 5 lead; the others are their own neighbours, as before any tour.
    world.links = ((0..n).collect(), (0..n).collect());
    (world.links.0[3], world.links.1[3], world.links.1[5]) = (8, 7, 2);
    // One node has reserves, in an order that is not by distance.
    world.reserves = (0..n).flat_map(|v| if v == 4 { [7, 8, 1, 1, 2] } else { [v; 5] }).collect();
    let nearest = |node: u32, open: &[u32]| {
        *open.iter().min_by_key(|&&v| ((x[node as usize] - x[v as usize]).abs() as u32, v)).unwrap()
    };
    for ant in 0..20 {
        let stream = Stream::new(5, 0, ant);
        let tour = &build_all::<u16>(&world, Way::Candidates, stream, Builders::One)[ant as usize % 6];
        for step in 1..n as usize {
            let (node, open) = (tour[step - 1], &tour[step..]);
            let listed = world.lists[node as usize];
            let mut known = vec![listed, world.links.0[node as usize], world.links.1[node as usize]];
            known.extend(&world.reserves[node as usize * RESERVE as usize..][..RESERVE as usize]);
            let expected =
                known.into_iter().find(|v| open.contains(v)).unwrap_or_else(|| nearest(node, open));
            assert_eq!(tour[step], expected, "{tour:?} at {step}");
        }
    }
}

#[test]
fn first_nodes_are_uniform() {
    let world = World::new(10, 3, 0);
    let mut counts = [0; 10];
    for ant in 0..20_000 {
        let stream = Stream::new(11, 0, ant);
        let tour = build::<Bitmask, Reservoir, u16>(&world, Way::Candidates, stream, Builders::One);
        counts[tour[0] as usize] += 1;
    }
    assert!(crate::common::statistics::uniformity(&counts) > crate::common::statistics::LEVEL, "{counts:?}");
}

/// Every team must build the tours that one thread builds.
fn teams_agree(way: Way, size: u32) {
    // 40 nodes are five groups, 83 make the roulette's tree three levels deep and leave the last group open.
    for (n, k) in [(40, 5), (83, 12)] {
        let world = World::new(n, k, 8);
        let stream = Stream::new(21, 4, n);
        let alone = build_all::<u16>(&world, way, stream, Builders::One);
        for order in ORDERS {
            let team = build_all::<u16>(&world, way, stream, Builders::Many(size, order));
            for variant in 0..6 {
                assert_eq!(
                    team[variant], alone[variant],
                    "{way:?}, variant {variant}, {size} {order:?}, n {n}"
                );
            }
        }
    }
}

#[test]
fn three_members_build_full() {
    teams_agree(Way::Full, 3);
}

#[test]
fn four_members_build_full() {
    teams_agree(Way::Full, 4);
}

#[test]
fn thirty_two_members_build_full() {
    teams_agree(Way::Full, 32);
}

#[test]
fn three_members_build_from_candidates() {
    teams_agree(Way::Candidates, 3);
}

#[test]
fn four_members_build_from_candidates() {
    teams_agree(Way::Candidates, 4);
}

#[test]
fn thirty_two_members_build_from_candidates() {
    teams_agree(Way::Candidates, 32);
}

/// Two iterations of a colony: construction, costs, judgement and update by one team.
fn colony<T: Team>(team: T, world: &World, ants: u32, parts: ColonyParts) -> Vec<ColonyState> {
    let (n, stride) = (world.n as usize, row_stride(world.n) as usize);
    let form = pheromone::Matrix { n: world.n };
    let rules = ColonyRules {
        target: 0,
        unit_cost: 500.0,
        persistence: 0.9,
        limit_ratio: 0.01,
        reset_after: 0,
        padding: 0,
    };
    assert_eq!(form.stride() as usize, stride);
    let mut states = Vec::new();
    // SAFETY: all parts have their sizes; barriers separate writers from readers.
    unsafe {
        for node in 0..world.n {
            let distance = world.distance();
            pheromone::prepare_row(team, form, parts.tables, node, distance, (10.0, 2.0), (1.0, 1.0));
        }
        team.barrier();
        for iteration in 0..2 {
            for ant in 0..ants {
                let tour = parts.tours.part(ant as usize * n, n);
                let weights = parts.tables.weights.at(0);
                let stream = Stream::new(77, iteration, ant);
                full::<T, Compact<u16>, Roulette, u16>(team, world.n, weights, parts.memory, tour, stream);
                let cost = tour::cost(team, world.n, world.distance(), tour.at(0) as *const u16);
                team.single(|| parts.costs.set(ant, cost));
            }
            team.barrier();
            let (costs, tours) = (parts.costs.at(0), parts.tours.at(0));
            let depositor = [Depositor::Iteration, Depositor::Best][iteration as usize];
            let shape = (world.n, ants, depositor);
            let links = (parts.successor, parts.predecessor);
            judge(team, rules, shape, costs, tours, parts.state, parts.best_tours, links);
            team.barrier();
            states.push(*parts.state);
            for node in 0..n as u32 {
                let links = (parts.successor.get(node), parts.predecessor.get(node));
                let limits = (*parts.state).limits;
                pheromone::update_row(team, form, parts.tables, node, links, limits, (0.9, 1.0));
            }
            team.barrier();
        }
    }
    states
}

#[derive(Clone, Copy)]
struct ColonyParts {
    memory: *mut u8,
    tours: Slots<u16>,
    costs: Slots<i64>,
    state: *mut ColonyState,
    best_tours: (Slots<u16>, Slots<u16>),
    successor: Slots<u32>,
    predecessor: Slots<u32>,
    tables: pheromone::Tables,
}

type ColonyResult = (Vec<Vec<ColonyState>>, Vec<u16>, Vec<i64>, Vec<u16>, Vec<u32>, Vec<u32>, Vec<u32>);

fn run_colony(world: &World, builders: Builders) -> ColonyResult {
    let (n, ants) = (world.n as usize, 5usize);
    let entries = n * row_stride(world.n) as usize;
    let bytes = memory_bytes::<Compact<u16>, Roulette>(world.n, full_leaves(world.n));
    let mut memory = Array::<u8>::rubbish(bytes);
    let mut tours = Array::<u16>::rubbish(ants * n);
    let mut costs = Array::<i64>::rubbish(ants);
    let mut state = ColonyState::new(Limits { lowest: 0.0, highest: 1.0, deposit: 0.0 });
    let (mut best_tour, mut restart_tour) = (Array::<u16>::rubbish(n), Array::<u16>::rubbish(n));
    let mut successor = Array::<u32>::rubbish(n);
    let mut predecessor = Array::<u32>::rubbish(n);
    let mut tables: [Array<f32>; 3] = std::array::from_fn(|_| Array::rubbish(entries));
    let [trails, heuristic, weights] = &mut tables;
    let shared = Shareable::new(ColonyParts {
        memory: memory.start(),
        tours: tours.slots(),
        costs: costs.slots(),
        state: &mut state,
        best_tours: (best_tour.slots(), restart_tour.slots()),
        successor: successor.slots(),
        predecessor: predecessor.slots(),
        tables: pheromone::Tables {
            trails: trails.slots(),
            heuristic: heuristic.slots(),
            weights: weights.slots(),
        },
    });
    let states = match builders {
        Builders::One => vec![colony(Serial, world, ants as u32, shared.get())],
        Builders::Many(size, order) => {
            let world = Shareable::new(world);
            run(size, order, |team| colony(team, world.get(), ants as u32, shared.get()))
        }
    };
    let bits = tables[2].iter().map(|w| w.to_bits()).collect();
    (
        states,
        tours.to_vec(),
        costs.to_vec(),
        best_tour.to_vec(),
        successor.to_vec(),
        predecessor.to_vec(),
        bits,
    )
}

#[test]
fn teams_run_the_same_colony() {
    let world = World::new(21, 5, 13);
    let alone = run_colony(&world, Builders::One);
    for size in [2, 3, 4, 32] {
        for order in ORDERS {
            let team = run_colony(&world, Builders::Many(size, order));
            assert!(team.0.iter().all(|states| states == &alone.0[0]), "{size} {order:?}: {:?}", team.0);
            assert_eq!((&team.1, &team.2, &team.3), (&alone.1, &alone.2, &alone.3), "{size} {order:?}");
            assert_eq!((&team.4, &team.5, &team.6), (&alone.4, &alone.5, &alone.6), "{size} {order:?}");
        }
    }
}
