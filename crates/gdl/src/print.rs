//! Printing: rules → text, in either syntax.
//!
//! Reading the text again gives the same rules. Some prefix names are not valid in infix, so they are quoted there
//! (`'++'`), and variables are capitalised (`?x` → `X`).

use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::read::{Syntax, detect, is_blank};
use crate::rules::{Atom, Literal, Rule, Rules, Term};
use crate::symbol::{SymbolId, SymbolTable};

/// The whole description, with groups of rules separated by blank lines.
pub(crate) fn rules(rules: &Rules, syntax: Syntax) -> String {
    let mut printer = Printer {
        symbols: &rules.symbols,
        rules: Some(rules),
        syntax,
        names: Vec::new(),
        out: String::new(),
    };
    for rule in &rules.rules {
        printer.rule(rule);
        printer.out.push('\n');
    }
    printer.out
}

/// One rule with one literal per line.
#[must_use]
pub fn rule(rules: &Rules, rule: &Rule, syntax: Syntax) -> String {
    let mut printer = Printer {
        symbols: &rules.symbols,
        rules: Some(rules),
        syntax,
        names: Vec::new(),
        out: String::new(),
    };
    printer.rule(rule);
    printer.out
}

/// A term whose variables are named by `variables`.
#[must_use]
pub fn term(term: &Term, symbols: &SymbolTable, variables: &[SymbolId], syntax: Syntax) -> String {
    let mut printer = Printer {
        symbols,
        rules: None,
        syntax,
        names: Vec::new(),
        out: String::new(),
    };
    printer.name_variables(variables);
    printer.term(term);
    printer.out
}

/// A name or variable as it is written in a syntax.
#[must_use]
pub fn spell(name: &str, syntax: Syntax) -> String {
    match syntax {
        Syntax::Prefix => name.to_owned(),
        Syntax::Infix if name.starts_with('?') => infix_variable(name),
        Syntax::Infix if is_plain(name) => name.to_owned(),
        Syntax::Infix => format!("'{}'", name.replace('\'', "''")),
    }
}

struct Printer<'a> {
    symbols: &'a SymbolTable,
    rules: Option<&'a Rules>,
    syntax: Syntax,
    /// The printed names of the variables of the current rule.
    names: Vec<String>,
    out: String,
}

