//! The linear program of a proof: columns for some edges, rows for the degrees of nodes, cuts and branches.
//!
//! `minimise sum of cost(e) x(e)`, with `x` between 0 and 1, `sum of x(e) = 2` over the edges at each node, and cuts. Columns and rows
//! are added when they are needed and deleted when they are not; each solve starts from the last basis.
//!
//! At the root, columns come from the whole instance. In the tree they come from the edges that are left, which better tours may have,
//! and a [`State`] says what makes up a node of the tree, so that any thread's program can go on with it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use antwarp_instance::{Instance, quadrant};

use crate::duals::{Branch, Duals, Reduced, Side, UNIT_BITS};
use crate::pricing::{Edge, partners};
use crate::simplex::{
    Basis, Limits, Lines, Result, Simplex, SimplexError, Solution, Solver, Standing, Status,
};
use crate::{Cut, Support};

/// Neighbours of each node whose edges are columns from the start.
const NEIGHBORS: usize = 8;
/// Costs are divided by a power of two, until most columns cost at most this: tolerances of the library are absolute.
const LARGE_COST: f64 = 8192.0;
/// By how much an optimal solution may violate the limits of columns and the rows of nodes.
const TOLERANCE: f64 = 1e-4;

/// The most rounds over the nodes of a row to make it sparser.
const SPARSER: usize = 3;

/// How many times the rows of nodes are added to another row: those that are.
type Shift = Vec<(u32, i32)>;

/// A row beyond those of degrees.
#[derive(Clone, Debug)]
pub enum Row {
    /// A cut.
    Cut(Arc<Cut>),
    /// A branch on a set.
    Branch(Branch),
}

impl Row {
    /// Returns the sets whose borders the row counts.
    fn sets(&self) -> &[Arc<[u32]>] {
        match self {
            Row::Cut(cut) => cut.sets(),
            Row::Branch(branch) => std::slice::from_ref(&branch.set),
        }
    }

    fn limits(&self) -> (f64, f64) {
        match self {
            Row::Cut(cut) => (cut.right_side() as f64, f64::INFINITY),
            Row::Branch(Branch { side: Side::Two, .. }) => (f64::NEG_INFINITY, 2.0),
            Row::Branch(Branch { side: Side::FourOrMore, .. }) => (4.0, f64::INFINITY),
        }
    }

    /// Returns what is the same for the same row: of cuts, the object.
    fn key(&self) -> Key {
        match self {
            Row::Cut(cut) => Key::Cut(Arc::as_ptr(cut).addr()),
            Row::Branch(branch) => Key::Branch(branch.clone()),
        }
    }
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Cut(usize),
    Branch(Branch),
}

/// What a node of the tree consists of. Everything else is the same in all nodes.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Edges that every tour of the node has (true), or none has (false).
    pub fixed: Vec<(Edge, bool)>,
    /// The sides of the sets that were branched on.
    pub branches: Vec<Branch>,
    /// The cuts that are rows.
    pub cuts: Vec<Arc<Cut>>,
    /// The edges whose columns are in the basis.
    pub basic: Vec<Edge>,
    /// The edges outside of the basis at 1.
    pub upper: Vec<Edge>,
    /// Where the rows are: of the nodes, of the cuts, of the branches.
    pub rows: Vec<Standing>,
}

/// The linear program: a column for each of some edges, a row for each node, each cut and each branch.
pub struct Master<'a> {
    instance: &'a Instance,
    simplex: Box<dyn Simplex>,
    /// Costs are divided by this.
    scale: f64,
    edges: Vec<Edge>,
    columns: HashMap<(u32, u32), u32>,
    /// The columns at each node.
    beside: Vec<Vec<u32>>,
    /// What the columns are fixed at, if they are.
    fixed: HashMap<u32, bool>,
    /// Those fixed in all tours.
    is_partner: HashSet<u32>,
    rows: Vec<Row>,
    /// For each row, how many times the rows of nodes are added to it in the library.
    shifts: Vec<Shift>,
    /// For each row, how many solves in a row it has been slack.
    ages: Vec<u32>,
    known: HashSet<Arc<Cut>>,
    solution: Solution,
    /// Seconds in the library.
    seconds: f64,
    /// Solves and iterations.
    solves: u64,
    iterations: u64,
}

