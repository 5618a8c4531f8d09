//! Findings: what is wrong with a rulesheet, where, why, and how to fix it.
//!
//! A [`Diagnostic`] is a value: a kind that scripts can match, a severity, a span and text for people. [`render`] draws
//! it with its source line and carets, as compilers do. An error means that the game cannot be played; anything that
//! the reference systems play in practice is at most a warning.

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::source::{Place, Source, Span};

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The game can be played, but its author should know.
    Warning,
    /// The game cannot be played.
    Error,
}

/// The kind of a finding. The name ([`Kind::name`]) is stable, so that scripts may match it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "docs/CHECKS.md explains each kind")]
pub enum Kind {
    // The text
    TooLarge,
    NotText,
    NotGdl,
    BadUtf8,
    NulByte,
    OddCharacter,
    NameTooLong,
    // Structure
    Unclosed,
    Unopened,
    TooDeep,
    EmptyList,
    MixedSyntax,
    Syntax,
    EmptyDescription,
    TopLevelWord,
    // Rules and literals
    NoHead,
    NestedRule,
    NotAName,
    VariableLiteral,
    ConnectiveArity,
    ConnectiveHead,
    ConnectiveName,
    NegatedConnective,
    EmptyOr,
    EmptyBody,
    // Keywords
    KeywordArity,
    KeywordHead,
    KeywordBody,
    KeywordFunction,
    KeywordConstant,
    MisspeltKeyword,
    MissingKeyword,
    GdlTwo,
    // Names
    Arity,
    Capitalisation,
    Undefined,
    Unused,
    DuplicateRole,
    UndeclaredRole,
    DuplicateRule,
    // Variables
    FactVariable,
    UnsafeHead,
    UnsafeNegation,
    UnsafeDistinct,
    RoleVariable,
    SingleVariable,
    // Meaning
    Dependency,
    Unstratified,
    MaybeUnstratified,
    UnboundedRecursion,
    RecursionRestriction,
    GoalValue,
    NeverFires,
}

impl Kind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Kind; 53] = [
        Kind::TooLarge,
        Kind::NotText,
        Kind::NotGdl,
        Kind::BadUtf8,
        Kind::NulByte,
        Kind::OddCharacter,
        Kind::NameTooLong,
        Kind::Unclosed,
        Kind::Unopened,
        Kind::TooDeep,
        Kind::EmptyList,
        Kind::MixedSyntax,
        Kind::Syntax,
        Kind::EmptyDescription,
        Kind::TopLevelWord,
        Kind::NoHead,
        Kind::NestedRule,
        Kind::NotAName,
        Kind::VariableLiteral,
        Kind::ConnectiveArity,
        Kind::ConnectiveHead,
        Kind::ConnectiveName,
        Kind::NegatedConnective,
        Kind::EmptyOr,
        Kind::EmptyBody,
        Kind::KeywordArity,
        Kind::KeywordHead,
        Kind::KeywordBody,
        Kind::KeywordFunction,
        Kind::KeywordConstant,
        Kind::MisspeltKeyword,
        Kind::MissingKeyword,
        Kind::GdlTwo,
        Kind::Arity,
        Kind::Capitalisation,
        Kind::Undefined,
        Kind::Unused,
        Kind::DuplicateRole,
        Kind::UndeclaredRole,
        Kind::DuplicateRule,
        Kind::FactVariable,
        Kind::UnsafeHead,
        Kind::UnsafeNegation,
        Kind::UnsafeDistinct,
        Kind::RoleVariable,
        Kind::SingleVariable,
        Kind::Dependency,
        Kind::Unstratified,
        Kind::MaybeUnstratified,
        Kind::UnboundedRecursion,
        Kind::RecursionRestriction,
        Kind::GoalValue,
        Kind::NeverFires,
    ];

    /// The stable name, used in JSON and in brackets after the severity.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::TooLarge => "too-large",
            Kind::NotText => "not-text",
            Kind::NotGdl => "not-gdl",
            Kind::BadUtf8 => "bad-utf8",
            Kind::NulByte => "nul-byte",
            Kind::OddCharacter => "odd-character",
            Kind::NameTooLong => "name-too-long",
            Kind::Unclosed => "unclosed",
            Kind::Unopened => "unopened",
            Kind::TooDeep => "too-deep",
            Kind::EmptyList => "empty-list",
            Kind::MixedSyntax => "mixed-syntax",
            Kind::Syntax => "syntax",
            Kind::EmptyDescription => "empty-description",
            Kind::TopLevelWord => "top-level-word",
            Kind::NoHead => "no-head",
            Kind::NestedRule => "nested-rule",
            Kind::NotAName => "not-a-name",
            Kind::VariableLiteral => "variable-literal",
            Kind::ConnectiveArity => "connective-arity",
            Kind::ConnectiveHead => "connective-head",
            Kind::ConnectiveName => "connective-name",
            Kind::NegatedConnective => "negated-connective",
            Kind::EmptyOr => "empty-or",
            Kind::EmptyBody => "empty-body",
            Kind::KeywordArity => "keyword-arity",
            Kind::KeywordHead => "keyword-head",
            Kind::KeywordBody => "keyword-body",
            Kind::KeywordFunction => "keyword-function",
            Kind::KeywordConstant => "keyword-constant",
            Kind::MisspeltKeyword => "misspelt-keyword",
            Kind::MissingKeyword => "missing-keyword",
            Kind::GdlTwo => "gdl-ii",
            Kind::Arity => "arity",
            Kind::Capitalisation => "capitalisation",
            Kind::Undefined => "undefined",
            Kind::Unused => "unused",
            Kind::DuplicateRole => "duplicate-role",
            Kind::UndeclaredRole => "undeclared-role",
            Kind::DuplicateRule => "duplicate-rule",
            Kind::FactVariable => "fact-variable",
            Kind::UnsafeHead => "unsafe-head",
            Kind::UnsafeNegation => "unsafe-negation",
            Kind::UnsafeDistinct => "unsafe-distinct",
            Kind::RoleVariable => "role-variable",
            Kind::SingleVariable => "single-variable",
            Kind::Dependency => "dependency",
            Kind::Unstratified => "unstratified",
            Kind::MaybeUnstratified => "maybe-unstratified",
            Kind::UnboundedRecursion => "unbounded-recursion",
            Kind::RecursionRestriction => "recursion-restriction",
            Kind::GoalValue => "goal-value",
            Kind::NeverFires => "never-fires",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A secondary span of a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The span.
    pub span: Span,
    /// The text shown there.
    pub text: String,
}

