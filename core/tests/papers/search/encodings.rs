//! Neighbourhoods against plain loops; random solutions; points in crowns.

use crate::common::memory::Number;
use crate::common::statistics::{LEVEL, uniformity};
use crate::papers::search::world::{changes, distance, exchanges, flips, is_permutation, moved, rotations};
use antwarp_core::papers::neighborhood::{
    Changes, Crowns, Exchanges, Flips, Neighborhood, Nested, Rotation, Rotations,
};
use antwarp_core::papers::search::{Contender, Crew, random_solution};
use antwarp_core::rng::Stream;
use antwarp_core::sine::Real;
use antwarp_core::team::Serial;
use std::fmt::Debug;
use std::marker::PhantomData;

const STREAM: Stream = Stream::new(1, 2, 3);

fn random<N: Neighborhood>(moves: &N, stream: Stream) -> Vec<N::Element> {
    (0..moves.elements()).map(|i| moves.random(stream, i)).collect()
}

/// Neighbours are those of the list, in its order, all different, and as far away as told.
fn check<N>(moves: N, far: usize, list: impl Fn(&[N::Element]) -> Vec<Vec<N::Element>>)
where
    N: Neighborhood<Element: Number + PartialEq + Debug, Move: PartialEq + Debug>,
{
    let solution = random(&moves, STREAM);
    let expected = list(&solution);
    let len = expected.len() as u64;
    assert_eq!(moves.len(), len, "{} elements", moves.elements());
    assert_eq!(moves.is_empty(), len == 0);
    for (index, neighbor) in (0..).zip(&expected) {
        let step = moves.at(index);
        assert_eq!(moves.index(step), index);
        assert_eq!(&moved(&moves, STREAM, &solution, step), neighbor, "{step:?}");
        assert_eq!(distance(&solution, neighbor), far, "{step:?}");
        assert!(!expected[..index as usize].contains(neighbor), "{step:?} leads to two neighbours");
        for by in (0..10).chain([31, 32, 100, 511]).filter(|by| index + by < len) {
            assert_eq!(moves.skip(step, index, by as u32), moves.at(index + by), "{by} behind {step:?}");
        }
    }
}

#[test]
fn neighbourhoods_come_one_behind_the_other() {
    let bits = Nested {
        first: Flips::<1> { n: 9 },
        behind: Nested { first: Flips::<2> { n: 9 }, behind: Flips::<3> { n: 9 } },
    };
    let levels: Vec<_> = (0..bits.levels()).map(|level| bits.level(level)).collect();
    assert_eq!(levels, [(0, 9), (9, 45), (45, 129)]);
    assert_eq!((bits.len(), bits.traces(), bits.elements()), (129, 9, 9));
    let solution = random(&bits, STREAM);
    let lists = (0..).zip((1..=3).flat_map(|distance| flips(&solution, distance)));
    for (index, neighbor) in lists {
        let step = bits.at(index);
        assert_eq!((bits.index(step), moved(&bits, STREAM, &solution, step)), (index, neighbor));
        let (_, end) = levels.iter().copied().find(|&(_, end)| index < end).unwrap();
        for by in [0, 1, 2, 5, 31].into_iter().filter(|by| index + by < end) {
            assert_eq!(bits.skip(step, index, by as u32), bits.at(index + by), "{by} behind {step:?}");
        }
    }
}

#[test]
fn neighbours_are_all_there_are() {
    for n in 0..9 {
        check(Flips::<1> { n }, 1, |bits| flips(bits, 1));
        check(Flips::<2> { n }, 2, |bits| flips(bits, 2));
        check(Flips::<3> { n }, 3, |bits| flips(bits, 3));
        for by_place in [false, true] {
            check(Exchanges { n, by_place }, 2, exchanges);
        }
        check(Rotations { n }, 3, rotations);
        for k in [2, 3, 7] {
            check(Changes { n, k }, 1, |values| changes(values, k));
        }
    }
    check(Flips::<1> { n: 70 }, 1, |bits| flips(bits, 1));
    check(Flips::<2> { n: 40 }, 2, |bits| flips(bits, 2));
    check(Flips::<3> { n: 20 }, 3, |bits| flips(bits, 3));
    check(Exchanges { n: 40, by_place: true }, 2, exchanges);
    check(Rotations { n: 16 }, 3, rotations);
    check(Changes { n: 4, k: 256 }, 1, |values| changes(values, 256));
}

