//! Options shared by several subcommands, and the values they take.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use super::error::as_options;
use super::{Error, Result};
use crate::backend::{Backend, Choice, Gpus};
use crate::instance::{Instance, counted};
use crate::memory;
use crate::solver::{Algorithm, Placement, placement};

/// Maximum number of numbers in a file of `solve --json`, most of which are its tour; and in a file of `--config`, which can be one.
pub const MOST_NUMBERS: u64 = 1 << 24;

/// Where to compute.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Machine")]
pub struct MachineArgs {
    /// Where to compute; auto uses a working GPU (lk only above 3,000 nodes), else the CPU
    #[arg(long, value_enum, default_value_t = Choice::Auto)]
    pub backend: Choice,
    /// Which GPUs: all, how many, or a comma-separated list of their numbers from 0 (0,2; or 2, with a comma for GPU 2 alone)
    #[arg(long, value_name = "all|N|LIST", default_value = "all")]
    pub gpus: Gpus,
    /// CPU threads; all cores if not given. The result does not depend on it, except with relaxed updates of acs
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=u64::from(MOST_THREADS)))]
    pub threads: Option<u32>,
    /// This process's share of its machine.
    #[arg(skip)]
    pub share: Share,
}

/// The share of a machine that one of several processes on it has; by default, the whole machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Its number among them, from 0, which chooses a GPU.
    pub local: u32,
    /// CPU threads, unless another number is requested; `None` for the whole machine.
    pub threads: Option<u32>,
}

impl MachineArgs {
    /// Starts the CPU threads; must be called once, before anything uses them.
    ///
    /// # Errors
    /// As [`start_threads`].
    pub fn start_threads(&self) -> Result<()> {
        start_threads(self.threads, self.share.threads)
    }

    /// Opens the backend. If no GPU can be used although one was searched for, prints a line that says why, unless `quiet`.
    ///
    /// # Errors
    /// If GPUs are asked for and cannot be used, or are named for a run on CPU threads.
    pub fn open(&self, quiet: bool) -> Result<Backend> {
        if self.backend == Choice::Cpu && self.gpus != Gpus::All {
            return Err(Error::Usage("--gpus has no effect: this run uses CPU threads".into()));
        }
        let gpus = match self.share.threads {
            None => self.gpus.clone(),
            Some(_) => self.gpus.turn(self.share.local),
        };
        let (backend, why_cpu) = Backend::open_on(self.backend, &gpus)?;
        if let Some(why) = why_cpu.filter(|_| !quiet) {
            super::output::tell(&format!("antwarp: solving on the CPU: {}", as_options(&why)));
        }
        Ok(backend)
    }

    /// Opens the backend for a run. If it uses CPU threads without being asked to, prints a line that says why, unless `quiet`.
    ///
    /// # Errors
    /// As [`MachineArgs::open`] and [`placement`].
    pub fn open_for(&self, algorithm: &Algorithm, instance: &Instance, quiet: bool) -> Result<Backend> {
        self.open_at(placement(algorithm, instance, self.backend)?, quiet)
    }

    /// Opens the backend that was chosen, or GPUs if some are named and suit the run. If it is CPU threads without being asked for,
    /// prints a line that says why, unless `quiet`.
    ///
    /// # Errors
    /// As [`MachineArgs::open`].
    pub fn open_at(&self, placement: Placement, quiet: bool) -> Result<Backend> {
        let is_asked = self.backend == Choice::Auto && self.gpus.are_named() && placement.suits_gpu;
        let placement = if is_asked { Placement::as_asked(Choice::Auto) } else { placement };
        if let Some(what) = placement.why_cpu.filter(|_| !quiet) {
            let what = as_options(what);
            let told = match placement.suits_gpu {
                true => has_gpu()
                    .then(|| format!("antwarp: using CPU threads, which are quicker than a GPU for {what}")),
                false => Some(format!("antwarp: {what} runs on CPU threads")),
            };
            told.iter().for_each(|line| super::output::tell(line));
        }
        MachineArgs { backend: placement.choice, ..self.clone() }.open(quiet)
    }
}

/// Returns whether runs could be on a GPU.
pub fn has_gpu() -> bool {
    #[cfg(feature = "cuda")]
    return crate::backend::cuda::has_devices();
    #[cfg(not(feature = "cuda"))]
    false
}

/// Maximum number of CPU threads: far more than any processor has.
const MOST_THREADS: u32 = 1024;

