//! `agon fmt`: formats rulesheets.

use std::fs;
use std::io::{Read, Write, stdin, stdout};
use std::process::ExitCode;

use agon_gdl::{Limits, Source, format, render};
use anyhow::Context;

use crate::sheet::Sheet;
use crate::terminal::render_options;

/// Format rulesheets in place; comments are kept
#[derive(clap::Args)]
#[command(
    after_help = "The result of formatting a read-only file is printed instead. Names keep their spelling.
Exit code: 0 success, 1 a file has syntax errors or, with --check, is not formatted, 2 a file cannot be read or written.

Examples:
  agon fmt my_game.kif
  agon fmt --check games/*.kif
  agon fmt - < my_game.kif"
)]
pub(crate) struct Args {
    /// Rulesheets; `-` reads standard input and prints the result
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Change nothing; exit with 1 if a file is not formatted
    #[arg(long)]
    check: bool,
    /// Print the result instead of writing the file
    #[arg(long, conflicts_with = "check")]
    stdout: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let limits = Limits::default();
    let mut is_good = true;
    for file in &args.files {
        let sheet = if file == "-" {
            from_stdin()?
        } else {
            Sheet::read(file, &limits)?
        };
        match format(&sheet.bytes, &limits) {
            Ok(text) => is_good &= deliver(args, file, &sheet, &text)?,
            Err(findings) => {
                is_good = false;
                let source = Source::new(&sheet.bytes);
                for finding in findings.iter().take(5) {
                    eprintln!(
                        "{}\n",
                        render(finding, &source, &sheet.name, render_options())
                    );
                }
                eprintln!("{}: not changed, because it has syntax errors", sheet.name);
            }
        }
    }
    Ok(ExitCode::from(u8::from(!is_good)))
}

fn from_stdin() -> anyhow::Result<Sheet> {
    let mut bytes = Vec::new();
    stdin()
        .lock()
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    Ok(Sheet {
        name: "<stdin>".to_owned(),
        bytes,
        about: None,
    })
}

/// Writes, prints or compares the result; false if `--check` finds a difference.
fn deliver(args: &Args, file: &str, sheet: &Sheet, text: &[u8]) -> anyhow::Result<bool> {
    let is_same = text == sheet.bytes;
    if args.check {
        if !is_same {
            eprintln!("{}: not formatted; run `agon fmt {file}`", sheet.name);
        }
        return Ok(is_same);
    }
    let is_readonly =
        file != "-" && fs::metadata(file).is_ok_and(|meta| meta.permissions().readonly());
    if args.stdout || file == "-" || is_readonly {
        stdout().lock().write_all(text)?;
    } else if !is_same {
        fs::write(file, text).with_context(|| format!("cannot write {file}"))?;
        eprintln!("{}: formatted", sheet.name);
    }
    Ok(true)
}
