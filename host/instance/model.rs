//! An instance: nodes, their distances, and what is known about it.

mod forbidden;

use std::borrow::Cow;

use antwarp_core::metric::{self, Metric};
use rayon::prelude::*;

use super::error::{InstanceError, Result, TourError};
use super::globe;
use super::kd_tree::Cell;
use super::parallel;
use super::scale::{Scale, Unit, scaled};

/// Whether costs depend on the direction of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The symmetric travelling salesman problem.
    Tsp,
    /// The asymmetric one: the two directions between nodes may have different lengths.
    Atsp,
}

/// The ends of an open path; an end that is `None` may be any node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The first node of the path, numbered from 0.
    pub start: Option<u32>,
    /// The last node of the path, numbered from 0.
    pub end: Option<u32>,
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
    /// A matrix of internal costs: the distance from i to j is at index `i * n + j`.
    Matrix(Vec<i32>),
}

/// A problem to solve. Its nodes are numbered from 0.
///
/// Every instance is valid: coordinates are finite, no distance is negative or beyond `i32`, a matrix is square with a diagonal of
/// zeros, and fixed edges join nodes that exist.
///
/// ```
/// use antwarp_instance::Instance;
///
/// let square = Instance::euclidean(&[[0.0, 0.0], [0.5, 0.0], [0.5, 0.5], [0.0, 0.5]])?;
/// assert_eq!(square.tour_cost(&[0, 1, 2, 3]).as_f64(), 2.0);
///
/// // From each place (row) to each other (column); infinite: there is no connection.
/// let none = f64::INFINITY;
/// let streets = Instance::from_costs("streets", vec![0.0, 1.5, none, none, 0.0, 2.5, 3.0, none, 0.0])?;
/// assert!(!streets.is_symmetric());
/// assert_eq!(streets.tour_cost(&[0, 1, 2]).as_f64(), 7.0);
/// # Ok::<(), antwarp_instance::InstanceError>(())
/// ```
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
    names: Option<Vec<String>>,
    scale: Scale,
    unit: Unit,
    /// The internal cost of an edge that no tour should have.
    forbidden: Option<i32>,
    /// Places: the pairs that have this cost, sorted, the lower node first. A matrix has it as its entries.
    forbidden_pairs: Vec<(u32, u32)>,
    ends: Option<Ends>,
    /// Of a [closed form](super::form::Form): each node's partner, or nothing.
    partners: Vec<u32>,
    /// Of a closed form: whether the last node is the gap.
    has_gap: bool,
    /// Of a closed form: whether nodes with even and with odd numbers take turns in every tour.
    is_doubled: bool,
    notes: Notes,
}

/// Notes on how an instance was read. They are not part of the instance: two that differ in nothing else are equal.
#[derive(Clone, Debug, Default)]
struct Notes {
    reading: Option<String>,
    warnings: Vec<String>,
}

impl PartialEq for Notes {
    fn eq(&self, _: &Notes) -> bool {
        true
    }
}

/// The mean radius of the earth in metres, used for great-circle distances.
pub const MEAN_EARTH_RADIUS_M: f64 = 6_371_008.8;

/// Unrounded lengths are scaled to at most this many bits internally, so that the sum of two still fits 32 bits.
const LONGEST_BITS: i32 = 30;
/// The same for costs of a matrix with forbidden pairs, which must cost far more.
const LONGEST_BESIDE_FORBIDDEN_BITS: i32 = 27;
/// The longest cost beside which an edge that costs more than twice as much fits 32 bits.
const LONGEST_BESIDE_FORBIDDEN: i64 = (1 << LONGEST_BITS) - 1;
/// Points that a thread takes at a time.
const GRAIN: usize = 1 << 12;
/// Maximum number of decimals that is looked for in a matrix.
const MOST_DECIMALS: u32 = 9;

impl Instance {
    /// Creates an instance from these points with the distances of a metric, which are whole numbers; in the plane, z is treated as
    /// 0.
    ///
    /// # Errors
    /// If there are no points, a coordinate is not finite, a latitude or longitude is not on the earth, or the points extend so far
    /// that distances could exceed 32 bits.
    pub fn from_points(
        name: impl Into<String>,
        metric: Metric,
        mut points: Vec<[f64; 3]>,
    ) -> Result<Instance> {
        let name = name.into();
        check_points(&name, metric, &points)?;
        flatten(&mut points, metric);
        let len = points.len();
        Instance::sound(name, Kind::Tsp, Distances::Points { metric, points }, len)
    }

    /// Creates an instance from these points in the plane, with Euclidean distances that are not rounded: see
    /// [`Instance::from_places`].
    ///
    /// # Errors
    /// If there are no points, or a coordinate is not finite.
    pub fn euclidean(points: &[[f64; 2]]) -> Result<Instance> {
        Instance::from_places("points", 2, points.iter().map(|&[x, y]| [x, y, 0.0]).collect())
    }

    /// Creates an instance from a square matrix, row by row: asymmetric if the matrix is. The diagonal is ignored.
    ///
    /// # Errors
    /// If the matrix is not square, has no rows, or has a negative distance outside of the diagonal.
    pub fn from_matrix(name: impl Into<String>, mut matrix: Vec<i32>) -> Result<Instance> {
        let name = name.into();
        let n = square_root(&name, matrix.len())?;
        for i in 0..n {
            matrix[i * n + i] = 0;
        }
        if let Some(at) = matrix.iter().position(|&weight| weight < 0) {
            let problem =
                format!("the weight {} from node {} to node {} is negative", matrix[at], at / n, at % n);
            let help = "give the costs to `from_costs`, which shifts them";
            return Err(InstanceError::content(name, problem, help));
        }
        let kind = if first_asymmetry(&matrix, n).is_none() { Kind::Tsp } else { Kind::Atsp };
        Instance::sound(name, kind, Distances::Matrix(matrix), n)
    }