/// A replacement of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// What is replaced; empty to insert.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

impl Edit {
    /// Replaces a span by a text.
    #[must_use]
    pub fn new(span: Span, text: impl Into<String>) -> Edit {
        let text = text.into();
        Edit { span, text }
    }

    /// Inserts a text before an offset.
    #[must_use]
    pub fn insert(at: usize, text: impl Into<String>) -> Edit {
        Edit::new(Span::new(at, at), text)
    }
}

/// A change of the text that removes a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What it does, in a few words.
    pub title: String,
    /// The replacements, which do not overlap.
    pub edits: Vec<Edit>,
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The kind of the finding.
    pub kind: Kind,
    /// The span; `None` if the finding is about the whole file.
    pub span: Option<Span>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
    /// Secondary spans.
    pub labels: Vec<Label>,
    /// Changes that remove it, the most likely one first.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// An error at a span.
    #[must_use]
    pub fn error(kind: Kind, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, kind, Some(span), message.into())
    }

    /// A warning at a span.
    #[must_use]
    pub fn warning(kind: Kind, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, kind, Some(span), message.into())
    }

    /// An error about the whole file.
    #[must_use]
    pub fn file_error(kind: Kind, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, kind, None, message.into())
    }

    /// A warning about the whole file.
    #[must_use]
    pub fn file_warning(kind: Kind, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, kind, None, message.into())
    }

    fn new(severity: Severity, kind: Kind, span: Option<Span>, message: String) -> Diagnostic {
        Diagnostic {
            severity,
            kind,
            span,
            message,
            help: None,
            labels: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// Adds a help text: how to fix it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a secondary span.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds a change that removes it.
    #[must_use]
    pub fn fix(mut self, title: impl Into<String>, edits: Vec<Edit>) -> Diagnostic {
        self.fixes.push(Fix {
            title: title.into(),
            edits,
        });
        self
    }

    /// Line and column, if it has a span.
    #[must_use]
    pub fn place(&self, source: &Source) -> Option<Place> {
        self.span.map(|span| source.place(span.start))
    }
}

/// Findings in the order in which they were made, with a limit: an untrusted file may have a million errors.
#[derive(Clone, Default, Debug)]
pub struct Diagnostics {
    findings: Vec<Diagnostic>,
    /// Number of warnings among those kept.
    n_warnings: usize,
    n_errors: usize,
    n_left_out: usize,
}

impl Diagnostics {
    /// Maximum number of findings that are kept; the rest are only counted.
    pub const MOST: usize = 1000;

    /// An empty list.
    #[must_use]
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.severity == Severity::Error;
        if !self.wants(diagnostic.severity) {
            self.leave_out(diagnostic.severity);
            return;
        }
        if self.is_full() {
            let last_warning = self
                .findings
                .iter()
                .rposition(|kept| kept.severity == Severity::Warning);
            self.findings
                .remove(last_warning.expect("an error replaces a warning"));
            self.n_warnings -= 1;
            self.n_left_out += 1;
        }
        self.n_errors += usize::from(is_error);
        self.n_warnings += usize::from(!is_error);
        self.findings.push(diagnostic);
    }

    /// Whether a finding would be kept. An error replaces the last warning, so that many warnings cannot hide it.
    /// Checks that may make millions of findings call this before they format a message.
    #[must_use]
    pub fn wants(&self, severity: Severity) -> bool {
        !self.is_full() || (severity == Severity::Error && self.n_warnings > 0)
    }

    /// Counts a finding that is not kept.
    pub fn leave_out(&mut self, severity: Severity) {
        self.n_errors += usize::from(severity == Severity::Error);
        self.n_left_out += 1;
    }

    /// Whether the maximum number of findings is kept.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.findings.len() >= Diagnostics::MOST
    }

    /// The findings kept.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.findings.iter()
    }

    /// Whether the game cannot be played.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// Number of errors, including those not kept.
    #[must_use]
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    /// Number of findings kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether there are no findings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Number of findings that were not kept.
    #[must_use]
    pub fn n_left_out(&self) -> usize {
        self.n_left_out
    }

    /// Sorts the findings by position; those without a span come last.
    pub fn sort(&mut self) {
        self.findings.sort_by_key(|finding| {
            let start = finding.span.map_or(u32::MAX, |span| span.start);
            (start, std::cmp::Reverse(finding.severity), finding.kind)
        });
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Options of [`render`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RenderOptions {
    /// Whether to use terminal colours.
    pub colour: bool,
    /// Width of the terminal in columns.
    pub width: usize,
}

impl Default for RenderOptions {
    fn default() -> RenderOptions {
        RenderOptions {
            colour: false,
            width: 120,
        }
    }
}

/// Draws a finding with its source lines and carets. `path` is the name of the file in the output.
#[must_use]
pub fn render(
    diagnostic: &Diagnostic,
    source: &Source,
    path: &str,
    options: RenderOptions,
) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.kind.name());
    let mut group = Group::with_title(title);
    let excerpt = diagnostic
        .span
        .map(|span| Excerpt::around(source, span, &diagnostic.labels));
    group = match &excerpt {
        None => group.element(Origin::path(path)),
        Some(excerpt) => {
            let snippet = Snippet::source(source.slice(excerpt.text))
                .line_start(excerpt.line as usize)
                .path(path);
            group.element(snippet.annotations(excerpt.marks.iter().map(|mark| {
                let kind = if mark.primary {
                    AnnotationKind::Primary
                } else {
                    AnnotationKind::Context
                };
                kind.span(mark.start..mark.end)
                    .label((!mark.text.is_empty()).then_some(mark.text))
            })))
        }
    };
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if options.colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer.term_width(options.width).render(&[group])
}

