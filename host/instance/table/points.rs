//! Tables with one place per row.

use super::edges;
use super::grid::{Cell, Grid};
use super::header::{self, Role};
use super::labels::{self, Labels};
use super::naming::{self, Naming};
use super::number;
use super::{REMEDY, Table};
use crate::content::{Content, Degrees, Reading};
use crate::error::{InstanceError, Result, counted, printable};
use crate::memory;
use crate::parallel;

/// The columns of a table of places.
struct Columns {
    /// x, y and perhaps z; or latitude and longitude.
    coordinates: Vec<(Role, usize)>,
    id: Option<usize>,
    naming: Option<Naming>,
}

impl Columns {
    fn is_degrees(&self) -> bool {
        self.coordinates[0].0 == Role::Lat
    }
}

/// Reads the places of a table.
pub(super) fn read(mut table: Table<'_>) -> Result<Reading> {
    let columns = columns(&table)?;
    let n = table.grid.rows();
    if let Some(&count) = table.counts.first().filter(|&&count| count != n) {
        let problem = format!("the first line says {count}, but {n} lines follow");
        return Err(table.text().content(problem, "correct the first line, or remove it"));
    }
    let is_wrong =
        |row: usize| columns.coordinates.iter().any(|&(_, at)| table.grid.number(row, at).is_nan());
    if let Some(row) = parallel::first(n, &is_wrong) {
        for &(_, column) in &columns.coordinates {
            check_number(&table, row, column, columns.is_degrees())?;
        }
    }
    refuse_sums(&table, &columns)?;
    let labels = Labels::of(&table, columns.id, columns.naming.as_ref())?;
    let made = (n * size_of::<[f64; 3]>()) as u64;
    memory::check(made).map_err(|shortage| table.text().no_room("the places", shortage))?;
    let mut warnings: Vec<String> = labels.warning.iter().cloned().collect();
    let number = |row: usize, at: usize| {
        columns.coordinates.get(at).map_or(0.0, |&(_, column)| table.grid.number(row, column))
    };
    let (content, unit) = if columns.is_degrees() {
        let degrees = parallel::collect_short(n, &|row| [number(row, 0), number(row, 1)]);
        check_degrees(&table, &columns, &degrees)?;
        warnings.extend(maybe_unknown(&table, &degrees));
        warnings.extend(maybe_no_degrees(&table, &degrees));
        (Content::Degrees(degrees), "great-circle metres")
    } else {
        let points = parallel::collect_short(n, &|row| [0, 1, 2].map(|at| number(row, at)));
        warnings.extend(maybe_degrees(&table, &columns, &points));
        warnings.extend(maybe_load(&table, &columns));
        warnings.extend(maybe_mercator(&table, &points));
        warnings.extend(maybe_strips(&table, &points));
        warnings.extend(maybe_no_data(&table, &points));
        warnings.extend(maybe_edges(&table, &columns));
        (Content::Places { dimensions: columns.coordinates.len(), points }, "")
    };
    let mut told = columns.coordinates.clone();
    told.extend(&labels.columns);
    let line = table.line(counted(n, "place"), &told, unit);
    table.notes.clear();
    Ok(Reading {
        content,
        ids: labels.ids,
        names: labels.names,
        line,
        warnings,
        is_directed: table.options.directed,
    })
}

fn check_number(table: &Table<'_>, row: usize, column: usize, is_angle: bool) -> Result<()> {
    if !table.grid.number(row, column).is_nan() {
        return Ok(());
    }
    let written = table.grid.written(row, column);
    let names = table.grid.names.as_deref().unwrap_or_default();
    let is_header = names.get(column) == Some(&written);
    let (problem, help) = if is_header {
        (
            "the column names appear here again".to_owned(),
            "remove the line; if another table begins here, write it to a separate file".to_owned(),
        )
    } else if written.is_empty() {
        (
            format!("there is no number in {}", table.grid.title(column)),
            "write the coordinate, or remove the line".to_owned(),
        )
    } else if let Some(remedy) = number::remedy(&written) {
        (format!("`{written}` is not a number"), remedy)
    } else if are_two_numbers(&written) && is_angle {
        (
            format!("`{written}` is not a number"),
            "write decimal degrees, with a minus for south and west: 48.137".to_owned(),
        )
    } else {
        let numbers: Vec<usize> = (0..table.grid.width())
            .filter(|&column| !table.grid.has_words(column))
            .map(|at| at + 1)
            .collect();
        let help = match numbers[..] {
            [one, other, ..] if !table.chosen.is_empty() => {
                format!("choose columns of numbers, such as `--columns x={one},y={other}`")
            }
            _ => "write a number such as 12.5, or remove the line".to_owned(),
        };
        (format!("`{written}` is not a finite number"), help)
    };
    Err(table.wrong(row, column, problem, help))
}

