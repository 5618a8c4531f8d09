//! The reader: bytes → bracket structure, in either of the two syntaxes.
//!
//! A file that is not a rulesheet at all (binary data, UTF-16, a web page) gets a single finding here instead of
//! thousands later; the readers of the two syntaxes do the rest.

use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Kind};
use crate::source::{Source, Span};
use crate::symbol::SymbolTable;
use crate::tree::Tree;
use crate::{infix, prefix};

/// The two syntaxes of GDL.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Syntax {
    /// `(<= (legal ?r (mark ?x)) (true (cell ?x b)))`, the KIF form that game managers use.
    Prefix,
    /// `legal(R, mark(X)) :- true(cell(X, b))`, the form of papers and lecture notes.
    Infix,
}

/// Limits of reading. The defaults are far above every real rulesheet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum number of bytes in a rulesheet.
    pub bytes: usize,
    /// Maximum nesting depth of brackets.
    pub depth: usize,
    /// Maximum length of a name in bytes.
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

/// A text and its structure.
pub(crate) struct Reading {
    pub(crate) source: Source,
    pub(crate) syntax: Syntax,
    pub(crate) tree: Tree,
}

/// Reads bytes into a tree; errors of the text go into `findings`.
pub(crate) fn read(
    bytes: &[u8],
    limits: &Limits,
    symbols: &mut SymbolTable,
    findings: &mut Diagnostics,
) -> Reading {
    // A text over the limit is not decoded.
    let is_too_large = bytes.len() > limits.bytes;
    let source = Source::new(if is_too_large { &[] } else { bytes });
    let refusal = if is_too_large {
        Some(too_large(limits))
    } else {
        refuse(&source)
    };
    if let Some(finding) = refusal {
        findings.push(finding);
        return Reading {
            source,
            syntax: Syntax::Prefix,
            tree: Tree::default(),
        };
    }
    let syntax = detect(source.text());
    let tree = match syntax {
        Syntax::Prefix => prefix::read(&source, limits, symbols, findings),
        Syntax::Infix => infix::read(&source, limits, symbols, findings),
    };
    if tree.roots.is_empty() && !findings.has_errors() {
        let what = if tree.comments.is_empty() {
            "it is empty"
        } else {
            "it contains only comments"
        };
        findings.push(
            Diagnostic::file_error(
                Kind::EmptyDescription,
                format!("there are no rules in this file: {what}"),
            )
            .help("a game needs at least `role`, `legal`, `goal` and `terminal`"),
        );
    }
    Reading {
        source,
        syntax,
        tree,
    }
}

/// Detects the syntax from the first word: only infix has a bracket directly after a name, and only infix has comments
/// that start with `%`.
pub(crate) fn detect(text: &str) -> Syntax {
    let mut rest = text.trim_start_matches(is_blank);
    while rest.starts_with(';') {
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
    if glued || arrow || stop || rest.starts_with('%') {
        Syntax::Infix
    } else {
        Syntax::Prefix
    }
}

/// White space: what the reference tokenizer splits on, and invisible characters that editors and old systems leave
/// behind.
pub(crate) fn is_blank(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\n' | '\r' | '\x0B' | '\x0C' | '\x1A' | '\u{FEFF}'
    ) || (!c.is_ascii() && c.is_whitespace())
}

fn too_large(limits: &Limits) -> Diagnostic {
    let message = format!(
        "the file is larger than the limit of {} bytes",
        limits.bytes
    );
    Diagnostic::file_error(Kind::TooLarge, message)
        .help("raise the limit with --max-size if the file is correct")
}

/// A finding for a file that is not a rulesheet at all.
fn refuse(source: &Source) -> Option<Diagnostic> {
    let text = source.text();
    let start = Span::new(0, text.chars().next().map_or(0, char::len_utf8));
    // In UTF-16 every other byte is zero, or it starts with a byte order mark that is not UTF-8.
    let sample = sample(text);
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
    let is_odd = |c: &&char| c.is_control() || **c == char::REPLACEMENT_CHARACTER;
    let n_odd = sample.iter().filter(is_odd).count();
    if sample.len() >= 8 && n_odd * 10 > sample.len() {
        let message = "the file contains binary data, not text";
        return Some(
            Diagnostic::error(Kind::NotText, start, message)
                .help("a rulesheet must be plain UTF-8 text"),
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
                .help("a rulesheet consists of rules such as `(role white)`"),
        );
    }
    None
}

/// The first characters that identify the kind of file. White space and comments are skipped; comments may be in any
/// encoding.
fn sample(text: &str) -> Vec<char> {
    let mut in_comment = false;
    let tells = |c: &char| {
        in_comment = (in_comment || *c == ';') && !matches!(c, '\n' | '\r');
        !in_comment && !is_blank(*c)
    };
    text.chars().filter(tells).take(2048).collect()
}

fn starts_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|lead| lead.eq_ignore_ascii_case(prefix))
}

