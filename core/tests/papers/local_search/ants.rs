//! Local search on the tours of ants.

use crate::common::memory::{Array, Number};
use crate::common::teams::Shareable;
use crate::common::world::{Bench, Crew, Dice, Job, World, crews, edges, is_permutation};
use antwarp_core::geometry::{Geometry, Grid, Places};
use antwarp_core::node::NodeId;
use antwarp_core::operator::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::papers::local_search::ants::{TourTables, WIDTH, improve, memory_bytes};
use antwarp_core::papers::local_search::descend::descend;
use antwarp_core::team::{Serial, Slots, Team};
use std::marker::PhantomData;

const BREADTH: u32 = 4;

struct Improve<O, I, G: Geometry> {
    tables: Shareable<TourTables<I, G>>,
    memory: Shareable<*mut u8>,
    tour: Shareable<Slots<I>>,
    operator: PhantomData<O>,
}

impl<O: Operator, I: NodeId, G: Geometry> Job for Improve<O, I, G> {
    type Result = i64;
    fn work<T: Team>(&self, team: T) -> i64 {
        let (tables, memory, tour) = (self.tables.get(), self.memory.get(), self.tour.get());
        // SAFETY: memory and tour are this team's, and as large as they have to be.
        unsafe { improve::<T, O, I, G>(team, tables, memory, tour) }
    }
}

/// Successors and predecessors.
#[derive(Clone)]
struct Reference([Vec<u32>; 2]);

impl Reference {
    /// Links from each node to itself.
    fn none(n: u32) -> Self {
        let own: Vec<u32> = (0..n).collect();
        Reference([own.clone(), own])
    }

    fn of(tour: &[u32]) -> Self {
        let n = tour.len();
        let mut links = [vec![0; n], vec![0; n]];
        for i in 0..n {
            let next = (i + 1) % n;
            links[0][tour[i] as usize] = tour[next];
            links[1][tour[next] as usize] = tour[i];
        }
        Reference(links)
    }

    fn backward(&self) -> Self {
        let [successor, predecessor] = self.0.clone();
        Reference([predecessor, successor])
    }

    /// Whether a node's neighbours are the same here and there.
    fn agrees(&self, other: &Reference, node: u32) -> bool {
        let beside = |links: &Reference| {
            let mut pair = [0, 1].map(|way: usize| links.0[way][node as usize]);
            pair.sort_unstable();
            pair
        };
        beside(self) == beside(other)
    }
}

/// The tour after a search, and by how much it says to have got shorter, which is exact.
fn improved<O: Operator, I: NodeId + Number, G: Geometry>(
    crew: Crew,
    (world, places): (&World, Places<G>),
    tour: &[u32],
    reference: &Reference,
) -> (Vec<u32>, i64) {
    let ids = |nodes: &[u32]| Array::of(&nodes.iter().map(|&node| I::new(node)).collect::<Vec<I>>());
    let (mut nodes, mut lists) = (ids(tour), ids(&world.lists));
    let mut memory = Array::<u8>::rubbish(memory_bytes::<I>(world.n));
    let gained = crew.run(Improve {
        tables: Shareable::new(TourTables {
            n: world.n,
            lists: lists.start().cast_const(),
            k: world.k,
            breadth: BREADTH.min(world.k),
            places,
            successor: reference.0[0].as_ptr(),
            predecessor: reference.0[1].as_ptr(),
        }),
        memory: Shareable::new(memory.start()),
        tour: Shareable::new(nodes.slots()),
        operator: PhantomData::<O>,
    });
    let new: Vec<u32> = nodes.iter().map(|node| node.get()).collect();
    assert!(is_permutation(&new), "{new:?}");
    assert_eq!(gained, world.cost(tour) - world.cost(&new), "{crew:?}");
    (new, gained)
}

/// A descent from the nodes that a reference does not know.
fn model<O: Operator>(world: &World, tour: &[u32], reference: &Reference) -> (Vec<u32>, i64) {
    let mut bench = Bench::<u32>::of(world, tour);
    let (view, dirty) = (bench.view(world.numbered(), BREADTH), bench.dirty());
    let round = bench.round(WIDTH, true);
    let own = Reference::of(tour);
    // SAFETY: nodes of the tour, and one thread.
    let gained = unsafe {
        (0..world.n).filter(|&v| !own.agrees(reference, v)).for_each(|v| dirty.insert::<Serial>(v));
        descend::<Serial, O, _, _>(Serial, view, dirty, round, &mut 0)
    };
    (bench.nodes(), gained)
}

