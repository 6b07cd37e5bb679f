//! Instances as users have them: published files, broken files, and files that we wrote.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use antwarp::instance::{Instance, InstanceError, Kind, Metric, nearest, tour_file, tsplib};

tests! {
    every_published_instance_is_read,
    best_known_lengths_are_those_of_the_published_list,
    other_data_under_a_published_name_have_no_best_known_length,
    a_published_instance_is_known_in_any_file,
    every_published_tour_has_its_published_length,
    details_of_published_files,
    what_is_written_reads_back,
    duplicate_points_are_neighbors_in_order,
    generated_instances_need_no_file,
    the_capitals_are_one_instance_in_two_files,
    every_layout_of_a_matrix_gives_the_same_instance,
    files_vary_in_form,
    comments_may_be_many_and_long,
    nodes_may_be_numbered_otherwise,
    errors_name_the_place_and_the_remedy,
    the_wrong_line_is_shown_with_its_number,
    a_matrix_in_one_long_line_is_shown_in_part,
    missing_files_and_folders_are_explained,
    a_damaged_archive_is_an_error,
    a_file_is_no_longer_than_its_dimension_allows,
    what_unpacks_to_anything_is_refused_early,
    #[cfg(unix)]
    devices_and_holes_are_refused_early,
    what_a_file_says_gives_a_terminal_no_commands,
}

/// The folder of published instances.
fn data() -> Option<PathBuf> {
    crate::data::folder(&["tsplib", "vlsi", "national"])
}

/// The files of a folder whose names end like this, in order.
fn files(folder: &Path, ends: &[&str]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| ends.iter().any(|end| path.to_str().unwrap().ends_with(end)));
    files.sort();
    files
}

fn published() -> Option<Vec<PathBuf>> {
    let data = data()?;
    let folders = ["tsplib", "vlsi", "national"].map(|folder| data.join(folder));
    Some(folders.iter().flat_map(|folder| files(folder, &[".tsp", ".atsp", ".tsp.gz"])).collect())
}

