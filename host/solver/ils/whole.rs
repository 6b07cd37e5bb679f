//! A descent of a whole tour on one CPU thread: what tiles cannot do, because their pieces keep their ends, is done
//! before they begin.

use antwarp_core::geometry::{self, Geometry, Grid, Numbered, Planar};
use antwarp_core::local_search::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt, ants};
use antwarp_core::team::{Serial, Slots};

use crate::engine::{LocalSearch, Places, Problem};

/// The tour along the problem's numbering after a descent from every node, and by how much it got shorter.
pub fn descend(problem: &Problem, local_search: LocalSearch, breadth: u32) -> (Vec<u32>, i64) {
    match problem.places() {
        Places::Grid { places, up } => on(problem, local_search, breadth, Grid { up: *up }, places),
        Places::Planar { places, metric } => {
            on(problem, local_search, breadth, Planar { metric: *metric }, places)
        }
        Places::Numbered(places) => {
            on(problem, local_search, breadth, Numbered { distances: problem.distances() }, places)
        }
    }
}

fn on<G: Geometry>(
    problem: &Problem,
    local_search: LocalSearch,
    breadth: u32,
    geometry: G,
    places: &[G::Place],
) -> (Vec<u32>, i64) {
    match local_search {
        LocalSearch::None => ((0..problem.n()).collect(), 0),
        LocalSearch::TwoOpt => with::<TwoOpt, G>(problem, breadth, geometry, places),
        LocalSearch::OrOpt => with::<OrOpt, G>(problem, breadth, geometry, places),
        LocalSearch::Or2opt => with::<Or2opt, G>(problem, breadth, geometry, places),
        LocalSearch::ThreeOpt => with::<ThreeOpt, G>(problem, breadth, geometry, places),
    }
}

fn with<O: Operator, G: Geometry>(
    problem: &Problem,
    breadth: u32,
    geometry: G,
    places: &[G::Place],
) -> (Vec<u32>, i64) {
    let n = problem.n();
    let mut tour: Vec<u32> = (0..n).collect();
    // Links of every node to itself: none is where a local optimum would have it.
    let own = tour.clone();
    let mut memory = vec![0u128; ants::memory_bytes::<u32>(n).div_ceil(16)];
    let tables = ants::Tables {
        n,
        lists: problem.neighbors().as_ptr(),
        k: problem.search_k(),
        breadth,
        places: geometry::Places { geometry, start: places.as_ptr() },
        successor: own.as_ptr(),
        predecessor: own.as_ptr(),
    };
    // SAFETY: all arrays have n elements, lists n x k; this is the only thread, and memory is as large as it asks.
    let gained = unsafe {
        ants::improve::<_, O, u32, G>(
            Serial,
            tables,
            memory.as_mut_ptr().cast(),
            Slots::new(tour.as_mut_ptr()),
        )
    };
    (tour, gained)
}
