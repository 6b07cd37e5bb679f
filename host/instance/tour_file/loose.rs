//! Tours as programs print them and people type them: tries all ways to split a text, and keeps those that give a tour of the
//! instance.

use super::{Part, Text, pieces, resolve, scan, unquoted};
use crate::error::{Result, printable};
use crate::model::Instance;

/// Names of columns that give the position of a node in the tour.
pub(super) const ORDERS: [&str; 20] = [
    "position",
    "order",
    "rank",
    "sequence",
    "seq",
    "step",
    "visit_order",
    "arrival_order",
    "reihenfolge",
    "ordre",
    "orden",
    "visit",
    "rang",
    "stop_number",
    "stop number",
    "order_visited",
    "visited",
    "étape",
    "pos",
    "u",
];

/// A way to split a text, and the resulting nodes.
struct Found {
    form: String,
    called: &'static str,
    nodes: Vec<u32>,
    /// Whether the nodes are in the order of their numbers, like an index.
    is_index: bool,
}

/// Finds the tour in a text of any layout. Returns `None` if no way to split it gives one.
///
/// # Errors
/// If two ways give different tours.
pub(super) fn find(text: Text<'_>, instance: &Instance) -> Result<Option<(String, &'static str, Vec<u32>)>> {
    let lines = lines(text);
    if let Some(words) = edges(text, instance, &lines) {
        let (called, nodes) = resolve(text, &words, instance)?;
        return Ok(Some(("a list of edges".to_owned(), called, nodes)));
    }
    let mut found: Vec<Found> = Vec::new();
    for (form, words) in candidates(text, &lines) {
        // Only these numbers of words can be a tour, open or closed.
        if words.len() != instance.len() && words.len() != instance.len() + 1 {
            continue;
        }
        let Ok((called, nodes)) = resolve(text, &words, instance) else { continue };
        if instance.check_tour(&nodes).is_ok() && !found.iter().any(|other| are_same(&other.nodes, &nodes)) {
            let is_index = nodes.is_sorted() && called != "nodes by their names";
            found.push(Found { form, called, nodes, is_index });
        }
    }
    // Next to names or to R's row numbers, ascending numbers are an index. Next to other numbers they may be nodes.
    let is_by_name = |one: &Found| one.called == "nodes by their names";
    let is_named_column = |one: &Found| one.form.starts_with("the column");
    if found.len() > 1 && (found.iter().any(is_by_name) || !found.iter().any(is_named_column)) {
        found.retain(|one| !one.is_index);
    }
    match &found[..] {
        // Several tours.
        [one, other, ..] if one.form == other.form => Ok(None),
        [one, other, ..] => {
            let problem = format!("the tour may be {} or {}", one.form, other.form);
            Err(text.content(problem, "keep only one of them in the file"))
        }
        _ => Ok(found.pop().map(|one| (one.form, one.called, one.nodes))),
    }
}

/// Returns whether two closed tours are equal except for their starting node.
fn are_same(one: &[u32], other: &[u32]) -> bool {
    let begin = other.iter().position(|node| Some(node) == one.first()).unwrap_or(0);
    one.iter().eq(other[begin..].iter().chain(&other[..begin]))
}

/// Returns the ways to split a text, each with its name.
fn candidates(text: Text<'_>, lines: &[Part]) -> Vec<(String, Vec<Part>)> {
    let mut all: Vec<(String, Vec<Part>)> = Vec::new();
    for sign in [" - ", " \u{2013} ", ">", "|", ";", "/", "-"] {
        // `1-2-3`; in `1 2 3 -1` the sign is a minus.
        let is_minus =
            sign == "-" && lines.iter().any(|line| show(text, *line).contains(char::is_whitespace));
        if !is_minus && lines.iter().any(|line| show(text, *line).contains(sign)) {
            let words = lines.iter().flat_map(|&line| split(text, line, sign)).collect();
            all.push((format!("a list with `{}` between the nodes", sign.trim()), words));
        }
    }
    all.push(("a list".to_owned(), lines.iter().flat_map(|&line| pieces(text, line)).collect()));
    let groups: Vec<Vec<Part>> = groups(text).into_iter().map(|group| pieces(text, group)).collect();
    let is_alone = groups.iter().filter(|group| group.len() > 2).count() == 1;
    all.extend(
        groups
            .into_iter()
            .filter(|group| is_alone && group.len() > 2)
            .map(|group| ("an array".to_owned(), group)),
    );
    // All other lines must contain words.
    let has_letters = |line: &Part| show(text, *line).contains(char::is_alphabetic);
    let bare: Vec<Part> = lines.iter().copied().filter(|line| !has_letters(line)).collect();
    let labelled = lines.iter().filter_map(|&line| {
        let colon = show(text, line).find(':')?;
        Some(Part { start: line.start + colon + 1, end: line.end })
    });
    match bare[..] {
        [] => all.extend(labelled.map(|rest| ("a line".to_owned(), pieces(text, rest)))),
        [line] => all.push(("a line".to_owned(), pieces(text, line))),
        _ => {}
    }
    let numbered: Option<Vec<Part>> = lines.iter().map(|&line| behind_number(text, line)).collect();
    all.extend(numbered.map(|words| ("a numbered list".to_owned(), words)));
    for sign in [",", ";", "\t", "|", " "] {
        all.extend(columns(text, lines, sign));
    }
    all
}

