//! Emits ground rules: every instance of every clause whose head depends on the state or the moves.
//!
//! Once the reachable rows are known, an atom is a row of a relation, so that an instance needs a lookup only for its
//! head and its negated conditions. Conditions that do not depend on the state are tested and left out.
//!
//! A clause that can be decomposed is emitted both ways, and the form with fewer literals is kept: decomposition
//! shrinks large joins, but enlarges those whose variables determine each other.

use rustc_hash::FxHashSet;

use crate::clause::{Clause, Condition, Head, RelId};
use crate::error::GroundLimits;
use crate::join::{Bounds, Budget, Flow, Join, Sink, Store};
use crate::plan::{Value, plan, value};
use crate::reach::{Exceeded, Rows};
use crate::relation::Relation;
use crate::term::TermId;

/// Ground rules over raw atoms (rows of relations, numbered consecutively), stored flat.
#[derive(Default)]
pub(crate) struct RawRules {
    pub(crate) heads: Vec<u32>,
    /// End of the body of each rule in `literals`.
    pub(crate) ends: Vec<u32>,
    /// Twice the atom, plus one if negated.
    pub(crate) literals: Vec<u32>,
}

impl RawRules {
    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    pub(crate) fn body(&self, rule: usize) -> &[u32] {
        let start = if rule == 0 {
            0
        } else {
            self.ends[rule - 1] as usize
        };
        &self.literals[start..self.ends[rule] as usize]
    }

    fn truncate(&mut self, n_rules: usize) {
        self.heads.truncate(n_rules);
        self.ends.truncate(n_rules);
        self.literals
            .truncate(self.ends.last().map_or(0, |&end| end as usize));
    }

    /// The cost of the rules in a network: one gate per rule and one input per literal.
    fn cost(&self) -> usize {
        self.heads.len() + self.literals.len()
    }

    fn bytes(&self) -> u64 {
        (self.heads.len() * 8 + self.literals.len() * 4) as u64
    }
}

/// First atom of each dynamic relation.
pub(crate) struct Numbering {
    starts: Vec<u32>,
    pub(crate) n_atoms: u32,
}

impl Numbering {
    pub(crate) fn new(store: &Store, is_dynamic: &[bool]) -> Numbering {
        let mut n_atoms = 0;
        let starts = store
            .relations
            .iter()
            .zip(is_dynamic)
            .map(|(relation, &is_dynamic)| {
                let start = n_atoms;
                n_atoms += if is_dynamic { relation.len() } else { 0 };
                start
            })
            .collect();
        Numbering { starts, n_atoms }
    }

    pub(crate) fn atom(&self, relation: RelId, row: u32) -> u32 {
        self.starts[relation.idx()] + row
    }
}

/// A clause as written, with its decomposition if it has one.
pub(crate) struct Choice {
    pub(crate) clause: Clause,
    pub(crate) decomposed: Option<(Clause, Vec<RelId>)>,
}

pub(crate) struct Emitter<'a, 'b> {
    pub(crate) is_dynamic: &'a [bool],
    pub(crate) limits: &'a GroundLimits,
    pub(crate) stop: &'a dyn Fn() -> bool,
    pub(crate) rows: &'a mut Rows<'b>,
    pub(crate) store: &'a mut Store,
    pub(crate) numbering: &'a Numbering,
    /// Clauses of the auxiliary relations.
    pub(crate) auxiliaries: &'a rustc_hash::FxHashMap<RelId, Clause>,
    pub(crate) rules: RawRules,
    pub(crate) join: Join,
    pub(crate) emitted: FxHashSet<RelId>,
}

/// How the emission of a clause ended.
enum Outcome {
    Done,
    /// More literals or steps than allowed.
    Over,
}