#[test]
fn exchanges_and_rotations_can_be_taken_back() {
    for n in 3..8 {
        let (exchanges, rotations) = (Exchanges { n, by_place: true }, Rotations { n });
        let start = random(&exchanges, STREAM);
        for step in (0..exchanges.len()).map(|index| exchanges.at(index)) {
            let there = moved(&exchanges, STREAM, &start, step);
            assert_eq!(moved(&exchanges, STREAM, &there, step), start);
        }
        for step in (0..rotations.len()).map(|index| rotations.at(index)) {
            let there = moved(&rotations, STREAM, &start, step);
            let back = Rotation { down: !step.down, ..step };
            assert_eq!(moved(&rotations, STREAM, &there, back), start);
            // Three times is no time.
            let twice = moved(&rotations, STREAM, &there, step);
            assert_eq!(moved(&rotations, STREAM, &twice, step), start);
        }
    }
}

#[test]
fn random_permutations_are_permutations() {
    for n in 0..60 {
        for descent in 0..5 {
            for index in 0..3 {
                let moves = Exchanges { n, by_place: false };
                let items: Vec<_> = (0..n).map(|i| random_solution(&moves, 7, descent, index, i)).collect();
                assert!(is_permutation(&items), "{items:?}");
                let rotated: Vec<_> =
                    (0..n).map(|i| random_solution(&Rotations { n }, 7, descent, index, i)).collect();
                assert!(is_permutation(&rotated), "{rotated:?}");
            }
        }
    }
}

/// Solutions are equally likely, whatever it is that differs: their numbers, below `classes`, by `class`.
fn check_likely<N: Neighborhood>(moves: N, classes: usize, class: impl Fn(&[N::Element]) -> usize) {
    for varied in ["seed", "descent", "walk"] {
        let mut counts = vec![0; classes];
        for i in 0..400 * classes as u32 {
            let (seed, descent, walk) = match varied {
                "seed" => (i.into(), 0, 0),
                "descent" => (5, i, 1),
                _ => (5, 0, i),
            };
            let element = |i| random_solution(&moves, seed, descent, walk, i);
            counts[class(&(0..moves.elements()).map(element).collect::<Vec<_>>())] += 1;
        }
        let p = uniformity(&counts);
        assert!(p > LEVEL && p < 1.0 - LEVEL, "by {varied}: p = {p:e}");
    }
}

#[test]
fn random_solutions_are_equally_likely() {
    // Lehmer's code.
    let number = |items: &[u32]| {
        (0..items.len()).fold(0, |code, i| {
            let before = items[..i].iter().filter(|&&x| x < items[i]).count();
            code * (items.len() - i) + items[i] as usize - before
        })
    };
    check_likely(Exchanges { n: 4, by_place: true }, 24, number);
    check_likely(Rotations { n: 4 }, 24, number);
    // Of five elements, even permutations are a little rarer than odd ones, but three of them tell nothing of that.
    let first = |items: &[u32]| items[..3].iter().fold(0, |word, &item| word * 5 + item as usize);
    let classes: Vec<_> =
        (0..125).filter(|w| w / 25 != w / 5 % 5 && w / 5 % 5 != w % 5 && w % 5 != w / 25).collect();
    let class = |items: &[u32]| classes.binary_search(&first(items)).expect("no permutation");
    check_likely(Exchanges { n: 5, by_place: false }, 60, class);
    let word = |k| move |values: &[u8]| values.iter().fold(0, |word, &value| word * k + usize::from(value));
    check_likely(Flips::<1> { n: 6 }, 64, word(2));
    check_likely(Flips::<2> { n: 5 }, 32, word(2));
    check_likely(Flips::<3> { n: 4 }, 16, word(2));
    check_likely(Changes { n: 3, k: 5 }, 125, word(5));
    check_likely(Changes { n: 1, k: 256 }, 256, word(256));
    let tenths = |point: &[f64]| point.iter().fold(0, |word, x| word * 10 + ((x + 1.0) * 5.0) as usize);
    check_likely(Crowns { m: 1, ..crowns(2, 1) }, 100, tenths);
}

fn crowns<R>(n: u32, m: u32) -> Crowns<R> {
    Crowns { n, m, radius: 0.9, tabu_radius: 0.1, reals: PhantomData }
}

/// What leads from the middle to all neighbours, under many streams.
fn arrows<R: Real + Number>(moves: &Crowns<R>, streams: u32) -> Vec<(u64, Vec<f64>)> {
    let middle = vec![R::ZERO; moves.n as usize];
    let streams = (0..streams).map(|i| Stream::new(3, i, 1));
    let arrow =
        |stream, i| moved(moves, stream, &middle, moves.at(i)).into_iter().map(Real::to_f64).collect();
    streams.flat_map(|stream| (0..moves.len()).map(move |i| (i, arrow(stream, i)))).collect()
}

