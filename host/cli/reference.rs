//! The command reference, docs/reference.md, made from the definition of the command line.

use std::collections::HashMap;
use std::fmt::Write;

use clap::{Arg, ArgAction, Command};

use super::setting_options::{self, options_of};
use crate::solver::Algorithm;
use crate::solver::search::SearchSettings;
use crate::solver::settings::{Declaration, Settings};

const HEAD: &str = "\
# Command reference

Every command and option, with its values and default, as `antwarp help` shows them. The guide explains how they work together; start with
[Five minutes](guide/five-minutes.md).

<!-- Made of the declarations by `ANTWARP_WRITE=1 cargo test --test cli the_reference_is_that_of_the_program`. -->
";

const SETTINGS: &str = "\
How to search: each setting with its names on the command line and in JSON. A setting that would have no effect, because the algorithm does
not use it or because the condition in parentheses does not hold, is refused.
";

/// The settings that a command has beside its other options.
fn declarations(command: &str) -> &'static [Declaration] {
    match command {
        "solve" => &Algorithm::ALL,
        "search" => &[SearchSettings::DECLARATION],
        _ => &[],
    }
}

/// Returns the reference of a program's commands in Markdown.
pub fn markdown(mut program: Command) -> String {
    program.build();
    let mut text = HEAD.to_owned();
    let mut tables = Tables::default();
    for command in commands(&program) {
        let declarations = declarations(command.get_name());
        describe(command, 2, &[], declarations, (&mut tables, &mut text));
        if !declarations.is_empty() {
            let name = command.get_name();
            let _ = write!(text, "\n### Settings of {name}\n\n{SETTINGS}\n");
            text += &setting_options::tables(declarations);
        }
    }
    text
}

/// The tables with a heading so far: their rows, and the command that has them.
#[derive(Default)]
struct Tables(HashMap<String, String>);

/// Those of a command's subcommands that are in the reference. `serve` is only in some builds, and has a page of its own.
fn commands(of: &Command) -> Vec<&Command> {
    let is_listed =
        |command: &&Command| !["help", "serve"].contains(&command.get_name()) && !command.is_hide_set();
    of.get_subcommands().filter(is_listed).collect()
}

fn arguments(of: &Command) -> Vec<&Arg> {
    let is_listed = |argument: &&Arg| {
        !["help", "version"].contains(&argument.get_id().as_str()) && !argument.is_hide_set()
    };
    of.get_arguments().filter(is_listed).collect()
}

/// Describes a command below a heading of this level. Leaves out the arguments that are described above it, and settings, which have a table
/// of their own.
fn describe(
    command: &Command,
    level: usize,
    above: &[String],
    settings: &[Declaration],
    (tables, text): (&mut Tables, &mut String),
) {
    let settings_ids: Vec<&str> = options_of(settings).iter().map(|option| option.id).collect();
    let arguments = |of| {
        let mut own = arguments(of);
        own.retain(|argument| !settings_ids.contains(&argument.get_id().as_str()));
        own
    };
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let name = usage.split([' ']).take(level).collect::<Vec<_>>().join(" ");
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let _ = write!(
        text,
        "\n{} {name}\n\n{}.\n\n```text\n{usage}\n```\n",
        "#".repeat(level),
        about.trim_end_matches('.')
    );
    let own = arguments(command);
    tables.describe(&name, own.into_iter().filter(|argument| !above.contains(&row(argument))), text);
    let below = commands(command);
    let Some((first, others)) = below.split_first() else { return };
    let is_shared = |argument: &&Arg| {
        others.iter().all(|other| arguments(other).iter().any(|its| row(its) == row(argument)))
    };
    let shared: Vec<&Arg> = arguments(first).into_iter().filter(is_shared).collect();
    if !others.is_empty() && !shared.is_empty() {
        let _ = write!(text, "\nEach of its commands has these options:\n");
        tables.describe(&name, shared.iter().copied(), text);
    }
    let shared: Vec<String> =
        if others.is_empty() { Vec::new() } else { shared.into_iter().map(row).collect() };
    for command in below {
        describe(command, level + 1, &shared, settings, (tables, text));
    }
}

impl Tables {
    /// Adds a table for each group of a command's arguments, or a link to the command that has the same table.
    fn describe<'a>(&mut self, name: &str, arguments: impl Iterator<Item = &'a Arg>, text: &mut String) {
        let mut groups: Vec<(&str, String)> = Vec::new();
        for argument in arguments {
            let heading = argument.get_help_heading().unwrap_or_default();
            let at = groups.iter().position(|(name, _)| *name == heading).unwrap_or_else(|| {
                groups.push((heading, String::new()));
                groups.len() - 1
            });
            groups[at].1 += &row(argument);
        }
        for (heading, rows) in groups {
            if !heading.is_empty() {
                if let Some(other) = self.0.get(&rows) {
                    let anchor = other.replace(' ', "-");
                    let _ = write!(text, "\n**{heading}**: as for [{other}](#{anchor}).\n");
                    continue;
                }
                let _ = write!(text, "\n**{heading}**\n");
                self.0.insert(rows.clone(), name.to_owned());
            }
            let _ = write!(text, "\n| option | meaning | values |\n| --- | --- | --- |\n{rows}");
        }
    }
}

fn row(argument: &Arg) -> String {
    let long = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let escaped = long.replace('<', "&lt;");
    let paragraphs =
        escaped.split("\n\n").map(|text| text.lines().map(str::trim).collect::<Vec<_>>().join("<br>"));
    let meaning = paragraphs.collect::<Vec<_>>().join(". ");
    let short = argument.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    let takes_values = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let mut values = Vec::new();
    if takes_values && !argument.is_hide_possible_values_set() {
        let names = argument.get_possible_values();
        let names: Vec<String> = names
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        if !names.is_empty() {
            values.push(names.join(", "));
        }
    }
    let defaults = argument.get_default_values();
    if takes_values && !argument.is_hide_default_value_set() && !defaults.is_empty() {
        let names: Vec<String> =
            defaults.iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
        values.push(format!("default {}", names.join(", ")));
    }
    let cells =
        [format!("{short}`{argument}`"), meaning, values.join("; ")].map(|cell| cell.replace('|', "\\|"));
    format!("| {} |\n", cells.join(" | "))
}
