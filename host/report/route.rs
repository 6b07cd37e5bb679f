//! A tour as a route: its places in tour order, with the cost of each step and the cost so far.

use serde::{Deserialize, Serialize};

use crate::instance::{Cost, Instance};

/// What the coordinates of places are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coordinates {
    /// Longitude and latitude in degrees.
    Degrees,
    /// x to the right and y upwards.
    Plane,
}

/// A tour of an instance, as its outputs need it.
pub struct Route<'a> {
    /// The instance that the tour is of.
    pub instance: &'a Instance,
    /// The nodes, numbered from 0, in tour order.
    pub tour: &'a [u32],
    /// One place per node, in the order of their numbers, if there are any.
    pub places: Option<(Coordinates, Vec<[f64; 2]>)>,
    /// One name per node, in the same order, if there are any.
    pub names: Option<&'a [String]>,
    /// Whether the user chose the place where a closed tour starts.
    pub is_start_chosen: bool,
}

/// A place where the route stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Its position in the tour, from 1. The return to the first place of a closed tour comes last.
    pub position: usize,
    /// The node, numbered from 0.
    pub node: u32,
    /// Where it is, if that is known.
    pub place: Option<[f64; 2]>,
    /// The cost from the previous place in the user's unit; 0 for the first place, infinite for a forbidden edge.
    pub leg: f64,
    /// The cost so far in the user's unit, without forbidden edges.
    pub total: f64,
}

/// Returns the place of each node, and what its coordinates are.
pub(super) fn places(instance: &Instance) -> Option<(Coordinates, Vec<[f64; 2]>)> {
    match instance.degrees() {
        Some(places) => Some((Coordinates::Degrees, places)),
        None => instance.display_points().map(|places| (Coordinates::Plane, places)),
    }
}

impl<'a> Route<'a> {
    /// Creates the route of a tour.
    pub fn new(instance: &'a Instance, tour: &'a [u32]) -> Route<'a> {
        Route { instance, tour, places: places(instance), names: instance.names(), is_start_chosen: false }
    }

    /// Returns the name of a node, or else its number in the file.
    pub fn label(&self, node: u32) -> String {
        self.names.map_or_else(|| self.instance.id(node).to_string(), |names| names[node as usize].clone())
    }

    /// Returns the longitude and latitude of each node, in the order of their numbers; `None` if they are not known.
    pub fn degrees(&self) -> Option<&[[f64; 2]]> {
        match &self.places {
            Some((Coordinates::Degrees, places)) => Some(places),
            _ => None,
        }
    }

    /// Returns whether the route ends where it starts.
    pub fn is_closed(&self) -> bool {
        self.instance.ends().is_none()
    }

    /// Returns the cost of each edge in the user's unit, in tour order; infinite for a forbidden one.
    pub fn legs(&self) -> impl Iterator<Item = f64> {
        self.instance.edges(self.tour).map(|(from, to)| self.instance.edge_cost(from, to))
    }

    /// Returns the stops. A closed route ends with its first place.
    pub fn stops(&self) -> impl Iterator<Item = Stop> {
        let home = self.is_closed().then(|| self.tour.first()).flatten();
        let mut total = 0.0;
        let legs = std::iter::once(0.0).chain(self.legs()).chain(std::iter::repeat(0.0));
        let nodes = self.tour.iter().chain(home).copied();
        (1..).zip(nodes.zip(legs)).map(move |(position, (node, leg))| {
            total += if leg.is_finite() { leg } else { 0.0 };
            let place = self.places.as_ref().map(|(_, places)| places[node as usize]);
            Stop { position, node, place, leg, total }
        })
    }

    /// Returns the lines of the route through places on the globe. A line that crosses the 180th meridian is cut there, as GeoJSON
    /// asks for it (RFC 7946, 3.1.9). `None` without longitudes and latitudes.
    pub fn lines(&self) -> Option<Vec<Vec<[f64; 2]>>> {
        self.degrees()?;
        let mut lines: Vec<Vec<[f64; 2]>> = vec![Vec::new()];
        for to in self.stops().filter_map(|stop| stop.place).map(|[x, y]| [within_180(x), y]) {
            let Some(line) = lines.last_mut() else { break };
            if let Some(&from) = line.last()
                && (from[0] - to[0]).abs() > 180.0
            {
                let edge = 180.0_f64.copysign(from[0]);
                let beyond = to[0] + 2.0 * edge;
                let share = if beyond == from[0] { 0.0 } else { (edge - from[0]) / (beyond - from[0]) };
                let latitude = from[1] + share * (to[1] - from[1]);
                line.push([edge, latitude]);
                lines.push(vec![[-edge, latitude]]);
            }
            if let Some(line) = lines.last_mut() {
                line.push(to);
            }
        }
        Some(lines)
    }
}

/// Returns the same longitude from -180 to 180.
pub(super) fn within_180(longitude: f64) -> f64 {
    if longitude.abs() <= 180.0 { longitude } else { longitude - 360.0 * (longitude / 360.0).round() }
}

/// Formats a cost; empty for a forbidden edge.
pub(super) fn shown(cost: f64) -> String {
    if cost.is_finite() { Cost::Real(cost).to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::Ends;

    #[test]
    fn a_closed_route_returns_and_an_open_one_does_not() {
        let instance = Instance::euclidean(&[[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]]).unwrap();
        let totals = |instance: &Instance| {
            Route::new(instance, &[0, 2, 1]).stops().map(|stop| (stop.node, stop.total)).collect::<Vec<_>>()
        };
        assert_eq!(totals(&instance), [(0, 0.0), (2, 3.0), (1, 7.0), (0, 12.0)]);
        let open = instance.with_ends(Some(Ends::default()));
        assert_eq!(totals(&open), [(0, 0.0), (2, 3.0), (1, 7.0)]);
        let one = Instance::euclidean(&[[5.0, 5.0]]).unwrap();
        let stops: Vec<Stop> = Route::new(&one, &[0]).stops().collect();
        assert_eq!(stops.iter().map(|stop| stop.total).collect::<Vec<_>>(), [0.0, 0.0]);
    }

    #[test]
    fn forbidden_edges_do_not_count() {
        let no = f64::INFINITY;
        let costs = [0.0, 1.0, 5.0, 1.0, 0.0, no, 5.0, no, 0.0];
        let instance = Instance::from_costs("m", costs.to_vec()).unwrap();
        let stops: Vec<Stop> = Route::new(&instance, &[0, 1, 2]).stops().collect();
        assert_eq!(stops.iter().map(|stop| stop.total).collect::<Vec<_>>(), [0.0, 1.0, 1.0, 6.0]);
        assert!(stops[2].leg.is_infinite() && shown(stops[2].leg).is_empty());
    }

    #[test]
    fn lines_are_cut_at_the_180th_meridian() {
        let places = vec![[0.0, 170.0], [10.0, -170.0], [20.0, 190.0]];
        let instance = Instance::from_degrees("p", places).unwrap();
        let lines = Route::new(&instance, &[0, 1, 2]).lines().unwrap();
        let expected = [
            vec![[170.0, 0.0], [180.0, 5.0]],
            vec![[-180.0, 5.0], [-170.0, 10.0], [-170.0, 20.0], [-180.0, 10.0]],
            vec![[180.0, 10.0], [170.0, 0.0]],
        ];
        assert_eq!(lines, expected);
        assert_eq!(within_180(-350.0), 10.0);
        assert!(Route::new(&Instance::euclidean(&[[0.0, 0.0]]).unwrap(), &[0]).lines().is_none());
    }
}
