//! Places on the globe as those of a unit sphere.

use antwarp_core::metric::{EARTH_RADIUS, GEOM_RADIUS, Metric, geo_radians};

use super::kd_tree::square;

/// A coordinate of `GEO` or `GEOM` in radians.
pub(crate) fn radians(metric: Metric, coordinate: f64) -> f64 {
    if metric == Metric::Geo { geo_radians(coordinate) } else { coordinate.to_radians() }
}

/// The radius of the globe of `GEO`, in kilometres, or of `GEOM`, in metres.
pub(crate) fn radius(metric: Metric) -> f64 {
    if metric == Metric::Geo { EARTH_RADIUS } else { GEOM_RADIUS }
}

/// Where a point is, given as latitude and longitude.
pub(crate) fn place(metric: Metric, point: [f64; 3]) -> [f64; 3] {
    on_unit_sphere(radians(metric, point[0]), radians(metric, point[1]))
}

/// Where a latitude and a longitude are, both in radians.
pub(crate) fn on_unit_sphere(latitude: f64, longitude: f64) -> [f64; 3] {
    let radius = latitude.cos();
    [radius * longitude.cos(), radius * longitude.sin(), latitude.sin()]
}

/// What no points are nearer than whose places are at least so far apart along each axis: the arc over a chord, and 1, as the
/// distance has it; what is computed is less than a hundredth off.
#[inline]
pub(crate) fn least(metric: Metric, beyond: [f64; 3]) -> i32 {
    let arc = 2.0 * radius(metric) * (square(beyond).sqrt() / 2.0).min(1.0).asin();
    (arc + 0.99) as i32
}
