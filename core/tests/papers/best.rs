//! Best improvement: every pass makes the tour as much shorter as it says, and a descent ends in a local optimum.

use crate::common::memory::Array;
use crate::common::teams::{Member, ORDERS, Order, Shareable, run};
use antwarp_core::geometry::{Grid, Places};
use antwarp_core::operator::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::papers::local_search::array::Stretch;
use antwarp_core::papers::local_search::best::{
    self, DescentState, Kicks, MOST_CLAIMED, PassBoard, Proposal,
};
use antwarp_core::papers::local_search::moves::scratch_words;
use antwarp_core::papers::local_search::perturb::STEPS;
use antwarp_core::papers::local_search::{ArrayTour, View};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Team};

const GRID: Grid = Grid { up: false };

/// Places in a square, and each node's `k` nearest others.
struct World {
    places: Vec<u64>,
    lists: Vec<u32>,
    k: u32,
}

impl World {
    fn new(n: u32, k: u32, side: u32, seed: u64) -> World {
        let stream = Stream::new(seed, 0, 0);
        let place = |i| Grid::place(stream.step(i).below(0, side), stream.step(i).below(1, side));
        let mut world = World { places: (0..n).map(place).collect(), lists: Vec::new(), k };
        for i in 0..n {
            let mut near: Vec<u32> = (0..n).filter(|&j| j != i).collect();
            near.sort_by_key(|&j| (world.distance(i, j), j));
            world.lists.extend(&near[..k as usize]);
        }
        world
    }

    fn n(&self) -> u32 {
        self.places.len() as u32
    }

    fn distance(&self, i: u32, j: u32) -> i64 {
        use antwarp_core::distance::Distance;
        let places = Places { geometry: GRID, start: self.places.as_ptr() };
        // SAFETY: both are nodes.
        i64::from(unsafe { places.between(i, j) })
    }

    fn length(&self, tour: &[u32]) -> i64 {
        (0..tour.len()).map(|i| self.distance(tour[i], tour[(i + 1) % tour.len()])).sum()
    }
}

/// Temperatures at which a tour is kept only if it is shorter, if it is not longer, always, or by chance.
const BETTER: f32 = -1.0;
const BETTER_OR_EQUAL: f32 = 0.0;
const ALWAYS: f32 = f32::INFINITY;
const ANNEALING: f32 = 10.0;

fn kicks(most: u32, segment: u32, temperature: f32) -> Kicks {
    Kicks { most, segment, temperature, padding: 0 }
}

/// How the parts of a pass are run.
#[derive(Clone, Copy)]
enum Crew {
    /// One member, nodes in ascending order.
    Serial,
    /// One member, nodes in descending order.
    Backwards,
    /// A team of so many.
    Team(u32, Order),
}

impl Crew {
    fn blocks(self) -> u32 {
        match self {
            Crew::Serial => 1,
            Crew::Backwards => 7,
            Crew::Team(size, _) => size,
        }
    }
}

/// A run in guarded memory.
struct Scene<'w> {
    world: &'w World,
    tour: [Array<u32>; 2],
    accepted: [Array<u32>; 2],
    best: Array<u32>,
    proposals: Array<u8>,
    claims: Array<u64>,
    state: DescentState,
    many: bool,
    kicks: Kicks,
    target: i64,
}

