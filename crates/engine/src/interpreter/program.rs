//! Turns checked rules into clauses for the planner: facts separate from rules, no `or`, and a level for every
//! predicate.
//!
//! - An `or` becomes an auxiliary predicate with one clause per alternative, whose arguments are the variables it
//!   shares with the rest of its rule. Expanding all combinations would grow exponentially with several `or`s in a
//!   body.
//! - The facts of a predicate with rules are moved to an auxiliary predicate, so that thousands of facts are looked up
//!   in an index and not tried one by one. Predicates without rules consist only of facts and are never called.
//! - The level of a predicate says how long its answers are valid: always, for one state, or for one joint move.
//!
//! In: [`Rules`]. Out: [`Program`]. The order of conditions is decided in `plan`.

use agon_gdl::{Keyword, Literal, RelationId, Rule, Rules, Term, VariableId};
use rustc_hash::FxHashSet;

use super::feasibility::Feasibility;
use super::terms::{FunctorId, Functors, TermId, Terms};
use super::tuples::Tuples;

/// A predicate: first the relations of the rules, with the same numbers, then the auxiliary predicates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct PredicateId(pub(crate) u32);

impl PredicateId {
    pub(crate) const TRUE: PredicateId = PredicateId(RelationId::TRUE.0);
    pub(crate) const DOES: PredicateId = PredicateId(RelationId::DOES.0);
    pub(crate) const SEES: PredicateId = PredicateId(RelationId::SEES.0);

    pub(crate) fn of(relation: RelationId) -> PredicateId {
        PredicateId(relation.0)
    }

    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// How long answers are valid.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Level {
    /// In every state: depends only on facts.
    Static,
    /// In one state: depends on `true`.
    State,
    /// For one joint move: depends on `does`.
    Joint,
}

/// A relation of the rules, or an auxiliary predicate.
pub(crate) struct Predicate {
    pub(crate) arity: usize,
    pub(crate) level: Level,
    /// Empty if there are clauses.
    pub(crate) facts: Tuples,
    pub(crate) clauses: Vec<Clause>,
    /// Whether it stands for an `or`, whose alternatives may use variables that are bound outside.
    pub(crate) is_or: bool,
}

/// A rule without `or`.
pub(crate) struct Clause {
    pub(crate) head: Box<[Term]>,
    pub(crate) body: Vec<Condition>,
    /// Variable numbers are below this; in an alternative of an `or`, some numbers may be unused.
    pub(crate) n_variables: usize,
    pub(crate) line: u32,
}

/// A condition of a clause.
pub(crate) enum Condition {
    Holds(PredicateId, Box<[Term]>),
    Fails(PredicateId, Box<[Term]>),
    Distinct(Term, Term),
    Equal(Term, Term),
}

impl Condition {
    pub(crate) fn for_each_variable(&self, visit: &mut impl FnMut(VariableId)) {
        match self {
            Condition::Holds(_, args) | Condition::Fails(_, args) => {
                args.iter().for_each(|arg| arg.for_each_variable(visit));
            }
            Condition::Distinct(left, right) | Condition::Equal(left, right) => {
                left.for_each_variable(visit);
                right.for_each_variable(visit);
            }
        }
    }
}

/// All predicates of a sheet, and its terms.
pub(crate) struct Program {
    pub(crate) predicates: Vec<Predicate>,
    pub(crate) functors: Functors,
    pub(crate) terms: Terms,
    pub(crate) roles: Vec<TermId>,
    /// Whether `sees` is a keyword.
    pub(crate) is_gdl2: bool,
}

/// The relations that the interpreter queries from outside; these always have clauses.
const ENTRIES: [RelationId; 5] = [
    RelationId::INIT,
    RelationId::NEXT,
    RelationId::LEGAL,
    RelationId::GOAL,
    RelationId::TERMINAL,
];

impl Program {
    pub(crate) fn new(rules: &Rules) -> Program {
        let mut program = Program {
            predicates: rules
                .relations
                .iter()
                .map(|relation| Predicate::new(relation.arity as usize))
                .collect(),
            functors: Functors::default(),
            terms: Terms::new(rules.symbols.len()),
            roles: Vec::new(),
            is_gdl2: rules.is_gdl2(),
        };
        program.roles = rules
            .roles
            .iter()
            .map(|role| program.ground(role))
            .collect();
        for rule in &rules.rules {
            program.add(rule, rules.line(rule));
        }
        for predicate_idx in 0..rules.relations.len() {
            program.split_facts(PredicateId(predicate_idx as u32));
        }
        program.set_levels();
        // In GDL-I, roles see moves as `(does r m)`.
        program.functors.intern(Keyword::Does.symbol(), 2);
        program
    }

