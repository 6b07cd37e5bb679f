//! Triangles: half of a symmetric matrix with its diagonal. Rows grow or shrink by one cell.

use crate::error::{Result, Text};

use super::cell;
use super::grid::Grid;
use super::number::{Spelling, is_none};

/// The largest number of rows of a triangle.
pub(super) const MOST: usize = 5000;

/// The remedy for an incomplete triangle.
pub(super) const HELP: &str = "half a matrix must include its diagonal: each row has one cost more, or one less, than the row before, and one of its costs is the zero on the diagonal";

/// Returns whether these rows may be the first ones of a triangle.
pub(super) fn may_be(rows: &[Vec<String>]) -> bool {
    let lengths = || rows.iter().map(Vec::len);
    let grow = lengths().enumerate().all(|(at, length)| length == rows[0].len() + at);
    let shrink = lengths().enumerate().all(|(at, length)| length + at == rows[0].len());
    grow || shrink
}

/// Returns whether rows are a triangle whose diagonal is zero, with or without a label before each row.
pub(super) fn is_one(rows: &[Vec<String>], spelling: Spelling) -> bool {
    let n = rows.len();
    if n < 3 || !may_be(rows) {
        return false;
    }
    let left = labels(rows, spelling);
    let is_zero = |text: &String| is_none(text) || spelling.number(text) == Some(0.0);
    let is_cost = |text: &String| is_none(text) || spelling.number(text).is_some();
    let is_right = |at: usize, row: &Vec<String>| {
        let costs = &row[left..];
        let (length, diagonal) = if rows[0].len() < rows[1].len() { (at + 1, at) } else { (n - at, 0) };
        costs.len() == length && is_zero(&costs[diagonal]) && costs.iter().all(is_cost)
    };
    rows.iter().enumerate().all(|(at, row)| row.len() > left && is_right(at, row))
}

fn labels(rows: &[Vec<String>], spelling: Spelling) -> usize {
    let is_word =
        |row: &Vec<String>| row.first().is_some_and(|cell| !is_none(cell) && spelling.number(cell).is_none());
    usize::from(rows.iter().all(is_word))
}

/// Builds the full matrix from a triangle.
pub(super) fn grid(text: Text<'_>, rows: &[Vec<String>], spelling: Spelling) -> Result<Grid> {
    let n = rows.len();
    let left = rows[0].len().min(rows[n - 1].len()) - 1;
    let grows = rows[0].len() < rows[1].len();
    let mut grid = Grid::new(n + left);
    for i in 0..n {
        let at = |j: usize| {
            let (i, j) = if (i < j) == grows { (j, i) } else { (i, j) };
            rows[i][left + if grows { j } else { j - i }].as_str()
        };
        let label = rows[i][..left].iter().map(String::as_str);
        let row: Vec<&str> = label.chain((0..n).map(at)).collect();
        if i == 0 {
            grid.head = row.iter().map(|&cell| cell.to_owned()).collect();
        }
        grid.push(text, row.into_iter().map(|text| cell(spelling, text)))?;
    }
    Ok(grid)
}
