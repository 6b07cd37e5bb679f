//! Whether internal costs are fine enough for an instance.

use super::FEWEST;
use crate::engine::start;
use crate::instance::{Instance, InstanceError, Result};

/// Rejects an instance whose costs are rounded internally so coarsely that the cost of a tour may change by more than a millionth.
/// Instances with few nodes are solved without rounding.
///
/// # Errors
/// The resolution, and the remedy.
pub fn check_resolution(instance: &Instance) -> Result<()> {
    if instance.is_exact() || instance.len() < FEWEST {
        return Ok(());
    }
    // Use a short tour: the length of a long one could hide the effect of rounding on short edges.
    let tour = start::along_a_curve(instance).unwrap_or_else(|| nearest_by_true_cost(instance));
    let Some(part) = instance.rounding(&tour).filter(|&part| part > 1e-6) else { return Ok(()) };
    let resolution = instance.resolution();
    let problem = format!(
        "the range of costs is so wide that they are rounded to multiples of {resolution:e} internally, which may change the cost of a tour by a fraction of {:.0e}",
        part
    );
    let help = if instance.matrix().is_some() {
        "use --forbidden-from to say which large costs mean that there is no connection, or round the others"
    } else {
        "remove places that are far from all others"
    };
    Err(InstanceError::content(instance.name(), problem, help))
}

/// Returns the nearest-neighbor tour by the user's own costs.
fn nearest_by_true_cost(instance: &Instance) -> Vec<u32> {
    let mut left: Vec<u32> = (1..instance.len() as u32).collect();
    let mut tour = vec![0];
    while !left.is_empty() {
        let from = tour[tour.len() - 1];
        let cost = |&to: &u32| instance.edge_cost(from, to);
        let nearest = (0..left.len()).min_by(|&a, &b| cost(&left[a]).total_cmp(&cost(&left[b])));
        tour.push(left.swap_remove(nearest.unwrap_or(0)));
    }
    tour
}
