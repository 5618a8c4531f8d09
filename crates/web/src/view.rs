//! A state of a game as a page shows it: pieces, facts, legal moves with the cells that they touch.

use agon_engine::{Goal, JointMove, Machine, MoveId, RoleId, State};
use agon_protocol::Term;
use serde::Serialize;

use crate::error::ApiError;
use crate::library::Entry;
use crate::scene::{Facts, Piece};
use crate::touch::{Eye, Touch};

/// Steps of a line, as many as a match has.
pub(crate) const MOST_STEPS: usize = 5_000;

/// A state.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StateView {
    pub(crate) step: usize,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) facts: Vec<Facts>,
    pub(crate) turn: Vec<usize>,
    pub(crate) moves: Vec<Vec<MoveView>>,
    pub(crate) last: Option<Vec<MadeMove>>,
    pub(crate) is_terminal: bool,
    pub(crate) goals: Option<Vec<Option<u8>>>,
}

/// A legal move.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MoveView {
    pub(crate) id: u32,
    pub(crate) kif: String,
    pub(crate) text: String,
    pub(crate) from: Option<usize>,
    pub(crate) to: Option<usize>,
    pub(crate) cells: Vec<usize>,
}

/// A move that was made.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MadeMove {
    pub(crate) role: usize,
    pub(crate) kif: String,
    pub(crate) text: String,
    pub(crate) from: Option<usize>,
    pub(crate) to: Option<usize>,
    pub(crate) cells: Vec<usize>,
}

