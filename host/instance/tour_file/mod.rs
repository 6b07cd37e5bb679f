//! Tour files: writes TSPLIB's format, and also reads those of other programs and people.

mod loose;

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use super::atomic_file;
use super::encoding;
use super::error::{InstanceError, Result, Text, TourError, counted, printable};
use super::model::Instance;
use super::source::{self, Room};
use super::tsplib::scan::{self, Part, Words};

/// A tour, and warnings about false statements in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TourFile {
    /// The nodes, numbered from 0, every one exactly once.
    pub nodes: Vec<u32>,
    /// How the file was interpreted: `a tour of 5 nodes from t.txt: a list; nodes counted from 0`.
    pub line: String,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Reads a tour of an instance; returns the nodes, numbered from 0, each exactly once.
///
/// # Errors
/// If the file cannot be read, or as [`parse_with`].
pub fn read(path: &Path, instance: &Instance) -> Result<Vec<u32>> {
    Ok(read_with(path, instance)?.nodes)
}

/// Does the same; also returns how the file was read, and warnings.
///
/// # Errors
/// As [`read`].
pub fn read_with(path: &Path, instance: &Instance) -> Result<TourFile> {
    let n = instance.len() as u64;
    let names = instance.names().map_or(0, |names| names.iter().map(String::len).sum::<usize>() as u64 / 8);
    // An edge list has three numbers per node.
    let room = |_: Text<'_>| Room::numbers(n.saturating_add(names).max(n), format!("a tour of {n} nodes"));
    let missing = "give the path of a file with a tour, such as one that `antwarp solve --tour` writes";
    let bytes = source::load(path, room).map_err(|error| error.where_missing(missing))?;
    parse_with(&source::shown(path), &bytes, instance)
}

/// Parses a tour from the bytes of a tour file; `file` is named in errors. Returns the nodes, numbered from 0.
///
/// # Errors
/// As [`parse_with`].
pub fn parse(file: &str, bytes: &[u8], instance: &Instance) -> Result<Vec<u32>> {
    Ok(parse_with(file, bytes, instance)?.nodes)
}

/// Parses a tour from the bytes of a tour file written by antwarp, TSPLIB, LKH, Concorde, OR-Tools or a person.
///
/// Nodes are given by the numbers or names of the instance's file; a complete tour that contains a 0 although the instance does not
/// is numbered from 0. A file with several tours is rejected.
///
/// # Errors
/// If they are not one tour that visits every node of the instance once; the remedy is in the error.
pub fn parse_with(file: &str, bytes: &[u8], instance: &Instance) -> Result<TourFile> {
    if bytes.starts_with(source::NUMPY) {
        let help = "write the tour as text: numpy.savetxt(\"tour.txt\", tour, fmt=\"%d\")";
        return Err(Text { file, bytes }.content("tours are not read from numpy's files", help));
    }
    let decoded = encoding::decode(Text { file, bytes })?;
    let text = Text { file, bytes: &decoded.bytes };
    // A table with two orders is rejected, whatever else fits.
    let table = if is_tsplib(text) { None } else { column(text)? };
    let strict = || {
        let (form, words) = words(text, instance, table)?;
        let (called, nodes) = resolve(text, &words, instance)?;
        instance.check_tour(&nodes).map_err(|error| not_a_tour(text, instance, &words, error))?;
        Ok((form, called, nodes))
    };
    let (form, called, nodes) = match strict() {
        Ok(found) => found,
        Err(error) if is_tsplib(text) || text.bytes.len() > MOST_LOOSE => return Err(error),
        Err(error) => loose::find(text, instance)?.ok_or(error)?,
    };
    let warnings = false_length(text, &nodes, instance).into_iter().collect();
    let line =
        format!("a tour of {} from {}: {form}; {called}", counted(nodes.len(), "node"), printable(file));
    Ok(TourFile { nodes, line, warnings })
}

/// Maximum number of bytes of a text that is searched for a tour in any layout: each way to split it reads all of it.
const MOST_LOOSE: usize = 1 << 22;

