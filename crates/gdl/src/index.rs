//! What every name of a rulesheet is, where it stands and what it means: the questions that editors ask.
//!
//! In: a description, which may have errors. Out: an [`Index`] with every occurrence of every name: of relations, of
//! terms (fluents, moves, roles, functions, constants) and of variables. [`Index::at`] finds the occurrence at an offset,
//! [`Index::same`] all occurrences of the same name; [`about`](crate::about) says in words what is known about it. Rules that
//! cannot be read have no occurrences.
//!
//! A relation is a name with an arity. Among terms a name is one thing, whatever its arity is. A variable belongs to its
//! rule.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Atom, Description, Literal, Rule, Term};
use crate::source::Span;
use crate::symbol::{Keyword, SymbolId};
use crate::words::name_in;

/// What a name is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NameKind {
    /// A relation that the language gives a meaning: `role`, `true` and so on.
    Keyword,
    /// A relation of the sheet.
    Relation,
    /// A part of the state: the argument of `true`, `next`, `init` and `base`.
    Fluent,
    /// A move: the second argument of `legal`, `does` and `input`.
    Move,
    /// A role.
    Role,
    /// Any other function.
    Function,
    /// Any other constant.
    Constant,
    /// A variable of a rule.
    Variable,
}

impl NameKind {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            NameKind::Keyword => "keyword",
            NameKind::Relation => "relation",
            NameKind::Fluent => "fluent",
            NameKind::Move => "move",
            NameKind::Role => "role",
            NameKind::Function => "function",
            NameKind::Constant => "constant",
            NameKind::Variable => "variable",
        }
    }
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the truth of a relation depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Change {
    /// On nothing: it holds in every state or in none.
    Static,
    /// On the state.
    State,
    /// On the moves of the step.
    Moves,
}

/// An argument place: of a relation or of a term, counted from 0. Keywords with the same kind of argument share it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot {
    name: SymbolId,
    is_term: bool,
    idx: u32,
}

impl Slot {
    /// An argument of a relation.
    #[must_use]
    pub fn of_relation(name: SymbolId, idx: usize) -> Slot {
        let (keyword, idx) = match Keyword::of(name) {
            Some(Keyword::True | Keyword::Next | Keyword::Init | Keyword::Base) => {
                (Some(Keyword::True), idx)
            }
            Some(Keyword::Legal | Keyword::Does | Keyword::Input) => (Some(Keyword::Does), idx),
            Some(Keyword::Role) => (Some(Keyword::Does), idx),
            Some(Keyword::Goal | Keyword::Sees) if idx == 0 => (Some(Keyword::Does), idx),
            keyword => (keyword, idx),
        };
        Slot {
            name: keyword.map_or(name, Keyword::symbol),
            is_term: false,
            idx: idx as u32,
        }
    }

    /// An argument of a function.
    #[must_use]
    pub fn of_term(name: SymbolId, idx: usize) -> Slot {
        Slot {
            name,
            is_term: true,
            idx: idx as u32,
        }
    }

    fn kind(self) -> Option<NameKind> {
        match (Keyword::of(self.name), self.is_term, self.idx) {
            (Some(Keyword::True), false, 0) => Some(NameKind::Fluent),
            (Some(Keyword::Does), false, 0) => Some(NameKind::Role),
            (Some(Keyword::Does), false, 1) => Some(NameKind::Move),
            _ => None,
        }
    }
}

/// A name where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occurrence {
    /// The name itself, without brackets and arguments.
    pub span: Span,
    /// Its spelling.
    pub symbol: SymbolId,
    /// What it is here.
    pub kind: NameKind,
    /// Number of arguments here.
    pub arity: u32,
    /// The rule: an index into the rules of the description.
    pub rule: u32,
    /// Whether this place says what holds: a head, or a fluent or move in a head.
    pub is_definition: bool,
}

/// All occurrences of all names.
pub struct Index {
    occurrences: Vec<Occurrence>,
    /// Span and head of each rule.
    rules: Vec<(Span, Span)>,
    changes: FxHashMap<(SymbolId, u32), Change>,
    values: FxHashMap<Slot, Vec<(SymbolId, u32)>>,
    terms: FxHashMap<SymbolId, NameKind>,
}

