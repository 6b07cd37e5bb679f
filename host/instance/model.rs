//! An instance: nodes, their distances, and what is known about it.

use antwarp_core::geometry::GRID_EXTENT;
use antwarp_core::metric::{self, Metric};
use rayon::prelude::*;

use super::error::{InstanceError, Result, TourError};

/// Which tours are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The symmetric travelling salesman problem.
    Tsp,
    /// The asymmetric one: a way back may be longer than the way there.
    Atsp,
}

/// Where the distances of an instance come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Distances {
    /// A function of coordinates.
    Points {
        /// The function.
        metric: Metric,
        /// (x, y, z) of each node; z is 0 in the plane.
        points: Vec<[f64; 3]>,
    },
    /// The distance from i to j stands at `i * n + j`.
    Matrix(Vec<i32>),
}

/// A problem to solve. Its nodes are numbered from 0.
///
/// Every instance is sound: coordinates are finite, no distance is negative or beyond `i32`, a matrix is
/// square with a diagonal of zeros, fixed edges join nodes that exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    name: String,
    comments: Vec<String>,
    kind: Kind,
    distances: Distances,
    len: usize,
    display: Option<Vec<[f64; 2]>>,
    fixed_edges: Vec<(u32, u32)>,
    ids: Option<Vec<u32>>,
    /// What a distance of 1 is in the unit that the points were given in.
    unit: f64,
}

impl Instance {
    /// The instance of these points; in the plane z counts as 0, whatever it is.
    pub fn from_points(
        name: impl Into<String>,
        metric: Metric,
        mut points: Vec<[f64; 3]>,
    ) -> Result<Instance> {
        let name = name.into();
        check_points(&name, metric, &points)?;
        points.iter_mut().for_each(|point| point[metric.dimensions()..].fill(0.0));
        let len = points.len();
        Instance::sound(name, Kind::Tsp, Distances::Points { metric, points }, len)
    }

    /// The instance of these points of the plane, with Euclidean distances.
    ///
    /// Distances are whole numbers inside, as everywhere. So the points are magnified by a power of two first, until they extend over
    /// one to two million, and put on the grid of whole numbers there. [`Instance::length`] takes back what it does to lengths; they
    /// are those of the points to about a millionth of their extent an edge.
    ///
    /// # Errors
    /// If there are no points, or a coordinate is not finite.
    pub fn euclidean(points: &[[f64; 2]]) -> Result<Instance> {
        let spread = |axis: usize| {
            let along = points.iter().map(|point| point[axis]);
            let low = along.clone().fold(f64::INFINITY, f64::min);
            (low, along.fold(f64::NEG_INFINITY, f64::max) - low)
        };
        let ([x, width], [y, height]) = (<[f64; 2]>::from(spread(0)), <[f64; 2]>::from(spread(1)));
        let extent = width.max(height);
        let is_spread = extent.is_finite() && extent > 0.0;
        let unit =
            if is_spread { (extent / GRID_EXTENT).log2().ceil().exp2().max(f64::MIN_POSITIVE) } else { 1.0 };
        let place =
            |point: &[f64; 2]| [((point[0] - x) / unit).round(), ((point[1] - y) / unit).round(), 0.0];
        let places = points.iter().map(place).collect();
        Ok(Instance { unit, ..Instance::from_points("points", Metric::Euc2d, places)? })
    }

    /// The instance of a square matrix, row by row: asymmetric if the matrix is. The diagonal is ignored.
    pub fn from_matrix(name: impl Into<String>, mut matrix: Vec<i32>) -> Result<Instance> {
        let name = name.into();
        let n = matrix.len().isqrt();
        if n * n != matrix.len() {
            let problem = format!("a matrix of {} weights is not square", matrix.len());
            return Err(InstanceError::content(name, problem, "give a row and a column to every node"));
        }
        for i in 0..n {
            matrix[i * n + i] = 0;
        }
        if let Some(at) = matrix.iter().position(|&weight| weight < 0) {
            let problem =
                format!("the weight {} from node {} to node {} is negative", matrix[at], at / n, at % n);
            let help = "add the same constant to every weight: it lengthens all tours alike";
            return Err(InstanceError::content(name, problem, help));
        }
        let kind = if first_asymmetry(&matrix, n).is_none() { Kind::Tsp } else { Kind::Atsp };
        Instance::sound(name, kind, Distances::Matrix(matrix), n)
    }

