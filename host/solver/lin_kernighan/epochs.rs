//! The epochs of a run. Each is a small run of its own, which ends with crossing, and whose tours the next one inherits. So the best
//! tour is at any time about as short as that of a run limited to that time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Earliest end of an epoch.
const FIRST: Duration = Duration::from_millis(600);
/// The end of each epoch that crosses tours, as a share of the next one's end.
const SHARE: f64 = 0.5;
/// The same for the last but one. What crossing takes in earlier epochs is lost to the last one: with 1/8, runs of ten seconds end with
/// longer tours than without epochs (benches/notebooks/any-moment.md).
const SHARE_BEFORE_LAST: f64 = 1.0 / 16.0;
/// The same where little is lost: where runs restart, in a run as long as [`LONG`] with at least [`MANY`] tours, and in one as long as
/// [`VERY_LONG`].
const SHARE_BEFORE_LAST_OF_LONG: f64 = 1.0 / 3.0;
const LONG: Duration = Duration::from_secs(30);
const MANY: u32 = 100;
const VERY_LONG: Duration = Duration::from_secs(60);
/// Fewest tours that are worth crossing in an epoch that is not the last one, unless runs restart.
const FEWEST_EARLY: u32 = 20;
/// The same for epochs that kick a single tour: what is gained by cooling down early is partly lost when kicks go on.
const SHARE_OF_ONE: f64 = 0.25;
/// Latest end of the epochs that kick a single tour, as a share of the first epoch that crosses tours: these kicks are lost to the
/// tours that are crossed.
const ONE: f64 = 0.25;
/// The same where only the last epoch crosses tours, if these are fewer than [`FEWEST_EARLY`] or the run is shorter than [`VERY_LONG`].
/// (In others nothing would be gained for too long.)
const ONE_BEFORE_LAST: f64 = 0.125;
/// An epoch takes place only if it crosses this many times the tours of the one before, or is the last one.
const GROWTH: f64 = 1.2;
/// Limits that differ by no more than this share of them are the same.
const SAME: f64 = 0.02;
/// How much longer crossing may take than planned, as a share of the time until the next epoch's end.
const GRACE: f64 = 0.4;

/// The epochs of a run that have not ended yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epochs {
    /// When they end, the last one first. Empty without a time limit.
    ends: Vec<Duration>,
    /// When the first one that crosses tours ends. `None` if none does.
    crossed_from: Option<Duration>,
    /// The number of epochs that have ended.
    over: u32,
}

impl Epochs {
    /// Returns the only epoch of a run with this limit.
    pub fn one(time: Option<Duration>, is_crossed: bool) -> Epochs {
        Epochs { ends: time.into_iter().collect(), crossed_from: time.filter(|_| is_crossed), over: 0 }
    }

    /// Returns the epochs of a run with this limit that can start its work at `ready`, given whether runs restart, and how many tours a
    /// run with some limit crosses, if any.
    pub fn of(
        (ready, time): (Duration, Duration),
        restart: bool,
        crossed: impl Fn(Duration) -> Option<u32>,
    ) -> Epochs {
        let first = FIRST.max(2 * ready);
        let is_long = restart || time >= VERY_LONG || (time >= LONG && crossed(time) >= Some(MANY));
        let fewest = if restart { 0 } else { FEWEST_EARLY };
        let is_crossed = |&end: &Duration| crossed(end).is_some_and(|count| end == time || count >= fewest);
        let before_last = if is_long { SHARE_BEFORE_LAST_OF_LONG } else { SHARE_BEFORE_LAST };
        let before = |end: Duration, share: f64| Some(end.mul_f64(share)).filter(|&end| end >= first);
        let share = |end| if end == time { before_last } else { SHARE };
        let halves = std::iter::successors(Some(time), |&end| before(end, share(end)));
        let mut ends: Vec<Duration> = halves.take_while(is_crossed).collect();
        let crossed_from = ends.last().copied();
        let latest_of_one = match crossed_from {
            None => Some(time),
            Some(first) if first == time && (time < VERY_LONG || crossed(time) < Some(FEWEST_EARLY)) => {
                before(first, ONE_BEFORE_LAST.min(before_last))
            }
            Some(first) => before(first, ONE),
        };
        ends.extend(std::iter::successors(latest_of_one, |&end| before(end, SHARE_OF_ONE)));
        Epochs { ends, crossed_from, over: 0 }
    }

