//! The interpreter: an independent reasoner that works on checked [`Rules`] without grounding.
//!
//! It is the reference in differential tests and the fallback for games that cannot be grounded, so it shares no
//! evaluation code with the grounder. Answers are computed on demand: a query for the legal moves of a role calls
//! `legal` with the role bound and the move free, and only what that call needs is derived. Answers are cached: those
//! that depend only on facts permanently, the others for one state.
//!
//! ```text
//! Rules ── program ──▶ Program ── settle ──▶ Program ── plan ──▶ Code ── evaluate ──▶ answers, in tables
//!         no `or`, facts apart    fewer rules, more facts    an order per mode of call
//! ```
//!
//! The planner needs estimates of the number of solutions of conditions. So before the final compilation, `sample`
//! plays a short game with preliminary code and counts. This is deterministic: the same rules give the same code.
//! [`Interpreter::quick`] leaves it out.
//!
//! In: `Rules`. Out: an [`Interpreter`], compiled once and shared, and one [`InterpreterMachine`] per thread.
//! Limits: a query that exceeds its [`Limits`] ends with an error. A condition that depends on its own negation is an
//! error when it is evaluated, not when the game is compiled.

mod code;
mod error;
mod evaluate;
mod facts;
mod feasibility;
mod fluents;
mod knots;
mod machine;
mod memory;
mod names;
mod plan;
mod program;
mod sample;
mod settle;
mod sizes;
mod tables;
mod terms;
mod tuples;
mod values;

use std::fmt;
use std::sync::Arc;

use agon_gdl::{RelationId, Rules};

pub use error::{InterpreterError, Limits, Resource, Stop};
pub use machine::InterpreterMachine;

use crate::percepts::PerceptId;
use crate::state::{MoveId, RoleId, State};
use code::{Code, Mode, ProcedureId};
use evaluate::Evaluator;
use memory::Memory;
use program::{PredicateId, Program};
use sizes::Sizes;
use terms::{Functors, SharedTerms, TermId};

/// A game compiled for interpretation. Immutable except for the table of terms, to which all threads append.
pub struct Interpreter {
    rules: Arc<Rules>,
    roles: Vec<TermId>,
    functors: Functors,
    code: Code,
    shared: SharedTerms,
    limits: Limits,
    /// Ends the work of every machine, unless it has a stop function of its own.
    stop: Stop,
    initial: State,
    /// The initial memory of a machine: the initial state, with static answers that were needed so far.
    seed: Memory,
}

/// How an interpreter is compiled and run.
#[derive(Clone)]
pub struct Options {
    /// Limits on the work for one query.
    pub limits: Limits,
    /// The effort spent on compilation.
    pub effort: Effort,
    /// Ends compilation, and every query of a machine.
    pub stop: Stop,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            limits: Limits::default(),
            effort: Effort::Full,
            stop: Arc::new(|| false),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { limits, effort, .. } = self;
        write!(f, "Options({limits:?}, {effort:?})")
    }
}

/// The effort spent on compilation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// As little as possible: ready much sooner, but slower in play.
    Quick,
    /// As much as pays off in a match.
    Full,
}

/// The queries from outside, by their index among the entries, which are compiled first.
const INIT: ProcedureId = ProcedureId(0);
const TERMINAL: ProcedureId = ProcedureId(1);
const LEGAL: ProcedureId = ProcedureId(2);
const GOAL: ProcedureId = ProcedureId(3);
const NEXT: ProcedureId = ProcedureId(4);
const IS_LEGAL: ProcedureId = ProcedureId(5);
/// Only in GDL-II.
const SEES: ProcedureId = ProcedureId(6);

const ENTRIES: [(PredicateId, &[Mode]); 6] = [
    (PredicateId(RelationId::INIT.0), &[Mode::Free]),
    (PredicateId(RelationId::TERMINAL.0), &[]),
    (PredicateId(RelationId::LEGAL.0), &[Mode::Bound, Mode::Free]),
    (PredicateId(RelationId::GOAL.0), &[Mode::Bound, Mode::Free]),
    (PredicateId(RelationId::NEXT.0), &[Mode::Free]),
    (
        PredicateId(RelationId::LEGAL.0),
        &[Mode::Bound, Mode::Bound],
    ),
];

