//! The command-line options for settings, generated from the declarations of the algorithms.

use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use serde_json::Value;

use super::super::options::finite;
use crate::solver::Algorithm;
use crate::solver::settings::{Condition, Declaration, Kind, Range, Setting, text};

/// An option, with the algorithms that have it and the setting it sets in each.
#[derive(Debug)]
pub(super) struct SettingOption {
    /// Its name, with underscores.
    pub id: &'static str,
    /// Its users, at least one.
    pub users: Vec<(Declaration, &'static Setting)>,
}

/// The options of all settings, in declaration order.
pub(super) static OPTIONS: LazyLock<Vec<SettingOption>> = LazyLock::new(|| {
    let mut options: Vec<SettingOption> = Vec::new();
    for declaration in Algorithm::ALL {
        for setting in declaration.settings.iter().filter(|setting| !setting.is_internal) {
            let id = setting.option();
            match options.iter_mut().find(|option| option.id == id) {
                Some(option) => option.users.push((declaration, setting)),
                None => options.push(SettingOption { id, users: vec![(declaration, setting)] }),
            }
        }
    }
    options
});

impl SettingOption {
    /// Returns the names of the algorithms that have it.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.users.iter().map(|(declaration, _)| declaration.name).collect()
    }

    /// Returns whether an algorithm has it.
    pub(super) fn is_of(&self, algorithm: &str) -> bool {
        self.names().contains(&algorithm)
    }

    /// Returns the kind of its values, which is the same for all users.
    fn kind(&self) -> Kind {
        self.users[0].1.kind
    }

    /// Returns whether it is shown in the short help too.
    pub(super) fn is_common(&self) -> bool {
        self.users.iter().any(|(_, setting)| setting.is_common)
    }

