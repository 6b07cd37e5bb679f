//! The nearest-neighbour tour.

use antwarp_instance::{Instance, NeighborLists, Watch, unvisited};

/// Returns the tour that starts at node `first` and always goes to the nearest unvisited node, in the order of neighbour lists. It
/// ends early once the watch is over.
pub(super) fn nearest_neighbor(
    instance: &Instance,
    lists: &NeighborLists,
    first: u32,
    watch: &Watch,
) -> Vec<u32> {
    let n = instance.len();
    let mut left = unvisited(instance, watch);
    let mut is_visited = vec![false; n];
    let mut tour = Vec::with_capacity(n);
    let mut next = Some(first);
    while let Some(node) = next {
        tour.push(node);
        if watch.is_over_at(tour.len()) {
            break;
        }
        left.visit(node);
        is_visited[node as usize] = true;
        let near = lists.of(node).iter().copied().find(|&v| !is_visited[v as usize]);
        next = near.or_else(|| left.nearest(node));
    }
    tour
}

#[cfg(test)]
mod tests {
    use super::*;
    use antwarp_instance::{Metric, generate, nearest};

    #[test]
    fn the_start_tour_goes_to_the_nearest_node() {
        let instance = generate::uniform(300, 7).unwrap();
        let near = nearest(&instance, 5);
        let tour = nearest_neighbor(&instance, &near, 250, &Watch::new(&|| false));
        assert!(instance.check_tour(&tour).is_ok());
        assert_eq!(tour[0], 250);
        for (i, step) in tour.windows(2).enumerate() {
            let nearest = tour[i + 1..].iter().map(|&v| instance.distance(step[0], v)).min();
            assert_eq!(Some(instance.distance(step[0], step[1])), nearest, "step {i}");
        }
    }

    /// Lists of nodes at the same place are all alike: evaluating all unvisited nodes would take minutes.
    #[test]
    fn heaps_of_nodes_are_visited_quickly() {
        let n = 100_000;
        for metric in Metric::ALL {
            let points = (0..n).map(|i| [f64::from(i % 7), 0.0, 0.0]).collect();
            let instance = Instance::from_points("heaps", metric, points).unwrap();
            let tour = nearest_neighbor(&instance, &nearest(&instance, 8), 0, &Watch::new(&|| false));
            assert!(instance.check_tour(&tour).is_ok(), "{metric:?}");
        }
    }
}
