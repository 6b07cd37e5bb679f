//! Instance files of TSPLIB 95, section 1.

use std::collections::HashMap;

use super::{Instance, Weights, metric};

/// The lines of a text, which end by a line feed, a carriage return or both.
pub fn lines(text: &str) -> Vec<String> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    text.split('\n').map(|line| line.trim().to_owned()).collect()
}

/// The values of keywords, and the lines of sections.
struct Parts {
    values: HashMap<String, String>,
    sections: HashMap<String, Vec<String>>,
}

fn parts(text: &str) -> Parts {
    let (mut values, mut sections) = (HashMap::new(), HashMap::<String, Vec<String>>::new());
    let mut section: Option<String> = None;
    for line in lines(text) {
        if !line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            if let Some(name) = &section {
                sections.get_mut(name).unwrap().push(line);
            }
            continue;
        }
        let (word, rest) = line.split_at(line.find([':', ' ', '\t']).unwrap_or(line.len()));
        let word = word.to_uppercase();
        let rest = rest.trim_start();
        if word == "EOF" {
            break;
        }
        if word.ends_with("_SECTION") {
            sections.insert(word.clone(), vec![rest.trim_start_matches(':').trim().to_owned()]);
            section = Some(word);
        } else if let Some(value) = rest.strip_prefix(':') {
            section = None;
            values.insert(word, value.trim().to_owned());
        }
    }
    Parts { values, sections }
}

/// Numbers between blanks.
fn numbers(lines: &[String]) -> Vec<f64> {
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    words.map(|word| word.parse().unwrap_or_else(|_| panic!("{word}"))).collect()
}

/// Reads an instance.
///
/// # Panics
/// If it is none.
pub fn read(text: &str) -> Instance {
    let Parts { values, sections } = parts(text);
    let n = values["DIMENSION"].parse::<f64>().unwrap() as usize;
    let (mut ids, mut places) = ((1..=n as i64).collect::<Vec<_>>(), Vec::new());
    if let Some(lines) = sections.get("NODE_COORD_SECTION") {
        let rows = lines.iter().filter(|line| !line.is_empty() && *line != "-1");
        let rows: Vec<Vec<f64>> = rows.map(|line| numbers(std::slice::from_ref(line))).collect();
        assert_eq!(rows.len(), n);
        ids = rows.iter().map(|row| row[0] as i64).collect();
        places = rows.iter().map(|row| [row[1], row[2], row.get(3).copied().unwrap_or(0.0)]).collect();
    }
    let kind = values.get("EDGE_WEIGHT_TYPE").map_or("EXPLICIT".to_owned(), |kind| kind.to_uppercase());
    let weights = if kind == "EXPLICIT" {
        // The rows of a matrix are those of node 1, 2 and so on, in whatever order their places stand.
        ids.sort_unstable();
        Weights::Matrix(matrix(&values["EDGE_WEIGHT_FORMAT"], n, &numbers(&sections["EDGE_WEIGHT_SECTION"])))
    } else {
        assert!(metric::ALL.contains(&kind.as_str()), "{kind}");
        Weights::Places(kind, places)
    };
    let ends = sections.get("FIXED_EDGES_SECTION").map_or_else(Vec::new, |lines| numbers(lines));
    let ends: Vec<i64> = ends.into_iter().map(|end| end as i64).take_while(|&end| end != -1).collect();
    // The costs of places are the same in both directions, whatever the type says.
    let is_directed = values.get("TYPE").is_some_and(|kind| kind.eq_ignore_ascii_case("ATSP"))
        && matches!(weights, Weights::Matrix(_));
    let fixed = ends.chunks(2).map(|ends| (ends[0], ends[1])).collect();
    Instance { ids, weights, fixed, is_directed }
}

/// The layouts of explicit weights.
pub const FORMATS: [&str; 9] = [
    "FULL_MATRIX",
    "UPPER_ROW",
    "LOWER_ROW",
    "UPPER_DIAG_ROW",
    "LOWER_DIAG_ROW",
    "UPPER_COL",
    "LOWER_COL",
    "UPPER_DIAG_COL",
    "LOWER_DIAG_COL",
];

/// The row and column of each weight of a layout, one after the other.
pub fn cells(format: &str, n: usize) -> Vec<(usize, usize)> {
    let is_in = |i: usize, j: usize| match format.split('_').next().unwrap() {
        "FULL" => true,
        "UPPER" => i < j || i == j && format.contains("DIAG"),
        "LOWER" => i > j || i == j && format.contains("DIAG"),
        other => panic!("{other}"),
    };
    let all = (0..n).flat_map(|outer| (0..n).map(move |inner| (outer, inner)));
    let turned =
        all.map(|(outer, inner)| if format.ends_with("COL") { (inner, outer) } else { (outer, inner) });
    turned.filter(|&(i, j)| is_in(i, j)).collect()
}

fn matrix(format: &str, n: usize, numbers: &[f64]) -> Vec<Vec<i64>> {
    let format = format.to_uppercase();
    let mut rows = vec![vec![0; n]; n];
    let cells = cells(&format, n);
    assert_eq!(cells.len(), numbers.len(), "{format}");
    for ((i, j), &number) in cells.into_iter().zip(numbers) {
        rows[i][j] = number as i64;
        if format != "FULL_MATRIX" {
            rows[j][i] = number as i64;
        }
    }
    rows
}
