//! The target that a proven optimum sets.

use crate::instance::Instance;

/// Returns the internal cost of the published optimum of an instance, which ends a run that reaches it. `None` if none is known
/// that is proven. Also `None` if one of the initial tours, which are concatenated, is shorter: then it is the optimum of another
/// instance.
pub fn proven_optimum(instance: &Instance, initial: &[u32]) -> Option<i64> {
    let optimum = instance.best_known().filter(|known| known.proven).map(|known| known.cost)?;
    let is_beaten = is_beaten(optimum, instance, initial);
    (!is_beaten).then_some(optimum)
}

/// Returns whether one of these concatenated tours is shorter than `length`.
fn is_beaten(length: i64, instance: &Instance, tours: &[u32]) -> bool {
    tours.chunks(instance.len()).any(|tour| instance.check_tour(tour).is_ok_and(|cost| cost < length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::Metric;

    #[test]
    fn any_initial_tour_can_beat_a_length() {
        let corners = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [3.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
        let square = Instance::from_points("square", Metric::Euc2d, corners.to_vec()).unwrap();
        // Lengths 16 and 14.
        let tours = [2, 0, 1, 3, 0, 1, 2, 3];
        assert!(is_beaten(15, &square, &tours) && is_beaten(17, &square, &tours[..4]));
        assert!(!is_beaten(14, &square, &tours) && !is_beaten(16, &square, &tours[..4]));
        assert!(!is_beaten(100, &square, &[]));
    }
}
