//! Distance functions: those of TSPLIB, exact to the last unit (TSPLIB 95, section 2), and great circles.
//!
//! Everything is 64-bit arithmetic without fused multiply-adds: published optimal tours are off by
//! a few units in 32 bits, and CPU and GPU have to agree on every distance.

use crate::math::{acos, atan2, cos, sin, sqrt};

/// A distance function over coordinates (TSPLIB 95, section 2), or [`Metric::Sphere`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Metric {
    /// `EUC_2D`: Euclidean, rounded to the nearest integer.
    Euc2d = 0,
    /// `CEIL_2D`: Euclidean, rounded up.
    Ceil2d = 1,
    /// `ATT`: pseudo-Euclidean.
    Att = 2,
    /// `MAN_2D`: Manhattan, rounded to the nearest integer.
    Man2d = 3,
    /// `MAX_2D`: the larger of the rounded differences.
    Max2d = 4,
    /// `EUC_3D`: Euclidean in space, rounded to the nearest integer.
    Euc3d = 5,
    /// `MAN_3D`: Manhattan in space, rounded to the nearest integer.
    Man3d = 6,
    /// `MAX_3D`: the largest of the rounded differences.
    Max3d = 7,
    /// `GEO`: kilometres on the idealised earth; x is the latitude, y the longitude, as DDD.MM.
    Geo = 8,
    /// `XRAY1`: crystallography, three motors of equal speed; hundredths of a degree.
    Xray1 = 9,
    /// `XRAY2`: crystallography, three motors of different speeds; hundredths of a degree at speed 1.
    Xray2 = 10,
    /// `FLOOR_2D`: Euclidean, rounded down (LKH).
    Floor2d = 11,
    /// `GEOM`: metres on a sphere of radius 6,378,388 m; x is the latitude, y the longitude, in degrees with decimals (Concorde).
    Geom = 12,
    /// Along a great circle, rounded to the nearest integer; points lie on a sphere around (0, 0, 0), in the unit of the distances.
    /// No file names it: readers convert degrees to it.
    Sphere = 13,
}

impl Metric {
    /// Every metric that a file can name, in the order of its number.
    pub const ALL: [Metric; 13] = [
        Metric::Euc2d,
        Metric::Ceil2d,
        Metric::Att,
        Metric::Man2d,
        Metric::Max2d,
        Metric::Euc3d,
        Metric::Man3d,
        Metric::Max3d,
        Metric::Geo,
        Metric::Xray1,
        Metric::Xray2,
        Metric::Floor2d,
        Metric::Geom,
    ];

    /// Returns the metric named by a TSPLIB `EDGE_WEIGHT_TYPE`, in capitals; `None` for others, such as `EXPLICIT`.
    pub fn from_keyword(keyword: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.keyword() == keyword)
    }

    /// Returns the metric's `EDGE_WEIGHT_TYPE`, or a description if it has none.
    pub const fn keyword(self) -> &'static str {
        match self {
            Metric::Euc2d => "EUC_2D",
            Metric::Ceil2d => "CEIL_2D",
            Metric::Att => "ATT",
            Metric::Man2d => "MAN_2D",
            Metric::Max2d => "MAX_2D",
            Metric::Euc3d => "EUC_3D",
            Metric::Man3d => "MAN_3D",
            Metric::Max3d => "MAX_3D",
            Metric::Geo => "GEO",
            Metric::Xray1 => "XRAY1",
            Metric::Xray2 => "XRAY2",
            Metric::Floor2d => "FLOOR_2D",
            Metric::Geom => "GEOM",
            Metric::Sphere => "great circle",
        }
    }

    /// Returns the space in which its points lie.
    pub const fn space(self) -> Space {
        match self {
            Metric::Euc2d | Metric::Ceil2d | Metric::Floor2d | Metric::Att => Space::Plane,
            Metric::Man2d | Metric::Max2d => Space::Plane,
            Metric::Euc3d | Metric::Man3d | Metric::Max3d => Space::Solid,
            Metric::Xray1 | Metric::Xray2 => Space::Motors,
            Metric::Geo | Metric::Geom => Space::Degrees,
            Metric::Sphere => Space::Sphere,
        }
    }

    /// Returns the number of coordinates of a point.
    pub const fn dimensions(self) -> usize {
        match self.space() {
            Space::Plane | Space::Degrees => 2,
            Space::Solid | Space::Motors | Space::Sphere => 3,
        }
    }

    /// Returns whether distances need nothing beyond roots, so that a GPU computes them from the points.
    pub const fn is_algebraic(self) -> bool {
        !self.is_on_globe()
    }

    /// Returns whether points lie on a globe.
    pub const fn is_on_globe(self) -> bool {
        matches!(self.space(), Space::Degrees | Space::Sphere)
    }

    /// Returns whether the coordinates are a latitude and a longitude.
    pub const fn is_in_degrees(self) -> bool {
        matches!(self.space(), Space::Degrees)
    }

    /// Returns whether a node that is nearer along a straight line is never farther by this metric.
    pub const fn is_by_line(self) -> bool {
        matches!(
            self,
            Metric::Euc2d | Metric::Ceil2d | Metric::Floor2d | Metric::Att | Metric::Euc3d | Metric::Sphere
        )
    }
}

