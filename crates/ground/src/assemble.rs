//! Assembles the final program from raw rules and their bounds: constants folded, ids dense, rules grouped by head.

use agon_gdl::{RelationId, Rules};
use rustc_hash::FxHashSet;

use crate::clause::{Meaning, RelId};
use crate::emit::{Numbering, RawRules};
use crate::join::Store;
use crate::program::{
    AtomId, AtomName, Atoms, Counts, Fluent, GoalValue, GroundProgram, Literal, Move, NameKind,
    Percept, Role, Rules as GroundRules, Truth,
};
use crate::reach::{Rows, n_before};
use crate::simplify::{Bounds, Links};
use crate::term::TermId;

/// What the keywords say about the rows: the initial fluents, and which atoms follow from which.
pub(crate) fn links(
    rules: &Rules,
    rows: &mut Rows<'_>,
    store: &mut Store,
    numbering: &Numbering,
) -> Links {
    let roles: FxHashSet<TermId> = role_terms(rules, store).into_iter().collect();
    let mut links = Links {
        initial: Vec::new(),
        follows: Vec::new(),
    };
    for relation in rows.catalog.ids() {
        let meaning = rows.catalog.meaning(relation);
        if matches!(meaning, Meaning::OfAny(_)) {
            continue;
        }
        let target = match meaning.relation() {
            Some(RelationId::INIT | RelationId::NEXT) => RelationId::TRUE,
            Some(RelationId::LEGAL) => RelationId::DOES,
            _ => continue,
        };
        let follower = rows.counterpart(relation, target);
        for row in 0..store.relations[relation.idx()].len() {
            let tuple = store.relations[relation.idx()].row(row);
            // Only roles make moves.
            if target == RelationId::DOES && !roles.contains(&tuple[0]) {
                continue;
            }
            let Some(at) = store.relations[follower.idx()].find(tuple) else {
                continue;
            };
            let atom = numbering.atom(follower, at);
            if meaning.relation() == Some(RelationId::INIT) {
                links.initial.push(atom);
            } else {
                links.follows.push((numbering.atom(relation, row), atom));
            }
        }
    }
    links
}

/// The roles as terms, in order.
fn role_terms(rules: &Rules, store: &mut Store) -> Vec<TermId> {
    fn intern(term: &agon_gdl::Term, store: &mut Store) -> TermId {
        match term {
            agon_gdl::Term::Compound(name, args) => {
                let args: Vec<TermId> = args.iter().map(|arg| intern(arg, store)).collect();
                store.terms.compound(*name, &args)
            }
            agon_gdl::Term::Constant(name) => store.terms.constant(*name),
            agon_gdl::Term::Variable(_) => unreachable!("role facts are ground"),
        }
    }
    rules.roles.iter().map(|role| intern(role, store)).collect()
}

/// Number of atoms between two looks at `stop`.
const ATOMS_PER_LOOK: usize = 1 << 14;

/// Assembles the program; `None` if `stop` returns true.
pub(crate) fn assemble(
    rules: &Rules,
    rows: &mut Rows<'_>,
    store: &mut Store,
    numbering: &Numbering,
    (raw, links, bounds): (RawRules, &Links, &Bounds),
    (is_dynamic, stop): (&[bool], &dyn Fn() -> bool),
) -> Option<GroundProgram> {
    let mut assembly = Assembly {
        store,
        rows,
        numbering,
        bounds,
        new_ids: vec![NONE; numbering.n_atoms as usize],
    };
    // Step 1. Number fluents and moves.
    let mut fluents = assembly.fluents(links);
    let mut roles = assembly.roles(rules);
    let first_derived = fluents.len() + roles.iter().map(|role| role.moves.len()).sum::<usize>();
    // Step 2. Number the atoms that the outputs need.
    let outputs = (!stop()).then(|| assembly.outputs(rules.is_gdl2()))?;
    let (n_raw, n_raw_literals) = (raw.len(), raw.n_literals());
    let by_head = ByHead::new(&raw, numbering.n_atoms);
    drop(raw);
    let order = assembly.needed(&by_head, &outputs, first_derived as u32);
    // Step 3. Fill in when the outputs hold, now that all ids are known.
    assembly.fill(&mut fluents, &mut roles, rules);
    let terminal = assembly.terminal();
    let atoms = assembly.names(is_dynamic, &order, first_derived as u32, rules);
    let ground_rules = assembly.rules(by_head, &order, stop)?;
    let counts = Counts {
        rows: crate::emit::total_rows(assembly.store),
        raw_rules: n_raw as u64,
        bytes: assembly.store.bytes() + (n_raw * 8 + n_raw_literals * 4) as u64,
    };
    let terms = std::mem::take(&mut assembly.store.terms);
    Some(GroundProgram {
        symbols: rules.symbols.clone(),
        terms,
        fluents,
        roles,
        terminal,
        is_gdl2: rules.is_gdl2(),
        random_role: rules.random_role(),
        counts,
        atoms,
        rules: ground_rules,
    })
}

