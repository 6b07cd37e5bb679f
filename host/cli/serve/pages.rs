//! Answers as they are sent, and the pages for browsers.

use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;

/// The description of the interface.
pub const OPEN_API: &str = include_str!("openapi.json");

/// An answer.
pub struct Page {
    /// The HTTP status.
    pub status: u16,
    /// The media type of the body.
    pub media_type: &'static str,
    /// Headers that not every answer has.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
}

impl Page {
    fn new(media_type: &'static str, body: String) -> Page {
        Page { status: 200, media_type, headers: Vec::new(), body }
    }

    /// Returns an answer in JSON, with status 200.
    pub fn json(body: String) -> Page {
        Page::new("application/json", body)
    }

    /// Returns metrics in Prometheus' text format, with status 200.
    pub fn text(body: String) -> Page {
        Page::new("text/plain; version=0.0.4; charset=utf-8", body)
    }

    /// Adds a header. It is left out of the answer if its value has characters that headers cannot have.
    pub fn with(mut self, name: &'static str, value: String) -> Page {
        self.headers.push((name, value));
        self
    }
}

/// Where map tiles come from: a URL with `{z}`, `{x}` and `{y}`.
#[derive(Clone, Debug)]
pub struct Tiles {
    url: String,
    /// Scheme and host, for the policy of the page.
    origin: String,
}

impl FromStr for Tiles {
    type Err = String;

    fn from_str(url: &str) -> Result<Tiles, String> {
        let wrong = || "give a URL such as https://tile.openstreetmap.org/{z}/{x}/{y}.png".to_owned();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?=&%{}".contains(c);
        let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
        let (host, _) = rest.split_once('/').ok_or_else(wrong)?;
        let is_host = |c: char| c.is_ascii_alphanumeric() || "-.:".contains(c);
        let is_right = ["http", "https"].contains(&scheme)
            && !host.is_empty()
            && host.chars().all(is_host)
            && url.chars().all(is_plain)
            && ["{z}", "{x}", "{y}"].iter().all(|part| rest.contains(part));
        if !is_right {
            return Err(wrong());
        }
        Ok(Tiles { url: url.to_owned(), origin: format!("{scheme}://{host}") })
    }
}

/// Returns a page of HTML. Scripts and styles run only with the nonce of this answer, and images come only from there.
fn html(text: &str, images: &str) -> Page {
    let random = || RandomState::new().hash_one(0);
    let nonce = format!("{:016x}{:016x}", random(), random());
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src {images}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    Page::new("text/html; charset=utf-8", text.replace("NONCE", &nonce))
        .with("content-security-policy", policy)
        .with("referrer-policy", "strict-origin-when-cross-origin".to_owned())
}

/// Returns the list of the server's paths.
pub fn index() -> Page {
    html(&include_str!("index.html").replace("VERSION", env!("CARGO_PKG_VERSION")), "'none'")
}

/// Returns the page on which stops are placed and the tour is drawn.
pub fn map(tiles: Option<&Tiles>) -> Page {
    let (url, images) = tiles.map_or(("", "'none'"), |tiles| (&tiles.url, &tiles.origin));
    html(&include_str!("map.html").replace("TILES", url), images)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_name_their_origin_and_hold_nothing_else() {
        let tiles: Tiles = "https://tile.openstreetmap.org/{z}/{x}/{y}.png".parse().unwrap();
        assert_eq!(tiles.origin, "https://tile.openstreetmap.org");
        for text in [
            "",
            "https://a",
            "ftp://a/{z}{x}{y}",
            "https://a/{z}/{x}",
            "https://a/{z}/{x}/{y}\"+x",
            "https://a b/{z}{x}{y}",
            "https://a;script-src *//{z}{x}{y}",
        ] {
            assert!(text.parse::<Tiles>().is_err(), "{text}");
        }
    }
}
