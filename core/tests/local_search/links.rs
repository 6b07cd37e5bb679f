//! Parts of a tour that are made of several pieces.

use crate::common::memory::Array;
use crate::common::teams::Shareable;
use crate::perturb::bridged;
use crate::world::{
    Bench, Crew, Dice, Edge, Job, World, any_move, changes, crews, edge, edges, own, replaced, some_crews,
    tour_of,
};
use antwarp_core::geometry::{Numbered, Places};
use antwarp_core::local_search::chain::{Accept, Gains, Rules, chain};
use antwarp_core::local_search::descend::{Journal, Round};
use antwarp_core::local_search::links::{Links, Pieces};
use antwarp_core::local_search::perturb::Cut;
use antwarp_core::local_search::{ArrayTour, Dirty, Move, Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt, View};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots, Team};
use std::marker::PhantomData;

/// Links of nodes 0 .. n: in which bits they are set, and the first node of each.
struct Linked {
    n: u32,
    heads: Vec<u32>,
    bits: Array<u32>,
    ids: Array<u16>,
}

impl Linked {
    fn new(n: u32, heads: Vec<u32>) -> Self {
        let mut words = vec![0u32; n.div_ceil(32) as usize];
        heads.iter().for_each(|head| words[*head as usize / 32] |= 1 << (head % 32));
        let ids: Vec<u16> = heads.iter().map(|&head| head as u16).collect();
        Linked { n, heads, bits: Array::of(&words), ids: Array::of(&ids) }
    }

    fn pieces(&mut self) -> Pieces<u16> {
        let count = self.heads.len() as u32;
        Pieces { n: self.n, bits: self.bits.slots(), heads: self.ids.slots(), count }
    }

    fn edges(&self) -> Vec<Edge> {
        self.heads.iter().map(|&head| edge(head, (head + 1) % self.n)).collect()
    }

    /// Whether a walk around a tour passes all links in their order and direction.
    fn are_kept(&self, tour: &[u32]) -> bool {
        let n = tour.len();
        let passed = |tour: &[u32]| -> Vec<u32> {
            let is_link =
                |i: &usize| tour[(i + 1) % n] == (tour[*i] + 1) % self.n && self.heads.contains(&tour[*i]);
            (0..n).filter(is_link).map(|i| tour[i]).collect()
        };
        let backward: Vec<u32> = tour.iter().rev().copied().collect();
        [passed(tour), passed(&backward)].into_iter().any(|mut heads| {
            if let Some(first) = heads.iter().position(|head| head == &self.heads[0]) {
                heads.rotate_left(first);
            }
            heads == self.heads
        })
    }
}

/// Some of a tour's nodes, numbered along it.
struct Part {
    nodes: Vec<u32>,
    lists: Vec<u32>,
    linked: Linked,
}

impl Part {
    /// The nodes at some positions, in order.
    fn new(world: &World, tour: &[u32], positions: &[u32]) -> Self {
        let n = positions.len();
        let nodes: Vec<u32> = positions.iter().map(|&p| tour[p as usize]).collect();
        let follows = |i: &usize| (positions[*i] + 1) % world.n == positions[(i + 1) % n];
        let heads = (0..n).filter(|i| !follows(i)).map(|i| i as u32).collect();
        let mut lists = Vec::new();
        for &node in &nodes {
            let near = &world.lists[(node * world.k) as usize..][..world.k as usize];
            let inside = near.iter().filter_map(|v| nodes.iter().position(|w| w == v));
            let mut list: Vec<u32> = inside.map(|i| i as u32).collect();
            list.resize(world.k as usize, n as u32);
            lists.extend(list);
        }
        Part { nodes, lists, linked: Linked::new(n as u32, heads) }
    }

    /// The edges of a tour of the part between nodes of the whole, without links.
    fn own_edges(&self, tour: &[u32]) -> Vec<Edge> {
        let links = self.linked.edges();
        let own = edges(tour).into_iter().filter(|e| !links.contains(e));
        own.map(|(a, b)| edge(self.nodes[a as usize], self.nodes[b as usize])).collect()
    }

    /// A whole tour's edges after the part's were replaced.
    fn put_back(&self, whole: &[Edge], tour: &[u32]) -> Option<Vec<Edge>> {
        let start: Vec<u32> = (0..tour.len() as u32).collect();
        replaced(whole, &self.own_edges(&start), &self.own_edges(tour))
    }
}

