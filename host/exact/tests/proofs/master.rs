//! The linear program of a proof, solved by HiGHS.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use antwarp_exact::duals::{Branch, Side, to_units};
use antwarp_exact::pricing::price;
use antwarp_exact::simplex::{Basis, Limits, Lines, Result, Simplex, Solution, Solver, Status};
use antwarp_exact::{Cut, Master};
use antwarp_instance::{Enough, Watch, generate};

use crate::{Draws, highs, instance, optimum};

tests!(
    columns_come_in_until_the_bound_is_the_optimum_of_all,
    rows_and_columns_have_the_same_coefficients,
    a_row_is_its_cut_with_rows_of_nodes_added,
    a_node_is_the_same_after_another,
    an_infeasible_node_has_a_proof,
    limits_hold,
    a_limit_of_the_objective_leaves_a_proof,
    probing_changes_nothing,
);

const FREE: Limits<'static> = Limits { iterations: None, objective: None, enough: &|| false };

/// Adds subtours of two nodes next to each other and larger ones: not only violated ones.
fn some_cuts(n: u32) -> Vec<Arc<Cut>> {
    let runs = (0..n / 5).map(|k| Arc::new(Cut::subtour((5 * k..5 * k + 4).collect())));
    let combs = (0..n / 12).map(|k| {
        let at = 12 * k;
        let teeth = vec![vec![at, at + 6], vec![at + 1, at + 7, at + 8], vec![at + 2, at + 9]];
        Arc::new(Cut::comb(vec![at, at + 1, at + 2, at + 3], teeth))
    });
    runs.chain(combs).collect()
}

fn columns_come_in_until_the_bound_is_the_optimum_of_all() {
    let Some(highs) = highs() else { return };
    let instance = generate::uniform(300, 4).unwrap();
    let mut master = Master::new(&instance, &highs).unwrap();
    let tour: Vec<u32> = (0..300).collect();
    master.add_edges(&Master::first_edges(&instance, &[tour])).unwrap();
    master.add_cuts(some_cuts(300)).unwrap();
    let watch = Watch::new(&|| false);
    loop {
        assert_eq!(master.solve(&FREE), Ok(Status::Optimal));
        let reduced = master.reduced(&master.duals()).unwrap();
        let priced = price(&instance, &reduced, (0, 0), &watch).unwrap();
        let edges: Vec<_> = priced.edges.iter().map(|(edge, _)| *edge).collect();
        if master.add_edges(&edges).unwrap() == 0 {
            let gap = master.objective() - priced.bound as f64 / to_units(1) as f64;
            assert!((0.0..0.01).contains(&gap.abs()), "{gap}");
            return;
        }
    }
}

fn rows_and_columns_have_the_same_coefficients() {
    let Some(highs) = highs() else { return };
    let instance = generate::uniform(60, 1).unwrap();
    let edges = Master::first_edges(&instance, &[(0..60).collect()]);
    let optimum = |columns_first: bool| {
        let mut master = Master::new(&instance, &highs).unwrap();
        if columns_first {
            master.add_edges(&edges).unwrap();
        }
        master.add_cuts(some_cuts(60)).unwrap();
        master.add_edges(&edges).unwrap();
        assert_eq!(master.solve(&FREE), Ok(Status::Optimal));
        master.objective()
    };
    let (one, other) = (optimum(true), optimum(false));
    assert!((one - other).abs() < 1e-6 * one, "{one} {other}");
}

/// Keeps the rows and columns of a program that nobody solves.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Matrix>>);

#[derive(Default)]
struct Matrix {
    /// The least value of each row.
    lower: Vec<f64>,
    columns: usize,
    entries: HashMap<(usize, usize), f64>,
}

impl Kept {
    fn add(&self, lines: &Lines, are_rows: bool) {
        let mut matrix = self.0.lock().unwrap();
        let first = if are_rows { matrix.lower.len() } else { matrix.columns };
        for line in 0..lines.len() {
            let end = lines.starts.get(line + 1).map_or(lines.indices.len(), |&end| end as usize);
            for at in lines.starts[line] as usize..end {
                let other = lines.indices[at] as usize;
                let place = if are_rows { (first + line, other) } else { (other, first + line) };
                assert_eq!(
                    matrix.entries.insert(place, lines.values[at]),
                    None,
                    "an entry that is there twice"
                );
            }
        }
        if are_rows {
            matrix.lower.extend(&lines.lower);
        } else {
            matrix.columns += lines.len();
        }
    }
}

impl Solver for Kept {
    fn create(&self) -> Result<Box<dyn Simplex>> {
        Ok(Box::new(self.clone()))
    }
}

