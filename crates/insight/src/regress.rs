//! Regression: what must hold before a step so that a goal holds after it.
//!
//! A goal speaks of the state after the step. Each of its fluents is replaced by the bodies of its `next` rules, which speak of
//! the state before and of the moves; helper relations are followed in both states. Equal parts stay one, so the result is
//! never larger than the ground program, however large the formula would be when written out. Atoms that depend on each other
//! within one state become loops.
//!
//! The moves of the role that the goal belongs to stay in the formula as they are: [`crate::simplify`] restricts it to one of
//! them. Of the others it is known what they do while somebody else moves, or it is not, as [`Waiting`] says.
//!
//! In: a ground program, a role, its goals. Out: a graph of formulas, with a root per goal.
//!
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents
//! - Reiter 2001, Knowledge in Action (regression)

use agon_engine::{MoveId, RoleId};
use agon_gdl::components;
use agon_ground::{AtomId, GroundProgram, Truth};

use crate::formula::{Formula, Formulas};

/// What each role does while another one moves, where that is known: its one waiting move.
pub type Waiting = [Option<MoveId>];

/// The strongly connected components of the atoms of a program, which regression needs for each role.
pub struct Order {
    component: Vec<u32>,
}

impl Order {
    /// The order of the atoms of a program.
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

/// Why there is no regression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exceeded {
    /// The graph would have more nodes and parts than allowed.
    Size,
    /// The caller asked to stop.
    Time,
}

/// The goals of a role regressed by one step: a root for each of these goals.
///
/// # Errors
/// If the graph has more than `most` nodes and parts, or `stop` says so.
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
    // Step 1. What the goals need of the state after, and what that needs of the state before.
    let after = regression.needed(goals.iter().filter_map(atom).collect());
    let fluents = after
        .iter()
        .filter_map(|atom| program.fluents.get(atom.0 as usize));
    let next = fluents.filter_map(|fluent| atom(&fluent.next)).collect();
    let before = regression.needed(next);
    // Step 2. Build what speaks of the state before, then what speaks of the state after.
    regression.build(&before, State::Before)?;
    regression.build(&after, State::After)?;
    let roots = goals.iter().map(|&goal| regression.truth(goal)).collect();
    Ok((regression.formulas, roots))
}

/// Per move atom, counted from the first one: its role and move.
fn of_move(program: &GroundProgram) -> Vec<(RoleId, MoveId)> {
    let roles = RoleId::all(program.roles.len()).zip(&program.roles);
    let moves = roles.flat_map(|(role, of)| (0..of.moves.len()).map(move |idx| (role, idx)));
    moves
        .map(|(role, idx)| (role, MoveId(idx as u32)))
        .collect()
}

/// Which state an atom speaks of.
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
    /// Per atom: its formula as said of the state before the step, and of the one after.
    before: Vec<Option<Formula>>,
    after: Vec<Option<Formula>>,
    most: usize,
    stop: &'a dyn Fn() -> bool,
}

impl Regression<'_> {
    /// These atoms and all that their rules mention, in an order in which what is needed comes first.
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

    /// Atoms that depend on each other.
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

    /// An atom in terms of what it needs, all of which is built.
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
        let (role, of) = self.of_move[at];
        match self.waiting[role.idx()] {
            Some(wait) if role != self.role => Formula::FALSE.negated_if(of == wait),
            _ => self.formulas.does(role, of),
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
        known.expect("what an atom needs is built before it")
    }

    fn set(&mut self, atom: AtomId, state: State, formula: Formula) {
        match state {
            State::Before => self.before[atom.0 as usize] = Some(formula),
            State::After => self.after[atom.0 as usize] = Some(formula),
        }
    }
}
