//! Pairs of nodes, as people give them: `A,B`, or a file with a pair in each line.

use std::path::Path;

use super::encoding;
use super::error::{InstanceError, Result, Text, printable};
use super::node_names::NodeNames;
use super::source::{self, Room};
use super::tsplib::scan;

/// Maximum number of bytes of a file of pairs.
const MOST_BYTES: u64 = 1 << 32;
/// The remedy if a text can be split into two nodes in several ways, or in none.
const REMEDY: &str = "give it in a file, with a tab between the two nodes";

/// Returns the pair that a text is, or the pairs in the file that it names.
///
/// # Errors
/// If it is neither or both, or a node does not exist.
pub fn given(text: &str, nodes: &NodeNames<'_>) -> Result<Vec<(u32, u32)>> {
    let name = nodes.instance().name();
    let path = Path::new(text);
    match (parse(name, text, nodes), path.exists()) {
        (Ok(_), true) => {
            let problem = format!("{text} is a pair of nodes, but also a file");
            Err(InstanceError::content(name, problem, format!("write ./{text} for the file, or rename it")))
        }
        (Ok(pair), false) => Ok(vec![pair]),
        (Err(_), true) => read(path, nodes),
        (Err(error), false) if text.contains(',') => Err(error),
        (Err(_), false) => {
            let missing = InstanceError::read(
                path,
                std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such file"),
            );
            Err(missing.where_missing(
                "give two nodes with a comma between them, such as 3,7, or the path of a file of pairs",
            ))
        }
    }
}

/// Reads a file with a pair of nodes in each line, with a tab, a comma or a blank between them. Lines that start with `#` are
/// comments, and so is what follows a `#` after a blank.
///
/// # Errors
/// If the file cannot be read, a line is not a pair of nodes, or the file has no pairs.
pub fn read(path: &Path, nodes: &NodeNames<'_>) -> Result<Vec<(u32, u32)>> {
    let bytes = source::load(path, |_| Room::bytes(MOST_BYTES, "a file of pairs"))?;
    let file = source::shown(path);
    let decoded = encoding::decode(Text { file: &file, bytes: &bytes })?;
    let text = Text { file: &file, bytes: &decoded.bytes };
    let mut pairs = Vec::new();
    for line in scan::lines(text.bytes, scan::whole(text.bytes)) {
        let content = String::from_utf8_lossy(&text.bytes[line.start..line.end]);
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let begin = content.char_indices().find(|&(at, c)| c == '#' && content[..at].ends_with([' ', '\t']));
        let pair = match begin {
            Some((at, _)) if found(&content, nodes).len() != 1 => parse(&file, &content[..at], nodes),
            _ => parse(&file, &content, nodes),
        };
        let pair = pair.map_err(|error| match error {
            InstanceError::Content { problem, help, .. } => text.error_at(line, problem, help),
            other => other,
        });
        pairs.push(pair?);
    }
    if pairs.is_empty() {
        return Err(text.content("there is no pair of nodes in this file", "write two nodes in each line"));
    }
    Ok(pairs)
}

/// Returns the pair of nodes that a text is; `origin` is named in errors.
///
/// A tab separates the nodes, else a comma, else a blank. Names may contain commas and blanks if only one way to split the text
/// gives two nodes.
///
/// # Errors
/// If there is no such way, or more than one.
pub fn parse(origin: &str, text: &str, nodes: &NodeNames<'_>) -> Result<(u32, u32)> {
    let refuse = |problem: String, help: &str| Err(InstanceError::content(origin, problem, help));
    let text = text.trim();
    let shown = printable(text);
    match found(text, nodes)[..] {
        [] => {}
        [pair] => return Ok(pair),
        _ => return refuse(format!("{shown} can be split into two nodes in several ways"), REMEDY),
    }
    let splits = ways(text).into_iter().find(|splits| !splits.is_empty()).unwrap_or_default();
    match splits[..] {
        [] => refuse(format!("{shown} is not a pair of nodes"), "give two nodes, such as 3,7"),
        [(one, other)] => {
            let pair = || Ok((nodes.node(&unquoted(one))?, nodes.node(&unquoted(other))?));
            pair().map_err(|error| match error {
                InstanceError::Content { problem, help, .. } => InstanceError::content(origin, problem, help),
                other => other,
            })
        }
        _ => refuse(format!("{shown} cannot be split into two nodes of this instance"), REMEDY),
    }
}

