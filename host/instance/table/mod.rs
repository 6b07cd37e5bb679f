//! Tables in text: places, matrices of costs, lists of edges, as programs and people write them.
//!
//! `dialect` and `rows` handle delimited text, `brackets` handles arrays; both become a `grid` of cells. `header` knows column
//! names, and `naming` those of columns that name places. The meaning of a grid is decided here, and it is read by `points`, `matrix` and `edges`.

mod brackets;
mod dialect;
mod edges;
mod grid;
mod header;
mod labels;
mod literal;
mod matrix;
mod naming;
mod number;
mod points;
mod rows;
mod suspect;
mod triangle;

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use super::content::Reading;
use super::error::{InstanceError, Result, Text, counted, printable};
use super::parallel;
use super::read_options::{ReadOptions, Shape};
use dialect::Dialect;
use grid::{Cell, Grid, Places};
use header::Role;
use number::{Spelling, is_none};

pub(super) use brackets::is_array;

#[cfg(test)]
mod tests;

const REMEDY: &str = "write a line `x,y` for every place, with the column names in the first line";

/// A table, the caller's options, and what has been found out so far.
struct Table<'a> {
    grid: Grid,
    places: &'a dyn Places,
    options: &'a ReadOptions,
    /// The roles that the caller assigns to columns.
    chosen: Vec<(Role, usize)>,
    /// The counts in a line before the table.
    counts: Vec<usize>,
    /// Remarks for the line that describes the file.
    notes: Vec<String>,
}

/// A value from a file that is not delimited text.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(f64),
    Text(String),
    Empty,
}

/// Reads delimited text.
pub(super) fn delimited(text: Text<'_>, options: &ReadOptions, notes: Vec<String>) -> Result<Reading> {
    let tight = tightened(text.bytes);
    let text = Text { file: text.file, bytes: tight.as_deref().unwrap_or(text.bytes) };
    let lines = literal::in_lines(text.bytes);
    let text = Text { bytes: lines.as_deref().unwrap_or(text.bytes), ..text };
    // A comment ends with its line, but the crate that splits rows does not treat a lone carriage return as a line end.
    let with_line_feeds = line_feeds(text.bytes);
    let text = Text { bytes: with_line_feeds.as_deref().unwrap_or(text.bytes), ..text };
    let suspicion = suspect::check(text, options)?;
    let dialect = Dialect::of(text, options.decimal)?;
    let places = Delimited { text, dialect };
    let mut grid = places.grid()?;
    grid.drop_empty_columns();
    let mut notes = notes;
    if lines.is_some() {
        notes.push("a matrix in brackets".to_owned());
    }
    match places.dialect.spelling {
        Spelling::Comma => notes.push("decimal commas".to_owned()),
        Spelling::Thousands => notes.push("commas as thousands separators".to_owned()),
        Spelling::Point => {}
    }
    if places.is_triangle() {
        notes.push("a triangle, so costs are the same in both directions".to_owned());
    }
    match rows::comments(text, places.dialect.start) {
        0 => {}
        1 => notes.push("1 comment line is ignored".to_owned()),
        count => notes.push(format!("{count} comment lines are ignored")),
    }
    let hidden = hidden_rows(&places, grid.width());
    let counts = places.dialect.counts.clone();
    Table { grid, places: &places, options, chosen: Vec::new(), counts, notes }
        .read(places.dialect.comment.as_deref().map(|line| (line, places.dialect.separator)))
        .map(|reading| with_warnings(reading, suspicion.into_iter().chain(hidden)))
}

fn with_warnings(mut reading: Reading, warnings: impl Iterator<Item = String>) -> Reading {
    reading.warnings.extend(warnings);
    reading
}

/// Returns a warning about comments that may be rows: they have as many cells, and several numbers.
fn hidden_rows(places: &Delimited<'_>, width: usize) -> Option<String> {
    let Delimited { text, dialect } = places;
    if !rows::may_have_comments(text.bytes) {
        return None;
    }
    let is_row = |line: &&str| {
        let cells = names_of(line, dialect.separator);
        let is_number = |cell: &String| dialect.spelling.number(cell.trim()).is_some();
        width > 2 && cells.len() == width && cells[1..].iter().filter(|cell| is_number(cell)).count() > 1
    };
    let rows = std::str::from_utf8(text.bytes).unwrap_or_default().lines();
    let is_comment = |line: &&str| ["#", "%", "//"].iter().any(|sign| line.trim_start().starts_with(sign));
    let count = rows.filter(is_comment).filter(is_row).count();
    (count > 0).then(|| {
        let file = super::error::printable(text.file);
        let lines =
            if count == 1 { "1 comment line has".to_owned() } else { format!("{count} comment lines have") };
        format!("{lines} as many columns as the rows of {file}; put quotes around names that begin with #")
    })
}