/// The space in which the points of a metric lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// A plane: x and y.
    Plane,
    /// Three dimensions: x, y and z.
    Solid,
    /// The positions of three motors, in degrees.
    Motors,
    /// A globe: latitude and longitude, in degrees.
    Degrees,
    /// A sphere around (0, 0, 0): x, y and z.
    Sphere,
}

impl TryFrom<u32> for Metric {
    type Error = u32;

    /// Returns the metric with this number.
    ///
    /// # Errors
    /// The number itself, if no metric has it.
    fn try_from(number: u32) -> Result<Metric, u32> {
        let is_it = |metric: &Metric| *metric as u32 == number;
        Metric::ALL.into_iter().chain([Metric::Sphere]).find(is_it).ok_or(number)
    }
}

/// Returns the distance of two points (x, y, z); z is ignored by two-dimensional metrics.
///
/// A distance beyond the range of `i32` is clamped, and NaN coordinates give some number that is not negative: readers reject such
/// instances.
///
/// ```
/// use antwarp_core::metric::{Metric, distance};
///
/// let (a, b) = ([0.0, 0.0, 0.0], [3.0, 4.4, 0.0]);
/// assert_eq!(distance(Metric::Euc2d, a, b), 5);
/// assert_eq!(distance(Metric::Ceil2d, a, b), 6);
/// ```
#[inline(always)]
pub fn distance(metric: Metric, a: [f64; 3], b: [f64; 3]) -> i32 {
    match metric {
        Metric::Geo => geo(a, b),
        Metric::Geom => geom(a, b),
        Metric::Sphere => sphere(a, b),
        _ => algebraic_distance(metric, a, b),
    }
}

/// As [`distance`], for the metrics that need nothing beyond roots (see [`Metric::is_algebraic`]); 0 for the others.
#[inline(always)]
pub fn algebraic_distance(metric: Metric, a: [f64; 3], b: [f64; 3]) -> i32 {
    let [dx, dy, dz] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    match metric {
        Metric::Euc2d => nint(sqrt(dx * dx + dy * dy)),
        Metric::Ceil2d => ceil(sqrt(dx * dx + dy * dy)),
        Metric::Floor2d => sqrt(dx * dx + dy * dy) as i32,
        Metric::Att => att(dx * dx + dy * dy),
        Metric::Man2d => nint(abs(dx) + abs(dy)),
        Metric::Max2d => max(nint(abs(dx)), nint(abs(dy))),
        Metric::Euc3d => nint(sqrt(dx * dx + dy * dy + dz * dz)),
        Metric::Man3d => nint(abs(dx) + abs(dy) + abs(dz)),
        Metric::Max3d => max(nint(abs(dx)), max(nint(abs(dy)), nint(abs(dz)))),
        Metric::Xray1 => xray(dx, dy, dz, [1.0, 1.0, 1.0]),
        Metric::Xray2 => xray(dx, dy, dz, [1.25, 1.5, 1.15]),
        Metric::Geo | Metric::Geom | Metric::Sphere => 0,
    }
}

/// Returns the distance of two points before any rounding, in the unit of their coordinates, for the metrics that only round to
/// the nearest integer at the end; `None` for the others.
pub fn length(metric: Metric, a: [f64; 3], b: [f64; 3]) -> Option<f64> {
    let [dx, dy, dz] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    Some(match metric {
        Metric::Euc2d => sqrt(dx * dx + dy * dy),
        Metric::Euc3d => sqrt(dx * dx + dy * dy + dz * dz),
        Metric::Man2d => abs(dx) + abs(dy),
        Metric::Man3d => abs(dx) + abs(dy) + abs(dz),
        Metric::Max2d => larger(abs(dx), abs(dy)),
        Metric::Max3d => larger(abs(dx), larger(abs(dy), abs(dz))),
        Metric::Sphere => great_circle(a, b),
        _ => return None,
    })
}

/// Computes TSPLIB's `nint` of a non-negative value.
#[inline(always)]
pub(crate) fn nint(x: f64) -> i32 {
    (x + 0.5) as i32
}

/// Rounds up a non-negative value, without a library call.
#[inline(always)]
pub(crate) fn ceil(x: f64) -> i32 {
    let whole = x as i32;
    if (whole as f64) < x { whole.saturating_add(1) } else { whole }
}

