//! One linear program of HiGHS.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, PoisonError};

use antwarp_instance::Enough;

use super::library::{DataIn, Highs, Shared, TURN};
use super::{Basis, Limits, Lines, Result, Simplex, SimplexError, Solution, Solver, Standing, Status};

/// Values of HiGHS's interface.
const ERROR: c_int = -1;
const SIMPLEX_INTERRUPT: c_int = 1;
/// Says that there is no limit on iterations.
const NO_LIMIT: c_int = c_int::MAX;
/// The dual simplex method on one thread, and the primal one. New columns leave the last solution feasible, as the primal method needs it;
/// new rows leave the dual values feasible.
const DUAL: c_int = 1;
const PRIMAL: c_int = 4;
/// How the dual simplex method weighs rows: as HiGHS chooses, which is by the steepest edge, or by the Devex method. Weights of the
/// steepest edge are computed anew for each basis that is set, which takes longer than a few iterations.
const CHOOSE: c_int = -1;
const DEVEX: c_int = 1;
/// How much costs are perturbed against stalling, as a part of what HiGHS does by default: more costs iterations that undo it, none
/// costs more where many solutions are equal, as on lattices.
const PERTURBATION: f64 = 0.1;
/// How HiGHS numbers where rows and columns are in a basis.
const STANDINGS: [(Standing, c_int); 3] = [(Standing::Lower, 0), (Standing::Basic, 1), (Standing::Upper, 2)];

/// A linear program of HiGHS. It belongs to one thread at a time.
pub(super) struct Program {
    handle: *mut c_void,
    library: Arc<Shared>,
    rows: usize,
    columns: usize,
    /// The iterations and the objective that were last set as limits.
    limits: (c_int, f64),
    /// The weights and the method that were last set.
    weights: c_int,
    method: c_int,
    /// Whether columns were added since the last solve, and whether anything else was changed.
    has_new_columns: bool,
    has_changed: bool,
    iterations: u64,
    /// During a solve, what its callback asks. HiGHS knows where this is.
    question: Box<Cell<*const Question<'static>>>,
}

// SAFETY: HiGHS keeps everything that belongs to a program in it, so it may move to another thread; `&Program` gives no access to it.
unsafe impl Send for Program {}

/// Calls a function of HiGHS with the program as its first argument, and checks that it did not fail.
macro_rules! call {
    ($program:expr, $name:ident($($argument:expr),*)) => {{
        // SAFETY: the handle is that of a program until it is dropped, and only one thread has the program. Call sites that pass
        // pointers say why these are valid.
        let status = unsafe { ($program.library.functions.$name)($program.handle $(, $argument)*) };
        if status == ERROR { Err(SimplexError::Failed(stringify!($name).into())) } else { Ok(()) }
    }};
}

impl Program {
    /// Makes a program without rows and columns, with the options of proofs.
    ///
    /// # Errors
    /// If HiGHS refuses.
    pub fn new(library: Arc<Shared>) -> Result<Program> {
        let handle = {
            let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: it takes no arguments, and the turn keeps other threads from creating programs at the same time.
            unsafe { (library.functions.create)() }
        };
        if handle.is_null() {
            return Err(SimplexError::Failed("create".into()));
        }
        let program = Program {
            handle,
            library,
            rows: 0,
            columns: 0,
            limits: (NO_LIMIT, f64::INFINITY),
            weights: CHOOSE,
            method: DUAL,
            has_new_columns: false,
            has_changed: true,
            iterations: 0,
            question: Box::new(Cell::new(std::ptr::null())),
        };
        // SAFETY: names and values are constant strings with a final 0, here and where limits and weights are set.
        for (name, value) in [(c"output_flag", 0), (c"log_to_console", 0)] {
            call!(program, set_bool(name.as_ptr(), value))?;
        }
        for (name, value) in [(c"presolve", c"off"), (c"solver", c"simplex"), (c"parallel", c"off")] {
            call!(program, set_string(name.as_ptr(), value.as_ptr()))?;
        }
        for (name, value) in [(c"threads", 1), (c"simplex_strategy", DUAL)] {
            call!(program, set_int(name.as_ptr(), value))?;
        }
        call!(program, set_double(c"dual_simplex_cost_perturbation_multiplier".as_ptr(), PERTURBATION))?;
        // SAFETY: the cell is in a box, so it stays where it is until the program is dropped, even if the program moves.
        let question = std::ptr::from_ref(&*program.question).cast_mut().cast();
        call!(program, set_callback(Some(interrupt), question))?;
        call!(program, start_callback(SIMPLEX_INTERRUPT))?;
        Ok(program)
    }

    fn set_limit_of_iterations(&mut self, iterations: c_int) -> Result<()> {
        if self.limits.0 != iterations {
            call!(self, set_int(c"simplex_iteration_limit".as_ptr(), iterations))?;
            self.limits.0 = iterations;
        }
        Ok(())
    }

