//! The shape of tours: open or closed, their ends, fixed edges and forbidden pairs. Contradictions are found before a run.

use super::error::{InstanceError, Result};
use super::model::{Ends, Instance};

impl Instance {
    /// Rejects an instance that no tour fits, as far as this is easy to see: the ends of its paths, its fixed edges and its
    /// forbidden pairs contradict each other.
    ///
    /// # Errors
    /// The contradiction, with the nodes that it is about.
    pub fn check_shape(&self) -> Result<()> {
        let Ends { start, end } = self.ends().unwrap_or_default();
        if let (Some(start), true) = (start, self.len() > 1)
            && Some(start) == end
        {
            let node = self.label(start);
            let problem =
                format!("an open path of several nodes cannot start and end at the same node, {node}");
            return refuse(self, problem, "give two different ends, or leave out one of them");
        }
        if !self.fixed_edges().is_empty() {
            Fixed::new(self).check()?;
        }
        if self.forbidden().is_some() && self.len() > 1 { check_forbidden(self) } else { Ok(()) }
    }
}

/// What is wrong with an order of all nodes, in the words that go on after what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It has another shape: other ends, or not all fixed edges.
    Shape(String),
    /// It has a forbidden pair.
    Forbidden(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Fault::Shape(what) | Fault::Forbidden(what)) = self;
        f.write_str(what)
    }
}

impl Instance {
    /// Returns what is wrong with an order of all nodes as a tour of this instance: its ends, then a fixed edge that it does not
    /// use, then a forbidden pair. `None` if nothing is wrong.
    pub fn fault(&self, tour: &[u32]) -> Option<Fault> {
        let unused = || {
            let (a, b) = self.unused_fixed_edge(tour)?;
            let (a, b) = (self.id(a), self.id(b));
            let edge = if self.is_symmetric() { format!("{a}-{b}") } else { format!("from {a} to {b}") };
            Some(Fault::Shape(format!("the tour does not use the edge {edge}, which is fixed")))
        };
        let forbidden = || {
            let &(from, to) = self.forbidden_steps(tour).first()?;
            let (from, to) = (self.label(from), self.label(to));
            Some(Fault::Forbidden(format!("the tour goes from {from} to {to}, which is forbidden")))
        };
        self.wrong_end(tour).map(Fault::Shape).or_else(unused).or_else(forbidden)
    }

    /// Says at which end a path is at another node than it should be.
    fn wrong_end(&self, tour: &[u32]) -> Option<String> {
        let ends = self.ends()?;
        let ends = [("starts", ends.start, tour.first()), ("ends", ends.end, tour.last())];
        ends.into_iter().find_map(|(what, right, found)| {
            let (right, found) = (right?, *found?);
            let (node, other) = (self.label(found), self.label(right));
            (right != found).then(|| format!("the path {what} at node {node}, not at {other}"))
        })
    }
}

fn refuse(instance: &Instance, problem: String, help: &str) -> Result<()> {
    Err(InstanceError::content(instance.name(), problem, help))
}

/// The fixed edges of an instance, each once.
struct Fixed<'a> {
    instance: &'a Instance,
    edges: Vec<(u32, u32)>,
}

