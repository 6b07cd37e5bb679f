//! Tours as their problems in core read them.

use antwarp_core::geometry::{Grid, Numbered};
use antwarp_core::metric::Metric;
use antwarp_core::papers::problem::Shape;
use antwarp_core::papers::problem::tour::MATRIX;

use super::{MOST_ELEMENTS, of_words};
use crate::engine::memory::check_memory;
use crate::engine::{Places, Problem as Nodes, Tables};
use crate::instance::{Instance, NeighborLists};
use crate::solver::SolveError;

/// The tables of a travelling salesman problem, by the geometry of its places.
pub enum TourTables {
    /// With integer coordinates: [`Grid`].
    Grid(Tables),
    /// With a matrix of distances: [`Numbered`].
    Numbered(Tables),
}

const _: () = {
    // What the tables below hold is what these geometries read.
    assert!(size_of::<<Grid as antwarp_core::geometry::Geometry>::Place>() == 8);
    assert!(size_of::<<Numbered as antwarp_core::geometry::Geometry>::Place>() == 4);
};

impl TourTables {
    /// Makes the tables of an instance; nodes keep their numbers.
    ///
    /// # Errors
    /// If it has fixed edges, too few or too many nodes, or if there is no memory for a matrix.
    pub fn new(instance: &Instance) -> Result<TourTables, SolveError> {
        let refuse = |why: String| {
            Err(SolveError::Unsupported {
                algorithm: "neighbourhood search",
                instance: instance.name().to_string(),
                why,
            })
        };
        let n = instance.len();
        if !instance.fixed_edges().is_empty() {
            return refuse("it has fixed edges".into());
        }
        if n < 4 {
            return refuse("it has fewer than 4 nodes".into());
        }
        if n > MOST_ELEMENTS as usize {
            return refuse(format!("it has more than {MOST_ELEMENTS} nodes; `antwarp solve` solves it"));
        }
        let nodes =
            Nodes::for_search(instance, &NeighborLists { k: 0, ids: Vec::new() }, (0..n as u32).collect());
        let shape = |metric: u32| Shape { sizes: [n as u32, metric, 0, 0], ..Shape::default() };
        Ok(match nodes.places() {
            Places::Grid { places, up } => {
                let metric = if *up { Metric::Ceil2d } else { Metric::Euc2d };
                let bytes: Vec<u8> = places.iter().flat_map(|p| p.to_ne_bytes()).collect();
                TourTables::Grid(Tables::new(shape(metric as u32), &[&bytes]))
            }
            // All others by their matrix: one more kind of place would be three more problems, each with kernels of its own.
            Places::Planar { .. } | Places::Numbered(_) => {
                check_memory("the matrix of distances", 3 * 4 * n * n)?;
                let matrix =
                    if nodes.metric().is_some() { nodes.computed_matrix() } else { nodes.matrix().to_vec() };
                let numbers: Vec<u32> = (0..n as u32).collect();
                TourTables::Numbered(Tables::new(shape(MATRIX), &[&of_words(&numbers), &of_words(&matrix)]))
            }
        })
    }
}
