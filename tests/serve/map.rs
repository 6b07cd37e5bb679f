//! The page `/map` in a real browser: Chromium, driven by its debugging protocol over pipes.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{LONG, Server};

tests! {
    stops_are_placed_moved_and_removed,
}

/// A page in a browser of its own.
struct Browser {
    process: Child,
    folder: std::path::PathBuf,
    input: File,
    output: BufReader<File>,
    session: Value,
    count: u64,
}

impl Browser {
    /// Opens a page; `None` without a browser.
    fn open(url: &str) -> Option<Browser> {
        let program = ["chromium", "chromium-browser", "google-chrome"]
            .into_iter()
            .find(|program| Command::new(program).arg("--version").output().is_ok())?;
        let folder = std::env::temp_dir().join(format!("antwarp-serve-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [to, from] = ["to", "from"].map(|name| folder.join(name));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        // It talks by the files 3 and 4.
        let line = "exec \"$0\" --headless --no-sandbox --disable-gpu --no-first-run --window-size=800,600 --user-data-dir=\"$1\" --remote-debugging-pipe 3<\"$2\" 4>\"$3\"";
        let process = Command::new("sh")
            .args([Path::new("-c"), Path::new(line), Path::new(program), &folder.join("profile"), &to, &from])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = File::options().write(true).open(to).unwrap();
        let output = BufReader::new(File::open(from).unwrap());
        let mut browser = Browser { process, folder, input, output, session: Value::Null, count: 0 };
        let page = browser.call("Target.createTarget", json!({ "url": url }));
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": page["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].clone();
        Some(browser)
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.count += 1;
        let mut message = json!({ "id": self.count, "method": method, "params": parameters });
        if self.session.is_string() {
            message["sessionId"] = self.session.clone();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut answer = Vec::new();
            self.output.read_until(0, &mut answer).unwrap();
            answer.pop();
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            if answer["id"] == self.count {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    fn value(&mut self, expression: &str) -> Value {
        let answer =
            self.call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        answer["result"]["value"].clone()
    }

    /// Waits until the page's result starts with this.
    fn wait_for(&mut self, start: &str) {
        let begin = Instant::now();
        loop {
            let shown = self.value("document.getElementById('result')?.textContent ?? 'no page yet'");
            let shown = shown.as_str().unwrap_or_default();
            if shown.starts_with(start) && shown.is_empty() == start.is_empty() {
                return;
            }
            assert!(begin.elapsed() < LONG, "it shows {shown:?}, not {start:?}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn mouse(&mut self, kind: &str, (x, y): (u32, u32), clicks: u32) {
        let event =
            json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": clicks });
        self.call("Input.dispatchMouseEvent", event);
    }

    fn click(&mut self, at: (u32, u32), clicks: u32) {
        self.mouse("mousePressed", at, clicks);
        self.mouse("mouseReleased", at, clicks);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn stops_are_placed_moved_and_removed() {
    let server = Server::start(&[]);
    let Some(mut page) = Browser::open(&format!("http://{}/map", server.address)) else {
        return crate::harness::ignore("there is no Chromium");
    };
    page.wait_for("");
    for at in [(400, 200), (600, 400), (420, 500)] {
        page.click(at, 1);
    }
    page.wait_for("3 stops, ");
    let before = page.value("location.hash");
    assert_eq!(before.as_str().unwrap().split(';').count(), 3, "{before}");
    // Dragged: the tour is another.
    let length = page.value("result.textContent");
    page.mouse("mousePressed", (600, 400), 1);
    page.mouse("mouseMoved", (650, 450), 0);
    page.mouse("mouseMoved", (700, 550), 0);
    page.mouse("mouseReleased", (700, 550), 1);
    let begin = Instant::now();
    while page.value("result.textContent.split(',')[1]")
        == length.as_str().unwrap().split(',').nth(1).unwrap()
    {
        assert!(begin.elapsed() < LONG, "it still shows {length}");
        thread::sleep(Duration::from_millis(50));
    }
    assert_ne!(page.value("location.hash"), before);
    // The map is dragged: stops stay where they are.
    let before = page.value("location.hash");
    page.mouse("mousePressed", (500, 300), 1);
    page.mouse("mouseMoved", (450, 350), 0);
    page.mouse("mouseReleased", (450, 350), 1);
    assert_eq!(page.value("location.hash"), before);
    // Where the first stop is now.
    page.click((350, 250), 1);
    page.click((350, 250), 2);
    page.wait_for("2 stops, ");
    page.value("document.getElementById('clear').click()");
    page.wait_for("");
    assert_eq!(page.value("location.hash"), "");
}
