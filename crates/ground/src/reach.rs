//! Reachability: which atoms can ever hold. This is the least fixpoint of the clauses, computed semi-naively and set at
//! a time.
//!
//! There are two stages. Relations that depend on neither the state nor the moves are computed exactly, stratum by
//! stratum. All others are computed together under a relaxation: every fluent in `init` or in the head of a `next` may
//! hold, every move that may be legal may be made, and every negation of a relation that depends on the state may hold.
//! The result therefore contains everything that holds in some state, and possibly more.
//!
//! A round joins each clause once for every condition that has new rows, with those rows first (the delta). The
//! conditions before it see only older rows, so that no match is found twice.
//!
//! - Bancilhon 1986, Naive evaluation of recursively defined relations
//! - Ullman 1988, Principles of Database and Knowledge-Base Systems I (semi-naive evaluation, stratified negation)

use agon_gdl::{RelationId, components};
use rustc_hash::FxHashMap;

use crate::clause::{Catalog, Clause, Condition, Head, Meaning, RelId, is_split};
use crate::error::GroundLimits;
use crate::join::{Bounds, Budget, Flow, Join, Sink, Store};
use crate::plan::{Plan, Value, plan, value};
use crate::relation::Relation;
use crate::term::{TermId, TermView};

/// The limit that was exceeded, and the clause that exceeded it.
#[derive(Debug)]
pub(crate) struct Exceeded {
    pub(crate) what: &'static str,
    pub(crate) clause: usize,
}

/// The limit after which another plan is tried for a relation.
pub(crate) const OVERGROWN: &str = "rows of one relation";

