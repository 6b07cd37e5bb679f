//! Exchanges of two edges in an array.

use crate::common::teams::Shareable;
use crate::common::world::{Bench, Crew, Dice, Job, crews, edge, edges, replaced};
use antwarp_core::papers::local_search::ArrayTour;
use antwarp_core::team::Team;

/// Two edges of a tour, both read in one direction, as an exchange takes them.
fn two_edges(n: u32, dice: &mut Dice, at: impl Fn(u32) -> u32) -> [u32; 4] {
    let p = dice.below(n);
    let q = (p + 1 + dice.below(n - 1)) % n;
    let step = if dice.below(2) == 0 { 1 } else { n - 1 };
    [at(p), at((p + step) % n), at(q), at((q + step) % n)]
}

/// Fewer under Miri.
const TOURS: u32 = if cfg!(miri) { 400 } else { 4000 };

#[test]
fn an_exchange_replaces_two_edges_by_turning_the_shorter_way() {
    let mut dice = Dice::new(1);
    // Inside or outside the two edges, around the end or not, edges read forward or backward.
    let mut seen = [[[0; 2]; 2]; 2];
    for n in (3..40).cycle().take(TOURS as usize) {
        let tour = dice.shuffled(n);
        let mut bench = Bench::<u16>::new(&tour, &[], 0);
        let [a, b, c, d] = two_edges(n, &mut dice, |p| tour[p as usize]);
        let view = bench.tour();
        // SAFETY: nodes of the tour, edges as they run.
        unsafe {
            assert!(view.can_exchange([a, b, c, d]));
            assert!(!view.can_exchange([a, b, d, c]));
            view.exchange(antwarp_core::team::Serial, [a, b, c, d]);
        }
        let new = bench.nodes();
        let expected = replaced(&edges(&tour), &[edge(a, b), edge(c, d)], &[edge(a, c), edge(b, d)]);
        assert_eq!(Some(edges(&new)), expected, "{tour:?}: {:?}", [a, b, c, d]);
        let place = |node| tour.iter().position(|&v| v == node).unwrap() as u32;
        let moved: Vec<u32> = (0..n).filter(|&p| tour[p as usize] != new[p as usize]).collect();
        assert!(2 * moved.len() as u32 <= n, "{} of {n} nodes moved", moved.len());
        if let (Some(&low), Some(&high)) = (moved.first(), moved.last()) {
            let forward = (place(a) + 1) % n == place(b);
            let (first, last) = if forward { (place(b), place(c)) } else { (place(c), place(b)) };
            let inside = (place(new[low as usize]) + n - first) % n <= (last + n - first) % n;
            seen[inside as usize][(high - low >= n / 2) as usize][forward as usize] += 1;
        }
    }
    assert!(seen.as_flattened().as_flattened().iter().all(|&times| 80 * times > TOURS), "{seen:?}");
}

#[test]
fn edges_that_are_not_there_cannot_be_exchanged() {
    let tour: Vec<u32> = vec![4, 2, 0, 1, 3, 5];
    let mut bench = Bench::<u32>::new(&tour, &[], 0);
    let view = bench.tour();
    // SAFETY: all are nodes.
    unsafe {
        assert!(view.can_exchange([5, 4, 0, 1]) && view.can_exchange([1, 0, 4, 5]));
        assert!(!view.can_exchange([5, 4, 0, 3]), "no edge");
        assert!(!view.can_exchange([5, 2, 0, 1]), "no edge");
        assert!(!view.can_exchange([5, 4, 1, 0]), "directions differ");
        assert_eq!([view.next(5), view.previous(4), view.next(2), view.previous(2)], [4, 5, 0, 4]);
    }
}

/// Many exchanges, one after another; the seed decides which.
struct Exchanges {
    tour: Shareable<ArrayTour<u16>>,
    seed: u64,
}

impl Job for Exchanges {
    type Result = ();
    fn work<T: Team>(&self, team: T) {
        let (tour, mut dice) = (self.tour.get(), Dice::new(self.seed));
        for _ in 0..if cfg!(miri) { 3 } else { 30 } {
            // SAFETY: positions below n; an exchange ends with a barrier, and begins with one after it has read.
            unsafe {
                let edges = two_edges(tour.n(), &mut dice, |p| tour.at(p));
                tour.exchange(team, edges);
            }
        }
    }
}

#[test]
fn teams_exchange_as_one_thread_does() {
    let mut dice = Dice::new(2);
    for &n in if cfg!(miri) { &[3, 8][..] } else { &[3, 4, 5, 8, 31, 90] } {
        let start = dice.shuffled(n);
        let exchanged = |crew: Crew| {
            let mut bench = Bench::<u16>::new(&start, &[], 0);
            crew.run(Exchanges { tour: Shareable::new(bench.tour()), seed: n as u64 });
            bench.nodes()
        };
        let alone = exchanged(Crew::One);
        assert!(n < 5 || edges(&alone) != edges(&start));
        for crew in crews() {
            assert_eq!(exchanged(crew), alone, "{crew:?}, n {n}");
        }
    }
}
