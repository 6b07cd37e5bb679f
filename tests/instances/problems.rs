//! Instances of problems other than tours: published files, broken files, and what we generate.

use std::path::PathBuf;

use antwarp::instance::{InstanceError, Qap, Result, qaplib};
use antwarp::solver::search::problems::perceptron::{COUNT_WEIGHT, NEGATIVE_WEIGHT};
use antwarp::solver::search::problems::{MaxCut, Partition, Perceptron, max_cut, partition};
use proptest::prelude::*;

use crate::data;

tests! {
    solutions_are_written_and_read,
    costs_of_assignments_are_sums_over_pairs,
    costs_of_vectors_are_those_of_the_definition,
    costs_of_sets_are_those_of_the_definition,
    hostile_bytes_are_an_instance_or_an_error,
    every_published_instance_is_read,
    every_published_solution_has_its_stated_cost,
    best_known_costs_are_those_of_the_published_list,
    matrices_come_in_any_lines,
    broken_instances_are_located,
    files_are_missing_packed_or_damaged,
    solutions_come_in_many_shapes,
    broken_solutions_are_located,
    a_saved_solution_reads_back,
    a_planted_solution_costs_nothing,
    broken_numbers_are_located,
    broken_graphs_are_located,
    a_seed_fixes_a_graph,
}

/// The folder of QAPLIB's files.
fn published() -> Option<PathBuf> {
    Some(data::folder(&["qaplib"])?.join("qaplib"))
}

/// The published instances, each with the path of its solution.
fn instances() -> Vec<(Qap, PathBuf)> {
    let Some(folder) = published() else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "dat"));
    paths.sort();
    assert!(paths.len() >= 21);
    let open = |path: &PathBuf| Qap::open(path).unwrap_or_else(|error| panic!("{error:?}"));
    paths.iter().map(|path| (open(path), path.with_extension("sln"))).collect()
}