    /// Whether the interpreter queries a predicate from outside.
    pub(crate) fn is_entry(&self, predicate: PredicateId) -> bool {
        let mut entries = ENTRIES.iter();
        entries.any(|&entry| PredicateId::of(entry) == predicate)
            || (self.is_gdl2 && predicate == PredicateId::SEES)
    }

    fn add(&mut self, rule: &Rule, line: u32) {
        let predicate = PredicateId::of(rule.head.relation);
        rule.head
            .args
            .iter()
            .for_each(|arg| self.intern_functors(arg));
        if rule.body.is_empty() && rule.head.args.iter().all(Term::is_ground) {
            let fact: Vec<u32> = rule
                .head
                .args
                .iter()
                .map(|arg| self.ground(arg).0)
                .collect();
            self.predicates[predicate.idx()].facts.insert(&fact);
            return;
        }
        let n_clauses = self.predicates[predicate.idx()].clauses.len();
        self.add_clause(
            predicate,
            rule.head.args.clone(),
            &rule.body,
            rule.variables.len(),
            line,
        );
        if self.is_tangled(predicate, n_clauses)
            && let Some(conjunctions) = conjunctions(&rule.body)
        {
            self.predicates[predicate.idx()].clauses.truncate(n_clauses);
            for body in conjunctions {
                self.add_clause(
                    predicate,
                    rule.head.args.clone(),
                    &body,
                    rule.variables.len(),
                    line,
                );
            }
        }
    }

    /// Whether a clause cannot be ordered because each of two `or`s may bind what an alternative of the other needs.
    /// Then all combinations must be expanded.
    fn is_tangled(&self, predicate: PredicateId, clause: usize) -> bool {
        let Predicate {
            arity, ref clauses, ..
        } = self.predicates[predicate.idx()];
        let mut feasibility = Feasibility::new(self);
        clauses
            .get(clause)
            .is_some_and(|clause| !feasibility.is_clause_callable(clause, &vec![false; arity]))
    }

    /// Adds a clause, and the predicates of the `or`s in its body.
    fn add_clause(
        &mut self,
        predicate: PredicateId,
        head: Box<[Term]>,
        literals: &[Literal],
        n_variables: usize,
        line: u32,
    ) {
        let mut body = Vec::with_capacity(literals.len());
        for (idx, literal) in literals.iter().enumerate() {
            let is_possible = match literal {
                Literal::Positive(atom) => {
                    body.push(Condition::Holds(
                        PredicateId::of(atom.relation),
                        atom.args.clone(),
                    ));
                    true
                }
                Literal::Negative(atom) => {
                    body.push(Condition::Fails(
                        PredicateId::of(atom.relation),
                        atom.args.clone(),
                    ));
                    true
                }
                Literal::Distinct(left, right) => {
                    body.push(Condition::Distinct(left.clone(), right.clone()));
                    true
                }
                Literal::Equal(left, right) => equate(left, right, &mut body),
                Literal::Or(alternatives) => {
                    let others = literals
                        .iter()
                        .enumerate()
                        .filter(|&(other, _)| other != idx);
                    let shared =
                        shared_variables(&head, others.map(|(_, literal)| literal), literal);
                    body.push(self.add_or(&shared, alternatives, n_variables, line));
                    true
                }
            };
            if !is_possible {
                return;
            }
        }
        for condition in &body {
            self.intern_functors_of(condition);
        }
        self.predicates[predicate.idx()].clauses.push(Clause {
            head,
            body,
            n_variables,
            line,
        });
    }

    fn add_or(
        &mut self,
        shared: &[VariableId],
        alternatives: &[Vec<Literal>],
        n_variables: usize,
        line: u32,
    ) -> Condition {
        let args: Box<[Term]> = shared
            .iter()
            .map(|&variable| Term::Variable(variable))
            .collect();
        let predicate = self.new_predicate(args.len());
        self.predicates[predicate.idx()].is_or = true;
        for alternative in alternatives {
            self.add_clause(predicate, args.clone(), alternative, n_variables, line);
        }
        Condition::Holds(predicate, args)
    }

    fn new_predicate(&mut self, arity: usize) -> PredicateId {
        self.predicates.push(Predicate::new(arity));
        PredicateId(self.predicates.len() as u32 - 1)
    }

