//! Closed forms: open paths, fixed edges and edges with a direction as closed tours, for engines that know nothing else.
//!
//! - A **chain** is a path of fixed edges. Tours pass through it as a whole, so only its two ends remain, joined by one fixed edge:
//!   they are *partners*. Where edges have a direction, a chain becomes one node, which is entered at its first node and left at its
//!   last one.
//! - An open path is a closed tour through one more node, the **gap**, which is at distance 0 of every node. A given end of the path
//!   is joined to it by a fixed edge.
//! - Edges with a direction: every node becomes two partners, of which the first one is entered and the second one is left (Jonker
//!   and Volgenant 1983). Edges exist only between a second and a first one.
//! - Nodes that are alike (at the same place): two of them remain, and tours visit the others right after the second one. So many orders for
//!   the same address do not fill the neighbour lists of each other. Tours pass through the same place at most twice; that is enough
//!   where no way around is shorter than the direct one ([`Form::loses_little`]).
//!
//! Costs of a form are internal costs; a tour of the instance costs [`Form::offset`] more.

use std::collections::BTreeMap;

use super::alike;
use super::model::{Distances, Ends, Instance, Kind};
use super::parallel;

const NONE: u32 = Instance::NO_PARTNER;

/// The distance between nodes that no edge joins.
const NO_EDGE: i32 = i32::MAX;

/// An instance of closed tours, and how they correspond to the tours of another instance.
#[derive(Clone, Debug)]
pub struct Form {
    instance: Instance,
    offset: i64,
    nodes: Nodes,
}

/// How the nodes of a form correspond to those of the instance.
#[derive(Clone, Debug)]
enum Nodes {
    /// Node i is entered at 2i and left at 2i + 1.
    Doubled,
    Joined(Joined),
    Thinned(Thinned),
}

/// How many of the nodes that are alike remain in a [thinned](Form::thinned) form.
const REMAINING: usize = 2;

/// Most ways around that are compared with the direct one: about a second of one thread.
const MOST_PAIRS: u64 = 1 << 30;

#[derive(Clone, Debug)]
struct Thinned {
    /// The number of nodes of the instance.
    n: u32,
    /// The node of the instance for each node of the form.
    names: Vec<u32>,
    /// The two nodes of the form for each group of nodes that are alike.
    remaining: Vec<[u32; REMAINING]>,
    /// The others of each group follow the second one that remains: those behind node i of the form are
    /// `others[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    others: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Joined {
    /// The number of nodes of the instance, which is also the number of the gap.
    n: u32,
    ends: Option<Ends>,
    is_directed: bool,
    /// The node of the instance, or the gap, for each node of the form; the first one of a chain that became one node.
    names: Vec<u32>,
    /// Chains of two nodes or more, by the form's number of their first node.
    chains: BTreeMap<u32, Vec<u32>>,
}

