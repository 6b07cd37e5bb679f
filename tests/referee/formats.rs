//! The same places, costs or roads in every format: a tour costs the same, computed here from the numbers alone.

use std::collections::HashMap;

use antwarp::instance::{Instance, ReadOptions};

use crate::draws::Draws;

tests! {
    a_tour_costs_the_same_in_every_format,
}

/// Random problems.
const CASES: u64 = 400;

/// What a file is about.
enum World {
    Places(Vec<[f64; 2]>),
    Degrees(Vec<[f64; 2]>),
    Costs(Vec<Vec<f64>>),
}

impl World {
    fn random(draws: &mut Draws, n: usize) -> World {
        let decimals = draws.one_of(&[1.0, 100.0, 1e6]);
        let number = |draws: &mut Draws, low: f64, high: f64| {
            ((low + (high - low) * draws.unit()) * decimals).round() / decimals
        };
        match draws.below(3) {
            0 => {
                let side = draws.one_of(&[1.0, 50.0, 1e5]);
                World::Places(
                    (0..n).map(|_| [number(draws, -side, side), number(draws, 0.0, side)]).collect(),
                )
            }
            1 => {
                let spread = draws.one_of(&[0.02, 3.0, 80.0]);
                let around = draws.one_of(&[[50.0, 8.0], [0.0, 179.99], [-9.0, -100.0]]);
                let mut place = || {
                    let [lat, lon] = around.map(|c| c + spread * (draws.unit() - 0.5));
                    [(lat * 1e6).round() / 1e6, (lon * 1e6).round() / 1e6]
                };
                World::Degrees((0..n).map(|_| place()).collect())
            }
            _ => {
                let mut rows = vec![vec![0.0; n]; n];
                for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
                    rows[i][j] = number(draws, 0.0, 900.0) + 1.0;
                    rows[j][i] = rows[i][j];
                }
                World::Costs(rows)
            }
        }
    }

    fn cost(&self, a: usize, b: usize) -> f64 {
        match self {
            World::Places(places) => (places[a][0] - places[b][0]).hypot(places[a][1] - places[b][1]),
            World::Degrees(places) => {
                let [[north_a, east_a], [north_b, east_b]] =
                    [places[a], places[b]].map(|p| p.map(f64::to_radians));
                let half = ((north_b - north_a) / 2.0).sin().powi(2)
                    + north_a.cos() * north_b.cos() * ((east_b - east_a) / 2.0).sin().powi(2);
                2.0 * 6_371_008.8 * half.sqrt().asin()
            }
            World::Costs(rows) => rows[a][b],
        }
    }

    /// Texts that say the same, each with what it is; places are called by these names.
    fn texts(&self, names: &[String]) -> Vec<(&'static str, String)> {
        let lines =
            |line: &dyn Fn(usize) -> String| (0..names.len()).map(|i| line(i) + "\n").collect::<String>();
        let listed =
            |item: &dyn Fn(usize) -> String| (0..names.len()).map(item).collect::<Vec<_>>().join(", ");
        match self {
            World::Places(p) => vec![
                (
                    "csv",
                    "name,x,y\n".to_owned() + &lines(&|i| format!("{},{},{}", names[i], p[i][0], p[i][1])),
                ),
                (
                    "turned",
                    "y;x;place\n".to_owned() + &lines(&|i| format!("{};{};{}", p[i][1], p[i][0], names[i])),
                ),
                (
                    "comma",
                    "name;X;Y\n".to_owned()
                        + &lines(&|i| {
                            format!("{};{:.6};{:.6}", names[i], p[i][0], p[i][1]).replace('.', ",")
                        }),
                ),
                (
                    "tabs",
                    "y_coord\tid\tx_coord\n".to_owned()
                        + &lines(&|i| format!("{}\t{}\t{}", p[i][1], names[i], p[i][0])),
                ),
                ("labels", lines(&|i| format!("{} {} {}", names[i], p[i][0], p[i][1]))),
                (
                    "psql",
                    " place | x | y \n-------+---+---\n".to_owned()
                        + &lines(&|i| format!(" {} | {} | {} ", names[i], p[i][0], p[i][1]))
                        + &format!("({} rows)\n", names.len()),
                ),
                (
                    "json",
                    format!(
                        "[{}]",
                        listed(&|i| format!(
                            r#"{{"name": "{}", "y": {}, "x": {}}}"#,
                            names[i], p[i][1], p[i][0]
                        ))
                    ),
                ),
                (
                    "tsplib",
                    format!(
                        "DIMENSION: {}\nEDGE_WEIGHT_TYPE: EXACT_2D\nNODE_COORD_SECTION\n{}EOF\n",
                        p.len(),
                        lines(&|i| format!("{} {} {}", i + 1, p[i][0], p[i][1]))
                    ),
                ),
            ],
            World::Degrees(p) => vec![
                (
                    "csv",
                    "name,lat,lon\n".to_owned()
                        + &lines(&|i| format!("{},{},{}", names[i], p[i][0], p[i][1])),
                ),
                (
                    "turned",
                    "Longitude;Latitude;Name\n".to_owned()
                        + &lines(&|i| format!("{};{};{}", p[i][1], p[i][0], names[i])),
                ),
                (
                    "comma",
                    "name;lng;lat\n".to_owned()
                        + &lines(&|i| {
                            format!("{};{:.6};{:.6}", names[i], p[i][1], p[i][0]).replace('.', ",")
                        }),
                ),
                (
                    "json",
                    format!(
                        "[{}]",
                        listed(&|i| format!(
                            r#"{{"name": "{}", "lat": {}, "lon": {}}}"#,
                            names[i], p[i][0], p[i][1]
                        ))
                    ),
                ),
                (
                    "geojson",
                    format!(
                        r#"{{"type": "FeatureCollection", "features": [{}]}}"#,
                        listed(&|i| format!(
                            r#"{{"type": "Feature", "properties": {{"name": "{}"}}, "geometry": {{"type": "Point", "coordinates": [{}, {}]}}}}"#,
                            names[i], p[i][1], p[i][0]
                        ))
                    ),
                ),
            ],
            World::Costs(rows) => {
                let row =
                    |i: usize, with: &str| rows[i].iter().map(f64::to_string).collect::<Vec<_>>().join(with);
                let edge = |i: usize| {
                    (0..i).map(|j| format!("{},{},{}\n", names[j], names[i], rows[i][j])).collect::<String>()
                };
                vec![
                    (
                        "csv",
                        format!(",{}\n", names.join(","))
                            + &lines(&|i| format!("{},{}", names[i], row(i, ","))),
                    ),
                    ("top", format!("{}\n", names.join(";")) + &lines(&|i| row(i, ";"))),
                    ("left", lines(&|i| format!("{}\t{}", names[i], row(i, "\t")))),
                    ("brackets", format!("[{}]", listed(&|i| format!("[{}]", row(i, ", "))))),
                    (
                        "matlab",
                        format!(
                            "D = [{}];\n",
                            (0..names.len()).map(|i| row(i, " ")).collect::<Vec<_>>().join("; ")
                        ),
                    ),
                    (
                        "google",
                        format!(
                            r#"{{"origin_addresses": [{0}], "destination_addresses": [{0}], "rows": [{1}]}}"#,
                            listed(&|i| format!("{:?}", names[i])),
                            listed(&|i| {
                                let cell = |cost: &f64| format!(r#"{{"distance": {{"value": {cost}}}}}"#);
                                let cells: Vec<String> = rows[i].iter().map(cell).collect();
                                format!(r#"{{"elements": [{}]}}"#, cells.join(", "))
                            })
                        ),
                    ),
                    (
                        "adjacency",
                        format!(
                            r#"{{"nodes": [{}], "adjacency": [{}]}}"#,
                            listed(&|i| format!(r#"{{"id": "{}"}}"#, names[i])),
                            listed(&|i| {
                                let link = |j: usize| {
                                    format!(r#"{{"id": "{}", "weight": {}}}"#, names[j], rows[i][j])
                                };
                                let links: Vec<String> =
                                    (0..names.len()).filter(|&j| j != i).map(link).collect();
                                format!("[{}]", links.join(", "))
                            })
                        ),
                    ),
                    ("edges", "from,to,cost\n".to_owned() + &(0..names.len()).map(edge).collect::<String>()),
                ]
            }
        }
    }
}

fn a_tour_costs_the_same_in_every_format() {
    for seed in 0..CASES {
        let draws = &mut Draws::new(seed);
        let n = 5 + draws.below(20);
        let world = World::random(draws, n);
        let names: Vec<String> = (0..n).map(|i| format!("stop-{}-{i}", draws.below(100))).collect();
        let mut tour: Vec<usize> = (0..n).collect();
        draws.shuffle(&mut tour);
        let right: f64 = (0..n).map(|at| world.cost(tour[at], tour[(at + 1) % n])).sum();
        for (format, text) in world.texts(&names) {
            let utf16: Vec<u8> =
                format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
            for bytes in [text.as_bytes(), &utf16] {
                let read = Instance::parse("random", "random", bytes, &ReadOptions::default());
                let instance = read.unwrap_or_else(|error| panic!("seed {seed}, {format}: {error}\n{text}"));
                assert_eq!(instance.len(), n, "seed {seed}, {format}: {text}");
                let nodes: HashMap<String, u32> =
                    (0..n as u32).map(|node| (instance.label(node), node)).collect();
                let node = |&at: &usize| nodes.get(&names[at]).copied().unwrap_or(at as u32);
                let tour: Vec<u32> = tour.iter().map(node).collect();
                let cost = instance.tour_cost(&tour).as_f64();
                let is_near = (cost - right).abs() <= 1e-9 * right;
                assert!(is_near, "seed {seed}, {format}: {cost}, not {right}\n{text}");
            }
        }
    }
}