/// The number in a name such as tai100a.
fn number_in_name(name: &str) -> u32 {
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

fn every_published_instance_is_read() {
    for (qap, _) in instances() {
        let name = &qap.name;
        assert_eq!(qap.n, number_in_name(name), "{name}");
        assert_eq!(qap.is_symmetric(), !matches!(name.as_str(), "tai20b" | "tai100b"), "{name}");
        let fingerprint = qap.fingerprint();
        let best = qap.best_known().unwrap_or_else(|| {
            panic!("{name} has no best known cost; its fingerprint is {fingerprint:#018x}")
        });
        let mut other = qap.clone();
        other.b[1] += 1;
        assert_eq!(other.best_known(), None, "{name}");
        let identity: Vec<u32> = (0..qap.n).collect();
        assert!(qap.cost(&identity).unwrap() >= best.cost, "{name}");
    }
}

fn every_published_solution_has_its_stated_cost() {
    let mut inverted = Vec::new();
    for (qap, path) in instances() {
        let name = &qap.name;
        let (stated, given) = qaplib::read_solution(&path, qap.n).unwrap_or_else(|error| panic!("{error:?}"));
        let solution = qap.as_stated(stated, &given).unwrap_or_else(|| panic!("{name} has another cost"));
        assert_eq!(qap.cost(&solution), Some(stated), "{name}");
        let best = qap.best_known().unwrap().cost;
        // The published solution of tai100a is an older one.
        assert_eq!(stated, if name == "tai100a" { 21_052_466 } else { best }, "{name}");
        if solution != given {
            inverted.push(name.clone());
        }
    }
    assert!(inverted.is_empty() || inverted == ["tai60a", "tho150"], "{inverted:?}");
}

fn best_known_costs_are_those_of_the_published_list() {
    let Some(folder) = published() else { return };
    let list = std::fs::read_to_string(folder.join("../best_known.csv")).unwrap();
    let mut rows = 0;
    for line in list.lines() {
        let [name, "qap", _, cost, proven, ..] = line.split(',').collect::<Vec<_>>()[..] else { continue };
        let known = Qap::open(&folder.join(format!("{name}.dat"))).unwrap().best_known().unwrap();
        assert_eq!((known.cost.to_string().as_str(), known.proven), (cost, proven == "yes"), "{name}");
        rows += 1;
    }
    assert!(rows >= 21);
}

/// The error's text, and its remedy, which every error has.
fn shown<T: std::fmt::Debug>(result: Result<T>) -> (String, String) {
    let error: InstanceError = result.unwrap_err();
    let help = error.remedy().to_owned();
    assert!(!help.is_empty(), "{error} has no remedy");
    (error.to_string(), help)
}

/// Asserts that the error begins so and has a remedy.
#[track_caller]
fn fails<T: std::fmt::Debug>(result: Result<T>, start: &str) {
    let (text, _) = shown(result);
    assert!(text.starts_with(start), "{text}");
}

fn matrices_come_in_any_lines() {
    let expected = Qap::from_matrices("x", 2, vec![0, 1, 2, 3], vec![4, -5, 6, 7]).unwrap();
    for text in
        ["2\n\n0 1\n2 3\n\n4 -5\n6 7\n", "2 0 1 2 3 4 -5 6 7", "\u{feff}\r\n 2\r\n0\t1 2\r\n3 4 -5. 6 7\r\n"]
    {
        assert_eq!(qaplib::parse("x.dat", "x", text.as_bytes()).unwrap(), expected, "{text:?}");
    }
}

fn broken_instances_are_located() {
    let parse = |text: &[u8]| qaplib::parse("x.dat", "x", text);
    fails(parse(b""), "x.dat: the file is empty");
    fails(parse(b" \n\n"), "x.dat: the file is empty");
    for size in ["0", "1", "-3", "16385", "99999999999", "99999999999999999999999", "two", "2.5"] {
        fails(
            parse(format!("\n{size}\n0 0").as_bytes()),
            &format!("x.dat:2:1: `{size}` is not a size from 2"),
        );
    }
    // The memory of two matrices of 1 GiB is not asked for.
    fails(parse(b"16384\n1 2 3\n"), "x.dat:2:5: the file ends after 3 of the 268435456 numbers of A");
    fails(parse(b"2"), "x.dat:1:1: the file ends after 0 of the 4 numbers of A");
    fails(parse(b"2\n1 2 3 4\n5 6\n7\n\n"), "x.dat:4:1: the file ends after 3 of the 4 numbers of B");
    fails(parse(b"2\n1 2 3 4\n5 6\n7 8\n 9"), "x.dat:5:2: `9` follows the last number of B");
    fails(parse(b"2\n1 2\n3 x\n"), "x.dat:3:3: `x` is not a 32-bit whole number");
    fails(parse(b"2\n1 2\n3 0.5\n"), "x.dat:3:3: `0.5` is not a 32-bit whole number");
    fails(parse(b"2\n1 2147483648\n"), "x.dat:2:3: `2147483648` is not a 32-bit whole number");
    fails(parse(b"2\n1 2\n-2147483649\n"), "x.dat:3:1: `-2147483649` is not a 32-bit whole number");
    fails(parse(b"2\n1 \xff\xfe 2\n"), "x.dat:2:3: `\u{fffd}\u{fffd}` is not a 32-bit whole number");
    let m = i32::MAX;
    fails(parse(format!("2 {m} {m} {m} {m} {m} {m} {m} {m}").as_bytes()), "x.dat: costs could reach");
}

fn files_are_missing_packed_or_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.v2.dat.gz");
    let (text, help) = shown(Qap::open(&path));
    assert!(text.starts_with("cannot read ") && help.contains("QAPLIB file"), "{text}, {help}");
    assert!(shown(qaplib::read_solution(&path, 5)).1.contains("QAPLIB solution"));
    assert!(shown(Partition::open(&path, 2)).1.contains("file of whole numbers"));
    assert!(shown(Qap::open(folder.path())).0.starts_with("cannot read "));

    let file = std::fs::File::create(&path).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, b"2 0 1 2 3 4 5 6 7").unwrap();
    packed.finish().unwrap();
    assert_eq!(
        Qap::open(&path).unwrap(),
        Qap::from_matrices("tiny", 2, vec![0, 1, 2, 3], vec![4, 5, 6, 7]).unwrap()
    );
    assert_eq!(
        shown(Partition::open(&path, 2)).0,
        format!("{}:1:3: `0` is not a whole number above 0", path.display())
    );

    std::fs::write(&path, [0x1f, 0x8b, 8, 0, 1, 2, 3]).unwrap();
    assert!(shown(Qap::open(&path)).1.contains("download it again"));
}