impl Form {
    /// Returns the closed form of an instance with ends or fixed edges; `None` if it has neither.
    ///
    /// Where contradictory edges are fixed, tours of the form have only some of them.
    pub fn closed(instance: &Instance) -> Option<Form> {
        if instance.ends().is_none() && instance.fixed_edges().is_empty() {
            return None;
        }
        let is_directed = !instance.is_symmetric();
        let n = instance.len() as u32;
        let chains = chains(instance);
        let mut role = vec![Role::Alone; n as usize + 1];
        for (number, chain) in (0..).zip(&chains) {
            chain[1..chain.len() - 1].iter().for_each(|&node| role[node as usize] = Role::Inside);
            role[chain[0] as usize] = Role::First(number);
            role[chain[chain.len() - 1] as usize] =
                if is_directed { Role::Inside } else { Role::Last(number) };
        }
        if instance.ends().is_none() {
            role[n as usize] = Role::Inside;
        }
        // The gap, if it is there, is the last node.
        let names: Vec<u32> = (0..=n).filter(|&node| role[node as usize] != Role::Inside).collect();
        let has_gap = names.last() == Some(&n);
        let distance = |a: u32, b: u32| {
            if a == b || a == n || b == n { 0 } else { i64::from(instance.distance(a, b)) }
        };
        let mut offset = 0;
        for chain in &chains {
            offset += chain.windows(2).map(|step| distance(step[0], step[1])).sum::<i64>();
            if !is_directed {
                offset -= distance(chain[0], chain[chain.len() - 1]);
            }
        }
        if let [chain] = &chains[..]
            && is_directed
            && chain.len() == instance.len()
            && instance.ends().is_none()
        {
            // The tour of a single node has no edge, but that of the instance leads back to its start.
            offset += distance(chain[chain.len() - 1], chain[0]);
        }
        let mut firsts = BTreeMap::new();
        let mut partners =
            if is_directed || chains.is_empty() { Vec::new() } else { vec![NONE; names.len()] };
        let mut ends = vec![[NONE; 2]; chains.len()];
        for (number, &name) in (0..).zip(&names) {
            match role[name as usize] {
                Role::First(chain) => ends[chain][0] = number,
                Role::Last(chain) => ends[chain][1] = number,
                Role::Alone | Role::Inside => {}
            }
        }
        for (chain, &[first, last]) in chains.into_iter().zip(&ends) {
            if !is_directed {
                (partners[first as usize], partners[last as usize]) = (last, first);
            }
            firsts.insert(first, chain);
        }
        let distances = match instance.distances() {
            Distances::Points { metric, points } => {
                // Every metric gives 0 for numbers that are not numbers.
                let place = |&name: &u32| points.get(name as usize).copied().unwrap_or([f64::NAN; 3]);
                Distances::Points { metric: *metric, points: names.iter().map(place).collect() }
            }
            Distances::Matrix(_) => {
                let left = |number: u32| match firsts.get(&number) {
                    Some(chain) if is_directed => chain[chain.len() - 1],
                    _ => names[number as usize],
                };
                let count = names.len() as u32;
                let row = |from: u32| {
                    let (names, left) = (&names, left(from));
                    (0..count)
                        .map(move |to| if to == from { 0 } else { distance(left, names[to as usize]) as i32 })
                };
                Distances::Matrix((0..count).flat_map(row).collect())
            }
        };
        let places = if has_gap { &names[..names.len() - 1] } else { &names[..] };
        Some(Form {
            instance: instance.closed(
                instance.kind(),
                distances,
                places,
                (partners, has_gap && !is_directed),
            ),
            offset,
            nodes: Nodes::Joined(Joined { n, ends: instance.ends(), is_directed, names, chains: firsts }),
        })
    }

    /// Returns the form without directions of an instance whose edges have a direction, and which has neither ends nor fixed edges.
    /// Its matrix is four times as large. Distances are those of the instance, or `reduced` ones, by which the costs of all tours
    /// differ by the same amount.
    ///
    /// # Panics
    /// If the instance has no matrix, or reduced distances are not as many.
    pub fn doubled(instance: &Instance, reduced: Option<&[i32]>) -> Form {
        let matrix = instance.matrix().expect("edges with a direction come from a matrix");
        let n = instance.len();
        let length = |matrix: &[i32]| (0..n).map(|i| i64::from(matrix[i * n + (i + 1) % n])).sum::<i64>();
        let offset = reduced.map_or(0, |reduced| length(matrix) - length(reduced));
        let matrix = reduced.unwrap_or(matrix);
        let mut doubled = vec![NO_EDGE; 4 * n * n];
        for from in 0..n {
            for to in 0..n {
                let (leave, enter) = (2 * from + 1, 2 * to);
                doubled[leave * 2 * n + enter] = matrix[from * n + to];
                doubled[enter * 2 * n + leave] = matrix[from * n + to];
            }
            doubled[2 * from * (2 * n + 1)] = 0;
            doubled[(2 * from + 1) * (2 * n + 1)] = 0;
        }
        let partners = (0..2 * n as u32).map(|node| node ^ 1).collect();
        Form {
            instance: instance
                .closed(Kind::Tsp, Distances::Matrix(doubled), &[], (partners, false))
                .into_doubled(),
            offset,
            nodes: Nodes::Doubled,
        }
    }

