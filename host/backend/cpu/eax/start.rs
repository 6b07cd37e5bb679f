//! New tours of a population: random ones, and local search.

use antwarp_core::geometry::{self, Geometry};
use antwarp_core::local_search::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt, ants};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};

use super::super::Together;
use crate::engine::genetic::GeneticSpec;
use crate::engine::{LocalSearch, Problem};

/// Places by which a node is moved in a random order, at most.
const REACH: u64 = 10_000;

/// Makes a tour a random one. Of many nodes each is at most so far from its place in the problem's numbering, which goes
/// along a short tour: as random as any where it matters, and made in far fewer moves into a local optimum.
pub fn shuffle(stream: Stream, tour: &mut [u32]) {
    (0..).zip(tour.iter_mut()).for_each(|(i, v)| *v = i);
    tour.sort_by_cached_key(|&v| (u64::from(v) << 32) + REACH * u64::from(stream.step(v).bits(0)));
}

/// Improves a tour, which is a permutation of the problem's nodes, by the population's local search, or by 2-opt if it
/// has none. `own` has every node's number.
pub fn improve<G: Geometry>(
    problem: &Problem,
    spec: &GeneticSpec,
    places: geometry::Places<G>,
    own: &[u32],
    tour: &mut [u32],
) {
    match spec.local_search {
        LocalSearch::None | LocalSearch::TwoOpt => improve_by::<TwoOpt, G>(problem, spec, places, own, tour),
        LocalSearch::OrOpt => improve_by::<OrOpt, G>(problem, spec, places, own, tour),
        LocalSearch::Or2opt => improve_by::<Or2opt, G>(problem, spec, places, own, tour),
        LocalSearch::ThreeOpt => improve_by::<ThreeOpt, G>(problem, spec, places, own, tour),
    }
}

fn improve_by<O: Operator, G: Geometry>(
    problem: &Problem,
    spec: &GeneticSpec,
    places: geometry::Places<G>,
    own: &[u32],
    tour: &mut [u32],
) {
    let n = problem.n();
    let tables = Together(ants::Tables {
        n,
        lists: problem.neighbors().as_ptr(),
        k: problem.search_k(),
        breadth: spec.breadth,
        places,
        successor: own.as_ptr(),
        predecessor: own.as_ptr(),
    });
    let mut memory = vec![0u128; ants::memory_bytes::<u32>(n).div_ceil(16)];
    // SAFETY: the tour is a permutation of n nodes; all arrays have n elements, lists n x k; memory is as large as asked
    // for, and this thread's.
    unsafe {
        ants::improve::<_, O, u32, G>(
            Serial,
            tables.get(),
            memory.as_mut_ptr().cast(),
            Slots::new(tour.as_mut_ptr()),
        );
    }
}
