//! The summary at the end of a run: first what everyone asks, then what experts ask.

use std::fmt;

use super::{Known, Report};
use crate::engine::StopReason;
use crate::instance::counted;

/// The width of the column of names.
pub const NAMES: usize = 12;

/// The summary of a report, one fact per line.
pub struct Summary<'a> {
    /// The report.
    pub report: &'a Report,
    /// Whether counters and the layout of the work are included.
    pub is_verbose: bool,
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report;
        let mut line = |name: &str, value: String| writeln!(f, "{name:<NAMES$} {value}");
        let instance = &report.instance;
        let shape = instance.shape.as_ref().map_or_else(String::new, |shape| format!("; {shape}"));
        line(
            "instance",
            format!("{}, {}, {}{shape}", instance.name, counted(instance.nodes, "node"), instance.metric),
        )?;
        line("cost", instance.unit.show(report.cost))?;
        if !report.forbidden.is_empty() {
            let pairs: Vec<_> =
                report.forbidden.iter().take(5).map(|[from, to]| format!("{from} to {to}")).collect();
            let more = if report.forbidden.len() > 5 { ", ..." } else { "" };
            line(
                "forbidden",
                format!(
                    "{}, not counted: {}{more}",
                    counted(report.forbidden.len(), "pair"),
                    pairs.join(", ")
                ),
            )?;
        }
        let bound =
            report.bound.and_then(|bound| Some((bound.most_percent?, instance.unit.show(bound.length))));
        let quality = match report.forbidden.len() {
            0 => quality((report.best_known, report.gap_percent), bound, report.stopped_by),
            _ => with_forbidden_pairs(report.stopped_by).to_owned(),
        };
        line("quality", quality)?;
        let (seconds, setup) = (report.seconds, report.setup_seconds);
        line(
            "time",
            format!("{seconds:.2} s, {setup:.2} s of it to prepare; {}", stopped(report.stopped_by)),
        )?;
        let makes = if ["lk", "ils"].contains(&report.algorithm) { "kick" } else { "tour" };
        let tours = format!(
            "{}, {} per second",
            counted(report.tours as usize, makes),
            rate(report.tours_per_second)
        );
        line("search", format!("{}, {tours}{}", report.algorithm, last_improvement(report)))?;
        if self.is_verbose {
            line("iterations", format!("{}, {}", report.iterations, best_found(report)))?;
            line("layout", report.layout.clone())?;
        }
        if let Some(islands) = &report.islands {
            line("islands", islands.to_string())?;
        }
        let machine = &report.machine;
        line("machine", format!("{}: {}, {}", machine.backend, machine.device, units(report)))?;
        line("seed", report.seed.to_string())
    }
}

/// Says how far a tour is from the shortest one, and how that is known. `bound` is what a lower bound guarantees: how much longer the
/// tour is at most, in percent, and the bound.
fn quality(
    known: (Option<Known>, Option<f64>),
    bound: Option<(f64, String)>,
    stopped_by: StopReason,
) -> String {
    let (known, gap) = known;
    if bound.as_ref().is_some_and(|&(most, _)| most == 0.0) {
        let other = known.filter(|known| known.below_bound || known.other_instance);
        let other = other.map_or_else(String::new, |known| format!(" ({})", not_compared(known)));
        return format!("optimal, proven in this run{other}");
    }
    let is_optimal = known.is_some_and(|known| known.proven) && gap == Some(0.0);
    let published = known.map(|known| gap.map_or_else(|| not_compared(known), |gap| published(known, gap)));
    let guarantee = bound.filter(|_| !is_optimal).map(|(most, length)| {
        let most = rounded_up(most);
        format!("at most {most:.3} % above the optimum, since no tour costs less than {length}")
    });
    let rounded =
        (stopped_by == StopReason::OptimalRounded).then(|| "optimal for rounded lengths".to_owned());
    let known: Vec<String> = [published, rounded, guarantee].into_iter().flatten().collect();
    if known.is_empty() {
        return "unknown: there is neither a lower bound (--bound) nor a published length".to_owned();
    }
    known.join("; ")
}

/// Says the same of a tour with forbidden pairs, whose cost leaves these out.
fn with_forbidden_pairs(stopped_by: StopReason) -> &'static str {
    match stopped_by {
        StopReason::Optimal => {
            "optimal: every tour has as many forbidden pairs or more, and none with as many costs less"
        }
        _ => "unknown: the tour has forbidden pairs",
    }
}

/// Compares a tour with a published length.
fn published(known: Known, gap: f64) -> String {
    let what = if known.proven { "published optimum" } else { "best published length" };
    match gap {
        0.0 if known.proven => "optimal: as short as the published optimum".to_owned(),
        0.0 => format!("as short as the {what}"),
        _ => format!("{} the {what}, {}", distance(gap), known.cost),
    }
}

/// Says how far a cost is above or below another one, where the gap in percent is not 0: it is never shown as 0.
pub(crate) fn distance(gap: f64) -> String {
    let side = if gap < 0.0 { "below" } else { "above" };
    match gap.abs() {
        0.0..0.001 => format!("less than 0.001 % {side}"),
        size => format!("{size:.3} % {side}"),
    }
}

/// Formats a gap in percent: it is shown as 0 only if it is 0.
pub(crate) fn percent(gap: f64) -> String {
    match gap {
        0.0 => "0.000 %".to_owned(),
        -0.001..0.001 => distance(gap),
        _ => format!("{gap:.3} %"),
    }
}

/// Rounds a gap in percent up to the digits that are shown: a lower bound guarantees that it is not larger.
pub(crate) fn rounded_up(gap: f64) -> f64 {
    (gap * 1e3).ceil() / 1e3
}