    /// Returns the form in which at most two nodes remain of those that are alike; `None` if there are no more than two anywhere. The
    /// instance is closed already, or has neither ends nor fixed edges.
    ///
    /// A tour that visits a place more than twice has no form. Where a way around may be shorter, as with rounded distances, such a
    /// tour may be the only shortest one.
    pub fn thinned(instance: &Instance) -> Option<Form> {
        let groups = alike::groups(instance, REMAINING + 1);
        if groups.is_empty() {
            return None;
        }
        let mut is_left_out = vec![false; instance.len()];
        groups
            .iter()
            .flat_map(|group| &group[REMAINING..])
            .for_each(|&node| is_left_out[node as usize] = true);
        let names: Vec<u32> =
            (0..instance.len() as u32).filter(|&node| !is_left_out[node as usize]).collect();
        let number = |node: u32| names.partition_point(|&name| name < node) as u32;
        let partner = |&name: &u32| match instance.partners().map_or(NONE, |partners| partners[name as usize])
        {
            NONE => NONE,
            partner => number(partner),
        };
        let partners =
            if instance.partners().is_some() { names.iter().map(partner).collect() } else { Vec::new() };
        let distances = match instance.distances() {
            Distances::Points { metric, points } => Distances::Points {
                metric: *metric,
                points: names.iter().map(|&name| points[name as usize]).collect(),
            },
            Distances::Matrix(matrix) => {
                let row = |&name: &u32| &matrix[name as usize * instance.len()..][..instance.len()];
                let costs = names.iter().flat_map(|from| names.iter().map(move |&to| row(from)[to as usize]));
                Distances::Matrix(costs.collect())
            }
        };
        let mut offset = 0;
        let mut remaining = Vec::with_capacity(groups.len());
        let mut starts = vec![0; names.len() + 1];
        for group in &groups {
            // Two nodes at the same place are not at distance 0 by every metric.
            offset += (group.len() - REMAINING) as i64 * i64::from(instance.distance(group[0], group[1]));
            let pair = [number(group[0]), number(group[1])];
            remaining.push(pair);
            starts[pair[1] as usize + 1] = (group.len() - REMAINING) as u32;
        }
        for node in 0..names.len() {
            starts[node + 1] += starts[node];
        }
        let mut others = vec![0; starts[names.len()] as usize];
        for (group, pair) in groups.iter().zip(&remaining) {
            let start = starts[pair[1] as usize] as usize;
            others[start..start + group.len() - REMAINING].copy_from_slice(&group[REMAINING..]);
        }
        let places = if instance.gap().is_some() { &names[..names.len() - 1] } else { &names[..] };
        let thinned =
            instance.closed(instance.kind(), distances, places, (partners, instance.gap().is_some()));
        Some(Form {
            instance: thinned.with_scale_of(instance),
            offset,
            nodes: Nodes::Thinned(Thinned { n: instance.len() as u32, names, remaining, starts, others }),
        })
    }

    /// Returns whether a way around through a place of which a [thinned](Form::thinned) form left out nodes is nowhere much shorter than
    /// the direct one: by at most a tenth, or by a fiftieth of the mean distance between places that are near each other. Then tours lose
    /// little by visiting each place at most twice. In costs that are not distances, a depot to which every trip returns is not such a place.
    ///
    /// Rounded distances between places differ from that by 1 at most. Costs are compared for all pairs of nodes; if these are too
    /// many, the answer is no.
    pub fn loses_little(&self) -> bool {
        let Nodes::Thinned(thinned) = &self.nodes else { return true };
        let (instance, m) = (&self.instance, self.instance.len() as u32);
        let gap = instance.gap();
        let nodes = (0..m).step_by((m as usize).div_ceil(1000));
        let pairs = nodes.flat_map(|a| [1, 2, 5, 11, 23, 47].map(|behind| (a, (a + behind) % m)));
        let is_pair =
            |&(a, b): &(u32, u32)| a != b && Some(a) != gap && Some(b) != gap && !instance.is_forbidden(a, b);
        let (mut count, mut sum) = (0, 0);
        for (a, b) in pairs.filter(is_pair) {
            count += 1;
            sum += i64::from(instance.distance(a, b));
        }
        let spacing = sum as f64 / f64::from(count.max(1)) / f64::from(m).sqrt();
        let most = (spacing / 50.0) as i64;
        if instance.points().is_some() {
            return most >= 1;
        }
        let is_long_enough = |from: u32, place: u32, to: u32| {
            let direct = i64::from(instance.distance(from, to));
            let around = i64::from(instance.distance(from, place)) + i64::from(instance.distance(place, to));
            around + most.max(direct / 10) >= direct
        };
        let are_from = |from: usize| {
            let from = from as u32;
            let ends = |&to: &u32| to != from && Some(to) != gap && Some(from) != gap;
            let places = thinned.remaining.iter().filter(|&&[place, _]| place != from);
            places.copied().all(|[place, _]| {
                (0..m).filter(ends).all(|to| to == place || is_long_enough(from, place, to))
            })
        };
        let work = thinned.remaining.len() as u64 * u64::from(m).pow(2);
        work <= MOST_PAIRS && parallel::all(m as usize, &are_from)
    }