/// The digits in a name such as ftv33 or pla85900.tsp.gz.
fn number_in_name(path: &Path) -> usize {
    let name = path.file_name().unwrap().to_str().unwrap();
    let digits: String = name.split('.').next().unwrap().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

fn every_published_instance_is_read() {
    let Some(files) = published() else { return };
    assert!(files.len() >= 126);
    for path in files {
        let instance = Instance::open(&path).unwrap_or_else(|error| panic!("{error:?}"));
        let n = instance.len();
        let name = path.display();
        // ftvN has N+1 nodes, kro124p has 100.
        let named = number_in_name(&path);
        assert!([named, named + 1].contains(&n) || named == 124, "{name} has {n} nodes");
        assert_eq!(instance.kind() == Kind::Atsp, path.extension().unwrap() == "atsp", "{name}");
        let fingerprint = instance.fingerprint();
        let best = instance.best_known().unwrap_or_else(|| {
            panic!("{name} has no best known length; its fingerprint is {fingerprint:#018x}")
        });
        assert!(best.proven, "{name}");
        let tour: Vec<u32> = (0..n as u32).collect();
        assert!(instance.check_tour(&tour).unwrap() >= best.cost, "{name}");
        assert!((0..n as u32).all(|node| instance.id(node) == node + 1), "{name}");
    }
}

fn best_known_lengths_are_those_of_the_published_list() {
    let Some(data) = data() else { return };
    let list = std::fs::read_to_string(data.join("best_known.csv")).unwrap();
    for line in list.lines().skip(1) {
        let [name, kind, _, best, ..] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (folder, extension) = match kind {
            "qap" => continue,
            "atsp" => ("tsplib", "atsp"),
            "tsp" if name == "pla85900" => ("tsplib", "tsp.gz"),
            "tsp" => ("tsplib", "tsp"),
            other => (other, "tsp"),
        };
        let instance = Instance::open(data.join(folder).join(format!("{name}.{extension}"))).unwrap();
        // The fixed edge of linhp318 counts in our tours and does not in the list.
        let fixed =
            instance.fixed_edges().iter().map(|&(a, b)| i64::from(instance.distance(a, b))).sum::<i64>();
        assert_eq!(instance.best_known().unwrap().cost - fixed, best.parse::<i64>().unwrap(), "{name}");
    }
}

fn other_data_under_a_published_name_have_no_best_known_length() {
    let Some(files) = published() else { return };
    for path in files {
        let instance = Instance::open(&path).unwrap();
        let other = if let Some(points) = instance.points() {
            let half = points.iter().map(|point| point.map(|c| c / 2.0)).collect();
            Instance::from_points(instance.name(), instance.metric().unwrap(), half)
        } else {
            let mut matrix = instance.matrix().unwrap().to_vec();
            matrix[1] += 1;
            Instance::from_matrix(instance.name(), matrix)
        };
        assert_eq!(other.unwrap().best_known(), None, "{}", path.display());
    }
}

fn a_published_instance_is_known_in_any_file() {
    let Some(data) = data() else { return };
    let berlin52 = Instance::open(data.join("tsplib/berlin52.tsp")).unwrap();
    let points = berlin52.points().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("berlin52.txt");
    let best_known = |scale: f64| {
        let line = |(i, p): (usize, &[f64; 3])| format!("{} {} {}\n", i + 1, p[0] * scale, p[1] * scale);
        let lines: String = points.iter().enumerate().map(line).collect();
        let head = "NAME: berlin52\nDIMENSION: 52\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n";
        std::fs::write(&path, format!("{head}{lines}EOF\n")).unwrap();
        Instance::open(&path).unwrap().best_known()
    };
    assert_eq!(best_known(1.0), berlin52.best_known());
    assert_eq!(best_known(0.5), None);
    let with =
        |name: &str, metric| Instance::from_points(name, metric, points.to_vec()).unwrap().best_known();
    assert_eq!(with("BERLIN52.tsp", Metric::Euc2d), berlin52.best_known());
    assert_eq!((with("berlin52", Metric::Ceil2d), with("berlin", Metric::Euc2d)), (None, None));
}

fn every_published_tour_has_its_published_length() {
    let Some(data) = data() else { return };
    let tours = files(&data.join("tsplib"), &[".opt.tour"]);
    assert_eq!(tours.len(), 33);
    for path in tours {
        let name = path.to_str().unwrap().strip_suffix(".opt.tour").unwrap();
        let instance = Instance::open(format!("{name}.tsp")).unwrap();
        let tour = tour_file::read(&path, &instance).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(instance.check_tour(&tour).unwrap(), instance.best_known().unwrap().cost, "{name}");
    }
}

fn details_of_published_files() {
    let Some(data) = data() else { return };
    let open = |name: &str| Instance::open(data.join(name)).unwrap();

    let linhp318 = open("tsplib/linhp318.tsp");
    assert_eq!((linhp318.name(), linhp318.fixed_edges()), ("lin318", &[(0, 213)][..]));
    let lin318 = open("tsplib/lin318.tsp");
    assert_eq!((lin318.fixed_edges(), lin318.best_known().unwrap().cost), (&[][..], 42029));

    let dj38 = open("national/dj38.tsp");
    assert_eq!(dj38.comments().len(), 5);
    assert_eq!(dj38.points().unwrap()[0], [11003.6111, 42102.5, 0.0]);

    // Display places are no coordinates: the distances come from the matrix.
    let bayg29 = open("tsplib/bayg29.tsp");
    assert_eq!((bayg29.metric(), bayg29.display_points().unwrap()[0]), (None, [1150.0, 1760.0]));
    assert_eq!((bayg29.distance(0, 1), bayg29.distance(28, 27)), (97, 162));

    let br17 = open("tsplib/br17.atsp");
    assert_eq!((br17.distance(0, 1), br17.distance(0, 0), br17.is_symmetric()), (3, 0, false));

    let burma14 = open("tsplib/burma14.tsp");
    assert_eq!(burma14.metric(), Some(Metric::Geo));
    // A picture has north at the top.
    assert_eq!(burma14.display_points().unwrap()[0], [96.10, 16.47]);
}

fn what_is_written_reads_back() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    for name in ["national/dj38", "tsplib/burma14", "tsplib/linhp318", "tsplib/bayg29", "tsplib/att48"] {
        let path = data.join(format!("{name}.tsp"));
        let copy = folder.path().join("copy.tsp");
        let instance = Instance::open(&path).unwrap();
        tsplib::save(&instance, &copy).unwrap();
        assert_eq!(Instance::open(&copy).unwrap(), instance, "{name}");
    }
    let instance = Instance::open(data.join("tsplib/ft53.atsp")).unwrap();
    let copy = folder.path().join("copy.atsp");
    tsplib::save(&instance, &copy).unwrap();
    assert_eq!(Instance::open(&copy).unwrap(), instance);
}

