//! `POST /solve`.

use serde_json::{Value, json};

use crate::client::Server;

tests! {
    places_coordinates_and_matrices_are_solved,
    paths_start_and_end_where_they_are_asked_to,
    what_is_wrong_is_said,
}

/// The corners of a rectangle, not in order.
fn corners() -> Value {
    json!([[0, 0], [3, 4], [3, 0], [0, 4]])
}

fn places_coordinates_and_matrices_are_solved() {
    let server = Server::start(&[]);
    let answer = server.answered("/solve", &json!({ "places": corners(), "names": ["a", "b", "c", "d"] }));
    assert_eq!(
        (&answer["cost"], &answer["unit"], &answer["bound"]),
        (&json!(14.0), &json!("own"), &json!(14.0))
    );
    assert!(answer["stopped_by"] == "optimal" && answer["open"] == false, "{answer}");
    let is_tour = answer["tour"] == json!([0, 2, 1, 3]) && answer["names"] == json!(["a", "c", "b", "d"]);
    let is_reversed = answer["tour"] == json!([0, 3, 1, 2]) && answer["names"] == json!(["a", "d", "b", "c"]);
    assert!(is_tour || is_reversed, "{answer}");
    let sum: f64 = answer["legs"].as_array().unwrap().iter().map(|leg| leg.as_f64().unwrap()).sum();
    assert_eq!(sum, 14.0);

    // A degree of longitude on the equator, there and back.
    let answer = server.answered("/solve", &json!({ "coordinates": [[10, 0], [11, 0]] }));
    let degree = 6_371_008.8 * std::f64::consts::PI / 180.0;
    assert!((answer["cost"].as_f64().unwrap() - 2.0 * degree).abs() < 0.01, "{answer}");
    assert_eq!(answer["unit"], "metres");
    assert!(answer["costs"].as_str().unwrap().contains("[longitude, latitude]"));

    // Only one direction around is possible.
    let matrix = json!([[0, 1.5, null], [null, 0, 2], [4, null, 0]]);
    let answer = server.answered("/solve", &json!({ "matrix": matrix }));
    assert_eq!((&answer["tour"], &answer["cost"]), (&json!([0, 1, 2]), &json!(7.5)));

    // Too many for an enumeration: the search ends by itself long before its time is up.
    let ring: Vec<[f64; 2]> = (0..40).map(|at| (f64::from(at) * 0.157).sin_cos().into()).collect();
    let answer = server.answered("/solve", &json!({ "places": ring, "time": 30, "seed": 7 }));
    assert_eq!(answer["stopped_by"], "settled", "{answer}");
    let same = |one: &Value, other: &Value| (one.as_f64().unwrap() - other.as_f64().unwrap()).abs() < 1e-9;
    let short = server.answered("/solve", &json!({ "places": ring }));
    assert!(short["stopped_by"] == "iterations" && same(&short["cost"], &answer["cost"]), "{short}");
    let order: Vec<i64> =
        answer["tour"].as_array().unwrap().iter().map(|node| node.as_i64().unwrap()).collect();
    assert!(
        order == (0..40).collect::<Vec<_>>() || order[1..] == (1..40).rev().collect::<Vec<_>>(),
        "{order:?}"
    );
}

fn paths_start_and_end_where_they_are_asked_to() {
    let server = Server::start(&[]);
    let tour = |more: Value| {
        let mut request = json!({ "places": [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]] });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = server.answered("/solve", &request);
        let tour: Vec<u64> =
            answer["tour"].as_array().unwrap().iter().map(|node| node.as_u64().unwrap()).collect();
        (tour, answer["cost"].as_f64().unwrap(), answer["legs"].as_array().unwrap().len())
    };
    assert_eq!(tour(json!({ "start": 3 })).0[0], 3);
    let (path, cost, legs) = tour(json!({ "open": true }));
    assert!((path == [0, 1, 2, 3, 4] || path == [4, 3, 2, 1, 0]) && cost == 4.0 && legs == 4, "{path:?}");
    let (path, cost, _) = tour(json!({ "open": true, "start": 1 }));
    assert!(path[0] == 1 && cost == 5.0, "{path:?}");
    let (path, cost, _) = tour(json!({ "open": true, "end": 1 }));
    assert!(path[4] == 1 && cost == 5.0, "{path:?}");
    assert_eq!(tour(json!({ "open": true, "start": 4, "end": 0 })), (vec![4, 3, 2, 1, 0], 4.0, 4));
}

fn what_is_wrong_is_said() {
    let server = Server::start(&["--max-nodes", "10", "--max-time", "5s"]);
    let refused = |request: Value, status: u16, part: &str| {
        let answer = server.post("/solve", &request.to_string());
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(answer.status == status && error.contains(part), "{request}: {} {error}", answer.status);
    };
    refused(json!({}), 400, "one of `places`, `coordinates` and `matrix`");
    refused(json!({ "places": corners(), "matrix": [[0]] }), 400, "one of");
    refused(json!({ "places": corners(), "capacity": 3 }), 400, "capacity");
    refused(json!({ "places": [[1, 2, 3]] }), 400, "column 17");
    refused(json!({ "places": [] }), 400, "0 nodes");
    refused(json!({ "places": vec![[0, 0]; 11] }), 413, "11 places");
    refused(
        json!({ "coordinates": [[48.1, 11.6], [11.6, 98.1]] }),
        400,
        "place 1 is at longitude 11.6, latitude 98.1",
    );
    refused(json!({ "matrix": [[0, 1], [1]] }), 400, "row 1 of the matrix has 1 costs");
    refused(json!({ "matrix": [[0, null], [null, 0]] }), 400, "forbidden");
    refused(json!({ "matrix": [[0, 1, null], [1, 0, null], [null, null, 0]] }), 422, "edges at node 2");
    // A star.
    let star = json!([[0, 1, 1, 1], [1, 0, null, null], [1, null, 0, null], [1, null, null, 0]]);
    refused(json!({ "matrix": star }), 422, "goes from");
    refused(json!({ "places": corners(), "names": ["a"] }), 400, "names");
    refused(json!({ "places": corners(), "start": 4 }), 400, "from 0 to 3");
    refused(json!({ "places": corners(), "end": 1 }), 400, "open");
    refused(json!({ "places": corners(), "open": true, "start": 1, "end": 1 }), 422, "1");
    refused(json!({ "places": corners(), "time": 6 }), 400, "from 0 to 5");
    refused(json!({ "places": corners(), "time": -1 }), 400, "from 0 to 5");
    assert_eq!(server.post("/solve?time=1", "{}").status, 400);
    assert_eq!(server.get("/solve").status, 405);
    assert!(server.get("/solve").head.contains("allow: post"));
}
