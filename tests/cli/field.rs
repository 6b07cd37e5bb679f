//! Files as people have them, and the costs of their tours.

use predicates::prelude::*;
use predicates::str::contains;
use tempfile::TempDir;

use crate::world::{antwarp, solve};

tests! {
    places_in_degrees_are_metres_apart,
    places_keep_their_decimals,
    matrices_and_edges_are_read_with_any_labels,
    what_cannot_be_read_is_refused_by_what_it_is_and_with_a_remedy,
    what_was_read_is_said_and_names_of_files_do_not_matter,
    tours_are_read_as_other_programs_write_them,
    tours_of_names_are_read_and_a_name_of_two_is_refused,
    coarse_rounding_is_told_with_the_true_length_and_the_remedy,
    ends_of_open_paths_and_fixed_edges_of_a_few_nodes,
    a_forbidden_pair_has_its_own_exit_status_and_is_in_no_sum,
    costs_and_targets_are_in_the_user_s_unit,
    a_huge_range_with_tiny_differences_is_refused_with_a_remedy_that_works,
    a_search_for_tours_reports_the_user_s_costs,
    a_tour_is_shown_and_written_with_names,
    addresses_are_names_of_places,
    what_is_missing_is_pointed_at,
    files_that_a_stranger_made_are_read_or_refused,
    what_may_be_thousands_is_refused_and_an_option_chooses,
    half_a_matrix_counts_both_ways,
    what_is_damaged_or_has_two_meanings_is_refused_with_a_remedy_that_works,
    graphs_of_networkx_are_edges,
    names_keep_their_meaning,
    tours_as_tables_and_as_pairs,
    what_a_file_says_beside_its_numbers_is_heard,
    a_second_meaning_is_refused_or_warned_of,
    answers_of_routing_services_are_matrices,
    tables_that_programs_print_are_read,
    tours_are_found_in_any_layout,
    what_only_looks_like_something_else_is_read_as_it_is,
}

fn file(folder: &TempDir, name: &str, content: &[u8]) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The cost that a short run finds, as its JSON says it.
fn cost(path: &str, options: &[&str]) -> f64 {
    let output =
        solve(&[path, "--iterations", "200", "--seed", "1", "--json", "-"]).args(options).assert().success();
    let report: serde_json::Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    let cost = &report["result"]["cost"];
    cost.as_f64().or_else(|| report["cost"].as_f64()).unwrap_or_else(|| panic!("no cost in {report}"))
}

fn costs(cases: &[(&str, &[u8], &[&str], f64)]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, content, options, right) in cases {
        let found = cost(&file(&folder, name, content), options);
        assert!((found - right).abs() <= 6e-7 * right, "{name}: {found}, not {right}");
    }
}

/// A file of this text is refused, with what is wrong and what to do.
fn refused(folder: &TempDir, name: &str, text: &str, told: &str, remedy: &str) {
    let output = solve(&[&file(folder, name, text.as_bytes())]).assert().code(3);
    let shown = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(shown.contains(told) && shown.contains(remedy), "{name}: {shown}");
}

const STOPS: &str = "id,name,lat,lon\n1,\"Stop 1, Town\",50.106856,8.682796\n2,\"Stop 2, Town\",50.108439,8.683871\n3,\"Stop 3, Town\",50.111509,8.67418\n4,\"Stop 4, Town\",50.104158,8.688074\n5,\"Stop 5, Town\",50.107112,8.677218\n6,\"Stop 6, Town\",50.115948,8.681465\n7,\"Stop 7, Town\",50.114038,8.681574\n8,\"Stop 8, Town\",50.111669,8.675711\n9,\"Stop 9, Town\",50.111618,8.688625\n10,\"Stop 10, Town\",50.110278,8.686343\n11,\"Stop 11, Town\",50.112057,8.674153\n";
const UNIT: &str =
    "0.85,0.77\n1.0,0.47\n0.1,0.56\n0.33,0.91\n0.62,0.12\n0.05,0.05\n0.47,0.5\n0.9,0.2\n0.2,0.3\n0.7,0.6\n";
const EIGHT: &str = "1,30,10\n2,70,20\n3,20,60\n4,90,80\n5,50,50\n6,10,90\n7,60,95\n8,35,75\n";

fn places_in_degrees_are_metres_apart() {
    let places = || STOPS.lines().skip(1).map(|line| line.rsplit(',').take(2).collect::<Vec<_>>());
    let json = places().map(|place| format!("[{}, {}]", place[1], place[0])).collect::<Vec<_>>().join(", ");
    costs(&[
        ("stops.csv", STOPS.as_bytes(), &[], 4056.6725),
        (
            "spaced.csv",
            STOPS.replace(", Town", "").replace('"', "").replace(',', ", ").as_bytes(),
            &[],
            4056.6725,
        ),
        ("stops.json", format!("[{json}]").as_bytes(), &["--columns", "lat=1,lon=2"], 4056.6725),
        (
            "lonlat.csv",
            b"name,longitude,latitude\nA,13.41,52.52\nB,2.35,48.86\nC,12.48,41.89\n",
            &[],
            3_167_571.0,
        ),
    ]);
}

fn places_keep_their_decimals() {
    let eight = EIGHT.replace(',', " ");
    let counted = format!("8\n{}", eight.lines().map(|line| format!("{}\n", &line[2..])).collect::<String>());
    let utf16: Vec<u8> =
        format!("\u{feff}id,x,y\n{EIGHT}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    costs(&[
        ("unit.csv", format!("x,y\n{UNIT}").as_bytes(), &[], 3.3885015),
        ("unit.txt", UNIT.replace(',', " ").as_bytes(), &[], 3.3885015),
        ("id-x-y.csv", EIGHT.as_bytes(), &[], 304.6109),
        ("id-x-y.txt", eight.as_bytes(), &[], 304.6109),
        ("named-id.csv", format!("id,x,y\n{EIGHT}").as_bytes(), &[], 304.6109),
        ("count-first.txt", counted.as_bytes(), &[], 304.6109),
        ("utf16.csv", &utf16, &[], 304.6109),
        ("three-id-x-y.csv", b"1,0,0\n2,300,0\n3,0,400\n", &[], 1200.0),
        ("XCoord.csv", b"city,x_coord,y_coord\nA,10,20\nB,30,40\nC,50,10\n", &[], 105.5708),
        ("upper.csv", b"ID;X;Y\n1;10;20\n2;30;40\n3;50;10\n", &[], 105.5708),
    ]);
}

fn matrices_and_edges_are_read_with_any_labels() {
    costs(&[
        ("labels.csv", b",A,B,C,D\nA,0,10,15,20\nB,10,0,35,25\nC,15,35,0,30\nD,20,25,30,0\n", &[], 80.0),
        ("labels-top.csv", b"A,B,C,D\n0,10,15,20\n10,0,35,25\n15,35,0,30\n20,25,30,0\n", &[], 80.0),
        ("index-matrix.csv", b"1,0,10,15,20\n2,10,0,35,25\n3,15,35,0,30\n4,20,25,30,0\n", &[], 80.0),
        (
            "pandas-index.csv",
            b",0,1,2,3\n0,0,10,15,20\n1,10,0,35,25\n2,15,35,0,30\n3,20,25,30,0\n",
            &[],
            80.0,
        ),
        (
            "brackets.txt",
            b"[[0, 10, 15, 20],\n [10, 0, 35, 25],\n [15, 35, 0, 30],\n [20, 25, 30, 0]]\n",
            &[],
            80.0,
        ),
        ("count-matrix.txt", b"4\n0 10 15 20\n10 0 35 25\n15 35 0 30\n20 25 30 0\n", &[], 80.0),
        ("pandas3.csv", b"0,1,2\n0,700,400\n700,0,900\n400,900,0\n", &[], 2000.0),
        ("edges.txt", b"1 2 10\n1 3 15\n1 4 20\n2 3 35\n2 4 25\n3 4 30\n", &[], 80.0),
        ("od.csv", b"from,to,cost\nA,B,10\nA,C,15\nA,D,20\nB,C,35\nB,D,25\nC,D,30\n", &[], 80.0),
    ]);
}

fn what_cannot_be_read_is_refused_by_what_it_is_and_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let refused: &[(&str, &[u8], &str, &str)] = &[
        (
            "swapped.csv",
            b"name,lat,lon\nc0,12.48,41.89\nc7,151.21,-33.87\n",
            "151.21",
            "--columns lat=3,lon=2",
        ),
        (
            "google.txt",
            b"0.85 0.77 1.0 0.47 0.1 0.56 output 1 2 3 1\n",
            "pointer network data",
            "a line `x y`",
        ),
        (
            "p.geojson",
            b"{\"type\":\"FeatureCollection\",\"features\":[]}",
            "this GeoJSON FeatureCollection is empty",
            "export",
        ),
        (
            "p.gpx",
            b"<?xml version=\"1.0\"?><gpx><wpt lat=\"48.1\" lon=\"11.5\"/></gpx>",
            "a GPX file",
            "gpsbabel",
        ),
        ("sheet.csv", b"PK\x03\x04\x14\0", ".xlsx", "save the sheet as CSV"),
        ("both.csv", b"x,y,lat,lon\n1,2,3,4\n5,6,7,8\n", "both x and y", "--columns x=1,y=2"),
        (
            "metric.tsp",
            b"DIMENSION: 1\nEDGE_WEIGHT_TYPE: SPHERE\nNODE_COORD_SECTION\n1 0 0\n",
            "SPHERE",
            "EUC_2D",
        ),
    ];
    for (name, content, problem, remedy) in refused {
        let path = file(&folder, name, content);
        antwarp(&["info", &path]).assert().code(3).stderr(contains(*problem)).stderr(contains(*remedy));
    }
}