fn duplicate_points_are_neighbors_in_order() {
    let Some(data) = data() else { return };
    let instance = Instance::open(data.join("national/rw1621.tsp")).unwrap();
    let lists = nearest(&instance, 10);
    for from in 0..instance.len() as u32 {
        let mut others: Vec<u32> = (0..instance.len() as u32).filter(|&to| to != from).collect();
        let points = instance.points().unwrap();
        let line = |to: u32| {
            let (a, b) = (points[from as usize], points[to as usize]);
            (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
        };
        others.sort_by(|&a, &b| line(a).total_cmp(&line(b)).then(a.cmp(&b)));
        assert_eq!(lists.of(from), &others[..10], "node {from}");
    }
}

fn generated_instances_need_no_file() {
    let instance = Instance::open("E3k.0").unwrap();
    assert_eq!((instance.name(), instance.len()), ("E3k.0", 3162));
    assert_eq!(instance.points().unwrap()[0], [537168.0, 182949.0, 0.0]);
    assert_eq!(instance.best_known().unwrap().cost, 40634081);
    assert_ne!(Instance::open("E3k.1").unwrap().points(), instance.points());
}

fn the_capitals_are_one_instance_in_two_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let [tsp, csv] =
        ["tsp", "csv"].map(|end| Instance::open(folder.join(format!("capitals.{end}"))).unwrap());
    let n = tsp.len() as u32;
    assert!(n >= 190);
    assert_eq!((csv.len() as u32, csv.metric()), (n, Some(Metric::Sphere)));
    for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
        // TSPLIB rounds up, on a sphere that is larger by .12 %.
        let (kilometres, metres) = (f64::from(tsp.distance(i, j)), csv.edge_cost(i, j));
        assert!((-0.1..1.1).contains(&(kilometres - metres / 1e3 * 6378.388 / 6371.0088)), "{i} {j}");
    }
    // Vatican City is in Rome.
    let names = std::fs::read_to_string(folder.join("capitals.csv")).unwrap();
    let node = |name: &str| names.lines().skip(1).position(|line| line.starts_with(name)).unwrap() as u32;
    assert_eq!(nearest(&tsp, 1).of(node("Rome")), [node("Vatican")]);
    // Paris to London is 344 km.
    assert!((335..350).contains(&tsp.distance(node("Paris"), node("London"))));
}

fn every_layout_of_a_matrix_gives_the_same_instance() {
    let weights = [
        ("FULL_MATRIX", "0 1 2 3  1 0 4 5\n2 4 0\n\n6 3 5 6 0"),
        ("UPPER_ROW", "1 2 3\n4 5\n6"),
        ("LOWER_ROW", "1\n2 4\n3 5 6"),
        ("UPPER_DIAG_ROW", "0 1 2 3 9999 4 5 -1 6 0"),
        ("LOWER_DIAG_ROW", "0 1 0 2 4 0 3 5 6 0"),
        ("UPPER_COL", "1\n2 4\n3 5 6"),
        ("LOWER_COL", "1 2 3\n4 5\n6"),
        ("UPPER_DIAG_COL", "0 1 0 2 4 0 3 5 6 0"),
        ("LOWER_DIAG_COL", "0 1 2 3 0 4 5 0 6 0"),
    ];
    for (layout, weights) in weights {
        let text = explicit(layout, weights);
        let instance =
            tsplib::parse("m.tsp", "m", text.as_bytes()).unwrap_or_else(|e| panic!("{layout}: {e:?}"));
        let expected = [0, 1, 2, 3, 1, 0, 4, 5, 2, 4, 0, 6, 3, 5, 6, 0];
        assert_eq!(instance.matrix().unwrap(), expected, "{layout}");
    }
}

