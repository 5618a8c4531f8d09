//! The interpreter against a naive evaluator, on random small games.
//!
//! The naive evaluator has no tables, no indexes and no planned order: it matches every body against every known atom
//! until nothing new follows, stratum by stratum. The games have the features of real sheets: recursion, negation
//! between strata, `or`, equality, `distinct`, function terms and joint moves. Each derived predicate is exposed
//! through a legal move, so that comparing legal moves compares everything that is derived.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use agon_engine::{Interpreter, JointMove, Machine, MoveId, RoleId};
use agon_gdl::{Atom, Literal, RelationId, Rule, Rules, Term};

const N_GAMES: u64 = 150;
const N_STEPS: usize = 3;

#[test]
fn the_interpreter_agrees_with_the_naive_evaluator() {
    for seed in 1..=N_GAMES {
        let sheet = Generator {
            seed: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        }
        .sheet();
        let description = agon_gdl::parse(sheet.as_bytes(), &agon_gdl::Limits::default());
        let rules = agon_gdl::check(&description)
            .unwrap_or_else(|_| panic!("seed {seed} is not a valid game:\n{sheet}"));
        play(&Arc::new(rules), seed, &sheet);
    }
}

/// Plays a few steps and compares everything.
fn play(rules: &Arc<Rules>, seed: u64, sheet: &str) {
    let interpreter = Interpreter::new(rules.clone())
        .unwrap_or_else(|error| panic!("{error}, seed {seed}:\n{sheet}"));
    let interpreter = Arc::new(interpreter);
    let mut machine = interpreter.machine();
    let mut naive = Naive {
        rules,
        state: BTreeSet::new(),
        does: Vec::new(),
    };
    naive.state = naive.texts(RelationId::INIT, 0);
    for step in 0..N_STEPS {
        let place = || format!("seed {seed}, step {step}:\n{sheet}");
        let state: BTreeSet<String> = interpreter.fluents(&machine.state()).into_iter().collect();
        assert_eq!(state, naive.state, "state, {}", place());
        let atoms = naive.derive();
        assert_eq!(
            machine.is_terminal(),
            atoms
                .iter()
                .any(|atom| atom.relation == RelationId::TERMINAL),
            "{}",
            place()
        );
        let mut joint = Vec::new();
        for role in RoleId::all(rules.roles.len()) {
            let mut legal: Vec<(String, MoveId)> = Vec::new();
            for &move_id in machine.legal_moves(role) {
                legal.push((interpreter.move_text(move_id), move_id));
            }
            legal.sort_unstable();
            let texts: BTreeSet<String> = legal.iter().map(|(text, _)| text.clone()).collect();
            assert_eq!(
                texts,
                naive.values_of_role(&atoms, RelationId::LEGAL, role),
                "legal, {}",
                place()
            );
            let goals: BTreeSet<String> = machine.goals(role).into_iter().collect();
            assert_eq!(
                goals,
                naive.values_of_role(&atoms, RelationId::GOAL, role),
                "goals, {}",
                place()
            );
            joint.push(legal[(seed as usize + step * 7) % legal.len()].clone());
        }
        naive.does = joint.iter().map(|(text, _)| text.clone()).collect();
        naive.state = naive.texts(RelationId::NEXT, 0);
        machine.advance(&JointMove::new(joint.iter().map(|&(_, move_id)| move_id)));
        assert!(machine.take_fault().is_none(), "{}", place());
    }
}

/// Derives everything from a state and a joint move by naive evaluation.
struct Naive<'a> {
    rules: &'a Rules,
    state: BTreeSet<String>,
    does: Vec<String>,
}

type Binding = Vec<Option<Term>>;

