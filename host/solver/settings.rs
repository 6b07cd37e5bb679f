//! Settings of algorithms and of neighbourhood search. Each is declared once, by `settings!`: its name, help sentence, type, default, range, unit, and the
//! conditions under which it applies.
//!
//! A declaration becomes a field of the settings, which serde reads and writes, and a row of the table
//! [`Declaration::settings`]. The command line, `--config`, the man page, completions and the table in the documentation are all
//! generated from these tables.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::SolveError;

/// A setting's name, and a value of it.
pub type Beside = (&'static str, fn() -> Value);

/// The declaration of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Its settings.
    pub settings: &'static [Setting],
    /// The setting, with its value, that gives other settings a different default.
    pub beside: Option<Beside>,
    /// Returns all settings, as JSON, completed from the given ones; see [`read`].
    pub complete: fn(&Map<String, Value>) -> Result<Value, String>,
}

impl Declaration {
    /// Returns the setting with this name, if the algorithm has it.
    pub fn setting(&self, name: &str) -> Option<&'static Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// Returns what gives a setting a different default, as in `` `crossover` eax ``, and that default; `None` if nothing does.
    pub fn default_beside(&self, setting: &Setting) -> Option<(String, Value)> {
        let (other, value) = self.beside.map(|(other, value)| (other, value()))?;
        let given = Map::from_iter([(other.to_owned(), value.clone())]);
        let all = (self.complete)(&given).ok()?;
        let default = all.get(setting.name)?;
        let differs = *default != setting.default() && setting.name != other;
        differs.then(|| (format!("`{other}` {}", text(&value)), default.clone()))
    }

    /// Returns the setting that a command-line option sets, by the option's name with underscores.
    pub fn option(&self, option: &str) -> Option<&'static Setting> {
        self.settings.iter().find(|setting| !setting.is_internal && setting.option() == option)
    }
}

/// The declaration of a setting. Texts that do not apply are empty.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name: the field of the settings, and the key in the JSON of a run.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// The allowed numbers; has no effect if values are not numbers.
    pub range: Range,
    /// What its number counts or measures, where the name does not say so.
    pub unit: &'static str,
    /// What happens if it is not given, where that depends on the run.
    pub otherwise: &'static str,
    /// The word for no value on the command line, where that is not the default.
    pub none: &'static str,
    /// What its value is called in the help, where that says more than the kind.
    pub value_name: &'static str,
    /// The conditions under which it applies; all of them must hold.
    pub only: &'static [Condition],
    /// Whether the short help shows it too.
    pub is_common: bool,
    /// Names of values that other algorithms accept and this one rejects.
    pub except: &'static [&'static str],
    /// Whether the algorithm sets it, so that it has no option.
    pub is_internal: bool,
    /// The name of its option, with underscores, if it differs.
    pub option: &'static str,
    pub(super) is_optional: bool,
    pub(super) help: &'static str,
    pub(super) default: fn() -> Value,
}

impl Setting {
    /// Returns a setting without range, unit and conditions.
    pub const fn new(
        name: &'static str,
        help: &'static str,
        (kind, is_optional): (Kind, bool),
        default: fn() -> Value,
    ) -> Setting {
        Setting {
            name,
            kind,
            range: Range::ANY,
            unit: "",
            otherwise: "",
            none: "",
            value_name: "",
            only: &[],
            is_common: false,
            except: &[],
            is_internal: false,
            option: "",
            is_optional,
            help,
            default,
        }
    }

