//! The grounder of Agon: turns checked rules into a program without variables.
//!
//! ```text
//! Rules ── clause ──▶ flat clauses ── decompose ──▶ smaller clauses ── reach ──▶ all rows that can ever hold
//!       ── emit ──▶ raw ground rules ── simplify, assemble ──▶ GroundProgram ── strata ──▶ proven stratified
//! ```
//!
//! ```
//! let sheet = br"(role you) (init (light off)) (legal you push)
//!     (<= (next (light on)) (does you push))
//!     (<= terminal (true (light on))) (<= (goal you 100) terminal)";
//! let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default())).unwrap();
//! let program = agon_ground::ground(&rules, &Default::default(), &|| false).unwrap();
//! assert_eq!(program.fluents.len(), 2);
//! ```
//!
//! **Invariant:** the same rules give a byte-identical program; hash-map order never affects the output.
//! **Invariant:** this crate does no I/O, prints nothing, reads no environment and no clock, and owns no global state.

mod assemble;
mod cases;
mod clause;
mod decompose;
mod demand;
mod domains;
mod emit;
mod error;
mod join;
mod lookup;
mod plan;
mod program;
mod project;
mod reach;
mod relation;
mod simplify;
mod strata;
mod term;
mod unfold;

use agon_gdl::{RelationId, Rules, Syntax};
use rustc_hash::{FxHashMap, FxHashSet};

use clause::{Catalog, Clause, Head, Meaning, RelId};
use decompose::Auxiliaries;
use emit::{Choice, Emitter, Numbering, RawRules};
use join::{Join, Store};
use reach::{Exceeded, Rows, Watch};
use relation::Relation;

pub use error::{GroundError, GroundLimits};
pub use program::{
    AtomId, Counts, Fluent, GoalValue, GroundProgram, Literal, Move, Percept, Role, Truth,
};
pub use term::{TermId, TermTable, TermView};

/// Grounds a game: removes the variables from its rules. `stop` is polled regularly; grounding ends when it returns
/// true.
///
/// # Errors
/// [`GroundError::TooLarge`] if a limit is reached, [`GroundError::Unstratified`] if an atom depends on its own
/// negation, [`GroundError::Stopped`] if `stop` returned true.
pub fn ground(
    rules: &Rules,
    limits: &GroundLimits,
    stop: &dyn Fn() -> bool,
) -> Result<GroundProgram, GroundError> {
    let mut plan = Demand::default();
    let mut spent = 0;
    loop {
        match attempt(rules, limits, stop, &plan, &mut spent) {
            Ok((program, is_stratified)) => {
                if !is_stratified {
                    strata::check(&program, stop)?;
                }
                return Ok(program);
            }
            Err(Setback::Final(error)) => return Err(error),
            Err(Setback::Overgrown {
                relation,
                is_filter,
            }) => plan.revise(relation, is_filter),
        }
    }
}

/// Which relations are computed on demand (by magic sets), and which may grow without the row limit. Demand is tried
/// for a relation that grows too large, and is given up if it does not help.
#[derive(Default)]
struct Demand {
    wanted: Vec<RelationId>,
    free: FxHashSet<RelationId>,
    /// How often demand was given up.
    n_given_up: u32,
    narrowing: Narrowing,
    /// The relation that grew too large first.
    first: Option<RelationId>,
    /// What made the first demand fail: the relation that grew too large, and whether a filter did.
    failed: Option<(RelationId, bool)>,
}

/// Whether the clauses are made narrower, by distinguishing cases and restricting domains. This is tried after the first
/// demand has failed, instead of demand, and given up if it fails too.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Narrowing {
    #[default]
    Untried,
    InUse,
    GivenUp,
}

/// After this many failed attempts, demand is not tried again and relations may grow to their full size.
const MAX_FAILURES: u32 = 1;

impl Demand {
    /// Changes the plan after a relation, or a filter made for a rule of that relation, has grown too large.
    fn revise(&mut self, relation: RelationId, is_filter: bool) {
        match self.narrowing {
            Narrowing::Untried if self.first.is_none() => {
                self.first = Some(relation);
                self.demand(relation, is_filter);
            }
            Narrowing::Untried => {
                self.narrowing = Narrowing::InUse;
                self.failed = Some((relation, is_filter));
            }
            Narrowing::InUse => {
                self.narrowing = Narrowing::GivenUp;
                let (relation, is_filter) = self.failed.unwrap_or((relation, is_filter));
                self.demand(relation, is_filter);
            }
            Narrowing::GivenUp => self.demand(relation, is_filter),
        }
    }

    /// Adds or gives up demand.
    fn demand(&mut self, relation: RelationId, is_filter: bool) {
        let is_tried = self.wanted.contains(&relation)
            || self.free.contains(&relation)
            || relation.keyword().is_some();
        if !is_tried && !is_filter {
            self.wanted.push(relation);
            return;
        }
        // Demand does not help: give up the last relation. If there is none, the relation grows to its full size.
        let given_up = self.wanted.pop();
        self.n_given_up += 1;
        self.free.extend(given_up);
        if given_up.is_none() || !is_filter {
            self.free.insert(relation);
            self.wanted.retain(|&wanted| wanted != relation);
        }
    }
}