impl Simplex for Kept {
    fn add_columns(&mut self, _: &[f64], columns: &Lines) -> Result<()> {
        self.add(columns, false);
        Ok(())
    }
    fn add_rows(&mut self, rows: &Lines) -> Result<()> {
        self.add(rows, true);
        Ok(())
    }
    fn delete_rows(&mut self, _: &[bool]) -> Result<()> {
        unreachable!()
    }
    fn delete_columns(&mut self, _: &[bool]) -> Result<()> {
        unreachable!()
    }
    fn set_limits(&mut self, _: &[(usize, f64, f64)]) -> Result<()> {
        Ok(())
    }
    fn solve(&mut self, _: &Limits<'_>) -> Result<Status> {
        unreachable!()
    }
    fn solution(&mut self) -> Result<Solution> {
        unreachable!()
    }
    fn ray(&mut self) -> Result<Option<Vec<f64>>> {
        unreachable!()
    }
    fn basis(&mut self) -> Result<Basis> {
        unreachable!()
    }
    fn set_basis(&mut self, _: &Basis) -> Result<()> {
        unreachable!()
    }
    fn iterations(&self) -> u64 {
        0
    }
}

fn a_row_is_its_cut_with_rows_of_nodes_added() {
    let n = 60;
    let instance = generate::uniform(n, 1).unwrap();
    let tours: Vec<Vec<u32>> =
        [1, 7, 11, 13].iter().map(|by| (0..60).map(|k| k * by % 60).collect()).collect();
    let edges = Master::first_edges(&instance, &tours);
    let kept = Kept::default();
    let mut master = Master::new(&instance, &kept).unwrap();
    let cuts = some_cuts(60);
    // Some columns are older than the rows, some are newer.
    master.add_edges(&edges[..edges.len() / 2]).unwrap();
    master.add_cuts(cuts.clone()).unwrap();
    master.add_edges(&edges[edges.len() / 2..]).unwrap();
    let matrix = kept.0.lock().unwrap();
    let of = |row: usize, column: usize| matrix.entries.get(&(row, column)).copied().unwrap_or(0.0);
    assert_eq!((matrix.lower.len(), matrix.columns), (n + cuts.len(), edges.len()));
    for (row, cut) in (n..).zip(&cuts) {
        for tour in &tours {
            let steps = tour.iter().zip(tour.iter().cycle().skip(1)).map(|(&a, &b)| (a.min(b), a.max(b)));
            let columns = steps.map(|step| master.edges().iter().position(|e| (e.a, e.b) == step).unwrap());
            let left: f64 = columns.map(|column| of(row, column)).sum();
            let slack = cut.left_side_of_tour(tour) - cut.right_side();
            assert_eq!(left - matrix.lower[row], slack as f64, "the distance of a tour from the limit");
        }
        let in_border = edges.iter().filter(|edge| cut.coefficient(edge.a, edge.b) > 0).count();
        let entries = (0..edges.len()).filter(|&column| of(row, column) != 0.0).count();
        assert!(entries < in_border, "{entries} entries, {in_border} edges cross borders");
    }
}

fn a_node_is_the_same_after_another() {
    let Some(highs) = highs() else { return };
    let instance = generate::uniform(80, 6).unwrap();
    let mut master = Master::new(&instance, &highs).unwrap();
    master.add_edges(&Master::first_edges(&instance, &[(0..80).collect()])).unwrap();
    master.add_cuts(some_cuts(80)).unwrap();
    master.solve(&FREE).unwrap();
    let (root, at_root) = (master.save().unwrap(), master.objective());
    let edge = master.edges()[0];
    master.fix(edge, Some(true)).unwrap();
    let set: Arc<[u32]> = (0..20).collect::<Vec<u32>>().into();
    master.add_branch(Branch { set, side: Side::FourOrMore }).unwrap();
    master.solve(&FREE).unwrap();
    let (child, at_child) = (master.save().unwrap(), master.objective());
    assert!(at_child > at_root);
    // Another thread's program, with other columns and rows.
    let mut other = Master::new(&instance, &highs).unwrap();
    other.add_cuts(some_cuts(80).into_iter().skip(3)).unwrap();
    other.add_edges(&Master::first_edges(&instance, &[(0..80).collect()])).unwrap();
    for (state, optimum) in [(&child, at_child), (&root, at_root), (&child, at_child)] {
        other.load(state).unwrap();
        assert_eq!(other.solve(&FREE), Ok(Status::Optimal));
        assert!((other.objective() - optimum).abs() < 1e-6 * optimum);
        assert_eq!(other.work().2, 0, "the basis is optimal");
        assert_eq!(other.active().1, state.branches);
        let (bound, missing) = other.bound(&other.duals(), other.edges()).unwrap();
        assert!(missing.is_empty());
        assert!((bound as f64 / to_units(1) as f64 - optimum).abs() < 0.01);
    }
}

