//! Compiles clauses to code: each predicate for the modes in which it is called, and each body in an order chosen for
//! the mode.
//!
//! Starting from the entries, every call in a plan requests a procedure, which is compiled in turn. A body is ordered
//! greedily: the next condition is the one with the smallest expected number of solutions, given the bound variables.
//! Tests come as soon as their variables are bound. Facts are estimated by counting, fluents by sampled states, other
//! predicates by samples or a guess. Ties are broken by the order of the sheet. Variables and arguments that are not
//! needed later are not computed: a call that needs no values ends with its first answer.
//!
//! In: [`Program`], entries, [`Sizes`]. Out: [`Code`].
//!
//! - Bancilhon, Maier, Sagiv and Ullman 1986, Magic Sets and Other Strange Ways to Implement Logic Programs
//!   (adornments: a predicate per pattern of bound arguments)
//! - Gaschnig 1979, Performance Measurement and Analysis of Certain Search Algorithms (backjumping)

use agon_gdl::{SymbolId, Term, VariableId};
use rustc_hash::FxHashMap;

use super::code::{
    Arg, Code, Column, Dispatch, FactIndexId, FluentIndexId, FluentKey, Jump, Mode, Plan, PlanId,
    Procedure, ProcedureId, Step,
};
use super::error::InterpreterError;
use super::facts::FactIndex;
use super::feasibility::{Feasibility, is_bound};
use super::knots::Knots;
use super::program::{Clause, Condition, Level, Predicate, PredicateId, Program};
use super::sizes::Sizes;
use super::terms::{FunctorId, TermId, Terms};

/// Compiles the entries and everything they need. The entries get the first procedure ids, in order.
pub(crate) fn compile(
    program: &Program,
    entries: &[(PredicateId, &[Mode])],
    sizes: &mut Sizes,
    terms: &mut Terms,
    stop: &dyn Fn() -> bool,
) -> Result<Code, InterpreterError> {
    let mut planner = Planner {
        program,
        sizes,
        terms,
        stop,
        code: Code::default(),
        requested: Vec::new(),
        procedures: FxHashMap::default(),
        fact_indexes: FxHashMap::default(),
        fluent_indexes: FxHashMap::default(),
        feasibility: Feasibility::new(program),
        knots: Knots::new(program),
    };
    for &(predicate, modes) in entries {
        planner.request(predicate, modes.into());
    }
    while planner.code.procedures.len() < planner.requested.len() {
        let (predicate, modes) = planner.requested[planner.code.procedures.len()].clone();
        let procedure = planner.procedure(predicate, &modes)?;
        planner.code.procedures.push(procedure);
    }
    Ok(planner.code)
}

/// A predicate, the given positions and the wanted positions.
type FactKey = (PredicateId, Box<[usize]>, Box<[usize]>);

struct Planner<'a> {
    program: &'a Program,
    sizes: &'a mut Sizes,
    terms: &'a mut Terms,
    stop: &'a dyn Fn() -> bool,
    code: Code,
    /// The predicate and modes of each procedure id; those beyond the compiled ones are pending.
    requested: Vec<(PredicateId, Box<[Mode]>)>,
    procedures: FxHashMap<(PredicateId, Box<[Mode]>), ProcedureId>,
    fact_indexes: FxHashMap<FactKey, FactIndexId>,
    fluent_indexes: FxHashMap<FluentKey, FluentIndexId>,
    feasibility: Feasibility<'a>,
    knots: Knots,
}

