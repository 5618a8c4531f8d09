//! `agon check`: what is wrong with a rulesheet.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use agon_gdl::{Diagnostic, Diagnostics, Kind, Limits, Severity, Source, check, parse, render};
use serde::Serialize;

use crate::sheet::Sheet;
use crate::terminal::render_options;

/// How many warnings of one kind are drawn before the rest are only counted.
const MOST_PER_KIND: usize = 5;

/// Check rulesheets: every error and warning with its place, its reason and a way to mend it
#[derive(clap::Args)]
#[command(
    after_help = "Exit code: 0 if all files can be played, 1 if one has an error, 2 if one cannot be read.

Examples:
  agon check my_game.kif
  agon check --json games/*.kif | jq 'select(.ok | not) | .file'"
)]
pub(crate) struct Args {
    /// Rulesheets, or names of built-in games
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Print one JSON object per file
    #[arg(long)]
    json: bool,
    /// Draw every warning, not only the first few of each kind
    #[arg(long)]
    all: bool,
    /// Refuse files with more bytes than this
    #[arg(long, value_name = "B", default_value_t = Limits::default().bytes)]
    max_size: usize,
}

/// The answer for one file, as JSON has it.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    ok: bool,
    errors: Vec<Finding<'a>>,
    warnings: Vec<Finding<'a>>,
    /// Findings beyond the most that are kept.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
}

#[derive(Serialize)]
struct Finding<'a> {
    kind: &'a str,
    line: u32,
    column: u32,
    message: &'a str,
    help: &'a str,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for this signature"
)]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let limits = Limits {
        bytes: args.max_size.min(1 << 30),
        ..Limits::default()
    };
    let mut out = BufWriter::new(stdout().lock());
    let (mut has_errors, mut has_unread) = (false, false);
    for file in &args.files {
        match Sheet::find(file, &limits) {
            Ok(sheet) => {
                let (source, findings) = examine(&sheet, &limits);
                has_errors |= findings.has_errors();
                if args.json {
                    writeln!(
                        out,
                        "{}",
                        serde_json::to_string(&report(file, &source, &findings))?
                    )?;
                } else {
                    draw(&mut out, file, &source, &findings, args.all)?;
                }
            }
            Err(error) => {
                has_unread = true;
                let message = format!("{error:#}");
                if args.json {
                    writeln!(out, "{}", serde_json::to_string(&unread(file, &message))?)?;
                } else {
                    out.flush()?;
                    eprintln!("agon: {message}");
                }
            }
        }
    }
    out.flush()?;
    Ok(ExitCode::from(if has_unread {
        2
    } else {
        u8::from(has_errors)
    }))
}

/// All findings about a sheet.
fn examine(sheet: &Sheet, limits: &Limits) -> (Arc<Source>, Diagnostics) {
    let description = parse(&sheet.bytes, limits);
    let findings = match check(&description) {
        Ok(rules) => rules.warnings,
        Err(findings) => findings,
    };
    (description.source, findings)
}

fn report<'a>(file: &'a str, source: &Source, findings: &'a Diagnostics) -> Report<'a> {
    let of = |severity: Severity| {
        let finding = |finding: &'a Diagnostic| {
            let place = finding.place(source);
            Finding {
                kind: finding.kind.name(),
                line: place.map_or(0, |place| place.line),
                column: place.map_or(0, |place| place.column),
                message: &finding.message,
                help: finding.help.as_deref().unwrap_or_default(),
            }
        };
        findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .map(finding)
            .collect()
    };
    Report {
        file,
        ok: !findings.has_errors(),
        errors: of(Severity::Error),
        warnings: of(Severity::Warning),
        left_out: findings.n_left_out(),
    }
}

fn unread<'a>(file: &'a str, message: &'a str) -> Report<'a> {
    let finding = Finding {
        kind: "unreadable",
        line: 0,
        column: 0,
        message,
        help: "",
    };
    Report {
        file,
        ok: false,
        errors: vec![finding],
        warnings: Vec::new(),
        left_out: 0,
    }
}

fn draw(
    out: &mut impl Write,
    file: &str,
    source: &Source,
    findings: &Diagnostics,
    all: bool,
) -> anyhow::Result<()> {
    let mut n_of_kind: BTreeMap<Kind, usize> = BTreeMap::new();
    for finding in findings {
        let n_before = n_of_kind.entry(finding.kind).or_default();
        *n_before += 1;
        if all || finding.severity == Severity::Error || *n_before <= MOST_PER_KIND {
            writeln!(out, "{}\n", render(finding, source, file, render_options()))?;
        }
    }
    let n_errors = findings.n_errors();
    let n_warnings = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Warning)
        .count();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let verdict = if n_errors > 0 {
        "cannot be played"
    } else {
        "ok"
    };
    writeln!(
        out,
        "{file}: {verdict}, {}, {}",
        count(n_errors, "error"),
        count(n_warnings, "warning")
    )?;
    let hidden: Vec<String> = n_of_kind
        .iter()
        .filter(|(_, n)| !all && **n > MOST_PER_KIND)
        .map(|(kind, n)| format!("{} more {kind}", n - MOST_PER_KIND))
        .collect();
    if !hidden.is_empty() {
        writeln!(out, "  not shown: {} (--all shows them)", hidden.join(", "))?;
    }
    if findings.n_left_out() > 0 {
        writeln!(
            out,
            "  and {} further findings that were not kept",
            findings.n_left_out()
        )?;
    }
    Ok(())
}