    /// Creates an instance from these places in the plane (`dimensions` 2) or in space (3), with Euclidean distances that are not
    /// rounded.
    ///
    /// As everywhere, edge costs are whole numbers internally. So the places are scaled by a power of two until they extend over
    /// about 2^30. [`Instance::tour_cost`] computes lengths from the places themselves.
    ///
    /// # Errors
    /// If there are no places, or a coordinate is not finite.
    pub fn from_places(
        name: impl Into<String>,
        dimensions: usize,
        places: Vec<[f64; 3]>,
    ) -> Result<Instance> {
        Instance::unrounded_points(
            name.into(),
            if dimensions == 3 { Metric::Euc3d } else { Metric::Euc2d },
            places,
        )
    }

    /// Creates an instance from these points, with a metric whose [length](metric::length) scales with the coordinates.
    fn unrounded_points(name: String, metric: Metric, mut points: Vec<[f64; 3]>) -> Result<Instance> {
        check_finite(&name, &points)?;
        flatten(&mut points, metric);
        let exponent = exponent_of(metric, &points);
        parallel::each_of(&mut points, GRAIN, &|_, point| *point = point.map(|c| scaled(c, -exponent)));
        let len = points.len();
        let instance = Instance::sound(name, Kind::Tsp, Distances::Points { metric, points }, len)?;
        Ok(Instance { scale: Scale::of_lengths(exponent), ..instance })
    }

    /// Creates an instance from these places on the earth, given as latitude and longitude in degrees, with great-circle distances
    /// in metres on a sphere of [`MEAN_EARTH_RADIUS_M`].
    ///
    /// # Errors
    /// If there are no places, or one is not on the earth.
    pub fn from_degrees(name: impl Into<String>, places: Vec<[f64; 2]>) -> Result<Instance> {
        let name = name.into();
        for (node, &[latitude, longitude]) in places.iter().enumerate() {
            if !(latitude.abs() <= 90.0 && longitude.abs() <= 360.0) {
                let problem = format!("place {} is at latitude {latitude}, longitude {longitude}", node + 1);
                let help =
                    "latitudes go from -90 to 90, longitudes from -180 to 180: give the latitude first";
                return Err(InstanceError::content(name, problem, help));
            }
        }
        let radians = places.iter().map(|place| place.map(f64::to_radians)).collect();
        let instance = Instance::on_sphere(name, MEAN_EARTH_RADIUS_M, radians)?;
        let display = places.into_iter().map(|[latitude, longitude]| [longitude, latitude]).collect();
        Ok(Instance { unit: Unit::Metres, ..instance.with_display(display) })
    }

    /// Creates an instance from these latitudes and longitudes in radians on a sphere.
    fn on_sphere(name: String, radius: f64, places: Vec<[f64; 2]>) -> Result<Instance> {
        let place = |&[latitude, longitude]: &[f64; 2]| {
            globe::on_unit_sphere(latitude, longitude).map(|c| radius * c)
        };
        Instance::unrounded_points(name, Metric::Sphere, places.iter().map(place).collect())
    }

