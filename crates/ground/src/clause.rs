//! Clauses, the form of rules that joins work on: flat conjunctions over numbered relations.
//!
//! Differences from [`agon_gdl::Rules`]:
//! - Every `or` is expanded into separate clauses, and equalities are substituted.
//! - Ground terms are ids.
//! - Rules that are not needed for playing are left out. This includes `base` and `input`, which are only hints and
//!   often wrong.
//! - The keyword relations over fluents and moves are split by the outermost name of the fluent or move: `(true (cell
//!   ?x ?y b))` is the row `?x ?y b` of the relation "true cell/3". Only if a sheet uses `(true ?f)` is there also one
//!   relation for all fluents.

use agon_gdl::{Literal, RelationId, Rules, SymbolId, Term};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::term::{TermId, TermTable};

/// A relation that occurs in clauses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct RelId(pub(crate) u32);

impl RelId {
    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// What such a relation stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Meaning {
    /// A relation of the sheet, or `role`, `goal` or `terminal`.
    Plain(RelationId),
    /// `true`, `next`, `init`, `legal` or `does`, restricted to the fluent or move that is this constant.
    OfConstant(RelationId, SymbolId),
    /// The same keywords, restricted to fluents or moves with this outermost function and arity.
    OfFunction(RelationId, SymbolId, u32),
    /// The same keywords, for all fluents or moves; the last column holds the whole term.
    OfAny(RelationId),
    /// An auxiliary relation made by the grounder.
    Auxiliary(u32),
    /// A filter made by the grounder to restrict a join. Its rows hold in every state and do not become atoms.
    Filter(u32),
}

impl Meaning {
    /// The relation or keyword that it is a part of.
    pub(crate) fn relation(self) -> Option<RelationId> {
        match self {
            Meaning::Plain(relation)
            | Meaning::OfConstant(relation, _)
            | Meaning::OfFunction(relation, _, _)
            | Meaning::OfAny(relation) => Some(relation),
            Meaning::Auxiliary(_) | Meaning::Filter(_) => None,
        }
    }
}

/// All relations of clauses, numbered.
#[derive(Default)]
pub(crate) struct Catalog {
    meanings: Vec<(Meaning, usize)>,
    by_meaning: FxHashMap<(Meaning, usize), RelId>,
}

impl Catalog {
    /// The relation with this meaning; creates it if necessary.
    pub(crate) fn number(&mut self, meaning: Meaning, arity: usize) -> RelId {
        let next = RelId(self.meanings.len() as u32);
        let id = *self.by_meaning.entry((meaning, arity)).or_insert(next);
        if id == next {
            self.meanings.push((meaning, arity));
        }
        id
    }

    pub(crate) fn auxiliary(&mut self, arity: usize) -> RelId {
        let n = self.meanings.len() as u32;
        self.number(Meaning::Auxiliary(n), arity)
    }

    pub(crate) fn filter(&mut self, arity: usize) -> RelId {
        let n = self.meanings.len() as u32;
        self.number(Meaning::Filter(n), arity)
    }

    pub(crate) fn is_filter(&self, relation: RelId) -> bool {
        matches!(self.meaning(relation), Meaning::Filter(_))
    }

    pub(crate) fn meaning(&self, relation: RelId) -> Meaning {
        self.meanings[relation.idx()].0
    }

    pub(crate) fn arity(&self, relation: RelId) -> usize {
        self.meanings[relation.idx()].1
    }

    pub(crate) fn len(&self) -> usize {
        self.meanings.len()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = RelId> + use<> {
        (0..self.meanings.len() as u32).map(RelId)
    }
}

/// An argument in a clause.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Arg {
    /// A variable of the clause.
    Variable(u32),
    /// A ground term.
    Term(TermId),
    /// A function whose arguments contain a variable.
    Function(SymbolId, Box<[Arg]>),
}

