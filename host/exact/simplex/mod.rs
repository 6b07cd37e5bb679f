//! Linear programs, solved by the dual simplex method of somebody else: [HiGHS](https://highs.dev).
//!
//! [`Simplex`] is one linear program, [`Solver`] makes them. Nothing here is believed: what follows from an answer is computed again in
//! whole numbers (see [`Duals`](crate::Duals)), and answers that make no sense are errors.

mod highs;
mod library;

pub use library::Highs;

use antwarp_instance::Enough;

/// Why a linear program could not be solved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimplexError {
    /// There is no library.
    #[error(
        "no HiGHS library (tried {}): install HiGHS 1.7 or later, or set ANTWARP_HIGHS to its file",
        tried.join(", ")
    )]
    Missing {
        /// What was tried, each with the reason why it failed.
        tried: Vec<String>,
    },
    /// The library is too old, or not HiGHS.
    #[error("{file} is not HiGHS 1.7 or later: {why}")]
    Unsuitable {
        /// The library.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// A call failed.
    #[error("HiGHS failed: {0}")]
    Failed(String),
    /// An answer makes no sense.
    #[error("HiGHS returned nonsense: {0}")]
    Nonsense(String),
}

/// The result of a call.
pub type Result<T> = std::result::Result<T, SimplexError>;

/// A library that solves linear programs.
pub trait Solver: Sync {
    /// Makes a linear program without rows and columns.
    ///
    /// # Errors
    /// If the library refuses.
    fn create(&self) -> Result<Box<dyn Simplex>>;
}

/// Rows or columns, each with its limits and its coefficients that are not 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// The least value of each; negative infinity if there is no limit.
    pub lower: Vec<f64>,
    /// The greatest value of each; infinity if there is no limit.
    pub upper: Vec<f64>,
    /// Where the coefficients of each start in `indices` and `values`; they end where the next ones start.
    pub starts: Vec<i32>,
    /// Where the coefficients are, from 0: in which columns, for rows; in which rows, for columns. At most once each.
    pub indices: Vec<i32>,
    /// The coefficients, as many as `indices`.
    pub values: Vec<f64>,
}

impl Lines {
    /// Appends a row or column with its limits and its coefficients, each with the index of its column or row.
    pub fn push(&mut self, (lower, upper): (f64, f64), coefficients: impl IntoIterator<Item = (usize, f64)>) {
        self.lower.push(lower);
        self.upper.push(upper);
        self.starts.push(self.indices.len() as i32);
        for (index, value) in coefficients {
            self.indices.push(index as i32);
            self.values.push(value);
        }
    }

    /// Asserts that the arrays belong together, and fit the library's numbers.
    ///
    /// # Panics
    /// If they do not.
    pub(crate) fn check(&self) {
        assert!(
            self.upper.len() == self.len() && self.starts.len() == self.len(),
            "limits and starts of each line"
        );
        assert_eq!(self.indices.len(), self.values.len(), "an index for each value");
        assert!(i32::try_from(self.indices.len()).is_ok(), "at most 2^31 values");
        let is_sorted = self.starts.windows(2).all(|two| two[0] <= two[1]);
        let ends = self.starts.first().is_none_or(|&first| first >= 0)
            && self.starts.last().is_none_or(|&last| last as usize <= self.indices.len());
        assert!(is_sorted && ends, "starts within the values");
    }

    /// Returns the number of rows or columns.
    pub fn len(&self) -> usize {
        self.lower.len()
    }

    /// Returns whether there are no rows or columns.
    pub fn is_empty(&self) -> bool {
        self.lower.is_empty()
    }
}

/// Where a row or column is in a basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// At its lower limit.
    Lower,
    /// In the basis.
    Basic,
    /// At its upper limit.
    Upper,
}

/// A basis: as many rows and columns are [basic](Standing::Basic) as there are rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// For each column.
    pub columns: Vec<Standing>,
    /// For each row.
    pub rows: Vec<Standing>,
}

