//! Tours of any shape: open paths, fixed and forbidden edges, by options and by files.

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};

use crate::world::{Folder, antwarp, json as read, solve};

tests! {
    open_paths_by_options_alone,
    a_proof_for_rounded_lengths_is_called_one_for_paths_too,
    fixed_edges_by_options_and_by_files,
    forbidden_edges_are_avoided_on_places_too,
    edges_of_directed_instances_have_a_direction,
    contradictions_are_refused_before_the_run,
    outputs_show_the_shape,
    check_knows_the_shape,
    bound_and_bench_say_what_they_do_not_take,
}

/// Thirteen places; from the eighth the way leads to the first only, and no other way leads there.
const FIXED_ENDS: &str = "\
0 838 8970 7787 8698 7813 3595 9397 5076 5955 9448 7869 7589
1000000 0 9042 8530 8890 7502 2950 9471 5672 6234 9701 8194 7684
1000000 9236 0 957 5190 6115 10122 3459 4339 3589 896 4138 3521
1000000 8187 1221 0 5454 6362 9245 3938 3785 2827 1758 3398 3361
1000000 8675 5032 5298 0 1717 8075 1961 7288 6584 5116 8177 2272
1000000 7706 6215 6052 2067 0 6546 3636 7147 6673 6388 8782 2971
1000000 2892 10109 9551 8340 6873 0 9450 7394 7974 10748 10120 7769
0 1000000 1000000 1000000 1000000 1000000 1000000 0 1000000 1000000 1000000 1000000 1000000
1000000 5832 4490 3428 7173 7302 7643 6668 0 965 5029 2978 5291
1000000 6327 3619 2874 6490 6800 8018 5677 1274 0 4362 2437 4562
1000000 9984 688 1778 5228 6639 10722 3481 5302 4419 0 4397 3688
1000000 8256 3905 3504 8265 8893 10117 6999 2847 2479 4629 0 6048
1000000 7788 3685 3286 2222 3035 7662 2077 5107 4383 3765 6130 0";

/// From everywhere a way that costs nothing leads to the first place.
const START_ONLY: &str = "\
0 838 8970 7787 8698 7813 3595 9397 5076 5955 9448 7869 7589
0 0 9042 8530 8890 7502 2950 9471 5672 6234 9701 8194 7684
0 9236 0 957 5190 6115 10122 3459 4339 3589 896 4138 3521
0 8187 1221 0 5454 6362 9245 3938 3785 2827 1758 3398 3361
0 8675 5032 5298 0 1717 8075 1961 7288 6584 5116 8177 2272
0 7706 6215 6052 2067 0 6546 3636 7147 6673 6388 8782 2971
0 2892 10109 9551 8340 6873 0 9450 7394 7974 10748 10120 7769
0 9546 3748 3866 2060 3686 9296 0 6611 5690 3609 7019 1748
0 5832 4490 3428 7173 7302 7643 6668 0 965 5029 2978 5291
0 6327 3619 2874 6490 6800 8018 5677 1274 0 4362 2437 4562
0 9984 688 1778 5228 6639 10722 3481 5302 4419 0 4397 3688
0 8256 3905 3504 8265 8893 10117 6999 2847 2479 4629 0 6048
0 7788 3685 3286 2222 3035 7662 2077 5107 4383 3765 6130 0";

/// Thirteen places.
const PLAIN: &str = "\
0 555 7184 6477 7129 6253 2710 7534 4161 4665 7734 6327 6081
555 0 7491 6804 7129 6162 2188 7648 4613 5074 8031 6802 6198
7184 7491 0 760 4178 5068 8260 2818 3607 2866 565 3121 2758
6477 6804 760 0 4283 4977 7685 3121 2849 2106 1324 2596 2682
7129 7129 4178 4283 0 1428 6697 1588 5817 5258 4250 6730 1720
6253 6162 5068 4977 1428 0 5437 2886 5822 5408 5265 7157 2315
2710 2188 8260 7685 6697 5437 0 7637 6118 6380 8741 8318 6291
7534 7648 2818 3121 1588 2886 7637 0 5288 4612 2774 5705 1453
4161 4613 3607 2849 5817 5822 6118 5288 0 747 4166 2211 4142
4665 5074 2866 2106 5258 5408 6380 4612 747 0 3427 2022 3551
7734 8031 565 1324 4250 5265 8741 2774 4166 3427 0 3529 2998
6327 6802 3121 2596 6730 7157 8318 5705 2211 2022 3529 0 5029
6081 6198 2758 2682 1720 2315 6291 1453 4142 3551 2998 5029 0";

