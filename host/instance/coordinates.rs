//! Plain tables of coordinates or distances: `.csv`, `.tsv`, `.txt`, `.xy`.
//!
//! Fields are separated by semicolons, commas, tabs or blanks, the first of them that the first line has; lines that
//! begin with # are skipped. A field may stand in quotes, which end in the same line: one that does not would swallow the lines
//! behind it. Every line has as many fields as the first. What the columns mean:
//!
//! - a first line with the names `x` and `y` (and `z`): Euclidean distances, rounded; other columns are ignored;
//! - a first line with the names `lat` and `lon`: degrees with decimals, kilometres on the earth (`GEO`);
//! - no such line, and as many columns as lines, at least three: the distances from each node to each other;
//! - no such line, and two or three columns: x, y and z.

use std::io::BufRead;
use std::path::Path;

use antwarp_core::metric::Metric;

use super::error::{Result, Text};
use super::model::Instance;
use super::source::{self, Lines, Room};
use super::tsplib::scan::Part;
use super::{InstanceError, numbers};
use crate::memory;

/// Most numbers of a table.
const MOST_NUMBERS: usize = 1 << 27;

/// Room for a line, and for what is skipped before it, is that for so many numbers.
const LINE: u64 = 1 << 15;

/// Reads a table, gzip or not; the instance has the file's name.
pub fn read(path: &Path) -> Result<Instance> {
    from_reader(&path.to_string_lossy(), &numbers::stem(path), source::open(path)?)
}

/// Makes an instance of the bytes of a table; `file` stands in errors.
pub fn parse(file: &str, name: &str, bytes: &[u8]) -> Result<Instance> {
    from_reader(file, name, bytes)
}

fn from_reader(file: &str, name: &str, reader: impl BufRead) -> Result<Instance> {
    let text = Text { file, bytes: b"" };
    let table = Table::read(text, Lines::new(file, reader, Room::numbers(LINE, "a line of a table")))?;
    let (rows, columns) = (table.values.len() / table.columns.len(), table.columns.len());
    // Two numbers become a place.
    let made = (table.values.len() / 2 * size_of::<[f64; 3]>()) as u64;
    memory::check(made).map_err(|shortage| text.no_room("the table", shortage))?;
    let instance = match table.meaning {
        Meaning::Geo => Instance::from_points(name, Metric::Geo, table.points(tsplib_degrees)),
        Meaning::Unnamed if rows == columns && rows >= 3 => Instance::from_matrix(name, table.weights(text)?),
        Meaning::Cartesian | Meaning::Unnamed if columns == 2 => {
            Instance::from_points(name, Metric::Euc2d, table.points(|c| c))
        }
        Meaning::Cartesian | Meaning::Unnamed if columns == 3 => {
            Instance::from_points(name, Metric::Euc3d, table.points(|c| c))
        }
        _ => {
            let problem = format!(
                "a table of {rows} lines and {columns} columns holds neither coordinates nor a matrix"
            );
            return Err(text.content(problem, "name the columns x and y, or lat and lon, in the first line"));
        }
    };
    let instance = instance.map_err(|error| match error {
        InstanceError::Content { problem, help, .. } => text.content(problem, help),
        other => other,
    })?;
    refuse_tiny(text, instance)
}

/// TSPLIB's DDD.MM, degrees and minutes, of degrees with decimals.
fn tsplib_degrees(decimal: f64) -> f64 {
    decimal.trunc() + 0.6 * decimal.fract()
}

/// Distances are whole numbers: a map in a unit square would have none but 0 and 1.
fn refuse_tiny(text: Text<'_>, instance: Instance) -> Result<Instance> {
    let corner = |pick: fn(f64, f64) -> f64| {
        let points = instance.points().unwrap_or_default();
        points
            .iter()
            .copied()
            .reduce(|a, b| [pick(a[0], b[0]), pick(a[1], b[1]), pick(a[2], b[2])])
            .unwrap_or_default()
    };
    let (low, high) = (corner(f64::min), corner(f64::max));
    let extent: f64 = low.iter().zip(high).map(|(low, high)| high - low).sum();
    let is_euclidean = matches!(instance.metric(), Some(Metric::Euc2d | Metric::Euc3d));
    if is_euclidean && extent > 0.0 && extent < 10.0 {
        let problem =
            format!("the coordinates spread over {extent} only, and distances are rounded to whole numbers");
        return Err(text.content(problem, "multiply all coordinates by 1000 or more"));
    }
    Ok(instance)
}

#[derive(Clone, Copy, PartialEq)]
enum Meaning {
    Cartesian,
    Geo,
    Unnamed,
}

