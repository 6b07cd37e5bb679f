//! `antwarp bench paper`: the tables and figures of the five papers, measured by the commands in `docs/papers` or taken from recorded
//! runs, next to the published results.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum as _;

use super::super::error::INTERRUPTED;
use super::super::options::MachineArgs;
use super::super::output;
use super::super::{Error, Outcome, Result, signals};
use super::pivot::Where;
use super::rows::{self, Row};
use super::table::render;
use super::verdicts::{Counts, Measured, Published};
use crate::backend::Gpus;

/// Arguments of `antwarp bench paper`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The paper whose tables to measure; all of them if not given
    #[arg(value_enum)]
    paper: Option<Paper>,
    /// One table, by its name in --list; all if not given
    #[arg(long, value_name = "NAME", requires = "paper")]
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
    /// Measure nothing: take the rows that the pages name from the records in this folder, such as benches/runs
    #[arg(long, value_name = "DIR", conflicts_with_all = ["quick", "list", "data", "csv"])]
    records: Option<PathBuf>,
    /// Print only how many figures are ahead of the published ones, level or behind
    #[arg(long, requires = "records")]
    counts: bool,
    /// Markdown instead of plain text
    #[arg(long)]
    markdown: bool,
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

/// A page about a paper.
#[derive(Debug, Default)]
struct Page {
    tables: Vec<Table>,
    /// Names of instances that the paper has and we do not.
    missing: HashSet<String>,
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
    /// Those that ours are compared with.
    compared: Vec<Published>,
    /// The recorded runs of this table.
    records: Vec<Record>,
}

/// Runs of a record that are those of a table.
#[derive(Debug)]
struct Record {
    folder: &'static str,
    parts: Vec<&'static str>,
    /// Only rows with these values.
    filters: Vec<Where>,
    /// Whether the runs shared a device, so that their times do not count.
    is_shared: bool,
}

/// Parses a page. Each table has a heading, commands in code fences, and the published results, with comments for the program:
///
/// - `<!-- ours: OPTIONS -->` above a published table: what its figures are [compared](Published) with,
/// - `<!-- records: FOLDER PART,PART; FOLDER PART COLUMN=LIST shared -->`: the recorded runs of the table; those that shared a device
///   have no times,
/// - `<!-- missing: NAME,NAME -->`: instances that are not at hand.
fn read(page: &'static str) -> Result<Page> {
    let (mut read, mut fence, mut is_in_table) = (Page::default(), None, false);
    let list = |text: &'static str| text.split(',').map(str::trim);
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            let name = title.split(':').next().unwrap_or(title).to_lowercase().replace(' ', "-");
            let name = name.strip_prefix("table-").unwrap_or(&name).to_owned();
            read.tables.push(Table { name, title, ..Table::default() });
            continue;
        }
        let comment = |name| line.strip_prefix(name).and_then(|rest: &'static str| rest.strip_suffix(" -->"));
        if let Some(names) = comment("<!-- missing: ") {
            read.missing.extend(list(names).map(str::to_owned));
        }
        let Some(table) = read.tables.last_mut() else { continue };
        if let Some(options) = comment("<!-- ours: ") {
            if is_in_table || table.compared.last().is_none_or(|last| last.is_filled()) {
                table.compared.push(Published::default());
            }
            is_in_table = false;
            if let Some(last) = table.compared.last_mut() {
                last.compare(options)?;
            }
            continue;
        }
        if let Some(records) = comment("<!-- records: ") {
            for record in records.split(';') {
                let mut words = record.split_whitespace();
                let (Some(folder), Some(parts)) = (words.next(), words.next()) else { continue };
                let (shared, filters): (Vec<&str>, Vec<&str>) = words.partition(|word| *word == "shared");
                let filters = filters.into_iter().map(str::parse).collect::<std::result::Result<_, _>>();
                table.records.push(Record {
                    folder,
                    parts: list(parts).collect(),
                    filters: filters.map_err(Error::Bug)?,
                    is_shared: !shared.is_empty(),
                });
            }
            continue;
        }
        if line.starts_with("<!-- ") {
            continue;
        }
        if line.starts_with('|') && fence.is_none() {
            if let Some(last) = table.compared.last_mut().filter(|last| is_in_table || !last.is_filled()) {
                last.line(line);
                is_in_table = true;
            }
        } else {
            is_in_table = false;
        }
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
    // Other sections, such as the claims, have nothing to measure.
    read.tables.retain(|table| !table.full.is_empty());
    Ok(read)
}

