//! Quadratic assignment as its problem in core reads it; [`Qap`] is the instance.

use antwarp_core::papers::problem::Shape;

use super::{MOST_ELEMENTS, of_words};
use crate::engine::Tables;
use crate::engine::memory::check_memory;
use crate::instance::Qap;
use crate::solver::SolveError;

/// Largest entry of a QAP's matrices, so that differences of differences fit 32 bits.
const LARGEST_SEARCHABLE: i32 = 1 << 28;

/// Returns the tables for [`antwarp_core::papers::problem::Qap`].
///
/// # Errors
/// If the instance or its numbers are too large, or memory is short.
pub fn qap_tables(qap: &Qap) -> Result<Tables, SolveError> {
    if qap.n > MOST_ELEMENTS {
        return Err(SolveError::Settings(format!(
            "{}: at most {MOST_ELEMENTS} places can be searched",
            qap.name
        )));
    }
    if qap.a.iter().chain(&qap.b).any(|x| x.unsigned_abs() > LARGEST_SEARCHABLE as u32) {
        let why = format!("{}: numbers above {LARGEST_SEARCHABLE} are too large to search with", qap.name);
        return Err(SolveError::Settings(why));
    }
    // Both matrices, three times on the way.
    check_memory("the matrices", 24 * (qap.n as usize).pow(2))?;
    let sizes = [qap.n, qap.is_symmetric().into(), is_hollow(qap).into(), 0];
    let shape = Shape { sizes, ..Shape::default() };
    // b follows a without a gap.
    let both: Vec<i32> = qap.a.iter().chain(&qap.b).copied().collect();
    Ok(Tables::new(shape, &[&of_words(&both)]))
}

/// Returns whether both matrices have zero diagonals.
fn is_hollow(qap: &Qap) -> bool {
    let n = qap.n as usize;
    (0..n).all(|i| qap.a[i * n + i] == 0 && qap.b[i * n + i] == 0)
}

/// Returns whether sums of n products of a row of one matrix and one of the other fit 32 bits, and likewise of columns: then
/// the changes of exchanges can be stored.
pub fn can_be_stored(qap: &Qap) -> bool {
    let n = qap.n as usize;
    let largest = |matrix: &[i32]| matrix.iter().map(|x| i64::from(x.unsigned_abs())).max().unwrap_or(0);
    let row = |i: usize| -> i64 { qap.a[i * n..][..n].iter().map(|x| i64::from(x.unsigned_abs())).sum() };
    let column = |j: usize| -> i64 { (0..n).map(|i| i64::from(qap.a[i * n + j].unsigned_abs())).sum() };
    let most = (0..n).map(|i| row(i).max(column(i))).max().unwrap_or(0);
    most.saturating_mul(largest(&qap.b)) <= i64::from(i32::MAX)
}