/// Returns TSPLIB's pseudo-Euclidean distance (`ATT`), given the square of the Euclidean one.
#[inline(always)]
pub(crate) fn att(square: f64) -> i32 {
    let r = sqrt(square / 10.0);
    let t = nint(r);
    if (t as f64) < r { t.saturating_add(1) } else { t }
}

#[inline(always)]
fn abs(x: f64) -> f64 {
    if x < 0.0 { -x } else { x }
}

#[inline(always)]
fn max(a: i32, b: i32) -> i32 {
    if a > b { a } else { b }
}

/// The earth's radius of TSPLIB's `GEO`, in kilometres.
pub const GEO_RADIUS_KM: f64 = 6378.388;

/// TSPLIB's own π: its distances are computed with six digits.
#[expect(clippy::approx_constant, reason = "TSPLIB's distances are defined with six digits")]
pub const GEO_PI: f64 = 3.141592;

/// Converts a coordinate written as DDD.MM to radians: the degrees are truncated, not rounded as TSPLIB's manual says; the
/// published tour lengths require truncation.
#[inline]
pub fn geo_radians(x: f64) -> f64 {
    let degrees = x as i32 as f64;
    let minutes = x - degrees;
    GEO_PI * (degrees + 5.0 * minutes / 3.0) / 180.0
}

/// Not inlined: it is long, and no hot loop computes it twice for one pair.
#[inline(never)]
fn geo(a: [f64; 3], b: [f64; 3]) -> i32 {
    let [latitude_a, longitude_a] = [geo_radians(a[0]), geo_radians(a[1])];
    let [latitude_b, longitude_b] = [geo_radians(b[0]), geo_radians(b[1])];
    let q1 = cos(longitude_a - longitude_b);
    let q2 = cos(latitude_a - latitude_b);
    let q3 = cos(latitude_a + latitude_b);
    let cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3);
    // Rounding can push the cosine of equal or opposite places past 1, where the angle is NaN.
    let cosine = cosine.clamp(-1.0, 1.0);
    (GEO_RADIUS_KM * acos(cosine) + 1.0) as i32
}

/// The radius of the sphere of `GEOM`, in metres.
pub const GEOM_RADIUS: f64 = 6_378_388.0;

/// Not inlined, like [`geo`]. Uses the haversine, which stays accurate for near places.
#[inline(never)]
fn geom(a: [f64; 3], b: [f64; 3]) -> i32 {
    let radians = core::f64::consts::PI / 180.0;
    let north = sin(0.5 * (a[0] - b[0]) * radians);
    let east = sin(0.5 * (a[1] - b[1]) * radians);
    let haversine = north * north + cos(a[0] * radians) * cos(b[0] * radians) * east * east;
    // Rounding can push it out of its range.
    let haversine = haversine.clamp(0.0, 1.0);
    (GEOM_RADIUS * 2.0 * atan2(sqrt(haversine), sqrt(1.0 - haversine)) + 1.0) as i32
}

/// Not inlined, like [`geo`].
#[inline(never)]
fn sphere(a: [f64; 3], b: [f64; 3]) -> i32 {
    nint(great_circle(a, b))
}

