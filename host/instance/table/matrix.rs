//! Tables with the costs from each node to each other.

use super::grid::{Cell, Grid};
use super::labels::{self, Labels};
use super::number::is_none;
use super::{Table, header};
use crate::instance::content::{Content, Reading};
use crate::instance::error::Result;
use crate::memory;

/// How a table is a square.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Columns of labels in front of it: 0 or 1.
    left: usize,
    /// Nothing else fits.
    pub(super) is_certain: bool,
    pub(super) is_symmetric: bool,
}

impl Found {
    /// What the table is then.
    pub(super) fn told(&self, grid: &Grid) -> String {
        let n = grid.rows();
        let labels = if self.left == 1 { " with labels in the first column" } else { "" };
        format!("a {n} x {n} matrix of costs{labels}")
    }
}

/// Whether the first row, of numbers only, has the labels of a matrix below it: `0,1,2`, or `,0,1,2`.
pub(super) fn has_numeric_header(grid: &Grid) -> bool {
    let (rows, width, short) = (grid.rows(), grid.width(), grid.head.len() + 1 == grid.width());
    if rows < 3 {
        return false;
    }
    let labels: Option<Vec<u32>> = grid
        .head
        .iter()
        .skip(usize::from(!short && grid.head[0].is_empty()))
        .map(|cell| cell.parse().ok())
        .collect();
    let Some(labels) = labels.filter(|labels| labels::are_distinct(labels)) else { return false };
    let is_blank_corner = short || grid.head[0].is_empty();
    let n = rows - 1;
    let left = usize::from(is_blank_corner);
    if labels.len() != n || width != n + left || !has_blank_diagonal(grid, 1, left, n) {
        return false;
    }
    if is_blank_corner {
        // The same labels stand at the left. Where the corner is one of many empty cells on a diagonal, only numbers in a row are labels.
        let is_same = (0..n).all(|row| grid.number(row + 1, 0) == f64::from(labels[row]));
        let has_zeros = (0..n).all(|at| grid.number(at + 1, at + left) == 0.0);
        return is_same && (has_zeros || labels::are_consecutive(&labels));
    }
    n >= 4 || n == 3 && (labels::are_consecutive(&labels) || is_symmetric(grid, 1, left, n))
}

/// Whether every cell on the diagonal of a square is a zero, or says that there is nothing.
fn has_blank_diagonal(grid: &Grid, top: usize, left: usize, n: usize) -> bool {
    (0..n).all(|at| grid.number(at + top, at + left) == 0.0 || grid.is_blank(at + top, at + left))
}

/// Whether every cell on the diagonal has the same number.
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

/// Whether the table is a square of costs, with or without labels.
pub(super) fn find(table: &Table<'_>) -> Option<Found> {
    let grid = &table.grid;
    let n = grid.rows();
    let is_labelled = grid.names.is_some();
    let left = [0, 1].into_iter().find(|&left| grid.is_square(left))?;
    let is_index = || labels::distinct(table, 0).is_some();
    let is_text = || (0..n).all(|row| !matches!(grid.cell(row, 0), Cell::Number(..)));
    // A word in a square of zeros on the diagonal is a cost that is none: reading it says so.
    let has_zeros = left == 0 && !is_labelled && n > 2 && (0..n).all(|at| grid.number(at, at) == 0.0);
    if n < 2
        || has_words(grid, left, n) && !has_zeros
        || left == 1 && !is_index() && !is_text() && !is_labelled
    {
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
        // Columns may stand in another order than rows, so the diagonal tells nothing.
        return Some(Found { left, is_certain: true, is_symmetric: true });
    }
    let found = |is_certain| Some(Found { left, is_certain, is_symmetric });
    if has_blank_diagonal(grid, 0, left, n) {
        // A column 0, 1, 2 may be numbers of places, and two rows are places as well as they are a matrix.
        let may_be_ids = left == 0
            && matches!(n, 3 | 4)
            && labels::distinct(table, 0).is_some_and(|ids| labels::are_consecutive(&ids));
        return found(is_labelled || n > 2 && !may_be_ids);
    }
    if !has_even_diagonal(grid, left, n) || grid.number(0, left).is_nan() {
        return None;
    }
    // Something else stands on the diagonal: what has three coordinates or fewer may be places.
    let columns = n + left;
    let is_id = left == 0 && labels::distinct(table, 0).is_some_and(|ids| labels::are_consecutive(&ids));
    match columns {
        _ if is_labelled && left == 1 => found(true),
        5.. => found(true),
        4 if !is_id && left == 0 => found(true),
        3 if is_symmetric && left == 0 && !is_id => found(false),
        _ => None,
    }
}