    /// Creates an instance from a square matrix of costs, row by row: asymmetric if the matrix is. The diagonal is ignored. A cost
    /// that is infinite or not a number means that there is no connection; any other may be negative and have decimals.
    ///
    /// Costs with at most nine decimals are exact if they fit 32 bits. Others are rounded internally to a 2^30th of the largest
    /// one, or to a 2^27th if there are forbidden pairs.
    ///
    /// # Errors
    /// If the matrix is not square, has no rows, or all its costs are forbidden.
    pub fn from_costs<'a>(name: impl Into<String>, costs: impl Into<Cow<'a, [f64]>>) -> Result<Instance> {
        let (name, costs) = (name.into(), costs.into());
        let n = square_root(&name, costs.len())?;
        Instance::check_len(&name, n)?;
        let is_off_diagonal = |at: usize| at / n != at % n;
        let allowed = || {
            let cost = |(at, &cost): (usize, &f64)| (is_off_diagonal(at) && cost.is_finite()).then_some(cost);
            costs.iter().enumerate().filter_map(cost)
        };
        let has_forbidden =
            costs.iter().enumerate().any(|(at, cost)| is_off_diagonal(at) && !cost.is_finite());
        if has_forbidden && allowed().next().is_none() {
            let help = "give a cost for at least one pair";
            return Err(InstanceError::content(name, "every pair of nodes is forbidden", help));
        }
        let (low, high) = allowed()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), cost| (low.min(cost), high.max(cost)));
        let decimal = decimals_of(allowed()).and_then(|decimals| {
            decimal_scale(
                low,
                high,
                decimals,
                if has_forbidden { LONGEST_BESIDE_FORBIDDEN } else { i64::from(i32::MAX) },
            )
        });
        let scale = decimal.unwrap_or_else(|| binary_scale(low, high, has_forbidden));
        let inside = |cost: f64| match scale {
            Scale::Decimal { shift, decimals } => {
                (cost * 10_f64.powi(decimals as i32)).round() as i64 - shift
            }
            Scale::Binary { exponent, shift, .. } => scaled(cost - shift, -exponent).round() as i64,
        };
        let longest = if low <= high { inside(high) } else { 0 };
        let forbidden = has_forbidden.then(|| forbidden_cost(n, longest));
        let weight = |(at, &cost): (usize, &f64)| match forbidden {
            _ if !is_off_diagonal(at) => 0,
            Some(forbidden) if !cost.is_finite() => forbidden,
            _ => inside(cost) as i32,
        };
        let matrix: Vec<i32> = costs.iter().enumerate().map(weight).collect();
        // Use the user's costs, since rounding may hide a difference.
        let differs = |i: usize, j: usize| {
            let (there, back) = (costs[i * n + j], costs[j * n + i]);
            there != back && (there.is_finite() || back.is_finite())
        };
        let is_directed = (0..n).any(|i| (i + 1..n).any(|j| differs(i, j)));
        let kind = if is_directed { Kind::Atsp } else { Kind::Tsp };
        let scale = match scale {
            Scale::Binary { exponent, shift, .. } => {
                Scale::Binary { exponent, shift, costs: Some(costs.into_owned().into()) }
            }
            exact => exact,
        };
        let instance = Instance::sound(name, kind, Distances::Matrix(matrix), n)?;
        Ok(Instance { scale, forbidden, ..instance })
    }

    /// Returns the instance without TSPLIB's rounding of distances to whole numbers. A matrix stays as it is.
    ///
    /// # Errors
    /// If the distances are defined only with rounding (`XRAY1`, `XRAY2`).
    pub fn unrounded(self) -> Result<Instance> {
        let (metric, points) = match &self.distances {
            Distances::Points { metric, points } if self.is_exact() => (*metric, points.clone()),
            _ => return Ok(self),
        };
        let name = self.name.clone();
        let made = match metric {
            Metric::Euc2d | Metric::Ceil2d | Metric::Floor2d => {
                Instance::unrounded_points(name, Metric::Euc2d, points)
            }
            Metric::Att => {
                let shorter = |p: &[f64; 3]| p.map(|c| c / 10_f64.sqrt());
                Instance::unrounded_points(name, Metric::Euc2d, points.iter().map(shorter).collect())
            }
            Metric::Man2d | Metric::Max2d | Metric::Euc3d | Metric::Man3d | Metric::Max3d => {
                Instance::unrounded_points(name, metric, points)
            }
            Metric::Geo | Metric::Geom => {
                let radians = |p: &[f64; 3]| [p[0], p[1]].map(|c| globe::radians(metric, c));
                Instance::on_sphere(name, globe::radius(metric), points.iter().map(radians).collect())
            }
            Metric::Xray1 | Metric::Xray2 | Metric::Sphere => {
                let problem = format!("{} has only rounded distances", metric.keyword());
                return Err(InstanceError::content(name, problem, "leave out --unrounded"));
            }
        }?;
        let unit = match metric {
            Metric::Geo => Unit::Kilometres,
            Metric::Geom => Unit::Metres,
            _ => Unit::Own,
        };
        let display = self.degrees().or_else(|| self.display_points());
        let (distances, scale) = (made.distances, made.scale);
        let pairs = self.forbidden_pairs.clone();
        let forbidden_pairs = Vec::new();
        let instance = Instance { distances, scale, unit, display, forbidden: None, forbidden_pairs, ..self };
        instance.with_forbidden_pairs(pairs)
    }

    /// Returns the instance with a name for each node, which may be any text.
    ///
    /// # Panics
    /// If there is not one name per node.
    pub fn with_names(mut self, names: Vec<String>) -> Instance {
        assert_eq!(names.len(), self.len, "one name per node");
        self.names = Some(names);
        self
    }

    /// Returns the instance with a line that says how it was read: `11 places from stops.csv: latitude "lat", longitude "lon",
    /// names "name"`.
    pub fn with_reading(mut self, line: String) -> Instance {
        self.notes.reading = Some(line);
        self
    }

    /// Adds a warning for the user about how the file was read.
    pub fn with_warning(mut self, warning: String) -> Instance {
        self.notes.warnings.push(warning);
        self
    }

    /// Returns what was read and how it was interpreted; `None` unless the instance was read from a file.
    pub fn reading(&self) -> Option<&str> {
        self.notes.reading.as_deref()
    }

    /// Returns the warnings for the user about how the file was read.
    pub fn warnings(&self) -> &[String] {
        &self.notes.warnings
    }

    /// Returns the name of a node, or else its [number](Instance::id) in the file.
    pub fn label(&self, node: u32) -> String {
        self.names.as_ref().map_or_else(|| self.id(node).to_string(), |names| names[node as usize].clone())
    }

    /// Returns the names of the nodes, in the order of their numbers; `None` if they have none.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Returns the unit of the costs that the user sees; [`Instance::resolution`] says what an internal cost of 1 is in it.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    pub(super) fn scale(&self) -> &Scale {
        &self.scale
    }

    /// Returns the internal cost of forbidden edges; `None` if no edge is forbidden.
    pub fn forbidden(&self) -> Option<i32> {
        self.forbidden
    }

    /// Returns whether the edge from one node to the other is forbidden.
    ///
    /// # Panics
    /// If a node does not exist.
    pub fn is_forbidden(&self, from: u32, to: u32) -> bool {
        match &self.distances {
            Distances::Points { .. } => self.is_forbidden_pair(from, to),
            Distances::Matrix(_) => {
                from != to && self.forbidden.is_some_and(|forbidden| self.distance(from, to) == forbidden)
            }
        }
    }

    /// Returns whether two places are a forbidden pair.
    #[inline]
    fn is_forbidden_pair(&self, a: u32, b: u32) -> bool {
        !self.forbidden_pairs.is_empty() && self.forbidden_pairs.binary_search(&(a.min(b), a.max(b))).is_ok()
    }

    /// Rejects numbers of nodes that no instance can have.
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
            names: None,
            scale: Scale::NONE,
            unit: Unit::Own,
            forbidden: None,
            forbidden_pairs: Vec::new(),
            ends: None,
            partners: Vec::new(),
            has_gap: false,
            is_doubled: false,
            notes: Notes::default(),
        })
    }

    /// Makes a closed form of this instance: closed tours of these distances, with internal costs.
    /// `names` are this instance's numbers of its places, as far as they are places of this instance.
    pub(super) fn closed(
        &self,
        kind: Kind,
        distances: Distances,
        names: &[u32],
        (partners, has_gap): (Vec<u32>, bool),
    ) -> Instance {
        let len = match &distances {
            Distances::Points { points, .. } => points.len(),
            Distances::Matrix(matrix) => matrix.len().isqrt(),
        };
        let pairs = (0..).zip(partners.iter().copied());
        let fixed_edges =
            pairs.filter(|&(node, partner)| node < partner && partner != Self::NO_PARTNER).collect();
        Instance {
            name: self.name.clone(),
            comments: Vec::new(),
            kind,
            distances,
            len,
            display: None,
            fixed_edges,
            ids: None,
            names: None,
            scale: Scale::NONE,
            unit: self.unit,
            forbidden: self.forbidden,
            forbidden_pairs: self.forbidden_pairs_in(names),
            ends: None,
            partners,
            has_gap,
            is_doubled: false,
            notes: Notes::default(),
        }
    }

    /// Gives a closed form the scale of the instance from which it was made, if costs of the form are costs of the instance.
    pub(super) fn with_scale_of(mut self, other: &Instance) -> Instance {
        self.scale = other.scale.clone();
        self
    }

    /// Marks a closed form as [doubled](super::form::Form::doubled).
    pub(super) fn into_doubled(mut self) -> Instance {
        self.is_doubled = true;
        self
    }

    /// Returns whether a tour can have the edge between two nodes: not between two nodes of a doubled form that are both entered, or
    /// both left.
    pub fn has_edge(&self, a: u32, b: u32) -> bool {
        !self.is_doubled || (a ^ b) & 1 == 1
    }

    /// In [`Instance::partners`]: the node has no partner.
    pub const NO_PARTNER: u32 = u32::MAX;

    /// Returns, for each node of a [closed form](super::form::Form), the node at the other end of its fixed edge, or
    /// [`Instance::NO_PARTNER`]. `None` if no edge is fixed in this way.
    pub fn partners(&self) -> Option<&[u32]> {
        (!self.partners.is_empty()).then_some(&self.partners[..])
    }

    /// Returns the gap of a [closed form](super::form::Form), its last node: it stands for the part of a closed tour that is missing
    /// in an open path, and its distance to all nodes is 0.
    pub fn gap(&self) -> Option<u32> {
        self.has_gap.then(|| self.len as u32 - 1)
    }

    /// Returns a closed form without its gap.
    ///
    /// # Panics
    /// If there is no gap.
    #[must_use]
    pub fn without_gap(&self) -> Instance {
        assert!(self.has_gap, "there is a gap");
        let n = self.len - 1;
        let distances = match &self.distances {
            Distances::Points { metric, points } => {
                Distances::Points { metric: *metric, points: points[..n].to_vec() }
            }
            Distances::Matrix(matrix) => Distances::Matrix(
                matrix.chunks_exact(self.len).take(n).flat_map(|row| &row[..n]).copied().collect(),
            ),
        };
        let partners = self.partners.iter().take(n);
        let partners =
            partners.map(|&partner| if partner as usize == n { Instance::NO_PARTNER } else { partner });
        let names: Vec<u32> = (0..n as u32).collect();
        self.closed(self.kind, distances, &names, (partners.collect(), false))
    }

    /// Returns the instance with these comments.
    pub fn with_comments(mut self, comments: Vec<String>) -> Instance {
        self.comments = comments;
        self
    }

    /// Returns the instance with a place in a picture for each node: x to the right, y upwards.
    ///
    /// # Panics
    /// If there is not one place per node.
    pub fn with_display(mut self, display: Vec<[f64; 2]>) -> Instance {
        assert_eq!(display.len(), self.len, "one place per node");
        self.display = Some(display);
        self
    }

    /// Returns the instance with the numbers that its file gives to the nodes.
    ///
    /// # Panics
    /// If there is not one number per node.
    pub fn with_ids(mut self, ids: Vec<u32>) -> Instance {
        assert_eq!(ids.len(), self.len, "one number per node");
        self.ids = Some(ids);
        self
    }

    /// Returns the instance with edges that tours must use: in the given direction unless the instance
    /// [is symmetric](Instance::is_symmetric). [`Instance::check_shape`] says whether a tour can have all of them.
    ///
    /// # Panics
    /// If an edge joins a node that does not exist.
    pub fn with_fixed_edges(mut self, edges: Vec<(u32, u32)>) -> Instance {
        assert!(edges.iter().all(|&(a, b)| (a.max(b) as usize) < self.len), "fixed edges join nodes");
        self.fixed_edges = edges;
        self
    }

    /// Returns the instance with open paths from one end to the other as tours; or, without ends, with closed tours.
    ///
    /// # Panics
    /// If an end does not exist.
    pub fn with_ends(mut self, ends: Option<Ends>) -> Instance {
        let nodes = ends.into_iter().flat_map(|ends| [ends.start, ends.end]).flatten();
        assert!(nodes.into_iter().all(|node| (node as usize) < self.len), "ends are nodes");
        self.ends = ends;
        self
    }

    /// Returns the ends of its tours if they are open paths; `None` if they are closed.
    pub fn ends(&self) -> Option<Ends> {
        self.ends
    }

    /// Returns the instance marked as asymmetric, even if its distances are symmetric.
    #[must_use]
    pub fn into_atsp(mut self) -> Instance {
        self.kind = Kind::Atsp;
        self
    }

    /// Returns the instance with its nodes renumbered in this order; `None` if distances come from a matrix. Information other than
    /// the distances and forbidden pairs is left out. The [gap](Instance::gap) must stay the last node.
    ///
    /// # Panics
    /// If a node of the order does not exist.
    pub fn renumbered(&self, order: &[u32]) -> Option<Instance> {
        let from = self.points()?;
        let points = parallel::collect(order.len(), &|index| from[order[index] as usize]);
        Some(Instance {
            name: self.name.clone(),
            comments: Vec::new(),
            kind: self.kind,
            distances: Distances::Points { metric: self.metric()?, points },
            len: order.len(),
            display: None,
            fixed_edges: Vec::new(),
            ids: None,
            names: None,
            scale: self.scale.clone(),
            unit: self.unit,
            forbidden: self.forbidden,
            forbidden_pairs: self.forbidden_pairs_in(order),
            ends: self.ends,
            partners: self.partners().map_or_else(Vec::new, |partners| {
                let numbers = parallel::inverse(order);
                let partner = |&node: &u32| match partners[node as usize] {
                    Instance::NO_PARTNER => Instance::NO_PARTNER,
                    partner => numbers[partner as usize],
                };
                order.iter().map(partner).collect()
            }),
            has_gap: self.has_gap,
            is_doubled: self.is_doubled,
            notes: Notes::default(),
        })
    }

    /// Returns its name: that in the file, or the one given when it was made.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the comments of its file.
    pub fn comments(&self) -> &[String] {
        &self.comments
    }

    /// Returns whether costs depend on the direction of an edge.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns where its distances come from.
    pub fn distances(&self) -> &Distances {
        &self.distances
    }

    /// Returns the number of nodes, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "an instance has nodes")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether every distance is the same in both directions. A matrix marked as asymmetric counts as asymmetric.
    pub fn is_symmetric(&self) -> bool {
        self.kind == Kind::Tsp || self.metric().is_some()
    }

    /// Returns the function of its coordinates; `None` if its distances come from a matrix.
    pub fn metric(&self) -> Option<Metric> {
        match self.distances {
            Distances::Points { metric, .. } => Some(metric),
            Distances::Matrix(_) => None,
        }
    }

    /// Returns the coordinates of all nodes; `None` if its distances come from a matrix. Where lengths are not rounded, these are
    /// scaled: [`Instance::given_points`] returns them as they were given.
    pub fn points(&self) -> Option<&[[f64; 3]]> {
        match &self.distances {
            Distances::Points { points, .. } => Some(points),
            Distances::Matrix(_) => None,
        }
    }

    /// Returns the distance matrix, n x n internal costs, row by row; `None` if its distances come from coordinates.
    pub fn matrix(&self) -> Option<&[i32]> {
        match &self.distances {
            Distances::Points { .. } => None,
            Distances::Matrix(matrix) => Some(matrix),
        }
    }

    /// Returns the places to draw the nodes at, x to the right and y upwards; `None` if the instance has neither such places nor
    /// coordinates.
    pub fn display_points(&self) -> Option<Vec<[f64; 2]>> {
        if self.display.is_some() {
            return self.display.clone();
        }
        let Distances::Points { metric, points } = &self.distances else { return None };
        // Latitude goes up the page; degrees and minutes are close enough to decimals for a picture.
        let exponent = if let Scale::Binary { exponent, .. } = self.scale { exponent } else { 0 };
        let place = |p: &[f64; 3]| if metric.is_in_degrees() { [p[1], p[0]] } else { [p[0], p[1]] };
        Some(points.iter().map(|p| place(p).map(|c| scaled(c, exponent))).collect())
    }

    /// Returns the longitude and latitude of each node, in this order, in decimal degrees; `None` if they are not places on the
    /// globe.
    pub fn degrees(&self) -> Option<Vec<[f64; 2]>> {
        match &self.distances {
            Distances::Points { metric: metric @ (Metric::Geo | Metric::Geom), points } => {
                let degrees = |coordinate| match metric {
                    Metric::Geo => globe::radians(*metric, coordinate).to_degrees(),
                    _ => coordinate,
                };
                Some(points.iter().map(|p| [p[1], p[0]].map(degrees)).collect())
            }
            Distances::Points { metric: Metric::Sphere, .. } => self.display.clone(),
            _ => None,
        }
    }

    /// Returns the edges that a tour must use, as pairs of nodes from 0. Their lengths count.
    pub fn fixed_edges(&self) -> &[(u32, u32)] {
        &self.fixed_edges
    }

    /// Returns the number of a node in the instance's file: its own number plus 1 unless the file says otherwise.
    pub fn id(&self, node: u32) -> u32 {
        self.ids.as_ref().map_or(node + 1, |ids| ids[node as usize])
    }

    /// Returns the numbers of all nodes in the file; `None` if they are 1 to n.
    pub fn ids(&self) -> Option<&[u32]> {
        self.ids.as_deref()
    }

    /// Returns the mapping from the numbers in the file to nodes.
    pub fn node_numbers(&self) -> NodeNumbers {
        NodeNumbers::new(self.len, self.ids())
    }

    /// Returns the distance from node `i` to node `j`, an internal cost; [`Instance::edge_cost`] returns the cost in the user's
    /// unit.
    ///
    /// # Panics
    /// If a node does not exist.
    #[inline]
    pub fn distance(&self, i: u32, j: u32) -> i32 {
        let (i, j) = (i as usize, j as usize);
        match &self.distances {
            Distances::Points { metric, points } => match self.forbidden {
                Some(forbidden) if self.is_forbidden_pair(i as u32, j as u32) => forbidden,
                _ => metric::distance(*metric, points[i], points[j]),
            },
            Distances::Matrix(matrix) => {
                assert!(j < self.len, "node {j} of {}", self.len);
                matrix[i * self.len + j]
            }
        }
    }

    /// Checks that a list visits every node once, and returns the internal cost of the tour; [`Instance::tour_cost`] returns the
    /// cost in the user's unit. [`Instance::fault`] checks ends, fixed edges and forbidden pairs.
    ///
    /// # Errors
    /// If the list has another length, a node that does not exist, or a node twice.
    pub fn check_tour(&self, tour: &[u32]) -> std::result::Result<i64, TourError> {
        check_permutation(tour, self.len)?;
        if self.len == 1 {
            // A place on the globe is a kilometre from itself, but there is no edge to traverse.
            return Ok(0);
        }
        let length = |a: u32, b: u32| i64::from(self.distance(a, b));
        let steps = tour.par_windows(2).with_min_len(1 << 14).map(|step| length(step[0], step[1]));
        let home = if self.ends.is_some() { 0 } else { length(tour[tour.len() - 1], tour[0]) };
        Ok(steps.sum::<i64>() + home)
    }

    /// Returns the first fixed edge that a tour does not use; `None` if it uses all of them.
    ///
    /// # Panics
    /// If the tour has a node that does not exist.
    pub fn unused_fixed_edge(&self, tour: &[u32]) -> Option<(u32, u32)> {
        let mut position = vec![0; self.len];
        (0..).zip(tour).for_each(|(at, &node)| position[node as usize] = at);
        let last = if self.ends.is_some() { self.len } else { 0 };
        let next = |at: usize| if at + 1 == self.len { last } else { at + 1 };
        let follows = |a: u32, b: u32| next(position[a as usize]) == position[b as usize];
        let is_undirected = self.is_symmetric();
        let uses = |(a, b): (u32, u32)| follows(a, b) || is_undirected && follows(b, a);
        self.fixed_edges.iter().copied().find(|&edge| !uses(edge))
    }
}

