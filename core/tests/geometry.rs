//! Distances of places: the same as the metric's, to the last unit.

use antwarp_core::distance::Distances;
use antwarp_core::distance::{Distance, Exceptions};
use antwarp_core::geometry::{GRID_EXTENT, Geometry, Grid, Numbered, Places, Planar, Point, integer_root};
use antwarp_core::metric::{self, Metric};
use proptest::prelude::*;

/// The distance of a square, in integers: the smallest d with square <= d^2, or with square < (d + 1/2)^2.
fn exact_root(square: u64, up: bool) -> u32 {
    let reaches = |d: u64| if up { square <= d * d } else { square <= d * d + d };
    let (mut low, mut high) = (0, 1 << 32);
    while low < high {
        let middle = (low + high) / 2;
        if reaches(middle) { high = middle } else { low = middle + 1 }
    }
    low as u32
}

/// From guesses that are right or off by one.
fn check_root(square: u64) {
    for up in [false, true] {
        let root = exact_root(square, up);
        for about in root.saturating_sub(1)..=root + 1 {
            assert_eq!(integer_root(square, about, up), root as i32, "{square} from {about}, up: {up}");
        }
    }
}

const LARGEST: u64 = 2 * (1 << 21) * (1 << 21);

#[test]
fn roots_of_small_squares_are_exact() {
    (0..300_000).for_each(check_root);
}

#[test]
fn roots_next_to_the_borders_of_rounding_are_exact() {
    for root in (0..2000).chain((2000..2_965_820).step_by(997)).chain([2_965_820]) {
        let root: u64 = root;
        // At a whole number, and half a unit above it.
        for border in [root * root, root * root + root] {
            (border.saturating_sub(1)..=border + 1).for_each(check_root);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn roots_of_large_squares_are_exact(square in 0..=LARGEST) {
        check_root(square);
    }

    #[test]
    fn an_approximate_root_is_at_most_one_off(square in 0..=LARGEST, error in -1.0f64..=1.0) {
        // What a machine may make of a root in single precision, to 2^-22.
        let root = (square as f32 as f64).sqrt() * (1.0 + error / 4_194_304.0);
        for up in [false, true] {
            let about = (root as f32 + if up { 1.0 } else { 0.5 }) as u32;
            prop_assert_eq!(integer_root(square, about, up) as u32, exact_root(square, up));
        }
    }

    #[test]
    fn a_grid_tells_the_distances_of_its_metrics(
        a in (0..=GRID_EXTENT as u32, 0..=GRID_EXTENT as u32),
        b in (0..=GRID_EXTENT as u32, 0..=GRID_EXTENT as u32),
        reach in 1u32..100,
    ) {
        let near = (a.0.saturating_sub(b.0 % reach), a.1.saturating_sub(b.1 % reach));
        for b in [b, near, a] {
            for (up, metric) in [(false, Metric::Euc2d), (true, Metric::Ceil2d)] {
                let expected =
                    metric::distance(metric, [a.0 as f64, a.1 as f64, 0.0], [b.0 as f64, b.1 as f64, 0.0]);
                let (p, q) = (Grid::place(a.0, a.1), Grid::place(b.0, b.1));
                // SAFETY: places of a grid.
                let there_and_back = unsafe { [Grid { up }.between(p, q), Grid { up }.between(q, p)] };
                prop_assert_eq!(there_and_back, [expected; 2], "{:?} to {:?}", a, b);
                let d = expected as i64;
                for limit in [i64::MIN, -d, -1, 0, 1, d - 1, d, d + 1, 2 * d, 1 << 22, (1 << 22) + 1, i64::MAX] {
                    // SAFETY: as above.
                    let is_below = unsafe { Grid { up }.is_below(p, q, limit) };
                    prop_assert_eq!(is_below, d < limit, "{:?} to {:?}, {}", a, b, limit);
                }
                let square = (a.0.abs_diff(b.0) as u64).pow(2) + (a.1.abs_diff(b.1) as u64).pow(2);
                prop_assert_eq!(expected as u32, exact_root(square, up));
            }
        }
    }

    #[test]
    fn points_tell_the_distances_of_their_metric(
        a in (-1e6f64..1e6, -1e6f64..1e6),
        b in (-1e6f64..1e6, -1e6f64..1e6),
        reach in 0.0f64..1e-3,
    ) {
        let near = (a.0 + reach * b.0, a.1 + reach * b.1);
        for b in [b, near, a, (a.0.round(), a.1.round())] {
            for metric in [Metric::Euc2d, Metric::Ceil2d, Metric::Att] {
                // SAFETY: any points.
                let distance = unsafe { Planar { metric }.between(Point(a.0, a.1), Point(b.0, b.1)) };
                let expected = metric::distance(metric, [a.0, a.1, 0.0], [b.0, b.1, 0.0]);
                prop_assert_eq!(distance, expected, "{:?} to {:?}", a, b);
            }
        }
    }
}

#[test]
fn the_corners_of_a_grid_are_as_far_apart_as_they_should_be() {
    let far = GRID_EXTENT as u32;
    for (up, diagonal) in [(false, 2_965_819), (true, 2_965_820)] {
        let grid = Grid { up };
        let distance = |a: [u32; 2], b: [u32; 2]| {
            // SAFETY: places of a grid.
            unsafe { grid.between(Grid::place(a[0], a[1]), Grid::place(b[0], b[1])) }
        };
        assert_eq!(distance([0, 0], [far, far]), diagonal);
        assert_eq!(distance([far, 0], [0, far]), diagonal);
        assert_eq!(distance([far, 0], [0, 0]), far as i32);
        assert_eq!(distance([7, far], [7, 0]), far as i32);
    }
}

#[test]
fn places_are_looked_up_by_node() {
    // Node 0 of the places is node 2 of the instance, and so on.
    let matrix = [0, 1, 2, 1, 0, 5, 2, 5, 0];
    let distances = Distances {
        matrix: matrix.as_ptr(),
        points: std::ptr::null(),
        metric: None,
        n: 3,
        exceptions: Exceptions::NONE,
    };
    let numbers = [2, 0, 1];
    let numbered = Places { geometry: Numbered { distances }, start: numbers.as_ptr() };
    let points = [Grid::place(0, 0), Grid::place(3, 4), Grid::place(3, 0)];
    let grid = Places { geometry: Grid { up: false }, start: points.as_ptr() };
    let between = |i, j| {
        // SAFETY: three nodes.
        unsafe { (numbered.between(i, j), grid.between(i, j)) }
    };
    assert_eq!([between(0, 1), between(1, 2), between(2, 0)], [(2, 5), (1, 4), (5, 3)]);
}
