//! A tour as a route of GPX 1.1, for navigation devices and map programs.

use std::io::{self, Write};

use super::route::{Route, within_180};
use super::svg::escaped;
use crate::instance::{Cost, counted};

/// Writes a route through places on the globe. A closed one ends with its first place.
///
/// # Errors
/// If it cannot be written, or places have no longitudes and latitudes.
pub fn write(route: &Route<'_>, out: &mut dyn Write) -> io::Result<()> {
    if route.degrees().is_none() {
        return Err(io::Error::other("GPX is for latitudes and longitudes"));
    }
    let instance = route.instance;
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, r#"<gpx version="1.1" creator="antwarp" xmlns="http://www.topografix.com/GPX/1/1">"#)?;
    writeln!(out, "<rte><name>{}</name>", escaped(instance.name()))?;
    let cost = instance.unit().show(instance.tour_cost(route.tour));
    writeln!(out, "<desc>{}, {cost}</desc>", counted(route.tour.len(), "place"))?;
    for stop in route.stops() {
        let [longitude, latitude] = stop.place.unwrap_or_default();
        let (longitude, name) = (within_180(longitude), escaped(&route.label(stop.node)));
        let (position, total) = (stop.position, instance.unit().show(Cost::Real(stop.total)));
        writeln!(
            out,
            r#"<rtept lat="{latitude}" lon="{longitude}"><name>{name}</name><desc>stop {position}, {total} so far</desc></rtept>"#
        )?;
    }
    writeln!(out, "</rte>\n</gpx>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::Instance;

    #[test]
    fn stops_are_points_of_a_route() {
        let names = ["A & B", "<b>\u{1}", "c"].map(str::to_owned).to_vec();
        let instance = Instance::from_degrees("p", vec![[48.1, 11.6], [50.0, 8.25], [52.5, 193.4]]).unwrap();
        let instance = instance.with_names(names);
        let mut text = Vec::new();
        write(&Route::new(&instance, &[1, 0, 2]), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.matches("<rtept ").count(), 4);
        let first =
            r#"<rtept lat="50" lon="8.25"><name>&lt;b&gt;</name><desc>stop 1, 0.00 m so far</desc></rtept>"#;
        assert!(text.contains(first) && text.contains("<name>A &amp; B</name>"), "{text}");
        assert!(text.contains(r#"lat="52.5" lon="-166.6""#), "{text}");
        let plane = Instance::euclidean(&[[0.0, 0.0], [1.0, 0.0]]).unwrap();
        assert!(write(&Route::new(&plane, &[0, 1]), &mut Vec::new()).is_err());
    }
}
