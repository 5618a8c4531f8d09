//! A game without variables: atoms, and rules between them.
//!
//! Atoms are numbered: first the fluents (`true`), then the moves of each role (`does`), then the derived atoms. The
//! rules of an atom are stored together, so that an atom is a disjunction of conjunctions. There are no atoms for facts
//! that always or never hold: they are folded away, and the outputs use [`Truth`] to say so.

use std::fmt;

use agon_gdl::SymbolTable;

use crate::term::{TermId, TermTable};

/// An atom of a [`GroundProgram`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AtomId(pub u32);

/// An atom or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Literal(u32);

impl Literal {
    /// The atom, or its negation.
    #[must_use]
    pub fn new(atom: AtomId, is_negated: bool) -> Literal {
        Literal(atom.0 * 2 + u32::from(is_negated))
    }

    /// The atom of the literal.
    #[must_use]
    pub fn atom(self) -> AtomId {
        AtomId(self.0 / 2)
    }

    /// Whether the literal is negated.
    #[must_use]
    pub fn is_negated(self) -> bool {
        self.0 % 2 == 1
    }
}

/// When an output holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Truth {
    /// In no state.
    Never,
    /// In every state.
    Always,
    /// In states where this atom holds.
    Atom(AtomId),
}

/// A fluent: a fact that may hold in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fluent {
    /// The `f` of `(true f)`.
    pub term: TermId,
    /// When it holds in the next state.
    pub next: Truth,
    /// Whether it holds in the initial state.
    pub is_initial: bool,
}

/// A move that a role may make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The `m` of `(does r m)`.
    pub term: TermId,
    /// When it is legal.
    pub legal: Truth,
    /// The `does` atom of the move.
    pub does: AtomId,
}

/// A goal value that a role may get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GoalValue {
    /// The value as written in the sheet; an integer from 0 to 100 in a valid game.
    pub value: TermId,
    /// When the role gets the value.
    pub holds: Truth,
}

/// A percept that a role may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Percept {
    /// The `p` of `(sees r p)`.
    pub term: TermId,
    /// When the role sees it, which may depend on the moves of the step.
    pub holds: Truth,
}

/// A role with its moves, goal values and percepts.
#[derive(Clone, Debug)]
pub struct Role {
    /// Its name.
    pub name: TermId,
    /// Its moves.
    pub moves: Vec<Move>,
    /// Its goal values.
    pub goals: Vec<GoalValue>,
    /// Its percepts; none in GDL-I.
    pub percepts: Vec<Percept>,
}

/// A ground game; see the module documentation.
#[derive(Clone)]
pub struct GroundProgram {
    /// All names.
    pub symbols: SymbolTable,
    /// All terms.
    pub terms: TermTable,
    /// The fluents; the atom of fluent i is atom i.
    pub fluents: Vec<Fluent>,
    /// The roles in order.
    pub roles: Vec<Role>,
    /// When the match is over.
    pub terminal: Truth,
    /// Whether it is a game of GDL-II, in which roles have percepts.
    pub is_gdl2: bool,
    /// The role that chance plays in GDL-II, as an index.
    pub random_role: Option<usize>,
    /// Sizes measured during grounding.
    pub counts: Counts,
    pub(crate) atoms: Atoms,
    pub(crate) rules: Rules,
}

/// Sizes of the stages of grounding.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Rows of all relations, including static ones.
    pub rows: u64,
    /// Ground rules before simplification.
    pub raw_rules: u64,
    /// Approximate size of rows and raw rules, in bytes.
    pub bytes: u64,
}

/// Names of the derived atoms, stored flat.
#[derive(Clone, Default)]
pub(crate) struct Atoms {
    /// Id of the first derived atom; fluents and moves have smaller ids.
    pub(crate) first_derived: u32,
    pub(crate) names: Vec<AtomName>,
    pub(crate) args: Vec<TermId>,
}

/// The name of a derived atom.
#[derive(Clone, Copy)]
pub(crate) struct AtomName {
    pub(crate) kind: NameKind,
    /// End of its arguments in `args`.
    pub(crate) end: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    Relation(agon_gdl::SymbolId),
    Auxiliary(u32),
}

/// Ground rules, grouped by head.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    /// Per derived atom: the end of its rules.
    pub(crate) rule_ends: Vec<u32>,
    /// Per rule: the end of its body.
    pub(crate) body_ends: Vec<u32>,
    pub(crate) literals: Vec<Literal>,
}

impl GroundProgram {
    /// Number of atoms: fluents, moves and derived atoms.
    #[must_use]
    pub fn n_atoms(&self) -> u32 {
        self.atoms.first_derived + self.atoms.names.len() as u32
    }

    /// Number of ground rules.
    #[must_use]
    pub fn n_rules(&self) -> usize {
        self.rules.body_ends.len()
    }

    /// Number of literals in all bodies.
    #[must_use]
    pub fn n_literals(&self) -> usize {
        self.rules.literals.len()
    }

