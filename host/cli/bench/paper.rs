//! `antwarp bench paper`: the tables and figures of the five papers, measured by the commands in `docs/papers`, next to the
//! published results.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum as _;

use super::super::error::INTERRUPTED;
use super::super::options::MachineArgs;
use super::super::output;
use super::super::{Error, Outcome, Result, signals};
use crate::backend::Gpus;

/// Arguments of `antwarp bench paper`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The paper whose tables to measure
    #[arg(value_enum)]
    paper: Paper,
    /// One table, by its name in --list; all if not given
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Few runs on few instances instead of as many as in the paper
    #[arg(long)]
    quick: bool,
    /// List the names and the commands without measuring anything
    #[arg(long)]
    list: bool,
    /// Folder that contains tsplib/, qaplib/ and vlsi/; if not given, $ANTWARP_DATA, or else the current one. Missing instances are
    /// skipped
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Write the raw rows of each command to a file in this folder, such as acs-table-9-1.csv
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    machine: MachineArgs,
}

/// The papers whose algorithms are implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Paper {
    /// MAX-MIN Ant System: Skinderowicz 2020
    Mmas,
    /// Ant Colony System: Skinderowicz 2016
    Acs,
    /// Iterated local search: Fosin, Davidović and Carić 2013
    Ils,
    /// Genetic algorithm: Kang, Kim, Won and Kang 2016
    Ga,
    /// Neighbourhood search: Luong, Melab and Talbi 2013
    Search,
}

impl Paper {
    fn page(self) -> &'static str {
        match self {
            Paper::Mmas => include_str!("../../../docs/papers/mmas.md"),
            Paper::Acs => include_str!("../../../docs/papers/acs.md"),
            Paper::Ils => include_str!("../../../docs/papers/ils.md"),
            Paper::Ga => include_str!("../../../docs/papers/ga.md"),
            Paper::Search => include_str!("../../../docs/papers/search.md"),
        }
    }

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// A table or a figure of a paper.
#[derive(Debug, Default)]
struct Table {
    /// The name used on the command line: `9`, `figure-7`.
    name: String,
    title: &'static str,
    /// Commands with as many runs as in the paper, and with few.
    full: Vec<&'static str>,
    quick: Vec<&'static str>,
    /// The published results.
    published: String,
}

/// Parses the tables of a page: each has a heading, commands in code fences, and the published results.
fn tables(page: &'static str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut fence = None;
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            let name = title.split(':').next().unwrap_or(title).to_lowercase().replace(' ', "-");
            let name = name.strip_prefix("table-").unwrap_or(&name).to_owned();
            tables.push(Table { name, title, ..Table::default() });
        }
        let Some(table) = tables.last_mut().filter(|_| !line.starts_with("## ")) else { continue };
        match (line.strip_prefix("```"), fence) {
            (Some(_), Some(_)) => fence = None,
            (Some(what), None) => fence = Some(what),
            (None, Some("sh quick")) => table.quick.push(line),
            (None, Some(_)) => table.full.push(line),
            (None, None) => {
                // Collapse the empty lines left around code fences.
                if !(line.is_empty() && (table.published.is_empty() || table.published.ends_with("\n\n"))) {
                    let _ = writeln!(table.published, "{line}");
                }
            }
        }
    }
    tables
}

/// Measures and prints.
pub fn run(args: &Args) -> Result<Outcome> {
    let mut tables = tables(args.paper.page());
    if let Some(name) = &args.table {
        let names: Vec<String> = tables.iter().map(|table| table.name.clone()).collect();
        tables.retain(|table| table.name == name.to_lowercase());
        if tables.is_empty() {
            return Err(Error::Usage(format!(
                "--table {name}: no such table; there are {}",
                names.join(", ")
            )));
        }
    }
    if args.list {
        return output::deliver(|out| {
            tables.iter().try_for_each(|table| {
                writeln!(out, "{:<10} {}", table.name, table.title)?;
                args.commands(table).iter().try_for_each(|command| writeln!(out, "    {command}"))
            })
        })
        .map(|()| Outcome::Done);
    }
    let data = args.data.clone().or_else(|| std::env::var_os("ANTWARP_DATA").map(PathBuf::from));
    let data = data.unwrap_or_else(|| PathBuf::from("."));
    if let Some(folder) = &args.csv {
        std::fs::create_dir_all(folder)
            .map_err(|cause| Error::Output { path: folder.clone(), cause: cause.to_string() })?;
    }
    if !data.is_dir() {
        return Err(Error::Usage(format!("--data {}: no such folder", data.display())));
    }
    let interrupt = signals::watch()?;
    for table in &tables {
        output::deliver(|out| writeln!(out, "\n{}", table.title))?;
        for (i, command) in args.commands(table).iter().enumerate() {
            let Some(line) = present(command, &data) else { continue };
            if args.measure(&line, &data, &args.file(table, i + 1))? == Outcome::Interrupted
                || interrupt.load(std::sync::atomic::Ordering::Relaxed)
            {
                return Ok(Outcome::Interrupted);
            }
        }
        output::deliver(|out| write!(out, "\nThe paper:\n\n{}\n", table.published.trim_end()))?;
    }
    Ok(Outcome::Done)
}