fn length(arrow: &[f64]) -> f64 {
    arrow.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn check_crowns<R: Real + Number>() {
    for n in [1, 2, 3, 10] {
        let moves = crowns::<R>(n, 8);
        let (mut within, mut mean) = (vec![0; 10], vec![0.0; n as usize]);
        let arrows = arrows(&moves, 500);
        for (index, arrow) in &arrows {
            // Where in its crown, from 0 to 1.
            let inside = length(arrow) / f64::from(moves.radius) * 8.0 - *index as f64;
            assert!((-1e-4..1.0 + 1e-4).contains(&inside), "{arrow:?} is not in crown {index}");
            within[((inside * 10.0).max(0.0) as usize).min(9)] += 1;
            mean.iter_mut().zip(arrow).for_each(|(mean, x)| *mean += x / length(arrow));
        }
        let p = uniformity(&within);
        assert!(p > LEVEL, "distances in crowns of {n} dimensions: p = {p:e}");
        // A coordinate of a random direction has variance 1/n.
        let deviation = 5.0 * (arrows.len() as f64 / f64::from(n)).sqrt();
        assert!(mean.iter().all(|mean| mean.abs() < deviation), "{mean:?} of {n} dimensions");
    }
}

#[test]
fn neighbours_lie_in_their_crowns() {
    check_crowns::<f32>();
    check_crowns::<f64>();
}

#[test]
fn directions_are_uniform() {
    let mut angles = vec![0; 64];
    for (_, arrow) in arrows(&crowns::<f64>(2, 5), 4000) {
        let turns = arrow[1].atan2(arrow[0]) / std::f64::consts::TAU + 0.5;
        angles[((turns * 64.0) as usize).min(63)] += 1;
    }
    let p = uniformity(&angles);
    assert!(p > LEVEL && p < 1.0 - LEVEL, "in the plane: p = {p:e}");
    // Archimedes: in space, heights are uniform.
    for axis in 0..3 {
        let mut heights = vec![0; 32];
        for (_, arrow) in arrows(&crowns::<f32>(3, 5), 4000) {
            heights[((arrow[axis] / length(&arrow) * 16.0 + 16.0) as usize).min(31)] += 1;
        }
        let p = uniformity(&heights);
        assert!(p > LEVEL && p < 1.0 - LEVEL, "along axis {axis}: p = {p:e}");
    }
}

fn check_faces<R: Real + Number>() {
    let moves = Crowns::<R> { radius: 5.0, ..crowns(3, 6) };
    for corner in [[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, 0.0, 0.99]] {
        let corner = corner.map(R::from_f64);
        let mut on_faces = 0;
        for stream in (0..200).map(|i| Stream::new(i, 1, 1)) {
            for index in 0..moves.len() {
                let there = moved(&moves, stream, &corner, moves.at(index)).into_iter().map(Real::to_f64);
                let there: Vec<_> = there.collect();
                assert!(there.iter().all(|x| (-1.0..=1.0).contains(x)), "{there:?}");
                on_faces += usize::from(there.iter().any(|x| x.abs() == 1.0));
            }
        }
        assert!(on_faces > 200, "{on_faces} points of {corner:?} on faces");
    }
}

#[test]
fn points_stay_in_the_cube() {
    check_faces::<f32>();
    check_faces::<f64>();
}

/// A member of crews of any size, of which one at a time is asked.
struct Member {
    part: u32,
    parts: u32,
}

impl Crew for Member {
    type Team = Serial;

    fn team(&self) -> Serial {
        Serial
    }
    fn part(&self) -> u32 {
        self.part
    }
    fn parts(&self) -> u32 {
        self.parts
    }
    fn barrier(&mut self) {}
    fn best(&mut self, own: Contender) -> Contender {
        own
    }
}

#[test]
fn members_share_out_exchanges_so_that_each_is_made_once() {
    for n in 2..20 {
        let moves = Exchanges { n, by_place: true };
        for parts in (1..100).chain([1000, 4_000_000]) {
            let mut times = vec![0; moves.len() as usize];
            for part in (0..parts).take(400) {
                moves.sweep(&Member { part, parts }, |i, j| {
                    assert!(i != j && i < n && j < n, "{i} and {j} of {n}");
                    times[moves.index((i, j)) as usize] += 1;
                });
            }
            assert!(times.iter().all(|&times| times == 1), "{n} places, {parts} members: {times:?}");
        }
    }
}