    /// Moves the facts of a predicate that is called to an auxiliary predicate.
    fn split_facts(&mut self, predicate: PredicateId) {
        let is_entry = self.is_entry(predicate);
        let Predicate {
            arity,
            ref facts,
            ref clauses,
            ..
        } = self.predicates[predicate.idx()];
        if facts.len() == 0 || (clauses.is_empty() && !is_entry) {
            return;
        }
        let moved = self.new_predicate(arity);
        let facts = std::mem::replace(
            &mut self.predicates[predicate.idx()].facts,
            Tuples::new(arity),
        );
        self.predicates[moved.idx()].facts = facts;
        let args: Box<[Term]> = (0..arity as u32)
            .map(|idx| Term::Variable(VariableId(idx)))
            .collect();
        let body = vec![Condition::Holds(moved, args.clone())];
        let clause = Clause {
            head: args,
            body,
            n_variables: arity,
            line: 0,
        };
        self.predicates[predicate.idx()].clauses.insert(0, clause);
    }

    fn set_levels(&mut self) {
        self.predicates[PredicateId::TRUE.idx()].level = Level::State;
        self.predicates[PredicateId::DOES.idx()].level = Level::Joint;
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for idx in 0..self.predicates.len() {
                let level = self.level_of_clauses(&self.predicates[idx].clauses);
                has_changed |= level > self.predicates[idx].level;
                self.predicates[idx].level = self.predicates[idx].level.max(level);
            }
        }
    }

    fn level_of_clauses(&self, clauses: &[Clause]) -> Level {
        let conditions = clauses.iter().flat_map(|clause| &clause.body);
        let levels = conditions.map(|condition| match condition {
            Condition::Holds(predicate, _) | Condition::Fails(predicate, _) => {
                self.predicates[predicate.idx()].level
            }
            Condition::Distinct(..) | Condition::Equal(..) => Level::Static,
        });
        levels.max().unwrap_or(Level::Static)
    }

    fn intern_functors_of(&mut self, condition: &Condition) {
        match condition {
            Condition::Holds(_, args) | Condition::Fails(_, args) => {
                args.iter().for_each(|arg| self.intern_functors(arg));
            }
            Condition::Distinct(left, right) | Condition::Equal(left, right) => {
                self.intern_functors(left);
                self.intern_functors(right);
            }
        }
    }

    fn intern_functors(&mut self, term: &Term) {
        if let Term::Compound(name, args) = term {
            self.functors.intern(*name, args.len());
            args.iter().for_each(|arg| self.intern_functors(arg));
        }
    }

    /// The id of a term without variables.
    pub(crate) fn ground(&mut self, term: &Term) -> TermId {
        match term {
            Term::Constant(symbol) => TermId::constant(*symbol),
            Term::Compound(name, args) => {
                let functor = self.functors.intern(*name, args.len());
                let args: Vec<u32> = args.iter().map(|arg| self.ground(arg).0).collect();
                self.compound(functor, &args)
            }
            Term::Variable(_) => unreachable!("the caller has checked that the term is ground"),
        }
    }

    pub(crate) fn compound(&mut self, functor: FunctorId, args: &[u32]) -> TermId {
        self.terms
            .find(functor, args)
            .unwrap_or_else(|| self.terms.append(functor, args))
    }
}

impl Predicate {
    fn new(arity: usize) -> Predicate {
        Predicate {
            arity,
            level: Level::Static,
            facts: Tuples::new(arity),
            clauses: Vec::new(),
            is_or: false,
        }
    }
}

/// Decomposes an equation until one side is a variable; returns false if it can never hold.
fn equate(left: &Term, right: &Term, body: &mut Vec<Condition>) -> bool {
    match (left, right) {
        (Term::Compound(name, args), Term::Compound(other_name, other_args)) => {
            name == other_name
                && args.len() == other_args.len()
                && args
                    .iter()
                    .zip(other_args)
                    .all(|(arg, other)| equate(arg, other, body))
        }
        (Term::Variable(_), _) | (_, Term::Variable(_)) => {
            body.push(Condition::Equal(left.clone(), right.clone()));
            true
        }
        _ => left == right,
    }
}

/// Maximum number of combinations of alternatives to expand.
const MAX_CONJUNCTIONS: usize = 4096;

/// Expands a body to all combinations of alternatives, without `or`. `None` if there are too many.
fn conjunctions(body: &[Literal]) -> Option<Vec<Vec<Literal>>> {
    let mut all: Vec<Vec<Literal>> = vec![Vec::new()];
    for literal in body {
        let choices = match literal {
            Literal::Or(alternatives) => {
                let nested: Option<Vec<_>> = alternatives
                    .iter()
                    .map(|alternative| conjunctions(alternative))
                    .collect();
                nested?.concat()
            }
            literal => vec![vec![literal.clone()]],
        };
        if all.len() * choices.len() > MAX_CONJUNCTIONS {
            return None;
        }
        all = all
            .iter()
            .flat_map(|front| choices.iter().map(|back| [&front[..], back].concat()))
            .collect();
    }
    Some(all)
}