impl Planner<'_> {
    fn predicate(&self, predicate: PredicateId) -> &Predicate {
        &self.program.predicates[predicate.idx()]
    }

    /// The procedure for a predicate in these modes, to be compiled later if it is new.
    fn request(&mut self, predicate: PredicateId, modes: Box<[Mode]>) -> ProcedureId {
        let next = ProcedureId(self.requested.len() as u32);
        let procedure = *self
            .procedures
            .entry((predicate, modes.clone()))
            .or_insert(next);
        if procedure == next {
            self.requested.push((predicate, modes));
        }
        procedure
    }

    fn procedure(
        &mut self,
        predicate: PredicateId,
        modes: &[Mode],
    ) -> Result<Procedure, InterpreterError> {
        let program = self.program;
        let Predicate {
            level, ref clauses, ..
        } = program.predicates[predicate.idx()];
        let bound: Vec<usize> = (0..modes.len())
            .filter(|&place| modes[place] == Mode::Bound)
            .collect();
        let dispatch = dispatch_place(clauses, &bound);
        let mut by_value: FxHashMap<u32, Vec<PlanId>> = FxHashMap::default();
        let mut general = Vec::new();
        for clause in clauses {
            let plan = ClausePlanner::new(self, predicate, clause, modes).plan()?;
            let plan_id = PlanId(self.code.plans.len() as u32);
            self.code.plans.push(plan);
            match dispatch
                .map(|place| &clause.head[bound[place]])
                .filter(|arg| arg.is_ground())
            {
                Some(arg) => by_value
                    .entry(self.ground(arg).0)
                    .or_default()
                    .push(plan_id),
                None => general.push(plan_id),
            }
        }
        let n_general = general.len() as u32;
        let mut ranges = FxHashMap::default();
        for (value, special) in by_value {
            ranges.insert(
                value,
                (general.len() as u32, (general.len() + special.len()) as u32),
            );
            general.extend(special);
        }
        Ok(Procedure {
            level,
            n_bound: bound.len(),
            n_free: modes.iter().filter(|&&mode| mode == Mode::Free).count(),
            plans: general.into(),
            n_general,
            dispatch: dispatch.map(|place| Dispatch { place, ranges }),
        })
    }

    fn ground(&mut self, term: &Term) -> TermId {
        match term {
            Term::Compound(name, args) => {
                let args: Vec<u32> = args.iter().map(|arg| self.ground(arg).0).collect();
                let functor = self.program.functors.find(*name, args.len());
                let functor = functor.expect("`Program::new` collects every functor");
                self.terms
                    .find(functor, &args)
                    .unwrap_or_else(|| self.terms.append(functor, &args))
            }
            Term::Constant(symbol) => TermId::constant(*symbol),
            Term::Variable(_) => unreachable!("the caller has checked that the term is ground"),
        }
    }

    fn fact_index(
        &mut self,
        predicate: PredicateId,
        given: &[usize],
        wanted: &[usize],
    ) -> FactIndexId {
        let facts = &self.program.predicates[predicate.idx()].facts;
        let indexes = &mut self.code.fact_indexes;
        *self
            .fact_indexes
            .entry((predicate, given.into(), wanted.into()))
            .or_insert_with(|| {
                indexes.push(FactIndex::new(facts, given, wanted));
                FactIndexId(indexes.len() as u32 - 1)
            })
    }

    fn fluent_index(&mut self, key: FluentKey) -> FluentIndexId {
        let indexes = &mut self.code.fluent_indexes;
        *self.fluent_indexes.entry(key.clone()).or_insert_with(|| {
            indexes.push(key);
            FluentIndexId(indexes.len() as u32 - 1)
        })
    }
}

/// The bound position at which most heads have a constant, if that distinguishes clauses.
fn dispatch_place(clauses: &[Clause], bound: &[usize]) -> Option<usize> {
    let n_ground = |place: usize| {
        clauses
            .iter()
            .filter(|clause| clause.head[bound[place]].is_ground())
            .count()
    };
    let best = (0..bound.len())
        .rev()
        .max_by_key(|&place| n_ground(place))?;
    (n_ground(best) >= 2).then_some(best)
}

/// The cost of a call inside a knot with free arguments: it comes after everything that may bind them.
const KNOTTED: f64 = 1e9;

/// Orders and compiles one clause for one combination of modes.
struct ClausePlanner<'a, 'p> {
    planner: &'a mut Planner<'p>,
    predicate: PredicateId,
    clause: &'a Clause,
    modes: &'a [Mode],
    bound: Vec<bool>,
    /// Per bound variable: the last step whose choice it depends on; −1 if none.
    origin: Vec<i32>,
    /// Per variable: number of mentions in open conditions and wanted head arguments.
    mentions: Vec<u32>,
    steps: Vec<Step>,
    jumps: Vec<Jump>,
    /// The last step with a choice so far.
    last_choice: i32,
    n_slots: usize,
}

