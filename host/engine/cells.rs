//! Cells: parts of the plane with equally many nodes, for [tiles](antwarp_core::local_search::tile).
//!
//! The plane is cut across its longer side, so that both sides get cells by their numbers of nodes, and so on (a k-d
//! tree, Bentley 1975). Every partition turns the plane by another angle first: what is at the border of a cell in one
//! is inside a cell in the next.

use antwarp_core::local_search::tile::part;
use rayon::prelude::*;

/// Nodes below which halves are not worth a task of their own.
const SMALL: usize = 1 << 12;

/// A partition into `tiles` cells: the nodes, cell by cell, where cell t has the place and size that
/// [`part`] tells.
pub fn partition(points: &[[f64; 3]], tiles: u32, angle: f64) -> Vec<u32> {
    let (sin, cos) = angle.sin_cos();
    let mut nodes: Vec<(f32, f32, u32)> = points
        .par_iter()
        .zip(0..points.len() as u32)
        .map(|(p, i)| ((p[0] * cos - p[1] * sin) as f32, (p[0] * sin + p[1] * cos) as f32, i))
        .collect();
    cut(&mut nodes, points.len() as u32, tiles, 0, tiles);
    nodes.into_iter().map(|node| node.2).collect()
}

/// Arranges the nodes of cells `first .. last`.
fn cut(nodes: &mut [(f32, f32, u32)], n: u32, tiles: u32, first: u32, last: u32) {
    if last - first <= 1 {
        return;
    }
    let middle = first + (last - first) / 2;
    let at = (part(n, tiles, middle).0 - part(n, tiles, first).0) as usize;
    let extent = |axis: fn(&(f32, f32, u32)) -> f32| {
        let (low, high) = nodes
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), p| (low.min(axis(p)), high.max(axis(p))));
        high - low
    };
    // Numbers break ties, so that the cells do not depend on how the cut is found.
    if extent(|p| p.0) >= extent(|p| p.1) {
        nodes.select_nth_unstable_by(at, |a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
    } else {
        nodes.select_nth_unstable_by(at, |a, b| a.1.total_cmp(&b.1).then(a.2.cmp(&b.2)));
    }
    let (left, right) = nodes.split_at_mut(at);
    if n as usize > SMALL && left.len() > SMALL {
        rayon::join(|| cut(left, n, tiles, first, middle), || cut(right, n, tiles, middle, last));
    } else {
        cut(left, n, tiles, first, middle);
        cut(right, n, tiles, middle, last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::generate;

    #[test]
    fn cells_are_even_compact_and_hold_every_node_once() {
        let instance = generate::clustered(5000, 10, 3).unwrap();
        let points = instance.points().unwrap();
        for (tiles, angle) in [(1, 0.0), (7, 0.3), (64, 1.0)] {
            let nodes = partition(points, tiles, angle);
            let mut sorted = nodes.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..5000).collect::<Vec<u32>>());
            let inside: f64 = (0..tiles)
                .map(|t| {
                    let (first, count) = part(5000, tiles, t);
                    let cell = &nodes[first as usize..(first + count) as usize];
                    assert!(cell.len().abs_diff(5000 / tiles as usize) <= 1);
                    let along = |axis: usize| {
                        let coordinates = cell.iter().map(|&v| points[v as usize][axis]);
                        coordinates.clone().fold(f64::MIN, f64::max) - coordinates.fold(f64::MAX, f64::min)
                    };
                    along(0) * along(1)
                })
                .sum();
            let all = generate::uniform(2, 1).map(|_| 1.0).unwrap_or(1.0) * 1e12;
            assert!(tiles == 1 || inside < 3.0 * all, "cells of {tiles} overlap much: {inside}");
        }
    }
}
