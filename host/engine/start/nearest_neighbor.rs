//! The nearest-neighbour tour.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::instance::{Instance, NeighborLists, Watch};

/// Unvisited nodes up to which they are all looked at for the nearest one.
const FEW: usize = 1 << 17;

/// The tour that goes from node 0 always to the nearest unvisited node; among equally near ones to that with the
/// smallest number. While more than [`FEW`] are unvisited and no neighbour is, a search through the neighbours'
/// neighbours finds one that is near, though not always the nearest. It ends where it is once the watch is over.
pub(super) fn nearest_neighbor(instance: &Instance, lists: &NeighborLists, watch: &Watch) -> Vec<u32> {
    let n = instance.len();
    let mut unvisited = Unvisited::new(n);
    let mut search = Search { stamps: vec![0; n], searches: 0, open: BinaryHeap::new() };
    let mut tour = Vec::with_capacity(n);
    let mut node = 0;
    loop {
        tour.push(node);
        unvisited.remove(node);
        if unvisited.nodes.is_empty() || watch.is_over_at(tour.len()) {
            return tour;
        }
        let near = || lists.of(node).iter().copied().find(|&v| unvisited.contains(v));
        let mut around = || {
            let many = unvisited.nodes.len() > FEW;
            if many { search.run(instance, lists, &unvisited, node) } else { None }
        };
        let all = || {
            let nearest = unvisited.nodes.iter().min_by_key(|&&v| (instance.distance(node, v), v));
            nearest.copied().unwrap_or(0)
        };
        node = near().or_else(&mut around).unwrap_or_else(all);
    }
}

/// The unvisited nodes, and everyone's place among them.
struct Unvisited {
    nodes: Vec<u32>,
    places: Vec<u32>,
}

impl Unvisited {
    fn new(n: usize) -> Self {
        Unvisited { nodes: (0..n as u32).collect(), places: (0..n as u32).collect() }
    }

    fn contains(&self, v: u32) -> bool {
        self.places[v as usize] != u32::MAX
    }

    fn remove(&mut self, v: u32) {
        let place = std::mem::replace(&mut self.places[v as usize], u32::MAX);
        self.nodes.swap_remove(place as usize);
        if let Some(&moved) = self.nodes.get(place as usize) {
            self.places[moved as usize] = place;
        }
    }
}

/// A search outwards from a node, nearest first, along the neighbour lists.
struct Search {
    /// The number of the search that met a node last.
    stamps: Vec<u32>,
    searches: u32,
    open: BinaryHeap<Reverse<(i32, u32)>>,
}

impl Search {
    /// The first unvisited node that a search from `node` comes to; `None` if its lists lead to none.
    fn run(
        &mut self,
        instance: &Instance,
        lists: &NeighborLists,
        unvisited: &Unvisited,
        node: u32,
    ) -> Option<u32> {
        self.searches += 1;
        self.open.clear();
        let mut from = node;
        loop {
            for &v in lists.of(from) {
                if std::mem::replace(&mut self.stamps[v as usize], self.searches) != self.searches {
                    self.open.push(Reverse((instance.distance(node, v), v)));
                }
            }
            let Reverse((_, nearest)) = self.open.pop()?;
            if unvisited.contains(nearest) {
                return Some(nearest);
            }
            from = nearest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{generate, nearest};

    #[test]
    fn the_start_tour_goes_to_the_nearest_node() {
        let instance = generate::uniform(300, 7).unwrap();
        let near = nearest(&instance, 5);
        let tour = nearest_neighbor(&instance, &near, &Watch::new(&|| false));
        assert!(instance.check_tour(&tour).is_ok());
        for (i, step) in tour.windows(2).enumerate() {
            let nearest = tour[i + 1..].iter().map(|&v| instance.distance(step[0], v)).min();
            assert_eq!(Some(instance.distance(step[0], step[1])), nearest, "step {i}");
        }
    }

    #[test]
    fn the_search_finds_an_unvisited_node_or_says_that_there_is_none() {
        let instance = generate::uniform(200, 3).unwrap();
        let near = nearest(&instance, 6);
        let mut unvisited = Unvisited::new(200);
        let mut search = Search { stamps: vec![0; 200], searches: 0, open: BinaryHeap::new() };
        for v in 0..200 {
            unvisited.remove(v);
            let found = search.run(&instance, &near, &unvisited, v);
            assert!(found.is_none_or(|f| unvisited.contains(f)), "{v}: {found:?}");
            assert!(found.is_some() || v > 100, "{v} leads nowhere");
        }
        assert_eq!(search.run(&instance, &near, &unvisited, 0), None);
    }
}
