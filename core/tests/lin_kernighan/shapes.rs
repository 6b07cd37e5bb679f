//! Instances that random points hardly ever are: many equal distances, duplicates, known optima.

use crate::common::world::{Dice, World};

/// An instance with a name for messages of failed tests.
pub struct Shape {
    pub name: &'static str,
    pub world: World,
    /// A shortest tour, if one is known.
    pub optimum: Option<Vec<u32>>,
}

/// Puts nodes at these points in random order. `optimum` says whether the points are in the order of a shortest tour.
fn shape(name: &'static str, points: &[[u32; 2]], optimum: bool, k: u32, dice: &mut Dice) -> Shape {
    // Node order[i] is at point i.
    let order = dice.shuffled(points.len() as u32);
    let mut placed = vec![[0; 2]; points.len()];
    order.iter().zip(points).for_each(|(&node, &point)| placed[node as usize] = point);
    Shape { name, world: World::of_points(placed, k), optimum: optimum.then_some(order) }
}

/// Degenerate instances of about `n` nodes, at least 8, with `k` neighbours each.
pub fn shapes(n: u32, k: u32, dice: &mut Dice) -> Vec<Shape> {
    let half = n.div_ceil(2);
    let on_circle = |i: u32, of: u32| {
        let angle = f64::from(i) / f64::from(of) * std::f64::consts::TAU;
        [angle.cos(), angle.sin()].map(|x| (1e6 + 1e6 * x).round() as u32)
    };
    let equal = vec![[7, 7]; n as usize];
    let line: Vec<_> = (0..n).map(|i| [10 * i, 5]).collect();
    let mut crowded: Vec<_> = (0..n).map(|_| [dice.below(half), 0]).collect();
    crowded.sort_unstable();
    let circle: Vec<_> = (0..n).map(|i| on_circle(i, n)).collect();
    let twice: Vec<_> = (0..n).map(|i| on_circle(i / 2, half)).collect();
    // Two rows of unit squares: there and back.
    let ladder: Vec<_> = (0..half).map(|x| [x, 0]).chain((0..half).rev().map(|x| [x, 1])).collect();
    let side = (f64::from(n).sqrt().ceil() as u32).max(3);
    let lattice: Vec<_> = (0..side * side).map(|i| [i % side, i / side]).collect();
    let clusters: Vec<_> =
        (0..n).map(|i| [100_000 * u32::from(i < half) + dice.below(4), dice.below(4)]).collect();
    vec![
        shape("all places equal", &equal, true, k, dice),
        shape("a line", &line, true, k, dice),
        shape("a line with duplicates", &crowded, true, k, dice),
        shape("a circle", &circle, true, k, dice),
        shape("a circle of duplicates", &twice, true, k, dice),
        shape("a ladder", &ladder, true, k, dice),
        shape("a lattice", &lattice, false, k, dice),
        shape("two clusters", &clusters, false, k, dice),
        Shape { name: "distances of 0 and 1", world: World::lawless(n, k, 1, dice), optimum: None },
    ]
}
