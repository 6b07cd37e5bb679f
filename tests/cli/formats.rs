//! What a run writes beside the tour file: CSV, GeoJSON, GPX, JSON by its schema, the page; and arrays of numpy as instances.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};

use crate::world::{Folder, antwarp, json as read, rows, solve};

tests! {
    all_formats_have_the_same_places_in_the_same_order,
    formats_for_degrees_are_refused_elsewhere,
    the_json_of_a_run_follows_its_schema,
    a_page_has_the_json_of_its_run,
    plot_makes_pages_and_maps_of_what_runs_wrote,
    runs_without_a_best_known_length_are_compared_with_each_other,
    several_runs_write_each_format,
    arrays_of_numpy_are_instances,
}

const STOPS: &str = "name,lat,lon\nA & B,48.1,11.6\n\"C, \"\"D\"\"\",50.1,8.7\nE,52.5,13.4\n</script><b>,53.6,10.0\nF,51.2,6.8\n\
    G,51.3,12.4\n";

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap()
}

/// `solve` with all formats, short; returns where they are: CSV, GeoJSON, GPX, JSON, the page.
fn all_formats(folder: &Folder, instance: &str, more: &[&str]) -> [String; 5] {
    let files = ["csv", "geojson", "gpx", "json", "html"]
        .map(|kind| (format!("--{kind}"), folder.path(&format!("o.{kind}"))));
    let mut args = vec![instance, "-q", "--iterations", "20"];
    files.iter().for_each(|(option, file)| args.extend([option.as_str(), file]));
    args.extend(more);
    solve(&args).assert().success().stdout("");
    files.map(|(_, file)| file)
}

