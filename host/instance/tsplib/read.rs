//! Builds an instance from the entries of a TSPLIB file.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use antwarp_core::metric::Metric;

use super::matrix::Layout;
use super::scan::{self, Entry, Part, Words};
use crate::content::{Degrees, in_file, instance_of, may_be_no_way, odd_costs};
use crate::error::{Result, Text, counted, printable};
use crate::memory;
use crate::model::{Instance, Kind, NodeNumbers};
use crate::parallel;
use crate::read_options::{ReadOptions, Shape};
use crate::source::Room;

/// Returns how long a file with this start can be: a node has a line in each section, and explicit weights are at most a matrix.
pub(crate) fn room(begin: Text<'_>) -> Room {
    let dimension = scan::value_in_begin(begin, "DIMENSION").and_then(|value| begin.whole_number(value));
    let Some(n) = dimension.and_then(|n| u64::try_from(n).ok()) else {
        return Room::numbers(0, "a file without DIMENSION in its first lines");
    };
    let metric = scan::value_in_begin(begin, "EDGE_WEIGHT_TYPE").map(|value| begin.show(value));
    let is_explicit = metric.map(|metric| metric.eq_ignore_ascii_case("EXPLICIT"));
    let square = n.saturating_mul(n);
    // A type that has not been given yet may follow after the sections.
    let weights = if is_explicit.unwrap_or(true) { square } else { 0 };
    // Number, x, y and z; the same without z for a picture; two ends of a fixed edge.
    let room = Room::numbers(weights.saturating_add(n.saturating_mul(9)), format!("DIMENSION {n}"));
    // The shortest text, of a triangle or of coordinates, and the data built from it.
    room.in_memory(match is_explicit {
        Some(true) => square.saturating_mul(1 + WEIGHT),
        _ => n.saturating_mul(LINE + PLACE),
    })
}

/// Minimum number of nodes for which all threads read, and the bytes that one reads at a time.
const MANY: usize = 1 << 16;
const PIECE: usize = 1 << 18;

/// Minimum number of bytes of a line `number x y`.
const LINE: u64 = 6;
/// Bytes of memory for a place: its number, and its coordinates in file order and in number order.
const PLACE: u64 = (size_of::<u32>() + 2 * size_of::<[f64; 3]>()) as u64;
/// Bytes of memory for a weight.
const WEIGHT: u64 = size_of::<i32>() as u64;

/// Parses an instance from the bytes of a TSPLIB file; `file` is named in errors, `fallback` is the instance's name if the file has
/// none.
///
/// Nodes may be numbered from 1, from 0, or in any other way without repetition. If the numbers are consecutive, they determine the
/// order; otherwise the file order is kept.
///
/// # Errors
/// If the file is no instance of TSPLIB, contradicts itself, or has something that is not understood; the place and the remedy are
/// in the error.
pub fn parse(file: &str, fallback: &str, bytes: &[u8]) -> Result<Instance> {
    parse_with(file, fallback, bytes, &ReadOptions::default())
}

/// Does the same, with options.
pub(crate) fn parse_with(
    file: &str,
    fallback: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Instance> {
    let text = Text { file, bytes };
    let source = Source { text, entries: scan::entries(text)?, options };
    source.refuse_options_of_tables()?;
    // Report a file of another kind by its type rather than by its sections.
    let kind = source.kind()?;
    source.refuse_other_sections()?;
    source.refuse_contradictions()?;
    let n = source.dimension()?;
    let name = source.value("NAME").map(|value| text.show(value)).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| fallback.to_owned());
    let comments = source.all("COMMENT").map(|entry| text.show(entry.value)).collect();
    let coordinates = source.coordinates(n)?;
    let ids = coordinates.as_ref().and_then(|coordinates| coordinates.ids.clone());
    let places = source.display(n, ids.as_deref())?;
    let minutes =
        coordinates.as_ref().and_then(|coordinates| source.maybe_decimal_degrees(&coordinates.points));
    let degrees = coordinates.as_ref().and_then(|coordinates| source.maybe_degrees(&coordinates.points));
    let instance = match source.metric()? {
        Some(metric) => source.points_instance(name, metric, coordinates)?,
        None => {
            let places = places.or_else(|| coordinates.as_ref().map(Coordinates::plane));
            let instance = source.matrix_instance(name, n, kind)?;
            match places {
                Some(places) => instance.with_display(places),
                None => instance,
            }
        }
    };
    let instance = if kind == Kind::Atsp { instance.into_atsp() } else { instance };
    let fixed = source.fixed_edges(n, ids.as_deref())?;
    let instance = if let Some(ids) = ids { instance.with_ids(ids) } else { instance };
    let instance = instance.with_comments(comments).with_fixed_edges(fixed);
    let is_unrounded = options.unrounded || source.is_unrounded();
    let instance = if is_unrounded { instance.unrounded()? } else { instance };
    let warnings = minutes.into_iter().chain(degrees).chain(source.odd_weights(&instance)?);
    let instance = match instance.best_known() {
        Some(_) => instance,
        None => warnings.fold(instance, Instance::with_warning),
    };
    let rounding = match (source.metric()?, is_unrounded) {
        (None, _) => String::new(),
        _ if options.degrees => ", decimal degrees; great-circle metres".to_owned(),
        (_, true) => ", without rounding".to_owned(),
        _ => ", rounded to whole numbers".to_owned(),
    };
    let metric = source.metric()?.map_or("EXPLICIT", |metric| metric.keyword());
    Ok(instance.with_reading(format!("{} from {file}: TSPLIB, {metric}{rounding}", counted(n, "place"))))
}