/// The rows of all relations, and how the relations over fluents and moves are connected.
pub(crate) struct Rows<'a> {
    pub(crate) catalog: &'a mut Catalog,
    /// For `next` and `init`, the `true` relation of the same shape; for `legal`, the `does` relation.
    follows: FxHashMap<RelId, RelId>,
    /// Relations over all fluents or moves, where the sheet uses them.
    any: FxHashMap<RelationId, RelId>,
    /// For each row of such a relation, the matching row of the split relation.
    links: FxHashMap<RelId, Vec<(RelId, u32)>>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(catalog: &'a mut Catalog) -> Rows<'a> {
        let mut any = FxHashMap::default();
        for relation in catalog.ids() {
            if let Meaning::OfAny(keyword) = catalog.meaning(relation) {
                any.insert(keyword, relation);
            }
        }
        Rows {
            catalog,
            follows: FxHashMap::default(),
            any,
            links: FxHashMap::default(),
        }
    }

    /// The matching row of the split relation, for a row of a relation over all fluents or moves.
    pub(crate) fn link(&self, relation: RelId, row: u32) -> Option<(RelId, u32)> {
        self.links.get(&relation).map(|links| links[row as usize])
    }

    /// Whether the rows of a relation are rows of split relations.
    pub(crate) fn is_linked(&self, relation: RelId) -> bool {
        self.links.contains_key(&relation)
    }

    /// The relation and row that a head stands for, given its arguments.
    pub(crate) fn resolve(
        &mut self,
        head: &Head,
        tuple: &mut Vec<TermId>,
        store: &mut Store,
    ) -> RelId {
        match head {
            Head::Row(relation, _) => *relation,
            Head::Any(keyword, _) => {
                let whole = tuple
                    .pop()
                    .expect("the last argument is the fluent or move");
                let meaning = match store.terms.view(whole) {
                    TermView::Constant(name) => Meaning::OfConstant(*keyword, name),
                    TermView::Compound(name, args) => {
                        tuple.extend_from_slice(args);
                        Meaning::OfFunction(*keyword, name, args.len() as u32)
                    }
                };
                let relation = self.catalog.number(meaning, tuple.len());
                self.make_room(store);
                relation
            }
        }
    }

    /// Adds a row and the rows that follow from it by the meaning of the keywords.
    fn add(&mut self, relation: RelId, tuple: &[TermId], store: &mut Store) {
        let (row, is_new) = store.relations[relation.idx()].insert(tuple);
        if !is_new {
            return;
        }
        let Some(keyword) = self
            .catalog
            .meaning(relation)
            .relation()
            .filter(|&keyword| is_split(keyword))
        else {
            return;
        };
        if let Some(&any) = self.any.get(&keyword) {
            let whole = self.whole(relation, tuple, store);
            let mut any_tuple = tuple[..tuple.len().min(n_before(keyword))].to_vec();
            any_tuple.push(whole);
            store.relations[any.idx()].insert(&any_tuple);
            self.links.entry(any).or_default().push((relation, row));
        }
        if let Some(follower) = self.follower(relation, keyword, store) {
            self.add(follower, tuple, store);
        }
    }

    fn follower(
        &mut self,
        relation: RelId,
        keyword: RelationId,
        store: &mut Store,
    ) -> Option<RelId> {
        let target = match keyword {
            RelationId::NEXT | RelationId::INIT => RelationId::TRUE,
            RelationId::LEGAL => RelationId::DOES,
            _ => return None,
        };
        if let Some(&known) = self.follows.get(&relation) {
            return Some(known);
        }
        let follower = self.counterpart(relation, target);
        self.make_room(store);
        self.follows.insert(relation, follower);
        Some(follower)
    }

    /// Numbers the relation that follows from each relation over fluents or moves, even if it has no rows.
    pub(crate) fn complete(&mut self) {
        for relation in self.catalog.ids() {
            let meaning = self.catalog.meaning(relation);
            let follower = match meaning.relation() {
                _ if matches!(meaning, Meaning::OfAny(_)) => continue,
                Some(RelationId::INIT | RelationId::NEXT) => RelationId::TRUE,
                Some(RelationId::LEGAL) => RelationId::DOES,
                _ => continue,
            };
            self.counterpart(relation, follower);
        }
    }

    /// The relation of another keyword with the same shape.
    pub(crate) fn counterpart(&mut self, relation: RelId, keyword: RelationId) -> RelId {
        let meaning = match self.catalog.meaning(relation) {
            Meaning::OfConstant(_, name) => Meaning::OfConstant(keyword, name),
            Meaning::OfFunction(_, name, arity) => Meaning::OfFunction(keyword, name, arity),
            other => other,
        };
        let arity = self.catalog.arity(relation);
        self.catalog.number(meaning, arity)
    }

    /// The fluent or move of a row as a single term.
    pub(crate) fn whole(&self, relation: RelId, tuple: &[TermId], store: &mut Store) -> TermId {
        match self.catalog.meaning(relation) {
            Meaning::OfConstant(_, name) => store.terms.constant(name),
            Meaning::OfFunction(keyword, name, _) => {
                store.terms.compound(name, &tuple[n_before(keyword)..])
            }
            Meaning::OfAny(_) | Meaning::Plain(_) | Meaning::Auxiliary(_) | Meaning::Filter(_) => {
                tuple[tuple.len() - 1]
            }
        }
    }

    /// Creates the row storage of every relation in the catalog.
    pub(crate) fn make_room(&self, store: &mut Store) {
        for idx in store.relations.len()..self.catalog.len() {
            store
                .relations
                .push(Relation::new(self.catalog.arity(RelId(idx as u32))));
        }
    }
}

/// Number of columns before the fluent or move: 1 for keywords with a role, else 0.
pub(crate) fn n_before(keyword: RelationId) -> usize {
    usize::from(keyword == RelationId::LEGAL || keyword == RelationId::DOES)
}

/// Properties of relations that are known before they are computed.
pub(crate) struct Nature {
    /// Depends on the state or the moves, or must be treated as if it did. Its rows are atoms of the ground program.
    pub(crate) is_dynamic: Vec<bool>,
    /// Is computed together with the dynamic relations, because it depends on them; incomplete until they are complete.
    pub(crate) is_late: Vec<bool>,
}

