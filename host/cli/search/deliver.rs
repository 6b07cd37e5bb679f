//! What a search gives: its outputs and its summary. A solution is never lost.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::super::output::{self, Output};
use super::super::{Error, Result};
use super::Outputs;
use crate::backend::Machine;
use crate::engine::Stop;
use crate::instance::{Cost, Instance, qaplib, tour_file};
use crate::report::{Known, summary};
use crate::solver::search::{Assignment, Done, SearchSettings, Task};

/// What is written to an output.
type Content<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// A search that is over.
pub(super) struct Ended<'a> {
    /// What was solved.
    pub task: &'a Task,
    /// How, with the defaults that were chosen for the instance.
    pub settings: &'a SearchSettings,
    /// The limits that were given.
    pub stop: &'a Stop,
    /// Where.
    pub machine: Machine,
    /// What was found. Its seconds count from the start of the command.
    pub done: &'a Done,
}

impl Ended<'_> {
    /// Writes everything that was asked for, and the summary.
    ///
    /// # Errors
    /// The first output that could not be written; [`Error::Rescued`] if the solution is in no other.
    pub fn deliver(&self, outputs: &Outputs) -> Result<()> {
        self.write(outputs)?;
        if outputs.quiet {
            return Ok(());
        }
        let text = self.summary();
        if outputs.all().any(Output::is_stdout) {
            output::tell(text.trim_end());
            return Ok(());
        }
        match output::print(|out| out.write_all(text.as_bytes())) {
            Err(error) if error.status() == 0 => Ok(()),
            other => other,
        }
    }

    /// Writes the files. A solution that could not go where it should is printed.
    fn write(&self, outputs: &Outputs) -> Result<()> {
        let solution = |out: &mut dyn Write| self.write_solution(out);
        let json = |out: &mut dyn Write| {
            serde_json::to_writer(&mut *out, &self.report())?;
            writeln!(out)
        };
        let (solution, json): (Content<'_>, Content<'_>) = (&solution, &json);
        let given = [outputs.solution.iter().zip([solution]), outputs.json.iter().zip([json])];
        let mut given: Vec<_> = given.into_iter().flatten().collect();
        // What may have to wait for someone who reads it comes last.
        given.sort_by_key(|(output, _)| output.file().is_none());
        let mut saved = false;
        let mut failure = None;
        for (output, content) in given {
            match output.write(content) {
                Ok(()) => saved = true,
                // Whoever closed the pipe has what he wants.
                Err(error) if error.status() == 0 => saved = true,
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            None => Ok(()),
            Some(error) if saved => Err(error),
            Some(error) => {
                let place = match Output::Stdout.write(solution) {
                    Ok(()) => "The solution was written to the standard output instead.".to_owned(),
                    Err(_) => "The solution could not be written anywhere else either.".to_owned(),
                };
                Err(Error::Rescued { first: Box::new(error), place })
            }
        }
    }

    /// The user's cost of the solution. Forbidden pairs of a tour are left out.
    fn cost(&self) -> Cost {
        let found = &self.done.found;
        match self.tour() {
            Some((instance, tour)) => instance.tour_cost(&tour),
            None => found.cost,
        }
    }

    /// The tour that was found, where that is the problem.
    fn tour(&self) -> Option<(&Instance, Vec<u32>)> {
        match (self.task, &self.done.found.solution) {
            (Task::Tour(instance, _), Assignment::Integers(cities)) => {
                Some((instance, cities.iter().map(|&city| city as u32).collect()))
            }
            _ => None,
        }
    }

    /// Rejects a tour with forbidden pairs, once it has been written.
    ///
    /// # Errors
    /// [`Error::Forbidden`], with the first such pair.
    pub fn refuse_forbidden(&self) -> Result<()> {
        let Some((instance, tour)) = self.tour() else { return Ok(()) };
        match instance.forbidden_steps(&tour).first() {
            None => Ok(()),
            Some(&(from, to)) => {
                let (from, to) = (instance.label(from), instance.label(to));
                Err(Error::Forbidden(format!("no tour without a forbidden pair was found: {from} to {to}")))
            }
        }
    }

    /// The best known cost, and how much more the cost is in percent.
    fn known(&self) -> (Option<Known>, Option<f64>) {
        // What is published is whole numbers.
        let Some(cost) = self.done.found.cost.whole() else { return (None, None) };
        let known = self.task.best_known().map(|known| Known::beside(known, cost));
        let gap = known.as_ref().and_then(|known| known.gap_percent(cost));
        (known, gap)
    }

    /// Everything about the run.
    fn report(&self) -> Value {
        let (task, found, (known, gap)) = (self.task, &self.done.found, self.known());
        json!({
            "antwarp": env!("CARGO_PKG_VERSION"),
            "problem": task.problem(),
            "instance": task.name(),
            "elements": task.elements(),
            "neighbors": task.neighbors(),
            "cost": self.cost(),
            "best_known": known,
            "gap_percent": gap,
            "settings": self.settings,
            "limits": {
                "time_seconds": self.stop.time.map(|time| time.as_secs_f64()),
                "iterations": self.stop.iterations,
                "target": self.settings.target.map(|target| task.user_cost(target)),
            },
            "machine": self.machine,
            "layout": found.layout,
            "seconds": found.seconds,
            "setup_seconds": found.setup_seconds,
            "iterations": found.iterations,
            "best_iteration": found.best_iteration,
            "evaluations": found.evaluations,
            "descents": found.descents,
            "stopped_by": found.stopped_by,
            "failure": found.failure,
            "phases": self.done.phases.map(|[copies, kernels, host]| json!({
                "copies_seconds": copies.as_secs_f64(),
                "kernels_seconds": kernels.as_secs_f64(),
                "host_seconds": host.as_secs_f64(),
            })),
            "walks": found.costs.iter().map(|&cost| task.user_cost(cost)).collect::<Vec<_>>(),
            "solution": found.solution,
        })
    }

    fn summary(&self) -> String {
        let (task, found, machine) = (self.task, &self.done.found, &self.machine);
        let searching = (found.seconds - found.setup_seconds).max(1e-9);
        let (problem, name) = (task.problem(), task.name());
        let (elements, neighbors) = (task.elements(), task.neighbors());
        let stopped = summary::stopped(found.stopped_by);
        let each = searching * 1e6 / found.iterations.max(1) as f64;
        let looked = found.evaluations as f64 / searching;
        let (seconds, setup, best) = (found.seconds, found.setup_seconds, found.best_iteration);
        let mut text = String::new();
        let mut line = |name: &str, value: String| text += &format!("{name:<12} {value}\n");
        line("problem", format!("{problem} {name} ({elements} elements, {neighbors} neighbours)"));
        // All digits of real numbers.
        line("cost", format!("{}{}", json!(self.cost()), self.beside()));
        line("machine", format!("{} on {} ({})", machine.backend, machine.device, machine.details));
        line("layout", found.layout.to_string());
        line("iterations", format!("{} of each walk, the best after {best}, {stopped}", found.iterations));
        let rate = format!("{each:.3} us an iteration, {looked:.3e} neighbours a second");
        line("time", format!("{seconds:.3} s, {setup:.3} before the first iteration; {rate}"));
        text
    }

    /// What is known to stand beside the cost.
    fn beside(&self) -> String {
        let (Some(known), gap) = self.known() else { return String::new() };
        let kind = match known {
            Known { other_instance: true, .. } => "less than the proven optimum of another one of its name,",
            Known { proven: true, .. } => "optimum",
            _ => "best known",
        };
        let gap = gap.map_or_else(String::new, |gap| format!(", gap {gap:.3} %"));
        format!(" ({kind} {}{gap})", known.cost)
    }

    fn write_solution(&self, mut out: &mut dyn Write) -> io::Result<()> {
        if let Some((instance, tour)) = self.tour() {
            return tour_file::write(instance, &tour, instance.tour_cost(&tour), &mut out);
        }
        let found = &self.done.found;
        match (self.task, &found.solution) {
            (Task::Qap(..), Assignment::Integers(places)) => {
                let places: Vec<u32> = places.iter().map(|&place| place as u32).collect();
                qaplib::write_solution(&mut out, found.cost.floor(), &places)
            }
            (_, Assignment::Integers(values)) => values.iter().try_for_each(|value| writeln!(out, "{value}")),
            // Enough digits to read the same number back.
            (_, Assignment::Reals(values)) => values.iter().try_for_each(|value| writeln!(out, "{value:?}")),
        }
    }
}