    /// Returns the instance of closed tours.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Returns the instance of closed tours alone.
    pub fn into_instance(self) -> Instance {
        self.instance
    }

    /// Returns by how much the internal cost of a tour of the original instance exceeds that of the form's tour.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Converts a tour of the form to one of the original instance; `None` if it lacks a fixed edge, or has a node that does not
    /// exist.
    pub fn outward(&self, tour: &[u32]) -> Option<Vec<u32>> {
        match &self.nodes {
            Nodes::Doubled => outward_doubled(tour),
            Nodes::Joined(joined) => joined.outward(tour, self.instance.partners()),
            Nodes::Thinned(thinned) => thinned.outward(tour),
        }
    }

    /// Converts a tour of the original instance to one of the form; `None` if it lacks a fixed edge, has other ends, or visits nodes
    /// that are alike at more than two times.
    pub fn inward(&self, tour: &[u32]) -> Option<Vec<u32>> {
        match &self.nodes {
            Nodes::Doubled => {
                let n = self.instance.len() as u32 / 2;
                let pair = |&node: &u32| (node < n).then(|| [2 * node, 2 * node + 1]);
                let pairs = tour.iter().map(pair).collect::<Option<Vec<_>>>()?;
                (tour.len() == n as usize).then(|| pairs.concat())
            }
            Nodes::Joined(joined) => {
                if tour.len() != joined.n as usize || tour.iter().any(|&node| node >= joined.n) {
                    return None;
                }
                let inside = joined.inward(tour)?;
                let again = self.outward(&inside)?;
                joined.is_same(tour, &again).then_some(inside)
            }
            Nodes::Thinned(thinned) => thinned.inward(tour),
        }
    }
}

/// What becomes of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It stays as it is.
    Alone,
    /// It is left out.
    Inside,
    /// It starts or ends the chain with this number.
    First(usize),
    Last(usize),
}

/// Returns the paths of fixed edges, of two nodes or more. The gap, which is joined to the given ends, has the number n.
fn chains(instance: &Instance) -> Vec<Vec<u32>> {
    let (n, is_directed) = (instance.len() as u32, !instance.is_symmetric());
    let mut edges: Vec<(u32, u32)> = instance.fixed_edges().to_vec();
    if let Some(Ends { start, end }) = instance.ends() {
        edges.extend(start.map(|start| (n, start)));
        edges.extend(end.map(|end| (end, n)));
    }
    let mut beside: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut is_entered = std::collections::BTreeSet::new();
    for (a, b) in edges.into_iter().filter(|(a, b)| a != b) {
        if beside.get(&a).is_some_and(|nodes| nodes.contains(&b)) {
            continue;
        }
        beside.entry(a).or_default().push(b);
        if is_directed {
            beside.entry(b).or_default();
            is_entered.insert(b);
        } else {
            beside.entry(b).or_default().push(a);
        }
    }
    let is_first = |node: &u32| {
        if is_directed { !is_entered.contains(node) } else { beside[node].len() == 1 }
    };
    let mut seen = std::collections::BTreeSet::new();
    let mut chains = Vec::new();
    // What is left after the chains with a first node are closed loops.
    for node in beside.keys().copied().filter(is_first).chain(beside.keys().copied()) {
        let (mut chain, mut next) = (Vec::new(), Some(node));
        while let Some(node) = next.filter(|&node| seen.insert(node)) {
            chain.push(node);
            next = beside[&node].iter().copied().find(|other| !seen.contains(other));
        }
        if chain.len() > 1 {
            chains.push(chain);
        }
    }
    chains
}

