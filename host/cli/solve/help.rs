//! The help of `antwarp solve`, at the requested level of detail.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

use super::super::setting_options::list;
use super::args::{OPTIONS, algorithm_named};
use crate::solver::Algorithm;
use crate::solver::settings::Declaration;

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
                    let rare = [
                        "topology", "every", "certificate", "load_population", "save_population", "geojson", "gpx", "png",
                    ];
                    let is_rare = is_rare || rare.contains(&id.as_str());
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
                    list(&names, "or"),
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
