//! Tables with the costs from each node to every other.

use super::grid::{Cell, Grid, are_distinct};
use super::labels::{self, Labels};
use super::number::{self, is_none};
use super::{Table, header};
use crate::content::{Content, Reading, may_be_no_way, odd_costs};
use crate::error::{Result, counted};
use crate::memory;

/// A square of costs found in a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The number of label columns before the square: 0 or 1.
    left: usize,
    /// Whether no other reading fits.
    pub(super) is_certain: bool,
    pub(super) is_symmetric: bool,
}

impl Found {
    /// Describes this reading for a message.
    pub(super) fn told(&self, grid: &Grid) -> String {
        let n = grid.rows();
        let labels = if self.left == 1 { " with labels in the first column" } else { "" };
        format!("a {n} x {n} matrix of costs{labels}")
    }
}

/// Returns whether the first row, which holds only numbers, labels the columns of the matrix below it: `0,1,2`, or `,0,1,2`.
pub(super) fn has_numeric_header(grid: &Grid) -> bool {
    let (rows, width, short) = (grid.rows(), grid.width(), grid.head.len() + 1 == grid.width());
    if rows < 3 {
        return false;
    }
    let has_no_corner = grid.head.first().is_none_or(String::is_empty);
    let labels: Option<Vec<u32>> =
        grid.head.iter().skip(usize::from(!short && has_no_corner)).map(|cell| cell.parse().ok()).collect();
    let Some(labels) = labels.filter(|labels| are_distinct(labels)) else { return false };
    let is_blank_corner = short || has_no_corner;
    let n = rows - 1;
    let left = usize::from(is_blank_corner);
    if labels.len() != n || width != n + left || !has_blank_diagonal(grid, 1, left, n) {
        return false;
    }
    if is_blank_corner {
        // The same labels are at the left. If the corner is one of many empty cells on a diagonal, only consecutive numbers are
        // labels.
        let is_same = (0..n).all(|row| grid.number(row + 1, 0) == f64::from(labels[row]));
        let has_zeros = (0..n).all(|at| grid.number(at + 1, at + left) == 0.0);
        return is_same && (has_zeros || labels::are_consecutive(&labels));
    }
    n >= 4 || n == 3 && (labels::are_consecutive(&labels) || is_symmetric(grid, 1, left, n))
}

/// Rejects a matrix whose columns are labelled by numbers, with names at the side, or with the same numbers at the side and a zero
/// in the corner. The numbers would be read as costs, or as coordinates of another place.
pub(super) fn refuse_numbered(table: &Table<'_>) -> Result<()> {
    let grid = &table.grid;
    let n = grid.rows().saturating_sub(1);
    let is_square = n > 1 && grid.width() == n + 1 && grid.names.is_none();
    let is_number = |at: usize| grid.head.get(at).is_some_and(|cell| cell.parse::<u32>().is_ok());
    if !is_square
        || table.options.shape.is_some()
        || !(1..=n).all(is_number)
        || !has_blank_diagonal(grid, 1, 1, n)
    {
        return Ok(());
    }
    if (1..=n).all(|row| grid.is_word(row, 0)) {
        let problem = "the first row labels the columns of a matrix by numbers, but the first column labels its rows by names";
        return Err(table
            .text()
            .content(problem, "write the same names in the first row as in the first column"));
    }
    let label = |at: usize| grid.number(0, at);
    let is_same = (1..=n).all(|at| label(at) == grid.number(at, 0));
    let are_in_row = n > 0 && label(1) <= 1.0 && (2..=n).all(|at| label(at) == label(at - 1) + 1.0);
    let costs = || (1..=n).flat_map(|row| (1..=n).map(move |column| grid.number(row, column)));
    let least = (1..=n).map(label).fold(f64::INFINITY, f64::min);
    let are_far = costs().filter(|cost| cost.is_finite()).all(|cost| 10.0 * cost < least);
    if n > 2 && table.counts.is_empty() && grid.number(0, 0) == 0.0 && is_same && (are_in_row || are_far) {
        let problem = "the first row and the first column may be costs, or the numbers of the places";
        return Err(table
            .text()
            .content(problem, "`--as matrix` reads them as costs; otherwise remove the 0 in the corner"));
    }
    Ok(())
}

/// Returns whether every cell on the diagonal of a square is zero or blank.
fn has_blank_diagonal(grid: &Grid, top: usize, left: usize, n: usize) -> bool {
    (0..n).all(|at| grid.number(at + top, at + left) == 0.0 || grid.is_blank(at + top, at + left))
}

