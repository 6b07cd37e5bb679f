//! Random directed instances: travel times between stops in the streets of a town, with one-way streets and turns that take time.
//!
//! Junctions form a lattice, each moved a little, so streets do not cross elsewhere. Every fifth street in each direction is a main
//! street, where traffic is faster. Some side streets are closed or one-way, but only if every junction can still be reached from
//! every other. Stops are junctions. A journey is a shortest path over streets, not junctions, since a turn takes a time that
//! depends on the street before it and the one after. The turn at a stop itself takes none.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::error::{InstanceError, Result};
use super::generate::draw;
use super::model::Instance;
use super::{memory, parallel};

/// Number of junctions per stop.
const JUNCTIONS_PER_STOP: usize = 4;
/// Metres between neighbouring junctions before they are moved, and how far they are moved along each axis at most.
const BLOCK: i32 = 100;
const MOVED: i32 = 30;
/// Every street of this number in each direction is a main street.
const MAIN_EVERY: usize = 5;
/// Kilometres per hour on side streets and on main streets.
const SPEEDS: [f64; 2] = [30.0, 50.0];
/// Percentage of side streets that are closed.
const CLOSED: u64 = 15;
/// Tenths of a second that it takes to go straight on, to turn right, left and back.
const STRAIGHT: u32 = 10;
const RIGHT: u32 = 30;
const LEFT: u32 = 80;
const BACK: u32 = 200;

/// Percentage of side streets that are one-way, unless another is requested.
pub const ONE_WAY: u32 = 40;

/// Generates travel times, in tenths of a second, between `n` stops in a town where this percentage of side streets are one-way.
/// Without one-way streets, the two directions differ only by their turns.
///
/// # Errors
/// If `n` is 0, or the times do not fit in memory.
pub fn roads(n: usize, one_way: u32, seed: u64) -> Result<Instance> {
    let name = format!("roads-{n}-{one_way}-{seed}");
    Instance::check_len(&name, n)?;
    let no_room = |shortage| {
        InstanceError::content(&*name, format!("not enough memory: {shortage}"), "use fewer nodes")
    };
    memory::check((n as u64).saturating_mul(4 * n as u64)).map_err(no_room)?;
    let mut draws = Pcg64::seed_from_u64(seed);
    let town = Town::new(n, one_way, &mut draws);
    let stops = some_of(town.places.len(), n, &mut draws);
    let journeys = Journeys::new(&town);
    let mut times = vec![0; n * n];
    parallel::each_part_with(&mut times, n, &|| journeys.memory(), &|memory, stop, row| {
        journeys.search(stops[stop], memory);
        for (time, &stop) in row.iter_mut().zip(&stops) {
            *time = memory.arrivals[stop as usize] as i32;
        }
    });
    let place = |&stop: &u32| town.places[stop as usize].map(f64::from);
    let comment = format!("tenths of a second, {one_way} % of side streets one-way, seed {seed}");
    let instance = Instance::from_matrix(name, times)?.into_atsp();
    Ok(instance.with_comments(vec![comment]).with_display(stops.iter().map(place).collect()))
}

/// Draws `count` different numbers below `end`.
fn some_of(end: usize, count: usize, draws: &mut impl Rng) -> Vec<u32> {
    let mut all: Vec<u32> = (0..end as u32).collect();
    for i in 0..count {
        all.swap(i, i + draw(draws, (end - i) as u64) as usize);
    }
    all.truncate(count);
    all
}

/// The junctions of a town and its streets.
struct Town {
    /// Where junctions are, in metres.
    places: Vec<[i32; 2]>,
    /// For each junction, the junctions that streets lead to.
    streets: Vec<Vec<u32>>,
    /// Junctions in a row of the lattice.
    side: usize,
}

