//! The summary at the end of a run, with one fact per line.

use std::fmt;

use super::{Known, Report};
use crate::engine::StopReason;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: String| writeln!(f, "{name:<12} {value}");
        let instance = &self.instance;
        line("instance", format!("{}, {} nodes, {}", instance.name, instance.nodes, instance.metric))?;
        if let Some(shape) = &instance.shape {
            line("shape", shape.clone())?;
        }
        line("cost", instance.unit.show(self.cost))?;
        if !self.forbidden.is_empty() {
            let pairs: Vec<_> =
                self.forbidden.iter().take(5).map(|[from, to]| format!("{from} to {to}")).collect();
            let more = if self.forbidden.len() > 5 { ", ..." } else { "" };
            line(
                "forbidden",
                format!("{} pairs, not counted: {}{more}", self.forbidden.len(), pairs.join(", ")),
            )?;
        }
        line("best known", known(self.best_known, self.gap_percent))?;
        if let Some(bound) = self.bound {
            line("bound", bound.to_string())?;
        }
        line("time", format!("{:.2} s, of which {:.2} s set-up", self.seconds, self.setup_seconds))?;
        line(
            "iterations",
            format!("{}, {}, {}", self.iterations, best_found(self), stopped(self.stopped_by)),
        )?;
        line("tours", format!("{}, {} per second", self.tours, rate(self.tours_per_second)))?;
        let machine = &self.machine;
        line("backend", format!("{}: {}, {}", machine.backend, machine.device, units(self)))?;
        line("layout", self.layout.clone())?;
        if let Some(islands) = &self.islands {
            line("islands", islands.to_string())?;
        }
        line("seed", self.seed.to_string())
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
    let gap = gap.map_or_else(String::new, |gap| format!(", gap {gap:.3} %"));
    format!("{}{kind}{gap}", known.cost)
}

/// Describes a published length that is below a bound.
pub(crate) fn published_below_bound(cost: i64) -> String {
    format!("{cost} was published, less than the bound: perhaps for lengths rounded otherwise")
}

fn best_found(report: &Report) -> String {
    match report.best_iteration {
        0 if report.stopped_by == StopReason::LocalOptimum => "a descent without kicks".to_owned(),
        0 if report.stopped_by == StopReason::Optimal && report.iterations == 0 => "none needed".to_owned(),
        // Crossing and descents come between and before kicks.
        0 if report.trace.len() > 1 => "best found before the first one".to_owned(),
        0 => "no improvement over the initial tour".to_owned(),
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
        "cpu" => format!("{} threads, {}", machine.units, machine.details),
        _ => format!("{} multiprocessors, {}", machine.units, machine.details),
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
