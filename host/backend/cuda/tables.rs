//! A problem's tables in the form that kernels read.

use antwarp_core::geometry::Point;

use crate::engine::{Places, Problem};

/// Returns the places as bytes in the machine's order, [`Places::bytes`] for each node.
pub(super) fn place_bytes(places: &Places) -> Vec<u8> {
    match places {
        Places::Grid { places, .. } => places.iter().flat_map(|p| p.to_ne_bytes()).collect(),
        Places::Planar { places, .. } => {
            places.iter().flat_map(|&Point(x, y)| [x.to_ne_bytes(), y.to_ne_bytes()]).flatten().collect()
        }
        Places::Numbered(places) => places.iter().flat_map(|p| p.to_ne_bytes()).collect(),
    }
}

/// Returns the distance matrix that a kernel reads, n x n, row by row: the instance's, or one made from a metric that kernels
/// cannot compute. Empty if kernels compute distances from points.
pub(super) fn device_matrix(problem: &Problem) -> Vec<i32> {
    if problem.metric().is_some() && problem.has_device_matrix() {
        problem.computed_matrix()
    } else {
        problem.matrix().to_vec()
    }
}