fn what_was_read_is_said_and_names_of_files_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let stops = file(&folder, "stops.tsp", STOPS.as_bytes());
    let line = "latitude \"lat\", longitude \"lon\", ids \"id\", names \"name\"; great-circle metres";
    antwarp(&["info", &stops]).assert().success().stderr(contains("read 11 places from").and(contains(line)));
    let degrees = file(&folder, "d.csv", b"52.52,13.41\n48.86,2.35\n41.89,12.48\n59.33,18.07\n40.42,-3.70\n");
    antwarp(&["info", &degrees]).assert().success().stderr(contains("--columns lat=1,lon=2"));
    let latin = file(&folder, "l.csv", b"name,lat,lon\nM\xfcnchen,48.14,11.58\nK\xf6ln,50.94,6.96\n");
    antwarp(&["info", &latin]).assert().success().stderr(contains("latin-1"));
    let tsplib = file(&folder, "i.csv", I8.as_bytes());
    antwarp(&["info", &tsplib]).assert().success().stdout(contains("EUC_2D"));
    antwarp(&["info", "-"])
        .write_stdin("x,y\n0,0\n3,4\n")
        .assert()
        .success()
        .stderr(contains("2 places from the standard input"));
    file(&folder, "E1k.0", I8.as_bytes());
    let mut run = antwarp(&["info", "E1k.0"]);
    run.current_dir(folder.path())
        .assert()
        .code(3)
        .stderr(contains("`./E1k.0` is the file").and(contains("portgen-1000-1000")));
    antwarp(&["info", "./E1k.0"]).current_dir(folder.path()).assert().success().stdout(contains("EUC_2D"));
}

const I8: &str = "NAME : i8\nTYPE : TSP\nDIMENSION : 8\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 30 10\n2 70 20\n3 20 60\n4 90 80\n5 50 50\n6 10 90\n7 60 95\n8 35 75\nEOF\n";

fn tours_are_read_as_other_programs_write_them() {
    let folder = tempfile::tempdir().unwrap();
    let instance = file(&folder, "i.tsp", I8.as_bytes());
    let tours = [
        "1 -> 3 -> 6 -> 8 -> 7 -> 4 -> 5 -> 2\n",
        "1 \u{2192} 3 \u{2192} 6 \u{2192} 8 \u{2192} 7 \u{2192} 4 \u{2192} 5 \u{2192} 2\n",
        "[1, 3, 6, 8, 7, 4, 5, 2]\n",
        "NAME : i8.opt\nTYPE : TOUR\nDIMENSION : 8\nTOUR_SECTION\n1\n3\n6\n8\n7\n4\n5\n2\n1\n-1\nEOF\n",
        "1,3,6,8,7,4,5,2\n",
        "0\n2\n5\n7\n6\n3\n4\n1\n",
        "8\n0 2 5 7 6 3 4 1 \n",
        "8 8\n0 2 51\n2 5 32\n5 7 29\n7 6 32\n6 3 34\n3 4 50\n4 1 36\n1 0 41\n",
        "NAME : i8.opt\nTYPE : TOUR\nDIMENSION : 8\nTOUR_SECTION\n1 3 6 8 7 4 5 2 -1\nEOF\n",
        "0 2 5 7 6 3 4 1\n",
        "Objective: 305\nRoute:\n 0 -> 2 -> 5 -> 7 -> 6 -> 3 -> 4 -> 1 -> 0\n",
        "Route for vehicle 0: 0 -> 2 -> 5 -> 7 -> 6 -> 3 -> 4 -> 1 -> 0\nDistance of the route: 305m\n",
        "{\"cost\": 305, \"tour\": [1, 3, 6, 8, 7, 4, 5, 2]}\n",
        "position,id,x\n1,1,30\n2,3,20\n3,6,10\n4,8,35\n5,7,60\n6,4,90\n7,5,50\n8,2,70\n",
    ];
    for text in tours {
        let tour = file(&folder, "t", text.as_bytes());
        antwarp(&["check", &instance, &tour]).assert().success().stdout(contains("305"));
    }
    let lkh = "NAME : i8.0.tour\nCOMMENT : Length = 0\nTYPE : TOUR\nDIMENSION : 8\nTOUR_SECTION\n1\n3\n6\n8\n7\n4\n5\n2\n-1\nEOF\n";
    let tour = file(&folder, "lkh", lkh.as_bytes());
    antwarp(&["check", &instance, &tour])
        .assert()
        .success()
        .stdout(contains("305"))
        .stderr(contains("warning: a comment"));
    let right = file(&folder, "lkh", lkh.replace("= 0", "= 305").as_bytes());
    antwarp(&["check", &instance, &right]).assert().success().stderr(contains("a comment").not());
    let edge =
        file(&folder, "edge", b"TYPE : TOUR\nDIMENSION : 8\nTOUR_SECTION\n1\n2\n3\n4\n5\n6\n7\n9\n-1\n");
    antwarp(&["check", &instance, &edge]).assert().code(6).stderr(contains("has no node 9"));
    let behind = file(
        &folder,
        "behind",
        format!("TOUR_SECTION\n1 3 6 8 7 4 5 2 -1\n{}", &I8[I8.find("NODE").unwrap()..]).as_bytes(),
    );
    antwarp(&["check", &instance, &behind]).assert().code(6).stderr(contains("not a section of a tour"));
}

fn tours_of_names_are_read_and_a_name_of_two_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let instance = file(&folder, "n.csv", b"name,x,y\nOld Town,0,0\nB,3,0\n\"C, east\",3,4\nB,9,9\n");
    let named = file(&folder, "m.csv", b"name,x,y\nOld Town,0,0\nB,3,0\n\"C, east\",3,4\n");
    for text in [
        "Old Town -> B -> \"C, east\" -> Old Town\n",
        "name,x\nB,3\n\"C, east\",3\nOld Town,0\n",
        "[\"B\", \"Old Town\", \"C, east\"]",
    ] {
        let tour = file(&folder, "t", text.as_bytes());
        antwarp(&["check", &named, &tour]).assert().success().stdout(contains("3 nodes").and(contains("12")));
    }
    let tour = file(&folder, "t", b"Old Town\nB\nC, east\nB\n");
    antwarp(&["check", &instance, &tour]).assert().code(6).stderr(contains("two nodes have the name `B`"));
}

/// How a run ends: its exit status, what it printed on both outputs, and its report.
fn run(path: &str, options: &[&str]) -> (i32, String, String, serde_json::Value) {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json");
    let time = if options.contains(&"--time") { &[][..] } else { &["--time", "5s"] };
    let output = solve(&[path, "--json", json.to_str().unwrap()]).args(time).args(options).output().unwrap();
    let report = serde_json::from_slice(&std::fs::read(json).unwrap_or_default()).unwrap_or_default();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr), report)
}

fn coarse_rounding_is_told_with_the_true_length_and_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let places: String =
        (1..).zip(UNIT.lines()).map(|(i, xy)| format!("{i} {}\n", xy.replace(',', " "))).collect();
    let unit = format!("DIMENSION: 10\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n{places}EOF\n");
    let path = file(&folder, "unit.tsp", unit.as_bytes());
    let (status, shown, told, report) = run(&path, &[]);
    assert_eq!((status, &report["cost"]), (0, &serde_json::json!(1)));
    assert!(told.contains("--unrounded") && told.contains("TSPLIB, EUC_2D, rounded"), "{told}");
    let truly = report["unrounded_cost"].as_f64().unwrap();
    assert!(truly > 3.3885 && told.contains(&format!("{truly:.4}")), "{told}");
    assert!(shown.contains("stopped: optimal"), "{shown}");
    let (status, _, told, report) = run(&path, &["--unrounded"]);
    assert!((report["cost"].as_f64().unwrap() - 3.388_501_5).abs() < 1e-7);
    assert!(status == 0 && !told.contains("warning"), "{told}");
    let exact = file(&folder, "exact.tsp", unit.replace("EUC_2D", "EXACT_2D").as_bytes());
    assert!((cost(&exact, &[]) - 3.388_501_5).abs() < 1e-7);
    let grid: String = (0..9).map(|i| format!("{} {} {}\n", i + 1, i % 3, i / 3)).collect();
    let grid = format!("DIMENSION: 9\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n{grid}EOF\n");
    costs(&[
        ("grid3.tsp", grid.as_bytes(), &[], 9.0),
        ("grid3.tsp", grid.as_bytes(), &["--unrounded"], 9.414_213_6),
        (
            "geom.tsp",
            b"DIMENSION : 9\nEDGE_WEIGHT_TYPE : GEOM\nNODE_COORD_SECTION\n1 41.89 12.48\n2 48.86 2.35\n3 52.52 13.41\n4 59.33 18.07\n5 40.42 -3.7\n6 38.72 -9.14\n7 51.51 -0.13\n8 -33.87 151.21\n9 35.68 139.69\nEOF\n",
            &[],
            37_766_772.0,
        ),
    ]);
    let error = file(&folder, "odd.tsp", unit.replace("EUC_2D", "ROAD_2D").as_bytes());
    let (status, _, told, _) = run(&error, &[]);
    assert!(status == 3 && told.contains("ROAD_2D"), "{told}");
}