/// Why an attempt at grounding ended early.
enum Setback {
    Final(GroundError),
    /// This relation, or a filter made for one of its rules, has too many rows.
    Overgrown {
        relation: RelationId,
        is_filter: bool,
    },
}

/// Number of clauses between two looks at `stop`.
const CLAUSES_PER_LOOK: usize = 64;
/// Above this number of rows in one relation, another plan is tried.
const OVERGROWN_ROWS: u32 = 40_000;
/// The same limit once demand is in use. It is higher because demand itself needs some rows.
const DEMANDED_ROWS: u32 = 300_000;
/// The same limit for narrowed clauses: they add little work for each row.
const NARROWED_ROWS: u32 = 600_000;

/// Grounds with one plan. Also returns whether no atom of the program can depend on its own negation.
fn attempt(
    rules: &Rules,
    limits: &GroundLimits,
    stop: &dyn Fn() -> bool,
    plan: &Demand,
    spent: &mut u64,
) -> Result<(GroundProgram, bool), Setback> {
    let mut catalog = Catalog::default();
    let mut store = Store::default();
    let stopped = |rule: u32| Setback::Final(stopped(rules, rule));
    let clauses = clause::clauses(rules, &mut catalog, &mut store.terms, stop).map_err(&stopped)?;
    let clauses = unfold::unfold(clauses, &catalog);
    let mut clauses = project::project(clauses, &mut catalog);
    if plan.narrowing == Narrowing::InUse {
        let mut narrowed = FxHashSet::default();
        clauses = cases::distinguish(clauses, &mut catalog, &mut narrowed);
        clauses = domains::restrict(clauses, &mut catalog, &mut narrowed);
        let mut meanings = narrowed.iter().map(|&relation| catalog.meaning(relation));
        if let Some(relation) = plan.first
            && !meanings.any(|meaning| meaning == Meaning::Plain(relation))
        {
            return Err(Setback::Overgrown {
                relation,
                is_filter: false,
            });
        }
    }
    let wanted = match plan.narrowing {
        Narrowing::InUse => &[],
        Narrowing::Untried | Narrowing::GivenUp => plan.wanted.as_slice(),
    };
    let is_wanted = |relation: &RelId| matches!(catalog.meaning(*relation), Meaning::Plain(plain) if wanted.contains(&plain));
    let large: FxHashSet<RelId> = catalog.ids().filter(is_wanted).collect();
    let demanded = demand::with_callers(&clauses, &large, &catalog);
    let clauses = demand::demand(clauses, &demanded, &mut catalog);
    let mut split = Split::new(clauses, &mut catalog, stop).map_err(&stopped)?;
    let is_stratified = reach::is_stratified(&split.reachable, &catalog);
    let nature = reach::nature(&split.reachable, &catalog, rules.is_gdl2());
    let mut rows = Rows::new(&mut catalog);
    let is_filter: Vec<bool> = rows
        .catalog
        .ids()
        .map(|relation| rows.catalog.is_filter(relation))
        .collect();
    let explain = |exceeded: &Exceeded, clause: &Clause| match exceeded.what {
        reach::OVERGROWN => Setback::Overgrown {
            relation: rules.rules[clause.rule as usize].head.relation,
            is_filter: matches!(clause.head, Head::Row(relation, _) if is_filter[relation.idx()]),
        },
        _ => Setback::Final(explain(rules, exceeded, clause)),
    };
    let mut may_grow = vec![plan.n_given_up >= MAX_FAILURES; is_filter.len()];
    for clause in &split.reachable {
        if let Head::Row(relation, _) = clause.head {
            let is_bound = is_filter[relation.idx()] && !wanted.is_empty();
            let head = rules.rules[clause.rule as usize].head.relation;
            may_grow[relation.idx()] |= plan.free.contains(&head) && !is_bound;
        }
    }
    let is_free = |relation: RelId| may_grow.get(relation.idx()).copied().unwrap_or(true);
    let max_rows = if plan.narrowing == Narrowing::InUse {
        NARROWED_ROWS
    } else if wanted.is_empty() {
        OVERGROWN_ROWS
    } else {
        DEMANDED_ROWS
    };
    let watch = Watch {
        stop,
        max_rows,
        is_free: &is_free,
    };
    reach::reach(
        &split.reachable,
        &nature,
        limits,
        &watch,
        &mut rows,
        &mut store,
        spent,
    )
    .map_err(|exceeded| explain(&exceeded, &split.reachable[exceeded.clause]))?;
    rows.complete();
    let mut is_dynamic = nature.is_dynamic;
    for relation in is_dynamic.len()..rows.catalog.len() {
        let keyword = rows.catalog.meaning(RelId(relation as u32)).relation();
        is_dynamic.push(keyword != Some(RelationId::INIT));
    }
    rows.make_room(&mut store);
    store.relations.iter_mut().for_each(Relation::settle);
    let numbering = Numbering::new(&store, &is_dynamic);
    let raw = emit_all(
        &mut split,
        &is_dynamic,
        limits,
        stop,
        &mut rows,
        &mut store,
        &numbering,
    )
    .map_err(|exceeded| explain(&exceeded, &split.choices[exceeded.clause].clause))?;
    let links = assemble::links(rules, &mut rows, &mut store, &numbering);
    let bounds = simplify::bounds(&raw, &links, numbering.n_atoms, stop);
    let program = bounds.and_then(|bounds| {
        assemble::assemble(
            rules,
            &mut rows,
            &mut store,
            &numbering,
            (raw, &links, &bounds),
            (&is_dynamic, stop),
        )
    });
    let program = program.ok_or_else(|| stopped(rules.rules.len() as u32))?;
    Ok((program, is_stratified))
}

