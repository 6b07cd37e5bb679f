//! Certificates that no tour costs less than a bound: read and verified slowly, from the definitions alone.
//!
//! `docs/algorithms/proofs.md` describes the file. For the dual values of a record, the reduced cost of an edge is its cost minus the
//! values of its ends, minus the value of each set whose border it crosses, as often as it does. Here that is how it is computed: edge
//! by edge, set by set.

use super::Instance;

/// An instance of closed tours without directions, which a proof is about.
pub struct Closed<'a> {
    judge: &'a Instance,
    /// For each node, where it is entered and left: at different nodes only where a chain of fixed edges became one node.
    names: Vec<(usize, usize)>,
    /// Whether each of these is two nodes: 2i, which is entered, and 2i + 1, which is left.
    is_doubled: bool,
    /// Edges that every tour uses.
    fixed: Vec<(usize, usize)>,
}

impl<'a> Closed<'a> {
    /// The closed form of an instance.
    pub fn new(judge: &'a Instance) -> Closed<'a> {
        let is_directed = judge.is_directed;
        let chains = chains(judge);
        // In the order of their numbers, if these are consecutive, else in that of the file.
        let mut order: Vec<usize> = (0..judge.len()).collect();
        let (low, high) = (judge.ids.iter().min(), judge.ids.iter().max());
        if low.zip(high).is_some_and(|(low, high)| high - low + 1 == judge.len() as i64) {
            order.sort_by_key(|&node| judge.ids[node]);
        }
        let mut names = Vec::new();
        let mut fixed = Vec::new();
        for node in order {
            match chains.iter().find(|chain| chain.contains(&node)) {
                None => names.push((node, node)),
                Some(chain) if is_directed && chain[0] == node => names.push((node, chain[chain.len() - 1])),
                Some(chain) if !is_directed && (chain[0] == node || chain[chain.len() - 1] == node) => {
                    names.push((node, node));
                }
                Some(_) => {}
            }
        }
        if is_directed {
            fixed.extend((0..names.len()).map(|i| (2 * i, 2 * i + 1)));
        } else {
            let place = |node: usize| names.iter().position(|name| name.0 == node).unwrap();
            fixed.extend(chains.iter().map(|chain| (place(chain[0]), place(chain[chain.len() - 1]))));
        }
        Closed { judge, names, is_doubled: is_directed, fixed }
    }

    pub fn len(&self) -> usize {
        if self.is_doubled { 2 * self.names.len() } else { self.names.len() }
    }

    /// What the edge between two nodes costs; none if no tour has it.
    fn cost(&self, a: usize, b: usize) -> Option<i64> {
        if !self.is_doubled {
            return Some(self.judge.weight(self.names[a].0, self.names[b].0));
        }
        let (enter, leave) = if a.is_multiple_of(2) { (a, b) } else { (b, a) };
        match (enter % 2, leave % 2) {
            (0, 1) if enter / 2 == leave / 2 => Some(0),
            (0, 1) => Some(self.judge.weight(self.names[leave / 2].1, self.names[enter / 2].0)),
            _ => None,
        }
    }

    fn is_fixed(&self, a: usize, b: usize) -> bool {
        self.fixed.contains(&(a, b)) || self.fixed.contains(&(b, a))
    }
}

/// The paths of fixed edges.
fn chains(judge: &Instance) -> Vec<Vec<usize>> {
    let positions = judge.positions();
    let mut after = vec![Vec::new(); judge.len()];
    let mut before = vec![Vec::new(); judge.len()];
    for (a, b) in judge.fixed.iter().map(|(a, b)| (positions[a], positions[b])) {
        after[a].push(b);
        before[b].push(a);
        if !judge.is_directed {
            after[b].push(a);
            before[a].push(b);
        }
    }
    let mut chains: Vec<Vec<usize>> = Vec::new();
    for first in 0..judge.len() {
        let is_end = if judge.is_directed { before[first].is_empty() } else { after[first].len() == 1 };
        if !is_end || after[first].is_empty() || chains.iter().any(|chain| chain.contains(&first)) {
            continue;
        }
        let mut chain = vec![first];
        while let Some(&next) = after[chain[chain.len() - 1]].iter().find(|&next| !chain.contains(next)) {
            chain.push(next);
        }
        chains.push(chain);
    }
    chains
}

/// A set: whether it has each node.
type Set = Vec<bool>;

/// Cuts and their right sides.
type Cuts = Vec<(Vec<Set>, i128)>;

struct Duals {
    nodes: Vec<i128>,
    cuts: Vec<(usize, i128)>,
    sets: Vec<(usize, i128)>,
}

enum Record {
    Reduce(Duals),
    Edge(usize, usize),
    Set(Set),
    Leaf(Duals),
}

/// What is known of better tours at a node of the tree.
#[derive(Clone)]
struct Place {
    /// Edges that they may use.
    free: Vec<(usize, usize)>,
    /// Edges that they use.
    used: Vec<(usize, usize)>,
    /// Sets whose border they cross twice, or at least four times.
    sets: Vec<(Set, bool)>,
}

fn crosses(set: &Set, (a, b): (usize, usize)) -> bool {
    set[a] != set[b]
}

/// A certificate that is being verified.
struct Proof<'a> {
    closed: &'a Closed<'a>,
    unit: i128,
    cuts: Cuts,
    /// Bounds above this close a node.
    limit: i128,
}

