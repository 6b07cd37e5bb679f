//! How far a run is, and its best tour so far: a line on a terminal, or a view that fills it.

use std::sync::Arc;
use std::time::Duration;

use console::Term;
use indicatif::{ProgressBar, ProgressStyle};

use super::live::{Beside, Live, Subject};
use super::{display, output};
use crate::engine::Progress;
use crate::instance::{BestKnown, Instance};
use crate::report::{Known, summary};

/// Fewest columns of a terminal whose line has a bar.
const FOR_A_BAR: u16 = 72;

/// A progress line, or a view; see the [module](self). Without a terminal it shows nothing.
#[derive(Clone)]
pub struct ProgressLine {
    bar: ProgressBar,
    live: Option<Arc<Live>>,
    quiet: bool,
    by_time: bool,
    instance: Arc<Instance>,
    best_known: Option<BestKnown>,
    /// What the run counts: tours or kicks.
    made: &'static str,
}

impl ProgressLine {
    /// Creates a line for a run, or a view if one is wanted and the terminal can show it; neither if `quiet`.
    pub fn new((quiet, wants_view): (bool, bool), subject: Subject) -> ProgressLine {
        let (stop, instance) = (&subject.stop, subject.instance.clone());
        let (by_time, best_known, made) = (stop.time.is_some(), subject.known, subject.made);
        let (time, iterations) = (stop.time.map(|time| time.as_millis() as u64), stop.iterations);
        let live = if wants_view && !quiet { Live::begin(subject).map(Arc::new) } else { None };
        let bar = bar(quiet || live.is_some(), time.or(iterations));
        if !bar.is_hidden() {
            bar.set_message("preparing");
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        ProgressLine { bar, live, quiet, by_time, instance, best_known, made }
    }

    /// Shows the progress of the run, which started `before` seconds after the command, and what goes on beside it.
    pub fn show(&self, progress: &Progress, before: f64, beside: impl FnOnce() -> Beside) {
        if let Some(live) = &self.live {
            return live.show(before + progress.seconds, progress, beside());
        }
        if self.bar.is_hidden() {
            return;
        }
        let position =
            if self.by_time { ((before + progress.seconds) * 1e3) as u64 } else { progress.iterations };
        self.bar.set_position(position);
        self.bar.set_message(self.message(progress));
    }

    /// Shows in the view the last progress of each of several runs that work at the same time; `None` for one that has not reported.
    pub fn show_each(&self, runs: &[Option<Progress>]) {
        self.live.iter().for_each(|live| live.show_each(runs));
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
            let gap = gap.map_or_else(String::new, |gap| format!(", gap {}", summary::percent(gap)));
            let bound = self.instance.unit().show(bound);
            return format!("best {cost}, bound {bound}{gap}, {} open nodes", proof.open);
        }
        let gap = self.best_known.and_then(|known| Known::beside(known, best).gap_percent(best));
        let gap = gap.map_or_else(String::new, |gap| format!(" ({})", summary::percent(gap)));
        format!("best {cost}{gap}, {}", self.rates(progress))
    }

    /// Returns how far the search is.
    fn rates(&self, progress: &Progress) -> String {
        let rate = summary::rate(progress.tours as f64 / progress.seconds.max(1e-9));
        format!("iteration {}, {rate} {}/s", progress.iterations, self.made)
    }

    /// Prints a message of the program above the line, or once the view has ended; nothing if the run is quiet.
    pub fn tell(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| output::tell(&format!("antwarp: {text}")));
        }
    }

    /// Removes the line, or ends the view.
    pub fn finish(&self) {
        self.live.iter().for_each(|live| live.finish());
        self.bar.finish_and_clear();
    }
}

/// Creates a progress bar of this length, if it is known, in the unit of the positions that the caller sets. It is drawn on the standard
/// error, and hidden if that is not a terminal.
pub fn bar(is_hidden: bool, length: Option<u64>) -> ProgressBar {
    let bar = match length {
        _ if is_hidden => ProgressBar::hidden(),
        Some(length) => ProgressBar::new(length),
        None => ProgressBar::no_length(),
    };
    // Only as much of the message as fits; in a narrow terminal, it is worth more than a bar.
    let template = match length {
        None => "{spinner:.cyan} {elapsed} {wide_msg}",
        Some(_) if Term::stderr().size().1 < FOR_A_BAR => "{elapsed:>4} {wide_msg}",
        Some(_) => "{elapsed:>4} {bar:16.cyan/dim} {wide_msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━━─"));
    }
    // Last: until now the bar asks the standard error whether it has colours.
    if !bar.is_hidden() {
        bar.set_draw_target(display::target());
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Machine, Proving, Stop};
    use crate::instance::generate;

    #[test]
    fn a_proof_is_shown_once_it_has_a_bound() {
        let instance = Arc::new(generate::uniform(30, 1).unwrap());
        let machine = Machine { backend: "cpu", device: String::new(), units: 1, details: String::new() };
        let subject = Subject { instance, stop: Stop::never(), machine, made: "kicks", known: None };
        let line = ProgressLine::new((true, false), subject);
        let progress = Progress {
            iterations: 7,
            best_cost: 4_000_000,
            iteration_cost: 4_000_000,
            seconds: 2.0,
            tours: 60,
            part: "kicks",
            restarts: 0,
            proof: None,
        };
        assert_eq!(line.message(&progress), "best 4000000, iteration 7, 30.0 kicks/s");
        let proof = Some(Proving { bound: 3_900_000, open: 12, threads: 1 });
        let told = line.message(&Progress { proof, ..progress });
        assert_eq!(told, "best 4000000, bound 3900000, gap 2.564 %, 12 open nodes");
    }
}
