//! What the view shows: lines of text, made of what a run has reported.

use std::collections::VecDeque;

use super::chart::{Chart, Curve, Scale};
use super::line::{Line, Style, columns, cut, printable};
use super::{Beside, Subject};
use crate::engine::Progress;
use crate::instance::{Cost, counted};
use crate::report::{Known, summary};

/// How far back the speed is measured, in seconds.
const RECENT: f64 = 3.0;
/// Fewest lines of a chart.
const FEWEST: usize = 5;
/// Most lines of a chart: more show nothing more.
const MOST: usize = 20;

/// What a run has reported so far.
#[derive(Default)]
pub(super) struct Reported {
    last: Option<Progress>,
    /// The last progress of each of several runs.
    each: Vec<Option<Progress>>,
    beside: Beside,
    /// Internal costs of the best tour, descending, and bounds, ascending, each after the seconds since the start.
    costs: Vec<(f64, i64)>,
    bounds: Vec<(f64, i64)>,
    /// The total number of tours or kicks at the reports of the last few seconds, each after the seconds since the start.
    recent: VecDeque<(f64, u64)>,
}

impl Reported {
    /// Adds a report of the run, this many seconds after the start.
    pub(super) fn add(&mut self, seconds: f64, progress: &Progress, beside: Beside) {
        (self.last, self.beside) = (Some(*progress), beside);
        if self.costs.last().is_none_or(|&(_, last)| progress.best_cost < last) {
            self.costs.push((seconds, progress.best_cost));
        }
        if let Some(bound) = beside.bound
            && self.bounds.last().is_none_or(|&(_, last)| last < bound)
        {
            self.bounds.push((seconds, bound));
        }
        self.recent.push_back((seconds, progress.tours));
        while self.recent.len() > 2 && self.recent[1].0 < seconds - RECENT {
            self.recent.pop_front();
        }
    }

    /// Replaces the reports of each of several runs.
    pub(super) fn set_each(&mut self, runs: &[Option<Progress>]) {
        self.each.clear();
        self.each.extend_from_slice(runs);
    }

    /// Returns tours or kicks a second, over the last few seconds; `None` until there are two reports.
    fn speed(&self) -> Option<f64> {
        let (from, to) = (self.recent.front()?, self.recent.back()?);
        let seconds = to.0 - from.0;
        (seconds > 0.0).then(|| to.1.saturating_sub(from.1) as f64 / seconds)
    }
}

/// How large the terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// Characters of a line.
    pub width: usize,
    /// Lines.
    pub height: usize,
}

/// Returns the lines of the view, this many seconds after the start; no more than the terminal has. `message` is the last one of the
/// program.
pub(super) fn lines(
    subject: &Subject,
    reported: &Reported,
    (seconds, message): (f64, Option<&str>),
    (size, is_unicode): (Size, bool),
) -> Vec<Line> {
    let mut top =
        vec![title(subject, seconds, size.width), bar(subject, reported, seconds, size, is_unicode)];
    top.extend(facts(subject, reported, seconds));
    let mut bottom = who(subject, reported);
    let mut last = Vec::new();
    if let Some(message) = message {
        last.push(Line::default().add(Style::Plain, message.trim()));
    }
    last.push(Line::default().add(Style::Dim, "q or Ctrl-C: stop and keep the best tour"));
    let room = size.height.saturating_sub(top.len() + bottom.len() + last.len() + 2);
    let chart = chart(subject, reported, seconds, (size.width, room.min(MOST), is_unicode));
    if !chart.is_empty() {
        top.push(Line::default());
        top.extend(chart);
    }
    if top.len() + bottom.len() + last.len() < size.height {
        bottom.insert(0, Line::default());
    }
    // Where there is little room, the last lines are those that say how to end it.
    let all = size.height.saturating_sub(last.len());
    top.extend(bottom);
    top.truncate(all);
    top.extend(last);
    top.truncate(size.height);
    top
}