fn solutions_come_in_many_shapes() {
    let expected = (-70, vec![2, 0, 1]);
    for text in [
        "3 -70\n3 1 2\n",
        " 3  -70 \r\n\r\n3\r\n1 2\r\n\r\n",
        "3 -70\n3,1,2",
        "3,-70, 3, 1 ,2,\n",
        "3 -70\n2 0 1",
    ] {
        assert_eq!(qaplib::parse_solution("x.sln", text.as_bytes(), 3).unwrap(), expected, "{text:?}");
    }
}

fn broken_solutions_are_located() {
    let parse = |text: &[u8]| qaplib::parse_solution("x.sln", text, 3);
    fails(parse(b""), "x.sln: there is no solution");
    fails(parse(b"3\n"), "x.sln: there is no solution");
    fails(parse(b"4 70\n1 2 3 4"), "x.sln:1:1: this is a solution of size 4, but the instance has size 3");
    fails(parse(b"3 70\n1 2"), "x.sln: the permutation has 2 numbers, not 3");
    fails(parse(b"3 70\n1 2 3 1"), "x.sln: the permutation has 4 numbers, not 3");
    fails(parse(b"3 70\n1\n2 2"), "x.sln:3:3: 2 appears here a second time; 3 is missing");
    fails(parse(b"3 70\n0,1,1"), "x.sln:2:5: 1 appears here a second time; 2 is missing");
    fails(parse(b"3 70\n1 2 4"), "x.sln:2:5: 4 is not a number from 1 to 3");
    fails(parse(b"3 70\n0 2 3"), "x.sln:2:5: 3 is not a number from 0 to 2");
    fails(parse(b"3 70\n-1 2 3"), "x.sln:2:1: -1 is not a number from 1 to 3");
    fails(parse(b"3 cheap\n"), "x.sln:1:3: `cheap` is not a whole number");
    fails(parse(b"3 70\n1,\xff,3"), "x.sln:2:3: `\u{fffd}` is not a whole number");
}

fn a_saved_solution_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("uniform.sln");
    let qap = Qap::uniform(50, 3).unwrap();
    let permutation: Vec<u32> = (0..50).map(|i| i * 7 % 50).collect();
    qap.save_solution(&permutation, &path).unwrap();
    let (cost, read) = qaplib::read_solution(&path, 50).unwrap();
    assert_eq!((Some(cost), &read), (qap.cost(&permutation), &permutation));
    fails(qap.save_solution(&[0; 50], &path), "uniform50-s3: the solution is not a permutation");
    fails(qap.save_solution(&permutation, &folder.path().join("none/x.sln")), "cannot write ");
}

/// The matrix of a permuted perceptron problem as -1 and 1, entry by entry.
fn entry(instance: &Perceptron, i: u32, j: u32) -> i64 {
    let word = instance.rows[(i * instance.n.div_ceil(32) + j / 32) as usize];
    if word >> (j % 32) & 1 == 1 { 1 } else { -1 }
}

/// The cost by the words of the definition.
fn naive_cost(instance: &Perceptron, v: &[u8]) -> i64 {
    let sign = |j: u32| if v[j as usize] == 1 { 1 } else { -1 };
    let product = |i| (0..instance.n).map(|j| entry(instance, i, j) * sign(j)).sum::<i64>();
    let products: Vec<i64> = (0..instance.m).map(product).collect();
    assert!(instance.products(v).iter().copied().map(i64::from).eq(products.iter().copied()));
    let negative: i64 = products.iter().map(|y| y.abs() - y).sum();
    let count = |value: usize| products.iter().filter(|&&y| y == value as i64).count() as i64;
    let miscounted: i64 =
        instance.target.iter().enumerate().map(|(v, &target)| (count(v) - i64::from(target)).abs()).sum();
    NEGATIVE_WEIGHT * negative + COUNT_WEIGHT * miscounted
}

