//! `block_solve_small`: many small instances of the plane.

use antwarp::backend::cuda::{Launch, SolveSmall, buffers};
use antwarp::backend::{Backend, Choice};
use antwarp::prelude::*;
use antwarp::solver::many::{ManySettings, solve_many};
use antwarp_core::kernels::SmallArgs;
use antwarp_core::lin_kernighan::small::{EXTENT, Flat, Place, Plan, Small, neighbors, words};
use antwarp_core::team::Serial;

use crate::gpu::{assert_same, download, gpu, load, poisoned, sizes, upload};
use crate::input::Random;

tests![block_solve_small, tours_do_not_depend_on_the_backend];

/// The kernels tested here.
pub const NAMES: &[&str] = &["block_solve_small"];

const SIZES: [u32; 14] = [8, 9, 12, 13, 31, 32, 33, 50, 63, 64, 65, 100, 257, 1024];

fn plan(kicks: u32) -> Plan {
    Plan { seed: 7, kicks, segment: 50, temperature: 0.1, padding: 0 }
}

/// Places in groups that are far apart.
fn groups(random: &mut Random, n: u32) -> Vec<Place> {
    let centers = places(random, n.div_ceil(12), 0);
    let mut near = |at: f32| at * 200.0 + random.below(1 << 12) as f32;
    let place = |i: usize| {
        let Place(x, y) = centers[i % centers.len()];
        Place(near(x), near(y))
    };
    (0..n as usize).map(place).collect()
}

/// Places, the first ones of which are at the same place.
fn places(random: &mut Random, n: u32, same: u32) -> Vec<Place> {
    let mut at = || random.below(1 << 21) as f32;
    let place = |i: u32| if i < same { Place(5.0, EXTENT) } else { Place(at(), at()) };
    (0..n).map(place).collect()
}

fn on_cpu(places: &[Place], plan: Plan) -> (Vec<u16>, i64) {
    let n = places.len() as u32;
    let mut memory = vec![0_u64; words(n, neighbors(n)).div_ceil(2) as usize];
    let distances = Flat { places: places.as_ptr() };
    // SAFETY: the memory is as large as needed, and there are n places.
    unsafe {
        let tour = Small::new(n, (distances, false), memory.as_mut_ptr().cast());
        let cost = tour.search(Serial, plan, |_| false);
        ((0..n).map(|at| tour.best().get(at)).collect(), cost)
    }
}

fn block_solve_small() {
    let mut random = Random::new(11);
    let mut all = Vec::new();
    for n in sizes(&SIZES) {
        all.extend([0, n / 3, n].map(|same| places(&mut random, n, same)));
        all.push(groups(&mut random, n));
    }
    let gpu = gpu();
    for kicks in [0, 1, 3] {
        let expected: Vec<_> = all.iter().map(|places| on_cpu(places, plan(kicks))).collect();
        let Some(gpu) = &gpu else { continue };
        let (name, function) = load(gpu, "block_solve_small");
        let kernel = SolveSmall { name, function };
        let ends = all.iter().scan(0, |end, places| {
            *end += places.len() as u32;
            Some(*end)
        });
        let starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
        let flat: Vec<[f32; 2]> = all.iter().flatten().map(|&Place(x, y)| [x, y]).collect();
        let (starts_there, places_there) = (upload(gpu, &starts), upload(gpu, &flat));
        let most = all.iter().map(|places| places.len() as u32).max().unwrap_or(0);
        let bytes = 4 * (words(most, neighbors(most)) + 2 * most);
        for (first, warps, grid) in [(0, 1, 3), (2, 1, 100), (0, 2, 2)] {
            let mut tours = upload(gpu, &vec![u16::MAX; flat.len() + 8]);
            let mut costs = poisoned(gpu, all.len());
            let mut started = upload(gpu, &[0_u32]);
            let end = all.len() as u32;
            let args = SmallArgs { plan: plan(kicks), first, end, words: bytes / 4, padding: 0 };
            let launch = Launch { grid, block: 32 * warps, shared: bytes * warps };
            // SAFETY: the arrays have the sizes given by `starts`, and a warp's memory is that of the largest instance.
            unsafe {
                kernel.launch(
                    gpu.stream(),
                    launch,
                    args,
                    buffers::SolveSmall {
                        starts: &starts_there,
                        places: &places_there,
                        started: &mut started,
                        tours: &mut tours,
                        costs: &mut costs,
                    },
                )
            }
            .expect("the launch");
            let what = format!("{kicks} kicks a node, {grid} blocks of {warps} warps, from {first} on");
            let own: Vec<i64> = download(gpu, &what, &costs);
            let costs: Vec<i64> = expected.iter().map(|(_, cost)| *cost).collect();
            assert_same(&what, &own[first as usize..], &costs[first as usize..]);
            let own = tours.to_vec(gpu.stream()).expect("the tours");
            let tours: Vec<u16> = expected.iter().flat_map(|(tour, _)| tour.clone()).collect();
            let begin = starts[first as usize] as usize;
            assert_same(&what, &own[begin..flat.len()], &tours[begin..]);
            assert!(own[..begin].iter().chain(&own[flat.len()..]).all(|&node| node == u16::MAX), "{what}");
        }
    }
}

fn tours_do_not_depend_on_the_backend() {
    let mut random = Random::new(12);
    let instances: Vec<Instance> = (1..60)
        .map(|n| {
            let at = |random: &mut Random| f64::from(random.below(1 << 20));
            let places: Vec<_> = (0..n).map(|_| [at(&mut random), at(&mut random)]).collect();
            Instance::euclidean(&places).unwrap()
        })
        .collect();
    let run = |choice: Choice| {
        let (backend, _) = Backend::open(choice).ok()?;
        let settings = ManySettings { effort: 3, seed: 5 };
        Some(solve_many(&instances, settings, (&backend, &Stop::never())).unwrap())
    };
    let cpu = run(Choice::Cpu);
    // Only one test at a time uses the device.
    let Some(_gpu) = gpu() else { return };
    assert_eq!(run(Choice::Cuda), cpu);
}