impl Index {
    /// Indexes a description.
    ///
    /// ```
    /// use agon_gdl::index::{Index, NameKind};
    ///
    /// let description = agon_gdl::parse(b"(role x) (<= (p ?a) (true (cell ?a 1)))", &Default::default());
    /// let index = Index::new(&description);
    /// let cell = index.at(28).unwrap();
    /// assert_eq!((cell.kind, cell.arity), (NameKind::Fluent, 2));
    /// ```
    #[must_use]
    pub fn new(description: &Description) -> Index {
        let mut builder = Builder {
            description,
            occurrences: Vec::new(),
            values: FxHashMap::default(),
            seen: FxHashSet::default(),
            rule: 0,
        };
        for (idx, rule) in description.rules.iter().enumerate() {
            builder.rule = idx as u32;
            builder.atom(&rule.head, true);
            rule.body
                .iter()
                .for_each(|literal| builder.literal(literal));
        }
        let Builder {
            mut occurrences,
            values,
            ..
        } = builder;
        occurrences.sort_by_key(|occurrence| occurrence.span);
        let terms = term_kinds(&occurrences);
        for occurrence in &mut occurrences {
            if is_term(occurrence.kind) {
                occurrence.kind = terms[&occurrence.symbol];
            }
        }
        let rules = description.rules.iter();
        Index {
            occurrences,
            rules: rules.map(|rule| (rule.span, rule.head.span)).collect(),
            changes: changes(&description.rules),
            values,
            terms,
        }
    }

    /// All occurrences, in order.
    #[must_use]
    pub fn occurrences(&self) -> &[Occurrence] {
        &self.occurrences
    }

    /// The name at an offset, also directly behind its last letter.
    #[must_use]
    pub fn at(&self, offset: u32) -> Option<&Occurrence> {
        let n_before = self
            .occurrences
            .partition_point(|occurrence| occurrence.span.start <= offset);
        let last = self.occurrences[..n_before].last()?;
        (offset <= last.span.end).then_some(last)
    }

    /// All occurrences of the same name, in order.
    pub fn same<'a>(&'a self, name: &Occurrence) -> impl Iterator<Item = &'a Occurrence> {
        let name = *name;
        self.occurrences.iter().filter(move |other| {
            other.symbol == name.symbol
                && match name.kind {
                    NameKind::Variable => other.rule == name.rule,
                    NameKind::Relation => {
                        other.kind == NameKind::Relation && other.arity == name.arity
                    }
                    NameKind::Keyword => other.kind == NameKind::Keyword,
                    _ => is_term(other.kind),
                }
        })
    }

    /// The places that define a name: heads of rules for relations, `init` and `next` for fluents, `legal` for moves,
    /// `role` for roles, and the first occurrence for everything else.
    #[must_use]
    pub fn definitions(&self, name: &Occurrence) -> Vec<Span> {
        let same: Vec<&Occurrence> = self.same(name).collect();
        let definitions = same.iter().filter(|occurrence| occurrence.is_definition);
        let definitions: Vec<Span> = definitions.map(|occurrence| occurrence.span).collect();
        match (definitions.is_empty(), name.kind) {
            (true, NameKind::Relation | NameKind::Keyword) => definitions,
            (true, _) => same.iter().take(1).map(|first| first.span).collect(),
            (false, _) => definitions,
        }
    }

    /// The whole rule and the head of it.
    #[must_use]
    pub fn rule_spans(&self, rule: u32) -> (Span, Span) {
        self.rules[rule as usize]
    }

    /// Names and arities that occur at an argument place, in order of appearance; a constant has arity 0.
    #[must_use]
    pub fn values(&self, slot: Slot) -> &[(SymbolId, u32)] {
        self.values.get(&slot).map_or(&[], Vec::as_slice)
    }

    /// What a name is among terms.
    #[must_use]
    pub fn term_kind(&self, symbol: SymbolId) -> Option<NameKind> {
        self.terms.get(&symbol).copied()
    }

    /// What a relation depends on.
    #[must_use]
    pub fn change(&self, name: SymbolId, arity: u32) -> Option<Change> {
        self.changes.get(&(name, arity)).copied()
    }
}

