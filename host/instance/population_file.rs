//! Populations as TSPLIB tour files: many tours, each ended by -1, and a comment that describes them.
//!
//! A file is written and read one tour at a time.

use std::io::{self, BufRead, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::error::{Result, Text, counted};
use super::model::{Instance, NodeNumbers};
use super::source::{self, Lines, Room};
use super::tsplib::scan::{Part, Words};
use crate::memory;

/// The start of the comment that contains the [`Header`] as JSON.
const MARK: &str = "antwarp population ";

/// Maximum number of tours in a file.
const MOST_TOURS: u32 = 1 << 20;

/// Maximum relative error from reading a number with decimals.
const READING: f64 = 1e-12;

/// The description of a population, besides its tours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Number of tours. Older versions wrote this key as `genes`.
    #[serde(alias = "genes")]
    pub individuals: u32,
    /// Number of generations so far.
    pub generation: u32,
    /// Cost of the shortest tour in the user's unit, as computed by [`Instance::tour_cost`].
    pub shortest: Cost,
    /// The settings of the algorithm, as JSON.
    pub settings: serde_json::Value,
}

/// A population that was read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The comment, if the file has it: other files of tours can be read, too.
    pub header: Option<Header>,
    /// The tours, concatenated: `count` times n nodes, numbered from 0.
    pub individuals: Vec<u32>,
    /// Number of tours.
    pub count: u32,
}

/// Writes tours of an instance, as many as `header` says.
///
/// # Errors
/// The first error of `individuals` or of `out`.
pub fn write(
    instance: &Instance,
    header: &Header,
    individuals: impl Iterator<Item = io::Result<Vec<u32>>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = super::tsplib::one_line(instance.name());
    let comment = serde_json::to_string(header)?;
    writeln!(out, "NAME : {name}.population\nCOMMENT : {MARK}{comment}\nTYPE : TOUR")?;
    writeln!(out, "DIMENSION : {}\nTOUR_SECTION", instance.len())?;
    let mut text = Vec::new();
    for individual in individuals {
        text.clear();
        for node in individual? {
            writeln!(text, "{}", instance.id(node))?;
        }
        text.extend_from_slice(b"-1\n");
        out.write_all(&text)?;
    }
    writeln!(out, "-1\nEOF")
}

/// Reads all tours of a file, optionally gzip-compressed; each must visit every node of the instance once.
///
/// # Errors
/// If the file cannot be read, or as [`parse`].
pub fn read(path: &Path, instance: &Instance) -> Result<Saved> {
    parse(path, source::open(path)?, instance)
}

/// The part of the file that a line belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Head,
    Tours,
    /// After the last tour.
    End,
}

/// Parses a population from the text of a file; `path` is named in errors.
///
/// # Errors
/// If it is not a file of tours of this instance; the line and the remedy are in the error.
pub fn parse(path: &Path, reader: impl BufRead, instance: &Instance) -> Result<Saved> {
    let file = path.to_string_lossy();
    let n = instance.len();
    let mut lines = Lines::new(&file, reader, Room::numbers(n as u64, format!("a tour of {n} nodes")));
    let mut individuals = Individuals::new(instance);
    let mut header = None;
    let mut place = Place::Head;
    // Read to the end, where an archive shows whether it is complete.
    while let Some(line) = lines.next_line()? {
        let (text, number, count) = (line.text, line.number, individuals.count);
        place =
            next_place(text, place, &mut individuals, &mut header).map_err(|error| error.in_line(number))?;
        if individuals.count > count {
            lines.renew();
        }
    }
    let text = Text { file: &file, bytes: b"" };
    if place == Place::Head {
        return Err(text.content("there is no TOUR_SECTION", "give a file written by --save-population"));
    }
    individuals.finish(text, header)
}