fn explicit(layout: &str, weights: &str) -> String {
    format!(
        "DIMENSION: 4\nTYPE: TSP\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {layout} \n\
         EDGE_WEIGHT_SECTION \n{weights}\nEOF\n"
    )
}

fn parse(text: &str) -> Result<Instance, InstanceError> {
    tsplib::parse("t.tsp", "t", text.as_bytes())
}

fn files_vary_in_form() {
    let standard = "NAME : a\nTYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\n\
                    NODE_COORD_SECTION\n1 0 0\n2 3e0 4.0\n3 -6 +8\nEOF\n";
    let expected = parse(standard).unwrap();
    assert_eq!(expected.check_tour(&[0, 1, 2]).unwrap(), 5 + 10 + 10);
    for text in [
        standard.replace('\n', "\r\n"),
        standard.replace('\n', "\r"),
        format!("\u{feff}{standard}"),
        standard.replace(" : ", ":"),
        standard.replace("EOF\n", ""),
        standard.replace("EOF\n", "-1\nEOF\n\n \n"),
        standard.replace("TYPE : TSP", "TYPE : TSP (M.~Hofmeister)"),
        standard.replace("TYPE : TSP\n", "").replace("NODE_COORD_SECTION", "node_coord_section:"),
        standard.replace("DIMENSION : 3\n", "").replace("EOF", "DIMENSION\t:\t3\nEOF"),
        standard.replace("1 0 0\n2 3e0 4.0\n3 -6 +8\n", " 2\t3 4 \n\n3 -6 8\n   1 0.0 0\n"),
        standard.replace("1 0", "1.0e+00 0"),
        standard.replace("DIMENSION", "DISPLAY_DATA_TYPE: COORD_DISPLAY\nDIMENSION"),
    ] {
        let instance = parse(&text).unwrap_or_else(|error| panic!("{text:?}: {error:?}"));
        assert_eq!(instance, expected, "{text:?}");
    }
}

fn comments_may_be_many_and_long() {
    let text = "COMMENT : first\nNAME : a\nCOMMENT: second\n  goes on\nand on\nDIMENSION : 1\n\
                EDGE_WEIGHT_TYPE : CEIL_2D\nNODE_COORD_SECTION\n1 0 0\n";
    assert_eq!(parse(text).unwrap().comments(), ["first", "second"]);
}

fn nodes_may_be_numbered_otherwise() {
    let text = |ids: [u32; 3]| {
        let [a, b, c] = ids;
        format!(
            "NAME : a\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nFIXED_EDGES_SECTION\n{c} {a}\n-1\n\
             NODE_COORD_SECTION\n{a} 0 0\n{b} 3 4\n{c} 6 8\n"
        )
    };
    for ids in [[0, 1, 2], [5, 9, 7], [7, 8, 9]] {
        let instance = parse(&text(ids)).unwrap();
        assert_eq!([0, 1, 2].map(|node| instance.id(node)), ids);
        assert_eq!(instance.fixed_edges(), [(2, 0)]);
        assert_eq!(instance.distance(0, 2), 10);
        let [a, b, c] = ids;
        let tour = tour_file::parse("t.tour", format!("TOUR_SECTION {c} {a} {b} -1").as_bytes(), &instance);
        assert_eq!(tour.unwrap(), [2, 0, 1]);
        let mut written = Vec::new();
        tsplib::write(&instance, &mut written).unwrap();
        assert_eq!(parse(std::str::from_utf8(&written).unwrap()).unwrap(), instance);
    }
}

/// The message, the place and the remedy of what is wrong with a text.
fn wrong(text: &str) -> (String, String) {
    let error = parse(text).expect_err(text);
    let help = error.remedy().to_owned();
    assert!(!help.is_empty(), "{error} has no remedy");
    (error.to_string(), help)
}

fn coordinates(nodes: &str) -> String {
    format!("NAME : a\nTYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n{nodes}")
}