/// Reports bytes that are not UTF-8 and NUL bytes: errors in names, warnings in comments.
pub(crate) fn report_bad_bytes(source: &Source, tree: &Tree, findings: &mut Diagnostics) {
    let in_comment = |at: u32| {
        let idx = tree.comments.partition_point(|comment| comment.end <= at);
        tree.comments
            .get(idx)
            .is_some_and(|comment| comment.start <= at)
    };
    let mut last_line = 0;
    for bad in source.bad_bytes() {
        // One finding per line is enough: a word in another encoding has many such bytes.
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
                .help("it is in a comment and is ignored")
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
        let message = format!("NUL byte in the text, at offset {at}");
        findings.push(
            Diagnostic::error(Kind::NulByte, Span::new(at, at + 1), message)
                .help("delete it; the file may be damaged, or may not be text")
                .fix("Delete it", vec![Edit::replace(Span::new(at, at + 1), "")]),
        );
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(bytes: &[u8], expected: Expect) {
        let mut findings = Diagnostics::new();
        let reading = read(
            bytes,
            &Limits::default(),
            &mut SymbolTable::new(),
            &mut findings,
        );
        let n_forms = reading.tree.roots.len();
        let text = format!("{:?}, {n_forms} forms\n", reading.syntax);
        expected.assert_eq(&(text + &findings.to_text(&reading.source)));
    }

    #[test]
    fn the_first_word_determines_the_syntax() {
        let infix = [
            "role(a)",
            "p :- q",
            "p:-q",
            "done.\nrole(a).",
            "% c\n(a)",
            "; c\n\u{FEFF}p(a)",
            "'P'(a)",
        ];
        let prefix = [
            "(role a)",
            "; c\n(a)",
            "terminal (a)",
            "",
            "p",
            "<= (a)",
            "+(a)",
        ];
        assert!(infix.iter().all(|text| detect(text) == Syntax::Infix));
        assert!(prefix.iter().all(|text| detect(text) == Syntax::Prefix));
    }

    #[test]
    fn nothing_at_all() {
        check(
            b"",
            expect![[r#"
            Prefix, 0 forms
            error - empty-description: there are no rules in this file: it is empty
        "#]],
        );
        check(
            b" \n\t\x1A",
            expect![[r#"
            Prefix, 0 forms
            error - empty-description: there are no rules in this file: it is empty
        "#]],
        );
        check(
            b"; only a comment",
            expect![[r#"
                Prefix, 0 forms
                error - empty-description: there are no rules in this file: it contains only comments
            "#]],
        );
    }

    #[test]
    fn utf16_with_and_without_a_mark() {
        check(
            b"\xFF\xFE(\0r\0o\0l\0e\0 \0a\0)\0",
            expect![[r#"
            Prefix, 0 forms
            error 1:1 not-text: the file is not UTF-8 text: it looks like UTF-16
        "#]],
        );
        check(
            b"(\0r\0o\0l\0e\0 \0a\0)\0",
            expect![[r#"
            Prefix, 0 forms
            error 1:1 not-text: the file is not UTF-8 text: it looks like UTF-16
        "#]],
        );
    }

    #[test]
    fn binary_data() {
        check(
            b"\x7FELF\x02\x01\x01\0\0\0\0\xFF\xFE\x80\x90(",
            expect![[r#"
                Prefix, 0 forms
                error 1:1 not-text: the file contains binary data, not text
            "#]],
        );
    }

    #[test]
    fn other_kinds_of_files() {
        check(
            b"<!DOCTYPE html>\n<html>",
            expect![[r#"
            Prefix, 0 forms
            error 1:1 not-gdl: this is not a game description: it looks like a web page or another kind of file
        "#]],
        );
        check(
            b"\n<HTML>",
            expect![[r#"
            Prefix, 0 forms
            error 2:1 not-gdl: this is not a game description: it looks like a web page or another kind of file
        "#]],
        );
        check(
            b"{\"rules\": 1}",
            expect![[r#"
            Prefix, 0 forms
            error 1:1 not-gdl: this is not a game description: it looks like a web page or another kind of file
        "#]],
        );
    }

    #[test]
    fn a_comment_in_another_encoding_is_not_binary_data() {
        check(
            b"; \xCF\xF0\xE0\xE2\xE8\xEB\xE0 \xE8\xE3\xF0\xFB\n(role a)",
            expect![[r#"
            Prefix, 1 forms
            warning 1:3 bad-utf8: byte 0xCF at offset 2 is not valid UTF-8
        "#]],
        );
    }

    #[test]
    fn bytes_that_are_not_utf8_are_errors_in_names_once_a_line() {
        check(
            b"(role caf\xE9 caf\xE9)\n(role abcdefghijklmnopqrstuvwxyz)\n(role \xE9t\xE9)",
            expect![[r#"
            Prefix, 3 forms
            error 1:10 bad-utf8: byte 0xE9 at offset 9 is not valid UTF-8
            error 3:7 bad-utf8: byte 0xE9 at offset 57 is not valid UTF-8
        "#]],
        );
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let limits = Limits {
            bytes: 5,
            ..Limits::default()
        };
        let mut findings = Diagnostics::new();
        let reading = read(b"(role a)", &limits, &mut SymbolTable::new(), &mut findings);
        expect![[r#"
            error - too-large: the file is larger than the limit of 5 bytes
        "#]]
        .assert_eq(&findings.to_text(&reading.source));
    }
}