const NONE: u32 = u32::MAX;
/// Instead of the id of an atom: it holds in no state, or in every state.
const NEVER: u32 = u32::MAX - 1;
const ALWAYS: u32 = u32::MAX - 2;

struct Assembly<'a, 'b> {
    store: &'a mut Store,
    rows: &'a mut Rows<'b>,
    numbering: &'a Numbering,
    bounds: &'a Bounds,
    /// Maps raw atoms to final ids.
    new_ids: Vec<u32>,
}

impl Assembly<'_, '_> {
    /// Relations of a keyword, without the relation over all fluents or moves.
    fn relations_of(&self, keyword: RelationId) -> Vec<RelId> {
        let is_split = |relation: &RelId| {
            let meaning = self.rows.catalog.meaning(*relation);
            meaning.relation() == Some(keyword) && !matches!(meaning, Meaning::OfAny(_))
        };
        self.rows.catalog.ids().filter(is_split).collect()
    }

    fn fluents(&mut self, links: &Links) -> Vec<Fluent> {
        let initial: FxHashSet<u32> = links.initial.iter().copied().collect();
        let mut fluents = Vec::new();
        for relation in self.relations_of(RelationId::TRUE) {
            for row in 0..self.store.relations[relation.idx()].len() {
                let atom = self.numbering.atom(relation, row);
                if !self.bounds.possible[atom as usize] {
                    continue;
                }
                let tuple = self.store.relations[relation.idx()].row(row).to_vec();
                let term = self.rows.whole(relation, &tuple, self.store);
                self.new_ids[atom as usize] = fluents.len() as u32;
                fluents.push(Fluent {
                    term,
                    next: Truth::Never,
                    is_initial: initial.contains(&atom),
                });
            }
        }
        fluents
    }

    fn roles(&mut self, rules: &Rules) -> Vec<Role> {
        let n_fluents = self.new_ids.iter().filter(|&&id| id != NONE).count() as u32;
        let mut next = n_fluents;
        let names = role_terms(rules, self.store);
        let relations = self.relations_of(RelationId::DOES);
        let mut roles: Vec<Role> = names
            .iter()
            .map(|&name| Role {
                name,
                moves: Vec::new(),
                goals: Vec::new(),
                percepts: Vec::new(),
            })
            .collect();
        for (role, &name) in roles.iter_mut().zip(&names) {
            for &relation in &relations {
                for row in 0..self.store.relations[relation.idx()].len() {
                    let atom = self.numbering.atom(relation, row);
                    let tuple = self.store.relations[relation.idx()].row(row);
                    if tuple[0] != name || !self.bounds.possible[atom as usize] {
                        continue;
                    }
                    let tuple = tuple.to_vec();
                    let term = self.rows.whole(relation, &tuple, self.store);
                    self.new_ids[atom as usize] = next;
                    role.moves.push(Move {
                        term,
                        legal: Truth::Never,
                        does: AtomId(next),
                    });
                    next += 1;
                }
            }
        }
        roles
    }

    /// Raw atoms that the outputs of the game refer to.
    fn outputs(&self, is_gdl2: bool) -> Vec<u32> {
        let mut outputs = Vec::new();
        for keyword in [
            RelationId::NEXT,
            RelationId::LEGAL,
            RelationId::GOAL,
            RelationId::TERMINAL,
            RelationId::SEES,
        ] {
            if keyword == RelationId::SEES && !is_gdl2 {
                continue;
            }
            for relation in self.relations_of(keyword) {
                let rows = 0..self.store.relations[relation.idx()].len();
                outputs.extend(rows.map(|row| self.numbering.atom(relation, row)));
            }
        }
        outputs
    }

