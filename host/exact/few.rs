//! Proofs for instances of few nodes, without a linear program: branch and bound on 1-trees.
//!
//! A 1-tree is a spanning tree of all nodes but one, with two edges at that one. Tours are 1-trees, so no tour costs less than a
//! minimum 1-tree. *Potentials* improve this bound: they are subtracted from the costs of edges at both ends, and added twice for each
//! node. That changes no tour's cost. The ascent raises potentials of nodes with one edge, and lowers those of nodes with three or
//! more. Then edges are excluded, or forced, that would or would not be in any better tour. What remains is divided: tours that use an
//! edge at a node of three or more, and tours that do not.
//!
//! Costs and potentials are whole numbers, so all bounds are exact. Each is also the bound of dual values of a linear program
//! (`duals::of`), so certificates are of the usual kind.
//!
//! Sources:
//! - M. Held, R. Karp, *The traveling-salesman problem and minimum spanning trees: part II*, Mathematical Programming 1 (1971).
//! - T. Volgenant, R. Jonker, *A branch and bound algorithm for the symmetric traveling salesman problem based on the 1-tree
//!   relaxation*, European Journal of Operational Research 9 (1982).

mod duals;
mod greedy;
mod one_tree;
mod state;
#[cfg(test)]
mod tests;

use std::time::Instant;

use antwarp_instance::{Enough, Instance};

use self::duals::Cuts;
use self::one_tree::{Graph, OneTree};
use self::state::{Set, State};
use crate::certificate::{Certificate, Question, Tree};
use crate::duals::{Duals, UNIT_BITS};
use crate::{Incumbent, Outcome, Settings};

/// Most nodes of an instance that is solved here.
pub const MOST: usize = Set::BITS as usize;

/// Steps of the ascent at the root of the tree.
const ROOT_STEPS: usize = 600;
/// Steps of the ascent at other nodes of the tree.
const STEPS: usize = 40;
/// How often edges are excluded and forced at a node, each time after an ascent.
const ROUNDS: usize = 3;

/// Proves that the best tour is the shortest one, or finds a better one, on this thread until `enough` says so. Returns the
/// certificate if the proof is complete and `settings` ask for it. `incumbent` need not have a tour. The instance has closed tours
/// without directions, maybe with partners.
///
/// # Panics
/// If the instance has more than [`MOST`] nodes.
pub fn prove(
    instance: &Instance,
    incumbent: &Incumbent,
    settings: &Settings,
    enough: Enough<'_>,
) -> (Outcome, Option<Certificate>) {
    let start = Instant::now();
    let graph = Graph::new(instance);
    let mut search = Search::new(instance, &graph, incumbent, settings);
    search.offer_greedy(&vec![0; graph.n]);
    let root_bound = search.run(enough);
    let bound = search.open.iter().map(|state| cost_of(state.bound)).min();
    let bound = bound.map_or(incumbent.cost(), |bound| bound.min(incumbent.cost()));
    settings.board.raise(bound);
    let outcome = Outcome {
        bound,
        root_bound: root_bound.min(bound),
        nodes: search.nodes,
        seconds: start.elapsed().as_secs_f64(),
        ..Outcome::default()
    };
    if search.open.is_empty() && search.is_outdated() {
        search = Search::new(instance, &graph, incumbent, settings);
        search.run(enough);
    }
    let certificate = if search.open.is_empty() { search.certificate() } else { None };
    (outcome, certificate)
}

/// Returns the lowest whole cost that is not below a bound in units.
fn cost_of(bound: i64) -> i64 {
    -((-bound) >> UNIT_BITS)
}

/// What a certificate is made of.
struct Record {
    tree: Tree,
    cuts: Cuts,
}

struct Search<'a> {
    instance: &'a Instance,
    graph: &'a Graph,
    incumbent: &'a Incumbent,
    settings: &'a Settings,
    /// The nodes that are still to be looked at, the next one last.
    open: Vec<State>,
    nodes: u64,
    record: Option<Record>,
    /// The limit when edges were first excluded.
    first_limit: Option<i64>,
}

