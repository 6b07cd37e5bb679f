//! Branch and cut: nodes of the tree are solved by several threads.
//!
//! A node is the set of tours that fulfil its branches. It is closed when its bound proves that none of them is shorter than the best
//! tour known; otherwise a question divides it: whether tours use an edge, or whether they cross the border of a set of nodes twice or
//! more often. The question is chosen by strong [branching](crate::branching).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use antwarp_instance::{Enough, Instance, Watch};

use crate::branching::{Spares, WHOLE};
use crate::certificate::{self, Question};
use crate::duals::{Branch, Duals, Side, to_cost, to_units};
use crate::master::{Master, State};
use crate::pricing::Edge;
use crate::queue::{Open, Queue};
use crate::root::MOST_WITH_LOCAL;
use crate::separation::{Draws, Workers, blossoms, combs, local, stars, subtours, tighten};
use crate::simplex::{Limits, Result, SimplexError, Solver, Standing, Status};
use crate::{Board, Cut, Family, Incumbent};

/// Rounds of cuts at a node end when this many of them have closed less than a part of the gap.
const ROUNDS: usize = 3;
const PART: f64 = 0.2;
/// Combs are looked for where fewer cuts than this are found otherwise.
const FEW_CUTS: usize = 30;
/// Random shrinkings in which combs are looked for, in a round.
const TRIALS: usize = 12;
/// The nodes of the parts for local cuts, and the choices of parts.
const PARTS: (usize, usize) = (12, 2);
/// Most cuts of a round.
const MOST_CUTS: usize = 150;
/// Cuts that were slack this many times are deleted, if there are this many of them.
const OLD: u32 = 2;
const MANY_OLD: usize = 20;
/// A node's linear program ends once its optimum is known to exceed by this much what closes the node: dual values are rounded.
const ROOM: f64 = 0.01;
/// Times that edges are priced at a node before it is divided anyway.
const MOST_PRICED: usize = 50;

/// What branch and cut begins with.
pub struct Task<'a> {
    /// The instance.
    pub instance: &'a Instance,
    /// Makes linear programs.
    pub solver: &'a dyn Solver,
    /// The best tour.
    pub incumbent: &'a Incumbent,
    /// The edges that a better tour can have, with those that every better tour has and those of partners.
    pub left: &'a [Edge],
    /// The root's linear program, whose fixed edges are those that every better tour has.
    pub root: State,
    /// The root's bound, an internal cost.
    pub bound: i64,
    /// The optimum of the root's linear program, an internal cost.
    pub optimum: f64,
    /// Where the proof stands.
    pub board: &'a Board,
    /// Where a certificate is kept.
    pub ledger: Option<&'a Ledger>,
}

/// The result of branch and cut.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// No tour costs less; at most the cost of the best tour.
    pub bound: i64,
    /// Seconds of all threads in linear programs.
    pub lp_seconds: f64,
    /// Why nodes had to be given up, if there are any.
    pub trouble: Option<SimplexError>,
}

/// The parts of a certificate, which threads add.
#[derive(Debug, Default)]
pub struct Ledger {
    parts: Mutex<Parts>,
}

#[derive(Debug, Default)]
struct Parts {
    cuts: Vec<Arc<Cut>>,
    numbers: HashMap<Arc<Cut>, usize>,
    tree: certificate::Tree,
}

impl Ledger {
    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps dual values by which edges are excluded and fixed at the root; they have the indices of these cuts.
    pub fn reduce(&self, duals: &Duals, cuts: &[Arc<Cut>]) {
        let mut parts = self.parts();
        let by = parts.numbered(duals, cuts);
        parts.tree.reduce(certificate::Tree::ROOT, by);
    }

    /// Closes the node with this number in the certificate by dual values, which have the indices of these cuts; those of the sets
    /// that were branched on are in `sets`, in the order of the branches from the root.
    pub fn close(&self, place: usize, duals: &Duals, cuts: &[Arc<Cut>], sets: Vec<i64>) {
        let mut parts = self.parts();
        let by = parts.numbered(duals, cuts);
        parts.tree.close(place, Duals { branches: sets.into_iter().enumerate().collect(), ..by });
    }

    fn divide(&self, place: usize, question: Question) -> [usize; 2] {
        self.parts().tree.divide(place, question)
    }

