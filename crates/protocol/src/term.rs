//! A term in a message: the name of a role, or a move.
//!
//! In: text with any whitespace. Out: a [`Term`], whose text has one blank between its parts and none next to brackets, with
//! the original spelling. A term does not belong to a game; [`Term::pick`] finds it among the terms of a game.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// A name or a bracketed list, in canonical layout.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(Arc<str>);

/// Why a text is not a valid term.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TermError {
    /// Only whitespace and comments.
    #[error("it is empty")]
    Empty,
    /// More than one term.
    #[error("it has more than one term")]
    Several,
    /// Brackets that do not match.
    #[error("its brackets do not match")]
    Brackets,
}

impl Term {
    /// Reads a term.
    ///
    /// # Errors
    /// If the text is not exactly one term.
    pub fn read(text: &str) -> Result<Term, TermError> {
        let mut items = items(text)?.into_iter();
        let only = items.next().ok_or(TermError::Empty)?;
        if items.next().is_some() {
            return Err(TermError::Several);
        }
        Ok(Term(lay_out(only, false).into()))
    }

    /// Its text: `(mark 1 2)`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its text as the reference manager writes it: `( mark 1 2 )`.
    #[must_use]
    pub fn spaced(&self) -> String {
        lay_out(&self.0, true)
    }

    /// The list of these terms.
    #[must_use]
    pub fn list(members: &[Term]) -> Term {
        let members: Vec<&str> = members.iter().map(Term::as_str).collect();
        Term(format!("({})", members.join(" ")).into())
    }

    /// All members of a list, including the first one. Empty for a name.
    #[must_use]
    pub fn members(&self) -> Vec<Term> {
        let members = inside(&self.0).and_then(|inner| items(inner).ok());
        let members = members.unwrap_or_default().into_iter();
        members.map(|member| Term(member.into())).collect()
    }

    /// The candidate that this term names: the one with the same spelling, or else the only one that differs just in case.
    /// Some managers write everything in capitals.
    pub fn pick<T>(&self, candidates: impl IntoIterator<Item = (T, String)>) -> Option<T> {
        let mut folded = None;
        let mut n_folded = 0;
        for (candidate, text) in candidates {
            if text == *self.0 {
                return Some(candidate);
            }
            if text.eq_ignore_ascii_case(&self.0) {
                folded = Some(candidate);
                n_folded += 1;
            }
        }
        folded.filter(|_| n_folded == 1)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The outermost names and lists of a text.
pub(crate) fn items(text: &str) -> Result<Vec<&str>, TermError> {
    let mut items = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for token in tokens(text) {
        let at = token.as_ptr() as usize - text.as_ptr() as usize;
        match token {
            "(" => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            ")" => {
                depth = depth.checked_sub(1).ok_or(TermError::Brackets)?;
                if depth == 0 {
                    items.push(&text[start..=at]);
                }
            }
            name if depth == 0 => items.push(name),
            _ => {}
        }
    }
    if depth > 0 {
        return Err(TermError::Brackets);
    }
    Ok(items)
}

/// The text inside the brackets of a list that [`items`] returned; `None` for a name.
pub(crate) fn inside(item: &str) -> Option<&str> {
    item.strip_prefix('(')?.strip_suffix(')')
}

/// Terms with regular blanks; with `spaced` also next to brackets.
pub(crate) fn lay_out(text: &str, spaced: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for token in tokens(text) {
        let is_glued = !spaced && (token == ")" || out.ends_with('('));
        if !out.is_empty() && !is_glued {
            out.push(' ');
        }
        out.push_str(token);
    }
    out
}

/// Brackets and names. Whitespace and comments are skipped.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(is_blank);
        while rest.starts_with(';') {
            let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
            rest = rest[end..].trim_start_matches(is_blank);
        }
        let is_end = |c: char| is_blank(c) || matches!(c, '(' | ')' | ';');
        let length = match rest.chars().next()? {
            '(' | ')' => 1,
            _ => rest.find(is_end).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        Some(token)
    })
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1A' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(&str, &str), TermError>) {
        let term = Term::read(text);
        let shown = term.map(|term| (term.to_string(), term.spaced()));
        let expected = expected.map(|(tight, spaced)| (tight.to_owned(), spaced.to_owned()));
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn whitespace_is_normalised_and_spelling_is_kept() {
        check(" noop\r\n", Ok(("noop", "noop")));
        check("(Mark 1\t2)", Ok(("(Mark 1 2)", "( Mark 1 2 )")));
        check(
            "( move(cell a 1)( cell b 2 ) )",
            Ok((
                "(move (cell a 1) (cell b 2))",
                "( move ( cell a 1 ) ( cell b 2 ) )",
            )),
        );
        check("(f ; why\n a)", Ok(("(f a)", "( f a )")));
    }

    #[test]
    fn text_that_is_not_one_term_is_an_error() {
        check("", Err(TermError::Empty));
        check(" ; nothing", Err(TermError::Empty));
        check("a b", Err(TermError::Several));
        check("(a", Err(TermError::Brackets));
        check("a)", Err(TermError::Brackets));
        check("garbage((", Err(TermError::Brackets));
    }

    #[test]
    fn lists_have_members() {
        let members = |text: &str| {
            let term = Term::read(text).expect("a valid term");
            term.members()
                .iter()
                .map(Term::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(members("( ( cell 1 b ) done )"), ["(cell 1 b)", "done"]);
        assert!(members("done").is_empty() && members("()").is_empty());
        let term = Term::read("( ( cell 1 b ) done )").expect("a valid term");
        assert_eq!(Term::list(&term.members()), term);
    }

    #[test]
    fn case_may_differ_where_that_is_unambiguous() {
        let pick = |text: &str, names: &[&str]| {
            let term = Term::read(text).expect("a valid term");
            term.pick(
                names
                    .iter()
                    .map(|name| (name.to_string(), name.to_string())),
            )
        };
        assert_eq!(pick("A", &["a", "A"]).as_deref(), Some("A"));
        assert_eq!(pick("(F X)", &["(f x)", "b"]).as_deref(), Some("(f x)"));
        assert_eq!(pick("AB", &["ab", "Ab"]), None);
        assert_eq!(pick("c", &["a", "b"]), None);
    }
}
