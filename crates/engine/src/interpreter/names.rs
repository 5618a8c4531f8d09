//! Conversion between terms and text: prefix KIF, in the spelling of the sheet.
//!
//! Terms that occur in play may be nested deeply, so nothing here recurses.

use agon_gdl::{SymbolId, SymbolTable};

use super::terms::{FunctorId, Functors, TermId, Terms};

/// A term in prefix form; `(f)` for a functor without arguments.
pub(crate) fn text(
    term: TermId,
    terms: &Terms,
    functors: &Functors,
    symbols: &SymbolTable,
) -> String {
    let mut text = String::new();
    // The rest to write, last item first; `None` is a closing bracket.
    let mut open = vec![Some(term)];
    while let Some(item) = open.pop() {
        let Some(term) = item else {
            text.push(')');
            continue;
        };
        if !text.is_empty() {
            text.push(' ');
        }
        let functor = terms.functor(term);
        if functor == FunctorId::NONE {
            text.push_str(symbols.name(SymbolId(term.0)));
            continue;
        }
        text.push('(');
        text.push_str(symbols.name(functors.name(functor)));
        open.push(None);
        open.extend(terms.args(term).iter().rev().map(|&arg| Some(TermId(arg))));
    }
    text
}

/// Reads a term written by a peer; case is ignored if necessary. `None` if it cannot be a term of this game.
pub(crate) fn read(
    text: &str,
    functors: &Functors,
    symbols: &SymbolTable,
    mut compound: impl FnMut(FunctorId, &[u32]) -> Option<TermId>,
) -> Option<TermId> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let mut values: Vec<u32> = Vec::new();
    // Open brackets: the functor's name, if read, and the start of its arguments.
    let mut open: Vec<(Option<SymbolId>, usize)> = Vec::new();
    let mut is_complete = false;
    for token in spaced.split_whitespace() {
        if is_complete {
            return None;
        }
        match (token, open.last_mut()) {
            ("(", Some((None, _))) => return None,
            ("(", _) => open.push((None, values.len())),
            (")", _) => {
                let (name, start) = open.pop()?;
                let functor = functors.find(name?, values.len() - start)?;
                let term = compound(functor, &values[start..])?;
                values.truncate(start);
                values.push(term.0);
            }
            (name, Some((functor @ None, _))) => *functor = Some(symbols.find(name)?),
            (name, _) => values.push(
                symbols
                    .find(name)
                    .filter(|&symbol| !symbols.is_variable(symbol))?
                    .0,
            ),
        }
        is_complete = open.is_empty();
    }
    if !is_complete {
        None
    } else {
        values.pop().map(TermId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text and prints the result.
    fn check(input: &str, expected: Option<&str>) {
        let mut symbols = SymbolTable::new();
        let [a, _, f, _, _] = ["a", "Noop", "f", "B", "b"].map(|name| symbols.intern(name));
        let mut functors = Functors::default();
        functors.intern(f, 2);
        functors.intern(f, 0);
        functors.intern(a, 1);
        let mut terms = Terms::new(symbols.len());
        let term = read(input, &functors, &symbols, |functor, args| {
            Some(
                terms
                    .find(functor, args)
                    .unwrap_or_else(|| terms.append(functor, args)),
            )
        });
        assert_eq!(
            term.map(|term| text(term, &terms, &functors, &symbols))
                .as_deref(),
            expected
        );
    }

    #[test]
    fn constants_and_compounds_keep_their_spelling() {
        check("Noop", Some("Noop"));
        check("NOOP", Some("Noop"));
        check("( F a( f ( a  B)b ) )", Some("(f a (f (a B) b))"));
        check("(f)", Some("(f)"));
        check("f", Some("f"));
    }

    #[test]
    fn text_that_is_not_a_term_of_the_game_is_rejected() {
        for input in [
            "",
            "(",
            ")",
            "(f a",
            "a b",
            "(f a) b",
            "c",
            "(f a b b)",
            "((f) a)",
            "()",
            "(a ?x)",
        ] {
            check(input, None);
        }
    }

    #[test]
    fn a_deep_term_is_printed_without_recursion() {
        let mut symbols = SymbolTable::new();
        let [zero, successor] = ["0", "s"].map(|name| symbols.intern(name));
        let mut functors = Functors::default();
        let functor = functors.intern(successor, 1);
        let mut terms = Terms::new(symbols.len());
        let deep = (0..100_000).fold(TermId::constant(zero), |term, _| {
            terms.append(functor, &[term.0])
        });
        assert_eq!(
            text(deep, &terms, &functors, &symbols).len(),
            "(s )".len() * 100_000 + 1
        );
    }
}