fn errors_name_the_place_and_the_remedy() {
    let standard = coordinates("1 0 0\n2 3 4\n3 6 8\n");
    let cases = [
        (coordinates("1 0 0\n2 nan 4\n3 6 8"), "t.tsp:7:3: the coordinate `nan` is not", "such as 12"),
        (
            coordinates("1 0 0\n2 3\n3 6 8"),
            "t.tsp:7:1: the line has 1 coordinates, but 2",
            "then its coordinates",
        ),
        (coordinates("1 0 0\n2 3 4 5\n3 6 8"), "t.tsp:7:7: the line has more than 2", "EDGE_WEIGHT_TYPE"),
        (
            coordinates("1 0 0\n2 3 4\n2 6 8"),
            "t.tsp:8:1: the number 2 is used for a second",
            "a unique number",
        ),
        (coordinates("1 0 0\n-2 3 4\n3 6 8"), "t.tsp:7:1: `-2` is not the number of a node", "from 1"),
        (
            coordinates("1 0 0\n2 3 4"),
            "t.tsp: NODE_COORD_SECTION has 2 lines, but DIMENSION is 3",
            "add the missing",
        ),
        (
            coordinates("1 0 0\n2 3 4\n3 5 6\n4 7 8"),
            "t.tsp:9:1: NODE_COORD_SECTION has more",
            "remove the line",
        ),
        (coordinates("1 0 0\n2 3 4\n3 9e9 0"), "t.tsp: the coordinates spread over 9", "divide"),
        (coordinates("1 0 0\nParis 2 3"), "t.tsp:7:1: this line is neither", "NAME : berlin52"),
        (standard.replace(" : 3", " : x"), "t.tsp:3:13: DIMENSION is `x`", "number of nodes"),
        (standard.replace(" : 3", " : 0"), "t.tsp:3:13: DIMENSION is `0`", "number of nodes"),
        (standard.replace(" : 3", " : 99999999999"), "t.tsp:3:13: DIMENSION is", "2147483647"),
        (standard.replace(" : 3", " : 2000000000"), "t.tsp: NODE_COORD_SECTION has 3 lines", "correct"),
        (standard.replace("DIMENSION : 3\n", ""), "t.tsp: there is no DIMENSION", "DIMENSION : 52"),
        (standard.replace("EUC_2D", "SPECIAL"), "t.tsp:4:20: the EDGE_WEIGHT_TYPE `SPECIAL`", "CEIL_2D"),
        (standard.replace("EUC_2D", "EXPLICIT"), "t.tsp: there is no EDGE_WEIGHT_FORMAT", "FULL_MATRIX"),
        (standard.replace(": TSP", ": CVRP"), "t.tsp:2:8: problems of TYPE CVRP", "only TYPE TSP and ATSP"),
        (standard.replace(": TSP", ": HCP"), "t.tsp:2:8: problems of TYPE HCP", "only TYPE TSP and ATSP"),
        (standard.replace(": TSP", ": SOP"), "t.tsp:2:8: problems of TYPE SOP", "only TYPE TSP and ATSP"),
        (standard.replace(": TSP", ": TOUR"), "t.tsp:2:8: this is a tour", "give the instance"),
        (
            format!("{standard}DEPOT_SECTION\n1\n-1\n"),
            "t.tsp:9:1: DEPOT_SECTION is not",
            "FIXED_EDGES_SECTION",
        ),
        (
            format!("{standard}FIXED_EDGES_SECTION\n1 9\n"),
            "t.tsp:10:3: the fixed edge joins node 9",
            "remove it",
        ),
        (
            format!("{standard}FIXED_EDGES_SECTION\n1 2 3"),
            "t.tsp:9:20: the last fixed edge has only one end",
            "two nodes",
        ),
        (
            format!("DIMENSION : 3\n{standard}"),
            "t.tsp:4:1: DIMENSION appears in the file a second",
            "keep one",
        ),
        (format!("TYPE : ATSP\n{standard}"), "t.tsp:3:1: TYPE appears in the file a second", "keep one"),
        (
            format!("{standard}NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 6 9\n"),
            "t.tsp:9:1: NODE_COORD_SECTION appears in the file a second",
            "keep one",
        ),
        (format!("{standard}EOF\n{standard}"), "t.tsp:10:1: the file continues after EOF", "own file"),
        ("12 34\n".to_owned(), "t.tsp:1:1: this line is neither", ".csv"),
        ("hello world\n".to_owned(), "t.tsp:1:1: this line is neither", ".csv"),
        (String::new(), "t.tsp: there is no DIMENSION", "DIMENSION : 52"),
        (
            explicit("UPPER_ROW", "1 2 3 4 5"),
            "t.tsp: the matrix has 5 weights, but 4 nodes need 6",
            "EDGE_WEIGHT_FORMAT",
        ),
        (
            explicit("UPPER_ROW", "1 2 3 4 5 6\n7"),
            "t.tsp:7:1: there are more weights than the 6",
            "DIMENSION",
        ),
        (explicit("UPPER_ROW", "1 2 3 4x 5 6"), "t.tsp:6:7: the weight `4x` is not a number", "inf"),
        (
            format!("{standard}EDGE_WEIGHT_SECTION\n0 1 1\n"),
            "t.tsp:9:1: there are explicit weights, but EDGE_WEIGHT_TYPE is EUC_2D",
            "EXPLICIT",
        ),
        (format!("SALESMEN : 2\n{standard}"), "t.tsp:1:1: SALESMEN is not part", "one salesman"),
        (format!("CAPACITY : 9\n{standard}"), "t.tsp:1:1: CAPACITY is not part", "remove"),
        (
            format!("{standard}FIXED_EDGES_SECTION\n1 2\n-1\n2 3\n-1\n"),
            "t.tsp:12:1: the section continues after its -1",
            "last",
        ),
        (format!("{standard}-1\n4 1 1\n"), "t.tsp:10:1: the section continues after its -1", "last"),
        (explicit("FUNCTION", "1"), "t.tsp:4:21: EDGE_WEIGHT_FORMAT `FUNCTION`", "LOWER_DIAG_COL"),
        (
            explicit("FULL_MATRIX", "0 1 2 3 1 0 4 5 2 9 0 6 3 5 6 0"),
            "t.tsp: the matrix is not symmetric: 4 from node 2 to node 3, but 9 in the other direction",
            "TYPE : ATSP",
        ),
    ];
    for (text, message, remedy) in cases {
        let (error, help) = wrong(&text);
        assert!(error.starts_with(message), "expected {message:?}, got {error:?}");
        assert!(help.contains(remedy), "expected {remedy:?} in {help:?}");
    }
}