/// Returns the arc between two points of a sphere around (0, 0, 0), in the unit of their coordinates. The chord and the line to the
/// antipode are the legs of a right triangle over the diameter, so near and opposite points lose no precision.
#[inline]
fn great_circle(a: [f64; 3], b: [f64; 3]) -> f64 {
    let square = |x: f64, y: f64, z: f64| x * x + y * y + z * z;
    let chord = square(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    let other = square(a[0] + b[0], a[1] + b[1], a[2] + b[2]);
    sqrt(chord + other) * atan2(sqrt(chord), sqrt(other))
}

/// The slowest of three motors decides; the first one turns in a circle. TSPLIB suggests rounding a hundred times the time.
#[inline(always)]
fn xray(dx: f64, dy: f64, dz: f64, speed: [f64; 3]) -> i32 {
    let turn = abs(dx);
    let back = abs(turn - 360.0);
    let phi = (if turn < back { turn } else { back }) / speed[0];
    let chi = abs(dy) / speed[1];
    let theta = abs(dz) / speed[2];
    let slower = if phi > chi { phi } else { chi };
    nint(100.0 * if slower > theta { slower } else { theta })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Metric::*;

    const ORIGIN: [f64; 3] = [0.0; 3];

    #[test]
    fn numbers_and_keywords_name_the_same_metric() {
        for (number, metric) in Metric::ALL.into_iter().enumerate() {
            assert_eq!(metric as usize, number);
            assert_eq!(Metric::try_from(number as u32), Ok(metric));
            assert_eq!(Metric::from_keyword(metric.keyword()), Some(metric));
        }
        assert_eq!(Metric::try_from(13), Ok(Sphere));
        assert_eq!(Metric::try_from(14), Err(14));
        assert_eq!(Metric::from_keyword(Sphere.keyword()), None);
        assert_eq!(Metric::from_keyword("EXPLICIT"), None);
    }

    #[test]
    fn halves_are_rounded_up() {
        assert_eq!(distance(Euc2d, ORIGIN, [0.5, 0.0, 9.0]), 1);
        assert_eq!(distance(Euc2d, ORIGIN, [3.0, -4.4, 9.0]), 5);
        assert_eq!(distance(Man2d, ORIGIN, [0.25, -0.25, 9.0]), 1);
        assert_eq!(distance(Max2d, ORIGIN, [2.4, -2.5, 9.0]), 3);
        assert_eq!(distance(Ceil2d, ORIGIN, [3.0, 4.0, 9.0]), 5);
        assert_eq!(distance(Ceil2d, ORIGIN, [3.0, 4.001, 9.0]), 6);
    }

    #[test]
    fn att_rounds_up_after_dividing_by_ten() {
        assert_eq!(distance(Att, ORIGIN, [10.0, 0.0, 0.0]), 4);
        assert_eq!(distance(Att, ORIGIN, [30.0, 10.0, 0.0]), 10);
        assert_eq!(distance(Att, ORIGIN, [0.0, 0.0, 0.0]), 0);
    }

    #[test]
    fn space_uses_the_third_coordinate() {
        assert_eq!(distance(Euc3d, ORIGIN, [2.0, 3.0, 6.0]), 7);
        assert_eq!(distance(Man3d, ORIGIN, [2.0, -3.0, 6.0]), 11);
        assert_eq!(distance(Max3d, ORIGIN, [2.0, -3.0, 6.4]), 6);
    }

    #[test]
    fn places_on_the_earth() {
        // The first two cities of burma14 and of ulysses16.
        assert_eq!(distance(Geo, [16.47, 96.10, 0.0], [16.47, 94.44, 0.0]), 153);
        assert_eq!(distance(Geo, [38.24, 20.42, 0.0], [39.57, 26.15, 0.0]), 509);
        assert_eq!(distance(Geo, [12.3, -4.5, 0.0], [12.3, -4.5, 0.0]), 1);
    }

    #[test]
    fn floors_are_rounded_down() {
        assert_eq!(distance(Floor2d, ORIGIN, [3.0, 4.999, 9.0]), 5);
        assert_eq!(distance(Floor2d, ORIGIN, [0.6, 0.6, 0.0]), 0);
    }

    #[test]
    fn great_circles_of_near_and_of_opposite_places() {
        // A quarter of the equator, half a meridian, a metre, and one short of half the way round.
        let radius = 1e6;
        let at = |angle: f64| [radius * cos(angle), radius * sin(angle), 0.0];
        let pi = core::f64::consts::PI;
        for angle in [0.0, 1e-6, 0.1, pi / 2.0, 3.0, pi - 1e-6, pi] {
            let arc = length(Sphere, at(0.3), at(0.3 + angle)).unwrap();
            assert!((arc - radius * angle).abs() < 1e-8, "{angle}: {arc}");
            assert_eq!(distance(Sphere, at(1.0), at(1.0 + angle)), nint(radius * angle));
        }
        assert_eq!(distance(Geom, [41.89, 12.48, 0.0], [41.89, 12.48, 0.0]), 1);
        assert_eq!(distance(Geom, [0.0, 0.0, 0.0], [0.0, 90.0, 0.0]), (GEOM_RADIUS * pi / 2.0 + 1.0) as i32);
        assert_eq!(
            distance(Geom, [0.0, 179.5, 0.0], [0.0, -179.5, 0.0]),
            (GEOM_RADIUS * pi / 180.0 + 1.0) as i32
        );
    }

    #[test]
    fn xray_turns_the_short_way_round() {
        assert_eq!(distance(Xray1, [350.0, 0.0, 0.0], [10.0, 0.0, 0.0]), 2000);
        assert_eq!(distance(Xray1, ORIGIN, [1.0, 2.0, 3.5]), 350);
        assert_eq!(distance(Xray2, ORIGIN, [1.25, 1.2, 0.0]), 100);
        assert_eq!(distance(Xray2, ORIGIN, [1.0, 3.0, 1.15]), 200);
    }

    #[test]
    fn absurd_coordinates_do_not_overflow() {
        for metric in Metric::ALL.into_iter().chain([Sphere]) {
            for x in [1e300, f64::INFINITY, f64::NAN] {
                let d = distance(metric, [x, -x, x], [-x, x, -x]);
                assert!(d >= 0, "{metric:?} {x} {d}");
            }
        }
    }
}