impl Arg {
    pub(crate) fn for_each_variable(&self, visit: &mut impl FnMut(u32)) {
        match self {
            Arg::Variable(variable) => visit(*variable),
            Arg::Term(_) => {}
            Arg::Function(_, args) => args.iter().for_each(|arg| arg.for_each_variable(visit)),
        }
    }
}

/// A condition of a clause body.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Condition {
    Holds(RelId, Box<[Arg]>),
    Fails(RelId, Box<[Arg]>),
    Differ(Arg, Arg),
}

impl Condition {
    pub(crate) fn args(&self) -> impl Iterator<Item = &Arg> {
        let (args, pair) = match self {
            Condition::Holds(_, args) | Condition::Fails(_, args) => (&args[..], None),
            Condition::Differ(left, right) => (&[][..], Some([left, right])),
        };
        args.iter().chain(pair.into_iter().flatten())
    }

    pub(crate) fn relation(&self) -> Option<RelId> {
        match self {
            Condition::Holds(relation, _) | Condition::Fails(relation, _) => Some(*relation),
            Condition::Differ(..) => None,
        }
    }

    pub(crate) fn for_each_variable(&self, visit: &mut impl FnMut(u32)) {
        self.args().for_each(|arg| arg.for_each_variable(visit));
    }
}

/// What a clause concludes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Head {
    /// A row of a relation.
    Row(RelId, Box<[Arg]>),
    /// `(next ?f)` and the like: the relation is known only when the variable is bound. The last argument is the fluent
    /// or move.
    Any(RelationId, Box<[Arg]>),
}

impl Head {
    pub(crate) fn args(&self) -> &[Arg] {
        match self {
            Head::Row(_, args) | Head::Any(_, args) => args,
        }
    }
}

/// A conjunction with its conclusion.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) head: Head,
    pub(crate) body: Vec<Condition>,
    pub(crate) n_variables: u32,
    /// Index of the rule that the clause comes from.
    pub(crate) rule: u32,
}

/// Number of rules between two looks at `stop`.
const RULES_PER_LOOK: usize = 64;