fn the_wrong_line_is_shown_with_its_number() {
    let error = parse(&coordinates("1 0 0\n2 nan 4\n3 6 8")).unwrap_err();
    let shown = error.rendered(false);
    assert!(shown.contains("7 | 2 nan 4") && shown.contains("^^^ here"), "{shown}");
    assert!(!shown.contains("3 6 8"), "{shown}");
}

fn a_matrix_in_one_long_line_is_shown_in_part() {
    let mut weights = String::new();
    for _ in 0..100_000 {
        write!(weights, "7 ").unwrap();
    }
    let text = explicit("FULL_MATRIX", &format!("{weights} x {weights}")).replace(": 4", ": 500");
    let error = parse(&text).unwrap_err();
    assert!(error.to_string().starts_with("t.tsp:6:200002: the weight `x`"), "{error}");
    let shown = error.rendered(false);
    assert!(shown.len() < 1000, "{shown}");
}

fn missing_files_and_folders_are_explained() {
    let error = Instance::open("no-such-file.tsp").unwrap_err();
    assert!(error.to_string().starts_with("cannot read no-such-file.tsp: "), "{error}");
    assert!(error.remedy().contains("E10k.0"));
    let error = Instance::open(env!("CARGO_MANIFEST_DIR")).unwrap_err();
    assert!(error.to_string().starts_with("cannot read "), "{error}");
}

fn a_damaged_archive_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tsp.gz");
    std::fs::write(&path, [0x1f, 0x8b, 8, 0, 1, 2, 3]).unwrap();
    let error = Instance::open(&path).unwrap_err();
    assert!(error.remedy().contains("download it again"), "{error}");
}

/// What is wrong with a file of these bytes.
fn refused(name: &str, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    Instance::open(&path).unwrap_err().to_string()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    packed_with(bytes, 0, 0)
}

/// An archive of some bytes, and of so many mebibytes of one byte.
fn packed_with(bytes: &[u8], mebibytes: usize, byte: u8) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    (0..mebibytes).for_each(|_| packed.write_all(&[byte; 1 << 20]).unwrap());
    packed.finish().unwrap()
}

