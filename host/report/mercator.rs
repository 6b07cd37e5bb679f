//! The Mercator projection of pictures: that of web maps, on a sphere.

/// The latitude at which the map of the world is a square. Places nearer to a pole are drawn there.
const LAST_LATITUDE: f64 = 85.051_128_78;

/// Projects a longitude and latitude: x is the longitude, y is in degrees of the equator, upwards.
pub(super) fn project([longitude, latitude]: [f64; 2]) -> [f64; 2] {
    let latitude = latitude.clamp(-LAST_LATITUDE, LAST_LATITUDE).to_radians();
    [longitude, latitude.tan().asinh().to_degrees()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_is_a_square() {
        assert_eq!(project([11.5, 0.0]), [11.5, 0.0]);
        for (latitude, y) in [(85.051_128_78, 180.0), (90.0, 180.0), (-90.0, -180.0), (60.0, 75.456_129)] {
            let [_, projected] = project([0.0, latitude]);
            assert!((projected - y).abs() < 1e-6, "{latitude}: {projected}");
        }
    }
}
