//! Detects the format of a file from its content.

use super::error::{InstanceError, Result, Text};
use super::table;

/// The kinds of text that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Tsplib,
    /// JSON with objects in it.
    Json,
    /// Arrays of arrays, of JSON, Python or numpy.
    Arrays,
    Delimited,
}

/// The first bytes of files that are not text, or not a readable kind; what they are, and the remedy.
const FOREIGN: [(&[u8], &str, &str); 18] = [
    (
        b"PK\x03\x04",
        "a zip archive, like spreadsheets (.xlsx, .ods), .kmz and .npz files",
        "save the sheet as CSV and a single array as .npy, or unpack the archive",
    ),
    (b"\xd0\xcf\x11\xe0", "an old Office document, such as an .xls spreadsheet", "save the sheet as CSV"),
    (b"%PDF", "a PDF document", "copy the table into a text file, or export it as CSV"),
    (b"PAR1", "a Parquet file", "save it as CSV: pandas.read_parquet(file).to_csv(\"places.csv\")"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"BZh", "a bzip2 archive", "unpack it: bunzip2; gzip files can be read directly"),
    (b"\xfd7zXZ", "an xz archive", "unpack it: unxz; gzip files can be read directly"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", "unpack it: unzstd; gzip files can be read directly"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it; gzip files can be read directly"),
    (b"\x89PNG", "a picture (PNG)", "give the coordinates as text"),
    (b"\xff\xd8\xff", "a picture (JPEG)", "give the coordinates as text"),
    (b"\x00\x00\x27\x0a", "a shapefile", "export the layer as CSV with its coordinates, or as GeoJSON"),
    (b"\x80\x04\x95", "a Python pickle", "save the data as CSV or JSON"),
    (b"{\\rtf", "an RTF document", "save it as plain text"),
    (b"\x7fELF", "a program", "give a file of coordinates or costs"),
    (b"\xff\xfe\x00\x00", "text in UTF-32", "save it as UTF-8"),
    (b"\x00\x00\xfe\xff", "text in UTF-32", "save it as UTF-8"),
    (b"HDF", "an HDF file", "save the data as CSV"),
];

/// Elements that identify the kind of an XML file.
const XML: [(&str, &str, &str); 6] = [
    (
        "<gpx",
        "a GPX file",
        "convert it to CSV with column names: gpsbabel -i gpx -f FILE -o unicsv -F places.csv",
    ),
    (
        "<kml",
        "a KML file",
        "convert it to CSV with column names: gpsbabel -i kml -f FILE -o unicsv -F places.csv",
    ),
    ("<html", "an HTML page", "save the data itself, as CSV or TSPLIB"),
    ("<!doctype html", "an HTML page", "save the data itself, as CSV or TSPLIB"),
    ("<osm", "an OpenStreetMap extract", "export the nodes as CSV with lat and lon, or as GeoJSON"),
    ("<svg", "a drawing (SVG)", "give the coordinates as text"),
];