impl Naive<'_> {
    /// All atoms that follow. Predicates `s0…`, `s1…`, `s2…` come after the facts in this order, all others later.
    fn derive(&self) -> BTreeSet<Atom> {
        let mut atoms = BTreeSet::new();
        for fluent in &self.state {
            atoms.insert(Atom {
                relation: RelationId::TRUE,
                args: Box::new([self.term(fluent)]),
            });
        }
        for (role, action) in self.rules.roles.iter().zip(&self.does) {
            atoms.insert(Atom {
                relation: RelationId::DOES,
                args: Box::new([role.clone(), self.term(action)]),
            });
        }
        for stratum in 0..6 {
            loop {
                let mut new = Vec::new();
                for rule in self
                    .rules
                    .rules
                    .iter()
                    .filter(|rule| self.stratum_of_rule(rule) == stratum)
                {
                    let binding = vec![None; rule.variables.len()];
                    solve(
                        &rule.body.iter().collect::<Vec<_>>(),
                        &binding,
                        &atoms,
                        &mut |binding| {
                            let head = substitute_atom(&rule.head, binding);
                            new.extend((!atoms.contains(&head)).then_some(head));
                        },
                    );
                }
                if new.is_empty() {
                    break;
                }
                atoms.extend(new);
            }
        }
        atoms
    }

    /// The rule for `(goal black 0)` negates another goal: it comes after all others.
    fn stratum_of_rule(&self, rule: &Rule) -> usize {
        let is_goal = |literal: &Literal| matches!(literal, Literal::Negative(atom) if atom.relation == RelationId::GOAL);
        if rule.body.iter().any(is_goal) {
            5
        } else {
            self.stratum(rule.head.relation)
        }
    }

    fn stratum(&self, relation: RelationId) -> usize {
        match self.rules.relation_name(relation).as_bytes() {
            [b's', digit @ b'0'..=b'2', ..] => usize::from(digit - b'0') + 1,
            _ if self
                .rules
                .rules
                .iter()
                .all(|rule| rule.head.relation != relation || rule.body.is_empty()) =>
            {
                0
            }
            _ => 4,
        }
    }

    fn texts(&self, relation: RelationId, place: usize) -> BTreeSet<String> {
        let atoms = self.derive();
        let matching = atoms.iter().filter(|atom| atom.relation == relation);
        matching
            .map(|atom| self.rules.term_text(&atom.args[place]))
            .collect()
    }

    fn values_of_role(
        &self,
        atoms: &BTreeSet<Atom>,
        relation: RelationId,
        role: RoleId,
    ) -> BTreeSet<String> {
        let role = &self.rules.roles[role.idx()];
        let matching = atoms
            .iter()
            .filter(|atom| atom.relation == relation && atom.args[0] == *role);
        matching
            .map(|atom| self.rules.term_text(&atom.args[1]))
            .collect()
    }

    /// Reads a term with the reader of rulesheets.
    fn term(&self, text: &str) -> Term {
        let spaced = text.replace('(', "( ").replace(')', " )");
        self.read(&mut spaced.split_whitespace())
    }

    fn read<'t>(&self, tokens: &mut impl Iterator<Item = &'t str>) -> Term {
        let symbol = |name: &str| {
            self.rules
                .symbols
                .get(name)
                .expect("the name occurs in the sheet")
        };
        match tokens.next() {
            Some("(") => {
                let name = symbol(tokens.next().expect("a functor"));
                let mut args = Vec::new();
                let mut rest: Vec<&str> = Vec::new();
                let mut depth = 0;
                for token in tokens.by_ref() {
                    match token {
                        ")" if depth == 0 => break,
                        "(" => depth += 1,
                        ")" => depth -= 1,
                        _ => {}
                    }
                    rest.push(token);
                    if depth == 0 {
                        args.push(self.read(&mut std::mem::take(&mut rest).into_iter()));
                    }
                }
                Term::Compound(name, args.into())
            }
            name => Term::Constant(symbol(name.expect("a token"))),
        }
    }
}

