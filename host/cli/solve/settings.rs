//! The algorithm and the settings that a command line and `--config` ask for.

use serde_json::{Map, Value};

use super::super::options::Iterations;
use super::super::setting_options::list;
use super::super::{Error, Result};
use super::args::{Args, FILES, OPTIONS};
use super::config::Config;
use super::facts;
use crate::engine::LocalSearch;
use crate::solver::genetic::Initial;
use crate::solver::settings::{Declaration, Setting, Settings};
use crate::solver::{Algorithm, ils, lin_kernighan, mmas};

/// What is asked for: the command line goes before the file of `--config`.
pub(super) struct Wanted<'a> {
    pub args: &'a Args,
    /// The ids of the options on the command line.
    given: &'a [String],
    config: Option<Config>,
}

impl<'a> Wanted<'a> {
    /// Reads the file of `--config`, if there is one. `given` are the ids of the options on the command line.
    pub(super) fn new(args: &'a Args, given: &'a [String]) -> Result<Wanted<'a>> {
        let config = args.begin.config.as_deref().map(Config::read).transpose()?;
        Ok(Wanted { args, given, config })
    }

    fn is_given(&self, id: &str) -> bool {
        self.given.iter().any(|option| option == id)
    }

    /// Returns the algorithm, if the line or the file alone says which: an option that only one of the defaults understands chooses it.
    fn declaration(&self) -> Option<Declaration> {
        let named = self.args.algorithm.or(self.config.as_ref().and_then(|config| config.algorithm));
        let ils = ils::IlsSettings::DECLARATION;
        named.or_else(|| {
            let local_search = self.args.settings.get("local_search").cloned();
            match local_search.and_then(|value| serde_json::from_value::<LocalSearch>(value).ok()) {
                Some(search) if search == LocalSearch::None || search.is_of_ants() => {
                    Some(mmas::MmasSettings::DECLARATION)
                }
                Some(_) => Some(ils),
                None => {
                    let is_first = |id: &str| {
                        OPTIONS.iter().any(|option| option.id == id && option.names()[0] == ils.name)
                    };
                    self.args.settings.values.iter().any(|(id, _)| is_first(id)).then_some(ils)
                }
            }
        })
    }

    /// Checks all that can be checked before the instance is read. Returns the algorithm, if that is known without.
    pub(super) fn check_early(&self) -> Result<Option<Algorithm>> {
        if let Some(declaration) = self.declaration() {
            self.refuse_foreign(&declaration)?;
            // With a population of a file, what is not given is not known yet.
            let is_loaded = self.args.begin.load_population.is_some();
            return if is_loaded { Ok(None) } else { self.algorithm(&declaration).map(Some) };
        }
        for declaration in [lin_kernighan::LinKernighanSettings::DECLARATION, mmas::MmasSettings::DECLARATION]
        {
            let (algorithm, _) = self.unchecked(&declaration)?;
            self.check_iterations(&algorithm)?;
            algorithm.check()?;
        }
        Ok(None)
    }

    /// Returns how the algorithm is declared that solves an instance where nothing names another.
    pub(super) fn declaration_for(&self, default: Declaration) -> Declaration {
        self.declaration().unwrap_or(default)
    }

    /// Makes the algorithm with its settings, and checks everything about them.
    pub(super) fn algorithm(&self, declaration: &Declaration) -> Result<Algorithm> {
        self.refuse_foreign(declaration)?;
        let (algorithm, _) = self.unchecked(declaration)?;
        self.check(&algorithm)?;
        Ok(algorithm)
    }

    /// Checks the ranges of settings, and whether they go together.
    pub(super) fn check(&self, algorithm: &Algorithm) -> Result<()> {
        self.check_iterations(algorithm)?;
        algorithm.check()?;
        self.refuse_unused(algorithm)
    }

    /// Makes the algorithm of those settings that it has. Returns these, too.
    pub(super) fn unchecked(&self, declaration: &Declaration) -> Result<(Algorithm, Map<String, Value>)> {
        let mut settings = Map::new();
        if let Some(Config { path, settings: own, .. }) = &self.config {
            for (name, value) in own {
                // Null stands for what is left to the algorithm.
                let is_left = |setting: &Setting| value.is_null() && setting.default().is_null();
                if declaration.setting(name).is_some_and(|setting| !is_left(setting)) {
                    settings.insert(name.clone(), value.clone());
                }
            }
            (declaration.complete)(&settings).map_err(|problem| {
                Error::Usage(format!("{}: {}", path.display(), problem.replace('`', "\"")))
            })?;
        }
        for (id, value) in &self.args.settings.values {
            let Some(setting) = declaration.option(id) else { continue };
            if value.is_null() && !setting.is_optional() {
                let name = declaration.name;
                return Err(Error::Usage(format!("{name} needs a number here: give `{id}` a number")));
            }
            settings.insert(setting.name.to_owned(), value.clone());
        }
        let algorithm = Algorithm::read(declaration, &settings).map_err(Error::Usage)?;
        Ok((algorithm, settings))
    }

    /// Refuses what the algorithm does not have: it would do nothing.
    pub(super) fn refuse_foreign(&self, declaration: &Declaration) -> Result<()> {
        let name = declaration.name;
        let refuse = |what: String, users: &[&str]| {
            let users = list(users);
            Err(Error::Usage(format!("{what} is for `algorithm` {users}; this run uses {name}")))
        };
        let files = FILES.iter().map(|(id, users)| (*id, users.to_vec()));
        let options = OPTIONS.iter().map(|option| (option.id, option.names())).chain(files);
        for (id, users) in options {
            if self.is_given(id) && !users.contains(&name) {
                return refuse(format!("`{id}`"), &users);
            }
        }
        let Some(Config { path, settings, .. }) = &self.config else { return Ok(()) };
        let Some(key) = settings.keys().find(|key| declaration.setting(key).is_none()) else { return Ok(()) };
        let has = |other: &Declaration| other.setting(key).is_some();
        let users: Vec<&str> =
            Algorithm::ALL.iter().filter(|other| has(other)).map(|other| other.name).collect();
        let what = format!("{}: \"{key}\"", path.display());
        if users.is_empty() {
            return Err(Error::Usage(format!("{what} is no setting of any algorithm")));
        }
        refuse(what, &users)
    }

    /// Refuses what the algorithm has, but does not use beside its other settings. A file may say so if it says no more than the
    /// default: so does the file of a run.
    fn refuse_unused(&self, algorithm: &Algorithm) -> Result<()> {
        let declaration = algorithm.declaration();
        let values = facts(algorithm)?.2;
        self.args.settings.refuse_unused(&declaration, &values)?;
        let is_loaded = self.args.begin.load_population.is_some();
        let Some(Config { path, settings: own, .. }) = &self.config else { return Ok(()) };
        if let Algorithm::Genetic(settings) = algorithm
            && settings.initial == Initial::File
            && !is_loaded
        {
            let what = "the run went on with a population: give --load-population, or take out \"initial\"";
            return Err(Error::Usage(format!("{}: {what}", path.display())));
        }
        let default = (declaration.complete)(&Map::new()).map_err(Error::Bug)?;
        for setting in declaration.settings {
            let name = setting.name;
            let why = match setting.unmet(&values) {
                Some(condition) => condition.to_string(),
                // What a population brings is not the user's.
                None if setting.is_internal && !is_loaded => {
                    format!("is not for users: {} sets it", declaration.name)
                }
                None => continue,
            };
            if own.contains_key(name) && values[name] != default[name] {
                return Err(Error::Usage(format!("{}: \"{name}\" {why}", path.display())));
            }
        }
        Ok(())
    }

    /// Refuses limits that the algorithm cannot have.
    fn check_iterations(&self, algorithm: &Algorithm) -> Result<()> {
        let stop = &self.args.stop;
        if stop.iterations == Some(Iterations::Count(0)) && !matches!(algorithm, Algorithm::Genetic(_)) {
            let what = "--iterations must be at least 1, or a multiple of the nodes such as 0.1n or 10n";
            return Err(Error::Usage(format!("{what}; 0 is for --algorithm ga")));
        }
        let limit = stop.iterations.map(|_| "--iterations").or(stop.stagnation.map(|_| "--stagnation"));
        match limit.filter(|_| is_descent_only(algorithm)) {
            Some(limit) => Err(Error::Usage(format!("{limit} does nothing with --descent-only"))),
            None => Ok(()),
        }
    }
}

/// Returns whether a run ends at its first local optimum.
pub(super) fn is_descent_only(algorithm: &Algorithm) -> bool {
    match algorithm {
        Algorithm::LinKernighan(settings) => settings.descent_only,
        Algorithm::Ils(settings) => settings.descent_only,
        Algorithm::Mmas(_) | Algorithm::Acs(_) | Algorithm::Genetic(_) => false,
    }
}