/// Checks that each number below `n` appears in `tour` exactly once.
pub(super) fn check_permutation(tour: &[u32], n: usize) -> std::result::Result<(), TourError> {
    if tour.len() != n {
        return Err(TourError::Length { found: tour.len(), expected: n });
    }
    if parallel::is_permutation(tour) {
        return Ok(());
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
    // There are as many positions as nodes: a node is missing exactly if one is repeated.
    match (repeated, seen.iter().position(|&seen| !seen)) {
        (Some((node, position)), Some(missing)) => {
            Err(TourError::Repeated { node, position, missing: missing as u32 })
        }
        _ => Ok(()),
    }
}

/// Returns the first pair of nodes, row by row, whose distance depends on the direction, in a matrix of n x n distances; `None` if
/// it is symmetric.
pub fn first_asymmetry(matrix: &[i32], n: usize) -> Option<(usize, usize)> {
    (0..n).find_map(|i| (i + 1..n).find(|&j| matrix[i * n + j] != matrix[j * n + i]).map(|j| (i, j)))
}

/// Returns the number of rows of a square matrix with this many entries.
fn square_root(name: &str, entries: usize) -> Result<usize> {
    let n = entries.isqrt();
    if n * n == entries {
        return Ok(n);
    }
    let problem = format!("a matrix of {entries} weights is not square");
    Err(InstanceError::content(name, problem, "give every node a row and a column"))
}

/// Rejects coordinates that are not finite numbers.
fn check_finite(name: &str, points: &[[f64; 3]]) -> Result<()> {
    match parallel::first(points.len(), &|node| !points[node].iter().all(|c| c.is_finite())) {
        None => Ok(()),
        Some(node) => {
            let problem = format!("node {node} has a coordinate that is not a finite number");
            Err(InstanceError::content(name, problem, "give every node finite coordinates"))
        }
    }
}

/// Returns the power of two that corresponds to an internal length of 1, so that the longest internal length is below 2^30.
fn exponent_of(metric: Metric, points: &[[f64; 3]]) -> i32 {
    // Use halves: the full extent could overflow.
    let Cell { low, high } = Cell::around(points);
    let half = |axis: usize| 0.5 * high[axis] - 0.5 * low[axis];
    let halves = [0, 1, 2].map(half);
    let widest = halves.into_iter().fold(0.0, f64::max);
    if !(widest > 0.0 && widest.is_finite()) {
        return 0;
    }
    let magnitude = exponent_above(widest);
    let parts = halves.map(|half| scaled(half, -magnitude));
    let longest = match metric {
        Metric::Man2d | Metric::Man3d => parts.iter().sum(),
        // An arc is at most a semicircle over its chord.
        Metric::Sphere => 1.6 * parts.iter().map(|part| part * part).sum::<f64>().sqrt(),
        _ => parts.iter().map(|part| part * part).sum::<f64>().sqrt(),
    };
    magnitude + 1 + exponent_above(longest) - LONGEST_BITS
}

/// Returns the exponent of the smallest power of two that is not below a positive number.
fn exponent_above(value: f64) -> i32 {
    // For subnormal numbers the logarithm is accurate, but its powers are not.
    let mut exponent = value.log2().ceil() as i32;
    if scaled(1.0, exponent) < value {
        exponent += 1;
    }
    exponent
}

/// Returns the smallest number of decimals that represents all of these exactly.
fn decimals_of(costs: impl Iterator<Item = f64>) -> Option<u32> {
    let mut decimals = 0;
    for cost in costs {
        let fits = |decimals: &u32| {
            let factor = 10_f64.powi(*decimals as i32);
            (cost * factor).round() / factor == cost && (cost * factor).abs() < 2_f64.powi(53)
        };
        decimals = (decimals..=MOST_DECIMALS).find(fits)?;
    }
    Some(decimals)
}

/// Returns the exact scale of costs from `low` to `high` with this many decimals, if none is above `most` internally.
fn decimal_scale(low: f64, high: f64, decimals: u32, most: i64) -> Option<Scale> {
    if low > high {
        return Some(Scale::NONE);
    }
    let whole = |cost: f64| (cost * 10_f64.powi(decimals as i32)).round() as i64;
    let (low, high) = (whole(low), whole(high));
    // Costs that are neither negative nor too large stay as they are.
    let shift = if low >= 0 && high <= most { 0 } else { low };
    (high - shift <= most).then_some(Scale::Decimal { shift, decimals })
}

/// Returns the scale of costs that are rounded internally.
fn binary_scale(low: f64, high: f64, has_forbidden: bool) -> Scale {
    let shift = if low < 0.0 { low } else { 0.0 };
    let bits = if has_forbidden { LONGEST_BESIDE_FORBIDDEN_BITS } else { LONGEST_BITS };
    Scale::Binary { exponent: exponent_above(high - shift) - bits, shift, costs: None }
}

/// Returns the internal cost of a forbidden edge: more than any tour without one, if that fits; always far more than any other
/// edge.
fn forbidden_cost(n: usize, longest: i64) -> i32 {
    let tour = (longest + 1).saturating_mul(n as i64);
    tour.clamp(2 * longest + 1, i64::from(i32::MAX)).min(i64::from(i32::MAX)) as i32
}

/// Sets the coordinates that the metric does not use to 0.
fn flatten(points: &mut [[f64; 3]], metric: Metric) {
    let axes = metric.dimensions();
    parallel::each_of(points, GRAIN, &|_, point| point[axes..].fill(0.0));
}

/// Rejects coordinates from which no distance can be computed.
fn check_points(name: &str, metric: Metric, points: &[[f64; 3]]) -> Result<()> {
    check_finite(name, points)?;
    if metric.is_in_degrees() {
        let is_beyond = |point: &&[f64; 3]| point[0].abs() > 90.0 || point[1].abs() > 360.0;
        if let Some((node, point)) = points.iter().enumerate().find(|(_, point)| is_beyond(point)) {
            let problem = format!("node {node} is at {} {}, which is not on the earth", point[0], point[1]);
            let help = if metric == Metric::Geo {
                "write the latitude first, from -90 to 90, then the longitude, as degrees.minutes"
            } else {
                "write the latitude first, from -90 to 90, then the longitude, in degrees"
            };
            return Err(InstanceError::content(name, problem, help));
        }
    }
    let (sum, longest) = extent(metric, points);
    if longest >= f64::from(i32::MAX) {
        let problem = format!("the coordinates spread over {sum:e}, so distances exceed 2147483647");
        return Err(InstanceError::content(name, problem, "divide all coordinates by the same number"));
    }
    Ok(())
}

/// Returns how far points extend along all axes together, and a length that no distance between them exceeds before it is rounded.
fn extent(metric: Metric, points: &[[f64; 3]]) -> (f64, f64) {
    let Cell { low, high } = Cell::around(points);
    // No two points are further apart than the corners of their bounding box, except on a globe; XRAY counts in hundredths.
    let sum: f64 = (0..metric.dimensions()).map(|axis| (high[axis] - low[axis]).max(0.0)).sum();
    let longest = match metric {
        Metric::Geo | Metric::Geom => std::f64::consts::PI * globe::radius(metric),
        Metric::Xray1 | Metric::Xray2 => 100.0 * sum,
        // An arc is at most a semicircle over its chord.
        Metric::Sphere => 1.6 * sum,
        _ => sum,
    };
    (sum, longest)
}

/// A mapping from the numbers that a file gives to its nodes back to the nodes.
pub enum NodeNumbers {
    /// Consecutive numbers: those of `n` nodes, from `first` on.
    From { first: u32, n: usize },
    /// Any other numbers, sorted, with their nodes.
    Listed(Vec<(u32, u32)>),
}

impl NodeNumbers {
    /// Creates the mapping for nodes with the numbers `ids`, in the order of the nodes; without `ids`, for 1 to n.
    pub fn new(n: usize, ids: Option<&[u32]>) -> NodeNumbers {
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

    /// Returns the node with this number; `None` if no node has it.
    pub fn node(&self, id: u32) -> Option<u32> {
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
    use crate::Cost;

    fn square() -> Instance {
        let points = vec![[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [3.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
        Instance::from_points("square", Metric::Euc2d, points).unwrap()
    }

    #[test]
    fn points_of_any_extent_have_lengths_in_their_own_unit() {
        for scale in [1e-320, 1e-309, 1e-300, 1e-9, 0.3, 1.0, 7e4, 1e18, 1e307] {
            let corners = [[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]];
            let points = corners.map(|[x, y]| [scale * (x - 10.0), scale * (y + 1.0)]);
            let instance = Instance::euclidean(&points).unwrap();
            let tour = [0, 1, 2, 3];
            let length = instance.tour_cost(&tour).as_f64();
            let nearly = if scale < 1e-305 { 2e-4 } else { 1e-12 };
            assert!((length / scale - 14.0).abs() < 14.0 * nearly, "{scale}: {length}");
            let inside = instance.cost(instance.check_tour(&tour).unwrap()).as_f64();
            assert!((inside / length - 1.0).abs() < 1e-8 + nearly, "{scale}: {inside}");
            let longest = instance.distance(0, 2);
            assert!((1 << 28..1 << 30).contains(&longest), "{scale}: {longest}");
        }
        let one = Instance::euclidean(&[[2.5, f64::MAX]; 3]).unwrap();
        assert_eq!(one.tour_cost(&[0, 2, 1]).as_f64(), 0.0);
        let far = Instance::euclidean(&[[-f64::MAX, 0.0], [f64::MAX, 0.0], [0.0, f64::MAX]]).unwrap();
        assert!(far.distance(0, 1) > 1 << 28);
        assert!(Instance::euclidean(&[]).is_err() && Instance::euclidean(&[[f64::NAN, 0.0]; 4]).is_err());
    }

    #[test]
    fn degrees_are_metres_along_great_circles() {
        let stops =
            vec![[52.52, 13.41], [48.86, 2.35], [41.89, 12.48], [0.0, 179.5], [0.0, -179.5], [90.0, 0.0]];
        let instance = Instance::from_degrees("stops", stops.clone()).unwrap();
        let haversine = |[a, b]: [f64; 2], [c, d]: [f64; 2]| {
            let [a, b, c, d] = [a, b, c, d].map(f64::to_radians);
            let half = ((c - a) / 2.0).sin().powi(2) + a.cos() * c.cos() * ((d - b) / 2.0).sin().powi(2);
            2.0 * MEAN_EARTH_RADIUS_M * half.sqrt().asin()
        };
        for i in 0..6 {
            for j in (0..6).filter(|&j| j != i) {
                let expected = haversine(stops[i], stops[j]);
                let length = instance.edge_cost(i as u32, j as u32);
                assert!((length - expected).abs() < 1e-6, "{i} {j}: {length}, {expected}");
                let inside = f64::from(instance.distance(i as u32, j as u32)) * instance.resolution();
                assert!((inside - length).abs() <= instance.resolution());
            }
        }
        assert_eq!(instance.unit(), Unit::Metres);
        assert_eq!(instance.display_points().unwrap()[1], [2.35, 48.86]);
        assert!(Instance::from_degrees("x", vec![[151.21, 1.0]]).is_err());
    }

    #[test]
    fn decimals_of_a_matrix_are_exact() {
        let instance = Instance::from_costs("m", vec![0.0, 10.25, 15.5, 10.25, 9.0, 0.125, 15.5, 0.125, 0.0]);
        let instance = instance.unwrap();
        assert!(instance.is_exact() && instance.is_symmetric());
        assert_eq!(instance.check_tour(&[0, 1, 2]), Ok(25_875));
        assert_eq!(instance.tour_cost(&[0, 1, 2]), Cost::Real(25.875));
        assert_eq!((instance.inside(25.875), instance.inside(25.8749)), (25_875, 25_874));
        let whole = Instance::from_costs("m", vec![0.0, 3.0, 4.0, 0.0]).unwrap();
        assert_eq!((whole.is_as_given(), whole.tour_cost(&[0, 1])), (true, Cost::Whole(7)));
        // Few decimals, but too large for 32 bits: the same amount is subtracted from all.
        let far = [1e12, 1e12 + 0.5, 1e12 + 7.0, 1e12 + 3.0];
        let costs = vec![0.0, far[0], far[1], far[0], 0.0, far[2], far[1], far[2], 0.0];
        let shifted = Instance::from_costs("m", costs).unwrap();
        assert!(shifted.is_exact());
        assert_eq!(shifted.tour_cost(&[0, 1, 2]), Cost::Real(3e12 + 7.5));
    }

    #[test]
    fn negative_costs_are_shifted_inside_alone() {
        let instance =
            Instance::from_costs("m", vec![0.0, -5.0, 2.0, 1.0, 0.0, -3.0, 4.0, 0.0, 0.0]).unwrap();
        assert!(!instance.is_symmetric() && instance.matrix().unwrap().iter().all(|&w| w >= 0));
        assert_eq!(instance.tour_cost(&[0, 1, 2]), Cost::Whole(-5 - 3 + 4));
        let inside = instance.check_tour(&[0, 1, 2]).unwrap();
        assert_eq!(instance.cost(inside), Cost::Whole(-4));
        assert_eq!(instance.inside(-4.0), inside);
        assert_eq!(instance.lower_bound(inside), Cost::Whole(-4));
    }

    #[test]
    fn costs_that_are_no_decimals_are_rounded_inside_alone() {
        let third = 1.0 / 3.0;
        let instance =
            Instance::from_costs("m", vec![0.0, third, 0.7, third, 0.0, 1e3, 0.7, 1e3, 0.0]).unwrap();
        assert!(!instance.is_exact());
        assert!((instance.tour_cost(&[0, 1, 2]).as_f64() - (third + 1e3 + 0.7)).abs() < 1e-12);
        let (inside, true_cost) = (instance.check_tour(&[0, 1, 2]).unwrap(), third + 1e3 + 0.7);
        assert!(instance.lower_bound(inside).as_f64() < true_cost);
        assert!(instance.lower_bound(inside).as_f64() > true_cost - 1e-5);
        assert!(instance.inside(true_cost) < inside && instance.inside(true_cost + 1e-5) >= inside);
    }

    #[test]
    fn forbidden_pairs_are_left_out_of_costs() {
        let no = f64::INFINITY;
        let costs = vec![0.0, 1.5, no, 1.5, 0.0, 2.0, f64::NAN, 2.0, 0.0];
        let instance = Instance::from_costs("m", costs).unwrap();
        assert!(instance.is_symmetric() && instance.is_forbidden(0, 2) && !instance.is_forbidden(0, 1));
        assert!(!instance.is_forbidden(1, 1));
        assert_eq!(instance.forbidden_steps(&[0, 1, 2]), [(2, 0)]);
        assert_eq!(instance.tour_cost(&[0, 1, 2]), Cost::Real(3.5));
        let inside = instance.check_tour(&[0, 1, 2]).unwrap();
        assert!(instance.may_be_forbidden(inside) && instance.is_impossible(inside));
        assert!(!instance.is_impossible(i64::from(instance.distance(1, 2)) * 3));
        assert!(Instance::from_costs("m", vec![0.0, no, no, 0.0]).is_err());
        // However large the other costs are.
        let long = Instance::from_costs("m", vec![0.0, 1e9, no, 1e9, 0.0, 0.5, no, 0.5, 0.0]).unwrap();
        assert!(long.forbidden().unwrap() > 2 * long.distance(0, 1));
    }

    #[test]
    fn rounding_can_be_taken_back() {
        let unit = vec![[0.85, 0.77, 0.0], [1.0, 0.47, 0.0], [0.1, 0.56, 0.0]];
        let rounded = Instance::from_points("unit", Metric::Euc2d, unit).unwrap();
        let true_length = rounded.clone().unrounded().unwrap().tour_cost(&[0, 1, 2]).as_f64();
        assert!((true_length - (0.335_410_2 + 0.904_488_8 + 0.778_845_3)).abs() < 1e-6, "{true_length}");
        let town = vec![[16.47, 96.10, 0.0], [16.47, 94.44, 0.0], [20.09, 92.54, 0.0]];
        let geo = Instance::from_points("town", Metric::Geo, town).unwrap();
        let (inside, real) = (geo.check_tour(&[0, 1, 2]).unwrap(), geo.clone().unrounded().unwrap());
        let length = real.tour_cost(&[0, 1, 2]).as_f64();
        assert!((0.0..=3.0).contains(&(inside as f64 - length)), "{inside} {length}");
        assert_eq!(real.unit(), Unit::Kilometres);
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
        // Searching the whole tour for each would take minutes.
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