/// Replaces lone carriage returns by line feeds. Returns `None` if there are none.
fn line_feeds(bytes: &[u8]) -> Option<Vec<u8>> {
    let is_lone = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    if !parallel::contains(bytes, b'\r') {
        return None;
    }
    let first = carriage_returns(bytes).find(|&at| is_lone(at))?;
    let mut text = bytes.to_vec();
    (first..bytes.len()).filter(|&at| is_lone(at)).for_each(|at| text[at] = b'\n');
    Some(text)
}

/// Returns the offsets of carriage returns.
fn carriage_returns(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\r').map(|(at, _)| at)
}

/// Reads an array of arrays.
pub(super) fn arrays(text: Text<'_>, options: &ReadOptions, notes: Vec<String>) -> Result<Reading> {
    let places = Arrays { text };
    let grid = places.grid()?;
    Table { grid, places: &places, options, chosen: Vec::new(), counts: Vec::new(), notes }.read(None)
}

/// Returns whether these column names determine the content of a table.
pub(super) fn are_columns(text: Text<'_>, names: &[String]) -> bool {
    let has = |role| header::column(text, names, role).is_ok_and(|column| column.is_some());
    has(Role::X) && has(Role::Y)
        || has(Role::Lat) && has(Role::Lon)
        || has(Role::From) && has(Role::To) && has(Role::Cost)
}

/// Reads rows of values. `names` are the column names, if there are any.
pub(super) fn values(
    text: Text<'_>,
    names: Option<Vec<String>>,
    rows: &[Vec<Value>],
    options: &ReadOptions,
    notes: Vec<String>,
) -> Result<Reading> {
    let places = Values { text };
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut grid = Grid::new(width);
    for (at, row) in rows.iter().enumerate() {
        if row.len() != width {
            let problem =
                format!("row {} has {}, but others have {width}", at + 1, counted(row.len(), "value"));
            return Err(text.content(problem, "give every row the same number of values"));
        }
        grid.push(text, row.iter().map(Value::cell))?;
    }
    grid.head = rows.first().map_or_else(Vec::new, |row| row.iter().map(Value::written).collect());
    grid.names = names;
    Table { grid, places: &places, options, chosen: Vec::new(), counts: Vec::new(), notes }.read(None)
}

/// Reads rows of numbers. One that is not finite is a missing one.
pub(super) fn numbers(
    text: Text<'_>,
    width: usize,
    rows: impl Iterator<Item = impl Iterator<Item = f64>>,
    options: &ReadOptions,
    notes: Vec<String>,
) -> Result<Reading> {
    let cell = |number: f64| match number.is_finite() {
        true => Cell::Number(number, None),
        false => Cell::Text(if number.is_nan() {
            "nan"
        } else if number > 0.0 {
            "inf"
        } else {
            "-inf"
        }),
    };
    let mut grid = Grid::new(width);
    for row in rows {
        grid.push(text, row.map(cell))?;
    }
    grid.head = (0..width).map(|column| grid.written(0, column)).collect();
    let options = &ReadOptions { no_header: true, ..options.clone() };
    Table { grid, places: &Values { text }, options, chosen: Vec::new(), counts: Vec::new(), notes }
        .read(None)
}

impl Value {
    fn cell(&self) -> Cell<'_> {
        match self {
            Value::Number(number) => Cell::Number(*number, None),
            Value::Text(text) => cell(Spelling::Point, text),
            Value::Empty => Cell::Empty,
        }
    }

    fn written(&self) -> String {
        match self {
            Value::Number(number) => number.to_string(),
            Value::Text(text) => text.clone(),
            Value::Empty => String::new(),
        }
    }
}

