//! Parses ground terms from text, the form in which every engine returns fluents and moves.

use std::fmt;

/// A name with arguments; a constant has none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term {
    /// The outermost name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Term>,
}

/// Maximum nesting depth, which bounds the use of the stack.
const MAX_DEPTH: usize = 50;

impl Term {
    /// Parses a term in prefix form. Returns `None` if the text is not a term or nests too deeply.
    #[must_use]
    pub fn read(text: &str) -> Option<Term> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        // The parts of each open bracket so far.
        let mut open: Vec<Vec<Term>> = vec![Vec::new()];
        for word in spaced.split_whitespace() {
            match word {
                "(" if open.len() > MAX_DEPTH => return None,
                "(" => open.push(Vec::new()),
                ")" => {
                    let mut parts = open.pop().filter(|parts| !parts.is_empty())?;
                    let args = parts.split_off(1);
                    let name = parts.pop().filter(|first| first.args.is_empty())?.name;
                    open.last_mut()?.push(Term { name, args });
                }
                name => open.last_mut()?.push(Term {
                    name: name.to_owned(),
                    args: Vec::new(),
                }),
            }
        }
        let [only] = &mut open[..] else { return None };
        if only.len() == 1 { only.pop() } else { None }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.args.is_empty() {
            return f.write_str(&self.name);
        }
        write!(f, "({}", self.name)?;
        for arg in &self.args {
            write!(f, " {arg}")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let read = Term::read(text).map(|term| term.to_string());
        assert_eq!(read.as_deref(), expected, "{text}");
    }

    #[test]
    fn terms_are_read_and_written() {
        check("noop", Some("noop"));
        check("( cell 1(at b 2) x)", Some("(cell 1 (at b 2) x)"));
    }

    #[test]
    fn invalid_terms_are_refused() {
        for text in ["", "(", ")", "a b", "()", "((a) b", "(a))"] {
            check(text, None);
        }
        let deep = format!("{}a{}", "(s ".repeat(60), ")".repeat(60));
        check(&deep, None);
    }
}