/// Calls `found` for every way to satisfy the literals: positive atoms first, tests last.
fn solve(
    literals: &[&Literal],
    binding: &Binding,
    atoms: &BTreeSet<Atom>,
    found: &mut dyn FnMut(&Binding),
) {
    let without = |idx: usize| -> Vec<&Literal> {
        literals
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != idx)
            .map(|(_, &literal)| literal)
            .collect()
    };
    let ground = |term: &Term| substitute(term, binding).is_ground();
    for (idx, literal) in literals.iter().enumerate() {
        match literal {
            Literal::Positive(atom) => {
                for known in atoms.iter().filter(|known| known.relation == atom.relation) {
                    let mut extended = binding.clone();
                    let mut pairs = atom.args.iter().zip(&known.args);
                    if pairs.all(|(pattern, value)| unify(pattern, value, &mut extended)) {
                        solve(&without(idx), &extended, atoms, found);
                    }
                }
                return;
            }
            Literal::Or(alternatives) => {
                for alternative in alternatives {
                    let all: Vec<&Literal> = alternative.iter().chain(without(idx)).collect();
                    solve(&all, binding, atoms, found);
                }
                return;
            }
            _ => {}
        }
    }
    for (idx, literal) in literals.iter().enumerate() {
        if let Literal::Equal(left, right) = literal {
            let (pattern, value) = match (ground(left), ground(right)) {
                (true, _) => (right, substitute(left, binding)),
                (false, true) => (left, substitute(right, binding)),
                (false, false) => continue,
            };
            let mut extended = binding.clone();
            if unify(pattern, &value, &mut extended) {
                solve(&without(idx), &extended, atoms, found);
            }
            return;
        }
    }
    let holds = literals.iter().all(|literal| match literal {
        Literal::Negative(atom) => !atoms.contains(&substitute_atom(atom, binding)),
        Literal::Distinct(left, right) => substitute(left, binding) != substitute(right, binding),
        _ => unreachable!("positive atoms are handled above"),
    });
    if holds {
        found(binding);
    }
}

fn unify(pattern: &Term, value: &Term, binding: &mut Binding) -> bool {
    match (pattern, value) {
        (Term::Variable(variable), _) => match &binding[variable.0 as usize] {
            Some(bound) => bound == value,
            None => {
                binding[variable.0 as usize] = Some(value.clone());
                true
            }
        },
        (Term::Compound(name, args), Term::Compound(other, values)) => {
            name == other
                && args.len() == values.len()
                && args
                    .iter()
                    .zip(values)
                    .all(|(arg, value)| unify(arg, value, binding))
        }
        _ => pattern == value,
    }
}

fn substitute(term: &Term, binding: &Binding) -> Term {
    match term {
        Term::Variable(variable) => binding[variable.0 as usize]
            .clone()
            .unwrap_or_else(|| term.clone()),
        Term::Constant(_) => term.clone(),
        Term::Compound(name, args) => Term::Compound(
            *name,
            args.iter().map(|arg| substitute(arg, binding)).collect(),
        ),
    }
}

fn substitute_atom(atom: &Atom, binding: &Binding) -> Atom {
    Atom {
        relation: atom.relation,
        args: atom
            .args
            .iter()
            .map(|arg| substitute(arg, binding))
            .collect(),
    }
}

/// Generates random games.
struct Generator {
    seed: u64,
}

/// Derived predicates with their arities; the digit is the stratum.
const PREDICATES: [(&str, usize); 8] = [
    ("s0p", 1),
    ("s0q", 2),
    ("s0r", 2),
    ("s1p", 1),
    ("s1q", 2),
    ("s1n", 0),
    ("s2p", 1),
    ("s2q", 2),
];

impl Generator {
    fn sheet(&mut self) -> String {
        let mut sheet = String::from("(role white) (role black)\n");
        for _ in 0..5 {
            let (left, right) = (self.constant(), self.constant());
            let _ = writeln!(sheet, "(edge {left} {right})");
        }
        for constant in ["a", "b", "c"] {
            let _ = writeln!(sheet, "(node {constant})");
        }
        for fluent in ["(f a)", "(g a b)", "h", "(g b (pair a c))"] {
            if self.chance(60) {
                let _ = writeln!(sheet, "(init {fluent})");
            }
        }
        for (name, arity) in PREDICATES {
            let stratum = usize::from(name.as_bytes()[1] - b'0');
            for _ in 0..=self.below(2) {
                let rule = self.safe(|generator| {
                    let args: Vec<String> = (0..arity).map(|_| generator.argument(15)).collect();
                    format!(
                        "(<= ({name} {}) {})",
                        args.join(" "),
                        generator.body(stratum, 3)
                    )
                });
                let _ = writeln!(sheet, "{rule}");
            }
            let shown = ["?u", "?v"][..arity].join(" ");
            let _ = writeln!(
                sheet,
                "(<= (legal white (show {name} {shown})) ({name} {shown}))"
            );
        }
        sheet.push_str("(legal white stay) (legal black stay)\n(<= (legal black (go ?x ?y)) (node ?x) (node ?y))\n");
        for head in [
            "(next (f ?x))",
            "(next (g ?x ?y))",
            "(next (g ?x (pair ?y a)))",
            "(next h)",
            "(goal white ?x)",
        ] {
            let rule = self.safe(|generator| {
                let mut body = generator.body(3, 2);
                if head.starts_with("(next") && generator.chance(70) {
                    body.push_str(
                        [
                            "(does black (go ?x ?y))",
                            "(does ?r stay)",
                            "(does black ?m)",
                        ][generator.below(3)],
                    );
                }
                format!("(<= {head} {body})")
            });
            let _ = writeln!(sheet, "{rule}");
        }
        sheet.push_str("(<= terminal (s2p a) (s0q b ?x))\n(<= (goal black 0) (role black) (not (goal black 100)))\n");
        sheet.push_str("(<= (goal black 100) (true h))\n");
        sheet
    }