/// A tour some edges away from another, as an ant's is from the best one.
fn altered(tour: &[u32], dice: &mut Dice) -> Vec<u32> {
    let (mut tour, n) = (tour.to_vec(), tour.len() as u32);
    for _ in 0..2 {
        let from = dice.below(n - 4) as usize;
        tour[from..from + 4].reverse();
    }
    tour.rotate_left(dice.below(n) as usize);
    tour
}

fn grid(world: &World) -> Places<Grid> {
    Places { geometry: Grid { up: false }, start: world.places.as_ptr() }
}

fn searches_what_differs<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    let mut partial = 0;
    for n in [5, 6, 9, 31, 32, 33, 100, 300] {
        let world = World::plane(n, 7, if n % 2 == 0 { 12 } else { 500 }, &mut dice);
        let start = dice.shuffled(n);
        let all = improved::<O, u16, _>(Crew::One, (&world, grid(&world)), &start, &Reference::none(n));
        assert!(n < 30 || all.1 > 0);
        let ant = altered(&all.0, &mut dice);
        let best = Reference::of(&all.0);
        for (tour, reference) in [(&start, &Reference::none(n)), (&ant, &best), (&ant, &best.backward())] {
            let narrow = improved::<O, u16, _>(Crew::One, (&world, grid(&world)), tour, reference);
            let wide = improved::<O, u32, _>(Crew::One, (&world, grid(&world)), tour, reference);
            let numbered = improved::<O, u16, _>(Crew::One, (&world, world.numbered()), tour, reference);
            assert_eq!(narrow, model::<O>(&world, tour, reference));
            assert_eq!(narrow, wide);
            assert_eq!(narrow, numbered);
            partial += (tour == &ant && narrow.1 > 0) as u32;
        }
    }
    assert!(partial > 4, "{partial}");
}

#[test]
fn a_search_looks_at_the_nodes_that_the_reference_does_not_know() {
    searches_what_differs::<TwoOpt>(131);
    searches_what_differs::<OrOpt>(132);
    searches_what_differs::<Or2opt>(133);
    searches_what_differs::<ThreeOpt>(134);
}

#[test]
fn a_tour_that_is_the_reference_stays() {
    let mut dice = Dice::new(135);
    for n in [5, 40, 70] {
        let world = World::plane(n, 6, 1000, &mut dice);
        let tour = dice.shuffled(n);
        let reference = Reference::of(&tour);
        let mut turned = tour.clone();
        turned.rotate_left(2);
        turned.reverse();
        for tour in [&tour, &turned] {
            for crew in [Crew::One, Crew::Parts(2, 2)] {
                let kept = improved::<ThreeOpt, u16, _>(crew, (&world, grid(&world)), tour, &reference);
                assert_eq!(kept, (tour.clone(), 0), "{crew:?}");
            }
        }
        // There is something to be found.
        let none = Reference::none(n);
        let (new, _) = improved::<ThreeOpt, u16, _>(Crew::One, (&world, grid(&world)), &tour, &none);
        assert!(n < 10 || edges(&new) != edges(&tour));
    }
}

fn teams_agree<O: Operator, I: NodeId + Number>(seed: u64) {
    let mut dice = Dice::new(seed);
    for n in [5, 33, 80] {
        let world = World::plane(n, 6, if n == 33 { 8 } else { 500 }, &mut dice);
        let start = dice.shuffled(n);
        let run = |crew, tour: &[u32], reference: &Reference| {
            improved::<O, I, _>(crew, (&world, grid(&world)), tour, reference)
        };
        let none = Reference::none(n);
        let alone = run(Crew::One, &start, &none);
        let (ant, best) = (altered(&alone.0, &mut dice), Reference::of(&alone.0));
        let again = run(Crew::One, &ant, &best);
        for crew in crews() {
            assert_eq!(run(crew, &start, &none), alone, "{crew:?}, n {n}");
            assert_eq!(run(crew, &ant, &best), again, "{crew:?}, n {n}");
        }
    }
}

#[test]
fn teams_improve_an_ants_tour_as_one_thread_does() {
    teams_agree::<TwoOpt, u32>(136);
    teams_agree::<OrOpt, u16>(137);
    teams_agree::<ThreeOpt, u16>(138);
}