impl Emitter<'_, '_> {
    /// Emits the instances of a clause in the cheaper of its forms. `Err` names the limit.
    pub(crate) fn emit(&mut self, choice: &Choice, idx: usize) -> Result<(), Exceeded> {
        let exceeded = |what| Exceeded { what, clause: idx };
        if (self.stop)() {
            return Err(exceeded("time"));
        }
        let room = self.room();
        let Some((decomposed, uses)) = &choice.decomposed else {
            return match self.clause(&choice.clause, room, self.limits.steps) {
                Outcome::Done => Ok(()),
                Outcome::Over => Err(exceeded(self.join.exceeded.unwrap_or("rules"))),
            };
        };
        let before = self.rules.len();
        let cost_before = self.rules.cost();
        let mut fresh = Vec::new();
        let mut n_steps = 0;
        let mut is_over = false;
        for relation in uses {
            // Relations that do not depend on the state need no rules.
            if self.is_dynamic[relation.idx()] && self.emitted.insert(*relation) {
                fresh.push(*relation);
                let Some(clause) = self.auxiliaries.get(relation) else {
                    continue;
                };
                is_over |= matches!(self.clause(clause, room, self.limits.steps), Outcome::Over);
                n_steps += self.join.n_steps;
            }
        }
        is_over |= matches!(
            self.clause(decomposed, room, self.limits.steps),
            Outcome::Over
        );
        n_steps += self.join.n_steps;
        if is_over {
            return Err(exceeded(self.join.exceeded.unwrap_or("rules")));
        }
        // Try the other form for as long as it stays cheaper.
        let cost = self.rules.cost() - cost_before;
        let middle = self.rules.len();
        let literals = self.rules.literals.len();
        match self.clause(&choice.clause, cost, n_steps * 4 + 1000) {
            Outcome::Over => self.rules.truncate(middle),
            Outcome::Done => {
                self.keep_second(before, middle, literals);
                for relation in fresh {
                    self.emitted.remove(&relation);
                }
            }
        }
        Ok(())
    }

    /// Number of literals that may still be emitted.
    fn room(&self) -> usize {
        let left = self.limits.bytes.saturating_sub(self.rules.bytes());
        let rules = self.limits.rules.saturating_sub(self.rules.len() as u64);
        usize::try_from((left / 6).min(rules * 8)).unwrap_or(usize::MAX)
    }

    /// Removes the rules from `before` to `middle`.
    fn keep_second(&mut self, before: usize, middle: usize, literals: usize) {
        let first_literal = if before == 0 {
            0
        } else {
            self.rules.ends[before - 1] as usize
        };
        self.rules.heads.drain(before..middle);
        self.rules.ends.drain(before..middle);
        self.rules.literals.drain(first_literal..literals);
        let shift = (literals - first_literal) as u32;
        self.rules.ends[before..]
            .iter_mut()
            .for_each(|end| *end -= shift);
    }

    fn clause(&mut self, clause: &Clause, max_cost: usize, most_steps: u64) -> Outcome {
        let is_dynamic = self.is_dynamic;
        let is_tested = |relation: RelId| !is_dynamic[relation.idx()];
        let plan = plan(clause, None, &mut self.store.relations, is_tested);
        let ends: Vec<u32> = clause
            .body
            .iter()
            .map(|condition| {
                condition
                    .relation()
                    .map_or(0, |relation| self.store.relations[relation.idx()].len())
            })
            .collect();
        let mut sink = Emit {
            head: &clause.head,
            values: clause.head.args().iter().map(value).collect(),
            positive: self.positive(clause),
            negative: self.negative(clause),
            tuple: Vec::new(),
            rows: self.rows,
            numbering: self.numbering,
            max_cost: self.rules.cost().saturating_add(max_cost),
            rules: &mut self.rules,
        };
        let shape = (clause.n_variables, clause.body.len());
        let bounds = Bounds {
            ends: &ends,
            first_start: 0,
        };
        let budget = Budget {
            steps: most_steps,
            bytes: u64::MAX,
            stop: self.stop,
        };
        if self
            .join
            .run(&plan, shape, &bounds, self.store, &budget, &mut sink)
        {
            Outcome::Done
        } else {
            Outcome::Over
        }
    }