    /// Returns its help for the selected users. If its meaning differs between them, there is a line for each meaning.
    pub(super) fn help(&self, is_asked: impl Fn(&str) -> bool) -> String {
        let mut meanings: Vec<(Vec<&str>, String)> = Vec::new();
        for (declaration, setting) in self.users.iter().filter(|(user, _)| is_asked(user.name)) {
            let text = describe(declaration, setting);
            match meanings.iter_mut().find(|(_, other)| *other == text) {
                Some((names, _)) => names.push(declaration.name),
                None => meanings.push((vec![declaration.name], text)),
            }
        }
        match meanings.as_slice() {
            [(_, text)] => text.clone(),
            _ => {
                let line = |(names, text): &(Vec<&str>, String)| format!("{}: {text}", names.join(", "));
                meanings.iter().map(line).collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// Returns its heading in the help of all options.
    fn heading(&self) -> String {
        if self.users.len() == Algorithm::ALL.len() {
            return "Settings of every algorithm".to_owned();
        }
        format!("Settings of {}", list(&self.names()))
    }

    fn argument(&self) -> Arg {
        let arg = Arg::new(self.id)
            .long(self.id.replace('_', "-"))
            .help(self.help(|_| true))
            .help_heading(self.heading());
        let none = self.users.iter().map(|(_, setting)| setting.none).find(|none| !none.is_empty());
        match self.kind() {
            Kind::Whole(most) => {
                let parse = move |text: &str| whole(text, most, none);
                arg.value_name(none.map_or("N".to_owned(), |none| format!("N|{none}")))
                    .value_parser(ValueParser::from(parse))
            }
            Kind::Real => arg
                .value_name("F")
                .value_parser(ValueParser::from(|text: &str| finite(text).map(Value::from))),
            Kind::Switch if self.users[0].1.default() == Value::Bool(false) => arg.action(ArgAction::SetTrue),
            Kind::Switch => arg.value_name("BOOL").value_parser(clap::value_parser!(bool)),
            Kind::Choice(choices) => {
                let names = choices().into_iter().map(|choice| {
                    let value = PossibleValue::new(choice.name);
                    if choice.help.is_empty() { value } else { value.help(choice.help) }
                });
                arg.value_name("NAME").value_parser(PossibleValuesParser::new(names).map(Value::from))
            }
        }
    }
}

/// Formats names for a sentence: `a, b and c`.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Parses a whole number, or the word for none.
fn whole(text: &str, most: u64, none: Option<&'static str>) -> Result<Value, String> {
    match (text.parse::<u64>(), none) {
        (_, Some(none)) if text == none => Ok(Value::Null),
        (Ok(number), _) if number <= most => Ok(number.into()),
        (_, None) => Err("give a whole number".to_owned()),
        (_, Some(none)) => Err(format!("give a whole number, or `{none}`")),
    }
}

/// Describes a setting of an algorithm: its sentence, when it applies, its range and its default.
fn describe(declaration: &Declaration, setting: &Setting) -> String {
    let mut told = setting.help().to_owned();
    told += &conditions(setting).map(|when| format!(" ({when})")).unwrap_or_default();
    told += &numbers(setting).map(|numbers| format!(" [{numbers}]")).unwrap_or_default();
    told +=
        &default(declaration, setting).map(|default| format!(" [default: {default}]")).unwrap_or_default();
    as_options_of(declaration, &told, "")
}

/// Rewrites a text to name an algorithm's settings as the command line does, in these quotes: `` `rho` `` becomes `--rho`.
pub(super) fn as_options_of(declaration: &Declaration, text: &str, quote: &str) -> String {
    let parts = text.split('`').enumerate().map(|(i, part)| match declaration.setting(part) {
        // The parts at odd positions are between backticks.
        Some(setting) if i % 2 == 1 => format!("{quote}--{}{quote}", setting.option().replace('_', "-")),
        _ => part.to_owned(),
    });
    parts.collect()
}

/// Describes when a setting applies, if that depends on others.
pub(super) fn conditions(setting: &Setting) -> Option<String> {
    let one = |condition: &Condition| {
        format!("{} {}", if condition.is { "with" } else { "not with" }, condition.subject())
    };
    let all: Vec<String> = setting.only.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns the range of a setting and its unit.
pub(super) fn numbers(setting: &Setting) -> Option<String> {
    let range = (setting.range != Range::ANY).then(|| setting.range.to_string());
    let parts = [range.unwrap_or_default(), setting.unit.to_owned()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Returns the default of a setting, or how its value is chosen; `None` for a switch that is off.
pub(super) fn default(declaration: &Declaration, setting: &Setting) -> Option<String> {
    if !setting.otherwise.is_empty() {
        return Some(setting.otherwise.to_owned());
    }
    let value = match setting.default() {
        Value::Bool(false) => return None,
        Value::Null if setting.none.is_empty() => return None,
        Value::Null => setting.none.to_owned(),
        value => short(&value),
    };
    Some(match declaration.default_beside(setting) {
        Some((other, own)) => format!("{value}; with {other} {}", short(&own)),
        None => value,
    })
}

/// Formats a value as a user would write it: real numbers that are whole get no decimals.
fn short(value: &Value) -> String {
    let text = text(value);
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Settings from the command line: option names, with underscores, and values as JSON.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    /// In the order of [`OPTIONS`].
    pub values: Vec<(&'static str, Value)>,
}

impl Given {
    /// Returns the value of an option, if it was given.
    pub(super) fn get(&self, id: &str) -> Option<&Value> {
        self.values.iter().find(|(other, _)| *other == id).map(|(_, value)| value)
    }
}

impl clap::Args for Given {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(OPTIONS.iter().map(SettingOption::argument))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Given::augment_args(command)
    }
}

impl clap::FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given, clap::Error> {
        let value = |option: &SettingOption| {
            let id = option.id;
            let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
            let value = match option.kind() {
                Kind::Switch => matches.get_one::<bool>(id).copied().map(Value::from),
                _ => matches.get_one::<Value>(id).cloned(),
            };
            value.filter(|_| is_given).map(|value| (id, value))
        };
        Ok(Given { values: OPTIONS.iter().filter_map(value).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Given::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_an_option_agree_on_its_values() {
        for option in OPTIONS.iter() {
            let shown = |setting: &Setting| match setting.kind {
                Kind::Choice(choices) => {
                    choices().into_iter().map(|choice| choice.name).collect::<Vec<_>>().join("|")
                }
                kind => format!("{kind:?} {}", kind_default(setting)),
            };
            let kinds: Vec<String> = option.users.iter().map(|(_, setting)| shown(setting)).collect();
            assert!(kinds.windows(2).all(|pair| pair[0] == pair[1]), "{}: {kinds:?}", option.id);
        }
    }

    /// Returns the default of a switch, which decides whether the option takes a value; empty for other kinds.
    fn kind_default(setting: &Setting) -> String {
        if matches!(setting.kind, Kind::Switch) { setting.default().to_string() } else { String::new() }
    }

    #[test]
    fn names_stand_in_sentences() {
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