/// Cuts a tour into runs of up to `longest` nodes that go to one of `parts` parts or stay out, from `first` on.
fn parts(world: &World, tour: &[u32], parts: u32, longest: u32, dice: &mut Dice) -> Vec<Part> {
    let mut positions = vec![Vec::new(); parts as usize + 1];
    let (first, mut at) = (dice.below(world.n), 0);
    while at < world.n {
        let (length, part) = (1 + dice.below(longest), dice.below(parts + 1));
        let end = (at + length).min(world.n);
        positions[part as usize].extend((at..end).map(|i| (first + i) % world.n));
        at = end;
    }
    positions.truncate(parts as usize);
    positions.retain(|positions| positions.len() >= 8);
    positions.into_iter().map(|positions| Part::new(world, tour, &positions)).collect()
}

const RULES: Rules = Rules {
    kicks: 1,
    first_kick: 0,
    segment: 4,
    accept: Accept::Annealing as u32,
    temperature: 5.0,
    descend_first: 1,
    keep_best: 1,
    padding: 0,
};

/// The random numbers of a chain of n nodes.
fn stream(n: u32) -> Stream {
    Stream::new(101, 0, n)
}

struct Chain<O> {
    view: Shareable<View<u16, Places<Numbered>, Pieces<u16>>>,
    dirty: Shareable<Dirty>,
    entries: Shareable<Slots<u16>>,
    best: Shareable<Slots<u16>>,
    round: Shareable<Round>,
    rules: Rules,
    operator: PhantomData<O>,
}

impl<O: Operator> Job for Chain<O> {
    type Result = Gains;
    fn work<T: Team>(&self, team: T) -> Gains {
        // SAFETY: everything is this team's, and large enough.
        unsafe {
            let mut journal = Journal::new(self.entries.get(), 64);
            let (view, dirty, best) = (own(team, self.view.get()), self.dirty.get(), self.best.get());
            let round = self.round.get();
            chain::<T, O, _, _, _>(
                team,
                view,
                dirty,
                round,
                &mut journal,
                best,
                self.rules,
                stream(view.tour.n()),
            )
        }
    }
}

/// The last and the best tour of a part after a chain.
fn improved<O: Operator>(
    crew: Crew,
    world: &World,
    part: &mut Part,
    kicks: u32,
    (width, spread): (u32, bool),
) -> (Gains, Vec<u32>, Vec<u32>) {
    let start: Vec<u32> = (0..part.nodes.len() as u32).collect();
    let mut bench = Bench::<u16>::new(&start, &part.lists, world.k, 64);
    // A place of a numbered instance is the number of the node.
    let distance = Places { geometry: Numbered { distances: world.distances() }, start: part.nodes.as_ptr() };
    let gains = crew.run(Chain::<O> {
        view: Shareable::new(bench.view(distance, 4, part.linked.pieces())),
        dirty: Shareable::new(bench.dirty()),
        entries: Shareable::new(bench.journal.slots()),
        best: Shareable::new(bench.best.slots()),
        round: Shareable::new(bench.round(width, spread)),
        rules: Rules { kicks, ..RULES },
        operator: PhantomData,
    });
    (gains, bench.nodes(), bench.best_nodes())
}

/// Improves parts of one tour apart from each other, and puts them all back.
fn parts_fit_together<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    // Parts with several links; chains that gained in them; tours with several such parts.
    let mut seen = [0; 3];
    for round in 0..60 {
        let n = 20 + dice.below(100);
        let world = World::any(n, 8, &mut dice);
        let tour = dice.shuffled(n);
        let kicks = [0, 30][round % 2];
        let way = [(1, false), (3, false), (4, true)][round % 3];
        let mut together = edges(&tour);
        let (mut gained, mut count) = (0, 0);
        let (number, longest) = (1 + dice.below(3), 2 + dice.below(25));
        for mut part in parts(&world, &tour, number, longest, &mut dice) {
            let (gains, last, best) = improved::<O>(Crew::One, &world, &mut part, kicks, way);
            for (gain, new) in [(gains.last, &last), (gains.best, &best)] {
                let present = edges(new);
                assert!(part.linked.edges().iter().all(|link| present.contains(link)), "{new:?}");
                assert!(part.linked.heads.is_empty() || part.linked.are_kept(new), "{new:?}");
                let whole = part.put_back(&edges(&tour), new).expect("edges of the part");
                let whole = tour_of(&whole, n).expect("one tour");
                assert_eq!(gain, world.cost(&tour) - world.cost(&whole));
            }
            together = part.put_back(&together, &best).expect("edges of the part");
            gained += gains.best;
            let several = part.linked.heads.len() > 1;
            seen[0] += several as u32;
            seen[1] += (several && gains.best > 0) as u32;
            count += several as u32;
        }
        seen[2] += (count > 1) as u32;
        let whole = tour_of(&together, n).expect("one tour");
        assert_eq!(gained, world.cost(&tour) - world.cost(&whole));
    }
    assert!(seen[0] > 40 && seen[1] > 30 && seen[2] > 15, "{seen:?}");
}