/// The entry for percepts.
const SEES_ENTRY: (PredicateId, &[Mode]) = (PredicateId::SEES, &[Mode::Bound, Mode::Free]);

impl Interpreter {
    /// Compiles the rules and derives the initial state, within the default limits.
    ///
    /// # Errors
    /// If the initial state cannot be derived within the limits.
    pub fn new(rules: Arc<Rules>) -> Result<Interpreter, InterpreterError> {
        Interpreter::with_options(rules, Options::default())
    }

    /// Compiles the rules and derives the initial state.
    ///
    /// # Errors
    /// If the initial state cannot be derived within the limits.
    pub fn with_limits(rules: Arc<Rules>, limits: Limits) -> Result<Interpreter, InterpreterError> {
        let options = Options {
            limits,
            ..Options::default()
        };
        Interpreter::with_options(rules, options)
    }

    /// Compiles the rules without sampling: ready much sooner, but slower in play.
    ///
    /// # Errors
    /// If the initial state cannot be derived within the limits.
    pub fn quick(rules: Arc<Rules>) -> Result<Interpreter, InterpreterError> {
        let options = Options {
            effort: Effort::Quick,
            ..Options::default()
        };
        Interpreter::with_options(rules, options)
    }

    /// Compiles the rules and derives the initial state.
    ///
    /// # Errors
    /// If the initial state cannot be derived within the limits, or the stop function of the options returns true.
    pub fn with_options(
        rules: Arc<Rules>,
        options: Options,
    ) -> Result<Interpreter, InterpreterError> {
        let Options {
            limits,
            effort,
            stop,
        } = options;
        let mut program = Program::new(&rules);
        if program.roles.len() > usize::from(u16::MAX) {
            return Err(InterpreterError::TooManyRoles);
        }
        settle::settle(&mut program, effort, &*stop)?;
        let fluents = initial_fluents(&mut program, limits, &*stop)?;
        let mut sizes = match effort {
            Effort::Full => sample::sample(&mut program, &fluents, &*stop)?,
            Effort::Quick => {
                let mut sizes = Sizes::default();
                sizes.add_state(&fluents, &program.terms);
                sizes
            }
        };
        let mut terms = program.terms.clone();
        let mut entries = ENTRIES.to_vec();
        entries.extend(program.is_gdl2.then_some(SEES_ENTRY));
        let code = plan::compile(&program, &entries, &mut sizes, &mut terms, &*stop)?;
        let mut seed = Memory::new(&program, &code, terms.clone());
        seed.load(fluents.iter().copied());
        let initial = pack(&fluents);
        let Program {
            functors, roles, ..
        } = program;
        Ok(Interpreter {
            rules,
            roles,
            functors,
            code,
            shared: SharedTerms::new(terms),
            limits,
            stop,
            initial,
            seed,
        })
    }

    /// The rules of the game.
    #[must_use]
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The roles in order.
    pub fn roles(&self) -> impl ExactSizeIterator<Item = RoleId> + Clone + use<> {
        RoleId::all(self.roles.len())
    }

    /// The initial state.
    #[must_use]
    pub fn initial_state(&self) -> &State {
        &self.initial
    }

    /// A machine for one thread, in the initial state.
    #[must_use]
    pub fn machine(self: &Arc<Interpreter>) -> InterpreterMachine {
        self.machine_until(Arc::clone(&self.stop))
    }

    /// A machine with its own stop function instead of that of the interpreter. A query that it ends has the fault
    /// [`InterpreterError::Stopped`] and can be repeated.
    #[must_use]
    pub fn machine_until(self: &Arc<Interpreter>, stop: Stop) -> InterpreterMachine {
        InterpreterMachine::new(self.clone(), stop)
    }

    /// The fluents of a state as text, sorted.
    #[must_use]
    pub fn fluents(&self, state: &State) -> Vec<String> {
        let fluents: Vec<TermId> = unpack(state).map(TermId).collect();
        let mut texts = self.shared.with(|terms| {
            fluents
                .iter()
                .map(|&fluent| names::text(fluent, terms, &self.functors, &self.rules.symbols))
                .collect::<Vec<String>>()
        });
        texts.sort_unstable();
        texts
    }

