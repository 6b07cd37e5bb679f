//! The cells of a table, independent of its file format.

use crate::error::{InstanceError, Result, Text, printable};
use crate::memory;
use crate::parallel;

use super::number::is_none;

/// The maximum number of cells of a table.
pub(super) const MOST_CELLS: usize = 1 << 27;

/// Rows of equal width. Each cell is a number, a text or empty.
pub(super) struct Grid {
    width: usize,
    /// The cells' numbers in row-major order; NaN for a cell without a number.
    numbers: Vec<f64>,
    texts: Texts,
    /// The first row as written, without trailing empty cells.
    pub(super) head: Vec<String>,
    /// The number of cells in the first row, trailing empty ones included.
    pub(super) first: usize,
    /// The column names once they are known. They come from the first row or from outside the table.
    pub(super) names: Option<Vec<String>>,
    /// The number of rows at the top that hold no data.
    pub(super) skipped: usize,
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    /// A number, and its text if printing the number would lose information: `007`.
    Number(f64, Option<&'a str>),
    Text(&'a str),
    Empty,
}

impl Grid {
    pub(super) fn new(width: usize) -> Grid {
        Grid {
            width,
            numbers: Vec::new(),
            texts: Texts::default(),
            head: Vec::new(),
            first: width,
            names: None,
            skipped: 0,
        }
    }

    /// Returns the number of columns.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of data rows.
    pub(super) fn rows(&self) -> usize {
        self.numbers.len() / self.width.max(1) - self.skipped
    }

    /// Adds a row. Cells beyond the width are dropped, missing ones are empty.
    pub(super) fn push<'a>(&mut self, text: Text<'_>, cells: impl Iterator<Item = Cell<'a>>) -> Result<()> {
        let no_room = |shortage| text.no_room("the table", shortage);
        memory::reserve(&mut self.numbers, self.width).map_err(no_room)?;
        let end = self.numbers.len() + self.width;
        if end > MOST_CELLS {
            let problem = format!("the table has more than {MOST_CELLS} cells");
            return Err(text.content(problem, "use a smaller table, or write it as a TSPLIB file"));
        }
        for cell in cells.take(self.width) {
            let (number, written) = match cell {
                Cell::Number(number, written) => (number, written),
                Cell::Text(text) => (f64::NAN, Some(text)),
                Cell::Empty => (f64::NAN, None),
            };
            if let Some(written) = written {
                self.texts.push(self.numbers.len(), written).map_err(no_room)?;
            }
            self.numbers.push(number);
        }
        self.numbers.resize(end, f64::NAN);
        Ok(())
    }

    /// Joins grids of equal width, the first of which has the first row. Returns `None` if there are too many cells or texts for one,
    /// or if memory is short.
    pub(super) fn joined(mut parts: Vec<Grid>) -> Option<Grid> {
        let first = parts.first_mut()?;
        let grid =
            Grid { head: std::mem::take(&mut first.head), first: first.first, ..Grid::new(first.width) };
        let (numbers, texts): (Vec<Vec<f64>>, Vec<Texts>) =
            parts.into_iter().map(|part| (part.numbers, part.texts)).unzip();
        let count = numbers.iter().map(Vec::len).sum::<usize>();
        if count > MOST_CELLS {
            return None;
        }
        memory::check((count * size_of::<f64>()) as u64).ok()?;
        let mut all = Texts::default();
        let mut cells = 0;
        for (texts, numbers) in texts.iter().zip(&numbers) {
            all.append(texts, cells)?;
            cells += numbers.len() as u32;
        }
        Some(Grid { numbers: parallel::concat(&numbers), texts: all, ..grid })
    }

    /// Removes trailing columns that are empty in every row.
    pub(super) fn drop_empty_columns(&mut self) {
        let rows = self.numbers.len() / self.width.max(1);
        let is_empty = |column: usize| {
            self.head.get(column).is_none_or(String::is_empty)
                && parallel::all(rows, &|row| self.at(row * self.width + column) == Cell::Empty)
        };
        let width = (1..=self.width).rev().find(|width| !is_empty(width - 1)).unwrap_or(0);
        if width == self.width {
            return;
        }
        let first = self.first.min(width);
        let mut kept = Grid { head: std::mem::take(&mut self.head), first, ..Grid::new(width) };
        for row in 0..rows {
            for column in 0..width {
                let at = row * self.width + column;
                if let Some(written) = self.texts.get(at) {
                    // This text fitted before, so it fits again.
                    let _ = kept.texts.push(kept.numbers.len(), written);
                }
                kept.numbers.push(self.numbers[at]);
            }
        }
        *self = Grid { names: self.names.take(), skipped: self.skipped, ..kept };
    }

    fn at(&self, at: usize) -> Cell<'_> {
        match (self.numbers[at], self.texts.get(at)) {
            (number, written) if !number.is_nan() => Cell::Number(number, written),
            (_, Some(text)) => Cell::Text(text),
            _ => Cell::Empty,
        }
    }