/// Classifies the relations. Filters only restrict what is computed and make nothing dynamic.
pub(crate) fn nature(clauses: &[Clause], catalog: &Catalog, is_gdl2: bool) -> Nature {
    let filters = |relation: RelId| catalog.is_filter(relation);
    let always = [
        RelationId::TRUE,
        RelationId::DOES,
        RelationId::NEXT,
        RelationId::LEGAL,
        RelationId::GOAL,
        RelationId::TERMINAL,
    ];
    let is_always = |relation: &RelId| {
        catalog
            .meaning(*relation)
            .relation()
            .is_some_and(|keyword| {
                always.contains(&keyword) || (is_gdl2 && keyword == RelationId::SEES)
            })
    };
    let mut dynamic: Vec<RelId> = catalog.ids().filter(is_always).collect();
    dynamic.extend(negative_cycles(clauses, catalog));
    let mut is_dynamic = vec![false; catalog.len()];
    loop {
        // A relation that reads a dynamic relation is dynamic, except filters.
        let passes_on =
            |condition: &Condition| condition.relation().is_some_and(|used| !filters(used));
        spread(
            clauses,
            &mut is_dynamic,
            &dynamic,
            |head| !filters(head),
            passes_on,
        );
        // A late relation that is not a filter is exact only if it negates no late relation.
        let mut is_late = vec![false; catalog.len()];
        let sources: Vec<RelId> = catalog
            .ids()
            .filter(|relation| is_dynamic[relation.idx()])
            .collect();
        spread(clauses, &mut is_late, &sources, |_| true, |_| true);
        dynamic = clauses
            .iter()
            .filter_map(|clause| match clause.head {
                Head::Row(head, _) if is_late[head.idx()] && !is_dynamic[head.idx()] && !filters(head) => Some((head, clause)),
                _ => None,
            })
            .filter(|(_, clause)| {
                let negates_late =
                    |condition: &Condition| matches!(condition, Condition::Fails(used, _) if is_late[used.idx()]);
                clause.body.iter().any(negates_late)
            })
            .map(|(head, _)| head)
            .collect();
        if dynamic.is_empty() {
            return Nature {
                is_dynamic,
                is_late,
            };
        }
    }
}

/// Marks the sources, and the heads of clauses that use a marked relation.
fn spread(
    clauses: &[Clause],
    is_marked: &mut [bool],
    sources: &[RelId],
    takes: impl Fn(RelId) -> bool,
    passes_on: impl Fn(&Condition) -> bool,
) {
    let mut users: Vec<Vec<RelId>> = vec![Vec::new(); is_marked.len()];
    for clause in clauses {
        let Head::Row(head, _) = clause.head else {
            continue;
        };
        for condition in clause.body.iter().filter(|condition| passes_on(condition)) {
            if let Some(used) = condition.relation().filter(|_| takes(head)) {
                users[used.idx()].push(head);
            }
        }
    }
    let mut queue = sources.to_vec();
    while let Some(relation) = queue.pop() {
        if !std::mem::replace(&mut is_marked[relation.idx()], true) {
            queue.extend_from_slice(&users[relation.idx()]);
        }
    }
}

/// Relations that depend on their own negation by name. Whether their atoms do is decided on the ground program.
fn negative_cycles(clauses: &[Clause], catalog: &Catalog) -> Vec<RelId> {
    let graph = relation_graph(clauses, catalog);
    let component = components(graph.len(), |node| &graph[node as usize], |node| node);
    let mut found = Vec::new();
    for clause in clauses {
        let Head::Row(head, _) = clause.head else {
            continue;
        };
        for condition in &clause.body {
            if let Condition::Fails(used, _) = condition
                && component[used.idx()] == component[head.idx()]
            {
                found.push(head);
            }
        }
    }
    found
}