/// The error when `stop` returned true while this rule was worked on. After the last rule, all of them were.
fn stopped(rules: &Rules, rule: u32) -> GroundError {
    let source = rules.rules.get(rule as usize);
    GroundError::Stopped {
        rule: source.map_or_else(String::new, |source| {
            agon_gdl::print::rule(rules, source, Syntax::Prefix)
        }),
        line: source.map_or(0, |source| rules.line(source)),
    }
}

/// The clauses as written and their decompositions.
struct Split {
    choices: Vec<Choice>,
    /// The clauses that reachability joins: decomposed where possible.
    reachable: Vec<Clause>,
    auxiliaries: FxHashMap<RelId, Clause>,
}

impl Split {
    /// `Err` names the rule at which `stop` returned true.
    fn new(
        clauses: Vec<Clause>,
        catalog: &mut Catalog,
        stop: &dyn Fn() -> bool,
    ) -> Result<Split, u32> {
        let mut known = Auxiliaries::default();
        let mut split = Split {
            choices: Vec::new(),
            reachable: Vec::new(),
            auxiliaries: FxHashMap::default(),
        };
        for (idx, clause) in clauses.into_iter().enumerate() {
            if idx % CLAUSES_PER_LOOK == 0 && stop() {
                return Err(clause.rule);
            }
            let decomposed = decompose::decompose(&clause, catalog, &mut known).map(|decomposed| {
                for auxiliary in decomposed.new {
                    if let Head::Row(relation, _) = auxiliary.head {
                        split.auxiliaries.insert(relation, auxiliary.clone());
                    }
                    split.reachable.push(auxiliary);
                }
                (decomposed.clause, decomposed.uses)
            });
            split.reachable.push(
                decomposed
                    .as_ref()
                    .map_or_else(|| clause.clone(), |(clause, _)| clause.clone()),
            );
            split.choices.push(Choice { clause, decomposed });
        }
        Ok(split)
    }
}

fn emit_all(
    split: &mut Split,
    is_dynamic: &[bool],
    limits: &GroundLimits,
    stop: &dyn Fn() -> bool,
    rows: &mut Rows<'_>,
    store: &mut Store,
    numbering: &Numbering,
) -> Result<RawRules, Exceeded> {
    let mut emitter = Emitter {
        is_dynamic,
        limits,
        stop,
        rows,
        store,
        numbering,
        auxiliaries: &split.auxiliaries,
        rules: RawRules::default(),
        join: Join::default(),
        emitted: FxHashSet::default(),
    };
    for (idx, choice) in split.choices.iter().enumerate() {
        let needs_rules = match &choice.clause.head {
            Head::Row(relation, _) => is_dynamic[relation.idx()],
            Head::Any(keyword, _) => *keyword != RelationId::INIT,
        };
        if needs_rules {
            emitter.emit(choice, idx)?;
        }
    }
    Ok(emitter.rules)
}

/// Turns a reached limit into an error that names the rule.
fn explain(rules: &Rules, exceeded: &Exceeded, clause: &Clause) -> GroundError {
    let source = &rules.rules[clause.rule as usize];
    let rule = agon_gdl::print::rule(rules, source, Syntax::Prefix);
    let line = rules.line(source);
    match exceeded.what {
        "time" => GroundError::Stopped { rule, line },
        what => GroundError::TooLarge { what, rule, line },
    }
}

/// The program of a sheet as text, grounded with narrowed clauses however small they are.
#[cfg(test)]
fn narrowed(sheet: &str) -> String {
    let description = agon_gdl::parse(sheet.as_bytes(), &agon_gdl::Limits::default());
    let rules = agon_gdl::check(&description).expect("the sheet is valid");
    let plan = Demand {
        narrowing: Narrowing::InUse,
        ..Demand::default()
    };
    let program = attempt(&rules, &GroundLimits::default(), &|| false, &plan, &mut 0);
    match program {
        Ok((program, _)) => program.to_string(),
        Err(_) => panic!("the sheet is small"),
    }
}
