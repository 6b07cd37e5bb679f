//! Tests of how tables are interpreted.

use super::*;
use crate::content::Content;

fn read_with(text: &str, options: &ReadOptions) -> Result<Reading> {
    let text = Text { file: "t", bytes: text.as_bytes() };
    if is_array(std::str::from_utf8(text.bytes).unwrap()) {
        arrays(text, options, Vec::new())
    } else {
        delimited(text, options, Vec::new())
    }
}

fn read(text: &str) -> Reading {
    read_with(text, &ReadOptions::default())
        .unwrap_or_else(|error| panic!("{text:?}: {error}: {}", error.remedy()))
}

fn columns(list: &[(&str, &str)]) -> ReadOptions {
    ReadOptions {
        columns: list.iter().map(|(role, column)| ((*role).to_owned(), (*column).to_owned())).collect(),
        ..ReadOptions::default()
    }
}

/// Returns the coordinates of the places in a text.
fn places(text: &str) -> Vec<[f64; 2]> {
    match read(text).content {
        Content::Places { points, .. } => points.iter().map(|p| [p[0], p[1]]).collect(),
        Content::Degrees(degrees) => degrees,
        Content::Costs(costs) => panic!("{text:?}: {costs:?}"),
    }
}

fn costs(text: &str) -> Vec<f64> {
    match read(text).content {
        Content::Costs(costs) => costs,
        other => panic!("{text:?}: {other:?}"),
    }
}

fn refused(text: &str) -> (String, String) {
    let error = read_with(text, &ReadOptions::default()).expect_err(text);
    (error.to_string(), error.remedy().to_owned())
}

#[test]
fn places_are_read_however_they_are_written() {
    let right = [[0.5, 3.5], [100.25, 10.0], [7.0, -2.0]];
    for text in [
        "x,y\n0.5,3.5\n100.25,10\n7,-2\n",
        "0,5;3,5\n100,25;10,0\n7;-2\n",
        "0,5 3,5\n100,25 10,0\n7 -2\n",
        "x\ty\r\n0.5\t3.5\r\n100.25\t10\r\n7\t-2\r\n",
        "sep=;\nname;X;Y\na;0,5;3,5\nb;100,25;10\nc;7;-2\n",
        "# places\n\n3\n 0.5   3.5\n\n100.25 10.0\n7 -2e0\n",
        "name, y, x\n\"a, b\", 3.5, 0.5\n\"c\", 10, 100.25\nd, -2, 7\n",
        "[[0.5, 3.5],\n [100.25, 10.],\n [7, -2],]",
        "[(0.5, 3.5), (100.25, 10), (7, -2)]",
        "array([[  0.5 ,   3.5 ],\n       [100.25,  10.  ],\n       [  7.  ,  -2.  ]])",
        "(0.5, 3.5)\n(100.25, 10)\n(7, -2)\n",
        "# places\r0.5,3.5\r# more, of them\r100.25,10\r\r7,-2\r",
        "# x y\n0.5 3.5\n100.25 10\n7 -2\n",
        "X [m],Y [m],\n0.5,3.5,\n100.25,10,\n7,-2,\n,,\n",
        "A 0.5 3.5\nB 100.25 10\nC 7 -2\n",
        "3,0.5,3.5\n1,100.25,10\n2,7,-2\n",
        "| name | x | y |\n|---|---|---|\n| a | 0.5 | 3.5 |\n| b | 100.25 | 10 |\n| c | 7 | \u{2212}2 |\n",
    ] {
        assert_eq!(places(text), right, "{text:?}");
    }
    assert_eq!(places("1.234,5;2\n3;4\n"), [[1234.5, 2.0], [3.0, 4.0]]);
    assert_eq!(read("id,x,y\n7,0,0\n9,1,1\n8,5,5\n").ids, Some(vec![7, 9, 8]));
    let named =
        read("stop_id,stop_name,stop_lat,stop_lon\nS1,\"Haupt, platz\",48.1,11.5\nS2,Markt,50.9,6.9\n");
    assert_eq!(
        named.line,
        "2 places from t: latitude \"stop_lat\", longitude \"stop_lon\", names \"stop_name\"; great-circle metres"
    );
    assert_eq!(named.names, Some(vec!["Haupt, platz".to_owned(), "Markt".to_owned()]));
    assert_eq!(read("01234,5,6\n00017,8,9\n").names, Some(vec!["01234".to_owned(), "00017".to_owned()]));
}