/// Seven lines, each from an odd place to the next one.
const LINES: &str = "\
1 80 59
2 176 137
3 199 75
4 171 180
5 105 152
6 149 149
7 68 55
8 78 5
9 68 122
10 97 51
11 44 145
12 92 61
13 82 123
14 198 36";

fn matrix(kind: &str, rows: &str) -> Vec<u8> {
    let head = format!("NAME: m\nTYPE: {kind}\nDIMENSION: 13\nEDGE_WEIGHT_TYPE: EXPLICIT");
    format!("{head}\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n{rows}\nEOF\n").into_bytes()
}

fn lines(more: &str) -> Vec<u8> {
    let head = "NAME: lines\nTYPE: TSP\nDIMENSION: 14\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION";
    format!("{head}\n{LINES}\n{more}EOF\n").into_bytes()
}

/// The report of a run that succeeds.
fn report(folder: &Folder, args: &[&str]) -> Value {
    let path = folder.path("report.json");
    solve(args).args(["--time", "5s", "--json", &path]).assert().success();
    read(&path)
}

fn open_paths_by_options_alone() {
    let folder = Folder::new(5);
    let ends = folder.file("ends.atsp", &matrix("ATSP", FIXED_ENDS));
    let start = folder.file("start.atsp", &matrix("ATSP", START_ONLY));
    let plain = folder.file("plain.tsp", &matrix("TSP", PLAIN));
    for (file, options, cost) in [
        (&ends, &["--open", "--start", "1", "--end", "8"][..], 30_956),
        (&ends, &["--start", "1", "--end", "8"], 30_956),
        (&start, &["--open", "--start", "1"], 28_926),
        (&plain, &["--open", "--start", "3", "--end", "10"], 25_614),
        (&plain, &["--end", "10", "--start", "3"], 25_614),
        (&plain, &["--open"], 20_969),
    ] {
        let report = report(&folder, &[&[file.as_str()], options].concat());
        assert_eq!(report["cost"], json!(cost), "{options:?}");
        let facts = &report["instance"];
        let end = |name: &str| {
            let at = options.iter().position(|option| *option == name);
            at.map_or(Value::Null, |at| json!(options[at + 1].parse::<u32>().unwrap()))
        };
        assert_eq!((&facts["open"], &facts["start"]), (&json!(true), &end("--start")));
        assert_eq!((&facts["end"], &facts["fixed_edges"]), (&end("--end"), &json!(0)));
        let tour = report["tour"].as_array().unwrap();
        assert!(end("--start").is_null() || tour[0] == end("--start"));
        assert!(end("--end").is_null() || tour[12] == end("--end"));
    }
}

/// Few places are solved by their real lengths, others by lengths that are rounded internally; however that is proven, the parts of a
/// report agree.
fn a_proof_for_rounded_lengths_is_called_one_for_paths_too() {
    let folder = Folder::new(5);
    let places = |count: u32| -> String {
        let place = |i: u32| format!("{}.5,{}.25\n", i * 37 % 101, i * i * 53 % 89);
        std::iter::once("x,y\n".to_owned()).chain((1..=count).map(place)).collect()
    };
    for (count, options, reason) in [
        (14, &[][..], "optimal-rounded"),
        (14, &["--open"], "optimal"),
        (14, &["--open", "--bound"], "optimal"),
        (30, &["--open"], "optimal-rounded"),
    ] {
        let file = folder.file("places.csv", places(count).as_bytes());
        let found = report(&folder, &[&[file.as_str()], options].concat());
        assert_eq!(found["stopped_by"], reason, "{count} {options:?}");
        let most = found["bound"]["most_percent"].as_f64().unwrap();
        assert_eq!(most == 0.0, reason == "optimal", "{count} {options:?}: {most}");
    }
}