/// Returns what a text is, and the parts that name the nodes, in tour order.
fn words(
    text: Text<'_>,
    instance: &Instance,
    table: Option<(String, Vec<Part>)>,
) -> Result<(String, Vec<Part>)> {
    let is = |form: &str, nodes| Ok((form.to_owned(), nodes));
    let bytes = text.bytes;
    let first = bytes.trim_ascii_start().first();
    if first == Some(&b'{') {
        return is("the array \"tour\" of JSON", json(text)?);
    }
    if is_tsplib(text) {
        return is("a TSPLIB tour", listed(text, section(text, instance)?)?);
    }
    if let Some(nodes) = names_in_lines(text, instance) {
        return is("a name in each line", nodes);
    }
    if let Some(table) = table {
        return Ok(table);
    }
    if let Some(nodes) = pairs(text, instance)? {
        return is("a list of edges", nodes);
    }
    let all = scan::whole(bytes);
    if first.is_some_and(u8::is_ascii_digit)
        && !bytes.iter().any(|byte| matches!(byte, b',' | b'>' | b'[' | 0x80..))
    {
        if let Some(nodes) = edges(text, instance)? {
            return is("the edges of Concorde or linkern", nodes);
        }
        return is("a list", listed(text, all)?);
    }
    is("a list", free(text))
}

/// Returns the lines of a text if each of them is the name of a node.
fn names_in_lines(text: Text<'_>, instance: &Instance) -> Option<Vec<Part>> {
    let names: HashSet<&str> = instance.names()?.iter().map(String::as_str).collect();
    let lines = scan::lines(text.bytes, scan::whole(text.bytes)).filter(|line| line.start < line.end);
    let lines: Vec<Part> =
        lines.take_while(|&line| !is_end(text, line)).map(|line| unquoted(text, line)).collect();
    let is_name =
        |line: &Part| names.contains(String::from_utf8_lossy(&text.bytes[line.start..line.end]).as_ref());
    (lines.len() > 1 && lines.iter().all(is_name)).then_some(lines)
}

/// Returns the words between blanks, up to -1 or the end, after which there must be no more.
fn listed(text: Text<'_>, section: Part) -> Result<Vec<Part>> {
    let mut words = Words::new(text, section);
    let nodes = words.by_ref().take_while(|&word| !is_end(text, word)).collect();
    match words.find(|&word| !is_end(text, word)) {
        None => Ok(nodes),
        Some(word) => {
            let help =
                "give a file with one tour; to read a population, use solve --algorithm ga --load-population";
            Err(text.error_at(word, "the file continues after its tour", help))
        }
    }
}

fn is_end(text: Text<'_>, word: Part) -> bool {
    matches!(&text.bytes[word.start..word.end], b"-1" | b"EOF")
}

fn is_tsplib(text: Text<'_>) -> bool {
    scan::lines(text.bytes, scan::whole(text.bytes)).filter(|line| line.start < line.end).take(30).any(
        |line| {
            let slice = text.show(line).to_ascii_uppercase();
            let word = slice.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("");
            let has_colon = slice[word.len()..].trim_start().starts_with(':');
            word.ends_with("_SECTION")
                || has_colon && ["NAME", "TYPE", "DIMENSION", "COMMENT"].contains(&word)
        },
    ) || text.bytes.trim_ascii().is_empty()
}

/// Returns the elements of the array `tour` in our own JSON.
fn json(text: Text<'_>) -> Result<Vec<Part>> {
    let help = "give a JSON file with an array `tour`, as written by solve --json";
    let _: serde::de::IgnoredAny = serde_json::from_slice(text.bytes).map_err(|error| {
        text.content(format!("this is not valid JSON: {error}"), "give a tour file, or a list of nodes")
    })?;
    let bytes = text.bytes;
    let key = b"\"tour\"";
    let at = bytes.windows(key.len()).position(|part| part == key);
    let open = at.and_then(|at| bytes[at..].iter().position(|byte| *byte == b'[').map(|open| at + open + 1));
    let end = open.and_then(|open| bytes[open..].iter().position(|byte| *byte == b']').map(|end| open + end));
    let (Some(start), Some(end)) = (open, end) else {
        return Err(text.content("there is no array `tour` in this JSON", help));
    };
    Ok(pieces(text, Part { start, end }))
}

