//! Responses of routing services whose layout differs from OSRM's.

use serde_json::{Map, Value};

/// Converts a table of Google's Distance Matrix, Valhalla or HERE to OSRM's layout: `distances` and `durations`, arrays of rows,
/// with null where there is no connection. Leaves other objects unchanged.
pub(super) fn unified(mut object: Map<String, Value>) -> Map<String, Value> {
    let (distances, durations) = match () {
        () if is_google(&object) => {
            let value = |key: &'static str| move |element: &Value| element.pointer(key).cloned();
            let rows = object.remove("rows").map(elements).unwrap_or_default();
            // If the destinations differ from the origins, the table does not cover all places.
            if object.get("origin_addresses") == object.get("destination_addresses") {
                object.remove("destination_addresses");
            }
            (cells(&rows, value("/distance/value")), cells(&rows, value("/duration/value")))
        }
        () if object.get("sources_to_targets").is_some_and(Value::is_array) => {
            let value = |key: &'static str| move |cell: &Value| cell.get(key).cloned();
            let rows = object.remove("sources_to_targets").map(rows_of).unwrap_or_default();
            (cells(&rows, value("distance")), cells(&rows, value("time")))
        }
        () if object.get("sources_to_targets").is_some_and(Value::is_object) => {
            let mut table = object.remove("sources_to_targets").unwrap_or_default();
            let mut take = |key: &str| table.get_mut(key).map(Value::take);
            (take("distances"), take("durations"))
        }
        () if object.get("matrix").is_some_and(|matrix| matrix.get("numOrigins").is_some()) => {
            let matrix = object.remove("matrix").unwrap_or_default();
            (folded(&matrix, "distances"), folded(&matrix, "travelTimes"))
        }
        () => return object,
    };
    // The locations of the places are not needed if the costs between them are given.
    object.retain(|key, _| key != "sources" && key != "targets");
    for (key, table) in [("distances", distances), ("durations", durations)] {
        if let Some(table) = table {
            object.insert(key.to_owned(), table);
        }
    }
    object
}

fn is_google(object: &Map<String, Value>) -> bool {
    let rows = object.get("rows").and_then(Value::as_array);
    rows.is_some_and(|rows| !rows.is_empty() && rows.iter().all(|row| row.get("elements").is_some()))
}

fn rows_of(value: Value) -> Vec<Vec<Value>> {
    let Value::Array(rows) = value else { return Vec::new() };
    rows.into_iter().map(|row| if let Value::Array(cells) = row { cells } else { Vec::new() }).collect()
}

fn elements(value: Value) -> Vec<Vec<Value>> {
    let Value::Array(rows) = value else { return Vec::new() };
    let cells = |row: Value| row.get("elements").and_then(Value::as_array).cloned().unwrap_or_default();
    rows.into_iter().map(cells).collect()
}

/// Builds a table from one value of each cell. Returns `None` if no cell has it.
fn cells(rows: &[Vec<Value>], value: impl Fn(&Value) -> Option<Value>) -> Option<Value> {
    let is_any = rows.iter().flatten().any(|cell| value(cell).is_some());
    let row =
        |row: &Vec<Value>| Value::Array(row.iter().map(|cell| value(cell).unwrap_or_default()).collect());
    is_any.then(|| Value::Array(rows.iter().map(row).collect()))
}

/// Splits an array of all cells into rows.
fn folded(matrix: &Value, key: &str) -> Option<Value> {
    let count =
        |key: &str| matrix.get(key).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
    let (height, width) = (count("numOrigins")?, count("numDestinations")?);
    let all = matrix.get(key)?.as_array()?;
    let is_whole = width > 0 && height.checked_mul(width) == Some(all.len());
    // A pair with an error has no connection, whatever its value.
    let errors = matrix.get("errorCodes").and_then(Value::as_array);
    let has_way =
        |at: usize| errors.and_then(|errors| errors.get(at)).is_none_or(|code| code.as_u64() == Some(0));
    let all: Vec<Value> = all
        .iter()
        .enumerate()
        .map(|(at, cost)| if has_way(at) { cost.clone() } else { Value::Null })
        .collect();
    is_whole.then(|| Value::Array(all.chunks(width).map(|row| Value::Array(row.to_vec())).collect()))
}