fn outward_doubled(tour: &[u32]) -> Option<Vec<u32>> {
    let n = tour.len();
    // The tour passes through all nodes in the same direction: forwards or backwards.
    let first = *tour.first()?;
    let is_forward = (tour[1 % n] == first ^ 1) == (first & 1 == 0);
    let outside: Vec<u32> = tour.iter().filter(|&&node| node & 1 == 0).map(|node| node / 2).collect();
    let is_pair = |at: usize| tour[at] ^ 1 == tour[(at + 1) % n];
    let is_alternating = (0..n).all(|at| (tour[at] ^ tour[(at + 1) % n]) & 1 == 1);
    let offset = usize::from(!is_pair(0));
    if !is_alternating || !(0..n / 2).all(|pair| is_pair((2 * pair + offset) % n)) {
        return None;
    }
    Some(if is_forward { outside } else { outside.into_iter().rev().collect() })
}

impl Joined {
    fn outward(&self, tour: &[u32], partners: Option<&[u32]>) -> Option<Vec<u32>> {
        let count = tour.len();
        let partner =
            |node: u32| partners.map_or(Some(NONE), |partners| partners.get(node as usize).copied());
        let (&first, &last) = (tour.first()?, tour.last()?);
        // Chains are not split between the end of the list and its start.
        let begin = usize::from(count > 1 && partner(first)? == last);
        let mut outside = Vec::with_capacity(self.n as usize + 1);
        let mut at = 0;
        while at < count {
            let node = tour[(begin + at) % count];
            let other = partner(node)?;
            at += 1;
            if other != NONE {
                if at == count || tour[(begin + at) % count] != other {
                    return None;
                }
                at += 1;
            }
            match (self.chains.get(&node), self.chains.get(&other)) {
                (Some(chain), _) => outside.extend(chain),
                (None, Some(chain)) => outside.extend(chain.iter().rev()),
                (None, None) => outside.push(*self.names.get(node as usize)?),
            }
        }
        let Some(Ends { start, end }) = self.ends else { return Some(outside) };
        let gap = outside.iter().position(|&node| node == self.n)?;
        outside.rotate_left(gap);
        outside.remove(0);
        let is_at = |wanted: Option<u32>, found: Option<&u32>| wanted.is_none_or(|node| found == Some(&node));
        let is_right = is_at(start, outside.first()) && is_at(end, outside.last());
        if !is_right && !self.is_directed {
            outside.reverse();
        }
        Some(outside)
    }

    fn inward(&self, tour: &[u32]) -> Option<Vec<u32>> {
        let mut numbers = vec![NONE; self.n as usize + 1];
        (0..).zip(&self.names).for_each(|(number, &name)| numbers[name as usize] = number);
        let gap = self.ends.map(|_| self.n);
        let all = tour.iter().copied().chain(gap);
        let known = all.map(|node| numbers.get(node as usize).copied()).collect::<Option<Vec<u32>>>()?;
        Some(known.into_iter().filter(|&number| number != NONE).collect())
    }

    /// Returns whether two tours have the same edges, and start at the right node where that is given.
    fn is_same(&self, tour: &[u32], other: &[u32]) -> bool {
        let n = tour.len();
        if n != other.len() || n != self.n as usize {
            return false;
        }
        let mut position = vec![0; n];
        tour.iter().enumerate().for_each(|(at, &node)| position[node as usize] = at);
        let ahead = |a: usize, b: usize| (a + 1) % n == b;
        let steps = if self.ends.is_some() { n - 1 } else { n };
        let is_step = |at: usize| {
            let (a, b) = (position[other[at] as usize], position[other[(at + 1) % n] as usize]);
            ahead(a, b) || !self.is_directed && ahead(b, a)
        };
        (0..steps).all(is_step)
    }
}

impl Thinned {
    fn outward(&self, tour: &[u32]) -> Option<Vec<u32>> {
        let mut outside = Vec::with_capacity(self.n as usize);
        for node in tour {
            outside.push(*self.names.get(*node as usize)?);
            outside.extend(self.behind(*node));
        }
        Some(outside)
    }

    /// Returns the nodes that are visited right after a node of the form.
    fn behind(&self, node: u32) -> &[u32] {
        let [start, end] = [0, 1].map(|next| self.starts[node as usize + next] as usize);
        &self.others[start..end]
    }

