//! What holds for every reader, whatever bytes it is given: it panics never, what it takes is sound and the same when it is written
//! and read again, and what it refuses it refuses with a message that can be printed.
//!
//! The targets of the fuzzer call these functions, and so does `tests/instances/corpus.rs` with the files of `corpus`.

use std::fmt::Debug;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use antwarp::cli;
use antwarp::engine::tuning as found;
use antwarp::exact::certificate;
use antwarp::instance::population_file::{Header, Saved};
use antwarp::instance::{
    Instance, InstanceError, Qap, ReadOptions, Shape, dimacs, population_file, qaplib, tour_file, tsplib,
};
use antwarp::solver::search::problems::{MaxCut, Partition, max_cut, partition};
use tempfile::TempDir;

/// A reader by its name, which is that of its target and of its folder in `corpus`.
pub type Reader = (&'static str, fn(&[u8]));

/// All readers.
pub const READERS: [Reader; 12] = [
    ("tsplib", tsplib),
    ("table", table),
    ("options", options),
    ("tour", tour),
    ("population", population),
    ("qaplib", qaplib),
    ("numbers", numbers),
    ("file", file),
    ("rows", rows),
    ("runs", runs),
    ("tuning", tuning),
    ("certificate", certificate),
];

/// How files are called in errors.
const NAME: &str = "f";

/// A TSPLIB file.
pub fn tsplib(bytes: &[u8]) {
    if let Some(instance) = taken(tsplib::parse(NAME, NAME, bytes)) {
        check_instance(&instance);
    }
}

/// A table of coordinates or weights.
pub fn table(bytes: &[u8]) {
    if let Some(instance) = taken(Instance::parse(NAME, NAME, bytes, &ReadOptions::default())) {
        check_table(&instance);
    }
}

/// The same under options that override what is found out; the first byte says which.
pub fn options(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let shape = [None, Some(Shape::Points), Some(Shape::Matrix), Some(Shape::Edges)][usize::from(choice & 3)];
    let columns: &[(&str, &str)] = match choice >> 2 & 3 {
        0 => &[],
        1 => &[("x", "1"), ("y", "2")],
        2 => &[("lat", "1"), ("lon", "2")],
        _ => &[("from", "1"), ("to", "2"), ("cost", "3")],
    };
    let options = ReadOptions {
        shape,
        columns: columns.iter().map(|&(role, column)| (role.to_owned(), column.to_owned())).collect(),
        no_header: choice & 16 != 0,
        directed: choice & 32 != 0,
        forbidden_from: (choice & 64 != 0).then_some(100.0),
        ..ReadOptions::default()
    };
    if let Some(instance) = taken(Instance::parse(NAME, NAME, bytes, &options)) {
        check_table(&instance);
    }
}

/// A tour file, or a bare list of nodes.
pub fn tour(bytes: &[u8]) {
    for instance in instances() {
        let Some(tour) = taken(tour_file::parse(NAME, bytes, instance)) else { continue };
        check_permutation(&tour, instance.len());
        let mut text = Vec::new();
        tour_file::write(instance, &tour, length(instance, &tour), &mut text).unwrap();
        assert_eq!(tour_file::parse(NAME, &text, instance).unwrap(), tour);
    }
}

/// A population.
pub fn population(bytes: &[u8]) {
    for instance in instances() {
        let Some(saved) = taken(population_file::parse(Path::new(NAME), bytes, instance)) else { continue };
        let tours = || saved.individuals.chunks(instance.len());
        assert_eq!(tours().len(), saved.count as usize);
        tours().for_each(|tour| check_permutation(tour, instance.len()));
        let shortest = tours().min_by_key(|tour| length(instance, tour)).unwrap();
        let shortest = instance.tour_cost(shortest);
        let own =
            Header { individuals: saved.count, generation: 0, shortest, settings: serde_json::Value::Null };
        let header = saved.header.clone().unwrap_or(own);
        assert_eq!((header.individuals, header.shortest), (saved.count, shortest));
        let mut text = Vec::new();
        let individuals = tours().map(|tour| Ok(tour.to_vec()));
        population_file::write(instance, &header, individuals, &mut text).unwrap();
        let again = population_file::parse(Path::new(NAME), &text[..], instance).unwrap();
        assert_eq!(again, Saved { header: Some(header), ..saved });
    }
}

/// A quadratic assignment problem, or a solution.
pub fn qaplib(bytes: &[u8]) {
    if let Some(qap) = taken(qaplib::parse(NAME, NAME, bytes)) {
        assert_eq!(Qap::from_matrices(NAME, qap.n, qap.a.clone(), qap.b.clone()).unwrap(), qap);
        let numbers = qap.a.iter().chain(&qap.b).map(|number| format!(" {number}"));
        let text = format!("{}{}", qap.n, numbers.collect::<String>());
        assert_eq!(qaplib::parse(NAME, NAME, text.as_bytes()).unwrap(), qap);
        let reversed: Vec<u32> = (0..qap.n).rev().collect();
        let products = qap.a.iter().zip(qap.b.iter().rev()).map(|(&a, &b)| i128::from(a) * i128::from(b));
        assert_eq!(qap.cost(&reversed).map(i128::from), Some(products.sum()));
    }
    for n in [2, 5] {
        let Some((cost, permutation)) = taken(qaplib::parse_solution(NAME, bytes, n)) else { continue };
        check_permutation(&permutation, n as usize);
        let mut text = Vec::new();
        qaplib::write_solution(&mut text, cost, &permutation).unwrap();
        assert_eq!(qaplib::parse_solution(NAME, &text, n).unwrap(), (cost, permutation));
    }
}

/// A graph, or numbers to partition.
pub fn numbers(bytes: &[u8]) {
    if let Some(graph) = taken(max_cut::parse(NAME, NAME, bytes)) {
        let is_sound = |&(a, b, _): &(u32, u32, i32)| a < b && b < graph.nodes;
        assert!(graph.edges.iter().all(is_sound), "{graph:?}");
        assert!(graph.edges.is_sorted_by(|one, other| (one.0, one.1) < (other.0, other.1)), "{graph:?}");
        let edges = graph.edges.iter().map(|(a, b, weight)| format!("\n{} {} {weight}", a + 1, b + 1));
        let text = format!("{} {}{}", graph.nodes, graph.edges.len(), edges.collect::<String>());
        assert_eq!(max_cut::parse(NAME, NAME, text.as_bytes()).unwrap(), graph);
        assert_eq!(graph.cut(&vec![1; graph.nodes as usize]), 0);
    }
    if let Some(partition) = taken(partition::parse(NAME, NAME, bytes, 3)) {
        let numbers: Vec<String> = partition.numbers.iter().map(i64::to_string).collect();
        assert_eq!(partition::parse(NAME, NAME, numbers.join("\n").as_bytes(), 3).unwrap(), partition);
        let sum: i64 = partition.numbers.iter().sum();
        assert_eq!(partition.cost(&vec![2; numbers.len()]), sum * sum);
    }
}

/// A file, packed or not, or the name of an instance. The first byte says which kind of file, and whether it is packed before it is read.
pub fn file(bytes: &[u8]) {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    if let Some(instance) = std::str::from_utf8(bytes).ok().and_then(dimacs::by_name) {
        assert_eq!(instance.name().as_bytes(), bytes);
        assert!(instance.len() >= 1000);
    }
    let extension = ["tsp", "csv", "tour", "population", "dat", "sln", "graph", "txt"][usize::from(kind & 7)];
    let is_packed = kind & 8 != 0;
    let folder = folder();
    let path = folder.path().join(format!("f.{extension}{}", if kind & 16 != 0 { ".gz" } else { "" }));
    std::fs::write(&path, if is_packed { packed(bytes) } else { bytes.to_vec() }).unwrap();
    let name = path.to_str().unwrap();
    let instance = &instances()[1];
    // What is packed here, or is not packed, has to be read as its bytes are.
    let plain = Some(bytes).filter(|bytes| is_packed || !bytes.starts_with(&[0x1f, 0x8b]));
    match extension {
        "tsp" | "csv" => check_same(
            Instance::open(&path),
            plain.map(|bytes| Instance::parse(name, NAME, bytes, &ReadOptions::default())),
        ),
        "tour" => {
            check_same(
                tour_file::read(&path, instance),
                plain.map(|bytes| tour_file::parse(name, bytes, instance)),
            );
        }
        "population" => check_same(
            population_file::read(&path, instance),
            plain.map(|bytes| population_file::parse(&path, bytes, instance)),
        ),
        "dat" => check_same(Qap::open(&path), plain.map(|bytes| qaplib::parse(name, NAME, bytes))),
        "sln" => {
            check_same(
                qaplib::read_solution(&path, 5),
                plain.map(|bytes| qaplib::parse_solution(name, bytes, 5)),
            );
        }
        "graph" => check_same(MaxCut::open(&path), plain.map(|bytes| max_cut::parse(name, NAME, bytes))),
        _ => check_same(Partition::open(&path, 2), plain.map(|bytes| partition::parse(name, NAME, bytes, 2))),
    }
}

/// Raw rows of a bench, in files between bytes of 255.
pub fn rows(bytes: &[u8]) {
    let line = ["bench", "table", "--markdown"];
    if let Some(tables) = written(&line[..2 + usize::from(bytes.len().is_multiple_of(2))], bytes) {
        check_printable(&tables.replace('\n', ""));
    }
}

/// Runs as JSON, in files between bytes of 255.
pub fn runs(bytes: &[u8]) {
    if let Some(svg) = written(&["plot"], bytes) {
        check_printable(&svg.replace('\n', ""));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
        let numbers = svg.split(['"', ' ', ',']);
        assert!(numbers.clone().all(|word| !matches!(word, "NaN" | "inf" | "-inf")), "{svg}");
    }
}

/// What thread control found.
pub fn tuning(bytes: &[u8]) {
    let Some(entries) = found::parse(bytes).filter(|entries| !entries.is_empty()) else { return };
    let text = serde_json::to_vec_pretty(&entries).unwrap();
    assert_eq!(found::parse(&text).map(|entries| entries.len()), Some(entries.len()));
}

/// A certificate of the instance [`certified`]: whatever it says, what the check accepts is true.
pub fn certificate(bytes: &[u8]) {
    let Some(read) = taken(certificate::parse(NAME, bytes)) else { return };
    let mut text = Vec::new();
    read.write(&mut text).unwrap();
    // Teeth may come in another order.
    let again = certificate::parse(NAME, &text).unwrap();
    assert_eq!((again.tour, again.nodes), (read.tour.clone(), read.nodes.clone()));
    let (instance, optimum) = certified();
    match certificate::check(&instance, &read) {
        Ok(verified) => assert!(verified.bound <= optimum && verified.cost >= optimum, "{verified:?}"),
        Err(refusal) => check_printable(&refusal.to_string()),
    }
}

/// The instance of the certificates in `corpus`, and the cost of its shortest tour: 5 nodes on a circle.
fn certified() -> (Instance, i64) {
    let costs = [0, 3, 9, 9, 4, 3, 0, 4, 9, 9, 9, 4, 0, 3, 9, 9, 9, 3, 0, 4, 4, 9, 9, 4, 0];
    (Instance::from_matrix(NAME, costs.to_vec()).unwrap(), 18)
}

/// What the command of this line makes of files.
fn written(line: &[&str], bytes: &[u8]) -> Option<String> {
    let folder = folder();
    let output = folder.path().join("output");
    let files = bytes.split(|&byte| byte == 255).enumerate().map(|(i, part)| {
        let path = folder.path().join(format!("f{i}"));
        std::fs::write(&path, part).unwrap();
        path
    });
    let files: Vec<PathBuf> = files.collect();
    let words =
        ["antwarp"].iter().chain(line).map(Into::into).chain(files.into_iter().map(PathBuf::into_os_string));
    match cli::execute(words.chain(["--output".into(), output.clone().into()])) {
        Ok(_) => Some(std::fs::read_to_string(output).unwrap()),
        Err(cli::Error::Input(error)) => {
            check_error(&error);
            None
        }
        Err(error) => {
            assert_eq!(error.status(), 3, "{error}");
            check_printable(&error.to_string());
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// What was read; an error is looked at.
fn taken<T>(result: Result<T, InstanceError>) -> Option<T> {
    result.inspect_err(check_error).ok()
}

fn check_error(error: &InstanceError) {
    let text = error.to_string();
    assert!(!text.is_empty() && !error.remedy().is_empty(), "{error:?}");
    check_printable(&text);
    check_printable(error.remedy());
    if let InstanceError::Syntax(error) = error {
        let (text, span) = error.text();
        check_printable(text);
        assert!(text.get(span).is_some() && error.line() > 0 && error.column > 0, "{error:?}");
    }
    check_printable(&error.rendered(false).replace('\n', ""));
}

/// To a terminal control characters are commands.
fn check_printable(text: &str) {
    assert!(!text.contains(|c: char| c.is_control() && c != '\t'), "{text:?}");
}

/// An instance is sound, and the same when it is written and read again.
fn check_instance(instance: &Instance) {
    let n = instance.len();
    check_printable(instance.name());
    instance.comments().iter().for_each(|comment| check_printable(comment));
    assert!(instance.fixed_edges().iter().all(|&(a, b)| (a.max(b) as usize) < n), "{instance:?}");
    assert!(instance.display_points().is_none_or(|points| points.len() == n), "{instance:?}");
    let tour: Vec<u32> = (0..n as u32).collect();
    assert_eq!(instance.check_tour(&tour), Ok(length(instance, &tour)));
    for &node in tour.iter().take(16) {
        assert!(instance.distance(node, tour[n - 1]) >= 0, "{instance:?}");
        let there = instance.distance(node, tour[n / 2]);
        assert!(!instance.is_symmetric() || there == instance.distance(tour[n / 2], node), "{instance:?}");
    }
    let mut text = Vec::new();
    tsplib::write(instance, &mut text).unwrap();
    let again = tsplib::parse(NAME, NAME, &text);
    assert_eq!(&again.unwrap(), instance, "{}", String::from_utf8_lossy(&text));
}

/// What was read of no TSPLIB file is sound, and the nodes can be called by their numbers.
fn check_table(instance: &Instance) {
    let n = instance.len();
    assert!(instance.names().is_none_or(|names| names.len() == n), "{instance:?}");
    instance.names().unwrap_or_default().iter().for_each(|name| check_printable(name));
    instance.reading().iter().for_each(|line| check_printable(line));
    instance.warnings().iter().for_each(|warning| check_printable(warning));
    let tour: Vec<u32> = (0..n as u32).rev().collect();
    assert_eq!(instance.check_tour(&tour), Ok(length(instance, &tour)));
    let ids: Vec<String> = tour.iter().map(|&node| instance.id(node).to_string()).collect();
    assert_eq!(tour_file::parse(NAME, ids.join("\n").as_bytes(), instance).unwrap(), tour);
}

/// A tour of one node has no edge, even where a place is a kilometre from itself (GEO).
fn length(instance: &Instance, tour: &[u32]) -> i64 {
    if tour.len() == 1 {
        return 0;
    }
    let behind = tour.iter().cycle().skip(1);
    tour.iter().zip(behind).map(|(&a, &b)| i64::from(instance.distance(a, b))).sum()
}

fn check_permutation(tour: &[u32], n: usize) {
    let mut sorted = tour.to_vec();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..n as u32), "{tour:?}");
}

/// A file is read as its bytes are.
fn check_same<T: Debug + PartialEq>(
    read: Result<T, InstanceError>,
    parsed: Option<Result<T, InstanceError>>,
) {
    let read = read.inspect_err(check_error).map_err(|error| error.to_string());
    if let Some(parsed) = parsed {
        assert_eq!(read, parsed.map_err(|error| error.to_string()));
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// A folder for files that are written and read again, in memory where the system has such.
fn folder() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

/// Instances for tours: of one node, of five, of five with numbers of their own.
fn instances() -> &'static [Instance; 3] {
    static INSTANCES: OnceLock<[Instance; 3]> = OnceLock::new();
    INSTANCES.get_or_init(|| {
        let numbered = |ids: &[u32]| {
            let lines = ids.iter().enumerate().map(|(i, id)| format!("{id} {} {}\n", 10 * i, i * i));
            let (n, lines) = (ids.len(), lines.collect::<String>());
            let text = format!("DIMENSION: {n}\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n{lines}EOF\n");
            tsplib::parse(NAME, NAME, text.as_bytes()).unwrap()
        };
        [numbered(&[1]), numbered(&[1, 2, 3, 4, 5]), numbered(&[0, 40, 7, 4_000_000_000, 9])]
    })
}
