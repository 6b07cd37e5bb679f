//! Compares trees with a simple algorithm.

use proptest::prelude::*;

use super::*;

/// Returns the bound of the minimum spanning tree of these edges (Kruskal 1956), from scratch.
fn plain(n: usize, edges: &[(u32, u32)], costs: &Costs<'_>, potentials: &Potentials) -> i128 {
    let weight = |&(from, to): &(u32, u32)| {
        let potential = potentials.exits[from as usize] + potentials.entries[to as usize];
        i128::from((i64::from(costs.of(from, to)) << FRACTION) + potential)
    };
    let mut sorted = edges.to_vec();
    sorted.sort_by_key(weight);
    let (mut part, mut tree) = ((0..n).collect::<Vec<_>>(), Vec::new());
    for edge in sorted {
        let (from, to) = (part[edge.0 as usize], part[edge.1 as usize]);
        if from != to {
            part.iter_mut().filter(|part| **part == to).for_each(|part| *part = from);
            tree.push(edge);
        }
    }
    assert_eq!(tree.len(), n - 1);
    let lightest = |is_at: &dyn Fn(&(u32, u32)) -> bool| {
        let is_unused = !tree.iter().any(is_at);
        is_unused.then(|| edges.iter().filter(|edge| is_at(edge)).map(weight).min().unwrap())
    };
    let ends = (0..n as u32).flat_map(|node| [lightest(&|e| e.0 == node), lightest(&|e| e.1 == node)]);
    let sum: i128 = potentials.exits.iter().chain(&potentials.entries).map(|&p| i128::from(p)).sum();
    tree.iter().map(weight).sum::<i128>() + ends.flatten().max().unwrap() - sum
}

proptest! {
    /// All weights differ, so that there is one tree.
    #[test]
    fn trees_of_all_edges_and_of_graphs_are_minimal(
        n in 2_usize..12,
        order in Just((0..121).collect::<Vec<i64>>()).prop_shuffle(),
        shifts in prop::collection::vec(-9000_i64..9000, 24),
    ) {
        let matrix: Vec<i32> = (0..n * n).map(|at| if at / n == at % n { 0 } else { 7 * order[at] as i32 }).collect();
        let instance = Instance::from_matrix("random", matrix).unwrap().into_atsp();
        let costs = Costs::new(&instance);
        let potentials = Potentials { exits: shifts[..n].to_vec(), entries: shifts[12..12 + n].to_vec() };
        let is_edge = |&(from, to): &(u32, u32)| from != to;
        let all: Vec<(u32, u32)> =
            (0..n as u32).flat_map(|from| (0..n as u32).map(move |to| (from, to))).filter(is_edge).collect();
        let mut weights: Vec<i64> =
            all.iter().map(|&(from, to)| potentials.weight(costs.of(from, to), from, to)).collect();
        weights.sort_unstable();
        prop_assume!(weights.windows(2).all(|pair| pair[0] != pair[1]));
        let mut tree = Tree::new(n);
        let found = tree.span_all(&costs, &potentials, &Watch::new(&|| false));
        prop_assert_eq!(found, Some(plain(n, &all, &costs, &potentials)));
        prop_assert_eq!(tree.span(&Graph::new(&costs, &all), &potentials), found.unwrap());
        // A sparse graph with the edges of that tree.
        let mut few = graph::nearest(&costs, &potentials, 1);
        tree.span_all(&costs, &potentials, &Watch::new(&|| false));
        graph::put_in(&mut few, &tree.edges);
        prop_assert_eq!(tree.span(&Graph::new(&costs, &few), &potentials), found.unwrap());
        let other = Potentials { exits: potentials.entries, entries: potentials.exits };
        prop_assert_eq!(tree.span(&Graph::new(&costs, &few), &other), plain(n, &few, &costs, &other));
    }
}