impl<'a, 'p> ClausePlanner<'a, 'p> {
    fn new(
        planner: &'a mut Planner<'p>,
        predicate: PredicateId,
        clause: &'a Clause,
        modes: &'a [Mode],
    ) -> ClausePlanner<'a, 'p> {
        let mut mentions = vec![0; clause.n_variables];
        let mut mention = |variable: VariableId| mentions[variable.0 as usize] += 1;
        clause
            .body
            .iter()
            .for_each(|condition| condition.for_each_variable(&mut mention));
        let wanted = clause
            .head
            .iter()
            .zip(modes)
            .filter(|&(_, &mode)| mode == Mode::Free);
        wanted.for_each(|(arg, _)| arg.for_each_variable(&mut mention));
        ClausePlanner {
            planner,
            predicate,
            clause,
            modes,
            bound: vec![false; clause.n_variables],
            origin: vec![-1; clause.n_variables],
            mentions,
            steps: Vec::new(),
            jumps: Vec::new(),
            last_choice: -1,
            n_slots: clause.n_variables,
        }
    }

    fn plan(mut self) -> Result<Plan, InterpreterError> {
        let head = self.match_head();
        let mut open: Vec<usize> = (0..self.clause.body.len()).collect();
        while !open.is_empty() {
            if (self.planner.stop)() {
                return Err(InterpreterError::Stopped);
            }
            let costs = open
                .iter()
                .map(|&idx| self.cost(&self.clause.body[idx]))
                .collect::<Vec<_>>();
            let feasible = costs
                .iter()
                .enumerate()
                .filter_map(|(place, cost)| cost.map(|cost| (place, cost)));
            let Some((place, _)) = feasible.min_by(|(_, cost), (_, other)| cost.total_cmp(other))
            else {
                return Err(InterpreterError::Unsafe {
                    line: self.clause.line,
                });
            };
            let condition = &self.clause.body[open.remove(place)];
            self.place(condition);
        }
        let wanted = self
            .clause
            .head
            .iter()
            .zip(self.modes)
            .filter(|&(_, &mode)| mode == Mode::Free);
        let wanted: Vec<&Term> = wanted.map(|(arg, _)| arg).collect();
        if !wanted.iter().all(|arg| is_bound(arg, &self.bound)) {
            return Err(InterpreterError::Unsafe {
                line: self.clause.line,
            });
        }
        let after_emit = wanted
            .iter()
            .map(|arg| self.origin_of(arg))
            .max()
            .unwrap_or(-1);
        Ok(Plan {
            head,
            emit: wanted.iter().map(|arg| self.arg(arg)).collect(),
            after_emit,
            steps: self.steps.into(),
            jumps: self.jumps.into(),
            n_variables: self.clause.n_variables,
            n_slots: self.n_slots,
            line: self.clause.line,
        })
    }

    fn match_head(&mut self) -> Box<[Column]> {
        let clause = self.clause;
        let given: Vec<&Term> = clause
            .head
            .iter()
            .zip(self.modes)
            .filter(|&(_, &mode)| mode == Mode::Bound)
            .map(|(arg, _)| arg)
            .collect();
        let mut count = |term: &Term| {
            term.for_each_variable(&mut |variable| self.mentions[variable.0 as usize] += 1);
        };
        given.iter().for_each(|arg| count(arg));
        let columns: Box<[Column]> = given.iter().map(|arg| self.column(arg, -1)).collect();
        let mentions = &mut self.mentions;
        given.iter().for_each(|arg| {
            arg.for_each_variable(&mut |variable| mentions[variable.0 as usize] -= 1);
        });
        columns
    }