impl Town {
    /// Draws a town for this number of stops.
    fn new(stops: usize, one_way: u32, draws: &mut impl Rng) -> Town {
        let side = (JUNCTIONS_PER_STOP * stops).isqrt() + 1;
        let mut places = Vec::with_capacity(side * side);
        for at in 0..side * side {
            let mut moved =
                |line: usize| BLOCK * line as i32 + draw(draws, 2 * MOVED as u64 + 1) as i32 - MOVED;
            // Array expressions are evaluated in order: x is drawn before y.
            places.push([moved(at % side), moved(at / side)]);
        }
        let mut town = Town { places, streets: vec![Vec::with_capacity(4); side * side], side };
        let all: Vec<[u32; 2]> = (0..side * side)
            .flat_map(|at| {
                let right = (at % side + 1 < side).then(|| [at as u32, at as u32 + 1]);
                let down = (at / side + 1 < side).then(|| [at as u32, (at + side) as u32]);
                right.into_iter().chain(down)
            })
            .collect();
        for &[a, b] in &all {
            town.streets[a as usize].push(b);
            town.streets[b as usize].push(a);
        }
        let mut detours = Detours::new(town.places.len());
        for [a, b] in all {
            if town.is_main(a, b) {
                continue;
            }
            // The same number of draws for each street, so that the percentage changes as little as possible.
            let [is_closed, is_one_way] = [CLOSED, u64::from(one_way)].map(|share| draw(draws, 100) < share);
            let (from, to) = if draw(draws, 2) == 0 { (a, b) } else { (b, a) };
            let is_closed = is_closed && detours.exists(&town, a, b) && detours.exists(&town, b, a);
            if is_closed || is_one_way && detours.exists(&town, from, to) {
                town.streets[from as usize].retain(|&end| end != to);
            }
            if is_closed {
                town.streets[to as usize].retain(|&end| end != from);
            }
        }
        town
    }

    fn is_main(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a as usize, b as usize];
        let line = if a / self.side == b / self.side { a / self.side } else { a % self.side };
        line % MAIN_EVERY == MAIN_EVERY / 2
    }

    /// Returns the time that a street takes, in tenths of a second.
    fn time(&self, from: u32, to: u32) -> u32 {
        let speed = SPEEDS[usize::from(self.is_main(from, to))];
        let [dx, dy] = self.along(from, to).map(f64::from);
        // A metre at one kilometre per hour takes 3.6 seconds.
        (36.0 * (dx * dx + dy * dy).sqrt() / speed).round() as u32
    }

    fn along(&self, from: u32, to: u32) -> [i32; 2] {
        let ([x, y], [to_x, to_y]) = (self.places[from as usize], self.places[to as usize]);
        [to_x - x, to_y - y]
    }

    /// Returns the time to get from a street into the next one, in tenths of a second. Traffic keeps to the right.
    fn turn(&self, [from, at]: [u32; 2], to: u32) -> u32 {
        let ([x, y], [next_x, next_y]) = (self.along(from, at), self.along(at, to));
        let (forward, left) = (x * next_x + y * next_y, x * next_y - y * next_x);
        if from == to {
            BACK
        } else if forward >= left.abs() {
            STRAIGHT
        } else if left > 0 {
            LEFT
        } else {
            RIGHT
        }
    }
}

/// Searches for paths that avoid a street.
struct Detours {
    /// The last search that reached each junction.
    reached: Vec<u32>,
    searches: u32,
    queue: VecDeque<u32>,
}

impl Detours {
    fn new(junctions: usize) -> Detours {
        Detours { reached: vec![0; junctions], searches: 0, queue: VecDeque::new() }
    }

    /// Returns whether there is a path that does not use the street itself.
    fn exists(&mut self, town: &Town, from: u32, to: u32) -> bool {
        self.searches += 1;
        self.queue.clear();
        self.queue.push_back(from);
        self.reached[from as usize] = self.searches;
        while let Some(at) = self.queue.pop_front() {
            for &next in town.streets[at as usize].iter().filter(|&&next| (at, next) != (from, to)) {
                if next == to {
                    return true;
                }
                if std::mem::replace(&mut self.reached[next as usize], self.searches) != self.searches {
                    self.queue.push_back(next);
                }
            }
        }
        false
    }
}

