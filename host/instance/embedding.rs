//! Places in the plane whose distances are about the costs of a matrix, where there are such places: costs are often lengths or travel
//! times between places that the matrix does not tell.
//!
//! Nothing but the choice of neighbours and start tours depends on them. Classical scaling of a few nodes that are far from each other,
//! and then all others by their distances to these: V. de Silva, J. B. Tenenbaum, *Sparse multidimensional scaling using landmark
//! points*, Stanford University (2004).

use crate::parallel;
use crate::{Distances, Instance};

/// Nodes whose distances to all others are used.
const LANDMARKS: usize = 24;
/// The fewest, so that not every matrix fits.
const FEWEST: usize = 8;
/// Largest mean difference between costs and distances, as a share of the mean cost.
const TOLERANCE: f64 = 0.2;
/// A second axis whose square is this part of the first one's is what rounding left.
const NEGLIGIBLE: f64 = 1e-9;
/// Steps of the power iteration. It does not have to converge if two directions are equally long: any two of that plane are right.
const STEPS: usize = 100;

/// Returns a place in the plane for each node, whose distances are about the internal costs of a matrix. Returns `None` if no
/// places fit, if distances come from coordinates, if costs depend on the direction, or if the instance has ends, or fixed or
/// forbidden edges.
pub fn embedded(instance: &Instance) -> Option<Vec<[f64; 2]>> {
    let Distances::Matrix(matrix) = instance.distances() else { return None };
    let is_special =
        instance.partners().is_some() || instance.gap().is_some() || instance.forbidden().is_some();
    if is_special || !instance.is_symmetric() {
        return None;
    }
    let n = instance.len();
    let row = |node: usize| &matrix[node * n..][..n];
    let landmarks = landmarks(n, row);
    let count = landmarks.len();
    if count < FEWEST {
        return None;
    }
    let square = |one: usize, other: usize| f64::from(row(one)[other]).powi(2);
    let mean = |node: usize| landmarks.iter().map(|&one| square(one, node)).sum::<f64>() / count as f64;
    let means: Vec<f64> = landmarks.iter().map(|&landmark| mean(landmark)).collect();
    let mean_of_all = means.iter().sum::<f64>() / count as f64;
    // The products of the landmarks' places, seen from their centre.
    let product =
        |i: usize, j: usize| (means[i] + means[j] - square(landmarks[i], landmarks[j]) - mean_of_all) / 2.0;
    let mut products: Vec<Vec<f64>> =
        (0..count).map(|i| (0..count).map(|j| product(i, j)).collect()).collect();
    let mut axes = Vec::new();
    let mut first = 0.0;
    for _ in 0..2 {
        let Some((length, axis)) = longest_axis(&products).filter(|(length, _)| *length > NEGLIGIBLE * first)
        else {
            // All are on a line.
            axes.push(vec![0.0; count]);
            break;
        };
        first = length;
        for i in 0..count {
            for j in 0..count {
                products[i][j] -= length * axis[i] * axis[j];
            }
        }
        axes.push(axis.iter().map(|x| x / length.sqrt() / 2.0).collect::<Vec<f64>>());
    }
    if axes.len() < 2 {
        return None;
    }
    let place = |node: usize| {
        let along = |axis: &[f64]| {
            let parts = axis.iter().zip(&means).zip(&landmarks);
            parts.map(|((x, mean), &landmark)| x * (mean - square(landmark, node))).sum::<f64>()
        };
        [along(&axes[0]), along(&axes[1])]
    };
    let places = parallel::collect(n, &place);
    let (mut differences, mut costs) = (0.0, 0.0);
    for &landmark in &landmarks {
        let [x, y] = places[landmark];
        for (place, &cost) in places.iter().zip(row(landmark)) {
            differences += ((place[0] - x).hypot(place[1] - y) - f64::from(cost)).abs();
            costs += f64::from(cost);
        }
    }
    (differences <= TOLERANCE * costs).then_some(places)
}

/// Returns nodes that are far from each other: each is the farthest from those before.
fn landmarks<'a>(n: usize, row: impl Fn(usize) -> &'a [i32]) -> Vec<usize> {
    let farthest = |far: &[i32]| (0..n).max_by_key(|&node| (far[node], std::cmp::Reverse(node)));
    let mut far = vec![i32::MAX; n];
    let mut found: Vec<usize> = farthest(row(0)).into_iter().collect();
    while let Some(&last) = found.last() {
        far.iter_mut().zip(row(last)).for_each(|(far, &cost)| *far = cost.min(*far));
        match farthest(&far) {
            Some(next) if found.len() < LANDMARKS && far[next] > 0 => found.push(next),
            _ => break,
        }
    }
    found
}

