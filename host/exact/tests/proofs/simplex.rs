//! HiGHS through the trait.

use antwarp_exact::simplex::{Highs, Limits, Lines, Simplex, SimplexError, Solver, Standing, Status};

use crate::highs;

tests!(
    a_missing_library_is_named,
    a_library_that_is_not_highs_is_named,
    a_program_is_solved_again_after_every_change,
    a_contradiction_has_a_ray,
    a_limit_on_iterations_holds,
    programs_live_on_many_threads,
);

const FREE: Limits<'static> = Limits { iterations: None, objective: None, enough: &|| false };

fn a_missing_library_is_named() {
    let error = Highs::load(&["/nowhere/libhighs.so"]).err().unwrap();
    assert!(matches!(error, SimplexError::Missing { .. }));
    let text = error.to_string();
    assert!(text.contains("/nowhere/libhighs.so") && text.contains("ANTWARP_HIGHS"), "{text}");
}

fn a_library_that_is_not_highs_is_named() {
    let Err(error) = Highs::load(&["libc.so.6"]) else { panic!("the C library is not HiGHS") };
    if cfg!(target_os = "linux") {
        assert_eq!(error.to_string(), "libc.so.6 is not HiGHS 1.7 or later: it has no function Highs_create");
    }
}

/// Minimise x + 2 y with x + y >= 3, both between 0 and 2.
fn small(highs: &Highs) -> Box<dyn Simplex> {
    let mut program = highs.create().unwrap();
    let mut rows = Lines::default();
    rows.push((3.0, f64::INFINITY), []);
    program.add_rows(&rows).unwrap();
    let mut columns = Lines::default();
    columns.push((0.0, 2.0), [(0, 1.0)]);
    columns.push((0.0, 2.0), [(0, 1.0)]);
    program.add_columns(&[1.0, 2.0], &columns).unwrap();
    program
}

fn a_program_is_solved_again_after_every_change() {
    let Some(highs) = highs() else { return };
    let mut program = small(&highs);
    assert_eq!(program.solve(&FREE), Ok(Status::Optimal));
    let solution = program.solution().unwrap();
    assert_eq!((solution.objective, solution.columns, solution.duals), (4.0, vec![2.0, 1.0], vec![2.0]));
    let first = program.basis().unwrap();
    assert_eq!(first.columns, [Standing::Upper, Standing::Basic]);
    assert!(first.is_complete());

    let mut rows = Lines::default();
    rows.push((f64::NEG_INFINITY, 1.0), [(0, 1.0)]);
    program.add_rows(&rows).unwrap();
    assert_eq!(program.solve(&FREE), Ok(Status::Optimal));
    let solution = program.solution().unwrap();
    assert_eq!((solution.objective, solution.duals), (5.0, vec![2.0, -1.0]));

    let mut columns = Lines::default();
    columns.push((0.0, 1.0), [(0, 1.0)]);
    program.add_columns(&[0.5], &columns).unwrap();
    assert_eq!(program.solve(&FREE), Ok(Status::Optimal));
    assert_eq!(program.solution().unwrap().objective, 3.5);

    program.delete_rows(&[false, true]).unwrap();
    program.delete_columns(&[false, false, true]).unwrap();
    program.set_basis(&first).unwrap();
    assert_eq!(program.solve(&FREE), Ok(Status::Optimal));
    assert_eq!(program.solution().unwrap().objective, 4.0);
    assert_eq!(program.iterations(), 0, "the basis was the optimal one");

    program.set_limits(&[(0, 0.0, 1.0)]).unwrap();
    assert_eq!(program.solve(&FREE), Ok(Status::Optimal));
    assert_eq!(program.solution().unwrap().objective, 5.0);
}

fn a_contradiction_has_a_ray() {
    let Some(highs) = highs() else { return };
    let mut program = small(&highs);
    program.set_limits(&[(0, 0.0, 0.5), (1, 0.0, 2.0)]).unwrap();
    assert_eq!(program.solve(&FREE), Ok(Status::Infeasible));
    let ray = program.ray().unwrap().unwrap();
    assert!(ray.len() == 1 && ray[0].abs() > 1e-9, "{ray:?}");
}

fn a_limit_on_iterations_holds() {
    let Some(highs) = highs() else { return };
    let mut program = small(&highs);
    assert_eq!(program.solve(&Limits { iterations: Some(0), ..FREE }), Ok(Status::IterationLimit));
    assert_eq!(program.solve(&FREE), Ok(Status::Optimal));
}

fn programs_live_on_many_threads() {
    let Some(highs) = highs() else { return };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let mut program = small(&highs);
                    assert_eq!(program.solve(&FREE), Ok(Status::Optimal));
                    assert_eq!(program.solution().unwrap().objective, 4.0);
                }
            });
        }
    });
}
