//! The live progress line on a terminal: how far a run is, and its best tour so far.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::output;
use crate::engine::{Progress, Stop};
use crate::instance::{BestKnown, Instance};
use crate::report::{Known, summary};

/// A progress line; see the [module](self). Without a terminal it shows nothing.
#[derive(Clone)]
pub struct ProgressLine {
    bar: ProgressBar,
    quiet: bool,
    by_time: bool,
    instance: Arc<Instance>,
    best_known: Option<BestKnown>,
}

impl ProgressLine {
    /// Creates a line for a run on an instance that ends by `stop`.
    pub fn new(quiet: bool, stop: &Stop, instance: &Arc<Instance>) -> ProgressLine {
        let bar = match (stop.time, stop.iterations) {
            _ if quiet || !std::io::stderr().is_terminal() => ProgressBar::hidden(),
            (Some(time), _) => ProgressBar::new(time.as_millis() as u64),
            (None, Some(iterations)) => ProgressBar::new(iterations),
            (None, None) => ProgressBar::no_length(),
        };
        let has_end = bar.length().is_some();
        let template =
            if has_end { "{elapsed:>4} {bar:24.cyan/dim} {msg}" } else { "{spinner:.cyan} {elapsed} {msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━━─"));
        }
        if !bar.is_hidden() {
            bar.set_message("preparing");
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        let best_known = instance.best_known();
        ProgressLine { bar, quiet, by_time: stop.time.is_some(), instance: instance.clone(), best_known }
    }

    /// Shows the progress of the run, which started `before` seconds after the command.
    pub fn show(&self, progress: &Progress, before: f64) {
        if self.bar.is_hidden() {
            return;
        }
        let position =
            if self.by_time { ((before + progress.seconds) * 1e3) as u64 } else { progress.iterations };
        self.bar.set_position(position);
        self.bar.set_message(self.message(progress));
    }

    /// Returns what the line says: the best tour, and where the search or the proof stands.
    fn message(&self, progress: &Progress) -> String {
        let best = progress.best_cost;
        if self.instance.may_be_forbidden(best) {
            return format!("best has forbidden pairs, {}", self.rates(progress));
        }
        let cost = self.instance.unit().show(self.instance.cost(best));
        if let Some(proof) = progress.proof {
            let bound = self.instance.lower_bound(proof.bound);
            let gap = self.instance.cost(best).percent_above(bound);
            let gap = gap.map_or_else(String::new, |gap| format!(", gap {gap:.3} %"));
            let bound = self.instance.unit().show(bound);
            return format!("best {cost}, bound {bound}{gap}, {} open nodes", proof.open);
        }
        let gap = self.best_known.and_then(|known| Known::beside(known, best).gap_percent(best));
        let gap = gap.map_or_else(String::new, |gap| format!(" ({gap:.2} %)"));
        format!("best {cost}{gap}, {}", self.rates(progress))
    }

    /// Returns how far the search is.
    fn rates(&self, progress: &Progress) -> String {
        let rate = summary::rate(progress.tours as f64 / progress.seconds.max(1e-9));
        format!("iteration {}, {rate} tours/s", progress.iterations)
    }

    /// Prints a message of the program above the line; nothing if the run is quiet.
    pub fn tell(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| output::tell(&format!("antwarp: {text}")));
        }
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Proving;
    use crate::instance::generate;

    #[test]
    fn a_proof_is_shown_once_it_has_a_bound() {
        let instance = Arc::new(generate::uniform(30, 1).unwrap());
        let line = ProgressLine::new(true, &Stop::never(), &instance);
        let progress = Progress {
            iterations: 7,
            best_cost: 4_000_000,
            iteration_cost: 4_000_000,
            seconds: 2.0,
            tours: 60,
            restarts: 0,
            proof: None,
        };
        assert_eq!(line.message(&progress), "best 4000000, iteration 7, 30.0 tours/s");
        let proof = Some(Proving { bound: 3_900_000, open: 12 });
        let told = line.message(&Progress { proof, ..progress });
        assert_eq!(told, "best 4000000, bound 3900000, gap 2.564 %, 12 open nodes");
    }
}
