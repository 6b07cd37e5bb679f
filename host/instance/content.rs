//! The content found in a file, before it becomes an instance.

use super::error::{InstanceError, Result, Text};
use super::model::Instance;
use super::read_options::ReadOptions;

/// The numbers that define a problem.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Places in the plane (2 dimensions) or in space (3).
    Places {
        /// 2 or 3.
        dimensions: usize,
        /// (x, y, z) of each place.
        points: Vec<[f64; 3]>,
    },
    /// Latitude and longitude of each place.
    Degrees(Vec<[f64; 2]>),
    /// The costs from each node to every other, row by row; infinite where there is no connection.
    Costs(Vec<f64>),
}

/// What was read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub content: Content,
    /// The numbers of the nodes, unless they are 1 to n.
    pub ids: Option<Vec<u32>>,
    pub names: Option<Vec<String>>,
    /// How the content was interpreted: `11 places from stops.csv: latitude "lat", longitude "lon"; great-circle metres`.
    pub line: String,
    pub warnings: Vec<String>,
    /// Whether costs apply to one direction, even if they are the same in both.
    pub is_directed: bool,
}

impl Reading {
    /// Creates the instance with this content; `file` is named in errors.
    pub fn into_instance(self, file: &str, name: &str) -> Result<Instance> {
        let instance = match self.content {
            Content::Places { dimensions, points } => Instance::from_places(name, dimensions, points),
            Content::Degrees(places) => Instance::from_degrees(name, places),
            Content::Costs(costs) => instance_of(name, costs),
        };
        let mut instance = instance.map_err(|error| in_file(file, error))?;
        if self.is_directed {
            instance = instance.into_atsp();
        }
        if let Some(ids) = self.ids {
            instance = instance.with_ids(ids);
        }
        if let Some(names) = self.names {
            instance = instance.with_names(names);
        }
        instance = instance.with_reading(self.line);
        Ok(self.warnings.into_iter().fold(instance, Instance::with_warning))
    }
}

/// Creates the instance with these costs, as 32-bit integers if they are.
pub fn instance_of(name: &str, costs: Vec<f64>) -> Result<Instance> {
    let n = costs.len().isqrt();
    let is_whole = |cost: f64| cost.fract() == 0.0 && (0.0..=f64::from(i32::MAX)).contains(&cost);
    let is_diagonal = |at: usize| n > 0 && at.is_multiple_of(n + 1);
    if costs.iter().enumerate().all(|(at, &cost)| is_whole(cost) || is_diagonal(at)) {
        return Instance::from_matrix(name, costs.into_iter().map(|cost| cost as i32).collect());
    }
    Instance::from_costs(name, costs)
}

/// Returns warnings about costs that some programs write for a missing connection: -1 as the only negative cost, or a number such
/// as 9999 far above all others.
pub fn odd_costs(costs: impl Iterator<Item = f64> + Clone, options: &ReadOptions, file: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut negative = costs.clone().filter(|&cost| cost < 0.0).peekable();
    if negative.peek().is_some() && negative.all(|cost| cost == -1.0) {
        warnings.push(format!("-1 is the only negative cost in {file}, and is read as a cost; write inf if it means that there is no connection"));
    }
    let finite = costs.filter(|cost| cost.is_finite());
    let most = finite.clone().fold(0.0, f64::max);
    let next = finite.filter(|&cost| cost < most).fold(0.0, f64::max);
    if options.forbidden_from.is_none() && may_be_no_way(most) && next > 0.0 && most > 3.0 * next {
        warnings.push(format!(
            "{most} in {file} is far above all other costs, and is read as a cost; if it means that there is no connection, use `--forbidden-from {most}`"
        ));
    }
    warnings
}

/// Returns whether this number is commonly used for a missing connection: all nines, a power of ten, or the maximum of a type.
pub fn may_be_no_way(cost: f64) -> bool {
    let largest = [15, 16, 31, 32, 63, 64].map(|bits| 2_f64.powi(bits));
    let is_ten = |cost: f64| (3..=308).any(|power| cost == 10_f64.powi(power));
    let near = [cost, cost + 1.0];
    cost >= 999.0
        && near.into_iter().any(|cost| is_ten(cost) || largest.contains(&cost) || cost == 2_f64.powi(30))
}

/// How plane coordinates could be degrees: all are in the range of latitudes and longitudes, and have decimals.
pub struct Degrees {
    /// Whether the first coordinate may be the latitude.
    pub lat_first: bool,
    /// Whether the second one may be.
    pub lon_first: bool,
}

impl Degrees {
    /// Returns `None` for coordinates that do not look like degrees, such as those in a unit square or with one decimal.
    pub fn of(points: &[[f64; 3]]) -> Option<Degrees> {
        let is_fine = |value: f64| ((value * 10.0).round() - value * 10.0).abs() > 1e-9;
        let fits = |lat: usize, lon: usize| {
            points.iter().all(|point| point[lat].abs() <= 90.0 && point[lon].abs() <= 180.0)
        };
        let all = || points.iter().flat_map(|point| [point[0], point[1]]);
        let (lat_first, lon_first) = (fits(0, 1), fits(1, 0));
        if !lat_first && !lon_first {
            return None;
        }
        let fine = all().filter(|&value| is_fine(value)).count();
        let is_wide = all().any(|value| value.abs() > 1.5);
        (is_wide && fine >= points.len()).then_some(Degrees { lat_first, lon_first })
    }
}

/// Makes the error name the file instead of the instance.
pub fn in_file(file: &str, error: InstanceError) -> InstanceError {
    match error {
        InstanceError::Content { problem, help, .. } => Text { file, bytes: b"" }.content(problem, help),
        other => other,
    }
}
