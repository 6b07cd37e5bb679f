//! Instances, populations and constructions with no thought of speed that the tests share.

use crate::common::memory::{Array, Number};
use antwarp_core::distance::{Distances, Exceptions};
use antwarp_core::geometry::{Geometry, Grid, Numbered, Places};
use antwarp_core::node::NodeId;
use antwarp_core::papers::genetic::generation::record;
use antwarp_core::papers::genetic::{
    Crossover, GenerationRules, Jumps, Population, breed, child, memory_bytes,
};
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;

/// Random numbers one after another.
pub struct Dice {
    stream: Stream,
    step: u32,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice { stream: Stream::new(seed, 0, 0), step: 0 }
    }

    pub fn below(&mut self, n: u32) -> u32 {
        self.step += 1;
        self.stream.step(self.step).below(7, n)
    }

    /// A permutation of 0 .. n.
    pub fn shuffled(&mut self, n: u32) -> Vec<u32> {
        let mut nodes: Vec<u32> = (0..n).collect();
        for i in (1..n).rev() {
            nodes.swap(i as usize, self.below(i + 1) as usize);
        }
        nodes
    }
}

/// Nodes and their distances.
#[derive(Clone)]
pub struct World {
    pub n: u32,
    matrix: Vec<i32>,
    numbers: Vec<u32>,
    /// Empty where the nodes have no places in a plane.
    grid: Vec<u64>,
}

impl World {
    pub fn of(n: u32, distance: impl Fn(u32, u32) -> i32) -> Self {
        let matrix = (0..n * n).map(|i| distance(i / n, i % n)).collect();
        World { n, matrix, numbers: (0..n).collect(), grid: vec![] }
    }

    /// Random points with coordinates below `extent`: where it is small, many are equal.
    pub fn points(n: u32, extent: u32, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let points: Vec<_> = (0..n).map(|_| (dice.below(extent), dice.below(extent))).collect();
        let mut world = World::of(n, |a, b| {
            let ((ax, ay), (bx, by)) = (points[a as usize], points[b as usize]);
            f64::hypot(f64::from(ax) - f64::from(bx), f64::from(ay) - f64::from(by)).round() as i32
        });
        world.grid = points.iter().map(|&(x, y)| Grid::place(x, y)).collect();
        world
    }

    /// A random distance below `most` for each direction of each edge.
    pub fn directed(n: u32, most: u32, seed: u64) -> Self {
        let draws = Stream::new(seed, 1, 0).step(0);
        World::of(n, |a, b| draws.below(a * n + b, most) as i32)
    }

    pub fn distance(&self, a: u32, b: u32) -> i64 {
        self.matrix[(a * self.n + b) as usize].into()
    }

    /// The square of the distance before it is rounded, of nodes in the plane.
    pub fn square(&self, a: u32, b: u32) -> i64 {
        let [a, b] = [a, b].map(|node| self.grid[node as usize]);
        let along = |shift: u32| i64::from((a >> shift) as u32) - i64::from((b >> shift) as u32);
        along(0) * along(0) + along(32) * along(32)
    }

    pub fn cost(&self, tour: &[u32]) -> i64 {
        let next = tour.iter().cycle().skip(1);
        tour.iter().zip(next).map(|(&a, &b)| self.distance(a, b)).sum()
    }

    pub fn places(&self) -> Places<Numbered> {
        let (matrix, points) = (self.matrix.as_ptr(), std::ptr::null());
        let geometry = Numbered {
            distances: Distances { matrix, points, metric: None, n: self.n, exceptions: Exceptions::NONE },
        };
        Places { geometry, start: self.numbers.as_ptr() }
    }

    /// The same nodes in the plane, if they are there.
    pub fn on_grid(&self) -> Option<Places<Grid>> {
        let start = self.grid.as_ptr();
        (!self.grid.is_empty()).then_some(Places { geometry: Grid { up: false }, start })
    }
}

pub fn is_tour(n: u32, tour: &[u32]) -> bool {
    let mut seen = vec![false; n as usize];
    tour.len() == n as usize && tour.iter().all(|&v| v < n && !std::mem::replace(&mut seen[v as usize], true))
}

/// The next open node behind `node` in a tour, or before it; around the circle, and itself at last.
pub fn seek(tour: &[u32], node: u32, forwards: bool, is_open: impl Fn(u32) -> bool) -> u32 {
    let (n, at) = (tour.len(), tour.iter().position(|&v| v == node).unwrap());
    let mut places = (1..=n).map(|step| if forwards { (at + step) % n } else { (at + n - step) % n });
    places.find(|&i| is_open(tour[i])).map(|i| tour[i]).expect("no node is open")
}

