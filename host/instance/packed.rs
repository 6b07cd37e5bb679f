//! Instances as bytes, for other processes: everything needed for solving, without the other contents of a file.

use antwarp_core::metric::Metric;

use super::model::{Distances, Instance, Kind};

/// Used in place of a metric's number if the distances are a matrix.
const MATRIX: u32 = u32::MAX;

impl Instance {
    /// Appends the name and the distances.
    pub fn pack(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.name().len() as u64).to_le_bytes());
        bytes.extend(self.name().as_bytes());
        bytes.extend((self.len() as u64).to_le_bytes());
        bytes.push((self.kind() == Kind::Atsp).into());
        bytes.extend(self.metric().map_or(MATRIX, |metric| metric as u32).to_le_bytes());
        match self.distances() {
            Distances::Points { points, .. } => {
                bytes.extend(points.iter().flatten().flat_map(|coordinate| coordinate.to_le_bytes()));
            }
            Distances::Matrix(matrix) => bytes.extend(matrix.iter().flat_map(|weight| weight.to_le_bytes())),
        }
    }

    /// The inverse of [`Instance::pack`]; `None` if these bytes are not a valid instance.
    pub fn unpack(bytes: &[u8]) -> Option<Instance> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
        let name = str::from_utf8(name).ok()?;
        let (nodes, rest) = rest.split_first_chunk()?;
        let (&is_directed, rest) = rest.split_first()?;
        let (metric, rest) = rest.split_first_chunk()?;
        let instance = match u32::from_le_bytes(*metric) {
            MATRIX => {
                let (weights, []) = rest.as_chunks::<4>() else { return None };
                Instance::from_matrix(
                    name,
                    weights.iter().map(|&weight| i32::from_le_bytes(weight)).collect(),
                )
            }
            metric => {
                let (points, []) = rest.as_chunks::<24>() else { return None };
                let point = |bytes: &[u8; 24]| {
                    let mut coordinates = bytes.as_chunks::<8>().0.iter().map(|&c| f64::from_le_bytes(c));
                    [(); 3].map(|()| coordinates.next().unwrap_or(0.0))
                };
                Instance::from_points(
                    name,
                    Metric::try_from(metric).ok()?,
                    points.iter().map(point).collect(),
                )
            }
        };
        let instance =
            instance.ok().filter(|instance| instance.len() as u64 == u64::from_le_bytes(*nodes))?;
        Some(if is_directed != 0 { instance.into_atsp() } else { instance })
    }
}
