//! Instances as bytes, for other processes: everything needed for solving, without the other contents of a file.

use antwarp_core::metric::Metric;

use super::model::{Distances, Ends, Instance, Kind};

/// Used in place of a metric's number if the distances are a matrix.
const MATRIX: u32 = u32::MAX;
/// Used in place of a number that is not given.
const NONE: u64 = u64::MAX;

impl Instance {
    /// Appends the name, the shape of tours and the distances.
    pub fn pack(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.name().len() as u64).to_le_bytes());
        bytes.extend(self.name().as_bytes());
        bytes.extend((self.len() as u64).to_le_bytes());
        bytes.push((self.kind() == Kind::Atsp).into());
        bytes.extend(self.metric().map_or(MATRIX, |metric| metric as u32).to_le_bytes());
        self.pack_shape(bytes);
        match self.distances() {
            Distances::Points { points, .. } => {
                bytes.extend(points.iter().flatten().flat_map(|coordinate| coordinate.to_le_bytes()));
            }
            Distances::Matrix(matrix) => bytes.extend(matrix.iter().flat_map(|weight| weight.to_le_bytes())),
        }
    }

    fn pack_shape(&self, bytes: &mut Vec<u8>) {
        let ends = self.ends();
        let Ends { start, end } = ends.unwrap_or_default();
        bytes.push(ends.is_some().into());
        for number in [start, end, self.forbidden().map(i32::cast_unsigned)] {
            bytes.extend(number.map_or(NONE, u64::from).to_le_bytes());
        }
        for pairs in [self.fixed_edges(), self.forbidden_pairs()] {
            bytes.extend((pairs.len() as u64).to_le_bytes());
            bytes.extend(pairs.iter().flat_map(|&(a, b)| [a, b]).flat_map(u32::to_le_bytes));
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
        let (shape, rest) = Shape::unpack(rest)?;
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
        shape.of(if is_directed != 0 { instance.into_atsp() } else { instance })
    }
}

/// Edges.
type Pairs = Vec<(u32, u32)>;

/// The shape of an instance's tours.
struct Shape {
    ends: Option<Ends>,
    forbidden: Option<i32>,
    fixed_edges: Pairs,
    forbidden_pairs: Pairs,
}

impl Shape {
    /// Returns the shape at the start of these bytes, and the rest of them.
    fn unpack(bytes: &[u8]) -> Option<(Shape, &[u8])> {
        let (&is_open, rest) = bytes.split_first()?;
        let (start, rest) = rest.split_first_chunk()?;
        let (end, rest) = rest.split_first_chunk()?;
        let (forbidden, rest) = rest.split_first_chunk()?;
        let [start, end, forbidden] = [start, end, forbidden].map(|number| {
            let number = u64::from_le_bytes(*number);
            (number != NONE).then(|| u32::try_from(number).ok())
        });
        let (fixed_edges, rest) = unpack_pairs(rest)?;
        let (forbidden_pairs, rest) = unpack_pairs(rest)?;
        // A number that is there but too large is invalid.
        let valid = |number: Option<Option<u32>>| number.map_or(Some(None), |number| number.map(Some));
        let (start, end) = (valid(start)?, valid(end)?);
        let ends = (is_open != 0).then_some(Ends { start, end });
        let forbidden = valid(forbidden)?.map(u32::cast_signed);
        Some((Shape { ends, forbidden, fixed_edges, forbidden_pairs }, rest))
    }

    /// Gives an instance this shape, if it has all of its nodes.
    fn of(self, instance: Instance) -> Option<Instance> {
        let Shape { ends, forbidden, fixed_edges, forbidden_pairs } = self;
        let nodes = fixed_edges.iter().chain(&forbidden_pairs).flat_map(|&(a, b)| [a, b]);
        let nodes = nodes.chain(ends.into_iter().flat_map(|ends| [ends.start, ends.end]).flatten());
        let is_valid = nodes.into_iter().all(|node| (node as usize) < instance.len());
        is_valid.then(|| {
            let instance = instance.with_fixed_edges(fixed_edges).with_ends(ends);
            instance.with_forbidden(forbidden, forbidden_pairs)
        })
    }
}

/// Returns the pairs of nodes at the start of these bytes, and the rest of them.
fn unpack_pairs(bytes: &[u8]) -> Option<(Pairs, &[u8])> {
    let (count, rest) = bytes.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(8)?;
    let (pairs, rest) = rest.split_at_checked(length)?;
    let pair = |&[a, b]: &[[u8; 4]; 2]| (u32::from_le_bytes(a), u32::from_le_bytes(b));
    Some((pairs.as_chunks::<4>().0.as_chunks::<2>().0.iter().map(pair).collect(), rest))
}
