//! JSON: arrays of places or rows, objects with coordinates, responses of routing engines, GeoJSON.

mod routing;

use serde_json::{Map, Value};

use super::content::Reading;
use super::error::{Result, Text, counted, printable};
use super::read_options::{ReadOptions, Shape};
use super::table::{self, Value as Cell};
use crate::memory;

const HELP: &str = "give an array of places ([[x, y], ...] or [{\"lat\": 48.1, \"lon\": 11.6}, ...]), of rows of costs, GeoJSON points, or a table with `distances`";

/// Reads a JSON text that contains objects.
pub(super) fn read(text: Text<'_>, options: &ReadOptions, notes: Vec<String>) -> Result<Reading> {
    // Each value takes several times as much memory as its text.
    memory::check(8 * text.bytes.len() as u64).map_err(|shortage| text.no_room("the JSON", shortage))?;
    let value = parse(text)?;
    Json { text, options }.top(value, notes)
}

/// Parses the value of a text; several values, one per line, become an array.
fn parse(text: Text<'_>) -> Result<Value> {
    let all = |bytes: &[u8]| {
        serde_json::Deserializer::from_slice(bytes)
            .into_iter::<Value>()
            .collect::<std::result::Result<Vec<_>, _>>()
    };
    let values = all(text.bytes).or_else(|error| all(&without_nan(text.bytes)).map_err(|_| error));
    match values {
        Ok(mut values) if values.len() == 1 => Ok(values.remove(0)),
        Ok(values) => Ok(Value::Array(values)),
        Err(error) => {
            let start = offset(text.bytes, error.line(), error.column());
            Err(text.error(
                start,
                1,
                format!("this is not valid JSON: {error}"),
                "correct it; a program such as `python3 -m json.tool` shows what is missing",
            ))
        }
    }
}

/// Returns the byte offset of a line and column in an error of serde_json.
fn offset(bytes: &[u8], line: usize, column: usize) -> usize {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum::<usize>() + column.saturating_sub(1)
}

/// Replaces what Python writes for missing numbers by `null`.
fn without_nan(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let (mut at, mut is_quoted) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if is_quoted => {
                kept.push(bytes[at]);
                at += 1;
            }
            b'"' => is_quoted = !is_quoted,
            _ => {}
        }
        let word = ["NaN", "Infinity"]
            .into_iter()
            .find(|word| !is_quoted && bytes[at..].starts_with(word.as_bytes()));
        if let Some(word) = word {
            kept.extend_from_slice(b"null");
            at += word.len();
        } else {
            kept.extend(bytes.get(at));
            at += 1;
        }
    }
    kept
}

/// Keys of a single place next to a list of places.
const DEPOTS: [&str; 12] = [
    "depot",
    "start",
    "end",
    "home",
    "origin",
    "destination",
    "warehouse",
    "hub",
    "base",
    "source",
    "target",
    "center",
];

/// Returns whether a value is a single place: two or three numbers, or an object with coordinates.
fn is_place(value: &Value) -> bool {
    match value {
        Value::Array(numbers) => matches!(numbers.len(), 2 | 3) && numbers.iter().all(Value::is_number),
        Value::Object(object) => {
            let has = |keys: &[&str]| object.keys().any(|key| keys.contains(&key.to_lowercase().as_str()));
            has(&["x"]) && has(&["y"])
                || has(&["lat", "latitude"]) && has(&["lon", "lng", "long", "longitude"])
                || ["location", "coordinates", "position"]
                    .iter()
                    .filter_map(|key| object.get(*key))
                    .any(is_place)
        }
        _ => false,
    }
}

/// Returns the strings of an array of strings.
fn strings(value: Value) -> Option<Vec<String>> {
    let Value::Array(values) = value else { return None };
    values.into_iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

struct Json<'a> {
    text: Text<'a>,
    options: &'a ReadOptions,
}