fn columns(table: &Table<'_>) -> Result<Columns> {
    let coordinates = match named(table)? {
        Some(coordinates) => coordinates,
        None if table.grid.names.is_some() => return Err(unknown(table)),
        None => return guessed(table),
    };
    let names = table.grid.names.as_deref().unwrap_or_default();
    let odd = |&(role, column): &(Role, usize)| {
        let unit = names.get(column).and_then(|name| header::odd_angle(name));
        unit.filter(|_| matches!(role, Role::Lat | Role::Lon) && table.chosen(role).is_none())
            .map(|unit| (role, column, unit))
    };
    if let Some((role, column, (unit, degrees))) = coordinates.iter().find_map(odd) {
        let problem = format!("the {} is in {unit}: {}", role.word(), table.grid.title(column));
        return Err(table.text().content(problem, format!("write degrees: {degrees}")));
    }
    // `lat,min,lon,min`, or no name under a heading that spanned both columns.
    let is_behind = |at: usize| {
        let name = names.get(at + 1).map(|name| name.trim().to_lowercase());
        let is_part = name.is_some_and(|name| {
            matches!(name.as_str(), "" | "min" | "mins" | "minute" | "minutes" | "m" | "'")
        });
        is_part && table.grid.is_numbers(at + 1)
    };
    let are_behind =
        coordinates[0].0 == Role::Lat && coordinates.iter().all(|&(_, column)| is_behind(column));
    let part = (0..names.len())
        .find(|&column| header::is_part_of_degrees(&names[column]))
        .or(are_behind.then_some(coordinates[0].1 + 1));
    let are_whole = || {
        coordinates.iter().all(|&(_, column)| {
            (0..table.grid.rows()).all(|row| table.grid.number(row, column).fract() == 0.0)
        })
    };
    let is_split = || coordinates[0].0 == Role::Lat && table.chosen.is_empty() && are_whole();
    if let Some(column) = part.filter(|_| is_split()) {
        let problem = format!(
            "the minutes or seconds of the degrees are in another column, {}",
            table.grid.title(column)
        );
        let help = "write each coordinate as decimal degrees in one column: degrees + minutes / 60 + seconds / 3600, with a minus for south and west";
        return Err(table.text().content(problem, help));
    }
    table.refuse_systems()?;
    refuse_odd_units(table, &coordinates)?;
    if table.options.degrees && coordinates[0].0 != Role::Lat {
        let (one, other) = (coordinates[0].1 + 1, coordinates[1].1 + 1);
        let help = format!(
            "use `--columns lat={other},lon={one}`, or `--columns lat={one},lon={other}` if the latitude comes first"
        );
        return Err(table.text().content("`--degrees` needs to know which column is the latitude", help));
    }
    let (id, naming) = labels_beside(table, &coordinates);
    Ok(Columns { coordinates, id, naming })
}

/// Chooses the columns of ids and of names beside these coordinates.
fn labels_beside(table: &Table<'_>, coordinates: &[(Role, usize)]) -> (Option<usize>, Option<Naming>) {
    let names = table.grid.names.as_deref();
    let is_used = |column: &usize| coordinates.iter().any(|(_, used)| used == column);
    let is_free = |column: &usize| !is_used(column) && table.chosen.iter().all(|(_, other)| other != column);
    let is_id = |column: &usize| is_free(column) && !naming::has_other_numbers(table, *column);
    let by_name = |names: &[String]| {
        // `stop` or `city` may have numbers: then another column may have names.
        let is_number = |column: &usize| {
            naming::is_label(&names[*column]) && is_id(column) && table.grid.distinct(*column).is_some()
        };
        header::ids(names).into_iter().find(is_id).or_else(|| (0..names.len()).find(is_number))
    };
    let mut id = table.chosen(Role::Id).or_else(|| names.and_then(by_name));
    let is_taken = |column: usize| !is_free(&column) || Some(column) == id;
    let naming = match table.chosen(Role::Name) {
        Some(chosen) => Some(Naming::of(chosen)),
        None => Naming::choose(table, &is_taken, names.is_none() || id.is_none()),
    };
    if id.is_none() && names.is_none() {
        let is_number = |column: &usize| {
            let ids = table.grid.distinct(*column);
            is_free(column) && ids.is_some_and(|ids| labels::are_consecutive(&ids))
        };
        id = (0..table.grid.width()).find(is_number);
    } else if id.is_none() && naming.is_none() && is_free(&0) && Naming::of(0).tells_apart(table) {
        // A column in front of the coordinates distinguishes the places.
        id = Some(0);
    }
    (id, naming)
}