fn fixed_edges_by_options_and_by_files() {
    let folder = Folder::new(5);
    let section = "FIXED_EDGES_SECTION\n1 2\n3 4\n5 6\n7 8\n9 10\n11 12\n13 14\n-1\n";
    let with_section = folder.file("section.tsp", &lines(section));
    let without = folder.file("lines.tsp", &lines(""));
    let edges = folder.file("edges.txt", b"# lines\n1,2\n4 3\n\n5\t6\n7, 8 # the fourth\n10 9\n11 12\n");
    let each =
        ["--fix", "1,2", "--fix", "3,4", "--fix", "5,6", "--fix", "8,7", "--fix", "9,10", "--fix", "12,11"];
    for (file, options) in [
        (&with_section, vec![]),
        (&with_section, vec!["--fix", "14,13", "--fix", "1,2"]),
        (&without, [&each[..], &["--fix", "13,14"]].concat()),
        (&without, vec!["--fix", &edges, "--fix", "13,14"]),
    ] {
        let report = report(&folder, &[&[file.as_str()][..], &options].concat());
        assert_eq!(report["cost"], json!(947), "{options:?}");
    }
    let wrong = folder.file("wrong.txt", b"1,2\n3,99\n");
    let refused = |options: &[&str], status: i32, words: &[&str]| {
        let assert = solve(&[&[without.as_str()], options].concat()).assert().code(status);
        words.iter().fold(assert, |assert, word| assert.stderr(contains(*word)));
    };
    refused(&["--fix", &wrong], 3, &["wrong.txt:2", "no node 99"]);
    refused(&["--fix", "nowhere.txt"], 3, &["nowhere.txt", "3,7"]);
    refused(&["--fix", "1,2,3"], 3, &["1,2,3 cannot be split"]);
    refused(&["--fix", &edges, "--tour", &edges], 2, &["a file of fixed edges"]);
}