    /// A move in the spelling of the sheet.
    #[must_use]
    pub fn move_text(&self, move_id: MoveId) -> String {
        let term = TermId(move_id.0);
        self.shared
            .with(|terms| names::text(term, terms, &self.functors, &self.rules.symbols))
    }

    /// A percept in the spelling of the sheet.
    #[must_use]
    pub fn percept_text(&self, percept: PerceptId) -> String {
        self.move_text(MoveId(percept.0))
    }

    /// The percept that a peer means; case is ignored if necessary. `None` if the text cannot be a term of this game.
    #[must_use]
    pub fn find_percept(&self, text: &str) -> Option<PerceptId> {
        self.find_move(text).map(|term| PerceptId(term.0))
    }

    /// The move that a peer means; case is ignored if necessary. The move need not be legal. `None` if the text cannot
    /// be a term of this game.
    #[must_use]
    pub fn find_move(&self, text: &str) -> Option<MoveId> {
        self.shared.with(|terms| {
            let compound = |functor, args: &[u32]| match terms.find(functor, args) {
                None if terms.len() < self.limits.terms => Some(terms.append(functor, args)),
                known => known,
            };
            let term = names::read(text, &self.functors, &self.rules.symbols, compound);
            term.map(|term| MoveId(term.0))
        })
    }
}

/// Derives the initial state before the interpreter exists: the planner needs a sample state.
fn initial_fluents(
    program: &mut Program,
    limits: Limits,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<u32>, InterpreterError> {
    let mut terms = program.terms.clone();
    let mut sizes = Sizes::default();
    let code = plan::compile(program, &ENTRIES[..1], &mut sizes, &mut terms, stop)?;
    let shared = SharedTerms::new(terms.clone());
    let mut memory = Memory::new(program, &code, terms);
    let mut evaluator = Evaluator::new(&code, &program.roles, &shared, limits, stop, &mut memory);
    let table = evaluator.solve(INIT, &[])?;
    let answers = &memory.tables.get(table).answers;
    let mut fluents: Vec<u32> = (0..answers.len()).map(|row| answers.row(row)[0]).collect();
    fluents.sort_unstable();
    program.terms = memory.terms;
    Ok(fluents)
}

/// Fills the second half of the last word if the number of fluents is odd.
const NO_FLUENT: u32 = u32::MAX;

/// Packs sorted fluents, two per word.
fn pack(fluents: &[u32]) -> State {
    let word =
        |pair: &[u32]| u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&NO_FLUENT)) << 32;
    State::from_words(fluents.chunks(2).map(word).collect())
}

