//! `agon check`: what is wrong with a rulesheet.
//!
//! First what the text tells (`agon_gdl::check`); if that allows play, what grounding tells; on demand, what shows only
//! in play. The metadata beside a rulesheet is checked too.

mod metadata;
pub(crate) mod trial;

use std::collections::BTreeMap;
use std::io::{BufWriter, Write, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use agon_gdl::{
    Diagnostic, Diagnostics, Kind, Limits, Rules, Severity, Source, check, parse, render,
};
use anyhow::bail;
use serde::Serialize;

use metadata::MetadataReport;
use trial::{Budget, Observation};

use crate::rerun;
use crate::sheet::{Sheet, metadata_path};
use crate::terminal::render_options;

/// How many warnings of one kind are drawn before the rest are only counted.
const MOST_PER_KIND: usize = 5;

/// Find errors and warnings in rulesheets, and how to fix them
#[derive(clap::Args)]
#[command(
    after_help = "Metadata is checked with its rulesheet: my_game.toml with my_game.kif (docs/METADATA.md).

Exit code: 0 if no file has an error, 1 if one has, 2 if one cannot be read.

Examples:
  agon check my_game.kif
  agon check --play my_game.kif
  agon check --watch my_game.kif
  agon show tic_tac_toe --stage rules | agon check -
  agon check --json games/*.kif | jq 'select(.ok | not) | .file'"
)]
pub(crate) struct Args {
    /// Rulesheets, metadata files (.toml), names of built-in games, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Print one JSON object per file
    #[arg(long)]
    json: bool,
    /// Draw every warning, not only the first few of each kind
    #[arg(long)]
    all: bool,
    /// Also play random games, to find what shows only in play: no legal move, none or several goals, no end
    #[arg(long)]
    play: bool,
    /// Do not ground the rules
    #[arg(long, conflicts_with = "play")]
    no_ground: bool,
    /// Check again whenever a file changes, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Seed of the random games
    #[arg(long, default_value_t = 1)]
    seed: u64,
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
    if args.files.iter().filter(|&file| file == "-").count() > 1 {
        bail!("standard input (-) can be read only once");
    }
    if args.watch {
        let files: Vec<&str> = args.files.iter().map(String::as_str).collect();
        return rerun::on_change(&files, args.json, || run_once(args));
    }
    run_once(args)
}

fn run_once(args: &Args) -> anyhow::Result<ExitCode> {
    let limits = Limits {
        bytes: args.max_size.min(1 << 30),
        ..Limits::default()
    };
    let mut out = BufWriter::new(stdout().lock());
    let (mut has_errors, mut has_unread) = (false, false);
    for file in &args.files {
        let answer = match Path::new(file).extension() {
            Some(end) if end == "toml" => {
                let report = metadata::examine_file(file, &limits, args.no_ground);
                report.map(|report| (None, Some(report)))
            }
            _ => Sheet::find_or_stdin(file, &limits).and_then(|sheet| {
                let (findings, metadata) = examine(&sheet, &limits, args)?;
                Ok((Some((sheet.name, findings)), metadata))
            }),
        };
        match answer {
            Ok((sheet, metadata)) => {
                if let Some((name, findings)) = &sheet {
                    has_errors |= findings.n_errors() > 0;
                    if args.json {
                        writeln!(out, "{}", serde_json::to_string(&report(file, findings))?)?;
                    } else {
                        draw(&mut out, name, findings, args.all)?;
                    }
                }
                // Metadata that was not named itself is mentioned only if there is something to say.
                let is_named = sheet.is_none();
                if let Some(metadata) =
                    metadata.filter(|report| is_named || !report.findings.is_empty())
                {
                    has_errors |= metadata.n_errors() > 0;
                    if args.json {
                        writeln!(out, "{}", serde_json::to_string(&metadata_json(&metadata))?)?;
                    } else {
                        draw_metadata(&mut out, &metadata)?;
                    }
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
struct Findings {
    source: Arc<Source>,
    /// What the text tells.
    written: Diagnostics,
    /// What shows only when the rules are grounded and played.
    observed: Vec<Observation>,
}

impl Findings {
    /// What the text tells, without guesses that grounding has settled.
    fn written(&self) -> impl Iterator<Item = &Diagnostic> {
        let is_settled = self
            .observed
            .iter()
            .any(|finding| finding.kind == Kind::Unstratified.name());
        self.written
            .iter()
            .filter(move |finding| !is_settled || finding.kind != Kind::MaybeUnstratified)
    }

    fn n_errors(&self) -> usize {
        let observed = self.observed.iter();
        let errors = observed.filter(|finding| finding.severity == Severity::Error);
        self.written.n_errors() + errors.count()
    }

    fn n_warnings(&self) -> usize {
        let written = self.written().map(|finding| finding.severity);
        let observed = self.observed.iter().map(|finding| finding.severity);
        written
            .chain(observed)
            .filter(|&severity| severity == Severity::Warning)
            .count()
    }
}

/// Checks a rulesheet, and the metadata beside it if there is some.
fn examine(
    sheet: &Sheet,
    limits: &Limits,
    args: &Args,
) -> anyhow::Result<(Findings, Option<MetadataReport>)> {
    let description = parse(&sheet.bytes, limits);
    let checked = check(&description).map(Arc::new);
    let metadata = match metadata_path(&sheet.name) {
        Some(path) => {
            let (path, rules) = (path.to_string_lossy(), checked.as_ref().ok());
            Some(metadata::examine(&path, rules, args.no_ground)?)
        }
        None => None,
    };
    let budget = Budget {
        play: args.play,
        seed: args.seed,
    };
    let budget = (!args.no_ground).then_some(budget);
    let findings = find(description.source, checked, budget.as_ref());
    Ok((findings, metadata))
}

/// What the text of rules tells, and with a budget what grounding and playing them shows.
fn find(
    source: Arc<Source>,
    checked: Result<Arc<Rules>, Diagnostics>,
    budget: Option<&Budget>,
) -> Findings {
    let (written, observed) = match (checked, budget) {
        (Ok(rules), Some(budget)) => {
            let observed = trial::observe(&rules, budget, &|| false);
            (rules.warnings.clone(), observed)
        }
        (Ok(rules), _) => (rules.warnings.clone(), Vec::new()),
        (Err(findings), _) => (findings, Vec::new()),
    };
    Findings {
        source,
        written,
        observed,
    }
}

/// The findings about rules and metadata in the editor of the page: those of this command without options.
pub(crate) fn findings_of_text(rules: &str, metadata: Option<&str>) -> Vec<agon_web::Finding> {
    let description = parse(rules.as_bytes(), &Limits::default());
    let checked = check(&description).map(Arc::new);
    let about = metadata.map(|text| {
        metadata::examine_text("metadata", text.to_owned(), checked.as_ref().ok(), false)
    });
    let budget = Budget {
        play: false,
        seed: 1,
    };
    let found = find(description.source, checked, Some(&budget));
    let source = &found.source;
    let written = found.written();
    let written = written.map(|finding| agon_web::Finding::from_diagnostic(finding, source));
    let observed = found.observed.iter().map(|finding| {
        let column = u32::from(finding.line > 0);
        let mut shown = agon_web::Finding::at_line(source, finding.severity, finding.line);
        shown.column = column;
        shown.kind = finding.kind.to_owned();
        shown.message.clone_from(&finding.message);
        shown.help = Some(finding.help.to_owned()).filter(|help| !help.is_empty());
        shown
    });
    let about = about.iter().flat_map(|report| &report.findings);
    let about = about.map(|finding| {
        let severity = match finding.is_error {
            true => Severity::Error,
            false => Severity::Warning,
        };
        let mut shown = agon_web::Finding::at_line(source, severity, 0);
        (shown.line, shown.column) = (finding.line, finding.column);
        shown.kind = finding.kind.to_owned();
        shown.message.clone_from(&finding.message);
        shown.help = Some(finding.help.to_owned()).filter(|help| !help.is_empty());
        shown
    });
    written.chain(observed).chain(about).collect()
}

fn report<'a>(file: &'a str, findings: &'a Findings) -> Report<'a> {
    let with_severity = |severity: Severity| {
        let written = findings
            .written()
            .filter(|finding| finding.severity == severity)
            .map(|finding| {
                let place = finding.place(&findings.source);
                Finding {
                    kind: finding.kind.name(),
                    line: place.map_or(0, |place| place.line),
                    column: place.map_or(0, |place| place.column),
                    message: &finding.message,
                    help: finding.help.as_deref().unwrap_or_default(),
                }
            });
        let observed = findings
            .observed
            .iter()
            .filter(|finding| finding.severity == severity)
            .map(|finding| Finding {
                kind: finding.kind,
                line: finding.line,
                column: u32::from(finding.line > 0),
                message: &finding.message,
                help: finding.help,
            });
        written.chain(observed).collect()
    };
    Report {
        file,
        ok: findings.n_errors() == 0,
        errors: with_severity(Severity::Error),
        warnings: with_severity(Severity::Warning),
        left_out: findings.written.n_left_out(),
    }
}

fn metadata_json(metadata: &MetadataReport) -> Report<'_> {
    let of_kind = |is_error: bool| {
        let findings = metadata.findings.iter();
        let findings = findings.filter(|finding| finding.is_error == is_error);
        let json = findings.map(|finding| Finding {
            kind: finding.kind,
            line: finding.line,
            column: finding.column,
            message: &finding.message,
            help: finding.help,
        });
        json.collect()
    };
    Report {
        file: &metadata.file,
        ok: metadata.n_errors() == 0,
        errors: of_kind(true),
        warnings: of_kind(false),
        left_out: 0,
    }
}

fn draw_metadata(out: &mut impl Write, metadata: &MetadataReport) -> anyhow::Result<()> {
    let (n_errors, n_warnings) = (metadata.n_errors(), metadata.n_warnings());
    let verdict = if n_errors > 0 {
        "cannot be used as it is"
    } else {
        "ok"
    };
    write!(out, "{}", metadata.draw())?;
    let (errors, warnings) = (count(n_errors, "error"), count(n_warnings, "warning"));
    writeln!(out, "{}: {verdict}, {errors}, {warnings}", metadata.file)?;
    Ok(())
}

/// A number of things, such as `2 errors`.
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
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

fn draw(out: &mut impl Write, file: &str, findings: &Findings, all: bool) -> anyhow::Result<()> {
    let source = &findings.source;
    let mut warnings: BTreeMap<Kind, usize> = BTreeMap::new();
    for finding in findings.written() {
        let is_shown = all || finding.severity == Severity::Error || {
            let n_warnings = warnings.entry(finding.kind).or_default();
            *n_warnings += 1;
            *n_warnings <= MOST_PER_KIND
        };
        if is_shown {
            writeln!(out, "{}\n", render(finding, source, file, render_options()))?;
        }
    }
    for finding in &findings.observed {
        writeln!(out, "{}\n", finding.draw(source, file))?;
    }
    let (n_errors, n_warnings) = (findings.n_errors(), findings.n_warnings());
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
    let hidden: Vec<String> = warnings
        .iter()
        .filter(|(_, n)| **n > MOST_PER_KIND)
        .map(|(kind, n)| format!("{} more {kind}", n - MOST_PER_KIND))
        .collect();
    if !hidden.is_empty() {
        writeln!(out, "  not shown: {} (--all shows them)", hidden.join(", "))?;
    }
    if findings.written.n_left_out() > 0 {
        writeln!(
            out,
            "  and {} further findings that were not kept",
            findings.written.n_left_out()
        )?;
    }
    Ok(())
}
