//! TSPLIB tour files.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use super::atomic_file;
use super::error::{InstanceError, Result, Text, TourError};
use super::model::Instance;
use super::source::{self, Room};
use super::tsplib::scan::{self, Part, Words};

/// Reads a tour of an instance; the nodes come back numbered from 0, every one exactly once.
pub fn read(path: &Path, instance: &Instance) -> Result<Vec<u32>> {
    let room =
        |_: Text<'_>| Room::numbers(instance.len() as u64, format!("a tour of {} nodes", instance.len()));
    parse(&path.to_string_lossy(), &source::load(path, room)?, instance)
}

/// Makes a tour of the bytes of a tour file, or of a bare list of nodes; `file` stands in errors.
///
/// The numbers are those of the instance's file. The list ends at -1, at a keyword or at the end. A file of several tours is
/// refused.
pub fn parse(file: &str, bytes: &[u8], instance: &Instance) -> Result<Vec<u32>> {
    let text = Text { file, bytes };
    let section = section(text, instance)?;
    let numbers = instance.node_numbers();
    let mut tour = Vec::with_capacity(instance.len());
    let mut nodes = Vec::with_capacity(instance.len());
    let mut words = Words::new(text, section);
    for word in words.by_ref() {
        let id = text.whole_number(word).ok_or_else(|| {
            let problem = format!("`{}` is not the number of a node", text.show(word));
            text.error_at(word, problem, "list the nodes by their numbers, and -1 after the last")
        })?;
        if id == -1 {
            break;
        }
        let node = u32::try_from(id).ok().and_then(|id| numbers.node(id)).ok_or_else(|| {
            let (first, last) = (instance.id(0), instance.id(instance.len() as u32 - 1));
            let problem = format!("{} has no node {id}", instance.name());
            text.error_at(
                word,
                problem,
                format!("number the nodes as the instance does, from {first} to {last}"),
            )
        })?;
        tour.push(node);
        nodes.push(word);
    }
    instance.check_tour(&tour).map_err(|error| not_a_tour(text, instance, &nodes, error))?;
    match words.find(|word| !matches!(&bytes[word.start..word.end], b"-1" | b"EOF")) {
        None => Ok(tour),
        Some(word) => {
            let help = "give a file of one tour; a population is read by solve --algorithm ga --resume";
            Err(text.error_at(word, "the file goes on behind its tour", help))
        }
    }
}

/// Where the nodes stand.
fn section(text: Text<'_>, instance: &Instance) -> Result<Part> {
    let all = scan::whole(text.bytes);
    let first = text.bytes[all.start..].trim_ascii_start().first();
    if first.is_some_and(u8::is_ascii_digit) {
        return Ok(all);
    }
    let entries = scan::entries(text)?;
    let value =
        |keyword: &str| entries.iter().find(|entry| entry.keyword == keyword).map(|entry| entry.value);
    // TYPE may be followed by a name.
    let kind = value("TYPE").and_then(|value| Words::new(text, value).next());
    if let Some(kind) = kind.filter(|&kind| !text.show(kind).eq_ignore_ascii_case("TOUR")) {
        let problem = format!("this is a file of TYPE {}, not a TOUR", text.show(kind));
        return Err(text.error_at(kind, problem, "give a TSPLIB tour file, or a bare list of node numbers"));
    }
    let n = instance.len();
    if let Some(value) = value("DIMENSION").filter(|&value| text.whole_number(value) != Some(n as i64)) {
        let problem = format!("this is a tour of {} nodes, {} has {n}", text.show(value), instance.name());
        return Err(text.error_at(value, problem, "give the instance that it is a tour of"));
    }
    value("TOUR_SECTION").ok_or_else(|| {
        let help = "give a TSPLIB tour file, or a bare list of node numbers";
        text.content("there is no TOUR_SECTION", help)
    })
}

/// The same error in the file's own numbers, at its place.
fn not_a_tour(text: Text<'_>, instance: &Instance, words: &[Part], error: TourError) -> InstanceError {
    let help = format!("a tour of {} visits each of its {} nodes once", instance.name(), instance.len());
    match error {
        TourError::Repeated { node, position, missing } => {
            let (node, missing) = (instance.id(node), instance.id(missing));
            let problem = format!("node {node} is visited a second time; node {missing} is missing");
            text.error_at(words[position], problem, help)
        }
        other => text.content(other.to_string(), help),
    }
}