fn all_formats_have_the_same_places_in_the_same_order() {
    let folder = Folder::new(5);
    let stops = folder.file("stops.csv", STOPS.as_bytes());
    for (more, is_open, start) in [
        (&[][..], false, None),
        (&["--start", "E"], false, Some("E")),
        (&["--open"], true, None),
        (&["--start", "F", "--end", "A & B"], true, Some("F")),
    ] {
        let [csv, geojson, gpx, report, _] = all_formats(&folder, &stops, more);
        let report = read(&report);
        let names: Vec<&str> =
            report["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert!(names.len() == 6 && start.is_none_or(|start| names[0] == start), "{names:?}");
        // A closed tour returns to its first place.
        let visited: Vec<&str> = names.iter().copied().chain((!is_open).then_some(names[0])).collect();
        let rows = rows(&csv);
        assert_eq!(rows.iter().map(|row| row["name"].as_str()).collect::<Vec<_>>(), visited);
        let cost = report["cost"].as_f64().unwrap();
        let total: f64 = rows.last().unwrap()["total"].parse().unwrap();
        assert!((total - cost).abs() < 1e-3, "{total} {cost}");
        let features = read(&geojson)["features"].as_array().unwrap().clone();
        let of = |feature: &Value, key: &str| feature["properties"][key].clone();
        assert_eq!(features[0]["geometry"]["coordinates"].as_array().unwrap().len(), visited.len());
        assert_eq!(
            (of(&features[0], "closed"), &of(&features[0], "cost")),
            (json!(!is_open), &report["cost"])
        );
        for (at, (point, name)) in features[1..].iter().zip(&names).enumerate() {
            assert_eq!((of(point, "name"), of(point, "position")), (json!(name), json!(at + 1)));
            assert_eq!(point["geometry"]["coordinates"], report["places"][at]);
            let legs = &report["legs"].as_array().unwrap()[..at];
            let so_far: f64 = legs.iter().map(|leg| leg.as_f64().unwrap()).sum();
            assert!((of(point, "total").as_f64().unwrap() - so_far).abs() < 1e-6);
        }
        assert_eq!(features.len(), 7);
        let route = text(&gpx);
        assert_eq!(route.matches("<rtept ").count(), visited.len());
        assert!(
            route.contains("<name>A &amp; B</name>")
                && route.contains("<name>&lt;/script&gt;&lt;b&gt;</name>")
        );
        let first = names[0].replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let (_, points) = route.split_once("<rtept ").unwrap();
        assert!(points.contains(&format!("<name>{first}</name><desc>stop 1,")), "{route}");
        assert_eq!(report["instance"]["coordinates"], "degrees");
        // GeoJSON is an instance again, and a CSV a tour of it.
        antwarp(&["check", &stops, &csv]).assert().success();
        antwarp(&["info", &geojson]).assert().success().stdout(contains("nodes            6"));
    }
}

fn formats_for_degrees_are_refused_elsewhere() {
    let folder = Folder::new(8);
    let matrix = folder.file("m.csv", b"0 1 2 4\n1 0 3 4\n2 3 0 4\n4 4 4 0\n");
    for option in ["--geojson", "--gpx"] {
        for instance in [&folder.instance, &matrix] {
            let file = folder.path("none");
            let run = solve(&[instance, "--iterations", "5", option, &file]).assert();
            run.code(2).stderr(contains("has no latitudes and longitudes").and(contains(option)));
            assert!(!Path::new(&file).exists());
        }
    }
    solve(&[&matrix, "--svg", "-"]).assert().code(2).stderr(contains("has no coordinates"));
    // The page of a matrix has no map.
    let page = folder.path("m.html");
    solve(&[&matrix, "-q", "--html", &page]).assert().success();
    assert!(text(&page).contains("\"places\":null"));
    // TSPLIB's degrees and minutes are decimal degrees elsewhere.
    let geo = "NAME: g\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: GEO\nNODE_COORD_SECTION\n1 48.30 11.15\n2 50 8\n3 52 13\nEOF\n";
    let geo = folder.file("g.tsp", geo.as_bytes());
    let report = folder.path("g.json");
    solve(&[&geo, "-q", "--start", "1", "--json", &report]).assert().success();
    let place = |axis: usize| read(&report)["places"][0][axis].as_f64().unwrap();
    assert!((place(0) - 11.25).abs() < 1e-4 && (place(1) - 48.5).abs() < 1e-4, "{} {}", place(0), place(1));
}

/// Checks a value against a schema that uses what ours does, and that every field of an object is described; the path of the first
/// fault.
fn fault(schema: &Value, all: &Value, value: &Value, path: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = all.pointer(name.strip_prefix('#').unwrap()).unwrap();
        return fault(schema, all, value, path);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let mut faults: Vec<_> = choices.iter().map(|choice| fault(choice, all, value, path)).collect();
        return if faults.contains(&None) { None } else { faults.pop().flatten() };
    }
    let is = |kind: &Value| match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("{other}"),
    };
    let is_of_type = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    let is_chosen = schema["enum"].as_array().is_none_or(|choices| choices.contains(value));
    let is_const = schema.get("const").is_none_or(|constant| constant == value);
    let is_enough =
        schema["minimum"].as_f64().is_none_or(|least| value.as_f64().is_none_or(|number| number >= least));
    if !(is_of_type && is_chosen && is_const && is_enough) {
        return Some(format!("{path} is {value}"));
    }
    if let (Some(properties), Some(object)) = (schema["properties"].as_object(), value.as_object()) {
        let required = schema["required"].as_array().unwrap();
        if let Some(missing) = required.iter().find(|key| !object.contains_key(key.as_str().unwrap())) {
            return Some(format!("{path} has no {missing}"));
        }
        return object.iter().find_map(|(key, value)| match properties.get(key) {
            Some(schema) => fault(schema, all, value, &format!("{path}.{key}")),
            None => Some(format!("{path}.{key} is not in the schema")),
        });
    }
    let items = schema.get("items").zip(value.as_array());
    items.and_then(|(schema, items)| {
        items.iter().find_map(|item| fault(schema, all, item, &format!("{path}[]")))
    })
}

