//! What all interfaces ask for: a tour of an instance in a limited time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::refusal::{Kind, Refusal};
use crate::backend::Choice;
use crate::engine::Stop;
use crate::instance::{Ends, Instance, InstanceError};
use crate::solver::many::{self, ManySettings};
use crate::solver::{Solution, SolveError, Solver};

/// The limits of every request.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Most nodes of an instance.
    pub nodes: usize,
    /// The longest search that a request may ask for.
    pub most_time: Duration,
    /// The longest search for a request that asks for no time.
    pub time: Duration,
    /// Metres a second, where durations are computed from great-circle distances.
    pub speed: f64,
}

impl Limits {
    /// Rejects instances that are too large.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] for more nodes than are allowed.
    pub fn check_nodes(&self, nodes: usize) -> Result<(), Refusal> {
        if nodes <= self.nodes {
            return Ok(());
        }
        let text = format!("{nodes} places are more than the {} that this server takes", self.nodes);
        Err(Refusal::new(Kind::TooLarge, text))
    }

    /// Returns how long a search lasts, given the seconds that a request asks for.
    ///
    /// # Errors
    /// [`Kind::Value`] if they are negative, not a number, or more than are allowed.
    pub fn length(&self, asked: Option<f64>) -> Result<Length, Refusal> {
        let Some(seconds) = asked else { return Ok(Length::Short(self.time)) };
        let most = self.most_time;
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) if time <= most => Ok(Length::Asked(time)),
            _ => {
                let text = format!("time is {seconds}: give seconds from 0 to {}", most.as_secs_f64());
                Err(Refusal::new(Kind::Value, text))
            }
        }
    }
}

/// How long a search lasts.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// [`KICKS`] for each place, at most this time.
    Short(Duration),
    /// This time, unless further search is unlikely to help.
    Asked(Duration),
}

/// Kicks for each place, if a request asks for no time.
///
/// With 5, the tours of 9 random instances of 20, 50 and 200 places were at most 0.12 percent longer than those of 3 seconds.
const KICKS: u64 = 5;
/// Most places of a request that the search for small instances answers if it asks for no time: it takes about a fifth of the time.
/// Above, its tours are longer where places are unevenly spread.
const MOST_SMALL: usize = 250;
/// Most places if costs have directions: more were not tried. On ten instances each of 20, 50, 100 and 200 places, whose costs differ by
/// direction as those of roads do, tours were on average .00, .14, .21 and .28 percent longer than the best known ones; those of the other
/// search were .45, .93, 1.2 and 1.4 percent longer and took at least five times as long.
const MOST_DIRECTED: usize = 200;

/// Returns the kicks for each place with which the search for small instances answers; `None` if it is not for this one.
fn effort(instance: &Instance) -> Option<u32> {
    let places = instance.len();
    if instance.is_symmetric() {
        return (places <= MOST_SMALL).then_some(if places <= 100 { 3 } else { 2 });
    }
    let effort = if places <= 100 { 2 } else { 1 };
    (places <= MOST_DIRECTED && many::differs_little_by_direction(instance)).then_some(effort)
}

/// A search.
pub struct Task {
    /// What to solve.
    pub instance: Instance,
    /// Where an open path starts and ends.
    pub ends: Option<Ends>,
    /// The node that a closed tour is written from, from 0.
    pub first: Option<u32>,
    /// How long to search.
    pub length: Length,
    /// The seed of all random numbers; 1 if not given.
    pub seed: Option<u64>,
}

/// A tour.
pub struct Found {
    /// The instance.
    pub instance: Instance,
    /// Its tour, and how it was found.
    pub solution: Solution,
}