/// Measures and prints.
pub fn run(args: &Args) -> Result<Outcome> {
    let papers = args.paper.map_or_else(|| Paper::value_variants().to_vec(), |paper| vec![paper]);
    let interrupt = signals::watch(signals::WITH_TOUR)?;
    let mut all = Vec::new();
    for paper in papers {
        let mut page = read(paper.page())?;
        if let Some(name) = &args.table {
            let names: Vec<String> = page.tables.iter().map(|table| table.name.clone()).collect();
            page.tables.retain(|table| table.name == name.to_lowercase());
            if page.tables.is_empty() {
                return Err(Error::Usage(format!(
                    "--table {name}: no such table; there are {}",
                    names.join(", ")
                )));
            }
        }
        if args.list {
            args.list(&page)?;
            continue;
        }
        let counts = match &args.records {
            Some(folder) => args.recorded(&page, folder)?,
            None => args.measured(paper, &mut page)?,
        };
        let Some(counts) = counts else { return Ok(Outcome::Interrupted) };
        all.push((paper, counts));
        if interrupt.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(Outcome::Interrupted);
        }
    }
    if args.list {
        return Ok(Outcome::Done);
    }
    let line = |(paper, counts): &(Paper, Counts)| {
        let page = if args.markdown { format!("[{0}]({0}.md)", paper.name()) } else { paper.name() };
        std::iter::once(page).chain(counts.numbers().map(|number| number.to_string())).collect()
    };
    let lines: Vec<Vec<String>> = all.iter().map(line).collect();
    let heads: Vec<&str> = std::iter::once("").chain(Counts::HEADS).collect();
    let text = render("figures of ours beside the published ones", (&heads, 1), &lines, args.markdown);
    output::deliver(|out| write!(out, "\n{text}")).map(|()| Outcome::Done)
}