impl<'a> Master<'a> {
    /// Makes the program of an instance of closed tours without directions, with the rows of nodes and the edges of partners only,
    /// which are fixed at 1 for good.
    ///
    /// # Errors
    /// If the library fails.
    pub fn new(instance: &'a Instance, solver: &dyn Solver) -> Result<Master<'a>> {
        let n = instance.len();
        let mut simplex = solver.create()?;
        let mut degrees = Lines::default();
        (0..n).for_each(|_| degrees.push((2.0, 2.0), []));
        simplex.add_rows(&degrees)?;
        let mut master = Master {
            instance,
            simplex,
            scale: scale_of(instance),
            edges: Vec::new(),
            columns: HashMap::new(),
            beside: vec![Vec::new(); n],
            fixed: HashMap::new(),
            is_partner: HashSet::new(),
            rows: Vec::new(),
            shifts: Vec::new(),
            ages: Vec::new(),
            known: HashSet::new(),
            solution: Solution { duals: vec![0.0; n], ..Solution::default() },
            seconds: 0.0,
            solves: 0,
            iterations: 0,
        };
        let always: Vec<Edge> = partners(instance).collect();
        master.add_edges(&always)?;
        let limits: Vec<_> = (0..always.len()).map(|column| (column, 1.0, 1.0)).collect();
        master.simplex.set_limits(&limits)?;
        master.is_partner.extend(0..always.len() as u32);
        Ok(master)
    }

    /// Returns edges to start with, each once, ascending: those to near neighbours of each node, and those of closed tours.
    pub fn first_edges(instance: &Instance, tours: &[Vec<u32>]) -> Vec<Edge> {
        let n = instance.len();
        let lists = quadrant(instance, NEIGHBORS.min(n.saturating_sub(1)));
        let near = (0..n as u32).flat_map(|a| lists.of(a).iter().map(move |&b| (a, b)));
        let steps = tours.iter().flat_map(|tour| tour.iter().zip(tour.iter().cycle().skip(1)));
        let all =
            near.chain(steps.map(|(&a, &b)| (a, b))).filter(|&(a, b)| a != b && instance.has_edge(a, b));
        let mut edges: Vec<Edge> = all.map(|(a, b)| Edge::of(instance, a, b)).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Returns the instance whose program it is.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// Returns the edges that are columns.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns whether an edge is a column.
    pub fn has(&self, edge: &Edge) -> bool {
        self.columns.contains_key(&(edge.a, edge.b))
    }

    /// Returns the rows beyond those of degrees, in the order of the program.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the number of cuts that are rows.
    pub fn cuts(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row, Row::Cut(_))).count()
    }

    /// Returns the seconds spent in the library, the number of solves, and that of iterations, in this order.
    pub fn work(&self) -> (f64, u64, u64) {
        (self.seconds, self.solves, self.iterations)
    }

    /// Adds those of these edges that are not columns yet. Returns how many.
    ///
    /// # Errors
    /// If the library fails.
    pub fn add_edges(&mut self, edges: &[Edge]) -> Result<usize> {
        let mut fresh = Vec::new();
        for &edge in edges {
            let column = (self.edges.len() + fresh.len()) as u32;
            if let std::collections::hash_map::Entry::Vacant(entry) = self.columns.entry((edge.a, edge.b)) {
                entry.insert(column);
                fresh.push(edge);
            }
        }
        if fresh.is_empty() {
            return Ok(0);
        }
        // The sets that each end is in, in order, with their rows.
        let mut sets: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        fresh.iter().for_each(|edge| {
            sets.entry(edge.a).or_default();
            sets.entry(edge.b).or_default();
        });
        let mut set = 0;
        for (row, of) in (0..).zip(&self.rows) {
            for nodes in of.sets() {
                for node in nodes.iter() {
                    if let Some(list) = sets.get_mut(node) {
                        list.push((set, row));
                    }
                }
                set += 1;
            }
        }
        // How many times the row of each end is added to other rows.
        let mut added: HashMap<u32, Vec<(u32, i32)>> = HashMap::new();
        for (row, shift) in (0..).zip(&self.shifts) {
            for &(node, times) in shift.iter().filter(|(node, _)| sets.contains_key(node)) {
                added.entry(node).or_default().push((row, times));
            }
        }
        let n = self.instance.len();
        let mut columns = Lines::default();
        let mut costs = Vec::new();
        for edge in &fresh {
            let degrees = [(edge.a as usize, 1.0), (edge.b as usize, 1.0)];
            let mut others: Vec<(u32, i32)> = crossed(&sets[&edge.a], &sets[&edge.b]);
            others.extend([edge.a, edge.b].iter().filter_map(|node| added.get(node)).flatten());
            others.sort_unstable_by_key(|entry| entry.0);
            let others = others.chunk_by(|one, next| one.0 == next.0);
            let others =
                others.map(|row| (n + row[0].0 as usize, row.iter().map(|entry| entry.1).sum::<i32>()));
            let others = others.filter(|entry| entry.1 != 0).map(|(row, count)| (row, f64::from(count)));
            columns.push((0.0, 1.0), degrees.into_iter().chain(others));
            costs.push(f64::from(edge.cost) / self.scale);
        }
        self.simplex.add_columns(&costs, &columns)?;
        for edge in &fresh {
            let column = self.edges.len() as u32;
            self.beside[edge.a as usize].push(column);
            self.beside[edge.b as usize].push(column);
            self.edges.push(*edge);
            self.solution.columns.push(0.0);
        }
        Ok(fresh.len())
    }

