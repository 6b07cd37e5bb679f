//! The nine layouts of explicit weights.

/// The layout of the weights in a file.
///
/// A column-wise triangle reads like the other triangle row by row, as it is symmetric: the nine
/// formats of TSPLIB are these five.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Every row is complete.
    Full,
    /// Every row has only the part right of the diagonal, or left of it.
    Triangle { upper: bool, diagonal: bool },
}

impl Layout {
    /// The names of all layouts.
    pub(super) const KEYWORDS: [&str; 9] = [
        "FULL_MATRIX",
        "UPPER_ROW",
        "LOWER_ROW",
        "UPPER_DIAG_ROW",
        "LOWER_DIAG_ROW",
        "UPPER_COL",
        "LOWER_COL",
        "UPPER_DIAG_COL",
        "LOWER_DIAG_COL",
    ];

    pub(super) fn from_keyword(keyword: &str) -> Option<Layout> {
        let (upper, diagonal) = match keyword {
            "FULL_MATRIX" => return Some(Layout::Full),
            "UPPER_ROW" | "LOWER_COL" => (true, false),
            "LOWER_ROW" | "UPPER_COL" => (false, false),
            "UPPER_DIAG_ROW" | "LOWER_DIAG_COL" => (true, true),
            "LOWER_DIAG_ROW" | "UPPER_DIAG_COL" => (false, true),
            _ => return None,
        };
        Some(Layout::Triangle { upper, diagonal })
    }

    /// Returns the number of weights of a matrix with `n` rows in this layout.
    pub(super) fn weights(self, n: usize) -> u64 {
        let n = n as u64;
        match self {
            Layout::Full => n * n,
            Layout::Triangle { diagonal: true, .. } => n * (n + 1) / 2,
            Layout::Triangle { diagonal: false, .. } => n * (n - 1) / 2,
        }
    }

    /// Returns the row and column of each weight, in file order.
    pub(super) fn cells(self, n: usize) -> Cells {
        let row = match self {
            Layout::Triangle { upper: false, diagonal: false } => 1,
            _ => 0,
        };
        Cells { layout: self, n, row, column: self.columns(row, n).start }
    }

    fn columns(self, row: usize, n: usize) -> std::ops::Range<usize> {
        match self {
            Layout::Full => 0..n,
            Layout::Triangle { upper: true, diagonal } => row + usize::from(!diagonal)..n,
            Layout::Triangle { upper: false, diagonal } => 0..row + usize::from(diagonal),
        }
    }

    /// Returns whether it is half of a matrix.
    pub(super) fn is_half(self) -> bool {
        matches!(self, Layout::Triangle { .. })
    }

    /// Returns the whole matrix, row by row, from weights in this layout.
    pub(super) fn expand<T: Copy + Default>(self, n: usize, weights: Vec<T>) -> Vec<T> {
        if self == Layout::Full {
            return weights;
        }
        let mut matrix = vec![T::default(); n * n];
        for ((i, j), weight) in self.cells(n).zip(weights) {
            matrix[i * n + j] = weight;
            matrix[j * n + i] = weight;
        }
        matrix
    }
}

/// The cells of a layout.
pub(super) struct Cells {
    layout: Layout,
    n: usize,
    row: usize,
    column: usize,
}

impl Iterator for Cells {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        while self.row < self.n {
            let cell = (self.row, self.column);
            if self.column < self.layout.columns(self.row, self.n).end {
                self.column += 1;
                return Some(cell);
            }
            self.row += 1;
            self.column = self.layout.columns(self.row, self.n).start;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_has_as_many_cells_as_weights() {
        for keyword in Layout::KEYWORDS {
            let layout = Layout::from_keyword(keyword).unwrap();
            for n in 1..6 {
                let cells: Vec<_> = layout.cells(n).collect();
                assert_eq!(cells.len() as u64, layout.weights(n), "{keyword} {n}");
                assert!(cells.iter().all(|&(i, j)| i < n && j < n));
            }
        }
        assert_eq!(Layout::from_keyword("FUNCTION"), None);
    }
}
