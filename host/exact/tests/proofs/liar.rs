//! A library that lies: never is a bound above the optimum.

use std::sync::atomic::{AtomicU64, Ordering};

use antwarp_exact::root::{Effort, ascend};
use antwarp_exact::simplex::{
    Basis, Highs, Limits, Lines, Result, Simplex, SimplexError, Solution, Solver, Standing, Status,
};
use antwarp_exact::{Board, Incumbent};
use antwarp_instance::Instance;

use crate::{Draws, highs, instance, optimum};

tests!(
    an_honest_library_proves_small_optima,
    wrong_dual_values_prove_less,
    what_is_infeasible_is_not_believed,
    numbers_that_are_none_are_errors,
    an_invented_library_proves_nothing,
);

/// What is wrong with its answers.
#[derive(Clone, Copy, PartialEq)]
pub enum Lie {
    None,
    Duals,
    Infeasible,
    NotANumber,
}

/// HiGHS, with wrong answers.
pub struct Liar {
    pub highs: Highs,
    pub lie: Lie,
}

struct Lying {
    honest: Box<dyn Simplex>,
    lie: Lie,
    draws: Draws,
}

impl Solver for Liar {
    fn create(&self) -> Result<Box<dyn Simplex>> {
        Ok(Box::new(Lying { honest: self.highs.create()?, lie: self.lie, draws: Draws(5) }))
    }
}

impl Simplex for Lying {
    fn add_columns(&mut self, costs: &[f64], columns: &Lines) -> Result<()> {
        self.honest.add_columns(costs, columns)
    }

    fn add_rows(&mut self, rows: &Lines) -> Result<()> {
        self.honest.add_rows(rows)
    }

    fn delete_rows(&mut self, is_deleted: &[bool]) -> Result<()> {
        self.honest.delete_rows(is_deleted)
    }

    fn delete_columns(&mut self, is_deleted: &[bool]) -> Result<()> {
        self.honest.delete_columns(is_deleted)
    }

    fn set_limits(&mut self, columns: &[(usize, f64, f64)]) -> Result<()> {
        self.honest.set_limits(columns)
    }

    fn solve(&mut self, limits: &Limits<'_>) -> Result<Status> {
        let status = self.honest.solve(limits)?;
        Ok(if self.lie == Lie::Infeasible { Status::Infeasible } else { status })
    }

    fn solution(&mut self) -> Result<Solution> {
        let mut solution = self.honest.solution()?;
        match self.lie {
            Lie::Duals => {
                solution.objective += 1e5;
                solution.duals.iter_mut().for_each(|dual| {
                    *dual += self.draws.below(2000) as f64 / 100.0 - 7.0;
                    if self.draws.below(50) == 0 {
                        *dual *= -1e3;
                    }
                });
            }
            Lie::NotANumber => solution.duals.iter_mut().for_each(|dual| *dual = f64::NAN),
            Lie::None | Lie::Infeasible => {}
        }
        Ok(solution)
    }

    fn ray(&mut self) -> Result<Option<Vec<f64>>> {
        self.honest.ray()
    }

    fn basis(&mut self) -> Result<Basis> {
        self.honest.basis()
    }

    fn set_basis(&mut self, basis: &Basis) -> Result<()> {
        self.honest.set_basis(basis)
    }

    fn iterations(&self) -> u64 {
        self.honest.iterations()
    }
}

/// After so many questions there is enough.
const MOST_ASKED: u64 = 2000;

/// Returns, for each of some small instances, the bound, the optimum, and what went wrong.
fn bounds(solver: &dyn Solver, slack: i64) -> Vec<(i64, i64, Option<SimplexError>)> {
    let mut draws = Draws(17);
    let bound = |case: usize| {
        let instance: Instance = instance(&mut draws, 6 + case % 4);
        let n = instance.len() as u32;
        let best = optimum(&instance);
        let incumbent = Incumbent::new();
        let tour: Vec<u32> = (0..n).collect();
        incumbent.offer(best + slack, &tour);
        // A library that always finds something else keeps the rounds going.
        let asked = AtomicU64::new(0);
        let enough = || asked.fetch_add(1, Ordering::Relaxed) > MOST_ASKED;
        let effort = Effort { progress: 0.0, is_for_tree: false, enough: &enough, closing: &enough };
        let root = ascend(&instance, solver, &[tour], (&incumbent, &Board::new(1)), &effort);
        (root.bound, best, root.trouble)
    };
    (0..60).map(bound).collect()
}

