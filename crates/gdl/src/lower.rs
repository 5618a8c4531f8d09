//! Rules as written → rules in their small form.
//!
//! Runs only on descriptions without errors. Negation is pushed to the atoms, `and` dissolves into its body, a double
//! negation is dropped, `not distinct` becomes an equality, variables are numbered, and a role variable that nothing
//! binds gets the `role` literal that its author left out.

use rustc_hash::FxHashMap;

use crate::ast;
use crate::rules::{Atom, Literal, Relation, RelationId, Rule, Term, VariableId};
use crate::symbol::{Keyword, SymbolId};

/// Relations and rules in small form. `ranging` says per rule which variables range over the roles.
pub(crate) fn lower(
    description: &ast::Description,
    ranging: &FxHashMap<usize, Vec<SymbolId>>,
    is_dropped: impl Fn(&ast::Rule) -> bool,
) -> (Vec<Relation>, Vec<Rule>) {
    let mut lowering = Lowering::new(description.symbols.len());
    let mut rules = Vec::with_capacity(description.rules.len());
    for (idx, rule) in description.rules.iter().enumerate() {
        if !is_dropped(rule) {
            rules.push(lowering.rule(rule, ranging.get(&idx).map_or(&[], Vec::as_slice)));
        }
    }
    (lowering.relations, rules)
}

struct Lowering {
    relations: Vec<Relation>,
    by_key: FxHashMap<Relation, RelationId>,
    /// Variables of the rule at hand, in order of first occurrence.
    variables: Vec<SymbolId>,
    /// Per symbol: the rule that used it last as a variable, and its number there.
    numbers: Vec<(u32, VariableId)>,
    rule_number: u32,
}

impl Lowering {
    fn new(n_symbols: usize) -> Lowering {
        let keywords = Keyword::ALL
            .into_iter()
            .take(RelationId::N_KEYWORDS as usize);
        let relations: Vec<Relation> = keywords
            .map(|keyword| Relation {
                name: keyword.symbol(),
                arity: keyword.arity().unwrap_or(0) as u32,
            })
            .collect();
        let by_key = relations
            .iter()
            .enumerate()
            .map(|(idx, &key)| (key, RelationId(idx as u32)))
            .collect();
        let numbers = vec![(0, VariableId(0)); n_symbols];
        Lowering {
            relations,
            by_key,
            variables: Vec::new(),
            numbers,
            rule_number: 0,
        }
    }

    fn rule(&mut self, rule: &ast::Rule, ranging: &[SymbolId]) -> Rule {
        self.variables.clear();
        self.rule_number += 1;
        let head = self.atom(&rule.head);
        let mut body = Vec::with_capacity(rule.body.len() + ranging.len());
        for literal in &rule.body {
            self.literal(literal, false, &mut body);
        }
        for &variable in ranging {
            let role = Term::Variable(self.variable(variable));
            body.push(Literal::Positive(Atom {
                relation: RelationId::ROLE,
                args: Box::new([role]),
            }));
        }
        Rule {
            head,
            body: body.into(),
            variables: self.variables.as_slice().into(),
            span: rule.span,
        }
    }

    /// Appends the literal, or its negation, to a conjunction.
    fn literal(&mut self, literal: &ast::Literal, negated: bool, out: &mut Vec<Literal>) {
        match literal {
            ast::Literal::Atom(atom) => {
                let atom = self.atom(atom);
                out.push(if negated {
                    Literal::Negative(atom)
                } else {
                    Literal::Positive(atom)
                });
            }
            ast::Literal::Distinct(left, right, _) => {
                let (left, right) = (self.term(left), self.term(right));
                out.push(if negated {
                    Literal::Equal(left, right)
                } else {
                    Literal::Distinct(left, right)
                });
            }
            ast::Literal::Not(inner, _) => self.literal(inner, !negated, out),
            // De Morgan: a conjunction is all of its members, a negated disjunction all of their negations.
            ast::Literal::And(members, _) if !negated => self.all(members, negated, out),
            ast::Literal::Or(members, _) if negated => self.all(members, negated, out),
            ast::Literal::And(members, _) | ast::Literal::Or(members, _) => {
                self.any(members, negated, out)
            }
        }
    }

    fn all(&mut self, members: &[ast::Literal], negated: bool, out: &mut Vec<Literal>) {
        for member in members {
            self.literal(member, negated, out);
        }
    }

    fn any(&mut self, members: &[ast::Literal], negated: bool, out: &mut Vec<Literal>) {
        let mut alternatives = Vec::with_capacity(members.len());
        for member in members {
            let mut conjunction = Vec::new();
            self.literal(member, negated, &mut conjunction);
            match conjunction.as_mut_slice() {
                // An `or` directly inside an `or` is more alternatives.
                [Literal::Or(nested)] => alternatives.append(nested),
                _ => alternatives.push(conjunction),
            }
        }
        match alternatives.len() {
            1 => out.append(&mut alternatives[0]),
            _ => out.push(Literal::Or(alternatives)),
        }
    }

    fn atom(&mut self, atom: &ast::Atom) -> Atom {
        let key = Relation {
            name: atom.name,
            arity: atom.args.len() as u32,
        };
        let next = RelationId(self.relations.len() as u32);
        let relation = *self.by_key.entry(key).or_insert(next);
        if relation == next {
            self.relations.push(key);
        }
        Atom {
            relation,
            args: atom.args.iter().map(|arg| self.term(arg)).collect(),
        }
    }

    fn term(&mut self, term: &ast::Term) -> Term {
        match term {
            ast::Term::Variable(name, _) => Term::Variable(self.variable(*name)),
            ast::Term::Constant(name, _) => Term::Constant(*name),
            ast::Term::Compound(name, args, _) => {
                Term::Compound(*name, args.iter().map(|arg| self.term(arg)).collect())
            }
        }
    }

    fn variable(&mut self, name: SymbolId) -> VariableId {
        let (rule_number, number) = self.numbers[name.0 as usize];
        if rule_number == self.rule_number {
            return number;
        }
        let number = VariableId(self.variables.len() as u32);
        self.variables.push(name);
        self.numbers[name.0 as usize] = (self.rule_number, number);
        number
    }
}