    /// The derived atoms in order.
    pub fn derived(&self) -> impl ExactSizeIterator<Item = AtomId> + use<> {
        (self.atoms.first_derived..self.n_atoms()).map(AtomId)
    }

    /// Whether the atom is derived by rules, and is neither a fluent nor a move.
    #[must_use]
    pub fn is_derived(&self, atom: AtomId) -> bool {
        atom.0 >= self.atoms.first_derived
    }

    /// The bodies of the rules of a derived atom; empty for a fluent or move.
    pub fn bodies(&self, atom: AtomId) -> impl Iterator<Item = &[Literal]> + Clone {
        let rules = self.rule_range(atom);
        rules.map(|rule| {
            &self.rules.literals[self.body_start(rule)..self.rules.body_ends[rule] as usize]
        })
    }

    /// The literals of all bodies of an atom, concatenated.
    #[must_use]
    pub fn all_literals(&self, atom: AtomId) -> &[Literal] {
        let rules = self.rule_range(atom);
        &self.rules.literals[self.body_start(rules.start)..self.body_start(rules.end)]
    }

    fn rule_range(&self, atom: AtomId) -> std::ops::Range<usize> {
        if !self.is_derived(atom) {
            return 0..0;
        }
        let idx = (atom.0 - self.atoms.first_derived) as usize;
        let start = if idx == 0 {
            0
        } else {
            self.rules.rule_ends[idx - 1] as usize
        };
        start..self.rules.rule_ends[idx] as usize
    }

    fn body_start(&self, rule: usize) -> usize {
        if rule == 0 {
            0
        } else {
            self.rules.body_ends[rule - 1] as usize
        }
    }

    /// A term in prefix form.
    #[must_use]
    pub fn term_text(&self, term: TermId) -> String {
        self.terms.text(term, &self.symbols)
    }

    /// An atom in prefix form.
    #[must_use]
    pub fn atom_text(&self, atom: AtomId) -> String {
        if let Some(fluent) = self.fluents.get(atom.0 as usize) {
            return format!("(true {})", self.term_text(fluent.term));
        }
        if let Some(idx) = atom.0.checked_sub(self.atoms.first_derived) {
            return self.derived_text(idx as usize);
        }
        let find_move = |role: &Role| role.moves.iter().find(|mv| mv.does == atom).copied();
        let found = self
            .roles
            .iter()
            .find_map(|role| find_move(role).map(|mv| (role, mv)));
        found.map_or_else(String::new, |(role, mv)| {
            format!(
                "(does {} {})",
                self.term_text(role.name),
                self.term_text(mv.term)
            )
        })
    }

    fn derived_text(&self, idx: usize) -> String {
        let name = self.atoms.names[idx];
        let start = if idx == 0 {
            0
        } else {
            self.atoms.names[idx - 1].end as usize
        };
        let args = &self.atoms.args[start..name.end as usize];
        let mut out = match name.kind {
            NameKind::Relation(name) => self.symbols.name(name).to_owned(),
            NameKind::Auxiliary(n) => format!("#{n}"),
        };
        if args.is_empty() {
            return out;
        }
        out.insert(0, '(');
        for &arg in args {
            out.push(' ');
            self.terms.write(arg, &self.symbols, &mut out);
        }
        out.push(')');
        out
    }
}

impl fmt::Display for GroundProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let truth = |truth: Truth| match truth {
            Truth::Never => "never".to_owned(),
            Truth::Always => "always".to_owned(),
            Truth::Atom(atom) => self.atom_text(atom),
        };
        for fluent in &self.fluents {
            let initial = if fluent.is_initial { " initial" } else { "" };
            writeln!(
                f,
                "fluent {} next {}{initial}",
                self.term_text(fluent.term),
                truth(fluent.next)
            )?;
        }
        for role in &self.roles {
            let name = self.term_text(role.name);
            for mv in &role.moves {
                writeln!(
                    f,
                    "move {name} {} legal {}",
                    self.term_text(mv.term),
                    truth(mv.legal)
                )?;
            }
            for goal in &role.goals {
                writeln!(
                    f,
                    "goal {name} {} when {}",
                    self.term_text(goal.value),
                    truth(goal.holds)
                )?;
            }
            for percept in &role.percepts {
                writeln!(
                    f,
                    "percept {name} {} when {}",
                    self.term_text(percept.term),
                    truth(percept.holds)
                )?;
            }
        }
        writeln!(f, "terminal {}", truth(self.terminal))?;
        for atom in self.derived() {
            for body in self.bodies(atom) {
                write!(f, "{} <=", self.atom_text(atom))?;
                for literal in body {
                    let sign = if literal.is_negated() { "~" } else { "" };
                    write!(f, " {sign}{}", self.atom_text(literal.atom()))?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for GroundProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "GroundProgram({} fluents, {} atoms, {} rules)",
            self.fluents.len(),
            self.n_atoms(),
            self.n_rules()
        )
    }
}