/// Rejects files that are not text.
pub(super) fn refuse_foreign(text: Text<'_>) -> Result<()> {
    // A text may start with these letters, followed by others.
    let is_text = |begin: &[u8]| {
        begin == b"PAR1"
            && text
                .bytes
                .get(begin.len())
                .is_none_or(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
    };
    match FOREIGN.iter().find(|(begin, ..)| text.bytes.starts_with(begin) && !is_text(begin)) {
        Some((_, what, help)) => Err(foreign(text, what, help)),
        None => Ok(()),
    }
}

fn foreign(text: Text<'_>, what: &str, help: &str) -> InstanceError {
    text.content(format!("this is {what}, which cannot be read"), help)
}

/// Determines the format of a UTF-8 text from its start.
///
/// # Errors
/// If it is of a kind that cannot be read.
pub(super) fn of(text: Text<'_>) -> Result<Format> {
    let begin = &text.bytes[..text.bytes.len().min(1 << 16)];
    let begin = String::from_utf8_lossy(begin);
    let bare = begin.trim_start();
    if bare.starts_with('<') {
        let small = bare.to_ascii_lowercase();
        let known = XML.iter().find(|(element, ..)| small.contains(element));
        let (_, what, help) =
            known.unwrap_or(&("", "an XML file", "convert it to CSV with columns x and y, or lat and lon"));
        return Err(foreign(text, what, help));
    }
    if bare.starts_with("%%MatrixMarket") {
        let help = "write a line `from,to,cost` for each entry, below a line with these names";
        return Err(foreign(text, "a MatrixMarket file", help));
    }
    let first = bare.lines().next().unwrap_or_default().trim_end();
    if !bare.starts_with(['{', '['])
        && (first.contains(" {'") || first.ends_with(" {}"))
        && !first.contains('=')
    {
        let help = "write it with nx.write_weighted_edgelist(graph, file)";
        return Err(foreign(text, "a networkx edge list with all attributes", help));
    }
    if is_tsplib(bare) {
        return Ok(Format::Tsplib);
    }
    if let Some((_, what, help)) = TEXTS.iter().find(|(is_it, ..)| is_it(bare)) {
        return Err(foreign(text, what, help));
    }
    let compact: String = bare.chars().take(200).filter(|c| !c.is_whitespace()).collect();
    // A Python dictionary of tuples.
    let is_key = |at: usize| compact[..at].ends_with(|c: char| matches!(c, '"' | '\'') || c.is_ascii_digit());
    if compact.starts_with('{') && compact.match_indices(":(").any(|(at, _)| is_key(at)) {
        return Ok(Format::Arrays);
    }
    if bare.starts_with('{') && !bare.starts_with("{{") {
        return Ok(Format::Json);
    }
    if table::is_array(&begin) {
        let has_objects = bare.starts_with('[') && bare[1..].trim_start().starts_with('{');
        return Ok(if has_objects { Format::Json } else { Format::Arrays });
    }
    Ok(Format::Delimited)
}

/// Returns whether a text is of a certain kind.
type IsKind = fn(&str) -> bool;

/// Kinds of text that cannot be read: how to recognize them, their names and the remedies.
const TEXTS: [(IsKind, &str, &str); 10] = [
    (is_drill_file, "a drill file or G-code", "write a line `x,y` for each hole"),
    (is_solomon, "a vehicle routing problem in Solomon's format", "write one line `id,x,y` for each place"),
    (
        |text| text.starts_with("\\begin{"),
        "a LaTeX table",
        "write commas between the columns, and nothing else",
    ),
    (
        |text| text.starts_with("structure(") || text.starts_with("list(") || text.starts_with("c("),
        "an object written by R's dput",
        "write it with write.csv(x, \"x.csv\")",
    ),
    (
        |text| ["INSERT INTO ", "CREATE TABLE "].iter().any(|word| starts_with(text, word)),
        "an SQL script",
        "export the table as CSV",
    ),
    (
        |text| {
            starts_with(text, "*Vertices")
                || is_graph(text)
                || text.lines().take(50).any(|line| line.starts_with("p sp "))
        },
        "a graph in Pajek, DOT, GML or DIMACS format",
        "write a line `from,to,cost` for each edge, below a line with these names",
    ),
    (
        |text| ["set ", "param "].iter().any(|word| text.starts_with(word)) && text.contains(":="),
        "a data file for GMPL or AMPL",
        "write only the table, as CSV",
    ),
    (
        |text| text.starts_with("shape: (") || text.starts_with('\u{250c}'),
        "a data frame printed by polars",
        "write it with df.write_csv(\"places.csv\")",
    ),
    (
        |text| {
            let has = |begin: &str| text.lines().any(|line| line.starts_with(begin));
            has("v ") && (has("f ") || has("l ") || has("vn "))
        },
        "a Wavefront OBJ file",
        "write one line `x,y,z` for each vertex",
    ),
    (is_yaml, "YAML", "write it as JSON, or as CSV with a line `name,x,y` for each place"),
];

/// Returns whether a text starts like DOT or GML.
fn is_graph(text: &str) -> bool {
    let first = text.lines().next().unwrap_or("").trim();
    let word = first.split_whitespace().next().unwrap_or("");
    matches!(word, "graph" | "digraph" | "strict") && (first.ends_with(['{', '[']) || first == word)
}

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
}

/// Returns whether lines have coordinates such as `X12.5Y3.25`.
fn is_drill_file(text: &str) -> bool {
    let is_number =
        |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    let is_move = |line: &str| {
        let line = line.trim();
        let is_code = line.starts_with(['X', 'G', 'N', 'T']) && !line.contains([',', ';', '"', '\'', '\t']);
        let mut parts = Some(line)
            .filter(|_| is_code)
            .and_then(|line| line.split_once('X'))
            .into_iter()
            .filter(|(_, rest)| is_number(rest));
        parts.any(|(_, rest)| {
            let rest =
                rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | ' '));
            rest.strip_prefix('Y').is_some_and(is_number)
        })
    };
    text.lines().take(30).filter(|line| is_move(line)).count() > 1
}

fn is_solomon(text: &str) -> bool {
    let has = |word: &str| text.lines().take(12).any(|line| line.trim() == word);
    has("VEHICLE") && has("CUSTOMER")
}

/// Returns whether the first line is a key, and the next one an item or a key below it.
fn is_yaml(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && line.trim() != "---");
    let is_key = |line: &str| line.trim_end().ends_with(':') && !line.contains([',', ';', '\t']);
    let (first, second) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    is_key(first)
        && (second.trim_start().starts_with("- ") || second.starts_with("  ") && second.contains(": "))
}

/// Keywords that a TSPLIB file starts with.
const KEYWORDS: [&str; 12] = [
    "NAME",
    "TYPE",
    "COMMENT",
    "DIMENSION",
    "CAPACITY",
    "SALESMEN",
    "EDGE_WEIGHT_TYPE",
    "EDGE_WEIGHT_FORMAT",
    "EDGE_DATA_FORMAT",
    "NODE_COORD_TYPE",
    "DISPLAY_DATA_TYPE",
    "EOF",
];

fn is_tsplib(begin: &str) -> bool {
    let lines = begin.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    lines.take(30).any(|line| {
        let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
        let (word, rest) = (line[..end].to_ascii_uppercase(), line[end..].trim_start());
        // LKH accepts keywords without a colon; the reader reports what it requires.
        let is_value =
            rest.starts_with(':') || word.contains("DIMENSION") && !rest.is_empty() && !rest.contains(',');
        word.ends_with("_SECTION") || KEYWORDS.contains(&word.as_str()) && is_value
    })
}