impl Proof<'_> {
    fn reduced(&self, duals: &Duals, place: &Place, edge: (usize, usize)) -> i128 {
        // A branch may ask for an edge that no tour has: then it costs more than any tour.
        let cost = self.closed.cost(edge.0, edge.1).unwrap_or(i32::MAX.into());
        let mut reduced = i128::from(cost) * self.unit;
        reduced -= duals.nodes[edge.0] + duals.nodes[edge.1];
        for &(cut, dual) in &duals.cuts {
            let times = self.cuts[cut].0.iter().filter(|set| crosses(set, edge)).count();
            reduced -= dual * times as i128;
        }
        for &(set, dual) in &duals.sets {
            if crosses(&place.sets[set].0, edge) {
                reduced -= dual;
            }
        }
        reduced
    }

    fn check_duals(&self, duals: &Duals, place: &Place) -> Result<(), String> {
        for &(cut, dual) in &duals.cuts {
            if cut >= self.cuts.len() || dual < 0 {
                return Err(format!("cut {cut} has the dual value {dual}"));
            }
        }
        for &(set, dual) in &duals.sets {
            match place.sets.get(set) {
                Some((_, true)) if dual <= 0 => {}
                Some((_, false)) if dual >= 0 => {}
                _ => return Err(format!("set {set} has the dual value {dual}")),
            }
        }
        Ok(())
    }

    fn bound(&self, duals: &Duals, place: &Place) -> Result<i128, String> {
        self.check_duals(duals, place)?;
        let mut bound = 2 * duals.nodes.iter().sum::<i128>();
        bound += duals.cuts.iter().map(|&(cut, dual)| dual * self.cuts[cut].1).sum::<i128>();
        bound +=
            duals.sets.iter().map(|&(set, dual)| dual * if place.sets[set].1 { 2 } else { 4 }).sum::<i128>();
        bound += place.free.iter().map(|&edge| self.reduced(duals, place, edge).min(0)).sum::<i128>();
        bound += place.used.iter().map(|&edge| self.reduced(duals, place, edge)).sum::<i128>();
        Ok(bound)
    }

    /// Excludes the edges with which the bound is above the limit, and fixes those without which it is.
    fn reduce(&self, duals: &Duals, place: &mut Place) -> Result<(), String> {
        let bound = self.bound(duals, place)?;
        let mut free = Vec::new();
        let mut used = place.used.clone();
        for &edge in &place.free {
            let reduced = self.reduced(duals, place, edge);
            if reduced < 0 && bound - reduced > self.limit {
                used.push(edge);
            } else if reduced < 0 || bound + reduced <= self.limit {
                free.push(edge);
            }
        }
        (place.free, place.used) = (free, used);
        Ok(())
    }

    /// Verifies a node and everything below it, and takes its records away.
    fn verify(&self, records: &mut std::slice::Iter<'_, Record>, mut place: Place) -> Result<(), String> {
        match records.next().ok_or("a leaf is missing")? {
            Record::Reduce(duals) => {
                self.reduce(duals, &mut place)?;
                self.verify(records, place)
            }
            Record::Leaf(duals) => match self.bound(duals, &place)? {
                bound if bound > self.limit => Ok(()),
                bound => Err(format!("a leaf proves only {bound}")),
            },
            &Record::Edge(a, b) => {
                let edge = (a.min(b), a.max(b));
                if a == b || edge.1 >= self.closed.len() {
                    return Err(format!("{edge:?} is no edge"));
                }
                place.free.retain(|&other| other != edge);
                place.used.retain(|&other| other != edge);
                let mut with = place.clone();
                with.used.push(edge);
                self.verify(records, with)?;
                self.verify(records, place)
            }
            Record::Set(set) => {
                check_set(set)?;
                for two in [true, false] {
                    let mut place = place.clone();
                    place.sets.push((set.clone(), two));
                    self.verify(records, place)?;
                }
                Ok(())
            }
        }
    }
}