    /// The instance of these places of the plane (`dimensions` 2) or of space (3), with Euclidean distances that are not rounded.
    ///
    /// # Errors
    /// If there are no places, or a coordinate is not finite.
    pub fn from_places(
        name: impl Into<String>,
        dimensions: usize,
        places: Vec<[f64; 3]>,
    ) -> Result<Instance> {
        let metric = if dimensions == 3 { Metric::Euc3d } else { Metric::Euc2d };
        Instance::from_points(name, metric, places)
    }

    /// The instance of these places on the earth, as latitude and longitude in degrees, with great-circle distances in metres.
    ///
    /// # Errors
    /// If there are no places, or one is not on the earth.
    pub fn from_degrees(name: impl Into<String>, places: Vec<[f64; 2]>) -> Result<Instance> {
        Instance::from_points(
            name,
            Metric::Geo,
            places.into_iter().map(|[lat, lon]| [lat, lon, 0.0]).collect(),
        )
    }

    /// The instance of a square matrix of costs, row by row: asymmetric if the matrix is. The diagonal is ignored. A cost that is infinite
    /// or not a number says that there is no way; any other may be negative and have decimals.
    ///
    /// # Errors
    /// If the matrix is not square or has no rows.
    pub fn from_costs(name: impl Into<String>, costs: Vec<f64>) -> Result<Instance> {
        Instance::from_matrix(name, costs.into_iter().map(|cost| cost as i32).collect())
    }

    /// The same instance with a name for each node, any text.
    ///
    /// # Panics
    /// If there is not one name a node.
    pub(crate) fn with_names(self, names: Vec<String>) -> Instance {
        assert_eq!(names.len(), self.len, "one name a node");
        self
    }

    /// The same instance, which was read as this line says: `11 places from stops.csv: latitude "lat", longitude "lon", names "name"`.
    pub(crate) fn with_reading(self, _line: String) -> Instance {
        self
    }

    /// Adds a sentence that the user has to know about how the file was read.
    pub(crate) fn with_warning(self, _warning: String) -> Instance {
        self
    }

    /// Refuses numbers of nodes that no instance has.
    pub(super) fn check_len(name: &str, len: usize) -> Result<()> {
        if (1..=i32::MAX as usize).contains(&len) {
            return Ok(());
        }
        let problem = format!("an instance of {len} nodes cannot be solved");
        Err(InstanceError::content(name, problem, "give between 1 and 2147483647 nodes"))
    }

    fn sound(name: String, kind: Kind, distances: Distances, len: usize) -> Result<Instance> {
        Instance::check_len(&name, len)?;
        Ok(Instance {
            name,
            comments: Vec::new(),
            kind,
            distances,
            len,
            display: None,
            fixed_edges: Vec::new(),
            ids: None,
            unit: 1.0,
        })
    }

    /// The same instance with these comments.
    pub fn with_comments(mut self, comments: Vec<String>) -> Instance {
        self.comments = comments;
        self
    }

    /// The same instance with a place in a picture for each node.
    ///
    /// # Panics
    /// If there is not one place a node.
    pub(crate) fn with_display(mut self, display: Vec<[f64; 2]>) -> Instance {
        assert_eq!(display.len(), self.len, "one place a node");
        self.display = Some(display);
        self
    }

