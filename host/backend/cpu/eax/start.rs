//! The first population: random tours, improved by local search.

use antwarp_core::geometry::{self, Geometry};
use antwarp_core::local_search::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt, ants};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};

use super::super::Together;
use crate::solver::eax::EaxSpec;
use crate::solver::local_search::LocalSearch;
use crate::solver::problem::Problem;

/// Places by which a node is moved in a random order, at most.
const REACH: u64 = 10_000;

/// Writes tour number `index` of the first population.
pub fn tour<G: Geometry>(
    problem: &Problem,
    spec: &EaxSpec,
    places: geometry::Places<G>,
    index: u32,
    own: &[u32],
    tour: &mut [u32],
) {
    let stream = Stream::new(spec.seed, 0, index);
    shuffle(stream, tour);
    let improve = match spec.local_search.0 {
        LocalSearch::None => return,
        LocalSearch::TwoOpt => improve::<TwoOpt, G>,
        LocalSearch::OrOpt => improve::<OrOpt, G>,
        LocalSearch::Or2opt => improve::<Or2opt, G>,
        LocalSearch::ThreeOpt => improve::<ThreeOpt, G>,
    };
    improve(problem, spec.local_search.1, places, own, tour);
}

/// A tour in random order. Of many nodes each is at most so far from its place in the problem's numbering, which goes
/// along a short tour: as random as any where it matters, and made in far fewer moves into a local optimum.
fn shuffle(stream: Stream, tour: &mut [u32]) {
    (0..).zip(tour.iter_mut()).for_each(|(i, v)| *v = i);
    tour.sort_by_cached_key(|&v| (u64::from(v) << 32) + REACH * u64::from(stream.step(v).bits(0)));
}

fn improve<O: Operator, G: Geometry>(
    problem: &Problem,
    breadth: u32,
    places: geometry::Places<G>,
    own: &[u32],
    tour: &mut [u32],
) {
    let n = problem.n();
    let tables = Together(ants::Tables {
        n,
        lists: problem.neighbors().as_ptr(),
        k: problem.search_k(),
        breadth: breadth.min(problem.search_k()),
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
