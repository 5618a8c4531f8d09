//! `agon completions`: a script that completes commands and options in a shell.

use std::io::{Write, stdout};
use std::process::ExitCode;

use clap_complete::{Shell, generate};

/// Print a completion script for your shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  agon completions bash > ~/.local/share/bash-completion/completions/agon
  agon completions zsh > ~/.zfunc/_agon
  agon completions fish > ~/.config/fish/completions/agon.fish")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, mut program: clap::Command) -> anyhow::Result<ExitCode> {
    // The generator panics on a closed pipe, so it writes to memory.
    let mut script = Vec::new();
    generate(args.shell, &mut program, "agon", &mut script);
    stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