#[test]
fn matrices_are_read_however_they_are_labelled() {
    let right = [0.0, 10.0, 15.0, 20.0, 10.0, 0.0, 35.0, 25.0, 15.0, 35.0, 0.0, 30.0, 20.0, 25.0, 30.0, 0.0];
    for text in [
        "0,10,15,20\n10,0,35,25\n15,35,0,30\n20,25,30,0\n",
        "A B C D\n0 10 15 20\n10 0 35 25\n15 35 0 30\n20 25 30 0\n",
        "A B C D\nA 0 10 15 20\nB 10 0 35 25\nC 15 35 0 30\nD 20 25 30 0\n",
        ",D,B,C,A\nA,20,10,15,0\nB,25,0,35,10\nC,30,35,0,15\nD,0,25,30,20\n",
        "id;A;B;C;D\nA;-;10;15;20\nB;10;-;35;25\nC;15;35;-;30\nD;20;25;30;-\n",
        "0,1,2,3\n0,10,15,20\n10,0,35,25\n15,35,0,30\n20,25,30,0\n",
        "0\n10 0\n15 35 0\n20 25 30 0\n",
        "0 10 15 20\n0 35 25\n0 30\n0\n",
        ",A,B,C,D\nA,,10,15,20\nB,,,35,25\nC,,,,30\nD,,,,\n",
        "[[0. 10. 15. 20.]\n [10. 0. 35. 25.]\n [15. 35. 0. 30.]\n [20. 25. 30. 0.]]",
        "[[0, 10, 15, 20], [10, None, 35, 25], [15, 35, 0, 30], [20, 25, 30, 0]]",
        ",10,15,20\n10,,35,25\n15,35,,30\n20,25,30,\n",
        "999,10,15,20\n10,999,35,25\n15,35,999,30\n20,25,30,999\n",
    ] {
        assert_eq!(costs(text), right, "{text:?}");
    }
    for none in ["inf", "null", "NaN", "-", "N/A", "", "None"] {
        let found = costs(&format!("0,1,{none}\n2.5,0,-3\n4,5,0\n"));
        assert_eq!(found, [0.0, 1.0, f64::INFINITY, 2.5, 0.0, -3.0, 4.0, 5.0, 0.0], "{none}");
    }
    let options = ReadOptions { forbidden_from: Some(100.0), ..ReadOptions::default() };
    let read = read_with("0,1,100\n2,0,3\n4,5,0\n", &options).unwrap();
    assert!(matches!(read.content, Content::Costs(costs) if costs[2].is_infinite() && costs[5] == 3.0));
}

#[test]
fn edges_are_read_by_number_and_by_name() {
    let right = [0.0, 1.0, 2.0, 1.0, 0.0, 3.0, 2.0, 3.0, 0.0];
    for text in [
        "1 2 1\n1 3 2\n2 3 3\n",
        "source,target,weight\nA,B,1\nA,C,2\nB,C,3\n",
        "A;B;1\nA;C;2\nB;C;3\n",
        "3 3\n0 1 1\n0 2 2\n1 2 3\n",
    ] {
        assert_eq!(costs(text), right, "{text:?}");
    }
    let missing = costs("from,to,cost\nA,B,1\nB,C,2\nC,D,3\nD,A,4\n");
    assert!(missing[2].is_infinite() && missing[7].is_infinite());
    // If one pair is listed in both directions, every row applies to its direction.
    assert!(costs("from,to,cost\nA,B,1\nB,A,5\nB,C,2\nC,A,3\n")[2].is_infinite());
    assert!(refused("from,to,cost\nA,B,1\nA,B,2\nB,C,2\n").0.contains("an earlier row"));
    assert!(refused("1 2 10\n2 3 5\n3 4 7\n4 1 3\n").0.contains("may be edges"));
}