impl<'a> Fixed<'a> {
    fn new(instance: &'a Instance) -> Fixed<'a> {
        let mut edges = instance.fixed_edges().to_vec();
        if instance.is_symmetric() {
            edges.iter_mut().for_each(|edge| *edge = (edge.0.min(edge.1), edge.0.max(edge.1)));
        }
        edges.sort_unstable();
        edges.dedup();
        Fixed { instance, edges }
    }

    fn check(&self) -> Result<()> {
        self.check_edges()?;
        if self.instance.is_symmetric() { self.check_degrees() } else { self.check_directions() }?;
        self.check_loops()
    }

    fn check_edges(&self) -> Result<()> {
        let label = |node| self.instance.label(node);
        for &(a, b) in &self.edges {
            if a == b {
                let problem = format!("the fixed edge leads from node {} to itself", label(a));
                return refuse(self.instance, problem, "give two different nodes");
            }
            if self.instance.is_forbidden(a, b) {
                let problem =
                    format!("the edge from {} to {} is both fixed and forbidden", label(a), label(b));
                return refuse(self.instance, problem, "give it as one of the two");
            }
        }
        Ok(())
    }

    /// At most two edges of a tour meet at a node, and one at the end of a path.
    fn check_degrees(&self) -> Result<()> {
        let instance = self.instance;
        let mut counts = vec![0_u32; instance.len()];
        for node in self.edges.iter().flat_map(|&(a, b)| [a, b]) {
            counts[node as usize] += 1;
        }
        if let Some(node) = (0..).zip(&counts).find(|(_, count)| **count > 2).map(|(node, _): (u32, _)| node)
        {
            let (others, node) = (self.others(node), instance.label(node));
            let problem = format!("node {node} has more than two fixed edges: to {others}");
            return refuse(instance, problem, "a tour uses two edges at each node: fix at most two");
        }
        let Ends { start, end } = instance.ends().unwrap_or_default();
        for (what, node) in [("starts", start), ("ends", end)] {
            if let Some(node) = node.filter(|&node| counts[node as usize] > 1) {
                let (others, node) = (self.others(node), instance.label(node));
                let problem =
                    format!("the path {what} at node {node}, which has two fixed edges: to {others}");
                return refuse(instance, problem, "an end of a path has one edge: fix at most one");
            }
        }
        Ok(())
    }

    /// Names the nodes that edges join a node with.
    fn others(&self, node: u32) -> String {
        let other = |&(a, b): &(u32, u32)| match node {
            _ if a == node => Some(b),
            _ if b == node => Some(a),
            _ => None,
        };
        self.names(self.edges.iter().filter_map(other))
    }

    fn names(&self, nodes: impl Iterator<Item = u32>) -> String {
        nodes.map(|node| self.instance.label(node)).collect::<Vec<_>>().join(", ")
    }

    /// One edge of a tour leads to a node and one from it, except at the ends of a path.
    fn check_directions(&self) -> Result<()> {
        let instance = self.instance;
        let label = |node| instance.label(node);
        let mut counts = vec![[0_u32; 2]; instance.len()];
        for &(a, b) in &self.edges {
            counts[a as usize][0] += 1;
            counts[b as usize][1] += 1;
        }
        let several = |way: usize| {
            let mut nodes = (0..).zip(&counts).filter(|(_, count)| count[way] > 1);
            nodes.next().map(|(node, _): (u32, _)| node)
        };
        let help = "a tour has one edge to each node and one from it: fix at most one of each";
        if let Some(node) = several(0) {
            let others = self.names(self.edges.iter().filter(|edge| edge.0 == node).map(|edge| edge.1));
            let problem = format!("more than one fixed edge leads from node {}: to {others}", label(node));
            return refuse(instance, problem, help);
        }
        if let Some(node) = several(1) {
            let others = self.names(self.edges.iter().filter(|edge| edge.1 == node).map(|edge| edge.0));
            let problem = format!("more than one fixed edge leads to node {}: from {others}", label(node));
            return refuse(instance, problem, help);
        }
        let Ends { start, end } = instance.ends().unwrap_or_default();
        for &(a, b) in &self.edges {
            let [from, to] = [a, b].map(label);
            if start == Some(b) {
                let problem =
                    format!("the path starts at node {to}, but a fixed edge leads there from {from}");
                return refuse(instance, problem, "fix no edge to the start of a path");
            }
            if end == Some(a) {
                let problem =
                    format!("the path ends at node {from}, but a fixed edge leads from there to {to}");
                return refuse(instance, problem, "fix no edge from the end of a path");
            }
        }
        Ok(())
    }

    /// Fixed edges must not close a loop, unless it is a tour. Each node has at most two of them, so nodes that they join are on a
    /// chain or on a loop.
    fn check_loops(&self) -> Result<()> {
        let instance = self.instance;
        let n = instance.len();
        let ends = instance.ends();
        let mut groups = Groups::new(n);
        for &(a, b) in &self.edges {
            let is_tour = |count| count == n && ends.is_none();
            if let Some(count) = groups.join(a, b).filter(|&count| !is_tour(count)) {
                let (a, b) = (instance.label(a), instance.label(b));
                let tour = match ends {
                    None => format!("but tours visit {n}"),
                    Some(_) => "but tours are open paths".to_owned(),
                };
                let problem =
                    format!("fixed edges close a loop of {count} nodes, among them {a} and {b}, {tour}");
                return refuse(instance, problem, "leave out one of them");
            }
        }
        if let Some(Ends { start: Some(start), end: Some(end) }) = ends
            && let Some(count) = groups.join(end, start).filter(|&count| count < n)
        {
            let (start, end) = (instance.label(start), instance.label(end));
            let problem = format!(
                "fixed edges lead from the start {start} to the end {end} through {count} nodes, but paths visit {n}"
            );
            return refuse(instance, problem, "leave out one of these edges");
        }
        Ok(())
    }
}

/// Nodes that edges join, directly or through others (disjoint sets, with path halving and union by size).
struct Groups {
    above: Vec<u32>,
    counts: Vec<u32>,
}

impl Groups {
    fn new(n: usize) -> Groups {
        Groups { above: (0..n as u32).collect(), counts: vec![1; n] }
    }

