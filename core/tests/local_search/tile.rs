//! Windows of a tour.

use crate::common::memory::{Array, Number};
use crate::common::teams::Shareable;
use crate::world::{Bench, Crew, Dice, Job, World, crews, edges};
use antwarp_core::geometry::{Geometry, Grid, Places};
use antwarp_core::local_search::chain::{Accept, FEWEST, Gains, Rules};
use antwarp_core::local_search::tile::{Layout, Source, Window, improve_window};
use antwarp_core::local_search::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::node::NodeId;
use antwarp_core::rng::Stream;
use antwarp_core::team::{Slots, Team};
use proptest::prelude::*;
use std::marker::PhantomData;

proptest! {
    #[test]
    fn windows_cover_every_position_once(n in 1u32..300, tiles in 1u32..40, offset in 0u32..300) {
        let mut covered = vec![0; n as usize];
        for tile in 0..tiles {
            let Window { first, length } = Window::cut(n, tiles, offset % n, tile);
            prop_assert!(first < n && length <= Window::longest(n, tiles));
            (0..length).for_each(|i| covered[((first + i) % n) as usize] += 1);
        }
        prop_assert!(covered.iter().all(|&times| times == 1), "{:?}", covered);
    }

    #[test]
    fn windows_of_the_longest_tours_join(n in u32::MAX - 9..u32::MAX, tiles in 1u32..5000, offset: u32) {
        let offset = offset % n;
        let mut next = offset as u64;
        for tile in 0..tiles {
            let Window { first, length } = Window::cut(n, tiles, offset, tile);
            prop_assert_eq!(first as u64, next % n as u64);
            next += length as u64;
        }
        prop_assert_eq!(next, offset as u64 + n as u64);
    }
}

struct Improve<G: Geometry, O, I> {
    source: Shareable<Source<G>>,
    window: Window,
    layout: Layout,
    memory: Shareable<*mut u8>,
    rules: Rules,
    order: Shareable<Slots<u32>>,
    position: Shareable<Slots<u32>>,
    kind: PhantomData<(O, I)>,
}

impl<G: Geometry, O: Operator, I: NodeId> Job for Improve<G, O, I> {
    type Result = Gains;
    fn work<T: Team>(&self, team: T) -> Gains {
        let (source, memory) = (self.source.get(), self.memory.get());
        let (order, position) = (self.order.get(), self.position.get());
        let stream = Stream::new(91, 0, self.window.first);
        // SAFETY: the memory is as large as the layout says, and the window is this team's.
        unsafe {
            improve_window::<T, O, I, G>(
                team,
                source,
                self.window,
                4,
                self.layout,
                memory,
                self.rules,
                stream,
                order,
                position,
            )
        }
    }
}

const RULES: Rules = Rules {
    kicks: 15,
    first_kick: 0,
    segment: 10,
    accept: Accept::Annealing as u32,
    temperature: 5.0,
    descend_first: 1,
    keep_best: 1,
    padding: 0,
};

/// The tour after every window was improved, with what each gained.
fn improved<G: Geometry, O: Operator, I: NodeId>(
    crew: Crew,
    (world, places): (&World, Places<G>),
    tour: &[u32],
    (tiles, offset): (u32, u32),
    rules: Rules,
) -> (Vec<u32>, Vec<Gains>) {
    let n = world.n;
    let start = Bench::<u32>::of(world, tour, 0);
    let mut result = Bench::<u32>::of(world, tour, 0);
    result.order = Array::rubbish(n as usize);
    result.position = Array::rubbish(n as usize);
    let longest = Window::longest(n, tiles);
    let place = size_of::<G::Place>() as u32;
    let layout = Layout::new::<I>(longest, world.k, 1, place, rules.keep_best != 0);
    let source = Source {
        n,
        k: world.k,
        lists: world.lists.as_ptr(),
        order: start.order.as_ptr(),
        position: start.position.as_ptr(),
        places,
    };
    let windows: Vec<_> = (0..tiles).map(|tile| Window::cut(n, tiles, offset, tile)).collect();
    let gains = windows.iter().map(|&window| {
        let mut memory = Array::<u8>::rubbish(layout.bytes as usize);
        crew.run(Improve {
            source: Shareable::new(source),
            window,
            layout,
            memory: Shareable::new(memory.start()),
            rules,
            order: Shareable::new(result.order.slots()),
            position: Shareable::new(result.position.slots()),
            kind: PhantomData::<(O, I)>,
        })
    });
    let gains: Vec<Gains> = gains.collect();
    let new = result.nodes();
    let gained: i64 = gains.iter().map(|g| if rules.keep_best != 0 { g.best } else { g.last }).sum();
    assert_eq!(gained, world.cost(tour) - world.cost(&new), "{tiles} tiles of {n} from {offset}");
    for (window, gains) in windows.iter().zip(&gains) {
        let at = |i: u32| ((window.first + i) % n) as usize;
        let nodes = |tour: &[u32]| {
            let mut nodes: Vec<u32> = (0..window.length).map(|i| tour[at(i)]).collect();
            nodes.sort_unstable();
            nodes
        };
        assert_eq!(nodes(&new), nodes(tour), "{window:?}");
        if (1..n).contains(&window.length) {
            let ends = [0, window.length - 1].map(at);
            assert_eq!(ends.map(|p| new[p]), ends.map(|p| tour[p]), "{window:?}");
        }
        if window.length < FEWEST {
            assert_eq!(*gains, Gains { last: 0, best: 0 });
        }
    }
    (new, gains)
}

