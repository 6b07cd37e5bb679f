//! Health, metrics, the description of the interface, and the pages for browsers.

use serde_json::Value;

use crate::client::Server;

tests! {
    health_and_metrics,
    the_description_names_every_path,
    pages_allow_only_their_own_scripts,
}

fn health_and_metrics() {
    let server = Server::start(&[]);
    assert_eq!(server.get("/health").json()["status"], "ok");
    server.post("/solve", r#"{"places": [[0, 0], [1, 1]]}"#);
    server.post("/solve", "[]");
    server.get("/anything/else");
    let answer = server.get("/metrics");
    assert!(answer.head.contains("content-type: text/plain; version=0.0.4"));
    let lines: Vec<&str> = answer.body.lines().collect();
    for line in [
        r#"antwarp_requests_total{path="/solve",status="200"} 1"#,
        r#"antwarp_requests_total{path="/solve",status="400"} 1"#,
        r#"antwarp_requests_total{path="other",status="404"} 1"#,
        "antwarp_searches_running 0",
        "antwarp_requests_waiting 0",
        "antwarp_search_seconds_count 2",
        r#"antwarp_search_seconds_bucket{le="+Inf"} 2"#,
        "# TYPE antwarp_search_seconds histogram",
    ] {
        assert!(lines.contains(&line), "no {line} in\n{}", answer.body);
    }
    let head = server.send(b"HEAD /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(server.post("/health", "{}").status, 405);
}

fn the_description_names_every_path() {
    let server = Server::start(&[]);
    let description = server.get("/openapi.json").json();
    assert_eq!(description["openapi"], "3.1.0");
    let paths = description["paths"].as_object().unwrap();
    for path in ["/", "/solve", "/trip/v1/{profile}/{coordinates}", "/health", "/metrics", "/map"] {
        assert!(paths.contains_key(path), "{path}");
    }
    // References lead somewhere.
    let text = description.to_string();
    for part in text.split("\"$ref\":\"#").skip(1) {
        let pointer = part.split('"').next().unwrap();
        assert!(description.pointer(pointer).is_some_and(Value::is_object), "{pointer}");
    }
    // What the server answers has the fields that the description requires.
    let answer = server.post("/solve", r#"{"places": [[0, 0], [1, 1]]}"#).json();
    let tour = &description["components"]["schemas"]["Tour"];
    for field in tour["required"].as_array().unwrap() {
        assert!(answer.get(field.as_str().unwrap()).is_some(), "{field} in {answer}");
    }
    for field in answer.as_object().unwrap().keys() {
        assert!(tour["properties"].get(field).is_some(), "{field} is not described");
    }
}

fn pages_allow_only_their_own_scripts() {
    let plain = Server::start(&[]);
    let tiled = Server::start(&["--tiles", "https://tile.example.org/{z}/{x}/{y}.png"]);
    let (map, again, index) = (plain.get("/map"), plain.get("/map"), plain.get("/"));
    for page in [&map, &again, &index, &tiled.get("/map")] {
        assert_eq!(page.status, 200);
        let nonce = page.head.split("script-src 'nonce-").nth(1).unwrap().split('\'').next().unwrap();
        assert!(page.head.contains("default-src 'none'") && page.head.contains("nosniff"));
        assert!(nonce.len() == 32 && page.body.contains(&format!("nonce=\"{nonce}\"")));
        for part in ["<script", "<style"] {
            let count = |text: &str| page.body.matches(text).count();
            assert_eq!(count(part), count(&format!("{part} nonce=\"{nonce}\"")));
        }
        assert!(!page.body.contains("onclick=") && !page.body.contains("style=\""));
    }
    assert_ne!(map.head, again.head, "a nonce is used once");
    assert!(map.head.contains("img-src 'none'") && !map.body.contains("https://"));
    assert!(tiled.get("/map").head.contains("img-src https://tile.example.org;"));
    assert!(index.body.contains("/openapi.json") && index.body.contains(env!("CARGO_PKG_VERSION")));
}