    /// Returns the cuts and the tree; `None` if a node is still open.
    pub fn into_parts(self) -> Option<(Vec<Arc<Cut>>, Vec<certificate::Node>)> {
        let parts = self.parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        Some((parts.cuts, parts.tree.into_nodes()?))
    }
}

impl Parts {
    /// Returns dual values with the numbers that cuts have here.
    fn numbered(&mut self, duals: &Duals, cuts: &[Arc<Cut>]) -> Duals {
        let mut number = |cut: &Arc<Cut>| {
            *self.numbers.entry(cut.clone()).or_insert_with(|| {
                self.cuts.push(cut.clone());
                self.cuts.len() - 1
            })
        };
        let cuts = duals.cuts.iter().map(|&(cut, y)| (number(&cuts[cut]), y)).collect();
        Duals { nodes: duals.nodes.clone(), cuts, branches: Vec::new() }
    }
}

/// A node of the tree.
struct Node {
    /// Its number in the certificate.
    place: usize,
    /// Its linear program, to begin with.
    state: State,
    /// The sets that were branched on from the root to here, in order.
    sets: Vec<Branch>,
}

/// What became of a node.
enum Fate {
    Closed,
    Divided(Vec<Open<Node>>),
    /// Time is up.
    Left,
    /// It can be neither closed nor divided.
    Stuck,
}

/// Solves the tree on `threads` threads of its own, at least one, until all nodes are closed or `enough` says so. As many of them have
/// work at a time as the board allows.
pub fn branch_and_cut(task: &Task<'_>, threads: usize, enough: Enough<'_>) -> Ended {
    let watch = Watch::new(enough);
    let root = Node { place: certificate::Tree::ROOT, state: task.root.clone(), sets: Vec::new() };
    let queue = Queue::new(Open { bound: task.bound, estimate: task.optimum, node: root }, threads);
    let ended = Mutex::new(Ended::default());
    std::thread::scope(|scope| {
        for number in 0..threads {
            let (queue, watch, ended) = (&queue, &watch, &ended);
            let worker = move || {
                let _close = ClosesInPanic(queue);
                let done = work(task, queue, number, watch);
                let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                ended.lp_seconds += done.lp_seconds;
                ended.trouble = ended.trouble.take().or(done.trouble);
            };
            // Without this thread there are others, unless it is the first.
            let name = format!("tree {number}");
            if std::thread::Builder::new().name(name).spawn_scoped(scope, worker).is_err() {
                if number == 0 {
                    queue.close();
                }
                break;
            }
        }
    });
    let mut ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    let cost = task.incumbent.cost();
    ended.bound = queue.bound().map_or(cost, |bound| bound.max(task.bound).min(cost));
    ended
}

/// Ends the work of the other threads if one panics.
struct ClosesInPanic<'a>(&'a Queue<Node>);

impl Drop for ClosesInPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}

/// Solves nodes on one thread.
fn work(task: &Task<'_>, queue: &Queue<Node>, number: usize, watch: &Watch<'_>) -> Ended {
    let mut done = Ended::default();
    let mut master: Option<Master<'_>> = None;
    let (mut draws, mut spares) = (Draws::new(number as u64), Spares::default());
    while let Some(Open { bound, node, .. }) = queue.take(number, task.board, watch) {
        task.board.count_node();
        let mut solver = NodeSolver { task, spares: &mut spares, queue, watch, draws: &mut draws, bound };
        let mut fate = Err(SimplexError::Failed("the node was not started".into()));
        // A program that failed is made anew, once.
        for _ in 0..2 {
            if master.is_none() {
                match Master::new(task.instance, task.solver) {
                    Ok(made) => master = Some(made),
                    Err(error) => fate = Err(error),
                }
            }
            let Some(program) = &mut master else { continue };
            fate = solver.solve(program, &node);
            if fate.is_ok() {
                break;
            }
            done.lp_seconds += master.take().map_or(0.0, |program| program.work().0);
        }
        solver.spares.clear();
        match fate {
            Ok(Fate::Closed) => queue.give(number, Vec::new(), task.board),
            Ok(Fate::Divided(children)) => queue.give(number, children, task.board),
            Ok(Fate::Left) => {
                let estimate = f64::MAX;
                queue.give(number, vec![Open { bound: solver.bound, estimate, node }], task.board);
                break;
            }
            Ok(Fate::Stuck) => {
                let why = "a node of the tree could neither be closed nor divided";
                done.trouble = Some(SimplexError::Failed(why.into()));
                queue.lose(number, solver.bound);
            }
            Err(error) => {
                done.trouble = Some(error);
                queue.lose(number, solver.bound);
            }
        }
    }
    done.lp_seconds += master.map_or(0.0, |program| program.work().0) + spares.seconds();
    done
}

