//! `block_tour_costs_*`: the length of every tour.

use antwarp::backend::cuda::{Launch, TEAM_BYTES, TourCosts, buffers};
use antwarp_core::kernels::CostArgs;
use antwarp_core::node::NodeId;
use antwarp_core::team::Serial;
use antwarp_core::tour;

use crate::gpu::{Poison, assert_same, download, gpu, id_bytes, load, poisoned, sizes, upload};
use crate::input::{Geometry, Random, metrics, typed};
use crate::papers::construct::state;

tests![block_tour_costs_u16, block_tour_costs_u32];

const SIZES: [u32; 6] = [2, 5, 33, 64, 257, 700];
const TOURS: u32 = 13;
const WARPS: [u32; 4] = [1, 2, 3, 8];
const GRID: u32 = 5;

/// The kernels tested here.
pub const NAMES: &[&str] = &["block_tour_costs_u16", "block_tour_costs_u32"];

struct Case {
    geometry: Geometry,
    tours: Vec<u32>,
    cpu: Vec<i64>,
}

impl Case {
    fn new<I: NodeId>(random: &mut Random, n: u32, metric: Option<antwarp_core::metric::Metric>) -> Case {
        let geometry = Geometry::new(random, n, metric);
        let tours = random.tours(n, TOURS);
        let distances = geometry.distances();
        // SAFETY: n nodes a tour, all of this geometry.
        let cost = |tour: &[I]| unsafe { tour::cost(Serial, n, distances, tour.as_ptr()) };
        let cpu = typed::<I>(&tours).chunks(n as usize).map(cost).collect();
        Case { geometry, tours, cpu }
    }

    fn check<I: NodeId>(&self, device: &antwarp::backend::cuda::Device, kernel: &TourCosts) {
        let (n, metric) = (self.geometry.n, self.geometry.device_metric());
        let args = CostArgs { n, tours: TOURS, metric, padding: 0 };
        let (tours, points) =
            (upload(device, &id_bytes::<I>(&self.tours)), upload(device, self.geometry.points()));
        let matrix = upload(device, self.geometry.matrix());
        let what = format!("{}, {n} nodes, {}", kernel.name, self.geometry.name());
        let launched = |warps: u32, done: u32| {
            let launch = Launch { grid: GRID, block: 32 * warps, shared: TEAM_BYTES };
            let state = upload(device, &[state(done)]);
            let mut costs = poisoned(device, TOURS as usize);
            // SAFETY: arrays and shared memory have the sizes that `args` tell.
            unsafe {
                kernel.launch(
                    device.stream(),
                    launch,
                    args,
                    buffers::TourCosts {
                        state: &state,
                        tours: &tours,
                        points: &points,
                        matrix: &matrix,
                        costs: &mut costs,
                    },
                )
            }
            .expect("the launch");
            download(device, &what, &costs)
        };
        for warps in WARPS {
            assert_same(&format!("{what}, {warps} warps"), &launched(warps, 0), &self.cpu);
        }
        assert_same(&format!("{what}, done"), &launched(2, 1), &[i64::POISON; TOURS as usize]);
    }
}

fn check<I: NodeId>(name: &str) {
    let mut random = Random::new(5);
    let mut cases = Vec::new();
    for n in sizes(&SIZES) {
        for metric in metrics() {
            cases.push(Case::new::<I>(&mut random, n, metric));
        }
    }
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, name);
    let kernel = TourCosts { name, function };
    for case in &cases {
        case.check::<I>(&gpu, &kernel);
    }
}

fn block_tour_costs_u16() {
    check::<u16>("block_tour_costs_u16");
}

fn block_tour_costs_u32() {
    check::<u32>("block_tour_costs_u32");
}
