//! What a caller says about a file whose content leaves a choice.

/// What a table of numbers is to be read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Shape {
    /// A place in each row.
    Points,
    /// The distances from each place to each other, row by row.
    Matrix,
    /// In each row two places and the cost between them.
    Edges,
}

/// The sign in front of the decimals of a number. The other one stands between thousands, if anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum DecimalSign {
    /// `1234.5`, or `1,234.5`
    Point,
    /// `1234,5`, or `1.234,5`
    Comma,
}

/// How to read a file. The default decides by the file's content, and refuses what has two meanings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// What the numbers are.
    pub shape: Option<Shape>,
    /// Which columns have which role: `x`, `y`, `z`, `lat`, `lon`, `name`, `from`, `to` or `cost`, each with the number of a column,
    /// from 1, or its header.
    pub columns: Vec<(String, String)>,
    /// How delimited text spells decimals.
    pub decimal: Option<DecimalSign>,
    /// The first line is data, not names of columns.
    pub no_header: bool,
    /// The numbers are degrees: latitudes and longitudes. Without names of columns `columns` has to say which is which.
    pub degrees: bool,
    /// A cost holds for one direction only, even where every edge is listed once or the matrix is symmetric.
    pub directed: bool,
    /// Costs of a matrix or an edge list from this value on mean that there is no way.
    pub forbidden_from: Option<f64>,
    /// TSPLIB's distances are taken without its rounding to whole numbers.
    pub unrounded: bool,
}
