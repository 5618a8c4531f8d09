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

/// Ground rules over raw atoms (rows of relations, numbered consecutively), in blocks: there are millions of rules, and lists
/// that grow would be copied over and over, into fresh memory.
#[derive(Default)]
pub(crate) struct RawRules {
    /// All but the last are full.
    blocks: Vec<Block>,
    /// Number of literals in the full blocks.
    n_full_literals: usize,
}

/// A number of rules, stored flat.
#[derive(Default)]
struct Block {
    heads: Vec<u32>,
    /// End of the body of each rule in `literals`.
    ends: Vec<u32>,
    /// Twice the atom, plus one if negated.
    literals: Vec<u32>,
}

/// Number of rules in a full block.
const RULES_PER_BLOCK: usize = 1 << 15;

impl Block {
    fn body(&self, rule: usize) -> &[u32] {
        let start = rule.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.literals[start as usize..self.ends[rule] as usize]
    }

    /// Ends a rule, whose literals have been added.
    fn close(&mut self, head: u32) {
        self.heads.push(head);
        self.ends.push(self.literals.len() as u32);
    }
}

impl RawRules {
    pub(crate) fn len(&self) -> usize {
        let last = self.blocks.last().map_or(0, |block| block.heads.len());
        self.blocks.len().saturating_sub(1) * RULES_PER_BLOCK + last
    }

    pub(crate) fn n_literals(&self) -> usize {
        let last = self.blocks.last().map_or(0, |block| block.literals.len());
        self.n_full_literals + last
    }

    pub(crate) fn head(&self, rule: usize) -> u32 {
        self.blocks[rule / RULES_PER_BLOCK].heads[rule % RULES_PER_BLOCK]
    }

    pub(crate) fn body(&self, rule: usize) -> &[u32] {
        self.blocks[rule / RULES_PER_BLOCK].body(rule % RULES_PER_BLOCK)
    }

    /// The head and the body of each rule.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.blocks.iter().flat_map(|block| {
            let heads = block.heads.iter().enumerate();
            heads.map(|(rule, &head)| (head, block.body(rule)))
        })
    }

    /// All literals of all rules.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &u32> {
        self.blocks.iter().flat_map(|block| &block.literals)
    }

    /// The block that the next rule goes into.
    fn open(&mut self) -> &mut Block {
        let last = self.blocks.last();
        if last.is_none_or(|last| last.heads.len() == RULES_PER_BLOCK) {
            let block = last.map_or_else(Block::default, |last| Block {
                heads: Vec::with_capacity(RULES_PER_BLOCK),
                ends: Vec::with_capacity(RULES_PER_BLOCK),
                literals: Vec::with_capacity(last.literals.len() * 5 / 4),
            });
            self.n_full_literals = self.n_literals();
            self.blocks.push(block);
        }
        self.blocks.last_mut().expect("there is a block")
    }

    fn truncate(&mut self, n_rules: usize) {
        self.blocks.truncate(n_rules.div_ceil(RULES_PER_BLOCK));
        if let Some(last) = self.blocks.last_mut() {
            let n_last = (n_rules - 1) % RULES_PER_BLOCK + 1;
            last.heads.truncate(n_last);
            last.ends.truncate(n_last);
            last.literals.truncate(last.ends[n_last - 1] as usize);
        }
        let full = self.blocks.iter().rev().skip(1);
        self.n_full_literals = full.map(|block| block.literals.len()).sum();
    }

    /// Removes the rules from `start` to `end`.
    fn remove(&mut self, start: usize, end: usize) {
        let mut kept = RawRules::default();
        for rule in end..self.len() {
            kept.add(self.head(rule), self.body(rule));
        }
        self.truncate(start);
        for (head, body) in kept.iter() {
            self.add(head, body);
        }
    }

    fn add(&mut self, head: u32, body: &[u32]) {
        let block = self.open();
        block.literals.extend_from_slice(body);
        block.close(head);
    }

    /// The cost of the rules in a network: one gate per rule and one input per literal.
    fn cost(&self) -> usize {
        self.len() + self.n_literals()
    }

    fn bytes(&self) -> u64 {
        (self.len() * 8 + self.n_literals() * 4) as u64
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
        match self.clause(&choice.clause, cost, n_steps * 4 + 1000) {
            Outcome::Over => self.rules.truncate(middle),
            Outcome::Done => {
                self.rules.remove(before, middle);
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
        let block = self.rules.open();
        for (condition, atoms) in &self.positive {
            let atom = atoms.atom(rows[*condition as usize], self.rows, self.numbering);
            block.literals.push(atom * 2);
        }
        for (atoms, values) in &self.negative {
            self.tuple.clear();
            for value in values {
                self.tuple.push(store.build(value, registers));
            }
            if let Some(row) = store.relations[atoms.relation.idx()].find(&self.tuple) {
                let atom = atoms.atom(row, self.rows, self.numbering);
                block.literals.push(atom * 2 + 1);
            }
        }
        block.close(self.numbering.atom(relation, row));
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

#[cfg(test)]
mod tests {
    use super::{RULES_PER_BLOCK, RawRules};

    #[test]
    fn rules_are_removed_across_blocks() {
        let rule = |head: usize| (head as u32, vec![head as u32; head % 3]);
        let mut rules = RawRules::default();
        for (head, body) in (0..3 * RULES_PER_BLOCK + 1).map(rule) {
            rules.add(head, &body);
        }
        let half = RULES_PER_BLOCK / 2;
        rules.remove(half, 2 * RULES_PER_BLOCK);
        assert_eq!(rules.len(), half + RULES_PER_BLOCK + 1);
        rules.truncate(RULES_PER_BLOCK);
        let left = (0..half).chain((2 * RULES_PER_BLOCK..).take(half));
        let left: Vec<(u32, Vec<u32>)> = left.map(rule).collect();
        assert_eq!(rules.len(), left.len());
        let n_literals: usize = left.iter().map(|(_, body)| body.len()).sum();
        assert_eq!(rules.n_literals(), n_literals);
        for (idx, (head, body)) in left.iter().enumerate() {
            assert_eq!((rules.head(idx), rules.body(idx)), (*head, &body[..]));
        }
        let all = rules.iter().map(|(head, body)| (head, body.to_vec()));
        assert_eq!(all.collect::<Vec<_>>(), left);
    }
}
