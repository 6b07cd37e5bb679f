//! Limits, clients that leave or do not read, and the end of the server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{LONG, Server, places, posted, read};

tests! {
    bodies_that_are_too_long_are_refused,
    other_media_types_are_refused,
    a_hundred_at_once_are_refused_beyond_the_limit,
    the_search_of_a_client_that_leaves_is_stopped,
    a_client_that_never_reads_is_left,
    a_signal_ends_searches_and_the_server,
    a_connection_can_be_used_again,
    a_taken_port_is_reported,
    names_of_others_are_refused,
}

/// A request that takes as long as it may.
fn long(seconds: u32) -> Vec<u8> {
    posted("/solve", json!({ "places": places(5000), "time": seconds }).to_string().as_bytes())
}

fn bodies_that_are_too_long_are_refused() {
    let server = Server::start(&["--max-body", "1000"]);
    let answer = server.post("/solve", &" ".repeat(5_000_000));
    assert!(answer.status == 413 && answer.body.contains("1000 bytes"), "{answer:?}");
    assert_eq!(server.post("/", &" ".repeat(1001)).json()["code"], 4);
    // Without a length.
    let head = "POST /solve HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunks = format!("{:x}\r\n{}\r\n", 600, " ".repeat(600)).repeat(2) + "0\r\n\r\n";
    assert_eq!(server.send((head.to_owned() + &chunks).as_bytes()).unwrap().status, 413);
    // A head without an end.
    let head = format!("GET /health HTTP/1.1\r\nLong: {}", "x".repeat(2_000_000));
    assert!(server.send(head.as_bytes()).is_none_or(|answer| answer.status == 431));
    assert_eq!(server.get("/health").status, 200);
}

fn other_media_types_are_refused() {
    let server = Server::start(&[]);
    let request = "POST /solve HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}";
    assert_eq!(server.send(request.as_bytes()).unwrap().status, 415);
    let request = request.replace("text/plain", "Application/JSON; charset=utf-8");
    assert_eq!(server.send(request.as_bytes()).unwrap().status, 400);
}

