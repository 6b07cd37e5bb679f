//! The algorithm and settings requested by a command line and `--config`.

use serde_json::{Map, Value};

use super::super::options::Iterations;
use super::super::setting_options::list;
use super::super::{Error, Result};
use super::args::{Args, OPTIONS, files};
use super::config::Config;
use super::facts;
use crate::engine::LocalSearch;
use crate::solver::checkpoint::Checkpoint;
use crate::solver::genetic::Initial;
use crate::solver::settings::{Declaration, Setting, Settings};
use crate::solver::{Algorithm, ils, lin_kernighan, mmas};

/// The default algorithm.
const DEFAULT: Declaration = lin_kernighan::LinKernighanSettings::DECLARATION;

/// The requested settings: the command line takes precedence over the file of `--config`.
pub(super) struct Wanted<'a> {
    /// The command line.
    pub args: &'a Args,
    /// The ids of the options on the command line.
    given: &'a [String],
    config: Option<Config>,
    /// The run to continue.
    pub resumed: Option<Checkpoint>,
}

impl<'a> Wanted<'a> {
    /// Reads the files of `--config` and `--resume`. `given` are the ids of the options on the command line.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub(super) fn new(args: &'a Args, given: &'a [String]) -> Result<Wanted<'a>> {
        let config = args.begin.config.as_deref().map(Config::read).transpose()?;
        let resumed = args.begin.resume.as_deref().map(Checkpoint::read).transpose()?;
        Ok(Wanted { args, given, config, resumed })
    }

    fn is_given(&self, id: &str) -> bool {
        self.given.iter().any(|option| option == id)
    }

    /// Returns the algorithm, if the line or the file determines it: by its name, by `--local-search`, or by an option of `ils`
    /// that neither `lk` nor `mmas` has.
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
                    let implies_ils = |id: &str| {
                        ils.option(id).is_some()
                            && [DEFAULT, mmas::MmasSettings::DECLARATION]
                                .iter()
                                .all(|other| other.option(id).is_none())
                    };
                    self.args.settings.values.iter().any(|(id, _)| implies_ils(id)).then_some(ils)
                }
            }
        })
    }

    /// Checks everything that can be checked before the instance is read. Returns the algorithm, if it is already known: `None` if it is
    /// the default one, or its settings come with a population.
    ///
    /// # Errors
    /// [`Error::Usage`] for wrong settings or limits, and for those that the algorithm or the run to continue does not have.
    pub(super) fn check_early(&self) -> Result<Option<Algorithm>> {
        if let Some(checkpoint) = &self.resumed {
            let algorithm = checkpoint.algorithm();
            self.refuse_others(checkpoint)?;
            self.check_iterations(algorithm)?;
            return Ok(Some(algorithm.clone()));
        }
        if let Some(declaration) = self.declaration() {
            self.refuse_foreign(&declaration)?;
            // With a population from a file, settings that are not given are not known yet.
            let is_loaded = self.args.begin.load_population.is_some();
            return if is_loaded { Ok(None) } else { self.algorithm(&declaration).map(Some) };
        }
        let (algorithm, _) = self.unchecked(&DEFAULT)?;
        self.check_iterations(&algorithm)?;
        algorithm.check()?;
        Ok(None)
    }

    /// Rejects another algorithm than that of the checkpoint, and other settings.
    fn refuse_others(&self, checkpoint: &Checkpoint) -> Result<()> {
        let declaration = checkpoint.algorithm().declaration();
        let name = declaration.name;
        let refuse = |what: String| {
            Err(Error::Usage(format!("the run of the checkpoint {what}; --resume continues it as it is")))
        };
        if self.args.algorithm.is_some_and(|other| other.name != name) {
            return refuse(format!("uses --algorithm {name}"));
        }
        self.refuse_foreign(&declaration)?;
        for (id, value) in &self.args.settings.values {
            let Some(setting) = declaration.option(id) else { continue };
            if let Some(own) = checkpoint.other_value(setting, value).map_err(Error::Usage)? {
                return refuse(format!("has `{id}` {own}"));
            }
        }
        Ok(())
    }

    /// Returns the declaration of the requested algorithm, or else of the default for an instance.
    pub(super) fn declaration_for(&self, default: Declaration) -> Declaration {
        let resumed = self.resumed.as_ref().map(|checkpoint| checkpoint.algorithm().declaration());
        resumed.or_else(|| self.declaration()).unwrap_or(default)
    }

    /// Builds the algorithm with its settings, and checks everything about them that needs no instance.
    ///
    /// # Errors
    /// As [`Wanted::refuse_foreign`], [`Wanted::unchecked`] and [`Wanted::check`].
    pub(super) fn algorithm(&self, declaration: &Declaration) -> Result<Algorithm> {
        self.refuse_foreign(declaration)?;
        let (algorithm, _) = self.unchecked(declaration)?;
        self.check(&algorithm)?;
        Ok(algorithm)
    }

    /// Checks the ranges of settings, whether they are compatible, and whether those that are given have an effect.
    ///
    /// # Errors
    /// For the first setting that is wrong.
    pub(super) fn check(&self, algorithm: &Algorithm) -> Result<()> {
        self.check_iterations(algorithm)?;
        algorithm.check()?;
        self.refuse_unused(algorithm)
    }

    /// Builds the algorithm from those of the given settings that it has. Also returns these, by field name.
    ///
    /// # Errors
    /// [`Error::Usage`] for a value of the wrong type. Ranges are not checked.
    pub(super) fn unchecked(&self, declaration: &Declaration) -> Result<(Algorithm, Map<String, Value>)> {
        let mut settings = Map::new();
        if let Some(Config { path, settings: own, .. }) = &self.config {
            for (name, value) in own {
                // Null stands for a value that the algorithm chooses.
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
                return Err(Error::Usage(format!("`{id}` must be a number with {name}")));
            }
            settings.insert(setting.name.to_owned(), value.clone());
        }
        let algorithm = Algorithm::read(declaration, &settings).map_err(Error::Usage)?;
        Ok((algorithm, settings))
    }

    /// Rejects options, and settings of the file, that the algorithm does not have: they would have no effect.
    ///
    /// # Errors
    /// [`Error::Usage`], with the algorithms that have it.
    pub(super) fn refuse_foreign(&self, declaration: &Declaration) -> Result<()> {
        let name = declaration.name;
        let refuse = |what: String, users: &[&str]| {
            let users = list(users, "or");
            Err(Error::Usage(format!("{what} applies only to {users}; this run uses {name}")))
        };
        let options = OPTIONS.iter().map(|option| (option.id, option.names())).chain(files());
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
            return Err(Error::Usage(format!("{what} is not a setting of any algorithm")));
        }
        refuse(what, &users)
    }

    /// Rejects options that the algorithm has, but does not use with its other settings. A file may contain them at their defaults,
    /// as the file of a run does.
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
            let what = "the run continued a population: give --load-population, or remove \"initial\"";
            return Err(Error::Usage(format!("{}: {what}", path.display())));
        }
        let default = (declaration.complete)(&Map::new()).map_err(Error::Bug)?;
        for setting in declaration.settings {
            let name = setting.name;
            let why = match setting.unmet(&values) {
                Some(condition) => condition.to_string(),
                // Settings that come with a loaded population are not the user's.
                None if setting.is_internal && !is_loaded => {
                    format!("cannot be set by users: {} sets it", declaration.name)
                }
                None => continue,
            };
            if own.contains_key(name) && values[name] != default[name] {
                return Err(Error::Usage(format!("{}: \"{name}\" {why}", path.display())));
            }
        }
        Ok(())
    }

    /// Rejects limits that the algorithm cannot have.
    fn check_iterations(&self, algorithm: &Algorithm) -> Result<()> {
        let stop = &self.args.stop;
        if stop.iterations == Some(Iterations::Count(0)) && !matches!(algorithm, Algorithm::Genetic(_)) {
            let what =
                "--iterations must be at least 1, or a multiple of the number of nodes such as 0.1n or 10n";
            return Err(Error::Usage(format!("{what}; 0 is for --algorithm ga")));
        }
        let limit = stop.iterations.map(|_| "--iterations").or(stop.stagnation.map(|_| "--stagnation"));
        match limit.filter(|_| algorithm.is_descent_only()) {
            Some(limit) => Err(Error::Usage(format!("{limit} does nothing with --descent-only"))),
            None => Ok(()),
        }
    }
}