impl Basis {
    /// Returns whether as many are basic as there are rows.
    pub fn is_complete(&self) -> bool {
        let basic = self.columns.iter().chain(&self.rows).filter(|&&standing| standing == Standing::Basic);
        basic.count() == self.rows.len()
    }
}

/// When the simplex method stops.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The most iterations; `None`: any number.
    pub iterations: Option<u32>,
    /// The optimum, in the program's costs, does not matter if it is above this; `None`: it matters in any case.
    pub objective: Option<f64>,
    /// Asked during the iterations whether to stop.
    pub enough: Enough<'a>,
}

/// How solving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With a solution that is optimal, according to the library.
    Optimal,
    /// According to the library, no solution satisfies all rows.
    Infeasible,
    /// According to the library, the optimum is above the limit.
    AboveLimit,
    /// After the given number of iterations.
    IterationLimit,
    /// It was interrupted by [`Limits::enough`].
    Interrupted,
}

/// The solution at which the last iterations ended; optimal only with [`Status::Optimal`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// The sum of costs times columns.
    pub objective: f64,
    /// The value of each column.
    pub columns: Vec<f64>,
    /// The dual value of each row: by how much the optimum grows if the row's limit does. Not negative for lower limits.
    pub duals: Vec<f64>,
}

/// A linear program: minimise the sum of costs times columns, with all rows and columns between their limits.
///
/// Each solve starts from the basis where the last one ended; added columns are at their lower limits, added rows basic.
pub trait Simplex: Send {
    /// Appends columns, each with its cost and its coefficients in the rows that are there.
    ///
    /// # Errors
    /// If the library refuses.
    ///
    /// # Panics
    /// If there is not one cost for each column.
    fn add_columns(&mut self, costs: &[f64], columns: &Lines) -> Result<()>;

    /// Appends rows, each with its coefficients in the columns that are there.
    ///
    /// # Errors
    /// If the library refuses.
    fn add_rows(&mut self, rows: &Lines) -> Result<()>;

    /// Deletes the rows where the mask is true; later rows move up.
    ///
    /// # Errors
    /// If the library refuses.
    ///
    /// # Panics
    /// If the mask has not one entry for each row.
    fn delete_rows(&mut self, is_deleted: &[bool]) -> Result<()>;

    /// Deletes the columns where the mask is true; later columns move up.
    ///
    /// # Errors
    /// If the library refuses.
    ///
    /// # Panics
    /// If the mask has not one entry for each column.
    fn delete_columns(&mut self, is_deleted: &[bool]) -> Result<()>;

    /// Changes the limits of columns, given as `(column, lower, upper)`.
    ///
    /// # Errors
    /// If the library refuses.
    fn set_limits(&mut self, columns: &[(usize, f64, f64)]) -> Result<()>;

    /// Solves it, or tries to.
    ///
    /// # Errors
    /// If the library fails, or ends in another way than a [`Status`] says.
    fn solve(&mut self, limits: &Limits<'_>) -> Result<Status>;

    /// Returns where the last solve ended. Numbers that are missing may be NaN.
    ///
    /// # Errors
    /// If the library refuses.
    fn solution(&mut self) -> Result<Solution>;

    /// Returns, after [`Status::Infeasible`], a combination of rows that shows why: one number a row, with the signs of duals.
    /// `None` if the library has none.
    ///
    /// # Errors
    /// If the library refuses.
    fn ray(&mut self) -> Result<Option<Vec<f64>>>;

    /// Returns the basis.
    ///
    /// # Errors
    /// If the library has no basis.
    fn basis(&mut self) -> Result<Basis>;

    /// Makes the next solve start from this basis.
    ///
    /// # Errors
    /// If the library refuses it.
    ///
    /// # Panics
    /// If it has not one entry for each column and row.
    fn set_basis(&mut self, basis: &Basis) -> Result<()>;

    /// Returns the number of iterations of the last solve.
    fn iterations(&self) -> u64;
}
