//! Keyword arguments, checked: limits, where to compute, how to read, and the algorithm's declared settings.

use std::time::Duration;

use antwarp::backend::{Choice, Gpus};
use antwarp::instance::{DecimalSign, Instance, ReadOptions, Shape};
use antwarp::solver::checkpoint::Checkpoint;
use antwarp::solver::settings::{Kind, Setting, text};
use antwarp::solver::{Algorithm, DEFAULT_TIME, proven_optimum};
use antwarp::{engine, solver};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PySequence, PyString};
use serde_json::{Map, Value};

use crate::error;

/// Whether a run proves its tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prove {
    /// If that costs the search next to nothing.
    Auto,
    /// From the start, until the tour is proven or the time is up.
    Always,
    /// Not at all.
    Never,
}

/// The checked options of a run.
#[pyclass(frozen, module = "antwarp._native")]
pub struct Options {
    pub algorithm: Algorithm,
    pub backend: Choice,
    pub gpus: Gpus,
    pub prove: Prove,
    /// Whether a lower bound is found beside the run; if not given, where it costs next to nothing.
    pub bound: Option<bool>,
    pub reading: ReadOptions,
    #[pyo3(get)]
    threads: Option<u32>,
    time: Option<Duration>,
    iterations: Option<u64>,
    stagnation: Option<u64>,
    pub target: Option<f64>,
    /// Whether the algorithm was named.
    is_named: bool,
    /// The settings of the algorithm that were given.
    given: Vec<(&'static Setting, Value)>,
}

/// Options that no algorithm declares: their names, and what they take, in the notation of Python's types. They are documented in
/// `antwarp/__init__.py`.
const GENERAL: [(&str, &str); 19] = [
    ("time", "float"),
    ("iterations", "int"),
    ("stagnation", "int"),
    ("target", "float"),
    ("algorithm", "str"),
    ("backend", "str"),
    ("gpus", "str | int | Sequence[int]"),
    ("threads", "int"),
    ("prove", "bool"),
    ("bound", "bool"),
    ("shape", "str"),
    ("columns", "str"),
    ("decimal", "str"),
    ("no_header", "bool"),
    ("degrees", "bool"),
    ("directed", "bool"),
    ("forbidden_from", "float"),
    ("unrounded", "bool"),
    // Taken by Python itself, for graphs.
    ("weight", "str"),
];

#[pymethods]
impl Options {
    /// Checks keyword arguments. `None` counts as not given.
    #[new]
    fn new(given: &Bound<'_, PyDict>) -> PyResult<Options> {
        let mut given = Given { all: given.copy()? };
        let time = given.take("time", "a number of seconds", |value| {
            let seconds: f64 = number(value)?;
            Duration::try_from_secs_f64(seconds).ok()
        })?;
        let count = |least: u64, value: &Bound<'_, PyAny>| whole(value).filter(|&count| count >= least);
        let algorithm = given.take("algorithm", &algorithms(), |value| {
            let name: String = value.extract().ok()?;
            Algorithm::ALL.into_iter().find(|declaration| declaration.name == name)
        })?;
        let is_named = algorithm.is_some();
        let declaration = algorithm.unwrap_or_else(|| Algorithm::default().declaration());
        let least = if declaration.name == "ga" { 0 } else { 1 };
        let what = format!("a whole number of at least {least}");
        let iterations = given.take("iterations", &what, |value| count(least, value))?;
        let stagnation = given.take("stagnation", "a whole number of at least 1", |value| count(1, value))?;
        let target =
            given.take("target", "a finite number", |value| number(value).filter(|t| t.is_finite()))?;
        let backend = given.take("backend", "\"auto\", \"cpu\" or \"cuda\"", choice)?.unwrap_or(Choice::Auto);
        let what = "\"all\", how many, or a list of the numbers of GPUs";
        let gpus = given.take("gpus", what, gpus)?.unwrap_or_default();
        let what = "a whole number of at least 1";
        let threads = given.take("threads", what, |value| u32::try_from(count(1, value)?).ok())?;
        let prove = match given.flag("prove")? {
            None => Prove::Auto,
            Some(true) => Prove::Always,
            Some(false) => Prove::Never,
        };
        let bound = given.flag("bound")?;
        let reading = reading(&mut given)?;
        given.take("weight", "the name of an attribute", |_| Some(()))?;
        let (algorithm, given) = given.settings(&declaration)?;
        if algorithm.is_descent_only()
            && let Some(limit) = iterations.map(|_| "iterations").or(stagnation.map(|_| "stagnation"))
        {
            return Err(error::option(format!("`{limit}` does nothing with `descent_only`")));
        }
        if backend == Choice::Cpu && gpus != Gpus::All {
            return Err(error::option("`gpus` has no effect with `backend` cpu"));
        }
        Ok(Options {
            algorithm,
            backend,
            gpus,
            prove,
            bound,
            reading,
            threads,
            time,
            iterations,
            stagnation,
            target,
            is_named,
            given,
        })
    }