fn an_honest_library_proves_small_optima() {
    let Some(highs) = highs() else { return };
    let bounds = bounds(&Liar { highs, lie: Lie::None }, 3);
    assert!(bounds.iter().all(|(bound, best, trouble)| bound <= best && trouble.is_none()), "{bounds:?}");
    let tight = bounds.iter().filter(|(bound, best, _)| bound == best).count();
    assert!(tight > 55, "{tight} of 60");
}

fn wrong_dual_values_prove_less() {
    let Some(highs) = highs() else { return };
    for slack in [0, 40] {
        let bounds = bounds(&Liar { highs: highs.clone(), lie: Lie::Duals }, slack);
        assert!(bounds.iter().all(|(bound, best, _)| bound <= best), "{bounds:?}");
    }
}

fn what_is_infeasible_is_not_believed() {
    let Some(highs) = highs() else { return };
    for (bound, best, trouble) in bounds(&Liar { highs, lie: Lie::Infeasible }, 5) {
        assert!(bound <= best);
        assert!(matches!(trouble, Some(SimplexError::Nonsense(_))), "{trouble:?}");
    }
}

fn numbers_that_are_none_are_errors() {
    let Some(highs) = highs() else { return };
    for (bound, best, trouble) in bounds(&Liar { highs, lie: Lie::NotANumber }, 5) {
        assert!(bound <= best);
        assert!(matches!(trouble, Some(SimplexError::Nonsense(_))), "{trouble:?}");
    }
}

/// Needs no library: it answers out of thin air.
struct Invented {
    rows: usize,
    columns: usize,
    draws: Draws,
}

struct Inventor;

impl Solver for Inventor {
    fn create(&self) -> Result<Box<dyn Simplex>> {
        Ok(Box::new(Invented { rows: 0, columns: 0, draws: Draws(3) }))
    }
}

impl Simplex for Invented {
    fn add_columns(&mut self, costs: &[f64], _: &Lines) -> Result<()> {
        self.columns += costs.len();
        Ok(())
    }

    fn add_rows(&mut self, rows: &Lines) -> Result<()> {
        self.rows += rows.len();
        Ok(())
    }

    fn delete_rows(&mut self, is_deleted: &[bool]) -> Result<()> {
        self.rows -= is_deleted.iter().filter(|&&is_deleted| is_deleted).count();
        Ok(())
    }

    fn delete_columns(&mut self, is_deleted: &[bool]) -> Result<()> {
        self.columns -= is_deleted.iter().filter(|&&is_deleted| is_deleted).count();
        Ok(())
    }

    fn set_limits(&mut self, _: &[(usize, f64, f64)]) -> Result<()> {
        Ok(())
    }

    fn solve(&mut self, _: &Limits<'_>) -> Result<Status> {
        Ok(if self.draws.below(50) == 0 { Status::AboveLimit } else { Status::Optimal })
    }

    fn solution(&mut self) -> Result<Solution> {
        let mut number = |size: u64| self.draws.below(size) as f64 - size as f64 / 3.0;
        let duals =
            (0..self.rows).map(|_| if number(100) > 60.0 { number(1 << 60) } else { number(40) }).collect();
        let columns = (0..self.columns).map(|_| number(1000) / 500.0).collect();
        Ok(Solution { objective: number(1000), columns, duals })
    }

    fn ray(&mut self) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    fn basis(&mut self) -> Result<Basis> {
        let standing =
            |draws: &mut Draws| [Standing::Lower, Standing::Basic, Standing::Upper][draws.below(3) as usize];
        let columns = (0..self.columns).map(|_| standing(&mut self.draws)).collect();
        Ok(Basis { columns, rows: (0..self.rows).map(|_| standing(&mut self.draws)).collect() })
    }

    fn set_basis(&mut self, _: &Basis) -> Result<()> {
        Ok(())
    }

    fn iterations(&self) -> u64 {
        1
    }
}

fn an_invented_library_proves_nothing() {
    for (bound, best, _) in bounds(&Inventor, 0) {
        assert!(bound <= best, "{bound} > {best}");
    }
}
