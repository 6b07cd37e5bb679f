//! Cutting planes at the root of the tree: raises the bound until cuts no longer help.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use antwarp_instance::{Enough, Instance, Watch};

use crate::duals::{Duals, Reduced, to_cost, to_units};
use crate::master::{Master, State};
use crate::pool::Pool;
use crate::pricing::{Edge, price};
use crate::separation::{Draws, Workers, blossoms, combs, local, segments, stars, subtours, tighten};
use crate::simplex::{Limits, SimplexError, Solver, Status};
use crate::support::LARGE;
use crate::{Board, Cut, Family, Incumbent, Support};

/// What is known at the root.
#[derive(Clone, Debug, Default)]
pub struct Root {
    /// No tour has a lower internal cost. At least 0: no cost is negative.
    pub bound: i64,
    /// The same in units of dual values.
    pub units: i128,
    /// The dual values that prove it.
    pub duals: Duals,
    /// The cuts that these belong to, by index.
    pub cuts: Vec<Arc<Cut>>,
    /// The linear program, for the tree; empty if something failed, or nothing was solved.
    pub state: State,
    /// The edges of the last solution with their values. They prove nothing.
    pub values: Vec<(Edge, f64)>,
    /// The optimum of the linear program, an internal cost. It proves nothing.
    pub objective: f64,
    /// The work that was done for it.
    pub work: Work,
    /// Why it ended early, if something failed.
    pub trouble: Option<SimplexError>,
}

/// The work done at the root of the tree: counts, and seconds of wall-clock time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Rounds of separation.
    pub rounds: usize,
    /// Cuts that were added, of each family, in the order of [`Family`].
    pub cuts: [u64; 3],
    /// Linear programs solved.
    pub solves: u64,
    /// Iterations of the simplex method.
    pub iterations: u64,
    /// Seconds in linear programs.
    pub lp: f64,
    /// Seconds in separation.
    pub separation: f64,
    /// Seconds in pricing.
    pub pricing: f64,
}

impl Work {
    fn count(&mut self, more: [u64; 3]) {
        self.cuts.iter_mut().zip(more).for_each(|(cuts, more)| *cuts += more);
    }

    /// Adds the work of another root.
    pub(crate) fn add(&mut self, other: &Work) {
        self.rounds += other.rounds;
        self.count(other.cuts);
        self.solves += other.solves;
        self.iterations += other.iterations;
        self.lp += other.lp;
        self.separation += other.separation;
        self.pricing += other.pricing;
    }
}

/// When the rounds of the root end.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Rounds end when the last 5 of them closed less than this part of the gap to the best tour, with local cuts of the largest parts.
    pub progress: f64,
    /// Whether a tree follows: then rounds do not end before it can start.
    pub is_for_tree: bool,
    /// Asked all the time: ends the rounds.
    pub enough: Enough<'a>,
    /// Ends the last pricing, which comes after the rounds and proves what they achieved.
    pub closing: Enough<'a>,
}

/// The most edges that a tree may start with, for each node.
pub(crate) const EDGES_PER_NODE: usize = 60;
/// The number of last rounds whose progress decides whether to continue.
const WINDOW: usize = 5;
/// Rounds between two pricings.
const PRICED_EVERY: usize = 6;
/// The most columns that pricing adds at a time, for each node.
const COLUMNS_PER_NODE: usize = 1;
/// Times that edges are priced before cuts are looked for again, at most.
const PRICINGS: usize = 3;
/// Cuts that have been slack for this many solves are deleted.
fn most_age(nodes: usize) -> u32 {
    if nodes < LARGE { 2 } else { 1 }
}
/// The most cuts that are added at a time: those that are violated most. More are soon slack, and slow the linear program down.
fn most_cuts(nodes: usize) -> usize {
    if nodes < LARGE { 3 * nodes / 10 } else { (nodes / 5).min(300).max(nodes / 16) }
}
/// Fewer are not worth the effort.
const LEAST_PURGED: usize = 30;
/// Combs and the like are looked for if fewer than this were found otherwise. Each solution of the linear program takes long, and only one
/// thread works at it: so as many cuts as possible should be found for it.
fn few_cuts(nodes: usize) -> usize {
    (nodes / 5).clamp(200, 500)
}
/// Choices of tight sets that are shrunk in a round to look for combs.
fn trials(nodes: usize) -> usize {
    (100_000 / nodes).clamp(12, 50)
}
/// Stars and local cuts, which take long, are looked for if there are fewer combs than this.
const ENOUGH_COMBS: usize = 80;
/// The nodes of the parts for local cuts: at first, by how many more once the rounds achieve little, and at last.
const FIRST_ATOMS: usize = 10;
const MORE_ATOMS: usize = 2;
const LAST_ATOMS: usize = 14;
/// The choices of parts: where other cuts were found, and where none was.
const CHOICES: usize = 4;
const MANY_CHOICES: usize = 8;
/// Local cuts are not looked for in larger instances: that takes too long to end in time.
pub(crate) const MOST_WITH_LOCAL: usize = 5000;