impl Table<'_> {
    fn text(&self) -> Text<'_> {
        Text { file: self.places.text().file, bytes: b"" }
    }

    /// Returns the file's name for messages.
    fn file(&self) -> String {
        super::error::printable(self.places.text().file)
    }

    fn read(mut self, comment: Option<(&str, rows::Separator)>) -> Result<Reading> {
        if self.grid.width() == 0 || self.grid.head.iter().all(String::is_empty) && self.grid.rows() == 0 {
            return Err(self.text().content("the file contains no numbers", REMEDY));
        }
        self.refuse_pointer_network()?;
        self.find_header(comment)?;
        self.choose_columns()?;
        if self.grid.rows() == 0 {
            let has_comments = self.notes.iter().any(|note| note.contains("comment line"));
            return Err(match has_comments {
                true => {
                    let help = "lines that begin with #, % or // are comments: put such names in quotes";
                    self.text().content("there are only comments after the column names", help)
                }
                false => self.text().content("there is nothing after the column names", REMEDY),
            });
        }
        match self.shape()? {
            Shape::Points => points::read(self),
            Shape::Matrix => matrix::read(self),
            Shape::Edges => edges::read(self),
        }
    }

    /// Decides what the table holds: by the caller's options, else by its column names, else by its numbers.
    fn shape(&self) -> Result<Shape> {
        let is_chosen = |roles: &[Role]| self.chosen.iter().any(|(role, _)| roles.contains(role));
        let has_places = is_chosen(&[Role::X, Role::Y, Role::Z, Role::Lat, Role::Lon]);
        let has_edges = is_chosen(&[Role::From, Role::To, Role::Cost]);
        match (self.options.shape, has_places, has_edges) {
            (Some(shape), ..) => return Ok(shape),
            (None, true, true) => {
                let help = "give either x and y, lat and lon, or from, to and cost";
                return Err(self
                    .text()
                    .content("`--columns` names both coordinates and the ends of edges", help));
            }
            (None, true, false) => return Ok(Shape::Points),
            (None, false, true) => return Ok(Shape::Edges),
            (None, false, false) => {}
        }
        if let Some(shape) = self.shape_by_names()? {
            return Ok(shape);
        }
        matrix::refuse_several(self)?;
        matrix::refuse_numbered(self)?;
        let matrix = matrix::find(self);
        if matrix.is_none() {
            self.refuse_counts()?;
        }
        match matrix {
            Some(found) if found.is_certain => Ok(Shape::Matrix),
            Some(found) => {
                let (places, option) = points::other_reading(&self.grid);
                Err(self.open(&[(&found.told(&self.grid), "--as matrix"), (places, option)]))
            }
            None if edges::fits(self)? => Ok(Shape::Edges),
            None => matrix::refuse_damaged(self).and(Ok(Shape::Points)),
        }
    }

    fn shape_by_names(&self) -> Result<Option<Shape>> {
        let Some(names) = &self.grid.names else { return Ok(None) };
        let text = self.text();
        let both = |one, other| -> Result<bool> {
            Ok(header::column(text, names, one)?.is_some() && header::column(text, names, other)?.is_some())
        };
        // A name shared by two columns matters only if its role does.
        let is = |found: Result<bool>, other: bool| {
            if other { found.unwrap_or(false).then_some(true).ok_or(()).or(Ok(false)) } else { found }
        };
        let edges = both(Role::From, Role::To);
        let is_edges = matches!(edges, Ok(true)) && self.grid.width() >= 3;
        let degrees = is(both(Role::Lat, Role::Lon), is_edges)?;
        let plane = is(both(Role::X, Role::Y), is_edges || degrees)?;
        if (degrees || plane) && is_edges && !(self.grid.width() == 3 || names.len() == 3) {
            let help = "choose with `--as points` or `--as edges`";
            return Err(
                text.content(format!("the columns {} fit both places and edges", header::list(names)), help)
            );
        }
        Ok(if degrees || plane {
            self.refuse_edges_by_coordinates(plane)?;
            if let Some(left) = matrix::beside_places(&self.grid) {
                let (first, last) = (self.grid.title(left), self.grid.title(left + self.grid.rows() - 1));
                let problem =
                    format!("besides the places there is a matrix of costs, from {first} to {last}");
                let help = "`--as points` reads the places; to use the matrix, write it to a separate file";
                return Err(text.content(problem, help));
            }
            if matrix::find(self).is_some_and(|found| found.is_symmetric) && self.grid.rows() >= 3 {
                return Err(self.open(&[
                    ("a matrix of costs with labels above it", "--as matrix"),
                    ("places, by the names of the columns", "--as points"),
                ]));
            }
            Some(Shape::Points)
        } else {
            is_edges.then_some(Shape::Edges)
        })
    }

    /// Rejects a first row that may be the number of the rows after it.
    fn refuse_counts(&self) -> Result<()> {
        let grid = &self.grid;
        let rest = grid.rows().saturating_sub(1);
        if grid.names.is_some() || self.options.no_header || rest < 3 || grid.width() > 3 {
            return Ok(());
        }
        let first: Vec<f64> = (0..grid.head.len()).map(|column| grid.number(0, column)).collect();
        let is_count = |number: &f64| *number == rest as f64;
        let are_whole = first.iter().all(|number| number.fract() == 0.0 && *number >= 0.0);
        let is_it = match first[..] {
            [one, _] => is_count(&one),
            [one, other, last] => is_count(&one) || one == other && is_count(&last),
            _ => false,
        };
        if !are_whole || !is_it {
            return Ok(());
        }
        let problem = format!(
            "the first line, {}, may mean that {rest} lines follow, or may be one of them",
            grid.head.join(" ")
        );
        Err(self.text().content(problem, "remove it if it is a count; otherwise use `--no-header`"))
    }

    /// Rejects columns x, y and a cost if x and y can be the ends of edges.
    fn refuse_edges_by_coordinates(&self, is_plane: bool) -> Result<()> {
        let names = self.grid.names.as_deref().unwrap_or_default();
        let of = |role| header::column(self.text(), names, role).ok().flatten();
        let (Some(x), Some(y)) = (of(Role::X), of(Role::Y)) else { return Ok(()) };
        let costs = header::costs(names);
        let [cost] = costs[..] else { return Ok(()) };
        if !is_plane || cost == x || cost == y || edges::Ends::of(&self.grid, x, y).is_none() {
            return Ok(());
        }
        let (x, y, cost) = (x + 1, y + 1, cost + 1);
        Err(self.open(&[
            ("edges between numbered nodes", &format!("--columns from={x},to={y},cost={cost}")),
            ("places x y", &format!("--columns x={x},y={y}")),
        ]))
    }

    /// Rejects rows in different coordinate systems or units.
    fn refuse_systems(&self) -> Result<()> {
        let names = self.grid.names.as_deref().unwrap_or_default();
        let is_one = |column: &usize| {
            (0..self.grid.rows())
                .all(|row| header::is_system(&names[*column], &self.grid.written(row, *column)))
        };
        for column in (0..names.len()).filter(|_| self.chosen.is_empty()).filter(is_one) {
            let first = self.grid.written(0, column);
            if let Some(row) = (0..self.grid.rows()).find(|&row| self.grid.written(row, column) != first) {
                let other = printable(&self.grid.written(row, column));
                let problem = format!(
                    "{} is not the same in all rows: {} and {other}",
                    self.grid.title(column),
                    printable(&first)
                );
                let help = "write all numbers in the same system and unit, and remove the column";
                return Err(self.wrong(row, column, problem, help));
            }
        }
        Ok(())
    }

    /// Creates the error for a table that fits several readings, each with the option that chooses it.
    fn open(&self, readings: &[(&str, &str)]) -> InstanceError {
        let (rows, width) = (self.grid.rows() + self.grid.skipped, self.grid.width());
        let texts: Vec<&str> = readings.iter().map(|(reading, _)| *reading).collect();
        let problem = format!(
            "the {} of {} may be {}",
            counted(rows, "row"),
            counted(width, "column"),
            texts.join(", or ")
        );
        let choices: Vec<String> =
            readings.iter().map(|(reading, option)| format!("`{option}` for {reading}")).collect();
        self.text().content(problem, format!("choose: {}", choices.join("; ")))
    }

    fn refuse_pointer_network(&self) -> Result<()> {
        let is_it =
            self.grid.head.iter().any(|cell| cell.eq_ignore_ascii_case("output")) && self.grid.width() > 4;
        if !is_it {
            return Ok(());
        }
        let problem = "this looks like pointer network data: each line has the coordinates x y of all places, the word `output`, and a tour";
        Err(self.text().content(
            problem,
            "write the places of one line to a file, a line `x y` for each, and the tour to another file",
        ))
    }

    /// Finds the column names in the first row or in the comment before it.
    fn find_header(&mut self, comment: Option<(&str, rows::Separator)>) -> Result<()> {
        let grid = &self.grid;
        let text = self.text();
        let is_less = grid.head.len() < grid.width() && grid.first < grid.width();
        let is_short = is_less && grid.head.len() + 1 == grid.width() && !grid.head.is_empty();
        if grid.names.is_none() && !self.options.no_header && self.is_header() {
            if is_less && !(is_short && self.has_index()) {
                let (found, width) = (grid.head.len(), grid.width());
                let problem =
                    format!("the first row names {}, but the others have {width}", counted(found, "column"));
                let is_title = found == 1 && grid.head[0].contains(|c: char| c.is_alphabetic());
                let help = match is_title {
                    true => format!(
                        "if \"{}\" is the title of the table, remove that line",
                        printable(&grid.head[0])
                    ),
                    false => format!("name all {width} columns in the first line; {COLUMNS}"),
                };
                return Err(text.content(problem, help));
            }
            let mut names = grid.head.clone();
            if is_short {
                names.insert(0, String::new());
            }
            names.resize(grid.width(), String::new());
            self.grid.names = Some(names);
            self.grid.skipped = 1;
            // pandas writes the name of the index in a separate row.
            let (rows, width) = (self.grid.rows(), self.grid.width());
            let names = self.grid.names.as_deref().unwrap_or_default();
            let is_name_of_index = rows == width
                && rows > 2
                && self.grid.is_word(0, 0)
                && (1..rows).all(|row| self.grid.written(row, 0) == names[row])
                && (1..width).all(|column| self.grid.cell(0, column) == Cell::Empty);
            self.grid.skipped += usize::from(is_name_of_index);
            return Ok(());
        }
        if grid.names.is_none()
            && grid.first < grid.width()
            && grid.rows() > 1
            && (grid.first..grid.width())
                .any(|column| grid.cell(0, column) == Cell::Empty && !grid.is_blank(1, column))
        {
            let problem = format!(
                "the first row has {}, but the others have {}",
                counted(grid.first, "column"),
                grid.width()
            );
            return Err(text.content(problem, COLUMNS));
        }
        let Some((line, separator)) = comment.filter(|_| grid.names.is_none() && !self.options.no_header)
        else {
            return Ok(());
        };
        let names = names_of(line, separator);
        let has = |role| header::column(text, &names, role).is_ok_and(|column| column.is_some());
        let is_known = has(Role::X) && has(Role::Y)
            || has(Role::Lat) && has(Role::Lon)
            || has(Role::From) && has(Role::To);
        if names.len() == grid.width() && is_known {
            self.grid.names = Some(names);
        }
        Ok(())
    }

    /// Returns whether the unnamed first column is an index: consecutive numbers, words, or the labels of the first row.
    fn has_index(&self) -> bool {
        let grid = &self.grid;
        let rows = 1..grid.rows();
        let mut column: Vec<String> = rows.clone().map(|row| grid.written(row, 0)).collect();
        let numbers: Option<Vec<u32>> = column.iter().map(|cell| cell.parse().ok()).collect();
        let mut head = grid.head.clone();
        head.sort_unstable();
        column.sort_unstable();
        numbers.is_some_and(|numbers| labels::are_consecutive(&numbers))
            || rows.clone().all(|row| grid.is_word(row, 0))
            || head == column
    }

    fn is_header(&self) -> bool {
        let grid = &self.grid;
        let is_number =
            |cell: &String| Spelling::Point.number(cell).is_some() || Spelling::Comma.number(cell).is_some();
        let is_word = |cell: &String| !is_none(cell) && !is_number(cell);
        if !grid.head.iter().any(is_word) {
            return matrix::has_numeric_header(grid);
        }
        if grid.head.iter().all(is_word) {
            return true;
        }
        // pandas names the cost column 0.
        if header::are_ends(&grid.head) && grid.head.len() == 3 && grid.head[2] == "0" && is_named_apart(grid)
        {
            return true;
        }
        // The same labels are on both sides of a matrix: `id,11,12` above `11,0,5` and `12,5,0`.
        let is_blank = |at: usize| grid.number(at, at) == 0.0 || grid.is_blank(at, at);
        let are_labels = grid.rows() == grid.width()
            && grid.rows() > 2
            && is_word(&grid.head[0])
            && grid.head[1..].iter().all(is_number)
            && (1..grid.rows()).all(is_blank)
            && (1..grid.rows())
                .all(|row| grid.written(row, 0) == grid.head.get(row).map_or("", String::as_str));
        if are_labels {
            return true;
        }
        // A single word among the numbers of a square is an invalid cost.
        let words = grid.head.iter().filter(|&cell| is_word(cell)).count();
        if words == 1 && grid.rows() == grid.width() && grid.rows() > 2 {
            return false;
        }
        // A number in place of a column name means that this is a data row.
        let shift = usize::from(grid.head.len() + 1 == grid.width() && grid.first < grid.width());
        let rows = grid.rows();
        // The diagonal of a matrix may contain anything.
        let is_diagonal = |row: usize, column: usize| {
            (rows == grid.width() && row == column) || (rows == grid.width() + 1 && row == column + 1)
        };
        let is_named = |column: usize| {
            let others =
                || (1..rows).map(|row| (row, column + shift)).filter(|&(row, at)| !is_diagonal(row, at));
            is_word(&grid.head[column])
                && others().all(|(row, column)| !grid.is_word(row, column))
                && others().any(|(row, column)| !grid.number(row, column).is_nan())
        };
        rows > 1 && (0..grid.head.len().min(grid.width() - shift)).any(is_named)
    }

    /// Resolves the columns given by the caller.
    fn choose_columns(&mut self) -> Result<()> {
        let mut chosen = Vec::new();
        for (role, column) in &self.options.columns {
            let Some(named) = Role::from_option(role) else {
                let problem = format!("`--columns` has no role `{role}`");
                return Err(self
                    .text()
                    .content(problem, "the roles are x, y, z, lat, lon, name, id, from, to and cost"));
            };
            let at = self.column(column)?;
            if chosen.iter().any(|&(other, _)| other == named) {
                return Err(self
                    .text()
                    .content(format!("`--columns` contains {role} twice"), "give each role only once"));
            }
            chosen.push((named, at));
        }
        self.chosen = chosen;
        Ok(())
    }

    /// Finds a column by its number or name.
    fn column(&self, given: &str) -> Result<usize> {
        let width = self.grid.width();
        let by_number =
            given.parse().ok().filter(|number| (1..=width).contains(number)).map(|number: usize| number - 1);
        let names = self.grid.names.as_deref().unwrap_or_default();
        let by_name = || names.iter().position(|name| name.trim() == given);
        let by_any_case = || names.iter().position(|name| name.trim().eq_ignore_ascii_case(given));
        by_number.or_else(by_name).or_else(by_any_case).ok_or_else(|| {
            let seen =
                if names.is_empty() { String::new() } else { format!("; they are {}", header::list(names)) };
            let problem = format!("there is no column `{given}` among the {width}{seen}");
            self.text().content(
                problem,
                format!("give the number of a column, from 1 to {width}, or its name in the first line"),
            )
        })
    }

    fn chosen(&self, role: Role) -> Option<usize> {
        self.chosen.iter().find(|(other, _)| *other == role).map(|(_, column)| *column)
    }

    /// Finds the column with a role: by the caller's options, else by its name.
    fn role(&self, role: Role) -> Result<Option<usize>> {
        if let Some(column) = self.chosen(role) {
            return Ok(Some(column));
        }
        let Some(names) = &self.grid.names else { return Ok(None) };
        Ok(header::column(self.text(), names, role)?
            .filter(|column| self.chosen.iter().all(|(_, other)| other != column)))
    }

    /// Creates an error that points at a cell.
    fn wrong(
        &self,
        row: usize,
        column: usize,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> InstanceError {
        grid::wrong(self.places, &self.grid, (row, column), problem, help)
    }

    /// Builds the line that describes the file: its content, the use of its columns, and remarks.
    fn line(&self, what: String, columns: &[(Role, usize)], end: &str) -> String {
        // Several columns may be one name: `names "street" + "number"`.
        let of_role = |columns: &[(Role, usize)]| {
            let titles: Vec<String> = columns.iter().map(|&(_, column)| self.grid.title(column)).collect();
            format!("{} {}", columns[0].0.word(), titles.join(" + "))
        };
        let columns: Vec<String> = columns.chunk_by(|one, other| one.0 == other.0).map(of_role).collect();
        let mut parts = vec![columns.join(", ")];
        parts.push(end.to_owned());
        parts.extend(self.notes.iter().cloned());
        parts.retain(|part| !part.is_empty());
        let from = self.file();
        if parts.is_empty() {
            format!("{what} from {from}")
        } else {
            format!("{what} from {from}: {}", parts.join("; "))
        }
    }
}

