//! The command line: one file per subcommand; raw arguments are checked before anything starts.
//!
//! Every subcommand returns how it ended, or an [`Error`] that knows its exit status and prints itself.

mod bench;
mod bound;
mod check;
mod checkpoints;
mod devices;
#[cfg_attr(not(unix), path = "no_display.rs")]
mod display;
mod error;
mod generate;
mod info;
mod live;
mod options;
mod output;
mod plot;
mod progress;
mod reading;
mod reference;
mod search;
#[cfg(feature = "serve")]
mod serve;
mod setting_options;
mod shape;
mod shell;
mod signals;
mod solve;
mod stack;
mod version;

pub use crate::memory::spare::Allocator;
pub use error::{Error, Result};

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use crate::cluster::launched;
use crate::instance::patience;
use crate::memory::spare;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

/// How a command ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Done,
    /// An interrupt came; the best result until then, if there was one, was written.
    Interrupted,
    /// `solve --prove`: the best tour was written, but it was not proven in time that no other is shorter.
    Unproven,
}

const AFTER_HELP: &str = "\
Exit status:
  0    success
  1    an unexpected failure: a bug in antwarp
  2    wrong usage: an unknown option, a value out of range
  3    an input file cannot be read, is invalid, or is of a kind that cannot be solved
  4    the backend is not available or failed
  5    an output cannot be written
  6    check: the tour is invalid, or the certificate proves nothing
  7    no tour without a forbidden pair was found
  8    solve --prove: the tour was not proven to be the shortest one
  130  interrupted by Ctrl-C or SIGTERM; the best tour so far was written";

/// Finds short round trips through many places (the travelling salesman problem), on CPU threads or on GPUs.
#[derive(Debug, Parser)]
#[command(name = "antwarp", version, after_help = AFTER_HELP, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find a short tour.
    Solve(Box<solve::Args>),
    /// Solve other problems by neighbourhood search: quadratic assignment, number partitioning, maximum cut and more.
    Search(Box<search::Args>),
    /// Describe an instance.
    Info(info::Args),
    /// Compute a lower bound: a length that no tour can be shorter than.
    Bound(bound::Args),
    /// Check whether a tour is valid, and how long it is.
    Check(check::Args),
    /// Plot the lengths of tours against the time they took, or draw a tour.
    Plot(plot::Args),
    /// Answer requests for tours over HTTP, as VROOM and OSRM do.
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    /// Generate a random instance.
    Generate(generate::Args),
    /// List the processors and GPUs that antwarp can use.
    Devices(devices::Args),
    /// Measure times and results over instances, settings and seeds, and repeat published tables.
    Bench(Box<bench::Args>),
    /// Print a completion script for a shell.
    Completions(shell::CompletionArgs),
    /// Print the manual page.
    Man(shell::ManArgs),
}

/// Runs the command that the process was started with; see [`run_as`].
pub fn run() -> ExitCode {
    ExitCode::from(run_as(std::env::args_os()))
}

/// Runs a command line, whose first word is the name of the program, as a process of its own would: reports errors and panics on the
/// standard error, and ends gracefully after Ctrl-C. Returns the exit status, which `antwarp --help` explains.
///
/// Call it once in a process: it replaces the panic hook, and commands set signal handlers and start threads for good.
pub fn run_as(line: impl IntoIterator<Item = OsString>) -> u8 {
    let line: Vec<OsString> = line.into_iter().collect();
    std::panic::set_hook(Box::new(report_panic));
    signals::survive_limits();
    stack::with_room(|| run_line(&line)).unwrap_or_else(Error::print)
}

fn run_line(line: &[OsString]) -> u8 {
    let ended = catch_unwind(AssertUnwindSafe(|| execute(line.iter().cloned())));
    live::leave();
    let has_failed = !matches!(ended, Ok(Ok(_))) || spare::is_spent();
    let status = match ended {
        Ok(Ok(_)) if spare::is_spent() => Error::MemoryRanOut.print(),
        Ok(Ok(Outcome::Done)) => 0,
        Ok(Ok(Outcome::Interrupted)) => error::INTERRUPTED,
        Ok(Ok(Outcome::Unproven)) => error::UNPROVEN,
        Ok(Err(error)) => {
            let status = error.print();
            if patience::was_interrupted() { error::INTERRUPTED } else { status }
        }
        Err(_) => error::UNEXPECTED,
    };
    display::settle(has_failed);
    status
}