impl Args {
    fn commands<'a>(&self, table: &'a Table) -> &'a [&'static str] {
        if self.quick { &table.quick } else { &table.full }
    }

    fn list(&self, page: &Page) -> Result<()> {
        output::deliver(|out| {
            page.tables.iter().try_for_each(|table| {
                writeln!(out, "{:<10} {}", table.name, table.title)?;
                self.commands(table).iter().try_for_each(|command| writeln!(out, "    {command}"))
            })
        })
    }

    /// Measures the tables of a page and prints them; `None` if interrupted.
    fn measured(&self, paper: Paper, page: &mut Page) -> Result<Option<Counts>> {
        let data = self.data.clone().or_else(|| std::env::var_os("ANTWARP_DATA").map(PathBuf::from));
        let data = data.unwrap_or_else(|| PathBuf::from("."));
        if !data.is_dir() {
            return Err(Error::Usage(format!("--data {}: no such folder", data.display())));
        }
        let own = std::env::temp_dir().join(format!("antwarp-paper-{}", std::process::id()));
        let folder = self.csv.clone().unwrap_or_else(|| own.clone());
        std::fs::create_dir_all(&folder).map_err(|cause| Error::Output { path: folder.clone(), cause })?;
        let mut counts = Some(Counts::default());
        for table in &page.tables {
            output::deliver(|out| writeln!(out, "\n{}", table.title))?;
            let mut measured = Vec::new();
            for (i, command) in self.commands(table).iter().enumerate() {
                let Some(line) = present(command, &data, &mut page.missing) else { continue };
                let file = folder.join(self.file(paper, table, i + 1));
                if self.measure(&line, &data, &file)? == Outcome::Interrupted {
                    counts = None;
                    break;
                }
                measured.extend(rows::read(&file)?);
            }
            let Some(counts) = &mut counts else { break };
            output::deliver(|out| write!(out, "\nThe paper:\n\n{}\n", table.published.trim_end()))?;
            counts.add(self.verdicts(table, &measured.iter().collect::<Vec<_>>(), &page.missing)?);
        }
        if self.csv.is_none() {
            // What is left there is in nobody's way.
            let _ = std::fs::remove_dir_all(&own);
        }
        Ok(counts)
    }

    /// Takes the rows of the tables of a page from records.
    fn recorded(&self, page: &Page, folder: &Path) -> Result<Option<Counts>> {
        let mut files: HashMap<&str, Vec<Row>> = HashMap::new();
        let mut counts = Counts::default();
        for table in &page.tables {
            for Record { folder: name, .. } in &table.records {
                if !files.contains_key(name) {
                    files.insert(name, rows::read(&folder.join(name).join("runs.csv.gz"))?);
                }
            }
            let (mut own, mut shared) = (Vec::new(), Vec::new());
            for Record { folder, parts, filters, is_shared } in &table.records {
                let is_own = |row: &&Row| {
                    parts.contains(&row.text("part").as_str())
                        && filters.iter().all(|filter| filter.keeps(row))
                };
                let rows = files.get(folder).into_iter().flatten().filter(is_own);
                if *is_shared {
                    shared.extend(rows.map(Row::without_times));
                } else {
                    own.extend(rows);
                }
            }
            own.extend(&shared);
            if !self.counts {
                output::deliver(|out| writeln!(out, "\n{}", table.title))?;
            }
            counts.add(self.verdicts(table, &own, &page.missing)?);
        }
        Ok(Some(counts))
    }

    /// Prints the figures of a table beside ours.
    fn verdicts(&self, table: &Table, rows: &[&Row], missing: &HashSet<String>) -> Result<Counts> {
        let mut counts = Counts::default();
        for published in &table.compared {
            let (text, own) =
                published.verdicts(&Measured { rows, missing, quick: self.quick }, self.markdown);
            counts.add(own);
            if !self.counts {
                output::deliver(|out| write!(out, "\n{text}"))?;
            }
        }
        Ok(counts)
    }

    /// Returns the name of a file for rows.
    fn file(&self, paper: Paper, table: &Table, number: usize) -> String {
        let kind = if table.name.starts_with("figure") { "" } else { "table-" };
        let quick = if self.quick { "-quick" } else { "" };
        format!("{}-{kind}{}{quick}-{number}.csv", paper.name(), table.name)
    }

    /// Runs a command in the folder of instances, in a separate process, as if it were typed.
    fn measure(&self, line: &[String], data: &Path, file: &Path) -> Result<Outcome> {
        let mut line: Vec<OsString> = line.iter().map(OsString::from).collect();
        let end = line.iter().position(|word| word == "--").unwrap_or(line.len());
        let mut more: Vec<OsString> = Vec::new();
        if !line.iter().any(|word| word == "--backend") {
            more.extend(["--backend".into(), backend(&self.machine)]);
            more.extend(gpus(&self.machine.gpus).map(|gpus| format!("--gpus={gpus}").into()));
        }
        if !line.iter().any(|word| word == "--threads") {
            more.extend(self.machine.threads.map(|threads| format!("--threads={threads}").into()));
        }
        let absolute =
            std::path::absolute(file).map_err(|cause| Error::Output { path: file.to_owned(), cause })?;
        more.extend(["--csv".into(), absolute.into_os_string()]);
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

/// Returns the words of a command after `antwarp`, without instances that are missing from the folder, which are reported and added
/// to `missing`; `None` if no others are left.
fn present(command: &str, data: &Path, missing: &mut HashSet<String>) -> Option<Vec<String>> {
    let mut line: Vec<String> = command.split_whitespace().skip(1).map(str::to_owned).collect();
    let list = line.iter().position(|word| word == "--instances").and_then(|at| line.get_mut(at + 1));
    if let Some(list) = list {
        let is_there = |name: &&str| !name.contains('/') || data.join(name).exists();
        let (there, not): (Vec<&str>, Vec<&str>) = list.split(',').partition(is_there);
        if !not.is_empty() {
            output::tell(&format!("skipped: {} not in {}", not.join(", "), data.display()));
        }
        let stem =
            |name: &str| name.rsplit('/').next().and_then(|name| name.split('.').next()).map(str::to_owned);
        missing.extend(not.into_iter().filter_map(stem));
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
            let page = read(paper.page()).unwrap();
            assert!(page.tables.len() >= 3, "{paper:?}");
            let is_table = |title: &&str| title.starts_with("Table") || title.starts_with("Figure");
            let sections = paper.page().lines().filter_map(|line| line.strip_prefix("## ")).filter(is_table);
            let with_commands = page.tables.iter().map(|table| table.title).filter(is_table);
            assert!(sections.eq(with_commands), "{paper:?}: a table without commands");
            for table in page.tables {
                assert!(!table.quick.is_empty(), "{paper:?} {}", table.title);
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
        let page = "# P\n\n<!-- missing: a, b -->\n\n## Table 3: times\n\nWhat.\n\n```sh\na b\nc\n```\n\n```sh quick\nd\n```\n\n\
            <!-- records: f p,q; g r n=1,2 -->\n<!-- ours: --rows instance --heading s --cell seconds:mean -->\n\n| x | s |\n|---|---|\n| a | 1 |\n\n\
            ## Figure 7: f\n\n```sh\ne\n```\n\n## Claims\n\n| x |\n|---|\n| a |\n";
        let page = read(page).unwrap();
        assert!(page.missing.contains("a") && page.missing.contains("b"));
        let tables = page.tables;
        assert_eq!(tables.iter().map(|table| &table.name[..]).collect::<Vec<_>>(), ["3", "figure-7"]);
        assert_eq!((&tables[0].full[..], &tables[0].quick[..]), (&["a b", "c"][..], &["d"][..]));
        assert_eq!(tables[0].published, "What.\n\n| x | s |\n|---|---|\n| a | 1 |\n\n");
        assert_eq!(tables[0].title, "Table 3: times");
        let records: Vec<_> =
            tables[0].records.iter().map(|record| (record.folder, &record.parts[..])).collect();
        assert_eq!(records, [("f", &["p", "q"][..]), ("g", &["r"])]);
        assert_eq!(tables[0].records.iter().filter(|record| !record.filters.is_empty()).count(), 1);
        assert_eq!((tables[0].compared.len(), tables[1].compared.len()), (1, 0));
    }
}