/// Processes a line at `place`; returns the place of the next line.
fn next_place(
    text: Text<'_>,
    place: Place,
    individuals: &mut Individuals<'_>,
    header: &mut Option<Header>,
) -> Result<Place> {
    let line = text.bytes.trim_ascii();
    let is_keyword = line.first().is_some_and(u8::is_ascii_alphabetic);
    match place {
        Place::Head if is_keyword => {
            let is_section = entry(text, individuals.instance, header)?;
            individuals.most =
                header.as_ref().map_or(MOST_TOURS, |header| header.individuals.min(MOST_TOURS));
            Ok(if is_section { Place::Tours } else { Place::Head })
        }
        Place::Head => Ok(Place::Head),
        _ if line.eq_ignore_ascii_case(b"EOF") => Ok(Place::End),
        Place::Tours => Ok(if individuals.take(text)? { Place::Tours } else { Place::End }),
        Place::End if line.is_empty() => Ok(Place::End),
        Place::End => Err(text.error(
            0,
            text.bytes.len(),
            "the file continues after its last tour",
            "end each tour with -1, and the last with another -1",
        )),
    }
}

/// Processes a line before the tours; returns true if they start after it.
fn entry(text: Text<'_>, instance: &Instance, header: &mut Option<Header>) -> Result<bool> {
    let line = String::from_utf8_lossy(text.bytes.trim_ascii()).into_owned();
    let (keyword, value) = line.split_once(':').map_or((line.as_str(), ""), |(k, v)| (k.trim(), v.trim()));
    let wrong = |problem: String, help: &str| Err(text.error(0, text.bytes.len(), problem, help));
    match keyword.to_ascii_uppercase().as_str() {
        "TOUR_SECTION" => return Ok(true),
        "TYPE" if !value.eq_ignore_ascii_case("TOUR") => {
            return wrong(format!("this is a file of type {value}, not TOUR"), "give a file of tours");
        }
        "DIMENSION" if value.parse() != Ok(instance.len()) => {
            let problem =
                format!("the tours have {value} nodes, but {} has {}", instance.name(), instance.len());
            return wrong(problem, "give the instance of these tours");
        }
        "COMMENT" if value.starts_with(MARK) && header.is_some() => {
            return wrong(
                "this is a second comment of a population".to_owned(),
                "put each population in its own file",
            );
        }
        "COMMENT" if value.starts_with(MARK) => match serde_json::from_str(&value[MARK.len()..]) {
            Ok(read) => *header = Some(read),
            Err(error) => {
                let help =
                    "keep this comment as antwarp wrote it, or remove it to start from the tours alone";
                return wrong(format!("the population's comment cannot be read: {error}"), help);
            }
        },
        _ => {}
    }
    Ok(false)
}

/// The tours read so far.
struct Individuals<'a> {
    instance: &'a Instance,
    numbers: NodeNumbers,
    individuals: Vec<u32>,
    count: u32,
    /// Maximum number of tours.
    most: u32,
    /// Number of nodes of the current tour so far.
    length: usize,
    /// Its internal cost so far.
    cost: i64,
    /// The lowest internal cost of a tour, and the index of the first tour with it.
    shortest: (i64, u32),
    /// For each node, the last tour, from 1, that visited it.
    visited: Vec<u32>,
}