/// Returns whether the words at the head of the first two columns do not occur in any row below.
fn is_named_apart(grid: &Grid) -> bool {
    let is_apart = |row: usize, column: usize| {
        grid.is_word(row, column) && !grid.head[..2].contains(&grid.written(row, column))
    };
    (1..grid.rows()).all(|row| is_apart(row, 0) && is_apart(row, 1))
}

fn names_of(line: &str, separator: rows::Separator) -> Vec<String> {
    match separator {
        rows::Separator::Sign(sign) => {
            line.split(sign as char).map(|name| name.trim().trim_matches('"').to_owned()).collect()
        }
        rows::Separator::Blanks => line.split_whitespace().map(str::to_owned).collect(),
    }
}

const NAMES: &str =
    "put names with several words in quotes, or separate the columns by commas, semicolons or tabs";
const COLUMNS: &str =
    "use the same separator in all lines, quote texts that contain it, and write decimals with a point: 0.5";

/// Converts a text to a cell.
fn cell(spelling: Spelling, text: &str) -> Cell<'_> {
    if text.is_empty() {
        return Cell::Empty;
    }
    let Some(number) = spelling.number(text) else { return Cell::Text(text) };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    // As a name, it is more than its value: for example a postal code or an order number.
    let is_odd = digits && (text.len() > 15 || text.len() > 1 && text.starts_with('0'));
    Cell::Number(number, is_odd.then_some(text))
}