/// What the first line says, and the numbers of the columns that matter, row by row.
struct Table {
    delimiter: u8,
    /// Fields of a line.
    width: usize,
    meaning: Meaning,
    /// The columns that matter.
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Table {
    fn read(text: Text<'_>, mut lines: Lines<'_, impl BufRead>) -> Result<Table> {
        let mut table: Option<Table> = None;
        let mut fields = Vec::new();
        while let Some(line) = lines.next()? {
            let (text, number) = (line.text, line.number);
            if matches!(text.bytes.trim_ascii_start().first(), None | Some(b'#')) {
                continue;
            }
            let read = match &mut table {
                Some(table) => table.add(text, &mut fields),
                None => Table::begin(text, &mut fields).map(|begun| table = begun),
            };
            read.map_err(|error| error.in_line(number))?;
            lines.renew();
        }
        table
            .filter(|table| !table.values.is_empty())
            .ok_or_else(|| text.content("the table is empty", REMEDY))
    }

    /// The table whose first line this is; none if there is nothing in it.
    fn begin(text: Text<'_>, fields: &mut Vec<Part>) -> Result<Option<Table>> {
        let delimiter = delimiter(text.bytes);
        split(text, delimiter, fields)?;
        if fields.iter().all(|field| field.start == field.end) {
            return Ok(None);
        }
        let (meaning, columns) = choose(text, fields)?;
        let mut table = Table { delimiter, width: fields.len(), meaning, columns, values: Vec::new() };
        if meaning == Meaning::Unnamed {
            table.add(text, fields)?;
        }
        Ok(Some(table))
    }

    fn add(&mut self, text: Text<'_>, fields: &mut Vec<Part>) -> Result<()> {
        split(text, self.delimiter, fields)?;
        let is_empty = |field: &Part| field.start == field.end;
        if fields.iter().all(is_empty) {
            return Ok(());
        }
        while fields.len() > self.width && fields.last().is_some_and(is_empty) {
            fields.pop();
        }
        if fields.len() != self.width {
            let problem = format!("the line has {} columns, the first line has {}", fields.len(), self.width);
            return Err(text.error(0, text.bytes.len(), problem, COLUMNS));
        }
        let no_room = |shortage| text.no_room("the table", shortage);
        memory::reserve(&mut self.values, self.columns.len()).map_err(no_room)?;
        for &column in &self.columns {
            let value = text.number(fields[column]).ok_or_else(|| {
                let problem = format!("`{}` is not a finite number", text.show(fields[column]));
                let is_decimal_comma = text.bytes[fields[column].start..fields[column].end].contains(&b',');
                text.error_at(fields[column], problem, if is_decimal_comma { COLUMNS } else { REMEDY })
            })?;
            self.values.push(value);
        }
        if self.values.len() > MOST_NUMBERS {
            let problem = format!("there are more than {MOST_NUMBERS} numbers in the table");
            return Err(text.content(problem, "give a smaller one, or write it as a TSPLIB file"));
        }
        Ok(())
    }

    fn points(&self, convert: impl Fn(f64) -> f64) -> Vec<[f64; 3]> {
        let point = |row: &[f64]| [convert(row[0]), convert(row[1]), row.get(2).map_or(0.0, |&z| convert(z))];
        self.values.chunks_exact(self.columns.len()).map(point).collect()
    }

    fn weights(&self, text: Text<'_>) -> Result<Vec<i32>> {
        let weight = |(at, &value): (usize, &f64)| {
            let (row, column) = (at / self.columns.len(), at % self.columns.len());
            // Nothing on the diagonal is used, whatever it is.
            if row == column {
                return Ok(0);
            }
            let is_weight = value.fract() == 0.0 && (0.0..=f64::from(i32::MAX)).contains(&value);
            is_weight.then_some(value as i32).ok_or_else(|| {
                let (row, column) = (row + 1, column + 1);
                let problem = format!(
                    "the weight {value} in row {row}, column {column} is no whole number from 0 to 2147483647"
                );
                text.content(
                    problem,
                    "scale and round the weights, or name the columns if they are coordinates",
                )
            })
        };
        self.values.iter().enumerate().map(weight).collect()
    }
}

const REMEDY: &str = "write one line `x,y` for every node";

const COLUMNS: &str = "separate columns in all lines alike, quote a text with separators in it, and write decimals with a point: 0.5";

/// The separator of the first line. A comma beside semicolons is a decimal one, or in a text.
fn delimiter(line: &[u8]) -> u8 {
    [b';', b',', b'\t'].into_iter().find(|separator| line.trim_ascii().contains(separator)).unwrap_or(b' ')
}

/// The fields of a line, without the blanks and the quotes around them.
fn split(text: Text<'_>, delimiter: u8, fields: &mut Vec<Part>) -> Result<()> {
    let bytes = text.bytes.trim_ascii_end();
    // A tab at the end is an empty field.
    let bytes = if delimiter == b'\t' { text.bytes } else { bytes };
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() && (*byte != delimiter || delimiter == b' ');
    let behind_blanks = |at: usize| at + bytes[at..].iter().take_while(|byte| is_blank(byte)).count();
    fields.clear();
    let mut at = behind_blanks(0);
    loop {
        let is_quoted = bytes.get(at) == Some(&b'"');
        let end = if is_quoted {
            let end = closing_quote(bytes, at).ok_or_else(|| {
                let problem = "this quote is not closed in its line";
                text.error(
                    at,
                    bytes.len() - at,
                    problem,
                    "close it; a quote in a quoted text is written twice",
                )
            })?;
            fields.push(Part { start: at + 1, end });
            end + 1
        } else {
            let is_end = |byte: &u8| *byte == delimiter || delimiter == b' ' && is_blank(byte);
            let end = bytes[at..].iter().position(is_end).map_or(bytes.len(), |length| at + length);
            fields.push(Part { start: at, end }.trimmed(bytes));
            end
        };
        // Several blanks separate like one.
        let next = behind_blanks(end);
        at = match bytes.get(next) {
            None => return Ok(()),
            Some(&byte) if byte == delimiter => behind_blanks(next + 1),
            Some(_) if delimiter == b' ' && next > end => next,
            Some(_) => {
                let problem = "there is no separator behind this quoted text";
                return Err(text.error(at, end - at, problem, "a quote in a quoted text is written twice"));
            }
        };
    }
}

/// Where the quote at `open` is closed. Two quotes are one in the text.
fn closing_quote(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == b'"')?;
        if bytes.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// What the first line says about the columns, and which of them matter.
fn choose(text: Text<'_>, fields: &[Part]) -> Result<(Meaning, Vec<usize>)> {
    if fields.iter().all(|&field| text.number(field).is_some()) {
        return Ok((Meaning::Unnamed, (0..fields.len()).collect()));
    }
    let column = |names: &[&str]| {
        let is_named = |field: &Part| {
            names.iter().any(|name| text.bytes[field.start..field.end].eq_ignore_ascii_case(name.as_bytes()))
        };
        let mut named = (0..).zip(fields).filter(|(_, field)| is_named(field));
        match (named.next(), named.next()) {
            (_, Some((_, second))) => {
                let problem = format!("a second column is named {}", text.show(*second));
                Err(text.error_at(*second, problem, "leave the name to the column that is meant"))
            }
            (first, None) => Ok(first.map(|(column, _)| column)),
        }
    };
    if let (Some(latitude), Some(longitude)) =
        (column(&["lat", "latitude"])?, column(&["lon", "lng", "long", "longitude"])?)
    {
        return Ok((Meaning::Geo, vec![latitude, longitude]));
    }
    match (column(&["x"])?, column(&["y"])?) {
        (Some(x), Some(y)) => Ok((Meaning::Cartesian, [x, y].into_iter().chain(column(&["z"])?).collect())),
        _ => {
            let help = "name the columns x and y, or lat and lon; or write numbers only, their decimals with a point";
            Err(text.error(0, text.bytes.len(), "no columns are named x and y", help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Instance {
        parse("t.csv", "t", text.as_bytes()).unwrap()
    }

    fn problem(text: &str) -> String {
        parse("t.csv", "t", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn coordinates_come_with_or_without_names() {
        for text in [
            "0,0\n3,4\n0,100\n0,7\n",
            "x,y\n0,0\n3,4\n0,100\n0,7",
            "\u{feff}city,Y,X\r\n\"a, b\",0,0\r\nb,4,3\r\nc,100,0\r\nd,7,0\r\n",
            "# places\n0 0\n\n 3   4\n0 100.0\n0 7e0\n",
            "0;0\n3;4\n0;100\n0;7\n",
            "0\t0\n3\t4\n0\t100\n0\t7\n",
        ] {
            let instance = table(text);
            assert_eq!((instance.len(), instance.metric()), (4, Some(Metric::Euc2d)), "{text:?}");
            assert_eq!((instance.distance(0, 1), instance.distance(2, 3)), (5, 93), "{text:?}");
        }
        assert_eq!(table("0,0,0\n2,3,6\n20,0,0\n1,1,1").distance(0, 1), 7);
    }

    #[test]
    fn degrees_with_decimals_become_minutes() {
        let instance = table(
            "name,lat,lon\nA,16.783333333333335,96.166666666666671\nB,16.783333333333335,94.73333333333333\n",
        );
        // The first two cities of burma14: 16.47 96.10 and 16.47 94.44.
        assert_eq!(instance.metric(), Some(Metric::Geo));
        assert_eq!(instance.distance(0, 1), 153);
    }

    #[test]
    fn a_square_table_is_a_matrix() {
        let instance = table("0,1,2\n3,0,4\n5,6,0\n");
        assert_eq!((instance.len(), instance.is_symmetric()), (3, false));
        assert_eq!(instance.distance(2, 1), 6);
        assert!(problem("0,1,2\n3,0,4.5\n5,6,0\n").contains("4.5 in row 2, column 3"));
    }

    #[test]
    fn wrong_tables_are_located() {
        assert!(problem("0,0\n3,4\nx,100\n").starts_with("t.csv:3:1: `x` is not"));
        assert!(problem("0,0\n3,4\n1\n").starts_with("t.csv:3:1: the line has 1 columns"));
        assert!(problem("a,b\n3,4\n").starts_with("t.csv:1:1: no columns are named"));
        assert!(problem("x,y\n3,inf\n").starts_with("t.csv:2:3: `inf` is not"));
        assert!(problem("# a\n\nx,y\n\n# b\r3,inf\n").starts_with("t.csv:6:3: `inf` is not"));
        assert!(problem("").contains("empty"));
        assert!(problem("x,y\n").contains("empty"));
        assert!(problem("0.1,0.2\n0.3,0.4\n0.5,0.1").contains("rounded"));
        assert!(problem("1,2,3,4\n5,6,7,8").contains("neither coordinates nor a matrix"));
    }

    #[test]
    fn no_line_is_lost_in_another() {
        let starts = |text: &str, start: &str| {
            let error = problem(text);
            assert!(error.starts_with(start), "{text:?}: {error}");
        };
        // A quote that is not closed would take the lines behind it, up to the next quote or to the end.
        starts("x,y,name\n0,0,\"a\n90,0,b\n0,90,c\n", "t.csv:2:5: this quote is not closed in its line");
        starts("name,x,y\n\"a,0,0\nb\",90,0\nc,0,90\n", "t.csv:2:1: this quote is not closed in its line");
        starts("name,x,y\n\"a\"b,0,0\n", "t.csv:2:1: there is no separator behind");
        // All lines behind a comment would be the comment's if a carriage return did not end it.
        for text in ["0,0\r30,40\r# c\r0,100\r0,7\r", "#\r0,0\r30,40\r0,100\r0,7"] {
            assert_eq!(table(text).len(), 4, "{text:?}");
        }
        let quoted = table("name,x,y\n\"a \"\"b\"\", c\" , 0,0\n\"\",\"30\",40\n d\" ,5,5\n");
        assert_eq!((quoted.len(), quoted.distance(0, 1)), (3, 50));
        assert_eq!(table("\"x\"  \"y\" name\n0 0 \"New York\"\n30  40 b\n").distance(0, 1), 50);
        assert_eq!(table("name\tx\ty\n\t0\t0\nb\t30\t40\n").distance(0, 1), 50);
    }

    #[test]
    fn decimal_commas_are_no_columns() {
        let starts = |text: &str, start: &str| {
            let error = parse("t.csv", "t", text.as_bytes()).unwrap_err();
            assert!(error.to_string().starts_with(start), "{text:?}: {error}");
            assert!(error.remedy().contains("with a point"), "{text:?}: {}", error.remedy());
        };
        starts("x,y\n0,5,3,5\n100,25,10,0\n", "t.csv:2:1: the line has 4 columns, the first line has 2");
        starts("name,x,y\na,1,2\nb,0,5,3,5\n", "t.csv:3:1: the line has 5 columns, the first line has 3");
        starts("x;y\n0,5;3,5\n", "t.csv:2:1: `0,5` is not a finite number");
        starts("x\ty\n10\t3,5\n", "t.csv:2:4: `3,5` is not a finite number");
        starts("0,5;3,5\n100,25;10,0\n", "t.csv:1:1: no columns are named");
        starts("0,5 3,5\n100,25 10,0\n", "t.csv:1:1: no columns are named");
        // An empty field at the end is none.
        assert_eq!(table("x,y\n0,0\n30,40,\n").distance(0, 1), 50);
        starts("name,x,y,z\n3,4,5\n", "t.csv:2:1: the line has 3 columns, the first line has 4");
        assert!(problem("x,y,X\n1,2,3\n").starts_with("t.csv:1:5: a second column is named X"));
    }

    #[test]
    fn what_never_ends_is_refused() {
        let refused = |line: &[u8]| {
            let endless = std::io::BufReader::new(std::io::Read::chain(
                &b"x,y\n0,0\n"[..],
                std::io::Read::chain(line, std::io::repeat(line[0])),
            ));
            from_reader("t.csv", "t", endless).unwrap_err().to_string()
        };
        for byte in [&b"7"[..], b"\n", b" ", b"#", b"\r"] {
            assert!(refused(byte).contains("the most that a line of a table can take"), "{byte:?}");
        }
    }
}
