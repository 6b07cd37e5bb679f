//! A server of a test's own, and a client that can misbehave.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long a test waits for anything before it fails.
pub const LONG: Duration = Duration::from_secs(60);

/// A server.
pub struct Server {
    process: Child,
    /// Reads what it says: a full pipe would stop it.
    said: Option<JoinHandle<String>>,
    pub address: SocketAddr,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// The lines before the body, in lower case.
    pub head: String,
    pub body: String,
}

impl Server {
    /// Starts a server with these options.
    pub fn start(options: &[&str]) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_antwarp"))
            .args(["serve", "--bind", "127.0.0.1:0"])
            .args(options)
            .env("ANTWARP_TUNING", "none")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut errors = BufReader::new(process.stderr.take().unwrap());
        errors.read_line(&mut said).unwrap();
        let address = said.split("http://").nth(1).and_then(|rest| rest.split(';').next());
        let address = address.unwrap_or_else(|| panic!("it says: {said}")).parse().unwrap();
        let said = std::thread::spawn(move || {
            let mut said = String::new();
            errors.read_to_string(&mut said).unwrap();
            said
        });
        Server { process, said: Some(said), address }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// Sends bytes, and reads until the server closes the connection; `None` if it does so without an answer.
    pub fn send(&self, request: &[u8]) -> Option<Answer> {
        let mut stream = self.connect();
        // It may answer and close before it has read everything.
        let _ = stream.write_all(request);
        read(&mut stream)
    }

    pub fn get(&self, path: &str) -> Answer {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        self.send(request.as_bytes()).unwrap()
    }

    pub fn post(&self, path: &str, body: &str) -> Answer {
        self.send(&posted(path, body.as_bytes())).unwrap()
    }

    /// Posts a request that is answered as asked.
    pub fn answered(&self, path: &str, body: &Value) -> Value {
        let answer = self.post(path, &body.to_string());
        assert_eq!(answer.status, 200, "{body}: {}", answer.body);
        answer.json()
    }

    /// Returns the value of a metric without labels.
    pub fn metric(&self, name: &str) -> u64 {
        let text = self.get("/metrics").body;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    /// Waits until a metric has this value.
    pub fn wait_for(&self, name: &str, value: u64) {
        let begin = Instant::now();
        while self.metric(name) != value {
            assert!(begin.elapsed() < LONG, "{name} is {}, not {value}", self.metric(name));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn signal(&self, signal: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Waits for its end; returns what it said, too.
    pub fn ended(mut self) -> (ExitStatus, String) {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return (status, self.said.take().unwrap().join().unwrap());
            }
            assert!(begin.elapsed() < LONG, "it goes on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// The bytes of a request with this body.
pub fn posted(path: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Reads an answer, until the server closes the connection.
pub fn read(stream: &mut TcpStream) -> Option<Answer> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => panic!("the server says nothing"),
        // What it did not read makes the connection end with an error; its answer may be there nevertheless.
        _ => {}
    }
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.to_lowercase(), body: body.to_owned() })
}

/// Random places, too many for a search to settle soon.
pub fn places(count: u32) -> Vec<[u32; 2]> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    (0..count).map(|_| [next(), next()]).collect()
}