#[test]
fn parts_of_one_tour_are_improved_apart_and_fit_together() {
    parts_fit_together::<TwoOpt>(102);
    parts_fit_together::<OrOpt>(103);
    parts_fit_together::<Or2opt>(104);
    parts_fit_together::<ThreeOpt>(105);
}

#[test]
fn teams_improve_parts_as_one_thread_does() {
    let mut dice = Dice::new(106);
    let mut several = 0;
    for longest in [3, 6] {
        let world = World::plane(70, 8, 100, &mut dice);
        let tour = dice.shuffled(70);
        for mut part in parts(&world, &tour, 2, longest, &mut dice) {
            several += (part.linked.heads.len() > 1) as u32;
            for round in [(1, false), (4, false), (3, true)] {
                let mut run = |crew| improved::<ThreeOpt>(crew, &world, &mut part, 2, round);
                let alone = run(Crew::One);
                assert!(alone.0.best > 0);
                for crew in if round.0 == 1 && longest == 3 { crews() } else { some_crews() } {
                    assert_eq!(run(crew), alone, "{crew:?}, {round:?}");
                }
            }
        }
    }
    assert!(several > 2);
}

#[test]
fn a_kick_that_does_not_fit_between_links_is_tried_with_shorter_segments() {
    let mut dice = Dice::new(110);
    // Kicks with the longest segments, with shorter ones, and none.
    let mut seen = [0; 3];
    for round in 0..600 {
        let (n, segment) = (10 + dice.below(60), dice.below(20));
        // All distances are equal: after a kick there is nothing to gain.
        let world = World::lawless(n, 3, 0, &mut dice);
        let mut heads = dice.shuffled(n)[..1 + dice.below(n / 5) as usize].to_vec();
        heads.sort_unstable();
        let mut linked = Linked::new(n, heads);
        let (start, fixed) = ((0..n).collect::<Vec<u32>>(), linked.edges());
        let first_kick = dice.below(1000);
        let mut expected = None;
        let mut tries = 0;
        let mut longest = segment;
        while expected.is_none() && (tries == 0 || longest > 0) {
            let cut = Cut::of(stream(n).step(first_kick), n, longest);
            let span = cut.lengths.iter().sum::<u32>() + 1;
            let at = |offset: u32| (cut.first + offset) % n;
            let fits = (0..span).all(|offset| !fixed.contains(&edge(at(offset), at(offset + 1))));
            expected = fits.then(|| bridged(&start, cut).0);
            tries += 1;
            longest /= 2;
        }
        let mut bench = Bench::<u16>::of(&world, &start, 64);
        let crew = if round % 20 == 0 { crews()[round / 20 % crews().len()] } else { Crew::One };
        let gains = crew.run(Chain::<TwoOpt> {
            view: Shareable::new(bench.view(world.numbered(), 3, linked.pieces())),
            dirty: Shareable::new(bench.dirty()),
            entries: Shareable::new(bench.journal.slots()),
            best: Shareable::new(bench.best.slots()),
            round: Shareable::new(bench.round(1, false)),
            rules: Rules { first_kick, segment, descend_first: 0, ..RULES },
            operator: PhantomData,
        });
        assert_eq!(gains, Gains { last: 0, best: 0 });
        let new = edges(&bench.nodes());
        seen[if expected.is_none() { 2 } else { (tries > 1) as usize }] += 1;
        assert_eq!(new, edges(&expected.unwrap_or(start)), "{:?}, segments up to {segment}", linked.heads);
        assert!(fixed.iter().all(|link| new.contains(link)));
    }
    assert!(seen.iter().all(|&times| times > 50), "{seen:?}");
}

/// Links of 0 .. n, and a tour that keeps them, some moves away from the order of the numbers.
fn linked_tour(dice: &mut Dice) -> (Linked, Vec<u32>) {
    let n = 6 + dice.below(30);
    let mut heads = dice.shuffled(n);
    heads.truncate(1 + dice.below(6.min(n / 2)) as usize);
    heads.sort_unstable();
    let linked = Linked::new(n, heads);
    let mut tour: Vec<u32> = (0..n).collect();
    tour.rotate_left(dice.below(n) as usize);
    if dice.below(2) == 0 {
        tour.reverse();
    }
    for _ in 0..12 {
        let m = any_move(&tour, dice);
        let (removed, added) = changes(&m);
        if removed.iter().all(|e| !linked.edges().contains(e)) {
            let new = tour_of(&replaced(&edges(&tour), &removed, &added).unwrap(), n).unwrap();
            if linked.are_kept(&new) {
                tour = new;
            }
        }
    }
    (linked, tour)
}