    /// The first of several attempts that the checker accepts as safe.
    fn safe(&mut self, mut rule: impl FnMut(&mut Generator) -> String) -> String {
        loop {
            let rule = rule(self);
            let sheet = format!(
                "(role white) (role black) (legal white stay) (goal white 0) (<= terminal (true h)) {rule}"
            );
            let description = agon_gdl::parse(sheet.as_bytes(), &agon_gdl::Limits::default());
            if agon_gdl::check(&description).is_ok() {
                return rule;
            }
        }
    }

    /// Positive literals of at most this stratum, negative ones below it.
    fn body(&mut self, stratum: usize, max_literals: usize) -> String {
        let mut body = String::new();
        for _ in 0..=self.below(max_literals) {
            body.push_str(&self.positive(stratum));
        }
        for _ in 0..self.below(3) {
            let (left, right) = (self.argument(30), self.argument(30));
            match self.below(4) {
                0 => _ = write!(body, "(distinct {left} {right})"),
                1 => _ = write!(body, "(not (distinct {left} {right}))"),
                2 => {
                    _ = write!(
                        body,
                        "(not {})",
                        self.atom(stratum.saturating_sub(1), stratum == 0)
                    );
                }
                _ => {
                    let (left, right) = (self.positive(stratum), self.positive(stratum));
                    let negated = self.atom(stratum.saturating_sub(1), stratum == 0);
                    let _ = write!(body, "(or {left} (and {right} (not {negated})))");
                }
            }
        }
        body
    }

    fn positive(&mut self, stratum: usize) -> String {
        if self.chance(30) {
            return format!("(edge {} {})", self.argument(20), self.argument(20));
        }
        self.atom(stratum, false)
    }

    fn atom(&mut self, stratum: usize, only_given: bool) -> String {
        let in_stratum = PREDICATES
            .iter()
            .filter(|(name, _)| usize::from(name.as_bytes()[1] - b'0') <= stratum);
        let derived: Vec<&(&str, usize)> = in_stratum.collect();
        match self.below(if only_given { 4 } else { 10 }) {
            0 => format!("(node {})", self.argument(20)),
            1 => format!("(true (f {}))", self.argument(20)),
            2 => format!("(true (g {} {}))", self.argument(20), self.argument(40)),
            3 => "(true h)".to_owned(),
            4 => format!(
                "(true (g {} (pair {} {})))",
                self.argument(20),
                self.argument(20),
                self.argument(20)
            ),
            _ => {
                let (name, arity) = *derived[self.below(derived.len())];
                let args: Vec<String> = (0..arity).map(|_| self.argument(20)).collect();
                format!("({name} {})", args.join(" "))
            }
        }
    }

    /// A variable or, with this probability in per cent, a constant.
    fn argument(&mut self, percent: usize) -> String {
        match self.chance(percent) {
            true => self.constant().to_owned(),
            false => ["?x", "?y", "?z"][self.below(3)].to_owned(),
        }
    }

    fn constant(&mut self) -> &'static str {
        ["a", "b", "c"][self.below(3)]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn below(&mut self, bound: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 20) as usize % bound
    }
}