fn is_term(kind: NameKind) -> bool {
    !matches!(
        kind,
        NameKind::Keyword | NameKind::Relation | NameKind::Variable
    )
}

/// What each name is among terms: the most telling of its places decides.
fn term_kinds(occurrences: &[Occurrence]) -> FxHashMap<SymbolId, NameKind> {
    let mut kinds: FxHashMap<SymbolId, NameKind> = FxHashMap::default();
    for occurrence in occurrences.iter().filter(|name| is_term(name.kind)) {
        let kind = kinds.entry(occurrence.symbol).or_insert(occurrence.kind);
        *kind = (*kind).min(occurrence.kind);
    }
    kinds
}

/// What every relation depends on, through all others.
fn changes(rules: &[Rule]) -> FxHashMap<(SymbolId, u32), Change> {
    let key = |atom: &Atom| (atom.name, atom.args.len() as u32);
    let mut changes: FxHashMap<(SymbolId, u32), Change> = FxHashMap::default();
    let mut users: FxHashMap<(SymbolId, u32), Vec<(SymbolId, u32)>> = FxHashMap::default();
    let mut queue = Vec::new();
    for rule in rules {
        let head = key(&rule.head);
        changes.entry(head).or_insert(Change::Static);
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, _| users.entry(key(atom)).or_default().push(head));
        }
    }
    for (keyword, change) in [
        (Keyword::True, Change::State),
        (Keyword::Does, Change::Moves),
    ] {
        let arity = keyword.arity().unwrap_or(0) as u32;
        changes.insert((keyword.symbol(), arity), change);
        queue.push((keyword.symbol(), arity));
    }
    while let Some(changed) = queue.pop() {
        let change = changes[&changed];
        for &user in users.get(&changed).map_or(&[][..], Vec::as_slice) {
            let known = changes.entry(user).or_insert(Change::Static);
            if *known < change {
                *known = change;
                queue.push(user);
            }
        }
    }
    changes
}

struct Builder<'a> {
    description: &'a Description,
    occurrences: Vec<Occurrence>,
    values: FxHashMap<Slot, Vec<(SymbolId, u32)>>,
    seen: FxHashSet<(Slot, SymbolId, u32)>,
    rule: u32,
}

