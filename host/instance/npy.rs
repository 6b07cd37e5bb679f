//! Arrays of numpy, as `numpy.save` writes them: places, or a matrix of costs.
//!
//! The format is that of [numpy](https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html): a magic text, a header
//! that is a dictionary of Python, and the numbers.

use super::content::Reading;
use super::error::{Result, Text};
use super::read_options::ReadOptions;
use super::source::{NUMPY as MAGIC, Room};
use super::table;

/// Maximum number of bytes of a header. That of an array of numbers has about a hundred.
const LONGEST_HEADER: usize = 1 << 16;
/// The remedy for an array of another kind.
const HELP: &str =
    "save an array of n x 2 places or n x n costs: numpy.save(\"places.npy\", array.astype(float))";
/// The remedy for a damaged file.
const DAMAGED: &str = "save the array again: numpy.save(\"places.npy\", array)";

/// The kind of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned,
    Float,
}

/// What the header says.
#[derive(Debug, PartialEq)]
struct Header {
    kind: Kind,
    /// Bytes of a number.
    size: usize,
    is_big_endian: bool,
    /// Whether columns stand one after the other, instead of rows.
    is_by_columns: bool,
    rows: usize,
    columns: usize,
    /// The offset of the first number.
    start: usize,
}

/// Returns whether these are the first bytes of an array.
pub fn is_array(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Returns how long a file with this start can be.
pub fn room(begin: Text<'_>) -> Result<Room> {
    let header = Header::read(begin)?;
    let count = header.count() as u64;
    let bytes = (header.start as u64).saturating_add(count.saturating_mul(header.size as u64));
    // The numbers are held as they are, and as 64-bit floats.
    let memory = bytes.saturating_add(count.saturating_mul(8));
    Ok(Room::bytes(bytes, format!("an array of {} x {}", header.rows, header.columns)).in_memory(memory))
}

/// Reads an array.
pub fn read(text: Text<'_>, options: &ReadOptions) -> Result<Reading> {
    let header = Header::read(text)?;
    let numbers = &text.bytes[header.start..];
    let needed = header.count().checked_mul(header.size);
    if needed != Some(numbers.len()) {
        let Header { rows, columns, size, .. } = header;
        let problem = match needed.is_some_and(|needed| needed < numbers.len()) {
            true => format!("the file continues after its array of {rows} x {columns} numbers"),
            false => {
                format!("the file is cut short: {rows} x {columns} numbers of {size} bytes are missing some")
            }
        };
        return Err(text.content(problem, DAMAGED));
    }
    let kind = match header.kind {
        Kind::Signed => "int",
        Kind::Unsigned => "uint",
        Kind::Float => "float",
    };
    let note = format!("numpy {kind}{}", 8 * header.size);
    let row = |row: usize| (0..header.columns).map(move |column| (row, column));
    let rows = (0..header.rows).map(|at| row(at).map(|(row, column)| header.number(numbers, row, column)));
    table::numbers(text, header.columns, rows, options, vec![note])
}

impl Header {
    fn read(text: Text<'_>) -> Result<Header> {
        let bytes = text.bytes;
        let damaged = |problem: &str| text.content(problem, DAMAGED);
        let (length, start) = match bytes.get(MAGIC.len()..) {
            Some([1, _, a, b, ..]) => (usize::from(u16::from_le_bytes([*a, *b])), 10),
            Some([2 | 3, _, a, b, c, d, ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
            Some([1..=3, ..] | []) | None => return Err(damaged("the file ends in the header of its array")),
            Some([version, ..]) => {
                let problem = format!("version {version} of numpy's files is not known");
                return Err(text.content(problem, HELP));
            }
        };
        if length > LONGEST_HEADER {
            return Err(text.content(format!("the header of the array has {length} bytes"), HELP));
        }
        let header = bytes.get(start..start + length);
        let header = header.ok_or_else(|| damaged("the file ends in the header of its array"))?;
        let header =
            std::str::from_utf8(header).map_err(|_| damaged("the header of the array is not text"))?;
        let value = |key: &str| {
            let value = header
                .split_once(&format!("'{key}'"))
                .and_then(|(_, rest)| rest.trim_start().strip_prefix(':'));
            value
                .map(str::trim_start)
                .ok_or_else(|| damaged(&format!("the header of the array has no '{key}'")))
        };
        let descr = value("descr")?;
        if descr.starts_with('[') {
            return Err(text.content("the array has named fields", HELP));
        }
        let descr = descr.strip_prefix('\'').and_then(|descr| descr.split_once('\''));
        let (descr, _) =
            descr.ok_or_else(|| damaged("the header of the array does not say what its numbers are"))?;
        let (is_big_endian, kind, size) = number_kind(text, descr)?;
        let order = value("fortran_order")?;
        let is_by_columns = order.starts_with("True");
        if !is_by_columns && !order.starts_with("False") {
            return Err(damaged("the header of the array does not say in which order its numbers are"));
        }
        let shape = value("shape")?.strip_prefix('(').and_then(|shape| shape.split_once(')'));
        let (shape, _) = shape.ok_or_else(|| damaged("the header of the array has no shape"))?;
        let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
        let lengths = lengths.map(|length| length.trim_end_matches('L').parse());
        let lengths: std::result::Result<Vec<usize>, _> = lengths.collect();
        let lengths = lengths.map_err(|_| damaged("the shape of the array is not made of whole numbers"))?;
        let &[rows, columns] = &lengths[..] else {
            let count = lengths.len();
            let problem =
                format!("the array has {count} dimension{}, not 2", if count == 1 { "" } else { "s" });
            let help = "save an array of n x 2 places or n x n costs; scipy.spatial.distance.squareform makes a matrix of the distances of pdist";
            return Err(text.content(problem, help));
        };
        if rows == 0 || columns == 0 {
            return Err(text.content(format!("the array of {rows} x {columns} is empty"), HELP));
        }
        Ok(Header { kind, size, is_big_endian, is_by_columns, rows, columns, start: start + length })
    }

    fn count(&self) -> usize {
        self.rows.saturating_mul(self.columns)
    }

    /// Returns a number of the array. `numbers` are the bytes of all of them.
    fn number(&self, numbers: &[u8], row: usize, column: usize) -> f64 {
        let at = if self.is_by_columns { column * self.rows + row } else { row * self.columns + column };
        let mut bytes = [0; 8];
        let own = &mut bytes[..self.size];
        own.copy_from_slice(&numbers[at * self.size..][..self.size]);
        if self.is_big_endian {
            own.reverse();
        }
        let whole = u64::from_le_bytes(bytes);
        match (self.kind, self.size) {
            (Kind::Float, 4) => f64::from(f32::from_bits(whole as u32)),
            (Kind::Float, _) => f64::from_bits(whole),
            (Kind::Unsigned, _) => whole as f64,
            (Kind::Signed, size) => {
                // The sign is the highest bit of the number, not that of the 64 bits around it.
                let beyond = 64 - 8 * size as u32;
                ((whole << beyond) as i64 >> beyond) as f64
            }
        }
    }
}

/// Returns what a type of numpy, such as `<f8`, is: whether its first byte is the highest, its kind, and its bytes.
fn number_kind(text: Text<'_>, descr: &str) -> Result<(bool, Kind, usize)> {
    let unknown = || {
        let what = match descr.trim_start_matches(['<', '>', '=', '|']).as_bytes() {
            [b'O', ..] => "Python objects",
            [b'U' | b'S' | b'a', ..] => "texts",
            [b'c', ..] => "complex numbers",
            [b'b' | b'?', ..] if descr.ends_with(['b', '?', '1']) && !descr.contains('i') => "truth values",
            [b'M' | b'm', ..] => "dates or times",
            [b'f', b'2'] => "16-bit floats",
            [b'f', ..] => "floats of more than 64 bits",
            _ => "values of an unknown type",
        };
        text.content(format!("the array holds {what} ({descr})"), HELP)
    };
    let (order, rest) = descr.split_at_checked(1).ok_or_else(unknown)?;
    let is_big_endian = match order {
        ">" => true,
        "<" | "=" | "|" => false,
        _ => return Err(unknown()),
    };
    let (kind, size) = match rest {
        "i1" => (Kind::Signed, 1),
        "i2" => (Kind::Signed, 2),
        "i4" => (Kind::Signed, 4),
        "i8" => (Kind::Signed, 8),
        "u1" => (Kind::Unsigned, 1),
        "u2" => (Kind::Unsigned, 2),
        "u4" => (Kind::Unsigned, 4),
        "u8" => (Kind::Unsigned, 8),
        "f4" => (Kind::Float, 4),
        "f8" => (Kind::Float, 8),
        _ => return Err(unknown()),
    };
    Ok((is_big_endian, kind, size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Instance, Metric};

    /// A file with this header and these bytes, as numpy writes it.
    fn file(descr: &str, is_by_columns: bool, shape: &str, numbers: &[u8]) -> Vec<u8> {
        let order = if is_by_columns { "True" } else { "False" };
        let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes(), numbers].concat()
    }

    fn parsed(bytes: &[u8]) -> std::result::Result<Instance, String> {
        Instance::parse("a.npy", "a", bytes, &ReadOptions::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn all_types_and_orders_are_the_same_places() {
        let places = [[1_i8, 2], [-3, 50], [7, -8], [9, 11]];
        let expected = places.map(|place| place.map(f64::from));
        let by_rows: Vec<i8> = places.concat();
        let by_columns: Vec<i8> = (0..2).flat_map(|column| places.map(|place| place[column])).collect();
        // The bytes of a number in the order of a big-endian machine.
        type Bytes = fn(i8) -> Vec<u8>;
        let all: [(&str, Bytes); 6] = [
            ("i1", |value| value.to_be_bytes().to_vec()),
            ("i2", |value| i16::from(value).to_be_bytes().to_vec()),
            ("i4", |value| i32::from(value).to_be_bytes().to_vec()),
            ("i8", |value| i64::from(value).to_be_bytes().to_vec()),
            ("f4", |value| f32::from(value).to_be_bytes().to_vec()),
            ("f8", |value| f64::from(value).to_be_bytes().to_vec()),
        ];
        for (descr, bytes) in all {
            for (order, is_big) in [("<", false), (">", true)] {
                for (is_by_columns, values) in [(false, &by_rows), (true, &by_columns)] {
                    let own = |&value: &i8| {
                        let mut own = bytes(value);
                        if !is_big {
                            own.reverse();
                        }
                        own
                    };
                    let numbers: Vec<u8> = values.iter().flat_map(own).collect();
                    let descr = format!("'{order}{descr}'");
                    let instance = parsed(&file(&descr, is_by_columns, "(4, 2)", &numbers)).unwrap();
                    assert_eq!(instance.display_points().unwrap(), expected, "{descr} {is_by_columns}");
                    assert_eq!(instance.metric(), Some(Metric::Euc2d));
                }
            }
        }
        let unsigned = parsed(&file("'|u1'", false, "(3, 2)", &[0, 200, 255, 1, 2, 3])).unwrap();
        assert_eq!(unsigned.display_points().unwrap()[1], [255.0, 1.0]);
    }

    #[test]
    fn a_square_with_a_diagonal_of_zeros_is_a_matrix() {
        let costs =
            [0.0, 3.0, f64::INFINITY, 9.0, 4.0, 0.0, 5.5, 9.0, 6.0, 7.0, 0.0, 9.0, 8.0, 8.0, f64::NAN, 0.0];
        let numbers: Vec<u8> = costs.into_iter().flat_map(f64::to_le_bytes).collect();
        let instance = parsed(&file("'<f8'", false, "(4, 4)", &numbers)).unwrap();
        assert_eq!(instance.edge_cost(1, 2), 5.5);
        assert!(instance.is_forbidden(0, 2) && instance.is_forbidden(3, 2) && !instance.is_symmetric());
        // By columns, it is the transposed one.
        let turned = parsed(&file("'<f8'", true, "(4, 4)", &numbers)).unwrap();
        assert_eq!((turned.edge_cost(2, 1), turned.edge_cost(1, 2)), (5.5, 7.0));
    }

    #[test]
    fn what_is_no_array_of_numbers_is_refused_with_the_reason() {
        let numbers = [0; 64];
        for (bytes, reason) in [
            (file("'|O'", false, "(4, 2)", &numbers), "Python objects (|O)"),
            (file("'<U5'", false, "(4, 2)", &numbers), "texts"),
            (file("'<c16'", false, "(2, 2)", &numbers), "complex numbers"),
            (file("'|b1'", false, "(4, 2)", &numbers[..8]), "truth values"),
            (file("'<f2'", false, "(4, 2)", &numbers[..16]), "16-bit floats"),
            (file("'<f16'", false, "(2, 2)", &numbers), "more than 64 bits"),
            (file("'<M8[s]'", false, "(4, 2)", &numbers), "dates or times"),
            (file("'<'", false, "(4, 2)", &numbers), "unknown type"),
            (file("''", false, "(4, 2)", &numbers), "unknown type"),
            (file("'é8'", false, "(4, 2)", &numbers), "unknown type"),
            (file("[('x', '<f8'), ('y', '<f8')]", false, "(4,)", &numbers), "named fields"),
            (file("'<f8'", false, "(8,)", &numbers), "1 dimension, not 2"),
            (file("'<f8'", false, "(2, 2, 2)", &numbers), "3 dimensions, not 2"),
            (file("'<f8'", false, "()", &numbers[..8]), "0 dimensions, not 2"),
            (file("'<f8'", false, "(0, 2)", &[]), "is empty"),
            (file("'<f8'", false, "(4, x)", &numbers), "not made of whole numbers"),
            (file("'<f8'", false, "(4, -2)", &numbers), "not made of whole numbers"),
            (file("'<f8'", false, "4, 2", &numbers), "has no shape"),
            (file("'<f8'", false, "(4, 2)", &numbers[..63]), "cut short"),
            (file("'<f8'", false, "(4611686018427387904, 2)", &numbers), "cut short"),
            (file("'<f8'", false, "(3, 2)", &numbers), "continues after its array"),
            (b"\x93NUMPY".to_vec(), "ends in the header"),
            (b"\x93NUMPY\x01\x00\xff\x7f{".to_vec(), "ends in the header"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{".to_vec(), "has 2147483647 bytes"),
            (b"\x93NUMPY\x09\x00\x01\x00{".to_vec(), "version 9"),
            (b"\x93NUMPY\x01\x00\x02\x00{}".to_vec(), "no 'descr'"),
            (b"\x93NUMPY\x01\x00\x02\x00\xff\xff".to_vec(), "not text"),
        ] {
            let error = parsed(&bytes).unwrap_err();
            assert!(error.starts_with("a.npy: ") && error.contains(reason), "{reason}: {error}");
        }
    }

    #[test]
    fn a_file_longer_than_its_array_is_refused_whatever_its_length() {
        let folder = tempfile::tempdir().unwrap();
        let short = file("'<f8'", false, "(4, 2)", &[0; 64]);
        for more in [8, 1 << 20, 3 << 20] {
            let path = folder.path().join("a.npy");
            std::fs::write(&path, [&short[..], &vec![0; more]].concat()).unwrap();
            let error = Instance::open(&path).unwrap_err().to_string();
            assert!(error.contains("4 x 2"), "{error}");
        }
    }
}