/// Solves one node.
struct NodeSolver<'a, 'b> {
    task: &'a Task<'b>,
    spares: &'a mut Spares<'b>,
    queue: &'a Queue<Node>,
    watch: &'a Watch<'a>,
    draws: &'a mut Draws,
    /// The node's bound, which is proven.
    bound: i64,
}

impl<'a, 'b> NodeSolver<'a, 'b> {
    fn solve(&mut self, master: &mut Master<'b>, node: &Node) -> Result<Fate> {
        master.load(&node.state)?;
        let enough = || self.watch.is_over();
        let mut history: Vec<f64> = Vec::new();
        let mut priced = 0;
        let mut is_limited = true;
        loop {
            // Above this optimum the node is closed.
            let limit = is_limited.then(|| self.task.incumbent.cost() as f64 - 1.0 + ROOM);
            let status = master.solve(&Limits { iterations: None, objective: limit, enough: &enough })?;
            if status == Status::Interrupted || self.watch.is_over() {
                return Ok(Fate::Left);
            }
            let cutoff = self.task.incumbent.cost();
            let is_infeasible = status == Status::Infeasible;
            let optimum = if status == Status::Optimal { master.objective() } else { f64::INFINITY };
            if optimum > cutoff as f64 - 1.0 {
                let duals = if is_infeasible { master.contradiction(cutoff)? } else { Some(master.duals()) };
                let Some((is_closed, missing)) = duals.and_then(|duals| self.close(master, node, &duals))
                else {
                    return Ok(Fate::Stuck);
                };
                if is_closed {
                    return Ok(Fate::Closed);
                }
                if !missing.is_empty() && priced < MOST_PRICED {
                    priced += 1;
                    master.add_edges(&missing)?;
                    continue;
                }
                if status != Status::Optimal {
                    // Dual values at the limit may prove too little, those of an optimum more.
                    if is_infeasible || !std::mem::take(&mut is_limited) {
                        return Ok(Fate::Stuck);
                    }
                    continue;
                }
            }
            history.push(optimum);
            let has_stalled = history.len() > ROUNDS && {
                let gain = optimum - history[history.len() - 1 - ROUNDS];
                gain < PART * (cutoff as f64 - 1.0 - optimum).max(0.0)
            };
            if !has_stalled && self.cut(master)? > 0 {
                master.purge(OLD, MANY_OLD)?;
                continue;
            }
            let duals = master.duals();
            let missing = self.close(master, node, &duals).map_or(Vec::new(), |closed| closed.1);
            if !missing.is_empty() && priced < MOST_PRICED {
                priced += 1;
                master.add_edges(&missing)?;
                history.clear();
                continue;
            }
            if let Some(tour) = whole_tour(master) {
                let cost = self.task.instance.check_tour(&tour);
                if cost.is_ok_and(|cost| self.task.incumbent.offer(cost, &tour)) {
                    continue;
                }
            }
            let threads = self.workers().threads;
            let question =
                self.spares.question(master, (self.task.solver, threads), cutoff as f64, self.watch)?;
            if let Some(question) = question {
                return self.divide(master, node, question).map(Fate::Divided);
            }
            // A whole solution that is not a tour violates cuts, which were not looked for if the last ones helped little.
            if !has_stalled || self.cut(master)? == 0 {
                return Ok(Fate::Stuck);
            }
        }
    }

    /// Closes the node if these dual values prove that it has no better tour. Returns whether it is closed, and the edges that are
    /// missing in the linear program, those with the lowest reduced costs; `None` if the values are absurd.
    fn close(&mut self, master: &Master<'_>, node: &Node, duals: &Duals) -> Option<(bool, Vec<Edge>)> {
        let (bound, missing) = master.bound(duals, self.task.left)?;
        let cutoff = self.task.incumbent.cost();
        let is_closed = bound > to_units(cutoff.saturating_sub(1));
        if is_closed && let Some(ledger) = self.task.ledger {
            let (cuts, branches) = master.active();
            let mut sets = vec![0; node.sets.len()];
            for &(branch, y) in &duals.branches {
                sets[node.sets.iter().position(|set| *set == branches[branch])?] += y;
            }
            ledger.close(node.place, duals, &cuts, sets);
        }
        self.bound = self.bound.max(to_cost(bound).min(cutoff));
        Some((is_closed, missing))
    }

