//! Delivers the results of a run: its outputs and its summary. A tour is never lost.

use std::io::{self, Write};
use std::path::Path;

use console::Term;
use serde::Serialize;

use super::super::output::{self, Output};
use super::super::{Error, Result};
use super::args::Outputs;
use super::{Args, Plan, facts};
use crate::instance::population_file::{self, Header};
use crate::instance::{Instance, Metric, tour_file};
use crate::report::route::Route;
use crate::report::summary::{NAMES, Summary};
use crate::report::{Report, geojson, gpx, itinerary, page, picture, png, svg};
use crate::solver::genetic::Individuals;
use crate::solver::proof::Proof;
use crate::solver::{Solution, SolveError};

/// Number of places shown at each end of a long tour.
const SHOWN: usize = 20;

/// Wraps a line of the summary between words; what follows is indented like the value. Paths and names that are too long stay whole.
fn wrapped(line: &str, columns: usize) -> String {
    let mut text = String::new();
    let mut width = 0;
    for word in line.split_inclusive(' ') {
        let shown = console::measure_text_width(word.trim_end());
        if width + shown > columns && width > NAMES + 1 {
            text.truncate(text.trim_end().len());
            text += &format!("\n{:width$}", "", width = NAMES + 1);
            width = NAMES + 1;
        }
        text += word;
        width += console::measure_text_width(word);
    }
    text + "\n"
}

/// Dims the name at the start of a line, if the terminal has colours.
fn dimmed(line: &str) -> String {
    match line.split_at_checked(NAMES) {
        Some((name, value)) => format!("{}{value}", console::style(name).dim()),
        None => line.to_owned(),
    }
}

/// Writes a tour as a TSPLIB tour file.
///
/// # Errors
/// If the output cannot be written.
pub(super) fn write_tour(output: &Output, instance: &Instance, tour: &[u32]) -> Result<()> {
    let cost = instance.tour_cost(tour);
    output.write(|mut out| tour_file::write(instance, tour, cost, &mut out))
}

/// Writes the places in tour order, as CSV.
///
/// # Errors
/// If the output cannot be written.
pub(super) fn write_csv(output: &Output, instance: &Instance, tour: &[u32]) -> Result<()> {
    output.write(|out| itinerary::write(&Route::new(instance, tour), out))
}

/// Writes a value as a line of JSON.
///
/// # Errors
/// If it cannot be written.
pub(super) fn json_line(mut out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)
}

/// Writes the certificate of a proof.
fn write_certificate(output: &Output, proof: Option<&Proof>) -> Result<()> {
    match proof.and_then(|proof| proof.certificate.as_ref()) {
        Some(certificate) => output.write(|out| certificate.write(out)),
        None => {
            output::tell("antwarp: there is no complete proof, so no certificate was written");
            Ok(())
        }
    }
}

/// Something that can be written to an output.
type Writing<'a> = Box<dyn FnOnce(&Output) -> Result<()> + 'a>;

/// A format that shows where the tour goes, and what it needs.
pub(super) struct Drawing {
    /// Its option, with the dashes.
    pub option: &'static str,
    /// Returns where the option puts it.
    pub output: fn(&Outputs) -> &Option<Output>,
    /// Whether it is for latitudes and longitudes only.
    needs_degrees: bool,
    write: fn(&Route<'_>, &mut dyn Write) -> io::Result<()>,
}

/// All such formats.
pub(super) const DRAWINGS: [Drawing; 4] = [
    Drawing {
        option: "--geojson",
        output: |outputs| &outputs.geojson,
        needs_degrees: true,
        write: geojson::write,
    },
    Drawing { option: "--gpx", output: |outputs| &outputs.gpx, needs_degrees: true, write: gpx::write },
    Drawing {
        option: "--svg",
        output: |outputs| &outputs.svg,
        needs_degrees: false,
        write: |route, out| picture::of(route).map_or(Ok(()), |drawing| svg::write(&drawing, out)),
    },
    Drawing {
        option: "--png",
        output: |outputs| &outputs.png,
        needs_degrees: false,
        write: |route, out| picture::of(route).map_or(Ok(()), |drawing| png::write(&drawing, out)),
    },
];

impl Drawing {
    /// Says why an instance cannot have such a file, in words that follow its name; `None` if it can.
    pub(super) fn missing(&self, instance: &Instance) -> Option<&'static str> {
        let is_on_globe = instance.metric().is_some_and(Metric::is_on_globe);
        match self.needs_degrees {
            true if !is_on_globe => Some("has no latitudes and longitudes"),
            false if instance.metric().is_none() && instance.display_points().is_none() => {
                Some("has no coordinates")
            }
            _ => None,
        }
    }