impl Task {
    /// Searches on the threads of the current pool, until the flag is set at the latest.
    ///
    /// # Errors
    /// [`Kind::NoTour`] if the best tour has a forbidden pair or the instance cannot be solved, [`Kind::Value`] if its cost is infinite,
    /// and [`Kind::Failed`].
    pub fn solve(self, interrupt: &Arc<AtomicBool>) -> Result<Found, Refusal> {
        // Messages name places as requests do: from 0.
        let ids = (0..self.instance.len() as u32).collect();
        let instance = self.instance.with_ids(ids).with_ends(self.ends);
        let seed = self.seed.unwrap_or(1);
        let stop = match self.length {
            Length::Short(time) => {
                Stop { iterations: Some(KICKS * instance.len() as u64), ..Stop::after(time) }
            }
            Length::Asked(time) => Stop { may_settle: true, ..Stop::after(time) },
        };
        let stop = Stop { interrupt: interrupt.clone(), ..stop };
        let begin = Instant::now();
        let mut small = None;
        let is_short = matches!(self.length, Length::Short(_));
        if let Some(effort) = effort(&instance).filter(|_| is_short) {
            let settings = ManySettings { effort, seed };
            small = many::solve_one(&instance, settings, &stop).map_err(refused)?;
            // Where some pairs are forbidden, the other search may find a tour without them.
            small = small.filter(|small| !instance.may_be_forbidden(small.cost));
        }
        let mut solution = match small {
            Some(small) => small,
            None => {
                let solver = Solver::default().backend(Choice::Cpu).seed(seed);
                solver.solve(&instance, stop.spent(begin.elapsed())).map_err(refused)?
            }
        };
        solution.conclude(&instance, self.first);
        let forbidden = instance.forbidden_steps(&solution.tour);
        if let Some((from, to)) = forbidden.first() {
            let text = format!(
                "no tour was found that uses only pairs with a cost: the best one goes from {from} to {to}"
            );
            return Err(Refusal::new(Kind::NoTour, text));
        }
        if !instance.tour_cost(&solution.tour).as_f64().is_finite() {
            return Err(Refusal::new(Kind::Value, "the cost of the tour is beyond the range of numbers"));
        }
        Ok(Found { instance, solution })
    }
}

/// Converts the error of an instance that cannot be made into a refusal.
///
/// # Errors
/// The same, as [`Kind::Value`].
pub fn made(instance: Result<Instance, InstanceError>) -> Result<Instance, Refusal> {
    instance.map_err(|error| Refusal::new(Kind::Value, error.to_string()))
}

/// Returns an instance of great-circle distances, in metres, between places given as degrees of longitude and latitude, in this order.
///
/// # Errors
/// [`Kind::Value`] if a place is not on the globe, or there are too few for an instance.
pub fn on_the_globe(places: &[[f64; 2]]) -> Result<Instance, Refusal> {
    let is_off = |[longitude, latitude]: &[f64; 2]| !(longitude.abs() <= 180.0 && latitude.abs() <= 90.0);
    if let Some(at) = places.iter().position(is_off) {
        let [longitude, latitude] = places[at];
        let text = format!(
            "place {at} is at longitude {longitude}, latitude {latitude}: give the longitude (-180 to 180) first, then the latitude (-90 to 90)"
        );
        return Err(Refusal::new(Kind::Value, text));
    }
    let swapped = places.iter().map(|&[longitude, latitude]| [latitude, longitude]).collect();
    made(Instance::from_degrees("request", swapped))
}

fn refused(error: SolveError) -> Refusal {
    let kind = match &error {
        SolveError::Settings(_) | SolveError::Unsupported { .. } | SolveError::Shape(_) => Kind::NoTour,
        SolveError::NoThread(_)
        | SolveError::Backend(_)
        | SolveError::CutShort { .. }
        | SolveError::Wrong { .. } => Kind::Failed,
    };
    Refusal::new(kind, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places on a line, where every cost of one direction is `more` than that of the other.
    fn line(places: usize, more: i32) -> Instance {
        let cost = |(from, to): (usize, usize)| from.abs_diff(to) as i32 * 100 + i32::from(from < to) * more;
        let pairs = (0..places).flat_map(|from| (0..places).map(move |to| (from, to)));
        Instance::from_matrix("line", pairs.map(cost).collect()).unwrap()
    }

    #[test]
    fn the_search_for_small_instances_answers_where_costs_differ_little_by_direction() {
        assert_eq!(effort(&line(50, 0)), Some(3));
        assert_eq!(effort(&line(250, 0)), Some(2));
        assert_eq!(effort(&line(251, 0)), None);
        assert_eq!(effort(&line(50, 10)), Some(2));
        assert_eq!(effort(&line(200, 10)), Some(1));
        assert_eq!(effort(&line(201, 10)), None);
        // The mean of the costs is 1,700, so that these differ by a fourth.
        assert_eq!(effort(&line(50, 1000)), None);
    }
}
