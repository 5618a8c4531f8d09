//! The machine of an [`Interpreter`], for one thread.

use std::sync::Arc;

use agon_gdl::Keyword;

use super::error::Stop;
use super::evaluate::Evaluator;
use super::memory::Memory;
use super::terms::TermId;
use super::{
    GOAL, IS_LEGAL, Interpreter, InterpreterError, LEGAL, NEXT, Resource, SEES, TERMINAL, names,
    pack, unpack,
};
use crate::machine::{Fault, Machine};
use crate::percepts::PerceptId;
use crate::state::{Goal, JointMove, MoveId, RoleId, State};

/// One state of an interpreted game, on one thread. If the limits are exceeded, its [`Machine`] implementation answers
/// as if nothing held, and stays in its state if the next one cannot be derived; [`Machine::take_fault`] reports this.
pub struct InterpreterMachine {
    interpreter: Arc<Interpreter>,
    stop: Stop,
    memory: Memory,
    is_terminal: bool,
    /// The legal moves of each role, and whether they are up to date.
    legal: Vec<(Vec<MoveId>, bool)>,
    /// The next state under construction.
    next: Vec<u32>,
    /// The most recent percepts.
    percepts: Vec<PerceptId>,
    fault: Option<InterpreterError>,
}

impl InterpreterMachine {
    pub(super) fn new(interpreter: Arc<Interpreter>, stop: Stop) -> InterpreterMachine {
        let n_roles = interpreter.roles.len();
        let memory = interpreter.seed.clone();
        let legal = vec![(Vec::new(), false); n_roles];
        let mut machine = InterpreterMachine {
            interpreter,
            stop,
            memory,
            is_terminal: false,
            legal,
            next: Vec::new(),
            percepts: Vec::new(),
            fault: None,
        };
        machine.enter();
        machine
    }

    /// The interpreter of this machine.
    #[must_use]
    pub fn interpreter(&self) -> &Arc<Interpreter> {
        &self.interpreter
    }

    fn evaluator(&mut self) -> Evaluator<'_> {
        let Interpreter {
            code,
            roles,
            shared,
            limits,
            ..
        } = &*self.interpreter;
        Evaluator::new(code, roles, shared, *limits, &*self.stop, &mut self.memory)
    }

    /// Invalidates cached answers after a new state was loaded.
    fn enter(&mut self) {
        self.legal
            .iter_mut()
            .for_each(|(_, is_known)| *is_known = false);
        let solved = self.evaluator().solve(TERMINAL, &[]);
        let is_terminal = solved.map(|table| self.memory.tables.get(table).answers.len() > 0);
        self.is_terminal = is_terminal.unwrap_or_else(|error| self.note(error));
    }

    /// Records an error for [`Machine::take_fault`] and returns the default answer. Everything derived is dropped: it
    /// may be large, and answers about a joint move must not outlive it.
    fn note<T: Default>(&mut self, error: InterpreterError) -> T {
        self.fault.get_or_insert(error);
        self.memory.tables.release_state();
        T::default()
    }

    /// Derives the legal moves of a role into `legal`, sorted.
    fn derive_legal(&mut self, role: RoleId) -> Result<(), InterpreterError> {
        self.legal[role.idx()].0.clear();
        let name = self.interpreter.roles[role.idx()];
        let table = self.evaluator().solve(LEGAL, &[name.0])?;
        let answers = &self.memory.tables.get(table).answers;
        let moves = &mut self.legal[role.idx()].0;
        moves.extend((0..answers.len()).map(|row| MoveId(answers.row(row)[0])));
        moves.sort_unstable();
        Ok(())
    }

    fn goal_terms(&mut self, role: RoleId) -> Result<Vec<TermId>, InterpreterError> {
        // The goals of chance mean nothing.
        if self.interpreter.rules.random_role() == Some(role.idx()) {
            return Ok(Vec::new());
        }
        let role = self.interpreter.roles[role.idx()];
        let table = self.evaluator().solve(GOAL, &[role.0])?;
        let answers = &self.memory.tables.get(table).answers;
        Ok((0..answers.len())
            .map(|row| TermId(answers.row(row)[0]))
            .collect())
    }

    fn text(&self, term: TermId) -> String {
        let Interpreter {
            functors, rules, ..
        } = &*self.interpreter;
        names::text(term, &self.memory.terms, functors, &rules.symbols)
    }

    /// Takes over the terms of these moves, which another thread may have made.
    fn know(&mut self, moves: &[MoveId]) {
        let is_unknown = |mv: &MoveId| TermId(mv.0).idx() >= self.memory.terms.len();
        if moves.iter().any(is_unknown) {
            self.interpreter.shared.update(&mut self.memory.terms);
        }
    }

    /// Sets the joint move of the queries that follow. Answers about another one are dropped.
    fn set_joint(&mut self, joint: &JointMove) {
        let n_roles = self.interpreter.roles.len();
        let moves = joint.moves().iter().take(n_roles).map(|mv| mv.0);
        if !moves.clone().eq(self.memory.does.iter().copied()) {
            self.memory.tables.forget_joint();
            self.memory.does.clear();
            self.memory.does.extend(moves);
        }
        self.know(joint.moves());
    }

    /// Derives what a role sees into `percepts`, sorted.
    fn derive_percepts(&mut self, role: RoleId, joint: &JointMove) -> Result<(), InterpreterError> {
        self.percepts.clear();
        self.set_joint(joint);
        if !self.interpreter.rules.is_gdl2() {
            return self.see_moves();
        }
        let name = self.interpreter.roles[role.idx()];
        let table = self.evaluator().solve(SEES, &[name.0])?;
        let answers = &self.memory.tables.get(table).answers;
        let percepts = (0..answers.len()).map(|row| PerceptId(answers.row(row)[0]));
        self.percepts.extend(percepts);
        self.percepts.sort_unstable();
        Ok(())
    }

    /// In GDL-I, each role sees the move of every role.
    fn see_moves(&mut self) -> Result<(), InterpreterError> {
        let Interpreter {
            functors,
            roles,
            shared,
            limits,
            ..
        } = &*self.interpreter;
        let does = functors.find(Keyword::Does.symbol(), 2);
        let does = does.expect("the program has this functor");
        for (role, &mv) in roles.iter().zip(&self.memory.does) {
            let (args, terms) = ([role.0, mv], &mut self.memory.terms);
            let term = match terms.find(does, &args) {
                Some(term) => term,
                None if terms.len() < limits.terms => shared.intern(terms, does, &args),
                None => {
                    return Err(InterpreterError::Budget {
                        line: 0,
                        resource: Resource::Terms,
                    });
                }
            };
            self.percepts.push(PerceptId(term.0));
        }
        self.percepts.sort_unstable();
        Ok(())
    }

    /// Derives the fluents of the next state into `next`, sorted.
    fn derive_next(&mut self, joint: &JointMove) -> Result<(), InterpreterError> {
        self.set_joint(joint);
        let table = self.evaluator().solve(NEXT, &[])?;
        let answers = &self.memory.tables.get(table).answers;
        self.next.clear();
        self.next
            .extend((0..answers.len()).map(|row| answers.row(row)[0]));
        self.next.sort_unstable();
        Ok(())
    }
}

