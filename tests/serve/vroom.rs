//! `POST /`, as VROOM and vroom-express answer it.

use serde_json::{Value, json};

use crate::client::Server;

tests! {
    a_round_trip_by_coordinates,
    matrices_are_used_as_they_are,
    starts_and_ends_are_kept,
    what_is_not_supported_is_named,
}

fn types(route: &Value) -> Vec<&str> {
    route["steps"].as_array().unwrap().iter().map(|step| step["type"].as_str().unwrap()).collect()
}

fn ids(route: &Value) -> Vec<u64> {
    route["steps"].as_array().unwrap().iter().filter_map(|step| step["id"].as_u64()).collect()
}

fn a_round_trip_by_coordinates() {
    let server = Server::start(&["--speed", "36"]);
    let depot = json!([10.0, 0.0]);
    let request = json!({
        "vehicles": [{ "id": 7, "profile": "car", "start": depot, "end": depot, "description": "van" }],
        "jobs": [
            { "id": 1, "location": [10.01, 0.0], "service": 60, "description": "first" },
            { "id": 2, "location": [10.03, 0.0], "skills": [], "amount": [0] },
            { "id": 3, "location": [10.02, 0.0], "service": 30, "priority": 5 },
        ],
        "options": { "g": false, "t": 4, "x": 5 },
    });
    let answer = server.answered("/?time=1&seed=3", &request);
    assert_eq!((&answer["code"], &answer["unassigned"]), (&json!(0), &json!([])));
    let (summary, route) = (&answer["summary"], &answer["routes"][0]);
    // Six hundredths of a degree on the equator, at 10 metres a second.
    let metres = 6_371_008.8 * (0.06_f64).to_radians();
    for whole in [summary, route] {
        assert_eq!(whole["distance"].as_f64().unwrap(), metres.round());
        assert_eq!(whole["duration"].as_f64().unwrap(), (metres / 10.0).round());
        assert_eq!((&whole["cost"], &whole["service"]), (&whole["duration"], &json!(90)));
        assert_eq!(
            (&whole["waiting_time"], &whole["priority"], &whole["violations"]),
            (&json!(0), &json!(5), &json!([]))
        );
    }
    assert_eq!((&summary["routes"], &summary["unassigned"]), (&json!(1), &json!(0)));
    assert!(["loading", "solving", "routing"].iter().all(|key| summary["computing_times"][key].is_u64()));
    assert_eq!((&route["vehicle"], &route["description"]), (&json!(7), &json!("van")));
    assert_eq!(types(route), ["start", "job", "job", "job", "end"]);
    let steps = route["steps"].as_array().unwrap();
    let last = &steps[4];
    assert_eq!(last["arrival"].as_u64().unwrap(), summary["duration"].as_u64().unwrap() + 90);
    assert_eq!((&last["distance"], &last["location"]), (&summary["distance"], &depot));
    assert_eq!(
        (&steps[0]["arrival"], &steps[0]["duration"], &steps[0]["distance"]),
        (&json!(0), &json!(0), &json!(0))
    );
    let first = steps.iter().find(|step| step["id"] == 1).unwrap();
    assert_eq!(
        (&first["description"], &first["service"], &first["job"]),
        (&json!("first"), &json!(60), &json!(1))
    );
}

fn matrices_are_used_as_they_are() {
    let server = Server::start(&[]);
    let durations = json!([[0, 10, 99, 99], [99, 0, 20, 99], [99, 99, 0, 30], [40, 99, 99, 0]]);
    let mut request = json!({
        "vehicles": [{ "id": 0, "profile": "bike", "start_index": 0, "end_index": 0 }],
        "jobs": [{ "id": 11, "location_index": 3 }, { "id": 12, "location_index": 1 }, { "id": 13, "location_index": 2 }],
        "matrices": { "bike": { "durations": durations } },
    });
    let answer = server.answered("/", &request);
    let route = &answer["routes"][0];
    assert_eq!(
        (&route["cost"], &route["duration"], &route["distance"]),
        (&json!(100), &json!(100), &Value::Null)
    );
    assert_eq!(ids(route), [12, 13, 11]);
    assert_eq!(route["steps"][2]["arrival"], 30);
    assert_eq!(route["steps"][2]["location_index"], 2);

    // Costs decide; durations and distances are only summed.
    request["matrices"]["bike"]["costs"] = json!([[0, 9, 9, 1], [1, 0, 9, 9], [9, 1, 0, 9], [9, 9, 1, 0]]);
    request["matrices"]["bike"]["distances"] = json!(vec![vec![1000; 4]; 4]);
    let route = server.answered("/", &request)["routes"][0].clone();
    assert_eq!(
        (&route["cost"], &route["duration"], &route["distance"]),
        (&json!(4), &json!(396), &json!(4000))
    );
    assert_eq!(ids(&route), [11, 13, 12]);

    // Twice as fast.
    request["vehicles"][0]["speed_factor"] = json!(2);
    assert_eq!(server.answered("/", &request)["routes"][0]["duration"], 198);
}