fn ends_of_open_paths_and_fixed_edges_of_a_few_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let stops = file(&folder, "stops.csv", STOPS.as_bytes());
    for (options, right) in [
        (&["--open", "--start", "1"][..], 3_575.33),
        (&["--open", "--start", "1", "--end", "11"], 3_873.01),
        (&["--open", "--start", "Stop 1, Town", "--end", "Stop 11, Town"], 3_873.01),
    ] {
        let (status, shown, _, report) = run(&stops, options);
        assert!((report["cost"].as_f64().unwrap() - right).abs() < 0.005, "{report}");
        assert!(status == 0 && shown.contains("stopped: optimal") && report["tour"][0] == 1);
    }
    let (status, _, told, _) = run(&stops, &["--open", "--start", "Stop 12, Town"]);
    assert!(status == 3 && told.contains("there is no node Stop 12, Town"), "{told}");
    let lines = b"NAME : lines\nTYPE : TSP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 30 0\n3 30 40\n4 0 40\nFIXED_EDGES_SECTION\n1 3\n-1\nEOF\n";
    let (status, _, _, report) = run(&file(&folder, "lines.tsp", lines), &[]);
    assert_eq!((status, &report["cost"]), (0, &serde_json::json!(50 + 30 + 50 + 30)));
    let many: String = (0..20).map(|x| format!("{x},{}\n", x * x % 7)).collect();
    let (status, _, told, report) =
        run(&file(&folder, "many.csv", many.as_bytes()), &["--open", "--time", "1s"]);
    assert!(status == 0 && report["tour"].as_array().is_some_and(|tour| tour.len() == 20), "{told}");
}

fn a_forbidden_pair_has_its_own_exit_status_and_is_in_no_sum() {
    let folder = tempfile::tempdir().unwrap();
    let chain = file(&folder, "chain.csv", b",A,B,C,D\nA,0,1,inf,\nB,1,0,2,N/A\nC,null,2,0,3\nD,NaN,-,3,0\n");
    let (status, shown, told, report) = run(&chain, &[]);
    assert_eq!((status, &report["cost"]), (7, &serde_json::json!(6)));
    assert!(told.contains("no tour without a forbidden pair was found: "), "{told}");
    assert_eq!(report["forbidden"].as_array().map(Vec::len), Some(1));
    assert!(shown.contains("1 pair, not counted"), "{shown}");
    // A cycle of more nodes than are solved exactly, by every algorithm; one road less, and it is none.
    let road = |i: usize| format!("{i},{},{}\n", (i + 1) % 15, i + 2);
    let ring = "from,to,cost\n".to_owned() + &(0..15).map(road).collect::<String>();
    let sum: usize = (0..15).map(|i| i + 2).sum();
    let ring_path = file(&folder, "ring.csv", ring.as_bytes());
    let options = |algorithm: &'static str| {
        let groups = if algorithm == "ga" { &["--groups", "1", "--population", "64"][..] } else { &[] };
        [&["--algorithm", algorithm, "--time", "2s"][..], groups].concat()
    };
    for algorithm in ["lk", "ils", "mmas", "acs", "ga"] {
        let (status, _, told, report) = run(&ring_path, &options(algorithm));
        assert_eq!((status, &report["cost"]), (0, &serde_json::json!(sum)), "{algorithm}: {told}");
    }
    let open = file(&folder, "open.csv", ring.replace("14,0,16\n", "").as_bytes());
    let (status, _, told, report) = run(&open, &["--time", "1s"]);
    assert_eq!((status, &report["cost"]), (7, &serde_json::json!(sum - 16)), "{told}");
    assert!(report["bound"].is_null());
    let large = ring.replace("14,0,16\n", "14,0,99999\n");
    let (status, ..) =
        run(&file(&folder, "large.csv", large.as_bytes()), &["--time", "1s", "--forbidden-from", "99999"]);
    assert_eq!(status, 7);
}

fn costs_and_targets_are_in_the_user_s_unit() {
    let folder = tempfile::tempdir().unwrap();
    let (n, far) = (14_i32, |i: i32, j: i32| (i - j).abs().min(14 - (i - j).abs()));
    let matrix = |cost: &dyn Fn(i32, i32) -> String| -> String {
        let row = |i: i32| (0..n).map(|j| cost(i, j)).collect::<Vec<_>>().join(",");
        (0..n).map(|i| row(i) + "\n").collect()
    };
    let decimal = matrix(&|i, j| format!("{}", f64::from(far(i, j)) * 0.25));
    let decimal = file(&folder, "decimal.csv", decimal.as_bytes());
    let (status, shown, _, report) = run(&decimal, &[]);
    assert_eq!((status, &report["cost"]), (0, &serde_json::json!(3.5)));
    assert_eq!(report["bound"]["length"], serde_json::json!(3.5));
    assert!(shown.contains("stopped: optimal"), "{shown}");
    let negative = matrix(&|i, j| if i == j { "0".to_owned() } else { (far(i, j) - 3).to_string() });
    let (status, _, _, report) = run(&file(&folder, "negative.csv", negative.as_bytes()), &[]);
    assert_eq!((status, &report["cost"]), (0, &serde_json::json!(-28)));
    let (_, _, _, report) =
        run(&decimal, &["--target", "3.75", "--algorithm", "ils", "--local-search", "two-opt"]);
    assert_eq!(report["limits"]["target"], serde_json::json!(3.75));
    assert!(report["cost"].as_f64().unwrap() <= 3.75, "{report}");
}

fn a_huge_range_with_tiny_differences_is_refused_with_a_remedy_that_works() {
    let folder = tempfile::tempdir().unwrap();
    let far = |i: i32, j: i32| (i - j).abs().min(20 - (i - j).abs());
    let cost = |i: i32, j: i32| match far(i, j) {
        near @ 0..5 => format!("{}", f64::from(near) * 0.001),
        _ => "1000000000".to_owned(),
    };
    let row = |i: i32| (0..20).map(|j| cost(i, j)).collect::<Vec<_>>().join(",") + "\n";
    let path = file(&folder, "range.csv", (0..20).map(row).collect::<String>().as_bytes());
    let (status, _, told, _) = run(&path, &[]);
    assert!(status == 3 && told.contains("--forbidden-from"), "{told}");
    let (status, _, told, report) = run(&path, &["--forbidden-from", "1000000000"]);
    assert_eq!((status, &report["cost"]), (0, &serde_json::json!(0.02)), "{told}");
}

fn a_search_for_tours_reports_the_user_s_costs() {
    let folder = tempfile::tempdir().unwrap();
    let unit = file(&folder, "unit.csv", format!("x,y\n{UNIT}").as_bytes());
    let (json, tour) = (folder.path().join("run.json"), folder.path().join("a.tour"));
    let [json, tour] = [&json, &tour].map(|path| path.to_str().unwrap());
    let line = ["search", "tsp", &unit, "--backend", "cpu", "--iterations", "500", "--target", "3.3886"];
    let output = antwarp(&line).args(["--json", json, "--solution", tour]).assert().success();
    let shown = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert!((report["cost"].as_f64().unwrap() - 3.388_501_5).abs() < 1e-7, "{report}");
    assert!((report["limits"]["target"].as_f64().unwrap() - 3.3886).abs() < 1e-6, "{report}");
    assert_eq!(report["stopped_by"], "target");
    assert!(shown.contains("3.38850153"), "{shown}");
    assert!(std::fs::read_to_string(tour).unwrap().contains("length 3.388501"));
    // A path is no tour: one pair is forbidden.
    let chain = file(&folder, "chain.csv", b",A,B,C,D\nA,0,1,,\nB,1,0,2,\nC,,2,0,3\nD,,,3,0\n");
    antwarp(&["search", "tsp", &chain, "--backend", "cpu", "--iterations", "50"])
        .assert()
        .code(7)
        .stdout(contains("cost         6"))
        .stderr(contains("no tour without a forbidden pair was found"));
    antwarp(&["bench", "solve", "--instances", &chain, "--time", "1s"])
        .assert()
        .code(3)
        .stderr(contains("forbidden"));
    let rows = folder.path().join("rows.csv");
    antwarp(&["bench", "solve", "--instances", &unit, "--time", "1s", "--csv", rows.to_str().unwrap()])
        .assert()
        .success();
    assert!(std::fs::read_to_string(rows).unwrap().contains(",3.38850153"));
}

