//! A proof from its beginning to its end.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use antwarp_instance::{Enough, Instance, Watch};

use crate::certificate::{Certificate, Node};
use crate::duals::{Reduced, to_units};
use crate::pricing::{Edge, partners, price};
use crate::root::{EDGES_PER_NODE, Effort, Root, ascend};
use crate::simplex::{Highs, SimplexError, Solver};
use crate::tree::{Ledger, Task, branch_and_cut};
use crate::{Board, Cut, Incumbent, Outcome, Settings, few};

/// Instances of so few nodes are solved without a linear program.
const FEW: usize = 20;
/// Rounds of cuts at the root end once the last ones closed less than this part of the gap.
const PROGRESS: f64 = 0.05;
/// The same for instances of at least so many nodes: their trees close less than more rounds do.
const PROGRESS_OF_LARGE: f64 = 0.005;
const LARGE: usize = 2000;
/// How often to look for a better tour while the best one leaves too many edges.
const PATIENCE: Duration = Duration::from_millis(5);

/// Proves bounds on the tours of an instance until the best tour is the shortest one, or `enough` says so. `incumbent` must have a
/// tour if the instance has more than [`few::MOST`] nodes. Returns what was proven, and a certificate of it if `settings` ask for that
/// and there is one: if a tree is not complete, it proves only the root's bound. The instance has closed tours without directions,
/// maybe with partners. Better tours that the proof finds go to `incumbent`.
///
/// Linear programs are solved by the [HiGHS library](Highs) of the machine. Without one, instances of up to [`few::MOST`] nodes are
/// solved [otherwise](few); of larger ones nothing is proven, and [`Outcome::trouble`] says what is missing.
pub fn prove(
    instance: &Instance,
    incumbent: &Incumbent,
    settings: &Settings,
    enough: Enough<'_>,
) -> (Outcome, Option<Certificate>) {
    let (is_small, has_tour) = (instance.len() <= few::MOST, incumbent.cost() < i64::MAX);
    if instance.len() <= FEW || is_small && !has_tour {
        return few::prove(instance, incumbent, settings, enough);
    }
    match Highs::find() {
        _ if !has_tour => nothing("there is no tour to begin with".into()),
        Ok(highs) => prove_with(&highs, instance, incumbent, settings, enough),
        Err(_) if is_small => few::prove(instance, incumbent, settings, enough),
        Err(missing) => nothing(missing.to_string()),
    }
}

/// Returns that nothing was proven, and why.
fn nothing(trouble: String) -> (Outcome, Option<Certificate>) {
    let outcome = Outcome { bound: i64::MIN, root_bound: i64::MIN, ..Outcome::default() };
    (Outcome { trouble: Some(trouble), ..outcome }, None)
}

/// Does the same, with linear programs solved by this solver, for an instance of at least 5 nodes. `incumbent` must have a tour.
pub fn prove_with(
    solver: &dyn Solver,
    instance: &Instance,
    incumbent: &Incumbent,
    settings: &Settings,
    enough: Enough<'_>,
) -> (Outcome, Option<Certificate>) {
    let begin = Instant::now();
    let board = &*settings.board;
    let progress = if instance.len() < LARGE { PROGRESS } else { PROGRESS_OF_LARGE };
    let effort = Effort { progress, is_for_tree: true, enough, closing: enough };
    let mut root = ascend(instance, solver, &[], (incumbent, board), &effort);
    let mut outcome = Outcome {
        bound: root.bound.min(incumbent.cost()),
        root_bound: root.bound,
        lp_seconds: root.work.lp,
        root_seconds: begin.elapsed().as_secs_f64(),
        trouble: root.trouble.take().map(|trouble| trouble.to_string()),
        ..Outcome::default()
    };
    if let Some(contradiction) = contradiction(root.bound, incumbent.cost()) {
        let outcome =
            Outcome { bound: i64::MIN, root_bound: i64::MIN, trouble: Some(contradiction), ..outcome };
        return (outcome, None);
    }
    let mut tree = None;
    if root.bound < incumbent.cost() && outcome.trouble.is_none() {
        let edges = wait_for_edges(instance, &root, incumbent, board, enough);
        if edges.is_none() && !enough() {
            outcome.trouble =
                Some("the tour is so far above the bound that too many edges are left".to_string());
        }
        if let Some((left, fixed)) = edges {
            board.begin_to_branch();
            let ledger = settings.keeps_certificate.then(Ledger::default);
            if let Some(ledger) = &ledger {
                ledger.reduce(&root.duals, &root.cuts);
            }
            let mut state = root.state.clone();
            // The root's program may have columns that no better tour has.
            let known: HashSet<Edge> = left.iter().copied().collect();
            let basis = state.basic.iter().chain(&state.upper).copied();
            let useless: Vec<Edge> = basis.filter(|edge| !known.contains(edge)).collect();
            state.fixed.extend(useless.into_iter().map(|edge| (edge, false)));
            state.fixed.extend(fixed.into_iter().map(|edge| (edge, true)));
            let (bound, optimum) = (root.bound, root.objective);
            let task = Task {
                instance,
                solver,
                incumbent,
                left: &left,
                root: state,
                bound,
                optimum,
                board,
                ledger: ledger.as_ref(),
            };
            let ended = branch_and_cut(&task, settings.threads, enough);
            outcome.bound = ended.bound;
            outcome.lp_seconds += ended.lp_seconds;
            outcome.trouble = ended.trouble.map(|trouble| trouble.to_string());
            tree = ledger.and_then(Ledger::into_parts);
        }
    }
    let certificate = if settings.keeps_certificate {
        match tree.filter(|_| outcome.bound >= incumbent.cost()) {
            Some(parts) => certificate(instance, incumbent, i64::MAX, Some(parts)),
            // Of a tree that is not complete, only the root's bound can be checked.
            None => certificate(instance, incumbent, root.bound, root_alone(&root)),
        }
    } else {
        None
    };
    outcome.nodes = board.nodes();
    outcome.cuts = board.cuts();
    outcome.seconds = begin.elapsed().as_secs_f64();
    (outcome, certificate)
}

