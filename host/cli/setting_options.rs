//! The command-line options for settings and their table in the documentation, generated from the declarations.

use std::fmt::Write as _;
use std::marker::PhantomData;
use std::num::IntErrorKind;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use serde_json::Value;

use super::options::finite;
use super::{Error, Result};
use crate::solver::settings::{Condition, Declaration, Kind, Range, Setting, text};

/// An option, with the algorithms that have it and the setting it sets in each.
#[derive(Debug)]
pub struct SettingOption {
    /// Its name, with underscores.
    pub id: &'static str,
    /// Its users, at least one.
    pub users: Vec<(Declaration, &'static Setting)>,
}

/// A source of settings that become options of a command.
pub trait Options: 'static {
    /// All of them.
    const ALL: &'static LazyLock<Vec<SettingOption>>;

    /// Returns the heading of the help that the option is under; `None`: the default one.
    fn heading(option: &SettingOption) -> Option<String>;
}

/// Returns the options of all settings, in declaration order.
pub fn options_of(declarations: &[Declaration]) -> Vec<SettingOption> {
    let mut options: Vec<SettingOption> = Vec::new();
    for &declaration in declarations {
        for setting in declaration.settings.iter().filter(|setting| !setting.is_internal) {
            let id = setting.option();
            match options.iter_mut().find(|option| option.id == id) {
                Some(option) => option.users.push((declaration, setting)),
                None => options.push(SettingOption { id, users: vec![(declaration, setting)] }),
            }
        }
    }
    options
}