/// Rejects coordinates in different units, and degrees whose hemisphere is in another column.
fn refuse_odd_units(table: &Table<'_>, coordinates: &[(Role, usize)]) -> Result<()> {
    let grid = &table.grid;
    let Some(names) = &grid.names else { return Ok(()) };
    let units: Vec<String> =
        coordinates.iter().filter_map(|&(_, column)| header::unit(&names[column])).collect();
    if let Some(other) = units.iter().find(|unit| **unit != units[0]) {
        let problem = format!("one coordinate is in {}, another in {other}", units[0]);
        return Err(table.text().content(problem, "write all coordinates in the same unit"));
    }
    let is_letter = |row: usize, column: usize| {
        let text = grid.written(row, column).to_lowercase();
        matches!(text.as_str(), "n" | "s" | "e" | "w" | "o" | "north" | "south" | "east" | "west")
    };
    let is_degrees = coordinates[0].0 == Role::Lat;
    let is_hemisphere = |column: &usize| {
        let differs = || (1..grid.rows()).any(|row| grid.written(row, *column) != grid.written(0, *column));
        let is_named = || names[*column].to_lowercase().contains("hemisphere");
        let is_other = header::is_of_deliveries(&names[*column]);
        (0..grid.rows()).all(|row| is_letter(row, *column))
            && (is_degrees && !is_other || is_named() && differs())
    };
    match (0..grid.width()).find(is_hemisphere) {
        Some(column) if !is_degrees => {
            let problem = format!("{} is not the same in all rows", grid.title(column));
            let help = "write all coordinates in one zone of one hemisphere, or latitude and longitude";
            Err(table.text().content(problem, help))
        }
        None => Ok(()),
        Some(column) => {
            let problem = format!("{} gives the hemisphere of the degrees", grid.title(column));
            let help = "write southern latitudes and western longitudes with a minus, and remove that column";
            Err(table.text().content(problem, help))
        }
    }
}

/// Rejects a last row that holds the sums or means of the others.
fn refuse_sums(table: &Table<'_>, columns: &Columns) -> Result<()> {
    let grid = &table.grid;
    let last = grid.rows() - 1;
    if last < 2 {
        return Ok(());
    }
    let labels = columns.naming.iter().flat_map(Naming::all).chain(columns.id);
    let is_word = |label: &String| header::is_sum(label) || header::is_mean(label);
    let Some(label) = labels.map(|column| grid.written(last, column)).find(is_word) else { return Ok(()) };
    let is_mean = header::is_mean(&label);
    let is_near = |one: f64, other: f64| (one - other).abs() <= 0.02 * other.abs().max(1e-9);
    let is_made = columns.coordinates.iter().all(|&(_, column)| {
        let sum: f64 = (0..last).map(|row| grid.number(row, column)).sum();
        is_near(grid.number(last, column), if is_mean { sum / last as f64 } else { sum })
    });
    if is_made {
        let problem =
            format!("the last row, \"{}\", holds the sums or means of the others", printable(&label));
        return Err(table.text().content(problem, "remove it: every row is a place"));
    }
    Ok(())
}

/// Finds the coordinates by the caller's options or the column names.
fn named(table: &Table<'_>) -> Result<Option<Vec<(Role, usize)>>> {
    let pick = |roles: &[Role], is_chosen: bool| -> Result<Vec<(Role, usize)>> {
        let mut found = Vec::new();
        for &role in roles {
            let column = if is_chosen { table.chosen(role) } else { table.role(role)? };
            found.extend(column.map(|column| (role, column)));
        }
        Ok(found)
    };
    const PLANE: [Role; 3] = [Role::X, Role::Y, Role::Z];
    const GLOBE: [Role; 2] = [Role::Lat, Role::Lon];
    let (plane, globe) = (pick(&PLANE, true)?, pick(&GLOBE, true)?);
    let is_chosen = !plane.is_empty() || !globe.is_empty();
    let (plane, globe) =
        if is_chosen { (plane, globe) } else { (pick(&PLANE, false)?, pick(&GLOBE, false)?) };
    let has_plane = plane.len() >= 2 && plane[0].0 == Role::X && plane[1].0 == Role::Y;
    let has_globe = globe.len() == 2;
    let title = |at: &(Role, usize)| table.grid.title(at.1);
    if is_chosen && !(has_plane && globe.is_empty() || has_globe && plane.is_empty()) {
        return Err(table.text().content(
            "`--columns` does not give both coordinates",
            "give x and y, or lat and lon: `--columns x=2,y=3`",
        ));
    }
    if has_plane && has_globe {
        if table.options.degrees {
            return Ok(Some(globe));
        }
        let problem = format!(
            "there are both x and y ({}, {}) and latitude and longitude ({}, {})",
            title(&plane[0]),
            title(&plane[1]),
            title(&globe[0]),
            title(&globe[1])
        );
        let [x, y, lat, lon] = [plane[0].1, plane[1].1, globe[0].1, globe[1].1].map(|column| column + 1);
        return Err(table.text().content(
            problem,
            format!("choose: `--columns x={x},y={y}` or `--columns lat={lat},lon={lon}`"),
        ));
    }
    if has_globe {
        return Ok(Some(globe));
    }
    Ok(has_plane.then_some(plane))
}

