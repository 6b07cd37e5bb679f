//! What every rank needs to know, which rank 0 has read and checked.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Topology;
use crate::engine::Stop;
use crate::instance::Instance;
use crate::solver::Algorithm;

/// What rank 0 sends to all others at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Orders {
    /// The instance, without the other contents of its file.
    pub instance: Instance,
    /// The algorithm of rank 0.
    pub algorithm: Algorithm,
    /// The initial tours of rank 0, one after the other.
    pub initial: Option<Vec<u32>>,
    /// When to stop; each rank has its own clock.
    pub limits: Limits,
}

/// Limits of a run, and which ranks tours are sent to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    time: Option<Duration>,
    before: Duration,
    iterations: Option<u64>,
    target: Option<i64>,
    stagnation: Option<u64>,
    /// Which ranks tours are sent to.
    pub topology: Topology,
    /// Whether checkpoints are written, and whether each rank is [dealt](super::World::deal) the run that it continues.
    pub has_checkpoints: bool,
    /// See [`Limits::has_checkpoints`].
    pub is_resumed: bool,
}

impl Limits {
    /// Returns the limits of a run without checkpoints.
    pub fn new(stop: &Stop, topology: Topology) -> Limits {
        let Stop { time, before, iterations, target, stagnation, .. } = *stop;
        let (has_checkpoints, is_resumed) = (false, false);
        Limits { time, before, iterations, target, stagnation, topology, has_checkpoints, is_resumed }
    }

    /// Returns the same limits for a run with checkpoints, or one that continues.
    #[must_use]
    pub fn with_checkpoints(self, has_checkpoints: bool, is_resumed: bool) -> Limits {
        Limits { has_checkpoints, is_resumed, ..self }
    }

    /// Converts them to the form used by a run.
    pub fn stop(self) -> Stop {
        let Limits { time, before, iterations, target, stagnation, .. } = self;
        Stop { time, before, iterations, target, stagnation, ..Stop::never() }
    }
}

/// The part of the message other than long lists of numbers.
#[derive(Serialize, Deserialize)]
struct Header {
    algorithm: String,
    settings: Value,
    limits: Limits,
    /// How many numbers the initial tours have.
    initial: Option<usize>,
}

impl Orders {
    /// Encodes the orders as one message.
    ///
    /// # Errors
    /// If the settings cannot be written.
    pub fn to_bytes(
        instance: &Instance,
        algorithm: &Algorithm,
        initial: Option<&[u32]>,
        limits: Limits,
    ) -> serde_json::Result<Vec<u8>> {
        let header = serde_json::to_vec(&Header {
            algorithm: algorithm.name().to_owned(),
            settings: serde_json::to_value(algorithm)?,
            limits,
            initial: initial.map(<[u32]>::len),
        })?;
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header);
        bytes.extend(initial.unwrap_or_default().iter().flat_map(|node| node.to_le_bytes()));
        instance.pack(&mut bytes);
        Ok(bytes)
    }

    /// Decodes a message; `None` if it is invalid.
    pub fn of(bytes: &[u8]) -> Option<Orders> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (header, rest) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
        let Header { algorithm, settings, limits, initial } = serde_json::from_slice(header).ok()?;
        let (nodes, rest) = rest.split_at_checked(initial.unwrap_or(0).checked_mul(4)?)?;
        let nodes = nodes.as_chunks::<4>().0.iter().map(|&node| u32::from_le_bytes(node));
        let initial: Option<Vec<u32>> = initial.map(|_| nodes.collect());
        let algorithm = Algorithm::of(&algorithm, &settings)?;
        Some(Orders { instance: Instance::unpack(rest)?, algorithm, initial, limits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{Ends, Metric, generate};
    use crate::solver::{acs, genetic, ils, lin_kernighan, mmas};

    /// Gives tours a shape.
    fn shaped(instance: Instance) -> Instance {
        let ends = Some(Ends { start: Some(3), end: None });
        let instance = instance.with_ends(ends).with_fixed_edges(vec![(1, 2), (0, 7)]);
        instance.with_forbidden_pairs(vec![(4, 3), (5, 9)]).unwrap()
    }

    #[test]
    fn orders_arrive_as_they_were_given() {
        let space = vec![[1.5, -2.0, 3.0], [1e9, 0.1, 0.0], [0.0, 0.0, 7.0]];
        let instances = [
            generate::uniform(20, 1).unwrap(),
            Instance::from_points("in space", Metric::Euc3d, space).unwrap(),
            Instance::from_matrix("a matrix", vec![0, 1, 2, 3, 0, 4, 5, 6, 0]).unwrap(),
            Instance::from_matrix("", vec![0, 1, 1, 0]).unwrap(),
            shaped(generate::uniform(20, 2).unwrap()),
            shaped(Instance::from_matrix("a matrix", (0..100).collect()).unwrap()),
        ];
        let algorithms = [
            Algorithm::LinKernighan(lin_kernighan::LinKernighanSettings {
                walk: Some(7),
                ..Default::default()
            }),
            Algorithm::Ils(ils::IlsSettings::default()),
            Algorithm::Mmas(mmas::MmasSettings { rho: Some(0.1), ..Default::default() }),
            Algorithm::Acs(acs::AcsSettings::default()),
            Algorithm::Genetic(genetic::GeneticSettings::default()),
        ];
        let stop = Stop { target: Some(-1), ..Stop::after(Duration::from_millis(1234)) };
        let limits = Limits::new(&stop, Topology::Tree);
        for instance in &instances {
            for algorithm in &algorithms {
                for initial in [None, Some(vec![]), Some(vec![2, 0, 1])] {
                    let bytes = Orders::to_bytes(instance, algorithm, initial.as_deref(), limits).unwrap();
                    let orders = Orders::of(&bytes).unwrap();
                    let given =
                        Orders { instance: instance.clone(), algorithm: algorithm.clone(), initial, limits };
                    assert_eq!(orders, given);
                    assert!((0..bytes.len()).all(|length| Orders::of(&bytes[..length]).is_none()));
                }
            }
        }
    }
}
