//! Cuts hold for every tour, are violated, and the exact methods find one whenever there is one.

use antwarp_instance::Watch;
use proptest::prelude::*;

use crate::{Cut, Family, Support};

use super::draws::Draws;
use super::*;

/// Calls a function with this many threads.
fn on<R>(threads: usize, work: impl FnOnce(Workers<'_>) -> R) -> R {
    work(Workers { threads, watch: &Watch::new(&|| false) })
}

/// Returns a solution of the degree equations: a random mean of tours and of unions of two or more cycles.
fn solution(n: usize, draws: &mut Draws) -> Support {
    solution_of(n, 0.6, draws)
}

/// Returns a random mean of tours; with some probability, each of them is two cycles instead.
fn solution_of(n: usize, two: f64, draws: &mut Draws) -> Support {
    let parts = 2 + draws.below(4);
    let mut weights: Vec<f64> = (0..parts).map(|_| 1.0 + draws.below(4) as f64).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    let mut x = vec![0.0; n * n];
    let mut order: Vec<u32> = (0..n as u32).collect();
    for weight in weights {
        // Nearby permutations, so that there are edges of a high value.
        if draws.chance(0.3) {
            draws.shuffle(&mut order);
        }
        let at = draws.below(n - 3);
        let end = (at + 2 + draws.below(4)).min(n);
        order[at..end].reverse();
        let split = if n >= 6 && draws.chance(two) { 3 + draws.below(n - 5) } else { n };
        for cycle in [&order[..split], &order[split..]] {
            for (at, &a) in cycle.iter().enumerate() {
                let b = cycle[(at + 1) % cycle.len()];
                x[a.min(b) as usize * n + a.max(b) as usize] += weight;
            }
        }
    }
    let edges = (0..n * n).map(|at| ((at / n) as u32, (at % n) as u32, x[at]));
    Support::new(n, edges)
}

/// Returns every set of nodes that does not contain the last one.
fn sets(n: usize) -> impl Iterator<Item = Vec<u32>> {
    (1_u32..1 << (n - 1)).map(move |bits| (0..n as u32).filter(|node| (bits >> node) & 1 == 1).collect())
}

/// Returns the least value of the left side of a blossom inequality less its right side: over all handles, and for each the best teeth.
fn least_slack_of_blossoms(support: &Support) -> f64 {
    let slack = |set: Vec<u32>| {
        let (mut sum, mut teeth, mut change) = (0.0, 0, f64::INFINITY);
        for (a, b, x) in support.edges() {
            if set.contains(&a) != set.contains(&b) {
                sum += x.min(1.0 - x);
                teeth += usize::from(x > 0.5);
                change = change.min((2.0 * x - 1.0).abs());
            }
        }
        sum + if teeth % 2 == 0 { change } else { 0.0 } - 1.0
    };
    sets(support.len()).map(slack).fold(f64::INFINITY, f64::min)
}

fn check(support: &Support, cuts: &[Cut], draws: &mut Draws) -> Result<(), TestCaseError> {
    let n = support.len();
    let mut tour: Vec<u32> = (0..n as u32).collect();
    for cut in cuts {
        prop_assert_eq!(cut.check_shape(n), Ok(()));
        prop_assert!(support.violation(cut) > 1e-6, "{:?} {}", cut, support.violation(cut));
        for _ in 0..20 {
            draws.shuffle(&mut tour);
            prop_assert!(cut.left_side_of_tour(&tour) >= cut.right_side());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_subtour_is_found_iff_one_is_violated(n in 5..11_usize, seed: u64) {
        let mut draws = Draws::new(seed);
        let support = solution(n, &mut draws);
        let least = sets(n).map(|set| support.border(&set)).fold(f64::INFINITY, f64::min);
        let cuts = subtours(&support);
        prop_assert_eq!(cuts.is_empty(), least > 2.0 - 1e-5, "{}", least);
        check(&support, &cuts, &mut draws)?;
    }

    #[test]
    fn segments_are_found_iff_one_is_violated(n in 5..30_usize, seed: u64) {
        let mut draws = Draws::new(seed);
        let support = solution(n, &mut draws);
        let mut tour: Vec<u32> = (0..n as u32).collect();
        if draws.chance(0.5) {
            draws.shuffle(&mut tour);
        }
        let mut least = f64::INFINITY;
        for first in 0..n {
            for last in first..n - usize::from(first == 0) {
                let mut set = tour[first..=last].to_vec();
                set.sort_unstable();
                least = least.min(support.border(&set));
            }
        }
        let cuts = segments(&support, &tour);
        prop_assert_eq!(cuts.is_empty(), least > 2.0 - 1e-5, "{}", least);
        check(&support, &cuts, &mut draws)?;
    }

    #[test]
    fn a_blossom_is_found_iff_one_is_violated(n in 6..11_usize, seed: u64) {
        let mut draws = Draws::new(seed);
        let support = solution(n, &mut draws);
        let least = least_slack_of_blossoms(&support);
        let cuts = blossoms(&support, &Watch::new(&|| false));
        prop_assert!(least < 0.0 || cuts.is_empty());
        prop_assert!(least > -2e-3 || !cuts.is_empty(), "{}", least);
        check(&support, &cuts, &mut draws)?;
    }

    #[test]
    fn combs_hold_and_are_violated(n in 8..30_usize, seed: u64) {
        let mut draws = Draws::new(seed);
        let support = solution(n, &mut draws);
        let sets: Vec<std::sync::Arc<[u32]>> = support
            .edges()
            .filter(|edge| edge.2 > 1.0 - 1e-7)
            .map(|(a, b, _)| [a, b].into())
            .collect();
        let cuts = on(3, |workers| combs(&support, &support.tight(sets.iter().cloned()), 20, &mut draws, workers));
        check(&support, &cuts, &mut draws)?;
        let tighter = on(3, |workers| tighten(&support, &cuts.iter().collect::<Vec<_>>(), &mut draws, workers));
        check(&support, &tighter, &mut draws)?;
        let starts: Vec<&Cut> = cuts.iter().chain(&tighter).collect();
        check(&support, &on(3, |workers| stars(&support, &starts, workers)), &mut draws)?;
        prop_assert_eq!(tighter.len(), cuts.iter().filter(|cut| cut.family() == Family::Comb).count());
    }

    #[test]
    fn local_cuts_hold_and_are_violated(n in 8..30_usize, atoms in 6..17_usize, seed: u64) {
        let mut draws = Draws::new(seed);
        let support = solution(n, &mut draws);
        let cuts = on(3, |workers| local(&support, &[], (atoms, 3), &mut draws, workers));
        check(&support, &cuts, &mut draws)?;
    }

    #[test]
    fn cuts_do_not_depend_on_the_threads(n in 20..60_usize, seed: u64) {
        let mut draws = Draws::new(seed);
        let support = solution(n, &mut draws);
        let tight = support.tight(support.edges().map(|(a, b, _)| [a, b].into()));
        let [one, four] = [1, 4].map(|threads| on(threads, |workers| {
            let mut draws = Draws::new(seed);
            let found = combs(&support, &tight, 20, &mut draws, workers);
            let tighter = tighten(&support, &found.iter().collect::<Vec<_>>(), &mut draws, workers);
            let wider = stars(&support, &found.iter().collect::<Vec<_>>(), workers);
            (found, tighter, wider, local(&support, &tight, (8, 3), &mut draws, workers))
        }));
        prop_assert_eq!(one, four);
    }

    #[test]
    fn a_mean_of_tours_violates_nothing(n in 8..14_usize, atoms in 9..17_usize, seed: u64) {
        let mut draws = Draws::new(seed);
        let support = solution_of(n, 0.0, &mut draws);
        prop_assert_eq!(subtours(&support), []);
        prop_assert_eq!(blossoms(&support, &Watch::new(&|| false)), []);
        prop_assert_eq!(on(3, |workers| combs(&support, &[], 20, &mut draws, workers)), []);
        prop_assert_eq!(on(3, |workers| local(&support, &[], (atoms, 3), &mut draws, workers)), []);
    }
}

/// Returns two triangles of edges of value 1/2, which three paths of `length` nodes join.
fn prism(length: u32) -> Support {
    let mut edges = Vec::new();
    for path in 0..3 {
        let (first, next) = (path * length, (path + 1) % 3 * length);
        edges.extend((first..first + length - 1).map(|node| (node, node + 1, 1.0)));
        edges.extend([(first, next, 0.5), (first + length - 1, next + length - 1, 0.5)]);
    }
    Support::new(3 * length as usize, edges.iter().copied())
}

#[test]
fn local_cuts_of_a_prism_are_its_blossoms() {
    for length in [2, 3, 7] {
        let support = prism(length);
        assert_eq!(subtours(&support), []);
        for cuts in [
            blossoms(&support, &Watch::new(&|| false)),
            on(3, |workers| local(&support, &[], (8, 10), &mut Draws::new(1), workers)),
        ] {
            assert_ne!(cuts, []);
            for cut in cuts {
                assert_eq!((cut.right_side(), cut.sets().len()), (10, 4));
                assert!((support.violation(&cut) - 1.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn local_cuts_are_found_in_small_and_large_parts() {
    for atoms in [8, 12, 16] {
        let found = (0..60).map(|seed| {
            let mut draws = Draws::new(seed);
            let support = solution(18 + seed as usize % 12, &mut draws);
            on(3, |workers| local(&support, &[], (atoms, 3), &mut draws, workers)).len()
        });
        let found = found.sum::<usize>();
        assert!(found > 20, "{found} in parts of {atoms} nodes");
    }
}

/// Returns a strip of four rows between two ends, which an edge of value 1 joins outside. In the mean 3.2 edges cross each line across the
/// strip and that edge.
fn strip(columns: u32) -> Support {
    // The nodes 4 c and 4 c + 1 of a column are above each other, and so are 4 c + 2 and 4 c + 3, half a column further.
    let mut edges = Vec::new();
    for node in (0..columns).map(|column| 4 * column) {
        edges.extend([(node, node + 2, 0.8), (node + 1, node + 3, 0.8), (node + 1, node + 2, 0.2)]);
        if node + 4 < 4 * columns {
            edges.extend([(node, node + 4, 0.2), (node + 2, node + 4, 0.8), (node + 2, node + 5, 0.2)]);
            edges.extend([(node + 3, node + 5, 0.8), (node + 3, node + 7, 0.2)]);
        }
    }
    let [left, right] = [4 * columns, 4 * columns + 1];
    edges.extend([
        (left, right, 1.0),
        (0, left, 0.5),
        (1, left, 0.5),
        (left - 1, right, 0.5),
        (left - 2, right, 0.5),
    ]);
    Support::new(left as usize + 2, edges.iter().copied())
}

#[test]
fn stars_of_a_strip_have_three_handles() {
    let support = strip(8);
    // Two teeth of an edge in the middle of the strip, and the edge outside. The handle is right of that.
    let comb = Cut::comb((18..32).chain([33]).collect(), vec![vec![16, 18], vec![17, 19], vec![32, 33]]);
    assert!(support.violation(&comb).abs() < 1e-9, "the comb holds");
    let found = on(2, |workers| stars(&support, &[&comb], workers));
    assert!(!found.is_empty());
    check(&support, &found, &mut Draws::new(1)).unwrap();
    let of = |right_side: i64| {
        let cuts = found.iter().filter(|cut| cut.right_side() == right_side);
        cuts.map(|cut| support.violation(cut)).fold(0.0, f64::max)
    };
    // With each handle, 0.8 of an edge is missing, and one of the two teeth has a border of 0.4 more.
    assert!((of(16) - 0.4).abs() < 1e-9 && (of(22) - 0.8).abs() < 1e-9, "{} {}", of(16), of(22));
}