/// Returns the pairs that a text may be: none, one, or several.
fn found(text: &str, nodes: &NodeNames<'_>) -> Vec<(u32, u32)> {
    let pair = |&(one, other): &(&str, &str)| {
        let [one, other] = [one, other].map(unquoted);
        Some((nodes.find(&one)?, nodes.find(&other)?))
    };
    let found = ways(text.trim()).map(|splits| splits.iter().filter_map(pair).collect::<Vec<_>>());
    let mut pairs = found.into_iter().find(|pairs| !pairs.is_empty()).unwrap_or_default();
    pairs.dedup();
    pairs
}

/// Returns all ways to split a text into two nodes: at tabs; without any, at commas, and at blanks.
fn ways(text: &str) -> [Vec<(&str, &str)>; 2] {
    let tabs = splits(text, |c| c == '\t');
    if tabs.is_empty() {
        [splits(text, |c| c == ','), splits(text, char::is_whitespace)]
    } else {
        [tabs, Vec::new()]
    }
}

/// Returns all ways to split a text at such a character into two parts, without the blanks around them.
fn splits(text: &str, separates: impl Fn(char) -> bool) -> Vec<(&str, &str)> {
    let at = text.char_indices().filter(|&(_, c)| separates(c));
    let parts = at.map(|(at, c)| (text[..at].trim(), text[at + c.len_utf8()..].trim()));
    let mut splits: Vec<_> = parts.filter(|(one, other)| !one.is_empty() && !other.is_empty()).collect();
    splits.dedup();
    splits
}

/// Returns a name without the quotes around it, as CSV has them.
fn unquoted(text: &str) -> String {
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instance;

    fn named(names: &[&str]) -> Instance {
        let places = (0..names.len()).map(|x| [x as f64, 0.0, 0.0]).collect();
        let instance = Instance::from_places("towns", 2, places).unwrap();
        instance.with_names(names.iter().map(|&name| name.to_owned()).collect())
    }

    const TOWNS: [&str; 6] = ["Ulm", "New York", "Paris, Texas", "Flat #3", "a", "a,a"];

    #[test]
    fn pairs_are_found_however_nodes_are_named() {
        let instance = named(&TOWNS);
        let nodes = NodeNames::new(&instance);
        for (text, right) in [
            ("1,2", (0, 1)),
            (" 2 , 1 ", (1, 0)),
            ("1 3", (0, 2)),
            ("4\t1", (3, 0)),
            ("Ulm,New York", (0, 1)),
            ("New York Ulm", (1, 0)),
            ("Paris, Texas,Ulm", (2, 0)),
            ("\"Paris, Texas\", Ulm", (2, 0)),
            ("Paris, Texas\tNew York", (2, 1)),
            ("Ulm  Flat #3", (0, 3)),
            ("a,a\ta", (5, 4)),
        ] {
            assert_eq!(parse("here", text, &nodes).unwrap(), right, "{text:?}");
        }
        for (text, wrong) in [
            ("a,a,a", "in several ways"),
            ("Ulm,Bonn", "there is no node Bonn"),
            ("1,7", "there is no node 7"),
            ("Ulm", "not a pair"),
            ("", "not a pair"),
            ("1,2,3", "cannot be split"),
            ("Ulm,New York\tUlm", "there is no node Ulm,New York"),
        ] {
            let error = parse("here", text, &nodes).unwrap_err().to_string();
            assert!(error.starts_with("here: ") && error.contains(wrong), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_file_has_a_pair_in_each_line() {
        let instance = named(&TOWNS);
        let nodes = NodeNames::new(&instance);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.txt");
        let of = |text: &str| {
            std::fs::write(&path, text).unwrap();
            given(path.to_str().unwrap(), &nodes).map_err(|error| error.to_string())
        };
        let text = "# fixed\n1,2\n\n  # more\r\nUlm\tFlat #3\n2 3 # a note\nFlat #3,1\n";
        assert_eq!(of(text), Ok(vec![(0, 1), (0, 3), (1, 2), (3, 0)]));
        assert!(of("# none\n").unwrap_err().contains("no pair of nodes"));
        let error = of("1,2\n1,99\n").unwrap_err();
        assert!(error.contains("pairs.txt:2:1") && error.contains("no node 99"), "{error}");
        let error = given("nowhere.txt", &nodes).unwrap_err();
        assert!(error.to_string().contains("nowhere.txt") && error.remedy().contains("3,7"));
        assert!(given("1,77", &nodes).unwrap_err().to_string().contains("no node 77"));
    }
}