/// Starts this many CPU threads; if not given, as many as `RAYON_NUM_THREADS` says, or else this process's share, or else one per core.
///
/// # Errors
/// If that is more than [`MOST_THREADS`] or than the system can start, or if the threads have been started before.
pub fn start_threads(threads: Option<u32>, share: Option<u32>) -> Result<()> {
    let by_name = || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok().filter(|&count: &u32| count > 0);
    let cores = || std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let count = threads.or_else(by_name).or(share).unwrap_or_else(cores);
    let refused = |why: &dyn std::fmt::Display| {
        Error::Usage(format!(
            "cannot start {}: {why}; use a smaller --threads",
            counted(count as usize, "thread")
        ))
    };
    if count > MOST_THREADS {
        let problem = format!("RAYON_NUM_THREADS asks for {count} threads");
        return Err(Error::Usage(format!("{problem}: it must be at most {MOST_THREADS}; or give --threads")));
    }
    memory::check_threads(count).map_err(|shortage| refused(&shortage))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count as usize).build_global();
    pool.map_err(|error| refused(&error))
}

/// A number of iterations, absolute or relative to the number of nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Iterations {
    /// This many.
    Count(u64),
    /// This many per node.
    PerNode(f64),
}

/// Maximum number of iterations, which keeps counts well within 64 bits.
const MOST_ITERATIONS: u64 = 1 << 48;

impl Iterations {
    /// Returns the number of iterations for `n` nodes. A multiple of the nodes is rounded, and at least 1.
    pub fn count(self, n: usize) -> u64 {
        match self {
            Iterations::Count(count) => count,
            Iterations::PerNode(factor) => ((factor * n as f64).round() as u64).clamp(1, MOST_ITERATIONS),
        }
    }
}

impl FromStr for Iterations {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Iterations, String> {
        let factor = text.strip_suffix('n').map(|t| if t.is_empty() { Ok(1.0) } else { t.parse() });
        match (text.parse(), factor) {
            (Ok(count @ 1..=MOST_ITERATIONS), _) => Ok(Iterations::Count(count)),
            (_, Some(Ok(factor))) if factor > 0.0 && factor <= 1e9 => Ok(Iterations::PerNode(factor)),
            _ => Err("give a number of at least 1, or a multiple of the number of nodes such as 0.1n or 10n"
                .to_owned()),
        }
    }
}

impl std::fmt::Display for Iterations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&match self {
            Iterations::Count(count) => count.to_string(),
            Iterations::PerNode(factor) => format!("{factor}n"),
        })
    }
}

/// Parses a number of iterations that may also be 0, which text for [`Iterations`] alone may not.
///
/// # Errors
/// What to give instead, if it is anything else.
pub fn iterations_or_none(text: &str) -> std::result::Result<Iterations, String> {
    if text == "0" { Ok(Iterations::Count(0)) } else { text.parse() }
}

/// Parses a time such as `10`, `1.5s` or `2m 30s`; a bare number is in seconds, and 0 is a time.
///
/// # Errors
/// What to give instead, if it is anything else.
pub fn duration(text: &str) -> std::result::Result<Duration, String> {
    let seconds: Option<f64> = text.strip_suffix('s').unwrap_or(text).trim().parse().ok();
    let time = match seconds {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => humantime::parse_duration(text).ok(),
    };
    time.ok_or_else(|| "give a time such as 10s, 500ms, 2m or 1h 30m".to_owned())
}

/// Returns a parser of whole numbers in this range.
pub fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> std::result::Result<T, String> + Clone + Send + Sync + 'static {
    move |text: &str| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number: u64| T::try_from(number).ok()).ok_or_else(|| {
            let (least, most) = (*range.start(), *range.end());
            let which = match (least, most) {
                (0, u64::MAX) => String::new(),
                (_, u64::MAX) => format!(" of at least {least}"),
                _ => format!(" from {least} to {most}"),
            };
            format!("give a whole number{which}, such as {}", 4.clamp(least, most))
        })
    }
}

/// Parses a finite number.
///
/// # Errors
/// What to give instead, if it is anything else, such as `nan` or `inf`.
pub fn finite(text: &str) -> std::result::Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| "give a number such as 12 or 0.5".to_owned())
}

