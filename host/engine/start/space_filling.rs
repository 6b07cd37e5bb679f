//! The tour along a Hilbert curve.

use antwarp_core::metric::Space;
use antwarp_core::rng::Stream;
use rayon::prelude::*;

use crate::BackendError;
use crate::memory::{allocate, check_memory};
use antwarp_instance::{Cell, Enough, Instance, Watch, embedded, globe, parallel};

/// Bits of a coordinate on the curve.
const BITS: u32 = 31;

/// Returns the nodes in the order of a Hilbert curve through their bounding square; `None` if there are no coordinates, nor places to
/// which the costs of a matrix [fit](embedded). Of three coordinates, only the first two are used; on the globe, longitude and latitude.
pub(super) fn hilbert(instance: &Instance) -> Option<Vec<u32>> {
    let places = Square::new(instance)?;
    let scale = f64::from((1_u32 << BITS) - 1);
    Some(places.order(|[x, y]| [(x * scale) as u32, (y * scale) as u32]))
}

/// Returns this many tours, concatenated, along Hilbert curves through larger squares, in which the nodes' square has a random
/// size, place and orientation; `None` if there are no places, or once `enough` asks to stop. They depend on the seed, not on
/// threads.
///
/// # Errors
/// If they do not fit in memory.
pub fn hilbert_tours(
    instance: &Instance,
    count: u32,
    seed: u64,
    enough: Enough,
) -> Result<Option<Vec<u32>>, BackendError> {
    let Some(places) = Square::new(instance) else { return Ok(None) };
    let n = instance.len();
    check_memory("the first individuals", 4 * n * count as usize)?;
    let mut tours: Vec<u32> = allocate("the first individuals", n * count as usize)?;
    let (whole, watch) = (f64::from((1_u32 << BITS) - 1), Watch::new(enough));
    tours.par_chunks_exact_mut(n).enumerate().for_each(|(i, tour)| {
        if watch.is_over() {
            return;
        }
        let draws = Stream::new(seed, 0, i as u32).step(0);
        let scale = whole * (0.5 + 0.25 * f64::from(draws.unit(0)));
        let shift = [1, 2].map(|item| (whole - scale) * f64::from(draws.unit(item)));
        let cell = |z: f64, axis: usize| (shift[axis] + z * scale) as u32;
        let sides = draws.bits(3);
        let order = places.order(|[x, y]| {
            let (x, y) = if sides & 1 == 0 { (x, y) } else { (1.0 - x, y) };
            if sides & 2 == 0 { [cell(x, 0), cell(y, 1)] } else { [cell(y, 0), cell(x, 1)] }
        });
        tour.copy_from_slice(&order);
    });
    Ok(watch.kept(tours))
}

/// Nodes in a square of side 1.
struct Square(Vec<[f64; 2]>);

impl Square {
    fn new(instance: &Instance) -> Option<Square> {
        let Some((metric, points)) = instance.metric().zip(instance.points()) else {
            return embedded(instance).map(Square::around);
        };
        let place = |p: &[f64; 3]| match metric.space() {
            Space::Degrees => [globe::radians(metric, p[1]), globe::radians(metric, p[0])],
            Space::Sphere => [p[1].atan2(p[0]), p[2].atan2(p[0].hypot(p[1]))],
            _ => [p[0], p[1]],
        };
        Some(Square::around(parallel::collect(points.len(), &|node| place(&points[node]))))
    }

    /// Moves places into the square.
    fn around(mut places: Vec<[f64; 2]>) -> Square {
        let Cell { low: [left, lower], high: [right, upper] } = Cell::around(&places);
        let side = (right - left).max(upper - lower);
        // Use one scale for both axes: a stretched square would give a longer tour.
        let scale = if side > 0.0 { 1.0 / side } else { 0.0 };
        parallel::each_of(&mut places, 1 << 12, &|_, [x, y]| {
            (*x, *y) = ((*x - left) * scale, (*y - lower) * scale);
        });
        Square(places)
    }

    /// Returns the nodes along the curve, given their cells.
    fn order(&self, cell: impl Fn([f64; 2]) -> [u32; 2] + Sync) -> Vec<u32> {
        let at = |place: &[f64; 2]| {
            let [x, y] = cell(*place);
            position(x, y)
        };
        let mut order: Vec<(u64, u32)> =
            parallel::collect(self.0.len(), &|node| (at(&self.0[node]), node as u32));
        order.par_sort_unstable();
        parallel::collect(order.len(), &|index| order[index].1)
    }
}

/// Returns the position of a cell along the curve; its coordinates have [`BITS`] bits.
fn position(mut x: u32, mut y: u32) -> u64 {
    let mut position = 0;
    for bit in (0..BITS).rev() {
        let (right, upper) = (x >> bit & 1, y >> bit & 1);
        position = position << 2 | u64::from((3 * right) ^ upper);
        // The curve inside the lower quarters is reflected; higher bits are not used again.
        if upper == 0 {
            if right == 1 {
                (x, y) = (!x, !y);
            }
            (x, y) = (y, x);
        }
    }
    position
}

#[cfg(test)]
mod tests {
    use antwarp_core::metric::Metric;

    use super::*;

    #[test]
    fn the_curve_goes_from_cell_to_cell() {
        let mut cells: Vec<(u32, u32)> = (0..32).flat_map(|x| (0..32).map(move |y| (x, y))).collect();
        cells.sort_by_key(|&(x, y)| position(x << (BITS - 5), y << (BITS - 5)));
        assert!(cells.windows(2).all(|c| c[0].0.abs_diff(c[1].0) + c[0].1.abs_diff(c[1].1) == 1));
        assert_eq!((cells[0], cells[1023]), ((0, 0), (31, 0)));
    }

    #[test]
    fn a_line_is_walked_along() {
        let points = (0..100).map(|i| [f64::from(i * 37 % 100), 5.0, 0.0]).collect();
        let instance = Instance::from_points("line", Metric::Euc2d, points).unwrap();
        assert_eq!(instance.check_tour(&hilbert(&instance).unwrap()), Ok(2 * 99));
    }

    #[test]
    fn one_place_keeps_the_order_of_numbers() {
        let instance = Instance::from_points("heap", Metric::Euc2d, vec![[7.0; 3]; 5]).unwrap();
        assert_eq!(hilbert(&instance), Some(vec![0, 1, 2, 3, 4]));
    }
}