impl<'a> Search<'a> {
    fn new(
        instance: &'a Instance,
        graph: &'a Graph,
        incumbent: &'a Incumbent,
        settings: &'a Settings,
    ) -> Search<'a> {
        let record = || Record { tree: Tree::new(), cuts: Cuts::default() };
        let record = settings.keeps_certificate.then(record);
        Search { instance, graph, incumbent, settings, open: Vec::new(), nodes: 0, record, first_limit: None }
    }

    fn root(&self) -> State {
        let Graph { usable, forced, .. } = self.graph;
        State {
            usable: usable.clone(),
            forced: forced.clone(),
            potentials: self.graph.first_potentials(self.most()),
            // No cost is negative.
            bound: 0,
            place: Tree::ROOT,
        }
    }

    /// Returns the cost that a better tour is below.
    fn cutoff(&self) -> i64 {
        // Without a tour, more than any can cost.
        self.incumbent.cost().min((self.graph.n as i64) << 31)
    }

    /// Returns the highest bound, in units, that does not close a node: a better tour costs at least one less than the best one.
    fn limit(&self) -> i64 {
        (self.cutoff() - 1) << UNIT_BITS
    }

    /// Returns a number of units above all bounds that matter, and not below any edge; even, like all potentials.
    fn much(&self) -> i64 {
        self.graph.longest.max((self.cutoff() + 2) << UNIT_BITS)
    }

    /// Returns the largest size of a potential; even, like all potentials. Half of the bound is enough: a group of nodes far from all
    /// others needs the distance to them, and every tour goes there and back. Sums over all nodes fit their type.
    fn most(&self) -> i64 {
        (self.much() / 2).min((1 << 61) / self.graph.n as i64) & !1
    }

    fn offer(&self, tour: &[u32]) {
        let is_tour =
            tour.iter().zip(tour.iter().cycle().skip(1)).all(|(&a, &b)| self.instance.has_edge(a, b));
        if is_tour
            && self.instance.unused_fixed_edge(tour).is_none()
            && let Ok(cost) = self.instance.check_tour(tour)
        {
            self.incumbent.offer(cost, tour);
        }
    }

    fn offer_if_tour(&self, tree: &OneTree) {
        if tree.degrees.iter().all(|&degree| degree == 2) {
            self.offer(&tree.tour());
        }
    }

    fn offer_greedy(&self, potentials: &[i64]) {
        self.offer(&greedy::tour(self.graph, potentials));
    }

    /// Returns whether a better tour was found after edges were excluded. Then the record may be no proof: the checker uses
    /// the final tour's cost throughout, so it may exclude edges that this search still allowed, and dual values of leaves do not
    /// expect that.
    fn is_outdated(&self) -> bool {
        self.record.is_some() && self.first_limit.is_some_and(|limit| limit > self.limit())
    }

    /// Works until no node is open, or `enough` says so. Returns the bound of the root.
    fn run(&mut self, enough: Enough<'_>) -> i64 {
        if self.graph.n < 3 {
            return self.incumbent.cost();
        }
        let mut root_bound = None;
        self.open.push(self.root());
        while let Some(state) = self.open.last() {
            if enough() {
                break;
            }
            let bound = state.bound;
            let Some(state) = self.open.pop() else { break };
            let bound = self.solve(state).max(bound);
            root_bound.get_or_insert(cost_of(bound));
            let board = &self.settings.board;
            board.count_node();
            board.show_open(self.open.len());
            if let Some(lowest) = self.open.iter().map(|state| state.bound).min() {
                board.raise(cost_of(lowest).min(self.incumbent.cost()));
            }
        }
        root_bound.unwrap_or(0)
    }

    /// Closes a node or divides it. Returns its bound.
    fn solve(&mut self, mut state: State) -> i64 {
        self.nodes += 1;
        let is_root = self.nodes == 1;
        for round in 0..ROUNDS {
            let steps = if is_root && round == 0 { ROOT_STEPS } else { STEPS };
            let tree = self.ascend(&mut state, steps);
            let Some(tree) = tree else {
                self.close(&state);
                return self.limit() + 1;
            };
            if is_root {
                self.offer_greedy(&state.potentials);
                if state.bound > self.limit() {
                    self.close(&state);
                    return state.bound;
                }
            }
            let excluded = self.exclude(&mut state, &tree);
            let forced = self.force(&mut state, &tree);
            if excluded + forced == 0 || round + 1 == ROUNDS {
                self.divide(state.clone());
                break;
            }
        }
        state.bound
    }

    /// Raises the bound of a node. Returns the 1-tree of the best potentials; `None` if the node has no better tour.
    fn ascend(&self, state: &mut State, steps: usize) -> Option<OneTree> {
        let n = self.graph.n;
        let open = self.graph.open(state)?;
        let most = self.most();
        let mut potentials = state.potentials.clone();
        let mut best: Option<OneTree> = None;
        let mut before = vec![0.0; n];
        for step in 0..steps {
            let tree = OneTree::new(self.graph, &open, &state.forced, &potentials)?;
            self.offer_if_tour(&tree);
            if best.is_none() || tree.bound > state.bound {
                state.bound = state.bound.max(tree.bound);
                state.potentials.clone_from(&potentials);
                best = Some(tree.clone());
            }
            if tree.bound > self.limit() {
                return None;
            }
            // The step decreases from the full one, by which a single direction would lead to the limit (Polyak 1969).
            let progress = step as f64 / steps as f64;
            let part = (1.0 - progress) * (1.0 - progress) + 0.02;
            let norm: i32 = tree.degrees.iter().map(|&degree| (degree - 2) * (degree - 2)).sum();
            let length = part * (self.limit() + 1 - tree.bound) as f64 / f64::from(norm.max(1));
            for node in 0..n {
                let direction = 0.7 * f64::from(2 - tree.degrees[node]) + 0.3 * before[node];
                before[node] = f64::from(2 - tree.degrees[node]);
                // Even numbers, so that halves of differences are whole.
                let change = 2 * (0.5 * length * direction) as i64;
                potentials[node] = (potentials[node] + change).clamp(-most, most);
            }
        }
        best
    }

    /// Excludes edges that would raise the bound above the limit. Returns how many.
    fn exclude(&mut self, state: &mut State, tree: &OneTree) -> usize {
        let Some(open) = self.graph.open(state) else { return 0 };
        let gap = self.limit() - tree.bound;
        let reduced = tree.reduced_costs(self.graph, &open, &state.forced, &state.potentials);
        let excluded: Vec<_> = reduced.into_iter().filter(|&(.., reduced)| reduced > gap).collect();
        if excluded.is_empty() {
            return 0;
        }
        let (much, limit) = (self.much(), self.limit());
        self.first_limit.get_or_insert(limit);
        if let Some(Record { tree, cuts }) = &mut self.record {
            tree.reduce(state.place, duals::of(self.graph, state, much, cuts));
        }
        excluded.iter().for_each(|&(a, b, _)| state.exclude(a, b));
        excluded.len()
    }

    /// Forces edges without which the bound would be above the limit. Returns how many.
    fn force(&mut self, state: &mut State, tree: &OneTree) -> usize {
        let Some(open) = self.graph.open(state) else { return 0 };
        let gap = self.limit() - tree.bound;
        let mut count = 0;
        for (a, b, penalty) in tree.penalties(self.graph, &open, &state.forced, &state.potentials) {
            if penalty <= gap {
                continue;
            }
            let [with, without] = self.children(state.place, (a, b));
            let mut other = State { place: without, ..state.clone() };
            other.exclude(a, b);
            self.close(&other);
            state.force(a, b);
            state.place = with;
            count += 1;
        }
        count
    }

    fn children(&mut self, place: usize, (a, b): (usize, usize)) -> [usize; 2] {
        let divide = |record: &mut Record| record.tree.divide(place, Question::Edge(a as u32, b as u32));
        self.record.as_mut().map_or([0; 2], divide)
    }

    fn close(&mut self, state: &State) {
        let much = self.much();
        if let Some(Record { tree, cuts }) = &mut self.record {
            tree.close(state.place, duals::of(self.graph, state, much, cuts));
        }
    }

    /// Divides the tours of a node by an edge at a node of three or more.
    fn divide(&mut self, state: State) {
        // Edges that were forced since may exclude others of the 1-tree.
        let Some(open) = self.graph.open(&state) else { return self.close(&state) };
        let tree = OneTree::new(self.graph, &open, &state.forced, &state.potentials);
        let Some(tree) =
            tree.inspect(|tree| self.offer_if_tour(tree)).filter(|tree| tree.bound <= self.limit())
        else {
            return self.close(&state);
        };
        let penalties = tree.penalties(self.graph, &open, &state.forced, &state.potentials);
        let is_free = |&(a, b, _): &(usize, usize, i64)| state.forced[a] >> b & 1 == 0;
        let excess = |a: usize, b: usize| tree.degrees[a].max(tree.degrees[b]) > 2;
        let best =
            penalties.into_iter().filter(is_free).max_by_key(|&(a, b, penalty)| (excess(a, b), penalty));
        let Some((a, b, _)) = best else { return self.close(&state) };
        let [with, without] = self.children(state.place, (a, b));
        let mut first = State { place: with, ..state.clone() };
        let mut second = State { place: without, ..state };
        first.force(a, b);
        second.exclude(a, b);
        self.open.extend([second, first]);
    }

    fn certificate(self) -> Option<Certificate> {
        let Record { mut tree, cuts } = self.record?;
        let (cost, tour) = self.incumbent.best()?;
        if self.graph.n < 3 {
            // There is only one tour.
            tree.close(Tree::ROOT, Duals { nodes: vec![0; self.graph.n], ..Duals::default() });
        }
        Some(Certificate {
            fingerprint: self.instance.fingerprint(),
            tour,
            cost,
            bound: cost,
            cuts: cuts.into_list(),
            nodes: tree.into_nodes()?,
        })
    }
}
