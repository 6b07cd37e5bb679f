//! A page with a map of tours and the course of their runs. It needs no network and no other file.
//!
//! Its parts are plain files in `page/`. The page holds the JSON of its runs, as `--json` writes it, and makes everything it shows
//! from that: so a page can be made from what runs wrote.

use std::io::{self, Write};

use serde::Serialize;

const FRAME: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");
/// Natural Earth's coastline, packed by scripts/coast.py.
const COAST: &str = include_str!("page/coast.txt");

/// Writes a page of these runs: [reports](super::Report), or their JSON.
///
/// # Errors
/// If it cannot be written.
pub fn write(out: &mut dyn Write, runs: impl IntoIterator<Item = impl Serialize>) -> io::Result<()> {
    let mut runs = Some(runs);
    let mut pieces = FRAME.split("{{");
    out.write_all(pieces.next().unwrap_or_default().as_bytes())?;
    for piece in pieces {
        let (name, after) = piece.split_once("}}").unwrap_or((piece, ""));
        match name {
            "style" => out.write_all(STYLE.as_bytes())?,
            "script" => out.write_all(SCRIPT.as_bytes())?,
            "coast" => out.write_all(COAST.trim_end().as_bytes())?,
            _ => write_runs(out, runs.take().into_iter().flatten())?,
        }
        out.write_all(after.as_bytes())?;
    }
    Ok(())
}

fn write_runs(out: &mut dyn Write, runs: impl Iterator<Item = impl Serialize>) -> io::Result<()> {
    for (at, run) in runs.enumerate() {
        out.write_all(if at == 0 { b"[\n" } else { b",\n" })?;
        serde_json::to_writer(Harmless(out), &run)?;
    }
    out.write_all(b"\n]")
}

/// A writer of JSON inside HTML: a `<` in a text could end the script element that holds it, or open another.
struct Harmless<'a>(&'a mut dyn Write);

impl Write for Harmless<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        for (at, part) in json.split(|&byte| byte == b'<').enumerate() {
            if at > 0 {
                self.0.write_all(br"\u003c")?;
            }
            self.0.write_all(part)?;
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, Engine};
    use sha2::{Digest, Sha256};

    use super::*;

    fn page(runs: &[serde_json::Value]) -> String {
        let mut out = Vec::new();
        write(&mut out, runs).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The policy allows this script and this style and no other.
    #[test]
    fn the_policy_names_the_script_and_the_style() {
        let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
        for (what, text) in [("script-src", SCRIPT), ("style-src", STYLE)] {
            let policy = format!("{what} {}", hash(text));
            assert!(FRAME.contains(&policy), "page.html must have the policy {policy}");
        }
    }

    #[test]
    fn texts_of_others_stay_data() {
        let name = "</script><script>alert(1)</script><!-- {{runs}} & \" '";
        let text = page(&[serde_json::json!({ "name": name }), serde_json::json!({ "name": "b" })]);
        assert_eq!(text.matches("</script>").count(), 3, "the page's own three");
        assert!(!text.contains("alert(1)</"), "{text}");
        let (_, json) = text.split_once(r#"id="runs">"#).unwrap();
        let (json, _) = json.split_once("</script>").unwrap();
        let runs: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!((&runs[0]["name"], &runs[1]["name"]), (&name.into(), &"b".into()));
    }

    #[test]
    fn the_page_is_whole_and_small() {
        let text = page(&[]);
        assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"));
        assert!(!text.contains("{{style}}") && !text.contains("{{coast}}") && text.len() < 100_000);
        // Nothing but the tiles comes from elsewhere.
        let addresses: Vec<&str> = text.match_indices("https://").map(|(at, _)| &text[at..at + 30]).collect();
        let are_known = addresses.iter().all(|address| {
            ["https://tile.openstreetmap.org", "https://www.openstreetmap.org/"]
                .iter()
                .any(|known| address.starts_with(known))
        });
        assert!(are_known, "{addresses:?}");
        assert!(!COAST.contains('<'));
    }
}