    /// Numbers and returns the derived atoms that the outputs need, in raw order.
    fn needed(&mut self, by_head: &ByHead, outputs: &[u32], first: u32) -> Vec<u32> {
        let bounds = self.bounds;
        let is_open = |atom: u32| bounds.possible[atom as usize] && !bounds.certain[atom as usize];
        let mut is_needed = vec![false; self.numbering.n_atoms as usize];
        let mut need = |atom: u32, queue: &mut Vec<u32>| {
            if is_open(atom) && !std::mem::replace(&mut is_needed[atom as usize], true) {
                queue.push(atom);
            }
        };
        let mut queue: Vec<u32> = Vec::new();
        outputs.iter().for_each(|&atom| need(atom, &mut queue));
        while let Some(atom) = queue.pop() {
            for body in by_head.bodies(atom).filter(|body| self.fires(body)) {
                body.iter()
                    .for_each(|literal| need(literal / 2, &mut queue));
            }
        }
        let is_derived =
            |atom: &u32| is_needed[*atom as usize] && self.new_ids[*atom as usize] == NONE;
        let order: Vec<u32> = (0..self.numbering.n_atoms).filter(is_derived).collect();
        for (idx, &atom) in order.iter().enumerate() {
            self.new_ids[atom as usize] = first + idx as u32;
        }
        order
    }

    /// Whether a rule can fire at all.
    fn fires(&self, body: &[u32]) -> bool {
        body.iter().all(|literal| {
            let atom = (literal / 2) as usize;
            if literal % 2 == 1 {
                !self.bounds.certain[atom]
            } else {
                self.bounds.possible[atom]
            }
        })
    }

    fn truth(&self, atom: u32) -> Truth {
        if self.bounds.certain[atom as usize] {
            Truth::Always
        } else if self.bounds.possible[atom as usize] {
            Truth::Atom(AtomId(self.new_ids[atom as usize]))
        } else {
            Truth::Never
        }
    }

    fn fill(&mut self, fluents: &mut [Fluent], roles: &mut [Role], rules: &Rules) {
        let (is_gdl2, random_role) = (rules.is_gdl2(), rules.random_role());
        for relation in self.relations_of(RelationId::NEXT) {
            let target = self.rows.counterpart(relation, RelationId::TRUE);
            self.for_each_pair(relation, target, |this, from, to| {
                if let Some(fluent) = fluents.get_mut(this.new_ids[to as usize] as usize) {
                    fluent.next = this.truth(from);
                }
            });
        }
        let mut by_does: Vec<(usize, usize)> = Vec::new();
        for (role_idx, role) in roles.iter().enumerate() {
            by_does.extend((0..role.moves.len()).map(|move_idx| (role_idx, move_idx)));
        }
        for relation in self.relations_of(RelationId::LEGAL) {
            let target = self.rows.counterpart(relation, RelationId::DOES);
            self.for_each_pair(relation, target, |this, from, to| {
                let slot = this.new_ids[to as usize].checked_sub(fluents.len() as u32);
                if let Some(&(role_idx, move_idx)) =
                    slot.and_then(|slot| by_does.get(slot as usize))
                {
                    roles[role_idx].moves[move_idx].legal = this.truth(from);
                }
            });
        }
        self.goals(roles);
        // The goals of chance mean nothing; without them, nothing takes it for an opponent.
        if let Some(random) = random_role {
            roles[random].goals.clear();
        }
        if is_gdl2 {
            self.percepts(roles);
        }
    }

    /// Calls `visit` with the raw atoms of each row of one relation and of the same row in another.
    fn for_each_pair(&self, from: RelId, to: RelId, mut visit: impl FnMut(&Self, u32, u32)) {
        for row in 0..self.store.relations[from.idx()].len() {
            let tuple = self.store.relations[from.idx()].row(row);
            if let Some(other) = self.store.relations[to.idx()].find(tuple) {
                visit(
                    self,
                    self.numbering.atom(from, row),
                    self.numbering.atom(to, other),
                );
            }
        }
    }