    /// Adds those of these cuts that are not rows yet, equal ones once. Returns how many.
    ///
    /// # Errors
    /// If the library fails.
    pub fn add_cuts(&mut self, cuts: impl IntoIterator<Item = Arc<Cut>>) -> Result<usize> {
        let cuts = cuts.into_iter().filter(|cut| self.known.insert(cut.clone()));
        let rows: Vec<Row> = cuts.map(Row::Cut).collect();
        self.add_rows(rows)
    }

    /// Adds a branch on a set, even if it is a row already.
    ///
    /// # Errors
    /// If the library fails.
    pub fn add_branch(&mut self, branch: Branch) -> Result<()> {
        self.add_rows(vec![Row::Branch(branch)]).map(|_| ())
    }

    fn add_rows(&mut self, rows: Vec<Row>) -> Result<usize> {
        if rows.is_empty() {
            return Ok(0);
        }
        let mut lines = Lines::default();
        let mut is_inside = vec![false; self.instance.len()];
        let mut counts = vec![0_i32; self.edges.len()];
        let mut shifts = Vec::with_capacity(rows.len());
        for row in &rows {
            let mut touched = Vec::new();
            for set in row.sets() {
                self.each_crossing(set, &mut is_inside, |column| {
                    touched.push(column);
                    counts[column as usize] += 1;
                });
            }
            let shift = self.sparser(row, &mut counts, &mut touched);
            touched.sort_unstable();
            touched.dedup();
            let entries = touched.iter().map(|&column| (column as usize, f64::from(counts[column as usize])));
            let by = 2.0 * shift.iter().map(|&(_, times)| f64::from(times)).sum::<f64>();
            let (lower, upper) = row.limits();
            lines.push((lower + by, upper + by), entries.filter(|entry| entry.1 != 0.0));
            touched.iter().for_each(|&column| counts[column as usize] = 0);
            shifts.push(shift);
        }
        self.shifts.extend(shifts);
        self.simplex.add_rows(&lines)?;
        let count = rows.len();
        self.rows.extend(rows);
        self.ages.resize(self.rows.len(), 0);
        self.solution.duals.resize(self.instance.len() + self.rows.len(), 0.0);
        Ok(count)
    }