/// Returns the nodes of a table in tour order: the column named id, else node, else name.
fn column(text: Text<'_>) -> Result<Option<(String, Vec<Part>)>> {
    let mut lines = scan::lines(text.bytes, scan::whole(text.bytes)).filter(|line| line.start < line.end);
    let Some(head) = lines.next() else { return Ok(None) };
    let sign = [b';', b'\t', b','].into_iter().find(|sign| text.bytes[head.start..head.end].contains(sign));
    let cells = |line: Part| -> Vec<Part> {
        let mut cells = vec![Part { start: line.start, end: line.end }];
        let mut is_quoted = false;
        for at in line.start..line.end {
            is_quoted ^= text.bytes[at] == b'"';
            if Some(text.bytes[at]) == sign && !is_quoted {
                if let Some(last) = cells.last_mut() {
                    last.end = at;
                }
                cells.push(Part { start: at + 1, end: line.end });
            }
        }
        cells.into_iter().map(|cell| unquoted(text, cell)).collect()
    };
    let names: Vec<String> =
        cells(head).into_iter().map(|cell| text.show(cell).to_ascii_lowercase()).collect();
    let mut known = ["id", "node", "name"].to_vec();
    if names.len() == 1 {
        known.extend(["tour", "route", "path", "order", "nodes", "city", "cities", "stop", "stops"]);
    }
    let column = known.iter().find_map(|name| names.iter().position(|other| other == name));
    let Some(column) = column else { return Ok(None) };
    let order = loose::ORDERS.iter().find_map(|name| names.iter().position(|other| other == name));
    let rows: Vec<Vec<Part>> = lines.map(cells).collect();
    let place = |row: &Vec<Part>| text.whole_number(*row.get(order?)?);
    let mut places: Vec<(i64, Part)> = Vec::new();
    for row in &rows {
        let at = match order.is_some_and(|order| order != column) {
            true => place(row),
            false => Some(places.len() as i64),
        };
        let (Some(at), Some(node)) = (at, row.get(column)) else { return Ok(None) };
        places.push((at, *node));
    }
    places.sort_by_key(|(at, _)| *at);
    if order.is_none_or(|order| order == column) {
        // Another column that numbers the rows in a different order must not be silently ignored.
        let is_order = |other: usize| {
            let numbers: Option<Vec<i64>> =
                rows.iter().map(|row| text.whole_number(*row.get(other)?)).collect();
            let mut sorted = numbers.clone().unwrap_or_default();
            sorted.sort_unstable();
            let first = sorted.first().copied().unwrap_or(0);
            let is_range = sorted.iter().copied().eq(first..first + rows.len() as i64) && first <= 1;
            is_range && numbers.is_some_and(|numbers| numbers != sorted)
        };
        if let Some(other) = (0..names.len())
            .filter(|&other| other != column && !names[other].is_empty())
            .find(|&other| is_order(other))
        {
            let (column, other) = (printable(&names[column]), printable(&names[other]));
            let problem = format!(
                "the tour may be the column \"{column}\" from top to bottom, or in the order of the column \"{other}\""
            );
            let help = "name the column with the order `order`, or remove it";
            return Err(text.content(problem, help));
        }
    }
    let title = |column: usize| printable(&names[column]);
    let ordered = match order.filter(|order| *order != column) {
        Some(order) => format!(" in the order of the column \"{}\"", title(order)),
        None => String::new(),
    };
    let nodes = places.into_iter().map(|(_, node)| node).collect();
    Ok(Some((format!("the column \"{}\"{ordered}", title(column)), nodes)))
}