impl Printer<'_> {
    fn rule(&mut self, rule: &Rule) {
        self.name_variables(&rule.variables);
        if rule.body.is_empty() {
            self.fact(&rule.head);
            if self.syntax == Syntax::Infix {
                self.out.push('.');
            }
            return;
        }
        match self.syntax {
            Syntax::Prefix => {
                self.out.push_str("(<= ");
                self.atom(&rule.head);
                for literal in &rule.body {
                    self.out.push_str("\n    ");
                    self.literal(literal);
                }
                self.out.push(')');
            }
            Syntax::Infix => {
                self.atom(&rule.head);
                self.out.push_str(" :-");
                for (idx, literal) in rule.body.iter().enumerate() {
                    self.out
                        .push_str(if idx == 0 { "\n    " } else { ",\n    " });
                    self.literal(literal);
                }
                self.out.push('.');
            }
        }
    }

    /// A proposition whose name looks like infix needs brackets, because it may be the first word of the file.
    fn fact(&mut self, head: &Atom) {
        let start = self.out.len();
        self.atom(head);
        let is_bare = self.syntax == Syntax::Prefix && head.args.is_empty();
        if is_bare && detect(&self.out[start..]) == Syntax::Infix {
            self.out.insert(start, '(');
            self.out.push(')');
        }
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Positive(atom) => self.atom(atom),
            Literal::Negative(atom) => self.negation(|printer| printer.atom(atom)),
            Literal::Distinct(left, right) => self.apply("distinct", &[left, right]),
            Literal::Equal(left, right) => {
                self.negation(|printer| printer.apply("distinct", &[left, right]));
            }
            Literal::Or(alternatives) => self.disjunction(alternatives),
        }
    }

    fn negation(&mut self, inner: impl FnOnce(&mut Self)) {
        match self.syntax {
            Syntax::Prefix => {
                self.out.push_str("(not ");
                inner(self);
                self.out.push(')');
            }
            Syntax::Infix => {
                self.out.push('~');
                inner(self);
            }
        }
    }

    fn disjunction(&mut self, alternatives: &[Vec<Literal>]) {
        // Infix has no notation for an empty `or`.
        if self.syntax == Syntax::Prefix || alternatives.is_empty() {
            self.open("or");
            for conjunction in alternatives {
                self.out.push(' ');
                self.conjunction(conjunction);
            }
        } else {
            self.out.push('(');
            for (idx, conjunction) in alternatives.iter().enumerate() {
                self.out.push_str(if idx > 0 { " | " } else { "" });
                self.conjunction(conjunction);
            }
        }
        self.out.push(')');
    }

    fn conjunction(&mut self, literals: &[Literal]) {
        match (literals, self.syntax) {
            ([only], _) => self.literal(only),
            ([], Syntax::Infix) => self.out.push_str("and()"),
            (_, Syntax::Infix) => {
                for (idx, literal) in literals.iter().enumerate() {
                    self.out.push_str(if idx > 0 { " & " } else { "" });
                    self.literal(literal);
                }
            }
            (_, Syntax::Prefix) => {
                self.open("and");
                for literal in literals {
                    self.out.push(' ');
                    self.literal(literal);
                }
                self.out.push(')');
            }
        }
    }

    fn atom(&mut self, atom: &Atom) {
        let name = self
            .rules
            .map_or("", |rules| rules.relation_name(atom.relation))
            .to_owned();
        if atom.args.is_empty() {
            self.name(&name);
        } else {
            let args: Vec<&Term> = atom.args.iter().collect();
            self.apply(&name, &args);
        }
    }

    fn apply(&mut self, name: &str, args: &[&Term]) {
        self.open(name);
        for (idx, arg) in args.iter().enumerate() {
            self.separate(idx + 1);
            self.term(arg);
        }
        self.out.push(')');
    }

    fn term(&mut self, term: &Term) {
        match term {
            Term::Variable(variable) => {
                let name = self.names[variable.0 as usize].clone();
                self.out.push_str(&name);
            }
            Term::Constant(name) => {
                let name = self.symbols.name(*name).to_owned();
                self.name(&name);
            }
            Term::Compound(name, args) => {
                let name = self.symbols.name(*name).to_owned();
                self.apply(&name, &args.iter().collect::<Vec<_>>());
            }
        }
    }

    fn open(&mut self, name: &str) {
        match self.syntax {
            Syntax::Prefix => {
                self.out.push('(');
                self.out.push_str(name);
            }
            Syntax::Infix => {
                // A file is recognised as infix by its first word: a name of letters or in quotes directly before a
                // bracket.
                if name.starts_with(|c: char| c.is_ascii_lowercase()) {
                    self.name(name);
                } else {
                    self.quoted(name);
                }
                self.out.push('(');
            }
        }
    }

    /// Writes what comes before argument number `n`, from 1.
    fn separate(&mut self, n: usize) {
        match self.syntax {
            Syntax::Prefix => self.out.push(' '),
            Syntax::Infix if n > 1 => self.out.push_str(", "),
            Syntax::Infix => {}
        }
    }

    fn name(&mut self, name: &str) {
        if self.syntax == Syntax::Infix && !is_plain(name) {
            self.quoted(name);
        } else {
            self.out.push_str(name);
        }
    }

    fn quoted(&mut self, name: &str) {
        let _ = write!(self.out, "'{}'", name.replace('\'', "''"));
    }

    fn name_variables(&mut self, variables: &[SymbolId]) {
        let names = variables
            .iter()
            .map(|&variable| self.symbols.name(variable));
        self.names = match self.syntax {
            Syntax::Prefix => names.map(str::to_owned).collect(),
            Syntax::Infix => unique(names.map(infix_variable)),
        };
    }
}