    fn goals(&self, roles: &mut [Role]) {
        for relation in self.relations_of(RelationId::GOAL) {
            for row in 0..self.store.relations[relation.idx()].len() {
                let holds = self.truth(self.numbering.atom(relation, row));
                let tuple = self.store.relations[relation.idx()].row(row);
                let found = roles.iter_mut().find(|role| role.name == tuple[0]);
                if let Some(role) = found.filter(|_| holds != Truth::Never) {
                    role.goals.push(GoalValue {
                        value: tuple[1],
                        holds,
                    });
                }
            }
        }
    }

    fn percepts(&self, roles: &mut [Role]) {
        for relation in self.relations_of(RelationId::SEES) {
            for row in 0..self.store.relations[relation.idx()].len() {
                let holds = self.truth(self.numbering.atom(relation, row));
                let tuple = self.store.relations[relation.idx()].row(row);
                let found = roles.iter_mut().find(|role| role.name == tuple[0]);
                if let Some(role) = found.filter(|_| holds != Truth::Never) {
                    let term = tuple[1];
                    role.percepts.push(Percept { term, holds });
                }
            }
        }
    }

    fn terminal(&self) -> Truth {
        let relations = self.relations_of(RelationId::TERMINAL);
        let rows = relations
            .iter()
            .filter(|relation| self.store.relations[relation.idx()].len() > 0);
        rows.map(|&relation| self.truth(self.numbering.atom(relation, 0)))
            .next()
            .unwrap_or(Truth::Never)
    }

    fn names(
        &self,
        is_dynamic: &[bool],
        order: &[u32],
        first_derived: u32,
        rules: &Rules,
    ) -> Atoms {
        let mut atoms = Atoms {
            first_derived,
            names: Vec::with_capacity(order.len()),
            args: Vec::new(),
        };
        let mut wanted = order.iter().copied().peekable();
        for relation in self
            .rows
            .catalog
            .ids()
            .filter(|relation| is_dynamic[relation.idx()])
        {
            let meaning = self.rows.catalog.meaning(relation);
            let rows = &self.store.relations[relation.idx()];
            let start = self.numbering.atom(relation, 0);
            while let Some(atom) = wanted.next_if(|&atom| atom < start + rows.len()) {
                let tuple = rows.row(atom - start);
                let kind = self.name(meaning, tuple, rules, &mut atoms.args);
                atoms.names.push(AtomName {
                    kind,
                    end: atoms.args.len() as u32,
                });
            }
        }
        atoms
    }

    fn name(
        &self,
        meaning: Meaning,
        tuple: &[TermId],
        rules: &Rules,
        args: &mut Vec<TermId>,
    ) -> NameKind {
        match meaning {
            Meaning::Auxiliary(n) | Meaning::Filter(n) => {
                args.extend_from_slice(tuple);
                NameKind::Auxiliary(n)
            }
            Meaning::Plain(relation) | Meaning::OfAny(relation) => {
                args.extend_from_slice(tuple);
                NameKind::Relation(rules.relation(relation).name)
            }
            Meaning::OfConstant(relation, name) => {
                args.extend_from_slice(tuple);
                args.extend(self.store.terms.find_constant(name));
                NameKind::Relation(rules.relation(relation).name)
            }
            Meaning::OfFunction(relation, name, _) => {
                let n_before = n_before(relation);
                args.extend_from_slice(&tuple[..n_before]);
                args.extend(self.store.terms.find_compound(name, &tuple[n_before..]));
                NameKind::Relation(rules.relation(relation).name)
            }
        }
    }

    /// The rules of the atoms in `order`, in the memory of `by_head`: the atoms come in the same order there, so that
    /// what is written never overtakes what is read.
    fn rules(
        &self,
        mut by_head: ByHead,
        order: &[u32],
        stop: &dyn Fn() -> bool,
    ) -> Option<GroundRules> {
        let values = self.values();
        let mut rule_ends = Vec::with_capacity(order.len());
        let (mut n_rules, mut n_literals) = (0, 0);
        let mut literals: Vec<u32> = Vec::new();
        let mut bodies: Vec<(u32, u32)> = Vec::new();
        for (idx, &atom) in order.iter().enumerate() {
            if idx % ATOMS_PER_LOOK == 0 && stop() {
                return None;
            }
            literals.clear();
            bodies.clear();
            for body in by_head.bodies(atom) {
                let start = literals.len();
                // A rule whose body contains its own head is redundant.
                if !body.contains(&(atom * 2)) && add_body(body, &values, &mut literals) {
                    bodies.push((start as u32, literals.len() as u32));
                }
            }
            let slice = |&(start, end): &(u32, u32)| &literals[start as usize..end as usize];
            bodies.sort_unstable_by(|left, right| slice(left).cmp(slice(right)));
            bodies.dedup_by(|left, right| slice(left) == slice(right));
            for body in &bodies {
                let body = slice(body);
                by_head.literals[n_literals..n_literals + body.len()].copy_from_slice(body);
                n_literals += body.len();
                by_head.body_ends[n_rules] = n_literals as u32;
                n_rules += 1;
            }
            rule_ends.push(n_rules as u32);
        }
        by_head.literals.truncate(n_literals);
        by_head.literals.shrink_to_fit();
        by_head.body_ends.truncate(n_rules);
        by_head.body_ends.shrink_to_fit();
        let literal = |code: u32| Literal::new(AtomId(code / 2), code % 2 == 1);
        Some(GroundRules {
            rule_ends,
            body_ends: by_head.body_ends,
            literals: by_head.literals.into_iter().map(literal).collect(),
        })
    }

