//! Finds the nearest unvisited node, while nodes are visited one after the other.

use antwarp_core::metric::{Metric, Space};

use super::Nearness;
use super::places::{Globe, Lengths, Lines, Places, Ruler};
use crate::kd_tree::{Cell, Search};
use crate::{Instance, Watch};

/// A set of unvisited nodes.
pub trait Unvisited {
    /// Removes an unvisited node.
    fn visit(&mut self, node: u32);

    /// Returns the nearest unvisited node, in the order of neighbour lists; `None` if all nodes are visited, or if the watch is over.
    fn nearest(&self, node: u32) -> Option<u32>;
}

/// Returns all nodes of an instance as unvisited.
pub fn unvisited<'a>(instance: &'a Instance, watch: &Watch) -> Box<dyn Unvisited + 'a> {
    let (Some(metric), Some(points)) = (instance.metric(), instance.points()) else {
        return Box::new(Listed::new(instance));
    };
    match (metric.space(), metric.is_by_line()) {
        (Space::Plane, true) => in_tree::<2, _>(Lines, metric, points, watch),
        (Space::Plane, false) => in_tree::<2, _>(Lengths(metric), metric, points, watch),
        (Space::Degrees, _) => in_tree(Globe(metric), metric, points, watch),
        (Space::Solid | Space::Motors | Space::Sphere, true) => in_tree::<3, _>(Lines, metric, points, watch),
        (Space::Solid | Space::Motors | Space::Sphere, false) => {
            in_tree::<3, _>(Lengths(metric), metric, points, watch)
        }
    }
}

fn in_tree<'a, const D: usize, R: Ruler<D> + 'a>(
    ruler: R,
    metric: Metric,
    points: &'a [[f64; 3]],
    watch: &Watch,
) -> Box<dyn Unvisited + 'a> {
    let nodes = (0..points.len() as u32).collect();
    Box::new(Places::new(ruler, metric, points, nodes, watch).map(Planted::new))
}

/// The unvisited nodes of a matrix, all of which are evaluated.
struct Listed<'a> {
    instance: &'a Instance,
    nodes: Vec<u32>,
    /// The index of each node in `nodes`.
    places: Vec<u32>,
}

impl<'a> Listed<'a> {
    fn new(instance: &'a Instance) -> Self {
        let nodes: Vec<u32> = (0..instance.len() as u32).collect();
        Listed { instance, places: nodes.clone(), nodes }
    }
}

impl Unvisited for Listed<'_> {
    fn visit(&mut self, node: u32) {
        let place = self.places[node as usize];
        self.nodes.swap_remove(place as usize);
        if let Some(&moved) = self.nodes.get(place as usize) {
            self.places[moved as usize] = place;
        }
    }

    fn nearest(&self, node: u32) -> Option<u32> {
        self.nodes.iter().copied().min_by_key(|&v| (self.instance.distance(node, v), v))
    }
}

/// The unvisited nodes in a tree, from which nodes are removed.
struct Planted<'a, const D: usize, R> {
    places: Places<'a, D, R>,
    /// The position of each node.
    positions: Vec<u32>,
    is_gone: Vec<bool>,
    /// For each position, the index of the first unvisited node.
    first: Vec<u32>,
}

impl<'a, const D: usize, R: Ruler<D>> Planted<'a, D, R> {
    fn new(places: Places<'a, D, R>) -> Self {
        let count = places.nodes.len();
        let mut positions = vec![0; count];
        for (position, ends) in (0..).zip(places.begins.windows(2)) {
            for &node in &places.nodes[ends[0] as usize..ends[1] as usize] {
                positions[node as usize] = position;
            }
        }
        let first = places.begins[..places.begins.len() - 1].to_vec();
        Planted { places, positions, is_gone: vec![false; count], first }
    }

    /// Returns the first unvisited node at a position.
    fn left_at(&self, position: usize) -> Option<u32> {
        let first = self.first[position];
        (first < self.places.begins[position + 1]).then(|| self.places.nodes[first as usize])
    }
}

impl<const D: usize, R: Ruler<D>> Unvisited for Option<Planted<'_, D, R>> {
    fn visit(&mut self, node: u32) {
        let Some(Planted { places, positions, is_gone, first }) = self else { return };
        is_gone[node as usize] = true;
        let position = positions[node as usize];
        let at = &mut first[position as usize];
        let end = places.begins[position as usize + 1];
        while *at < end && is_gone[places.nodes[*at as usize] as usize] {
            *at += 1;
        }
        // Update the smallest number in each cell, up to those in which it does not change.
        let left = |position: usize| {
            let at = first[position];
            if at < places.begins[position + 1] { places.nodes[at as usize] } else { u32::MAX }
        };
        let mut cell = places.tree.leaf(position);
        let mut lowest = places.tree.positions(cell).map(left).min().unwrap_or(u32::MAX);
        while cell > 0 && places.lowest[cell] != lowest {
            places.lowest[cell] = lowest;
            lowest = lowest.min(places.lowest[cell ^ 1]);
            cell /= 2;
        }
    }

    fn nearest(&self, node: u32) -> Option<u32> {
        let planted = self.as_ref()?;
        let position = planted.positions[node as usize];
        let place = planted.places.place(position);
        let mut nearest = Nearest { planted, node, position, place, best: Nearness::FARTHEST };
        planted.places.search(position, &mut nearest);
        (nearest.best < Nearness::FARTHEST).then(|| nearest.best.node())
    }
}

/// A search for the nearest unvisited node.
struct Nearest<'a, 'p, const D: usize, R> {
    planted: &'a Planted<'p, D, R>,
    node: u32,
    position: u32,
    place: [f64; D],
    best: Nearness,
}

impl<const D: usize, R: Ruler<D>> Search<D> for Nearest<'_, '_, D, R> {
    type Least = Nearness;

    fn least(&self, number: usize, cell: &Cell<D>) -> Nearness {
        match self.planted.places.lowest[number] {
            u32::MAX => Nearness::FARTHEST,
            lowest => self.planted.places.least(cell, self.place).of(lowest),
        }
    }

    fn wants(&self, _: usize, _: &Cell<D>, least: Nearness) -> bool {
        least < self.best
    }

    fn meet(&mut self, positions: std::ops::Range<usize>) {
        for other in positions {
            if let Some(to) = self.planted.left_at(other) {
                let (_, nearness) = self.planted.places.nearness((self.node, self.position), other);
                self.best = self.best.min(nearness.of(to));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::points;
    use super::*;
    use crate::nearest;

    proptest! {
        #[test]
        fn the_nearest_one_is_the_first_of_a_list_that_is_left(
            points in points(),
            visited in prop::collection::vec(any::<prop::sample::Index>(), 0..150),
        ) {
            let n = points.len();
            let weights = (0..n * n).map(|i| (i * i % 17) as i32).collect();
            let matrix = Instance::from_matrix("matrix", weights).unwrap();
            let of_metric = |metric| Instance::from_points("random", metric, points.clone()).unwrap();
            for instance in Metric::ALL.into_iter().map(of_metric).chain([matrix]) {
                let lists = nearest(&instance, n);
                let mut left = unvisited(&instance, &Watch::new(&|| false));
                let mut is_left = vec![true; n];
                for at in &visited {
                    let node = at.index(n);
                    if std::mem::take(&mut is_left[node]) {
                        left.visit(node as u32);
                        let expected = lists.of(node as u32).iter().find(|&&v| is_left[v as usize]);
                        prop_assert_eq!(left.nearest(node as u32), expected.copied());
                    }
                }
            }
        }
    }
}
