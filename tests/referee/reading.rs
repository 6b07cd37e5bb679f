//! What antwarp reads, against what the judge reads.

use std::path::Path;

use antwarp::instance::{Instance, ReadOptions, tour_file, tsplib};

use crate::data;
use crate::draws::Draws;
use crate::files::{File, spelled};
use crate::judge;

tests! {
    random_files_are_read_as_the_judge_reads_them,
    random_tours_are_read_as_the_judge_reads_them,
    published_files_are_read_as_the_judge_reads_them,
}

/// Pairs of nodes of a large instance that are looked at.
const PAIRS: usize = 5000;
/// Random files.
const FILES: u64 = 6000;

/// The first difference between what both have read.
pub fn difference(instance: &Instance, judge: &judge::Instance, draws: &mut Draws) -> Option<String> {
    let n = judge.len();
    if instance.len() != n {
        return Some(format!("{} nodes, not {n}", instance.len()));
    }
    let positions = judge.positions();
    let ids: Vec<i64> = (0..n as u32).map(|node| instance.id(node).into()).collect();
    if let Some(id) = ids.iter().find(|id| !positions.contains_key(id)) {
        return Some(format!("a node {id}, which does not exist"));
    }
    let pair = |(i, j): (usize, usize)| {
        let told = i64::from(instance.distance(i as u32, j as u32));
        let right = judge.weight(positions[&ids[i]], positions[&ids[j]]);
        (i != j && told != right).then(|| format!("{told} from node {} to {}, not {right}", ids[i], ids[j]))
    };
    let edge = |&(a, b): &(u32, u32)| (ids[a as usize], ids[b as usize]);
    let fixed: Vec<(i64, i64)> = instance.fixed_edges().iter().map(edge).collect();
    if fixed != judge.fixed {
        return Some(format!("the fixed edges {fixed:?}, not {:?}", judge.fixed));
    }
    if n * n <= PAIRS {
        return (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).find_map(pair);
    }
    (0..PAIRS).find_map(|_| pair((draws.below(n), draws.below(n))))
}

/// Reads a random file from its bytes.
fn parse(file: &File) -> Result<Instance, String> {
    let bytes = file.text.as_bytes();
    let read = match file.extension {
        "tsp" | "atsp" => tsplib::parse("random", "random", bytes),
        _ => Instance::parse("random", "random", bytes, &ReadOptions::default()),
    };
    read.map_err(|error| error.to_string())
}

fn random_files_are_read_as_the_judge_reads_them() {
    for seed in 0..FILES {
        let draws = &mut Draws::new(seed);
        let n = 1 + draws.below(40);
        let file = File::random(draws, n);
        let wrong = match parse(&file) {
            Ok(instance) => difference(&instance, &file.judge, draws),
            Err(error) => Some(error),
        };
        if let Some(wrong) = wrong {
            panic!("seed {seed}: {wrong}\n{:?}\n{}", file.text, file.text);
        }
    }
}

fn random_tours_are_read_as_the_judge_reads_them() {
    for seed in 0..2000 {
        let draws = &mut Draws::new(seed);
        let n = 1 + draws.below(12);
        let file = File::random(draws, n);
        let instance = parse(&file).unwrap();
        let mut ids = file.judge.ids.clone();
        draws.shuffle(&mut ids);
        if draws.chance(0.2) {
            // No tour.
            let at = draws.below(n);
            ids[at] = draws.one_of(&[ids[0], ids[n - 1], 5, 777]);
        }
        let words: Vec<String> = ids.iter().map(|&id| spelled(draws, id as f64)).collect();
        let begin =
            draws.one_of(&["", "TOUR_SECTION\n", "TYPE : TOUR\nNAME: x\nTOUR_SECTION\n", "TOUR_SECTION :\n"]);
        // A bare list begins with a digit.
        let begin = if words[0].starts_with(|c: char| c.is_ascii_digit()) { begin } else { "TOUR_SECTION\n" };
        let body = words.join(draws.one_of(&["\n", " ", "\t", "  \n"]));
        let text = format!("{begin}{body}{}", draws.one_of(&["", "\n", "\n-1\nEOF\n", " -1", "\n-1"]));
        let text = text.replace('\n', draws.one_of(&["\n", "\r\n", "\r"]));
        let read = tour_file::parse("random", text.as_bytes(), &instance);
        // Fixed edges are looked for by `unused_fixed_edge`.
        let loose = judge::Instance { fixed: Vec::new(), ..file.judge.clone() };
        assert_eq!(judge::tour::read(&text), ids, "seed {seed}: {text}");
        match (read, loose.length(&ids)) {
            (Ok(tour), Ok(length)) => {
                let told: Vec<i64> = tour.iter().map(|&node| instance.id(node).into()).collect();
                assert_eq!((told, instance.check_tour(&tour)), (ids.clone(), Ok(length)), "seed {seed}");
                let is_kept = instance.unused_fixed_edge(&tour).is_none();
                assert_eq!(is_kept, file.judge.length(&ids).is_ok(), "seed {seed}: {}", file.text);
            }
            (Err(_), Err(_)) => {}
            (told, right) => panic!("seed {seed}: {told:?}, not {right:?}\n{text}\n{}", file.text),
        }
    }
}

/// A file's text, unpacked if it is gzip.
fn text(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text).unwrap();
    } else {
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    text
}

fn published_files_are_read_as_the_judge_reads_them() {
    let Some(data) = data::folder(&["tsplib", "vlsi", "national"]) else { return };
    let (mut instances, mut tours) = (0, 0);
    for folder in ["tsplib", "vlsi", "national"] {
        for entry in std::fs::read_dir(data.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_str().unwrap().to_owned();
            if ![".tsp", ".atsp", ".tsp.gz"].iter().any(|end| name.ends_with(end)) {
                continue;
            }
            let instance = Instance::open(&path).unwrap();
            let judge = judge::tsplib::read(&text(&path));
            assert_eq!(difference(&instance, &judge, &mut Draws::new(1)), None, "{name}");
            instances += 1;
            let tour = path.with_extension("opt.tour");
            if !tour.is_file() {
                continue;
            }
            let nodes = judge::tour::read(&text(&tour));
            let known = instance.best_known().unwrap();
            assert_eq!(judge.length(&nodes), Ok(known.cost), "{name}");
            tours += 1;
        }
    }
    assert!(instances >= 126 && tours >= 33, "{instances} instances and {tours} tours");
}
