//! Tiles of a tour: improved apart from each other, they come together to one tour.

use crate::common::memory::{Array, Number};
use crate::common::teams::{Order, Shareable};
use crate::world::{Bench, Crew, Dice, Edge, Job, World, crews, edge, edges};
use antwarp_core::geometry::{Geometry, Grid, Places};
use antwarp_core::local_search::chain::{Accept, FEWEST, Gains, Rules};
use antwarp_core::local_search::tile::{
    Entries, Layout, Nodes, Source, improve, part, place_entry, start_pieces,
};
use antwarp_core::local_search::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::node::NodeId;
use antwarp_core::rng::Stream;
use antwarp_core::team::{Slots, Team};
use proptest::prelude::*;
use std::marker::PhantomData;

proptest! {
    #[test]
    fn parts_are_a_partition_into_about_equally_many(n in 1u32..300, tiles in 1u32..400) {
        let mut next = 0;
        for tile in 0..tiles {
            let (first, count) = part(n, tiles, tile);
            prop_assert_eq!(first, next);
            prop_assert!(count == n / tiles || count == n.div_ceil(tiles));
            next += count;
        }
        prop_assert_eq!(next, n);
    }

    #[test]
    fn parts_of_the_longest_tours_join(n in u32::MAX - 9..=u32::MAX, tiles in 1u32..5000) {
        let mut next = 0u64;
        for tile in 0..tiles {
            let (first, count) = part(n, tiles, tile);
            prop_assert_eq!(u64::from(first), next);
            next += u64::from(count);
        }
        prop_assert_eq!(next, u64::from(n));
    }
}

/// Which nodes the tiles of a tour have.
#[derive(Clone, Debug)]
enum Tiling {
    /// So many windows, from a position on.
    Windows(u32, u32),
    /// The nodes of each.
    Cells(Vec<Vec<u32>>),
}

impl Tiling {
    /// Cells of any nodes, of 1 to `most` each.
    fn any(n: u32, most: u32, dice: &mut Dice) -> Self {
        let (all, mut at, mut cells) = (dice.shuffled(n), 0, Vec::new());
        while at < n {
            let end = (at + 1 + dice.below(most)).min(n);
            cells.push(all[at as usize..end as usize].to_vec());
            at = end;
        }
        Tiling::Cells(cells)
    }

    /// Cells of the places of a plane: a `side` x `side` raster, those with nodes.
    fn raster(world: &World, side: u64) -> Self {
        let most = world.places.iter().map(|&p| (p >> 32).max(p & 0xffff_ffff)).max().unwrap() + 1;
        let mut cells = vec![Vec::new(); (side * side) as usize];
        for node in 0..world.n {
            let place = world.places[node as usize];
            let [x, y] = [place & 0xffff_ffff, place >> 32].map(|at| at * side / most);
            cells[(x * side + y) as usize].push(node);
        }
        cells.retain(|cell| !cell.is_empty());
        Tiling::Cells(cells)
    }

    fn tiles(&self, n: u32) -> Vec<(Nodes, u32)> {
        match self {
            Tiling::Windows(tiles, offset) => {
                let window = |tile| part(n, *tiles, tile);
                (0..*tiles).map(window).map(|(first, m)| (Nodes::From((first + offset) % n), m)).collect()
            }
            Tiling::Cells(cells) => {
                cells.iter().map(|cell| (Nodes::Of(cell.as_ptr()), cell.len() as u32)).collect()
            }
        }
    }

    /// The tile of every node.
    fn tile_of(&self, tour: &[u32]) -> Vec<usize> {
        let n = tour.len();
        let mut tile_of = vec![usize::MAX; n];
        for (tile, &(nodes, m)) in self.tiles(n as u32).iter().enumerate() {
            for i in 0..m as usize {
                let node = match (nodes, self) {
                    (_, Tiling::Cells(cells)) => cells[tile][i],
                    (Nodes::From(first), _) => tour[(first as usize + i) % n],
                    _ => unreachable!(),
                };
                assert_eq!(std::mem::replace(&mut tile_of[node as usize], tile), usize::MAX);
            }
        }
        assert!(!tile_of.contains(&usize::MAX));
        tile_of
    }
}