fn unpack(state: &State) -> impl Iterator<Item = u32> {
    let halves = state
        .words()
        .iter()
        .flat_map(|&word| [word as u32, (word >> 32) as u32]);
    halves.filter(|&fluent| fluent != NO_FLUENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::state::JointMove;

    const SHEET: &str = "(role a) (role b) (init (at 1 1)) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
        (<= (next_to ?x ?y) (succ ?x ?y)) (<= (next_to ?x ?y) (succ ?y ?x))
        (<= (far ?x ?y) (next_to ?x ?z) (next_to ?z ?y) (distinct ?x ?y))
        (<= (legal a (go ?u ?y)) (true (at ?x ?y)) (next_to ?x ?u)) (<= (legal a (jump ?u)) (true (at ?x ?_y)) (far ?x ?u))
        (legal b noop)
        (<= (next (at ?u ?y)) (does a (go ?u ?y))) (<= (next (at ?u 1)) (does a (jump ?u)))
        (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y)) (<= terminal (true (step 4)))
        (<= (goal a 100) (true (at 4 ?_y))) (<= (goal a 0) (not (true (at 4 1)))) (goal b 50)";

    fn rules(sheet: &str) -> Arc<Rules> {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        Arc::new(rules.expect("the sheet is well-formed"))
    }

    /// A million moves, and recursion to derive them.
    fn vast() -> Arc<Rules> {
        let numbers: String = (0..100).map(|number| format!("(n {number}) ")).collect();
        rules(&format!(
            "{numbers} (role a) (init p) (<= (some ?x) (n ?x)) (<= (some ?x) (some ?x) (true p))
             (<= (legal a (go ?x ?y ?z)) (some ?x) (some ?y) (some ?z)) (goal a 50) (<= terminal (true q))"
        ))
    }

    #[test]
    fn one_legal_move_is_found_without_the_others() {
        let options = Options {
            limits: Limits {
                steps: 10_000,
                ..Limits::default()
            },
            ..Options::default()
        };
        let game = Interpreter::with_options(vast(), options).expect("it runs");
        let game = Arc::new(game);
        let mut machine = game.machine();
        let first = machine.some_legal_move(RoleId(0)).expect("there are many");
        assert!(machine.take_fault().is_none());
        assert!(machine.legal_moves(RoleId(0)).is_empty());
        assert!(machine.take_fault().is_some(), "all of them are too many");
        assert_eq!(machine.some_legal_move(RoleId(0)), Some(first));
        let check = |machine: &mut InterpreterMachine, text| {
            let mv = game.find_move(text).expect("a possible term");
            machine.is_legal(RoleId(0), mv)
        };
        assert!(machine.is_legal(RoleId(0), first));
        assert!(check(&mut machine, "(go 99 0 57)"));
        assert!(!check(&mut machine, "(go 99 0 a)"));
        assert!(machine.take_fault().is_none());
    }

    #[test]
    fn one_legal_move_is_one_of_all() {
        let game = Arc::new(Interpreter::new(rules(SHEET)).expect("it runs"));
        let one = game.machine().some_legal_move(RoleId(0));
        let one = one.expect("there is a legal move");
        let mut machine = game.machine();
        assert!(machine.legal_moves(RoleId(0)).contains(&one));
        let all = machine.legal_moves(RoleId(0)).to_vec();
        let mut fresh = game.machine();
        assert!(all.iter().all(|&mv| fresh.is_legal(RoleId(0), mv)));
        let jump = game.find_move("(jump 1)").expect("a possible term");
        assert_eq!(fresh.is_legal(RoleId(0), jump), all.contains(&jump));
    }

    #[test]
    fn a_query_that_is_stopped_can_be_repeated() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let game = Arc::new(Interpreter::new(vast()).expect("it runs"));
        let n_asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&n_asked);
        let stop = move || counter.fetch_add(1, Ordering::Relaxed) == 3;
        let mut machine = game.machine_until(Arc::new(stop));
        assert!(machine.legal_moves(RoleId(0)).is_empty());
        let fault = machine.take_fault().expect("it was stopped");
        assert_eq!(fault.to_string(), "the interpreter was stopped");
        assert_eq!(n_asked.load(Ordering::Relaxed), 4);
        assert_eq!(machine.legal_moves(RoleId(0)).len(), 1_000_000);
    }

    #[test]
    fn compilation_can_be_stopped() {
        let options = Options {
            stop: Arc::new(|| true),
            ..Options::default()
        };
        let error = Interpreter::with_options(rules(SHEET), options).err();
        assert_eq!(error, Some(InterpreterError::Stopped));
    }

    #[test]
    fn the_quick_interpreter_plays_the_same() {
        let rules = rules(SHEET);
        let quick = Arc::new(Interpreter::quick(Arc::clone(&rules)).expect("it runs"));
        let full = Arc::new(Interpreter::new(rules).expect("it runs"));
        let mut machines = [(quick.machine(), quick), (full.machine(), full)];
        for _ in 0..5 {
            let [one, other] = machines.each_mut().map(|(machine, game)| {
                let mut moves = machine.legal_moves(RoleId(0)).to_vec();
                moves.sort_by_key(|&mv| game.move_text(mv));
                let texts: Vec<String> = moves.iter().map(|&mv| game.move_text(mv)).collect();
                let goals = machine.goals(RoleId(0));
                let seen = (
                    game.fluents(&machine.state()),
                    texts,
                    goals,
                    machine.is_terminal(),
                );
                if !machine.is_terminal() {
                    let noop = machine.legal_moves(RoleId(1))[0];
                    let last = moves[moves.len() - 1];
                    machine.advance(&JointMove::new([last, noop]));
                }
                seen
            });
            assert_eq!(one, other);
        }
    }
}