/// Returns whether all cells on the diagonal hold the same number.
fn has_even_diagonal(grid: &Grid, left: usize, n: usize) -> bool {
    (0..n).all(|at| grid.number(at, at + left) == grid.number(0, left))
}

fn is_symmetric(grid: &Grid, top: usize, left: usize, n: usize) -> bool {
    (0..n).all(|i| {
        (0..i).all(|j| grid.number(i + top, j + left).to_bits() == grid.number(j + top, i + left).to_bits())
    })
}

fn has_words(grid: &Grid, left: usize, n: usize) -> bool {
    (0..n).any(|i| (0..n).any(|j| i != j && grid.is_word(i, j + left)))
}

/// Finds a square of costs, with or without labels.
pub(super) fn find(table: &Table<'_>) -> Option<Found> {
    let grid = &table.grid;
    let n = grid.rows();
    let is_labelled = grid.names.is_some();
    let left = [0, 1].into_iter().find(|&left| grid.is_square(left))?;
    let is_index = || table.grid.distinct(0).is_some();
    let is_text = || (0..n).all(|row| !matches!(grid.cell(row, 0), Cell::Number(..)));
    // A word in a square with zeros on the diagonal is an invalid cost: reading it reports that.
    let has_zeros = left == 0 && !is_labelled && n > 2 && (0..n).all(|at| grid.number(at, at) == 0.0);
    if n < 2 {
        return None;
    }
    let is_symmetric = is_symmetric(grid, 0, left, n);
    let has_labels_on_both_sides = left == 1
        && grid.names.as_ref().is_some_and(|names| {
            let (mut top, mut side) =
                (names[1..].to_vec(), (0..n).map(|row| grid.written(row, 0)).collect::<Vec<_>>());
            top.sort_unstable();
            side.sort_unstable();
            top == side
        });
    if has_labels_on_both_sides {
        // Columns may be in a different order than rows, so the diagonal says nothing.
        return Some(Found { left, is_certain: true, is_symmetric: true });
    }
    if has_words(grid, left, n) && !has_zeros || left == 1 && !is_index() && !is_text() && !is_labelled {
        return None;
    }
    let found = |is_certain| Some(Found { left, is_certain, is_symmetric });
    if has_blank_diagonal(grid, 0, left, n) {
        // A column 0, 1, 2 may be numbers of places, and two rows can be places as well as a matrix.
        let may_be_ids = left == 0
            && matches!(n, 3 | 4)
            && table.grid.distinct(0).is_some_and(|ids| labels::are_consecutive(&ids));
        return found(is_labelled || n > 2 && !may_be_ids);
    }
    if !has_even_diagonal(grid, left, n) || grid.number(0, left).is_nan() {
        return None;
    }
    // The diagonal holds something else: rows with three numbers or fewer may be places.
    let columns = n + left;
    let is_id = left == 0 && table.grid.distinct(0).is_some_and(|ids| labels::are_consecutive(&ids));
    match columns {
        _ if is_labelled && left == 1 => found(true),
        5.. => found(true),
        4 if !is_id && left == 0 => found(true),
        3 if is_symmetric && left == 0 && !is_id => found(false),
        _ => None,
    }
}

/// Finds a square of costs next to coordinates. Returns its first column.
pub(super) fn beside_places(grid: &Grid) -> Option<usize> {
    let n = grid.rows();
    let last = grid.width().checked_sub(n).filter(|_| n > 2)?;
    let is_square = |left: &usize| {
        has_blank_diagonal(grid, 0, *left, n)
            && (0..n).all(|i| (0..n).all(|j| i == j || grid.number(i, j + left) > 0.0))
    };
    (2..=last).find(is_square)
}

