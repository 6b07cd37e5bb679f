//! Random instance files, in all the ways that such files are written, each with what it says for the judge.

use crate::draws::Draws;
use crate::judge::tsplib::{self, FORMATS, cells};
use crate::judge::{Instance, Weights, metric};

/// A file.
pub struct File {
    /// How its name ends.
    pub extension: &'static str,
    pub text: String,
    /// Read by the judge, or what the table was made of.
    pub judge: Instance,
    /// Whether algorithms that need symmetry take it.
    pub is_symmetric: bool,
}

impl File {
    /// One of any kind, of `n` nodes.
    pub fn random(draws: &mut Draws, n: usize) -> File {
        match draws.below(20) {
            0..4 if n > 2 => File::table(draws, n),
            0..8 => File::explicit(draws, n, false),
            8..11 => File::explicit(draws, n, true),
            _ => File::places(draws, n),
        }
    }

    fn tsplib(extension: &'static str, text: String, is_symmetric: bool) -> File {
        File { extension, judge: tsplib::read(&text), text, is_symmetric }
    }

    /// A TSPLIB file of places.
    fn places(draws: &mut Draws, n: usize) -> File {
        let metric = draws.one_of(&metric::ALL);
        let mut axes = metric::axes(metric);
        let places = places(draws, metric, n);
        let mut text = Text::new(draws);
        text.keyword("EDGE_WEIGHT_TYPE", metric);
        if axes == 3 {
            text.sometimes("NODE_COORD_TYPE", "THREED_COORDS");
        } else if text.draws.chance(0.1) {
            // A third coordinate that the metric does not look at.
            axes = 3;
            text.keyword("NODE_COORD_TYPE", "THREED_COORDS");
        } else {
            text.sometimes("NODE_COORD_TYPE", "TWOD_COORDS");
        }
        text.sometimes("DISPLAY_DATA_TYPE", "COORD_DISPLAY");
        let ids = text.ids(n);
        let rows = text.rows(&ids, places.iter().map(|place| place[..axes].to_vec()).collect());
        text.section("NODE_COORD_SECTION", rows);
        text.fixed_edges(&ids);
        File::tsplib("tsp", text.written("TSP", n), true)
    }

    /// A TSPLIB file of a matrix.
    fn explicit(draws: &mut Draws, n: usize, is_directed: bool) -> File {
        let rows = matrix(draws, n, is_directed);
        let format = if is_directed { FORMATS[0] } else { draws.one_of(&FORMATS) };
        let mut text = Text::new(draws);
        text.keyword("EDGE_WEIGHT_FORMAT", format);
        text.sometimes("EDGE_WEIGHT_TYPE", "EXPLICIT");
        // Whatever stands on the diagonal is not used.
        let diagonal = text.draws.one_of(&[0, 0, 7, 9_999_999]);
        let weight = |(i, j): (usize, usize)| if i == j { diagonal } else { rows[i][j] };
        let words = cells(format, n).into_iter().map(weight).map(|weight| spelled(text.draws, weight as f64));
        let words: Vec<String> = words.collect();
        let width = text.draws.one_of(&[1, 2, n, n * n]);
        text.section("EDGE_WEIGHT_SECTION", words.chunks(width).map(<[String]>::to_vec).collect());
        let mut ids: Vec<i64> = (1..=n as i64).collect();
        text.fixed_edges(&ids);
        if text.draws.chance(0.2) {
            text.draws.shuffle(&mut ids);
            let places = ids.iter().map(|&id| vec![id as f64, 2.5]).collect();
            let rows = text.rows(&ids, places);
            text.keyword("DISPLAY_DATA_TYPE", "TWOD_DISPLAY");
            let section = text.draws.one_of(&["DISPLAY_DATA_SECTION", "NODE_COORD_SECTION"]);
            text.section(section, rows);
        }
        let kind = if is_directed { "ATSP" } else { "TSP" };
        File::tsplib(if is_directed { "atsp" } else { "tsp" }, text.written(kind, n), !is_directed)
    }