fn a_planted_solution_costs_nothing() {
    for (m, n) in [(1, 1), (73, 73), (101, 117), (64, 96), (401, 417)] {
        let instance = Perceptron::generate(m, n, 1).unwrap();
        assert_eq!(instance.target.iter().sum::<u32>(), m);
        assert!(instance.products(&instance.planted).iter().all(|&y| y >= 0));
        assert_eq!((instance.cost(&instance.planted), naive_cost(&instance, &instance.planted)), (0, 0));
        // Its opposite has the opposite products.
        let opposite: Vec<u8> = instance.planted.iter().map(|entry| 1 - entry).collect();
        assert!(instance.cost(&opposite) > 0);
    }
}

fn broken_numbers_are_located() {
    let parse = |text: &[u8]| partition::parse("x.txt", "x", text, 2);
    assert_eq!(parse(b" 5\r\n7 +9\n").unwrap().numbers, [5, 7, 9]);
    fails(parse(b"\n"), "x.txt: there are no numbers");
    fails(parse(b"1 2\n3 0"), "x.txt:2:3: `0` is not a whole number above 0");
    fails(parse(b"1\n\n-2"), "x.txt:3:1: `-2` is not a whole number above 0");
    fails(parse(b"1\n2.5"), "x.txt:2:1: `2.5` is not a whole number above 0");
    fails(parse(b"1\n\xff"), "x.txt:2:1: `\u{fffd}` is not a whole number above 0");
    fails(
        parse(b"1\n9223372036854775807"),
        "x.txt:2:1: with `9223372036854775807` the sum of all numbers is",
    );
    assert!(parse(b"1073741822 1").is_ok());
    fails(parse(b"1073741822\n1 1"), "x.txt:2:3: with `1` the sum of all numbers is 1073741824 or more");
}

fn broken_graphs_are_located() {
    let parse = |text: &[u8]| max_cut::parse("x.txt", "x", text);
    let graph = parse(b"4 5\r\n1 2 1\n4 2 -3\n 2 4 5 3 1 0\n1 3 7\n").unwrap();
    assert_eq!((graph.nodes, graph.edges), (4, vec![(0, 1, 1), (0, 2, 7), (1, 3, 2)]));
    assert_eq!(parse(b"1 0").unwrap().cut(&[1]), 0);
    fails(parse(b""), "x.txt: the file ends where the number of nodes should be");
    fails(parse(b"0 0"), "x.txt:1:1: `0` is not the number of nodes");
    fails(parse(b"3 -1"), "x.txt:1:3: `-1` is not the number of edges");
    fails(parse(b"3 2\n1 2 1\n"), "x.txt: the file ends where a node should be");
    fails(parse(b"3 1\n1 2"), "x.txt: the file ends where a weight should be");
    fails(parse(b"3 1\n1 4 1"), "x.txt:2:3: `4` is not a node, from 1 to 3");
    fails(parse(b"3 1\n0 1 1"), "x.txt:2:1: `0` is not a node, from 1 to 3");
    fails(parse(b"3 1\n2 2 1"), "x.txt:2:3: an edge leads from node 2 to itself");
    fails(parse(b"3 1\n1 2 0.5"), "x.txt:2:5: `0.5` is not a weight");
    fails(parse(b"3 1\n1 2 5 6"), "x.txt:2:7: `6` stands behind the last of 1 edges");
    assert!(parse(b"3 2\n1 2 1073741822\n1 3 1").is_ok());
    fails(parse(b"3 2\n1 2 1073741822\n3 1 -2"), "x.txt:3:5: the edges of node 1 weigh 1073741824 or more");
}

fn a_seed_fixes_a_graph() {
    let graph = MaxCut::random(1000, 20, 1).unwrap();
    assert_eq!((graph.name.as_str(), graph.nodes), ("max-cut-1000-20-s1", 1000));
    assert_ne!(graph.edges, MaxCut::random(1000, 20, 2).unwrap().edges);
    assert!(graph.edges.iter().all(|&(a, b, weight)| a < b && b < 1000 && weight == 1));
    assert!(graph.edges.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)));
    // Of 10,000 pairs among 499,500 about a hundred come twice.
    assert!((9_850..9_950).contains(&graph.edges.len()), "{}", graph.edges.len());
    let sides: Vec<u8> = (0..1000).map(|node| u8::from(node % 3 == 0)).collect();
    let cut = graph.edges.iter().filter(|&&(a, b, _)| (a % 3 == 0) != (b % 3 == 0)).count();
    assert_eq!(graph.cut(&sides), cut as i64);
    for (nodes, degree) in [(0, 0), (1, 0), (5, 5), (1 << 24, 200), (u32::MAX, 1)] {
        let start = format!("max-cut-{nodes}-{degree}-s1: there is no graph of");
        fails(MaxCut::random(nodes, degree, 1), &start);
    }
}