impl Json<'_> {
    fn top(&self, value: Value, notes: Vec<String>) -> Result<Reading> {
        match value {
            Value::Object(object) => self.object(object, notes),
            Value::Array(values) => self.array(values, None, notes),
            _ => Err(self.text.content("there is a single value, not a list of places", HELP)),
        }
    }

    fn object(&self, mut object: Map<String, Value>, mut notes: Vec<String>) -> Result<Reading> {
        if let Some(kind) = object.get("type").and_then(Value::as_str).filter(|kind| GEOJSON.contains(kind)) {
            let kind = kind.to_owned();
            return self.geojson(&kind, &Value::Object(object), notes);
        }
        if let Some(code) = object.get("code").and_then(Value::as_str).filter(|code| *code != "Ok") {
            let said = object.get("message").and_then(Value::as_str).unwrap_or("it gives no reason");
            let problem = format!(
                "this is the response of a routing engine that failed, with `{}`: {}",
                printable(code),
                printable(said)
            );
            return Err(self
                .text
                .content(problem, "repeat the request; the response must have `distances` or `durations`"));
        }
        if let Some(key) = ["links", "edges"].into_iter().find(|key| is_edges(object.get(*key)))
            && object.get("nodes").is_some_and(Value::is_array)
        {
            return self.node_link(&object, key, notes);
        }
        if let (Some(Value::Array(nodes)), Some(Value::Array(lists))) =
            (object.get("nodes"), object.get("adjacency"))
        {
            let links = adjacency(nodes, lists);
            object.remove("adjacency");
            object.insert("links".to_owned(), Value::Array(links));
            return self.node_link(&object, "links", notes);
        }
        let mut object = routing::unified(self.esri(object)?);
        if object.contains_key("origin_addresses") && object.contains_key("destination_addresses") {
            let problem = "the origins differ from the destinations";
            return Err(self.text.content(problem, "request all places as origins and as destinations"));
        }
        let is_table = |value: &Value| matches!(value, Value::Array(values) if matches!(values.first(), Some(Value::Array(_) | Value::Object(_))));
        let tables: Vec<String> =
            object.iter().filter(|(_, value)| is_table(value)).map(|(key, _)| key.clone()).collect();
        let named = |key: &str| tables.iter().any(|table| table == key);
        let asked = self.options.columns.iter().find(|(role, _)| role == "cost").map(|(_, key)| key.clone());
        let costs: Vec<&str> =
            ["distances", "durations", "times", "weights"].into_iter().filter(|key| named(key)).collect();
        let chosen = match (asked.filter(|key| named(key)), &costs[..], &tables[..]) {
            (Some(key), ..) => key,
            (None, [one, other, ..], _) => {
                return Err(self.text.content(
                    format!("there are both `{one}` and `{other}`"),
                    format!("choose: `--columns cost={one}` or `--columns cost={other}`"),
                ));
            }
            (None, [one], _) => (*one).to_owned(),
            (None, _, [one]) => one.clone(),
            (None, _, [_, _, ..]) => {
                let keys =
                    tables.iter().map(|key| format!("\"{}\"", printable(key))).collect::<Vec<_>>().join(", ");
                let is_matrix = |key: &&String| {
                    object
                        .get(*key)
                        .and_then(Value::as_array)
                        .is_some_and(|rows| rows.iter().all(Value::is_array))
                };
                let leave = "keep only the one you mean in the file";
                let help = match tables.iter().find(is_matrix) {
                    Some(key) => {
                        format!("choose a matrix such as `--columns cost={}`, or {leave}", printable(key))
                    }
                    None => leave.to_owned(),
                };
                return Err(self.text.content(format!("there are several tables: {keys}"), help));
            }
            (None, ..) => return self.by_key(object, notes),
        };
        let Some(Value::Array(values)) = object.remove(&chosen) else {
            return Err(self.text.content("there is no table", HELP));
        };
        let is_named_matrix = costs.contains(&chosen.as_str());
        if is_named_matrix {
            self.refuse_rectangle(&chosen, &values)?;
        }
        // A depot next to the list of places belongs to them.
        let is_beside = |(key, value): &(&String, &Value)| {
            is_place(value)
                && !is_named_matrix
                && (value.is_object() || DEPOTS.contains(&key.to_lowercase().as_str()))
        };
        if let Some((key, _)) = object.iter().find(is_beside) {
            let (key, chosen) = (printable(key), printable(&chosen));
            let problem = format!("besides the places in \"{chosen}\" there is another one, \"{key}\"");
            return Err(self.text.content(problem, format!("add it to \"{chosen}\", or remove it")));
        }
        let columns = object.remove("columns").filter(|_| chosen == "data").and_then(strings);
        let is_label = |value: &Value| matches!(value, Value::Array(names) if names.len() == values.len() && names.iter().all(Value::is_string));
        let labels: Vec<Vec<String>> = object
            .values()
            .filter(|value| is_label(value))
            .map(|value| {
                value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
            })
            .collect();
        notes.push(format!("\"{}\"", printable(&chosen)));
        let names = match &labels[..] {
            [one] => Some(one.clone()),
            _ => None,
        };
        let options = ReadOptions {
            columns: self
                .options
                .columns
                .iter()
                .filter(|(role, key)| role != "cost" || *key != chosen)
                .cloned()
                .collect(),
            shape: self.options.shape.or(is_named_matrix.then_some(Shape::Matrix)),
            ..self.options.clone()
        };
        let json = Json { text: self.text, options: &options };
        match columns {
            Some(columns) => json.split(columns, values, names, notes),
            None => json.array(values, names, notes),
        }
    }

    /// Renames the coordinates of ArcGIS features to longitude and latitude if that is what they are.
    ///
    /// # Errors
    /// If they are in another system.
    fn esri(&self, mut object: Map<String, Value>) -> Result<Map<String, Value>> {
        let Some(system) = object.get("spatialReference").and_then(|system| system.get("wkid")) else {
            return Ok(object);
        };
        if system.as_u64() != Some(4326) {
            let problem =
                format!("the coordinates of this file are in the system {}", printable(&system.to_string()));
            return Err(self.text.content(problem, "request longitude and latitude (outSR=4326)"));
        }
        for feature in object.get_mut("features").and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(geometry) = feature.get_mut("geometry").and_then(Value::as_object_mut) else { continue };
            for (old, new) in [("x", "lon"), ("y", "lat")] {
                if let Some(value) = geometry.remove(old) {
                    geometry.insert(new.to_owned(), value);
                }
            }
        }
        Ok(object)
    }

    /// Reads a graph as written by networkx and d3: nodes, and links with a source, a target and a cost.
    fn node_link(&self, object: &Map<String, Value>, key: &str, mut notes: Vec<String>) -> Result<Reading> {
        let links = object.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let nodes = object.get("nodes").and_then(Value::as_array).map_or(0, Vec::len);
        let mut ends: Vec<String> = links
            .iter()
            .flat_map(|link| {
                ["source", "target"].map(|end| link.get(end).map_or(String::new(), Value::to_string))
            })
            .collect();
        ends.sort_unstable();
        ends.dedup();
        if ends.len() != nodes {
            let problem = format!("there are {}, but `{key}` joins {}", counted(nodes, "node"), ends.len());
            return Err(self.text.content(
                problem,
                "make sure that every node has a link, and every end of a link is a node",
            ));
        }
        notes.push(format!("\"{key}\""));
        let is_directed = object.get("directed").and_then(Value::as_bool).unwrap_or(false);
        let options = ReadOptions { directed: self.options.directed || is_directed, ..self.options.clone() };
        Json { text: self.text, options: &options }.records(links, None, notes)
    }

    /// Rejects a routing engine's response that does not cover all places in both directions.
    fn refuse_rectangle(&self, key: &str, rows: &[Value]) -> Result<()> {
        let length = |row: &Value| row.as_array().map_or(0, Vec::len);
        match rows.iter().map(length).find(|&length| length != rows.len()) {
            None => Ok(()),
            Some(length) => {
                let problem = format!(
                    "`{key}` has {}, but one of them has {}",
                    counted(rows.len(), "row"),
                    counted(length, "column")
                );
                let help = "request all places as sources and as destinations";
                Err(self.text.content(problem, help))
            }
        }
    }

    /// Reads rows with separate column names, as pandas writes them with `orient="split"`.
    fn split(
        &self,
        columns: Vec<String>,
        rows: Vec<Value>,
        names: Option<Vec<String>>,
        notes: Vec<String>,
    ) -> Result<Reading> {
        let has_labels = names.is_some();
        let columns = has_labels.then(String::new).into_iter().chain(columns).collect();
        let label = |at: usize| names.as_ref().map(|names| Cell::Text(names[at].clone()));
        let row = |(at, row): (usize, &Value)| -> Vec<Cell> {
            label(at).into_iter().chain(row.as_array().into_iter().flatten().map(cell)).collect()
        };
        let rows: Vec<Vec<Cell>> = rows.iter().enumerate().map(row).collect();
        table::values(self.text, Some(columns), &rows, self.options, notes)
    }

    /// Reads an object of columns, each an array or an object with a key per row, as pandas writes them.
    fn columns(&self, names: Vec<String>, columns: &[Value], notes: Vec<String>) -> Result<Reading> {
        let mut keys: Vec<&String> =
            columns.first().and_then(Value::as_object).into_iter().flat_map(Map::keys).collect();
        // Row numbers are strings here, and as strings 10 would come before 2.
        keys.sort_by_key(|key| (key.parse().unwrap_or(u64::MAX), *key));
        let length = columns.iter().map(|column| column.as_array().map_or(keys.len(), Vec::len));
        let (fewest, most) = (length.clone().min().unwrap_or(0), length.max().unwrap_or(0));
        if fewest != most {
            let problem = format!("one column has {}, another {most}", counted(fewest, "value"));
            return Err(self.text.content(problem, "give every column a value for each place"));
        }
        let at = |column: &Value, row: usize| match column {
            Value::Array(values) => values.get(row).map_or(Cell::Empty, cell),
            other => keys.get(row).and_then(|key| other.get(key.as_str())).map_or(Cell::Empty, cell),
        };
        let rows: Vec<Vec<Cell>> =
            (0..most).map(|row| columns.iter().map(|column| at(column, row)).collect()).collect();
        table::values(self.text, Some(names), &rows, self.options, notes)
    }

    /// Reads an object whose keys are names of places or of rows of costs.
    fn by_key(&self, object: Map<String, Value>, notes: Vec<String>) -> Result<Reading> {
        let is_all = |is_it: fn(&Value) -> bool| object.len() > 1 && object.values().all(is_it);
        if !is_all(Value::is_array) && !is_all(Value::is_object) {
            let keys: Vec<String> =
                object.keys().take(12).map(|key| format!("\"{}\"", printable(key))).collect();
            let problem = if keys.is_empty() {
                "the object is empty".to_owned()
            } else {
                format!("the object has neither a table nor places; its keys are {}", keys.join(", "))
            };
            return Err(self.text.content(problem, HELP));
        }
        let are_arrays = is_all(Value::is_array);
        let (names, values): (Vec<String>, Vec<Value>) = object.into_iter().unzip();
        let is_scalar = |value: &Value| !value.is_array() && !value.is_object();
        let are_flat = values.iter().all(|value| match value {
            Value::Array(values) => values.iter().all(is_scalar),
            Value::Object(values) => values.values().all(is_scalar),
            _ => false,
        });
        if are_flat && table::are_columns(self.text, &names) {
            return self.columns(names, &values, notes);
        }
        if are_arrays {
            let rows = names.into_iter().zip(values).map(|(name, row)| {
                let mut cells = vec![Cell::Text(name)];
                cells.extend(row.as_array().into_iter().flatten().map(cell));
                cells
            });
            return table::values(self.text, None, &rows.collect::<Vec<_>>(), self.options, notes);
        }
        let mut notes = notes;
        if values
            .iter()
            .any(|value| value.as_object().is_some_and(|row| row.keys().any(|key| names.contains(key))))
        {
            notes.push(
                "each key of the outer object is a row: the node from which its costs are given".to_owned(),
            );
        }
        self.records(values, Some(names), notes)
    }

    fn array(&self, values: Vec<Value>, names: Option<Vec<String>>, notes: Vec<String>) -> Result<Reading> {
        match values.first() {
            None => Err(self.text.content("the array is empty", HELP)),
            Some(Value::Object(_)) => self.records(values, names, notes),
            Some(Value::Array(_)) => {
                let mut rows = Vec::with_capacity(values.len());
                for (at, value) in values.iter().enumerate() {
                    let Value::Array(row) = value else {
                        return Err(self.text.content(
                            format!("item {} is not an array, unlike those before it", at + 1),
                            HELP,
                        ));
                    };
                    let label = names.as_ref().map(|names| Cell::Text(names[at].clone()));
                    rows.push(label.into_iter().chain(row.iter().map(cell)).collect());
                }
                table::values(self.text, None, &rows, self.options, notes)
            }
            Some(_) => Err(self.text.content("the array holds neither arrays nor objects", HELP)),
        }
    }

    /// Reads objects with the same keys as rows of a table with named columns.
    fn records(&self, values: Vec<Value>, names: Option<Vec<String>>, notes: Vec<String>) -> Result<Reading> {
        let mut columns: Vec<String> = names.iter().map(|_| String::new()).collect();
        let mut known: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
        let mut rows = Vec::with_capacity(values.len());
        for (at, value) in values.iter().enumerate() {
            let Value::Object(object) = value else {
                return Err(self
                    .text
                    .content(format!("item {} is not an object, unlike those before it", at + 1), HELP));
            };
            if object.get("type").and_then(Value::as_str) == Some("Feature") {
                return self.geojson("FeatureCollection", &serde_json::json!({ "features": values }), notes);
            }
            let mut row: Vec<Cell> = names.iter().map(|names| Cell::Text(names[at].clone())).collect();
            flatten("", object, &mut |key, value| {
                let column = *known.entry(key.clone()).or_insert_with(|| {
                    columns.push(key);
                    columns.len() - 1
                });
                if row.len() <= column {
                    row.resize(column + 1, Cell::Empty);
                }
                row[column] = cell(value);
            });
            rows.push(row);
        }
        let width = columns.len();
        rows.iter_mut().for_each(|row: &mut Vec<Cell>| row.resize(width, Cell::Empty));
        table::values(self.text, Some(columns), &rows, self.options, notes)
    }

    fn geojson(&self, kind: &str, value: &Value, mut notes: Vec<String>) -> Result<Reading> {
        let system = value.pointer("/crs/properties/name").and_then(Value::as_str).unwrap_or("CRS84");
        if !["CRS84", "WGS84", "WGS 84"].iter().any(|name| system.contains(name)) && !system.ends_with("4326")
        {
            let problem = format!("the coordinates of this GeoJSON are in {}", printable(system));
            return Err(self
                .text
                .content(problem, "export it again with longitude and latitude (WGS 84, EPSG:4326)"));
        }
        let mut rows = Vec::new();
        let all = value.get("features").and_then(Value::as_array).into_iter().flatten();
        let kinds: Vec<&str> =
            all.filter_map(|feature| feature.pointer("/geometry/type")?.as_str()).collect();
        // A route drawn along with the points is not a place.
        let is_line = |kind: &str| matches!(kind, "LineString" | "MultiLineString");
        let lines = kinds.iter().filter(|kind| is_line(kind)).count();
        let points: Value;
        let mut value = value;
        if lines > 0 && kinds.contains(&"Point") {
            let kind = |feature: &Value| feature.pointer("/geometry/type")?.as_str().map(is_line);
            let mut features = value.get("features").and_then(Value::as_array).cloned().unwrap_or_default();
            features.retain(|feature| kind(feature) != Some(true));
            points = serde_json::json!({ "features": features });
            value = &points;
            let are = if lines == 1 { "is" } else { "are" };
            notes.push(format!("{} {are} ignored", counted(lines, "line")));
        }
        self.geometries(kind, value, None, &mut rows)?;
        if rows.is_empty() {
            return Err(self.text.content(
                format!("this GeoJSON {kind} is empty: it contains no points"),
                "export the layer with its points",
            ));
        }
        notes.push(format!("GeoJSON {kind}"));
        let columns = ["lon", "lat", "name"].map(str::to_owned).to_vec();
        let has_names = rows.iter().any(|row: &Vec<Cell>| !matches!(row[2], Cell::Empty));
        let width = if has_names { 3 } else { 2 };
        rows.iter_mut().for_each(|row| row.truncate(width));
        table::values(self.text, Some(columns[..width].to_vec()), &rows, self.options, notes)
    }

    fn geometries(
        &self,
        kind: &str,
        value: &Value,
        name: Option<&Value>,
        rows: &mut Vec<Vec<Cell>>,
    ) -> Result<()> {
        let items = |key: &str| value.get(key).and_then(Value::as_array).into_iter().flatten();
        let kind_of =
            |value: &Value| value.get("type").and_then(Value::as_str).unwrap_or("nothing").to_owned();
        let mut point = |position: &Value| match position.as_array().map(Vec::as_slice) {
            Some([lon, lat, ..]) => {
                rows.push(vec![cell(lon), cell(lat), name.map_or(Cell::Empty, cell)]);
                Ok(())
            }
            _ => Err(self.text.content(
                format!("point {} of this GeoJSON does not have two coordinates", rows.len() + 1),
                "give each point its longitude and latitude",
            )),
        };
        match kind {
            "FeatureCollection" => {
                items("features").try_for_each(|feature| self.geometries("Feature", feature, None, rows))
            }
            "GeometryCollection" => items("geometries")
                .try_for_each(|geometry| self.geometries(&kind_of(geometry), geometry, None, rows)),
            "Feature" => {
                let properties = value.get("properties").and_then(Value::as_object);
                let is_empty = |value: &Value| value.is_null() || value.as_str() == Some("");
                let property = |key: &&str| properties?.get(*key).filter(|value| !is_empty(value));
                let name = ["name", "Name", "NAME", "title", "label"].iter().find_map(property);
                let address = if name.is_none() { properties.and_then(address) } else { None };
                let address = address.map(Value::String);
                let name = name.or(address.as_ref()).or_else(|| property(&"id")).or(value.get("id"));
                let none = Value::Null;
                let geometry = value.get("geometry").unwrap_or(&none);
                self.geometries(&kind_of(geometry), geometry, name.filter(|name| !name.is_null()), rows)
            }
            "Point" => point(value.get("coordinates").unwrap_or(&Value::Null)),
            "MultiPoint" | "LineString" => items("coordinates").try_for_each(point),
            other => {
                let problem = format!(
                    "this GeoJSON has a geometry of the type {}, after {}",
                    printable(other),
                    counted(rows.len(), "point")
                );
                Err(self.text.content(problem, "export points; in QGIS, use the centroids of the layer"))
            }
        }
    }
}

