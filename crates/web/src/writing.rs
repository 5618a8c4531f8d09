//! Writing rules: findings, layout and hovers as the editor of the page shows them.
//!
//! Offsets in a rulesheet are bytes in the crates of Agon and UTF-16 units in JavaScript; [`Units`] converts them.

use agon_gdl::about::About;
use agon_gdl::index::Index;
use agon_gdl::{Diagnostic, Severity, Source, Span};
use serde::Serialize;

/// A finding of `agon check`. `from` and `to` are bytes until `Finding::in_units` is called.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Finding {
    /// Error or warning.
    #[serde(serialize_with = "severity_name")]
    pub severity: Severity,
    /// The stable name of its kind.
    pub kind: String,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
    /// Line from 1; 0 if it is about the whole file.
    pub line: u32,
    /// Column from 1.
    pub column: u32,
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// Secondary places.
    pub labels: Vec<FindingLabel>,
    /// Changes of the text that fix it.
    pub fixes: Vec<FindingFix>,
}

/// A secondary place of a finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FindingLabel {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// What is shown there.
    pub text: String,
}

/// A change that fixes a finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FindingFix {
    /// What it does, for a button.
    pub title: String,
    /// The changes, which do not overlap.
    pub edits: Vec<FindingEdit>,
}

/// A replacement of text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FindingEdit {
    /// Where the replaced text begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// What stands there afterwards.
    pub text: String,
}

impl Finding {
    /// A finding about the text of rules.
    #[must_use]
    pub fn from_diagnostic(diagnostic: &Diagnostic, source: &Source) -> Finding {
        let place = diagnostic.place(source);
        let range = |span: Span| (span.start as usize, span.end as usize);
        let (from, to) = diagnostic.span.map_or((0, 0), range);
        let label = |label: &agon_gdl::diagnostic::Label| {
            let (from, to) = range(label.span);
            let text = label.text.clone();
            FindingLabel { from, to, text }
        };
        let edit = |edit: &agon_gdl::Edit| {
            let (from, to) = range(edit.span);
            let text = edit.text.clone();
            FindingEdit { from, to, text }
        };
        let fix = |fix: &agon_gdl::Fix| FindingFix {
            title: fix.title.clone(),
            edits: fix.edits.iter().map(edit).collect(),
        };
        Finding {
            severity: diagnostic.severity,
            kind: diagnostic.kind.name().to_owned(),
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            line: place.map_or(0, |place| place.line),
            column: place.map_or(0, |place| place.column),
            from,
            to,
            labels: diagnostic.labels.iter().map(label).collect(),
            fixes: diagnostic.fixes.iter().map(fix).collect(),
        }
    }

    /// A finding about a whole line, without words yet; line 0 is the whole file.
    #[must_use]
    pub fn at_line(source: &Source, severity: Severity, line: u32) -> Finding {
        let text = source.text();
        let mut lines = text.split_inclusive('\n');
        let before = lines.by_ref().take((line as usize).saturating_sub(1));
        let from: usize = before.map(str::len).sum();
        let written = lines.next().filter(|_| line > 0).unwrap_or_default();
        let indent = written.len() - written.trim_start().len();
        Finding {
            severity,
            kind: String::new(),
            message: String::new(),
            help: None,
            line,
            column: 0,
            from: if line > 0 { from + indent } else { 0 },
            to: if line > 0 {
                from + written.trim_end().len().max(indent)
            } else {
                0
            },
            labels: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// The finding with its offsets in UTF-16 units.
    pub(crate) fn in_units(mut self, units: &Units) -> Finding {
        let convert = |from: &mut usize, to: &mut usize| {
            *from = units.unit(*from);
            *to = units.unit(*to);
        };
        convert(&mut self.from, &mut self.to);
        for label in &mut self.labels {
            convert(&mut label.from, &mut label.to);
        }
        for edit in self.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
            convert(&mut edit.from, &mut edit.to);
        }
        self
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for this signature"
)]
fn severity_name<S: serde::Serializer>(
    severity: &Severity,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    })
}

/// Converts between bytes and UTF-16 units of a text.
pub(crate) struct Units {
    /// Byte and unit after each character that is not ASCII, in order.
    wide: Vec<(usize, usize)>,
}

impl Units {
    pub(crate) fn new(text: &str) -> Units {
        let mut wide = Vec::new();
        let mut unit = 0;
        for (byte, c) in text.char_indices() {
            unit += c.len_utf16();
            if c.len_utf8() > 1 {
                wide.push((byte + c.len_utf8(), unit));
            }
        }
        Units { wide }
    }

    /// The unit at a byte.
    pub(crate) fn unit(&self, byte: usize) -> usize {
        let n_before = self.wide.partition_point(|&(at, _)| at <= byte);
        match n_before.checked_sub(1).map(|idx| self.wide[idx]) {
            Some((at, unit)) => unit + (byte - at),
            None => byte,
        }
    }

    /// The byte at a unit.
    pub(crate) fn byte(&self, unit: usize) -> usize {
        let n_before = self.wide.partition_point(|&(_, at)| at <= unit);
        match n_before.checked_sub(1).map(|idx| self.wide[idx]) {
            Some((byte, at)) => byte + (unit - at),
            None => unit,
        }
    }
}

/// What is known about the name at a place.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hover {
    from: usize,
    to: usize,
    name: String,
    title: String,
    text: Vec<String>,
    kind: &'static str,
    arity: usize,
    definitions: Vec<HoverPlace>,
    n_uses: usize,
}

/// A line and a column.
#[derive(Clone, Copy, Debug, Serialize)]
struct HoverPlace {
    line: u32,
    column: u32,
}

/// What is known about the name at a unit of a text.
pub(crate) fn hover_at(text: &str, unit: usize) -> Option<Hover> {
    let units = Units::new(text);
    let description = agon_gdl::parse(text.as_bytes(), &Default::default());
    let words = agon_gdl::words(&description.source, description.syntax);
    let offset = units.byte(unit) as u32;
    let about = About::at(&description, &Index::new(&description), &words, offset)?;
    let place = |span: &Span| {
        let place = description.source.place(span.start);
        HoverPlace {
            line: place.line,
            column: place.column,
        }
    };
    Some(Hover {
        from: units.unit(about.span.start as usize),
        to: units.unit(about.span.end as usize),
        title: format!("{}: {}", about.label(), about.meaning()),
        text: about.lines(),
        kind: about.kind.name(),
        arity: about.arity as usize,
        definitions: about.definitions.iter().map(place).collect(),
        n_uses: about.n_uses,
        name: about.name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_units_are_converted() {
        let text = "aä😀b";
        let units = Units::new(text);
        for (byte, unit) in [(0, 0), (1, 1), (3, 2), (7, 4), (8, 5)] {
            assert_eq!((units.unit(byte), units.byte(unit)), (unit, byte));
        }
        assert_eq!(Units::new("plain").unit(4), 4);
    }
}