/// A permutation of 0 to n - 1 for n from 2 to `longest`.
fn permutations(longest: usize) -> impl Strategy<Value = Vec<u32>> {
    (2..=longest).prop_flat_map(|n| Just((0..n as u32).collect::<Vec<_>>()).prop_shuffle())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    fn solutions_are_written_and_read(
        cost in -(1_i64 << 60)..=1 << 60,
        permutation in permutations(150),
    ) {
        let mut text = Vec::new();
        qaplib::write_solution(&mut text, cost, &permutation).unwrap();
        prop_assert!(text.split(|&byte| byte == b'\n').all(|line| line.len() < 80));
        let read = qaplib::parse_solution("f", &text, permutation.len() as u32).unwrap();
        prop_assert_eq!(read, (cost, permutation));
    }

    fn costs_of_assignments_are_sums_over_pairs(permutation in permutations(30), seed in any::<u64>()) {
        let n = permutation.len();
        let mut qap = Qap::uniform(n as u32, seed).unwrap();
        // No longer symmetric, so that a transposed sum would show.
        (qap.a[1], qap.b[n]) = (-1000, 777);
        let mut cost = 0;
        for i in 0..n {
            for j in 0..n {
                let (p, q) = (permutation[i] as usize, permutation[j] as usize);
                cost += i64::from(qap.a[i * n + j]) * i64::from(qap.b[p * n + q]);
            }
        }
        prop_assert_eq!(qap.cost(&permutation), Some(cost));
    }

    fn costs_of_vectors_are_those_of_the_definition(
        (m, n, seed) in (1_u32..40, 1_u32..100, any::<u64>()),
        v in prop::collection::vec(0_u8..2, 100),
    ) {
        let instance = Perceptron::generate(m, n, seed).unwrap();
        let v = &v[..n as usize];
        prop_assert_eq!(instance.cost(v), naive_cost(&instance, v));
    }

    fn costs_of_sets_are_those_of_the_definition(
        (sets, seed) in (2_u32..=256, any::<u64>()),
        draws in prop::collection::vec(any::<u8>(), 1..200),
    ) {
        let instance = Partition::uniform(draws.len() as u32, sets, seed).unwrap();
        let assignment: Vec<u8> = draws.iter().map(|&draw| (u32::from(draw) % sets) as u8).collect();
        let sum = |set: u32| -> i64 {
            let members = instance.numbers.iter().zip(&assignment).filter(|&(_, &at)| u32::from(at) == set);
            members.map(|(number, _)| number).sum()
        };
        prop_assert_eq!(instance.cost(&assignment), (0..sets).map(|set| sum(set).pow(2)).sum::<i64>());
        let (low, high) = ((0..sets).map(sum).min().unwrap(), (0..sets).map(sum).max().unwrap());
        prop_assert_eq!(instance.spread(&assignment), high - low);
    }

    fn hostile_bytes_are_an_instance_or_an_error(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::sample::select(vec!["2", "3", " ", "\n", ",", "-1", "1e9", "16384", "0 1 2 3 ", "\u{feff}", "é", "1 "])
                    .prop_map(|piece| piece.as_bytes().to_vec()),
                prop::collection::vec(any::<u8>(), 1..4),
            ],
            0..40,
        ),
    ) {
        let bytes = pieces.concat();
        if let Ok(qap) = qaplib::parse("f", "f", &bytes) {
            prop_assert!(qap.cost(&(0..qap.n).collect::<Vec<_>>()).is_some());
        }
        let _ = qaplib::parse_solution("f", &bytes, 2);
        if let Ok(instance) = partition::parse("f", "f", &bytes, 3) {
            prop_assert!(instance.cost(&vec![2; instance.numbers.len()]) < 1 << 60);
        }
        if let Ok(graph) = max_cut::parse("f", "f", &bytes) {
            prop_assert_eq!(graph.cut(&vec![1; graph.nodes as usize]), 0);
        }
    }
}