impl SettingOption {
    /// Returns the names of the algorithms that have it.
    pub fn names(&self) -> Vec<&'static str> {
        self.users.iter().map(|(declaration, _)| declaration.name).collect()
    }

    /// Returns whether an algorithm has it.
    pub fn is_of(&self, algorithm: &str) -> bool {
        self.names().contains(&algorithm)
    }

    /// Returns the kind of its values, which is the same for all users.
    fn kind(&self) -> Kind {
        self.users[0].1.kind
    }

    /// Returns whether it is shown in the short help, too: if it is common for any of its users.
    pub fn is_common(&self) -> bool {
        self.users.iter().any(|(_, setting)| setting.is_common)
    }

    /// Returns its help for the algorithms whose names are `is_asked` for. If its meaning differs between them, there is a line for each
    /// meaning.
    pub fn help(&self, is_asked: impl Fn(&str) -> bool) -> String {
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

    fn argument(&self, heading: Option<String>) -> Arg {
        let arg = Arg::new(self.id).long(self.id.replace('_', "-")).help(self.help(|_| true));
        let arg = match heading {
            Some(heading) => arg.help_heading(heading),
            None => arg.help_heading(None::<&str>),
        };
        let none = self.users.iter().map(|(_, setting)| setting.none).find(|none| !none.is_empty());
        match self.kind() {
            kind @ (Kind::Whole(_) | Kind::Real | Kind::Pair(_)) => {
                let name = match (self.users[0].1.value_name, none) {
                    ("", Some(none)) => format!("N|{none}"),
                    ("", None) => if matches!(kind, Kind::Real) { "F" } else { "N" }.to_owned(),
                    (name, _) => name.to_owned(),
                };
                let parse = move |text: &str| number(text, kind, none);
                arg.value_name(name).value_parser(ValueParser::from(parse))
            }
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

/// Formats names for a sentence, with this word before the last one: `a, b and c`.
pub fn list(names: &[&str], word: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// Parses one or two numbers of a kind, or the word for none.
fn number(text: &str, kind: Kind, none: Option<&'static str>) -> std::result::Result<Value, String> {
    match kind {
        Kind::Whole(most) => whole(text, most, none),
        Kind::Pair(&each) => {
            let both = text.split_once(',').filter(|(_, second)| !second.contains(','));
            let (first, second) = both.ok_or("give two values separated by a comma")?;
            Ok(Value::Array(vec![number(first, each, None)?, number(second, each, None)?]))
        }
        _ => finite(text).map(Value::from),
    }
}

/// Parses a whole number, or the word for none.
fn whole(text: &str, most: u64, none: Option<&'static str>) -> std::result::Result<Value, String> {
    if none == Some(text) {
        return Ok(Value::Null);
    }
    let what = match text.parse::<u64>() {
        Ok(number) if number <= most => return Ok(number.into()),
        Err(error) if *error.kind() != IntErrorKind::PosOverflow => {
            "give a whole number such as 4".to_owned()
        }
        _ => format!("give at most {most}"),
    };
    Err(what + &none.map_or_else(String::new, |none| format!(", or `{none}`")))
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
fn as_options_of(declaration: &Declaration, text: &str, quote: &str) -> String {
    let parts = text.split('`').enumerate().map(|(i, part)| match declaration.setting(part) {
        // The parts at odd positions are between backticks.
        Some(setting) if i % 2 == 1 => format!("{quote}--{}{quote}", setting.option().replace('_', "-")),
        _ => part.to_owned(),
    });
    parts.collect()
}

/// Describes when a setting applies, if that depends on others.
fn conditions(setting: &Setting) -> Option<String> {
    let one = |condition: &Condition| {
        format!("{} {}", if condition.is { "with" } else { "not with" }, condition.subject())
    };
    let all: Vec<String> = setting.only.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns the range of a setting and its unit.
fn numbers(setting: &Setting) -> Option<String> {
    let each = if matches!(setting.kind, Kind::Pair(_)) { "each " } else { "" };
    let range = (setting.range != Range::ANY).then(|| format!("{each}{}", setting.range));
    let parts = [range.unwrap_or_default(), setting.unit.to_owned()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Returns the default of a setting, or how its value is chosen; `None` for a switch that is off.
fn default(declaration: &Declaration, setting: &Setting) -> Option<String> {
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

/// Settings of `O` from the command line: option names, with underscores, and values as JSON.
#[derive(Clone, Debug)]
pub struct Given<O> {
    /// In the order of [`Options::ALL`].
    pub values: Vec<(&'static str, Value)>,
    options: PhantomData<fn() -> O>,
}

impl<O> Given<O> {
    /// Returns the value of the option with this id, if it was given; null for a number that was given as the word for none.
    pub fn get(&self, id: &str) -> Option<&Value> {
        self.values.iter().find(|(other, _)| *other == id).map(|(_, value)| value)
    }

    /// Rejects options that have no effect with these settings, which are a JSON object of all settings of the declared algorithm.
    ///
    /// # Errors
    /// [`Error::Usage`] for the first such option.
    pub fn refuse_unused(&self, declaration: &Declaration, settings: &Value) -> Result<()> {
        for (id, _) in &self.values {
            if let Some(condition) = declaration.option(id).and_then(|setting| setting.unmet(settings)) {
                return Err(Error::Usage(format!("`{id}` {condition}")));
            }
        }
        Ok(())
    }
}

impl<O: Options> clap::Args for Given<O> {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(O::ALL.iter().map(|option| option.argument(O::heading(option))))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Given::<O>::augment_args(command)
    }
}

impl<O: Options> clap::FromArgMatches for Given<O> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Given<O>, clap::Error> {
        let value = |option: &SettingOption| {
            let id = option.id;
            let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
            let value = match option.kind() {
                Kind::Switch => matches.get_one::<bool>(id).copied().map(Value::from),
                _ => matches.get_one::<Value>(id).cloned(),
            };
            value.filter(|_| is_given).map(|value| (id, value))
        };
        Ok(Given { values: O::ALL.iter().filter_map(value).collect(), options: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Given::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the tables of all settings for the documentation, in Markdown.
pub fn tables(declarations: &[Declaration]) -> String {
    let mut text = String::new();
    for declaration in declarations {
        if declarations.len() > 1 {
            let _ = writeln!(text, "#### `{}`: {}\n", declaration.name, declaration.about);
        }
        text += "| option | JSON | values | default | meaning |\n|---|---|---|---|---|\n";
        for setting in declaration.settings.iter().filter(|setting| !setting.is_internal) {
            let values = match setting.kind {
                Kind::Switch if setting.default() == false => String::new(),
                Kind::Switch => "`true`, `false`".to_owned(),
                Kind::Choice(choices) => {
                    let taken = choices()
                        .into_iter()
                        .filter(|choice| !setting.except.contains(&choice.name.as_str()));
                    let names = taken.map(|choice| match choice.help.trim() {
                        "" => format!("`{}`", choice.name),
                        help => format!("`{}`: {}", choice.name, help.replace('|', "\\|")),
                    });
                    names.collect::<Vec<_>>().join("; ")
                }
                kind => {
                    let kind = if matches!(kind, Kind::Whole(_)) { "a whole number" } else { "a number" };
                    let none = match setting.none {
                        "" => String::new(),
                        none => format!(", or `{none}`"),
                    };
                    numbers(setting).unwrap_or_else(|| kind.to_owned()) + &none
                }
            };
            let condition = conditions(setting).map_or_else(String::new, |when| format!(" ({when})"));
            let prose = |cell: String| as_options_of(declaration, &cell, "`");
            let option = format!("--{} {}", setting.option().replace('_', "-"), setting.value_name);
            let cells = [
                format!("`{}`", option.trim_end()),
                format!("`{}`", setting.name),
                values,
                prose(default(declaration, setting).unwrap_or_else(|| "off".to_owned())),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::Algorithm;

    #[test]
    fn users_of_an_option_agree_on_its_values() {
        for option in options_of(&Algorithm::ALL) {
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
        assert_eq!(list(&["a"], "and"), "a");
        assert_eq!(list(&["a", "b", "c"], "and"), "a, b and c");
    }
}
