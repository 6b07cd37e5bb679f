//! Tours of ants on fresh trails: all trails are equal, so that the weight of an edge is a power of its heuristic value.

use antwarp_core::distance::Distance;
use antwarp_core::papers::ants::construct::{self, Lists};
use antwarp_core::papers::ants::pheromone::heuristic;
use antwarp_core::papers::ants::select::Reservoir;
use antwarp_core::papers::ants::tabu::Bitmask;
use antwarp_core::rng::Stream;
use antwarp_core::team::Slots;
use rayon::prelude::*;

use crate::memory::{allocate, check_memory};
use crate::{BackendError, Problem, Worker};
use antwarp_instance::{Enough, Instance, Watch};

/// Number of candidates per node.
const CANDIDATES: u32 = 32;
/// Exponent of the heuristic value, as in Ant Colony System.
const BETA: f32 = 3.0;

/// Returns this many tours, concatenated, in the instance's numbering; the instance must have at least 4 nodes. They depend on the
/// seed, not on threads. `None` if `enough` asked to stop before they were complete.
///
/// # Errors
/// If they do not fit in memory.
pub fn tours_until(
    instance: &Instance,
    count: u32,
    seed: u64,
    enough: Enough,
) -> Result<Option<Vec<u32>>, BackendError> {
    let Some(problem) = Problem::until(instance, Some(CANDIDATES), 1, enough)? else { return Ok(None) };
    let watch = Watch::new(enough);
    let tours = built(&problem, count, seed, &watch)?;
    Ok(watch.kept(tours))
}

fn built(problem: &Problem, count: u32, seed: u64, watch: &Watch) -> Result<Vec<u32>, BackendError> {
    let (n, k) = (problem.n(), problem.k());
    let len = n as usize * count as usize;
    check_memory("the ants' tours", 4 * len)?;
    let mut tours: Vec<u32> = allocate("the ants' tours", len)?;
    let distances = problem.distances();
    let scale = (problem.scale(), BETA);
    let weights: Vec<f32> = (0..n)
        .into_par_iter()
        .flat_map_iter(|u| {
            let row = &problem.lists()[u as usize * k as usize..][..k as usize];
            // SAFETY: both are nodes of the problem.
            row.iter().map(move |&v| heuristic(unsafe { distances.between(u, v) }, scale))
        })
        .collect();
    // No tour has deposited pheromone: every node is its own neighbour.
    let own: Vec<u32> = (0..n).collect();
    let memory = construct::memory_bytes::<Bitmask, Reservoir>(n, k).div_ceil(16);
    tours.par_chunks_exact_mut(n as usize).enumerate().for_each_init(
        || (vec![0u128; memory], vec![0u32; n as usize]),
        |(memory, built), (ant, tour)| {
            if watch.is_over() {
                return;
            }
            let lists = Lists {
                k,
                nodes: problem.lists().as_ptr(),
                weights: weights.as_ptr(),
                reserve: problem.reserve(),
                reserves: problem.reserves().as_ptr(),
                successor: own.as_ptr(),
                predecessor: own.as_ptr(),
            };
            let enough = || watch.is_over();
            let (worker, stream) = (Worker::new(&enough), Stream::new(seed, 0, ant as u32));
            // SAFETY: memory and tour belong to this thread alone and are large enough; lists are those of n nodes.
            unsafe {
                let memory = memory.as_mut_ptr().cast();
                let slots = Slots::of(built);
                construct::candidates::<_, Bitmask, Reservoir, u32, _>(
                    &worker, n, lists, distances, memory, slots, stream,
                );
            }
            let order = problem.start_tour();
            tour.iter_mut().zip(built).for_each(|(node, id)| *node = order[*id as usize]);
        },
    );
    Ok(tours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use antwarp_instance::generate;

    fn made(instance: &Instance, count: u32, seed: u64) -> Vec<u32> {
        tours_until(instance, count, seed, &|| false).unwrap().unwrap()
    }

    #[test]
    fn it_may_be_enough_before_there_are_tours() {
        let instance = generate::uniform(300, 1).unwrap();
        assert_eq!(tours_until(&instance, 6, 5, &|| true).unwrap(), None);
    }

    #[test]
    fn ants_give_different_short_tours() {
        let instance = generate::uniform(300, 1).unwrap();
        let tours = made(&instance, 6, 5);
        let costs: Vec<i64> =
            tours.chunks_exact(300).map(|tour| instance.check_tour(tour).unwrap()).collect();
        let nearest = Problem::new(&instance, Some(1), 1).unwrap().unit_cost();
        assert!(costs.iter().all(|&cost| cost < 3 * nearest), "{costs:?}, nearest neighbour {nearest}");
        assert!(costs.windows(2).any(|pair| pair[0] != pair[1]));
        assert_eq!(tours, made(&instance, 6, 5));
        assert_ne!(tours, made(&instance, 6, 6));
        // More ants give the same tours, and further ones.
        assert_eq!(tours, made(&instance, 7, 5)[..tours.len()]);
    }

    #[test]
    fn four_nodes_and_directed_ones_will_do() {
        let directed = vec![0, 1, 2, 3, 3, 0, 4, 1, 5, 6, 0, 2, 4, 1, 2, 0];
        let instance = Instance::from_matrix("directed", directed).unwrap();
        for tour in made(&instance, 8, 1).chunks_exact(4) {
            instance.check_tour(tour).unwrap();
        }
    }
}