/// Says why a published length is not compared.
fn not_compared(known: Known) -> String {
    let cost = known.cost;
    if known.below_bound {
        published_below_bound(cost)
    } else {
        format!("shorter than {cost}, the proven optimum of another instance with the same name")
    }
}

/// Formats a best known length, and how far from it a tour is.
pub(super) fn known(known: Option<Known>, gap: Option<f64>) -> String {
    let none = "none for this instance";
    let Some(known) = known else { return none.to_owned() };
    if known.other_instance {
        let cost = known.cost;
        return format!(
            "{none}: the tour is shorter than {cost}, the proven optimum of another instance with the same name"
        );
    }
    if known.below_bound {
        return published_below_bound(known.cost);
    }
    let kind = if known.proven { " (optimal)" } else { "" };
    let gap = gap.map_or_else(String::new, |gap| format!(", gap {}", percent(gap)));
    format!("{}{kind}{gap}", known.cost)
}

/// Describes a published length that is below a bound.
pub(crate) fn published_below_bound(cost: i64) -> String {
    format!("{cost} was published, less than the bound: perhaps for lengths rounded otherwise")
}

/// Says when the tour was found.
fn last_improvement(report: &Report) -> String {
    match report.trace.last() {
        Some(last) if report.trace.len() > 1 => format!(", the best one after {:.2} s", last.seconds),
        _ => String::new(),
    }
}

fn best_found(report: &Report) -> String {
    match report.best_iteration {
        0 if report.stopped_by == StopReason::LocalOptimum => "a descent without kicks".to_owned(),
        0 if report.stopped_by == StopReason::Optimal && report.iterations == 0 => "none needed".to_owned(),
        // Crossing and descents come between and before kicks.
        0 if report.trace.len() > 1 => "best found before the first one".to_owned(),
        0 => "no improvement over the first tour".to_owned(),
        iteration => format!("best in iteration {iteration}"),
    }
}

pub(crate) fn stopped(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Time => "stopped by the time limit",
        StopReason::Iterations => "iteration limit reached",
        StopReason::Target => "stopped at the target",
        StopReason::PublishedOptimum => "stopped at the published optimum",
        StopReason::Optimal => "stopped: optimal",
        StopReason::OptimalRounded => "stopped: optimal for rounded lengths",
        StopReason::LocalOptimum => "stopped at a local optimum",
        StopReason::Settled => "stopped: restarts find no shorter tour",
        StopReason::Stagnation => "stopped by stagnation",
        StopReason::Interrupt => "interrupted",
        StopReason::Failure => "ended early by a failure",
    }
}

fn units(report: &Report) -> String {
    let machine = &report.machine;
    match machine.backend {
        "cpu" => format!("{}, {}", counted(machine.units, "thread"), machine.details),
        _ => format!("{}, {}", counted(machine.units, "multiprocessor"), machine.details),
    }
}

/// Formats a rate, with three digits.
pub fn rate(value: f64) -> String {
    match value {
        1e9.. => format!("{:.2} G", value / 1e9),
        1e6.. => format!("{:.2} M", value / 1e6),
        1e3.. => format!("{:.1} k", value / 1e3),
        _ => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::BestKnown;

    #[test]
    fn a_gap_is_never_shown_as_none() {
        let shown = [0.0, 0.0004, 0.001, -0.0004, -1.5].map(percent);
        assert_eq!(
            shown,
            ["0.000 %", "less than 0.001 % above", "0.001 %", "less than 0.001 % below", "-1.500 %"]
        );
        let shown = [0.0004, 0.001, 1.5, -0.0004, -1.5].map(distance);
        let expected = ["less than 0.001 % above", "0.001 % above", "1.500 % above"];
        assert_eq!(shown[..3], expected);
        assert_eq!(shown[3..], ["less than 0.001 % below", "1.500 % below"]);
        assert_eq!([0.0, 0.0001, 0.0011].map(rounded_up), [0.0, 0.001, 0.002]);
    }

    #[test]
    fn quality_says_no_more_than_is_known() {
        let text = |known: Option<BestKnown>, cost: i64, bound: Option<(f64, &str)>| {
            let known = known.map(|known| Known::beside(known, cost));
            let gap = known.and_then(|known| known.gap_percent(cost));
            let bound = bound.map(|(most, length)| (most, length.to_owned()));
            quality((known, gap), bound, StopReason::Time)
        };
        let optimum = Some(BestKnown { cost: 426, proven: true });
        let record = Some(BestKnown { cost: 100_000, proven: false });
        assert_eq!(text(optimum, 426, None), "optimal: as short as the published optimum");
        assert_eq!(text(optimum, 426, Some((0.5, "424"))), "optimal: as short as the published optimum");
        assert_eq!(text(optimum, 427, Some((0.0, "427"))), "optimal, proven in this run");
        assert_eq!(text(record, 100_000, None), "as short as the best published length");
        assert_eq!(text(record, 99_000, None), "1.000 % below the best published length, 100000");
        let slightly = BestKnown { cost: 1_000_000, proven: true };
        assert_eq!(
            text(Some(slightly), 1_000_001, None),
            "less than 0.001 % above the published optimum, 1000000"
        );
        assert_eq!(
            text(record, 101_000, Some((2.000_01, "99020"))),
            "1.000 % above the best published length, 100000; at most 2.001 % above the optimum, since no tour costs less than 99020"
        );
        assert_eq!(
            text(optimum, 425, None),
            "shorter than 426, the proven optimum of another instance with the same name"
        );
        assert!(text(None, 5, None).starts_with("unknown"));
        let rounded = quality((None, None), None, StopReason::OptimalRounded);
        assert_eq!(rounded, "optimal for rounded lengths");
    }
}