/// Whether no atom can depend on its own negation, because no relation does by name.
pub(crate) fn is_stratified(clauses: &[Clause], catalog: &Catalog) -> bool {
    // The relations over all fluents or moves depend on relations that are not known by name.
    let is_open = |clause: &Clause| {
        let mut used = clause.body.iter().filter_map(Condition::relation);
        matches!(clause.head, Head::Any(keyword, _) if keyword != RelationId::INIT)
            || used.any(|relation| matches!(catalog.meaning(relation), Meaning::OfAny(keyword) if !is_given(keyword)))
    };
    !clauses.iter().any(is_open) && negative_cycles(clauses, catalog).is_empty()
}

/// Whether the atoms of a keyword are given in every state, so that they depend on no others.
fn is_given(keyword: RelationId) -> bool {
    keyword == RelationId::TRUE || keyword == RelationId::DOES
}

fn relation_graph(clauses: &[Clause], catalog: &Catalog) -> Vec<Vec<u32>> {
    let mut graph: Vec<Vec<u32>> = vec![Vec::new(); catalog.len()];
    for clause in clauses {
        if let Head::Row(head, _) = clause.head {
            graph[head.idx()].extend(
                clause
                    .body
                    .iter()
                    .filter_map(Condition::relation)
                    .map(|used| used.0),
            );
        }
    }
    graph
}

/// Computes all rows. `spent` is the number of steps that all attempts have taken; it grows.
pub(crate) fn reach(
    clauses: &[Clause],
    nature: &Nature,
    limits: &GroundLimits,
    watch: &Watch<'_>,
    rows: &mut Rows<'_>,
    store: &mut Store,
    spent: &mut u64,
) -> Result<(), Exceeded> {
    rows.make_room(store);
    let is_dynamic_head = |clause: &Clause| match clause.head {
        Head::Row(relation, _) => nature.is_late[relation.idx()],
        Head::Any(keyword, _) => keyword != RelationId::INIT,
    };
    let (dynamic, fixed): (Vec<usize>, Vec<usize>) =
        (0..clauses.len()).partition(|&clause| is_dynamic_head(&clauses[clause]));
    let mut fixpoint = Fixpoint {
        clauses,
        nature,
        limits,
        watch,
        rows,
        store,
        join: Join::default(),
        plans: FxHashMap::default(),
        work: vec![0; clauses.len()],
        spent: *spent,
        n_steps: 0,
        bytes: 0,
        next_look: STEPS_PER_LOOK,
    };
    let strata = strata(clauses, &fixed, fixpoint.rows.catalog);
    let mut parts = strata.iter().chain([&dynamic]);
    let result = parts.try_for_each(|part| fixpoint.run(part));
    *spent += fixpoint.n_steps + fixpoint.store.bytes() / BYTES_PER_STEP;
    result
}

/// Number of steps between two looks at the memory in use and at `stop`.
const STEPS_PER_LOOK: u64 = 100_000;
/// Storing this many bytes counts as a step.
const BYTES_PER_STEP: u64 = 3;

/// The clauses of relations that do not depend on the state, in strata: each stratum needs only those before it.
fn strata(clauses: &[Clause], fixed: &[usize], catalog: &Catalog) -> Vec<Vec<usize>> {
    let graph = relation_graph(clauses, catalog);
    let component = components(graph.len(), |node| &graph[node as usize], |node| node);
    let mut by_component: std::collections::BTreeMap<u32, Vec<usize>> =
        std::collections::BTreeMap::new();
    for &clause in fixed {
        // No static relation depends on `(init ?f)`.
        let stratum = match clauses[clause].head {
            Head::Row(relation, _) => component[relation.idx()],
            Head::Any(..) => u32::MAX,
        };
        by_component.entry(stratum).or_default().push(clause);
    }
    by_component.into_values().collect()
}

