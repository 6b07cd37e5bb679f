//! How long crossing will still take. For the first quarter of all generations the mean length of the tours decreases by about the same amount in
//! each. Then it decreases by less and less, in much the same way on the four instances where this was measured
//! (benches/notebooks/any-moment.md). So the decrease, as a part of the first one, tells about how many generations are still to come.

use std::time::Duration;

use super::cross::FEWEST;

/// Decreases are means over at least this many generations.
const WINDOW: u32 = 8;
/// Until two windows can be compared, crossing is taken to need this many generations.
const AT_FIRST: f64 = 50.0;
/// Which part of the generations is over once their decrease is this part of the first one, with linear interpolation.
const CURVE: [(f64, f64); 8] = [
    (0.95, 0.27),
    (0.82, 0.38),
    (0.64, 0.47),
    (0.5, 0.55),
    (0.3, 0.67),
    (0.2, 0.77),
    (0.1, 0.9),
    (0.05, 1.0),
];

/// Fewer tours are crossed on if all need more than this many times the time that is left.
const BEHIND: f64 = 1.2;

/// A population after a generation.
#[derive(Clone, Copy, Debug)]
struct Moment {
    generation: u32,
    mean: i64,
    at: Duration,
}

/// The generations of a population, and of what is left of it after it was reduced.
#[derive(Debug, Default)]
pub struct Pace {
    moments: Vec<Moment>,
    /// The generations before it was reduced.
    before: u32,
}

impl Pace {
    /// Notes the mean length of the tours after a generation, and when it ended.
    pub fn note(&mut self, generation: u32, mean: i64, at: Duration) {
        let generation = self.before + generation;
        if self.generation() < generation {
            self.moments.push(Moment { generation, mean, at });
        }
    }

    /// Returns the number of the last generation.
    pub fn generation(&self) -> u32 {
        self.moments.last().map_or(0, |last| last.generation)
    }

    /// From now on generations are those of a new population of some of the tours, whose mean length is this. That they are shorter than
    /// the others is no decrease.
    pub fn continue_with_fewer(&mut self, mean: i64) {
        self.before = self.generation();
        let shift = self.moments.last().map_or(0, |last| mean - last.mean);
        self.moments.iter_mut().for_each(|moment| moment.mean += shift);
    }

    /// Returns how many of `count` tours can be crossed in the time that is `left`, but at least [`FEWEST`]. `None` if all can.
    pub fn fitting(&self, count: u32, left: Duration) -> Option<u32> {
        let fit = left.as_secs_f64() / self.needed()?.max(1e-9);
        let fewer = (f64::from(count) * fit).max(f64::from(FEWEST)) as u32;
        (fit * BEHIND < 1.0 && fewer < count).then_some(fewer)
    }

    /// Estimates the seconds until crossing will have achieved nearly everything it can. `None` in the first generations.
    fn needed(&self) -> Option<f64> {
        let [.., third, second, last] = &self.moments[..] else { return None };
        let first = &self.moments[0];
        let passed = last.generation - first.generation;
        let decrease = |from: &Moment, to: &Moment| {
            (from.mean - to.mean) as f64 / f64::from(to.generation - from.generation)
        };
        let early = self.moments.iter().find(|moment| moment.generation >= first.generation + WINDOW);
        let late = self.moments.iter().rfind(|moment| moment.generation + WINDOW <= last.generation);
        let over = match early.zip(late).filter(|(early, late)| early.generation <= late.generation) {
            Some((early, late)) => over(decrease(late, last) / decrease(first, early)),
            None => (f64::from(passed) / AT_FIRST).min(0.5),
        };
        let each = |from: &Moment, to: &Moment| {
            (to.at - from.at).as_secs_f64() / f64::from(to.generation - from.generation)
        };
        // The last one may have been held up for a moment.
        let each = each(second, last).min(each(third, second));
        // Generations become faster as tours become more alike.
        Some(f64::from(passed) * (1.0 / over - 1.0) * each * (0.6 + 0.4 * over))
    }
}