#[test]
fn what_has_two_meanings_or_none_is_refused_with_what_chooses() {
    for (text, problem, remedy) in [
        ("0,5\n5,0\n", "may be a 2 x 2 matrix", "--as matrix"),
        ("0,1,2\n1,0,3\n2,3,0\n", "may be a 3 x 3 matrix", "--columns id=1,x=2,y=3"),
        ("101 5 6\n205 7 8\n309 1 2\n", "places x y z in space", "--columns"),
        ("name,x,y,lat,lon\na,1,2,3,4\n", "both x and y", "`--columns x=2,y=3` or `--columns lat=4,lon=5`"),
        ("Name;Hoehe;Laenge\na;1;2\nb;3;4\n", "\"Name\", \"Hoehe\", \"Laenge\"", "--columns x=2,y=3"),
        ("name,lat,lon\na,12,41\nb,151.21,-33.87\n", "latitude of 151.21", "--columns lat=3,lon=2"),
        ("x,y,X\n1,2,3\n", "several columns may be x", "--columns x=1"),
        ("1,2,3,4\n5,6,7,8\n", "neither places nor a square matrix", "--as matrix"),
        ("9\n1 2\n3 4\n", "the first line says 9, but 2 lines follow", "first line"),
        ("x\ty\n1,234\t5,678\n", "may be 1.234 or 1234", "--decimal point"),
        ("x;y\n1,5;2.5\n", "same decimal separator", "all numbers with the same"),
        ("x,y\n0,5,3,5\n", "the first row names 2 columns, but the others have 4", "with a point"),
        ("x,y\n10,5,3\n7,5,4\n", "the first row names 2 columns, but the others have 3", "with a point"),
        ("x,y,name\n0,0,\"a\n90,0,b\n0,90,c\n", "this quote is not closed on its line", "close it"),
        ("name,x,y\n\"a,0,0\nb\",90,0\nc,0,90\n", "this quote is not closed on its line", "close it"),
        ("x,y\n3,inf\n4,5\n", "`inf` is not a finite number", "12.5"),
        ("x,y\n", "nothing after the column names", "x,y"),
        ("name,x,y\n#1,2,3\n#2,4,5\n", "only comments after the column names", "quotes"),
        ("x,y\n1,2\n3,4\nx,y\n5,6\n", "the column names appear here again", "remove the line"),
        ("id,x,y\n1,5,5\n2,7,9\n3,1,2\nTotal,13,16\n", "the last row, \"Total\", holds", "remove it"),
        (",A,B,C\nB,4\nC,5,6\nD,7,8,9\n", "the line has 2 columns", "diagonal"),
        ("1+2j\n3+4j\n", "is not a number", "as x and y"),
        ("x,y\n\u{2212}5j,1\n2,3\n", "is not", ""),
        (",A,B,C\nB,3,,\nC,5,4,\nD,4,5,3\n", "half a matrix without its diagonal", "zero on the diagonal"),
        (",2,1,4\n1,3,0,4\n2,0,3,5\n4,5,4,0\n", "the same numbers in a different order", "same order"),
        ("City,Land,A,B,C\nA,DE,0,3,5\nB,FR,3,0,4\nC,IT,5,4,0\n", "\"Land\" is between", "remove"),
        ("star,ra,dec,mag\na,1.5,40,2\nb,3,41,1\n", "places in the sky", "--columns lat=3,lon=2"),
        ("n,x,y\na,1,(74.01)\nb,2,3\n", "`(74.01)` is not a number", "-74.01"),
        ("id  x y\n 1: 3 4\n ---\n99: 5 6\n", "only a part of the table was printed", "write all of it"),
        (
            "# A tibble: 100 x 2\nx y\n1 2\n3 4\n# \u{2026} with 97 more rows\n",
            "only a part of the table was printed",
            "CSV",
        ),
        (" x | y\n---+---\n 1 | 2\n 3 | 5\n(100 rows)\n", "this says 100 rows", "all rows"),
        ("0 3\n3 0\n5 4\n4 5\n\n5 4\n4 5\n0 3\n3 0\n", "into 2 blocks of columns", "one line"),
        ("1.0e+03 *\n1.5 2\n3 4\n", "MATLAB", "writematrix"),
        ("0,0 30,0\n30,40 0,40\n-10,20 15,60\n", "may be a place x,y", "--decimal comma"),
        ("1\t2,3\t3,5\n2\t1,3\t3,4\n3\t1,5\t2,4\n", "lists of neighbours", "from,to,cost"),
        ("4 2\n12.5 3\n40 7\n33 28\n5 31\n", "may mean that 4 lines follow", "--no-header"),
        ("4 4 6\n2 1 3\n3 1 5\n4 1 4\n3 2 4\n4 2 5\n4 3 3\n", "may mean that 6 lines follow", "--no-header"),
        (
            ";1;2;3\nUlm;0;12;40\nHof;12;0;25\nSuhl;40;25;0\n",
            "by numbers, but the first column",
            "same names",
        ),
        ("0,1,2,3\n1,0,12,40\n2,12,0,25\n3,40,25,0\n", "may be costs, or the numbers", "remove the 0"),
        ("name,0,1\nA,10,20\nB,35,5\nC,42,31\n", "may be the numbers of the columns", "--no-header"),
        (
            "1,A,B,5\n2,B,C,6\n3,C,A,7\n",
            "edges, whose ends are in columns 2 and 3",
            "--columns from=2,to=3,cost=4",
        ),
        ("x = [10 35 42 8];\ny = [20 5 31 47];\n", "in a separate array", "`x,y`"),
        ("x\t10\t35\ny\t20\t5\n", "in a separate row", "transpose"),
        ("p,lat,lon_h\na,48.1,3.5\nb,50,4\n", "the longitude is in hours", "times 15"),
        ("from,to,h,min\nA,B,1,30\nA,C,2,5\nB,C,0,50\n", "\"h\", \"min\", or both", "--columns cost=3"),
        ("from,to,time,\nA,B,1,30\nA,C,2,5\nB,C,0,50\n", "column 4 has no name", "--columns cost=3"),
        ("from,to,time (h.mm)\nA,B,1.30\nA,C,2.05\nB,C,0.50\n", "hours and minutes", "1.5 or 90"),
        ("from,to,km,closed\nA,B,1,no\nA,C,2,yes\nB,C,3,no\n", "\"closed\" is not the same", "closed"),
        (
            "from,to,km,direction\nA,B,1,both\nA,C,2,forward\nB,C,3,both\n",
            "\"direction\" is not",
            "--directed",
        ),
        ("city,lat,min,lon,min\na,48,8.2,11,34.5\nb,50,1.5,6,57\n", "minutes or seconds", "decimal degrees"),
        (
            "city,Latitude,,Longitude,\na,48,8.2,11,34.5\nb,50,1.5,6,57\n",
            "minutes or seconds",
            "decimal degrees",
        ),
        (
            "p,lat (DD.MMSS),lon (DD.MMSS)\na,48.0814,11.3432\nb,50.1,6.2\n",
            "degrees and minutes",
            "divided by 60",
        ),
        (
            "p,easting,northing,hemisphere\na,500000,100000,N\nb,510000,9950000,S\n",
            "not the same in all rows",
            "one zone",
        ),
        ("name,place\na,\"48.1° N, 11.5° E\"\n", "is not a number", "two columns"),
        ("a -> b: 5\nb -> c: 6\nc -> a: 7\n", "hold numbers", "--as edges"),
        ("", "no numbers", "x,y"),
        ("[[1, 2], [3, 4]", "not closed", "array"),
        ("[[0. 1. ... 3.]\n ...\n [1. 2. ... 0.]]", "only a part of the array", "savetxt"),
        ("0,1,x\n1,0,2\n5,6,0\n", "`x` is not", ""),
    ] {
        let (error, help) = refused(text);
        assert!(error.contains(problem), "{text:?}: {error}");
        assert!(help.contains(remedy), "{text:?}: {help}");
    }
}

