//! The help of `antwarp solve`, at the requested level of detail, and the table of settings in the documentation.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

use super::args::algorithm_named;
use super::options::{OPTIONS, as_options_of, conditions, default, list, numbers};
use crate::solver::Algorithm;
use crate::solver::settings::{Declaration, Kind};

/// What to print help about.
enum Topic {
    /// The options that most runs need.
    Common,
    /// Everything.
    All,
    /// One algorithm's settings, and the options of every run.
    Algorithm(Declaration),
}

/// Gives the command `solve` the help that a line asks for: `--help` shows what most runs need, `--help all` everything, and
/// `--help ga`, or `--algorithm ga --help`, what applies to that algorithm.
pub fn shape(command: Command, line: &[OsString]) -> Command {
    let topic = topic(line);
    let action = if matches!(topic, Topic::Common) { ArgAction::HelpShort } else { ArgAction::HelpLong };
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .help_heading(None::<&str>)
        .action(action)
        .help("Print help; --help all shows everything, --help lk (or another algorithm) its settings");
    let command = command.disable_help_flag(true).arg(help);
    command
        .mut_args(|argument| {
            let id = argument.get_id().to_string();
            let option = OPTIONS.iter().find(|option| option.id == id);
            let is_rare = matches!(argument.get_help_heading(), Some("Reading" | "Tour"));
            match &topic {
                Topic::All => argument,
                Topic::Common => {
                    let argument = match option {
                        Some(_) => argument.help_heading(None::<&str>),
                        None => argument,
                    };
                    let is_rare = is_rare || id == "topology";
                    argument.hide_short_help(is_rare || option.is_some_and(|option| !option.is_common()))
                }
                Topic::Algorithm(Declaration { name, .. }) => match option {
                    Some(option) if option.is_of(name) => argument
                        .help(option.help(|user| user == *name))
                        .help_heading(format!("Settings of {name}")),
                    Some(_) => argument.hide(true),
                    None => argument.hide_long_help(is_rare),
                },
            }
        })
        .after_help(match topic {
            Topic::Common => {
                let names = Algorithm::ALL.map(|declaration| declaration.name);
                format!(
                    "Each algorithm has settings of its own: --help followed by {} lists them.\n\
                     --help all lists everything, including how files are read, open paths and where a tour starts.",
                    list(&names).replace(" and ", " or "),
                )
            }
            _ => String::new(),
        })
}

/// Returns what a line asks for help about.
fn topic(line: &[OsString]) -> Topic {
    let words: Vec<&str> = line.iter().filter_map(|word| word.to_str()).collect();
    let behind = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1).copied()
    };
    let glued = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let asked = behind("--help").or(behind("-h"));
    if asked == Some("all") {
        return Topic::All;
    }
    let named = asked.and_then(algorithm_named);
    let algorithm = || behind("--algorithm").or(glued("--algorithm")).and_then(algorithm_named);
    named.or_else(algorithm).map_or(Topic::Common, Topic::Algorithm)
}

/// Returns the table of all settings for the documentation, in Markdown.
pub fn table() -> String {
    let mut text = String::new();
    for declaration in Algorithm::ALL {
        let _ = writeln!(text, "#### `{}`: {}\n", declaration.name, declaration.about);
        text += "| option | JSON | values | default | meaning |\n|---|---|---|---|---|\n";
        for setting in declaration.settings.iter().filter(|setting| !setting.is_internal) {
            let values = match setting.kind {
                Kind::Switch if default(&declaration, setting).is_none() => String::new(),
                Kind::Switch => "`true`, `false`".to_owned(),
                Kind::Choice(choices) => {
                    let taken = choices()
                        .into_iter()
                        .filter(|choice| !setting.except.contains(&choice.name.as_str()));
                    let names = taken.map(|choice| format!("`{}`", choice.name));
                    names.collect::<Vec<_>>().join(", ")
                }
                Kind::Whole(_) | Kind::Real => {
                    let is_whole = matches!(setting.kind, Kind::Whole(_));
                    let kind = if is_whole { "a whole number" } else { "a number" };
                    let none = match setting.none {
                        "" => String::new(),
                        none => format!(", or `{none}`"),
                    };
                    numbers(setting).unwrap_or_else(|| kind.to_owned()) + &none
                }
            };
            let condition = conditions(setting).map_or_else(String::new, |when| format!(" ({when})"));
            let prose = |cell: String| as_options_of(&declaration, &cell, "`");
            let cells = [
                format!("`--{}`", setting.option().replace('_', "-")),
                format!("`{}`", setting.name),
                values,
                prose(default(&declaration, setting).unwrap_or_else(|| "off".to_owned())),
                prose(format!("{}{condition}", setting.help())),
            ];
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