/// Returns the largest eigenvalue of a symmetric matrix, and its direction; `None` if that is not positive.
fn longest_axis(matrix: &[Vec<f64>]) -> Option<(f64, Vec<f64>)> {
    let mut axis: Vec<f64> = (0..matrix.len()).map(|i| 1.0 + (i * i % 7) as f64).collect();
    let mut length = 0.0;
    for _ in 0..STEPS {
        let turned: Vec<f64> =
            matrix.iter().map(|row| row.iter().zip(&axis).map(|(a, b)| a * b).sum()).collect();
        length = turned.iter().zip(&axis).map(|(a, b)| a * b).sum();
        let norm = turned.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(norm > 0.0 && norm.is_finite()) {
            return None;
        }
        axis = turned.iter().map(|x| x / norm).collect();
    }
    (length > 0.0).then_some((length, axis))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metric, generate};

    fn matrix_of(instance: &Instance, change: impl Fn(u32, u32) -> i32) -> Instance {
        let n = instance.len() as u32;
        let cost =
            |i: u32, j: u32| if i == j { 0 } else { instance.distance(i, j) + change(i.min(j), i.max(j)) };
        let costs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| cost(i, j)).collect();
        Instance::from_matrix("m", costs).unwrap()
    }

    #[test]
    fn places_are_found_again() {
        for instance in [generate::uniform(300, 1).unwrap(), generate::clustered(300, 9, 1).unwrap()] {
            let matrix = matrix_of(&instance, |_, _| 0);
            let places = embedded(&matrix).expect("places");
            for (i, j) in [(0, 1), (7, 200), (150, 299)] {
                let [[a, b], [c, d]] = [places[i], places[j]];
                let far = f64::from(instance.distance(i as u32, j as u32));
                assert!(((a - c).hypot(b - d) - far).abs() < 3.0 + far / 1000.0);
            }
        }
    }

    #[test]
    fn detours_change_little_and_costs_of_chance_have_no_places() {
        let places = generate::uniform(300, 1).unwrap();
        let draw = |i: u32, j: u32| (i.wrapping_mul(7919) ^ j.wrapping_mul(104_729)) % 1009;
        let longer =
            matrix_of(&places, |i, j| (u64::from(draw(i, j)) * places.distance(i, j) as u64 / 5000) as i32);
        assert!(embedded(&longer).is_some());
        let costs =
            (0..300 * 300).map(|at: u32| draw((at / 300).min(at % 300), (at / 300).max(at % 300)) as i32);
        assert!(embedded(&Instance::from_matrix("chance", costs.collect()).unwrap()).is_none());
    }

    #[test]
    fn few_directed_or_equal_nodes_have_none() {
        let few = generate::uniform(FEWEST - 1, 1).unwrap();
        assert!(embedded(&matrix_of(&few, |_, _| 0)).is_none());
        let heap = Instance::from_points("heap", Metric::Euc2d, vec![[3.0; 3]; 50]).unwrap();
        assert!(embedded(&matrix_of(&heap, |_, _| 0)).is_none());
        let directed = (0..400).map(|at| at * 7919 % 1009).collect();
        assert!(embedded(&Instance::from_matrix("directed", directed).unwrap()).is_none());
        assert!(embedded(&generate::uniform(300, 1).unwrap()).is_none(), "points are places already");
    }

    #[test]
    fn a_line_has_places() {
        let line = (0..100).map(|i| [f64::from(i * 37 % 100), 5.0, 0.0]).collect();
        let line = Instance::from_points("line", Metric::Euc2d, line).unwrap();
        let places = embedded(&matrix_of(&line, |_, _| 0)).expect("places");
        for (i, j) in [(0, 1), (7, 20), (50, 99)] {
            let far = f64::from(line.distance(i as u32, j as u32));
            assert!(((places[i][0] - places[j][0]).abs() - far).abs() < 0.01, "{i} {j}");
            assert!((places[i][1] - places[j][1]).abs() < 0.01);
        }
    }
}