impl Entry {
    pub(crate) fn eye(&self) -> Eye<'_> {
        Eye {
            game: &self.game,
            layout: &self.layout,
            scene: &self.scene,
        }
    }

    /// The pieces and facts of a state.
    pub(crate) fn show(&self, state: &State) -> (Vec<Piece>, Vec<Facts>) {
        self.scene.show(&self.layout, &self.game.fluents(state))
    }

    /// A state with the legal moves of the wanted roles.
    pub(crate) fn view(
        &self,
        state: &State,
        step: usize,
        last: Option<Vec<MadeMove>>,
        wants_moves: &dyn Fn(usize) -> bool,
    ) -> StateView {
        let (pieces, facts) = self.show(state);
        let mut machine = self.game.machine();
        machine.load(state);
        let is_terminal = machine.is_terminal();
        let mut turn = Vec::new();
        let mut moves = Vec::new();
        for role in self.game.roles() {
            if is_terminal {
                moves.push(Vec::new());
                continue;
            }
            let legal = machine.legal_moves(role).to_vec();
            if legal.len() > 1 {
                turn.push(role.idx());
            }
            moves.push(match wants_moves(role.idx()) {
                true => self.moves(state, role, &legal),
                false => Vec::new(),
            });
        }
        StateView {
            step,
            pieces,
            facts,
            turn,
            moves,
            last,
            is_terminal,
            goals: is_terminal.then(|| self.goals(&mut *machine)),
        }
    }

    /// The goals of all roles in the state of the machine.
    pub(crate) fn goals(&self, machine: &mut dyn Machine) -> Vec<Option<u8>> {
        let roles = self.game.roles();
        roles
            .map(|role| machine.goal(role).map(Goal::value))
            .collect()
    }

    /// Legal moves in the order of their texts.
    pub(crate) fn moves(&self, state: &State, role: RoleId, legal: &[MoveId]) -> Vec<MoveView> {
        let touches = self.eye().touches(state, role, legal);
        let choices = self.notation.choices(role, legal);
        let view = |choice: &agon_games::notation::Choice| {
            let idx = legal.iter().position(|&mv| mv == choice.mv);
            let touch = idx.map(|idx| touches[idx].clone()).unwrap_or_default();
            MoveView {
                id: choice.mv.0,
                kif: choice.kif.clone(),
                text: choice.text.clone(),
                from: touch.from,
                to: touch.to,
                cells: touch.cells,
            }
        };
        choices.iter().map(view).collect()
    }

    /// The moves of a joint move as they are shown.
    pub(crate) fn made(&self, before: &State, joint: &JointMove, after: &State) -> Vec<MadeMove> {
        let touches = self.eye().made(before, joint, after);
        let mut machine = self.game.machine();
        machine.load(before);
        let made = |(role, touch): (RoleId, Touch)| {
            let mv = joint.of(role);
            let choices = self.notation.choices(role, machine.legal_moves(role));
            let text = choices.text(mv).map(str::to_owned);
            MadeMove {
                role: role.idx(),
                kif: self.game.move_text(role, mv),
                text: text.unwrap_or_else(|| self.notation.text(role, mv)),
                from: touch.from,
                to: touch.to,
                cells: touch.cells,
            }
        };
        self.game.roles().zip(touches).map(made).collect()
    }

    /// The same by what the step did, without comparing it with other legal moves.
    pub(crate) fn made_quickly(
        &self,
        before: &State,
        joint: &JointMove,
        after: &State,
    ) -> Vec<MadeMove> {
        let touches = self.eye().made_quickly(before, joint, after);
        let made = |(role, touch): (RoleId, Touch)| MadeMove {
            role: role.idx(),
            kif: self.game.move_text(role, joint.of(role)),
            text: self.notation.text(role, joint.of(role)),
            from: touch.from,
            to: touch.to,
            cells: touch.cells,
        };
        self.game.roles().zip(touches).map(made).collect()
    }

    /// The move of a role that a text means: notation, KIF or `#n`.
    pub(crate) fn read_move(
        &self,
        machine: &mut dyn Machine,
        role: RoleId,
        text: &str,
    ) -> Result<MoveId, ApiError> {
        let legal = machine.legal_moves(role).to_vec();
        if let Ok(term) = Term::read(text) {
            let texts = legal.iter().map(|&mv| (mv, self.game.move_text(role, mv)));
            if let Some(mv) = term.pick(texts) {
                return Ok(mv);
            }
        }
        let read = self.notation.read(role, &legal, text);
        read.map_err(|error| ApiError::illegal(error.to_string()))
    }

    /// The joint move that these texts mean.
    pub(crate) fn read_joint(
        &self,
        machine: &mut dyn Machine,
        step: usize,
        texts: &[String],
    ) -> Result<JointMove, ApiError> {
        let n_roles = self.game.n_roles();
        if machine.is_terminal() {
            return Err(ApiError::illegal(format!(
                "step {step}: the match is over before it"
            )));
        }
        if texts.len() != n_roles {
            let message = format!("step {step} has {} moves for {n_roles} roles", texts.len());
            return Err(ApiError::illegal(message));
        }
        let mut moves = Vec::with_capacity(n_roles);
        for (role, text) in self.game.roles().zip(texts) {
            let read = self.read_move(machine, role, text);
            moves.push(
                read.map_err(|error| {
                    ApiError::illegal(format!("step {step}: {}", error.message()))
                })?,
            );
        }
        Ok(JointMove::new(moves))
    }

    /// The states and joint moves of a line from the initial state.
    pub(crate) fn follow(&self, moves: &[Vec<String>]) -> Result<Line, ApiError> {
        if moves.len() > MOST_STEPS {
            return Err(ApiError::bad(format!(
                "a line has at most {MOST_STEPS} steps"
            )));
        }
        let mut machine = self.game.machine();
        let mut line = Line {
            states: vec![machine.state()],
            joints: Vec::new(),
        };
        for (idx, texts) in moves.iter().enumerate() {
            let joint = self.read_joint(&mut *machine, idx + 1, texts)?;
            machine.advance(&joint);
            line.states.push(machine.state());
            line.joints.push(joint);
        }
        Ok(line)
    }

    /// A joint move as texts of the rules.
    pub(crate) fn texts(&self, joint: &JointMove) -> Vec<String> {
        let roles = self.game.roles();
        roles
            .map(|role| self.game.move_text(role, joint.of(role)))
            .collect()
    }
}

/// A line of play.
pub(crate) struct Line {
    /// One more than joint moves.
    pub(crate) states: Vec<State>,
    pub(crate) joints: Vec<JointMove>,
}

impl Line {
    /// The last state.
    pub(crate) fn end(&self) -> &State {
        &self.states[self.states.len() - 1]
    }

    /// The joint moves as they are shown.
    pub(crate) fn made(&self, entry: &Entry) -> Vec<Vec<MadeMove>> {
        let steps = self.joints.iter().zip(self.states.windows(2));
        steps
            .map(|(joint, pair)| entry.made(&pair[0], joint, &pair[1]))
            .collect()
    }
}