    /// What the numbers mean, if that was given.
    #[getter]
    fn shape(&self) -> Option<&'static str> {
        self.reading.shape.map(|shape| match shape {
            Shape::Points => "points",
            Shape::Matrix => "matrix",
            Shape::Edges => "edges",
        })
    }

    /// Whether the numbers are latitudes and longitudes.
    #[getter]
    fn degrees(&self) -> bool {
        self.reading.degrees
    }

    /// The roles of columns, each with a column.
    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        self.reading.columns.clone()
    }
}

impl Options {
    /// Returns the limits of a run on an instance, which may continue another one or prove its tour. `initial` is the tour that it starts
    /// from, empty if there is none.
    pub fn stop(
        &self,
        instance: &Instance,
        algorithm: &Algorithm,
        initial: &[u32],
        (resumed, asks_proof): (Option<&Checkpoint>, bool),
    ) -> engine::Stop {
        let is_asked = self.time.is_some()
            || self.iterations.is_some()
            || self.stagnation.is_some()
            || self.target.is_some();
        if let Some(checkpoint) = resumed.filter(|_| !is_asked) {
            return checkpoint.stop();
        }
        let is_limited = is_asked || asks_proof || algorithm.is_descent_only();
        let target = self.target.map(|target| instance.inside(target));
        engine::Stop {
            time: if is_limited { self.time } else { Some(DEFAULT_TIME) },
            before: resumed.map_or(Duration::ZERO, |checkpoint| checkpoint.elapsed),
            iterations: self.iterations,
            target: target.max(proven_optimum(instance, initial)),
            stagnation: self.stagnation,
            may_settle: !is_limited,
            ..engine::Stop::never()
        }
    }

    /// Rejects another algorithm than that of a run to continue, and other settings.
    pub fn check_resumed(&self, checkpoint: &Checkpoint) -> PyResult<()> {
        let refuse = |what: String| {
            Err(error::option(format!("the run of the checkpoint {what}; `resume` continues it as it is")))
        };
        let name = checkpoint.algorithm().name();
        if (self.is_named || !self.given.is_empty()) && self.algorithm.name() != name {
            return refuse(format!("uses `algorithm` \"{name}\""));
        }
        for (setting, value) in &self.given {
            if let Some(own) = checkpoint.other_value(setting, value).map_err(error::option)? {
                return refuse(format!("has `{}` {own}", setting.option()));
            }
        }
        Ok(())
    }

    /// Returns the limits for many instances together, of whose time `spent` has passed.
    pub fn stop_of_many(&self, spent: Duration) -> engine::Stop {
        engine::Stop { time: self.time, ..engine::Stop::never() }.spent(spent)
    }
}

/// The keyword arguments that are not used yet.
struct Given<'py> {
    all: Bound<'py, PyDict>,
}

