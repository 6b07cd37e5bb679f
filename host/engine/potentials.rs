//! Potentials of nodes with directed edges.
//!
//! A tour leaves every node once and enters every node once. So if each edge (i, j) gets shorter by u(i) + v(j), all tours get
//! shorter by the same amount, the sum of all u and v, and local search may use these *reduced* lengths instead. The potentials
//! here solve the dual of the assignment problem: no reduced length is negative, and those of the cheapest assignment, one
//! successor for each node, are 0. An edge is then near if it costs little *more* than what must be paid anyway, which predicts the
//! edges of a short tour far better than its length: in stacker crane instances such as rbg443, all edges of the optimum have
//! reduced length 0.
//!
//! Computed by shortest augmenting paths, one row at a time (Kuhn 1955; Jonker and Volgenant 1987).

use antwarp_instance::{Enough, Instance, Watch};

/// Maximum number of nodes for which lengths are reduced: for more, computing them takes longer than they are worth in a run of ten
/// seconds (two seconds for 3,000 nodes on one thread, growing with the cube).
pub(super) const MOST_REDUCED: usize = 2000;

/// Returns the reduced lengths of an instance whose edges have a direction, n x n, row by row. `None` if it has more than 2,000 nodes,
/// if one of the lengths does not fit, or if `enough` asked to stop before they were complete. Unless it does, the result is the same
/// everywhere.
pub fn reduced_lengths(instance: &Instance, enough: Enough) -> Option<Vec<i32>> {
    let (matrix, n) = (instance.matrix()?, instance.len());
    if n <= MOST_REDUCED { reduced(matrix, n, &Watch::new(enough)) } else { None }
}

/// More than any sum of lengths.
const NEVER: i64 = 1 << 60;

/// Returns the reduced lengths of a matrix, n x n, row by row; `None` if the watch is over before they are complete, or if one does
/// not fit. Lengths from a node to itself stay 0.
pub(super) fn reduced(matrix: &[i32], n: usize, watch: &Watch) -> Option<Vec<i32>> {
    let (u, v) = potentials(matrix, n, watch)?;
    let length = |(i, j): (usize, usize)| {
        if i == j { Some(0) } else { i32::try_from(i64::from(matrix[i * n + j]) - u[i] - v[j]).ok() }
    };
    (0..n * n).map(|at| length((at / n, at % n))).collect()
}

/// Returns the potentials of rows and of columns; `None` if the watch is over before they are complete.
pub(super) fn potentials(matrix: &[i32], n: usize, watch: &Watch) -> Option<(Vec<i64>, Vec<i64>)> {
    // The last column stands for the row that has no column yet.
    let (mut u, mut v) = (vec![0; n], vec![0; n + 1]);
    let mut row_of = vec![usize::MAX; n + 1];
    for row in 0..n {
        row_of[n] = row;
        let (mut column, mut least, mut from) = (n, vec![NEVER; n], vec![n; n]);
        let mut is_done = vec![false; n + 1];
        // Dijkstra's algorithm, to the nearest column without a row.
        while row_of[column] != usize::MAX {
            if watch.is_over() {
                return None;
            }
            is_done[column] = true;
            let i = row_of[column];
            let (mut step, mut next) = (NEVER, n);
            for j in (0..n).filter(|&j| !is_done[j]) {
                let length = if i == j { NEVER / 2 } else { i64::from(matrix[i * n + j]) - u[i] - v[j] };
                if length < least[j] {
                    (least[j], from[j]) = (length, column);
                }
                if least[j] < step {
                    (step, next) = (least[j], j);
                }
            }
            for j in 0..=n {
                if is_done[j] {
                    u[row_of[j]] += step;
                    v[j] -= step;
                } else {
                    least[j] -= step;
                }
            }
            column = next;
        }
        while column != n {
            row_of[column] = row_of[from[column]];
            column = from[column];
        }
    }
    v.truncate(n);
    Some((u, v))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_length_is_negative_and_an_assignment_costs_nothing(
            n in 2_usize..9,
            weights in prop::collection::vec(prop_oneof![0..30, -9..9, 0..100_000_000], 81),
        ) {
            let matrix = &weights[..n * n];
            let reduced = reduced(matrix, n, &Watch::new(&|| false)).unwrap();
            let off = |i: usize, j: usize| i64::from(reduced[i * n + j]) - i64::from(matrix[i * n + j]);
            for (i, j) in (0..n * n).map(|at| (at / n, at % n)).filter(|(i, j)| i != j) {
                prop_assert!(reduced[i * n + j] >= 0);
                // Potentials of a row and of a column: differences between columns are the same in all rows.
                for (k, l) in (0..n * n).map(|at| (at / n, at % n)) {
                    if k != l && i != l && k != j {
                        prop_assert_eq!(off(i, j) - off(i, l), off(k, j) - off(k, l));
                    }
                }
            }
            // Which columns are taken, and whether the first rows can have them at length 0.
            let mut sets = vec![false; 1 << n];
            sets[0] = true;
            for set in 0..1_usize << n {
                let row = set.count_ones() as usize;
                let is_free = |&j: &usize| j != row && set >> j & 1 == 0 && reduced[row * n + j] == 0;
                for j in (0..n).filter(is_free).filter(|_| sets[set]).collect::<Vec<_>>() {
                    sets[set | 1 << j] = true;
                }
            }
            prop_assert!(sets[(1 << n) - 1]);
        }
    }

    #[test]
    fn a_watch_ends_it_and_lengths_have_to_fit() {
        assert_eq!(reduced(&[0, 1, 2, 0], 2, &Watch::new(&|| true)), None);
        let far = [0, 0, i32::MAX, i32::MIN, 0, 0, 0, i32::MIN, 0];
        let kept = reduced(&far, 3, &Watch::new(&|| false));
        assert!(kept.is_none_or(|kept| kept.iter().all(|&length| length >= 0)));
    }
}