/// Reads the costs of a table.
pub(super) fn read(mut table: Table<'_>) -> Result<Reading> {
    let n = table.grid.rows();
    let Some(left) = [0, 1].into_iter().find(|&left| table.grid.is_square(left)) else {
        let problem = format!(
            "a matrix needs as many rows as columns, but there are {} of {}",
            counted(n, "row"),
            counted(table.grid.width(), "column")
        );
        return Err(table.text().content(
            problem,
            "check that no line is missing; node names may be in the first row and in the first column",
        ));
    };
    refuse_damaged(&table)?;
    refuse_sums(&table, left)?;
    if let Some(&count) = table.counts.first().filter(|&&count| count != n) {
        let problem = format!("the first line says {count}, but {n} rows follow");
        return Err(table.text().content(problem, "correct the first line, or remove it"));
    }
    memory::check((n * n * size_of::<f64>()) as u64)
        .map_err(|shortage| table.text().no_room("the matrix", shortage))?;
    let order = order(&table, left)?;
    let mut costs = Vec::with_capacity(n * n);
    for row in 0..n {
        for &column in &order.columns {
            costs.push(cost(&table, row, column, costs.len() == row * n + row)?);
        }
    }
    if let Some(other) = (0..n).map(|i| costs[i * n + i]).find(|cost| *cost != 0.0 && cost.is_finite()) {
        table.notes.push(format!("the diagonal ({other}, ...) is ignored"));
    }
    let mut doubts = Vec::new();
    doubts.extend(maybe_similarities(&table, left));
    let mut warning = None;
    if !table.options.directed {
        let zero = zero_triangle(&costs, n);
        if let Some(side) = mirror(&mut costs, n) {
            let what = if zero.is_some() { "zero" } else { "empty" };
            table
                .notes
                .push(format!("the {side} triangle is {what}, so costs are the same in both directions"));
        }
        warning = zero.map(|side| {
            let file = table.file();
            let taken = if is_symmetric_costs(&costs, n) {
                "the other triangle is used for both; `--directed` reads the zeros as costs"
            } else {
                "they are read as costs; if they mean nothing, leave these cells empty"
            };
            format!("every cost in the {side} triangle of {file} is zero: {taken}")
        });
    }
    let off = costs.iter().enumerate().filter(|(at, _)| at % (n + 1) != 0).map(|(_, &cost)| cost);
    let odd = odd_costs(off, table.options, &table.file());
    doubts.extend(maybe_no_ways(&costs, n, warning.is_some()).map(|count| {
        format!(
            "{count} of the costs in {} {} zero, and read as costs; if zero means that there is no connection, leave these cells empty",
            table.file(),
            if count == 1 { "is" } else { "are" }
        )
    }));
    let missing = forbid(&mut costs, n, table.options.forbidden_from);
    if missing > 0 {
        table
            .notes
            .push(format!("{missing} forbidden {}", if missing == 1 { "direction" } else { "directions" }));
    }
    let labels = order.labels;
    let line = table.line(format!("a {n} x {n} matrix"), &[], &order.told);
    let warnings = order.warning.into_iter().chain(warning).chain(odd).chain(doubts).collect();
    Ok(Reading {
        content: Content::Costs(costs),
        ids: labels.ids,
        names: labels.names,
        line,
        warnings,
        is_directed: table.options.directed,
    })
}

/// Rejects several matrices one below the other.
pub(super) fn refuse_several(table: &Table<'_>) -> Result<()> {
    let grid = &table.grid;
    let (rows, n) = (grid.rows(), grid.width());
    let is_matrix = |top: usize| {
        has_blank_diagonal(grid, top, 0, n)
            && (0..n).all(|i| (0..n).all(|j| i == j || grid.number(top + i, j) > 0.0))
    };
    if n < 3 || rows < 2 * n || rows % n > 0 || !(0..rows).step_by(n).all(is_matrix) {
        return Ok(());
    }
    let problem = format!("there are {} matrices of {n} x {n}, one below the other", rows / n);
    Err(table.text().content(problem, "put each in its own file; `--as points` reads the rows as places"))
}

/// Rejects a table that would be a matrix if it had one more row or one column less.
pub(super) fn refuse_damaged(table: &Table<'_>) -> Result<()> {
    let grid = &table.grid;
    let (n, width) = (grid.rows(), grid.width());
    let has_diagonal =
        |left: usize| (0..n).all(|at| grid.number(at, at + left) == 0.0 || grid.is_blank(at, at + left));
    let Some(names) = &grid.names else {
        if width < 4 || n + 1 != width || !has_diagonal(0) {
            return Ok(());
        }
        let problem = format!(
            "there are {n} rows of {width} columns, and the diagonal is zero or empty, as in a matrix of {width} rows"
        );
        let help = "add the missing row, with a zero on its diagonal; for places, give the columns to use, such as `--columns x=1,y=2`";
        return Err(table.text().content(problem, help));
    };
    let side: Vec<String> = (0..n).map(|row| grid.written(row, 0)).collect();
    let (left, odd) = match () {
        () if n > 1 && width == n + 2 && names[1..=n] == side => (1, &names[n + 1]),
        () if n > 2 && width == n + 1 && has_diagonal(0) && !has_diagonal(1) => (0, &names[n]),
        () => return Ok(()),
    };
    let problem =
        format!("there are {} labels in the first row, but {n} rows below: \"{odd}\" has none", width - left);
    let help = format!("add the row of {odd}, or remove its column");
    Err(table.text().content(problem, help))
}