    /// Adds the rows of nodes to a row as often as makes it sparser, and returns how often. It changes the coefficients `counts` of columns, of
    /// which `touched` has at least those that are not 0.
    ///
    /// With fewer coefficients, each iteration is quicker: a border of two nodes has an edge of each of their neighbours, but only one
    /// edge is between them.
    fn sparser(&self, row: &Row, counts: &mut [i32], touched: &mut Vec<u32>) -> Shift {
        let mut nodes: Vec<u32> = row.sets().iter().flat_map(|set| set.iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut times = vec![0; nodes.len()];
        for _ in 0..SPARSER {
            let mut has_changed = false;
            for (&node, times) in nodes.iter().zip(&mut times) {
                let columns = &self.beside[node as usize];
                let of =
                    |value: i32| columns.iter().filter(|&&column| counts[column as usize] == value).count();
                let (none, value) = (of(0), columns.iter().map(|&column| counts[column as usize]));
                let best = value.filter(|&value| value != 0).map(|value| (of(value), value)).max();
                let Some((_, value)) = best.filter(|&(many, _)| many > none) else { continue };
                *times -= value;
                columns.iter().for_each(|&column| counts[column as usize] -= value);
                touched.extend(columns);
                has_changed = true;
            }
            if !has_changed {
                break;
            }
        }
        nodes.into_iter().zip(times).filter(|(_, times)| *times != 0).collect()
    }

    /// Makes dual values of the library's rows those of the rows without the ones of nodes.
    fn unshift(&self, duals: &mut [f64]) {
        let n = self.instance.len();
        for (row, shift) in self.shifts.iter().enumerate() {
            let y = duals[n + row];
            if y != 0.0 {
                shift.iter().for_each(|&(node, times)| duals[node as usize] += f64::from(times) * y);
            }
        }
    }

    /// Solves the program, or tries to. The limit of the objective is an internal cost. With [`Status::Optimal`] and
    /// [`Status::AboveLimit`] there is a new solution; else the last one stays. After [`Status::AboveLimit`] the bound of the dual
    /// values is above the limit, if the library is right.
    ///
    /// # Errors
    /// If the library fails or returns nonsense.
    pub fn solve(&mut self, limits: &Limits<'_>) -> Result<Status> {
        let status = self.run(limits)?;
        if status == Status::Optimal || status == Status::AboveLimit {
            self.solution = self.answer()?;
        }
        if status == Status::Optimal {
            self.check_values()?;
            let slack = self.solution.duals[self.instance.len()..].iter().map(|dual| dual.abs() < 1e-9);
            for (age, is_slack) in self.ages.iter_mut().zip(slack) {
                *age = if is_slack { *age + 1 } else { 0 };
            }
        }
        Ok(status)
    }

    /// Returns the library's solution, if it is one.
    fn answer(&mut self) -> Result<Solution> {
        let mut solution = self.simplex.solution()?;
        let rows = self.instance.len() + self.rows.len();
        if (solution.columns.len(), solution.duals.len()) != (self.edges.len(), rows) {
            return Err(wrong_size("a solution"));
        }
        self.unshift(&mut solution.duals);
        let numbers = solution.columns.iter().chain(&solution.duals).copied().chain([solution.objective]);
        if let Some(number) = { numbers }.find(|number| !number.is_finite()) {
            return Err(SimplexError::Nonsense(format!("a solution with the value {number}")));
        }
        Ok(solution)
    }

    /// Checks that the values of an optimal solution are between 0 and 1, with two edges at every node: separation relies on it.
    fn check_values(&self) -> Result<()> {
        let mut degrees = vec![0.0; self.instance.len()];
        for (edge, &x) in self.edges.iter().zip(&self.solution.columns) {
            if !(-TOLERANCE..=1.0 + TOLERANCE).contains(&x) {
                return Err(SimplexError::Nonsense(format!("an edge with the value {x}")));
            }
            degrees[edge.a as usize] += x;
            degrees[edge.b as usize] += x;
        }
        match degrees.iter().find(|&degree| (degree - 2.0_f64).abs() > TOLERANCE) {
            Some(degree) => Err(SimplexError::Nonsense(format!("a node with edges of the value {degree}"))),
            None => Ok(()),
        }
    }

    /// Returns the library's basis, if it is one.
    fn basis(&mut self) -> Result<Basis> {
        let basis = self.simplex.basis()?;
        let rows = self.instance.len() + self.rows.len();
        if (basis.columns.len(), basis.rows.len()) != (self.edges.len(), rows) {
            return Err(wrong_size("a basis"));
        }
        Ok(basis)
    }

    fn run(&mut self, limits: &Limits<'_>) -> Result<Status> {
        let since = std::time::Instant::now();
        let objective = limits.objective.map(|objective| objective / self.scale);
        let status = self.simplex.solve(&Limits { objective, ..*limits });
        self.seconds += since.elapsed().as_secs_f64();
        self.solves += 1;
        self.iterations += self.simplex.iterations();
        status
    }

    /// Returns the objective of the last solution, in internal cost. It proves nothing.
    pub fn objective(&self) -> f64 {
        self.solution.objective * self.scale
    }

    /// Returns the value of each column in the last solution, in the order of [`Master::edges`].
    pub fn values(&self) -> &[f64] {
        &self.solution.columns
    }

    /// Returns the graph of the last solution.
    pub fn support(&self) -> Support {
        let values = self.edges.iter().zip(&self.solution.columns);
        Support::new(self.instance.len(), values.map(|(edge, &x)| (edge.a, edge.b, x)))
    }

    /// Calls `body` with each column whose edge crosses the border of a set. `is_inside` has an entry `false` for each node, before and
    /// after.
    fn each_crossing(&self, set: &[u32], is_inside: &mut [bool], mut body: impl FnMut(u32)) {
        set.iter().for_each(|&node| is_inside[node as usize] = true);
        for &column in set.iter().flat_map(|&node| &self.beside[node as usize]) {
            let edge = self.edges[column as usize];
            if is_inside[edge.a as usize] != is_inside[edge.b as usize] {
                body(column);
            }
        }
        set.iter().for_each(|&node| is_inside[node as usize] = false);
    }

    /// Returns the value of a cut's left side in the last solution.
    pub fn left_side(&self, cut: &Cut) -> f64 {
        let mut is_inside = vec![false; self.instance.len()];
        let mut sum = 0.0;
        for set in cut.sets() {
            self.each_crossing(set, &mut is_inside, |column| sum += self.solution.columns[column as usize]);
        }
        sum
    }

    /// Returns the dual values of the last solution, rounded to units, those of a wrong sign as 0. Cuts and branches have the indices
    /// that [`Master::active`] gives them.
    pub fn duals(&self) -> Duals {
        self.rounded(&self.solution.duals, self.scale)
    }

    fn rounded(&self, duals: &[f64], factor: f64) -> Duals {
        let n = self.instance.len();
        let unit = factor * (1_u64 << UNIT_BITS) as f64;
        // Conversions from floating point saturate: absurd values are found by `Reduced::new`.
        let whole = |y: f64| (y * unit).round() as i64;
        let mut rounded = Duals { nodes: duals[..n].iter().map(|&y| whole(y)).collect(), ..Duals::default() };
        let (mut cuts, mut branches) = (0, 0);
        for (row, &y) in self.rows.iter().zip(&duals[n..]) {
            match row {
                Row::Cut(_) => {
                    rounded.cuts.extend(Some((cuts, whole(y))).filter(|dual| dual.1 > 0));
                    cuts += 1;
                }
                Row::Branch(branch) => {
                    let y = if branch.side == Side::Two { whole(y).min(0) } else { whole(y).max(0) };
                    rounded.branches.extend(Some((branches, y)).filter(|dual| dual.1 != 0));
                    branches += 1;
                }
            }
        }
        rounded
    }

    /// Returns the cuts and the branches that are rows, in order.
    pub fn active(&self) -> (Vec<Arc<Cut>>, Vec<Branch>) {
        let (mut cuts, mut branches) = (Vec::new(), Vec::new());
        for row in &self.rows {
            match row {
                Row::Cut(cut) => cuts.push(cut.clone()),
                Row::Branch(branch) => branches.push(branch.clone()),
            }
        }
        (cuts, branches)
    }

    /// Returns the reduced costs for dual values of this program, or `None` if they are absurd, as [`Reduced::new`].
    pub fn reduced(&self, duals: &Duals) -> Option<Reduced> {
        let (cuts, branches) = self.active();
        Reduced::new(duals, &cuts, &branches)
    }

    /// Returns, after [`Status::Infeasible`], dual values that may prove that no tour of the node costs less than `above`, an internal
    /// cost: a large multiple of the rows that contradict each other. `None` if the library does not say which these are.
    ///
    /// # Errors
    /// If the library fails.
    pub fn contradiction(&mut self, above: i64) -> Result<Option<Duals>> {
        let Some(mut ray) = self.simplex.ray()? else { return Ok(None) };
        if ray.len() != self.solution.duals.len() {
            return Ok(None);
        }
        self.unshift(&mut ray);
        let lengths = |sign: f64| {
            // By how much the bound grows with each multiple.
            let n = self.instance.len();
            let limit = |row: &Row| match row.limits() {
                (lower, upper) if lower.is_finite() => (lower, upper.is_finite()),
                (_, upper) => (upper, true),
            };
            let mut at: Vec<f64> = ray.iter().map(|y| sign * y).collect();
            let mut sum: f64 = at[..n].iter().map(|y| 2.0 * y).sum();
            for (row, y) in self.rows.iter().zip(&mut at[n..]) {
                *y = if limit(row).1 { y.min(0.0) } else { y.max(0.0) };
                sum += limit(row).0 * *y;
            }
            let reduced = self.reduced_in_floats(&at);
            for (column, reduced) in reduced.into_iter().enumerate() {
                let column = column as u32;
                match self.fixed.get(&column).copied().or(self.is_partner.contains(&column).then_some(true)) {
                    Some(true) => sum += reduced,
                    Some(false) => {}
                    None => sum += reduced.min(0.0),
                }
            }
            (sum, at)
        };
        let (growth, ray) =
            [1.0, -1.0].map(lengths).into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
        if growth.is_nan() || growth <= 1e-9 {
            return Ok(None);
        }
        // Twice as much as seems needed.
        let factor = 2.0 * (above.max(1) as f64) / growth;
        Ok(Some(self.rounded(&ray, factor)))
    }

    /// Returns, for each column, minus the sum of these numbers times the coefficients of rows.
    fn reduced_in_floats(&self, duals: &[f64]) -> Vec<f64> {
        let n = self.instance.len();
        let mut reduced: Vec<f64> =
            self.edges.iter().map(|edge| -duals[edge.a as usize] - duals[edge.b as usize]).collect();
        let mut is_inside = vec![false; n];
        for (row, &y) in self.rows.iter().zip(&duals[n..]).filter(|(_, y)| **y != 0.0) {
            for set in row.sets() {
                self.each_crossing(set, &mut is_inside, |column| reduced[column as usize] -= y);
            }
        }
        reduced
    }

    /// Deletes the cuts that have been slack for this many solves and are basic, if there are at least `least` of them. Returns how
    /// many.
    ///
    /// # Errors
    /// If the library fails.
    pub fn purge(&mut self, age: u32, least: usize) -> Result<usize> {
        let is_old = |row: usize| self.ages[row] >= age && matches!(self.rows[row], Row::Cut(_));
        if (0..self.rows.len()).filter(|&row| is_old(row)).count() < least.max(1) {
            return Ok(0);
        }
        let basis = self.simplex.basis()?;
        let n = self.instance.len();
        if basis.rows.len() != n + self.rows.len() {
            return Err(wrong_size("a basis"));
        }
        let is_deleted: Vec<bool> =
            (0..self.rows.len()).map(|row| is_old(row) && basis.rows[n + row] == Standing::Basic).collect();
        let count = is_deleted.iter().filter(|&&is_deleted| is_deleted).count();
        if count < least.max(1) {
            return Ok(0);
        }
        self.delete_rows(&is_deleted)?;
        Ok(count)
    }

    fn delete_rows(&mut self, is_deleted: &[bool]) -> Result<()> {
        let n = self.instance.len();
        let mask: Vec<bool> = std::iter::repeat_n(false, n).chain(is_deleted.iter().copied()).collect();
        self.simplex.delete_rows(&mask)?;
        for (row, _) in self.rows.iter().zip(is_deleted).filter(|(_, is_deleted)| **is_deleted) {
            if let Row::Cut(cut) = row {
                self.known.remove(cut);
            }
        }
        retain(&mut self.rows, is_deleted);
        retain(&mut self.shifts, is_deleted);
        retain(&mut self.ages, is_deleted);
        retain(&mut self.solution.duals, &mask);
        Ok(())
    }

    /// Deletes the columns of edges that `is_useless` names, given the edge and its index, and that are free and at 0 outside of the
    /// basis. Returns how many. Later columns move up.
    ///
    /// # Errors
    /// If the library fails or has no basis.
    pub fn drop_edges(&mut self, is_useless: impl Fn(&Edge, u32) -> bool) -> Result<usize> {
        let basis = self.basis()?;
        let is_deleted: Vec<bool> = (0..)
            .zip(&self.edges)
            .zip(&basis.columns)
            .map(|((column, edge), &standing)| {
                let is_free = !self.fixed.contains_key(&column) && !self.is_partner.contains(&column);
                is_free && standing == Standing::Lower && is_useless(edge, column)
            })
            .collect();
        let count = is_deleted.iter().filter(|&&is_deleted| is_deleted).count();
        if count == 0 {
            return Ok(0);
        }
        self.simplex.delete_columns(&is_deleted)?;
        let mut numbers = Vec::with_capacity(self.edges.len());
        let mut next = 0;
        for &is_deleted in &is_deleted {
            numbers.push(next);
            next += u32::from(!is_deleted);
        }
        retain(&mut self.edges, &is_deleted);
        retain(&mut self.solution.columns, &is_deleted);
        self.fixed = self.fixed.drain().map(|(column, value)| (numbers[column as usize], value)).collect();
        self.is_partner = self.is_partner.drain().map(|column| numbers[column as usize]).collect();
        self.columns = (0..).zip(&self.edges).map(|(column, edge)| ((edge.a, edge.b), column)).collect();
        self.beside.iter_mut().for_each(Vec::clear);
        for (column, edge) in (0..).zip(&self.edges) {
            self.beside[edge.a as usize].push(column);
            self.beside[edge.b as usize].push(column);
        }
        Ok(count)
    }

    /// Fixes an edge at 0 (false) or 1 (true), or frees it (`None`). An edge that is fixed becomes a column if it was not one yet.
    /// Edges of partners stay fixed at 1.
    ///
    /// # Errors
    /// If the library fails.
    pub fn fix(&mut self, edge: Edge, value: Option<bool>) -> Result<()> {
        if value.is_some() {
            self.add_edges(&[edge])?;
        }
        let Some(&column) = self.columns.get(&(edge.a, edge.b)) else { return Ok(()) };
        if self.is_partner.contains(&column) || self.fixed.get(&column).copied() == value {
            return Ok(());
        }
        self.simplex.set_limits(&[limits_of(column, value)])?;
        match value {
            Some(value) => self.fixed.insert(column, value),
            None => self.fixed.remove(&column),
        };
        Ok(())
    }

    /// Returns whether an edge was [fixed](Master::fix) at 1 (true) or at 0 (false); `None` if it is free, and for edges of partners.
    pub fn fixed(&self, edge: &Edge) -> Option<bool> {
        self.columns.get(&(edge.a, edge.b)).and_then(|column| self.fixed.get(column)).copied()
    }

    /// Returns the bound that dual values prove for the tours of this node that use only these edges, in units, and the edges of
    /// negative reduced cost that are not columns. `None` if the dual values are absurd.
    ///
    /// Partners must be among the edges; what is fixed counts.
    pub fn bound(&self, duals: &Duals, edges: &[Edge]) -> Option<(i128, Vec<Edge>)> {
        let reduced = self.reduced(duals)?;
        let mut bound = reduced.constant();
        let mut missing = Vec::new();
        for edge in edges {
            if reduced.is_plain() && self.fixed.is_empty() && self.is_partner.is_empty() {
                // Most edges are settled by this.
                if reduced.at_least(edge.a, edge.b, edge.cost) >= 0 {
                    continue;
                }
            }
            let reduced = reduced.of(edge.a, edge.b, edge.cost);
            let column = self.columns.get(&(edge.a, edge.b));
            let fixed = column.and_then(|column| {
                self.fixed.get(column).copied().or(self.is_partner.contains(column).then_some(true))
            });
            match fixed {
                Some(true) => bound += i128::from(reduced),
                Some(false) => {}
                None => {
                    bound += i128::from(reduced.min(0));
                    if column.is_none() && reduced < 0 {
                        missing.push(*edge);
                    }
                }
            }
        }
        Some((bound, missing))
    }

    /// Returns what makes up this node.
    ///
    /// # Errors
    /// If the library has no basis.
    pub fn save(&mut self) -> Result<State> {
        let basis = self.basis()?;
        let n = self.instance.len();
        let with = |wanted: Standing| {
            let columns = self.edges.iter().zip(&basis.columns);
            columns.filter(|(_, standing)| **standing == wanted).map(|(edge, _)| *edge).collect()
        };
        let (cuts, branches) = self.active();
        let of = |wants_cuts: bool| {
            let rows = self.rows.iter().zip(&basis.rows[n..]);
            rows.filter(move |(row, _)| matches!(row, Row::Cut(_)) == wants_cuts)
                .map(|(_, &standing)| standing)
        };
        let fixed = self.fixed.iter().map(|(&column, &value)| (self.edges[column as usize], value));
        let mut fixed: Vec<_> = fixed.collect();
        fixed.sort_unstable();
        Ok(State {
            fixed,
            branches,
            cuts,
            basic: with(Standing::Basic),
            upper: with(Standing::Upper),
            rows: basis.rows[..n].iter().copied().chain(of(true)).chain(of(false)).collect(),
        })
    }

    /// Makes this the program of a node of the same instance, with its basis if that fits. Columns that it does not mention stay, at
    /// their lower limits.
    ///
    /// # Errors
    /// If the library fails.
    pub fn load(&mut self, state: &State) -> Result<()> {
        self.add_edges(&state.basic)?;
        self.add_edges(&state.upper)?;
        let wanted: HashMap<Edge, bool> = state.fixed.iter().copied().collect();
        let freed: Vec<Edge> = self.fixed.keys().map(|&column| self.edges[column as usize]).collect();
        for edge in freed.into_iter().filter(|edge| !wanted.contains_key(edge)) {
            self.fix(edge, None)?;
        }
        for &(edge, value) in &state.fixed {
            self.fix(edge, Some(value))?;
        }
        let wanted: Vec<Row> = state
            .cuts
            .iter()
            .cloned()
            .map(Row::Cut)
            .chain(state.branches.iter().cloned().map(Row::Branch))
            .collect();
        let keys: HashMap<Key, Standing> =
            wanted.iter().map(Row::key).zip(state.rows.iter().skip(self.instance.len()).copied()).collect();
        let mut present = HashSet::new();
        let is_deleted: Vec<bool> = self
            .rows
            .iter()
            .map(|row| {
                let key = row.key();
                !keys.contains_key(&key) || !present.insert(key)
            })
            .collect();
        let missing: Vec<Row> = wanted.into_iter().filter(|row| !present.contains(&row.key())).collect();
        if is_deleted.contains(&true) {
            self.delete_rows(&is_deleted)?;
        }
        for row in &missing {
            if let Row::Cut(cut) = row {
                self.known.insert(cut.clone());
            }
        }
        self.add_rows(missing)?;
        let mut columns = vec![Standing::Lower; self.edges.len()];
        for (list, standing) in [(&state.basic, Standing::Basic), (&state.upper, Standing::Upper)] {
            for edge in list {
                columns[self.columns[&(edge.a, edge.b)] as usize] = standing;
            }
        }
        let degrees = state.rows.iter().take(self.instance.len()).copied();
        let others = self.rows.iter().map(|row| keys.get(&row.key()).copied().unwrap_or(Standing::Basic));
        let basis = Basis { columns, rows: degrees.chain(others).collect() };
        if basis.rows.len() == self.instance.len() + self.rows.len() && basis.is_complete() {
            self.simplex.set_basis(&basis)?;
        }
        Ok(())
    }

    /// Returns by how much the iterations of `limits` raise the optimum if an edge is fixed at 0 and if it is fixed at 1, in internal
    /// cost; at most `most`, also where there is no solution, and 0 if interrupted. The edge must be a free column. Afterwards the
    /// program has the same basis, and the solution before.
    ///
    /// # Errors
    /// If the library fails; the program must then not be used any more.
    pub fn probe_edge(&mut self, edge: Edge, limits: &Limits<'_>, most: f64) -> Result<[f64; 2]> {
        let before = self.objective();
        let basis = self.basis()?;
        let mut gains = [0.0; 2];
        for (value, gain) in [false, true].into_iter().zip(&mut gains) {
            self.fix(edge, Some(value))?;
            let status = self.run(limits);
            *gain = self.gain(status, before, most)?;
            self.fix(edge, None)?;
            self.simplex.set_basis(&basis)?;
        }
        Ok(gains)
    }

    /// Does the same for the two sides of a branch on a set: those with a border of two edges, and of four or more.
    ///
    /// # Errors
    /// As [`Master::probe_edge`].
    pub fn probe_set(&mut self, set: &Arc<[u32]>, limits: &Limits<'_>, most: f64) -> Result<[f64; 2]> {
        let before = self.objective();
        let basis = self.basis()?;
        let mut gains = [0.0; 2];
        let rows = self.rows.len();
        for (side, gain) in [Side::Two, Side::FourOrMore].into_iter().zip(&mut gains) {
            self.add_branch(Branch { set: set.clone(), side })?;
            let status = self.run(limits);
            *gain = self.gain(status, before, most)?;
            let is_deleted: Vec<bool> = (0..=rows).map(|row| row == rows).collect();
            self.delete_rows(&is_deleted)?;
            self.simplex.set_basis(&basis)?;
        }
        Ok(gains)
    }

    fn gain(&mut self, status: Result<Status>, before: f64, most: f64) -> Result<f64> {
        Ok(match status? {
            Status::Infeasible | Status::AboveLimit => most,
            Status::Interrupted => 0.0,
            Status::Optimal | Status::IterationLimit => {
                (self.answer()?.objective * self.scale - before).clamp(0.0, most)
            }
        })
    }
}

/// Returns the rows of sets that one of two nodes is in, each with how many; lists have sets in order.
fn crossed(of_a: &[(u32, u32)], of_b: &[(u32, u32)]) -> Vec<(u32, i32)> {
    let mut rows: Vec<(u32, i32)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    loop {
        let row = match (of_a.get(i), of_b.get(j)) {
            (None, None) => return rows,
            (Some(a), Some(b)) if a.0 == b.0 => {
                (i, j) = (i + 1, j + 1);
                continue;
            }
            (Some(a), b) if b.is_none_or(|b| a.0 < b.0) => {
                i += 1;
                a.1
            }
            (_, Some(b)) => {
                j += 1;
                b.1
            }
            (Some(a), None) => {
                i += 1;
                a.1
            }
        };
        match rows.last_mut() {
            Some(last) if last.0 == row => last.1 += 1,
            _ => rows.push((row, 1)),
        }
    }
}

fn wrong_size(what: &str) -> SimplexError {
    SimplexError::Nonsense(format!("{what} of another size"))
}

fn limits_of(column: u32, value: Option<bool>) -> (usize, f64, f64) {
    let (lower, upper) = match value {
        None => (0.0, 1.0),
        Some(true) => (1.0, 1.0),
        Some(false) => (0.0, 0.0),
    };
    (column as usize, lower, upper)
}

fn retain<T>(list: &mut Vec<T>, is_deleted: &[bool]) {
    let mut is_deleted = is_deleted.iter();
    list.retain(|_| !is_deleted.next().copied().unwrap_or(false));
}

/// Returns what to divide costs by: a power of two.
fn scale_of(instance: &Instance) -> f64 {
    let n = instance.len() as u32;
    let lists = quadrant(instance, 2.min(instance.len().saturating_sub(1)));
    let costs = (0..n).flat_map(|a| lists.of(a).iter().map(move |&b| (a, b)));
    let costs = costs.map(|(a, b)| f64::from(instance.distance(a, b)));
    let (sum, count) = costs.fold((0.0, 0), |(sum, count), cost| (sum + cost, count + 1));
    let mean = sum / f64::from(count.max(1));
    let mut scale = 1.0;
    while mean / scale > LARGE_COST {
        scale *= 2.0;
    }
    scale
}