    /// Returns the threads for separation: this one, and its share of those without a node.
    fn workers(&self) -> Workers<'a> {
        let threads = self.task.board.threads() / self.queue.busy().max(1);
        Workers { threads: threads.max(1), watch: self.watch }
    }

    /// Adds cuts that the solution violates. Returns how many.
    fn cut(&mut self, master: &mut Master<'_>) -> Result<usize> {
        let support = master.support();
        let mut found = subtours(&support);
        if found.len() < FEW_CUTS {
            let workers = self.workers();
            let (cuts, _) = master.active();
            let tight = support.tight(cuts.iter().flat_map(|cut| cut.sets().iter().cloned()));
            let rows: Vec<&Cut> = cuts.iter().map(|cut| &**cut).collect();
            found.extend(tighten(&support, &rows, self.draws, workers));
            found.extend(combs(&support, &tight, TRIALS, self.draws, workers));
            let starts: Vec<&Cut> = rows.iter().copied().chain(&found).collect();
            let stars = stars(&support, &starts, workers);
            found.extend(stars);
            let mut known = HashSet::new();
            found.retain(|cut| known.insert(cut.clone()));
            if found.is_empty() {
                found.extend(blossoms(&support, self.watch));
            }
            if found.is_empty() && support.len() <= MOST_WITH_LOCAL {
                found.extend(local(&support, &tight, PARTS, self.draws, workers));
            }
        }
        debug_assert!(
            self.task.incumbent.best().is_none_or(|(_, tour)| found.iter().all(|cut| cut.holds_for(&tour))),
            "a cut that a tour violates"
        );
        let found = found.into_iter().map(Arc::new).collect();
        let found = support.most_violated(found, MOST_CUTS);
        self.task.board.count_cuts(Family::count(&found));
        master.add_cuts(found)
    }

    /// Divides the node.
    fn divide(
        &mut self,
        master: &mut Master<'_>,
        node: &Node,
        (question, gains): (Question, [f64; 2]),
    ) -> Result<Vec<Open<Node>>> {
        let state = master.save()?;
        let places = match self.task.ledger {
            Some(ledger) => ledger.divide(node.place, question.clone()),
            None => [0; 2],
        };
        let estimate = master.objective();
        let child = |((first, gain), place): ((bool, f64), usize)| {
            let (mut state, mut sets) = (state.clone(), node.sets.clone());
            match &question {
                &Question::Edge(a, b) => state.fixed.push((Edge::of(self.task.instance, a, b), first)),
                Question::Set(set) => {
                    let side = if first { Side::Two } else { Side::FourOrMore };
                    let branch = Branch { set: set.clone(), side };
                    state.branches.push(branch.clone());
                    state.rows.push(Standing::Basic);
                    sets.push(branch);
                }
            }
            Open { bound: self.bound, estimate: estimate + gain, node: Node { place, state, sets } }
        };
        Ok([true, false].into_iter().zip(gains).zip(places).map(child).collect())
    }
}

/// Returns the tour that the solution is, if it is one.
fn whole_tour(master: &Master<'_>) -> Option<Vec<u32>> {
    let n = master.instance().len();
    let mut beside = vec![[u32::MAX; 2]; n];
    for (edge, &x) in master.edges().iter().zip(master.values()) {
        if x < WHOLE {
            continue;
        }
        if x < 1.0 - WHOLE {
            return None;
        }
        for (from, to) in [(edge.a, edge.b), (edge.b, edge.a)] {
            let free = beside[from as usize].iter_mut().find(|other| **other == u32::MAX)?;
            *free = to;
        }
    }
    let (mut tour, mut before, mut at) = (vec![0], 0, beside[0][0]);
    while at != 0 && tour.len() <= n {
        tour.push(at);
        let [one, other] = *beside.get(at as usize)?;
        (before, at) = (at, if one == before { other } else { one });
    }
    (tour.len() == n && at == 0).then_some(tour)
}