/// Creates the error for column names without a known role.
fn unknown(table: &Table<'_>) -> InstanceError {
    let names = table.grid.names.as_deref().unwrap_or_default();
    let numbers: Vec<usize> =
        (0..table.grid.width()).filter(|&column| table.grid.is_numbers(column)).collect();
    let (one, other) = match numbers[..] {
        [.., one, other] => (one + 1, other + 1),
        _ => (1, 2),
    };
    let is_pair =
        names[one - 1].ends_with(".0") && names.get(other - 1).is_some_and(|name| name.ends_with(".1"));
    if let Some(error) = refused_by_cell(table) {
        return error;
    }
    let problem =
        format!("no columns are named x and y, or lat and lon; the names are {}", header::list(names));
    if let Some(error) = refused_by_layout(table, names) {
        return error;
    }
    let are_ends = table.grid.width() >= 3
        && [0, 1].into_iter().all(|column| {
            (0..table.grid.rows()).all(|row| table.grid.is_word(row, column))
                || table.grid.whole(column).is_some()
        });
    let edges = if are_ends { "; `--as edges` for from, to and cost" } else { "" };
    let help = match numbers.len() {
        0 | 1 if are_ends => {
            "to read from, to and cost, use `--as edges`; places need two columns of numbers".to_owned()
        }
        0 | 1 => "write the coordinates of each place in two columns of numbers".to_owned(),
        _ if is_pair => format!(
            "say which they are: `--columns x={one},y={other}`; for degrees `--columns lat={other},lon={one}`, since GeoJSON has the longitude first, or `--columns lat={one},lon={other}`"
        ),
        3.. => format!(
            "say which they are, by number or by name: `--columns x=A,y=B`, or for degrees `--columns lat=A,lon=B` (add `name=` for a column of names){edges}"
        ),
        _ => format!(
            "say which they are: `--columns x={one},y={other}`, or for degrees `--columns lat={one},lon={other}` (add `name=` for a column of names){edges}"
        ),
    };
    table.text().content(problem, help)
}

/// Chooses the columns by their content.
fn guessed(table: &Table<'_>) -> Result<Columns> {
    let grid = &table.grid;
    let is_free = |column: &usize| table.chosen.iter().all(|(_, used)| used != column);
    let all: Vec<usize> = (0..grid.width()).filter(is_free).collect();
    let words: Vec<usize> = all.iter().copied().filter(|&column| grid.has_words(column)).collect();
    let numbers: Vec<usize> = all
        .iter()
        .copied()
        .filter(|&column| !grid.has_words(column) && (0..grid.rows()).any(|row| !grid.is_blank(row, column)))
        .collect();
    let naming = match table.chosen(Role::Name) {
        Some(chosen) => Some(Naming::of(chosen)),
        None => Naming::choose(table, &|column| !is_free(&column), true),
    };
    let plain = |columns: &[usize], id: Option<usize>| {
        let coordinates: Vec<(Role, usize)> =
            [Role::X, Role::Y, Role::Z].into_iter().zip(columns.iter().copied()).collect();
        if table.options.degrees {
            let (one, other) = (columns[0] + 1, columns[1] + 1);
            let help = format!(
                "use `--columns lat={one},lon={other}`, or `--columns lat={other},lon={one}` if the longitude comes first"
            );
            return Err(table.text().content("`--degrees` needs to know which column is the latitude", help));
        }
        Ok(Columns { coordinates, id: table.chosen(Role::Id).or(id), naming: naming.clone() })
    };
    let is_coordinate = |row: usize| header::is_coordinate(&grid.written(row, 0));
    if matches!(grid.rows(), 2 | 3) && grid.width() > 2 && (0..grid.rows()).all(is_coordinate) {
        let problem = "each coordinate of the places is in a separate row";
        return Err(table.text().content(problem, "transpose the table: write a line for each place"));
    }
    if let Some((from, to)) = ends_of_edges(table, &words).filter(|_| table.chosen.is_empty()) {
        let cost = numbers.last().map_or(3, |cost| cost + 1);
        let (from, to) = (from + 1, to + 1);
        return Err(table.open(&[
            (
                &format!("edges, whose ends are in columns {from} and {to}"),
                &format!("--columns from={from},to={to},cost={cost}"),
            ),
            ("places with two names", &format!("--columns name={from},x=A,y=B")),
        ]));
    }
    if let Some(labels) = numbered_header(table) {
        let problem = format!("the first row, {labels}, may be the numbers of the columns, or a place");
        let help = "`--no-header` reads it as a place; if it is not one, remove the row";
        return Err(table.text().content(problem, help));
    }
    if grid.rows() == 1 && !words.is_empty() {
        return Err(neither(table, &numbers));
    }
    let ids = numbers.first().and_then(|&column| table.grid.distinct(column));
    let is_code = numbers.first().is_some_and(|&column| has_codes(grid, column));
    let is_id = is_code || ids.as_deref().is_some_and(labels::are_consecutive) && grid.rows() > 1;
    match numbers.len() {
        2 => plain(&numbers, None),
        3 if is_id => plain(&numbers[1..], Some(numbers[0])),
        3 if ids.as_deref().is_some_and(|ids| may_be_ids(table, ids, &numbers[1..])) => {
            let [id, x, y] = [numbers[0] + 1, numbers[1] + 1, numbers[2] + 1];
            Err(table.open(&[
                (
                    &format!("places x y with a number in {}", grid.title(numbers[0])),
                    &format!("--columns id={id},x={x},y={y}"),
                ),
                ("places x y z in space", &format!("--columns x={id},y={x},z={y}")),
            ]))
        }
        4 if is_id && is_code_before(table, &numbers[1..]) => {
            let [id, code, x, y] = [0, 1, 2, 3].map(|at| numbers[at] + 1);
            Err(table.open(&[
                (
                    &format!("places x y with numbers in columns {id} and {code}"),
                    &format!("--columns id={id},x={x},y={y}"),
                ),
                (
                    &format!("places x y z with a number in column {id}"),
                    &format!("--columns id={id},x={code},y={x},z={y}"),
                ),
            ]))
        }
        3 => plain(&numbers, None),
        4 if is_id && may_be_load(grid, numbers[3]) => {
            let [id, x, y, last] = [0, 1, 2, 3].map(|at| numbers[at] + 1);
            Err(table.open(&[
                (
                    &format!("places x y with a number, and a demand in column {last}"),
                    &format!("--columns id={id},x={x},y={y}"),
                ),
                (
                    &format!("places x y z with a number in column {id}"),
                    &format!("--columns id={id},x={x},y={y},z={last}"),
                ),
            ]))
        }
        4 if is_id => plain(&numbers[1..], Some(numbers[0])),
        _ => Err(neither(table, &numbers)),
    }
}