/// Runs the command given by a command line, whose first word is the name of the program. Errors are returned, and not printed; panics
/// are not caught. Commands that set signal handlers or start threads, which most do, run only once in a process.
///
/// # Errors
/// The error that the command ends with. Mistakes in the line itself are printed, as is any help or version it asks for; then it is
/// [`Error::Printed`] with the status, which is 0 for help.
pub fn execute(line: impl IntoIterator<Item = OsString>) -> Result<Outcome> {
    let line: Vec<OsString> = line.into_iter().collect();
    let mut command = command(&line);
    if line.iter().any(|word| word == "--version") {
        command = command.long_version(version::describe());
    }
    let matches = command.try_get_matches_from_mut(line).map_err(printed)?;
    let given = given(&matches);
    let cli = Cli::from_arg_matches(&matches).map_err(|error| printed(error.format(&mut command)))?;
    dispatch(cli.command, &given)
}

/// Returns the definition of the command line, shaped for this one.
fn command(line: &[OsString]) -> clap::Command {
    with_negative_values(Cli::command().mut_subcommand("solve", |solve| solve::shape(solve, line)))
}

/// Lets a value such as `-1` go to the option in front of it, which accepts it or says what it expects.
fn with_negative_values(command: clap::Command) -> clap::Command {
    let takes = |arg: &clap::Arg| arg.get_long().is_some() && arg.get_action().takes_values();
    let command = command.mut_args(|arg| if takes(&arg) { arg.allow_negative_numbers(true) } else { arg });
    command.mut_subcommands(with_negative_values)
}

/// Options that have been renamed: the old name and the new one.
const RENAMED: [(&str, &str); 1] = [("--start-tour", "--first-tour")];

/// Prints what clap has to say about a line, and returns what remains as an error.
fn printed(error: clap::Error) -> Error {
    if let Some(ContextValue::String(old)) = error.get(ContextKind::InvalidArg)
        && error.kind() == ErrorKind::UnknownArgument
        && let Some((old, new)) = RENAMED.iter().find(|(name, _)| name == old)
    {
        return error::once(Error::Usage(format!("{old} is now called {new}")));
    }
    if cfg!(not(feature = "serve"))
        && error.kind() == ErrorKind::InvalidSubcommand
        && error.get(ContextKind::InvalidSubcommand) == Some(&ContextValue::String("serve".to_owned()))
    {
        let why = "this antwarp was built without `serve`: build it with --features serve (docs/serve.md)";
        return error::once(Error::Usage(why.to_owned()));
    }
    let status = error.exit_code() as u8;
    if launched().is_some_and(|place| place.rank > 0) {
        return if status == 0 { Error::Printed(status) } else { error::quiet(status) };
    }
    // If this cannot be printed, there is no one left to notify.
    let _ = error.print();
    Error::Printed(status)
}

/// Returns the ids of the options given on the command line, after all subcommands.
fn given(matches: &ArgMatches) -> Vec<String> {
    if let Some((_, options)) = matches.subcommand() {
        return given(options);
    }
    let is_given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    matches.ids().map(clap::Id::as_str).filter(is_given).map(str::to_owned).collect()
}

/// Parses a line that a bench made, without the name of the program, as the options of a command. Also returns the ids of those that it
/// has.
///
/// # Errors
/// If it is wrong; the message has been printed.
fn parse_line<A: clap::Args>(command: &'static str, line: &[OsString]) -> Result<(A, Vec<String>)> {
    let command = with_negative_values(A::augment_args(clap::Command::new(command))).no_binary_name(true);
    let read = command.try_get_matches_from(line).and_then(|matches| {
        let args = A::from_arg_matches(&matches)?;
        Ok((args, given(&matches)))
    });
    read.map_err(printed)
}

fn dispatch(command: Command, given: &[String]) -> Result<Outcome> {
    if launched().is_some() && !matches!(command, Command::Solve(_) | Command::Devices(_)) {
        let why = "several ranks were started, but only `antwarp solve` can use them: leave out mpirun";
        return Err(error::once(Error::Usage(why.to_owned())));
    }
    match command {
        Command::Solve(args) => solve::run(*args, given),
        Command::Search(args) => search::run(*args),
        Command::Info(args) => info::run(args),
        Command::Bound(args) => bound::run(args),
        Command::Check(args) => check::run(args),
        Command::Plot(args) => plot::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Bench(args) => bench::run(*args),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::man(args),
    }
}

/// Reports a panic as a bug in antwarp: none should ever reach a user.
fn report_panic(panic: &std::panic::PanicHookInfo<'_>) {
    use std::io::Write;
    live::leave();
    let place = panic.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let what = panic.payload_as_str().unwrap_or("no message");
    // Not eprintln: it would panic again if standard error is closed.
    let _ = writeln!(
        std::io::stderr(),
        "antwarp: this is a bug in antwarp {}{place}: {what}\n\
         Please report it with the command line and the instance.",
        env!("CARGO_PKG_VERSION"),
    );
}