    /// Per raw atom: its final id, or `NEVER` or `ALWAYS`.
    fn values(&self) -> Vec<u32> {
        let bounds = self.bounds.possible.iter().zip(&self.bounds.certain);
        let values = self.new_ids.iter().zip(bounds);
        let value = |(&id, (&is_possible, &is_certain)): (&u32, (&bool, &bool))| match () {
            () if is_certain => ALWAYS,
            () if !is_possible => NEVER,
            () => id,
        };
        values.map(value).collect()
    }
}

/// Appends a body over final ids, sorted and without duplicates and literals that always hold. Returns false, and appends
/// nothing, if the body never holds.
fn add_body(body: &[u32], values: &[u32], out: &mut Vec<u32>) -> bool {
    let start = out.len();
    for &literal in body {
        let (atom, sign) = (literal / 2, literal % 2);
        match values[atom as usize] {
            NEVER | ALWAYS => {
                if (values[atom as usize] == ALWAYS) == (sign == 1) {
                    out.truncate(start);
                    return false;
                }
            }
            // Atoms without an id occur only in bodies that never hold; these are taken back.
            id => out.push(id << 1 | sign),
        }
    }
    out[start..].sort_unstable();
    let mut end = start;
    for idx in start..out.len() {
        if idx == start || out[idx] != out[end - 1] {
            out[end] = out[idx];
            end += 1;
        }
    }
    out.truncate(end);
    true
}

/// Raw rules grouped by head, in their order. All literals of an atom's bodies are together.
struct ByHead {
    /// Per atom: the end of its rules, and of their literals.
    ends: Vec<(u32, u32)>,
    body_ends: Vec<u32>,
    literals: Vec<u32>,
}

impl ByHead {
    fn new(raw: &RawRules, n_atoms: u32) -> ByHead {
        // The ends become right when all rules are in their places: until then, each is where the next rule goes.
        let mut ends = vec![(0, 0); n_atoms as usize + 1];
        for (head, body) in raw.iter() {
            let (n_rules, n_literals) = &mut ends[head as usize + 1];
            *n_rules += 1;
            *n_literals += body.len() as u32;
        }
        for atom in 0..n_atoms as usize {
            let (n_rules, n_literals) = ends[atom];
            ends[atom + 1].0 += n_rules;
            ends[atom + 1].1 += n_literals;
        }
        let mut body_ends = vec![0; raw.len()];
        let mut literals = vec![0; raw.n_literals()];
        for (head, body) in raw.iter() {
            let (at, start) = &mut ends[head as usize];
            let end = *start as usize + body.len();
            literals[*start as usize..end].copy_from_slice(body);
            body_ends[*at as usize] = end as u32;
            (*at, *start) = (*at + 1, end as u32);
        }
        ByHead {
            ends,
            body_ends,
            literals,
        }
    }

    /// The bodies of an atom's rules.
    fn bodies(&self, atom: u32) -> impl Iterator<Item = &[u32]> {
        let before = atom.checked_sub(1).map(|atom| self.ends[atom as usize]);
        let (first, mut start) = before.unwrap_or_default();
        let ends = &self.body_ends[first as usize..self.ends[atom as usize].0 as usize];
        ends.iter().map(move |&end| {
            let body = &self.literals[start as usize..end as usize];
            start = end;
            body
        })
    }
}