fn check_set(set: &Set) -> Result<(), String> {
    if set.contains(&true) && set.contains(&false) {
        Ok(())
    } else {
        Err("a set has no node, or all".to_owned())
    }
}

/// The right side of a cut by the definition of its family.
fn right_side(family: &str, sets: &[Set]) -> Result<i128, String> {
    sets.iter().try_for_each(check_set)?;
    if family == "subtour" {
        return if sets.len() == 1 { Ok(2) } else { Err("a subtour has one set".to_owned()) };
    }
    if family == "hypergraph" {
        return shortest_tour_of_atoms(sets);
    }
    let (handle, teeth) = sets.split_first().ok_or("a comb without handle")?;
    if teeth.len() < 3 || teeth.len() % 2 == 0 {
        return Err(format!("a comb with {} teeth", teeth.len()));
    }
    for tooth in teeth {
        let has =
            |is_in_handle: bool| (0..tooth.len()).any(|node| tooth[node] && handle[node] == is_in_handle);
        if !has(true) || !has(false) {
            return Err("a tooth is not inside and outside of the handle".to_owned());
        }
    }
    for node in 0..handle.len() {
        if teeth.iter().filter(|tooth| tooth[node]).count() > 1 {
            return Err(format!("two teeth have node {node}"));
        }
    }
    Ok(3 * teeth.len() as i128 + 1)
}

/// How often a tour crosses the borders of sets at least: nodes in the same sets are an atom, and a shortest tour of the atoms crosses
/// them least often.
fn shortest_tour_of_atoms(sets: &[Set]) -> Result<i128, String> {
    let n = sets.first().ok_or("a cut without sets")?.len();
    let mut atoms: Vec<Vec<bool>> = (0..n).map(|node| sets.iter().map(|set| set[node]).collect()).collect();
    atoms.sort();
    atoms.dedup();
    let k = atoms.len();
    if !(2..=12).contains(&k) {
        return Err(format!("{k} atoms"));
    }
    let apart = |i: usize, j: usize| (0..sets.len()).filter(|&set| atoms[i][set] != atoms[j][set]).count();
    // The shortest path from atom 0 through a set of atoms to one of them.
    let mut paths = vec![vec![usize::MAX; k]; 1 << k];
    paths[1][0] = 0;
    for seen in 1..1 << k {
        for last in 0..k {
            if paths[seen][last] == usize::MAX {
                continue;
            }
            for next in (0..k).filter(|next| seen >> next & 1 == 0) {
                let longer = paths[seen][last] + apart(last, next);
                let known = &mut paths[seen | 1 << next][next];
                *known = longer.min(*known);
            }
        }
    }
    let all = &paths[(1 << k) - 1];
    let least = (1..k).map(|last| all[last].saturating_add(apart(last, 0))).min();
    Ok(least.ok_or("a single atom")? as i128)
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{word:?} is no number"))
}

fn set(words: &str, n: usize) -> Result<Set, String> {
    let mut set = vec![false; n];
    for word in words.split_whitespace() {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        for node in number::<usize>(first)?..=number::<usize>(last)? {
            if std::mem::replace(set.get_mut(node).ok_or_else(|| format!("there is no node {node}"))?, true) {
                return Err(format!("node {node} is twice in a set"));
            }
        }
    }
    Ok(set)
}

fn duals(words: &str, n: usize) -> Result<Duals, String> {
    let parts: Vec<&str> = words.split('|').collect();
    let [nodes, cuts, sets] = parts[..] else { return Err("dual values without three parts".to_owned()) };
    let nodes = nodes
        .split_whitespace()
        .map(|word| Ok(number::<i64>(word)?.into()))
        .collect::<Result<Vec<_>, String>>()?;
    if nodes.len() != n {
        return Err(format!("{} dual values of {n} nodes", nodes.len()));
    }
    let sparse = |words: &str| -> Result<Vec<(usize, i128)>, String> {
        let dual = |word: &str| {
            let (at, dual) = word.split_once(':').ok_or("a dual value without colon")?;
            Ok((number(at)?, number::<i64>(dual)?.into()))
        };
        words.split_whitespace().map(dual).collect()
    };
    Ok(Duals { nodes, cuts: sparse(cuts)?, sets: sparse(sets)? })
}

