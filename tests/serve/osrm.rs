//! `GET /trip/v1/...`, as OSRM answers it.

use serde_json::{Value, json};

use crate::client::Server;

tests! {
    a_round_trip_has_the_shape_of_osrm,
    ends_are_as_asked,
    what_is_wrong_has_the_codes_of_osrm,
}

const PLACES: &str = "/trip/v1/driving/10.0,0;10.03,0;10.01,0;10.02,0";

fn trip(server: &Server, query: &str) -> Value {
    let answer = server.get(&format!("{PLACES}?{query}"));
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    answer.json()
}

/// The place of each waypoint in the trip.
fn order(answer: &Value) -> Vec<u64> {
    let waypoints = answer["waypoints"].as_array().unwrap();
    waypoints.iter().map(|waypoint| waypoint["waypoint_index"].as_u64().unwrap()).collect()
}

fn a_round_trip_has_the_shape_of_osrm() {
    let server = Server::start(&["--speed", "36"]);
    let answer = trip(&server, "");
    assert_eq!(answer["code"], "Ok");
    let trip_of = &answer["trips"][0];
    let metres = 6_371_008.8 * (0.06_f64).to_radians();
    assert!((trip_of["distance"].as_f64().unwrap() - metres).abs() < 0.1, "{answer}");
    assert!((trip_of["duration"].as_f64().unwrap() - metres / 10.0).abs() < 0.1, "{answer}");
    assert_eq!((&trip_of["weight"], &trip_of["weight_name"]), (&trip_of["duration"], &json!("duration")));
    assert!(trip_of["geometry"].is_string());
    let legs = trip_of["legs"].as_array().unwrap();
    assert_eq!(legs.len(), 4);
    for leg in legs {
        assert!(leg["distance"].is_number() && leg["duration"].is_number() && leg["weight"].is_number());
        assert!(leg["steps"] == json!([]) && leg["summary"] == "", "{leg}");
    }
    let waypoints = answer["waypoints"].as_array().unwrap();
    assert_eq!(waypoints.len(), 4);
    assert_eq!(order(&answer)[0], 0);
    assert_eq!(waypoints[1]["location"], json!([10.03, 0.0]));
    assert!(waypoints.iter().all(|waypoint| waypoint["trips_index"] == 0 && waypoint["name"] == ""));

    let line = &trip(&server, "geometries=geojson&overview=full")["trips"][0]["geometry"];
    assert_eq!((&line["type"], line["coordinates"].as_array().unwrap().len()), (&json!("LineString"), 5));
    assert!(trip(&server, "overview=false")["trips"][0].get("geometry").is_none());
    // As a browser may write it.
    assert_eq!(server.get("/trip/v1/foot/10%2C0%3B11%2C0.json?steps=false&time=0.1&seed=2").status, 200);
}

fn ends_are_as_asked() {
    let server = Server::start(&[]);
    let last = order(&trip(&server, "destination=last"));
    assert_eq!(last[3], 3);
    let both = trip(&server, "source=first&destination=last");
    assert!(order(&both)[0] == 0 && order(&both)[3] == 3);
    assert_eq!(both["trips"][0]["legs"].as_array().unwrap().len(), 4);
    let path = trip(&server, "roundtrip=false&source=first&destination=last");
    assert!(order(&path)[0] == 0 && order(&path)[3] == 3);
    assert_eq!(path["trips"][0]["legs"].as_array().unwrap().len(), 3);
    assert_eq!(order(&trip(&server, "roundtrip=false&source=first")), [0, 3, 1, 2]);
    let any = order(&trip(&server, "roundtrip=false"));
    assert!(any == [0, 3, 1, 2] || any == [3, 0, 2, 1], "{any:?}");
}

fn what_is_wrong_has_the_codes_of_osrm() {
    let server = Server::start(&["--max-nodes", "5"]);
    for (path, status, code) in [
        ("/trip/v1/driving/1,2", 400, "InvalidQuery"),
        ("/trip/v1/driving/1,2;3", 400, "InvalidUrl"),
        ("/trip/v1/driving/1,2;nan,3", 400, "InvalidUrl"),
        ("/trip/v1/driving", 400, "InvalidUrl"),
        ("/trip/v1/driving/1,2;1,%zz", 400, "InvalidUrl"),
        ("/trip/v1/driving/polyline(abc)", 400, "NotImplemented"),
        ("/trip/v1/driving/1,2;3,4?steps=true", 400, "NotImplemented"),
        ("/trip/v1/driving/1,2;3,4?annotations=true", 400, "NotImplemented"),
        ("/trip/v1/driving/1,2;3,4?bearings=1,2", 400, "NotImplemented"),
        ("/trip/v1/driving/1,2;3,4?source=last", 400, "InvalidQuery"),
        ("/trip/v1/driving/1,2;3,4?roundtrip=true&roundtrip=false", 400, "InvalidQuery"),
        ("/trip/v1/driving/1,2;3,94", 400, "InvalidQuery"),
        ("/trip/v1/driving/1,2;3,4;1,2;1,3;1,4;1,5", 413, "TooBig"),
    ] {
        let answer = server.get(path);
        let said = answer.json();
        assert!(answer.status == status && said["code"] == code, "{path}: {} {said}", answer.status);
        assert!(said["message"].is_string());
    }
}