impl Machine for InterpreterMachine {
    fn load(&mut self, state: &State) {
        if unpack(state).any(|fluent| TermId(fluent).idx() >= self.memory.terms.len()) {
            self.interpreter.shared.update(&mut self.memory.terms);
        }
        self.memory.load(unpack(state));
        self.enter();
    }

    fn state(&self) -> State {
        pack(self.memory.fluents.all())
    }

    fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        if !self.legal[role.idx()].1 {
            let derived = self.derive_legal(role);
            // Asking again would take as long and fail again, except after an interruption.
            self.legal[role.idx()].1 = derived != Err(InterpreterError::Stopped);
            derived.unwrap_or_else(|error| self.note(error));
        }
        &self.legal[role.idx()].0
    }

    fn some_legal_move(&mut self, role: RoleId) -> Option<MoveId> {
        if let (moves, true) = &self.legal[role.idx()]
            && !moves.is_empty()
        {
            return moves.first().copied();
        }
        let name = self.interpreter.roles[role.idx()];
        let solved = self.evaluator().solve_one(LEGAL, &[name.0]);
        let answer = solved.unwrap_or_else(|error| self.note(error));
        answer.map(MoveId)
    }

    fn is_legal(&mut self, role: RoleId, mv: MoveId) -> bool {
        if let (moves, true) = &self.legal[role.idx()]
            && !moves.is_empty()
        {
            return moves.binary_search(&mv).is_ok();
        }
        self.know(&[mv]);
        let name = self.interpreter.roles[role.idx()];
        let solved = self.evaluator().solve(IS_LEGAL, &[name.0, mv.0]);
        let is_legal = solved.map(|table| self.memory.tables.get(table).answers.len() > 0);
        is_legal.unwrap_or_else(|error| self.note(error))
    }

    fn goal(&mut self, role: RoleId) -> Option<Goal> {
        let goals = self
            .goal_terms(role)
            .unwrap_or_else(|error| self.note(error));
        match goals[..] {
            [goal] => Goal::new(self.text(goal).parse().ok()?),
            _ => None,
        }
    }

    fn goals(&mut self, role: RoleId) -> Vec<String> {
        let goals = self
            .goal_terms(role)
            .unwrap_or_else(|error| self.note(error));
        let mut texts: Vec<String> = goals.into_iter().map(|goal| self.text(goal)).collect();
        texts.sort_unstable();
        texts
    }

    fn percepts(&mut self, role: RoleId, joint: &JointMove) -> &[PerceptId] {
        if let Err(error) = self.derive_percepts(role, joint) {
            self.percepts.clear();
            self.note::<()>(error);
        }
        &self.percepts
    }

    fn advance(&mut self, joint: &JointMove) {
        match self.derive_next(joint) {
            Ok(()) => {
                self.memory.load(self.next.iter().copied());
                self.enter();
            }
            Err(error) => self.note(error),
        }
    }

    fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take().map(|error| Box::new(error) as Fault)
    }
}