#[test]
fn options_override_every_guess() {
    let first = |text: &str, options: &ReadOptions| match read_with(text, options).unwrap().content {
        Content::Places { dimensions, points } => (dimensions, points[0]),
        Content::Degrees(degrees) => (0, [degrees[0][0], degrees[0][1], 0.0]),
        Content::Costs(costs) => (9, [costs[0], costs[1], costs[2]]),
    };
    let square = "0,1,2\n1,0,3\n2,3,0\n";
    assert_eq!(first(square, &columns(&[("x", "1"), ("y", "2"), ("z", "3")])), (3, [0.0, 1.0, 2.0]));
    assert_eq!(
        first(square, &ReadOptions { shape: Some(Shape::Matrix), ..ReadOptions::default() }),
        (9, [0.0, 1.0, 2.0])
    );
    assert_eq!(first("a,B,c\n1,2,3\n4,5,6\n", &columns(&[("x", "b"), ("y", "1")])), (2, [2.0, 1.0, 0.0]));
    assert_eq!(
        first("[[11.5, 48.1], [6.9, 50.9]]", &columns(&[("lat", "2"), ("lon", "1")])),
        (0, [48.1, 11.5, 0.0])
    );
    let degrees = ReadOptions { degrees: true, ..ReadOptions::default() };
    assert!(
        read_with("11.5 48.1\n6.9 50.9\n", &degrees).unwrap_err().remedy().contains("--columns lat=1,lon=2")
    );
    let directed = ReadOptions { directed: true, ..ReadOptions::default() };
    let Content::Costs(costs) = read_with("1 2 1\n1 3 2\n2 3 3\n", &directed).unwrap().content else {
        panic!()
    };
    assert!(costs[3].is_infinite() && costs[1] == 1.0);
    assert_eq!(read("48.13 11.57\n50.94 6.96\n").warnings.len(), 1);
    assert_eq!(read("0.13 0.57\n0.94 0.96\n").warnings.len(), 0);
}

