//! `agon check` on metadata: can the `.toml` file beside a rulesheet be read, and does it fit the rules?

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::games::{About, metadata};
use agon_engine::Game;
use agon_gdl::{Limits, Rules, check, parse};
use agon_ground::GroundLimits;
use anyhow::Context;

use crate::sheet::Sheet;

/// Grounding takes no longer; without it only names are compared.
const GROUND_TIME: Duration = Duration::from_secs(5);
/// Extensions of rulesheets, in the order in which they are looked for.
const RULESHEETS: [&str; 3] = ["kif", "gdl", "txt"];

/// What was found in a metadata file.
pub(super) struct MetadataReport {
    pub(super) file: String,
    text: String,
    pub(super) findings: Vec<MetadataFinding>,
}

/// A finding with its place; line and column are 0 where it has none.
pub(super) struct MetadataFinding {
    pub(super) is_error: bool,
    /// A stable name: `metadata-syntax` or `metadata`.
    pub(super) kind: &'static str,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) message: String,
    pub(super) help: &'static str,
}

/// Checks a metadata file that was named itself, against the rulesheet beside it.
pub(super) fn examine_file(
    file: &str,
    limits: &Limits,
    no_ground: bool,
) -> anyhow::Result<MetadataReport> {
    let candidates = RULESHEETS.map(|end| Path::new(file).with_extension(end));
    let Some(sheet) = candidates.iter().find(|path| path.is_file()) else {
        let mut report = read(file)?;
        let name = candidates[0].display();
        report.findings.push(MetadataFinding {
            is_error: true,
            kind: "metadata",
            line: 0,
            column: 0,
            message: format!("there is no rulesheet {name} beside it"),
            help: "give both files the same name, such as my_game.kif and my_game.toml",
        });
        return Ok(report);
    };
    let sheet = Sheet::read(&sheet.to_string_lossy(), limits)?;
    let rules = check(&parse(&sheet.bytes, limits)).ok().map(Arc::new);
    examine(file, rules.as_ref(), no_ground)
}

/// Checks a metadata file against rules; if these cannot be played, only whether it can be read.
pub(super) fn examine(
    file: &str,
    rules: Option<&Arc<Rules>>,
    no_ground: bool,
) -> anyhow::Result<MetadataReport> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
    Ok(examine_text(file, text, rules, no_ground))
}

/// The same for metadata that is at hand.
pub(super) fn examine_text(
    file: &str,
    text: String,
    rules: Option<&Arc<Rules>>,
    no_ground: bool,
) -> MetadataReport {
    let mut report = read_text(file, text);
    let Ok(about) = About::read(&report.text) else {
        return report;
    };
    let Some(rules) = rules else {
        return report;
    };
    let deadline = Instant::now() + GROUND_TIME;
    let game = match no_ground {
        true => Game::interpret(Arc::clone(rules)),
        false => Game::compile(Arc::clone(rules), &GroundLimits::default(), &|| {
            Instant::now() > deadline
        }),
    };
    let Ok(game) = game else { return report };
    for finding in metadata::findings(&about, rules, &game) {
        let (line, column) = finding.place(&report.text).unwrap_or((0, 0));
        report.findings.push(MetadataFinding {
            is_error: finding.is_error,
            kind: "metadata",
            line,
            column,
            message: finding.message,
            help: "",
        });
    }
    report
        .findings
        .sort_by_key(|finding| (finding.line, finding.column));
    report
}

fn read(file: &str) -> anyhow::Result<MetadataReport> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
    Ok(read_text(file, text))
}

fn read_text(file: &str, text: String) -> MetadataReport {
    let findings = match About::read(&text) {
        Ok(_) => Vec::new(),
        Err(error) => vec![MetadataFinding {
            is_error: true,
            kind: "metadata-syntax",
            line: error.line,
            column: error.column,
            message: error.message,
            help: "docs/METADATA.md has the format of the file",
        }],
    };
    MetadataReport {
        file: file.to_owned(),
        text,
        findings,
    }
}

impl MetadataReport {
    pub(super) fn n_errors(&self) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.is_error)
            .count()
    }

    pub(super) fn n_warnings(&self) -> usize {
        self.findings.len() - self.n_errors()
    }

    /// Every finding with its place and its line.
    pub(super) fn draw(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            let MetadataFinding {
                kind,
                line,
                column,
                message,
                help,
                ..
            } = finding;
            let severity = if finding.is_error { "error" } else { "warning" };
            let _ = writeln!(text, "{severity}[{kind}]: {message}");
            let number = line.to_string();
            let margin = " ".repeat(number.len());
            let written = self.text.lines().nth((*line as usize).wrapping_sub(1));
            match written {
                Some(written) => {
                    let blank = " ".repeat((*column as usize).saturating_sub(1));
                    let _ = writeln!(text, "{margin}--> {}:{line}:{column}", self.file);
                    let _ = writeln!(
                        text,
                        "{margin} |\n{number} | {written}\n{margin} | {blank}^"
                    );
                }
                None => {
                    let _ = writeln!(text, "{margin}--> {}", self.file);
                }
            }
            if !help.is_empty() {
                let _ = writeln!(text, "{margin} = help: {help}");
            }
            text.push('\n');
        }
        text
    }
}