impl Args {
    fn commands<'a>(&self, table: &'a Table) -> &'a [&'static str] {
        if self.quick { &table.quick } else { &table.full }
    }

    /// Returns the name of a file for rows.
    fn file(&self, table: &Table, number: usize) -> String {
        let kind = if table.name.starts_with("figure") { "" } else { "table-" };
        let quick = if self.quick { "-quick" } else { "" };
        format!("{}-{kind}{}{quick}-{number}.csv", self.paper.name(), table.name)
    }

    /// Runs a command in the folder of instances, in a separate process, as if it were typed.
    fn measure(&self, line: &[String], data: &Path, file: &str) -> Result<Outcome> {
        let mut line: Vec<OsString> = line.iter().map(OsString::from).collect();
        let end = line.iter().position(|word| word == "--").unwrap_or(line.len());
        let mut more: Vec<OsString> = Vec::new();
        if !line.iter().any(|word| word == "--backend") {
            more.extend(["--backend".into(), backend(&self.machine)]);
            more.extend(gpus(&self.machine.gpus).map(|gpus| format!("--gpus={gpus}").into()));
        }
        more.extend(self.machine.threads.map(|threads| format!("--threads={threads}").into()));
        if let Some(folder) = &self.csv {
            let file = folder.join(file);
            let file = std::path::absolute(&file)
                .map_err(|cause| Error::Output { path: file, cause: cause.to_string() })?;
            more.extend(["--csv".into(), file.into_os_string()]);
        }
        line.splice(end..end, more);
        let text: Vec<_> = line.iter().map(|word| word.to_string_lossy()).collect();
        output::deliver(|out| writeln!(out, "\nantwarp {}\n", text.join(" ")))?;
        let failed = |cause: std::io::Error| Error::Unusable(format!("cannot run the bench: {cause}"));
        let program = std::env::current_exe().map_err(failed)?;
        let ended = Command::new(program).args(&line).current_dir(data).status().map_err(failed)?;
        match ended.code() {
            Some(0) => Ok(Outcome::Done),
            Some(status) if status == i32::from(INTERRUPTED) => Ok(Outcome::Interrupted),
            // It has printed the reason.
            Some(status) => Err(Error::Printed(u8::try_from(status).unwrap_or(1))),
            None => Err(Error::RunFailed(format!("the bench was killed: {ended}"))),
        }
    }
}

/// Returns the name of the backend, for another command line.
fn backend(machine: &MachineArgs) -> OsString {
    machine.backend.to_possible_value().map_or_else(OsString::new, |value| value.get_name().into())
}

/// Returns the requested GPUs, for another command line; `None` if that is all of them.
fn gpus(gpus: &Gpus) -> Option<String> {
    match gpus {
        Gpus::All | Gpus::Turn(_) => None,
        Gpus::Count(count) => Some(count.to_string()),
        // With a trailing comma, a single number is a list, too.
        Gpus::These(numbers) => Some(numbers.iter().map(|number| format!("{number},")).collect()),
    }
}

/// Returns the words of a command after `antwarp`, without instances that are missing from the folder, which are reported; `None`
/// if no others are left.
fn present(command: &str, data: &Path) -> Option<Vec<String>> {
    let mut line: Vec<String> = command.split_whitespace().skip(1).map(str::to_owned).collect();
    let list = line.iter().position(|word| word == "--instances").and_then(|at| line.get_mut(at + 1));
    if let Some(list) = list {
        let is_there = |name: &&str| !name.contains('/') || data.join(name).exists();
        let (there, missing): (Vec<&str>, Vec<&str>) = list.split(',').partition(is_there);
        if !missing.is_empty() {
            output::tell(&format!("skipped: {} not in {}", missing.join(", "), data.display()));
        }
        if there.is_empty() {
            return None;
        }
        *list = there.join(",");
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use clap::{FromArgMatches as _, Subcommand as _};

    use super::*;
    use crate::cli::bench;

    #[test]
    fn every_command_of_the_pages_is_one_of_bench() {
        for paper in Paper::value_variants() {
            let tables = tables(paper.page());
            assert!(tables.len() >= 3, "{paper:?}");
            for table in tables {
                assert!(!table.full.is_empty() && !table.quick.is_empty(), "{paper:?} {}", table.title);
                assert!(!table.published.contains("```"), "{paper:?} {}", table.title);
                for command in table.full.iter().chain(&table.quick) {
                    let words: Vec<&str> = command.split_whitespace().collect();
                    assert_eq!(words[..2], ["antwarp", "bench"], "{command}");
                    let matches = bench::What::augment_subcommands(clap::Command::new("bench"))
                        .try_get_matches_from(&words[1..])
                        .unwrap_or_else(|error| panic!("{command}: {error}"));
                    bench::What::from_arg_matches(&matches).unwrap();
                }
            }
        }
    }

    #[test]
    fn gpus_that_were_asked_for_are_asked_for_again() {
        for text in ["2", "0,2", "2,"] {
            let asked: Gpus = text.parse().unwrap();
            assert_eq!(gpus(&asked).map(|text| text.parse()), Some(Ok(asked)), "{text}");
        }
        assert_eq!(gpus(&Gpus::All), None);
    }

    #[test]
    fn tables_have_names_commands_and_figures() {
        let page = "# P\n\nText.\n\n## Table 3: times\n\nWhat.\n\n```sh\na b\nc\n```\n\n```sh quick\nd\n```\n\n| x |\n\n## Figure 7: f\n";
        let tables = tables(page);
        assert_eq!(tables.iter().map(|table| &table.name[..]).collect::<Vec<_>>(), ["3", "figure-7"]);
        assert_eq!((&tables[0].full[..], &tables[0].quick[..]), (&["a b", "c"][..], &["d"][..]));
        assert_eq!(tables[0].published, "What.\n\n| x |\n\n");
        assert_eq!(tables[0].title, "Table 3: times");
    }
}
