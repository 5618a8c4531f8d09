//! Findings as editors show them, and their fixes.

use std::collections::HashMap;

use agon_gdl::{Diagnostic, Edit, Fix, Kind, Severity};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, DiagnosticRelatedInformation,
    DiagnosticSeverity, DiagnosticTag, Location, NumberOrString, Position, Range, TextEdit, Uri,
    WorkspaceEdit,
};

use crate::Observation;
use crate::document::{Document, Reading};

/// All findings about a text, those of grounding last.
pub(crate) fn diagnostics(document: &Document, uri: &Uri) -> Vec<lsp_types::Diagnostic> {
    let reading = &document.reading;
    let written = reading
        .findings
        .iter()
        .filter(|finding| is_open(document, finding));
    let written = written.map(|finding| written_finding(reading, finding, uri));
    let observed = document.observed.iter();
    let observed = observed.map(|finding| observed_finding(reading, finding));
    written.chain(observed).collect()
}

/// Whether grounding has not settled what a finding only suspects.
fn is_open(document: &Document, finding: &Diagnostic) -> bool {
    let is_settled = document
        .observed
        .iter()
        .any(|observed| observed.kind == Kind::Unstratified.name());
    !is_settled || finding.kind != Kind::MaybeUnstratified
}

fn written_finding(reading: &Reading, finding: &Diagnostic, uri: &Uri) -> lsp_types::Diagnostic {
    let labels = finding.labels.iter().filter(|label| !label.text.is_empty());
    let related: Vec<DiagnosticRelatedInformation> = labels
        .map(|label| DiagnosticRelatedInformation {
            location: Location::new(uri.clone(), reading.range(label.span)),
            message: label.text.clone(),
        })
        .collect();
    let is_unneeded = matches!(finding.kind, Kind::Unused | Kind::DuplicateRule);
    lsp_types::Diagnostic {
        range: finding
            .span
            .map_or_else(Range::default, |span| reading.range(span)),
        related_information: (!related.is_empty()).then_some(related),
        tags: is_unneeded.then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..plain(
            finding.severity,
            finding.kind.name(),
            &finding.message,
            finding.help.as_deref().unwrap_or_default(),
        )
    }
}

fn observed_finding(reading: &Reading, finding: &Observation) -> lsp_types::Diagnostic {
    let range = match finding.line {
        0 => Range::default(),
        line if line > reading.source().n_lines() => Range::default(),
        line => {
            let end = reading.position(reading.source().line_span(line).end);
            Range::new(Position::new(line - 1, 0), end)
        }
    };
    lsp_types::Diagnostic {
        range,
        ..plain(
            finding.severity,
            &finding.kind,
            &finding.message,
            &finding.help,
        )
    }
}

fn plain(severity: Severity, kind: &str, message: &str, help: &str) -> lsp_types::Diagnostic {
    let message = match help {
        "" => message.to_owned(),
        help => format!("{message}\nhelp: {help}"),
    };
    lsp_types::Diagnostic {
        severity: Some(match severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(kind.to_owned())),
        source: Some("agon".to_owned()),
        message,
        ..lsp_types::Diagnostic::default()
    }
}

/// The fixes of findings that touch a range.
pub(crate) fn actions(document: &Document, uri: &Uri, range: Range) -> Vec<CodeActionOrCommand> {
    let reading = &document.reading;
    let mut actions = Vec::new();
    for finding in &reading.findings {
        let shown = written_finding(reading, finding, uri);
        if shown.range.end < range.start || shown.range.start > range.end {
            continue;
        }
        for (idx, fix) in finding.fixes.iter().enumerate() {
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: fix.title.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![shown.clone()]),
                edit: Some(workspace_edit(reading, fix, uri)),
                is_preferred: Some(idx == 0),
                ..CodeAction::default()
            }));
        }
    }
    actions
}

fn workspace_edit(reading: &Reading, fix: &Fix, uri: &Uri) -> WorkspaceEdit {
    let edit = |edit: &Edit| TextEdit::new(reading.range(edit.span), edit.text.clone());
    let edits = fix.edits.iter().map(edit).collect();
    #[expect(clippy::mutable_key_type, reason = "the protocol's type has such keys")]
    let changes = HashMap::from([(uri.clone(), edits)]);
    WorkspaceEdit::new(changes)
}