/// Returns two columns that share words, if they repeat words or share many, so that they may be the ends of edges.
fn ends_of_edges(table: &Table<'_>, words: &[usize]) -> Option<(usize, usize)> {
    let grid = &table.grid;
    let [from, to, ..] = words[..] else { return None };
    let column = |at: usize| (0..grid.rows()).map(move |row| grid.written(row, at)).collect::<Vec<_>>();
    let (from_words, to_words) = (column(from), column(to));
    let known: std::collections::HashSet<&String> = to_words.iter().collect();
    let shared = from_words.iter().filter(|word| known.contains(word)).count();
    let are_loops = from_words.iter().zip(&to_words).any(|(from, to)| from == to);
    let has_twice = |words: &[String]| {
        let mut words = words.to_vec();
        words.sort_unstable();
        words.windows(2).any(|pair| pair[0] == pair[1])
    };
    let are_twice = has_twice(&from_words) || has_twice(&to_words) || 2 * shared >= grid.rows();
    (shared > 0 && !are_loops && are_twice).then_some((from, to))
}

/// Returns the first row if it may consist of column names that are numbers: `0, 1` or `0, 1, 2`, which pandas writes above unnamed
/// columns, or whole numbers after a word such as `name`.
fn numbered_header(table: &Table<'_>) -> Option<String> {
    let grid = &table.grid;
    if let [word, numbers @ ..] = &grid.head[..]
        && grid.names.is_none()
        && !table.options.no_header
        && grid.rows() > 2
        && naming::is_label(word)
        && numbers.len() + 1 == grid.width()
        && numbers.iter().all(|cell| cell.parse::<u32>().is_ok())
    {
        return Some(grid.head.join(", "));
    }
    let is_it = grid.names.is_none()
        && !table.options.no_header
        && grid.rows() > 2
        && matches!(grid.width(), 2 | 3)
        && (0..grid.width()).all(|at| grid.head.get(at).is_some_and(|cell| *cell == at.to_string()));
    is_it.then(|| grid.head.join(", "))
}

/// Returns whether a column holds codes such as 01067. Coordinates have no leading zeros.
fn has_codes(grid: &Grid, column: usize) -> bool {
    let is_code = |row: usize| match grid.cell(row, column) {
        Cell::Number(_, Some(text)) => {
            text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
        }
        _ => false,
    };
    grid.is_numbers(column) && (0..grid.rows()).any(is_code)
}

/// Returns whether a column may hold demands or weights of places: non-negative whole numbers.
fn may_be_load(grid: &Grid, column: usize) -> bool {
    (0..grid.rows()).all(|row| {
        let number = grid.number(row, column);
        number.fract() == 0.0 && number >= 0.0
    })
}

/// Returns a warning if a column says that the coordinates are in Web Mercator, which stretches lengths on the ground.
fn maybe_mercator(table: &Table<'_>, points: &[[f64; 3]]) -> Option<String> {
    const RADIUS: f64 = 6_378_137.0;
    let grid = &table.grid;
    let codes = ["3857", "900913", "102100"];
    let is_code = |text: String| codes.contains(&text.trim_start_matches(|c: char| !c.is_ascii_digit()));
    let names = grid.names.as_deref().unwrap_or_default();
    let says_so = |column: &usize| {
        (0..grid.rows()).all(|row| {
            let text = grid.written(row, *column);
            header::is_system(&names[*column], &text) && is_code(text)
        })
    };
    let is_named = |column: &usize| {
        let name = names[*column].to_lowercase();
        codes.iter().any(|code| name.contains(code)) || name.contains("mercator")
    };
    let column = (0..names.len()).find(|column| is_named(column) || says_so(column))?;
    let stretch = (points.first()?[1] / RADIUS).cosh();
    Some(format!(
        "{} says that {} is in Web Mercator, whose lengths are {stretch:.2} times those on the ground here; give latitude and longitude for true metres",
        grid.title(column),
        table.file()
    ))
}