/// Reads the costs of a table.
pub(super) fn read(mut table: Table<'_>) -> Result<Reading> {
    let n = table.grid.rows();
    let Some(left) = [0, 1].into_iter().find(|&left| table.grid.is_square(left)) else {
        let problem = format!(
            "a matrix needs as many rows as columns, and there are {n} rows of {} columns",
            table.grid.width()
        );
        return Err(table.text().content(problem, "check that no line is missing; names of the nodes may stand in the first row and in the first column"));
    };
    if let Some(&count) = table.counts.first().filter(|&&count| count != n) {
        let problem = format!("the first line says {count}, and {n} rows follow");
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
    let side = if table.options.directed { None } else { mirror(&mut costs, n) };
    if let Some(side) = side {
        table.notes.push(format!("the {side} triangle is empty, so costs are the same both ways"));
    }
    let missing = forbid(&mut costs, n, table.options.forbidden_from);
    if missing > 0 {
        table
            .notes
            .push(format!("{missing} forbidden {}", if missing == 1 { "direction" } else { "directions" }));
    }
    let labels = order.labels;
    let line = table.line(format!("a {n} x {n} matrix"), &[], &order.told);
    let warnings = order.warning.into_iter().collect();
    Ok(Reading {
        content: Content::Costs(costs),
        ids: labels.ids,
        names: labels.names,
        line,
        warnings,
        is_directed: table.options.directed,
    })
}

/// The columns in the order of the rows, and the names of both.
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
                    "labels in the first row and column, the columns put in the order of the rows".to_owned(),
                    Some(side),
                    columns,
                    None,
                )
            } else if count == 0 {
                let warning = format!(
                    "rows and columns of {} have different labels: they are taken to be in the same order",
                    table.file()
                );
                ("labels in the first column".to_owned(), Some(side), plain, Some(warning))
            } else {
                let odd = side.iter().zip(&found).find(|(_, at)| at.is_none()).map_or("", |(label, _)| label);
                let problem = format!(
                    "the labels of the rows are not those of the columns: \"{odd}\" is not in the first row, or a label stands twice"
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

/// The cost in a cell: infinite if there is none; whatever stands on the diagonal.
fn cost(table: &Table<'_>, row: usize, column: usize, is_diagonal: bool) -> Result<f64> {
    match table.grid.cell(row, column) {
        Cell::Number(number, _) => Ok(number),
        Cell::Empty => Ok(f64::INFINITY),
        Cell::Text(text) if is_none(text) || is_diagonal => Ok(f64::INFINITY),
        Cell::Text(text) => {
            let help = "write a number, or inf where there is no way";
            Err(table.wrong(row, column, format!("`{text}` is not a cost"), help))
        }
    }
}

/// Fills an empty triangle from the other; which one it was.
fn mirror(costs: &mut [f64], n: usize) -> Option<&'static str> {
    let is_side = |is_lower: bool, is_empty: bool| {
        (0..n).all(|i| {
            (0..i).all(|j| {
                let cost = if is_lower { costs[i * n + j] } else { costs[j * n + i] };
                cost.is_infinite() == is_empty
            })
        })
    };
    let side = match () {
        () if n < 3 => return None,
        () if is_side(true, true) && is_side(false, false) => "lower",
        () if is_side(false, true) && is_side(true, false) => "upper",
        () => return None,
    };
    for i in 0..n {
        for j in 0..i {
            let cost = costs[i * n + j].min(costs[j * n + i]);
            (costs[i * n + j], costs[j * n + i]) = (cost, cost);
        }
    }
    Some(side)
}

/// Makes costs from `from` on infinite and the diagonal zero; how many directions are forbidden.
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