const GEOJSON: [&str; 10] = [
    "FeatureCollection",
    "Feature",
    "GeometryCollection",
    "Point",
    "MultiPoint",
    "LineString",
    "Polygon",
    "MultiPolygon",
    "MultiLineString",
    "Topology",
];

/// Returns the address that OpenStreetMap's properties of a GeoJSON feature give: street and house number, and the city if it is there.
/// Without the number of a house, it would not tell places apart.
fn address(properties: &Map<String, Value>) -> Option<String> {
    let part = |key: &str| match properties.get(key)? {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let house = format!("{} {}", part("addr:street")?, part("addr:housenumber")?);
    Some(part("addr:city").map_or(house.clone(), |city| format!("{house}, {city}")))
}

/// Returns the links of networkx adjacency lists, each from the node of its list to the node it names.
fn adjacency(nodes: &[Value], lists: &[Value]) -> Vec<Value> {
    let mut links = Vec::new();
    for (node, list) in nodes.iter().zip(lists) {
        for other in list.as_array().into_iter().flatten().filter_map(Value::as_object) {
            let mut link = other.clone();
            let target = link.remove("id").unwrap_or_default();
            link.insert("source".to_owned(), node.get("id").cloned().unwrap_or_default());
            link.insert("target".to_owned(), target);
            links.push(Value::Object(link));
        }
    }
    links
}

/// Returns whether a value is an array of objects with a source and a target.
fn is_edges(value: Option<&Value>) -> bool {
    let is_edge = |link: &Value| link.get("source").is_some() && link.get("target").is_some();
    value.and_then(Value::as_array).is_some_and(|links| !links.is_empty() && links.iter().all(is_edge))
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Number(number) => number.as_f64().map_or(Cell::Empty, Cell::Number),
        Value::String(text) => Cell::Text(text.clone()),
        Value::Bool(value) => Cell::Text(value.to_string()),
        Value::Null => Cell::Empty,
        Value::Array(_) | Value::Object(_) => Cell::Text("...".to_owned()),
    }
}

/// Visits the values of an object; those of inner objects under keys such as `location.lat`, pairs of numbers under `location.0`.
fn flatten(prefix: &str, object: &Map<String, Value>, each: &mut impl FnMut(String, &Value)) {
    for (key, value) in object {
        let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Object(inner) if key.matches('.').count() < 4 => flatten(&key, inner, each),
            Value::Array(pair) if matches!(pair.len(), 2 | 3) && pair.iter().all(Value::is_number) => {
                pair.iter().enumerate().for_each(|(at, number)| each(format!("{key}.{at}"), number));
            }
            Value::Array(_) => {}
            value => each(key, value),
        }
    }
}
