//! Lowering: rules as written → rules in their small form.
//!
//! It runs only on descriptions without errors. Negation is pushed to the atoms, `and` is merged into its body, double
//! negation is dropped, `not distinct` becomes an equality, variables are numbered, and an unbound role variable gets
//! the `role` literal that its author left out.

use rustc_hash::FxHashMap;

use crate::ast;
use crate::rules::{Atom, Literal, Relation, RelationId, Rule, Term, VariableId};
use crate::symbol::{Keyword, SymbolId};

/// Relations and rules in small form. `ranging` says per rule which variables range over the roles.
pub(crate) fn lower(
    description: &ast::Description,
    ranging: &FxHashMap<usize, Vec<SymbolId>>,
) -> (Vec<Relation>, Vec<Rule>) {
    let mut lowering = Lowering::new(description.symbols.len());
    let mut rules = Vec::with_capacity(description.rules.len());
    for (idx, rule) in description.rules.iter().enumerate() {
        rules.push(lowering.rule(rule, ranging.get(&idx).map_or(&[], Vec::as_slice)));
    }
    (lowering.relations, rules)
}

/// No relation.
const NONE: RelationId = RelationId(u32::MAX);

struct Lowering {
    relations: Vec<Relation>,
    /// The first relation of each name, or `NONE`; those with other arities are in `others`.
    by_name: Vec<RelationId>,
    others: FxHashMap<Relation, RelationId>,
    /// Variables of the current rule, in order of first occurrence.
    variables: Vec<SymbolId>,
    /// Per symbol: the last rule that used it as a variable, and its number there.
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
        let mut by_name = vec![NONE; n_symbols];
        for (idx, relation) in relations.iter().enumerate() {
            by_name[relation.name.0 as usize] = RelationId(idx as u32);
        }
        let numbers = vec![(0, VariableId(0)); n_symbols];
        Lowering {
            relations,
            by_name,
            others: FxHashMap::default(),
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
                self.any(members, negated, out);
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
            // Most alternatives are one literal, and there may be a million.
            let mut conjunction = Vec::with_capacity(1);
            self.literal(member, negated, &mut conjunction);
            match conjunction.as_mut_slice() {
                // An `or` directly inside an `or` adds its alternatives.
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
        let first = &mut self.by_name[key.name.0 as usize];
        let relation = match *first {
            NONE => {
                *first = next;
                next
            }
            known if self.relations[known.0 as usize] == key => known,
            _ => *self.others.entry(key).or_insert(next),
        };
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::{Limits, parse};

    const FRAME: &str = "(role a) (legal a go) (goal a 100) terminal\n";

    /// Prints the last rule in its small form, like `show --stage rules`.
    fn check(rule: &str, expected: Expect) {
        let description = parse(format!("{FRAME}{rule}").as_bytes(), &Limits::default());
        let rules = crate::check(&description).expect("the snippet is well-formed");
        let last = rules.rules.last().expect("there is a rule");
        expected.assert_eq(&crate::print::rule(&rules, last, crate::Syntax::Prefix));
    }

    #[test]
    fn an_empty_body_makes_a_fact() {
        check("(<= (p a))", expect!["(p a)"]);
    }

    #[test]
    fn a_proposition_with_brackets_is_the_same_without() {
        check(
            "(<= (next q) (open))",
            expect![[r#"
            (<= (next q)
                open)"#]],
        );
    }

    #[test]
    fn conjunctions_are_merged_into_their_body() {
        check(
            "(<= p (and q (and r s)) t)",
            expect![[r#"
            (<= p
                q
                r
                s
                t)"#]],
        );
    }

    #[test]
    fn a_double_negation_is_dropped() {
        check(
            "(<= p (not (not q)))",
            expect![[r#"
            (<= p
                q)"#]],
        );
    }

    #[test]
    fn a_negated_distinct_is_an_equality() {
        check(
            "(<= (p ?x) (q ?y) (not (distinct ?x ?y)))",
            expect![[r#"
            (<= (p ?x)
                (q ?y)
                (not (distinct ?x ?y)))"#]],
        );
    }

    #[test]
    fn a_negated_disjunction_is_a_conjunction_of_negations() {
        check(
            "(<= p (not (or q (not r) (distinct a b))))",
            expect![[r#"
            (<= p
                (not q)
                r
                (not (distinct a b)))"#]],
        );
    }

    #[test]
    fn a_negated_conjunction_inside_is_a_disjunction() {
        check(
            "(<= p (not (or (and q r) s)))",
            expect![[r#"
            (<= p
                (or (not q) (not r))
                (not s))"#]],
        );
    }

    #[test]
    fn nested_and_single_disjunctions_are_flattened() {
        check(
            "(<= p (or q (or r (and s t))))",
            expect![[r#"
            (<= p
                (or q r (and s t)))"#]],
        );
        check(
            "(<= p (or (and q r)))",
            expect![[r#"
            (<= p
                q
                r)"#]],
        );
    }

    #[test]
    fn an_unbound_role_variable_gets_its_literal() {
        check(
            "(<= (legal ?r wait) (true idle))",
            expect![[r#"
            (<= (legal ?r wait)
                (true idle)
                (role ?r))"#]],
        );
    }

    #[test]
    fn variables_are_numbered_from_the_head_on() {
        let description = parse(
            format!("{FRAME}(<= (p ?y ?x) (q ?z ?x ?y))").as_bytes(),
            &Limits::default(),
        );
        let rules = crate::check(&description).expect("the snippet is well-formed");
        let names: Vec<&str> = rules.rules[4]
            .variables
            .iter()
            .map(|&name| rules.symbols.name(name))
            .collect();
        assert_eq!(names, ["?y", "?x", "?z"]);
    }
}