    /// A table: a matrix of whole numbers with labels, or without where nothing else has its shape.
    fn table(draws: &mut Draws, n: usize) -> File {
        let is_directed = draws.chance(0.5);
        let rows = matrix(draws, n, is_directed);
        let separator = draws.one_of(&[",", ";", "\t", " ", ", ", "   "]);
        let end = draws.one_of(&["\n", "\r\n", "\r"]);
        let mut text = draws.one_of(&["", "\u{feff}", "# costs\n", "\n\n"]).replace('\n', end);
        if n < 5 || draws.chance(0.5) {
            let labels: Vec<String> = (1..=n).map(|label| format!("p{label}")).collect();
            text += &(labels.join(separator) + end);
        }
        for row in &rows {
            let words: Vec<String> = row.iter().map(|&weight| spelled(draws, weight as f64)).collect();
            text += &words.join(separator);
            text += end;
            if draws.chance(0.05) {
                text += &format!("# comment, {separator}{end}{end}");
            }
        }
        if draws.chance(0.3) {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        let judge = Instance::numbered(n, Weights::Matrix(rows));
        let extension = draws.one_of(&["csv", "tsv", "txt", "xy"]);
        File { extension, text, is_symmetric: judge.is_symmetric(), judge }
    }
}

/// Places: spread out or near each other, on a grid or not, many of them the same.
fn places(draws: &mut Draws, metric: &str, n: usize) -> Vec<[f64; 3]> {
    if metric == "GEO" {
        let around = draws.one_of(&[[0, 0], [48, 11], [-89, 179], [89, -179]]);
        let spread = draws.one_of(&[0, 1, 20, 180]);
        let degrees = |draws: &mut Draws, at: i64, most: i64| {
            let whole = (at + draws.between(-spread, spread)).clamp(-most, most);
            whole as f64 + draws.between(0, 59) as f64 / if whole < 0 { -100.0 } else { 100.0 }
        };
        let mut place = || [degrees(draws, around[0], 89), degrees(draws, around[1], 179), 0.0];
        return (0..n).map(|_| place()).collect();
    }
    let spread = match metric {
        "XRAY1" | "XRAY2" => draws.one_of(&[0.0, 3.0, 90.0, 360.0, 5e6]),
        _ => draws.one_of(&[0.0, 1.0, 3.0, 20.0, 1000.0, 1e5, 1e7, 6e8]),
    };
    let digits = draws.one_of(&[1.0, 1.0, 2.0, 1000.0]);
    let corner = draws.one_of(&[0.0, 0.0, -0.5, 1e4]) * spread;
    let number = |draws: &mut Draws| corner + (draws.unit() * spread * digits).round() / digits;
    // A few clusters that are far from each other, or a few places with several nodes each.
    let centers =
        draws.maybe(|draws| (0..1 + draws.below(3)).map(|_| [(); 3].map(|()| number(draws))).collect());
    let (centers, near): (Vec<[f64; 3]>, f64) = (centers.unwrap_or_default(), draws.one_of(&[0.0, 1.0, 5.0]));
    let mut place = || {
        if centers.is_empty() {
            return [(); 3].map(|()| number(draws));
        }
        draws.one_of(&centers).map(|c| c + (draws.unit() * near).round())
    };
    (0..n).map(|_| place()).collect()
}

/// Weights: of one size or of many, with zeros, without the triangle inequality.
fn matrix(draws: &mut Draws, n: usize, is_directed: bool) -> Vec<Vec<i64>> {
    let span = draws.one_of(&[0, 1, 5, 100, 1_000_000, 2_147_483_647]);
    let is_wide = draws.chance(0.3);
    let zeros = draws.one_of(&[0.0, 0.0, 0.1, 0.7]);
    let weight = |draws: &mut Draws| match () {
        () if draws.chance(zeros) => 0,
        () if is_wide => 10f64.powf(9.3 * draws.unit()) as i64,
        () => draws.between(0, span),
    };
    let mut rows = vec![vec![0; n]; n];
    for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
        rows[i][j] = weight(draws);
        rows[j][i] = if is_directed { weight(draws) } else { rows[i][j] };
    }
    rows
}

/// A number in one of the ways to write it.
pub fn spelled(draws: &mut Draws, number: f64) -> String {
    let plain = format!("{number}");
    let is_whole = number.fract() == 0.0;
    match draws.below(16) {
        0 if number >= 0.0 => format!("+{plain}"),
        1 if is_whole => format!("{plain}."),
        2 if is_whole => format!("{plain}.0"),
        3 => format!("{number:e}"),
        4 => format!("{number:E}"),
        5 => format!("{number:e}").replace('e', "e+").replace("e+-", "e-"),
        6 if plain.starts_with("0.") => plain[1..].to_owned(),
        7 if number >= 0.0 => format!("00{plain}"),
        8 if plain.contains('.') => format!("{plain}00"),
        _ => plain,
    }
}