/// Returns a warning if eastings may belong to different strips, whose number is in front of each: 2567845 and 4468321 of
/// Gauss-Krüger, 32691608 and 33384342 of UTM. Lengths between strips are meaningless.
fn maybe_strips(table: &Table<'_>, points: &[[f64; 3]]) -> Option<String> {
    let strip = |x: f64| {
        let (strip, rest) = ((x / 1e6).floor(), x.rem_euclid(1e6));
        let is_one = (1.0..=5.0).contains(&strip) && (3e5..7e5).contains(&rest)
            || (31.0..=35.0).contains(&strip) && (1.6e5..8.4e5).contains(&rest);
        is_one.then_some(strip)
    };
    let is_north = |y: f64| (4.5e6..8e6).contains(&y);
    let first = strip(points.first()?[0])?;
    let are_strips = points.iter().all(|point| strip(point[0]).is_some() && is_north(point[1]));
    let other = points.iter().filter_map(|point| strip(point[0])).find(|strip| *strip != first)?;
    are_strips.then(|| {
        format!(
            "the eastings of {} may belong to different strips, {first} and {other}; lengths between them are meaningful only if all are in one system",
            table.file()
        )
    })
}

/// Returns a warning if a few places at 0, 0 may have unknown degrees.
fn maybe_unknown(table: &Table<'_>, degrees: &[[f64; 2]]) -> Option<String> {
    let is_zero = |place: &[f64; 2]| *place == [0.0, 0.0];
    let count = degrees.iter().filter(|place| is_zero(place)).count();
    let is_far =
        degrees.iter().filter(|place| !is_zero(place)).all(|&[lat, lon]| lat.abs() > 1.0 || lon.abs() > 1.0);
    (count > 0 && count < degrees.len() && is_far).then(|| {
        let places = if count == 1 { "a place is".to_owned() } else { format!("{count} places are") };
        format!(
            "{places} at latitude 0 and longitude 0 in {}; remove the line if the degrees are unknown",
            table.file()
        )
    })
}

/// Returns a warning if numbers may not be decimal degrees: they may be radians, or degrees without their minutes.
fn maybe_no_degrees(table: &Table<'_>, degrees: &[[f64; 2]]) -> Option<String> {
    let are_all = |is_it: &dyn Fn(&[f64; 2]) -> bool| degrees.len() > 2 && degrees.iter().all(is_it);
    let file = table.file();
    if are_all(&|[lat, lon]| lat.abs() <= std::f64::consts::FRAC_PI_2 && lon.abs() <= std::f64::consts::PI) {
        return Some(format!(
            "the degrees of {file} are all small; if they are radians, convert them to degrees: the radians times 57.29577951308232"
        ));
    }
    are_all(&|[lat, lon]| lat.fract() == 0.0 && lon.fract() == 0.0).then(|| {
        format!(
            "the degrees of {file} are all whole numbers; minutes and seconds must be included, as decimals"
        )
    })
}

/// Returns a warning if a coordinate far from all others may stand for a missing value.
fn maybe_no_data(table: &Table<'_>, points: &[[f64; 3]]) -> Option<String> {
    const NONE: [f64; 4] = [-9999.0, -99999.0, -999999.0, -32768.0];
    let has_none = |row: usize| points[row].iter().any(|coordinate| NONE.contains(coordinate));
    parallel::first(points.len(), &has_none)?;
    let all = || points.iter().flatten().copied();
    let value = NONE.into_iter().find(|&none| all().any(|value| value == none))?;
    all().all(|number| number == value || number > value / 2.0).then(|| {
        format!("{value} is among the coordinates of {}; remove the line or the column if it means that there is no value", table.file())
    })
}

/// Returns a warning if two columns of small numbers may be the ends of edges.
fn maybe_edges(table: &Table<'_>, columns: &Columns) -> Option<String> {
    let [(_, one), (_, other)] = columns.coordinates[..] else { return None };
    let is_guess = table.grid.names.is_none() && table.chosen(Role::X).is_none() && table.grid.width() == 2;
    (is_guess && edges::Ends::of(&table.grid, one, other).is_some()).then(|| {
        format!("the lines of {} are read as places; if they are edges, append the cost to each, and use `--as edges`", table.file())
    })
}

/// Returns a warning if an unnamed third column is read as z and may be something else.
fn maybe_load(table: &Table<'_>, columns: &Columns) -> Option<String> {
    let [(_, x), (_, y), (_, z)] = columns.coordinates[..] else { return None };
    let is_guess = table.grid.names.is_none() && table.chosen(Role::Z).is_none();
    is_guess.then(|| {
        let (file, x, y, z) = (table.file(), x + 1, y + 1, z + 1);
        format!(
            "column {z} of {file} is read as z, of places in space; to ignore it, use `--columns x={x},y={y}`"
        )
    })
}

/// Returns whether the first of three columns is whole and the others are not, like a postal code next to degrees.
fn is_code_before(table: &Table<'_>, columns: &[usize]) -> bool {
    let is_whole =
        |column: usize| (0..table.grid.rows()).all(|row| table.grid.number(row, column).fract() == 0.0);
    is_whole(columns[0]) && !is_whole(columns[1]) && !is_whole(columns[2])
}

/// Returns whether the first column may hold ids next to these coordinates.
fn may_be_ids(table: &Table<'_>, ids: &[u32], coordinates: &[usize]) -> bool {
    let is_whole =
        |column: usize| (0..table.grid.rows()).all(|row| table.grid.number(row, column).fract() == 0.0);
    let is_sorted = ids.is_sorted_by(|a, b| a < b);
    ids.len() > 1 && (is_sorted || !coordinates.iter().any(|&column| is_whole(column)))
}

