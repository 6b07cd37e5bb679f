//! Options for files whose content can be interpreted in several ways.

/// How to interpret a table of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Shape {
    /// One place per row.
    Points,
    /// The distances from each place to every other, row by row.
    Matrix,
    /// Two places per row and the cost between them.
    Edges,
}

/// The decimal separator of numbers. The other character may only separate thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum DecimalSign {
    /// `1234.5`, or `1,234.5`
    Point,
    /// `1234,5`, or `1.234,5`
    Comma,
}

/// How to read a file. By default, the content decides, and ambiguous files are rejected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// What the numbers of a table mean; `None`: the content decides.
    pub shape: Option<Shape>,
    /// The roles of columns: `x`, `y`, `z`, `lat`, `lon`, `name`, `from`, `to` or `cost`, each with the number of a column, from 1,
    /// or its header.
    pub columns: Vec<(String, String)>,
    /// The decimal separator in delimited text; `None`: the content decides.
    pub decimal: Option<DecimalSign>,
    /// The first line is data, not column names.
    pub no_header: bool,
    /// The numbers are degrees: latitudes and longitudes. Without column names, `columns` must say which is which.
    pub degrees: bool,
    /// A cost applies to one direction only, even if every edge is listed once or the matrix is symmetric.
    pub directed: bool,
    /// In a matrix or an edge list, costs of at least this value, in the file's unit, mean that there is no connection.
    pub forbidden_from: Option<f64>,
    /// TSPLIB distances are not rounded to whole numbers.
    pub unrounded: bool,
}
