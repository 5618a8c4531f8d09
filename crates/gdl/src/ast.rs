//! A rulesheet as written: rules, literals and terms, each with its span.
//!
//! Only the structure is guaranteed: a [`Description`] may be unsafe, misspelt or not a game. [`crate::check`] turns it
//! into [`crate::Rules`], which guarantee more.

use std::sync::Arc;

use crate::diagnostic::Diagnostics;
use crate::read::Syntax;
use crate::source::{Source, Span};
use crate::symbol::{SymbolId, SymbolTable};

/// All rules of a rulesheet in order, and the findings of the reader.
#[derive(Debug)]
pub struct Description {
    /// The text.
    pub source: Arc<Source>,
    /// Its names.
    pub symbols: SymbolTable,
    /// The syntax of the file.
    pub syntax: Syntax,
    /// Facts and rules; broken ones are left out.
    pub rules: Vec<Rule>,
    /// Findings of the reader. If there are errors, some rules are missing above.
    pub findings: Diagnostics,
}

/// A fact or a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The conclusion of the rule.
    pub head: Atom,
    /// The conditions, all of which must hold.
    pub body: Vec<Literal>,
    /// The whole rule.
    pub span: Span,
    /// Whether it is written with an arrow. `(<= p)` is, and has no body.
    pub has_arrow: bool,
}

/// A condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Literal {
    /// `(p t…)` or `p`.
    Atom(Atom),
    /// `(not l)`.
    Not(Box<Literal>, Span),
    /// `(and l…)`.
    And(Vec<Literal>, Span),
    /// `(or l…)`.
    Or(Vec<Literal>, Span),
    /// `(distinct t t)`.
    Distinct(Term, Term, Span),
}

impl Literal {
    /// The span of the literal.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Literal::Atom(atom) => atom.span,
            Literal::Not(_, span)
            | Literal::And(_, span)
            | Literal::Or(_, span)
            | Literal::Distinct(_, _, span) => *span,
        }
    }
}

/// A relation with its arguments; without arguments, a proposition (`p` and `(p)` are the same).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Atom {
    /// The relation's name.
    pub name: SymbolId,
    /// Its arguments.
    pub args: Box<[Term]>,
    /// The span of the atom.
    pub span: Span,
}

/// An argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// `?x`.
    Variable(SymbolId, Span),
    /// `a`.
    Constant(SymbolId, Span),
    /// `(f t…)`; `(f)` is not the same as `f`.
    Compound(SymbolId, Box<[Term]>, Span),
}

impl Term {
    /// The span of the term.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Term::Variable(_, span) | Term::Constant(_, span) | Term::Compound(_, _, span) => *span,
        }
    }

    /// Calls `visit` for each variable in the term, from left to right.
    pub fn for_each_variable(&self, visit: &mut impl FnMut(SymbolId, Span)) {
        match self {
            Term::Variable(name, span) => visit(*name, *span),
            Term::Constant(..) => {}
            Term::Compound(_, args, _) => args.iter().for_each(|arg| arg.for_each_variable(visit)),
        }
    }
}

impl Atom {
    /// Calls `visit` for each variable in the atom, from left to right.
    pub fn for_each_variable(&self, visit: &mut impl FnMut(SymbolId, Span)) {
        self.args
            .iter()
            .for_each(|arg| arg.for_each_variable(visit));
    }
}

impl Literal {
    /// Calls `visit` for each atom in the literal, with whether it is under an odd number of `not`.
    pub fn for_each_atom<'a>(&'a self, visit: &mut impl FnMut(&'a Atom, bool)) {
        self.visit_atoms(false, visit);
    }

    fn visit_atoms<'a>(&'a self, negated: bool, visit: &mut impl FnMut(&'a Atom, bool)) {
        match self {
            Literal::Atom(atom) => visit(atom, negated),
            Literal::Not(inner, _) => inner.visit_atoms(!negated, visit),
            Literal::And(members, _) | Literal::Or(members, _) => {
                members
                    .iter()
                    .for_each(|member| member.visit_atoms(negated, visit));
            }
            Literal::Distinct(..) => {}
        }
    }

    /// Calls `visit` for each term in the literal that is an argument of an atom or of `distinct`.
    pub fn for_each_term<'a>(&'a self, visit: &mut impl FnMut(&'a Term)) {
        match self {
            Literal::Atom(atom) => atom.args.iter().for_each(visit),
            Literal::Not(inner, _) => inner.for_each_term(visit),
            Literal::And(members, _) | Literal::Or(members, _) => {
                members
                    .iter()
                    .for_each(|member| member.for_each_term(visit));
            }
            Literal::Distinct(left, right, _) => {
                visit(left);
                visit(right);
            }
        }
    }
}