/// The streets of a town as nodes, each direction one, for searches of shortest paths.
struct Journeys {
    /// For each junction, the first street that leaves it; then the number of streets.
    first: Vec<u32>,
    /// For each street, the junction it leads to and the time it takes.
    streets: Vec<(u32, u32)>,
    /// For each street, the times of turns into the streets that leave its end, in order.
    turns: Vec<Vec<u32>>,
}

/// Memory for the search from one stop.
struct Memory {
    /// The time to each junction.
    arrivals: Vec<u32>,
    /// The time to the end of each street.
    times: Vec<u32>,
    queue: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Journeys {
    fn new(town: &Town) -> Journeys {
        let mut first = vec![0];
        let (mut streets, mut turns) = (Vec::new(), Vec::new());
        for (from, ends) in (0..).zip(&town.streets) {
            for &to in ends {
                streets.push((to, town.time(from, to)));
                turns.push(
                    town.streets[to as usize].iter().map(|&next| town.turn([from, to], next)).collect(),
                );
            }
            first.push(streets.len() as u32);
        }
        Journeys { first, streets, turns }
    }

    fn memory(&self) -> Memory {
        Memory {
            arrivals: vec![0; self.first.len() - 1],
            times: vec![0; self.streets.len()],
            queue: BinaryHeap::new(),
        }
    }

    /// Finds the times from a junction to all others, by Dijkstra's algorithm.
    fn search(&self, stop: u32, memory: &mut Memory) {
        let Memory { arrivals, times, queue } = memory;
        arrivals.fill(u32::MAX);
        times.fill(u32::MAX);
        arrivals[stop as usize] = 0;
        let reach = |times: &mut [u32], queue: &mut BinaryHeap<_>, street: u32, since: u32| {
            let time = since + self.streets[street as usize].1;
            if time < times[street as usize] {
                times[street as usize] = time;
                queue.push(Reverse((time, street)));
            }
        };
        for street in self.leaving(stop) {
            reach(times, queue, street, 0);
        }
        while let Some(Reverse((time, street))) = queue.pop() {
            if time > times[street as usize] {
                continue;
            }
            let (junction, _) = self.streets[street as usize];
            arrivals[junction as usize] = arrivals[junction as usize].min(time);
            for (next, turn) in self.leaving(junction).zip(&self.turns[street as usize]) {
                reach(times, queue, next, time + turn);
            }
        }
    }

    fn leaving(&self, junction: u32) -> std::ops::Range<u32> {
        self.first[junction as usize]..self.first[junction as usize + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn town(stops: usize, one_way: u32, seed: u64) -> Town {
        Town::new(stops, one_way, &mut Pcg64::seed_from_u64(seed))
    }

    #[test]
    fn a_seed_fixes_the_times_on_any_number_of_threads() {
        let on = |threads: usize, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| roads(60, ONE_WAY, seed).unwrap())
        };
        let one = on(1, 1);
        assert!(one == on(3, 1) && one.matrix() != on(3, 2).matrix());
        // Never change this: a different generator would make published runs unrepeatable.
        assert_eq!(one.matrix().unwrap()[..5], [0, 1115, 1941, 875, 937]);
    }

    #[test]
    fn every_stop_is_reached_from_every_other() {
        for (n, one_way) in [(1, 40), (2, 100), (3, 0), (3, 100), (200, 0), (200, 40), (200, 100)] {
            let instance = roads(n, one_way, 5).unwrap();
            let longest = instance.matrix().unwrap().iter().max().copied().unwrap();
            assert!((0..1_000_000).contains(&longest), "{n} {one_way}: {longest}");
            for i in 0..n as u32 {
                assert!(
                    (0..n as u32).all(|j| (i == j) == (instance.distance(i, j) == 0)),
                    "{n} {one_way} {i}"
                );
            }
        }
    }

    #[test]
    fn streets_are_closed_and_one_way_in_the_given_shares() {
        for one_way in [0, 40, 80] {
            let town = town(1000, one_way, 3);
            let (mut both, mut single, mut main) = (0, 0, 0);
            for (a, ends) in (0..).zip(&town.streets) {
                for &b in ends {
                    let is_back = town.streets[b as usize].contains(&a);
                    assert!(is_back || !town.is_main(a, b));
                    main += usize::from(town.is_main(a, b) && a < b);
                    both += usize::from(is_back && a < b);
                    single += usize::from(!is_back);
                }
            }
            let all = 2 * (town.side - 1) * town.side - main;
            let share = |count: usize| 100.0 * count as f64 / all as f64;
            let expected = 0.85 * f64::from(one_way);
            assert!((expected - 14.0..expected + 4.0).contains(&share(single)), "{}", share(single));
            assert!((8.0..17.0).contains(&(100.0 - share(single + both - main))));
        }
    }

    #[test]
    fn one_way_streets_and_turns_make_the_ways_there_and_back_differ() {
        let share = |one_way| {
            let instance = roads(150, one_way, 2).unwrap();
            let mut relative = 0.0;
            let pairs: Vec<(u32, u32)> = (0..150).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
            for &(i, j) in &pairs {
                let (there, back) = (f64::from(instance.distance(i, j)), f64::from(instance.distance(j, i)));
                relative += (there - back).abs() / there.min(back);
            }
            relative / pairs.len() as f64
        };
        let (none, some) = (share(0), share(ONE_WAY));
        assert!((0.002..0.06).contains(&none) && (2.0 * none..0.3).contains(&some), "{none} {some}");
    }

    /// By all paths over streets up to a bound, written plainly: Bellman-Ford over pairs of junctions.
    #[test]
    fn times_are_shortest_paths_with_turns() {
        let town = town(4, 60, 9);
        let journeys = Journeys::new(&town);
        let mut memory = journeys.memory();
        let streets: Vec<[u32; 2]> =
            (0..).zip(&town.streets).flat_map(|(a, ends)| ends.iter().map(move |&b| [a, b])).collect();
        for stop in 0..town.places.len() as u32 {
            let mut times: Vec<u32> = streets
                .iter()
                .map(|&[a, b]| if a == stop { town.time(a, b) } else { u32::MAX / 2 })
                .collect();
            for _ in &streets {
                for (k, &[a, b]) in streets.iter().enumerate() {
                    for (l, &before) in streets.iter().enumerate().filter(|(_, before)| before[1] == a) {
                        times[k] = times[k].min(times[l] + town.turn(before, b) + town.time(a, b));
                    }
                }
            }
            journeys.search(stop, &mut memory);
            for junction in (0..town.places.len() as u32).filter(|&junction| junction != stop) {
                let to = streets.iter().zip(&times).filter(|(street, _)| street[1] == junction);
                assert_eq!(memory.arrivals[junction as usize], *to.map(|(_, time)| time).min().unwrap());
            }
        }
    }

    #[test]
    fn a_detour_by_a_third_stop_saves_at_most_its_turn() {
        let instance = roads(60, ONE_WAY, 4).unwrap();
        for (i, j, k) in (0..60 * 60 * 60).map(|at| (at / 3600, at / 60 % 60, at % 60)) {
            let detour = instance.distance(i, j) + instance.distance(j, k);
            assert!(instance.distance(i, k) <= detour + BACK as i32);
        }
    }

    #[test]
    fn turns_are_told_by_their_angle() {
        let places = vec![[0, 0], [100, 0], [200, 20], [90, 100], [110, -90]];
        let town = Town { places, streets: Vec::new(), side: 10 };
        assert_eq!([0, 2, 3, 4].map(|to| town.turn([0, 1], to)), [BACK, STRAIGHT, LEFT, RIGHT]);
    }

    #[test]
    fn empty_requests_are_refused() {
        assert!(roads(0, ONE_WAY, 1).is_err());
        assert!(roads(100_000_000, ONE_WAY, 1).unwrap_err().to_string().contains("memory"));
    }
}