    fn inward(&self, tour: &[u32]) -> Option<Vec<u32>> {
        let n = self.n as usize;
        if tour.len() != n || !parallel::is_permutation(tour) {
            return None;
        }
        let mut numbers = vec![NONE; n];
        (0..).zip(&self.names).for_each(|(number, &name)| numbers[name as usize] = number);
        // The group of each node that belongs to one.
        let mut groups = vec![NONE; n];
        for (group, pair) in (0..).zip(&self.remaining) {
            pair.iter().for_each(|&node| groups[self.names[node as usize] as usize] = group);
            self.behind(pair[1]).iter().for_each(|&node| groups[node as usize] = group);
        }
        let group = |at: usize| groups[tour[at] as usize];
        let is_start = |at: usize| group(at) == NONE || group(at) != group((at + n - 1) % n);
        let Some(begin) = (0..n).find(|&at| is_start(at)) else { return Some(self.remaining[0].to_vec()) };
        let starts: Vec<usize> = (begin..begin + n).map(|at| at % n).filter(|&at| is_start(at)).collect();
        let mut visits = vec![0_usize; self.remaining.len()];
        let is_grouped = |&&at: &&usize| group(at) != NONE;
        starts.iter().filter(is_grouped).for_each(|&at| visits[group(at) as usize] += 1);
        let mut seen = vec![0_usize; self.remaining.len()];
        let mut inside = Vec::with_capacity(self.names.len());
        for at in starts {
            if group(at) == NONE {
                inside.push(numbers[tour[at] as usize]);
                continue;
            }
            let group = group(at) as usize;
            match visits[group] {
                1 => inside.extend(self.remaining[group]),
                REMAINING => inside.push(self.remaining[group][seen[group]]),
                _ => return None,
            }
            seen[group] += 1;
        }
        Some(inside)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Metric, generate};

    fn points(n: usize) -> Instance {
        generate::uniform(n, 5).unwrap()
    }

    fn matrix(n: usize) -> Instance {
        let cost = |at: usize| ((at * 7919) % 1009) as i32;
        Instance::from_matrix("m", (0..n * n).map(cost).collect()).unwrap()
    }

    /// A random tour of the form, with partners next to each other.
    fn tour(form: &Form, order: &[u32]) -> Vec<u32> {
        let mut tour = Vec::new();
        for &node in order.iter().filter(|&&node| (node as usize) < form.instance().len()) {
            if tour.contains(&node) {
                continue;
            }
            match form.instance().partners().map(|partners| partners[node as usize]) {
                Some(partner) if partner != NONE => tour.extend([node.min(partner), node.max(partner)]),
                _ => tour.push(node),
            }
        }
        tour
    }

    fn shaped(instance: Instance, open: Option<(bool, bool)>, fixed: &[(u32, u32)]) -> Instance {
        let ends = open.map(|(start, end)| Ends { start: start.then_some(3), end: end.then_some(7) });
        instance.with_ends(ends).with_fixed_edges(fixed.to_vec())
    }

    proptest! {
        #[test]
        fn tours_and_costs_correspond(
            order in Just((0..40).collect::<Vec<u32>>()).prop_shuffle(),
            open in prop::option::of(any::<(bool, bool)>()),
            fixed in prop::sample::subsequence(vec![(0, 1), (1, 2), (4, 5), (5, 11), (11, 8), (9, 10)], 0..=6),
            is_directed: bool,
        ) {
            let instance = shaped(if is_directed { matrix(14) } else { points(14) }, open, &fixed);
            let Some(form) = Form::closed(&instance) else { return Ok(()) };
            let inside = tour(&form, &order);
            let outside = form.outward(&inside).unwrap();
            let cost = form.instance().check_tour(&inside).unwrap() + form.offset();
            prop_assert_eq!(instance.check_tour(&outside), Ok(cost));
            prop_assert_eq!(instance.unused_fixed_edge(&outside), None);
            if let Some(ends) = instance.ends() {
                prop_assert!(ends.start.is_none_or(|start| outside[0] == start));
                prop_assert!(ends.end.is_none_or(|end| outside[13] == end));
            }
            let again = form.inward(&outside).unwrap();
            prop_assert_eq!(form.instance().check_tour(&again).unwrap() + form.offset(), cost);
        }

        #[test]
        fn so_they_do_without_directions(order in Just((0..9).collect::<Vec<u32>>()).prop_shuffle(), turn in 0..18_usize, back: bool) {
            let instance = matrix(9);
            let form = Form::doubled(&instance, None);
            let mut inside = form.inward(&order).unwrap();
            let cost = instance.check_tour(&order).unwrap();
            prop_assert_eq!(form.instance().check_tour(&inside), Ok(cost));
            inside.rotate_left(turn);
            if back {
                inside.reverse();
            }
            prop_assert_eq!(instance.check_tour(&form.outward(&inside).unwrap()), Ok(cost));
            inside.swap(3, 6);
            prop_assert_eq!(form.outward(&inside), None);
        }
    }

