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
        let best = progress.best_cost;
        let gap = self.best_known.and_then(|known| Known::beside(known, best).gap_percent(best));
        let gap = gap.map_or_else(String::new, |gap| format!(" ({gap:.2} %)"));
        let rate = summary::rate(progress.tours as f64 / progress.seconds.max(1e-9));
        let best = if self.instance.may_be_forbidden(best) {
            "has forbidden pairs".to_owned()
        } else {
            self.instance.unit().show(self.instance.cost(best))
        };
        self.bar.set_message(format!("best {best}{gap}, iteration {}, {rate} tours/s", progress.iterations));
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