    /// Returns a cell of a data row.
    pub(super) fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        self.at((row + self.skipped) * self.width + column)
    }

    /// Returns the number in a cell, or NaN.
    pub(super) fn number(&self, row: usize, column: usize) -> f64 {
        self.numbers[(row + self.skipped) * self.width + column]
    }

    /// Returns a cell's text.
    pub(super) fn written(&self, row: usize, column: usize) -> String {
        match self.cell(row, column) {
            Cell::Number(_, Some(text)) | Cell::Text(text) => text.to_owned(),
            Cell::Number(number, None) => number.to_string(),
            Cell::Empty => String::new(),
        }
    }

    /// Returns whether a cell holds a text other than a word for a missing number.
    pub(super) fn is_word(&self, row: usize, column: usize) -> bool {
        matches!(self.cell(row, column), Cell::Text(text) if !is_none(text))
    }

    /// Returns whether a cell is empty or holds a word for a missing number, such as `inf` or `NaN`.
    pub(super) fn is_blank(&self, row: usize, column: usize) -> bool {
        match self.cell(row, column) {
            Cell::Number(..) => false,
            Cell::Text(text) => is_none(text),
            Cell::Empty => true,
        }
    }

    /// Returns whether every cell of a column holds a number.
    pub(super) fn is_numbers(&self, column: usize) -> bool {
        parallel::all(self.rows(), &|row| !self.number(row, column).is_nan())
    }

    /// Returns whether any cell of a column is a word (see `is_word`).
    pub(super) fn has_words(&self, column: usize) -> bool {
        // Without texts there are no words.
        !self.texts.cells.is_empty() && (0..self.rows()).any(|row| self.is_word(row, column))
    }

    /// Returns whether any cell of a column is a number that is not more than its value.
    pub(super) fn has_numbers(&self, column: usize) -> bool {
        (0..self.rows()).any(|row| matches!(self.cell(row, column), Cell::Number(_, None)))
    }

    /// Returns a column's numbers if all of them are integers that fit into an id.
    pub(super) fn whole(&self, column: usize) -> Option<Vec<u32>> {
        let id = |row: usize| {
            let number = self.number(row, column);
            let is_plain = matches!(self.cell(row, column), Cell::Number(_, None));
            (is_plain && number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number))
                .then_some(number as u32)
        };
        (0..self.rows()).map(id).collect()
    }

    /// Returns a column's integers if they are distinct.
    pub(super) fn distinct(&self, column: usize) -> Option<Vec<u32>> {
        self.whole(column).filter(|ids| are_distinct(ids))
    }

    /// Returns a column's quoted name, or `column N` if it has none.
    pub(super) fn title(&self, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)) {
            Some(name) if !name.is_empty() => format!("\"{}\"", printable(name)),
            _ => format!("column {}", column + 1),
        }
    }

    /// Returns whether the table is square without its first `left` columns.
    pub(super) fn is_square(&self, left: usize) -> bool {
        self.rows() >= 1 && self.rows() == self.width.saturating_sub(left)
    }
}

pub(super) fn are_distinct(ids: &[u32]) -> bool {
    if ids.is_sorted_by(|a, b| a < b) {
        return true;
    }
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

/// Texts of some cells, in cell order.
#[derive(Default)]
struct Texts {
    cells: Vec<u32>,
    ends: Vec<u32>,
    all: Vec<u8>,
}

impl Texts {
    fn push(&mut self, cell: usize, text: &str) -> std::result::Result<(), memory::Shortage> {
        let end = self.all.len() + text.len();
        // Offsets are 32 bits: a table stays far below that.
        if end > u32::MAX as usize {
            return Err(memory::Shortage::of(end as u64));
        }
        memory::reserve(&mut self.cells, 1)?;
        memory::reserve(&mut self.ends, 1)?;
        memory::reserve(&mut self.all, text.len())?;
        self.cells.push(cell as u32);
        self.all.extend_from_slice(text.as_bytes());
        self.ends.push(end as u32);
        Ok(())
    }

    /// Appends the texts of further cells, which come after this many others. Returns `None` if they do not fit.
    fn append(&mut self, others: &Texts, cells: u32) -> Option<()> {
        let before = u32::try_from(self.all.len()).ok()?;
        before.checked_add(u32::try_from(others.all.len()).ok()?)?;
        memory::reserve(&mut self.cells, others.cells.len()).ok()?;
        memory::reserve(&mut self.ends, others.ends.len()).ok()?;
        memory::reserve(&mut self.all, others.all.len()).ok()?;
        self.cells.extend(others.cells.iter().map(|cell| cell + cells));
        self.ends.extend(others.ends.iter().map(|end| end + before));
        self.all.extend_from_slice(&others.all);
        Some(())
    }

    fn get(&self, cell: usize) -> Option<&str> {
        let at = self.cells.binary_search(&(cell as u32)).ok()?;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        std::str::from_utf8(&self.all[start as usize..self.ends[at] as usize]).ok()
    }
}

/// Locates cells in a file.
pub(super) trait Places {
    /// The text of the file.
    fn text(&self) -> Text<'_>;

    /// Returns the offset and length of a cell. `row` and `column` count from 0.
    fn place(&self, row: usize, column: usize) -> Option<(usize, usize)>;
}

/// Creates an error that points at a cell.
pub(super) fn wrong(
    places: &dyn Places,
    grid: &Grid,
    (row, column): (usize, usize),
    problem: impl Into<String>,
    help: impl Into<String>,
) -> InstanceError {
    let text = places.text();
    match places.place(row + grid.skipped, column) {
        Some((start, length)) => text.error(start, length, problem, help),
        None => {
            let problem = format!("row {}, {}: {}", row + 1, grid.title(column), problem.into());
            text.content(problem, help)
        }
    }
}