fn the_json_of_a_run_follows_its_schema() {
    let folder = Folder::new(30);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/run-1.schema.json");
    let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    let stops = folder.file("stops.csv", STOPS.as_bytes());
    let chain =
        folder.file("chain.csv", b",A,B,C,D\nA,0,1,inf,\nB,1,0,2.5,N/A\nC,null,2.5,0,3\nD,NaN,-,3,0\n");
    let own = folder.instance.as_str();
    for (line, code) in [
        (&[own, "--iterations", "20"][..], 0),
        (&[own, "--iterations", "20", "--bound"], 0),
        (&[own, "--iterations", "3", "--algorithm", "ga", "--population", "32", "--groups", "1"], 0),
        (&[own, "--iterations", "3", "--algorithm", "mmas", "--target", "5", "--stagnation", "9"], 0),
        (&[&stops, "--open", "--start", "E"], 0),
        // Every tour has a forbidden pair.
        (&[&chain], 7),
        (&["E1k.0", "--time", "200ms"], 0),
    ] {
        let file = folder.path("run.json");
        solve(&[line, &["-q", "--json", &file]].concat()).assert().code(code);
        let report = read(&file);
        assert_eq!(fault(&schema, &schema, &report, "run"), None, "{line:?}");
        let count = report["tour"].as_array().unwrap().len();
        let edges = count - usize::from(report["instance"]["open"] == true);
        assert_eq!(report["legs"].as_array().unwrap().len(), edges, "{line:?}");
    }
    // The check finds faults.
    let report = read(&folder.path("run.json"));
    for (key, value, told) in [
        ("seed", json!("one"), "run.seed is \"one\""),
        ("machine", json!({ "backend": "cpu" }), "run.machine has no \"device\""),
        ("more", json!(1), "run.more is not in the schema"),
        ("schema", json!(2), "run.schema is 2"),
        ("places", json!([[1.0, "x"]]), "run.places[][] is \"x\""),
    ] {
        let mut wrong = report.clone();
        wrong[key] = value;
        assert_eq!(fault(&schema, &schema, &wrong, "run").as_deref(), Some(told));
    }
}

/// The runs in a page.
fn runs_of(page: &str) -> Value {
    let text = text(page);
    let (_, json) = text.split_once("<script type=\"application/json\" id=\"runs\">").unwrap();
    serde_json::from_str(json.split_once("</script>").unwrap().0).unwrap()
}

fn a_page_has_the_json_of_its_run() {
    let folder = Folder::new(5);
    let stops = folder.file("stops.csv", STOPS.as_bytes());
    let [.., report, page] = all_formats(&folder, &stops, &[]);
    assert_eq!(runs_of(&page), json!([read(&report)]));
    let text = text(&page);
    assert!(!text.contains("<b>") && text.contains(r"\u003c/script>\u003cb>"), "names stay data");
}