fn show<'a>(text: Text<'a>, part: Part) -> &'a str {
    std::str::from_utf8(&text.bytes[part.start..part.end]).unwrap_or_default()
}

/// Returns the lines that are not comments, without the numbers such as `[1]` that R prints before each.
fn lines(text: Text<'_>) -> Vec<Part> {
    let lines = scan::lines(text.bytes, scan::whole(text.bytes)).map(|line| line.trimmed(text.bytes));
    let is_data = |line: &Part| {
        let shown = show(text, *line);
        !shown.is_empty() && !["#", "%", "//"].iter().any(|sign| shown.starts_with(sign))
    };
    let bare = |line: Part| {
        let shown = show(text, line);
        let number = shown.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        let is_number = |(number, _): &(&str, &str)| number.bytes().all(|b| b.is_ascii_digit());
        match number.filter(is_number) {
            Some((_, rest)) => Part { start: line.end - rest.len(), end: line.end }.trimmed(text.bytes),
            None => line,
        }
    };
    lines.filter(is_data).map(bare).collect()
}

/// Returns the parts of a line between these separators.
fn split(text: Text<'_>, line: Part, sign: &str) -> Vec<Part> {
    let mut start = line.start;
    let parts = show(text, line).split(sign).map(|part| {
        let found = Part { start, end: start + part.len() };
        start += part.len() + sign.len();
        unquoted(text, found)
    });
    parts.filter(|part| part.start < part.end).collect()
}

/// Returns the content of each innermost pair of brackets.
fn groups(text: Text<'_>) -> Vec<Part> {
    let mut found = Vec::new();
    let mut open = None;
    for (at, byte) in text.bytes.iter().enumerate() {
        match byte {
            b'[' | b'(' | b'{' => open = Some(at + 1),
            b']' | b')' | b'}' => found.extend(open.take().map(|start| Part { start, end: at })),
            _ => {}
        }
    }
    found
}

/// Returns the text after `1.` or `1)`.
fn behind_number(text: Text<'_>, line: Part) -> Option<Part> {
    let shown = show(text, line);
    let (number, rest) = shown.split_once(['.', ')'])?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| unquoted(text, Part { start: line.end - rest.len(), end: line.end }))
}

/// Returns the columns of lines, sorted by a column that gives the order, if any.
fn columns(text: Text<'_>, lines: &[Part], sign: &str) -> Vec<(String, Vec<Part>)> {
    let cells = |line: &Part| match sign {
        " " => pieces(text, *line),
        _ => split(text, *line, sign),
    };
    let rows: Vec<Vec<Part>> = lines.iter().map(cells).collect();
    let width = rows.last().map_or(0, Vec::len);
    let [head, rest @ ..] = &rows[..] else { return Vec::new() };
    if width < 2 || head.is_empty() || rest.iter().any(|row| row.len() != width) {
        return Vec::new();
    }
    let names: Vec<String> = head.iter().map(|&cell| show(text, cell).to_lowercase()).collect();
    let order =
        names.iter().position(|name| ORDERS.contains(&name.as_str())).filter(|_| names.len() == width);
    let mut sorted: Vec<&Vec<Part>> = rest.iter().collect();
    let places: Option<Vec<i64>> =
        order.and_then(|column| rest.iter().map(|row| text.whole_number(row[column])).collect());
    if let Some(places) = &places {
        let mut ranks: Vec<usize> = (0..rest.len()).collect();
        ranks.sort_by_key(|&at| places[at]);
        sorted = ranks.into_iter().map(|at| &rest[at]).collect();
    }
    let mut found = Vec::new();
    // Without column names, two columns of numbers could just as well be ranks and nodes.
    let has_names =
        head.len() == width && head.iter().all(|&cell| show(text, cell).contains(char::is_alphabetic));
    for column in (0..width).filter(|column| Some(*column) != order || places.is_none()) {
        let below: Vec<Part> = sorted.iter().map(|row| row[column]).collect();
        let are_words = below.iter().any(|&cell| show(text, cell).contains(char::is_alphabetic));
        if has_names || head.len() + 1 == width || are_words {
            let title = names.get(column).filter(|_| has_names);
            let form = title.map_or(format!("column {}", column + 1), |name| {
                format!("the column \"{}\"", printable(name))
            });
            let whole = std::iter::once(head[column.min(head.len() - 1)]).chain(below.iter().copied());
            if !has_names && head.len() == width {
                found.push((form.clone(), whole.collect()));
            }
            found.push((form, below));
        }
    }
    found
}

