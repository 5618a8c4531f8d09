//! The grounder of Agon: checked rules → a program without variables.
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
//! **Invariant:** same rules in, byte-identical program out; no hash-map order reaches any output.
//! **Invariant:** this crate does no I/O, prints nothing, reads no environment and no clock, owns no global state.

mod assemble;
mod clause;
mod decompose;
mod emit;
mod error;
mod graph;
mod join;
mod plan;
mod program;
mod reach;
mod relation;
mod simplify;
mod strata;
mod term;

use agon_gdl::{Rules, Syntax};
use rustc_hash::{FxHashMap, FxHashSet};

use clause::{Catalog, Clause, Head, RelId};
use decompose::Auxiliaries;
use emit::{Choice, Emitter, Numbering, RawRules};
use join::{Join, Store};
use reach::{Exceeded, Rows};

pub use error::{GroundError, GroundLimits};
pub use graph::components;
pub use program::{AtomId, Counts, Fluent, GoalValue, GroundProgram, Literal, Move, Role, Truth};
pub use term::{TermId, TermTable, TermView};

/// Removes the variables from a game. `stop` is asked now and then; when it answers true, grounding ends.
///
/// # Errors
/// [`GroundError::TooLarge`] if a limit is reached, [`GroundError::Unstratified`] if an atom depends on its own
/// negation, [`GroundError::Stopped`] if `stop` said so.
pub fn ground(
    rules: &Rules,
    limits: &GroundLimits,
    stop: &dyn Fn() -> bool,
) -> Result<GroundProgram, GroundError> {
    let mut catalog = Catalog::default();
    let mut store = Store::default();
    let clauses = clause::clauses(rules, &mut catalog, &mut store.terms)?;
    let mut split = Split::new(clauses, &mut catalog);
    let mut is_dynamic = reach::dynamic_relations(&split.reachable, &catalog);
    let mut rows = Rows::new(&mut catalog);
    let explain = |exceeded: &Exceeded, clause: &Clause| explain(rules, exceeded, clause);
    reach::reach(
        &split.reachable,
        &is_dynamic,
        limits,
        stop,
        &mut rows,
        &mut store,
    )
    .map_err(|exceeded| explain(&exceeded, &split.reachable[exceeded.clause]))?;
    for relation in is_dynamic.len()..rows.catalog.len() {
        let keyword = rows.catalog.meaning(RelId(relation as u32)).relation();
        is_dynamic.push(keyword != Some(agon_gdl::RelationId::INIT));
    }
    rows.make_room(&mut store);
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
    let bounds = simplify::bounds(&raw, &links, numbering.n_atoms);
    let program = assemble::assemble(
        rules,
        &mut rows,
        &mut store,
        &numbering,
        (&raw, &links, &bounds),
        &is_dynamic,
    );
    strata::check(&program)?;
    Ok(program)
}

/// Clauses as written and decomposed.
struct Split {
    choices: Vec<Choice>,
    /// What reachability joins: decomposed where that is possible.
    reachable: Vec<Clause>,
    auxiliaries: FxHashMap<RelId, Clause>,
}

impl Split {
    fn new(clauses: Vec<Clause>, catalog: &mut Catalog) -> Split {
        let mut known = Auxiliaries::default();
        let mut split = Split {
            choices: Vec::new(),
            reachable: Vec::new(),
            auxiliaries: FxHashMap::default(),
        };
        for clause in clauses {
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
        split
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
            Head::Any(keyword, _) => *keyword != agon_gdl::RelationId::INIT,
        };
        if needs_rules {
            emitter.emit(choice, idx)?;
        }
    }
    Ok(emitter.rules)
}

/// Turns a limit that was reached into an error that names the rule.
fn explain(rules: &Rules, exceeded: &Exceeded, clause: &Clause) -> GroundError {
    if exceeded.what == "time" {
        return GroundError::Stopped;
    }
    let rule = &rules.rules[clause.rule as usize];
    GroundError::TooLarge {
        what: exceeded.what,
        rule: agon_gdl::print::rule(rules, rule, Syntax::Prefix),
        line: rules.line(rule),
    }
}