fn a_tour_is_shown_and_written_with_names() {
    let folder = tempfile::tempdir().unwrap();
    let names =
        file(&folder, "names.csv", "name,x,y\nDüsseldorf,0,0\n\"Bonn, am Rhein\",3,4\nX,3,0\n".as_bytes());
    let csv = folder.path().join("way.csv");
    let svg = folder.path().join("way.svg");
    let paths = [csv.to_str().unwrap(), svg.to_str().unwrap()];
    let (status, shown, told, report) = run(&names, &["--csv", paths[0], "--svg", paths[1]]);
    assert!(status == 0 && shown.contains("Düsseldorf -> "), "{shown}{told}");
    assert!(told.contains("read 3 places from"), "{told}");
    assert_eq!(report["names"].as_array().map(Vec::len), Some(3));
    let table = std::fs::read_to_string(csv).unwrap();
    assert!(table.starts_with("position,id,name,x,y,leg,total\n1,"), "{table}");
    assert!(table.contains("\"Bonn, am Rhein\",3,4,") && table.trim_end().ends_with(",12"), "{table}");
    assert!(std::fs::read_to_string(svg).unwrap().contains(">Bonn, am Rhein</text>"));
    // Nothing asked for: how to save it.
    solve(&[&names]).assert().success().stdout(contains("--tour, --csv, --json or --html FILE"));
    let quiet = solve(&[&names, "--quiet"]).assert().success();
    assert!(quiet.get_output().stderr.is_empty());
}

/// Deliveries as Excel saves them in German.
const ADDRESSES: &str = "\u{feff}Straße;Nr;PLZ;Ort;Breitengrad;Längengrad\r\nHafengasse;5;89073;Ulm;48,3988;9,9935\r\nFrauenstraße;12a;89073;Ulm;48,4003;9,9960\r\nHafengasse;7;89073;Ulm;48,3989;9,9941\r\nKarlstraße;5;89073;Ulm;48,4051;9,9902\r\nDonaustraße;3;89073;Ulm;48,3967;9,9969\r\n";

fn addresses_are_names_of_places() {
    let folder = tempfile::tempdir().unwrap();
    let addresses = file(&folder, "addresses.csv", ADDRESSES.as_bytes());
    let [svg, json, map] = ["way.svg", "way.json", "map.svg"].map(|name| folder.path().join(name));
    let [svg, json, map] = [&svg, &json, &map].map(|path| path.to_str().unwrap());
    let started = ["--start", "Karlstraße 5", "--svg", svg, "--json", json];
    let output = solve(&[&addresses]).args(started).assert().success();
    let shown = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let told = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(shown.contains("tour         Karlstraße 5 -> ") && shown.contains("Frauenstraße 12a"), "{shown}");
    assert!(told.contains("names \"Straße\" + \"Nr\"") && !told.contains("warning"), "{told}");
    let text = |path: &str| std::fs::read_to_string(path).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text(json)).unwrap();
    assert_eq!((&report["instance"]["open"], &report["instance"]["start"]), (&false.into(), &4.into()));
    antwarp(&["plot", "--map", json, "-o", map]).assert().success();
    for picture in [text(svg), text(map)] {
        assert!(picture.contains("<title>start: Karlstraße 5</title>") && !picture.contains("<title>end"));
    }
    for (given, meant) in
        [("karlstraße 5", "`Karlstraße 5`?"), ("Hafen", "`Hafengasse 5` or `Hafengasse 7`?")]
    {
        let refused = solve(&[&addresses, "--start", given]).assert().code(3);
        refused.stderr(contains(format!("did you mean {meant}")));
    }
    let info = antwarp(&["info", &addresses]).assert().success();
    info.stdout(contains("latitude 48.3967 to 48.4051, longitude 9.9902 to 9.9969"));
}

fn what_is_missing_is_pointed_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "missing.csv", ADDRESSES.replace("9,9941", "").as_bytes());
    let output = solve(&[&path]).assert().code(3);
    let shown = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    let line = "4 | Hafengasse;7;89073;Ulm;48,3989;";
    let (_, below) = shown.split_once(line).unwrap_or_else(|| panic!("{shown}"));
    let mark = below.lines().nth(1).unwrap();
    assert_eq!(mark.find('^'), Some(line.len()), "{shown}");
}