/// Raises the bound of an instance of closed tours without directions, which has at least 5 nodes. Columns come from near neighbours,
/// from these tours and from the best one; later from the whole instance. Cuts are looked for on the threads that `board` allows,
/// edges are priced on those of the pool. If something fails, [`Root::trouble`] says so, and the bound before it remains.
pub fn ascend(
    instance: &Instance,
    solver: &dyn Solver,
    tours: &[Vec<u32>],
    (incumbent, board): (&Incumbent, &Board),
    effort: &Effort<'_>,
) -> Root {
    // No cost is negative: dual values of 0 prove a bound of 0.
    let duals = Duals { nodes: vec![0; instance.len()], ..Duals::default() };
    let mut root = Root { duals, ..Root::default() };
    let watch = Watch::new(effort.enough);
    let mut best = tours.to_vec();
    best.extend(incumbent.best().map(|(_, tour)| tour));
    match Master::new(instance, solver) {
        Ok(master) => {
            let mut ascent = Ascent {
                master,
                incumbent,
                board,
                cost: incumbent.cost(),
                tours: best,
                watch: &watch,
                root: &mut root,
                pool: Pool::new(instance.len()),
                draws: Draws::new(1),
                history: Vec::new(),
                atoms: if instance.len() <= MOST_WITH_LOCAL { FIRST_ATOMS } else { LAST_ATOMS },
            };
            if let Err(trouble) = ascent.run(effort) {
                ascent.root.trouble = Some(trouble);
            }
            let (lp, solves, iterations) = ascent.master.work();
            ascent.root.work = Work { lp, solves, iterations, ..ascent.root.work };
        }
        Err(trouble) => root.trouble = Some(trouble),
    }
    root
}

struct Ascent<'a, 'r> {
    master: Master<'a>,
    incumbent: &'a Incumbent,
    board: &'a Board,
    /// The cost of the best tour when it was last looked at.
    cost: i64,
    /// Tours whose edges are columns; cuts are looked for among the segments of the first one.
    tours: Vec<Vec<u32>>,
    watch: &'a Watch<'a>,
    root: &'r mut Root,
    /// Cuts that were deleted.
    pool: Pool,
    draws: Draws,
    /// The optima after each round with these parts.
    history: Vec<f64>,
    /// The nodes of the parts for local cuts.
    atoms: usize,
}

impl Ascent<'_, '_> {
    fn run(&mut self, effort: &Effort<'_>) -> Result<(), SimplexError> {
        let edges = Master::first_edges(self.master.instance(), &self.tours);
        self.master.add_edges(&edges)?;
        if !self.solve(effort.enough)? {
            return Ok(());
        }
        loop {
            self.history.push(self.master.objective());
            self.root.work.rounds += 1;
            self.look_for_a_better_tour()?;
            let mut is_late = self.is_late(effort.progress);
            let is_due =
                is_late || self.root.work.rounds.is_multiple_of(PRICED_EVERY) || self.is_closed_by_lp();
            if is_due && !self.complete(effort)? {
                break;
            }
            let mut added = self.separate()?;
            if (is_late || added == 0) && self.atoms < LAST_ATOMS {
                self.atoms += MORE_ATOMS;
                self.history.clear();
                is_late = false;
                if added == 0 && !self.watch.is_over() && !self.is_closed_by_lp() {
                    continue;
                }
            }
            let mut priced = 0;
            if added == 0 {
                priced = self.price(self.watch)?;
                if self.is_closed() || self.watch.is_over() {
                    break;
                }
            }
            if priced == 0 && (added == 0 || is_late && !(effort.is_for_tree && self.cannot_branch())) {
                break;
            }
            if is_late {
                self.history.clear();
            }
            added += priced;
            debug_assert!(added > 0);
            if !self.solve(effort.enough)? {
                break;
            }
            let before = self.master.active().0;
            if self.master.purge(most_age(self.master.instance().len()), LEAST_PURGED)? > 0 {
                let kept: std::collections::HashSet<*const Cut> =
                    self.master.active().0.iter().map(Arc::as_ptr).collect();
                self.pool.add(before.into_iter().filter(|cut| !kept.contains(&Arc::as_ptr(cut))));
            }
        }
        self.finish(effort)
    }

