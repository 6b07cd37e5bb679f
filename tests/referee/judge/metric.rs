//! The distances of TSPLIB 95, section 2, as its text has them.

/// The distance functions.
pub const ALL: [&str; 11] =
    ["EUC_2D", "EUC_3D", "MAX_2D", "MAX_3D", "MAN_2D", "MAN_3D", "CEIL_2D", "GEO", "ATT", "XRAY1", "XRAY2"];

/// How many coordinates a place has.
pub fn axes(metric: &str) -> usize {
    match metric {
        "EUC_3D" | "MAX_3D" | "MAN_3D" | "XRAY1" | "XRAY2" => 3,
        _ => 2,
    }
}

/// The distance of two places.
///
/// # Panics
/// If there is no such function.
pub fn weight(metric: &str, a: [f64; 3], b: [f64; 3]) -> i64 {
    let d = [0, 1, 2].map(|axis| (a[axis] - b[axis]).abs());
    match metric {
        "EUC_2D" => nint((d[0] * d[0] + d[1] * d[1]).sqrt()),
        "EUC_3D" => nint((d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()),
        "MAN_2D" => nint(d[0] + d[1]),
        "MAN_3D" => nint(d[0] + d[1] + d[2]),
        "MAX_2D" => nint(d[0]).max(nint(d[1])),
        "MAX_3D" => nint(d[0]).max(nint(d[1])).max(nint(d[2])),
        "CEIL_2D" => (d[0] * d[0] + d[1] * d[1]).sqrt().ceil() as i64,
        "GEO" => geographical(a, b),
        "ATT" => {
            let r = ((d[0] * d[0] + d[1] * d[1]) / 10.0).sqrt();
            let t = nint(r);
            if (t as f64) < r { t + 1 } else { t }
        }
        // A hundred times the time of the slowest motor, rounded: the text leaves the factor to the user, and names 100.
        "XRAY1" => nint(100.0 * turn(d[0]).max(d[1]).max(d[2])),
        "XRAY2" => nint(100.0 * (turn(d[0]) / 1.25).max(d[1] / 1.5).max(d[2] / 1.15)),
        other => panic!("there is no {other}"),
    }
}

/// TSPLIB's rounding of what is not negative.
fn nint(x: f64) -> i64 {
    (x + 0.5).floor() as i64
}

/// The shorter way round a circle.
fn turn(degrees: f64) -> f64 {
    degrees.min((degrees - 360.0).abs())
}

/// The section's own figures: six digits of pi, and a radius in kilometres.
#[expect(clippy::approx_constant, reason = "TSPLIB's pi")]
const PI: f64 = 3.141592;
const RADIUS: f64 = 6378.388;

fn geographical(a: [f64; 3], b: [f64; 3]) -> i64 {
    // DDD.MM, degrees and minutes. The text rounds the degrees; the published lengths are those of degrees cut off.
    let radians = |x: f64| PI * (x.trunc() + 5.0 * (x - x.trunc()) / 3.0) / 180.0;
    let (latitude, longitude) = ([a[0], b[0]].map(radians), [a[1], b[1]].map(radians));
    let q1 = (longitude[0] - longitude[1]).cos();
    let q2 = (latitude[0] - latitude[1]).cos();
    let q3 = (latitude[0] + latitude[1]).cos();
    let cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3);
    // Rounding can lead out of what has an angle.
    (RADIUS * cosine.clamp(-1.0, 1.0).acos() + 1.0).floor() as i64
}
