//! A library that fails in the middle of a proof, and a proof that ends early: what is claimed is true, and errors are reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use antwarp_exact::certificate::{Certificate, check};
use antwarp_exact::simplex::{
    Basis, Highs, Limits, Lines, Result, Simplex, SimplexError, Solution, Solver, Status,
};
use antwarp_exact::{Board, Incumbent, Outcome, Settings, prove_with};
use antwarp_instance::{Enough, Instance};

use crate::{Draws, highs};

tests!(
    a_tree_with_whole_solutions_ends,
    a_library_that_fails_proves_nothing_false,
    a_tree_without_end_leaves_the_proof_of_the_root
);

/// Which calls fail.
#[derive(Clone, Copy)]
enum Failing {
    Never,
    /// Only this one.
    Once(u64),
    /// This one and all later ones.
    From(u64),
}

/// Makes programs of HiGHS of which some calls fail.
struct Unreliable {
    highs: Highs,
    failing: Failing,
    calls: Arc<AtomicU64>,
}

impl Unreliable {
    fn new(highs: &Highs, failing: Failing) -> Unreliable {
        Unreliable { highs: highs.clone(), failing, calls: Arc::default() }
    }
}

impl Solver for Unreliable {
    fn create(&self) -> Result<Box<dyn Simplex>> {
        let (failing, calls) = (self.failing, self.calls.clone());
        let mut program = Failable { reliable: self.highs.create()?, failing, calls };
        program.call()?;
        Ok(Box::new(program))
    }
}

struct Failable {
    reliable: Box<dyn Simplex>,
    failing: Failing,
    calls: Arc<AtomicU64>,
}

const MESSAGE: &str = "the test wants it";

impl Failable {
    /// Fails if it is time to; returns the program otherwise.
    fn call(&mut self) -> Result<&mut dyn Simplex> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let fails = match self.failing {
            Failing::Never => false,
            Failing::Once(at) => call == at,
            Failing::From(first) => call >= first,
        };
        if fails { Err(SimplexError::Failed(MESSAGE.into())) } else { Ok(&mut *self.reliable) }
    }
}

impl Simplex for Failable {
    fn add_columns(&mut self, costs: &[f64], columns: &Lines) -> Result<()> {
        self.call()?.add_columns(costs, columns)
    }

    fn add_rows(&mut self, rows: &Lines) -> Result<()> {
        self.call()?.add_rows(rows)
    }

    fn delete_rows(&mut self, is_deleted: &[bool]) -> Result<()> {
        self.call()?.delete_rows(is_deleted)
    }

    fn delete_columns(&mut self, is_deleted: &[bool]) -> Result<()> {
        self.call()?.delete_columns(is_deleted)
    }

    fn set_limits(&mut self, columns: &[(usize, f64, f64)]) -> Result<()> {
        self.call()?.set_limits(columns)
    }

    fn solve(&mut self, limits: &Limits<'_>) -> Result<Status> {
        self.call()?.solve(limits)
    }

    fn solution(&mut self) -> Result<Solution> {
        self.call()?.solution()
    }

    fn ray(&mut self) -> Result<Option<Vec<f64>>> {
        self.call()?.ray()
    }

    fn basis(&mut self) -> Result<Basis> {
        self.call()?.basis()
    }

    fn set_basis(&mut self, basis: &Basis) -> Result<()> {
        self.call()?.set_basis(basis)
    }

    fn iterations(&self) -> u64 {
        self.reliable.iterations()
    }
}

/// An instance whose tree has many nodes, of twice `half` nodes, a prime that leaves 5 if divided by 6: 1 along the edges of a generalised Petersen graph, 2 elsewhere. The graph has no Hamiltonian
/// cycle (G. Robertson, *Graphs minimal under girth, valency and connectivity constraints*, 1968), but three edges of the value 2/3 at
/// each node satisfy the linear program.
fn instance(half: usize) -> Instance {
    let n = 2 * half;
    let mut costs = vec![2; n * n];
    for at in 0..half {
        let (next, second) = ((at + 1) % half, (at + 2) % half);
        for (a, b) in [(at, next), (at, half + at), (half + at, half + second)] {
            (costs[a * n + b], costs[b * n + a]) = (1, 1);
        }
    }
    Instance::from_matrix("petersen", costs).unwrap()
}