/// The next open node behind `node` in a tour that begins with `start` and has an end, else that of the smallest number.
fn seek_to_the_end(tour: &[u32], start: u32, node: u32, open: &[bool]) -> u32 {
    let first = tour.iter().position(|&v| v == start).unwrap();
    let mut line = tour[first..].iter().chain(&tour[..first]).skip_while(|&&v| v != node);
    let found = line.find(|&&v| open[v as usize]).copied();
    found.unwrap_or_else(|| open.iter().position(|&open| open).expect("no node is open") as u32)
}

/// A child by searching its parents for each of its nodes.
pub fn construct(
    parents: [&[u32]; 2],
    start: u32,
    crossover: Crossover,
    remoteness: impl Fn(u32, u32) -> i64,
) -> Vec<u32> {
    let n = parents[0].len() as u32;
    let mut open = vec![true; n as usize];
    open[start as usize] = false;
    let mut child = vec![start];
    for i in 1..n {
        let node = child[child.len() - 1];
        let both = |parent: &[u32]| [true, false].map(|f| seek(parent, node, f, |v| open[v as usize]));
        let candidates = match crossover {
            // "If d_pa is less than d_pb, add a; otherwise b": of equals the second.
            Crossover::Scx => [1, 0].map(|p| seek_to_the_end(parents[p], start, node, &open)).to_vec(),
            Crossover::Bcscx => parents.map(both).concat(),
            Crossover::Arx { from, to, second } => {
                both(parents[usize::from((from..to).contains(&i) != second)]).to_vec()
            }
        };
        let nearest = *candidates.iter().min_by_key(|&&v| remoteness(node, v)).unwrap();
        open[nearest as usize] = false;
        child.push(nearest);
    }
    child
}

/// The jumps of nodes in two parents, in guarded memory.
pub struct Table<I> {
    memory: Array<u8>,
    parents: [Array<I>; 2],
}

impl<I: NodeId + Number> Table<I> {
    pub fn new(parents: [&[u32]; 2]) -> Self {
        let memory = Array::rubbish(memory_bytes::<I>(parents[0].len() as u32));
        Table { memory, parents: parents.map(|tour| ids(tour)) }
    }

    pub fn jumps(&mut self) -> Jumps<I> {
        let n = self.parents[0].len() as u32;
        let parents = self.parents.each_mut().map(|tour| tour.start().cast_const());
        // SAFETY: the memory has the size asked for and is aligned, the parents are tours of n nodes.
        unsafe {
            let jumps = Jumps::new(self.memory.start(), n);
            jumps.fill(Serial, n, parents);
            jumps
        }
    }
}

pub fn ids<I: NodeId + Number>(nodes: &[u32]) -> Array<I> {
    Array::of(&nodes.iter().map(|&v| I::new(v)).collect::<Vec<_>>())
}

/// A child as the library makes it, and its length.
pub fn make<I: NodeId + Number>(
    world: &World,
    parents: [&[u32]; 2],
    start: u32,
    crossover: Crossover,
) -> (Vec<u32>, i64) {
    make_with::<I, _>(world.n, world.places(), parents, start, crossover)
}

/// The same with these places of the n nodes.
pub fn make_with<I: NodeId + Number, G: Geometry>(
    n: u32,
    places: Places<G>,
    parents: [&[u32]; 2],
    start: u32,
    crossover: Crossover,
) -> (Vec<u32>, i64) {
    let mut table = Table::<I>::new(parents);
    let mut nodes = Array::<I>::rubbish(n as usize);
    // SAFETY: jumps of tours of the n nodes, whose places these are; the child has n elements; nobody else is at work.
    let cost = unsafe { child(n, start, crossover, table.jumps(), places, nodes.slots()) };
    (nodes.iter().map(|v| v.get()).collect(), cost)
}

/// The rules of a first generation with fixed places and no mutation.
pub fn rules(world: &World, (group, groups): (u32, u32), method: u32) -> GenerationRules {
    GenerationRules {
        seed: 5,
        target: -1,
        n: world.n,
        group,
        groups,
        method,
        mutation: 0,
        shuffled: 0,
        generation: 1,
        since: 1,
        directed: u32::from(world.on_grid().is_none()),
        unfinished: 0,
        window: 0,
        ring: 0,
    }
}

/// A population: the table of places as it is in 0, and as it will be in 1.
pub struct Pool<I> {
    n: u32,
    individuals: Array<I>,
    pub rows: [Array<u32>; 2],
    pub costs: [Array<i64>; 2],
    pub best: Array<u64>,
    pub born: Array<u64>,
}