#[test]
fn places_are_named_by_what_tells_them_apart() {
    // The columns that are read as names, the first name, and no warning.
    for (text, columns, first) in [
        ("name,city,lat,lon\nA,Ulm,1,2\nB,Ulm,3,4\nC,Ulm,5,6\n", "names \"name\"", "A"),
        ("city,shop,lat,lon\nUlm,A,1,2\nUlm,B,3,4\nUlm,C,5,6\n", "names \"shop\"", "A"),
        ("city,address,lat,lon\nUlm,A 1,1,2\nUlm,B 2,3,4\nUlm,C 3,5,6\n", "names \"address\"", "A 1"),
        ("city,notes,lat,lon\nUlm,A 1,1,2\nUlm,B 2,3,4\nUlm,C 3,5,6\n", "names \"notes\"", "A 1"),
        ("city,zip,lat,lon\nUlm,89073,1,2\nBonn,53111,3,4\n", "names \"city\"", "Ulm"),
        // The words of another column are better than postcodes.
        ("PLZ;Lieferadresse;lat;lon\n89073;A 1;1;2\n89073;B 2;3;4\n", "names \"Lieferadresse\"", "A 1"),
        ("PLZ;Wo;lat;lon\n89073;A 1;1;2\n89075;B 2;3;4\n", "names \"Wo\"", "A 1"),
        (
            "first name,last name,address line 1,lat,lon\nA,B,A 1,1,2\nC,D,B 2,3,4\n",
            "names \"address line 1\"",
            "A 1",
        ),
        ("order_id,customer,lat,lon\nX-1,A,1,2\nX-2,B,3,4\n", "names \"customer\"", "A"),
        // Some names are repeated.
        ("name,notes,x,y\nA,k,0,0\nA,l,0,9\nB,m,8,9\n", "names \"name\"", "A"),
        (
            "Straße;Hausnummer;PLZ;Ort;Lat;Lon\nGasse;5;89073;Ulm;1;2\nGasse;7a;89073;Ulm;3;4\nWeg;7;89073;Ulm;5;6\n",
            "names \"Straße\" + \"Hausnummer\"",
            "Gasse 5",
        ),
        (
            "Nr;Strasse;Nr;Ort;Lat;Lon\n1;Gasse;5;Ulm;1;2\n2;Gasse;7;Ulm;3;4\n3;Weg;7;Bonn;5;6\n",
            "ids \"Nr\", names \"Strasse\" + \"Nr\" + \"Ort\"",
            "Gasse 5, Ulm",
        ),
        (
            "number,street,lat,lon\n12,High Street,1,2\n12,Mill Lane,3,4\n,The Mill,5,6\n",
            "names \"number\" + \"street\"",
            "12 High Street",
        ),
        (
            "addr:housenumber,addr:street,addr:city,lat,lon\n5,Weg,Ulm,1,2\n7,Weg,Bonn,3,4\n",
            "names \"addr:housenumber\" + \"addr:street\" + \"addr:city\"",
            "5 Weg, Ulm",
        ),
        // An address without numbers is a street; with them, a number beside it is something else.
        (
            "Numéro,Adresse,lat,lon\n5,Rue Haute,1,2\n5,Rue Basse,3,4\n8,Rue Basse,5,6\n",
            "names \"Numéro\" + \"Adresse\"",
            "5 Rue Haute",
        ),
        (
            "Adresse,Numéro,lat,lon\nRue Haute,5,1,2\nRue Haute,6,3,4\nRue Basse,8,5,6\n",
            "names \"Adresse\" + \"Numéro\"",
            "Rue Haute 5",
        ),
        (
            "Adresse,Numéro,lat,lon\nRue Haute 5,1,1,2\nRue Haute 6,2,3,4\nRue Basse 8,3,5,6\n",
            "names \"Adresse\"",
            "Rue Haute 5",
        ),
    ] {
        let found = read(text);
        let of_names = found.line.split(", ").skip(2).collect::<Vec<_>>().join(", ");
        assert_eq!(of_names.split(';').next(), Some(columns), "{text:?}");
        assert_eq!(found.names.unwrap()[0], first, "{text:?}");
        let warned = |warning: &String| !warning.contains("whole numbers");
        assert!(!found.warnings.iter().any(warned), "{text:?}: {:?}", found.warnings);
    }
}

