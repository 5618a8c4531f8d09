//! Checked rules: the input of every later stage.
//!
//! [`Rules`] are made only by [`crate::check`] and guarantee: keywords have their arity and position; every variable of
//! a head, a negation or a `distinct` is bound by a positive literal; `init` does not depend on the state, nor `legal`,
//! `goal` or `terminal` on the moves; there is at least one role, and a rule for each of `legal`, `goal` and
//! `terminal`. Stratification is not fully guaranteed: some real sheets are stratified only after grounding, so the
//! grounder decides.
//!
//! The form is small: a body is a list of literals, negation applies only to atoms, variables are numbered per rule,
//! and `or` is a list of alternatives. A relation is a name with an arity; the same name with another arity is another
//! relation, as in real sheets.

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::Diagnostics;
use crate::print;
use crate::read::Syntax;
use crate::source::{Source, Span};
use crate::symbol::{Keyword, SymbolId, SymbolTable};

/// A relation of [`Rules`]: a name with an arity. The keyword relations have fixed ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RelationId(pub u32);

impl RelationId {
    /// `role`
    pub const ROLE: RelationId = RelationId(Keyword::Role as u32);
    /// `init`
    pub const INIT: RelationId = RelationId(Keyword::Init as u32);
    /// `true`
    pub const TRUE: RelationId = RelationId(Keyword::True as u32);
    /// `next`
    pub const NEXT: RelationId = RelationId(Keyword::Next as u32);
    /// `legal`
    pub const LEGAL: RelationId = RelationId(Keyword::Legal as u32);
    /// `does`
    pub const DOES: RelationId = RelationId(Keyword::Does as u32);
    /// `goal`
    pub const GOAL: RelationId = RelationId(Keyword::Goal as u32);
    /// `terminal`
    pub const TERMINAL: RelationId = RelationId(Keyword::Terminal as u32);
    /// `base`
    pub const BASE: RelationId = RelationId(Keyword::Base as u32);
    /// `input`
    pub const INPUT: RelationId = RelationId(Keyword::Input as u32);
    /// `sees`
    pub const SEES: RelationId = RelationId(Keyword::Sees as u32);
    /// Number of keyword relations; larger ids are relations of the sheet.
    pub const N_KEYWORDS: u32 = 11;

    /// The keyword, if it is one.
    #[must_use]
    pub fn keyword(self) -> Option<Keyword> {
        Keyword::of(SymbolId(self.0)).filter(|_| self.0 < RelationId::N_KEYWORDS)
    }
}

/// A name with an arity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Relation {
    /// The name.
    pub name: SymbolId,
    /// Number of arguments.
    pub arity: u32,
}

/// A variable of one rule: an index into [`Rule::variables`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VariableId(pub u32);

/// An argument.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Term {
    /// A variable of the rule.
    Variable(VariableId),
    /// A name.
    Constant(SymbolId),
    /// A function applied to terms; without arguments it still differs from the constant of the same name.
    Compound(SymbolId, Box<[Term]>),
}

impl Term {
    /// Whether it contains no variable.
    #[must_use]
    pub fn is_ground(&self) -> bool {
        match self {
            Term::Variable(_) => false,
            Term::Constant(_) => true,
            Term::Compound(_, args) => args.iter().all(Term::is_ground),
        }
    }

    /// Calls `visit` for each variable in the term, from left to right.
    pub fn for_each_variable(&self, visit: &mut impl FnMut(VariableId)) {
        match self {
            Term::Variable(variable) => visit(*variable),
            Term::Constant(_) => {}
            Term::Compound(_, args) => args.iter().for_each(|arg| arg.for_each_variable(visit)),
        }
    }
}

/// A relation with its arguments.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Atom {
    /// The relation.
    pub relation: RelationId,
    /// The arguments; their number is the arity of the relation.
    pub args: Box<[Term]>,
}

/// A condition in a body.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Literal {
    /// The atom holds.
    Positive(Atom),
    /// The atom does not hold; its variables are bound elsewhere in the body.
    Negative(Atom),
    /// The terms differ; their variables are bound elsewhere in the body.
    Distinct(Term, Term),
    /// The terms are equal, from `(not (distinct a b))`; one side may bind variables of the other.
    Equal(Term, Term),
    /// At least one of the conjunctions holds. Without any, it is false.
    Or(Vec<Vec<Literal>>),
}

/// A rule, or a fact if its body is empty.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The conclusion of the rule.
    pub head: Atom,
    /// The conditions, all of which must hold, in the order written.
    pub body: Box<[Literal]>,
    /// The names of the variables, numbered by first occurrence starting with the head.
    pub variables: Box<[SymbolId]>,
    /// Its place in the source.
    pub span: Span,
}

/// A checked game description; see the module documentation for what it guarantees.
pub struct Rules {
    /// The text of the sheet.
    pub source: Arc<Source>,
    /// The syntax of the sheet.
    pub syntax: Syntax,
    /// All names.
    pub symbols: SymbolTable,
    /// All relations; index with [`RelationId`].
    pub relations: Vec<Relation>,
    /// The roles in order: ground terms without duplicates.
    pub roles: Vec<Term>,
    /// Facts and rules in the order written, including the `role` facts.
    pub rules: Vec<Rule>,
    pub(crate) is_gdl2: bool,
    /// The index of the role that chance plays.
    pub(crate) random_role: Option<usize>,
    /// Findings that do not prevent the game from being played.
    pub warnings: Diagnostics,
}

/// The name of the role that chance plays in GDL-II, in any case.
pub const RANDOM: &str = "random";

impl Rules {
    /// Whether it is a game of GDL-II: the sheet defines `sees`, so that roles know only what they see.
    #[must_use]
    pub fn is_gdl2(&self) -> bool {
        self.is_gdl2
    }

    /// The index of the role that chance plays: the role called `random` of a GDL-II sheet. In a sheet without `sees` a
    /// role of that name is played like any other.
    #[must_use]
    pub fn random_role(&self) -> Option<usize> {
        self.random_role
    }

    /// The name and arity of a relation.
    #[must_use]
    pub fn relation(&self, relation: RelationId) -> Relation {
        self.relations[relation.0 as usize]
    }

    /// The name of a relation as spelled in the sheet.
    #[must_use]
    pub fn relation_name(&self, relation: RelationId) -> &str {
        self.symbols.name(self.relation(relation).name)
    }

    /// The relation with this name and arity.
    #[must_use]
    pub fn find_relation(&self, name: &str, arity: usize) -> Option<RelationId> {
        let name = self.symbols.get(name)?;
        let wanted = Relation {
            name,
            arity: arity as u32,
        };
        self.relations
            .iter()
            .position(|&relation| relation == wanted)
            .map(|idx| RelationId(idx as u32))
    }

    /// Line of a rule in the source, from 1.
    #[must_use]
    pub fn line(&self, rule: &Rule) -> u32 {
        self.source.line(rule.span.start)
    }

    /// A ground term in prefix form.
    #[must_use]
    pub fn term_text(&self, term: &Term) -> String {
        print::term(term, &self.symbols, &[], Syntax::Prefix)
    }

    /// The whole description in the given syntax; reading it again gives the same rules.
    #[must_use]
    pub fn to_text(&self, syntax: Syntax) -> String {
        print::rules(self, syntax)
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(Syntax::Prefix))
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Rules({} rules, {} relations, {} roles)",
            self.rules.len(),
            self.relations.len(),
            self.roles.len()
        )
    }
}
