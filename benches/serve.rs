//! Latency of `antwarp serve`: clients that each send one request after the other, over a connection of their own.
//!
//! `cargo bench --features serve --bench serve -- [CLIENTS] [SECONDS] [ADDRESS:PORT]`; prints a line for each number of stops. Without an
//! address it starts a server, on the same cores as the clients.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Numbers of stops.
const STOPS: [u32; 3] = [10, 50, 200];
/// Different requests of each client.
const REQUESTS: u32 = 20;

fn main() {
    // Cargo adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut numbers = words.iter().filter_map(|word| word.parse::<u32>().ok());
    let clients = numbers.next().unwrap_or(100);
    let time = Duration::from_secs(numbers.next().unwrap_or(10).into());
    let address = words.iter().find_map(|word| word.parse::<SocketAddr>().ok());
    let (server, address) = match address {
        Some(address) => (None, address),
        None => {
            let (server, address) = start(clients);
            (Some(server), address)
        }
    };
    println!("stops  clients  answers/s   p50 ms   p99 ms   max ms");
    for stops in STOPS {
        for clients in [1, clients] {
            measure(address, stops, clients, time);
        }
    }
    if let Some(mut server) = server {
        server.kill().unwrap();
        server.wait().unwrap();
    }
}

/// Starts a server for so many clients.
fn start(clients: u32) -> (Child, SocketAddr) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_antwarp"))
        .args(["serve", "--bind", "127.0.0.1:0", "--queue", &clients.to_string()])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
    (server, address.parse().unwrap())
}

fn measure(address: SocketAddr, stops: u32, clients: u32, time: Duration) {
    let begin = Instant::now();
    let all = thread::scope(|scope| {
        let client = |number| scope.spawn(move || requests(address, stops, number, (begin, time)));
        let clients: Vec<_> = (0..clients).map(client).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect::<Vec<_>>()
    });
    let mut all = all.concat();
    all.sort();
    let per_second = all.len() as f64 / begin.elapsed().as_secs_f64();
    let of = |share: f64| all[((all.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(of);
    println!("{stops:>5}  {clients:>7}  {per_second:>9.1}  {p50:>7.2}  {p99:>7.2}  {most:>7.2}");
}

/// Sends requests until the time is up; returns how long each answer took.
fn requests(
    address: SocketAddr,
    stops: u32,
    client: u32,
    (begin, time): (Instant, Duration),
) -> Vec<Duration> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let requests: Vec<String> =
        (0..REQUESTS).map(|number| request(stops, client * REQUESTS + number)).collect();
    let mut taken = Vec::new();
    for request in requests.iter().cycle() {
        if begin.elapsed() >= time {
            break;
        }
        let asked = Instant::now();
        stream.write_all(request.as_bytes()).unwrap();
        answer(&mut reader);
        taken.push(asked.elapsed());
    }
    taken
}

/// A request with stops that are spread over half a degree.
fn request(stops: u32, seed: u32) -> String {
    let mut state = u64::from(seed) << 20 | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 25)
    };
    let stops: Vec<String> =
        (0..stops).map(|_| format!("[{:.5},{:.5}]", 11.3 + next(), 47.9 + next())).collect();
    let body = format!("{{\"coordinates\":[{}]}}", stops.join(","));
    let length = body.len();
    format!(
        "POST /solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// Reads an answer, which must be a tour.
fn answer(reader: &mut impl BufRead) {
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    while line.trim() != "" {
        line.clear();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
}