/// Names may have commas.
fn names_of_pairs(folder: &Folder) {
    let named = b"name,x,y\n\"Ulm, Donau\",0,0\n\"a,b\",1,0\na,2,1\nb,0,1\n\"b,a\",3,3\n";
    let named = folder.file("named.csv", named);
    let found = report(folder, &[&named, "--fix", "Ulm, Donau,a"]);
    let tour: Vec<&str> = found["names"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let at = |name: &str| tour.iter().position(|other| *other == name).unwrap();
    assert!(matches!(at("Ulm, Donau").abs_diff(at("a")), 1 | 4), "{tour:?}");
    solve(&[&named, "--fix", "a,b,a"])
        .assert()
        .code(3)
        .stderr(contains("several ways").and(contains("a tab between the two nodes")));
}

fn forbidden_edges_are_avoided_on_places_too() {
    let folder = Folder::new(5);
    names_of_pairs(&folder);
    let ring = folder.file("ring.csv", b"x,y\n0,0\n2.5,0\n5,0\n5,2.5\n5,5\n2.5,5\n0,5\n0,2.5\n");
    let best = report(&folder, &[&ring]);
    assert_eq!((&best["cost"], &best["instance"]["forbidden_edges"]), (&json!(20.0), &json!(0)));
    let without = report(&folder, &[&ring, "--forbid", "1,2", "--open"]);
    assert_eq!((&without["cost"], &without["instance"]["forbidden_edges"]), (&json!(17.5), &json!(1)));
    let list = folder.file("list.txt", b"1 2\n2 3\n1 8\n");
    let tour = folder.path("a.tour");
    let report = report(&folder, &[&ring, "--forbid", &list, "--tour", &tour]);
    assert!(report["cost"].as_f64().unwrap() > 20.5 && report["forbidden"] == json!([]), "{report}");
    antwarp(&["check", &ring, &tour, "--forbid", &list]).assert().success();
    // A star has no tour without an edge between its tips.
    let tips = folder.file("tips.txt", b"2 3\n2 4\n2 5\n3 4\n3 5\n4 5\n");
    let star = folder.file("star.csv", b"x,y\n0,0\n1,0\n0,1\n-1,0\n0,-1\n");
    solve(&[&star, "--forbid", &tips]).assert().code(7).stderr(contains("every tour is proven to have one"));
}

fn edges_of_directed_instances_have_a_direction() {
    let folder = Folder::new(5);
    let arcs = folder.file("arcs.csv", b"0,1,9,9\n9,0,1,9\n9,9,0,1\n1,9,9,0\n");
    let cost = |options: &[&str]| report(&folder, &[&[arcs.as_str()], options].concat())["cost"].clone();
    assert_eq!(cost(&[]), json!(4));
    assert_eq!(cost(&["--forbid", "2,1"]), json!(4));
    assert_eq!(cost(&["--fix", "1,2"]), json!(4));
    assert!(cost(&["--forbid", "1,2"]).as_f64().unwrap() > 4.0);
    let back = report(&folder, &[&arcs, "--fix", "2,1"]);
    let tour: Vec<i64> = back["tour"].as_array().unwrap().iter().filter_map(Value::as_i64).collect();
    assert!((0..4).any(|at| (tour[at], tour[(at + 1) % 4]) == (2, 1)), "{tour:?}");
    let section = "NAME: s\nTYPE: ATSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\n\
                   EDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n0 1 5\n5 0 1\n1 5 0\n\
                   FIXED_EDGES_SECTION\n2 1\n-1\nEOF\n";
    let section = folder.file("section.atsp", section.as_bytes());
    assert_eq!(report(&folder, &[&section])["cost"], json!(15));
    let tour = folder.file("b.tour", b"1 2 3");
    antwarp(&["check", &section, &tour]).assert().code(6).stderr(contains("from 2 to 1"));
}

fn contradictions_are_refused_before_the_run() {
    let folder = Folder::new(20);
    let arcs = folder.file("arcs.csv", b"0,1,9,9\n9,0,1,9\n9,9,0,1\n1,9,9,0\n");
    let refused = |file: &str, options: &[&str], words: &str| {
        solve(&[&[file], options].concat()).assert().code(3).stderr(contains(words)).stdout("");
    };
    for (options, words) in [
        (
            &["--fix", "4,5", "--fix", "4,6", "--fix", "7,4"][..],
            "node 4 has more than two fixed edges: to 5, 6, 7",
        ),
        (&["--open", "--start", "4", "--fix", "4,5", "--fix", "4,6"], "the path starts at node 4"),
        (&["--end", "4", "--fix", "4,5", "--fix", "4,6"], "the path ends at node 4"),
        (&["--fix", "1,2", "--fix", "2,3", "--fix", "3,1"], "close a loop of 3 nodes"),
        (&["--start", "3", "--end", "3"], "start and end at the same node, 3"),
        (&["--fix", "1,2", "--forbid", "2,1"], "from 1 to 2 is both fixed and forbidden"),
        (&["--fix", "7,7"], "from node 7 to itself"),
        (&["--forbid", "7,7"], "from node 7 to itself"),
        (&["--start", "1", "--end", "2", "--fix", "1,2"], "through 2 nodes, but paths visit 20"),
    ] {
        refused(&folder.instance, options, words);
    }
    let all = folder.file("all.txt", b"1 2\n1 3\n1 4\n2 1\n3 1\n4 1\n");
    for (options, words) in [
        (&["--fix", "1,2", "--fix", "1,3"][..], "more than one fixed edge leads from node 1: to 2, 3"),
        (&["--fix", "2,1", "--fix", "3,1"], "more than one fixed edge leads to node 1: from 2, 3"),
        (&["--open", "--start", "1", "--fix", "2,1"], "the path starts at node 1"),
        (&["--end", "1", "--fix", "1,2"], "the path ends at node 1"),
        (&["--forbid", &all], "all edges at node 1 are forbidden"),
    ] {
        refused(&arcs, options, words);
    }
    // Without an edge from a node there is still the tour with the fewest forbidden ones.
    let some = ["--forbid", "1,2", "--forbid", "1,3", "--forbid", "1,4"];
    solve(&[&[arcs.as_str()], &some[..]].concat()).assert().code(7).stderr(contains("proven to have one"));
    // An edge that is given twice is no contradiction.
    solve(&[&arcs, "--fix", "1,2", "--fix", "1,2"]).assert().success();
}

fn outputs_show_the_shape() {
    let folder = Folder::new(5);
    let plain = folder.file("places.csv", b"name,x,y\nA,0,0\nB,1,0\nC,2,0\nD,3,0\nE,4,1\n");
    let [tour, csv, svg] = ["a.tour", "a.csv", "a.svg"].map(|name| folder.path(name));
    let shape = ["--start", "A", "--end", "E", "--fix", "B,D", "--forbid", "A,B"];
    let files = ["--tour", &tour, "--csv", &csv, "--svg", &svg];
    solve(&[&[plain.as_str()], &shape[..], &files].concat())
        .assert()
        .success()
        .stdout(contains("open path from A to E, 1 fixed edge, 1 forbidden pair"))
        .stdout(contains("A -> C -> B -> D -> E"));
    let rows = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(rows.lines().count(), 1 + 5, "an open path has no way home: {rows}");
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert_eq!(picture.matches("<polyline").count(), 4 + 1, "{picture}");
    assert!(picture.contains(r#"class="fixed""#));
    antwarp(&[&["check", &plain, &tour][..], &shape].concat())
        .assert()
        .success()
        .stdout(contains("valid, 5 nodes, open path from A to E"));
    let links = folder.file("links.csv", b"from,to,cost\nA,B,1\nB,C,2\nC,A,3\nC,D,4\nD,A,5\n");
    antwarp(&["info", &links]).assert().success().stdout(contains("forbidden pairs  1"));
}

fn check_knows_the_shape() {
    let folder = Folder::new(5);
    let plain = folder.file("places.csv", b"x,y\n0,0\n1,0\n2,0\n3,0\n4,1\n");
    let tour = folder.file("a.tour", b"1 2 3 4 5");
    let check = |options: &[&str]| antwarp(&[&["check", &plain, &tour], options].concat()).assert();
    check(&["--open", "--start", "1", "--fix", "3,2"]).success().stdout(contains("cost         4.4142"));
    check(&["--start", "1", "--end", "5"]).success();
    check(&["--open", "--start", "2"]).code(6).stderr(contains("the path starts at node 1, not at 2"));
    check(&["--end", "1"]).code(6).stderr(contains("the path ends at node 5, not at 1"));
    check(&["--fix", "5,1"]).success();
    check(&["--open", "--fix", "5,1"]).code(6).stderr(contains("does not use the edge 5-1"));
    check(&["--fix", "2,4"]).code(6).stderr(contains("does not use the edge 2-4"));
    check(&["--forbid", "3,2"]).code(7).stderr(contains("from 2 to 3, which is forbidden"));
    check(&["--open", "--forbid", "5,1"]).success();
    check(&["--start", "1"]).code(2).stderr(contains("--start does nothing here without --open"));
    check(&["--fix", "1,2", "--fix", "1,3", "--fix", "1,4"]).code(3).stderr(contains("more than two fixed"));
}

fn bound_and_bench_say_what_they_do_not_take() {
    let folder = Folder::new(30);
    antwarp(&["bound", &folder.instance, "--fix", "1,2", "--forbid", "3,4"])
        .assert()
        .success()
        .stdout(contains("1 fixed edge, 1 forbidden pair"));
    antwarp(&["bound", &folder.instance, "--open"]).assert().success().stdout(contains("open path"));
    antwarp(&["bound", "E10k.0", "--open"]).assert().code(3).stderr(contains("up to 3,000"));
    antwarp(&["bound", &folder.instance, "--start", "1"])
        .assert()
        .code(2)
        .stderr(contains("--start does nothing"));
    antwarp(&["bench", "solve", "--instances", &folder.instance, "--backend", "cpu", "--", "--fix", "1,2"])
        .assert()
        .code(2)
        .stderr(contains("--fix cannot be used here"));
}