fn an_infeasible_node_has_a_proof() {
    let Some(highs) = highs() else { return };
    let instance = generate::uniform(40, 2).unwrap();
    let mut master = Master::new(&instance, &highs).unwrap();
    master.add_edges(&Master::first_edges(&instance, &[(0..40).collect()])).unwrap();
    master.add_cuts([Arc::new(Cut::subtour(vec![0, 1, 2]))]).unwrap();
    master.solve(&FREE).unwrap();
    // No edge leaves the three nodes but one.
    let border: Vec<_> = master.edges().iter().copied().filter(|edge| edge.a < 3 && edge.b >= 3).collect();
    for &edge in &border[1..] {
        master.fix(edge, Some(false)).unwrap();
    }
    assert_eq!(master.solve(&FREE), Ok(Status::Infeasible));
    let duals = master.contradiction(1_000_000).unwrap().unwrap();
    let (bound, _) = master.bound(&duals, master.edges()).unwrap();
    assert!(bound > to_units(1_000_000), "{bound}");
    for &edge in &border {
        master.fix(edge, None).unwrap();
    }
    assert_eq!(master.solve(&FREE), Ok(Status::Optimal));
}

fn limits_hold() {
    let Some(highs) = highs() else { return };
    let instance = generate::uniform(300, 7).unwrap();
    let edges = Master::first_edges(&instance, &[]);
    let solve = |objective, enough: Enough<'_>| {
        let mut master = Master::new(&instance, &highs).unwrap();
        master.add_edges(&edges).unwrap();
        let status = master.solve(&Limits { objective, enough, ..FREE }).unwrap();
        (status, master.objective(), master.work().2)
    };
    let (status, optimum, iterations) = solve(None, &|| false);
    assert_eq!(status, Status::Optimal);
    let (status, _, fewer) = solve(Some(optimum / 2.0), &|| false);
    assert_eq!(status, Status::AboveLimit);
    assert!(fewer < iterations);
    assert_eq!(solve(Some(optimum * 1.01), &|| false).0, Status::Optimal);
    let asked = AtomicU64::new(0);
    let (status, _, fewer) = solve(None, &|| asked.fetch_add(1, Ordering::Relaxed) >= 100);
    assert_eq!(status, Status::Interrupted);
    assert!(fewer < iterations);
}

fn a_limit_of_the_objective_leaves_a_proof() {
    let Some(highs) = highs() else { return };
    let instance = generate::uniform(300, 7).unwrap();
    let mut master = Master::new(&instance, &highs).unwrap();
    let edges = Master::first_edges(&instance, &[]);
    master.add_edges(&edges).unwrap();
    master.solve(&FREE).unwrap();
    // Without the edges of the solution, the optimum is far above.
    let used: Vec<_> = master
        .edges()
        .iter()
        .zip(master.values())
        .filter(|(_, x)| **x > 0.9)
        .map(|(edge, _)| *edge)
        .collect();
    let limit = master.objective() + 5.0;
    for &edge in used.iter().take(10) {
        master.fix(edge, Some(false)).unwrap();
    }
    assert_eq!(master.solve(&Limits { objective: Some(limit), ..FREE }), Ok(Status::AboveLimit));
    let (bound, _) = master.bound(&master.duals(), &edges).unwrap();
    assert!(bound as f64 / to_units(1) as f64 > limit - 1e-3);
}

fn probing_changes_nothing() {
    let Some(highs) = highs() else { return };
    let mut draws = Draws(9);
    for case in 0..20 {
        let instance = instance(&mut draws, 6 + case % 3);
        let best = optimum(&instance);
        let mut master = Master::new(&instance, &highs).unwrap();
        master.add_edges(&Master::first_edges(&instance, &[])).unwrap();
        if master.solve(&FREE) != Ok(Status::Optimal) {
            continue;
        }
        let optimum = master.objective();
        assert!(optimum <= best as f64 + 1e-6 || master.edges().len() < 15);
        let edge = master.edges()[draws.below(master.edges().len() as u64) as usize];
        let set: Arc<[u32]> = draws.set(instance.len() as u32).into();
        master.probe_edge(edge, &FREE, 1e6).unwrap();
        master.probe_set(&set, &FREE, 1e6).unwrap();
        assert_eq!(master.solve(&FREE), Ok(Status::Optimal));
        assert!((master.objective() - optimum).abs() < 1e-6, "case {case}");
    }
}