#[test]
fn numbers_below_the_name_of_a_place_are_ids_beside_better_names() {
    for (text, ids, names) in [
        ("stop,city,lat,lon\n4,Ulm,1.5,2\n3,Bonn,3,4\n9,Ulm,5,6\n", [4, 3, 9], ["Ulm", "Bonn", "Ulm"]),
        ("lat,lon,address,customer\n1.5,2,A 1,17\n3,4,B 2,4\n5,6,C 3,8\n", [17, 4, 8], ["A 1", "B 2", "C 3"]),
    ] {
        let found = read(text);
        assert_eq!(
            (found.ids.unwrap(), found.names.unwrap()),
            (ids.to_vec(), names.map(str::to_owned).to_vec())
        );
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    }
    // With the heading of an id, and without better names.
    for text in ["stop,x,y\n4,0,0\n3,0,7\n9,8,7\n", "city,notes,x,y\n4,a,0,0\n3,b,0,7\n9,c,8,7\n"] {
        let found = read(text);
        assert_eq!((found.ids.unwrap(), found.names), (vec![4, 3, 9], None), "{text:?}");
    }
    // These numbers are no names.
    for name in ["city_population", "address id", "street length"] {
        let found = read(&format!("key,{name},lat,lon\n7,17,1.5,2\n8,4,3,4\n9,8,5,6\n"));
        assert_eq!((found.ids.unwrap(), found.names), (vec![7, 8, 9], None), "{name}");
    }
    let found = read("city,admin_name,capital,lat,lon\nUlm,Swabia,,1.5,2\nBonn,Rhine,primary,3,4\n");
    assert_eq!(found.names.unwrap(), ["Ulm", "Bonn"]);
}

#[test]
fn ids_that_are_ignored_are_told() {
    for (ids, told) in [
        (["1", "2", "2"], "a number appears in it twice"),
        (["1", "2", ""], "not all of its values are plain whole numbers"),
        (["1", "2", "2b"], "not all of its values are plain whole numbers"),
    ] {
        let [one, two, three] = ids;
        let found = read(&format!("id,name,x,y\n{one},A,0,0\n{two},B,3,0\n{three},C,3,4\n"));
        let warning = format!("\"id\" is ignored: {told}, and the places already have names");
        assert_eq!((found.ids, found.warnings), (None, vec![warning]), "{ids:?}");
    }
    assert!(read("id,name,x,y\nA-1,A,0,0\nA-2,B,3,0\nA-2,C,3,4\n").warnings.is_empty());
}

#[test]
fn a_row_of_sums_is_found_below_any_label() {
    for text in [
        "number,street,x,y\n5,Weg,1,2\n5,Gasse,3,4\n,Total,4,6\n",
        "id,name,x,y\n7,A,1,2\n5,B,3,4\nTotal,,4,6\n",
    ] {
        let error = read_with(text, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("holds the sums"), "{text:?}: {error}");
    }
}

#[test]
fn what_names_no_place_is_no_label() {
    for text in [
        "city,lat,lon\nUlm,1.5,2\nUlm,3,4\nUlm,5,6\n",
        "lat,lon,kind\n1.5,2,pickup\n3,4,drop\n5,6,pickup\n7,8,drop\n",
        "city,zip,lat,lon\nUlm,89073,1.5,2\nUlm,89073,3,4\nUlm,89075,5,6\nUlm,89075,7,8\n",
        "country_name,email address,lat,lon\nDE,,1.5,2\nDE,,3,4\n",
    ] {
        let found = read(text);
        assert!(found.names.is_none() && found.ids.is_none() && found.warnings.is_empty(), "{}", found.line);
    }
    // Most values of an id are repeated.
    let found = read("no,x,y\n7,1,2\n7,3,4\n7,5,9\n");
    assert!(found.names.is_none() && found.warnings[0].contains("\"no\" is ignored"), "{:?}", found.warnings);
}

