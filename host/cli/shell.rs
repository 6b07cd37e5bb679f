//! Completion scripts and the manual page, generated from the definition of the command line.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Outcome, Result, output, reference};

/// Arguments of `antwarp completions`.
#[derive(Debug, clap::Args)]
pub struct CompletionArgs {
    /// The shell.
    shell: Shell,
}

/// Arguments of `antwarp man`.
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Print docs/reference.md instead
    #[arg(long, hide = true)]
    reference: bool,
}

/// Prints a completion script.
pub fn completions(args: CompletionArgs) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "antwarp", &mut script);
    output::deliver(|out| out.write_all(&script)).map(|()| Outcome::Done)
}

/// Prints the manual page, subcommands included.
pub fn man(args: ManArgs) -> Result<Outcome> {
    if args.reference {
        let text = reference::markdown(Cli::command());
        return output::deliver(|out| out.write_all(text.as_bytes())).map(|()| Outcome::Done);
    }
    let mut command = Cli::command();
    command.build();
    output::deliver(|mut out| {
        clap_mangen::Man::new(command.clone()).render(&mut out)?;
        command
            .get_subcommands()
            .filter(|command| command.get_name() != "help")
            .try_for_each(|command| clap_mangen::Man::new(command.clone()).render(&mut out))
    })
    .map(|()| Outcome::Done)
}