    /// Returns when the current epoch ends. `None` without a time limit.
    pub fn end(&self) -> Option<Duration> {
        self.ends.last().copied()
    }

    /// Returns until when tours of the current epoch may be crossed, if there is another one.
    pub fn latest(&self) -> Option<Duration> {
        let [.., next, end] = self.ends[..] else { return None };
        Some(end + (next - end).mul_f64(GRACE))
    }

    /// Returns whether there is no other epoch.
    pub fn is_last(&self) -> bool {
        self.ends.len() < 2
    }

    /// Returns the limit of the run.
    pub fn limit(&self) -> Option<Duration> {
        self.ends.first().copied()
    }

    /// Returns the epochs of a run that continues when this time has `passed`, given those `planned` for its limit. Where the limit
    /// is the same, except for the time that reading takes, they are the same; else the current epoch is followed by planned ones.
    pub fn resumed(&self, planned: &Epochs, passed: Duration) -> Epochs {
        let (Some(before), Some(limit), Some(current)) = (self.limit(), planned.limit(), self.end()) else {
            return Epochs { over: self.over, ..planned.clone() };
        };
        if before.abs_diff(limit) <= before.mul_f64(SAME) {
            let mut ends = self.ends.clone();
            ends[0] = limit;
            let crossed_from = self.crossed_from.map(|from| if from == before { limit } else { from });
            return Epochs { ends, crossed_from, over: self.over };
        }
        let later = |(i, end): (usize, &Duration)| (i == 0 || *end > current.max(passed)).then_some(*end);
        let mut ends: Vec<Duration> = planned.ends.iter().enumerate().filter_map(later).collect();
        if current < limit {
            ends.push(current);
        }
        Epochs { ends, crossed_from: planned.crossed_from, over: self.over }
    }

    /// Makes the current epoch the last one.
    pub fn end_with_this(&mut self) {
        self.ends.truncate(1);
    }

    /// Returns whether any epoch crosses tours.
    pub fn are_crossed(&self) -> bool {
        self.crossed_from.is_some()
    }

    /// Returns the number of epochs that have ended.
    pub fn over(&self) -> u32 {
        self.over
    }

    /// Returns whether the current epoch crosses tours.
    pub fn is_crossed(&self) -> bool {
        self.end().zip(self.crossed_from).is_some_and(|(end, from)| end >= from)
    }

    /// Goes on to the next epoch that is worth while after one with `before` tours, given how many can be crossed by some time. If
    /// runs `restart`, so does the last epoch, and it starts as soon as another one would have as many tours.
    pub fn advance(&mut self, before: u32, restart: bool, at_most: impl Fn(Duration) -> u32) {
        self.over += 1;
        while !self.is_last() {
            self.ends.pop();
            let tours = self.end().map_or(0, &at_most);
            let is_as_last = restart && self.ends.first().is_some_and(|&last| at_most(last) == tours);
            if !self.is_crossed() || (f64::from(tours) >= GROWTH * f64::from(before) && !is_as_last) {
                break;
            }
        }
    }
}

/// Tours that were kicked but not crossed: copies of those of earlier epochs.
#[derive(Default, Serialize, Deserialize)]
pub struct Kept {
    /// The tours, concatenated.
    #[serde(skip)]
    pub tours: Vec<u32>,
    /// Kicks of all of them.
    pub kicks: u64,
    /// How long making and kicking them took.
    pub took: Duration,
}

impl Kept {
    /// Returns everything but the tours.
    pub fn without_tours(&self) -> Kept {
        Kept { tours: Vec::new(), ..*self }
    }

