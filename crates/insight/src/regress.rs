//! Regression: what must hold before a step so that a goal holds after it.
//!
//! A goal is about the state after the step. Each of its fluents is replaced by the bodies of its `next` rules, which are about
//! the state before the step and the moves. Auxiliary relations are expanded in both states. Equal parts are shared, so the
//! result is never larger than the ground program, however large the written formula would be. Atoms that depend on each other
//! within one state become loops.
//!
//! The moves of the goal's own role stay in the formula; [`crate::simplify`] restricts it to one of them. For other roles
//! [`Waiting`] says which move they make while another role moves, if that is known.
//!
//! In: a ground program, a role, its goals. Out: a graph of formulas, with one root per goal.
//!
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents
//! - Reiter 2001, Knowledge in Action (regression)

use agon_engine::{MoveId, RoleId};
use agon_gdl::components;
use agon_ground::{AtomId, GroundProgram, Truth};

use crate::formula::{Formula, Formulas};

/// Per role: the only move that it makes while another role moves, if there is just one.
pub type Waiting = [Option<MoveId>];

/// The strongly connected components of the atoms of a program, which regression needs for each role.
pub struct Order {
    component: Vec<u32>,
}

impl Order {
    /// Computes the components of a program.
    #[must_use]
    pub fn new(program: &GroundProgram) -> Order {
        Order {
            component: components(
                program.n_atoms() as usize,
                |atom| program.all_literals(AtomId(atom)),
                |literal| literal.atom().0,
            ),
        }
    }
}

/// Why regression was cancelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exceeded {
    /// The graph would have more nodes and parts than allowed.
    Size,
    /// The caller asked to stop.
    Time,
}

/// Regresses the goals of a role by one step. Returns one root per goal.
///
/// # Errors
/// If the graph has more than `most` nodes and parts, or `stop` returned true.
pub fn regress(
    program: &GroundProgram,
    order: &Order,
    role: RoleId,
    goals: &[Truth],
    waiting: &Waiting,
    most: usize,
    stop: &dyn Fn() -> bool,
) -> Result<(Formulas, Vec<Formula>), Exceeded> {
    let n_atoms = program.n_atoms() as usize;
    let mut regression = Regression {
        program,
        order,
        formulas: Formulas::new(),
        of_move: of_move(program),
        role,
        waiting,
        before: vec![None; n_atoms],
        after: vec![None; n_atoms],
        most,
        stop,
    };
    let atom = |truth: &Truth| match truth {
        Truth::Atom(atom) => Some(*atom),
        _ => None,
    };
    // Step 1. Find the atoms that the goals need after the step, and those that they need before it.
    let after = regression.needed(goals.iter().filter_map(atom).collect());
    let fluents = after
        .iter()
        .filter_map(|atom| program.fluents.get(atom.0 as usize));
    let next = fluents.filter_map(|fluent| atom(&fluent.next)).collect();
    let before = regression.needed(next);
    // Step 2. Build the formulas of the state before the step, then those of the state after it.
    regression.build(&before, State::Before)?;
    regression.build(&after, State::After)?;
    let roots = goals.iter().map(|&goal| regression.truth(goal)).collect();
    Ok((regression.formulas, roots))
}

/// Per `does` atom, counted from the first one: its role and move.
fn of_move(program: &GroundProgram) -> Vec<(RoleId, MoveId)> {
    let roles = RoleId::all(program.roles.len()).zip(&program.roles);
    let moves = roles.flat_map(|(id, role)| (0..role.moves.len()).map(move |idx| (id, idx)));
    moves
        .map(|(role, idx)| (role, MoveId(idx as u32)))
        .collect()
}

/// Which state an atom is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    After,
}

struct Regression<'a> {
    program: &'a GroundProgram,
    order: &'a Order,
    formulas: Formulas,
    of_move: Vec<(RoleId, MoveId)>,
    role: RoleId,
    waiting: &'a Waiting,
    /// Per atom: its formula in the state before the step, and in the state after it.
    before: Vec<Option<Formula>>,
    after: Vec<Option<Formula>>,
    most: usize,
    stop: &'a dyn Fn() -> bool,
}