/// Returns what is wrong if a tour costs less than a bound on all tours. That is an error in this program: nothing is proven then.
pub(crate) fn contradiction(bound: i64, cost: i64) -> Option<String> {
    (bound > cost)
        .then(|| format!("a bound of {bound} contradicts a tour of {cost}: this is a bug, please report it"))
}

/// Checks whether [`prove`] can prove that a tour of an instance is the shortest one: an instance of more than [`few::MOST`] nodes
/// needs the HiGHS library.
///
/// # Errors
/// What is missing for it.
pub fn check(instance: &Instance) -> Result<(), SimplexError> {
    if instance.len() <= few::MOST { Ok(()) } else { Highs::find().map(drop) }
}

/// Returns the edges that a tour better than the best one may have, and those that each has, once that tour is so good that there are
/// not too many; `None` if there was enough before, or nobody searches for tours any more.
fn wait_for_edges(
    instance: &Instance,
    root: &Root,
    incumbent: &Incumbent,
    board: &Board,
    enough: Enough<'_>,
) -> Option<(Vec<Edge>, Vec<Edge>)> {
    let watch = Watch::new(enough);
    let reduced = Reduced::new(&root.duals, &root.cuts, &[])?;
    let mut tried = i64::MAX;
    loop {
        let is_last = !board.is_searching();
        let cutoff = incumbent.cost();
        if cutoff < tried {
            tried = cutoff;
            let room = to_units(cutoff - 1) - root.units;
            let limit = i64::try_from(room).unwrap_or(i64::MAX / 4);
            let most = EDGES_PER_NODE * instance.len();
            let priced = price(instance, &reduced, (limit, most), &watch)?;
            if priced.limit >= limit {
                let is_fixed = |reduced: i64| i128::from(reduced) < -room;
                let fixed = priced.edges.iter().filter(|edge| is_fixed(edge.1)).map(|edge| edge.0).collect();
                let left = priced.edges.iter().map(|edge| edge.0).chain(partners(instance)).collect();
                return Some((left, fixed));
            }
        }
        if is_last || watch.is_over() {
            return None;
        }
        std::thread::sleep(PATIENCE);
    }
}

/// Returns the parts of a certificate of the root's bound.
fn root_alone(root: &Root) -> Option<(Vec<Arc<Cut>>, Vec<Node>)> {
    if root.duals.nodes.is_empty() {
        return None;
    }
    let ledger = Ledger::default();
    ledger.close(crate::certificate::Tree::ROOT, &root.duals, &root.cuts, Vec::new());
    ledger.into_parts()
}

fn certificate(
    instance: &Instance,
    incumbent: &Incumbent,
    bound: i64,
    parts: Option<(Vec<Arc<Cut>>, Vec<Node>)>,
) -> Option<Certificate> {
    let (cost, tour) = incumbent.best()?;
    let (cuts, nodes) = parts?;
    let cuts = cuts.iter().map(|cut| (Cut::clone(cut), cut.right_side())).collect();
    Some(Certificate { fingerprint: instance.fingerprint(), tour, cost, bound: bound.min(cost), cuts, nodes })
}
