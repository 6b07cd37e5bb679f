//! Files as people have them, and the costs of their tours.

use predicates::prelude::*;
use predicates::str::contains;
use tempfile::TempDir;

use crate::world::{antwarp, solve};

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

const STOPS: &str = "id,name,lat,lon\n1,\"Stop 1, Town\",50.106856,8.682796\n2,\"Stop 2, Town\",50.108439,8.683871\n3,\"Stop 3, Town\",50.111509,8.67418\n4,\"Stop 4, Town\",50.104158,8.688074\n5,\"Stop 5, Town\",50.107112,8.677218\n6,\"Stop 6, Town\",50.115948,8.681465\n7,\"Stop 7, Town\",50.114038,8.681574\n8,\"Stop 8, Town\",50.111669,8.675711\n9,\"Stop 9, Town\",50.111618,8.688625\n10,\"Stop 10, Town\",50.110278,8.686343\n11,\"Stop 11, Town\",50.112057,8.674153\n";
const UNIT: &str =
    "0.85,0.77\n1.0,0.47\n0.1,0.56\n0.33,0.91\n0.62,0.12\n0.05,0.05\n0.47,0.5\n0.9,0.2\n0.2,0.3\n0.7,0.6\n";
const EIGHT: &str = "1,30,10\n2,70,20\n3,20,60\n4,90,80\n5,50,50\n6,10,90\n7,60,95\n8,35,75\n";

#[test]
fn places_in_degrees_are_metres_apart() {
    let places = || STOPS.lines().skip(1).map(|line| line.rsplit(',').take(2).collect::<Vec<_>>());
    let json = places().map(|place| format!("[{}, {}]", place[1], place[0])).collect::<Vec<_>>().join(", ");
    costs(&[
        ("stops.csv", STOPS.as_bytes(), &[], 4056.67),
        (
            "spaced.csv",
            STOPS.replace(", Town", "").replace('"', "").replace(',', ", ").as_bytes(),
            &[],
            4056.67,
        ),
        ("stops.json", format!("[{json}]").as_bytes(), &["--columns", "lat=1,lon=2"], 4056.67),
        (
            "lonlat.csv",
            b"name,longitude,latitude\nA,13.41,52.52\nB,2.35,48.86\nC,12.48,41.89\n",
            &[],
            3_167_571.0,
        ),
    ]);
}

#[test]
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

#[test]
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

#[test]
fn what_cannot_be_read_is_refused_by_what_it_is_and_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let refused: &[(&str, &[u8], &str, &str)] = &[
        (
            "swapped.csv",
            b"name,lat,lon\nc0,12.48,41.89\nc7,151.21,-33.87\n",
            "151.21",
            "--columns lat=3,lon=2",
        ),
        ("google.txt", b"0.85 0.77 1.0 0.47 0.1 0.56 output 1 2 3 1\n", "pointer networks", "one line `x y`"),
        (
            "p.geojson",
            b"{\"type\":\"FeatureCollection\",\"features\":[]}",
            "empty FeatureCollection",
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

#[test]
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

#[test]
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
    antwarp(&["check", &instance, &right]).assert().success().stderr("");
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

#[test]
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