struct Improve<G: Geometry, O, I> {
    source: Shareable<Source<G>>,
    tile: Shareable<(Nodes, u32, u32)>,
    layout: Layout,
    memory: Shareable<*mut u8>,
    rules: Rules,
    entries: Shareable<Entries>,
    kind: PhantomData<fn(O, I)>,
}

impl<G: Geometry, O: Operator, I: NodeId> Job for Improve<G, O, I> {
    type Result = Gains;
    fn work<T: Team>(&self, team: T) -> Gains {
        let (source, memory, tile) = (self.source.get(), self.memory.get(), self.tile.get());
        let stream = Stream::new(91, 0, tile.1);
        let breadth = source.k.min(4);
        // SAFETY: the memory is as large as the layout says, and the tile is this team's.
        unsafe {
            improve::<T, O, I, G>(
                team,
                source,
                tile,
                breadth,
                self.layout,
                memory,
                self.rules,
                stream,
                self.entries.get(),
            )
        }
    }
}

/// [`start_pieces`].
struct Start {
    n: u32,
    lengths: Shareable<Slots<u32>>,
    sums: Shareable<Slots<u32>>,
}

impl Job for Start {
    type Result = ();
    fn work<T: Team>(&self, team: T) {
        // SAFETY: both are this team's, with an element a node and a member.
        unsafe { start_pieces(team, self.n, self.lengths.get(), self.sums.get()) }
    }
}

/// Members of a crew.
fn size(crew: Crew) -> u32 {
    match crew {
        Crew::One => 1,
        Crew::Many(size, _) => size,
        Crew::Parts(parts, size) => parts * size,
    }
}

