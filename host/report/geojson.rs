//! A tour as GeoJSON (RFC 7946): its line, then a point for each place in tour order.

use std::io::{self, Write};

use serde_json::json;

use super::route::{Route, within_180};

/// Writes a route through places on the globe: a feature with the line, cut at the 180th meridian, and one for each place. The line
/// has the name of the instance, the cost of the tour and its unit; a place has its `position` from 1, `id`, `name` if there are names,
/// `leg` (the cost from the previous place) and `total`.
///
/// # Errors
/// If it cannot be written, or places have no longitudes and latitudes.
pub fn write(route: &Route<'_>, mut out: &mut dyn Write) -> io::Result<()> {
    let instance = route.instance;
    let Some(mut lines) = route.lines() else {
        return Err(io::Error::other("GeoJSON is for latitudes and longitudes"));
    };
    let geometry = match &mut lines[..] {
        [line] => json!({ "type": "LineString", "coordinates": std::mem::take(line) }),
        _ => json!({ "type": "MultiLineString", "coordinates": lines }),
    };
    let line = json!({
        "type": "Feature",
        "geometry": geometry,
        "properties": {
            "name": instance.name(),
            "cost": instance.tour_cost(route.tour),
            "unit": instance.unit(),
            "places": route.tour.len(),
            "closed": route.is_closed(),
        },
    });
    writeln!(out, "{{\"type\":\"FeatureCollection\",\"features\":[")?;
    serde_json::to_writer(&mut out, &line)?;
    // The return to the first place is no other place.
    for stop in route.stops().take(route.tour.len()) {
        let [longitude, latitude] = stop.place.unwrap_or_default();
        let mut properties = json!({ "position": stop.position, "id": instance.id(stop.node) });
        if let Some(names) = route.names {
            properties["name"] = names[stop.node as usize].as_str().into();
        }
        // JSON has no infinite numbers; the cost of a forbidden edge is null.
        properties["leg"] = stop.leg.into();
        properties["total"] = stop.total.into();
        let geometry = json!({ "type": "Point", "coordinates": [within_180(longitude), latitude] });
        writeln!(out, ",")?;
        let point = json!({ "type": "Feature", "geometry": geometry, "properties": properties });
        serde_json::to_writer(&mut out, &point)?;
    }
    writeln!(out, "\n]}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{Ends, Instance};
    use serde_json::Value;

    fn written(instance: &Instance, tour: &[u32]) -> Value {
        let mut text = Vec::new();
        write(&Route::new(instance, tour), &mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    #[test]
    fn a_line_and_points_in_the_order_of_the_tour() {
        let names = ["a", "b \"<", "c"].map(str::to_owned).to_vec();
        let instance = Instance::from_degrees("p", vec![[48.1, 11.6], [50.0, 8.25], [52.5, 13.4]]).unwrap();
        let instance = instance.with_names(names);
        let collection = written(&instance, &[2, 0, 1]);
        let features = collection["features"].as_array().unwrap();
        assert_eq!(features.len(), 4);
        let line = &features[0];
        assert_eq!(
            line["geometry"]["coordinates"],
            json!([[13.4, 52.5], [11.6, 48.1], [8.25, 50.0], [13.4, 52.5]])
        );
        assert_eq!(
            (&line["properties"]["unit"], &line["properties"]["closed"]),
            (&json!("metres"), &json!(true))
        );
        let last = &features[3];
        assert_eq!(last["properties"]["name"], "b \"<");
        assert_eq!((&last["properties"]["position"], &last["properties"]["id"]), (&json!(3), &json!(2)));
        assert_eq!(last["geometry"], json!({ "type": "Point", "coordinates": [8.25, 50.0] }));
        let open = written(&instance.with_ends(Some(Ends::default())), &[2, 0, 1]);
        assert_eq!(open["features"][0]["geometry"]["coordinates"].as_array().unwrap().len(), 3);
        // What was written can be read.
        let text = collection.to_string();
        let read = Instance::parse("r", "r", text.as_bytes(), &Default::default()).unwrap();
        assert_eq!((read.label(0), read.degrees().unwrap()[2]), ("c".to_owned(), [8.25, 50.0]));
    }

    #[test]
    fn a_line_across_the_180th_meridian_has_parts() {
        let instance =
            Instance::from_degrees("p", vec![[0.0, 170.0], [10.0, -170.0], [20.0, 190.0]]).unwrap();
        let collection = written(&instance, &[0, 1, 2]);
        assert_eq!(collection["features"][0]["geometry"]["type"], "MultiLineString");
        assert_eq!(collection["features"][3]["geometry"]["coordinates"], json!([-170.0, 20.0]));
        let read = Instance::parse("r", "r", collection.to_string().as_bytes(), &Default::default()).unwrap();
        assert_eq!(read.len(), 3);
    }

    #[test]
    fn places_in_the_plane_are_refused() {
        let instance = Instance::euclidean(&[[0.0, 0.0], [1.0, 0.0]]).unwrap();
        assert!(write(&Route::new(&instance, &[0, 1]), &mut Vec::new()).is_err());
    }
}