fn plot_makes_pages_and_maps_of_what_runs_wrote() {
    let folder = Folder::new(5);
    let stops = folder.file("stops.csv", STOPS.as_bytes());
    let [one, page, map] = ["one.json", "page.html", "map.svg"].map(|name| folder.path(name));
    solve(&[&stops, "-q", "--json", &one]).assert().success();
    // A file with a line for each run, and one with their statistics.
    let all = folder.path("all.json");
    solve(&[&folder.instance, "-q", "--iterations", "9", "--runs", "2", "--json", &all]).assert().success();
    antwarp(&["plot", &one, &all, "-o", &page]).assert().success().stdout("");
    let runs = runs_of(&page);
    assert_eq!(runs.as_array().unwrap().len(), 3);
    assert_eq!((&runs[0], &runs[2]["seed"]), (&read(&one), &json!(2)));
    antwarp(&["plot", &one, "--map", "-o", &map]).assert().success().stdout("");
    let svg = text(&map);
    assert!(svg.contains(">A &amp; B</text>") && svg.matches("<circle").count() == 6, "{svg}");
    // The same picture as that of the run, whose places come in the order of the file.
    let picture = folder.path("run.svg");
    solve(&[&stops, "-q", "--svg", &picture]).assert().success();
    let lines = |svg: &str| {
        let mut lines: Vec<String> = svg.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&svg), lines(&text(&picture)));
    antwarp(&["plot", &all, "--map"]).assert().code(2).stderr(contains("there are 2"));
    // As PNG, two pixels for each unit.
    let [of_run, of_plot, curves] = ["run.png", "map.PNG", "curves.png"].map(|name| folder.path(name));
    solve(&[&stops, "-q", "--png", &of_run]).assert().success();
    antwarp(&["plot", &one, "--map", "-o", &of_plot]).assert().success().stdout("");
    antwarp(&["plot", &all, "-o", &curves]).assert().success().stdout("");
    let view = svg.split_once(r#"viewBox="0 0 "#).unwrap().1;
    let units: Vec<u32> = view.split(['"', ' ']).take(2).map(|unit| unit.parse().unwrap()).collect();
    for (file, is_map) in [(&of_run, true), (&of_plot, true), (&curves, false)] {
        let bytes = std::fs::read(file).unwrap();
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "{file}");
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        let apart = [number(16).abs_diff(2 * units[0]), number(20).abs_diff(2 * units[1])];
        assert!(!is_map || apart.iter().all(|&apart| apart <= 1), "{file}: {apart:?}");
    }
    // Other places of the same name are another instance.
    let monday = folder.path("monday");
    std::fs::create_dir(&monday).unwrap();
    let (moved, other) = (format!("{monday}/stops.csv"), folder.path("other.json"));
    std::fs::write(&moved, STOPS.replacen('1', "2", 1)).unwrap();
    solve(&[&moved, "-q", "--json", &other]).assert().success();
    let [known, unknown] = [read(&one), read(&other)].map(|run| run["instance"].clone());
    assert_eq!((&known["name"], &known["nodes"]), (&unknown["name"], &unknown["nodes"]));
    assert_ne!(known["fingerprint"], unknown["fingerprint"]);
    let curves = folder.path("curves.svg");
    antwarp(&["plot", &one, &other, "-o", &curves]).assert().success();
    assert!(text(&curves).contains("stops (2), above"), "{}", text(&curves));
    let mut cut = read(&one);
    cut["names"] = json!(["A"]);
    let wrong = folder.file("wrong.json", cut.to_string().as_bytes());
    cut["tour"] = json!([]);
    let empty = folder.file("empty.json", cut.to_string().as_bytes());
    cut = read(&one);
    cut["places"] = Value::Null;
    let nowhere = folder.file("nowhere.json", cut.to_string().as_bytes());
    let none = folder.file("none.json", b"{\"statistics\": {}}\n");
    let table = folder.file("table.csv", b"name,latitude,longitude\nA,1,2\n");
    let settings = folder.file("settings.json", b"{\"neighbors\": 8}");
    for (args, told) in [
        (&["plot", &wrong, "-o", &page][..], "other places than its names"),
        (&["plot", &empty, "-o", &page], "the run has no tour"),
        (&["plot", &nowhere, "--map"], "no coordinates"),
        (&["plot", &none, "-o", &page], "no saved run"),
        (
            &["plot", &table],
            "not a saved run, which is JSON: the file begins with \"name,latitude,longitude\"",
        ),
        (&["plot", &settings], "not a saved run, although it is JSON"),
    ] {
        antwarp(args).assert().code(3).stderr(contains(told));
    }
    assert_eq!(runs_of(&page), runs, "a refusal changes nothing");
}

fn runs_without_a_best_known_length_are_compared_with_each_other() {
    let folder = Folder::new(60);
    let files = ["1", "2"].map(|seed| {
        let file = folder.path(&format!("{seed}.json"));
        let iterations = if seed == "1" { "1" } else { "200" };
        solve(&[&folder.instance, "-q", "--seed", seed, "--iterations", iterations, "--json", &file])
            .assert()
            .success();
        file
    });
    let drawn = |moments: bool| {
        let moments = moments.then_some("--moments");
        let args: Vec<&str> = ["plot", &files[0], &files[1]].into_iter().chain(moments).collect();
        String::from_utf8(antwarp(&args).assert().success().get_output().stdout.clone()).unwrap()
    };
    let is_bounded = files.iter().any(|file| !read(file)["bound"].is_null());
    let reference = if is_bounded { "above the bound" } else { "above the best of these runs" };
    for moments in [false, true] {
        assert!(drawn(moments).contains(reference), "{}", drawn(moments));
    }
    // Runs that differ only in their seeds are named by them, each with its own colour.
    let named = |seed: &str, moments: bool| drawn(moments).contains(&format!("seed {seed}<"));
    assert!(["1", "2"].into_iter().all(|seed| named(seed, true) && !named(seed, false)), "{}", drawn(true));
    // A run that was cut short counts with its moments only.
    let mut cut = read(&files[0]);
    cut["stopped_by"] = json!("interrupt");
    let cut = folder.file("cut.json", cut.to_string().as_bytes());
    antwarp(&["plot", &cut]).assert().code(3).stderr(contains("ended early"));
    antwarp(&["plot", &cut, "--moments"]).assert().success();
}