fn unquoted(text: Text<'_>, part: Part) -> Part {
    let part = part.trimmed(text.bytes);
    let slice = &text.bytes[part.start..part.end];
    match slice {
        [b'"', .., b'"'] | [b'\'', .., b'\''] => Part { start: part.start + 1, end: part.end - 1 },
        _ => part,
    }
}

/// Returns the nodes of a list of pairs such as `[(1, 3), (3, 2), (2, 1)]`, each the end of one edge and the start of the next.
fn pairs(text: Text<'_>, instance: &Instance) -> Result<Option<Vec<Part>>> {
    let slice = text.bytes.trim_ascii();
    let inner = |open: &[u8], close: &[u8]| {
        slice.first().is_some_and(|byte| open.contains(byte))
            && slice.last().is_some_and(|byte| close.contains(byte))
    };
    let bare: Vec<u8> = slice.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let starts = bare.starts_with(b"[[") || bare.starts_with(b"[(") || bare.starts_with(b"((");
    let has_several = bare.windows(3).any(|part| matches!(part, b"),(" | b"],["));
    if !starts || !has_several || !inner(b"[(", b"])") {
        return Ok(None);
    }
    let all = pieces(text, scan::whole(text.bytes));
    let n = instance.len();
    let shown = |part: &Part| &text.bytes[part.start..part.end];
    let is_chain =
        all.len() == 2 * n && (0..n).all(|at| shown(&all[2 * at + 1]) == shown(&all[2 * ((at + 1) % n)]));
    if is_chain {
        return Ok(Some(all.into_iter().step_by(2).collect()));
    }
    if all.len() == 2 * n || all.len() == 2 * n - 2 {
        let help =
            "give the edges in tour order, each starting where the previous one ends, or a list of the nodes";
        return Err(text.content("the pairs are not the consecutive edges of a closed tour", help));
    }
    Ok(None)
}

/// Returns the tour of an edge list as written by Concorde and linkern: `n n`, then the ends of each edge, from 0, and its length.
fn edges(text: Text<'_>, instance: &Instance) -> Result<Option<Vec<Part>>> {
    let n = instance.len();
    let mut lines = scan::lines(text.bytes, scan::whole(text.bytes)).filter(|line| line.start < line.end);
    let numbers =
        |line: Part| Words::new(text, line).map(|word| text.whole_number(word)).collect::<Option<Vec<i64>>>();
    let head = lines.next().and_then(numbers);
    if head.as_deref() != Some(&[n as i64, n as i64]) || n < 3 {
        return Ok(None);
    }
    let (mut nodes, mut parts) = (Vec::new(), Vec::new());
    for line in lines {
        let ends: Vec<Part> = Words::new(text, line).take(2).collect();
        let node = |word: &Part| text.whole_number(*word).and_then(|node| u32::try_from(node).ok());
        let found: Vec<u32> = ends.iter().filter_map(node).filter(|&node| (node as usize) < n).collect();
        if found.len() != 2 {
            return Err(text.error_at(
                line,
                "this is not an edge of the tour",
                "write the two ends of each edge, from 0, and its length",
            ));
        }
        nodes.extend(found);
        parts.extend(ends);
    }
    match cycle(&nodes, n) {
        Some(order) => Ok(Some(order.into_iter().map(|end| parts[end]).collect())),
        None => {
            let problem = format!(
                "{} edges do not form a single closed tour of {}",
                nodes.len() / 2,
                counted(n, "node")
            );
            Err(text.content(problem, "give the edges of a single closed tour"))
        }
    }
}

/// Returns the ends of edges, two per edge, in the order of the closed tour of `n` nodes that they form, one end per node; `None`
/// if they form none. The tour starts along the first edge.
fn cycle(nodes: &[u32], n: usize) -> Option<Vec<usize>> {
    if nodes.len() != 2 * n || n < 3 {
        return None;
    }
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (end, &node) in nodes.iter().enumerate() {
        edges[node as usize].push(end / 2);
    }
    if edges.iter().any(|edges| edges.len() != 2) {
        return None;
    }
    let (mut here, mut edge, mut order) = (nodes[0], 0, Vec::with_capacity(n));
    while order.len() < n {
        if here == nodes[0] && !order.is_empty() {
            return None;
        }
        let from = 2 * edge + usize::from(nodes[2 * edge] != here);
        order.push(from);
        here = nodes[from ^ 1];
        edge = edges[here as usize].iter().copied().find(|&other| other != edge)?;
    }
    (here == nodes[0]).then_some(order)
}

