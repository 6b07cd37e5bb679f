//! `GET /trip/v1/...`: the trip service of OSRM, with great-circle distances in the place of roads.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use super::query::{Query, decoded};
use super::refusal::{Kind, Refusal};
use super::task::{Found, Length, Limits, Task, on_the_globe};
use crate::instance::Ends;

/// The start of every path of this service.
pub const PATH: &str = "/trip/v1/";

/// A request.
struct Request {
    /// Longitudes and latitudes.
    places: Vec<[f64; 2]>,
    is_round: bool,
    is_first_fixed: bool,
    is_last_fixed: bool,
    /// How the line is written; `None` if it is not.
    line: Option<&'static str>,
    length: Length,
    seed: Option<u64>,
}

/// Answers a request for this path and query, on the threads of the current pool. The search ends early once `interrupt` is set.
///
/// # Errors
/// If the request is wrong or too large, or asks for what antwarp does not do.
pub fn answer(
    path: &str,
    query: &str,
    limits: &Limits,
    interrupt: &Arc<AtomicBool>,
) -> Result<Value, Refusal> {
    let request = Request::read(path, query, limits)?;
    limits.check_nodes(request.places.len())?;
    let instance = on_the_globe(&request.places)?;
    let last = request.places.len() as u32 - 1;
    let (ends, first) = request.ends(last);
    let found =
        Task { instance, ends, first, length: request.length, seed: request.seed }.solve(interrupt)?;
    Ok(request.written(found, limits.speed))
}

impl Request {
    fn read(path: &str, query: &str, limits: &Limits) -> Result<Request, Refusal> {
        let syntax = |text: &str| Refusal::new(Kind::Syntax, text);
        let path = decoded(path.strip_prefix(PATH).unwrap_or_default())?;
        let (_profile, list) = path
            .split_once('/')
            .filter(|(profile, list)| !profile.is_empty() && !list.contains('/'))
            .ok_or_else(|| syntax("the path must be /trip/v1/{profile}/{longitude},{latitude};..."))?;
        let list = list.strip_suffix(".json").unwrap_or(list);
        if list.starts_with("polyline") {
            return Err(Refusal::new(Kind::Unsupported, "places as polylines are not supported"));
        }
        let place = |text: &str| {
            let (longitude, latitude) = text.split_once(',')?;
            let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
            Some([number(longitude)?, number(latitude)?])
        };
        let places: Option<Vec<[f64; 2]>> = list.split(';').map(place).collect();
        let places = places.ok_or_else(|| syntax("places must be {longitude},{latitude};..."))?;
        let mut query = Query::read(query)?;
        let is_round = query.one_of("roundtrip", &["true", "false"])? == "true";
        let is_first_fixed = query.one_of("source", &["any", "first"])? == "first";
        let is_last_fixed = query.one_of("destination", &["any", "last"])? == "last";
        let geometry = query.one_of("geometries", &["polyline", "polyline6", "geojson"])?;
        let line = match query.one_of("overview", &["simplified", "full", "false"])? {
            "false" => None,
            _ => Some(geometry),
        };
        for name in ["steps", "annotations"] {
            if query.one_of(name, &["false", "true"])? == "true" {
                let text = format!("`{name}` need roads, which antwarp does not know");
                return Err(Refusal::new(Kind::Unsupported, text));
            }
        }
        let length = limits.length(query.number("time")?)?;
        let seed = query.number("seed")?;
        query.end()?;
        if places.len() < 2 {
            return Err(Refusal::new(Kind::Value, "give at least two places"));
        }
        Ok(Request { places, is_round, is_first_fixed, is_last_fixed, line, length, seed })
    }

    /// Returns the ends of a path, or the node that a closed tour starts with.
    fn ends(&self, last: u32) -> (Option<Ends>, Option<u32>) {
        let (start, end) = (self.is_first_fixed.then_some(0), self.is_last_fixed.then_some(last));
        match (self.is_round, start, end) {
            // From the last place it goes back to the first one.
            (true, Some(_), Some(_)) | (false, ..) => (Some(Ends { start, end }), None),
            // The last place comes last: what follows it, comes first.
            (true, None, Some(_)) => (None, end),
            (true, ..) => (None, Some(0)),
        }
    }

    fn written(&self, found: Found, speed: f64) -> Value {
        let Found { instance, solution } = found;
        let mut tour = solution.tour;
        if self.is_round && self.is_last_fixed && !self.is_first_fixed {
            tour.rotate_left(1);
        }
        let home = self.is_round.then(|| tour[0]);
        let stops: Vec<u32> = tour.iter().copied().chain(home).collect();
        let lengths: Vec<f64> = stops.windows(2).map(|leg| instance.edge_cost(leg[0], leg[1])).collect();
        let leg = |&distance: &f64| {
            let duration = tenths(distance / speed);
            json!({ "distance": tenths(distance), "duration": duration, "weight": duration, "summary": "", "steps": [] })
        };
        let whole: f64 = lengths.iter().sum();
        let mut trip = json!({
            "distance": tenths(whole),
            "duration": tenths(whole / speed),
            "weight": tenths(whole / speed),
            "weight_name": "duration",
            "legs": lengths.iter().map(leg).collect::<Vec<_>>(),
        });
        let line: Vec<[f64; 2]> = stops.iter().map(|&node| self.places[node as usize]).collect();
        match self.line {
            Some("geojson") => trip["geometry"] = json!({ "type": "LineString", "coordinates": line }),
            Some("polyline6") => trip["geometry"] = json!(polyline(&line, 1e6)),
            Some(_) => trip["geometry"] = json!(polyline(&line, 1e5)),
            None => {}
        }
        let mut positions = vec![0; tour.len()];
        (0..).zip(&tour).for_each(|(at, &node): (u32, _)| positions[node as usize] = at);
        let waypoint = |(place, at): (&[f64; 2], &u32)| json!({ "waypoint_index": at, "trips_index": 0, "location": place, "name": "", "distance": 0 });
        let waypoints: Vec<Value> = self.places.iter().zip(&positions).map(waypoint).collect();
        json!({ "code": "Ok", "trips": [trip], "waypoints": waypoints })
    }
}

/// Rounds to a decimal, as OSRM does.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Writes a line as Google's polylines are: latitude and longitude in turn, each as the difference from the one before.
fn polyline(line: &[[f64; 2]], factor: f64) -> String {
    let (mut text, mut before) = (String::new(), [0_i64; 2]);
    for &[longitude, latitude] in line {
        for (before, value) in before.iter_mut().zip([latitude, longitude]) {
            let value = (value * factor).round() as i64;
            let difference = value - *before;
            *before = value;
            let mut rest = if difference < 0 { !(difference << 1) } else { difference << 1 };
            while rest >= 0x20 {
                text.push(char::from((0x20 | (rest & 0x1f)) as u8 + 63));
                rest >>= 5;
            }
            text.push(char::from(rest as u8 + 63));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Google's description of the format.
    #[test]
    fn a_polyline_is_written_as_its_authors_do() {
        let line = [[-120.2, 38.5], [-120.95, 40.7], [-126.453, 43.252]];
        assert_eq!(polyline(&line, 1e5), "_p~iF~ps|U_ulLnnqC_mqNvxq`@");
    }
}
