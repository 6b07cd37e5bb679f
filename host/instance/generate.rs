//! Random instances: the same seed gives the same cities on every machine and in every release.

use antwarp_core::metric::Metric;
use antwarp_core::rng::Stream;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::error::{InstanceError, Result};
use super::model::Instance;
use crate::memory;

/// Coordinates are whole numbers below this.
const SIDE: u64 = 1_000_000;

/// Rejects numbers of cities that are invalid, or whose places do not fit in memory.
fn check_size(name: &str, n: usize) -> Result<()> {
    Instance::check_len(name, n)?;
    let no_room =
        |shortage| InstanceError::content(name, format!("not enough memory: {shortage}"), "use fewer nodes");
    memory::check((n * size_of::<[f64; 3]>()) as u64).map_err(no_room)
}

/// Generates `n` cities uniformly in a square: their coordinates are whole numbers from 0 to 999,999, their distances
/// [`Metric::Euc2d`].
///
/// # Errors
/// If `n` is 0 or above 2,147,483,647, or they do not fit in memory.
pub fn uniform(n: usize, seed: u64) -> Result<Instance> {
    let name = format!("uniform-{n}-{seed}");
    check_size(&name, n)?;
    let mut draws = Pcg64::seed_from_u64(seed);
    let points = (0..n).map(|_| [below(&mut draws, SIDE), below(&mut draws, SIDE), 0.0]).collect();
    Instance::from_points(name, Metric::Euc2d, points)
}

/// Generates `n` cities around `clusters` centres in the square of [`uniform`], normally distributed about each with the standard
/// deviation 1,000,000 / sqrt(n). Coordinates are rounded to whole numbers, and may lie outside of the square.
///
/// # Errors
/// If there are no cities or no clusters, or the cities do not fit in memory.
pub fn clustered(n: usize, clusters: usize, seed: u64) -> Result<Instance> {
    let name = format!("clustered-{n}-{clusters}-{seed}");
    if clusters == 0 {
        return Err(InstanceError::content(name, "there are no clusters", "use at least one cluster"));
    }
    check_size(&name, n)?;
    let mut draws = Pcg64::seed_from_u64(seed);
    // More centres than cities would only cost memory.
    let centers: Vec<[f64; 2]> =
        (0..clusters.min(n)).map(|_| [below(&mut draws, SIDE), below(&mut draws, SIDE)]).collect();
    // As wide as in the clustered instances of DIMACS, where a hundred cities share a centre.
    let deviation = SIDE as f64 / (n as f64).sqrt();
    let points = (0..n)
        .map(|_| {
            let center = centers[below(&mut draws, centers.len() as u64) as usize];
            let [x, y] = center.map(|c| (c + deviation * normal(&mut draws)).round());
            [x, y, 0.0]
        })
        .collect();
    Instance::from_points(name, Metric::Euc2d, points)
}

/// Draws a whole number below `end`, by multiplication: libraries may change how they draw from a range.
pub fn draw(draws: &mut impl Rng, end: u64) -> u64 {
    ((u128::from(draws.next_u64()) * u128::from(end)) >> 64) as u64
}

/// Returns part `part` of the random numbers of an instance of `family`.
///
/// The family modifies the seed, since a search may run with the seed of its instance: it must not draw its start from the numbers
/// that hide the solution.
pub const fn stream(family: [u8; 8], seed: u64, part: u32) -> Stream {
    Stream::new(seed ^ u64::from_be_bytes(family), part, 0)
}

fn below(draws: &mut impl Rng, end: u64) -> f64 {
    draw(draws, end) as f64
}

/// Draws an approximately standard normal number: the sum of twelve uniform ones. Unlike exact formulas, it needs no logarithm,
/// whose last bits differ between systems.
fn normal(draws: &mut impl Rng) -> f64 {
    const UNIT: u64 = 1 << 32;
    (0..12).map(|_| below(draws, UNIT) / UNIT as f64).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_cities() {
        assert_eq!(uniform(50, 1).unwrap(), uniform(50, 1).unwrap());
        assert_ne!(uniform(50, 1).unwrap().points(), uniform(50, 2).unwrap().points());
        assert_eq!(clustered(50, 3, 1).unwrap(), clustered(50, 3, 1).unwrap());
        // Never change this: a different generator would make published runs unrepeatable.
        assert_eq!(uniform(50, 1).unwrap().points().unwrap()[0], [839_873.0, 17_298.0, 0.0]);
    }

    #[test]
    fn uniform_cities_fill_the_square() {
        let instance = uniform(10_000, 7).unwrap();
        for axis in 0..2 {
            let mean = instance.points().unwrap().iter().map(|p| p[axis]).sum::<f64>() / 10_000.0;
            assert!((mean - 500_000.0).abs() < 15_000.0, "{mean}");
        }
        assert!(instance.points().unwrap().iter().all(|p| p[0] < SIDE as f64 && p[1] < SIDE as f64));
    }

    #[test]
    fn clustered_cities_are_near_each_other() {
        let uniform = uniform(1000, 3).unwrap();
        let clustered = clustered(1000, 10, 3).unwrap();
        let to_nearest = |i: &Instance| {
            let lists = crate::nearest(i, 1);
            (0..1000).map(|a| i64::from(i.distance(a, lists.ids[a as usize]))).sum::<i64>()
        };
        assert!(to_nearest(&clustered) * 2 < to_nearest(&uniform));
    }

    #[test]
    fn empty_requests_are_refused() {
        assert!(uniform(0, 1).is_err());
        assert!(clustered(10, 0, 1).unwrap_err().to_string().contains("no clusters"));
    }
}