/// The variables of an `or` that its rule mentions elsewhere.
fn shared_variables<'a>(
    head: &[Term],
    others: impl Iterator<Item = &'a Literal>,
    or: &Literal,
) -> Vec<VariableId> {
    let mut outside = FxHashSet::default();
    head.iter()
        .for_each(|arg| arg.for_each_variable(&mut |variable| _ = outside.insert(variable)));
    others.for_each(|literal| {
        for_each_variable(literal, &mut |variable| _ = outside.insert(variable));
    });
    let mut shared = Vec::new();
    for_each_variable(or, &mut |variable| {
        if outside.contains(&variable) && !shared.contains(&variable) {
            shared.push(variable);
        }
    });
    shared
}

fn for_each_variable(literal: &Literal, visit: &mut dyn FnMut(VariableId)) {
    let visit_term = |term: &Term| term.for_each_variable(&mut |variable| visit(variable));
    match literal {
        Literal::Positive(atom) | Literal::Negative(atom) => atom.args.iter().for_each(visit_term),
        Literal::Distinct(left, right) | Literal::Equal(left, right) => {
            [left, right].into_iter().for_each(visit_term);
        }
        Literal::Or(alternatives) => {
            alternatives
                .iter()
                .flatten()
                .for_each(|literal| for_each_variable(literal, visit));
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The program of some rules in an otherwise trivial game.
    pub(in crate::interpreter) fn program(rules: &str) -> (Rules, Program) {
        let sheet = format!("(role r) (legal r go) (goal r 0) (<= terminal (true over)) {rules}");
        let description = agon_gdl::parse(sheet.as_bytes(), &agon_gdl::Limits::default());
        let rules = agon_gdl::check(&description).unwrap_or_else(|findings| {
            panic!(
                "{:?}",
                findings
                    .iter()
                    .map(|finding| &finding.message)
                    .collect::<Vec<_>>()
            )
        });
        let program = Program::new(&rules);
        (rules, program)
    }

    /// The level of a relation, and the number of its facts and clauses.
    fn check(rules: &str, name: &str, arity: usize) -> (Level, usize, usize) {
        let (rules, program) = program(rules);
        let relation = rules.find_relation(name, arity).expect("a relation");
        let predicate = &program.predicates[PredicateId::of(relation).idx()];
        (
            predicate.level,
            predicate.facts.len(),
            predicate.clauses.len(),
        )
    }

    #[test]
    fn facts_are_separate_from_rules() {
        assert_eq!(check("(p a) (p b) (p a)", "p", 1), (Level::Static, 2, 0));
        assert_eq!(
            check("(p a) (p b) (<= (p c) (q d))", "p", 1),
            (Level::Static, 0, 2)
        );
        assert_eq!(check("(p a) (p b c)", "p", 2), (Level::Static, 1, 0));
        assert_eq!(check("", "legal", 2), (Level::Static, 0, 1));
    }

    #[test]
    fn the_level_is_that_of_the_shortest_lived_condition() {
        let rules = "(e a) (<= (p ?x) (e ?x) (not (q ?x))) (<= (q ?x) (e ?x) (or (true ?x) (e b)))
            (<= (s ?x) (p ?x) (does r ?x)) (<= (t ?x) (e ?x))";
        assert_eq!(check(rules, "t", 1).0, Level::Static);
        assert_eq!(check(rules, "p", 1).0, Level::State);
        assert_eq!(check(rules, "s", 1).0, Level::Joint);
    }

    #[test]
    fn combinations_are_expanded_only_where_alternatives_need_each_other() {
        let facts = "(e a b)";
        let plain = "(<= (p ?x) (or (e ?x b) (e b ?x)) (or (e ?x ?x) (e a a)))";
        assert_eq!(check(&format!("{facts} {plain}"), "p", 1).2, 1);
        let tangled = "(<= (p ?x) (or (e ?x ?x) (e ?x ?y)) (or (true ?y) (e ?x ?y)))";
        assert_eq!(check(&format!("{facts} {tangled}"), "p", 1).2, 4);
    }

    #[test]
    fn an_equation_that_cannot_hold_drops_its_rule() {
        assert_eq!(
            check(
                "(<= (p ?x) (true ?x) (not (distinct (f ?x) (g ?x))))",
                "p",
                1
            )
            .2,
            0
        );
        assert_eq!(
            check(
                "(<= (p ?x) (true ?x) (not (distinct (f ?x) (f a))))",
                "p",
                1
            )
            .2,
            1
        );
    }
}