/// Compiles rules to clauses. `Err` names the rule at which `stop` returned true.
pub(crate) fn clauses(
    rules: &Rules,
    catalog: &mut Catalog,
    terms: &mut TermTable,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Clause>, u32> {
    let mut compiler = Compiler {
        catalog,
        terms,
        clauses: Vec::new(),
    };
    let needed = needed_relations(rules);
    for (idx, rule) in rules.rules.iter().enumerate() {
        if idx % RULES_PER_LOOK == 0 && stop() {
            return Err(idx as u32);
        }
        if needed.contains(&rule.head.relation) {
            compiler.rule(idx as u32, rule);
        }
    }
    let mut clauses = compiler.clauses;
    use_persistence(&mut clauses, catalog);
    Ok(clauses)
}

/// A fluent that a rule keeps unconditionally, `(<= (next (wall ?x)) (true (wall ?x)))`, holds forever if it holds
/// initially. The negation of such a fluent is therefore false if `init` contains the fluent, which is known before
/// play. This lets the walls of a maze bound the reachable cells.
fn use_persistence(clauses: &mut [Clause], catalog: &mut Catalog) {
    let counterpart = |catalog: &mut Catalog, relation: RelId, keyword: RelationId| {
        let meaning = match catalog.meaning(relation) {
            Meaning::OfConstant(_, name) => Meaning::OfConstant(keyword, name),
            Meaning::OfFunction(_, name, arity) => Meaning::OfFunction(keyword, name, arity),
            _ => return None,
        };
        let arity = catalog.arity(relation);
        Some(catalog.number(meaning, arity))
    };
    let mut initial: FxHashMap<RelId, RelId> = FxHashMap::default();
    for clause in clauses.iter() {
        let (Head::Row(head, args), [Condition::Holds(kept, kept_args)]) =
            (&clause.head, clause.body.as_slice())
        else {
            continue;
        };
        let mut seen = FxHashSet::default();
        let is_general = args
            .iter()
            .all(|arg| matches!(arg, Arg::Variable(variable) if seen.insert(*variable)));
        let is_next = catalog.meaning(*head).relation() == Some(RelationId::NEXT);
        if is_next
            && is_general
            && args == kept_args
            && counterpart(catalog, *head, RelationId::TRUE) == Some(*kept)
        {
            initial.extend(counterpart(catalog, *head, RelationId::INIT).map(|init| (*kept, init)));
        }
    }
    for clause in clauses {
        let refuted: Vec<Condition> = clause
            .body
            .iter()
            .filter_map(|condition| match condition {
                Condition::Fails(relation, args) => {
                    Some(Condition::Fails(*initial.get(relation)?, args.clone()))
                }
                _ => None,
            })
            .collect();
        clause.body.extend(refuted);
    }
}

/// The relations that are needed for playing, directly or through others.
fn needed_relations(rules: &Rules) -> FxHashSet<RelationId> {
    let mut by_head: FxHashMap<RelationId, Vec<&agon_gdl::Rule>> = FxHashMap::default();
    for rule in &rules.rules {
        by_head.entry(rule.head.relation).or_default().push(rule);
    }
    let roots = [
        RelationId::ROLE,
        RelationId::INIT,
        RelationId::NEXT,
        RelationId::LEGAL,
        RelationId::GOAL,
        RelationId::TERMINAL,
    ];
    let mut needed: FxHashSet<RelationId> = roots.into_iter().collect();
    // In GDL-I, `sees` is a name like any other.
    needed.extend(rules.is_gdl2().then_some(RelationId::SEES));
    let mut queue: Vec<RelationId> = needed.iter().copied().collect();
    while let Some(relation) = queue.pop() {
        for rule in by_head.get(&relation).map_or(&[][..], Vec::as_slice) {
            for_each_relation(&rule.body, &mut |used| {
                if needed.insert(used) {
                    queue.push(used);
                }
            });
        }
    }
    needed
}

fn for_each_relation(body: &[Literal], visit: &mut impl FnMut(RelationId)) {
    for literal in body {
        match literal {
            Literal::Positive(atom) | Literal::Negative(atom) => visit(atom.relation),
            Literal::Distinct(..) | Literal::Equal(..) => {}
            Literal::Or(alternatives) => {
                alternatives
                    .iter()
                    .for_each(|conjunction| for_each_relation(conjunction, visit));
            }
        }
    }
}

struct Compiler<'a> {
    catalog: &'a mut Catalog,
    terms: &'a mut TermTable,
    clauses: Vec<Clause>,
}

/// A rule with more conjunctions than this is not expanded: each `or` gets an auxiliary relation.
const MAX_ALTERNATIVES: usize = 24;