/// Verifies a certificate. Returns the cost of its tour in the closed form, and a bound that no such tour is below.
pub fn verify(judge: &Instance, text: &str) -> Result<(i64, i64), String> {
    let closed = &Closed::new(judge);
    let n = closed.len();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut lines = lines.map(|line| line.split_once(' ').unwrap_or((line, "")));
    let version = lines.next().map(|(_, version)| version);
    if version != Some("certificate 1") {
        return Err(format!("the version {version:?}"));
    }
    let mut expect = |word: &str| match lines.next() {
        Some((first, rest)) if first == word => Ok(rest.trim()),
        other => Err(format!("{other:?} instead of {word}")),
    };
    // The proof is about the instance that was read here, whatever its name or fingerprint.
    expect("instance")?;
    if number::<usize>(expect("nodes")?)? != n {
        return Err("another number of nodes".to_owned());
    }
    let unit = i128::from(number::<u32>(expect("unit")?)?);
    let cost: i64 = number(expect("cost")?)?;
    let tour = expect("tour")?.split_whitespace().map(number).collect::<Result<Vec<usize>, _>>()?;
    let bound: i64 = number(expect("bound")?)?;
    check_tour(closed, &tour, cost)?;
    if bound > cost {
        return Err("the bound is above the cost".to_owned());
    }
    let (mut cuts, mut records, mut is_over) = (Vec::new(), Vec::new(), false);
    for (word, rest) in lines {
        if is_over {
            return Err("text after the end".to_owned());
        }
        match word {
            "subtour" | "comb" | "hypergraph" if records.is_empty() => {
                let mut parts = rest.split('|');
                let right: i128 = number(parts.next().unwrap_or_default().trim())?;
                let sets = parts.map(|part| set(part, n)).collect::<Result<Vec<_>, _>>()?;
                if right != right_side(word, &sets)? {
                    return Err(format!("a {word} with the right side {right}"));
                }
                cuts.push((sets, right));
            }
            "reduce" => records.push(Record::Reduce(duals(rest, n)?)),
            "leaf" => records.push(Record::Leaf(duals(rest, n)?)),
            "set" => records.push(Record::Set(set(rest, n)?)),
            "edge" => {
                let (a, b) = rest.split_once(' ').ok_or("an edge without two nodes")?;
                records.push(Record::Edge(number(a)?, number(b.trim())?));
            }
            "end" => is_over = true,
            other => return Err(format!("there is no {other}")),
        }
    }
    if !is_over {
        return Err("the file is cut off".to_owned());
    }
    // There is a single tour of up to three nodes; one of two has its edge twice.
    if n > 2 {
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        let free = pairs.filter(|&(a, b)| closed.cost(a, b).is_some() && !closed.is_fixed(a, b)).collect();
        let used = closed.fixed.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
        let limit = (i128::from(bound) - 1) * unit;
        let proof = Proof { closed, unit, cuts, limit };
        let mut records = records.iter();
        proof.verify(&mut records, Place { free, used, sets: Vec::new() })?;
        if records.next().is_some() {
            return Err("records after the tree".to_owned());
        }
    }
    Ok((cost, bound))
}

fn check_tour(closed: &Closed<'_>, tour: &[usize], cost: i64) -> Result<(), String> {
    let n = closed.len();
    let mut visited = tour.to_vec();
    visited.sort_unstable();
    if !visited.into_iter().eq(0..n) {
        return Err("the tour does not visit every node once".to_owned());
    }
    let mut length = 0;
    let steps: Vec<(usize, usize)> = (0..n).map(|at| (tour[at], tour[(at + 1) % n])).collect();
    for &(a, b) in steps.iter().filter(|(a, b)| a != b) {
        length += closed.cost(a, b).ok_or_else(|| format!("no tour goes from {a} to {b}"))?;
    }
    let is_used = |&&(a, b): &&(usize, usize)| steps.contains(&(a, b)) || steps.contains(&(b, a));
    if let Some(edge) = closed.fixed.iter().find(|edge| !is_used(edge)) {
        return Err(format!("the fixed edge {edge:?} is not used"));
    }
    if length == cost { Ok(()) } else { Err(format!("the tour costs {length}, not {cost}")) }
}