#[test]
fn postcodes_are_no_ids() {
    let address = "name,zip,lat,lon\nA,89073,1.5,2\nB,89073,3,4\nC,89075,5,6\n";
    let found = read(address);
    assert!(found.ids.is_none() && found.warnings.is_empty(), "{:?}", found.warnings);
    // Numbers of houses and telephones are not ids, either.
    let numbers = "street,house number,phone number,lat,lon\nWeg,5,7,1.5,2\nGasse,5,7,3,4\n";
    let found = read(numbers);
    assert!(found.ids.is_none() && found.warnings.is_empty(), "{:?}", found.warnings);
    // As the only label they are names, though repeated.
    for (text, names) in [
        ("PLZ;lat;lon\n01067;50.5;2\n89073;51;4\n89073;52;6\n", ["01067", "89073", "89073"]),
        ("lat,lon,Postal Code\n50.5,2,8001\n51,4,8001\n52,6,8003\n", ["8001", "8001", "8003"]),
    ] {
        let found = read(text);
        assert_eq!(found.names.unwrap(), names);
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    }
}

#[test]
fn a_place_without_a_name_has_a_number() {
    assert_eq!(read("name,x,y\nA,0,0\n,3,0\nC,3,4\n").names.unwrap(), ["A", "2", "C"]);
    assert_eq!(read("id,name,x,y\n7,A,0,0\n5,,3,0\n2,C,3,4\n").names.unwrap(), ["A", "5", "C"]);
    // A number that is the name of another place is not used for it.
    assert_eq!(read("name,x,y\nA,0,0\n,3,0\n2,3,4\n").names.unwrap(), ["A", "unnamed 2", "2"]);
    assert_eq!(read("id,name,x,y\n7,A,0,0\n5,,3,0\n2,5,3,4\n").names.unwrap(), ["A", "unnamed 5", "5"]);
}

#[test]
fn a_missing_number_is_pointed_at_where_it_is_missing() {
    for (text, row, column, pointed_at) in [
        ("name,lat,lon\nA,1,2\nB,,4\n", 3, 3, ""),
        ("name,lat,lon\nA,1,2\nB,3,\n", 3, 5, ""),
        ("name,lat,lon\nA,1,2\nB,  ,4\n", 3, 3, "  "),
        ("name,lat,lon\nA,1,2\n\"B \"\"b\"\", c\",,4\n", 3, 14, ""),
        ("name,lat,lon\n\"A\na\",,2\nB,3,4\n", 3, 4, ""),
        ("name,lat,lon\n\"A\na\",x,2\nB,3,4\n", 3, 4, "x"),
    ] {
        let error = read_with(text, &ReadOptions::default()).unwrap_err();
        let InstanceError::Syntax(error) = error else { panic!("{error}") };
        let (line, span) = error.text();
        assert_eq!((error.line(), error.column, &line[span]), (row, column, pointed_at), "{text:?}");
    }
}

#[test]
fn chosen_ids_that_are_no_numbers_are_ignored_with_a_warning() {
    let text = "order,name,x,y\nA-1,k,0,0\nA-2,l,0,9\nA-3,m,8,9\n";
    assert_eq!(read(text).warnings.len(), 0);
    let [warning] = &read_with(text, &columns(&[("id", "order")])).unwrap().warnings[..] else { panic!() };
    assert!(warning.contains("is ignored: not all of its values are plain whole numbers"), "{warning}");
}

#[test]
fn blanks_in_quoted_text_stay_and_those_around_it_do_not() {
    let text = "name, x, y\n\"B, \"\"b\"\"\", 1, 2\n  \"C\",3,4\n5\" pipe, 5, 6\n\"D\", 7, 8\n";
    assert_eq!(read(text).names.unwrap(), ["B, \"b\"", "C", "5\" pipe", "D"]);
}

#[test]
fn a_name_may_be_missing_at_the_end_of_the_first_row() {
    let text = "id,lat,lon,\n1,48.1,11.5,5\n2,48.3,10.8,7\n3,49.4,11,2\n";
    assert_eq!(places(text)[0], [48.1, 11.5]);
    assert!(read(text).line.contains("latitude \"lat\", longitude \"lon\", ids \"id\""));
}

