//! `agon man`: manual pages, one for the program and one for each command.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

/// Write manual pages to a directory
#[derive(clap::Args)]
#[command(
    after_help = "Writes agon.1 and one page per command, such as agon-match.1. The directory is created if needed.

Examples:
  agon man ~/.local/share/man/man1
  agon man man && man ./man/agon-match.1"
)]
pub(crate) struct Args {
    /// The directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn run(args: &Args, program: clap::Command) -> anyhow::Result<ExitCode> {
    let directory = &args.directory;
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    clap_mangen::generate_to(program, directory)
        .with_context(|| format!("cannot write to {}", directory.display()))?;
    Ok(ExitCode::SUCCESS)
}