/// Removes blanks between a separator and a quote, where a quote would be part of the text. Returns `None` if there are none.
fn tightened(bytes: &[u8]) -> Option<Vec<u8>> {
    let is_spaced = |at: usize| bytes[at] == b'"' && at > 1 && bytes[at - 1] == b' ';
    if !parallel::contains(bytes, b'"') || !(0..bytes.len()).any(is_spaced) {
        return None;
    }
    let mut tight = Vec::with_capacity(bytes.len());
    let (mut is_quoted, mut closed) = (false, None);
    for (at, &byte) in (0..).zip(bytes) {
        if byte == b'"' && is_quoted {
            (is_quoted, closed) = (false, Some(at + 1));
        } else if byte == b'"' && closed == Some(at) {
            // Two quotes stand for one in a quoted text, which goes on.
            is_quoted = true;
        } else if byte == b'"' {
            let kept = tight.iter().rposition(|byte| *byte != b' ').map_or(0, |at| at + 1);
            if kept == 0 || matches!(tight[kept - 1], b',' | b';' | b'|' | b'\t' | b'\n' | b'\r') {
                tight.truncate(kept);
                is_quoted = true;
            }
        }
        tight.push(byte);
    }
    Some(tight)
}

/// Bytes of a long text whose rows a thread reads at a time.
const PIECE: usize = 1 << 18;