/// The weights of a section: whole numbers as long as all of them are.
struct Weights {
    whole: Vec<i32>,
    others: Option<Vec<f64>>,
}

impl Weights {
    fn len(&self) -> usize {
        self.others.as_ref().map_or(self.whole.len(), Vec::len)
    }
}

/// The prefix of a metric without rounding; with rounding, the prefix is `EUC_` instead.
const UNROUNDED: &str = "EXACT_";

/// Words that may replace a weight if there is no connection.
const FORBIDDEN: [&str; 6] = ["inf", "+inf", "infinity", "nan", "null", "n/a"];

/// The nodes of a coordinate section.
struct Coordinates {
    points: Vec<[f64; 3]>,
    /// The numbers of the nodes, unless they are 1 to n.
    ids: Option<Vec<u32>>,
}

impl Coordinates {
    fn plane(&self) -> Vec<[f64; 2]> {
        self.points.iter().map(|p| [p[0], p[1]]).collect()
    }
}

/// Sections that are part of an instance.
const SECTIONS: [&str; 4] =
    ["NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION", "DISPLAY_DATA_SECTION", "FIXED_EDGES_SECTION"];

struct Source<'a> {
    text: Text<'a>,
    entries: Vec<Entry>,
    options: &'a ReadOptions,
}