impl Regression<'_> {
    /// These atoms and all atoms that they depend on, dependencies first.
    fn needed(&self, mut open: Vec<AtomId>) -> Vec<AtomId> {
        let mut is_needed = vec![false; self.program.n_atoms() as usize];
        let mut needed = Vec::new();
        while let Some(atom) = open.pop() {
            if std::mem::replace(&mut is_needed[atom.0 as usize], true) {
                continue;
            }
            needed.push(atom);
            let literals = self.program.all_literals(atom).iter();
            open.extend(literals.map(|literal| literal.atom()));
        }
        needed.sort_unstable_by_key(|atom| (self.order.component[atom.0 as usize], *atom));
        needed
    }

    fn build(&mut self, atoms: &[AtomId], state: State) -> Result<(), Exceeded> {
        let component = |atom: &AtomId| self.order.component[atom.0 as usize];
        for (idx, group) in atoms
            .chunk_by(|one, other| component(one) == component(other))
            .enumerate()
        {
            match group {
                [only] => {
                    let formula = self.formula(*only, state);
                    self.set(*only, state, formula);
                }
                _ => self.build_loops(group, state),
            }
            if self.formulas.n_nodes() + self.formulas.n_parts() > self.most {
                return Err(Exceeded::Size);
            }
            if idx % 1024 == 0 && (self.stop)() {
                return Err(Exceeded::Time);
            }
        }
        Ok(())
    }

    /// Builds atoms that depend on each other.
    fn build_loops(&mut self, atoms: &[AtomId], state: State) {
        let loops = self.formulas.open(atoms);
        for (&atom, &formula) in atoms.iter().zip(&loops) {
            self.set(atom, state, formula);
        }
        let definitions: Vec<Formula> = atoms
            .iter()
            .map(|&atom| self.formula(atom, state))
            .collect();
        self.formulas.close(&definitions);
    }

    /// The formula of an atom. Its dependencies are built already.
    fn formula(&mut self, atom: AtomId, state: State) -> Formula {
        let n_fluents = self.program.fluents.len();
        let at = atom.0 as usize;
        if at < n_fluents {
            return match state {
                State::Before => self.formulas.fluent(atom.0),
                State::After => match self.program.fluents[at].next {
                    Truth::Never => Formula::FALSE,
                    Truth::Always => Formula::TRUE,
                    Truth::Atom(next) => self.get(next, State::Before),
                },
            };
        }
        if !self.program.is_derived(atom) {
            return self.does(at - n_fluents);
        }
        let program = self.program;
        let (mut bodies, mut parts) = (Vec::new(), Vec::new());
        for body in program.bodies(atom) {
            for literal in body {
                let part = self.get(literal.atom(), state);
                parts.push(part.negated_if(literal.is_negated()));
            }
            bodies.push(self.formulas.and(&mut parts));
        }
        self.formulas.or(&mut bodies)
    }

    fn does(&mut self, at: usize) -> Formula {
        let (role, mv) = self.of_move[at];
        match self.waiting[role.idx()] {
            Some(wait) if role != self.role => Formula::FALSE.negated_if(mv == wait),
            _ => self.formulas.does(role, mv),
        }
    }

    fn truth(&self, goal: Truth) -> Formula {
        match goal {
            Truth::Never => Formula::FALSE,
            Truth::Always => Formula::TRUE,
            Truth::Atom(atom) => self.get(atom, State::After),
        }
    }

    fn get(&self, atom: AtomId, state: State) -> Formula {
        let known = match state {
            State::Before => self.before[atom.0 as usize],
            State::After => self.after[atom.0 as usize],
        };
        known.expect("dependencies are built first")
    }

    fn set(&mut self, atom: AtomId, state: State, formula: Formula) {
        match state {
            State::Before => self.before[atom.0 as usize] = Some(formula),
            State::After => self.after[atom.0 as usize] = Some(formula),
        }
    }
}