fn several_runs_write_each_format() {
    let folder = Folder::new(5);
    let stops = folder.file("stops.csv", STOPS.as_bytes());
    let out = folder.path("out");
    fs::create_dir(&out).unwrap();
    let places = ["--geojson", &out, "--gpx", &out, "--svg", &out, "--png", &out];
    let run = solve(&[&[stops.as_str(), &folder.instance, "-q"], &places[..]].concat()).assert().success();
    // Places in the plane have none of the first two.
    run.stderr(contains("random.tsp has no latitudes and longitudes, so it gets no file of --gpx"));
    let mut names: Vec<_> =
        fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["random.png", "random.svg", "stops.geojson", "stops.gpx", "stops.png", "stops.svg"]);
}

/// A file of numpy with this header and these numbers.
fn npy(header: &str, numbers: &[f64]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', {header}}}\n");
    let mut file =
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    numbers.iter().for_each(|number| file.extend(number.to_le_bytes()));
    file
}

fn arrays_of_numpy_are_instances() {
    let folder = Folder::new(5);
    let square = [0.0, 0.0, 3.0, 4.5, 3.0, 0.0, 0.0, 4.5];
    let array = npy("'fortran_order': False, 'shape': (4, 2), ", &square);
    let places = folder.file("places.npy", &array);
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&array).unwrap();
    let packed = folder.file("places.npy.gz", &packed.finish().unwrap());
    for file in [&places, &packed] {
        let run = solve(&[file, "--json", "-"]).assert().success();
        let run = run.stderr(contains("read 4 places from").and(contains("numpy float64")));
        let report: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
        assert_eq!(report["cost"], 15.0);
    }
    // As a user's pipe.
    solve(&["-", "-q", "--json", "-"])
        .write_stdin(array.clone())
        .assert()
        .success()
        .stdout(contains("\"cost\":15.0"));
    // A matrix of zeros and ones is longer than any text without a digit may be.
    let n = 800;
    let costs: Vec<f64> = (0..n * n).map(|at| f64::from(u8::from(at / n != at % n))).collect();
    let shape = format!("'fortran_order': True, 'shape': ({n}, {n}), ");
    let matrix = folder.file("ones.npy", &npy(&shape, &costs));
    let run = solve(&[&matrix, "--iterations", "1", "--json", "-"]).assert();
    let run = run.success().stderr(contains("800 x 800").or(contains("800")));
    let report: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert_eq!(report["cost"], 800);
    for (bytes, told) in [
        (array[..array.len() - 1].to_vec(), "cut short"),
        ([&array[..], b"1"].concat(), "continues after"),
        (npy("'fortran_order': False, 'shape': (8,), ", &square), "1 dimension, not 2"),
        (npy("'fortran_order': False, 'shape': (4503599627370496, 2), ", &square), "cut short"),
    ] {
        let wrong = folder.file("wrong.npy", &bytes);
        antwarp(&["info", &wrong]).assert().code(3).stderr(contains("wrong.npy").and(contains(told)));
    }
    // A long file whose header claims too much is refused before it is read.
    let claim = npy("'fortran_order': False, 'shape': (4503599627370496, 2), ", &[0.0; 1 << 18]);
    let claim = folder.file("claim.npy", &claim);
    antwarp(&["info", &claim]).assert().code(3).stderr(contains("not enough memory"));
}