    /// Writes the file of an instance that is not [`missing`](Drawing::missing) what it needs. `start` is the node where the tour starts,
    /// if one was chosen.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub(super) fn write(
        &self,
        output: &Output,
        instance: &Instance,
        tour: &[u32],
        start: Option<u32>,
    ) -> Result<()> {
        let route = Route { is_start_chosen: start.is_some(), ..Route::new(instance, tour) };
        output.write(|out| (self.write)(&route, out))
    }
}

impl Plan {
    /// Writes all requested outputs, and the summary. A tour whose output fails is written elsewhere. `kept` is the file in which the
    /// best tour so far was kept, if it was not requested: it is removed if the tour is in another one, else it receives the tour.
    ///
    /// # Errors
    /// The first output that could not be written; [`Error::Rescued`] if the tour is in no other.
    pub(super) fn deliver(
        &self,
        solution: &Solution,
        report: &Report,
        (individuals, proof): (Option<&mut Individuals<'_>>, Option<&Proof>),
        kept: Option<&Path>,
    ) -> Result<()> {
        // Whether the tour is in an output, or whoever reads it has seen enough; and whether it is in one for certain.
        let (mut safe, mut is_written) = (false, false);
        let mut failure = None;
        for (is_tour, output, write) in self.writings(solution, report, (individuals, proof)) {
            match write(output) {
                Ok(()) => {
                    is_written |= is_tour;
                    safe |= is_written;
                }
                // A reader that closed the pipe has seen enough.
                Err(error) if error.status() == 0 => safe |= is_tour,
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        let kept = kept.filter(|path| {
            // If it cannot be removed, there are two files, and nothing is lost.
            let is_removed = is_written && std::fs::remove_file(path).is_ok();
            !is_removed
        });
        if let Some(path) = kept.filter(|_| !is_written) {
            match tour_file::save(&self.instance, &solution.tour, path) {
                Ok(()) => {
                    let place = format!("The tour was written to {} instead.", path.display());
                    failure = failure.map(|error| Error::Rescued { first: Box::new(error), place });
                    safe = true;
                }
                Err(error) => failure = failure.or(Some(error.into())),
            }
        }
        match failure {
            None => self.summarize(report, kept),
            Some(error) if safe => Err(error),
            Some(error) => Err(self.rescue(solution, error)),
        }
    }

    /// Returns what to write, where, and whether the tour is in it. What may have to wait for someone who reads it comes last.
    fn writings<'a>(
        &'a self,
        solution: &'a Solution,
        report: &'a Report,
        (individuals, proof): (Option<&'a mut Individuals<'_>>, Option<&'a Proof>),
    ) -> Vec<(bool, &'a Output, Writing<'a>)> {
        let (outputs, instance, tour) = (&self.outputs, &*self.instance, &*solution.tour);
        let others: [(_, _, Writing<'a>); 6] = [
            (true, &outputs.tour, Box::new(move |output| write_tour(output, instance, tour))),
            (true, &outputs.csv, Box::new(move |output| write_csv(output, instance, tour))),
            (true, &outputs.json, Box::new(move |output| output.write(|out| json_line(out, report)))),
            (false, &outputs.html, Box::new(move |output| output.write(|out| page::write(out, [report])))),
            (
                false,
                &outputs.save_population,
                Box::new(move |output| self.write_population(output, solution, individuals)),
            ),
            (false, &outputs.certificate, Box::new(move |output| write_certificate(output, proof))),
        ];
        let drawings = DRAWINGS.iter().map(|drawing| {
            let write: Writing<'a> =
                Box::new(move |output| drawing.write(output, instance, tour, self.start));
            (false, (drawing.output)(outputs), write)
        });
        let all = others.into_iter().chain(drawings);
        let mut all: Vec<_> =
            all.filter_map(|(is_tour, output, write)| Some((is_tour, output.as_ref()?, write))).collect();
        all.sort_by_key(|(_, output, _)| output.file().is_none());
        all
    }

    /// Writes the population. If the run failed, that failure is the one to report, and a failure here only prints a line.
    fn write_population(
        &self,
        output: &Output,
        solution: &Solution,
        individuals: Option<&mut Individuals<'_>>,
    ) -> Result<()> {
        let saved = match individuals {
            Some(individuals) => self.save_individuals(output, individuals),
            None => Err(output
                .error(std::io::Error::other("the run ended before the first individuals were generated"))),
        };
        match saved {
            Err(error) if solution.failure.is_some() => {
                output::tell(&format!("antwarp: the population is lost: {error}"));
                Ok(())
            }
            other => other,
        }
    }

    /// Writes the population one individual at a time.
    fn save_individuals(&self, output: &Output, individuals: &mut Individuals<'_>) -> Result<()> {
        let (_, _, mut settings) = facts(&self.asked.algorithm)?;
        // The tour is already known: if the backend fails now, only the individuals are lost.
        let lost = |error: SolveError| Error::CutShort(format!("the population is lost: {error}"));
        let lengths = individuals.lengths().map_err(lost)?;
        if let Some(settings) = settings.as_object_mut() {
            settings.insert("population".to_owned(), lengths.len().into());
            // Where the individuals came from no longer matters.
            settings.remove("initial");
            settings.remove("first_generation");
        }
        let Some((length, place)) = lengths.iter().copied().zip(0..).min() else {
            return Err(Error::Bug("a population without individuals".to_owned()));
        };
        let shortest = individuals.individual(place, length).map_err(lost)?;
        let header = Header {
            individuals: lengths.len() as u32,
            generation: individuals.generation(),
            shortest: self.instance.tour_cost(&shortest),
            settings,
        };
        let mut failed = None;
        let individuals = (0..).zip(lengths).map(|(place, length)| {
            individuals.individual(place, length).map_err(|error| {
                let told = std::io::Error::other(error.to_string());
                failed = Some(error);
                told
            })
        });
        let written = output.write(|out| population_file::write(&self.instance, &header, individuals, out));
        failed.map_or(written, |error| Err(lost(error)))
    }

    /// Saves a tour that could not be written as requested: to the folder for temporary files, else to the standard output. The
    /// error says where.
    fn rescue(&self, solution: &Solution, error: Error) -> Error {
        let name: String =
            self.instance.name().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let process = std::process::id();
        let path = |n| std::env::temp_dir().join(format!("antwarp-{name:.60}-{process}-{n}.tour"));
        // The folder is shared: an existing file is not replaced, and a link is not followed.
        let path = (1..).map(path).find(|path| path.symlink_metadata().is_err()).unwrap_or_default();
        let (tour, cost) = (&solution.tour, self.instance.tour_cost(&solution.tour));
        let place = match tour_file::save(&self.instance, tour, &path) {
            Ok(()) => format!("The tour was written to {} instead.", path.display()),
            Err(_) => {
                match Output::Stdout.write(|mut out| tour_file::write(&self.instance, tour, cost, &mut out)) {
                    Ok(()) => "The tour was written to the standard output instead.".to_owned(),
                    Err(_) => "The tour could not be written anywhere else either.".to_owned(),
                }
            }
        };
        Error::Rescued { first: Box::new(error), place }
    }

    /// Returns the names or numbers of the places in tour order; of a long tour, only the first and the last.
    fn places_in_order(&self, report: &Report) -> String {
        let numbers = || report.tour.iter().map(u32::to_string).collect();
        let names: Vec<String> = report.names.clone().unwrap_or_else(numbers);
        let between = if report.names.is_some() { " -> " } else { " " };
        if names.len() <= 2 * SHOWN || self.outputs.print_tour {
            return names.join(between);
        }
        let left_out = names.len() - 2 * SHOWN;
        let (first, last) = (names[..SHOWN].join(between), names[names.len() - SHOWN..].join(between));
        format!("{first} ... {left_out} more (--print-tour shows them) ... {last}")
    }

    fn summarize(&self, report: &Report, kept: Option<&Path>) -> Result<()> {
        if self.outputs.quiet {
            return Ok(());
        }
        // Warnings about the file were printed when it was read.
        for warning in &report.warnings[self.instance.warnings().len()..] {
            output::tell(&format!("antwarp: warning: {warning}"));
        }
        let mut text = Summary { report, is_verbose: self.outputs.verbose }.to_string();
        text += &format!("{:<NAMES$} {}\n", "tour", self.places_in_order(report));
        if let Some(path) = kept {
            text += &format!("{:<NAMES$} {}\n", "tour file", path.display());
        } else if self.outputs.all().next().is_none() {
            text += &format!("{:<NAMES$} none written: use --tour, --csv, --json or --html FILE\n", "files");
        }
        for (name, output) in self.outputs.named() {
            // There is no checkpoint of a run that ended before the first one was due.
            if let Output::File(path) = output
                && path.exists()
            {
                text += &format!("{name:<NAMES$} {}\n", path.display());
            }
        }
        if let Some((_, columns)) = Term::stdout().size_checked() {
            let shown = |line: &str| dimmed(&wrapped(line, columns.into()));
            text = text.lines().map(shown).collect();
        }
        if self.outputs.all().any(Output::is_stdout) {
            output::tell(text.trim_end());
            return Ok(());
        }
        match output::print(|out| out.write_all(text.as_bytes())) {
            Err(error) if error.status() == 0 => Ok(()),
            other => other,
        }
    }
}

impl Outputs {
    fn named(&self) -> impl Iterator<Item = (&'static str, &Output)> + Clone {
        let named = [
            ("tour file", &self.tour),
            ("csv", &self.csv),
            ("json", &self.json),
            ("geojson", &self.geojson),
            ("gpx", &self.gpx),
            ("html", &self.html),
            ("svg", &self.svg),
            ("png", &self.png),
            ("population", &self.save_population),
            ("certificate", &self.certificate),
            ("checkpoint", &self.checkpoint),
        ];
        named.into_iter().filter_map(|(name, output)| output.as_ref().map(|output| (name, output)))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Output> + Clone {
        self.named().map(|(_, output)| output)
    }
}

impl Args {
    /// Rejects outputs that could not or must not be written after the run.
    pub(super) fn check_outputs(&self) -> Result<()> {
        let instances: Vec<_> = self.instances.iter().map(|path| (output::INSTANCE, &**path)).collect();
        output::check(self.outputs.all(), &instances)?;
        self.beginnings().try_for_each(|(what, path, heir)| {
            let others = self.outputs.named().filter(|(name, _)| *name != heir);
            output::check(others.map(|(_, output)| output), &[(what, path)])
        })
    }

    /// Returns the files that a run starts from: a description, the path, and the output that may replace the file with a better
    /// one.
    pub(in super::super) fn beginnings(&self) -> impl Iterator<Item = (&'static str, &Path, &'static str)> {
        let tour = self.begin.initial_tour.as_deref().map(|path| ("the initial tour", path, "tour file"));
        let individuals = self.begin.load_population.as_deref();
        let individuals = individuals.map(|path| ("the population to load", path, "population"));
        // No output may replace it.
        let config = self.begin.config.as_deref().map(|path| ("the file of settings", path, ""));
        let run =
            self.begin.resume.as_deref().map(|path| ("the checkpoint to continue from", path, "checkpoint"));
        let edges = self.shape.files().map(|(what, path)| (what, path, ""));
        tour.into_iter().chain(run).chain(individuals).chain(config).chain(edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_wrapped_between_words() {
        let line = "quality      at most 0.5 % above the optimum";
        assert_eq!(wrapped(line, 200), format!("{line}\n"));
        assert_eq!(wrapped(line, 30), "quality      at most 0.5 %\n             above the optimum\n");
        let path = "tour file    /a/very/long/path.tour";
        assert_eq!(wrapped(path, 20), format!("{path}\n"));
        assert_eq!(wrapped("", 20), "\n");
    }
}