/// Returns the nodes of a text with commas, arrows or brackets, after a word such as `Route:`.
fn free(text: Text<'_>) -> Vec<Part> {
    let all = scan::whole(text.bytes);
    let slice = &text.bytes[all.start..];
    let lines = scan::lines(text.bytes, all).filter(|line| line.start < line.end);
    let has_arrows = slice.windows(2).any(|pair| pair == b"->") || slice.windows(3).any(|part| part == ARROW);
    let mut found = Vec::new();
    for line in lines {
        let slice = &text.bytes[line.start..line.end];
        let has_arrow =
            slice.windows(2).any(|pair| pair == b"->") || slice.windows(3).any(|part| part == ARROW);
        // A heading, or a statement of the length.
        if has_arrows && !has_arrow {
            continue;
        }
        let colon = slice
            .iter()
            .position(|byte| *byte == b':')
            .filter(|&at| slice[..at].iter().any(u8::is_ascii_alphabetic));
        let start = line.start + colon.map_or(0, |at| at + 1);
        if start < line.end {
            found.extend(pieces(text, Part { start, end: line.end }));
        }
    }
    found.retain(|&word| !is_end(text, word));
    found
}

const ARROW: &[u8] = "\u{2192}".as_bytes();

/// Returns the text between commas, arrows and brackets; blanks are separators only if there are no others.
fn pieces(text: Text<'_>, part: Part) -> Vec<Part> {
    let bytes = &text.bytes[part.start..part.end];
    let has_arrows = bytes.windows(2).any(|pair| pair == b"->") || bytes.windows(3).any(|part| part == ARROW);
    let sign = |at: usize| match &bytes[at..] {
        [b'-', b'>', ..] => 2,
        rest if rest.starts_with(ARROW) => ARROW.len(),
        // A name may contain a comma.
        [b',' | b';', ..] if has_arrows => 0,
        [b',' | b';' | b'[' | b']' | b'(' | b')', ..] => 1,
        _ => 0,
    };
    let mut found = Vec::new();
    let (mut start, mut at, mut any) = (0, 0, false);
    let mut is_quoted = false;
    while at < bytes.len() {
        is_quoted ^= bytes[at] == b'"';
        match sign(at) {
            length if length > 0 && !is_quoted => {
                found.push(Part { start: part.start + start, end: part.start + at });
                any |= !matches!(bytes[at], b'[' | b']' | b'(' | b')');
                at += length;
                start = at;
            }
            _ => at += 1,
        }
    }
    found.push(Part { start: part.start + start, end: part.start + bytes.len() });
    let found = found.into_iter().map(|piece| unquoted(text, piece)).filter(|piece| piece.start < piece.end);
    if any {
        return found.collect();
    }
    found.flat_map(|piece| Words::new(text, piece).collect::<Vec<_>>()).collect()
}