    /// The atoms of the positive conditions that depend on the state, with the positions of the conditions in the body.
    fn positive(&self, clause: &Clause) -> Vec<(u32, Atoms)> {
        let conditions = clause.body.iter().enumerate();
        let dynamic = conditions.filter_map(|(idx, condition)| match condition {
            Condition::Holds(relation, _) if self.is_dynamic[relation.idx()] => {
                Some((idx as u32, self.atoms(*relation)))
            }
            _ => None,
        });
        dynamic.collect()
    }

    /// The atoms of the negated conditions that depend on the state, with the arguments of the conditions.
    fn negative(&self, clause: &Clause) -> Vec<(Atoms, Vec<Value>)> {
        let dynamic = clause.body.iter().filter_map(|condition| match condition {
            Condition::Fails(relation, args) if self.is_dynamic[relation.idx()] => {
                Some((self.atoms(*relation), args.iter().map(value).collect()))
            }
            _ => None,
        });
        dynamic.collect()
    }

    fn atoms(&self, relation: RelId) -> Atoms {
        Atoms {
            relation,
            first: self.numbering.atom(relation, 0),
            is_linked: self.rows.is_linked(relation),
        }
    }
}

/// The atoms of a relation.
#[derive(Clone, Copy)]
struct Atoms {
    relation: RelId,
    first: u32,
    /// Whether its rows are rows of split relations.
    is_linked: bool,
}

impl Atoms {
    /// The atom of a row. A row of a relation over all fluents or moves is mapped to its row in the split relation.
    #[inline]
    fn atom(&self, row: u32, rows: &Rows<'_>, numbering: &Numbering) -> u32 {
        if !self.is_linked {
            return self.first + row;
        }
        let (relation, row) = rows
            .link(self.relation, row)
            .unwrap_or((self.relation, row));
        numbering.atom(relation, row)
    }
}

/// Writes one ground rule per match of a clause.
struct Emit<'a, 'b> {
    head: &'a Head,
    values: Vec<Value>,
    positive: Vec<(u32, Atoms)>,
    negative: Vec<(Atoms, Vec<Value>)>,
    tuple: Vec<TermId>,
    rows: &'a mut Rows<'b>,
    numbering: &'a Numbering,
    rules: &'a mut RawRules,
    max_cost: usize,
}

impl Sink for Emit<'_, '_> {
    fn take(&mut self, store: &mut Store, registers: &[TermId], rows: &[u32]) -> Flow {
        self.tuple.clear();
        for value in &self.values {
            self.tuple.push(store.build(value, registers));
        }
        let relation = self.rows.resolve(self.head, &mut self.tuple, store);
        let row = store.relations[relation.idx()]
            .find(&self.tuple)
            .expect("a reachable head has a row");
        for (condition, atoms) in &self.positive {
            let atom = atoms.atom(rows[*condition as usize], self.rows, self.numbering);
            self.rules.literals.push(atom * 2);
        }
        for (atoms, values) in &self.negative {
            self.tuple.clear();
            for value in values {
                self.tuple.push(store.build(value, registers));
            }
            if let Some(row) = store.relations[atoms.relation.idx()].find(&self.tuple) {
                let atom = atoms.atom(row, self.rows, self.numbering);
                self.rules.literals.push(atom * 2 + 1);
            }
        }
        self.rules.heads.push(self.numbering.atom(relation, row));
        self.rules.ends.push(self.rules.literals.len() as u32);
        if self.rules.cost() > self.max_cost {
            Flow::Stop
        } else {
            Flow::Next
        }
    }
}

/// Number of rows of all relations.
pub(crate) fn total_rows(store: &Store) -> u64 {
    store
        .relations
        .iter()
        .map(|relation| u64::from(Relation::len(relation)))
        .sum()
}