    fn set_weights(&mut self, weights: c_int) -> Result<()> {
        if self.weights != weights {
            call!(self, set_int(c"simplex_dual_edge_weight_strategy".as_ptr(), weights))?;
            self.weights = weights;
        }
        Ok(())
    }

    fn set_method(&mut self, method: c_int) -> Result<()> {
        if self.method != method {
            call!(self, set_int(c"simplex_strategy".as_ptr(), method))?;
            self.method = method;
        }
        Ok(())
    }

    fn set_limit_of_objective(&mut self, objective: f64) -> Result<()> {
        if self.limits.1 != objective {
            call!(self, set_double(c"objective_bound".as_ptr(), objective))?;
            self.limits.1 = objective;
        }
        Ok(())
    }

    /// Deletes rows, or columns, and keeps the basis if what is deleted leaves one.
    fn delete(&mut self, is_deleted: &[bool], are_rows: bool) -> Result<()> {
        let basis = self.basis().ok();
        let mut mask: Vec<c_int> = is_deleted.iter().map(|&is_deleted| is_deleted.into()).collect();
        let count = is_deleted.iter().filter(|&&is_deleted| is_deleted).count();
        if are_rows {
            assert_eq!(mask.len(), self.rows, "one entry a row");
            // SAFETY: HiGHS reads and writes an entry of the mask for each of the program's rows: as many as it has.
            call!(self, delete_rows(mask.as_mut_ptr()))?;
            self.rows -= count;
        } else {
            assert_eq!(mask.len(), self.columns, "one entry a column");
            // SAFETY: the same for columns.
            call!(self, delete_cols(mask.as_mut_ptr()))?;
            self.columns -= count;
        }
        if let Some(mut basis) = basis {
            let list = if are_rows { &mut basis.rows } else { &mut basis.columns };
            let mut is_kept = is_deleted.iter().map(|is_deleted| !is_deleted);
            list.retain(|_| is_kept.next().unwrap_or(true));
            if basis.is_complete() {
                self.pass_basis(&basis)?;
            }
        }
        Ok(())
    }

    fn pass_basis(&mut self, basis: &Basis) -> Result<()> {
        assert_eq!(
            (basis.columns.len(), basis.rows.len()),
            (self.columns, self.rows),
            "a basis of this program"
        );
        let code = |standing: &Standing| match standing {
            Standing::Lower => 0,
            Standing::Basic => 1,
            Standing::Upper => 2,
        };
        let columns: Vec<c_int> = basis.columns.iter().map(code).collect();
        let rows: Vec<c_int> = basis.rows.iter().map(code).collect();
        // SAFETY: HiGHS reads an integer for each of the program's columns and rows: the arrays have as many entries, as asserted above.
        call!(self, set_basis(columns.as_ptr(), rows.as_ptr()))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the handle is that of this program, and nothing uses it any more.
        unsafe { (self.library.functions.destroy)(self.handle) }
    }
}

/// What is asked during a solve.
struct Question<'a> {
    enough: Enough<'a>,
}