/// The lines of a source that are shown, and the marked byte ranges in them.
struct Excerpt<'a> {
    line: u32,
    text: Span,
    marks: Vec<Mark<'a>>,
}

struct Mark<'a> {
    primary: bool,
    start: usize,
    end: usize,
    text: &'a str,
}

impl<'a> Excerpt<'a> {
    /// Maximum number of bytes that are shown. Some rulesheets are on a single line; the renderer cuts it to the width
    /// of the terminal, but should not have to read megabytes for that.
    const MOST: u32 = 1 << 16;

    /// The line of `span`, and those of the labels if they are near.
    fn around(source: &Source, span: Span, labels: &'a [Label]) -> Excerpt<'a> {
        let lines = |span: Span| source.line_span(source.line(span.start));
        let mut text = lines(span);
        let mut marks = vec![(true, span, "")];
        for label in labels {
            let wider = text.to(lines(label.span));
            if wider.end - wider.start <= Excerpt::MOST {
                text = wider;
                marks.push((false, label.span, label.text.as_str()));
            }
        }
        if text.end - text.start > Excerpt::MOST {
            text = clip(source, text, span);
        }
        let marks = marks.into_iter().map(|(primary, span, label)| {
            // A span of several lines is marked on its first line.
            let line_end = lines(span).end;
            let start = span.start.clamp(text.start, text.end);
            let end = span.end.min(line_end).clamp(start, text.end);
            let offset = |at: u32| (at - text.start) as usize;
            Mark {
                primary,
                start: offset(start),
                end: offset(end),
                text: label,
            }
        });
        Excerpt {
            line: source.line(text.start),
            text,
            marks: marks.collect(),
        }
    }
}

/// The part of a very long line around a span.
fn clip(source: &Source, line: Span, span: Span) -> Span {
    let start = span.start.saturating_sub(Excerpt::MOST / 2).max(line.start);
    let end = start.saturating_add(Excerpt::MOST).min(line.end);
    let text = source.text();
    Span::new(
        text.floor_char_boundary(start as usize),
        text.ceil_char_boundary(end as usize),
    )
}

#[cfg(test)]
impl Diagnostics {
    /// One line per finding: severity, place, kind and message.
    pub(crate) fn to_text(&self, source: &Source) -> String {
        let line = |finding: &Diagnostic| {
            let place = finding.place(source).map_or("-".to_owned(), |place| {
                format!("{}:{}", place.line, place.column)
            });
            let severity = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            format!("{severity} {place} {}: {}\n", finding.kind, finding.message)
        };
        self.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flood(n_warnings: usize, n_errors: usize) -> Diagnostics {
        let mut findings = Diagnostics::new();
        for _ in 0..n_warnings {
            findings.push(Diagnostic::file_warning(Kind::Unused, "w"));
        }
        for _ in 0..n_errors {
            findings.push(Diagnostic::file_error(Kind::Syntax, "e"));
        }
        findings
    }

    #[test]
    fn a_flood_of_warnings_does_not_hide_an_error() {
        let findings = flood(Diagnostics::MOST + 7, 1);
        assert_eq!(findings.len(), Diagnostics::MOST);
        assert_eq!(findings.n_left_out(), 8);
        assert_eq!(findings.n_errors(), 1);
        assert!(
            findings
                .iter()
                .any(|finding| finding.severity == Severity::Error)
        );
    }

    #[test]
    fn errors_beyond_the_limit_are_counted() {
        let findings = flood(0, Diagnostics::MOST + 3);
        assert_eq!(findings.len(), Diagnostics::MOST);
        assert_eq!(findings.n_errors(), Diagnostics::MOST + 3);
        assert_eq!(findings.n_left_out(), 3);
    }

    #[test]
    fn findings_are_sorted_by_place_and_those_without_come_last() {
        let mut findings = flood(0, 1);
        findings.push(Diagnostic::warning(Kind::Unused, Span::new(5, 6), "later"));
        findings.push(Diagnostic::error(Kind::Arity, Span::new(1, 2), "sooner"));
        findings.push(Diagnostic::error(Kind::Arity, Span::new(5, 6), "worse"));
        findings.sort();
        let messages: Vec<&str> = findings
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(messages, ["sooner", "worse", "later", "e"]);
    }

    #[test]
    fn names_of_kinds_are_unique_and_plain() {
        let names: std::collections::BTreeSet<&str> =
            Kind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), Kind::ALL.len());
        assert!(names.iter().all(|name| {
            name.chars()
                .all(|c| c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit())
        }));
    }

    #[test]
    fn rendering_a_very_long_line_is_cheap() {
        let text = "(p a) ".repeat(1 << 20);
        let source = Source::new(text.as_bytes());
        let far = Diagnostic::error(Kind::Arity, Span::new(6_000_000, 6_000_005), "far")
            .label(Span::new(0, 5), "away");
        let drawing = render(&far, &source, "file", RenderOptions::default());
        assert!(drawing.len() < 2000, "{}", drawing.len());
        assert!(drawing.contains("^^^^^"));
    }
}