/// Rejects a last row or column of sums.
fn refuse_sums(table: &Table<'_>, left: usize) -> Result<()> {
    let grid = &table.grid;
    let last = grid.rows() - 1;
    let above = grid.names.as_ref().and_then(|names| names.last()).is_some_and(|name| header::is_sum(name));
    let beside = left == 1 && header::is_sum(&grid.written(last, 0));
    let sum = |cost: &dyn Fn(usize) -> f64| (0..last).map(cost).filter(|cost| cost.is_finite()).sum::<f64>();
    let is_near = |one: f64, other: f64| (one - other).abs() <= 1e-6 * one.abs().max(1.0);
    let are_sums = || {
        (0..last).all(|at| is_near(grid.number(at, last + left), sum(&|other| grid.number(at, other + left))))
            || (0..last)
                .all(|at| is_near(grid.number(last, at + left), sum(&|other| grid.number(other, at + left))))
    };
    if last > 1 && (above || beside) && are_sums() {
        let problem = "the last row or column of the matrix holds the sums of the others";
        return Err(table
            .text()
            .content(problem, "remove the sums: every row and column is read as a place"));
    }
    Ok(())
}

/// The matrix's columns in the order of its rows, and their labels.
struct Order {
    columns: Vec<usize>,
    labels: Labels,
    told: String,
    warning: Option<String>,
}

fn order(table: &Table<'_>, left: usize) -> Result<Order> {
    let grid = &table.grid;
    let n = grid.rows();
    let plain: Vec<usize> = (left..left + n).collect();
    let top: Option<Vec<String>> = grid.names.as_ref().map(|names| names[left..].to_vec());
    let side: Option<Vec<String>> = (left == 1).then(|| (0..n).map(|row| grid.written(row, 0)).collect());
    let (told, texts, columns, warning) = match (top, side) {
        (None, None) => ("".to_owned(), None, plain, None),
        (Some(top), None) => ("labels in the first row".to_owned(), Some(top), plain, None),
        (None, Some(side)) => ("labels in the first column".to_owned(), Some(side), plain, None),
        (Some(top), Some(side)) if top == side => {
            ("labels in the first row and column".to_owned(), Some(side), plain, None)
        }
        (Some(top), Some(side)) => {
            let at = |label: &String| top.iter().position(|other| other == label);
            let found: Vec<Option<usize>> = side.iter().map(at).collect();
            let count = found.iter().flatten().count();
            let mut seen = found.clone();
            seen.sort_unstable();
            seen.dedup();
            if count == n && seen.len() == n {
                let columns = found.into_iter().flatten().map(|at| at + left).collect();
                (
                    "labels in the first row and column, with the columns sorted in row order".to_owned(),
                    Some(side),
                    columns,
                    None,
                )
            } else if count == 0 {
                let warning = format!(
                    "rows and columns of {} have different labels: they are assumed to be in the same order",
                    table.file()
                );
                ("labels in the first column".to_owned(), Some(side), plain, Some(warning))
            } else {
                let odd = side.iter().zip(&found).find(|(_, at)| at.is_none()).map_or("", |(label, _)| label);
                let problem = format!(
                    "the labels of the rows differ from those of the columns: \"{odd}\" is not in the first row, or a label appears twice"
                );
                return Err(table.text().content(
                    problem,
                    format!("give rows and columns the same labels; the columns have {}", header::list(&top)),
                ));
            }
        }
    };
    let labels = texts.map_or_else(Labels::default, Labels::of_texts);
    Ok(Order { columns, labels, told, warning })
}

/// Returns the cost in a cell; infinity if the cell is blank. Any text is allowed on the diagonal.
fn cost(table: &Table<'_>, row: usize, column: usize, is_diagonal: bool) -> Result<f64> {
    match table.grid.cell(row, column) {
        Cell::Number(number, _) => Ok(number),
        Cell::Empty => Ok(f64::INFINITY),
        Cell::Text(text) if is_none(text) || is_diagonal => Ok(f64::INFINITY),
        Cell::Text(text) => {
            let help =
                number::remedy(text).unwrap_or("write a number, or inf if there is no connection".to_owned());
            Err(table.wrong(row, column, format!("`{text}` is not a cost"), help))
        }
    }
}