/// Callbacks and limits that are checked while rows are computed.
pub(crate) struct Watch<'a> {
    /// Polled regularly; everything ends when it returns true.
    pub(crate) stop: &'a dyn Fn() -> bool,
    /// Maximum number of rows of a relation before another plan is tried.
    pub(crate) max_rows: u32,
    /// Whether a relation is exempt from `max_rows`.
    pub(crate) is_free: &'a dyn Fn(RelId) -> bool,
}

struct Fixpoint<'a, 'b> {
    // Inputs.
    clauses: &'a [Clause],
    nature: &'a Nature,
    limits: &'a GroundLimits,
    watch: &'a Watch<'a>,
    // Results so far.
    rows: &'a mut Rows<'b>,
    store: &'a mut Store,
    join: Join,
    plans: FxHashMap<(usize, usize), Plan>,
    // Statistics.
    work: Vec<u64>,
    /// Steps of the attempts before.
    spent: u64,
    n_steps: u64,
    /// Memory in use, and the number of steps at which it is looked at next.
    bytes: u64,
    next_look: u64,
}

/// Marks a join that starts with no particular condition.
const NO_FIRST: usize = usize::MAX;

impl Fixpoint<'_, '_> {
    /// Joins some clauses until there are no new rows.
    fn run(&mut self, clauses: &[usize]) -> Result<(), Exceeded> {
        let mut uses: FxHashMap<RelId, Vec<(usize, usize)>> = FxHashMap::default();
        for &clause in clauses {
            for (idx, condition) in self.clauses[clause].body.iter().enumerate() {
                if let Condition::Holds(relation, _) = condition {
                    uses.entry(*relation).or_default().push((clause, idx));
                }
            }
        }
        let mut used: Vec<RelId> = uses.keys().copied().collect();
        used.sort_unstable();
        let mut old = vec![0; self.store.relations.len()];
        let mut now = self.sizes();
        for &clause in clauses {
            self.join_clause(clause, NO_FIRST, &old, &now)?;
        }
        loop {
            old = now;
            now = self.sizes();
            old.resize(now.len(), 0);
            let mut has_new = false;
            for &relation in &used {
                if old[relation.idx()] == now[relation.idx()] {
                    continue;
                }
                has_new = true;
                for &(clause, condition) in &uses[&relation] {
                    self.join_clause(clause, condition, &old, &now)?;
                }
            }
            if !has_new {
                return Ok(());
            }
        }
    }

    fn sizes(&self) -> Vec<u32> {
        self.store.relations.iter().map(Relation::len).collect()
    }

    /// Joins a clause with the new rows of one condition, or with all rows.
    fn join_clause(
        &mut self,
        idx: usize,
        first: usize,
        old: &[u32],
        now: &[u32],
    ) -> Result<(), Exceeded> {
        let clause = &self.clauses[idx];
        let plan = self.plan(idx, first);
        let ends: Vec<u32> = clause
            .body
            .iter()
            .enumerate()
            .map(|(idx, condition)| match condition {
                Condition::Holds(relation, _) if first != NO_FIRST && idx < first => {
                    old[relation.idx()]
                }
                Condition::Holds(relation, _) | Condition::Fails(relation, _) => {
                    now[relation.idx()]
                }
                Condition::Differ(..) => 0,
            })
            .collect();
        let first_start = match clause.body.get(first) {
            Some(Condition::Holds(relation, _)) => old[relation.idx()],
            _ => 0,
        };
        let head: Vec<Value> = clause.head.args().iter().map(value).collect();
        let spent = self.spent + self.n_steps + self.bytes / BYTES_PER_STEP;
        let left = self.limits.steps.saturating_sub(spent);
        let budget = Budget {
            steps: left,
            bytes: (self.bytes + left.saturating_mul(BYTES_PER_STEP)).min(self.limits.bytes),
            stop: self.watch.stop,
        };
        let max_rows = match clause.head {
            // There is no row limit on facts.
            Head::Row(relation, _)
                if !clause.body.is_empty() && !(self.watch.is_free)(relation) =>
            {
                self.watch.max_rows
            }
            _ => u32::MAX,
        };
        let mut sink = Derive {
            head: &clause.head,
            values: &head,
            tuple: Vec::new(),
            rows: self.rows,
            max_depth: self.limits.depth,
            max_rows,
            fault: None,
        };
        let shape = (clause.n_variables, clause.body.len());
        let bounds = Bounds {
            ends: &ends,
            first_start,
        };
        let is_done = self
            .join
            .run(&plan, shape, &bounds, self.store, &budget, &mut sink);
        let fault = sink.fault;
        self.plans.insert((idx, first), plan);
        self.account(idx, is_done, fault)
    }