    /// Adds the columns that the last solution lacks and solves again, a few times. Returns whether to go on. Cuts come later: without them
    /// the solution stays feasible, and the primal simplex method goes on from it.
    fn complete(&mut self, effort: &Effort<'_>) -> Result<bool, SimplexError> {
        for _ in 0..PRICINGS {
            let priced = self.price(self.watch)?;
            if self.is_closed() || self.watch.is_over() {
                return Ok(false);
            }
            if priced == 0 {
                break;
            }
            if !self.solve(effort.enough)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Solves the linear program. Returns whether to go on.
    fn solve(&mut self, enough: Enough<'_>) -> Result<bool, SimplexError> {
        if self.watch.is_over() {
            return Ok(false);
        }
        match self.master.solve(&Limits { iterations: None, objective: None, enough })? {
            Status::Optimal => Ok(true),
            Status::Interrupted => Ok(false),
            other => Err(SimplexError::Nonsense(format!("{other:?} at the root, where tours are solutions"))),
        }
    }

    /// Returns whether nothing can be better than the best tour, if the linear program is right.
    fn is_closed_by_lp(&self) -> bool {
        self.master.objective() > self.incumbent.cost() as f64 - 1.0 + 1e-3
    }

    /// Returns whether no tour is better than the best one.
    fn is_closed(&self) -> bool {
        self.root.bound >= self.incumbent.cost()
    }

    /// Returns whether the last rounds achieved little.
    fn is_late(&self, progress: f64) -> bool {
        let Some(&now) = self.history.last() else { return false };
        let Some(then) = self.history.len().checked_sub(WINDOW + 1) else { return false };
        now - self.history[then] < progress * (self.incumbent.cost() as f64 - now)
    }

    /// Returns whether a tree cannot start from the bound, because too many edges are left that a shorter tour may have.
    fn cannot_branch(&self) -> bool {
        let room = to_units(self.incumbent.cost() - 1) - self.root.units;
        let limit = i64::try_from(room).unwrap_or(i64::MAX / 4);
        let instance = self.master.instance();
        let most = EDGES_PER_NODE * instance.len();
        let reduced = Reduced::new(&self.root.duals, &self.root.cuts, &[]);
        let priced = reduced.and_then(|reduced| price(instance, &reduced, (limit, most), self.watch));
        priced.is_some_and(|priced| priced.limit < limit)
    }

    /// Looks for violated cuts and adds them. Returns how many.
    fn separate(&mut self) -> Result<usize, SimplexError> {
        let since = Instant::now();
        let support = self.master.support();
        let cuts = self.find(&support);
        debug_assert!(
            cuts.iter().all(|cut| self.tours.iter().all(|tour| cut.holds_for(tour))),
            "a cut that a tour violates"
        );
        self.root.work.separation += since.elapsed().as_secs_f64();
        let cuts = support.most_violated(cuts, most_cuts(support.len()));
        let counts = Family::count(&cuts);
        self.board.count_cuts(counts);
        self.root.work.count(counts);
        self.master.add_cuts(cuts)
    }

    fn find(&mut self, support: &Support) -> Vec<Arc<Cut>> {
        let n = support.len();
        let few = few_cuts(n);
        let workers = Workers { threads: self.board.threads(), watch: self.watch };
        let (pool, tour) = (&mut self.pool, self.tours.first());
        let (of_flows, mut found) = workers.both(
            || subtours(support),
            |workers| {
                let mut found = pool.violated(support, workers);
                found.extend(tour.iter().flat_map(|tour| segments(support, tour)).map(Arc::new));
                found
            },
        );
        found.extend(of_flows.into_iter().map(Arc::new));
        if found.len() >= few || self.watch.is_over() {
            return found;
        }
        let active = self.master.active().0;
        let draws = &mut self.draws;
        let is_alone = found.is_empty();
        let cuts: Vec<&Cut> = active.iter().map(|cut| &**cut).collect();
        let tight = support.tight(active.iter().flat_map(|cut| cut.sets().iter().cloned()));
        let (of_trees, mut others) = workers.both(
            || blossoms(support, self.watch),
            |workers| {
                let mut others = tighten(support, &cuts, draws, workers);
                let trials = trials(n) * if is_alone && others.is_empty() { 8 } else { 1 };
                others.extend(combs(support, &tight, trials, draws, workers));
                if others.len() < ENOUGH_COMBS && !self.watch.is_over() {
                    let starts: Vec<&Cut> = cuts.iter().copied().chain(&others).collect();
                    let found = stars(support, &starts, workers);
                    others.extend(found);
                }
                others
            },
        );
        if n <= MOST_WITH_LOCAL && others.len() < ENOUGH_COMBS && !self.watch.is_over() {
            let choices = if is_alone && others.is_empty() { MANY_CHOICES } else { CHOICES };
            others.extend(local(support, &tight, (self.atoms, choices), draws, workers));
        }
        found.extend(of_trees.into_iter().chain(others).map(Arc::new));
        let mut known = HashSet::new();
        found.retain(|cut| known.insert(cut.clone()));
        found
    }

    /// Takes the best tour again if it is another one: its edges become columns, and its segments are candidates for cuts.
    fn look_for_a_better_tour(&mut self) -> Result<(), SimplexError> {
        let cost = self.incumbent.cost();
        if cost >= self.cost {
            return Ok(());
        }
        self.cost = cost;
        let Some((_, tour)) = self.incumbent.best() else { return Ok(()) };
        let instance = self.master.instance();
        let steps = tour.iter().zip(tour.iter().cycle().skip(1));
        let edges: Vec<Edge> = steps.map(|(&a, &b)| Edge::of(instance, a, b)).collect();
        self.master.add_edges(&edges)?;
        self.tours = vec![tour];
        Ok(())
    }

    /// Prices all edges: raises the bound, and adds columns of negative reduced cost. Returns how many.
    fn price(&mut self, watch: &Watch<'_>) -> Result<usize, SimplexError> {
        let since = Instant::now();
        let duals = self.master.duals();
        let (cuts, _) = self.master.active();
        let Some(reduced) = Reduced::new(&duals, &cuts, &[]) else {
            return Err(SimplexError::Nonsense("absurd dual values".into()));
        };
        let priced = price(self.master.instance(), &reduced, (0, 0), watch);
        self.root.work.pricing += since.elapsed().as_secs_f64();
        let Some(mut priced) = priced else { return Ok(0) };
        if priced.bound > self.root.units {
            (self.root.units, self.root.bound) = (priced.bound, to_cost(priced.bound));
            (self.root.duals, self.root.cuts) = (duals, cuts);
            self.board.raise(self.root.bound);
        }
        self.drop_useless(&reduced, priced.bound)?;
        priced.edges.sort_by_key(|&(edge, reduced)| (reduced, edge));
        let most = (COLUMNS_PER_NODE * self.master.instance().len()).max(300);
        let lacking = priced.edges.iter().map(|(edge, _)| *edge).filter(|edge| !self.master.has(edge));
        let lacking: Vec<Edge> = lacking.take(most).collect();
        self.master.add_edges(&lacking)
    }

    /// Deletes columns that no better tour has: a tour with such an edge costs more than the bound and the edge's reduced cost.
    fn drop_useless(&mut self, reduced: &Reduced, bound: i128) -> Result<(), SimplexError> {
        let cost = self.incumbent.cost();
        if cost == i64::MAX {
            return Ok(());
        }
        let room = to_units(cost - 1) - bound;
        // With the edges of a tour there is always a solution.
        let steps = self.tours.iter().flat_map(|tour| tour.iter().zip(tour.iter().cycle().skip(1)));
        let kept: HashSet<(u32, u32)> = steps.map(|(&a, &b)| (a.min(b), a.max(b))).collect();
        let is_useless = |edge: &Edge, _| {
            !kept.contains(&(edge.a, edge.b)) && i128::from(reduced.of(edge.a, edge.b, edge.cost)) > room
        };
        self.master.drop_edges(is_useless)?;
        Ok(())
    }

    /// Adds the columns that the last solution lacks, and keeps the program for the tree.
    fn finish(&mut self, effort: &Effort<'_>) -> Result<(), SimplexError> {
        let last = Watch::new(effort.closing);
        // Without these columns the tree would start too low.
        while !self.is_closed() && self.price(&last)? > 0 && self.solve(effort.enough)? {}
        self.root.objective = self.master.objective();
        let values = self.master.edges().iter().zip(self.master.values());
        self.root.values = values.filter(|(_, x)| **x > 1e-9).map(|(edge, &x)| (*edge, x)).collect();
        self.root.state = self.master.save()?;
        Ok(())
    }
}