    /// Expected number of solutions, weighted with the cost of finding them; `None` if required variables are unbound.
    fn cost(&mut self, condition: &Condition) -> Option<f64> {
        match condition {
            Condition::Distinct(left, right) => {
                (self.is_bound(left) && self.is_bound(right)).then_some(0.0)
            }
            Condition::Equal(left, right) => {
                (self.is_bound(left) || self.is_bound(right)).then_some(0.01)
            }
            Condition::Fails(predicate, args) => {
                args.iter()
                    .all(|arg| self.is_bound(arg))
                    .then(|| match *predicate {
                        PredicateId::TRUE | PredicateId::DOES => 0.1,
                        predicate if self.planner.predicate(predicate).clauses.is_empty() => 0.06,
                        predicate if self.planner.predicate(predicate).level == Level::Static => {
                            0.7
                        }
                        _ => 1.6,
                    })
            }
            Condition::Holds(PredicateId::TRUE, args) => Some(self.cost_of_fluent(&args[0])),
            Condition::Holds(PredicateId::DOES, args) => {
                Some(match (self.is_bound(&args[0]), self.is_bound(&args[1])) {
                    (true, true) => 0.04,
                    (true, false) => 0.9,
                    (false, _) => 0.9 * self.planner.program.roles.len() as f64,
                })
            }
            Condition::Holds(predicate, args) => self.cost_of_call(*predicate, args),
        }
    }

    fn cost_of_fluent(&mut self, fluent: &Term) -> f64 {
        match fluent {
            _ if self.is_bound(fluent) => 0.05,
            Term::Compound(name, args) => {
                let given = self.places(args, Mode::Bound);
                let wanted = self.places(args, Mode::Free);
                let functor = self.functor(*name, args.len());
                self.planner.sizes.fluents(functor, &given, &wanted)
            }
            _ => self.planner.sizes.all_fluents(),
        }
    }

    fn cost_of_call(&mut self, predicate: PredicateId, args: &[Term]) -> Option<f64> {
        let (given, wanted) = (
            self.places(args, Mode::Bound),
            self.places(args, Mode::Free),
        );
        let Predicate {
            ref facts,
            ref clauses,
            level,
            is_or,
            ..
        } = self.planner.program.predicates[predicate.idx()];
        if clauses.is_empty() {
            let is_test = wanted.is_empty();
            return Some(if is_test {
                0.02
            } else {
                self.planner.sizes.facts(predicate, facts, &given, &wanted)
            });
        }
        let is_given: Vec<bool> = args.iter().map(|arg| self.is_bound(arg)).collect();
        if !self.planner.feasibility.is_callable(predicate, &is_given) {
            return None;
        }
        if !wanted.is_empty() && self.planner.knots.tie(self.predicate, predicate) {
            return Some(KNOTTED + wanted.len() as f64);
        }
        Some(match level {
            _ if wanted.is_empty() && is_or => 0.8,
            Level::Static if wanted.is_empty() => 0.6,
            _ if wanted.is_empty() => 1.5,
            _ => 0.5 + self.planner.sizes.answers(predicate, &given, &wanted),
        })
    }

    /// The positions of the arguments with this mode.
    fn places(&self, args: &[Term], mode: Mode) -> Vec<usize> {
        (0..args.len())
            .filter(|&place| self.mode(&args[place], args) == mode)
            .collect()
    }

    /// Whether the value of an argument of a condition with these arguments is used elsewhere or tested.
    fn is_wanted(&self, arg: &Term, args: &[Term]) -> bool {
        let Term::Variable(variable) = arg else {
            return true;
        };
        let mut n_here = 0;
        args.iter().for_each(|arg| {
            arg.for_each_variable(&mut |other| n_here += u32::from(other == *variable));
        });
        n_here > 1 || self.mentions[variable.0 as usize] > n_here
    }

    /// Compiles a condition as the next step.
    fn place(&mut self, condition: &Condition) {
        let step_idx = self.steps.len() as i32;
        let mut depends_on = -1;
        condition.for_each_variable(&mut |variable| {
            if self.bound[variable.0 as usize] {
                depends_on = depends_on.max(self.origin[variable.0 as usize]);
            }
        });
        self.jumps.push(Jump {
            back: self.last_choice,
            fail: depends_on,
        });
        let step = match condition {
            Condition::Distinct(left, right) => Step::Distinct(self.arg(left), self.arg(right)),
            Condition::Equal(left, right) => self.place_equation(left, right, depends_on),
            Condition::Holds(PredicateId::TRUE, args) => self.place_fluent(&args[0], step_idx),
            Condition::Fails(PredicateId::TRUE, args) => Step::Fluent {
                fluent: self.arg(&args[0]),
                negated: true,
            },
            Condition::Holds(PredicateId::DOES, args) => {
                self.place_does(&args[0], &args[1], step_idx, depends_on)
            }
            Condition::Fails(PredicateId::DOES, args) => Step::Doing {
                role: self.arg(&args[0]),
                column: self.column(&args[1], depends_on),
                negated: true,
            },
            Condition::Holds(predicate, args) => self.place_call(*predicate, args, step_idx),
            Condition::Fails(predicate, args) => self.place_negation(*predicate, args),
        };
        if step.is_choice() {
            self.last_choice = step_idx;
        }
        self.steps.push(step);
        condition.for_each_variable(&mut |variable| self.mentions[variable.0 as usize] -= 1);
    }