/// Returns which part of the generations is over, given the last decrease as a part of the first one.
fn over(decrease: f64) -> f64 {
    let after = CURVE.partition_point(|&(y, _)| y >= decrease);
    if after == 0 {
        return CURVE[0].1;
    }
    let Some(&(to, end)) = CURVE.get(after) else { return 1.0 };
    let (from, begin) = CURVE[after - 1];
    begin + (from - decrease) / (from - to) * (end - begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pace of a population with generations of this many milliseconds, whose decreases are these.
    fn pace(decreases: impl Iterator<Item = i64>, milliseconds: impl Fn(u32) -> u64) -> Pace {
        let (mut pace, mut mean, mut at) = (Pace::default(), 1_000_000, Duration::ZERO);
        for (generation, decrease) in (1..).zip(decreases) {
            mean -= decrease;
            at += Duration::from_millis(milliseconds(generation));
            pace.note(generation, mean, at);
        }
        pace
    }

    #[test]
    fn the_decrease_tells_how_much_is_over() {
        let parts = [2.0, 1.0, 0.95, 0.82, 0.57, 0.1, 0.01, -1.0, f64::NAN].map(over);
        assert_eq!(parts[..4], [0.27, 0.27, 0.27, 0.38]);
        assert!((parts[4] - 0.51).abs() < 1e-9 && (parts[5] - 0.9).abs() < 1e-9);
        assert_eq!(parts[6..8], [1.0, 1.0]);
        assert!((0.27..=1.0).contains(&parts[8]));
        assert!(CURVE.windows(2).all(|pair| pair[0].0 > pair[1].0 && pair[0].1 < pair[1].1));
    }

    #[test]
    fn as_many_tours_are_crossed_on_as_fit() {
        let second = Duration::from_secs(1);
        let steady = || std::iter::repeat_n(1000, 41);
        // 40 of 148 generations are over; the others take .71 times as long as the last one.
        let needed = pace(steady(), |_| 100).needed().unwrap();
        assert!((needed - 40.0 * (1.0 / 0.27 - 1.0) * 0.1 * 0.708).abs() < 1e-6);
        let fitting = |seconds| pace(steady(), |_| 100).fitting(60, seconds * second);
        assert_eq!((fitting(8), fitting(7), fitting(4)), (None, None, Some(31)));
        assert_eq!((fitting(1), fitting(0)), (Some(FEWEST), Some(FEWEST)));
        assert_eq!(pace(steady(), |_| 100).fitting(FEWEST, second), None);
        // A machine that becomes ten times slower.
        let slower = pace(steady(), |generation| if generation < 39 { 10 } else { 100 });
        let held_up = pace(steady(), |generation| if generation < 41 { 10 } else { 1000 });
        assert_eq!(held_up.fitting(60, second), None);
        assert_eq!(slower.fitting(60, 4 * second), Some(31));
        // Crossing that is nearly over.
        let falling = (0..60).map(|generation| 100_000 >> (generation / 8));
        assert_eq!(pace(falling, |_| 100).fitting(60, second / 100), None);
        // After three generations it is known how long they take.
        assert_eq!(pace([1; 2].into_iter(), |_| 1000).fitting(60, second), None);
        assert_eq!(pace([1; 3].into_iter(), |_| 1000).fitting(60, 6 * second), Some(12));
    }

    #[test]
    fn generations_are_counted_on() {
        let mut fewer = pace([1, 1, 1].into_iter(), |_| 10);
        fewer.continue_with_fewer(990_000);
        fewer.note(1, 980_000, Duration::from_secs(1));
        fewer.note(1, 970_000, Duration::from_secs(2));
        assert_eq!((fewer.generation(), fewer.moments.len()), (4, 4));
        // Dropping the longest tours changes nothing in the estimate.
        let mut fewer = pace(std::iter::repeat_n(1000, 41), |_| 100);
        let needed = fewer.needed();
        fewer.continue_with_fewer(900_000);
        assert_eq!(fewer.needed(), needed);
        let all = pace(std::iter::repeat_n(1000, 42), |_| 100);
        fewer.note(1, 899_000, Duration::from_millis(4200));
        assert_eq!(fewer.needed(), all.needed());
    }
}