/// Says why a file is not the JSON that was expected, which is called `what`: what it looks like instead.
pub fn not_json(what: &str, bytes: &[u8], error: &serde_json::Error) -> String {
    /// How much of the file is shown.
    const SHOWN: usize = 40;
    let bytes = bytes.trim_ascii();
    match bytes.first() {
        None => format!("not {what}: the file is empty"),
        Some(b'{' | b'[') if error.is_data() => format!("not {what}, although it is JSON: {error}"),
        Some(b'{' | b'[') => format!("not {what}: its JSON has a mistake: {error}"),
        Some(_) => {
            let line = String::from_utf8_lossy(bytes.split(|&byte| byte == b'\n').next().unwrap_or_default());
            let shown: String = line.trim_end().chars().take(SHOWN).collect();
            let more = if line.trim_end().chars().count() > SHOWN { "..." } else { "" };
            format!("not {what}, which is JSON: the file begins with \"{shown}{more}\"")
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::solver::DEFAULT_TIME;

    #[test]
    fn the_help_says_how_long_a_run_lasts() {
        let command = crate::cli::Cli::command();
        let [solve, search] = ["solve", "search"].map(|name| command.find_subcommand(name).unwrap());
        let stop = format!("default {} s", DEFAULT_TIME.as_secs());
        let is_said = |command: &clap::Command| {
            command.get_arguments().any(|one| one.get_help_heading().is_some_and(|text| text.contains(&stop)))
        };
        assert!(is_said(solve) && search.get_subcommands().all(is_said), "{stop}");
    }

    /// The words of a parser, such as "invalid digit found in string", say nothing to a user.
    #[test]
    fn what_is_no_value_is_answered_by_what_is_expected() {
        fn all(command: &clap::Command, path: &[&str], seen: &mut usize) {
            // Behind `--prove` a value needs an equals sign: `-1` is no value of it.
            let takes = |arg: &&clap::Arg| arg.get_action().takes_values() && !arg.is_require_equals_set();
            let options = command.get_arguments().filter(takes);
            for option in options.filter_map(clap::Arg::get_long) {
                for value in ["two", "-1", "1e99"] {
                    let option = format!("--{option}");
                    let line = path.iter().copied().chain([option.as_str(), value]);
                    let said = match crate::cli::command(&[]).try_get_matches_from(line) {
                        Ok(_) => continue,
                        Err(error) => error.to_string(),
                    };
                    let is_plain =
                        ["invalid digit", "invalid float", "too large", "..=", "unexpected argument"];
                    let is_plain = is_plain.iter().all(|words| !said.contains(words));
                    let is_answered = !said.contains("invalid value") || said.contains(&option);
                    assert!(is_plain && is_answered, "{path:?} {option} {value}: {said}");
                    *seen += 1;
                }
            }
            for own in command.get_subcommands() {
                all(own, &[path, &[own.get_name()]].concat(), seen);
            }
        }
        let mut seen = 0;
        all(&crate::cli::command(&[]), &["antwarp"], &mut seen);
        assert!(seen > 300, "{seen}");
    }

    #[test]
    fn whole_numbers_are_in_their_range() {
        let parse = whole::<u32>(1..=1024);
        assert_eq!([parse("1"), parse("1024")], [Ok(1), Ok(1024)]);
        for text in ["two", "-1", "0", "1025", "1.5", "", "99999999999999999999"] {
            assert_eq!(parse(text).unwrap_err(), "give a whole number from 1 to 1024, such as 4");
        }
        assert_eq!(
            whole::<u64>(10..=u64::MAX)("9").unwrap_err(),
            "give a whole number of at least 10, such as 10"
        );
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, millis) in [("10", 10_000), ("1.5s", 1500), ("500ms", 500), ("2m 30s", 150_000), ("0", 0)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "-1", "nan", "inf", "ten", "1e300"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn iterations_are_a_number_or_a_multiple_of_the_nodes() {
        assert_eq!("1000".parse(), Ok(Iterations::Count(1000)));
        assert_eq!("0.1n".parse::<Iterations>().map(|i| i.count(95)), Ok(10));
        assert_eq!("n".parse::<Iterations>().map(|i| i.count(7)), Ok(7));
        for text in ["1000", "0.1n", "1n"] {
            assert_eq!(text.parse::<Iterations>().map(|i| i.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "0", "-1n", "0n", "nan", "nann", "infn", "ten", "281474976710657"] {
            assert!(text.parse::<Iterations>().is_err(), "{text}");
        }
    }
}