/// Asks whether there is enough.
unsafe extern "C" fn interrupt(
    kind: c_int,
    _message: *const c_char,
    _out: *const c_void,
    answer: *mut DataIn,
    question: *mut c_void,
) {
    if kind == SIMPLEX_INTERRUPT && !answer.is_null() && !question.is_null() {
        // SAFETY: this is the program's cell, which lives as long as it. `solve` puts a question there that lives until the solve ends,
        // and takes it away after that.
        let question = unsafe { (*question.cast::<Cell<*const Question<'_>>>()).get().as_ref() };
        if question.is_some_and(|question| (question.enough)()) {
            // SAFETY: HiGHS passes a struct whose first field this is.
            unsafe { (*answer).is_interrupted = 1 };
        }
    }
}

impl Simplex for Program {
    fn add_columns(&mut self, costs: &[f64], columns: &Lines) -> Result<()> {
        assert_eq!(costs.len(), columns.len(), "one cost a column");
        columns.check();
        let Lines { lower, upper, starts, indices, values } = columns;
        let (count, entries) = (costs.len() as c_int, indices.len() as c_int);
        let (starts, indices, values) = (starts.as_ptr(), indices.as_ptr(), values.as_ptr());
        // SAFETY: `check` has asserted that limits and starts have an entry for each column, that indices and values have `entries`,
        // and that starts are within them. HiGHS copies them, and refuses indices of rows that do not exist.
        call!(
            self,
            add_cols(count, costs.as_ptr(), lower.as_ptr(), upper.as_ptr(), entries, starts, indices, values)
        )?;
        self.columns += costs.len();
        self.has_new_columns = true;
        Ok(())
    }

    fn add_rows(&mut self, rows: &Lines) -> Result<()> {
        rows.check();
        let Lines { lower, upper, starts, indices, values } = rows;
        let (count, entries) = (rows.len() as c_int, indices.len() as c_int);
        let (starts, indices, values) = (starts.as_ptr(), indices.as_ptr(), values.as_ptr());
        // SAFETY: `check` has asserted the same as for columns. HiGHS refuses indices of columns that do not exist.
        call!(self, add_rows(count, lower.as_ptr(), upper.as_ptr(), entries, starts, indices, values))?;
        self.rows += rows.len();
        self.has_changed = true;
        Ok(())
    }

    fn delete_rows(&mut self, is_deleted: &[bool]) -> Result<()> {
        self.delete(is_deleted, true)
    }

    fn delete_columns(&mut self, is_deleted: &[bool]) -> Result<()> {
        self.delete(is_deleted, false)
    }

    fn set_limits(&mut self, columns: &[(usize, f64, f64)]) -> Result<()> {
        self.has_changed = true;
        for &(column, lower, upper) in columns {
            call!(self, set_limits(column as c_int, lower, upper))?;
        }
        Ok(())
    }

    fn solve(&mut self, limits: &Limits<'_>) -> Result<Status> {
        let iterations = limits.iterations.map_or(NO_LIMIT, |most| most.min(NO_LIMIT as u32) as c_int);
        self.set_limit_of_iterations(iterations)?;
        self.set_weights(if limits.iterations.is_some() { DEVEX } else { CHOOSE })?;
        self.set_method(if self.has_new_columns && !self.has_changed { PRIMAL } else { DUAL })?;
        // After an error nothing is known of the last solution.
        (self.has_new_columns, self.has_changed) = (false, true);
        self.set_limit_of_objective(limits.objective.unwrap_or(f64::INFINITY))?;
        let question = Question { enough: limits.enough };
        // SAFETY: the callback reads the question only during `run`, and it is taken away before it goes out of scope.
        self.question.set(std::ptr::from_ref(&question).cast());
        let ran = call!(self, run());
        self.question.set(std::ptr::null());
        ran?;
        let mut iterations = 0;
        let name: &CStr = c"simplex_iteration_count";
        // SAFETY: the name is a constant string with a final 0, and the value is one integer, as that of this name is.
        call!(self, int_info(name.as_ptr(), &raw mut iterations))?;
        self.iterations = iterations.max(0) as u64;
        // SAFETY: the handle is that of this program until it is dropped.
        match unsafe { (self.library.functions.status)(self.handle) } {
            7 => {
                self.has_changed = false;
                Ok(Status::Optimal)
            }
            8 => Ok(Status::Infeasible),
            11 => Ok(Status::AboveLimit),
            14 => Ok(Status::IterationLimit),
            17 => Ok(Status::Interrupted),
            other => Err(SimplexError::Failed(format!("it ended with status {other}"))),
        }
    }

    fn solution(&mut self) -> Result<Solution> {
        // What is not filled in stays as it is, and is found to be no number.
        let (mut columns, mut duals) = (vec![f64::NAN; self.columns], vec![f64::NAN; self.rows]);
        let (mut column_duals, mut rows) = (columns.clone(), duals.clone());
        // SAFETY: HiGHS writes a value and a dual value for each of the program's columns and rows: the arrays have as many entries.
        call!(
            self,
            solution(columns.as_mut_ptr(), column_duals.as_mut_ptr(), rows.as_mut_ptr(), duals.as_mut_ptr())
        )?;
        // SAFETY: the handle is that of this program until it is dropped.
        let objective = unsafe { (self.library.functions.objective)(self.handle) };
        Ok(Solution { objective, columns, duals })
    }

    fn ray(&mut self) -> Result<Option<Vec<f64>>> {
        let (mut has, mut ray) = (0, vec![f64::NAN; self.rows]);
        // SAFETY: HiGHS writes one integer, and a number for each of the program's rows: the array has as many entries.
        call!(self, ray(&raw mut has, ray.as_mut_ptr()))?;
        if has == 0 {
            return Ok(None);
        }
        Ok(Some(ray))
    }

    fn basis(&mut self) -> Result<Basis> {
        let (mut columns, mut rows) = (vec![ERROR; self.columns], vec![ERROR; self.rows]);
        // SAFETY: HiGHS writes an integer for each of the program's columns and rows: the arrays have as many entries.
        call!(self, basis(columns.as_mut_ptr(), rows.as_mut_ptr()))?;
        let standing = |&code: &c_int| {
            let known = STANDINGS.iter().find(|known| known.1 == code);
            // Zero and nonbasic: they are for free columns, and where nobody knows.
            known.map(|known| known.0).or((code == 3 || code == 4).then_some(Standing::Lower))
        };
        let list = |codes: &[c_int]| {
            let all = codes.iter().map(standing).collect::<Option<Vec<_>>>();
            all.ok_or_else(|| SimplexError::Nonsense("a basis with unknown entries".into()))
        };
        Ok(Basis { columns: list(&columns)?, rows: list(&rows)? })
    }

    fn set_basis(&mut self, basis: &Basis) -> Result<()> {
        self.has_changed = true;
        self.pass_basis(basis)
    }

    fn iterations(&self) -> u64 {
        self.iterations
    }
}

impl Solver for Highs {
    fn create(&self) -> Result<Box<dyn Simplex>> {
        Ok(Box::new(Program::new(self.shared())?))
    }
}