fn a_hundred_at_once_are_refused_beyond_the_limit() {
    let server = Server::start(&["--jobs", "1", "--queue", "2"]);
    let mut first = server.connect();
    first.write_all(&long(2)).unwrap();
    server.wait_for("antwarp_searches_running", 1);
    let request = posted("/solve", json!({ "places": [[0, 0], [3, 4]] }).to_string().as_bytes());
    let answers: Vec<_> = thread::scope(|scope| {
        let clients: Vec<_> = (0..100).map(|_| scope.spawn(|| server.send(&request).unwrap())).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let refused = answers.iter().filter(|answer| answer.status == 429);
    assert!(refused.clone().all(|answer| answer.head.contains("retry-after: 1")));
    // Those that waited were answered after the long one. If the others came late, there was room for some of them.
    let solved = answers.iter().filter(|answer| answer.status == 200).count();
    assert!(solved >= 2 && refused.clone().count() + solved == 100, "{solved} were solved");
    assert!(refused.count() >= 1);
    assert_eq!(read(&mut first).unwrap().status, 200);
    server.wait_for("antwarp_requests_waiting", 0);
}

/// Sends two long requests to a server that searches for one at a time: the first one runs, the second one waits.
fn occupied(server: &Server) -> (TcpStream, TcpStream) {
    let mut running = server.connect();
    running.write_all(&long(3600)).unwrap();
    server.wait_for("antwarp_searches_running", 1);
    let mut waiting = server.connect();
    waiting.write_all(&long(3600)).unwrap();
    server.wait_for("antwarp_requests_waiting", 1);
    (running, waiting)
}

fn the_search_of_a_client_that_leaves_is_stopped() {
    let server = Server::start(&["--jobs", "1", "--max-time", "1h"]);
    let (running, waiting) = occupied(&server);
    drop(waiting);
    server.wait_for("antwarp_requests_waiting", 0);
    assert_eq!(server.metric("antwarp_searches_running"), 1);
    drop(running);
    server.wait_for("antwarp_searches_running", 0);
    assert_eq!(server.metric("antwarp_abandoned_total"), 2);
    assert_eq!(server.post("/solve", r#"{"places": [[0, 0]]}"#).status, 200);
}

fn a_client_that_never_reads_is_left() {
    let server = Server::start(&[]);
    let mut client = server.connect();
    client.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    // More answers than the buffers of the system hold.
    let (request, asked) = ("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", 5000);
    let _ = client.write_all(request.repeat(asked).as_bytes());
    let begin = Instant::now();
    let answered = || {
        let text = server.get("/metrics").body;
        let line = text.lines().find_map(|line| {
            line.strip_prefix(r#"antwarp_requests_total{path="/openapi.json",status="200"} "#)
        });
        line.map_or(0, |count| count.parse::<usize>().unwrap())
    };
    // It goes on until the buffers are full, and others are answered all the time.
    thread::sleep(Duration::from_secs(12));
    assert!(answered() < asked, "all were answered");
    let mut bytes = Vec::new();
    let _ = client.read_to_end(&mut bytes);
    assert!(begin.elapsed() < LONG, "the connection is open");
    assert!(String::from_utf8_lossy(&bytes).matches("HTTP/1.1 200").count() < asked);
}

fn a_signal_ends_searches_and_the_server() {
    for signal in ["-TERM", "-INT"] {
        let server = Server::start(&["--jobs", "1", "--max-time", "1h"]);
        let (mut running, mut waiting) = occupied(&server);
        // It sends nothing.
        let _idle = server.connect();
        server.signal(signal);
        let answer = read(&mut running).unwrap();
        assert!(answer.status == 200 && answer.json()["stopped_by"] == "interrupt", "{}", answer.body);
        let refused = read(&mut waiting).unwrap();
        assert!(refused.status == 503 && refused.head.contains("retry-after"), "{}", refused.body);
        let (status, said) = server.ended();
        assert_eq!(status.code(), Some(0));
        assert!(said.contains("stopping: searches end with the tours that they have"), "{said}");
    }
}

fn a_connection_can_be_used_again() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    let first = String::from_utf8(posted("/solve", br#"{"places": [[0, 0], [3, 4]]}"#)).unwrap();
    stream.write_all(first.replace("Connection: close\r\n", "").as_bytes()).unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2, "{text}");
    assert!(text.contains("\"cost\":10.0") && text.ends_with(r#"{"status":"ok"}"#), "{text}");
}

fn a_taken_port_is_reported() {
    let server = Server::start(&[]);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_antwarp"))
        .args(["serve", "--bind", &server.address.to_string()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("cannot listen at 127.0.0.1"), "{said}");
}

/// A page of another origin whose name leads to this machine (DNS rebinding).
fn names_of_others_are_refused() {
    let called = |server: &Server, path: &str, host: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        server.send(request.as_bytes()).unwrap()
    };
    let server = Server::start(&[]);
    for path in ["/trip/v1/driving/0,0;1,1", "/health", "/"] {
        assert_eq!(called(&server, path, "evil.example:3000").status, 421, "{path}");
        for own in ["localhost", "127.0.0.1:3000", "[::1]"] {
            assert_eq!(called(&server, path, own).status, 200, "{path} {own}");
        }
    }
    let answer = called(&server, "/solve", "evil.example");
    assert!(answer.status == 421 && answer.body.contains("--host"), "{}", answer.body);
    // Whoever sends no name is no browser.
    assert_eq!(server.send(b"GET /health HTTP/1.0\r\n\r\n").unwrap().status, 200);
    let server = Server::start(&["--host", "tours.example", "--host", "other"]);
    for (host, status) in
        [("tours.example", 200), ("Other:80", 200), ("localhost", 200), ("evil.example", 421)]
    {
        assert_eq!(called(&server, "/health", host).status, status, "{host}");
    }
}