impl Compiler<'_> {
    fn rule(&mut self, idx: u32, rule: &agon_gdl::Rule) {
        let body: Vec<&Literal> = rule.body.iter().collect();
        let n_variables = rule.variables.len() as u32;
        let n_alternatives = count_alternatives(&rule.body);
        if n_alternatives <= MAX_ALTERNATIVES {
            for conjunction in expand(&body) {
                self.conjunction(idx, Conclusion::Atom(&rule.head), &conjunction, n_variables);
            }
            return;
        }
        self.chain(idx, rule, n_variables);
    }

    /// Makes one auxiliary relation per `or`. It holds the bindings of the plain literals and of the alternatives up to
    /// this one. The last step concludes the head.
    fn chain(&mut self, idx: u32, rule: &agon_gdl::Rule, n_variables: u32) {
        let (ors, plain): (Vec<&Literal>, Vec<&Literal>) = rule
            .body
            .iter()
            .partition(|literal| matches!(literal, Literal::Or(_)));
        let mut bound: Vec<u32> = Vec::new();
        for literal in &plain {
            if let Literal::Positive(atom) = literal {
                atom.args
                    .iter()
                    .for_each(|arg| arg.for_each_variable(&mut |variable| bound.push(variable.0)));
            }
        }
        let mut so_far: Option<(RelId, Vec<u32>)> = None;
        for (n, or) in ors.iter().enumerate() {
            let Literal::Or(alternatives) = or else {
                continue;
            };
            let is_last = n + 1 == ors.len();
            let common = common_variables(alternatives);
            bound.extend(common);
            bound.sort_unstable();
            bound.dedup();
            let relation = self.catalog.auxiliary(bound.len());
            for alternative in alternatives {
                for conjunction in expand(&alternative.iter().collect::<Vec<_>>()) {
                    // The plain literals bind variables that the alternative only compares.
                    let mut body = conjunction;
                    body.extend(&plain);
                    let conclusion = if is_last {
                        Conclusion::Atom(&rule.head)
                    } else {
                        Conclusion::Auxiliary(relation, &bound)
                    };
                    self.conjunction_after(idx, conclusion, &body, so_far.as_ref(), n_variables);
                }
            }
            so_far = Some((relation, bound.clone()));
        }
    }

    fn conjunction(
        &mut self,
        rule: u32,
        head: Conclusion<'_>,
        body: &[&Literal],
        n_variables: u32,
    ) {
        self.conjunction_after(rule, head, body, None, n_variables);
    }

    /// Adds the clause of a conjunction, unless it is unsatisfiable.
    fn conjunction_after(
        &mut self,
        rule: u32,
        head: Conclusion<'_>,
        body: &[&Literal],
        before: Option<&(RelId, Vec<u32>)>,
        n_variables: u32,
    ) {
        let mut equal = Substitution {
            values: vec![None; n_variables as usize],
        };
        for literal in body {
            if let Literal::Equal(left, right) = literal
                && !equal.unify(left, right)
            {
                return;
            }
        }
        let mut conditions = Vec::with_capacity(body.len() + 1);
        if let Some((relation, variables)) = before {
            let args = variables
                .iter()
                .map(|&variable| self.arg(&Term::Variable(agon_gdl::VariableId(variable)), &equal));
            let args = args.collect();
            conditions.push(Condition::Holds(*relation, args));
        }
        for literal in body {
            match literal {
                Literal::Positive(atom) => {
                    let (relation, args) = self.atom(atom, &equal);
                    conditions.push(Condition::Holds(relation, args));
                }
                Literal::Negative(atom) => {
                    let (relation, args) = self.atom(atom, &equal);
                    conditions.push(Condition::Fails(relation, args));
                }
                Literal::Distinct(left, right) => {
                    let (left, right) = (self.arg(left, &equal), self.arg(right, &equal));
                    match (&left, &right) {
                        _ if left == right => return,
                        (Arg::Term(_), Arg::Term(_)) => {}
                        _ => conditions.push(Condition::Differ(left, right)),
                    }
                }
                Literal::Equal(..) => {}
                Literal::Or(_) => unreachable!("`or` has been expanded"),
            }
        }
        conditions.sort();
        conditions.dedup();
        let head = self.head(head, &equal);
        let mut clause = Clause {
            head,
            body: conditions,
            n_variables,
            rule,
        };
        renumber(&mut clause);
        self.clauses.push(clause);
    }

    fn head(&mut self, head: Conclusion<'_>, equal: &Substitution) -> Head {
        match head {
            Conclusion::Auxiliary(relation, variables) => {
                let variable = |&variable: &u32| {
                    self.arg(&Term::Variable(agon_gdl::VariableId(variable)), equal)
                };
                Head::Row(relation, variables.iter().map(variable).collect())
            }
            Conclusion::Atom(atom) => {
                let is_split = is_split(atom.relation);
                let last = atom
                    .args
                    .last()
                    .filter(|_| is_split)
                    .map(|last| self.arg(last, equal));
                if let Some(Arg::Variable(_)) = last {
                    return Head::Any(
                        atom.relation,
                        atom.args.iter().map(|arg| self.arg(arg, equal)).collect(),
                    );
                }
                let (relation, args) = self.atom(atom, equal);
                Head::Row(relation, args)
            }
        }
    }

    /// The relation of an atom and its row of arguments.
    fn atom(&mut self, atom: &agon_gdl::Atom, equal: &Substitution) -> (RelId, Box<[Arg]>) {
        let mut args: Vec<Arg> = atom.args.iter().map(|arg| self.arg(arg, equal)).collect();
        let relation = atom.relation;
        if !is_split(relation) {
            let id = self.catalog.number(Meaning::Plain(relation), args.len());
            return (id, args.into());
        }
        let last = args
            .pop()
            .expect("keywords over fluents and moves take arguments");
        let meaning = match last {
            Arg::Variable(_) => {
                args.push(last);
                Meaning::OfAny(relation)
            }
            Arg::Term(term) => match self.terms.view(term) {
                crate::term::TermView::Constant(name) => Meaning::OfConstant(relation, name),
                crate::term::TermView::Compound(name, inner) => {
                    args.extend(inner.iter().map(|&arg| Arg::Term(arg)));
                    Meaning::OfFunction(relation, name, inner.len() as u32)
                }
            },
            Arg::Function(name, inner) => {
                let meaning = Meaning::OfFunction(relation, name, inner.len() as u32);
                args.extend(inner);
                meaning
            }
        };
        (self.catalog.number(meaning, args.len()), args.into())
    }

    /// Recursion is safe here: the reader limits the nesting depth of terms, and terms built by equalities are limited
    /// by it.
    fn arg(&mut self, term: &Term, equal: &Substitution) -> Arg {
        match equal.resolve(term) {
            Term::Variable(variable) => Arg::Variable(variable.0),
            Term::Constant(name) => Arg::Term(self.terms.constant(*name)),
            Term::Compound(name, args) => {
                let args: Box<[Arg]> = args.iter().map(|arg| self.arg(arg, equal)).collect();
                let ground: Option<Vec<TermId>> = args
                    .iter()
                    .map(|arg| {
                        if let Arg::Term(term) = arg {
                            Some(*term)
                        } else {
                            None
                        }
                    })
                    .collect();
                match ground {
                    Some(args) => Arg::Term(self.terms.compound(*name, &args)),
                    None => Arg::Function(*name, args),
                }
            }
        }
    }
}