/// Returns a tour that no exchange of two edges improves.
fn tour(instance: &Instance) -> Vec<u32> {
    let n = instance.len();
    let mut tour: Vec<u32> = (0..n as u32).collect();
    let mut is_shorter = true;
    while is_shorter {
        is_shorter = false;
        for i in 0..n - 1 {
            for j in i + 1..n {
                let (a, b, c, d) = (tour[i], tour[i + 1], tour[j], tour[(j + 1) % n]);
                let of = |a, b| i64::from(instance.distance(a, b));
                if of(a, c) + of(b, d) < of(a, b) + of(c, d) {
                    tour[i + 1..=j].reverse();
                    is_shorter = true;
                }
            }
        }
    }
    tour
}

struct Proven {
    outcome: Outcome,
    /// What the best tour costs.
    cost: i64,
    certificate: Option<Certificate>,
}

fn prove(solver: &dyn Solver, instance: &Instance, board: Arc<Board>, enough: Enough<'_>) -> Proven {
    let incumbent = Incumbent::new();
    let tour = tour(instance);
    incumbent.offer(instance.check_tour(&tour).unwrap(), &tour);
    let settings = Settings { board, threads: 2, keeps_certificate: true };
    let (outcome, certificate) = prove_with(solver, instance, &incumbent, &settings, enough);
    Proven { outcome, cost: incumbent.cost(), certificate }
}

/// Whole solutions that are not tours come up where the rounds of cuts have ended.
fn a_tree_with_whole_solutions_ends() {
    let Some(highs) = highs() else { return };
    let proven = prove(&highs, &instance(23), Arc::new(Board::new(2)), &|| false);
    assert_eq!((proven.outcome.bound, proven.cost, proven.outcome.trouble), (47, 47, None));
}

fn a_library_that_fails_proves_nothing_false() {
    let Some(highs) = highs() else { return };
    let instance = instance(11);
    let board = || Arc::new(Board::new(2));
    let reliable = Unreliable::new(&highs, Failing::Never);
    let proven = prove(&reliable, &instance, board(), &|| false);
    let (calls, optimum) = (reliable.calls.load(Ordering::Relaxed), proven.cost);
    assert_eq!((proven.outcome.bound, &proven.outcome.trouble), (optimum, &None));
    assert!(proven.outcome.nodes > 10, "{} nodes", proven.outcome.nodes);
    let mut draws = Draws(4);
    let mut reported = 0;
    for case in 0..20 {
        let at = draws.below(calls);
        let failing = if case % 2 == 0 { Failing::Once(at) } else { Failing::From(at) };
        let begin = Instant::now();
        let proven = prove(&Unreliable::new(&highs, failing), &instance, board(), &|| {
            begin.elapsed() > Duration::from_secs(60)
        });
        let (outcome, what) = (&proven.outcome, format!("call {at} of case {case}"));
        assert!(begin.elapsed() < Duration::from_secs(60), "{what} leads to a proof without end");
        assert!(outcome.root_bound <= optimum && outcome.bound <= optimum, "{what}: {outcome:?}");
        let is_claimed = outcome.bound >= proven.cost;
        assert!(is_claimed || outcome.trouble.is_some(), "{what} is not reported: {outcome:?}");
        if let Some(trouble) = &outcome.trouble {
            assert!(trouble.contains(MESSAGE), "{what}: {trouble}");
            reported += 1;
        }
        if let Some(certificate) = &proven.certificate {
            let verified = check(&instance, certificate).unwrap_or_else(|why| panic!("{what}: {why}"));
            assert!(verified.bound <= optimum && verified.is_optimal() <= is_claimed, "{what}");
        }
    }
    assert!(reported >= 7, "{reported} of 20 failures reported");
}

fn a_tree_without_end_leaves_the_proof_of_the_root() {
    let Some(highs) = highs() else { return };
    let instance = instance(11);
    let board = Arc::new(Board::new(1));
    let proven = prove(&highs, &instance, board.clone(), &|| board.nodes() > 3);
    let Outcome { bound, root_bound, trouble, .. } = proven.outcome;
    assert!(root_bound <= bound && bound < proven.cost && trouble.is_none());
    let verified = check(&instance, &proven.certificate.unwrap()).unwrap();
    assert_eq!((verified.bound, verified.nodes), (root_bound, 1));
    assert!(!verified.is_optimal());
}
