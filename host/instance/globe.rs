//! Places on the globe as points on a unit sphere.

use antwarp_core::metric::{GEO_RADIUS_KM, GEOM_RADIUS, Metric, geo_radians};

use super::kd_tree::square;

/// Returns a coordinate of `GEO` (DDD.MM) or `GEOM` (decimal degrees) in radians.
pub fn radians(metric: Metric, coordinate: f64) -> f64 {
    if metric == Metric::Geo { geo_radians(coordinate) } else { coordinate.to_radians() }
}

/// Returns the radius of the globe of `GEO`, in kilometres, or of `GEOM`, in metres.
pub fn radius(metric: Metric) -> f64 {
    if metric == Metric::Geo { GEO_RADIUS_KM } else { GEOM_RADIUS }
}

/// Returns the place on the unit sphere of a point of `GEO` or `GEOM`, given as latitude and longitude.
pub fn place(metric: Metric, point: [f64; 3]) -> [f64; 3] {
    on_unit_sphere(radians(metric, point[0]), radians(metric, point[1]))
}

/// Returns the place (x, y, z) of a latitude and longitude, both in radians: z to the north pole, x to latitude and longitude 0.
pub fn on_unit_sphere(latitude: f64, longitude: f64) -> [f64; 3] {
    let radius = latitude.cos();
    [radius * longitude.cos(), radius * longitude.sin(), latitude.sin()]
}

/// Returns a lower bound on the distance of points whose places are at least this far apart along each axis: the arc over the
/// chord, plus 1, as in the distance; the computation is off by less than a hundredth.
#[inline]
pub fn least(metric: Metric, beyond: [f64; 3]) -> i32 {
    let arc = 2.0 * radius(metric) * (square(beyond).sqrt() / 2.0).min(1.0).asin();
    (arc + 0.99) as i32
}