    /// The same instance whose file numbers the nodes so.
    ///
    /// # Panics
    /// If there is not one number a node.
    pub(crate) fn with_ids(mut self, ids: Vec<u32>) -> Instance {
        assert_eq!(ids.len(), self.len, "one number a node");
        self.ids = Some(ids);
        self
    }

    /// The same instance, whose tours have to use these edges.
    ///
    /// # Panics
    /// If an edge joins a node that does not exist.
    pub(crate) fn with_fixed_edges(mut self, edges: Vec<(u32, u32)>) -> Instance {
        assert!(edges.iter().all(|&(a, b)| (a.max(b) as usize) < self.len), "fixed edges join nodes");
        self.fixed_edges = edges;
        self
    }

    /// The same instance called asymmetric, even if its distances are not.
    #[must_use]
    pub(crate) fn into_atsp(mut self) -> Instance {
        self.kind = Kind::Atsp;
        self
    }

    /// The same nodes numbered in this order; none if distances come from a matrix. What a file says beside the distances is
    /// left out.
    ///
    /// # Panics
    /// If a node of the order does not exist.
    pub(crate) fn renumbered(&self, order: &[u32]) -> Option<Instance> {
        let points = order.par_iter().map(|&node| self.points().map(|points| points[node as usize]));
        Some(Instance {
            name: self.name.clone(),
            comments: Vec::new(),
            kind: self.kind,
            distances: Distances::Points { metric: self.metric()?, points: points.collect::<Option<_>>()? },
            len: order.len(),
            display: None,
            fixed_edges: Vec::new(),
            ids: None,
            unit: self.unit,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The comments of its file.
    pub fn comments(&self) -> &[String] {
        &self.comments
    }

    /// Which tours are asked for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where its distances come from.
    pub fn distances(&self) -> &Distances {
        &self.distances
    }

    /// The number of nodes, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "an instance has nodes")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether every distance is the same both ways. A matrix called asymmetric counts as such.
    pub fn is_symmetric(&self) -> bool {
        self.kind == Kind::Tsp || self.metric().is_some()
    }

    /// The function of its coordinates, if its distances come from one.
    pub fn metric(&self) -> Option<Metric> {
        match self.distances {
            Distances::Points { metric, .. } => Some(metric),
            Distances::Matrix(_) => None,
        }
    }

    /// The coordinates, if its distances come from them.
    pub fn points(&self) -> Option<&[[f64; 3]]> {
        match &self.distances {
            Distances::Points { points, .. } => Some(points),
            Distances::Matrix(_) => None,
        }
    }

    /// The distance matrix, row by row, if its distances come from one.
    pub fn matrix(&self) -> Option<&[i32]> {
        match &self.distances {
            Distances::Points { .. } => None,
            Distances::Matrix(matrix) => Some(matrix),
        }
    }

    /// Places to draw the nodes at, x to the right and y upwards, if any are known.
    pub fn display_points(&self) -> Option<Vec<[f64; 2]>> {
        if self.display.is_some() {
            return self.display.clone();
        }
        let Distances::Points { metric, points } = &self.distances else { return None };
        // A latitude goes up the page; degrees and minutes are near enough to decimals for a picture.
        let place = |p: &[f64; 3]| if *metric == Metric::Geo { [p[1], p[0]] } else { [p[0], p[1]] };
        Some(points.iter().map(place).collect())
    }

    /// The edges that a tour has to use. Their lengths count.
    pub fn fixed_edges(&self) -> &[(u32, u32)] {
        &self.fixed_edges
    }

    /// The number that the instance's file gives to a node; 1 to n unless the file says otherwise.
    pub fn id(&self, node: u32) -> u32 {
        self.ids.as_ref().map_or(node + 1, |ids| ids[node as usize])
    }

    /// The numbers of all nodes, unless they are 1 to n.
    pub(crate) fn ids(&self) -> Option<&[u32]> {
        self.ids.as_deref()
    }

    /// The way back from those numbers.
    pub(crate) fn node_numbers(&self) -> NodeNumbers {
        NodeNumbers::new(self.len, self.ids())
    }

    /// The distance from node `i` to node `j`.
    ///
    /// # Panics
    /// If a node does not exist.
    #[inline]
    pub fn distance(&self, i: u32, j: u32) -> i32 {
        let (i, j) = (i as usize, j as usize);
        match &self.distances {
            Distances::Points { metric, points } => metric::distance(*metric, points[i], points[j]),
            Distances::Matrix(matrix) => {
                assert!(j < self.len, "node {j} of {}", self.len);
                matrix[i * self.len + j]
            }
        }
    }

    /// A length or distance in the unit that the points were given in; the same number, unless they were given to
    /// [`Instance::euclidean`].
    pub fn length(&self, cost: i64) -> f64 {
        cost as f64 * self.unit
    }

    /// The length of a closed tour that visits every node once, or why the list is none.
    pub fn check_tour(&self, tour: &[u32]) -> std::result::Result<i64, TourError> {
        check_permutation(tour, self.len)?;
        if self.len == 1 {
            // A place on the globe is a kilometre from itself, but there is no edge to go.
            return Ok(0);
        }
        let length = |a: u32, b: u32| i64::from(self.distance(a, b));
        let steps = tour.par_windows(2).with_min_len(1 << 14).map(|step| length(step[0], step[1]));
        Ok(steps.sum::<i64>() + length(tour[tour.len() - 1], tour[0]))
    }

    /// The first fixed edge that a tour does not use.
    ///
    /// # Panics
    /// If the tour has a node that does not exist.
    pub fn unused_fixed_edge(&self, tour: &[u32]) -> Option<(u32, u32)> {
        let mut position = vec![0; self.len];
        (0..).zip(tour).for_each(|(at, &node)| position[node as usize] = at);
        let follows = |a: u32, b: u32| (position[a as usize] + 1) % self.len == position[b as usize];
        let uses = |(a, b): (u32, u32)| follows(a, b) || follows(b, a);
        self.fixed_edges.iter().copied().find(|&edge| !uses(edge))
    }
}

/// Whether each number below `n` stands in `tour` exactly once.
pub(super) fn check_permutation(tour: &[u32], n: usize) -> std::result::Result<(), TourError> {
    if tour.len() != n {
        return Err(TourError::Length { found: tour.len(), expected: n });
    }
    let mut seen = vec![false; n];
    let mut repeated = None;
    for (position, &node) in tour.iter().enumerate() {
        let Some(seen) = seen.get_mut(node as usize) else {
            return Err(TourError::OutOfRange { node, position, last: (n - 1) as u32 });
        };
        if std::mem::replace(seen, true) && repeated.is_none() {
            repeated = Some((node, position));
        }
    }
    // As many positions as nodes: one is missing exactly if one is repeated.
    match (repeated, seen.iter().position(|&seen| !seen)) {
        (Some((node, position)), Some(missing)) => {
            Err(TourError::Repeated { node, position, missing: missing as u32 })
        }
        _ => Ok(()),
    }
}

/// The first pair of nodes, row by row, whose distance depends on the direction.
pub(crate) fn first_asymmetry(matrix: &[i32], n: usize) -> Option<(usize, usize)> {
    (0..n).find_map(|i| (i + 1..n).find(|&j| matrix[i * n + j] != matrix[j * n + i]).map(|j| (i, j)))
}

/// Refuses coordinates that no distance can be computed from.
fn check_points(name: &str, metric: Metric, points: &[[f64; 3]]) -> Result<()> {
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for (node, point) in points.iter().enumerate() {
        if !point.iter().all(|c| c.is_finite()) {
            let problem = format!("node {node} has a coordinate that is not a finite number");
            return Err(InstanceError::content(name, problem, "give every node finite coordinates"));
        }
        if metric == Metric::Geo && (point[0].abs() > 90.0 || point[1].abs() > 360.0) {
            let problem = format!("node {node} is at {} {}, which is not on the earth", point[0], point[1]);
            let help = "write the latitude first, from -90 to 90, then the longitude, as degrees.minutes";
            return Err(InstanceError::content(name, problem, help));
        }
        for axis in 0..metric.dimensions() {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
    }
    // No two points are further apart than the corners of their box, in any metric but the globe's,
    // which is bounded by itself; XRAY counts in hundredths.
    let sum: f64 = (0..metric.dimensions()).map(|axis| (high[axis] - low[axis]).max(0.0)).sum();
    let scale = if matches!(metric, Metric::Xray1 | Metric::Xray2) { 100.0 } else { 1.0 };
    if metric != Metric::Geo && sum * scale >= f64::from(i32::MAX) {
        let problem = format!("the coordinates spread over {sum:e}, so distances exceed 2147483647");
        return Err(InstanceError::content(name, problem, "divide all coordinates by the same number"));
    }
    Ok(())
}

/// The way back from the numbers that a file gives to its nodes.
pub(crate) enum NodeNumbers {
    /// Consecutive ones.
    From { first: u32, n: usize },
    /// Any others, sorted, with their nodes.
    Listed(Vec<(u32, u32)>),
}

impl NodeNumbers {
    /// The numbers `ids`, or 1 to n.
    pub(crate) fn new(n: usize, ids: Option<&[u32]>) -> NodeNumbers {
        match ids {
            None => NodeNumbers::From { first: 1, n },
            Some(ids) if ids.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(1)) => {
                NodeNumbers::From { first: ids[0], n }
            }
            Some(ids) => {
                let mut listed: Vec<_> = ids.iter().copied().zip(0..).collect();
                listed.sort_unstable();
                NodeNumbers::Listed(listed)
            }
        }
    }

    /// The node of a number.
    pub(crate) fn node(&self, id: u32) -> Option<u32> {
        match self {
            NodeNumbers::From { first, n } => id.checked_sub(*first).filter(|&node| (node as usize) < *n),
            NodeNumbers::Listed(listed) => {
                listed.binary_search_by_key(&id, |entry| entry.0).ok().map(|at| listed[at].1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Instance {
        let points = vec![[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [3.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
        Instance::from_points("square", Metric::Euc2d, points).unwrap()
    }

    #[test]
    fn points_of_any_extent_have_lengths_in_their_own_unit() {
        for scale in [1e-300, 1e-9, 0.3, 1.0, 7e4, 1e18] {
            let corners = [[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]];
            let points = corners.map(|[x, y]| [scale * (x - 10.0), scale * (y + 1.0)]);
            let instance = Instance::euclidean(&points).unwrap();
            let length = instance.length(instance.check_tour(&[0, 1, 2, 3]).unwrap());
            assert!((length / scale - 14.0).abs() < 1e-4, "{scale}: {length}");
        }
        // What is on the grid stays as it is.
        let grid = Instance::euclidean(&[[5.0, 5.0], [1_500_005.0, 5.0], [5.0, 7.0]]).unwrap();
        assert_eq!((grid.distance(0, 1), grid.length(3)), (1_500_000, 3.0));
        let one = Instance::euclidean(&[[2.5, f64::MAX]; 3]).unwrap();
        assert_eq!(one.length(one.check_tour(&[0, 2, 1]).unwrap()), 0.0);
        assert!(Instance::euclidean(&[]).is_err() && Instance::euclidean(&[[f64::NAN, 0.0]; 4]).is_err());
    }

    #[test]
    fn a_tour_is_closed() {
        assert_eq!(square().check_tour(&[0, 1, 2, 3]), Ok(14));
        assert_eq!(square().check_tour(&[2, 0, 1, 3]), Ok(5 + 3 + 5 + 3));
        let one = Instance::from_points("one", Metric::Euc2d, vec![[5.0; 3]]).unwrap();
        assert_eq!(one.check_tour(&[0]), Ok(0));
        let on_the_globe = Instance::from_points("one", Metric::Geo, vec![[48.8, 11.3, 0.0]]).unwrap();
        assert_eq!(on_the_globe.check_tour(&[0]), Ok(0));
    }

    #[test]
    fn a_list_that_is_no_tour_is_named() {
        assert_eq!(square().check_tour(&[0, 1]), Err(TourError::Length { found: 2, expected: 4 }));
        let error = square().check_tour(&[0, 1, 1, 3]).unwrap_err();
        assert_eq!(error, TourError::Repeated { node: 1, position: 2, missing: 2 });
        let error = square().check_tour(&[0, 4, 1, 3]).unwrap_err();
        assert_eq!(error, TourError::OutOfRange { node: 4, position: 1, last: 3 });
    }

    #[test]
    fn a_matrix_is_asymmetric_if_one_pair_is() {
        let symmetric = Instance::from_matrix("m", vec![9, 1, 2, 1, 9, 3, 2, 3, 9]).unwrap();
        assert!(symmetric.is_symmetric());
        assert_eq!(symmetric.distance(1, 1), 0);
        let asymmetric = Instance::from_matrix("m", vec![0, 1, 2, 1, 0, 3, 2, 4, 0]).unwrap();
        assert_eq!((asymmetric.kind(), asymmetric.is_symmetric()), (Kind::Atsp, false));
        assert_eq!(asymmetric.check_tour(&[0, 1, 2]), Ok(1 + 3 + 2));
        assert_eq!(asymmetric.check_tour(&[0, 2, 1]), Ok(2 + 4 + 1));
    }

    #[test]
    fn unsound_instances_are_refused() {
        let refused = |points| Instance::from_points("bad", Metric::Euc2d, points).unwrap_err().to_string();
        assert!(refused(vec![]).contains("0 nodes"));
        assert!(refused(vec![[0.0; 3], [f64::NAN, 0.0, 0.0]]).contains("node 1"));
        assert!(refused(vec![[0.0; 3], [3e9, 0.0, 0.0]]).contains("exceed 2147483647"));
        assert!(Instance::from_matrix("bad", vec![0; 5]).unwrap_err().to_string().contains("not square"));
        let error = Instance::from_points("bad", Metric::Geo, vec![[116.24, 39.54, 0.0]]).unwrap_err();
        assert!(error.to_string().contains("not on the earth"));
        let error = Instance::from_matrix("bad", vec![0, -1, 2, 0]).unwrap_err().to_string();
        assert!(error.contains("-1 from node 0 to node 1"));
    }

    #[test]
    fn fixed_edges_are_looked_for_both_ways() {
        let instance = square().with_fixed_edges(vec![(3, 0), (1, 2)]);
        assert_eq!(instance.unused_fixed_edge(&[0, 1, 2, 3]), None);
        assert_eq!(instance.unused_fixed_edge(&[0, 2, 1, 3]), None);
        assert_eq!(instance.unused_fixed_edge(&[0, 1, 3, 2]), Some((3, 0)));
    }

    #[test]
    fn many_fixed_edges_are_looked_for_at_once() {
        // Each in the whole tour would be a run of minutes.
        let n = 300_000_u32;
        let places = (0..n).map(|x| [f64::from(x), 0.0, 0.0]).collect();
        let line = Instance::from_points("line", Metric::Euc2d, places).unwrap();
        let fixed = line.with_fixed_edges((0..n).rev().map(|node| (node, (node + 1) % n)).collect());
        let mut tour: Vec<u32> = (0..n).collect();
        assert_eq!(fixed.unused_fixed_edge(&tour), None);
        tour.swap(7, 8);
        assert_eq!(fixed.unused_fixed_edge(&tour), Some((8, 9)));
    }
}