fn a_file_is_no_longer_than_its_dimension_allows() {
    let text = coordinates("1 0 0\n2 3 4\n3 6 8\nEOF\n");
    let long = format!("{text}{}", "\n".repeat(2 << 20));
    // DIMENSION 3 leaves room for 27 numbers of 32 bytes, and a mebibyte for all else.
    let three = "the file has more than 1049440 bytes, the maximum for DIMENSION 3";
    assert!(refused("long.tsp", long.as_bytes()).contains(three));
    assert!(refused("long.tsp.gz", &packed(long.as_bytes())).contains(three));
    let matrix = format!("{}{}", explicit("FULL_MATRIX", ""), "1 ".repeat(1 << 20));
    assert!(refused("long.tsp", matrix.as_bytes()).contains("1050240 bytes, the maximum for DIMENSION 4"));
    let late = format!("COMMENT : {}\n{text}", "x".repeat(2 << 20));
    assert!(
        refused("late.tsp", late.as_bytes())
            .contains("the maximum for a file without DIMENSION in its first lines")
    );
    // What is within it is read.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.tsp");
    std::fs::write(&path, &long[..1_049_440]).unwrap();
    assert_eq!(Instance::open(&path).unwrap().len(), 3);
    let instance = parse(&text).unwrap();
    let tour = folder.path().join("long.tour");
    std::fs::write(&tour, format!("1 2 3 -1\n{}", " ".repeat(2 << 20))).unwrap();
    let error = tour_file::read(&tour, &instance).unwrap_err().to_string();
    assert!(error.contains("the maximum for a tour of 3 nodes"), "{error}");
}

/// The begin of a file that there is room for in the memory, but that may be long.
const MANY: &str = "DIMENSION : 10000000\nEDGE_WEIGHT_TYPE : EUC_2D\n";

fn what_unpacks_to_anything_is_refused_early() {
    let bomb = |begin: &[u8], byte: u8| packed_with(begin, 256, byte);
    let blanks = bomb(b"DIMENSION : 3\n", b'\n');
    assert!(refused("bomb.tsp.gz", &blanks).contains("the maximum for DIMENSION 3"));
    assert!(refused("bomb.csv.gz", &bomb(b"x,y\n", b'\n')).contains("four mebibytes without a number"));
    assert!(refused("bomb.csv.gz", &bomb(b"x,y\n", b'7')).contains("without the end of a number"));
    // However many nodes there are, they have numbers.
    for (byte, what) in [(0, "is zero, so this is not text"), (b'\n', "four mebibytes without a number")] {
        let error = refused("bomb.tsp.gz", &bomb(MANY.as_bytes(), byte));
        assert!(error.contains(what), "{error}");
    }
    // And the memory has to hold them: a matrix of these takes 16 EiB.
    let numbers = bomb(b"DIMENSION : 2000000000\nEDGE_WEIGHT_TYPE : EXPLICIT\n", b'7');
    let error = refused("bomb.tsp.gz", &numbers);
    assert!(error.contains("not enough memory for DIMENSION 2000000000: "), "{error}");
}

#[cfg(unix)]
fn devices_and_holes_are_refused_early() {
    let zero = Path::new("/dev/zero");
    assert!(Instance::open(zero).unwrap_err().to_string().contains("not text"));
    let instance = parse(&coordinates("1 0 0\n2 3 4\n3 6 8\n")).unwrap();
    assert!(tour_file::read(zero, &instance).is_err());
    assert!(antwarp::instance::population_file::read(zero, &instance).is_err());
    assert!(antwarp::instance::Qap::open(zero).is_err());
    // A terabyte that takes no place on the disk.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hole.tsp");
    std::fs::write(&path, MANY).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    if file.set_len(1 << 40).is_ok() {
        assert!(Instance::open(&path).unwrap_err().to_string().contains("is zero, so this is not text"));
    }
}