fn files_that_a_stranger_made_are_read_or_refused() {
    let three = 21.0564609;
    costs(&[
        ("tabs.txt", b"\t5\t7\n5\t\t9\n7\t9\t\n", &[], 21.0),
        ("index.txt", b"\t0\t1\t2\n0\t\t5\t7\n1\t5\t\t9\n2\t7\t9\t\n", &[], 21.0),
        ("corner.csv", b",7,2,9,4\n6,,8,3,5\n1,9,,7,6\n8,2,6,,3\n5,4,7,1,\n", &[], 16.0),
        ("comma.csv", b"0;1,5;2,25\n1,5;0;3,5\n2,25;3,5;0\n", &[], 7.25),
        ("places.csv", b"1,5;2,5\n4,25;6,5\n9,5;0,5\n", &[], 21.0729426),
        ("columns.json", br#"{"x": [1, 4, 9], "y": [2, 6, 0]}"#, &[], three),
        ("frame.json", br#"{"x": {"0": 1, "1": 4, "2": 9}, "y": {"0": 2, "1": 6, "2": 0}}"#, &[], three),
        (
            "split.json",
            br#"{"columns": ["x", "y"], "index": [0, 1, 2], "data": [[1, 2], [4, 6], [9, 0]]}"#,
            &[],
            three,
        ),
        (
            "edges.json",
            br#"{"columns": ["from", "to", "cost"], "data": [[0, 1, 5], [0, 2, 7], [1, 2, 6]]}"#,
            &[],
            18.0,
        ),
        ("codes.csv", b"01067,1,2\n01069,4,6\n01097,9,0\n", &[], three),
        ("header.csv", b"0,1\n1,2\n4,6\n9,0\n", &["--no-header"], 23.2798484),
    ]);
    let folder = tempfile::tempdir().unwrap();
    for (name, text, told) in [
        ("header.csv", &b"0,1\n1,2\n4,6\n9,0\n"[..], "--no-header"),
        ("networkx.txt", b"0 1 {'weight': 29}\n0 2 {'weight': 20}\n1 2 {'weight': 3}\n", "networkx"),
        ("market.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 5\n", "MatrixMarket"),
        ("osrm.json", br#"{"code": "Ok", "durations": [[0, 5], [5, 0], [7, 9]]}"#, "sources"),
        ("short.csv", b"x,y\n10,5,3\n7,5,4\n", "names 2 columns"),
    ] {
        let path = file(&folder, name, text);
        solve(&[&path]).assert().code(3).stderr(contains(told));
    }
    let info = antwarp(&["info", &file(&folder, "box.csv", b"x,y\n0,0\n3,0\n3,4\n")]).assert().success();
    info.stdout(contains("x 0 to 3, y 0 to 4"));
}

fn what_may_be_thousands_is_refused_and_an_option_chooses() {
    let text = b"x;y\n1.234;2.500\n3.100;4.750\n5.001;1.002\n";
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "thousands.csv", text);
    solve(&[&path]).assert().code(3).stderr(contains("may be 1.234 or 1234").and(contains("--decimal")));
    costs(&[
        ("thousands.csv", text, &["--decimal", "point"], 11.179_548_8),
        ("thousands.csv", text, &["--decimal", "comma"], 11_179.548_8),
        (
            "tab.txt",
            b"x\ty\n1,234\t2,500\n3,100\t4,750\n5,001\t1,002\n",
            &["--decimal", "point"],
            11_179.548_8,
        ),
        // Degrees are no thousands.
        ("degrees.csv", b"lat;lon\n48.137;11.575\n50.938;6.960\n52.520;13.405\n", &[], 1_437_401.86),
        ("degrees.txt", b"lat\tlon\n48,137\t11,575\n50,938\t6,960\n52,520\t13,405\n", &[], 1_437_401.86),
    ]);
}

fn half_a_matrix_counts_both_ways() {
    let zeros = b"0,3,4,5\n0,0,6,7\n0,0,0,8\n0,0,0,0\n";
    costs(&[
        ("triu.csv", zeros, &[], 22.0),
        ("tril.csv", b"0,0,0,0\n3,0,0,0\n4,6,0,0\n5,7,8,0\n", &[], 22.0),
        ("triu.csv", zeros, &["--directed"], 5.0),
        ("sized.txt", b"4 4\n0 3 4 5\n3 0 6 7\n4 6 0 8\n5 7 8 0\n", &[], 22.0),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "triu.csv", zeros);
    solve(&[&path]).assert().success().stderr(contains("is zero").and(contains("--directed")));
}

fn what_is_damaged_or_has_two_meanings_is_refused_with_a_remedy_that_works() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, told, remedy) in [
        ("space.csv", "1,2,5\n2,3,7\n1,3,9\n3,4,1\n", "may be edges", "--as edges"),
        ("rad.csv", "lat_rad,lon_rad\n0.84,0.2\n0.85,0.3\n0.9,0.25\n", "in radians", "degrees"),
        (
            "two.csv",
            "from,to,distance,duration\nA,B,1,9\nA,C,2,8\nB,C,3,7\n",
            "\"duration\"",
            "--columns cost=4",
        ),
        ("ends.csv", "a,b,w\n1,2,10\n1,3,20\n2,3,30\n", "the names are", "--as edges"),
        ("towns.csv", "a,b,w\nA,B,10\nA,C,20\nB,C,30\n", "the names are", "--as edges"),
        ("sum.csv", ",A,B,C,Sum\nA,0,1,2,3\nB,1,0,3,4\nC,2,3,0,5\n", "\"Sum\"", "remove its column"),
        ("sums.csv", ",A,B,C,Sum\nA,0,1,2,3\nB,1,0,3,4\nC,2,3,0,5\nSum,3,4,5,12\n", "the sums", "remove"),
        ("row.csv", ",A,B,C,D\nA,0,1,2,4\nB,1,0,3,5\nC,2,3,0,6\n", "\"D\"", "add the row of D"),
        ("short.csv", "0,1,2,4\n1,0,3,5\n2,3,0,6\n", "matrix of 4 rows", "add the missing row"),
        ("half.txt", "0\n1 0\n2 3 0\n4 5 6\n", "columns", "the zero on the diagonal"),
        ("strict.txt", "1\n2 3\n4 5 6\n", "columns", "the zero on the diagonal"),
        ("last.csv", ",3,4,5\n,,6,7\n,,,8\n,,,\n", "matrix of 4 rows", "a zero on its diagonal"),
    ] {
        let path = file(&folder, name, text.as_bytes());
        let output = solve(&[&path]).assert().code(3);
        let shown = String::from_utf8_lossy(&output.get_output().stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(shown.contains(told) && shown.contains(remedy), "{name}: {shown}");
    }
    costs(&[
        ("space.csv", b"1,2,5\n2,3,7\n1,3,9\n3,1,2\n3,4,1\n4,1,6\n", &["--as", "edges"], 19.0),
        (
            "two.csv",
            b"from,to,distance,duration\nA,B,1,9\nA,C,2,8\nB,C,3,7\n",
            &["--columns", "cost=4"],
            24.0,
        ),
        ("ends.csv", b"a,b,w\n1,2,10\n1,3,20\n2,3,30\n", &["--as", "edges"], 60.0),
        ("corner.csv", b"from/to,A,B,C\nA,0,1,2\nB,1,0,3\nC,2,3,0\n", &[], 6.0),
        ("order.csv", b"1,2,5\n1,3,9\n2,3,7\n3,4,1\n1,4,6\n", &["--as", "edges"], 19.0),
    ]);
    let path = file(&folder, "text.csv", b"name,kind,x,y\na,b,1,2\nc,d,3,4\n");
    let chosen = solve(&[&path, "--columns", "x=1,y=2"]).assert().code(3);
    chosen.stderr(contains("choose columns of numbers").and(contains("x=3,y=4")));
}

fn graphs_of_networkx_are_edges() {
    let links = r#"[{"weight": 5, "source": "A", "target": "B"}, {"weight": 7, "source": "A", "target": "C"}, {"weight": 9, "source": "B", "target": "C"}]"#;
    let graph = |key: &str, directed: bool, nodes: &str| {
        format!(
            r#"{{"directed": {directed}, "multigraph": false, "graph": {{}}, "nodes": [{nodes}], "{key}": {links}}}"#
        )
    };
    let nodes = r#"{"id": "A"}, {"id": "B"}, {"id": "C"}"#;
    costs(&[
        ("links.json", graph("links", false, nodes).as_bytes(), &[], 21.0),
        ("edges.json", graph("edges", false, nodes).as_bytes(), &[], 21.0),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let directed = file(&folder, "directed.json", graph("links", true, nodes).as_bytes());
    solve(&[&directed]).assert().code(7);
    let lonely =
        file(&folder, "lonely.json", graph("links", false, &format!(r#"{nodes}, {{"id": "D"}}"#)).as_bytes());
    solve(&[&lonely]).assert().code(3).stderr(contains("there are 4 nodes"));
}

fn names_keep_their_meaning() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("codes.csv", "PLZ;x;y\nDüsseldorf;1;2\nDüsseldorf;4;6\nO'Neil;9;0\n"),
        ("escapes.json", r#"[["D\u00fcsseldorf", 1, 2], ["O'Neil", 4, 6], ["\ud83d\ude80", 9, 0]]"#),
        ("escapes.py", r"places = [('D\xfcsseldorf', 1, 2), ('O\'Neil', 4, 6), ('C', 9, 0)]"),
    ] {
        let path = file(&folder, name, text.as_bytes());
        let output = solve(&[&path, "--print-tour"]).assert().success();
        let shown = String::from_utf8(output.get_output().stdout.clone()).unwrap();
        assert!(shown.contains("Düsseldorf") && shown.contains("O'Neil"), "{name}: {shown}");
        assert_eq!(shown.contains('\u{1f680}'), name == "escapes.json", "{shown}");
    }
    let codes = file(&folder, "plz.csv", b"Filiale;x;y\n80331;1;2\n80331;4;6\n50667;9;0\n");
    solve(&[&codes]).assert().success().stderr(contains("names \"Filiale\""));
    let same = file(&folder, "same.csv", b"name,x,y\nA,0,0\nA,3,0\nB,3,4\n");
    solve(&[&same, "--open", "--start", "A"]).assert().code(3).stderr(contains("such as 1 or 2"));
}

fn tours_as_tables_and_as_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let instance = file(&folder, "four.csv", b"x,y\n0,0\n3,0\n3,4\n0,4\n");
    for text in [
        "tour\n1\n2\n3\n4\n",
        "[(1, 2), (2, 3), (3, 4), (4, 1)]",
        "[[0, 1], [1, 2],\n [2, 3], [3, 0]]",
        "[[1, 2, 3, 4]]",
    ] {
        let tour = file(&folder, "a.tour", text.as_bytes());
        antwarp(&["check", &instance, &tour]).assert().success().stdout(contains("14"));
    }
    let tour = file(&folder, "a.tour", b"[(1, 2), (3, 4), (2, 3), (4, 1)]");
    antwarp(&["check", &instance, &tour]).assert().code(6).stderr(contains("are not the consecutive edges"));
}

fn what_a_file_says_beside_its_numbers_is_heard() {
    let folder = tempfile::tempdir().unwrap();
    let refused =
        |name: &str, text: &str, told: &str, remedy: &str| refused(&folder, name, text, told, remedy);
    let hemispheres = "lat,N/S,lon,E/W\n33.9,S,151.2,E\n33.8,S,151.1,E\n1.3,N,103.8,E\n";
    refused("hemispheres.csv", hemispheres, "gives the hemisphere", "with a minus");
    let oneway =
        "u,v,oneway,length\n1,2,True,1\n3,2,True,1\n3,4,True,1\n1,4,True,1\n1,3,False,5\n2,4,False,5\n";
    refused("oneway.csv", oneway, "4 of 6 edges are directed", "`--directed`");
    refused("units.csv", "id,x_km,y_m\n1,0,0\n2,3,4000\n3,7,1000\n", "is in km", "the same unit");
    refused("total.csv", "name,x,y\nA,0,0\nB,3,4\nC,7,1\nTotal,10,5\n", "the last row", "remove it");
    let code = "1;80331;48,1;11,5\n2;10115;52,5;13,4\n3;20095;53,5;10,0\n";
    refused("code.csv", code, "may be places x y with numbers", "--columns id=1,x=3,y=4");
    let hopper =
        r#"{"distances": [[0, 2, 3], [2, 0, 4], [3, 4, 0]], "times": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}"#;
    refused("hopper.json", hopper, "both `distances` and `times`", "--columns cost=times");
    let mercator = r#"{"type": "MultiPoint", "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}, "coordinates": [[10, 20], [13, 24]]}"#;
    refused("mercator.geojson", mercator, "EPSG::3857", "EPSG:4326");
    // Gephi's column of types.
    let gephi = file(
        &folder,
        "gephi.csv",
        b"Source,Target,Type,Weight\n1,2,Directed,1\n3,2,Directed,1\n3,1,Directed,2\n",
    );
    solve(&[&gephi]).assert().code(7);
    let says = |name: &str, text: &str, told: &str| {
        let path = file(&folder, name, text.as_bytes());
        solve(&[&path]).assert().success().stderr(contains(told.to_owned()));
    };
    says("comment.csv", "name,x,y\nA,0,0\n# B,3,4\nC,7,1\nD,2,9\n", "1 comment line is ignored");
    says("quoted.csv", "name,x,y\nA,0,0\n\"#9 Dream\",3,4\nC,7,1\nD,2,9\n", "read 4 places");
    says("missing.csv", ",A,B,C\nA,0,-1,10\nB,-1,0,3\nC,10,3,0\n", "-1 is the only negative cost");
    says(
        "swapped.csv",
        "city,x,y\nA,52.52,13.405\nB,53.5511,9.9937\nC,48.1351,11.582\n",
        "if \"x\" is the latitude",
    );
    let osm =
        "osmid,y,x\n21438,48.8566123,2.3522456\n21439,45.7640321,4.8357765\n21440,43.2965123,5.3698987\n";
    says("osm.csv", osm, "`--columns lat=2,lon=3`");
    // A tour in the order that another column gives.
    let instance = file(&folder, "five.csv", b"x,y\n0,0\n300,400\n700,100\n200,900\n800,800\n");
    let length = |text: &str| {
        let tour = file(&folder, "tour.csv", text.as_bytes());
        let output = antwarp(&["check", &instance, &tour]).assert().success();
        String::from_utf8_lossy(&output.get_output().stdout).into_owned()
    };
    let right = length("1 3 5 4 2\n");
    assert_eq!(
        length("node,position\n1,1\n2,5\n3,2\n4,4\n5,3\n").split("cost").nth(1),
        right.split("cost").nth(1)
    );
    assert_ne!(length("1 2 3 4 5\n").split("cost").nth(1), right.split("cost").nth(1));
}

fn a_second_meaning_is_refused_or_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let refused =
        |name: &str, text: &str, told: &str, remedy: &str| refused(&folder, name, text, told, remedy);
    let beside = "name,x,y,A,B,C\nA,0,0,0,3,5\nB,3,0,3,0,4\nC,3,4,5,4,0\n";
    refused("beside.csv", beside, "from \"A\" to \"C\"", "--as points");
    let demand = "1 10 20 0\n2 30 40 5\n3 50 10 7\n4 20 60 3\n";
    refused("demand.txt", demand, "a demand in column 4", "--columns id=1,x=2,y=3");
    let ends = "x,y,distance\n1,2,5\n1,3,6\n2,3,7\n";
    refused("ends.csv", ends, "edges between numbered nodes", "--columns from=1,to=2,cost=3");
    let two = "0 3 5\n3 0 4\n5 4 0\n\n0 1 2\n1 0 3\n2 3 0\n";
    refused("two.txt", two, "2 matrices of 3 x 3", "its own file");
    let commas = "48,137, 11,575\n50,938, 6,957\n53,551, 9,994\n";
    refused("commas.csv", commas, "may be a decimal separator", "semicolons");
    let minutes = "name,lat_deg,lat_min,lon_deg,lon_min\nA,45,45.8,4,50.1\nB,46,12.2,6,8.8\n";
    refused("minutes.csv", minutes, "\"lat_min\"", "minutes / 60");
    refused("gon.csv", "name,lat (gon),lon (gon)\nA,50.1,5.2\nB,51.2,6.3\n", "is in gon", "times 0.9");
    refused(
        "e7.json",
        r#"[{"latitudeE7": 457640000, "longitudeE7": 48350000}]"#,
        "ten-millionths",
        "10000000",
    );
    let zones = "name,zone,easting,northing\nA,31T,640000,5069000\nB,32T,280000,5120000\n";
    refused("zones.csv", zones, "31T and 32T", "the same system");
    let units = "from,to,distance,unit\nA,B,1.2,km\nA,C,800,m\nB,C,900,m\n";
    refused("mixed.csv", units, "km and m", "the same system and unit");
    refused("pixels.csv", "x_px,y_mm\n1,2\n3,4\n", "is in px", "the same unit");
    let mixed = r#"{"type": "FeatureCollection", "features": [{"geometry": {"type": "Point", "coordinates": [8.5, 47.4]}, "type": "Feature"}, {"geometry": {"type": "LineString", "coordinates": [[8.5, 47.4], [8.3, 47.1]]}, "type": "Feature"}]}"#;
    let mixed = file(&folder, "mixed.geojson", mixed.as_bytes());
    solve(&[&mixed])
        .assert()
        .success()
        .stderr(contains("read 1 place").and(contains("1 line is ignored")))
        .stdout(contains("1 node,").and(contains(", 0 kicks,")));
    // As OpenStreetMap has addresses; a place without a number of its house has its id.
    let point = |at: u32, properties: &str| {
        let place = format!(r#""geometry": {{"type": "Point", "coordinates": [8.{at}, 47.{at}]}}"#);
        format!(r#"{{"type": "Feature", "id": "node/{at}", "properties": {{{properties}}}, {place}}}"#)
    };
    let features = [
        point(1, r#""addr:street": "Weg", "addr:housenumber": "5", "addr:city": "Ulm""#),
        point(2, r#""name": "Mill", "addr:street": "Weg""#),
        point(3, r#""name": "", "addr:street": "Gasse", "addr:housenumber": "7""#),
        point(4, r#""addr:street": "Weg", "address_type": "billing""#),
    ];
    let map = format!(r#"{{"type": "FeatureCollection", "features": [{}]}}"#, features.join(", "));
    let map = file(&folder, "map.geojson", map.as_bytes());
    let names = ["Weg 5, Ulm", "Mill", "Gasse 7", "node/4"];
    let named = solve(&[&map, "--start", "Weg 5, Ulm"]).assert().success();
    let shown = String::from_utf8(named.get_output().stdout.clone()).unwrap();
    assert!(names.iter().all(|name| shown.contains(name)), "{shown}");
    let esri = |system: u32| {
        format!(
            r#"{{"spatialReference": {{"wkid": {system}}}, "features": [{{"geometry": {{"x": 8.5, "y": 47.4}}}}, {{"geometry": {{"x": 8.3, "y": 47.1}}}}, {{"geometry": {{"x": 9.1, "y": 47.0}}}}]}}"#
        )
    };
    refused("esri.json", &esri(102_100), "the system 102100", "outSR=4326");
    refused(
        "way.csv",
        "from,to,km,min\nA,B,1,9\nA,C,2,8\nB,C,3,7\n",
        "\"km\" or \"min\"",
        "--columns cost=4",
    );
    refused("rows.csv", "0,3,3,0,5\n0,0,4,4,2\n", "2 rows of 5 columns", "transpose");
    refused("polar.csv", "hole,r,theta\nA,1,0.5\nB,2,0.7\nC,3,1.1\n", "polar", "r cos");
    let both = "from,to,cost,bidirectional\nA,B,1,yes\nB,C,2,no\nC,A,3,yes\n";
    refused("both.csv", both, "1 of 3 edges", "--directed");
    costs(&[
        ("stack.csv", b"level_0,level_1,0\nA,B,3\nA,C,5\nB,C,4\n", &[], 12.0),
        ("degrees.json", esri(4326).as_bytes(), &[], 161_744.121_33),
        ("labels.csv", b"id,11,12,13\n11,0,3,5\n12,3,0,4\n13,5,4,0\n", &[], 12.0),
        ("beside.csv", beside.as_bytes(), &["--as", "points"], 12.0),
        ("demand.txt", b"1 0 0 0\n2 3 0 5\n3 3 4 7\n4 0 4 3\n", &["--columns", "id=1,x=2,y=3"], 14.0),
        ("ends.csv", ends.as_bytes(), &["--columns", "from=1,to=2,cost=3"], 18.0),
    ]);
    let warned = |name: &str, text: &str, options: &[&str], told: &str| {
        let path = file(&folder, name, text.as_bytes());
        let output = solve(&[&[path.as_str()], options].concat()).assert().success();
        let shown = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert_eq!(shown.contains(told), options.is_empty(), "{name}: {shown}");
    };
    let zeros = "0,29,0,12\n29,0,7,0\n0,7,0,31\n12,0,31,0\n";
    warned("zeros.csv", zeros, &[], "4 of the costs");
    warned("similar.csv", ",A,B,C\nA,1,0.2,0.4\nB,0.2,1,0.3\nC,0.4,0.3,1\n", &[], "similarities");
    warned("edges.txt", "3 7\n7 1\n1 5\n5 2\n2 4\n4 6\n6 3\n", &[], "if they are edges");
    warned("twice.csv", "id,x,y\n1,10,10\n2,40,10\n2,40,60\n3,80,50\n", &[], "a number appears in it twice");
    warned(
        "height.csv",
        "47.37689,8.54169,412.3\n46.94799,7.44821,540.1\n46.20438,6.14316,375.2\n",
        &[],
        "lat=1,lon=2",
    );
    let plane = "TYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 47.37689 8.54169\n2 46.94799 7.44821\n3 46.20438 6.14316\n4 47.55960 7.58858\nEOF\n";
    warned("plane.tsp", plane, &[], "`lat,lon`");
    warned("unknown.csv", "name,lat,lon\nA,45.7,4.8\nB,0,0\nC,46.2,6.1\n", &[], "latitude 0 and longitude 0");
    warned("load.txt", "10 20 5\n30 45 2\n55 10 7\n25 60 3\n", &[], "--columns x=1,y=2");
    let matrix = "0 5 9999 7\n5 0 6 9999\n9999 6 0 8\n7 9999 8 0\n";
    warned("big.txt", matrix, &[], "--forbidden-from 9999");
    warned("big.txt", matrix, &["--forbidden-from", "9999"], "--forbidden-from 9999");
    let head = "TYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: ";
    let explicit = format!("{head}EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n{matrix}");
    warned("big.tsp", &explicit, &[], "--forbidden-from 9999");
    let degrees = "1 48.75 11.25\n2 48.95 11.50\n3 49.10 11.80\n4 48.30 12.00\n";
    let geo = format!("{head}GEO\nNODE_COORD_SECTION\n{degrees}EOF\n");
    warned("geo.tsp", &geo, &[], "use `--degrees`");
    warned("geo.tsp", &geo, &["--degrees"], "use `--degrees`");
    // The same places as a table.
    let table = format!("id lat lon\n{degrees}");
    let cost_of =
        |name: &str, text: &str, options: &[&str]| cost(&file(&folder, name, text.as_bytes()), options);
    assert_eq!(cost_of("geo.tsp", &geo, &["--degrees"]), cost_of("geo.txt", &table, &[]));
}

fn answers_of_routing_services_are_matrices() {
    let google = |destinations: &str| {
        let cell = |cost: u32| {
            format!(
                r#"{{"distance": {{"text": "{cost} m", "value": {cost}}}, "duration": {{"text": "", "value": {}}}, "status": "OK"}}"#,
                2 * cost
            )
        };
        let row = |costs: [u32; 3]| format!(r#"{{"elements": [{}]}}"#, costs.map(cell).join(","));
        let rows = [[0, 3, 5], [3, 0, 4], [5, 4, 0]].map(row).join(",");
        format!(
            r#"{{"origin_addresses": ["A", "B", "C"], "destination_addresses": [{destinations}], "rows": [{rows}], "status": "OK"}}"#
        )
    };
    let same = google(r#""A", "B", "C""#);
    let cell =
        |at: usize, cost: u32| format!(r#"{{"to_index": {at}, "distance": {cost}, "time": {}}}"#, 60 * cost);
    let row =
        |costs: [u32; 3]| format!("[{},{},{}]", cell(0, costs[0]), cell(1, costs[1]), cell(2, costs[2]));
    let valhalla = format!(
        r#"{{"sources": [{{"lat": 1, "lon": 2}}], "sources_to_targets": [{}]}}"#,
        [[0, 3, 5], [3, 0, 4], [5, 4, 0]].map(row).join(",")
    );
    let adjacency = r#"{"directed": false, "nodes": [{"id": "A"}, {"id": "B"}, {"id": "C"}], "adjacency": [[{"weight": 3, "id": "B"}, {"weight": 5, "id": "C"}], [{"weight": 3, "id": "A"}, {"weight": 4, "id": "C"}], [{"weight": 5, "id": "A"}, {"weight": 4, "id": "B"}]]}"#;
    costs(&[
        ("google.json", same.as_bytes(), &["--columns", "cost=durations"], 24.0),
        ("google.json", same.as_bytes(), &["--columns", "cost=distances"], 12.0),
        ("valhalla.json", valhalla.as_bytes(), &["--columns", "cost=durations"], 720.0),
        (
            "here.json",
            br#"{"matrix": {"numOrigins": 3, "numDestinations": 3, "travelTimes": [0, 3, 5, 3, 0, 4, 5, 4, 0]}}"#,
            &[],
            12.0,
        ),
        (
            // From the first place to the second there is no way.
            "errors.json",
            br#"{"matrix": {"numOrigins": 3, "numDestinations": 3, "travelTimes": [0, 0, 6, 3, 0, 4, 5, 4, 0], "errorCodes": [0, 3, 0, 0, 0, 0, 0, 0, 0]}}"#,
            &[],
            13.0,
        ),
        ("networkx.json", adjacency.as_bytes(), &[], 12.0),
    ]);
    let folder = tempfile::tempdir().unwrap();
    for (name, text, told) in [
        ("both.json", same.as_str(), "--columns cost=durations"),
        ("others.json", &google(r#""D", "E", "F""#), "the origins differ from the destinations"),
        ("tables.json", r#"{"jobs": [{"id": 1}], "vehicles": [{"id": 1}]}"#, "keep only the one you mean"),
    ] {
        solve(&[&file(&folder, name, text.as_bytes())]).assert().code(3).stderr(contains(told));
    }
}

fn tables_that_programs_print_are_read() {
    costs(&[
        ("psql.txt", b" id | x | y \n----+---+---\n  1 | 0 | 0\n  2 | 3 | 0\n  3 | 3 | 4\n(3 rows)\n", &[], 12.0),
        (
            "mysql.txt",
            b"+----+---+---+\n| id | x | y |\n+----+---+---+\n|  1 | 0 | 0 |\n|  2 | 3 | 0 |\n|  3 | 3 | 4 |\n+----+---+---+\n",
            &[],
            12.0,
        ),
        ("matlab.m", b"D = [0 3 5; 3 0 4; 5 4 0];\n", &[], 12.0),
        ("matlab2.m", b"places = [0, 0\n 3, 0;\n 3, 4];", &[], 12.0),
        ("julia.txt", "3\u{d7}3 Matrix{Int64}:\n 0  3  5\n 3  0  4\n 5  4  0\n".as_bytes(), &[], 12.0),
        ("r.txt", b"     [,1] [,2] [,3]\n[1,]    0    3    5\n[2,]    3    0    4\n[3,]    5    4    0\n", &[], 12.0),
        ("melt.csv", b"Var1,Var2,value\nB,A,3\nC,A,5\nC,B,4\n", &[], 12.0),
        ("triangle.csv", b"0\n1,5;0\n2,5;3,5;0\n", &[], 7.5),
        ("dict.py", b"cities = {\n  'A': (0, 0),\n  'B': (3, 0),\n  'C': (3, 4),\n}\n", &[], 12.0),
        ("dict2.py", b"{0: (0, 0), 1: (3, 0), 2: (3, 4)}\n", &[], 12.0),
        ("array.c", b"int d[3][3] = {{0, 3, 5}, {3, 0, 4}, {5, 4, 0}};\n", &[], 12.0),
        ("pivot.csv", b"to,A,B,C\nfrom,,,\nA,0,3,5\nB,3,0,4\nC,5,4,0\n", &[], 12.0),
        ("crosses.csv", b",A,B,C\nA,x,3,5\nB,3,x,4\nC,5,4,x\n", &[], 12.0),
        ("grid.csv", b"E;N\n4468000;5333000\n4468300;5333000\n4468300;5333400\n", &[], 1200.0),
    ]);
    let folder = tempfile::tempdir().unwrap();
    for (name, text, told) in [
        ("km.csv", ",A,B\nA,0 km,12 km\nB,12 km,0 km\n", "write all numbers in the same unit"),
        ("hours.csv", ",A,B\nA,0:00,1:30\nB,1:30,0:00\n", "write times as numbers"),
        ("names.yaml", "A: 0, 0\nB: 3, 0\nC: 3, 4\n", "`A,0`"),
        ("points.csv", "name,geom\nA,POINT (11.5 48.1)\nB,POINT (6.9 50.9)\n", "AS_XY"),
        ("title.csv", "Stops of Monday\nname,x,y\nA,0,0\nB,3,0\n", "remove that line"),
        ("towns.txt", "New York 0 0\nBoston 3 0\nSan Jose 3 4\n", "names with several words in quotes"),
        ("dist.txt", "  A B\nB 3  \nC 5 4\n", "as.matrix"),
        ("pair.csv", "name,place\nA,\"48.1, 11.5\"\nB,\"50.9, 6.9\"\n", "two numbers in a cell"),
        ("holes.drl", "M48\nMETRIC,TZ\nT1C0.8\n%\nT1\nX12.5Y3.25\nX40.0Y8.5\nM30\n", "a drill file"),
        ("holes.nc", "G21\nG90\nG81 X12.5 Y3.25 Z-2\nG81 X40 Y8.5 Z-2\nM30\n", "G-code"),
        ("table.tex", "\\begin{tabular}{lrr}\nA & 1 & 2 \\\\\n\\end{tabular}\n", "a LaTeX table"),
        ("dput.R", "structure(list(x = c(1, 4, 9), y = c(2, 6, 0)))\n", "write.csv"),
        ("places.sql", "INSERT INTO places VALUES (1,1,2),(2,4,6),(3,9,0);\n", "as CSV"),
        ("places.yaml", "places:\n  - name: A\n    x: 1\n    y: 2\n", "as JSON"),
        (
            "c101.txt",
            "C101\n\nVEHICLE\nNUMBER CAPACITY\n25 200\n\nCUSTOMER\nCUST NO. XCOORD.\n1 2 3\n",
            "Solomon",
        ),
        ("net.net", "*Vertices 2\n1 \"A\"\n2 \"B\"\n*Edges\n1 2 3\n", "from,to,cost"),
        ("graph.gv", "graph g {\n A -- B [weight=3];\n}\n", "from,to,cost"),
        ("data.dat", "set V := 1 2;\nparam c : 1 2 :=\n1 0 3\n2 3 0;\n", "as CSV"),
        ("walls.csv", ",A,B,C\nA,0,3,wall\nB,3,0,4\nC,wall,4,0\n", "`wall` is not a cost"),
        ("times.csv", "from,to,time\nA,B,0:30\nA,C,1:10\nB,C,0:20\n", "write times as numbers"),
        ("minutes.csv", "name,lat,lon\nA,48 08.2,11 34.5\nB,48 46.5,9 10.9\n", "write decimal degrees"),
        ("bins.csv", "bin,aisle,bay\nA1,1,4\nB2,3,9\nC3,7,2\n", "--columns x=2,y=3"),
        ("line.txt", "a list(x = 1, 2, 3)\n", "1 of the 3 columns"),
        ("cube.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "OBJ"),
        ("frame.txt", "shape: (2, 2)\n\u{250c}\u{2500}\u{2510}\n", "polars"),
        (
            "lower.tsp",
            "TYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_DIAG_ROW\nEDGE_WEIGHT_SECTION\n0\n3 0\n4 6 0\n5 7 8 0\nEOF\n",
            "the diagonal of the weights holds 0 and 6",
        ),
        (
            "depot.json",
            r#"{"depot": {"x": 0, "y": 0}, "customers": [{"x": 10, "y": 20}, {"x": 35, "y": 5}, {"x": 42, "y": 31}]}"#,
            "another one, \"depot\"",
        ),
    ] {
        let output = solve(&[&file(&folder, name, text.as_bytes())]).assert().code(3);
        let shown = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(shown.contains(told), "{name}: {shown}");
    }
    // The column that tells all places apart names them.
    let customers =
        file(&folder, "kunden.csv", b"Ort;Kunde;x;y\nBonn;Meier;0;0\nBonn;Lang;3;0\nUlm;Vogt;3;4\n");
    solve(&[&customers, "--print-tour"]).assert().success().stdout(contains("Meier"));
}

fn tours_are_found_in_any_layout() {
    let folder = tempfile::tempdir().unwrap();
    let instance = file(
        &folder,
        "five.csv",
        "name,x,y\nBonn,0,0\nKöln,3,0\nUlm,3,4\nHof,0,4\nNew York,-1,2\n".as_bytes(),
    );
    let check = |text: &str| {
        let tour = file(&folder, "a.txt", text.as_bytes());
        antwarp(&["check", &instance, &tour]).assert()
    };
    for (text, told) in [
        ("1-2-3-4-5\n", "a list with `-` between the nodes; nodes by their numbers"),
        (" [1] 1 2 3\n [4] 4 5\n", "a list; nodes by their numbers"),
        ("([0, 1, 2, 3, 4], 15.0)\n", "an array; nodes counted from 0"),
        (
            "city;order\nBonn;1\nUlm;3\nKöln;2\nHof;4\nNew York;5\n",
            "the column \"city\"; nodes by their names",
        ),
        ("Bonn > Köln > Ulm > Hof > New York > Bonn\n", "nodes by their names"),
        ("Tour length: 14.47\n0 1 2 3 4\n", "a line; nodes counted from 0"),
        ("1. Bonn\n2. Köln\n3. Ulm\n4. Hof\n5. New York\n", "a numbered list; nodes by their names"),
        ("Bonn    Köln     Ulm     Hof New York \n   1   2   3   4   5 \n", "a line; nodes by their numbers"),
        (r#"{"route": [1, 2, 3, 4, 5], "cost": 15}"#, "an array; nodes by their numbers"),
        ("from,to\n1,2\n2,3\n3,4\n4,5\n5,1\n", "a list of edges; nodes by their numbers"),
        // Edges in any order, as programs for integer programming write them.
        ("3 4\n1 2\n5 1\n4 5\n2 3\n", "a list of edges; nodes by their numbers"),
        (
            "x[0,1] = 1\nx[0,2] = 0\nx[3,2] = 1\nx[0,4] = 1\nx[1,2] = 1\nx[3,4] = 1\n",
            "a list of edges; nodes counted from 0",
        ),
        ("id,stop_number\n1,1\n3,3\n2,2\n5,5\n4,4\n", "in the order of the column \"stop_number\""),
        ("\"x\"\n\"1\" 1\n\"2\" 2\n\"3\" 3\n\"4\" 4\n\"5\" 5\n", "column 2"),
        ("1;2;3;4;5\n", "`;` between the nodes"),
    ] {
        let read = format!("read a tour of 5 nodes from {}: ", folder.path().join("a.txt").display());
        check(text).success().stdout(contains("14.47213595")).stderr(contains(read).and(contains(told)));
    }
    let places: String = (0..20).map(|i| format!("{},{}\n", i * i % 17, i * 7 % 19)).collect();
    let many = file(&folder, "many.csv", format!("x,y\n{places}").as_bytes());
    let first = (0..20).map(|node| node.to_string()).collect::<Vec<_>>().join(" ");
    let first = file(&folder, "first.txt", first.as_bytes());
    let begun = solve(&[&many, "--initial-tour", &first, "--iterations", "5"]).assert().success();
    begun.stderr(contains("read a tour of 20 nodes").and(contains("nodes counted from 0")));
    for text in [
        "1 2 3 4 5\n1 3 2 4 5\n",
        "1 2 3 4 5\n1 2 3\n",
        "[[1, 2, 3], [1, 2, 3, 4, 5]]",
        "a,b\n2,1\n1,2\n5,3\n4,5\n3,4\n",
        // A rank beside each node, two closed parts, and the next node of each.
        "1 1\n2 5\n3 2\n4 3\n5 4\n",
        "1 2\n2 1\n3 4\n4 5\n5 3\n",
        "id,successor\n1,3\n2,1\n3,5\n4,2\n5,4\n",
    ] {
        check(text).code(6);
    }
}

fn what_only_looks_like_something_else_is_read_as_it_is() {
    costs(&[
        ("uv.txt", b"u v 5\nv w 3\nw u 4\n", &[], 12.0),
        ("crosses.txt", b"x 3 5\n3 x 4\n5 4 x\n", &["--as", "matrix"], 12.0),
        ("zones.csv", b"name,x,y,zone\nA,0,0,North\nB,3,0,South\nC,3,4,North\n", &[], 12.0),
        ("flats.csv", b"address,unit,x,y\nA,5,0,0\nB,7,3,0\nC,2,3,4\n", &[], 12.0),
        ("cells.csv", b"name,x,y\nX0Y0,0,0\nX3Y0,3,0\nX3Y4,3,4\n", &[], 12.0),
        ("note.json", br#"{"comment": "format:(x,y)", "points": [[0, 0], [3, 0], [3, 4]]}"#, &[], 12.0),
        ("par.csv", b"PAR1,0,0\nSelect Store,3,0\nB,3,4\n", &[], 12.0),
        ("store.csv", b"Select Store,0,0\nA,3,0\nB,3,4\n", &[], 12.0),
        ("height.csv", b"x,y,h\n0,0,5\n3,0,6\n3,4,7\n", &[], 12.0),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, text: &str| solve(&[&file(&folder, name, text.as_bytes())]).assert();
    run("lost.csv", "name,x,y\nDepot,,\nA,1,2\nB,3,4\n").code(3).stderr(contains("there is no number"));
    let boxes =
        "name,lat,lon,lat_min,lat_max\nA,48.1,11.5,48.0,48.2\nB,50.9,6.9,50.8,51.0\nC,53.5,9.9,53.4,53.6\n";
    run("boxes.csv", boxes).success().stderr(contains("read 3 places"));
    // A symmetric square with crosses on its diagonal loses no row.
    let crosses = run("crosses.txt", "x 3 5\n3 x 4\n5 4 x\n");
    let shown = String::from_utf8_lossy(&crosses.get_output().stderr).into_owned();
    assert!(!shown.contains("2 x 2"), "{shown}");

    let instance = file(&folder, "five.csv", b"name,x,y\nC5,0,0\nC4,3,0\nC3,3,4\nC2,0,4\nC1,-1,2\n");
    let length = |text: &str| {
        let tour = file(&folder, "tour.txt", text.as_bytes());
        let found = antwarp(&["check", &instance, &tour]).output().unwrap();
        let shown = String::from_utf8_lossy(&found.stdout).into_owned();
        shown.lines().find(|line| line.starts_with("cost")).map(str::to_owned)
    };
    let right = length("2 4 5 3 1\n");
    assert!(right.is_some());
    // A rank beside each node is no edge, whatever the ranks are.
    for text in [
        "1. 2\n2. 4\n3. 5\n4. 3\n5. 1\n",
        "1) 2\n2) 4\n3) 5\n4) 3\n5) 1\n",
        "position,city\n1,2\n2,4\n3,5\n4,3\n5,1\n",
    ] {
        assert_eq!(length(text), right, "{text}");
    }
    assert_eq!(length("order\tcity\n1\tC4\n2\tC2\n3\tC1\n4\tC3\n5\tC5\n"), right);
    // Names are not their digits.
    let by_name = length("C1\nC3\nC2\nC4\nC5\n");
    for text in ["C1->C3\nC3->C2\nC2->C4\nC4->C5\nC5->C1\n", "from,to\nC1,C3\nC3,C2\nC2,C4\nC4,C5\nC5,C1\n"] {
        assert!(length(text).is_none_or(|found| Some(found) == by_name), "{text}");
    }
}