impl Individuals<'_> {
    fn new(instance: &Instance) -> Individuals<'_> {
        Individuals {
            instance,
            numbers: instance.node_numbers(),
            individuals: Vec::new(),
            count: 0,
            most: MOST_TOURS,
            length: 0,
            cost: 0,
            shortest: (i64::MAX, 0),
            visited: vec![0; instance.len()],
        }
    }

    /// Processes the numbers of a line; returns false if the last tour has ended.
    fn take(&mut self, text: Text<'_>) -> Result<bool> {
        let mut is_last = false;
        for word in Words::new(text, Part { start: 0, end: text.bytes.len() }) {
            match text.whole_number(word) {
                Some(-1) if self.length == 0 => is_last = true,
                _ if is_last => {
                    let help = "end each tour with -1, and the last with another -1";
                    return Err(text.error_at(word, "the file continues after its last tour", help));
                }
                Some(-1) => self.close(text, word)?,
                Some(id) => self.visit(text, word, id)?,
                None => {
                    let problem = format!("`{}` is not the number of a node", text.show(word));
                    let help =
                        "list the nodes by number, with -1 after each tour and another -1 after the last";
                    return Err(text.error_at(word, problem, help));
                }
            }
        }
        Ok(!is_last)
    }

    fn visit(&mut self, text: Text<'_>, word: Part, id: i64) -> Result<()> {
        let (instance, individual) = (self.instance, self.count + 1);
        let Some(node) = u32::try_from(id).ok().and_then(|id| self.numbers.node(id)) else {
            let (first, last) = (instance.id(0), instance.id(instance.len() as u32 - 1));
            let problem = format!("{} has no node {id}", instance.name());
            let help = format!("number the nodes as the instance does, from {first} to {last}");
            return Err(text.error_at(word, problem, help));
        };
        if std::mem::replace(&mut self.visited[node as usize], individual) == individual {
            let problem = format!("node {id} is visited a second time in tour {individual}");
            return Err(text.error_at(word, problem, self.help()));
        }
        if self.count == self.most {
            let problem = format!("there are more than {}", counted(self.most as usize, "tour"));
            let help = "keep the comment of a population as antwarp wrote it, or save a smaller --population";
            return Err(text.error_at(word, problem, help));
        }
        if self.length == 0 {
            let no_room = |shortage| text.no_room(&format!("more than {} tours", self.count), shortage);
            memory::reserve(&mut self.individuals, instance.len()).map_err(no_room)?;
        }
        if let Some(&last) = self.individuals.last().filter(|_| self.length > 0) {
            self.cost += i64::from(instance.distance(last, node));
        }
        self.individuals.push(node);
        self.length += 1;
        Ok(())
    }

    /// Ends a tour.
    fn close(&mut self, text: Text<'_>, word: Part) -> Result<()> {
        let n = self.instance.len();
        if self.length != n {
            let problem =
                format!("tour {} has {}, the instance has {n}", self.count + 1, counted(self.length, "node"));
            return Err(text.error_at(word, problem, self.help()));
        }
        let (first, last) =
            (self.individuals[self.individuals.len() - n], self.individuals[self.individuals.len() - 1]);
        let is_open = self.instance.ends().is_some();
        let back = if is_open { 0 } else { i64::from(self.instance.distance(last, first)) };
        self.shortest = self.shortest.min((self.cost + back, self.count));
        (self.cost, self.length) = (0, 0);
        self.count += 1;
        Ok(())
    }

    fn finish(self, text: Text<'_>, header: Option<Header>) -> Result<Saved> {
        let whole = "the file is truncated or edited: save the population again, or remove its comment";
        if self.length > 0 {
            let n = self.instance.len();
            let problem =
                format!("the file ends within tour {}, after {} of {n} nodes", self.count + 1, self.length);
            return Err(text.content(problem, whole));
        }
        if self.count == 0 {
            return Err(text.content("it contains no tour", "give a file written by --save-population"));
        }
        if let Some(header) = &header {
            if header.individuals != self.count {
                let problem = format!(
                    "the file has {}, not {} as its comment says",
                    counted(self.count as usize, "tour"),
                    header.individuals
                );
                return Err(text.content(problem, whole));
            }
            let n = self.instance.len();
            let shortest = self.instance.tour_cost(&self.individuals[self.shortest.1 as usize * n..][..n]);
            if !are_same(header.shortest, shortest) {
                let name = self.instance.name();
                let problem = format!(
                    "the shortest tour costs {shortest} in {name}, not {} as its comment says",
                    header.shortest
                );
                return Err(text.content(problem, "give the instance of these tours"));
            }
        }
        Ok(Saved { header, individuals: self.individuals, count: self.count })
    }

    fn help(&self) -> String {
        format!(
            "a tour of {} visits each of its {} once",
            self.instance.name(),
            counted(self.instance.len(), "node")
        )
    }
}