impl<'w> Scene<'w> {
    fn new(world: &'w World, many: bool, kicks: Kicks) -> Scene<'w> {
        let n = world.n();
        let own: Vec<u32> = (0..n).collect();
        Scene {
            world,
            tour: [Array::of(&own), Array::of(&own)],
            accepted: [Array::rubbish(n as usize), Array::rubbish(n as usize)],
            best: Array::of(&own),
            proposals: Array::rubbish(n as usize * size_of::<Proposal>()),
            claims: Array::of(&vec![0; if many { n as usize } else { 0 }]),
            state: DescentState::new(world.length(&own)),
            many,
            kicks,
            target: i64::MIN,
        }
    }

    /// One pass; what holds after each is checked.
    fn pass<O: Operator>(&mut self, crew: Crew) {
        let (n, many, kicks, target) = (self.world.n(), self.many, self.kicks, self.target);
        let board = PassBoard {
            proposals: self.proposals.start().cast(),
            claims: self.claims.start(),
            state: &mut self.state,
        };
        let [tour, accepted] = [&mut self.tour, &mut self.accepted].map(|[order, position]| {
            // SAFETY: arrays of n elements, which the scene keeps.
            unsafe { ArrayTour::new(n, order.slots(), position.slots()) }
        });
        let members = if let Crew::Team(size, _) = crew { size } else { 0 };
        let mut scratch = Array::rubbish(scratch_words(members) as usize);
        let view = View {
            tour,
            lists: self.world.lists.as_ptr(),
            k: self.world.k,
            breadth: self.world.k,
            distance: Places { geometry: GRID, start: self.world.places.as_ptr() },
            scratch: scratch.slots(),
        };
        let stream = Stream::new(5, 0, 0);
        let blocks = crew.blocks();
        let mut ranks = Array::<u64>::rubbish(blocks as usize);
        let shared = Shareable::new((view, board, accepted, ranks.start(), self.best.slots()));
        // SAFETY: the arrays of the scene; parts follow each other with a barrier between.
        let select = |team: Member| unsafe {
            let (view, board, accepted, ranks, best) = shared.get();
            for block in 0..blocks {
                let rank = best::evaluate::<_, O, _>(team, view, board, (block, blocks), many);
                team.single(|| *ranks.add(block as usize) = rank);
            }
            team.barrier();
            best::select(team, view, accepted, board, ranks, blocks, kicks, stream, target);
            team.barrier();
            for node in 0..if many { n } else { 0 } {
                best::make(team, view.tour, board, node);
            }
            team.barrier();
            team.for_each(n, |i| best::settle(view.tour, accepted, best, board, many, i));
            team.barrier();
            for step in 0..STEPS {
                let turn = board.turn(step);
                team.for_each(turn.length / 2, |i| view.tour.swap(turn, i));
                team.barrier();
            }
        };
        if let Crew::Team(size, order) = crew {
            run(size, order, select);
        } else {
            let (view, board, accepted, ranks, best) = shared.get();
            let turned = |count: u32, i: u32| if matches!(crew, Crew::Backwards) { count - 1 - i } else { i };
            // SAFETY: as above.
            unsafe {
                for block in (0..blocks).map(|i| turned(blocks, i)) {
                    *ranks.add(block as usize) =
                        best::evaluate::<_, O, _>(Serial, view, board, (block, blocks), many);
                }
                best::select(Serial, view, accepted, board, ranks, blocks, kicks, stream, target);
                for node in (0..if many { n } else { 0 }).map(|i| turned(n, i)) {
                    best::make(Serial, view.tour, board, node);
                }
                (0..n).for_each(|i| best::settle(view.tour, accepted, best, board, many, turned(n, i)));
                for step in 0..STEPS {
                    let turn = board.turn(step);
                    (0..turn.length / 2).for_each(|i| view.tour.swap(turn, i));
                }
            }
        }
        self.check();
    }

    fn check(&self) {
        let [order, position] = &self.tour;
        for (i, &node) in (0..).zip(order.iter()) {
            assert_eq!(position[node as usize], i, "the arrays are no tour");
        }
        assert_eq!(self.world.length(order), self.state.cost, "gains add exactly");
        assert_eq!(self.world.length(&self.best), self.state.best_cost);
        if self.state.descents > 0 {
            assert_eq!(self.world.length(&self.accepted[0]), self.state.accepted_cost);
        }
        assert!(self.claims.iter().all(|&claim| claim == 0), "claims are left");
    }

    fn run<O: Operator>(&mut self, crew: Crew) -> DescentState {
        while self.state.done == 0 {
            assert!(self.state.passes < 10_000, "no end");
            self.pass::<O>(crew);
        }
        self.state
    }
}

/// The length of the shortest tour that removing two edges, or with `three` as many, and joining the pieces in any way
/// makes.
fn best_neighbor(world: &World, tour: &[u32], three: bool) -> i64 {
    let n = tour.len();
    let mut best = i64::MAX;
    for i in 0..n {
        for j in i + 1..n {
            let mut two = tour.to_vec();
            two[i + 1..=j].reverse();
            best = best.min(world.length(&two));
            for k in j + 1..if three { n } else { 0 } {
                let (a, b) = (&tour[i + 1..=j], &tour[j + 1..=k]);
                let turned = |piece: &[u32]| -> Vec<u32> { piece.iter().rev().copied().collect() };
                for (first, second) in [
                    (b.to_vec(), a.to_vec()),
                    (turned(b), a.to_vec()),
                    (b.to_vec(), turned(a)),
                    (turned(a), turned(b)),
                ] {
                    let other = [&tour[..=i], &first, &second, &tour[k + 1..]].concat();
                    best = best.min(world.length(&other));
                }
            }
        }
    }
    best
}

#[test]
fn a_descent_ends_in_a_local_optimum() {
    for seed in 0..6 {
        for many in [false, true] {
            let world = World::new(22 + seed as u32, 21, 1000, seed);
            let mut pairs = Scene::new(&world, many, kicks(0, 0, BETTER));
            let state = pairs.run::<TwoOpt>(Crew::Serial);
            assert!(state.best_cost < world.length(&(0..world.n()).collect::<Vec<_>>()));
            assert!(best_neighbor(&world, &pairs.best, false) >= state.best_cost);
            let mut triples = Scene::new(&world, many, kicks(0, 0, BETTER));
            let state = triples.run::<ThreeOpt>(Crew::Serial);
            assert!(best_neighbor(&world, &triples.best, true) >= state.best_cost);
            assert_eq!((state.descents, state.best_descent), (1, 1));
        }
    }
}

#[test]
fn one_move_a_pass_is_the_best_of_all() {
    let world = World::new(40, 39, 1000, 7);
    let mut scene = Scene::new(&world, false, kicks(0, 0, BETTER));
    while scene.state.done == 0 {
        let expected = best_neighbor(&world, &scene.tour[0], false).min(scene.state.cost);
        scene.pass::<TwoOpt>(Crew::Serial);
        assert_eq!(scene.state.cost, expected);
    }
}

#[test]
fn many_moves_take_fewer_passes() {
    let world = World::new(400, 8, 10_000, 8);
    let passes = |many| Scene::new(&world, many, kicks(0, 0, BETTER)).run::<Or2opt>(Crew::Serial).passes;
    assert!(2 * passes(true) < passes(false));
}

/// What a crew makes of a world: the state after every pass and the tour at the end.
fn history<O: Operator>(world: &World, many: bool, crew: Crew) -> (Vec<DescentState>, Vec<u32>) {
    let mut scene = Scene::new(world, many, kicks(4, 10, ANNEALING));
    let mut states = Vec::new();
    while scene.state.done == 0 {
        scene.pass::<O>(crew);
        states.push(scene.state);
    }
    (states, scene.tour[0].to_vec())
}

fn check_crews<O: Operator>(world: &World) {
    for many in [false, true] {
        let expected = history::<O>(world, many, Crew::Serial);
        assert_eq!(history::<O>(world, many, Crew::Backwards), expected);
        for (size, order) in [(2, ORDERS[0]), (3, ORDERS[1]), (5, ORDERS[2]), (4, ORDERS[3])] {
            assert_eq!(history::<O>(world, many, Crew::Team(size, order)), expected, "{size}, {order:?}");
        }
    }
}

#[test]
fn every_crew_does_the_same() {
    // Few places: many moves gain the same.
    let world = World::new(28, 6, 10, 9);
    check_crews::<TwoOpt>(&world);
    check_crews::<OrOpt>(&world);
    check_crews::<Or2opt>(&world);
    check_crews::<ThreeOpt>(&world);
}

#[test]
fn tours_are_accepted_by_the_rule() {
    let world = World::new(100, 8, 1000, 10);
    for many in [false, true] {
        for segment in [0, 12] {
            let run = |temperature| {
                let mut scene = Scene::new(&world, many, kicks(100, segment, temperature));
                let mut before = i64::MAX;
                let mut longer = 0;
                while scene.state.done == 0 {
                    scene.pass::<ThreeOpt>(Crew::Serial);
                    let now = scene.state.accepted_cost;
                    longer += u32::from(now > before);
                    before = if scene.state.descents > 0 { now } else { before };
                }
                assert_eq!(scene.state.descents, 101);
                longer
            };
            assert_eq!(run(BETTER), 0);
            assert_eq!(run(BETTER_OR_EQUAL), 0);
            assert!(run(ALWAYS) > 0);
        }
    }
}

#[test]
fn the_target_ends_a_run() {
    let world = World::new(60, 8, 1000, 11);
    let mut scene = Scene::new(&world, true, kicks(1000, 0, BETTER));
    scene.target = Scene::new(&world, true, kicks(5, 0, BETTER)).run::<ThreeOpt>(Crew::Serial).best_cost;
    let state = scene.run::<ThreeOpt>(Crew::Serial);
    assert_eq!(state.best_cost, scene.target);
    assert!(state.descents <= 6);
    let (passes, tour) = (state.passes, scene.tour[0].to_vec());
    scene.pass::<ThreeOpt>(Crew::Serial);
    assert_eq!(
        (scene.state.passes, scene.tour[0].to_vec()),
        (passes, tour),
        "nothing is done behind the end"
    );
}

#[test]
fn long_moves_are_made_alone() {
    let n = 3 * MOST_CLAIMED;
    let world = World::new(n, 5, 100_000, 12);
    let mut scene = Scene::new(&world, true, kicks(0, 0, BETTER));
    // From a random tour nearly all moves are long at first.
    for _ in 0..40 {
        let before = scene.state.cost;
        scene.pass::<Or2opt>(Crew::Serial);
        assert!(scene.state.cost < before);
    }
}

#[test]
fn reversals_move_positions_as_they_move_nodes() {
    for n in [8, 9] {
        for (a, c) in (0..n).flat_map(|a| (0..n).map(move |c| (a, c))).filter(|(a, c)| a != c) {
            for forward in [false, true] {
                let next = |p: u32| if forward { (p + 1) % n } else { (p + n - 1) % n };
                let stretch = Stretch::between(n, [a, next(a), c, next(c)]);
                assert!(2 * stretch.length <= n);
                let own: Vec<u32> = (0..n).collect();
                let (mut order, mut position) = (Array::of(&own), Array::of(&own));
                // SAFETY: both arrays have n elements.
                unsafe {
                    let tour = ArrayTour::new(n, order.slots(), position.slots());
                    (0..stretch.length / 2).for_each(|i| tour.swap(stretch, i));
                }
                for p in 0..n {
                    assert_eq!(stretch.reversed(n, p), position[p as usize]);
                }
                let joined = |x: u32, y: u32| {
                    let way = position[x as usize].abs_diff(position[y as usize]);
                    way == 1 || way == n - 1
                };
                assert!(joined(a, c) && joined(next(a), next(c)));
            }
        }
    }
}