/// Returns the number of zero costs if they may stand for missing edges: some but not all in each row, as in the matrix of a graph,
/// or between places that are not at the same spot.
fn maybe_no_ways(costs: &[f64], n: usize, is_said: bool) -> Option<usize> {
    let zeros = |row: usize| (0..n).filter(|&column| column != row && costs[row * n + column] == 0.0).count();
    // A row of zeros is a place that can be reached for free, as in open tours.
    let rows: Vec<usize> = (0..n).map(zeros).filter(|&count| count + 1 < n).collect();
    let with_zeros = rows.iter().filter(|&&count| count > 0).count();
    // Two places with zero cost between them are equally far from any third one.
    let cost = |from: usize, to: usize| costs[from * n + to];
    let is_odd = |from: usize, to: usize| {
        let are_unlike = |other: usize| {
            let (one, other) = (cost(from, other), cost(to, other));
            (one - other).abs() > 0.5 * one.max(other) && one.max(other).is_finite()
        };
        from != to
            && cost(from, to) == 0.0
            && (0..n).any(|other| other != from && other != to && are_unlike(other))
    };
    let has_odd = || (0..n).any(|from| (0..n).any(|to| is_odd(from, to)));
    (!is_said && n > 3 && rows.len() == n && (2 * with_zeros >= n || has_odd())).then(|| rows.iter().sum())
}

/// Returns a warning if the diagonal holds the largest numbers, as in a similarity matrix.
fn maybe_similarities(table: &Table<'_>, left: usize) -> Option<String> {
    let grid = &table.grid;
    let n = grid.rows();
    let is_largest = |row: usize| {
        let own = grid.number(row, row + left);
        own > 0.0
            && !may_be_no_way(own)
            && (0..n).all(|column| column == row || grid.number(row, column + left) < own)
    };
    (n > 2 && (0..n).all(is_largest)).then(|| {
        format!("every row of {} has its largest number on the diagonal, like similarities; they are read as costs, where less is better", table.file())
    })
}

/// Returns whether all costs of a triangle satisfy a condition.
fn all_of_triangle(costs: &[f64], n: usize, is_lower: bool, is_it: impl Fn(f64) -> bool) -> bool {
    (0..n).all(|i| (0..i).all(|j| is_it(if is_lower { costs[i * n + j] } else { costs[j * n + i] })))
}

fn side(is_lower: bool) -> &'static str {
    if is_lower { "lower" } else { "upper" }
}

/// Returns the triangle in which all costs are zero, as left by numpy's `triu` and `tril`, if the other one has costs.
fn zero_triangle(costs: &[f64], n: usize) -> Option<&'static str> {
    let is_zero = |is_lower| all_of_triangle(costs, n, is_lower, |cost| cost == 0.0);
    match (n > 2, is_zero(true), is_zero(false)) {
        (true, true, false) => Some(side(true)),
        (true, false, true) => Some(side(false)),
        _ => None,
    }
}

fn is_symmetric_costs(costs: &[f64], n: usize) -> bool {
    (0..n).all(|i| (0..i).all(|j| costs[i * n + j] == costs[j * n + i]))
}

/// Fills an empty triangle, or one of zeros, if the other one is full. Returns which one it filled.
fn mirror(costs: &mut [f64], n: usize) -> Option<&'static str> {
    let is_lower = [true, false].into_iter().filter(|_| n > 2).find(|&is_lower| {
        let is_all = |is_it: fn(f64) -> bool| all_of_triangle(costs, n, is_lower, is_it);
        let is_full = |is_it: fn(f64) -> bool| all_of_triangle(costs, n, !is_lower, is_it);
        is_all(f64::is_infinite) && is_full(f64::is_finite)
            // With three nodes, three zeros may be a coincidence.
            || n > 3 && is_all(|cost| cost == 0.0) && is_full(|cost| cost != 0.0 && cost.is_finite())
    })?;
    for i in 0..n {
        for j in 0..i {
            let cost = costs[if is_lower { j * n + i } else { i * n + j }];
            (costs[i * n + j], costs[j * n + i]) = (cost, cost);
        }
    }
    Some(side(is_lower))
}

/// Sets the diagonal to zero and costs of at least `from` to infinity. Returns the number of forbidden directions.
pub(super) fn forbid(costs: &mut [f64], n: usize, from: Option<f64>) -> usize {
    let mut count = 0;
    for (at, cost) in costs.iter_mut().enumerate() {
        if at % (n + 1) == 0 {
            *cost = 0.0;
        } else if from.is_some_and(|from| *cost >= from) || !cost.is_finite() {
            *cost = f64::INFINITY;
            count += 1;
        }
    }
    count
}