    /// Returns the name of its option, with underscores.
    pub fn option(&self) -> &'static str {
        if self.option.is_empty() { self.name } else { self.option }
    }

    /// Returns its help sentence. It names settings as fields, in backticks.
    pub fn help(&self) -> &'static str {
        self.help.trim_start()
    }

    /// Returns its default as JSON; null if it has no value by default.
    pub fn default(&self) -> Value {
        (self.default)()
    }

    /// Returns whether it may be null in JSON.
    pub fn is_optional(&self) -> bool {
        self.is_optional
    }

    /// Returns the first of its conditions that does not hold, given all of an algorithm's settings as JSON.
    pub fn unmet(&self, settings: &Value) -> Option<&'static Condition> {
        self.only.iter().find(|condition| !condition.holds(settings))
    }

    /// Rejects a number out of range.
    fn check(&self, numbers: &[f64]) -> Result<(), SolveError> {
        if numbers.iter().all(|&number| self.range.contains(number)) {
            return Ok(());
        }
        let each = if matches!(self.kind, Kind::Pair(_)) { "two numbers, each " } else { "" };
        let none = if self.none.is_empty() { String::new() } else { format!(", or `{}`", self.none) };
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        Err(SolveError::Settings(format!("`{}` must be {each}{}{unit}{none}", self.name, self.range)))
    }
}

/// The kind of a setting's values.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An integer up to this one.
    Whole(u64),
    /// A real number.
    Real,
    /// Two numbers of this kind, with a comma between them on the command line.
    Pair(&'static Kind),
    /// A boolean.
    Switch,
    /// One of several names, which are listed only with the feature `cli`.
    Choice(fn() -> Vec<Choice>),
}

/// A named value of a setting.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// Its help sentence.
    pub help: String,
}

/// A range of allowed numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    high: f64,
    /// Whether both ends are excluded.
    is_open: bool,
}

impl Range {
    /// Any number.
    pub const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, is_open: false };

    /// Returns whether it contains a number; it never contains NaN.
    pub fn contains(&self, number: f64) -> bool {
        if self.is_open {
            number > self.low && number < self.high
        } else {
            number >= self.low && number <= self.high
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { low, high, is_open } = *self;
        match (low.is_finite(), high.is_finite()) {
            (true, true) if is_open => write!(f, "above {low} and below {high}"),
            (true, true) => write!(f, "{low} to {high}"),
            (true, false) if is_open => write!(f, "above {low}"),
            (true, false) => write!(f, "at least {low}"),
            _ => write!(f, "any number"),
        }
    }
}

/// Returns the integers from one to another, both included.
pub const fn from_to(low: u32, high: u32) -> Range {
    between(low as f64, high as f64)
}

/// Returns the integers from this one on.
pub const fn at_least(low: u32) -> Range {
    between(low as f64, f64::INFINITY)
}

/// Returns the numbers from one to another, both included.
pub const fn between(low: f64, high: f64) -> Range {
    Range { low, high, is_open: false }
}

/// Returns the numbers above one and below another.
pub const fn inside(low: f64, high: f64) -> Range {
    Range { low, high, is_open: true }
}

/// When a setting applies: with some values of another setting, or with all other values of that setting.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// The other setting, of the same algorithm.
    pub setting: &'static str,
    /// Its values as text, with `|` between them.
    pub value: &'static str,
    /// Whether it must have one of these values, or none of them.
    pub is: bool,
}

/// Returns the condition that another setting has this value, or one of several as in `"ils|vns"`.
pub const fn is(setting: &'static str, value: &'static str) -> Condition {
    Condition { setting, value, is: true }
}

/// Returns the condition that another setting has none of these values.
pub const fn is_not(setting: &'static str, value: &'static str) -> Condition {
    Condition { setting, value, is: false }
}

impl Condition {
    /// Returns whether it holds, given all of an algorithm's settings as JSON.
    fn holds(&self, settings: &Value) -> bool {
        let own = text(&settings[self.setting]);
        self.value.split('|').any(|value| value == own) == self.is
    }

    /// Returns the setting and its value, as in `` `crossover` eax ``; for a boolean, only its name.
    pub fn subject(&self) -> String {
        let value = match self.value.rsplit_once('|') {
            Some((others, last)) => format!(" {} or {last}", others.replace('|', ", ")),
            None if self.value == "true" => String::new(),
            None => format!(" {}", self.value),
        };
        format!("`{}`{value}", self.setting)
    }
}