/// Returns the tour given by edges in any order, two nodes per line, such as `1,3`, `1->3`, or `x[1,3] = 1`; `None` if lines
/// contain anything else.
///
/// A line whose last number is 0, which integer programming solvers write for unused edges, is ignored.
fn edges(text: Text<'_>, instance: &Instance, lines: &[Part]) -> Option<Vec<Part>> {
    let n = instance.len();
    let mut all: Vec<Vec<Part>> = lines.iter().map(|&line| numbers(text, line)).collect();
    // Column names.
    let head = lines.first().filter(|_| all.first().is_some_and(Vec::is_empty));
    let data = &lines[usize::from(head.is_some())..];
    all.drain(..usize::from(head.is_some()));
    let width = all.first()?.len();
    let layout = Layout::of(text, head.copied(), data, width)?;
    if !matches!(width, 2 | 3) || all.iter().any(|row| row.len() != width) {
        return None;
    }
    let value = |part: Part| show(text, part).parse::<f64>().ok();
    if width == 3 {
        if all.iter().any(|row| !matches!(value(row[2]), Some(flag) if flag == 0.0 || flag == 1.0)) {
            return None;
        }
        all.retain(|row| value(row[2]) == Some(1.0));
    }
    let ends: Vec<Part> = all.iter().flat_map(|row| [row[0], row[1]]).collect();
    let (_, nodes) = super::nodes_of(text, &ends, instance)?;
    // If the first ends are in ascending order, the second ends may be nodes in tour order.
    if layout == Layout::Plain && nodes.iter().step_by(2).is_sorted() {
        return None;
    }
    Some(super::cycle(&nodes, n)?.into_iter().map(|end| ends[end]).collect())
}

/// How lines are recognized as edges.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// By brackets, an arrow, a variable, or the column names.
    Marked,
    /// Not marked: two plain numbers.
    Plain,
}

impl Layout {
    /// Returns the layout of lines that differ only in their numbers; `None` if they contain anything else, such as a name.
    fn of(text: Text<'_>, head: Option<Part>, lines: &[Part], width: usize) -> Option<Layout> {
        let bare = |line: &Part| show(text, *line).replace(|c: char| c.is_ascii_digit(), "").replace(' ', "");
        let first = bare(lines.first()?);
        if lines.iter().any(|line| bare(line) != first) {
            // For example, `1.0` next to `1`.
            return None;
        }
        let variable = first.trim_start_matches(char::is_alphabetic);
        let has_variable = variable.len() < first.len();
        let names = head.map(|head| show(text, head).to_lowercase());
        let is_of_ends = |names: &String| {
            let names: Vec<&str> =
                names.split([',', ';', '\t', ' ']).map(str::trim).filter(|name| !name.is_empty()).collect();
            matches!(
                names[..],
                ["from", "to", ..]
                    | ["source", "target", ..]
                    | ["i", "j", ..]
                    | ["u", "v", ..]
                    | ["node1", "node2", ..]
            )
        };
        let marks =
            ["[,]", "(,)", "->", "_", "[,]=", "(,)=", "__=", "__", "[,]=.", "__=.", "[,].", "(,)=.", "(,),"];
        match () {
            // Only a variable may have a name in front of its numbers, as in `x[1,3] = 1`; otherwise it could be the name of a
            // node.
            () if has_variable => (width == 3 && marks.contains(&variable)).then_some(Layout::Marked),
            () if marks.contains(&variable) && head.is_none() => Some(Layout::Marked),
            () if !matches!(variable, "" | "," | ";" | "\t") || width != 2 => None,
            () => match names {
                None => Some(Layout::Plain),
                Some(names) => is_of_ends(&names).then_some(Layout::Marked),
            },
        }
    }
}

/// Returns the numbers in a line.
fn numbers(text: Text<'_>, line: Part) -> Vec<Part> {
    let bytes = &text.bytes[line.start..line.end];
    let mut found: Vec<Part> = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        if byte.is_ascii_digit() || *byte == b'.' && at > 0 && bytes[at - 1].is_ascii_digit() {
            match found.last_mut().filter(|part| part.end == line.start + at) {
                Some(part) => part.end += 1,
                None => found.push(Part { start: line.start + at, end: line.start + at + 1 }),
            }
        }
    }
    found
}