/// Creates the error for a table whose rows are coordinates, or whose columns are polar coordinates.
fn refused_by_layout(table: &Table<'_>, names: &[String]) -> Option<InstanceError> {
    let grid = &table.grid;
    let numbers = (0..grid.width()).filter(|&column| grid.is_numbers(column)).count();
    if matches!(grid.rows(), 2 | 3) && numbers > 4 {
        let problem = format!("there are {} rows of {} columns", grid.rows(), grid.width());
        return Some(
            table.text().content(
                problem,
                "if the rows are x and y, transpose the table: write a line for each place",
            ),
        );
    }
    let by_labels = refused_half(table, names).or_else(|| refused_between(table, names));
    if let Some(error) = by_labels.or_else(|| refused_labels(table)) {
        return Some(error);
    }
    let of_the_sky = |which: usize| names.iter().position(|name| header::of_the_sky(name) == Some(which));
    if let (Some(ascension), Some(declination)) = (of_the_sky(0), of_the_sky(1)) {
        let problem =
            format!("{} and {} are places in the sky", grid.title(ascension), grid.title(declination));
        let help = format!(
            "write decimal degrees (hours times 15) and use `--columns lat={},lon={}`; lengths are then those on the earth",
            declination + 1,
            ascension + 1
        );
        return Some(table.text().content(problem, help));
    }
    let polar = names.iter().find(|name| header::is_polar(name))?;
    let problem = format!("\"{}\" is an angle of polar coordinates", printable(polar));
    Some(table.text().content(problem, "write x = r cos(angle) and y = r sin(angle)"))
}

/// Creates the error for half a matrix without its diagonal, where the labels above lack one of those at the side.
fn refused_half(table: &Table<'_>, names: &[String]) -> Option<InstanceError> {
    let grid = &table.grid;
    let n = grid.rows();
    if n < 2 || names.len() != n + 1 {
        return None;
    }
    let beside: Vec<String> = (0..n).map(|row| grid.written(row, 0)).collect();
    (beside[..n - 1] == names[2..] || beside[1..] == names[1..n])
        .then(|| table.text().content("this is half a matrix without its diagonal", super::triangle::HELP))
}

/// Creates the error for a matrix with other columns between its labels and its costs.
fn refused_between(table: &Table<'_>, names: &[String]) -> Option<InstanceError> {
    let grid = &table.grid;
    let n = grid.rows();
    let left = names.len().checked_sub(n).filter(|&left| left > 1 && n > 2)?;
    (0..n).all(|row| grid.written(row, 0) == names[left + row]).then(|| {
        let problem = format!("{} is between the labels of a matrix and its costs", grid.title(1));
        table.text().content(problem, "remove the columns that are not costs between places")
    })
}

/// Creates the error for a matrix with numbers as labels, in a different order above than at the side.
fn refused_labels(table: &Table<'_>) -> Option<InstanceError> {
    let grid = &table.grid;
    let n = grid.rows();
    let is_square = n > 2 && n == grid.width() && grid.is_blank(0, 0) && grid.names.is_none();
    let sorted = |cells: &mut dyn Iterator<Item = String>| {
        let mut cells: Vec<String> = cells.collect();
        cells.sort_unstable();
        cells
    };
    let is_label = |at: usize| !grid.number(0, at).is_nan() && !grid.number(at, 0).is_nan();
    if !is_square || !(1..n).all(is_label) {
        return None;
    }
    let above = sorted(&mut (1..n).map(|at| grid.written(0, at)));
    let beside = sorted(&mut (1..n).map(|at| grid.written(at, 0)));
    (is_square && above == beside && above.windows(2).all(|pair| pair[0] != pair[1])).then(|| {
        let problem = "the first row and the first column hold the same numbers in a different order";
        table.text().content(problem, "write them in the same order, or use words such as n1")
    })
}

/// Creates the error for the first text that explains why a column holds no numbers: a map point, or a number with a unit.
fn refused_by_cell(table: &Table<'_>) -> Option<InstanceError> {
    let grid = &table.grid;
    let row = 0..grid.rows().min(2);
    let cells = row.flat_map(|row| (0..grid.width()).map(move |column| (row, column)));
    let (row, column, written) = cells
        .filter(|&(row, column)| grid.is_word(row, column))
        .map(|(row, column)| (row, column, grid.written(row, column)))
        .find(|(.., written)| {
            are_two_numbers(written) || is_map_point(written) || number::remedy(written).is_some()
        })?;
    if are_two_numbers(&written) {
        let problem = format!("{} has two numbers in a cell: `{}`", grid.title(column), printable(&written));
        let help = "write them in separate columns, such as lat and lon";
        return Some(table.wrong(row, column, problem, help));
    }
    let (problem, help) = match number::remedy(&written).filter(|_| !is_map_point(&written)) {
        Some(help) => (format!("`{}` is not a number", printable(&written)), help),
        None => (
            format!("{} holds points as text: `{}`", grid.title(column), printable(&written)),
            "write x and y, or lat and lon, in separate columns (QGIS: export with GEOMETRY=AS_XY; PostGIS: ST_X and ST_Y)".to_owned(),
        ),
    };
    Some(table.wrong(row, column, problem, help))
}