/// Explains why a setting has no effect where the condition does not hold.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = if self.is { "applies only with" } else { "does nothing with" };
        write!(f, "{why} {}", self.subject())
    }
}

/// Returns a value as it is written on the command line.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The type of a setting.
pub trait Typed: Serialize {
    /// What its values are.
    const KIND: Kind;
    /// Whether the value may be absent.
    const IS_OPTIONAL: bool = false;

    /// Returns the numbers that lie in its range.
    fn numbers(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Returns it as JSON, with no more digits than its type has.
    fn to_json(&self) -> Value {
        let text = serde_json::to_string(self).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

macro_rules! numbers {
    ($($type:ty: $kind:expr),*) => {
        $(impl Typed for $type {
            const KIND: Kind = $kind;

            fn numbers(&self) -> Vec<f64> {
                vec![*self as f64]
            }
        })*
    };
}
numbers!(u32: Kind::Whole(u32::MAX as u64), u64: Kind::Whole(u64::MAX), f32: Kind::Real, f64: Kind::Real);

impl Typed for bool {
    const KIND: Kind = Kind::Switch;
}

impl<T: Typed> Typed for Option<T> {
    const KIND: Kind = T::KIND;
    const IS_OPTIONAL: bool = true;

    fn numbers(&self) -> Vec<f64> {
        self.as_ref().map(Typed::numbers).unwrap_or_default()
    }
}

impl<T: Typed> Typed for (T, T) {
    const KIND: Kind = Kind::Pair(&T::KIND);

    fn numbers(&self) -> Vec<f64> {
        [self.0.numbers(), self.1.numbers()].concat()
    }
}

/// Makes enums types of settings. clap provides their names and help.
macro_rules! choices {
    ($($type:ty),*) => {
        $(impl $crate::solver::settings::Typed for $type {
            const KIND: $crate::solver::settings::Kind =
                $crate::solver::settings::Kind::Choice($crate::solver::settings::listed::<$type>);
        })*
    };
}
pub(super) use choices;

/// Returns the values of an enum.
#[cfg(feature = "cli")]
pub(super) fn listed<T: clap::ValueEnum>() -> Vec<Choice> {
    let choice = |value: &T| {
        let value = value.to_possible_value()?;
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        Some(Choice { name: value.get_name().to_owned(), help })
    };
    T::value_variants().iter().filter_map(choice).collect()
}

/// Returns nothing: names and help of the values exist only with the feature `cli`.
#[cfg(not(feature = "cli"))]
#[allow(clippy::extra_unused_type_parameters, reason = "it is called as the other one is")]
pub(super) fn listed<T>() -> Vec<Choice> {
    Vec::new()
}

/// The settings of an algorithm.
pub trait Settings: Clone + Default + Serialize + DeserializeOwned {
    /// The algorithm, and the table of its settings.
    const DECLARATION: Declaration;

    /// Returns the same settings with other defaults for those whose default depends on what is set.
    #[must_use]
    fn with_defaults_beside(self) -> Self;

    /// Rejects settings out of range.
    ///
    /// # Errors
    /// The first one out of range, and its range.
    fn check_ranges(&self) -> Result<(), SolveError>;
}

/// Makes settings from the given ones, as JSON; the others have their defaults.
///
/// # Errors
/// The name that is not a setting, or whose value is of another kind.
pub fn read<S: Settings>(given: &Map<String, Value>) -> Result<S, String> {
    let first: S = overlay(&S::default(), given)?;
    overlay(&first.with_defaults_beside(), given)
}

/// Makes all settings, as JSON, from the given ones.
///
/// # Errors
/// As [`read`].
pub(super) fn complete<S: Settings>(given: &Map<String, Value>) -> Result<Value, String> {
    serde_json::to_value(read::<S>(given)?).map_err(|error| error.to_string())
}

/// Returns `base` with the given settings, as JSON, replacing its own.
///
/// # Errors
/// As [`read`].
pub fn overlay<S: Settings>(base: &S, given: &Map<String, Value>) -> Result<S, String> {
    for (name, value) in given {
        let one = Map::from_iter([(name.clone(), value.clone())]);
        serde_json::from_value::<S>(one.into()).map_err(|error| format!("`{name}`: {error}"))?;
    }
    let mut all = serde_json::to_value(base).map_err(|error| error.to_string())?;
    if let Some(all) = all.as_object_mut() {
        all.extend(given.clone());
    }
    serde_json::from_value(all).map_err(|error| error.to_string())
}

/// Returns the first element, if any.
pub(super) const fn first(all: &[Beside]) -> Option<Beside> {
    match all {
        [first, ..] => Some(*first),
        [] => None,
    }
}

/// Rejects the first setting with a number, at the same index, out of range.
pub(super) fn check(settings: &[Setting], numbers: &[Vec<f64>]) -> Result<(), SolveError> {
    settings.iter().zip(numbers).try_for_each(|(setting, numbers)| setting.check(numbers))
}

/// Declares the settings of an algorithm: its name, its description, and a line for each setting.
///
/// A setting is `/// help`, `name: type = default`, and then its other properties: fields of [`Setting`]. `beside` lists the
/// settings whose default differs where one setting has a given value.
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        pub struct $struct:ident = $algorithm:literal, $what:literal {
            $(
                $(#[doc = $help:literal])+
                $(#[serde($($serde:tt)*)])?
                pub $name:ident: $type:ty = $default:expr $(, $key:ident: $value:expr)*;
            )*
        }
        $(beside $other:ident = $choice:expr => { $($field:ident: $own:expr),* $(,)? })?
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $struct {
            $(
                $(#[doc = $help])+
                $(#[serde($($serde)*)])?
                pub $name: $type,
            )*
        }

        impl Default for $struct {
            fn default() -> Self {
                $struct { $($name: $default),* }
            }
        }

        impl $crate::solver::settings::Settings for $struct {
            const DECLARATION: $crate::solver::settings::Declaration = $crate::solver::settings::Declaration {
                name: $algorithm,
                about: $what,
                settings: &[$(
                    $crate::solver::settings::Setting {
                        $($key: $value,)*
                        ..$crate::solver::settings::Setting::new(
                            stringify!($name),
                            concat!($($help),+),
                            (
                                <$type as $crate::solver::settings::Typed>::KIND,
                                <$type as $crate::solver::settings::Typed>::IS_OPTIONAL,
                            ),
                            || {
                                let default: $type = $default;
                                $crate::solver::settings::Typed::to_json(&default)
                            },
                        )
                    }
                ),*],
                beside: $crate::solver::settings::first(&[$(
                    (stringify!($other), || $crate::solver::settings::Typed::to_json(&$choice)),
                )?]),
                complete: $crate::solver::settings::complete::<$struct>,
            };

            fn with_defaults_beside(self) -> Self {
                $(if self.$other == $choice {
                    return $struct { $($field: $own,)* ..self };
                })?
                self
            }

            fn check_ranges(&self) -> Result<(), $crate::solver::SolveError> {
                let numbers = [$($crate::solver::settings::Typed::numbers(&self.$name)),*];
                $crate::solver::settings::check(Self::DECLARATION.settings, &numbers)
            }
        }
    };
}
pub(super) use settings;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::Algorithm;
    use crate::solver::search::SearchSettings;

    fn all() -> impl Iterator<Item = Declaration> {
        Algorithm::ALL.into_iter().chain([SearchSettings::DECLARATION])
    }

    #[test]
    fn every_default_lies_in_its_range() {
        SearchSettings::default().check().unwrap();
        for declaration in Algorithm::ALL {
            let algorithm = Algorithm::read(&declaration, &Map::new()).unwrap();
            algorithm.check().unwrap_or_else(|error| panic!("{}: {error}", declaration.name));
        }
        for declaration in all() {
            let values = (declaration.complete)(&Map::new()).unwrap();
            for setting in declaration.settings {
                let default = setting.default();
                let other = declaration.default_beside(setting).map(|(_, value)| value);
                for number in [Some(&default), other.as_ref()].into_iter().flatten().filter_map(Value::as_f64)
                {
                    assert!(setting.range.contains(number), "{}: {}", declaration.name, setting.name);
                }
                let is_said = !default.is_null() || !setting.otherwise.is_empty() || setting.is_internal;
                assert!(is_said, "{}: what is {} if it is not given?", declaration.name, setting.name);
                let value = values.get(setting.name).unwrap_or(&Value::Null);
                // 32-bit numbers have more digits when converted to 64 bits.
                match (value.as_f64(), default.as_f64()) {
                    (Some(value), Some(default)) => assert_eq!(value as f32, default as f32),
                    _ => assert_eq!(*value, default, "{}", setting.name),
                }
            }
        }
    }

    #[test]
    fn conditions_name_settings_and_values_that_there_are() {
        for declaration in all() {
            for (setting, condition) in
                declaration.settings.iter().flat_map(|s| s.only.iter().map(move |c| (s, c)))
            {
                let other = declaration.setting(condition.setting);
                let other = other.unwrap_or_else(|| panic!("{} of {}", condition.setting, setting.name));
                for value in condition.value.split('|') {
                    let given = if value == "true" { true.into() } else { Value::from(value) };
                    let given = Map::from_iter([(other.name.to_owned(), given)]);
                    let values = (declaration.complete)(&given).unwrap();
                    let what = (condition.setting, setting.name);
                    assert_eq!(condition.holds(&values), condition.is, "{what:?}");
                }
            }
        }
    }

    #[test]
    fn names_and_sentences_are_there_and_differ() {
        for declaration in all() {
            for (i, setting) in declaration.settings.iter().enumerate() {
                assert!(!setting.help().is_empty() && !setting.help().ends_with('.'), "{}", setting.name);
                let others = &declaration.settings[..i];
                assert!(others.iter().all(|other| other.option() != setting.option()), "{}", setting.name);
            }
        }
    }

    #[test]
    fn settings_out_of_range_are_refused_by_name_and_range() {
        let with = |name: &str, value: Value| Map::from_iter([(name.to_owned(), value)]);
        let refusal = |algorithm: usize, given| {
            let read = Algorithm::read(&Algorithm::ALL[algorithm], &given).unwrap();
            read.check().unwrap_err().to_string()
        };
        assert_eq!(
            refusal(0, with("temperature", 2000.into())),
            "`temperature` must be 0 to 1000 mean edges of the tour"
        );
        assert_eq!(refusal(2, with("candidates", 0.into())), "`candidates` must be at least 1, or `all`");
        assert_eq!(refusal(2, with("rho", 1.into())), "`rho` must be above 0 and below 1");
        assert_eq!(refusal(4, with("neighbors", 101.into())), "`neighbors` must be 1 to 100");
        let nan = super::super::mmas::MmasSettings { rho: Some(f64::NAN), ..Default::default() };
        assert!(nan.check().is_err(), "NaN lies in no range");
    }

    /// One setting changes the defaults of others; given values stay.
    #[test]
    fn defaults_depend_on_what_is_given() {
        let genetic = Algorithm::ALL.into_iter().find(|algorithm| algorithm.name == "ga").unwrap();
        let read = |given: Value| (genetic.complete)(given.as_object().unwrap()).unwrap();
        let of = |values: &Value| (values["groups"].clone(), values["transfer_every"].clone());
        assert_eq!(of(&read(serde_json::json!({}))), (8.into(), 20.into()));
        assert_eq!(of(&read(serde_json::json!({"crossover": "eax"}))), (1.into(), 0.into()));
        assert_eq!(of(&read(serde_json::json!({"crossover": "eax", "groups": 3}))), (3.into(), 0.into()));
    }
}