    fn account(
        &mut self,
        idx: usize,
        is_done: bool,
        fault: Option<&'static str>,
    ) -> Result<(), Exceeded> {
        // A join counts as a step even if it visits no row.
        self.n_steps += self.join.n_steps + 1;
        self.work[idx] += self.join.n_steps + 1;
        let worst = || {
            (0..self.work.len())
                .max_by_key(|&clause| self.work[clause])
                .unwrap_or(idx)
        };
        if let Some(what) = fault {
            return Err(Exceeded { what, clause: idx });
        }
        if !is_done {
            // Memory that is within its own limit has used up the steps.
            let what = match self.join.exceeded {
                Some("memory") if self.store.bytes() <= self.limits.bytes => "join steps",
                what => what.unwrap_or("join steps"),
            };
            return Err(Exceeded {
                what,
                clause: worst(),
            });
        }
        if self.n_steps > self.next_look {
            self.next_look = self.n_steps + STEPS_PER_LOOK;
            self.bytes = self.store.bytes();
            if self.bytes > self.limits.bytes {
                return Err(Exceeded {
                    what: "memory",
                    clause: worst(),
                });
            }
            if (self.watch.stop)() {
                return Err(Exceeded {
                    what: "time",
                    clause: worst(),
                });
            }
        }
        Ok(())
    }

    /// The plan of a join, computed again when the relations have grown much.
    fn plan(&mut self, idx: usize, first: usize) -> Plan {
        let clause = &self.clauses[idx];
        if let Some(known) = self.plans.remove(&(idx, first))
            && !known.is_stale(clause, &self.store.relations)
        {
            return known;
        }
        let is_tested = |relation: RelId| {
            !self
                .nature
                .is_late
                .get(relation.idx())
                .copied()
                .unwrap_or(true)
        };
        plan(
            clause,
            (first != NO_FIRST).then_some(first),
            &mut self.store.relations,
            is_tested,
        )
    }
}

/// Adds the head of a clause to the rows.
struct Derive<'a, 'b> {
    head: &'a Head,
    values: &'a [Value],
    tuple: Vec<TermId>,
    rows: &'a mut Rows<'b>,
    max_depth: u32,
    max_rows: u32,
    /// The limit that ended the join.
    fault: Option<&'static str>,
}

impl Sink for Derive<'_, '_> {
    fn take(&mut self, store: &mut Store, registers: &[TermId], _: &[u32]) -> Flow {
        self.tuple.clear();
        for value in self.values {
            let term = store.build(value, registers);
            if let Value::Function(..) = value
                && store.terms.depth(term) > self.max_depth
            {
                self.fault = Some("term depth");
                return Flow::Stop;
            }
            self.tuple.push(term);
        }
        let relation = self.rows.resolve(self.head, &mut self.tuple, store);
        self.rows.add(relation, &self.tuple, store);
        if store.relations[relation.idx()].len() > self.max_rows {
            self.fault = Some(OVERGROWN);
            return Flow::Stop;
        }
        Flow::NextHead
    }
}