impl<'py> Given<'py> {
    /// Takes the value of an option, converted; `what` says which values can be.
    fn take<T>(
        &mut self,
        name: &str,
        what: &str,
        convert: impl FnOnce(&Bound<'py, PyAny>) -> Option<T>,
    ) -> PyResult<Option<T>> {
        let Some(value) = self.all.get_item(name)? else { return Ok(None) };
        self.all.del_item(name)?;
        if value.is_none() {
            return Ok(None);
        }
        let converted = convert(&value);
        converted
            .map(Some)
            .ok_or_else(|| error::option(format!("`{name}` must be {what}, not {}", shown(&value))))
    }

    /// Takes the value of an option that is true or false.
    fn flag(&mut self, name: &str) -> PyResult<Option<bool>> {
        self.take(name, "True or False", |value| value.extract().ok())
    }

    /// Makes the algorithm from the options that are left: its settings. Also returns these.
    fn settings(
        self,
        declaration: &solver::settings::Declaration,
    ) -> PyResult<(Algorithm, Vec<(&'static Setting, Value)>)> {
        let mut given = Map::new();
        let mut values = Vec::new();
        for (key, value) in self.all.iter() {
            let option: String = key.extract()?;
            let Some(setting) = declaration.option(&option) else {
                return Err(unknown(&option, declaration));
            };
            if value.is_none() {
                continue;
            }
            let json = json(&value, setting).ok_or_else(|| {
                error::option(format!("`{option}` must be {}, not {}", kinds(setting), shown(&value)))
            })?;
            values.push((setting, json.clone()));
            given.insert(setting.name.to_owned(), json);
        }
        let algorithm = Algorithm::read(declaration, &given).map_err(error::option)?;
        algorithm.check().map_err(error::of_solve)?;
        let all = serde_json::to_value(&algorithm).map_err(error::bug)?;
        for (setting, _) in &values {
            if let Some(condition) = setting.unmet(&all) {
                return Err(error::option(format!("`{}` {condition}", setting.option())));
            }
        }
        Ok((algorithm, values))
    }
}

/// Takes the options for reading.
fn reading(given: &mut Given<'_>) -> PyResult<ReadOptions> {
    let shape = given.take("shape", "\"points\", \"matrix\" or \"edges\"", |value| {
        Some(match value.extract::<String>().ok()?.as_str() {
            "points" => Shape::Points,
            "matrix" => Shape::Matrix,
            "edges" => Shape::Edges,
            _ => return None,
        })
    })?;
    let what = "roles and columns such as \"x=2,y=3\"";
    let columns = given.take("columns", what, |value| {
        let text: String = value.extract().ok()?;
        let role = |part: &str| {
            let (role, column) = part.split_once('=')?;
            let (role, column) = (role.trim(), column.trim());
            (!role.is_empty() && !column.is_empty()).then(|| (role.to_owned(), column.to_owned()))
        };
        text.split(',').map(role).collect::<Option<Vec<_>>>()
    })?;
    let decimal = given.take("decimal", "\"point\" or \"comma\"", |value| {
        Some(match value.extract::<String>().ok()?.as_str() {
            "point" => DecimalSign::Point,
            "comma" => DecimalSign::Comma,
            _ => return None,
        })
    })?;
    let is_number = |value: &Bound<'_, PyAny>| number(value).filter(|value| !value.is_nan());
    Ok(ReadOptions {
        shape,
        columns: columns.unwrap_or_default(),
        decimal,
        no_header: given.flag("no_header")?.unwrap_or(false),
        degrees: given.flag("degrees")?.unwrap_or(false),
        directed: given.flag("directed")?.unwrap_or(false),
        forbidden_from: given.take("forbidden_from", "a number", is_number)?,
        unrounded: given.flag("unrounded")?.unwrap_or(false),
    })
}

/// Names the algorithms.
fn algorithms() -> String {
    let names: Vec<String> = Algorithm::ALL.iter().map(|one| format!("\"{}\"", one.name)).collect();
    format!("one of {}", names.join(", "))
}

/// Makes the error for an option that the algorithm does not have.
fn unknown(option: &str, declaration: &solver::settings::Declaration) -> PyErr {
    let users = Algorithm::ALL.iter().filter(|other| other.option(option).is_some());
    let users: Vec<String> = users.map(|other| format!("algorithm=\"{}\"", other.name)).collect();
    if users.is_empty() {
        return error::option(format!("there is no option `{option}`"));
    }
    let (users, name) = (users.join(" or "), declaration.name);
    error::option(format!("`{option}` applies only to {users}; this run uses \"{name}\""))
}

/// Returns a value of Python as JSON, if its kind is that of the setting.
fn json(value: &Bound<'_, PyAny>, setting: &Setting) -> Option<Value> {
    if !setting.none.is_empty() && value.extract::<String>().is_ok_and(|text| text == setting.none) {
        return setting.is_optional().then_some(Value::Null);
    }
    of_kind(value, setting.kind)
}

fn of_kind(value: &Bound<'_, PyAny>, kind: Kind) -> Option<Value> {
    match kind {
        Kind::Whole(most) => whole(value).filter(|&count| count <= most).map(Value::from),
        Kind::Real => number(value).filter(|number| number.is_finite()).map(Value::from),
        Kind::Pair(&each) => {
            let pair = value.cast::<PySequence>().ok().filter(|_| !value.is_instance_of::<PyString>())?;
            if pair.len().ok()? != 2 {
                return None;
            }
            let each = |at| of_kind(&pair.get_item(at).ok()?, each);
            Some(Value::Array(vec![each(0)?, each(1)?]))
        }
        Kind::Switch => value.extract::<bool>().ok().map(Value::from),
        Kind::Choice(choices) => {
            let name: String = value.extract().ok()?;
            choices().iter().any(|choice| choice.name == name).then(|| Value::from(name))
        }
    }
}

/// Says which values a setting takes.
fn kinds(setting: &Setting) -> String {
    let kind = match setting.kind {
        Kind::Whole(most) if most > u64::from(u32::MAX) => "a whole number".to_owned(),
        Kind::Whole(most) => format!("a whole number up to {most}"),
        Kind::Real => "a finite number".to_owned(),
        Kind::Pair(_) => "two numbers".to_owned(),
        Kind::Switch => "True or False".to_owned(),
        Kind::Choice(choices) => {
            let names: Vec<String> = choices().iter().map(|choice| format!("\"{}\"", choice.name)).collect();
            format!("one of {}", names.join(", "))
        }
    };
    if setting.none.is_empty() { kind } else { format!("{kind}, or \"{}\"", setting.none) }
}

/// Returns a value as it looks in Python, in a few characters.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "this".to_owned(), |text| text.to_string());
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { short + "..." } else { short }
}

/// Returns a real number: a float, an integer, or what has `__float__` or `__index__`, such as numbers of numpy.
pub fn number(value: &Bound<'_, PyAny>) -> Option<f64> {
    let is_other = value.is_instance_of::<PyBool>() || value.is_instance_of::<PyString>();
    if is_other { None } else { value.extract().ok() }
}

/// Returns a whole number that is not negative.
fn whole(value: &Bound<'_, PyAny>) -> Option<u64> {
    let is_other = value.is_instance_of::<PyBool>() || value.is_instance_of::<PyFloat>();
    if is_other { None } else { value.extract().ok() }
}

fn choice(value: &Bound<'_, PyAny>) -> Option<Choice> {
    Some(match value.extract::<String>().ok()?.as_str() {
        "auto" => Choice::Auto,
        "cpu" => Choice::Cpu,
        "cuda" => Choice::Cuda,
        _ => return None,
    })
}

fn gpus(value: &Bound<'_, PyAny>) -> Option<Gpus> {
    if let Ok(text) = value.extract::<String>() {
        return text.parse().ok();
    }
    if value.is_instance_of::<PyInt>() {
        return Some(Gpus::Count(value.extract().ok().filter(|&count| count > 0)?));
    }
    let numbers: Vec<u32> = value.extract().ok()?;
    let text: Vec<String> = numbers.iter().map(|number| format!("{number},")).collect();
    text.concat().parse().ok()
}

/// Returns the options of `solve` that are passed by name: the name, the type, the algorithms that have it, and what it means. The stub
/// of the options is made from them.
#[pyfunction]
pub fn declarations() -> Vec<(String, String, Vec<&'static str>, String)> {
    let general =
        GENERAL.iter().map(|&(name, kind)| (name.to_owned(), kind.to_owned(), Vec::new(), String::new()));
    let mut all: Vec<_> = general.collect();
    for declaration in &Algorithm::ALL {
        for setting in declaration.settings.iter().filter(|setting| !setting.is_internal) {
            let option = setting.option();
            match all.iter_mut().find(|(name, ..)| name == option) {
                Some((_, _, users, _)) => users.push(declaration.name),
                None => {
                    let default = match setting.default() {
                        _ if !setting.otherwise.is_empty() => setting.otherwise.to_owned(),
                        Value::Null => "None".to_owned(),
                        value => text(&value),
                    };
                    let help = format!("{} [default: {default}]", setting.help());
                    all.push((option.to_owned(), python_type(setting), vec![declaration.name], help));
                }
            }
        }
    }
    all
}

/// Returns the type of a setting's values in Python's notation.
fn python_type(setting: &Setting) -> String {
    fn of(kind: Kind) -> String {
        match kind {
            Kind::Whole(_) => "int".to_owned(),
            Kind::Real => "float".to_owned(),
            Kind::Pair(&each) => format!("tuple[{0}, {0}]", of(each)),
            Kind::Switch => "bool".to_owned(),
            Kind::Choice(choices) => {
                let names: Vec<String> = choices().iter().map(|one| format!("\"{}\"", one.name)).collect();
                format!("Literal[{}]", names.join(", "))
            }
        }
    }
    let none =
        if setting.none.is_empty() { String::new() } else { format!(" | Literal[\"{}\"]", setting.none) };
    of(setting.kind) + &none
}