/// Whether infix can read the name without quotes. Operator words, and names that look like variables or contain signs,
/// are not plain.
pub(crate) fn is_plain(name: &str) -> bool {
    let is_body = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-' | '*' | '/' | '<' | '>' | '=')
    };
    let is_start = |c: char| is_body(c) && !c.is_ascii_uppercase() && c != '_';
    name != "not" && name.starts_with(is_start) && name.chars().all(is_body)
}

/// The names in order; duplicates get a number appended.
fn unique(wanted: impl Iterator<Item = String>) -> Vec<String> {
    let mut taken: FxHashMap<String, u32> = FxHashMap::default();
    let mut names = Vec::new();
    for name in wanted {
        let mut n = taken.get(&name).copied().unwrap_or(0);
        let mut unique = name.clone();
        while taken.contains_key(&unique) {
            n += 1;
            unique = format!("{name}_{}", n + 1);
        }
        taken.insert(name, n);
        taken.entry(unique.clone()).or_insert(0);
        names.push(unique);
    }
    names
}

/// `?x` → `X`.
fn infix_variable(name: &str) -> String {
    let bare = name.trim_start_matches('?');
    let is_sign = |c: char| !c.is_alphanumeric() && c != '_';
    if bare.is_empty() || bare == "_" || bare.contains(|c: char| is_sign(c) || is_blank(c)) {
        return "V".to_owned();
    }
    let mut chars = bare.chars();
    match chars.next() {
        Some(first) if first.is_ascii_alphabetic() => {
            first.to_ascii_uppercase().to_string() + chars.as_str()
        }
        Some('_') => bare.to_owned(),
        _ => format!("_{bare}"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::{Limits, Syntax, parse};

    const FRAME: &str = "(role a) (legal a go) (goal a 100) terminal\n";

    /// Prints the rules of a snippet in infix form; a property test checks that reading them again gives the same
    /// rules.
    fn check(snippet: &str, expected: Expect) {
        let description = parse(format!("{FRAME}{snippet}").as_bytes(), &Limits::default());
        let rules = crate::check(&description).expect("the snippet is well-formed");
        let texts = rules.rules[4..]
            .iter()
            .map(|rule| super::rule(&rules, rule, Syntax::Infix) + "\n");
        expected.assert_eq(&texts.collect::<String>());
    }

    #[test]
    fn facts_and_rules() {
        check(
            "(p a (f b)) (<= (q ?x) (p ?x ?y) (not (r ?y)) (distinct ?x ?y))",
            expect![[r#"
            p(a, f(b)).
            q(X) :-
                p(X, Y),
                ~r(Y),
                distinct(X, Y).
        "#]],
        );
    }

    #[test]
    fn disjunctions_and_conjunctions() {
        check(
            "(<= p (or q (and r (not s)) (or)) (or) (or (and) t))",
            expect![[r#"
            p :-
                (q | r & ~s),
                or(),
                (and() | t).
        "#]],
        );
    }

    #[test]
    fn names_that_are_not_plain_are_quoted() {
        check(
            "(p ++ Upper _x it's é 50.5 and 1 (G b))",
            expect![[r#"
            p(++, 'Upper', '_x', 'it''s', 'é', '50.5', and, 1, 'G'(b)).
        "#]],
        );
    }

    #[test]
    fn variables_are_capitalised_and_stay_different() {
        check(
            "(<= (p ?x ?X ?_y ? ?1 ?a+b ?a-b) (q ?x ?X ?_y ? ?1 ?a+b ?a-b))",
            expect![[r#"
                p(X, X_2, _y, V, _1, V_2, V_3) :-
                    q(X, X_2, _y, V, _1, V_2, V_3).
            "#]],
        );
    }

    #[test]
    fn keywords_keep_the_spelling_of_the_sheet() {
        check(
            "(<= (NEXT (x ?y)) (TRUE (x ?y)))",
            expect![[r#"
            'NEXT'(x(Y)) :-
                'TRUE'(x(Y)).
        "#]],
        );
    }
}