/// Resolves words to nodes, by the instance's numbers, by its names, or counted from 0; also returns which of these applied.
fn resolve(text: Text<'_>, words: &[Part], instance: &Instance) -> Result<(&'static str, Vec<u32>)> {
    let by_name = || by_name(text, words, instance).map(|nodes| ("nodes by their names", nodes));
    let n = instance.len();
    let numbers = instance.node_numbers();
    let whole: Option<Vec<i64>> = words.iter().map(|&word| text.whole_number(word)).collect();
    let by_id = |id: i64| u32::try_from(id).ok().and_then(|id| numbers.node(id));
    let Some(mut whole) = whole else { return by_name() };
    let is_closed = whole.len() == n + 1 && n > 1 && whole[0] == whole[n];
    // Concorde's .sol starts with the number of nodes.
    let is_counted = whole.len() == n + 1 && !is_closed && whole[0] == n as i64;
    if is_closed {
        whole.pop();
    } else if is_counted {
        whole.remove(0);
    }
    let found: Option<Vec<u32>> = whole.iter().map(|&id| by_id(id)).collect();
    if let Some(nodes) = found {
        return Ok(("nodes by their numbers", nodes));
    }
    let mut sorted = whole.clone();
    sorted.sort_unstable();
    if sorted.into_iter().eq(0..n as i64) {
        return Ok(("nodes counted from 0", whole.into_iter().map(|node| node as u32).collect()));
    }
    let at = whole.iter().position(|&id| by_id(id).is_none()).unwrap_or(0) + usize::from(is_counted);
    if let Some(Ok(found)) = instance.names().map(|_| by_name()) {
        return Ok(found);
    }
    let (first, last) = (instance.id(0), instance.id(n as u32 - 1));
    let problem = format!("{} has no node {}", instance.name(), text.show(words[at]));
    let help = format!("number the nodes as the instance does, from {first} to {last}");
    Err(text.error_at(words[at], problem, help))
}

/// Resolves words that may name a node several times, all by number or all counted from 0.
fn nodes_of(text: Text<'_>, words: &[Part], instance: &Instance) -> Option<(&'static str, Vec<u32>)> {
    let numbers = instance.node_numbers();
    let whole: Vec<u32> = words
        .iter()
        .map(|&word| text.whole_number(word).and_then(|id| u32::try_from(id).ok()))
        .collect::<Option<_>>()?;
    if let Some(nodes) = whole.iter().map(|&id| numbers.node(id)).collect::<Option<Vec<u32>>>() {
        return Some(("nodes by their numbers", nodes));
    }
    let is_inside = whole.iter().all(|&node| (node as usize) < instance.len());
    is_inside.then_some(("nodes counted from 0", whole))
}

fn by_name(text: Text<'_>, words: &[Part], instance: &Instance) -> Result<Vec<u32>> {
    let numbers = instance.node_numbers();
    let mut nodes: HashMap<&str, Option<u32>> = HashMap::new();
    for (node, name) in (0..).zip(instance.names().unwrap_or_default()) {
        nodes.entry(name).and_modify(|node| *node = None).or_insert(Some(node));
    }
    let node = |&word: &Part| {
        let written = String::from_utf8_lossy(&text.bytes[word.start..word.end]).replace("\"\"", "\"");
        match nodes.get(written.trim()) {
            Some(Some(node)) => Ok(*node),
            Some(None) => {
                let problem = format!("two nodes have the name `{}`", text.show(word));
                Err(text.error_at(word, problem, "give the nodes by number"))
            }
            None => {
                let number = text
                    .whole_number(word)
                    .and_then(|id| u32::try_from(id).ok())
                    .and_then(|id| numbers.node(id));
                number.ok_or_else(|| {
                    let kind = if nodes.is_empty() { "the number" } else { "the number or the name" };
                    let problem = format!("`{}` is not {kind} of a node", text.show(word));
                    text.error_at(word, problem, "list the nodes by number, and -1 after the last")
                })
            }
        }
    };
    let mut found: Vec<u32> = words.iter().map(node).collect::<Result<_>>()?;
    if found.len() == instance.len() + 1 && found.len() > 2 && found.first() == found.last() {
        found.pop();
    }
    Ok(found)
}

/// Returns a warning if a comment gives a length that is not the tour's.
fn false_length(text: Text<'_>, nodes: &[u32], instance: &Instance) -> Option<String> {
    let comment = scan::lines(text.bytes, scan::whole(text.bytes)).take(20).find_map(|line| {
        let said = text.show(line);
        let said = said.strip_prefix("COMMENT")?.trim_start().strip_prefix(':')?.trim().to_owned();
        let rest = said.get(..6).filter(|word| word.eq_ignore_ascii_case("length")).map(|_| &said[6..])?;
        rest.trim_start_matches([' ', '=', ':']).split_whitespace().next().map(str::to_owned)
    })?;
    let told: f64 = comment.parse().ok()?;
    let cost = instance.tour_cost(nodes).as_f64();
    // Compare as many digits as are given.
    let decimals = comment.split_once('.').map_or(0, |(_, decimals)| decimals.len()) as i32;
    let is_right = (cost - told).abs() <= 0.51 * 10_f64.powi(-decimals) + 1e-9 * cost.abs();
    (!is_right)
        .then(|| format!("a comment of {} says that the length is {comment}, but it is {cost}", text.file))
}

