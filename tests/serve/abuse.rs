//! Requests made of valid ones by chance: none may end the server, or be answered as if the server were to blame.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::Shutdown;

use rand::RngExt;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

use crate::client::{Server, posted, read};

tests! {
    a_thousand_malformed_requests,
}

/// Valid requests: the path, and the body.
fn valid() -> Vec<(&'static str, Value)> {
    vec![
        (
            "/solve",
            json!({ "places": [[0, 0], [3, 4], [3, 0]], "names": ["a", "b", "ü"], "open": true, "start": 1, "time": 0 }),
        ),
        (
            "/solve",
            json!({ "coordinates": [[11.6, 48.1], [2.3, 48.9], [13.4, 52.5]], "start": 1, "seed": 5 }),
        ),
        ("/solve", json!({ "matrix": [[0, 1, null], [2.5, 0, 3], [-4, 5, 0]] })),
        (
            "/",
            json!({
                "vehicles": [{ "id": 0, "start": [11.6, 48.1], "end": [2.3, 48.9], "speed_factor": 1.5 }],
                "jobs": [{ "id": 1, "location": [13.4, 52.5], "service": 60 }, { "id": 2, "location": [13.4, 52.5] }],
                "options": { "g": false },
            }),
        ),
        (
            "/",
            json!({
                "vehicles": [{ "id": 0, "profile": "car", "start_index": 0, "end_index": 0 }],
                "jobs": [{ "id": 1, "location_index": 1, "description": "x" }, { "id": 2, "location_index": 2 }],
                "matrices": { "car": { "durations": [[0, 1, 2], [3, 0, 4], [5, 6, 0]], "distances": [[0, 1, 2], [3, 0, 4], [5, 6, 0]] } },
            }),
        ),
    ]
}

/// Values for any place.
const ODD: [&str; 16] = [
    "null",
    "true",
    "-1",
    "0",
    "1e308",
    "-1e-308",
    "4294967296",
    "18446744073709551616",
    "0.5",
    "\"\"",
    "\"\\u0000\"",
    "[]",
    "{}",
    "[[]]",
    "[null]",
    "[[1,2],[3]]",
];

const PUNCTUATION: &[u8] = b"{}[],:\"0-e. \r\n\\/%;&=";

/// Replaces a value somewhere in a request.
fn replace(value: &mut Value, random: &mut Pcg64Mcg) {
    let children: Vec<&mut Value> = match value {
        Value::Array(values) if !values.is_empty() => values.iter_mut().collect(),
        Value::Object(fields) if !fields.is_empty() => fields.values_mut().collect(),
        _ => Vec::new(),
    };
    if children.is_empty() || random.random_range(0..6) == 0 {
        *value = serde_json::from_str(ODD[random.random_range(0..ODD.len())]).unwrap();
    } else {
        let at = random.random_range(0..children.len());
        replace(children.into_iter().nth(at).unwrap(), random);
    }
}

/// Changes a few bytes.
fn spoil(bytes: &mut Vec<u8>, random: &mut Pcg64Mcg) {
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..=bytes.len().saturating_sub(1));
        if bytes.is_empty() {
            return;
        }
        match random.random_range(0..5) {
            0 => bytes[at] = random.random(),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, PUNCTUATION[random.random_range(0..PUNCTUATION.len())]),
            3 => bytes.truncate(at),
            _ => {
                let end = random.random_range(at..bytes.len().min(at + 40));
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
}

fn a_thousand_malformed_requests() {
    let server = Server::start(&["--max-time", "50ms", "--max-nodes", "100"]);
    let mut random = Pcg64Mcg::seed_from_u64(49);
    let valid = valid();
    let mut statuses: BTreeMap<u16, u32> = BTreeMap::new();
    let mut count = |status: u16, request: &[u8]| {
        assert!(status < 500, "status {status} for {}", String::from_utf8_lossy(request));
        *statuses.entry(status).or_default() += 1;
    };
    for _ in 0..500 {
        let (path, body) = &valid[random.random_range(0..valid.len())];
        let mut body = body.clone();
        replace(&mut body, &mut random);
        let request = posted(path, body.to_string().as_bytes());
        count(server.send(&request).expect("an answer").status, &request);
    }
    for _ in 0..500 {
        let (path, body) = &valid[random.random_range(0..valid.len())];
        let mut body = body.to_string().into_bytes();
        spoil(&mut body, &mut random);
        let request = posted(path, &body);
        count(server.send(&request).expect("an answer").status, &request);
    }
    for number in 0..500 {
        let (path, body) = &valid[random.random_range(0..valid.len())];
        let mut request = posted(path, body.to_string().as_bytes());
        if number % 2 == 0 {
            request = b"GET /trip/v1/car/11.6,48.1;2.3,48.9;13.4,52.5?source=first&roundtrip=false HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_vec();
        }
        spoil(&mut request, &mut random);
        let mut stream = server.connect();
        let _ = stream.write_all(&request);
        // It may wait for more of the request.
        let _ = stream.shutdown(Shutdown::Write);
        // A request that is cut short, or no HTTP, may get no answer.
        count(read(&mut stream).map_or(0, |answer| answer.status), &request);
    }
    let of = |status: u16| statuses.get(&status).copied().unwrap_or_default();
    assert!(of(400) > 300 && of(200) > 50, "{statuses:?}");
    assert_eq!(server.answered("/solve", &valid[0].1)["cost"], 7.0);
    server.wait_for("antwarp_searches_running", 0);
    server.wait_for("antwarp_requests_waiting", 0);
    server.signal("-TERM");
    assert_eq!(server.ended().0.code(), Some(0));
}
