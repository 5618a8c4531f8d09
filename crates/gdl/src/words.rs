//! The words and signs of a text in order, for editors: what stands where, whether or not the rules can be read.
//!
//! In: a text in either syntax. Out: every name, bracket, sign and comment with its span. Unlike the readers, this never
//! reports anything: a broken file has words too.

use std::cmp::Ordering;

use crate::diagnostic::Diagnostics;
use crate::infix;
use crate::read::{Limits, Syntax, is_blank};
use crate::source::{Source, Span};
use crate::tree::Tree;

/// What a word or sign is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordKind {
    /// A name, which may be a keyword; in infix text it may stand in quotes.
    Name,
    /// A variable.
    Variable,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`, `&`, `|`, `~`, `!=`, `:-`, a full stop or another sign of infix text.
    Sign,
    /// From `;` or `%` to the end of the line.
    Comment,
}

/// A word or sign with its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word {
    /// What it is.
    pub kind: WordKind,
    /// Where it stands.
    pub span: Span,
}

/// All words and signs of a text in order.
///
/// ```
/// use agon_gdl::{Source, Syntax, WordKind, words};
///
/// let kinds: Vec<WordKind> = words(&Source::new(b"(p ?x) ; all"), Syntax::Prefix).iter().map(|word| word.kind).collect();
/// use WordKind::{Close, Comment, Name, Open, Variable};
/// assert_eq!(kinds, [Open, Name, Variable, Close, Comment]);
/// ```
#[must_use]
pub fn words(source: &Source, syntax: Syntax) -> Vec<Word> {
    match syntax {
        Syntax::Prefix => prefix_words(source.text(), 0, source.text().len(), usize::MAX),
        Syntax::Infix => infix_words(source),
    }
}

/// The first name or variable at or behind the start of a span, if it is within the span: the name of an atom or of a term.
pub(crate) fn name_in(source: &Source, syntax: Syntax, span: Span) -> Span {
    let (start, end) = (span.start as usize, span.end as usize);
    match syntax {
        Syntax::Prefix => {
            let mut at = start;
            // One word at a time: an atom may be long, and its name is at its beginning.
            while let Some(word) = prefix_words(source.text(), at, end, 1).first() {
                if matches!(word.kind, WordKind::Name | WordKind::Variable) {
                    return word.span;
                }
                at = word.span.end as usize;
            }
            span
        }
        Syntax::Infix => {
            let length = infix::word_length(&source.text()[start..end]);
            Span::new(start, start + length)
        }
    }
}

/// The end of the last word before an offset: blanks and comments are behind it. `comments` are all of those before it.
pub(crate) fn last_end(source: &Source, comments: &[Span], before: usize) -> u32 {
    let trimmed = |end: usize| source.text()[..end].trim_end_matches(is_blank).len();
    let mut end = trimmed(before);
    for comment in comments.iter().rev() {
        match (comment.end as usize).cmp(&end) {
            Ordering::Greater => {}
            Ordering::Equal => end = trimmed(comment.start as usize),
            Ordering::Less => break,
        }
    }
    end as u32
}

/// At most `most` words of `text[start..end]`.
fn prefix_words(text: &str, start: usize, end: usize, most: usize) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = start;
    while words.len() < most
        && let Some(c) = text[at..end].chars().next()
    {
        let rest = &text[at..end];
        let is_end = |c: char| matches!(c, '(' | ')' | ';') || is_blank(c);
        let (kind, length) = match c {
            '(' => (WordKind::Open, 1),
            ')' => (WordKind::Close, 1),
            ';' => (
                WordKind::Comment,
                rest.find(['\n', '\r']).unwrap_or(rest.len()),
            ),
            _ if is_blank(c) => {
                at += c.len_utf8();
                continue;
            }
            '?' => (WordKind::Variable, rest.find(is_end).unwrap_or(rest.len())),
            _ => (WordKind::Name, rest.find(is_end).unwrap_or(rest.len())),
        };
        let span = Span::new(at, at + length);
        words.push(Word { kind, span });
        at += length;
    }
    words
}

fn infix_words(source: &Source) -> Vec<Word> {
    let mut tree = Tree::default();
    // Names that are too long are words all the same.
    let limits = Limits {
        name: usize::MAX,
        ..Limits::default()
    };
    let mut words = infix::words(source, &limits, &mut tree, &mut Diagnostics::new());
    let comments = tree.comments.iter().map(|&span| Word {
        kind: WordKind::Comment,
        span,
    });
    words.extend(comments);
    words.sort_by_key(|word| word.span.start);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, syntax: Syntax, expected: &str) {
        let source = Source::new(text.as_bytes());
        let found = words(&source, syntax);
        let found = found
            .iter()
            .map(|word| format!("{:?}:{}", word.kind, source.slice(word.span)));
        assert_eq!(found.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn prefix_text_has_words_even_if_it_is_broken() {
        check(
            ")(a;x\n?b(",
            Syntax::Prefix,
            "Close:) Open:( Name:a Comment:;x Variable:?b Open:(",
        );
    }

    #[test]
    fn infix_text_has_signs_and_quotes() {
        check(
            "p(X) :- ~'q r'. % no",
            Syntax::Infix,
            "Name:p Open:( Variable:X Close:) Sign::- Sign:~ Name:'q r' Sign:. Comment:% no",
        );
    }

    #[test]
    fn the_name_of_an_atom_is_behind_its_bracket() {
        let source = Source::new(b"( ; c\n cell 1) (q)");
        let span = name_in(&source, Syntax::Prefix, Span::new(0, 14));
        assert_eq!(source.slice(span), "cell");
    }
}