impl Source<'_> {
    fn all(&self, keyword: &'static str) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.keyword == keyword)
    }

    fn value(&self, keyword: &'static str) -> Option<Part> {
        self.all(keyword).next().map(|entry| entry.value)
    }

    fn required(&self, keyword: &'static str, help: &str) -> Result<Part> {
        self.value(keyword).ok_or_else(|| self.text.content(format!("there is no {keyword}"), help))
    }

    fn kind(&self) -> Result<Kind> {
        let Some(value) = self.value("TYPE") else { return Ok(Kind::Tsp) };
        // TYPE may be followed by a name: `TSP (M.~Hofmeister)`.
        let word = Words::new(self.text, value).next().unwrap_or(value);
        match self.text.show(word).to_ascii_uppercase().as_str() {
            "TSP" => Ok(Kind::Tsp),
            "ATSP" => Ok(Kind::Atsp),
            "TOUR" => {
                let help = "give the instance it belongs to, a .tsp or .atsp file";
                Err(self.text.error_at(word, "this is a tour, not an instance", help))
            }
            other => {
                let problem = format!("problems of TYPE {other} are not travelling salesman problems");
                Err(self.text.error_at(word, problem, "only TYPE TSP and ATSP can be solved"))
            }
        }
    }

    fn is_geographic(&self) -> bool {
        matches!(self.metric(), Ok(Some(Metric::Geo | Metric::Geom)))
    }

    /// Returns a warning if coordinates of type GEO, whose decimals are minutes, look like decimal degrees.
    fn maybe_decimal_degrees(&self, points: &[[f64; 3]]) -> Option<String> {
        if self.options.degrees || !matches!(self.metric(), Ok(Some(Metric::Geo))) {
            return None;
        }
        let is_odd = |&degrees: &f64| {
            let minutes = 100.0 * degrees.abs().fract();
            minutes > 60.0 - 1e-6 || (minutes - minutes.round()).abs() > 1e-6
        };
        let odd = points.iter().flat_map(|point| [point[0], point[1]]).find(is_odd)?;
        let file = printable(self.text.file);
        Some(format!(
            "the coordinates of {file} are of type GEO, whose decimals are minutes: {odd} looks like decimal degrees; if they are, use `--degrees`"
        ))
    }

    /// Returns a warning if plane coordinates look like degrees.
    fn maybe_degrees(&self, points: &[[f64; 3]]) -> Option<String> {
        let is_plane = matches!(self.metric(), Ok(Some(Metric::Euc2d | Metric::Ceil2d | Metric::Floor2d)));
        Degrees::of(points).filter(|_| is_plane).map(|_| {
            format!(
                "the coordinates of {} are read as plane coordinates; if they are degrees, write them as CSV below a line `lat,lon` (or `lon,lat`)",
                printable(self.text.file)
            )
        })
    }

    /// Returns warnings about weights that may mean that there is no connection.
    fn odd_weights(&self, instance: &Instance) -> Result<Vec<String>> {
        let n = instance.len() as u32;
        if self.metric()?.is_some() || instance.best_known().is_some() {
            return Ok(Vec::new());
        }
        let pairs = (0..n).flat_map(|from| (0..n).map(move |to| (from, to))).filter(|(from, to)| from != to);
        let weights = pairs.map(|(from, to)| match instance.is_forbidden(from, to) {
            true => f64::INFINITY,
            false => instance.edge_cost(from, to),
        });
        Ok(odd_costs(weights, self.options, &printable(self.text.file)))
    }

    /// Rejects options that would have no effect.
    fn refuse_options_of_tables(&self) -> Result<()> {
        let options = self.options;
        let given = [
            (!options.columns.is_empty(), "--columns"),
            (options.no_header, "--no-header"),
            (options.degrees && !self.is_geographic(), "--degrees"),
            (options.shape == Some(Shape::Edges), "--as edges"),
        ];
        match given.into_iter().find(|(is_given, _)| *is_given) {
            None => Ok(()),
            Some((_, option)) => {
                let problem = format!(
                    "`{option}` is for tables, but this is a TSPLIB file, which describes its own content"
                );
                Err(self.text.content(problem, format!("leave out `{option}`")))
            }
        }
    }

    /// Rejects contradictions, where one of two statements would be ignored.
    fn refuse_contradictions(&self) -> Result<()> {
        let entry = |keyword: &'static str| self.all(keyword).next();
        if let Some(other) = entry("SALESMEN").or_else(|| entry("CAPACITY")).or_else(|| entry("VEHICLES")) {
            let is_one = other.keyword == "SALESMEN" && self.text.whole_number(other.value) == Some(1);
            if !is_one {
                let problem = format!("{} is not part of a travelling salesman problem", other.keyword);
                return Err(self.text.error_at(
                    other.keyword_part,
                    problem,
                    "only one tour for one salesman is computed: if that is what you want, remove the line",
                ));
            }
        }
        let Some(weights) = entry("EDGE_WEIGHT_SECTION") else { return Ok(()) };
        match entry("EDGE_WEIGHT_TYPE").map(|entry| self.text.show(entry.value)) {
            Some(metric) if !metric.eq_ignore_ascii_case("EXPLICIT") => {
                let problem = format!("there are explicit weights, but EDGE_WEIGHT_TYPE is {metric}");
                let help = "write `EDGE_WEIGHT_TYPE : EXPLICIT`, or remove the section";
                Err(self.text.error_at(weights.keyword_part, problem, help))
            }
            _ => Ok(()),
        }
    }

    /// Rejects other sections: a section that is not understood may change the problem, so it must not be skipped.
    fn refuse_other_sections(&self) -> Result<()> {
        let mut sections = self.entries.iter().filter(|entry| entry.keyword.ends_with("_SECTION"));
        match sections.find(|entry| !SECTIONS.contains(&entry.keyword.as_str())) {
            None => Ok(()),
            Some(entry) => {
                let problem = format!("{} is not a section of a travelling salesman problem", entry.keyword);
                let help = format!("the sections that can be read are {}", SECTIONS.join(", "));
                Err(self.text.error_at(entry.keyword_part, problem, help))
            }
        }
    }

    fn dimension(&self) -> Result<usize> {
        let value =
            self.required("DIMENSION", "add a line such as `DIMENSION : 52` with the number of nodes")?;
        match self.text.whole_number(value) {
            Some(n) if (1..=i64::from(i32::MAX)).contains(&n) => Ok(n as usize),
            _ => {
                let problem = format!("DIMENSION is `{}`", self.text.show(value));
                Err(self.text.error_at(value, problem, "give the number of nodes, between 1 and 2147483647"))
            }
        }
    }

    /// Returns the function of the coordinates, or `None` for explicit weights.
    fn metric(&self) -> Result<Option<Metric>> {
        let help = "add a line such as `EDGE_WEIGHT_TYPE : EUC_2D`";
        let value = match self.value("EDGE_WEIGHT_TYPE") {
            // The section alone implies EXPLICIT.
            None if self.value("EDGE_WEIGHT_SECTION").is_some() => return Ok(None),
            _ => self.required("EDGE_WEIGHT_TYPE", help)?,
        };
        let keyword = self.text.show(value).to_ascii_uppercase();
        if keyword == "EXPLICIT" {
            return Ok(None);
        }
        Metric::from_keyword(&keyword.replace(UNROUNDED, "EUC_")).map(Some).ok_or_else(|| {
            let known = Metric::ALL.map(Metric::keyword).join(", ");
            let problem = format!("the EDGE_WEIGHT_TYPE `{keyword}` cannot be computed");
            self.text.error_at(value, problem, format!("use EXPLICIT with a matrix, or one of {known}"))
        })
    }

    /// Returns whether the type itself says that distances are not rounded, like LKH's `EXACT_2D` and `EXACT_3D`.
    fn is_unrounded(&self) -> bool {
        let value = self.value("EDGE_WEIGHT_TYPE");
        value.is_some_and(|value| self.text.show(value).to_ascii_uppercase().starts_with(UNROUNDED))
    }

    fn points_instance(
        &self,
        name: String,
        metric: Metric,
        coordinates: Option<Coordinates>,
    ) -> Result<Instance> {
        let Some(coordinates) = coordinates else {
            let problem = format!("there is no NODE_COORD_SECTION, but {} needs one", metric.keyword());
            return Err(self
                .text
                .content(problem, "add the section, with a line `number x y` for every node"));
        };
        let instance = if self.options.degrees {
            Instance::from_degrees(name, coordinates.points.iter().map(|&[lat, lon, _]| [lat, lon]).collect())
        } else {
            Instance::from_points(name, metric, coordinates.points)
        };
        instance.map_err(|error| in_file(self.text.file, error))
    }

    fn matrix_instance(&self, name: String, n: usize, kind: Kind) -> Result<Instance> {
        let layout = self.layout()?;
        let Weights { whole, others } = self.weights(layout, n)?;
        let Some(others) = others else {
            let matrix = layout.expand(n, whole);
            self.refuse_asymmetry(kind, n, |at| f64::from(matrix[at]))?;
            return Instance::from_matrix(name, matrix).map_err(|error| in_file(self.text.file, error));
        };
        let matrix = layout.expand(n, others);
        self.refuse_asymmetry(kind, n, |at| matrix[at])?;
        instance_of(&name, matrix).map_err(|error| in_file(self.text.file, error))
    }

    /// Rejects a matrix that is not symmetric although the type says it is.
    fn refuse_asymmetry(&self, kind: Kind, n: usize, cost: impl Fn(usize) -> f64) -> Result<()> {
        let differ = |i: usize, j: usize| cost(i * n + j) != cost(j * n + i);
        let first = || (0..n).find_map(|i| (i + 1..n).find(|&j| differ(i, j)).map(|j| (i, j)));
        let Some((i, j)) = (kind == Kind::Tsp && !self.options.directed).then(first).flatten() else {
            return Ok(());
        };
        let (there, back) = (cost(i * n + j), cost(j * n + i));
        let (i, j) = (i + 1, j + 1);
        let problem = format!(
            "the matrix is not symmetric: {there} from node {i} to node {j}, but {back} in the other direction"
        );
        Err(self.text.content(problem, "write `TYPE : ATSP` if this is intended"))
    }

    fn layout(&self) -> Result<Layout> {
        let known = format!("the formats are {}", Layout::KEYWORDS.join(", "));
        let value = self.required("EDGE_WEIGHT_FORMAT", &known)?;
        let keyword = self.text.show(value).to_ascii_uppercase();
        Layout::from_keyword(&keyword).ok_or_else(|| {
            self.text.error_at(value, format!("EDGE_WEIGHT_FORMAT `{keyword}` is not a matrix layout"), known)
        })
    }

    fn weights(&self, layout: Layout, n: usize) -> Result<Weights> {
        let help = "add the section, or change EDGE_WEIGHT_TYPE if distances come from coordinates";
        let section = self.required("EDGE_WEIGHT_SECTION", help)?;
        let expected = layout.weights(n);
        // A weight takes at least two bytes: a wrong DIMENSION must not allocate memory.
        let capacity = expected.min((section.end - section.start) as u64 / 2 + 1);
        // A triangle is expanded to a square.
        let square = if layout == Layout::Full || capacity < expected { 0 } else { (n * n) as u64 };
        memory::check((capacity + square) * WEIGHT)
            .map_err(|shortage| self.text.no_room("the weights", shortage))?;
        let mut weights = Weights { whole: Vec::with_capacity(capacity as usize), others: None };
        let mut cells = layout.cells(n);
        let mut diagonal = None;
        for word in Words::new(self.text, section) {
            let Some((i, j)) = cells.next() else {
                let problem =
                    format!("there are more weights than the {expected} for {}", counted(n, "node"));
                return Err(self.text.error_at(word, problem, "check DIMENSION and EDGE_WEIGHT_FORMAT"));
            };
            // The diagonal is never used, but different numbers on it indicate another layout.
            if let Some(here) = self.text.number(word).filter(|_| i == j && layout.is_half()) {
                let first = *diagonal.get_or_insert(here);
                let is_cost = |weight: f64| weight > 0.0 && !may_be_no_way(weight);
                if here != first && (is_cost(here) || is_cost(first)) {
                    let problem = format!("the diagonal of the weights holds {first} and {here}");
                    let help = "give the EDGE_WEIGHT_FORMAT that matches the rows; if it is correct, write 0 on the diagonal";
                    return Err(self.text.error_at(word, problem, help));
                }
            }
            self.add(&mut weights, if i == j { 0.0 } else { self.weight(word)? }, n)?;
        }
        let found = weights.len();
        if found as u64 != expected {
            let problem =
                format!("the matrix has {}, but {n} nodes need {expected}", counted(found, "weight"));
            return Err(self.text.content(problem, "check DIMENSION and EDGE_WEIGHT_FORMAT"));
        }
        Ok(weights)
    }

    /// Adds a weight. The first one that is not a non-negative whole number turns all of them into floats.
    fn add(&self, weights: &mut Weights, weight: f64, n: usize) -> Result<()> {
        let is_whole = weight.fract() == 0.0 && (0.0..=f64::from(i32::MAX)).contains(&weight);
        match &mut weights.others {
            Some(others) => others.push(weight),
            None if is_whole => weights.whole.push(weight as i32),
            None => {
                let needed = ((weights.whole.capacity() + n * n) * size_of::<f64>()) as u64;
                memory::check(needed).map_err(|shortage| self.text.no_room("the weights", shortage))?;
                let mut others = Vec::with_capacity(weights.whole.capacity());
                others.extend(weights.whole.drain(..).map(f64::from));
                others.push(weight);
                weights.others = Some(others);
            }
        }
        Ok(())
    }

    /// Returns the weight of a word; infinite if there is no connection.
    fn weight(&self, word: Part) -> Result<f64> {
        let is_forbidden = |weight: f64| self.options.forbidden_from.is_some_and(|from| weight >= from);
        match self.text.number(word) {
            Some(weight) if is_forbidden(weight) => Ok(f64::INFINITY),
            Some(weight) => Ok(weight),
            None if FORBIDDEN.iter().any(|none| self.text.show(word).eq_ignore_ascii_case(none)) => {
                Ok(f64::INFINITY)
            }
            None => {
                let problem = format!("the weight `{}` is not a number", self.text.show(word));
                Err(self.text.error_at(word, problem, "write a number, or inf if there is no connection"))
            }
        }
    }

    fn coordinates(&self, n: usize) -> Result<Option<Coordinates>> {
        let Some(section) = self.value("NODE_COORD_SECTION") else { return Ok(None) };
        let declared = self.value("NODE_COORD_TYPE").map(|value| self.text.show(value).to_ascii_uppercase());
        let axes = match (declared.as_deref(), self.metric()?) {
            (Some("THREED_COORDS"), _) => 3,
            (_, Some(metric)) => metric.dimensions(),
            (_, None) => 2,
        };
        let (ids, points) = self.places(section, "NODE_COORD_SECTION", n, axes)?;
        let (points, ids) = in_order(points, ids);
        Ok(Some(Coordinates { points, ids }))
    }

    /// Returns the places to draw the nodes of a matrix at, in node order.
    fn display(&self, n: usize, ids: Option<&[u32]>) -> Result<Option<Vec<[f64; 2]>>> {
        let Some(section) = self.value("DISPLAY_DATA_SECTION") else { return Ok(None) };
        let (own, points) = self.places(section, "DISPLAY_DATA_SECTION", n, 2)?;
        let (points, own) = in_order(points, own);
        // Places with numbers other than those of the nodes cannot be assigned; losing the picture does no harm.
        Ok((own.as_deref() == ids).then(|| points.iter().map(|p| [p[0], p[1]]).collect()))
    }

    /// Reads the lines `number x y` of a section.
    fn places(
        &self,
        section: Part,
        keyword: &str,
        n: usize,
        axes: usize,
    ) -> Result<(Vec<u32>, Vec<[f64; 3]>)> {
        // Assume lines of minimum length, as above.
        let capacity = n.min((section.end - section.start) / LINE as usize + 1);
        memory::check(capacity as u64 * PLACE)
            .map_err(|shortage| self.text.no_room("the nodes", shortage))?;
        if let Some(read) = self.places_in_pieces(section, n, axes) {
            return Ok(read);
        }
        self.refuse_behind_end(section)?;
        let mut ids: Vec<u32> = Vec::with_capacity(capacity);
        let mut points = Vec::with_capacity(capacity);
        for line in self.rows(section) {
            if ids.len() == n {
                let problem = format!("{keyword} has more lines than DIMENSION, which is {n}");
                return Err(self.text.error_at(line, problem, "correct DIMENSION or remove the line"));
            }
            let (id, point) = self.place(line, axes)?;
            ids.push(id);
            points.push(point);
        }
        if ids.len() != n {
            let problem = format!("{keyword} has {}, but DIMENSION is {n}", counted(ids.len(), "line"));
            return Err(self.text.content(problem, "correct DIMENSION or add the missing lines"));
        }
        match first_repetition(&ids).and_then(|at| self.rows(section).nth(at).map(|line| (ids[at], line))) {
            None => Ok((ids, points)),
            Some((id, line)) => {
                let problem = format!("the number {id} is used for a second node");
                Err(self.text.error_at(line, problem, "give every node a unique number"))
            }
        }
    }

    /// Reads the lines of a long section with all threads. Returns `None` if anything is wrong: line by line, errors are found in
    /// their order.
    fn places_in_pieces(&self, section: Part, n: usize, axes: usize) -> Option<(Vec<u32>, Vec<[f64; 3]>)> {
        let bytes = self.text.bytes;
        if n < MANY || section.end - section.start < n * LINE as usize {
            return None;
        }
        let written = bytes[section.start..section.end].trim_ascii_end();
        // After the end of a line, -1 is a line of its own.
        let written = written.strip_suffix(b"\n-1").unwrap_or(written);
        let pieces = scan::pieces(bytes, Part { end: section.start + written.len(), ..section }, PIECE);
        let lines = |piece: &Part| scan::lines(bytes, *piece).filter(|line| line.start < line.end);
        let mut end = 0;
        let ends: Vec<usize> = parallel::collect(pieces.len(), &|piece| lines(&pieces[piece]).count())
            .into_iter()
            .map(|count| {
                end += count;
                end
            })
            .collect();
        if end != n {
            return None;
        }
        let (mut ids, mut points) = (vec![0; n], vec![[0.0; 3]; n]);
        let parts = parallel::split(&mut ids, ends.iter().copied()).into_iter();
        let mut parts: Vec<_> = parts.zip(parallel::split(&mut points, ends)).collect();
        // Creating an error takes long, and only the first one counts.
        let is_wrong = AtomicBool::new(false);
        parallel::each_of(&mut parts, 1, &|piece, (ids, points)| {
            for ((line, id), point) in lines(&pieces[piece]).zip(ids.iter_mut()).zip(points.iter_mut()) {
                if is_wrong.load(Ordering::Relaxed) {
                    return;
                }
                match self.place(line, axes) {
                    Ok(place) => (*id, *point) = place,
                    Err(_) => is_wrong.store(true, Ordering::Relaxed),
                }
            }
        });
        (!is_wrong.into_inner() && first_repetition(&ids).is_none()).then_some((ids, points))
    }

    /// Rejects lines after the -1 with which some writers end sections.
    fn refuse_behind_end(&self, section: Part) -> Result<()> {
        let bytes = self.text.bytes;
        let is_end = |line: &Part| &bytes[line.start..line.end] == b"-1";
        let mut lines = scan::lines(bytes, section).skip_while(|line| !is_end(line));
        match lines.find(|line| line.start < line.end && !is_end(line)) {
            None => Ok(()),
            Some(line) => Err(self.text.error_at(
                line,
                "the section continues after its -1",
                "write -1 after the last line only",
            )),
        }
    }

    /// Returns the lines of a section that have content. Some writers end sections with -1, like tours.
    fn rows(&self, section: Part) -> impl Iterator<Item = Part> {
        let bytes = self.text.bytes;
        scan::lines(bytes, section).filter(|line| !matches!(&bytes[line.start..line.end], b"" | b"-1"))
    }

    fn place(&self, line: Part, axes: usize) -> Result<(u32, [f64; 3])> {
        let mut words = Words::new(self.text, line);
        let first = words.next().unwrap_or(line);
        let id = self.node_id(first)?;
        let mut point = [0.0; 3];
        for (axis, coordinate) in point.iter_mut().enumerate().take(axes) {
            let Some(word) = words.next() else {
                let problem = format!("the line has {axis} coordinates, but {axes} are needed");
                return Err(self.text.error_at(
                    line,
                    problem,
                    "write the number of the node, then its coordinates",
                ));
            };
            *coordinate = self.text.number(word).ok_or_else(|| {
                let problem = format!("the coordinate `{}` is not a finite number", self.text.show(word));
                self.text.error_at(word, problem, "write coordinates such as 12, -3.5 or 2.1e+03")
            })?;
        }
        match words.next() {
            None => Ok((id, point)),
            Some(word) => {
                let problem = format!("the line has more than {axes} coordinates");
                Err(self.text.error_at(
                    word,
                    problem,
                    "check EDGE_WEIGHT_TYPE, or remove the rest of the line",
                ))
            }
        }
    }

    fn node_id(&self, word: Part) -> Result<u32> {
        self.text.whole_number(word).and_then(|id| u32::try_from(id).ok()).ok_or_else(|| {
            let problem = format!("`{}` is not the number of a node", self.text.show(word));
            self.text.error_at(word, problem, "number the nodes from 1")
        })
    }

    fn fixed_edges(&self, n: usize, ids: Option<&[u32]>) -> Result<Vec<(u32, u32)>> {
        let Some(section) = self.value("FIXED_EDGES_SECTION") else { return Ok(Vec::new()) };
        let numbers = NodeNumbers::new(n, ids);
        let mut ends = Vec::new();
        let mut words = Words::new(self.text, section);
        for word in words.by_ref() {
            if self.text.whole_number(word) == Some(-1) {
                break;
            }
            let id = self.node_id(word)?;
            let node = numbers.node(id).ok_or_else(|| {
                let problem = format!("the fixed edge joins node {id}, which does not exist");
                self.text.error_at(word, problem, "correct the edge or remove it")
            })?;
            ends.push(node);
        }
        if let Some(word) = words.find(|&word| self.text.whole_number(word) != Some(-1)) {
            let help = "write -1 after the last fixed edge only";
            return Err(self.text.error_at(word, "the section continues after its -1", help));
        }
        if !ends.len().is_multiple_of(2) {
            let help = "write two nodes for every fixed edge, and -1 after the last edge";
            return Err(self.text.error_at(section, "the last fixed edge has only one end", help));
        }
        Ok(ends.chunks_exact(2).map(|ends| (ends[0], ends[1])).collect())
    }
}