/// The conclusion of a conjunction during compilation.
#[derive(Clone, Copy)]
enum Conclusion<'a> {
    Atom(&'a agon_gdl::Atom),
    Auxiliary(RelId, &'a [u32]),
}

/// Whether rows of a keyword are split by the outermost name of their last argument.
pub(crate) fn is_split(relation: RelationId) -> bool {
    [
        RelationId::TRUE,
        RelationId::NEXT,
        RelationId::INIT,
        RelationId::LEGAL,
        RelationId::DOES,
    ]
    .contains(&relation)
}

fn count_alternatives(body: &[Literal]) -> usize {
    body.iter().fold(1_usize, |product, literal| match literal {
        Literal::Or(alternatives) => {
            let sum: usize = alternatives
                .iter()
                .map(|conjunction| count_alternatives(conjunction))
                .sum();
            product.saturating_mul(sum)
        }
        _ => product,
    })
}

/// All conjunctions of plain literals that a body with `or` expands to.
fn expand<'a>(body: &[&'a Literal]) -> Vec<Vec<&'a Literal>> {
    let mut conjunctions: Vec<Vec<&Literal>> = vec![Vec::new()];
    for literal in body {
        match literal {
            Literal::Or(alternatives) => {
                let expanded: Vec<Vec<&Literal>> = alternatives
                    .iter()
                    .flat_map(|conjunction| expand(&conjunction.iter().collect::<Vec<_>>()))
                    .collect();
                conjunctions = conjunctions
                    .iter()
                    .flat_map(|before| {
                        expanded
                            .iter()
                            .map(|more| [before.as_slice(), more.as_slice()].concat())
                    })
                    .collect();
            }
            plain => conjunctions
                .iter_mut()
                .for_each(|conjunction| conjunction.push(plain)),
        }
    }
    conjunctions
}