/// Returns whether a cost that was read equals this one.
fn are_same(read: Cost, cost: Cost) -> bool {
    match cost {
        Cost::Whole(_) => read == cost,
        Cost::Real(cost) => (read.as_f64() - cost).abs() <= READING * cost.abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metric;

    fn line_of_four() -> Instance {
        let points = (0..4).map(|x| [f64::from(x), 0.0, 0.0]).collect();
        Instance::from_points("line", Metric::Euc2d, points).unwrap()
    }

    fn header() -> Header {
        let settings = serde_json::json!({ "seed": 7, "crossover": "arx" });
        Header { individuals: 2, generation: 30, shortest: Cost::Whole(6), settings }
    }

    fn written(header: &Header) -> String {
        let mut out = Vec::new();
        let individuals = [vec![3, 1, 0, 2], vec![0, 1, 2, 3]];
        write(&line_of_four(), header, individuals.into_iter().map(Ok), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn parsed(text: &str) -> std::result::Result<Saved, String> {
        parse(Path::new("p.tour"), text.as_bytes(), &line_of_four()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_written_population_reads_back() {
        let text = written(&header());
        let start =
            "NAME : line.population\nCOMMENT : antwarp population {\"individuals\":2,\"generation\":30,";
        assert!(text.starts_with(start), "{text}");
        assert!(text.ends_with("\nTOUR_SECTION\n4\n2\n1\n3\n-1\n1\n2\n3\n4\n-1\n-1\nEOF\n"), "{text}");
        let saved = Saved { header: Some(header()), individuals: vec![3, 1, 0, 2, 0, 1, 2, 3], count: 2 };
        assert_eq!(parsed(&text), Ok(saved.clone()));
        assert_eq!(parsed(&text.replace('\n', "\r\n")), Ok(saved.clone()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.tour.gz");
        let mut packed =
            flate2::write::GzEncoder::new(std::fs::File::create(&path).unwrap(), Default::default());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap();
        assert_eq!(read(&path, &line_of_four()).unwrap(), saved);
        // A population of one is a tour file like any other.
        let one = text.replacen("1\n2\n3\n4\n-1\n", "", 1);
        let tour = crate::tour_file::parse("p.tour", one.as_bytes(), &line_of_four());
        assert_eq!(tour.unwrap(), [3, 1, 0, 2]);
    }

    #[test]
    fn tours_without_comment_are_taken() {
        let saved = Saved { header: None, individuals: vec![1, 0, 2, 3, 0, 1, 2, 3], count: 2 };
        for text in [
            "TYPE : TOUR\nTOUR_SECTION\n2 1\n3 4 -1\n1 2 3 4 -1 -1\nEOF",
            "COMMENT : two\n\nTOUR_SECTION:\n2\n1\n3\n4\n-1 1 2 3 4\n-1\n",
        ] {
            assert_eq!(parsed(text), Ok(saved.clone()), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_located() {
        let starts = |text: &str, start: &str| {
            let error = parsed(text).unwrap_err();
            assert!(error.starts_with(start), "{error}");
        };
        let good = written(&header());
        let without = |what: &str, by: &str| good.replacen(what, by, 1);
        starts(&without("\n2\n1\n", "\n2\n2\n"), "p.tour:8:1: node 2 is visited a second time in tour 1");
        starts(&without("\n3\n4\n-1", "\n3\n-1"), "p.tour:14:1: tour 2 has 3 nodes, the instance has 4");
        starts(&without("\n2\n1\n", "\n2 x\n"), "p.tour:7:3: `x` is not the number of a node");
        starts(&without("\n2\n1\n", "\n2\n5\n"), "p.tour:8:1: line has no node 5");
        starts(
            &without("DIMENSION : 4", "DIMENSION : 5"),
            "p.tour:4:1: the tours have 5 nodes, but line has 4",
        );
        starts(&without("TYPE : TOUR", "TYPE : TSP"), "p.tour:3:1: this is a file of type TSP");
        starts(
            &without("\"individuals\":2", "\"individuals\":two"),
            "p.tour:2:1: the population's comment cannot be read",
        );
        starts(&without("\"individuals\":2", "\"individuals\":3"), "p.tour: the file has 2 tours, not 3");
        starts(&without("\"shortest\":6", "\"shortest\":5"), "p.tour: the shortest tour costs 6 in line");
        let end = good.len();
        starts(&good[..end - 12], "p.tour: the file ends within tour 2, after 3 of 4 nodes");
        starts("TOUR_SECTION\n-1\nEOF", "p.tour: it contains no tour");
        starts("NAME : x\nEOF", "p.tour: there is no TOUR_SECTION");
        starts("", "p.tour: there is no TOUR_SECTION");
    }

    #[test]
    fn a_file_of_an_older_version_is_read() {
        let older = written(&header()).replacen("\"individuals\":2", "\"genes\":2", 1);
        assert!(older.contains("\"genes\":2"), "{older}");
        assert_eq!(parsed(&older).unwrap().header, Some(header()));
    }

    #[test]
    fn a_file_is_read_to_its_end() {
        let good = written(&header());
        for (text, start) in [
            (format!("{good}{good}"), "p.tour:18:1: the file continues after its last tour"),
            (good.replace("EOF", "3"), "p.tour:17:1: the file continues after its last tour"),
            (good.replace("-1\nEOF", "-1 3\nEOF"), "p.tour:16:4: the file continues after its last tour"),
            (
                good.replacen("-1\n1", "-1\nTOUR_SECTION\n1", 1),
                "p.tour:11:1: `TOUR_SECTION` is not the number",
            ),
            (good.replacen("-1\n1", "-1\n1\n2\n3\n4\n-1\n1", 1), "p.tour:16:1: there are more than 2 tours"),
            (
                good.replacen("TYPE", "COMMENT : antwarp population {}\nTYPE", 1),
                "p.tour:3:1: this is a second comment",
            ),
        ] {
            let error = parsed(&text).unwrap_err();
            assert!(error.starts_with(start), "{error}");
        }
        let mut packed = Vec::new();
        let mut writer = flate2::write::GzEncoder::new(&mut packed, Default::default());
        writer.write_all(good.as_bytes()).unwrap();
        writer.finish().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.gz");
        let end = packed.len();
        let mut wrong_sum = packed.clone();
        wrong_sum[end - 8] ^= 1;
        for damaged in [&packed[..end - 1], &packed[..end - 8], &wrong_sum, &[&packed[..], b"rest"].concat()]
        {
            std::fs::write(&path, damaged).unwrap();
            let error = read(&path, &line_of_four()).unwrap_err().to_string();
            assert!(error.starts_with("cannot read "), "{error}");
        }
    }

    #[test]
    fn what_never_ends_is_refused() {
        for (head, byte) in [("", b'7'), ("", b'\n'), ("TOUR_SECTION\n", b' '), ("TOUR_SECTION\n-1\n", b'\r')]
        {
            let endless = io::BufReader::new(io::Read::chain(head.as_bytes(), io::repeat(byte)));
            let error = parse(Path::new("p.tour"), endless, &line_of_four()).unwrap_err().to_string();
            assert!(error.contains("the maximum for a tour of 4 nodes"), "{error}");
        }
    }

    #[test]
    fn an_error_of_a_individual_ends_the_file() {
        let individuals = [Ok(vec![3, 1, 0, 2]), Err(io::Error::other("the device is gone"))];
        let error = write(&line_of_four(), &header(), individuals.into_iter(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "the device is gone");
    }
}
