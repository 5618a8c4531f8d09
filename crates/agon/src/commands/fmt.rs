//! `agon fmt`: rulesheets in canonical layout.

use std::fs;
use std::io::{Read, Write, stdin, stdout};
use std::process::ExitCode;

use agon_gdl::{Limits, Source, format, render};
use anyhow::Context;

use crate::sheet::Sheet;
use crate::terminal::render_options;

/// Lay out rulesheets in canonical form, in place; comments and spelling are kept
#[derive(clap::Args)]
#[command(
    after_help = "A file that may not be written is printed instead. Exit code: 0 done, 1 a file is broken or, with
--check, not in canonical form, 2 a file cannot be read or written.

Examples:
  agon fmt my_game.kif
  agon fmt --check games/*.kif
  agon fmt - < my_game.kif"
)]
pub(crate) struct Args {
    /// Rulesheets; `-` reads standard input and prints the result
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Change nothing; exit 1 if a file is not in canonical form
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
                eprintln!("{}: not changed, because it is broken", sheet.name);
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

/// Writes, prints or compares; false if `--check` finds a difference.
fn deliver(args: &Args, file: &str, sheet: &Sheet, text: &[u8]) -> anyhow::Result<bool> {
    let is_same = text == sheet.bytes;
    if args.check {
        if !is_same {
            eprintln!(
                "{}: not in canonical form; run `agon fmt {file}`",
                sheet.name
            );
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