    #[test]
    fn a_tour_without_a_fixed_edge_has_no_form() {
        let instance = shaped(points(14), Some((true, false)), &[(0, 1), (1, 2)]);
        let form = Form::closed(&instance).unwrap();
        let mut tour: Vec<u32> = [3].into_iter().chain((0..14).filter(|&node| node != 3)).collect();
        assert!(form.inward(&tour).is_some());
        tour.swap(2, 6);
        assert!(form.inward(&tour).is_none());
        assert!(form.inward(&(0..14).collect::<Vec<u32>>()).is_none(), "it does not start at node 3");
    }

    #[test]
    fn a_gap_is_at_distance_0_by_every_metric() {
        for metric in Metric::ALL {
            let places = (0..14).map(|i| [f64::from(i), f64::from(i * i % 7), 0.5]).collect();
            let instance =
                shaped(Instance::from_points("p", metric, places).unwrap(), Some((false, true)), &[]);
            let form = Form::closed(&instance).unwrap();
            let gap = form.instance().gap().unwrap();
            assert!((0..gap).all(|node| form.instance().distance(node, gap) == 0), "{metric:?}");
            assert!((0..gap).all(|node| form.instance().distance(gap, node) == 0), "{metric:?}");
        }
    }

    #[test]
    fn all_edges_may_be_fixed() {
        let loop_of_all: Vec<(u32, u32)> = (0..14).map(|i| (i, (i + 1) % 14)).collect();
        for (instance, all) in [(points(14), vec![0, 1]), (matrix(14), vec![0])] {
            for fixed in [&loop_of_all[..], &loop_of_all[..13]] {
                let instance = instance.clone().with_fixed_edges(fixed.to_vec());
                let form = Form::closed(&instance).unwrap();
                let tour = form.outward(&all).unwrap();
                let cost = form.instance().check_tour(&all).unwrap() + form.offset();
                assert_eq!(instance.check_tour(&tour), Ok(cost));
            }
        }
    }

    #[test]
    fn messages_with_unknown_nodes_have_no_form() {
        for instance in [shaped(points(14), None, &[(0, 1)]), shaped(points(14), Some((true, true)), &[])] {
            let form = Form::closed(&instance).unwrap();
            for wrong in [14, 15, u32::MAX] {
                assert_eq!(form.inward(&[&[wrong][..], &(1..14).collect::<Vec<u32>>()].concat()), None);
            }
        }
        let form = Form::doubled(&matrix(3), None);
        assert_eq!(
            [vec![0, 1, 3], vec![0, 1], vec![0, 1, u32::MAX]].map(|tour| form.inward(&tour)),
            [const { None }; 3]
        );
        // Both pairs are passed through, but in different directions.
        assert_eq!(form.outward(&[0, 1, 3, 2, 4, 5]), None);
    }

    /// Nodes at few places by every metric, or the same as a matrix that may have directions.
    fn crowded(places: &[u32], metric: Metric, as_matrix: bool, is_directed: bool) -> Instance {
        let point =
            |&place: &u32| [f64::from(place * 17 % 11), f64::from(place * 5 % 7), f64::from(place % 3)];
        let points = Instance::from_points("p", metric, places.iter().map(point).collect()).unwrap();
        if !as_matrix {
            return points;
        }
        let n = places.len() as u32;
        let cost = |at: u32| {
            let (a, b) = (places[(at / n) as usize], places[(at % n) as usize]);
            let turn = if is_directed && a < b { 3 } else { 0 };
            if a == b { 0 } else { (a.min(b) * 31 + a.max(b) * 57) as i32 % 40 + turn }
        };
        Instance::from_matrix("m", (0..n * n).map(cost).collect()).unwrap()
    }