/// Returns whether a text is several numbers: `48.1, 11.5`.
fn are_two_numbers(text: &str) -> bool {
    let bare = text.trim_matches(['(', ')', '[', ']', ' ']);
    let is_number = |part: &str| part.trim().parse::<f64>().is_ok_and(f64::is_finite);
    [',', ';', ' '].iter().any(|sign| bare.split(*sign).count() > 1 && bare.split(*sign).all(is_number))
}

/// Returns whether a text is a geometry in well-known text format.
fn is_map_point(text: &str) -> bool {
    let text = text.split_once(';').map_or(text, |(_, text)| text).trim().to_ascii_uppercase();
    ["POINT", "MULTIPOINT", "LINESTRING", "POLYGON"].iter().any(|kind| text.starts_with(kind))
        && text.contains('(')
}

fn neither(table: &Table<'_>, numbers: &[usize]) -> InstanceError {
    if let Some(error) = refused_by_layout(table, &[]) {
        return error;
    }
    if numbers.len() < 2
        && table.grid.rows() > 1
        && let Some(error) = refused_by_cell(table)
    {
        return error;
    }
    let (rows, width) = (table.grid.rows(), table.grid.width());
    let problem = match (width, rows) {
        (1, 1) => "there is only one number or word".to_owned(),
        (1, _) => format!("each of the {rows} lines has only one column"),
        _ if numbers.len() < 2 => format!(
            "{} of the {width} columns hold numbers",
            if numbers.is_empty() { "none".to_owned() } else { numbers.len().to_string() }
        ),
        (_, 1) => format!("there is only one line, of {width} columns"),
        _ => format!(
            "{rows} rows of {width} columns hold neither places nor a square matrix with zeros on its diagonal"
        ),
    };
    let help = if width == 1 || rows == 1 {
        REMEDY
    } else if numbers.len() < 2 {
        "places need two columns of numbers, `name,x,y`; edges need a line `from,to,cost` each, and `--as edges`"
    } else {
        "say which columns to use: `--columns x=1,y=2`; or use `--as matrix` for a matrix whose diagonal is not zero"
    };
    table.text().content(problem, help)
}

/// Describes the reading of a square table as places.
///
/// The second text is the option that chooses it.
pub(super) fn other_reading(grid: &Grid) -> (&'static str, &'static str) {
    match grid.width() {
        2 => ("places x y", "--columns x=1,y=2"),
        3 if grid.is_numbers(0) => {
            ("places x y with a number (or x=1,y=2,z=3 in space)", "--columns id=1,x=2,y=3")
        }
        3 => ("places x y with a name", "--columns name=1,x=2,y=3"),
        _ => ("places x y z with a number or a name", "--columns name=1,x=2,y=3,z=4"),
    }
}

fn check_degrees(table: &Table<'_>, columns: &Columns, degrees: &[[f64; 2]]) -> Result<()> {
    let [(_, lat), (_, lon)] = columns.coordinates[..] else { return Ok(()) };
    let wrong = |[latitude, longitude]: &[f64; 2]| latitude.abs() > 90.0 || longitude.abs() > 360.0;
    let Some(row) = degrees.iter().position(wrong) else { return Ok(()) };
    let [latitude, longitude] = degrees[row];
    let (kind, value, column) =
        if latitude.abs() > 90.0 { ("latitude", latitude, lat) } else { ("longitude", longitude, lon) };
    let would_fit =
        degrees.iter().all(|&[latitude, longitude]| longitude.abs() <= 90.0 && latitude.abs() <= 360.0);
    let help = if would_fit {
        format!("if the columns are swapped, use `--columns lat={},lon={}`", lon + 1, lat + 1)
    } else {
        format!(
            "write degrees with decimals; if these are plane coordinates, use `--columns x={},y={}`",
            lon + 1,
            lat + 1
        )
    };
    Err(table.wrong(row, column, format!("a {kind} of {value} is not on the earth"), help))
}

/// Returns a warning if the coordinates look like degrees.
fn maybe_degrees(table: &Table<'_>, columns: &Columns, points: &[[f64; 3]]) -> Option<String> {
    let [(_, one), (_, other), ..] = columns.coordinates[..] else { return None };
    let Degrees { lat_first, lon_first } = Degrees::of(points)?;
    // If the columns are named x and y, x is the longitude; otherwise the first one may be either.
    let (one, other) = (one + 1, other + 1);
    let order = match (lat_first, lon_first) {
        (true, true) if table.grid.names.is_some() => {
            let x = table.grid.title(one - 1);
            format!(
                "`--columns lat={other},lon={one}`, or `--columns lat={one},lon={other}` if {x} is the latitude"
            )
        }
        (true, false) => format!("`--columns lat={one},lon={other}`"),
        (false, true) => format!("`--columns lat={other},lon={one}`"),
        _ => format!(
            "`--columns lat={one},lon={other}` if the latitude comes first, `--columns lat={other},lon={one}` if the longitude does"
        ),
    };
    Some(format!(
        "the coordinates of {} are read as plane coordinates; if they are degrees, use {order}",
        table.file()
    ))
}