/// A TSPLIB file that is being written.
struct Text<'d> {
    draws: &'d mut Draws,
    keywords: Vec<String>,
    sections: Vec<String>,
}

impl Text<'_> {
    fn new(draws: &mut Draws) -> Text<'_> {
        Text { draws, keywords: Vec::new(), sections: Vec::new() }
    }

    fn keyword(&mut self, keyword: &str, value: &str) {
        let colon = self.draws.one_of(&[" : ", ": ", ":", "\t:\t", " :"]);
        let line = if self.draws.chance(0.1) { keyword.to_lowercase() } else { keyword.to_owned() };
        let value = if self.draws.chance(0.1) { value.to_lowercase() } else { value.to_owned() };
        self.keywords.push(line + colon + &value);
    }

    fn sometimes(&mut self, keyword: &str, value: &str) {
        if self.draws.chance(0.5) {
            self.keyword(keyword, value);
        }
    }

    fn section(&mut self, keyword: &str, rows: Vec<Vec<String>>) {
        let mut lines = vec![keyword.to_owned() + self.draws.one_of(&["", "", "", " ", ":", " :"])];
        let indent = self.draws.one_of(&["", "", " ", "\t  "]);
        let blank = self.draws.one_of(&[" ", "  ", "\t", " \t "]);
        for row in rows {
            lines.push(indent.to_owned() + &row.join(blank) + self.draws.one_of(&["", "", " ", "\t"]));
            if self.draws.chance(0.05) {
                lines.push(String::new());
            }
        }
        if keyword == "NODE_COORD_SECTION" && self.draws.chance(0.1) {
            lines.push("-1".to_owned());
        }
        self.sections.push(lines.join("\n"));
    }

    /// Numbers of nodes: from 1 or 0 in any order, or any numbers.
    fn ids(&mut self, n: usize) -> Vec<i64> {
        let mut ids: Vec<i64> = match self.draws.below(6) {
            0 => (0..n as i64).collect(),
            1 => (0..n as i64).map(|i| 7 + 10 * i).collect(),
            _ => (1..=n as i64).collect(),
        };
        if self.draws.chance(0.3) {
            self.draws.shuffle(&mut ids);
        }
        ids
    }

    /// Lines of numbers of nodes and coordinates.
    fn rows(&mut self, ids: &[i64], places: Vec<Vec<f64>>) -> Vec<Vec<String>> {
        let row = |(&id, place): (&i64, Vec<f64>)| {
            let words = std::iter::once(id as f64).chain(place);
            words.map(|number| spelled(self.draws, number)).collect()
        };
        ids.iter().zip(places).map(row).collect()
    }

    /// Now and then some edges of a way through the nodes, none twice.
    fn fixed_edges(&mut self, ids: &[i64]) {
        if ids.len() < 2 || !self.draws.chance(0.05) {
            return;
        }
        let mut way = ids.to_vec();
        self.draws.shuffle(&mut way);
        let edges = way.windows(2).take(1 + self.draws.below(3));
        let mut rows: Vec<Vec<String>> =
            edges.map(|edge| edge.iter().map(ToString::to_string).collect()).collect();
        rows.push(vec!["-1".to_owned()]);
        self.section("FIXED_EDGES_SECTION", rows);
    }

    /// The whole file.
    fn written(mut self, kind: &str, n: usize) -> String {
        let dimension = spelled(self.draws, n as f64);
        self.keyword("DIMENSION", &dimension);
        self.keyword("TYPE", kind);
        self.sometimes("NAME", "r a n d o m");
        if self.draws.chance(0.3) {
            self.keyword("COMMENT", "first");
            self.keyword("COMMENT", "of: two\n going on");
        }
        self.draws.shuffle(&mut self.keywords);
        self.draws.shuffle(&mut self.sections);
        let mut text = [self.keywords, self.sections].concat().join(self.draws.one_of(&["\n", "\n", "\n\n"]));
        text += self.draws.one_of(&["\nEOF\n", "\nEOF", "\n", "", "\n\nEOF\n\n"]);
        if self.draws.chance(0.1) {
            text.insert(0, '\u{feff}');
        }
        text.replace('\n', self.draws.one_of(&["\n", "\n", "\r\n", "\r"]))
    }
}