#[test]
fn what_may_be_meant_otherwise_is_told() {
    for (text, warning) in [
        ("stop,x,y\n#1 Depot,0,0\n#2 Mill,3,0\na,3,4\nb,0,4\n", "2 comment lines have as many columns"),
        (
            "Rechtswert,Hochwert\n2567845,5645321\n4468321,5333210\n3534987,5687654\n",
            "different strips, 2 and 4",
        ),
        ("10,20 30,20\n30,60 10,60\n", "`10,20` in t is read as a number with a decimal comma"),
        ("name,x_3857,y_3857\na,1279000,6122000\nb,1280000,6123000\n", "Web Mercator"),
        ("p;Länge;Breite;Höhe\n1;30;20;10\n2;60;40;30\n3;15;10;5\n", "all whole numbers"),
        ("p,lat,lon\na,0.889027,0.121480\nb,0.84,0.2\nc,0.9,0.1\n", "if they are radians"),
        ("X;Y;Z\n10;20;-9999\n35;5;-9999\n42;31;7\n", "-9999 is among the coordinates"),
        ("from,to,similarity\na,b,.5\na,c,.7\nb,c,.2\n", "where less is better"),
    ] {
        let warnings = read(text).warnings;
        assert!(warnings.iter().any(|found| found.contains(warning)), "{text:?}: {warnings:?}");
    }
}

#[test]
fn dates_and_delivery_zones_are_no_systems() {
    let text = "Datum;Ort;lat;lon;zone\n01.03.2024;a;48.1;11.5;N\n02.03.2024;b;50.9;6.9;S\n";
    assert_eq!(places(text), [[48.1, 11.5], [50.9, 6.9]]);
}

#[test]
fn coordinates_of_web_mercator_are_told() {
    let text = "name,x,y,srid\na,1279000,6122000,EPSG\nb,1280000,6123000,EPSG\n";
    let warnings = |code: &str| read(&text.replace("EPSG", code)).warnings;
    assert!(warnings("3857")[0].contains("1.50 times"), "{:?}", warnings("3857"));
    assert!(warnings("EPSG:900913")[0].contains("\"srid\""));
    assert_eq!(warnings("25832").len(), 0);
}

/// A text of several pieces, each read by one thread.
fn long(head: &str, line: impl Fn(usize) -> String) -> String {
    let text: String =
        std::iter::once(head.to_owned()).chain((0..100_000).map(line)).map(|line| line + "\n").collect();
    assert!(text.len() > 4 * PIECE + 1000);
    text
}

#[test]
fn long_tables_are_read_in_pieces() {
    let number = |row: usize| (row * 7919 % 100_003) as f64 + 0.5;
    for (separator, end) in [(",", ""), (";", "\r"), (" ", ""), ("\t", "")] {
        let line = |row: usize| format!("{row}{separator}{}{separator}{row}.25{end}", number(row));
        let text = long(&["id", "x", "y"].join(separator), line);
        let expected: Vec<[f64; 2]> = (0..100_000).map(|row| [number(row), row as f64 + 0.25]).collect();
        assert!(places(&text) == expected, "{separator:?}");
    }
    let text = long("stop,x,y", |row| format!("stop {row},{row},{}", number(row)));
    let names = read(&text).names.unwrap();
    assert!((0..100_000).all(|row| names[row] == format!("stop {row}")));
    // Quoted texts may extend over several lines.
    let text = long("stop,x,y", |row| format!("\"stop, {row}\",{row},{}", number(row)));
    assert_eq!(read(&text).names.unwrap()[77_777], "stop, 77777");
}

#[test]
fn errors_in_long_tables_name_the_first_wrong_line() {
    let wrong =
        |from: usize, new: &str| {
            let text = long("x,y,z", |row| {
                if row >= from { new.to_owned() } else { format!("{row},123456789.5,{row}.5") }
            });
            read_with(&text, &ReadOptions::default()).unwrap_err().to_string()
        };
    let ragged = wrong(50_000, "1,2");
    assert!(ragged.contains("t:50002:") && ragged.contains("the line has 2 columns"), "{ragged}");
    let word = wrong(99_999, "1,x,2");
    assert!(word.contains("t:100001:") && word.contains("`x` is not a finite number"), "{word}");
}