fn grid(world: &World) -> Places<Grid> {
    Places { geometry: Grid { up: false }, start: world.places.as_ptr() }
}

/// All windows of some cuts, alike with ids of both widths and with distances from either source.
fn windows_gain<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    let mut seen = [0; 2];
    for (n, tiles) in [(8, 1), (9, 1), (40, 1), (40, 2), (60, 5), (61, 7), (64, 8), (200, 3), (70, 1), (5, 2)]
    {
        let world = World::plane(n, 7, if n % 2 == 0 { 12 } else { 500 }, &mut dice);
        let tour = dice.shuffled(n);
        for offset in [0, 1, n / 3, n - 1] {
            let cut = (tiles, offset);
            for keep_best in [0, 1] {
                let rules = Rules { keep_best, ..RULES };
                let on_grid = (&world, grid(&world));
                let narrow = improved::<_, O, u16>(Crew::One, on_grid, &tour, cut, rules);
                let wide = improved::<_, O, u32>(Crew::One, on_grid, &tour, cut, rules);
                let numbered = (&world, world.numbered());
                let other = improved::<_, O, u16>(Crew::One, numbered, &tour, cut, rules);
                assert_eq!(narrow, wide, "{tiles} tiles of {n} from {offset}");
                assert_eq!(narrow, other, "{tiles} tiles of {n} from {offset}");
                seen[0] += narrow.1.iter().filter(|gains| gains.best > 0).count();
                seen[1] += narrow.1.iter().filter(|gains| gains.best > gains.last).count();
            }
        }
    }
    assert!(seen[0] > 100 && seen[1] > 10, "{seen:?}");
}

#[test]
fn windows_shorten_the_tour_by_what_they_say() {
    windows_gain::<TwoOpt>(92);
    windows_gain::<OrOpt>(93);
    windows_gain::<Or2opt>(94);
    windows_gain::<ThreeOpt>(95);
}

#[test]
fn a_window_of_the_whole_tour_may_change_every_edge() {
    // The tour is improved across its end, which is no link.
    let mut dice = Dice::new(96);
    let world = World::plane(60, 8, 1000, &mut dice);
    let tour = dice.shuffled(60);
    let (new, _) = improved::<_, Or2opt, u16>(Crew::One, (&world, grid(&world)), &tour, (1, 0), RULES);
    let old = edges(&tour);
    assert!(!edges(&new).contains(&crate::world::edge(tour[59], tour[0])), "{new:?}");
    assert!(edges(&new).iter().filter(|e| old.contains(e)).count() < 10);
}

fn teams_agree<O: Operator, I: NodeId + Number>(seed: u64) {
    let mut dice = Dice::new(seed);
    for (n, cut) in [(34, (1, 5)), (60, (2, 50)), (30, (4, 11))] {
        let world = World::plane(n, 6, 40, &mut dice);
        let tour = dice.shuffled(n);
        let rules = Rules { kicks: 4, keep_best: n % 4 / 2, ..RULES };
        let run = |crew| improved::<_, O, I>(crew, (&world, grid(&world)), &tour, cut, rules);
        let alone = run(Crew::One);
        for crew in crews() {
            assert_eq!(run(crew), alone, "{crew:?}, {cut:?}");
        }
    }
}

#[test]
fn teams_improve_windows_as_one_thread_does() {
    teams_agree::<Or2opt, u16>(97);
    teams_agree::<ThreeOpt, u32>(98);
}
