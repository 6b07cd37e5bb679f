//! Proofs that a tour is the shortest one: any instance in the form that [`antwarp_exact`] knows.

mod beside;

pub use beside::{When, solve};

use std::time::Instant;

use antwarp_exact::certificate::Certificate;
use antwarp_exact::simplex::{SimplexError, Solver};
use antwarp_exact::{Board, Incumbent, Outcome, Settings};

use super::SolveError;
use crate::engine::Proving;
use crate::instance::form::Form;
use crate::instance::{Enough, Instance};
use crate::memory;

/// Proves bounds on the tours of an instance, beside searches that offer their tours.
pub struct Prover<'a> {
    instance: &'a Instance,
    /// The forms that lead to closed tours without directions, the first one first.
    forms: Vec<Form>,
    incumbent: Incumbent,
}

/// What was proven about an instance.
#[derive(Debug)]
pub struct Proof {
    /// No tour has a lower internal cost; `None` if nothing was proven.
    pub bound: Option<i64>,
    /// The internal cost of the best tour known, and that tour, in the instance's numbering; `None` if no tour is known.
    pub best: Option<(i64, Vec<u32>)>,
    /// How it was found. Its costs are those of the [closed instance](Prover::closed).
    pub outcome: Outcome,
    /// What a program can check it by, if the settings ask for it: a proof about the [closed instance](Prover::closed).
    pub certificate: Option<Certificate>,
}

impl Proof {
    /// Returns whether no tour has a lower internal cost than this.
    pub fn proves(&self, cost: i64) -> bool {
        self.bound.is_some_and(|bound| bound >= cost)
    }

    /// Returns whether the best tour is proven to have the lowest internal cost.
    pub fn is_complete(&self) -> bool {
        self.best.as_ref().is_some_and(|(cost, _)| self.proves(*cost))
    }
}

/// Checks whether an instance can be proven; the inner error is what is missing for a proof.
///
/// # Errors
/// If the instance contradicts itself.
pub fn check(instance: &Instance) -> Result<Result<(), String>, SolveError> {
    let threads = rayon::current_num_threads();
    if let Err(shortage) = memory::check(Prover::memory(instance, threads)) {
        return Ok(Err(format!("not enough main memory for it: {shortage}")));
    }
    Ok(Prover::new(instance)?.check().map_err(|missing| missing.to_string()))
}

impl<'a> Prover<'a> {
    /// Prepares an instance.
    ///
    /// # Errors
    /// If its ends, fixed and forbidden edges contradict each other.
    pub fn new(instance: &'a Instance) -> Result<Prover<'a>, SolveError> {
        let mut forms = Vec::new();
        if instance.ends().is_some() || !instance.fixed_edges().is_empty() {
            instance.check_shape()?;
            forms.extend(Form::closed(instance));
        }
        let closed = forms.last().map_or(instance, Form::instance);
        if !closed.is_symmetric() {
            forms.push(Form::doubled(closed, None));
        }
        Ok(Prover { instance, forms, incumbent: Incumbent::new() })
    }

    /// Returns the bytes of main memory that the forms of an instance and a proof on this many threads need at least.
    pub fn memory(instance: &Instance, threads: usize) -> u64 {
        let n = instance.len() as u64 + 1;
        let is_shaped = instance.ends().is_some() || !instance.fixed_edges().is_empty();
        let closed = if is_shaped && instance.points().is_none() { 4 * n * n } else { 0 };
        let (nodes, doubled) = if instance.is_symmetric() { (n, 0) } else { (2 * n, 16 * n * n) };
        closed + doubled + antwarp_exact::memory(nodes as usize, threads)
    }

    /// Returns the instance of closed tours without directions that everything is proven about.
    pub fn closed(&self) -> &Instance {
        self.forms.last().map_or(self.instance, Form::instance)
    }

    /// Returns whether a proof is possible.
    ///
    /// # Errors
    /// What is missing for it.
    pub fn check(&self) -> Result<(), SimplexError> {
        antwarp_exact::check(self.closed())
    }

    /// Returns by how much the internal costs of tours of the instance exceed those of the closed one.
    pub fn offset(&self) -> i64 {
        self.forms.iter().map(Form::offset).sum()
    }

    /// Converts a tour of the closed instance to one of the instance; `None` if it is not a valid tour.
    pub fn outward(&self, tour: Vec<u32>) -> Option<Vec<u32>> {
        self.forms.iter().rev().try_fold(tour, |tour, form| form.outward(&tour))
    }

    /// Tells the proof of a tour of the instance; ignored if it is not a valid tour, or not better than the best one.
    pub fn offer(&self, tour: &[u32]) {
        let inward = self.forms.iter().try_fold(tour.to_vec(), |tour, form| form.inward(&tour));
        if let Some(tour) = inward
            && let Ok(cost) = self.closed().check_tour(&tour)
        {
            self.incumbent.offer(cost, &tour);
        }
    }

    /// Returns the internal cost, in the instance, of the best tour that was offered or found; `None` without one.
    pub fn cost(&self) -> Option<i64> {
        Some(self.incumbent.cost()).filter(|&cost| cost < i64::MAX).map(|cost| cost + self.offset())
    }

    /// Returns where a proof stands, in internal costs of the instance; `None` before there is a bound.
    fn standing(&self, board: &Board) -> Option<Proving> {
        // A proof may show more than the cost of the best tour: then no tour is better.
        let bound = board.bound().min(self.incumbent.cost());
        let bound_of_all = bound.saturating_add(self.offset());
        let proof = Proving { bound: bound_of_all, open: board.open(), threads: board.threads() };
        (bound > i64::MIN).then_some(proof)
    }

    /// Raises a lower bound by cutting planes alone, without a tree, as [`antwarp_exact::bound`] does. Returns the bound on the
    /// internal costs of the instance's tours, and how it was found.
    pub fn bound(
        &self,
        solver: &dyn Solver,
        board: &Board,
        until: (Option<Instant>, [Enough<'_>; 2]),
    ) -> (i64, Outcome) {
        let outcome = antwarp_exact::bound(solver, self.closed(), &self.incumbent, board, until);
        (outcome.bound.saturating_add(self.offset()), outcome)
    }

    /// Proves what it can until `enough` says so, or the best tour is proven to be the shortest. What is missing or failed is in
    /// [`Outcome::trouble`].
    pub fn prove(&self, settings: &Settings, enough: Enough<'_>) -> Proof {
        let (outcome, certificate) = antwarp_exact::prove(self.closed(), &self.incumbent, settings, enough);
        let best = self.incumbent.best().and_then(|(_, tour)| {
            let tour = self.outward(tour)?;
            Some((self.instance.check_tour(&tour).ok()?, tour))
        });
        let bound = Some(outcome.bound).filter(|&bound| bound > i64::MIN);
        let bound = bound.map(|bound| bound.saturating_add(self.offset()));
        Proof { bound, best, outcome, certificate }
    }
}
