//! The first door: bytes → bracket structure, in whichever of the two syntaxes the file is written.
//!
//! What is not a rulesheet at all (binary data, UTF-16, a web page) is said in one finding here instead of a
//! thousand later; the readers of the two syntaxes do the rest.

use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::source::{Source, Span};
use crate::symbol::SymbolTable;
use crate::tree::Tree;
use crate::{infix, prefix};

/// The two ways to write GDL.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Syntax {
    /// `(<= (legal ?r (mark ?x)) (true (cell ?x b)))`, the KIF form that game managers speak.
    Prefix,
    /// `legal(R, mark(X)) :- true(cell(X, b))`, the form of papers and lecture notes.
    Infix,
}

/// Bounds on what is read. The defaults are far above every real rulesheet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most bytes in a rulesheet.
    pub bytes: usize,
    /// Deepest nesting of brackets.
    pub depth: usize,
    /// Longest name in bytes.
    pub name: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            bytes: 64 << 20,
            depth: 400,
            name: 64 << 10,
        }
    }
}

/// Reads a source into its tree; what is wrong with the text goes into `findings`.
pub(crate) fn read(
    source: &Source,
    limits: &Limits,
    symbols: &mut SymbolTable,
    findings: &mut Diagnostics,
) -> (Syntax, Tree) {
    if let Some(finding) = refuse(source, limits) {
        findings.push(finding);
        return (Syntax::Prefix, Tree::default());
    }
    let syntax = detect(source.text());
    let tree = match syntax {
        Syntax::Prefix => prefix::read(source, limits, symbols, findings),
        Syntax::Infix => infix::read(source, limits, symbols, findings),
    };
    if tree.roots.is_empty() && !findings.has_errors() {
        let what = if tree.comments.is_empty() {
            "it is empty"
        } else {
            "it holds only comments"
        };
        findings.push(
            Diagnostic::file_error(
                Kind::EmptyDescription,
                format!("there are no rules in this file: {what}"),
            )
            .help("a game needs at least `role`, `legal`, `goal` and `terminal`"),
        );
    }
    (syntax, tree)
}

/// Which syntax a text is in: the first word tells, because only infix has a bracket glued to its name.
pub(crate) fn detect(text: &str) -> Syntax {
    let mut rest = text.trim_start_matches(is_blank);
    while rest.starts_with([';', '%']) {
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        rest = rest[end..].trim_start_matches(is_blank);
    }
    let word = rest
        .find(|c: char| is_blank(c) || matches!(c, '(' | ')' | ';'))
        .unwrap_or(rest.len());
    let after = rest[word..].trim_start_matches([' ', '\t']);
    let glued = word > 0
        && rest[word..].starts_with('(')
        && rest.starts_with(|c: char| c.is_alphabetic() || c == '\'');
    let arrow = word > 0 && (after.starts_with(":-") || rest[..word].contains(":-"));
    let stop = word > 1 && rest[..word].ends_with('.');
    if glued || arrow || stop {
        Syntax::Infix
    } else {
        Syntax::Prefix
    }
}

/// Blank space: what the reference tokenizer splits on, and what editors and old systems leave behind unseen.
pub(crate) fn is_blank(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\n' | '\r' | '\x0B' | '\x0C' | '\x1A' | '\u{FEFF}'
    ) || (!c.is_ascii() && c.is_whitespace())
}

/// A finding for what is no rulesheet at all.
fn refuse(source: &Source, limits: &Limits) -> Option<Diagnostic> {
    let text = source.text();
    let start = Span::new(0, text.chars().next().map_or(0, char::len_utf8));
    if text.len() > limits.bytes {
        let message = format!(
            "the file has {} bytes, more than the limit of {}",
            text.len(),
            limits.bytes
        );
        return Some(
            Diagnostic::file_error(Kind::TooLarge, message)
                .help("raise the limit with --max-size if this is right"),
        );
    }
    // UTF-16 is every other byte zero, or begins with a byte order mark that is not UTF-8.
    let sample: Vec<char> = text.chars().take(2048).collect();
    let n_nul = sample.iter().filter(|&&c| c == '\0').count();
    let order_mark = source.bad_bytes().len() >= 2
        && source.bad_bytes()[0].offset == 0
        && matches!(
            [source.bad_bytes()[0].byte, source.bad_bytes()[1].byte],
            [0xFF, 0xFE] | [0xFE, 0xFF]
        );
    if order_mark || (sample.len() >= 8 && n_nul * 5 >= sample.len() * 2) {
        let message = "the file is not UTF-8 text: it looks like UTF-16";
        return Some(Diagnostic::error(Kind::NotText, start, message).help("save it as UTF-8"));
    }
    let is_odd = |c: &&char| c.is_control() && !is_blank(**c) || **c == char::REPLACEMENT_CHARACTER;
    let n_odd = sample.iter().filter(is_odd).count();
    if sample.len() >= 8 && n_odd * 10 > sample.len() {
        let message = "the file holds binary data, not text";
        return Some(
            Diagnostic::error(Kind::NotText, start, message)
                .help("give a rulesheet as plain UTF-8 text"),
        );
    }
    let lead = text.trim_start_matches(is_blank);
    let is_markup = lead
        .strip_prefix('<')
        .is_some_and(|rest| rest.starts_with(['!', '?', '/']))
        || ["<html", "<head", "<body", "{\"", "%pdf"]
            .iter()
            .any(|mark| starts_ignoring_case(lead, mark));
    if is_markup {
        let at = text.len() - lead.len();
        let message =
            "this is not a game description: it looks like a web page or another kind of file";
        return Some(
            Diagnostic::error(Kind::NotGdl, Span::new(at, at + 1), message)
                .help("a rulesheet begins with rules such as `(role white)`"),
        );
    }
    None
}

fn starts_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|lead| lead.eq_ignore_ascii_case(prefix))
}

/// Finds the bytes that are not UTF-8 and the NUL bytes: errors in names, harmless in comments.
pub(crate) fn report_bad_bytes(source: &Source, tree: &Tree, findings: &mut Diagnostics) {
    let in_comment = |at: u32| {
        let idx = tree.comments.partition_point(|comment| comment.end <= at);
        tree.comments
            .get(idx)
            .is_some_and(|comment| comment.start <= at)
    };
    let mut last_line = 0;
    for bad in source.bad_bytes() {
        // One finding a line is enough: a word in a foreign encoding has many such bytes.
        let line = source.line(bad.span.start);
        if line == last_line || findings.is_full() {
            continue;
        }
        last_line = line;
        let message = format!(
            "byte 0x{:02X} at offset {} is not valid UTF-8",
            bad.byte, bad.offset
        );
        findings.push(if in_comment(bad.span.start) {
            Diagnostic::warning(Kind::BadUtf8, bad.span, message)
                .help("it stands in a comment and is ignored")
        } else {
            Diagnostic::error(Kind::BadUtf8, bad.span, message).help("save the file as UTF-8")
        });
    }
    for (at, _) in source
        .text()
        .match_indices('\0')
        .filter(|(at, _)| !in_comment(*at as u32))
        .take(20)
    {
        let message = format!("there is a NUL byte in the text, at offset {at}");
        findings.push(
            Diagnostic::error(Kind::NulByte, Span::new(at, at + 1), message)
                .help("delete it; the file may be damaged or not be text"),
        );
    }
}