/// What links say of a move and of some edges in a row.
struct Ask {
    links: Shareable<Pieces<u16>>,
    tour: Shareable<ArrayTour<u16>>,
    m: Option<Move>,
    row: (u32, u32),
}

impl Job for Ask {
    type Result = (Option<bool>, bool);
    fn work<T: Team>(&self, team: T) -> Self::Result {
        let (links, tour) = (self.links.get(), self.tour.get());
        // SAFETY: a move of the tour that removes no link; positions below n.
        unsafe {
            (self.m.map(|m| links.allow(team, tour, m)), links.are_loose(team, tour, self.row.0, self.row.1))
        }
    }
}

#[test]
fn links_allow_exactly_the_moves_that_keep_their_order_and_direction() {
    let mut dice = Dice::new(107);
    let mut seen = [[0; 2]; 4];
    let mut loose = [0; 2];
    for round in 0..20_000 {
        let (mut linked, tour) = linked_tour(&mut dice);
        let n = linked.n;
        assert!(linked.are_kept(&tour));
        let fixed = linked.edges();
        let mut bench = Bench::<u16>::new(&tour, &[], 0, 0);
        let m = any_move(&tour, &mut dice);
        let (removed, added) = changes(&m);
        let row = (dice.below(n), dice.below(n));
        let ask = Ask {
            links: Shareable::new(linked.pieces()),
            tour: Shareable::new(bench.tour()),
            m: removed.iter().all(|e| !fixed.contains(e)).then_some(m),
            row,
        };
        let crew = if round % 100 == 0 { crews()[round / 100 % crews().len()] } else { Crew::One };
        let (allowed, is_loose) = crew.run(ask);
        if let Some(allowed) = allowed {
            let new = replaced(&edges(&tour), &removed, &added).and_then(|all| tour_of(&all, n)).unwrap();
            let heads = &linked.heads;
            assert_eq!(allowed, linked.are_kept(&new), "{m:?} in {tour:?} with links at {heads:?}");
            seen[m.kind as usize][allowed as usize] += (linked.heads.len() > 1) as u32;
        }
        let at = |i: u32| tour[(i % n) as usize];
        let free = (row.0..row.0 + row.1).all(|i| !fixed.contains(&edge(at(i), at(i + 1))));
        assert_eq!(is_loose, free, "{row:?} of {tour:?} with links at {:?}", linked.heads);
        loose[is_loose as usize] += 1;
    }
    assert!(seen.as_flattened().iter().chain(&loose).all(|&times| times > 200), "{seen:?}, {loose:?}");
}

#[test]
fn an_edge_is_fixed_if_and_only_if_a_link_joins_its_nodes() {
    let mut dice = Dice::new(108);
    for n in [3, 8, 31, 32, 33, 64, 70] {
        for _ in 0..20 {
            let mut linked = Linked::new(n, dice.shuffled(n)[..1 + dice.below(n) as usize].to_vec());
            let (links, fixed) = (linked.pieces(), linked.edges());
            for (a, b) in (0..n * n).map(|e| (e / n, e % n)).filter(|(a, b)| a != b) {
                // SAFETY: both are nodes.
                let is_fixed = unsafe { links.is_fixed(a, b) };
                assert_eq!(is_fixed, fixed.contains(&edge(a, b)), "({a}, {b}) of {n}, {:?}", linked.heads);
            }
        }
    }
}

#[test]
fn links_outlast_moves_that_are_asked_for() {
    // Whatever is allowed, one move after another, keeps the links.
    let mut dice = Dice::new(109);
    let mut made = 0;
    for _ in 0..300 {
        let (mut linked, tour) = linked_tour(&mut dice);
        let mut bench = Bench::<u16>::new(&tour, &[], 0, 0);
        let view = bench.tour();
        for _ in 0..20 {
            let m = any_move(&bench.nodes(), &mut dice);
            let fixed = linked.edges();
            // SAFETY: moves of the tour that remove no link.
            unsafe {
                if changes(&m).0.iter().all(|e| !fixed.contains(e)) && linked.pieces().allow(Serial, view, m)
                {
                    (0..m.steps()).for_each(|step| view.exchange(Serial, m.step(step)));
                    made += 1;
                }
            }
            assert!(linked.are_kept(&bench.nodes()), "{m:?} with links at {:?}", linked.heads);
        }
    }
    assert!(made > 500, "{made}");
}
