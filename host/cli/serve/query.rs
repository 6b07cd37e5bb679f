//! Paths and queries of URLs.

use super::refusal::{Kind, Refusal};

/// Replaces `%3B` and the like by the bytes that they stand for. A `+` stays one.
///
/// # Errors
/// [`Kind::Syntax`] if two hexadecimal digits do not follow a `%`, or the bytes are not UTF-8.
pub fn decoded(text: &str) -> Result<String, Refusal> {
    let wrong = || Refusal::new(Kind::Syntax, "the URL is not percent-encoded UTF-8");
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or_else(wrong)?;
        bytes.push(byte);
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// Most options of a query.
const MOST: usize = 20;

/// The options of a query, each of which may be taken once.
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query such as `time=2&seed=1`, without the question mark. An option without `=` has an empty value.
    ///
    /// # Errors
    /// [`Kind::Value`] if an option is given twice or there are more than [`MOST`]; and as [`decoded`].
    pub fn read(text: &str) -> Result<Query, Refusal> {
        let mut options: Vec<(String, String)> = Vec::new();
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            if options.iter().any(|(other, _)| *other == name) {
                return Err(Refusal::new(Kind::Value, format!("the option `{name}` is given twice")));
            }
            if options.len() == MOST {
                return Err(Refusal::new(Kind::Value, format!("the query has more than {MOST} options")));
            }
            options.push((name, value));
        }
        Ok(Query(options))
    }

    /// Takes the value of an option out of the query; `None` if it is not given.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.remove(at).1)
    }

    /// Takes a number out of the query; `None` if it is not given.
    ///
    /// # Errors
    /// [`Kind::Value`] if it is not such a number.
    pub fn number<T: std::str::FromStr>(&mut self, name: &str) -> Result<Option<T>, Refusal> {
        let Some(text) = self.take(name) else { return Ok(None) };
        let wrong = |_| Refusal::new(Kind::Value, format!("the option `{name}` is `{text}`: give a number"));
        text.parse().map(Some).map_err(wrong)
    }

    /// Takes one of these values out of the query; the first one is the default.
    ///
    /// # Errors
    /// [`Kind::Value`] if it is another one.
    pub fn one_of(&mut self, name: &str, values: &[&'static str]) -> Result<&'static str, Refusal> {
        let Some(text) = self.take(name) else { return Ok(values[0]) };
        let found = values.iter().find(|value| **value == text);
        found.copied().ok_or_else(|| {
            let text = format!("the option `{name}` is `{text}`: give {}", values.join(" or "));
            Refusal::new(Kind::Value, text)
        })
    }

    /// Rejects options that nobody took.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for the first of them.
    pub fn end(self) -> Result<(), Refusal> {
        match self.0.first() {
            Some((name, _)) => {
                Err(Refusal::new(Kind::Unsupported, format!("the option `{name}` is not supported")))
            }
            None => Ok(()),
        }
    }
}