fn starts_and_ends_are_kept() {
    let server = Server::start(&[]);
    let jobs = json!([{ "id": 1, "location": [1, 0] }, { "id": 2, "location": [2, 0] }, { "id": 3, "location": [3, 0] }]);
    let route = |vehicle: Value| {
        server.answered("/", &json!({ "vehicles": [vehicle], "jobs": jobs }))["routes"][0].clone()
    };
    let one = route(json!({ "id": 0, "start": [0, 0], "end": [4, 0] }));
    assert_eq!((types(&one), ids(&one)), (vec!["start", "job", "job", "job", "end"], vec![1, 2, 3]));
    let one = route(json!({ "id": 0, "start": [4, 0] }));
    assert_eq!((types(&one), ids(&one)), (vec!["start", "job", "job", "job"], vec![3, 2, 1]));
    let one = route(json!({ "id": 0, "end": [4, 0] }));
    assert_eq!((types(&one), ids(&one)), (vec!["job", "job", "job", "end"], vec![1, 2, 3]));
    // The type of the only vehicle changes nothing.
    let one = route(json!({ "id": 0, "start": [4, 0], "type": "van" }));
    assert_eq!(ids(&one), [3, 2, 1]);
    let none = server.answered("/", &json!({ "vehicles": [{ "id": 0, "start": [4, 0] }], "jobs": [] }));
    assert_eq!(
        (&none["code"], &none["routes"], &none["summary"]["routes"]),
        (&json!(0), &json!([]), &json!(0))
    );
}

fn what_is_not_supported_is_named() {
    let server = Server::start(&["--max-nodes", "5"]);
    let request = json!({
        "vehicles": [{ "id": 0, "start": [0, 0] }],
        "jobs": [{ "id": 1, "location": [1, 0] }],
    });
    let refused = |pointer: &str, key: &str, value: Value, name: &str| {
        let mut request = request.clone();
        request.pointer_mut(pointer).unwrap().as_object_mut().unwrap().insert(key.to_owned(), value);
        let answer = server.post("/", &request.to_string());
        let said = answer.json();
        assert!(answer.status == 400 && said["code"] == 2, "{request}: {said}");
        assert!(said["error"].as_str().unwrap().contains(name), "{request}: {said}");
    };
    for (key, value) in [
        ("capacity", json!([4])),
        ("skills", json!([1])),
        ("time_window", json!([0, 3600])),
        ("time_window", json!([0, 0])),
        ("max_tasks", json!(0)),
        ("max_travel_time", json!(0)),
        ("breaks", json!([{ "id": 1 }])),
        ("max_tasks", json!(3)),
        ("max_travel_time", json!(3)),
        ("max_distance", json!(3)),
        ("costs", json!({ "fixed": 10 })),
        ("steps", json!([{ "type": "start" }])),
        ("speed_factor", json!(0)),
    ] {
        refused("/vehicles/0", key, value, key);
    }
    for (key, value) in [
        ("delivery", json!([1])),
        ("pickup", json!([1])),
        ("amount", json!([1])),
        ("skills", json!([1])),
        ("time_windows", json!([[0, 3600]])),
        ("time_windows", json!([[0, 0]])),
        ("skills", json!([0])),
        ("setup", json!(10)),
        ("service_per_type", json!({ "van": 10 })),
        ("priority", json!(101)),
    ] {
        refused("/jobs/0", key, value, key);
    }
    refused("", "shipments", json!([{ "pickup": {}, "delivery": {} }]), "shipments");
    refused(
        "",
        "vehicles",
        json!([{ "id": 0, "start": [0, 0] }, { "id": 1, "start": [0, 0] }]),
        "2 `vehicles`",
    );
    refused("", "vehicles", json!([]), "one vehicle");
    refused("", "vehicles", json!([{ "id": 0 }]), "neither a start nor an end");
    refused("", "jobs", json!([{ "id": 1 }]), "location");
    refused(
        "",
        "jobs",
        json!([{ "id": 1, "location": [0, 1] }, { "id": 1, "location": [0, 2] }]),
        "two jobs",
    );
    refused("", "options", json!({ "g": true }), "`g`");
    refused("", "matrices", json!({ "car": { "durations": [[0]] } }), "start_index");
    refused("", "matrix", json!([[0]]), "matrix");
    let matrices = |index: u32, rows: Value| {
        let vehicle = json!({ "id": 0, "start_index": 0 });
        let job = json!({ "id": 1, "location_index": index });
        let request = json!({ "vehicles": [vehicle], "jobs": [job], "matrices": { "car": rows } });
        let answer = server.post("/", &request.to_string());
        assert_eq!(answer.status, 400, "{request}");
        answer.json()["error"].as_str().unwrap().to_owned()
    };
    assert!(matrices(2, json!({ "durations": [[0, 1], [1, 0]] })).contains("index 2"));
    assert!(matrices(1, json!({ "durations": [[0, 1], [1]] })).contains("square"));
    assert!(matrices(1, json!({ "distances": [[0, 1], [1, 0]] })).contains("durations"));
    let many: Vec<Value> = (0..6).map(|id| json!({ "id": id, "location": [id, 0] })).collect();
    let answer =
        server.post("/", &json!({ "vehicles": [{ "id": 0, "start": [0, 0] }], "jobs": many }).to_string());
    assert_eq!((answer.status, &answer.json()["code"]), (413, &json!(4)));
    assert_eq!(server.post("/", "{").json()["code"], 2);
}