    fn place_equation(&mut self, left: &Term, right: &Term, depends_on: i32) -> Step {
        match (self.is_bound(left), self.is_bound(right)) {
            (true, true) => Step::Equal(self.arg(left), self.arg(right)),
            (true, false) => Step::Match(self.arg(left), self.column(right, depends_on)),
            _ => Step::Match(self.arg(right), self.column(left, depends_on)),
        }
    }

    fn place_fluent(&mut self, fluent: &Term, step_idx: i32) -> Step {
        let Term::Compound(name, args) = fluent else {
            return match self.is_bound(fluent) {
                true => Step::Fluent {
                    fluent: self.arg(fluent),
                    negated: false,
                },
                false => Step::AllFluents {
                    column: self.column(fluent, step_idx),
                    cursor: self.cursor(),
                },
            };
        };
        if self.is_bound(fluent) {
            return Step::Fluent {
                fluent: self.arg(fluent),
                negated: false,
            };
        }
        let functor = self.functor(*name, args.len());
        let places: Box<[usize]> = (0..args.len())
            .filter(|&place| self.is_bound(&args[place]))
            .collect();
        let key: Box<[Arg]> = places.iter().map(|&place| self.arg(&args[place])).collect();
        let columns = (0..args.len()).map(|place| match places.contains(&place) {
            true => Column::Skip,
            false => self.column(&args[place], step_idx),
        });
        let columns: Box<[Column]> = columns.collect();
        let cursor = self.cursor();
        if places.is_empty() {
            return Step::Fluents {
                functor,
                columns,
                cursor,
            };
        }
        let index = self.planner.fluent_index(FluentKey { functor, places });
        Step::FluentsBy {
            index,
            key,
            columns,
            cursor,
        }
    }

    fn place_does(&mut self, role: &Term, action: &Term, step_idx: i32, depends_on: i32) -> Step {
        if self.is_bound(role) {
            let role = self.arg(role);
            return Step::Doing {
                role,
                column: self.column(action, depends_on),
                negated: false,
            };
        }
        let role = self.column(role, step_idx);
        Step::Does {
            role,
            column: self.column(action, step_idx),
            cursor: self.cursor(),
        }
    }

    fn place_call(&mut self, predicate: PredicateId, args: &[Term], step_idx: i32) -> Step {
        let modes: Box<[Mode]> = args.iter().map(|arg| self.mode(arg, args)).collect();
        let key: Box<[Arg]> = select(args, &modes, Mode::Bound)
            .map(|(_, arg)| self.arg(arg))
            .collect();
        let columns: Box<[Column]> = select(args, &modes, Mode::Free)
            .map(|(_, arg)| self.column(arg, step_idx))
            .collect();
        if !self.planner.predicate(predicate).clauses.is_empty() {
            let procedure = self.planner.request(predicate, modes);
            return match columns.is_empty() {
                true => Step::Test {
                    procedure,
                    key,
                    negated: false,
                },
                false => Step::Call {
                    procedure,
                    key,
                    columns,
                    cursor: self.cursor(),
                },
            };
        }
        let given: Vec<usize> = select(args, &modes, Mode::Bound)
            .map(|(place, _)| place)
            .collect();
        let wanted: Vec<usize> = select(args, &modes, Mode::Free)
            .map(|(place, _)| place)
            .collect();
        let index = self.planner.fact_index(predicate, &given, &wanted);
        match columns.is_empty() {
            true => Step::Fact {
                index,
                key,
                negated: false,
            },
            false => Step::Facts {
                index,
                key,
                columns,
                cursor: self.cursor(),
            },
        }
    }