/// Writes a tour of an instance to a file, which is the old or the whole new one at any time.
pub fn save(instance: &Instance, tour: &[u32], path: &Path) -> Result<()> {
    instance.check_tour(tour).map_err(|error| {
        InstanceError::content(instance.name(), error.to_string(), "this is an error of the caller")
    })?;
    let cost = instance.tour_cost(tour);
    atomic_file::write(path, |mut out| write(instance, tour, cost, &mut out))
}

/// Writes a tour that costs so much, in the user's unit, as a TSPLIB tour file.
pub fn write(instance: &Instance, tour: &[u32], cost: impl Display, out: &mut impl Write) -> io::Result<()> {
    let name = super::tsplib::one_line(instance.name());
    writeln!(out, "NAME : {name}.tour\nCOMMENT : length {cost}\nTYPE : TOUR")?;
    writeln!(out, "DIMENSION : {}\nTOUR_SECTION", tour.len())?;
    for &node in tour {
        writeln!(out, "{}", instance.id(node))?;
    }
    writeln!(out, "-1\nEOF")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::Metric;

    fn line_of_four() -> Instance {
        let points = (0..4).map(|x| [f64::from(x), 0.0, 0.0]).collect();
        Instance::from_points("line", Metric::Euc2d, points).unwrap()
    }

    fn tour(text: &str) -> std::result::Result<Vec<u32>, String> {
        parse("t.tour", text.as_bytes(), &line_of_four()).map_err(|error| error.to_string())
    }

    #[test]
    fn tours_come_in_many_shapes() {
        let expected = Ok(vec![1, 0, 2, 3]);
        for text in [
            "NAME : x\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n2\n1\n3\n4\n-1\nEOF\n",
            "NAME: x\r\nTYPE: TOUR\r\nTOUR_SECTION \r\n2 1\r\n3   4 -1\r\n\r\nEOF\r\n\r\n",
            "TOUR_SECTION:\n2 1 3 4",
            "TOUR_SECTION\n2 1 3 4\nEOF",
            "TYPE : tour (of a friend)\nTOUR_SECTION\n2 1 3 4 -1\n-1\nEOF",
            " 2 1\n3 4\n",
            "2 1 3 4 -1\n-1\nEOF\n",
            "\u{feff}2 1\r3 4\n",
        ] {
            assert_eq!(tour(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_tour_is_located() {
        let starts = |text: &str, start: &str| {
            let error = tour(text).unwrap_err();
            assert!(error.starts_with(start), "{error}");
        };
        starts(
            "TOUR_SECTION\n2\n1\n2\n4\n-1",
            "t.tour:4:1: node 2 is visited a second time; node 3 is missing",
        );
        starts("TOUR_SECTION\n1 2 0 3", "t.tour:2:5: line has no node 0");
        starts("TOUR_SECTION\n1 2 x", "t.tour:2:5: `x` is not the number");
        starts("TOUR_SECTION\n1 2 3 -1", "t.tour: the tour has 3 nodes, the instance has 4");
        starts("NAME : x\nEOF", "t.tour: there is no TOUR_SECTION");
        starts("", "t.tour: there is no TOUR_SECTION");
    }

    #[test]
    fn what_is_no_tour_of_the_instance_or_more_than_one_is_located() {
        let starts = |text: &str, start: &str| {
            let error = tour(text).unwrap_err();
            assert!(error.starts_with(start), "{text:?}: {error}");
        };
        let one = "TOUR_SECTION\n2 1 3 4 -1\n";
        starts(&format!("TYPE : TSP\n{one}"), "t.tour:1:8: this is a file of TYPE TSP, not a TOUR");
        starts(&format!("DIMENSION : 5\n{one}"), "t.tour:1:13: this is a tour of 5 nodes, line has 4");
        starts(&format!("{one}{one}"), "t.tour:3:1: TOUR_SECTION stands in the file a second time");
        starts(&format!("{one}EOF\n{one}"), "t.tour:4:1: the file goes on behind EOF");
        starts(&format!("{one}1 2 3 4 -1\n-1\n"), "t.tour:3:1: the file goes on behind its tour");
        starts("2 1 3 4 -1\nx", "t.tour:2:1: the file goes on behind its tour");
    }

    #[test]
    fn a_written_tour_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("line.tour");
        let instance = line_of_four();
        save(&instance, &[3, 1, 0, 2], &path).unwrap();
        assert_eq!(read(&path, &instance).unwrap(), [3, 1, 0, 2]);
        assert!(std::fs::read_to_string(&path).unwrap().contains("COMMENT : length 6\n"));
        assert!(save(&instance, &[3, 1, 0, 0], &path).is_err());
    }
}