impl Builder<'_> {
    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Atom(atom) => self.atom(atom, false),
            Literal::Not(inner, _) => self.literal(inner),
            Literal::And(members, _) | Literal::Or(members, _) => {
                members.iter().for_each(|member| self.literal(member));
            }
            Literal::Distinct(left, right, _) => {
                for (idx, term) in [left, right].into_iter().enumerate() {
                    let slot = Slot::of_relation(Keyword::Distinct.symbol(), idx);
                    self.term(term, slot, false);
                }
            }
        }
    }

    fn atom(&mut self, atom: &Atom, is_head: bool) {
        let arity = atom.args.len();
        let keyword = Keyword::of(atom.name).filter(|keyword| keyword.arity() == Some(arity));
        let kind = match keyword {
            Some(_) => NameKind::Keyword,
            None => NameKind::Relation,
        };
        self.push(atom.name, arity, atom.span, kind, is_head);
        for (idx, arg) in atom.args.iter().enumerate() {
            let slot = match keyword {
                None if Keyword::of(atom.name).is_some() => Slot::of_term(atom.name, idx),
                _ => Slot::of_relation(atom.name, idx),
            };
            let defines = match keyword {
                Some(Keyword::Init | Keyword::Next | Keyword::Role) => idx == 0,
                Some(Keyword::Legal) => idx == 1,
                _ => false,
            };
            self.term(arg, slot, is_head && defines);
        }
    }

    fn term(&mut self, term: &Term, slot: Slot, is_definition: bool) {
        let (name, args): (SymbolId, &[Term]) = match term {
            Term::Variable(name, span) => {
                self.push(*name, 0, *span, NameKind::Variable, false);
                return;
            }
            Term::Constant(name, _) => (*name, &[]),
            Term::Compound(name, args, _) => (*name, args),
        };
        let kind = slot.kind().unwrap_or(match term {
            Term::Compound(..) => NameKind::Function,
            _ => NameKind::Constant,
        });
        self.push(name, args.len(), term.span(), kind, is_definition);
        if self.seen.insert((slot, name, args.len() as u32)) {
            let values = self.values.entry(slot).or_default();
            values.push((name, args.len() as u32));
        }
        for (idx, arg) in args.iter().enumerate() {
            self.term(arg, Slot::of_term(name, idx), false);
        }
    }

    fn push(
        &mut self,
        symbol: SymbolId,
        arity: usize,
        span: Span,
        kind: NameKind,
        is_definition: bool,
    ) {
        let span = name_in(&self.description.source, self.description.syntax, span);
        self.occurrences.push(Occurrence {
            span,
            symbol,
            kind,
            arity: arity as u32,
            rule: self.rule,
            is_definition,
        });
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::parse;

    fn check(sheet: &str, expected: Expect) {
        let description = parse(sheet.as_bytes(), &Default::default());
        let index = Index::new(&description);
        let mut out = String::new();
        let mut told = FxHashSet::default();
        for name in index.occurrences() {
            if !told.insert((name.symbol, name.kind, name.arity)) {
                continue;
            }
            let n_defining = index.same(name).filter(|name| name.is_definition).count();
            let line = format!(
                "{} {:?}/{}: {} definitions, {} others, {:?}\n",
                description.symbols.name(name.symbol),
                name.kind,
                name.arity,
                index.definitions(name).len(),
                index.same(name).count() - n_defining,
                index.change(name.symbol, name.arity),
            );
            out.push_str(&line);
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn every_name_is_told() {
        check(
            "(role white) (init (cell 1 b)) (<= (legal white (mark ?x)) (free ?x)) (<= (free ?x) (true (cell ?x b)) (row ?x)) (row 1)
             (<= (next (cell ?x white)) (does white (mark ?x))) (<= (moved ?r) (does ?r (mark 1)) (not (odd ?r)))",
            expect![[r#"
                role Keyword/1: 1 definitions, 0 others, Some(Static)
                white Role/0: 1 definitions, 3 others, None
                init Keyword/1: 1 definitions, 0 others, Some(Static)
                cell Fluent/2: 2 definitions, 1 others, None
                1 Constant/0: 1 definitions, 3 others, None
                b Constant/0: 1 definitions, 2 others, None
                legal Keyword/2: 1 definitions, 0 others, Some(State)
                mark Move/1: 1 definitions, 2 others, None
                ?x Variable/0: 1 definitions, 2 others, None
                free Relation/1: 1 definitions, 1 others, Some(State)
                true Keyword/1: 0 definitions, 1 others, Some(State)
                row Relation/1: 1 definitions, 1 others, Some(Static)
                next Keyword/1: 1 definitions, 0 others, Some(Moves)
                does Keyword/2: 0 definitions, 2 others, Some(Moves)
                moved Relation/1: 1 definitions, 0 others, Some(Moves)
                ?r Variable/0: 1 definitions, 3 others, None
                odd Relation/1: 0 definitions, 1 others, None
            "#]],
        );
    }

    #[test]
    fn names_of_infix_text_are_found_where_they_stand() {
        let text = "role(white).\nlegal(R, 'Do_it'(X)) :- role(R) & ~p(X) & X != b & true(at(X)).";
        let description = parse(text.as_bytes(), &Default::default());
        let index = Index::new(&description);
        let found = index.occurrences().iter();
        let found: Vec<&str> = found
            .map(|name| description.source.slice(name.span))
            .collect();
        assert_eq!(
            found,
            "role|white|legal|R|'Do_it'|X|role|R|p|X|X|b|true|at|X"
                .split('|')
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn values_are_collected_by_place() {
        let description = parse(
            b"(role w) (init (cell 1 b)) (init (step 1)) (<= (next (cell 2 x)) (does w go))",
            &Default::default(),
        );
        let index = Index::new(&description);
        let names = |slot: Slot| {
            let values = index.values(slot).iter();
            values
                .map(|&(name, _)| description.symbols.name(name).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(Slot::of_relation(Keyword::True.symbol(), 0)),
            ["cell", "step"]
        );
        let cell = description.symbols.get("cell").unwrap();
        assert_eq!(names(Slot::of_term(cell, 1)), ["b", "x"]);
        assert_eq!(names(Slot::of_relation(Keyword::Legal.symbol(), 1)), ["go"]);
    }
}