/// Variables that occur in positive literals of every alternative.
fn common_variables(alternatives: &[Vec<Literal>]) -> Vec<u32> {
    let mut common: Option<Vec<u32>> = None;
    for alternative in alternatives {
        for conjunction in expand(&alternative.iter().collect::<Vec<_>>()) {
            let mut here = Vec::new();
            for literal in conjunction {
                if let Literal::Positive(atom) = literal {
                    atom.args.iter().for_each(|arg| {
                        arg.for_each_variable(&mut |variable| here.push(variable.0));
                    });
                }
            }
            common = Some(match common {
                None => here,
                Some(before) => before
                    .into_iter()
                    .filter(|variable| here.contains(variable))
                    .collect(),
            });
        }
    }
    common.unwrap_or_default()
}

/// The substitution that follows from the equalities of a rule.
struct Substitution<'a> {
    values: Vec<Option<&'a Term>>,
}

impl<'a> Substitution<'a> {
    fn resolve(&self, mut term: &'a Term) -> &'a Term {
        while let Term::Variable(variable) = term {
            match self.values[variable.0 as usize] {
                Some(value) => term = value,
                None => break,
            }
        }
        term
    }

    /// Unifies two terms; returns false if that is impossible.
    fn unify(&mut self, left: &'a Term, right: &'a Term) -> bool {
        let (left, right) = (self.resolve(left), self.resolve(right));
        match (left, right) {
            _ if left == right => true,
            (Term::Variable(variable), value) | (value, Term::Variable(variable)) => {
                if self.occurs(*variable, value) {
                    return false;
                }
                self.values[variable.0 as usize] = Some(value);
                true
            }
            (Term::Compound(name, args), Term::Compound(other, others)) => {
                name == other
                    && args.len() == others.len()
                    && args
                        .iter()
                        .zip(others)
                        .all(|(left, right)| self.unify(left, right))
            }
            _ => false,
        }
    }

    fn occurs(&self, variable: agon_gdl::VariableId, term: &'a Term) -> bool {
        match self.resolve(term) {
            Term::Variable(other) => *other == variable,
            Term::Constant(_) => false,
            Term::Compound(_, args) => args.iter().any(|arg| self.occurs(variable, arg)),
        }
    }
}

/// Renumbers the variables of a clause from 0.
pub(crate) fn renumber(clause: &mut Clause) {
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let mut number = |arg: &mut Arg| renumber_arg(arg, &mut numbers);
    match &mut clause.head {
        Head::Row(_, args) | Head::Any(_, args) => args.iter_mut().for_each(&mut number),
    }
    for condition in &mut clause.body {
        match condition {
            Condition::Holds(_, args) | Condition::Fails(_, args) => {
                args.iter_mut().for_each(&mut number);
            }
            Condition::Differ(left, right) => {
                number(left);
                number(right);
            }
        }
    }
    clause.n_variables = numbers.len() as u32;
}

fn renumber_arg(arg: &mut Arg, numbers: &mut FxHashMap<u32, u32>) {
    match arg {
        Arg::Variable(variable) => {
            let next = numbers.len() as u32;
            *variable = *numbers.entry(*variable).or_insert(next);
        }
        Arg::Term(_) => {}
        Arg::Function(_, args) => args.iter_mut().for_each(|arg| renumber_arg(arg, numbers)),
    }
}