    proptest! {
        #[test]
        fn tours_of_thinned_forms_correspond(
            places in prop::collection::vec(0_u32..6, 4..30),
            draws in prop::collection::vec(any::<u32>(), 40),
            metric in prop::sample::select(Metric::ALL.to_vec()),
            as_matrix: bool,
            is_directed: bool,
            is_shaped: bool,
        ) {
            let plain = crowded(&places, metric, as_matrix, is_directed);
            let closed = is_shaped.then(|| Form::closed(&plain.clone().with_fixed_edges(vec![(0, 2)])).unwrap());
            let instance = closed.map_or(plain, Form::into_instance);
            let n = instance.len() as u32;
            let shuffled = |n: u32| {
                let mut order: Vec<u32> = (0..n).collect();
                order.sort_by_key(|&node| draws[node as usize].rotate_left(node));
                order
            };
            let Some(form) = Form::thinned(&instance) else {
                // No three free nodes are alike.
                let alike = |a: u32, b: u32| instance.distance(a, b) == 0
                    && (0..n).all(|c| c == a || c == b || instance.distance(a, c) == instance.distance(b, c)
                        && instance.distance(c, a) == instance.distance(c, b));
                let is_free = |node: u32| instance.partners().is_none_or(|partners| partners[node as usize] == NONE);
                let free: Vec<u32> = (0..n).filter(|&node| is_free(node)).collect();
                let count = |&a: &u32| free.iter().filter(|&&b| a == b || alike(a, b)).count();
                prop_assert!(metric == Metric::Geo || free.iter().all(|a| count(a) < 3));
                return Ok(());
            };
            prop_assert!(Form::thinned(form.instance()).is_none());
            prop_assert_eq!(form.instance().partners().is_some(), instance.partners().is_some());
            let inside = tour(&form, &shuffled(form.instance().len() as u32));
            let outside = form.outward(&inside).unwrap();
            let cost = form.instance().check_tour(&inside).unwrap() + form.offset();
            prop_assert_eq!(instance.check_tour(&outside), Ok(cost));
            let again = form.inward(&outside).unwrap();
            prop_assert_eq!(form.instance().check_tour(&again).unwrap() + form.offset(), cost);
            // Any tour keeps its cost, if it has a form.
            let any = shuffled(n);
            let cost = instance.check_tour(&any).unwrap();
            if let Some(inside) = form.inward(&any) {
                prop_assert_eq!(form.instance().check_tour(&inside).unwrap() + form.offset(), cost);
            }
        }
    }

    #[test]
    fn at_most_two_nodes_of_a_place_remain() {
        let places = [0, 1, 0, 0, 2, 1, 1, 0, 2];
        let form = Form::thinned(&crowded(&places, Metric::Euc2d, false, false)).unwrap();
        // Nodes 3, 6 and 7 are left out.
        assert_eq!(form.instance().len(), 6);
        assert_eq!(form.outward(&[0, 1, 2, 3, 4, 5]), Some(vec![0, 1, 2, 3, 7, 4, 5, 6, 8]));
        assert_eq!(form.inward(&[7, 4, 5, 6, 1, 8, 3, 2, 0]), Some(vec![3, 1, 4, 5, 0, 2]));
        // Place 0 is visited once, or twice.
        assert!(form.inward(&[0, 2, 4, 3, 7, 1, 5, 6, 8]).is_some());
        // Three times: before node 4, before node 1 and after it.
        assert_eq!(form.inward(&[0, 4, 2, 1, 3, 5, 7, 6, 8]), None);
        assert_eq!(form.inward(&[0, 4, 2, 1, 3]), None);
        assert!(Form::thinned(&crowded(&[0, 1, 0, 2, 1, 2], Metric::Euc2d, false, false)).is_none());
        let all_alike = Form::thinned(&crowded(&[4; 5], Metric::Geo, false, false)).unwrap();
        assert_eq!((all_alike.inward(&[3, 0, 4, 1, 2]), all_alike.offset()), (Some(vec![0, 1]), 3));
    }
}
