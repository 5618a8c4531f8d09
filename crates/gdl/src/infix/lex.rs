//! The words and signs of infix text.
//!
//! In: the text. Out: lexemes with their places, the last of which is the end; comments go to the tree.

use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::read::{Limits, is_blank};
use crate::source::{Source, Span};
use crate::symbol::Keyword;
use crate::tree::Tree;

/// What a word or sign is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Name,
    Variable,
    Quoted,
    Open,
    Close,
    Comma,
    And,
    Or,
    Not,
    Unequal,
    Arrow,
    Stop,
    End,
}

/// A word or sign with its place.
#[derive(Clone, Copy)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) span: Span,
}

/// Splits the text; the last lexeme is `End`. Comments go to the tree.
pub(super) fn tokenize(
    source: &Source,
    limits: &Limits,
    tree: &mut Tree,
    findings: &mut Diagnostics,
) -> Vec<Lexeme> {
    let text = source.text();
    let mut lexemes = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if is_blank(c) {
            at += c.len_utf8();
            continue;
        }
        if matches!(c, ';' | '%') {
            let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
            tree.comments.push(Span::new(at, at + length));
            at += length;
            continue;
        }
        let (token, length) = lex(rest, c);
        let span = Span::new(at, at + length);
        at += length;
        if length > limits.name {
            let shown = Span::new(
                span.start as usize,
                text.ceil_char_boundary(span.start as usize + 20),
            );
            let message = format!(
                "this name has {length} bytes, more than the limit of {}",
                limits.name
            );
            findings.push(Diagnostic::error(Kind::NameTooLong, shown, message));
            continue;
        }
        lexemes.push(Lexeme { token, span });
    }
    lexemes.push(Lexeme {
        token: Token::End,
        span: Span::new(text.len(), text.len()),
    });
    lexemes
}

/// The highest number among variables called `_1`, `_2` …: anonymous variables get the numbers after it.
pub(super) fn most_numbered(source: &Source, tokens: &[Lexeme]) -> u32 {
    let number = |lexeme: &Lexeme| {
        let text = source.slice(lexeme.span).trim_start_matches('?');
        text.strip_prefix('_')?.parse().ok()
    };
    let variables = tokens
        .iter()
        .filter(|lexeme| lexeme.token == Token::Variable);
    variables.filter_map(number).max().unwrap_or(0)
}

/// The token at the start of `rest`, which begins with `c`, and its length.
pub(super) fn lex(rest: &str, c: char) -> (Token, usize) {
    let sign = |token| (token, c.len_utf8());
    match c {
        '(' => sign(Token::Open),
        ')' => sign(Token::Close),
        ',' => sign(Token::Comma),
        '&' | '∧' => sign(Token::And),
        '|' | '∨' => sign(Token::Or),
        '~' | '¬' => sign(Token::Not),
        '≠' => sign(Token::Unequal),
        '←' => sign(Token::Arrow),
        '.' => sign(Token::Stop),
        '\'' => (Token::Quoted, quoted_length(rest)),
        _ if rest.starts_with(":-") => (Token::Arrow, 2),
        _ if rest.starts_with("!=") || rest.starts_with("\\=") => (Token::Unequal, 2),
        _ => {
            let length = name_length(rest);
            let is_variable = c.is_uppercase() || c == '_' || (c == '?' && length > 1);
            let token = match &rest[..length] {
                _ if is_variable => Token::Variable,
                name if name.eq_ignore_ascii_case(Keyword::Not.name()) => Token::Not,
                _ => Token::Name,
            };
            (token, length)
        }
    }
}

/// Length of the quoted name at the start of `rest`, in which `''` is a quote; 1 if it is not closed on its line.
fn quoted_length(rest: &str) -> usize {
    let mut at = 1;
    while let Some(found) = rest[at..].find(['\'', '\n', '\r']) {
        at += found + 1;
        if !rest[at - 1..].starts_with('\'') {
            break;
        }
        if !rest[at..].starts_with('\'') {
            return at;
        }
        at += 1;
    }
    1
}

/// Length of the name at the start of `rest`: at least one character.
fn name_length(rest: &str) -> usize {
    let mut chars = rest.char_indices();
    let mut before = chars.next().map_or(' ', |(_, c)| c);
    for (at, c) in chars {
        let is_sign = matches!(
            c,
            '(' | ')' | ',' | '&' | '|' | '~' | '\'' | ';' | '%' | '∧' | '∨' | '¬' | '≠' | '←'
        );
        let here = &rest[at..];
        let is_digit = |c: char| c.is_ascii_digit();
        // A full stop ends the rule, but `50.5` is one word.
        let is_stop = c == '.' && !(is_digit(before) && here[1..].starts_with(is_digit));
        let is_end = [":-", "!=", "\\="]
            .iter()
            .any(|sign| here.starts_with(sign));
        if is_blank(c) || is_sign || is_stop || is_end {
            return at;
        }
        before = c;
    }
    rest.len()
}