/// Returns the first position whose number also appears at an earlier one.
fn first_repetition(ids: &[u32]) -> Option<usize> {
    if ids.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let mut seen = HashSet::with_capacity(ids.len());
    ids.iter().position(|id| !seen.insert(id))
}

/// Returns the points in the order of their numbers if those are consecutive from 0 or 1, else in file order; and the numbers,
/// unless they are 1 to n.
fn in_order(points: Vec<[f64; 3]>, ids: Vec<u32>) -> (Vec<[f64; 3]>, Option<Vec<u32>>) {
    let low = ids.iter().copied().min().unwrap_or(1);
    let high = ids.iter().copied().max().unwrap_or(1);
    // The numbers are distinct, so they are consecutive if their count matches their range.
    if low > 1 || (high - low) as usize != ids.len() - 1 {
        return (points, Some(ids));
    }
    let points = if ids.is_sorted() {
        points
    } else {
        let mut ordered = points.clone();
        for (&id, point) in ids.iter().zip(points) {
            ordered[(id - low) as usize] = point;
        }
        ordered
    };
    (points, (low == 0).then(|| (0..=high).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = MANY + 4321;

    fn file(end: &str, line: impl Fn(usize) -> String) -> String {
        let head =
            ["TYPE : TSP", &format!("DIMENSION : {N}"), "EDGE_WEIGHT_TYPE : EUC_2D", "NODE_COORD_SECTION"];
        let lines = head.into_iter().map(str::to_owned).chain((1..=N).map(line));
        lines.map(|line| line + end).collect()
    }

    fn line(id: usize) -> String {
        format!("  {id} {}.25\t{}e-1", id * 7919 % 10_007, id)
    }

    fn error(text: &str) -> String {
        parse("f.tsp", "f", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn long_sections_are_read_in_pieces() {
        let expected: Vec<[f64; 3]> = (1..=N)
            .map(|id| [(id * 7919 % 10_007) as f64 + 0.25, format!("{id}e-1").parse().unwrap(), 0.0])
            .collect();
        for end in ["\n", "\r\n", "\r", " \n\n"] {
            for last in ["", "EOF\n", "-1\nEOF\n", "-1", "FIXED_EDGES_SECTION\n1 2\n-1\nEOF"] {
                let text = file(end, line) + last;
                let instance = parse("f.tsp", "f", text.as_bytes())
                    .unwrap_or_else(|error| panic!("{end:?} {last}: {error}"));
                assert!(instance.points().unwrap() == expected, "{end:?} {last}");
                assert_eq!(instance.fixed_edges().len(), usize::from(last.starts_with("FIXED")));
            }
        }
        // Numbers from 0, in descending order.
        let text = file("\n", |id| format!("{} {id} 0", N - id));
        let instance = parse("f.tsp", "f", text.as_bytes()).unwrap();
        assert_eq!((instance.points().unwrap()[0][0], instance.id(0)), (N as f64, 0));
    }

    #[test]
    fn errors_in_long_sections_name_the_first_wrong_line() {
        let wrong = |at: usize, new: &str| {
            error(&file("\n", |id| {
                if id >= at && id < at + 30_000 { new.replace('#', &id.to_string()) } else { line(id) }
            }))
        };
        let number = |at: usize| format!("f.tsp:{}:", at + 4);
        let first = wrong(20_000, "# 1 x");
        assert!(first.contains(&number(20_000)) && first.contains("`x` is not a finite number"), "{first}");
        let first = wrong(20_001, "# 1");
        assert!(first.contains(&number(20_001)) && first.contains("the line has 1 coordinates"), "{first}");
        let first = wrong(20_002, "7 1 2");
        assert!(first.contains(&number(20_002)) && first.contains("7 is used for a second node"), "{first}");
        let first = wrong(20_003, "-1");
        assert!(first.contains(&number(50_003)) && first.contains("continues after its -1"), "{first}");
        let more = error(&(file("\n", line) + "1000000 1 1\n"));
        assert!(more.contains(&number(N + 1)) && more.contains("more lines than DIMENSION"), "{more}");
        let text = file("\n", line);
        let fewer = error(&text[..text.trim_end().rfind('\n').unwrap()]);
        assert!(fewer.contains(&format!("has {} lines, but DIMENSION is {N}", N - 1)), "{fewer}");
        let word = error(&text.replace("\n  40000 ", "\n  x40000 "));
        assert!(word.contains(&number(40_000)), "{word}");
    }
}