fn what_a_file_says_gives_a_terminal_no_commands() {
    let text = coordinates("1 0 0\n2 3 4\n3 6 8\n");
    let text = text.replace(": a\n", ": a\u{1b}[31mb\u{7}\u{9b}2J\nCOMMENT : \u{1b}]0;c\u{7} \t\u{e9}\n");
    let instance = parse(&text).unwrap();
    assert_eq!(instance.name(), "a\u{fffd}[31mb\u{fffd}\u{fffd}2J");
    assert_eq!(instance.comments(), ["\u{fffd}]0;c\u{fffd} \t\u{e9}"]);
    let (error, _) = wrong(&coordinates("1 0 0\n2 \u{1b}[2J 4\n3 6 8"));
    assert!(error.contains("the coordinate `\u{fffd}[2J` is not"), "{error}");
    let error = parse(&coordinates("1 0 0\n2 \u{1b}[2J 4\n3 6 8")).unwrap_err();
    let shown = error.rendered(false);
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

pub mod hostile {
    use proptest::prelude::*;

    use super::*;
    use antwarp::instance::{ReadOptions, population_file};

    /// Whatever comes in, no reader panics, and an instance that comes out can be used.
    fn read_all(bytes: &[u8]) {
        for instance in
            [tsplib::parse("f", "f", bytes), Instance::parse("f", "f", bytes, &ReadOptions::default())]
        {
            match instance {
                Ok(instance) => {
                    let last = instance.len() as u32 - 1;
                    assert!(instance.distance(0, last) >= 0);
                    nearest(&instance, 5);
                    let _ = tour_file::parse("f", bytes, &instance);
                }
                Err(error) => assert!(!error.rendered(false).is_empty()),
            }
        }
        let two = Instance::from_matrix("f", vec![0, 1, 1, 0]).unwrap();
        if let Ok(tour) = tour_file::parse("f", bytes, &two) {
            assert_eq!(two.check_tour(&tour), Ok(2));
        }
        if let Ok(saved) = population_file::parse(Path::new("f"), bytes, &two) {
            assert!(saved.count > 0 && saved.individuals.len() == 2 * saved.count as usize);
            assert!(saved.individuals.chunks(2).all(|tour| two.check_tour(tour) == Ok(2)));
        }
    }

    fn seeds() -> [String; 6] {
        [
            super::coordinates("1 0 0\n2 3 4\n3 6 8\nFIXED_EDGES_SECTION\n1 2\n-1\nEOF\n"),
            explicit(
                "LOWER_DIAG_ROW",
                "0 1 0 2 4 0 3 5 6 0\nDISPLAY_DATA_SECTION\n1 1 1\n2 2 2\n3 3 3\n4 4 4",
            ),
            "NAME : t\nTYPE : TOUR\nTOUR_SECTION\n1 2\n-1\nEOF\n".to_owned(),
            "name,lat,lon\na,1.5,2.5\n\"b\",3,4\nc,5,6\n".to_owned(),
            "x y\n0 0\n 30  40 \n\"50\" 60\n".to_owned(),
            "COMMENT : antwarp population {\"individuals\":2,\"generation\":3,\"shortest\":2,\"settings\":{}}\n\
             TYPE : TOUR\nTOUR_SECTION\n1\n2\n-1\n2 1 -1\n-1\nEOF\n"
                .to_owned(),
        ]
    }

    /// Pieces that readers look for.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let words = [
            "EOF",
            "-1",
            "\n",
            "\r\n",
            ":",
            " ",
            "nan",
            "1e308",
            "-1e308",
            "99999999999",
            "0",
            "_SECTION",
            "GEO",
            "XRAY1",
            "EXPLICIT",
            "FULL_MATRIX",
            "DIMENSION : 2147483647\n",
            "DIMENSION : 1\n",
            "\u{feff}",
            "é",
            "\"",
            ",",
            ";",
            "#",
        ];
        let word = prop::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec());
        prop_oneof![word, prop::collection::vec(any::<u8>(), 1..4)]
    }

    tests! {
        random_bytes,
        damaged_files,
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read_all(&bytes);
        }

        fn damaged_files(
            seed in 0_usize..6,
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..8, piece()), 1..6),
        ) {
            let mut bytes = seeds()[seed].clone().into_bytes();
            for (at, remove, insert) in edits {
                let start = at.index(bytes.len() + 1);
                let end = (start + remove).min(bytes.len());
                bytes.splice(start..end, insert);
            }
            read_all(&bytes);
        }
    }
}