/// Formats a time as clocks do.
fn clock(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

fn title(subject: &Subject, seconds: f64, width: usize) -> Line {
    let instance = &subject.instance;
    let clock = match subject.stop.time {
        Some(time) => format!("{} of {}", clock(seconds), clock(time.as_secs_f64())),
        None => clock(seconds),
    };
    let name = printable(&format!("{}, {}", instance.name(), counted(instance.len(), "node")));
    let name = cut(&name, width.saturating_sub(columns(&clock) + 1));
    let gap = width.saturating_sub(columns(&name) + columns(&clock));
    Line::default().add(Style::Strong, name).add(Style::Plain, " ".repeat(gap)).add(Style::Plain, clock)
}

/// Shows how much of the time or of the iterations is over.
fn bar(subject: &Subject, reported: &Reported, seconds: f64, size: Size, is_unicode: bool) -> Line {
    let by_time = subject.stop.time.map(|time| seconds / time.as_secs_f64().max(1e-9));
    let iterations = reported.last.map_or(0, |last| last.iterations) as f64;
    let by_iterations = subject.stop.iterations.map(|most| iterations / most.max(1) as f64);
    let Some(share) = by_time.into_iter().chain(by_iterations).reduce(f64::max) else {
        return Line::default();
    };
    let done = (share.clamp(0.0, 1.0) * size.width as f64).round() as usize;
    let (full, empty) = if is_unicode { ("━", "─") } else { ("=", "-") };
    Line::default().add(Style::Tour, full.repeat(done)).add(Style::Dim, empty.repeat(size.width - done))
}

/// Returns a fact, as the summary at the end has it.
fn fact(name: &str, value: impl ToString) -> Line {
    Line::default().add(Style::Dim, format!("{name:<11} ")).add(Style::Plain, value)
}

fn facts(subject: &Subject, reported: &Reported, seconds: f64) -> Vec<Line> {
    let instance = &subject.instance;
    let Some(last) = &reported.last else {
        return vec![fact("cost", "no tour yet: preparing")];
    };
    let cost = last.best_cost;
    let is_forbidden = instance.may_be_forbidden(cost);
    let mut facts = Vec::new();
    if is_forbidden {
        facts.push(fact("cost", "still has forbidden pairs"));
    } else {
        let shown = instance.unit().show(instance.cost(cost));
        facts.push(Line::default().add(Style::Dim, format!("{:<11} ", "cost")).add(Style::Strong, shown));
        if let Some(known) = subject.known
            && let Some(gap) = Known::beside(known, cost).gap_percent(cost)
        {
            let what = if known.proven { "the optimum" } else { "the best known" };
            let gap = match gap {
                0.0 => format!("none: as short as {what}"),
                _ => format!("{} {what}", summary::distance(gap)),
            };
            facts.push(fact("gap", gap));
        }
        if let Some(bound) = reported.beside.bound.map(|bound| instance.lower_bound(bound))
            && let Some(gap) = instance.cost(cost).percent_above(bound)
        {
            let name = if facts.len() > 1 { "" } else { "gap" };
            let bound = instance.unit().show(bound);
            let gap = match summary::rounded_up(gap) {
                0.0 => format!("none: as short as the bound {bound}"),
                gap => format!("{} the bound {bound}", summary::distance(gap)),
            };
            facts.push(fact(name, gap));
        }
    }
    if let Some(&(found, _)) = reported.costs.last() {
        facts.push(fact("improved", format!("{} ago", clock(seconds - found))));
    }
    if last.tours > 0 {
        let speed =
            reported.speed().map_or_else(String::new, |speed| format!("{}/s, ", summary::rate(speed)));
        facts.push(fact(subject.made, format!("{speed}{} in all", summary::rate(last.tours as f64))));
    }
    if last.restarts > 0 {
        facts.push(fact("restarts", format!("{} ended with this cost", last.restarts)));
    }
    facts
}

/// Returns what a [part](crate::engine::Engine::part) of an engine does.
fn doing(part: &str) -> &str {
    match part {
        "descent" => "local search on new tours",
        "kicks" | "passes" => "random kicks and local search",
        "crossing" => "crossing tours",
        "kicks after crossing" => "kicks of the best tour",
        "ants" => "ants build tours",
        "generations" => "crossing a population",
        other => other,
    }
}

/// Returns a line for each GPU and each group of threads: what it does.
fn who(subject: &Subject, reported: &Reported) -> Vec<Line> {
    let Some(last) = &reported.last else { return Vec::new() };
    let mut rows = Vec::new();
    let instance = &subject.instance;
    for (number, run) in reported.each.iter().enumerate() {
        let what = run.map_or_else(
            || "preparing".to_owned(),
            |run| {
                let rate = summary::rate(run.tours as f64 / run.seconds.max(1e-9));
                let what = format!("{}, {rate} {}/s", doing(run.part), subject.made);
                // The internal cost of a tour with forbidden pairs means nothing to anyone.
                if instance.may_be_forbidden(run.best_cost) {
                    return what;
                }
                format!("{what}, cost {}", instance.unit().show(instance.cost(run.best_cost)))
            },
        );
        rows.push((format!("GPU {}", number + 1), what));
    }
    // Once the search is over, only the proof goes on.
    if reported.each.is_empty() && last.part != "proof" {
        let machine = &subject.machine;
        let name = if machine.backend == "cpu" {
            counted(reported.beside.searching, "thread")
        } else {
            machine.device.clone()
        };
        rows.push((name, doing(last.part).to_owned()));
    }
    if let Some(count) = reported.beside.bounding {
        rows.push((counted(count, "thread"), "computing a lower bound".to_owned()));
    }
    if let Some(proof) = last.proof {
        let what = match proof.open {
            0 => "proving by cutting planes".to_owned(),
            open => format!("proving by branch and cut, {open} open nodes"),
        };
        rows.push((counted(proof.threads, "thread"), what));
    }
    let wide = rows.iter().map(|(name, _)| columns(name)).max().unwrap_or(0);
    let row = |(name, what): (String, String)| {
        let gap = " ".repeat(wide - columns(&name) + 2);
        Line::default().add(Style::Dim, name + &gap).add(Style::Plain, what)
    };
    rows.into_iter().map(row).collect()
}

/// Draws how tour and bound approach each other, or the cost as long as there is nothing to compare it with.
fn chart(
    subject: &Subject,
    reported: &Reported,
    seconds: f64,
    (width, height, is_unicode): (usize, usize, bool),
) -> Vec<Line> {
    if height < FEWEST {
        return Vec::new();
    }
    let instance = &subject.instance;
    let costs = reported.costs.iter().filter(|&&(_, cost)| !instance.may_be_forbidden(cost));
    let costs: Vec<(f64, f64)> = costs.map(|&(at, cost)| (at, instance.cost(cost).as_f64())).collect();
    let Some(&(_, best)) = costs.last() else { return Vec::new() };
    let bounds = reported.bounds.iter().map(|&(at, bound)| (at, instance.lower_bound(bound).as_f64()));
    let bounds: Vec<(f64, f64)> = bounds.collect();
    let known = subject.known.map(|known| Cost::from(known.cost).as_f64()).filter(|&known| known <= best);
    let bound = bounds.last().map(|&(_, bound)| bound);
    // What is known of the optimum, from below and from above.
    let from = known.into_iter().chain(bound).reduce(f64::max).filter(|&from| from > 0.0);
    let to = known.unwrap_or(best);
    let curve = |points, style, ascii, is_dotted| Curve { points, style, ascii, is_dotted };
    let (curves, scale, unit, caption) = match from {
        Some(from) => {
            let above = costs.iter().map(|&(at, cost)| (at, 100.0 * (cost - from).max(0.0) / from)).collect();
            let below = bounds.iter().map(|&(at, bound)| (at, 100.0 * (to - bound).max(0.0) / to)).collect();
            let tour = curve(above, Style::Tour, '*', false);
            let bound = curve(below, Style::Bound, '-', true);
            let caption = match (known, subject.known.is_some_and(|known| known.proven)) {
                (Some(_), true) => "distance from the optimum",
                (Some(_), false) => "distance from the best known",
                (None, _) => "gap between tour and bound",
            };
            (vec![tour, bound], Scale::Logarithmic, " %", caption)
        }
        None => (vec![curve(costs, Style::Tour, '*', false)], Scale::Linear, "", "cost"),
    };
    let has_bound = curves.get(1).is_some_and(|curve| !curve.points.is_empty());
    let chart = Chart { width, height: height - 1, seconds: seconds.max(1.0), scale, unit, is_unicode };
    let drawn = chart.draw(&curves);
    if drawn.is_empty() {
        return drawn;
    }
    let (tour, dots) = if is_unicode { ("⠒⠒", "⠂⠂") } else { ("**", "--") };
    let mut head =
        Line::default().add(Style::Dim, format!("{caption}: ")).add(Style::Tour, format!("{tour} tour"));
    if has_bound {
        head = head.add(Style::Plain, "  ").add(Style::Bound, format!("{dots} bound"));
    }
    if head.len() > width {
        head = Line::default().add(Style::Dim, caption);
    }
    [vec![head], drawn].concat()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::engine::{Machine, Proving, Stop};
    use crate::instance::{BestKnown, Instance, generate};

    fn subject() -> Subject {
        Subject {
            instance: Arc::new(generate::uniform(30, 1).unwrap()),
            stop: Stop::after(Duration::from_secs(3700)),
            machine: Machine { backend: "cpu", device: "a".into(), units: 8, details: String::new() },
            made: "kicks",
            known: None,
        }
    }

    fn progress(best_cost: i64, tours: u64) -> Progress {
        Progress {
            iterations: tours,
            best_cost,
            iteration_cost: best_cost,
            seconds: 1.0,
            tours,
            part: "crossing",
            restarts: 2,
            proof: None,
        }
    }

    fn shown(reported: &Reported, size: (usize, usize), is_unicode: bool) -> Vec<String> {
        shown_of(&subject(), reported, size, is_unicode)
    }

    fn shown_of(
        subject: &Subject,
        reported: &Reported,
        size: (usize, usize),
        is_unicode: bool,
    ) -> Vec<String> {
        let size = Size { width: size.0, height: size.1 };
        let lines = lines(subject, reported, (61.0, Some("\nhello")), (size, is_unicode));
        lines.iter().map(Line::text).collect()
    }

    fn reported() -> Reported {
        let mut reported = Reported::default();
        let beside = Beside { searching: 8, bounding: Some(2), bound: None };
        reported.add(1.0, &progress(5_000_000, 100), beside);
        let beside = Beside { bounding: None, bound: Some(3_900_000), ..beside };
        let proof = Some(Proving { bound: 3_900_000, open: 12, threads: 4 });
        reported.add(2.0, &Progress { proof, ..progress(4_000_000, 2100) }, beside);
        reported
    }

    #[test]
    fn before_the_first_tour_the_view_says_so() {
        let lines = shown(&Reported::default(), (80, 24), true);
        assert_eq!(lines[2], "cost        no tour yet: preparing");
        assert!(lines[0].ends_with("1:01 of 1:01:40"), "{lines:?}");
    }

    #[test]
    fn facts_and_who_does_what_are_shown() {
        let lines = shown(&reported(), (80, 30), true);
        for expected in [
            "cost        4000000",
            "gap         2.565 % above the bound 3900000",
            "improved    0:59 ago",
            "kicks       2.0 k/s, 2.1 k in all",
            "restarts    2 ended with this cost",
            "gap between tour and bound: ⠒⠒ tour  ⠂⠂ bound",
            "8 threads  crossing tours",
            "4 threads  proving by branch and cut, 12 open nodes",
            "hello",
        ] {
            assert!(lines.iter().any(|line| line == expected), "{expected}: {lines:#?}");
        }
        assert_eq!(lines.last().unwrap(), "q or Ctrl-C: stop and keep the best tour");
    }

    #[test]
    fn a_gap_is_never_shown_as_none() {
        let gap = |known: i64, bound: Option<i64>| {
            let known = Some(BestKnown { cost: known, proven: false });
            let mut reported = Reported::default();
            reported.add(1.0, &progress(4_000_000, 1), Beside { searching: 1, bounding: None, bound });
            shown_of(&Subject { known, ..subject() }, &reported, (80, 30), true)[3..5].to_vec()
        };
        assert_eq!(gap(3_999_999, None)[0], "gap         less than 0.001 % above the best known");
        assert_eq!(gap(4_000_000, None)[0], "gap         none: as short as the best known");
        assert_eq!(gap(5_000_000, None)[0], "gap         20.000 % below the best known");
        assert_eq!(gap(4_000_000, Some(3_999_999))[1], "            0.001 % above the bound 3999999");
        assert_eq!(gap(4_000_000, Some(4_000_000))[1], "            none: as short as the bound 4000000");
    }

    #[test]
    fn costs_with_forbidden_pairs_are_not_shown() {
        let no = f64::INFINITY;
        let costs = vec![0.0, 1.5, no, 1.5, 0.0, 2.0, no, 2.0, 0.0];
        let instance = Instance::from_costs("m", costs).unwrap();
        let forbidden = i64::from(instance.forbidden().unwrap());
        let subject = Subject { instance: Arc::new(instance), ..subject() };
        let run = progress(forbidden, 100);
        let mut reported = Reported::default();
        reported.add(1.0, &run, Beside::default());
        reported.set_each(&[Some(run), Some(progress(0, 100))]);
        let lines = shown_of(&subject, &reported, (80, 30), true);
        assert!(lines.iter().any(|line| line == "cost        still has forbidden pairs"), "{lines:#?}");
        assert!(lines.iter().any(|line| line == "GPU 1  crossing tours, 100.0 kicks/s"), "{lines:#?}");
        assert!(
            lines.iter().any(|line| line == "GPU 2  crossing tours, 100.0 kicks/s, cost 0"),
            "{lines:#?}"
        );
        assert!(lines.iter().all(|line| !line.contains(&forbidden.to_string())), "{lines:#?}");
    }

    #[test]
    fn names_of_wide_characters_leave_room_for_the_clock() {
        for (name, shown) in [("北京".repeat(40), "北京北"), ("e\u{301}a\x1b[1m".into(), "e\u{301}a?[1m")]
        {
            let costs = vec![0.0, 1.0, 2.0, 1.0, 0.0, 3.0, 2.0, 3.0, 0.0];
            let instance = Arc::new(Instance::from_costs(&name, costs).unwrap());
            let line = title(&Subject { instance, ..subject() }, 61.0, 40);
            let text = line.text();
            assert!(text.starts_with(shown) && text.ends_with(" 1:01 of 1:01:40"), "{text}");
            assert_eq!((line.len(), columns(&text)), (40, 40), "{text}");
        }
    }

    #[test]
    fn it_fits_terminals_of_every_size() {
        for width in [1, 5, 20, 40, 80, 200] {
            for height in [1, 2, 3, 5, 8, 24, 60] {
                for is_unicode in [false, true] {
                    let size = Size { width, height };
                    let lines = lines(&subject(), &reported(), (61.0, None), (size, is_unicode));
                    assert!(lines.len() <= height, "{width} x {height}");
                    for line in &lines {
                        let mut frame = String::new();
                        line.draw(&mut frame, width, false);
                        assert!(columns(&frame) <= width, "{frame}");
                        assert!(is_unicode || frame.is_ascii(), "{frame}");
                    }
                    assert!(lines.last().is_some_and(|line| line.text().starts_with("q or Ctrl-C")));
                }
            }
        }
    }
}