struct Delimited<'a> {
    text: Text<'a>,
    dialect: Dialect,
}

impl Delimited<'_> {
    fn grid(&self) -> Result<Grid> {
        let Dialect { separator, start, .. } = self.dialect;
        if let Some(rows) = self.triangle() {
            return triangle::grid(self.text, &rows, self.dialect.spelling);
        }
        let mut widths = Vec::new();
        rows::for_each(self.text, start, separator, |row| {
            let cells = row.cells;
            // Ignore empty cells at the end of the column names.
            let kept = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |at| at + 1);
            widths.push(if widths.is_empty() { kept } else { cells.len() });
            Ok(if widths.len() < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        let width = widths.iter().copied().max().unwrap_or(0);
        let pieces = self.pieces();
        // Creating an error takes long, and only the first one counts.
        let is_wrong = AtomicBool::new(false);
        let read = |piece: usize| {
            let read = || self.rows_of(pieces[piece].clone(), width, piece == 0).ok();
            let rows = (!is_wrong.load(Ordering::Relaxed)).then(read).flatten();
            is_wrong.fetch_or(rows.is_none(), Ordering::Relaxed);
            rows
        };
        let parts: Option<Vec<Grid>> = parallel::collect(pieces.len(), &read).into_iter().collect();
        if pieces.len() > 1
            && let Some(grid) = parts.and_then(Grid::joined)
        {
            return Ok(grid);
        }
        // Row by row, the first error is found.
        self.rows_of(start..self.text.bytes.len(), width, true)
    }

    /// Splits the text into pieces of whole rows; into one if it is short, or if a quoted text may extend over several lines.
    fn pieces(&self) -> Vec<Range<usize>> {
        let (bytes, mut start) = (self.text.bytes, self.dialect.start);
        let mut pieces = Vec::new();
        let is_one = bytes.len() - start < 4 * PIECE || parallel::contains(bytes, b'"');
        while start < bytes.len() && !is_one {
            let from = (start + PIECE).min(bytes.len());
            let rest = bytes[from..].iter().position(|&byte| byte == b'\n');
            let end = rest.map_or(bytes.len(), |length| from + length + 1);
            pieces.push(start..end);
            start = end;
        }
        pieces
    }

    /// Reads the rows in a piece of the text, which may be the first one.
    fn rows_of(&self, piece: Range<usize>, width: usize, is_first: bool) -> Result<Grid> {
        let Dialect { separator, spelling, .. } = self.dialect;
        let mut grid = Grid::new(width);
        let mut count = usize::from(!is_first);
        let text = Text { bytes: &self.text.bytes[..piece.end], ..self.text };
        rows::for_each(text, piece.start, separator, |row| {
            let kept = row.cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |at| at + 1);
            if count == 0 {
                grid.head = row.cells[..kept].iter().map(|&cell| cell.to_owned()).collect();
                grid.first = row.cells.len();
            } else if kept > width || row.cells.len() < width {
                return Err(self.ragged(row.start, row.cells.len(), width));
            }
            count += 1;
            grid.push(self.text, row.cells.iter().map(|text| cell(spelling, text)))?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(grid)
    }

    fn ragged(&self, start: usize, found: usize, width: usize) -> InstanceError {
        let problem = format!("the line has {}, but those before have {width}", counted(found, "column"));
        let (start, length) = rows::place(self.text, start, self.dialect.separator, usize::MAX - 1);
        let help = match () {
            () if self.begins_as_triangle() => triangle::HELP,
            () if self.is_half_with_names() && self.dialect.separator != rows::Separator::Blanks => {
                triangle::HELP
            }
            () if self.is_half_with_names() => {
                "in R, write the whole matrix: write.csv(as.matrix(d), \"d.csv\")"
            }
            () if self.has_names_of_words(start) => NAMES,
            () => COLUMNS,
        };
        self.text.error(start, length, problem, help)
    }

    /// Returns whether the first rows are those of half a matrix with names but no diagonal, as R prints a `dist`.
    fn is_half_with_names(&self) -> bool {
        let mut widths = Vec::new();
        let _ = rows::for_each(self.text, self.dialect.start, self.dialect.separator, |row| {
            let is_word = |cell: &&str| self.dialect.spelling.number(cell).is_none();
            let words = row.cells.iter().filter(|cell| is_word(cell)).count();
            let is_right = if widths.is_empty() { words == row.cells.len() } else { words == 1 };
            widths.push(if is_right { row.cells.len() } else { 0 });
            Ok(if widths.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        });
        matches!(widths[..], [head, 2, 3] if head > 0)
    }

    /// Returns whether blanks separate columns, and the line at `start` has several words before its coordinates.
    fn has_names_of_words(&self, start: usize) -> bool {
        let rest = &self.text.bytes[start..];
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let mut widths = Vec::new();
        let _ = rows::for_each(self.text, self.dialect.start, self.dialect.separator, |row| {
            let is_number = |cell: &&str| self.dialect.spelling.number(cell).is_some();
            let numbers = row.cells.iter().rev().take_while(|cell| is_number(cell)).count();
            widths.push((row.cells.len() - numbers, numbers));
            Ok(if row.start < start + end { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        });
        let is_place = |&(words, numbers): &(usize, usize)| {
            words >= 1 && matches!(numbers, 2 | 3) && numbers == widths[0].1
        };
        self.dialect.separator == rows::Separator::Blanks && !widths.is_empty() && widths.iter().all(is_place)
    }

    /// Returns whether the first three rows grow or shrink by one cell each.
    fn begins_as_triangle(&self) -> bool {
        let mut rows: Vec<Vec<String>> = Vec::new();
        let read = rows::for_each(self.text, self.dialect.start, self.dialect.separator, |row| {
            rows.push(row.cells.iter().map(|&cell| cell.to_owned()).collect());
            Ok(if rows.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        });
        read.is_ok() && rows.len() == 3 && triangle::may_be(&rows)
    }

    fn is_triangle(&self) -> bool {
        self.triangle().is_some()
    }

    /// Returns the rows if they form a triangle.
    fn triangle(&self) -> Option<Vec<Vec<String>>> {
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut is_one = true;
        let read = rows::for_each(self.text, self.dialect.start, self.dialect.separator, |row| {
            rows.push(row.cells.iter().map(|&cell| cell.to_owned()).collect());
            is_one = triangle::may_be(&rows) && rows.len() <= triangle::MOST;
            Ok(if is_one { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        });
        (read.is_ok() && is_one && triangle::is_one(&rows, self.dialect.spelling)).then_some(rows)
    }
}

impl Places for Delimited<'_> {
    fn text(&self) -> Text<'_> {
        self.text
    }

    fn place(&self, row: usize, column: usize) -> Option<(usize, usize)> {
        let Dialect { separator, start, .. } = self.dialect;
        let (mut found, mut at) = (None, 0);
        let _ = rows::for_each(self.text, start, separator, |one| {
            if at == row {
                found = Some(rows::place(self.text, one.start, separator, column));
                return Ok(ControlFlow::Break(()));
            }
            at += 1;
            Ok(ControlFlow::Continue(()))
        });
        found
    }
}

struct Arrays<'a> {
    text: Text<'a>,
}

impl Arrays<'_> {
    /// Returns the text of a quoted cell with its escapes resolved; `None` if it has none.
    fn unescaped(&self, (start, length, is_quoted): brackets::Found) -> Option<String> {
        let written = std::str::from_utf8(&self.text.bytes[start..start + length]).ok()?;
        is_quoted.then(|| brackets::unescaped(written)).flatten()
    }

    fn cell(&self, (start, length, is_quoted): brackets::Found) -> Cell<'_> {
        let written = std::str::from_utf8(&self.text.bytes[start..start + length]).unwrap_or_default();
        match is_quoted {
            true if written.is_empty() => Cell::Empty,
            true => Cell::Text(written),
            false => cell(Spelling::Point, brackets::bare(written)),
        }
    }

    fn grid(&self) -> Result<Grid> {
        let mut grid: Option<Grid> = None;
        brackets::for_each(self.text, |cells| {
            let is_first = grid.is_none();
            let grid = grid.get_or_insert_with(|| Grid::new(cells.len()));
            let unescaped: Vec<Option<String>> = cells.iter().map(|cell| self.unescaped(*cell)).collect();
            let cell_at = |(at, cell): (usize, &brackets::Found)| match &unescaped[at] {
                Some(text) => Cell::Text(text),
                None => self.cell(*cell),
            };
            if is_first {
                let written = |cell| match cell_at(cell) {
                    Cell::Number(number, None) => number.to_string(),
                    Cell::Number(_, Some(text)) | Cell::Text(text) => text.to_owned(),
                    Cell::Empty => String::new(),
                };
                grid.head = cells.iter().enumerate().map(written).collect();
            }
            if cells.len() != grid.width() {
                let problem = format!(
                    "this row has {}, but those before have {}",
                    counted(cells.len(), "value"),
                    grid.width()
                );
                let (start, length, _) = cells[0];
                return Err(self.text.error(
                    start,
                    length,
                    problem,
                    "give every row the same number of values",
                ));
            }
            grid.push(self.text, cells.iter().enumerate().map(cell_at))?;
            Ok(ControlFlow::Continue(()))
        })?;
        let grid = grid.ok_or_else(|| self.text.content("the array is empty", REMEDY))?;
        if grid.rows() == 1 && grid.width() > 3 {
            let problem = format!("this is a list of {} values instead of places or rows", grid.width());
            return Err(self.text.content(problem, "write an array for each place or row: [[1, 2], [3, 4]]"));
        }
        Ok(grid)
    }
}

impl Places for Arrays<'_> {
    fn text(&self) -> Text<'_> {
        self.text
    }

    fn place(&self, row: usize, column: usize) -> Option<(usize, usize)> {
        let (mut found, mut at) = (None, 0);
        let _ = brackets::for_each(self.text, |cells| {
            if at == row {
                found = cells.get(column).map(|&(start, length, _)| (start, length));
                return Ok(ControlFlow::Break(()));
            }
            at += 1;
            Ok(ControlFlow::Continue(()))
        });
        found
    }
}

struct Values<'a> {
    text: Text<'a>,
}

impl Places for Values<'_> {
    fn text(&self) -> Text<'_> {
        self.text
    }

    fn place(&self, _: usize, _: usize) -> Option<(usize, usize)> {
        None
    }
}