    fn top(&mut self, mut node: u32) -> u32 {
        while self.above[node as usize] != node {
            let above = self.above[node as usize];
            self.above[node as usize] = self.above[above as usize];
            node = self.above[node as usize];
        }
        node
    }

    /// Joins two nodes. Returns the number of nodes in their group if they were in the same one already.
    fn join(&mut self, a: u32, b: u32) -> Option<usize> {
        let [a, b] = [a, b].map(|node| self.top(node));
        let [of_a, of_b] = [a, b].map(|node| self.counts[node as usize]);
        if a == b {
            return Some(of_a as usize);
        }
        let (small, large) = if of_a < of_b { (a, b) } else { (b, a) };
        self.above[small as usize] = large;
        self.counts[large as usize] = of_a + of_b;
        None
    }
}

/// Rejects forbidden pairs that leave a node without any edge. Where it lacks edges that a tour needs, though it has others, a run
/// still finds the tour with the fewest forbidden pairs.
fn check_forbidden(instance: &Instance) -> Result<()> {
    let n = instance.len();
    let Some(node) = without_edges(instance) else { return Ok(()) };
    let pairs = if instance.is_symmetric() { n * (n - 1) / 2 } else { n * (n - 1) };
    if instance.count_forbidden() == pairs {
        return refuse(instance, "every pair of nodes is forbidden".to_owned(), "allow some of the pairs");
    }
    let problem = format!("all edges at node {} are forbidden", instance.label(node));
    refuse(instance, problem, "a tour needs edges at each node: allow some")
}

/// Returns a node whose edges are all forbidden.
fn without_edges(instance: &Instance) -> Option<u32> {
    let n = instance.len() as u32;
    if instance.matrix().is_some() {
        let is_none = |a: u32, b: u32| instance.is_forbidden(a, b) && instance.is_forbidden(b, a);
        return (0..n).find(|&a| (0..n).filter(|&b| b != a).all(|b| is_none(a, b)));
    }
    let mut counts = vec![0; n as usize];
    for &node in instance.forbidden_pairs().iter().flat_map(|(a, b)| [a, b]) {
        counts[node as usize] += 1;
    }
    (0..n).find(|&node| counts[node as usize] == n - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metric;

    fn symmetric(n: usize) -> Instance {
        let places = (0..n).map(|x| [10.0 * x as f64, 0.0, 0.0]).collect();
        Instance::from_points("shape", Metric::Euc2d, places).unwrap()
    }

    fn directed(n: usize) -> Instance {
        let weights = (0..n * n).map(|at| at as i32).collect();
        Instance::from_matrix("shape", weights).unwrap().into_atsp()
    }

    fn ends(start: Option<u32>, end: Option<u32>) -> Option<Ends> {
        Some(Ends { start, end })
    }

    fn problem(instance: &Instance) -> String {
        instance.check_shape().map_or_else(|error| error.to_string(), |()| "fine".to_owned())
    }

    fn assert_problem(instance: &Instance, words: &[&str]) {
        let problem = problem(instance);
        assert!(words.iter().all(|word| problem.contains(word)), "{problem}, not {words:?}");
    }

    #[test]
    fn degrees_of_fixed_edges_are_those_of_a_tour() {
        let of = |fixed: &[(u32, u32)]| symmetric(6).with_fixed_edges(fixed.to_vec());
        assert_problem(&of(&[(0, 1), (0, 2), (3, 0)]), &["node 1 has more than two fixed edges: to 2, 3, 4"]);
        assert_problem(&of(&[(0, 1), (1, 0), (0, 1), (0, 2)]), &["fine"]);
        assert_problem(&of(&[(2, 2)]), &["from node 3 to itself"]);
        let path = |start, end| of(&[(0, 1), (0, 2)]).with_ends(ends(start, end));
        assert_problem(&path(Some(0), None), &["starts at node 1", "to 2, 3"]);
        assert_problem(&path(None, Some(0)), &["ends at node 1", "to 2, 3"]);
        assert_problem(&path(Some(1), Some(5)), &["fine"]);
        assert_problem(&path(Some(1), Some(2)), &["from the start 2 to the end 3 through 3 nodes"]);
        assert_problem(&symmetric(3).with_ends(ends(Some(1), Some(1))), &["same node, 2"]);
        assert_problem(&symmetric(1).with_ends(ends(Some(0), Some(0))), &["fine"]);
    }

    #[test]
    fn fixed_edges_of_a_directed_instance_have_a_direction() {
        let of = |fixed: &[(u32, u32)]| directed(6).with_fixed_edges(fixed.to_vec());
        assert_problem(&of(&[(0, 1), (2, 0), (2, 0)]), &["fine"]);
        assert_problem(&of(&[(0, 1), (0, 2)]), &["leads from node 1: to 2, 3"]);
        assert_problem(&of(&[(1, 0), (2, 0)]), &["leads to node 1: from 2, 3"]);
        assert_problem(&of(&[(1, 0), (0, 1)]), &["loop of 2 nodes"]);
        assert_problem(&directed(2).with_fixed_edges(vec![(1, 0), (0, 1)]), &["fine"]);
        let path = |start, end| of(&[(0, 1)]).with_ends(ends(start, end));
        assert_problem(&path(Some(1), None), &["starts at node 2", "from 1"]);
        assert_problem(&path(None, Some(0)), &["ends at node 1", "to 2"]);
        assert_problem(&path(Some(0), None), &["fine"]);
        assert_problem(&path(Some(0), Some(1)), &["through 2 nodes, but paths visit 6"]);
    }

    #[test]
    fn loops_of_fixed_edges_are_tours() {
        let round = |n: u32, instance: Instance| {
            instance.with_fixed_edges((0..n).map(|node| (node, (node + 1) % n)).collect())
        };
        for instance in [symmetric(6), directed(6)] {
            assert_problem(&round(3, instance.clone()), &["loop of 3 nodes", "tours visit 6"]);
            let all = round(6, instance);
            assert_problem(&all, &["fine"]);
            assert_problem(&all.with_ends(ends(None, None)), &["loop of 6 nodes", "open paths"]);
        }
        let path = symmetric(4).with_fixed_edges(vec![(0, 1), (2, 1), (2, 3)]);
        assert_problem(&path.with_ends(ends(Some(3), Some(0))), &["fine"]);
    }

    #[test]
    fn forbidden_pairs_leave_edges() {
        let forbid =
            |instance: Instance, pairs: &[(u32, u32)]| instance.with_forbidden_pairs(pairs.to_vec()).unwrap();
        let (to_1, from_1) = ([(0, 1), (2, 1)], [(1, 0), (1, 2)]);
        assert_problem(&forbid(symmetric(3), &from_1), &["all edges at node 2"]);
        assert_problem(&forbid(symmetric(3), &from_1[..1]), &["fine"]);
        assert_problem(&forbid(symmetric(3), &[(0, 1), (1, 2), (0, 2)]), &["every pair of nodes"]);
        let fixed = forbid(symmetric(3), &from_1[..1]).with_fixed_edges(vec![(0, 1)]);
        assert_problem(&fixed, &["from 1 to 2 is both fixed and forbidden"]);
        let fixed = forbid(directed(3), &from_1[..1]).with_fixed_edges(vec![(0, 1)]);
        assert_problem(&fixed, &["fine"]);
        for some in [forbid(directed(3), &to_1), forbid(directed(3), &from_1)] {
            assert_problem(&some, &["fine"]);
        }
        let alone = forbid(forbid(directed(3), &from_1), &to_1).with_ends(ends(None, None));
        assert_problem(&alone, &["all edges at node 2"]);
    }
}