fn parts(crew: Crew) -> u32 {
    if let Crew::Parts(parts, _) = crew { parts } else { 1 }
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

/// What tiles are improved by.
#[derive(Clone, Copy, Debug)]
struct How {
    width: u32,
    rules: Rules,
}

/// The tour after every tile was improved, with what each gained.
fn improved<G: Geometry, O: Operator, I: NodeId>(
    crew: Crew,
    (world, places): (&World, Places<G>),
    tour: &[u32],
    tiling: &Tiling,
    How { width, rules }: How,
) -> (Vec<u32>, Vec<Gains>) {
    let n = world.n;
    let start = Bench::<u32>::of(world, tour, 0);
    let tiles = tiling.tiles(n);
    let place = size_of::<G::Place>() as u32;
    let largest = tiles.iter().map(|tile| tile.1).max().unwrap();
    let layout = Layout::new::<I>(largest, world.k, place, rules.keep_best != 0, width);
    let source = Source {
        n,
        k: world.k,
        lists: world.lists.as_ptr(),
        order: start.order.as_ptr(),
        position: start.position.as_ptr(),
        places,
    };
    let [mut old, mut piece, mut offset, mut length] = [(); 4].map(|()| Array::<u32>::rubbish(n as usize));
    let entries =
        Entries { old: old.slots(), piece: piece.slots(), offset: offset.slots(), length: length.slots() };
    let mut first = 0;
    let mut gains = Vec::new();
    for &(nodes, m) in &tiles {
        let mut memory = Array::<u8>::rubbish(layout.bytes as usize);
        gains.push(crew.run(Improve {
            source: Shareable::new(source),
            tile: Shareable::new((nodes, first, m)),
            layout,
            memory: Shareable::new(memory.start()),
            rules,
            entries: Shareable::new(entries),
            kind: PhantomData::<fn(O, I)>,
        }));
        first += m;
        let written = &old[(first - m) as usize..first as usize];
        assert!(written.is_sorted_by(|a, b| a < b), "entries are in the order of the old tour: {written:?}");
    }
    let mut sums = Array::<u32>::rubbish(size(crew) as usize);
    let lengths = Shareable::new(length.slots());
    crew.run(Start { n, lengths, sums: Shareable::new(sums.slots()) });
    let mut result = Bench::<u32>::of(world, tour, 0);
    (result.order, result.position) = (Array::rubbish(n as usize), Array::rubbish(n as usize));
    for entry in Dice::new(99).shuffled(n) {
        // SAFETY: an entry; its place is its own.
        unsafe {
            let (order, position) = (result.order.slots(), result.position.slots());
            place_entry(entry, entries, start.order.as_ptr(), order, position);
        }
    }
    let new = result.nodes();
    check(world, (tour, &new), tiling, &gains, rules);
    (new, gains)
}

/// The gains are exact, and edges between tiles stay as they are.
fn check(world: &World, (tour, new): (&[u32], &[u32]), tiling: &Tiling, gains: &[Gains], rules: Rules) {
    let gained: i64 = gains.iter().map(|g| if rules.keep_best != 0 { g.best } else { g.last }).sum();
    assert_eq!(gained, world.cost(tour) - world.cost(new), "{tiling:?}");
    let tile_of = tiling.tile_of(tour);
    let between = |tour: &[u32]| -> Vec<Edge> {
        let mut all = edges(tour);
        all.retain(|e| tile_of[e.0 as usize] != tile_of[e.1 as usize]);
        all
    };
    assert_eq!(between(new), between(tour), "{tiling:?}");
    for (gains, (_, m)) in gains.iter().zip(tiling.tiles(world.n)) {
        assert!(m >= FEWEST || *gains == Gains { last: 0, best: 0 }, "{m} nodes: {gains:?}");
    }
}

fn grid(world: &World) -> Places<Grid> {
    Places { geometry: Grid { up: false }, start: world.places.as_ptr() }
}

/// All tiles of a tour, alike with ids of both widths and with distances from either source.
fn on_one_thread<O: Operator>(world: &World, tour: &[u32], tiling: &Tiling, how: How) -> Vec<Gains> {
    let on_grid = (world, grid(world));
    let narrow = improved::<_, O, u16>(Crew::One, on_grid, tour, tiling, how);
    let wide = improved::<_, O, u32>(Crew::One, on_grid, tour, tiling, how);
    let other = improved::<_, O, u16>(Crew::One, (world, world.numbered()), tour, tiling, how);
    assert_eq!(narrow, wide, "{tiling:?}");
    assert_eq!(narrow, other, "{tiling:?}");
    narrow.1
}

/// Counts gains, and those where the best tour was left again.
fn count(seen: &mut [usize; 2], gains: &[Gains]) {
    seen[0] += gains.iter().filter(|gains| gains.best > 0).count();
    seen[1] += gains.iter().filter(|gains| gains.best > gains.last).count();
}

fn windows_gain<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    let mut seen = [0; 2];
    for (n, tiles) in [(8, 1), (9, 1), (40, 2), (60, 5), (61, 7), (64, 8), (200, 3), (70, 1), (5, 2), (6, 6)]
    {
        let world = World::plane(n, 7, if n % 2 == 0 { 12 } else { 500 }, &mut dice);
        let tour = dice.shuffled(n);
        for offset in [0, 1, n / 3, n - 1] {
            for (keep_best, width) in [(0, 1), (1, 1), (1, 4)] {
                let how = How { width, rules: Rules { keep_best, ..RULES } };
                let tiling = Tiling::Windows(tiles, offset);
                count(&mut seen, &on_one_thread::<O>(&world, &tour, &tiling, how));
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
fn windows_begin_at_every_position() {
    let mut dice = Dice::new(89);
    let world = World::plane(43, 6, 1000, &mut dice);
    let tour = dice.shuffled(43);
    let how = How { width: 3, rules: Rules { kicks: 3, keep_best: 0, ..RULES } };
    for (tiles, offset) in (1..5).flat_map(|tiles| (0..43).map(move |offset| (tiles, offset))) {
        let window = Tiling::Windows(tiles, offset);
        improved::<_, ThreeOpt, u16>(Crew::One, (&world, grid(&world)), &tour, &window, how);
    }
}

/// Cells of any nodes, which lie in many pieces of the tour, and cells of nodes near each other.
fn cells_gain<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    let mut seen = [0; 2];
    for (n, most) in [(8, 8), (20, 1), (40, 15), (61, 40), (64, 64), (150, 70), (200, 200)] {
        let world = World::plane(n, 7, if n % 2 == 0 { 12 } else { 500 }, &mut dice);
        let random = dice.shuffled(n);
        // In a good tour the nodes of a cell come in longer pieces.
        let whole = Tiling::Windows(1, 0);
        let how = How { width: 1, rules: Rules { kicks: 0, ..RULES } };
        let good = improved::<_, TwoOpt, u16>(Crew::One, (&world, grid(&world)), &random, &whole, how).0;
        let tilings = [
            Tiling::any(n, most, &mut dice),
            Tiling::raster(&world, 2),
            Tiling::raster(&world, 3),
            Tiling::Cells(vec![dice.shuffled(n)]),
        ];
        let before = seen;
        for (tiling, tour) in tilings.iter().flat_map(|tiling| [(tiling, &random), (tiling, &good)]) {
            for (keep_best, width) in [(0, 1), (1, 1), (1, 4)] {
                let how = How { width, rules: Rules { keep_best, ..RULES } };
                count(&mut seen, &on_one_thread::<O>(&world, tour, tiling, how));
            }
        }
        assert!(n < 40 || seen[0] > before[0], "{n}");
    }
    assert!(seen[0] > 80 && seen[1] > 10, "{seen:?}");
}

#[test]
fn cells_shorten_the_tour_by_what_they_say() {
    cells_gain::<TwoOpt>(192);
    cells_gain::<OrOpt>(193);
    cells_gain::<Or2opt>(194);
    cells_gain::<ThreeOpt>(195);
}

#[test]
fn a_cell_of_a_windows_nodes_is_the_window() {
    let mut dice = Dice::new(196);
    let world = World::plane(50, 7, 1000, &mut dice);
    let tour = dice.shuffled(50);
    let how = How { width: 2, rules: RULES };
    for offset in [0, 7, 49] {
        let mut cells = vec![Vec::new(), Vec::new(), Vec::new()];
        let windows = Tiling::Windows(3, offset);
        let tile_of = windows.tile_of(&tour);
        dice.shuffled(50).into_iter().for_each(|node| cells[tile_of[node as usize]].push(node));
        let run = |tiling| improved::<_, Or2opt, u16>(Crew::One, (&world, grid(&world)), &tour, &tiling, how);
        assert_eq!(run(windows), run(Tiling::Cells(cells)));
    }
}

#[test]
fn a_tile_of_the_whole_tour_may_change_every_edge() {
    // The tour is improved across its end, which is no link.
    let mut dice = Dice::new(96);
    let world = World::plane(60, 8, 1000, &mut dice);
    let tour = dice.shuffled(60);
    let how = How { width: 1, rules: RULES };
    for tiling in [Tiling::Windows(1, 0), Tiling::Cells(vec![dice.shuffled(60)])] {
        let (new, _) = improved::<_, Or2opt, u16>(Crew::One, (&world, grid(&world)), &tour, &tiling, how);
        let old = edges(&tour);
        assert!(!edges(&new).contains(&edge(tour[59], tour[0])), "{new:?}");
        assert!(edges(&new).iter().filter(|e| old.contains(e)).count() < 10);
    }
}

#[test]
fn without_descent_and_kicks_a_tour_stays() {
    let mut dice = Dice::new(90);
    let world = World::plane(70, 6, 100, &mut dice);
    let tour = dice.shuffled(70);
    let how = How { width: 1, rules: Rules { kicks: 0, descend_first: 0, keep_best: 0, ..RULES } };
    for _ in 0..10 {
        let tiling = Tiling::any(70, 30, &mut dice);
        let (new, _) = improved::<_, ThreeOpt, u16>(Crew::One, (&world, grid(&world)), &tour, &tiling, how);
        assert_eq!(edges(&new), edges(&tour));
    }
}

/// Teams of at most so many parts.
fn crews_in(width: u32) -> impl Iterator<Item = Crew> {
    crews().into_iter().filter(move |&crew| parts(crew) <= width)
}

fn teams_agree<O: Operator, I: NodeId + Number>(seed: u64) {
    let mut dice = Dice::new(seed);
    let tilings = |n: u32, dice: &mut Dice| {
        [Tiling::Windows(2, n - 3), Tiling::any(n, n, dice), Tiling::Cells(vec![dice.shuffled(n)])]
    };
    for (n, width) in [(33, 1), (50, 4)] {
        let world = World::plane(n, 6, 40, &mut dice);
        let tour = dice.shuffled(n);
        for (keep_best, tiling) in tilings(n, &mut dice).into_iter().enumerate() {
            let rules = Rules { kicks: 2, keep_best: keep_best as u32 % 2, ..RULES };
            let how = How { width, rules };
            let run = |crew| improved::<_, O, I>(crew, (&world, grid(&world)), &tour, &tiling, how);
            let alone = run(Crew::One);
            for crew in crews_in(width).skip(keep_best % 2).step_by(2) {
                assert_eq!(run(crew), alone, "{crew:?}, {tiling:?}");
            }
        }
    }
}

#[test]
fn teams_improve_tiles_as_one_thread_does() {
    teams_agree::<Or2opt, u16>(97);
    teams_agree::<ThreeOpt, u32>(98);
}

#[test]
fn teams_put_the_nodes_of_a_cell_in_order() {
    // Cells of every small size, around powers of two, and of some larger ones: lists come in any order.
    let mut dice = Dice::new(197);
    let sizes = (1..20).chain([31, 32, 33, 63, 64, 65, 100]);
    for (m, crew) in sizes.zip(crews().into_iter().chain([Crew::Many(16, Order::Together)]).cycle()) {
        let n = m + dice.below(m + 4);
        let world = World::plane(n.max(5), 3, 200, &mut dice);
        let (all, tour) = (dice.shuffled(world.n), dice.shuffled(world.n));
        let (cell, rest) = all.split_at(m as usize);
        let cells = [cell, rest].into_iter().filter(|nodes| !nodes.is_empty());
        let tiling = Tiling::Cells(cells.map(<[u32]>::to_vec).collect());
        let how = How { width: 3, rules: Rules { kicks: 0, descend_first: 0, keep_best: 0, ..RULES } };
        let run = |crew| improved::<_, TwoOpt, u16>(crew, (&world, grid(&world)), &tour, &tiling, how);
        assert_eq!(run(crew), run(Crew::One), "{crew:?}, {m} nodes");
    }
}

#[test]
fn pieces_start_behind_all_pieces_before_them() {
    let mut dice = Dice::new(198);
    for n in [1, 2, 6, 7, 8, 50, 101] {
        let lengths: Vec<u32> = (0..n).map(|_| dice.below(4)).collect();
        let expected: Vec<u32> = (0..n as usize).map(|i| lengths[..i].iter().sum()).collect();
        for crew in crews().into_iter().chain([Crew::One]) {
            let mut starts = Array::of(&lengths);
            let mut sums = Array::<u32>::rubbish(size(crew) as usize);
            let (lengths, sums) = (Shareable::new(starts.slots()), Shareable::new(sums.slots()));
            crew.run(Start { n, lengths, sums });
            assert_eq!(starts.to_vec(), expected, "{crew:?}, n {n}");
        }
    }
}