/// Returns the section with the nodes.
fn section(text: Text<'_>, instance: &Instance) -> Result<Part> {
    let entries = scan::entries(text)?;
    let value =
        |keyword: &str| entries.iter().find(|entry| entry.keyword == keyword).map(|entry| entry.value);
    // TYPE may be followed by a name.
    let kind = value("TYPE").and_then(|value| Words::new(text, value).next());
    if let Some(kind) = kind.filter(|&kind| !text.show(kind).eq_ignore_ascii_case("TOUR")) {
        let problem = format!("this is a file of TYPE {}, not a TOUR", text.show(kind));
        return Err(text.error_at(kind, problem, "give a TSPLIB tour file, or a bare list of node numbers"));
    }
    let n = instance.len();
    if let Some(value) = value("DIMENSION").filter(|&value| text.whole_number(value) != Some(n as i64)) {
        let problem =
            format!("this is a tour of {} nodes, but {} has {n}", text.show(value), instance.name());
        return Err(text.error_at(value, problem, "give the instance it belongs to"));
    }
    let is_other = |keyword: &str| keyword.ends_with("_SECTION") && keyword != "TOUR_SECTION";
    if let Some(other) =
        entries.iter().find(|entry| is_other(&entry.keyword)).filter(|_| value("TOUR_SECTION").is_some())
    {
        let problem = format!("{} is not a section of a tour", other.keyword);
        return Err(text.error_at(
            other.keyword_part,
            problem,
            "put the instance and its tour in separate files",
        ));
    }
    value("TOUR_SECTION").ok_or_else(|| {
        let help = "give a TSPLIB tour file, or a bare list of node numbers";
        text.content("there is no TOUR_SECTION", help)
    })
}

/// Converts the error to the file's own numbers and locates it.
fn not_a_tour(text: Text<'_>, instance: &Instance, words: &[Part], error: TourError) -> InstanceError {
    let help =
        format!("a tour of {} visits each of its {} once", instance.name(), counted(instance.len(), "node"));
    match error {
        TourError::Repeated { node, position, missing } => {
            let (node, missing) = (instance.id(node), instance.id(missing));
            let problem = format!("node {node} is visited a second time; node {missing} is missing");
            text.error_at(words.get(position).copied().unwrap_or(Part { start: 0, end: 0 }), problem, help)
        }
        other => text.content(other.to_string(), help),
    }
}

/// Writes a tour of an instance to a file, which is at any time either the old one or the complete new one.
///
/// # Errors
/// If it is not a tour of the instance, or the file cannot be written.
pub fn save(instance: &Instance, tour: &[u32], path: &Path) -> Result<()> {
    instance.check_tour(tour).map_err(|error| {
        InstanceError::content(instance.name(), error.to_string(), "this is a mistake of the caller")
    })?;
    let cost = instance.tour_cost(tour);
    atomic_file::write(path, |mut out| write(instance, tour, cost, &mut out))
}