impl<I: NodeId + Number> Pool<I> {
    /// Rows and places that are still rubbish.
    pub fn empty(n: u32, count: u32) -> Self {
        let count = count as usize;
        Pool {
            n,
            individuals: Array::rubbish(n as usize * count),
            rows: [0; 2].map(|_| Array::rubbish(count)),
            costs: [0; 2].map(|_| Array::rubbish(count)),
            best: Array::of(&[record(i64::MAX, 0)]),
            born: Array::rubbish(count),
        }
    }

    /// Random individuals, in rows of other numbers than their places.
    pub fn random(world: &World, rules: &GenerationRules, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let individuals: Vec<_> = (0..rules.group * rules.groups).map(|_| dice.shuffled(world.n)).collect();
        Pool::of(world, &individuals, &dice.shuffled(individuals.len() as u32))
    }

    /// Individuals in the rows given.
    pub fn of(world: &World, individuals: &[Vec<u32>], rows: &[u32]) -> Self {
        let mut pool = Pool::empty(world.n, individuals.len() as u32);
        pool.individuals = ids(&individuals.concat());
        pool.rows[0] = Array::of(rows);
        let costs: Vec<_> = rows.iter().map(|&row| world.cost(&individuals[row as usize])).collect();
        pool.costs[0] = Array::of(&costs);
        pool
    }

    pub fn copy(&self) -> Self {
        Pool {
            n: self.n,
            individuals: Array::of(&self.individuals),
            rows: self.rows.each_ref().map(|rows| Array::of(rows)),
            costs: self.costs.each_ref().map(|costs| Array::of(costs)),
            best: Array::of(&self.best),
            born: Array::of(&self.born),
        }
    }

    pub fn tables(&mut self) -> Population<I> {
        Population {
            individuals: self.individuals.slots(),
            rows: self.rows[0].start(),
            costs: self.costs[0].start(),
            next_rows: self.rows[1].slots(),
            next_costs: self.costs[1].slots(),
            best: self.best.start(),
            born: self.born.slots(),
        }
    }

    /// What will be, is.
    pub fn turn(&mut self) {
        self.rows.swap(0, 1);
        self.costs.swap(0, 1);
    }

    pub fn individual(&self, row: u32) -> Vec<u32> {
        let n = self.n as usize;
        self.individuals[row as usize * n..][..n].iter().map(|v| v.get()).collect()
    }

    /// The individual at a place.
    pub fn at(&self, place: u32) -> Vec<u32> {
        self.individual(self.rows[0][place as usize])
    }

    pub fn row(&self, place: u32) -> u32 {
        self.rows[0][place as usize]
    }

    pub fn cost(&self, place: u32) -> i64 {
        self.costs[0][place as usize]
    }

    /// New individuals: place and row.
    pub fn newborn(&self, count: u32) -> Vec<(u32, u32)> {
        self.born[..count as usize].iter().map(|&word| ((word >> 32) as u32, word as u32)).collect()
    }

    /// Every number that is not rubbish.
    pub fn state(&self, newborn: u32) -> Vec<u64> {
        let mut all: Vec<u64> = self.individuals.iter().map(|v| v.get().into()).collect();
        all.extend(self.rows.iter().flat_map(|rows| rows.iter().map(|&row| u64::from(row))));
        all.extend(self.costs.iter().flat_map(|costs| costs.iter().map(|&cost| cost as u64)));
        all.extend(self.best.iter().chain(&self.born[..newborn as usize]));
        all
    }

    /// Rows are a permutation, individuals tours, and costs theirs.
    pub fn check(&self, world: &World, context: &str) {
        let count = self.rows[0].len() as u32;
        assert!(is_tour(count, &self.rows[0]), "{context}: a row is nowhere");
        for place in 0..count {
            assert!(is_tour(world.n, &self.at(place)), "{context}: no tour at place {place}");
            assert_eq!(self.cost(place), world.cost(&self.at(place)), "{context}: cost at place {place}");
        }
    }
}

/// Makes all children of a generation by one thread, and turns the table.
pub fn breed_all<I: NodeId + Number>(world: &World, rules: &GenerationRules, pool: &mut Pool<I>) {
    breed_in_order(world.places(), rules, pool, 0..rules.children());
    pool.turn();
}

/// Makes children in the order of `indices`.
pub fn breed_in_order<I: NodeId + Number, G: Geometry>(
    places: Places<G>,
    rules: &GenerationRules,
    pool: &mut Pool<I>,
    indices: impl IntoIterator<Item = u32>,
) {
    let mut memory = Array::<u8>::rubbish(memory_bytes::<I>(rules.n));
    let tables = pool.tables();
    for index in indices {
        // SAFETY: the pool is as large as the rules say and holds tours; the memory has the size asked for.
        unsafe { breed(Serial, rules, tables, places, memory.start(), index) }
    }
}