    fn place_negation(&mut self, predicate: PredicateId, args: &[Term]) -> Step {
        let key: Box<[Arg]> = args.iter().map(|arg| self.arg(arg)).collect();
        if self.planner.predicate(predicate).clauses.is_empty() {
            let places: Vec<usize> = (0..args.len()).collect();
            return Step::Fact {
                index: self.planner.fact_index(predicate, &places, &[]),
                key,
                negated: true,
            };
        }
        let modes = vec![Mode::Bound; args.len()].into();
        Step::Test {
            procedure: self.planner.request(predicate, modes),
            key,
            negated: true,
        }
    }

    fn mode(&self, arg: &Term, args: &[Term]) -> Mode {
        match arg {
            _ if self.is_bound(arg) => Mode::Bound,
            _ if self.is_wanted(arg, args) => Mode::Free,
            _ => Mode::Ignored,
        }
    }

    /// Reserves two slots for the cursor of a step.
    fn cursor(&mut self) -> u32 {
        self.n_slots += 2;
        self.n_slots as u32 - 2
    }

    fn is_bound(&self, term: &Term) -> bool {
        is_bound(term, &self.bound)
    }

    fn origin_of(&self, term: &Term) -> i32 {
        let mut origin = -1;
        term.for_each_variable(&mut |variable| {
            origin = origin.max(self.origin[variable.0 as usize]);
        });
        origin
    }

    fn functor(&self, name: SymbolId, arity: usize) -> FunctorId {
        let functor = self.planner.program.functors.find(name, arity);
        functor.expect("`Program::new` collects every functor")
    }

    /// How to build a term whose variables are bound.
    fn arg(&mut self, term: &Term) -> Arg {
        match term {
            _ if term.is_ground() => Arg::Value(self.planner.ground(term)),
            Term::Compound(name, args) => {
                let functor = self.functor(*name, args.len());
                Arg::Build(functor, args.iter().map(|arg| self.arg(arg)).collect())
            }
            Term::Variable(variable) => Arg::Slot(variable.0),
            Term::Constant(symbol) => Arg::Value(TermId::constant(*symbol)),
        }
    }

    /// How to match a value against a term; variables it binds depend on the choice of step `origin`.
    fn column(&mut self, term: &Term, origin: i32) -> Column {
        match term {
            _ if term.is_ground() => Column::Is(self.planner.ground(term)),
            Term::Compound(name, args) => {
                let functor = self.functor(*name, args.len());
                Column::Shape(
                    functor,
                    args.iter().map(|arg| self.column(arg, origin)).collect(),
                )
            }
            Term::Constant(symbol) => Column::Is(TermId::constant(*symbol)),
            Term::Variable(variable) => self.column_of_variable(*variable, origin),
        }
    }

    fn column_of_variable(&mut self, variable: VariableId, origin: i32) -> Column {
        let idx = variable.0 as usize;
        if self.bound[idx] {
            return Column::Same(variable.0);
        }
        // The current condition still counts as open, so one mention is this one.
        if self.mentions[idx] <= 1 {
            return Column::Skip;
        }
        self.bound[idx] = true;
        self.origin[idx] = origin;
        Column::Bind(variable.0)
    }
}

impl Step {
    /// Whether the step can have more than one solution.
    fn is_choice(&self) -> bool {
        match self {
            Step::Facts { .. }
            | Step::Fluents { .. }
            | Step::FluentsBy { .. }
            | Step::AllFluents { .. }
            | Step::Does { .. }
            | Step::Call { .. } => true,
            Step::Distinct(..)
            | Step::Equal(..)
            | Step::Match(..)
            | Step::Fact { .. }
            | Step::Fluent { .. }
            | Step::Doing { .. }
            | Step::Test { .. } => false,
        }
    }
}

/// The arguments with this mode, and their positions.
fn select<'t>(
    args: &'t [Term],
    modes: &[Mode],
    wanted: Mode,
) -> impl Iterator<Item = (usize, &'t Term)> {
    args.iter()
        .enumerate()
        .zip(modes)
        .filter(move |&(_, &mode)| mode == wanted)
        .map(|(entry, _)| entry)
}