    /// Returns how many of them are kicked again in an epoch that has this much time for kicks, and has `count` tours, some of which
    /// are new. Then all tours have about the same number of kicks in the end.
    pub fn again(&self, (count, new): (u32, u32), time: Duration) -> u32 {
        let share = time.as_secs_f64() / (self.took + time).as_secs_f64().max(1e-9);
        ((f64::from(count) * share).round() as u32).saturating_sub(new).min(count.saturating_sub(new))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cross::FEWEST;
    use super::*;

    fn seconds(epochs: &Epochs) -> Vec<f64> {
        epochs.ends.iter().rev().map(Duration::as_secs_f64).collect()
    }

    fn of(time: u64, crossed_from: f64) -> Epochs {
        Epochs::of((Duration::ZERO, Duration::from_secs(time)), true, |end| {
            (end.as_secs_f64() >= crossed_from).then_some(FEWEST)
        })
    }

    #[test]
    fn epochs_end_at_halves_and_those_of_a_single_tour_at_quarters() {
        assert_eq!(seconds(&of(96, 0.0)), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 96.0]);
        assert_eq!(seconds(&of(96, 7.0)), [2.0, 8.0, 16.0, 32.0, 96.0]);
        assert_eq!(seconds(&of(64, 1e9)), [1.0, 4.0, 16.0, 64.0]);
        // Without restarts.
        let large = |time, tours| {
            seconds(&Epochs::of((Duration::ZERO, Duration::from_secs(time)), false, |_| Some(tours)))
        };
        assert_eq!(large(96, MANY), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 96.0]);
        assert_eq!(large(48, MANY - 1), [0.75, 1.5, 3.0, 48.0]);
        assert_eq!(large(24, MANY), [0.75, 1.5, 24.0]);
        let late = Epochs::of((Duration::from_secs(2), Duration::from_secs(96)), true, |_| Some(FEWEST));
        assert_eq!(seconds(&late), [4.0, 8.0, 16.0, 32.0, 96.0]);
        // Half a second is too short for an epoch.
        assert_eq!(large(8, MANY), [8.0]);
        // There is little time for a single tour where only the last epoch crosses others.
        assert_eq!(seconds(&of(12, 7.0)), [1.5, 12.0]);
        // In two minutes tours of an epoch before the last one are crossed if there are twenty of them.
        assert_eq!(large(120, MANY - 1), [0.625, 1.25, 2.5, 5.0, 10.0, 20.0, 40.0, 120.0]);
        let growing =
            Epochs::of((Duration::ZERO, Duration::from_secs(120)), false, |end| Some(end.as_secs() as u32));
        assert_eq!(seconds(&growing), [1.25, 5.0, 20.0, 40.0, 120.0]);
        // If only the last epoch crosses tours, a single one is kicked for a quarter of the time, or for an eighth if these are few.
        let at_end = |end: Duration| Some(if end.as_secs() < 120 { FEWEST } else { FEWEST_EARLY });
        let growing = Epochs::of((Duration::ZERO, Duration::from_secs(120)), false, at_end);
        assert_eq!(seconds(&growing), [1.875, 7.5, 30.0, 120.0]);
        assert_eq!(large(120, FEWEST_EARLY - 1), [0.9375, 3.75, 15.0, 120.0]);
        assert_eq!((seconds(&of(1, 0.0)), seconds(&of(0, 0.0))), (vec![1.0], vec![0.0]));
        assert_eq!((of(96, 7.0).is_crossed(), of(96, 7.0).are_crossed()), (false, true));
        assert!(!of(64, 1e9).are_crossed() && of(1, 0.0).is_crossed());
        assert_eq!(of(96, 7.0).latest(), Some(Duration::from_secs_f64(2.0) + Duration::from_secs_f64(2.4)));
        assert_eq!(of(1, 0.0).latest(), None);
    }

    #[test]
    fn epochs_that_would_not_cross_more_tours_are_left_out() {
        let mut epochs = of(96, 2.0);
        let mut ends = Vec::new();
        while !epochs.is_last() {
            // As many tours as seconds, but 10 at least.
            let tours = |end: Duration| (end.as_secs() as u32).max(10);
            let before = epochs.end().map_or(0, tours);
            epochs.advance(before, false, tours);
            ends.push(epochs.end().unwrap().as_secs());
        }
        assert_eq!((ends, epochs.over()), (vec![16, 32, 96], 3));
        let mut restarting = of(96, 0.0);
        restarting.advance(4, true, |end| (end.as_secs() as u32 * 8).min(16));
        assert!(restarting.is_last());
    }

    #[test]
    fn all_tours_get_as_many_kicks() {
        let kept = Kept { took: Duration::from_secs(1), ..Kept::default() };
        let again = |count, new, seconds| kept.again((count, new), Duration::from_secs(seconds));
        // Twenty tours had a second, and forty have two.
        assert_eq!((again(40, 20, 1), again(20, 0, 1), again(20, 0, 3)), (0, 10, 15));
        assert_eq!((again(30, 20, 1), again(10, 10, 9)), (0, 0));
    }
}