/// Writes a tour as a TSPLIB tour file, with the numbers of the instance's file; `cost` is its cost in the user's unit.
///
/// # Errors
/// The errors of `out`.
pub fn write(instance: &Instance, tour: &[u32], cost: impl Display, out: &mut impl Write) -> io::Result<()> {
    let name = super::tsplib::one_line(instance.name());
    writeln!(out, "NAME : {name}.tour\nCOMMENT : length {cost}\nTYPE : TOUR")?;
    writeln!(out, "DIMENSION : {}\nTOUR_SECTION", tour.len())?;
    for &node in tour {
        writeln!(out, "{}", instance.id(node))?;
    }
    writeln!(out, "-1\nEOF")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metric;

    fn line_of_four() -> Instance {
        let points = (0..4).map(|x| [f64::from(x), 0.0, 0.0]).collect();
        Instance::from_points("line", Metric::Euc2d, points).unwrap()
    }

    fn tour(text: &str) -> std::result::Result<Vec<u32>, String> {
        parse("t.tour", text.as_bytes(), &line_of_four()).map_err(|error| error.to_string())
    }

    #[test]
    fn tours_come_in_many_shapes() {
        let expected = Ok(vec![1, 0, 2, 3]);
        for text in [
            "NAME : x\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n2\n1\n3\n4\n-1\nEOF\n",
            "NAME: x\r\nTYPE: TOUR\r\nTOUR_SECTION \r\n2 1\r\n3   4 -1\r\n\r\nEOF\r\n\r\n",
            "TOUR_SECTION:\n2 1 3 4",
            "TOUR_SECTION\n2 1 3 4\nEOF",
            "TYPE : tour (of a friend)\nTOUR_SECTION\n2 1 3 4 -1\n-1\nEOF",
            " 2 1\n3 4\n",
            "2 1 3 4 -1\n-1\nEOF\n",
            "\u{feff}2 1\r3 4\n",
        ] {
            assert_eq!(tour(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_tour_is_located() {
        let starts = |text: &str, start: &str| {
            let error = tour(text).unwrap_err();
            assert!(error.starts_with(start), "{error}");
        };
        starts(
            "TOUR_SECTION\n2\n1\n2\n4\n-1",
            "t.tour:4:1: node 2 is visited a second time; node 3 is missing",
        );
        starts("TOUR_SECTION\n1 2 9 3", "t.tour:2:5: line has no node 9");
        starts("TOUR_SECTION\n1 2 x", "t.tour:2:5: `x` is not the number");
        starts("TOUR_SECTION\n1 2 3 -1", "t.tour: the tour has 3 nodes, the instance has 4");
        starts("NAME : x\nEOF", "t.tour: there is no TOUR_SECTION");
        starts("", "t.tour: there is no TOUR_SECTION");
    }

    #[test]
    fn an_array_of_numpy_is_refused_as_what_it_is() {
        let bytes = b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }";
        let error = parse("t.npy", bytes, &line_of_four()).unwrap_err().to_string();
        assert!(error.starts_with("t.npy: tours are not read from numpy's files"), "{error}");
    }

    #[test]
    fn what_is_no_tour_of_the_instance_or_more_than_one_is_located() {
        let starts = |text: &str, start: &str| {
            let error = tour(text).unwrap_err();
            assert!(error.starts_with(start), "{text:?}: {error}");
        };
        let one = "TOUR_SECTION\n2 1 3 4 -1\n";
        starts(&format!("TYPE : TSP\n{one}"), "t.tour:1:8: this is a file of TYPE TSP, not a TOUR");
        starts(&format!("DIMENSION : 5\n{one}"), "t.tour:1:13: this is a tour of 5 nodes, but line has 4");
        starts(&format!("{one}{one}"), "t.tour:3:1: TOUR_SECTION appears in the file a second time");
        starts(&format!("{one}EOF\n{one}"), "t.tour:4:1: the file continues after EOF");
        starts(&format!("{one}1 2 3 4 -1\n-1\n"), "t.tour:3:1: the file continues after its tour");
        starts("2 1 3 4 -1\nx", "t.tour:2:1: the file continues after its tour");
    }

    #[test]
    fn a_written_tour_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("line.tour");
        let instance = line_of_four();
        save(&instance, &[3, 1, 0, 2], &path).unwrap();
        assert_eq!(read(&path, &instance).unwrap(), [3, 1, 0, 2]);
        assert!(std::fs::read_to_string(&path).unwrap().contains("COMMENT : length 6\n"));
        assert!(save(&instance, &[3, 1, 0, 0], &path).is_err());
    }
}
