//! Plain tables of coordinates or distances: `.csv`, `.tsv`, `.txt`, `.xy`.
//!
//! Fields are separated by commas, semicolons, tabs or blanks, whichever the first line has; lines that
//! begin with # are skipped. What the columns mean:
//!
//! - a first line with the names `x` and `y` (and `z`): Euclidean distances, rounded; other columns are ignored;
//! - a first line with the names `lat` and `lon`: degrees with decimals, kilometres on the earth (`GEO`);
//! - no such line, and as many columns as lines, at least three: the distances from each node to each other;
//! - no such line, and two or three columns: x, y and z.

use std::path::Path;

use antwarp_core::metric::Metric;
use csv::ByteRecord;

use super::error::{Result, Text};
use super::model::Instance;
use super::tsplib::scan;

/// Reads a table, gzip or not; the instance has the file's name.
pub fn read(path: &Path) -> Result<Instance> {
    let bytes = scan::load(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    parse(&path.to_string_lossy(), name.split('.').next().unwrap_or_default(), &bytes)
}

/// Makes an instance of the bytes of a table; `file` stands in errors.
pub fn parse(file: &str, name: &str, bytes: &[u8]) -> Result<Instance> {
    let text = Text { file, bytes: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) };
    let table = Table::read(text)?;
    let (rows, columns) = (table.values.len() / table.columns, table.columns);
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
        super::InstanceError::Content { problem, help, .. } => text.content(problem, help),
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

/// The numbers of the columns that matter, row by row.
struct Table {
    meaning: Meaning,
    columns: usize,
    values: Vec<f64>,
}

impl Table {
    fn read(text: Text<'_>) -> Result<Table> {
        let delimiter = delimiter(text.bytes);
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .delimiter(delimiter)
            .from_reader(text.bytes);
        let mut record = ByteRecord::new();
        let mut chosen: Option<(Meaning, Vec<usize>)> = None;
        let mut values = Vec::new();
        while reader.read_byte_record(&mut record).map_err(|error| text.content(error.to_string(), REMEDY))? {
            // Several blanks separate like one.
            let fields: Vec<&[u8]> =
                record.iter().filter(|field| delimiter != b' ' || !field.is_empty()).collect();
            if fields.iter().all(|field| field.is_empty()) {
                continue;
            }
            let at = record.position().map_or(0, |position| position.byte() as usize);
            match &chosen {
                None => {
                    let (meaning, columns) = choose(text, at, &fields)?;
                    if meaning == Meaning::Unnamed {
                        push_row(text, at, &fields, &columns, &mut values, meaning)?;
                    }
                    chosen = Some((meaning, columns));
                }
                Some((meaning, columns)) => push_row(text, at, &fields, columns, &mut values, *meaning)?,
            }
        }
        match chosen {
            Some((meaning, columns)) if !values.is_empty() => {
                Ok(Table { meaning, columns: columns.len(), values })
            }
            _ => Err(text.content("the table is empty", REMEDY)),
        }
    }

    fn points(&self, convert: impl Fn(f64) -> f64) -> Vec<[f64; 3]> {
        let point = |row: &[f64]| [convert(row[0]), convert(row[1]), row.get(2).map_or(0.0, |&z| convert(z))];
        self.values.chunks_exact(self.columns).map(point).collect()
    }

    fn weights(&self, text: Text<'_>) -> Result<Vec<i32>> {
        let weight = |(at, &value): (usize, &f64)| {
            let (row, column) = (at / self.columns, at % self.columns);
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

/// The separator of the first line that holds something.
fn delimiter(bytes: &[u8]) -> u8 {
    let mut lines = bytes.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    [b',', b';', b'\t'].into_iter().find(|separator| first.contains(separator)).unwrap_or(b' ')
}

/// What the first line says about the columns, and which of them matter.
fn choose(text: Text<'_>, at: usize, fields: &[&[u8]]) -> Result<(Meaning, Vec<usize>)> {
    if fields.iter().all(|field| number(field).is_some()) {
        return Ok((Meaning::Unnamed, (0..fields.len()).collect()));
    }
    let column = |names: &[&str]| {
        fields.iter().position(|field| names.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes())))
    };
    if let (Some(latitude), Some(longitude)) =
        (column(&["lat", "latitude"]), column(&["lon", "lng", "long", "longitude"]))
    {
        return Ok((Meaning::Geo, vec![latitude, longitude]));
    }
    match (column(&["x"]), column(&["y"])) {
        (Some(x), Some(y)) => Ok((Meaning::Cartesian, [x, y].into_iter().chain(column(&["z"])).collect())),
        _ => {
            let help = "name the columns x and y, or lat and lon; or write numbers only";
            Err(text.error(at, line_length(text, at), "no columns are named x and y", help))
        }
    }
}

fn push_row(
    text: Text<'_>,
    at: usize,
    fields: &[&[u8]],
    columns: &[usize],
    values: &mut Vec<f64>,
    meaning: Meaning,
) -> Result<()> {
    let wrong = |problem: String| Err(text.error(at, line_length(text, at), problem, REMEDY));
    if meaning == Meaning::Unnamed && fields.len() != columns.len() {
        return wrong(format!("the line has {} columns, the first line has {}", fields.len(), columns.len()));
    }
    for &column in columns {
        let Some(field) = fields.get(column) else {
            return wrong(format!("the line has no column {}", column + 1));
        };
        let Some(value) = number(field) else {
            return wrong(format!("`{}` is not a finite number", String::from_utf8_lossy(field)));
        };
        values.push(value);
    }
    Ok(())
}

fn number(field: &[u8]) -> Option<f64> {
    std::str::from_utf8(field).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
}

fn line_length(text: Text<'_>, at: usize) -> usize {
    text.bytes
        .iter()
        .skip(at)
        .position(|&b| b == b'\n' || b == b'\r')
        .unwrap_or(text.bytes.len().saturating_sub(at))
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
        assert!(problem("x,y\n3,inf\n").starts_with("t.csv:2:1: `inf` is not"));
        assert!(problem("").contains("empty"));
        assert!(problem("x,y\n").contains("empty"));
        assert!(problem("0.1,0.2\n0.3,0.4\n0.5,0.1").contains("rounded"));
        assert!(problem("1,2,3,4\n5,6,7,8").contains("neither coordinates nor a matrix"));
    }
}
