//! A 64-bit hash that identifies the data of an instance.
//!
//! A name does not, since anyone may call a file eil51. Fingerprints are in the lists of published optima, so they never change,
//! and are the same on every machine: FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo) over little-endian bytes. They distinguish data that
//! differ by chance, but do not protect against deliberate collisions.

use super::model::{Distances, Instance, Kind};
use super::qaplib::Qap;

struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn add_all(&mut self, numbers: &[i32]) {
        numbers.iter().for_each(|number| self.add(&number.to_le_bytes()));
    }
}

impl Instance {
    /// Returns a hash of everything that its tours and their lengths depend on, which excludes its name; the same on every machine.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::new();
        hash.add(match self.kind() {
            Kind::Tsp => b"TSP ",
            Kind::Atsp => b"ATSP ",
        });
        hash.add(self.metric().map_or("EXPLICIT", |metric| metric.keyword()).as_bytes());
        hash.add(&(self.len() as u64).to_le_bytes());
        match self.distances() {
            Distances::Points { metric, points } => {
                for coordinate in points.iter().flat_map(|point| &point[..metric.dimensions()]) {
                    // Adding 0 turns -0 into 0.
                    hash.add(&(coordinate + 0.0).to_bits().to_le_bytes());
                }
            }
            Distances::Matrix(matrix) => hash.add_all(matrix),
        }
        for (a, b) in self.fixed_edges() {
            hash.add(&a.to_le_bytes());
            hash.add(&b.to_le_bytes());
        }
        if let Some(ends) = self.ends() {
            hash.add(b"ENDS");
            for end in [ends.start, ends.end] {
                hash.add(&end.map_or(u64::MAX, u64::from).to_le_bytes());
            }
        }
        // Those of a matrix are its entries.
        if !self.forbidden_pairs().is_empty() {
            hash.add(b"FORBIDDEN");
            for (a, b) in self.forbidden_pairs() {
                hash.add(&a.to_le_bytes());
                hash.add(&b.to_le_bytes());
            }
        }
        hash.0
    }
}

impl Qap {
    /// Returns a hash of the size and of both matrices; the same on every machine.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::new();
        hash.add(b"QAP ");
        hash.add(&u64::from(self.n).to_le_bytes());
        hash.add_all(&self.a);
        hash.add_all(&self.b);
        hash.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use antwarp_core::metric::Metric;

    use super::*;
    use crate::Ends;

    #[test]
    fn the_hash_is_the_published_one() {
        let of = |bytes: &[u8]| {
            let mut hash = Fnv::new();
            hash.add(bytes);
            hash.0
        };
        let known = [("", 0xcbf29ce484222325), ("a", 0xaf63dc4c8601ec8c), ("foobar", 0x85944171f73967e8)];
        for (text, hash) in known {
            assert_eq!(of(text.as_bytes()), hash, "{text}");
        }
    }

    #[test]
    fn whatever_counts_makes_a_difference() {
        let points = |metric, points: [[f64; 3]; 2]| {
            Instance::from_points("points", metric, points.to_vec()).unwrap().fingerprint()
        };
        let matrix = |weights: [i32; 4]| Instance::from_matrix("matrix", weights.to_vec()).unwrap();
        let [origin, one] = [[0.0; 3], [1.0, 0.0, 0.0]];
        let qap = |a: [i32; 4], b: [i32; 4]| {
            Qap::from_matrices("qap", 2, a.to_vec(), b.to_vec()).unwrap().fingerprint()
        };
        let ends = |start, end| matrix([0, 1, 1, 0]).with_ends(Some(Ends { start, end })).fingerprint();
        let forbidden = |pairs: Vec<(u32, u32)>| {
            let line = vec![origin, one, [2.0, 0.0, 0.0]];
            let line = Instance::from_points("line", Metric::Euc2d, line).unwrap();
            line.with_forbidden_pairs(pairs).unwrap().fingerprint()
        };
        let all = [
            points(Metric::Euc2d, [origin, one]),
            points(Metric::Euc2d, [one, origin]),
            points(Metric::Ceil2d, [origin, one]),
            points(Metric::Euc3d, [origin, one]),
            matrix([0, 1, 1, 0]).fingerprint(),
            matrix([0, 1, 2, 0]).fingerprint(),
            matrix([0, 1, 1, 0]).into_atsp().fingerprint(),
            matrix([0, 1, 1, 0]).with_fixed_edges(vec![(0, 1)]).fingerprint(),
            matrix([0, 1, 1, 0]).with_fixed_edges(vec![(1, 0)]).fingerprint(),
            ends(None, None),
            ends(Some(0), None),
            ends(None, Some(0)),
            ends(Some(0), Some(1)),
            matrix([0, 1, 1, 0]).with_forbidden_pairs(vec![(0, 1)]).unwrap().fingerprint(),
            forbidden(vec![]),
            forbidden(vec![(0, 1)]),
            forbidden(vec![(0, 2)]),
            forbidden(vec![(0, 1), (0, 2)]),
            qap([0, 1, 1, 0], [0, 2, 2, 0]),
            qap([0, 2, 2, 0], [0, 1, 1, 0]),
        ];
        assert_eq!(HashSet::from(all).len(), all.len());
        // These do not matter: the name, the sign of zero, a coordinate that the metric ignores, a diagonal.
        let other = Instance::from_points("other", Metric::Euc2d, vec![[-0.0, 0.0, 5.0], one]).unwrap();
        assert_eq!(other.fingerprint(), all[0]);
        assert_eq!(matrix([7, 1, 1, 9]).fingerprint(), all[4]);
    }
}
